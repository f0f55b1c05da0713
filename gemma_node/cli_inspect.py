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
What a checkpoint folder holds: geometry from config.json, sizes from the safetensors headers.

Reads no weights and imports no torch, so it answers at once on any machine.
"""

from __future__ import annotations

from collections import Counter
import json
from math import prod
from pathlib import Path
import struct
from typing import Any

from gemma_node.errors import CheckpointError

_MAX_HEADER_BYTES = 100_000_000
_GEOMETRY = (
    'model_type',
    'num_hidden_layers',
    'hidden_size',
    'intermediate_size',
    'num_attention_heads',
    'num_key_value_heads',
    'head_dim',
    'global_head_dim',
    'num_kv_shared_layers',
    'hidden_size_per_layer_input',
    'sliding_window',
    'vocab_size',
    'max_position_embeddings',
)


def inspect_checkpoint(folder: Path) -> dict[str, Any]:
    """Return geometry, number of parameters, and bytes by dtype; CheckpointError if damaged."""
    if not folder.is_dir():
        raise CheckpointError(f'there is no checkpoint folder at {folder}')
    config = _read_config(folder / 'config.json')
    text = config.get('text_config', config)
    if not isinstance(text, dict):
        raise CheckpointError(f'{folder}/config.json: text_config must be an object')
    files = sorted(folder.glob('*.safetensors'))
    if not files:
        raise CheckpointError(f'{folder} holds no *.safetensors file')
    dtypes: Counter[str] = Counter()
    parameters, tensors = 0, 0
    for file in files:
        for entry in _read_header(file).values():
            start, end = entry['data_offsets']
            dtypes[entry['dtype']] += end - start
            parameters += prod(entry['shape'])
            tensors += 1
    layers = text.get('layer_types')
    return {
        'folder': str(folder),
        'geometry': {name: text[name] for name in _GEOMETRY if text.get(name) is not None},
        'layers': dict(Counter(layers)) if isinstance(layers, list) else {},
        'parameters': parameters,
        'tensors': tensors,
        'bytes': sum(dtypes.values()),
        'bytes_by_dtype': dict(sorted(dtypes.items())),
        'files': {file.name: file.stat().st_size for file in files},
    }


def _read_config(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(path.read_text(encoding='utf-8'))
    except OSError as error:
        raise CheckpointError(f'{path} cannot be read: {error.strerror}') from error
    except ValueError as error:
        raise CheckpointError(f'{path} is no JSON: {error}') from error
    if not isinstance(config, dict):
        raise CheckpointError(f'{path} must hold one JSON object')
    return config


def _read_header(path: Path) -> dict[str, Any]:
    """Return the tensors that a safetensors file announces, checked against its size."""
    size = path.stat().st_size
    with path.open('rb') as stream:
        start = stream.read(8)
        length = struct.unpack('<Q', start)[0] if len(start) == 8 else size
        if length + 8 > size or length > _MAX_HEADER_BYTES:
            raise CheckpointError(f'{path} is damaged: its header does not fit its {size} bytes')
        raw = stream.read(length)
    try:
        header = json.loads(raw)
        header.pop('__metadata__', None)
        end = max((entry['data_offsets'][1] for entry in header.values()), default=0)
        for entry in header.values():
            prod(entry['shape'])
            str(entry['dtype'])
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise CheckpointError(f'{path} is damaged: its header is no tensor table') from error
    if length + 8 + end != size:
        raise CheckpointError(
            f'{path} is damaged: it announces {length + 8 + end} bytes, and has {size}'
        )
    return dict(header)
