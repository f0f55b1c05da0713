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
Skills composed of a deed and a thing: no catalogue of tools has them, no two are the same.

A deed is a group of verbs of one meaning; the description takes one, the sentence any of them.
Some deeds are invented: then verb and thing can only be recognised by their letters.
"""

from __future__ import annotations

import random

from demo_data import rare
from demo_data.skills import Arg
from demo_data.skills import Skill

# Verbs of one meaning; a group's number and the next one's are opposites where marked with "~".
_GROUPS = """
inspect, examine, check over, look over, scrutinise
repair, fix, mend, patch up
scrub, wash, cleanse, clean
heat, warm up, make hot
~cool, chill, make cold
activate, switch on, turn on, fire up, start up
~deactivate, switch off, turn off, shut down, power down
lock, bolt, secure
~unlock, unbolt, make accessible
open, open up, make open
~close, shut, slam shut
fill, fill up, top up
~empty, drain, clear out
raise, lift, elevate, hoist
~lower, let down, bring down
extend, stretch out, run out
~retract, pull in, draw back
mount, attach, fit, put on
~dismount, detach, remove, take off
measure, gauge, take a reading of
photograph, take a picture of, snap, get an image of
count, tally, find the number of
weigh, find the weight of, put on the scales
label, tag, put a sticker on
paint, coat, put colour on
polish, buff, make shiny
sharpen, hone, put an edge on
lubricate, grease, oil
calibrate, adjust, fine-tune
replace, exchange, swap out
test, try out, put to the test
tighten, screw tight, make tighter
~loosen, slacken, unscrew
fold, fold up, crease
~unfold, spread out, open flat
wrap, pack up, envelop
~unwrap, unpack, take the cover off
sort, put in order, arrange
stack, pile up, heap up
shake, rattle, agitate
stir, mix, blend
slice, cut up, saw apart
glue, stick together, bond
sprinkle, water, moisten
~dry, take the moisture off, make dry
feed, give food to, nourish
guard, watch over, protect
hide, cover, conceal
~reveal, uncover, expose
digitise, scan in, make a digital copy of
record, film, tape
erase, delete, wipe out
archive, store away, put into the archive
transmit, upload, send off
~download, receive, get from the server
inflate, pump up, blow up
~deflate, let the air out of, take the pressure off
swivel, spin round, rotate
tilt, tip, make lean
~level, make horizontal, straighten up
illuminate, light up, shine a light on
~dim, darken, make less bright
summon, page, call over
reserve, book, set aside
ventilate, air out, bring fresh air to
~seal, plug, make airtight
probe, take a sample of, get a specimen of
compress, squeeze, press together
bend, curve, make crooked
defrost, thaw, melt the ice on
sterilise, disinfect, sanitise
survey, map, chart
harvest, reap, gather in
~plant, sow, put into the ground
prune, clip, cut back
align, line up, bring into line
balance, even out, bring into balance
decorate, embellish, make pretty
rinse, flush, swill
grind, mill, make into powder
drill, bore, make a hole in
rivet, pin together, fasten with rivets
vacuum, hoover, suck the dust off
insulate, lag, keep the warmth in
magnetise, make magnetic, turn into a magnet
stabilise, steady, keep from shaking
duplicate, copy, make a second one of
simulate, emulate, run a model of
visualise, draw, make a picture of
encrypt, encipher, protect with a secret key
~decrypt, decipher, make readable
couple, hitch up, connect
~uncouple, unhitch, disconnect
evacuate, pump the air from, make a vacuum in
tow, haul, drag along
push, shove, press forward
toss, throw, fling
catch, intercept, stop the flight of
ignite, kindle, set fire to
~extinguish, douse, put out the fire of
brew, steep, make a drink of
fry, roast, put in the pan
""".strip().split('\n')
GROUPS: tuple[tuple[str, ...], ...] = tuple(tuple(line.lstrip('~').split(', ')) for line in _GROUPS)
OPPOSITES: dict[int, int] = {}
for _i, _line in enumerate(_GROUPS):
    if _line.startswith('~'):
        OPPOSITES[_i], OPPOSITES[_i - 1] = _i - 1, _i

_FRAMES = (
    '{v} {o}', '{v} {o}', '{v} {o}', '{v} {o}', '[do|go and|come and] {v} {o}', 'see [to it |]that you {v} {o}',
    '!{o} is the [one|thing] to {v}', '!I want you to {v} {o}', '!it is time to {v} {o}', '!we [have|need] to {v} {o}', '!you may {v} {o} [now|]',
    '!can you {v} {o}?', '!somebody should {v} {o}', '!the plan is to {v} {o}', '!what about {o}, would you {v} it', '!here is {o}, {v} it', 'take care to {v} {o}',
    '!my wish: {v} {o}', '!I would be glad if you could {v} {o}', '!next you {v} {o}', '!your job: {v} {o}',
)
_ABOUT = ('{V} {o}.', '{V} {o}.', '{V} {o}', 'Lets the robot {v} {o}.', 'Used to {v} {o}.', 'Makes the robot {v} {o}.', 'Tool to {v} {o}.', 'Will {v} {o}.')
_MEASURES = (
    ('speed', 'm/s', 0.1, 3), ('temperature', 'C', 5, 90), ('pressure', 'bar', 1, 10), ('level', '%', 0, 100), ('brightness', '%', 0, 100),
    ('power', 'W', 10, 900), ('angle', 'deg', 0, 180), ('height', 'm', 0.1, 4), ('width', 'mm', 5, 900), ('delay', 's', 1, 600), ('dose', 'ml', 5, 800),
    ('frequency', 'Hz', 1, 400), ('length', 'cm', 2, 250), ('load', 'kg', 0.5, 60), ('duration', 'min', 1, 120), ('gap', 'mm', 1, 200), ('tilt', 'deg', -45, 45),
    ('opening', '%', 0, 100), ('voltage', 'V', 3, 48), ('force', 'N', 1, 120), ('volume', 'dB', 20, 90), ('depth', 'cm', 1, 150), ('spin', 'rpm', 10, 3000),
    ('interval', 'h', 1, 48), ('portion', 'g', 10, 900), ('range', 'km', 0.1, 20),
)
_SETS = ('set the {m} of {o} to {value}', 'change the {m} of {o} to {value}', 'I need {o} at a {m} of {value}', 'adjust the {m} of {o} to {value}',
         'make the {m} of {o} {value}', 'bring {o} to a {m} of {value}', 'put the {m} of {o} at {value}', '{o}: {m} {value}', 'the {m} of {o} should be {value}',
         'for {o} use a {m} of {value}', '{m} of {o} to {value}')


def _thing(rng: random.Random) -> str:
    roll = rng.random()
    if roll < 0.2:
        return rare.syllables(rng)
    if roll < 0.5:
        return f'{rng.choice((rare.noun(rng), rare.adjective(rng), rare.syllables(rng)))} {rare.noun(rng)}'
    return rare.noun(rng)


def _names(rng: random.Random, verbs: tuple[str, ...], about: str) -> tuple[str, ...]:
    tail = about.replace(' ', '_')
    return (*tuple(f'{verb.split()[0]}_{tail}'.replace('-', '_') for verb in verbs), f'{tail}_{verbs[0].split()[0]}'.replace('-', '_'), tail.replace('-', '_'))


def draw_skill(rng: random.Random, *, group: int | None = None, thing: str = '') -> Skill:
    """Compose a skill: a deed on a certain thing, on any thing, or a setting of a thing."""
    roll = rng.random()
    if roll < 0.22 and group is None:
        return _setting(rng, thing or _thing(rng))
    if roll < 0.38 and group is None:
        verbs: tuple[str, ...] = (rng.choice((rare.syllables(rng), rare.verb(rng))),)
        number = -1
    else:
        number = rng.randrange(len(GROUPS)) if group is None else group
        verbs = GROUPS[number]
    about_verb = rng.choice(verbs)
    if thing or rng.random() < 0.6:
        return _fixed(rng, verbs, about_verb, thing or _thing(rng), number)
    return _open(rng, verbs, about_verb, number)


def _fixed(rng: random.Random, verbs: tuple[str, ...], about_verb: str, thing: str, number: int) -> Skill:
    described = f'the {thing}'
    abouts = tuple(a.format(V=about_verb.capitalize(), v=about_verb, o=described) for a in rng.sample(_ABOUT, 3))
    said = [rng.choice((about_verb, *verbs)) for _ in range(6)]
    says = tuple(rng.choice(_FRAMES).format(v=v, o=described) for v in said)
    args: tuple[Arg, ...] = ()
    if rng.random() < 0.2:
        names = ('duration', 'seconds', 'how_long', 'time')
        args = (Arg('time', 'number', names, ('How long.', 'Time to take.'), True, low=1, high=600, step=1, unit=rng.choice(('s', 'min'))),)
        says += tuple(f'{s} for {{time}}' for s in says if not s.startswith('!'))
    return Skill(f'p:{number}:{thing}', _names(rng, verbs, thing), abouts, says, args, near=tuple(f'v:{v.split()[0]}' for v in verbs), says_units=True)


def _open(rng: random.Random, verbs: tuple[str, ...], about_verb: str, number: int) -> Skill:
    kind, noun = rng.choice((('object', 'an object'), ('object', 'a thing'), ('object', 'an item'), ('place', 'a place'), ('place', 'a room'), ('code', 'something by its name')))
    abouts = tuple(a.format(V=about_verb.capitalize(), v=about_verb, o=noun) for a in rng.sample(_ABOUT, 3))
    says = tuple(rng.choice(_FRAMES).format(v=rng.choice((about_verb, *verbs)), o='{what}') for _ in range(8))
    names = {'object': ('object', 'item', 'thing', 'what', 'target'), 'place': ('place', 'room', 'where', 'area'), 'code': ('name', 'which', 'id', 'label')}[kind]
    args = [Arg('what', kind, names, ('What it is about.', 'Which one.', 'Name of it.', 'The target.'))]
    if rng.random() < 0.2:
        args.append(Arg('count', 'integer', ('count', 'times', 'repeat', 'number'), ('How often.', 'Number of times.'), True, low=1, high=20, unit='x'))
        says += tuple(f'{s} {{count}}' for s in says if not s.startswith('!'))
    if rng.random() < 0.2:
        person = Arg('person', 'person', ('person', 'whom', 'recipient'), ('For whom.', 'Who asked for it.'), True)
        args.append(person)
        says += tuple(f'{s} for {{person}}' for s in says if not s.startswith('!') and '{count}' not in s)
    return Skill(f'p:{number}:{kind}', _names(rng, verbs, 'it' if rng.random() < 0.5 else kind), abouts, says, tuple(args),
                 near=tuple(f'v:{v.split()[0]}' for v in verbs), says_units=True)


def _setting(rng: random.Random, thing: str) -> Skill:
    about = f'the {thing}'
    if rng.random() < 0.3:
        return _choosing(rng, thing)
    measure, unit, low, high = rng.choice(_MEASURES)
    scale = rng.choice((1, 1, 0.5, 2))
    low, high = (low, high * scale) if unit not in ('%', 'deg', 'C') else (low, high)
    one = f'{"an" if measure[0] in "aeiou" else "a"} {measure}'
    says = tuple(rng.choice(_SETS).replace('a {m}', one).replace('{m}', measure).replace('{o}', about) for _ in range(6))
    says = tuple(s if s.split()[0] in ('set', 'change', 'adjust', 'make', 'bring', 'put') else f'!{s}' for s in says)
    abouts = (f'Set the {measure} of {about}.', f'{measure.capitalize()} of {about}.', f'Adjusts how {about} runs: its {measure}.')
    arg = Arg('value', 'number', ('value', measure, 'amount', 'setpoint', 'level', f'{measure}_value'), (f'New {measure}.', 'Value to set.', f'The {measure}.', 'Wanted value.'),
              low=low, high=high, step=0.1, unit=unit)
    return Skill(f'p:set:{measure}:{thing}', _names(rng, ('set', 'adjust', 'change'), f'{thing}_{measure}'), abouts, says, (arg,), says_units=True)


def _choosing(rng: random.Random, thing: str) -> Skill:
    choices = tuple(dict.fromkeys(rng.choice((rare.syllables(rng), rare.noun(rng), rare.adjective(rng), rare.code(rng).lower().replace('-', '_')))
                                  for _ in range(rng.randint(3, 6))))
    about = f'the {thing}'
    aspect = rng.choice(('mode', 'program', 'profile', 'position', 'pattern', 'setting', 'colour', 'type'))
    says = (f'set {about} to {{which}}', f'put {about} [on|to|into] {{which}}', f'switch {about} to {{which}}', f'!{about} should be on {{which}}',
            f'!{{which}} for {about}', f'choose {{which}} as the {aspect} of {about}', f'run {about} [with|on] {{which}}', f'change the {aspect} of {about} to {{which}}')
    abouts = (f'Set the {aspect} of {about}.', f'Choose how {about} works.', f'{aspect.capitalize()} of {about}.')
    arg = Arg('which', 'choice', (aspect, 'value', 'which', 'choice', 'name'), (f'The {aspect}.', 'Which one.', 'One of the choices.'), choices=choices,
              spoken={c: (c.replace('_', ' '),) for c in choices})
    return Skill(f'p:choose:{thing}', _names(rng, ('set', 'choose', 'select'), f'{thing}_{aspect}'), abouts, says, (arg,))
