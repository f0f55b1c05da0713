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
The way of a request: refused or asked, answered, judged, published, dispatched, followed up.

Every request that comes in here leaves as exactly one Decision. Executor thread only; nothing
here waits.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
import time
from typing import Protocol
import uuid

from gemma_node.core import Answer
from gemma_node.core import Call
from gemma_node.core import ErrorCode
from gemma_node.core import Observation
from gemma_node.core import Outcome
from gemma_node.core import Request
from gemma_node.core import Trigger
from gemma_node.errors import RequestError
from gemma_node.msg import Decision
from gemma_node.msg import ToolEvent
from gemma_node.policy.gate import STOP
from gemma_node.policy.gate import Verdict
from gemma_node.policy.gate import VerdictKind
from gemma_node.policy.gate import withdraw
from gemma_node.policy.settings import NodeSettings
from gemma_node.ros.approvals import Approvals
from gemma_node.ros.chains import Chain
from gemma_node.ros.chains import Chains
from gemma_node.ros.dispatch import Dispatch
from gemma_node.ros.goals import Ending
from gemma_node.ros.goals import Goal
from gemma_node.ros.judging import Judging
from gemma_node.ros.publishing import Outbox
from gemma_node.ros.robots import Robot
from gemma_node.ros.worker_client import Client
from gemma_node.worker.client import ProgressEvent

# Refused at the door and not worth a conversation's memory.
MAX_TEXT_CHARACTERS = 4_000_000
MAX_ANSWERED = 4096


class Origin(Protocol):
    """Who waits for a request: the Decide action."""

    def on_progress(self, progress: ProgressEvent) -> None:
        """Take progress of the request."""

    def on_decision(self, decision: Decision, *, has_open_calls: bool) -> None:
        """Take the Decision; more is to come while calls are open."""

    def on_end(self, event: ToolEvent, *, has_open_calls: bool) -> None:
        """Take the terminal event of one of its calls."""


@dataclass(slots=True, kw_only=True)
class Open:
    """An asked request that has no answer yet. Times on a steady clock."""

    request: Request
    observations: tuple[Observation, ...]
    accepted_s: float
    deadline_s: float
    origin: Origin | None = None
    is_canceled: bool = False


