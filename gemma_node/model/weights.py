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
Reads a checkpoint's text weights from safetensors, by memory map.

Every tensor's name, shape, dtype and finiteness is checked, and all that is wrong is said in
one CheckpointError. Pickle files are refused unread.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors import SafetensorError
import torch

from gemma_node.errors import CheckpointError
from gemma_node.model.config import ModelConfig
from gemma_node.model.files import weight_files
from gemma_node.model.gemma4 import Gemma4

MULTIMODAL_PREFIX = 'model.language_model.'
STANDALONE_PREFIX = 'model.'

_NOT_TEXT = ('vision_tower.', 'audio_tower.', 'embed_vision.', 'embed_audio.')
_UNUSED_IN_SHARED = ('k_proj.weight', 'v_proj.weight', 'k_norm.weight')
_DTYPES = {'BF16': torch.bfloat16, 'F32': torch.float32}
_MAX_NAMED = 8
_CHECK_ELEMENTS = 1 << 24


def load_model(path: str | Path) -> Gemma4:
    """Read config and weights of a checkpoint folder; the weights stay memory-mapped."""
    config = ModelConfig.from_folder(path)
    weights = load_weights(path, config)
    model = empty_model(config)
    model.load_state_dict(weights, assign=True)
    return model.requires_grad_(False).eval()


def empty_model(config: ModelConfig) -> Gemma4:
    """Return the model's modules without memory behind their weights."""
    with torch.device('meta'):
        return Gemma4(config)


def load_weights(path: str | Path, config: ModelConfig) -> dict[str, torch.Tensor]:
    """Return the text weights by their names after the prefix; raises CheckpointError."""
    folder = Path(path)
    expected = {name: tensor.shape for name, tensor in empty_model(config).state_dict().items()}
    with ExitStack() as stack:
        owners = _open_all(folder, stack)
        prefix = _prefix_of(owners)
        found = _text_names(owners, prefix, config)
        problems = _compare(found, expected)
        _raise_if(folder, problems)
        weights = {name: found[name].load() for name in expected}
    _raise_if(folder, list(_not_finite(weights)))
    return weights


class _Stored:
    """One tensor of an open file; shape and dtype are known before it is read."""

    def __init__(self, handle: Any, name: str) -> None:
        self._handle = handle
        self._name = name
        view = handle.get_slice(name)
        self.shape = torch.Size(view.get_shape())
        self.dtype = str(view.get_dtype())

    def load(self) -> torch.Tensor:
        """Return the tensor, backed by the file's memory map."""
        tensor: torch.Tensor = self._handle.get_tensor(self._name)
        return tensor


def _open_all(folder: Path, stack: ExitStack) -> dict[str, Any]:
    """Return the open file of every stored tensor name."""
    owners: dict[str, Any] = {}
    for file in weight_files(folder):
        try:
            handle = stack.enter_context(safe_open(file, framework='pt', device='cpu'))
        except (SafetensorError, OSError) as error:
            raise CheckpointError(f'{file} is damaged or cut short: {error}') from error
        for name in handle.keys():  # noqa: SIM118
            if name in owners:
                raise CheckpointError(f'{folder} stores {name} twice')
            owners[name] = handle
    return owners


def _prefix_of(owners: Mapping[str, Any]) -> str:
    multimodal = any(name.startswith(MULTIMODAL_PREFIX) for name in owners)
    return MULTIMODAL_PREFIX if multimodal else STANDALONE_PREFIX


def _text_names(
    owners: Mapping[str, Any], prefix: str, config: ModelConfig
) -> dict[str, _Stored]:
    """Return stored text tensors; names that are not of the text model keep their full name."""
    unused = {
        f'{prefix}layers.{layer.index}.self_attn.{name}'
        for layer in config.layers
        if not layer.owns_kv
        for name in _UNUSED_IN_SHARED
    }
    found = {}
    for name, handle in owners.items():
        rest = name.removeprefix('model.')
        if name in unused or rest.startswith(_NOT_TEXT):
            continue
        found[name.removeprefix(prefix)] = _Stored(handle, name)
    return found


def _compare(found: Mapping[str, _Stored], expected: Mapping[str, torch.Size]) -> list[str]:
    problems = []
    missing = sorted(set(expected) - set(found))
    extra = sorted(set(found) - set(expected))
    if missing:
        problems.append(f'missing: {_listed(missing)}')
    if extra:
        problems.append(f'unexpected: {_listed(extra)}')
    first = found.get('embed_tokens.weight')
    dtype = first.dtype if first is not None and first.dtype in _DTYPES else 'BF16'
    shapes, dtypes = [], []
    for name in sorted(set(expected) & set(found)):
        stored = found[name]
        if stored.shape != expected[name]:
            shapes.append(f'{name} is {list(stored.shape)}, expected {list(expected[name])}')
        if stored.dtype != dtype:
            dtypes.append(f'{name} is {stored.dtype}, expected {dtype}')
    if shapes:
        problems.append(f'wrong shape: {_listed(shapes)}')
    if dtypes:
        problems.append(f'wrong dtype: {_listed(dtypes)}')
    return problems


def _not_finite(weights: Mapping[str, torch.Tensor]) -> Iterator[str]:
    for name, tensor in weights.items():
        parts = torch.split(tensor.flatten(), _CHECK_ELEMENTS)
        bad = sum(part.numel() - int(torch.isfinite(part).sum()) for part in parts)
        if bad:
            yield f'{name} holds {bad} values that are NaN or infinite'


def _listed(items: list[str]) -> str:
    shown = ', '.join(items[:_MAX_NAMED])
    hidden = len(items) - _MAX_NAMED
    return shown if hidden <= 0 else f'{shown} and {hidden} more'


def _raise_if(folder: Path, problems: list[str]) -> None:
    if problems:
        raise CheckpointError(f'{folder} does not fit its config.json: {"; ".join(problems)}')
