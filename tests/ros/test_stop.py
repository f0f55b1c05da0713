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

"""Stops, cancels and preemption in their less happy forms; what is left over at the end."""

import pytest
from ros_harness import calls
from ros_harness import reply
from std_msgs.msg import String

from gemma_node.core import ErrorCode
from gemma_node.msg import Decision
from gemma_node.msg import ToolCall
from gemma_node.msg import ToolEvent
from gemma_node.ros.conversions import uuid_hex
from gemma_node.worker.client import RestartedEvent

KITCHEN = calls(('go_to', {'place': 'kitchen'}))
STOP = calls(('stop', {}))
TOOLS = """
version: 1
defaults: {mode: auto, timeout: 30.0, cancel_timeout: 0.3, rate_limit: 0}
resources: [base]
tools:
  go_to:
    action: gemma_node/action/NavigateTo
    name: navigate_to
    description: Drive.
    arguments: {place: {type: string, choices: [kitchen, lab]}}
    resources: [base]
    on_busy: preempt_own
"""


@pytest.fixture
def world(make_world, tmp_path):
    """Return a world whose one tool preempts, with its server up."""
    path = tmp_path / 'tools.yaml'
    path.write_text(TOOLS)
    world = make_world(tools_file=str(path))
    world.server = world.serve()
    return world


def drive(world):
    """Send the robot off; return the call's id."""
    count = len(world.server.goals)
    world.worker.script = KITCHEN
    call_id = world.decide().tool_calls[0].id
    world.spin(lambda: len(world.server.goals) > count)
    world.worker.script = reply()
    return call_id


def test_stop_with_nothing_running_is_done_at_once(world):
    world.worker.script = STOP
    decision = world.decide('stop please')
    stop = decision.tool_calls[0]
    assert (decision.outcome, stop.verdict) == (
        Decision.OUTCOME_TOOL_CALL, ToolCall.VERDICT_SENT)
    assert world.terminal(stop.id).state == ToolEvent.STATE_SUCCEEDED


def test_stop_of_the_model_cancels_and_is_done_when_confirmed(world):
    driving = drive(world)
    world.worker.script = STOP
    stop = world.decide('wait').tool_calls[0]
    assert world.terminal(driving).cause == 'model'
    assert world.terminal(stop.id).state == ToolEvent.STATE_SUCCEEDED
    terminal = [event.name for event in world.events if event.is_terminal]
    assert terminal == ['stop', 'go_to'] or terminal == ['go_to', 'stop']
    world.spin_for(0.2)
    assert len(world.decisions) == 2


def test_stop_that_is_not_confirmed_says_so(world):
    world.server.serves_cancel = False
    driving = drive(world)
    world.worker.script = STOP
    stop = world.decide('wait').tool_calls[0]
    assert world.terminal(driving).state == ToolEvent.STATE_ORPHANED
    event = world.terminal(stop.id)
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_ORPHANED, ErrorCode.CANCEL_UNCONFIRMED)


def test_stop_word_also_cancels_what_is_being_decided(world):
    world.worker.script = None
    identifier = world.ask()
    world.spin(lambda: world.worker.held)
    world.spin(lambda: world.command_publisher.get_subscription_count())
    world.command_publisher.publish(String(data='stop now'))
    world.spin(lambda: len(world.decisions) == 2)
    assert world.decision(identifier).error_code == ErrorCode.CANCELED


def test_stop_word_under_an_id_in_use_stops_the_calls_of_that_very_request(world):
    world.worker.script = KITCHEN
    decision = world.decide()
    identifier = uuid_hex(decision.id)
    driving = decision.tool_calls[0].id
    world.spin(lambda: world.server.goals)
    for count in (2, 3):
        world.ask('Stop now!', identifier=identifier)
        world.spin(lambda count=count: len(world.decisions) == count)
    assert world.terminal(driving).cause == 'operator'
    assert len({uuid_hex(item.id) for item in world.decisions}) == 3
    for stop in world.decisions[1:]:
        assert uuid_hex(stop.parent_id) == identifier
        assert world.terminal(stop.tool_calls[0].id).state == ToolEvent.STATE_SUCCEEDED


def test_stop_word_works_while_the_model_loads(make_world):
    world = make_world(loads=False)
    world.spin(lambda: world.command_publisher.get_subscription_count())
    world.command_publisher.publish(String(data='stop now'))
    world.spin(lambda: world.decisions)
    assert world.decisions[0].tool_calls[0].name == 'stop'


def test_call_is_not_sent_over_a_goal_whose_cancel_nobody_confirms(world):
    world.server.serves_cancel = False
    driving = drive(world)
    world.worker.script = KITCHEN
    second = world.decide().tool_calls[0].id
    assert world.terminal(driving).state == ToolEvent.STATE_ORPHANED
    event = world.terminal(second)
    assert event.state == ToolEvent.STATE_CANCELED
    assert 'not confirmed' in event.error_msg
    assert len(world.server.goals) == 1


