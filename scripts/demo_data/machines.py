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
Unusual machines: tools of one trade each, what its people ask for, and what they only say.

`machines/*.txt` is the data, read line by line: `== name` begins a machine; `* name|name ::
description | description` a tool (`*@`: there are others much like it); `name[?]|name: kind ...;
description|description; more` an argument; `- ` a wish, with `=> argument=value, ...` what it means
without a word for it; `~argument: ` a wish that lacks that argument; `. ` what asks for nothing; `? `
what the machine cannot do. `#` begins a comment.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
import functools
from pathlib import Path
import random
import re

from demo_data import coined
from demo_data import speech
from demo_data.cases import ask
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import IDLE
from demo_data.cases import no_action
from demo_data.cases import NO_TOOL
from demo_data.catalogues import Book
from demo_data.catalogues import plain_book
from demo_data.makers_refusals import sounds_like_a_tool
from demo_data.phrases import slots_of
from demo_data.skills import Arg
from demo_data.skills import Skill
from demo_data.wishes import make_wish

FOLDER = Path(__file__).with_name('machines')
PREFIX = 'm:'
_KINDS = {'int': 'integer', 'num': 'number', 'enum': 'choice', 'flag': 'boolean', 'thing': 'object', 'place': 'place', 'person': 'person', 'code': 'code', 'text': 'text'}
# A wish that begins so is no imperative, as is one marked with `!`.
_NO_VERB = frozenset("""a all an another any are as at back both can could did do does down enough every everybody everyone first five four get's half has have he her his how i i'd i'm if in is it it's let's
    more my next no nobody nothing now number off on once one only our out ready room she some somebody someone something ten that the their then there there's these they this those three time to too two up we we're what
    what's when where which who why will with would you you're your
    after angry baby bags bars baskets beams bees beginners bird blade boots breakfast broken bubbles burglars burning cables cage chairs clouds cosy creases cucumbers ferns football frost grandma's guests heating
    holidaymakers' hopeless humid jungle kids leaves lisbon mixed night-night nom oompah petrol pigeons points pollen remis rook rubber scissors server she's still streaks suitcases t-shirts tablecloths they're threads
    through wasps we've wedges white who's fire
    apart autumn ball balls beech blades breeze chair chopsticks coins cup ding dung ears feet found fresh glitter grandpa holes i've knees lamp lane league lesson's low marbles marshmallows needles new noon onto
    picture plim quiet quorl repro rolled sheets shelf spaghetti sums sun sunset they've thistles time's tube under vault
    advent applause arms army august barriers birds black can't caps christmas cloth cold damp day's deep drivers dusk easter's faces flies fur gears gravel grey hall hard he's hockey holds horn how's levers like lines
    long magnesia morning parked popcorn railway ringlets rust sailors scales seagull ship's ships shoes shorter slack spokes stars steel straight suds table they'd thick thicker tighter today valentine waves
    won't yellow
    360 alarm and anything bread broccoli bunker cans carrots cartons chips closer disc don't doors doorsteps due everything flames flat forefinger full further good heavy here's lamps lights magazines newspapers not
    old palm planks radiation rain red scene schnitzel see-through shards sharp soda that's timber toast tomorrow's wheels where's
    air bar blue board bronze copper cow crust cups curtain dinner done dust final foil from grass green hay hops hot ink into iodine key lid lift loaves log metal mist naked over people petals photometer
    rakes rolls roof row salinity skimmer slabs slower sound starlings sticks tabs trolley vintage visitors warp water wheel winter wort zone""".split())
_LIGHT = frozenset('the and with for from into onto that this only when use not one its are has all any out off before after'.split())


class MachineError(ValueError):
    """A line that cannot be used; the text says which, and why."""


@dataclass
class Machine:
    """A machine: skills, those that others are much like, wishes that lack something, idle talk, what it cannot do."""

    name: str
    skills: list[Skill] = field(default_factory=list)
    alike: set[str] = field(default_factory=set)
    lacking: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    idle: list[str] = field(default_factory=list)
    beyond: list[str] = field(default_factory=list)


@functools.cache
def machines(folder: Path = FOLDER) -> dict[str, Machine]:
    """Load all machines by name; raises MachineError."""
    found: dict[str, Machine] = {}
    for file in sorted(folder.glob('*.txt')):
        for number, line in enumerate(file.read_text(encoding='utf-8').splitlines(), 1):
            try:
                _read(found, line.strip())
            except (ValueError, IndexError, KeyError) as error:
                raise MachineError(f'{file.name}, line {number}: {error}: {line.strip()!r}') from error
    return found


