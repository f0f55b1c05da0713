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


"""Families about arguments: choices, misspelt and misheard ones, texts, lists, objects, options."""

from __future__ import annotations

from .kit import array
from .kit import call
from .kit import calm
from .kit import case
from .kit import decimal
from .kit import drawn
from .kit import enum
from .kit import flag
from .kit import integer
from .kit import mixed
from .kit import number
from .kit import order
from .kit import pick
from .kit import record
from .kit import say
from .kit import Skill
from .kit import text
from .register import coined
from .register import family
from .register import STILL
from .register import with_choice
from .register import WORLDS
from .values import ITEMS
from .values import PEOPLE
from .values import STATEMENTS

CHOOSERS = [(world, skill) for world in WORLDS for skill in world if with_choice(skill)]
HEARD = {
    'fern_bench': 'firm bench', 'moss_table': 'moss able', 'cactus_row': 'cactus roe',
    'seed_rack': 'seed wreck', 'rain_barrel': 'rein barrel', 'compost_gate': 'compost gait',
    'cold_cellar': 'cold seller', 'wrapping_desk': 'rapping desk', 'label_corner': 'labour corner',
    'gate_walnut': 'gate wall nut', 'ward_aspen': 'ward as pen', 'ward_birch': 'ward perch',
    'ward_cedar': 'ward seeder', 'blood_lab': 'blood lap', 'linen_room': 'lemon room',
    'night_desk': 'knight desk', 'heron_pier': 'heron peer', 'plover_pier': 'plover peer',
    'ice_quay': 'ice key', 'fuel_jetty': 'fuel jet tea', 'whale_room': 'wail room',
    'hall_of_clocks': 'hall of clogs', 'coin_cabinet': 'coin cabin it',
    'amber_gallery': 'ember gallery', 'gift_counter': 'gift county', 'parcel_nook': 'parcel look',
    'board_room': 'bored room', 'tea_kitchen': 'tee kitchen', 'south_stairs': 'south stares',
    'print_corner': 'prince corner', 'barn_roof': 'barn rough', 'pad_thistle': 'pad this all',
    'bronze_lion': 'bronze lying', 'silk_map': 'silk mop', 'glass_organ': 'glass oregon',
    'steam_engine': 'steam engines', 'folk_tales': 'folk tails', 'sheet_music': 'sheep music',
}  # fmt: skip


def _asked(rng, wish, world, **more):
    return case('', say(rng, wish.clause), call(wish), mixed(rng, [wish.skill], world, 3, 6),
                observations=calm(rng, 1, 3), **more)


@family('args/enum', 15)
def choices(rng):
    world, skill = rng.choice(CHOOSERS)
    return _asked(rng, order(rng, skill), world)


@family('args/typo', 18)
def typos(rng):
    world, skill = rng.choice(CHOOSERS)
    wish = order(rng, skill)
    spoken = wish.spoken[with_choice(skill)]
    if len(spoken) < 6 or spoken not in wish.clause:
        return None
    return case('', say(rng, wish.clause.replace(spoken, _misspelt(rng, spoken))), call(wish),
                mixed(rng, [skill], world, 3, 6), observations=calm(rng, 1, 3))


def _misspelt(rng, word):
    """Swap, drop or double a letter inside a word."""
    places = [i for i in range(1, len(word) - 2) if word[i].isalpha() and word[i + 1].isalpha()]
    i = rng.choice(places)
    kind = rng.randrange(3)
    if kind == 0 and word[i] != word[i + 1]:
        return word[:i] + word[i + 1] + word[i] + word[i + 2:]
    return word[:i] + word[i + 1:] if kind == 1 else word[:i] + word[i] + word[i:]


@family('args/misheard', 18)
def misheard(rng):
    world, skill = rng.choice(CHOOSERS)
    wish = order(rng, skill)
    name = with_choice(skill)
    heard = HEARD.get(wish.arguments[name])
    if heard is None or wish.spoken[name] not in wish.clause:
        return None
    words = wish.clause.replace(wish.spoken[name], heard)
    frames = ('{clause}', '{clause} please', 'robot {clause}', 'could you {clause}',
              'okay {clause}', 'now {clause}')
    return case('', say(rng, words, frames), call(wish), mixed(rng, [skill], world, 3, 6),
                observations=calm(rng, 1, 3))


