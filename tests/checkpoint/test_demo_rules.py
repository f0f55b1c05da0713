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

"""What conditions, orders, gates and incomplete wishes of the training data promise."""

from __future__ import annotations

from collections import Counter
import random

import pytest

from demo_data import drills
from demo_data import frames_orders
from demo_data import frames_rules
from demo_data import frames_states
from demo_data import frames_talk
from demo_data import packing
from demo_data import rules
from demo_data import watch_kinds
from demo_data.conditions import arrange
from demo_data.observations import State
from demo_data.phrases import expansions
from gemma_node.core import InputState
from gemma_node.text.render import render_block


def drawn(name: str, packs: int, count: int) -> list[packing.Case]:
    return [c for i in range(packs) for c in packing.draw_drill(31, i, count, 0.8, name)[2]]


def called(case: packing.Case) -> str:
    return case.answer.calls[0][0] if case.answer.calls else 'reply'


def test_a_condition_of_any_kind_is_made_true_and_false_and_so_is_its_opposite() -> None:
    rng = random.Random(6)
    kinds: Counter[str] = Counter()
    for _ in range(400):
        condition = watch_kinds.draw(rng, joined=0.1)
        kinds[condition.kind] += 1
        state = State()
        for truth in (True, False):
            arrange(rng, state, condition, truth=truth)
            assert condition.problem(state) == ''
            if not condition.is_close(state):
                assert condition.holds(state) is truth
                assert condition.opposite().holds(state) is not truth
        arrange(rng, state, condition, truth=True, fault=InputState.STALE)
        assert condition.problem(state) == 'stale'
        text = condition.words(rng)
        assert text and not set('{}[]|') & set(text)
    assert len(kinds) >= 12


def test_states_are_shown_to_the_reader_apart() -> None:
    rng = random.Random(8)
    for _ in range(60):
        watch = watch_kinds.states(rng)
        shown = []
        for truth in (True, False):
            state = State()
            arrange(rng, state, watch, truth=truth)
            shown.append(render_block(state.observations).text.partition(': ')[2].split('): ')[-1])
        assert shown[0] != shown[1]
        assert not set(watch.texts) & set(watch.contrary)


def test_orders_are_followed_when_they_hold_and_only_then() -> None:
    outcomes: Counter[str] = Counter()
    for index in range(24):
        settings, book, cases = packing.draw_drill(5, index, 8, 0.8, 'orders')
        orders = [r for r in book.rules if r.kind == 'order']
        assert all(r.text in settings.system_prompt for r in orders)
        for case in cases:
            assert case.state is not None
            found = [(r, r.condition) for r in orders if r.condition is not None]
            problems = [c.problem(case.state) for _, c in found]
            holding = [r for r, c in found if not c.problem(case.state) and c.holds(case.state)]
            if any(problems):
                outcomes['fault'] += 1
                assert called(case) == 'ask_operator' and not holding
            elif holding:
                outcomes['holds'] += 1
                assert len(holding) == 1 and holding[0].order is not None
                assert called(case) in (holding[0].order[0], 'ask_operator')
            else:
                outcomes['fails'] += 1
                assert all(called(case) != r.order[0] for r in orders if r.order and not r.other
                           and r.order[0] not in ('no_action', 'stop', 'ask_operator', 'dock'))
    assert min(outcomes['holds'], outcomes['fails']) > 0.3 * outcomes.total()


def test_gates_open_and_close_alike_often_and_contrary_ones_stand_together() -> None:
    answers: Counter[bool] = Counter()
    contrary = 0
    for index in range(24):
        _, book, cases = packing.draw_drill(6, index, 8, 0.8, 'gates')
        gates = [r for r in book.rules if r.kind == 'needs' and r.condition is not None]
        assert gates
        homes = [r.condition.homes for r in gates if r.condition is not None]
        contrary += len(homes) == 2 and homes[0] == homes[1]
        for case in cases:
            answers[called(case) == 'ask_operator'] += 1
    assert 0.35 < answers[True] / answers.total() < 0.62
    assert contrary >= 3


