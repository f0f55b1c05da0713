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
Driving by coordinates and by distances: what is said relative to the robot, worked out.

A tool that takes map coordinates gets them from pose and wish; one that takes a distance or an
angle gets the wish itself. Angles are whole degrees, coordinates have two decimals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
import math
import random
from typing import Any

from demo_data import quantities
from demo_data.phrases import expand
from demo_data.skills import Arg
from demo_data.skills import Skill

_GO = '[go|drive|move|roll|travel|head|proceed|navigate]'


def _coordinate(axis: str) -> Arg:
    return Arg(axis, 'number', (axis, f'{axis}_m', f'goal_{axis}', f'pos_{axis}', f'target_{axis}'),
               (f'Target {axis}.', f'{axis} in the map.', f'Map coordinate {axis}.', f'Position along {axis}.'), low=-20, high=20, step=0.01, unit='m')


_YAW = Arg('heading', 'number', ('heading', 'yaw', 'theta', 'direction', 'orientation'), ('Heading on arrival.', 'Final heading.', 'Yaw in the map.', 'Orientation at the goal.'),
           True, low=-180, high=180, step=1, unit='deg')
_DISTANCE_NAMES = ('distance', 'd', 'length', 'amount', 'how_far', 'range')
_XY_SAYS = (
    f'{_GO} to x {{x}}[,| and|] y {{y}}', f'{_GO} to x={{x}}[,|] y={{y}}', f'{_GO} to ({{x}}, {{y}})', f'{_GO} to [point|position|coordinates|the point] {{x}}[,| and] {{y}}',
    '!your [next |]target is x {x}[,| and] y {y}', '![goal|target|destination]: {x}, {y}', '!the goal is at {x}, {y}', f'{_GO} to x {{x}} m and y {{y}} m',
    f'{_GO} to x {{x}} y {{y}} [with heading|facing|and face|and turn to] {{heading}}[ deg| degrees|]', f'{_GO} to {{x}}, {{y}}, heading {{heading}}[ degrees|]',
    '!be at {x}, {y} [now|soon|]', '!I want you at x {x}, y {y}', 'place yourself at x {x} and y {y}', 'take up position at ({x}, {y})',
)
MOTION_SKILLS = (
    Skill('goto_pose', ('goto_pose', 'navigate_to_pose', 'move_base_to', 'set_goal', 'drive_pose'),
          ('Drive to a pose in the map.', 'Send the base to map coordinates.', 'Navigate to a goal given as map position.', 'Go to a point of the map frame.'),
          _XY_SAYS, (_coordinate('x'), _coordinate('y'), _YAW), True, nest=('target', 'goal', 'pose', 'position'), nested=('x', 'y', 'heading'), near=('drive_to',)),
    Skill('move_target', ('go_xy', 'drive_point', 'nav_goal', 'reach_point'),
          ('Drive to a point [x, y] of the map.', 'Move to map coordinates, given as a list of x and y.', 'Reach the point whose x and y are listed.'),
          (f'{_GO} to {{point}}', f'{_GO} to the point {{point}}', '!the target is {point}', f'{_GO} to position {{point}}'),
          (Arg('point', 'xy', ('point', 'xy', 'position', 'goal'), ('x and y in the map (m).', 'Map coordinates x, y.', 'The goal as [x, y], metres.'), low=-20, high=20),), True),
    Skill('face_heading', ('face_heading', 'turn_to', 'set_heading', 'look_towards', 'align_heading'),
          ('Turn on the spot to a heading in the map.', 'Face an absolute heading.', 'Rotate until the yaw is as given.', 'Point the robot to a map direction.'),
          ('[turn|rotate|look|point] to [heading |a heading of |]{heading} degrees', 'face {heading} degrees', '!heading {heading}', '!your heading should be {heading} degrees', 'set the yaw to {heading} degrees'),
          (Arg('heading', 'number', ('heading', 'yaw', 'angle', 'direction'), ('Absolute heading.', 'Yaw to face.', 'Heading in the map.'), low=-180, high=180, step=1, unit='deg'),), True),
    Skill('drive_straight', ('drive_straight', 'move_distance', 'drive_by', 'advance', 'roll_distance'),
          ('Drive straight by a distance relative to the robot. Negative is backwards.', 'Move forward by some distance; negative values go back.', 'Roll ahead (positive) or back (negative).'),
          (), (Arg('distance', 'number', _DISTANCE_NAMES, ('How far, forward positive.', 'Distance, backwards is negative.', 'Signed distance.'), low=-5, high=5, step=0.01, unit='m'),), True),
    Skill('step_side', ('step_side', 'strafe', 'shift_sideways', 'slide'),
          ('Move sideways by a distance relative to the robot. Left is positive.', 'Strafe to the left (positive) or to the right (negative).', 'Shift the base sideways; right is negative.'),
          (), (Arg('distance', 'number', _DISTANCE_NAMES, ('How far, left positive.', 'Sideways distance, right is negative.'), low=-3, high=3, step=0.01, unit='m'),), True),
    Skill('move_by', ('move_by', 'move_relative', 'drive_relative', 'offset_base'),
          ('Move by an offset relative to the robot.', 'Drive a bit, as seen from the robot.', 'Relative motion of the base: forward and left.'),
          (), (Arg('forward', 'number', ('forward', 'ahead', 'dx', 'front'), ('Metres forward, back is negative.', 'Offset ahead; negative is backwards.'), True, low=-5, high=5, step=0.01, unit='m'),
               Arg('left', 'number', ('left', 'sideways', 'dy', 'lateral'), ('Metres to the left, right is negative.', 'Offset to the left; negative is right.'), True, low=-5, high=5, step=0.01, unit='m')), True),
    Skill('turn_by', ('turn_by', 'rotate_by', 'spin_by', 'turn_relative', 'yaw_by'),
          ('Turn on the spot by an angle relative to the robot. Left is positive.', 'Rotate by an angle; positive is counterclockwise.', 'Turn left (positive) or right (negative).'),
          (), (Arg('angle', 'number', ('angle', 'delta', 'degrees', 'amount', 'rotation'), ('Angle, left positive.', 'How far to turn, right is negative.', 'Signed angle.'), low=-180, high=180, step=1, unit='deg'),), True),
    Skill('turn_side', ('turn_side', 'turn', 'rotate_to_side', 'pivot'),
          ('Turn the robot to one side by an angle.', 'Pivot left or right.', 'Rotate on the spot to a side.'),
          (), (Arg('side', 'choice', ('side', 'direction', 'way', 'to'), ('To which side.', 'Left or right.', 'Direction of the turn.'), choices=('left', 'right')),
               Arg('angle', 'number', ('angle', 'degrees', 'by', 'amount'), ('How far.', 'Angle of the turn.'), low=0, high=360, step=1, unit='deg')), True),
    Skill('move_direction', ('move_direction', 'move', 'drive_direction', 'shift', 'go_direction'),
          ('Move some way into a direction seen from the robot.', 'Drive forward, back, left or right by a distance.', 'Relative move: direction and distance.'),
          (), (Arg('direction', 'choice', ('direction', 'way', 'where', 'to'), ('Direction seen from the robot.', 'Which way.'), choices=('forward', 'backward', 'left', 'right')),
               Arg('distance', 'number', _DISTANCE_NAMES, ('How far.', 'Distance to move.'), low=0.05, high=10, step=0.01, unit='m')), True),
)
RELATIVE = frozenset(('drive_straight', 'step_side', 'move_by', 'turn_by', 'turn_side', 'move_direction'))
BY_MAP = frozenset(('drive_to', 'goto_pose', 'move_target', 'face_heading'))
_AHEAD = ('{q} forward', '{q} ahead', '{q} straight on', 'forward by {q}', '{q} to the front', 'forward {q}', 'ahead {q}', '{q} straight ahead', 'straight ahead for {q}', 'forwards for {q}')
_BACK = ('{q} back', '{q} backwards', 'back by {q}', '{q} in reverse', 'back {q}', 'backwards {q}', '{q} to the rear', 'backward by {q}')
_LEFT = ('{q} to the left', '{q} left', 'left by {q}', '{q} to your left', 'left {q}', '{q} leftwards', 'to the left by {q}', 'to the left for {q}')
_RIGHT = ('{q} to the right', '{q} right', 'right by {q}', '{q} to your right', 'right {q}', '{q} rightwards', 'to the right by {q}')
_WAYS = {'forward': _AHEAD, 'backward': _BACK, 'left': _LEFT, 'right': _RIGHT}
_MOVES = ('go', 'drive', 'move', 'roll', 'come', 'shift', 'go', 'drive', 'move')
_SINGLE = {'forward': ('advance {q}', 'proceed {q}', '!{q} forward', 'go on for {q}', 'come {q} closer', 'roll on for another {q}'),
           'backward': ('back up {q}', 'reverse {q}', 'retreat {q}', 'step back {q}', '!{q} back', 'back off by {q}'),
           'left': ('sidestep {q} to the left', '!{q} to the left', 'step left {q}', 'shift {q} left'), 'right': ('sidestep {q} to the right', '!{q} to the right', 'step right {q}', 'shift {q} right')}