THINGS = Skill(
    name='collect_thing', description='Collect one thing by name and keep it in the basket.',
    parameters={'thing': text('Name of the thing.')}, slots=drawn(thing=pick(*ITEMS)),
    plain=('collect the {thing}', 'collect a {thing}', 'pick up the {thing}',
           'put the {thing} into your basket', 'take the {thing} with you', 'grab that {thing}'),
)  # fmt: skip
SPEAK = Skill(
    name='voice_out', description='Say a sentence through the loudspeaker.',
    parameters={'sentence': text('What to say.')}, slots=drawn(sentence=pick(*STATEMENTS)),
    plain=('say: {sentence}', 'say that {sentence}', 'announce that {sentence}',
           'announce: {sentence}', 'say "{sentence}"', 'let everybody know that {sentence}'),
)  # fmt: skip
INFORM = Skill(
    name='drop_a_line', description='Send a written message to somebody.',
    parameters={'receiver': text('Name of the person.'), 'body': text('The message.')},
    slots=drawn(receiver=pick(*PEOPLE), body=pick(*STATEMENTS, 'I will be late', 'the key is lost',
                                                  'we need more chairs')),
    plain=('tell {receiver} that {body}', 'let {receiver} know that {body}',
           'write to {receiver}: {body}', 'send {receiver} a message: {body}',
           'inform {receiver} that {body}'),
)  # fmt: skip
QUIET_OTHERS = tuple(s for s in STILL if s.name not in (
    'speak_aloud', 'page_person', 'hand_out', 'grip_item', 'plant_note', 'fetch_volume',
    'reshelve_title', 'explain_exhibit', 'greet_group', 'hush'))


@family('args/thing', 15)
def things(rng):
    return _asked(rng, order(rng, THINGS), QUIET_OTHERS)


@family('args/sentence', 18)
def sentences(rng):
    return _asked(rng, order(rng, SPEAK), QUIET_OTHERS)


@family('args/message', 18)
def messages(rng):
    return _asked(rng, order(rng, INFORM), (*QUIET_OTHERS, SPEAK))


def _waypoint(rng):
    x, y = round(rng.uniform(-9, 9), 1), round(rng.uniform(-9, 9), 1)
    return {'goal': ({'x': x, 'y': y}, ''), 'x': (None, f'{x:g}'), 'y': (None, f'{y:g}')}


def _box(rng):
    size = {axis: rng.randrange(5, 90, 5) for axis in ('length', 'width', 'height')}
    return {'box': (size, ''), **{axis: (None, str(value)) for axis, value in size.items()}}


def _slot_time(rng):
    hour, minute = rng.randint(7, 21), rng.choice((0, 15, 30, 45))
    return {'at': ({'hour': hour, 'minute': minute}, ''), 'h': (None, str(hour)),
            'm': (None, f'{minute:02d}')}


NESTED = (
    Skill(name='reach_waypoint', description='Drive to a point of the map.',
          parameters={'goal': record('The point.', x=number('East', -20, 20, 'm'), y=number('North', -20, 20, 'm'))},
          slots=_waypoint, plain=('drive to x {x}, y {y}', 'drive to the point x {x} m, y {y} m', 'go to x {x} and y {y}')),
    Skill(name='store_box_size', description='Store the size of a box.',
          parameters={'box': record('Size of the box.', length=integer('Length', 1, 100, 'cm'), width=integer('Width', 1, 100, 'cm'), height=integer('Height', 1, 100, 'cm'))},
          slots=_box, plain=('store the box size: length {length} cm, width {width} cm, height {height} cm', 'store a box {length} cm long, {width} cm wide and {height} cm high')),
    Skill(name='alarm_clock_at', description='Set the alarm to a time of the day.',
          parameters={'at': record('The time.', hour=integer('Hour', 0, 23), minute=integer('Minute', 0, 59))},
          slots=_slot_time, plain=('set the alarm to {h}:{m}', 'set an alarm for {h}:{m}')),
)  # fmt: skip


@family('args/nested', 18)
def nested(rng):
    return _asked(rng, order(rng, rng.choice(NESTED)), QUIET_OTHERS)


def _tour(rng):
    stops = rng.sample(('parcel_nook', 'print_corner', 'board_room', 'tea_kitchen', 'copy_niche'),
                       rng.randint(2, 4))
    spoken = [stop.replace('_', ' ') for stop in stops]
    return {'stops': (stops, ', the '.join(spoken[:-1]) + ' and the ' + spoken[-1])}


def _rows(rng):
    rows = rng.sample(range(1, 60), rng.randint(2, 4))
    return {'rows': (rows, ', '.join(map(str, rows[:-1])) + f' and {rows[-1]}')}


def _path(rng):
    points = [{'x': rng.randint(-9, 9), 'y': rng.randint(-9, 9)} for _ in range(rng.randint(2, 3))]
    spoken = [f'x {p["x"]} y {p["y"]}' for p in points]
    return {'points': (points, ', '.join(spoken[:-1]) + ' and ' + spoken[-1])}


