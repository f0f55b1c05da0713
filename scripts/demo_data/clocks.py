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

"""Hours of the day, and amounts beside numbers of places: which number of a sentence is which argument."""

from __future__ import annotations

import random

from demo_data.cases import call
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.catalogues import Tool
from demo_data.phrases import expand
from demo_data.phrases import parted
from demo_data.phrases import Said
from demo_data.quantities import words_of
from demo_data.skills import Arg
from demo_data.skills import Skill
from demo_data.wishes import put

_CLOCK = 'p:hour:'
_COUNT = 'p:count:'
# name, other names; description; wishes in which {t} is the hour
_DEEDS = tuple(tuple(part.strip() for part in line.split(';')) for line in """
chime_at, strike_at; Strikes the gong at an hour.; strike the gong at {t}|let the gong sound at {t}|!the gong should sound at {t}|!gong at {t}|!I want to hear the gong at {t}|!at {t} the gong, please
rouse_at, get_up_call; Rouses somebody from sleep at an hour.; get me up at {t}|rouse me at {t}|!I have to be up at {t}|!do not let me sleep longer than {t}|!my flight is early, wake me at {t}|!wake-up call at {t}|!I need to be awake by {t}|wake us at {t}
brew_at, coffee_time; Brews coffee at an hour.; make the coffee at {t}|!I want my coffee at {t}|!coffee at {t}, please|brew coffee at {t}|!there should be coffee at {t}|start the coffee machine at {t}|have coffee ready at {t}
open_gate_at, gate_hours; Opens the gate at an hour.; open the gate at {t}|!the gate opens at {t} tomorrow|!the gate should be open from {t}|!at {t} the gate has to be open|!people come at {t}, open the gate then|let people in at {t}
lamp_at, light_timer; Switches the lamp on at an hour.; switch the lamp on at {t}|!the lamp should go on at {t}|!it gets dark at {t}, lamp on then|!lamp on at {t}|!light at {t}, please|turn on the light at {t}
depart_at, leave_time; Sets the hour of departure.; leave at {t}|!we leave at {t}|!departure at {t}|set off at {t}|!the bus goes at {t}|start the trip at {t}|!be ready to leave at {t}
record_at, tape_at; Records the programme that begins at an hour.; record what comes at {t}|!the film starts at {t}, record it|tape the news at {t}|!I am out at {t}, record the match|record from {t} on
dose_at, pill_time; Hands out the pills at an hour.; give me my pills at {t}|!pills at {t}|!he takes his tablets at {t}|hand out the medicine at {t}|!medicine time is {t}|!it must be taken at {t}, the medicine I mean
oven_at, bake_from; Starts the oven at an hour.; start the oven at {t}|!the roast goes in at {t}|!the oven should be hot at {t}|!oven on at {t}|preheat it at {t}
sprinkle_at, lawn_water; Waters the lawn at an hour.; water the lawn at {t}|!the lawn gets water at {t}|start the sprinkler at {t}|!sprinkler at {t}|!not in the sun, water the grass at {t}
book_slot, reserve_hour; Reserves the court at an hour.; reserve the court for {t}|!we want to play at {t}|book the court at {t}|!court at {t}, please|!is the court free at {t}? Book it|put us down for {t}
dial_at, phone_at; Phones the office at an hour.; phone the office at {t}|ring the office up at {t}|!the office wants our call at {t}|call the office at {t}|!at {t} you call the office
""".strip().split('\n'))
# name, other names; description; noun of the place; things; wishes: {n} things for place {p}
_SERVICES = tuple(tuple(part.strip() for part in line.split(';')) for line in """
send_up, supply_flat; Sends things up to a flat.; flat; lamps, chairs, boxes, keys, blankets
set_places, lay_covers; Lays places at a table.; table; plates, cups, forks, glasses, napkins
add_beds, cots_for; Puts folding beds into a room.; room; folding beds, beds, cots, mattresses
hang_coats, pegs_at; Puts hooks up at a gate.; gate; hooks, pegs, hangers
drop_crates, crates_to; Sets crates down at a ramp.; ramp; crates, sacks, boxes, barrels
hand_cards, cards_to; Gives cards to a group.; group; cards, badges, tickets, maps
plug_cables, cables_for; Plugs cables into a rack.; rack; cables, plugs, fuses
park_bikes, bikes_at; Parks bikes at a stand.; stand; bikes, scooters, trolleys
load_trays, trays_into; Puts trays into an oven.; oven; trays, loaves, pies, pizzas
pot_plants, plants_for; Puts plants into a bed.; bed; tulips, cabbages, seedlings, roses
stack_tyres, tyres_at; Stacks tyres in a lane.; lane; tyres, wheels, rims
fill_lockers, lockers_put; Puts towels into a locker.; locker; towels, robes, caps
charge_carts, carts_at; Couples carts to a train.; train; carts, wagons, cars
stock_fridge, fridge_fill; Puts bottles into a fridge.; fridge; bottles, yoghurts, cans, eggs
seat_kids, kids_on; Seats children on a bus.; bus; children, kids, pupils
""".strip().split('\n'))
_FRAMES = parted("""
bring {n} {x} to {w} {p}|!{n} {x} for {w} {p}|!{w} {p} needs {n} {x}|!{w} {p} wants {n} {x}|!{n} {x}, {w} {p}|!{w} {p}, {n} {x}|!{w} {p}: {n} {x}|!{n} {x} go to {w} {p}|!we need {n} {x} at {w} {p}|!at {w} {p} {n} {x} are missing|!could {w} {p} have {n} {x}?|!{p} gets {n} {x}|!{n} {x} to number {p}, please|take {n} {x} to number {p}
!number {p} asked for {n} {x}|!{w} number {p} ordered {n} {x}|!I would like {n} {x} for {w} {p}|!for {w} {p} we have {n} {x}|put {n} {x} to {w} {p}|!{n} more {x} for {w} {p}|!{w} {p} is {n} {x} short|!{n} {x} and {w} {p}, that is your job|!it is {w} {p} that gets {n} {x}|!{w} {p} should get {n} {x}|!{n} {x} are for {w} {p}|!there must be {n} {x} at {w} {p}|see that {w} {p} gets {n} {x}|!{n} of the {x} for {p}
""")
_ODD_COUNTS = {1: ('one', 'a single', 'just one'), 2: ('a couple of', 'a pair of', 'two'), 6: ('half a dozen',), 12: ('a dozen', 'one dozen'), 24: ('two dozen',), 36: ('three dozen',), 18: ('a dozen and a half of',), 10: ('ten',), 20: ('twenty', 'a score of')}


