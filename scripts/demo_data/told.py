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

"""Statements about a tool's own deed that ask for nothing, next to wishes in the same words."""

from __future__ import annotations

from dataclasses import replace
import re

from demo_data import values
from demo_data.cases import call
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import IDLE
from demo_data.cases import no_action
from demo_data.phrases import Said
from demo_data.procedural import inflected
from demo_data.speech import free

# {g}: the deed as -ing; {d}: as participle.
_TOLD = (
    '{g} is boring', '{g} is hard work', 'I like {g}', '{g} took me an hour yesterday', 'thanks for {g}', 'thank you for {g}', 'I spent the morning {g}', '{person} is {g} at the moment', '{person} is good at {g}', 'we talked about {g} at lunch', 'I have just finished {g}', 'I am {g} myself', 'nobody likes {g}', '{g} can wait until tomorrow', 'there is no need for {g} today',
    'I dreamt of {g}', '{person} makes a living by {g}', 'I am done {g}', 'yesterday you were {g} all day', 'I saw you {g} last week', 'the old robot was slow at {g}', 'you are good at {g}', 'well done {g} so fast', '{person} hurt his back {g}', '{g} used to be my job', 'I hate {g}', '{g} is what {person} does best', 'I read an article on {g}', 'we were {g} when the lights went out', '{g} is expensive nowadays',
    '{person} enjoys {g}', 'I learned a lot about {g}', '{g} was fun', 'they were still {g} when I left', '{person} stopped {g} years ago', 'the course on {g} was good', '{person} prefers {g} by hand', 'I am proud of you for {g}',
    'I have {d}', 'I have already {d}', '{person} has {d}', '{person} has just {d}', 'you have {d} very well', 'we have {d} before', 'nobody has ever {d} so fast', 'they had {d} when I came', 'the others have {d} this morning', 'I have never {d}', '{person} has {d} many times', 'you have {d} already, thanks', 'we had {d} before you came', 'somebody has {d} in the meantime', 'I had {d} once before', 'I see you have {d}, lovely',
)
_WANTED = (
    'how about {g}?', 'would you mind {g}?', 'do you mind {g}?', 'start {g}', 'begin {g}', 'I would appreciate you {g}', 'I suggest {g} now', 'please get on with {g}', 'I want you {g} right now', 'your next job is {g}', 'what I need is you {g}', 'I need you {g} straight away', 'go ahead and start {g}', 'would you be so kind as to start {g}?', 'you can start {g}', 'you should be {g} now', 'let us begin with {g}',
    'I would like to see you {g} now', 'what about {g} for me?', 'your task now: {g}', 'you may begin {g}', 'I expect you to start {g}', 'time to start {g}',
)
_FACTS = (
    '!you have {n} wheels', '!your camera is new', '!your battery was replaced last month', '!you were built in {n2} days', '!you are lighter than the old robot', '!your software is from last year', '!you came from {place}', '!this robot cost {n} thousand euros', '!the robot before you had no arm', '!your name was my idea', '!people like your voice', '!you have been with us for {n} weeks',
    '!today is my day off', '!it is the first of the month', '!spring is here', '!we are {n} people in this team', '!the whole team is in a good mood', '!I could sleep all day', '!I am bored', '!I am so happy', '!I feel much better than yesterday', '!my head aches', '!I miss {person}', '!I am looking forward to the weekend',
    '!attention everybody, the party begins at {n}', '!for your information, the bus leaves at {n}', '!as announced, {person} starts work on Monday', '!ladies and gentlemen, welcome', '!water boils at a hundred degrees', '!a week has seven days', '!robots need electricity', '!Rome was not built in a day', '!{place} lies near the river', '!{place} closes at {n}',
    '!{place} was built {n} years ago', '!{person} repaired {object} last week', '!{person} put {object} in {place} yesterday', '!{object} weighs {n} kilos', '!{object} was made in {place}', '!{object} came back from repair', '!we bought {object} in spring', '!I left {object} with {person}', '!{object} works again', '!somebody has already taken care of {object}',
    '!{person} is the new head of {place}', '!{person} works upstairs', '!{person} took a day off', '!{person} and I are friends', '!{person} used to work here', '!the lift is working again', '!the tour was great', '!the visitors loved you', '!the guests arrived safely', '!dinner was delicious', '!my phone is new', '!that was close', '!it was only a joke',
    '!thank you, you are very kind', '!thanks, that was quick', '!thanks to you we are done', '!cheers, mate', '!good morning, everyone', '!hello there, robot', '!hey, nice to see you', '!great work today', '!good to have you here', '!I could not have done it better', '!perfect timing', '!you saved my day', '!no thanks, I am fine',
)
_JOINED = re.compile(r'[,.;:?!"]| and | then | or ')
# Verbs whose participle the rules do not give.
_ODD = frozenset('be have do let go give get take make bring drive show write read see run hold build hit spend begin come draw fly forget set put cut shut send speak sing sit stand think wear win ride rise shake steal swim understand choose bite drink eat forgive'.split())
_VERB = re.compile(r'[a-z]{2,}$')


def told(m: CaseMaker) -> Case | None:
    """A deed of a tool that is done, was done or is talked about: nothing is asked."""
    said = _turned(m, m.rng.choice(_TOLD))
    return said and Case('chat', m.say(said[0], noise=0.5, polite=False), no_action(IDLE))


def wanted(m: CaseMaker) -> Case | None:
    """A wish whose deed is no imperative."""
    said = _turned(m, m.rng.choice(_WANTED))
    return said and Case('wish', m.say(said[0], noise=0.5, polite=False), call(said[1]))


def fact(m: CaseMaker) -> Case | None:
    """A fact about the world, the robot or the speaker, or thanks."""
    from demo_data.makers_refusals import sounds_like_a_tool

    said = free(m.rng, m.rng.choice(_FACTS))
    if sounds_like_a_tool(m, said.plain):
        return None
    return Case('chat', m.say(said, noise=0.5, polite=False), no_action(IDLE))


def _turned(m: CaseMaker, frame: str) -> tuple[Said, tuple[str, dict[str, object]]] | None:
    """Put a wish's deed into a frame, its verb changed."""
    wish = m.wish(imperative=True, quote=True)
    if wish is None or not wish.is_negatable:
        return None
    template = wish.said.template
    verb = template.partition(' ')[0]
    form = 'd' if '{d}' in frame else 'g'
    if _JOINED.search(template) or not _VERB.match(verb) or verb in ('let', 'be', 'do', 'have', 'make', 'please', 'no', 'now', 'roll') or (form == 'd' and verb in _ODD and inflected(verb, 'd').endswith('ed')):
        return None
    text = frame.replace(f'{{{form}}}', inflected(template, form))
    held = {**wish.said.values, 'person': values.person(m.rng)} if '{person}' in frame else wish.said.values
    if '{person}' in frame and 'person' in wish.said.values:
        return None
    return replace(wish.said, template=text, values=held, is_imperative=False), wish.call
