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

"""Statements and wishes in the passive, and facts about what a wish would name."""

from __future__ import annotations

from dataclasses import replace
import re

from demo_data import others
from demo_data.cases import call
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import IDLE
from demo_data.cases import no_action
from demo_data.procedural import inflected
from demo_data.wishes import Wish

# {o}: what the deed is done to; {d}: the deed as participle; {r}: the rest of the wish; {p}: somebody.
_PASSIVE = """
{o} has been {d}{r}|{o} has been {d}{r}, thanks|{o} has been {d}{r} already|{o} has just been {d}{r}|{o} was {d}{r} on Monday|{o} was {d}{r} this morning|{o} was {d}{r} by {p}|{o} was {d}{r} while you were charging|{o} is being {d}{r} by {p}|{o} is being {d}{r} at the moment|{o} is being {d}{r} by the night shift|{o} is {d}{r} every day by {p}|{o} is usually {d}{r} by {p}|{o} got {d}{r} yesterday|{o} had been {d}{r} when I came
{o} will be {d}{r} by {p}|{o} will be {d}{r} tomorrow, not today|{o} has never been {d}{r} so well|I saw how {o} was {d}{r}|I am glad that {o} has been {d}{r}|I heard that {o} was {d}{r}|they say that {o} was {d}{r} twice last week|{p} told me that {o} has been {d}{r}|I think {o} was {d}{r} before lunch|it is nice that {o} has been {d}{r}|who knows how often {o} has been {d}{r} this year|in the old days {o} was {d}{r} by hand
{o} need not be {d}{r}|{o} does not have to be {d}{r} today|{o} is not to be {d}{r}|{o} must not be {d}{r}|{o} should not be {d}{r} any more|nobody wants {o} to be {d}{r}|{p} does not want {o} to be {d}{r}|last week {o} was {d}{r} three times|{o} was {d}{r} long ago|by the way, {o} was {d}{r}|as you can see, {o} has been {d}{r}|thank you, {o} has been {d}{r}|good that {o} was {d}{r} in time
""".replace('\n', '|').strip('|').split('|')
_WANTED = """
{o} needs to be {d}{r}|{o} has to be {d}{r}|{o} must be {d}{r}|{o} should be {d}{r}|{o} is to be {d}{r}|{o} is to be {d}{r} now|{o} ought to be {d}{r}|I want {o} to be {d}{r}|I would like {o} to be {d}{r}|I need {o} to be {d}{r}|we need {o} to be {d}{r}|please have {o} {d}{r}|please get {o} {d}{r}|see to it that {o} gets {d}{r}|make sure that {o} is {d}{r}|{o} has not been {d}{r} yet, please do it|{o} still has to be {d}{r}|{o} is still waiting to be {d}{r}|could {o} be {d}{r}, please?
it is time for {o} to be {d}{r}|{p} wants {o} to be {d}{r}|{p} asks for {o} to be {d}{r}|your next job: {o} is to be {d}{r}|{o} was not {d}{r} yesterday, so do it now|nobody has {d} {o}{r} yet, so it is your turn|I wish {o} to be {d}{r}|what I need is {o} to be {d}{r}|may I have {o} {d}{r}?|can {o} be {d}{r} by you?|let {o} be {d}{r}|{o} wants to be {d}{r}|{o} has got to be {d}{r}|there is {o} to be {d}{r}
""".replace('\n', '|').strip('|').split('|')
# What is true of anything that has a name or a number.
_FACTS = """
{o} is by the window|{o} is the biggest of all|{o} is the smallest we have|{o} has a new lock|{o} is brand new|{o} is the oldest one|{o} holds more than it seems|{o} came from Sweden|{o} has got a new label|{o} has the best view|{o} was opened in 1902|{o} was built by my father|{o} was made in Denmark|{o} was expensive|{o} used to be green|{o} got a new coat of paint|{o} was on the news|{o} has been here since June|{o} is next to the stairs|{o} can be seen from far away
{o} is popular with the children|{o} is famous|{o} is older than the rest|{o} works like a charm|{o} works again|{o} is in good order|{o} was checked last week|{o} is under guarantee|{o} has a funny number|{o} reminds me of school|{o} looks nice today|{o} is what {p} likes best|{o} is where {p} used to sit|{o} belongs to {p}|{o} was {p}'s idea|{o} is named after {p}|{p} has written about {o}|{p} was talking about {o}|{p} took a picture of {o}|{p} is looking after {o} this week
I have a photo of {o}|I like {o}|I am fond of {o}|I remember {o} well|I told my wife about {o}|I have heard of {o}|everybody asks me about {o}|there was an article about {o}|there is nothing wrong with {o}|all is well with {o}|we are proud of {o}|we had a good laugh about {o}|the story of {o} is long|the plans of {o} are in the drawer|the people from {o} are kind|the bill for {o} is paid|the inspector was pleased with {o}|nothing new about {o}|thank you for {o}|well done with {o}
the guest in {o} is a singer|the lady from {o} has left a tip|someone in {o} was laughing|the couple in {o} checked out|{o} came off well in the test|{o} is as it should be|{o} is fine as it is|{o} can stay as it is|{o} is all right|{o} is done for today|{o} looks different in this light|{o} was quiet last night|{o} was full yesterday|{o} was busy this morning|{o} will be ten years old in May|{o} will be replaced next year|{o} is on my list for next month|{o} is not in the plan for today
""".replace('\n', '|').strip('|').split('|')
_OBJECT = re.compile(r'([a-z]{3,}) ((?:the |a |an |my |our |this |that )(?:[a-z]+ |\{\w+\} ){0,2}?(?:[a-z]+|\{\w+\})|\{\w+\}(?: [a-z]+)??)((?: (?:to|at|in|on|with|by|for|from|into|onto|after|before|through) .*)?)$')
_NAMED = re.compile(r'\b(?:the )?(?:\{(\w+)\} ([a-z]{3,})|([a-z]{3,}) \{(\w+)\})')
# What is numbered or named behind its noun.
_NUMBERED = frozenset('bed room bay rack shelf lane gate dock door table box row pen tank line slot seat berth pier track platform floor ward cell cabin desk drawer locker tray pallet crate bin cart truck trailer pump valve motor lamp machine station press oven kiln vat barrel bottle vial tube sample case folder file page channel camera screen panel window shaft pit hall aisle corner zone block field plot bench tree vine hive cage stall pond court table kennel house flat apartment office studio theatre parcel packet order batch lot job ticket train tram bus boat flight tower mast pole pylon sector area section unit post point hole nest pot bucket basket'.split())
_NO_NOUNS = frozenset('the and for with from into onto over under about around until till after before through toward towards that this then them now please again once more some any all like than but not behind beside near next off out down onto upon between along across against within without via per called named number your you its his her their our make take bring give get put set let have turn switch keep move drive send tell ask show use run start call open close come look wait stay away back home here there hold leave want need would could should times degrees percent metres meters seconds minutes hours litres liters grams kilos pieces is are was be'.split())
_PARTICLES = frozenset('up down off on out in over back away along aside apart together open shut to at for with by from into onto it them him her me us you that this all some any straight gently flat loose tight still around round across past near ready free clean dry warm alone higher lower louder onwards forward forwards backward backwards sideways left right upright inside outside once twice again now today softly slowly quickly'.split())


