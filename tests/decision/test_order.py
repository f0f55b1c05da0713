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

from __future__ import annotations

from collections import Counter
import random

from decision_values import ask
from decision_values import robot
from fake_engine import decide
from fake_engine import FakeEngine
from fake_engine import make_decider
from fake_engine import prompt_text
from fake_engine import result_of
import pytest

from gemma_node.core import Answer
from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import Outcome
from gemma_node.core import Priority
from gemma_node.core import Request
from gemma_node.core import ToolResult
from gemma_node.decision.decider import Decider
from gemma_node.decision.decider import MAX_SESSIONS
from gemma_node.decision.prompt import PromptWriter
from gemma_node.errors import RequestError
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.tokenizer import Tokenizer


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(writer: PromptWriter) -> FakeEngine:
    return FakeEngine(writer)


@pytest.fixture
def decider(
    tokenizer: Tokenizer, template: ChatTemplate, engine: FakeEngine, clock: Clock
) -> Decider:
    return make_decider(tokenizer, template, engine, clock)


def submit(decider: Decider, *requests: Request) -> None:
    for request in requests:
        assert decider.submit(request, ()) is None


def resume_all(decider: Decider) -> list[Answer]:
    """Do what the worker's loop does after each step."""
    answers = []
    while (request_id := decider.due()) is not None:
        answer = decider.resume(request_id)
        answers += [answer] if answer is not None else []
    return answers


def started(engine: FakeEngine, *requests: Request) -> list[bool]:
    return [request.id in engine.generations for request in requests]


def finish(decider: Decider, engine: FakeEngine, request: Request, text: str = 'Yes.') -> Answer:
    answer = decider.on_result(engine.result(request, text))
    assert resume_all(decider) == []
    return answer


def test_the_second_prompt_of_a_session_holds_the_turn_before_it(
    decider: Decider, engine: FakeEngine
) -> None:
    first, second, third = (ask(text) for text in ('One?', 'Two?', 'Three?'))
    submit(decider, first, second, third)
    assert resume_all(decider) == []
    assert started(engine, first, second, third) == [True, False, False]
    finish(decider, engine, first, 'Alpha.')
    assert started(engine, first, second, third) == [True, True, False]
    assert 'One?<turn|>\n<|turn>model\nAlpha.<turn|>' in prompt_text(engine, second)
    finish(decider, engine, second, 'Beta.')
    text = prompt_text(engine, third)
    assert text.index('One?') < text.index('Alpha.') < text.index('Two?') < text.index('Beta.')
    assert finish(decider, engine, third).history_turns == 2
    assert decider.due() is None


def test_other_sessions_and_robots_do_not_wait(decider: Decider, engine: FakeEngine) -> None:
    requests = [ask('Go.'), ask('Go.', session='night'), ask('Go.', robot='beta')]
    submit(decider, *requests)
    assert all(started(engine, *requests))


def test_a_request_after_one_that_failed_starts_without_its_turn(
    decider: Decider, engine: FakeEngine
) -> None:
    first, second = ask('One?'), ask('Two?')
    submit(decider, first, second)
    failed = decider.on_result(engine.result(first, finish=Finish.LENGTH))
    assert failed.error_code is ErrorCode.TRUNCATED and resume_all(decider) == []
    assert 'One?' not in prompt_text(engine, second)


def test_high_priority_goes_before_waiting_ones_but_not_before_the_running(
    decider: Decider, engine: FakeEngine
) -> None:
    running, normal, low, also = ask('1'), ask('2'), ask('3', priority=Priority.LOW), ask('4')
    high, high_too = (ask(text, priority=Priority.HIGH) for text in ('5', '6'))
    submit(decider, running, normal, low, also, high, high_too)
    assert list(engine.generations) == [running.id] and engine.canceled == []
    order = [running, high, high_too, normal, also, low]
    for request in order:
        finish(decider, engine, request)
    assert list(engine.generations) == [request.id for request in order]


def test_a_newer_request_never_overtakes_one_whose_session_just_became_free(
    decider: Decider, engine: FakeEngine
) -> None:
    first, second, third = ask('1'), ask('2'), ask('3')
    submit(decider, first, second)
    decider.on_result(engine.result(first, 'Yes.'))
    submit(decider, third)
    assert started(engine, second, third) == [False, False]
    assert resume_all(decider) == []
    assert started(engine, second, third) == [True, False]


