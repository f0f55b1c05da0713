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

"""What a tools file says about one tool, as frozen values. Reads no file, checks nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
import math
from typing import Any

from gemma_node.core import CallKind
from gemma_node.core import Mode
from gemma_node.core import ToolDeclaration
from gemma_node.tools.interface_schema import Shape

PathPart = str | int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentRule:
    """
    How one field of the goal gets its value: from an argument of the model, or a constant.

    `name` is the argument the model sees, '' when it sees none (`const`, `is_hidden`).
    `path` addresses the field: names and list indices. `gain` converts argument to field units.
    `shape` is known where the interface can be read. `is_kept`: the default is what is now.
    """

    path: tuple[PathPart, ...]
    name: str = ''
    schema: Mapping[str, Any] = field(default_factory=dict)
    field_type: str = ''
    unit: str = ''
    gain: float = 1.0
    is_yaw: bool = False
    choices: Mapping[str, Any] | None = None
    has_const: bool = False
    const: Any = None
    has_default: bool = False
    default: Any = None
    is_optional: bool = False
    is_hidden: bool = False
    is_kept: bool = False
    shape: Shape | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """
    What must hold of one input before a call goes out: its age, and bounds on one field.

    `otherwise` is told to the model and the operator. `during`: also while the goal runs.
    """

    input: str
    max_age_s: float = math.inf
    field: str = ''
    above: float | None = None
    below: float | None = None
    has_equals: bool = False
    equals: Any = None
    otherwise: str = ''
    during: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """
    The target that the arguments `x` and `y` give must lie within this polygon.

    With a `frame` the polygon is in that frame's metres, and a goal in another frame needs a
    transform at most `max_age_s` old; without, in the units in which the model writes.
    """

    polygon: tuple[tuple[float, float], ...]
    x: str
    y: str
    frame: str = ''
    max_age_s: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackRule:
    """
    Which feedback fields are shown to the model, how often, and what 0..1 progress is.

    `progress_from` nan = the first value received.
    """

    show: tuple[str, ...] = ()
    period_s: float = 1.0
    progress_field: str = ''
    progress_from: float = math.nan
    progress_to: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRule:
    """
    A message published at a rate for a while, then as zeros: a goal that the node serves itself.

    `duration` is the argument that says how long, None where `duration_s` does. `slews` bounds
    how fast a field (path, change per second) leaves zero and returns to it.
    """

    rate_hz: float
    duration: ArgumentRule | None = None
    duration_s: float = 0.0
    min_subscribers: int = 1
    slews: tuple[tuple[tuple[PathPart, ...], float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One field of a result and the value that it must equal."""

    field: str
    equals: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRule:
    """Which result fields the model is shown, and which of `success` mean that it worked."""

    show: tuple[str, ...] = ()
    success: tuple[Condition, ...] = ()
    needs_all: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """
    One tool: what the model is told, which interface it drives, and the policy around it.

    `interface_name` is relative to the robot's namespace, as written in the file.
    """

    name: str
    description: str
    kind: CallKind
    declaration: ToolDeclaration
    interface_type: str = ''
    interface_name: str = ''
    arguments: tuple[ArgumentRule, ...] = ()
    mode: Mode = Mode.SHADOW
    approval_timeout_s: float = 20.0
    resources: tuple[str, ...] = ()
    on_busy: str = 'reject'
    on_taken_over: str = 'yield'
    timeout_s: float = 60.0
    cancel_timeout_s: float = 3.0
    rate_limit_hz: float = 0.0
    cooldown_s: float = 0.0
    idempotent: bool = False
    requires: tuple[Requirement, ...] = ()
    inside: Inside | None = None
    feedback: FeedbackRule = field(default_factory=FeedbackRule)
    result: ResultRule = field(default_factory=ResultRule)
    examples: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    stream: StreamRule | None = None

    @property
    def shown(self) -> tuple[ArgumentRule, ...]:
        """The arguments that the model sees, a stream's duration last."""
        rules = tuple(rule for rule in self.arguments if rule.name)
        duration = self.stream.duration if self.stream is not None else None
        return rules if duration is None else (*rules, duration)

    @property
    def is_builtin(self) -> bool:
        """Whether the node serves this tool itself."""
        return self.kind == CallKind.NONE
