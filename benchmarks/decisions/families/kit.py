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
What families are made of: skills, orders, cases, and inputs as the node renders them.

All choice comes from one seeded generator per family, so that the set is the same every time.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
import math
import random
from typing import Any

from gemma_node.text.render import render_value

Json = dict[str, Any]
Slots = Mapping[str, tuple[Any, str]]


@dataclass(frozen=True, kw_only=True)
class Skill:
    """
    One tool, how people ask for it, and what they may fill in.

    `slots` draws argument -> (value, spoken words). `plain` clauses share words with the
    description, `free` ones less so. Clauses are imperatives without a full stop.
    """

    name: str
    description: str
    parameters: Json = field(default_factory=dict)
    required: tuple[str, ...] | None = None
    slots: Callable[[random.Random], dict[str, tuple[Any, str]]] = lambda _: {}
    plain: tuple[str, ...] = ()
    free: tuple[str, ...] = ()

    @property
    def tool(self) -> Json:
        """Return the declaration."""
        required = list(self.parameters) if self.required is None else list(self.required)
        return {
            'name': self.name,
            'description': self.description,
            'parameters': {
                'type': 'object', 'properties': self.parameters, 'required': required,
                'additionalProperties': False,
            },
        }


@dataclass(frozen=True, kw_only=True)
class Order:
    """A wish for one skill: the clause as said, and the call it means."""

    skill: Skill
    clause: str
    arguments: Json
    spoken: Mapping[str, str]

    @property
    def call(self) -> Json:
        """Return the call."""
        return {'name': self.skill.name, 'arguments': self.arguments}


def order(rng: random.Random, skill: Skill, *, free: bool | None = None) -> Order:
    """Draw a wish; `free` None takes any clause."""
    drawn = skill.slots(rng)
    clauses = skill.plain + skill.free if free is None else skill.free if free else skill.plain
    words = {name: spoken for name, (_, spoken) in drawn.items()}
    return Order(
        skill=skill,
        clause=rng.choice(clauses or skill.plain).format(**words),
        arguments={name: value for name, (value, _) in drawn.items() if value is not None},
        spoken=words,
    )


def pick(*values: str) -> Callable[[random.Random], tuple[Any, str]]:
    """Draw one of these; an enum's underscores are spoken as spaces."""
    def draw(rng: random.Random) -> tuple[Any, str]:
        value = rng.choice(values)
        return value, value.replace('_', ' ')
    return draw


def whole(low: int, high: int, step: int = 1) -> Callable[[random.Random], tuple[Any, str]]:
    """Draw a whole number, said in digits."""
    def draw(rng: random.Random) -> tuple[Any, str]:
        value = rng.randrange(low, high + 1, step)
        return value, str(value)
    return draw


def decimal(low: float, high: float, step: float) -> Callable[[random.Random], tuple[Any, str]]:
    """Draw a number of at most two decimals, said in digits."""
    def draw(rng: random.Random) -> tuple[Any, str]:
        value = round(low + step * rng.randint(0, round((high - low) / step)), 2)
        return value, f'{value:g}'
    return draw


def switch(rng: random.Random) -> tuple[Any, str]:
    """Draw on or off for a boolean."""
    value = rng.random() < 0.5
    return value, 'on' if value else 'off'


def drawn(**draws: Callable[[random.Random], tuple[Any, str]]) -> Any:
    """Return slots that draw each argument on its own."""
    return lambda rng: {name: draw(rng) for name, draw in draws.items()}


def enum(description: str, *values: str) -> Json:
    """Return the schema of a choice."""
    return {'type': 'string', 'enum': list(values), 'description': description}


def text(description: str) -> Json:
    """Return the schema of a free text."""
    return {'type': 'string', 'description': description, 'minLength': 1, 'maxLength': 200}


def number(description: str, low: float, high: float, unit: str = '') -> Json:
    """Return the schema of a number; unit and range stand in the description."""
    where = f'{unit}, ' if unit else ''
    return {'type': 'number', 'minimum': low, 'maximum': high,
            'description': f'{description} ({where}{low:g} to {high:g})'}


def integer(description: str, low: int, high: int, unit: str = '') -> Json:
    """Return the schema of a whole number."""
    return {**number(description, low, high, unit), 'type': 'integer'}


def flag(description: str) -> Json:
    """Return the schema of a boolean."""
    return {'type': 'boolean', 'description': description}


