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
More ways in which people say quantities: two units in one, parts of a turn, parts of a whole.

Each returns '' where a number cannot be said so; all are exact.
"""

from __future__ import annotations

from fractions import Fraction
import random

# The smaller unit of a compound: unit -> (smaller, how many make one).
_SMALLER = {'m': ('cm', 100), 'km': ('m', 1000), 'h': ('min', 60), 'min': ('s', 60), 'kg': ('g', 1000), 'cm': ('mm', 10), 'l': ('ml', 1000), 't': ('kg', 1000)}
_FORMS = {
    'm': ('m', 'metre', 'metres'), 'cm': ('cm', 'centimetre', 'centimetres'), 'mm': ('mm', 'millimetre', 'millimetres'), 'km': ('km', 'kilometre', 'kilometres'),
    'h': ('h', 'hour', 'hours'), 'min': ('min', 'minute', 'minutes'), 's': ('s', 'second', 'seconds'), 'kg': ('kg', 'kilo', 'kilos'), 'g': ('g', 'gram', 'grams'),
    'l': ('l', 'litre', 'litres'), 'ml': ('ml', 'millilitre', 'millilitres'), 't': ('t', 'tonne', 'tonnes'),
}
# Parts of a turn in degrees.
_TURNS = {
    Fraction(360): ('a full turn', 'a whole turn', 'one full circle', 'a complete turn', 'once round', 'one revolution', 'a full rotation'), Fraction(180): ('half a turn', 'a half turn', 'half a circle', 'half a revolution', 'half a rotation', 'two right angles'),
    Fraction(90): ('a quarter turn', 'a quarter of a turn', 'a right angle', 'a quarter circle', 'one quarter of a turn', 'a quarter of a circle'), Fraction(270): ('three quarters of a turn', 'a three-quarter turn', 'three quarter turns', 'three right angles'),
    Fraction(45): ('an eighth of a turn', 'half a right angle', 'one eighth of a turn', 'an eighth of a circle'), Fraction(60): ('a sixth of a turn', 'one sixth of a turn'), Fraction(120): ('a third of a turn', 'one third of a turn', 'a third of a circle'),
    Fraction(30): ('a twelfth of a turn', 'a third of a right angle'), Fraction(36): ('a tenth of a turn',), Fraction(72): ('a fifth of a turn',), Fraction(240): ('two thirds of a turn',), Fraction(540): ('one and a half turns', 'a turn and a half'), Fraction(720): ('two full turns', 'two turns'),
    Fraction(135): ('three eighths of a turn', 'a right angle and a half'),
}
_SHARES = {
    Fraction(50): ('half', 'one half', 'a half', 'half of it', 'the half', '1/2', 'fifty percent', '50 per cent'), Fraction(25): ('a quarter', 'one quarter', 'one fourth', '1/4', 'a quarter of it'), Fraction(75): ('three quarters', '3/4', 'three fourths', 'three quarters of it'),
    Fraction(100): ('all of it', 'full', 'the maximum', 'one hundred percent', 'the full value', '100 per cent', 'everything'), Fraction(20): ('a fifth', 'one fifth', '1/5', 'two tenths'), Fraction(40): ('two fifths', '2/5', 'four tenths'), Fraction(60): ('three fifths', '3/5', 'six tenths'),
    Fraction(80): ('four fifths', '4/5', 'eight tenths'), Fraction(10): ('a tenth', 'one tenth', '1/10', 'ten per cent'), Fraction(30): ('three tenths', '3/10'), Fraction(70): ('seven tenths', '7/10'), Fraction(90): ('nine tenths', '9/10'), Fraction(5): ('a twentieth', '1/20', 'one twentieth'),
    Fraction(0): ('nothing', 'zero', 'none of it', 'zero percent'), Fraction(1): ('a hundredth', 'one percent', 'one per cent'),
}
_DOZENS = {Fraction(12): 'a dozen', Fraction(24): 'two dozen', Fraction(6): 'half a dozen', Fraction(1000): 'a thousand', Fraction(100): 'a hundred', Fraction(2000): 'two thousand', Fraction(1500): 'fifteen hundred', Fraction(1200): 'twelve hundred'}


def special(rng: random.Random, number: Fraction, unit: str) -> str:
    """Say a number in one of the ways that only its unit has."""
    if unit == 'deg' and number in _TURNS:
        return rng.choice(_TURNS[number])
    if unit == '%' and number in _SHARES:
        return rng.choice(_SHARES[number])
    if unit == 'fraction' and number * 100 in _SHARES:
        return rng.choice(_SHARES[number * 100])
    if number in _DOZENS and unit in _FORMS and rng.random() < 0.5:
        return f'{_DOZENS[number]} {_FORMS[unit][2]}'
    if number >= 1000 and unit in _FORMS and number.denominator == 1 and rng.random() < 0.5:
        return f'{int(number):,} {_FORMS[unit][rng.choice((0, 2))]}'
    return compound(rng, number, unit)


def compound(rng: random.Random, number: Fraction, unit: str) -> str:
    """Say a number in two units: `2 m 30 cm`, `an hour and twenty minutes`, `one metre fifty`."""
    whole, rest = divmod(number, 1)
    if unit not in _SMALLER or not 1 <= whole < 100 or not rest:
        return ''
    smaller, count = _SMALLER[unit]
    part = rest * count
    if part.denominator != 1:
        return ''
    short, one, many = _FORMS[unit]
    small_short, small_one, small_many = _FORMS[smaller]
    first = f'{whole} {one if whole == 1 else many}'
    second = f'{part} {small_one if part == 1 else small_many}'
    forms = [f'{whole} {short} {part} {small_short}', f'{whole} {short} and {part} {small_short}', f'{whole}{short} {part}{small_short}', f'{first} and {second}', f'{first} {second}', f'{first}, {second}']
    if whole == 1:
        forms.append(f'{"an" if one == "hour" else "a"} {one} and {second}')
    if (unit, smaller) in (('m', 'cm'), ('h', 'min'), ('min', 's')) and part >= 10:
        forms += [f'{whole} {short} {part}', f'{first} {part}']
    return rng.choice(forms)
