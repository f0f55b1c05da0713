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
Conditions on what the inputs say: how they are put in words, whether they hold, how to make them.

A condition whose input is missing, invalid or STALE neither holds nor fails: `problem` says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace
import random
from typing import Any

from demo_data import observations as obs
from demo_data import rare
from demo_data import robots
from demo_data import values
from demo_data.observations import Inputs
from demo_data.observations import State
from demo_data.phrases import expand
from gemma_node.core import InputState

_LESS = '[below|under|less than|lower than|smaller than|at most|no more than|down to less than]'
_MORE = '[above|over|more than|higher than|greater than|at least|no less than|beyond]'
# Names under which an input of a kind is spoken of.
LABELS = {'battery': 'the battery', 'front': 'the scan', 'temperature': 'the temperature', 'speed': 'the odometry', 'fix': 'the gps',
          'charging': 'the battery', 'seen': 'the camera', 'pose': 'the odometry', 'x': 'the odometry', 'y': 'the odometry'}
_OPPOSITE = {'<': '>', '>': '<', 'sees': 'sees not', 'sees not': 'sees', '!=': '=', '=': '!='}
# Kinds of facts that stand in another one's input.
_HOMES = {'charging': 'battery', 'x': 'pose', 'y': 'pose'}


@dataclass(frozen=True)
class Condition:
    """`op` compares the fact of `kind` (and `name`) with `value`: <, >, =, is (truth), sees."""

    kind: str
    op: str
    value: Any
    name: str = ''
    unit: str = ''

    def problem(self, state: State) -> str:
        """Say why the condition cannot be decided, or nothing."""
        fact = state.fact(_HOMES.get(self.kind, self.kind), self.name)
        if fact is None or fact.state is InputState.MISSING:
            return 'missing'
        if fact.state is InputState.INVALID:
            return 'invalid'
        return '' if fact.is_fresh else 'stale'

    def holds(self, state: State) -> bool:
        """Return whether it holds; only for a condition without a problem."""
        fact = state.fact(_HOMES.get(self.kind, self.kind) if self.kind != 'charging' else self.kind, self.name)
        assert fact is not None
        found = fact.value
        if self.kind in ('x', 'y'):
            found = found['xy'.index(self.kind)]
        if self.op == 'sees':
            return any(d['name'] == self.value for d in found)
        if self.op == 'sees not':
            return not any(d['name'] == self.value for d in found)
        return {'<': lambda: found < self.value, '>': lambda: found > self.value, '=': lambda: found == self.value,
                '!=': lambda: found != self.value}[self.op]()

    def is_close(self, state: State) -> bool:
        """Return whether the value is the very bound, which words leave open."""
        fact = state.fact(_HOMES.get(self.kind, self.kind), self.name)
        if fact is None or self.op not in '<>' or fact.value is None:
            return False
        found = fact.value['xy'.index(self.kind)] if self.kind in ('x', 'y') else fact.value
        return bool(found == self.value)

    @property
    def label(self) -> str:
        """What the input is called when it has a problem."""
        return self.name or LABELS[self.kind]

    @property
    def failing(self) -> str:
        """What is said where it does not hold; empty where that is not always said alike."""
        return ''

    @property
    def homes(self) -> frozenset[str]:
        """Inputs and kinds of facts that it is about."""
        return frozenset((self.name or _HOMES.get(self.kind, 'pose' if self.kind == 'speed' else self.kind),))

    def opposite(self) -> Condition:
        """Return the condition that holds when this one does not."""
        if self.op == '=' and isinstance(self.value, bool):
            return replace(self, value=not self.value)
        return replace(self, op=_OPPOSITE[self.op])

    def lay(self, rng: random.Random, state: State, truth: bool, fault: InputState | None) -> bool:
        """Make the input so that it holds or not, or has this fault."""
        arrange(rng, state, self, truth=truth, fault=fault)
        return True

    def words(self, rng: random.Random) -> str:
        """Put the condition in words."""
        return expand(rng, _words(rng, self))

    def plain(self, rng: random.Random) -> str:
        """Put the condition in plain words."""
        return self.words(rng)


