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

"""What people say to a robot with the demo's own skills: stops with a reason, texts that only a wish implies, and what it cannot do."""

from __future__ import annotations

import random

from demo_data import speech
from demo_data import values
from demo_data.cases import ask
from demo_data.cases import call
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import IDLE
from demo_data.cases import no_action
from demo_data.cases import NO_TOOL
from demo_data.cases import STOP_CALL
from demo_data.catalogues import Book
from demo_data.catalogues import changed_book
from demo_data.catalogues import demo_book
from demo_data.catalogues import home_book
from demo_data.phrases import expand
from demo_data.phrases import parted
from demo_data.phrases import Said
from demo_data.phrases import slots_of
from demo_data.skills import DEMO_SKILLS
from demo_data.wishes import put
from demo_data.wishes import say_choice

_KEYS = frozenset(s.key for s in DEMO_SKILLS)
_HALTS = ('stop', 'stop', 'stop', 'stop', 'halt', 'freeze', 'stop it', 'stop now', 'stop at once', 'hold it', 'stand still', 'stop right there', 'wait, stop', 'no, stop', 'whoa, stop', 'hey, stop', 'brake', 'stop moving', 'do not move', "don't move", 'stop this instant', 'stop, stop', 'oh no, stop', 'stop driving', 'hold still', 'stay there, do not move', 'hold on, stop', 'stop for heaven\'s sake', 'stop dead', 'not another inch', 'not one step more', 'enough, stop', 'ouch, stop', 'careful, stop', 'look out, stop', 'watch it, stop', 'emergency stop')
_REASONS = parted("""
there is a [child|cat|person|baby|man|woman|toddler|wheelchair|bike|ladder|step|hole|puddle] [in the way|in front of you|right behind you|on the floor|under your wheels|next to you|ahead]
a [child|cat|man|kid|boy|girl|cable|ball|toddler|pram|glass|ladder]|you are [hitting|scratching|touching|about to hit|too close to|driving into|running into|pulling down] the [wall|door|table|shelf|glass|plant|cupboard|curtain|window]
mind the [stairs|glass|step|child|edge|cable|baby|paint|plant|old lady]|you will [fall|tip over|break it|hurt somebody|run me over|crush my foot|get stuck|knock it over|spill everything]|that is my [foot|hand|hair|coat|toe|finger]
somebody [is lying there|fell|slipped|is coming|is on the floor|is right there|got hurt]|[my|her|his] [foot|hand|sleeve|finger|coat] is [stuck|caught|in there|under your wheel]|I am [under|behind|in front of|right beside] you
something is [wrong|burning|broken|smoking|leaking|falling down|rattling]|it is [falling|slipping|breaking|dangerous|too dangerous|not safe|going to fall|on fire]|people are [coming|crossing|in the way]|the [floor is wet|door is closing|stairs begin there|lift is not there|box is slipping|glass is breaking|cable is under your wheel]
this is [dangerous|an emergency|the wrong way|not safe|far too fast]|you are [too fast|going the wrong way|out of control|on my foot|hurting me|blocking the exit]|there are [children|people|wires|stairs|cables|steps|guests] [there|ahead|in front of you|behind you|everywhere]
the [dog|cat|baby|child|old man|postman] is [in the way|right there|behind you|asleep there|running towards you]|I [fell|dropped my glasses there|cannot get out of the way|said stop]|a car is coming|that is glass|not on the carpet|you drag a cable|wet paint
""")
_WARNINGS = parted("""
watch out!|look out!|look out, {r}!|watch out, {r}!|careful, {r}!|mind out, {r}!|not one step further!|not an inch further!|not a step more!|everybody freeze!|that is far enough!|and freeze!|stop the show!|hands off, stop!|stay!|stay put!|stay right there!|stand still, I said!|will you stop!|can you please stop?
would you stop that at once!|please stop now!|stop, for God's sake!|I said stop!|I want you to stop!|you must stop right away!|you have to stop!|stop, please, {r}!|quick, stop!|stop quickly, {r}!|stoooop!|STOP!!!|stop stop!|hey! stop!|hey, {r}, stop!|{r}, stop!|{r}! stop!|oh no, {r}, stop!|attention, {r}, stop!|danger! {r}!
hold your horses!|cut it out, stop!|pull the brake!|slam on the brakes!|full stop!|everything off, now!|kill the motors!|motors off!|arms down, stop everything!|abort, {r}!|abort, abort!|cancel that, {r}!|cancel everything, {r}!|break it off, {r}!|leave it, stop everything!|drop everything and stop!|do not go any further!|no further!
do not move a muscle!|don't you move!|nobody moves, you neither!|back off? no, just stop!|halt, who goes there? stop!|stop what you are at!|quit it, stop!|knock it off and stop!|desist!|come to a stop!|come to a standstill!|bring yourself to a halt!|make a full stop!|pause? no, stop it all!|that is enough, stop!|stop here!|stop there!|stop before {r}!
""")
# What is to be said, where only the wish tells it.
_SPOKEN = tuple(line.split(' = ') for line in """
wish {p} [a |]good morning = good morning
wish {p} a nice day = nice day
wish {p} a [pleasant|lovely] evening = good evening
wish {p} good night = good night
wish {p} a happy birthday = happy birthday
wish {p} [a |]merry Christmas = merry Christmas
wish {p} good luck = good luck
wish {p} all the best = all the best
wish {p} a safe journey = safe journey
wish {p} [a |]bon appetit = bon appetit
bid {p} [good night|farewell and good night] = good night
bid {p} good evening = good evening
bid {p} welcome = welcome
greet {p} = hello
greet {p} [nicely|warmly|politely|for me|from me] = hello
say hello to {p} = hello
say hi to {p} = hi
say good morning to {p} = good morning
say goodbye to {p} = goodbye
say thank you to {p} = thank you
say sorry to {p} = sorry
say bye to {p} = bye
say cheers to {p} = cheers
tell {p} good night = good night
tell {p} [hello|hello from me] = hello
welcome {p} = welcome
give {p} a [warm |friendly |]welcome = welcome
thank {p} = thank you
thank {p} [for me|in my name|from all of us] = thank you
apologise to {p} = sorry
say [that |]you are sorry to {p} = I am sorry
congratulate {p} = congratulations
ask {p} to be quiet = please be quiet
ask {p} to [wait|wait here] = please wait
ask {p} to sit down = please sit down
ask {p} to come in = please come in
ask {p} to step aside = please step aside
ask {p} to make room = please make room
ask {p} to hurry = please hurry
ask {p} to follow you = please follow me
ask {p} to leave the room = please leave the room
ask {p} to close the door = please close the door
ask {p} to take a seat = please take a seat
ask {p} to speak up = please speak up
ask {p} [whether|if] they need help = do you need help?
ask {p} how they are = how are you?
ask {p} for their name = what is your name?
ask {p} what time it is = what time is it?
""".strip().split('\n'))
_HEARERS = ('the visitors', 'the guests', 'everybody', 'everyone', 'them', 'her', 'him', 'us', 'the children', 'the class', 'the team', 'the audience', 'my parents', 'the ladies', 'the customers', 'the people over there', 'my colleagues', 'the new one', 'the gentleman', 'the crowd', 'the crew', 'the boys', 'all of them', 'my wife', 'the neighbours', 'the patients', 'the group', 'those two', 'the lady')
_REPORTS = parted("""
tell {p} {t}|tell {p} that {t}|tell {p}, {t}|please tell {p} {t}|let {p} know that {t}|let {p} know {t}|inform {p} that {t}|give {p} the message that {t}|pass it on to {p}: {t}|pass on to {p} that {t}|!{p} should know that {t}|!{p} should hear this: {t}|!{p} must be told that {t}|!could you tell {p} that {t}
announce that {t}|announce: {t}|make it known that {t}|remind {p} that {t}|warn {p} that {t}|explain to {p} that {t}|point out to {p} that {t}|mention to {p} that {t}|tell {p} from me that {t}|!I want {p} to know that {t}|!I want {p} to hear that {t}|spread the word that {t}|say loudly that {t}|say aloud that {t}
call out that {t}|shout that {t}|say over the speaker that {t}|announce to {p} that {t}|break it to {p} that {t}|assure {p} that {t}|promise {p} that {t}|repeat that {t}|say once that {t}|say in a clear voice: {t}|!a message for {p}: {t}|!an announcement, please: {t}|!this is for {p}, say it: {t}|use your speaker: {t}
say "{t}"|shout "{t}"|call "{t}"|tell {p} "{t}"|!the words are "{t}", say them|whisper "{t}" to {p}|say the following to {p}: {t}|!would you say "{t}" to {p}?|!I would like you to say "{t}"|speak these words: {t}|!let me hear you say "{t}"|!can you say {t}
""")
_FACTS = parted("""
lunch is ready|the [shop|museum|bar|hall|office|pool] [closes|opens] [soon|at {n}|in {n} minutes]|the lift is [broken|working again|out of order]|the [tour|talk|show|lesson|film] [starts|begins|ends] [now|soon|in {n} minutes|at {n}]|there is [cake|coffee|tea|soup] in {place}|we are [closing|leaving|late|ready|done]
{person} is [waiting outside|on the phone|here|late|in {place}]|the [taxi|bus|parcel|doctor|guest|plumber] [is here|has come|is waiting|is late]|dinner is at {n}|the floor is [wet|slippery]|I will be [late|back soon|in {place}|there in {n} minutes]|the [exit|toilet|bar|cloakroom] is [on the left|on the right|down the hall|behind you]
the meeting is [over|cancelled|moved to {place}|at {n}]|the printer works again|it is time to go|somebody left [a bag|a coat|the lights on]|the [match|game] ended {n} to {n2}|it is raining|nobody may enter {place}|photos are not allowed|the doors are locked|there is room for {n} more|we need {n} volunteers|I am proud of you
""")
_BEYOND = parted("""
clean {place}|mop {place}|paint {place}|heat {place}|lock {place}|tidy up {place}|air {place}|decorate {place}|vacuum {place}|turn on the light in {place}|switch off the lamp in {place}|open the window in {place}|close the door of {place}|measure {place}|photograph {place}|!how warm is it in {place}? Measure it|!{place} is dirty, scrub it
unlock the door of {place}|water the plants in {place}|empty the bin in {place}|count the chairs in {place}|repair {object}|wash {object}|open {object}|throw {object} at the wall|cut {object} in two|weigh {object}|peel {object}|sell {object}|paint {object} blue|sharpen {object}|fold {object}|break {object}|heat {object} up|fill {object} with water
shake {object}|polish {object}|screw {object} together|photograph {object}|make me a sandwich|brew a pot of tea|pour me a glass of wine|cut my hair|play a waltz|turn up the radio|send an email to {person}|phone {person}|text {person}|book a table for two|set an alarm for {n} o'clock|!what is the weather like in Rome? Look it up|take a picture of us
massage my back|hug {person}|shake hands with {person}|follow {person}|arrest {person}|carry me on your back|climb onto the roof|swim across the pool|jump over the fence|dance a tango|play cards with me|fly a lap|dig a hole|mow the grass|walk the dog|feed the goldfish|milk the cow|bake a cake|fry some eggs|change a light bulb|drill a hole
play hide and seek with the kids|solve my crossword|do my homework|write {person} a letter|translate this into French|search the web for {object}|order {object} online|print {n} copies|scan this page|turn down the heating|start the dishwasher|do the laundry|iron my shirts|make the bed|sweep the stairs|shovel the snow
""")
_IDLE = parted("""
!{place} was [painted|cleaned|renovated|locked|full] [yesterday|last week|this morning]|!I was in {place} [all day|before you came|a minute ago]|!{place} is [crowded|lovely|too small for us|my favourite room|empty today|where I work]|!my [coffee|tea|soup] is cold|!{person} picked up the [parcel|kids|mail|keys] [herself|himself|already|this morning]
!we are all tired today|!I am tired|!I am going home now|!I charged my phone|!my phone battery is [low|empty|at {n} percent]|!my car needs charging|!the bus stopped [outside|at {place}]|!{person} put the [cup|box|book|keys] down [somewhere|in {place}]|!I put it on the shelf [myself|already]|!{person} said good morning [to me|already]
!{person} told me [that the shop is closed|everything|a joke]|!she lives next to {place}|!the way to {place} is long|!I can find {place} by myself|!I know where {place} is|!{person} brought me to {place} this morning|!we walked to {place} together|!I used to work in {place}|!they moved {place} upstairs|!you brought me here yesterday, thank you
!that is a heavy box|!what a pretty cup|!{object} is mine|!I lifted it myself|!I will carry it, thanks|!no need to pick that up|!the charger is new|!your charger stands in {place} now|!you charged all night|!your battery lasts long|!I heard you talking to {person}|!you have a nice voice|!you speak very clearly|!nobody said anything
!the child was quick|!we nearly had an accident yesterday|!that was close, well done|!you stopped just in time|!good that you stopped|!the stop button is red|!{person} never stops talking|!stopping here was a good idea|!I freeze, it is cold in here|!hold on, I have to think|!wait, let me see|!one moment, please|!just a second
""")


