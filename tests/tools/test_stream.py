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

"""Streams rise and fall within their limits and end in zeros; kept values are never guessed."""

import math

from hypothesis import given
from hypothesis import strategies as st
import pytest

from gemma_node.core import InputState
from gemma_node.core import Observation
from gemma_node.errors import ConfigError
from gemma_node.tools.catalogue import load_catalogue
from gemma_node.tools.interface_schema import InterfaceSource
from gemma_node.tools.keep import kept_values
from gemma_node.tools.overlay import yaw_to_quaternion
from gemma_node.tools.spec import StreamRule
from gemma_node.tools.stream import duration_of
from gemma_node.tools.stream import longest
from gemma_node.tools.stream import value_at_time
from gemma_node.tools.stream import zero

TOOLS = """\
version: 1
tools:
  creep:
    topic: some_msgs/msg/Twist
    name: cmd_vel_llm
    description: Creep.
    arguments:
      linear.x: {alias: speed, type: number, minimum: -0.2, maximum: 0.2}
      angular.z: {alias: turn, type: number, minimum: -1, maximum: 1, default: 0}
      frame: {const: base}
    stream: {rate: 20.0, duration: {alias: seconds, minimum: 0.2, maximum: 2.0}, then: zero}
    limits: {linear.x: {slew: 0.4}}
"""
DRIVE = """\
version: 1
tools:
  drive:
    action: some_msgs/action/Drive
    name: drive
    description: Drive.
    arguments:
      pose.pose.orientation: {alias: heading, as: yaw, unit: deg, default: keep}
      pose.header.frame_id: {const: '{frame_prefix}map'}
"""


@pytest.fixture
def load(tmp_path):
    def from_text(text):
        (tmp_path / 'tools.yaml').write_text(text)
        return load_catalogue(tmp_path / 'tools.yaml', InterfaceSource([]))
    return from_text


def test_stream_is_read_with_its_duration_as_an_argument(load):
    creep = load(TOOLS).by_name['creep']
    assert [rule.name for rule in creep.shown] == ['speed', 'turn', 'seconds']
    assert creep.declaration.parameters['required'] == ['speed', 'seconds']
    assert creep.stream.slews == ((('linear', 'x'), 0.4),)
    assert (duration_of(creep.stream, {'seconds': 1.5}), longest(creep.stream)) == (1.5, 2.0)
    assert load(TOOLS).digest != load(TOOLS.replace('0.4}', '0.5}')).digest


def test_fixed_duration_and_default_duration(load):
    text = TOOLS.replace('{alias: seconds, minimum: 0.2, maximum: 2.0}', '1.25')
    creep = load(text).by_name['creep']
    assert 'seconds' not in creep.declaration.parameters['properties']
    assert duration_of(creep.stream, {}) == longest(creep.stream) == 1.25
    text = TOOLS.replace('maximum: 2.0}', 'maximum: 2.0, default: 0.5}')
    creep = load(text).by_name['creep']
    assert creep.declaration.parameters['required'] == ['speed']
    assert duration_of(creep.stream, {}) == 0.5


