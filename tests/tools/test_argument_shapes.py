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

"""Arguments whose fields are messages, lists, times or named constants; the design's example."""

import math
from pathlib import Path

import pytest

from gemma_node.core import ErrorCode
from gemma_node.core import ToolChoice
from gemma_node.errors import ConfigError
from gemma_node.errors import GrammarError
from gemma_node.errors import RequestError
from gemma_node.tools.catalogue import load_catalogue
from gemma_node.tools.interface_schema import InterfaceSource
from gemma_node.tools.overlay import is_success
from gemma_node.tools.overlay import quaternion_to_yaw
from gemma_node.tools.overlay import to_message
from gemma_node.tools.overlay import yaw_to_quaternion
from gemma_node.tools.validate import validate_call

pytest.importorskip('rosidl_adapter', reason='rosidl_adapter is not installed')

TEXTS = {
    'arm_msgs/action/Move.action': """\
uint8 MODE_JOINT=0
uint8 MODE_LINE=1
uint8 mode 1                       # How the arm moves.
arm_msgs/Target target             # Where to.
arm_msgs/Target[<=3] via
builtin_interfaces/Duration patience
builtin_interfaces/Time start
float64[] gains
uint8[] program
int32 ticks
---
---
""",
    'arm_msgs/msg/Target.msg': """\
float64 x                          # [m]
float64 y                          # [m]
float64 z 0.5                      # [m]
geometry_msgs/Quaternion turn
string<=8 frame "base"
""",
    'geometry_msgs/msg/Quaternion.msg': 'float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n',
    'nav2_msgs/action/NavigateToPose.action': """\
#goal definition
geometry_msgs/PoseStamped pose
string behavior_tree
---
#result definition
uint16 NONE=0
uint16 UNKNOWN=9000
uint16 error_code
string error_msg
---
#feedback definition
geometry_msgs/PoseStamped current_pose
builtin_interfaces/Duration navigation_time
int16 number_of_recoveries
float32 distance_remaining
""",
    'nav2_msgs/action/Spin.action': 'float32 target_yaw\n'
    'builtin_interfaces/Duration time_allowance\n---\n---\n',
    'nav2_msgs/action/BackUp.action': 'geometry_msgs/Point target\nfloat32 speed\n'
    'builtin_interfaces/Duration time_allowance\n---\n---\n',
    'nav2_msgs/action/Wait.action': 'builtin_interfaces/Duration time\n---\n---\n',
    'builtin_interfaces/msg/Duration.msg': 'int32 sec\nuint32 nanosec\n',
    'control_msgs/action/ParallelGripperCommand.action': """\
sensor_msgs/JointState command
---
sensor_msgs/JointState state # The current gripper state.
bool stalled      # True if the gripper is exerting max effort and not moving
bool reached_goal # True if the gripper position has reached the commanded setpoint
---
sensor_msgs/JointState state # The current gripper state.
""",
    'std_srvs/srv/Trigger.srv': '---\nbool success\nstring message\n',
    'std_msgs/msg/Header.msg': 'builtin_interfaces/Time stamp\nstring frame_id\n',
    'geometry_msgs/msg/PoseStamped.msg': 'std_msgs/Header header\nPose pose\n',
    'geometry_msgs/msg/Pose.msg': 'Point position\nQuaternion orientation\n',
    'geometry_msgs/msg/Point.msg': 'float64 x\nfloat64 y\nfloat64 z\n',
    'sensor_msgs/msg/JointState.msg': 'std_msgs/Header header\nstring[] name\n'
    'float64[] position\nfloat64[] velocity\nfloat64[] effort\n',
    'geometry_msgs/msg/TwistStamped.msg': 'std_msgs/Header header\nTwist twist\n',
    'geometry_msgs/msg/Twist.msg': 'Vector3 linear\nVector3 angular\n',
    'geometry_msgs/msg/Vector3.msg': 'float64 x\nfloat64 y\nfloat64 z\n',
}
EXAMPLE = Path(__file__).parents[2] / 'config' / 'tools_example.yaml'
PLACES = """\
kitchen:
  header: {frame_id: '{frame_prefix}map', stamp: now}
  pose: {position: {x: 4, y: 1.5}, orientation: {z: 1.0, w: 0.0}}
"""


