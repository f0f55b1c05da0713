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
Frozen values that cross layers and processes.

Standard library only. Numbers of the enums equal the constants of the ROS interfaces (a test
compares them). Everything here is plain data: it goes through msgpack frames unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from enum import IntEnum
import math
from typing import Any
from typing import Protocol


class ErrorCode(IntEnum):
    """Why a request or call did not end well; equals gemma_node/msg/ErrorCode."""

    NONE = 0
    UNKNOWN = 20000
    INVALID_REQUEST = 20001
    UNKNOWN_ROBOT = 20002
    NOT_ACTIVE = 20003
    BUSY = 20004
    SUPERSEDED = 20005
    DEADLINE_EXCEEDED = 20006
    CANCELED = 20007
    CONTEXT_OVERFLOW = 20010
    TRUNCATED = 20011
    OUT_OF_MEMORY = 20012
    ENGINE_RESTARTED = 20013
    RUNTIME_FAILURE = 20014
    UNKNOWN_TOOL = 20020
    NOT_ALLOWED = 20021
    SCHEMA_VIOLATION = 20022
    LIMIT_EXCEEDED = 20023
    RATE_LIMITED = 20024
    STALE_INPUT = 20025
    MISSING_INPUT = 20026
    LOW_CONFIDENCE = 20027
    RESOURCE_BUSY = 20028
    LOCKED = 20030
    NEEDS_REARM = 20031
    APPROVAL_DENIED = 20032
    APPROVAL_EXPIRED = 20033
    OPERATOR_TOOK_OVER = 20034
    SERVER_UNAVAILABLE = 20040
    GOAL_REJECTED = 20041
    GOAL_ABORTED = 20042
    GOAL_TIMEOUT = 20043
    CANCEL_UNCONFIRMED = 20044


class Trigger(IntEnum):
    """What caused a request."""

    UNKNOWN = 0
    REQUEST = 1
    ACTION = 2
    OBSERVATION = 3
    TIMER = 4
    TOOL_RESULT = 5


class Outcome(IntEnum):
    """What a Decision says."""

    UNKNOWN = 0
    TOOL_CALL = 1
    REPLY = 2
    NO_ACTION = 3
    REFUSED = 4
    FAILED = 5


class Mode(IntEnum):
    """How far a call may go; the effective mode is the minimum of node, robot and tool."""

    SHADOW = 0
    APPROVE = 1
    AUTO = 2


class ToolChoice(IntEnum):
    """Whether the model may, must or must not call a tool."""

    AUTO = 0
    REQUIRED = 1
    NONE = 2


class Priority(IntEnum):
    """Queue order between requests."""

    LOW = -1
    NORMAL = 0
    HIGH = 1


class CallKind(IntEnum):
    """What a tool drives; NONE is a builtin (no_action, stop, ask_operator)."""

    NONE = 0
    ACTION = 1
    SERVICE = 2
    TOPIC = 3


class InputState(IntEnum):
    """State of one observation at the snapshot."""

    FRESH = 0
    STALE = 1
    MISSING = 2
    INVALID = 3


class AgeSource(IntEnum):
    """Which clock reading an age was taken from."""

    STAMP = 0
    RECEPTION = 1


class CacheSource(IntEnum):
    """Where the reused part of a prompt's KV came from."""

    COLD = 0
    SHARED_PREFIX = 1
    ROBOT_STATE = 2
    DISK = 3