def all_texts() -> list[str]:
    """Return all sentences of the tables, for tests."""
    return [*_HALTS, *_REASONS, *_WARNINGS, *(line[0] for line in _SPOKEN), *_REPORTS, *_FACTS, *_BEYOND, *_IDLE]


def demo_like(rng: random.Random) -> Book:
    """Draw the demo's own catalogue, or one of its skills in other words."""
    roll = rng.random()
    return demo_book() if roll < 0.35 else home_book(rng) if roll < 0.85 else changed_book(rng)


def halt(m: CaseMaker) -> Case:
    """Everything shall stop, for a reason that names people and things."""
    rng = m.rng
    reason = expand(rng, rng.choice(_REASONS))
    roll = rng.random()
    if roll < 0.35:
        text = rng.choice(_WARNINGS).replace('{r}', reason)
    else:
        word = rng.choice(_HALTS)
        text = rng.choice(('{h}, {r}', '{h}, {r}', '{h}, {r}', '{h}! {R}', '{h}! {R}', '{h}. {R}', '{h} - {r}', '{R}, {h}', '{R}! {h}', '{h}', '{h} because {r}', 'oh, {r}, {h}', '{h}, {h}, {r}')).format(h=word, r=reason, R=reason[:1].upper() + reason[1:])
        text += rng.choice(('', '!', '!', '!', '.', '!!'))
    roll = rng.random()
    text = text[:1].upper() + text[1:] if roll < 0.7 else text.upper() if roll < 0.8 else text
    return Case('stop', speech.misspell(rng, text) if rng.random() < 0.08 else text, STOP_CALL)


