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


"""Questions that the prompt answers, and the one short reply that the model learns for each."""

from __future__ import annotations

from collections.abc import Callable
import random
from typing import Any

from demo_data import rare
from demo_data import values
from demo_data.catalogues import Book
from demo_data.catalogues import Slot
from demo_data.catalogues import Tool
from demo_data.frames_questions import MORE
from demo_data.observations import Fact
from demo_data.observations import State
from gemma_node.core import InputState
from gemma_node.text.render_values import fixed

Asked = tuple[str, dict[str, str], str]
UNKNOWN = 'I do not know that.'

_BATTERY = (*MORE['battery'], '[how full is|how is|what is the state of|what is the charge of] [your|the] battery?', 'what is [your|the] battery level?', 'how much [battery|charge|power|energy] [do you have|is left|remains]?',
            'battery[ level| state|]?', 'how many percent [do you have|is the battery at|are left]?', 'tell me [your|the] [battery level|charge]', 'what does the battery say?', 'are your batteries full?',
            'report the battery', 'how [well|far] are you charged?', 'state of charge?', "[how's|hows] the battery?", 'is there [much|enough] juice left?', 'how long till you are empty, what is the charge?')
_LOW = (*MORE['low'], 'is [your|the] battery low?', 'do you need to charge?', 'is the battery [nearly|almost] empty?', 'should you [charge|recharge] soon?')
_CHARGING = (*MORE['charging'], 'are you charging?', 'is the battery [being charged|charging]?', 'are you [plugged in|on the charger]?', 'is power coming in?')
_WHERE = (*MORE['where'], 'where are you[ now| right now|]?', 'what is your position?', 'tell me [your position|where you are|your coordinates]', 'position?', 'what are your coordinates?', 'where [am I talking to you|is the robot]?',
          'give me your [position|pose|location]', 'where do you stand?', 'at which [point|spot|coordinates] are you?', 'locate yourself for me, where is it?', 'whereabouts are you?', 'report your [pose|position]')
_HEADING = (*MORE['heading'], 'what is your [heading|yaw|direction]?', 'which way are you [facing|looking]?', 'heading?', 'in which direction do you [point|look]?', 'what angle are you at?')
_SPEED = (*MORE['speed'], 'how fast are you[ going| driving|]?', 'what is your speed?', 'speed?', 'at [what|which] speed do you [move|drive]?', 'tell me your [speed|velocity]', 'how quick are you at the moment?')
_MOVING = ('are you [moving|driving]?', 'do you stand still?', 'are you [standing still|at rest]?')
_SEE = (*MORE['see'], 'what do you see?', 'what can you see?', 'what is in front of the camera?', 'describe what you see', 'which objects [do you see|are there]?', 'what is around you?', 'what does the camera [see|show]?',
        'what have you detected?', 'list the [objects|things] you see', 'anything in view?', 'name what you see', 'what is there?', 'look around, what is there?')
