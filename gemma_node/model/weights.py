# Copyright 2026 The gemma_node authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
A checkpoint's text weights: names of every layout, forms of every matrix, the model they make.

Every tensor's name, shape, dtype and finiteness is checked, and all that is wrong is said in
one CheckpointError. Names may be those of the multimodal model, of the text model alone, or of
MLX; what belongs to vision and audio is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from gemma_node.errors import CheckpointError
from gemma_node.model.config import ModelConfig
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.inventory import is_not_text
from gemma_node.model.inventory import is_unused
from gemma_node.model.inventory import prefix_of
from gemma_node.model.inventory import unused_modules
from gemma_node.model.linear import Linear
from gemma_node.model.linear import QuantEmbedding
from gemma_node.model.linear import QuantLinear
from gemma_node.model.linear import ScaledEmbedding
from gemma_node.model.stored import DTYPES
from gemma_node.model.stored import open_folder
from gemma_node.model.stored import StoredTensor
from gemma_node.quant.declaration import IGNORED_LEAVES
from gemma_node.quant.declaration import LEAVES
from gemma_node.quant.detect import detect
from gemma_node.quant.nvfp4 import DIVISOR
from gemma_node.quant.packed import Format
from gemma_node.quant.packed import PlainFormat

_PLAIN_DTYPES = ('BF16', 'F32')
_FLOATS = ('BF16', 'F32', 'F8_E4M3')
_MAX_NAMED = 8
_CHECK_ELEMENTS = 1 << 19
_CHECK_THREADS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMatrix:
    """A matrix in the file: its form, its shape once unpacked, its tensors by last name."""

    form: Format
    rows: int
    columns: int
    tensors: Mapping[str, StoredTensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredWeights:
    """
    The text model as a folder stores it, checked by headers only.

    `matrices` are keyed by module, `vectors` (norms, scalars) by parameter, both after the
    prefix. `dtype` is that of the vectors.
    """

    prefix: str
    dtype: str
    matrices: Mapping[str, StoredMatrix]
    vectors: Mapping[str, StoredTensor]

    def tensors(self) -> Iterator[tuple[str, StoredTensor]]:
        """Yield every tensor by its name after the prefix."""
        yield from self.vectors.items()
        for module, matrix in self.matrices.items():
            for leaf, tensor in matrix.tensors.items():
                yield f'{module}.{leaf}', tensor


def load_model(path: str | Path, *, allow_not_finite: bool = False) -> Gemma4:
    """
    Read config and weights of a checkpoint folder; the weights stay packed and memory-mapped.

    :param allow_not_finite: load weights that hold NaN or infinite values too, and count them
    """
    config = ModelConfig.from_folder(path)
    with ExitStack() as stack:
        stored = read_layout(path, config, stack)
        weights, num_not_finite = _load(Path(path), stored, allow_not_finite=allow_not_finite)
    model = empty_model(config)
    model.num_not_finite = num_not_finite
    dtype = DTYPES[stored.dtype]
    for module, matrix in stored.matrices.items():
        tensors = {leaf: weights.pop(f'{module}.{leaf}') for leaf in matrix.tensors}
        if isinstance(matrix.form, PlainFormat):
            weights[f'{module}.weight'] = tensors['weight']
            continue
        packed = matrix.form.build(tensors)
        old = model.get_submodule(module)
        new: nn.Module = QuantLinear(packed, matrix.form.name)
        if isinstance(old, ScaledEmbedding):
            new = QuantEmbedding(packed, matrix.form.name, scale=old.scale, dtype=dtype)
        parent, _, name = module.rpartition('.')
        setattr(model.get_submodule(parent), name, new)
    model.load_state_dict(weights, assign=True)
    return model.requires_grad_(False).eval()


def empty_model(config: ModelConfig) -> Gemma4:
    """Return the model's modules without memory behind their weights."""
    with torch.device('meta'):
        return Gemma4(config)


def load_weights(path: str | Path, config: ModelConfig) -> dict[str, torch.Tensor]:
    """Return the stored text tensors by their names after the prefix; raises CheckpointError."""
    with ExitStack() as stack:
        return _load(Path(path), read_layout(path, config, stack), allow_not_finite=False)[0]



def read_layout(path: str | Path, config: ModelConfig, stack: ExitStack) -> StoredWeights:
    """
    Read the headers of a folder and hold them against what the model needs.

    The stack closes the files that the tensors are later read from.
    """
    folder = Path(path)
    stored = open_folder(folder, stack)
    prefix = prefix_of(stored)
    found = _text_tensors(stored, prefix, config)
    first = found.get('norm.weight')
    dtype = first.dtype if first is not None and first.dtype in _PLAIN_DTYPES else 'BF16'
    problems = _Problems()
    matrices, vectors = {}, {}
    for name, module in empty_model(config).named_modules():
        if isinstance(module, Linear | ScaledEmbedding):
            matrices[name] = _matrix(name, module.weight.shape, found, dtype, problems)
            if config.quantization is not None and matrices[name].tensors:
                declared = config.quantization.contradiction(
                    prefix + name, matrices[name].form.family, matrices[name].form.name
                )
                problems.declare(name, matrices[name].form.name, declared)
        else:
            for leaf, parameter in module.named_parameters(name, recurse=False):
                tensor = found.pop(leaf, None)
                problems.compare(leaf, tensor, (dtype,), (tuple(parameter.shape),))
                if tensor is not None:
                    vectors[leaf] = tensor
    problems.extra = sorted(
        name for name in found if name.rpartition('.')[2] not in IGNORED_LEAVES
    )
    problems.raise_for(folder)
    return StoredWeights(prefix=prefix, dtype=dtype, matrices=matrices, vectors=vectors)


def _matrix(
    name: str,
    shape: torch.Size,
    found: dict[str, StoredTensor],
    dtype: str,
    problems: _Problems,
) -> StoredMatrix:
    """Take the tensors of one matrix out of `found`."""
    rows, columns = shape
    own = {leaf: found[f'{name}.{leaf}'] for leaf in LEAVES if f'{name}.{leaf}' in found}
    form = detect({leaf: (each.dtype, each.shape) for leaf, each in own.items()}, columns, dtype)
    tensors = {}
    if columns % form.block:
        problems.shapes.append(
            f'{name} has {columns} columns, {form.name} needs a multiple of {form.block}'
        )
    for leaf, expected in form.leaves(rows, columns).items():
        tensor = found.pop(f'{name}.{leaf}', None)
        problems.compare(f'{name}.{leaf}', tensor, expected.dtypes, expected.shapes)
        if tensor is not None:
            tensors[leaf] = tensor
    return StoredMatrix(form=form, rows=rows, columns=columns, tensors=tensors)


def _text_tensors(
    stored: Mapping[str, StoredTensor], prefix: str, config: ModelConfig
) -> dict[str, StoredTensor]:
    """Return stored text tensors; names that are not of the text model keep their full name."""
    unused = unused_modules(config, prefix)
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in stored.items()
        if not is_unused(name, unused) and not is_not_text(name)
    }


