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
Numbers as people say them, and their exact value in the unit that a tool declares.

All conversions are fractions; a value with more than two decimals is rounded, never at a tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
import math
import random

from demo_data import saying

_RAD = Fraction(180) / Fraction(str(math.pi))
FAMILIES: dict[str, dict[str, Fraction]] = {
    'length': {'m': Fraction(1), 'cm': Fraction(1, 100), 'mm': Fraction(1, 1000),
               'km': Fraction(1000)},
    'speed': {'m/s': Fraction(1), 'km/h': Fraction(10, 36), 'cm/s': Fraction(1, 100)},
    'angle': {'deg': Fraction(1), 'rad': _RAD},
    'time': {'s': Fraction(1), 'min': Fraction(60), 'h': Fraction(3600), 'ms': Fraction(1, 1000)},
    'ratio': {'%': Fraction(1), 'fraction': Fraction(100)},
    'mass': {'kg': Fraction(1), 'g': Fraction(1, 1000), 't': Fraction(1000)},
    'volume': {'l': Fraction(1), 'ml': Fraction(1, 1000), 'cl': Fraction(1, 100)},
}
# Units that are spoken and never declared.
_ONLY_SPOKEN: dict[str, dict[str, Fraction]] = {
    'length': {'dm': Fraction(1, 10)}, 'mass': {'mg': Fraction(1, 1000000)}, 'volume': {'dl': Fraction(1, 10)}, 'speed': {'mm/s': Fraction(1, 1000)},
}
_RARE = frozenset(('ms', 't', 'cl'))
FAMILY_OF = {unit: name for homes in (FAMILIES, _ONLY_SPOKEN) for name, units in homes.items() for unit in units}
# How units are said: singular, plural, short forms.
SPOKEN: dict[str, tuple[str, str, tuple[str, ...]]] = {
    'm': ('metre', 'metres', ('m', 'm', 'meters')), 'cm': ('centimetre', 'centimetres', ('cm', 'cm', 'centimeters')),
    'mm': ('millimetre', 'millimetres', ('mm', 'mm', 'millimeters')), 'km': ('kilometre', 'kilometres', ('km', 'km', 'kilometers')),
    'm/s': ('metre per second', 'metres per second', ('m/s', 'm/s')),
    'km/h': ('kilometre per hour', 'kilometres per hour', ('km/h', 'km/h', 'kph')),
    'cm/s': ('centimetre per second', 'centimetres per second', ('cm/s', 'cm/s')),
    'deg': ('degree', 'degrees', ('deg', 'degrees')), 'rad': ('radian', 'radians', ('rad', 'rad')),
    's': ('second', 'seconds', ('s', 'sec', 'secs')), 'min': ('minute', 'minutes', ('min', 'mins')),
    'h': ('hour', 'hours', ('h', 'hrs')), '%': ('percent', 'percent', ('%', '%')), 'fraction': ('', '', ('',)),
    'kg': ('kilogram', 'kilograms', ('kg', 'kilos', 'kg')), 'g': ('gram', 'grams', ('g', 'grams')),
    'l': ('litre', 'litres', ('l', 'liters')), 'ml': ('millilitre', 'millilitres', ('ml', 'ml')),
    'C': ('degree', 'degrees', ('C', 'degrees Celsius', 'degrees')), 'Hz': ('hertz', 'hertz', ('Hz',)),
    'N': ('newton', 'newtons', ('N',)), 'V': ('volt', 'volts', ('V',)), 'W': ('watt', 'watts', ('W',)),
    'lx': ('lux', 'lux', ('lx',)), 'dB': ('decibel', 'decibels', ('dB',)), 'bar': ('bar', 'bar', ('bar',)),
    'rpm': ('revolution per minute', 'revolutions per minute', ('rpm', 'rpm')), 'px': ('pixel', 'pixels', ('px',)),
    'x': ('time', 'times', ('times', 'x')),
    'dm': ('decimetre', 'decimetres', ('dm',)), 't': ('tonne', 'tonnes', ('t', 'tons', 'metric tons')), 'mg': ('milligram', 'milligrams', ('mg',)), 'cl': ('centilitre', 'centilitres', ('cl',)),
    'dl': ('decilitre', 'decilitres', ('dl',)), 'ms': ('millisecond', 'milliseconds', ('ms',)), 'mm/s': ('millimetre per second', 'millimetres per second', ('mm/s',)),
}
LONG_NAMES = {'m': 'metres', 'cm': 'centimetres', 'mm': 'millimetres', 'km': 'kilometres', 'm/s': 'metres per second', 's': 'seconds',
              'min': 'minutes', 'h': 'hours', 'deg': 'degrees', 'rad': 'radians', '%': 'percent', 'kg': 'kilograms', 'g': 'grams',
              'l': 'litres', 'ml': 'millilitres', 'C': 'degrees Celsius', 'cm/s': 'centimetres per second', 'km/h': 'kilometres per hour', 't': 'tonnes', 'ms': 'milliseconds', 'cl': 'centilitres'}
_SMALL = ('zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen '
          'fifteen sixteen seventeen eighteen nineteen').split()
