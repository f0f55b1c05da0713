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


"""Families about several wishes, corrections, conditions, standing rules and repetition."""

from __future__ import annotations

from .kit import an
from .kit import battery
from .kit import boolean
from .kit import call
from .kit import calm
from .kit import capital
from .kit import case
from .kit import detections
from .kit import invalid
from .kit import missing
from .kit import mixed
from .kit import NO_ACTION
from .kit import odometry
from .kit import order
from .kit import reading
from .kit import REFUSE
from .kit import result
from .kit import say
from .kit import scan
from .kit import user
from .register import closed
from .register import family
from .register import with_choice
from .register import WORLDS
from .values import ITEMS

CLASHING = frozenset({frozenset(pair) for pair in (
    ('heave_anchor', 'let_anchor_fall'), ('walk_to_hall', 'hand_out'), ('scrub_zone', 'go_to_zone'))})


def two(rng):
    """Return two wishes of one robot that do not contradict each other, and its skills."""
    while True:
        world = rng.choice(WORLDS)
        first, second = rng.sample(closed(world), 2)
        wishes = order(rng, first), order(rng, second)
        is_clear = not any(',' in wish.clause for wish in wishes)
        if is_clear and frozenset((first.name, second.name)) not in CLASHING:
            return *wishes, world


def _tools(rng, world, *wishes):
    return mixed(rng, list({w.skill.name: w.skill for w in wishes}.values()), world, 4, 6)


@family('calls/simultaneous', 42)
def simultaneous(rng):
    first, second, world = two(rng)
    a, b = first.clause, second.clause
    said = rng.choice((
        f'{capital(a)} and at the same time {b}.', f'{capital(a)}, and {b} at the same time.',
        f'While you {a}, {b}.', f'{capital(a)}; meanwhile {b}.',
        f'Do both at once: {a} and {b}.', f'Please {a} and meanwhile {b}.',
        f'{capital(a)} and {b}, both at once.', f'{capital(a)} while you {b}.',
        f'At the same time {a} and {b}, please.',
    ))
    return case('', said, call(first, second), _tools(rng, world, first, second),
                observations=calm(rng))


@family('first_step/then', 24)
def first_then(rng):
    first, second, world = two(rng)
    a, b = first.clause, second.clause
    said = rng.choice((
        f'{capital(a)}, then {b}.', f'First {a}, then {b}.', f'{capital(a)} and then {b}.',
        f'{capital(a)}. After that, {b}.', f'Please {a} first and {b} after that.',
        f'{capital(a)}, and when you are done, {b}.', f'First of all {a}, and then {b}.',
    ))
    return case('', said, call(first), _tools(rng, world, first, second), observations=calm(rng))


@family('first_step/and', 15)
def first_and(rng):
    first, second, world = two(rng)
    said = rng.choice(('{A} and {b}.', '{A}, {b}.', 'Please {a} and {b}.', 'Could you {a} and {b}?'))
    said = said.format(a=first.clause, A=capital(first.clause), b=second.clause)
    return case('', said, call(first), _tools(rng, world, first, second), observations=calm(rng))


@family('first_step/three', 12)
def first_of_three(rng):
    world = rng.choice(WORLDS)
    skills = rng.sample(closed(world), 3)
    if any(frozenset((one.name, other.name)) in CLASHING for one in skills for other in skills):
        return None
    wishes = [order(rng, skill) for skill in skills]
    if any(',' in wish.clause for wish in wishes):
        return None
    a, b, c = (wish.clause for wish in wishes)
    said = rng.choice((f'{capital(a)}, {b}, then {c}.', f'First {a}, then {b} and in the end {c}.',
                       f'{capital(a)}, after that {b}, and then {c}.'))
    return case('', said, call(wishes[0]), _tools(rng, world, *wishes), observations=calm(rng))


def _other_choice(rng, skill, value):
    values = skill.parameters[with_choice(skill)]['enum']
    return rng.choice([each for each in values if each != value])


@family('correction/value', 24)
def corrected_value(rng):
    """The last word counts."""
    world = rng.choice(WORLDS)
    skills = [s for s in closed(world) if with_choice(s) and len(s.parameters) == 1]
    if not skills:
        return None
    wish = order(rng, rng.choice(skills))
    name = with_choice(wish.skill)
    spoken = wish.spoken[name]
    if not wish.clause.endswith(spoken):
        return None
    wrong = _other_choice(rng, wish.skill, wish.arguments[name]).replace('_', ' ')
    start = wish.clause.removesuffix(spoken)
    lead = 'the ' if start.endswith('the ') else ''
    said = rng.choice((
        f'{capital(start)}{wrong}, no, {lead}{spoken}.',
        f'{capital(start)}{wrong}, sorry, I mean {lead}{spoken}.',
        f'{capital(start)}{wrong}, no wait, {lead}{spoken}.',
        f'{capital(start)}{wrong}. No, make that {lead}{spoken}.',
        f'Please {start}{wrong}, or rather {lead}{spoken}.',
        f'{capital(start)}{wrong}... actually, {lead}{spoken}.',
    ))
    return case('', said, call(wish), _tools(rng, world, wish), observations=calm(rng))


