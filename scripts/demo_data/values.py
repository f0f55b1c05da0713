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


"""Draws values that people name: places, things, persons, codes, texts; half of them unheard of."""

from __future__ import annotations

import random
import re

from demo_data import copies
from demo_data import rare
from demo_data import words
from demo_data.phrases import fill
from demo_data.skills import Arg

_SURNAMED = ('the boss', 'the nurse')
_PRONOUNS = ('it', 'that', 'this')
_TEXT_ENDS = ('', '', '', ' now', ' today', ' at noon', ' in a minute', ' please', ' tomorrow', ' again')


def article(rng: random.Random, noun: str) -> str:
    """Put an article before a noun phrase, as people do."""
    if noun[:1].isupper() or noun.startswith('the ') or any(c.isdigit() for c in noun):
        return noun
    roll = rng.random()
    if roll < 0.72:
        return f'the {noun}'
    if roll < 0.8:
        return f'{"an" if noun[0] in "aeiou" else "a"} {noun}'
    return noun if roll < 0.9 else f'the {noun}'


def place(rng: random.Random) -> str:
    """Name a place without article: known, numbered, composed or invented."""
    roll = rng.random()
    if roll < 0.36:
        return rng.choice(words.PLACES)
    if roll < 0.48:
        return f'{rng.choice(words.PLACE_NUMBERED)} {rng.choice((rng.randint(1, 40), rng.randint(1, 300), rng.choice("ABCDEFGH")))}'
    if roll < 0.72:
        return rare.place_name(rng)
    if roll < 0.8:
        return f'{rare.any_word(rng)} {rng.choice(words.PLACES)}'
    if roll < 0.86:
        return f'{rng.choice(words.PLACE_NUMBERED)} {rare.code(rng)}'
    if roll < 0.93:
        return f"{rare.first_name(rng)}'s {rng.choice(('office', 'room', 'desk', 'place', 'lab', 'house', 'corner'))}"
    return rare.syllables(rng)


def thing(rng: random.Random) -> str:
    """Name a thing without article."""
    roll = rng.random()
    noun = rng.choice(words.OBJECTS)
    if roll < 0.16:
        return noun
    if roll < 0.34:
        return f'{rng.choice(words.COLOURS)} {noun}'
    if roll < 0.44:
        return f'{rng.choice(words.ADJECTIVES)} {noun}'
    if roll < 0.68:
        return rare.thing(rng)
    if roll < 0.76:
        return f'{rng.choice((*words.COLOURS, *words.ADJECTIVES))} {rare.thing(rng)}'
    if roll < 0.82:
        return f'{rare.any_word(rng)} {noun}'
    if roll < 0.88:
        return f'{noun} {rng.choice((str(rng.randint(1, 99)), rng.choice("ABCDEF"), rare.code(rng)))}'
    if roll < 0.93:
        return f'{noun} {rng.choice(("with", "of", "from", "for"))} {rng.choice((rare.noun(rng), rare.first_name(rng)))}'
    return rare.syllables(rng)


def things(rng: random.Random) -> str:
    """Name a kind of thing in the plural."""
    noun = thing(rng)
    if not noun[-1].isalpha():
        noun = rng.choice(words.OBJECTS)
    if noun.endswith(('s', 'x', 'z', 'ch', 'sh')):
        return noun + 'es'
    return f'{noun[:-1]}ies' if noun.endswith('y') and noun[-2:-1] not in 'aeiou' else f'{noun}s'


def surface(rng: random.Random) -> str:
    """Name what things can be put on or into."""
    roll = rng.random()
    noun = rng.choice(words.SURFACES)
    if roll < 0.3:
        return noun
    if roll < 0.5:
        return f'{rng.choice((*words.COLOURS, *words.ADJECTIVES))} {noun}'
    if roll < 0.65:
        return f'{noun} {rng.choice((str(rng.randint(1, 40)), rng.choice("ABCDEF"), rare.code(rng)))}'
    if roll < 0.8:
        return f'{rare.any_word(rng)} {noun}'
    return f'{rare.adjective(rng)} {noun}' if roll < 0.9 else rare.thing(rng)


