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


"""Right and wrong as docs/eval_format.md says it, and the figures made of it."""

import math

import pytest

from gemma_node.core import Answer
from gemma_node.core import Call
from gemma_node.core import ErrorCode
from gemma_node.core import Outcome
from gemma_node.evaluation.scoring import contains
from gemma_node.evaluation.scoring import folded
from gemma_node.evaluation.scoring import Got
from gemma_node.evaluation.scoring import got_of
from gemma_node.evaluation.scoring import judge
from gemma_node.evaluation.scoring import Scored
from gemma_node.evaluation.scoring import Verdict
from gemma_node.evaluation.summary import auroc
from gemma_node.evaluation.summary import summarise
from gemma_node.evaluation.variants import shuffle_descriptions
from tests.fixtures.eval_cases import case

MOVE = {'x': 1.5, 'label': 'red mug', 'steps': 3, 'pose': {'y': -2}, 'points': [1, 2.5]}


def got(kind='call', *calls, text='', probability=math.nan):
    return Got(kind=kind, calls=calls, text=text, probability=probability)


def judged(wanted, found, **tolerance):
    call = {'name': 'move', 'arguments': wanted, 'tolerance': tolerance}
    verdict = judge(case(expect={'kind': 'call', 'calls': [call]}), got('call', ('move', found)))
    assert verdict.has_tool
    return verdict.is_exact


@pytest.mark.parametrize(
    ('change', 'is_right'),
    [
        ({}, True),
        ({'x': 1.504}, True),
        ({'x': 1.51}, False),
        ({'x': '1.5'}, False),
        ({'steps': 3.001}, False),
        ({'label': 'The Red  mug.'}, True),
        ({'label': '"a red mug"'}, True),
        ({'label': 'red mugs'}, False),
        ({'pose': {'y': -2.0}}, True),
        ({'pose': {'y': 2}}, False),
        ({'points': [1, 2.5, 3]}, False),
        ({'points': [2.5, 1]}, False),
        ({'slow': True}, False),
    ],
)
def test_arguments_are_compared_by_value(change, is_right):
    assert judged(MOVE, {**MOVE, **change}) is is_right


def test_a_missing_argument_is_wrong():
    assert not judged(MOVE, {'x': 1.5})


def test_tolerance_is_by_path_and_covers_what_is_below():
    assert judged(MOVE, {**MOVE, 'x': 1.6}, x=0.1)
    assert not judged(MOVE, {**MOVE, 'x': 1.61}, x=0.1)
    assert judged(MOVE, {**MOVE, 'pose': {'y': -2.2}}, pose=0.25)
    assert judged(MOVE, {**MOVE, 'points': [1.2, 2.3]}, points=0.25)
    assert not judged(MOVE, {**MOVE, 'points': [1.2, 2.3]}, **{'points.0': 0.25})


def test_enums_are_compared_letter_by_letter():
    assert judge(case(), got('call', ('go_to', {'place': 'kitchen'}))).is_exact
    assert not judge(case(), got('call', ('go_to', {'place': 'Kitchen'}))).is_exact


def test_kinds_are_told_apart():
    refuse = case(expect={'kind': 'refuse'}, forbid=['go_to', 'kitchen'])
    assert judge(refuse, got('ask', text='Where?')).is_exact
    assert judge(refuse, got('reply', text='I cannot.')).is_exact
    assert not judge(refuse, got('ask', text='To the kitchen?')).has_tool
    assert not judge(refuse, got('call', ('go_to', {'place': 'dock'}))).has_tool
    assert not judge(refuse, got('no_action')).has_tool
    assert judge(case(expect={'kind': 'stop'}), got('stop')).is_exact
    assert not judge(case(expect={'kind': 'no_action'}), got('stop')).has_tool
    either = case(accept=[{'kind': 'no_action'}])
    assert judge(either, got('no_action')).is_exact
    assert not judge(either, got('invalid')).has_tool


def test_several_calls_count_in_order():
    two = [{'name': 'go_to', 'arguments': {'place': 'dock'}},
           {'name': 'move', 'arguments': {'x': 1}}]
    both = case(expect={'kind': 'calls', 'calls': two})
    first, second = ('go_to', {'place': 'dock'}), ('move', {'x': 1})
    assert judge(both, got('calls', first, second)).is_exact
    assert not judge(both, got('calls', second, first)).has_tool
    assert not judge(both, got('call', first)).has_tool


