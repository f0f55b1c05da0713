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
Requests of sessions sent to a real worker.

Without the client, whose inbox sends those of one session one by one.
"""

from __future__ import annotations

import socket
import threading
import time

import pytest

from gemma_node.core import ErrorCode
from gemma_node.core import Outcome
from gemma_node.core import Request
from gemma_node.core import RobotSettings
from gemma_node.core import ToolChoice
from gemma_node.core import ToolDeclaration
from gemma_node.core import WorkerSettings
from gemma_node.worker.frames import Answered
from gemma_node.worker.frames import Cancel
from gemma_node.worker.frames import FrameSocket
from gemma_node.worker.frames import Heartbeat
from gemma_node.worker.frames import Hello
from gemma_node.worker.frames import Progress
from gemma_node.worker.frames import Ready
from gemma_node.worker.frames import ResetSession
from gemma_node.worker.frames import Stop
from gemma_node.worker.frames import Submit
from gemma_node.worker.link import DEFAULT_ASSEMBLER
from gemma_node.worker.loop import WorkerLoop

# With this one call required, even a random model ends by itself.
GO = ToolDeclaration(name='go', description='Go.', parameters={
    'type': 'object', 'properties': {}, 'additionalProperties': False,
})


@pytest.fixture
def frames(random_checkpoint):
    """Return the node's end of a worker in a thread, which is ready."""
    ours, theirs = socket.socketpair()
    ours.settimeout(60)
    thread = threading.Thread(
        target=WorkerLoop(FrameSocket(theirs), DEFAULT_ASSEMBLER).run, daemon=True
    )
    thread.start()
    frames = FrameSocket(ours)
    frames.send(Hello(WorkerSettings(
        robots=(RobotSettings(name='r1', system_prompt='', tools=(GO,)),),
        model_path=str(random_checkpoint), num_threads=1, lanes=2, max_tokens=32, max_calls=1,
    )))
    receive(frames, Ready)
    yield frames
    frames.send(Stop())
    thread.join(10)
    frames.close()
    assert not thread.is_alive()


def receive(frames, kind):
    """Return the next frame of this kind; the worker never closes before."""
    while not isinstance(frame := frames.receive_in_node(), kind):
        assert frame is not None
    return frame


def submit(frames, number, text='Hello.', **fields):
    fields = {'tool_choice': ToolChoice.REQUIRED, **fields}
    request = Request(id=f'{number:032x}', robot='r1', text=text, **fields)
    frames.send(Submit(request, ()))


def answers(frames, count):
    """Return the next answers by number, in the order they came."""
    got = [receive(frames, Answered).answer for _ in range(count)]
    return {int(answer.request_id, 16): answer for answer in got}


def test_a_session_has_one_request_at_a_time(frames):
    submit(frames, 1, 'Hello. ' * 300)
    receive(frames, Progress)
    submit(frames, 2)
    submit(frames, 3, session='other')
    frames.send(Cancel(f'{1:032x}'))
    got = answers(frames, 3)
    assert (got[2].outcome, got[2].error_code) == (Outcome.REFUSED, ErrorCode.BUSY)
    assert got[1].error_code is ErrorCode.CANCELED
    assert got[3].outcome is Outcome.TOOL_CALL
    submit(frames, 4)
    assert answers(frames, 1)[4].outcome is Outcome.TOOL_CALL


def test_an_idle_worker_sleeps_until_a_frame_comes(frames):
    submit(frames, 1)
    submit(frames, 2, session='other')
    answers(frames, 2)
    started = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - started < 0.1
    submit(frames, 3)
    assert list(answers(frames, 1)) == [3]


def test_a_reset_frees_what_the_engine_keeps_of_the_session(frames):
    def kept(wanted):
        """Return the rows kept by session as soon as these sessions, and no other, have some."""
        deadline = time.monotonic() + 10
        while set(held := receive(frames, Heartbeat).stats.context_tokens) != wanted:
            assert time.monotonic() < deadline, held
        return held

    submit(frames, 1, 'Hello. ' * 100)
    submit(frames, 2, 'Hello. ' * 100, session='night')
    answers(frames, 2)
    assert min(kept({'r1', 'r1/night'}).values()) > 0
    frames.send(ResetSession('', 'night'))
    kept({'r1'})
