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

"""The Decide action: feedback, cancel, and the wait for execution."""

from action_msgs.msg import GoalStatus
import pytest
from rclpy.action import ActionClient
from ros_harness import calls
from ros_harness import reply

from gemma_node.action import Decide
from gemma_node.core import ErrorCode
from gemma_node.core import Stage
from gemma_node.msg import Decision
from gemma_node.msg import DecisionRequest
from gemma_node.msg import ToolEvent
from gemma_node.worker.client import ProgressEvent


class Asker:
    def __init__(self, world):
        self.world = world
        self.client = ActionClient(world.peer, Decide, 'gemma_node/decide')
        self.feedback = []
        world.spin(self.client.server_is_ready)

    def send(self, text='hello', wait=False, **fields):
        goal = Decide.Goal(request=DecisionRequest(robot='r1', text=text), wait_for_execution=wait,
                           **fields)
        sending = self.client.send_goal_async(
            goal, feedback_callback=lambda message: self.feedback.append(message.feedback))
        self.world.spin(sending.done)
        self.handle = sending.result()
        assert self.handle.accepted
        self.result = self.handle.get_result_async()

    def wait(self):
        self.world.spin(self.result.done)
        return self.result.result().status, self.result.result().result


@pytest.fixture
def asker(world):
    return Asker(world)


def test_decision_is_the_result_and_is_published_once(asker):
    asker.send(temperature=0.5, seed=7, max_tokens=9)
    status, result = asker.wait()
    assert status == GoalStatus.STATUS_SUCCEEDED
    assert result.decision.text == 'hello'
    assert result.decision.trigger == Decision.TRIGGER_ACTION
    asker.world.spin(lambda: asker.world.decisions)
    assert list(asker.world.decisions[0].id.uuid) == list(asker.handle.goal_id.uuid)
    request = asker.world.worker.requests[0][0]
    assert (request.temperature, request.seed, request.max_tokens) == (0.5, 7, 9)


def test_refused_request_aborts_with_its_code(asker):
    asker.send(text='')
    status, result = asker.wait()
    assert (status, result.error_code) == (
        GoalStatus.STATUS_ABORTED, ErrorCode.INVALID_REQUEST)


def test_progress_is_feedback_and_cancel_ends_the_request(asker):
    world = asker.world
    world.worker.script = None
    asker.send()
    world.spin(lambda: world.worker.held)
    request = world.worker.held[0]
    world.worker.emit(ProgressEvent(request.id, Stage.DECODE, 12, 3, 'so far'))
    world.spin(lambda: asker.feedback)
    assert asker.feedback[0].partial_text == 'so far'
    assert asker.feedback[0].stage == Decide.Feedback.STAGE_DECODE
    canceling = asker.handle.cancel_goal_async()
    world.spin(canceling.done)
    status, result = asker.wait()
    assert (status, result.error_code) == (GoalStatus.STATUS_CANCELED, ErrorCode.CANCELED)
    world.spin(lambda: world.decisions)
    assert world.decisions[0].outcome == Decision.OUTCOME_FAILED


def test_wait_for_execution_brings_the_terminal_events(asker):
    world = asker.world
    server = world.serve()
    world.feed()
    world.worker.script = lambda request: (
        reply() if request.step else calls(('go_to', {'place': 'lab'})))(request)
    asker.send(wait=True)
    world.spin(lambda: server.goals)
    world.spin_for(0.1)
    assert not asker.result.done()
    server.end(server.goals[0])
    status, result = asker.wait()
    assert status == GoalStatus.STATUS_SUCCEEDED
    assert [event.state for event in result.results] == [ToolEvent.STATE_SUCCEEDED]
    assert asker.feedback[-1].stage == Decide.Feedback.STAGE_EXECUTING


def test_cancel_while_executing_cancels_the_robots_goal(asker):
    world = asker.world
    server = world.serve()
    world.feed()
    world.worker.script = calls(('go_to', {'place': 'lab'}))
    asker.send(wait=True)
    world.spin(lambda: server.goals)
    canceling = asker.handle.cancel_goal_async()
    world.spin(canceling.done)
    status, result = asker.wait()
    assert status == GoalStatus.STATUS_CANCELED
    assert result.results[0].state == ToolEvent.STATE_CANCELED
    assert result.results[0].cause == 'operator'


def test_cleanup_ends_an_open_goal(asker):
    world = asker.world
    world.worker.script = None
    asker.send()
    world.spin(lambda: world.worker.held)
    world.worker.held.clear()
    world.node.trigger_deactivate()
    world.node.trigger_cleanup()
    status, result = asker.wait()
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, ErrorCode.CANCELED)
