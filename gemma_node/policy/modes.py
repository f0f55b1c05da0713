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
How far a call may go: shadow, approve or auto. The lowest of node, robot and tool counts.

Holds the modes that SetMode changed; the parameter file and the tools file give the rest.
"""

from __future__ import annotations

from gemma_node.core import Mode
from gemma_node.policy.settings import NodeSettings


class Modes:
    """Modes of the node, its robots and their tools. Executor thread only."""

    def __init__(self, settings: NodeSettings) -> None:
        self._node = settings.mode
        self._robots = {robot.name: robot.mode for robot in settings.robots}
        self._tools: dict[tuple[str, str], Mode] = {}
        self._disarmed: dict[str, str] = {}

    def disarm(self, robot: str, reason: str) -> None:
        """Hold a robot in SHADOW until `rearm`; the first reason stays."""
        self._disarmed.setdefault(robot, reason)

    def rearm(self, robot: str) -> None:
        """Let a robot have its own mode again."""
        self._disarmed.pop(robot, None)

    def disarmed(self, robot: str) -> str:
        """Return why a robot is held in SHADOW, '' when it is not."""
        return self._disarmed.get(robot, '')

    def set(self, mode: Mode, *, robot: str = '', tool: str = '') -> None:
        """Set the node's mode, a robot's, or a tool's ('' as robot: that of every robot)."""
        if tool:
            for name in [robot] if robot else list(self._robots):
                self._tools[name, tool] = mode
        elif robot:
            self._robots[robot] = mode
        else:
            self._node = mode

    def of_robot(self, robot: str) -> Mode:
        """Return the lower of node and robot, SHADOW while disarmed."""
        if robot in self._disarmed:
            return Mode.SHADOW
        return min(self._node, self._robots[robot])

    def of_tool(self, robot: str, tool: str, most: Mode) -> Mode:
        """Return the effective mode of a tool whose file allows at most `most`."""
        return min(self.of_robot(robot), most, self._tools.get((robot, tool), Mode.AUTO))
