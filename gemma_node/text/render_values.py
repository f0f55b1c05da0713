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
Turns plain values into short text: numbers, labels, quoted strings, and any message at all.

Everything that came in a message is data: it stays on one line and keeps a bounded length.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import json
import math
import re
from typing import Any

MAX_TEXT_CHARS = 600
MAX_LABEL_CHARS = 48
MAX_FIELDS = 24
MAX_DEPTH = 5
MAX_ITEMS = 6
_PLAIN_LABEL = re.compile(r'[A-Za-z0-9_][A-Za-z0-9_./:+-]*(?: [A-Za-z0-9_./:+-]+)*\Z')


class InvalidValueError(ValueError):
    """A message holds no usable value; the text says why in a word."""


def lookup(value: Any, path: str) -> Any:
    """Return the field at a dotted path; LookupError where the message has none."""
    for name in path.split('.'):
        if not isinstance(value, Mapping) or name not in value:
            raise LookupError(path)
        value = value[name]
    return value


def number(value: Any, path: str) -> float:
    """Return the number at a path, non-finite ones included; LookupError for anything else."""
    found = lookup(value, path)
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise LookupError(path)
    return float(found)


def finite(value: Any, path: str) -> float:
    """Return the finite number at a path; a nan or inf makes the whole message invalid."""
    found = number(value, path)
    if not math.isfinite(found):
        raise InvalidValueError(non_finite_word(found))
    return found


def non_finite_word(value: float) -> str:
    """Name a non-finite number: nan, inf or -inf."""
    if math.isnan(value):
        return 'nan'
    return 'inf' if value > 0 else '-inf'


def fixed(value: float, decimals: int = 2) -> str:
    """Write a number with fixed decimals, never as minus zero; non-finite ones as unknown."""
    if not math.isfinite(value):
        return f'unknown ({non_finite_word(value)})'
    text = f'{value:.{decimals}f}'
    return text[1:] if text.startswith('-') and not text.strip('-0.') else text


def plain_number(value: float) -> str:
    """Write any number briefly: up to three decimals, an exponent only where it must be."""
    if isinstance(value, int):
        return str(value) if abs(value) < 10**18 else f'{float(value):.3e}'
    if not math.isfinite(value):
        return fixed(value)
    if value and not 1e-3 <= abs(value) < 1e9:
        return f'{value:.3e}'
    text = fixed(value, 3)
    return text.rstrip('0').rstrip('.') if '.' in text else text


def quoted(text: str, limit: int = MAX_TEXT_CHARS) -> str:
    """Quote foreign text on one line: control characters escaped, cut at `limit` characters."""
    rest = len(text) - limit
    body = json.dumps(text[:limit], ensure_ascii=False)[1:-1]
    body = ''.join(c if c.isprintable() else f'\\u{ord(c):04x}' for c in body)
    return f'"{body}"' if rest <= 0 else f'"{body}" ({rest} more characters)'


def label(text: str) -> str:
    """Write a short name as it is if it is plain, else quoted."""
    if len(text) <= MAX_LABEL_CHARS and _PLAIN_LABEL.match(text):
        return text
    return quoted(text, MAX_LABEL_CHARS)


def yaw_degrees(value: Any, path: str) -> float | None:
    """Return the heading of the quaternion at a path, or None when it is no rotation."""
    angles = euler_degrees(value, path)
    return None if angles is None else angles[2]


def euler_degrees(value: Any, path: str) -> tuple[float, float, float] | None:
    """Return roll, pitch and yaw of the quaternion at a path, or None when it is no rotation."""
    x, y, z, w = (number(value, f'{path}.{axis}') for axis in 'xyzw')
    norm = math.sqrt(x * x + y * y + z * z + w * w)
    if not math.isfinite(norm) or abs(norm - 1.0) > 0.1:
        return None
    x, y, z, w = x / norm, y / norm, z / norm, w / norm
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x))))
    yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return math.degrees(roll), math.degrees(pitch), math.degrees(yaw)


