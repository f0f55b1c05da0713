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
What each robot's tools are doing now: resources held, and how lately each tool was used.

Times are on a steady clock, passed in. Executor thread only.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """One goal that may still move the robot."""

    robot: str
    call_id: str
    tool: str
    resources: frozenset[str]


class Usage:
    """Keeps running goals, and the time each tool was last sent and last ended."""

    def __init__(self) -> None:
        self._running: dict[str, Running] = {}
        self._sent_s: dict[tuple[str, str], float] = {}
        self._ended_s: dict[tuple[str, str], float] = {}

    def start(self, running: Running, now_s: float) -> None:
        """Hold the call's resources until `end`."""
        self._running[running.call_id] = running
        self._sent_s[running.robot, running.tool] = now_s

    def end(self, call_id: str, now_s: float) -> None:
        """Release what the call held; unknown ids change nothing."""
        running = self._running.pop(call_id, None)
        if running is not None:
            self._ended_s[running.robot, running.tool] = now_s

    def running(self, robot: str) -> list[Running]:
        """Return the robot's running calls, oldest first."""
        return [running for running in self._running.values() if running.robot == robot]

    def conflicts(self, robot: str, resources: frozenset[str]) -> list[Running]:
        """Return the robot's running calls that hold any of these resources."""
        return [running for running in self.running(robot) if running.resources & resources]

    def too_soon(
        self, robot: str, tool: str, now_s: float, *, rate_limit_hz: float, cooldown_s: float
    ) -> str:
        """Return why the tool may not be sent yet, '' when it may."""
        sent_s = self._sent_s.get((robot, tool))
        if rate_limit_hz > 0 and sent_s is not None and now_s - sent_s < 1.0 / rate_limit_hz:
            return (f'{tool} was sent {now_s - sent_s:.1f} s ago; at most {rate_limit_hz:g} a '
                    'second are allowed')
        ended_s = self._ended_s.get((robot, tool))
        if ended_s is not None and now_s - ended_s < cooldown_s:
            return (f'{tool} ended {now_s - ended_s:.1f} s ago; it must rest for '
                    f'{cooldown_s:g} s')
        return ''
