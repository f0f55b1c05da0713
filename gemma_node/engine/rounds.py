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

"""Rounds of decode: each sequence's next rows, in as few passes as the runner takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import sys

from gemma_node.engine.config import EngineConfig
from gemma_node.engine.drafts import Draft
from gemma_node.engine.drafts import MAX_DRAFT
from gemma_node.engine.drafts import MAX_FOLLOWED
from gemma_node.engine.producer import Producer
from gemma_node.engine.runner import Rows
from gemma_node.engine.runner import Runner
from gemma_node.engine.scheduler import Scheduler
from gemma_node.engine.sequence import Sequence


@dataclass(frozen=True, slots=True)
class Ends:
    """How the engine ends a sequence: one that failed, or one that has come to its end."""

    fail: Callable[[Sequence, Exception], None]
    conclude: Callable[[Sequence], None]


class Rounds:
    """Runs decoding sequences; engine thread only."""

    def __init__(
        self,
        runner: Runner,
        scheduler: Scheduler,
        producer: Producer,
        config: EngineConfig,
        ends: Ends,
    ) -> None:
        self._runner = runner
        self._scheduler = scheduler
        self._producer = producer
        self._config = config
        self._ends = ends

    def run(self, clock: Callable[[], float]) -> list[Sequence]:
        """Run one round, or what of it fits into a slice; return who was served."""
        started = clock()
        waiting = self._scheduler.next_decodes()
        limit = self.draft_limit(len(waiting))
        most = self._runner.max_rows or sys.maxsize
        changed: list[Sequence] = []
        while waiting:
            group: list[tuple[Sequence, Rows]] = []
            num_rows = 0
            for sequence in waiting:
                rows = self._pending(sequence, limit)
                num_rows += len(rows.token_ids)
                if group and (num_rows > most or not self._runner.shares_passes):
                    break
                group.append((sequence, rows))
                self._scheduler.decoded(sequence)
            changed += [sequence for sequence, _ in group]
            del waiting[: len(group)]
            self._decode(group)
            if clock() - started >= self._config.max_slice_s:
                break
        return changed

    def draft_limit(self, num_lanes: int) -> int:
        """Return how many tokens each of so many lanes may draft."""
        runner, config = self._runner, self._config
        if not config.drafts or not runner.shares_passes or not num_lanes:
            return 0
        if runner.free_rows:
            return min(MAX_DRAFT, max(0, runner.free_rows - num_lanes) // num_lanes)
        return MAX_DRAFT if num_lanes <= config.max_drafting_lanes else 0

    def _decode(self, batch: list[tuple[Sequence, Rows]]) -> None:
        """Run one pass of many lanes; if it fails, each alone, to find whose fault it was."""
        try:
            found = self._runner.forward([rows for _, rows in batch]) if batch else []
        except Exception as error:
            if len(batch) == 1:
                self._ends.fail(batch[0][0], error)
                return
            for each in batch:
                self._decode([each])
            return
        for (sequence, rows), logits in zip(batch, found, strict=True):
            try:
                start, tokens, outputs = rows.start, rows.token_ids, rows.outputs
                self._producer.consume(sequence, start, tokens, outputs, logits)
            except Exception as error:
                self._ends.fail(sequence, error)
            self._ends.conclude(sequence)

    def _pending(self, sequence: Sequence, limit: int) -> Rows:
        """Return the rows that a decoding sequence runs next: known tokens, then drafts."""
        known = tuple(sequence.ids[sequence.rows :])
        most = limit if self._runner.free_rows else MAX_FOLLOWED
        draft = self._producer.draft(sequence, limit, most)
        return Rows(
            lane=sequence.lane,
            start=sequence.rows,
            token_ids=known + draft.token_ids,
            num_prompt=sequence.num_prompt_tokens,
            outputs=tuple(len(known) + each for each in (-1, *draft.draws)),
            mask=sequence.mask,
        )


def prompt_rows(sequence: Sequence, start: int, end: int, draft: Draft | None) -> Rows:
    """Return positions [start, end) to run; with a draft, to be drawn from after them too."""
    count, num_prompt = end - start, sequence.num_prompt_tokens
    wants_all = sequence.generation.prompt_logprobs
    outputs = set(range(min(count, num_prompt - start))) if wants_all else set()
    if draft is not None:
        outputs.update(count + each for each in (-1, *draft.draws))
    return Rows(
        lane=sequence.lane,
        start=start,
        token_ids=(*sequence.ids[start:end], *(draft.token_ids if draft else ())),
        num_prompt=num_prompt,
        outputs=tuple(sorted(outputs)),
    )
