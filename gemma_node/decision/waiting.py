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
Requests that wait for the turn before theirs: a session's next prompt holds it.

Knows no engine and builds no prompt. Not thread-safe: the decider is its one caller.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set
from dataclasses import dataclass
import math

from gemma_node.core import Observation
from gemma_node.core import Request
from gemma_node.decision.outcome import AllowedTools
from gemma_node.decision.prompt import Conversation

Session = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A checked request as it came, times on the decider's clock; `epoch` as it was then."""

    request: Request
    observations: tuple[Observation, ...]
    allowed: AllowedTools
    conversation: Conversation
    epoch: int
    at: float

    @property
    def session(self) -> Session:
        """Return what only one request at a time may extend."""
        return self.request.robot, self.request.session

    @property
    def deadline(self) -> float:
        """Return when it is late, inf when never."""
        timeout_s = self.request.timeout_s
        return self.at + timeout_s if timeout_s > 0 else math.inf

    @property
    def is_outdated(self) -> bool:
        """Return whether the history was reset since: its turn must not join the new one."""
        return self.epoch != self.conversation.epoch


class WaitingLine:
    """Keeps arrivals until their session is free: higher priority first, then first come."""

    def __init__(self) -> None:
        self._arrivals: dict[str, Arrival] = {}

    def __contains__(self, request_id: str) -> bool:
        return request_id in self._arrivals

    def __iter__(self) -> Iterator[Arrival]:
        return iter(self._arrivals.values())

    def add(self, arrival: Arrival) -> None:
        """Put it at the end."""
        self._arrivals[arrival.request.id] = arrival

    def take(self, request_id: str) -> Arrival | None:
        """Take it out, or return None when it does not wait."""
        return self._arrivals.pop(request_id, None)

    def due(self, now: float, busy: Set[Session]) -> str | None:
        """Return the id of one that is late or whose session is not `busy`, else None."""
        free = [each for each in self if each.session not in busy]
        late = (each for each in self if now >= each.deadline)
        # max returns the first of equals, so first come stays first served.
        chosen = next(late, None) or max(free, key=lambda x: x.request.priority, default=None)
        return chosen.request.id if chosen else None
