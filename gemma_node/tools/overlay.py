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
From a call's arguments to the goal message, as nested plain values.

Units, yaw to quaternion, constants, choices by name and defaults happen here, once, for dispatch
and for `ToolCall.message_json` alike. Assigns nothing to messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import math
import re
from typing import Any

from gemma_node.core import ErrorCode
from gemma_node.errors import RequestError
from gemma_node.tools.interface_schema import check_value
from gemma_node.tools.interface_schema import format_path
from gemma_node.tools.interface_schema import from_json
from gemma_node.tools.interface_schema import NOW_KEY
from gemma_node.tools.spec import ArgumentRule
from gemma_node.tools.spec import Condition
from gemma_node.tools.spec import PathPart
from gemma_node.tools.spec import ToolSpec

NOW: Mapping[str, Any] = {NOW_KEY: True}
_FRAME_PREFIX = '{frame_prefix}'


def to_message(
    spec: ToolSpec, arguments: Mapping[str, Any], *, frame_prefix: str = '',
    kept: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """
    Return the goal, request or message fields for arguments that fit the declaration.

    A time that is to be the moment of sending is ``{'__now__': True}``. `kept` are the present
    field values of arguments whose default is to keep them. Raises RequestError: LIMIT_EXCEEDED
    when a converted value does not fit its field, MISSING_INPUT when a kept one is not given.
    """
    message: dict[str, Any] = {}
    for rule in spec.arguments:
        if rule.has_const:
            _assign(message, rule.path, constant_of(rule, frame_prefix))
        elif rule.name in arguments:
            _assign(message, rule.path, field_value(rule, arguments[rule.name], frame_prefix))
        elif rule.is_kept:
            _assign(message, rule.path, _kept_value(rule, kept or {}))
        elif rule.has_default:
            _assign(message, rule.path, field_value(rule, rule.default, frame_prefix))
    closed = _close_lists(message, spec.name)
    assert isinstance(closed, dict)
    return closed


def yaw_to_quaternion(yaw: float) -> dict[str, float]:
    """Return the rotation by `yaw` radians about z."""
    return {'x': 0.0, 'y': 0.0, 'z': math.sin(yaw / 2.0), 'w': math.cos(yaw / 2.0)}


def is_success(spec: ToolSpec, result: Mapping[str, Any]) -> bool:
    """
    Return whether a result (plain nested values) meets the tool's success rule.

    A field that this version of the interface does not have is not judged.
    """
    rule = spec.result
    checks = [_holds(condition, result) for condition in rule.success
              if re.split(r'[.\[]', condition.field)[0] in result]
    return not checks or (all(checks) if rule.needs_all else any(checks))


def value_at(message: Any, path: str) -> Any:
    """Return the value at a dotted path of plain values, None where there is none."""
    for part in path.replace('[', '.').replace(']', '').split('.'):
        if isinstance(message, Mapping):
            message = message.get(part)
        elif isinstance(message, Sequence) and not isinstance(message, str) and part.isdigit() \
                and int(part) < len(message):
            message = message[int(part)]
        else:
            return None
    return message


def _holds(condition: Condition, result: Mapping[str, Any]) -> bool:
    value = value_at(result, condition.field)
    is_same_kind = isinstance(value, bool) == isinstance(condition.equals, bool)
    return bool(is_same_kind and value == condition.equals)


def quaternion_to_yaw(rotation: Mapping[str, float]) -> float:
    """Return a rotation's angle about z, in radians from -pi to pi."""
    x, y, z, w = (float(rotation[axis]) for axis in ('x', 'y', 'z', 'w'))
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def field_value(rule: ArgumentRule, value: Any, frame_prefix: str = '') -> Any:
    """Return the plain field value for one argument, or raise RequestError LIMIT_EXCEEDED."""
    if rule.choices is not None:
        return _checked(rule, _filled(rule.choices[value], frame_prefix), is_partial=True)
    is_wanted_number = rule.is_yaw or rule.schema.get('type') in ('number', 'integer')
    if is_wanted_number and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise RequestError(ErrorCode.LIMIT_EXCEEDED,
                           f'{rule.name}: expected a number, found {value!r:.60}')
    if rule.is_yaw:
        return yaw_to_quaternion(float(value) * rule.gain)
    if rule.gain != 1.0:
        value = value * rule.gain
    is_whole_field = rule.field_type.startswith(('int', 'uint', 'byte', 'char'))
    if rule.schema.get('type') == 'number' and isinstance(value, int) and not is_whole_field:
        value = float(value)
    if isinstance(value, float) and is_whole_field and math.isfinite(value):
        # Whole up to the rounding of the product: 0.29 m in mm is 290, not 289.99999999999994.
        rounded = round(value)
        value = rounded if math.isclose(value, rounded, rel_tol=1e-12, abs_tol=1e-12) else value
    return _checked(rule, value)


def constant_of(rule: ArgumentRule, frame_prefix: str = '') -> Any:
    """Return the plain field value of a constant, or raise RequestError LIMIT_EXCEEDED."""
    if rule.shape is None and rule.const == 'now' and rule.field_type not in ('string', 'wstring'):
        return dict(NOW)
    return _checked(rule, _filled(rule.const, frame_prefix), is_partial=True)


def _kept_value(rule: ArgumentRule, kept: Mapping[str, Any]) -> Any:
    if rule.name not in kept:
        raise RequestError(
            ErrorCode.MISSING_INPUT,
            f'{rule.name}: nothing says what it is now (no fresh input in the frame of the goal), '
            'so it cannot be kept; give a value')
    return _checked(rule, kept[rule.name])


def _checked(rule: ArgumentRule, value: Any, *, is_partial: bool = False) -> Any:
    """Return the value as its field takes it; where the shape is unknown, primitives only."""
    place = rule.name or format_path(rule.path)
    if rule.shape is not None:
        try:
            return from_json(rule.shape, value, place=place, is_partial=is_partial)
        except RequestError as error:
            raise RequestError(ErrorCode.LIMIT_EXCEEDED, str(error)) from error
    if is_partial or not rule.field_type or '/' in rule.field_type:
        return value
    if problem := check_value(rule.field_type, value):
        raise RequestError(ErrorCode.LIMIT_EXCEEDED, f'{place}: {problem}')
    return value


def _filled(value: Any, frame_prefix: str) -> Any:
    """Fill in the frame prefix, and the time where an entry named stamp says now."""
    if isinstance(value, str):
        return value.replace(_FRAME_PREFIX, frame_prefix)
    if isinstance(value, Mapping):
        return {
            key: dict(NOW) if key == 'stamp' and item == 'now' else _filled(item, frame_prefix)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_filled(item, frame_prefix) for item in value]
    return value


def _assign(message: dict[Any, Any], path: Sequence[PathPart], value: Any) -> None:
    """Put a value at a path; list items live in a dict by index until `_close_lists`."""
    place = message
    for part in path[:-1]:
        child = place.setdefault(part, {})
        if isinstance(child, list):
            child = place[part] = dict(enumerate(child))
        elif not isinstance(child, dict):
            child = place[part] = {}
        place = child
    old = place.get(path[-1])
    if isinstance(old, dict) and isinstance(value, Mapping):
        for key, item in value.items():
            _assign(old, (key,), item)
    else:
        place[path[-1]] = dict(value) if isinstance(value, Mapping) else value


def _close_lists(value: Any, place: str) -> Any:
    if isinstance(value, list):
        return [_close_lists(item, place) for item in value]
    if not isinstance(value, dict):
        return value
    if value and all(isinstance(key, int) for key in value):
        if sorted(value) != list(range(len(value))):
            raise RequestError(
                ErrorCode.INVALID_REQUEST,
                f'{place}: the items {format_path(sorted(value))} leave a gap in their array')
        return [_close_lists(value[idx], place) for idx in range(len(value))]
    return {key: _close_lists(item, place) for key, item in value.items()}
