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
Drafts a tools file from the interfaces that a robot offers. Knows types and names, no graph.

A draft loads as it is, in shadow mode; numbers have no limits until a person writes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import json
import re
from typing import Any

from gemma_node.errors import ConfigError
from gemma_node.tools.catalogue import MAX_NAME_CHARACTERS
from gemma_node.tools.interface_schema import Bytes
from gemma_node.tools.interface_schema import InterfaceSource
from gemma_node.tools.interface_schema import Items
from gemma_node.tools.interface_schema import Record
from gemma_node.tools.interface_schema import Scalar
from gemma_node.tools.interface_schema import Seconds
from gemma_node.tools.interface_schema import Shape
from gemma_node.tools.interface_schema import shape_of

# More arguments than this are more than a small model fills in well.
MAX_ARGUMENTS = 8
MAX_SHOWN = 4
STREAMED = ('geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped')
_STREAM_FIELDS = ('linear.x', 'angular.z')
HEAD = """\
# Drafted by `gemma-node tools init` from what runs now. Read every line, then:
#  - take out what a language model must not do, and shorten the descriptions;
#  - give numbers minimum, maximum and step, and targets `inside`;
#  - give tools the resources they need, `requires`, `rate_limit`, and at last another mode.
# `gemma-node tools check FILE` shows what becomes of it; docs/tools.md explains each key.
version: 1
defaults: {mode: shadow, timeout: 60.0, cancel_timeout: 3.0, rate_limit: 0.5}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One interface of a robot: `kind` as tools files say it, `name` relative to the robot."""

    kind: str
    type: str
    name: str


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    rule: Mapping[str, Any]
    is_asked: bool


def draft(offers: Sequence[Offer], interfaces: InterfaceSource) -> str:
    """Return the text of a tools file; what cannot be drafted is said in a comment."""
    names: set[str] = set()
    tools: list[str] = []
    comments: list[str] = []
    for offer in sorted(offers, key=lambda offer: (offer.kind, offer.name)):
        if len(offer.name) > MAX_NAME_CHARACTERS:
            comments.append(f'# {offer.name[:40]}... is left out: a name of {len(offer.name)} '
                            f'characters; at most {MAX_NAME_CHARACTERS}\n')
            continue
        try:
            tools.append(_tool(offer, _unique(offer.name.strip('/'), names), interfaces))
        except ConfigError as error:
            comments.append(f'# {offer.name} is left out: {_line(str(error))}\n')
    body = '\n'.join(tools) if tools else '  {}\n'
    resources = 'resources: [base]\n' if 'resources: [base]' in body else ''
    return f'{HEAD}{resources}\n{"".join(comments)}tools:\n{body}\nbuiltins: ' \
           '[no_action, stop, ask_operator]\n'


def _tool(offer: Offer, name: str, interfaces: InterfaceSource) -> str:
    shape = shape_of(interfaces, offer.type)
    is_stream = offer.type in STREAMED
    entries = _stream_entries(shape) if is_stream else _entries(shape)
    lines = [f'  {name}:', f'    {offer.kind}: {offer.type}', f'    name: {offer.name}',
             f'    description: {json.dumps(_describe(offer, shape), ensure_ascii=False)}']
    if entries:
        lines.append('    arguments:')
        lines += [f'      {entry.path}: {_flow(entry.rule)}' for entry in entries]
    if is_stream:
        lines += ['    # Name an input of twist_mux: on cmd_vel itself others publish as well.'] \
            if offer.name.rsplit('/', 1)[-1] == 'cmd_vel' else []
        lines.append('    stream: {rate: 20.0, duration: {alias: seconds, minimum: 0.2, '
                     'maximum: 2.0}, then: zero}')
    if is_stream or offer.type.startswith('nav2_msgs/'):
        lines.append('    resources: [base]')
    if offer.kind == 'action':
        lines += _feedback(shape_of(interfaces, offer.type, 'feedback'))
    if offer.kind != 'topic':
        part = 'result' if offer.kind == 'action' else 'response'
        lines += _result(shape_of(interfaces, offer.type, part))
    return '\n'.join(lines) + '\n'


def _describe(offer: Offer, shape: Record) -> str:
    if comment := _line(shape.comment):
        return comment
    words = re.sub(r'(?<=[a-z0-9])(?=[A-Z])', ' ', offer.type.rsplit('/', 1)[1]).lower()
    return f'{words.capitalize()}.'


def _stream_entries(shape: Record) -> list[_Entry]:
    """Return the two speeds of a wheeled base, within limits that a person can walk beside."""
    is_stamped = 'header' in shape.members
    root = 'twist.' if is_stamped else ''
    speed, turn = (f'{root}{field}' for field in _STREAM_FIELDS)
    entries = [
        _Entry(speed, {'alias': 'speed', 'unit': 'm/s', 'minimum': -0.1, 'maximum': 0.1,
                       'description': 'Forward speed.'}, True),
        _Entry(turn, {'alias': 'turn', 'unit': 'rad/s', 'minimum': -0.3, 'maximum': 0.3,
                      'default': 0.0, 'description': 'Turning speed, left is positive.'}, True)]
    if is_stamped:
        entries += _header('header')
    return entries


