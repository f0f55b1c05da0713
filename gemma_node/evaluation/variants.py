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


"""Changed cases, to see what a decision rests on: shuffled descriptions, no observations."""

from __future__ import annotations

from collections.abc import Sequence
import random

import msgspec

from gemma_node.evaluation.cases import Case
from gemma_node.evaluation.cases import Tool


def shuffle_descriptions(cases: Sequence[Case], seed: int) -> tuple[Case, ...]:
    """
    Give every tool of a case the description of another of its tools.

    Names, arguments and what is expected stay. A case with one tool stays as it is.
    """
    found = []
    for case in cases:
        tools = _shuffled(case.tools, random.Random(f'{seed} {case.id}'))
        found.append(msgspec.structs.replace(case, tools=tools))
    return tuple(found)


def without_observations(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Take the observations away; the prompt says that there are none."""
    return tuple(msgspec.structs.replace(case, observations=()) for case in cases)


def _shuffled(tools: tuple[Tool, ...], chooser: random.Random) -> tuple[Tool, ...]:
    """Move descriptions along one random cycle, so that none stays where it was."""
    order = list(range(len(tools)))
    chooser.shuffle(order)
    found = list(tools)
    for place, other in zip(order, order[1:] + order[:1], strict=True):
        found[place] = msgspec.structs.replace(
            tools[place], description=tools[other].description
        )
    return tuple(found)
