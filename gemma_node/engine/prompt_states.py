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
Prompt states: copies of prefilled rows at the cuts of a conversation, within a byte budget.

A state belongs to one key (a robot's session) or, up to a prompt's first cut, to everybody. It
is found by its token ids, so a changed prompt never meets a wrong state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gemma_node.engine.config import grid_floor
from gemma_node.engine.kv_cache import Snapshot
from gemma_node.model.cache_shape import TILE

SHARED = ''


@dataclass(slots=True, kw_only=True, eq=False)
class PromptState:
    """
    One kept state.

    `key` SHARED is everybody's. `is_superseded` once the same key has a newer one.
    """

    key: str
    is_shared: bool
    token_ids: tuple[int, ...]
    snapshot: Snapshot
    last_used: int
    is_superseded: bool = False


class PromptStates:
    """Keeps states, newest use last; evicts superseded ones first and shared ones last."""

    def __init__(self, budget_bytes: int) -> None:
        self.budget_bytes = budget_bytes
        self.num_hits = 0
        self.num_misses = 0
        self.num_evicted = 0
        self.num_refused = 0
        self._states: list[PromptState] = []
        self._clock = 0

    def __len__(self) -> int:
        return len(self._states)

    @property
    def nbytes(self) -> int:
        """Bytes held by all states."""
        return sum(state.snapshot.nbytes for state in self._states)

    def tokens_by_key(self) -> dict[str, int]:
        """Return the rows of each key's newest state."""
        kept = [each for each in self._states if not each.is_shared and not each.is_superseded]
        return {state.key: state.snapshot.rows for state in kept}

    def find(
        self, key: str, prompt_ids: tuple[int, ...], shared_line: int
    ) -> tuple[PromptState, int] | None:
        """
        Return the longest usable state and the grid line at which prefill resumes.

        At least one token is always left to run: it gives the first logits. A state that ends
        with the prompt is resumed one tile earlier; its rings still hold all that tile sees.
        """
        last_line = grid_floor(len(prompt_ids) - 1)
        best = None
        for state in self._states:
            rows = state.snapshot.rows
            mine = rows <= shared_line if state.is_shared else state.key == key
            fits = rows <= len(prompt_ids) and min(rows, last_line) >= rows - TILE
            longer = best is None or rows > best.snapshot.rows
            if mine and fits and longer and state.token_ids == prompt_ids[:rows]:
                best = state
        if best is None:
            self.num_misses += 1
            return None
        self.num_hits += 1
        best.last_used = self._tick()
        return best, min(best.snapshot.rows, last_line)

    def save(
        self,
        key: str,
        token_ids: tuple[int, ...],
        *,
        is_shared: bool,
        nbytes: int,
        copy: Callable[[], Snapshot],
    ) -> None:
        """Keep a state, made by `copy` after room for its `nbytes` was found; or refuse it."""
        key = SHARED if is_shared else key
        for state in self._states:
            if state.is_shared == is_shared and state.key == key and state.token_ids == token_ids:
                state.last_used = self._tick()
                state.is_superseded = False
                return
        if not self._make_room(nbytes):
            self.num_refused += 1
            return
        for state in self._states:
            if not is_shared and not state.is_shared and state.key == key:
                state.is_superseded = True
        self._states.append(
            PromptState(
                key=key,
                is_shared=is_shared,
                token_ids=token_ids,
                snapshot=copy(),
                last_used=self._tick(),
            )
        )

    def forget(self, key: str) -> None:
        """Drop every state of a key; shared ones stay."""
        self._states = [each for each in self._states if each.is_shared or each.key != key]

    def _make_room(self, nbytes: int) -> bool:
        if nbytes > self.budget_bytes:
            return False
        while self.nbytes + nbytes > self.budget_bytes:
            self._states.remove(min(self._states, key=_eviction_order))
            self.num_evicted += 1
        return True

    def _tick(self) -> int:
        self._clock += 1
        return self._clock


def _eviction_order(state: PromptState) -> tuple[bool, bool, int]:
    return state.is_shared, not state.is_superseded, state.last_used
