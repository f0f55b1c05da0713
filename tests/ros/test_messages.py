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

"""Goals are filled strictly, messages read whole, and the enums equal the interfaces."""

import math

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
import numpy as np
import pytest
from sensor_msgs.msg import Image
from sensor_msgs.msg import JointState
from sensor_msgs.msg import LaserScan
from test_msgs.msg import Arrays
from test_msgs.msg import BasicTypes
from test_msgs.msg import BoundedSequences

from gemma_node import core
from gemma_node.action import Decide
from gemma_node.action import NavigateTo
from gemma_node.errors import ConfigError
from gemma_node.errors import RequestError
from gemma_node.msg import Decision
from gemma_node.msg import DecisionRequest
from gemma_node.msg import ErrorCode
from gemma_node.msg import InputRef
from gemma_node.msg import ToolCall
from gemma_node.policy.gate import VerdictKind
from gemma_node.ros.conversions import as_json
from gemma_node.ros.conversions import time_message
from gemma_node.ros.conversions import time_ns
from gemma_node.ros.conversions import tool_call
from gemma_node.ros.conversions import uuid_hex
from gemma_node.ros.conversions import uuid_message
from gemma_node.ros.messages import fill
from gemma_node.ros.messages import interface_class
from gemma_node.ros.messages import to_plain


@pytest.mark.parametrize(('enum', 'message', 'prefix'), [
    (core.ErrorCode, ErrorCode, ''), (core.Trigger, Decision, 'TRIGGER_'),
    (core.Outcome, Decision, 'OUTCOME_'), (core.Mode, Decision, 'MODE_'),
    (core.CacheSource, Decision, 'CACHE_'), (core.ToolChoice, DecisionRequest, 'TOOL_CHOICE_'),
    (core.Priority, DecisionRequest, 'PRIORITY_'), (core.CallKind, ToolCall, 'KIND_'),
    (core.InputState, InputRef, 'STATE_'), (core.AgeSource, InputRef, 'AGE_FROM_'),
    (core.Stage, Decide.Feedback, 'STAGE_'), (VerdictKind, ToolCall, 'VERDICT_')])
def test_enums_equal_the_constants_of_the_interfaces(enum, message, prefix):
    for member in enum:
        assert getattr(message, prefix + member.name) == member.value
    names = {name for name in dir(type(message)) if name.isupper() and name.startswith(prefix)}
    assert len(names) == len(enum) or not prefix


def test_goal_is_filled_through_nested_fields_and_now():
    pose = fill(PoseStamped(), {
        'header': {'frame_id': 'map', 'stamp': {'__now__': True}},
        'pose': {'position': {'x': 1, 'y': 2.5}}}, now=Time(sec=7))
    assert (pose.header.stamp.sec, pose.pose.position.x, pose.pose.position.y) == (7, 1.0, 2.5)


@pytest.mark.parametrize(('message', 'values', 'words'), [
    (NavigateTo.Goal(), {'plaze': 'x'}, 'no such field'),
    (NavigateTo.Goal(), {'place': 3}, 'string'),
    (NavigateTo.Goal(), {'x': 'three'}, 'number'),
    (NavigateTo.Goal(), {'x': True}, 'number'),
    (NavigateTo.Goal(), {'x': math.nan}, 'finite'),
    (NavigateTo.Goal(), {'x': math.inf}, 'finite'),
    (NavigateTo.Goal(), {'x': 1e39}, 'finite float'),
    (BasicTypes(), {'bool_value': 1}, 'true or false'),
    (BasicTypes(), {'uint8_value': 256}, 'from 0 to 255'),
    (BasicTypes(), {'int8_value': -129}, 'from -128 to 127'),
    (BasicTypes(), {'int64_value': 1 << 63}, 'integer'),
    (BasicTypes(), {'uint32_value': 1.5}, 'integer'),
    (Arrays(), {'int32_values': [1, 2]}, '3 items'),
    (Arrays(), {'int32_values': 'abc'}, 'list'),
    (BoundedSequences(), {'int32_values': [0] * 9}, 'at most 3'),
    (PoseStamped(), {'pose': 3}, 'mapping'),
    (PoseStamped(), {'pose': {'position': {'w': 1}}}, 'pose.position.w'),
])
def test_what_does_not_fit_is_refused_with_the_field(message, values, words):
    with pytest.raises(RequestError) as caught:
        fill(message, values)
    assert words in str(caught.value)
    assert caught.value.code == core.ErrorCode.SCHEMA_VIOLATION


def test_numbers_at_their_bounds_fit():
    message = fill(BasicTypes(), {'uint64_value': (1 << 64) - 1, 'int16_value': -32768,
                                  'float64_value': 1e300, 'byte_value': 7, 'char_value': 255})
    assert (message.uint64_value, message.int16_value, message.byte_value) == (
        (1 << 64) - 1, -32768, b'\x07')


def test_unknown_types_say_what_to_install():
    for name in ('nav_msgs/msg/Nothing', 'no_such_msgs/msg/A', 'nav_msgs/Odometry'):
        with pytest.raises(ConfigError, match=name.replace('/', '.')):
            interface_class(name)


def test_messages_become_plain_values_with_bounded_arrays():
    scan = to_plain(LaserScan(ranges=[1.0, math.inf]))
    assert scan['ranges'] == [1.0, math.inf]
    assert scan['header']['stamp'] == {'sec': 0, 'nanosec': 0}
    long = to_plain(LaserScan(ranges=[0.0] * 5000))['ranges']
    assert (long['__array__'], len(long['head'])) == (5000, 4096)
    assert to_plain(Image(data=bytes(12)))['data'] == {'__bytes__': 12}
    assert to_plain(JointState(name=['a'], position=[0.5]))['name'] == ['a']
    assert to_plain(uuid_message('0' * 31 + '1'))['uuid'] == {'__bytes__': 16}
    assert to_plain(Arrays())['bool_values'] == [False] * 3
    assert to_plain(np.zeros(3)) == [0.0, 0.0, 0.0]


def test_json_has_no_nan_and_times_and_ids_round_trip():
    assert as_json({'a': math.nan, 'b': [math.inf, 1.0]}) == '{"a": null, "b": [null, 1.0]}'
    assert time_ns(time_message(1_700_000_000_123_456_789)) == 1_700_000_000_123_456_789
    assert uuid_hex(uuid_message('ab' * 16)) == 'ab' * 16
    assert uuid_hex(uuid_message('')) == ''


def test_arguments_are_flat_and_plottable():
    from gemma_node.policy.gate import Verdict
    from gemma_node.ros_env import share_folder
    from gemma_node.tools.catalogue import load_catalogue
    specs = load_catalogue(share_folder() / 'config' / 'tools.yaml').by_name
    verdict = Verdict(kind=VerdictKind.SENT, mode=core.Mode.AUTO)

    def flat(name, **arguments):
        message = tool_call(core.Call(id='0' * 32, name=name, arguments=arguments), specs[name],
                            verdict, interface_name='/r1/x', goal={})
        return [(item.name, item.unit, item.value, item.text) for item in message.arguments]

    assert flat('drive_to', x=1.5, y=-2) == [('x', 'm', 1.5, '1.5'), ('y', 'm', -2.0, '-2')]
    assert flat('go_to', place='kitchen') == [('place', '', 1.0, 'kitchen')]
    (_, _, value, text), = flat('say', text='hi')
    assert math.isnan(value)
    assert text == 'hi'