def passive(m: CaseMaker) -> Case | None:
    """A deed of a tool in the passive that was done, is done by others or is not to be done."""
    found = _turned(m, m.rng.choice(_PASSIVE))
    return found and Case('chat', found[0], no_action(IDLE))


def passive_wish(m: CaseMaker) -> Case | None:
    """A wish in the passive."""
    found = _turned(m, m.rng.choice(_WANTED))
    return found and Case('wish', found[0], call(found[1].call))


def fact_of(m: CaseMaker) -> Case | None:
    """A fact about the very thing, room or number that a wish could name."""
    rng = m.rng
    wish = m.wish()
    if wish is None:
        return None
    kinds = {a.key: a.kind for a in wish.tool.skill.args}
    named = [found for found in _NAMED.finditer(wish.said.template) if (
        found.group(3) in _NUMBERED if found.group(3) else kinds.get(found.group(1)) in ('choice', 'place', 'object', 'surface', 'code') and found.group(2) not in _NO_NOUNS | _PARTICLES and not found.group(2).endswith(('ly', 'ing', 'ed')))]
    phrase = rng.choice(named).group() if named and rng.random() < 0.7 else ''
    if phrase and phrase.startswith('{') and not phrase.endswith('}'):
        phrase = f'the {phrase}'
    if not phrase:
        usable = [key for key in wish.said.values if kinds.get(key) in ('place', 'object', 'surface', 'code') and f'{{{key}}}' in wish.said.template]
        if not usable:
            return None
        phrase = f'{{{rng.choice(usable)}}}'
    if re.search(r'\{(tool_|text|wrong_)', phrase):
        return None
    template = rng.choice(_FACTS).replace('{o}', phrase).replace('{p}', others.somebody(rng))
    said = replace(wish.said, template=template, is_imperative=False)
    return Case('chat', others.closed(rng, m.say(said, noise=0.4, polite=False)), no_action(IDLE))


def _turned(m: CaseMaker, frame: str) -> tuple[str, Wish] | None:
    rng = m.rng
    wish = m.wish(imperative=True, quote=True)
    if wish is None or not wish.is_negatable:
        return None
    found = parted(wish)
    if found is None:
        return None
    thing, done, rest = found
    if is_plural(wish, thing):
        for one, many in (('{o} has ', '{o} have '), ('{o} was ', '{o} were '), ('{o} is ', '{o} are '), ('{o} needs ', '{o} need '), ('{o} wants ', '{o} want '), ('{o} gets ', '{o} get '), ('{o} does ', '{o} do ')):
            frame = frame.replace(one, many)
    template = frame.replace('{o}', thing).replace('{d}', done).replace('{r}', rest).replace('{p}', others.somebody(rng))
    said = replace(wish.said, template=template, is_imperative=False)
    return others.closed(rng, m.say(said, noise=0.4, polite=False)), wish


def parted(wish: Wish) -> tuple[str, str, str] | None:
    """Part a wish's template into what the deed is done to, its participle and the rest; None where that is not sure."""
    found = _OBJECT.match(wish.said.template)
    if found is None:
        return None
    verb, thing, rest = found.groups()
    first = re.match(r'\{(\w+)\}', thing)
    kinds = {a.key: a.kind for a in wish.tool.skill.args}
    if verb in others.ODD or (verb in others.STRONG and inflected(verb, 'd').endswith('ed')) or any(word in _PARTICLES or word.endswith('ly') for word in thing.split(' ')[(1 if thing.startswith(('this ', 'that ')) else 0):]) or ' it ' in f'{rest} ':
        return None
    if first is not None and kinds.get(first.group(1)) not in ('place', 'object', 'surface', 'code', 'choice', 'plural'):
        return None
    return thing, inflected(verb, 'd'), rest


def is_plural(wish: Wish, thing: str) -> bool:
    """Return whether the thing of a parted wish takes a verb in the plural."""
    first = re.match(r'\{(\w+)\}', thing)
    return re.search(r'(?<!s)s$', thing) is not None or (first is not None and any(a.key == first.group(1) and a.kind == 'plural' for a in wish.tool.skill.args))
