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
The single checks a call must pass, by name; the gate runs them in groups.

Each looks at one case and returns what it has against the call. None changes anything.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass

from gemma_node.core import Call
from gemma_node.core import ErrorCode
from gemma_node.core import Mode
from gemma_node.core import Observation
from gemma_node.core import Request
from gemma_node.policy.area import check_area
from gemma_node.policy.interfaces import check_interface
from gemma_node.policy.interfaces import Names
from gemma_node.policy.limits import check_arguments
from gemma_node.policy.limits import check_required
from gemma_node.policy.limits import check_requirement
from gemma_node.policy.limits import check_seen
from gemma_node.policy.limits import Finding
from gemma_node.policy.lock import Locks
from gemma_node.policy.pace import Pace
from gemma_node.policy.settings import RobotConfig
from gemma_node.policy.usage import Usage
from gemma_node.tools.spec import ToolSpec

Available = Callable[[ToolSpec], str]

# Hold at the decision, and again before a call that waited or was approved is sent.
STANDING = ('allowed', 'interface', 'lock', 'arguments', 'area', 'seen', 'required', 'requires')
PACE = ('rate', 'calls', 'repeats')
CONFIDENCE = ('confidence',)
SERVERS = ('server', 'foreign')
# Where these find something, the rest of their group is not asked.
ONCE = ('allowed', 'interface', 'lock', 'arguments', 'server', *PACE)


def nothing_against(spec: ToolSpec) -> str:
    """Return that nothing speaks against a tool's server."""
    return ''


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call before the gate, with all that is known of it. Times on a steady clock."""

    request: Request
    call: Call
    spec: ToolSpec
    robot: RobotConfig
    inputs: Mapping[str, Observation]
    now_s: float
    mode: Mode
    available: Available = nothing_against
    foreign: Available = nothing_against
    seen: tuple[Observation, ...] = ()
    waited_s: float = 0.0


Check = Callable[[Case], list[Finding]]


def make_checks(locks: Locks, usage: Usage, pace: Pace, names: Names) -> dict[str, Check]:
    """Return every check by name."""
    return {
        'allowed': _check_allowed,
        'interface': lambda case: check_interface(case.robot, case.spec, names),
        'lock': lambda case: _found(
            ErrorCode.LOCKED, locks.reason(case.robot.name, case.now_s)),
        'arguments': lambda case: check_arguments(
            case.spec.declaration.parameters, case.call.arguments),
        'area': lambda case: check_area(
            case.spec, case.call.arguments, case.inputs.values(),
            frame_prefix=f'{case.robot.namespace.strip("/")}/'),
        'seen': lambda case: check_seen(case.seen, case.waited_s),
        'required': lambda case: check_required(case.inputs.values()),
        'requires': lambda case: [
            finding for requirement in case.spec.requires
            for finding in check_requirement(requirement, case.inputs)],
        'rate': lambda case: _found(ErrorCode.RATE_LIMITED, usage.too_soon(
            case.robot.name, case.spec.name, case.now_s,
            rate_limit_hz=case.spec.rate_limit_hz, cooldown_s=case.spec.cooldown_s)),
        'calls': lambda case: _found(ErrorCode.RATE_LIMITED, pace.too_many(
            case.robot.name, case.now_s, case.robot.max_calls_per_minute)),
        'repeats': lambda case: _found(ErrorCode.RATE_LIMITED, pace.repeated(
            case.robot.name, case.call, case.now_s, most=case.robot.max_repeats,
            window_s=case.robot.repeat_window_s)),
        'confidence': _check_confidence,
        'server': lambda case: _found(
            ErrorCode.SERVER_UNAVAILABLE, case.available(case.spec)),
        'foreign': lambda case: _found(ErrorCode.RESOURCE_BUSY, case.foreign(case.spec)),
    }


def _check_allowed(case: Case) -> list[Finding]:
    allowed = case.request.allowed_tools
    if not allowed or case.call.name in allowed:
        return []
    return [Finding(ErrorCode.NOT_ALLOWED, f"the request does not allow '{case.call.name}'")]


def _check_confidence(case: Case) -> list[Finding]:
    least = case.robot.min_probability
    # An unknown probability (nan) is low.
    if not least or case.call.probability >= least:
        return []
    return [Finding(ErrorCode.LOW_CONFIDENCE,
                    f'the model chose {case.call.name} with a probability of '
                    f'{case.call.probability:.2f}, at least {least:g} is needed')]


def _found(code: ErrorCode, sentence: str) -> list[Finding]:
    return [Finding(code, sentence)] if sentence else []
