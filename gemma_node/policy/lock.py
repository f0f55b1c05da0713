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
Locks: a Bool topic that stops everything while true, and, with a timeout, while silent.

Times are on a steady clock, passed in.
"""

from __future__ import annotations

from gemma_node.policy.settings import NodeSettings

NODE = ''


class Locks:
    """The node's lock and each robot's. Executor thread only."""

    def __init__(self, settings: NodeSettings) -> None:
        self._timeouts = {robot.name: robot.lock_timeout_s for robot in settings.robots}
        self._timeouts[NODE] = settings.lock_timeout_s
        self._heard: dict[str, tuple[bool, float]] = {}

    def hear(self, source: str, is_locked: bool, now_s: float) -> None:
        """Take a message of the node's lock topic (source NODE) or of a robot's."""
        self._heard[source] = (is_locked, now_s)

    def reason(self, robot: str, now_s: float) -> str:
        """Return why the robot is locked, '' when it is not."""
        return self._reason(NODE, 'the node', now_s) or self._reason(
            robot, f"robot '{robot}'", now_s)

    def _reason(self, source: str, owner: str, now_s: float) -> str:
        is_locked, heard_s = self._heard.get(source, (False, None))
        if is_locked:
            return f'{owner} is locked'
        timeout_s = self._timeouts[source]
        if not timeout_s:
            return ''
        if heard_s is None:
            return f'{owner} is locked: its lock topic was never heard'
        if now_s - heard_s > timeout_s:
            return (f'{owner} is locked: its lock topic is silent for more than '
                    f'{timeout_s:g} s')
        return ''
