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
Skills around invented words that the declaration or the system text defines.

The sentence says the word, inflected at times, or only what it means, in other words than the
definition's. Words of one catalogue may differ in one letter only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
import random

from demo_data import coined
from demo_data import procedural
from demo_data.procedural import inflected
from demo_data.skills import Arg
from demo_data.skills import Skill

# What an invented noun may mean, each in several ways.
NOUNS = tuple(tuple(line.split('|')) for line in """
small blue crate|little crate in blue|blue crate of small size
tall green bottle|high bottle in green|green bottle that is tall
square metal tray|tray of metal with four equal sides|metal tray in the form of a square
machine that folds towels|towel folding machine|device for folding towels
lamp above the sink|lamp that hangs over the sink|light over the washbasin
cart with three wheels|three-wheeled cart|cart that runs on three wheels
bag full of sand|sandbag|sack filled with sand
gate behind the barn|gate at the back of the barn|barn's rear gate
pump for rain water|rain water pump|pump that moves rain water
box without a lid|open box|box that has no lid
rope of ten metres|ten metre rope|rope that is ten metres long
door that leads to the roof|roof door|door to the roof
chair for children|child's chair|chair that children sit on
ladder made of wood|wooden ladder|ladder that is made from wood
oven that burns wood|wood-fired oven|oven heated by wood
fan in the ceiling|ceiling fan|fan up there in the ceiling
shelf on the left|left shelf|shelf at the left side
drawer at the bottom|bottom drawer|lowest drawer
bell at the entrance|entrance bell|bell by the front door
camera on the mast|mast camera|camera that sits on the mast
tank that holds the fuel|fuel tank|tank for fuel
brush with a long handle|long-handled brush|brush whose handle is long
plate with a crack|cracked plate|plate that has a crack
bed for plants|plant bed|bed where plants grow
clock that shows two times|two-time clock|clock with two times on it
hose that is leaking|leaky hose|hose with a leak
drum of yellow paint|yellow paint drum|drum that holds yellow paint
basket for letters|letter basket|basket that letters go into
wheel in front|front wheel|foremost wheel
mat that keeps you dry|dry mat|mat against wet feet
table that can be folded|folding table|foldable table
cup for the dice|dice cup|cup in which dice are shaken
sensor that counts people|people counter|sensor for counting people
screen at the ceiling|ceiling screen|screen that hangs from the ceiling
motor of the lift|lift motor|motor that drives the lift
valve for hot water|hot water valve|valve that lets hot water through
case for the violin|violin case|case in which a violin travels
bench under the tree|bench beneath the tree|tree bench
pile of old tyres|old tyre pile|heap of used tyres
cage for the birds|bird cage|cage that birds live in
cover of the pool|pool cover|cover that lies over the pool
heater in the greenhouse|greenhouse heater|heater of the glass house
sign that says no entry|no-entry sign|sign against entering
spare battery pack|battery pack in reserve|second battery pack
roll of red tape|red tape roll|roll with red tape on it
barrel with apples|apple barrel|barrel of apples
mirror on wheels|mirror with wheels|wheeled mirror
glass for the juice|juice glass|glass that juice is served in
jar of screws|screw jar|jar with screws in it
filter for the air|air filter|filter that cleans the air
blanket of wool|woollen blanket|wool blanket
robot that mows|mowing robot|robot for mowing
platform that turns|turning platform|rotating platform
arm with a magnet|magnet arm|arm that ends in a magnet
""".strip().split('\n'))
# What an invented verb may mean, `{o}` being what it is done to.
DEEDS = tuple(tuple(line.split('|')) for line in """
turn {o} upside down|flip {o} over|put {o} on its head
paint {o} red|give {o} a red coat|colour {o} red
wrap {o} in paper|put paper around {o}|pack {o} into paper
weigh {o} twice|put {o} on the scales two times|find the weight of {o} two times
push {o} against the wall|move {o} up to the wall|shove {o} until it touches the wall
hide {o} under a cloth|put a cloth over {o}|cover {o} with a cloth
cut {o} in half|halve {o}|divide {o} into two halves
fill {o} with water|put water into {o}|pour water in {o}
shake {o} three times|give {o} three shakes|rattle {o} thrice
dry {o} with warm air|blow warm air over {o}|use warm air to dry {o}
mark {o} with a cross|put a cross on {o}|draw a cross on {o}
count the holes in {o}|find how many holes {o} has|tell the number of holes in {o}
bring {o} to the roof|carry {o} up to the roof|take {o} onto the roof
leave {o} in the sun|put {o} where the sun shines|let {o} lie in the sun
tie {o} to a post|fasten {o} to a post|bind {o} on a post
cool {o} with ice|put ice on {o}|lay ice around {o}
roll {o} to the side|move {o} aside by rolling|let {o} roll sideways
rub {o} with oil|oil {o} by rubbing|spread oil over {o}
knock on {o} twice|give {o} two knocks|tap {o} two times
look at {o} from above|view {o} from the top|take a look at {o} from over it
stack {o} on a pallet|put {o} onto a pallet|pile {o} up on a pallet
tell the price of {o}|say what {o} costs|name the price of {o}
send a picture of {o}|photograph {o} and send that|transmit an image of {o}
give {o} a new label|relabel {o}|put another label on {o}
drive around {o} once|circle {o} one time|go once round {o}
put {o} into the cupboard|store {o} in the cupboard|shut {o} away in the cupboard
wash {o} without soap|clean {o} with water alone|rinse {o}, no soap
hang {o} on a hook|put {o} on a hook|let {o} hang from a hook
warm {o} up slowly|heat {o} bit by bit|make {o} warm little by little
test {o} for leaks|see whether {o} leaks|look for leaks in {o}
scan {o} from all sides|make a full scan of {o}|scan the whole of {o}
throw {o} into the bin|bin {o}|put {o} in the rubbish
swap {o} for a new one|replace {o} by a new one|exchange {o} for a new one
lift {o} above your head|raise {o} overhead|hold {o} high over your head
sprinkle {o} with sugar|put sugar on {o}|strew sugar over {o}
listen to {o} for a while|hear what {o} sounds like|lend an ear to {o}
""".strip().split('\n'))
# What an invented word for a manner may mean.
MANNERS = tuple(tuple(line.split('|')) for line in """
very slowly|at a crawl|as slowly as you can
as fast as possible|at top speed|with all speed
with both hands|two-handed|using the two hands
without any noise|silently|in full silence
in the dark|with no light|while it is dark
three times over|thrice|three times in a row
backwards|in reverse|from the end to the start
only halfway|by half|just the half of it
with great care|very carefully|taking good care
on battery power|from the battery|with power of the battery
in small pieces|bit by bit|piece after piece
from the left side|starting at the left|beginning on the left
from above|from the top|coming from over it
under water|below the surface|beneath the water
with a warm nozzle|nozzle warm|the nozzle being warm
against the clock direction|counterclockwise|left-handed round
at night|after dark|during the night
with an assistant|together with somebody|helped by somebody
with the window open|while the window is open|open window
in two layers|layer on layer, two of them|double-layered
""".strip().split('\n'))
_NOUN_IS = (
    'A "{w}" is {a}.', 'A {w} is {a}.', '{W}: {d}.', 'By {w} we mean {a}.', '{W} is our word for {a}.', 'Here "{w}" stands for {a}.', 'The {d} is called the {w}.', '{W} = {d}.',
    'We call the {d} a {w}.', '"{W}" is what the crew calls the {d}.', 'What others call {a} is a {w} here.', 'The word {w} names {a}.', 'Note that a {w} means {a}.', 'The {w} is the {d}.', '{W}s are what we call every {d}.',
    'If you hear "{w}", think of {a}.', 'In our house {a} goes by the name of {w}.', "'{w}' means {d}.", 'You will see {a}: that is the {w}.', '{w} (noun): {a}.',
)
_VERB_IS = (
    'To {w} means to {d}.', '{G} means {g}.', '"{W}" is to {d}.', '{W}: {d}.', 'To {w} is to {d}.', '{G} is {g}.', 'In this shop, to {w} is to {d}.', 'When we {w}, we {d}.', '{W} = {d}.', 'By {g2} we mean {g}.',
    'We say {w} for: {d}.', "'{w}' stands for {g}.", 'Who {s}, will {d}.', '{w} (verb): to {d}.', 'If you are told to {w}, then {d}.', 'The word {w} means to {d}.', 'People here say "{w}" when they want you to {d}.', 'What we call {g2} is {g}.',
)
_OF_NOUN = ('{V} the {w}.', '{V} the {w}.', 'For {g} the {w}.', 'The robot {s} the {w}.', 'Gets the {w} {p}.', 'Used to {v} the {w}.', '{S} the {w}.', 'Lets the robot {v} the {w}.')
_OF_VERB = ('{W} {o}.', '{W} {o}.', 'For {g} {o}.', 'The robot {s} {o}.', 'Gets {o} {p}.', 'Used to {w} {o}.', '{S} {o}.', 'Lets the robot {w} {o}.', 'Starts {g} {o}.')
_VERB_FRAMES = (
    '{w} {o}', '{w} {o}', '{w} {o}', '!I want {o} {p}', '!{o} needs {g}', '!{o} must be {p}', 'give {o} a {w}', '!a {w} for {o}', 'do the {w} thing with {o}', '!{g}, please: {o}', '!{o} is not {p} yet', '!can you {w} {o}?', 'start {g} {o}',
    '!it is time for {g} {o}', 'get {o} {p}', 'go {w} {o}', 'have {o} {p}', '!{o} wants a good {g}', 'do some {g} on {o}', '!would you {w} {o}?', '!let us {w} {o}', '!{o}: {w} it', 'use {w} on {o}', 'run {w} on {o}', '!I need {o} {p}', '!{o} should be {p}', 'perform a {w} on {o}', '!my wish is {g} {o}',
)
_COUNTED = ('{v} {count} {ws}', '{v} {count} {ws}', '!I need {count} {ws}, {v} them', '!{count} {ws}: {v} them', '!{v} {ws}, {count} of them', '!we want {count} {ws} {p}', '!{count} {ws} have to be {p}', '{v} exactly {count} {ws}', '!could you {v} {count} {ws}?')
_HOW = ('{t}, {which}', '{t} {which}', '{t} the {which} way', '{t} in {which} mode', '{t} - {which}', '{t}, but {which}', '{t} and do it {which}')


