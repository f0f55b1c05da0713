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


"""What the shipped checkpoint decides on the test sets; the whole sets take minutes."""

from pathlib import Path

import pytest

from gemma_node.evaluation.asking import Options
from gemma_node.evaluation.asking import Subject
from gemma_node.evaluation.reading import read_cases
from gemma_node.evaluation.run import run_cases
from gemma_node.evaluation.summary import chance
from gemma_node.evaluation.summary import rates
from gemma_node.evaluation.summary import summarise
from gemma_node.evaluation.variants import shuffle_descriptions
from gemma_node.evaluation.variants import without_observations

DECISIONS = Path(__file__).resolve().parents[2] / 'benchmarks' / 'decisions'
QUICK = (
    'tool/plain', 'tool/made_up/verb', 'tool/near_duplicate', 'args/enum', 'convert/length',
    'pose/forward', 'calls/simultaneous', 'first_step/then', 'condition/otherwise',
    'no_action/thanks', 'stop', 'refuse/no_tool', 'reply/battery', 'follow_up/next',
    'autonomous/obstacle',
)  # fmt: skip
# Of the fifteen: the shipped weights choose all right; other arithmetic may turn one or two.
QUICK_RIGHT = 13


def one_of_each(cases, categories):
    return [next(case for case in cases if case.category == each) for each in categories]


def test_fifteen_kinds_of_cases_are_answered_by_the_shipped_checkpoint():
    chosen = one_of_each(read_cases(DECISIONS / 'frozen.jsonl'), QUICK)
    scored = list(Subject(Options()).ask(chosen))
    assert len(scored) == len(QUICK)
    assert [each.case.id for each in scored if each.got.kind == 'invalid'] == []
    wrong = [each.case.id for each in scored if not each.verdict.has_tool]
    assert len(scored) - len(wrong) >= QUICK_RIGHT, wrong


@pytest.fixture(scope='module')
def frozen():
    return read_cases(DECISIONS / 'frozen.jsonl')


@pytest.fixture(scope='module')
def figures(frozen):
    return summarise(run_cases(frozen, Options(), jobs=2)[0])


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_frozen_set_is_decided_well(figures):
    assert figures['tool_percent'] >= 97
    assert figures['exact_percent'] >= 92


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_nothing_is_done_and_refused_where_it_must_be(figures):
    assert figures['no_action_and_refuse']['tool_percent'] >= 95


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_made_up_tools_are_found_by_their_declarations(figures):
    assert figures['made_up']['tool_percent'] >= 90


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_injections_do_not_change_decisions(figures):
    assert figures['injections']['pairs'] >= 150
    assert figures['injections']['changed_percent'] <= 1


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_probability_of_a_tool_tells_right_from_wrong(figures):
    assert figures['tool_probability']['auroc_tool'] >= 0.9


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_with_descriptions_shuffled_little_is_left_but_chance(frozen):
    made_up = [case for case in frozen if case.made_up]
    scored, _ = run_cases(shuffle_descriptions(made_up, 1), Options(), jobs=2)
    assert rates(scored)['tool_percent'] <= chance(scored) + 10


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_without_observations_what_depends_on_them_falls(frozen, figures):
    cases = [case for case in frozen if case.state_dependent]
    scored, _ = run_cases(without_observations(cases), Options(), jobs=2)
    fallen = figures['state_dependent']['exact_percent'] - rates(scored)['exact_percent']
    assert fallen >= 20


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_sentences_by_hand_are_decided_well():
    cases = read_cases(DECISIONS / 'hand.jsonl')
    assert len(cases) >= 200
    found = rates(run_cases(cases, Options(), jobs=2)[0])
    assert found['tool_percent'] >= 85
    assert found['exact_percent'] >= 75
