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
Tools of one deed that differ by a number in their descriptions: of a size, or for loads of a range.

People say the number in another unit, the biggest one, the longer one, a weight, how many they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
import itertools
import random

from demo_data import quantities
from demo_data.catalogues import Book
from demo_data.catalogues import plain_book
from demo_data.library import skills
from demo_data.phrases import capital
from demo_data.skills import Skill

# unit; numbers; small; smaller; smallest; big; bigger; biggest
_GRADES = tuple(tuple(part.split('|') for part in line.split(';')) for line in """
m;2|3|4|5|6|8|10|12|15|20|25|30|40|50|100;short;shorter;shortest;long;longer;longest
cm;5|8|10|12|15|20|25|30|40|50|60|80|100|120|150;small|little|tiny;smaller;smallest|tiniest;big|large|huge;bigger|larger;biggest|largest
mm;1|2|3|4|5|6|8|10|12|16|20|25|30|40;thin|narrow|slim|fine;thinner|narrower|slimmer;thinnest|narrowest|finest;thick|wide|broad;thicker|wider|broader;thickest|widest|broadest
l;0.2|0.3|0.5|0.75|1|1.5|2|3|5|8|10|12|20|30|50|80|100|200|500|1000;small|little|tiny;smaller;smallest;big|large|huge;bigger|larger;biggest|largest
kg;0.5|1|2|3|5|8|10|12|15|20|25|30|40|50|80|100;light;lighter;lightest;heavy;heavier;heaviest
W;5|8|10|15|20|40|60|75|100|150|300|500|1000|2000;weak|feeble|dim;weaker|dimmer;weakest|dimmest;strong|powerful|bright;stronger|more powerful|brighter;strongest|most powerful|brightest
min;2|3|5|8|10|12|15|20|30|40|45|60|90|120;short|quick;shorter|quicker;shortest|quickest;long|thorough;longer;longest
km/h;2|3|5|8|10|12|15|20|25|30|50|80;slow;slower;slowest;fast|quick;faster|quicker;fastest|quickest
C;5|10|20|30|40|60|80|90|120|150|180|200|220|250;cool|cold;cooler|colder;coolest|coldest;hot;hotter;hottest
bar;0.5|1|2|3|4|5|6|8|10|12|20|50;weak|gentle;weaker|gentler;weakest|gentlest;strong|hard;stronger|harder;strongest|hardest
dB;40|50|60|70|80|90|100;quiet|soft;quieter|softer;quietest|softest;loud|noisy;louder|noisier;loudest|noisiest
""".strip().splitlines())
# unit; things; deeds
_KINDS = tuple(tuple(part.split('|') for part in line.split(';')) for line in """
m;rope|cable|hose|ladder|chain|beam|pole|pipe|ribbon|tape|rod|net|carpet|curtain|wire|rail;fetch|hand out|cut|unroll|lay out|bring|take down|check|coil up|stretch out
cm;box|carton|frame|tile|pan|pizza|plate|bowl|tray|ball|parcel|cushion|pot plant|panel|wheel|pumpkin|mirror|case|disc;fetch|pack|bring|wrap|paint|turn|clean|wipe|stack|stamp|glue|lift off
mm;hole|groove|slot|seam|line|strip|slice|screw|bolt|nail|needle|gap|stripe|thread|notch;cut|make|drill|mill|draw|set|measure|close|fill
l;bucket|tank|pot|jug|barrel|can|kettle|bottle|canister|basin|mug|vat|bag|bin|drum|watering can;fill|empty|rinse|fetch|heat|bring|weigh|shake|drain|top up|cover
kg;dumbbell|weight|sack|stone|block|bag|hammer|hook|crate|bundle|ballast|sledge|anvil;lift|fetch|move|carry over|bring|hang up|put down|swing
W;lamp|heater|laser|speaker|motor|spotlight|fan|drill|burner|charger|torch|soldering iron;switch on|start|use|test|plug in|fetch|run
min;programme|cycle|wash|massage|lesson|break|tour|walk|bath|exercise|workout|nap|show|film;run|start|do|begin|play
km/h;trolley|belt|cart|lane|treadmill|merry-go-round|lift|drum|conveyor;start|run|use|set going
C;oven|bath|kiln|water|stove|plate|cycle|chamber|drier;use|prepare|start|turn on|run
bar;jet|nozzle|pump|press|spray|hose|compressor;use|start|run|open
dB;bell|horn|siren|alarm|buzzer|whistle|gong;sound|ring|use|test
""".strip().splitlines())
# deed; what it takes; unit; bounds; very small things; very big things
_LOADS = tuple(tuple(part.split('|') for part in line.split(';')) for line in """
lift|carry|move|weigh|hoist|hold|transport|hand over;loads|goods|things|pieces|parcels|objects;kg;1|2|3|5|10|15|20;feather|envelope|pen|paper cup|leaf|sponge|glove|postcard|straw|napkin|button|key;piano|car engine|safe|motorbike|fridge|statue|cow|boulder|grand piano|lathe|bathtub full of water|wardrobe
pack|wrap|scan|shelve|post|photograph;goods|items|things|articles;cm;10|15|20|25|30|40;ring|coin|thimble|stamp|pea|button|earring|pill|bean|dice;guitar|door|sofa|bicycle|mattress|ladder|surfboard|cello|wardrobe|canoe
cut|saw|drill|bend|plane;boards|sheets|plates|bars|panels;mm;2|3|5|8|10|20;sheet of foil|sheet of paper|visiting card|postcard;railway sleeper|tree trunk|stone slab|mattress
fill|empty|wash|stir|cool;vessels|containers|tanks|pots;l;1|2|5|10|20;thimble|egg cup|teaspoon|shot glass|test tube;swimming pool|bathtub|oil tanker|water tower|pond
follow|overtake|stop|warn|time;vehicles|runners|movers;km/h;5|8|10|15|20;snail|tortoise|toddler|caterpillar;racing car|express train|cheetah|aeroplane|rocket
dry|heat|bake|cool|rinse;parts|things|pieces;min;2|5|10|15|20;;
""".strip().splitlines())
_SEATS = ('table', 'boat', 'tent', 'tray', 'van', 'cabin', 'room', 'meal', 'lift', 'sofa', 'carriage', 'bench', 'gondola', 'menu', 'taxi', 'sledge')
_SEAT_DEEDS = ('book', 'prepare', 'bring', 'send', 'get ready', 'clean', 'open', 'reserve', 'fetch', 'set up')
_ONE = ('{v} {a} for me alone', '{v} {a} just for me', '!{a} for one, please', '{v} {a}, I am on my own', '!nobody is with me, {v} {a}', '{v} {a} for a single person', '{v} {a} for my aunt', '!only I am coming, {v} {a}')
_TWO = ('{v} {a} for my wife and me', '{v} {a} for the two of us', '{v} {a} for a couple', '!my brother and I want {a}', '{v} {a} for Ann and Joe', '{v} {a} for a pair', '!we are two, {v} {a}', '!there are two of us: {v} {a}')
_MANY = ('{v} {a} for {n} people', '!we are {n}, {v} {a}', '{v} {a} for the {n} of us', '{v} {a} for a family of {n}', '{v} {a} for {n} guests', '!{n} of us want {a}', '{v} {a}, there are {n} of us', '{v} {a} for a group of {n}', '{v} {a} for me and my {m} friends')
_ASKS = ('{v} {x}', '{v} {x}', '{v} {x}', '!we need {x}', '!I want {x}', '!{x}, please', '!it should be {x}', '{v} {x} this time', '!I would like {x}', '!take {x}', '!can I have {x}?', '!let it be {x}', '!{x} will do', '{v} {x} now', '!we take {x}', '!my choice: {x}')
_MIDDLE = ('the middle {n}', 'the medium {n}', 'the medium-sized {n}', 'the {n} in between', 'the {n} of middle size', 'the second biggest {n}', 'the {n} that is neither the {s} nor the {b}')