_TENS = '_ _ twenty thirty forty fifty sixty seventy eighty ninety'.split()
_DIGITS = _SMALL[:10]


@dataclass(frozen=True)
class Declared:
    """A number as a tool declares it: unit, bounds, whether it is whole."""

    unit: str
    low: float
    high: float
    is_integer: bool = False
    step: float = 0.0


@dataclass(frozen=True)
class Spoken:
    """A quantity: its value in the declared unit, and what a person says."""

    value: int | float
    text: str


def plain(value: Fraction | float) -> int | float:
    """Return a whole number as int, any other with two decimals at most."""
    rounded = round(Fraction(value) * 100) / Fraction(100) if isinstance(value, Fraction) else round(value, 2)
    return int(rounded) if rounded == int(rounded) else float(rounded)


def is_tie(value: Fraction) -> bool:
    """Return whether the third decimal is a lone 5, or so near that hand arithmetic differs."""
    rest = value * 100 % 1
    return abs(rest - Fraction(1, 2)) < Fraction(1, 50)


def words_of(number: int) -> str:
    """Spell a whole number below a thousand."""
    if number < 20:
        return _SMALL[number]
    if number < 100:
        return _TENS[number // 10] + (f'-{_SMALL[number % 10]}' if number % 10 else '')
    rest = f' and {words_of(number % 100)}' if number % 100 else ''
    return f'{_SMALL[number // 100]} hundred{rest}'


def draw(rng: random.Random, declared: Declared, *, outside: bool = False, other: bool = False) -> Spoken | None:
    """Draw a quantity within the bounds (or outside); `other`: said in another unit; None if none comes up."""
    name = FAMILY_OF.get(declared.unit, '')
    family = FAMILIES.get(name, {declared.unit: Fraction(1)})
    if name in _ONLY_SPOKEN and rng.random() < 0.15:
        family = family | _ONLY_SPOKEN[name]
    for _ in range(12):
        unit = declared.unit
        if len(family) > 1 and (other or rng.random() < 0.5):
            unit = rng.choice(tuple(family))
            if unit == 'fraction' or (unit == 'rad' and (declared.is_integer or rng.random() < 0.6)):
                unit = declared.unit
        if unit in _RARE and unit != declared.unit and rng.random() < 0.6:
            continue
        if other and unit == declared.unit:
            continue
        factor = family[unit] / family[declared.unit]
        number = _natural(rng, declared, factor, outside)
        value = number * factor
        if unit != declared.unit and not 0.02 <= abs(number) < 10000 and rng.random() < 0.85:
            continue
        if unit != declared.unit and (number == 0 or (unit == 'h' and (number * 4).denominator != 1)):
            continue
        if not _fits(value, declared, unit, outside):
            continue
        text = say(rng, number, unit, may_omit=unit == declared.unit)
        if text:
            return Spoken(int(value) if declared.is_integer else plain(value), text)
    return None


def _fits(value: Fraction, declared: Declared, unit: str, outside: bool) -> bool:
    rounded = round(value * 100) / Fraction(100)
    if (Fraction(str(declared.low)) <= rounded <= Fraction(str(declared.high))) is outside:
        return False
    if declared.is_integer or declared.step >= 1:
        return value.denominator == 1
    if rounded != value:
        inexact = FAMILY_OF.get(unit) in ('angle', 'speed') and unit != declared.unit
        if not inexact or is_tie(value) or abs(value) < Fraction(1, 20):
            return False
    return rounded != 0 or value == 0


def _natural(rng: random.Random, declared: Declared, factor: Fraction, outside: bool) -> Fraction:
    """Draw a number that people would say, in the spoken unit."""
    low, high = declared.low / float(factor), declared.high / float(factor)
    if outside:
        size = max(abs(low), abs(high), 1e-9)
        over = rng.choice((1.02, 1.1, 1.3, 1.5, 2, 3, 5, 10))
        raw = high + size * (over - 1)
        if low > 0 and rng.random() < 0.35:
            raw = low * rng.choice((0.2, 0.5, 0.5, 0.8))
        elif low < 0 and rng.random() < 0.4:
            raw = low - size * (over - 1)
    elif low > 0 and high / low > 50 and rng.random() < 0.6:
        raw = math.exp(rng.uniform(math.log(low), math.log(high)))
    else:
        raw = rng.uniform(low, high)
    if FAMILY_OF.get(declared.unit) == 'angle' and factor == 1 and declared.unit == 'deg' and rng.random() < 0.5:
        raw = float(rng.choice((0, 15, 20, 30, 45, 60, 75, 90, 120, 135, 150, 180, -30, -45, -60, -90, -135, -180)))
    if declared.unit == 'rad' and factor != 1:
        return Fraction(rng.choice((15, 15, 15, 10, 5, 1, 18))) * round(Fraction(raw) / 15)
    step = _grid(rng, abs(raw), declared, factor)
    return round(Fraction(raw) / step) * step


def _grid(rng: random.Random, size: float, declared: Declared, factor: Fraction) -> Fraction:
    if declared.is_integer and factor == 1:
        return Fraction(max(1, round(declared.step))) if rng.random() < 0.4 else Fraction(1)
    steps: tuple[str, ...]
    if size < 1:
        steps = ('0.1', '0.1', '0.05', '0.25', '0.01', '0.5')
    elif size < 10:
        steps = ('1', '0.5', '0.1', '0.1', '0.25', '0.5', '0.01', '1')
    elif size < 100:
        steps = ('1', '1', '5', '5', '10', '0.5', '0.1')
    elif size < 1000:
        steps = ('1', '5', '10', '10', '25', '50', '100')
    else:
        steps = ('1', '10', '50', '100', '250', '500')
    return Fraction(rng.choice(steps))


def say(rng: random.Random, number: Fraction, unit: str, *, may_omit: bool = False) -> str:
    """Say a number with its unit; '' where it would sound odd."""
    one, many, short = SPOKEN.get(unit, ('', unit, (unit,)))
    roll = rng.random()
    if rng.random() < 0.3:
        phrase = saying.special(rng, number, unit)
        if phrase:
            return phrase
    if unit in ('', 'fraction') or (may_omit and roll < 0.1):
        return number_text(rng, number)
    if number > 0 and roll < 0.28 and one:
        phrase = _fraction_words(rng, number, one, many, unit)
        if phrase:
            return phrase
    name = many if number != 1 else one
    if rng.random() < 0.55:
        name = rng.choice(short)
    text = number_text(rng, number, words=0.12 if len(name) > 2 else 0.0)
    glued = name in ('m', 'cm', 'mm', 'km', 'kg', 'g', 's', 'h', 'min', 'l', 'ml', '%', 'C', 'm/s', 'km/h', 'cm/s', 'V', 'W', 'N')
    return f'{text}{"" if glued and rng.random() < 0.3 else " "}{name}'


def number_text(rng: random.Random, number: Fraction, words: float = 0.12) -> str:
    """Write a number in digits, at times in words."""
    value = float(number)
    if rng.random() < words and abs(value) < 1000:
        sign = 'minus ' if value < 0 else ''
        whole = int(abs(value))
        digits = f'{abs(value):.2f}'.split('.')[1].rstrip('0')
        if not digits:
            text = words_of(whole)
            return sign + (text.replace('-', ' ') if rng.random() < 0.4 else text)
        if len(digits) <= 2:
            return f'{sign}{words_of(whole)} point {" ".join(_DIGITS[int(d)] for d in digits)}'
    text = str(plain(number))
    if rng.random() < 0.12 and '.' not in text and abs(value) < 20:
        text += '.0'
    if text.startswith('-') and rng.random() < 0.15:
        text = f'minus {text[1:]}'
    return text


def _fraction_words(rng: random.Random, number: Fraction, one: str, many: str, unit: str) -> str:
    article = 'an' if one.startswith('h') and unit == 'h' else 'a'
    whole, rest = divmod(number, 1)
    if number == 1:
        return f'{article} {one}' if unit not in ('%', 'C', 'x', 'px', 'dB', 'lx', 'Hz') else ''
    if number == Fraction(1, 2):
        return rng.choice((f'half {article} {one}', f'half {article} {one}', f'a half {one}')) if unit not in ('%', 'C', 'x') else ''
    if number == Fraction(1, 4) and unit not in ('%', 'C', 'x', 'deg', 'rad'):
        return f'a quarter of {article} {one}' if unit != 'h' else rng.choice((f'a quarter of {article} {one}', 'a quarter hour'))
    if number == Fraction(3, 4) and unit not in ('%', 'C', 'x', 'deg', 'rad'):
        return f'three quarters of {article} {one}'
    if rest == Fraction(1, 2) and whole < 100:
        if whole == 1 and rng.random() < 0.4:
            return f'{article} {one} and a half'
        return f'{words_of(int(whole))} and a half {many}'
    if rest == Fraction(1, 4) and whole < 20 and rng.random() < 0.5:
        return f'{words_of(int(whole))} and a quarter {many}'
    if rest == 0 and whole <= 100:
        text = words_of(int(whole))
        return f'{text.replace("-", " ") if rng.random() < 0.5 else text} {many}'
    return ''


def describe(rng: random.Random, about: str, declared: Declared, strange: float) -> str:
    """Write unit and range as the package's catalogue does, or as other authors would."""
    unit = {'fraction': '', 'x': ''}.get(declared.unit, declared.unit)
    low, high = f'{declared.low:g}', f'{declared.high:g}'
    about = about.rstrip('.')
    if rng.random() >= strange * 0.45:
        return f'{about} ({unit + ", " if unit else ""}{low} to {high})'
    name = LONG_NAMES.get(unit, unit)
    if not unit:
        return rng.choice((f'{about}, {low} to {high}', f'{about}, between {low} and {high}.', f'{about} [{low}-{high}]'))
    return rng.choice((
        f'{about} in {name} ({low} to {high})', f'{about}, {low} to {high} {unit}', f'{about} in {name}, {low} to {high}.',
        f'{about} [{unit}], {low} to {high}', f'{about} ({name}), from {low} to {high}', f'{about} in {name}, at least {low}, at most {high}.',
    ))