_TURNS = {'left': ('turn left [by |]{q}', '[turn|rotate|spin] {q} to the left', '[turn|rotate] left {q}', '[turn|rotate|spin] {q} counterclockwise', '!{q} to the left, turn', 'swing left by {q}', 'rotate {q} left'),
          'right': ('turn right [by |]{q}', '[turn|rotate|spin] {q} to the right', '[turn|rotate] right {q}', '[turn|rotate|spin] {q} clockwise', '!{q} to the right, turn', 'swing right by {q}', 'rotate {q} right')}
_AROUND = ('turn around', 'make a U-turn', 'face the other way', 'turn back to front', 'do an about-turn', 'turn by 180 degrees')


@dataclass(frozen=True)
class Move:
    """A wish relative to the robot: offsets in metres or a turn in degrees, and how it is said."""

    text: str
    forward: Fraction = Fraction(0)
    left: Fraction = Fraction(0)
    turn: int = 0
    way: str = ''
    size: Fraction = Fraction(0)


def draw_move(rng: random.Random, ways: tuple[str, ...], longest: float, *, two: bool = False) -> Move:
    """Draw a move in one of the ways, or in two at once."""
    way = rng.choice(ways)
    size, said = _size(rng, longest)
    if two and rng.random() < 0.25:
        first, second = rng.choice(('forward', 'backward')), rng.choice(('left', 'right'))
        other, also = _size(rng, longest)
        phrases = [rng.choice(_WAYS[first]).format(q=said), rng.choice(_WAYS[second]).format(q=also)]
        forward, left = size * (1 if first == 'forward' else -1), other * (1 if second == 'left' else -1)
        if rng.random() < 0.3:
            phrases.reverse()
        return Move(f'{rng.choice(_MOVES)} {" and ".join(phrases)}', forward, left)
    template = rng.choice(_SINGLE[way]) if rng.random() < 0.35 else f'{rng.choice(_MOVES)} {rng.choice(_WAYS[way])}'
    signs = {'forward': (1, 0), 'backward': (-1, 0), 'left': (0, 1), 'right': (0, -1)}[way]
    return Move(template.format(q=said), size * signs[0], size * signs[1], 0, way, size)


