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

"""What dispatch and the carriers of goals know of each other. No entities."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from enum import Enum
from typing import Any
from typing import Protocol

from gemma_node.ros.goals import Ending
from gemma_node.ros.goals import Goal


class Loss(Enum):
    """Whether the server of a goal is lost: `GONE` from the graph, or up but `SILENT`."""

    NONE = 'none'
    GONE = 'gone'
    SILENT = 'silent'


class Follower(Protocol):
    """Dispatch, as a transport reports to it."""

    def accepted(self, goal: Goal) -> None:
        """Take note that the goal runs."""

    def heard(self, goal: Goal, feedback: Mapping[str, Any]) -> None:
        """Take a feedback."""

    def progressed(self, goal: Goal, fraction: float) -> None:
        """Take how much of a goal is done, where that is known without a feedback."""

    def ended(self, goal: Goal, ending: Ending) -> None:
        """Take how a goal ended; one that was given up before is no orphan any more."""

    def orphaned(self, goal: Goal) -> None:
        """Take note that a goal runs that was already given up."""

    def taken_over(self, goal: Goal) -> None:
        """Take note that another client drives what the goal was driving."""

    def left_over(self, sentence: str) -> None:
        """Take what is to be said of a goal of an earlier life of this node."""

    def goals_at(self, name: str) -> Iterable[Goal]:
        """Return the goals of this interface that were sent and have not ended."""


class Transport(Protocol):
    """Carries goals to one interface."""

    @property
    def message_type(self) -> Any:
        """Return the class of what is sent."""

    @property
    def is_driven_by_others(self) -> bool:
        """Return whether another client drives the server now."""

    def unavailable(self) -> str:
        """Return why nothing can be sent now, '' when it can."""

    def send(self, goal: Goal) -> None:
        """Send `goal.message`; what comes of it is reported to the follower."""

    def cancel(self, goal: Goal) -> None:
        """Begin to end a goal that runs; the follower is told when it has ended."""

    def watch(self, goal: Goal, now_s: float) -> Loss:
        """Look after a goal that runs or is being canceled; called about twenty times a second."""

    def destroy(self) -> None:
        """Destroy the entities."""