@pytest.fixture
def interfaces(tmp_path) -> InterfaceSource:
    for name, text in TEXTS.items():
        file = tmp_path / 'share' / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return InterfaceSource([tmp_path / 'share'])


@pytest.fixture
def load(tmp_path, interfaces):
    """Return a function from argument entries of the arm's goal to its ToolSpec."""
    def from_entries(*entries: str):
        lines = ''.join(f'      {entry}\n' for entry in entries)
        file = tmp_path / 'tools.yaml'
        file.write_text(
            'version: 1\ntools:\n  move:\n    action: arm_msgs/action/Move\n    name: move\n'
            f'    description: Move.\n    arguments:\n{lines}')
        return load_catalogue(file, interfaces).by_name['move']
    return from_entries


def _properties(spec):
    return spec.declaration.parameters['properties']


def test_constants_are_chosen_by_name(load):
    move = load('mode: {}')
    assert _properties(move) == {'mode': {
        'type': 'string', 'enum': ['MODE_JOINT', 'MODE_LINE'],
        'description': 'How the arm moves.'}}
    assert to_message(move, {'mode': 'MODE_LINE'}) == {'mode': 1}
    assert to_message(load('mode: {choices: [MODE_LINE]}'), {'mode': 'MODE_LINE'}) == {'mode': 1}
    assert to_message(load('mode: {const: MODE_LINE}'), {}) == {'mode': 1}
    assert to_message(load('mode: {default: MODE_LINE}'), {}) == {'mode': 1}
    assert to_message(load('mode: {choices: {slow: MODE_JOINT}}'), {'mode': 'slow'}) == {'mode': 0}
    assert _properties(load('mode: {minimum: 0, maximum: 1}'))['mode']['type'] == 'integer'


def test_times_are_seconds(load):
    move = load('patience: {minimum: 1, maximum: 60}', 'start: {const: now}')
    assert _properties(move) == {'patience': {
        'type': 'number', 'minimum': 1, 'maximum': 60, 'description': '(s, 1 to 60)'}}
    assert to_message(move, {'patience': 2.5}) == {
        'patience': {'sec': 2, 'nanosec': 500_000_000}, 'start': {'__now__': True}}
    in_ms = load('patience: {unit: ms, gain: 0.001, maximum: 500}')
    assert to_message(in_ms, {'patience': 250}) == {
        'patience': {'sec': 0, 'nanosec': 250_000_000}}
    for const in ('15', '{sec: 15}'):
        assert to_message(load(f'patience: {{const: {const}}}'), {})['patience']['sec'] == 15


def test_message_is_an_object_without_what_other_entries_decide(load):
    move = load('target: {}', "target.frame: {const: '{frame_prefix}a'}", 'target.z: {hide: true}',
                'target.turn: {alias: heading, as: yaw, unit: deg, optional: true}')
    target = _properties(move)['target']
    assert target == {
        'type': 'object', 'additionalProperties': False, 'required': ['x', 'y'],
        'description': 'Where to.', 'properties': {
            'x': {'type': 'number', 'description': '(m)'},
            'y': {'type': 'number', 'description': '(m)'}}}
    made = to_message(move, {'target': {'x': 1, 'y': 2.0}, 'heading': 180}, frame_prefix='r/')
    assert made['target']['frame'] == 'r/a'
    assert made['target']['turn'] == pytest.approx({'x': 0, 'y': 0, 'z': 1, 'w': 0}, abs=1e-9)
    assert type(made['target']['x']) is float and 'z' not in made['target']
    with pytest.raises(RequestError, match="target: no field 'z'"):
        to_message(move, {'target': {'x': 1, 'y': 2, 'z': 9}})