def _read(found: dict[str, Machine], line: str) -> None:
    if not line or line.startswith('#'):
        return
    if line.startswith('== '):
        name = line[3:].strip()
        if name in found:
            raise ValueError('this machine is there already')
        found[name] = Machine(name)
        return
    machine = list(found.values())[-1]
    if line.startswith('*'):
        names, _, about = line.lstrip('*@ ').partition(' :: ')
        key = f'{PREFIX}{machine.name}/{names.split("|")[0]}'
        if line.startswith('*@'):
            machine.alike.add(key)
        machine.skills.append(Skill(key, tuple(names.split('|')), _parts(about), (), says_units=True))
    elif line.startswith('- '):
        machine.skills[-1] = _said(machine.skills[-1], line[2:])
    elif line.startswith('~'):
        key, _, template = line[1:].partition(': ')
        if key not in {a.key for a in machine.skills[-1].args if not a.optional}:
            raise ValueError('no such needed argument')
        machine.lacking.setdefault(machine.skills[-1].key, []).append((key, _marked(template)))
    elif line.startswith('. '):
        machine.idle.append(line[2:])
    elif line.startswith('? '):
        machine.beyond.append(line[2:])
    else:
        machine.skills[-1] = replace(machine.skills[-1], args=(*machine.skills[-1].args, _arg(line)))


def _parts(text: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in text.split(' | ') if part.strip())
    if not found:
        raise ValueError('nothing is said here')
    return found


def _arg(line: str) -> Arg:
    names, _, rest = line.partition(': ')
    kind_text, abouts, *more = [part.strip() for part in rest.split(';')]
    word, _, detail = kind_text.partition(' ')
    kind = _KINDS[word]
    keys = tuple(names.replace('?', '').split('|'))
    shared = {'key': keys[0], 'kind': kind, 'names': keys, 'descriptions': _parts(abouts), 'optional': '?' in names}
    if kind in ('integer', 'number'):
        low, high, *unit = detail.split()
        step = 1.0 if kind == 'integer' else 0.01
        return Arg(**shared, low=float(low), high=float(high), step=step, unit=unit[0] if unit else '')
    if kind == 'choice':
        spoken = {}
        for part in detail.split(', '):
            choice, _, said = part.partition('=')
            spoken[choice] = tuple(said.split('/')) if said else (choice.replace('_', ' '),)
        return Arg(**shared, choices=tuple(spoken), spoken=spoken, keeps_all=True)
    if kind == 'boolean':
        return Arg(**shared, says_true=_alternatives(more[0]), says_false=_alternatives(more[1]))
    return Arg(**shared, spoken={'pool': tuple(detail.split(', '))} if detail else {})


def _alternatives(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split('|'))


def _said(skill: Skill, line: str) -> Skill:
    template, _, given = line.partition(' => ')
    template = _marked(template)
    args = {a.key: a for a in skill.args}
    told: dict[str, str | float | bool] = {}
    for part in given.split(', ') if given else ():
        key, _, value = part.partition('=')
        kind = args[key].kind
        told[key] = value == 'true' if kind == 'boolean' else float(value) if kind in ('integer', 'number') else value
        if kind == 'choice' and value not in args[key].choices:
            raise ValueError(f'{key} cannot be {value}')
    asked = slots_of(template)
    missing = {a.key for a in skill.args if not a.optional} - asked - told.keys()
    if missing or asked & told.keys() or not asked <= args.keys():
        raise ValueError(f'has {sorted(asked)}, needs also {sorted(missing)}')
    return replace(skill, says=(*skill.says, template), sets={**skill.sets, template: told} if told else skill.sets)


def _marked(template: str) -> str:
    first = template.split()[0].lower().strip(',.:;?!')
    return f'!{template}' if not template.startswith('!') and (first in _NO_VERB or first.startswith(('{', '['))) else template


def tool_names() -> set[str]:
    """Return the names that tools of machines may have."""
    return {name for machine in machines().values() for skill in machine.skills for name in skill.names}