@family('correction/number', 15)
def corrected_number(rng):
    world = rng.choice(WORLDS)
    skills = [s for s in closed(world) if len(s.parameters) == 1
              and next(iter(s.parameters.values()))['type'] in ('integer', 'number')]
    if not skills:
        return None
    skill = rng.choice(skills)
    wish, wrong = order(rng, skill), order(rng, skill)
    right_words, wrong_words = next(iter(wish.spoken.values())), next(iter(wrong.spoken.values()))
    if right_words == wrong_words:
        return None
    said = rng.choice(('{A}, no, {n}.', '{A}, sorry, {n}.', '{A}. No wait, {n}.',
                       '{A}, correction, {n}.', '{A}, I mean {n}.'))
    clause = wish.clause.replace(right_words, wrong_words, 1)
    return case('', said.format(A=capital(clause), n=right_words), call(wish),
                _tools(rng, world, wish), observations=calm(rng))


@family('correction/not_but', 21)
def not_but(rng):
    first, second, world = two(rng)
    a, b = first.clause, second.clause
    said = rng.choice((
        f'Do not {a}, {b}.', f"Don't {a}, {b} instead.", f'Do not {a} but {b}.',
        f'{capital(a)}? No, do not do that. {capital(b)}.', f'Never mind the first plan: do not {a}, {b}.',
        f'{capital(b)}, and do not {a}.', f"Please don't {a}. {capital(b)}.",
    ))
    return case('', said, call(second), _tools(rng, world, first, second),
                observations=calm(rng))


def _condition(rng, holds):
    """Return words for a condition, and an input of which it holds or not."""
    kind = rng.randrange(6)
    if kind == 0:
        limit = rng.choice((30, 40, 50, 60, 70))
        below = rng.random() < 0.5
        charge = rng.randint(22, limit - 2) if below == holds else rng.randint(limit + 2, 97)
        word = rng.choice(('below', 'under', 'less than') if below else ('above', 'over', 'more than'))
        return f'the battery is {word} {limit} {rng.choice(("%", "percent"))}', battery(charge)
    if kind == 1:
        limit = rng.choice((1, 1.5, 2))
        near = round(rng.uniform(0.5, limit - 0.1), 2) if holds else round(rng.uniform(limit + 0.2, 5), 2)
        return f'something in front is nearer than {limit:g} m', scan(near)
    if kind == 2:
        item, other = rng.sample(ITEMS, 2)
        seen = item if holds else other
        return f'you see {an(item)}', detections((seen, 2.4, -1.0), (rng.choice(('box', 'chair')), 4.0, 1.5))
    if kind == 3:
        topic, words = rng.choice((('gate_open', 'the gate is open'), ('door_locked', 'the door is locked'),
                                   ('rain', 'it rains'), ('tank_full', 'the tank is full')))
        return words, boolean(topic, holds)
    if kind == 4:
        limit, warm = rng.choice((15, 20, 25, 30)), rng.random() < 0.5
        value = limit + rng.randint(2, 9) * (1 if warm == holds else -1)
        return f'it is {"warmer" if warm else "colder"} than {limit} degrees', reading('temperature', float(value))
    status = 1 if holds else 2
    return 'you are charging', battery(rng.randint(30, 90), status)


@family('condition/one_branch', 29)
def one_branch(rng):
    wish, _, world = two(rng)
    words, found = _condition(rng, True)
    said = rng.choice((f'If {words}, {wish.clause}.', f'{capital(wish.clause)} if {words}.',
                       f'In case {words}, {wish.clause}.'))
    return case('', said, call(wish), _tools(rng, world, wish), state_dependent=True,
                observations=_around(rng, found))


@family('condition/no_branch', 29)
def no_branch(rng):
    """The condition does not hold: nothing is to be done."""
    wish, _, world = two(rng)
    words, found = _condition(rng, False)
    said = rng.choice((f'If {words}, {wish.clause}.', f'{capital(wish.clause)} if {words}.',
                       f'In case {words}, {wish.clause}.'))
    return case('', said, NO_ACTION, _tools(rng, world, wish), state_dependent=True,
                forbid=[wish.skill.name], observations=_around(rng, found))


