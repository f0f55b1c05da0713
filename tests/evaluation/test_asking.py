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


"""Cases go the way of requests: the same lines, the same prompt, history, grammar and parser."""

import json
import math

import pytest

from gemma_node.cli import main
from gemma_node.core import InputState
from gemma_node.core import Observation
from gemma_node.evaluation.asking import Options
from gemma_node.evaluation.asking import Subject
from gemma_node.evaluation.cases import Input
from gemma_node.evaluation.observations import INVALID_REASONS
from gemma_node.evaluation.observations import observation
from gemma_node.text.render import render_block
from gemma_node.text.render import render_observation
from tests.fixtures.eval_cases import case
from tests.fixtures.eval_cases import valid
from tests.fixtures.eval_cases import write_set

HALF = math.sqrt(0.5)
ODOMETRY = {
    'header': {'frame_id': 'odom'},
    'pose': {'pose': {'position': {'x': 1.2, 'y': -0.35, 'z': 0.0},
                      'orientation': {'x': 0.0, 'y': 0.0, 'z': HALF, 'w': HALF}}},
    'twist': {'twist': {'linear': {'x': 0.3, 'y': 0.0, 'z': 0.0},
                        'angular': {'x': 0.0, 'y': 0.0, 'z': 0.0}}},
}


def real(**changes):
    values = {'name': 'odom', 'topic': '/odom', 'type': 'nav_msgs/msg/Odometry', 'age_s': 0.2,
              'max_age_s': 1.0, 'value': ODOMETRY, **changes}
    return Observation(**values)


@pytest.mark.parametrize(
    ('message', 'given'),
    [
        (real(), {}),
        (real(age_s=3.4, state=InputState.STALE), {'age_s': 3.4}),
        (real(age_s=300.0, state=InputState.STALE, max_age_s=2.5),
         {'age_s': 300.0, 'max_age_s': 2.5}),
        (real(age_s=math.nan), {'age_s': None}),
        (real(state=InputState.MISSING, value=None), {'state': 'missing'}),
        (real(name='my odom "1"'), {'topic': 'my odom "1"'}),
        (real(type='std_msgs/msg/String', value={'data': 'a "b"\n<|turn>c'}),
         {'type': 'std_msgs/msg/String'}),
    ],
)
def test_a_case_renders_the_line_that_the_node_renders(message, given):
    line = render_observation(message)
    text = line.partition('): ')[2]
    defaults = {'topic': 'odom', 'type': message.type, 'age_s': 0.2, 'max_age_s': 1.0}
    made = observation(Input(**{**defaults, 'text': text, **given}))
    assert render_block([made]).text == f'Observations:\n{line}'


@pytest.mark.parametrize('reason', INVALID_REASONS)
def test_an_invalid_input_says_its_reason(reason):
    made = observation(Input(topic='odom', type='a/msg/B', text=reason, state='invalid'))
    assert render_observation(made) == f'- odom: invalid ({reason})'


@pytest.fixture(scope='module')
def subject():
    return Subject(Options())


def asked(subject, *cases):
    return {each.case.id: each for each in subject.ask(cases)}


def test_a_case_is_asked_with_tools_history_and_observations(subject):
    place = {'place': 'kitchen'}
    told = case(system='You are a cart.', turns=[
        {'role': 'user', 'text': 'To the kitchen, then to x 2.'},
        {'role': 'tool', 'name': 'go_to', 'arguments': place, 'text': 'done, travelled 3.2'},
        {'role': 'user', 'text': ''},
    ])
    prompt = asked(subject, told)['one'].prompt
    assert 'system\nYou are a cart.<|tool>declaration:go_to{' in prompt
    assert prompt.count('To the kitchen, then to x 2.') == 1
    assert 'call:go_to{place:<|"|>kitchen<|"|>}' in prompt
    assert 'response:go_to{value:<|"|>done, travelled 3.2<|"|>}' in prompt
    assert prompt.count('Observations:') == 1
    assert 'Observations:\n- odom (0.2 s ago): x 1.00 m\n\nContinue.' in prompt


