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

"""Standing orders as integrators write them, and tables of what one input may say."""

from __future__ import annotations

from dataclasses import replace
import random
import re

from demo_data import frames_procedures as frames
from demo_data import frames_sites
from demo_data import observations as obs
from demo_data import passives
from demo_data import rare
from demo_data.catalogues import Book
from demo_data.catalogues import Tool
from demo_data.conditions import Condition
from demo_data.observations import Inputs
from demo_data.procedural import inflected
from demo_data.rules import Call
from demo_data.rules import Rule
from demo_data.watch_sites import draw_bound
from demo_data.watch_sites import numbered
from demo_data.watches import Watch
from demo_data.wishes import make_wish
from demo_data.wishes import plain_of
from gemma_node.core import InputState

_JOINED = re.compile(r'[,.;:?!"()]| and | then | or ')
_STOPPED = ('let', 'be', 'do', 'have', 'please', 'no', 'now', 'not', 'to', 'it', 'the', 'you')
_CODES = ('pick', 'drop', 'load', 'unload', 'sunny', 'cloudy', 'north', 'south', 'red', 'amber', 'blue', 'early', 'late', 'alpha', 'bravo', 'hot', 'mild', 'chilly', 'full moon', 'holiday', 'exam', 'tour', 'party', 'rehearsal', 'inspection', 'drill', 'overtime', 'spring', 'winter', 'sowing', 'shearing', 'lambing', 'bottling', 'tasting', 'checkout', 'check-in', 'breakfast', 'supper', 'bath', 'storytime', 'nap', 'rush hour', 'low season', 'sale', 'return', 'urgent', 'fragile', 'express', 'standard', 'level 1', 'level 2', 'level 3', 'plan B', 'phase 2')
_SOURCES = ('dispatcher', 'order_terminal', 'work_plan', 'day_plan', 'programme', 'occasion', 'season', 'job_card', 'supervisor', 'traffic_control', 'planner', 'queue_head', 'command_wheel', 'selector', 'timetable', 'site_plan', 'job_code', 'request_slot', 'mood_board', 'colour_code')


def written(rng: random.Random, book: Book, condition: Condition) -> Rule | None:
    """State one order as integrators do."""
    bare = [t for t in book.tools if not t.required() and t.side is None]
    tool = rng.choice(bare) if bare and rng.random() < 0.45 else None
    noun = condition.noun if isinstance(condition, Watch) and condition.truth else ''
    if tool is not None and not (noun and rng.random() < 0.3):
        name = tool.name if rng.random() < 0.7 else tool.name.replace('_', ' ')
        text = _clause(rng, rng.choice(frames.CALLS), condition)
        return None if text is None else _rule(book, _ended(rng, text.replace('{t}', name)), condition, (tool.name, {}))
    if tool is None and rng.random() < 0.2:
        return _in_the_passive(rng, book, condition)
    deed = (f'call {tool.name}', (tool.name, {}), tool) if tool is not None else _deed(rng, book)
    if deed is None:
        return None
    words, order, chosen = deed
    if noun and rng.random() < 0.35:
        text = rng.choice(frames.NOUNS).replace('{n}', noun).replace('{d}', words)
        return _rule(book, _ended(rng, text), condition, order)
    form = rng.choice(frames.WISHES)
    if '{v}' in form or '{g}' in form:
        first = words.partition(' ')[0]
        if _JOINED.search(words) or not re.fullmatch('[a-z]{2,}', first) or first in _STOPPED:
            return None
        form = form.replace('{v}', inflected(words, 's')).replace('{g}', inflected(words, 'g'))
    elif chosen is not None and not words.startswith('call ') and chosen.side is None and rng.random() < 0.3:
        words += rng.choice(frames.VIA).replace('{t}', chosen.name)
    text = _clause(rng, form, condition)
    return None if text is None else _rule(book, _ended(rng, text.replace('{w}', words)), condition, order)


def _in_the_passive(rng: random.Random, book: Book, condition: Condition) -> Rule | None:
    wish = make_wish(rng, rng.choice(book.tools), imperative=True, quote=True)
    if wish is None or not wish.is_negatable:
        return None
    found = passives.parted(wish)
    if found is None:
        return None
    thing, done, rest = found
    form = rng.choice(frames.PASSIVES)
    if passives.is_plural(wish, thing):
        for one, many in (('{o} is ', '{o} are '), ('{o} has ', '{o} have '), ('{o} gets ', '{o} get '), ('{o} needs ', '{o} need ')):
            form = form.replace(one, many)
    said = replace(wish.said, template=form.replace('{o}', thing).replace('{d}', done).replace('{r}', rest).replace('{c}', '<c>').replace('{s}', '<s>'))
    if any(c in said.plain for c in '{}[]|'):
        return None
    text = _clause(rng, said.plain.replace('<c>', '{c}').replace('<s>', '{s}'), condition)
    return None if text is None else _rule(book, _ended(rng, text), condition, wish.call)


