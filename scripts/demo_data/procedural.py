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
import re

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
calibrate, adjust, fine tune
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
fetch, go and get, bring over
~return, give back, take back to where it belongs
park, leave standing, set down in its bay
load, put on board, stow
~unload, take off the cart, discharge
scan, read the code of, sweep over
print, put on paper, make a hard copy of
ring, sound, chime
shift, nudge, move a little
rotate the base of, revolve, turn round
trim, shave, cut the edge of
hang, put up, suspend
~take down, unhook, bring down from the hook
pour, tip out, decant
knead, work with the hands, massage
peel, strip, take the skin off
crush, flatten, smash
split, part, break in two
join, unite, put together
soak, steep in water, drench
scrape, scratch off, abrade
dust, wipe the dust off, brush down
sweep, brush, broom
shovel, dig out, scoop
bury, put under the soil, inter
rake, smooth with a rake, comb
~mess up, ruffle, bring into disorder
milk, draw milk from, get the milk of
groom, brush the coat of, curry
leash, put on a lead, tether
~free, untie, let loose
escort, accompany, walk with
greet, welcome, say hello to
entertain, amuse, keep happy
teach, instruct, give a lesson to
examine by ear, listen to, hear out
track, keep the camera on, follow with the eye
spot, locate, find the place of
identify, recognise, tell the name of
compare, match, set side by side
estimate, guess, judge by eye
verify, confirm, make sure of
announce, proclaim, make public
whisper to, speak softly to, murmur at
warn, alert, caution
comfort, soothe, calm down
wake, rouse, get out of bed
~lull, send to sleep, put to bed
anchor, moor, make fast
~cast off, unmoor, let drift
launch, send up, let fly
~land, bring in, set down on the ground
orbit, circle, go round
cross, traverse, go over
bypass, go around, avoid
block, obstruct, bar
~clear, free up, remove what blocks
patrol, make the rounds of, go the beat of
isolate, quarantine, keep apart
vacate, move out of, quit
occupy, take up, settle in
furnish, equip, fit out
upgrade, modernise, bring up to date
~roll back, downgrade, bring back the old version of
reboot, restart, start afresh
mute, hush, turn the sound off
~unmute, give the sound back to, let be heard
pause, hold up, interrupt
~resume, go on with, take up again
schedule, plan, put on the calendar
~call off, cancel the date of, strike from the calendar
order, purchase, buy in
sell, hand over for money, trade
lend, give on loan, hire out
tune, bring into pitch, set the pitch of
strum, play, make music with
juggle, toss and catch, keep in the air
etch, engrave, carve
weld, braze, solder
sand, rub down, make smooth with paper
varnish, lacquer, seal with clear coat
galvanise, plate, coat with zinc
pump, drive by pressure, move through the pipe
filter, strain, sift
distil, purify, boil down
ferment, let rise, leave to yeast
freeze, ice, make rock hard by cold
cork, stopper, put a plug on
~uncork, unstopper, pull the plug of
zip, do up, fasten
~unzip, undo, open the fastener of
iron, press flat, smooth with heat
sew, stitch, mend with a thread
dye, tint, change the colour of
perfume, scent, make smell nice
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
    '!{o} [wants|needs] somebody to {v} it', '!{o}: {v} it', '!{o} again, please {v} it', 'see whether you can {v} {o}', '!the thing is {o}, and I would like you to {v} it', '!about {o}: could you {v} it', '!I have been meaning to ask you to {v} {o}',
    '!there is {o} over there, {v} it', '!what I want is that you {v} {o}', '!let us {v} {o}', 'kindly {v} {o} when you get a chance', '!do me the favour to {v} {o}', '!{o} is what you should {v}', '!it would help if you were to {v} {o}',
    '!my wish: {v} {o}', '!I would be glad if you could {v} {o}', '!next you {v} {o}', '!your job: {v} {o}',
)
_ABOUT = ('Asks the robot to {v} {o}.', 'The way to {v} {o}.', 'For when somebody wants the robot to {v} {o}.', '{V} {o}; nothing else.', 'With this the robot can {v} {o}.', 'Call it to {v} {o}.', '{V} {o}.', '{V} {o}.', '{V} {o}', 'Lets the robot {v} {o}.', 'Used to {v} {o}.', 'Makes the robot {v} {o}.', 'Tool to {v} {o}.', 'Will {v} {o}.')
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


_NEEDS = ('!{o} needs {g}', '!{o} wants {g}', 'start {g} {o}', 'begin {g} {o}', 'get {o} {d}', 'have {o} {d}', '!I want {o} {d}', '!{o} should be {d}', '!{o} has to be {d}', '!{o} must get {d}', '!it is time for {g} {o}', '!do you mind {g} {o}?', '!how about {g} {o}?',
          '!{g} {o} is what we need', '!{o} is to be {d}', '!nobody has {d} {o} yet, so please do it', '!I need {o} to be {d}', '!see that {o} gets {d}', '!{o} is waiting to be {d}', '!{o} has not been {d} yet, your job', '!{g} {o} is your next job', '!could {o} be {d}?')
