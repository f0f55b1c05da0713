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

"""Long-winded talk: a wish in front of, among or behind remarks, or remarks alone."""

from __future__ import annotations

from collections.abc import Sequence
import random
import re

from demo_data import fillers
from demo_data import makers_calls as calls
from demo_data import makers_drills as drills
from demo_data import makers_missing as missing
from demo_data import makers_refusals as refusals
from demo_data import mended
from demo_data import rare
from demo_data import told
from demo_data import values
from demo_data.cases import call
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import IDLE
from demo_data.cases import no_action
from demo_data.phrases import capital
from demo_data.phrases import join
from demo_data.phrases import slots_of
from demo_data.wishes import say_choice

_BARE = tuple(text for text in (*fillers.BEFORE, *fillers.ANYWHERE) if not slots_of(text) and not re.search('two|eight|ninety|nil|fifty|thirty|five|three', text))
_EXCLAIMED = ('oh dear', 'well', 'well, well', 'phew', 'oh my', 'goodness me', 'ah', 'hm', 'right', 'so', 'anyway', 'you know', 'I tell you', 'honestly', 'dear me', 'ha', 'okay', 'good', 'let me see', 'where was I', 'oh well', 'yes', 'hello', 'hi there', 'thank you', 'thanks', 'sorry')
_PAIRED = ('{a}, and {b}', '{a}, but {b}', '{a} - {b}', '{a}; {b}', '{a}, well, {b}', '{a}, and besides, {b}', '{a}, you see, {b}', '{a}, and then {b}', '{a}, which is fine, but {b}', '{a}, and what is more, {b}')
_ENDS = ('.', '.', '.', '.', '.', '.', '!', '...')
# Talk of deeds that leaves open whether they are still to be done is no remark beside a wish.
_SAID_OF_OTHERS = tuple(frame for frame in told._TOLD if not re.search('wait|no need|already|meantime', frame))
# Other things than plain wishes that are said at length as well.
_OTHERS = (
    (4, calls.command), (2, calls.by_name), (3, calls.converted), (2, calls.correction), (3, mended.corrected), (2, calls.instead), (1, calls.by_description), (1, told.wanted), (1, drills.edge_of_range),
    (3, missing.left_out), (2, missing.described_only), (2, refusals.unavailable), (1.5, refusals.unknown_choice), (3, refusals.to_somebody), (1.5, refusals.forbidden),
)
_KNOWN = frozenset(('command', 'by_name', 'converted', 'correction', 'instead', 'wish', 'in_range'))


def wordy(m: CaseMaker) -> Case | None:
    """A wish among remarks that do not matter."""
    rng = m.rng
    if rng.random() < 0.3:
        return _at_length(m)
    is_led = rng.random() < 0.8
    wish = m.wish(imperative=is_led, quote=True)
    if wish is None or (is_led and not wish.is_negatable) or wish.said.template.endswith(('-', '...')):
        return None
    before, after = _amounts(rng)
    remarks = _remarks(m, wish.tool.name, before, after)
    template = rng.choice(fillers.LEADS if is_led else fillers.PLAIN_LEADS)
    held = ''
    if is_led and before and rng.random() < 0.35:
        template = rng.choice(fillers.GLUE)
        held = remarks.pop(before - 1)
        before -= 1
        template = template.replace('{r}', '{held_}')
    said = join(template, is_imperative=False, w=wish.said, **({'held_': held} if held else {}))
    text = _ended(rng, m.say(said, noise=0.4, polite=False))
    return Case('wordy', _around(rng, text, remarks[:before], remarks[before:]), call(wish.call))


def rambling(m: CaseMaker) -> Case | None:
    """Remarks and no wish for the robot: nothing is to be done."""
    rng = m.rng
    remarks = _remarks(m, '', 0, rng.choice((1, 2, 2, 3, 3, 4, 5)), is_idle=True)
    if rng.random() < 0.3:
        other = rng.choice((refusals.to_somebody, told.told, missing.mention, refusals.forbidden))(m)
        if other is not None:
            remarks.insert(rng.randint(0, len(remarks)), other.text.rstrip(' .!'))
    text = ' '.join(_sentences(rng, remarks))
    if any(len(found) > 1 for found in _shared(m, text)):
        return None
    return Case('rambling', _cased(rng, text), no_action(IDLE))


def _at_length(m: CaseMaker) -> Case | None:
    """Say anything else at length; what lacks a value gets no remark that has one."""
    rng = m.rng
    case = rng.choices([make for _, make in _OTHERS], [weight for weight, _ in _OTHERS])[0](m)
    if case is None or case.state is not None or case.turns:
        return None
    before, after = _amounts(rng)
    if any(isinstance(value, str) and value.count(' ') > 2 for _, arguments in case.answer.calls for value in arguments.values()) and case.kind in _KNOWN:
        before, after = before + after, 0
    if case.kind in _KNOWN:
        remarks = _remarks(m, '', before, after)
    else:
        remarks = rng.sample(_BARE, before + after)
    if case.kind == 'unclear' and not re.search(r'\w[.?!]?$', case.text):
        return None
    return Case(case.kind, _around(rng, _ended(rng, case.text), remarks[:before], remarks[before:]), case.answer)


