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

"""Deeds of other people, and what is true of things and places that tools know: nothing is asked."""

from __future__ import annotations

from dataclasses import replace
import random
import re

from demo_data import values
from demo_data.cases import call
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import IDLE
from demo_data.cases import no_action
from demo_data.phrases import join
from demo_data.procedural import inflected
from demo_data.wishes import say_choice

_ROLES = """
the porter|the caretaker|the janitor|the cleaner|the night porter|the head waiter|the cook|the chef|the dishwasher|the barkeeper|the butcher|the baker|the grocer|the postman|the courier|the driver|the bus driver|the pilot|the captain|the first mate|the stoker|the engineer|the foreman|the electrician|the plumber
the carpenter|the painter|the roofer|the welder|the mechanic|the fitter|the crane operator|the forklift driver|the warehouse man|the storekeeper|the shop assistant|the cashier|the tailor|the hairdresser|the gardener|the florist|the farmer|the shepherd|the milkmaid|the beekeeper|the winegrower|the forester|the hunter|the fisherman|the vet
the nurse|the night nurse|the ward sister|the doctor|the surgeon|the dentist|the midwife|the pharmacist|the lab assistant|the paramedic|the physiotherapist|the carer|the teacher|the headmaster|the janitor of the school|the librarian|the archivist|the museum guide|the curator|the usher|the stage hand|the conductor|the sound engineer|the lighting man|the dresser
the secretary|the receptionist|the bookkeeper|the lawyer|the manager|the deputy manager|the intern|the trainee|the apprentice|the student|the professor|the landlord|the tenant upstairs|the lodger|the babysitter|the nanny|the au pair|the cleaning lady|the chimney sweep|the window cleaner|the security guard|the policeman|the fireman|the lifeguard|the referee
my colleague|my boss|my assistant|my deputy|my neighbour|my flatmate|my landlady|my wife|my husband|my brother|my sister|my mother|my father|my uncle|my aunt|my cousin|my nephew|my niece|my grandson|my granddaughter|my grandmother|my grandfather|my son|my daughter|my best friend
our neighbour|our new colleague|our foreman|our boss|our technician|our trainee|our gardener|our caretaker|our eldest|our daughter-in-law|his wife|her husband|her brother|his father|their son|a friend of mine|a colleague of ours|a man from the council|a woman from the agency|a technician from the maker|somebody from the office|some lady|one of the guests|one of the boys|one of the girls
Sister Agnes|Sister Ruth|Brother Paul|Doctor Haas|Doctor Levi|Professor Wirth|Officer Dunn|Captain Reed|Father Brian|Uncle Tom|Aunt May|Grandpa|Grandma|Mum|Dad|Mister Okoye|Miss Lund|Mrs. Abara|Mr. Petrov|Mr. Tanaka|Frau Keller|Herr Braun|Madame Roux|Signora Conti|old Joe
""".replace('\n', '|').strip('|').split('|')
_CALLED = ('nurse', 'waiter', 'doctor', 'porter', 'driver', 'chef', 'captain', 'officer', 'professor', 'Mum', 'Dad', 'Grandma', 'Grandpa', 'boys', 'girls', 'children', 'gentlemen', 'ladies', 'Sister Agnes', 'Uncle Tom', 'Aunt May', 'Mister Okoye', 'Mrs. Abara', 'Frau Keller', 'Doctor Haas', 'young man', 'young lady')
# {p}: somebody; {a}, {s}, {g}, {d}: the deed as base, in the third person, as -ing and as participle.
_DONE_BY_OTHERS = """
{p} {s} today|{p} {s} every morning|{p} always {s}|{p} usually {s}|{p} {s} on weekdays|{p} {s} these days|{p} {s} for us|{p} {s}, as far as I know|{p} {s} for a living|{p} never {s} without a break|normally {p} {s}|on Mondays {p} {s}|as a rule {p} {s}|at home {p} {s}|{p} {s} much better than I do|{p} {s} at noon, not you
{p} is {g}|{p} is just {g}|{p} is {g} right now|{p} is still {g}|{p} is busy {g}|{p} is out there {g}|{p} is already {g}|at the moment {p} is {g}|{p} has been {g} since noon|{p} was {g} when I came in|{p} was seen {g}|I saw {p} {g}|I heard {p} {g}|{p} started {g} an hour ago|{p} began {g} before breakfast|{p} keeps {g} all day|{p} has stopped {g}|{p} has finished {g}|{p} insists on {g} alone|{p} is thinking of {g}|{p} is afraid of {g}|{p} is responsible for {g}
{p} will {a}|{p} will {a} later|{p} will {a} tomorrow|{p} will {a} in the afternoon|{p} will {a} as soon as there is time|{p} is going to {a}|{p} is about to {a}|{p} is supposed to {a}|{p} is expected to {a}|{p} wants to {a} alone|{p} would like to {a} some day|{p} intends to {a}|{p} has offered to {a}|{p} has agreed to {a}|{p} has promised to {a}|{p} has decided to {a}|{p} was asked to {a}|{p} was told to {a}|{p} came to {a}|{p} stayed to {a}|{p} went to {a}
{p} managed to {a}|{p} forgot to {a}|{p} refused to {a}|{p} has to {a} this week|{p} had to {a}|{p} gets paid to {a}|{p} knows how to {a}|{p} is learning to {a}|{p} likes to {a}|{p} hopes to {a} soon|I asked {p} to {a}|I told {p} to {a}|I have asked {p} to {a}|I sent {p} to {a}|I got {p} to {a}|we hired {p} to {a}|we leave it to {p} to {a}|it is up to {p} to {a}|it is for {p} to {a}|let {p} {a}|it was {p} who had to {a}|I watched {p} {a}|we let {p} {a}|I helped {p} {a}
{p} has {d}|{p} has just {d}|{p} has already {d}|{p} has {d}, I think|{p} had {d} by then|{p} must have {d}|{p} may have {d} already|{p} should have {d}|it seems that {p} has {d}|I believe {p} has {d}|I am glad that {p} has {d}|{p} says he has {d}|{p} told me to have {d}
somebody else will {a}|somebody else has {d}|someone is {g} already|the others are {g}|the others will {a}|they are {g} over there|they will {a} tonight|they have {d}|we are {g} ourselves|we will {a} ourselves|I am {g} as we speak|I will be {g} myself|I have {d} myself|I have just {d}, so that is done|I am used to {g} by hand|I do not mind {g} myself
""".replace('\n', '|').strip('|').split('|')
_TO_OTHERS = """
{n}, {a}|{n}, {a}, please|{n}, please {a}|{n}, could you {a}?|{n}, can you {a}?|{n}, would you {a}?|{n}! {a}!|hey {n}, {a}|hello {n}, could you {a}?|excuse me, {n}, could you {a}?|thanks for {g}, {n}|{n}, thank you for {g}|{n}, stop {g}, it is late|{n}, have you {d}?|{n}, you have {d} beautifully|{n}, when will you {a}?|I mean you, {n}: {a}|not you, robot - {n}, {a}|{n}, it is your turn to {a}|{n}, you wanted to {a}, did you not?|come on, {n}, {a}|{n}, dear, {a}|{n}, do not let the robot do it, {a} yourself|go ahead, {n}, {a}|{n}, be a good sport and {a}|{a}, {n}|{a}, {n}, will you?|please {a}, {n}
""".replace('\n', '|').strip('|').split('|')
# Others are named, but the deed is the robot's.
_WANTED = """
{p} wants you to {a}|{p} would like you to {a}|{p} asks if you could {a}|{p} has asked me to have you {a}|{p} is ill, so please {a}|{p} is on holiday, so you have to {a}|{p} has gone home, so {a}|{p} cannot {a} today, so you do it, please|{p} is too busy, please {a}|{p} used to do it, but now you {a}|instead of {p}, you {a}|for {p}, please {a}|on behalf of {p}: {a}|do {p} a favour and {a}|help {p} and {a}|{p} forgot it, so {a}|{p} did not manage it, so you {a}|{p} says that you should {a}|{p} says it is your turn to {a}|{p} told me that you can {a}, so please do|{p} left without doing it. Please {a}|I asked {p}, but he has no time. {a}, please|since {p} is away, {a}|with {p} away, it is you who should {a}|{p} is waiting for you to {a}|{p} needs you to {a}|{p} relies on you to {a}|{p} sent me: you are to {a}|take over from {p} and {a}|as {p} wants it: {a}
""".replace('\n', '|').strip('|').split('|')
# {v}: a value that a tool knows, by the kind of the argument.
_TRUE_OF: dict[str, tuple[str, ...]] = {
    'place': tuple("""
{v} has the best view of all|{v} has just been repainted|{v} gets the morning sun|{v} used to be a stable|{v} was the first to be finished|{v} smells of fresh paint|{v} has a new lock|{v} is the oldest part of the house|{v} is very popular|{v} has its own entrance|{v} is rented out until March|{v} has a new tenant|{v} was checked by the inspector|{v} passed the inspection|{v} is listed|{v} is named after {person}|{v} belongs to {person}
{person} moved out of {v}|{person} has worked in {v} since May|{person} met his wife in {v}|{person} designed {v}|{person} is fond of {v}|we celebrated in {v}|we held the interview in {v}|we signed the contract in {v}|the photo on the wall shows {v}|the plan of {v} hangs in my office|the rent for {v} has gone up|the guests from {v} have left|the guests from {v} were charming|the heating in {v} is as good as new|the floor of {v} is made of oak|{v} has got a name plate
{v} was empty all winter|{v} will be ten years old in June|{v} was on television|{v} is where it all began|{v} is a good address|{v} is bigger than it looks|{v} is quieter than the rest|{v} has seen better days|{v} is worth a visit|{v} is on the other map|{v} costs a fortune|{v} survived the flood|they proposed to each other in {v}|there are new curtains in {v}|there is a story about {v}|everyone admires {v}
""".replace('\n', '|').strip('|').split('|')),
    'object': tuple("""
{v} is thicker than the old one|{v} is heavier than it looks|{v} is on loan from Vienna|{v} is insured|{v} is from my grandfather|{v} came by post|{v} is out of fashion|{v} was in the paper|{v} is made by hand|{v} has a scratch, but who cares|{v} is really beautiful|{v} has a number on the back|{v} has been in the family for ages|{v} is a gift from {person}|{v} is the property of {person}|{person} invented {v}|{person} has the same sort of thing as {v}
{person} gave a talk on {v}|{person} once sold {v}|{person} is proud of {v}|{person} said something funny about {v}|{v} is worth more than my car|{v} is cheaper this year|{v} is sold in three colours|{v} is not what it used to be|{v} was a bargain|{v} was a mistake, I admit|{v} got a good review|{v} tends to squeak|{v} is older than the building|{v} comes from Portugal|{v} can be had everywhere|{v} is all the rage|you handled {v} very well|thanks for the thing with {v}|we are happy with {v}
the maker of {v} has gone bankrupt|the guarantee on {v} has run out|the instructions for {v} are in Dutch|the bill for {v} has been paid|the name of {v} escapes me|the price of {v} has doubled|my neighbour swears by {v}|everybody talks about {v}|I am told that {v} is the best|I had {v} for years|I grew up with {v}|I used to hate {v}|I have read the label of {v}|there was a test of {v} in a magazine
""".replace('\n', '|').strip('|').split('|')),
    'person': tuple("""
{v} has a new job|{v} has been promoted|{v} is the new head nurse|{v} is the youngest of us|{v} won a medal|{v} called in sick|{v} is back from Rome|{v} is engaged|{v} has moved house|{v} checked out an hour ago|{v} was in a good mood|{v} has a birthday in May|{v} runs every morning|{v} plays in a band|{v} is a vegetarian|{v} studied in Graz|{v} is a night owl|{v} has grown a beard|{v} thanks you all|{v} was very kind to me|{v} has broken an arm|{v} hates Mondays
""".replace('\n', '|').strip('|').split('|')),
}
_TRUE_OF |= {'surface': _TRUE_OF['place'], 'plural': (), 'code': _TRUE_OF['place'], 'choice': ()}
_VERB = re.compile('[a-z]{2,}$')
_JOINED = re.compile(r'[,.;:?!"]| and | then | or ')
ODD = ('let', 'be', 'do', 'have', 'make', 'please', 'no', 'now', 'roll', 'not', 'to', 'it', 'the', 'you')
# Verbs whose participle the rules may not give.
STRONG = ('get', 'give', 'write', 'show', 'see', 'read', 'hold', 'build', 'begin', 'come', 'fly', 'forget', 'send', 'speak', 'sing', 'sit', 'stand', 'think', 'wear', 'win', 'ride', 'rise', 'shake', 'steal', 'choose', 'drink', 'eat', 'drive', 'hit', 'spend', 'swim')


