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

"""Single values of a config.json: each of the right type and within bounds, or one error."""

from __future__ import annotations

from collections.abc import Mapping
import sys
from typing import Any

from gemma_node.errors import CheckpointError

MAX_INTEGER = (1 << 31) - 1
_MAX_NUMBER = sys.float_info.max
_MAX_CHARACTERS = 80


def integer(
    values: Mapping[str, Any], name: str, default: int | None = None, *, minimum: int = 1
) -> int:
    """Return an integer within bounds; raises CheckpointError."""
    value = values.get(name)
    if value is None:
        value = default
    if type(value) is not int or not minimum <= value <= MAX_INTEGER:
        raise CheckpointError(
            f'{name} must be an integer from {minimum} to {MAX_INTEGER}, found {shown(value)}'
        )
    return value


def number(values: Mapping[str, Any], name: str, default: float) -> float:
    """Return a finite number >= 0; raises CheckpointError."""
    value = values.get(name, default)
    if type(value) not in (int, float) or not 0 <= value <= _MAX_NUMBER:
        raise CheckpointError(f'{name} must be a finite number >= 0, found {shown(value)}')
    return float(value)


def positive(values: Mapping[str, Any], name: str, default: float) -> float:
    """Return a finite number > 0; raises CheckpointError."""
    found = number(values, name, default)
    if not found:
        raise CheckpointError(f'{name} must be a finite number > 0, found 0')
    return found


def optional_positive(values: Mapping[str, Any], name: str) -> float | None:
    """Return a finite number > 0, or None where nothing is said; raises CheckpointError."""
    return None if values.get(name) is None else positive(values, name, 0.0)


def boolean(values: Mapping[str, Any], name: str, default: bool) -> bool:
    """Return true or false; raises CheckpointError."""
    value = values.get(name, default)
    if not isinstance(value, bool):
        raise CheckpointError(f'{name} must be true or false, found {shown(value)}')
    return value


def shown(value: Any) -> str:
    """Return what was found, cut where a file says it with thousands of digits."""
    text = repr(value)
    return text if len(text) <= _MAX_CHARACTERS else f'{text[:_MAX_CHARACTERS]}...'
