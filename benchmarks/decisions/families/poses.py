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


"""Families about relative wishes: worked out from the pose, or passed on to a relative tool."""

from __future__ import annotations

import math

from .fill import QUIET_OTHERS
from .kit import battery
from .kit import case
from .kit import detections
from .kit import integer
from .kit import invalid
from .kit import missing
from .kit import mixed
from .kit import number
from .kit import odometry
from .kit import record
from .kit import REFUSE
from .kit import say
from .kit import scan
from .kit import Skill
from .register import coined
from .register import family
from .values import ITEMS

AMOUNTS = (('half a metre', 0.5), ('1 m', 1), ('2 metres', 2), ('1.5 m', 1.5), ('one metre', 1),
           ('80 cm', 0.8), ('two metres', 2), ('3 m', 3), ('50 cm', 0.5), ('two and a half metres', 2.5),
           ('0.4 m', 0.4), ('120 cm', 1.2))
AHEAD = ('drive {q} forward', 'go {q} straight ahead', 'move forward by {q}', 'go ahead {q}',
         'roll {q} forwards', 'advance by {q}')
BEHIND = ('drive {q} backward', 'go back by {q}', 'back up by {q}', 'move {q} backwards',
          'reverse by {q}', 'go {q} back')
LEFT = ('move {q} to the left', 'go {q} to your left', 'shift {q} to the left')
RIGHT = ('move {q} to the right', 'go {q} to your right', 'shift {q} to the right')
SIDES = {0: AHEAD, 180: BEHIND, 90: LEFT, -90: RIGHT}


def _xy_tool(rng):
    """Return a tool that takes a point of the map, and a function that writes its arguments."""
    x, y = number('Target x', -30, 30, 'm'), number('Target y', -30, 30, 'm')
    kind = rng.randrange(4)
    if kind == 0:
        tool = Skill(name='travel_xy', description='Drive to coordinates of the map.',
                     parameters={'x': x, 'y': y,
                                 'arrival': integer('Heading on arrival', -180, 180, 'deg')},
                     required=('x', 'y'))
        return tool, lambda a, b: {'x': a, 'y': b}, ''
    if kind == 1:
        tool = Skill(name='map_point', description='Drive to a point of the map.',
                     parameters={'px': x, 'py': y})
        return tool, lambda a, b: {'px': a, 'py': b}, ''
    if kind == 2:
        tool = Skill(name='arrive_at_point', description='Go to a point, given in map coordinates.',
                     parameters={'point': record('The point.', x=x, y=y)})
        return tool, lambda a, b: {'point': {'x': a, 'y': b}}, 'point'
    name = coined(rng)
    tool = Skill(name=name, description='Drives to map coordinates.',
                 parameters={'east': {**x, 'description': 'x of the target (m, -30 to 30)'},
                             'north': {**y, 'description': 'y of the target (m, -30 to 30)'}})
    return tool, lambda a, b: {'east': a, 'north': b}, 'made_up'


def _pose(rng):
    yaw = rng.choice((0, 90, 180, -90, 0, 90, 180, -90, 0, 90, -90, 45, -45, 30, 135))
    return round(rng.uniform(-8, 8), 1), round(rng.uniform(-8, 8), 1), yaw


def _inputs(rng, x, y, yaw, *more):
    found = [odometry(x, y, yaw), battery(rng.randint(40, 95)), *more]
    if rng.random() < 0.5:
        found.append(scan(*(round(rng.uniform(3.5, 9), 2) for _ in range(4))))
    rng.shuffle(found)
    return found


def _relative(rng, side):
    tool, write, shape = _xy_tool(rng)
    x, y, yaw = _pose(rng)
    words, amount = rng.choice(AMOUNTS)
    angle = math.radians(yaw + side)
    target = (round(x + amount * math.cos(angle), 2), round(y + amount * math.sin(angle), 2))
    arguments = write(*(value + 0.0 for value in target))
    names = ['point'] if shape == 'point' else list(arguments)
    call = {'name': tool.name, 'arguments': arguments,
            'tolerance': dict.fromkeys(names, 0.011 if yaw % 90 == 0 else 0.05)}
    clause = rng.choice(SIDES[side]).format(q=words)
    return case('', say(rng, clause), {'kind': 'call', 'calls': [call]},
                mixed(rng, [tool], QUIET_OTHERS, 2, 5), state_dependent=True,
                made_up=shape == 'made_up', observations=_inputs(rng, x, y, yaw))


@family('pose/forward', 23)
def forward(rng):
    return _relative(rng, 0)


@family('pose/back', 16)
def backward(rng):
    return _relative(rng, 180)


@family('pose/side', 20)
def sideways(rng):
    return _relative(rng, rng.choice((90, -90)))


