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
"""Prompts that run beside decode steps, with the device step's plain twins on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import Generation
from gemma_node.core import GenerationResult
from gemma_node.engine import engine as engine_module
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.device_runner import DeviceRunner
from gemma_node.engine.engine import Engine
from gemma_node.engine.runner import Rows
from gemma_node.kernels import plain_ops
from gemma_node.model.gemma4 import Gemma4
from tests.fixtures.random_model import random_model
from tests.fixtures.random_model import small_config

IDS = tuple(np.random.default_rng(4).integers(0, 200, 400).tolist())


class Slow(DeviceRunner):
    """A runner whose prompts take so many steps of decode, and that notes what it begins."""

    steps = 2

    def __init__(self, model: Gemma4, config: EngineConfig) -> None:
        super().__init__(model, config, plain_ops)
        self.batches: list[list[Rows]] = []
        self.beside = 0
        self._left = 0

    def begin(self, batch: Sequence[Rows]) -> None:
        """Note what is begun."""
        super().begin(batch)
        self.batches.append(list(batch))
        self._left = self.steps

    def is_done(self) -> bool:
        """Say no for a while."""
        self._left -= 1
        return self._left < 0

    def forward(self, batch: Sequence[Rows]) -> Any:
        """Count passes beside a prompt."""
        self.beside += bool(self._begun)
        return super().forward(batch)


@pytest.fixture(scope='module')
def model() -> Gemma4:
    shape = {'intermediate_size': 128, 'head_dim': 32, 'global_head_dim': 64}
    return random_model(small_config(**shape)).to(torch.bfloat16)


@pytest.fixture
def make_engine(model: Gemma4, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Engine]:
    def make(**more: Any) -> Engine:
        monkeypatch.setattr(engine_module, 'make_runner', Slow)
        limits = {'lanes': 4, 'context_tokens': 512, 'num_threads': 1, **more}
        return Engine(model, EngineConfig(**limits))

    return make


def _ask(name: str, count: int, **more: Any) -> Generation:
    more = {'max_tokens': 6, 'cuts': (), **more}
    return Generation(id=name, state_key=name, prompt_ids=IDS[:count], **more)


def _run(engine: Engine, *asked: Generation) -> dict[str, GenerationResult]:
    for each in asked:
        engine.submit(each)
    found = {}
    while engine.has_work:
        for event in engine.step():
            if isinstance(event, GenerationResult):
                found[event.id] = event
    return found


def test_prompts_of_several_lanes_are_one_pass_and_reply_as_alone(
    make_engine: Callable[..., Engine],
) -> None:
    asked = [_ask(f'g{n}', 70 + 40 * n) for n in range(3)]
    engine = make_engine()
    together = _run(engine, *asked)
    (batch,) = engine._runner.batches
    assert [each.start + len(each.token_ids) for each in batch] == [70, 110, 150]
    for each in asked:
        alone = _run(make_engine(), each)[each.id]
        assert alone.finish is Finish.LENGTH
        assert together[each.id].token_ids == alone.token_ids


def test_others_decode_while_a_prompt_runs(make_engine: Callable[..., Engine]) -> None:
    engine = make_engine()
    engine.submit(_ask('first', 70, max_tokens=20))
    while engine.stats().generated_tokens < 3:
        engine.step()
    found = _run(engine, _ask('second', 390))
    assert engine._runner.beside >= Slow.steps
    alone = _run(make_engine(), _ask('second', 390))['second']
    assert found['second'].token_ids == alone.token_ids
    assert found['first'].token_ids == (
        _run(make_engine(), _ask('first', 70, max_tokens=20))['first'].token_ids
    )


def test_one_that_is_canceled_in_flight_gives_its_pages_back(
    make_engine: Callable[..., Engine],
) -> None:
    engine = make_engine(state_budget_bytes=0)
    free = [len(pool._free) for pool in engine._runner._pools]
    engine.submit(_ask('stays', 100, max_tokens=30))
    while engine.stats().generated_tokens < 2:
        engine.step()
    engine.submit(_ask('goes', 300))
    engine.submit(_ask('comes', 90))
    engine.step()
    assert engine._flight.is_up
    assert engine.cancel('goes')
    found = _run(engine)
    assert found['goes'].error_code is ErrorCode.CANCELED
    assert [found[name].finish for name in ('stays', 'comes')] == [Finish.LENGTH] * 2
    assert found['comes'].token_ids == _run(make_engine(), _ask('comes', 90))['comes'].token_ids
    assert [len(pool._free) for pool in engine._runner._pools] == free


def test_forced_tokens_after_a_prompt_need_no_pass_of_their_own(
    make_engine: Callable[..., Engine], allowed_tokens: Any
) -> None:
    steps = [[30], [31], [40, 41], [50]]
    results = []
    for draft in (True, False):
        engine = make_engine()
        asked = _ask('g', 100, constraint=allowed_tokens(steps, 1), stop_ids=(1,), draft=draft,
                     max_tokens=9)  # fmt: skip
        result = _run(engine, asked)['g']
        assert result.finish is Finish.STOP
        assert result.forced_tokens == (3 if draft else 0)
        # Behind forced tokens nothing of the prompt is drawn from.
        assert bool(engine._runner.batches[0][0].outputs) is not draft
        results.append(result.token_ids)
    assert results[0] == results[1]


def test_states_are_kept_and_resumed(make_engine: Callable[..., Engine]) -> None:
    engine = make_engine(state_budget_bytes=64 << 20)
    first = _run(engine, _ask('g', 200, cuts=(64, 130)))['g']
    again = _run(engine, _ask('g', 240, cuts=(64, 130)))['g']
    assert (first.cached_tokens, again.cached_tokens) == (0, 128)
    assert again.token_ids == _run(make_engine(), _ask('g', 240))['g'].token_ids


def test_scores_and_logprobs_of_prompts_come_too(make_engine: Callable[..., Engine]) -> None:
    engine = make_engine()
    found = _run(
        engine, _ask('score', 90, score_ids=(5, 7), max_tokens=0),
        _ask('logprobs', 80, prompt_logprobs=True, max_tokens=1), _ask('plain', 130),
    )  # fmt: skip
    assert len(found['score'].scores) == 2
    assert len(found['logprobs'].prompt_logprobs) == 79
    assert found['plain'].finish is Finish.LENGTH


def test_a_pass_that_fails_ends_its_own_and_no_other(
    make_engine: Callable[..., Engine],
) -> None:
    engine = make_engine()
    begin = engine._runner.begin

    def broken(batch: Sequence[Rows]) -> None:
        if any(len(each.token_ids) == 100 for each in batch):
            raise ValueError('planted')
        begin(batch)

    engine._runner.begin = broken
    found = _run(engine, _ask('bad', 100), _ask('good', 90))
    assert 'planted' in found['bad'].error_msg
    assert found['good'].finish is Finish.LENGTH
