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
Made-up robot states and the observations that show them, as plain message values.

`text.render` turns them into the lines the model reads; nothing here writes those lines. A `Fact`
is what can be asked or demanded of one input.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
import math
import random
from typing import Any

from gemma_node.core import InputState
from gemma_node.core import Observation

FRAMES = ('odom', 'map', 'base_link', '', 'world', '', 'laser', 'base_footprint')
NEAR_M = 0.3


@dataclass(frozen=True)
class Fact:
    """
    One thing that an input says: `kind` says how to ask for it, `value` what it is.

    `value` is None where the input is missing or invalid. `is_fresh` is false for STALE ones.
    """

    kind: str
    name: str
    value: Any = None
    unit: str = ''
    is_fresh: bool = True
    age_s: float = 0.0
    state: InputState = InputState.FRESH

    @property
    def is_usable(self) -> bool:
        """Whether a condition may be decided by it."""
        return self.value is not None and self.is_fresh


@dataclass
class State:
    """What is true of the robot at one moment."""

    observations: list[Observation] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    injected: list[str] = field(default_factory=list)

    def fact(self, kind: str, name: str = '') -> Fact | None:
        """Return the first fact of a kind (and name)."""
        return next((f for f in self.facts if f.kind == kind and name in ('', f.name)), None)

    def value(self, kind: str) -> Any:
        """Return the value of the first usable fact of a kind, or None."""
        return next((f.value for f in self.facts if f.kind == kind and f.is_usable), None)

    def drop(self, name: str) -> None:
        """Remove an input."""
        self.observations = [o for o in self.observations if o.name != name]
        self.facts = [f for f in self.facts if f.name != name]

    @property
    def names(self) -> set[str]:
        """Names of the inputs."""
        return {o.name for o in self.observations}


def quaternion(yaw_deg: float) -> dict[str, float]:
    """Return the quaternion of a heading."""
    half = math.radians(yaw_deg) / 2
    return {'x': 0.0, 'y': 0.0, 'z': math.sin(half), 'w': math.cos(half)}


