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
What tells two tools of the same kind apart: words in descriptions, other words in sentences.

A group holds sides; a tool takes one side, its twin another. Nothing of it is in a tool's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
import random

from demo_data import quantities
from demo_data import rare
from demo_data import sizes
from demo_data.conditions import Condition


@dataclass(frozen=True)
class Side:
    """
    `describes` completes a description; `says` completes a sentence that means this side.

    A side with a `condition` is told by the state alone: sentences say nothing of it.
    """

    describes: tuple[str, ...]
    says: tuple[str, ...]
    condition: Condition | None = None
    truth: bool = True
    word: str = ''


def _side(describes: str, says: str) -> Side:
    return Side(tuple(describes.strip().split('|')), tuple(says.strip().split('|')))


GROUPS: tuple[tuple[Side, ...], ...] = tuple(
    tuple(_side(*side) for side in group) for group in (
        (('with the left arm|left arm only|uses the arm on the left side', 'with your left|using your left hand|on your left side, I mean the hand|with the left one'),
         ('with the right arm|right arm only|uses the arm on the right side', 'with your right|using your right hand|the right hand should do it|with the right one')),
        (('for round things|handles spheres and balls', 'it is a ball|it would roll away|it has no corners|it is shaped like an orange'),
         ('for square things|handles cubes and boxes', 'it has four corners|it is a cube|it is shaped like a brick|it has edges everywhere')),
        (('for cheap goods|for things of little value', 'it costs next to nothing|it is worth a penny|nobody would steal it'),
         ('for valuable goods|for things of great value', 'it cost a fortune|it is made of gold|mind, it is worth thousands|it is priceless')),
        (('for new models|for machines of this year', 'it is the latest model|it came out of the box today|it was built this spring'),
         ('for old models|for machines of the last century', 'it is older than me|it is an antique|it was built in the fifties')),
        (('on battery power|runs from the accumulator', 'do not plug in|with no cable|from the accumulator'),
         ('on mains power|runs from the socket', 'stay plugged in|with the cable|from the wall socket')),
        (('by hand|uses the gripper', 'with your fingers|use your gripper for it|grip it'),
         ('by suction|uses the vacuum cup', 'suck it up|use the vacuum cup|with the suction pad')),
        (('in summer|for hot weather', 'it is July|the sun burns|in this heat'),
         ('in winter|for cold weather', 'it is January|there is snow|in this frost')),
        (('for one person|serves a single guest', 'I am alone|it is just me|a single guest wants it'),
         ('for groups|serves many guests at once', 'there are twenty of us|the whole crowd wants it|it is for a large party')),
        (('for empty containers|when nothing is inside', 'there is nothing in it|it is hollow|it has been emptied'),
         ('for full containers|when something is inside', 'it is full to the brim|there is plenty in it|it has not been emptied')),
        (('clockwise|turning to the right', 'the way the hands of a watch go|with the clock|rightwards round'),
         ('counterclockwise|turning to the left', 'against the clock|leftwards round|opposite to the hands of a watch')),
        (('from above|approaches from the top', 'come down on it|from overhead|reach it from the top'),
         ('from the side|approaches sideways', 'come at it sideways|reach it from the flank|not from overhead but level')),
        (('for the public|open to everyone', 'everyone may see it|it is no secret|for all the world'),
         ('for staff only|confidential', 'keep it confidential|it is for insiders|nobody outside may know')),
        (('by text message|writes to a phone', 'in writing|as a text|on his phone display'),
         ('by voice|speaks through the loudspeaker', 'out loud|with your voice|through the speaker')),
        (('the thorough way|takes long and misses nothing', 'be thorough|do not miss a spot|take as long as it needs|every corner counts'),
         ('the brief way|quick and rough', 'just roughly|a lick and a promise is enough|only the main parts|keep it brief')),
        (('for plants|when something green is concerned', 'it has leaves|it is a fern|it grows in a pot'),
         ('for animals|when a pet is concerned', 'it has four legs|it barks|it is somebody\'s pet')),
        (('along the short route|takes the direct way', 'by the direct way|no detours|straight there'),
         ('along the scenic route|takes the long way round', 'take the long way round|there is time for a detour|show them the sights')),
        (('with two robots|together with a partner', 'get a partner for it|as a team|two of you'),
         ('with one robot|alone', 'on your own|without a partner|solo')),
        (('for printed matter|for paper and books', 'it is made of paper|it has pages|you can read it'),
         ('for textiles|for cloth and clothes', 'it is made of cotton|you can wear it|it is woven')),
        (('with the front camera|uses the camera at the front', 'look ahead for that|using what you see ahead|with the forward camera|use the lens facing forward'),
         ('with the rear camera|uses the camera at the back', 'use the one behind you|with the backward camera|using what you see behind you|use the lens facing backwards')),
        (('slowly|at low speed|at walking pace', 'take your time|there is no rush|do not hurry|very gently and unhurried|at a crawl|nice and easy'),
         ('fast|at full speed|as quickly as possible', 'hurry|we are in a rush|be quick about it|make it snappy|as rapidly as you can|every second counts')),
        (('indoors|inside buildings|for use indoors only', 'in here|under the roof|within the building|we stay inside|not out in the open'),
         ('outdoors|outside of buildings|for use outdoors only', 'out in the open|under the sky|in the open air|out there|we are outside')),
        (('for heavy loads|for loads above 5 kg', 'it weighs a ton|mind, it is really heavy|it is 12 kilos|that one is hard to lift|it weighs 8 kg'),
         ('for light loads|for loads of 5 kg or less', 'it weighs next to nothing|it is feather-light|it is only 1 kilo|anyone could lift it|it weighs 2 kg')),
        (('for fragile things|handles things that break easily', 'it breaks easily|mind, it is delicate|it is made of thin glass|careful, one knock and it is gone'),
         ('for robust things|handles things that cannot break', 'it is solid steel|nothing can happen to it|it can take a knock|do not worry, it is unbreakable')),
        (('for people|when persons are concerned', 'it is for a guest|somebody is waiting for it in person|a human being needs it|it concerns a visitor'),
         ('for parcels|when goods are concerned', 'it is only about a package|it is for a box|it concerns a delivery|this is about cargo')),
        (('at night|for the night hours', 'after dark|when everybody sleeps|at midnight|late, in the dark'),
         ('by day|for the daytime', 'in broad daylight|while the sun is up|around noon|before it gets dark')),
        (('on dry ground|for dry floors', 'there is no water around|everything is dry|the ground has no moisture'),
         ('on wet ground|for wet floors', 'mind the puddles|it has been raining in|the ground is soaked|there is water all over')),
        (('silently|without any sound', 'be quiet about it|do not make a noise|without waking anybody|hush, not a sound'),
         ('with a warning sound|while beeping', 'and let everybody hear it|make some noise while you do|beep so that they notice|with the alarm tone on')),
        (('once only|a single time', 'just one time|one go is enough|not more than once'),
         ('repeatedly|again and again until told otherwise', 'over and over|keep doing it|again and again|do not cease until I tell you')),
        (('for children|made for kids', 'it is for the little ones|the kids asked for it|a boy of six wants it'),
         ('for adults|made for grown-ups', 'it is for the grown-ups|only over eighteens today|a gentleman of fifty wants it')),
        (('on the ground floor|at street level', 'down here|at street level|no stairs needed|on level zero'),
         ('on the upper floor|one storey up', 'upstairs|one level up|up there|above us')),
        (('with a photo as proof|and takes a picture afterwards', 'and show me an image of it later|I want to see evidence|document it with the camera'),
         ('without any record|and keeps no picture', 'no pictures please|do not document it|leave no trace of it, no images')),
        (('gently|with little force', 'with a soft touch|do not press hard|like handling an egg|softly'),
         ('forcefully|with full force', 'with all your strength|push hard|do not be shy, use power|with might')),
        (('with a person watching|under supervision', 'I will keep an eye on you|while I watch|somebody stays with you'),
         ('unattended|without anybody near', 'nobody will be around|while we are all away|on your own')),
        (('in the north half|north of the main aisle', 'on the northern side|up north|towards the north'),
         ('in the south half|south of the main aisle', 'on the southern side|down south|towards the south')),
        (('for hot items|withstands heat', 'careful, it burns|it comes right out of the oven|it is glowing|do not touch, it is at 90 degrees'),
         ('for frozen items|withstands cold', 'it is icy|it comes out of the freezer|it is below zero|it is frozen solid')),
        (('for metal parts|for parts of steel or iron', 'it is made of iron|it is steel|the magnet sticks to it'),
         ('for wooden parts|for parts of timber', 'it is made of oak|it is timber|it grew as a tree')),
        (('for large items|for things above 50 cm', 'it is huge|it is as big as a fridge|it is a metre wide|it is enormous'),
         ('for small items|for things up to 50 cm', 'it is tiny|it fits into a pocket|it is just ten centimetres wide|it is no bigger than a coin')),
        (('by the main computer|runs on board', 'on board, please|without the network|locally'),
         ('by the cloud service|runs on the server', 'let the server do it|through the internet|remotely')),
        (('using the lift|takes the elevator', 'ride, do not climb|by elevator|with the cabin'),
         ('using the ramp|takes the sloped way', 'over the slope|roll up the incline|by the inclined way')),
        (('with gloves on|using the clean tool', 'hygiene matters here|it must stay sterile|keep it germ-free'),
         ('with the dirty tool|not for clean goods', 'it is filthy anyway|no need to keep it clean|dirt does not matter')),
        (('in simulation only|does not move the real robot', 'just pretend|only in the simulator|as a dry run|do not do it for real'),
         ('on the real robot|moves the hardware', 'for real|this is not a drill|on the actual machine|no simulation')),
        (('urgent jobs|with top priority', 'it is an emergency|this cannot wait|before anything else'),
         ('low priority jobs|when nothing else is to do', 'whenever you find time|it can wait|if you are bored')),
        (('for the morning shift|between 6 and 14 h', 'it is for the early crew|at eight in the morning|before breakfast is over'),
         ('for the late shift|between 14 and 22 h', 'it is for the evening crew|at eight in the evening|after supper')),
        (('along the wall|keeps close to walls', 'hug the wall|stay at the edge|right beside the wall'),
         ('through the middle|keeps away from walls', 'right through the centre|stay clear of the edges|down the middle')),
        (('for liquids|for things that pour', 'it is full of soup|it can spill|there is water in it|it is a drink'),
         ('for solids|for things that do not flow', 'it is hard as rock|nothing can spill|it is a block')),
    ))


