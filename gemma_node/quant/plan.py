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
What a conversion writes, known to the byte from the source's headers alone.

Tensors are in files of at most 5 GB, in each by size of element and name, so that all are
aligned and the same source and recipe give the same bytes each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
import hashlib
import json
from math import prod
import os
from pathlib import Path
import struct
from typing import Any

from gemma_node import __version__
from gemma_node.errors import CheckpointError
from gemma_node.model.config import ModelConfig
from gemma_node.model.config import read_config
from gemma_node.model.config import text_part
from gemma_node.model.files import INDEX_FILE
from gemma_node.model.files import SINGLE_FILE
from gemma_node.model.files import weight_files
from gemma_node.model.header import DTYPE_BITS
from gemma_node.model.inventory import MLX_PREFIX
from gemma_node.model.inventory import STANDALONE_PREFIX
from gemma_node.model.weights import StoredWeights
from gemma_node.quant.packed import Format
from gemma_node.quant.packed import PlainFormat
from gemma_node.quant.recipes import Recipe

MAX_FILE_BYTES = 5_000_000_000
_DTYPE = 'BF16'
_DROPPED = (
    'vision_config',
    'audio_config',
    '_name_or_path',
    'quantization',
    'quantization_config',
)


@dataclass(frozen=True, slots=True)
class Output:
    """One tensor that is written: `start` is its position in `file`."""

    file: str
    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return prod(self.shape) * DTYPE_BITS[self.dtype] // 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One parameter of the source and the tensors it becomes, by last name ('' for a vector)."""

    name: str
    form: Format | None
    outputs: Mapping[str, Output]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """
    Everything about a conversion but the weights.

    `headers` are the first bytes of each weight file, `sizes` their whole sizes, `texts` the
    other files that are written. `identity` changes whenever a byte of the result could.
    """

    units: tuple[Unit, ...]
    headers: Mapping[str, bytes]
    sizes: Mapping[str, int]
    texts: Mapping[str, str]
    identity: str

    @property
    def tensor_bytes(self) -> int:
        """Bytes of all tensors, without headers."""
        return sum(each.nbytes for unit in self.units for each in unit.outputs.values())

    @property
    def num_quantised(self) -> int:
        """How many matrices are quantised."""
        return sum(unit.form is not None and unit.form.block > 1 for unit in self.units)


def make_plan(
    source: Path, config: ModelConfig, stored: StoredWeights, recipe: Recipe, rounding: str
) -> Plan:
    """Lay out the result of a recipe; reads no weights."""
    raw = read_config(source)
    is_mlx = recipe.layout == 'mlx'
    prefix = MLX_PREFIX if is_mlx and text_part(raw) is not raw else STANDALONE_PREFIX
    forms = {
        module: recipe.form_of(module, matrix.columns)
        for module, matrix in stored.matrices.items()
    }
    wanted = {name: {'': (_DTYPE, each.shape)} for name, each in stored.vectors.items()}
    for module, form in forms.items():
        matrix = stored.matrices[module]
        leaves = form.leaves(matrix.rows, matrix.columns)
        wanted[module] = {leaf: (each.dtypes[0], each.shapes[0]) for leaf, each in leaves.items()}
    metadata = {'format': 'pt', 'recipe': recipe.name}
    if is_mlx:
        metadata |= {'format': 'mlx', 'rounding': rounding}
    outputs, headers, sizes = _layout(wanted, prefix, metadata)
    units = tuple(
        Unit(name=name, form=forms.get(name), outputs=outputs[name]) for name in sorted(wanted)
    )
    said = recipe.declaration({prefix + module: form for module, form in sorted(forms.items())})
    texts = {'config.json': _json(_config(raw, config, is_mlx=is_mlx) | said)}
    if len(sizes) > 1:
        texts[INDEX_FILE] = _index(units)
    return Plan(
        units=units,
        headers=headers,
        sizes=sizes,
        texts=texts,
        identity=_identity(source, recipe, rounding, headers, texts),
    )


def refuse_quantised(source: Path, stored: StoredWeights, recipe: Recipe) -> None:
    """Raise CheckpointError if a recipe would quantise what is quantised already."""
    plain = all(isinstance(each.form, PlainFormat) for each in stored.matrices.values())
    if not plain and not isinstance(recipe.form, PlainFormat):
        raise CheckpointError(
            f'{source} is quantised already; {recipe.name} wants its bfloat16 release (the recipe '
            'bf16 unpacks it)'
        )


_Wanted = Mapping[str, Mapping[str, tuple[str, tuple[int, ...]]]]