def test_lists_of_messages_and_numbers_are_checked_item_by_item(load):
    move = load('via: {}', 'gains: {max_items: 2}')
    schema = _properties(move)
    assert schema['via']['maxItems'] == 3
    assert schema['via']['items']['required'] == ['x', 'y', 'turn']
    point = {'x': 1, 'y': 2, 'turn': {'z': 1.0, 'w': 0.0}, 'frame': 'map'}
    assert to_message(move, {'via': [point], 'gains': [1, 0.5]}) == {
        'via': [point], 'gains': [1.0, 0.5]}
    for arguments, fragment in (
            ({'via': [{**point, 'frame': 'too long a name'}]}, r'via\[0\].frame: 15 characters'),
            ({'gains': [1.0, math.nan]}, r'gains\[1\]: expected a finite'),
            ({'via': [point] * 4}, 'at most 3'), ({'via': [{'x': 1}]}, 'y: the field is missing')):
        with pytest.raises(RequestError, match=fragment) as caught:
            to_message(move, arguments)
        assert caught.value.code == ErrorCode.LIMIT_EXCEEDED


@pytest.mark.parametrize(('entry', 'fragment'), [
    ('mode: {const: MODE_JUMP}', "mode: 'MODE_JUMP' is none of MODE_JOINT, MODE_LINE"),
    ('mode: {choices: [MODE_LINE, MODE_JUMP]}', "'MODE_JUMP' does not fit the field"),
    ('mode: {type: boolean}', 'mode is uint8, which takes string, not boolean'),
    ('mode: {const: 256}', 'outside 0..255'), ('ticks: {const: 3.9}', 'whole number'),
    ('ticks: {gain: 1000, minimum: 0, maximum: 3e6}', '3000000.0 does not fit the field'),
    ('ticks: {gain: 0.1, minimum: 5}', 'does not fit the field: ticks: expected a whole'),
    ('patience: {maximum: 1e10}', 'does not fit the field'),
    ('patience: {const: now}', 'seconds are needed'), ('patience: {type: string}', 'takes number'),
    ('target: {type: string}', 'target is arm_msgs/Target, which takes object, not string'),
    ('target: {choices: [a, b]}', 'needs choices that map a name to its fields'),
    ('target: {choices: {a: {x: 1, q: 2}}}', "'a' does not fit the field: target: no field 'q'"),
    ('target: {choices: {a: {x: one}}}', 'target.x: expected a number'),
    ('target: {minimum: 1}', 'minimum does not fit the type object'),
    ('target: {const: {frame: longer than 8}}', 'target.frame: 13 characters; at most 8'),
    ('target: {alias: t, as: yaw}', 'yaw needs a geometry_msgs/Quaternion, target is arm_msgs'),
    ('target.q: {const: 1}', "no field 'q'; choices are: x, y, z, turn, frame"),
    ('program: {}', r'uint8\[\] is data that no call holds'),
    ('program: {const: [1, 256]}', r'program\[1\]: 256 is outside'),
    ('via: {const: [{}, {}, {}, {}]}', 'at most 3 items'),
    ('target.turn: {alias: t, as: yaw, default: 400, maximum: 180}', '400 is greater'),
    ('target.x: {alias: x, default: keep}', "'keep' is str, not number"),
])
def test_entry_that_contradicts_its_field_is_refused_with_its_line(load, entry, fragment):
    with pytest.raises(ConfigError, match=fragment) as caught:
        load(entry)
    assert ':8: ' in str(caught.value)


def test_constant_bytes_are_sent_and_never_shown(load):
    assert to_message(load('program: {const: [1, 255]}'), {}) == {'program': b'\x01\xff'}
    move = load('program: {alias: move, choices: {wave: [1, 2], rest: []}}')
    assert to_message(move, {'move': 'wave'}) == {'program': b'\x01\x02'}
    assert _properties(move)['move'] == {'type': 'string', 'enum': ['wave', 'rest']}


def test_array_that_no_call_could_hold_is_refused_by_name(demo_kit, declare):
    schema = {'type': 'array', 'items': {'type': 'number'}, 'minItems': 5000, 'maxItems': 5000}
    with pytest.raises(GrammarError, match=r'tool\.a: an array of 5000 items is no argument'):
        demo_kit.factory().compile([declare(a=schema)])


@pytest.mark.parametrize('yaw', [-3.1, -1.5, 0.0, 0.25, 3.14159])
def test_yaw_comes_back_from_its_quaternion(yaw):
    assert quaternion_to_yaw(yaw_to_quaternion(yaw)) == pytest.approx(yaw)