def person(rng: random.Random) -> str:
    """Name a person."""
    return rng.choice(words.PEOPLE) if rng.random() < 0.35 else rare.full_name(rng)


def code(rng: random.Random) -> str:
    """Name something that has a name of its own: a route, a map, a button."""
    roll = rng.random()
    if roll < 0.35:
        return rare.code(rng)
    if roll < 0.6:
        return rare.syllables(rng)
    if roll < 0.75:
        return rare.any_word(rng)
    if roll < 0.88:
        return f'{rng.choice("ABCDEFGHKLMNPR")}{rng.randint(1, 30)}'
    return f'{rare.any_word(rng)}_{rare.any_word(rng)}'


def text(rng: random.Random) -> str:
    """Make up a sentence to be said or written; at times of words without sense."""
    roll = rng.random()
    if roll < 0.06:
        return rng.choice(words.GREETINGS)
    if roll < 0.16:
        return ' '.join(rare.any_word(rng) for _ in range(rng.randint(1, 5)))
    template = rng.choice(words.STATEMENTS) if roll < 0.5 else rng.choice(_FRAMES)
    filled = fill(template, {
        'n': str(rng.randint(2, 60)), 'place': place(rng), 'object': thing(rng),
        'person': person(rng), 'adj': rng.choice((rng.choice(words.ADJECTIVES), rare.adjective(rng))),
        'word': rare.any_word(rng), 'code': rare.code(rng), 'thing': rare.thing(rng), 'name': rare.full_name(rng),
        'general': rng.choice(words.GENERAL),
    })
    return filled + rng.choice(_TEXT_ENDS) if roll > 0.3 else filled


_FRAMES = tuple("""
{thing} number {n} is {adj}|{name} needs the {thing}|please take the {thing} to {name}|the {thing} has arrived
{name} will be back in {n} minutes|table {n} is ready|your order {code} is ready|the {place} opens at {n}
welcome to the {place}|dear {name}, the {thing} is yours|{name} has left the {place}|we found a {adj} {thing}
we are out of {thing}|part {code} is broken|the {adj} one is mine|do not forget the {thing}|it is {general} that {name} {general}
please leave the {place}|visitors must wear a {thing}|the {word} is {word}|line {n} has stopped|{name} is the winner
the {place} is full|room {code} is free|all {word} to the {place}|meet {name} at the {place}|the {thing} costs {n} euros
no {word} without {word}|your {adj} {thing} is on its way|I will come at {n} o'clock|{name} called about the {thing}
we will start with the {word}|the train from {word} is late|check the {thing} before lunch|there are {n} left
""".replace('\n', '|').strip('|').split('|'))


_STRANGE = {
    'place': copies.place, 'places': copies.place, 'object': copies.thing, 'objects': copies.thing, 'surface': copies.thing, 'person': copies.person,
    'code': copies.code, 'text': copies.text,
}


def draw(rng: random.Random, arg: Arg) -> tuple[str, str]:
    """Draw a free string for an argument: the value, and how it is said."""
    pool = arg.spoken.get('pool')
    if pool and rng.random() < 0.92:
        said = rng.choice(pool)
        return re.sub('^(the|a|an|some) ', '', said), said
    if arg.kind in _STRANGE and rng.random() < (0.4 if arg.kind == 'text' else 0.2):
        value = _STRANGE[arg.kind](rng)[:150 if arg.kind == 'text' else 60].rstrip()
        return value, article(rng, value) if arg.kind in ('place', 'object', 'surface', 'places', 'objects') else value
    makers = {'place': place, 'object': thing, 'surface': surface, 'places': place, 'objects': thing}
    if arg.kind in makers:
        value = makers[arg.kind](rng)
        return value, article(rng, value)
    if arg.kind == 'person':
        value = person(rng)
        return re.sub('^the ', '', value), value
    if arg.kind == 'plural':
        value = things(rng)
        return value, value
    value = text(rng) if arg.kind == 'text' else code(rng)
    return value, value
