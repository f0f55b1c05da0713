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

"""Answers as values: what a meaning or an error becomes, and what was measured on the way."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
import hashlib
import math
import sys

from gemma_node.core import Answer
from gemma_node.core import ErrorCode
from gemma_node.core import Generation
from gemma_node.core import GenerationResult
from gemma_node.core import Outcome
from gemma_node.core import Request
from gemma_node.core import Trace
from gemma_node.decision.outcome import AllowedTools
from gemma_node.decision.outcome import Meaning
from gemma_node.decision.prompt import Prompt
from gemma_node.errors import GemmaNodeError

_SAMPLING = ('max_tokens', 'temperature', 'top_k', 'top_p', 'min_p', 'seed', 'draft')
_REFUSALS = frozenset({
    ErrorCode.INVALID_REQUEST,
    ErrorCode.UNKNOWN_ROBOT,
    ErrorCode.NOT_ALLOWED,
    ErrorCode.CONTEXT_OVERFLOW,
    ErrorCode.BUSY,
    ErrorCode.SUPERSEDED,
    ErrorCode.NOT_ACTIVE,
    ErrorCode.LOCKED,
})


def served(request: Request, meaning: Meaning) -> Answer:
    """Return the answer to a request that the model answered."""
    return Answer(
        request_id=request.id,
        robot=request.robot,
        outcome=meaning.outcome,
        calls=meaning.calls,
        text=meaning.text,
        tool_probability=meaning.tool_probability,
    )


def unserved(request: Request, error: GemmaNodeError, *, may_refuse: bool = True) -> Answer:
    """Return the answer to a request that could not be served: REFUSED or FAILED by its code."""
    is_refusal = may_refuse and error.code in _REFUSALS
    return Answer(
        request_id=request.id,
        robot=request.robot,
        outcome=Outcome.REFUSED if is_refusal else Outcome.FAILED,
        error_code=error.code,
        error_msg=str(error),
    )


def with_facts(answer: Answer, prompt: Prompt, result: GenerationResult) -> Answer:
    """Return the answer with what was read, written and measured."""
    return replace(
        answer,
        prompt_digest=ids_digest(prompt.ids),
        output_digest=ids_digest(result.token_ids),
        cache_source=result.cache_source,
        prompt_tokens=len(prompt.ids),
        cached_tokens=result.cached_tokens,
        completion_tokens=len(result.token_ids),
        forced_tokens=result.forced_tokens,
        drafted_tokens=result.drafted_tokens,
        history_turns=prompt.history_turns,
        prefill_time=result.prefill_time,
        decode_time=result.decode_time,
        grammar_mass_min=min(result.masses, default=math.nan),
        input_tokens=prompt.input_tokens,
    )


def trace_of(
    generation: Generation, result: GenerationResult, allowed: AllowedTools, grammar_digest: str
) -> Trace:
    """Return what an audit keeps of a generation."""
    return Trace(
        prompt_ids=generation.prompt_ids,
        cuts=generation.cuts,
        output_ids=result.token_ids,
        stop_id=result.stop_id,
        probabilities=tuple(round(each, 6) for each in result.probabilities),
        tools=tuple(tool.name for tool in allowed.declarations),
        tool_choice=allowed.choice,
        max_calls=allowed.max_calls,
        grammar_digest=grammar_digest,
        sampling={name: getattr(generation, name) for name in _SAMPLING},
    )


def ids_digest(ids: Sequence[int]) -> str:
    """Return the sha256 of token ids as little-endian uint32, in hex."""
    words = array('I', ids)
    if sys.byteorder == 'big':
        words.byteswap()
    return hashlib.sha256(words.tobytes()).hexdigest()
