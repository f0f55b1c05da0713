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


"""Which states are found, whose they are, and which go first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gemma_node.core import CacheSource
from gemma_node.core import Generation
from gemma_node.engine.prompt_states import PromptStates
from gemma_node.engine.runner import Snapshot

IDS = tuple(range(1000))


def _states(budget_bytes: int, *, grid: int = 64) -> PromptStates:
    return PromptStates(budget_bytes, grid=grid, discard=lambda _snapshot: None)


def _save(
    states: PromptStates,
    key: str,
    rows: int,
    *,
    is_shared: bool = False,
    parts: dict[Any, int] | None = None,
) -> None:
    states.save(
        key,
        IDS[:rows],
        is_shared=is_shared,
        parts={object(): rows} if parts is None else parts,
        make=lambda parts: Snapshot(rows=rows, parts=parts, payload=None),
    )


def test_the_longest_matching_state_is_found() -> None:
    states = _states(10_000)
    for rows in (64, 128, 192):
        _save(states, 'a', rows)
    found = states.find('a', (*IDS[:180], 5, 5, 5), 0)
    assert found is not None
    assert found.snapshot.rows == 128


def test_a_state_is_not_found_under_another_key_or_other_tokens() -> None:
    states = _states(10_000)
    _save(states, 'a', 128)
    assert states.find('b', IDS[:300], 256) is None
    assert states.find('a', (9, *IDS[1:300]), 256) is None


def test_a_shared_state_serves_everybody_up_to_their_first_cut() -> None:
    states = _states(10_000)
    _save(states, 'a', 128, is_shared=True)
    assert states.find('b', IDS[:300], 128) is not None
    assert states.find('b', IDS[:300], 64) is None


@pytest.mark.parametrize('grid', [1, 64])
def test_a_prompt_no_longer_than_its_state_resumes_one_line_earlier(grid: int) -> None:
    states = _states(10_000, grid=grid)
    _save(states, 'a', 128)
    assert states.find('a', IDS[:128], 0) is not None
    assert states.resume_line(128, 128) == 128 - grid
    assert states.resume_line(128, 129) == 128
    assert states.find('a', IDS[:127], 0) is None


def test_superseded_goes_first_then_least_recently_used_then_shared() -> None:
    states = _states(64 + 64 + 128 + 64)
    _save(states, 'all', 64, is_shared=True)
    _save(states, 'a', 64)
    _save(states, 'a', 128)
    _save(states, 'b', 64)
    assert len(states) == 4
    assert states.find('b', IDS[:300], 0) is not None
    _save(states, 'c', 64)
    assert states.tokens_by_key() == {'a': 128, 'b': 64, 'c': 64}
    assert states.find('a', IDS[:300], 0).snapshot.rows == 128
    _save(states, 'd', 64)
    assert states.tokens_by_key() == {'a': 128, 'c': 64, 'd': 64}
    assert states.find('x', IDS[:300], 64) is not None
    assert states.num_evicted == 2
    assert states.nbytes <= states.budget_bytes


def test_a_state_larger_than_the_budget_is_refused_and_nothing_is_evicted() -> None:
    states = _states(100)
    _save(states, 'a', 64)
    _save(states, 'b', 128)
    assert states.num_refused == 1
    assert states.tokens_by_key() == {'a': 64}


def test_the_same_state_is_kept_once() -> None:
    states = _states(1000)
    _save(states, 'a', 64)
    _save(states, 'a', 64)
    assert len(states) == 1


def test_forget_drops_a_key_and_leaves_the_shared_ones() -> None:
    states = _states(1000)
    _save(states, 'all', 64, is_shared=True)
    _save(states, 'a', 128)
    _save(states, 'b', 128)
    states.forget('a')
    assert states.tokens_by_key() == {'b': 128}
    assert states.find('a', IDS[:300], 64) is not None


def test_a_piece_that_states_have_in_common_counts_once() -> None:
    states = _states(100)
    _save(states, 'all', 64, is_shared=True, parts={'p': 60})
    _save(states, 'a', 128, parts={'p': 60, 'q': 30})
    assert states.nbytes == 90
    _save(states, 'b', 128, parts={'p': 60, 'r': 30})
    assert states.tokens_by_key() == {'b': 128}
    assert states.nbytes == 90
    states.clear()
    assert (states.nbytes, len(states)) == (0, 0)


def test_a_key_keeps_few_states_that_are_superseded() -> None:
    states = _states(100_000)
    for rows in range(100, 120):
        _save(states, 'a', rows)
    assert len(states) == 3
    assert states.tokens_by_key() == {'a': 119}


def test_the_state_that_alone_holds_most_is_dropped_when_memory_runs_out() -> None:
    states = _states(1000)
    _save(states, 'a', 128, parts={'p': 500, 'q': 10})
    _save(states, 'b', 128, parts={'p': 500, 'r': 20})
    assert states.drop_largest()
    assert states.tokens_by_key() == {'a': 128}
    assert states.drop_largest()
    assert not states.drop_largest()


def test_robots_share_the_prefix_and_keep_their_own_history(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], grid: int
) -> None:
    driver = make_driver()
    prefix = 140 // grid * grid

    def ask(name: str, key: str, history: tuple[int, ...]) -> Any:
        prompt = tokens[:140] + history + tokens[900:920]
        cuts = (140, 140 + len(history))
        generation = Generation(
            id=name, state_key=key, prompt_ids=prompt, cuts=cuts, max_tokens=2
        )
        return driver.run(generation)[0]

    first = ask('a0', 'a', tokens[300:400])
    assert (first.cache_source, first.cached_tokens) == (CacheSource.COLD, 0)
    other = ask('b0', 'b', tokens[300:400])
    assert (other.cache_source, other.cached_tokens) == (CacheSource.SHARED_PREFIX, prefix)
    again = ask('a1', 'a', tokens[300:430])
    assert (again.cache_source, again.cached_tokens) == (
        CacheSource.ROBOT_STATE,
        240 // grid * grid,
    )
    driver.engine.forget('a')
    after = ask('a2', 'a', tokens[300:430])
    assert (after.cache_source, after.cached_tokens) == (CacheSource.SHARED_PREFIX, prefix)


def test_robots_that_start_together_prefill_the_shared_prefix_once(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], grid: int
) -> None:
    driver = make_driver()
    prefix = 200 // grid * grid
    asked = [
        Generation(
            id=f'g{index}',
            state_key=f'robot{index}',
            prompt_ids=tokens[:200] + tokens[300 + 20 * index : 320 + 20 * index],
            cuts=(200,),
            max_tokens=2,
        )
        for index in range(3)
    ]
    results = driver.run(*asked)
    assert [each.cached_tokens for each in results] == [0, prefix, prefix]
    assert driver.engine.stats().prefilled_tokens == 220 + 2 * (220 - prefix)


def test_a_budget_of_nothing_still_serves(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver(state_budget_bytes=0)
    asked = [
        Generation(
            id=f'g{index}',
            state_key='a',
            prompt_ids=tokens[:200],
            cuts=(100, 150),
            max_tokens=2,
        )
        for index in range(2)
    ]
    results = driver.run(*asked)
    assert [each.cached_tokens for each in results] == [0, 0]
    assert driver.engine.stats().state_too_large == 4
