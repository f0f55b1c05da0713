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
Frames between node and worker: a 4-byte little-endian length, then msgpack of a tagged struct.

Knows nothing of ROS, torch or the processes; only bytes and values. No pickle.
"""

from __future__ import annotations

import socket
import struct
import threading
from typing import TypeVar

import msgspec

from gemma_node.core import Answer
from gemma_node.core import EngineStats
from gemma_node.core import Observation
from gemma_node.core import Request
from gemma_node.core import RuntimeFacts
from gemma_node.core import Stage
from gemma_node.core import WorkerSettings
from gemma_node.errors import FrameError
from gemma_node.worker.questions import Question
from gemma_node.worker.questions import Verdict

PROTOCOL_VERSION = 2
MAX_FRAME_BYTES = 64 * 1024 * 1024
_LENGTH = struct.Struct('<I')
_T = TypeVar('_T')


class Hello(msgspec.Struct, tag='hello', frozen=True):
    """Node to worker, first frame: all settings."""

    settings: WorkerSettings
    version: int = PROTOCOL_VERSION


class Submit(msgspec.Struct, tag='submit', frozen=True):
    """Node to worker: one request with its observation snapshot."""

    request: Request
    observations: tuple[Observation, ...]


class Choose(msgspec.Struct, tag='choose', frozen=True):
    """Node to worker: one question with its observation snapshot."""

    question: Question
    observations: tuple[Observation, ...]


class Cancel(msgspec.Struct, tag='cancel', frozen=True):
    """Node to worker: end this request CANCELED, or with the code given."""

    request_id: str
    error_code: int = 20007


class ResetSession(msgspec.Struct, tag='reset', frozen=True):
    """Node to worker: forget history past the last `keep_turns`; robot '' = all robots."""

    robot: str
    session: str
    keep_turns: int = 0


class Stop(msgspec.Struct, tag='stop', frozen=True):
    """Node to worker: end in order."""


class Heartbeat(msgspec.Struct, tag='heartbeat', frozen=True):
    """Worker to node, every 0.25 s from its own thread; `step_age_s` of the engine's step."""

    step_age_s: float
    stats: EngineStats


class Loading(msgspec.Struct, tag='loading', frozen=True):
    """Worker to node while it loads: 0..1 and what it does."""

    fraction: float
    text: str


class Ready(msgspec.Struct, tag='ready', frozen=True):
    """Worker to node: requests are served; its longest step when it warmed up."""

    facts: RuntimeFacts
    step_s: float = 0.0


class LoadFailed(msgspec.Struct, tag='load_failed', frozen=True):
    """Worker to node: it can never serve these settings; one sentence."""

    error_code: int
    error_msg: str


class Progress(msgspec.Struct, tag='progress', frozen=True):
    """Worker to node: progress of one request; `partial_text` holds free text only."""

    request_id: str
    stage: Stage
    prompt_tokens_done: int
    completion_tokens: int
    partial_text: str


class Answered(msgspec.Struct, tag='answered', frozen=True):
    """Worker to node: the one answer to one request."""

    answer: Answer


class Chosen(msgspec.Struct, tag='chosen', frozen=True):
    """Worker to node: the one verdict on one question."""

    verdict: Verdict


ToWorker = Hello | Submit | Choose | Cancel | ResetSession | Stop
ToNode = Heartbeat | Loading | Ready | LoadFailed | Progress | Answered | Chosen

_ENCODER = msgspec.msgpack.Encoder()
_TO_WORKER = msgspec.msgpack.Decoder(ToWorker)
_TO_NODE = msgspec.msgpack.Decoder(ToNode)


def encode(frame: ToWorker | ToNode) -> bytes:
    """Return the frame's payload; FrameError when it is too large or holds no plain values."""
    try:
        payload = _ENCODER.encode(frame)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise FrameError(f'{type(frame).__name__} cannot be sent: {error}') from error
    if len(payload) > MAX_FRAME_BYTES:
        raise FrameError(f'frame of {len(payload)} bytes; the limit is {MAX_FRAME_BYTES}')
    return payload


class FrameSocket:
    """
    Sends and receives frames over one stream socket.

    `send` may be called from any thread (a lock keeps frames whole); `receive_*` from one thread.
    """

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._send_lock = threading.Lock()

    def send(self, frame: ToWorker | ToNode) -> None:
        """Send one frame; raises FrameError if it cannot be sent, OSError if the peer is gone."""
        self.send_encoded(encode(frame))

    def send_encoded(self, payload: bytes) -> None:
        """Send what `encode` made of a frame."""
        with self._send_lock:
            self._stream.sendall(_LENGTH.pack(len(payload)) + payload)

    def receive_in_worker(self) -> ToWorker | None:
        """Return the next frame, or None when the node closed the socket."""
        payload = self._receive()
        return None if payload is None else _decode(_TO_WORKER, payload)

    def receive_in_node(self) -> ToNode | None:
        """Return the next frame, or None when the worker closed the socket."""
        payload = self._receive()
        return None if payload is None else _decode(_TO_NODE, payload)

    def close(self) -> None:
        """Close the stream; a peer blocked in receive gets None."""
        try:
            self._stream.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._stream.close()

    def _receive(self) -> bytes | None:
        header = self._read(_LENGTH.size)
        if header is None:
            return None
        (length,) = _LENGTH.unpack(header)
        if length > MAX_FRAME_BYTES:
            raise FrameError(f'frame of {length} bytes announced; the limit is {MAX_FRAME_BYTES}')
        return self._read(length)

    def _read(self, length: int) -> bytes | None:
        parts = []
        while length:
            try:
                part = self._stream.recv(min(length, 1 << 20))
            except OSError:
                return None
            if not part:
                return None
            parts.append(part)
            length -= len(part)
        return b''.join(parts)


def _decode(decoder: msgspec.msgpack.Decoder[_T], payload: bytes) -> _T:
    try:
        return decoder.decode(payload)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise FrameError(f'malformed frame: {error}') from error
