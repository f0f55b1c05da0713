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
Values that must be copied letter by letter: codes, serial numbers, names of all lands, long texts.

None of them means anything; most are composed, so that none comes twice.
"""

from __future__ import annotations

import random

from demo_data import coined
from demo_data import rare

_PARTICLES = ("O'{l}", "D'{l}", 'van {l}', 'van der {l}', 'de la {l}', 'von {l}', 'Mc{l}', 'al-{l}', 'ben {l}', '{l}-{k}', "N'{l}", 'Di {l}', 'St. {l}', 'el {l}', 'ter {l}', "{l}'s heir", 'Mac{l}', '{l} y {k}')
_PEOPLE = ('{f} {p}', '{p}', '{f}-{g}', '{f} {p}', '{i}. {p}', '{i}. {j}. {l}', '{f} {i}. {l}', '{f}', '{f}-{g} {l}', 'Dr. {p}', 'Sister {f}', 'Uncle {f}', 'Señora {l}', 'Herr {l}', 'Madame {p}', '{f} the {o}', '{f} {l} III', 'Ms. {p}', '{f}{n}', '{f}_{l}')
_CODES = (
    'SN-{d4}-{L2}/{d1}', '{L2}{d1}.{d1}', 'rev_{L1}{d1}', '00{d3}', '{L1}{d1}{L1}{d1}{L1}{d1}', 'v{d1}.{d2}.{d1}', '{L2}-{L2} {d4}', '{h2}:{h2}:{h2}', 'ISO {d4}', '#{d4}', 'map_{d2}.yaml', '{w}.cfg', '{w}-{d2}-{L1}', '{w}/{w}', 'P/N {d3}-{d3}', '{d2}-{d2}-{d2}',
    '{L3}{d4}{L1}', '{w}@{w}', '{w}_{w}_{d1}', '{d3}.{d3}', 'K{d1}-{w}', '{W}{W}', '{w}{W}{d1}', 'Lot {d4}{L1}', '{L1}-{d1}-{L1}-{d1}', 'batch {d3}/{d2}', '0x{h2}{h2}', '{L2}_{h2}{d1}', 'Nr. {d3}', '{d4} {L2}', '{L1}{L1}.{d2}', '{w}-{w}-{w}', '{W} {d2}{L1}', '{d1}{L1}{d1}{L1}', '~{w}{d1}',
    'task-{d4}', '{L3}:{d3}', '{L2}{d2}{L2}{d2}', '{w}.{w}', 'Mk{d1} {W}',
)
_PLACES = (
    '{W} {d1}{L1}', '{w} {b}', "{f}'s {b}", '{W}-{W}', '{b} {L1}{d2}', '{L1}.{d1}.{d2}', '{W} {b} {d2}', 'rue {W}', 'platz am {W}', 'via {W} {d1}', '{W}strasse {d2}', 'calle {W}', 'building {L1}-{d2}', 'pier {d1}{L1}', 'gate {L1}{d2}', '{w}{w}', '{b} of {W}', '{W} {W}', 'sector {d1}-{L2}', '{b} {W}', "{W}'s {b}",
)
_THINGS = (
    '{w}', '{a} {w}', '{w} {n}', '{a} {n} {d2}', '{n} {L1}{d2}', '{W} {n}', "{f}'s {n}", '{n} no. {d2}', '{w} {w}', '{a} {a2} {n}', '{n}-{w}', '{n} marked {L1}{d1}', '{d1}-inch {n}', '{n} with the {w}', '{L2} {n}', '{W}-{d1} {n}', 'half-{a} {n}', '{n} "{W}"', "{w}'s {n}", '{n} of {W}', '{w}-{w} {n}',
)
_NOUNS_OF = 'hall yard dock quay vault loft shed ward plaza annex bay deck'.split()
_TEXTS = (
    'good {x} everyone', 'hello {f} and welcome everybody', '{x} is free from {t} on', 'the {x} is over there', 'no entry (except {p})', '{k} % off all {x}s today', 'call {f} at {m}-{k}, please', '1) {x}, 2) {y}, 3) {z}', 'ready? set, go', 'time: {t}, place: {W}, topic: {x}', 'mind the {x}, it is {k} cm high', '{c}: {k} of {m} done', 'the {x} costs {k}.50 today', 'thank you all',
    'this way, {f}, and then up', 'see you at {t} in {W}, {f}', 'there is one {x} left, maybe two', '{x} first, {y} second', 'wait here until {t}', '{f} is on leave; ask {p} instead', 'come in, it is open', 'not now, {f}', 'yes', 'the {x} is {k} m long and {m} mm wide', 'lunch at {t}', 'it is going to be {a} and {b} again', 'stop that, {f}',
    '{f} will meet {p} at {t} in {W}', 'the code for {W} is {c}', '{c} goes to {p}, {d} goes to {q}', 'please tell {p} that {c} was moved to {W}', '{W} opens at {t}, {V} at {u}', '{f} ate {k} of the {x} and {m} of the {y}', 'lot {c} failed its test; lot {d} did not', 'bring {k} {x}s, {m} {y}s and no {z}s', '{p} speaking, I need {c} by {t}', 'the {x} is under the {y}, not on it',
    'do not touch the {x} before {t}', 'whoever lost a {a} {x} may ask {p}', '{w} {x} {y} {w}', 'we are {k} people and have {m} {x}s', "it isn't the {x} that's {a}, it's the {y}", 'dinner is at {t}: {x} soup and {y}', 'line {k} stands still because of the {x}', '{f}, your {x} is in {W}', 'the password starts with {c}', 'room {c} is {a} and {b}', 'mind the {a} {x}',
    'all of {W}, please gather at the {y}', 'at {t} the {x} will be shown to {p}, {q} and {f}', 'this is a test of the {a} {x}, nothing else', '{p} says: the {x} is {a}', 'my {x} has {k} {y}s, yours has {m}', 'from {W} to {V} it takes {k} minutes', 'thank you {f} for the {a} {x} and the {y}', 'the {x}, the {y} and the {z} are {a}', 'ref {c}: {x} ordered, {y} sold out', 'beware of {W}', "{f}'s {x} is ready for pick-up",
)


def _filled(rng: random.Random, frame: str) -> str:
    digits, letters = '0123456789', 'ABCDEFGHJKLMNPQRSTUVWXYZ'
    made = frame
    for key, pool, count in (('d1', digits, 1), ('d2', digits, 2), ('d3', digits, 3), ('d4', digits, 4), ('L1', letters, 1), ('L2', letters, 2), ('L3', letters, 3), ('h2', '0123456789abcdef', 2)):
        while f'{{{key}}}' in made:
            made = made.replace(f'{{{key}}}', ''.join(rng.choice(pool) for _ in range(count)), 1)
    while '{w}' in made:
        made = made.replace('{w}', coined.coin(rng), 1)
    while '{W}' in made:
        made = made.replace('{W}', (coined.foreign(rng) if rng.random() < 0.5 else coined.coin(rng)).capitalize(), 1)
    return made


def code(rng: random.Random) -> str:
    """Make up a code, a serial number, a version, a file's name."""
    return _filled(rng, rng.choice(_CODES))


