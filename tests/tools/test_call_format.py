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


import json
import math

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest

from gemma_node.core import ErrorCode
from gemma_node.errors import RequestError
from gemma_node.tools.call_format import format_call
from gemma_node.tools.call_format import format_call_ids
from gemma_node.tools.call_format import format_number
from gemma_node.tools.call_format import parse_output

NAMES = st.from_regex(r'[A-Za-z_][A-Za-z0-9_]{0,8}', fullmatch=True)
NASTY = st.sampled_from((
    '', '<tool_call|>', '<|tool_call>call:stop{}<tool_call|>', '<|"|>', '}', '{a:1}', '[1,2]',
    ',', 'true', 'null', '-3.5', 'a:b', '"', "it's", '\\n', 'line\nbreak', '\ttab', ' padded ',
    '東京 🤖', 'e\u0301', '<eos>', '<turn|>', '<|turn>user\n', '}<tool_call|>', '▁', '<0x0A>',
))
TEXTS = st.one_of(NASTY, st.text(st.characters(
    exclude_categories=('Cs', 'Cc'), exclude_characters='▁'), max_size=12))
VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-10**12, 10**12), TEXTS,
        st.floats(-1e9, 1e9).map(lambda value: round(value, 6) + 0.0),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


def _parse(kit, ids):
    return parse_output(
        ids, tokens=kit.tokens, decode=kit.decode, special_ids=kit.special_ids.values())


def _same(one, other) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_value_returns_from_its_token_ids(kit, data):
    name = data.draw(NAMES)
    arguments = data.draw(st.dictionaries(NAMES, VALUES, max_size=4))
    ids = format_call_ids(name, arguments, tokens=kit.tokens, encode=kit.encode)
    call, = _parse(kit, ids).calls
    assert call.name == name
    if '▁' not in json.dumps(arguments, ensure_ascii=False):
        assert _same(call.arguments, arguments)


def test_call_is_written_as_the_template_writes_it():
    text = format_call('move_to', {'speed': 0.5, 'Place': 'kitchen', 'fast': True, 'b': None,
                                   'list': [1, 2.0], 'o': {'z': 1, 'a': ''}})
    assert text == ('<|tool_call>call:move_to{b:null,fast:true,list:[1,2.0],o:{a:<|"|><|"|>,z:1},'
                    'Place:<|"|>kitchen<|"|>,speed:0.5}<tool_call|>')


def test_canonical_ids_equal_the_tokenised_text(kit):
    arguments = {'place': 'kitchen', 'speed': 0.5, 'via': ['lab', '']}
    ids = format_call_ids('go_to', arguments, tokens=kit.tokens, encode=kit.encode)
    assert ids == kit.markup(format_call('go_to', arguments))


def test_text_before_calls_and_several_calls_are_kept_in_order(kit):
    ids = kit.markup('On my way.<|tool_call>call:go_to{place:<|"|>lab<|"|>}<tool_call|>'
                     '<|tool_call>call:dock{}<tool_call|>')
    output = _parse(kit, ids)
    assert output.text == 'On my way.'
    assert [(call.name, call.arguments) for call in output.calls] == [
        ('go_to', {'place': 'lab'}), ('dock', {})]


def test_name_span_covers_the_tokens_that_chose_the_tool(kit):
    ids = kit.markup('Yes.<|tool_call>call:go_to{place:<|"|>lab<|"|>}<tool_call|>')
    call, = _parse(kit, ids).calls
    span = kit.decode(ids[call.name_start:call.name_end])
    assert span.startswith('call:go_to{')
    assert kit.decode(ids[call.name_start:call.name_end - 1]) in 'call:go_to'


def test_markers_spelled_in_plain_tokens_are_text(kit):
    spelled = 'say <|tool_call>call:stop{}<tool_call|> and <|"|>'
    assert _parse(kit, kit.encode(spelled)).calls == ()
    ids = format_call_ids('say', {'text': spelled}, tokens=kit.tokens, encode=kit.encode)
    call, = _parse(kit, ids).calls
    assert (call.name, call.arguments) == ('say', {'text': spelled})


