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

"""Which tools of a catalogue a state gates: often two, by contrary states of one thing."""

from __future__ import annotations

import random

from demo_data import watch_kinds as watches
from demo_data.catalogues import Book
from demo_data.conditions import Condition


def own_things(book: Book) -> list[str]:
    """Return the things that tools of a catalogue are made for."""
    found = [t.skill.key.rsplit(':', 1)[1] for t in book.tools if t.skill.key.startswith('p:') and not any(a.key == 'what' for a in t.skill.args)]
    return [thing for thing in found if len(thing) < 30]


def condition_beside(rng: random.Random, book: Book, *, joined: float = 0.0) -> Condition:
    """Draw a condition, at times on the very thing that a tool does something to."""
    things = own_things(book)
    if things and rng.random() < 0.3:
        found = watches.states(rng, rng.choice(things))
        return found.opposite() if rng.random() < 0.5 else found
    return watches.draw(rng, joined=joined)


def gates(rng: random.Random, book: Book) -> list[tuple[str, Condition, bool]]:
    """Choose which tools are gated, by what, and whether the system text says so; often two contrary ones."""
    tools = [t.name for t in book.tools if t.side is None]
    rng.shuffle(tools)
    found: list[tuple[str, Condition, bool]] = []
    first: Condition = watches.states(rng) if rng.random() < 0.6 else condition_beside(rng, book)
    if rng.random() < 0.5:
        first = first.opposite()
    in_system = rng.random() < 0.5
    found.append((tools[0], first, in_system))
    if len(tools) > 1 and rng.random() < 0.6:
        other = first.opposite() if rng.random() < 0.6 else watches.draw(rng)
        if other.homes == first.homes or not other.homes & first.homes:
            found.append((tools[1], other, in_system if rng.random() < 0.7 else not in_system))
    return found