def names() -> set[str]:
    """Return the tools' names."""
    return {name.strip() for line in (*_DEEDS, *_SERVICES) for name in line[0].split(',')}


def draw_clock(rng: random.Random) -> Skill:
    """Make a skill that does something at an hour and minute of the day."""
    named, about, _ = rng.choice(_DEEDS)
    name, other = (n.strip() for n in named.split(','))
    hour = Arg('hour', 'integer', ('hour', 'hours', 'h', 'at_hour'), ('Hour of the day.', 'Hour on a 24-hour clock.', 'The hour.'), low=0, high=23, keeps_all=True)
    minute = Arg('minute', 'integer', ('minute', 'minutes', 'min', 'at_minute'), ('Minute of the hour.', 'The minute.', 'Minutes past the hour.'), low=0, high=59, keeps_all=True)
    says = tuple(f'{name.replace("_", " ")} {tail}' for tail in ('{hour} hours {minute} minutes', 'hour {hour}, minute {minute}', '{hour} hours and {minute} minutes'))
    return Skill(f'{_CLOCK}{name}', (name, other), (about, f'{about.rstrip(".")} of the day.', f'{about.rstrip(".")}, on the minute.'), says, (hour, minute), near=(f'v:{name.split("_")[0]}',))


def draw_counted(rng: random.Random) -> Skill:
    """Make a skill that brings a number of things to a numbered place."""
    named, about, noun, _ = rng.choice(_SERVICES)
    name, other = (n.strip() for n in named.split(','))
    high = rng.choice((12, 20, 30, 60))
    place = Arg('place', 'integer', (noun, f'{noun}_number', 'number', 'to', 'where'), (f'Number of the {noun}.', f'Which {noun}.', f'{noun.capitalize()}.'), low=1, high=rng.choice((9, 30, 99, 400, 999)), keeps_all=True)
    count = Arg('count', 'integer', ('count', 'amount', 'how_many', 'pieces', 'quantity'), ('How many.', 'Number of pieces.', 'How many of them.'), low=1, high=high, keeps_all=True)
    verb = name.replace('_', ' ')
    says = (f'{verb}: {{count}} for {noun} {{place}}', f'{verb} {{count}} {noun} {{place}}', f'!{noun} {{place}} gets {{count}}')
    return Skill(f'{_COUNT}{name}', (name, other), (about, f'{about.rstrip(".")} by its number.', f'{about.rstrip(".")}, so many of them.'), says, (place, count) if rng.random() < 0.5 else (count, place), near=(f'v:{name.split("_")[0]}',))