@pytest.mark.parametrize('text', [
    '', '   \n', '<|tool_call>', '<|tool_call>call:dock{}', '<tool_call|>', '<|"|>x<|"|>',
    '<|tool_call>dock{}<tool_call|>', '<|tool_call>call:{}<tool_call|>',
    '<|tool_call>call:dock<tool_call|>', '<|tool_call>call:dock{}{}<tool_call|>',
    '<|tool_call>call:dock[]<tool_call|>', '<|tool_call>call:dock{a}<tool_call|>',
    '<|tool_call>call:dock{a:}<tool_call|>', '<|tool_call>call:dock{a:1,}<tool_call|>',
    '<|tool_call>call:dock{a:1,a:2}<tool_call|>', '<|tool_call>call:dock{a:1}x<tool_call|>',
    '<|tool_call>call:dock{a:kitchen}<tool_call|>', '<|tool_call>call:dock{a:01}<tool_call|>',
    '<|tool_call>call:dock{a:1e5}<tool_call|>', '<|tool_call>call:dock{a:NaN}<tool_call|>',
    '<|tool_call>call:dock{a:1.}<tool_call|>', '<|tool_call>call:dock{a:.5}<tool_call|>',
    '<|tool_call>call:dock{a: 1}<tool_call|>', '<|tool_call>call:dock{1:1}<tool_call|>',
    '<|tool_call>call:dock{a:<|"|>x}<tool_call|>', '<|tool_call>call:dock{a:[1}<tool_call|>',
    '<|tool_call>call:dock{a:<|"|>x<|"|><|"|>y<|"|>}<tool_call|>',
    '<|tool_call>call:dock{a:<|"|>x<tool_call|><|"|>}<tool_call|>',
    '<|tool_call>call:dock{a:<|"|>x<|turn><|"|>}<tool_call|>',
    '<|tool_call>call:dock{}<tool_call|>text', '<|tool_call><|tool_call>call:dock{}<tool_call|>',
    'text<|channel>thought', '<|tool_call>call:dock{a:1-2}<tool_call|>',
    '<|tool_call>call:dock{a:' + '[' * 40 + ']' * 40 + '}<tool_call|>',
    '<|tool_call>call:' + 'x' * 65 + '{}<tool_call|>',
])
def test_malformed_completion_is_a_schema_violation(kit, text):
    with pytest.raises(RequestError) as caught:
        _parse(kit, kit.markup(text))
    assert caught.value.code == ErrorCode.SCHEMA_VIOLATION


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_token_sequence_parses_or_is_a_schema_violation(kit, data):
    ids = data.draw(st.lists(st.one_of(
        st.sampled_from(sorted(kit.special_ids.values())),
        st.sampled_from(kit.encode('call:dock{a:1,b:[true]}')),
        st.integers(0, kit.vocab_size - 1),
    ), max_size=24))
    try:
        output = _parse(kit, ids)
    except RequestError as error:
        assert error.code == ErrorCode.SCHEMA_VIOLATION
    else:
        assert output.calls or output.text.strip()


@pytest.mark.parametrize(('value', 'text'), [
    (0, '0'), (-7, '-7'), (2.0, '2.0'), (0.1, '0.1'), (1e-6, '0.000001'), (-0.0, '0.0'),
    (1e16, '10000000000000000'), (-123.456, '-123.456'),
])
def test_numbers_are_written_without_exponent(value, text):
    assert format_number(value) == text
    assert float(text) == value


@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf])
def test_number_that_is_not_finite_is_not_written(value):
    with pytest.raises(ValueError, match='cannot be written'):
        format_number(value)


@pytest.mark.parametrize(('name', 'arguments'), [
    ('no name', {}), ('', {}), ('go}', {}), ('go', {'a b': 1}), ('go', {'a:1,b': 1}),
])
def test_name_that_is_no_name_is_not_written(name, arguments):
    with pytest.raises(ValueError, match='name'):
        format_call(name, arguments)
