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

"""A call that waits goes out only when an operator says so and every check still agrees."""

from types import SimpleNamespace

from geometry_msgs.msg import TransformStamped
import pytest
from rclpy.serialization import deserialize_message
from ros_harness import call
from ros_harness import calls
from ros_harness import reply
from std_msgs.msg import Bool

from gemma_node.core import Answer
from gemma_node.core import ErrorCode
from gemma_node.core import Outcome
from gemma_node.msg import Decision
from gemma_node.msg import PendingApprovals
from gemma_node.msg import ToolCall
from gemma_node.msg import ToolCatalogue
from gemma_node.msg import ToolEvent
from gemma_node.ros import checks
from gemma_node.ros import observations
from gemma_node.ros.names import LATCHED
from gemma_node.srv import Approve
from gemma_node.srv import Rearm
from gemma_node.srv import SetMode
from gemma_node.worker.client import RestartedEvent

KITCHEN = calls(('go_to', {'place': 'kitchen'}))
TOOLS = """
version: 1
defaults: {mode: approve, timeout: 30.0, cancel_timeout: 0.5, approval_timeout: 30.0}
resources: [base]
tools:
  go_to:
    action: gemma_node/action/NavigateTo
    name: navigate_to
    description: Drive.
    arguments: {place: {type: string, choices: [kitchen, lab]}}
    resources: [base]
    requires: [{input: battery, field: percentage, above: 0.2}]
  elsewhere:
    action: gemma_node/action/NavigateTo
    name: /other/navigate_to
    description: Drive another robot.
    arguments: {place: {type: string, choices: [kitchen]}}
"""


@pytest.fixture
def waiting(make_world, tmp_path):
    """Return a world with a fed robot, its server up, and a way to call services."""
    path = tmp_path / 'tools.yaml'

    def make(approval_timeout=30.0, tools=TOOLS, **parameters):
        path.write_text(tools.replace('30.0}', f'{approval_timeout}}}'))
        world = make_world(tools_file=str(path), decision_lifetime=0.2, **parameters)
        world.server = world.serve()
        world.pending = []
        world.peer.create_subscription(
            PendingApprovals, 'gemma_node/pending_approvals',
            lambda message: world.pending.append(message.decisions), LATCHED)
        world.feed()
        world.worker.script = KITCHEN
        return world
    return make


def serve(world, kind, name, **fields):
    client = world.peer.create_client(kind, f'gemma_node/{name}')
    world.spin(client.service_is_ready)
    future = client.call_async(kind.Request(**fields))
    world.spin(future.done)
    world.peer.destroy_client(client)
    return future.result()


def approve(world, decision, *, approved=True, **fields):
    return serve(world, Approve, 'approve', decision_id=decision.id, approved=approved,
                 operator_name='test', **fields)


def propose(world):
    """Ask; return the Decision whose call waits."""
    decision = world.decide()
    assert decision.tool_calls[0].verdict == ToolCall.VERDICT_NEEDS_APPROVAL
    world.spin(lambda: world.pending and [
        bytes(each.id.uuid) for each in world.pending[-1]] == [bytes(decision.id.uuid)])
    return decision


def test_approved_call_is_sent_and_leaves_the_list(waiting):
    world = waiting()
    decision = propose(world)
    assert decision.mode == Decision.MODE_APPROVE
    world.spin_for(0.3)
    assert not world.server.goals
    assert approve(world, decision).success
    world.spin(lambda: world.server.goals and not world.pending[-1])
    world.worker.script = reply()
    world.server.end(world.server.goals[0])
    assert world.terminal(decision.tool_calls[0].id).state == ToolEvent.STATE_SUCCEEDED
    states = world.states(decision.tool_calls[0].id)
    assert states[:2] == [ToolEvent.STATE_AWAITING_APPROVAL, ToolEvent.STATE_SENT]
    assert approve(world, decision).error_code == ErrorCode.APPROVAL_EXPIRED


