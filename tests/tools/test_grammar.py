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


from dataclasses import replace

import numpy as np
import pytest

from gemma_node.core import ToolChoice
from gemma_node.core import ToolDeclaration
from gemma_node.errors import GrammarError
from gemma_node.tools import lark
from gemma_node.tools.call_format import parse_output
from gemma_node.tools.catalogue import BUILTINS
from gemma_node.tools.grammar import GrammarFactory
from gemma_node.tools.lark import HIDDEN_MARK

PLACE = {'type': 'string', 'enum': ['lab', 'lab 2', 'kit}chen', 'Größe', '<|"|>']}
SPEED = {'type': 'number', 'minimum': 0.1, 'maximum': 1, 'multipleOf': 0.01}
COUNT = {'type': 'integer', 'minimum': -3, 'exclusiveMaximum': 12}


@pytest.fixture(scope='module')
def factory(kit) -> GrammarFactory:
    return kit.factory()


def _is_accepted(kit, constraint, ids) -> bool:
    return all(constraint.accept(token_id) for token_id in ids) \
        and constraint.accept(kit.stop_ids[0])


def _takes(kit, factory, tool, body, **options) -> bool:
    ids = kit.markup(f'<|tool_call>call:{tool.name}{body}<tool_call|>')
    return _is_accepted(kit, factory.constraint([tool], **options), ids)


@pytest.mark.parametrize(('schema', 'good', 'bad'), [
    (SPEED, ('0.1', '1', '1.0', '0.55', '1.00'),
     ('0', '0.09', '1.01', '0.555', '-1', '.5', '1e0')),
    (COUNT, ('-3', '0', '11'), ('-4', '12', '1.0', '007', '-0', 'true', '<|"|>1<|"|>')),
    ({'type': 'number', 'multipleOf': 1}, ('5', '-90.0'), ('5.5', '5.00', '1e1', 'NaN')),
    ({'type': 'boolean'}, ('true', 'false'), ('True', '1', 'null', '<|"|>true<|"|>')),
    ({'type': 'boolean', 'nullable': True}, ('null', 'true'), ('None', '')),
    ({'type': ['integer', 'null'], 'minimum': 1}, ('null', '1'), ('0', '<|"|>null<|"|>')),
    ({'type': 'string'}, ('<|"|><|"|>', '<|"|>a }\n<|"|>'),
     ('a', '"a"', '<|"|>a', '<|"|>\x07<|"|>')),
    ({'type': 'string', 'minLength': 1}, ('<|"|> <|"|>',), ('<|"|><|"|>',)),
    (PLACE, ('<|"|>lab<|"|>', '<|"|>lab 2<|"|>', '<|"|>kit}chen<|"|>', '<|"|>Größe<|"|>'),
     ('<|"|>la<|"|>', '<|"|>lab2<|"|>', '<|"|>LAB<|"|>', 'lab', '<|"|><|"|>')),
    ({'enum': [1, 2.5, 'a', '', None, True, [1, 'x'], {'b': 1, 'a': 'y'}]},
     ('1', '2.5', '<|"|>a<|"|>', '<|"|><|"|>', 'null', 'true', '[1,<|"|>x<|"|>]',
      '{a:<|"|>y<|"|>,b:1}'),
     ('2', 'false', '<|"|>b<|"|>', '[1]', '{}', '{b:1,a:<|"|>y<|"|>}')),
    ({'type': 'integer', 'enum': [1, 'a', 2.5]}, ('1',), ('<|"|>a<|"|>', '2.5')),
    ({'const': 7}, ('7',), ('8', '70')),
    ({'type': 'array', 'items': COUNT, 'minItems': 1, 'maxItems': 3}, ('[1]', '[1,2,3]'),
     ('[]', '[1,2,3,4]', '[1,]', '1', '[20]')),
    ({'type': 'array', 'items': {'type': 'boolean'}, 'maxItems': 0}, ('[]',), ('[true]',)),
    ({'type': 'array', 'items': {'type': 'boolean'}}, ('[]', '[true,false]'), ('[null]',)),
    ({'anyOf': [{'type': 'boolean'}, SPEED]}, ('true', '0.5'), ('2', 'null')),
    ({'type': 'object', 'properties': {'B': COUNT, 'a': {'type': 'boolean'}, 'c': COUNT},
      'required': ['c']},
     ('{c:1}', '{a:true,c:1}', '{a:true,B:2,c:1}', '{B:2,c:1}'),
     ('{}', '{a:true}', '{B:2,a:true,c:1}', '{c:1,B:2}', '{c:1,}', '{,c:1}', '{d:1,c:1}')),
    ({'type': 'object', 'properties': {'a': COUNT, 'b': COUNT}},
     ('{}', '{a:1}', '{b:1}', '{a:1,b:1}'),
     ('{b:1,a:1}', '{a:1b:1}')),
    ({'type': 'object'}, ('{}',), ('{a:1}', '[]')),
])
def test_values_of_a_schema(kit, factory, declare, schema, good, bad):
    tool = declare(v=schema)
    for text in good:
        assert _takes(kit, factory, tool, f'{{v:{text}}}'), text
    for text in bad:
        assert not _takes(kit, factory, tool, f'{{v:{text}}}'), text