LISTS = (
    Skill(name='make_tour', description='Visit several zones, in the order given.',
          parameters={'stops': array('Zones.', enum('Zone.', 'parcel_nook', 'print_corner', 'board_room', 'tea_kitchen', 'copy_niche'))},
          slots=_tour, plain=('make a tour of the {stops}', 'visit the {stops}', 'go round by the {stops}')),
    Skill(name='mow_rows', description='Mow rows of the meadow, in the order given.',
          parameters={'rows': array('Numbers of the rows.', {'type': 'integer'})},
          slots=_rows, plain=('mow the rows {rows}', 'mow rows {rows}', 'cut the grass in rows {rows}')),
    Skill(name='trace_path', description='Drive along points of the map, in the order given.',
          parameters={'points': array('Points.', record('Point.', x=integer('x', -20, 20, 'm'), y=integer('y', -20, 20, 'm')))},
          slots=_path, plain=('drive along the points {points}', 'trace the path {points}')),
)  # fmt: skip


@family('args/list', 18)
def lists(rng):
    return _asked(rng, order(rng, rng.choice(LISTS)), QUIET_OTHERS)


OPTIONAL = Skill(
    name='polish_zone', description='Polish the floor of a zone.',
    parameters={'zone': enum('Zone.', 'parcel_nook', 'board_room', 'copy_niche', 'tea_kitchen'),
                'rounds': integer('How often', 1, 5), 'gentle': flag('true: with less pressure.'),
                'wax': enum('Kind of wax.', 'hard', 'soft')},
    required=('zone',), slots=drawn(zone=pick('parcel_nook', 'board_room', 'copy_niche', 'tea_kitchen')),
)  # fmt: skip


@family('args/optional', 21)
def optional(rng):
    """What was not asked for is left out."""
    zone = rng.choice(OPTIONAL.parameters['zone']['enum'])
    arguments, clause = {'zone': zone}, f'polish the floor of the {zone.replace("_", " ")}'
    if rng.random() < 0.45:
        arguments['rounds'] = rng.randint(2, 5)
        words = {2: 'twice', 3: 'three times', 4: 'four times', 5: 'five times'}
        clause += ' ' + words[arguments['rounds']]
    if rng.random() < 0.35:
        arguments['wax'] = rng.choice(('hard', 'soft'))
        clause += f' with {arguments["wax"]} wax'
    if rng.random() < 0.3:
        arguments['gentle'] = True
        clause += ', with less pressure' if 'wax' in arguments else ' with less pressure'
    expect = {'kind': 'call', 'calls': [{'name': 'polish_zone', 'arguments': arguments}]}
    return case('', say(rng, clause), expect, mixed(rng, [OPTIONAL], QUIET_OTHERS, 3, 6),
                observations=calm(rng, 1, 3))


WORDS = {'one': 1, 'two': 2, 'three': 3, 'four': 4, 'five': 5, 'six': 6, 'seven': 7, 'eight': 8,
         'nine': 9, 'ten': 10, 'eleven': 11, 'twelve': 12, 'fifteen': 15, 'twenty': 20,
         'twenty five': 25, 'thirty': 30, 'forty': 40, 'fifty': 50, 'sixty': 60}
HALVES = {'half a': 0.5, 'one and a half': 1.5, 'two and a half': 2.5, 'three and a half': 3.5,
          'four and a half': 4.5}


@family('args/number_words', 21)
def number_words(rng):
    if rng.random() < 0.4:
        words = rng.choice(list(HALVES))
        unit = 'metre' if words == 'half a' else 'metres'
        up = rng.random() < 0.5
        skill = Skill(
            name='draw_load_up' if up else 'unwind_cable_m',
            description='Pull the load up.' if up else 'Let out cable.',
            parameters={'length': number('How much', 0.1, 10, 'm')},
            slots=lambda _: {'length': (HALVES[words], words)},
            plain=((f'pull the load up by {words} {unit}', f'pull it up {words} {unit}') if up else
                   (f'let out {words} {unit} of cable', f'let {words} {unit} of cable out')))
    else:
        words = rng.choice(list(WORDS))
        many = WORDS[words] != 1
        things = rng.choice(('candle', 'chair', 'plate', 'leaflet'))
        skill = Skill(
            name=f'count_out_{things}s', description=f'Count out {things}s and set them ready.',
            parameters={'number': integer('How many', 1, 99)},
            slots=lambda _: {'number': (WORDS[words], words)},
            plain=(f'count out {words} {things}{"s" if many else ""}',
                   f'get {words} {things}{"s" if many else ""} ready'))
    return _asked(rng, order(rng, skill), QUIET_OTHERS)


