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


import os
from pathlib import Path
import textwrap

import pytest

from gemma_node.core import CallKind
from gemma_node.core import Mode
from gemma_node.errors import ConfigError
from gemma_node.tools.catalogue import BUILTINS
from gemma_node.tools.catalogue import load_catalogue
from gemma_node.tools.interface_schema import InterfaceSource
from gemma_node.tools.overlay import to_message
from gemma_node.tools.validate import validate_call

CONFIG = Path(__file__).parents[2] / 'config'
GOOD = """
version: 1
defaults: {mode: approve, timeout: 10.0, rate_limit: 0.5}
resources: [base, arm]
tools:
  go:
    action: some_msgs/action/Go
    name: go
    description: Go somewhere.
    arguments:
      place: {type: string, choices: [lab, dock]}
      speed: {type: number, minimum: 0.1, maximum: 1.0, unit: m/s, optional: true}
    resources: [base]
    requires:
      - {input: odom, max_age: 0.5}
    result: {success: {field: error_code, equals: 0}, show: [error_code]}
"""


@pytest.fixture
def write(tmp_path):
    def to_file(text: str) -> Path:
        file = tmp_path / 'tools.yaml'
        file.write_text(textwrap.dedent(text), encoding='utf-8')
        return file
    return to_file


def test_file_becomes_specs_and_declarations(write):
    catalogue = load_catalogue(write(GOOD), InterfaceSource([]))
    go = catalogue.by_name['go']
    assert (go.kind, go.mode, go.timeout_s, go.cancel_timeout_s, go.rate_limit_hz) == (
        CallKind.ACTION, Mode.APPROVE, 10.0, 3.0, 0.5)
    assert (go.interface_type, go.interface_name, go.resources, go.on_busy) == (
        'some_msgs/action/Go', 'go', ('base',), 'reject')
    assert go.requires[0].input == 'odom' and go.requires[0].max_age_s == 0.5
    assert go.declaration.parameters == {
        'type': 'object',
        'properties': {
            'place': {'type': 'string', 'enum': ['lab', 'dock']},
            'speed': {'type': 'number', 'minimum': 0.1, 'maximum': 1.0,
                      'description': '(m/s, 0.1 to 1)'},
        },
        'required': ['place'],
        'additionalProperties': False,
    }
    assert [tool.name for tool in catalogue.declarations()] == ['go', *BUILTINS]


def test_declarations_are_chosen_by_name_and_keep_the_builtins(write):
    text = GOOD + '  come: {action: a/action/B, name: come, description: Come.}\n'
    text += 'builtins: [stop]\n'
    catalogue = load_catalogue(write(text))
    assert [tool.name for tool in catalogue.declarations(('come',))] == ['come', 'stop']
    assert [tool.name for tool in catalogue.declarations()] == ['go', 'come', 'stop']
    with pytest.raises(ConfigError, match="unknown tool 'fly'; choices are: come, go, stop"):
        catalogue.declarations(('fly',))


def test_digest_follows_every_word_of_the_file_but_not_its_comments(write):
    first = load_catalogue(write(GOOD)).digest
    assert load_catalogue(write('# Comment.\n' + GOOD)).digest == first
    for old, new in (('10.0', '11.0'), ('[lab, dock]', '[dock, lab]'), ('Go some', 'Go any'),
                     ('max_age: 0.5', 'max_age: 0.6'), ('equals: 0', 'equals: 1')):
        assert load_catalogue(write(GOOD.replace(old, new))).digest != first, new


def _changed(old: str, new: str) -> str:
    assert old in GOOD, old
    return GOOD.replace(old, new)