def _load(
    folder: Path, stored: StoredWeights, *, allow_not_finite: bool
) -> tuple[dict[str, torch.Tensor], int]:
    """Return the tensors, and how many values of them are NaN or infinite."""
    weights, num_bad = {}, 0
    problems = _Problems()
    for name, tensor in stored.tensors():
        weights[name] = tensor.load()
        with _few_threads():
            bad = count_not_finite(weights[name]) if tensor.dtype in _FLOATS else 0
        num_bad += bad
        if bad and not allow_not_finite:
            problems.values.append(f'{name} holds {bad} values that are NaN or infinite')
            problems.remedy = '; model.allow_not_finite: true loads them all the same'
        if name.endswith(DIVISOR) and not weights[name].all():
            problems.values.append(f'{name} is 0, which divides')
    problems.raise_for(folder)
    return weights, num_bad


@contextmanager
def _few_threads() -> Iterator[None]:
    """Have few threads look: on a busy machine each part would wait for the slowest of many."""
    before = torch.get_num_threads()
    torch.set_num_threads(min(before, _CHECK_THREADS))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def count_not_finite(tensor: torch.Tensor) -> int:
    """Return how many values of a floating-point tensor are NaN or infinite."""
    is_narrow = tensor.dtype == torch.float8_e4m3fn
    num_bad = 0
    for part in torch.split(tensor.flatten(), _CHECK_ELEMENTS):
        values = part.float() if is_narrow else part
        # The largest magnitude says it all, several times as fast, unless something is bad.
        if values.numel() and not torch.isfinite(values.abs().amax()):
            num_bad += int((~torch.isfinite(values)).sum())
    return num_bad


class _Problems:
    """Collects what is wrong with a folder, to be said at once."""

    def __init__(self) -> None:
        self.missing: list[str] = []
        self.extra: list[str] = []
        self.shapes: list[str] = []
        self.dtypes: list[str] = []
        self.declared: list[str] = []
        self.values: list[str] = []
        self.remedy = ''

    def compare(
        self,
        name: str,
        tensor: StoredTensor | None,
        dtypes: tuple[str, ...],
        shapes: tuple[tuple[int, ...], ...],
    ) -> None:
        """Hold one tensor against what is accepted."""
        if tensor is None:
            self.missing.append(name)
            return
        if tensor.shape not in shapes:
            self.shapes.append(f'{name} is {list(tensor.shape)}, expected {list(shapes[0])}')
        if tensor.dtype not in dtypes:
            self.dtypes.append(f'{name} is {tensor.dtype}, expected {dtypes[0]}')

    def declare(self, name: str, stored: str, declared: str) -> None:
        """Note a contradiction to the config, if there is one."""
        if declared:
            self.declared.append(f'{name} is stored as {stored}, declared as {declared}')

    def raise_for(self, folder: Path) -> None:
        """Raise one CheckpointError if anything is wrong."""
        kinds = (
            ('missing: ', sorted(self.missing)),
            ('unexpected: ', self.extra),
            ('wrong shape: ', self.shapes),
            ('wrong dtype: ', self.dtypes),
            ('against its quantization config: ', self.declared),
            ('', self.values),
        )
        problems = [f'{kind}{_listed(names)}' for kind, names in kinds if names]
        if problems:
            said = '; '.join(problems) + self.remedy
            raise CheckpointError(f'{folder} does not fit its config.json: {said}')


def _listed(items: list[str]) -> str:
    shown = ', '.join(items[:_MAX_NAMED])
    hidden = len(items) - _MAX_NAMED
    return shown if hidden <= 0 else f'{shown} and {hidden} more'