def graded_book(rng: random.Random) -> Book:
    """Draw a catalogue with two to four tools that a number tells apart, and others at times."""
    found = rng.choice((_of_sizes, _of_sizes, _for_loads, _for_people))(rng)
    if rng.random() < 0.5:
        shown = ' '.join(f'{s.descriptions[0]} {s.says[0]}' for s in found).lower()
        for other in rng.sample(list(skills().values()), rng.choice((1, 1, 2, 3))):
            words = {w for n in other.names for w in n.lower().split('_')}
            if other.says and not other.is_motion and not any(w in shown for w in words):
                found.append(other)
    return plain_book(rng, found, strange=rng.choice((0.2, 0.6, 0.9)), nonces=rng.choice((0.0, 0.0, 0.3, 1.0)))


def _third(verb: str) -> str:
    head, _, tail = verb.partition(' ')
    head += 'es' if head.endswith(('s', 'sh', 'ch', 'x', 'z', 'o')) else 's'
    if verb.startswith(('carry', 'empty', 'dry', 'hurry')):
        head = f'{verb.split(" ")[0][:-1]}ies'
    return f'{head} {tail}'.strip()


def _names(rng: random.Random, verb: str, thing: str, tags: Sequence[str]) -> list[str]:
    count = len(tags)
    stem = '_'.join((verb.split(' ')[0], thing.split(' ')[-1])).replace('-', '_')
    roll = rng.random()
    if roll < 0.35:
        tags = rng.choice(('abcd', '1234', ('i', 'ii', 'iii', 'iv'), 'xyzw', ('alpha', 'beta', 'gamma', 'delta')))
    elif roll < 0.6:
        tags = [str(n) for n in rng.sample(range(2, 60), count)]
    return [f'{stem}_{tag}'.replace('.', '_').replace('/', '').replace(' ', '_') for tag in tags[:count]]