def test_third_call_takes_the_place_of_the_one_that_waits(world):
    world.server.serves_cancel = False
    first = drive(world)
    world.worker.script = KITCHEN
    second = world.decide().tool_calls[0].id
    third = world.decide().tool_calls[0].id
    assert world.terminal(second).cause == 'preempted'
    world.server.end(world.server.goals[0])
    assert world.terminal(first).state == ToolEvent.STATE_SUCCEEDED
    world.spin(lambda: len(world.server.goals) == 2)
    world.server.end(world.server.goals[1])
    assert world.terminal(third).state == ToolEvent.STATE_SUCCEEDED


def test_goal_accepted_after_its_time_is_canceled(world, monkeypatch):
    original = world.server._server._execute_goal_request
    late = []

    async def hold(request):
        late.append(request)

    monkeypatch.setattr(world.server._server, '_execute_goal_request', hold)
    world.worker.script = KITCHEN
    call_id = world.decide().tool_calls[0].id
    assert world.terminal(call_id).error_code == ErrorCode.SERVER_UNAVAILABLE
    dispatch = world.node.runtime.dispatch
    world.executor.create_task(original, late[0])
    world.spin(lambda: world.server.goals)
    world.spin(lambda: world.server.goals[0].status == 5)
    world.spin(lambda: not dispatch.num_orphans('r1'))
    assert len([event for event in world.events if event.is_terminal]) == 1


def test_results_nobody_asked_about_are_told_with_the_next_request(world):
    driving = drive(world)
    world.command_publisher.publish(String(data='stop now'))
    world.terminal(driving)
    world.decide('and now')
    results = world.worker.requests[-1][0].tool_results
    assert [(item.name, item.text) for item in results] == [
        ('go_to', 'canceled by the operator')]
    world.decide('again')
    assert not world.worker.requests[-1][0].tool_results


def test_results_of_a_request_the_worker_lost_are_told_again(world):
    drive(world)
    world.worker.script = None
    world.server.end(world.server.goals[0])
    world.spin(lambda: world.worker.held)
    held = world.worker.held[0]
    assert held.tool_results
    world.worker.cancel(held.id, ErrorCode.ENGINE_RESTARTED)
    world.spin(lambda: len(world.decisions) == 2)
    world.worker.script = reply()
    world.decide('hello')
    assert world.worker.requests[-1][0].tool_results == held.tool_results


def test_goals_survive_a_lost_engine_when_told_to_keep_them(make_world, tmp_path):
    path = tmp_path / 'tools.yaml'
    path.write_text(TOOLS)
    world = make_world(tools_file=str(path), on_engine_lost='keep')
    world.server = world.serve()
    driving = drive(world)
    world.worker.emit(RestartedEvent('killed'))
    world.spin_for(0.2)
    world.server.end(world.server.goals[0])
    assert world.terminal(driving).state == ToolEvent.STATE_SUCCEEDED


def test_cleanup_ends_a_goal_it_cannot_follow_as_orphaned(world):
    world.server.serves_cancel = False
    driving = drive(world)
    world.node.trigger_deactivate()
    world.node.trigger_cleanup()
    event = world.terminal(driving)
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_ORPHANED, ErrorCode.CANCEL_UNCONFIRMED)


def test_deactivate_cancels_what_is_being_decided(world):
    world.worker.script = None
    identifier = world.ask()
    world.spin(lambda: world.worker.held)
    world.node.trigger_deactivate()
    world.spin(lambda: world.decision(identifier))
    assert world.decision(identifier).error_code == ErrorCode.CANCELED


def test_one_refused_call_leaves_the_decision_a_tool_call(world):
    world.worker.script = calls(('go_to', {'place': 'kitchen'}), ('fly', {}))
    decision = world.decide()
    assert (decision.outcome, decision.error_code) == (
        Decision.OUTCOME_TOOL_CALL, ErrorCode.NONE)
    assert [call.verdict for call in decision.tool_calls] == [
        ToolCall.VERDICT_SENT, ToolCall.VERDICT_REFUSED]
    world.spin(lambda: world.server.goals)
    world.worker.script = reply()
    world.server.end(world.server.goals[0])
    world.spin(lambda: len(world.decisions) == 2)
    texts = [result.text for result in world.worker.requests[-1][0].tool_results]
    assert len(texts) == 2
    assert texts[0].startswith('refused: ')


def test_last_words_are_given_time_before_their_publisher_goes(world, monkeypatch):
    driving = drive(world)
    events = world.node.runtime._outbox._events
    order = []
    monkeypatch.setattr(events, 'wait_for_all_acked',
                        lambda limit: order.append(limit.nanoseconds))
    destroy = world.node.destroy_publisher
    monkeypatch.setattr(world.node, 'destroy_publisher', lambda publisher: (
        order.append('gone') if publisher is events else None, destroy(publisher))[1])
    world.node.trigger_deactivate()
    world.node.trigger_cleanup()
    assert order[0] > 0
    assert order[1:] == ['gone']
    assert world.terminal(driving).is_terminal