def spoken(m: CaseMaker) -> Case | None:
    """A text that is to be said: reported, quoted, or told only by what is wished."""
    rng = m.rng
    tool = m.book.by_skill('say')
    if tool is None or 'text' not in tool.slots or tool.required() != {'text'}:
        return None
    hearer = rng.choice(_HEARERS) if rng.random() < 0.75 else values.person(rng)
    if rng.random() < 0.4:
        template, text = rng.choice(_SPOKEN)
        said = Said(expand(rng, template).replace('{p}', '{hearer}'), {'hearer': hearer}, True, frozenset(('hearer',)))
    else:
        text = speech.free(rng, rng.choice(_FACTS)).plain if rng.random() < 0.6 else values.text(rng)
        text = text[:120].rstrip('.')
        template = rng.choice(_REPORTS)
        if '"' in text or "'" in text:
            return None
        said = Said(template.lstrip('!').replace('{p}', '{hearer}').replace('{t}', '{text}'), {'hearer': hearer, 'text': text}, not template.startswith('!'), frozenset(('hearer', 'text')))
        said = Said(said.template, {k: v for k, v in said.values.items() if k in slots_of(said.template)}, said.is_imperative, said.fixed & slots_of(said.template))
    arguments: dict[str, object] = {}
    put(arguments, tool.slots['text'].path, text)
    return Case('command', m.say(said, noise=0.4), call((tool.name, arguments)))


