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


def started(engine: FakeEngine, *requests: Request) -> list[bool]:
    return [request.id in engine.generations for request in requests]


def finish(decider: Decider, engine: FakeEngine, request: Request, text: str = 'Yes.') -> Answer:
    return decider.on_result(engine.result(request, text))


def test_the_second_prompt_of_a_session_holds_the_turn_before_it(
    decider: Decider, engine: FakeEngine
) -> None:
    first, second, third = (ask(text) for text in ('One?', 'Two?', 'Three?'))
    submit(decider, first)
    finish(decider, engine, first, 'Alpha.')
    submit(decider, second)
    assert 'One?<turn|>\n<|turn>model\nAlpha.<turn|>' in prompt_text(engine, second)
    finish(decider, engine, second, 'Beta.')
    submit(decider, third)
    text = prompt_text(engine, third)
    assert text.index('One?') < text.index('Alpha.') < text.index('Two?') < text.index('Beta.')
    assert finish(decider, engine, third).history_turns == 2


def test_a_session_has_one_request_at_a_time(decider: Decider, engine: FakeEngine) -> None:
    first, second = ask('Go.'), ask('Go.')
    submit(decider, first)
    busy = decider.submit(second, ())
    assert busy is not None and busy.error_code is ErrorCode.BUSY
    assert busy.outcome is Outcome.REFUSED and 'being answered' in busy.error_msg
    wrong = decider.submit(ask('Go.', allowed_tools=('fly',)), ())
    assert wrong is not None and wrong.error_code is ErrorCode.BUSY
    again = decider.submit(first, ())
    assert again is not None and again.error_code is ErrorCode.INVALID_REQUEST
    finish(decider, engine, first)
    submit(decider, second)
    assert finish(decider, engine, second).outcome is Outcome.REPLY


def test_a_request_after_one_that_failed_starts_without_its_turn(
    decider: Decider, engine: FakeEngine
) -> None:
    first, second = ask('One?'), ask('Two?')
    submit(decider, first)
    failed = decider.on_result(engine.result(first, finish=Finish.LENGTH))
    assert failed.error_code is ErrorCode.TRUNCATED
    submit(decider, second)
    assert 'One?' not in prompt_text(engine, second)


def test_a_request_from_before_a_reset_does_not_join_the_history(
    decider: Decider, engine: FakeEngine
) -> None:
    decide(decider, engine, ask('My secret.'), 'Yes.')
    running, after = ask('One?'), ask('Three?')
    submit(decider, running)
    decider.reset('alpha', '', 0)
    finish(decider, engine, running)
    submit(decider, after)
    text = prompt_text(engine, after)
    assert 'secret' not in text and 'One?' not in text
    assert finish(decider, engine, after).history_turns == 0
    assert decider.history_turns('alpha') == 1


def test_results_of_requests_that_were_refused_are_told_by_the_next(
    decider: Decider, engine: FakeEngine
) -> None:
    calls = [('go_to', {'place': 'dock'}), ('pick', {'object': 'cup'})]
    first = decide(decider, engine, ask('Fetch it.'), '', calls)
    running = ask('What now?')
    submit(decider, running)
    for index, text in enumerate(('arrived', 'gripped')):
        refused = ask('', tool_results=(result_of(first, text, index),))
        assert decider.submit(refused, ()) is not None
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
    submit(decider, running)
    assert decider.submit(told, ()) is not None
    decider.reset('alpha', '', 0)
    decider.on_result(engine.result(running, finish=Finish.CANCELED))
    after = ask('Two?')
    submit(decider, after)
    assert 'arrived' not in prompt_text(engine, after)


def test_a_session_with_an_open_request_is_never_forgotten(
    decider: Decider, engine: FakeEngine
) -> None:
    decide(decider, engine, ask('My secret.', session='old'), 'Yes.')
    running = ask('One?', session='old')
    submit(decider, running)
    for number in range(MAX_SESSIONS + 5):
        decide(decider, engine, ask('Hello.', session=str(number)), 'Yes.')
    assert finish(decider, engine, running).history_turns == 1
    assert decider.history_turns('alpha', 'old') == 2
    assert decider.history_turns('alpha', '0') == 0
    assert engine.forgotten[:2] == ['alpha/0', 'alpha/1']


def test_the_deadline_counts_from_submit(
    decider: Decider, engine: FakeEngine, clock: Clock
) -> None:
    asked = ask('Go.', timeout_s=9.0)
    submit(decider, asked)
    assert engine.generations[asked.id].deadline == clock.now + 9.0


def test_other_sessions_and_robots_do_not_wait(decider: Decider, engine: FakeEngine) -> None:
    requests = [ask('Go.'), ask('Go.', session='night'), ask('Go.', robot='beta')]
    submit(decider, *requests)
    assert all(started(engine, *requests))


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
            decider.cancel(chance.choice(accepted).id)
        elif what == 'reset':
            decider.reset(chance.choice(('', 'alpha')), '', chance.choice((0, 1)))
        sessions = Counter((r.robot, r.session) for r in running())
        assert max(sessions.values(), default=1) == 1
        assert len(running()) > 0 or len(answers) == len(accepted)
    while running():
        answers.append(decider.on_result(engine.result(running()[0], 'Yes.')))
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