def test_a_waiting_request_is_checked_when_it_comes(decider: Decider, engine: FakeEngine) -> None:
    first, second = ask('Go.'), ask('Go.')
    submit(decider, first, second)
    wrong = decider.submit(ask('Go.', allowed_tools=('fly',)), ())
    assert wrong is not None and wrong.error_code is ErrorCode.NOT_ALLOWED
    again = decider.submit(second, ())
    assert again is not None and again.error_code is ErrorCode.INVALID_REQUEST
    finish(decider, engine, first)
    assert finish(decider, engine, second).outcome is Outcome.REPLY


def test_a_waiting_request_that_cannot_start_is_answered_and_the_next_one_starts(
    decider: Decider, engine: FakeEngine
) -> None:
    first, too_long, third = ask('One?'), ask('\U0001f916 ' * 2000), ask('Three?')
    submit(decider, first, too_long, third)
    decider.on_result(engine.result(first, 'Yes.'))
    (refused,) = resume_all(decider)
    assert (refused.request_id, refused.error_code) == (too_long.id, ErrorCode.CONTEXT_OVERFLOW)
    assert refused.outcome is Outcome.REFUSED
    assert finish(decider, engine, third).history_turns == 1


def test_an_error_at_its_start_leaves_the_line_without_the_request(
    decider: Decider, engine: FakeEngine
) -> None:
    first, second, third = ask('1'), ask('2'), ask('3')
    submit(decider, first, second, third)
    decider.on_result(engine.result(first, 'Yes.'))
    engine.error = RuntimeError('a bug')
    assert decider.due() == second.id
    with pytest.raises(RuntimeError):
        decider.resume(second.id)
    engine.error = None
    assert decider.due() == third.id and resume_all(decider) == []
    assert started(engine, third) == [True]


@pytest.mark.parametrize(('code', 'outcome'), [
    (ErrorCode.CANCELED, Outcome.FAILED), (ErrorCode.SUPERSEDED, Outcome.REFUSED),
])
def test_a_waiting_request_is_canceled_at_once(
    decider: Decider, engine: FakeEngine, clock: Clock, code: ErrorCode, outcome: Outcome
) -> None:
    first, second, third = ask('1'), ask('2'), ask('3')
    submit(decider, first, second, third)
    clock.now += 2
    answer = decider.cancel(second.id, code)
    assert answer is not None and answer.request_id == second.id
    assert (answer.outcome, answer.error_code) == (outcome, code)
    assert answer.queue_time == 2 and 'before its turn' in answer.error_msg
    assert decider.cancel(second.id) is None and decider.cancel(first.id) is None
    assert engine.canceled == [(first.id, ErrorCode.CANCELED)]
    finish(decider, engine, first)
    assert started(engine, second, third) == [False, True]


def test_the_deadline_counts_from_submit(
    decider: Decider, engine: FakeEngine, clock: Clock
) -> None:
    first, late, in_time, patient = (
        ask('Go.'), ask('Go.', timeout_s=5.0), ask('Go.', timeout_s=9.0), ask('Go.')
    )
    submit(decider, first, late, in_time, patient)
    clock.now += 4.9
    assert decider.due() is None
    clock.now += 0.1
    (answer,) = resume_all(decider)
    assert (answer.request_id, answer.error_code) == (late.id, ErrorCode.DEADLINE_EXCEEDED)
    assert answer.outcome is Outcome.FAILED and answer.queue_time == pytest.approx(5)
    finish(decider, engine, first)
    generation = engine.generations[in_time.id]
    assert generation.deadline == 109
    answered = finish(decider, engine, in_time)
    assert started(engine, patient) == [True]
    result = decider.on_result(engine.result(patient, 'Yes.', queue_time=0.25))
    assert result.queue_time == pytest.approx(5.25) and answered.history_turns == 1