def _words(rng: random.Random, c: Condition) -> str:
    side = {'<': _LESS, '>': _MORE}.get(c.op, '')
    name = c.name if rng.random() < 0.5 else c.name.replace('_', ' ')
    unit = {'': '', '%': rng.choice((' %', '%', ' percent'))}.get(c.unit, f' {c.unit}')
    if c.kind == 'battery':
        return f'[the|your] [battery|battery|charge|power] [is|is|stands at|shows] {side} {c.value}{unit or "%"}'
    if c.kind == 'temperature':
        return f'[the temperature|it] is {side} {c.value}[ C| degrees| degrees Celsius]'
    if c.kind == 'front':
        near = f'[there is something|something is|an obstacle is|there is an obstacle] [closer than|nearer than|within less than] {c.value} m in front[ of you|]'
        return near if c.op == '<' else f'[the way ahead|the space in front of you] is [free|clear] for more than {c.value} m'
    if c.kind == 'speed':
        return f'[your|the] speed is {side} {c.value} m/s'
    if c.kind in ('x', 'y'):
        return f'[your|the] {c.kind} is {side} {c.value}[ m|]'
    if c.kind == 'charging':
        return '[you are|the battery is|the robot is] [charging|being charged]' if c.value else '[you are|the battery is|the robot is] not charging'
    if c.kind == 'fix':
        return '[there is|you have|the gps has] [a|a valid] [gps |]fix' if c.value else '[there is|you have|the gps has] no [gps |]fix'
    if c.op == 'sees':
        return f'[you see|you can see|the camera sees|there is] {values.article(rng, c.value)}'
    if c.op == 'sees not':
        return f'[you do not see|you cannot see|the camera does not see] {values.article(rng, c.value)}'
    if c.kind == 'flag':
        truth = 'true' if c.value else 'false'
        return f'[{name} is {truth}|{name} is {truth}|{name} says {truth}|{name} reports {truth}]'
    if c.kind in ('mode', 'text'):
        return f'[the |]{name} is {"not " if c.op == "!=" else ""}[{c.value}|{c.value}|"{c.value}"]'
    return f'[the |]{name} is {side} {c.value}{unit}'


def draw_condition(rng: random.Random, state: State) -> Condition | None:
    """Draw a condition about one of the facts of a state, both outcomes alike."""
    facts = [f for f in state.facts if f.kind in ('battery', 'battery', 'temperature', 'front', 'speed', 'pose', 'charging', 'fix', 'flag', 'mode', 'number', 'seen')]
    if not facts:
        return None
    fact = rng.choice(facts)
    value = fact.value
    if fact.kind == 'battery':
        limit = rng.choice((20, 25, 30, 40, 50, 60, 70, 80, 90, rng.randint(5, 95)))
        if value is not None and rng.random() < 0.4:
            limit = min(max(value + rng.choice((-12, -6, -3, -1, 1, 2, 5, 11)), 1), 99)
        return Condition('battery', rng.choice('<>'), limit, unit='%')
    if fact.kind == 'temperature':
        return Condition('temperature', rng.choice('<>'), int((value if value is not None else 20) + rng.choice((-15, -5, -2, 2, 5, 15))))
    if fact.kind == 'front':
        base = value if value is not None and value < 100 else 2
        return Condition('front', rng.choice('<>'), max(0.2, round(base + rng.choice((-1, -0.4, 0.3, 0.5, 1)), 1)), unit='m')
    if fact.kind == 'speed':
        return Condition('speed', rng.choice('<>'), rng.choice((0.1, 0.2, 0.3, 0.5, 0.8, 1)), unit='m/s')
    if fact.kind == 'pose':
        return Condition(rng.choice('xy'), rng.choice('<>'), rng.choice((-5, -2, 0, 1, 3, 6, rng.randint(-9, 9))), unit='m')
    if fact.kind in ('charging', 'fix'):
        return Condition(fact.kind, '=', rng.random() < 0.5)
    if fact.kind == 'flag':
        return Condition('flag', '=', rng.random() < 0.5, fact.name)
    if fact.kind == 'mode':
        other = value if value is not None and rng.random() < 0.5 else rng.choice(robots.MODES)
        return Condition('mode', rng.choice(('=', '=', '!=')), other, fact.name)
    if fact.kind == 'seen':
        names = [d['name'] for d in value or () if d['name'] not in state.injected]
        thing = rng.choice(names) if names and rng.random() < 0.5 else values.thing(rng)
        if any(thing != n and (thing in n or n in thing) for n in names) or (thing in names) != (names.count(thing) == 1):
            return None
        return Condition('seen', rng.choice(('sees', 'sees', 'sees not')), thing)
    if not isinstance(value, (int, float)):
        value = 20
    limit = round(value + rng.choice((-1, 1)) * max(abs(value) * rng.choice((0.1, 0.3, 0.6)), 1))
    return Condition('number', rng.choice('<>'), limit, fact.name, fact.unit)


def invent(rng: random.Random) -> Condition:
    """Invent a condition for a rule; the states of its robot will have the input."""
    roll = rng.random()
    if roll < 0.2:
        return Condition('battery', '<' if rng.random() < 0.75 else '>', rng.choice((25, 30, 35, 40, 45, 50, 60)), unit='%')
    if roll < 0.42:
        return Condition('flag', '=', rng.random() < 0.7, _flag_name(rng))
    if roll < 0.6:
        name, unit, low, high, decimals = rng.choice(robots.NUMBERS)
        return Condition('number', rng.choice('<>'), round(low + (high - low) * rng.choice((0.25, 0.4, 0.5, 0.6, 0.75)), min(decimals, 1)), name, unit)
    if roll < 0.72:
        mode = rng.choice((*robots.MODES, rare.syllables(rng)))
        return Condition('mode', '=', mode, rng.choice(robots.MODE_NAMES))
    if roll < 0.8:
        return Condition('temperature', rng.choice('<>'), rng.choice((-5, 0, 5, 10, 25, 30, 35, 40)))
    if roll < 0.9:
        return Condition('seen', 'sees', values.thing(rng))
    return Condition('front', '<', rng.choice((0.5, 0.6, 0.8, 1, 1.5, 2)), unit='m') if roll < 0.95 else Condition('fix', '=', False)