def test_denied_call_ends_with_the_reason_and_the_model_is_told(waiting):
    world = waiting()
    decision = propose(world)
    assert approve(world, decision, approved=False, reason='the floor is wet').success
    event = world.terminal(decision.tool_calls[0].id)
    assert (event.state, event.error_code, event.cause) == (
        ToolEvent.STATE_CANCELED, ErrorCode.APPROVAL_DENIED, 'operator')
    assert 'wet' in event.error_msg
    world.worker.script = reply()
    world.decide('and now?')
    told = world.worker.requests[-1][0].tool_results
    assert [result.text for result in told] == [
        'not sent: the operator denied it: the floor is wet']
    assert not world.server.goals


def test_approval_that_nobody_gives_expires_and_asks_nothing_on(waiting):
    world = waiting(approval_timeout=1.5)
    decision = world.decide()
    assert decision.tool_calls[0].verdict == ToolCall.VERDICT_NEEDS_APPROVAL
    event = world.terminal(decision.tool_calls[0].id)
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_EXPIRED, ErrorCode.APPROVAL_EXPIRED)
    world.spin(lambda: world.pending and not world.pending[-1])
    assert approve(world, decision).error_code == ErrorCode.APPROVAL_EXPIRED
    world.spin_for(0.2)
    assert len(world.decisions) == 1


def test_checks_run_again_at_the_moment_of_approval_and_the_call_waits_on(waiting):
    world = waiting()
    decision = propose(world)
    world.feed(percentage=0.1)
    refused = approve(world, decision)
    assert (refused.success, refused.error_code) == (False, ErrorCode.LIMIT_EXCEEDED)
    world.feed(percentage=0.9)
    serve(world, SetMode, 'set_mode', mode=0)
    assert approve(world, decision).error_code == ErrorCode.NOT_ALLOWED
    serve(world, SetMode, 'set_mode', mode=2)
    assert not world.server.goals
    assert approve(world, decision).success
    world.spin(lambda: world.server.goals)


def test_call_that_waited_past_valid_until_is_not_sent(waiting):
    world = waiting(tools=TOOLS.replace('mode: approve', 'mode: auto, on_busy: preempt_own')
                    .replace('cancel_timeout: 0.5', 'cancel_timeout: 5.0'))
    world.decide()
    world.spin(lambda: world.server.goals)
    asked, end = [], world.server.end
    world.server.end = lambda handle, how: asked.append((handle, how))
    world.worker.script = calls(('go_to', {'place': 'lab'}))
    decision = world.decide()
    assert decision.tool_calls[0].verdict == ToolCall.VERDICT_SENT
    world.spin(lambda: asked)
    world.spin_for(0.4)
    world.worker.script = reply()
    end(*asked[0])
    event = world.terminal(decision.tool_calls[0].id)
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_EXPIRED, ErrorCode.DEADLINE_EXCEEDED)
    assert len(world.server.goals) == 1


def test_lock_ends_what_waits(waiting):
    world = waiting()
    decision = propose(world)
    world.lock_publisher.publish(Bool(data=True))
    event = world.terminal(decision.tool_calls[0].id)
    assert (event.error_code, event.cause) == (ErrorCode.LOCKED, 'lock')
    assert not world.server.goals


def test_unknown_decisions_and_calls_are_named(waiting):
    world = waiting()
    decision = propose(world)
    other = Decision()
    assert approve(world, other).error_code == ErrorCode.INVALID_REQUEST
    other.id.uuid[0] = 7
    assert approve(world, other).error_code == ErrorCode.INVALID_REQUEST
    answer = approve(world, decision, call_ids=[other.id])
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert answer.error_msg.startswith('call 07') and 'does not wait' in answer.error_msg
    assert approve(world, decision, call_ids=[decision.tool_calls[0].id]).success


def test_an_unsure_call_waits_or_the_operator_is_asked(waiting):
    world = waiting(robot={'min_probability': 0.95, 'on_low_confidence': 'ask_operator'})
    decision = world.decide()
    assert (decision.outcome, decision.error_code) == (
        Decision.OUTCOME_REFUSED, ErrorCode.LOW_CONFIDENCE)
    world.spin(lambda: world.replies)
    assert '0.90' in world.replies[0]


