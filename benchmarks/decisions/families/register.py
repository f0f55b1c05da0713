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


"""The families' register, and the worlds they draw from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import random
from typing import Any

from .indoor import BENCH
from .indoor import GREENHOUSE
from .indoor import LIBRARY
from .indoor import STORE
from .indoor import WARD
from .kit import Json
from .kit import Skill
from .outdoor import BOAT
from .outdoor import CLEANER
from .outdoor import CRAWLER
from .outdoor import DRONE
from .outdoor import MUSEUM

WORLDS: tuple[tuple[Skill, ...], ...] = (
    GREENHOUSE, LIBRARY, STORE, WARD, BENCH, BOAT, DRONE, MUSEUM, CLEANER, CRAWLER,
)  # fmt: skip
# What these take is a text of any length: nothing may be said after it in one sentence.
OPEN_ENDED = frozenset({'plant_note', 'page_person', 'speak_aloud'})
MOVING = frozenset({
    'roll_to_bench', 'haul_to', 'visit_ward', 'keep_compass_course', 'moor_at', 'hold_station',
    'climb_to', 'fly_leg', 'land_on', 'walk_to_hall', 'go_to_zone', 'crawl', 'joint_turn',
    'tip_to', 'tilt_camera', 'lead_reader', 'deliver_tray', 'visit_joints', 'arm_to_rest',
    'scrub_zone', 'boat_engine_share', 'brush_speed', 'fork_elevation',
})  # fmt: skip
STILL = tuple(skill for world in WORLDS for skill in world if skill.name not in MOVING)

Maker = Callable[[random.Random], 'Json | list[Json] | None']


@dataclass(frozen=True, kw_only=True)
class Family:
    """A template family: how many cases, and what makes one (or a twin and its likes)."""

    name: str
    count: int
    make: Maker


FAMILIES: list[Family] = []


def family(name: str, count: int) -> Callable[[Maker], Maker]:
    """Register a family; what it makes gets its name as category where it has none."""
    def register(make: Maker) -> Maker:
        FAMILIES.append(Family(name=name, count=count, make=make))
        return make
    return register


def closed(world: tuple[Skill, ...]) -> list[Skill]:
    """Return the skills after which a sentence can go on."""
    return [skill for skill in world if skill.name not in OPEN_ENDED]


def with_choice(skill: Skill) -> str:
    """Return the name of the skill's first choice argument, '' when it has none."""
    return next((name for name, schema in skill.parameters.items() if 'enum' in schema), '')


def coined(rng: random.Random, taken: set[Any] | None = None) -> str:
    """Return an invented word that is not taken yet."""
    starts = ('gl', 'qu', 'zw', 'pr', 'kl', 'v', 'dr', 'm', 'th', 'sn', 'bl', 'j', 'fr', 'w')
    vowels, ends = ('a', 'e', 'i', 'o', 'u', 'oo', 'ai'), ('b', 'x', 'nk', 'rp', 'lt', 'mp', 'zz')
    middles = ('', 'nd', 'rv', 'm', 'bb', 'st', 'lg')
    taken = set() if taken is None else taken
    while True:
        word = rng.choice(starts) + rng.choice(vowels) + rng.choice(middles)
        word += rng.choice(vowels) + rng.choice(ends)
        if word not in taken:
            taken.add(word)
            return word
