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


"""A tiny random model and helpers that drive an engine to its results."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from gemma_node.core import Generation
from gemma_node.core import GenerationProgress
from gemma_node.core import GenerationResult
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.engine import Engine
from gemma_node.model.gemma4 import Gemma4
from tests.fixtures.random_model import random_model
from tests.fixtures.random_model import small_config

torch.set_num_threads(1)

VOCAB = 200
WINDOW = 70


class AllowedTokens:
    """A constraint that allows one set of tokens per step, then only the stop token."""

    def __init__(self, steps: Sequence[Iterable[int]], stop_id: int) -> None:
        self.steps = [set(step) for step in steps] + [{stop_id}]
        self.index = 0

    def fill_bitmask(self, row: Any) -> None:
        row[:] = 0
        for token in self.steps[self.index]:
            row.view(np.uint32)[token // 32] |= np.uint32(1 << (token % 32))

    def accept(self, token_id: int) -> bool:
        if token_id not in self.steps[self.index]:
            return False
        self.index += 1
        return True

    def is_complete(self) -> bool:
        return self.index == len(self.steps) - 1

    def forced_token(self) -> int | None:
        step = self.steps[self.index]
        return next(iter(step)) if len(step) == 1 else None

    def rollback(self, num_tokens: int) -> None:
        self.index -= num_tokens


class Driver:
    """Runs an engine until it is idle and keeps every event."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.events: list[GenerationProgress | GenerationResult] = []

    def run(self, *generations: Generation) -> list[GenerationResult]:
        """Submit all, run until idle, return one result for each in order."""
        for generation in generations:
            self.engine.submit(generation)
        return self.finish(*(each.id for each in generations))

    def finish(self, *ids: str) -> list[GenerationResult]:
        """Run until idle and return the results of `ids`, exactly one each."""
        self.step(100_000)
        assert not self.engine.has_work
        results = [each for each in self.events if isinstance(each, GenerationResult)]
        found = []
        for generation_id in ids:
            (result,) = [each for each in results if each.id == generation_id]
            found.append(result)
        return found

    def step(self, count: int = 1) -> list[GenerationProgress | GenerationResult]:
        """Run at most `count` steps; return what the last one said."""
        events: list[GenerationProgress | GenerationResult] = []
        while count and self.engine.has_work:
            events = self.engine.step()
            self.events += events
            count -= 1
        return events


@pytest.fixture(scope='session')
def model() -> Gemma4:
    """Return a random model with two owners of each type and shared layers of both."""
    return random_model(small_config(vocab_size=VOCAB, sliding_window=WINDOW))


@pytest.fixture(params=['native', 'torch'])
def runner_name(request: pytest.FixtureRequest) -> str:
    """Return which runner the engines of `make_driver` have."""
    return str(request.param)


@pytest.fixture
def grid(runner_name: str) -> int:
    """Return the positions at which that runner resumes prompts."""
    return 1 if runner_name == 'native' else 64


@pytest.fixture
def make_driver(model: Gemma4, runner_name: str) -> Callable[..., Driver]:
    """Return a maker of engines with a driver; keyword arguments go to EngineConfig."""

    def make(clock: Callable[[], float] | None = None, **limits: Any) -> Driver:
        limits = {
            'lanes': 3,
            'context_tokens': 1024,
            'native': runner_name == 'native',
            'num_threads': 1,
            **limits,
        }
        config = EngineConfig(**limits)
        engine = Engine(model, config) if clock is None else Engine(model, config, clock=clock)
        assert engine.runner_identity.split()[0] == runner_name
        return Driver(engine)

    return make


@pytest.fixture(scope='session')
def tokens() -> tuple[int, ...]:
    """Return a long random text."""
    return tuple(np.random.default_rng(5).integers(2, VOCAB, 1000).tolist())


@pytest.fixture
def allowed_tokens() -> type[AllowedTokens]:
    """Return the constraint class, for tests that build their own."""
    return AllowedTokens
