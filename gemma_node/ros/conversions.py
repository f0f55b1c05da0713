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

"""Messages <-> the core's values: requests in, decisions and events out. Nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
import json
import math
from typing import Any

from builtin_interfaces.msg import Time
import numpy as np
from unique_identifier_msgs.msg import UUID

from gemma_node.core import Answer
from gemma_node.core import Call
from gemma_node.core import Observation
from gemma_node.core import Priority
from gemma_node.core import Request
from gemma_node.core import ToolChoice
from gemma_node.core import Trigger
from gemma_node.msg import Argument
from gemma_node.msg import Decision
from gemma_node.msg import DecisionRequest
from gemma_node.msg import InputRef
from gemma_node.msg import ToolCall
from gemma_node.policy.gate import kind_of
from gemma_node.policy.gate import Verdict
from gemma_node.tools.spec import ToolSpec

NS = 1_000_000_000
MAX_NAME = 256
MAX_NAMES = 1024
NO_ID = '0' * 32


def uuid_hex(message: UUID) -> str:
    """Return 32 hex digits, '' when the UUID is all zero."""
    digits = bytes(message.uuid).hex()
    return '' if digits == NO_ID else digits


def uuid_message(digits: str) -> UUID:
    """Return the UUID of 32 hex digits; '' is all zero."""
    return UUID(uuid=np.frombuffer(bytes.fromhex(digits or NO_ID), dtype=np.uint8))


def time_message(nanoseconds: int) -> Time:
    """Return ROS time of nanoseconds."""
    return Time(sec=nanoseconds // NS, nanosec=nanoseconds % NS)


def time_ns(message: Any) -> int:
    """Return nanoseconds of a Time or Duration."""
    return int(message.sec) * NS + int(message.nanosec)


def request_of(
    message: DecisionRequest, *, trigger: Trigger, source: str, identifier: str = '',
    temperature: float = 0.0, seed: int = 0, max_tokens: int = 0,
) -> tuple[Request, str]:
    """Return the request a message asks for, and what is wrong with it ('' = nothing)."""
    timeout_s = time_ns(message.timeout) / NS
    problem = ''
    if timeout_s < 0:
        problem = f'timeout is {timeout_s:g} s, below zero'
    if not math.isfinite(temperature) or temperature < 0:
        problem = f'temperature is {temperature:g}, must be finite and not below zero'
    if len(message.allowed_tools) > MAX_NAMES:
        problem = f'allowed_tools names {len(message.allowed_tools)} tools, at most {MAX_NAMES}'
    names = {'robot': message.robot, 'session': message.session}
    names.update(('allowed_tools', name) for name in message.allowed_tools if len(name) > MAX_NAME)
    for field, name in names.items():
        if len(name) > MAX_NAME:
            problem = f'{field} has a name of {len(name)} characters, at most {MAX_NAME}'
    if message.tool_choice not in list(ToolChoice):
        problem = f'tool_choice is {message.tool_choice}, must be 0, 1 or 2'
    if message.priority not in list(Priority):
        problem = f'priority is {message.priority}, must be -1, 0 or 1'
    return Request(
        id=uuid_hex(message.id) or identifier, robot=message.robot[:MAX_NAME],
        text=message.text, session=message.session[:MAX_NAME],
        tool_choice=ToolChoice.AUTO if problem else ToolChoice(message.tool_choice),
        allowed_tools=tuple(message.allowed_tools[:MAX_NAMES]), timeout_s=max(timeout_s, 0.0),
        priority=Priority.NORMAL if problem else Priority(message.priority),
        keep=message.keep, trigger=trigger, trigger_source=source,
        stamp_ns=time_ns(message.header.stamp), temperature=temperature, seed=seed,
        max_tokens=max_tokens), problem


def input_ref(observation: Observation, tokens: int, is_truncated: bool) -> InputRef:
    """Return the reference a Decision carries to what the model saw."""
    return InputRef(
        topic=observation.topic, type=observation.type,
        stamp=time_message(observation.stamp_ns), received=time_message(observation.received_ns),
        age=observation.age_s, max_age=observation.max_age_s, state=int(observation.state),
        tokens=min(tokens, 65535), truncated=is_truncated, digest=observation.digest,
        age_source=int(observation.age_source))


def input_refs(observations: tuple[Observation, ...], answer: Answer) -> list[InputRef]:
    """Return references to all observations, with the tokens each cost."""
    costs = {name: (tokens, cut) for name, tokens, cut in answer.input_tokens}
    return [input_ref(observation, *costs.get(observation.name, (0, False)))
            for observation in observations]


def tool_call(
    call: Call, spec: ToolSpec | None, verdict: Verdict, *, interface_name: str,
    goal: Mapping[str, Any],
) -> ToolCall:
    """Return one call of a Decision with its verdict."""
    return ToolCall(
        id=uuid_message(call.id), name=call.name, kind=int(kind_of(spec)),
        interface_type=spec.interface_type if spec else '', interface_name=interface_name,
        arguments_json=as_json(call.arguments), arguments=list(_arguments(call, spec)),
        message_json=as_json(goal) if spec else '', verdict=int(verdict.kind),
        error_code=int(verdict.code), violations=list(verdict.violations))


def decision_of(answer: Answer, request: Request) -> Decision:
    """Return the part of a Decision that the answer and its request say."""
    return Decision(
        robot=request.robot, id=uuid_message(request.id),
        parent_id=uuid_message(request.parent_id), step=request.step,
        trigger=int(request.trigger), trigger_source=request.trigger_source,
        outcome=int(answer.outcome), error_code=int(answer.error_code),
        error_msg=answer.error_msg, text=answer.text, prompt_digest=answer.prompt_digest,
        output_digest=answer.output_digest, seed=answer.seed, verified=answer.verified,
        cache_source=int(answer.cache_source), prompt_tokens=answer.prompt_tokens,
        cached_tokens=answer.cached_tokens, completion_tokens=answer.completion_tokens,
        forced_tokens=answer.forced_tokens, drafted_tokens=answer.drafted_tokens,
        history_turns=answer.history_turns, queue_time=answer.queue_time,
        encode_time=answer.encode_time, prefill_time=answer.prefill_time,
        decode_time=answer.decode_time, tool_probability=answer.tool_probability,
        grammar_mass_min=answer.grammar_mass_min, energy=math.nan,
        sense_to_decision_time=math.nan, deadline_slack=math.nan)


def as_json(value: Any) -> str:
    """Return RFC 8259 text; non-finite numbers become null."""
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


def _arguments(call: Call, spec: ToolSpec | None) -> Iterator[Argument]:
    units = {rule.name: rule.unit for rule in spec.shown} if spec else {}
    properties = spec.declaration.parameters.get('properties', {}) if spec else {}
    for name, value in _flat(call.arguments):
        top = name.split('.', 1)[0]
        choices = properties.get(top, {}).get('enum', ())
        yield Argument(name=name, unit=units.get(top, ''), value=_number(value, choices),
                       text=value if isinstance(value, str) else json.dumps(value))


def _flat(value: Any, name: str = '') -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        items: Any = value.items()
    elif isinstance(value, (list, tuple)):
        items = enumerate(value)
    else:
        yield name, value
        return
    for key, item in items:
        yield from _flat(item, f'{name}.{key}' if name else str(key))


def _number(value: Any, choices: Any) -> float:
    if isinstance(value, (bool, int, float)):
        return float(value)
    return float(choices.index(value)) if value in choices else math.nan
