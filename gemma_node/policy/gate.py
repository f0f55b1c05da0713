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
The policy gate: may this request be asked, and may this call go to the robot.

`before` judges a request, `after` each call of its answer against a new snapshot. No ROS and no
clock: times on a steady clock are passed in. Executor thread only.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from enum import IntEnum

from gemma_node.core import Call
from gemma_node.core import CallKind
from gemma_node.core import ErrorCode
from gemma_node.core import Mode
from gemma_node.core import Observation
from gemma_node.core import Request
from gemma_node.policy.limits import check_area
from gemma_node.policy.limits import check_arguments
from gemma_node.policy.limits import check_required
from gemma_node.policy.limits import check_requirement
from gemma_node.policy.limits import Finding
from gemma_node.policy.lock import Locks
from gemma_node.policy.modes import Modes
from gemma_node.policy.settings import fold_words
from gemma_node.policy.settings import NodeSettings
from gemma_node.policy.usage import Running
from gemma_node.policy.usage import Usage
from gemma_node.tools.spec import ToolSpec

STOP = 'stop'
BUILTINS = (STOP, 'no_action', 'ask_operator')


class VerdictKind(IntEnum):
    """What becomes of a call; equals ToolCall.VERDICT_*."""

    UNKNOWN = 0
    WOULD_SEND = 1
    NEEDS_APPROVAL = 2
    SENT = 3
    REFUSED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The gate's word on one call: own goals to cancel, and own goals to wait for, before it."""

    kind: VerdictKind
    mode: Mode
    code: ErrorCode = ErrorCode.NONE
    violations: tuple[str, ...] = ()
    preempts: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()


Available = Callable[[ToolSpec], str]
MAX_QUEUED = 8


def _always(spec: ToolSpec) -> str:
    return ''


