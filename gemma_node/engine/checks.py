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

"""What a generation must be to be served. Holds no tensors and imports no torch."""

from __future__ import annotations

from gemma_node.core import ErrorCode
from gemma_node.core import Generation


def check(
    generation: Generation, vocab_size: int, context_tokens: int
) -> tuple[ErrorCode, str]:
    """Return why a generation cannot be served, or ErrorCode.NONE."""
    prompt, cuts = generation.prompt_ids, generation.cuts
    problem = ''
    if not prompt:
        problem = 'the prompt is empty'
    elif generation.max_tokens < _least_tokens(generation):
        least = _least_tokens(generation)
        problem = f'max_tokens must be >= {least}, got {generation.max_tokens}'
    elif list(cuts) != sorted(cuts) or not all(0 <= cut <= len(prompt) for cut in cuts):
        problem = f'cuts {cuts} must ascend within the prompt'
    if problem:
        return ErrorCode.INVALID_REQUEST, problem
    needed = len(prompt) + (0 if generation.score_ids else generation.max_tokens)
    if needed > context_tokens:
        return ErrorCode.CONTEXT_OVERFLOW, _overflow_text(generation, needed, context_tokens)
    ids = (*generation.score_ids, min(prompt), max(prompt))
    wrong = next((each for each in ids if not 0 <= each < vocab_size), None)
    if wrong is not None:
        return (
            ErrorCode.INVALID_REQUEST,
            f'token id {wrong} is outside the vocabulary of {vocab_size}',
        )
    return ErrorCode.NONE, ''


def _least_tokens(generation: Generation) -> int:
    return 0 if generation.score_ids or generation.prompt_logprobs else 1


def _overflow_text(generation: Generation, needed: int, context_tokens: int) -> str:
    length = len(generation.prompt_ids)
    room = context_tokens - length
    text = (
        f'{length} prompt tokens and max_tokens {needed - length} need a context of {needed}, '
        f'engine.context_tokens is {context_tokens}; '
    )
    if room > 0:
        return text + f'max_tokens <= {room} or context_tokens >= {needed} fits'
    return text + f'context_tokens >= {needed} fits'