def machine_book(rng: random.Random) -> Book:
    """Draw the catalogue of one machine, or of two; names may say nothing."""
    first = _any(rng)
    chosen = _some(rng, first, 0)
    if rng.random() < 0.14:
        for skill in _some(rng, _any(rng), rng.choice((1, 2, 3, 4))):
            if not any(len(_content(skill) & _content(s)) > 1 or skill.key == s.key for s in chosen):
                chosen.append(skill)
    roll = rng.random()
    nonces = 0.0
    if roll < 0.12:
        chosen = [replace(s, names=(_shuffled(rng, s.names[0]),)) for s in chosen]
    elif roll < 0.2:
        start = rng.choice(('tool', 'fn', 'op', 'cmd', 'x', 'act', 'job', 'f', 'svc', 'T', coined.coin(rng)))
        numbers = rng.sample(range(1, rng.choice((12, 60, 1000))), len(chosen))
        chosen = [replace(s, names=(f'{start}{rng.choice(("", "_"))}{n}',)) for s, n in zip(chosen, numbers, strict=True)]
    elif roll < 0.45:
        nonces = rng.choice((0.3, 1.0, 1.0))
    return plain_book(rng, chosen, strange=rng.choice((0.2, 0.6, 0.9)), nonces=nonces)


def _some(rng: random.Random, machine: Machine, most: int) -> list[Skill]:
    count = len(machine.skills)
    kept = min(count, most) if most else count if rng.random() < 0.4 else rng.randint(min(count, 2), count)
    return rng.sample(machine.skills, kept)


@functools.cache
def _content(skill: Skill) -> frozenset[str]:
    text = ' '.join((*skill.descriptions, *skill.says)).lower()
    return frozenset(re.findall('[a-z]{3,}', re.sub(r'\{\w+\}', '', text))) - _LIGHT


def _shuffled(rng: random.Random, name: str) -> str:
    letters = [c for c in name if c != '_']
    rng.shuffle(letters)
    return ''.join(letters).lstrip('0123456789')[:12] or coined.coin(rng)


def _present(m: CaseMaker) -> list[Machine]:
    names = dict.fromkeys(t.skill.key[len(PREFIX):].partition('/')[0] for t in m.book.tools if t.skill.key.startswith(PREFIX))
    return [machines()[name] for name in names]


def idle(m: CaseMaker) -> Case | None:
    """What people of a trade say without asking for anything, of this one or another."""
    rng = m.rng
    texts = [text for machine in _present(m) for text in machine.idle]
    if not texts:
        return None
    is_own = rng.random() < 0.6
    said = speech.free(rng, f'!{rng.choice(texts if is_own else _any(rng).idle)}')
    if not is_own and sounds_like_a_tool(m, said.plain):
        return None
    return Case('chat', m.say(said, noise=0.4, polite=False), no_action(IDLE))


def _any(rng: random.Random) -> Machine:
    return rng.choice(tuple(machines().values()))


def beyond(m: CaseMaker) -> Case | None:
    """What the machine cannot do: never could, or not with the tools that are left."""
    rng = m.rng
    present = _present(m)
    if len(present) != 1:
        return None
    machine = present[0]
    have = {t.skill.key for t in m.book.tools}
    gone = [s for s in machine.skills if s.key not in have and s.key not in machine.alike]
    roll = rng.random()
    strange = _any(rng)
    if roll < 0.3 and strange is not machine:
        gone = strange.skills
    if gone and roll < 0.65:
        book = plain_book(rng, [rng.choice(gone)], strange=0.0, nonces=0.0)
        wish = make_wish(rng, book.tools[0])
        if wish is None or (gone is strange.skills and sounds_like_a_tool(m, re.sub(r'\{\w+\}', '', wish.said.template))):
            return None
        return Case('unavailable', m.say(wish.said, noise=0.5), ask(NO_TOOL))
    return Case('unavailable', m.free(_marked(rng.choice(machine.beyond))), ask(NO_TOOL)) if machine.beyond else None


def lacking(m: CaseMaker) -> Case | None:
    """A wish in which a needed argument is not said."""
    rng = m.rng
    pairs = [(t, *lack) for machine in _present(m) for t in m.book.tools for lack in machine.lacking.get(t.skill.key, ()) if lack[0] in t.slots]
    if not pairs:
        return None
    tool, key, template = rng.choice(pairs)
    asked = slots_of(template)
    wish = make_wish(rng, replace(tool, skill=replace(tool.skill, says=(template,), sets={}, args=tuple(a for a in tool.skill.args if a.key in asked))))
    return wish and Case('unclear', m.say(wish.said, noise=0.4), ask(f'Which {tool.slots[key].path[-1]} do you mean?'))
