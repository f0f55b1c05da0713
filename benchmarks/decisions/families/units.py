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


"""Families about units: lengths, speeds, angles, times, shares and masses are converted."""

from __future__ import annotations

from .fill import QUIET_OTHERS
from .kit import calm
from .kit import case
from .kit import integer
from .kit import mixed
from .kit import number
from .kit import say
from .kit import Skill
from .register import coined
from .register import family

# What a quantity does: (name, description, argument, its description, clause).
LENGTHS = (
    ('mast_to', 'Raise the mast to a height.', 'height', 'Height', 'raise the mast to {q}'),
    ('cut_rope', 'Cut off a piece of rope.', 'length', 'Length', 'cut off {q} of rope'),
    ('keep_gap', 'Keep this distance to the person ahead.', 'gap', 'Distance',
     'keep a distance of {q} to the person ahead'),
    ('trench_of_depth', 'Dig a trench of a depth.', 'depth', 'Depth', 'dig a trench {q} deep'),
    ('roll_ahead', 'Roll straight ahead, relative to here.', 'way', 'Distance',
     'roll straight ahead for {q}'),
)  # fmt: skip
SPEEDS = (
    ('speed_ceiling_to', 'Set the highest speed.', 'limit', 'Speed', 'set the highest speed to {q}'),
    ('belt_pace', 'Let the belt run at a speed.', 'pace', 'Speed', 'let the belt run at {q}'),
    ('patrol_pace', 'Patrol at a speed.', 'speed', 'Speed', 'patrol at {q}'),
    ('reel_pace', 'Wind up the cable at a speed.', 'rate', 'Speed', 'wind up the cable at {q}'),
)
ANGLES = (
    ('tilt_tray', 'Tilt the tray by an angle.', 'tilt', 'Angle', 'tilt the tray by {q}'),
    ('crane_slew', 'Swing the crane by an angle.', 'swing', 'Angle', 'swing the crane by {q}'),
    ('open_jaw', 'Open the jaw to an angle.', 'opening', 'Angle', 'open the jaw to {q}'),
)
TIMES = (
    ('bake', 'Bake what is in the oven for a time.', 'duration', 'Time', 'bake it for {q}'),
    ('rest_here', 'Wait at this place for a time.', 'pause', 'Time', 'wait here for {q}'),
    ('steep_cloth', 'Let the cloth lie in water for a time.', 'time', 'Time',
     'let the cloth lie in water for {q}'),
    ('guard_gate', 'Guard the gate for a time.', 'span', 'Time', 'guard the gate for {q}'),
)
SHARES = (
    ('dim_sign', 'Set the brightness of the sign.', 'level', 'Brightness',
     'set the brightness of the sign to {q}'),
    ('fan_power', 'Run the fan with a share of its power.', 'power', 'Power',
     'run the fan with {q} power'),
    ('fill_tub', 'Fill the tub up to a share of its volume.', 'share', 'Share',
     'fill the tub up to {q}'),
)
MASSES = (
    ('take_flour', 'Take flour out of the bin.', 'amount', 'Mass', 'take {q} of flour out'),
    ('pour_sand', 'Pour sand on the path.', 'mass', 'Mass', 'pour {q} of sand on the path'),
    ('feed_hens', 'Feed the hens with grain.', 'grain', 'Mass', 'feed the hens with {q} of grain'),
)


def _nice(value):
    return round(value, 2) if value != int(value) else int(value)


