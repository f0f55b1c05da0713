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
What a checkpoint's text model takes: numbers and bytes by group, memory by place, cache by robot.

All of it from config.json and the safetensors headers; reads no weights and imports no torch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from math import prod
from pathlib import Path

from gemma_node.errors import CheckpointError
from gemma_node.model.cache_shape import lane_bytes
from gemma_node.model.config import ModelConfig
from gemma_node.model.header import Entry
from gemma_node.model.inventory import EMBEDDING
from gemma_node.model.inventory import is_not_text
from gemma_node.model.inventory import is_unused
from gemma_node.model.inventory import parts_of
from gemma_node.model.inventory import prefix_of
from gemma_node.model.inventory import TABLE
from gemma_node.model.inventory import unused_modules
from gemma_node.model.packed_shapes import packed_shapes
from gemma_node.quant.declaration import AFFINE
from gemma_node.quant.declaration import affine_name
from gemma_node.quant.declaration import FP8
from gemma_node.quant.declaration import IGNORED_LEAVES
from gemma_node.quant.declaration import LEAVES
from gemma_node.quant.declaration import NVFP4
from gemma_node.quant.declaration import PLAIN

# Bytes of one cached number.
CACHE_DTYPES = {'float32': 4, 'bfloat16': 2, 'float8': 1}
UNUSED, NOT_TEXT, IGNORED = 'unused', 'vision_and_audio', 'activation_scales'
# Bytes of an unpacked number, and what a form of that dtype is called.
_UNPACKED = {'bfloat16': (2, 'bf16'), 'float32': (4, 'f32')}
_PLAIN = ('BF16', 'F32')
_MAX_NAMED = 8


@dataclass(slots=True)
class Group:
    """One group of a checkpoint; `forms` counts its matrices by how they are stored."""

    tensors: int = 0
    parameters: int = 0
    nbytes: int = 0
    forms: Counter[str] = field(default_factory=Counter)

    def add(self, entries: Mapping[str, Entry], parameters: int, form: str = '') -> None:
        """Count one parameter that these tensors store."""
        self.tensors += len(entries)
        self.parameters += parameters
        self.nbytes += sum(entry.nbytes for entry in entries.values())
        if form:
            self.forms[form] += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """
    A checkpoint by groups: those that the text model reads, and those that it does not.

    `forms` are of the two tables, by module.
    """

    prefix: str
    used: Mapping[str, Group]
    unread: Mapping[str, Group]
    forms: Mapping[str, str]

    @property
    def parameters(self) -> int:
        """How many numbers the text model has."""
        return sum(group.parameters for group in self.used.values())

    def memory(self) -> dict[str, dict[str, dict[str, int]]]:
        """
        Return bytes by form of the weights and place of the per-layer table.

        A form is `stored`, as a kernel keeps weights that computes on packed ones, or a dtype,
        as plain PyTorch keeps them. The table is only gathered: it stays as it is stored, on the
        `device`, in the `host`'s memory, or in the mapped file (`mmap`).
        """
        table = self.used[TABLE]
        stored = sum(group.nbytes for group in self.used.values()) - table.nbytes
        weights = {'stored': stored}
        for name, (size, form) in _UNPACKED.items():
            weights[name] = (self.parameters - table.parameters) * size
            if self.forms[EMBEDDING] != form:
                # The head is unpacked; rows are still gathered from what is stored.
                weights[name] += self.used[EMBEDDING].nbytes
        return {
            name: {
                'device': {'device': size + table.nbytes, 'host': 0, 'mapped': 0},
                'host': {'device': size, 'host': table.nbytes, 'mapped': 0},
                'mmap': {'device': size, 'host': 0, 'mapped': table.nbytes},
            }
            for name, size in weights.items()
        }


def footprint(folder: Path, config: ModelConfig, entries: Mapping[str, Entry]) -> Footprint:
    """
    Count the tensors that a folder stores.

    Raises CheckpointError where names, shapes or forms do not fit the config.
    Dtypes and values are for the loader to judge.
    """
    prefix = prefix_of(entries)
    unused = unused_modules(config, prefix)
    found: dict[str, Entry] = {}
    unread = {UNUSED: Group(), NOT_TEXT: Group(), IGNORED: Group()}
    unused_parts: dict[str, dict[str, Entry]] = {}
    for name, entry in entries.items():
        module, _, leaf = name.rpartition('.')
        if is_unused(name, unused):
            unused_parts.setdefault(module, {})[leaf] = entry
        elif is_not_text(name):
            unread[NOT_TEXT].add({leaf: entry}, prod(entry.shape))
        elif leaf in IGNORED_LEAVES:
            unread[IGNORED].add({leaf: entry}, 0)
        else:
            found[name.removeprefix(prefix)] = entry
    for module, own in unused_parts.items():
        is_plain = all(entry.dtype in _PLAIN for entry in own.values())
        size = sum(prod(entry.shape) for entry in own.values())
        unread[UNUSED].add(own, size if is_plain else prod(unused[module]))
    used, forms = _used(folder, config, found, prefix)
    return Footprint(prefix=prefix, used=used, unread=unread, forms=forms)


