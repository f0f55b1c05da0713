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


"""Equal requests give equal bits: resumed or fresh, alone or beside others, in any order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gemma_node.core import CacheSource
from gemma_node.core import Generation
from gemma_node.core import GenerationResult
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.sampler import draw
from gemma_node.engine.torch_runner import TorchRunner
from gemma_node.model.cache_shape import TILE
from gemma_node.model.gemma4 import Gemma4

Bits = tuple[tuple[int, ...], tuple[float, ...]]


def _bits(result: GenerationResult) -> Bits:
    assert result.error_msg == ''
    return result.token_ids, result.probabilities


def _ask(name: str, prompt: tuple[int, ...], cuts: tuple[int, ...], **more: Any) -> Generation:
    # Drawn, not greedy: a tiny random model repeats itself, which would hide differences.
    more = {'state_key': 'robot', 'max_tokens': 12, 'temperature': 1.0, 'seed': 3, **more}
    return Generation(id=name, prompt_ids=prompt, cuts=cuts, **more)


@pytest.fixture
def fresh_bits(make_driver: Callable[..., Any]) -> Callable[[Generation], Bits]:
    """Return what a new engine without states answers."""

    def run(generation: Generation) -> Bits:
        driver = make_driver(state_budget_bytes=0)
        (result,) = driver.run(generation)
        assert result.cached_tokens == 0
        return _bits(result)

    return run


# Lengths around grid lines, around the window (70) and past the ring (192 slots).
@pytest.mark.parametrize('length', [65, 127, 128, 129, 191, 192, 193, 257, 320, 383, 450])
def test_resumed_equals_fresh(
    make_driver: Callable[..., Any],
    fresh_bits: Callable[[Generation], Bits],
    tokens: tuple[int, ...],
    length: int,
    grid: int,
) -> None:
    driver = make_driver()
    (warm,) = driver.run(_ask('warm', tokens[: length + 40], (64, length)))
    assert warm.cache_source == CacheSource.COLD
    again = _ask('again', tokens[:length] + tokens[600:633], (64, length + 5))
    (resumed,) = driver.run(again)
    assert resumed.cached_tokens == length // grid * grid
    assert _bits(resumed) == fresh_bits(again)


def test_a_conversation_equals_the_same_prompt_from_nothing(
    make_driver: Callable[..., Any],
    fresh_bits: Callable[[Generation], Bits],
    tokens: tuple[int, ...],
) -> None:
    driver = make_driver()
    history = tokens[:150]
    for turn in range(6):
        observations = tokens[500 + 37 * turn : 560 + 37 * turn]
        asked = _ask(f'turn{turn}', history + observations, (100, len(history)))
        (result,) = driver.run(asked)
        assert _bits(result) == fresh_bits(asked)
        if turn:
            assert result.cached_tokens >= 64
            assert result.cache_source != CacheSource.COLD
        # Observations are rolled back, the reply stays.
        history = history + observations[:9] + result.token_ids


def test_a_prompt_that_ends_with_its_state_is_resumed_one_line_earlier(
    make_driver: Callable[..., Any],
    fresh_bits: Callable[[Generation], Bits],
    tokens: tuple[int, ...],
    grid: int,
) -> None:
    driver = make_driver()
    asked = _ask('first', tokens[:320], (64, 320))
    driver.run(asked)
    again = _ask('again', tokens[:320], (64, 320))
    (resumed,) = driver.run(again)
    assert resumed.cached_tokens == 320 - grid
    assert _bits(resumed) == fresh_bits(again)


def test_concurrent_equals_alone(
    make_driver: Callable[..., Any],
    fresh_bits: Callable[[Generation], Bits],
    tokens: tuple[int, ...],
) -> None:
    asked = [
        _ask(
            f'g{index}',
            tokens[:90] + tokens[100 * index : 100 * index + 35 * index + 3],
            (90,),
            state_key=f'robot{index}',
            max_tokens=10 + index,
            temperature=1.0 * (index % 2),
            seed=index,
        )
        for index in range(7)
    ]
    results = make_driver(lanes=4).run(*asked)
    assert [_bits(each) for each in results] == [fresh_bits(each) for each in asked]


def test_a_used_lane_leaves_no_trace(
    make_driver: Callable[..., Any],
    fresh_bits: Callable[[Generation], Bits],
    tokens: tuple[int, ...],
) -> None:
    driver = make_driver(lanes=1, state_budget_bytes=0)
    driver.run(_ask('long', tokens[:700], (), max_tokens=40))
    asked = _ask('short', tokens[40:77], (), max_tokens=90)
    (result,) = driver.run(asked)
    assert _bits(result) == fresh_bits(asked)


def test_where_a_turn_ends_changes_no_bit_of_the_rows_before(
    model: Gemma4, tokens: tuple[int, ...]
) -> None:
    config = EngineConfig(lanes=2, context_tokens=256)
    with torch.inference_mode():
        runner = TorchRunner(model, config)
        whole = list(tokens[:TILE])
        cut = [*whole[:41], *([0] * 23)]
        expected = runner.prefill_tile(0, whole, 0, [40])[0]
        padded = runner.prefill_tile(1, cut, 0, [40])[0]
        assert torch.equal(expected, padded)


def test_cached_pass_matches_the_full_pass_past_the_ring(
    make_driver: Callable[..., Any], model: Gemma4, tokens: tuple[int, ...]
) -> None:
    asked = _ask('g', tokens[:260], (64, 200), max_tokens=150, temperature=0.0)
    (result,) = make_driver().run(asked)
    with torch.inference_mode():
        logits = model(torch.tensor([tokens[:260] + result.token_ids]))[0, 259:-1]
    assert logits.argmax(-1).tolist() == list(result.token_ids)
    expected = logits.softmax(-1).amax(-1)
    assert torch.allclose(torch.tensor(result.probabilities), expected, atol=1e-4)


def test_draws_are_keyed_by_the_absolute_position(
    make_driver: Callable[..., Any], model: Gemma4, tokens: tuple[int, ...]
) -> None:
    asked = _ask('g', tokens[:100], (64,), max_tokens=20)
    (result,) = make_driver().run(asked)
    with torch.inference_mode():
        logits = model(torch.tensor([tokens[:100] + result.token_ids]))[0, 99:-1].numpy()
    drawn = [draw(row, None, asked, 100 + step).token_id for step, row in enumerate(logits)]
    assert drawn == list(result.token_ids)
    assert len(set(drawn)) > 10


def test_forced_tokens_change_no_bit_of_what_follows(
    make_driver: Callable[..., Any],
    fresh_bits: Callable[[Generation], Bits],
    tokens: tuple[int, ...],
    allowed_tokens: Any,
) -> None:
    free = _ask('free', tokens[:100], (), max_tokens=10)
    ids, probabilities = fresh_bits(free)
    steps = [[ids[0]], [ids[1]], [ids[2]], range(200), [ids[4]], range(200)]
    constraint = allowed_tokens(steps, stop_id=1)
    asked = _ask('forced', tokens[:100], (), constraint=constraint, stop_ids=(1,))
    (result,) = make_driver().run(asked)
    assert result.token_ids == ids[:6]
    assert result.forced_tokens == 4
    for index in (3, 5):
        assert result.probabilities[index] == probabilities[index]
        assert result.masses[index] == pytest.approx(1.0)
    assert [result.probabilities[index] for index in (0, 1, 2, 4)] == [1.0] * 4
