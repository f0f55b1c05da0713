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
Begins sequences from kept states and keeps new ones, in memory and on disk.

Memory first, then the folder; both are found by token ids. Knows no scheduling.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from gemma_node.core import CacheSource
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.prompt_states import PromptState
from gemma_node.engine.prompt_states import PromptStates
from gemma_node.engine.runner import Runner
from gemma_node.engine.sequence import Sequence
from gemma_node.engine.state_store import StateStore
from gemma_node.engine.state_store import StoredState

# A robot that decides often has its newest state written so often at most.
SAVE_PERIOD_S = 5.0
# What the folder may hold, in budgets of memory.
_DISK_SHARE = 4


class Keeper:
    """Owns the kept states; engine thread only."""

    def __init__(self, runner: Runner, config: EngineConfig) -> None:
        self.states = PromptStates(
            config.state_budget_bytes, grid=runner.grid, discard=runner.discard
        )
        self.store: StateStore | None = None
        if config.state_dir:
            identity = f'{config.state_identity} {runner.identity}'
            budget = _DISK_SHARE * config.state_budget_bytes
            self.store = StateStore(Path(config.state_dir).expanduser(), identity, budget)
        self._runner = runner
        self._saved_at: dict[str, float] = {}

    def resume(self, sequence: Sequence) -> None:
        """Give a sequence the rows of the longest state that fits, if there is one."""
        generation = sequence.generation
        key, ids, shared = generation.state_key, generation.prompt_ids, sequence.shared_line
        state = self.states.find(key, ids, shared)
        stored = None if self.store is None else self.store.find(key, ids, shared)
        if stored is not None and (state is None or stored.rows > state.snapshot.rows):
            state = self._load(stored) or state
        line = None
        if state is not None:
            line = self.states.resume_line(state.snapshot.rows, len(ids))
        if state is None or line is None:
            self.states.num_misses += not sequence.is_idle
            return
        self.states.num_hits += not sequence.is_idle
        self._runner.restore(sequence.lane, state.snapshot)
        sequence.rows = sequence.cached_tokens = line
        if line:
            sequence.cache_source = _source(state)

    def keep(self, sequence: Sequence, before: int) -> None:
        """Keep the states at a prompt's cuts between `before` rows and those it has now."""
        generation, lane = sequence.generation, sequence.lane
        for rows in sequence.save_lines:
            if not before < rows <= sequence.rows:
                continue
            self.states.save(
                generation.state_key,
                generation.prompt_ids[:rows],
                is_shared=rows <= sequence.shared_line,
                parts=self._runner.parts(lane, rows),
                make=partial(self._runner.snapshot, lane, rows),
            )

    def forget(self, key: str) -> None:
        """Drop the states of one key, on disk too; shared prefixes stay."""
        self.states.forget(key)
        self._saved_at.pop(key, None)
        if self.store is not None:
            self.store.forget(key)

    def clear(self) -> None:
        """Drop every state, shared prefixes and files too."""
        self.states.clear()
        self._saved_at.clear()
        if self.store is not None:
            self.store.clear()

    def has_unsaved(self, now: float) -> bool:
        """Return whether a state should be written now."""
        return self._next_unsaved(now) is not None

    def save_one(self, now: float) -> None:
        """Write one state that is not on disk."""
        state = self._next_unsaved(now)
        if state is None or self.store is None:
            return
        state.is_saved = True
        self._saved_at[state.key] = now
        tensors = self._runner.export(state.snapshot)
        self.store.save(state.key, state.token_ids, tensors, is_shared=state.is_shared)

    def flush(self, now: float) -> None:
        """Write all that is not on disk."""
        self._saved_at.clear()
        while self.has_unsaved(now):
            self.save_one(now)
            self._saved_at.clear()

    def _next_unsaved(self, now: float) -> PromptState | None:
        if self.store is None:
            return None
        for state in self.states:
            is_due = state.is_shared or now >= self._saved_at.get(state.key, -1e9) + SAVE_PERIOD_S
            if is_due and not state.is_saved and not state.is_superseded:
                return state
        return None

    def _load(self, stored: StoredState) -> PromptState | None:
        """Bring a state from disk into memory; None when its file is of no use."""
        assert self.store is not None
        tensors = self.store.load(stored)
        if tensors is None:
            return None
        try:
            state = self.states.save(
                stored.key,
                stored.token_ids,
                is_shared=stored.is_shared,
                parts=self._runner.import_parts(stored.rows),
                make=lambda _parts: self._runner.load(stored.rows, tensors),
            )
        except ValueError as error:
            self.store.refuse(stored.path, str(error))
            return None
        if state is not None:
            state.is_saved = state.is_from_disk = True
        return state


def _source(state: PromptState) -> CacheSource:
    if state.is_from_disk:
        return CacheSource.DISK
    return CacheSource.SHARED_PREFIX if state.is_shared else CacheSource.ROBOT_STATE