class Flow:
    """All requests of all robots; `settings` may be replaced live."""

    def __init__(
        self, settings: NodeSettings, robots: dict[str, Robot], judging: Judging,
        dispatch: Dispatch, client: Client, outbox: Outbox, approvals: Approvals,
        now_ns: Callable[[], int],
    ) -> None:
        self.settings = settings
        self._robots = robots
        self._judging = judging
        self._gate = judging.gate
        self._dispatch = dispatch
        self._client = client
        self._outbox = outbox
        self._approvals = approvals
        self._now_ns = now_ns
        self._open: dict[str, Open] = {}
        self._answered: OrderedDict[str, None] = OrderedDict()
        self._chains = Chains()

    @property
    def num_open(self) -> int:
        """Return how many asked requests have no answer yet."""
        return len(self._open)

    def accept(self, request: Request, origin: Origin | None = None) -> None:
        """Ask the request, or refuse it; either way it ends in one Decision."""
        request = replace(
            request, id=request.id or uuid.uuid4().hex,
            robot=request.robot or self._only_robot(),
            timeout_s=request.timeout_s or self.settings.deadline_s)
        request = self._chains.with_unread(request)
        opened = Open(request=request, observations=(), accepted_s=time.monotonic(),
                      deadline_s=request.timeout_s, origin=origin)
        try:
            self._ask(opened)
        except RequestError as error:
            self._refuse(opened, error)

    def refuse(self, request: Request, sentence: str, origin: Origin | None = None) -> None:
        """Refuse a request that could not even be read."""
        request = replace(request, id=request.id or uuid.uuid4().hex)
        opened = Open(request=request, observations=(), accepted_s=time.monotonic(),
                      deadline_s=request.timeout_s, origin=origin)
        self._refuse(opened, RequestError(ErrorCode.INVALID_REQUEST, sentence))

    def cancel(self, request_id: str, cause: str = 'operator') -> None:
        """Cancel a request that is being decided, or the calls of its Decision."""
        opened = self._open.get(request_id)
        if opened is not None:
            opened.is_canceled = True
            self._client.cancel(request_id, ErrorCode.CANCELED)
            return
        call_ids = self._chains.open_calls(request_id)
        if call_ids:
            self._dispatch.cancel(cause, call_ids=call_ids)

    def on_progress(self, progress: ProgressEvent) -> None:
        """Hand progress of a request to whoever waits for it."""
        opened = self._open.get(progress.request_id)
        if opened is not None and opened.origin is not None:
            opened.origin.on_progress(progress)

    def on_answer(self, answer: Answer) -> None:
        """Judge the calls of an answer, publish its Decision and send what may be sent."""
        opened = self._open.pop(answer.request_id, None)
        if opened is None:
            return
        self._chains.answered(opened.request, answer)
        if answer.outcome not in (Outcome.REFUSED, Outcome.FAILED):
            self._note_answered(answer.request_id)
        self._decide(opened, answer)

    def on_goal_end(self, goal: Goal, ending: Ending, event: ToolEvent) -> None:
        """Note how a call ended; when its Decision's calls all have, follow up."""
        self._approvals.end(goal)
        for stop in self._chains.stops_done(goal, ending):
            self._finish_stop(stop.robot, stop.decision_id, stop.call, stop.is_confirmed)
        self._advance(self._chains.end_call(goal, ending), event)

    def ask_triggered(self) -> None:
        """Ask what the robots' triggers want to know now."""
        now_s = self._now_ns() / 1e9
        for name, robot in self._robots.items():
            for trigger in robot.triggers.poll(now_s, robot.inputs.read):
                source = f'{name}.trigger.{trigger.name}'
                if any(o.request.trigger_source == source for o in self._open.values()):
                    continue
                kind = Trigger.TIMER if trigger.kind == 'period' else Trigger.OBSERVATION
                self.accept(Request(id='', robot=name, text=trigger.text, trigger=kind,
                                    trigger_source=source, stamp_ns=self._now_ns()))

    def cancel_open(self) -> None:
        """Cancel every request that is being decided; their Decisions follow."""
        for request_id in list(self._open):
            self.cancel(request_id)

    def forget_sessions(self) -> None:
        """Drop what only the old sessions knew."""
        self._chains.forget_unread()

    def close(self, sentence: str) -> None:
        """End every open request without its answer, because the worker goes away."""
        for opened in list(self._open.values()):
            del self._open[opened.request.id]
            self._decide(opened, Answer(
                request_id=opened.request.id, robot=opened.request.robot, outcome=Outcome.FAILED,
                error_code=ErrorCode.CANCELED, error_msg=sentence))

    def _note_answered(self, request_id: str) -> None:
        self._answered[request_id] = None
        if len(self._answered) > MAX_ANSWERED:
            self._answered.popitem(last=False)

    def _only_robot(self) -> str:
        return next(iter(self._robots)) if len(self._robots) == 1 else ''

    def _ask(self, opened: Open) -> None:
        request = opened.request
        robot = self._robots.get(request.robot)
        if robot is None:
            raise RequestError(ErrorCode.UNKNOWN_ROBOT, f'unknown robot {request.robot!r}; '
                               f'robots are: {", ".join(self._robots)}')
        if self._gate.is_stop_word(robot.config.name, request.text):
            self._stop_at_once(opened)
            return
        self._check_request(request, robot)
        opened.observations = (
            *self._judging.snapshot(robot), *self._dispatch.observations(robot.config.name))
        finding = self._gate.before(request, opened.observations, now_s=opened.accepted_s)
        if finding is not None:
            raise RequestError(finding.code, finding.sentence)
        request = replace(request, unavailable_tools=self._judging.unavailable(robot))
        opened.request = request
        self._client.submit(request, opened.observations)
        self._open[request.id] = opened

    def _check_request(self, request: Request, robot: Robot) -> None:
        if not self._judging.is_active:
            raise RequestError(ErrorCode.NOT_ACTIVE, self._judging.not_active_reason)
        if self._now_ns() == 0:
            raise RequestError(ErrorCode.NOT_ACTIVE,
                               'use_sim_time is set, but no /clock was received yet')
        # Ids of calls, and so of goals, are derived from the request's.
        if request.id in self._open:
            raise RequestError(ErrorCode.INVALID_REQUEST, f'request {request.id} is in progress')
        if request.id in self._answered:
            raise RequestError(ErrorCode.INVALID_REQUEST,
                               f'request {request.id} was answered; a new one needs a new id')
        if not request.text.strip():
            raise RequestError(ErrorCode.INVALID_REQUEST, 'the text is empty')
        if len(request.text) > MAX_TEXT_CHARACTERS:
            raise RequestError(
                ErrorCode.CONTEXT_OVERFLOW, f'the text has {len(request.text)} characters; '
                f'the most taken is {MAX_TEXT_CHARACTERS}')
        unknown = [name for name in request.allowed_tools if name not in robot.specs]
        if unknown:
            raise RequestError(
                ErrorCode.NOT_ALLOWED, f"allowed_tools names '{unknown[0]}', which robot "
                f"'{request.robot}' does not have; it has {', '.join(robot.specs)}")

    def _refuse(self, opened: Open, error: RequestError) -> None:
        self._chains.keep_unread(opened.request, opened.request.tool_results)
        self._decide(opened, Answer(
            request_id=opened.request.id, robot=opened.request.robot, outcome=Outcome.REFUSED,
            error_code=error.code, error_msg=str(error)))

    def _stop_at_once(self, opened: Open) -> None:
        # First of all: the Decision, its record and the requests can wait.
        self._dispatch.cancel('operator', robot=opened.request.robot)
        request = opened.request
        if request.id in self._open or request.id in self._answered:
            # A stop is never refused; under an id in use it would spare that request's calls.
            request = opened.request = replace(request, id=uuid.uuid4().hex, parent_id=request.id)
        self._note_answered(request.id)
        call = Call(id=uuid.uuid5(uuid.UUID(request.id), '0').hex, name=STOP)
        for other in list(self._open.values()):
            if other.request.robot == request.robot:
                self.cancel(other.request.id)
        self._decide(opened, Answer(request_id=request.id, robot=request.robot,
                                    outcome=Outcome.TOOL_CALL, calls=(call,)), cause='operator')

    def _decide(self, opened: Open, answer: Answer, cause: str = 'model') -> None:
        request = opened.request
        robot = self._robots.get(request.robot)
        verdicts: list[Verdict] = []
        goals: list[Goal | None] = []
        if robot is not None and answer.calls:
            observations = self._judging.snapshot(robot)
            verdicts = self._judging.verdicts(opened, answer, robot, observations)
            goals, verdicts = self._build_goals(
                request, answer.calls, verdicts, robot, observations)
            answer = _with_refusal(answer, verdicts)
        sent = [call.id for call, verdict in zip(answer.calls, verdicts, strict=False)
                if verdict.kind in (VerdictKind.SENT, VerdictKind.NEEDS_APPROVAL)]
        decision = self._outbox.decision(
            request, answer, opened.observations, verdicts, goals, robot,
            accepted_s=opened.accepted_s, timeout_s=opened.deadline_s,
            lifetime_s=self.settings.decision_lifetime_s)
        self._chains.open(request, sent, opened.origin)
        self._note_unsent(request, answer.calls, verdicts)
        self._outbox.publish_decision(decision, request, robot)
        self._outbox.auditor.decision(
            request, answer, opened.observations, decision, verdicts, goals)
        if opened.origin is not None:
            opened.origin.on_decision(decision, has_open_calls=bool(sent))
        self._approvals.add(decision, [
            call.id for call, verdict in zip(answer.calls, verdicts, strict=False)
            if verdict.kind is VerdictKind.NEEDS_APPROVAL])
        for call, verdict, goal in zip(answer.calls, verdicts, goals, strict=False):
            if goal is not None and verdict.kind is VerdictKind.SENT:
                self._dispatch.send(goal, verdict.preempts, verdict.follows)
            elif goal is not None and verdict.kind is VerdictKind.NEEDS_APPROVAL:
                self._dispatch.await_approval(goal)
            elif call.name == STOP:
                self._stop(request, call, cause)

    def _build_goals(
        self, request: Request, calls: Sequence[Call], verdicts: list[Verdict], robot: Robot,
        observations: tuple[Observation, ...],
    ) -> tuple[list[Goal | None], list[Verdict]]:
        goals: list[Goal | None] = []
        judged: list[Verdict] = []
        for call, verdict in zip(calls, verdicts, strict=True):
            spec = robot.specs.get(call.name)
            goal = None
            if spec is not None and not spec.is_builtin:
                try:
                    goal = self._outbox.goal(
                        request, call, spec, robot.config.namespace, observations)
                except RequestError as error:
                    if verdict.kind is not VerdictKind.REFUSED:
                        verdict = withdraw(verdict, error.code, str(error))
            goals.append(goal)
            judged.append(verdict)
        return goals, judged

    def _note_unsent(
        self, request: Request, calls: Sequence[Call], verdicts: Sequence[Verdict]
    ) -> None:
        for call, verdict in zip(calls, verdicts, strict=False):
            if verdict.kind is VerdictKind.REFUSED:
                self._chains.note(request, call, f'refused: {"; ".join(verdict.violations)}')
            elif verdict.kind is VerdictKind.WOULD_SEND:
                held = self._gate.modes.disarmed(request.robot)
                self._chains.note(request, call, 'not sent: the robot waits to be re-armed'
                                  if held else 'not sent: the mode is shadow')

    def _stop(self, request: Request, call: Call, cause: str) -> None:
        siblings = self._chains.open_calls(request.id)
        others = {goal.call.id for goal in self._dispatch.running(request.robot)} - siblings
        self._outbox.publish_stop(request.robot, request.id, call, is_done=False)
        if not others:
            self._finish_stop(request.robot, request.id, call, True)
            return
        self._chains.open_stop(request, call, others)
        self._dispatch.cancel(cause, call_ids=others)

    def _finish_stop(self, robot: str, decision_id: str, call: Call, is_confirmed: bool) -> None:
        event = self._outbox.publish_stop(robot, decision_id, call, is_done=True,
                                          is_confirmed=is_confirmed)
        self._advance(self._chains.end_builtin(decision_id, call), event)

    def _advance(self, chain: Chain | None, event: ToolEvent) -> None:
        """Tell who waits; once all calls of a Decision have ended, ask what comes next."""
        if chain is None:
            return
        if chain.origin is not None:
            chain.origin.on_end(event, has_open_calls=bool(chain.open_calls))
        if chain.open_calls:
            return
        follow_up = chain.follow_up(self.settings.max_steps, self.settings.follow_up_text)
        if follow_up is not None and self._judging.is_active:
            self.accept(replace(follow_up, stamp_ns=self._now_ns()))
        else:
            self._chains.keep_unread(chain.request, chain.results)


def _with_refusal(answer: Answer, verdicts: Sequence[Verdict]) -> Answer:
    """Return the answer as REFUSED when the gate let none of its calls through."""
    refused = [verdict for verdict in verdicts if verdict.kind is VerdictKind.REFUSED]
    if answer.outcome is not Outcome.TOOL_CALL or not refused or len(refused) < len(verdicts):
        return answer
    return replace(answer, outcome=Outcome.REFUSED, error_code=refused[0].code,
                   error_msg=refused[0].violations[0])
