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

"""Services, single messages and streams end as goals do, also when nobody answers or listens."""

import json

from geometry_msgs.msg import TwistStamped
import pytest
from rclpy.node import Node
from ros_harness import calls
from ros_harness import reply
from std_msgs.msg import Bool
from std_msgs.msg import String
from std_srvs.srv import SetBool
from std_srvs.srv import Trigger

from gemma_node.core import ErrorCode
from gemma_node.msg import ToolCall
from gemma_node.msg import ToolEvent

TOOLS = """
version: 1
defaults: {mode: auto, timeout: 0.3, cancel_timeout: 0.3, rate_limit: 0}
resources: [base]
tools:
  light:
    service: std_srvs/srv/SetBool
    name: light
    description: Switch the light.
    arguments: {data: {alias: lit}}
    result: {success: {field: success, equals: true}, show: [message, not_there]}
  tare:
    service: std_srvs/srv/Trigger
    name: tare
    description: Tare.
    idempotent: true
  announce:
    topic: std_msgs/msg/String
    name: screen
    description: Show a text.
    arguments: {data: {alias: text, max_length: 80}}
  creep:
    topic: geometry_msgs/msg/TwistStamped
    name: cmd_vel_llm
    description: Creep.
    arguments:
      twist.linear.x: {alias: speed, minimum: -0.2, maximum: 0.2}
      header.stamp: {const: now}
    timeout: 9.0
    stream: {rate: 50.0, duration: {alias: seconds, minimum: 0.1, maximum: 5.0}, then: zero}
    limits: {linear.x: {slew: 0.4}}
    resources: [base]
  creep_later:
    topic: geometry_msgs/msg/TwistStamped
    name: cmd_vel_llm
    description: Creep when the base is free.
    arguments: {twist.linear.x: {alias: speed}}
    on_busy: queue
    timeout: 9.0
    requires: [{input: odom, max_age: 0.5}]
    stream: {rate: 50.0, duration: 0.2, then: zero}
    resources: [base]
  creep_now:
    topic: geometry_msgs/msg/TwistStamped
    name: cmd_vel_llm
    description: Creep, whatever else runs or waits.
    arguments: {twist.linear.x: {alias: speed}}
    on_busy: preempt_own
    timeout: 9.0
    cooldown: 0.5
    stream: {rate: 50.0, duration: 0.2, then: zero}
    resources: [base]
builtins: [stop]
"""


@pytest.fixture
def world(make_world, tmp_path):
    (tmp_path / 'tools.yaml').write_text(TOOLS)
    return make_world(tools_file=str(tmp_path / 'tools.yaml'))


def ask(world, name, **arguments):
    """Ask for one call; return it as decided."""
    world.worker.script = lambda request: (
        reply('ok') if request.step else calls((name, arguments)))(request)
    return world.decide().tool_calls[0]


def wait_for(world, name):
    runtime = world.node.runtime
    spec = runtime._specs['r1'][name]
    world.spin(lambda: not runtime.dispatch.unavailable('r1', spec))


def listen(world):
    heard = []
    subscription = world.peer.create_subscription(
        TwistStamped, 'r1/cmd_vel_llm', heard.append, 50)
    wait_for(world, 'creep')
    return heard, subscription


def speeds(heard):
    return [message.twist.linear.x for message in heard]


def test_service_gets_the_request_and_its_answer_leads_to_a_follow_up(world):
    asked = []

    def serve(request, response):
        asked.append(request.data)
        response.success, response.message = True, 'lit'
        return response

    world.peer.create_service(SetBool, 'r1/light', serve)
    wait_for(world, 'light')
    call = ask(world, 'light', lit=True)
    assert (call.kind, call.interface_name) == (
        ToolCall.KIND_SERVICE, f'/{world.namespace}/r1/light')
    event = world.terminal(call.id)
    assert (asked, event.state) == ([True], ToolEvent.STATE_SUCCEEDED)
    # The result of this type has no field `not_there`: it is skipped.
    assert json.loads(event.detail_json) == {'message': 'lit'}
    world.spin(lambda: len(world.worker.requests) == 2)
    assert world.worker.requests[1][0].tool_results[0].text == 'done, message lit'


