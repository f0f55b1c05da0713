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

"""Skills that take a list: of whole numbers, decimals, persons, codes, choices or things."""

from __future__ import annotations

import random

from demo_data import coined
from demo_data import rare
from demo_data.skills import Arg
from demo_data.skills import Skill

# what is counted; verbs; names of tools; names of the argument
_NUMBERED = tuple(tuple(part.split(', ') for part in line.split('; ')) for line in """
trench; drench, irrigate, weed; drench_trenches, trench_round; trenches, trench_numbers
storey; visit, serve, pass; storey_run, lift_round; storeys, levels
lane; clear, paint, block; lane_service, lanes_do; lanes, lane_list
berth; inspect, hose, reserve; berth_round, berth_service; berths, berth_ids
turbine; oil, start, test; turbine_tour, turbine_batch; turbines, units
pigeonhole; empty, fill, label; pigeonhole_round, mail_holes; holes, numbers
tap; open, rinse, descale; tap_round, taps_do; taps, tap_numbers
cage; clean, lock, air; cage_round, cage_service; cages, which
burner; light, scrub, check; burner_set, burner_batch; burners, ids
seat; reserve, wipe, fold; seat_plan, seat_batch; seats, seat_numbers
mooring; tighten, loosen, renew; mooring_work, mooring_list; moorings, nos
vial; shake, seal, scan; vial_batch, vials_do; vials, positions
""".strip().split('\n'))
_DECIMALS = (
    ('pose_arm', 'set the axes to {xs}', 'bring the axes to {xs}', '!axes at {xs}', 'move to {xs}', '!the axes should be {xs}', 'go through {xs} with the arm'),
    ('set_gains', 'set the gains to {xs}', 'use the gains {xs}', '!gains: {xs}', 'tune it with {xs}', '!the gains are {xs}', 'change the gains to {xs}'),
    ('load_offsets', 'load the offsets {xs}', 'apply {xs} as offsets', '!offsets of {xs}', 'take {xs} for the offsets', '!the new offsets: {xs}', 'shift by {xs}'),
    ('play_curve', 'play the curve {xs}', 'draw a curve through {xs}', '!a curve with {xs}', 'run the curve {xs}', '!the points of the curve are {xs}', 'plot {xs}'),
)
_FRAMES = (
    '{v} {xs}', '{v} {xs}', '{v} {xs}', '!I want you to {v} {xs}', '!{xs} - {v} these', '!the list: {xs}. {V} them', '{v} the following: {xs}', '!{v} all of these: {xs}', '!you should {v} {xs}', '{v} no others than {xs}',
    'go and {v} {xs}', 'make sure to {v} {xs}', '!we need you to {v} {xs}', '{v} {xs} in this order', '!time to {v} {xs}',
    '{v} {xs}, one after another', '!it is {xs} that you should {v}', '!today you {v} {xs}', '!{xs}, please {v} them', '!would you {v} {xs} for me?', 'just {v} {xs}', '!someone has to {v} {xs}', '{v} {xs}, in exactly that sequence', '!my list says {xs}, so {v} them', '!these are due: {xs}. {V} them',
)
# kind of the items; verbs; names of tools; names of the argument
_NAMED = tuple(tuple(part.split(', ') for part in line.split('; ')) for line in """
person; notify, alert, warn; notify_group, alert_people; recipients, people
person; invite, summon, assemble; invite_guests, call_up; guests, whom
person; greet, welcome, honour; greet_group, welcome_all; names, visitors
code; weigh, register, archive; weigh_lots, register_lots; lots, codes
code; scan, recall, release; scan_parts, recall_parts; parts, serials
code; replay, load, erase; replay_tracks, load_tracks; tracks, which
choice; flash, show, cycle through; flash_signals, show_series; signals, series
choice; play, strike, sound; play_tones, tone_row; tones, row
choice; mix, stir in, add; mix_flavours, flavour_blend; flavours, blend
objects; collect, pack, gather; gather_kit, pack_kit; kit, contents
objects; rinse, sterilise, polish; rinse_batch, polish_batch; batch, pieces
places; patrol, check, pass through; patrol_list, round_of; stops, halts
""".strip().split('\n'))


def names() -> set[str]:
    """Return the tools' names."""
    return {name for line in (*_NUMBERED, *_NAMED) for name in line[2]} | {line[0] for line in _DECIMALS}


def argument_names() -> set[str]:
    """Return the arguments' names."""
    return {name for line in (*_NUMBERED, *_NAMED) for name in line[3]} | {'values', 'points'}


def draw_listed(rng: random.Random) -> Skill:
    """Make a skill that takes a list."""
    roll = rng.random()
    if roll < 0.12:
        name, *says = rng.choice(_DECIMALS)
        about = name.replace('_', ' ').capitalize()
        arg = Arg('xs', 'numbers', ('values', 'points', coined.coin(rng)), ('The values.', 'Numbers in order.', 'A list of numbers.'), low=-rng.choice((1, 3, 10)), high=rng.choice((1, 3, 10)), step=0.01)
        return Skill(f'p:l:{name}', (name, f'{name}_list'), (f'{about} from a list of numbers.', f'{about}, several values at once.', f'{about}: takes numbers.'), tuple(says), (arg,))
    nouns: tuple[str, ...] = ()
    kind, step, high = 'objects', 1.0, 1.0
    if roll < 0.5:
        (noun,), verbs, tools, labels = rng.choice(_NUMBERED)
        noun = noun if rng.random() < 0.5 else rng.choice((rare.noun(rng), coined.coin(rng)))
        if not noun.isalpha():
            noun = 'slot'
        item, nouns, kind, high = '', (noun,), 'numbers', float(rng.choice((12, 20, 30, 60, 99, 400)))
        things = f'{noun}s'
    else:
        (item,), verbs, tools, labels = rng.choice(_NAMED)
        things = {'person': 'people', 'code': 'items by their code', 'places': 'places', 'objects': 'things'}.get(item, labels[0])
    verb = rng.choice(verbs)
    choices: tuple[str, ...] = ()
    if item == 'choice':
        choices = tuple(dict.fromkeys(rng.choice((rare.noun, rare.adjective, coined.coin))(rng) for _ in range(rng.randint(3, 8))))
    if item in ('objects', 'places'):
        kind, item = item, ''
    says = tuple(f.replace('{v}', verb).replace('{V}', verb.capitalize()) for f in _FRAMES)
    about = (f'{verb.capitalize()} several {things}.', f'{verb.capitalize()} {things}, all in one call.', f'The {things} to {verb}, as a list.')
    arg = Arg('xs', kind, (*labels, coined.coin(rng)), ('Which ones, in order.', 'All of them.', 'The list.'), low=1.0, high=high, step=step, unit=item, choices=choices, spoken={'noun': nouns} if nouns else {})
    return Skill(f'p:l:{tools[0]}:{verb}', (*tools, f'{tools[0]}_{verb.replace(" ", "_")}'), about, says, (arg,), near=(f'v:{verb.split()[0]}',))