@pytest.mark.parametrize(('text', 'line', 'fragment'), [
    ('', 1, 'expected a mapping'), ('[]', 1, 'expected a mapping'),
    ('version: 1', 1, 'the key tools is missing'), ('tools: {}', 1, 'the key version is missing'),
    ('version: 2\ntools: {}', 1, 'must be 1'), ("version: '1'\ntools: {}", 1, 'expected a number'),
    ('version: 1\ntools: {}\ntool: {}', 3, "unknown key 'tool'; choices are: builtins, defaults"),
    ('version: 1\ntools: {}\nversion: 1', 3, 'duplicate key "version"'),
    ('version: 1\ntools: [', 2, 'malformed YAML'),
    ('version: 1\n\ttools: {}', 2, 'malformed YAML'),
    ('version: 1\ntools: {a: !x y}', 2, 'expected a mapping'),
    (_changed('  go:\n', '  go: &x\n') + '  go:\n    name: x\n', 17, 'duplicate key "go"'),
    (_changed('mode: approve', 'mode: yolo'), 3, "unknown value 'yolo'; choices are: shadow, app"),
    (_changed('timeout: 10.0', 'timeout: soon'), 3, "expected a number, found the text 'soon'"),
    (_changed('timeout: 10.0', 'timeout: -1'), 3, 'must be above 0'),
    (_changed('timeout: 10.0', 'timeout: .inf'), 3, 'must be finite'),
    (_changed('timeout: 10.0', 'timeout: .nan'), 3, 'must be finite'),
    (_changed('timeout: 10.0', 'timeout: true'), 3, 'expected a number, found true'),
    (_changed('rate_limit: 0.5', 'rate: 0.5'), 3, "unknown key 'rate'"),
    (_changed('[base, arm]', 'base'), 4, 'expected a list'),
    (_changed('[base, arm]', '[base, base]'), 4, 'listed twice'),
    (_changed('  go:\n', '  no_action:\n'), 6, 'no_action is a builtin'),
    (_changed('  go:\n', '  go-to:\n'), 6, "'go-to' is no name"),
    (_changed('  go:\n', f'  {"g" * 65}:\n'), 6, 'is no name'),
    (_changed('  go:\n', '  5:\n'), 6, 'a key must be text'),
    (_changed('action: some_msgs/action/Go', 'topic: some_msgs/action/Go'), 7, 'no type like'),
    (_changed('action: some_msgs/action/Go', 'action: Go'), 7, 'no type like package/action/Name'),
    (_changed('action: some_msgs/action/Go', 'mode: auto'), 6, 'exactly one of action, service'),
    (_changed('name: go', 'name: go to'), 8, "'go to' is no name"),
    (_changed('name: go', f'name: {"g" * 161}'), 8, 'a name of 161 characters; at most 160'),
    (_changed('    name: go\n', ''), 6, 'the key name is missing'),
    (_changed('Go somewhere.', "''"), 9, 'must not be empty'),
    (_changed('Go somewhere.', 'yes: no'), 9, 'malformed YAML'),
    (_changed('Go somewhere.', '"a\\u0001b"'), 9, 'control character U+0001'),
    (_changed('    description: Go somewhere.\n', ''), 6, 'the key description is missing'),
    (_changed('{type: string, choices', '{typ: string, choices'), 11, "unknown key 'typ'"),
    (_changed('type: string, choices', 'type: text, choices'), 11, "unknown value 'text'"),
    (_changed('[lab, dock]', '[]'), 11, 'must not be empty'),
    (_changed('[lab, dock]', '[lab, lab]'), 11, 'listed twice'),
    (_changed('[lab, dock]', '[lab, 5]'), 11, 'choices: 5 is int, not string'),
    (_changed('[lab, dock]', '[lab, [a]]'), 11, 'must be text or a number'),
    (_changed('[lab, dock]', '["a\\0b"]'), 11, 'control character'),
    (_changed('choices: [lab, dock]', 'choices_file: no.yaml'), 11, 'cannot be read'),
    (_changed('minimum: 0.1', 'minimum: 2'), 12, 'minimum 2 is above maximum 1.0'),
    (_changed('minimum: 0.1', "minimum: '0'"), 12, 'expected a number'),
    (_changed('minimum: 0.1', 'min_length: 1'), 12, 'min_length does not fit the type number'),
    (_changed('minimum: 0.1', 'step: 0'), 12, 'must be above 0'),
    (_changed('minimum: 0.1', 'step: 1, minimum: 0.2').replace('maximum: 1.0', 'maximum: 0.8'),
     12, 'lies between'),
    (_changed('type: number, minimum: 0.1, maximum: 1.0',
              'type: integer, minimum: 1, maximum: 4, step: 5'), 12, 'no multiple of step 5 lies'),
    (_changed('[lab, dock]', f'[{", ".join(f"c{n}" for n in range(1025))}]'), 11,
     '1025 choices; at most 1024'),
    (_changed('minimum: 0.1', f'gain: 1{"0" * 400}'), 12, 'beyond 64 bits'),
    (_changed('timeout: 10.0', f'timeout: 1{"0" * 400}'), 3, 'beyond 64 bits'),
    (_changed('minimum: 0.1', f'default: 1{"0" * 400}'), 12, 'beyond 64 bits'),
    (_changed('{field: error_code, equals: 0}', '{any: []}'), 16, 'must not be empty'),
    (_changed('minimum: 0.1', 'default: 5'), 12, '5 is greater than the maximum'),
    (_changed('minimum: 0.1', 'default: keep'), 12, "'keep' is str, not number"),
    (_changed('minimum: 0.1', 'gain: 0'), 12, 'must not be 0'),
    (_changed('minimum: 0.1', 'as: pitch'), 12, "unknown value 'pitch'; choices are: yaw"),
    (_changed('minimum: 0.1', 'const: 1'), 12, 'const stands alone; remove type'),
    (_changed('optional: true', 'optional: yes'), 12, 'expected true or false'),
    (_changed('speed: {', 'place.x: {alias: place, '), 12, "'place' is used twice; give an alias"),
    (_changed('speed: {', 'speed.x: {'), 12, 'give speed.x an alias'),
    (_changed('speed: {', 'speed..x: {'), 12, 'is no field path'),
    (_changed('speed: {', 'speed: {alias: a b, '), 12, "'a b' is no name"),
    (_changed('type: number, ', ''), 12, 'cannot be read here; write the type'),
    (_changed('    resources: [base]', '    resources: [wheels]'), 13, "unknown value 'wheels'"),
    (_changed('{input: odom, max_age: 0.5}', '{max_age: 0.5}'), 15, 'the key input is missing'),
    (_changed('max_age: 0.5', 'above: 1'), 15, 'belong together'),
    (_changed('max_age: 0.5', 'field: x, above: 2, below: 1'), 15, 'leave no value'),
    (_changed(', max_age: 0.5', ''), 15, 'requires nothing'),
    (_changed('equals: 0', 'equals: NONE'), 16, 'write the value of NONE'),
    (_changed('{field: error_code, equals: 0}', '{any: [{field: a}]}'), 16, 'field and equals'),
    (GOOD + '    inside: {polygon: [[0, 0], [1, 1]], x: speed, y: speed}\n', 17, 'at least 3'),
    (GOOD + '    inside: {polygon: [[0]], x: speed, y: speed}\n', 17, 'a corner is'),
    (GOOD + '    inside: {polygon: [[0, 0], [1, 0], [0, 1]], x: speed, y: speed, max_age: 1.0}\n',
     17, 'only a frame needs'),
    (GOOD + '    inside: {polygon: [[0, 0], [1, 0], [0, 1]], x: place, y: speed}\n', 17,
     "unknown value 'place'; choices are: speed"),
    (GOOD + '    inside: {polygon: [[0, 0], [1, 0], [0, 1]], x: speed, y: speed}\n', 17,
     'x and y are both the argument speed'),
    (GOOD + '    inside: {polygon: [[0, 0], [0.1, 0.1], [0.3, 0.3]], x: speed, y: speed}\n', 17,
     'enclose no area'),
    (GOOD + '    inside: {polygon: [[5, 5], [5, 5], [5, 5]], x: speed, y: speed}\n', 17,
     'enclose no area'),
    (GOOD + '    inside: {polygon: [[0, 0], [2, 3], [2, 0], [0, 1]], x: speed, y: speed}\n', 17,
     'crosses the one from'),
    (GOOD + '    feedback: {progress: {field: d, from: last, to: 0}}\n', 17, "value 'last'"),
    (GOOD + '    examples: [{say: go, call: {place: moon}}]\n', 17, "'moon' is not one of"),
    (GOOD + '    stream: {rate: 20.0}\n', 17, 'only topics have stream; this is of kind action'),
    (GOOD + 'builtins: [fly]\n', 17, "unknown value 'fly'"),
])
def test_mistake_is_named_with_file_and_line(write, text, line, fragment):
    file = write(text)
    with pytest.raises(ConfigError) as caught:
        load_catalogue(file, InterfaceSource([]))
    message = str(caught.value)
    assert message.startswith(f'{file}:{line}: '), message
    assert fragment in message
    assert '\n' not in message