_IRREGULAR = {line.split()[0]: tuple(line.split()[1:]) for line in '''
put putting put|cut cutting cut|set setting set|let letting let|shut shutting shut|get getting got|make making made|take taking taken|give giving given|draw drawing drawn|find finding found|bring bringing brought|run running run
spin spinning spun|swing swinging swung|fling flinging flung|throw throwing thrown|catch catching caught|freeze freezing frozen|feed feeding fed|light lighting lit|grind grinding ground|blow blowing blown|bend bending bent
pour pouring poured|hide hiding hidden|tell telling told|hear hearing heard|go going gone|keep keeping kept|stick sticking stuck|lead leading led|buy buying bought|sell selling sold|lend lending lent|teach teaching taught
wake waking woken|sew sewing sewn|sow sowing sown|split splitting split|steep steeping steeped|suck sucking sucked|fall falling fallen|find finding found|ring ringing rung|hang hanging hung|dig digging dug|swell swelling swollen
lay laying laid|say saying said|unbind unbinding unbound|tie tying tied|dye dyeing dyed|untie untying untied|undo undoing undone|do doing done|leave leaving left|strip stripping stripped|trim trimming trimmed
stop stopping stopped|snap snapping snapped|tag tagging tagged|zip zipping zipped|unzip unzipping unzipped|plug plugging plugged|pin pinning pinned|rub rubbing rubbed|prop propping propped|scrub scrubbing scrubbed
wrap wrapping wrapped|unwrap unwrapping unwrapped|stir stirring stirred|lag lagging lagged|drag dragging dragged|map mapping mapped|dim dimming dimmed|clip clipping clipped|tip tipping tipped|bar barring barred|strum strumming strummed
'''.replace('\n', '|').strip('|').split('|')}


_DOUBLES = re.compile('[^aeiou]*(qu)?[aeiou][bdfgklmnprtvz]')


def inflected(verb: str, form: str) -> str:
    """Return a verb's -s (s), -ing (g) or participle (d) form, its first word changed."""
    first, gap, rest = verb.partition(' ')
    if form == 's':
        ending = 'ies' if first.endswith('y') and first[-2:-1] not in 'aeiou' else f'{first[-1]}es' if first.endswith(('s', 'x', 'ch', 'sh', 'o', 'z')) else f'{first[-1]}s'
        return f'{first[:-1]}{ending}{gap}{rest}'
    if first in _IRREGULAR:
        return f'{_IRREGULAR[first][form == "d"]}{gap}{rest}'
    stem = first[:-1] if first.endswith('e') and not first.endswith(('ee', 'ye', 'oe')) else first
    if _DOUBLES.fullmatch(first):
        stem = f'{first}{first[-1]}'
    if form == 'd' and first.endswith('y') and first[-2:-1] not in 'aeiou':
        return f'{first[:-1]}ied{gap}{rest}'
    if form == 'd' and first.endswith('e'):
        stem = first[:-1]
    return f'{stem}{"ing" if form == "g" else "ed"}{gap}{rest}'


def frame(rng: random.Random, verb: str, thing: str) -> str:
    """Ask for a deed on a thing, the verb as it stands or in another form."""
    if rng.random() < 0.72:
        return rng.choice(_FRAMES).format(v=verb, o=thing)
    return rng.choice(_NEEDS).format(g=inflected(verb, 'g'), d=inflected(verb, 'd'), o=thing)


def _described(rng: random.Random, verb: str, thing: str) -> tuple[str, ...]:
    """Describe a deed on a thing in three ways."""
    options = [*_ABOUT, *_ABOUT_S * 2]
    return tuple(a.format(V=verb.capitalize(), v=verb, o=thing, S=inflected(verb, 's').capitalize(), s=inflected(verb, 's'), g=inflected(verb, 'g'), d=inflected(verb, 'd')) for a in rng.sample(options, 3))


_ABOUT_S = ('{S} {o}.', '{S} {o}.', '{S} {o}', 'The robot {s} {o}.', 'For {g} {o}.', 'After it {o} is {d}.', 'Gets {o} {d}.', '{S} {o}, once per call.', 'It {s} {o}.')


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
    if roll < 0.09 and group is None:
        return _switch(rng, thing or _thing(rng))
    if roll < 0.26 and group is None:
        return _setting(rng, thing or _thing(rng))
    if roll < 0.42 and group is None:
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
    abouts = _described(rng, about_verb, described)
    said = [rng.choice((about_verb, *verbs)) for _ in range(6)]
    says = tuple(frame(rng, v, described) for v in said)
    args: tuple[Arg, ...] = ()
    if rng.random() < 0.2:
        names = ('duration', 'seconds', 'how_long', 'time')
        args = (Arg('time', 'number', names, ('How long.', 'Time to take.'), True, low=1, high=600, step=1, unit=rng.choice(('s', 'min'))),)
        says += tuple(f'{s} for {{time}}' for s in says if not s.startswith('!'))
    return Skill(f'p:{number}:{thing}', _names(rng, verbs, thing), abouts, says, args, near=tuple(f'v:{v.split()[0]}' for v in verbs), says_units=True)


