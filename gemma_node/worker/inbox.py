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
Requests that were accepted and not yet answered. Holds no thread, no socket and no lock.

One request per conversation (robot, session) is with the worker at a time: the next prompt
contains this one's outcome. The others wait here, and may be superseded or expire.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
import math
from typing import Literal

from gemma_node.core import Answer
from gemma_node.core import ErrorCode
from gemma_node.core import Observation
from gemma_node.core import Outcome
from gemma_node.core import Request
from gemma_node.errors import RequestError
from gemma_node.worker.frames import encode
from gemma_node.worker.frames import Submit

InboxPolicy = Literal['reject', 'replace']
_REFUSALS = (ErrorCode.BUSY, ErrorCode.SUPERSEDED, ErrorCode.NOT_ACTIVE)


@dataclass(slots=True, kw_only=True)
class Pending:
    """One accepted request; `sent_at` is nan while it waits. Times on the steady clock."""

    request: Request
    observations: tuple[Observation, ...]
    payload: bytes
    added_at: float
    sent_at: float = math.nan

    @property
    def is_sent(self) -> bool:
        """Return whether the worker has it."""
        return not math.isnan(self.sent_at)

    @property
    def conversation(self) -> tuple[str, str]:
        """Return what only one request at a time may extend."""
        return (self.request.robot, self.request.session)

    @property
    def expires_at(self) -> float:
        """Return when a waiting request ends, inf when it may wait for ever."""
        timeout_s = self.request.timeout_s
        return self.added_at + timeout_s if timeout_s > 0 else math.inf


class Inbox:
    """
    Keeps every accepted request until it is taken out, exactly once.

    A full inbox refuses with BUSY. Policy `replace` also ends a waiting request of the same robot
    as SUPERSEDED when a newer one of at least its priority comes; one that carries tool results
    stays, or the conversation would never hear them. Not thread-safe: the client's lock guards it.
    """

    def __init__(self, capacity: int, policy: InboxPolicy = 'reject') -> None:
        self._capacity = capacity
        self._policy = policy
        self._pending: dict[str, Pending] = {}

    def __len__(self) -> int:
        return len(self._pending)

    def get(self, request_id: str) -> Pending | None:
        """Return the request if it is still open."""
        return self._pending.get(request_id)

    def add(self, pending: Pending) -> list[Pending]:
        """Accept it and return those it replaced, or raise RequestError and change nothing."""
        request = pending.request
        if request.id in self._pending:
            raise RequestError(ErrorCode.INVALID_REQUEST, f'request {request.id} is in progress')
        replaced = [] if self._policy == 'reject' else self._replaced_by(request)
        if len(self._pending) - len(replaced) >= self._capacity:
            raise RequestError(
                ErrorCode.BUSY, f'{len(self._pending)} requests are in progress, the most allowed'
            )
        for old in replaced:
            del self._pending[old.request.id]
        self._pending[request.id] = pending
        return replaced

    def take_sendable(self, now: float) -> list[bytes]:
        """Mark what the worker may have now as sent and return it, highest priority first."""
        busy = {pending.conversation for pending in self._pending.values() if pending.is_sent}
        waiting = [pending for pending in self._pending.values() if not pending.is_sent]
        waiting.sort(key=lambda pending: -pending.request.priority)
        payloads = []
        for pending in waiting:
            if pending.conversation in busy:
                continue
            busy.add(pending.conversation)
            pending.sent_at = now
            payloads.append(_payload_at(pending, now))
            pending.payload = b''
        return payloads

    def pop(self, request_id: str) -> Pending | None:
        """Take it out to be answered; None when it was answered before or never accepted."""
        return self._pending.pop(request_id, None)

    def pop_expired(self, now: float) -> list[Pending]:
        """Take out waiting requests whose timeout has passed; the worker minds those it has."""
        expired = [
            pending
            for pending in self._pending.values()
            if not pending.is_sent and now >= pending.expires_at
        ]
        for pending in expired:
            del self._pending[pending.request.id]
        return expired

    def pop_all(self) -> list[Pending]:
        """Take out everything, oldest first."""
        everything = list(self._pending.values())
        self._pending.clear()
        return everything

    def _replaced_by(self, request: Request) -> list[Pending]:
        return [
            pending
            for pending in self._pending.values()
            if not pending.is_sent
            and pending.request.robot == request.robot
            and pending.request.priority <= request.priority
            and not pending.request.tool_results
        ]


def end_answer(pending: Pending, code: ErrorCode, message: str, now: float) -> Answer:
    """Return the answer to a request that ends without the worker's word."""
    return Answer(
        request_id=pending.request.id,
        robot=pending.request.robot,
        outcome=Outcome.REFUSED if code in _REFUSALS else Outcome.FAILED,
        error_code=code,
        error_msg=message,
        seed=pending.request.seed,
        queue_time=(pending.sent_at if pending.is_sent else now) - pending.added_at,
    )


def with_wait(answer: Answer, pending: Pending) -> Answer:
    """Return the worker's answer with the time spent here added to its queue time."""
    waited_s = pending.sent_at - pending.added_at
    if not waited_s > 0:
        return answer
    queued_s = 0.0 if math.isnan(answer.queue_time) else answer.queue_time
    return dataclasses.replace(answer, queue_time=queued_s + waited_s)


def _payload_at(pending: Pending, now: float) -> bytes:
    """Return the frame, encoded anew when waiting has used up a part of the timeout."""
    if pending.request.timeout_s <= 0 or now <= pending.added_at:
        return pending.payload
    left_s = max(pending.expires_at - now, 1e-3)
    request = dataclasses.replace(pending.request, timeout_s=left_s)
    return encode(Submit(request, pending.observations))
