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


"""Frames survive the trip, and nothing malformed raises anything but FrameError."""

from __future__ import annotations

import math
import socket
import struct
import threading

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest

from gemma_node.core import Observation
from gemma_node.core import Request
from gemma_node.core import RobotSettings
from gemma_node.core import ToolDeclaration
from gemma_node.core import WorkerSettings
from gemma_node.errors import FrameError
from gemma_node.worker.frames import encode
from gemma_node.worker.frames import FrameSocket
from gemma_node.worker.frames import Hello
from gemma_node.worker.frames import MAX_FRAME_BYTES
from gemma_node.worker.frames import Stop
from gemma_node.worker.frames import Submit


@pytest.fixture
def pair():
    node, worker = socket.socketpair()
    yield FrameSocket(node), FrameSocket(worker), node
    node.close()
    worker.close()


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=100, deadline=None)
@given(PLAIN, st.text())
def test_submit_arrives_as_it_was_sent(value, text):
    node, worker = socket.socketpair()
    observation = Observation(name='o', topic='t', type='T', value=value)
    frame = Submit(Request(id='a', robot='r', text=text), (observation,))
    with node, worker:
        FrameSocket(node).send(frame)
        assert repr(FrameSocket(worker).receive_in_worker()) == repr(frame)


def test_settings_with_schemas_arrive_as_they_were_sent(pair):
    schema = {'type': 'object', 'properties': {'x': {'type': 'number', 'minimum': -10.0}}}
    tool = ToolDeclaration(name='drive', description='d', parameters=schema)
    robot = RobotSettings(name='r', system_prompt='s', tools=(tool,))
    frame = Hello(WorkerSettings(robots=(robot,)))
    pair[0].send(frame)
    assert pair[1].receive_in_worker() == frame


def test_large_frame_passes_while_the_reader_is_slower(pair):
    frame = Submit(Request(id='a', robot='r', text='x' * 5_000_000), ())
    thread = threading.Thread(target=pair[0].send, args=(frame,))
    thread.start()
    assert pair[1].receive_in_worker() == frame
    thread.join()


def test_frame_above_the_limit_is_refused_by_the_sender():
    with pytest.raises(FrameError, match='limit'):
        encode(Submit(Request(id='a', robot='r', text='x' * (MAX_FRAME_BYTES + 1)), ()))


def test_value_nested_too_deep_is_a_frame_error():
    value = []
    for _ in range(5000):
        value = [value]
    observation = Observation(name='o', topic='t', type='T', value=value)
    with pytest.raises(FrameError):
        encode(Submit(Request(id='a', robot='r', text=''), (observation,)))


def test_closed_or_cut_stream_ends_with_none(pair):
    pair[2].sendall(struct.pack('<I', 10) + b'abc')
    pair[0].close()
    assert pair[1].receive_in_worker() is None


def test_announced_length_above_the_limit_is_a_frame_error(pair):
    pair[2].sendall(struct.pack('<I', MAX_FRAME_BYTES + 1))
    with pytest.raises(FrameError, match='announced'):
        pair[1].receive_in_worker()


def test_frame_of_the_other_direction_is_a_frame_error(pair):
    pair[0].send(Stop())
    with pytest.raises(FrameError):
        pair[1].receive_in_node()


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=64), st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255))))
def test_damaged_payload_raises_frame_error_or_is_valid(noise, changes):
    good = bytearray(encode(Submit(Request(id='a', robot='r', text='x', seed=math.nan), ())))
    for index, byte in changes:
        good[index % len(good)] = byte
    for payload in (noise, bytes(good), bytes(good) + noise):
        node, worker = socket.socketpair()
        with node, worker:
            FrameSocket(node).send_encoded(payload)
            try:
                FrameSocket(worker).receive_in_worker()
            except FrameError:
                pass
