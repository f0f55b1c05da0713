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


import math

from hypothesis import given
from hypothesis import strategies as st
import pytest

from gemma_node.core import CallKind
from gemma_node.core import ErrorCode
from gemma_node.core import ToolDeclaration
from gemma_node.errors import RequestError
from gemma_node.tools.overlay import is_success
from gemma_node.tools.overlay import to_message
from gemma_node.tools.overlay import value_at
from gemma_node.tools.overlay import yaw_to_quaternion
from gemma_node.tools.spec import ArgumentRule
from gemma_node.tools.spec import Condition
from gemma_node.tools.spec import ResultRule
from gemma_node.tools.spec import ToolSpec

NUMBER = {'type': 'number'}
NOW = {'__now__': True}


def _spec(*rules: ArgumentRule, **fields) -> ToolSpec:
    declaration = ToolDeclaration(name='t', description='x', parameters={})
    return ToolSpec(name='t', description='x', kind=CallKind.ACTION, declaration=declaration,
                    arguments=rules, **fields)


def _rule(*path, **fields) -> ArgumentRule:
    return ArgumentRule(path=path, **fields)


@pytest.mark.parametrize(('rules', 'arguments', 'message'), [
    ([], {}, {}),
    ([_rule('a', name='a')], {'a': 'x'}, {'a': 'x'}),
    ([_rule('a', 'b', 'c', name='a')], {'a': 1}, {'a': {'b': {'c': 1}}}),
    ([_rule('a', name='a', is_optional=True)], {}, {}),
    ([_rule('a', name='a', has_default=True, default=3)], {}, {'a': 3}),
    ([_rule('a', name='a', has_default=True, default=3)], {'a': 4}, {'a': 4}),
    ([_rule('a', is_hidden=True)], {}, {}),
    ([_rule('a', has_const=True, const='now')], {}, {'a': NOW}),
    ([_rule('a', has_const=True, const='now', field_type='string')], {}, {'a': 'now'}),
    ([_rule('a', has_const=True, const={'stamp': 'now', 'text': 'now'})], {},
     {'a': {'stamp': NOW, 'text': 'now'}}),
    ([_rule('f', has_const=True, const='{frame_prefix}map')], {}, {'f': 'r1/map'}),
    ([_rule('f', has_const=True, const=['{frame_prefix}a', 1])], {}, {'f': ['r1/a', 1]}),
    ([_rule('a', name='a')], {'a': '{frame_prefix}'}, {'a': '{frame_prefix}'}),
    ([_rule('a', name='a')], {'a': 'now'}, {'a': 'now'}),
    ([_rule('a', name='a', gain=0.001, schema=NUMBER)], {'a': 80}, {'a': 0.08}),
    ([_rule('a', name='a', schema=NUMBER)], {'a': 1}, {'a': 1.0}),
    ([_rule('a', name='a', schema=NUMBER, field_type='int32')], {'a': 1}, {'a': 1}),
    ([_rule('a', name='a', schema=NUMBER, field_type='int32', gain=1000.0)],
     {'a': 0.29}, {'a': 290}),
    ([_rule('p', name='p', choices={'lab': {'x': 1, 'y': {'z': 2}}}), _rule('p', 'x', name='x')],
     {'p': 'lab', 'x': 7}, {'p': {'x': 7, 'y': {'z': 2}}}),
    ([_rule('p', 'x', name='x'), _rule('p', name='p', choices={'lab': {'y': 2}})],
     {'p': 'lab', 'x': 7}, {'p': {'x': 7, 'y': 2}}),
    ([_rule('p', 1, name='b'), _rule('p', 0, name='a')], {'a': 1, 'b': 2}, {'p': [1, 2]}),
    ([_rule('p', 0, 'x', name='a'), _rule('p', 0, 'y', name='b')], {'a': 1, 'b': 2},
     {'p': [{'x': 1, 'y': 2}]}),
    ([_rule('p', has_const=True, const=[5, 6]), _rule('p', 0, name='a')], {'a': 1}, {'p': [1, 6]}),
])
def test_arguments_become_fields(rules, arguments, message):
    made = to_message(_spec(*rules), arguments, frame_prefix='r1/')
    assert made == message
    assert [type(value) for value in made.values()] == [type(value) for value in message.values()]


