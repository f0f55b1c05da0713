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
Random submits, cancels, resets, evictions and faults against a plain model of what must follow.

Whatever the order: each generation ends exactly once and with the tokens it would have had alone,
no lane, page or byte is lost, and no state is found under another key.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import HealthCheck
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant
from hypothesis.stateful import rule
from hypothesis.stateful import RuleBasedStateMachine
from hypothesis.stateful import run_state_machine_as_test
import numpy as np
import pytest

from gemma_node.core import CacheSource
from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import Generation
from gemma_node.core import GenerationResult
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.engine import Engine
from gemma_node.engine.native_runner import NativeRunner
from tests.fixtures.random_model import random_model
from tests.fixtures.random_model import small_config

LANES = 3
BUDGET = 700_000
KEYS = ('one', 'two', 'three')
TEXT = tuple(np.random.default_rng(2).integers(2, 200, 60).tolist()) * 6


@cache
def _model() -> Any:
    return random_model(small_config())


def _generation(name: str, number: int, key: str, *, draft: bool = True) -> Generation:
    """Return one of a few generations; those of a key begin alike, those of others do not."""
    start = 60 * KEYS.index(key) // 7
    length = (20, 64, 70, 130, 150)[number % 5]
    return Generation(
        id=name,
        state_key=key,
        prompt_ids=TEXT[start : start + length],
        cuts=(min(15, length), length - 3),
        max_tokens=4 + number % 3,
        temperature=0.9 * (number % 2),
        seed=number,
        draft=draft,
    )


@cache
def _alone(number: int, key: str) -> tuple[int, ...]:
    engine = Engine(_model(), EngineConfig(
        lanes=1, context_tokens=256, num_threads=1, state_budget_bytes=0, drafts=False))
    engine.submit(_generation('alone', number, key))
    while engine.has_work:
        for event in engine.step():
            if isinstance(event, GenerationResult):
                return event.token_ids
    raise AssertionError


class EngineMachine(RuleBasedStateMachine):
    """Drives one engine; `expected` maps each open id to its tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.engine = Engine(_model(), EngineConfig(
            lanes=LANES, context_tokens=256, num_threads=1, state_budget_bytes=BUDGET))
        self.expected: dict[str, tuple[int, ...]] = {}
        self.canceled: set[str] = set()
        self.num_made = 0
        self.faults = 0
        runner: Any = self.engine._runner
        assert isinstance(runner, NativeRunner)
        self.runner, self.forward = runner, runner.forward
        runner.forward = self._forward

    def _forward(self, batch: Any) -> Any:
        if self.faults:
            self.faults -= 1
            raise MemoryError('planned')
        return self.forward(batch)

    @rule(number=st.integers(0, 14), key=st.sampled_from(KEYS), draft=st.booleans())
    def submit(self, number: int, key: str, draft: bool) -> None:
        name = f'g{self.num_made}'
        self.num_made += 1
        self.expected[name] = _alone(number, key)
        self.engine.submit(_generation(name, number, key, draft=draft))

    @rule(which=st.integers(0, 5))
    def cancel(self, which: int) -> None:
        names = sorted(self.expected)
        if which < len(names):
            assert self.engine.cancel(names[which]) == (names[which] not in self.canceled)
            self.canceled.add(names[which])

    @rule(key=st.sampled_from(KEYS))
    def forget(self, key: str) -> None:
        self.engine.forget(key)
        busy = {each.generation.state_key for each in self.engine._scheduler}
        assert key in busy or key not in self.engine.stats().context_tokens

    @rule(number=st.integers(0, 14), key=st.sampled_from(KEYS))
    def prepare(self, number: int, key: str) -> None:
        generation = _generation('', number, key)
        self.engine.prepare(key, generation.prompt_ids, generation.cuts)

    @rule()
    def clear(self) -> None:
        self.engine.clear()
        assert self.engine.stats().state_bytes == 0

    @rule()
    def lose_memory(self) -> None:
        self.faults = 1

    @rule(count=st.integers(1, 6))
    def step(self, count: int) -> None:
        for _ in range(count):
            for event in self.engine.step():
                if isinstance(event, GenerationResult):
                    self._check(event)

    def _check(self, result: GenerationResult) -> None:
        expected = self.expected.pop(result.id)
        assert result.token_ids == expected[: len(result.token_ids)]
        if result.id in self.canceled:
            assert result.finish is Finish.CANCELED
            self.canceled.discard(result.id)
        elif result.finish is Finish.FAILED:
            assert result.error_code is ErrorCode.OUT_OF_MEMORY
        else:
            assert (result.finish, result.token_ids) == (Finish.LENGTH, expected)
        if result.cached_tokens > 15:
            assert result.cache_source is CacheSource.ROBOT_STATE

    @invariant()
    def nothing_is_lost(self) -> None:
        stats = self.engine.stats()
        assert stats.state_bytes <= BUDGET
        assert stats.lanes_busy <= LANES
        open_now = stats.lanes_busy + stats.queue_depth + len(self.engine._ended)
        assert open_now == len(self.expected)
        held: tuple[set[int], set[int]] = (set(), set())
        for state in self.engine._keeper.states:
            for kind, each in enumerate(state.snapshot.payload):
                held[kind].update(each.pages)
        for kind, pool in enumerate(self.runner._pools):
            pages = self.runner._pages[kind]
            assert pool.num_used == len(held[kind] | set(pages[pages >= 0].tolist()))

    def teardown(self) -> None:
        self.faults = 0
        for _ in range(1000):
            if not self.engine.has_work:
                break
            self.step(1)
        assert self.expected == {}
        self.engine.clear()
        assert [pool.num_used for pool in self.runner._pools] == [0, 0]


def _run(examples: int, steps: int) -> None:
    run_state_machine_as_test(EngineMachine, settings=settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    ))


def test_5000_operations_keep_every_promise() -> None:
    _run(50, 100)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_100000_operations_keep_every_promise() -> None:
    _run(500, 200)
