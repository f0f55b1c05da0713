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

"""A sent call becomes a goal with its own id and ends in exactly one terminal event."""

import json

import pytest
from ros_harness import calls
from ros_harness import NavigateServer
from ros_harness import reply
from std_msgs.msg import Bool

from gemma_node.action import NavigateTo
from gemma_node.core import ErrorCode
from gemma_node.core import Trigger
from gemma_node.msg import Decision
from gemma_node.msg import ToolCall
from gemma_node.msg import ToolEvent

KITCHEN = calls(('go_to', {'place': 'kitchen'}))
TOOLS = """
version: 1
defaults: {mode: auto, timeout: 0.4, cancel_timeout: 0.4, rate_limit: 0}
resources: [base]
tools:
  go_to:
    action: gemma_node/action/NavigateTo
    name: navigate_to
    description: Drive.
    arguments: {place: {type: string, choices: [kitchen, lab]}}
    resources: [base]
    on_busy: ON_BUSY
    requires: [{input: odom, max_age: 1.0}]
    result: {success: {field: error_code, equals: 0}, show: [error_msg, travelled]}
"""


def tools_file(tmp_path, on_busy='reject'):
    path = tmp_path / 'tools.yaml'
    path.write_text(TOOLS.replace('ON_BUSY', on_busy))
    return str(path)


@pytest.fixture
def driving(world):
    """Return a world whose robot has just been sent to the kitchen."""
    world.server = world.serve()
    world.feed()
    world.worker.script = KITCHEN
    world.sent = world.decide()
    world.call_id = world.sent.tool_calls[0].id
    world.spin(lambda: world.server.goals)
    world.worker.script = reply('arrived')
    return world


def test_call_becomes_a_goal_with_its_id(driving):
    sent = driving.sent.tool_calls[0]
    assert sent.verdict == ToolCall.VERDICT_SENT
    assert sent.interface_name == f'/{driving.namespace}/r1/navigate_to'
    assert json.loads(sent.arguments_json) == {'place': 'kitchen'}
    assert json.loads(sent.message_json)['place'] == 'kitchen'
    assert sent.arguments[0].text == 'kitchen'
    goal = driving.server.goals[0]
    assert list(goal.goal_id.uuid) == list(sent.id.uuid)
    assert goal.request.place == 'kitchen'


def test_result_leads_to_a_follow_up_with_its_parent(driving):
    driving.server.end(driving.server.goals[0], travelled=3.5)
    event = driving.terminal(driving.call_id)
    assert event.state == ToolEvent.STATE_SUCCEEDED
    assert json.loads(event.detail_json)['travelled'] == 3.5
    assert driving.states(driving.call_id)[:2] == [
        ToolEvent.STATE_SENT, ToolEvent.STATE_ACCEPTED]
    driving.spin(lambda: len(driving.decisions) == 2)
    follow_up = driving.decisions[1]
    assert follow_up.trigger == Decision.TRIGGER_TOOL_RESULT
    assert follow_up.step == 1
    assert list(follow_up.parent_id.uuid) == list(driving.sent.id.uuid)
    request = driving.worker.requests[-1][0]
    assert request.trigger is Trigger.TOOL_RESULT
    assert request.tool_results[0].text == 'done, travelled 3.5'


def test_feedback_of_a_running_goal_is_an_input_of_the_next_request(driving):
    goal = driving.server.goals[0]
    driving.spin(lambda: ToolEvent.STATE_ACCEPTED in driving.states(driving.call_id))
    goal.publish_feedback(NavigateTo.Feedback(distance_remaining=7.25))
    driving.spin(lambda: ToolEvent.STATE_EXECUTING in driving.states(driving.call_id))
    # Within the tool's period a newer one is neither told nor shown.
    goal.publish_feedback(NavigateTo.Feedback(distance_remaining=1.0))
    driving.spin_for(0.1)
    decision = driving.decide('how far is it?')
    shown = driving.worker.requests[-1][1][-1]
    assert shown.name == 'go_to_feedback'
    assert shown.value['distance_remaining'] == 7.25 and 0 < shown.value['elapsed'] < 5
    assert 0 < shown.age_s < 5
    assert decision.inputs[-1].topic.endswith('/r1/navigate_to/_action/feedback')
    driving.server.end(goal)
    driving.terminal(driving.call_id)
    driving.decide('and now?')
    assert 'go_to_feedback' not in [item.name for item in driving.worker.requests[-1][1]]


def test_aborted_goal_says_why_with_the_servers_code(driving):
    driving.server.end(driving.server.goals[0], 'abort', error_code=2, error_msg='a crate')
    event = driving.terminal(driving.call_id)
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_ABORTED, ErrorCode.GOAL_ABORTED)
    assert (event.server_error_code, event.server_error_name) == (2, 'BLOCKED')
    driving.spin(lambda: len(driving.worker.requests) == 2)
    assert driving.worker.requests[1][0].tool_results[0].text == 'failed: a crate'


