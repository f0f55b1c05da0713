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


"""One answer per request over a worker that dies, hangs, lies or cannot load."""

from __future__ import annotations

import os
from pathlib import Path
import random
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from gemma_node.core import ErrorCode
from gemma_node.core import Outcome
from gemma_node.errors import RequestError
from gemma_node.worker import client as client_module
from gemma_node.worker.client import AnswerEvent
from gemma_node.worker.client import FailedEvent
from gemma_node.worker.client import LoadingEvent
from gemma_node.worker.client import ProgressEvent
from gemma_node.worker.client import ReadyEvent
from gemma_node.worker.client import RestartedEvent
from gemma_node.worker.client import WorkerState

FAKE = str(Path(__file__).with_name('fake_assemble.py'))


def is_running(pid):
    """Return whether the process exists and is no zombie."""
    try:
        state = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != 'Z'


def wait_until(predicate, timeout_s=10.0):
    """Wait for something outside the process, where nothing can notify."""
    deadline = time.monotonic() + timeout_s
    while not predicate():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def harness(make):
    return make().start().ready()


def assert_restarted_and_serving(harness, request_id):
    """Check the lost request's one answer, after the restart event; the next is served."""
    answer = harness.events.wait_answer(request_id)
    assert (answer.outcome, answer.error_code) == (Outcome.FAILED, ErrorCode.ENGINE_RESTARTED)
    assert answer.error_msg
    harness.ready(2)
    order = [
        event if isinstance(event, (RestartedEvent, ReadyEvent)) else event.answer.request_id
        for event in harness.events.events
        if isinstance(event, (RestartedEvent, ReadyEvent, AnswerEvent))
    ]
    restarted = next(i for i, event in enumerate(order) if isinstance(event, RestartedEvent))
    assert order.index(request_id) > restarted
    assert any(isinstance(event, ReadyEvent) for event in order[restarted:])
    assert harness.ask('reply').outcome is Outcome.REPLY
    assert set(harness.events.answer_counts.values()) == {1}


def test_killed_worker_is_restarted_and_its_requests_end(harness):
    pid = harness.pid()
    running, waiting = harness.submit('forever', robot='r'), harness.submit('reply', robot='r')
    harness.events.wait_for(ProgressEvent)
    os.kill(pid, signal.SIGKILL)
    assert_restarted_and_serving(harness, running)
    assert harness.events.answers[waiting].error_code is ErrorCode.ENGINE_RESTARTED
    assert 'SIGKILL' in harness.events.of(RestartedEvent)[0].reason


def test_dead_worker_is_reaped(harness):
    pid = harness.pid()
    os.kill(pid, signal.SIGKILL)
    harness.ready(2)
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def test_exit_of_the_worker_is_named_by_its_code(harness):
    assert_restarted_and_serving(harness, harness.submit('exit 7'))
    assert 'exit code 7' in harness.events.of(RestartedEvent)[0].reason


def test_stopped_process_is_killed_within_the_limit(harness):
    began = time.monotonic()
    request_id = harness.submit('stop')
    harness.events.wait_answer(request_id)
    assert 1.9 < time.monotonic() - began < 3.5
    assert_restarted_and_serving(harness, request_id)
    assert 'silent' in harness.events.of(RestartedEvent)[0].reason


def test_step_longer_than_the_limit_is_killed(make):
    harness = make(silent_limit_s=0.8).start().ready()
    assert_restarted_and_serving(harness, harness.submit('hang 30'))
    assert 'in one step' in harness.events.of(RestartedEvent)[0].reason


def test_step_shorter_than_the_limit_is_not_killed(make):
    harness = make(silent_limit_s=1.5).start().ready()
    assert harness.ask('hang 0.3').outcome is Outcome.REPLY
    assert not harness.events.of(RestartedEvent)


def test_load_longer_than_the_step_limit_is_not_killed(make):
    harness = make('stuck 1.2', silent_limit_s=0.5).start().ready()
    assert not harness.events.of(RestartedEvent)


@pytest.mark.parametrize(
    'garbage',
    ['ffffffff', '03000000c0c0c0', '0400000081a174', '0000000000', '02000000ff'],
    ids=['huge length', 'not a struct', 'cut map', 'empty', 'cut frame'],
)
def test_malformed_frame_from_the_worker_restarts_it(harness, garbage):
    assert_restarted_and_serving(harness, harness.submit(f'garbage {garbage}'))