def draw_sides(rng: random.Random) -> tuple[Side, ...]:
    """Draw two or three sides: of sizes or sorts, from a group, on either side of a number, or told by the state."""
    if rng.random() < 0.4:
        return tuple(Side(describes, says, word=word) for word, describes, says in sizes.draw(rng))
    roll = rng.random()
    if roll < 0.5:
        return rng.choice(GROUPS)
    if roll < 0.7:
        return _by_word(rng)
    return _by_number(rng) if roll < 0.88 else _by_state(rng)


_WORDED = (
    ('for {w} ones|only for {w} things|when it is {w}|the {w} kind', 'it is {w}|a {w} one|mind, it is {w}|the {w} kind, that is|I mean the {w} one'),
    ('in the {w} area|within the {w} zone|in sector {w}', 'in the {w} area|over in {w}|that is in {w}|we are in the {w} zone|it concerns {w}'),
    ('for the {w} team|for the people of {w}|for customers of {w}', 'the {w} team asked for it|it is for {w}|the {w} people want it|on behalf of {w}'),
    ('with the {w}|by means of the {w}|uses the {w}', 'use the {w}|with the {w} in hand|take the {w} for it|by {w}'),
    ('{w} variant|the way of {w}|after the {w} method', 'the {w} variant|do it the {w} way|after the {w} method|as {w} does it'),
    ('when {w} is on duty|in the shift of {w}|while {w} watches', '{w} is on duty|it is the shift of {w}|{w} is watching'),
    ('of the brand {w}|for devices made by {w}', 'it is from {w}|it was made by {w}|the label says {w}'),
)