def test_what_a_server_writes_is_cut_to_a_line(driving):
    driving.server.end(driving.server.goals[0], 'abort', error_code=2,
                       error_msg='no\nway ' * 50_000)
    event = driving.terminal(driving.call_id)
    assert event.error_msg.startswith('no way no way')
    assert len(event.error_msg) <= 400
    assert len(event.detail_json) < 1000


def test_success_that_breaks_the_tools_rule_is_no_success(driving):
    driving.server.end(driving.server.goals[0], error_code=1)
    assert driving.terminal(driving.call_id).state == ToolEvent.STATE_ABORTED


def test_rejected_goal(world):
    server = world.serve()
    server.accepts = False
    world.feed()
    world.worker.script = KITCHEN
    call_id = world.decide().tool_calls[0].id
    event = world.terminal(call_id)
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_REJECTED, ErrorCode.GOAL_REJECTED)


def test_absent_server_refuses_the_call(world):
    world.feed()
    world.worker.script = KITCHEN
    decision = world.decide()
    assert (decision.outcome, decision.error_code) == (
        Decision.OUTCOME_REFUSED, ErrorCode.SERVER_UNAVAILABLE)
    assert decision.tool_calls[0].verdict == ToolCall.VERDICT_REFUSED
    assert 'navigate_to' in decision.tool_calls[0].violations[0]
    world.spin_for(0.2)
    assert not world.events


def test_tools_without_a_server_are_masked_until_it_is_there(world):
    world.feed()
    world.decide('hello')
    masked = world.worker.requests[-1][0].unavailable_tools
    assert set(masked) == {'go_to', 'drive_to', 'pick', 'place', 'dock', 'say'}
    world.serve()
    world.decide('hello')
    assert set(world.worker.requests[-1][0].unavailable_tools) == {'pick', 'place', 'dock', 'say'}


def test_server_that_goes_away_ends_the_goal(driving):
    driving.server.destroy()
    event = driving.terminal(driving.call_id)
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_ABORTED, ErrorCode.SERVER_UNAVAILABLE)


def test_server_that_never_answers_the_goal(world, monkeypatch):
    server = world.serve()
    world.feed()

    async def swallow(request):
        return None

    monkeypatch.setattr(server._server, '_execute_goal_request', swallow)
    world.worker.script = KITCHEN
    event = world.terminal(world.decide().tool_calls[0].id)
    assert event.error_code == ErrorCode.SERVER_UNAVAILABLE
    assert 0.4 < event.elapsed < 1.5


def test_timeout_cancels_and_confirms(make_world, tmp_path):
    world = make_world(tools_file=tools_file(tmp_path))
    world.serve()
    world.feed()
    world.worker.script = lambda request: (
        reply() if request.step else KITCHEN)(request)
    call_id = world.decide().tool_calls[0].id
    event = world.terminal(call_id)
    assert (event.state, event.error_code, event.cause) == (
        ToolEvent.STATE_CANCELED, ErrorCode.GOAL_TIMEOUT, 'timeout')
    assert ToolEvent.STATE_CANCELING in world.states(call_id)


def test_unconfirmed_cancel_is_an_orphan(make_world, tmp_path):
    world = make_world(tools_file=tools_file(tmp_path))
    server = world.serve()
    server.serves_cancel = False
    world.feed()
    world.worker.script = lambda request: (reply() if request.step else KITCHEN)(request)
    event = world.terminal(world.decide().tool_calls[0].id)
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_ORPHANED, ErrorCode.CANCEL_UNCONFIRMED)
    assert 'may still be moving' in event.error_msg
    dispatch = world.node.runtime.dispatch
    assert dispatch.num_orphans('r1') == 1
    server.end(server.goals[0])
    world.spin(lambda: dispatch.num_orphans('r1') == 0)


def test_lock_cancels_what_runs(driving):
    driving.spin(lambda: driving.lock_publisher.get_subscription_count())
    driving.lock_publisher.publish(Bool(data=True))
    event = driving.terminal(driving.call_id)
    assert (event.state, event.error_code, event.cause) == (
        ToolEvent.STATE_CANCELED, ErrorCode.LOCKED, 'lock')
    driving.spin_for(0.2)
    assert len(driving.decisions) == 1


def test_newer_call_preempts_its_own_goal_and_waits_for_the_confirmation(make_world, tmp_path):
    world = make_world(tools_file=tools_file(tmp_path, 'preempt_own'))
    server = world.serve()
    world.feed()
    world.worker.script = KITCHEN
    first = world.decide().tool_calls[0].id
    world.spin(lambda: len(server.goals) == 1)
    world.worker.script = calls(('go_to', {'place': 'lab'}))
    second = world.decide().tool_calls[0].id
    world.spin(lambda: len(server.goals) == 2)
    assert world.terminal(first).cause == 'preempted'
    server.end(server.goals[1])
    assert world.terminal(second).state == ToolEvent.STATE_SUCCEEDED
    order = [event.state for event in world.events if event.is_terminal or event.state == 2]
    assert order[:3] == [
        ToolEvent.STATE_SENT, ToolEvent.STATE_CANCELED, ToolEvent.STATE_SENT]