def test_malformed_frame_from_the_node_restarts_the_worker(harness):
    request_id = harness.submit('forever')
    harness.client._life.outbox.put(b'\xc1 no msgpack')
    assert_restarted_and_serving(harness, request_id)


def test_failing_submit_or_result_costs_that_request_only(harness):
    running = harness.submit('reply 30')
    for text in ('submit-raises', 'result-raises'):
        answer = harness.ask(text)
        assert (answer.outcome, answer.error_code) == (Outcome.FAILED, ErrorCode.RUNTIME_FAILURE)
        assert 'ValueError: no such' in answer.error_msg
    assert harness.events.wait_answer(running).outcome is Outcome.REPLY
    assert not harness.events.of(RestartedEvent)


def test_one_failing_step_costs_the_requests_in_it_but_not_the_worker(harness):
    running, breaking = harness.submit('forever'), harness.submit('step-raises 1')
    for request_id in (running, breaking):
        answer = harness.events.wait_answer(request_id)
        assert answer.error_code is ErrorCode.RUNTIME_FAILURE
        assert 'the device is gone' in answer.error_msg
    assert harness.ask('reply').outcome is Outcome.REPLY
    assert set(harness.events.answer_counts.values()) == {1}
    assert not harness.events.of(RestartedEvent)


def test_engine_that_fails_again_and_again_is_restarted(harness):
    assert harness.ask('step-raises 9').error_code is ErrorCode.RUNTIME_FAILURE
    harness.ready(2)
    assert harness.ask('reply').outcome is Outcome.REPLY


def test_worker_ignores_sigint_and_keeps_stdout_clean(capfd, make):
    harness = make().start().ready()
    assert harness.ask('interrupt').outcome is Outcome.REPLY
    assert harness.ask('print').outcome is Outcome.REPLY
    harness.client.stop()
    captured = capfd.readouterr()
    assert 'to stdout' not in captured.out
    assert 'to stdout' in captured.err
    assert not harness.events.of(RestartedEvent)


def test_worker_has_its_own_session_and_group(harness):
    pid = harness.pid()
    assert os.getpgid(pid) == os.getsid(pid) == pid


def test_stop_ends_the_process_even_if_it_hangs(make):
    harness = make().start().ready()
    pid = harness.pid()
    request_id = harness.submit('stop')
    began = time.monotonic()
    harness.client.stop(0.5)
    assert time.monotonic() - began < 1.5
    assert not is_running(pid)
    assert harness.events.answers[request_id].error_code is ErrorCode.CANCELED


@pytest.mark.parametrize(
    ('script', 'said'),
    [
        ('refuse /models/x', '/models/x is no checkpoint'),
        ('crash', 'ZeroDivisionError: a bug'),
        ('import', "cannot run the worker: No module named 'torch'"),
    ],
)
@pytest.mark.parametrize('isolation', ['process', 'thread'])
def test_settings_that_cannot_load_fail_once_with_a_sentence(make, script, said, isolation):
    harness = make(script, isolation=isolation).start()
    event = harness.events.wait_for(FailedEvent)
    assert said in event.message
    assert '\n' not in event.message
    assert harness.client.state is WorkerState.FAILED
    assert not harness.events.of(RestartedEvent)
    with pytest.raises(RequestError) as caught:
        harness.submit('reply')
    assert caught.value.code is ErrorCode.NOT_ACTIVE
    assert said in str(caught.value)


def test_worker_that_dies_three_times_while_loading_is_given_up(make):
    harness = make('die').start()
    event = harness.events.wait_for(FailedEvent)
    assert 'exit code 3' in event.message
    assert len(harness.events.of(RestartedEvent)) == 2
    assert len(harness.events.of(LoadingEvent)) == 6


def test_worker_that_cannot_load_again_after_a_crash_is_given_up(make, tmp_path):
    harness = make(f'die-after-first {tmp_path / "seen"}').start().ready()
    request_id = harness.submit('exit 1')
    harness.events.wait_for(FailedEvent)
    assert harness.events.answers[request_id].error_code is ErrorCode.ENGINE_RESTARTED
    assert len(harness.events.of(RestartedEvent)) == 3


