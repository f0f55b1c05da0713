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


"""One generation on its way through the engine. Holds no tensors and imports no torch."""

from __future__ import annotations

from enum import IntEnum
import math
from typing import Any

from gemma_node.core import CacheSource
from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import Generation
from gemma_node.core import GenerationProgress
from gemma_node.core import GenerationResult
from gemma_node.core import Stage
from gemma_node.engine.drafts import Drafter
from gemma_node.model.cache_shape import TILE


class Phase(IntEnum):
    """Where a sequence is; it only moves forward."""

    QUEUED = 0
    PREFILL = 1
    DECODE = 2


class Sequence:
    """
    A generation, its lane and what it has produced.

    `ids` are the prompt's and the produced tokens, `rows` of which have keys and values in the
    lane; `grid` and `chunk` as the runner has them. `is_idle` work is nobody's request: it only
    prepares a state. `ending` says how it ended, and the stop token; it and `mask` are the
    producer's.
    Engine thread only.
    """

    def __init__(
        self,
        generation: Generation,
        *,
        arrival: int,
        now: float,
        grid: int = TILE,
        chunk: int = TILE,
        is_idle: bool = False,
    ) -> None:
        self.generation = generation
        self.arrival = arrival
        self.grid = grid
        self.chunk = chunk
        self.is_idle = is_idle
        self.ending: tuple[Finish, int] | None = None
        self.phase = Phase.QUEUED
        self.lane = -1
        self.rows = 0
        self.ids = list(generation.prompt_ids)
        self.mask: Any = None
        self.drafter = Drafter(self.ids, generation.cuts[0] if generation.cuts else 0)
        self.drafted_tokens = 0
        self.scores: tuple[float, ...] = ()
        self.prompt_logprobs: list[float] = []
        self.last_chunk = 0
        self.sought_state = False
        self.cached_tokens = 0
        self.cache_source = CacheSource.COLD
        self.forced_tokens = 0
        self.probabilities: list[float] = []
        self.masses: list[float] = []
        self.submitted_at = now
        self.started_at = math.nan
        self.prefilled_at = math.nan

    @property
    def num_prompt_tokens(self) -> int:
        """Length of the prompt."""
        return len(self.generation.prompt_ids)

    @property
    def num_produced(self) -> int:
        """Tokens produced so far."""
        return len(self.ids) - self.num_prompt_tokens

    @property
    def token_ids(self) -> tuple[int, ...]:
        """The produced tokens."""
        return tuple(self.ids[self.num_prompt_tokens :])

    @property
    def shared_line(self) -> int:
        """Rows of the prefix that other state keys may share, on the grid; 0 for none."""
        cuts = self.generation.cuts
        return self._line(cuts[0]) if cuts else 0

    @property
    def save_lines(self) -> list[int]:
        """Grid lines at which a prompt state is worth keeping, ascending."""
        return sorted({self._line(cut) for cut in self.generation.cuts} - {0})

    @property
    def shared_prefix(self) -> tuple[int, ...]:
        """The tokens before `shared_line`."""
        return self.generation.prompt_ids[: self.shared_line]

    def next_chunk(self, most: int = 0) -> tuple[int, bool]:
        """
        Return where the next prompt chunk ends, and whether it is the last.

        :param most: so many rows at most, in whole tiles; 0 for a chunk
        """
        # Chunks end on lines of absolute position, never where a turn or a state happens to. Where
        # a row's bits depend on no grid, what is left is run at once if a chunk has room for it.
        start = self.rows if self.grid == 1 else self.rows // self.chunk * self.chunk
        end = start + self.chunk
        if most:
            end = min(end, self.rows + max(1, most // self.grid) * self.grid)
        end = min(end, self.num_prompt_tokens)
        return end, end == self.num_prompt_tokens

    def append(self, token_id: int, probability: float, mass: float) -> None:
        """Add one produced token."""
        self.ids.append(token_id)
        self.probabilities.append(probability)
        self.masses.append(mass)

    def _line(self, position: int) -> int:
        return position // self.grid * self.grid

    def progress(self) -> GenerationProgress:
        """Return how far it is."""
        stage = (Stage.QUEUED, Stage.PREFILL, Stage.DECODE)[self.phase]
        return GenerationProgress(
            id=self.generation.id,
            stage=stage,
            prompt_tokens_done=min(self.rows, self.num_prompt_tokens),
            token_ids=self.token_ids,
        )

    def result(
        self,
        finish: Finish,
        now: float,
        *,
        stop_id: int = -1,
        error_code: ErrorCode = ErrorCode.NONE,
        error_msg: str = '',
    ) -> GenerationResult:
        """Return its end."""
        queued_until = now if math.isnan(self.started_at) else self.started_at
        prefilled_until = now if math.isnan(self.prefilled_at) else self.prefilled_at
        return GenerationResult(
            id=self.generation.id,
            finish=finish,
            token_ids=self.token_ids,
            stop_id=stop_id,
            probabilities=tuple(self.probabilities),
            masses=tuple(self.masses),
            scores=self.scores,
            prompt_logprobs=tuple(self.prompt_logprobs),
            error_code=error_code,
            error_msg=error_msg,
            cache_source=self.cache_source,
            cached_tokens=self.cached_tokens,
            forced_tokens=self.forced_tokens,
            drafted_tokens=self.drafted_tokens,
            queue_time=queued_until - self.submitted_at,
            prefill_time=prefilled_until - self.started_at,
            decode_time=now - self.prefilled_at,
        )