def person(rng: random.Random) -> str:
    """Make up a name as there are in many lands."""
    first, second = (coined.foreign(rng).capitalize() if rng.random() < 0.4 else rare.first_name(rng) for _ in range(2))
    last, other = (coined.foreign(rng).capitalize() if rng.random() < 0.5 else rare.last_name(rng) for _ in range(2))
    named = rng.choice(_PARTICLES).format(l=last, k=other) if rng.random() < 0.6 else last
    return rng.choice(_PEOPLE).format(f=first, g=second, p=named, l=last, i=rng.choice('ABCDEFGHJKLMNOPRSTVWZ'), j=rng.choice('ABCDEFGHJKLM'), o=rare.adjective(rng).capitalize(), n=rng.randint(2, 99))


def place(rng: random.Random) -> str:
    """Make up a place's name."""
    frame = rng.choice(_PLACES).replace('{f}', rare.first_name(rng)).replace('{b}', rng.choice(_NOUNS_OF))
    return _filled(rng, frame)


def thing(rng: random.Random) -> str:
    """Make up a thing's name."""
    frame = rng.choice(_THINGS).replace('{f}', rare.first_name(rng)).replace('{n}', rare.noun(rng)).replace('{a2}', rare.adjective(rng)).replace('{a}', rare.adjective(rng))
    return _filled(rng, frame)


def text(rng: random.Random) -> str:
    """Make up a text, at times of several sentences."""
    made = [rng.choice(_TEXTS).format(
        f=rare.first_name(rng), p=person(rng), q=rare.full_name(rng), t=f'{rng.randint(1, 12)}:{rng.randint(0, 59):02d}', u=f'{rng.randint(1, 12)} pm', c=code(rng), d=rare.code(rng), k=rng.randint(2, 90), m=rng.randint(2, 900), a=rare.adjective(rng), b=rare.adjective(rng),
        W=coined.foreign(rng).capitalize(), V=coined.coin(rng).capitalize(), w=coined.coin(rng), x=rare.noun(rng), y=rare.noun(rng), z=coined.coin(rng)) for _ in range(rng.choice((1, 1, 1, 2)))]
    return rng.choice(('. ', '; ', ' - ', ', and ')).join(made)
