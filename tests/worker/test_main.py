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


"""The worker process by itself: its exit codes, and what a foreign peer can do to it."""

from __future__ import annotations

from pathlib import Path
import socket
import subprocess
import sys
import time

import pytest

from gemma_node.core import Request
from gemma_node.core import WorkerSettings
from gemma_node.worker.frames import Answered
from gemma_node.worker.frames import encode
from gemma_node.worker.frames import FrameSocket
from gemma_node.worker.frames import Hello
from gemma_node.worker.frames import LoadFailed
from gemma_node.worker.frames import Ready
from gemma_node.worker.frames import Stop
from gemma_node.worker.frames import Submit

FAKE = str(Path(__file__).with_name('fake_assemble.py'))
HELLO = Hello(WorkerSettings(robots=()))


@pytest.fixture
def start():
    """Start a worker; return the process and the node's end."""
    started = []

    def start_one():
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, '-m', 'gemma_node.worker', '--assembler', FAKE]
            process = subprocess.Popen(
                [*command, '--fd', str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        started.append((process, ours))
        return process, ours, FrameSocket(ours)

    yield start_one
    for process, ours in started:
        process.kill()
        process.communicate()
        ours.close()


def receive(frames, kind):
    while not isinstance(frame := frames.receive_in_node(), kind):
        assert frame is not None
    return frame


def finish(process):
    out, err = process.communicate(timeout=10)
    return process.returncode, out, err.decode()


def test_stop_ends_it_with_zero_and_an_empty_stdout(start):
    process, _, frames = start()
    frames.send(HELLO)
    receive(frames, Ready)
    frames.send(Submit(Request(id='a', robot='r', text='print'), ()))
    assert receive(frames, Answered).answer.request_id == 'a'
    frames.send(Stop())
    code, out, err = finish(process)
    assert (code, out) == (0, b'')
    assert 'Traceback' not in err


@pytest.mark.parametrize('when', ['before hello', 'ready', 'busy'])
def test_closed_socket_ends_it(start, when):
    process, ours, frames = start()
    if when != 'before hello':
        frames.send(HELLO)
        receive(frames, Ready)
    if when == 'busy':
        frames.send(Submit(Request(id='a', robot='r', text='forever'), ()))
    ours.close()
    code, out, err = finish(process)
    assert (code, out) == (0, b'')
    assert 'Traceback' not in err


def test_closed_socket_ends_it_in_the_middle_of_a_load(start):
    process, ours, frames = start()
    frames.send(Hello(WorkerSettings(robots=(), model_path='stuck 60')))
    receive(frames, object)
    began = time.monotonic()
    ours.close()
    assert finish(process)[0] == 0
    assert time.monotonic() - began < 4.0


@pytest.mark.parametrize('garbage', [b'\xff' * 64, b'\x04\0\0\0\xc1\xc1\xc1\xc1', encode(Stop())])
def test_garbage_instead_of_hello_ends_it_with_a_sentence(start, garbage):
    process, ours, _ = start()
    ours.sendall(garbage)
    ours.shutdown(socket.SHUT_WR)
    code, out, err = finish(process)
    assert (code, out) == (1, b'')
    assert 'Traceback' not in err
    assert len(err.strip().splitlines()) == 1


def test_other_frame_version_is_refused_with_a_sentence(start):
    process, _, frames = start()
    frames.send(Hello(HELLO.settings, version=99))
    assert 'install the same gemma_node' in receive(frames, LoadFailed).error_msg
    assert finish(process)[0] == 2


def test_fd_that_is_no_socket_is_a_usage_error():
    command = [sys.executable, '-m', 'gemma_node.worker', '--fd', '0']
    run = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, text=True)
    assert run.returncode == 2
    assert 'not a socket' in run.stderr


def test_idle_worker_sleeps(start):
    process, _, frames = start()
    frames.send(HELLO)
    receive(frames, Ready)
    before = cpu_seconds(process.pid)
    time.sleep(1.0)
    assert cpu_seconds(process.pid) - before < 0.1


def cpu_seconds(pid):
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / 100