_COUNT = (*MORE['count'], 'how many [things|objects|items] do you see?', 'how many [detections|objects] are there?', 'count what you see')
_NEAREST = (*MORE['nearest'], 'what is [closest|nearest][ to you|]?', 'which [object|thing] is the [nearest|closest]?', 'what is the nearest [object|thing]?')
_HAVE = (*MORE['have'], 'do you see {object}?', 'can you see {object}?', 'is {object} [there|in view|visible]?', 'have you [found|spotted|seen] {object}?', 'is there {object}?')
_FAR = (*MORE['far'], 'how far [away |]is {object}?', 'what is the distance to {object}?', 'how far to {object}?')
_SPOT = (*MORE['spot'], 'where is {object}?', 'at which coordinates is {object}?', 'what is the position of {object}?')
_SURE = ('how sure are you about {object}?', 'what is the confidence of {object}?')
_FRONT = (*MORE['front'], 'how far is the [nearest|closest] obstacle[ in front| ahead|]?', 'what is in front of you, how far?', 'how much room is [ahead|in front]?', 'distance [ahead|to the front]?', 'how close is the [wall|obstacle] ahead?')
_SIDE = ('how far is the [nearest|closest] obstacle [on the {side}|to the {side}|at the {side}]?', 'how much [room|space] is [on the|to the] {side}?', 'distance [to the|on the] {side}?')
_MODE = (*MORE['mode'], 'what mode are you in?', 'which mode is [active|set]?', 'mode?', 'what is the [robot |]mode?', 'in which mode do you run?', 'what is your [mode|state]?')
_ERROR = (*MORE['error'], '[are there|do you have|any] [any |]errors?', 'what is the error?', 'is [everything|all] ok?', 'is anything wrong?', 'any [faults|problems]?', 'does the robot report an error?', 'are you ok?', "what's wrong?", 'do you have a problem?')
_TEMPERATURE = (*MORE['temperature'], 'how [warm|hot|cold] is it?', 'what is the temperature?', 'temperature?', 'how many degrees [is it|are there]?', 'what does the thermometer say?')
_NAMED = (*MORE['named'], 'what is [the |]{name}?', 'how [high|much|big] is [the |]{name}?', '{name}?', 'tell me [the |]{name}', 'what does {name} say?', 'what is the value of {name}?', 'report {name}', 'give me {name}')
_FLAG = (*MORE['flag'], 'is {name} [true|set]?', 'what is {name}?', '{name}?', 'what does {name} say?', 'is it true: {name}?')
_FIX = (*MORE['fix'], 'do you have a gps fix?', 'is there a [gps |]fix?', 'does the gps work?', 'is the gps fine?')
_VOLTAGE = ('what is the voltage?', 'how many volts[ does the battery have|]?', 'battery voltage?')
_JOINT = ('what is the position of [joint |]{name}?', 'where is [joint |]{name}?', 'how far is {name} turned?')
_NOTE = (*MORE['note'], 'what does {name} say?', 'what is written on {name}?', 'read {name}', 'what does it say on {name}?', 'what is on {name}?', 'tell me the text of {name}')
_AGE = (*MORE['age'], 'how old is [the |]{name}?', 'what is the age of [the |]{name}?', 'when did you last hear from {name}?', 'how old is the last {name} message?')
_FRESH = ('is [the |]{name} [fresh|stale|up to date]?', 'is {name} still [fresh|current]?')
_TOOLS = ('what can you do?', 'which tools do you have?', 'list your [tools|functions|abilities|skills]', 'what are you able to do?', 'how can you help[ me| us|]?', 'what are your [tools|abilities]?', 'help')
_CHOICES = ('which {arg} [do you know|are there|can I choose]?', 'list [the|all] [choices of|possible] {arg}', 'what {arg} [are possible|do you have|can {tool} take]?', 'what can I choose for {arg}?')
_LIMIT = ('what is the [maximum|largest] {arg} of {tool}?', 'how [high|large|much] may {arg} of {tool} be?', 'what is the upper limit of {arg} [for|of] {tool}?')
_LEAST = ('what is the [minimum|smallest] {arg} of {tool}?', 'what is the lower limit of {arg} [for|of] {tool}?')
_CHOICES_OF = ('which {arg} does {tool} [know|take|accept|offer]?', 'what may I [choose|give|say] for {arg} of {tool}?', 'name the {arg} that {tool} can [use|take]', 'for {tool}, which {arg} are there?', 'what are the options for {arg} of {tool}?',
               'tell me what {arg} [I can use with|there are for|go with] {tool}', '{tool}: which {arg} [exist|are possible]?')
_CHOICES_BY = {
    'place': ('where can you go?', 'which places do you know?', 'what places are there?', 'list the places', 'which rooms can you [reach|find|use]?', 'name all [places|rooms] that you know', 'to which places can I send you?', 'what are the possible places?', 'tell me your places'),
    'object': ('which things can you [take|handle|use]?', 'what objects do you know?', 'list the things you can handle', 'name the objects that are possible', 'which items are there to choose from?', 'what can I ask you to take?'),
    'person': ('which people do you know?', 'whom do you know?', 'list the people', 'name everybody I can choose', 'which persons are possible?', 'who can I pick?'),
    'code': ('which codes are there?', 'which ones can I choose?', 'list all that I can pick', 'what are the possible names?'),
    'choice': ('what can I choose from?', 'which choices do I have?', 'list the options', 'what are my options?', 'which settings are there?', 'what is there to choose?'),
}
_LIMIT_ALONE = ('what is the [highest|greatest|biggest|top] {arg}?', 'how [much|high|large] can the {arg} be at most?', 'up to [which|what] {arg} can [I|we] go?', 'what is the limit for {arg}?', 'what {arg} is allowed at most?', 'tell me the maximum of {arg}', 'the {arg} may be how large?',
                'how far up can I set the {arg}?', 'what is the most I can give for {arg}?', 'maximum {arg}?', 'which {arg} must not be exceeded?', 'where does the {arg} end at the top?')