def test_one_that_is_late_when_its_session_becomes_free_does_not_start(
    decider: Decider, engine: FakeEngine, clock: Clock
) -> None:
    first, second = ask('Go.'), ask('Go.', timeout_s=1.0)
    submit(decider, first, second)
    clock.now += 1
    decider.on_result(engine.result(first, 'Yes.'))
    (answer,) = resume_all(decider)
    assert answer.error_code is ErrorCode.DEADLINE_EXCEEDED
    assert started(engine, second) == [False]


def test_requests_from_before_a_reset_see_no_history_and_do_not_join_it(
    decider: Decider, engine: FakeEngine
) -> None:
    decide(decider, engine, ask('My secret.'), 'Yes.')
    running, waiting = ask('One?'), ask('Two?')
    submit(decider, running, waiting)
    decider.reset('alpha', '', 0)
    after = ask('Three?')
    submit(decider, after)
    finish(decider, engine, running)
    text = prompt_text(engine, waiting)
    assert 'secret' not in text and 'One?' not in text
    finish(decider, engine, waiting)
    assert finish(decider, engine, after).history_turns == 0
    assert decider.history_turns('alpha') == 1


def test_a_reset_drops_the_states_that_the_engine_keeps_of_the_session(
    decider: Decider, engine: FakeEngine
) -> None:
    first, other, beta = ask('Go.'), ask('Go.', session='night'), ask('Go.', robot='beta')
    for request in (first, other, beta):
        decide(decider, engine, request, 'Yes.')
    keys = [engine.generations[request.id].state_key for request in (first, other, beta)]
    # The node looks a robot's context up in the counters by its name.
    assert keys == ['alpha', 'alpha/night', 'beta']
    decider.reset('alpha', '', 1)
    assert engine.forgotten == ['alpha']
    decider.reset('', '')
    assert engine.forgotten == ['alpha', 'alpha', 'beta']


def test_states_kept_by_a_generation_that_a_reset_outran_are_dropped_too(
    decider: Decider, engine: FakeEngine
) -> None:
    before, after = ask('Go.'), ask('Go.')
    submit(decider, before)
    decider.reset('alpha', '')
    engine.forgotten.clear()
    finish(decider, engine, before)
    assert engine.forgotten == [engine.generations[before.id].state_key]
    submit(decider, after)
    finish(decider, engine, after)
    assert len(engine.forgotten) == 1


def test_results_of_requests_that_never_started_are_told_by_the_next(
    decider: Decider, engine: FakeEngine, clock: Clock
) -> None:
    calls = [('go_to', {'place': 'dock'}), ('pick', {'object': 'cup'})]
    first = decide(decider, engine, ask('Fetch it.'), '', calls)
    running = ask('What now?')
    canceled = ask('', tool_results=(result_of(first, 'arrived'),))
    late = ask('', timeout_s=1.0, tool_results=(result_of(first, 'gripped', 1),))
    submit(decider, running, canceled, late)
    decider.cancel(canceled.id)
    clock.now += 1
    assert len(resume_all(decider)) == 1
    decider.on_result(engine.result(running, 'I am driving.'))
    after = ask('And now?')
    submit(decider, after)
    text = prompt_text(engine, after)
    # The model said it while both calls ran, and history keeps it so.
    assert text.count('{value:<|"|>running<|"|>}') == 2
    assert 'Result of go_to: arrived\nResult of pick: gripped\nAnd now?' in text


def test_results_from_before_a_reset_are_forgotten_with_it(
    decider: Decider, engine: FakeEngine
) -> None:
    running = ask('One?')
    told = ask('', tool_results=(ToolResult(call_id='a', name='go_to', text='arrived'),))
    submit(decider, running, told)
    decider.reset('alpha', '', 0)
    decider.cancel(told.id)
    decider.on_result(engine.result(running, finish=Finish.CANCELED))
    after = ask('Two?')
    submit(decider, after)
    assert 'arrived' not in prompt_text(engine, after)


def test_results_too_long_to_tell_never_block_a_session(
    tokenizer: Tokenizer, template: ChatTemplate, engine: FakeEngine
) -> None:
    decider = make_decider(tokenizer, template, engine, context_tokens=1024)
    decide(decider, engine, ask('Go.'), '', [('go_to', {'place': 'dock'})])
    results = tuple(
        ToolResult(call_id=str(i), name='go_to', text='\U0001f916' * 400) for i in range(16)
    )
    refused = decider.submit(ask('', tool_results=results), ())
    assert refused is not None and refused.error_code is ErrorCode.CONTEXT_OVERFLOW
    answer = decide(decider, engine, ask('And?'), 'Yes.')
    assert answer.outcome is Outcome.REPLY and answer.history_turns == 1


