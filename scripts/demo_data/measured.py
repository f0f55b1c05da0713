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
Skills that take one quantity, of every family of units and in wide ranges: for exact conversions.

Frames are written by hand, `{q_u}` being the quantity; `{o}` is a thing, often an invented one.
"""

from __future__ import annotations

import random

from demo_data import coined
from demo_data import rare
from demo_data.skills import Arg
from demo_data.skills import Skill

# family; units with ranges (low:high); names; argument names; descriptions; what the argument is; frames
_KINDS = tuple(tuple(part.strip() for part in line.split(';')) for line in """
length; m 1:5000, km 0.1:40, cm 1:900, mm 1:4000, m 0.1:12; go_far, travel_leg, long_haul, run_leg; leg, stretch, how_far, run; Travel some way along the track.|Goes on along the track for a distance.|Cover a distance on the track.; Way to cover.|How far to go.|Length of the leg.; go on for {q_u}|follow the track for {q_u}|cover {q_u} of track|!another {q_u}, please|keep going for {q_u}|!{q_u} along the track|travel {q_u}|do {q_u} of the track|!I want you {q_u} further|!{q_u} more|make {q_u} on the track|run {q_u}
length; mm 1:900, cm 0.5:90, m 0.01:3; cut_piece, saw_length, trim_bar; piece, cut, size, wanted_length; Cut a piece of {o} to length.|Saws off some {o}.; How long the piece is.|Length to cut.; cut off {q_u} of {o}|saw a piece of {q_u} from {o}|!I need {q_u} of {o}|!a piece of {o}, {q_u} long|shorten {o} by {q_u}|take {q_u} off {o}|!{q_u} of {o}, cut it|make the {o} {q_u} long
length; mm 5:2500, cm 1:250, m 0.05:2.5; lift_deck, raise_platform, deck_height; up, rise, lift, level; Raise {o} by some height.|Lifts {o}.; How much to raise it.|By what height.; raise {o} by {q_u}|lift {o} {q_u}|!{o} must go up {q_u}|!{q_u} up with {o}|bring {o} up by {q_u}|!{o} is {q_u} too low, raise it|!up with {o}, {q_u}
time; s 1:7200, min 1:600, h 0.5:48, ms 100:20000; wait_time, hold_on, idle_for, pause_time; period, span, pause, wait; Wait for some time.|Pauses the robot.|Do nothing for a while.; How long to wait.|Length of the pause.|Waiting time.; wait {q_u}|wait for {q_u}|pause for {q_u}|!take a break of {q_u}|!{q_u} of rest|hold on for {q_u}|!give me {q_u}|do nothing for {q_u}|stay idle for {q_u}|!come back to me in {q_u}|rest {q_u}|sleep for {q_u}
time; s 5:5400, min 1:300, h 0.25:24; run_machine, machine_time, operate; run_time, span, on_time, cycle; Run {o} for some time.|Lets {o} work for a while.; How long it runs.|Running time.; run {o} for {q_u}|let {o} work for {q_u}|!{q_u} of {o}|!{o} for {q_u}, please|keep {o} going for {q_u}|!{o} should run {q_u}|operate {o} {q_u}|set {o} going for {q_u}
mass; g 5:9000, kg 0.1:60, kg 1:3000, t 0.1:30; add_stuff, dose_mass, pour_in, fill_hopper; mass, quantity, portion, load; Add some {o} by weight.|Doses {o}.|Puts {o} on the scales until the mass is reached.; How much to add.|Mass to dose.; add {q_u} of {o}|weigh out {q_u} of {o}|!I need {q_u} of {o}|put {q_u} of {o} in|!{q_u} of {o}, please|dose {q_u} of {o}|!we want {q_u} of {o}|measure {q_u} of {o}|!{o}: {q_u}
mass; kg 1:900, g 100:20000, t 0.05:5; set_counterweight, ballast, trim_weight; weight, ballast, mass; Set the ballast of {o}.|Adjusts the weight that {o} carries.; The weight.|New ballast.; set the ballast of {o} to {q_u}|load {o} with {q_u}|!{o} gets {q_u} of ballast|give {o} {q_u} of weight|!a ballast of {q_u} for {o}|put {q_u} on {o}
volume; ml 5:5000, l 0.1:200, cl 1:500; pour_liquid, dispense, tap_out, pump_over; volume, amount, measure, filling; Pour some {o}.|Dispenses {o}.|Lets {o} flow until the volume is reached.; How much to pour.|Volume.; pour {q_u} of {o}|!{q_u} of {o}, please|dispense {q_u} of {o}|!I would like {q_u} of {o}|fill in {q_u} of {o}|tap {q_u} of {o}|!we need {q_u} of {o}|let {q_u} of {o} flow
angle; deg 1:360, rad 0.05:6.28, deg -180:180; swing_head, tilt_by, turn_dish, wheel_turn; turn, swing, rotation, by; Turn {o} by an angle.|Swings {o} round.|Rotates {o}.; How far to turn it.|Angle of the turn.; turn {o} by {q_u}|swing {o} {q_u}|rotate {o} by {q_u}|!{o} needs a turn of {q_u}|!{q_u} with {o}|give {o} a turn of {q_u}|move {o} round by {q_u}|!{o}: {q_u} round
speed; m/s 0.1:30, km/h 1:120, cm/s 1:300; set_pace, run_it_at, moving_rate; pace, rate, velocity, tempo; Set how fast {o} moves.|Speed of {o}.|Adjusts the pace of {o}.; How fast.|New pace.; run {o} at {q_u}|set {o} to {q_u}|!{o} should go at {q_u}|let {o} move at {q_u}|!{q_u} for {o}|make {o} go {q_u}|bring {o} to {q_u}|!I want {o} at {q_u}
ratio; % 0:100, fraction 0:1; set_opening, dim_to, power_share, fill_to; share, part, degree, extent; Set {o} to a part of its full value.|How much of {o} is used.|Drives {o} at some part of the full power.; Part of the full value.|How much of it.; set {o} to {q_u}|bring {o} to {q_u}|!{o} at {q_u}|put {o} at {q_u}|!{o} should be at {q_u}|run {o} at {q_u}|turn {o} to {q_u}|!{q_u} on {o}, please
""".strip().split('\n'))


def names() -> set[str]:
    """Return the tools' names."""
    return {name.strip() for kind in _KINDS for name in kind[2].split(',')}


