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

"""Every request, however it comes in, ends in exactly one Decision."""

import math

import pytest
from ros_harness import calls
from ros_harness import reply

from gemma_node.core import ErrorCode
from gemma_node.core import Request
from gemma_node.msg import Decision
from gemma_node.msg import DecisionRequest
from gemma_node.msg import InputRef
from gemma_node.msg import ToolCall
from gemma_node.ros.conversions import uuid_hex
from gemma_node.ros.names import REQUEST_BURST


def test_request_is_answered_with_its_id_inputs_and_reply(world):
    world.feed(x=2.0)
    decision = world.decide('where are you')
    assert decision.outcome == Decision.OUTCOME_REPLY
    assert decision.text == 'hello'
    assert decision.robot == 'r1'
    assert [item.topic for item in decision.inputs] == [
        f'/{world.namespace}/r1/odom', f'/{world.namespace}/r1/battery']
    assert decision.inputs[0].state == InputRef.STATE_FRESH
    assert decision.inputs[0].age_source == InputRef.AGE_FROM_STAMP
    assert decision.inputs[1].age_source == InputRef.AGE_FROM_RECEPTION
    assert len(decision.inputs[0].digest) == 64
    assert decision.config_digest
    assert 0 < decision.total_time < 1
    assert decision.deadline_slack > 8
    world.spin(lambda: world.replies == ['hello'])
    request, observations = world.worker.requests[0]
    assert request.timeout_s == 10.0
    assert observations[0].value['pose']['pose']['position']['x'] == 2.0


def test_request_without_an_id_gets_one(world):
    world.ask(identifier='0' * 32)
    world.spin(lambda: world.decisions)
    assert uuid_hex(world.decisions[0].id)


def test_command_is_a_request_of_its_robot(world):
    from std_msgs.msg import String
    world.spin(lambda: world.command_publisher.get_subscription_count())
    world.command_publisher.publish(String(data='hello there'))
    world.spin(lambda: world.decisions)
    decision = world.decisions[0]
    assert (decision.robot, decision.trigger) == ('r1', Decision.TRIGGER_REQUEST)
    assert decision.trigger_source.endswith('/r1/gemma/command')


def test_text_that_is_no_utf8_harms_nobody(world):
    from rclpy.serialization import serialize_message
    from std_msgs.msg import String
    world.spin(lambda: world.command_publisher.get_subscription_count())
    data = serialize_message(String(data='abcd')).replace(b'abcd', b'\xff\xfe\xfd\xfc')
    world.command_publisher.publish(data)
    world.spin_for(0.1)
    assert world.decide().outcome == Decision.OUTCOME_REPLY


def test_empty_robot_means_the_only_one(world):
    assert world.decide(robot='').robot == 'r1'


def test_unknown_robot_is_refused(world):
    decision = world.decide(robot='r9')
    assert (decision.outcome, decision.error_code) == (
        Decision.OUTCOME_REFUSED, ErrorCode.UNKNOWN_ROBOT)
    assert 'r1' in decision.error_msg


def test_empty_text_is_refused(world):
    assert world.decide('  \n').error_code == ErrorCode.INVALID_REQUEST
    assert not world.worker.requests


def test_unknown_allowed_tool_is_refused_with_the_choices(world):
    decision = world.decide(allowed_tools=['fly'])
    assert decision.error_code == ErrorCode.NOT_ALLOWED
    assert 'fly' in decision.error_msg
    assert 'go_to' in decision.error_msg


def test_bad_enums_and_negative_timeout_are_refused(world):
    from builtin_interfaces.msg import Duration
    for fields in ({'tool_choice': 7}, {'priority': 5}, {'timeout': Duration(sec=-1)}):
        decision = world.decide(**fields)
        assert decision.error_code == ErrorCode.INVALID_REQUEST


