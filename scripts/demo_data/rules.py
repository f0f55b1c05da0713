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
Stated rules: what a description or the system text demands, forbids or prescribes.

A rule of a tool refuses its calls while it is broken; a standing order says what to do when
nobody asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from fractions import Fraction
import math
import random
from typing import Any

from demo_data import frames_rules as frames
from demo_data import quantities
from demo_data import rare
from demo_data import robots
from demo_data.conditions import arrange
from demo_data.conditions import Condition
from demo_data.observations import Inputs
from demo_data.observations import State
from demo_data.watch_kinds import invent
from gemma_node.core import InputState

Call = tuple[str, dict[str, Any]]


AGED = {'odom': 'pose', 'battery': 'battery', 'scan': 'front', 'gps': 'fix', 'detections': 'seen'}


@dataclass(frozen=True)
class Rule:
    """
    One stated rule about a tool ('' for a standing order).

    kind: needs (a condition), age (of an input), limit (of an argument), weight, place, order,
    closed (an input lists values that are forbidden), gate (a condition forbids one value).
    """

    kind: str
    text: str
    tool: str = ''
    condition: Condition | None = None
    path: tuple[str, ...] = ()
    limit: float = 0.0
    unit: str = ''
    value: str = ''
    order: Call | None = None
    in_system: bool = False
    choices: tuple[str, ...] = ()
    least: float = -math.inf
    other: Call | None = None

    def broken(self, arguments: Mapping[str, Any], state: State) -> str:
        """Say why a call must be refused, or nothing."""
        if self.kind in ('age', 'fresh'):
            return self._age_problem(state)
        if self.kind == 'needs' and self.condition is not None:
            problem = self.condition.problem(state)
            if problem:
                return f'{self.condition.label} is {problem}'
            return '' if self.condition.holds(state) else self.value
        found: Any = arguments
        for key in self.path:
            found = found.get(key) if isinstance(found, Mapping) else None
        if self.kind == 'limit' and isinstance(found, (int, float)) and not self.least <= found <= self.limit:
            return f'the limit is {self.limit if found > self.limit else self.least:g} {self.unit}'.strip()
        if self.kind == 'closed':
            return self._closed_problem(found, state)
        if self.kind == 'gate' and found == self.value and self.condition is not None:
            problem = self.condition.problem(state)
            reason = f'{self.condition.label} is {problem}' if problem else f'{self.value.replace("_", " ")} is closed'
            return reason if problem or self.condition.holds(state) else ''
        if self.kind == 'place' and found == self.value:
            return f'{self.value.replace("_", " ")} is forbidden'
        return ''

    def _closed_problem(self, found: Any, state: State) -> str:
        fact = state.fact('closed', self.value)
        if fact is None or fact.state is InputState.MISSING:
            return f'{self.value} is missing'
        if fact.state is InputState.INVALID or not fact.is_fresh:
            return f'{self.value} is {"invalid" if fact.state is InputState.INVALID else "stale"}'
        return f'{str(found).replace("_", " ")} is closed' if found in fact.value else ''

    def _age_problem(self, state: State) -> str:
        found = next((o for o in state.observations if o.name == self.value), None)
        if found is None or found.state is InputState.MISSING:
            return f'{self.value} is missing'
        if found.state is InputState.INVALID:
            return f'{self.value} is invalid'
        if found.state is InputState.STALE or found.age_s > self.limit:
            return f'{self.value} is too old'
        return ''

    def prepare(self, rng: random.Random, state: State, chance: float) -> None:
        """Give a state the input that the rule is about; `chance` is that of a broken rule."""
        breaks = rng.random() < chance
        if self.kind == 'age':
            self._set_age(rng, state, breaks)
        elif self.kind == 'fresh':
            self._set_fresh(rng, state, breaks)
        elif self.kind == 'closed':
            self.list_closed(rng, state, rng.choice(self.choices), breaks)
        elif self.kind == 'gate' and self.condition is not None:
            arrange(rng, state, self.condition, truth=breaks)
        elif self.condition is not None:
            fault = None
            if breaks and rng.random() < 0.3:
                fault = rng.choice((InputState.STALE, InputState.STALE, InputState.MISSING, InputState.INVALID))
            arrange(rng, state, self.condition, truth=not breaks, fault=fault)

    def list_closed(self, rng: random.Random, state: State, value: str, is_listed: bool) -> None:
        """Write the input that lists what is closed, with or without a value."""
        state.drop(self.value)
        others = [c for c in self.choices if c != value]
        found = rng.sample(others, min(len(others), rng.choice((0, 1, 1, 2, 3))))
        if is_listed:
            found.insert(rng.randint(0, len(found)), value)
        fault = rng.choice((InputState.STALE, InputState.MISSING)) if rng.random() < 0.05 else InputState.FRESH
        shown = [c.replace('_', ' ') if rng.random() < 0.2 else c for c in found]
        text = rng.choice((', ', ', ', '; ', ' and ')).join(shown) if shown else rng.choice(('none', 'nothing', '-', 'all open'))
        inputs = Inputs(rng, state, 0.0)
        inputs.add(self.value, 'std_msgs/msg/String', {'data': text}, ('closed', tuple(found), ''), condition=fault)

    def _set_fresh(self, rng: random.Random, state: State, breaks: bool) -> None:
        state.drop(self.value)
        fault = rng.choice((InputState.STALE, InputState.STALE, InputState.MISSING, InputState.INVALID)) if breaks else InputState.FRESH
        if breaks and rng.random() < 0.15:
            return
        shapes: tuple[tuple[str, dict[str, Any], tuple[str, Any, str]], ...] = (
            ('std_msgs/msg/Float32', {'data': round(rng.uniform(0, 90), 1)}, ('number', 1.0, '')), ('std_msgs/msg/String', {'data': rare.any_word(rng)}, ('text', '', '')),
            ('std_msgs/msg/Bool', {'data': rng.random() < 0.5}, ('bool', True, '')), ('sensor_msgs/msg/Image', {'header': {'frame_id': ''}, 'width': 640, 'height': 480, 'encoding': 'mono8', 'data': {'__bytes__': 307200}}, ('text', '', '')),
            (f'{rare.noun(rng)}_msgs/msg/Reading', {'value': rng.randint(0, 900), 'ok': True}, ('text', '', '')))
        kind, value, fact = rng.choice(shapes)
        Inputs(rng, state, 0.0).add(self.value, kind, value, (fact[0], value.get('data', 0) if fact[0] == 'number' else fact[1], ''), condition=fault)

    def _set_age(self, rng: random.Random, state: State, breaks: bool) -> None:
        place = next((i for i, o in enumerate(state.observations) if o.name == self.value), None)
        if place is None:
            if breaks and rng.random() < 0.2:
                return
            kind = AGED.get(self.value, '')
            if not kind and not any(s[0] == self.value for s in robots.NUMBERS):
                self._set_fresh(rng, state, False)
                place = len(state.observations) - 1
            elif not kind:
                spec = next(s for s in robots.NUMBERS if s[0] == self.value)
                arrange(rng, state, Condition('number', '>', (spec[2] + spec[3]) / 2, self.value, spec[1]), truth=rng.random() < 0.5)
                place = len(state.observations) - 1
        if place is None:
            if any(f.kind == kind for f in state.facts):
                state.drop(next(f.name for f in state.facts if f.kind == kind))
            blank: Any = {'pose': 0, 'battery': 30, 'front': 1.0, 'fix': True, 'seen': 'box'}[kind]
            op = {'fix': '=', 'seen': 'sees not'}.get(kind, '>')
            arrange(rng, state, Condition(kind, op, blank), truth=True)
            added = state.observations.pop()
            renamed = replace(added, name=self.value, topic=f'/{self.value}')
            state.observations.append(renamed)
            state.facts = [replace(f, name=self.value) if f.name == added.name else f for f in state.facts]
            place = len(state.observations) - 1
        found = state.observations[place]
        if found.state is not InputState.FRESH and not breaks:
            kind = next((f.kind for f in state.facts if f.name == self.value), '')
            state.drop(self.value)
            self._set_age(rng, state, False) if kind else None
            return
        if found.state is not InputState.FRESH:
            return
        age = self.limit * rng.choice((0.2, 0.4, 0.6, 0.8)) if not breaks else self.limit * rng.choice((1.4, 2, 3, 8, 20)) + 0.1
        age = round(age, 1) if age < 10 else float(round(age))
        if (age > self.limit) is not breaks:
            age = 0.0 if not breaks else self.limit + 1
        state.observations[place] = replace(found, age_s=age, max_age_s=max(found.max_age_s, age + 1))