# declared unit -> (low, high, said in, value per said unit, spoken forms, draws)
FORMS = {
    'm from cm': ('m', 0.05, 10, 0.01, ('cm', 'centimetres'), (20, 25, 30, 40, 50, 60, 75, 80, 90, 120, 150, 180, 250)),
    'm from mm': ('m', 0.05, 10, 0.001, ('mm', 'millimetres'), (50, 100, 250, 300, 450, 500, 750, 800, 1200, 1500)),
    'm from km': ('m', 1, 5000, 1000, ('km', 'kilometres'), (0.2, 0.5, 0.8, 1.2, 1.5, 2, 2.5, 3)),
    'cm from m': ('cm', 1, 1000, 100, ('m', 'metres'), (0.2, 0.25, 0.4, 0.5, 0.75, 0.8, 1.2, 1.5, 2, 2.5)),
    'cm from mm': ('cm', 1, 1000, 0.1, ('mm', 'millimetres'), (50, 80, 120, 150, 200, 250, 350, 400, 600)),
    'mm from cm': ('mm', 1, 2000, 10, ('cm', 'centimetres'), (2, 2.5, 4, 5, 7.5, 8, 12, 15, 30)),
    'mm from m': ('mm', 1, 2000, 1000, ('m', 'metres'), (0.2, 0.25, 0.3, 0.5, 0.8, 1.2, 1.5)),
    'm/s from km/h': ('m/s', 0.05, 10, 1 / 3.6, ('km/h', 'kilometres per hour'), (0.72, 0.9, 1.8, 2.7, 3.6, 5.4, 7.2, 9, 10.8, 14.4, 18)),
    'm/s from cm/s': ('m/s', 0.05, 10, 0.01, ('cm/s', 'centimetres per second'), (10, 15, 20, 25, 30, 40, 50, 75, 80, 120, 150)),
    'km/h from m/s': ('km/h', 0.5, 40, 3.6, ('m/s', 'metres per second'), (0.5, 1, 1.5, 2, 2.5, 3, 4, 5)),
    'cm/s from m/s': ('cm/s', 1, 300, 100, ('m/s', 'metres per second'), (0.1, 0.2, 0.25, 0.3, 0.5, 0.75, 0.8, 1.2, 1.5)),
    'rad from deg': ('rad', 0, 3.15, 0.017453292519943295, ('degrees', 'deg'), (30, 45, 60, 90, 120, 135, 150, 180)),
    'deg from rad': ('deg', 0, 180, 57.29577951308232, ('rad', 'radians'), (0.5, 1, 1.5, 1.57, 2, 3.14)),
    's from min': ('s', 1, 7200, 60, ('min', 'minutes'), (1.5, 2, 2.5, 3, 4, 5, 8, 10, 15, 20)),
    's from h': ('s', 1, 14400, 3600, ('h', 'hours'), (0.5, 1.5, 2, 3)),
    'min from s': ('min', 0.1, 240, 1 / 60, ('s', 'seconds'), (30, 90, 120, 150, 180, 240, 300, 600)),
    'min from h': ('min', 0.1, 240, 60, ('h', 'hours'), (0.5, 1.5, 2, 2.5, 3)),
    'h from min': ('h', 0.1, 12, 1 / 60, ('min', 'minutes'), (15, 30, 45, 90, 120, 180)),
    'fraction from percent': ('fraction', 0, 1, 0.01, ('%', 'percent'), (5, 10, 15, 25, 35, 40, 60, 75, 80, 95)),
    'kg from g': ('kg', 0.05, 20, 0.001, ('g', 'grams'), (100, 200, 250, 350, 500, 750, 800, 1200, 1500)),
    'g from kg': ('g', 1, 20000, 1000, ('kg', 'kilograms'), (0.2, 0.25, 0.5, 0.75, 1.2, 1.5, 2, 3)),
}  # fmt: skip


def _convert(rng, actions, forms):
    name, description, argument, meaning, clause = rng.choice(actions)
    unit, low, high, factor, spoken, draws = FORMS[rng.choice(forms)]
    said = rng.choice(draws)
    made_up = rng.random() < 0.3
    if made_up:
        name = coined(rng)
    value = _nice(round(said * factor, 2))
    is_whole = unit in ('cm', 'mm', 's', 'g') and value == int(value) and rng.random() < 0.6
    schema = (integer if is_whole else number)(meaning, low, high, unit)
    skill = Skill(name=name, description=description, parameters={argument: schema})
    quantity = f'{said:g} {rng.choice(spoken)}'
    call = {'name': name, 'arguments': {argument: value}}
    if unit == 'rad':
        call['tolerance'] = {argument: 0.011}
    if unit == 'deg':
        call['tolerance'] = {argument: 0.6}
    return case('', say(rng, clause.format(q=quantity)), {'kind': 'call', 'calls': [call]},
                mixed(rng, [skill], QUIET_OTHERS, 2, 5), made_up=made_up,
                observations=calm(rng, 1, 2))


