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
from gemma_node.model.config import ModelConfig
from gemma_node.model.files import weight_files

_MAX_HEADER_BYTES = 100_000_000
_BYTES = {'BF16': 2, 'F16': 2, 'F32': 4, 'F64': 8, 'I8': 1, 'U8': 1, 'I32': 4, 'I64': 8}
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
    """
    Return geometry, number of parameters, and bytes by dtype.

    Raises CheckpointError where the runtime would refuse the folder before reading weights.
    """
    if not folder.is_dir():
        raise CheckpointError(f'there is no checkpoint folder at {folder}')
    ModelConfig.from_folder(folder)
    _check_text_files(folder)
    config = json.loads((folder / 'config.json').read_bytes())
    text = config.get('text_config', config)
    files = weight_files(folder)
    dtypes: Counter[str] = Counter()
    parameters, tensors = 0, 0
    for file in files:
        for entry in _read_header(file).values():
            start, end = entry['data_offsets']
            dtypes[entry['dtype']] += end - start
            parameters += prod(entry['shape'])
            tensors += 1
    return {
        'folder': str(folder),
        'geometry': {name: text[name] for name in _GEOMETRY if text.get(name) is not None},
        'layers': dict(Counter(text['layer_types'])),
        'parameters': parameters,
        'tensors': tensors,
        'bytes': sum(dtypes.values()),
        'bytes_by_dtype': dict(sorted(dtypes.items())),
        'files': {file.name: file.stat().st_size for file in files},
    }


def _check_text_files(folder: Path) -> None:
    if not (folder / 'tokenizer.json').is_file():
        raise CheckpointError(f'{folder}/tokenizer.json is missing; a checkpoint needs it')
    if (folder / 'chat_template.jinja').is_file():
        return
    try:
        config = json.loads((folder / 'tokenizer_config.json').read_bytes())
        has_template = bool(config.get('chat_template'))
    except (OSError, ValueError, AttributeError, RecursionError):
        has_template = False
    if not has_template:
        raise CheckpointError(
            f'{folder} has no chat template: neither chat_template.jinja nor one in '
            'tokenizer_config.json'
        )


def _read_header(path: Path) -> dict[str, Any]:
    """Return the tensors that a safetensors file announces, checked against its size."""
    try:
        size = path.stat().st_size
        with path.open('rb') as stream:
            start = stream.read(8)
            length = struct.unpack('<Q', start)[0] if len(start) == 8 else size
            if length + 8 > size or length > _MAX_HEADER_BYTES:
                raise CheckpointError(
                    f'{path} is damaged: its header does not fit its {size} bytes'
                )
            raw = stream.read(length)
    except OSError as error:
        raise CheckpointError(f'{path} cannot be read: {error.strerror}') from error
    try:
        header = json.loads(raw)
        header.pop('__metadata__', None)
        end = max((_end(entry) for entry in header.values()), default=0)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CheckpointError(f'{path} is damaged: its header is no tensor table') from error
    if length + 8 + end != size:
        raise CheckpointError(
            f'{path} is damaged: it announces {length + 8 + end} bytes, and has {size}'
        )
    return dict(header)


def _end(entry: dict[str, Any]) -> int:
    """Return where a tensor's bytes end; raises ValueError and the like if it is no tensor."""
    start, end = entry['data_offsets']
    if not all(type(number) is int and number >= 0 for number in (start, end, *entry['shape'])):
        raise ValueError('neither shape nor offsets can be negative')
    wanted = prod(entry['shape']) * _BYTES.get(entry['dtype'], 0)
    if wanted and end - start != wanted:
        raise ValueError('shape and offsets differ')
    return int(end)
