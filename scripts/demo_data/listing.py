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

"""The many ways to enumerate things in one sentence, written by hand."""

from __future__ import annotations

from collections.abc import Sequence
import random

_TWO = (
    '{a} as well as {b}', '{a} plus {b}', '{a}, also {b}', '{a}, {b}', '{a}, and {b} too', '{a} and {b}', '{a} and also {b}', '{a} & {b}', '{a} + {b}', '{a}; {b}', '{a} / {b}', '{a}, further {b}', '{a} along with {b}', '{a} together with {b}', '{a} and {b} as well',
    'the following: {a}, {b}', 'these: {a}, {b}', '{a}, then {b}', '{a}, and finally {b}', '{a} and last {b}', '{a}, and of course {b}', '{a} - {b}', '{a}, not to forget {b}', '{a} and in addition {b}', '{a}, {b}, that is all', '{a}, {b}, in this order', '{a} followed by {b}', '[{a}, {b}]', '({a}, {b})', '{a}... and {b}', '{a}, {b} and nothing else',
)
_PAIR = ('both {a} and {b}', 'not only {a} but also {b}', 'first {a}, then {b}', '{a} and {b}, the two of them', 'both, {a} and {b}', '{a} first and {b} second', '{a} before {b}')
_OF_NUMBERS = ('{a} and {b}', '{a} and {b}', '{a}, {b}', '{a}, {b}', '{a} as well as {b}', '{a}; {b}', '{a} plus {b}', '{a} and also {b}', '[{a}, {b}]', '{a} followed by {b}', '{a}, then {b}', '{a}, and finally {b}', '({a}, {b})')
_HEADS = (', ', ', ', ', ', ' and ', '; ', ' + ', ', then ', ' plus ', ', and ', ' / ', ' & ')


def numbers(rng: random.Random, said: Sequence[str]) -> str:
    """Say several numbers in ways that cannot be taken for sums or for counting."""
    form = rng.choice(_OF_NUMBERS)
    return form.replace('{a}', ', '.join(said[:-1])).replace('{b}', said[-1])


def enumerated(rng: random.Random, said: Sequence[str]) -> str:
    """Say several things in any of the many ways."""
    if len(said) == 1:
        return rng.choice(('{a}', '{a}', 'only {a}', 'just {a}', '{a} alone')).format(a=said[0])
    roll = rng.random()
    if roll < 0.08:
        return ', '.join(f'{n}. {s}' for n, s in enumerate(said, 1)) if rng.random() < 0.5 else ' '.join(f'({n}) {s}' for n, s in enumerate(said, 1))
    if roll < 0.16:
        return rng.choice((', ', '; ', ' and ', ' + ', ', and ', ' / ', ' & ', ' plus ')).join(said)
    form = rng.choice(_PAIR if len(said) == 2 and rng.random() < 0.3 else _TWO)
    return form.replace('{a}', rng.choice(_HEADS).join(said[:-1])).replace('{b}', said[-1])
