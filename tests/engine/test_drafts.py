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

"""Drafts change how many passes a reply takes, and never a token of it."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from gemma_node.core import Generation
from gemma_node.core import GenerationResult
from gemma_node.engine.drafts import Drafter
from gemma_node.engine.drafts import MAX_DRAFT


@pytest.fixture
def runner_name() -> str:
    """Return the runner that checks drafts in one pass."""
    return 'native'


def _ask(name: str, prompt: tuple[int, ...], **more: Any) -> Generation:
    more = {'state_key': name, 'max_tokens': 60, **more}
    return Generation(id=name, prompt_ids=prompt, **more)


def _bits(result: GenerationResult) -> tuple[Any, ...]:
    return (
        result.token_ids, result.probabilities, result.masses, result.stop_id,
        result.finish,
    )  # fmt: skip


def test_what_followed_last_time_is_proposed() -> None:
    assert Drafter([1, 2, 3, 4, 5, 6, 7, 1, 2]).propose(9) == (3, 4, 5, 6)[:MAX_DRAFT]
    assert Drafter([1, 2, 3, 1, 2, 9, 1, 2]).propose(2) == (9, 1)
    assert Drafter([1, 2, 3, 4]).propose(4) == ()
    assert Drafter([1, 2, 1, 2]).propose(0) == ()
    assert Drafter([5, 5, 5]).propose(4) == (5,)
    assert Drafter([5]).propose(4) == ()
    assert Drafter([1, 2, 3, 4, 1, 2], 2).propose(4) == ()
    assert Drafter([1, 2, 3, 4, 3, 4], 2).propose(4) == (3, 4)


def test_a_drafter_that_is_wrong_rests_and_tries_again() -> None:
    ids = [1, 2, 3, 1, 2]
    drafter = Drafter(ids)
    for _ in range(2):
        assert drafter.propose(4)
        drafter.learn(accepted=0)
    assert drafter.propose(4) == ()
    ids += [3, 1, 2] * 4
    assert drafter.propose(4)


@pytest.mark.parametrize('temperature', [0.0, 0.7])
def test_drafted_equals_undrafted(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], temperature: float
) -> None:
    accepted = 0
    for seed in range(12):
        prompt = tokens[seed : seed + 30] * 3
        more = {'temperature': temperature, 'seed': seed}
        driver = make_driver()
        (drafted,) = driver.run(_ask('g', prompt, **more))
        (plain,) = make_driver().run(_ask('g', prompt, draft=False, **more))
        assert _bits(drafted) == _bits(plain)
        assert plain.drafted_tokens == 0
        accepted += drafted.drafted_tokens
        stats = driver.engine.stats()
        assert stats.drafts_accepted <= stats.drafted_tokens
    assert accepted > 0


def test_drafts_go_on_through_a_grammar_and_its_forced_tokens(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], allowed_tokens: Any
) -> None:
    rng = np.random.default_rng(8)
    for seed in range(12):
        steps: list[Iterable[int]] = []
        for _ in range(8):
            steps += [[int(rng.integers(2, 200))], [3], rng.integers(2, 200, 6).tolist(), [9]]
        prompt = tokens[seed : seed + 40]
        results = []
        for draft in (True, False):
            constraint = allowed_tokens(steps, stop_id=1)
            asked = _ask('g', prompt, constraint=constraint, stop_ids=(1,), draft=draft)
            (result,) = make_driver().run(asked)
            results.append(result)
            assert result.stop_id == 1
            assert constraint.is_complete()
        assert _bits(results[0]) == _bits(results[1])
        assert [each.forced_tokens for each in results] == [24, 0]


def test_a_draft_that_the_grammar_forbids_is_not_run(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], allowed_tokens: Any
) -> None:
    # After 7, 8 the prompt went on with 9; here the grammar wants another token.
    steps: list[Iterable[int]] = [[7, 20], [8, 21], [30, 31], [40, 41]]
    rows = []
    for allowed in ([30, 31], [9, 30]):
        steps[2] = allowed
        driver = make_driver()
        asked = _ask('g', (7, 8, 9, 40) * 8, constraint=allowed_tokens(steps, 1), stop_ids=(1,))
        sequence = driver.engine._sequence(asked)
        for token in (7, 8):
            assert driver.engine._producer._take(sequence, token, 1.0, 1.0)
        sequence.rows = len(sequence.ids) - 1
        rows.append(driver.engine._rounds._pending(sequence, MAX_DRAFT).token_ids)
        assert asked.constraint is not None and asked.constraint.accept(allowed[1])
    assert rows == [(8,), (8, 9, 40)]


def test_drafts_are_off_while_many_lanes_decode(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver(lanes=8)
    prompt = tokens[:10] * 6
    asked = [_ask(f'g{n}', prompt, max_tokens=20) for n in range(8)]
    for generation in asked:
        driver.engine.submit(generation)
    while any(each.phase < 2 for each in driver.engine._scheduler):
        driver.step()
    before = driver.engine.stats().drafted_tokens
    driver.step(3)
    assert driver.engine.stats().drafted_tokens == before


def _passes(driver: Any) -> list[int]:
    """Return a list that the numbers of rows of the passes to come are added to."""
    runner, passes = driver.engine._runner, []
    forward = runner.forward

    def counted(batch: Any) -> Any:
        passes.append(sum(len(rows.token_ids) for rows in batch))
        return forward(batch)

    runner.forward = counted
    return passes


def test_a_resumed_prompt_takes_one_pass_where_a_chunk_has_room_for_it(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver()
    passes = _passes(driver)
    more = {'state_key': 'k', 'cuts': (50,), 'max_tokens': 1}
    driver.run(_ask('cold', tokens[:130], **more))
    (resumed,) = driver.run(_ask('resumed', tokens[:114], **more))
    (longer,) = driver.run(_ask('longer', tokens[:115], **more))
    assert passes == [64, 64, 2, 64, 64, 1]
    for result, end in ((resumed, 114), (longer, 115)):
        (fresh,) = make_driver().run(_ask('fresh', tokens[:end], **more))
        assert result.cached_tokens == 50
        assert _bits(result) == _bits(fresh)


def test_a_forced_run_takes_one_pass(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], allowed_tokens: Any
) -> None:
    driver = make_driver()
    passes = _passes(driver)
    steps = [[5, 6], *([[token] for token in range(20, 40)]), [7, 8]]
    asked = _ask('g', tokens[:40], constraint=allowed_tokens(steps, stop_id=1), stop_ids=(1,))
    (result,) = driver.run(asked)
    assert result.forced_tokens == 20
    assert passes == [40, 21]


def _steps() -> list[Iterable[int]]:
    return [[5, 6], [20], [21], [40, 41, 42], [43, 44], [22], [50, 51, 52], [7, 8]]


def test_a_reply_is_begun_with_the_prompt_where_it_was_guessed(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], allowed_tokens: Any
) -> None:
    def ask(**more: Any) -> tuple[GenerationResult, list[int]]:
        driver = make_driver()
        passes = _passes(driver)
        constraint = allowed_tokens(_steps(), stop_id=1)
        asked = _ask('g', tokens[:40], constraint=constraint, stop_ids=(1,), **more)
        (result,) = driver.run(asked)
        stats = driver.engine.stats()
        assert stats.drafts_accepted <= stats.drafted_tokens
        return result, passes

    plain, alone = ask(draft=False)
    unguessed, several = ask()
    right = plain.token_ids[0]
    guessed, fewer = ask(guess=(right,))
    wrong, same = ask(guess=(11 - right,))
    forbidden, untouched = ask(guess=(90,))
    for result in (unguessed, guessed, wrong, forbidden):
        assert _bits(result) == _bits(plain)
        assert result.forced_tokens == 3
    assert len(alone) == 9
    assert fewer == [40 + 3, *several[2:]]
    assert same == [40 + 3, *several[1:]]
    assert untouched == several
    unbounded, _ = ask(guess=(right,), max_tokens=3)
    assert unbounded.token_ids == plain.token_ids[:3]


def test_what_the_request_names_is_a_draft_where_the_grammar_allows_one_such_word(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], allowed_tokens: Any
) -> None:
    def drafts(*phrases: tuple[int, ...], at: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        driver = make_driver()
        constraint = allowed_tokens(_steps(), stop_id=1)
        asked = _ask('g', tokens[:40], constraint=constraint, stop_ids=(1,), phrases=phrases)
        sequence = driver.engine._sequence(asked)
        for token in (5, 20, 21, 41, 44, 22)[:at]:
            assert driver.engine._producer._take(sequence, token, 1.0, 1.0)
        driver.engine._producer.force(sequence)
        sequence.rows = len(sequence.ids) - 1
        rows = driver.engine._rounds._pending(sequence, MAX_DRAFT)
        assert constraint.index == at
        return rows.token_ids[1:], rows.outputs

    # The word, how the request goes on after it, and what is forced then.
    assert drafts((41, 43), (90, 91), at=3) == ((41, 43, 22), (0, 1, 3))
    assert drafts((41, 90), at=3) == ((41,), (0, 1))
    assert drafts((41, 43), (42, 44), at=3) == ((), (0,))
    assert drafts((90, 91), at=3) == ((), (0,))
    assert drafts((41, 44, 50), at=4) == ((44, 22), (0, 2))
    assert drafts((41, 44), (41, 43), at=4) == ((), (0,))
    assert drafts(at=3) == ((), (0,))


def test_named_phrases_change_no_token(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], allowed_tokens: Any
) -> None:
    found, passes = [], []
    for phrases in ((), ((40,),), ((41, 43),), ((42, 44, 50),), ((50,),), ((51,),), ((52,),)):
        driver = make_driver()
        passes.append(_passes(driver))
        constraint = allowed_tokens(_steps(), stop_id=1)
        asked = _ask('g', tokens[:40], constraint=constraint, stop_ids=(1,), phrases=phrases)
        found += [_bits(each) for each in driver.run(asked)]
    assert len(set(found)) == 1
    assert min(map(len, passes)) < len(passes[0])