def _by_word(rng: random.Random) -> tuple[Side, ...]:
    """Tell two sides by a word that stands in description and sentence alike."""
    describes, says = rng.choice(_WORDED)
    draws = (rare.adjective, rare.noun, rare.syllables, rare.any_word, rare.place_name) if rng.random() < 0.7 else (rare.syllables,)
    found: dict[str, None] = {}
    while len(found) < 2:
        found[rng.choice(draws)(rng)] = None
    return tuple(_side(describes.replace('{w}', w), says.replace('{w}', w)) for w in found)


_MEASURED = (
    ('cm', (5, 10, 20, 30, 50, 80), 'for things up to {n} cm wide|of at most {n} cm|not wider than {n} cm', 'for things wider than {n} cm|above {n} cm|from more than {n} cm on',
     'it is {q} wide|it measures {q}|that is {q} across|the width is {q}'),
    ('l', (1, 2, 5, 10, 40), 'for amounts up to {n} l|at most {n} litres|{n} litres or less', 'for amounts above {n} l|more than {n} litres',
     'it is {q} in all|it holds {q}|we talk about {q}|the volume is {q}'),
    ('g', (50, 100, 250, 500), 'for portions up to {n} g|{n} g at most', 'for portions above {n} g|more than {n} g', 'it weighs {q}|it is {q} on the scale|a portion of {q}'),
    ('m/s', (0.5, 1, 2, 5), 'for a wind of at most {n} m/s|up to {n} m/s of wind', 'for a wind above {n} m/s|beyond {n} m/s of wind', 'the wind blows at {q}|there is a wind of {q}|the wind has {q}'),
    ('s', (10, 30, 60, 120), 'for jobs of at most {n} s|if it is over within {n} s', 'for jobs longer than {n} s|if it takes more than {n} s', 'it takes {q}|it will be over in {q}|that needs {q}'),
    ('kg', (1, 2, 3, 5, 8, 10, 20), 'for loads of at most {n} kg|up to {n} kg|if it weighs {n} kg or less', 'for loads above {n} kg|beyond {n} kg|if it weighs more than {n} kg',
     'it weighs {q}|its weight is {q}|the scale shows {q}|that is {q}'),
    ('m', (1, 2, 3, 5, 10), 'for distances of at most {n} m|within {n} m|for things up to {n} m away', 'for distances above {n} m|beyond {n} m|for things farther than {n} m',
     'it is {q} away|the distance is {q}|that is {q} from here'),
    ('C', (10, 30, 40, 60, 80), 'for things of at most {n} degrees|up to {n} degrees Celsius', 'for things hotter than {n} degrees|above {n} degrees Celsius',
     'it is {q} warm|its temperature is {q}|it has {q}'),
    ('min', (5, 10, 20, 30), 'for jobs of at most {n} minutes|if it takes {n} min or less', 'for jobs longer than {n} minutes|if it takes more than {n} min',
     'it will take {q}|we have {q} for it|plan {q} for that'),
)