_LIMIT_BY = {
    'm/s': ('how fast can you go?', 'what is your top speed?', 'how fast may you drive at most?', 'what is the fastest you can do?'), 'km/h': ('how fast can you go?', 'what is your top speed?', 'how fast may you drive at most?'),
    'm': ('how far can you go at most?', 'how many metres at most?', 'what is the greatest distance?', 'how many metres are allowed?'), 's': ('how long can it [be|take] at most?', 'how many seconds at most?', 'what is the longest time?'),
    'min': ('how many minutes at most?', 'what is the longest time?', 'how long at most?'), 'kg': ('how much can you carry at most?', 'how many kilos at most?', 'what is the heaviest you can take?'),
    '%': ('how many percent at most?', 'what is the highest percentage?'), 'deg': ('how many degrees at most?', 'what is the largest angle?'), 'C': ('how hot can it be at most?', 'what is the highest temperature?'),
}
_LEAST_ALONE = ('what is the [lowest|least|tiniest] {arg}?', 'how [low|little|small] can the {arg} be?', 'what is the lower limit for {arg}?', 'which {arg} is the least?', 'tell me the minimum of {arg}', 'minimum {arg}?', 'how far down can I set the {arg}?')
_BOTH = ('what is the range of {arg} of {tool}?', 'between which values may {arg} of {tool} be?', 'which values can {arg} of {tool} have?', 'from where to where does {arg} of {tool} go?', 'in which range is the {arg} of {tool}?', 'tell me the limits of {arg} of {tool}')
_WHAT_FOR = ('what does {tool} do?', 'what is {tool} for?', 'explain {tool}', 'what is the meaning of {tool}?')
_CAN = ('do you have a tool {tool}?', 'is there a tool called {tool}?')


def _two(value: float) -> str:
    return fixed(value)


def ask_state(rng: random.Random, state: State, book: Book) -> Asked | None:
    """Return question template, slot values and reply; None if this draw fits no input."""
    roll = rng.random()
    if roll < 0.1:
        return _ask_tools(rng, book)
    if roll < 0.16:
        return _ask_age(rng, state)
    if roll < 0.24:
        return _ask_absent(rng, state)
    fact = rng.choice(state.facts) if state.facts else None
    maker = _MAKERS.get(fact.kind) if fact is not None else None
    return maker(rng, state, fact) if fact is not None and maker is not None else None


def _told(fact: Fact, reply: str) -> str:
    """Say that a value is old, or that there is none."""
    if fact.value is None:
        return f'{fact.name} has no {"message yet" if fact.state is InputState.MISSING else "valid value"}.'
    return reply if fact.is_fresh else f'{reply[:-1]}, but {fact.name} is stale.'


def _battery(rng: random.Random, _: State, fact: Fact) -> Asked:
    if rng.random() < 0.75 or fact.value is None:
        return rng.choice(_BATTERY), {}, _told(fact, f'The battery is at {fact.value} %.')
    word = 'Yes' if fact.value < 20 else 'No'
    return rng.choice(_LOW), {}, _told(fact, f'{word}, the battery is at {fact.value} %.')


def _charging(rng: random.Random, state: State, fact: Fact) -> Asked:
    return rng.choice(_CHARGING), {}, _told(fact, 'Yes, the battery is charging.' if fact.value else 'No, the battery is not charging.')