def draw_plain_move(rng: random.Random, ways: tuple[str, ...]) -> Move:
    """Draw a move by whole or half metres, said in digits."""
    way = rng.choice(ways)
    size = Fraction(rng.choice((1, 1, 2, 2, 3, 4, 5)))
    if rng.random() < 0.25:
        size -= Fraction(1, 2)
    said = f'{quantities.plain(size)} {rng.choice(("m", "m", "metres", "meters"))}'
    signs = {'forward': (1, 0), 'backward': (-1, 0), 'left': (0, 1), 'right': (0, -1)}[way]
    text = f'{rng.choice(_MOVES)} {rng.choice(_WAYS[way])}'.format(q=said)
    return Move(text, size * signs[0], size * signs[1], 0, way, size)


def draw_turn(rng: random.Random) -> Move:
    """Draw a turn by whole degrees."""
    if rng.random() < 0.08:
        return Move(rng.choice(_AROUND), turn=180, way='around', size=Fraction(180))
    degrees = rng.choice((90, 90, 45, 30, 180, 60, 135, 10, 15, 20, 120, 5 * rng.randint(1, 34), rng.randint(1, 175)))
    way = rng.choice(('left', 'right'))
    said = quantities.say(rng, Fraction(degrees), 'deg')
    if degrees in (90, 180, 360) and rng.random() < 0.15:
        said = {90: 'a quarter turn', 180: 'half a turn', 360: 'a full turn'}[degrees]
    text = expand(rng, rng.choice(_TURNS[way])).format(q=said)
    return Move(text, turn=degrees if way == 'left' else -degrees, way=way, size=Fraction(degrees))