def _said(rng: random.Random, number: Fraction, unit: str) -> str:
    family = quantities.FAMILIES.get(quantities.FAMILY_OF.get(unit, ''), {unit: Fraction(1)})
    if rng.random() < 0.35:
        for other in rng.sample(list(family), len(family)):
            value = number * family.get(unit, Fraction(1)) / family[other]
            if other not in ('t', 'ms', 'rad', 'km', 'cm/s', 'm/s', 'fraction') and (value * 10).denominator == 1 and Fraction(1, 2) <= value <= 5000:
                return quantities.say(rng, value, other) or quantities.say(rng, number, unit)
    return quantities.say(rng, number, unit) or f'{quantities.plain(number)} {unit}'


def _of_sizes(rng: random.Random) -> list[Skill]:
    (unit,), things, verbs = rng.choice(_KINDS)
    row = next(r for r in _GRADES if r[0][0] == unit)
    _, pool, small, smaller, smallest, big, bigger, biggest = row
    thing, verb = rng.choice(things), rng.choice(verbs)
    start = rng.randrange(len(pool) - 3)
    numbers = sorted(Fraction(n) for n in rng.sample(pool[start:start + 7], min(rng.choice((2, 2, 3, 3, 4)), len(pool[start:start + 7]))))
    form = rng.choice(('{V} the {t} of {q}.', '{V} the {t} ({q}).', '{V} a {t} of {q}.', 'The {q} {t}: {v} it.', '{V} the {q} {t}.', '{t}, {q}.', '{V} a {t}. Size: {q}.', 'To {v} the {t} of {q}.'))
    tools = []
    names = _names(rng, verb, thing, [f'{quantities.plain(n)}' for n in numbers])
    last = len(numbers) - 1
    for index, (number, name) in enumerate(zip(numbers, names, strict=True)):
        shown = f'{quantities.plain(number)} {unit}'
        about = form.replace('{V}', capital(_third(verb))).replace('{v}', verb).replace('{t}', thing).replace('{q}', shown)
        calls = []
        for _ in range(6):
            q = _said(rng, number, unit)
            calls += [rng.choice((f'the {thing} of {q}', f'the {q} {thing}', f'a {thing} of {q}', f'the one of {q}', f'{q} of {thing}' if unit == 'm' else f'the {thing} with {q}', f'the {thing}, {q}'))]
        if index in (0, last):
            words, more, most = (small, smaller, smallest) if index == 0 else (big, bigger, biggest)
            forms = [f'the {rng.choice(most)} {thing}', f'the {rng.choice(most)} one', f'the {rng.choice(most)} you have', f'the {rng.choice(most)} of them']
            if last == 1:
                forms += [f'the {rng.choice(words)} {thing}', f'the {rng.choice(words)} one', f'the {rng.choice(more)} {thing}', f'the {rng.choice(more)} one', f'the {rng.choice(more)} of the two', f'something {rng.choice(more)}']
            calls += forms
        elif last == 2:
            calls += [f.replace('{n}', thing).replace('{s}', smallest[0]).replace('{b}', biggest[0]) for f in rng.sample(_MIDDLE, 4)]
        says = tuple(rng.choice(_ASKS).replace('{v}', verb).replace('{x}', each) for each in calls)
        tools.append(Skill(f'graded/{name}', (name,), (capital(about),), says))
    return tools


