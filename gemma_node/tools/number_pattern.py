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


"""
Regular expressions for the decimal texts of a range.

JSON syntax without exponents, at most `decimals` digits after the point; trailing zeros are
allowed. Arithmetic is on scaled integers, so a bound of 0.1 is a tenth and nothing else.
"""

from __future__ import annotations

from decimal import Decimal

DEFAULT_DECIMALS = 6
MAX_DECIMALS = 12
DEFAULT_INTEGER_LIMIT = 10**18 - 1
DEFAULT_NUMBER_LIMIT = 10**12 - 1


def range_pattern(
    minimum: Decimal | None,
    maximum: Decimal | None,
    *,
    decimals: int,
    is_minimum_excluded: bool = False,
    is_maximum_excluded: bool = False,
) -> str | None:
    """
    Return a pattern for the numbers in the range, or None if no number of that form is in it.

    A missing bound becomes a wide finite one, so that every match is a finite double.
    """
    scale = 10**decimals
    limit = (DEFAULT_INTEGER_LIMIT if decimals == 0 else DEFAULT_NUMBER_LIMIT) * scale
    low, high = -limit, limit
    if minimum is not None:
        low, is_exact = _scaled(minimum, scale)
        low += 0 if is_exact and not is_minimum_excluded else 1
        high = max(high, 10 * low)
    if maximum is not None:
        high, is_exact = _scaled(maximum, scale)
        high -= 1 if is_exact and is_maximum_excluded else 0
        low = min(low, 10 * high) if minimum is None else low
    if low > high:
        return None
    parts = []
    if low < 0:
        # Without minus zero: the negative part starts at one step below zero.
        parts += [f'-{part}' for part in _positive(max(1, -high), -low, decimals)]
    if high >= 0:
        parts += _positive(max(0, low), high, decimals)
    return _any_of(parts)


def _scaled(bound: Decimal, scale: int) -> tuple[int, bool]:
    """Return the bound in steps, rounded down, and whether that was exact."""
    # Decimal rounds products to its context's 28 digits; as_integer_ratio stays exact.
    numerator, denominator = bound.as_integer_ratio()
    steps, remainder = divmod(numerator * scale, denominator)
    return steps, remainder == 0


def _positive(low: int, high: int, decimals: int) -> list[str]:
    """Return patterns for low..high in steps of 10**-decimals, both at least 0."""
    scale = 10**decimals
    low_whole, low_rest = divmod(low, scale)
    high_whole, high_rest = divmod(high, scale)
    low_digits = _fraction_digits(low_rest, decimals)
    high_digits = _fraction_digits(high_rest, decimals)
    if low_whole == high_whole:
        return [f'{low_whole}{_fraction_between(low_digits, high_digits)}']
    parts = [f'{low_whole}{_fraction_from(low_digits)}']
    parts += [whole + _any_fraction(decimals) for whole in _wholes(low_whole + 1, high_whole - 1)]
    parts.append(f'{high_whole}{_fraction_to(high_digits)}')
    return parts


def _fraction_digits(rest: int, decimals: int) -> str:
    return str(rest).zfill(decimals) if decimals else ''


def _any_fraction(decimals: int) -> str:
    return f'(\\.[0-9]{{1,{decimals}}})?' if decimals else ''


def _fraction_from(low: str) -> str:
    if not low.strip('0'):
        return _any_fraction(len(low))
    return f'\\.{_digits_from(low)}'


def _fraction_to(high: str) -> str:
    return f'(\\.{_digits_to(high)})?' if high else ''


def _fraction_between(low: str, high: str) -> str:
    if not high:
        return ''
    if not low.strip('0'):
        return _fraction_to(high)
    return f'\\.{_digits_between(low, high)}'


def _digits_from(low: str) -> str:
    """Match digit strings of 1 to len(low) digits that, padded with zeros, are at least `low`."""
    if not low.strip('0'):
        return f'[0-9]{{1,{len(low)}}}'
    rest = len(low) - 1
    parts = []
    if low[0] != '9':
        parts.append(f'{_digit_class(int(low[0]) + 1, 9)}{_more_digits(rest)}')
    parts.append(low[0] + _tail_from(low[1:]))
    return _any_of(parts)


def _tail_from(low: str) -> str:
    return _digits_from(low) if low.strip('0') else _more_digits(len(low))


def _tail_to(high: str) -> str:
    return f'({_digits_to(high)})?' if high else ''


def _digits_to(high: str) -> str:
    """Match digit strings of 1 to len(high) digits that, padded with zeros, are at most `high`."""
    rest = len(high) - 1
    parts = []
    if high[0] != '0':
        parts.append(f'{_digit_class(0, int(high[0]) - 1)}{_more_digits(rest)}')
    parts.append(high[0] + _tail_to(high[1:]))
    return _any_of(parts)


def _digits_between(low: str, high: str) -> str:
    """Match digit strings of 1 to len(low) digits that, padded with zeros, are in the range."""
    if not low.strip('0'):
        return _digits_to(high)
    if low[0] == high[0]:
        is_open = not low[1:].strip('0')
        return low[0] + (_tail_to(high[1:]) if is_open else _digits_between(low[1:], high[1:]))
    rest = len(low) - 1
    parts = [low[0] + _tail_from(low[1:])]
    if int(high[0]) - int(low[0]) > 1:
        parts.append(f'{_digit_class(int(low[0]) + 1, int(high[0]) - 1)}{_more_digits(rest)}')
    parts.append(high[0] + _tail_to(high[1:]))
    return _any_of(parts)


def _wholes(low: int, high: int) -> list[str]:
    """Return patterns for the whole numbers low..high without leading zeros, low at least 0."""
    parts = []
    while low <= high:
        length = len(str(low))
        top = min(high, 10**length - 1)
        parts.append(_same_length(str(low), str(top)))
        low = top + 1
    return parts


def _same_length(low: str, high: str) -> str:
    if not low:
        return ''
    if low == '0' * len(low) and high == '9' * len(high):
        return f'[0-9]{{{len(low)}}}' if len(low) > 1 else '[0-9]'
    if low[0] == high[0]:
        return low[0] + _same_length(low[1:], high[1:])
    rest = len(low) - 1
    first, last = int(low[0]), int(high[0])
    parts = []
    if low[1:].strip('0'):
        parts.append(low[0] + _same_length(low[1:], '9' * rest))
        first += 1
    if high[1:].strip('9'):
        last -= 1
    if first <= last:
        parts.append(_digit_class(first, last) + _same_length('0' * rest, '9' * rest))
    if high[1:].strip('9'):
        parts.append(high[0] + _same_length('0' * rest, high[1:]))
    return _any_of(parts)


def _more_digits(count: int) -> str:
    return f'[0-9]{{0,{count}}}' if count else ''


def _digit_class(first: int, last: int) -> str:
    return str(first) if first == last else f'[{first}-{last}]'


def _any_of(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f'({"|".join(parts)})'