def somebody(rng: random.Random) -> str:
    """Name a person, by what he or she is mostly."""
    roll = rng.random()
    return rng.choice(_ROLES) if roll < 0.7 else values.person(rng)


def of_others(m: CaseMaker) -> Case | None:
    """A deed of a tool that somebody else does, did or will do, or is asked for."""
    is_told = m.rng.random() < 0.7
    text = _framed(m, m.rng.choice(_DONE_BY_OTHERS if is_told else _TO_OTHERS))
    return text and Case('to_somebody', text[0], no_action(IDLE))


def for_others(m: CaseMaker) -> Case | None:
    """A wish for the robot that names others."""
    found = _framed(m, m.rng.choice(_WANTED))
    return found and Case('wish', found[0], call(found[1]))


def true_of(m: CaseMaker) -> Case | None:
    """A statement on a value that a tool knows."""
    rng = m.rng
    pairs = [(t, a) for t in m.book.tools for a in t.skill.args if a.key in t.slots and _TRUE_OF.get(a.kind)]
    if not pairs:
        return None
    tool, arg = rng.choice(pairs)
    slot = tool.slots[arg.key]
    value = say_choice(rng, arg, slot, rng.choice(tuple(slot.choices))) if slot.choices else values.draw(rng, arg)[1]
    text = rng.choice(_TRUE_OF[arg.kind]).replace('{person}', somebody(rng)).replace('{v}', value)
    return Case('chat', closed(rng, text), no_action(IDLE))


