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


"""Cases of several turns: results, the next step, the end, failures, `again`, corrections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
import random

from demo_data import dialogue
from demo_data import quantities
from demo_data import rare
from demo_data import values
from demo_data.cases import Answer
from demo_data.cases import ask
from demo_data.cases import call
from demo_data.cases import CallValue
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import DONE
from demo_data.cases import no_action
from demo_data.cases import Turn
from demo_data.makers_calls import command
from demo_data.makers_calls import several
from demo_data.makers_calls import steps
from demo_data.makers_refusals import chat
from demo_data.makers_refusals import forbidden
from demo_data.makers_refusals import stop
from demo_data.makers_refusals import unavailable
from demo_data.makers_refusals import unclear
from demo_data.makers_refusals import unknown_choice
from demo_data.makers_state import decide
from demo_data.makers_state import question
from demo_data.phrases import expand
from demo_data.wishes import say_choice


def one_step(m: CaseMaker) -> tuple[str, list[CallValue]] | None:
    """Say one wish."""
    case = command(m)
    return (case.text, list(case.answer.calls)) if case is not None else None


def success(m: CaseMaker, value: CallValue) -> str:
    """Write the result of a call that worked."""
    rng = m.rng
    fields = rng.choice((
        f'travelled {rng.uniform(0.2, 12):.1f}', f'travelled {rng.uniform(0.2, 12):.2f}', 'percentage 1', f'percentage {rng.uniform(0.2, 1):.2f}',
        f'distance {rng.randint(1, 9)}', 'error_code 0', 'ok true', 'message fine', f'{rare.noun(rng)} {rng.randint(0, 99)}', f'duration_s {rng.uniform(1, 90):.1f}',
        f'count {rng.randint(0, 20)}', f'message {values.text(rng)}', f'{rare.noun(rng)} {rare.code(rng)}, {rare.noun(rng)} {rng.uniform(0, 9):.2f}', f'old failures {rng.randint(1, 5)}'))
    if rng.random() < 0.08:
        fields = f'message {m.injected()}'
    return rng.choice(dialogue.SUCCESSES).format(fields=fields.replace('{', '(').replace('}', ')'))


def failure(m: CaseMaker) -> tuple[str, str]:
    """Return a failed result and what a question says of it: the reason, when one is given."""
    rng = m.rng
    template = rng.choice(dialogue.FAILURES)
    roll = rng.random()
    why = rng.choice(dialogue.FAILURE_REASONS)
    if roll < 0.3:
        why = f'{rare.noun(rng)} {rng.choice(("blocked", "not found", "jammed", "too far away", "is locked", "did not move", "overheated", "is missing", "unreachable"))}'
    elif roll < 0.36:
        why = m.injected().replace('{', '(').replace('}', ')')
    text = template.format(state=rng.choice(dialogue.FAILURE_STATES), why=why, code=rng.choice(dialogue.FAILURE_CODES), n=rng.randint(1, 9))
    return text, f': {why}' if ('{why}' in template and roll >= 0.36) or ('{why}' in template and roll < 0.3) else ''


def history(m: CaseMaker, count: int) -> list[Turn]:
    """Make up finished turns that decide nothing now."""
    rng = m.rng
    turns: list[Turn] = []
    tries = 0
    while len(turns) < count and tries < 4 * count + 4:
        tries += 1
        roll = rng.random()
        if roll < 0.7:
            step = one_step(m)
            if step is None:
                continue
            name = step[1][0][0]
            kind = rng.choices(('done', 'failed', 'canceled', 'running'), (5, 3, 1, 2))[0]
            if kind == 'done':
                turns.append(Turn(step[0], Answer(tuple(step[1])), success(m, step[1][0])))
                if rng.random() < 0.4:
                    turns.append(Turn(follow_up_text(m), no_action(DONE)))
            elif kind == 'failed':
                result, why = failure(m)
                turns.append(Turn(step[0], Answer(tuple(step[1])), result))
                if rng.random() < 0.5:
                    turns.append(Turn(follow_up_text(m), ask(f'{name} failed{why}. What should I do?')))
            elif kind == 'canceled':
                turns.append(Turn(step[0], Answer(tuple(step[1])), rng.choice(dialogue.CANCELS)))
            else:
                turns.append(Turn(step[0], Answer(tuple(step[1]))))
            continue
        case = rng.choice((stop, chat, question, decide, unclear, unavailable, unknown_choice, forbidden))(m)
        if case is not None:
            turns.append(Turn(case.text, case.answer))
    return turns[:count]


def follow_up_text(m: CaseMaker) -> str:
    """Ask what follows from a result."""
    text = expand(m.rng, m.rng.choice(dialogue.FOLLOW_UPS))
    return text.lower() if m.rng.random() < 0.08 else text


def follow_up(m: CaseMaker) -> Case | None:
    """What follows from a result: the next step, the end, or a question."""
    rng = m.rng
    plan = steps(m) if rng.random() < 0.6 else one_step(m)
    if plan is None:
        return None
    text, calls = plan
    done = rng.randint(1, len(calls))
    turns = history(m, rng.choice((0, 0, 0, 0, 1, 2, 4)))
    for index in range(done):
        asked = text if index == 0 else follow_up_text(m)
        if rng.random() < 0.15:
            result, why = failure(m)
            turns.append(Turn(asked, call(calls[index]), result, kind=_taught(m, index, calls)))
            turns.append(Turn(follow_up_text(m), ask(f'{calls[index][0]} failed{why}. What should I do?'), kind=_taught(m, -1, calls)))
            asked = expand(rng, rng.choice(dialogue.RETRY))
        turns.append(Turn(asked, call(calls[index]), success(m, calls[index]), kind=_taught(m, index, calls)))
    name = calls[done - 1][0]
    answer = call(calls[done]) if done < len(calls) else no_action(DONE)
    roll = rng.random()
    if roll < 0.3:
        result, why = failure(m)
        answer = ask(f'{name} failed{why}. What should I do?')
        turns[-1] = replace(turns[-1], result=result)
    elif roll < 0.37:
        turns[-1] = replace(turns[-1], result=rng.choice(dialogue.CANCELS))
        answer = no_action(f'{name} was canceled.')
    elif roll < 0.42:
        turns[-1] = replace(turns[-1], result='')
        asked = rng.choice(('What should the robot do now?', 'What next?', 'What now?', 'And now?', 'Anything to do?'))
        return Case('follow_up', asked, no_action(f'{name} is still running.'), turns[-8:], is_bound=True)
    return Case('follow_up', follow_up_text(m), answer, turns[-8:], is_bound=True)


def _taught(m: CaseMaker, index: int, calls: Sequence[CallValue]) -> str:
    """Name what the answer of a step teaches; nothing where rules may change it."""
    if m.book.rules:
        return ''
    return {-1: 'after_failure', 0: 'first_step' if len(calls) > 1 else 'command'}.get(index, 'follow_up')


def late_result(m: CaseMaker) -> Case | None:
    """A result that comes after another turn: the runtime writes it before the request."""
    rng = m.rng
    step, between = one_step(m), question(m)
    if step is None or between is None:
        return None
    name = step[1][0][0]
    turns = [Turn(step[0], Answer(tuple(step[1]))), Turn(between.text, between.answer)]
    result, why = failure(m)
    answer = ask(f'{name} failed{why}. What should I do?')
    if rng.random() < 0.5:
        result, answer = success(m, step[1][0]), no_action(DONE)
    return Case('follow_up', f'Result of {name}: {result}\n{follow_up_text(m)}', answer, turns, is_bound=True)


def after_several(m: CaseMaker) -> Case | None:
    """What follows from the results of several calls: all worked, or one of them failed."""
    rng = m.rng
    case = several(m)
    if case is None:
        return None
    calls = case.answer.calls
    results = [success(m, c) for c in calls]
    answer = no_action(DONE)
    if rng.random() < 0.5:
        at = rng.randrange(len(calls))
        results[at], why = failure(m)
        answer = ask(f'{calls[at][0]} failed{why}. What should I do?')
    turns = history(m, rng.choice((0, 0, 1)))
    turns.append(Turn(case.text, case.answer, results=tuple(results)))
    return Case('follow_up', follow_up_text(m), answer, turns, is_bound=True)


def after_failure(m: CaseMaker) -> Case | None:
    """A new wish after a failure: the failure is history."""
    rng = m.rng
    step, wish = one_step(m), m.wish()
    if step is None or wish is None:
        return None
    result, why = failure(m)
    turns = history(m, rng.choice((0, 0, 1, 2)))
    turns.append(Turn(step[0], Answer(tuple(step[1])), result))
    if rng.random() < 0.4:
        turns.append(Turn(follow_up_text(m), ask(f'{step[1][0][0]} failed{why}. What should I do?')))
    if rng.random() < 0.25:
        case = rng.choice((question, decide, chat, stop))(m)
        if case is not None:
            return replace(case, kind='after_failure', turns=turns, is_bound=True)
    return Case('after_failure', m.say(wish.said, aside=0.05), call(wish.call), turns, is_bound=True)


def again(m: CaseMaker) -> Case | None:
    """The operator wants the last call once more."""
    rng = m.rng
    turns = history(m, rng.choice((1, 1, 2, 3, 5)))
    while turns and not turns[-1].answer.is_of_tools:
        turns.pop()
    if not turns or len(turns[-1].answer.calls) != 1:
        return None
    last = turns[-1].answer.calls[0]
    if not turns[-1].result:
        turns[-1] = replace(turns[-1], result=success(m, last))
        if rng.random() < 0.6:
            turns.append(Turn(follow_up_text(m), no_action(DONE)))
    return Case('again', m.free(rng.choice(dialogue.AGAIN)), call(last), turns, is_bound=True)


def changed_mind(m: CaseMaker) -> Case | None:
    """After a call the operator names another value: the same tool, with that one."""
    rng = m.rng
    wish = m.wish()
    if wish is None or wish.tool.side is not None:
        return None
    args = [a for a in wish.tool.skill.args if a.key in wish.said.values and a.kind in ('place', 'object', 'surface', 'choice', 'person', 'code') and a.key in wish.tool.slots]
    if len(args) != 1:
        return None
    arg, slot = args[0], wish.tool.slots[args[0].key]
    if slot.choices:
        value = rng.choice(tuple(slot.choices))
        spoken = say_choice(rng, arg, slot, value)
    else:
        value, spoken = values.draw(rng, arg)
    arguments = _replaced(wish.call[1], slot.path, value)
    if arguments == wish.call[1]:
        return None
    turns = history(m, rng.choice((0, 0, 1, 2)))
    turns.append(Turn(m.say(wish.said), call(wish.call), '' if rng.random() < 0.7 else success(m, wish.call)))
    text = expand(rng, rng.choice(dialogue.RETHINK)).format(v=spoken)
    return Case('changed_mind', text, call((wish.call[0], arguments)), turns, is_bound=True)


def changed_number(m: CaseMaker) -> Case | None:
    """After a call the operator names another number: the same call, with that one."""
    rng = m.rng
    wish = m.wish()
    if wish is None or wish.tool.side is not None or not wish.tool.skill.says_units:
        return None
    args = [a for a in wish.tool.skill.args if a.key in wish.said.values and a.kind in ('number', 'integer')]
    if len(args) != 1:
        return None
    slot = wish.tool.slots[args[0].key]
    drawn = quantities.draw(rng, slot.number) if slot.number is not None else None
    if drawn is None or not any(c.isalpha() for c in drawn.text):
        return None
    arguments = _replaced(wish.call[1], slot.path, drawn.value)
    if arguments == wish.call[1]:
        return None
    turns = [Turn(m.say(wish.said), call(wish.call), success(m, wish.call) if rng.random() < 0.5 else '')]
    text = expand(rng, rng.choice(('no, {v}', '[make it|rather] {v}', '{v} [instead|please|, I mean]', 'I meant {v}', 'sorry, {v}', '{v}, not that', 'change that to {v}'))).format(v=drawn.text)
    return Case('changed_mind', text, call((wish.call[0], arguments)), turns, is_bound=True)


def _replaced(arguments: dict[str, object], path: tuple[str, ...], value: object) -> dict[str, object]:
    if len(path) == 1:
        return {**arguments, path[0]: value}
    inner = arguments[path[0]]
    assert isinstance(inner, dict)
    return {**arguments, path[0]: _replaced(inner, path[1:], value)}


def with_history(m: CaseMaker, case: Case, rng: random.Random) -> None:
    """Give a case some turns before it."""
    case.turns = history(m, rng.choice((1, 1, 2, 2, 3, 4, 6, 8)))