def record(description: str, **fields: Json) -> Json:
    """Return the schema of an object with these fields."""
    return {'type': 'object', 'description': description, 'properties': fields,
            'required': list(fields), 'additionalProperties': False}


def array(description: str, items: Json, most: int = 6) -> Json:
    """Return the schema of a list."""
    return {'type': 'array', 'description': description, 'items': items, 'minItems': 1,
            'maxItems': most}


FRAMES = (
    '{Clause}.', '{Clause}.', '{clause}', 'Please {clause}.', '{Clause}, please.',
    'Could you {clause}?', 'Can you {clause} please?', 'I want you to {clause}.',
    'Now {clause}.', 'Go ahead and {clause}.', 'Robot, {clause}.', 'I need you to {clause}.',
    'Would you {clause}, please?', 'Okay, {clause} now.', 'It is time to {clause}.',
    'Next, please {clause}.', 'You should {clause} now.',
)


# For clauses that end in a text to be taken as it is: nothing may follow.
OPEN_FRAMES = (
    '{Clause}.', '{Clause}.', '{clause}', 'Please {clause}.', 'Now {clause}.', 'Robot, {clause}.',
    'Go ahead and {clause}.', 'I want you to {clause}.', 'Next, please {clause}.',
)


def say(rng: random.Random, clause: str, frames: Sequence[str] = FRAMES) -> str:
    """Return a clause as one sentence of an operator."""
    if any(sign in clause for sign in (': ', ' that ', '"')):
        frames = OPEN_FRAMES
    return rng.choice(frames).format(clause=clause, Clause=capital(clause))


def an(words: str) -> str:
    """Return the words with their article."""
    return f'{"an" if words[0] in "aeio" else "a"} {words}'


def capital(words: str) -> str:
    """Return the words with a capital letter first."""
    return words[:1].upper() + words[1:]


def call(*orders: Order) -> Json:
    """Return the expectation of these calls."""
    return {'kind': 'call' if len(orders) == 1 else 'calls', 'calls': [o.call for o in orders]}


NO_ACTION: Json = {'kind': 'no_action'}
STOP: Json = {'kind': 'stop'}
REFUSE: Json = {'kind': 'refuse'}
REPLY: Json = {'kind': 'reply'}


def case(category: str, asked: str, expect: Json, tools: Sequence[Any], **more: Any) -> Json:
    """Return a case; tools are skills or declarations; `turns` in `more` replace `asked`."""
    declared = [each.tool if isinstance(each, Skill) else each for each in tools]
    found: Json = {'category': category, 'tools': declared}
    found |= {name: value for name, value in more.items() if value and name != 'turns'}
    found['turns'] = more.get('turns') or [{'role': 'user', 'text': asked}]
    found['expect'] = expect
    return found


def user(words: str) -> Json:
    """Return a user turn."""
    return {'role': 'user', 'text': words}


def replied(words: str) -> Json:
    """Return an assistant turn."""
    return {'role': 'assistant', 'text': words}


def result(called: Json, words: str) -> Json:
    """Return the result of a call."""
    return {'role': 'tool', 'name': called['name'], 'arguments': called['arguments'],
            'text': words}


def mixed(rng: random.Random, needed: Sequence[Skill], others: Sequence[Skill],
          low: int = 3, high: int = 7) -> list[Skill]:
    """Return the needed skills among others, shuffled; no two of one name."""
    names = {each.name for each in needed}
    rest = [each for each in others if each.name not in names]
    count = min(len(rest), max(0, rng.randint(low, high) - len(needed)))
    found = [*needed, *rng.sample(rest, count)]
    rng.shuffle(found)
    return found


# Inputs: messages, written as the node writes them.

def seen(topic: str, kind: str, value: Any, age_s: float = 0.2, limit_s: float = 2.0) -> Json:
    """Return an input of a case."""
    return {'topic': topic, 'type': kind, 'age_s': age_s, 'text': render_value(kind, value),
            'max_age_s': limit_s}


def missing(topic: str, kind: str) -> Json:
    """Return an input of which no message came yet."""
    return {'topic': topic, 'type': kind, 'state': 'missing'}


def invalid(topic: str, kind: str, why: str = 'nan') -> Json:
    """Return an input that says nothing usable."""
    return {'topic': topic, 'type': kind, 'state': 'invalid', 'text': why}


def _vector(x: float = 0.0, y: float = 0.0) -> Json:
    return {'x': x, 'y': y, 'z': 0.0}