def clocked(m: CaseMaker) -> Case | None:
    """A wish with an hour of the day."""
    rng = m.rng
    tool = _tool(m, _CLOCK)
    if tool is None:
        return None
    line = next(line for line in _DEEDS if line[0].split(',')[0].strip() == tool.skill.key.removeprefix(_CLOCK))
    hour, minute, said = say_hour(rng)
    return _case(m, tool, rng.choice(parted(line[2])).replace('{t}', '{t_}'), {'t_': said}, {'hour': hour, 'minute': minute})


def counted(m: CaseMaker) -> Case | None:
    """A wish with an amount and the number of a place, in either order."""
    rng = m.rng
    tool = _tool(m, _COUNT)
    if tool is None:
        return None
    line = next(line for line in _SERVICES if line[0].split(',')[0].strip() == tool.skill.key.removeprefix(_COUNT))
    bounds = {key: tool.slots[key].number for key in ('place', 'count')}
    low_high = [(int(b.low), int(b.high)) for b in bounds.values() if b is not None]
    if len(low_high) < 2:
        return None
    place = rng.randint(*low_high[0])
    count = rng.choice([n for n in _ODD_COUNTS if n <= low_high[1][1]]) if rng.random() < 0.4 else rng.randint(*low_high[1])
    things = rng.choice([x.strip() for x in line[3].split(',')])
    amount = rng.choice(_ODD_COUNTS[count]) if count in _ODD_COUNTS and rng.random() < 0.7 else _digits_or_words(rng, count)
    if amount.endswith(' of'):
        amount = amount if not things.startswith('of') else amount.removesuffix(' of')
    template = rng.choice(_FRAMES)
    if count == 1:
        things = things.removesuffix('es') if things.endswith(('boxes', 'glasses')) else 'child' if things == 'children' else 'loaf' if things == 'loaves' else things.removesuffix('s')
        if 'are' in template or 'of the' in template or '{x} go ' in template:
            return None
    if amount.endswith(' of') and 'of the' in template:
        return None
    if amount.startswith(('a ', 'just', 'one ')) and 'more' in template:
        return None
    values = {'n_': amount, 'x_': things, 'w_': line[2], 'p_': _place_number(rng, place)}
    for key in 'nxwp':
        template = template.replace(f'{{{key}}}', f'{{{key}_}}')
    return _case(m, tool, template, values, {'place': place, 'count': count})


def _tool(m: CaseMaker, prefix: str) -> Tool | None:
    return next((t for t in m.book.tools if t.skill.key.startswith(prefix) and t.side is None and {'hour', 'minute'} <= t.slots.keys() | ({'hour', 'minute'} if prefix == _COUNT else set())), None)


def _case(m: CaseMaker, tool: Tool, template: str, said: dict[str, str], values: dict[str, int]) -> Case | None:
    arguments: dict[str, object] = {}
    for arg in tool.skill.args:
        slot = tool.slots.get(arg.key)
        if slot is None or slot.number is None or arg.key not in values or not slot.number.low <= values[arg.key] <= slot.number.high:
            return None
        put(arguments, slot.path, values[arg.key])
    text = expand(m.rng, template)
    held = {k: v for k, v in said.items() if f'{{{k}}}' in text}
    return Case('converted', m.say(Said(text.lstrip('!'), held, not text.startswith('!'), frozenset(held)), noise=0.4), call((tool.name, arguments)))


