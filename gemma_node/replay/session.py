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
Asks a worker one question after the other and waits for each answer.

Knows requests and events; nothing of recordings.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
import queue
from typing import Protocol

from gemma_node.core import Answer
from gemma_node.core import ErrorCode
from gemma_node.core import Observation
from gemma_node.core import Outcome
from gemma_node.core import Request
from gemma_node.core import RuntimeFacts
from gemma_node.core import WorkerSettings
from gemma_node.errors import RequestError
from gemma_node.worker.client import AnswerEvent
from gemma_node.worker.client import Event
from gemma_node.worker.client import FailedEvent
from gemma_node.worker.client import ReadyEvent
from gemma_node.worker.client import RestartedEvent
from gemma_node.worker.client import WorkerClient


class Worker(Protocol):
    """The part of WorkerClient that a replay needs."""

    def start(self) -> None:
        """Begin to load."""

    def submit(self, request: Request, observations: tuple[Observation, ...] = ()) -> None:
        """Accept one request."""

    def stop(self, timeout_s: float = 5.0) -> None:
        """End the worker."""


MakeWorker = Callable[[WorkerSettings, Callable[[Event], None]], Worker]

# A replay has nobody waiting: a slow machine is no reason to restart the worker.
PATIENT_WORKER: MakeWorker = partial(WorkerClient, silent_limit_s=120.0)


class Session:
    """One worker, used by the caller's thread alone, which waits for every answer."""

    def __init__(self, settings: WorkerSettings, make_worker: MakeWorker) -> None:
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._worker = make_worker(settings, self._events.put)

    @contextmanager
    def running(self) -> Iterator[RuntimeFacts]:
        """Start the worker, give its facts once it is ready, and stop it at the end."""
        self._worker.start()
        try:
            yield self._wait_ready()
        finally:
            self._worker.stop()

    def ask(self, request: Request, observations: tuple[Observation, ...]) -> Answer:
        """Return the answer; raises RequestError when the worker is lost."""
        try:
            self._worker.submit(request, observations)
        except RequestError as error:
            return Answer(
                request_id=request.id,
                robot=request.robot,
                outcome=Outcome.REFUSED,
                error_code=error.code,
                error_msg=str(error),
            )
        while True:
            event = self._next()
            if isinstance(event, AnswerEvent) and event.answer.request_id == request.id:
                return event.answer

    def _wait_ready(self) -> RuntimeFacts:
        while True:
            event = self._next()
            if isinstance(event, ReadyEvent):
                return event.facts

    def _next(self) -> Event:
        event = self._events.get()
        if isinstance(event, FailedEvent):
            raise RequestError(event.code, event.message)
        if isinstance(event, RestartedEvent):
            raise RequestError(
                ErrorCode.ENGINE_RESTARTED,
                f'the worker died during the replay ({event.reason}); nothing was written',
            )
        return event