@family('condition/otherwise', 36)
def otherwise(rng):
    first, second, world = two(rng)
    holds = rng.random() < 0.5
    words, found = _condition(rng, holds)
    a, b = first.clause, second.clause
    said = rng.choice((f'If {words}, {a}, otherwise {b}.', f'If {words} then {a}, else {b}.',
                       f'{capital(a)} if {words}, otherwise {b}.'))
    return case('', said, call(first if holds else second), _tools(rng, world, first, second),
                state_dependent=True, observations=_around(rng, found))


@family('condition/unknown', 22)
def unknown(rng):
    """What the condition needs is missing, invalid or too old."""
    wish, _, world = two(rng)
    words, found = _condition(rng, rng.random() < 0.5)
    kind = rng.randrange(3)
    if kind == 0:
        found = missing(found['topic'], found['type'])
    elif kind == 1 and not found['type'].startswith('std_msgs/msg/Bool'):
        found = invalid(found['topic'], found['type'], 'cannot be decoded')
    else:
        found['age_s'] = found['max_age_s'] + rng.choice((3, 12, 40))
    return case('', f'If {words}, {wish.clause}.', REFUSE, _tools(rng, world, wish),
                state_dependent=True, forbid=[wish.skill.name], observations=_around(rng, found))


def _around(rng, found):
    """Put an input among others of a robot that is well."""
    others = [odometry(round(rng.uniform(-5, 5), 2), round(rng.uniform(-5, 5), 2), 90),
              battery(rng.randint(45, 90)), scan(round(rng.uniform(2.5, 6), 2))]
    others = [each for each in others if each['topic'] != found['topic']]
    rng.shuffle(others)
    others = others[:rng.randint(0, len(others))]
    others.insert(rng.randint(0, len(others)), found)
    return others


NOW = ('What should the robot do now?', 'What should the robot do now?', 'What should you do now?')
RULES = (
    ('gate_open', 'the gate is reported open', boolean),
    ('smoke', 'smoke is reported', boolean),
    ('belt_empty', 'the belt is reported empty', boolean),
    ('visitor_waiting', 'a visitor is waiting', boolean),
)


@family('system_rule/holds', 21)
def rule_holds(rng):
    return _rule(rng, True)


@family('system_rule/does_not_hold', 15)
def rule_does_not_hold(rng):
    return _rule(rng, False)


def _rule(rng, holds):
    world = rng.choice(WORLDS)
    wish = order(rng, rng.choice([s for s in closed(world) if s.name not in ('fly_leg',)]))
    (topic, words, make), (other_topic, other_words, _) = rng.sample(RULES, 2)
    other = order(rng, rng.choice([s for s in closed(world) if s.name != wish.skill.name]))
    rules = [f'When {words}, {_do(rng, wish)}.', f'When {other_words}, {_do(rng, other)}.']
    rng.shuffle(rules)
    system = rng.choice(('You run a robot.', 'You decide for one robot.',
                         'You are the mind of a small machine.'))
    found = [make(topic, holds), boolean(other_topic, False), battery(rng.randint(40, 95)),
             scan(round(rng.uniform(1.5, 6), 2))]
    rng.shuffle(found)
    return case('', rng.choice(NOW), call(wish) if holds else NO_ACTION,
                _tools(rng, world, wish, other), system=' '.join((system, *rules)),
                state_dependent=True, observations=found)


def _do(rng, wish):
    """Return a wish as a rule says it: in words, or as the call."""
    flat = all(isinstance(v, (str, int, float)) for v in wish.arguments.values())
    if not flat or rng.random() < 0.5:
        return wish.clause
    given = [f'{name} {str(value).lower() if isinstance(value, bool) else value}'
             for name, value in wish.arguments.items()]
    return f'call {wish.skill.name}' + (f' with {" and ".join(given)}' if given else '')


AGAIN = ('Again.', 'Once more.', 'Do that again.', 'Once more, please.', 'The same again.',
         'Again, please.', 'Please do it once more.', 'Repeat that.')


@family('again', 18)
def again(rng):
    """The last call, with the same arguments; an earlier one may stand before it."""
    first, second, world = two(rng)
    turns = []
    if rng.random() < 0.5:
        turns += [user(say(rng, first.clause)), result(first.call, 'done')]
    turns += [user(say(rng, second.clause)), result(second.call, 'done')]
    turns.append(user(rng.choice(AGAIN)))
    return case('', '', call(second), _tools(rng, world, first, second), turns=turns,
                observations=calm(rng))
