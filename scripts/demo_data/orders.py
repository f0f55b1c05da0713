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

"""Standing orders of a system text: a condition, and what is to be done while it holds."""

from __future__ import annotations

import random
import re

from demo_data import conditions
from demo_data import frames_orders as frames
from demo_data import frames_procedures
from demo_data import procedures
from demo_data import watch_sites
from demo_data.catalogues import Book
from demo_data.catalogues import Tool
from demo_data.conditions import Condition
from demo_data.gates import condition_beside
from demo_data.phrases import expand
from demo_data.rules import Call
from demo_data.rules import Rule
from demo_data.watch_kinds import invent
from demo_data.wishes import make_wish
from demo_data.wishes import plain_of

IDLE_CALL: Call = ('no_action', {'reason': 'Nothing to do.'})


# Of so many orders, plain ones are learnt first; odd wordings alone were never learnt.
PLAIN = 0.3
# As integrators write them.
_WRITTEN = 0.42
_PLAIN_FRAMES = 8


def draw_order(rng: random.Random, book: Book) -> Rule | None:
    """Draw an order; None where this draw gives none."""
    if rng.random() < PLAIN:
        return _simple(rng, book)
    if rng.random() < _WRITTEN / (1 - PLAIN):
        return procedures.written(rng, book, _on_site(rng, book))
    condition = condition_beside(rng, book, joined=0.08) if rng.random() < 0.85 else invent(rng)
    roll = rng.random()
    if roll < 0.62:
        return _plain(rng, book, condition)
    found = _deed(rng, book, condition)
    if found is None:
        return None
    words, order = found
    if roll < 0.74:
        text = expand(rng, rng.choice(frames.UNLESS)).format(o=condition.opposite().words(rng), d=words)
        return Rule('order', _start(text, book), '', condition, order=order, in_system=True)
    other = (rng.choice(frames.NOTHING), IDLE_CALL) if rng.random() < 0.4 else _deed(rng, book, condition)
    if other is None or other[1] == order:
        return None
    text = expand(rng, rng.choice(frames.ELSE)).format(c=condition.words(rng), d=words, e=other[0])
    return Rule('order', _start(text, book), '', condition, order=order, other=other[1], in_system=True)


def _on_site(rng: random.Random, book: Book) -> Condition:
    roll = rng.random()
    if roll < 0.45:
        found = watch_sites.situations(rng)
        return found.opposite() if rng.random() < 0.25 else found
    if roll < 0.62:
        found = watch_sites.readings(rng)
        return found.opposite() if rng.random() < 0.5 else found
    return condition_beside(rng, book, joined=0.05)


def _simple(rng: random.Random, book: Book) -> Rule | None:
    """State an order as most people do: when or if something holds, a deed."""
    condition = conditions.invent(rng) if rng.random() < 0.5 else condition_beside(rng, book)
    words = condition.plain(rng)
    bare = [t for t in book.tools if not t.required() and t.side is None]
    if bare and rng.random() < 0.5:
        tool = rng.choice(bare)
        text = expand(rng, rng.choice(frames.CALLS[:_PLAIN_FRAMES])).format(c=words, t=_name(rng, tool))
        return Rule('order', _start(text, book), '', condition, order=(tool.name, {}), in_system=True)
    found = _deed(rng, book, condition)
    if found is None:
        return None
    text = rng.choice(frames.WISHES[:_PLAIN_FRAMES]).format(c=words, w=found[0])
    return Rule('order', _start(text, book), '', condition, order=found[1], in_system=True)


def _plain(rng: random.Random, book: Book, condition: Condition) -> Rule | None:
    """State an order by the name of a tool, or as a wish."""
    bare = [t for t in book.tools if not t.required() and t.side is None]
    if bare and rng.random() < 0.55:
        tool = rng.choice(bare)
        text = expand(rng, rng.choice(frames.CALLS)).format(c=condition.words(rng), t=_name(rng, tool), n=rng.randint(1, 9))
        return Rule('order', _start(text, book), '', condition, order=(tool.name, {}), in_system=True)
    found = _deed(rng, book, condition)
    if found is None:
        return None
    text = expand(rng, rng.choice(frames.WISHES)).format(c=condition.words(rng), w=found[0], n=rng.randint(1, 9))
    return Rule('order', _start(text, book), '', condition, order=found[1], in_system=True)


def _deed(rng: random.Random, book: Book, condition: Condition) -> tuple[str, Call] | None:
    """Choose what is to be done: its words, as an imperative, and its call."""
    roll = rng.random()
    if roll < 0.07:
        return rng.choice(frames.STOPS), ('stop', {})
    if roll < 0.16:
        label = condition.label
        return rng.choice(frames.ASKS), ('ask_operator', {'question': f'{label[:1].upper()}{label[1:]} needs attention. What should I do?'})
    if roll < 0.2:
        return rng.choice(frames.NOTHING), IDLE_CALL
    tool = rng.choice(book.tools)
    if not tool.required() and tool.side is None and rng.random() < 0.5:
        return rng.choice(frames.CALLED).format(t=_name(rng, tool)), (tool.name, {})
    is_named = rng.random() < 0.25 and tool.side is None
    wish = make_wish(rng, tool, imperative=True, quote=True, named=is_named)
    if wish is None or not wish.is_negatable or any(c in plain_of(wish) for c in '{}[]|'):
        return None
    return plain_of(wish), wish.call


def _start(text: str, book: Book) -> str:
    """Start with a capital letter, but leave a tool's name as it is; "should" takes a base form."""
    text = re.sub(r'^([Ss]hould [^,:;]*?)\b(is|are|has)\b', lambda m: f'{m.group(1)}{"have" if m.group(2) == "has" else "be"}', text, count=1)
    return text if text.startswith(book.names) else text[:1].upper() + text[1:]


def _name(rng: random.Random, tool: Tool) -> str:
    return tool.name if rng.random() < 0.65 else tool.name.replace('_', ' ')


def compose(rng: random.Random, text: str, stated: list[str]) -> str:
    """Put stated rules into a system text: before or after the rest, as a list, among other sentences."""
    roll = rng.random()
    others = [rng.choice(frames.NEUTRAL if rng.random() < 0.6 else frames_procedures.REMARKS) for _ in range(rng.choice((0, 0, 1, 2, 3)))]
    if roll < 0.42:
        if rng.random() < 0.5:
            others = []
        found = [*stated, *others]
        rng.shuffle(found)
        return ' '.join(filter(None, (text, *found) if rng.random() < 0.8 else (*found, text)))
    found = [*stated, *others]
    rng.shuffle(found)
    if roll < 0.8:
        bullet = rng.choice(frames.BULLETS if rng.random() < 0.65 else frames_procedures.MARKS)
        lines = [f'{bullet.format(i=i)}{line}' for i, line in enumerate(found, 1)]
        header = rng.choice(frames.HEADERS if rng.random() < 0.6 else frames_procedures.TITLES)
        body = '\n'.join((header, *lines)) if rng.random() < 0.8 else '\n'.join(lines)
        return '\n'.join(filter(None, (text, body) if rng.random() < 0.8 else (body, text)))
    if roll < 0.9:
        return '\n'.join(filter(None, (text, *found)))
    head = rng.choice(frames.HEADERS).lstrip('# ')
    return ' '.join(filter(None, (text, head, *found)))
