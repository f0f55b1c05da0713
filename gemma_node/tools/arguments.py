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

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import replace
import math
from pathlib import Path
import re
from typing import Any

from gemma_node.errors import ConfigError
from gemma_node.errors import RequestError
from gemma_node.tools.argument_schema import describe
from gemma_node.tools.argument_schema import read_schema
from gemma_node.tools.argument_schema import Target
from gemma_node.tools.interface_schema import format_path
from gemma_node.tools.interface_schema import InterfaceSource
from gemma_node.tools.interface_schema import Record
from gemma_node.tools.interface_schema import Scalar
from gemma_node.tools.interface_schema import Seconds
from gemma_node.tools.interface_schema import shape_at
from gemma_node.tools.interface_schema import without
from gemma_node.tools.lark import MAX_CHOICES
from gemma_node.tools.overlay import constant_of
from gemma_node.tools.overlay import field_value
from gemma_node.tools.spec import ArgumentRule
from gemma_node.tools.spec import PathPart
from gemma_node.tools.validate import is_name
from gemma_node.tools.validate import validate_value
from gemma_node.tools.yaml_reader import read_yaml
from gemma_node.tools.yaml_reader import YamlNode

ARGUMENT_KEYS = (
    'alias', 'as', 'choices', 'choices_file', 'const', 'default', 'description', 'gain', 'hide',
    'hide_rest', 'items', 'max_items', 'max_length', 'maximum', 'min_items', 'min_length',
    'minimum', 'optional', 'step', 'type', 'unit',
)
_PATH_PART = re.compile(r'([A-Za-z][A-Za-z0-9_]*)((?:\[[0-9]{1,4}\])*)')
# They make a number of a field whose values otherwise have names.
_NUMBER_KEYS = ('gain', 'maximum', 'minimum', 'step')
_YAW_GAINS = {'': 1.0, 'rad': 1.0, 'deg': math.pi / 180.0}


def read_arguments(
    node: YamlNode | None, interface_type: str, interfaces: InterfaceSource,
) -> tuple[ArgumentRule, ...]:
    """Read all entries; names the model sees are unique."""
    rules: list[ArgumentRule] = []
    entries = node.mapping() if node is not None else {}
    paths = {key: _read_path(entry, key) for key, entry in entries.items()}
    for key, entry in entries.items():
        target = _find_target(entry, paths[key], interface_type, interfaces)
        if isinstance(target.shape, Record):
            target = replace(target, shape=_rest_of(target.shape, paths[key], paths.values()))
        rule = _read_rule(entry, target)
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


def _find_target(
    node: YamlNode, path: tuple[PathPart, ...], interface_type: str, interfaces: InterfaceSource,
) -> Target:
    try:
        return Target(
            interface_type=interface_type, path=path,
            field=interfaces.field_at(interface_type, path),
            shape=shape_at(interfaces, interface_type, path))
    except ConfigError as error:
        raise node.error(f'{interface_type}: {error}') from error


def _rest_of(
    record: Record, path: tuple[PathPart, ...], others: Iterable[tuple[PathPart, ...]],
) -> Record:
    """Take what entries below this one decide away from the model."""
    for other in others:
        if len(other) > len(path) and other[:len(path)] == path:
            record = without(record, other[len(path):])
    return record


def _read_rule(node: YamlNode, target: Target) -> ArgumentRule:
    entries = node.mapping(ARGUMENT_KEYS)
    for word in ('const', 'hide', 'hide_rest'):
        if word in entries:
            return _read_unseen(node, entries, word, target)
    field = target.field
    name = _read_name(node, entries, target.path)
    is_yaw = 'as' in entries and entries['as'].choice(('yaw',)) == 'yaw'
    if is_yaw and field is not None and target.base_type != 'geometry_msgs/Quaternion':
        raise entries['as'].error(f'yaw needs a geometry_msgs/Quaternion, {field.name} is '
                                  f'{field.base_type}')
    unit = entries['unit'].text() if 'unit' in entries else field.unit if field is not None else ''
    if isinstance(target.shape, Seconds):
        unit = unit or 's'
    choices = _read_choices(entries, node)
    shape = target.shape
    if isinstance(shape, Scalar) and any(key in entries for key in _NUMBER_KEYS):
        target = replace(target, shape=(shape := replace(shape, names={})))
    schema = read_schema(node, entries, target, choices, is_yaw)
    schema['description'] = describe(
        entries['description'].text() if 'description' in entries
        else field.comment if field is not None else '', unit, schema)
    schema = {key: value for key, value in schema.items() if value != ''}
    is_kept = is_yaw and 'default' in entries and entries['default'].value == 'keep'
    has_default = 'default' in entries and not is_kept
    default = _read_default(entries['default'], schema) if has_default else None
    is_optional = 'optional' in entries and entries['optional'].boolean()
    rule = ArgumentRule(
        path=target.path, name=name, schema=schema,
        field_type='' if is_yaw else target.base_type, unit=unit,
        gain=_read_gain(node, entries, unit, is_yaw, schema), is_yaw=is_yaw,
        choices=choices if isinstance(choices, Mapping) else None,
        has_default=has_default, default=default, is_kept=is_kept, shape=shape,
        is_optional=has_default or is_kept or is_optional,
    )
    _check_values(node, rule)
    return rule


def _read_unseen(
    node: YamlNode, entries: Mapping[str, YamlNode], word: str, target: Target,
) -> ArgumentRule:
    """Read an entry for a field that the model does not see."""
    if len(entries) > 1:
        others = ', '.join(key for key in entries if key != word)
        raise node.error(f'{word} stands alone; remove {others}')
    if word != 'const':
        if not entries[word].boolean():
            raise entries[word].error('must be true; leave it out otherwise')
        return ArgumentRule(path=target.path, field_type=target.base_type, is_hidden=True)
    rule = ArgumentRule(
        path=target.path, field_type=target.base_type, has_const=True,
        const=entries[word].plain(), shape=target.shape)
    try:
        constant_of(rule)
    except RequestError as error:
        raise entries[word].error(str(error)) from error
    return rule


def _check_values(node: YamlNode, rule: ArgumentRule) -> None:
    """Refuse choices, bounds and defaults that do not fit the field once they are converted."""
    if rule.shape is None:
        return
    values = [*rule.schema.get('enum', ())]
    if rule.schema['type'] in ('number', 'integer') and not values:
        values += [rule.schema[key] for key in ('minimum', 'maximum') if key in rule.schema]
    values += [rule.default] if rule.has_default else []
    for value in values:
        try:
            field_value(rule, value)
        except RequestError as error:
            raise node.error(f'{value!r:.60} does not fit the field: {error}') from error


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
        _check_count(source, len(values))
        for idx, item in enumerate(values):
            if not isinstance(item, (str, int, float)) or isinstance(item, bool):
                raise source.sequence()[idx].error('a choice in a list must be text or a number')
            if item in values[:idx]:
                raise source.sequence()[idx].error(f'the choice {item!r} is listed twice')
        found: Mapping[str, Any] | list[Any] = values
    else:
        found = {key: item.plain() for key, item in source.mapping().items()}
        _check_count(source, len(found))
    if not found:
        raise source.error('must not be empty')
    return found


def _check_count(node: YamlNode, count: int) -> None:
    if count > MAX_CHOICES:
        raise node.error(f'{count} choices; at most {MAX_CHOICES} are taken')


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
