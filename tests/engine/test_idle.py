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

"""Idle time prepares histories, and gives way to requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gemma_node.core import CacheSource
from gemma_node.core import Generation


def _ask(name: str, prompt: tuple[int, ...], key: str = 'robot', **more: Any) -> Generation:
    more = {'max_tokens': 3, 'cuts': (100,), **more}
    return Generation(id=name, state_key=key, prompt_ids=prompt, **more)


def test_a_prepared_history_is_where_the_next_prompt_begins(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], grid: int
) -> None:
    driver = make_driver()
    driver.engine.prepare('robot', tokens[:300], (100, 300))
    assert driver.engine.has_work
    assert driver.finish() == []
    assert driver.events == []
    assert driver.engine.stats().prefilled_tokens == 0
    asked = _ask('g', tokens[:300] + tokens[700:720], cuts=(100, 300))
    (result,) = driver.run(asked)
    assert result.cached_tokens == 300 // grid * grid
    assert result.cache_source == CacheSource.ROBOT_STATE
    (fresh,) = make_driver().run(asked)
    assert (result.token_ids, result.probabilities) == (fresh.token_ids, fresh.probabilities)


def test_a_request_runs_before_idle_work_and_takes_its_lane(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver(lanes=1)
    driver.engine.prepare('other', tokens[:600], (100, 600))
    driver.step(2)
    asked = _ask('g', tokens[:50], cuts=())
    (fresh,) = make_driver().run(asked)
    driver.engine.submit(asked)
    driver.step(4)
    (result,) = driver.finish('g')
    assert result.token_ids == fresh.token_ids
    assert driver.engine.stats().lanes_busy == 0


def test_idle_work_waits_while_a_request_runs(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver()
    driver.engine.submit(_ask('g', tokens[:20], max_tokens=30, cuts=()))
    driver.step()
    driver.engine.prepare('other', tokens[:200], (100, 200))
    while driver.engine.stats().lanes_busy:
        assert 'other' not in driver.engine.stats().context_tokens
        driver.step()
    driver.finish()
    assert driver.engine.stats().context_tokens['other'] >= 192


def test_the_newest_history_of_a_key_counts_and_its_request_ends_the_work(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver()
    driver.engine.prepare('robot', tokens[:200], (100, 200))
    driver.engine.prepare('robot', tokens[300:500], (100, 200))
    driver.finish()
    (result,) = driver.run(_ask('g', tokens[:220], cuts=()))
    assert result.cached_tokens == 0
    driver.engine.prepare('robot', tokens[:200], (100, 200))
    driver.step()
    driver.engine.forget('robot')
    assert driver.engine.stats().context_tokens == {}
    assert not driver.engine.has_work


def test_a_history_that_does_not_fit_is_no_work(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver(context_tokens=128)
    driver.engine.prepare('robot', tokens[:128], (128,))
    assert not driver.engine.has_work