def test_branches_are_taken_alike_often() -> None:
    found: Counter[str] = Counter(
        {'no_action': 'nothing', 'ask_operator': 'asked'}.get(called(c), 'done')
        for c in drawn('branches', 20, 9))
    assert 0.15 < found['nothing'] / found.total() < 0.4
    assert found['asked'] < 0.15 * found.total()


@pytest.mark.parametrize(('name', 'low', 'high'), [
    ('left_out', 0.35, 0.65), ('choices', 0.35, 0.65), ('idle', 0.4, 0.72)])
def test_a_drill_of_two_answers_has_both(name: str, low: float, high: float) -> None:
    answers = []
    for case in drawn(name, 10, 12):
        answers += [
            t.answer for t in case.turns if t.kind not in ('', 'follow_up', 'after_failure')]
        answers.append(case.answer)
    refused = sum(a.calls[0][0] in ('ask_operator', 'no_action') for a in answers if a.calls)
    assert low < refused / len(answers) < high


def test_a_stated_bound_holds_on_both_sides() -> None:
    rng = random.Random(4)
    sides = set()
    for _ in range(300):
        rule = rules.limit_rule(
            rng, 'lift', ('amount',), 'kg', 0, 20, in_system=rng.random() < 0.5)
        low, high = rule.least, rule.limit
        sides.add((low > -1, high < 21))
        middle = (max(low, 0) + min(high, 20)) / 2
        assert rule.broken({'amount': middle}, State()) == ''
        if high < 20:
            assert rule.broken({'amount': high + 0.5}, State())
            assert rule.broken({'amount': high}, State()) == ''
        if low > 0:
            assert rule.broken({'amount': low - 0.1}, State())
        assert 'inf' not in rule.text
    assert sides == {(False, True), (True, True), (True, False)}


def test_an_input_that_must_be_fresh_refuses_when_it_is_not() -> None:
    rng = random.Random(9)
    rule = rules.Rule('fresh', 'Needs imu.', 'go_to', limit=float('inf'), value='imu')
    for chance, broken in ((1.0, True), (0.0, False)):
        for _ in range(20):
            state = State()
            rule.prepare(rng, state, chance)
            assert bool(rule.broken({}, state)) is broken


def test_questions_beside_deeds_are_answered_and_not_obeyed() -> None:
    found = Counter(called(c) for c in drawn('asked', 16, 8))
    assert 0.4 < found['reply'] / found.total() < 0.85


def test_the_tables_are_large_and_well_formed() -> None:
    assert len({*frames_orders.CALLS, *frames_orders.WISHES, *frames_orders.UNLESS}) >= 150
    assert len({*frames_rules.ONLY, *frames_rules.NEVER}) >= 80
    assert len({*frames_talk.NEWS}) >= 150
    assert len(frames_states.PAIRS) >= 25
    assert sum(len(set(v)) for v in {id(v): v for v in frames_talk.VAGUE.values()}.values()) >= 100
    for table in (frames_orders.CALLS, frames_orders.WISHES, frames_talk.NEWS, frames_talk.FORBID):
        for template in table:
            assert not set('[]|') & set(''.join(expansions(template, 8))), template


def test_a_fourth_helping_has_its_own_drills() -> None:
    assert set(drills.FOURTH) == set(drills.DRILLS)
    third, fourth = (
        Counter(c.kind for i in range(40)
                for c in packing.draw_cases(3, i, 6, second=True, fourth=fourth)[2])
        for fourth in (False, True))
    kinds = ('condition', 'order', 'unclear', 'forbidden', 'unknown_choice')
    assert sum(fourth[k] for k in kinds) > sum(third[k] for k in kinds)


def test_a_demanded_age_is_kept_or_broken_by_any_input() -> None:
    rng = random.Random(12)
    names = set()
    for _ in range(150):
        rule = rules.age_rule(rng, 'go_to', is_motion=rng.random() < 0.5)
        names.add(rule.value)
        for chance, broken in ((1.0, True), (0.0, False)):
            state = State()
            rule.prepare(rng, state, chance)
            assert bool(rule.broken({}, state)) is broken, rule.text
    assert len(names) > 30
