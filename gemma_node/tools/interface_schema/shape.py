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
What values an interface holds, with every nested message resolved: a tree of shapes.

Schema and conversion both follow this tree, so they cannot disagree. Time and Duration become
seconds; byte arrays are told apart from arrays of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from dataclasses import replace
from typing import Any

from gemma_node.errors import ConfigError
from gemma_node.tools.interface_schema.definition import Field
from gemma_node.tools.interface_schema.definition import PARTS
from gemma_node.tools.interface_schema.definition import Section
from gemma_node.tools.interface_schema.source import format_path
from gemma_node.tools.interface_schema.source import InterfaceSource
from gemma_node.tools.interface_schema.source import message_type
from gemma_node.tools.interface_schema.source import PathPart

# Colours, ids and flags are a few numbers; longer arrays of bytes are data.
MAX_INLINE_BYTES = 64
MAX_FIELDS = 2000
MAX_DEPTH = 16
SECONDS_TYPES = ('builtin_interfaces/Time', 'builtin_interfaces/Duration')
BYTE_TYPES = ('byte', 'char', 'uint8')


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """A bool, number or text; `names` are the only meant values, `bound` the longest text."""

    type: str
    bound: int = 0
    names: Mapping[str, Any] = dataclass_field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    """A Time or Duration, written as seconds."""

    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bytes:
    """Data that no call and no schema holds; `most` 0 = no bound."""

    type: str
    fewest: int = 0
    most: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """A list of `fewest` to `most` equal shapes; `most` 0 = no bound."""

    item: Shape
    fewest: int = 0
    most: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One field of a record, and what the interface's text says about it."""

    shape: Shape
    comment: str = ''
    unit: str = ''
    has_default: bool = False
    default: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A message, or one part of a service or action; `num_fields` counts nested ones too."""

    type: str
    members: Mapping[str, Member]
    comment: str = ''
    num_fields: int = 0


Shape = Scalar | Seconds | Bytes | Items | Record


def shape_of(source: InterfaceSource, interface_type: str, part: str = '') -> Record:
    """
    Return the shape of a message, of a request or goal, or of another `part`.

    Raises ConfigError: not installed, recursive, or too many fields.
    """
    sections = source.required(interface_type)
    parts = PARTS[interface_type.split('/')[1]]
    if part and part not in parts:
        raise ConfigError(f'{interface_type} has no {part}; choices are: {", ".join(parts)}')
    resolver = _Resolver(source)
    section = sections[parts.index(part) if part else 0]
    return resolver.record(section, interface_type, (interface_type,))


def shape_at(
    source: InterfaceSource, interface_type: str, path: Sequence[PathPart],
) -> Shape | None:
    """Return the shape of the field at a path, or None if types cannot be read."""
    field = source.field_at(interface_type, path)
    if field is None:
        return None
    try:
        return _Resolver(source).field(field, (interface_type,))
    except _MissingTypeError:
        return None
    except ConfigError as error:
        raise ConfigError(f'{format_path(path)}: {error}') from error


def without(record: Record, path: Sequence[PathPart]) -> Record:
    """Return the record without the field at a path; a list goes whole."""
    name, rest = path[0], path[1:]
    members = dict(record.members)
    member = members.pop(str(name), None)
    if member is not None and rest and isinstance(member.shape, Record):
        members = dict(record.members)
        members[str(name)] = replace(member, shape=without(member.shape, rest))
    return replace(record, members=members)


class _MissingTypeError(ConfigError):
    """A nested message is not installed."""


class _Resolver:
    """Builds shapes; each nested message once."""

    def __init__(self, source: InterfaceSource) -> None:
        self._source = source
        self._records: dict[str, Record] = {}

    def record(self, section: Section, name: str, above: tuple[str, ...]) -> Record:
        members = {
            field.name: Member(
                shape=self.field(field, above), comment=field.comment, unit=field.unit,
                has_default=field.has_default, default=field.default)
            for field in section.fields.values()
        }
        num_fields = sum(_count(member.shape) for member in members.values())
        if num_fields > MAX_FIELDS:
            raise ConfigError(
                f'{name} has {num_fields} fields with those of its messages; a schema holds at '
                f'most {MAX_FIELDS}: name the fields needed in a tools file')
        return Record(type=name, members=members, comment=section.comment, num_fields=num_fields)

    def field(self, field: Field, above: tuple[str, ...]) -> Shape:
        if field.is_array:
            fewest = field.array_size if field.is_fixed else 0
            if field.base_type in BYTE_TYPES and not 0 < field.array_size <= MAX_INLINE_BYTES:
                return Bytes(type=field.base_type, fewest=fewest, most=field.array_size)
            return Items(
                item=self._single(field, above), fewest=fewest, most=field.array_size)
        return self._single(field, above)

    def _single(self, field: Field, above: tuple[str, ...]) -> Shape:
        if field.base_type in SECONDS_TYPES:
            return Seconds(type=field.base_type)
        if '/' not in field.base_type:
            return Scalar(type=field.base_type, bound=field.string_bound, names=field.names)
        name = message_type(field.base_type)
        if name in above:
            chain = ' holds '.join((*above[above.index(name):], name))
            raise ConfigError(f'{above[0]} is recursive: {chain}')
        if len(above) > MAX_DEPTH:
            raise ConfigError(f'{above[0]} nests messages deeper than {MAX_DEPTH}')
        if name not in self._records:
            sections = self._source.sections(name)
            if sections is None:
                try:
                    self._source.required(name)
                except ConfigError as error:
                    raise _MissingTypeError(f'{above[-1]}, field {field.name}: {error}') from error
            assert sections is not None
            self._records[name] = self.record(sections[0], name, (*above, name))
        return self._records[name]


def _count(shape: Shape) -> int:
    if isinstance(shape, Items):
        return _count(shape.item)
    return max(1, shape.num_fields) if isinstance(shape, Record) else 1