@pytest.mark.parametrize(('kind', 'name', 'arguments', 'state', 'code'), [
    (SetBool, 'light', {'lit': True}, ToolEvent.STATE_ORPHANED, ErrorCode.CANCEL_UNCONFIRMED),
    (Trigger, 'tare', {}, ToolEvent.STATE_CANCELED, ErrorCode.GOAL_TIMEOUT),
])
def test_service_that_never_answers(world, kind, name, arguments, state, code):
    silent = Node('silent', context=world.context, namespace=world.namespace)
    silent.create_service(kind, f'r1/{name}', lambda request, response: response)
    wait_for(world, name)
    event = world.terminal(ask(world, name, **arguments).id)
    assert (event.state, event.error_code, event.cause) == (state, code, 'timeout')
    assert 0.3 <= event.elapsed < 1.0
    dispatch = world.node.runtime.dispatch
    assert dispatch.num_orphans('r1') == (state == ToolEvent.STATE_ORPHANED)
    # Once it answers after all, nobody is left in doubt, and nobody is told twice.
    world.executor.add_node(silent)
    world.spin(lambda: not dispatch.num_orphans('r1'))
    world.executor.remove_node(silent)
    silent.destroy_node()
    assert len([each for each in world.events if each.is_terminal]) == 1


def test_absent_service_and_topic_without_subscribers_are_refused(world):
    for name, arguments, word in (('light', {'lit': True}, 'no service is up'),
                                  ('announce', {'text': 'hi'}, 'has 0 subscribers, 1 needed')):
        call = ask(world, name, **arguments)
        assert (call.verdict, call.error_code) == (
            ToolCall.VERDICT_REFUSED, ErrorCode.SERVER_UNAVAILABLE)
        assert word in call.violations[0]


def test_message_is_published_once(world):
    heard = []
    world.peer.create_subscription(String, 'r1/screen', heard.append, 10)
    wait_for(world, 'announce')
    event = world.terminal(ask(world, 'announce', text='hello').id)
    assert event.state == ToolEvent.STATE_SUCCEEDED
    world.spin_for(0.2)
    assert [message.data for message in heard] == ['hello']


def test_stream_rises_and_falls_within_its_slew(world):
    heard, _ = listen(world)
    event = world.terminal(ask(world, 'creep', speed=-0.2, seconds=1.5).id)
    assert event.state == ToolEvent.STATE_SUCCEEDED
    world.spin_for(0.1)
    values = speeds(heard)
    assert values[-3:] == [0.0, 0.0, 0.0] and min(values) == -0.2
    stamps = [message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
              for message in heard]
    for index in range(1, len(values)):
        allowed = 0.4 * (stamps[index] - stamps[index - 1]) + 0.4 * 0.02
        assert abs(values[index] - values[index - 1]) <= allowed


def test_a_speed_that_is_no_number_moves_nothing_and_code_and_sentence_agree(world):
    heard, _ = listen(world)
    for value in (True, '0.1', [0.1], None):
        call = ask(world, 'creep', speed=value, seconds=0.2)
        assert call.verdict == call.VERDICT_REFUSED
        assert 'must be of type number' in call.violations[0]
        decision = world.decisions[-1]
        assert decision.error_code == ErrorCode.SCHEMA_VIOLATION
        assert decision.error_msg == call.violations[0]
    world.spin_for(0.1)
    assert not heard


def test_stream_that_loses_its_subscriber_is_aborted(world):
    heard, subscription = listen(world)
    call = ask(world, 'creep', speed=0.2, seconds=5.0)
    world.spin(lambda: len(heard) > 3)
    world.peer.destroy_subscription(subscription)
    event = world.terminal(call.id)
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_ABORTED, ErrorCode.SERVER_UNAVAILABLE)