_FRESH_INPUTS = ('imu', 'joint_states', 'image', 'map', 'localization', 'plan', 'points', 'pose', 'heartbeat', 'depth', 'tool_state', 'tf', 'compass', 'wheel_ticks', 'ir_beacon', 'microphone', 'thermal_camera', 'radar', 'encoder', 'altimeter', 'touch', 'line_sensor')


def age_rule(rng: random.Random, tool: str, is_motion: bool) -> Rule:
    """Demand that an input is fresh."""
    name = rng.choice(('odom', 'odom', 'battery', 'scan', 'gps', 'detections')) if not is_motion else rng.choice(('odom', 'odom', 'scan', 'gps'))
    if rng.random() < 0.4:
        name = rng.choice((rng.choice(robots.NUMBERS)[0], rng.choice(_FRESH_INPUTS), f'{rare.noun(rng)}_{rng.choice(("scan", "pose", "reading", "state", "feed", "signal"))}'))
    if rng.random() < 0.4:
        name = rng.choice(_FRESH_INPUTS) if rng.random() < 0.6 else name
        return Rule('fresh', rng.choice(frames.FRESH).format(n=name), tool, limit=math.inf, value=name)
    limit = rng.choice((0.2, 0.3, 0.4, 0.5, 0.5, 0.8, 1, 1, 1.5, 2, 3, 4, 5, 8, 10, 20, 30))
    shown = rng.choice((f'{limit} s', f'{limit} s', f'{limit} seconds', f'{limit * 1000:g} ms')) if limit < 1 else rng.choice((f'{limit} s', f'{limit} s', f'{limit} seconds', f'{limit} sec'))
    text = rng.choice(frames.AGES).format(n=name, s=shown)
    return Rule('age', text, tool, limit=limit, value=name)