def odometry(x: float, y: float, yaw: float, speed: float = 0.0, *, age_s: float = 0.2,
             limit_s: float = 1.0, topic: str = 'odom', frame: str = 'odom') -> Json:
    """Return a pose input, yaw in degrees."""
    half = math.radians(yaw) / 2
    turn = {'x': 0.0, 'y': 0.0, 'z': math.sin(half), 'w': math.cos(half)}
    return seen(topic, 'nav_msgs/msg/Odometry', {
        'header': {'frame_id': frame},
        'pose': {'pose': {'position': _vector(x, y), 'orientation': turn}},
        'twist': {'twist': {'linear': _vector(speed), 'angular': _vector()}},
    }, age_s, limit_s)


def battery(percent: int, status: int = 2, *, age_s: float = 0.8, limit_s: float = 10.0,
            topic: str = 'battery') -> Json:
    """Return a battery input; status 1 charging, 2 discharging, 3 not charging, 4 full."""
    current = 3.1 if status == 1 else -1.4
    return seen(topic, 'sensor_msgs/msg/BatteryState', {
        'percentage': percent / 100, 'voltage': 22.0 + percent / 25, 'current': current,
        'power_supply_status': status, 'power_supply_health': 1,
    }, age_s, limit_s)


def scan(front: float, left: float = 2.4, back: float = 3.1, right: float = 1.7, *,
         age_s: float = 0.1, limit_s: float = 1.0, topic: str = 'scan') -> Json:
    """Return a laser input."""
    return seen(topic, 'sensor_msgs/msg/LaserScan', {
        'header': {'frame_id': 'laser'}, 'angle_min': 0.0, 'angle_increment': math.pi / 2,
        'range_min': 0.05, 'range_max': 12.0, 'ranges': [front, left, back, right],
    }, age_s, limit_s)


def detections(*things: tuple[str, float, float], age_s: float = 0.3, limit_s: float = 2.0,
               at: tuple[float, float] = (0.0, 0.0), frame: str = 'map',
               topic: str = 'detections') -> Json:
    """Return a detections input of (name, x, y)."""
    return seen(topic, 'gemma_node/msg/DetectionArray', {
        'header': {'frame_id': frame},
        'detections': [
            {'name': name, 'x': x, 'y': y, 'distance': math.dist(at, (x, y)),
             'confidence': 0.95 - 0.04 * index}
            for index, (name, x, y) in enumerate(things)
        ],
    }, age_s, limit_s)


def diagnostics(*bad: tuple[int, str, str], fine: int = 3, age_s: float = 0.5,
                topic: str = 'diagnostics') -> Json:
    """Return a diagnostics input of (level, name, message); level 1 warns, 2 is an error."""
    return seen(topic, 'diagnostic_msgs/msg/DiagnosticArray', {
        'header': {'frame_id': ''},
        'status': [*({'level': level, 'name': name, 'message': message}
                     for level, name, message in bad),
                   *({'level': 0, 'name': f'part {n}', 'message': ''} for n in range(fine))],
    }, age_s, 5.0)


def words(topic: str, said: str, *, age_s: float = 0.6, limit_s: float = 10.0) -> Json:
    """Return a text input."""
    return seen(topic, 'std_msgs/msg/String', {'data': said}, age_s, limit_s)


def boolean(topic: str, value: bool, *, age_s: float = 0.4, limit_s: float = 5.0) -> Json:
    """Return a yes-or-no input."""
    return seen(topic, 'std_msgs/msg/Bool', {'data': value}, age_s, limit_s)


def reading(topic: str, value: float, *, age_s: float = 0.5, limit_s: float = 5.0) -> Json:
    """Return a number input."""
    return seen(topic, 'std_msgs/msg/Float32', {'data': value}, age_s, limit_s)


def calm(rng: random.Random, least: int = 1, most: int = 4) -> list[Json]:
    """Return inputs of a robot that is well: nothing near, no error, enough charge."""
    x, y = round(rng.uniform(-6, 6), 2), round(rng.uniform(-6, 6), 2)
    pose = odometry(x, y, rng.choice((0, 90, 180, -90, 45, -30, 120)))
    found = [
        battery(rng.randint(35, 96)),
        scan(*(round(rng.uniform(0.8, 6), 2) for _ in range(4))),
        diagnostics(fine=rng.randint(2, 6)),
    ]
    rng.shuffle(found)
    found = [pose, *found]
    return found[:rng.randint(least, most)]