@family('args/code', 15)
def codes(rng):
    """Codes are copied sign by sign."""
    letters = ''.join(rng.choice('BDFGHJKLNPQRTVWXZ') for _ in range(rng.randint(1, 3)))
    code = f'{letters}{rng.choice(("-", "", "-"))}{rng.randint(10, 9999)}'
    kind = rng.choice(('crate', 'sample', 'locker', 'trolley'))
    skill = Skill(
        name=f'find_{kind}_by_code', description=f'Find the {kind} with a code.',
        parameters={'code': text(f'Code of the {kind}.')}, slots=lambda _: {'code': (code, code)},
        plain=(f'find {kind} {code}', f'find the {kind} with the code {code}',
               f'look for {kind} {code}'))
    return _asked(rng, order(rng, skill), QUIET_OTHERS)


@family('args/coordinates', 15)
def coordinates(rng):
    """Coordinates said in several ways; a heading only when one is said."""
    x, y = round(rng.uniform(-12, 12), 1), round(rng.uniform(-12, 12), 1)
    heading = rng.choice((0, 90, -90, 45, 135)) if rng.random() < 0.4 else None
    arguments = {'px': x, 'py': y} | ({} if heading is None else {'facing': heading})
    names = {'px': number('Target x', -20, 20, 'm'), 'py': number('Target y', -20, 20, 'm'),
             'facing': integer('Heading on arrival', -180, 180, 'deg')}
    skill = Skill(name='reach_xy', description='Drive to coordinates of the map.',
                  parameters=names, required=('px', 'py'))
    spoken = [f'{v:g}' if v >= 0 or rng.random() < 0.5 else f'minus {-v:g}' for v in (x, y)]
    clause = rng.choice(('drive to x {0}, y {1}', 'go to {0} and {1}', 'drive to the point {0}, {1}',
                         'drive to x equals {0} and y equals {1}')).format(*spoken)
    if heading is not None:
        clause += rng.choice((f', heading {heading} degrees', f' with heading {heading}'))
    expect = {'kind': 'call', 'calls': [{'name': 'reach_xy', 'arguments': arguments}]}
    return case('', say(rng, clause), expect, mixed(rng, [skill], QUIET_OTHERS, 3, 6),
                observations=calm(rng, 1, 3))


@family('args/invented_names', 15)
def invented_arguments(rng):
    """Two numbers whose argument names say nothing: the descriptions do."""
    taken: set[str] = set()
    tool, first, second = (coined(rng, taken) for _ in range(3))
    width, depth = rng.randrange(10, 200, 10), rng.randrange(5, 60, 5)
    skill = Skill(
        name=tool, description='Digs a hole in the ground.',
        parameters={first: integer('Width of the hole', 5, 250, 'cm'),
                    second: integer('Depth of the hole', 5, 80, 'cm')},
        slots=lambda _: {first: (width, ''), second: (depth, '')},
        plain=(f'dig a hole, {width} cm wide and {depth} cm deep',
               f'dig a hole {depth} cm deep and {width} cm wide'))
    return _asked(rng, order(rng, skill), QUIET_OTHERS, made_up=True)


@family('args/two_numbers', 15)
def two_numbers(rng):
    """Which number is which."""
    power, seconds = rng.randrange(10, 100, 10), rng.randrange(5, 90, 5)
    skill = Skill(
        name='warm_plate', description='Warm the plate with some power for some time.',
        parameters={'power': integer('Power', 0, 100, 'percent'),
                    'seconds': integer('Time', 1, 120, 's')},
        slots=lambda _: {'power': (power, ''), 'seconds': (seconds, '')},
        plain=(f'warm the plate for {seconds} seconds at {power} percent',
               f'warm the plate at {power} % for {seconds} s',
               f'warm the plate with {power} percent power for {seconds} seconds'))
    return _asked(rng, order(rng, skill), QUIET_OTHERS)


@family('args/times', 12)
def times(rng):
    """Decimal numbers within a range, in a tool that also takes a choice."""
    side = rng.choice(('left', 'right'))
    value = decimal(0.1, 2.5, 0.05)(rng)
    skill = Skill(
        name='shift_fence', description='Move the fence of the saw table.',
        parameters={'side': enum('Which fence.', 'left', 'right'),
                    'gap': number('Gap to the blade', 0.05, 3, 'm')},
        slots=lambda _: {'side': (side, side), 'gap': value},
        plain=('move the {side} fence to a gap of {gap} m', 'set the {side} fence to {gap} metres'))
    return _asked(rng, order(rng, skill), QUIET_OTHERS)