def _amounts(rng: random.Random) -> tuple[int, int]:
    """Draw how many remarks are made before and after."""
    roll = rng.random()
    many = rng.choice((1, 1, 2, 2, 3, 4))
    if roll < 0.3:
        return 0, many
    if roll < 0.62:
        return many, 0
    return rng.choice((1, 1, 2, 3)), rng.choice((1, 1, 2, 2))


def _remarks(m: CaseMaker, tool: str, before: int, after: int, *, is_idle: bool = False) -> list[str]:
    """Make up different remarks."""
    found: list[str] = []
    while len(found) < before + after:
        text = _remark(m, tool, is_before=len(found) < before, is_idle=is_idle)
        if text not in found:
            found.append(text)
    return found


def _remark(m: CaseMaker, tool: str, *, is_before: bool, is_idle: bool = False) -> str:
    """Make up a remark; at times it tells of a deed of another tool."""
    rng = m.rng
    if rng.random() < (0.2 if is_idle else 0.1):
        found = told._turned(m, rng.choice(_SAID_OF_OTHERS))
        if found is not None and found[1][0] != tool and (tool or is_idle):
            return found[0].plain.rstrip('.!')
    roll = rng.random()
    if is_idle or roll < 0.55:
        text = rng.choice(fillers.ANYWHERE)
    else:
        text = rng.choice(fillers.BEFORE if is_before else fillers.AFTER)
    slots = slots_of(text)
    made = {
        'person': lambda: values.person(rng), 'thing': lambda: values.thing(rng), 'place': lambda: values.article(rng, _value(m, ('place',)) or values.place(rng)),
        'n': lambda: str(rng.randint(3, 40)), 'value': lambda: _value(m, ('place', 'object', 'surface', 'plural')) or values.thing(rng),
    }
    if 'thing_a' in slots:
        noun = rare.noun(rng)
        text = text.replace('{thing_a}', f'{"an" if noun[0] in "aeiou" else "a"} {noun}')
    for slot in slots - {'thing_a'}:
        text = text.replace(f'{{{slot}}}', made[slot]())
    return text


def _value(m: CaseMaker, kinds: Sequence[str]) -> str:
    """Name a value that some tool of the catalogue lists, or nothing."""
    pairs = [(a, t.slots[a.key]) for t in m.book.tools for a in t.skill.args if a.key in t.slots and t.slots[a.key].choices and a.kind in kinds]
    if not pairs or m.rng.random() < 0.3:
        return ''
    arg, slot = m.rng.choice(pairs)
    text = say_choice(m.rng, arg, slot, m.rng.choice(tuple(slot.choices)))
    return re.sub('^(the|a|an) ', '', text)


def _around(rng: random.Random, text: str, before: Sequence[str], after: Sequence[str]) -> str:
    whole = ' '.join((*_sentences(rng, before), text if text.isupper() else capital(text), *_sentences(rng, after)))
    if text.isupper() and len(text) > 3:
        return whole.upper()
    return _cased(rng, whole)


def _cased(rng: random.Random, text: str) -> str:
    """Leave out the points at times, as speech recognition does; never a letter, which may be copied."""
    return re.sub(r'(?<=[a-z])[,.!;]+(?= )', '', text) if rng.random() < 0.08 else text


def _sentences(rng: random.Random, remarks: Sequence[str]) -> list[str]:
    found = list(remarks)
    if len(found) > 1 and rng.random() < 0.35:
        at = rng.randrange(len(found) - 1)
        found[at:at + 2] = [rng.choice(_PAIRED).format(a=found[at], b=found[at + 1])]
    if found and rng.random() < 0.3:
        at = rng.randrange(len(found))
        if rng.random() < 0.6:
            found[at] = f'{rng.choice(_EXCLAIMED)}, {found[at]}'
        else:
            found.insert(at, rng.choice(_EXCLAIMED))
    return [f'{capital(text)}{rng.choice(_ENDS)}' for text in found]


def _ended(rng: random.Random, text: str) -> str:
    text = text.rstrip()
    if text.endswith(('?', '!', '.')):
        return text
    is_asked = re.match('(could|can|would|will|do you|might|so could|so would)', text, re.IGNORECASE)
    return text + ('?' if is_asked else rng.choice(('.', '.', '.', '.', '!')))


def _shared(m: CaseMaker, text: str) -> list[set[str]]:
    """Return which weighty words a text shares with each tool's description and sentences."""
    found = refusals._content(text)
    return [found & refusals._content(f'{t.declaration.description} {t.name.replace("_", " ")} {" ".join(t.skill.says)}') for t in m.book.tools]