def _used(
    folder: Path, config: ModelConfig, found: dict[str, Entry], prefix: str
) -> tuple[dict[str, Group], dict[str, str]]:
    """Count the model's parameters out of `found`; return groups, and forms of the tables."""
    used: dict[str, Group] = {}
    forms = {}
    missing, wrong, declared = [], [], []
    for name, part in parts_of(config).items():
        names = {leaf: f'{name}.{leaf}' for leaf in LEAVES} if part.is_matrix else {'': name}
        own = {leaf: found.pop(full) for leaf, full in names.items() if full in found}
        if not own:
            missing.append(name)
            continue
        form = _form(own, part.shape[-1]) if part.is_matrix else ''
        shapes = packed_shapes(own, *part.shape) if part.is_matrix else {'': (part.shape,)}
        for leaf, accepted in shapes.items():
            entry = own.get(leaf)
            if entry is None:
                missing.append(names[leaf])
            elif entry.shape not in accepted:
                wrong.append(
                    f'{names[leaf]} is {list(entry.shape)}, expected {list(accepted[0])}'
                )
        found.update({names[leaf]: each for leaf, each in own.items() if leaf not in shapes})
        if part.is_matrix and config.quantization is not None:
            said = config.quantization.contradiction(prefix + name, _family(form), form)
            if said:
                declared.append(f'{name} is stored as {form}, declared as {said}')
        used.setdefault(part.group, Group()).add(own, part.size, form)
        if name in (EMBEDDING, TABLE):
            forms[name] = form
    kinds = (
        ('missing: ', missing),
        ('unexpected: ', sorted(found)),
        ('wrong shape: ', wrong),
        ('against its quantization config: ', declared),
    )
    problems = [f'{kind}{_listed(names)}' for kind, names in kinds if names]
    if problems:
        raise CheckpointError(f'{folder} does not fit its config.json: {"; ".join(problems)}')
    return used, forms


def cache(config: ModelConfig, contexts: tuple[int, ...]) -> dict[str, dict[str, int]]:
    """
    Return bytes of keys and values by dtype of the cache.

    `1k tokens` are 1,024 rows of the full layers, `window` the sliding layers once they are
    full, `robot, N tokens` the most that one robot's pages take at N tokens of context.
    """
    owners = config.layers[: config.num_owning_layers]
    row = {
        is_sliding: sum(
            2 * each.num_kv_heads * each.head_dim
            for each in owners
            if each.is_sliding == is_sliding
        )
        for is_sliding in (False, True)
    }
    return {
        name: {
            'token': row[False] * size,
            '1k tokens': row[False] * size * 1024,
            'window': row[True] * size * config.sliding_window,
            **{f'robot, {n} tokens': lane_bytes(config, n, size) for n in contexts},
        }
        for name, size in CACHE_DTYPES.items()
    }


def _form(own: Mapping[str, Entry], columns: int) -> str:
    """Return how a matrix is stored, as the loader calls it."""
    weight = own.get('weight')
    kind = '' if weight is None else weight.dtype
    if 'weight_packed' in own or kind == 'U8':
        return NVFP4
    if 'scales' in own or kind == 'U32':
        groups = own['scales'].shape[-1:] if 'scales' in own else ()
        words = weight.shape[-1:] if weight is not None else ()
        return affine_name(
            words[0] * 32 // columns if words else '?',
            columns // groups[0] if groups and groups[0] else '?',
        )
    return FP8 if kind == 'F8_E4M3' else kind.lower()


def _family(form: str) -> str:
    if form.startswith('mlx-'):
        return AFFINE
    return form if form in (NVFP4, FP8) else PLAIN


def _listed(names: list[str]) -> str:
    shown = ', '.join(names[:_MAX_NAMED])
    hidden = len(names) - _MAX_NAMED
    return shown if hidden <= 0 else f'{shown} and {hidden} more'