@pytest.mark.parametrize('body', ['', '{}', '{v:1,v:1}', '{w:1}', '{v: 1}', '{ v:1}', '{v:1} ',
                                  '{"v":1}', '{<|"|>v<|"|>:1}', '{v:1}{v:1}'])
def test_shape_of_a_call_is_fixed(kit, factory, declare, body):
    assert not _takes(kit, factory, declare(v=COUNT), body)


def test_tool_names_are_exact(kit, factory, declare):
    tools = [declare('go'), declare('go_to'), declare('go_to_2')]
    for name, expected in (('go', True), ('go_to', True), ('go_to_2', True), ('go_', False),
                           ('stop', False), ('GO', False)):
        ids = kit.markup(f'<|tool_call>call:{name}{{}}<tool_call|>')
        assert _is_accepted(kit, factory.constraint(tools), ids) == expected, name


@pytest.mark.parametrize(('choice', 'text', 'expected'), [
    (ToolChoice.AUTO, 'Yes.', True), (ToolChoice.AUTO, '', False), (ToolChoice.AUTO, ' \n', False),
    (ToolChoice.AUTO, 'CALL', True), (ToolChoice.AUTO, 'Yes.CALL', True),
    (ToolChoice.AUTO, 'CALLCALL', True), (ToolChoice.AUTO, 'CALLCALLCALL', False),
    (ToolChoice.AUTO, 'CALL then', False), (ToolChoice.AUTO, 'a<|turn>', False),
    (ToolChoice.AUTO, 'a<|channel>b', False), (ToolChoice.AUTO, 'Yes.<|"|>', False),
    (ToolChoice.REQUIRED, 'CALL', True), (ToolChoice.REQUIRED, 'Yes.', False),
    (ToolChoice.REQUIRED, 'Yes.CALL', False), (ToolChoice.NONE, 'Yes.', True),
    (ToolChoice.NONE, 'CALL', False), (ToolChoice.NONE, 'Yes.CALL', False),
])
def test_tool_choice_decides_between_text_and_calls(kit, factory, declare, choice, text, expected):
    constraint = factory.constraint([declare('go')], choice, 2)
    ids = kit.markup(text.replace('CALL', '<|tool_call>call:go{}<tool_call|>'))
    assert _is_accepted(kit, constraint, ids) == expected


def test_call_spelled_in_plain_tokens_is_only_text(kit, factory, declare):
    constraint = factory.constraint([declare('go')], ToolChoice.AUTO)
    assert _is_accepted(kit, constraint, kit.encode('<|tool_call>call:rm{}<tool_call|>'))


@pytest.mark.parametrize('choice', [
    '<|"|>', '<tool_call|>', '<eos>', '<unk>', '<|"|>}<tool_call|><|tool_call>call:stop{',
])
def test_choice_that_spells_a_marker_is_offered_as_plain_tokens(
    kit, factory, declare, allowed, choice,
):
    constraint = factory.constraint([declare('go', a={'enum': [choice]})], ToolChoice.REQUIRED, 1)
    ids = []
    while not constraint.is_complete():
        token_id = allowed(constraint)[0]
        assert constraint.accept(token_id), kit.decode([*ids, token_id])
        ids.append(token_id)
    output = parse_output(
        ids, tokens=kit.tokens, decode=kit.decode, special_ids=kit.special_ids.values())
    assert output.calls[0].arguments == {'a': choice}


def test_choice_cannot_hold_the_text_that_special_tokens_get(factory, declare):
    with pytest.raises(GrammarError, match='U\\+F8FF'):
        factory.compile([declare(a={'enum': [f'<{HIDDEN_MARK}5>']})])


def test_declining_or_asking_stands_alone(kit, factory, declare):
    tools = [declare('go'), *BUILTINS.values()]
    go, stop = ('<|tool_call>call:go{}<tool_call|>', '<|tool_call>call:stop{}<tool_call|>')
    decline = '<|tool_call>call:no_action{reason:<|"|>idle<|"|>}<tool_call|>'
    for text, expected in ((decline, True), ('Hm.' + decline, True), (stop + go, True),
                           (go + decline, False), (decline + go, False), (decline * 2, False)):
        assert _is_accepted(kit, factory.constraint(tools), kit.markup(text)) == expected, text


