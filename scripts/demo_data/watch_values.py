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

"""Conditions on things in one of two states, and on quantities of things."""

from __future__ import annotations

from collections.abc import Callable
import random
from typing import Any

from demo_data import frames_states as frames
from demo_data import observations as obs
from demo_data import rare
from demo_data.observations import Inputs
from demo_data.watches import Make
from demo_data.watches import Watch
from gemma_node.core import InputState

_MEASURED = ('tank', 'motor', 'room', 'boiler', 'battery pack', 'drum', 'coolant', 'air', 'line', 'shelf', 'silo', 'box', 'oil', 'pool', 'wheel', 'rack')
# Units as names of inputs have them.
_SUFFIXES = {'%': 'percent', 'l/min': 'lpm', 'mm/s': 'mmps'}
INPUTS = {f'{thing.replace(" ", "_")}_{what}' for thing in _MEASURED for what, *_ in frames.QUANTITIES}
INPUTS |= {f'{what}_{_SUFFIXES.get(unit, unit).lower()}' for what, unit, *_ in frames.QUANTITIES if unit}


def states(rng: random.Random, thing: str = '') -> Watch:
    """A thing in one of two states."""
    one, other, things = rng.choice(frames.PAIRS)
    is_given = bool(thing)
    if not thing:
        thing = rng.choice(things) if rng.random() < 0.65 else rare.noun(rng)
    if not is_given and rng.random() < 0.25:
        thing = f'{rng.choice((rare.adjective(rng), "left", "right", "front", "rear", "upper", "lower", "north", "south", rare.noun(rng)))} {thing}'
    key = thing.replace(' ', '_')
    yes, no = one[0], other[0]
    an = 'an' if thing[0] in 'aeiou' else 'a'
    spoken = [t.replace('a {o}', f'{an} {{o}}').replace('{o}', thing) for t in frames.STATE_TEXTS]
    texts = [f'the {thing} is {yes}', *(t.replace('{w}', rng.choice((yes, yes, *one[1:]))).replace('{x}', no) for t in spoken)]
    contrary = [f'the {thing} is {no}', *(t.replace('{w}', rng.choice((no, no, *other[1:]))).replace('{x}', yes) for t in spoken)]
    name, shown, hidden, make, kind, test = _encoded(rng, key, yes, no)
    as_name = name if rng.random() < 0.6 else name.replace('_', ' ')
    if kind == 'flag':
        texts.append(f'the flag {as_name} is {shown}')
        contrary.append(f'the flag {as_name} is {hidden}')
        texts.append(f'{as_name} is {"set" if shown == "true" else "not set"}')
        contrary.append(f'{as_name} is {"not set" if shown == "true" else "set"}')
    for t in rng.sample(frames.NAME_TEXTS, 5):
        texts.append(t.format(n=as_name, v=shown))
        contrary.append(t.format(n=as_name, v=hidden))
    return Watch(kind, '=', True, name, '', tuple(texts), tuple(contrary), make, test)