def test_same_id_twice_is_refused_while_the_first_is_open(world):
    world.worker.script = None
    identifier = world.ask()
    world.spin(lambda: world.worker.held)
    world.ask(identifier=identifier)
    world.spin(lambda: world.decisions)
    assert world.decisions[0].error_code == ErrorCode.INVALID_REQUEST
    assert len(world.worker.held) == 1


def test_request_while_loading_ends_not_active_with_progress(make_world):
    world = make_world(loads=False)
    decision = world.decide()
    assert (decision.outcome, decision.error_code) == (
        Decision.OUTCOME_REFUSED, ErrorCode.NOT_ACTIVE)
    assert '40%' in decision.error_msg
    world.worker.ready()
    world.spin_for(0.1)
    assert world.decide().outcome == Decision.OUTCOME_REPLY


def test_request_while_inactive_ends_not_active(make_world):
    world = make_world(active=False)
    assert world.configure()
    world.spin(lambda: world.request_publisher.get_subscription_count())
    assert world.decide().error_code == ErrorCode.NOT_ACTIVE


def test_required_input_missing_then_stale_then_fresh(make_world):
    odom = {'type': 'nav_msgs/msg/Odometry', 'max_age': 0.5, 'required': True}
    world = make_world(robot={'observations': {
        'odom': odom, 'battery': {'type': 'sensor_msgs/msg/BatteryState'}}})
    assert world.decide().error_code == ErrorCode.MISSING_INPUT
    world.feed()
    assert world.decide().outcome == Decision.OUTCOME_REPLY
    world.feed(age_s=2.0)
    decision = world.decide()
    assert (decision.outcome, decision.error_code) == (
        Decision.OUTCOME_REFUSED, ErrorCode.STALE_INPUT)
    assert '0.5 s' in decision.error_msg
    assert decision.inputs[0].state == InputRef.STATE_STALE
    assert decision.inputs[0].age >= 2.0


def test_stamp_far_from_reception_gives_no_age(world):
    world.feed(age_s=3600.0)
    decision = world.decide()
    assert decision.inputs[0].age_source == InputRef.AGE_FROM_RECEPTION
    assert decision.inputs[0].state == InputRef.STATE_FRESH


def test_nan_position_makes_the_input_invalid(world):
    world.feed(x=math.nan)
    decision = world.decide()
    assert decision.inputs[0].state == InputRef.STATE_INVALID
    assert decision.outcome == Decision.OUTCOME_REPLY


def test_late_answer_sends_nothing(world):
    from builtin_interfaces.msg import Duration
    server = world.serve()
    world.feed()
    world.worker.script = None
    identifier = world.ask(timeout=Duration(nanosec=100_000_000))
    world.spin(lambda: world.worker.held)
    world.spin_for(0.2)
    request = world.worker.held.pop()
    from gemma_node.worker.client import AnswerEvent
    world.worker.emit(AnswerEvent(calls(('go_to', {'place': 'kitchen'}))(request)))
    world.spin(lambda: world.decision(identifier))
    decision = world.decision(identifier)
    assert decision.error_code == ErrorCode.DEADLINE_EXCEEDED
    assert decision.tool_calls[0].verdict == ToolCall.VERDICT_REFUSED
    assert decision.deadline_slack < 0
    assert not server.goals


def test_stop_word_cancels_without_the_model(world):
    from std_msgs.msg import String
    server = world.serve()
    world.feed()
    world.worker.script = calls(('go_to', {'place': 'kitchen'}))
    world.decide()
    world.spin(lambda: server.goals)
    asked = len(world.worker.requests)
    world.command_publisher.publish(String(data='Stop, now!'))
    world.spin(lambda: len(world.decisions) == 2)
    stop = world.decisions[1].tool_calls[0]
    assert stop.name == 'stop'
    assert stop.verdict == ToolCall.VERDICT_SENT
    assert world.decisions[1].total_time < 0.05
    assert world.terminal(stop.id).error_code == ErrorCode.NONE
    assert world.terminal(world.decisions[0].tool_calls[0].id).cause == 'operator'
    assert len(world.worker.requests) == asked