def _one(noun: str) -> str:
    return f'{"an" if noun[0] in "aeiou" else "a"} {noun}'


def _meaning(rng: random.Random, word: str, text: str) -> str:
    """Define a noun."""
    return rng.choice(_NOUN_IS).format(w=word, W=word.capitalize(), d=text, a=_one(text))


def _deed(rng: random.Random, word: str, deed: str) -> str:
    """Define a verb."""
    told = deed.replace('{o}', rng.choice(('it', 'something', 'a thing')))
    return rng.choice(_VERB_IS).format(w=word, W=word.capitalize(), d=told, g=inflected(told, 'g'), g2=inflected(word, 'g'), G=inflected(word, 'g').capitalize(), s=inflected(word, 's'))


def _described(rng: random.Random, about: str, told: str) -> tuple[str, tuple[str, ...]]:
    """Put a definition into the system text (returned first), or into the descriptions."""
    if rng.random() < 0.3:
        return told, (about,)
    lower = told[:1].lower() + told[1:].rstrip('.')
    return '', (f'{told} {about}', f'{about} {told}', f'{about.rstrip(".")} ({lower}).')


def words_of(rng: random.Random, count: int) -> list[str]:
    """Invent words for one catalogue, at times in one letter different."""
    word = coined.coin(rng)
    found = [word]
    close = rng.random() < 0.35
    while len(found) < count:
        other = coined.alike(rng, word) if close else coined.coin(rng)
        if other not in found and len(other) > 2:
            found.append(other)
    return found


