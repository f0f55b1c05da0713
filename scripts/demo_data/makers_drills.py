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


"""Cases of the drills: one skill each, with right and wrong close together and alike in number."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
import random
import re

from demo_data import conditions
from demo_data import frames_talk
from demo_data import makers_calls as calls
from demo_data import makers_refusals as refusals
from demo_data import motion
from demo_data import observations as obs
from demo_data import quantities
from demo_data import rare
from demo_data import sounds
from demo_data import speech
from demo_data import values
from demo_data import words
from demo_data.cases import Answer
from demo_data.cases import ask
from demo_data.cases import call
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.catalogues import Tool
from demo_data.makers_state import decide_text
from demo_data.observations import Inputs
from demo_data.observations import State
from demo_data.phrases import expand
from demo_data.phrases import join
from demo_data.phrases import Said
from demo_data.quantities import Declared
from demo_data.skills import Arg
from demo_data.watch_kinds import invent
from demo_data.wishes import argument_at
from demo_data.wishes import make_wish
from demo_data.wishes import put
from demo_data.wishes import Wish
from gemma_node.core import InputState

NAMED_KINDS = ('place', 'object', 'person', 'code', 'choice', 'surface', 'plural')
_SOUNDS = (('ph', 'f'), ('ck', 'k'), ('c', 'k'), ('ee', 'ea'), ('ea', 'ee'), ('oo', 'u'), ('ai', 'ay'), ('tion', 'shun'), ('er', 'a'), ('ou', 'ow'), ('ch', 'sh'),
           ('qu', 'kw'), ('x', 'ks'), ('ll', 'l'), ('tt', 't'), ('ss', 's'), ('y', 'ie'), ('th', 'f'), ('wh', 'w'), ('v', 'f'), ('g', 'k'), ('b', 'p'), ('d', 't'), ('oa', 'o'), ('igh', 'ite'), ('le', 'el'), ('nn', 'n'), ('mm', 'm'), ('rr', 'r'), ('m', 'n'), ('s', 'z'), ('f', 'v'), ('kn', 'n'), ('wr', 'r'), ('i', 'e'), ('o', 'au'), ('a', 'e'), ('h', ''))

def edge_of_range(m: CaseMaker) -> Case | None:
    """A number just inside or just outside of its declared range."""
    found = _numbered(m, m.book.tools)
    if found is None:
        return None
    wish, arg, declared = found
    rng = m.rng
    wants_inside = rng.random() < 0.5
    low, high = Fraction(str(declared.low)), Fraction(str(declared.high))
    at_low = rng.random() < 0.35 and low > 0
    bound = low if at_low else high
    step = _step(declared, bound)
    number = bound + step * rng.choice((1, 1, 2, 3, 5, 8)) * (1 if at_low is wants_inside else -1) * (1 if rng.random() < 0.7 else 4)
    if rng.random() < 0.12:
        number = bound
    if number <= 0 and not declared.low < 0:
        return None
    if not _is_said(m, wish, arg, number, declared):
        return None
    if low <= number <= high:
        return Case('in_range', m.say(_resaid(m, wish, arg, number, declared), noise=0.6), call(wish.call))
    return Case('out_of_range', m.say(_resaid(m, wish, arg, number, declared), noise=0.6), ask(refusals.range_question(wish.tool.slots[arg.key])))


def edge_of_limit(m: CaseMaker) -> Case | None:
    """A number just at, below or above a limit that a description or the system text states."""
    limits = [r for r in m.book.rules if r.kind == 'limit']
    if not limits:
        return None
    rule = limits[0]
    found = _numbered(m, (m.book.tool(rule.tool),), rule.path)
    if found is None:
        return None
    wish, arg, declared = found
    bounds = [b for b in (rule.limit, rule.least) if abs(b) < 1e9]
    limit = Fraction(str(m.rng.choice(bounds)))
    number = limit + _step(declared, limit) * m.rng.choice((-8, -5, -3, -2, -1, -1, 0, 1, 1, 2, 3, 5))
    if not declared.low <= number <= declared.high or not _is_said(m, wish, arg, number, declared):
        return None
    return Case('limit', m.say(_resaid(m, wish, arg, number, declared), noise=0.6), call(wish.call))


def _numbered(m: CaseMaker, tools: tuple[Tool, ...], path: tuple[str, ...] = ()) -> tuple[Wish, Arg, Declared] | None:
    pairs = [(t, a) for t in tools for a in t.skill.args if a.key in t.slots and a.kind in ('number', 'integer') and t.skill.key not in motion.RELATIVE
             and path in ((), t.slots[a.key].path)]
    if not pairs:
        return None
    tool, arg = m.rng.choice(pairs)
    wish, declared = m.wish(tool), tool.slots[arg.key].number
    if wish is None or declared is None or argument_at(wish.call[1], tool.slots[arg.key].path) is None:
        return None
    return wish, arg, declared


def _step(declared: Declared, bound: Fraction) -> Fraction:
    if declared.is_integer or abs(bound) >= 10:
        return Fraction(5) if abs(bound) >= 200 else Fraction(1)
    return Fraction(1, 10) if abs(bound) >= 1 else Fraction(1, 20)


def _is_said(m: CaseMaker, wish: Wish, arg: Arg, number: Fraction, declared: Declared) -> bool:
    """Put a number into a wish's call; False where its sentence does not say the number."""
    names = [n for n in (arg.key, f'{arg.key}_u') if n in wish.said.values]
    if names and declared.is_integer and number.denominator != 1:
        return False
    if names:
        value = quantities.plain(number)
        put(wish.call[1], wish.tool.slots[arg.key].path, int(value) if declared.is_integer else value)
    return bool(names)


