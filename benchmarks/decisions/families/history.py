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


"""Families about what follows a result: the next step, nothing, or a question."""

from __future__ import annotations

from .flow import two
from .kit import call
from .kit import calm
from .kit import capital
from .kit import case
from .kit import mixed
from .kit import NO_ACTION
from .kit import order
from .kit import REFUSE
from .kit import replied
from .kit import result
from .kit import say
from .kit import user
from .register import closed
from .register import family
from .register import WORLDS

DONE = ('done', 'done', 'done, travelled 4.2', 'done, duration 12.5', 'done, state ready', 'done')
FAILED = ('failed: rejected', 'failed: the way is blocked', 'failed: its server is gone',
          'failed: timed out', 'failed: no path', 'failed: it was aborted',
          'failed: its server does not answer', 'failed: not ready')
CANCELED = ('canceled by the operator', 'canceled: the operator took over', 'canceled')


def _tools(rng, world, *wishes):
    return mixed(rng, list({w.skill.name: w.skill for w in wishes}.values()), world, 4, 6)


def _steps(a, b):
    return (f'{capital(a)}, then {b}.', f'First {a}, then {b}.', f'{capital(a)} and then {b}.',
            f'{capital(a)}. After that, {b}.', f'{capital(a)} and {b}.')


@family('follow_up/next', 30)
def next_step(rng):
    first, second, world = two(rng)
    turns = [user(rng.choice(_steps(first.clause, second.clause))),
             result(first.call, rng.choice(DONE)), user('')]
    return case('', '', call(second), _tools(rng, world, first, second), turns=turns,
                observations=calm(rng))


@family('follow_up/third', 13)
def third_step(rng):
    world = rng.choice(WORLDS)
    skills = rng.sample(closed(world), 3)
    if {'heave_anchor', 'let_anchor_fall'} <= {s.name for s in skills}:
        return None
    a, b, c = (order(rng, skill) for skill in skills)
    if any(',' in wish.clause for wish in (a, b, c)):
        return None
    turns = [user(f'First {a.clause}, then {b.clause} and in the end {c.clause}.'),
             result(a.call, rng.choice(DONE)), user(''), result(b.call, rng.choice(DONE)), user('')]
    return case('', '', call(c), _tools(rng, world, a, b, c), turns=turns, observations=calm(rng))


@family('follow_up/done', 23)
def done(rng):
    """The task is done: nothing follows."""
    first, second, world = two(rng)
    if rng.random() < 0.5:
        turns = [user(say(rng, first.clause)), result(first.call, rng.choice(DONE)), user('')]
    else:
        turns = [user(rng.choice(_steps(first.clause, second.clause))),
                 result(first.call, rng.choice(DONE)), user(''),
                 result(second.call, rng.choice(DONE)), user('')]
    return case('', '', NO_ACTION, _tools(rng, world, first, second), turns=turns,
                observations=calm(rng))


@family('follow_up/failed', 26)
def failed(rng):
    first, second, world = two(rng)
    said = rng.choice((say(rng, first.clause), *_steps(first.clause, second.clause)))
    turns = [user(said), result(first.call, rng.choice(FAILED)), user('')]
    return case('', '', REFUSE, _tools(rng, world, first, second), turns=turns,
                observations=calm(rng))


@family('follow_up/canceled', 16)
def canceled(rng):
    first, second, world = two(rng)
    said = rng.choice((say(rng, first.clause), *_steps(first.clause, second.clause)))
    turns = [user(said), result(first.call, rng.choice(CANCELED)), user('')]
    return case('', '', NO_ACTION, _tools(rng, world, first, second), turns=turns,
                observations=calm(rng))


@family('follow_up/old_failure', 16)
def old_failure(rng):
    """Only the newest result counts."""
    first, second, world = two(rng)
    turns = [user(say(rng, first.clause)), result(first.call, rng.choice(FAILED)),
             user(say(rng, second.clause)), result(second.call, rng.choice(DONE)), user('')]
    return case('', '', NO_ACTION, _tools(rng, world, first, second), turns=turns,
                observations=calm(rng))


@family('follow_up/new_wish', 20)
def new_wish(rng):
    """History does not change what a new wish means."""
    first, second, world = two(rng)
    turns = [user(say(rng, first.clause)), result(first.call, rng.choice((*DONE, *FAILED)))]
    if rng.random() < 0.4:
        turns += [user('Thank you.'), replied('You are welcome.')]
    turns.append(user(say(rng, second.clause)))
    return case('', '', call(second), _tools(rng, world, first, second), turns=turns,
                observations=calm(rng))
