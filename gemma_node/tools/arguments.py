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
Reads the `arguments` of one tool: which goal field gets its value from where.

Turns each entry into an ArgumentRule and, where the model sees an argument, its JSON Schema.
Fields that no entry names keep the interface's default.
"""

from __future__ import annotations

from collections.abc import Mapping
import math
from pathlib import Path
import re
from typing import Any

from gemma_node.errors import ConfigError
from gemma_node.tools.interface_schema import Field
from gemma_node.tools.interface_schema import format_path
from gemma_node.tools.interface_schema import InterfaceSource
from gemma_node.tools.interface_schema import schema_of
from gemma_node.tools.spec import ArgumentRule
from gemma_node.tools.spec import PathPart
from gemma_node.tools.validate import check_plain
from gemma_node.tools.validate import is_name
from gemma_node.tools.validate import validate_value
from gemma_node.tools.yaml_reader import read_yaml
from gemma_node.tools.yaml_reader import YamlNode

ARGUMENT_KEYS = (
    'alias', 'as', 'choices', 'choices_file', 'const', 'default', 'description', 'gain', 'hide',
    'hide_rest', 'items', 'max_items', 'max_length', 'maximum', 'min_items', 'min_length',
    'minimum', 'optional', 'step', 'type', 'unit',
)
TYPES = ('string', 'number', 'integer', 'boolean', 'array')
_PATH_PART = re.compile(r'([A-Za-z][A-Za-z0-9_]*)((?:\[[0-9]{1,4}\])*)')
_YAW_GAINS = {'': 1.0, 'rad': 1.0, 'deg': math.pi / 180.0}


def read_arguments(
    node: YamlNode | None, interface_type: str, interfaces: InterfaceSource,
) -> tuple[ArgumentRule, ...]:
    """Read all entries; names the model sees are unique."""
    rules: list[ArgumentRule] = []
    for key, entry in (node.mapping() if node is not None else {}).items():
        path = _read_path(entry, key)
        try:
            field = interfaces.field_at(interface_type, path)
        except ConfigError as error:
            raise entry.error(f'{interface_type}: {error}') from error
        rule = _read_rule(entry, path, field, interface_type)
        if rule.name and any(other.name == rule.name for other in rules):
            raise entry.error(f'the argument name {rule.name!r} is used twice; give an alias')
        rules.append(rule)
    return tuple(rules)


def parameters_of(rules: tuple[ArgumentRule, ...]) -> dict[str, Any]:
    """Return the JSON Schema of a call's arguments."""
    shown = [rule for rule in rules if rule.name]
    return {
        'type': 'object',
        'properties': {rule.name: dict(rule.schema) for rule in shown},
        'required': [rule.name for rule in shown if not rule.is_optional],
        'additionalProperties': False,
    }


def _read_path(node: YamlNode, key: str) -> tuple[PathPart, ...]:
    path: list[PathPart] = []
    for part in key.split('.'):
        found = _PATH_PART.fullmatch(part)
        if found is None:
            raise node.error(f'{key!r} is no field path like pose.position.x or position[0]')
        path.append(found.group(1))
        path += [int(index) for index in re.findall(r'[0-9]+', found.group(2))]
    return tuple(path)


def _read_rule(
    node: YamlNode, path: tuple[PathPart, ...], field: Field | None, interface_type: str,
) -> ArgumentRule:
    entries = node.mapping(ARGUMENT_KEYS)
    field_type = field.base_type if field is not None and not field.is_array else ''
    for word in ('const', 'hide', 'hide_rest'):
        if word not in entries:
            continue
        if len(entries) > 1:
            others = ', '.join(key for key in entries if key != word)
            raise node.error(f'{word} stands alone; remove {others}')
        if word == 'const':
            return ArgumentRule(path=path, field_type=field_type, has_const=True,
                                const=entries[word].plain())
        if not entries[word].boolean():
            raise entries[word].error('must be true; leave it out otherwise')
        return ArgumentRule(path=path, field_type=field_type, is_hidden=True)
    name = _read_name(node, entries, path)
    is_yaw = 'as' in entries and entries['as'].choice(('yaw',)) == 'yaw'
    unit = entries['unit'].text() if 'unit' in entries else field.unit if field is not None else ''
    choices = _read_choices(entries, node)
    schema = _read_schema(node, entries, field, choices, is_yaw, interface_type)
    schema['description'] = _describe(
        entries['description'].text() if 'description' in entries
        else field.comment if field is not None else '', unit, schema)
    schema = {key: value for key, value in schema.items() if value != ''}
    has_default = 'default' in entries
    default = _read_default(entries['default'], schema) if has_default else None
    return ArgumentRule(
        path=path, name=name, schema=schema, field_type='' if is_yaw else field_type, unit=unit,
        gain=_read_gain(node, entries, unit, is_yaw, schema), is_yaw=is_yaw,
        choices=choices if isinstance(choices, Mapping) else None,
        has_default=has_default, default=default,
        is_optional=has_default or ('optional' in entries and entries['optional'].boolean()),
    )


def _read_name(
    node: YamlNode, entries: Mapping[str, YamlNode], path: tuple[PathPart, ...],
) -> str:
    if 'alias' in entries:
        name, place = entries['alias'].text(), entries['alias']
    elif len(path) == 1:
        name, place = str(path[0]), node
    else:
        raise node.error(f'give {format_path(path)} an alias: the name that the model sees')
    if not is_name(name):
        raise place.error(f'{name!r} is no name: [A-Za-z_][A-Za-z0-9_]*, at most 64 characters')
    return name