def test_restarts_wait_longer_each_time(make, monkeypatch):
    waits = []
    monkeypatch.setattr(client_module, 'LAST_BACKOFF_S', 0.5)
    harness = make().start().ready()
    wait = harness.client._stopping.wait
    monkeypatch.setattr(harness.client._stopping, 'wait', lambda s: waits.append(s) or wait(s))
    for num_lives in (2, 3, 4):
        harness.submit('exit 1')
        harness.ready(num_lives)
    assert waits == [0.25, 0.5, 0.5]


def test_backoff_starts_anew_after_a_healthy_time(make, monkeypatch):
    waits = []
    monkeypatch.setattr(client_module, 'HEALTHY_AFTER_S', 0.0)
    harness = make().start().ready()
    wait = harness.client._stopping.wait
    monkeypatch.setattr(harness.client._stopping, 'wait', lambda s: waits.append(s) or wait(s))
    for num_lives in (2, 3):
        harness.submit('exit 1')
        harness.ready(num_lives)
    assert waits == [0.25, 0.25]


def test_python_that_does_not_exist_fails_with_a_sentence(make):
    harness = make(python='/nowhere/python3').start()
    event = harness.events.wait_for(FailedEvent)
    assert '/nowhere/python3' in event.message
    assert 'engine.python' in event.message


def test_hung_thread_is_let_go_and_replaced_when_its_step_returns(make):
    harness = make(isolation='thread', silent_limit_s=0.5).start().ready()
    request_id = harness.submit('hang 2.5')
    answer = harness.events.wait_answer(request_id)
    assert answer.error_code is ErrorCode.ENGINE_RESTARTED
    with pytest.raises(RequestError) as caught:
        harness.submit('reply')
    assert caught.value.code is ErrorCode.NOT_ACTIVE
    harness.ready(2)
    assert harness.ask('reply').outcome is Outcome.REPLY


@pytest.mark.parametrize('how', [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize('command', ['forever', 'stop'])
def test_worker_dies_with_its_parent(how, command):
    code = textwrap.dedent(f"""
        import sys, threading
        from gemma_node.core import Request, WorkerSettings
        from gemma_node.worker.client import *
        ready, answered = threading.Event(), []
        def on_event(event):
            if isinstance(event, ReadyEvent):
                ready.set()
            if isinstance(event, AnswerEvent):
                print(event.answer.text, flush=True)
        client = WorkerClient(WorkerSettings(robots=()), on_event, _assembler={FAKE!r})
        client.start()
        ready.wait()
        client.submit(Request(id='a', robot='a', text='pid'))
        client.submit(Request(id='b', robot='b', text={command!r}))
        threading.Event().wait()
    """)
    with subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE) as parent:
        pid = int(parent.stdout.readline())
        assert is_running(pid)
        parent.send_signal(how)
        wait_until(lambda: not is_running(pid), 3.0)


@pytest.mark.parametrize('seed', [1, 2, 3])
def test_random_submits_cancels_and_kills_give_one_answer_each(make, monkeypatch, seed):
    monkeypatch.setattr(client_module, 'LAST_BACKOFF_S', 0.25)
    rng = random.Random(seed)
    harness = make(policy=rng.choice(['reject', 'replace']), max_in_flight=24).start().ready()
    accepted, refused, num_kills = [], 0, 0
    for _ in range(200):
        roll = rng.random()
        try:
            if roll < 0.02 and num_kills < 3 and harness.client.state is WorkerState.READY:
                accepted.append(harness.submit('exit 1'))
                num_kills += 1
            elif roll < 0.7 or not accepted:
                text = rng.choice(['reply', 'reply 9', 'forever', 'submit-raises', 'refuse'])
                robot = f'r{rng.randrange(6)}'
                timeout_s = rng.choice([0.0, 0.0, 0.3])
                accepted.append(harness.submit(text, robot=robot, timeout_s=timeout_s))
            else:
                harness.client.cancel(rng.choice(accepted[-30:]))
        except RequestError as error:
            refused += 1
            assert error.code in (ErrorCode.BUSY, ErrorCode.NOT_ACTIVE)
            if error.code is ErrorCode.NOT_ACTIVE:
                wait_until(lambda: harness.client.state is WorkerState.READY)
        time.sleep(rng.choice([0.0, 0.0, 0.003]))
    for request_id in accepted:
        harness.client.cancel(request_id)
    harness.events.wait(lambda: len(harness.events.answers) == len(accepted))
    harness.client.stop()
    assert set(harness.events.answers) == set(accepted)
    assert set(harness.events.answer_counts.values()) == {1}
    assert len(accepted) > 60