def _encoded(rng: random.Random, key: str, yes: str, no: str) -> tuple[str, str, str, Make, str, Callable[[Any], bool]]:
    """Choose how an input shows a state: name, what it says of either, maker, kind of fact, test."""
    roll = rng.random()
    if roll < 0.5:
        straight = rng.random() < 0.5
        word = (yes if straight else no).replace(' ', '_')
        name = rng.choice((f'{key}_{word}', f'{key}_{word}', f'{key}_is_{word}', f'is_{key}_{word}', f'{word}_{key}', f'{key}/{word}', f'{key}_{word}_sensor'))

        def truth_of(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
            obs.flag(inputs, name, truth is straight, fault)
        return name, 'true' if straight else 'false', 'false' if straight else 'true', truth_of, 'flag', lambda v: v is straight
    case = rng.choice((str, str, str.upper, str.capitalize))
    shown, hidden = case(yes), case(no)
    if roll < 0.84:
        name = rng.choice((key, key, f'{key}_state', f'{key}_state', f'{key}_status', f'{key}_sensor', f'state_of_{key}', f'{key}_report', f'{key}/state'))
        form = rng.choice(('{w}', '{w}', '{w}', f'{key.replace("_", " ")} {{w}}', f'{key.replace("_", " ")}: {{w}}', f'the {key.replace("_", " ")} is {{w}}', 'state {w}', 'now {w}'))

        def text_of(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
            obs.string(inputs, name, form.format(w=shown if truth else hidden), 'note', fault)
        return name, shown, hidden, text_of, 'note', lambda v: v == form.format(w=shown)
    name = rng.choice((f'{key}_info', key, f'{key}_data', f'{key}_msg'))
    as_field = yes.replace(' ', '_')
    field = rng.choice(('state', 'status', 'condition', as_field, f'is_{as_field}'))
    says_truth = field not in ('state', 'status', 'condition')
    more = rng.sample((('id', rng.randint(1, 99)), ('cycles', rng.randint(0, 4000)), ('zone', rare.code(rng)), ('ok', True), ('since_s', rng.randint(1, 900))), rng.choice((0, 1, 2)))

    def fields_of(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        fields = {field: truth if says_truth else shown if truth else hidden, **dict(more)}
        inputs.add(name, f'{key.replace("_", "")[:12]}_msgs/msg/{key.title().replace("_", "")}State', fields, ('fields', fields[field], ''), condition=fault)
    return name, f'{field} {"true" if says_truth else shown}', f'{field} {"false" if says_truth else hidden}', fields_of, 'fields', lambda v: v is True or v == shown


def events(rng: random.Random) -> Watch:
    """Something that is happening or not."""
    names, yes, no = rng.choice(frames.EVENTS)
    name = rng.choice(names)
    if rng.random() < 0.25:
        name = f'{rng.choice((rare.noun(rng), "front", "rear", "north", "hall", "yard"))}_{name}'
    texts, contrary = list(yes) * 2, list(no) * 2
    texts += [f'it is reported that {yes[0]}', f'{name} says that {yes[0]}', f'you learn that {rng.choice(yes)}']
    contrary += [f'it is not so that {yes[0]}', f'{name} says that {no[0]}', f'you learn that {rng.choice(no)}']
    shown, hidden = rng.choice((('yes', 'no'), ('true', 'false'), ('active', 'clear'), ('ALARM', 'normal'), ('1', '0'), ('on', 'off'), ('detected', 'none'), (yes[0], no[0])))
    is_flag = rng.random() < 0.7
    as_name = name if rng.random() < 0.6 else name.replace('_', ' ')
    for t in rng.sample(frames.NAME_TEXTS, 2):
        texts.append(t.format(n=as_name, v='true' if is_flag else shown))
        contrary.append(t.format(n=as_name, v='false' if is_flag else hidden))

    def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        if is_flag:
            obs.flag(inputs, name, truth, fault)
        else:
            obs.string(inputs, name, shown if truth else hidden, 'note', fault)
    kind = 'flag' if is_flag else 'note'
    return Watch(kind, '=', True, name, '', tuple(texts), tuple(contrary), make, lambda v: v is True or v == shown)


def _said(b: float, unit: str) -> str:
    return f'{b:g} {unit}'.strip() if unit != '%' or b % 2 else f'{b:g}%'


def numbers(rng: random.Random) -> Watch:
    """A quantity of some thing: less, more, between, exactly, half full."""
    what, unit, low, high, decimals = rng.choice(frames.QUANTITIES)
    thing = rare.noun(rng) if rng.random() < 0.6 else rng.choice(_MEASURED)
    name = f'{thing.replace(" ", "_")}_{what}'
    spoken = rng.choice((f'{thing} {what}', f'{what} of the {thing}', f'{thing} {what}'))
    suffix = _SUFFIXES.get(unit, unit).lower()
    if suffix and rng.random() < 0.3:
        if rng.random() < 0.4:
            name, spoken = what, what
        name = f'{name}_{suffix}'
    subject = [s.format(o=spoken, n=name if rng.random() < 0.7 else name.replace('_', ' ')) for s in frames.NUMBER_SUBJECTS]
    roll = rng.random()
    is_whole = decimals == 0

    def make_of(test: Callable[[float], bool], bounds: tuple[float, ...]) -> Make:
        def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
            value = drawn(rng, low, high, decimals, lambda v: test(v) is truth, bounds)
            kind = rng.choice(('Float32', 'Float64')) if not is_whole else rng.choice(('Int32', 'Float32', 'UInt16' if low >= 0 else 'Int16'))
            data = int(value) if 'Int' in kind else float(value)
            inputs.add(name, f'std_msgs/msg/{kind}', {'data': data}, ('number', data, unit), condition=fault)
        return make

    def watch(pairs: tuple[tuple[str, ...], tuple[str, ...]], test: Callable[[float], bool], bounds: tuple[float, ...], b: str = '', p: str = '', ends: tuple[str, str] = ('', '')) -> Watch:
        texts, contrary = ([f'{rng.choice(subject)} {"" if t.startswith(_VERBS) else "is "}{t.format(b=b, p=p, l=ends[0], h=ends[1])}' for t in rng.sample(side, min(len(side), 12))] for side in pairs)
        return Watch('number', '?', None, name, unit, tuple(texts), tuple(contrary), make_of(test, bounds), test, bounds)

    if roll < 0.1 and what in ('level', 'fill'):
        bound, said = rng.choice(frames.FULLNESS)
        return Watch('number', '?', None, name, unit, tuple(f'the {thing} is {w} {s}' for s in said for w in ('more than', 'over', 'at least')), tuple(f'the {thing} is {w} {s}' for s in said for w in ('less than', 'not even', 'under')),
                     make_of(lambda v: v > bound, (bound,)), lambda v: v > bound, (bound,))
    if roll < 0.25:
        ends = sorted(round(low + (high - low) * rng.uniform(0.1, 0.9), 0) for _ in range(2))
        if ends[1] - ends[0] > (high - low) * 0.1 and ends[1] - ends[0] >= 3:
            lower, upper = ends
            return watch((frames.INSIDE, frames.OUTSIDE), lambda v: lower < v < upper, (lower, upper), ends=(_said(lower, ''), _said(upper, unit)))
    if roll < 0.33 and is_whole and high <= 60 and not unit:
        exact = float(rng.randint(0, 9))
        return watch((frames.EXACTLY, frames.NOT_EXACTLY), lambda v: v == exact, (), p=f'{exact:g}')
    bound = float(round(low + (high - low) * rng.choice((0.15, 0.25, 0.4, 0.5, 0.6, 0.75, 0.85)), rng.choice((0, 0, min(decimals, 1)))))
    if what in frames.COMPARED and rng.random() < 0.3:
        bigger, smaller = ([f'the {spoken} is {w} than {_said(bound, unit)}' for w in side] for side in frames.COMPARED[what])
        return Watch('number', '?', None, name, unit, tuple(bigger), tuple(smaller), make_of(lambda v: v > bound, (bound,)), lambda v: v > bound, (bound,))
    return watch(((*frames.MORE, *frames.RISES), (*frames.LESS, *frames.FALLS)), lambda v: v > bound, (bound,), b=_said(bound, unit))


_VERBS = ('drops', 'falls', 'sinks', 'goes', 'comes', 'gets', 'dips', 'does', 'rises', 'climbs', 'exceeds', 'reaches', 'passes', 'is ')


def drawn(rng: random.Random, low: float, high: float, decimals: int, test: Callable[[float], bool], bounds: tuple[float, ...]) -> float:
    """Draw a number that passes a test, near a bound as often as not."""
    for _ in range(60):
        value = rng.uniform(low, high)
        if bounds and rng.random() < 0.5:
            value = rng.choice(bounds) + rng.choice((-1, 1)) * (high - low) * rng.uniform(0.01, 0.12)
        elif not bounds and rng.random() < 0.6:
            value = rng.uniform(0, 9)
        value = round(value, decimals)
        if test(value) and value not in bounds and value >= min(low, 0):
            return value
    return next(v for v in (*(round(b + s * 10 ** -decimals, decimals) for b in bounds for s in (1, -1)), low, high, *map(float, range(10))) if test(v))