def _digits_or_words(rng: random.Random, number: int) -> str:
    return words_of(number) if rng.random() < 0.4 else str(number)


def _place_number(rng: random.Random, number: int) -> str:
    """Say the number of a place as a whole, or digit by digit."""
    roll = rng.random()
    if number > 100 and roll < 0.15:
        hundreds, rest = divmod(number, 100)
        if hundreds < 10 and rest:
            return f'{words_of(hundreds)} {"oh " if rest < 10 else ""}{words_of(rest)}'
    if roll < 0.25 and number > 20:
        return ' '.join('oh' if d == '0' and rng.random() < 0.5 else words_of(int(d)) for d in str(number))
    return words_of(number) if roll < 0.4 else str(number)


def say_hour(rng: random.Random) -> tuple[int, int, str]:
    """Draw an hour and minute of the day, and how people say them."""
    hour, minute = rng.randint(0, 23), rng.choice((0, 0, 0, 30, 30, 15, 45, 10, 20, 40, 50, 5, 55, 25, 35, rng.randint(0, 59)))
    roll = rng.random()
    if roll < 0.05:
        hour, minute, text = rng.choice(((12, 0, 'noon'), (0, 0, 'midnight'), (12, 0, 'twelve noon'), (12, 0, 'midday'), (12, 30, 'half past noon'), (12, 15, 'a quarter past noon')))
        return hour, minute, text
    if roll < 0.4:
        sign = rng.choice((':', ':', ':', '.', ' '))
        text = f'{hour}{sign}{minute:02d}' if rng.random() < 0.7 or sign == ' ' else f'{hour:02d}{sign}{minute:02d}'
        return hour, minute, text + rng.choice(('', '', '', ' h', ' hours', ' sharp', ' on the dot'))
    if roll < 0.45:
        return hour, minute, f'{hour:02d}{minute:02d} hours'
    short, part = (hour - 12 if hour > 12 else hour), ''
    if rng.random() < 0.6 and hour:
        part = rng.choice((' in the morning', ' am', ' a.m.', ' in the morning')) if hour < 12 else rng.choice((' pm', ' p.m.', ' in the afternoon')) if hour < 18 else rng.choice((' pm', ' p.m.', ' in the evening', ' at night' if hour > 20 else ' in the evening'))
    else:
        short = hour
    if hour == 0 or short > 12:
        return hour, minute, f'{hour}:{minute:02d}'
    spelt = words_of(short) if rng.random() < 0.5 else str(short)
    after = words_of(short % 12 + 1) if not spelt.isdigit() else str(short % 12 + 1)
    if minute == 0:
        return hour, 0, f'{spelt}{rng.choice((" o" + chr(39) + "clock", "", "")) if "m" not in part[:3] else ""}{part}{rng.choice(("", "", " sharp", " exactly"))}'
    if minute == 30:
        return hour, 30, rng.choice((f'half past {spelt}', f'half past {spelt}', f'{spelt} thirty')) + part
    crosses = short == 12 or (part and hour % 12 == 11)
    if minute == 15:
        return hour, 15, rng.choice((f'quarter past {spelt}', f'a quarter past {spelt}', f'{spelt} fifteen')) + part
    if minute == 45 and not crosses:
        return hour, 45, rng.choice((f'quarter to {after}', f'a quarter to {after}', f'{spelt} forty-five')) + part
    if minute < 30 and minute % 5 == 0:
        return hour, minute, rng.choice((f'{words_of(minute)} past {spelt}', f'{minute} past {spelt}', f'{minute} minutes past {spelt}', f'{minute} minutes after {spelt}')) + part
    if minute > 30 and minute % 5 == 0 and not crosses:
        return hour, minute, rng.choice((f'{words_of(60 - minute)} to {after}', f'{60 - minute} to {after}', f'{60 - minute} minutes to {after}', f'{60 - minute} before {after}')) + part
    return hour, minute, f'{short}:{minute:02d}{part}'