def _size(rng: random.Random, longest: float) -> tuple[Fraction, str]:
    found = None
    while found is None:
        top = rng.choice((1.0, 2.0, 3.0, longest, longest))
        found = quantities.draw(rng, quantities.Declared('m', 0.1, min(top, longest)))
        if found is not None and not any(c.isalpha() for c in found.text):
            found = None
    return Fraction(str(found.value)), found.text


def reach(pose: tuple[float, float, int], move: Move) -> tuple[Fraction, Fraction] | None:
    """Return where a move ends, in exact decimals for right angles; None at a rounding tie."""
    x, y, yaw = Fraction(str(pose[0])), Fraction(str(pose[1])), pose[2] % 360
    cosine, sine = _turn(yaw)
    found = x + move.forward * cosine - move.left * sine, y + move.forward * sine + move.left * cosine
    if any((v * 100).denominator != 1 and quantities.is_tie(v) for v in found):
        return None
    return found


def _turn(yaw: int) -> tuple[Fraction, Fraction]:
    exact = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}
    if yaw in exact:
        return Fraction(exact[yaw][0]), Fraction(exact[yaw][1])
    return Fraction(math.cos(math.radians(yaw))), Fraction(math.sin(math.radians(yaw)))


def wrapped(heading: int) -> int:
    """Bring a heading into -180..180, 180 for the half turn."""
    return (heading + 179) % 360 - 179


def relative_arguments(key: str, move: Move, unit_scale: Mapping[str, Fraction]) -> dict[str, Any] | None:
    """Return argument values by key for a tool that is itself relative; None if it cannot do it."""
    def metres(value: Fraction, arg: str) -> Fraction:
        return value / unit_scale.get(arg, Fraction(1))

    if key == 'drive_straight' and not move.left and not move.turn:
        return {'distance': metres(move.forward, 'distance')}
    if key == 'step_side' and not move.forward and not move.turn:
        return {'distance': metres(move.left, 'distance')}
    if key == 'move_by' and not move.turn:
        return {k: metres(v, k) for k, v in (('forward', move.forward), ('left', move.left)) if v}
    if key == 'turn_by' and move.turn:
        return {'angle': Fraction(move.turn) / unit_scale.get('angle', Fraction(1))}
    if key == 'turn_side' and move.turn and move.way in ('left', 'right'):
        return {'side': move.way, 'angle': move.size / unit_scale.get('angle', Fraction(1))}
    if key == 'move_direction' and move.way and not move.turn:
        return {'direction': move.way, 'distance': metres(move.size, 'distance')}
    return None
