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
Puts questions to the gate with what only ROS knows: inputs now, servers, the node's state.

Executor thread only.
"""

from __future__ import annotations

from collections.abc import Callable
import math
import time
from typing import TYPE_CHECKING

from gemma_node.core import Answer
from gemma_node.core import ErrorCode
from gemma_node.core import Observation
from gemma_node.policy.gate import BUILTINS
from gemma_node.policy.gate import Gate
from gemma_node.policy.gate import Verdict
from gemma_node.policy.gate import VerdictKind
from gemma_node.policy.gate import withdraw
from gemma_node.policy.limits import Finding
from gemma_node.ros.dispatch import Dispatch
from gemma_node.ros.goals import Goal
from gemma_node.ros.robots import Robot
from gemma_node.tools.spec import ToolSpec

if TYPE_CHECKING:
    from gemma_node.ros.flow import Open


class Judging:
    """The gate's word on calls: as they are made, before they are sent, and when approved."""

    def __init__(
        self, gate: Gate, dispatch: Dispatch, robots: dict[str, Robot], *,
        now_ns: Callable[[], int], stamp_tolerance_s: float,
    ) -> None:
        self.gate = gate
        self._dispatch = dispatch
        self._robots = robots
        self._now_ns = now_ns
        self._stamp_tolerance_s = stamp_tolerance_s
        self.is_active = False
        self.not_active_reason = 'the node is not active'

    def snapshot(self, robot: Robot) -> tuple[Observation, ...]:
        """Return a robot's inputs as they are now."""
        return robot.inputs.snapshot(self._now_ns(), self._stamp_tolerance_s)

    def unavailable(self, robot: Robot) -> tuple[str, ...]:
        """Return the tools that cannot or may not be reached now; the grammar leaves them out."""
        return tuple(spec.name for spec in robot.specs.values()
                     if not spec.is_builtin and self.why_unavailable(robot, spec))

    def why_unavailable(self, robot: Robot, spec: ToolSpec) -> str:
        """Return why no call of a tool can go out now, '' when one can."""
        denied = self.gate.denied(robot.config.name, spec)
        if denied:
            return denied[0].sentence
        return (self.gate.resting(robot.config.name, spec, time.monotonic())
                or self._dispatch.unavailable(robot.config.namespace, spec))

    def verdicts(
        self, opened: Open, answer: Answer, robot: Robot, observations: tuple[Observation, ...],
    ) -> list[Verdict]:
        """Return a verdict for each call of an answer."""
        now_s = time.monotonic()
        verdicts = self.gate.after(
            opened.request, answer.calls, observations, now_s=now_s, seen=opened.observations,
            waited_s=0.0 if math.isnan(answer.queue_time) else answer.queue_time,
            **self._servers(robot))
        code, sentence = ErrorCode.NONE, ''
        if opened.is_canceled:
            code, sentence = ErrorCode.CANCELED, 'the request was canceled'
        elif opened.deadline_s and now_s > opened.accepted_s + opened.deadline_s:
            code, sentence = ErrorCode.DEADLINE_EXCEEDED, 'the decision came after its deadline'
        elif not self.is_active:
            code, sentence = ErrorCode.NOT_ACTIVE, self.not_active_reason
        if not sentence:
            return verdicts
        return [verdict if call.name in BUILTINS else withdraw(verdict, code, sentence)
                for call, verdict in zip(answer.calls, verdicts, strict=True)]

    def again(self, goal: Goal) -> Finding | None:
        """Return why a call that waited may not be sent any more."""
        finding = self._too_late(goal)
        if finding is not None:
            return finding
        robot = self._robots[goal.robot]
        return self.gate.again(goal.robot, goal.call, self.snapshot(robot),
                                now_s=time.monotonic(), **self._servers(robot))

    def approve(self, goal: Goal) -> Verdict:
        """Return the gate's word on a call that an operator approves now."""
        finding = self._too_late(goal)
        if finding is not None:
            return Verdict(kind=VerdictKind.REFUSED, mode=goal.spec.mode, code=finding.code,
                           violations=(finding.sentence,))
        robot = self._robots[goal.robot]
        return self.gate.approve(goal.robot, goal.call, self.snapshot(robot),
                                  now_s=time.monotonic(), **self._servers(robot))

    def _too_late(self, goal: Goal) -> Finding | None:
        if not self.is_active:
            return Finding(ErrorCode.NOT_ACTIVE, self.not_active_reason)
        if goal.valid_until_ns and self._now_ns() > goal.valid_until_ns:
            return Finding(ErrorCode.DEADLINE_EXCEEDED, 'its decision is not valid any more')
        return None

    def _servers(self, robot: Robot) -> dict[str, Callable[[ToolSpec], str]]:
        namespace = robot.config.namespace
        return {'available': lambda spec: self._dispatch.unavailable(namespace, spec),
                'foreign': lambda spec: self._dispatch.foreign(namespace, spec)}
