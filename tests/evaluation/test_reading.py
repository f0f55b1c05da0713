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


"""A set is read whole or refused with its line, its field and what belongs there."""

import json

import pytest

from gemma_node.errors import ConfigError
from gemma_node.evaluation.cases import rounds
from gemma_node.evaluation.reading import read_cases
from tests.fixtures.eval_cases import case
from tests.fixtures.eval_cases import valid
from tests.fixtures.eval_cases import write_set

GO = {'name': 'go_to', 'arguments': {'place': 'kitchen'}}
TOOL = {'name': 'wave', 'description': 'Wave.', 'parameters': {}}
USER = {'role': 'user', 'text': 'Go on.'}


def turns(*roles_and_texts):
    return [{'role': role, 'text': text} for role, text in roles_and_texts]


def expect(kind, *calls):
    return {'kind': kind, 'calls': list(calls)}


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'id': ''}, 'id: expected a text'),
        ({'id': 7}, 'id: Expected `str`'),
        ({'colour': 'red'}, 'unknown field `colour`'),
        ({'expect': {}}, 'expect: Object missing required field `kind`'),
        ({'expect': {'kind': 'dance'}}, 'expect.kind: Invalid enum value'),
        ({'turns': []}, 'turns: expected at least one'),
        ({'turns': turns(('assistant', 'Hello.'))}, r'turns\[0\].role: expected user here'),
        ({'turns': turns(('user', 'Hi.'), ('assistant', 'Hi.'))}, 'the last turn must be user'),
        ({'turns': turns(('user', ' '))}, r'turns\[0\].text: expected a text'),
        ({'turns': [USER, {'role': 'tool', 'name': 'fly', 'text': 'done'}, USER]},
         r"turns\[1\].name: 'fly' is none of go_to, move"),
        ({'turns': [USER, {'role': 'tool', 'name': 'go_to', 'text': 'done'}, USER]},
         r'turns\[1\].arguments: go_to would refuse them'),
        ({'tools': [TOOL, TOOL]}, r'tools\[0\].name: two tools are called wave'),
        ({'tools': [{**TOOL, 'name': 'stop'}]}, 'is a builtin'),
        ({'tools': [{**TOOL, 'name': 'a b'}]}, r"tools\[0\].name: .*found 'a b'"),
        ({'tools': [{**TOOL, 'description': ''}]}, r'tools\[0\].description'),
        ({'tools': [{**TOOL, 'parameters': {'properties': {'x': {'type': 'float'}}}}]},
         r'tools\[0\].parameters: .*wave'),
        ({'expect': expect('call')}, 'expect.calls: kind call needs one, found 0'),
        ({'expect': expect('calls', GO)}, 'kind calls needs 2 to 4, found 1'),
        ({'expect': expect('no_action', GO)}, 'kind no_action has none, found 1'),
        ({'expect': expect('refuse'), 'builtins': []}, 'refuse needs the builtin ask_operator'),
        ({'expect': expect('call', {'name': 'go_to', 'arguments': {'place': 'moon'}})},
         r"expect.calls\[0\].arguments: .*'moon' is not one of"),
        ({'expect': expect('call', {'name': 'stop'})}, 'stop has a kind of its own'),
        ({'expect': expect('call', {**GO, 'tolerance': {'place': 1}})},
         r"expect.calls\[0\].tolerance: 'place' names no number"),
        ({'expect': expect('reply')}, 'accept: a reply needs the texts'),
        ({'accept': ['kitchen']}, r'accept\[0\]: texts are for replies'),
        ({'accept': [expect('call', {'name': 'fly'})]}, r'accept\[0\].calls\[0\].name'),
        ({'twin': 'one'}, 'twin: expected the id of another case'),
        ({'twin': 'two'}, "twin: no case has the id 'two'"),
        ({'observations': [{'topic': 'a', 'type': 'b'}]}, r'observations\[0\].text'),
        ({'observations': [{'topic': 'a', 'type': 'b', 'text': 'c', 'age_s': -1}]},
         r'observations\[0\].age_s: expected seconds of 0 or more'),
        ({'observations': [{'topic': 'a', 'type': 'b', 'state': 'invalid', 'text': 'bad'}]},
         'an invalid input says why: nan'),
    ],
)
def test_a_mistake_is_one_sentence_with_line_and_field(tmp_path, changes, words):
    path = write_set(tmp_path / 'set.jsonl', valid(id='zero'), valid(**changes))
    with pytest.raises(ConfigError, match=words) as error:
        read_cases(path)
    assert f'{path} line 2' in str(error.value)


def test_what_is_no_json_is_named_by_line(tmp_path):
    path = tmp_path / 'set.jsonl'
    path.write_text(json.dumps(valid()) + '\n{"id": "two",\n')
    with pytest.raises(ConfigError, match='line 2: expected one JSON object'):
        read_cases(path)
    path.write_text('\n\n')
    with pytest.raises(ConfigError, match='holds no case'):
        read_cases(path)
    with pytest.raises(ConfigError, match='there is no test set'):
        read_cases(tmp_path / 'absent.jsonl')


def test_two_cases_of_one_id_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"line 2, id: 'one' is the id of an earlier case"):
        read_cases(write_set(tmp_path / 'set.jsonl', valid(), valid()))


def test_a_set_keeps_its_order_and_schemas_get_what_a_catalogue_writes(tmp_path):
    path = write_set(tmp_path / 'set.jsonl', valid(id='b'), valid(id='a', twin='b'))
    found = read_cases(path)
    assert [each.id for each in found] == ['b', 'a']
    move = found[0].declarations[1].parameters
    assert move['additionalProperties'] is False and move['required'] == ['x']
    assert [tool.name for tool in found[0].declarations[2:]] == [
        'no_action', 'stop', 'ask_operator'
    ]


def test_turns_become_rounds_as_the_node_asks_them():
    done = {'role': 'tool', 'name': 'go_to', 'arguments': {'place': 'dock'}, 'text': 'done'}
    found = rounds(case(turns=[
        USER, done, done, {'role': 'user', 'text': ''}, {'role': 'assistant', 'text': 'Fine.'},
        USER, done, {'role': 'assistant', 'text': 'There.'}, USER,
    ]).turns)
    assert [(len(r.results), r.text, r.reply, len(r.calls)) for r in found] == [
        (0, 'Go on.', '', 2), (2, '', 'Fine.', 0), (0, 'Go on.', '', 1), (1, '', 'There.', 0),
        (0, 'Go on.', '', 0),
    ]