def test_file_that_is_no_text_is_refused(tmp_path):
    with pytest.raises(ConfigError, match='cannot be read'):
        load_catalogue(tmp_path / 'absent.yaml')
    with pytest.raises(ConfigError, match='cannot be read'):
        load_catalogue(tmp_path)
    file = tmp_path / 'tools.yaml'
    file.write_bytes(b'version: 1\n\xff')
    with pytest.raises(ConfigError, match=r':2: not UTF-8'):
        load_catalogue(file)
    file.write_bytes(b'#' * (2 << 20))
    with pytest.raises(ConfigError, match='bytes; at most'):
        load_catalogue(file)
    file.write_text('version: 1\ntools: ' + '[' * 1500)
    with pytest.raises(ConfigError, match='nested too deeply'):
        load_catalogue(file)


@pytest.mark.parametrize('is_choices', [False, True])
def test_a_pipe_or_device_is_refused_before_it_is_read(write, tmp_path, is_choices):
    os.mkfifo(tmp_path / 'pipe')
    for endless in ('/dev/zero', str(tmp_path / 'pipe')):
        file = Path(endless)
        if is_choices:
            file = write(GOOD.replace('choices: [lab, dock]', f'choices_file: {endless}'))
        with pytest.raises(ConfigError, match='no regular file'):
            load_catalogue(file, InterfaceSource([]))