class Stage(IntEnum):
    """Progress of a request, as the Decide action's feedback names it."""

    QUEUED = 0
    PREFILL = 1
    DECODE = 2
    AWAITING_APPROVAL = 3
    EXECUTING = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """
    One input as the model will see it, already decoded to plain nested values.

    `value` holds the message as dict/list/str/int/float/bool (NaN and inf allowed; byte arrays
    as ``{'__bytes__': n}``, arrays longer than 4096 as ``{'__array__': n, 'head': [...]}``), or
    None when missing or undecodable. `age_s` is quantised once, at the snapshot; nan = unknown.
    Every consumer uses this quantised value, so audit and replay see what the model saw.
    """

    name: str
    topic: str
    type: str
    stamp_ns: int = 0
    received_ns: int = 0
    age_s: float = math.nan
    max_age_s: float = math.inf
    state: InputState = InputState.FRESH
    age_source: AgeSource = AgeSource.RECEPTION
    digest: str = ''
    required: bool = False
    value: Any = None
    template: str = ''
    max_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """Terminal result of one call, as it is told to the model. `text` is data, never markup."""

    call_id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """
    One question to the model. Ids are 32 hex digits; '' as `parent_id` means none.

    `unavailable_tools` cannot be reached now: they stay declared, but cannot be called.
    """

    id: str
    robot: str
    text: str
    session: str = ''
    tool_choice: ToolChoice = ToolChoice.AUTO
    allowed_tools: tuple[str, ...] = ()
    unavailable_tools: tuple[str, ...] = ()
    timeout_s: float = 0.0
    priority: Priority = Priority.NORMAL
    keep: bool = True
    trigger: Trigger = Trigger.REQUEST
    trigger_source: str = ''
    parent_id: str = ''
    step: int = 0
    stamp_ns: int = 0
    temperature: float = 0.0
    seed: int = 0
    max_tokens: int = 0
    draft: bool = True
    tool_results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """
    One tool call as decoded and validated in the worker; policy and dispatch judge it later.

    `id` = UUIDv5(request id, index) in hex, so it is the same in every replay.
    `arguments` maps the tool's own argument names to plain JSON values.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    probability: float = math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """
    What an audit keeps of one generation, enough to do it again and compare.

    `output_ids` exclude the stop token; `tools` are the names of what the grammar allowed,
    `sampling` the fields of Generation from max_tokens to draft.
    """

    prompt_ids: tuple[int, ...]
    cuts: tuple[int, ...]
    output_ids: tuple[int, ...]
    stop_id: int
    probabilities: tuple[float, ...]
    tools: tuple[str, ...]
    tool_choice: ToolChoice
    max_calls: int
    grammar_digest: str
    sampling: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """
    What the worker says to one request; exactly one per submitted request.

    Times in seconds on a steady clock; nan where not measured. Digests are sha256 hex over
    token ids as little-endian uint32. `input_tokens` gives (observation name, tokens, truncated).
    `trace` is there while decisions are audited.
    """

    request_id: str
    robot: str
    outcome: Outcome
    error_code: ErrorCode = ErrorCode.NONE
    error_msg: str = ''
    calls: tuple[Call, ...] = ()
    text: str = ''
    prompt_digest: str = ''
    output_digest: str = ''
    seed: int = 0
    cache_source: CacheSource = CacheSource.COLD
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    forced_tokens: int = 0
    drafted_tokens: int = 0
    history_turns: int = 0
    queue_time: float = math.nan
    encode_time: float = math.nan
    prefill_time: float = math.nan
    decode_time: float = math.nan
    tool_probability: float = math.nan
    grammar_mass_min: float = math.nan
    verified: bool = False
    input_tokens: tuple[tuple[str, int, bool], ...] = ()
    trace: Trace | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDeclaration:
    """
    What the model is told about one tool, and what its calls are checked against.

    `parameters` is a JSON Schema 2020-12 object schema (additionalProperties false). It is all
    that crosses to the worker: interfaces, resources and policy stay in the node.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    is_builtin: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotSettings:
    """What the worker must know of one robot: its prompt prefix and history bounds."""

    name: str
    system_prompt: str
    tools: tuple[ToolDeclaration, ...]
    history_turns: int = 8
    history_tokens: int = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """
    Everything the worker process needs, sent as its first frame. Plain values only.

    `model_path` '' means the embedded checkpoint. `device` is auto, cpu, cuda or xpu. `trace`:
    answers carry one. `max_thinking_tokens` 0: the model does not think first.
    """

    robots: tuple[RobotSettings, ...]
    model_path: str = ''
    device: str = 'auto'
    allow_unverified: bool = False
    allow_not_finite: bool = False
    lanes: int = 8
    context_tokens: int = 8192
    max_tokens: int = 256
    max_slice_ms: float = 50.0
    state_budget_mb: int = 512
    state_dir: str = ''
    cache_dir: str = ''
    num_threads: int = 0
    kv_dtype: str = 'auto'
    max_calls: int = 4
    max_thinking_tokens: int = 0
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0
    inbox_size: int = 64
    trace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeFacts:
    """Constants of a ready worker, for RuntimeInfo and `gemma-node doctor`."""

    package_version: str
    model: str
    checkpoint_digest: str
    recipe: str
    rounding: str
    backend: str
    device: str
    driver: str
    kernel_digest: str
    prompt_digest: str
    verified: bool
    not_verified: tuple[str, ...]
    lanes: int
    context_tokens: int
    num_parameters: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStats:
    """
    Counters of the engine since it started, and what it holds now.

    `state_refused` counts damaged or foreign files, `state_too_large` states over the budget.
    """

    lanes: int = 0
    lanes_busy: int = 0
    queue_depth: int = 0
    generated_tokens: int = 0
    prefilled_tokens: int = 0
    decode_seconds: float = 0.0
    prefill_seconds: float = 0.0
    kv_bytes: int = 0
    state_bytes: int = 0
    state_budget_bytes: int = 0
    states: int = 0
    state_hits: int = 0
    state_misses: int = 0
    state_evictions: int = 0
    state_refused: int = 0
    state_too_large: int = 0
    states_on_disk: int = 0
    states_loaded: int = 0
    states_written: int = 0
    forced_tokens: int = 0
    drafted_tokens: int = 0
    drafts_accepted: int = 0
    context_tokens: Mapping[str, int] = field(default_factory=dict)


