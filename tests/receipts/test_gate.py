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

"""The exactness gate: 0 unequal pairs, and every planted fault turns it red."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gemma_node.engine.config import EngineConfig
from gemma_node.receipts.covering import all_pairs
from gemma_node.receipts.covering import covering_array
from gemma_node.receipts.covering import pairs_of
from gemma_node.receipts.gate import Gate
from gemma_node.receipts.gate import Rule
from gemma_node.receipts.gate_faults import FAULTS
from gemma_node.receipts.gate_faults import NEEDS_SHARED_PASSES
from tests.fixtures.random_model import random_model
from tests.fixtures.random_model import small_config


def _gate(*, native: bool = True, window: int = 128) -> Gate:
    model = random_model(small_config(sliding_window=window))
    ids = np.random.default_rng(1).integers(2, 200, 37).tolist() * 60
    config = EngineConfig(context_tokens=1024, num_threads=1, native=native)
    return Gate(model, config, ids)


def test_a_covering_array_has_every_pair_and_is_small() -> None:
    factors = {'a': range(9), 'b': range(6), 'c': 'xyz', 'd': (False, True), 'e': (False, True)}
    made = list(covering_array(factors, 3))
    covered = set().union(*map(pairs_of, made))
    assert covered == all_pairs(factors)
    assert 54 <= len(made) < 110
    assert made == list(covering_array(factors, 3))
    assert made != list(covering_array(factors, 4))


def test_a_rule_allows_what_its_mask_says_and_can_go_back() -> None:
    rule, rng = Rule(5, 200), random.Random(1)
    masks = []
    for _ in range(40):
        row = np.zeros(7, np.int32)
        rule.fill_bitmask(row)
        allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder='little'))
        masks.append(allowed.tolist())
        only = rule.forced_token()
        assert (only is not None) == (len(allowed) == 1)
        outside = [token for token in range(200) if token not in masks[-1]]
        assert not outside or not rule.accept(outside[0])
        assert rule.accept(rng.choice(masks[-1]))
    assert len({len(each) for each in masks}) == 3
    rule.rollback(40)
    row = np.zeros(7, np.int32)
    rule.fill_bitmask(row)
    allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder='little'))
    assert allowed.tolist() == masks[0]


def test_200_pairs_are_equal_and_everything_took_part() -> None:
    found = _gate(window=512).run(200, seed=0)
    assert found.unequal == ()
    assert found.num_pairs == 200
    assert found.bound < 0.015
    names = {
        'pairs with forced tokens', 'pairs with accepted drafts', 'pairs with rejected drafts',
        'pairs resumed: robot_state', 'pairs resumed: shared_prefix', 'pairs resumed: disk',
    }  # fmt: skip
    assert all(found.exercised[name] >= 10 for name in names), found.exercised


def test_plain_runs_equal_themselves() -> None:
    assert _gate().control(6, seed=2).unequal == ()


def test_pairs_are_equal_in_plain_pytorch_too() -> None:
    assert _gate(native=False).run(12, seed=0).unequal == ()


@pytest.mark.parametrize('fault', FAULTS)
def test_every_planted_fault_is_found(fault: str) -> None:
    found = _gate().run(120, seed=1, spoil=FAULTS[fault])
    assert len(found.unequal) == 1, f'not found in {found.num_pairs} pairs'


@pytest.mark.parametrize('fault', sorted(FAULTS.keys() - NEEDS_SHARED_PASSES))
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_faults_of_a_runner_without_shared_passes_are_found_there(fault: str) -> None:
    found = _gate(native=False).run(120, seed=1, spoil=FAULTS[fault])
    assert len(found.unequal) == 1


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize('seed', range(3))
def test_3000_pairs_are_equal(seed: int) -> None:
    found = _gate(window=512).run(1000, seed=1000 + 1000 * seed)
    assert found.unequal == ()
    assert found.num_pairs == 1000