def _by_number(rng: random.Random) -> tuple[Side, ...]:
    unit, bounds, below, above, says = rng.choice(_MEASURED)
    bound = rng.choice(bounds)
    sides = []
    for text, low, high in ((below, bound * 0.1, bound), (above, bound * 1.05, bound * 4)):
        drawn = [quantities.draw(rng, quantities.Declared(unit, low, high)) for _ in range(8)]
        said = tuple(rng.choice(says.split('|')).format(q=d.text) for d in drawn if d is not None and any(c.isalpha() for c in d.text)
                     and (Fraction(str(d.value)) <= bound) is (text is below))
        if not said:
            return GROUPS[0]
        sides.append(Side(tuple(t.format(n=bound) for t in text.split('|')), said))
    return tuple(sides)


def _by_state(rng: random.Random) -> tuple[Side, ...]:
    n = rng.choice((20, 25, 30, 40, 50, 60))
    condition, below, above = rng.choice((
        (Condition('battery', '<', n, unit='%'), f'while the battery is below {n} %|for a battery under {n} %', f'while the battery is at {n} % or more|for a battery of {n} % and above'),
        (Condition('flag', '=', True, 'raining'), 'while raining is true|when it rains (raining true)', 'while raining is false|when it does not rain (raining false)'),
        (Condition('flag', '=', True, 'carrying'), 'while carrying is true|when something is carried (carrying true)', 'while carrying is false|when nothing is carried (carrying false)'),
        (Condition('charging', '=', True), 'while the battery is charging|when charging', 'while the battery is not charging|when not charging'),
        (Condition('mode', '=', 'manual', 'mode'), 'in mode manual|when the mode is manual', 'in every mode but manual|when the mode is not manual'),
        (Condition('temperature', '<', n - 10), f'below {n - 10} C|when the temperature is under {n - 10} C', f'at {n - 10} C or more|when the temperature is {n - 10} C or higher'),
    ))
    return Side(tuple(below.split('|')), (), condition), Side(tuple(above.split('|')), (), condition, False)