def test_aliases_cannot_blow_up_a_small_file(write):
    lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    lines += [f'a{idx}: &a{idx} [{", ".join([f"*a{idx - 1}"] * 9)}]' for idx in range(1, 9)]
    with pytest.raises(ConfigError, match='write it without aliases'):
        load_catalogue(write('\n'.join(lines)))


def test_choices_may_live_in_a_file_beside_it(write, tmp_path):
    places = 'lab: {x: 1.5, frame: "{frame_prefix}map"}\ndock: {x: 0}\n'
    (tmp_path / 'places.yaml').write_text(places)
    text = _changed('{type: string, choices: [lab, dock]}', '{choices_file: places.yaml}')
    go = load_catalogue(write(text), InterfaceSource([])).by_name['go']
    assert go.declaration.parameters['properties']['place']['enum'] == ['lab', 'dock']
    assert to_message(go, {'place': 'lab'}, frame_prefix='r1/') == {
        'place': {'x': 1.5, 'frame': 'r1/map'}}


def test_what_only_validation_holds_is_named(write):
    text = _changed('choices: [lab, dock]', 'max_length: 9') + 'builtins: []\n'
    assert load_catalogue(write(text)).checked_after == ('go.place: maxLength',)


def test_demo_catalogue_is_what_the_simulated_robots_offer():
    catalogue = load_catalogue(CONFIG / 'tools.yaml')
    assert [tool.name for tool in catalogue.tools] == [
        'go_to', 'drive_to', 'pick', 'place', 'dock', 'say', 'no_action', 'stop', 'ask_operator']
    tools = catalogue.by_name
    assert {tool.interface_name for tool in catalogue.tools} == {
        'navigate_to', 'pick', 'place', 'dock', 'say', ''}
    assert all(tool.mode == Mode.AUTO for tool in catalogue.tools)
    assert {requirement.input for requirement in tools['go_to'].requires} == {'odom', 'battery'}
    assert tools['drive_to'].inside.polygon[2] == (10.0, 10.0)
    for name, arguments, is_valid in (
        ('go_to', {'place': 'kitchen'}, True), ('go_to', {'place': 'moon'}, False),
        ('go_to', {}, False), ('drive_to', {'x': -10, 'y': 9.99}, True),
        ('drive_to', {'x': 10.01, 'y': 0}, False), ('drive_to', {'x': 1.005, 'y': 0}, False),
        ('drive_to', {'x': 0, 'y': 0, 'heading': -90, 'speed': 0.5}, True),
        ('drive_to', {'x': 0, 'y': 0, 'speed': 0.05}, False), ('pick', {'object': 'cup'}, True),
        ('pick', {'object': ''}, False), ('place', {'target': 'table'}, True), ('dock', {}, True),
        ('dock', {'now': True}, False), ('say', {'text': 'Hello.'}, True), ('stop', {}, True),
        ('no_action', {'reason': 'idle'}, True), ('no_action', {}, False),
        ('ask_operator', {'question': 'Which cup?'}, True),
    ):
        assert (validate_call(tools[name].declaration, arguments) == []) == is_valid, name