def draw_defined(rng: random.Random, count: int) -> list[Skill]:
    """Make skills of one catalogue around invented words of one or of several sorts."""
    words = words_of(rng, count)
    makers = [_on_noun, _on_noun, _by_verb, _by_verb, _by_verb_open, _counted]
    same = rng.choice(makers) if rng.random() < 0.5 else None
    if same is _by_verb_open:
        same = _by_verb
    nouns, deeds = rng.sample(NOUNS, count), rng.sample(DEEDS, count)
    group = rng.choice(procedural.GROUPS)
    found, is_open = [], False
    for word, noun, deed in zip(words, nouns, deeds, strict=True):
        make = same or rng.choice(makers)
        if make is _by_verb_open and is_open:
            make = _by_verb
        is_open = is_open or make is _by_verb_open
        verbs = group if same is not None else rng.choice(procedural.GROUPS)
        found.append(make(rng, word, noun, deed, verbs))
    return found


def draw_one(rng: random.Random) -> Skill:
    """Make one skill around an invented word that its own description defines."""
    while True:
        skill = draw_defined(rng, 1)[0]
        if not skill.gloss:
            return skill


def _near(*verbs: str) -> tuple[str, ...]:
    return tuple(f'v:{v.split()[0]}' for v in verbs)


def _on_noun(rng: random.Random, word: str, noun: Sequence[str], _: Sequence[str], verbs: tuple[str, ...]) -> Skill:
    """A deed on a thing that has an invented name."""
    verb = rng.choice(verbs)
    about = rng.choice(_OF_NOUN).format(V=verb.capitalize(), v=verb, w=word, g=inflected(verb, 'g'), s=inflected(verb, 's'), S=inflected(verb, 's').capitalize(), p=inflected(verb, 'd'))
    gloss, abouts = _described(rng, about, _meaning(rng, word, noun[0]))
    things = [f'the {word}'] * 4 + [f'the {each}' for each in noun] * 2
    says = tuple(procedural.frame(rng, rng.choice((verb, verb, *verbs)), thing) for thing in things)
    first = verb.split()[0]
    skill = Skill(f'p:d:{word}', (f'{first}_{word}', word, f'{word}_{first}', f'{word}_job'), abouts, says, near=_near(*verbs, word), gloss=gloss)
    return _with_manner(rng, skill) if rng.random() < 0.3 else skill


