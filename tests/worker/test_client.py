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


"""One answer per request over a worker that is well, in a process and in a thread."""

from __future__ import annotations

import math
import subprocess
import sys
import time

import pytest

from gemma_node.core import ErrorCode
from gemma_node.core import Observation
from gemma_node.core import Outcome
from gemma_node.core import Request
from gemma_node.core import Stage
from gemma_node.core import ToolResult
from gemma_node.core import WorkerSettings
from gemma_node.errors import ConfigError
from gemma_node.errors import GemmaNodeError
from gemma_node.errors import RequestError
from gemma_node.worker.client import AnswerEvent
from gemma_node.worker.client import LoadingEvent
from gemma_node.worker.client import ProgressEvent
from gemma_node.worker.client import ReadyEvent
from gemma_node.worker.client import StatsEvent
from gemma_node.worker.client import WorkerClient
from gemma_node.worker.client import WorkerState

HEAVY = ('torch', 'tokenizers', 'llguidance', 'transformers', 'numpy', 'rclpy')


@pytest.fixture(params=['process', 'thread'])
def harness(request, make):
    return make(isolation=request.param).start().ready()


def test_client_imports_nothing_heavy():
    code = f"""
import sys
import gemma_node.worker.client
print([name for name in {HEAVY!r} + ('gemma_node.worker.loop',) if name in sys.modules])
"""
    run = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == '[]'


def test_start_returns_at_once(make):
    harness = make('slow 5')
    began = time.monotonic()
    harness.start()
    assert time.monotonic() - began < 0.02
    assert harness.client.state is WorkerState.LOADING


def test_loading_is_reported_before_ready(harness):
    kinds = [type(event) for event in harness.events.events]
    assert kinds.index(LoadingEvent) < kinds.index(ReadyEvent)
    assert harness.events.of(ReadyEvent)[0].facts.model == 'fake'
    assert harness.client.state is WorkerState.READY


def test_request_gets_its_answer_with_observations_passed_on(harness):
    seen = Observation(name='odom', topic='odom', type='T', value={'x': [1.0, math.nan]})
    answer = harness.ask('reply 2', observations=(seen,))
    assert (answer.outcome, answer.text) == (Outcome.REPLY, 'reply 2 1')
    assert answer.verified


def test_refusal_by_the_decider_is_an_answer(harness):
    assert harness.ask('refuse').error_code is ErrorCode.NOT_ALLOWED


def test_progress_comes_before_the_answer_and_is_throttled(harness):
    request_id = harness.submit('reply 100')
    harness.events.wait_answer(request_id)
    told = harness.events.of(ProgressEvent)
    assert {event.request_id for event in told} == {request_id}
    assert told[0].stage is Stage.DECODE
    assert 1 <= len(told) < 30
    assert isinstance(harness.events.events[-1], (AnswerEvent, StatsEvent))


def test_events_come_from_one_thread(harness):
    harness.ask('reply 5')
    assert len(harness.events.threads) == 1


def test_heartbeats_carry_the_counters(harness):
    harness.ask('reply 3')
    harness.events.wait_for(StatsEvent)
    assert harness.events.of(StatsEvent)[0].step_age_s < 1.0


def test_cancel_ends_a_running_request_with_the_code_given(harness):
    request_id = harness.submit('forever')
    harness.events.wait_for(ProgressEvent)
    assert harness.client.cancel(request_id, ErrorCode.OPERATOR_TOOK_OVER)
    answer = harness.events.wait_answer(request_id)
    assert answer.error_code is ErrorCode.OPERATOR_TOOK_OVER


def test_cancel_of_an_unknown_or_answered_request_does_nothing(harness):
    answered = harness.ask('reply').request_id
    assert not harness.client.cancel('0' * 32)
    assert not harness.client.cancel(answered)
    assert harness.ask('reply').outcome is Outcome.REPLY
    assert set(harness.events.answer_counts.values()) == {1}


def test_cancel_just_before_the_answer_gives_one_answer(harness):
    for num_steps in range(1, 30):
        request_id = harness.submit(f'reply {num_steps % 5}')
        harness.client.cancel(request_id)
        harness.events.wait_answer(request_id)
    harness.ask('reply 10')
    assert set(harness.events.answer_counts.values()) == {1}


def test_reset_reaches_the_decider(harness):
    harness.client.reset('r1', 'kitchen', keep=2)
    assert harness.ask('resets').text == "[('r1', 'kitchen', 2)]"


def test_same_id_twice_is_refused_and_answered_once(harness):
    request = Request(id='a' * 32, robot='r', text='reply 20')
    harness.client.submit(request)
    with pytest.raises(RequestError) as caught:
        harness.client.submit(request)
    assert caught.value.code is ErrorCode.INVALID_REQUEST
    harness.events.wait_answer(request.id)
    assert harness.events.answer_counts[request.id] == 1


@pytest.mark.parametrize('value', [object(), 2**80, '\ud800'])
def test_value_that_is_not_plain_is_refused_at_submit(harness, value):
    with pytest.raises(RequestError) as caught:
        harness.submit(
            'reply', observations=(Observation(name='o', topic='t', type='T', value=value),)
        )
    assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert harness.client.num_in_flight == 0