class Gate:
    """
    Judges requests and calls of all robots.

    `tools` maps each robot to its tools by name. `usage` is written by dispatch as goals start
    and end.
    """

    def __init__(
        self, settings: NodeSettings, tools: Mapping[str, Mapping[str, ToolSpec]]
    ) -> None:
        self._settings = settings
        self._tools = tools
        self._asked_s: dict[str, float] = {}
        self.modes = Modes(settings)
        self.locks = Locks(settings)
        self.usage = Usage()

    def is_stop_word(self, robot: str, text: str) -> bool:
        """Return whether this command stops the robot without asking the model."""
        return fold_words(text) in self._settings.robot(robot).stop_words

    def before(
        self, request: Request, observations: Sequence[Observation], *, now_s: float
    ) -> Finding | None:
        """Return why the request is refused unasked, or None. An asked request counts."""
        reason = self.locks.reason(request.robot, now_s)
        if reason:
            return Finding(ErrorCode.LOCKED, reason)
        findings = check_required(observations)
        if findings:
            return findings[0]
        return self._check_rate(request.robot, now_s)

    def after(
        self, request: Request, calls: Sequence[Call], observations: Sequence[Observation], *,
        now_s: float, available: Available = _always, foreign: Available = _always,
    ) -> list[Verdict]:
        """
        Return a verdict for each call, in order; earlier calls hold their resources.

        `available` says why a tool's server cannot be reached, `foreign` who else drives it.
        """
        by_name = {observation.name: observation for observation in observations}
        verdicts: list[Verdict] = []
        claimed: set[str] = set()
        for call in calls:
            verdict = self._judge(request, call, by_name, now_s, (available, foreign))
            spec = self._tools[request.robot].get(call.name)
            if spec is not None and verdict.kind is not VerdictKind.REFUSED:
                shared = claimed & set(spec.resources)
                if shared:
                    verdict = _refuse(verdict.mode, [Finding(
                        ErrorCode.RESOURCE_BUSY,
                        f"'{min(shared)}' is taken by an earlier call of this decision")])
                else:
                    claimed |= set(spec.resources)
            verdicts.append(verdict)
        return verdicts

    def broken_during(
        self, spec: ToolSpec, observations: Sequence[Observation]
    ) -> list[Finding]:
        """Return which of the requirements that hold while a goal runs are broken now."""
        by_name = {observation.name: observation for observation in observations}
        return [finding for requirement in spec.requires if requirement.during
                for finding in check_requirement(requirement, by_name)]

    def again(
        self, robot: str, call: Call, observations: Sequence[Observation], *, now_s: float,
        available: Available = _always, foreign: Available = _always,
    ) -> Finding | None:
        """Return why a call that was let through and then waited may not be sent any more."""
        spec = self._tools[robot][call.name]
        by_name = {observation.name: observation for observation in observations}
        request = Request(id='', robot=robot, text='')
        findings = self._static_findings(request, call, spec, by_name, now_s)
        findings += _server_findings(spec, available, foreign)
        if self.modes.of_tool(robot, spec.name, spec.mode) is Mode.SHADOW:
            findings.append(Finding(ErrorCode.NOT_ALLOWED, f'{spec.name} is in shadow mode now'))
        return findings[0] if findings else None

    def start(self, robot: str, call: Call, now_s: float) -> None:
        """Hold the resources of a call that is being sent."""
        spec = self._tools[robot][call.name]
        self.usage.start(Running(robot=robot, call_id=call.id, tool=call.name,
                                 resources=frozenset(spec.resources)), now_s)

    def _check_rate(self, robot: str, now_s: float) -> Finding | None:
        limit_hz = self._settings.robot(robot).max_request_rate_hz
        asked_s = self._asked_s.get(robot)
        if limit_hz > 0 and asked_s is not None and now_s - asked_s < 1.0 / limit_hz:
            return Finding(ErrorCode.RATE_LIMITED,
                           f"robot '{robot}' may be asked at most {limit_hz:g} times a second")
        self._asked_s[robot] = now_s
        return None

    def _judge(
        self, request: Request, call: Call, inputs: Mapping[str, Observation], now_s: float,
        servers: tuple[Available, Available],
    ) -> Verdict:
        robot_mode = self.modes.of_robot(request.robot)
        if call.name in BUILTINS:
            kind = VerdictKind.SENT if call.name == STOP else VerdictKind.UNKNOWN
            return Verdict(kind=kind, mode=robot_mode)
        spec = self._tools[request.robot].get(call.name)
        if spec is None:
            return _refuse(robot_mode, [Finding(
                ErrorCode.UNKNOWN_TOOL, f"robot '{request.robot}' has no tool '{call.name}'")])
        mode = self.modes.of_tool(request.robot, spec.name, spec.mode)
        findings = self._static_findings(request, call, spec, inputs, now_s)
        if findings:
            return _refuse(mode, findings)
        too_soon = self.usage.too_soon(request.robot, spec.name, now_s,
                                       rate_limit_hz=spec.rate_limit_hz,
                                       cooldown_s=spec.cooldown_s)
        if too_soon:
            return _refuse(mode, [Finding(ErrorCode.RATE_LIMITED, too_soon)])
        if mode is Mode.SHADOW:
            return Verdict(kind=VerdictKind.WOULD_SEND, mode=mode)
        findings = _server_findings(spec, *servers)
        if findings:
            return _refuse(mode, findings)
        return self._judge_sending(request.robot, spec, mode)

    def _static_findings(
        self, request: Request, call: Call, spec: ToolSpec, inputs: Mapping[str, Observation],
        now_s: float,
    ) -> list[Finding]:
        if request.allowed_tools and call.name not in request.allowed_tools:
            return [Finding(ErrorCode.NOT_ALLOWED, f"the request does not allow '{call.name}'")]
        reason = self.locks.reason(request.robot, now_s)
        if reason:
            return [Finding(ErrorCode.LOCKED, reason)]
        findings = check_arguments(spec.declaration.parameters, call.arguments)
        if not findings and spec.inside is not None:
            findings = check_area(spec.inside, call.arguments)
        findings += check_required(inputs.values())
        for requirement in spec.requires:
            findings += check_requirement(requirement, inputs)
        return findings

    def _judge_sending(self, robot: str, spec: ToolSpec, mode: Mode) -> Verdict:
        kind = VerdictKind.SENT if mode is Mode.AUTO else VerdictKind.NEEDS_APPROVAL
        busy = self.usage.conflicts(robot, frozenset(spec.resources))
        ids = tuple(running.call_id for running in busy)
        if not busy or spec.on_busy == 'preempt_own':
            return Verdict(kind=kind, mode=mode, preempts=ids)
        names = ', '.join(sorted({running.tool for running in busy}))
        if spec.on_busy == 'queue' and len(busy) <= MAX_QUEUED:
            return Verdict(kind=kind, mode=mode, follows=ids)
        queued = f', and {len(busy) - 1} more wait' if spec.on_busy == 'queue' else ''
        return _refuse(mode, [Finding(
            ErrorCode.RESOURCE_BUSY, f'{spec.name} must wait: {names} is running{queued}')])


def withdraw(verdict: Verdict, code: ErrorCode, sentence: str) -> Verdict:
    """Return the verdict as refused, for a reason found after the gate."""
    return replace(verdict, kind=VerdictKind.REFUSED, code=code,
                   violations=(*verdict.violations, sentence), preempts=(), follows=())


def kind_of(spec: ToolSpec | None) -> CallKind:
    """Return what a call drives; builtins and unknown tools drive nothing."""
    return CallKind.NONE if spec is None else CallKind(spec.kind)


def _server_findings(spec: ToolSpec, available: Available, foreign: Available) -> list[Finding]:
    if missing := available(spec):
        return [Finding(ErrorCode.SERVER_UNAVAILABLE, missing)]
    other = foreign(spec)
    return [Finding(ErrorCode.RESOURCE_BUSY, other)] if other else []


def _refuse(mode: Mode, findings: Sequence[Finding]) -> Verdict:
    unique = tuple(dict.fromkeys(finding.sentence for finding in findings))
    return Verdict(kind=VerdictKind.REFUSED, mode=mode, code=findings[0].code, violations=unique)
