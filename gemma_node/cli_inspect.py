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
The verb `inspect`: what a checkpoint folder holds, and what it takes to serve it.

Reads config.json and the safetensors headers: no weights and no torch, so it answers at once on
any machine.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gemma_node.cli_values import print_json
from gemma_node.errors import CheckpointError
from gemma_node.model.config import ModelConfig
from gemma_node.model.config import read_config
from gemma_node.model.config import read_json
from gemma_node.model.config import ROUNDING
from gemma_node.model.config import text_part
from gemma_node.model.files import weight_files
from gemma_node.model.footprint import cache
from gemma_node.model.footprint import footprint
from gemma_node.model.footprint import Group
from gemma_node.model.header import Entry
from gemma_node.model.header import read_header
from gemma_node.model.inventory import MLX_PREFIX
from gemma_node.model.inventory import MULTIMODAL_PREFIX

EMBEDDED_CHECKPOINT = Path(__file__).resolve().parent / 'assets' / 'demo'
_CONTEXTS = (1024, 8192, 32768)
_LAYOUTS = {MULTIMODAL_PREFIX: 'multimodal', MLX_PREFIX: 'MLX'}
# What this version does with a checkpoint, whatever its form.
_SERVED = {
    'cpu': 'where float32 weights would fit, the native step (bfloat16 and 4 bits as stored, '
    'other forms in float32), else PyTorch in bfloat16; the table in the mapped file',
    'cuda, xpu': 'weights in bfloat16 and the table on the device',
}
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


def add_inspect(verbs: Any) -> None:
    """Add the verb to the command's parser."""
    verb = verbs.add_parser(
        'inspect',
        help='geometry, size and memory of a checkpoint',
        description='Show what a checkpoint folder holds and what it takes in memory, from its '
        'headers alone.',
    )
    verb.add_argument(
        'checkpoint',
        type=Path,
        nargs='?',
        default=EMBEDDED_CHECKPOINT,
        metavar='CKPT',
        help='checkpoint folder (default: the embedded one)',
    )
    verb.add_argument('--json', action='store_true', help='print JSON')
    verb.set_defaults(verb=_inspect)


def _inspect(arguments: argparse.Namespace, console: Console) -> int:
    facts = inspect_checkpoint(arguments.checkpoint)
    if arguments.json:
        print_json(console, facts)
    else:
        print_facts(console, facts)
    return 0


def inspect_checkpoint(folder: Path) -> dict[str, Any]:
    """
    Return geometry, parameters and bytes by group, memory by place, and cache by dtype.

    Raises CheckpointError where config, headers, names or shapes would be refused by the runtime.
    """
    if not folder.is_dir():
        raise CheckpointError(f'there is no checkpoint folder at {folder}')
    config = ModelConfig.from_folder(folder)
    _check_text_files(folder)
    raw = read_config(folder)
    text = text_part(raw)
    files = weight_files(folder)
    entries: dict[str, Entry] = {}
    for file in files:
        for name, entry in read_header(file).items():
            if name in entries:
                raise CheckpointError(f'{folder} stores {name} twice')
            entries[name] = entry
    found = footprint(folder, config, entries)
    dtypes: Counter[str] = Counter()
    for entry in entries.values():
        dtypes[entry.dtype] += entry.nbytes
    contexts = [n for n in _CONTEXTS if n < config.max_position_embeddings]
    return {
        'folder': str(folder),
        'layout': _LAYOUTS.get(found.prefix, 'text model'),
        'geometry': {name: text[name] for name in _GEOMETRY if text.get(name) is not None},
        'layers': dict(Counter(text['layer_types'])),
        'rounding': ROUNDING,
        'parameters': found.parameters,
        'tensors': len(entries),
        'bytes': sum(dtypes.values()),
        'bytes_by_dtype': dict(sorted(dtypes.items())),
        'groups': {name: _counts(group) for name, group in found.used.items()},
        'used': _counts(_sum(list(found.used.values()))),
        'not_read': {name: _counts(group) for name, group in found.unread.items()},
        'memory': found.memory(),
        'served': _SERVED,
        'cache': cache(config, (*contexts, config.max_position_embeddings)),
        'files': {file.name: file.stat().st_size for file in files},
    }


def _counts(group: Group) -> dict[str, Any]:
    counts = {
        'tensors': group.tensors, 'parameters': group.parameters, 'bytes': group.nbytes
    }  # fmt: skip
    return counts | ({'forms': dict(sorted(group.forms.items()))} if group.forms else {})


def _sum(groups: list[Group]) -> Group:
    total = Group()
    for group in groups:
        total.tensors += group.tensors
        total.parameters += group.parameters
        total.nbytes += group.nbytes
        total.forms += group.forms
    return total


def print_facts(console: Console, facts: dict[str, Any]) -> None:
    """Print what `inspect_checkpoint` returned as tables."""
    heads = ('groups', 'used', 'not_read', 'memory', 'served', 'cache')
    table = Table(box=None, show_header=False)
    table.add_column()
    table.add_column(overflow='fold')
    for name, value in facts.items():
        if name not in heads:
            if isinstance(value, dict):
                value = '\n'.join(f'{key} {_grouped(item)}' for key, item in value.items())
            table.add_row(name, escape(_grouped(value)))
    console.print(table)
    counts = {**facts['groups'], 'used': facts['used'], **facts['not_read']}
    rows = {
        name: {**value, 'forms': ', '.join(
            f'{count} {form}' for form, count in value.get('forms', {}).items())}
        for name, value in counts.items()
        if value['tensors']
    }
    _print_table(console, 'group', rows)
    places = {
        f'{form}, table {"mapped" if place == "mmap" else f"on the {place}"}': sizes
        for form, by_place in facts['memory'].items()
        for place, sizes in by_place.items()
    }
    _print_table(console, 'bytes of weights', places)
    for device, sentence in facts['served'].items():
        console.print(f'device {device}: {sentence}', highlight=False, soft_wrap=True)
    cached = {
        what: {dtype: sizes[what] for dtype, sizes in facts['cache'].items()}
        for what in next(iter(facts['cache'].values()))
    }
    _print_table(console, 'bytes of keys and values', cached)


def _print_table(console: Console, title: str, rows: dict[str, dict[str, Any]]) -> None:
    columns = list(next(iter(rows.values())))
    table = Table(title, box=None)
    for column in columns:
        table.add_column(column, justify='left' if column == 'forms' else 'right')
    for name, values in rows.items():
        table.add_row(escape(name), *(escape(_grouped(values[key])) for key in columns))
    console.print()
    console.print(table)


def _grouped(value: Any) -> str:
    return f'{value:,}' if isinstance(value, int) else str(value)


def _check_text_files(folder: Path) -> None:
    if not (folder / 'tokenizer.json').is_file():
        raise CheckpointError(f'{folder}/tokenizer.json is missing; a checkpoint needs it')
    if (folder / 'chat_template.jinja').is_file():
        return
    try:
        has_template = bool(read_json(folder / 'tokenizer_config.json').get('chat_template'))
    except CheckpointError:
        has_template = False
    if not has_template:
        raise CheckpointError(
            f'{folder} has no chat template: neither chat_template.jinja nor one in '
            'tokenizer_config.json'
        )
