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

from decimal import Decimal
import json
import math

from hypothesis import given
from hypothesis import strategies as st
import pytest

from gemma_node.core import ErrorCode
from gemma_node.errors import RequestError
from gemma_node.tools.interface_schema import Bytes
from gemma_node.tools.interface_schema import check_value
from gemma_node.tools.interface_schema import from_json
from gemma_node.tools.interface_schema import Items
from gemma_node.tools.interface_schema import Member
from gemma_node.tools.interface_schema import Record
from gemma_node.tools.interface_schema import Scalar
from gemma_node.tools.interface_schema import Seconds
from gemma_node.tools.interface_schema import split_seconds
from gemma_node.tools.interface_schema import to_json

TIME = Seconds(type='builtin_interfaces/Time')
DURATION = Seconds(type='builtin_interfaces/Duration')
LEVEL = Scalar(type='uint8', names={'LOW': 0, 'NONE': 0, 'HIGH': 5})
IMAGE = Record(type='a_pkg/msg/Image', members={
    'width': Member(shape=Scalar(type='uint32')),
    'data': Member(shape=Bytes(type='uint8')),
    'key': Member(shape=Bytes(type='uint8', fewest=70, most=70)),
})
ALBUM = Record(type='a_pkg/msg/Album', members={
    'level': Member(shape=LEVEL, has_default=True, default=5),
    'at': Member(shape=TIME),
    'images': Member(shape=Items(item=IMAGE, most=2)),
})


@pytest.mark.parametrize(('field_type', 'good', 'bad'), [
    ('bool', (True, False), (1, 'true', None)),
    ('int8', (-128, 127), (128, 1.0, True, '1')),
    ('uint64', (0, 2**64 - 1), (2**64, -1)),
    ('char', (0, 255), (256, 'a', b'a')), ('byte', (0, 255), (-1, b'a')),
    ('float32', (0, 1.5, -3e38), (float('nan'), float('inf'), 1e39, '1', True, None)),
    ('float64', (1e300, 5), (10**400, float('-inf'))),
    ('string', ('', 'ü'), (5, b'x', 'a\x00', None, '\ud800')),
    ('wstring', ('', '🤖'), (5, 'a\x00')),
    ('pkg/Type', (), ({}, 'x')),
])
def test_value_is_checked_without_conversion(field_type, good, bad):
    assert all(check_value(field_type, value) == '' for value in good)
    assert all(check_value(field_type, value) for value in bad)


@given(st.integers(-(1 << 31), (1 << 31) - 1), st.integers(0, 999_999_999))
def test_times_are_seconds_and_come_back_to_the_nanosecond(sec, nanosec):
    seconds = to_json(TIME, {'sec': sec, 'nanosec': nanosec})
    assert seconds == Decimal(sec) + Decimal(nanosec) / 10**9 or isinstance(seconds, float)
    assert from_json(TIME, seconds) == {'sec': sec, 'nanosec': nanosec}
    text = json.dumps(seconds) if isinstance(seconds, float) else str(seconds)
    assert from_json(TIME, json.loads(text, parse_float=Decimal)) == {
        'sec': sec, 'nanosec': nanosec}
    if abs(sec) < 1_000_000:
        assert isinstance(seconds, float)


@pytest.mark.parametrize(('seconds', 'expected'), [
    (0, (0, 0)), (1.5, (1, 500_000_000)), (-0.5, (-1, 500_000_000)), (0.1, (0, 100_000_000)),
    (60, (60, 0)), (1e-9, (0, 1)), (4e-10, (0, 0)),
    (1_700_000_000.25, (1_700_000_000, 250_000_000)),
    (Decimal('1700000000.123456789'), (1_700_000_000, 123_456_789)),
])
def test_seconds_split_as_the_decimal_they_print_as(seconds, expected):
    assert split_seconds(seconds) == expected


@pytest.mark.parametrize(('shape', 'json_value', 'plain'), [
    (LEVEL, 'HIGH', 5), (LEVEL, 'LOW', 0), (LEVEL, 9, 9), (Scalar(type='bool'), True, True),
    (Scalar(type='float32'), 2, 2.0), (Scalar(type='string', bound=3), 'abc', 'abc'),
    (Scalar(type='string', names={'KIND_A': 'a'}), 'a', 'a'),
    (Items(item=Scalar(type='int8'), fewest=2, most=2), [1, -2], [1, -2]),
    (DURATION, 0.25, {'sec': 0, 'nanosec': 250_000_000}), (DURATION, {'sec': 3}, {'sec': 3}),
    (TIME, 'now', {'__now__': True}), (TIME, {'__now__': True}, {'__now__': True}),
    (Items(item=LEVEL), ['HIGH', 'LOW'], [5, 0]),
])
def test_json_becomes_plain_values(shape, json_value, plain):
    made = from_json(shape, json_value)
    assert made == plain
    assert type(made) is type(plain)