def unable(m: CaseMaker) -> Case | None:
    """What the demo's skills cannot do, said of their own places and things."""
    if not _is_home(m):
        return None
    return Case('unavailable', m.say(_placed(m, m.rng.choice(_BEYOND)), noise=0.4), ask(NO_TOOL))


def remarked(m: CaseMaker) -> Case | None:
    """A remark on the places, things and deeds of the demo's robots."""
    if not _is_home(m):
        return None
    return Case('chat', m.say(_placed(m, m.rng.choice(_IDLE)), noise=0.4, polite=False), no_action(IDLE))


def _is_home(m: CaseMaker) -> bool:
    return bool(m.book.tools) and all(t.skill.key in _KEYS and t.side is None for t in m.book.tools)


def _placed(m: CaseMaker, template: str) -> Said:
    """Say a sentence with a place that the robot knows, where it knows some."""
    said = speech.free(m.rng, template)
    tool = m.book.by_skill('go_to')
    told = {k: v for k, v in said.values.items() if k in slots_of(said.template)}
    slot = tool.slots.get('place') if tool is not None else None
    if tool is not None and slot is not None and slot.choices and 'place' in told and m.rng.random() < 0.8:
        told['place'] = say_choice(m.rng, tool.skill.args[0], slot, m.rng.choice(tuple(slot.choices)))
    return Said(said.template, told, said.is_imperative)
