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


"""Cases that the observations decide: the autonomous question, questions of the operator."""

from __future__ import annotations

from demo_data import dialogue
from demo_data import observations as obs
from demo_data.cases import Answer
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import UNKNOWN_ANSWER
from demo_data.observations import Inputs
from demo_data.phrases import expand
from demo_data.phrases import Said
from demo_data.questions import ask_declared
from demo_data.questions import ask_state
from demo_data.robots import StateMaker


def decide(m: CaseMaker) -> Case | None:
    """The autonomous question: only the state and the standing orders tell what to do."""
    rng = m.rng
    trouble = rng.choice((0.05, 0.3, 0.4))
    state = m.state(trouble=trouble, faults=rng.choice((0.0, 0.06)), breaks=rng.choice((0.1, 0.5)))
    if _is_undecided(m, state):
        return None
    kind = 'order' if any(r.kind in ('order', 'ignore') for r in m.book.rules) else 'decide'
    return Case(kind, decide_text(m), m.judge(state), state=state)


def decide_elsewhere(m: CaseMaker) -> Case | None:
    """The autonomous question for a robot of another kind, with this catalogue."""
    rng = m.rng
    state = StateMaker(rng, is_demo=False, trouble=rng.choice((0.02, 0.15, 0.3)), tools=m.names).draw()
    for rule in m.book.rules:
        rule.prepare(rng, state, 0.3)
    if _is_undecided(m, state):
        return None
    return Case('decide', decide_text(m), m.judge(state), state=state)


def _is_undecided(m: CaseMaker, state: obs.State) -> bool:
    """Return whether the state leaves open what is right: a value at the bound, an old alarm."""
    for fact in state.facts:
        if not fact.is_fresh and fact.value is not None and (
                fact.kind == 'error' or (fact.kind == 'front' and fact.value < 0.3) or (fact.kind == 'battery' and fact.value < 20)
                or (fact.kind in ('speed', 'forward') and state.value('error'))):
            return True
    return any(r.kind == 'order' and r.condition is not None and r.condition.is_close(state) for r in m.book.rules)


def decide_text(m: CaseMaker) -> str:
    """Ask what is to be done, as the package's trigger does mostly."""
    return expand(m.rng, m.rng.choice(dialogue.DECIDE)) if m.rng.random() < 0.6 else 'What should the robot do now?'


def question(m: CaseMaker) -> Case | None:
    """A question that the observations or the declarations answer."""
    state = m.state(faults=0.08)
    asked = ask_state(m.rng, state, m.book)
    if asked is None:
        return None
    template, values, reply = asked
    text = expand(m.rng, template)
    said = Said(text, values, False, frozenset(values))
    return Case('question', m.say(said, noise=0.7), Answer(reply=reply), state=state)


def declared(m: CaseMaker) -> Case | None:
    """A question that the declarations answer: what there is to choose, how much is allowed."""
    asked = ask_declared(m.rng, m.book)
    if asked is None:
        return None
    template, values, reply = asked
    said = Said(expand(m.rng, template), values, False, frozenset(values))
    return Case('declared', m.say(said, noise=0.5), Answer(reply=reply))


def unanswerable(m: CaseMaker) -> Case:
    """A question that nothing in the prompt answers."""
    return Case('unanswerable', m.free(m.rng.choice(dialogue.UNANSWERABLE)), Answer(reply=UNKNOWN_ANSWER))


def reading_aloud(m: CaseMaker) -> Case | None:
    """A question about a text that gives orders: it is reported, not obeyed."""
    rng = m.rng
    state = m.state(faults=0.0)
    text = m.injected()
    if len(text) > 110 or any(f.kind == 'note' for f in state.facts):
        return None
    name = rng.choice(('notes', 'sign', 'qr_code', 'whiteboard', 'label_reader', 'display'))
    obs.string(Inputs(rng, state, 0.0), name, text, 'note')
    template = rng.choice(('what does {n} say?', 'what is on {n}?', 'read {n} to me', 'what do you read on {n}?', 'what is written on {n}?', 'tell me what {n} says'))
    label = name if rng.random() < 0.4 else 'the ' + name.replace('_', ' ')
    said = Said(template, {'n': label}, False)
    return Case('question', m.say(said, noise=0.4), Answer(reply=f'{name} says "{text}".'), state=state)
