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
What there is to learn: a case is history, observations, request, and the right answer.

`CaseMaker` draws cases of one robot with one catalogue; the makers of each kind are in the
modules `makers_*`. Rules are those of docs/behaviour.md. Nothing here knows of tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
import random
from typing import Any

from demo_data import speech
from demo_data.catalogues import Book
from demo_data.catalogues import BUILTINS
from demo_data.catalogues import Tool
from demo_data.injections import injection
from demo_data.observations import NEAR_M
from demo_data.observations import State
from demo_data.phrases import Said
from demo_data.robots import StateMaker
from demo_data.wishes import make_wish
from demo_data.wishes import plain_of
from demo_data.wishes import Wish

LOW_BATTERY = 20
MOVING_MPS = 0.1
DONE = 'The task is done.'
IDLE = 'Nothing to do.'
NO_TOOL = 'I have no tool for that. What should I do instead?'
UNKNOWN_ANSWER = 'I do not know that.'

CallValue = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Answer:
    """What the model should say: calls, or a reply."""

    calls: tuple[CallValue, ...] = ()
    reply: str = ''

    @property
    def call(self) -> CallValue | None:
        """The first call."""
        return self.calls[0] if self.calls else None

    @property
    def is_of_tools(self) -> bool:
        """Whether it calls tools of the catalogue."""
        return bool(self.calls) and self.calls[0][0] not in BUILTINS


@dataclass(frozen=True)
class Turn:
    """
    A finished turn: the request, the answer, and the result of its call, or `results` of several.

    `kind` says what the answer teaches; without one it is only read.
    """

    text: str
    answer: Answer
    result: str = ''
    results: tuple[str, ...] = ()
    kind: str = ''


@dataclass
class Case:
    """One thing to learn."""

    kind: str
    text: str
    answer: Answer
    turns: list[Turn] = field(default_factory=list)
    state: State | None = None
    is_bound: bool = False


def call(value: CallValue, *more: CallValue) -> Answer:
    """Answer with calls."""
    return Answer((value, *more))


def no_action(reason: str) -> Answer:
    """Answer with the builtin no_action."""
    return Answer((('no_action', {'reason': reason}),))


def ask(question: str) -> Answer:
    """Answer with the builtin ask_operator."""
    return Answer((('ask_operator', {'question': question}),))


def refuse(reason: str) -> Answer:
    """Refuse for a reason: the operator is asked what to do."""
    return ask(f'{reason[:1].upper()}{reason[1:]}. What should I do?')


STOP_CALL = Answer((('stop', {}),))
Maker = Callable[['CaseMaker'], 'Case | None']


