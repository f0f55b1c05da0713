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

"""Reads one field of a plain nested message by path, and judges it against bounds."""

from __future__ import annotations

import math
import re
from typing import Any

STEP = re.compile(r'([A-Za-z_]\w*)|\[(\d+)\]')


def lookup(value: Any, path: str) -> Any:
    """
    Return the value at a path such as ``pose.pose.position.x`` or ``ranges[3]``.

    Returns None where the path leads nowhere. An empty path is the whole value.
    """
    for name, index in STEP.findall(path):
        if name:
            if not isinstance(value, dict) or name not in value:
                return None
            value = value[name]
            continue
        if isinstance(value, dict) and '__array__' in value:
            value = value.get('head', [])
        if not isinstance(value, list) or int(index) >= len(value):
            return None
        value = value[int(index)]
    return value


def violation(
    value: Any, *, above: float = -math.inf, below: float = math.inf, equals: Any = None
) -> str:
    """Return why the value breaks a bound, '' when it does not. NaN breaks every bound."""
    if equals not in (None, ''):
        if same(value, equals):
            return ''
        return f'is {as_text(value)}, must equal {as_text(equals)}'
    if above == -math.inf and below == math.inf:
        return ''
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        return f'is {as_text(value)}, a number is needed'
    if not value > above:
        return f'is {as_text(value)}, must be above {above:g}'
    if not value < below:
        return f'is {as_text(value)}, must be below {below:g}'
    return ''


def same(value: Any, wanted: Any) -> bool:
    """Return whether a field equals a configured value; text and numbers compare as written."""
    if isinstance(value, bool) or isinstance(wanted, bool):
        return as_text(value) == as_text(wanted).lower()
    if isinstance(value, (int, float)):
        try:
            return float(wanted) == float(value)
        except (TypeError, ValueError):
            return False
    return as_text(value) == as_text(wanted)


def as_text(value: Any) -> str:
    """Return a field's value as a person would write it."""
    if value is None:
        return 'unknown'
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, float):
        return f'{value:.4g}'
    return str(value)
