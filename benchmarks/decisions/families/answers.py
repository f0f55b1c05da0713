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


"""Families about replies, and about the question what to do now."""

from __future__ import annotations

import math

from .fill import QUIET_OTHERS
from .kit import battery
from .kit import boolean
from .kit import calm
from .kit import case
from .kit import detections
from .kit import diagnostics
from .kit import missing
from .kit import mixed
from .kit import NO_ACTION
from .kit import odometry
from .kit import reading
from .kit import REFUSE
from .kit import REPLY
from .kit import scan
from .kit import Skill
from .kit import STOP
from .kit import words
from .register import family
from .register import with_choice
from .register import WORLDS
from .values import ITEMS

UNKNOWN = ('do not know', "don't know", 'not know', 'unknown', 'cannot', 'no information')


def _tools(rng):
    world = rng.choice(WORLDS)
    return rng.sample(world, rng.randint(3, 5))


def _ask(rng, questions, accept, found, **more):
    return case('', rng.choice(questions), REPLY, more.pop('tools', None) or _tools(rng),
                accept=list(accept), observations=found, state_dependent=True, **more)


def _among(rng, found, *others):
    inputs = [found, *rng.sample(others, rng.randint(0, len(others)))]
    rng.shuffle(inputs)
    return inputs


@family('reply/battery', 15)
def charge(rng):
    percent = rng.randint(8, 97)
    questions = ('How full is the battery?', 'What is the battery level?', 'How much charge is left?',
                 'How much battery do you have?', 'Tell me the charge of the battery.',
                 'What does the battery say?')
    found = _among(rng, battery(percent), odometry(1.2, 0.4, 90), scan(2.2), diagnostics())
    return _ask(rng, questions, [f'{percent} %', f'{percent} percent'], found)


@family('reply/position', 12)
def position(rng):
    x, y, yaw = round(rng.uniform(-8, 8), 2), round(rng.uniform(-8, 8), 2), rng.choice((0, 90, 180, -90, 45))
    found = _among(rng, odometry(x, y, yaw), battery(66), scan(2.5))
    if rng.random() < 0.5:
        return _ask(rng, ('Where are you?', 'What is your position?', 'Tell me where you are.',
                          'At which coordinates are you?'), [f'{x:.2f} m', f'x {x:g}'], found)
    return _ask(rng, ('Which way are you facing?', 'What is your heading?', 'What is your yaw?'),
                [f'{yaw} deg', f'{yaw}°'], found)


@family('reply/speed', 9)
def speed(rng):
    value = rng.choice((0.0, 0.25, 0.4, 0.7, 1.1, 0.55))
    found = _among(rng, odometry(2.5, -1.25, 90, value), battery(71), scan(3.3))
    return _ask(rng, ('How fast are you?', 'How fast are you driving?', 'What is your speed?',
                      'At what speed do you move?'), [f'{value:.2f} m/s', f'{value:g} m/s'], found)


@family('reply/seen', 15)
def things_seen(rng):
    names = rng.sample(ITEMS, rng.randint(1, 3))
    things = [(n, round(rng.uniform(-6, 6), 2), round(rng.uniform(-6, 6), 2)) for n in names]
    found = _among(rng, detections(*things), battery(58), odometry(0.0, 0.0, 0))
    if len(names) == 1:
        return _ask(rng, ('What do you see?', 'What is in front of your camera?',
                          'Which things do you see?', 'Is there anything to see?'), names, found)
    name, x, y = rng.choice(things)
    return _ask(rng, (f'Where is the {name}?', f'Where do you see the {name}?'),
                [f'{x:.2f} m', f'{math.hypot(x, y):.2f} m'], found)


@family('reply/how_far', 12)
def how_far(rng):
    side = rng.choice(('front', 'left', 'back', 'right'))
    values = {name: round(rng.uniform(0.4, 6), 2) for name in ('front', 'left', 'back', 'right')}
    where = {'front': ('in front of you', 'ahead'), 'left': ('on your left', 'to the left'),
             'back': ('behind you', 'at the back'), 'right': ('on your right', 'to the right')}[side]
    found = _among(rng, scan(**values), battery(49), odometry(3.5, 1.0, 180))
    questions = [*(f'How much room is there {each}?' for each in where),
                 f'How far is the nearest thing {where[0]}?']
    return _ask(rng, questions, [f'{values[side]:.2f} m'], found)