def _framed(m: CaseMaker, frame: str) -> tuple[str, tuple[str, dict[str, object]]] | None:
    rng = m.rng
    wish = m.wish(imperative=True, quote=True)
    if wish is None or not wish.is_negatable or 'person' in wish.said.values:
        return None
    template = wish.said.template
    verb = template.partition(' ')[0]
    is_turned = re.search(r'\{[sgd]\}', frame) is not None
    is_odd = _JOINED.search(template) or not _VERB.match(verb) or verb in ODD or ('{d}' in frame and verb in STRONG and inflected(verb, 'd').endswith('ed'))
    if (is_turned and is_odd) or verb == 'roll':
        return None
    text = frame.replace('{p}', somebody(rng)).replace('{n}', rng.choice(_CALLED) if rng.random() < 0.5 else values.person(rng))
    for form in 'sgd':
        if f'{{{form}}}' in text:
            text = text.replace(f'{{{form}}}', '{a}')
            wish = replace(wish, said=replace(wish.said, template=inflected(template, form)))
    said = join(text, is_imperative=False, a=wish.said)
    return closed(rng, m.say(said, noise=0.4, polite=False)), wish.call


def closed(rng: random.Random, text: str) -> str:
    """Start with a capital and end with a point, mostly."""
    text = f'{text[:1].upper()}{text[1:]}' if rng.random() < 0.8 else text
    return text if text.endswith(('.', '!', '?')) or rng.random() < 0.15 else f'{text}.'
