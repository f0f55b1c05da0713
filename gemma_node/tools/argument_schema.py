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
The JSON Schema of one argument: what its entry says, within what its field can hold.

Bounds that contradict the field are refused here; bounds in other units after conversion, by the
caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from decimal import ROUND_CEILING
from typing import Any

from gemma_node.tools.interface_schema import Bytes
from gemma_node.tools.interface_schema import Field
from gemma_node.tools.interface_schema import format_path
from gemma_node.tools.interface_schema import Record
from gemma_node.tools.interface_schema import Scalar
from gemma_node.tools.interface_schema import schema_of
from gemma_node.tools.interface_schema import Shape
from gemma_node.tools.spec import PathPart
from gemma_node.tools.validate import check_plain
from gemma_node.tools.validate import to_decimal
from gemma_node.tools.validate import validate_value
from gemma_node.tools.yaml_reader import YamlNode

TYPES = ('string', 'number', 'integer', 'boolean', 'array')
# Limits of 32 and 64 bit numbers say nothing to the model.
_NO_BOUND = (1 << 31) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The field that an entry addresses; `field` and `shape` None where types cannot be read."""

    interface_type: str
    path: tuple[PathPart, ...]
    field: Field | None
    shape: Shape | None

    @property
    def base_type(self) -> str:
        """PKG/NAME or the primitive of a single value, '' for a list or an unknown type."""
        return '' if self.field is None or self.field.is_array else self.field.base_type


def read_schema(
    node: YamlNode,
    entries: Mapping[str, YamlNode],
    target: Target,
    choices: Mapping[str, Any] | list[Any] | None,
    is_yaw: bool,
) -> dict[str, Any]:
    """Return the schema without its description."""
    shape = target.shape
    if isinstance(shape, Record) and isinstance(choices, list):
        raise node.error(f'{target.base_type} needs choices that map a name to its fields')
    if isinstance(shape, Bytes) and not isinstance(choices, Mapping):
        raise node.error(f'{shape.type}[] is data that no call holds; give a const or '
                         'choices, or leave it out')
    if 'type' in entries:
        schema: dict[str, Any] = {'type': entries['type'].choice(TYPES)}
        if shape is not None and not is_yaw and not isinstance(choices, Mapping):
            _check_against_shape(entries['type'], schema['type'], target)
    elif isinstance(choices, Mapping):
        schema = {'type': 'string'}
    elif choices is not None:
        schema = {'type': _type_of_choices(choices, node)}
    elif is_yaw:
        schema = {'type': 'number'}
    elif shape is not None:
        schema = schema_of(shape)
        if 'gain' in entries and schema['type'] in ('integer', 'number'):
            # Limits of the field's type do not hold for the argument's unit.
            schema = {'type': 'number'}
    else:
        raise node.error(f'{target.interface_type} cannot be read here; write the type: '
                         f'{", ".join(TYPES)}')
    if choices is not None:
        schema['enum'] = list(choices)
        _check_enum(node, schema)
    _read_bounds(node, entries, schema)
    return schema


def _check_against_shape(node: YamlNode, name: str, target: Target) -> None:
    shape = target.shape
    assert shape is not None and not isinstance(shape, Bytes)
    taken = schema_of(shape)['type']
    if isinstance(shape, Scalar) and shape.names:
        taken = {taken, schema_of(replace(shape, names={}))['type']}
    else:
        taken = {'integer': {'integer', 'number'}, 'number': {'number', 'integer'}}.get(
            taken, {taken})
    if name not in taken:
        kind = schema_of(shape)['type']
        written = target.field.base_type if target.field is not None else ''
        raise node.error(f'{format_path(target.path[-1:])} is {written}'
                         f'{"[]" if kind == "array" else ""}, which takes {kind}, not {name}')


def _type_of_choices(choices: list[Any], node: YamlNode) -> str:
    if all(isinstance(choice, str) for choice in choices):
        return 'string'
    if all(isinstance(choice, int) for choice in choices):
        return 'integer'
    if all(isinstance(choice, (int, float)) for choice in choices):
        return 'number'
    raise node.error('choices must be all text or all numbers')


def _check_enum(node: YamlNode, schema: Mapping[str, Any]) -> None:
    for choice in schema['enum']:
        problems = check_plain(choice, 'choices') or validate_value(schema, choice)
        if problems:
            raise node.error(f'choices: {problems[0]}'.replace('choices: choices:', 'choices:'))


def _read_bounds(
    node: YamlNode, entries: Mapping[str, YamlNode], schema: dict[str, Any],
) -> None:
    groups = {
        'number': (('minimum', 'minimum'), ('maximum', 'maximum'), ('step', 'multipleOf')),
        'string': (('min_length', 'minLength'), ('max_length', 'maxLength')),
        'array': (('min_items', 'minItems'), ('max_items', 'maxItems')),
    }
    kind = 'number' if schema['type'] == 'integer' else schema['type']
    for group, pairs in groups.items():
        for key, keyword in pairs:
            if key not in entries:
                continue
            if group != kind:
                raise entries[key].error(f'{key} does not fit the type {schema["type"]}')
            if key == 'step':
                schema[keyword] = entries[key].number(above=0)
            elif group == 'number':
                schema[keyword] = _tighter(keyword, entries[key].number(), schema, entries[key])
                schema.pop('exclusiveMaximum' if keyword == 'maximum' else '', None)
            else:
                value = entries[key].integer(minimum=0, maximum=1 << 20)
                schema[keyword] = _tighter(keyword, value, schema, entries[key])
        low, high = pairs[0][1], pairs[1][1]
        if low in schema and high in schema and schema[low] > schema[high]:
            raise node.error(f'{pairs[0][0]} {schema[low]} is above {pairs[1][0]} {schema[high]}')
    if {'multipleOf', 'minimum', 'maximum'} <= schema.keys():
        least, most, step = (
            to_decimal(schema[key]) for key in ('minimum', 'maximum', 'multipleOf'))
        if (least / step).to_integral_value(ROUND_CEILING) * step > most:
            raise node.error(f'no multiple of step {step} lies between minimum {least} and '
                             f'maximum {most}')
    if schema['type'] == 'array' and 'items' not in schema:
        if 'items' not in entries:
            raise node.error('an array needs items: the type of what it holds')
        schema['items'] = {'type': entries['items'].choice(TYPES[:4])}


def _tighter(keyword: str, value: float, schema: Mapping[str, Any], node: YamlNode) -> float:
    derived = schema.get(keyword)
    if derived is not None and (value < derived if keyword.startswith('min') else value > derived):
        raise node.error(f'{value} contradicts the field, which has {keyword} {derived}')
    return value


def describe(description: str, unit: str, schema: Mapping[str, Any]) -> str:
    """Add unit and range, which the prompt's declaration has no other place for."""
    low, high = (None if bound is None or abs(bound) >= _NO_BOUND else bound
                 for bound in (schema.get('minimum'), schema.get('maximum')))
    notes = [unit] if unit else []
    if low is not None and high is not None and 'enum' not in schema:
        notes.append(f'{low:g} to {high:g}')
    elif 'enum' not in schema and (low is not None or high is not None):
        notes.append(f'at least {low:g}' if low is not None else f'at most {high:g}')
    if not notes:
        return description
    return f'{description.rstrip(".")} ({", ".join(notes)})'.lstrip()