def _open(rng: random.Random, verbs: tuple[str, ...], about_verb: str, number: int) -> Skill:
    kind, noun = rng.choice((('object', 'an object'), ('object', 'a thing'), ('object', 'an item'), ('place', 'a place'), ('place', 'a room'), ('code', 'something by its name')))
    abouts = _described(rng, about_verb, noun)
    says = tuple(frame(rng, rng.choice((about_verb, *verbs)), '{what}') for _ in range(8))
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


_PAIRS = tuple(tuple(tuple(part.split(', ')) for part in line.split('; ')) for line in """
turn on, switch on, power up, activate; turn off, switch off, power down, deactivate
enable, allow, permit; disable, disallow, suppress
open, unclose, open up; close, shut, shut up tight
lock, bolt, make fast; unlock, unbolt, release
start, set going, get running; stop, halt, bring to rest
raise, lift, put up; lower, let down, drop
extend, push out, let out; retract, pull in, draw in
arm, make ready, prime; disarm, make safe, defuse
show, display, reveal; hide, conceal, put away
engage, couple, connect; release, uncouple, disconnect
inflate, pump up, fill with air; deflate, let the air out of, empty of air
""".strip().split('\n'))


def draw_alike(rng: random.Random, count: int) -> list[Skill]:
    """Compose skills of one deed on several things, or of several deeds on one thing."""
    if rng.random() < 0.5:
        verbs = rng.choice((*GROUPS, (rng.choice((rare.syllables(rng), rare.verb(rng))),)))
        if rng.random() < 0.35:
            verbs = (rare.syllables(rng),)
        things = dict.fromkeys(_thing(rng) for _ in range(count))
        return [_fixed(rng, verbs, rng.choice(verbs), thing, -2) for thing in things]
    thing = _thing(rng)
    deeds = dict.fromkeys(rare.syllables(rng) if rng.random() < 0.6 else rare.verb(rng) for _ in range(count))
    return [_fixed(rng, (deed,), deed, thing, -1 - number) for number, deed in enumerate(deeds)]


def draw_switch(rng: random.Random) -> Skill:
    """Compose a skill whose flag says which of two opposite things is done to something."""
    return _switch(rng, _thing(rng))


def _switch(rng: random.Random, thing: str) -> Skill:
    """Compose a skill whose flag says which of two opposite things is done."""
    about, roll = f'the {thing}', rng.random()
    true, false = rng.choice(_PAIRS)
    is_swapped = rng.random() < 0.25
    if is_swapped:
        true, false = false, true
    if roll < 0.3:
        true, false = ('on',), ('off',)
        says = (f'turn {{state}} {about}', f'switch {about} {{state}}', f'turn {about} {{state}}', f'!{about} {{state}}', f'put {about} {{state}}', f'!{about} should be {{state}}', f'set {about} to {{state}}', f'!I want {about} {{state}}')
        abouts = (f'Switch {about} on or off.', f'Power of {about}.', f'Turns {about} on (true) or off (false).', f'Sets whether {about} is on.')
        told = (f'Whether {about} is on.', 'True for on, false for off.', 'On or off.', 'The wanted state.')
    else:
        says = (f'{{state}} {about}', f'{{state}} {about}', f'!can you {{state}} {about}?', f'!I want you to {{state}} {about}', f'go and {{state}} {about}', f'!{about}: {{state}} it', f'!it is time to {{state}} {about}', f'!you may {{state}} {about} now')
        abouts = (f'{true[0].capitalize()} or {false[0]} {about}.', f'To {true[0]} (true) or {false[0]} (false) {about}.', f'Changes {about}: {true[0]} or {false[0]}.')
        told = (f'True to {true[0]}, false to {false[0]}.', f'Whether to {true[0]} it (else {false[0]}).', f'true: {true[0]}; false: {false[0]}.')
    names = ('on', 'state', 'enabled', 'active', 'value', 'flag', 'wanted', 'yes') if roll < 0.3 else ('state', 'value', 'flag', true[0].split()[0], 'wanted', 'yes', 'do_it')
    arg = Arg('state', 'boolean', names, told, says_true=true, says_false=false)
    return Skill(f'p:switch:{thing}', _names(rng, ('switch', 'toggle', 'set'), thing), abouts, says, (arg,), near=tuple(f'v:{v.split()[0]}' for v in (*true, *false)))


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
