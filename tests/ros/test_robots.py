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

"""Several robots in one node: each has its own topics, lock, inputs, triggers and tools."""

from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
import pytest
from ros_harness import calls
from ros_harness import reply
from ros_harness import ROBOT
from std_msgs.msg import Bool
from std_msgs.msg import String

from gemma_node.core import ErrorCode
from gemma_node.core import Trigger
from gemma_node.msg import Decision
from gemma_node.msg import ToolCall
from gemma_node.msg import ToolCatalogue
from gemma_node.ros.names import DECISIONS
from gemma_node.ros.names import in_namespace
from gemma_node.ros.names import LATCHED
from gemma_node.ros.names import LOCK
from gemma_node.ros.names import REQUESTS

TWO = {'r1': ROBOT, 'r2': {**ROBOT, 'namespace': 'fleet/second', 'tools': ['dock', 'say']}}


@pytest.fixture
def two(make_world):
    return make_world(robots=TWO)


def watch_odom(trigger, **fields):
    return {'observations': {'odom': {'type': 'nav_msgs/msg/Odometry'},
                             'battery': {'type': 'sensor_msgs/msg/BatteryState'}},
            'trigger': {'t': {'kind': trigger, 'input': 'odom', 'text': 'what now',
                              'field': 'pose.pose.position.x', 'min_interval': 0.0, **fields}}}


def put_odom(world, x):
    inputs = world.node.runtime._robots['r1'].inputs._inputs
    count = inputs['odom'].count
    world.spin(lambda: world.odom_publisher.get_subscription_count())
    message = Odometry()
    message.pose.pose.position.x = x
    world.odom_publisher.publish(message)
    world.spin(lambda: inputs['odom'].count > count)
    world.spin_for(0.15)


def test_a_robot_must_be_named_where_there_are_two(two):
    decision = two.decide(robot='')
    assert decision.error_code == ErrorCode.UNKNOWN_ROBOT
    assert 'r1, r2' in decision.error_msg
    assert two.decide(robot='r2').robot == 'r2'


def test_each_robot_has_its_own_topics_below_its_namespace(two):
    heard = []
    two.peer.create_subscription(
        Decision, 'fleet/second/gemma/decision', heard.append, DECISIONS)
    command = two.peer.create_publisher(String, 'fleet/second/gemma/command', REQUESTS)
    two.spin(lambda: command.get_subscription_count() and two.peer.count_publishers(
        f'/{two.namespace}/fleet/second/gemma/decision'))
    two.spin_for(0.1)
    command.publish(String(data='hello'))
    two.spin(lambda: heard)
    assert heard[0].robot == 'r2'
    assert heard[0].inputs[0].topic == f'/{two.namespace}/fleet/second/odom'
    assert not two.replies


def test_a_robots_lock_leaves_the_other_free_and_the_nodes_lock_neither(two):
    own = two.lock_publisher
    shared = two.peer.create_publisher(Bool, 'gemma_node/lock', LOCK)
    two.spin(lambda: own.get_subscription_count() and shared.get_subscription_count())
    own.publish(Bool(data=True))
    two.spin(lambda: two.node.runtime.gate.locks.reason('r1', 0.0))
    assert two.decide(robot='r1').error_code == ErrorCode.LOCKED
    assert two.decide(robot='r2').outcome == Decision.OUTCOME_REPLY
    shared.publish(Bool(data=True))
    two.spin(lambda: two.node.runtime.gate.locks.reason('r2', 0.0))
    assert two.decide(robot='r2').error_code == ErrorCode.LOCKED


def test_catalogue_lists_only_the_robots_tools_and_the_builtins(two):
    got = []
    two.peer.create_subscription(ToolCatalogue, 'gemma_node/tools/r2', got.append, LATCHED)
    two.spin(lambda: got)
    assert [tool.name for tool in got[0].tools] == [
        'dock', 'say', 'no_action', 'stop', 'ask_operator']
    assert got[0].tools[0].interface_name == f'/{two.namespace}/fleet/second/dock'


def test_call_of_a_tool_the_robot_lacks_is_refused(two):
    two.worker.script = calls(('go_to', {'place': 'kitchen'}))
    decision = two.decide(robot='r2')
    assert decision.tool_calls[0].error_code == ErrorCode.UNKNOWN_TOOL
    assert decision.tool_calls[0].verdict == ToolCall.VERDICT_REFUSED


def test_worker_is_told_each_robots_tools(two):
    tools = {robot.name: [tool.name for tool in robot.tools]
             for robot in two.worker.settings.robots}
    assert 'go_to' in tools['r1']
    assert 'go_to' not in tools['r2']


def test_message_trigger_asks_at_each_message(make_world):
    world = make_world(robot=watch_odom('on_message'))
    for x in (1.0, 1.0):
        put_odom(world, x)
    world.spin(lambda: len(world.decisions) == 2)
    request = world.worker.requests[0][0]
    assert request.trigger is Trigger.OBSERVATION
    assert request.trigger_source == 'r1.trigger.t'
    assert request.text == 'what now'


def test_change_trigger_asks_at_a_step(make_world):
    world = make_world(robot=watch_odom('on_change', min_change=0.5))
    for x in (1.0, 1.2, 2.0, 2.1):
        put_odom(world, x)
    world.spin_for(0.2)
    assert len(world.decisions) == 1


def test_condition_trigger_asks_when_it_becomes_true(make_world):
    world = make_world(robot=watch_odom('condition', above=5.0))
    for x in (1.0, 6.0, 7.0, 1.0, 8.0):
        put_odom(world, x)
    world.spin(lambda: len(world.decisions) == 2)


def test_trigger_waits_for_its_own_last_answer(make_world):
    world = make_world(robot=watch_odom('on_message'))
    world.worker.script = None
    for x in (1.0, 2.0):
        put_odom(world, x)
    assert len(world.worker.held) == 1


def test_triggers_rest_while_inactive(make_world):
    world = make_world(robot=watch_odom('on_message'))
    world.node.trigger_deactivate()
    put_odom(world, 1.0)
    world.spin_for(0.2)
    assert not world.decisions


def test_sessions_travel_with_the_request(world):
    world.worker.script = reply()
    world.decide(session='tour', keep=False)
    request = world.worker.requests[0][0]
    assert (request.session, request.keep) == ('tour', False)


@pytest.mark.parametrize(('namespace', 'name', 'full'), [
    ('r1', 'odom', 'r1/odom'), ('/fleet/r1', 'odom', '/fleet/r1/odom'),
    ('r1', '/map', '/map'), ('r1', '~/lock', '~/lock')])
def test_names_below_a_robot(namespace, name, full):
    assert in_namespace(namespace, name) == full


def test_a_second_node_that_decides_for_the_robot_is_a_diagnostic(world):
    found = []
    world.peer.create_subscription(
        DiagnosticArray, '/diagnostics',
        lambda message: found.extend(status.message for status in message.status), 10)
    world.spin_for(1.5)
    assert found and not any('only one node' in text for text in found)
    publisher = world.peer.create_publisher(Decision, 'r1/gemma/decision', DECISIONS)
    world.spin(lambda: any('only one node may decide for a robot' in text for text in found))
    world.peer.destroy_publisher(publisher)
