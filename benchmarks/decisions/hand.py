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
Writes hand.jsonl from hand.yaml: sentences and tool lists that were written one by one.

Only the notation is expanded here (docs/eval_format.md has the result); no wording is made.

    python benchmarks/decisions/hand.py            writes benchmarks/decisions/hand.jsonl
"""

from __future__ import annotations

from collections.abc import Mapping
import json
from pathlib import Path
import re
from typing import Any

from ruamel.yaml import YAML

FOLDER = Path(__file__).parent
_KEYS = ('id', 'c', 't', 's', 'o', 'before', 'say', 'call', 'calls', 'kind', 'reply',
         'tol', 'accept', 'forbid', 'twin', 'made_up', 'state')
_TYPES = {
    'odom': 'nav_msgs/msg/Odometry', 'battery': 'sensor_msgs/msg/BatteryState',
    'scan': 'sensor_msgs/msg/LaserScan', 'fix': 'sensor_msgs/msg/NavSatFix',
    'diagnostics': 'diagnostic_msgs/msg/DiagnosticArray', 'imu': 'sensor_msgs/msg/Imu',
    'detections': 'gemma_node/msg/DetectionArray', 'joints': 'sensor_msgs/msg/JointState',
    'temperature': 'sensor_msgs/msg/Temperature', 'range': 'sensor_msgs/msg/Range',
}  # fmt: skip
_INPUT = re.compile(
    r'(?P<topic>\w+)(?: (?P<state>missing|invalid))?(?:@(?P<age>[\d.]+))?(?:/(?P<limit>[\d.]+))?'
    r'(?:: (?P<text>.*))?', re.DOTALL)


def parameters(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object schema; names that end in ? are optional."""
    properties = {name.rstrip('?'): schema(value) for name, value in arguments.items()}
    required = [name for name in arguments if not name.endswith('?')]
    return {'type': 'object', 'properties': properties, 'required': required,
            'additionalProperties': False}


def schema(value: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return an argument's schema from 'TYPE UNIT | description | range or choices'."""
    if not isinstance(value, str):
        fields = {name: each for name, each in value.items() if name != 'about'}
        return {**parameters(fields), 'description': value['about']}
    kind, description, rest = [*(part.strip() for part in value.split('|')), '', ''][:3]
    kind, _, unit = kind.partition(' ')
    if kind == 'list':
        items = {'type': 'string', **({'enum': rest.split()} if rest else {})}
        return {'type': 'array', 'items': items, 'minItems': 1, 'maxItems': 8,
                'description': description}
    found: dict[str, Any] = {'type': 'string' if kind == 'enum' else kind}
    if kind == 'enum':
        found['enum'] = rest.split()
    elif kind == 'string':
        found.update(minLength=1, maxLength=200)
    elif rest:
        low, high = (float(each) for each in rest.lstrip('=').split('..'))
        found.update(minimum=low, maximum=high)
        if not rest.startswith('='):
            notes = [*([unit] if unit else []), f'{low:g} to {high:g}']
            description = f'{description.rstrip(".")} ({", ".join(notes)})'
    elif unit:
        description = f'{description.rstrip(".")} ({unit})'
    if found['type'] == 'integer':
        found = {key: int(each) if isinstance(each, float) else each
                 for key, each in found.items()}
    return {**found, 'description': description}


def tools(written: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tools of one list."""
    return [{'name': name, 'description': each[0],
             'parameters': parameters(each[1] if len(each) > 1 else {})}
            for name, each in written.items()]


def observation(text: str) -> dict[str, Any]:
    """Return an input from 'NAME@AGE/LIMIT: text', 'NAME missing' or 'NAME invalid@AGE: why'."""
    match = _INPUT.fullmatch(text)
    if match is None:
        raise ValueError(f'not an observation: {text}')
    found: dict[str, Any] = {
        'topic': match['topic'], 'type': _TYPES.get(match['topic'], 'std_msgs/msg/String')}
    if match['age']:
        found['age_s'] = float(match['age'])
    if match['limit']:
        found['max_age_s'] = float(match['limit'])
    if match['text']:
        found['text'] = match['text']
    if match['state']:
        found['state'] = match['state']
    return found


def earlier(turn: Mapping[str, Any]) -> dict[str, Any]:
    """Return an earlier turn from {U: text}, {A: text} or {TOOL: [arguments, result]}."""
    (name, value), = turn.items()
    if name in ('U', 'A'):
        return {'role': 'user' if name == 'U' else 'assistant', 'text': value}
    return {'role': 'tool', 'name': name, 'arguments': value[0], 'text': value[1]}


def calls_of(written: Mapping[str, Any] | list[Mapping[str, Any]],
             tolerance: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return calls from {TOOL: arguments} or a list of those."""
    items = written if isinstance(written, list) else [written]
    found = [{'name': name, 'arguments': arguments or {}}
             for item in items for name, arguments in item.items()]
    return [{**each, 'tolerance': dict(tolerance)} if tolerance else each for each in found]


def decision(each: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is expected."""
    for kind in ('call', 'calls'):
        if kind in each:
            return {'kind': kind, 'calls': calls_of(each[kind], each.get('tol', {}))}
    return {'kind': 'reply' if 'reply' in each else each['kind'], 'calls': []}


def case(each: Mapping[str, Any], lists: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return a case as docs/eval_format.md has it."""
    unknown = set(each) - set(_KEYS)
    if unknown:
        raise ValueError(f'case {number} ({each.get("say")}): unknown {sorted(unknown)}')
    accept = [*each.get('reply', []), *(decision(other) for other in each.get('accept', []))]
    return {
        'id': f'hand-{each["id"]}' if 'id' in each else f'hand-{number:03d}',
        'category': each['c'],
        'made_up': each.get('made_up', False),
        'state_dependent': each.get('state', False),
        'twin': f'hand-{each["twin"]}' if 'twin' in each else '',
        'system': each.get('s', ''),
        'tools': tools(lists[each['t']]),
        'observations': [observation(text) for text in each.get('o', [])],
        'turns': [*(earlier(turn) for turn in each.get('before', [])),
                  {'role': 'user', 'text': each['say']}],
        'expect': decision(each),
        'accept': accept,
        'forbid': list(each.get('forbid', [])),
    }


def lines() -> list[str]:
    """Return the lines of hand.jsonl."""
    written = YAML(typ='safe').load((FOLDER / 'hand.yaml').read_text(encoding='utf-8'))
    return [json.dumps(case(each, written['tools'], number), ensure_ascii=False)
            for number, each in enumerate(written['cases'], 1)]


if __name__ == '__main__':
    (FOLDER / 'hand.jsonl').write_text('\n'.join(lines()) + '\n', encoding='utf-8')
