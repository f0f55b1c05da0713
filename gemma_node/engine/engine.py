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

from collections import OrderedDict
from collections.abc import Callable
import gc
import time
from typing import cast

import torch

from gemma_node.core import EngineStats
from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import Generation
from gemma_node.core import GenerationProgress
from gemma_node.core import GenerationResult
from gemma_node.engine.checks import check
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.drafts import Draft
from gemma_node.engine.flight import Flight
from gemma_node.engine.keeper import Keeper
from gemma_node.engine.producer import Producer
from gemma_node.engine.producer import Trace
from gemma_node.engine.rounds import Ends
from gemma_node.engine.rounds import prompt_rows
from gemma_node.engine.rounds import Rounds
from gemma_node.engine.runner import Found
from gemma_node.engine.runner import make_runner
from gemma_node.engine.runner import OverlappingRunner
from gemma_node.engine.sampler import NotFiniteError
from gemma_node.engine.scheduler import Scheduler
from gemma_node.engine.sequence import Phase
from gemma_node.engine.sequence import Sequence
from gemma_node.model.gemma4 import Gemma4

Event = GenerationProgress | GenerationResult
_IDLE_PRIORITY = -1000


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
            self._runner = make_runner(model, config)
        self._keeper = Keeper(self._runner, config)
        self._producer = Producer(self._vocab_size)
        self._scheduler = Scheduler(config.lanes)
        ends = Ends(self._fail, self._conclude)
        self._rounds = Rounds(self._runner, self._scheduler, self._producer, config, ends)
        self._flight: Flight | None = None
        if self._runner.overlaps:
            overlapping = cast('OverlappingRunner', self._runner)
            self._flight = Flight(
                overlapping, self._scheduler, self._keeper, self._producer, ends
            )
        self._to_prepare: OrderedDict[str, Generation] = OrderedDict()
        self._ended: list[GenerationResult] = []
        self._num_submitted = 0
        self._prefilled_tokens = 0
        self._decode_seconds = 0.0
        self._prefill_seconds = 0.0
        self._fastest_row_s = 0.0
        self._begun_at = 0.0

    @property
    def has_work(self) -> bool:
        """Whether a step would do or return anything."""
        scheduler = self._scheduler
        has_requests = bool(self._ended or scheduler.num_queued or scheduler.num_running)
        return has_requests or self._has_idle_work

    @property
    def runner_identity(self) -> str:
        """What computes, in words: kernel, instruction set, numbers and grid."""
        return self._runner.identity

    @property
    def is_native(self) -> bool:
        """Whether the native step computes."""
        return self._runner.shares_passes

    def submit(self, generation: Generation) -> None:
        """Queue a generation; one that cannot be served gets its FAILED result at once."""
        now = self._clock()
        sequence = self._sequence(generation)
        if generation.id in self._scheduler:
            code, text = (
                ErrorCode.INVALID_REQUEST,
                f'generation {generation.id} is already running',
            )
        else:
            code, text = check(generation, self._vocab_size, self._context_tokens)
        if code is not ErrorCode.NONE:
            result = sequence.result(Finish.FAILED, now, error_code=code, error_msg=text)
            self._ended.append(result)
            return
        self._leave_idle(generation.state_key)
        self._scheduler.add(sequence)

    def prepare(self, state_key: str, prompt_ids: tuple[int, ...], cuts: tuple[int, ...]) -> None:
        """Prefill what a key's next prompts will begin with, in idle time; the newest wins."""
        self._leave_idle(state_key)
        generation = Generation(
            id=f'idle {state_key}',
            state_key=state_key,
            prompt_ids=prompt_ids,
            cuts=cuts,
            max_tokens=1,
            priority=_IDLE_PRIORITY,
        )
        if check(generation, self._vocab_size, self._context_tokens)[0] is ErrorCode.NONE:
            self._to_prepare[state_key] = generation

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
        with torch.inference_mode():
            self._begin()
            started = self._clock()
            if self._flight is not None:
                changed = self._step_beside(self._flight, started)
            else:
                chosen = self._scheduler.next_prefill()
                if chosen is not None:
                    changed = self._prefill_alone(chosen, started)
                else:
                    changed = self._decode_round()
        ended, self._ended = self._ended, []
        over = {result.id for result in ended}
        alive = [each for each in changed if not each.is_idle and each.generation.id not in over]
        return [*(each.progress() for each in alive), *ended]

    def warm_up(self) -> None:
        """Do what only first passes do; nothing may run yet."""
        with torch.inference_mode():
            self._runner.warm_up()
        # Nobody need look for garbage in what is there now.
        gc.freeze()

    def forget(self, state_key: str) -> None:
        """Drop the prompt states of one key; shared prefixes stay."""
        self._leave_idle(state_key)
        self._keeper.forget(state_key)

    def clear(self) -> None:
        """Drop every prompt state, shared prefixes and files too."""
        for key in list(self._to_prepare):
            self._leave_idle(key)
        self._keeper.clear()

    def close(self) -> None:
        """Write the prompt states that are not on disk yet, where a folder is set."""
        self._keeper.flush(self._clock())

    def fill_free_memory(self, value: float) -> None:
        """Write a number, such as NaN, wherever no lane and no state has its rows: for tests."""
        with torch.inference_mode():
            self._runner.fill_free(value)

    def set_trace(self, trace: Trace | None) -> None:
        """Have a function told each row of logits that a token is drawn from."""
        self._producer.trace = trace

    def stats(self) -> EngineStats:
        """Return counters since the start and what is held now."""
        states, store, producer = self._keeper.states, self._keeper.store, self._producer
        held = states.tokens_by_key()
        held |= {
            each.generation.state_key: len(each.ids)
            for each in self._scheduler
            if each.phase is not Phase.QUEUED and not each.is_idle
        }
        return EngineStats(
            lanes=self.config.lanes,
            lanes_busy=self._scheduler.num_running,
            queue_depth=self._scheduler.num_queued,
            generated_tokens=producer.num_generated,
            prefilled_tokens=self._prefilled_tokens,
            decode_seconds=self._decode_seconds,
            prefill_seconds=self._prefill_seconds,
            kv_bytes=self._runner.nbytes,
            state_bytes=states.nbytes,
            state_budget_bytes=states.budget_bytes,
            states=len(states),
            state_hits=states.num_hits,
            state_misses=states.num_misses,
            state_evictions=states.num_evicted,
            state_refused=store.num_damaged if store else 0,
            state_too_large=states.num_refused,
            states_on_disk=len(store) if store else 0,
            states_loaded=store.num_loaded if store else 0,
            states_written=store.num_written if store else 0,
            forced_tokens=producer.num_forced,
            drafted_tokens=producer.num_drafted,
            drafts_accepted=producer.num_accepted,
            context_tokens=held,
        )

    @property
    def _has_idle_work(self) -> bool:
        return bool(
            self._to_prepare
            or self._scheduler.idle
            or self._keeper.has_unsaved(self._clock())
        )

    def _sequence(self, generation: Generation, *, is_idle: bool = False) -> Sequence:
        self._num_submitted += 1
        return Sequence(
            generation,
            arrival=self._num_submitted,
            now=self._clock(),
            grid=self._runner.grid,
            chunk=self._runner.chunk,
            is_idle=is_idle,
        )

    def _expire(self) -> None:
        now = self._clock()
        for sequence in list(self._scheduler):
            if now >= sequence.generation.deadline:
                self._end(sequence, Finish.DEADLINE, code=ErrorCode.DEADLINE_EXCEEDED)

    def _begin(self) -> None:
        """Give lanes to requests; without any, take up one piece of idle work."""
        scheduler = self._scheduler
        if scheduler.lacks_lanes and scheduler.idle:
            self._end(scheduler.idle[0], Finish.CANCELED)
        if not scheduler.num_queued and not scheduler.num_running and not scheduler.idle:
            if self._to_prepare:
                _, generation = self._to_prepare.popitem(last=False)
                scheduler.add(self._sequence(generation, is_idle=True))
            else:
                self._keeper.save_one(self._clock())
        for sequence in scheduler.admit():
            sequence.started_at = self._clock()

    def _leave_idle(self, state_key: str) -> None:
        """Give up idle work for a key: its request or a newer history is here."""
        self._to_prepare.pop(state_key, None)
        for sequence in self._scheduler.idle:
            if sequence.generation.state_key == state_key:
                self._end(sequence, Finish.CANCELED)

    def _step_beside(self, flight: Flight, started: float) -> list[Sequence]:
        """Take in prompts that have run, begin the next ones, and decode beside them."""
        changed: list[Sequence] = []
        scheduler = self._scheduler
        if flight.is_up and (flight.is_done() or not scheduler.is_decoding):
            count = flight.num_rows
            changed += flight.land(self._clock)
            took = self._clock() - self._begun_at
            self._fastest_row_s = min(self._fastest_row_s or took, took / count)
            self._prefill_seconds += took
            self._prefilled_tokens += count
        if not flight.is_up:
            self._begun_at = self._clock()
            for sequence in scheduler.prefills():
                if sequence.generation.prompt_logprobs:
                    scheduler.chunk_begins(sequence)
                    return changed + self._prefill_alone(sequence, self._begun_at)
            row_s = self._fastest_row_s
            most = int(self.config.max_slice_s / row_s) if row_s else 0
            changed += flight.begin(most, self._resume)
        if scheduler.is_decoding:
            changed += self._decode_round()
        # Each once, in the order of what happened.
        return list({id(each): each for each in changed}.values())

    def _prefill_alone(self, chosen: Sequence, started: float) -> list[Sequence]:
        """Run a part of one prompt while nothing else runs."""
        try:
            self._prefill(chosen)
        except Exception as error:
            self._fail(chosen, error)
        if not chosen.is_idle:
            self._prefill_seconds += self._clock() - started
        return [chosen]

    def _prefill(self, sequence: Sequence) -> None:
        if not sequence.rows and not self._resume(sequence):
            return
        generation = sequence.generation
        start = sequence.rows
        end, is_last = sequence.next_chunk()
        is_drawn = is_last and not sequence.is_idle
        if is_drawn and generation.max_tokens and not generation.score_ids:
            self._producer.force(sequence)
            if sequence.ending is not None and not generation.prompt_logprobs:
                self._conclude(sequence)
                return
        began = self._clock()
        # Rows that a prompt state may hold come first where later ones could disturb them.
        if is_drawn and len(sequence.ids) > end and self._runner.grid > 1:
            self._run_chunk(sequence, start, end)
            start = end
        known = len(sequence.ids) if is_drawn else end
        limit = self._rounds.draft_limit(self._scheduler.num_running) if is_drawn else 0
        draft = self._producer.opening(sequence, limit if self._runner.grid == 1 else 0)
        logits = self._run_chunk(sequence, start, known, draft if is_drawn else None)
        self._prefilled_tokens += 0 if sequence.is_idle else end - start
        row_s = (self._clock() - began) / (end - start or 1)
        self._fastest_row_s = min(self._fastest_row_s or row_s, row_s)
        if not is_last:
            return
        sequence.phase = Phase.DECODE
        sequence.prefilled_at = self._clock()
        if sequence.is_idle:
            self._end(sequence, Finish.STOP)
            return
        if generation.score_ids:
            self._producer.score(sequence, logits[0])
        elif not generation.max_tokens:
            sequence.ending = (Finish.LENGTH, -1)
        elif sequence.ending is None:
            tokens = (*sequence.ids[start:], *draft.token_ids)
            outputs = tuple(known - start + each for each in (-1, *draft.draws))
            self._producer.consume(sequence, start, tokens, outputs, logits)
        self._conclude(sequence)

    def _resume(self, sequence: Sequence) -> bool:
        """Begin a prompt from a kept state where one fits; False when it has no time left."""
        sequence.sought_state = True
        # A kept row has no logits any more.
        if not sequence.generation.prompt_logprobs:
            self._keeper.resume(sequence)
        if not self._is_hopeless(sequence):
            return True
        text = 'what is left of the deadline is less than the prompt takes'
        self._end(sequence, Finish.DEADLINE, code=ErrorCode.DEADLINE_EXCEEDED, text=text)
        return False

    def _run_chunk(
        self, sequence: Sequence, start: int, end: int, draft: Draft | None = None
    ) -> Found:
        """
        Run the tokens of positions [start, end) and keep the states that they complete.

        With a draft, be it empty, returns the last row's logits and those that the draft needs.
        """
        rows = prompt_rows(sequence, start, end, draft)
        (logits,) = self._runner.forward([rows])
        sequence.rows = end
        if sequence.generation.prompt_logprobs:
            self._producer.note_prompt(sequence, start, logits)
        self._keeper.keep(sequence, start)
        return logits[:0] if draft is None else logits[-1 - len(draft.draws) :]

    def _is_hopeless(self, sequence: Sequence) -> bool:
        """Whether even the fastest prefill seen so far would end past the deadline."""
        left = sequence.num_prompt_tokens - sequence.rows
        return self._clock() + left * self._fastest_row_s > sequence.generation.deadline

    def _decode_round(self) -> list[Sequence]:
        started = self._clock()
        changed = self._rounds.run(self._clock)
        self._decode_seconds += self._clock() - started
        return changed

    def _conclude(self, sequence: Sequence) -> None:
        """End a sequence that has come to its end."""
        if sequence.ending is not None and sequence in self._scheduler.running:
            finish, stop_id = sequence.ending
            self._end(sequence, finish, stop_id=stop_id)

    def _fail(self, sequence: Sequence, error: Exception) -> None:
        # torch reports a failed allocation on a CPU as a plain RuntimeError.
        no_room = isinstance(error, (MemoryError, torch.cuda.OutOfMemoryError)) or (
            isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
        )
        if no_room:
            self._keeper.states.drop_largest()
        self._end(
            sequence,
            Finish.FAILED,
            code=ErrorCode.OUT_OF_MEMORY if no_room else ErrorCode.RUNTIME_FAILURE,
            text=f'{type(error).__name__}: {error}',
            is_poisoned=isinstance(error, NotFiniteError),
        )

    def _end(
        self,
        sequence: Sequence,
        finish: Finish,
        *,
        stop_id: int = -1,
        code: ErrorCode = ErrorCode.NONE,
        text: str = '',
        is_poisoned: bool = False,
    ) -> None:
        if self._flight is not None:
            self._flight.leave(sequence)
        self._scheduler.remove(sequence)
        if sequence.lane >= 0:
            self._runner.leave(sequence.lane, is_poisoned=is_poisoned)
        if sequence.is_idle:
            return
        now = self._clock()
        self._ended.append(
            sequence.result(finish, now, stop_id=stop_id, error_code=code, error_msg=text)
        )