def _entries(shape: Record) -> list[_Entry]:
    """Return entries for all fields; past the bound, what is left is hidden."""
    entries: list[_Entry] = []
    names: set[str] = set()
    hidden: list[_Entry] = []
    for path, leaf, comment in _leaves(shape, ''):
        made = _entry(path, leaf, comment, names)
        num_asked = sum(entry.is_asked for entry in entries)
        if any(entry.is_asked for entry in made) and num_asked >= MAX_ARGUMENTS:
            hidden.append(_Entry(path, {'hide': True}, False))
        else:
            entries += made
    return entries + hidden


def _leaves(shape: Record, root: str) -> Iterator[tuple[str, Shape, str]]:
    """Yield (path, shape, comment) of what becomes one entry, or two for a header."""
    for name, member in shape.members.items():
        path = f'{root}{name}'
        inner = member.shape
        is_whole = isinstance(inner, Record) and inner.type in (
            'geometry_msgs/msg/Quaternion', 'std_msgs/msg/Header')
        if isinstance(inner, Record) and not is_whole:
            yield from _leaves(inner, f'{path}.')
        else:
            yield path, inner, member.comment


def _entry(path: str, shape: Shape, comment: str, names: set[str]) -> list[_Entry]:
    if isinstance(shape, Record) and shape.type == 'std_msgs/msg/Header':
        return _header(path)
    is_list = isinstance(shape, Items) and not isinstance(shape.item, Scalar)
    is_time = isinstance(shape, Seconds) and shape.type.endswith('/Time')
    if isinstance(shape, Bytes) or is_list or is_time:
        return [_Entry(path, {'const': 'now'} if is_time else {'hide': True}, False)]
    rule: dict[str, Any] = {}
    if isinstance(shape, Record):
        rule = {'as': 'yaw', 'unit': 'deg', 'minimum': -180, 'maximum': 180}
    name = _unique(_short_name(path, names), names)
    if name != path:
        rule['alias'] = name
    if not comment and not rule.get('as'):
        rule['description'] = f'{path.replace("_", " ").replace(".", " ")}.'.capitalize()
    return [_Entry(path, rule, True)]


def _header(path: str) -> list[_Entry]:
    return [_Entry(f'{path}.frame_id', {'const': '{frame_prefix}base_link' if path == 'header'
                                        else '{frame_prefix}map'}, False),
            _Entry(f'{path}.stamp', {'const': 'now'}, False)]


def _short_name(path: str, names: set[str]) -> str:
    """Return as much of the path's end as nobody else has: x, position_x, pose_position_x."""
    parts = path.split('.')
    for count in range(1, len(parts) + 1):
        name = '_'.join(parts[-count:])
        if name not in names:
            break
    return 'heading' if name == 'orientation' and 'heading' not in names else name


def _unique(name: str, names: set[str]) -> str:
    base = re.sub('[^A-Za-z0-9_]+', '_', name).strip('_')[:56] or 'tool'
    base = base if base[0].isalpha() else f'tool_{base}'
    found, number = base, 2
    while found in names or found in ('no_action', 'stop', 'ask_operator'):
        found, number = f'{base}_{number}', number + 1
    names.add(found)
    return found


def _feedback(shape: Record) -> list[str]:
    show = _plain_fields(shape)
    if 'distance_remaining' not in show:
        return [f'    feedback: {{show: [{", ".join(show)}], period: 2.0}}'] if show else []
    return ['    feedback: {show: [distance_remaining], period: 2.0, progress: '
            '{field: distance_remaining, from: first, to: 0.0}}']


def _result(shape: Record) -> list[str]:
    show = _plain_fields(shape)
    rule = f'show: [{", ".join(show)}]'
    for field, value in (('error_code', '0'), ('success', 'true')):
        if field in show:
            rule = f'success: {{field: {field}, equals: {value}}}, {rule}'
            break
    return [f'    result: {{{rule}}}'] if show else []


def _plain_fields(shape: Record) -> list[str]:
    return [name for name, member in shape.members.items()
            if isinstance(member.shape, Scalar)][:MAX_SHOWN]


def _flow(rule: Mapping[str, Any]) -> str:
    """Write an entry in one line; JSON's texts and numbers are YAML's."""
    items = (f'{key}: {json.dumps(value, ensure_ascii=False)}' for key, value in rule.items())
    return f'{{{", ".join(items)}}}'


def _line(text: str) -> str:
    return ' '.join(text.split())[:200]