def _by_verb(rng: random.Random, word: str, noun: Sequence[str], deed: Sequence[str], _: tuple[str, ...]) -> Skill:
    """An invented deed on a certain thing."""
    thing = f'the {rng.choice(noun)}' if rng.random() < 0.5 else f'the {coined.coin(rng)}'
    skill = _verbal(rng, word, deed, thing, thing)
    return _with_manner(rng, skill) if rng.random() < 0.3 else skill


def _by_verb_open(rng: random.Random, word: str, _: Sequence[str], deed: Sequence[str], __: tuple[str, ...]) -> Skill:
    """An invented deed on any thing."""
    skill = _verbal(rng, word, deed, rng.choice(('an object', 'a thing', 'something', 'what is named')), '{what}')
    names = ('what', 'object', 'item', 'target', 'it', 'thing', inflected(word, 'd'), f'{word}_what')
    return replace(skill, args=(Arg('what', 'object', names, (f'What to {word}.', f'The thing to be {inflected(word, "d")}.', 'Which thing.', f'Object for the {inflected(word, "g")}.')),))


def _verbal(rng: random.Random, word: str, deed: Sequence[str], about: str, thing: str) -> Skill:
    forms = {'w': word, 'g': inflected(word, 'g'), 's': inflected(word, 's'), 'p': inflected(word, 'd')}
    text = rng.choice(_OF_VERB).format(W=word.capitalize(), S=forms['s'].capitalize(), o=about, **forms)
    gloss, abouts = _described(rng, text, _deed(rng, word, deed[0]))
    says = [rng.choice(_VERB_FRAMES).format(o=thing, **forms) for _ in range(9)]
    said = rng.choices(deed, k=6)
    says += [rng.choice(('{t}', '{t}', '!can you {t}?', '!I want you to {t}', '!please {t}', '!somebody should {t}', '!it is time to {t}')).format(t=each.replace('{o}', thing)) for each in said]
    verbs = [each.split()[0] for each in deed]
    return Skill(f'p:d:{word}', (word, f'{word}_it', f'do_{word}', forms['g'], f'{word}_tool'), abouts, tuple(says), near=_near(*verbs, word), gloss=gloss)


def _counted(rng: random.Random, word: str, noun: Sequence[str], _: Sequence[str], verbs: tuple[str, ...]) -> Skill:
    """A deed on some number of things that have an invented name."""
    verb = rng.choice(verbs)
    plural = f'{word}es' if word.endswith(('s', 'x', 'z', 'ch', 'sh')) else f'{word}s'
    about = rng.choice(('{V} a number of {ws}.', 'For {g} {ws}.', '{S} {ws}, as many as told.', 'Used to {v} some {ws}.')).format(
        V=verb.capitalize(), S=inflected(verb, 's').capitalize(), v=verb, g=inflected(verb, 'g'), ws=plural)
    gloss, abouts = _described(rng, about, _meaning(rng, word, noun[0]))
    says = tuple(rng.choice(_COUNTED).format(v=rng.choice((verb, *verbs)), p=inflected(verb, 'd'), count='{count}', ws=plural) for _ in range(8))
    arg = Arg('count', 'integer', ('count', 'number', 'n', 'how_many', 'amount', plural), ('How many.', f'Number of {plural}.', f'How many {plural}.'), low=1, high=rng.choice((6, 10, 12, 20, 50, 99)))
    return Skill(f'p:d:{word}', (f'{verb.split()[0]}_{plural}', plural, f'{word}_batch'), abouts, says, (arg,), near=_near(*verbs, word), gloss=gloss)


def _with_manner(rng: random.Random, skill: Skill) -> Skill:
    """Add an argument whose invented choices its description defines."""
    found = rng.sample(MANNERS, rng.randint(2, 4))
    words = words_of(rng, len(found))
    told = '; '.join(rng.choice(('{w} = {d}', '{w}: {d}', '{w} means {d}', '{w} ({d})')).format(w=w, d=d[0]) for w, d in zip(words, found, strict=True))
    spoken = {w: (w, w, *d) for w, d in zip(words, found, strict=True)}
    names = ('manner', 'way', 'how', 'mode', 'style', coined.coin(rng))
    arg = Arg('which', 'choice', names, (f'How: {told}.', f'{told}.', f'One of {told}.'), rng.random() < 0.6, choices=tuple(words), spoken=spoken, keeps_all=True)
    plain = [t for t in skill.says if not t.startswith('!')]
    if not plain:
        return skill
    more = tuple(rng.choice(_HOW[:2] + _HOW[4:]).replace('{t}', t) for t in rng.choices(plain, k=10))
    says = (*skill.says, *more) if arg.optional else more
    return replace(skill, args=(*skill.args, arg), says=says)
