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
Cases of the last word: corrected numbers and values, of two things the other, several at once.

Frames are written by hand: `{a}` is what does not count.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
import random

from demo_data import dialogue
from demo_data import quantities
from demo_data import values
from demo_data.cases import call
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.phrases import expand
from demo_data.phrases import join
from demo_data.wishes import argument_at
from demo_data.wishes import say_choice
from demo_data.wishes import Wish

_NAMED = ('place', 'object', 'surface', 'person', 'code', 'choice', 'plural')
# In the place of the value.
WITHIN = (
    '{a}, no, {b}', '{a}, no wait, {b}', '{a}... no, {b}', '{a}, sorry, {b}', '{a}, I mean {b}', '{a}, or rather {b}', '{a}, make that {b}', '{a}, make it {b}', '{a} - no - {b}', '{a}, hm, {b}', '{a}, uh, {b}', '{a}, wait, {b}',
    '{a}, actually {b}', '{a}, correction: {b}', '{a}? no, {b}', '{a}, pardon, {b}', '{a} - scratch that - {b}', '{a}, strike that, {b}', '{a}, well, {b}', '{a}, better {b}', '{a}, better make it {b}', '{a}, no, no, {b}', '{a}, excuse me, {b}',
    '{a}, that is, {b}', '{a}, ah no, {b}', '{a}, oh, {b}', '{a}, I meant to say {b}', '{a}, what am I saying, {b}', '{a}, wrong, {b}', '{a}, let me think, {b}', 'not {a} but {b}', 'not {a}, {b}', '{b}, not {a}', '{b} instead of {a}',
    '{b} rather than {a}', '{b} and not {a}', '{b} (not {a})', '{b}, certainly not {a}', 'no longer {a} but {b}', '{b} in place of {a}', '{a}, nope, {b}', '{a}, er, {b}', '{a} - my mistake, {b}', '{a}, my bad, {b}', '{a}, no, rather {b}', '{a} - sorry - {b}', '{a}, let us say {b}',
)
# After the sentence.
AFTER = (
    '. No, make that {b}', ', make that {b}', '. Sorry, {b}', ', no, {b}', '... no, wait, {b}', '. Actually, {b}', '. I mean {b}', ' - or rather {b}', '. Correction: {b}', '. Wait, {b}', ', or no, {b}', '. On second thought, {b}', ', hm, better {b}', '. Hm, no, {b}',
    '. Oh no, {b}', ', I meant {b}', '. I meant to say {b}', '. Make it {b}', ' - no, {b}, please', '. Change that to {b}', '. Better {b}', '. Or no: {b}', '. Forget that, {b}', '. Let it be {b}', ', well, {b} then', '. Not that, {b}', '. I take that back: {b}', ', no no, {b}',
)
TOGETHER = (
    '{a}, and {b} along with it', '{a} and {b} concurrently', 'while you {a}, {b}', 'in one go, {a} and {b}', '{a}; in the same moment {b}', '{a}, and during this time {b}', '{a} and {b} side by side', '{a} as you {b}', '!both of these now: {a}, {b}',
    '!these two in parallel: {a} and {b}', '{a} and {b} in one move', '!two jobs at the same time: {a} and {b}', '{a}, plus {b} at the same time', 'at once {a} and {b}', '{a} and {b}, simultaneously please', '{a} and also {b} while you are at it',
    '{a}, and throughout {b}', '!I want both together: {a} and {b}', 'in the same breath {a} and {b}', '{a} and {b}, not one after the other but together', '{a}; all the while {b}', '{a}, at the same time also {b}', 'synchronously {a} and {b}', '!do this in parallel: {a}; {b}',
    '{a} and {b}, at one and the same time', '{a}, and at the very same time {b}', 'start both: {a} and {b}', '{a} and {b} together, in parallel', '!in parallel, please: {a}, {b}', '{a} and in parallel to that {b}', '{a}. At the same time, {b}', '{a}. In parallel, {b}', '!concurrently: {a} and {b}',
)


def corrected(m: CaseMaker) -> Case | None:
    """A number or a value is taken back and another one said: the last counts."""
    rng = m.rng
    wish = m.wish()
    if wish is None or wish.tool.side is not None:
        return None
    found = _other(rng, wish)
    if found is None:
        return None
    name, wrong = found
    template = wish.said.template
    if template.count(f'{{{name}}}') != 1:
        return None
    slot = f'{{{name}}}'
    if rng.random() < 0.3 and not template.endswith(('?', '"')) and len([k for k in wish.said.values if k in template]) == 1:
        template = template.replace(slot, '{wrong_}') + rng.choice(AFTER).replace('{b}', slot)
    else:
        template = template.replace(slot, rng.choice(WITHIN).replace('{a}', '{wrong_}').replace('{b}', slot))
    fixed = wish.said.fixed | {'wrong_'}
    said = replace(wish.said, template=template, values={**wish.said.values, 'wrong_': wrong}, fixed=fixed)
    return Case('correction', m.say(said, noise=0.5), call(wish.call))


def _other(rng: random.Random, wish: Wish) -> tuple[str, str] | None:
    """Draw another value for one of the values said: its slot's name and its words."""
    usable = []
    for arg in wish.tool.skill.args:
        for name in (arg.key, f'{arg.key}_u'):
            if name in wish.said.values and arg.key in wish.tool.slots and arg.kind in (*_NAMED, 'number', 'integer'):
                usable.append((name, arg))
    if not usable:
        return None
    name, arg = rng.choice(usable)
    slot, right = wish.tool.slots[arg.key], wish.said.values[name]
    if slot.number is not None:
        declared = slot.number
        own = argument_at(wish.call[1], slot.path)
        if name.endswith('_u') or wish.tool.skill.says_units:
            drawn = quantities.draw(rng, declared, other=rng.random() < 0.2)
            wrong = drawn.text if drawn is not None else ''
        else:
            near = Fraction(str(own)) + rng.choice((-5, -2, -1, 1, 2, 3, 10, 20))
            wrong = quantities.number_text(rng, near, words=0.2) if near > 0 else ''
    elif slot.choices:
        wrong = say_choice(rng, arg, slot, rng.choice(tuple(slot.choices)))
    else:
        wrong = values.draw(rng, arg)[1]
    if not wrong or wrong in right or right in wrong:
        return None
    return name, wrong


def together(m: CaseMaker) -> Case | None:
    """Wishes that are to happen at once, said in many ways: all the calls, in the order said."""
    found = m.wishes(2)
    if found is None:
        return None
    joined = expand(m.rng, m.rng.choice(TOGETHER if m.rng.random() < 0.75 else dialogue.TOGETHER))
    said = join(joined.lstrip('!'), is_imperative=not joined.startswith('!'), a=found[0].said, b=found[1].said)
    return Case('several', m.say(said), call(found[0].call, found[1].call))