@family('reply/reading', 15)
def readings(rng):
    topic, questions, unit = rng.choice((
        ('temperature', ('What is the temperature?', 'How warm is it?'), ''),
        ('humidity', ('What is the humidity?', 'How high is the humidity?'), ''),
        ('water_level', ('What is the water level?', 'How high is the water level?'), ''),
    ))
    value = round(rng.uniform(5, 60), 1)
    found = _among(rng, reading(topic, value), battery(77), odometry(1.0, 1.0, 0))
    return _ask(rng, questions, [f'{value:g}{unit}'], found)


@family('reply/yes_or_no', 12)
def yes_or_no(rng):
    topic, question, yes, no = rng.choice((
        ('gate_open', 'Is the gate open?', ('yes', 'is open', 'true'), ('no,', 'no.', 'not', 'closed', 'false')),
        ('door_locked', 'Is the door locked?', ('yes', 'door is locked', 'true'), ('no,', 'no.', 'not', 'unlocked', 'false')),
        ('tank_full', 'Is the tank full?', ('yes', 'tank is full', 'true'), ('no,', 'no.', 'not', 'false')),
    ))
    value = rng.random() < 0.5
    found = _among(rng, boolean(topic, value), battery(52), scan(2.8))
    return _ask(rng, (question,), yes if value else no, found,
                forbid=['yes'] if not value else ['not'])


@family('reply/error', 12)
def error(rng):
    part, message = rng.choice((('left wheel', 'blocked'), ('camera', 'no image'), ('arm', 'overheated'),
                                ('lidar', 'no data'), ('pump', 'low pressure')))
    found = _among(rng, diagnostics((2, part, message), fine=rng.randint(1, 4)), battery(64), scan(2.1))
    return _ask(rng, ('Is there an error?', 'What is wrong?', 'Which part has an error?',
                      'What do the diagnostics say?', 'Are there any problems?'), [part, message], found)


@family('reply/text', 9)
def text_input(rng):
    topic, question, said = rng.choice((
        ('weather', 'What is the weather like?', ('light rain', 'thick fog', 'sunny', 'storm')),
        ('task_state', 'What is the state of the task?', ('half done', 'waiting for paint', 'paused')),
        ('notice', 'What does the notice say?', ('lunch at noon', 'lift out of order', 'fresh paint')),
    ))
    value = rng.choice(said)
    found = _among(rng, words(topic, value), battery(43), odometry(0.5, 0.0, 0))
    return _ask(rng, (question,), [value], found)


@family('reply/choices', 12)
def declared_choices(rng):
    """The declarations answer."""
    skill = rng.choice([s for world in WORLDS for s in world if s.name in DRIVES])
    values = skill.parameters[with_choice(skill)]['enum']
    accept = [*values, *(v.replace('_', ' ') for v in values)]
    return case('', rng.choice(('Which places can you go to?', 'Where can you go?',
                                'Tell me the places that you know.')),
                REPLY, mixed(rng, [skill], QUIET_OTHERS, 2, 4), accept=accept,
                observations=calm(rng, 1, 2))


DRIVES = frozenset({'roll_to_bench', 'haul_to', 'visit_ward', 'moor_at', 'land_on', 'walk_to_hall',
                    'go_to_zone'})


@family('reply/limit', 9)
def declared_limit(rng):
    kilos = rng.choice((3, 6, 9, 14, 25))
    skill = Skill(name='haul_sack', description=f'Carry a sack. Carries at most {kilos} kg.',
                  parameters={'sack': {'type': 'string', 'description': 'Name of the sack.'}})
    return case('', rng.choice(('How much can you carry?', 'How many kilos can you carry at most?',
                                'What is the most you can carry?')),
                REPLY, mixed(rng, [skill], QUIET_OTHERS, 3, 5), accept=[f'{kilos} kg'],
                observations=calm(rng, 1, 2))


@family('reply/unknown', 18)
def unknown(rng):
    questions = ('What is the name of the mayor?', 'How old are you?', 'Who built this house?',
                 'When does the bus leave?', 'What is for lunch?', 'Who won the match?',
                 'How many stairs are there in this house?', 'What is the capital of Peru?',
                 'How much does a ticket cost?', 'What did I say yesterday?', 'Who is at the door?',
                 'What time is it?', 'How deep is the lake?', 'Which day is it?')
    return case('', rng.choice(questions), REPLY, _tools(rng), accept=list(UNKNOWN),
                observations=calm(rng, 1, 3))


