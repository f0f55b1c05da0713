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
Schedules sequences onto lanes and steps. Holds no tensors and imports no torch.

A step is one prefill tile of one sequence, or one token for the decoding ones; the two kinds
take turns, so neither a long prompt nor many lanes starve the other. Idle work runs only while
there is nothing else, and gives its lane up for a request.
"""

from __future__ import annotations

from collections.abc import Iterator

from gemma_node.engine.sequence import Phase
from gemma_node.engine.sequence import Sequence


class Scheduler:
    """
    Owns the queue and the lanes; decides who runs next.

    Higher priority first; within one priority, first come first served for lanes and round robin
    for prefill tiles. Engine thread only.
    """

    def __init__(self, num_lanes: int) -> None:
        self._free_lanes = list(range(num_lanes))[::-1]
        self._queue: list[Sequence] = []
        self._running: list[Sequence] = []
        self._round: list[Sequence] = []
        self._num_chunks = 0
        self._was_prefill = False

    def __contains__(self, generation_id: str) -> bool:
        return self.find(generation_id) is not None

    def __iter__(self) -> Iterator[Sequence]:
        return iter([*self._running, *self._queue])

    @property
    def running(self) -> list[Sequence]:
        """What holds a lane."""
        return list(self._running)

    @property
    def num_queued(self) -> int:
        """Sequences that wait for a lane."""
        return len(self._queue)

    @property
    def num_running(self) -> int:
        """Requests that hold a lane."""
        return sum(not each.is_idle for each in self._running)

    @property
    def idle(self) -> list[Sequence]:
        """Idle work that holds a lane."""
        return [each for each in self._running if each.is_idle]

    @property
    def lacks_lanes(self) -> bool:
        """Whether a request waits and no lane is free."""
        return bool(self._queue) and not self._free_lanes

    def find(self, generation_id: str) -> Sequence | None:
        """Return the sequence of this generation, or None."""
        return next(
            (each for each in self if each.generation.id == generation_id and not each.is_idle),
            None,
        )

    def add(self, sequence: Sequence) -> None:
        """Queue a sequence."""
        self._queue.append(sequence)
        self._queue.sort(key=_queue_order)

    def remove(self, sequence: Sequence) -> None:
        """Forget a sequence and free its lane."""
        if sequence in self._queue:
            self._queue.remove(sequence)
            return
        self._running.remove(sequence)
        if sequence in self._round:
            self._round.remove(sequence)
        self._free_lanes.append(sequence.lane)

    def admit(self) -> list[Sequence]:
        """Give free lanes to the first in the queue and return them."""
        admitted = []
        while self._queue and self._free_lanes:
            sequence = self._queue.pop(0)
            sequence.lane = self._free_lanes.pop()
            sequence.phase = Phase.PREFILL
            self._running.append(sequence)
            admitted.append(sequence)
        return admitted

    def next_prefill(self) -> Sequence | None:
        """Return whose prefill tile is this step, or None when the step decodes."""
        candidates = self._prefilling()
        if not candidates or (self.is_decoding and self._was_prefill):
            self._was_prefill = False
            return None
        self._was_prefill = True
        self.chunk_begins(candidates[0])
        return candidates[0]

    @property
    def is_decoding(self) -> bool:
        """Whether any sequence is past its prompt."""
        return any(each.phase is Phase.DECODE for each in self._running)

    def prefills(self) -> Iterator[Sequence]:
        """Yield whose prompts may run now, the next one first; the caller says which began."""
        for each in self._prefilling():
            # What an earlier one has begun may be what this one needs.
            if each in self._running and not self._awaits_prefix(each):
                yield each

    def chunk_begins(self, sequence: Sequence) -> None:
        """Note that a part of a sequence's prompt runs now: the others are before it then."""
        self._num_chunks += 1
        sequence.last_chunk = self._num_chunks

    def _prefilling(self) -> list[Sequence]:
        candidates = [each for each in self._running if each.phase is Phase.PREFILL]
        if any(not each.is_idle for each in self._running):
            candidates = [each for each in candidates if not each.is_idle]
        candidates = [each for each in candidates if not self._awaits_prefix(each)]
        return sorted(candidates, key=lambda each: (-each.generation.priority, each.last_chunk))

    def next_decodes(self) -> list[Sequence]:
        """
        Return who still gets a token in this round, a new round when all have theirs.

        The caller reports each one served, and may stop early when its time slice is over.
        """
        if not self._round:
            decoding = [each for each in self._running if each.phase is Phase.DECODE]
            self._round = sorted(decoding, key=_queue_order)
        return list(self._round)

    def decoded(self, sequence: Sequence) -> None:
        """Report that a sequence got its token of this round."""
        if sequence in self._round:
            self._round.remove(sequence)

    def _awaits_prefix(self, sequence: Sequence) -> bool:
        """Whether another sequence is just computing the shared prefix this one needs."""
        if sequence.rows or not sequence.shared_line:
            return False
        return any(
            other is not sequence
            and other.phase is Phase.PREFILL
            and other.last_chunk > 0
            and other.rows < other.shared_line
            and other.shared_prefix == sequence.shared_prefix
            for other in self._running
        )


def _queue_order(sequence: Sequence) -> tuple[int, int]:
    return -sequence.generation.priority, sequence.arrival
