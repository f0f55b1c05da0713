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
Conditions on inputs of any message kind, each with many ways of being said, and of the opposite.

A `Watch` makes its input itself; `Joined` is several of them with `and`, `or`, `unless`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace
import random
from typing import Any

from demo_data.conditions import Condition
from demo_data.observations import Inputs
from demo_data.observations import State
from demo_data.phrases import expand
from gemma_node.core import InputState

Make = Callable[[random.Random, Inputs, bool, InputState], None]
# How often plain words are the first ones of a table.
PLAIN = 0.72
_ALONE = frozenset(('battery', 'charging', 'pose', 'speed', 'seen', 'front', 'fix', 'temperature'))


@dataclass(frozen=True)
class Watch(Condition):
    """A condition on one input; `truth` tells whether it or its opposite is meant."""

    texts: tuple[str, ...] = ()
    contrary: tuple[str, ...] = ()
    make: Make | None = None
    test: Callable[[Any], bool] = bool
    bounds: tuple[float, ...] = ()
    truth: bool = True
    noun: str = ''

    def problem(self, state: State) -> str:
        """Say why it cannot be decided, or nothing."""
        fact = state.fact(self.kind, self.name)
        if fact is None or fact.state is InputState.MISSING:
            return 'missing'
        if fact.state is InputState.INVALID:
            return 'invalid'
        return '' if fact.is_fresh else 'stale'

    def holds(self, state: State) -> bool:
        """Return whether it holds; only without a problem."""
        fact = state.fact(self.kind, self.name)
        assert fact is not None
        return self.test(fact.value) is self.truth

    def is_close(self, state: State) -> bool:
        """Return whether the value is a very bound, which words leave open."""
        fact = state.fact(self.kind, self.name)
        return fact is not None and bool(self.bounds) and fact.value in self.bounds

    def words(self, rng: random.Random) -> str:
        """Put it in words."""
        return expand(rng, rng.choice(self.texts if self.truth else self.contrary))

    def plain(self, rng: random.Random) -> str:
        """Put it in the first, plainest words mostly."""
        if rng.random() < PLAIN:
            return expand(rng, (self.texts if self.truth else self.contrary)[0])
        return self.words(rng)

    def opposite(self) -> Watch:
        """Return the condition that holds when this one does not."""
        return replace(self, truth=not self.truth)

    @property
    def failing(self) -> str:
        """What is said where it does not hold."""
        return (self.contrary if self.truth else self.texts)[0] if self.op == '=' and self.kind in ('flag', 'note', 'fields') else ''

    @property
    def homes(self) -> frozenset[str]:
        """Inputs and kinds of facts that it is about."""
        return frozenset((self.name, *((self.kind,) if self.kind in _ALONE else ())))

    def lay(self, rng: random.Random, state: State, truth: bool, fault: InputState | None) -> bool:
        """Make its input so that it holds or not, or cannot be decided."""
        assert self.make is not None
        at = next((i for i, o in enumerate(state.observations) if o.name == self.name), None)
        state.drop(self.name)
        if self.kind in _ALONE:
            for name in {f.name for f in state.facts if f.kind == self.kind}:
                state.drop(name)
        self.make(rng, Inputs(rng, state, 0.0), truth is self.truth, fault if fault is not None else InputState.FRESH)
        if at is not None:
            state.observations.insert(at, state.observations.pop())
        return True


@dataclass(frozen=True)
class Joined(Condition):
    """Several conditions of different inputs: all of them, or any."""

    parts: tuple[Condition, ...] = ()

    def problem(self, state: State) -> str:
        """Say why it cannot be decided, or nothing."""
        return next((p for p in (part.problem(state) for part in self.parts) if p), '')

    def holds(self, state: State) -> bool:
        """Return whether it holds."""
        found = [part.holds(state) for part in self.parts]
        return all(found) if self.op == 'and' else any(found)

    def is_close(self, state: State) -> bool:
        """Return whether a part is at its bound."""
        return any(part.is_close(state) for part in self.parts)

    def words(self, rng: random.Random) -> str:
        """Put it in words."""
        one, other = (part.words(rng) for part in self.parts)
        return rng.choice(_ANDS if self.op == 'and' else _ORS).format(a=one, b=other)

    def opposite(self) -> Joined:
        """Return the condition that holds when this one does not."""
        return replace(self, op='or' if self.op == 'and' else 'and', parts=tuple(p.opposite() for p in self.parts))

    @property
    def label(self) -> str:
        """What the input is called when it has a problem."""
        return self.parts[0].label

    @property
    def homes(self) -> frozenset[str]:
        """Inputs that it is about."""
        return frozenset().union(*(part.homes for part in self.parts))

    def lay(self, rng: random.Random, state: State, truth: bool, fault: InputState | None) -> bool:
        """Make all its inputs; a fault is in the first, and the others leave it to that one."""
        wants = [self.op == 'and'] * len(self.parts)
        if fault is None and truth is not wants[0]:
            wants = [not w for w in wants] if rng.random() < 0.25 else wants
            at = rng.randrange(len(self.parts))
            wants[at] = truth
        for number, (part, want) in enumerate(zip(self.parts, wants, strict=True)):
            part.lay(rng, state, want, fault if number == 0 else None)
        return True


_ANDS = ('{a} and {b}', '{a} and {b}', '{a} and also {b}', 'both {a} and {b}', '{a} while {b}', '{a} and at the same time {b}', '{a}, and {b}')
_ORS = ('{a} or {b}', '{a} or {b}', 'either {a} or {b}', '{a}, or {b}', '{a} or else {b}')
