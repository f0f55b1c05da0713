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

"""A tool is called by its name while the sentence also says what other tools do, or their names."""

from __future__ import annotations

from dataclasses import replace
import random
import re

from demo_data.cases import call
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.catalogues import Tool
from demo_data.motion import RELATIVE
from demo_data.phrases import expand
from demo_data.phrases import join
from demo_data.phrases import Said
from demo_data.wishes import make_wish
from demo_data.wishes import tool_as_words

# {b}: the wish, by name; {a}: what another tool does, which is not wanted of the robot now.
_DEED = tuple(line.strip() for line in """
{b}, [the others|my colleagues|they|the night shift] will {a} later
{b}, I will {a} myself
somebody else will {a}; {b}
[Anna|the technician|the boss|our trainee|the customer] wants to {a} [tomorrow|next week|later|after lunch], so {b}
we [used to|would usually|could also|might later|once had to] {a}, [but today|now|but now] {b}
{b} before [they|we|the others|the guests] {a}
{b} - [they|we|the others] {a} [afterwards|when that is over|on Friday]
{b}; nobody asked you to {a}
nobody has to {a} any more, {b}
it is too late to {a}. {b}
it is too early to {a}, {b}
there is no time to {a}, just {b}
[I thought we had to|I was going to|they told me to] {a}, but {b}
[you tried to|you wanted to|yesterday you had to|this morning you had to] {a}; now {b}
I [do not want anybody to|would not] {a} now, {b}
only the other machine can {a}; you {b}
{b}. To {a} [would be wrong|is not your job|makes no sense|comes later|can wait]
to {a} would [take too long|cost too much|be a mistake]: {b}
instead of trying to {a}, {b}
[whoever wanted to|those who wanted to] {a} can wait; {b}
{b} and let [the others|them|Tom] {a}
{b}, so that the others can {a}
{b}, as we have no reason to {a}
we cannot {a} without power, so {b}
if they {a} later, fine; for now {b}
[my son|the visitor|a man here] asks whether you can {a}. Never mind, {b}
it was wrong to {a}, so {b}
""".strip().splitlines())
# {o}: the name of another tool, which is not wanted.
_NAME = tuple(line.strip() for line in """
{o} is [done|over|finished|behind us|history|out of the question|for tomorrow|broken|not what I meant], {b}
{b}, {o} [can wait|comes later|is not needed|is done|was yesterday|did not help]
after {o} comes the next one: {b}
we had {o} already. {b}
not {o}, {b}
no {o} today, {b}
enough {o}. {b}
{o} did nothing, so {b}
{o} was wrong, {b}
[you did|you have finished|you are through with] {o}; {b}
{b}, not {o}
{b} rather than {o}
{b} in place of {o}
{b}. I do not mean {o}
did I say {o}? I meant: {b}
{o}... no, {b}
everybody asks for {o}, but I say: {b}
[the red light says|the manual mentions|on the label stands] {o}; ignore that and {b}
{b} first, {o} tomorrow
{b} and leave {o} alone
forget {o}. {b}
the one beside {o}: {b}
{o} and that other thing you do - the other thing: {b}
""".strip().splitlines())
# {x}: something that another tool's description names.
_THING = tuple(line.strip() for line in """
the {x} [is fine|looks good|can wait|was done|does not matter|is somebody else's job|is new], {b}
{b}, never mind the {x}
{b} before anybody touches the {x}
leave the {x}, {b}
[Anna|the boss|my uncle] [is standing by|looks at|paid for|brought] the {x}. {b}
{b}, the {x} is [ready|empty|in the way|next|clean]
I am at the {x}; {b}
it has nothing to do with the {x}: {b}
the {x} is [not the problem|all right now|where it should be]. {b}
{b}, I take care of the {x}
now that the {x} is [done|there|finished|in order], {b}
{b} next to the {x}
before the {x} gets its turn, {b}
""".strip().splitlines())
_TAIL = re.compile(r'\b(?:the|a|an) ((?:[a-z]+[ -])?[a-z]{3,})[.;,]?$')
_VAGUE = frozenset('robot thing item place tool object pose time area one it person position speed way name target value sentence request message'.split())


def named_beside(m: CaseMaker) -> Case | None:
    """Ask for a tool by its name beside words that fit another one: the name decides."""
    rng = m.rng
    tools = [t for t in m.book.tools if t.skill.key not in RELATIVE]
    if len(tools) < 2:
        return None
    tool = rng.choice(tools)
    wish = make_wish(rng, tool, named=True)
    if wish is None or wish.said.template.endswith('?'):
        return None
    rivals = [t for t in tools if t is not tool and t.side is None]
    said = _beside(m, wish.said, rng.choice(rivals)) if rivals else None
    return None if said is None else Case('by_name', m.say(said, noise=0.3), call(wish.call))


def wished_beside(m: CaseMaker) -> Case | None:
    """Ask for a deed beside what others do, did, or shall not do."""
    rng = m.rng
    wish = m.wish(imperative=True, quote=True)
    if wish is None or not wish.is_negatable or not wish.said.is_imperative:
        return None
    rivals = [t for t in m.book.tools if t is not wish.tool and t.side is None and t.skill.key not in RELATIVE]
    said = _beside(m, wish.said, rng.choice(rivals)) if rivals else None
    return None if said is None else Case('instead', m.say(said, noise=0.5), call(wish.call))


def _beside(m: CaseMaker, said: Said, rival: Tool) -> Said | None:
    rng = m.rng
    roll = rng.random()
    if roll < 0.45:
        other = m.wish(rival, imperative=True, quote=True)
        if other is None or not other.is_negatable or not other.said.is_imperative or 'tool_' in other.said.values:
            return None
        return _joined(rng, _DEED, said, a=other.said)
    if roll < 0.75:
        return _joined(rng, _NAME, said, o=tool_as_words(rival.name))
    found = _TAIL.search(rival.declaration.description.split('. ')[0].rstrip('.'))
    if found is None or found.group(1).split(' ')[-1] in _VAGUE:
        return None
    return _joined(rng, _THING, said, x=found.group(1))


def _joined(rng: random.Random, frames: tuple[str, ...], said: Said, **parts: Said | str) -> Said:
    frame = expand(rng, rng.choice(frames))
    if said.is_imperative and rng.random() < 0.15:
        said = replace(said, template=f'please {said.template}')
    return join(frame, is_imperative=False, b=said, **parts)
