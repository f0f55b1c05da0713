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
Message types by name, and plain nested values <-> messages.

Writing is strict: unknown fields, wrong types, out-of-range and non-finite numbers are refused
before a setter of rclpy could coerce or assert.
"""

from __future__ import annotations

import array
from collections.abc import Mapping
from collections.abc import Sequence
import importlib
import math
from typing import Any

from rosidl_parser.definition import AbstractGenericString
from rosidl_parser.definition import AbstractNestedType
from rosidl_parser.definition import Array
from rosidl_parser.definition import BasicType
from rosidl_parser.definition import BoundedSequence
from rosidl_parser.definition import NamespacedType

from gemma_node.core import ErrorCode
from gemma_node.errors import ConfigError
from gemma_node.errors import RequestError
from gemma_node.policy.fields import STEP
from gemma_node.tools.interface_schema import check_value

MAX_ARRAY = 4096
_FLOATS = {'float': 'float32', 'double': 'float64'}


def interface_class(name: str) -> Any:
    """Return the Python class of ``pkg/msg/Type`` (srv, action likewise), or raise ConfigError."""
    parts = name.split('/')
    if len(parts) != 3:
        raise ConfigError(f'{name!r} is not an interface type; write it like '
                          'nav_msgs/msg/Odometry')
    package, kind, type_name = parts
    try:
        found = getattr(importlib.import_module(f'{package}.{kind}'), type_name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f'interface type {name} is not installed: install the ROS package '
                          f"'{package}' and source its workspace") from error
    return found


def has_field(message_type: Any, path: str) -> bool:
    """Return whether a path such as ``pose.pose.position.x`` or ``ranges[3]`` leads to a field."""
    slot: Any = None
    for name, index in STEP.findall(path):
        if index:
            if not isinstance(slot, AbstractNestedType):
                return False
            slot = slot.value_type
            continue
        if slot is not None:
            if not isinstance(slot, NamespacedType):
                return False
            message_type = interface_class('/'.join(slot.namespaced_name()))
        types = dict(zip(message_type.get_fields_and_field_types(), message_type.SLOT_TYPES,
                         strict=True))
        if name not in types:
            return False
        slot = types[name]
    return True


def to_plain(value: Any) -> Any:
    """Convert a message to plain nested values, arrays bounded as `core.Observation` says."""
    if hasattr(value, 'get_fields_and_field_types'):
        return {name: to_plain(getattr(value, name))
                for name in value.get_fields_and_field_types()}
    if isinstance(value, (bytes, bytearray)):
        return {'__bytes__': len(value)}
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    return _plain_array(value)


def _plain_array(value: Any) -> Any:
    if isinstance(value, array.array) and value.typecode == 'B':
        return {'__bytes__': len(value)}
    if getattr(value, 'dtype', None) == 'uint8':
        return {'__bytes__': len(value)}
    head = value[:MAX_ARRAY]
    items = head.tolist() if hasattr(head, 'tolist') else [to_plain(item) for item in head]
    if items and isinstance(items[0], bytes):
        return {'__bytes__': len(value)}
    return items if len(value) <= MAX_ARRAY else {'__array__': len(value), 'head': items}


def to_exact(value: Any) -> Any:
    """Convert a message to plain nested values without loss; byte arrays are bytes."""
    if hasattr(value, 'get_fields_and_field_types'):
        types = zip(value.get_fields_and_field_types(), value.SLOT_TYPES, strict=True)
        return {name: _exact(slot, getattr(value, name)) for name, slot in types}
    return value


def _exact(slot: Any, value: Any) -> Any:
    if not isinstance(slot, AbstractNestedType):
        is_octet = isinstance(slot, BasicType) and slot.typename == 'octet'
        return value[0] if is_octet else to_exact(value)
    if _is_byte(slot.value_type):
        return bytes(value) if not isinstance(value, list) else b''.join(value)
    items = value.tolist() if hasattr(value, 'tolist') else list(value)
    return [_exact(slot.value_type, item) for item in items]


def _is_byte(slot: Any) -> bool:
    return isinstance(slot, BasicType) and slot.typename in ('octet', 'uint8')


def fill(message: Any, values: Mapping[str, Any], *, now: Any = None, where: str = '') -> Any:
    """
    Write plain values into a message and return it; fields not given keep their defaults.

    `now` (builtin_interfaces/Time) stands in for ``{'__now__': True}``. Raises RequestError
    SCHEMA_VIOLATION naming the field.
    """
    types = dict(zip(message.get_fields_and_field_types(), message.SLOT_TYPES, strict=True))
    for name, value in values.items():
        path = f'{where}.{name}' if where else name
        if name not in types:
            raise _refuse(path, f'{type(message).__name__} has no such field')
        setattr(message, name, _typed(types[name], value, path, now))
    return message


def _typed(slot: Any, value: Any, path: str, now: Any) -> Any:
    if isinstance(slot, NamespacedType):
        if slot.name == 'Time' and value == {'__now__': True}:
            return now
        if not isinstance(value, Mapping):
            raise _refuse(path, f'{slot.name} needs a mapping, got {value!r}')
        name = '/'.join(slot.namespaced_name())
        return fill(interface_class(name)(), value, now=now, where=path)
    if isinstance(slot, AbstractNestedType):
        return _typed_list(slot, value, path, now)
    if isinstance(slot, AbstractGenericString):
        limit = slot.maximum_size if slot.has_maximum_size() else math.inf
        if not isinstance(value, str) or len(value) > limit:
            raise _refuse(path, f'needs a string of at most {limit} characters, got {value!r}')
        if problem := check_value('string', value):
            raise _refuse(path, problem)
        return value
    return _typed_number(slot, value, path)


def _typed_list(slot: Any, value: Any, path: str, now: Any) -> Sequence[Any]:
    is_data = isinstance(value, bytes) and _is_byte(slot.value_type)
    if not is_data and not isinstance(value, (list, tuple)):
        raise _refuse(path, f'needs a list, got {value!r}')
    if isinstance(slot, Array) and len(value) != slot.size:
        raise _refuse(path, f'needs {slot.size} items, got {len(value)}')
    if isinstance(slot, BoundedSequence) and len(value) > slot.maximum_size:
        raise _refuse(path, f'takes at most {slot.maximum_size} items, got {len(value)}')
    if is_data and slot.value_type.typename == 'uint8':
        return array.array('B', value) if not isinstance(slot, Array) else list(value)
    return [_typed(slot.value_type, item, f'{path}[{index}]', now)
            for index, item in enumerate(value)]


def _typed_number(slot: BasicType, value: Any, path: str) -> Any:
    kind = slot.typename
    if kind == 'boolean':
        if isinstance(value, bool):
            return value
        raise _refuse(path, f'needs true or false, got {value!r}')
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number:
        raise _refuse(path, f'needs a number, got {value!r}')
    if kind in _FLOATS:
        if check_value(_FLOATS[kind], value):
            raise _refuse(path, f'needs a finite {kind}, got {value!r}')
        return float(value)
    if kind == 'octet':
        low, high = 0, 255
    else:
        bits = int(''.join(filter(str.isdigit, kind)) or 8)
        is_unsigned = kind.startswith('u')
        low = 0 if is_unsigned else -(1 << (bits - 1))
        high = (1 << bits) - 1 if is_unsigned else (1 << (bits - 1)) - 1
    if not isinstance(value, int) or not low <= value <= high:
        raise _refuse(path, f'needs an integer from {low} to {high}, got {value!r}')
    return bytes([value]) if kind == 'octet' else value


def _refuse(path: str, sentence: str) -> RequestError:
    return RequestError(ErrorCode.SCHEMA_VIOLATION, f'goal field {path}: {sentence}')