def test_demo_goal_has_every_unit_converted():
    drive_to = load_catalogue(CONFIG / 'tools.yaml').by_name['drive_to']
    goal = to_message(drive_to, {'x': 1, 'y': -2.5, 'heading': 180, 'speed': 0.3})
    assert goal == {'place': '', 'x': 1.0, 'y': -2.5, 'yaw': pytest.approx(3.14159265359),
                    'speed': 0.3}
    assert to_message(drive_to, {'x': 0, 'y': 0}) == {'place': '', 'x': 0.0, 'y': 0.0, 'yaw': 0.0}


def test_demo_catalogue_is_the_same_without_installed_interfaces(monkeypatch):
    installed = load_catalogue(CONFIG / 'tools.yaml')
    monkeypatch.setattr(InterfaceSource, 'sections', lambda *_: None)
    bare = load_catalogue(CONFIG / 'tools.yaml')
    assert bare.digest == installed.digest
    assert bare.declarations() == installed.declarations()
    arguments = {'x': 1, 'y': 2, 'heading': 45}
    assert to_message(bare.by_name['drive_to'], arguments) == to_message(
        installed.by_name['drive_to'], arguments)


def test_nav2_example_loads_without_nav2_and_fills_the_goal():
    catalogue = load_catalogue(CONFIG / 'tools_nav2.yaml', InterfaceSource([]))
    tools = catalogue.by_name
    goal = to_message(tools['drive_to'], {'x': 1, 'y': 2, 'heading': 90}, frame_prefix='r1/')
    assert goal['pose']['header'] == {'frame_id': 'r1/map', 'stamp': {'__now__': True}}
    assert goal['pose']['pose']['orientation'] == pytest.approx(
        {'x': 0.0, 'y': 0.0, 'z': 0.70710678, 'w': 0.70710678})
    kitchen = to_message(tools['go_to'], {'place': 'kitchen'})
    assert kitchen['pose']['header'] == {'frame_id': 'map', 'stamp': {'__now__': True}}
    assert to_message(tools['back_up'], {'distance': 0.5})['target'] == {'x': -0.5}
    assert all(tool.mode == Mode.APPROVE for tool in catalogue.tools if not tool.is_builtin)
