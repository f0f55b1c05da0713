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
Reads what a safetensors file announces and proves it against the file's size.

Nothing of a file is mapped or allocated for before its header has passed: lengths, dtypes,
shapes and offsets that a damaged or hostile header claims end in one CheckpointError. Reads no
weights and imports no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
import json
from math import prod
from pathlib import Path
import struct
from typing import Any
from typing import TypeGuard

from gemma_node.errors import CheckpointError

# Bits of one element, by the name that the format gives a dtype.
DTYPE_BITS = {
    **dict.fromkeys(('BOOL', 'U8', 'I8', 'F8_E4M3', 'F8_E5M2', 'F8_E8M0'), 8),
    **dict.fromkeys(('U16', 'I16', 'F16', 'BF16'), 16),
    **dict.fromkeys(('U32', 'I32', 'F32'), 32),
    **dict.fromkeys(('U64', 'I64', 'F64', 'C64'), 64),
    **dict.fromkeys(('F6_E2M3', 'F6_E3M2'), 6),
    'F4': 4,
}
MAX_HEADER_BYTES = 100_000_000
_LENGTH_BYTES = 8
_MAX_DIMENSIONS = 8
_MAX_SIZE = 1 << 63
_METADATA = '__metadata__'


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored tensor; `start` and `stop` are positions in the file."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int

    @property
    def nbytes(self) -> int:
        """Bytes that it takes in the file."""
        return self.stop - self.start


def read_header(path: Path) -> dict[str, Entry]:
    """Return the tensors of a file by name; raises CheckpointError."""
    try:
        with path.open('rb') as file:
            size = path.stat().st_size
            start = file.read(_LENGTH_BYTES)
            length = struct.unpack('<Q', start)[0] if len(start) == _LENGTH_BYTES else size
            first = _LENGTH_BYTES + length
            if first > size or length > MAX_HEADER_BYTES:
                raise _damage(path, f'its header does not fit its {size} bytes')
            raw = file.read(length)
    except OSError as error:
        raise CheckpointError(f'{path} cannot be read: {error.strerror}') from error
    try:
        entries = _parse(raw, first)
    except _HeaderError as error:
        raise _damage(path, str(error)) from error
    stop = max((entry.stop for entry in entries.values()), default=first)
    if stop != size:
        raise _damage(path, f'it announces {stop} bytes, and has {size}')
    return entries


class _HeaderError(Exception):
    """What is wrong with a header."""


def _damage(path: Path, what: str) -> CheckpointError:
    return CheckpointError(f'{path} is damaged or cut short: {what}')


def _parse(raw: bytes, first: int) -> dict[str, Entry]:
    """Return the checked entries of a header whose data begin at `first`."""
    try:
        table = json.loads(raw.decode('utf-8'), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise _HeaderError('its header is no tensor table (not JSON)') from error
    if not isinstance(table, dict):
        raise _HeaderError('its header is no tensor table (not an object)')
    metadata = table.pop(_METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise _HeaderError('its header is no tensor table (metadata that are not texts)')
    entries = {name: _entry(name, value, first) for name, value in table.items()}
    end = first
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].start, item[1].stop)):
        if entry.start != end:
            what = 'overlaps the tensor before it' if entry.start < end else 'leaves a hole'
            raise _HeaderError(f'{name} {what}')
        end = entry.stop
    return entries


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name, value in pairs:
        if name in table:
            raise _HeaderError(f'its header names {name[:200]!r} twice')
        table[name] = value
    return table


def _entry(name: str, value: Any, first: int) -> Entry:
    if not name.isprintable() or len(name) > 1000:
        raise _HeaderError(f'its header is no tensor table (name {name[:50]!r})')
    fields = value if isinstance(value, dict) else {}
    dtype, shape, offsets = (fields.get(key) for key in ('dtype', 'shape', 'data_offsets'))
    if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
        raise _HeaderError(f'its header is no tensor table (entry {name})')
    if len(shape) > _MAX_DIMENSIONS:
        raise _HeaderError(f'{name} has {len(shape)} dimensions')
    if not isinstance(dtype, str) or dtype not in DTYPE_BITS:
        raise _HeaderError(f'{name} has the unknown dtype {str(dtype)[:50]!r}')
    start, stop = offsets
    if prod(shape) * DTYPE_BITS[dtype] != (stop - start) * 8:
        raise _HeaderError(f'{name} is {dtype} {shape} in {stop - start} bytes')
    return Entry(dtype, tuple(shape), first + start, first + stop)


def _are_sizes(value: Any) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(type(n) is int and 0 <= n < _MAX_SIZE for n in value)