def test_stop_word_ends_a_stream_with_zeros(world):
    heard, _ = listen(world)
    call = ask(world, 'creep', speed=0.2, seconds=5.0)
    world.spin(lambda: len(heard) > 3)
    world.command_publisher.publish(String(data='stop now'))
    event = world.terminal(call.id)
    assert (event.state, event.cause) == (ToolEvent.STATE_CANCELED, 'operator')
    world.spin_for(0.1)
    assert speeds(heard)[-3:] == [0.0, 0.0, 0.0]


def test_cleanup_in_the_middle_of_a_stream_leaves_the_robot_standing(world):
    heard, _ = listen(world)
    call = ask(world, 'creep', speed=0.2, seconds=5.0)
    world.spin(lambda: len(heard) > 3)
    world.node.trigger_deactivate()
    world.node.trigger_cleanup()
    assert world.terminal(call.id).state == ToolEvent.STATE_CANCELED
    world.spin_for(0.1)
    assert speeds(heard)[-3:] == [0.0, 0.0, 0.0]


def test_call_that_waited_is_judged_again_and_not_sent_on_an_old_input(world):
    heard, _ = listen(world)
    world.feed()
    first = ask(world, 'creep', speed=0.2, seconds=1.0)
    world.feed()
    second = ask(world, 'creep_later', speed=0.1)
    assert second.verdict == ToolCall.VERDICT_SENT
    assert world.terminal(first.id).state == ToolEvent.STATE_SUCCEEDED
    event = world.terminal(second.id)
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_EXPIRED, ErrorCode.STALE_INPUT)
    assert event.error_msg.startswith("not sent: input 'odom' is ")
    assert 0.1 not in speeds(heard)


def test_lock_ends_the_call_that_runs_and_the_one_that_waits(world):
    listen(world)
    world.feed()
    first = ask(world, 'creep', speed=0.2, seconds=5.0)
    world.feed()
    second = ask(world, 'creep_later', speed=0.1)
    world.spin(lambda: world.lock_publisher.get_subscription_count())
    world.lock_publisher.publish(Bool(data=True))
    for call in (first, second):
        event = world.terminal(call.id)
        assert (event.state, event.error_code) == (
            ToolEvent.STATE_CANCELED, ErrorCode.LOCKED)


def test_call_that_preempts_never_sets_off_one_that_waited(world):
    heard, _ = listen(world)
    world.feed()
    first = ask(world, 'creep', speed=0.2, seconds=5.0)
    waiting = [ask(world, 'creep_later', speed=0.1 + 0.01 * index) for index in range(3)]
    last = ask(world, 'creep_now', speed=-0.1)
    assert world.terminal(last.id).state == ToolEvent.STATE_SUCCEEDED
    for call in (first, *waiting):
        event = world.terminal(call.id)
        assert (event.state, event.cause) == (ToolEvent.STATE_CANCELED, 'preempted')
        assert call is first or ToolEvent.STATE_SENT not in world.states(call.id)
    world.spin_for(0.1)
    assert not any(0.1 <= speed < 0.15 for speed in speeds(heard[-20:]))


def test_tool_is_masked_while_it_rests_and_offered_again_afterwards(world):
    heard, _ = listen(world)

    def masked():
        world.worker.script = reply()
        world.decide('hello')
        return 'creep_now' in world.worker.requests[-1][0].unavailable_tools

    assert not masked()
    world.terminal(ask(world, 'creep_now', speed=0.1).id)
    assert masked()
    refused = ask(world, 'creep_now', speed=0.1)
    assert (refused.verdict, refused.error_code) == (
        ToolCall.VERDICT_REFUSED, ErrorCode.RATE_LIMITED)
    world.spin_for(0.5)
    assert not masked()
    assert heard