def _clause(rng: random.Random, form: str, condition: Condition) -> str | None:
    words = condition.words(rng)
    if '{s}' in form:
        turned = re.sub(r'\b(is|are|has)\b', lambda m: {'is': 'be', 'are': 'be', 'has': 'have'}[m.group()], words, count=1)
        return None if turned == words or 'that ' in words or '"' in words else form.replace('{s}', turned)
    return form.replace('{c}', words)


def _ended(rng: random.Random, text: str) -> str:
    return text if text.endswith(('.', '!', '?')) or rng.random() < 0.25 else f'{text}.'


def _rule(book: Book, text: str, condition: Condition, order: Call) -> Rule:
    shown = text if text.startswith(book.names) or re.match(r'\w*[_/]', text) else text[:1].upper() + text[1:]
    return Rule('order', shown, '', condition, order=order, in_system=True)


def _deed(rng: random.Random, book: Book) -> tuple[str, Call, Tool | None] | None:
    """Choose a deed: its words as an imperative, its call, its tool."""
    if rng.random() < 0.07:
        question = rng.choice(('call the operator', 'ask the operator what to do', 'ask the operator', 'consult the operator', 'leave the decision to the operator', 'turn to the operator first', 'call ask_operator', 'let the operator decide'))
        return question, ('ask_operator', {'question': 'An order of the system text is due. What should I do?'}), None
    if rng.random() < 0.05:
        return rng.choice(('stop', 'stop at once', 'stop the robot', 'bring everything to a halt', 'call stop')), ('stop', {}), None
    tool = rng.choice(book.tools)
    wish = make_wish(rng, tool, imperative=True, quote=True, named=rng.random() < 0.12 and tool.side is None)
    if wish is None or not wish.is_negatable or any(c in plain_of(wish) for c in '{}[]|'):
        return None
    return plain_of(wish), wish.call, tool


def table(rng: random.Random, book: Book) -> list[Rule]:
    """State what is to be done for each of several values of one input; no rules where it gives none."""
    deeds = []
    for _ in range(12):
        found = _deed(rng, book)
        if found is not None and all(found[1] != d[1] for d in deeds) and '\n' not in found[0]:
            deeds.append(found)
        if len(deeds) == 4:
            break
    if len(deeds) < 2:
        return []
    if rng.random() < 0.25:
        return _banded(rng, book, deeds[:2])
    deeds = deeds[:rng.choice((2, 2, 3, 4))]
    values = rng.sample(_CODES, len(deeds)) if rng.random() < 0.6 else list(dict.fromkeys(rng.choice((rare.any_word, rare.code, rare.adjective))(rng) for _ in deeds))
    if len(values) < len(deeds) or (any(v.startswith('level') for v in values) and len(values) < 2):
        return []
    others = [*rng.sample([c for c in _CODES if c not in values], 2), 'none', '-', 'nothing']
    name = rng.choice(_SOURCES) if rng.random() < 0.6 else f'{rare.noun(rng)}_{rng.choice(("plan", "code", "mode", "order", "job", "state", "signal"))}'
    head, line, gap, tail = rng.choice(frames.TABLES)
    named = name if rng.random() < 0.7 else f'the {name.replace("_", " ")}'
    text = head.replace('{n}', named) + gap.join(line.replace('{n}', named).replace('{x}', v).replace('{d}', d[0]) for v, d in zip(values, deeds, strict=True)) + tail
    rules = []
    for value, deed in zip(values, deeds, strict=True):
        rules.append(_rule(book, text, _valued(name, value, others), deed[1]))
    return rules


def _valued(name: str, value: str, others: list[str]) -> Watch:
    def make(rng: random.Random, inputs: Inputs, truth: bool, fault: InputState) -> None:
        obs.string(inputs, name, value if truth else rng.choice(others), 'note', fault)
    return Watch('note', 'says', value, name, '', (f'{name} says {value}',), (f'{name} does not say {value}',), make, lambda v: v == value)


def _banded(rng: random.Random, book: Book, deeds: list[tuple[str, Call, Tool | None]]) -> list[Rule]:
    """State what is to be done below and above of two bounds of one number."""
    reading = rng.choice(frames_sites.READINGS)
    (low, less), (high, more) = draw_bound(rng, reading, 0.12, 0.4), draw_bound(rng, reading, 0.55, 0.85)
    if high - low < (reading.high - reading.low) * 0.1 or high - low < 3 * 10 ** -reading.decimals or low <= reading.low:
        return []
    name = rng.choice(reading.names)
    named = name if rng.random() < 0.6 else f'the {name.replace("_", " ")}'
    head, below, above, gap = rng.choice(frames.BANDS)
    text = head.replace('{n}', named) + below.format(n=named, b=less, d=deeds[0][0]) + gap + above.format(n=named, b=more, d=deeds[1][0])
    found = []
    for deed, test, said in ((deeds[0], lambda v: v < low, f'{name} is below {less}'), (deeds[1], lambda v: v > high, f'{name} is above {more}')):
        watch = Watch('number', '?', None, name, reading.unit, (said,), (f'{said} no longer',), numbered(reading, name, test, (low, high), between=True), test, (low, high))
        found.append(_rule(book, text, watch, deed[1]))
    return found
