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

"""One dispatched call as dispatch sees it: its state, its clocks and how it ended. No entities."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from enum import Enum
import math
from typing import Any

from gemma_node.core import Call
from gemma_node.core import ErrorCode
from gemma_node.core import Observation
from gemma_node.msg import ToolEvent
from gemma_node.policy.fields import lookup
from gemma_node.policy.freshness import quantise_age
from gemma_node.policy.result_text import MAX_CHARACTERS
from gemma_node.ros.conversions import as_json
from gemma_node.ros.conversions import uuid_message
from gemma_node.tools.spec import ToolSpec

MAX_ITEMS = 64


class Phase(Enum):
    """Where a call stands between its Decision and its terminal event."""

    APPROVAL = 'waiting for approval'
    WAITING = 'waiting for other goals to end'
    SENDING = 'waiting for the server'
    RUNNING = 'running'
    CANCELING = 'canceling'
    ENDED = 'ended'


CAUSE_CODES = {
    'timeout': ErrorCode.GOAL_TIMEOUT,
    'lock': ErrorCode.LOCKED,
    'condition': ErrorCode.LIMIT_EXCEEDED,
    'taken_over': ErrorCode.OPERATOR_TOOK_OVER,
    'silent': ErrorCode.SERVER_UNAVAILABLE,
}
# What ToolEvent.cause says where it is less than what is known here.
_TOLD_CAUSES = {'taken_over': 'operator'}


@dataclass(slots=True, kw_only=True)
class Ending:
    """How a call ended, and the line that the model is told."""

    state: int
    code: ErrorCode = ErrorCode.NONE
    message: str = ''
    text: str
    result: Mapping[str, Any] = field(default_factory=dict)
    server_code: int = 0
    server_name: str = ''


@dataclass(slots=True, kw_only=True)
class Goal:
    """
    One call on its way; written by dispatch and its transports. Times on a steady clock.

    `target` is what the message is made of when it is sent, `fields` the same as shown.
    `valid_until_ns` is the ROS time after which it may not be sent, 0 for none.
    """

    robot: str
    decision_id: str
    call: Call
    spec: ToolSpec
    interface_name: str
    message: Any = None
    target: Mapping[str, Any] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    valid_until_ns: int = 0
    phase: Phase = Phase.SENDING
    waits_for: set[str] = field(default_factory=set)
    handle: Any = None
    waiting_s: float = math.nan
    sent_s: float = math.nan
    cancel_s: float = math.nan
    asked_again_s: float = -math.inf
    server_seen_s: float = -math.inf
    cause: str = ''
    told_s: float = -math.inf
    feedback: Mapping[str, Any] = field(default_factory=dict)
    first_value: float = math.nan

    def event(self, state: int, now_s: float) -> ToolEvent:
        """Return an event of this call, without its stamp."""
        elapsed_s = 0.0 if math.isnan(self.sent_s) else now_s - self.sent_s
        return ToolEvent(
            robot=self.robot, decision_id=uuid_message(self.decision_id),
            call_id=uuid_message(self.call.id), name=self.call.name,
            interface_name=self.interface_name, state=state, elapsed=elapsed_s,
            progress=math.nan, cause=_TOLD_CAUSES.get(self.cause, self.cause))

    def feedback_event(self, feedback: Mapping[str, Any], now_s: float) -> ToolEvent | None:
        """Return the event for a feedback, None while the tool's period has not passed."""
        rule = self.spec.feedback
        value = lookup(feedback, rule.progress_field) if rule.progress_field else None
        if isinstance(value, (int, float)) and math.isnan(self.first_value):
            first = rule.progress_from
            self.first_value = float(value) if math.isnan(first) else first
        if now_s - self.told_s < rule.period_s:
            return None
        self.told_s = now_s
        event = self.event(ToolEvent.STATE_EXECUTING, now_s)
        self.feedback = _shown(feedback, rule.show)
        event.detail_json = as_json(self.feedback)
        if isinstance(value, (int, float)):
            event.progress = self._progress(float(value))
        return event

    def progress_event(self, fraction: float, now_s: float) -> ToolEvent | None:
        """Return the event for a known progress, None while the tool's period has not passed."""
        if now_s - max(self.told_s, self.sent_s) < self.spec.feedback.period_s:
            return None
        self.told_s = now_s
        event = self.event(ToolEvent.STATE_EXECUTING, now_s)
        event.progress = fraction
        return event

    def observation(self, now_s: float, now_ns: int) -> Observation | None:
        """Return the feedback that was told last, as the model sees it; None before the first."""
        if not self.feedback:
            return None
        age_ns = int(1e9 * (now_s - self.told_s))
        return Observation(
            name=f'{self.call.name}_feedback', topic=f'{self.interface_name}/_action/feedback',
            type=f'{self.spec.interface_type}_Feedback', received_ns=now_ns - age_ns,
            age_s=quantise_age(age_ns),
            value={**self.feedback, 'elapsed': round(now_s - self.sent_s, 1)})

    def end_event(self, ending: Ending, now_s: float) -> ToolEvent:
        """Return the terminal event."""
        event = self.event(ending.state, now_s)
        event.is_terminal = True
        event.error_code = int(ending.code)
        event.error_msg = ending.message
        event.server_error_code = ending.server_code
        event.server_error_name = ending.server_name
        if ending.state == ToolEvent.STATE_SUCCEEDED and self.spec.feedback.progress_field:
            event.progress = 1.0
        if ending.result:
            event.detail_json = as_json(_shown(ending.result, self.spec.result.show))
        return event

    def _progress(self, value: float) -> float:
        span = self.first_value - self.spec.feedback.progress_to
        if span == 0:
            return 1.0
        return min(1.0, max(0.0, (self.first_value - value) / span))


def _shown(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the fields named that there are: results differ between versions of a package."""
    found = {name: lookup(values, name) for name in names}
    return {name: _bounded(value) for name, value in found.items() if value is not None}


def _bounded(value: Any) -> Any:
    """Cut what a server wrote, which may be of any length."""
    if isinstance(value, str):
        return value[:MAX_CHARACTERS]
    if isinstance(value, Mapping):
        return {name: _bounded(item) for name, item in value.items()}
    return [_bounded(item) for item in value[:MAX_ITEMS]] if isinstance(value, list) else value