def vector(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> dict[str, float]:
    """Return a geometry_msgs vector."""
    return {'x': x, 'y': y, 'z': z}


def header(rng: random.Random, frame: str | None = None) -> dict[str, Any]:
    """Return a message header."""
    return {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': rng.choice(FRAMES) if frame is None else frame}


class Inputs:
    """Adds inputs to a state, with ages, and now and then stale, missing or invalid."""

    def __init__(self, rng: random.Random, state: State, faults: float) -> None:
        self.rng = rng
        self.state = state
        self.faults = faults

    def add(self, name: str, type_name: str, value: Any, *facts: tuple[str, Any, str],
            condition: InputState | None = None, age: float | None = None) -> bool:
        """Add one input with its facts; returns whether its value can be used."""
        rng = self.rng
        if name in self.state.names:
            return False
        roll = rng.random()
        limit = rng.choice((0.5, 1.0, 1.0, 2.0, 2.0, 5.0, 10.0, 30.0))
        found = condition
        if found is None:
            found = InputState.FRESH
            if roll < self.faults:
                found = rng.choices((InputState.STALE, InputState.MISSING, InputState.INVALID), (5, 2, 1))[0]
        if age is None:
            age = rng.choice((0.0, 0.1, 0.2, 0.3, 0.4, 0.5, round(rng.uniform(0, limit), 1)))
            if found is InputState.STALE:
                age = limit + rng.choice((0.6, 1.5, 4.0, 12.0, 40.0, 300.0, 4000.0, round(rng.uniform(0.2, 30), 1)))
        shown = value
        if found in (InputState.MISSING, InputState.INVALID):
            value = None
            shown = _spoilt(shown) if found is InputState.INVALID and rng.random() < 0.6 else None
        self.state.observations.append(Observation(
            name=name, topic=f'/{name}', type=type_name, age_s=age, max_age_s=limit, state=found, value=shown))
        for kind, fact, unit in facts:
            self.state.facts.append(Fact(
                kind, name, fact if value is not None else None, unit, found is InputState.FRESH, age, found))
        return found is InputState.FRESH


def _spoilt(value: Any) -> Any:
    """Return a message whose first number is nan, or nothing where it has none."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ('header', 'voltage', 'current', 'ranges'):
                continue
            if isinstance(item, float):
                return {**value, key: math.nan}
            inner = _spoilt(item) if isinstance(item, dict) else None
            if inner is not None:
                return {**value, key: inner}
    return None


Maker = Callable[[], None]


def percent(rng: random.Random, *, low: bool) -> int:
    """Draw a charge in percent; low means below the docking limit."""
    return rng.randint(1, 19) if low else rng.choice((rng.randint(20, 100), rng.randint(20, 100), rng.randint(20, 35)))


def odometry(rng: random.Random, inputs: Inputs, name: str, pose: tuple[float, float, int], speed: float,
             condition: InputState | None = None, age: float | None = None) -> None:
    """Add odometry."""
    x, y, yaw = pose
    turn = rng.choice((0.0, 0.0, 0.0, round(rng.uniform(-1, 1), 2)))
    height = rng.choice((0.0,) * 9 + (round(rng.uniform(0.1, 3), 2),))
    value = {
        'header': header(rng), 'child_frame_id': 'base_link',
        'pose': {'pose': {'position': vector(x, y, height), 'orientation': quaternion(yaw)}},
        'twist': {'twist': {'linear': vector(speed), 'angular': vector(z=turn)}},
    }
    inputs.add(name, 'nav_msgs/msg/Odometry', value, ('pose', pose, ''), ('speed', speed, 'm/s'),
               condition=condition, age=age)


def battery(rng: random.Random, inputs: Inputs, name: str, charge: int, status: int,
            condition: InputState | None = None, age: float | None = None) -> None:
    """Add a battery state; status as the message has it (1 charging, 4 full)."""
    status = 2 if status == 4 and charge < 90 else status
    value = {
        'percentage': charge / 100 if rng.random() < 0.8 or charge < 2 else float(charge),
        'voltage': rng.choice((0.0, round(rng.uniform(9, 52), 1))),
        'current': rng.choice((0.0, math.nan, round(rng.uniform(-9, 3), 1))),
        'power_supply_status': status, 'power_supply_health': rng.choice((0, 1, 1)),
        'header': header(rng, ''),
    }
    volts = value['voltage'] or None
    facts = [('battery', charge, '%'), ('charging', status == 1, '')]
    if volts:
        facts.append(('voltage', volts, 'V'))
    inputs.add(name, 'sensor_msgs/msg/BatteryState', value, *facts, condition=condition, age=age)


def scan(rng: random.Random, inputs: Inputs, name: str, front: float,
         condition: InputState | None = None, age: float | None = None) -> None:
    """Add a laser scan whose nearest reading in front is given."""
    sides = [round(rng.uniform(0.31, 9), 2) for _ in range(3)]
    if rng.random() < 0.25:
        sides[rng.randrange(3)] = rng.choice((math.inf, round(rng.uniform(0.05, 0.29), 2)))
    value = {'header': header(rng), 'angle_min': 0.0, 'angle_increment': math.pi / 2,
             'range_min': 0.02, 'range_max': rng.choice((10.0, 12.0, 30.0)), 'ranges': [front, *sides]}
    inputs.add(name, 'sensor_msgs/msg/LaserScan', value, ('front', front, 'm'),
               *((side, distance, 'm') for side, distance in zip(('left', 'back', 'right'), sides, strict=True)),
               condition=condition, age=age)


def flag(inputs: Inputs, name: str, value: bool, condition: InputState | None = None, age: float | None = None) -> None:
    """Add a std_msgs Bool."""
    inputs.add(name, 'std_msgs/msg/Bool', {'data': value}, ('flag', value, ''), condition=condition, age=age)


def string(inputs: Inputs, name: str, text: str, kind: str = 'text', condition: InputState | None = None,
           age: float | None = None) -> None:
    """Add a std_msgs String."""
    inputs.add(name, 'std_msgs/msg/String', {'data': text}, (kind, text, ''), condition=condition, age=age)


def number(inputs: Inputs, name: str, value: float, unit: str, condition: InputState | None = None,
           age: float | None = None) -> None:
    """Add a std_msgs Float32; the unit is known from the name only."""
    inputs.add(name, 'std_msgs/msg/Float32', {'data': value}, ('number', value, unit), condition=condition, age=age)
