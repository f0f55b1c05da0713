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

"""Catalogues and cases of skills that are described in other words than they are asked for."""

from __future__ import annotations

import random

from demo_data.cases import ask
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import NO_TOOL
from demo_data.catalogues import Book
from demo_data.catalogues import plain_book
from demo_data.meaning import compose
from demo_data.meaning import draw_rivals
from demo_data.meaning import may_stand
from demo_data.meaning import parts_of
from demo_data.meaning import tables
from demo_data.phrases import Said


def meaning_book(rng: random.Random) -> Book:
    """Draw a catalogue of near rivals."""
    return plain_book(rng, draw_rivals(rng), strange=0.9, nonces=rng.choice((0.0, 0.0, 0.3, 1.0)))


def beyond(m: CaseMaker) -> Case | None:
    """A deed that no tool does on a thing that one has, or a deed that one does on another thing."""
    rng = m.rng
    own = [p for p in (parts_of(t.skill) for t in m.book.tools) if p is not None]
    if not own or len(own) < len(m.book.tools):
        return None
    deed, things = rng.choice(own)
    words = tables()
    if rng.random() < 0.6:
        thing = words.things[rng.choice(sorted(things))]
        deed = rng.choice(words.by_thing[thing.key])
    else:
        thing = words.things[rng.choice(deed.things)]
    skill = compose(rng, deed, thing)
    if skill.args or not may_stand(skill, [t.skill for t in m.book.tools]):
        return None
    text = rng.choice([s for s in skill.says if not s.startswith('!')] or skill.says)
    return Case('unavailable', m.say(Said(text.lstrip('!'), {}, not text.startswith('!')), noise=0.4), ask(NO_TOOL))
