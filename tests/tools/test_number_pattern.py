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
import re

from hypothesis import example
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest

from gemma_node.tools.number_pattern import range_pattern

JSON_NUMBER = re.compile(r'-?(0|[1-9][0-9]*)(\.[0-9]+)?')


def _matches(pattern: str | None, text: str) -> bool:
    return pattern is not None and re.fullmatch(pattern, text) is not None


def _scaled(value: int, decimals: int) -> Decimal:
    return Decimal(value).scaleb(-decimals)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(-2500, 2500), st.integers(-2500, 2500), st.integers(0, 3),
    st.booleans(), st.booleans(), st.data(),
)
def test_pattern_matches_exactly_the_numbers_in_the_range(
    a, b, decimals, is_minimum_excluded, is_maximum_excluded, data,
):
    low, high = sorted((_scaled(a, 2), _scaled(b, 2)))
    pattern = range_pattern(
        low, high, decimals=decimals,
        is_minimum_excluded=is_minimum_excluded, is_maximum_excluded=is_maximum_excluded,
    )
    near = [low, high, Decimal(0), (low + high) / 2]
    for _ in range(40):
        step = Decimal(data.draw(st.integers(-15, 15))).scaleb(-data.draw(st.integers(0, 3)))
        value = data.draw(st.sampled_from(near)) + step
        text = format(value, 'f')
        digits = len(text.partition('.')[2])
        is_inside = (
            (low < value if is_minimum_excluded else low <= value)
            and (value < high if is_maximum_excluded else value <= high)
        )
        is_minus_zero = text.startswith('-') and not value
        expected = is_inside and digits <= decimals and not is_minus_zero
        assert _matches(pattern, text) == expected, (text, pattern)


@settings(max_examples=100, deadline=None)
@given(st.data(), st.integers(-10**6, 10**6), st.integers(0, 10**6), st.integers(0, 6))
@example(None, 0, 0, 0)
def test_every_match_is_a_json_number_within_the_range(data, a, width, decimals):
    if data is None:
        return
    low, high = _scaled(a, 3), _scaled(a + width, 3)
    pattern = range_pattern(low, high, decimals=decimals)
    if pattern is None:
        scale = Decimal(1).scaleb(-decimals)
        assert (low / scale).to_integral_value('ROUND_CEILING') * scale > high
        return
    text = data.draw(st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True))
    assert JSON_NUMBER.fullmatch(text)
    assert low <= Decimal(text) <= high


@pytest.mark.parametrize('decimals', [0, 6])
def test_unbounded_range_matches_only_finite_short_numbers(decimals):
    pattern = range_pattern(None, None, decimals=decimals)
    for text in ('0', '-1', '12345', '999999999999'):
        assert _matches(pattern, text)
    for text in ('', '-', '-0', '01', '+1', '1e5', 'NaN', 'inf', '.5', '5.', '9' * 25):
        assert not _matches(pattern, text)
    assert _matches(pattern, '-0.5') == (decimals > 0)


def test_one_sided_ranges_hold_their_bound():
    above = range_pattern(Decimal('0.1'), None, decimals=3)
    assert _matches(above, '0.1') and _matches(above, '7000000') and not _matches(above, '0.099')
    below = range_pattern(None, Decimal(-5), decimals=0)
    assert _matches(below, '-5') and _matches(below, '-600') and not _matches(below, '-4')
    huge = range_pattern(Decimal(10) ** 30, None, decimals=0)
    assert _matches(huge, '1' + '0' * 30) and not _matches(huge, '9' * 30)


def test_range_without_a_number_of_that_form_has_no_pattern():
    assert range_pattern(Decimal('0.2'), Decimal('0.8'), decimals=0) is None
    assert range_pattern(Decimal(1), Decimal(1), decimals=2, is_minimum_excluded=True) is None


def test_sixty_four_bit_bounds_are_exact():
    low, high = Decimal(-(2**63)), Decimal(2**64 - 1)
    pattern = range_pattern(low, high, decimals=0)
    assert _matches(pattern, str(2**64 - 1)) and not _matches(pattern, str(2**64))
    assert _matches(pattern, str(-(2**63))) and not _matches(pattern, str(-(2**63) - 1))