def _resaid(m: CaseMaker, wish: Wish, arg: Arg, number: Fraction, declared: Declared) -> Said:
    """Say the number of a wish, in another unit at times."""
    rng = m.rng
    name = next(n for n in (arg.key, f'{arg.key}_u') if n in wish.said.values)
    text = str(quantities.plain(number))
    if wish.tool.skill.says_units or name.endswith('_u'):
        family = quantities.FAMILIES.get(quantities.FAMILY_OF.get(declared.unit, ''), {declared.unit: Fraction(1)})
        units = [u for u, factor in family.items() if u not in ('rad', 'fraction') and (number * family[declared.unit] / factor * 100).denominator == 1
                 and 0.05 <= abs(number * family[declared.unit] / factor) < 20000]
        unit = rng.choice(units) if units and rng.random() < 0.4 else declared.unit
        text = quantities.say(rng, number * family[declared.unit] / family[unit], unit, may_omit=unit == declared.unit) or text
    return replace(wish.said, values={**wish.said.values, name: text})


def member(m: CaseMaker) -> Case | None:
    """A value of an enum: as it stands, misspelt, misheard, nearly another one, or absent."""
    rng = m.rng
    pairs = [(t, a) for t in m.book.tools for a in t.skill.args if a.key in t.slots and t.slots[a.key].choices and a.kind in NAMED_KINDS and t.skill.key not in motion.RELATIVE]
    if not pairs:
        return None
    tool, arg = rng.choice(pairs)
    slot = tool.slots[arg.key]
    wish = m.wish(tool)
    if wish is None or arg.key not in wish.said.values:
        return None
    roll = rng.random()
    if roll < 0.18:
        return refusals.unknown_choice(m)
    spoken = rng.choice(slot.choices[str(argument_at(wish.call[1], slot.path))]).replace('_', ' ')
    known = {word.replace('_', ' ').lower() for c, said in slot.choices.items() for word in (c, *said)}
    if roll < 0.42:
        value = neighbour(rng, spoken)
        if not value or value.lower() in known or any(value.lower() in k or k in value.lower() for k in known):
            return None
        said = replace(wish.said, values={**wish.said.values, arg.key: values.article(rng, value) if arg.kind == 'place' else value}, fixed=wish.said.fixed | {arg.key})
        return Case('unknown_choice', m.say(said, noise=0.4), ask(f'I do not know {value}. Which {slot.path[-1]} should I use?'))
    if roll < 0.78:
        heard = misheard(rng, spoken) if rng.random() < 0.5 else speech.misspell(rng, spoken)
        if rng.random() < 0.3:
            heard = speech.misspell(rng, heard)
        if heard == spoken or heard in known:
            return None
        said = replace(wish.said, values={**wish.said.values, arg.key: f'the {heard}' if arg.kind in ('place', 'object', 'surface') and rng.random() < 0.6 else heard})
        return Case('member', m.say(said, noise=0.3), call(wish.call))
    return Case('member', m.say(wish.said, noise=0.5), call(wish.call))


def misheard(rng: random.Random, text: str) -> str:
    """Write words as they sound, or join or part them."""
    if rng.random() < 0.35:
        return sounds.by_ear(rng, text)
    roll = rng.random()
    if roll < 0.2 and ' ' in text:
        return text.replace(' ', '', 1)
    if roll < 0.3 and len(text) > 7 and ' ' not in text:
        at = rng.randrange(3, len(text) - 3)
        return f'{text[:at]} {text[at:]}'
    kept = 0 if rng.random() < 0.2 else 1
    usable = [(a, b) for a, b in _SOUNDS if a in text[kept:]]
    for a, b in rng.sample(usable, min(len(usable), rng.choice((1, 1, 2, 3)))):
        text = text[:kept] + text[kept:].replace(a, b, 1)
    return text