class CaseMaker:
    """Draws cases for one catalogue."""

    def __init__(
        self, rng: random.Random, book: Book, robot: str, *, second: bool = False, brief: bool = False
    ) -> None:
        self.rng = rng
        self.second = second
        self.brief = brief
        self.book = book
        self.robot = robot
        self.names = book.names

    def draw(self, makers: tuple[tuple[float, Maker], ...]) -> Case:
        """Make one case of any kind that this catalogue allows."""
        weights = [weight for weight, _ in makers]
        case = None
        while case is None:
            case = self.rng.choices(makers, weights)[0][1](self)
            if case is not None:
                case = self.finish(case)
        return case

    def blind(self, makers: tuple[tuple[float, Maker], ...]) -> Case | None:
        """Make one case whose answer no observation changes, or None."""
        case = self.rng.choices([make for _, make in makers], [weight for weight, _ in makers])[0](self)
        if case is None or (case.state is not None and case.kind != 'limit') or case.turns:
            return None
        called = {name for name, _ in case.answer.calls}
        if any(r.tool in called and r.kind in ('age', 'fresh', 'needs', 'closed', 'gate') for r in self.book.rules):
            return None
        case.state = State()
        return self.finish(case)

    def finish(self, case: Case) -> Case | None:
        """Add what a case lacks: state, and refusals that stated rules demand."""
        if case.state is None:
            case.state = self.state(most=self.rng.choice((0, 1, 2, 99, 99, 99, 99)))
        answer = case.answer
        if answer.is_of_tools:
            reasons = [self.broken(c, case.state) for c in answer.calls]
            if any(reasons):
                if len(answer.calls) > 1:
                    return None
                case.answer = refuse(reasons[0])
                case.kind = 'rule' if case.kind == 'command' else case.kind
        return case

    def broken(self, value: CallValue, state: State) -> str:
        """Say why stated rules forbid a call, or nothing."""
        name, arguments = value
        for rule in self.book.rules:
            if rule.tool == name:
                reason = rule.broken(arguments, state)
                if reason:
                    return reason
        return ''

    def state(self, *, trouble: float = 0.1, faults: float = 0.05, breaks: float = 0.12, most: int = 99) -> State:
        """Draw a state; it has what the stated rules need."""
        if self.brief:
            most = min(most, self.rng.choice((0, 0, 0, 1, 2)))
        elif self.second:
            most = min(most, self.rng.choice((1, 1, 2, 2, 3, 3, 4, 5, 99)))
        is_demo = self.book.is_demo and self.rng.random() < 0.7
        state = StateMaker(self.rng, is_demo=is_demo, trouble=trouble, faults=faults, tools=self.names).draw(most)
        for rule in self.book.rules:
            rule.prepare(self.rng, state, breaks)
        if self.book.rules and self.rng.random() < 0.5:
            self.rng.shuffle(state.observations)
        return state

    def wish(self, tool: Tool | None = None, *, imperative: bool = False, quote: bool = False) -> Wish | None:
        """Choose a tool and a sentence for it."""
        if tool is None:
            if not self.book.tools:
                return None
            tool = self.rng.choice(self.book.tools)
        return make_wish(self.rng, tool, imperative=imperative, quote=quote)

    def wishes(self, count: int) -> list[Wish] | None:
        """Draw wishes for different tools, fit to be joined in one sentence."""
        if len(self.book.tools) < count:
            return None
        found = [self.wish(t, imperative=True, quote=True) for t in self.rng.sample(self.book.tools, count)]
        usable = [w for w in found if w is not None and w.is_negatable]
        if len(usable) < count:
            return None
        if any(' and ' in plain_of(w) or '. ' in plain_of(w) or ', ' in plain_of(w) for w in usable) and self.rng.random() < 0.8:
            return None
        return usable

    def say(self, said: Said, *, aside: float = 0.0, noise: float = 1.0, polite: bool = True) -> str:
        """Say a sentence as operators do."""
        text = speech.dress(self.rng, said, self.robot, noise=noise, polite=polite)
        if aside and self.rng.random() < aside and not text.isupper():
            text = speech.with_aside(self.rng, text)
        return text

    def free(self, template: str) -> str:
        """Say a template whose values matter to nobody."""
        return self.say(speech.free(self.rng, template))

    def injected(self) -> str:
        """Compose an injection."""
        return injection(self.rng, self.names)

    def judge(self, state: State) -> Answer:
        """Decide by the state alone: rule 14, after the standing orders of rule 8."""
        for rule in self.book.rules:
            if rule.kind == 'order' and rule.condition is not None and rule.order is not None:
                problem = rule.condition.problem(state)
                if problem:
                    return refuse(f'{rule.condition.label} is {problem}')
                if rule.condition.holds(state):
                    reason = self.broken(rule.order, state)
                    return refuse(reason) if reason else call(rule.order)
                if rule.other is not None:
                    reason = self.broken(rule.other, state)
                    return refuse(reason) if reason else call(rule.other)
        ignored = {r.value for r in self.book.rules if r.kind == 'ignore'}
        front = state.value('front') if 'front' not in ignored else None
        if front is not None and front < NEAR_M:
            return STOP_CALL
        error = state.value('error') if 'error' not in ignored else None
        speeds = [abs(f.value) for f in state.facts if f.kind in ('speed', 'forward') and f.is_usable]
        if error and max(speeds, default=0.0) >= MOVING_MPS:
            return STOP_CALL
        if error:
            return ask(f'The robot reports {error}. What should I do?')
        charge = state.value('battery')
        if charge is not None and charge < LOW_BATTERY and not state.value('charging') and 'battery' not in ignored:
            tool = self.book.by_skill('dock')
            if tool is not None:
                reason = self.broken((tool.name, {}), state)
                return refuse(reason) if reason else call((tool.name, {}))
            return ask(f'Battery is at {charge} %. What should I do?')
        if charge is not None:
            return no_action(f'Battery is at {charge} %. Nothing to do.')
        return no_action(IDLE)
