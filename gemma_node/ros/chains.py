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
What a Decision's calls come to: their results, the follow-up they lead to, and stops.

Knows no entities and no clock. Executor thread only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from typing import Any

from gemma_node.core import Answer
from gemma_node.core import Call
from gemma_node.core import ErrorCode
from gemma_node.core import Request
from gemma_node.core import ToolResult
from gemma_node.core import Trigger
from gemma_node.msg import ToolEvent
from gemma_node.policy.result_text import failed_text
from gemma_node.ros.goals import Ending
from gemma_node.ros.goals import Goal

MAX_UNREAD = 16
MAX_CONVERSATIONS = 256
# A goal that a person, a lock or a newer call ended is not a reason to ask on.
_ASKS_ON = ('', 'timeout', 'condition', 'silent')


@dataclass(slots=True, kw_only=True)
class Chain:
    """The calls of one Decision that are on their way, and those that came back."""

    request: Request
    open_calls: set[str]
    origin: Any = None
    results: list[ToolResult] = field(default_factory=list)
    asks_on: bool = False

    def follow_up(self, max_steps: int, text: str) -> Request | None:
        """Return the request that asks what comes next, None when nothing should."""
        if not self.asks_on or self.request.step >= max_steps:
            return None
        return Request(
            id='', robot=self.request.robot, session=self.request.session, text=text,
            allowed_tools=self.request.allowed_tools, priority=self.request.priority,
            keep=self.request.keep, trigger=Trigger.TOOL_RESULT,
            trigger_source=', '.join(result.name for result in self.results),
            parent_id=self.request.id, step=self.request.step + 1,
            tool_results=tuple(self.results))


@dataclass(slots=True, kw_only=True)
class StopCall:
    """A stop that waits for the goals it canceled."""

    robot: str
    decision_id: str
    call: Call
    waits_for: set[str]
    is_confirmed: bool = True


class Chains:
    """Chains by decision, unread results by conversation, and open stops."""

    def __init__(self) -> None:
        self._chains: dict[str, Chain] = {}
        self._unread: dict[tuple[str, str], list[ToolResult]] = {}
        self._stops: list[StopCall] = []

    def open(self, request: Request, call_ids: Iterable[str], origin: Any) -> None:
        """Begin to follow the calls of a Decision that are sent or wait for approval."""
        call_ids = set(call_ids)
        if call_ids:
            self._chains[request.id] = Chain(
                request=request, open_calls=call_ids, origin=origin)

    def open_calls(self, decision_id: str) -> set[str]:
        """Return the calls of a Decision that have not ended."""
        chain = self._chains.get(decision_id)
        return set(chain.open_calls) if chain else set()

    def end_call(self, goal: Goal, ending: Ending) -> Chain | None:
        """Note a call's result; return its chain, which is closed once no call is open."""
        chain = self._close(goal.decision_id, goal.call)
        if chain is not None:
            chain.asks_on |= (goal.cause in _ASKS_ON
                              and ending.code is not ErrorCode.APPROVAL_EXPIRED)
            chain.results.append(ToolResult(call_id=goal.call.id, name=goal.call.name,
                                            text=ending.text))
        return chain

    def end_builtin(self, decision_id: str, call: Call) -> Chain | None:
        """Note that a builtin call has ended; the model is told nothing of it."""
        return self._close(decision_id, call)

    def note(self, request: Request, call: Call, text: str) -> None:
        """Keep what became of a call that was not sent, for the robot's next request."""
        self.keep_unread(request, (ToolResult(
            call_id=call.id, name=call.name, text=failed_text(text)),))

    def keep_unread(self, request: Request, results: Iterable[ToolResult]) -> None:
        """Keep results that no follow-up carries, for the conversation's next request."""
        key = (request.robot, request.session)
        kept = [*self._unread.pop(key, ()), *results][-MAX_UNREAD:]
        if kept:
            self._unread[key] = kept
        if len(self._unread) > MAX_CONVERSATIONS:
            del self._unread[next(iter(self._unread))]

    def with_unread(self, request: Request) -> Request:
        """Return the request with the conversation's unread results put first."""
        unread = self._unread.pop((request.robot, request.session), [])
        if not unread:
            return request
        return replace(request, tool_results=(*unread, *request.tool_results))

    def answered(self, request: Request, answer: Answer) -> None:
        """Keep the results of a request that the worker never read."""
        if answer.error_code in (ErrorCode.ENGINE_RESTARTED, ErrorCode.CANCELED,
                                 ErrorCode.SUPERSEDED, ErrorCode.BUSY, ErrorCode.NOT_ACTIVE):
            self.keep_unread(request, request.tool_results)

    def forget_unread(self) -> None:
        """Drop unread results, because sessions were reset."""
        self._unread.clear()

    def open_stop(self, request: Request, call: Call, waits_for: set[str]) -> None:
        """Begin to follow a stop that waits for these calls."""
        self._stops.append(StopCall(robot=request.robot, decision_id=request.id, call=call,
                                    waits_for=set(waits_for)))

    def stops_done(self, goal: Goal, ending: Ending) -> list[StopCall]:
        """Return the stops whose last goal this was; they are followed no longer."""
        done = []
        for stop in list(self._stops):
            if goal.call.id not in stop.waits_for:
                continue
            stop.waits_for.discard(goal.call.id)
            stop.is_confirmed &= ending.state != ToolEvent.STATE_ORPHANED
            if not stop.waits_for:
                self._stops.remove(stop)
                done.append(stop)
        return done

    def _close(self, decision_id: str, call: Call) -> Chain | None:
        chain = self._chains.get(decision_id)
        if chain is None:
            return None
        chain.open_calls.discard(call.id)
        if not chain.open_calls:
            del self._chains[decision_id]
        return chain
