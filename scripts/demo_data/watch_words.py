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

"""Conditions in a verb, an error of a thing, and a number of things of one kind."""

from __future__ import annotations

import random
from typing import Any

from demo_data import frames_states as frames
from demo_data import observations as obs
from demo_data import rare
from demo_data.observations import Inputs
from demo_data.watches import Watch
from gemma_node.core import InputState

_ERRORS = ('error', 'fault', 'failure', 'malfunction', 'problem')
_WELL = ('ok', 'normal', 'fine', 'no error', 'running', 'ready')
_NUMBERS = ('no', 'one', 'two', 'three', 'four', 'five')


def _flag_or_text(rng: random.Random, watch: Watch, flags: tuple[str, ...], notes: tuple[str, ...], shown: str, hidden: tuple[str, ...]) -> Watch:
    """Show it as a Bool, or as a text."""
    is_flag = rng.random() < 0.4
    name = rng.choice(flags if is_flag else notes)

    def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        if is_flag:
            obs.flag(inputs, name, truth, fault)
        else:
            obs.string(inputs, name, shown if truth else rng.choice(hidden), 'note', fault)
    return Watch('flag' if is_flag else 'note', '=', True, name, '', watch.texts, watch.contrary, make, lambda v: v is True or v == shown)


def doings(rng: random.Random) -> Watch:
    """What a thing does, as a verb: "the kettle boils" where its input says "boiling"."""
    does, base, doing, others, things = rng.choice(frames.DOINGS)
    thing = rng.choice(things) if rng.random() < 0.7 else rare.noun(rng)
    key = thing.replace(' ', '_')
    texts = (f'the {thing} {does}', f'the {thing} is {doing}', f'the {thing} {does} now', f'you learn that the {thing} {does}', f'the {thing} is reported {doing}', f'the {thing} starts to {base}')
    contrary = (f'the {thing} does not {base}', f'the {thing} is not {doing}', f'the {thing} no longer {does}', f'the {thing} is {others[0]}', f'the {thing} has stopped {doing}')
    said = Watch('note', '=', True, texts=texts, contrary=contrary)
    return _flag_or_text(rng, said, (f'{key}_{doing}', f'{key}_is_{doing}', f'is_{key}_{doing}'), (key, f'{key}_state', f'{key}_status'), doing, others)


def troubles(rng: random.Random) -> Watch:
    """An error of a thing, as a text or a Bool."""
    one = rng.choice(frames.PAIRS)
    thing = rng.choice(one[2]) if rng.random() < 0.6 else rare.noun(rng)
    key, word = thing.replace(' ', '_'), rng.choice(_ERRORS)
    a = 'an' if word[0] == 'e' else 'a'
    texts = (f'the {thing} reports {a} {word}', f'the {thing} has {a} {word}', f'there is {a} {word} of the {thing}', f'the {thing} shows {a} {word}', f'{a} {word} of the {thing} is reported', f'the {thing} signals {a} {word}')
    contrary = (f'the {thing} reports no {word}', f'the {thing} has no {word}', f'there is no {word} of the {thing}', f'the {thing} shows no {word}', f'no {word} of the {thing} is reported')
    said = Watch('note', '=', True, texts=texts, contrary=contrary)
    return _flag_or_text(rng, said, (f'{key}_{word}', f'{key}_has_{word}'), (key, f'{key}_state', f'{key}_status'), rng.choice((word, word, word.upper())), _WELL)


def crowds(rng: random.Random, name: str) -> Watch:
    """How many things of one kind are seen, beside others."""
    one, many = rng.choice(frames.PLURALS)
    other = rng.choice([o for o, _ in frames.PLURALS if o != one])
    count = rng.choice((1, 1, 2, 2, 3, 4))
    low, high = ((str(count), str(count + 1)) if rng.random() < 0.35 else (_NUMBERS[count], _NUMBERS[count + 1]))
    kind = many if count > 1 else one
    texts = (f'more than {low} {kind} {"are" if count > 1 else "is"} seen', f'at least {high} {many} are seen', f'you see more than {low} {kind}', f'you see at least {high} {many}', f'there are {high} or more {many}', f'{high} or more {many} are in view')
    contrary = (f'fewer than {high} {many} are seen', f'at most {low} {kind} {"are" if count > 1 else "is"} seen', f'you see fewer than {high} {many}', f'no more than {low} {kind} {"are" if count > 1 else "is"} in view')

    def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        amount = rng.choice((count + 1, count + 1, count + 2)) if truth else rng.choice((count, count, max(count - 1, 0), 0))
        found = [_seen(rng, one) for _ in range(amount)] + [_seen(rng, other) for _ in range(rng.choice((0, 0, 1, 2)))]
        found.sort(key=lambda d: float(d['distance']))
        inputs.add(name, 'gemma_node/msg/DetectionArray', {'header': obs.header(rng, 'map'), 'detections': found}, ('seen', found, ''), condition=fault)
    return Watch('seen', 'many', None, name, '', texts, contrary, make, lambda found: sum(d['name'] == one for d in found) > count)


def _seen(rng: random.Random, name: str) -> dict[str, Any]:
    x, y = round(rng.uniform(-9, 9), 2), round(rng.uniform(-9, 9), 2)
    return {'name': name, 'x': x, 'y': y, 'distance': round(rng.uniform(0.4, 6.5), 2), 'confidence': round(rng.uniform(0.4, 1), 2)}
