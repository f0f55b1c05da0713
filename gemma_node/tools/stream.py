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
Reads a topic tool's `stream` and `limits`, and says what is published at each moment of it.

A stream is made for rates of change (velocities, efforts): it ends with zeros. Knows no clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import math
from typing import Any

from gemma_node.tools.argument_schema import describe
from gemma_node.tools.interface_schema import format_path
from gemma_node.tools.interface_schema import NOW_KEY
from gemma_node.tools.rules import seconds
from gemma_node.tools.spec import ArgumentRule
from gemma_node.tools.spec import PathPart
from gemma_node.tools.spec import StreamRule
from gemma_node.tools.validate import is_name
from gemma_node.tools.yaml_reader import YamlNode

MAX_RATE_HZ = 100.0
MAX_STREAM_S = 60.0


def read_stream(
    node: YamlNode | None, limits: YamlNode | None, rules: Sequence[ArgumentRule],
) -> StreamRule | None:
    """Read `stream` and `limits`; `rules` are those of the tool's arguments."""
    if node is None:
        if limits is not None:
            raise limits.error('limits need a stream: they bound how fast its values change')
        return None
    entries = node.mapping(('rate', 'duration', 'then', 'min_subscribers'))
    for key in ('rate', 'duration', 'then'):
        if key not in entries:
            raise node.error(f'the key {key} is missing')
    entries['then'].choice(('zero',))
    for rule in rules:
        if rule.is_yaw or rule.choices is not None:
            raise node.error(f'{rule.name} gives more than a number, and a stream ends with '
                             'zeros; write its fields one by one')
    duration = entries['duration']
    is_number = isinstance(duration.value, (int, float)) and not isinstance(duration.value, bool)
    argument = None if is_number else _read_duration(duration, rules)
    return StreamRule(
        rate_hz=float(entries['rate'].number(minimum=1.0, maximum=MAX_RATE_HZ)),
        duration=argument,
        duration_s=float(duration.number(above=0.0, maximum=MAX_STREAM_S)) if is_number else 0.0,
        min_subscribers=entries['min_subscribers'].integer(minimum=0, maximum=64)
        if 'min_subscribers' in entries else 1,
        slews=_read_slews(limits, rules),
    )


def duration_of(rule: StreamRule, arguments: Mapping[str, Any]) -> float:
    """Return how long a call's stream lasts [s]."""
    if rule.duration is None:
        return rule.duration_s
    return float(arguments.get(rule.duration.name, rule.duration.default))


def longest(rule: StreamRule) -> float:
    """Return the longest that any call's stream may last [s]."""
    return rule.duration_s if rule.duration is None else float(rule.duration.schema['maximum'])


def value_at_time(
    rule: StreamRule, target: Mapping[str, Any], elapsed_s: float, duration_s: float,
) -> dict[str, Any]:
    """
    Return what is published `elapsed_s` after the start: the target, within its slew limits.

    A limited field rises from zero and is back at zero at the end.
    """
    left_s = max(0.0, min(elapsed_s, duration_s - elapsed_s))
    limits = {path: slew * left_s for path, slew in rule.slews}
    moved: dict[str, Any] = _limited(target, (), limits)
    return moved


def zero(target: Any) -> Any:
    """Return the target with every number 0 and every flag false; texts and times stay."""
    if isinstance(target, Mapping):
        if NOW_KEY in target:
            return dict(target)
        return {key: zero(value) for key, value in target.items()}
    if isinstance(target, list):
        return [zero(value) for value in target]
    if isinstance(target, bool):
        return False
    return type(target)(0) if isinstance(target, (int, float)) else target


def _limited(
    value: Any, path: tuple[PathPart, ...], limits: Mapping[tuple[PathPart, ...], float],
) -> Any:
    if isinstance(value, Mapping):
        return {key: _limited(item, (*path, key), limits) for key, item in value.items()}
    if isinstance(value, list):
        return [_limited(item, (*path, idx), limits) for idx, item in enumerate(value)]
    if path not in limits or abs(value) <= limits[path]:
        return value
    return math.copysign(limits[path], value)


def _read_duration(node: YamlNode, rules: Sequence[ArgumentRule]) -> ArgumentRule:
    entries = node.mapping(('alias', 'minimum', 'maximum', 'step', 'default', 'description'))
    for key in ('alias', 'minimum', 'maximum'):
        if key not in entries:
            raise node.error(f'the key {key} is missing')
    name = entries['alias'].text()
    if not is_name(name):
        raise entries['alias'].error(
            f'{name!r} is no name: [A-Za-z_][A-Za-z0-9_]*, at most 64 characters')
    if any(rule.name == name for rule in rules):
        raise entries['alias'].error(f'the argument name {name!r} is used twice')
    schema: dict[str, Any] = {
        'type': 'number',
        'minimum': entries['minimum'].number(above=0.0, maximum=MAX_STREAM_S),
        'maximum': entries['maximum'].number(above=0.0, maximum=MAX_STREAM_S),
    }
    if schema['minimum'] > schema['maximum']:
        raise node.error(f'minimum {schema["minimum"]} is above maximum {schema["maximum"]}')
    if 'step' in entries:
        schema['multipleOf'] = entries['step'].number(above=0.0)
    text = entries['description'].text() if 'description' in entries else 'For how long.'
    schema['description'] = describe(text, 's', schema)
    default = seconds(entries, 'default', 0.0) if 'default' in entries else None
    if default is not None and not schema['minimum'] <= default <= schema['maximum']:
        raise entries['default'].error(
            f'must be from {schema["minimum"]} to {schema["maximum"]}, found {default}')
    return ArgumentRule(
        path=(), name=name, schema=schema, unit='s', has_default=default is not None,
        default=default, is_optional=default is not None)


def _read_slews(
    node: YamlNode | None, rules: Sequence[ArgumentRule],
) -> tuple[tuple[tuple[PathPart, ...], float], ...]:
    if node is None:
        return ()
    slews: list[tuple[tuple[PathPart, ...], float]] = []
    for key, entry in node.mapping().items():
        rule = _driven(entry, key, rules)
        limits = entry.mapping(('slew',))
        if 'slew' not in limits:
            raise entry.error('the key slew is missing: the largest change per second')
        if any(path == rule.path for path, _ in slews):
            raise entry.error(f'{format_path(rule.path)} is limited twice')
        slews.append((rule.path, float(limits['slew'].number(above=0.0))))
    return tuple(slews)


def _driven(node: YamlNode, key: str, rules: Sequence[ArgumentRule]) -> ArgumentRule:
    """Return the one rule whose field is, or ends with, this path."""
    numbers = [
        rule for rule in rules
        if rule.schema.get('type') in ('number', 'integer')
        or (rule.has_const and isinstance(rule.const, (int, float)))
    ]
    found = [rule for rule in numbers if f'.{format_path(rule.path)}'.endswith(f'.{key}')]
    if len(found) != 1:
        known = ', '.join(format_path(rule.path) for rule in numbers) or 'none'
        what = 'no number' if not found else 'more than one number'
        raise node.error(f'{key!r} names {what} of the arguments; choices are: {known}')
    return found[0]
