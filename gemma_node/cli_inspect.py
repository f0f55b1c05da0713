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
from typing import Any

from gemma_node.errors import CheckpointError
from gemma_node.model.config import ModelConfig
from gemma_node.model.config import ROUNDING
from gemma_node.model.files import weight_files
from gemma_node.model.header import read_header

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
        for entry in read_header(file).values():
            dtypes[entry.dtype] += entry.nbytes
            parameters += prod(entry.shape)
            tensors += 1
    return {
        'folder': str(folder),
        'geometry': {name: text[name] for name in _GEOMETRY if text.get(name) is not None},
        'layers': dict(Counter(text['layer_types'])),
        'rounding': ROUNDING,
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