def test_a_session_with_open_requests_is_never_forgotten(
    decider: Decider, engine: FakeEngine
) -> None:
    decide(decider, engine, ask('My secret.', session='old'), 'Yes.')
    running, waiting = ask('One?', session='old'), ask('Two?', session='old')
    submit(decider, running, waiting)
    for number in range(MAX_SESSIONS + 5):
        decide(decider, engine, ask('Hello.', session=str(number)), 'Yes.')
    assert finish(decider, engine, running).history_turns == 1
    assert finish(decider, engine, waiting).history_turns == 2
    assert decider.history_turns('alpha', '0') == 0
    assert engine.forgotten[:2] == ['alpha/0', 'alpha/1']


@pytest.mark.parametrize('seed', range(20))
def test_every_request_has_exactly_one_answer_whatever_happens(
    tokenizer: Tokenizer, template: ChatTemplate, engine: FakeEngine, clock: Clock, seed: int
) -> None:
    decider = make_decider(tokenizer, template, engine, clock, robots=(
        robot('alpha', history_tokens=200), robot('beta'),
    ))
    chance = random.Random(seed)
    accepted: list[Request] = []
    answers: list[Answer] = []

    def running() -> list[Request]:
        over = {answer.request_id for answer in answers}
        return [r for r in accepted if r.id in engine.generations and r.id not in over]

    for _ in range(120):
        clock.now += chance.random()
        what = chance.choice(('submit', 'submit', 'finish', 'finish', 'cancel', 'reset', 'bad'))
        if what == 'submit':
            accepted.append(ask(
                'Go.', robot=chance.choice(('alpha', 'beta')), session=chance.choice(('', 'n')),
                timeout_s=chance.choice((0.0, 2.0)), priority=chance.choice(list(Priority)),
                keep=chance.random() < 0.8,
            ))
            answers += filter(None, [decider.submit(accepted[-1], ())])
        elif what == 'bad':
            accepted.append(ask('', robot='alpha'))
            answers += filter(None, [decider.submit(accepted[-1], ())])
        elif what == 'finish' and running():
            how = chance.choice((Finish.STOP, Finish.STOP, Finish.CANCELED, Finish.DEADLINE))
            result = engine.result(chance.choice(running()), 'Yes.', finish=how)
            answers.append(decider.on_result(result))
        elif what == 'cancel' and accepted:
            answers += filter(None, [decider.cancel(chance.choice(accepted).id)])
        elif what == 'reset':
            decider.reset(chance.choice(('', 'alpha')), '', chance.choice((0, 1)))
        answers += resume_all(decider)
        sessions = Counter((r.robot, r.session) for r in running())
        assert max(sessions.values(), default=1) == 1
        assert len(running()) > 0 or len(answers) == len(accepted)
    while running():
        answers.append(decider.on_result(engine.result(running()[0], 'Yes.')))
        answers += resume_all(decider)
    assert Counter(a.request_id for a in answers) == Counter(r.id for r in accepted)


def test_a_result_nobody_waits_for_is_an_error(decider: Decider, engine: FakeEngine) -> None:
    request = ask('Go.')
    with pytest.raises(RequestError, match='no request waits'):
        decider.on_result(engine.result(request, 'Yes.'))


def test_the_history_is_made_ready_after_each_kept_turn(
    decider: Decider, engine: FakeEngine
) -> None:
    first, unkept, second = ask('Go.'), ask('Hm?', keep=False), ask('On.')
    for request in (first, unkept, second):
        decide(decider, engine, request, 'Yes.')
    assert [key for key, _, _ in engine.prepared] == ['alpha', 'alpha']
    _, history, cuts = engine.prepared[0]
    assert cuts[-1] == len(history)
    assert engine.generations[second.id].prompt_ids[: len(history)] == history
    assert engine.generations[second.id].cuts == cuts