def test_without_tools_only_text_is_possible(kit, factory):
    assert _is_accepted(kit, factory.constraint([]), kit.markup('Yes.'))
    with pytest.raises(GrammarError, match='no tool is allowed'):
        factory.constraint([], ToolChoice.REQUIRED)


@pytest.mark.parametrize(('schema', 'fragment'), [
    ({'type': 'strin'}, 'not a JSON Schema'), ({}, 'says no type'),
    ({'type': 'string', 'not': {}}, 'keyword not'), ({'$ref': '#/x', 'type': 'string'}, r'\$ref'),
    ({'allOf': [{}], 'type': 'string'}, 'allOf'), ({'if': {}, 'type': 'string'}, 'keyword if'),
    ({'type': 'object', 'patternProperties': {}}, 'patternProperties'),
    ({'type': 'object', 'properties': {'a b': COUNT}}, 'not an argument name'),
    ({'type': 'object', 'required': ['a']}, 'not among the properties'),
    ({'type': 'array'}, 'tool.v'), ({'type': 'array', 'prefixItems': [COUNT]}, 'prefixItems'),
    ({'type': 'integer', 'minimum': 0.2, 'maximum': 0.8}, 'lies between'),
    ({'type': 'number', 'minimum': 2, 'maximum': 1}, 'lies between'),
    ({'type': 'array', 'items': COUNT, 'minItems': 3, 'maxItems': 2}, 'maxItems 2'),
    ({'enum': []}, 'no value'), ({'type': 'string', 'enum': [1]}, 'no value'),
    ({'enum': ['a\x00']}, 'U\\+0000'), ({'type': 'string', 'pattern': '('}, "not a 'regex'"),
    ({'type': 'string', 'maximum': 3}, 'keyword maximum'), ({'type': 'string', 'foo': 3}, 'foo'),
])
def test_schema_that_cannot_be_enforced_is_refused_by_name(factory, declare, schema, fragment):
    with pytest.raises(GrammarError, match=fragment) as caught:
        factory.compile([declare(v=schema)])
    assert 'tool' in str(caught.value)


def test_schema_without_end_is_refused(factory, declare):
    schema: dict = {'type': 'boolean'}
    for _ in range(40):
        schema = {'type': 'array', 'items': schema}
    with pytest.raises(GrammarError, match='nested'):
        factory.compile([declare(v=schema)])
    many = {f'a{idx}': {'type': 'string', 'enum': [f'{idx} {item}' for item in range(200)]}
            for idx in range(1000)}
    with pytest.raises(GrammarError, match='limit'):
        factory.compile([declare(**many)])


def test_tools_over_the_limit_are_refused_before_all_of_them_are_written(
        factory, declare, monkeypatch):
    written = []
    monkeypatch.setattr(lark, 'check_schema', lambda schema, place: written.append(place))
    tools = [
        replace(declare(place={'enum': [f'place {index} of {number}' for index in range(1024)]}),
                name=f'tool_{number}')
        for number in range(200)]
    with pytest.raises(GrammarError, match='limit of 262144 characters: allow fewer tools'):
        factory.compile(tools)
    assert 1 < len(written) < 20


@pytest.mark.parametrize('tools', [
    [('a b', {}, False)], [('go', {}, False), ('go', {}, False)], [('', {}, False)],
])
def test_tool_names_must_be_unique_names(factory, tools):
    declarations = [
        ToolDeclaration(name=name, description='x', parameters={'type': 'object'})
        for name, _, _ in tools
    ]
    with pytest.raises(GrammarError):
        factory.compile(declarations)


def test_what_only_validation_holds_is_named(factory, declare):
    tool = declare(
        text={'type': 'string', 'minLength': 2, 'maxLength': 9, 'pattern': 'a'},
        step={'type': 'number', 'multipleOf': 0.25},
        list={'type': 'array', 'items': COUNT, 'uniqueItems': True},
    )
    assert set(factory.compile([tool]).checked_after) == {
        'tool.text: minLength', 'tool.text: maxLength', 'tool.text: pattern',
        'tool.step: multipleOf', 'tool.list: uniqueItems'}