def _pose(rng: random.Random, _: State, fact: Fact) -> Asked:
    x, y, yaw = fact.value or (0, 0, 0)
    if rng.random() < 0.7:
        return rng.choice(_WHERE), {}, _told(fact, f'I am at x {_two(x)} m, y {_two(y)} m, yaw {180 if yaw == -180 else yaw} deg.')
    if rng.random() < 0.5:
        return rng.choice(_HEADING), {}, _told(fact, f'The heading is {180 if yaw == -180 else yaw} deg.')
    axis = rng.choice('xy')
    return f'what is your {axis}[ coordinate|]?', {}, _told(fact, f'{axis} is {_two(x if axis == "x" else y)} m.')


def _speed(rng: random.Random, state: State, fact: Fact) -> Asked | None:
    if sum(f.kind in ('speed', 'forward') for f in state.facts) > 1:
        return None
    value = fact.value if fact.value is not None else 0.0
    if rng.random() < 0.65:
        return rng.choice(_SPEED), {}, _told(fact, f'The speed is {_two(value)} m/s.')
    return rng.choice(_MOVING[:1]), {}, _told(fact, f'Yes, at {_two(value)} m/s.' if abs(value) >= 0.005 else 'No, the speed is 0.00 m/s.')


def _seen(rng: random.Random, _: State, fact: Fact) -> Asked | None:
    found = fact.value
    if found is None:
        return rng.choice((*_SEE, *_COUNT)), {}, _told(fact, '')
    names = [d['name'] for d in found]
    roll = rng.random()
    if any(len(n) > 48 for n in names):
        return None
    if roll < 0.3:
        return rng.choice(_SEE), {}, _told(fact, f'I see {", ".join(names)}.' if names else 'I see nothing.')
    if roll < 0.4:
        return rng.choice(_COUNT), {}, _told(fact, f'I see {len(names)} object{"" if len(names) == 1 else "s"}.')
    if roll < 0.5:
        return rng.choice(_NEAREST), {}, _told(fact, f'The nearest is {names[0]}.' if names else 'I see nothing.')
    return _one_thing(rng, fact, names)


def _one_thing(rng: random.Random, fact: Fact, names: list[str]) -> Asked | None:
    if names and rng.random() < 0.65:
        thing = rng.choice(list(fact.value))
        name = thing['name']
        if any(name != n and (name in n or n in name) for n in names):
            return None
        slots = {'object': values.article(rng, name)}
        return rng.choice((
            (rng.choice(_HAVE), slots, _told(fact, f'Yes, {name} is {_two(thing["distance"])} m away.')),
            (rng.choice(_FAR), slots, _told(fact, f'{name} is {_two(thing["distance"])} m away.')),
            (rng.choice(_SPOT), slots, _told(fact, f'{name} is at x {_two(thing["x"])} m, y {_two(thing["y"])} m.')),
            (rng.choice(_SURE), slots, _told(fact, f'The confidence of {name} is {thing["confidence"] * 100:.0f} %.')),
        ))
    name = values.thing(rng)
    if any(name in n or n in name for n in names):
        return None
    return rng.choice((*_HAVE, *_FAR, *_SPOT)), {'object': values.article(rng, name)}, _told(fact, f'I do not see {name}.')


def _front(rng: random.Random, _: State, fact: Fact) -> Asked:
    reply = 'In front it is clear.' if fact.value == float('inf') else f'The nearest obstacle in front is at {_two(fact.value or 0)} m.'
    return rng.choice(_FRONT), {}, _told(fact, reply)


def _side(rng: random.Random, _: State, fact: Fact) -> Asked:
    reply = f'On the {fact.kind} it is clear.' if fact.value == float('inf') else f'The nearest obstacle on the {fact.kind} is at {_two(fact.value or 0)} m.'
    return rng.choice(_SIDE).replace('{side}', fact.kind), {}, _told(fact, reply)


def _mode(rng: random.Random, state: State, fact: Fact) -> Asked:
    if sum(f.kind == 'mode' for f in state.facts) > 1:
        return f'[what is the|tell me the] {fact.name}?', {}, _told(fact, f'{fact.name} is {fact.value}.')
    return rng.choice((*_MODE, f'what is the {fact.name}?')), {}, _told(fact, f'{fact.name} is {fact.value}.')