@family('convert/length', 30)
def lengths(rng):
    forms = ['m from cm', 'm from mm', 'cm from m', 'cm from mm', 'mm from cm', 'mm from m']
    return _convert(rng, LENGTHS, forms)


@family('convert/length/km', 10)
def kilometres(rng):
    return _convert(rng, LENGTHS[4:], ['m from km'])


@family('convert/speed', 22)
def speeds(rng):
    forms = ['m/s from km/h', 'm/s from cm/s', 'km/h from m/s', 'cm/s from m/s']
    return _convert(rng, SPEEDS, forms)


@family('convert/angle', 19)
def angles(rng):
    return _convert(rng, ANGLES, ['rad from deg', 'rad from deg', 'deg from rad'])


@family('convert/time', 26)
def times(rng):
    return _convert(rng, TIMES, ['s from min', 's from h', 'min from s', 'min from h', 'h from min'])


@family('convert/percent', 15)
def shares(rng):
    return _convert(rng, SHARES, ['fraction from percent'])


@family('convert/mass', 15)
def masses(rng):
    return _convert(rng, MASSES, ['kg from g', 'g from kg'])


SAID = {
    'half a metre': ('m', 0.5), 'one and a half metres': ('m', 1.5), 'half a minute': ('min', 0.5),
    'one and a half minutes': ('min', 1.5), 'two and a half minutes': ('min', 2.5),
    'half an hour': ('h', 0.5), 'one and a half hours': ('h', 1.5), 'half a kilo': ('kg', 0.5),
    'two and a half kilos': ('kg', 2.5), 'twenty centimetres': ('cm', 20),
    'thirty centimetres': ('cm', 30), 'sixty seconds': ('s', 60), 'ten minutes': ('min', 10),
    'forty centimetres': ('cm', 40), 'five hundred grams': ('g', 500), 'two metres': ('m', 2),
}
TARGETS = {
    'm': ('cm', 100), 'cm': ('m', 0.01), 'min': ('s', 60), 'h': ('min', 60), 's': ('min', 1 / 60),
    'kg': ('g', 1000), 'g': ('kg', 0.001),
}
RANGES = {'cm': (1, 1000), 'm': (0.05, 10), 's': (1, 7200), 'min': (0.1, 240), 'g': (1, 20000),
          'kg': (0.05, 20)}


@family('convert/words', 22)
def in_words(rng):
    words = rng.choice(list(SAID))
    said_unit, said = SAID[words]
    unit, factor = TARGETS[said_unit]
    actions = LENGTHS if unit in ('cm', 'm') else TIMES if unit in ('s', 'min') else MASSES
    name, description, argument, meaning, clause = rng.choice(actions)
    schema = number(meaning, *RANGES[unit], unit)
    skill = Skill(name=name, description=description, parameters={argument: schema})
    call = {'name': name, 'arguments': {argument: _nice(round(said * factor, 2))}}
    return case('', say(rng, clause.format(q=words)), {'kind': 'call', 'calls': [call]},
                mixed(rng, [skill], QUIET_OTHERS, 2, 5), observations=calm(rng, 1, 2))


@family('convert/none', 15)
def same_unit(rng):
    """The unit said is the declared one: nothing is converted."""
    unit = rng.choice(('cm', 'm', 's', 'min', 'g', 'kg'))
    actions = LENGTHS if unit in ('cm', 'm') else TIMES if unit in ('s', 'min') else MASSES
    name, description, argument, meaning, clause = rng.choice(actions)
    value = rng.choice((1.5, 2, 4)) if unit in ('m', 'min', 'kg') else rng.randrange(10, 200, 10)
    low, high = RANGES[unit]
    skill = Skill(name=name, description=description,
                  parameters={argument: number(meaning, low, high, unit)})
    call = {'name': name, 'arguments': {argument: value}}
    return case('', say(rng, clause.format(q=f'{value:g} {unit}')),
                {'kind': 'call', 'calls': [call]}, mixed(rng, [skill], QUIET_OTHERS, 2, 5),
                observations=calm(rng, 1, 2))