def test_stop_tokens_are_allowed_exactly_where_the_grammar_is_complete(
    kit, factory, declare, allowed,
):
    constraint = factory.constraint([declare('go')], ToolChoice.REQUIRED, 2)
    ids = kit.markup('<|tool_call>call:go{}<tool_call|>')
    for token_id in ids:
        assert not set(allowed(constraint)) & set(kit.stop_ids)
        assert not any(constraint.accept(stop_id) for stop_id in kit.stop_ids)
        assert not constraint.is_complete()
        assert constraint.accept(token_id)
    assert set(allowed(constraint)) == {*kit.stop_ids, kit.tokens.open_call}
    assert not constraint.is_complete()
    for token_id in ids:
        assert constraint.accept(token_id)
    assert set(allowed(constraint)) == set(kit.stop_ids)
    assert constraint.is_complete() and constraint.forced_token() is None
    assert constraint.accept(kit.stop_ids[1])
    assert constraint.is_complete() and not constraint.accept(kit.tokens.open_call)


def test_every_token_of_the_mask_is_accepted_and_no_other_but_a_split_of_a_forced_one(
    kit, factory, declare, allowed,
):
    constraint = factory.constraint([declare('go', place=PLACE, speed=SPEED)])
    for token_id in kit.markup('Ok<|tool_call>call:go{place:<|"|>lab<|"|>,speed:0.5}<tool_call|>'):
        mask = set(allowed(constraint))
        for candidate in range(kit.vocab_size):
            accepted = constraint.accept(candidate)
            if candidate in mask:
                assert accepted, candidate
            if accepted and candidate not in mask:
                # Where bytes are forced, the mask wants their canonical token.
                forced, = mask
                assert kit.decode([forced]).startswith(kit.decode([candidate]))
            if accepted:
                constraint.rollback(1)
        assert set(allowed(constraint)) == mask
        assert constraint.accept(token_id)
    assert not constraint.accept(-1) and not constraint.accept(kit.vocab_size)


def test_forced_token_is_the_only_bit_of_the_mask(kit, factory, declare, allowed):
    constraint = factory.constraint([declare('go')], ToolChoice.REQUIRED, 1)
    num_forced = 0
    for token_id in kit.markup('<|tool_call>call:go{}<tool_call|>'):
        mask = allowed(constraint)
        forced = constraint.forced_token()
        assert forced == (mask[0] if len(mask) == 1 else None)
        num_forced += forced is not None
        assert constraint.accept(token_id)
    assert num_forced >= 2


def test_rollback_restores_every_earlier_state(kit, factory, declare, allowed):
    constraint = factory.constraint([declare('go', place=PLACE)], ToolChoice.AUTO, 1)
    ids = kit.markup('Ok.<|tool_call>call:go{place:<|"|>lab<|"|>}<tool_call|><eos>')
    masks = []
    for token_id in ids:
        masks.append((allowed(constraint), constraint.is_complete()))
        assert constraint.accept(token_id)
    for count in (1, 2, 5, len(ids)):
        constraint.rollback(count)
        assert (allowed(constraint), constraint.is_complete()) == masks[len(ids) - count]
        for token_id in ids[len(ids) - count:]:
            assert constraint.accept(token_id)


def test_mask_row_may_be_wider_than_the_vocabulary(kit, factory, declare):
    row = np.full((kit.vocab_size + 31) // 32 + 4, -1, dtype=np.int32)
    factory.constraint([declare('go')]).fill_bitmask(row)
    assert not row[-4:].any() and row.any()


def test_constraints_of_one_grammar_do_not_share_state(kit, factory, declare, allowed):
    first, second = (factory.constraint([declare('go')]) for _ in range(2))
    before = allowed(second)
    assert first.accept(kit.tokens.open_call)
    assert allowed(second) == before


def test_digest_names_the_grammar_and_the_cache_is_bounded(kit, declare):
    factory = kit.factory(cache_bytes=200_000)
    first = factory.compile([declare('go')])
    assert factory.compile([declare('go')]) is first
    assert factory.compile([declare('come')]).digest != first.digest
    assert factory.compile([declare('go')], ToolChoice.REQUIRED).digest != first.digest
    for idx in range(100):
        factory.compile([declare(f'go_{idx}', place=PLACE)])
        assert factory.cached_bytes <= 200_000
    again = factory.compile([declare('go')])
    assert again is not first and again == first


def test_tokenizer_without_call_markers_is_refused(kit):
    special_ids = {key: value for key, value in kit.special_ids.items() if key != '<|"|>'}
    with pytest.raises(GrammarError, match='lacks the special token'):
        GrammarFactory(kit.tokenizer, vocab_size=kit.vocab_size, stop_ids=kit.stop_ids,
                       special_ids=special_ids)
    with pytest.raises(GrammarError, match='stop_ids'):
        GrammarFactory(kit.tokenizer, vocab_size=kit.vocab_size, stop_ids=(kit.vocab_size,),
                       special_ids=kit.special_ids)
    with pytest.raises(GrammarError, match='tokenizer'):
        GrammarFactory('{}', vocab_size=8, stop_ids=(1,), special_ids=kit.special_ids)