def test_requirement_that_breaks_during_the_goal_cancels_it(make_world, tmp_path):
    path = tmp_path / 'tools.yaml'
    path.write_text(TOOLS.replace('ON_BUSY', 'reject').replace('timeout: 0.4', 'timeout: 9')
                    .replace('max_age: 1.0}', 'max_age: 0.4, during: true}'))
    world = make_world(tools_file=str(path))
    world.serve()
    world.feed()
    world.worker.script = lambda request: (reply() if request.step else KITCHEN)(request)
    event = world.terminal(world.decide().tool_calls[0].id)
    assert (event.state, event.cause) == (ToolEvent.STATE_CANCELED, 'condition')
    assert event.error_code == ErrorCode.LIMIT_EXCEEDED


def test_busy_resource_rejects(make_world, tmp_path):
    world = make_world(tools_file=tools_file(tmp_path))
    server = world.serve()
    world.feed()
    world.worker.script = KITCHEN
    world.decide()
    world.spin(lambda: server.goals)
    assert world.decide().tool_calls[0].error_code == ErrorCode.RESOURCE_BUSY


def test_input_that_went_stale_while_the_model_thought_refuses_the_call(world):
    from gemma_node.worker.client import AnswerEvent
    server = world.serve()
    world.feed()
    world.worker.script = None
    identifier = world.ask()
    world.spin(lambda: world.worker.held)
    world.spin_for(0.7)
    world.worker.emit(AnswerEvent(KITCHEN(world.worker.held.pop())))
    world.spin(lambda: world.decision(identifier))
    decision = world.decision(identifier)
    assert (decision.outcome, decision.error_code) == (
        Decision.OUTCOME_REFUSED, ErrorCode.STALE_INPUT)
    assert not server.goals


def test_low_battery_refuses_with_the_tools_own_sentence(world):
    world.serve()
    world.feed(percentage=0.05)
    world.worker.script = KITCHEN
    decision = world.decide()
    assert decision.error_code == ErrorCode.LIMIT_EXCEEDED
    assert 'Battery is low. Dock first.' in decision.error_msg


def test_nan_battery_refuses(world):
    world.serve()
    world.feed(percentage=float('nan'))
    world.worker.script = KITCHEN
    assert world.decide().error_code == ErrorCode.LIMIT_EXCEEDED


def test_chain_of_follow_ups_is_bounded(make_world):
    world = make_world(max_steps=1)
    server = world.serve()
    world.feed()
    world.worker.script = lambda request: calls(('go_to', {'place': 'kitchen'}))(request)
    world.decide()
    for number in (1, 2):
        world.spin(lambda number=number: len(server.goals) == number)
        world.spin_for(0.6)
        world.feed()
        server.end(server.goals[-1])
    world.spin_for(0.4)
    assert [decision.step for decision in world.decisions] == [0, 1]


def test_approve_mode_expires_because_nobody_can_approve(make_world, tmp_path):
    path = tmp_path / 'tools.yaml'
    path.write_text(TOOLS.replace('ON_BUSY', 'reject').replace(
        'mode: auto,', 'mode: approve, approval_timeout: 0.3,'))
    world = make_world(tools_file=str(path))
    world.serve()
    world.feed()
    world.worker.script = KITCHEN
    call = world.decide().tool_calls[0]
    assert call.verdict == ToolCall.VERDICT_NEEDS_APPROVAL
    event = world.terminal(call.id)
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_EXPIRED, ErrorCode.APPROVAL_EXPIRED)


def test_deactivate_cancels_and_confirms(driving):
    driving.node.trigger_deactivate()
    event = driving.terminal(driving.call_id)
    assert (event.state, event.cause) == (ToolEvent.STATE_CANCELED, 'shutdown')


def test_lost_worker_cancels_goals_and_the_next_request_is_served(driving):
    from gemma_node.worker.client import RestartedEvent
    driving.worker.is_ready = False
    driving.worker.emit(RestartedEvent('killed'))
    assert driving.terminal(driving.call_id).state == ToolEvent.STATE_CANCELED
    assert driving.decide().error_code == ErrorCode.NOT_ACTIVE
    driving.worker.ready()
    driving.spin_for(0.1)
    assert driving.decide().outcome == Decision.OUTCOME_REPLY


def test_two_calls_on_two_resources_are_followed_up_once(world):
    server = world.serve()
    world.feed()
    world.worker.script = lambda request: (
        reply() if request.step else calls(('go_to', {'place': 'lab'}), ('stop', {})))(request)
    decision = world.decide()
    world.spin(lambda: server.goals)
    assert world.terminal(decision.tool_calls[1].id).state == ToolEvent.STATE_SUCCEEDED
    server.end(server.goals[0])
    world.spin(lambda: len(world.decisions) == 2)
    world.spin_for(0.2)
    assert len(world.decisions) == 2


def test_second_server_on_the_name_is_just_one_client(world):
    NavigateServer(world.peer, 'r1/navigate_to')
    world.serve()
    names = [name for name, _ in world.node.runtime.dispatch._transports]
    assert sum(name.endswith('/navigate_to') for name in names) == 1
