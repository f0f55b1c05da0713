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
One robot's side of a replay: policy before the question and after the answer, as in the node.

The node of a replay is in shadow mode: nothing is sent, and the model is told so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
import uuid

from gemma_node.core import Answer
from gemma_node.core import Call
from gemma_node.core import ErrorCode
from gemma_node.core import Mode
from gemma_node.core import Observation
from gemma_node.core import Outcome
from gemma_node.core import Request
from gemma_node.core import ToolResult
from gemma_node.policy.gate import Gate
from gemma_node.policy.gate import STOP
from gemma_node.policy.gate import Verdict
from gemma_node.policy.gate import VerdictKind
from gemma_node.policy.lock import NODE
from gemma_node.policy.result_text import failed_text
from gemma_node.replay.bag import BagMessage
from gemma_node.replay.mailbox import topic_of
from gemma_node.replay.plan import Plan
from gemma_node.replay.session import Session

NODE_LOCK_TOPIC = '/gemma_node/lock'


class Judge:
    """Asks what may be asked, and says of every call what would become of it."""

    def __init__(self, plan: Plan, session: Session) -> None:
        tools = {
            robot.name: {
                tool.name: tool
                for tool in plan.catalogue.tools
                if not robot.tools or tool.name in robot.tools
            }
            for robot in plan.settings.robots
        }
        self._gate = Gate(plan.settings, tools)
        self._gate.modes.set(Mode.SHADOW)
        self._locks = {
            topic_of(robot, robot.lock or 'gemma/lock'): robot.name
            for robot in plan.settings.robots
        }
        self._locks['/' + (plan.settings.lock or NODE_LOCK_TOPIC).lstrip('/')] = NODE
        self._session = session
        self._tells_results = not plan.is_default
        self._unread: dict[tuple[str, str], tuple[ToolResult, ...]] = {}

    def is_lock(self, message: BagMessage) -> bool:
        """Return whether the node would obey this message as a lock."""
        return message.topic in self._locks and message.type == 'std_msgs/msg/Bool'

    def hear_lock(self, topic: str, is_locked: bool, now_s: float) -> None:
        """Take a lock message of the recording."""
        self._gate.locks.hear(self._locks[topic], is_locked, now_s)

    def decide(
        self, request: Request, observations: tuple[Observation, ...], now_s: float
    ) -> tuple[Answer, list[Verdict]]:
        """Return the answer to a request and a verdict on each of its calls."""
        answer = self._answer(request, observations, now_s)
        if not answer.calls:
            return answer, []
        verdicts = self._gate.after(request, answer.calls, observations, now_s=now_s)
        if self._tells_results:
            self._note(request, answer.calls, verdicts)
        return _with_refusal(answer, verdicts), verdicts

    def _answer(
        self, request: Request, observations: tuple[Observation, ...], now_s: float
    ) -> Answer:
        if self._gate.is_stop_word(request.robot, request.text):
            call = Call(id=uuid.uuid5(uuid.UUID(request.id), '0').hex, name=STOP)
            return Answer(
                request_id=request.id,
                robot=request.robot,
                outcome=Outcome.TOOL_CALL,
                calls=(call,),
            )
        if not request.text.strip():
            return refusal(request, ErrorCode.INVALID_REQUEST, 'the text is empty')
        finding = self._gate.before(request, observations, now_s=now_s)
        if finding is not None:
            return refusal(request, finding.code, finding.sentence)
        unread = self._unread.pop((request.robot, request.session), ())
        return self._session.ask(replace(request, tool_results=unread), observations)

    def _note(self, request: Request, calls: Sequence[Call], verdicts: Sequence[Verdict]) -> None:
        """Keep for the next question what became of the calls."""
        results = []
        for call, verdict in zip(calls, verdicts, strict=True):
            if verdict.kind is VerdictKind.REFUSED:
                text = f'refused: {"; ".join(verdict.violations)}'
            elif verdict.kind is VerdictKind.WOULD_SEND:
                text = 'not sent: the mode is shadow'
            else:
                continue
            results.append(ToolResult(call_id=call.id, name=call.name, text=failed_text(text)))
        self._unread[request.robot, request.session] = tuple(results)


def refusal(request: Request, code: ErrorCode, sentence: str) -> Answer:
    """Return the answer to a request that the model is not asked."""
    return Answer(
        request_id=request.id,
        robot=request.robot,
        outcome=Outcome.REFUSED,
        error_code=code,
        error_msg=sentence,
    )


def _with_refusal(answer: Answer, verdicts: Sequence[Verdict]) -> Answer:
    """Return the answer as REFUSED when the gate lets none of its calls through."""
    refused = [verdict for verdict in verdicts if verdict.kind is VerdictKind.REFUSED]
    if answer.outcome is not Outcome.TOOL_CALL or len(refused) < len(verdicts):
        return answer
    return replace(
        answer,
        outcome=Outcome.REFUSED,
        error_code=refused[0].code,
        error_msg=refused[0].violations[0],
    )
