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


"""What the engine promises its callers: one result each, bounds, isolation, short steps."""

from __future__ import annotations

from collections.abc import Callable
import gc
from typing import Any

import pytest
import torch

from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import Generation
from gemma_node.core import GenerationProgress
from gemma_node.core import GenerationResult
from gemma_node.core import Stage
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.native_runner import NativeRunner
from gemma_node.errors import ConfigError


def _ask(name: str, prompt: tuple[int, ...], **more: Any) -> Generation:
    more = {'state_key': name, 'max_tokens': 8, 'draft': False, **more}
    return Generation(id=name, prompt_ids=prompt, **more)


class FakeClock:
    """A clock that moves only when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_generation_reports_prefill_then_tokens_then_one_result(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver()
    (result,) = driver.run(_ask('g', tokens[:150]))
    assert result.finish == Finish.LENGTH
    assert len(result.token_ids) == len(result.probabilities) == len(result.masses) == 8
    progress = [each for each in driver.events if isinstance(each, GenerationProgress)]
    prefill = [each.prompt_tokens_done for each in progress if each.stage == Stage.PREFILL]
    assert prefill == [64, 128]
    decode = [each.token_ids for each in progress if each.stage == Stage.DECODE]
    assert decode == [result.token_ids[:count] for count in range(1, 8)]
    assert result.queue_time >= 0.0
    assert result.prefill_time > 0.0
    assert result.decode_time > 0.0


def test_greedy_takes_the_most_probable_and_stop_ids_end(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    (free,) = make_driver().run(_ask('g', tokens[:50]))
    stop = free.token_ids[3]
    first = free.token_ids.index(stop)
    (stopped,) = make_driver().run(_ask('g', tokens[:50], stop_ids=(stop,)))
    assert stopped.finish == Finish.STOP
    assert stopped.stop_id == stop
    assert stopped.token_ids == free.token_ids[:first]


def test_the_bound_on_tokens_that_fits_is_named_and_served(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver(context_tokens=200)
    (refused,) = driver.run(_ask('big', tokens[:180], max_tokens=50))
    assert refused.finish == Finish.FAILED
    assert refused.error_code == ErrorCode.CONTEXT_OVERFLOW
    assert 'max_tokens <= 20 or context_tokens >= 230 fits' in refused.error_msg
    (served,) = driver.run(_ask('fits', tokens[:180], max_tokens=20))
    assert served.finish == Finish.LENGTH
    assert len(served.token_ids) == 20
    (hopeless,) = driver.run(_ask('huge', tokens[:300], max_tokens=1))
    assert 'context_tokens >= 301 fits' in hopeless.error_msg


@pytest.mark.parametrize(
    ('change', 'named'),
    [
        ({'prompt_ids': ()}, 'prompt is empty'),
        ({'prompt_ids': (1, 200)}, 'token id 200 is outside'),
        ({'prompt_ids': (1, -3)}, 'token id -3 is outside'),
        ({'max_tokens': 0}, 'max_tokens must be >= 1'),
        ({'cuts': (5, 3)}, 'cuts'),
        ({'cuts': (11,)}, 'cuts'),
    ],
)
def test_bad_input_is_a_failed_result(
    make_driver: Callable[..., Any], change: dict[str, Any], named: str
) -> None:
    driver = make_driver()
    fields = {'prompt_ids': tuple(range(10)), 'max_tokens': 4, **change}
    (result,) = driver.run(Generation(id='bad', state_key='', **fields))
    assert result.finish == Finish.FAILED
    assert result.error_code == ErrorCode.INVALID_REQUEST
    assert named in result.error_msg


def test_an_id_in_use_is_refused_and_the_first_goes_on(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver()
    driver.engine.submit(_ask('g', tokens[:20]))
    driver.engine.submit(_ask('g', tokens[:30]))
    driver.step(1000)
    results = [each for each in driver.events if isinstance(each, GenerationResult)]
    assert [each.finish for each in results] == [Finish.FAILED, Finish.LENGTH]
    assert 'already running' in results[0].error_msg


def test_cancel_ends_at_once_and_frees_the_lane(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver(lanes=1)
    for name in ('running', 'queued', 'next'):
        driver.engine.submit(_ask(name, tokens[:300], max_tokens=100))
    driver.step(3)
    assert driver.engine.cancel('running')
    assert driver.engine.cancel('queued', ErrorCode.SUPERSEDED)
    assert not driver.engine.cancel('unknown')
    driver.step()
    ended = {each.id: each for each in driver.events if isinstance(each, GenerationResult)}
    assert ended['running'].finish == ended['queued'].finish == Finish.CANCELED
    assert ended['running'].error_code == ErrorCode.CANCELED
    assert ended['queued'].error_code == ErrorCode.SUPERSEDED
    assert driver.engine.stats().lanes_busy == 1
    (last,) = driver.finish('next')
    assert last.finish == Finish.LENGTH
    assert not driver.engine.cancel('next')
    assert driver.engine.stats().lanes_busy == 0


def test_a_deadline_ends_queued_and_running_ones_with_what_they_have(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    clock = FakeClock()
    driver = make_driver(clock=clock, lanes=1)
    driver.engine.submit(_ask('running', tokens[:40], max_tokens=50, deadline=105.0))
    driver.engine.submit(_ask('queued', tokens[:40], deadline=104.0))
    driver.engine.submit(_ask('patient', tokens[:40]))
    driver.step(4)
    clock.now = 105.0
    running, queued, patient = driver.finish('running', 'queued', 'patient')
    assert running.finish == queued.finish == Finish.DEADLINE
    assert running.error_code == queued.error_code == ErrorCode.DEADLINE_EXCEEDED
    assert len(running.token_ids) == 4
    assert queued.token_ids == ()
    assert patient.finish == Finish.LENGTH


def test_a_long_prompt_does_not_stop_another_ones_tokens(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver()
    driver.engine.submit(_ask('short', tokens[:20], max_tokens=40))
    driver.step(2)
    driver.engine.submit(_ask('long', tokens[:900], max_tokens=1))
    served = [driver.step()[0].id for _ in range(20)]
    assert set(zip(served[::2], served[1::2], strict=True)) == {('long', 'short')}


def test_two_long_prompts_share_the_prefill_steps(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver()
    driver.engine.submit(_ask('a', tokens[:640]))
    driver.engine.submit(_ask('b', tokens[100:740]))
    served = [driver.step()[0].id for _ in range(8)]
    assert served == ['a', 'b'] * 4


def test_a_higher_priority_passes_the_queue(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver(lanes=1)
    for name, priority in (('first', 0), ('low', -1), ('normal', 0), ('high', 1)):
        driver.engine.submit(_ask(name, tokens[:20], max_tokens=2, priority=priority))
    driver.step(1000)
    ended = [each.id for each in driver.events if isinstance(each, GenerationResult)]
    assert ended == ['high', 'first', 'normal', 'low']


class Broken:
    """A constraint that raises after some tokens."""

    def __init__(self, where: str, after: int) -> None:
        self.where = where
        self.left = after

    def fill_bitmask(self, row: Any) -> None:
        row[:] = -1
        if self.where == 'mask' and self.left <= 0:
            raise KeyError('broken grammar')
        if self.where == 'empty' and self.left <= 0:
            row[:] = 0

    def accept(self, token_id: int) -> bool:
        self.left -= 1
        if self.where == 'accept' and self.left < 0:
            raise KeyError('broken grammar')
        return not (self.where == 'refuse' and self.left < 0)


@pytest.mark.parametrize('after', [0, 3])
@pytest.mark.parametrize(
    ('where', 'named'),
    [
        ('mask', 'broken grammar'),
        ('accept', 'broken grammar'),
        ('empty', 'allows no token'),
        ('refuse', 'refuses token'),
    ],
)
def test_a_broken_constraint_fails_only_its_own_generation(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], where: str, named: str, after: int
) -> None:
    driver = make_driver()
    broken = _ask('broken', tokens[:80], constraint=Broken(where, after))
    healthy = _ask('healthy', tokens[:80])
    failed, served = driver.run(broken, healthy)
    assert failed.finish == Finish.FAILED
    assert failed.error_code == ErrorCode.RUNTIME_FAILURE
    assert named in failed.error_msg
    assert len(failed.token_ids) == after
    assert served.finish == Finish.LENGTH
    assert driver.engine.stats().lanes_busy == 0


def test_only_allowed_tokens_leave_and_their_mass_is_told(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], allowed_tokens: Any
) -> None:
    steps = [[5, 9, 190], [7], [32, 31], [63, 64, 65]]
    constraint = allowed_tokens(steps, stop_id=1)
    (result,) = make_driver().run(
        _ask('g', tokens[:70], constraint=constraint, stop_ids=(1, 3), max_tokens=20, draft=True)
    )
    assert result.finish == Finish.STOP
    assert result.stop_id == 1
    assert all(token in step for token, step in zip(result.token_ids, steps, strict=True))
    assert result.forced_tokens == 1
    assert result.masses[1] == result.probabilities[1] == 1.0
    assert 0.0 < result.masses[0] < 0.5
    assert result.probabilities[0] >= 1 / 3


def _poison(runner: Any) -> None:
    """Write NaN into a key that lane 0 sees."""
    with torch.inference_mode():
        if isinstance(runner, NativeRunner):
            page = int(runner._pages[0][0, 0])
            runner._pools[0].view(page).fill_(float('nan'))
        else:
            runner._caches[0].keys[0].fill_(float('nan'))


def test_logits_that_are_not_finite_fail_and_the_lane_recovers(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    (expected,) = make_driver().run(_ask('g', tokens[:90]))
    driver = make_driver(lanes=1)
    driver.engine.submit(_ask('poisoned', tokens[:90]))
    driver.step(3)
    _poison(driver.engine._runner)
    (failed,) = driver.finish('poisoned')
    assert failed.error_code == ErrorCode.RUNTIME_FAILURE
    assert 'not finite' in failed.error_msg
    (again,) = driver.run(_ask('g', tokens[:90]))
    assert again.token_ids == expected.token_ids


@pytest.mark.parametrize('huge', [False, True])
def test_memory_that_runs_out_is_named_and_others_go_on(
    make_driver: Callable[..., Any],
    tokens: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
    huge: bool,
) -> None:
    driver = make_driver()
    forward = driver.engine._runner.forward

    def fail_once(batch: Any) -> Any:
        if any(rows.token_ids[0] == tokens[500] for rows in batch):
            if huge:
                torch.empty(1 << 60, dtype=torch.uint8)
            raise MemoryError('no room')
        return forward(batch)

    monkeypatch.setattr(driver.engine._runner, 'forward', fail_once)
    failed, served = driver.run(_ask('a', tokens[500:520]), _ask('b', tokens[:20]))
    assert failed.error_code == ErrorCode.OUT_OF_MEMORY
    assert served.finish == Finish.LENGTH


def test_a_time_slice_that_is_over_ends_the_step_and_nobody_is_skipped(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver(max_slice_s=1e-9)
    asked = [_ask(f'g{index}', tokens[index : index + 20], max_tokens=5) for index in range(3)]
    results = driver.run(*asked)
    assert all(len(each.token_ids) == 5 for each in results)
    decode = [each for each in driver.events if isinstance(each, GenerationProgress)]
    counts: dict[str, int] = dict.fromkeys(('g0', 'g1', 'g2'), 0)
    for event in decode:
        counts[event.id] = len(event.token_ids)
        assert max(counts.values()) - min(counts.values()) <= 3


def test_counters_add_up(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], grid: int
) -> None:
    driver = make_driver()
    prefix, history = 100 // grid * grid, 140 // grid * grid
    for n in range(3):
        driver.engine.submit(_ask(f'g{n}', tokens[:150], cuts=(100, 140)))
    driver.step(2)
    assert driver.engine.stats().kv_bytes > 0
    driver.finish()
    stats = driver.engine.stats()
    assert stats.generated_tokens == 24
    assert stats.prefilled_tokens + 2 * prefix == 450
    assert stats.state_hits == 2
    assert stats.state_misses == 1
    assert stats.states == 4
    assert stats.context_tokens == {'g0': history, 'g1': history, 'g2': history}
    assert stats.prefill_seconds > 0.0
    assert stats.decode_seconds > 0.0
    assert 0 < stats.state_bytes <= stats.state_budget_bytes


def test_nothing_grows_over_many_generations(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver(lanes=2, state_budget_bytes=400_000)

    def live() -> int:
        gc.collect()
        return sum(issubclass(type(each), torch.Tensor) for each in gc.get_objects())

    counts = []
    for turn in range(16):
        start = 17 * turn
        driver.run(_ask(f'g{turn}', tokens[start : start + 140], cuts=(64, 130), max_tokens=2))
        driver.events.clear()
        counts.append(live())
    stats = driver.engine.stats()
    assert stats.state_evictions > 0
    assert stats.state_bytes <= 400_000
    assert stats.lanes_busy == stats.queue_depth == 0
    assert max(counts[8:]) <= max(counts[:8])


@pytest.mark.parametrize(
    'limits',
    [
        {'lanes': 0},
        {'context_tokens': 1},
        {'state_budget_bytes': -1},
        {'max_slice_s': 0.0},
        {'num_threads': -1},
        {'compute_dtype': 'int4'},
    ],
)
def test_limits_out_of_range_are_config_errors(limits: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(limits))):
        EngineConfig(**limits)
