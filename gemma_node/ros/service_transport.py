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
Carries calls to services.

A service cannot be canceled: its answer is waited for, and without one the call is an orphan,
unless the tool is idempotent. Executor thread only.
"""

from __future__ import annotations

import time
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.node import Node

from gemma_node.ros.endings import canceled_ending
from gemma_node.ros.endings import result_ending
from gemma_node.ros.goals import Goal
from gemma_node.ros.guard import CallbackGuard
from gemma_node.ros.messages import interface_class
from gemma_node.ros.transport import Follower
from gemma_node.ros.transport import Loss

SERVER_GONE_S = 0.5
FORGET_S = 60.0


class ServiceTransport:
    """One service as seen from here."""

    def __init__(
        self, node: Node, interface_type: str, name: str, follower: Follower,
        guard: CallbackGuard,
    ) -> None:
        self._node = node
        self._name = name
        self._follower = follower
        self._guard = guard
        self._type = interface_class(interface_type)
        self._client = node.create_client(self._type, name)
        self._pending: dict[str, tuple[Any, float]] = {}

    @property
    def message_type(self) -> Any:
        """Return the class of what is sent."""
        return self._type.Request

    @property
    def is_driven_by_others(self) -> bool:
        """Return false: who else calls a service is not to be seen."""
        return False

    def unavailable(self) -> str:
        """Return why nothing can be sent now, '' when it can."""
        return '' if self._client.service_is_ready() else f'no service is up at {self._name}'

    def send(self, goal: Goal) -> None:
        """Call the service; its answer ends the goal."""
        self._forget_old()
        future = self._client.call_async(goal.message)
        self._pending[goal.call.id] = (future, time.monotonic())
        self._follower.accepted(goal)
        future.add_done_callback(self._guard(lambda done: self._take_response(goal, done)))

    def cancel(self, goal: Goal) -> None:
        """End a call at once when doing it again would change nothing; else wait on."""
        if goal.spec.idempotent:
            self._forget(goal.call.id)
            self._follower.ended(goal, canceled_ending(goal))

    def watch(self, goal: Goal, now_s: float) -> Loss:
        """Return whether the service is lost."""
        if self._client.service_is_ready():
            goal.server_seen_s = now_s
            return Loss.NONE
        is_gone = now_s - max(goal.server_seen_s, goal.sent_s) > SERVER_GONE_S
        return Loss.GONE if is_gone else Loss.NONE

    def destroy(self) -> None:
        """Destroy the client."""
        self._node.destroy_client(self._client)

    def _take_response(self, goal: Goal, done: Any) -> None:
        self._pending.pop(goal.call.id, None)
        if not done.cancelled():
            self._follower.ended(
                goal, result_ending(goal, GoalStatus.STATUS_SUCCEEDED, done.result()))

    def _forget(self, call_id: str) -> None:
        future, _ = self._pending.pop(call_id, (None, 0.0))
        if future is not None:
            self._client.remove_pending_request(future)

    def _forget_old(self) -> None:
        """Keep no unanswered call for ever: a server that died answers none."""
        for call_id, (_, sent_s) in list(self._pending.items()):
            if time.monotonic() - sent_s > FORGET_S and not any(
                    goal.call.id == call_id for goal in self._follower.goals_at(self._name)):
                self._forget(call_id)