_NEEDS: tuple[tuple[Condition, tuple[str, ...], str], ...] = (
    (Condition('fix', '=', True), ('Only with a valid gps fix.', 'Needs a gps fix.', 'Requires that the gps has a fix.', 'Not without a gps fix.'), 'there is no gps fix'),
    (Condition('charging', '=', False), ('Not while charging.', 'Never while the battery is charging.', 'Only when not charging.', 'Forbidden during charging.'), 'the battery is charging'),
    (Condition('battery', '>', 30, unit='%'), ('Needs more than 30 % battery.', 'Only with a battery above 30 %.', 'Not with a battery of 30 % or less.'), 'the battery is too low'),
    (Condition('battery', '>', 50, unit='%'), ('Needs more than 50 % battery.', 'Only with a battery above 50 %.', 'Requires a charge over 50 %.'), 'the battery is too low'),
    (Condition('battery', '>', 20, unit='%'), ('Needs more than 20 % battery.', 'Requires a battery above 20 %.'), 'the battery is too low'),
    (Condition('flag', '=', False, 'gripper_closed'), ('Only when gripper_closed is false.', 'Needs an open gripper (gripper_closed false).'), 'the gripper is closed'),
    (Condition('flag', '=', False, 'person_detected'), ('Never while person_detected is true.', 'Not when person_detected is true.', 'Only if nobody is near (person_detected false).'), 'a person is near'),
    (Condition('flag', '=', True, 'door_open'), ('Only when door_open is true.', 'Needs an open door (door_open true).'), 'the door is closed'),
    (Condition('flag', '=', True, 'tool_attached'), ('Only when tool_attached is true.', 'Needs the tool attached (tool_attached).'), 'no tool is attached'),
    (Condition('flag', '=', False, 'raining'), ('Not while raining is true.', 'Only in dry weather (raining false).'), 'it is raining'),
    (Condition('mode', '=', 'auto', 'mode'), ('Only in mode auto.', 'Needs the mode auto.', 'Works in mode auto only.'), 'the mode is not auto'),
    (Condition('mode', '=', 'manual', 'mode'), ('Only in mode manual.', 'Needs the mode manual.'), 'the mode is not manual'),
    (Condition('front', '>', 1, unit='m'), ('Only if nothing is within 1 m in front.', 'Needs more than 1 m of free space ahead.'), 'the way ahead is not free'),
    (Condition('front', '>', 0.5, unit='m'), ('Only if nothing is within 0.5 m in front.', 'Needs more than 0.5 m of free space ahead.'), 'the way ahead is not free'),
    (Condition('temperature', '>', 0), ('Not below 0 C.', 'Only above 0 degrees Celsius.'), 'it is too cold'),
    (Condition('temperature', '<', 40), ('Not above 40 C.', 'Only below 40 degrees Celsius.'), 'it is too hot'),
    (Condition('speed', '<', 0.1, unit='m/s'), ('Only while slower than 0.1 m/s.', 'Needs a speed below 0.1 m/s.', 'Not while driving at 0.1 m/s or more.'), 'the robot is moving'),
    (Condition('number', '<', 10, 'wind_speed', 'm/s'), ('Not with a wind_speed of 10 m/s or more.', 'Only with a wind_speed below 10 m/s.'), 'the wind is too strong'),
    (Condition('number', '>', 15, 'water_level', '%'), ('Needs a water_level above 15 %.', 'Only with more than 15 % water_level.'), 'the water level is too low'),
    (Condition('number', '<', 90, 'fill_level', '%'), ('Not with a fill_level of 90 % or more.', 'Only below 90 % fill_level.'), 'the fill level is too high'),
)