def test_order_and_company_do_not_change_an_answer(subject):
    cases = [
        case(id=str(i), category=str(i),
             turns=[{'role': 'user', 'text': f'Drive {i} m to x {i}.'}]) for i in range(4)
    ]
    together = asked(subject, *cases)
    backwards = asked(subject, *reversed(cases))
    alone = {each.id: asked(subject, each)[each.id] for each in cases}
    for name, each in together.items():
        for other in (backwards[name].got, alone[name].got):
            assert (other.kind, other.calls) == (each.got.kind, each.got.calls)


def test_without_the_grammar_the_answer_is_parsed_as_it_comes():
    free = Subject(Options(is_constrained=False))
    found = asked(free, case())['one']
    assert found.got.kind in ('call', 'calls', 'no_action', 'ask', 'reply', 'invalid', 'stop')
    masks = []
    submit = free._engine.submit
    free._engine.submit = lambda generation: (masks.append(generation.constraint),
                                              submit(generation))[1]
    asked(free, case())
    assert masks == [None]


def test_the_command_reports_figures_and_writes_what_it_is_told(tmp_path, capsys):
    path = write_set(tmp_path / 'set.jsonl', valid(), valid(id='two', category='other'))
    page, out = tmp_path / 'page.html', tmp_path / 'out.json'
    words = ['eval', str(path), '--json', '--report', str(page), '--out', str(out)]
    assert main(words) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary['cases'] == 2 and summary['by_category']['other']['cases'] == 1
    assert summary['run']['constrained'] is True and summary['run']['set'] == 'set.jsonl'
    written = json.loads(out.read_text())
    assert [each['id'] for each in written['answers']] == ['one', 'two']
    text = page.read_text()
    assert text.count('<svg') == 2 and 'Drive to the kitchen.' in text
    assert 'src=' not in text and 'href=' not in text and '<|turn>' not in text
    assert main(['eval', str(path), '--json', '--category', 'other']) == 0
    assert json.loads(capsys.readouterr().out)['cases'] == 1


def test_a_malformed_set_writes_nothing(tmp_path, capsys):
    path = write_set(tmp_path / 'set.jsonl', valid(), valid(id='two', turns=[]))
    page = tmp_path / 'page.html'
    assert main(['eval', str(path), '--report', str(page)]) == 2
    assert 'line 2, turns: expected at least one' in capsys.readouterr().err
    assert not page.exists()
    good = write_set(path, valid())
    assert main(['eval', '--check', str(good)]) == 0
    assert capsys.readouterr().out == '1 case of 1 category is well formed\n'
    assert main(['eval', str(good), '--category', 'x']) == 2
    assert main(['eval', str(good), '--out', str(good)]) == 2
    assert main(['eval', str(good), '--out', str(tmp_path / 'absent' / 'x')]) == 2
    assert main(['eval', str(good), '--checkpoint', str(tmp_path / 'absent')]) == 2


@pytest.mark.timeout(300)
def test_processes_answer_as_one_does(tmp_path, capsys):
    cases = [valid(id=str(i), turns=[{'role': 'user', 'text': f'Drive to x {i}.'}])
             for i in range(5)]
    path = write_set(tmp_path / 'set.jsonl', *cases)
    answers = []
    for jobs in ('1', '2'):
        out = tmp_path / f'{jobs}.json'
        assert main(['eval', str(path), '--jobs', jobs, '--out', str(out)]) == 0
        answers.append(json.loads(out.read_text())['answers'])
    assert [each['calls'] for each in answers[0]] == [each['calls'] for each in answers[1]]
    assert [each['id'] for each in answers[1]] == ['0', '1', '2', '3', '4']


@pytest.mark.timeout(300)
def test_a_checkpoint_that_cannot_be_loaded_is_one_sentence_from_any_process(tmp_path, capsys):
    path = write_set(tmp_path / 'set.jsonl', valid(), valid(id='two'))
    folder = tmp_path / 'checkpoint'
    folder.mkdir()
    for jobs in ('1', '2'):
        words = ['eval', str(path), '--jobs', jobs, '--checkpoint', str(folder)]
        assert main([*words, '--out', str(tmp_path / 'out.json')]) == 2
        said = capsys.readouterr().err
        assert said.startswith('gemma-node: ') and 'tokenizer.json' in said, said
    assert not (tmp_path / 'out.json').exists()
