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

"""Conditions on inputs as integrators name them: states in a text or a Bool, readings with a bound."""

from __future__ import annotations

from collections.abc import Callable
import random

from demo_data import frames_sites
from demo_data import observations as obs
from demo_data.observations import Inputs
from demo_data.watch_values import drawn
from demo_data.watches import Make
from demo_data.watches import Watch
from gemma_node.core import InputState

_NAMED_TEXTS = ('{n} says {v}', '{n} says "{v}"', '{n} reports "{v}"', '{n} reports {v}', '{n} is "{v}"', '{n} reads {v}', '{n} shows {v}', '{n} = "{v}"')
_FLAG_TEXTS = ('{n} is {v}', '{n} is {v}', '{n} = {v}', '{n} says {v}', '{n} turns {v}', '{n} reports {v}')


def situations(rng: random.Random) -> Watch:
    """A state as integrators name it, as a text or as a Bool of either sense."""
    found = rng.choice(frames_sites.SITUATIONS)
    shown, texts, contrary = rng.choice(found.shown), list(found.texts), list(found.contrary)
    rng.shuffle(texts)
    rng.shuffle(contrary)
    flags = [(f, True) for f in found.flags] + [(f, False) for f in found.contrary_flags]
    if rng.random() < 0.45 and flags:
        name, straight = rng.choice(flags)
        named = name if rng.random() < 0.7 else name.replace('_', ' ')
        texts.append(rng.choice(_FLAG_TEXTS).format(n=named, v='true' if straight else 'false'))
        contrary.append(rng.choice(_FLAG_TEXTS).format(n=named, v='false' if straight else 'true'))

        def raised(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
            obs.flag(inputs, name, truth is straight, fault)
        return Watch('flag', '=', True, name, '', tuple(texts), tuple(contrary), raised, lambda v: v is straight, noun=found.noun)
    name = rng.choice(found.names)
    named = name if rng.random() < 0.6 else f'the {name.replace("_", " ")}'
    texts.append(rng.choice(_NAMED_TEXTS).format(n=named, v=shown))
    contrary.append(f'{named} does not say "{shown}"')

    def told(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        obs.string(inputs, name, shown if truth else rng.choice(found.hidden), 'note', fault)
    return Watch('note', '=', True, name, '', tuple(texts), tuple(contrary), told, lambda v: v == shown, noun=found.noun)


def readings(rng: random.Random) -> Watch:
    """A number above or below a bound, in everyday words."""
    found = rng.choice(frames_sites.READINGS)
    bound, shown = draw_bound(rng, found)
    more = [t.replace('{b}', shown) for t in found.more]
    less = [t.replace('{b}', shown) for t in found.less]
    name = rng.choice(found.names)
    named = name if rng.random() < 0.6 else f'the {name.replace("_", " ")}'
    more += [f'{named} {t} {shown}' for t in rng.sample(('is above', 'exceeds', 'is over', 'reads more than', 'rises above', 'is higher than', 'passes'), 2)]
    less += [f'{named} {t} {shown}' for t in rng.sample(('is below', 'is under', 'reads less than', 'drops below', 'is lower than', 'falls under'), 2)]
    rng.shuffle(more)
    rng.shuffle(less)
    return Watch('number', '?', None, name, found.unit, tuple(more), tuple(less), numbered(found, name, lambda v: v > bound, (bound,)), lambda v: v > bound, (bound,))


def draw_bound(rng: random.Random, reading: frames_sites.Reading, low: float = 0.12, high: float = 0.85) -> tuple[float, str]:
    """Draw a bound, and how it is written."""
    bound = round(reading.low + (reading.high - reading.low) * rng.uniform(low, high), reading.decimals)
    if abs(bound) >= 100:
        bound = float(round(bound, -1 if abs(bound) < 1000 else -2))
    unit = reading.unit if rng.random() < 0.85 else ''
    return bound, f'{bound:g}%' if unit == '%' else f'{bound:g} {unit}'.strip()


def numbered(reading: frames_sites.Reading, name: str, test: Callable[[float], bool], bounds: tuple[float, ...], *, between: bool = False) -> Make:
    """Return what makes its input; `between`: what does not hold lies between two bounds."""
    def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        low, high = bounds if between and not truth else (reading.low, reading.high)
        value = drawn(rng, low, high, reading.decimals, (lambda v: low < v < high) if between and not truth else (lambda v: test(v) is truth), bounds)
        kind = rng.choice(('Float32', 'Float64', 'Int32')) if reading.decimals == 0 else 'Float32'
        data = int(value) if 'Int' in kind else float(value)
        inputs.add(name, f'std_msgs/msg/{kind}', {'data': data}, ('number', data, reading.unit), condition=fault)
    return make
