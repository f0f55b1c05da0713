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
from gemma_node.policy.checks import Available
from gemma_node.policy.checks import Case
from gemma_node.policy.checks import Check
from gemma_node.policy.checks import CONFIDENCE
from gemma_node.policy.checks import make_checks
from gemma_node.policy.checks import nothing_against as _always
from gemma_node.policy.checks import ONCE
from gemma_node.policy.checks import PACE
from gemma_node.policy.checks import SERVERS
from gemma_node.policy.checks import STANDING
from gemma_node.policy.interfaces import check_interface
from gemma_node.policy.interfaces import Names
from gemma_node.policy.limits import check_required
from gemma_node.policy.limits import check_requirement
from gemma_node.policy.limits import Finding
from gemma_node.policy.lock import Locks
from gemma_node.policy.modes import Modes
from gemma_node.policy.pace import Pace
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


MAX_QUEUED = 8


class Gate:
    """
    Judges requests and calls of all robots.

    `tools` maps each robot to its tools by name. `usage` is written by dispatch as goals start
    and end. `checks` are the single checks by name.
    """

    def __init__(
        self, settings: NodeSettings, tools: Mapping[str, Mapping[str, ToolSpec]],
        names: Names | None = None,
    ) -> None:
        self._settings = settings
        self._tools = tools
        self._names = names or Names()
        self._asked_s: dict[str, float] = {}
        self._denied: dict[tuple[str, str], list[Finding]] = {}
        self.modes = Modes(settings)
        self.locks = Locks(settings)
        self.usage = Usage()
        self.pace = Pace()
        self.checks: dict[str, Check] = make_checks(
            self.locks, self.usage, self.pace, self._names)

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
        finding = self._check_rate(request.robot, now_s)
        if finding is None:
            self.pace.note_request(request)
        return finding

    def after(
        self, request: Request, calls: Sequence[Call], observations: Sequence[Observation], *,
        now_s: float, available: Available = _always, foreign: Available = _always,
        seen: Sequence[Observation] = (), waited_s: float = 0.0,
    ) -> list[Verdict]:
        """
        Return a verdict for each call, in order; earlier calls hold their resources.

        `available` says why a tool's server cannot be reached, `foreign` who else drives it.
        `seen` is what the model was shown, `waited_s` how long that lay before it was read.
        """
        by_name = {observation.name: observation for observation in observations}
        verdicts: list[Verdict] = []
        claimed: set[str] = set()
        for call in calls:
            spec = self._tools[request.robot].get(call.name)
            if call.name in BUILTINS or spec is None:
                verdicts.append(self._judge_other(request.robot, call))
                continue
            case = self._case(request.robot, call, spec, by_name, now_s)
            verdict = self._judge(replace(
                case, request=request, available=available, foreign=foreign, seen=tuple(seen),
                waited_s=waited_s))
            if verdict.kind is not VerdictKind.REFUSED:
                verdict = self._claim(verdict, spec, claimed)
            if verdict.kind in (VerdictKind.SENT, VerdictKind.NEEDS_APPROVAL):
                self.pace.note(request.robot, call, now_s)
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
        case = replace(self._case(robot, call, spec, by_name, now_s),
                       available=available, foreign=foreign)
        if reason := self.modes.disarmed(robot):
            return Finding(ErrorCode.NEEDS_REARM, f"robot '{robot}' must be re-armed: {reason}")
        if case.mode is Mode.SHADOW:
            return Finding(ErrorCode.NOT_ALLOWED, f'{spec.name} is in shadow mode now')
        findings = self._run(STANDING, case) or self._run(SERVERS, case)
        return findings[0] if findings else None

    def approve(
        self, robot: str, call: Call, observations: Sequence[Observation], *, now_s: float,
        available: Available = _always, foreign: Available = _always,
    ) -> Verdict:
        """Judge a call that an operator approves now, as if it had been made now."""
        spec = self._tools[robot][call.name]
        case = self._case(robot, call, spec, {}, now_s)
        finding = self.again(robot, call, observations, now_s=now_s, available=available,
                             foreign=foreign)
        if finding is not None:
            return _refuse(case.mode, [finding])
        too_soon = self._run(('rate',), case)
        if too_soon:
            return _refuse(case.mode, too_soon)
        return self._judge_sending(robot, spec, Verdict(kind=VerdictKind.SENT, mode=case.mode))

    def denied(self, robot: str, spec: ToolSpec) -> list[Finding]:
        """Return why no call of this tool of a robot is ever let through; asked of ROS once."""
        key = (robot, spec.name)
        if key not in self._denied:
            self._denied[key] = check_interface(self._settings.robot(robot), spec, self._names)
        return self._denied[key]

    def resting(self, robot: str, spec: ToolSpec, now_s: float) -> str:
        """Return that a tool must wait for its own pace, '' when it need not."""
        is_resting = self.usage.too_soon(
            robot, spec.name, now_s, rate_limit_hz=spec.rate_limit_hz, cooldown_s=spec.cooldown_s)
        return 'its rate_limit or cooldown has not passed yet' if is_resting else ''

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

    def _case(
        self, robot: str, call: Call, spec: ToolSpec, inputs: Mapping[str, Observation],
        now_s: float,
    ) -> Case:
        config = self._settings.robot(robot)
        return Case(request=Request(id='', robot=robot, text=''), call=call, spec=spec,
                    robot=config, inputs=inputs, now_s=now_s,
                    mode=self.modes.of_tool(robot, spec.name, spec.mode))

    def _run(self, names: Sequence[str], case: Case) -> list[Finding]:
        """Return what these checks find; one that finds something may end the round."""
        findings: list[Finding] = []
        for name in names:
            found = self.checks[name](case)
            findings += found
            if found and name in ONCE:
                break
        return findings

    def _judge_other(self, robot: str, call: Call) -> Verdict:
        mode = self.modes.of_robot(robot)
        if call.name in BUILTINS:
            kind = VerdictKind.SENT if call.name == STOP else VerdictKind.UNKNOWN
            return Verdict(kind=kind, mode=mode)
        return _refuse(mode, [Finding(
            ErrorCode.UNKNOWN_TOOL, f"robot '{robot}' has no tool '{call.name}'")])

    def _judge(self, case: Case) -> Verdict:
        findings = self._run(STANDING, case) or self._run(PACE, case)
        if findings:
            return _refuse(case.mode, findings)
        unsure = self._run(CONFIDENCE, case)
        if unsure and case.robot.on_low_confidence == 'ask_operator':
            return _refuse(case.mode, unsure)
        verdict = Verdict(kind=VerdictKind.WOULD_SEND, mode=case.mode,
                          violations=tuple(finding.sentence for finding in unsure))
        if unsure:
            verdict = replace(verdict, mode=min(case.mode, Mode.APPROVE))
        if verdict.mode is Mode.SHADOW:
            return verdict
        findings = self._run(SERVERS, case)
        if findings:
            return _refuse(case.mode, findings)
        is_free = verdict.mode is Mode.AUTO
        kind = VerdictKind.SENT if is_free else VerdictKind.NEEDS_APPROVAL
        return self._judge_sending(case.robot.name, case.spec, replace(verdict, kind=kind))

    def _claim(self, verdict: Verdict, spec: ToolSpec, claimed: set[str]) -> Verdict:
        """Take the tool's resources for this call, unless an earlier one of the Decision has."""
        shared = claimed & set(spec.resources)
        if shared:
            return _refuse(verdict.mode, [Finding(
                ErrorCode.RESOURCE_BUSY,
                f"'{min(shared)}' is taken by an earlier call of this decision")])
        claimed |= set(spec.resources)
        return verdict

    def _judge_sending(self, robot: str, spec: ToolSpec, verdict: Verdict) -> Verdict:
        busy = self.usage.conflicts(robot, frozenset(spec.resources))
        ids = tuple(running.call_id for running in busy)
        if not busy or spec.on_busy == 'preempt_own':
            return replace(verdict, preempts=ids)
        names = ', '.join(sorted({running.tool for running in busy}))
        if spec.on_busy == 'queue' and len(busy) <= MAX_QUEUED:
            return replace(verdict, follows=ids)
        queued = f', and {len(busy) - 1} more wait' if spec.on_busy == 'queue' else ''
        return _refuse(verdict.mode, [Finding(
            ErrorCode.RESOURCE_BUSY, f'{spec.name} must wait: {names} is running{queued}')])


def withdraw(verdict: Verdict, code: ErrorCode, sentence: str) -> Verdict:
    """Return the verdict as refused, for a reason found after the gate."""
    return replace(verdict, kind=VerdictKind.REFUSED, code=code,
                   violations=(sentence, *verdict.violations), preempts=(), follows=())


def kind_of(spec: ToolSpec | None) -> CallKind:
    """Return what a call drives; builtins and unknown tools drive nothing."""
    return CallKind.NONE if spec is None else CallKind(spec.kind)


def _refuse(mode: Mode, findings: Sequence[Finding]) -> Verdict:
    unique = tuple(dict.fromkeys(finding.sentence for finding in findings))
    return Verdict(kind=VerdictKind.REFUSED, mode=mode, code=findings[0].code, violations=unique)