def _read_choices(
    entries: Mapping[str, YamlNode], node: YamlNode,
) -> Mapping[str, Any] | list[Any] | None:
    """Return a list of plain values, or names mapped to field values."""
    if 'choices' in entries and 'choices_file' in entries:
        raise node.error('give choices or choices_file, not both')
    if 'choices_file' in entries:
        file = Path(node.file).parent / entries['choices_file'].text()
        try:
            source = read_yaml(file)
        except ConfigError as error:
            raise entries['choices_file'].error(str(error)) from error
    elif 'choices' in entries:
        source = entries['choices']
    else:
        return None
    if isinstance(source.value, list):
        values = [item.plain() for item in source.sequence()]
        for idx, item in enumerate(values):
            if not isinstance(item, (str, int, float)) or isinstance(item, bool):
                raise source.sequence()[idx].error('a choice in a list must be text or a number')
            if item in values[:idx]:
                raise source.sequence()[idx].error(f'the choice {item!r} is listed twice')
        found: Mapping[str, Any] | list[Any] = values
    else:
        found = {key: item.plain() for key, item in source.mapping().items()}
    if not found:
        raise source.error('must not be empty')
    return found


def _read_schema(
    node: YamlNode,
    entries: Mapping[str, YamlNode],
    field: Field | None,
    choices: Mapping[str, Any] | list[Any] | None,
    is_yaw: bool,
    interface_type: str,
) -> dict[str, Any]:
    derived = schema_of(field) if field is not None else None
    if 'type' in entries:
        schema: dict[str, Any] = {'type': entries['type'].choice(TYPES)}
        _check_against_field(entries['type'], schema['type'], field, derived, choices)
    elif isinstance(choices, Mapping):
        schema = {'type': 'string'}
    elif choices is not None:
        schema = {'type': _type_of_choices(choices, node)}
    elif is_yaw:
        schema = {'type': 'number'}
    elif derived is not None:
        schema = dict(derived)
        if 'gain' in entries and schema['type'] in ('integer', 'number'):
            # Limits of the field's type do not hold for the argument's unit.
            schema = {'type': 'number'}
    elif field is not None:
        raise node.error(f'{field.base_type} has fields of its own; name one of them, '
                         'or use choices or as: yaw')
    else:
        raise node.error(f'{interface_type} cannot be read here; write the type: '
                         f'{", ".join(TYPES)}')
    if choices is not None:
        schema['enum'] = list(choices)
        _check_enum(node, schema)
    _read_bounds(node, entries, schema)
    return schema


def _check_against_field(
    node: YamlNode, name: str, field: Field | None, derived: Mapping[str, Any] | None,
    choices: Mapping[str, Any] | list[Any] | None,
) -> None:
    if field is None or isinstance(choices, Mapping) or derived is None:
        return
    fits = {'integer': ('integer', 'number'), 'number': ('number', 'integer')}
    if derived['type'] not in fits.get(name, (name,)):
        raise node.error(f'{field.name} is {field.base_type}{"[]" if field.is_array else ""}, '
                         f'which takes {derived["type"]}, not {name}')


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
            else:
                value = entries[key].integer(minimum=0, maximum=1 << 20)
                schema[keyword] = _tighter(keyword, value, schema, entries[key])
        low, high = pairs[0][1], pairs[1][1]
        if low in schema and high in schema and schema[low] > schema[high]:
            raise node.error(f'{pairs[0][0]} {schema[low]} is above {pairs[1][0]} {schema[high]}')
    if schema['type'] == 'array' and 'items' not in schema:
        if 'items' not in entries:
            raise node.error('an array needs items: the type of what it holds')
        schema['items'] = {'type': entries['items'].choice(TYPES[:4])}


def _tighter(keyword: str, value: float, schema: Mapping[str, Any], node: YamlNode) -> float:
    derived = schema.get(keyword)
    if derived is not None and (value < derived if keyword.startswith('min') else value > derived):
        raise node.error(f'{value} contradicts the field, which has {keyword} {derived}')
    return value


def _read_default(node: YamlNode, schema: Mapping[str, Any]) -> Any:
    value = node.plain()
    if problems := validate_value(schema, value):
        raise node.error(problems[0])
    return value


def _read_gain(
    node: YamlNode, entries: Mapping[str, YamlNode], unit: str, is_yaw: bool,
    schema: Mapping[str, Any],
) -> float:
    if is_yaw and schema['type'] != 'number':
        raise node.error('as: yaw takes a number')
    if 'gain' in entries:
        if schema['type'] not in ('number', 'integer') or 'enum' in schema:
            raise entries['gain'].error('gain needs a number without choices')
        gain = float(entries['gain'].number())
        if gain == 0.0:
            raise entries['gain'].error('must not be 0')
        return gain
    if not is_yaw:
        return 1.0
    if unit not in _YAW_GAINS:
        raise node.error(f'as: yaw knows the units deg and rad, found {unit!r}')
    return _YAW_GAINS[unit]


def _describe(description: str, unit: str, schema: Mapping[str, Any]) -> str:
    """Add unit and range, which the prompt's declaration has no other place for."""
    low, high = schema.get('minimum'), schema.get('maximum')
    notes = [unit] if unit else []
    if low is not None and high is not None and 'enum' not in schema:
        notes.append(f'{low:g} to {high:g}')
    elif 'enum' not in schema and (low is not None or high is not None):
        notes.append(f'at least {low:g}' if low is not None else f'at most {high:g}')
    if not notes:
        return description
    return f'{description.rstrip(".")} ({", ".join(notes)})'.lstrip()
