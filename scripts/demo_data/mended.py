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
import re

from demo_data import dialogue
from demo_data import quantities
from demo_data import values
from demo_data.cases import call
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.phrases import expand
from demo_data.phrases import join
from demo_data.procedural import inflected
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
# Before and behind a sentence whose value is the right one.
BEFORE = (
    'instead of {a}, ', 'not {a}: ', 'not {a} this time: ', 'not {a}; ', 'forget {a}, ', 'forget about {a}: ', 'rather than {a}, ', 'I do not mean {a}: ', 'I did not mean {a}. ', 'no, not {a}. ', 'never mind {a}, ', '{a} is wrong: ', '{a} was a mistake: ', '{a} is not what I want. ', 'anything but {a}: ',
    'this is not about {a}: ', 'I said {a}, but that was wrong: ', 'in place of {a}, ', 'it was {a} yesterday, but today ', 'I was about to say {a}, but ', 'they told you {a}, but ', 'it says {a} here, but that is old: ', '{a} is off the list, ', 'you may have heard {a}, but ',
)
BEHIND = (
    ', not {a}', ', and not {a}', ' - not {a}', '. Not {a}.', ', but not {a}', ', never {a}', ', instead of {a}', ' rather than {a}', ', certainly not {a}', '. I do not mean {a}.', '. {a} would be wrong.', ', {a} is wrong', ', in place of {a}', '. No, not {a}.', ' and by no means {a}', '. It must not be {a}.', ', so not {a}', '. {a} is not meant.', ' (so not {a})', ' (instead of {a})',
    '. Mind you, not {a}.', ', and I do not mean {a}', '. Forget {a}.', ', {a} was yesterday', '. {a} was a slip of the tongue.', ', as opposed to {a}', ', unlike yesterday, when it was {a}', ', whatever they say about {a}',
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
    elif rng.random() < 0.35 and not template.endswith(('?', '"', '.', '-')) and not any(a.kind == 'text' for a in wish.tool.skill.args):
        template = rng.choice(BEFORE).replace('{a}', '{wrong_}') + template if rng.random() < 0.5 else template + rng.choice(BEHIND).replace('{a}', '{wrong_}')
        fronted = replace(wish.said, template=template, values={**wish.said.values, 'wrong_': wrong}, is_imperative=False, fixed=wish.said.fixed | {'wrong_'})
        return Case('correction', m.say(fronted, noise=0.4, polite=False), call(wish.call))
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


# Of two deeds one; {a} is not to be done, {x} is it as -ing, {y} the right one as -ing.
INSTEAD = (
    'instead of {x}, {b}', 'rather than {x}, {b}', '{b} instead of {x}', '{b} rather than {x}', 'no {x}, {b}', 'not {x} but {y}, please', 'I want no {x}, I want you to {b}', 'forget about {x} and {b}', 'forget {x}, {b}', 'skip {x} and {b}', 'leave off {x} and {b}', 'enough of {x}, {b}', '{x} can wait, {b}', '{x} can wait; {b} first', '{x} is not needed, but {b}', 'we can do without {x}; {b}',
    'do not start {x}, {b}', 'stop {x} and {b}', 'no need for {x}, just {b}', 'before you start {x}: do not, but {b}', 'I said {x}, but I meant {y}', 'I thought of {x}, but {y} is better', 'it is {y} that I need, not {x}', '{y}, not {x}', '{y} and not {x}', 'your job is {y}, not {x}', 'please start {y}, not {x}', 'what we need is not {x} but {y}', 'it is not {x} that I want but {y}', 'today it is {y} rather than {x}', 'start {y} instead of {x}', 'how about {y} instead of {x}?',
    '{b}, and do not {a}', '{b}, but do not {a}', '{b}; you need not {a}', '{b}. You do not have to {a}.', 'you need not {a}, but {b}', 'you do not have to {a}, only {b}', 'nobody wants you to {a}; {b}', 'I did not say {a}, I said {b}', 'I did not ask you to {a}. I asked you to {b}.', 'not {a}: {b}', 'it would be wrong to {a}, so {b}', 'I was going to say {a}, but no, {b}', 'first I wanted you to {a}, but now {b}', '{person} told you to {a}, but I want you to {b}', 'yesterday you had to {a}, today {b}', 'unlike yesterday do not {a}, {b}',
)
_JOINED = re.compile(r'[,.;:?!"]| and | then | or ')
_VERB = re.compile('[a-z]{2,} ')
_NO_VERBS = frozenset(('let', 'be', 'do', 'have', 'make', 'please', 'no', 'now', 'roll', 'not', 'to', 'it', 'the', 'you'))


def instead_of(m: CaseMaker) -> Case | None:
    """Of two deeds the one is not wanted and the other is."""
    rng = m.rng
    wish, other = m.wish(imperative=True, quote=True), m.wish(imperative=True, quote=True)
    if wish is None or other is None or not wish.is_negatable or not other.is_negatable or wish.call == other.call or wish.tool.name == other.tool.name:
        return None
    frame = rng.choice(INSTEAD).replace('{person}', values.person(rng))
    parts = {'a': other.said, 'b': wish.said}
    for slot, said in (('x', other.said), ('y', wish.said)):
        if f'{{{slot}}}' in frame:
            first = said.template.partition(' ')[0]
            if _JOINED.search(said.template) or not _VERB.match(f'{said.template} ') or first in _NO_VERBS:
                return None
            parts[slot] = replace(said, template=inflected(said.template, 'g'))
    said = join(frame, is_imperative=False, **{k: v for k, v in parts.items() if f'{{{k}}}' in frame})
    return Case('instead', m.say(said, noise=0.4, polite=False), call(wish.call))


def together(m: CaseMaker) -> Case | None:
    """Wishes that are to happen at once, said in many ways: all the calls, in the order said."""
    found = m.wishes(2)
    if found is None:
        return None
    joined = expand(m.rng, m.rng.choice(TOGETHER if m.rng.random() < 0.75 else dialogue.TOGETHER))
    said = join(joined.lstrip('!'), is_imperative=not joined.startswith('!'), a=found[0].said, b=found[1].said)
    return Case('several', m.say(said), call(found[0].call, found[1].call))