_LITTLE = frozenset('please could would with that this from into over there here them they your have will what when want need some more than then just make sure'.split())


def heard(m: CaseMaker) -> Case | None:
    """A wish whose telling words came out of speech recognition as others; some of it is as it was."""
    rng = m.rng
    wish = m.wish()
    if wish is None or wish.tool.side is not None:
        return None
    template = wish.said.template
    spots = [x for x in re.finditer(r'(?<![\w{.\'])[a-z]{3,}(?![\w}.\'])', template) if x.group() not in _LITTLE]
    values = dict(wish.said.values)
    known = [k for k, v in values.items() if k not in wish.said.fixed and v.islower() and not re.search(r'\d', v) and k.removesuffix('_u') in wish.tool.slots
             and wish.tool.slots[k.removesuffix('_u')].choices]
    count = max(1, len(spots) // 2) if spots and (not known or rng.random() < 0.75) else 0
    for spot in sorted(rng.sample(spots, min(count, rng.choice((1, 1, 2)))), key=lambda x: -x.start()):
        template = template[:spot.start()] + misheard(rng, spot.group()) + template[spot.end():]
    if known and (not count or rng.random() < 0.4):
        key = rng.choice(known)
        values[key] = misheard(rng, values[key])
    if template == wish.said.template and values == wish.said.values:
        return None
    said = replace(wish.said, template=template, values=values, fixed=wish.said.fixed | {*values})
    text = m.say(said, noise=0.0)
    return Case('command', re.sub(r'[,.!?;]+(?= |$)', '', text).lower() if rng.random() < 0.35 and not wish.said.fixed else text, call(wish.call))


def neighbour(rng: random.Random, value: str) -> str:
    """Name something like a value that is another thing."""
    digits = re.findall(r'\d+', value)
    if digits:
        number = int(digits[-1])
        return re.sub(r'\d+(?!.*\d)', str(max(0, number + rng.choice((-2, -1, 1, 2, 10)))), value)
    parts = value.split()
    if len(parts) < 2:
        return ''
    other = rng.choice((rng.choice(words.COLOURS), rng.choice(words.ADJECTIVES), rare.any_word(rng)))
    return ' '.join([other, *parts[1:]])


def bare_name(m: CaseMaker) -> Case | None:
    """A tool called by its name without the one argument that it needs."""
    tools = [t for t in m.book.tools if len(t.required()) == 1 and t.side is None and len(t.slots[next(iter(t.required()))].path) == 1]
    tools = [t for t in tools if next(a for a in t.skill.args if a.key in t.required()).kind not in ('text', 'xy', 'numbers', 'boolean')]
    if not tools:
        return None
    tool = m.rng.choice(tools)
    name = tool.slots[next(iter(tool.required()))].path[-1]
    shown = tool.name if m.rng.random() < 0.6 else tool.name.replace('_', ' ')
    text = f'{m.rng.choice(("call", "use", "run", "start", "please", "do", "execute", "now"))} {shown}{m.rng.choice(("", ".", " now", " please"))}'
    return Case('unclear', text, ask(f'Which {name} do you mean?'))


def given(m: CaseMaker) -> Case | None:
    """A wish with all that its tool needs."""
    tools = [t for t in m.book.tools if t.required()]
    wish = m.wish(m.rng.choice(tools)) if tools else None
    return None if wish is None else Case('command', m.say(wish.said, noise=0.5), call(wish.call))


def indirect(m: CaseMaker) -> Case | None:
    """A wish for the robot that names another person, or is no imperative."""
    rng = m.rng
    wish = m.wish(imperative=True, quote=True)
    if wish is None or not wish.is_negatable:
        return None
    person = rng.choice(words.PEOPLE) if rng.random() < 0.6 else speech.fillers(rng)['person']
    template = expand(rng, rng.choice(frames_talk.INDIRECT)).replace('{person}', person).replace('{robot}', m.robot)
    return Case('wish', m.say(join(template, is_imperative=False, a=wish.said), polite=False), call(wish.call))


def statement(m: CaseMaker) -> Case | None:
    """A wish in the words of a skill that are no imperative."""
    tool = m.rng.choice(m.book.tools)
    if not any(t.startswith('!') for t in tool.skill.says):
        return None
    wish = make_wish(m.rng, tool)
    if wish is None or wish.said.is_imperative:
        return None
    return Case('wish', m.say(wish.said), call(wish.call))


def branch(m: CaseMaker) -> Case | None:
    """A condition whose input is close to its bound as often as not, on either side."""
    rng = m.rng
    state = m.state(faults=0.0)
    found = conditions.draw_condition(rng, state) if rng.random() < 0.25 else invent(rng)
    wish, other = m.wish(imperative=True, quote=True), m.wish(imperative=True, quote=True)
    if found is None or wish is None or other is None or not wish.is_negatable or wish.call == other.call:
        return None
    fault = rng.choice((InputState.STALE, InputState.STALE, InputState.MISSING, InputState.INVALID)) if rng.random() < 0.1 else None
    conditions.arrange(rng, state, found, truth=rng.random() < 0.5, fault=fault)
    if not found.problem(state) and found.is_close(state):
        return None
    return calls.conditional(m, state, found, wish, other)


def ordered(m: CaseMaker) -> Case | None:
    """The autonomous question under a standing order that holds in half of the cases."""
    state = m.state(trouble=0.03, faults=0.0, breaks=0.5)
    if any(r.condition is not None and r.condition.is_close(state) for r in m.book.rules):
        return None
    return Case('order', decide_text(m), m.judge(state), state=state)


def watched(m: CaseMaker) -> Case | None:
    """The autonomous question with charge and distance near their bounds."""
    rng = m.rng
    state = State()
    inputs = Inputs(rng, state, 0.0)
    makers = [
        lambda: obs.battery(rng, inputs, 'battery', max(1, 20 + rng.choice((-12, -6, -3, -2, -1, -1, 0, 1, 2, 4, 30, 60))), rng.choice((1, 2, 2, 2, 0))),
        lambda: obs.scan(rng, inputs, 'scan', round(0.3 + rng.choice((-0.2, -0.1, -0.05, -0.02, 0.01, 0.05, 0.1, 0.2, 1.2, 3)), 2)),
        lambda: obs.odometry(rng, inputs, 'odom', (1.0, 2.0, 90), rng.choice((0.0, 0.05, 0.09, 0.12, 0.3))),
        lambda: obs.string(inputs, 'errors', *rng.choice((('', 'no_error'), (f'E{rng.randint(1, 99):02d}', 'error'), (rng.choice(words.DIAGNOSES), 'error')))),
    ]
    for make in rng.sample(makers, rng.choice((1, 2, 2, 3))):
        make()
    return Case('decide', decide_text(m), m.judge(state), state=state)


def from_pose(m: CaseMaker, stage: float) -> Case | None:
    """A move or a turn seen from the robot: right angles and whole metres first."""
    rng = m.rng
    tools = [t for t in m.book.tools if t.skill.key in motion.BY_MAP]
    if not tools:
        return None
    tool = rng.choice(tools)
    state = State()
    yaw = rng.choice((0, 90, 180, -90))
    if rng.random() < min(stage, 0.4):
        yaw = rng.choice((45, -45, 135, -135, 30, 60, -30, -60, 120, 150, 5 * rng.randint(-35, 36)))
    places = 0 if rng.random() > stage * 2 + 0.1 else rng.choice((1, 1, 2))
    x, y = (quantities.plain(round(rng.uniform(-9, 9), places)) for _ in range(2))
    obs.odometry(rng, Inputs(rng, state, 0.0), 'odom', (float(x), float(y), yaw), rng.choice((0.0, 0.0, 0.2)))
    if tool.skill.key == 'face_heading':
        move = motion.draw_turn(rng)
        answer = _heading(tool, motion.wrapped(yaw + move.turn))
        text = expand(rng, move.text)
        return answer and Case('relative', m.say(Said(text.lstrip('!'), {}, not text.startswith('!')), noise=0.4), answer, state=state)
    ways = ('forward', 'backward', 'left', 'right')
    move = motion.draw_move(rng, ways, 5.0, two=stage > 0.4) if rng.random() < 0.15 + 0.55 * stage else motion.draw_plain_move(rng, ways)
    reached = motion.reach((float(x), float(y), yaw), move)
    text = expand(rng, move.text)
    sentence = m.say(Said(text.lstrip('!'), {}, not text.startswith('!')), noise=0.4)
    return None if reached is None else calls.to_point(m, tool, sentence, state, reached, 'relative')


def _heading(tool: Tool, heading: int) -> Answer | None:
    slot = tool.slots['heading']
    if slot.number is None or slot.number.unit != 'deg' or abs(heading) > slot.number.high:
        return None
    arguments: dict[str, object] = {}
    put(arguments, slot.path, heading)
    return call((tool.name, arguments))