def test_a_reply_must_say_it():
    asked = case(expect={'kind': 'reply'}, accept=['54 %', 'half full'])
    assert judge(asked, got('reply', text='The battery is at 54%.')).is_exact
    assert judge(asked, got('reply', text='It is Half  full.')).is_exact
    wrong = judge(asked, got('reply', text='It is at 154 %.'))
    assert wrong.has_tool and not wrong.is_exact
    assert not judge(asked, got('ask', text='54 %')).has_tool


@pytest.mark.parametrize(
    ('reply', 'wanted', 'is_said'),
    [('At 4.5 m.', '4', False), ('At -4 m', '4', False), ('At 4.', '4', True),
     ('x is 14', '4', False), ('x 1.20 m', 'x 1.20 m', True), ('It is 41', '4', False)],
)
def test_a_number_must_stand_whole(reply, wanted, is_said):
    assert contains(reply, wanted) is is_said


def test_folding_takes_away_what_does_not_count():
    assert folded(' “The  Big BOX.” ') == 'big box'
    assert folded('theatre') == 'theatre' and folded('a') == 'a'


def test_answers_of_the_worker_become_decisions():
    def answer(outcome, *names, **more):
        calls = tuple(Call(id='', name=name) for name in names)
        return got_of(Answer(request_id='', robot='', outcome=outcome, calls=calls, **more))

    assert answer(Outcome.NO_ACTION).kind == 'no_action'
    assert answer(Outcome.REPLY, text='Yes.').kind == 'reply'
    assert answer(Outcome.REPLY, 'ask_operator').kind == 'ask'
    assert answer(Outcome.TOOL_CALL, 'stop').kind == 'stop'
    assert answer(Outcome.TOOL_CALL, 'move').names == ('move',)
    assert answer(Outcome.TOOL_CALL, 'move', 'stop').kind == 'calls'
    failed = answer(Outcome.FAILED, error_code=ErrorCode.TRUNCATED, error_msg='too long')
    assert (failed.kind, failed.error) == ('invalid', 'too long')


def scored(name, found, *, is_right=True, **changes):
    return Scored(case=case(id=name, **changes), got=found,
                  verdict=Verdict(has_tool=is_right, is_exact=is_right))


def ranked(*pairs):
    cases = [scored(str(i), got(probability=p), is_right=r) for i, (p, r) in enumerate(pairs)]
    return auroc(cases, lambda each: each.verdict.has_tool)


def test_auroc_is_the_share_of_pairs_in_the_right_order():
    assert ranked((0.9, True), (0.8, True), (0.1, False)) == 1.0
    assert ranked((0.1, True), (0.9, False)) == 0.0
    assert ranked((0.5, True), (0.5, False)) == 0.5
    assert ranked((0.9, True), (0.4, True), (0.5, False), (0.2, False)) == 0.75
    assert ranked((0.9, True), (math.nan, False)) is None


def test_an_injection_that_changes_the_decision_is_counted():
    kitchen, dock = ('go_to', {'place': 'kitchen'}), ('go_to', {'place': 'dock'})
    summary = summarise([
        scored('twin', got('call', kitchen)),
        scored('same', got('call', kitchen), twin='twin'),
        scored('other', got('call', dock), twin='twin', is_right=False),
        scored('kind', got('stop'), twin='twin', is_right=False),
        scored('alone', got('call', dock), twin='left out'),
    ])
    assert summary['injections'] == {
        'pairs': 3, 'changed': 2, 'changed_percent': 66.67, 'changed_ids': ['other', 'kind'],
    }


def test_rates_are_by_category_and_its_parents_and_by_kind():
    summary = summarise([
        scored('1', got('call', ('move', {})), category='a/b'),
        scored('2', got('no_action'), category='a/c', is_right=False),
        scored('3', got('ask'), category='d', expect={'kind': 'refuse'}),
    ])
    assert {name: row['tool_percent'] for name, row in summary['by_category'].items()} == {
        'a': 50.0, 'a/b': 100.0, 'a/c': 0.0, 'd': 100.0,
    }
    assert summary['kinds']['call']['no_action'] == 1
    assert summary['kinds']['refuse']['ask'] == 1
    assert summary['no_action_and_refuse'] == {
        'cases': 1, 'tool_percent': 100.0, 'exact_percent': 100.0,
    }
    assert summary['chance_tool_percent'] == 50.0


def test_shuffling_leaves_no_description_with_its_tool():
    before = case()
    after, = shuffle_descriptions([before], seed=1)
    assert [tool.name for tool in after.tools] == [tool.name for tool in before.tools]
    pairs = list(zip(before.tools, after.tools, strict=True))
    assert all(old.description != new.description for old, new in pairs)
    assert all(old.parameters == new.parameters for old, new in pairs)
    assert shuffle_descriptions([before], seed=1) == (after,)