def _error(rng: random.Random, state: State, fact: Fact) -> Asked | None:
    if fact.value is None:
        return rng.choice(_ERROR), {}, _told(fact, '')
    if sum(f.kind == 'error' for f in state.facts) > 1 or len(str(fact.value)) > 60:
        return None
    return rng.choice(_ERROR), {}, _told(fact, f'The robot reports {fact.value}.')


def _no_error(rng: random.Random, state: State, fact: Fact) -> Asked | None:
    if any(f.kind == 'error' for f in state.facts):
        return None
    return rng.choice(_ERROR), {}, _told(fact, 'No errors are reported.')


def _temperature(rng: random.Random, state: State, fact: Fact) -> Asked | None:
    if any('temperature' in f.name and f is not fact for f in state.facts):
        return None
    return rng.choice(_TEMPERATURE), {}, _told(fact, f'The temperature is {fact.value} C.')


def _name(rng: random.Random, name: str) -> str:
    return name if rng.random() < 0.4 else name.replace('_', ' ')


def _number(rng: random.Random, state: State, fact: Fact) -> Asked | None:
    if fact.name == 'altitude' and state.fact('fix') is not None:
        return None
    value = fact.value
    text = '' if value is None else str(value) if isinstance(value, int) else f'{value:.3f}'.rstrip('0').rstrip('.')
    return rng.choice(_NAMED), {'name': _name(rng, fact.name)}, _told(fact, f'{fact.name} is {text}.')


def _flag(rng: random.Random, _: State, fact: Fact) -> Asked:
    return rng.choice(_FLAG), {'name': _name(rng, fact.name)}, _told(fact, f'{fact.name} is {"true" if fact.value else "false"}.')


def _fix(rng: random.Random, _: State, fact: Fact) -> Asked:
    return rng.choice(_FIX), {}, _told(fact, f'Yes, {fact.name} has a fix.' if fact.value else f'No, {fact.name} has no fix.')


def _voltage(rng: random.Random, _: State, fact: Fact) -> Asked:
    return rng.choice(_VOLTAGE), {}, _told(fact, f'The voltage is {fact.value or 0:.1f} V.')


def _joints(rng: random.Random, _: State, fact: Fact) -> Asked | None:
    if not fact.value:
        return None
    name = rng.choice(list(fact.value)[:12])
    return rng.choice(_JOINT), {'name': _name(rng, name)}, _told(fact, f'{name} is at {_two(fact.value[name])}.')


def _note(rng: random.Random, _: State, fact: Fact) -> Asked | None:
    if fact.value is not None and len(fact.value) > 110:
        return None
    label = fact.name if rng.random() < 0.4 else 'the ' + fact.name.replace('_', ' ')
    return rng.choice(_NOTE), {'name': label}, _told(fact, f'{fact.name} says "{fact.value}".')


def _distance(rng: random.Random, _: State, fact: Fact) -> Asked:
    return rng.choice(_NAMED), {'name': _name(rng, fact.name)}, _told(fact, f'{fact.name} is {_two(fact.value or 0)} m.')


def _ask_age(rng: random.Random, state: State) -> Asked | None:
    found = [o for o in state.observations if o.value is not None]
    if not found:
        return None
    one = rng.choice(found)
    if rng.random() < 0.5:
        word = 'No' if one.state is InputState.STALE else 'Yes'
        return f'is [the |]{one.name} [fresh|up to date|current]?', {}, f'{word}, {one.name} is {"stale" if word == "No" else "fresh"}.'
    if one.age_s >= 10:
        return None
    return rng.choice(_AGE), {'name': one.name}, f'{one.name} is {one.age_s:.1f} s old.'


def _ask_absent(rng: random.Random, state: State) -> Asked | None:
    """Ask for what no input says."""
    kinds = {f.kind for f in state.facts}
    names = {f.name for f in state.facts}
    options: list[str] = []
    for kind, asked in (('battery', _BATTERY), ('pose', (*_WHERE, *_HEADING)), ('speed', _SPEED), ('seen', (*_SEE, *_COUNT)), ('front', _FRONT), ('mode', _MODE), ('temperature', _TEMPERATURE), ('fix', _FIX)):
        clash = {'speed': {'forward', 'speed'}, 'front': {'front', 'distance'}, 'temperature': {'temperature', 'number'}, 'mode': {'mode', 'number', 'flag'}}.get(kind, {kind})
        if not kinds & clash:
            options += asked
    if not options or rng.random() < 0.35:
        name = f'{rare.noun(rng)}_{rng.choice(("level", "count", "state", "temperature"))}'
        return (rng.choice(_NAMED), {'name': _name(rng, name)}, UNKNOWN) if name not in names else None
    return rng.choice(options), {}, UNKNOWN