def test_locked_robot_refuses_requests_until_unlocked(world):
    from std_msgs.msg import Bool
    world.spin(lambda: world.lock_publisher.get_subscription_count())
    world.lock_publisher.publish(Bool(data=True))
    world.spin(lambda: world.node.runtime.gate.locks.reason('r1', 0.0))
    assert world.decide().error_code == ErrorCode.LOCKED
    world.lock_publisher.publish(Bool(data=False))
    world.spin(lambda: not world.node.runtime.gate.locks.reason('r1', 0.0))
    assert world.decide().outcome == Decision.OUTCOME_REPLY


def test_period_trigger_asks_by_itself(make_world):
    world = make_world(robot={'trigger': {
        'look': {'kind': 'period', 'period': 0.3, 'text': 'what do you see'}}})
    world.spin(lambda: len(world.decisions) >= 2)
    assert world.decisions[0].trigger == Decision.TRIGGER_TIMER
    assert world.decisions[0].trigger_source == 'r1.trigger.look'


def test_shadow_mode_sends_nothing(make_world):
    world = make_world(mode='shadow')
    server = world.serve()
    world.feed()
    world.worker.script = calls(('go_to', {'place': 'kitchen'}))
    decision = world.decide()
    assert decision.tool_calls[0].verdict == ToolCall.VERDICT_WOULD_SEND
    assert decision.mode == Decision.MODE_SHADOW
    world.spin_for(0.2)
    assert not server.goals
    world.worker.script = reply()
    world.decide('and now')
    assert 'shadow' in world.worker.requests[-1][0].tool_results[0].text


def test_an_id_that_was_answered_is_refused_and_leaves_its_goal_alone(world):
    server = world.serve()
    world.feed()
    world.worker.script = calls(('go_to', {'place': 'lab'}))
    identifier = uuid_hex(world.decide().id)
    world.spin(lambda: server.goals)
    world.ask(identifier=identifier)
    world.spin(lambda: len(world.decisions) == 2)
    assert world.decisions[1].error_code == ErrorCode.INVALID_REQUEST
    assert 'new id' in world.decisions[1].error_msg
    world.spin_for(0.1)
    assert len(server.goals) == 1
    server.end(server.goals[0])
    assert world.terminal(world.decisions[0].tool_calls[0].id).error_code == ErrorCode.NONE


def test_an_id_that_was_refused_may_come_again(world):
    identifier = world.ask(allowed_tools=['fly'])
    world.spin(lambda: world.decisions)
    world.ask(identifier=identifier)
    world.spin(lambda: len(world.decisions) == 2)
    assert world.decisions[1].outcome == Decision.OUTCOME_REPLY


@pytest.mark.parametrize('fields', [
    {'robot': 'x' * 300_000}, {'session': 'x' * 300_000}, {'allowed_tools': ['x' * 300_000]},
    {'allowed_tools': ['go_to'] * 50_000},
])
def test_names_without_end_are_refused_and_not_repeated(world, fields):
    decision = world.decide(**fields)
    assert decision.error_code == ErrorCode.INVALID_REQUEST
    assert len(decision.robot) + len(decision.error_msg) < 500


def test_refused_requests_of_ever_new_sessions_leave_nothing_behind(world):
    for index in range(400):
        world.node.runtime.flow.accept(Request(id='', robot='r1', session=str(index), text=' '))
    assert not world.node.runtime.flow._chains._unread


def test_burst_of_requests_ends_in_a_decision_each(world):
    burst = world.peer.create_publisher(DecisionRequest, 'gemma_node/request', REQUEST_BURST)
    world.spin(lambda: burst.get_subscription_count())
    for _ in range(100):
        burst.publish(DecisionRequest(robot='r1', text='hello'))
    world.spin(lambda: len(world.decisions) == 100)
