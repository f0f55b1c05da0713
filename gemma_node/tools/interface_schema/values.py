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
Between a message's plain values and their JSON form, losslessly and without conversion.

Plain values are nested dicts as `ros.messages` reads and writes them: Time is sec and nanosec,
constants are numbers. In JSON, Time is seconds and constants are names; bytes travel beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import MutableMapping
from decimal import Decimal
import math
from typing import Any

from gemma_node.core import ErrorCode
from gemma_node.errors import RequestError
from gemma_node.tools.interface_schema.shape import Bytes
from gemma_node.tools.interface_schema.shape import Items
from gemma_node.tools.interface_schema.shape import Record
from gemma_node.tools.interface_schema.shape import Scalar
from gemma_node.tools.interface_schema.shape import Seconds
from gemma_node.tools.interface_schema.shape import Shape

NOW_KEY = '__now__'
WHOLE: Mapping[str, tuple[int, int]] = {
    'byte': (0, 255), 'char': (0, 255),
    **{f'int{bits}': (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f'uint{bits}': (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
}
_FLOAT_LIMITS: Mapping[str, float] = {'float32': 3.4028234663852886e38, 'float64': math.inf}
_NS = 1_000_000_000


def check_value(field_type: str, value: Any) -> str:
    """
    Return what is wrong with a value for a primitive field, '' when it fits without conversion.

    Stricter than rosidl's setters, which turn "false" into True and 3.9 into 3, and pass NaN.
    """
    if field_type in ('bool', 'boolean'):
        return '' if isinstance(value, bool) else f'expected true or false, found {value!r}'
    if field_type in WHOLE:
        if isinstance(value, bool) or not isinstance(value, int):
            return f'expected a whole number, found {value!r}'
        low, high = WHOLE[field_type]
        return '' if low <= value <= high else f'{value} is outside {low}..{high} of {field_type}'
    if field_type in _FLOAT_LIMITS:
        return _check_float(field_type, value)
    if field_type in ('string', 'wstring'):
        return _check_text(value)
    return f'{field_type} is no primitive type'


def to_json(
    shape: Shape, value: Any, *, attachments: MutableMapping[str, bytes] | None = None,
    place: str = '',
) -> Any:
    """
    Return the JSON form of plain values; byte arrays go to `attachments` by their place.

    Seconds that a double cannot hold to the nanosecond are a Decimal. Raises RequestError
    INVALID_REQUEST naming what JSON cannot hold: NaN, and bytes without `attachments`.
    """
    if isinstance(shape, Scalar):
        return _scalar_to_json(shape, value, place)
    if isinstance(shape, Seconds):
        return _seconds(value, place)
    if isinstance(shape, Items):
        return [to_json(shape.item, item, attachments=attachments, place=f'{place}[{idx}]')
                for idx, item in enumerate(value)]
    if isinstance(shape, Bytes):
        raise ValueError(f'{place}: bytes have no JSON form')
    entries = {}
    for name, member in shape.members.items():
        inner = f'{place}.{name}' if place else name
        if not isinstance(member.shape, Bytes):
            entries[name] = to_json(
                member.shape, value[name], attachments=attachments, place=inner)
        elif attachments is not None:
            attachments[inner] = bytes(value[name])
        elif len(value[name]):
            raise _unfit(inner, f'{len(value[name])} bytes have no place in JSON')
    return entries


def from_json(
    shape: Shape, value: Any, *, attachments: Mapping[str, bytes] | None = None, place: str = '',
    is_partial: bool = False,
) -> Any:
    """
    Return plain values for a JSON form, every field checked; raises RequestError naming it.

    Fields left out keep the message's default; only those that have one may be left out, unless
    `is_partial`. Also takes the plain form of constants and times, and 'now' for a Time.
    """
    if isinstance(shape, Scalar):
        return _scalar_from_json(shape, value, place)
    if isinstance(shape, Seconds):
        return _time_of(shape, value, place)
    if isinstance(shape, Bytes):
        return _bytes_of(shape, value, place)
    if isinstance(shape, Items):
        if not isinstance(value, (list, tuple)):
            raise _misfit(place, f'expected a list, found {value!r:.80}')
        _check_length(shape, len(value), place)
        return [from_json(shape.item, item, attachments=attachments, place=f'{place}[{idx}]',
                          is_partial=is_partial) for idx, item in enumerate(value)]
    return _record_from_json(shape, value, attachments or {}, place, is_partial)


def split_seconds(seconds: float | Decimal) -> tuple[int, int]:
    """Return sec and nanosec; a double counts as the decimal that it prints as."""
    exact = seconds if isinstance(seconds, Decimal) else Decimal(repr(seconds))
    return divmod(round(exact * _NS), _NS)


def _check_float(field_type: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return f'expected a number, found {value!r}'
    try:
        number = float(value)
    except OverflowError:
        return f'{value} is too large for {field_type}'
    if not math.isfinite(number):
        return f'expected a finite number, found {value}'
    is_small = abs(number) <= _FLOAT_LIMITS[field_type]
    return '' if is_small else f'{value} is too large for {field_type}'


def _check_text(value: Any) -> str:
    if not isinstance(value, str):
        return f'expected text, found {value!r}'
    if '\x00' in value:
        return 'text holds a NUL character'
    return 'text holds half a character' if any('\ud800' <= c <= '\udfff' for c in value) else ''


def _scalar_to_json(shape: Scalar, value: Any, place: str) -> Any:
    if problem := check_value(shape.type, value):
        raise _unfit(place, problem)
    if shape.names and shape.type in WHOLE:
        return next((name for name, number in shape.names.items() if number == value), value)
    return value


def _scalar_from_json(shape: Scalar, value: Any, place: str) -> Any:
    if isinstance(value, str) and shape.type in WHOLE and shape.names:
        if value not in shape.names:
            raise _misfit(place, f'{value!r} is none of {", ".join(shape.names)}')
        return shape.names[value]
    if isinstance(value, Decimal) and shape.type in _FLOAT_LIMITS:
        value = float(value)
    if problem := check_value(shape.type, value):
        raise _misfit(place, problem)
    if shape.bound and len(value) > shape.bound:
        raise _misfit(place, f'{len(value)} characters; at most {shape.bound} fit')
    return float(value) if shape.type in _FLOAT_LIMITS else value


def _seconds(value: Mapping[str, int], place: str) -> float | Decimal:
    sec, nanosec = value['sec'], value['nanosec']
    if not 0 <= nanosec < _NS:
        raise _unfit(place, f'nanosec is {nanosec}, not within a second')
    number = (sec * _NS + nanosec) / _NS
    if split_seconds(number) == (sec, nanosec):
        return number
    return Decimal(sec) + Decimal(nanosec) / _NS


def _time_of(shape: Seconds, value: Any, place: str) -> dict[str, Any]:
    if shape.type.endswith('/Time') and value in ('now', {NOW_KEY: True}):
        return {NOW_KEY: True}
    if isinstance(value, Mapping):
        parts = {'sec': 0, 'nanosec': 0, **value}
        for name, kind in (('sec', 'int32'), ('nanosec', 'uint32')):
            if problem := check_value(kind, parts.pop(name)):
                raise _misfit(f'{place}.{name}', problem)
        if parts:
            raise _misfit(place, f'no field {next(iter(parts))!r}; choices are: sec, nanosec')
        return dict(value)
    number = value if isinstance(value, Decimal) and value.is_finite() else None
    if problem := '' if number is not None else _check_float('float64', value):
        raise _misfit(place, f'{problem}: seconds are needed')
    sec, nanosec = split_seconds(value)
    if problem := check_value('int32', sec):
        raise _misfit(place, problem)
    return {'sec': sec, 'nanosec': nanosec}


def _bytes_of(shape: Bytes, value: Any, place: str) -> bytes:
    if not isinstance(value, (bytes, list, tuple)):
        raise _misfit(place, f'expected a list of bytes, found {value!r:.80}')
    for idx, item in enumerate(value if not isinstance(value, bytes) else ()):
        if problem := check_value('byte', item):
            raise _misfit(f'{place}[{idx}]', problem)
    _check_length(shape, len(value), place)
    return bytes(value)


def _check_length(shape: Bytes | Items, length: int, place: str) -> None:
    if length < shape.fewest or (shape.most and length > shape.most):
        needed = f'{shape.most}' if shape.fewest else f'at most {shape.most}'
        raise _misfit(place, f'{needed} items are needed, found {length}')


def _record_from_json(
    record: Record, value: Any, attachments: Mapping[str, bytes], place: str, is_partial: bool,
) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _misfit(place, f'expected fields, found {value!r:.80}')
    for name in value:
        if name not in record.members:
            raise _misfit(place, f'no field {name!r}; choices are: '
                                 f'{", ".join(record.members) or "none"}')
    fields = {}
    for name, member in record.members.items():
        inner = f'{place}.{name}' if place else name
        if name in value:
            if isinstance(member.shape, Bytes) and not is_partial:
                raise _misfit(inner, 'no call holds bytes')
            fields[name] = from_json(member.shape, value[name], attachments=attachments,
                                     place=inner, is_partial=is_partial)
        elif isinstance(member.shape, Bytes):
            if inner in attachments:
                fields[name] = _bytes_of(member.shape, attachments[inner], inner)
        elif not member.has_default and not is_partial:
            raise _misfit(inner, 'the field is missing')
    return fields


def _misfit(place: str, problem: str) -> RequestError:
    return RequestError(ErrorCode.SCHEMA_VIOLATION, f'{place}: {problem}' if place else problem)


def _unfit(place: str, problem: str) -> RequestError:
    return RequestError(ErrorCode.INVALID_REQUEST, f'{place}: {problem}' if place else problem)
