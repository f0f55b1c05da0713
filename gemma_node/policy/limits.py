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
Checks a call against bounds: its own arguments, and conditions on the inputs.

Every check returns findings (code and sentence); none raises.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any

from gemma_node.core import ErrorCode
from gemma_node.core import InputState
from gemma_node.core import Observation
from gemma_node.policy.fields import lookup
from gemma_node.policy.fields import violation
from gemma_node.tools.spec import Requirement

_KINDS: Mapping[str, tuple[type, ...]] = {
    'boolean': (bool,), 'integer': (int,), 'number': (int, float), 'string': (str,),
    'array': (list, tuple), 'object': (Mapping,)}


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason against a request or call: the code, and a sentence with field and bound."""

    code: ErrorCode
    sentence: str


def check_required(observations: Iterable[Observation]) -> list[Finding]:
    """Return a finding for every required input that is missing, invalid or stale."""
    return [finding for observation in observations if observation.required
            for finding in _state_findings(observation, observation.max_age_s)]


def check_requirement(
    condition: Requirement, observations: Mapping[str, Observation]
) -> list[Finding]:
    """Judge one `requires` entry of a tool: the age of an input, the value of its field."""
    observation = observations.get(condition.input)
    if observation is None:
        return [Finding(ErrorCode.MISSING_INPUT,
                        f"the tool needs the input '{condition.input}', which is not configured")]
    findings = _state_findings(observation, condition.max_age_s)
    if findings or not condition.field:
        return findings
    broken = violation(
        lookup(observation.value, condition.field),
        equals=condition.equals if condition.has_equals else None,
        above=-math.inf if condition.above is None else condition.above,
        below=math.inf if condition.below is None else condition.below)
    if not broken:
        return []
    sentence = f'{condition.input}.{condition.field} {broken}'
    if condition.otherwise:
        sentence = f'{condition.otherwise} ({sentence})'
    return [Finding(ErrorCode.LIMIT_EXCEEDED, sentence)]


def check_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[Finding]:
    """Judge a call's arguments again on the robot's side: names, finite numbers, bounds, enums."""
    properties = schema.get('properties', {})
    findings = [Finding(ErrorCode.SCHEMA_VIOLATION, f"argument '{name}' is missing")
                for name in schema.get('required', ()) if name not in arguments]
    for name, value in arguments.items():
        if name not in properties:
            findings.append(Finding(ErrorCode.SCHEMA_VIOLATION, f"unknown argument '{name}'"))
            continue
        findings += _check_value(name, value, properties[name])
    return findings


def check_seen(observations: Iterable[Observation], waited_s: float) -> list[Finding]:
    """Return a finding for every required input that was too old when the model read it."""
    findings = []
    for observation in observations:
        age_s = observation.age_s + waited_s
        if observation.required and age_s > observation.max_age_s:
            findings.append(Finding(
                ErrorCode.STALE_INPUT, f"input '{observation.name}' was {age_s:.1f} s old when "
                f'the model read it, the limit is {observation.max_age_s:g} s'))
    return findings


def _check_value(name: str, value: Any, schema: Mapping[str, Any]) -> list[Finding]:
    wanted = str(schema.get('type', ''))
    if wanted in _KINDS and not _is_of(wanted, value):
        return [Finding(ErrorCode.SCHEMA_VIOLATION,
                        f'{name} is {value!r:.60}, must be of type {wanted}')]
    if 'enum' in schema and value not in schema['enum']:
        return [Finding(ErrorCode.LIMIT_EXCEEDED, f'{name} is {value!r}, not one of the choices')]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return []
    if not math.isfinite(value):
        return [Finding(ErrorCode.LIMIT_EXCEEDED, f'{name} is {value}, a finite number is needed')]
    if value < schema.get('minimum', -math.inf) or value > schema.get('maximum', math.inf):
        low, high = schema.get('minimum', -math.inf), schema.get('maximum', math.inf)
        return [Finding(ErrorCode.LIMIT_EXCEEDED,
                        f'{name} is {value:g}, must be from {low:g} to {high:g}')]
    return []


def _is_of(kind: str, value: Any) -> bool:
    # For Python true is the number 1, which no limit of a speed would hold back.
    return isinstance(value, bool) == (kind == 'boolean') and isinstance(value, _KINDS[kind])


def _state_findings(observation: Observation, max_age_s: float) -> list[Finding]:
    name, state = observation.name, observation.state
    if state is InputState.MISSING:
        return [Finding(ErrorCode.MISSING_INPUT,
                        f"input '{name}' on {observation.topic} was never received")]
    if state is InputState.INVALID:
        return [Finding(ErrorCode.MISSING_INPUT,
                        f"input '{name}' on {observation.topic} is invalid")]
    limit_s = min(max_age_s, observation.max_age_s)
    if observation.age_s > limit_s:
        return [Finding(ErrorCode.STALE_INPUT, f"input '{name}' is {observation.age_s:g} s old, "
                        f'the limit is {limit_s:g} s')]
    return []