class Finish(IntEnum):
    """Why a generation ended."""

    STOP = 0
    LENGTH = 1
    CANCELED = 2
    DEADLINE = 3
    FAILED = 4


class TokenConstraint(Protocol):
    """
    What the engine asks of a token grammar, one object per generation.

    Called by the engine thread only. Bitmask rows are writable int32 buffers of ceil(V / 32)
    words; bit j of word i allows token 32 * i + j.
    """

    def fill_bitmask(self, row: Any) -> None:
        """Write the tokens allowed next."""

    def accept(self, token_id: int) -> bool:
        """Advance by one token; False (and no change) when the grammar forbids it."""

    def is_complete(self) -> bool:
        """Return whether nothing but a stop token may follow."""

    def forced_token(self) -> int | None:
        """Return the one token the mask allows, or None when there is a choice."""

    def rollback(self, num_tokens: int) -> None:
        """Undo the last `num_tokens` accepted tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """
    One completion asked of the engine.

    `cuts` are ascending prompt positions worth keeping a state at: first the end of the shared
    system-and-tools prefix, last the end of history. `state_key` names whose state it is; a
    state is never reused under another key except up to the first cut. `deadline` is on
    `time.monotonic()`, inf for none. Reaching a `stop_ids` token ends it with Finish.STOP. With
    `score_ids` nothing is generated: the result says how probable each would be next. With
    `prompt_logprobs` the whole prompt is run, resumed from no state, and may be all that is asked
    (max_tokens 0). `guess` are ids that the reply may well begin with, `phrases` such that it may
    well name where the constraint leaves a choice: drafts, which change no token.
    """

    id: str
    state_key: str
    prompt_ids: tuple[int, ...]
    cuts: tuple[int, ...] = ()
    max_tokens: int = 256
    stop_ids: tuple[int, ...] = ()
    constraint: TokenConstraint | None = None
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0
    priority: int = 0
    deadline: float = math.inf
    draft: bool = True
    guess: tuple[int, ...] = ()
    phrases: tuple[tuple[int, ...], ...] = ()
    score_ids: tuple[int, ...] = ()
    prompt_logprobs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationProgress:
    """Progress of one generation: prompt tokens ready, and the ids so far."""

    id: str
    stage: Stage
    prompt_tokens_done: int = 0
    token_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationResult:
    """
    The end of one generation; exactly one per submitted Generation.

    `token_ids` excludes the stop token. `probabilities[i]` is the chosen token's probability
    after mask (temperature 1); `masses[i]` the probability the mask kept, 1.0 where the mask
    left one token. `scores` are natural logarithms of the whole vocabulary's probabilities, one
    for each of `score_ids`; `prompt_logprobs[i]` that of prompt token i + 1 after those before
    it, where asked. Times in seconds.
    """

    id: str
    finish: Finish
    token_ids: tuple[int, ...] = ()
    stop_id: int = -1
    probabilities: tuple[float, ...] = ()
    masses: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()
    prompt_logprobs: tuple[float, ...] = ()
    error_code: ErrorCode = ErrorCode.NONE
    error_msg: str = ''
    cache_source: CacheSource = CacheSource.COLD
    cached_tokens: int = 0
    forced_tokens: int = 0
    drafted_tokens: int = 0
    queue_time: float = math.nan
    prefill_time: float = math.nan
    decode_time: float = math.nan