@pytest.mark.parametrize(('shape', 'value', 'fragment'), [
    (LEVEL, 'MEDIUM', "at: 'MEDIUM' is none of LOW, NONE, HIGH"), (LEVEL, 256, 'outside 0..255'),
    (LEVEL, 5.0, 'whole number'), (Scalar(type='bool'), 'false', 'true or false'),
    (Scalar(type='int32'), 3.9, 'whole number'), (Scalar(type='int32'), Decimal(3), 'whole'),
    (Scalar(type='int32'), 'LOW', 'whole number'), (Scalar(type='float32'), 'NaN', 'a number'),
    (Scalar(type='float64'), math.nan, 'finite'), (Scalar(type='float32'), 1e39, 'too large'),
    (Scalar(type='string', bound=3), 'abcd', 'at most 3'), (Scalar(type='string'), None, 'text'),
    (Items(item=Scalar(type='int8'), fewest=2, most=2), [1], 'at: 2 items are needed, found 1'),
    (Items(item=Scalar(type='int8'), most=2), [1, 2, 3], 'at most 2'),
    (Items(item=Scalar(type='int8')), [1, 'x'], r'at\[1\]: expected a whole number'),
    (Items(item=Scalar(type='string')), 'abc', 'expected a list'),
    (DURATION, 1e10, 'outside'), (DURATION, 'now', 'seconds are needed'), (DURATION, True, 'sec'),
    (DURATION, math.inf, 'finite'), (DURATION, Decimal('NaN'), 'number'), (TIME, None, 'seconds'),
    (DURATION, {'sec': 1.5}, 'at.sec: expected a whole'), (TIME, {'secs': 1}, "no field 'secs'"),
    (DURATION, {'__now__': True}, 'no field'),
    (ALBUM, {'at': 1.0, 'images': [{'width': 1, 'height': 2}]},
     r"at.images\[0\]: no field 'height'; choices are: width, data, key"),
    (ALBUM, {'images': []}, 'at.at: the field is missing'), (ALBUM, [], 'expected fields'),
    (ALBUM, {'at': 0, 'images': [{'width': 1, 'data': [1]}]}, r'images\[0\].data: no call holds'),
])
def test_what_does_not_fit_is_refused_with_its_place(shape, value, fragment):
    with pytest.raises(RequestError, match=fragment) as caught:
        from_json(shape, value, place='at')
    assert caught.value.code == ErrorCode.SCHEMA_VIOLATION
    assert str(caught.value).startswith('at')


def test_bytes_travel_beside_the_json_by_their_place():
    plain = {'level': 0, 'at': {'sec': 1, 'nanosec': 0}, 'images': [
        {'width': 2, 'data': b'\x00\xff', 'key': bytes(70)},
        {'width': 1, 'data': b'', 'key': bytes(70)}]}
    attachments = {}
    form = to_json(ALBUM, plain, attachments=attachments)
    assert form == {'level': 'LOW', 'at': 1.0, 'images': [{'width': 2}, {'width': 1}]}
    assert attachments == {'images[0].data': b'\x00\xff', 'images[0].key': bytes(70),
                           'images[1].data': b'', 'images[1].key': bytes(70)}
    assert from_json(ALBUM, form, attachments=attachments) == plain
    assert 'data' not in from_json(ALBUM, form)['images'][0]
    with pytest.raises(RequestError, match=r'images\[0\].key: 70 items are needed, found 3'):
        from_json(ALBUM, form, attachments={'images[0].key': b'abc'})


@pytest.mark.parametrize(('shape', 'value', 'fragment'), [
    (Scalar(type='float64'), math.nan, 'finite'), (Scalar(type='string'), 'a\x00', 'NUL'),
    (TIME, {'sec': 0, 'nanosec': 10**9}, 'not within a second'),
    (IMAGE, {'width': 1, 'data': b'abc', 'key': b''}, 'data: 3 bytes have no place in JSON'),
])
def test_what_json_cannot_hold_is_refused_not_lost(shape, value, fragment):
    with pytest.raises(RequestError, match=fragment) as caught:
        to_json(shape, value)
    assert caught.value.code == ErrorCode.INVALID_REQUEST


def test_constants_may_leave_fields_out_and_hold_bytes():
    assert from_json(ALBUM, {'level': 'HIGH', 'images': [{'data': [1, 255]}]}, is_partial=True) \
        == {'level': 5, 'images': [{'data': b'\x01\xff'}]}
    with pytest.raises(RequestError, match=r'images\[0\].data\[0\]: 256 is outside'):
        from_json(ALBUM, {'images': [{'data': [256]}]}, is_partial=True)
