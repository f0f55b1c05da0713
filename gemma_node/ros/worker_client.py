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
Brings the worker's events onto the executor thread: a queue and a guard condition.

Owns the client. Everything but `_put` runs on the executor thread.
"""

from __future__ import annotations

from collections.abc import Callable
import queue
import threading
from typing import Any
from typing import Protocol

from rclpy.node import Node

from gemma_node.core import ErrorCode
from gemma_node.core import Observation
from gemma_node.core import Request
from gemma_node.core import WorkerSettings
from gemma_node.policy.settings import NodeSettings
from gemma_node.worker.client import Event
from gemma_node.worker.questions import Question

_STOP_TIMEOUT_S = 2.0


class Client(Protocol):
    """What the node asks of worker.client.WorkerClient."""

    def start(self) -> None:
        """Start the worker; return at once."""

    def submit(self, request: Request, observations: tuple[Observation, ...]) -> None:
        """Accept a request or raise RequestError."""

    def choose(self, question: Question, observations: tuple[Observation, ...]) -> None:
        """Accept a question or raise RequestError."""

    def cancel(self, request_id: str, code: ErrorCode) -> bool:
        """End a request with the code."""

    def reset(self, robot: str, session: str, keep: int) -> None:
        """Forget history."""

    def stop(self, timeout_s: float) -> None:
        """End the worker."""


WorkerFactory = Callable[..., Client]


class WorkerBridge:
    """The node's worker, with its events handed to `handle` one by one."""

    def __init__(
        self, node: Node, settings: NodeSettings, worker_settings: WorkerSettings,
        factory: WorkerFactory, handle: Callable[[Event], None],
    ) -> None:
        self._node = node
        self._handle = handle
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._is_open = True
        self._guard: Any = node.create_guard_condition(self._drain)
        self.client = factory(
            worker_settings, self._put, isolation=settings.isolation, python=settings.python,
            max_in_flight=settings.inbox_size)

    def start(self) -> None:
        """Start the worker; its load is reported by events."""
        self.client.start()

    def stop(self) -> threading.Thread:
        """
        Stop taking events and end the worker in a thread of its own, which is returned.

        The executor never waits for a process to end.
        """
        with self._lock:
            self._is_open = False
        self._node.destroy_guard_condition(self._guard)
        thread = threading.Thread(target=self.client.stop, args=(_STOP_TIMEOUT_S,),
                                  name='gemma worker stop', daemon=True)
        thread.start()
        return thread

    def _put(self, event: Event) -> None:
        with self._lock:
            if self._is_open:
                self._events.put(event)
                self._guard.trigger()

    def _drain(self) -> None:
        while self._is_open:
            try:
                event = self._events.get_nowait()
            except queue.Empty:
                return
            self._handle(event)
