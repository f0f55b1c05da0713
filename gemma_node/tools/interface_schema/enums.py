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
Which constants are the values of which field, as interface authors write them.

ROS has no enums: a field's values are constants beside it, tied by name or by standing before it.
Where neither makes the field clear, it stays a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

Constants = Mapping[str, tuple[str, Any]]

_WHOLE = frozenset(('byte', 'char', *(f'{sign}int{bits}' for sign in ('', 'u')
                                      for bits in (8, 16, 32, 64))))
# Constants with these words bound a value, they are not the values.
_LIMITS = frozenset(('MIN', 'MAX', 'MINIMUM', 'MAXIMUM', 'LIMIT'))


def enumerations(
    fields: Mapping[str, str], constants: Constants, order: Sequence[str],
) -> dict[str, dict[str, Any]]:
    """
    Return the named values of each field that has any.

    `fields` are the names and primitive types of single values, `constants` name -> (type,
    value), `order` all names as written. Tried in turn: STATUS_OK for status (whole numbers and
    text); COVARIANCE_TYPE_KNOWN for position_covariance_type; a block right before the field.
    """
    found: dict[str, dict[str, Any]] = {}
    free = dict(constants)
    whole = [name for name, kind in fields.items() if kind in _WHOLE]
    texts = [name for name, kind in fields.items() if kind in ('string', 'wstring')]
    for name in sorted((*whole, *texts), key=len, reverse=True):
        _claim(found, free, name, _of_prefix(f'{name.upper()}_', free, name in texts))
    claims = {name: group for name in whole if name not in found
              if (group := _of_last_words(name, free))}
    for name, group in claims.items():
        if list(claims.values()).count(group) == 1:
            _claim(found, free, name, group)
    for name, group in _blocks(order, fields, free):
        if name in whole and name not in found:
            _claim(found, free, name, group)
    return found


def _claim(
    found: dict[str, dict[str, Any]], free: dict[str, tuple[str, Any]], name: str,
    group: Sequence[str],
) -> None:
    values = {constant: free[constant][1] for constant in group}
    if len(values) < 2 or _are_flags(values.values()) \
            or any(_LIMITS & set(constant.split('_')) for constant in group):
        return
    found[name] = values
    for constant in group:
        del free[constant]


def _of_prefix(prefix: str, free: Constants, is_text: bool) -> list[str]:
    kinds = ('string', 'wstring') if is_text else _WHOLE
    return [constant for constant, (kind, _) in free.items()
            if kind in kinds and constant.startswith(prefix)]


def _of_last_words(name: str, free: Constants) -> list[str]:
    """Return the one group whose common words contain the field's last words, longest first."""
    words = name.upper().split('_')
    for start in range(len(words)):
        tail = words[start:]
        groups: dict[tuple[str, ...], list[str]] = {}
        for constant, (kind, _) in free.items():
            parts = constant.split('_')
            ends = [idx + len(tail) for idx in range(len(parts) - len(tail))
                    if parts[idx:idx + len(tail)] == tail]
            if kind in _WHOLE and ends:
                groups.setdefault(tuple(parts[:ends[0]]), []).append(constant)
        if groups:
            return next(iter(groups.values())) if len(groups) == 1 else []
    return []


def _blocks(
    order: Sequence[str], fields: Mapping[str, str], free: Constants,
) -> Iterator[tuple[str, list[str]]]:
    """Yield each field that follows a block of unclaimed constants of its own type."""
    block: list[str] = []
    for name in order:
        if name in free:
            block.append(name)
            continue
        if block and name in fields and {free[other][0] for other in block} == {fields[name]}:
            yield name, list(block)
        block = []


def _are_flags(values: Any) -> bool:
    """Return whether values are bits to be combined: powers of two that leave numbers out."""
    bits = [value for value in values if value]
    return all(isinstance(bit, int) and bit > 0 and bit & (bit - 1) == 0 for bit in bits) \
        and max(bits, default=0) >= 4