@pytest.mark.parametrize(('old', 'new', 'line', 'fragment'), [
    ('then: zero', 'then: hold', 11, "unknown value 'hold'"), (', then: zero', '', 11, 'key then'),
    ('rate: 20.0', 'rate: 1000', 11, 'at most 100'), ('rate: 20.0', 'rate: 0', 11, 'at least 1'),
    ('maximum: 2.0}', 'maximum: 200}', 11, 'at most 60'),
    ('maximum: 2.0}', 'maximum: 0.1}', 11, 'is above maximum'),
    ('minimum: 0.2, maximum: 2.0}', 'maximum: 2.0}', 11, 'the key minimum is missing'),
    ('alias: seconds', 'alias: speed', 11, "'speed' is used twice"),
    ('maximum: 2.0}', 'maximum: 2.0, default: 3}', 11, 'must be from 0.2 to 2.0'),
    ('linear.x: {slew', 'angular.y: {slew', 12, 'choices are: linear.x, angular.z'),
    ('linear.x: {slew', 'frame: {slew', 12, 'names no number'),
    ('{slew: 0.4}', '{slew: 0}', 12, 'must be above 0'), ('{slew: 0.4}', '{}', 12, 'key slew'),
    ('    name: cmd_vel_llm', '    timeout: 2.0\n    name: cmd_vel_llm', 12,
     'lasts up to 2 s, but the timeout is 2 s'),
    ('frame: {const: base}', 'pose: {alias: way, choices: {a: {x: 1}}}', 11,
     'gives more than a number'),
    ('limits: {linear.x: {slew: 0.4}}', 'limits: {linear.x: {slew: 1}, x: {slew: 1}}', 12,
     'limited twice'),
    ('    stream: {rate: 20.0, duration: {alias: seconds, minimum: 0.2, maximum: 2.0}, '
     'then: zero}\n', '', 11, 'limits need a stream'),
])
def test_wrong_stream_is_named_with_its_line(load, old, new, line, fragment):
    assert old in TOOLS
    with pytest.raises(ConfigError, match=fragment) as caught:
        load(TOOLS.replace(old, new))
    assert f':{line}: ' in str(caught.value)


@given(st.floats(-2, 2), st.floats(0.05, 5), st.floats(0.2, 3), st.integers(10, 100))
def test_limited_speed_never_changes_faster_than_its_slew(speed, slew, duration_s, rate_hz):
    rule = StreamRule(rate_hz=rate_hz, duration_s=duration_s, slews=((('v', 'x'), slew),))
    target = {'v': {'x': speed, 'y': 0.7}, 'stamp': {'__now__': True}}
    before = 0.0
    for tick in range(int(duration_s * rate_hz) + 2):
        elapsed_s = min(tick / rate_hz, duration_s)
        value = value_at_time(rule, target, elapsed_s, duration_s)
        assert abs(value['v']['x'] - before) <= slew / rate_hz + 1e-9
        assert abs(value['v']['x']) <= abs(speed)
        assert value['v']['y'] == 0.7 and value['stamp'] == {'__now__': True}
        before = value['v']['x']
    assert before == 0.0


def test_zero_stops_numbers_and_flags_and_keeps_texts_and_times():
    assert zero({'header': {'stamp': {'__now__': True}, 'frame_id': 'base'}, 'on': True,
                 'speeds': [1.5, -2], 'count': 3}) == {
        'header': {'stamp': {'__now__': True}, 'frame_id': 'base'}, 'on': False,
        'speeds': [0.0, 0], 'count': 0}


def _input(frame, yaw=1.0, state=InputState.FRESH, **fields):
    return Observation(
        name='pose', topic='/p', type='t', age_s=0.1, state=state,
        value={'header': {'frame_id': frame}, 'pose': {
            'pose': {'orientation': {**yaw_to_quaternion(yaw), **fields}}}})


def test_heading_is_kept_from_a_fresh_input_in_the_frame_of_the_goal(load):
    drive = load(DRIVE).by_name['drive']
    odom, amcl = _input('r1/odom', 0.5), _input('r1/map', 1.0)
    found = kept_values(drive, [odom, amcl], frame_prefix='r1/')
    assert found == {'heading': yaw_to_quaternion(1.0)}


@pytest.mark.parametrize('observation', [
    _input('r1/odom'), _input('map'), _input('r1/map', state=InputState.STALE),
    _input('r1/map', x=math.nan), _input('r1/map', w=0.0, z=0.0),
    Observation(name='p', topic='/p', type='t', value=None),
    Observation(name='p', topic='/p', type='t', value={'pose': {'pose': {'orientation': 3}}}),
])
def test_what_is_not_known_for_sure_is_not_kept(load, observation):
    drive = load(DRIVE).by_name['drive']
    assert kept_values(drive, [observation], frame_prefix='r1/') == {}


def test_goal_without_a_constant_frame_takes_any_fresh_input(load):
    text = DRIVE.replace("      pose.header.frame_id: {const: '{frame_prefix}map'}\n", '')
    assert kept_values(load(text).by_name['drive'], [_input('odom')]) == {
        'heading': yaw_to_quaternion(1.0)}