@family('reply/not_measured', 12)
def not_measured(rng):
    """The input that would answer is missing."""
    topic, kind, question = rng.choice((
        ('battery', 'sensor_msgs/msg/BatteryState', 'How full is the battery?'),
        ('odom', 'nav_msgs/msg/Odometry', 'Where are you?'),
        ('temperature', 'std_msgs/msg/Float32', 'What is the temperature?')))
    others = [each for each in (battery(61), odometry(2.0, 3.5, 90), scan(1.9))
              if each['topic'] != topic]
    accept = [*UNKNOWN, 'no message', 'missing', 'not available']
    return _ask(rng, (question,), accept, [missing(topic, kind), rng.choice(others)])


NOW = ('What should the robot do now?', 'What should the robot do now?', 'What should you do now?')
DOCKS = (
    Skill(name='power_nest', description='Drive to the charger and charge the battery.'),
    Skill(name='fill_up_power', description='Go to the charging place and charge.'),
    Skill(name='home_plug', description='Dock at the charger.'),
)


def _now(rng, expect, found, *, docks=True, **more):
    world = [s for s in rng.choice(WORLDS) if s.name not in ('flash_light_switch',)]
    tools = mixed(rng, [rng.choice(DOCKS)] if docks else [], world, 3, 5)
    rng.shuffle(found)
    return case('', rng.choice(NOW), expect, tools, observations=found, state_dependent=True, **more), tools


def _far(rng):
    return scan(round(rng.uniform(0.9, 6), 2), *(round(rng.uniform(0.5, 4), 2) for _ in range(3)))


def _still(rng, speed=0.0):
    return odometry(round(rng.uniform(-5, 5), 2), round(rng.uniform(-5, 5), 2), 90, speed)


@family('autonomous/obstacle', 15)
def obstacle(rng):
    found = [scan(round(rng.uniform(0.08, 0.27), 2)), battery(rng.randint(5, 95)),
             _still(rng, rng.choice((0.0, 0.3, 0.5))), diagnostics()]
    return _now(rng, STOP, found)[0]


@family('autonomous/near_elsewhere', 9)
def near_elsewhere(rng):
    """Near things at the side or behind are no reason."""
    found = [scan(round(rng.uniform(0.8, 4), 2), 0.2, round(rng.uniform(0.15, 2), 2), 0.24),
             battery(rng.randint(30, 95)), _still(rng), diagnostics()]
    return _now(rng, NO_ACTION, found)[0]


FAULTS = (('left wheel', 'blocked'), ('arm', 'overheated'), ('lidar', 'no data'), ('pump', 'low pressure'),
          ('camera', 'no image'), ('gripper', 'cannot close'))


@family('autonomous/error_driving', 12)
def error_driving(rng):
    found = [_far(rng), battery(rng.randint(25, 95)), _still(rng, rng.choice((0.2, 0.3, 0.5, 0.8))),
             diagnostics((2, *rng.choice(FAULTS)))]
    return _now(rng, STOP, found)[0]


@family('autonomous/error_standing', 15)
def error_standing(rng):
    found = [_far(rng), battery(rng.randint(25, 95)), _still(rng), diagnostics((2, *rng.choice(FAULTS)))]
    return _now(rng, REFUSE, found)[0]


@family('autonomous/warning', 9)
def warning(rng):
    """A warning is no error."""
    found = [_far(rng), battery(rng.randint(25, 95)), _still(rng, rng.choice((0.0, 0.4))),
             diagnostics((1, *rng.choice(FAULTS)))]
    return _now(rng, NO_ACTION, found)[0]


@family('autonomous/low_battery', 18)
def low_battery(rng):
    found = [_far(rng), battery(rng.randint(3, 18), rng.choice((2, 3))), _still(rng), diagnostics()]
    made, tools = _now(rng, NO_ACTION, found)
    dock = next(t.name for t in tools if t in DOCKS)
    return {**made, 'expect': {'kind': 'call', 'calls': [{'name': dock, 'arguments': {}}]}}


@family('autonomous/low_battery_no_dock', 12)
def no_dock(rng):
    found = [_far(rng), battery(rng.randint(3, 18)), _still(rng), diagnostics()]
    return _now(rng, REFUSE, found, docks=False)[0]


@family('autonomous/charging', 12)
def charging(rng):
    found = [_far(rng), battery(rng.randint(3, 60), 1), _still(rng), diagnostics()]
    return _now(rng, NO_ACTION, found)[0]


@family('autonomous/quiet', 15)
def quiet(rng):
    found = [_far(rng), battery(rng.randint(23, 99)), _still(rng, rng.choice((0.0, 0.0, 0.4))),
             diagnostics(fine=rng.randint(2, 6))]
    return _now(rng, NO_ACTION, found[:rng.randint(2, 4)])[0]
