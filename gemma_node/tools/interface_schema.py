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
Argument types from the text of installed interfaces, and strict checks of field values.

Reads ``share/PKG/{msg,srv,action}`` with rosidl's own parser where it is installed; imports no
message type. Without parser or package a tools file must write its types out.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import math
import os
from pathlib import Path
import sys
from typing import Any

from gemma_node.errors import ConfigError

_INTEGERS: Mapping[str, tuple[int, int]] = {
    'byte': (0, 255), 'char': (0, 255),
    **{f'int{bits}': (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f'uint{bits}': (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
}
_FLOAT_LIMITS: Mapping[str, float] = {'float32': 3.4028234663852886e38, 'float64': math.inf}
_KINDS = ('action', 'srv', 'msg')


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of an interface; `base_type` is a primitive or PKG/NAME, sizes 0 = no bound."""

    name: str
    base_type: str
    is_array: bool = False
    array_size: int = 0
    is_fixed: bool = False
    string_bound: int = 0
    unit: str = ''
    comment: str = ''


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Fields and constants of a message, or of one part of a service or action."""

    fields: Mapping[str, Field]
    constants: Mapping[str, Any]


class InterfaceSource:
    """Finds interface texts below share folders and parses them once; not thread-safe."""

    def __init__(self, share_folders: Sequence[Path]) -> None:
        self._folders = tuple(share_folders)
        self._parsed: dict[str, tuple[Section, ...] | None] = {}

    @classmethod
    def installed(cls) -> InterfaceSource:
        """Look where ROS packages are installed, and into this package's own repository."""
        prefixes = [Path(part) for part in os.environ.get('AMENT_PREFIX_PATH', '').split(':')
                    if part]
        return cls([prefix / 'share' for prefix in (*prefixes, Path(sys.prefix))])

    def sections(self, interface_type: str) -> tuple[Section, ...] | None:
        """
        Return an interface's parts, or None if it cannot be read here.

        Message: one. Service: request, response. Action: goal, result, feedback.
        """
        if interface_type not in self._parsed:
            self._parsed[interface_type] = self._parse(interface_type)
        return self._parsed[interface_type]

    def field_at(self, interface_type: str, path: Sequence[str | int]) -> Field | None:
        """
        Return the goal, request or message field at a path, or None if types cannot be read.

        Raises ConfigError listing the choices when there is no such field.
        """
        sections = self.sections(interface_type)
        found: Field | None = None
        for part in path:
            if isinstance(part, int):
                found = _item(found, part, path)
                continue
            if found is not None and ('/' not in found.base_type or found.is_array):
                raise ConfigError(f'{format_path(path)}: {found.name} has no field {part!r}')
            if found is not None:
                package, name = found.base_type.split('/')
                sections = self.sections(f'{package}/msg/{name}')
            if sections is None:
                return None
            fields = sections[0].fields
            if part not in fields:
                raise ConfigError(f'{format_path(path)}: no field {part!r}; choices are: '
                                  f'{", ".join(fields) or "none"}')
            found = fields[part]
        return found

    def _parse(self, interface_type: str) -> tuple[Section, ...] | None:
        package, kind, name = interface_type.split('/')
        file = self._find(package, kind, name)
        if file is None:
            return None
        try:
            from rosidl_adapter import parser
        except ImportError:
            return None
        try:
            if kind == 'action':
                spec = parser.parse_action_file(package, str(file))
                parts = [spec.goal, spec.result, spec.feedback]
            elif kind == 'srv':
                spec = parser.parse_service_file(package, str(file))
                parts = [spec.request, spec.response]
            else:
                parts = [parser.parse_message_file(package, str(file))]
        except (parser.InvalidSpecification, ValueError, OSError) as error:
            raise ConfigError(f'{interface_type}: {file} cannot be parsed: {error}') from error
        return tuple(_section(part) for part in parts)

    def _find(self, package: str, kind: str, name: str) -> Path | None:
        candidates = [folder / package / kind / f'{name}.{kind}' for folder in self._folders]
        if package == 'gemma_node':
            candidates.append(Path(__file__).parents[2] / kind / f'{name}.{kind}')
        return next((file for file in candidates if file.is_file()), None)


def is_interface_type(text: str, kind: str) -> bool:
    """Return whether `text` reads PKG/KIND/NAME with this kind (action, srv or msg)."""
    parts = text.split('/')
    return (len(parts) == 3 and kind in _KINDS and parts[1] == kind
            and all(part.isidentifier() and part.isascii() for part in parts))


def format_path(path: Sequence[str | int]) -> str:
    """Write a path as a tools file does."""
    text = ''.join(f'[{part}]' if isinstance(part, int) else f'.{part}' for part in path)
    return text.lstrip('.')


def schema_of(field: Field) -> dict[str, Any] | None:
    """Return the JSON Schema of a primitive field or an array of them, None for a message."""
    schema = _primitive_schema(field)
    if schema is None or not field.is_array:
        return schema
    array: dict[str, Any] = {'type': 'array', 'items': schema}
    if field.array_size:
        array['maxItems'] = field.array_size
    if field.is_fixed:
        array['minItems'] = field.array_size
    return array


def check_value(field_type: str, value: Any) -> str:
    """
    Return what is wrong with a value for a primitive field, '' when it fits without conversion.

    Stricter than rosidl's setters, which turn "false" into True and 3.9 into 3, and pass NaN.
    """
    if field_type in ('bool', 'boolean'):
        return '' if isinstance(value, bool) else f'expected true or false, found {value!r}'
    if field_type in _INTEGERS:
        if isinstance(value, bool) or not isinstance(value, int):
            return f'expected a whole number, found {value!r}'
        low, high = _INTEGERS[field_type]
        return '' if low <= value <= high else f'{value} is outside {low}..{high} of {field_type}'
    if field_type in _FLOAT_LIMITS:
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
    if field_type in ('string', 'wstring'):
        if not isinstance(value, str):
            return f'expected text, found {value!r}'
        return 'text holds a NUL character' if '\x00' in value else ''
    return f'{field_type} is no primitive type'


def _section(spec: Any) -> Section:
    fields = {}
    for parsed in spec.fields:
        kind = parsed.type
        comment = ' '.join(parsed.annotations.get('comment', ()))
        fields[parsed.name] = Field(
            name=parsed.name,
            base_type=f'{kind.pkg_name}/{kind.type}' if kind.pkg_name else kind.type,
            is_array=bool(kind.is_array),
            array_size=kind.array_size or 0,
            is_fixed=bool(kind.is_array and kind.array_size and not kind.is_upper_bound),
            string_bound=kind.string_upper_bound or 0,
            unit=parsed.annotations.get('unit', ''),
            comment=comment,
        )
    return Section(
        fields=fields, constants={constant.name: constant.value for constant in spec.constants})


def _item(found: Field | None, index: int, path: Sequence[str | int]) -> Field:
    if found is None or not found.is_array:
        raise ConfigError(f'{format_path(path)}: [{index}] where there is no array')
    if found.array_size and index >= found.array_size:
        raise ConfigError(
            f'{format_path(path)}: {found.name} holds at most {found.array_size} items')
    return Field(name=found.name, base_type=found.base_type, string_bound=found.string_bound,
                 unit=found.unit, comment=found.comment)


def _primitive_schema(field: Field) -> dict[str, Any] | None:
    if field.base_type in _INTEGERS:
        low, high = _INTEGERS[field.base_type]
        return {'type': 'integer', 'minimum': low, 'maximum': high}
    if field.base_type in _FLOAT_LIMITS:
        return {'type': 'number'}
    if field.base_type == 'bool':
        return {'type': 'boolean'}
    if field.base_type in ('string', 'wstring'):
        bound = {'maxLength': field.string_bound} if field.string_bound else {}
        return {'type': 'string', **bound}
    return None