def degrees_text(angle: float | None) -> str:
    """Write an angle in whole degrees within (-180, 180]."""
    if angle is None:
        return 'unknown'
    whole = round(angle)
    return f'{180 if whole == -180 else whole} deg'


def items_of(value: Any) -> tuple[Sequence[Any], int]:
    """Return the items at hand of an array and its full length (long arrays come shortened)."""
    if isinstance(value, Mapping) and '__array__' in value:
        return value.get('head') or (), int(value['__array__'])
    if isinstance(value, (list, tuple)):
        return value, len(value)
    raise LookupError('array')


def nbytes_of(value: Any) -> int:
    """Return the length of a byte array, whose content never becomes text."""
    if isinstance(value, Mapping) and '__bytes__' in value:
        return int(value['__bytes__'])
    if isinstance(value, (bytes, bytearray)):
        return len(value)
    return items_of(value)[1]


def frame_suffix(value: Any) -> str:
    """Return `, frame NAME` for a stamped message, or nothing."""
    header = value.get('header') if isinstance(value, Mapping) else None
    frame = header.get('frame_id') if isinstance(header, Mapping) else None
    return f', frame {label(frame)}' if isinstance(frame, str) and frame else ''


def render_generic(value: Any) -> str:
    """Flatten any message to `name: value` pairs, bounded in depth, fields and length."""
    fields: list[str] = []
    left_out = _flatten(value, '', fields, 0)
    text = ', '.join(fields) if fields else 'empty'
    if left_out:
        text += f', and {left_out} more fields'
    return text + frame_suffix(value)


def _flatten(value: Any, name: str, fields: list[str], depth: int) -> int:
    """Append the fields below `value`; return how many found no room."""
    leaf = _leaf(value)
    if leaf is None and depth >= MAX_DEPTH:
        leaf = '...'
    if leaf is not None:
        if len(fields) >= MAX_FIELDS:
            return 1
        fields.append(f'{name}: {leaf}' if name else leaf)
        return 0
    left_out = 0
    for key, child in value.items():
        if depth == 0 and key == 'header':
            continue
        left_out += _flatten(child, f'{name}.{key}' if name else str(key), fields, depth + 1)
    return left_out


def _leaf(value: Any) -> str | None:
    """Write a value that is one field of text, or None for a message with fields of its own."""
    if isinstance(value, Mapping):
        return _mapping_leaf(value)
    if isinstance(value, (list, tuple)):
        return _array(value, len(value))
    return _scalar(value)


def _mapping_leaf(value: Mapping[str, Any]) -> str | None:
    if not value:
        return 'empty'
    if '__bytes__' in value:
        return f'{nbytes_of(value)} bytes'
    if '__array__' in value:
        return _array(*items_of(value))
    names = set(value)
    if not all(type(item) in (int, float) for item in value.values()):
        return None
    if names == {'sec', 'nanosec'}:
        return f'{fixed(value["sec"] + value["nanosec"] * 1e-9, 3)} s'
    if names == {'x', 'y', 'z', 'w'}:
        return f'yaw {degrees_text(yaw_degrees({"q": value}, "q"))}'
    return None


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, (int, float)):
        return plain_number(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (bytes, bytearray)):
        return f'{len(value)} bytes'
    return 'none' if value is None else quoted(str(value))


def _array(items: Sequence[Any], count: int) -> str:
    if not count:
        return '[]'
    shown = []
    for item in items[:MAX_ITEMS]:
        inner: list[str] = []
        _flatten(item, '', inner, MAX_DEPTH - 2)
        text = ', '.join(inner[:MAX_ITEMS])
        shown.append(f'{{{text}}}' if isinstance(item, Mapping) else text)
    more = f', ... {count} in all' if count > len(shown) else ''
    return f'[{", ".join(shown)}{more}]'
