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
Carries goals to action servers, and notices when a server dies or another client drives it.

A server is asked now and then for the result of a goal that never was: whatever lives answers
at once, long before the middleware notices a death. Executor thread only.
"""

from __future__ import annotations

from collections import OrderedDict
import time
from typing import Any
import uuid

from action_msgs.msg import GoalStatus
from action_msgs.msg import GoalStatusArray
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.qos import qos_profile_action_status_default

from gemma_node.ros.conversions import uuid_hex
from gemma_node.ros.conversions import uuid_message
from gemma_node.ros.endings import canceled_ending
from gemma_node.ros.endings import rejected_ending
from gemma_node.ros.endings import result_ending
from gemma_node.ros.goals import Goal
from gemma_node.ros.goals import Phase
from gemma_node.ros.guard import CallbackGuard
from gemma_node.ros.leftovers import Leftovers
from gemma_node.ros.messages import interface_class
from gemma_node.ros.messages import to_plain
from gemma_node.ros.transport import Follower
from gemma_node.ros.transport import Loss

SERVER_GONE_S = 0.5
CANCEL_RETRY_S = 1.0
# A preempted goal's result may come before the status that tells of the goal that took over.
TAKEN_OVER_S = 1.0
MAX_OWN_GOALS = 4096
_ACTIVE = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING)


class ActionTransport:
    """One action server as seen from here; `silence_s` 0 = never asked for a sign of life."""

    def __init__(
        self, node: Node, interface_type: str, name: str, follower: Follower,
        guard: CallbackGuard, *, silence_s: float, cancels_leftovers: bool,
    ) -> None:
        self._node = node
        self._name = name
        self._follower = follower
        self._guard = guard
        self._type = interface_class(interface_type)
        self._client = ActionClient(node, self._type, name)
        self._probe = _Probe(node, self._type, name, guard, silence_s)
        self._leftovers = Leftovers(
            self._client, self._type, name, since_ns=node.get_clock().now().nanoseconds,
            is_canceling=cancels_leftovers, tell=follower.left_over)
        self._status = node.create_subscription(
            GoalStatusArray, f'{name}/_action/status', guard(self._take_status),
            qos_profile_action_status_default)
        self._own: OrderedDict[str, None] = OrderedDict()
        self._foreign: frozenset[str] = frozenset()
        self._lost_goal: tuple[Goal, float] | None = None

    @property
    def message_type(self) -> Any:
        """Return the class of what is sent."""
        return self._type.Goal

    @property
    def is_driven_by_others(self) -> bool:
        """Return whether a goal that is not ours is active."""
        return bool(self._foreign)

    def unavailable(self) -> str:
        """Return why nothing can be sent now, '' when it can."""
        return '' if self._client.server_is_ready() else f'no action server is up at {self._name}'

    def send(self, goal: Goal) -> None:
        """Send a goal; what comes of it is reported to the follower."""
        self._own[goal.call.id] = None
        if len(self._own) > MAX_OWN_GOALS:
            self._own.popitem(last=False)
        future = self._client.send_goal_async(
            goal.message, goal_uuid=uuid_message(goal.call.id),
            feedback_callback=self._guard(lambda message: self._take_feedback(goal, message)))
        future.add_done_callback(self._guard(lambda done: self._take_response(goal, done)))

    def cancel(self, goal: Goal) -> None:
        """Ask the server to cancel; asked again by `watch` until the goal ends."""
        if goal.handle is not None:
            goal.asked_again_s = time.monotonic()
            goal.handle.cancel_goal_async()

    def watch(self, goal: Goal, now_s: float) -> Loss:
        """Look after a goal that runs or is being canceled; return whether its server is lost."""
        is_due = now_s - goal.asked_again_s > CANCEL_RETRY_S
        if goal.phase is Phase.CANCELING and goal.handle is not None and is_due:
            self.cancel(goal)
        if self._client.server_is_ready():
            goal.server_seen_s = now_s
            return self._probe.watch(goal, now_s)
        is_gone = now_s - max(goal.server_seen_s, goal.sent_s) > SERVER_GONE_S
        return Loss.GONE if is_gone else Loss.NONE

    def tend(self) -> None:
        """See to the end of goals of an earlier life; called about twenty times a second."""
        self._leftovers.tend()

    def destroy(self) -> None:
        """Destroy the clients."""
        self._node.destroy_subscription(self._status)
        self._probe.destroy()
        self._client.destroy()

    def _take_response(self, goal: Goal, done: Any) -> None:
        self._probe.hear()
        handle = done.result()
        if goal.phase is Phase.ENDED:
            if handle.accepted:
                self._follower.orphaned(goal)
                handle.cancel_goal_async()
                self._follow(goal, handle)
            return
        if not handle.accepted:
            ending = canceled_ending(goal) if goal.cause else rejected_ending(goal)
            self._follower.ended(goal, ending)
            return
        goal.handle = handle
        self._follower.accepted(goal)
        self._follow(goal, handle)
        if goal.phase is Phase.CANCELING:
            self.cancel(goal)

    def _follow(self, goal: Goal, handle: Any) -> None:
        future = handle.get_result_async()
        future.add_done_callback(self._guard(lambda done: self._take_result(goal, done)))

    def _take_result(self, goal: Goal, done: Any) -> None:
        self._probe.hear()
        response = done.result()
        is_uninvited = not goal.cause and response.status in (
            GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_CANCELED)
        if is_uninvited and goal.spec.on_taken_over == 'yield':
            self._lost_goal = (goal, time.monotonic())
            if self._foreign:
                self._lost_goal = None
                self._follower.taken_over(goal)
        self._follower.ended(goal, result_ending(goal, response.status, response.result))

    def _take_feedback(self, goal: Goal, message: Any) -> None:
        self._probe.hear()
        self._follower.heard(goal, to_plain(message.feedback))

    def _take_status(self, message: GoalStatusArray) -> None:
        self._probe.hear()
        active = {uuid_hex(status.goal_info.goal_id): status for status in message.status_list
                  if status.status in _ACTIVE}
        foreign = frozenset(active.keys() - self._own.keys())
        self._leftovers.see(active[goal_id] for goal_id in foreign)
        has_new = bool(foreign - self._foreign)
        self._foreign = foreign
        if not has_new:
            return
        for goal in self._follower.goals_at(self._name):
            if goal.spec.on_taken_over == 'yield':
                self._follower.taken_over(goal)
        lost, self._lost_goal = self._lost_goal, None
        if lost is not None and time.monotonic() - lost[1] < TAKEN_OVER_S:
            self._follower.taken_over(lost[0])


class _Probe:
    """Signs of life of one server, asked for while a goal of ours runs there."""

    def __init__(
        self, node: Node, action_type: Any, name: str, guard: CallbackGuard, silence_s: float,
    ) -> None:
        self._node = node
        self._guard = guard
        self._silence_s = silence_s
        self._request_type = action_type.Impl.GetResultService.Request
        self._client = node.create_client(
            action_type.Impl.GetResultService, f'{name}/_action/get_result')
        self._pending: Any = None
        self._asked_s = 0.0
        self._heard_s = 0.0

    def hear(self) -> None:
        """Note a sign of life."""
        self._heard_s = time.monotonic()

    def watch(self, goal: Goal, now_s: float) -> Loss:
        """Ask when it is time; return whether the server has been silent for too long."""
        if not self._silence_s or goal.handle is None:
            return Loss.NONE
        heard_s = max(self._heard_s, goal.sent_s)
        is_due = now_s - max(heard_s, self._asked_s) > self._silence_s / 4
        if is_due and self._client.service_is_ready():
            self._ask(now_s)
        return Loss.SILENT if now_s - heard_s > self._silence_s else Loss.NONE

    def destroy(self) -> None:
        self._node.destroy_client(self._client)

    def _ask(self, now_s: float) -> None:
        self._asked_s = now_s
        if self._pending is not None:
            self._client.remove_pending_request(self._pending)
        request = self._request_type(goal_id=uuid_message(uuid.uuid4().hex))
        self._pending = self._client.call_async(request)
        self._pending.add_done_callback(self._guard(self._take_answer))

    def _take_answer(self, done: Any) -> None:
        self._pending = None
        self.hear()