def _for_loads(rng: random.Random) -> list[Skill]:
    verbs, what, (unit,), bounds, tiny, huge = rng.choice(_LOADS)
    verb, noun = rng.choice(verbs), rng.choice(what)
    low = Fraction(rng.choice(bounds))
    edges = [low] if rng.random() < 0.45 else [low, low * rng.choice((2, 3, 4, 5))]
    spans = [(Fraction(0), edges[0]), *itertools.pairwise(edges), (edges[-1], edges[-1] * 6)]
    names = _names(rng, verb, noun, ('light', 'medium', 'heavy', 'extra')[:len(spans)] if len(spans) > 2 else ('light', 'heavy'))
    tools = []
    singular = noun.removesuffix('s')
    for index, ((bottom, top), name) in enumerate(zip(spans, names, strict=True)):
        a, b = quantities.plain(bottom), quantities.plain(top)
        if index == 0:
            part = rng.choice((f'up to {b} {unit}', f'of at most {b} {unit}', f'under {b} {unit}', f'below {b} {unit}', f'of less than {b} {unit}', f'(max. {b} {unit})'))
        elif index == len(spans) - 1:
            part = rng.choice((f'above {a} {unit}', f'over {a} {unit}', f'of more than {a} {unit}', f'from {a} {unit} on', f'beyond {a} {unit}', f'(min. {a} {unit})'))
        else:
            part = rng.choice((f'of {a} to {b} {unit}', f'between {a} and {b} {unit}', f'from {a} to {b} {unit}', f'({a}-{b} {unit})'))
        about = rng.choice((f'{capital(_third(verb))} {noun} {part}.', f'For {noun} {part}: {verb} them.', f'{capital(noun)} {part}. {capital(_third(verb))} them.'))
        says = []
        for _ in range(12):
            step = (top - bottom) / 20
            number = bottom + step * rng.randint(2, 17)
            number = Fraction(round(number)) if number > 3 else Fraction(round(number * 10), 10)
            if not bottom < number < top:
                continue
            q = _said(rng, number, unit)
            thing = rng.choice((singular, singular, 'thing', 'one', 'piece', 'crate', 'part', 'box', 'sample', 'order', 'unit', 'load'))
            says.append(rng.choice((f'{verb} the {thing} of {q}', f'{verb} this {thing}, it has {q}', f'!the {thing} has {q}, {verb} it', f'{verb} a {thing} of {q}', f'{verb} the {q} {thing}', f'!here is a {thing} of {q}: {verb} it', f'{verb} that {thing} ({q})', f'{verb} the {thing}. It has {q}')))
        extreme = tiny if index == 0 else huge if index == len(spans) - 1 else []
        if extreme and extreme[0]:
            says += [rng.choice((f'{verb} the {x}', f'{verb} this {x}', f'!the {x} is next, {verb} it', f'{verb} my {x}')) for x in rng.sample(extreme, min(4, len(extreme)))]
        if not says:
            return _of_sizes(rng)
        tools.append(Skill(f'graded/{name}', (name,), (about,), tuple(says)))
    return tools


def _for_people(rng: random.Random) -> list[Skill]:
    thing, verb = rng.choice(_SEATS), rng.choice(_SEAT_DEEDS)
    kinds = rng.choice((((1, 1), (2, 2)), ((1, 1), (2, 2), (3, 8)), ((1, 2), (3, 6)), ((1, 1), (2, 4), (5, 10)), ((2, 2), (3, 5), (6, 12)), ((1, 4), (5, 20)), ((1, 2), (3, 4), (5, 9))))
    names = _names(rng, verb, thing, ('single', 'double', 'group')[:len(kinds)] if kinds[0] == (1, 1) else ('small', 'medium', 'large')[:len(kinds)])
    tools = []
    for (low, high), name in zip(kinds, names, strict=True):
        many = f'{low} person' if high == 1 else f'{low} persons' if low == high else rng.choice((f'{low} to {high} people', f'groups of {low} to {high}', f'{low}-{high} persons')) if low > 1 else f'up to {high} people'
        many = {'1 person': 'one person', '2 persons': rng.choice(('two people', 'couples', '2 persons'))}.get(many, many)
        about = rng.choice((f'{capital(_third(verb))} a {thing} for {many}.', f'{capital(thing)} for {many}.', f'{capital(_third(verb))} the {thing} ({many}).'))
        article = rng.choice((f'a {thing}', f'a {thing}', f'the {thing}'))
        forms: list[str] = []
        for number in range(low, high + 1):
            pool = _ONE if number == 1 else _TWO if number == 2 else _MANY
            for form in rng.sample(pool, 3):
                said = quantities.number_text(rng, Fraction(number), words=0.7)
                forms.append(form.replace('{v}', verb).replace('{a}', article).replace('{n}', said).replace('{m}', quantities.number_text(rng, Fraction(number - 1), words=0.8)))
        tools.append(Skill(f'graded/{name}', (name,), (about,), tuple(forms)))
    return tools
