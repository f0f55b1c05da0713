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

"""
Sends calls to action servers and sees every one of them to a terminal event.

The goal's UUID is the call's id. Nothing here waits: futures have done-callbacks, and `tick`
ends what outlives its time. Executor thread only.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
import time
from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node

from gemma_node.core import CallKind
from gemma_node.msg import ToolEvent
from gemma_node.policy.gate import Gate
from gemma_node.ros.conversions import uuid_message
from gemma_node.ros.endings import canceled_ending
from gemma_node.ros.endings import expired_ending
from gemma_node.ros.endings import gone_ending
from gemma_node.ros.endings import orphaned_ending
from gemma_node.ros.endings import rejected_ending
from gemma_node.ros.endings import result_ending
from gemma_node.ros.endings import unanswered_ending
from gemma_node.ros.goals import Ending
from gemma_node.ros.goals import Goal
from gemma_node.ros.goals import Phase
from gemma_node.ros.guard import CallbackGuard
from gemma_node.ros.messages import interface_class
from gemma_node.ros.messages import to_plain
from gemma_node.ros.names import in_namespace
from gemma_node.tools.spec import ToolSpec

SERVER_GONE_S = 0.5
CANCEL_RETRY_S = 1.0


class Dispatch:
    """
    The goals of all robots.

    `publish` takes each ToolEvent; `on_end` is called once per call, after its terminal event.
    """

    def __init__(
        self, node: Node, gate: Gate, guard: CallbackGuard, *, server_timeout_s: float,
        publish: Callable[[ToolEvent], None], on_end: Callable[[Goal, Ending, ToolEvent], None],
    ) -> None:
        self._node = node
        self._gate = gate
        self._guard = guard
        self._server_timeout_s = server_timeout_s
        self._publish = publish
        self._on_end = on_end
        self._clients: dict[str, ActionClient] = {}
        self._goals: dict[str, Goal] = {}
        self._orphans: dict[str, Goal] = {}

    def connect(self, namespace: str, specs: Iterable[ToolSpec]) -> None:
        """Create the action clients of a robot's tools; one client per action."""
        for spec in specs:
            name = self.interface_name(namespace, spec)
            if spec.kind is CallKind.ACTION and name not in self._clients:
                self._clients[name] = ActionClient(
                    self._node, interface_class(spec.interface_type), name)

    def interface_name(self, namespace: str, spec: ToolSpec) -> str:
        """Return the fully qualified name of the tool's interface."""
        if spec.is_builtin:
            return ''
        return str(self._node.resolve_service_name(
            in_namespace(namespace, spec.interface_name)))

    def unavailable(self, namespace: str, spec: ToolSpec) -> str:
        """Return why a call could not be sent now, '' when it could."""
        if spec.kind is not CallKind.ACTION:
            return f'{spec.name} is a {spec.kind.name.lower()}; only actions are sent'
        name = self.interface_name(namespace, spec)
        if self._clients[name].server_is_ready():
            return ''
        return f'no action server is up at {name}'

    def goal_type(self, spec: ToolSpec) -> Any:
        """Return the class of the tool's goal message."""
        return interface_class(spec.interface_type).Goal

    def running(self, robot: str = '') -> list[Goal]:
        """Return the goals that have not ended, of one robot or of all."""
        return [goal for goal in self._goals.values() if robot in ('', goal.robot)]

    def num_orphans(self, robot: str) -> int:
        """Return how many of the robot's goals ended without a confirmed cancel."""
        return sum(goal.robot == robot for goal in self._orphans.values())

    def send(self, goal: Goal, preempts: Iterable[str] = ()) -> None:
        """Send a goal, once those it preempts are confirmed to have ended."""
        now_s = time.monotonic()
        waits_for = {call_id for call_id in preempts if call_id in self._goals}
        goal.waits_for = waits_for
        goal.phase = Phase.WAITING if waits_for else Phase.SENDING
        self._goals[goal.call.id] = goal
        self._gate.start(goal.robot, goal.call, now_s)
        for call_id in waits_for:
            self._cancel(self._goals[call_id], 'preempted')
        if goal.phase is Phase.WAITING and not goal.waits_for:
            goal.phase = Phase.SENDING
        if goal.phase is Phase.SENDING:
            self._send(goal)

    def await_approval(self, goal: Goal) -> None:
        """Keep a call until its approval expires."""
        goal.phase = Phase.APPROVAL
        goal.sent_s = time.monotonic()
        self._goals[goal.call.id] = goal
        self._tell(goal, ToolEvent.STATE_AWAITING_APPROVAL)

    def cancel(self, cause: str, *, robot: str = '', call_ids: Iterable[str] = ()) -> set[str]:
        """Cancel goals (of a robot, by id, or all); return the ids that must still end."""
        wanted = set(call_ids)
        goals = [goal for goal in self.running(robot) if not wanted or goal.call.id in wanted]
        ids = {goal.call.id for goal in goals}
        for goal in goals:
            self._cancel(goal, cause)
        return ids & set(self._goals)

    def tick(self) -> None:
        """End what outlived its time; call it about twenty times a second."""
        now_s = time.monotonic()
        for goal in list(self._goals.values()):
            if goal.phase is Phase.SENDING and now_s - goal.sent_s > self._server_timeout_s:
                self._end(goal, unanswered_ending(goal, self._server_timeout_s))
            elif goal.phase is Phase.RUNNING:
                self._watch_running(goal, now_s)
            elif goal.phase is Phase.CANCELING:
                self._watch_canceling(goal, now_s)
            elif (goal.phase is Phase.APPROVAL
                    and now_s - goal.sent_s > goal.spec.approval_timeout_s):
                self._end(goal, expired_ending(goal))

    def abandon(self) -> None:
        """End every goal as orphaned, because the node can no longer follow it."""
        for goal in list(self._goals.values()):
            if goal.phase in (Phase.WAITING, Phase.APPROVAL):
                goal.cause = 'shutdown'
                self._end(goal, canceled_ending(goal))
            elif goal.phase is not Phase.ENDED:
                self._end(goal, orphaned_ending(goal, 'the node stopped first'))

    def destroy(self) -> None:
        """Destroy the action clients."""
        for client in self._clients.values():
            client.destroy()
        self._clients.clear()

    def _send(self, goal: Goal) -> None:
        goal.sent_s = time.monotonic()
        self._tell(goal, ToolEvent.STATE_SENT)
        client = self._clients[goal.interface_name]
        future = client.send_goal_async(
            goal.message, goal_uuid=uuid_message(goal.call.id),
            feedback_callback=self._guard(lambda message: self._take_feedback(goal, message)))
        future.add_done_callback(self._guard(lambda done: self._take_response(goal, done)))

    def _take_response(self, goal: Goal, done: Any) -> None:
        handle = done.result()
        if goal.phase is Phase.ENDED:
            if handle.accepted:
                self._orphans[goal.call.id] = goal
                handle.cancel_goal_async()
                self._follow(goal, handle)
            return
        if not handle.accepted:
            ending = canceled_ending(goal) if goal.cause else rejected_ending(goal)
            self._end(goal, ending)
            return
        goal.handle = handle
        self._tell(goal, ToolEvent.STATE_ACCEPTED)
        self._follow(goal, handle)
        if goal.phase is Phase.CANCELING:
            self._ask_to_cancel(goal)
        else:
            goal.phase = Phase.RUNNING

    def _follow(self, goal: Goal, handle: Any) -> None:
        future = handle.get_result_async()
        future.add_done_callback(self._guard(lambda done: self._take_result(goal, done)))

    def _take_result(self, goal: Goal, done: Any) -> None:
        self._orphans.pop(goal.call.id, None)
        if goal.phase is not Phase.ENDED:
            response = done.result()
            self._end(goal, result_ending(goal, response.status, response.result))

    def _take_feedback(self, goal: Goal, message: Any) -> None:
        if goal.phase is Phase.RUNNING:
            event = goal.feedback_event(to_plain(message.feedback), time.monotonic())
            if event is not None:
                self._publish(event)

    def _cancel(self, goal: Goal, cause: str) -> None:
        if goal.phase in (Phase.ENDED, Phase.CANCELING):
            return
        goal.cause = cause
        if goal.phase in (Phase.WAITING, Phase.APPROVAL):
            self._end(goal, canceled_ending(goal))
            return
        goal.phase = Phase.CANCELING
        goal.cancel_s = time.monotonic()
        self._tell(goal, ToolEvent.STATE_CANCELING)
        if goal.handle is not None:
            self._ask_to_cancel(goal)

    def _ask_to_cancel(self, goal: Goal) -> None:
        goal.asked_again_s = time.monotonic()
        goal.handle.cancel_goal_async()

    def _watch_running(self, goal: Goal, now_s: float) -> None:
        if self._is_server_gone(goal, now_s):
            self._end(goal, gone_ending(goal))
        elif now_s - goal.sent_s > goal.spec.timeout_s:
            self._cancel(goal, 'timeout')

    def _watch_canceling(self, goal: Goal, now_s: float) -> None:
        if now_s - goal.cancel_s > goal.spec.cancel_timeout_s:
            self._orphans[goal.call.id] = goal
            self._end(goal, orphaned_ending(
                goal, f'no answer within {goal.spec.cancel_timeout_s:g} s'))
        elif self._is_server_gone(goal, now_s):
            self._end(goal, orphaned_ending(goal, 'its server is gone'))
        elif goal.handle is not None and now_s - goal.asked_again_s > CANCEL_RETRY_S:
            self._ask_to_cancel(goal)

    def _is_server_gone(self, goal: Goal, now_s: float) -> bool:
        if self._clients[goal.interface_name].server_is_ready():
            goal.server_seen_s = now_s
            return False
        return now_s - max(goal.server_seen_s, goal.sent_s) > SERVER_GONE_S

    def _tell(self, goal: Goal, state: int) -> None:
        self._publish(goal.event(state, time.monotonic()))

    def _end(self, goal: Goal, ending: Ending) -> None:
        now_s = time.monotonic()
        goal.phase = Phase.ENDED
        self._goals.pop(goal.call.id, None)
        self._gate.usage.end(goal.call.id, now_s)
        event = goal.end_event(ending, now_s)
        self._publish(event)
        self._on_end(goal, ending, event)
        for other in list(self._goals.values()):
            if goal.call.id in other.waits_for:
                self._release(other, goal, ending)

    def _release(self, waiting: Goal, ended: Goal, ending: Ending) -> None:
        waiting.waits_for.discard(ended.call.id)
        if ending.state == ToolEvent.STATE_ORPHANED:
            waiting.cause = 'preempted'
            self._end(waiting, orphaned_before(waiting, ended))
        elif not waiting.waits_for and waiting.phase is Phase.WAITING:
            waiting.phase = Phase.SENDING
            self._send(waiting)


def orphaned_before(waiting: Goal, ended: Goal) -> Ending:
    """Return the ending of a call that was never sent: the goal before it may still run."""
    ending = canceled_ending(waiting)
    ending.message = (f'not sent: the cancel of {ended.call.name} is not confirmed, the robot '
                      'may still be moving')
    ending.text = 'not sent: the earlier call may still be moving'
    return ending

