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


"""Greedy and keyed draws, filters and the probabilities that are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gemma_node.core import Generation
from gemma_node.engine.sampler import draw
from gemma_node.engine.sampler import keyed_uniform
from gemma_node.engine.sampler import look
from gemma_node.engine.sampler import look_plain
from gemma_node.engine.sampler import NotFiniteError
from gemma_node.engine.sampler import only_id


def _how(**more: Any) -> Generation:
    return Generation(id='g', state_key='', prompt_ids=(1,), **more)


def _mask(*ids: int, vocab_size: int = 5) -> npt.NDArray[np.int32]:
    words = np.zeros(-(-vocab_size // 32), np.uint32)
    for token in ids:
        words[token // 32] |= np.uint32(1 << (token % 32))
    return words.view(np.int32)


LOGITS = np.log(np.array([0.05, 0.4, 0.1, 0.3, 0.15], np.float32))


def test_greedy_gives_ties_to_the_lowest_id() -> None:
    logits = np.array([0.0, 2.0, 1.0, 2.0, 2.0], np.float32)
    assert draw(logits, None, _how(), 0).token_id == 1
    assert draw(logits, _mask(3, 4), _how(), 0).token_id == 3


def test_probability_is_after_the_mask_and_mass_is_what_it_kept() -> None:
    drawn = draw(LOGITS, None, _how(), 0)
    assert drawn.token_id == 1
    assert drawn.probability == pytest.approx(0.4)
    assert drawn.mass == 1.0
    masked = draw(LOGITS, _mask(0, 2, 4), _how(), 0)
    assert masked.token_id == 4
    assert masked.probability == pytest.approx(0.5)
    assert masked.mass == pytest.approx(0.3)


def test_probability_is_at_temperature_one_whatever_the_temperature() -> None:
    for temperature in (0.2, 3.0):
        drawn = draw(LOGITS, None, _how(temperature=temperature, seed=4), 9)
        assert drawn.probability == pytest.approx(float(np.exp(LOGITS[drawn.token_id])))


def test_a_draw_is_a_function_of_seed_and_position_alone() -> None:
    def draws(seed: int) -> list[int]:
        how = _how(temperature=1.0, seed=seed)
        return [draw(LOGITS, None, how, position).token_id for position in range(60)]

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)
    assert draw(LOGITS, None, _how(temperature=1.0, seed=1), 17).token_id == draws(1)[17]
    assert keyed_uniform(3, 7) == keyed_uniform(3, 7) != keyed_uniform(7, 3)
    assert keyed_uniform(-(2**70), 1) >= 0.0


def test_draws_follow_the_distribution() -> None:
    counts = np.zeros(5)
    for position in range(4000):
        counts[draw(LOGITS, None, _how(temperature=1.0, seed=11), position).token_id] += 1
    assert np.abs(counts / 4000 - np.exp(LOGITS)).max() < 0.025


@pytest.mark.parametrize(
    ('filters', 'kept'),
    [
        ({'top_k': 1}, {1}),
        ({'top_k': 2}, {1, 3}),
        ({'top_p': 0.39}, {1}),
        ({'top_p': 0.41}, {1, 3}),
        ({'top_p': 0.0}, {1}),
        ({'min_p': 0.3}, {1, 3, 4}),
        ({'min_p': 1.0}, {1}),
        ({'top_k': 3, 'min_p': 0.5}, {1, 3}),
        ({'top_k': 99}, {0, 1, 2, 3, 4}),
    ],
)
def test_filters_keep_exactly_their_tokens(filters: dict[str, Any], kept: set[int]) -> None:
    how = _how(temperature=1.0, seed=3, **filters)
    assert {draw(LOGITS, None, how, position).token_id for position in range(300)} == kept


def test_filters_apply_within_the_mask() -> None:
    how = _how(temperature=1.0, top_k=2, seed=3)
    allowed = _mask(0, 2, 4)
    assert {draw(LOGITS, allowed, how, position).token_id for position in range(200)} == {2, 4}


def test_a_low_temperature_is_greedy() -> None:
    how = _how(temperature=1e-6, seed=3)
    assert {draw(LOGITS, None, how, position).token_id for position in range(50)} == {1}


@pytest.mark.parametrize('bad', [float('nan'), float('inf')])
def test_logits_that_are_not_finite_are_refused(bad: float) -> None:
    logits = LOGITS.copy()
    logits[2] = bad
    with pytest.raises(NotFiniteError):
        draw(logits, None, _how(), 0)


@pytest.mark.parametrize('vocab_size', [1, 31, 32, 200, 8192])
def test_native_and_plain_look_agree(vocab_size: int) -> None:
    rng = np.random.default_rng(vocab_size)
    for _ in range(20):
        logits = (rng.normal(size=vocab_size) * rng.choice([0.1, 3, 30])).astype(np.float32)
        ids = rng.choice(vocab_size, size=rng.integers(1, vocab_size + 1), replace=False)
        for mask in (None, _mask(*ids.tolist(), vocab_size=vocab_size)):
            ours, plain = look(logits, mask), look_plain(logits, mask)
            assert (ours.best, ours.best_value) == (plain.best, plain.best_value)
            assert ours.total == pytest.approx(plain.total, abs=2e-6)
            assert ours.kept == pytest.approx(plain.kept, abs=2e-6)


def test_only_one_bit_is_a_forced_token() -> None:
    for token in (0, 31, 32, 199):
        assert only_id(_mask(token, vocab_size=200)) == token
    assert only_id(_mask(3, 4, vocab_size=200)) is None
    assert only_id(_mask(3, 40, vocab_size=200)) is None
    with pytest.raises(ValueError, match='no token'):
        only_id(_mask(vocab_size=200))