@family('pose/turn', 20)
def turn(rng):
    """A tool that takes a heading of the map; the wish is relative."""
    x, y, yaw = _pose(rng)
    angle = rng.choice((90, 90, 45, 30, 60))
    left = rng.random() < 0.5
    heading = yaw + (angle if left else -angle)
    heading = (heading + 180) % 360 - 180
    if heading == -180:
        return None
    tool = Skill(name='point_nose_to', description='Turn on the spot to a heading of the map.',
                 parameters={'heading': integer('Heading', -180, 180, 'deg')})
    side = 'left' if left else 'right'
    clause = rng.choice(('turn {s} by {a} degrees', 'turn {a} degrees to the {s}',
                         'rotate {a} deg to the {s}')).format(s=side, a=angle)
    call = {'name': tool.name, 'arguments': {'heading': heading}}
    return case('', say(rng, clause), {'kind': 'call', 'calls': [call]},
                mixed(rng, [tool], QUIET_OTHERS, 2, 5), state_dependent=True,
                observations=_inputs(rng, x, y, yaw))


@family('pose/relative_tool', 23)
def passed_on(rng):
    """The tool itself is relative to the robot: no sum."""
    x, y, yaw = _pose(rng)
    words, amount = rng.choice(AMOUNTS)
    if rng.random() < 0.4:
        angle, left = rng.choice((30, 45, 90, 120)), rng.random() < 0.5
        tool = Skill(
            name='swivel_by_deg', parameters={'angle': integer('Angle', -180, 180, 'deg')},
            description='Turn on the spot, relative to the robot; left is positive, right negative.')
        arguments = {'angle': angle if left else -angle}
        clause = f'turn {angle} degrees to the {"left" if left else "right"}'
    else:
        side = rng.choice(list(SIDES))
        direction = {0: 'forward', 180: 'back', 90: 'left', -90: 'right'}[side]
        tool = Skill(
            name='shift_by', description='Move by a distance, relative to the robot.',
            parameters={'direction': {'type': 'string', 'description': 'Which way.',
                                      'enum': ['forward', 'back', 'left', 'right']},
                        'distance': number('Distance', 0.05, 5, 'm')})
        arguments = {'direction': direction, 'distance': amount}
        clause = rng.choice(SIDES[side]).format(q=words)
    return case('', say(rng, clause),
                {'kind': 'call', 'calls': [{'name': tool.name, 'arguments': arguments}]},
                mixed(rng, [tool], QUIET_OTHERS, 2, 5), observations=_inputs(rng, x, y, yaw))


@family('pose/detection', 27)
def detected(rng):
    """A thing that was seen gives the point."""
    tool, write, shape = _xy_tool(rng)
    x, y, yaw = _pose(rng)
    things = [(name, round(rng.uniform(-9, 9), 1), round(rng.uniform(-9, 9), 1))
              for name in rng.sample(ITEMS, rng.randint(1, 4))]
    name, tx, ty = rng.choice(things)
    clause = rng.choice(('drive to the {n}', 'go to the {n}', 'drive to where the {n} is',
                         'go over to the {n} that you see', 'drive up to the {n}')).format(n=name)
    call = {'name': tool.name, 'arguments': write(tx, ty)}
    return case('', say(rng, clause), {'kind': 'call', 'calls': [call]},
                mixed(rng, [tool], QUIET_OTHERS, 2, 5), state_dependent=True,
                made_up=shape == 'made_up',
                observations=_inputs(rng, x, y, yaw, detections(*things, at=(x, y))))


@family('pose/not_seen', 12)
def not_seen(rng):
    """The thing is not among what is seen."""
    tool, _, _ = _xy_tool(rng)
    x, y, yaw = _pose(rng)
    asked, *others = rng.sample(ITEMS, rng.randint(2, 4))
    things = [(name, round(rng.uniform(-9, 9), 1), round(rng.uniform(-9, 9), 1))
              for name in others]
    return case('', say(rng, f'drive to the {asked}'), REFUSE,
                mixed(rng, [tool], QUIET_OTHERS, 2, 5), state_dependent=True, forbid=[tool.name],
                observations=_inputs(rng, x, y, yaw, detections(*things, at=(x, y))))


@family('pose/no_pose', 16)
def no_pose(rng):
    """There is no pose to work from."""
    tool, _, _ = _xy_tool(rng)
    words, _ = rng.choice(AMOUNTS)
    clause = rng.choice(SIDES[rng.choice(list(SIDES))]).format(q=words)
    kind = 'nav_msgs/msg/Odometry'
    gone = missing('odom', kind) if rng.random() < 0.6 else invalid('odom', kind)
    found = [gone, battery(rng.randint(40, 95))]
    rng.shuffle(found)
    return case('', say(rng, clause), REFUSE, mixed(rng, [tool], QUIET_OTHERS, 2, 5),
                state_dependent=True, forbid=[tool.name], observations=found)