def test_interfaces_outside_the_namespace_are_denied_by_their_full_name(waiting):
    world = waiting()
    world.worker.script = calls(('elsewhere', {'place': 'kitchen'}))
    decision = world.decide()
    assert decision.error_code == ErrorCode.NOT_ALLOWED
    assert '/other/navigate_to' in decision.error_msg
    assert 'elsewhere' in world.worker.requests[-1][0].unavailable_tools
    heard = []
    world.peer.create_subscription(ToolCatalogue, 'gemma_node/tools/r1', heard.append, LATCHED)
    world.spin(lambda: heard)
    tool = next(each for each in heard[-1].tools if each.name == 'elsewhere')
    assert not tool.available and 'allowed_interfaces' in tool.unavailable_reason


def test_lost_worker_means_shadow_until_rearm_and_a_lock_forbids_it(waiting):
    world = waiting()
    world.worker.emit(RestartedEvent('killed'))
    world.worker.ready()
    assert world.decide().tool_calls[0].verdict == ToolCall.VERDICT_WOULD_SEND
    world.lock_publisher.publish(Bool(data=True))
    world.spin(lambda: world.node.runtime.gate.locks.reason('r1', 0.0))
    assert serve(world, Rearm, 'rearm', robot='r1').error_code == ErrorCode.LOCKED
    world.lock_publisher.publish(Bool(data=False))
    world.spin(lambda: not world.node.runtime.gate.locks.reason('r1', 0.0))
    assert serve(world, Rearm, 'rearm', robot='r9').error_code == ErrorCode.UNKNOWN_ROBOT
    assert serve(world, Rearm, 'rearm', robot='r1').success
    world.worker.script = lambda request: Answer(
        request_id=request.id, robot='r1', outcome=Outcome.TOOL_CALL,
        calls=(call(request.id, 'go_to', place='lab'),))
    assert world.decide().tool_calls[0].verdict == ToolCall.VERDICT_NEEDS_APPROVAL


def test_the_parameter_file_may_keep_the_mode_after_a_lost_worker(waiting):
    world = waiting(mode_after_engine_loss='same')
    world.worker.emit(RestartedEvent('killed'))
    world.worker.ready()
    propose(world)


def test_transforms_of_several_publishers_are_one_tree(make_world, monkeypatch):
    # tf2_msgs comes with no wheel: each message here is one of its transforms.
    for module in (checks, observations):
        monkeypatch.setattr(module, 'interface_class', lambda name: TransformStamped)
    monkeypatch.setattr(observations, 'deserialize_message', lambda data, kind: SimpleNamespace(
        transforms=[deserialize_message(data, kind)]))
    monkeypatch.setattr(checks, '_check_field', lambda *args: None)
    world = make_world(robot={'observations': {
        'tf': {'type': 'tf2_msgs/msg/TFMessage', 'topic': '/tf', 'max_age': 2.0}}})
    publishers = [world.peer.create_publisher(TransformStamped, '/tf', 10) for _ in range(2)]
    world.spin(lambda: all(each.get_subscription_count() for each in publishers))
    inputs = world.node.runtime._robots['r1'].inputs
    for publisher, frame in zip(publishers, ('odom', 'base'), strict=True):
        transform = TransformStamped(child_frame_id=frame)
        transform.header.frame_id = 'map'
        publisher.publish(transform)
    world.spin(lambda: inputs._inputs['tf'].count >= 2)
    observation = inputs.snapshot(world.node.get_clock().now().nanoseconds, 5.0)[0]
    assert {each['child_frame_id'] for each in observation.value['transforms']} == {
        'odom', 'base'}


def test_call_that_waits_when_ros_time_jumps_back_is_sent_to_nobody(waiting):
    world = waiting()
    decision = propose(world)
    world.node.runtime.forget_time()
    event = world.terminal(decision.tool_calls[0].id)
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_EXPIRED, ErrorCode.DEADLINE_EXCEEDED)
    assert 'jumped back' in event.error_msg
    world.feed()
    assert approve(world, decision).error_code == ErrorCode.APPROVAL_EXPIRED
    world.spin_for(0.2)
    assert not world.server.goals