def _ask_tools(rng: random.Random, book: Book) -> Asked | None:
    if not book.tools:
        return None
    roll = rng.random()
    tool = rng.choice(book.tools)
    if roll < 0.3:
        return rng.choice(_TOOLS), {}, f'I can {", ".join(book.names)}.'
    if roll < 0.45:
        return rng.choice(_WHAT_FOR), {'tool': tool.name}, tool.declaration.description
    if roll < 0.55:
        made = f'{rare.verb(rng)}_{rare.noun(rng)}'
        has = rng.random() < 0.5
        name = tool.name if has else made
        return rng.choice(_CAN), {'tool': name}, f'Yes, there is {name}.' if has else f'No, there is no {name}.'
    slot: Any = rng.choice(tuple(tool.slots.values())) if tool.slots else None
    if slot is None:
        return None
    return _ask_slot(rng, book, tool, slot)


def ask_declared(rng: random.Random, book: Book) -> Asked | None:
    """Ask for the choices or the bounds of an argument."""
    pairs = [(t, s) for t in book.tools for s in t.slots.values() if s.choices or s.number is not None]
    if not pairs:
        return None
    if rng.random() < 0.15:
        return _ask_tools(rng, book)
    return _ask_slot(rng, book, *rng.choice(pairs))


def _ask_slot(rng: random.Random, book: Book, tool: Tool, slot: Slot) -> Asked | None:
    name = slot.path[-1]
    spoken = name if rng.random() < 0.5 else name.replace('_', ' ')
    shown = tool.name if rng.random() < 0.5 else tool.name.replace('_', ' ')
    words = {'arg': spoken, 'tool': shown}
    alone = sum(s.path[-1] == name for t in book.tools for s in t.slots.values()) == 1
    kind = next(a.kind for a in tool.skill.args if tool.slots.get(a.key) is slot)
    if slot.choices:
        own = sum(bool(s.choices) and a.kind == kind for t in book.tools for a in t.skill.args if (s := t.slots.get(a.key)) is not None) == 1
        options = [*_CHOICES_OF, *(_CHOICES if alone else ()), *(_CHOICES_BY.get(kind, ()) if own else ())]
        return rng.choice(options), words, f'I know {", ".join(slot.choices)}.'
    if slot.number is None or tool.skill.key == 'move_target':
        return None
    unit = slot.number.unit
    same = sum(s.number is not None and s.number.unit == unit for t in book.tools for s in t.slots.values()) == 1
    roll = rng.random()
    if roll < 0.6:
        options = [*_LIMIT, *(_LIMIT_ALONE if alone else ()), *(_LIMIT_BY.get(unit, ()) if same else ())]
        return rng.choice(options), words, f'At most {slot.number.high:g} {unit}.'.replace(' .', '.')
    if roll < 0.85:
        return rng.choice((*_LEAST, *(_LEAST_ALONE if alone else ()))), words, f'At least {slot.number.low:g} {unit}.'.replace(' .', '.')
    return rng.choice(_BOTH), words, f'From {slot.number.low:g} to {slot.number.high:g} {unit}.'.replace(' .', '.')


_MAKERS: dict[str, Callable[[random.Random, State, Fact], Asked | None]] = {
    'battery': _battery, 'charging': _charging, 'pose': _pose, 'speed': _speed, 'forward': _speed, 'seen': _seen, 'front': _front, 'left': _side, 'right': _side,
    'back': _side, 'mode': _mode, 'error': _error, 'no_error': _no_error, 'temperature': _temperature, 'number': _number, 'flag': _flag, 'fix': _fix, 'voltage': _voltage,
    'joints': _joints, 'note': _note, 'distance': _distance,
}