def needs_rule(rng: random.Random, tool: str, *, in_system: bool = False) -> Rule:
    """Demand that something holds, or that it does not."""
    if rng.random() < 0.75:
        found = invent(rng)
        return stated_need(rng, tool, found, in_system=in_system)
    condition, texts, reason = rng.choice(_NEEDS)
    text = rng.choice(texts)
    return Rule('needs', f'{tool}: {text[:1].lower()}{text[1:]}' if in_system else text, tool, condition, value=reason, in_system=in_system)


# How often a demand is made as most people make it: in one of the first frames.
PLAIN = 0.5
_PLAIN_FRAMES = 9


def stated_need(rng: random.Random, tool: str, needed: Condition, *, in_system: bool) -> Rule:
    """Say that something must hold, or that its opposite forbids it."""
    is_positive = rng.random() < 0.5
    texts = (frames.ONLY_SYSTEM if is_positive else frames.NEVER_SYSTEM) if in_system else (frames.ONLY if is_positive else frames.NEVER)
    said = needed if is_positive else needed.opposite()
    name = tool if rng.random() < 0.65 else tool.replace('_', ' ')
    is_plain = rng.random() < PLAIN
    text = rng.choice(texts[:_PLAIN_FRAMES] if is_plain else texts).format(c=said.plain(rng) if is_plain else said.words(rng), t=name)
    reason = needed.failing or ('what it needs does not hold' if is_positive else 'what forbids it holds')
    return Rule('needs', text[:1].upper() + text[1:] if not text.startswith(name) else text, tool, needed, value=reason, in_system=in_system)


def limit_rule(rng: random.Random, tool: str, path: tuple[str, ...], unit: str, low: float, high: float, *, in_system: bool, is_whole: bool = False, is_alone: bool = False) -> Rule:
    """Limit an argument more than its range does."""
    limit = low + (high - low) * rng.choice((0.3, 0.4, 0.5, 0.6, 0.7))
    limit = float(round(limit)) if is_whole or limit >= 10 else round(limit, 1)
    shown = {'fraction': '', 'x': 'times'}.get(unit, unit)
    amount, bound = _amount(rng, limit, unit)
    least, lowest = -math.inf, ''
    roll = rng.random()
    if roll < 0.3 and high - low >= 4:
        floor = low + (high - low) * rng.choice((0.1, 0.15, 0.2, 0.25))
        lowest, least = _amount(rng, float(round(floor)) if is_whole or floor >= 10 else round(floor, 1), unit)
        if not low < least < bound:
            least, lowest = -math.inf, ''
    words = {'a': amount, 'k': path[-1], 't': tool if rng.random() < 0.65 else tool.replace('_', ' ')}
    if lowest and roll < 0.15:
        texts = frames.LEAST_SYSTEM if in_system else frames.LEAST
        return Rule('limit', _start(rng.choice(texts).format(**{**words, 'a': lowest}), path[-1]), tool, path=path, limit=math.inf, least=least, unit=shown, in_system=in_system)
    if lowest:
        texts = frames.WITHIN_SYSTEM if in_system else frames.WITHIN
        return Rule('limit', _start(rng.choice(texts).format(b=lowest, **words), path[-1]), tool, path=path, limit=bound, least=least, unit=shown, in_system=in_system)
    texts = frames.MOST_SYSTEM if in_system else frames.MOST
    family = quantities.FAMILY_OF.get(unit, unit)
    if family in frames.BY_UNIT and is_alone and rng.random() < (0.55 if in_system else 0.15):
        texts = frames.BY_UNIT[family]
    return Rule('limit', _start(rng.choice(texts).format(**words), path[-1]), tool, path=path, limit=bound, unit=shown, in_system=in_system)