@pytest.mark.parametrize('more', [{}, {'gain': 0.5}, {'is_yaw': True}, {'field_type': 'float64'}])
@pytest.mark.parametrize('value', [True, '0.1', None, [1]])
def test_what_is_no_number_never_becomes_one(more, value):
    with pytest.raises(RequestError, match='v: expected a number, found'):
        to_message(_spec(_rule('v', name='v', schema=NUMBER, **more)), {'v': value})


def test_message_shares_nothing_with_the_spec():
    choices = {'lab': {'tags': ['a'], 'p': {'x': 1}}}
    spec = _spec(_rule('p', name='p', choices=choices),
                 _rule('c', has_const=True, const={'d': [1]}))
    made = to_message(spec, {'p': 'lab'})
    made['p']['tags'].append('b')
    made['p']['p']['x'] = 2
    made['c']['d'].append(2)
    assert to_message(spec, {'p': 'lab'}) == {
        'p': {'tags': ['a'], 'p': {'x': 1}}, 'c': {'d': [1]}}


@pytest.mark.parametrize(('field_type', 'gain', 'value'), [
    ('int32', 1.0, 3.9), ('uint8', 1.0, 256.0), ('uint8', 1.0, -1), ('int16', 1000.0, 40),
    ('float32', 1e38, 10.0), ('float64', 1e308, 1e10), ('string', 1.0, 5), ('bool', 1.0, 'false'),
    ('string', 1.0, 'a\x00'),
])
def test_value_that_does_not_fit_its_field_is_refused(field_type, gain, value):
    spec = _spec(_rule('a', name='a', field_type=field_type, gain=gain))
    with pytest.raises(RequestError, match='a: ') as caught:
        to_message(spec, {'a': value})
    assert caught.value.code == ErrorCode.LIMIT_EXCEEDED


def test_gap_in_an_array_is_refused():
    with pytest.raises(RequestError, match='gap'):
        to_message(_spec(_rule('p', 1, name='a')), {'a': 1})


@given(st.floats(-720, 720))
def test_heading_in_degrees_becomes_a_unit_quaternion_about_z(degrees):
    rule = _rule('o', name='h', is_yaw=True, gain=math.pi / 180, schema=NUMBER)
    rotation = to_message(_spec(rule), {'h': degrees})['o']
    assert rotation['x'] == rotation['y'] == 0.0
    assert math.hypot(*rotation.values()) == pytest.approx(1.0)
    yaw = 2.0 * math.atan2(rotation['z'], rotation['w'])
    assert math.cos(yaw) == pytest.approx(math.cos(math.radians(degrees)), abs=1e-9)
    assert math.sin(yaw) == pytest.approx(math.sin(math.radians(degrees)), abs=1e-9)


def test_zero_yaw_is_the_identity():
    assert yaw_to_quaternion(0.0) == {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0}


@pytest.mark.parametrize(('conditions', 'needs_all', 'result', 'expected'), [
    ((), True, {'error_code': 3}, True),
    ((('error_code', 0),), True, {'error_code': 0}, True),
    ((('error_code', 0),), True, {'error_code': 2}, False),
    ((('error_code', 0),), True, {}, True),
    ((('error_code', 0), ('done', True)), True, {'done': False}, False),
    ((('error_code', 0), ('done', True)), False, {'done': True}, True),
    ((('a[1]', 5),), True, {'a': [5]}, False),
    ((('error_code', 0),), True, {'error_code': False}, False),
    ((('done', True),), True, {'done': 1}, False),
    ((('a.b', 'x'),), True, {'a': {'b': 'x'}}, True),
    ((('a[1]', 5),), True, {'a': [4, 5]}, True),
    ((('a', 1), ('b', 1)), True, {'a': 1, 'b': 2}, False),
    ((('a', 1), ('b', 1)), False, {'a': 1, 'b': 2}, True),
])
def test_success_rule_reads_the_result(conditions, needs_all, result, expected):
    rule = ResultRule(needs_all=needs_all, success=tuple(
        Condition(field=field, equals=value) for field, value in conditions))
    assert is_success(_spec(result=rule), result) == expected


def test_value_at_an_absent_path_is_none():
    message = {'a': [{'b': 1}], 't': 'text'}
    assert value_at(message, 'a[0].b') == 1
    for path in ('b', 'a[1].b', 'a.b', 'a[0].b.c', 't[0]', ''):
        assert value_at(message, path) is None
