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

import pytest

from gemma_node.errors import GrammarError
from gemma_node.tools.validate import check_schema
from gemma_node.tools.validate import validate_call

TEXT = {'type': 'string', 'minLength': 1, 'maxLength': 5}
NUMBER = {'type': 'number', 'minimum': -1, 'maximum': 1, 'multipleOf': 0.1}


@pytest.mark.parametrize(('schema', 'value'), [
    (TEXT, 'cup'), (TEXT, 'a\nb'), (TEXT, '<|"|>'), (NUMBER, 0.3), (NUMBER, 0.7), (NUMBER, 1),
    (NUMBER, -1.0), ({'type': 'integer'}, 5), ({'type': 'boolean'}, False),
    ({'type': 'number', 'nullable': True}, None), ({'type': ['string', 'null']}, None),
    ({'enum': ['a', 1]}, 1), ({'type': 'array', 'items': TEXT, 'maxItems': 2}, ['x', 'y']),
    ({'type': 'number', 'multipleOf': 1e-6}, 0.000003),
])
def test_valid_value_has_no_violation(declare, schema, value):
    assert validate_call(declare(a=schema), {'a': value}) == []


@pytest.mark.parametrize(('schema', 'value', 'fragment'), [
    (TEXT, '', 'a: '), (TEXT, 'too long', 'too long'), (TEXT, 5, 'not string'),
    (TEXT, None, 'null'), (TEXT, 'a\x00b', 'U+0000'), (TEXT, 'a\x1bb', 'U+001B'),
    (TEXT, 'a\ud800', 'U+D800'), (NUMBER, 1.1, 'maximum'), (NUMBER, '0.5', 'not number'),
    (NUMBER, True, 'not number'), (NUMBER, 0.35, 'multiple of 0.1'), (NUMBER, math.nan, 'finite'),
    (NUMBER, math.inf, 'finite'), ({'type': 'number'}, 10**400, 'finite'),
    ({'type': 'integer'}, 5.0, 'not integer'), ({'type': 'integer'}, 5.5, 'not integer'),
    ({'type': 'integer'}, True, 'not integer'), ({'type': 'boolean'}, 'false', 'not boolean'),
    ({'type': 'boolean'}, 0, 'not boolean'), ({'enum': ['a', 'b']}, 'c', 'not one of'),
    ({'type': 'array', 'items': TEXT, 'maxItems': 1}, ['x', 'y'], 'a: '),
    ({'type': 'array', 'items': TEXT}, ['x', 1], 'a.1: '),
    ({'type': 'array', 'items': TEXT}, 'abc', 'not array'),
    ({'type': 'object', 'properties': {}, 'additionalProperties': False}, {'c': 1}, "'c'"),
    ({'type': 'string'}, b'bytes', 'no JSON value'),
    ({'type': 'object'}, {'a b': 1}, 'not a name'),
    ({'type': 'object'}, {1: 1}, 'not a name'), ({'const': 3}, 4, '3 was expected'),
])
def test_planted_violation_is_named(declare, schema, value, fragment):
    problems = validate_call(declare(a=schema), {'a': value})
    assert problems and fragment in problems[0]


def test_missing_and_unknown_arguments_are_named(declare):
    tool = declare(a=TEXT, b=NUMBER)
    problems = validate_call(tool, {'a': 'x', 'c': 1})
    assert any("'b' is a required" in text for text in problems)
    assert any("'c'" in text for text in problems)


@pytest.mark.parametrize('arguments', [None, [], 'a', 3])
def test_arguments_must_be_an_object(declare, arguments):
    assert 'must be an object' in validate_call(declare(), arguments)[0]


def test_deep_and_wide_values_give_few_short_messages(declare):
    deep: list = []
    for _ in range(500):
        deep = [deep]
    assert 'nested deeper' in validate_call(declare(a={'type': 'array'}), {'a': deep})[0]
    wide = validate_call(declare(a={'type': 'array', 'items': TEXT}), {'a': ['x' * 5000] * 100})
    assert len(wide) <= 16 and all(len(text) < 300 for text in wide)


@pytest.mark.parametrize('schema', [
    {'type': 'strin'}, {'type': 'string', 'minLength': -1}, {'required': 'a'}, {'enum': 'abc'},
    {'properties': {'a': {'minimum': 'low'}}},
])
def test_schema_that_is_none_is_refused(schema):
    with pytest.raises(GrammarError, match='tool'):
        check_schema(schema, 'tool')
