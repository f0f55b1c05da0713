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
The engine: generations in, one result each out, one short step at a time.

Knows token ids, lanes and prompt states; nothing of text, tools or robots. The thread that
calls `step` owns it and everything below it; no method may be called from another.
"""

from __future__ import annotations

from collections.abc import Callable
import time

import numpy as np
import numpy.typing as npt
import torch

from gemma_node.core import CacheSource
from gemma_node.core import EngineStats
from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import Generation
from gemma_node.core import GenerationProgress
from gemma_node.core import GenerationResult
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.prompt_states import PromptStates
from gemma_node.engine.runner import Runner
from gemma_node.engine.sampler import Draw
from gemma_node.engine.sampler import draw
from gemma_node.engine.sampler import NotFiniteError
from gemma_node.engine.scheduler import Scheduler
from gemma_node.engine.sequence import Phase
from gemma_node.engine.sequence import Sequence
from gemma_node.model.cache_shape import TILE
from gemma_node.model.gemma4 import Gemma4

Event = GenerationProgress | GenerationResult
_Allowed = npt.NDArray[np.intp]


class Engine:
    """
    Runs many generations on one model.

    Every submitted generation ends in exactly one GenerationResult, which a later `step`
    returns, also when it was refused at once or canceled.
    """

    def __init__(
        self,
        model: Gemma4,
        config: EngineConfig,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if config.num_threads:
            torch.set_num_threads(config.num_threads)
        self.config = config
        self._vocab_size = model.config.vocab_size
        self._context_tokens = min(config.context_tokens, model.config.max_position_embeddings)
        self._clock = clock
        with torch.inference_mode():
            self._runner = Runner(model, config)
        self._states = PromptStates(config.state_budget_bytes)
        self._scheduler = Scheduler(config.lanes)
        self._bitmask = np.zeros(-(-self._vocab_size // 32), dtype=np.int32)
        self._ended: list[GenerationResult] = []
        self._num_submitted = 0
        self._generated_tokens = 0
        self._prefilled_tokens = 0
        self._decode_seconds = 0.0
        self._prefill_seconds = 0.0

    @property
    def has_work(self) -> bool:
        """Whether a step would do or return anything."""
        return bool(self._ended or self._scheduler.num_queued or self._scheduler.num_running)

    def submit(self, generation: Generation) -> None:
        """Queue a generation; one that cannot be served gets its FAILED result at once."""
        now = self._clock()
        sequence = Sequence(generation, arrival=self._num_submitted, now=now)
        self._num_submitted += 1
        problem = self._problem(generation)
        if problem is None:
            self._scheduler.add(sequence)
            return
        code, text = problem
        self._ended.append(sequence.result(Finish.FAILED, now, error_code=code, error_msg=text))

    def cancel(self, generation_id: str, code: ErrorCode = ErrorCode.CANCELED) -> bool:
        """End a generation now and free its lane; False when it is not (or no longer) known."""
        sequence = self._scheduler.find(generation_id)
        if sequence is None:
            return False
        self._end(sequence, Finish.CANCELED, code=code)
        return True

    def step(self) -> list[Event]:
        """Do one short piece of work and return what changed."""
        self._expire()
        changed: list[Sequence] = []
        with torch.inference_mode():
            for sequence in self._scheduler.admit():
                sequence.started_at = self._clock()
            started = self._clock()
            sequence_to_prefill = self._scheduler.next_prefill()
            if sequence_to_prefill is not None:
                changed.append(sequence_to_prefill)
                self._guarded(self._prefill, sequence_to_prefill)
                self._prefill_seconds += self._clock() - started
            else:
                changed += self._decode_round(started)
        ended, self._ended = self._ended, []
        over = {result.id for result in ended}
        alive = [each for each in changed if each.generation.id not in over]
        return [*(each.progress() for each in alive), *ended]

    def forget(self, state_key: str) -> None:
        """Drop the prompt states of one key; shared prefixes stay."""
        self._states.forget(state_key)

    def stats(self) -> EngineStats:
        """Return counters since the start and what is held now."""
        held = self._states.tokens_by_key()
        held |= {
            each.generation.state_key: each.position + 1
            for each in self._scheduler
            if each.phase is not Phase.QUEUED
        }
        return EngineStats(
            lanes=self.config.lanes,
            lanes_busy=self._scheduler.num_running,
            queue_depth=self._scheduler.num_queued,
            generated_tokens=self._generated_tokens,
            prefilled_tokens=self._prefilled_tokens,
            decode_seconds=self._decode_seconds,
            prefill_seconds=self._prefill_seconds,
            kv_bytes=self._runner.nbytes,
            state_bytes=self._states.nbytes,
            state_budget_bytes=self._states.budget_bytes,
            states=len(self._states),
            state_hits=self._states.num_hits,
            state_misses=self._states.num_misses,
            state_evictions=self._states.num_evicted,
            state_refused=self._states.num_refused,
            context_tokens=held,
        )

    def _problem(self, generation: Generation) -> tuple[ErrorCode, str] | None:
        prompt, cuts = generation.prompt_ids, generation.cuts
        if generation.id in self._scheduler:
            return ErrorCode.INVALID_REQUEST, f'generation {generation.id} is already running'
        if not prompt:
            return ErrorCode.INVALID_REQUEST, 'the prompt is empty'
        if generation.max_tokens < 1:
            return (
                ErrorCode.INVALID_REQUEST,
                f'max_tokens must be >= 1, got {generation.max_tokens}',
            )
        inside = all(0 <= cut <= len(prompt) for cut in cuts)
        if not inside or list(cuts) != sorted(cuts):
            return ErrorCode.INVALID_REQUEST, f'cuts {cuts} must ascend within the prompt'
        if len(prompt) + generation.max_tokens > self._context_tokens:
            return ErrorCode.CONTEXT_OVERFLOW, self._overflow_text(generation)
        low, high = min(prompt), max(prompt)
        if low < 0 or high >= self._vocab_size:
            wrong = low if low < 0 else high
            return (
                ErrorCode.INVALID_REQUEST,
                f'token id {wrong} is outside the vocabulary of {self._vocab_size}',
            )
        return None

    def _overflow_text(self, generation: Generation) -> str:
        length = len(generation.prompt_ids)
        needed = length + generation.max_tokens
        room = self._context_tokens - length
        text = (
            f'{length} prompt tokens and max_tokens {generation.max_tokens} need a context of '
            f'{needed}, engine.context_tokens is {self._context_tokens}; '
        )
        if room > 0:
            return text + f'max_tokens <= {room} or context_tokens >= {needed} fits'
        return text + f'context_tokens >= {needed} fits'

    def _expire(self) -> None:
        now = self._clock()
        for sequence in list(self._scheduler):
            if now >= sequence.generation.deadline:
                self._end(sequence, Finish.DEADLINE, code=ErrorCode.DEADLINE_EXCEEDED)

    def _prefill(self, sequence: Sequence) -> None:
        if not sequence.rows:
            self._resume(sequence)
        start, tokens, is_last = sequence.next_tile()
        allowed = self._allowed(sequence) if is_last else None
        forced = self._forced(allowed)
        needs_logits = is_last and forced is None
        row = sequence.num_prompt_tokens - 1 - start if needs_logits else None
        logits = self._runner.prefill_tile(sequence.lane, tokens, start, row)
        real = min(TILE, sequence.num_prompt_tokens - start)
        sequence.rows = start + real
        self._prefilled_tokens += real
        if real == TILE:
            self._keep(sequence)
        if is_last:
            sequence.phase = Phase.DECODE
            sequence.prefilled_at = self._clock()
            self._produce(sequence, logits, allowed, forced)

    def _resume(self, sequence: Sequence) -> None:
        generation = sequence.generation
        found = self._states.find(
            generation.state_key, generation.prompt_ids, sequence.shared_line
        )
        if found is None:
            return
        state, line = found
        self._runner.restore(sequence.lane, state.snapshot)
        sequence.rows = sequence.cached_tokens = line
        if line:
            shared = state.is_shared
            sequence.cache_source = (
                CacheSource.SHARED_PREFIX if shared else CacheSource.ROBOT_STATE
            )

    def _keep(self, sequence: Sequence) -> None:
        rows = sequence.rows
        if rows not in sequence.save_lines:
            return
        self._states.save(
            sequence.generation.state_key,
            sequence.generation.prompt_ids[:rows],
            is_shared=rows <= sequence.shared_line,
            nbytes=self._runner.snapshot_bytes(rows),
            copy=lambda: self._runner.snapshot(sequence.lane, rows),
        )

    def _decode_round(self, started: float) -> list[Sequence]:
        changed = []
        for sequence in self._scheduler.next_decodes():
            changed.append(sequence)
            self._scheduler.decoded(sequence)
            self._guarded(self._decode, sequence)
            if self._clock() - started >= self.config.max_slice_s:
                break
        self._decode_seconds += self._clock() - started
        return changed

    def _decode(self, sequence: Sequence) -> None:
        allowed = self._allowed(sequence)
        forced = self._forced(allowed)
        logits = None
        # A token that ends the generation needs no row behind it.
        if forced is None or not self._would_end(sequence, forced):
            logits = self._runner.decode_row(
                sequence.lane,
                sequence.newest_token,
                sequence.position,
                with_logits=forced is None,
            )
        self._produce(sequence, logits, allowed, forced)

    def _would_end(self, sequence: Sequence, token_id: int) -> bool:
        generation = sequence.generation
        is_last = len(sequence.token_ids) + 1 >= generation.max_tokens
        return token_id in generation.stop_ids or is_last

    def _produce(
        self,
        sequence: Sequence,
        logits: torch.Tensor | None,
        allowed: _Allowed | None,
        forced: int | None,
    ) -> None:
        generation = sequence.generation
        if forced is not None:
            drawn = Draw(forced, 1.0, 1.0)
        else:
            assert logits is not None
            drawn = draw(logits, allowed, generation, sequence.position + 1)
        if drawn.token_id in generation.stop_ids:
            self._end(sequence, Finish.STOP, stop_id=drawn.token_id)
            return
        constraint = generation.constraint
        if constraint is not None and not constraint.accept(drawn.token_id):
            raise ValueError(f'the grammar refuses token {drawn.token_id}, which its mask allows')
        sequence.append(drawn.token_id, drawn.probability, drawn.mass)
        sequence.forced_tokens += forced is not None
        self._generated_tokens += 1
        if len(sequence.token_ids) >= generation.max_tokens:
            self._end(sequence, Finish.LENGTH)

    def _allowed(self, sequence: Sequence) -> _Allowed | None:
        """Return the ids the constraint allows next, ascending; None without one."""
        constraint = sequence.generation.constraint
        if constraint is None:
            return None
        self._bitmask.fill(0)
        constraint.fill_bitmask(self._bitmask)
        bits = np.unpackbits(self._bitmask.view(np.uint8), bitorder='little')
        allowed = np.flatnonzero(bits[: self._vocab_size])
        if not allowed.size:
            raise ValueError('the grammar allows no token at all')
        return allowed

    @staticmethod
    def _forced(allowed: _Allowed | None) -> int | None:
        return int(allowed[0]) if allowed is not None and allowed.size == 1 else None

    def _guarded(self, work: Callable[[Sequence], None], sequence: Sequence) -> None:
        """Run one sequence's work; whatever it raises ends that sequence only."""
        try:
            work(sequence)
        except (MemoryError, torch.cuda.OutOfMemoryError) as error:
            self._fail(sequence, ErrorCode.OUT_OF_MEMORY, error)
        except NotFiniteError as error:
            self._runner.clear(sequence.lane)
            self._fail(sequence, ErrorCode.RUNTIME_FAILURE, error)
        except Exception as error:
            # torch reports a failed allocation on a CPU as a plain RuntimeError.
            no_room = isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
            code = ErrorCode.OUT_OF_MEMORY if no_room else ErrorCode.RUNTIME_FAILURE
            self._fail(sequence, code, error)

    def _fail(self, sequence: Sequence, code: ErrorCode, error: BaseException) -> None:
        text = f'{type(error).__name__}: {error}'
        self._end(sequence, Finish.FAILED, code=code, text=text)

    def _end(
        self,
        sequence: Sequence,
        finish: Finish,
        *,
        stop_id: int = -1,
        code: ErrorCode = ErrorCode.NONE,
        text: str = '',
    ) -> None:
        now = self._clock()
        self._scheduler.remove(sequence)
        self._ended.append(
            sequence.result(finish, now, stop_id=stop_id, error_code=code, error_msg=text)
        )


