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

"""Cases of stated rules and of conditions on any input, with either outcome alike in number."""

from __future__ import annotations

import re

from demo_data import frames_orders
from demo_data import frames_talk as frames
from demo_data import watch_kinds as watches
from demo_data.cases import Answer
from demo_data.cases import call
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import IDLE
from demo_data.cases import no_action
from demo_data.cases import refuse
from demo_data.conditions import arrange
from demo_data.conditions import Condition
from demo_data.gates import condition_beside
from demo_data.gates import own_things
from demo_data.makers_state import decide_text
from demo_data.observations import State
from demo_data.phrases import expand
from demo_data.phrases import join
from demo_data.phrases import Said
from demo_data.watches import Watch
from demo_data.wishes import Wish
from gemma_node.core import InputState

_FAULTS = (InputState.STALE, InputState.STALE, InputState.STALE, InputState.MISSING, InputState.INVALID)


def distract(m: CaseMaker, state: State, *used: Condition) -> None:
    """Add other inputs of the kinds that conditions are about."""
    taken: set[str] = set().union(*(c.homes for c in used)) if used else set()
    for _ in range(m.rng.choice((0, 0, 1, 1, 2, 3))):
        other = watches.draw(m.rng)
        if other.homes & (taken | state.names | {f.kind for f in state.facts}) or other.kind in ('report', 'speed', 'pose'):
            continue
        other.lay(m.rng, state, m.rng.random() < 0.5, None)
    m.rng.shuffle(state.observations)


def lay(m: CaseMaker, state: State, condition: Condition, *, truth: bool, fault: float) -> bool:
    """Make a condition hold or fail, or spoil its input; returns whether it was spoilt."""
    spoilt = m.rng.random() < fault
    arrange(m.rng, state, condition, truth=truth, fault=m.rng.choice(_FAULTS) if spoilt else None)
    if spoilt and type(condition) is Watch and m.rng.random() < 0.12:
        state.drop(condition.name)
    return spoilt


def ordered(m: CaseMaker) -> Case | None:
    """What to do now, under orders of which at most one holds: each as often as none."""
    rng = m.rng
    found = [(r, r.condition) for r in m.book.rules if r.kind == 'order' and r.condition is not None]
    if not found:
        return None
    state = m.state(trouble=rng.choice((0.03, 0.03, 0.25)), faults=0.0, breaks=0.05)
    chosen = rng.randrange(-1, len(found))
    spoils = rng.random() < 0.13
    # The one that is to hold comes last: others may be about the same input.
    for number in sorted(range(len(found)), key=lambda i: i == chosen):
        condition = found[number][1]
        lay(m, state, condition, truth=number == chosen, fault=1.0 if spoils and number == (chosen if chosen >= 0 else 0) else 0.0)
    distract(m, state, *(c for _, c in found))
    if any(c.is_close(state) for _, c in found) or _clashes(state, found):
        return None
    return Case('order', order_text(m), m.judge(state), state=state)


def _clashes(state: State, found: list[tuple[object, Condition]]) -> bool:
    """Return whether it is open which order counts: one holds while another cannot be decided."""
    problems = [bool(c.problem(state)) for _, c in found]
    holds = [not p and c.holds(state) for p, (_, c) in zip(problems, found, strict=True)]
    return (any(problems) and any(holds)) or sum(holds) > 1


def order_text(m: CaseMaker) -> str:
    """Ask what is to be done, as the package's trigger does mostly."""
    return expand(m.rng, m.rng.choice(frames_orders.DECIDE)) if m.rng.random() < 0.4 else decide_text(m)