def _flag_name(rng: random.Random) -> str:
    if rng.random() < 0.65:
        return rng.choice(robots.FLAGS)
    return f'{rare.noun(rng)}_{rng.choice(("open", "full", "empty", "on", "ready", "lost", "present", "blocked", "locked"))}'


def arrange(rng: random.Random, state: State, c: Condition, *, truth: bool, fault: InputState | None = None) -> None:
    """Change a state so that a condition holds or fails, or cannot be decided."""
    if type(c) is not Condition:
        c.lay(rng, state, truth, fault)
        return
    inputs = Inputs(rng, state, 0.0)
    state_of = fault if fault is not None else InputState.FRESH
    home = state.fact(_HOMES.get(c.kind, c.kind), c.name)
    name = c.name or (home.name if home else '')
    at = next((i for i, o in enumerate(state.observations) if o.name == name), None)
    kept = state.fact('pose')
    pose = kept.value if kept is not None and kept.value is not None else (round(rng.uniform(-9, 9), 1), round(rng.uniform(-9, 9), 1), rng.choice((0, 90, 180, -90)))
    speed = state.value('speed') or 0.0
    seen = state.value('seen') or []
    if name:
        state.drop(name)
    wanted = (c.op in '<') is truth
    if c.kind in ('battery', 'charging'):
        charge = beside(rng, c.value, 1, 100, wanted) if c.kind == 'battery' else rng.randint(25, 100)
        status = 1 if c.kind == 'charging' and c.value is truth else rng.choice((0, 2, 2))
        obs.battery(rng, inputs, name or 'battery', int(charge), status, state_of)
    elif c.kind == 'front':
        obs.scan(rng, inputs, name or 'scan', round(float(beside(rng, c.value, 0.31, 8, wanted)), 2), state_of)
    elif c.kind in ('speed', 'x', 'y', 'pose'):
        if c.kind == 'speed':
            speed = round(float(beside(rng, c.value, 0, 1.5, wanted)), 2)
        obs.odometry(rng, inputs, name or 'odom', pose, speed, state_of)
    elif c.kind == 'temperature':
        degrees = round(float(beside(rng, c.value, -15, 60, wanted)), 1)
        inputs.add(name or 'temperature', 'sensor_msgs/msg/Temperature', {'header': obs.header(rng), 'temperature': degrees},
                   ('temperature', degrees, 'C'), condition=state_of)
    elif c.kind == 'fix':
        has_fix = c.value is truth
        inputs.add(name or 'gps', 'sensor_msgs/msg/NavSatFix', {
            'header': obs.header(rng), 'status': {'status': 0 if has_fix else -1}, 'latitude': rng.uniform(-80, 80), 'longitude': rng.uniform(-179, 179),
            'altitude': rng.uniform(0, 500), 'position_covariance_type': 0, 'position_covariance': [0.0] * 9}, ('fix', has_fix, ''), condition=state_of)
    elif c.kind == 'seen':
        others = [d for d in seen if d['name'] != c.value][:3]
        if (c.op == 'sees') is truth:
            others.append({'name': c.value, 'x': round(rng.uniform(-9, 9), 2), 'y': round(rng.uniform(-9, 9), 2),
                           'distance': round(rng.uniform(0.4, 6), 2), 'confidence': round(rng.uniform(0.4, 1), 2)})
        others.sort(key=lambda d: d['distance'])
        inputs.add(name or 'detections', 'gemma_node/msg/DetectionArray', {'header': obs.header(rng, 'map'), 'detections': others}, ('seen', others, ''), condition=state_of)
    elif c.kind == 'flag':
        obs.flag(inputs, name, c.value is truth, state_of)
    elif c.kind == 'mode':
        mode = c.value if (c.op == '=') is truth else rng.choice([m for m in robots.MODES if m != c.value])
        obs.string(inputs, name, mode, 'mode', state_of)
    else:
        spec = next((s for s in robots.NUMBERS if s[0] == name), (name, '', 0, 100, 0))
        obs.number(inputs, name, round(float(beside(rng, c.value, spec[2], spec[3], wanted)), spec[4]), c.unit, state_of)
    if at is not None and state.observations:
        state.observations.insert(at, state.observations.pop())


def beside(rng: random.Random, bound: float, low: float, high: float, below: bool) -> float:
    """Draw a value on one side of a bound, near it as often as far from it."""
    span = (bound - low) if below else (high - bound)
    if span <= 0:
        span = max(abs(bound) * 0.5, 2)
    share = rng.choice((rng.uniform(0.03, 0.15), rng.uniform(0.1, 1)))
    if span < 0.5:
        return bound + (-1 if below else 1) * span * rng.uniform(0.12, 1)
    distance = max(span * share, min(span, 1.0 if abs(bound) >= 5 else 0.06))
    return bound - distance if below else bound + distance
