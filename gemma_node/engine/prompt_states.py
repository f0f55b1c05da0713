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
Prompt states: prefilled rows kept at the cuts of a conversation, within a byte budget.

A state belongs to one key (a robot's session) or, up to a prompt's first cut, to everybody. It
is found by its token ids, so a changed prompt never meets a wrong state. States may have pieces
of memory in common; a piece counts once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Iterator
from dataclasses import dataclass

from gemma_node.engine.runner import Parts
from gemma_node.engine.runner import Snapshot

SHARED = ''
# Older states of a key that are worth keeping: a conversation may go back a step.
MAX_SUPERSEDED = 2


@dataclass(slots=True, kw_only=True, eq=False)
class PromptState:
    """
    One kept state.

    `key` SHARED is everybody's. `is_superseded` once the same key has a newer one; `is_saved`
    once a file holds it; `is_from_disk` when one gave it.
    """

    key: str
    is_shared: bool
    token_ids: tuple[int, ...]
    snapshot: Snapshot
    last_used: int
    is_superseded: bool = False
    is_saved: bool = False
    is_from_disk: bool = False


class PromptStates:
    """
    Keeps states, newest use last; evicts superseded ones first and shared ones last.

    :param grid: positions at which a prompt may be resumed
    :param discard: gives a snapshot's memory back
    """

    def __init__(
        self, budget_bytes: int, *, grid: int, discard: Callable[[Snapshot], None]
    ) -> None:
        self.budget_bytes = budget_bytes
        self.num_hits = 0
        self.num_misses = 0
        self.num_evicted = 0
        self.num_refused = 0
        self._grid = grid
        self._discard = discard
        self._states: list[PromptState] = []
        self._parts: Counter[Hashable] = Counter()
        self._nbytes = 0
        self._clock = 0

    def __len__(self) -> int:
        return len(self._states)

    def __iter__(self) -> Iterator[PromptState]:
        return iter(list(self._states))

    @property
    def nbytes(self) -> int:
        """Bytes held by all states."""
        return self._nbytes

    def tokens_by_key(self) -> dict[str, int]:
        """Return the rows of each key's newest state."""
        kept = [each for each in self._states if not each.is_shared and not each.is_superseded]
        return {state.key: state.snapshot.rows for state in kept}

    def resume_line(self, rows: int, num_prompt: int) -> int | None:
        """
        Return where a prompt goes on from a state of `rows` rows, or None when it cannot.

        At least one token is always left to run: it gives the first logits. A state that ends
        with the prompt is resumed one grid line earlier; it holds all that line sees.
        """
        if rows > num_prompt:
            return None
        line = min(rows, (num_prompt - 1) // self._grid * self._grid)
        return line if line >= rows - self._grid else None

    def find(self, key: str, prompt_ids: tuple[int, ...], shared_line: int) -> PromptState | None:
        """Return the longest usable state."""
        best = None
        for state in self._states:
            rows = state.snapshot.rows
            mine = rows <= shared_line if state.is_shared else state.key == key
            longer = best is None or rows > best.snapshot.rows
            fits = mine and longer and self.resume_line(rows, len(prompt_ids)) is not None
            if fits and state.token_ids == prompt_ids[:rows]:
                best = state
        if best is not None:
            best.last_used = self._tick()
        return best

    def save(
        self,
        key: str,
        token_ids: tuple[int, ...],
        *,
        is_shared: bool,
        parts: Parts,
        make: Callable[[Parts], Snapshot],
    ) -> PromptState | None:
        """Keep a state, made by `make` after room for its parts was found; or refuse it."""
        key = SHARED if is_shared else key
        state = self._same(key, token_ids, is_shared=is_shared)
        if state is None:
            if not self._make_room(parts):
                self.num_refused += 1
                return None
            state = PromptState(
                key=key,
                is_shared=is_shared,
                token_ids=token_ids,
                snapshot=make(parts),
                last_used=0,
            )
            self._add(state)
        state.last_used = self._tick()
        if not is_shared:
            self._supersede(state)
        return state

    def forget(self, key: str) -> None:
        """Drop every state of a key; shared ones stay."""
        for state in self:
            if not state.is_shared and state.key == key:
                self._remove(state)

    def clear(self) -> None:
        """Drop everything, shared ones too."""
        for state in self:
            self._remove(state)

    def drop_largest(self) -> bool:
        """Drop the state that alone holds most, for memory that ran out; False without one."""
        largest = max(self._states, key=self._own_bytes, default=None)
        if largest is None:
            return False
        self._remove(largest)
        self.num_evicted += 1
        return True

    def _same(
        self, key: str, token_ids: tuple[int, ...], *, is_shared: bool
    ) -> PromptState | None:
        for state in self._states:
            if state.is_shared == is_shared and state.key == key and state.token_ids == token_ids:
                return state
        return None

    def _supersede(self, newest: PromptState) -> None:
        newest.is_superseded = False
        older = []
        for state in self._states:
            if state is not newest and not state.is_shared and state.key == newest.key:
                state.is_superseded = True
                older.append(state)
        older.sort(key=lambda each: each.last_used, reverse=True)
        for state in older[MAX_SUPERSEDED:]:
            self._remove(state)

    def _make_room(self, parts: Parts) -> bool:
        if sum(parts.values()) > self.budget_bytes:
            return False
        while self._nbytes + self._new_bytes(parts) > self.budget_bytes:
            self._remove(min(self._states, key=_eviction_order))
            self.num_evicted += 1
        return True

    def _new_bytes(self, parts: Parts) -> int:
        return sum(nbytes for part, nbytes in parts.items() if part not in self._parts)

    def _own_bytes(self, state: PromptState) -> int:
        parts = state.snapshot.parts.items()
        return sum(nbytes for part, nbytes in parts if self._parts[part] == 1)

    def _add(self, state: PromptState) -> None:
        self._nbytes += self._new_bytes(state.snapshot.parts)
        self._parts.update(state.snapshot.parts.keys())
        self._states.append(state)

    def _remove(self, state: PromptState) -> None:
        self._states.remove(state)
        for part, nbytes in state.snapshot.parts.items():
            self._parts[part] -= 1
            if not self._parts[part]:
                del self._parts[part]
                self._nbytes -= nbytes
        self._discard(state.snapshot)

    def _tick(self) -> int:
        self._clock += 1
        return self._clock


def _eviction_order(state: PromptState) -> tuple[bool, bool, int]:
    return state.is_shared, not state.is_superseded, state.last_used
