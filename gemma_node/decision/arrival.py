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

"""A checked request as it came. Knows no engine and builds no prompt."""

from __future__ import annotations

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