def _start(text: str, name: str) -> str:
    """Start with a capital letter, but leave names of tools and arguments as they are."""
    return text if '_' in text.split(' ')[0] or text.startswith(name) else text[:1].upper() + text[1:]


def _amount(rng: random.Random, value: float, unit: str) -> tuple[str, float]:
    """Say an amount, at times in another unit; returns its words and its value as declared."""
    shown = {'fraction': '', 'x': 'times'}.get(unit, unit)
    family = quantities.FAMILIES.get(quantities.FAMILY_OF.get(unit, ''), {})
    if family and rng.random() < 0.3:
        number = Fraction(str(value)) * family[unit]
        fitting = [u for u in family if u not in ('rad', 'fraction', unit) and unit != 'rad' and (number / family[u] * 10).denominator == 1 and 0.5 <= number / family[u] <= 5000]
        if fitting:
            other = rng.choice(fitting)
            return f'{float(number / family[other]):g} {other}', value
    if family and rng.random() < 0.3:
        return quantities.say(rng, Fraction(str(value)), unit) or f'{value:g} {shown}'.strip(), value
    return f'{value:g} {shown}'.strip(), value


def weight_rule(rng: random.Random, tool: str, *, in_system: bool) -> Rule:
    """Limit what may be carried, by its weight mostly."""
    if rng.random() < 0.25:
        told = rng.choice(tuple(frames.TOLD))
        unit, limits, texts, system, _ = frames.TOLD[told]
        limit = rng.choice(limits)
        amount, _ = _amount(rng, limit, unit)
        return Rule('weight', rng.choice(system if in_system else texts).format(a=amount), tool, limit=limit, unit=unit, value=told, in_system=in_system)
    limit = rng.choice((0.4, 0.5, 0.8, 1, 1.5, 2, 2, 2.5, 3, 4, 5, 5, 6, 7.5, 8, 10, 12, 15, 20, 25, 40))
    amount, _ = _amount(rng, limit, 'kg')
    text = rng.choice(frames.CARRIES_SYSTEM if in_system else frames.CARRIES).format(a=amount)
    return Rule('weight', text, tool, limit=limit, unit='kg', in_system=in_system)


def place_rule(rng: random.Random, tool: str, path: tuple[str, ...], value: str, *, is_place: bool = True) -> Rule:
    """Forbid one of the choices of a tool."""
    spoken = value.replace('_', ' ') if rng.random() < 0.8 else value
    text = rng.choice(frames.PLACES if is_place else frames.FORBIDDEN).format(v=rng.choice((spoken, spoken, f'the {spoken}')) if is_place else spoken)
    return Rule('place', text[:1].upper() + text[1:], tool, path=path, value=value, in_system=True)


_CLOSED = ('closed', 'blocked', 'locked', 'forbidden', 'occupied', 'out_of_order', 'unavailable', 'restricted', 'off_limits', 'sealed')


def closed_rule(rng: random.Random, tool: str, path: tuple[str, ...], choices: tuple[str, ...], what: str, *, in_system: bool) -> Rule:
    """Let an input list the values that are forbidden."""
    word = rng.choice(_CLOSED)
    name = rng.choice((f'{word}_{what}', f'{what}_{word}', word, f'{word}_list', f'{rare.noun(rng)}_{word}'))
    return Rule('closed', rng.choice(frames.LISTED).format(n=name), tool, path=path, value=name, choices=choices, in_system=in_system)


def gate_rule(rng: random.Random, tool: str, path: tuple[str, ...], value: str, condition: Condition) -> Rule:
    """Forbid one value while a condition holds."""
    is_positive = rng.random() < 0.4
    said = condition.opposite() if is_positive else condition
    spoken = value.replace('_', ' ') if rng.random() < 0.6 else value
    text = rng.choice(frames.GATED_ONLY if is_positive else frames.GATED).format(v=spoken, c=said.words(rng))
    return Rule('gate', text[0].upper() + text[1:], tool, condition, path=path, value=value, in_system=True)