def argument_names() -> set[str]:
    """Return the arguments' names."""
    return {name.strip() for kind in _KINDS for name in kind[3].split(',')}


def draw_measured(rng: random.Random) -> Skill:
    """Make a skill of one quantity."""
    _, ranges, tools, labels, abouts, told, frames = rng.choice(_KINDS)
    unit, bounds = rng.choice(ranges.split(', ')).rsplit(' ', 1)
    low, high = (float(v) for v in bounds.split(':'))
    low, high = int(low) if low == int(low) else low, int(high) if high == int(high) else high
    thing = coined.coin(rng) if rng.random() < 0.3 else rare.noun(rng) if rng.random() < 0.7 else f'{rare.adjective(rng)} {rare.noun(rng)}'
    if ' of {o}' not in frames:
        thing = f'the {thing}'
    filled = [[each.strip().replace('{o}', thing).replace('the the ', 'the ') for each in part.split('|')] for part in (abouts, told, frames)]
    kind = 'integer' if low >= 1 and unit not in ('rad', 't', 'km', 'l', 'h', 'm/s', 'fraction') and rng.random() < 0.35 else 'number'
    words = [n.strip() for n in labels.split(',')]
    says = tuple(filled[2])
    arg = Arg('q', kind, (*words, *words, coined.coin(rng)), tuple(filled[1]), low=low, high=high, step=0.01 if kind == 'number' else 1, unit=unit)
    tail = thing.removeprefix('the ').replace(' ', '_').replace('-', '_')
    names_of = [n.strip() for n in tools.split(',')]
    return Skill(f'p:m:{tail}', (*names_of, f'{names_of[0]}_{tail}', f'{tail}_{words[0]}'), tuple(filled[0]), says, (arg,), near=tuple(f'v:{s.lstrip("!").split()[0]}' for s in says if s[0] != '!'), says_units=True)