def _layout(
    wanted: _Wanted, prefix: str, metadata: dict[str, str]
) -> tuple[dict[str, dict[str, Output]], dict[str, bytes], dict[str, int]]:
    """Return outputs by unit, and header and size of each file."""
    files = list(_files(wanted))
    outputs: dict[str, dict[str, Output]] = {name: {} for name in wanted}
    headers, sizes = {}, {}
    for number, names in enumerate(files, 1):
        file = SINGLE_FILE
        if len(files) > 1:
            file = f'model-{number:05d}-of-{len(files):05d}.safetensors'
        members = [
            (prefix + name + (f'.{leaf}' if leaf else ''), dtype, shape, name, leaf)
            for name in names
            for leaf, (dtype, shape) in wanted[name].items()
        ]
        members.sort(key=lambda member: (-DTYPE_BITS[member[1]], member[0]))
        header, starts, size = _header([member[:3] for member in members], metadata)
        headers[file], sizes[file] = header, size
        for (full, dtype, shape, name, leaf), start in zip(members, starts, strict=True):
            outputs[name][leaf] = Output(file, full, dtype, shape, start)
    return outputs, headers, sizes


def _files(wanted: _Wanted) -> Iterator[list[str]]:
    """Yield the units of each file, in the order of their names."""
    names: list[str] = []
    filled = 0
    for name in sorted(wanted):
        size = sum(prod(s) * DTYPE_BITS[d] // 8 for d, s in wanted[name].values())
        if names and filled + size > MAX_FILE_BYTES:
            yield names
            names, filled = [], 0
        names.append(name)
        filled += size
    yield names


def _header(
    members: list[tuple[str, str, tuple[int, ...]]], metadata: dict[str, str]
) -> tuple[bytes, list[int], int]:
    """Return the head of a file, where each tensor starts in the file, and the file's size."""
    table: dict[str, Any] = {'__metadata__': metadata}
    offset = 0
    for name, dtype, shape in members:
        stop = offset + prod(shape) * DTYPE_BITS[dtype] // 8
        table[name] = {'dtype': dtype, 'shape': shape, 'data_offsets': [offset, stop]}
        offset = stop
    text = json.dumps(table, separators=(',', ':')).encode()
    text += b' ' * (-len(text) % 8)
    head = struct.pack('<Q', len(text)) + text
    starts = [len(head) + table[name]['data_offsets'][0] for name, _, _ in members]
    return head, starts, len(head) + offset


def _config(raw: Mapping[str, Any], config: ModelConfig, *, is_mlx: bool) -> dict[str, Any]:
    """Return config.json without vision, audio and what it said of quantisation."""
    outer = {key: value for key, value in raw.items() if key not in _DROPPED}
    inner = text_part(raw)
    text = {key: value for key, value in inner.items() if key not in _DROPPED}
    text.pop('torch_dtype', None)
    text['dtype'] = 'bfloat16'
    if is_mlx:
        # mlx-lm reads only the published spelling, and its defaults are another model's.
        text.setdefault('global_head_dim', config.global_head_dim)
        text.setdefault('num_kv_shared_layers', config.num_kv_shared_layers)
        text.setdefault('use_double_wide_mlp', config.use_double_wide_mlp)
        text.setdefault('final_logit_softcapping', config.softcap)
    if inner is raw:
        return text
    if is_mlx:
        outer.pop('torch_dtype', None)
        return outer | {
            'text_config': text, 'vocab_size': config.vocab_size, 'dtype': 'bfloat16'
        }  # fmt: skip
    if 'eos_token_id' in outer:
        text['eos_token_id'] = outer['eos_token_id']
    return text | {'architectures': ['Gemma4ForCausalLM'], 'model_type': 'gemma4_text'}


def _index(units: tuple[Unit, ...]) -> str:
    outputs = [each for unit in units for each in unit.outputs.values()]
    weight_map = {each.name: each.file for each in sorted(outputs, key=lambda each: each.name)}
    total = sum(each.nbytes for each in outputs)
    return _json({'metadata': {'total_size': total}, 'weight_map': weight_map})


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, sort_keys=True) + '\n'


def _identity(
    source: Path,
    recipe: Recipe,
    rounding: str,
    headers: Mapping[str, bytes],
    texts: Mapping[str, str],
) -> str:
    digest = hashlib.sha256(f'{__version__} {recipe.name} {rounding}\n'.encode())
    for file in weight_files(source):
        status = file.stat()
        # A path may hold bytes that are no UTF-8.
        digest.update(os.fsencode(file.resolve()))
        digest.update(f' {status.st_size} {status.st_mtime_ns}\n'.encode())
    for name, header in headers.items():
        digest.update(name.encode() + header)
    for name, text in texts.items():
        digest.update(f'{name}\n{text}'.encode())
    return digest.hexdigest()