def test_stop_answers_what_is_in_flight_and_nothing_follows(harness):
    running, waiting = harness.submit('forever', robot='r'), harness.submit('reply', robot='r')
    harness.client.stop()
    answers = harness.events.answers
    assert answers[running].error_code is ErrorCode.CANCELED
    assert answers[waiting].error_code is ErrorCode.CANCELED
    assert harness.client.state is WorkerState.STOPPED
    num_events = len(harness.events.events)
    with pytest.raises(RequestError) as caught:
        harness.submit('reply')
    assert caught.value.code is ErrorCode.NOT_ACTIVE
    harness.client.stop()
    assert len(harness.events.events) == num_events


def test_stop_from_within_an_event_does_not_deadlock(make):
    harness = make(isolation='thread')
    record = harness.events.__call__

    def on_event(event):
        record(event)
        if isinstance(event, AnswerEvent):
            harness.client.stop()

    harness.client._on_event = on_event
    harness.start().ready()
    harness.ask('reply')
    harness.client.stop()
    assert harness.client.state is WorkerState.STOPPED


def test_client_that_was_never_started_stops_and_does_not_start_again(make):
    harness = make()
    harness.client.stop()
    harness.client.stop()
    with pytest.raises(GemmaNodeError, match='new client'):
        harness.client.start()


def test_submit_before_ready_is_refused_with_the_progress(make):
    harness = make('slow 5').start()
    harness.events.wait(lambda: len(harness.events.of(LoadingEvent)) > 2)
    with pytest.raises(RequestError, match='being slow') as caught:
        harness.submit('reply')
    assert caught.value.code is ErrorCode.NOT_ACTIVE
    began = time.monotonic()
    harness.client.stop(5.0)
    assert time.monotonic() - began < 3.5


def test_full_inbox_refuses_with_busy(make):
    harness = make(max_in_flight=2, isolation='thread').start().ready()
    first, second = harness.submit('forever'), harness.submit('forever')
    with pytest.raises(RequestError) as caught:
        harness.submit('reply')
    assert caught.value.code is ErrorCode.BUSY
    harness.client.cancel(first)
    harness.events.wait_answer(first)
    assert harness.ask('reply').outcome is Outcome.REPLY
    assert second not in harness.events.answers


def test_requests_of_one_conversation_run_one_after_the_other(make):
    harness = make(isolation='thread').start().ready()
    slow = harness.submit('reply 50', robot='r')
    fast = harness.submit('reply 1', robot='r')
    other = harness.submit('reply 1', robot='r', session='s')
    harness.events.wait_answer(fast)
    assert list(harness.events.answers) == [other, slow, fast]
    assert harness.events.answers[fast].queue_time > 0.05


def test_replace_policy_supersedes_a_waiting_request_of_the_same_robot(make):
    harness = make(policy='replace', isolation='thread').start().ready()
    running = harness.submit('reply 100', robot='r')
    old, other = harness.submit('reply', robot='r'), harness.submit('forever', robot='q')
    new = harness.submit('reply', robot='r')
    answer = harness.events.wait_answer(old)
    assert (answer.outcome, answer.error_code) == (Outcome.REFUSED, ErrorCode.SUPERSEDED)
    assert new in answer.error_msg
    assert harness.events.wait_answer(new).outcome is Outcome.REPLY
    assert harness.events.answers[running].outcome is Outcome.REPLY
    assert other not in harness.events.answers


def test_tool_results_are_never_superseded(make):
    harness = make(policy='replace', isolation='thread').start().ready()
    harness.submit('reply 20', robot='r')
    result = ToolResult(call_id='c', name='dock', text='docked')
    told = harness.submit('reply', robot='r', tool_results=(result,))
    harness.events.wait_answer(harness.submit('reply', robot='r'))
    assert harness.events.answers[told].outcome is Outcome.REPLY


def test_waiting_request_ends_at_its_deadline_and_cancel_is_immediate(make):
    harness = make(isolation='thread').start().ready()
    harness.submit('forever', robot='r')
    late = harness.submit('reply', robot='r', timeout_s=0.05)
    canceled = harness.submit('reply', robot='r')
    assert harness.client.cancel(canceled)
    assert harness.events.wait_answer(canceled, 1.0).error_code is ErrorCode.CANCELED
    assert harness.events.wait_answer(late, 3.0).error_code is ErrorCode.DEADLINE_EXCEEDED


def test_observer_that_raises_costs_no_later_event(make, caplog):
    harness = make(isolation='thread')
    record = harness.client._on_event

    def raise_on_ready(event):
        record(event)
        if isinstance(event, ReadyEvent):
            raise RuntimeError('a bug of the observer')

    harness.client._on_event = raise_on_ready
    harness.start().ready()
    assert harness.ask('reply').outcome is Outcome.REPLY
    assert 'on_event failed' in caplog.text


@pytest.mark.parametrize('options', [{'isolation': 'container'}, {'policy': 'drop'}])
def test_unknown_option_is_a_config_error(options):
    with pytest.raises(ConfigError):
        WorkerClient(WorkerSettings(robots=()), print, **options)
