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
Prompts that run beside decode steps: one pass of several lanes is under way at most.

Chosen, begun and taken in here; the engine says when, and ends sequences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gemma_node.core import Finish
from gemma_node.engine.keeper import Keeper
from gemma_node.engine.producer import Producer
from gemma_node.engine.rounds import Ends
from gemma_node.engine.runner import Found
from gemma_node.engine.runner import OverlappingRunner
from gemma_node.engine.runner import Rows
from gemma_node.engine.scheduler import Scheduler
from gemma_node.engine.sequence import Phase
from gemma_node.engine.sequence import Sequence
from gemma_node.model.cache_shape import round_up


@dataclass(slots=True)
class _Entry:
    """Rows that run, and whose they are; None when it was ended meanwhile."""

    sequence: Sequence | None
    rows: Rows
    is_last: bool


class Flight:
    """The prompts under way; engine thread only."""

    def __init__(
        self,
        runner: OverlappingRunner,
        scheduler: Scheduler,
        keeper: Keeper,
        producer: Producer,
        ends: Ends,
    ) -> None:
        self._runner = runner
        self._scheduler = scheduler
        self._keeper = keeper
        self._producer = producer
        self._ends = ends
        self._entries: list[_Entry] = []

    @property
    def is_up(self) -> bool:
        """Whether a pass is under way or waits to be taken in."""
        return bool(self._entries)

    @property
    def num_rows(self) -> int:
        """Rows of the pass under way."""
        return sum(len(each.rows.token_ids) for each in self._entries)

    def begin(self, most: int, resume: Callable[[Sequence], bool]) -> list[Sequence]:
        """
        Start the next prompts' pass, if any waits; return whose states changed by that.

        :param most: rows of a chunk at most; 0 for the runner's own
        :param resume: begins a prompt that has no rows; False if it was ended instead
        """
        entries: list[_Entry] = []
        seen: list[Sequence] = []
        total = 0
        for sequence in self._scheduler.prefills():
            if entries and sequence.is_idle:
                break
            if sequence.generation.prompt_logprobs:
                continue
            if not sequence.sought_state and not resume(sequence):
                continue
            end, is_last = sequence.next_chunk(most)
            total += round_up(end - sequence.rows)
            if entries and total > self._runner.batch_rows:
                break
            seen.append(sequence)
            try:
                entry = self._entry(sequence, end, is_last=is_last)
            except Exception as error:
                self._ends.fail(sequence, error)
                continue
            if entry is not None:
                entries.append(entry)
                self._scheduler.chunk_begins(sequence)
        if entries:
            self._start(entries)
        return seen

    def is_done(self) -> bool:
        """Whether the pass under way has ended on the device."""
        return self._runner.is_done()

    def leave(self, sequence: Sequence) -> None:
        """Wait for the pass if a sequence that ends is in it: its pages are written to."""
        for each in self._entries:
            if each.sequence is sequence:
                self._runner.wait()
                each.sequence = None

    def land(self, now: Callable[[], float]) -> list[Sequence]:
        """Take in what the pass gave; return whose prompts went on."""
        entries, self._entries = self._entries, []
        try:
            found = self._runner.take()
        except Exception as error:
            for each in entries:
                if each.sequence is not None:
                    self._ends.fail(each.sequence, error)
            return []
        changed = []
        for each, logits in zip(entries, found, strict=True):
            if each.sequence is None:
                continue
            changed.append(each.sequence)
            try:
                self._take_in(each.sequence, each, logits, now)
            except Exception as error:
                self._ends.fail(each.sequence, error)
                continue
            self._ends.conclude(each.sequence)
        return changed

    def _entry(self, sequence: Sequence, end: int, *, is_last: bool) -> _Entry | None:
        """Return what runs next of a prompt; None when the sequence ends before that."""
        generation, start = sequence.generation, sequence.rows
        is_drawn = is_last and not sequence.is_idle
        if is_drawn and generation.max_tokens and not generation.score_ids:
            self._producer.force(sequence)
            if sequence.ending is not None:
                self._ends.conclude(sequence)
                return None
        # Behind forced tokens it is their last row that is drawn from.
        wants = is_drawn and len(sequence.ids) == sequence.num_prompt_tokens
        rows = Rows(
            lane=sequence.lane,
            start=start,
            token_ids=tuple(sequence.ids[start:end]),
            num_prompt=sequence.num_prompt_tokens,
            outputs=(end - start - 1,) if wants else (),
            mask=sequence.mask if wants else None,
        )
        return _Entry(sequence, rows, is_last)

    def _start(self, entries: list[_Entry]) -> None:
        while True:
            try:
                self._runner.begin([each.rows for each in entries])
            except MemoryError as error:
                if len(self._keeper.states):
                    self._keeper.states.drop_largest()
                    continue
                self._refuse(entries, error)
            except Exception as error:
                self._refuse(entries, error)
            else:
                self._entries = entries
            return

    def _refuse(self, entries: list[_Entry], error: Exception) -> None:
        """Begin with the first alone, or fail it: the others come again."""
        if len(entries) > 1:
            self._start(entries[:1])
        elif entries[0].sequence is not None:
            self._ends.fail(entries[0].sequence, error)

    def _take_in(
        self, sequence: Sequence, entry: _Entry, logits: Found, now: Callable[[], float]
    ) -> None:
        generation, start = sequence.generation, sequence.rows
        sequence.rows = start + len(entry.rows.token_ids)
        self._keeper.keep(sequence, start)
        if not entry.is_last:
            return
        sequence.phase = Phase.DECODE
        sequence.prefilled_at = now()
        if sequence.is_idle:
            sequence.ending = (Finish.STOP, -1)
        elif generation.score_ids:
            self._producer.score(sequence, logits[0])
        elif not generation.max_tokens:
            sequence.ending = (Finish.LENGTH, -1)
        elif entry.rows.outputs:
            tokens, outputs = entry.rows.token_ids, entry.rows.outputs
            self._producer.consume(sequence, start, tokens, outputs, logits)
