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


"""Who runs next, decided on plain numbers; and no order of calls loses a generation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import HealthCheck
from hypothesis import settings
from hypothesis import strategies as st

from gemma_node.core import Generation
from gemma_node.core import GenerationResult
from gemma_node.engine.scheduler import Scheduler
from gemma_node.engine.sequence import Phase
from gemma_node.engine.sequence import Sequence


def _sequence(name: str, *, length: int = 200, **more: Any) -> Sequence:
    generation = Generation(
        id=name, state_key=name, prompt_ids=tuple(range(length)), **more
    )
    return Sequence(generation, arrival=int(name), now=0.0)


def _scheduler(lanes: int, *sequences: Sequence) -> Scheduler:
    scheduler = Scheduler(lanes)
    for sequence in sequences:
        scheduler.add(sequence)
    return scheduler


def test_lanes_go_to_priority_then_arrival_and_are_never_shared() -> None:
    sequences = [_sequence(str(index), priority=index % 2) for index in range(5)]
    scheduler = _scheduler(2, *sequences)
    assert scheduler.admit() == [sequences[1], sequences[3]]
    assert scheduler.admit() == []
    assert {sequences[1].lane, sequences[3].lane} == {0, 1}
    freed = sequences[3].lane
    scheduler.remove(sequences[3])
    assert scheduler.admit() == [sequences[0]]
    assert sequences[0].lane == freed
    assert (scheduler.num_running, scheduler.num_queued) == (2, 2)


def test_prefill_and_decode_take_turns() -> None:
    one, two = _sequence('0'), _sequence('1')
    scheduler = _scheduler(2, one, two)
    scheduler.admit()
    one.phase = Phase.DECODE
    kinds = [scheduler.next_prefill() is not None for _ in range(6)]
    assert kinds == [True, False] * 3
    two.phase = Phase.DECODE
    assert scheduler.next_prefill() is None
    assert scheduler.next_decodes() == [one, two]
    scheduler.decoded(one)
    assert scheduler.next_decodes() == [two]
    scheduler.decoded(two)
    assert scheduler.next_decodes() == [one, two]


def test_a_shared_prefix_in_the_making_is_waited_for() -> None:
    one, two, other = (_sequence(str(index), cuts=(128,)) for index in range(3))
    other.generation = Generation(id='2', state_key='2', prompt_ids=(7,) * 200, cuts=(128,))
    scheduler = _scheduler(3, one, two, other)
    scheduler.admit()
    assert scheduler.next_prefill() is one
    one.rows = 64
    assert scheduler.next_prefill() is other
    other.rows = 64
    assert scheduler.next_prefill() is one
    one.rows = 128
    assert scheduler.next_prefill() is two


def test_who_waits_goes_on_when_the_other_is_gone() -> None:
    one, two = (_sequence(str(index), cuts=(128,)) for index in range(2))
    scheduler = _scheduler(2, one, two)
    scheduler.admit()
    assert scheduler.next_prefill() is one
    scheduler.remove(one)
    assert scheduler.next_prefill() is two


_ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just('submit'), st.integers(1, 150), st.integers(1, 5)),
        st.tuples(st.just('cancel'), st.integers(0, 12), st.just(0)),
        st.tuples(st.just('step'), st.integers(1, 4), st.just(0)),
    ),
    max_size=25,
)


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(actions=_ACTIONS)
def test_whatever_the_order_each_generation_ends_once_and_lanes_return(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], actions: list[tuple[str, int, int]]
) -> None:
    driver = make_driver(lanes=2, context_tokens=128, state_budget_bytes=60_000)
    submitted = []
    for kind, number, more in actions:
        if kind == 'submit':
            name = f'g{len(submitted)}'
            submitted.append(name)
            prompt = tokens[: number - 10] if number > 10 else tokens[500:510]
            cuts = (min(64, len(prompt)), len(prompt))
            driver.engine.submit(
                Generation(
                    id=name, state_key=name, prompt_ids=prompt, cuts=cuts, max_tokens=more
                )
            )
        elif kind == 'cancel':
            driver.engine.cancel(f'g{number}')
        else:
            driver.step(number)
    driver.step(10_000)
    ended = [each.id for each in driver.events if isinstance(each, GenerationResult)]
    assert sorted(ended) == sorted(submitted)
    stats = driver.engine.stats()
    assert stats.lanes_busy == stats.queue_depth == 0
    assert not driver.engine.has_work