@pytest.fixture
def example(tmp_path, interfaces):
    (tmp_path / 'tools.yaml').write_text(EXAMPLE.read_text())
    (tmp_path / 'places.yaml').write_text(PLACES)
    return load_catalogue(tmp_path / 'tools.yaml', interfaces)


def test_every_argument_form_of_the_example_fills_its_goal(example):
    tools = example.by_name
    assert to_message(tools['go_to'], {'place': 'kitchen'}, frame_prefix='r1/') == {'pose': {
        'header': {'frame_id': 'r1/map', 'stamp': {'__now__': True}},
        'pose': {'position': {'x': 4.0, 'y': 1.5}, 'orientation': {'z': 1.0, 'w': 0.0}}}}
    goal = to_message(tools['drive_to'], {'x': 1, 'y': 2, 'heading': 90}, frame_prefix='r1/')
    assert goal['pose']['pose']['position'] == {'x': 1.0, 'y': 2.0, 'z': 0.0}
    assert quaternion_to_yaw(goal['pose']['pose']['orientation']) == pytest.approx(math.pi / 2)
    assert to_message(tools['gripper'], {'opening': 40}) == {'command': {
        'name': ['finger_joint'], 'position': [0.04], 'effort': [15.0]}}
    assert to_message(tools['clear_costmap'], {}) == {}
    assert to_message(tools['nudge'], {'speed': 0.1, 'turn': -20})['twist'] == {
        'linear': {'x': 0.1}, 'angular': {'z': pytest.approx(-0.34906585)}}
    assert tools['go_to'].result.success[0].equals == 0


def test_heading_to_keep_is_what_it_is_now_or_the_call_is_refused(example):
    drive_to = example.by_name['drive_to']
    assert drive_to.declaration.parameters['required'] == ['x', 'y']
    assert validate_call(drive_to.declaration, {'x': 1, 'y': 2}) == []
    now = yaw_to_quaternion(1.0)
    goal = to_message(drive_to, {'x': 1, 'y': 2}, kept={'heading': now})
    assert goal['pose']['pose']['orientation'] == now
    with pytest.raises(RequestError, match='heading: nothing says what it is now') as caught:
        to_message(drive_to, {'x': 1, 'y': 2})
    assert caught.value.code == ErrorCode.MISSING_INPUT


def test_nav2_file_says_the_same_where_nav2_is_installed(interfaces):
    file = Path(__file__).parents[2] / 'config/tools_nav2.yaml'
    bare, installed = load_catalogue(file, InterfaceSource()), load_catalogue(file, interfaces)
    assert installed.declarations() == bare.declarations()
    assert installed.digest == bare.digest
    back_up = installed.by_name['back_up']
    assert to_message(back_up, {'distance': 0.5}) == to_message(
        bare.by_name['back_up'], {'distance': 0.5})


def test_example_of_the_package_compiles_and_its_stream_is_a_goal(interfaces, demo_kit):
    example = load_catalogue(EXAMPLE, interfaces)
    source = demo_kit.factory().compile(example.declarations(), ToolChoice.REQUIRED, 4)
    assert source.checked_after == example.checked_after
    assert example.warnings == ()
    nudge = example.by_name['nudge']
    assert nudge.stream.rate_hz == 20.0
    assert nudge.stream.slews == ((('twist', 'linear', 'x'), 0.3),)
    assert _properties(nudge)['seconds'] == {
        'type': 'number', 'minimum': 0.2, 'maximum': 2.0,
        'description': 'For how long (s, 0.2 to 2)'}


def test_result_field_that_a_version_lacks_is_named_and_not_judged(interfaces):
    catalogue = load_catalogue(EXAMPLE.with_name('tools_nav2.yaml'), interfaces)
    assert len(catalogue.warnings) == 6
    assert catalogue.warnings[0] == (
        "spin: the result of nav2_msgs/action/Spin has no field 'error_code' here; what the file "
        'says of it is skipped')
    spin = catalogue.by_name['spin']
    assert is_success(spin, {})
    assert is_success(spin, {'error_code': 0})
    assert not is_success(spin, {'error_code': 1})
