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
Goals that an earlier life of this node left at an action server, as after a kill.

The ids that this node gives to goals are UUIDs of version 5; a goal of that kind, accepted before
this node was configured, is taken for a leftover. That is no proof: another gemma_node gives such
ids too, and rclcpp's ids, 16 random bytes, have that form once in 64. So a goal is canceled only
where the operator has asked for it. Executor thread only.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
import time
from typing import Any
import uuid

from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle

from gemma_node.ros.conversions import time_ns
from gemma_node.ros.conversions import uuid_hex
from gemma_node.ros.conversions import uuid_message

RETRY_S = 1.0
MAX_TRIES = 10


class Leftovers:
    """
    The leftovers of one server: told once, and canceled until they end, where that is wanted.

    `tell` takes a sentence for the operator.
    """

    def __init__(
        self, client: ActionClient, action_type: Any, name: str, *, since_ns: int,
        is_canceling: bool, tell: Callable[[str], None],
    ) -> None:
        self._client = client
        self._response = action_type.Impl.SendGoalService.Response(accepted=True)
        self._name = name
        self._since_ns = since_ns
        self._is_canceling = is_canceling
        self._tell = tell
        self._tries: dict[str, int] = {}
        self._told: set[str] = set()
        self._asked_s = 0.0

    def see(self, foreign: Iterable[Any]) -> None:
        """Take the states of the active goals that this node has not sent in this life."""
        found = [uuid_hex(status.goal_info.goal_id) for status in foreign
                 if time_ns(status.goal_info.stamp) < self._since_ns]
        found = [goal_id for goal_id in found if uuid.UUID(goal_id).version == 5]
        for goal_id in found:
            if goal_id not in self._told:
                self._told.add(goal_id)
                what = 'it is canceled' if self._is_canceling else 'it runs on'
                self._tell(f'{self._name} runs goal {goal_id}, by its id one that this node sent '
                           f'before it was configured: {what}')
        self._tries = {goal_id: self._tries.get(goal_id, 0) for goal_id in found}

    def tend(self) -> None:
        """Cancel what is left; called about twenty times a second."""
        if not self._is_canceling or not self._tries or not self._client.server_is_ready():
            return
        now_s = time.monotonic()
        if now_s - self._asked_s < RETRY_S:
            return
        self._asked_s = now_s
        for goal_id, tries in self._tries.items():
            if tries < MAX_TRIES:
                ClientGoalHandle(
                    self._client, uuid_message(goal_id), self._response).cancel_goal_async()
            elif tries == MAX_TRIES:
                self._tell(f'{self._name} does not end goal {goal_id}: the robot may still be '
                           'moving')
            self._tries[goal_id] = tries + 1