def gated(m: CaseMaker) -> Case | None:
    """A wish for a tool that a state forbids in half of the cases."""
    rng = m.rng
    rules = [(r, r.condition) for r in m.book.rules if r.kind == 'needs' and r.condition is not None]
    if not rules:
        return None
    rule, condition = rng.choice(rules)
    free = [t for t in m.book.tools if t.name not in {r.tool for r, _ in rules}]
    is_free = bool(free) and rng.random() < 0.1
    wish = m.wish(rng.choice(free) if is_free else m.book.tool(rule.tool))
    if wish is None:
        return None
    state = m.state(faults=0.0, breaks=0.3)
    lay(m, state, condition, truth=rng.random() < (0.3 if is_free else 0.53), fault=0.06)
    distract(m, state, *(c for _, c in rules))
    if any(c.is_close(state) for _, c in rules):
        return None
    return Case('demand', m.say(wish.said, noise=0.6), call(wish.call), state=state)


def branching(m: CaseMaker) -> Case | None:
    """A wish under a condition, with or without another one for when it does not hold."""
    rng = m.rng
    condition = condition_beside(rng, m.book, joined=0.05) if rng.random() < 0.85 else watches.invent(rng)
    wish, other = m.wish(imperative=True, quote=True), m.wish(imperative=True, quote=True)
    if wish is None or other is None or not wish.is_negatable or not other.is_negatable or wish.call == other.call:
        return None
    state = m.state(faults=0.0)
    lay(m, state, condition, truth=rng.random() < 0.5, fault=0.07)
    distract(m, state, condition)
    if not condition.problem(state) and condition.is_close(state):
        return None
    return _said(m, state, condition, wish, other)


def _said(m: CaseMaker, state: State, condition: Condition, wish: Wish, other: Wish) -> Case:
    rng = m.rng
    roll = rng.random()
    pool = frames.BRANCHES if roll < 0.5 else frames.ONE_BRANCH if roll < 0.8 else frames.UNLESS_ONE
    clause = Said('{w}', {'w': condition.words(rng)}, False, frozenset(('w',)))
    said = join(rng.choice(pool), is_imperative=False, a=wish.said, b=other.said, c=clause)
    problem = condition.problem(state)
    answer: Answer
    if problem:
        answer = refuse(f'{condition.label} is {problem}')
    elif condition.holds(state) is not (pool is frames.UNLESS_ONE):
        answer = call(wish.call)
    else:
        answer = call(other.call) if pool is frames.BRANCHES else no_action(IDLE)
    return Case('condition', m.say(said, noise=0.5, polite=rng.random() < 0.7), answer, state=state)


def asked_beside(m: CaseMaker) -> Case | None:
    """A question on the state of a thing that a tool at hand could change: a reply, no call."""
    rng = m.rng
    things = own_things(m.book)
    thing = rng.choice(things) if things and rng.random() < 0.7 else ''
    watch = watches.states(rng, thing)
    truth = rng.random() < 0.5
    state = m.state(faults=0.0)
    watch.lay(rng, state, truth, None)
    fact = state.fact(watch.kind, watch.name)
    if watch.kind == 'fields' or fact is None:
        return None
    distract(m, state, watch)
    match = re.match(r'the (.+) is (\S+)$', rng.choice((watch.texts, watch.contrary))[0])
    if match is None:
        return None
    text = rng.choice(_ASKED).format(o=match.group(1), w=match.group(2))
    reply = f'{watch.name} is {"true" if fact.value else "false"}.' if watch.kind == 'flag' else f'{watch.name} says "{fact.value}".'
    return Case('question', m.say(Said(text, {}, False), noise=0.4), Answer(reply=reply), state=state)


_ASKED = (
    'is the {o} {w}?', 'is the {o} {w}?', 'is the {o} {w} now?', 'is it true that the {o} is {w}?', 'tell me whether the {o} is {w}', 'can you tell me if the {o} is {w}?', 'what about the {o}?', 'what state is the {o} in?', 'how is the {o}?', 'what do you know about the {o}?', 'in which state is the {o}?', 'is the {o} still {w}?', 'do you know whether the {o} is {w}?',
    'the {o}: {w} or not?', 'I wonder whether the {o} is {w}', 'report the state of the {o}', 'has the {o} become {w}?', 'say whether the {o} is {w}', 'what is the state of the {o}?', 'the {o} is {w}, right?', 'please check whether the {o} is {w} and tell me', 'what does the sensor of the {o} say?',
)
