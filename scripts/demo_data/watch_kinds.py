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

"""Conditions on what all the other kinds of messages say, and the choice among all kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import random
from typing import Any

from demo_data import conditions
from demo_data import frames_states as frames
from demo_data import observations as obs
from demo_data import rare
from demo_data import values
from demo_data import watch_sites
from demo_data import watch_values
from demo_data import watch_words
from demo_data import words
from demo_data.conditions import beside
from demo_data.conditions import Condition
from demo_data.observations import Inputs
from demo_data.watch_values import drawn
from demo_data.watch_values import events
from demo_data.watch_values import numbers
from demo_data.watch_values import states
from demo_data.watches import Joined
from demo_data.watches import Make
from demo_data.watches import Watch
from gemma_node.core import InputState

_TEXTS = ('intercom', 'pager', 'order_screen', 'gate_panel', 'announcement', 'shift_board', 'task_card', 'alarm_text', 'doorbell', 'tag_reader')
_PHASES = ('operating_mode', 'phase', 'work_state', 'shift', 'program', 'stage', 'role')
_WARM = ('temperature', 'ambient_temperature', 'cabin', 'outside_air', 'fridge', 'thermometer', 'greenhouse')
MODES = ('night', 'service', 'eco', 'transport', 'harvest', 'setup', 'inventory', 'guest')
INPUTS = {*_TEXTS, *_PHASES, *_WARM, *watch_values.INPUTS}


def draw(rng: random.Random, *, joined: float = 0.0) -> Condition:
    """Draw a condition of any message kind, or its opposite."""
    if rng.random() < joined:
        one, other = draw(rng), draw(rng)
        if not one.homes & other.homes and not {o for o in one.homes | other.homes if o in ('odom', 'odometry')}:
            return Joined('joined', rng.choice(('and', 'and', 'or')), None, parts=(one, other))
    made = rng.choices([m for m, _ in _MAKERS], [w for _, w in _MAKERS])[0](rng)
    return made.opposite() if rng.random() < 0.4 else made


def invent(rng: random.Random) -> Condition:
    """Invent a condition for a rule; the states of its robot will have the input."""
    return draw(rng, joined=0.06) if rng.random() < 0.7 else conditions.invent(rng)


def sights(rng: random.Random) -> Watch:
    """What a camera sees: a thing, how many, how near, nothing at all."""
    name = rng.choice(('detections', 'detections', 'camera', 'objects', 'vision', 'front_camera', 'tracker', 'people_detector'))
    thing = rng.choice((values.thing(rng), values.thing(rng), rng.choice(('person', 'dog', 'forklift', 'child', 'pallet', 'cat', 'bicycle', 'spill', 'fire', 'cone', 'cable'))))
    a = 'an' if thing[0] in 'aeiou' else 'a'
    roll = rng.random()
    far, least, most = 99.0, 1, 99

    def test(found: Any) -> bool:
        return least <= sum(d['name'] == thing and d['distance'] < far for d in found) <= most

    bound = 0.0
    if roll < 0.55:
        texts = (f'{a} {thing} is in view', f'{a} {thing} is seen', f'{a} {thing} is detected', f'there is {a} {thing}', f'the camera finds {a} {thing}', f'{name} lists {a} {thing}', f'{a} {thing} turns up', f'a {thing} appears before the camera', f'{name} contains {a} {thing}', f'you have {a} {thing} in sight', f'any {thing} is visible', f'the {thing} can be seen')
        contrary = (f'no {thing} is in view', f'no {thing} is seen', f'there is no {thing}', f'the camera finds no {thing}', f'{name} lists no {thing}', f'you have no {thing} in sight', f'the {thing} is not to be seen', f'nothing like {a} {thing} is detected', f'the {thing} is not detected', f'{thing} is missing from {name}')
    elif roll < 0.75:
        bound = far = rng.choice((1.0, 1.5, 2.0, 2.5, 3.0, 4.0))
        texts = (f'{a} {thing} is closer than {far:g} m', f'{a} {thing} is within {far:g} m', f'{a} {thing} is less than {far:g} m away', f'{a} {thing} comes nearer than {far:g} m', f'there is {a} {thing} within {far:g} metres of you', f'the distance to {a} {thing} is below {far:g} m')
        contrary = (f'no {thing} is closer than {far:g} m', f'no {thing} is within {far:g} m', f'every {thing} is farther off than {far:g} m', f'there is no {thing} within {far:g} metres')
    else:
        return _how_many(rng, name)

    def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        others = [values.thing(rng) for _ in range(rng.choice((0, 0, 1, 2, 3)))]
        found = [_seen(rng, n) for n in others if n != thing]
        if truth:
            found.append(_seen(rng, thing, far=min(far, 6.0)))
        elif bound and rng.random() < 0.7:
            found.append(_seen(rng, thing, near=far + 0.05))
        _add_seen(rng, inputs, name, found, fault)
    return Watch('seen', 'sees', thing, name, '', texts, contrary, make, test)


def _how_many(rng: random.Random, name: str) -> Watch:
    if rng.random() < 0.5:
        return watch_words.crowds(rng, name)
    count = rng.choice((0, 0, 1, 2, 2, 3, 4))
    texts: tuple[str, ...] = (f'more than {count} objects are seen', f'you see more than {count} things', f'{name} lists more than {count} objects', f'at least {count + 1} things are in view', f'{count + 1} or more objects are detected', f'there are over {count} detections')
    contrary: tuple[str, ...] = (f'at most {count} objects are seen', f'no more than {count} things are in view', f'fewer than {count + 1} objects are detected', f'you see {count} things or fewer', f'{name} lists {count} objects at most')
    if count == 0:
        texts = ('anything is in view', 'something is seen', 'the camera sees anything at all', f'{name} is not empty', 'at least one object is detected', 'there is any detection')
        contrary = ('nothing is in view', 'nothing is seen', 'the camera sees nothing', f'{name} is empty', 'no object is detected', 'there are no detections', f'{name} reports nothing')

    def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        many = rng.randint(count + 1, count + 3) if truth else rng.randint(max(0, count - 2), count)
        _add_seen(rng, inputs, name, [_seen(rng, values.thing(rng)) for _ in range(many)], fault)
    return Watch('seen', 'many', None, name, '', texts, contrary, make, lambda found: len(found) > count)


def _seen(rng: random.Random, name: str, near: float = 0.4, far: float = 6.5) -> dict[str, Any]:
    return {'name': name, 'x': round(rng.uniform(-9, 9), 2), 'y': round(rng.uniform(-9, 9), 2), 'distance': round(rng.uniform(near, max(near + 2, far) if near > 0.4 else far - 0.05), 2), 'confidence': round(rng.uniform(0.4, 1), 2)}


def _add_seen(rng: random.Random, inputs: Inputs, name: str, found: list[dict[str, Any]], fault: InputState) -> None:
    found.sort(key=lambda d: d['distance'])
    inputs.add(name, 'gemma_node/msg/DetectionArray', {'header': obs.header(rng, 'map'), 'detections': found}, ('seen', found, ''), condition=fault)


def messages(rng: random.Random) -> Watch:
    """A text that is this or another one, or holds a word."""
    name = f'{rare.noun(rng)}_{rng.choice(("message", "display", "label", "text", "note", "call", "code", "order", "answer"))}' if rng.random() < 0.6 else rng.choice(_TEXTS)
    as_name = name if rng.random() < 0.6 else f'the {name.replace("_", " ")}'
    word = rng.choice((rare.any_word(rng), rare.code(rng), rng.choice(('HELP', 'ready', 'EXIT', 'OK', 'wait', 'FIRE', 'go', 'hold', 'start', 'done', 'night', 'day'))))
    others = [rare.any_word(rng), rare.code(rng), 'none', 'nothing new', rng.choice(('idle', '-', 'all quiet', 'please wait', 'closed today'))]
    if rng.random() < 0.5:
        texts = tuple(t.format(n=as_name, v=word) for t in ('{n} says "{v}"', '{n} says {v}', '{n} is "{v}"', '{n} reads "{v}"', '{n} shows {v}', '{n} equals {v}', 'you read {v} on {n}', '{v} comes in on {n}', '{n} reports "{v}"'))
        contrary = tuple(t.format(n=as_name, v=word) for t in ('{n} does not say "{v}"', '{n} is not "{v}"', '{n} says anything but {v}', '{n} shows something else than {v}', '{n} does not show {v}'))
        around = ('{}',)
    else:
        texts = tuple(t.format(n=as_name, v=word) for t in ('{n} contains "{v}"', '{n} contains the word {v}', '{n} mentions {v}', 'the word {v} stands in {n}', '{v} is mentioned on {n}', '{n} has {v} in it', 'there is "{v}" in {n}'))
        contrary = tuple(t.format(n=as_name, v=word) for t in ('{n} does not contain "{v}"', '{n} does not mention {v}', 'the word {v} is not in {n}', 'nothing of {v} stands on {n}'))
        around = ('{}', f'{rare.any_word(rng)} {{}}', f'{{}} {rare.any_word(rng)}', f'{rare.noun(rng)} {{}} {rare.noun(rng)}', '{} please')

    def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        text = rng.choice(around).format(word if truth else rng.choice([o for o in others if word not in o]))
        obs.string(inputs, name, text, 'note', fault)
    return Watch('note', 'says', word, name, '', texts, contrary, make, lambda v: word in v)


def modes(rng: random.Random) -> Watch:
    """The mode that the robot or a machine is in."""
    name = rng.choice((*_PHASES, f'{rare.noun(rng)}_mode', f'{rare.noun(rng)}_state'))
    pool = tuple(dict.fromkeys((*rng.sample(words.MODES, 3), rare.adjective(rng), rare.syllables(rng), rng.choice(MODES))))
    mode = rng.choice(pool)
    as_name = name if rng.random() < 0.6 else f'the {name.replace("_", " ")}'
    texts = tuple(t.format(n=as_name, v=mode) for t in ('{n} is {v}', '{n} is "{v}"', '{n} is set to {v}', '{n} says {v}', '{n} has switched to {v}', '{n} equals {v}', '{n} stands at {v}', 'you are in {n} {v}', 'it is {v} according to {n}'))
    contrary = tuple(t.format(n=as_name, v=mode) for t in ('{n} is not {v}', '{n} is anything but {v}', '{n} is other than {v}', '{n} is set to something else than {v}', '{n} is no longer {v}'))

    def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        obs.string(inputs, name, mode if truth else rng.choice([p for p in pool if p != mode]), 'mode', fault)
    return Watch('mode', '=', mode, name, '', texts, contrary, make, lambda v: v == mode)


def powers(rng: random.Random) -> Watch:
    """The charge, or whether the battery is being charged."""
    name = rng.choice(('battery', 'battery', 'battery_state', 'power', 'accu', 'main_battery'))
    if rng.random() < 0.35:
        texts = ('the battery is charging', 'you are charging', 'the battery is being charged', 'the robot is on the charger', 'charging is under way', 'power is going into the battery', f'{name} says charging')
        contrary = ('the battery is not charging', 'you are not charging', 'the battery is not being charged', 'no charging is under way', 'charging has ended')

        def charge(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
            obs.battery(rng, inputs, name, rng.randint(25, 98), 1 if truth else rng.choice((2, 3)), fault)
        return Watch('charging', '=', True, name, '', texts, contrary, charge, lambda v: v is True)
    if rng.random() < 0.15:
        return _low(name)
    bound = float(rng.choice((15, 22, 25, 30, 33, 35, 40, 45, 48, 50, 55, 60, 70, 75, 80, 90)))
    subjects = ('the battery is', 'the charge is', 'your battery is', 'the state of charge is', f'{name} is', 'the battery stands', 'the remaining charge is', 'the battery level is', 'battery is')
    shown = rng.choice((f'{bound:g} %', f'{bound:g}%', f'{bound:g} percent'))
    more, less = ([f'{rng.choice(subjects)} {t.format(b=shown)}' for t in side] for side in (frames.MORE, frames.LESS))
    falls, rises = ([f'{rng.choice(("the battery", "the charge", "the battery level"))} {t.format(b=shown)}' for t in side] for side in (frames.FALLS, frames.RISES))
    if bound == 50:
        more.append('the battery is more than half full')
        less.append('the battery is less than half full')

    def level(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        value = int(drawn(rng, 3, 100, 0, lambda v: (v < bound) is truth and 3 <= v <= 100, (bound,)))
        obs.battery(rng, inputs, name, value, rng.choice((2, 2, 2, 3, 1)), fault)
    return Watch('battery', '<', bound, name, '%', (*less, *falls), (*more, *rises), level, lambda v: v < bound, (bound,))


def _low(name: str) -> Watch:
    """A low battery, without a number: far below or far above of what anybody calls low."""
    texts = ('the battery is low', 'your battery is low', 'the charge is low', 'the battery runs low', 'the battery is nearly empty', 'you run out of charge', 'little charge is left', 'the power is running out')
    contrary = ('the battery is well charged', 'the battery is not low', 'the charge is not low', 'there is charge enough', 'the battery is far from empty')

    def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        obs.battery(rng, inputs, name, rng.randint(3, 15) if truth else rng.randint(55, 100), 2, fault)
    return Watch('battery', '<', 20.0, name, '%', texts, contrary, make, lambda v: v < 20, (20.0,))


def moves(rng: random.Random) -> Watch:
    """The speed, or where on the map the robot is."""
    name = rng.choice(('odom', 'odom', 'odometry'))
    roll = rng.random()

    def make_of(at: Callable[[random.Random, bool], tuple[tuple[float, float, int], float]]) -> Make:
        def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
            pose, speed = at(rng, truth)
            obs.odometry(rng, inputs, name, pose, speed, fault)
        return make

    def somewhere(rng: random.Random) -> tuple[float, float, int]:
        return round(rng.uniform(-9, 9), 1), round(rng.uniform(-9, 9), 1), rng.choice((0, 90, 180, -90, 45))
    if roll < 0.5:
        bound = rng.choice((0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.8, 1.0))
        more = [f'{s} {t.format(b=f"{bound:g} m/s")}' for s in ('the speed is', 'your speed is', 'the robot\'s speed is') for t in rng.sample(frames.MORE, 6)]
        less = [f'{s} {t.format(b=f"{bound:g} m/s")}' for s in ('the speed is', 'your speed is', 'the robot\'s speed is') for t in rng.sample(frames.LESS, 6)]
        more += [f'you drive faster than {bound:g} m/s', f'the robot moves faster than {bound:g} m/s']
        less += [f'you drive slower than {bound:g} m/s', f'the robot moves slower than {bound:g} m/s']
        if bound == 0.05:
            more += ['the robot is moving', 'you are driving', 'the wheels are rolling', 'the robot is on the move']
            less += ['the robot stands still', 'you are not moving', 'the robot is at rest']
        return Watch('speed', '>', bound, name, 'm/s', tuple(more), tuple(less),
                     make_of(lambda rng, truth: (somewhere(rng), 0.0 if bound == 0.05 and not truth else round(float(beside(rng, bound, 0, 1.5, not truth)), 2))), lambda v: v > bound, (bound,))
    axis = rng.choice('xy')
    at = 'xy'.index(axis)
    low = float(rng.randint(-8, 5))
    high = low + rng.choice((2, 3, 4)) if rng.random() < 0.5 else 99.0
    if high < 99:
        texts = tuple(t.format(a=axis, l=f'{low:g}', h=f'{high:g}') for t in ('your {a} is between {l} and {h}', '{a} is between {l} and {h} m', 'the robot is in the strip from {a} {l} to {a} {h}', '{a} lies in the range {l} to {h}', 'you are inside the zone {l} < {a} < {h}'))
        contrary = tuple(t.format(a=axis, l=f'{low:g}', h=f'{high:g}') for t in ('your {a} is not between {l} and {h}', '{a} is outside {l} to {h} m', 'the robot is out of the strip from {a} {l} to {a} {h}', 'you are outside of the zone {l} < {a} < {h}'))
    else:
        texts = tuple(t.format(a=axis, l=f'{low:g}') for t in ('{a} is above {l}', 'your {a} is more than {l} m', 'the {a} coordinate exceeds {l}', 'the robot is beyond {a} = {l}', 'the odometry shows {a} over {l} m', '{a} > {l}'))
        contrary = tuple(t.format(a=axis, l=f'{low:g}') for t in ('{a} is below {l}', 'your {a} is less than {l} m', 'the {a} coordinate is under {l}', 'the odometry shows {a} less than {l} m', '{a} < {l}'))

    def placed(rng: random.Random, truth: bool) -> tuple[tuple[float, float, int], float]:
        value = drawn(rng, -10, 10, 1, lambda v: (low < v < high) is truth, (low, high) if high < 99 else (low,))
        pose = list(somewhere(rng))
        pose[at] = value
        return (float(pose[0]), float(pose[1]), int(pose[2])), rng.choice((0.0, 0.0, 0.3))
    return Watch('pose', '?', None, name, 'm', texts, contrary, make_of(placed), lambda v: low < v[at] < high, (low, high))


def gaps(rng: random.Random) -> Watch:
    """The distance that one sensor measures."""
    side = rng.choice(('rear', 'left', 'right', 'back', 'upper', 'lower', 'door', 'dock', 'ceiling', 'shelf', 'floor'))
    name = f'{side}_{rng.choice(("range", "sonar", "ultrasonic", "distance", "lidar", "tof"))}'
    bound = rng.choice((0.3, 0.4, 0.5, 0.8, 1.0, 1.2, 1.5, 2.0))
    shown = rng.choice((f'{bound:g} m', f'{bound * 100:g} cm', f'{bound:g} metres'))
    texts = tuple(t.format(n=name, s=side, b=shown) for t in ('{n} is below {b}', '{n} measures less than {b}', 'the {s} distance is under {b}', 'something is closer than {b} at the {s} sensor', '{n} sees something within {b}', '{n} reads less than {b}', 'the {s} gap is smaller than {b}'))
    contrary = tuple(t.format(n=name, s=side, b=shown) for t in ('{n} is above {b}', '{n} measures more than {b}', 'the {s} distance is over {b}', 'nothing is closer than {b} at the {s} sensor', '{n} reads more than {b}', 'the {s} gap is larger than {b}'))

    def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        value = drawn(rng, 0.05, 4, 2, lambda v: (v < bound) is truth and v >= 0.05, (bound,))
        inputs.add(name, 'sensor_msgs/msg/Range', {'header': obs.header(rng), 'min_range': 0.02, 'max_range': 5.0, 'range': value}, ('distance', value, 'm'), condition=fault)
    return Watch('distance', '<', bound, name, 'm', texts, contrary, make, lambda v: v < bound, (bound,))


def warmth(rng: random.Random) -> Watch:
    """A temperature message."""
    name = rng.choice((*_WARM, f'{rare.noun(rng)}_temp'))
    bound = float(rng.choice((-5, 0, 4, 8, 12, 18, 22, 25, 28, 30, 35, 40)))
    shown = rng.choice((f'{bound:g} C', f'{bound:g} degrees', f'{bound:g} degrees Celsius', f'{bound:g} °C'))
    subjects = ('it', 'the temperature', name, f'the {name.replace("_", " ")}', 'the air')
    texts = tuple(f'{rng.choice(subjects)} is {t.format(b=shown)}' for t in ('above {b}', 'over {b}', 'warmer than {b}', 'hotter than {b}', 'more than {b}', 'at least {b}'))
    contrary = tuple(f'{rng.choice(subjects)} is {t.format(b=shown)}' for t in ('below {b}', 'under {b}', 'colder than {b}', 'cooler than {b}', 'less than {b}', 'at most {b}'))

    def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        value = drawn(rng, -15, 55, 1, lambda v: (v > bound) is truth, (bound,)) if rng.random() < 0.4 else round(float(beside(rng, bound, -15, 60, not truth)), 1)
        inputs.add(name, 'sensor_msgs/msg/Temperature', {'header': obs.header(rng), 'temperature': value}, ('temperature', value, 'C'), condition=fault)
    return Watch('temperature', '>', bound, name, 'C', texts, contrary, make, lambda v: v > bound, (bound,))


def joints(rng: random.Random) -> Watch:
    """The position of one joint among others."""
    name = rng.choice(('joint_states', 'joints', 'arm_joints'))
    parts = rng.sample(('shoulder', 'elbow', 'wrist', 'lift', 'head_pan', 'head_tilt', 'torso', 'finger', 'hip', 'knee', rare.noun(rng)), 3)
    joint = rng.choice(parts)
    bound = rng.choice((-1.0, -0.5, 0.0, 0.2, 0.5, 1.0, 1.5))
    ask = joint.replace('_', ' ') if rng.random() < 0.4 else joint
    texts = tuple(t.format(j=ask, b=f'{bound:g}') for t in ('the {j} joint is above {b}', '{j} is over {b}', 'joint {j} stands at more than {b}', 'the position of {j} is higher than {b}', '{j} is beyond {b} rad', 'the {j} is turned past {b}'))
    contrary = tuple(t.format(j=ask, b=f'{bound:g}') for t in ('the {j} joint is below {b}', '{j} is under {b}', 'joint {j} stands at less than {b}', 'the position of {j} is lower than {b}', '{j} is short of {b} rad'))

    def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        at = {p: round(rng.uniform(-2, 2), 2) for p in parts}
        at[joint] = drawn(rng, -2.5, 2.5, 2, lambda v: (v > bound) is truth, (bound,)) if bound >= 0 or truth else round(bound - rng.uniform(0.05, 1.2), 2)
        inputs.add(name, 'sensor_msgs/msg/JointState', {'header': {'frame_id': ''}, 'name': list(at), 'effort': [], 'velocity': [0.0] * len(at), 'position': list(at.values())}, ('joints', at, ''), condition=fault)
    return Watch('joints', '>', bound, name, '', texts, contrary, make, lambda v: v[joint] > bound)


def reports(rng: random.Random) -> Watch:
    """A warning or an error of one part in the diagnostics."""
    name = rng.choice(('diagnostics', 'diagnostics', 'system_health', 'diagnostics_agg'))
    part = rng.choice((rare.noun(rng), 'motors', 'lidar', 'arm', 'wifi', 'gripper', 'cooling', 'localization', 'power', 'disk'))
    level = rng.choice((1, 1, 2))
    word = {1: 'warning', 2: 'error'}[level]
    other = rng.choice(('imu', 'camera', 'clock', rare.noun(rng)))
    text = rng.choice((f'{rare.noun(rng)} too hot', 'weak signal', 'slow', 'no data', f'{rare.noun(rng)} worn', 'low voltage', 'timeout', 'out of balance'))
    a = 'an' if word[0] == 'e' else 'a'
    texts = (f'the diagnostics show {a} {word} of {part}', f'{part} reports {a} {word}', f'there is {a} {word} of {part}', f'{name} has {a} {word} about {part}', f'{part} is on {word} level', f'{a} {word} of the {part} is reported', f'{name} lists {part} with {a} {word}')
    contrary = (f'the diagnostics show no {word} of {part}', f'{part} reports no {word}', f'there is no {word} of {part}', f'{name} has no {word} about {part}', f'{name} does not list {part} with {a} {word}')

    def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        statuses = [{'level': 0, 'name': other, 'message': 'ok'}, {'level': level if truth else 0, 'name': part, 'message': text if truth else 'ok'}]
        if rng.random() < 0.3:
            statuses[0] = {'level': 1, 'name': other, 'message': 'late messages'}
        rng.shuffle(statuses)
        error = (('error', text, ''),) if truth and level == 2 else (('no_error', '', ''),)
        inputs.add(name, 'diagnostic_msgs/msg/DiagnosticArray', {'header': obs.header(rng, ''), 'status': statuses}, *error, ('report', truth, ''), condition=fault)
    return Watch('report', '=', True, name, '', texts, contrary, make, lambda v: v is True)


def clocks(rng: random.Random) -> Watch:
    """The time of day, as a text."""
    name = rng.choice(('clock', 'time_of_day', 'local_time', 'wall_clock'))
    bound = f'{rng.randint(6, 21):02d}:{rng.choice(("00", "00", "30", "15"))}'
    said = bound if rng.random() < 0.6 else bound.lstrip('0')
    texts = tuple(t.format(b=said) for t in ('it is later than {b}', 'it is past {b}', 'the clock shows a time after {b}', 'it is after {b}', 'the time is beyond {b}'))
    contrary = tuple(t.format(b=said) for t in ('it is earlier than {b}', 'it is not yet {b}', 'the clock shows a time before {b}', 'it is before {b}'))

    def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        minutes = int(bound[:2]) * 60 + int(bound[3:])
        found = rng.randint(minutes + 1, min(1439, minutes + rng.choice((20, 120, 600)))) if truth else rng.randint(max(0, minutes - rng.choice((20, 120, 600))), minutes - 1)
        obs.string(inputs, name, f'{found // 60:02d}:{found % 60:02d}', 'clock', fault)
    return Watch('clock', '>', bound, name, '', texts, contrary, make, lambda v: v > bound)


def ages(rng: random.Random) -> Watch:
    """How old the newest message of an input is, while it is not stale."""
    name = f'{rare.noun(rng)}_{rng.choice(("scan", "heartbeat", "map", "status", "beacon"))}'
    bound = rng.choice((1.0, 2.0, 3.0, 5.0, 8.0))
    texts = tuple(t.format(n=name, b=f'{bound:g}') for t in ('{n} is older than {b} s', 'the last {n} came more than {b} s ago', 'nothing was heard of {n} for {b} s', '{n} is more than {b} seconds old', 'the age of {n} exceeds {b} s'))
    contrary = tuple(t.format(n=name, b=f'{bound:g}') for t in ('{n} is younger than {b} s', 'the last {n} came less than {b} s ago', '{n} is at most {b} seconds old', 'the age of {n} is below {b} s'))

    def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        age = round(bound * rng.choice((1.3, 1.6, 2.0, 2.4)), 1) if truth else round(bound * rng.choice((0.1, 0.3, 0.5, 0.8)), 1)
        text = rng.choice(('alive', 'ok', f'seq {rng.randint(1, 900)}', rare.any_word(rng)))
        shown = age if fault is InputState.FRESH else None
        inputs.add(name, 'std_msgs/msg/String', {'data': text}, ('age', age, 's'), condition=fault, age=shown)
        if fault is InputState.FRESH:
            inputs.state.observations[-1] = replace(inputs.state.observations[-1], max_age_s=30.0)
    return Watch('age', '>', bound, name, 's', texts, contrary, make, lambda v: v > bound)


_MAKERS: tuple[tuple[Callable[[random.Random], Watch], float], ...] = (
    (states, 32), (events, 13), (numbers, 17), (watch_sites.situations, 24), (watch_sites.readings, 9), (watch_words.doings, 4), (watch_words.troubles, 4), (sights, 10), (messages, 6), (modes, 6), (powers, 8), (moves, 4), (gaps, 3), (warmth, 3), (joints, 2), (reports, 3), (clocks, 2), (ages, 1.5))
