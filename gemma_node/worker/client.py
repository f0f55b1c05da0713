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
The node's side of the worker: starts it, feeds it, watches it, restarts it.

Knows requests, answers and frames; nothing of ROS, prompts or the engine, and imports none of
their libraries. Whatever happens to the worker, each accepted request gets exactly one answer.
"""

from __future__ import annotations

from collections.abc import Callable
import logging
import math
import queue
import threading
import time
from typing import Literal

from gemma_node.core import Answer
from gemma_node.core import ErrorCode
from gemma_node.core import Observation
from gemma_node.core import Request
from gemma_node.core import WorkerSettings
from gemma_node.errors import ConfigError
from gemma_node.errors import FrameError
from gemma_node.errors import GemmaNodeError
from gemma_node.errors import RequestError
from gemma_node.worker.events import AnswerEvent
from gemma_node.worker.events import Event
from gemma_node.worker.events import FailedEvent
from gemma_node.worker.events import LoadingEvent
from gemma_node.worker.events import ProgressEvent
from gemma_node.worker.events import ReadyEvent
from gemma_node.worker.events import RestartedEvent
from gemma_node.worker.events import StatsEvent
from gemma_node.worker.events import VerdictEvent
from gemma_node.worker.events import WorkerState
from gemma_node.worker.frames import Answered
from gemma_node.worker.frames import Cancel
from gemma_node.worker.frames import Choose
from gemma_node.worker.frames import Chosen
from gemma_node.worker.frames import encode
from gemma_node.worker.frames import Heartbeat
from gemma_node.worker.frames import Hello
from gemma_node.worker.frames import LoadFailed
from gemma_node.worker.frames import Loading
from gemma_node.worker.frames import Progress
from gemma_node.worker.frames import ResetSession
from gemma_node.worker.frames import Stop
from gemma_node.worker.frames import Submit
from gemma_node.worker.frames import ToNode
from gemma_node.worker.inbox import end_answer
from gemma_node.worker.inbox import Inbox
from gemma_node.worker.inbox import InboxPolicy
from gemma_node.worker.inbox import Pending
from gemma_node.worker.inbox import with_wait
from gemma_node.worker.life import Life
from gemma_node.worker.link import DEFAULT_ASSEMBLER
from gemma_node.worker.link import Link
from gemma_node.worker.link import ProcessLink
from gemma_node.worker.link import ThreadLink
from gemma_node.worker.questions import Question
from gemma_node.worker.questions import Verdict
from gemma_node.worker.watchdog import CHECK_PERIOD_S
from gemma_node.worker.watchdog import SILENT_LIMIT_S
from gemma_node.worker.watchdog import Watchdog

__all__ = [
    'AnswerEvent',
    'Event',
    'FailedEvent',
    'LoadingEvent',
    'ProgressEvent',
    'ReadyEvent',
    'RestartedEvent',
    'StatsEvent',
    'VerdictEvent',
    'WorkerClient',
    'WorkerState',
]
FIRST_BACKOFF_S = 0.25
LAST_BACKOFF_S = 8.0
HEALTHY_AFTER_S = 60.0
MAX_FAILED_LOADS = 3
MAX_QUESTIONS = 64
_EXIT_GRACE_S = 1.0
_LOG = logging.getLogger(__name__)


class WorkerClient:
    """
    Serves requests through a worker that it owns.

    All methods may be called from any thread and return at once, except `stop`. `on_event` is
    called from one thread of the client, one event at a time, in order; it should return soon.
    With `thread` isolation a hung worker cannot be killed: its requests end, and no new worker
    starts before the old step returns.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        on_event: Callable[[Event], None],
        *,
        isolation: Literal['process', 'thread'] = 'process',
        python: str = '',
        max_in_flight: int = 0,
        policy: InboxPolicy = 'reject',
        silent_limit_s: float = SILENT_LIMIT_S,
        _assembler: str = DEFAULT_ASSEMBLER,
    ) -> None:
        if isolation not in ('process', 'thread'):
            raise ConfigError(f"isolation must be 'process' or 'thread', got {isolation!r}")
        if policy not in ('reject', 'replace'):
            raise ConfigError(f"policy must be 'reject' or 'replace', got {policy!r}")
        self._hello = encode(Hello(settings))
        self._on_event = on_event
        self._isolation = isolation
        self._python = python
        self._silent_limit_s = silent_limit_s
        self._assembler = _assembler
        self._lock = threading.Lock()
        self._inbox = Inbox(max_in_flight or settings.inbox_size, policy)
        self._asked: set[str] = set()
        self._state = WorkerState.NEW
        self._status = 'the worker was not started'
        self._life: Life | None = None
        self._stopping = threading.Event()
        self._stop_deadline = math.inf
        self._events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        # The child dies with the thread that made it, so one thread makes and outlives them all.
        self._supervisor = threading.Thread(
            target=self._supervise, name='gemma worker supervisor', daemon=True
        )
        self._dispatcher = threading.Thread(
            target=self._dispatch, name='gemma worker events', daemon=True
        )

    @property
    def state(self) -> WorkerState:
        """Return where the worker stands."""
        return self._state

    @property
    def status(self) -> str:
        """Return one sentence on where the worker stands, with the progress of its load."""
        return self._status

    @property
    def num_in_flight(self) -> int:
        """Return how many accepted requests are not answered yet."""
        return len(self._inbox)

    def start(self) -> None:
        """Start the worker in the background; once per client."""
        with self._lock:
            if self._state is not WorkerState.NEW:
                raise GemmaNodeError(f'the worker is {self._state.value}; make a new client')
            self._set_state(WorkerState.LOADING, 'the worker starts')
            self._dispatcher.start()
            self._supervisor.start()

    def submit(self, request: Request, observations: tuple[Observation, ...] = ()) -> None:
        """Accept a request, or raise RequestError with the code that its Decision gets."""
        try:
            payload = encode(Submit(request, tuple(observations)))
        except FrameError as error:
            raise RequestError(ErrorCode.INVALID_REQUEST, str(error)) from error
        now = time.monotonic()
        pending = Pending(
            request=request, observations=tuple(observations), payload=payload, added_at=now
        )
        with self._lock:
            if self._state is not WorkerState.READY:
                raise RequestError(ErrorCode.NOT_ACTIVE, self._status)
            replaced = self._inbox.add(pending)
            self._end(replaced, ErrorCode.SUPERSEDED, f'request {request.id} took its place')
            self._send_ready()

    def choose(self, question: Question, observations: tuple[Observation, ...] = ()) -> None:
        """Accept a question, whose verdict comes as an event, or raise RequestError."""
        try:
            payload = encode(Choose(question, tuple(observations)))
        except FrameError as error:
            raise RequestError(ErrorCode.INVALID_REQUEST, str(error)) from error
        with self._lock:
            if self._state is not WorkerState.READY:
                raise RequestError(ErrorCode.NOT_ACTIVE, self._status)
            if question.id in self._asked or len(self._asked) >= MAX_QUESTIONS:
                raise RequestError(
                    ErrorCode.BUSY,
                    f'{len(self._asked)} questions wait, the most is {MAX_QUESTIONS}',
                )
            self._asked.add(question.id)
            self._send(payload)

    def cancel(self, request_id: str, code: ErrorCode = ErrorCode.CANCELED) -> bool:
        """End a request with the code; False when it is not in flight. Its answer still comes."""
        with self._lock:
            pending = self._inbox.get(request_id)
            if pending is None:
                return False
            if pending.is_sent:
                self._send(encode(Cancel(request_id, int(code))))
            else:
                self._inbox.pop(request_id)
                self._end([pending], code, 'canceled before it was started')
            return True

    def reset(self, robot: str, session: str = '', keep: int = 0) -> None:
        """Forget history past the last `keep` turns; robot '' means all robots."""
        frame = encode(ResetSession(robot, session, keep))
        with self._lock:
            if self._state is WorkerState.READY:
                self._send(frame)

    def stop(self, timeout_s: float = 5.0) -> None:
        """
        End the worker, by force after the timeout, and answer what is in flight as CANCELED.

        No event comes after it returns, unless it is called from `on_event` itself.
        """
        with self._lock:
            if not self._stopping.is_set():
                self._stop_deadline = time.monotonic() + timeout_s
                self._stopping.set()
                self._set_state(WorkerState.STOPPED, 'the worker was stopped')
                self._end_all(ErrorCode.CANCELED, self._status)
                self._send(encode(Stop()))
        if self._supervisor.ident is None:
            return
        own = threading.current_thread()
        if own is not self._supervisor:
            self._supervisor.join()
        if own is not self._dispatcher:
            self._dispatcher.join()

    def _supervise(self) -> None:
        backoff_s = FIRST_BACKOFF_S
        failed_loads = 0
        while not self._stopping.is_set():
            try:
                life = self._live_once()
            except GemmaNodeError as error:
                self._fail(error.code, str(error))
                break
            failed_loads = 0 if life.was_ready else failed_loads + 1
            if self._stopping.is_set():
                break
            if life.refusal is not None:
                self._fail(ErrorCode(life.refusal.error_code), life.refusal.error_msg)
                break
            if failed_loads == MAX_FAILED_LOADS:
                self._fail(
                    ErrorCode.RUNTIME_FAILURE,
                    f'the worker ended {failed_loads} times while loading: {life.reason}',
                )
                break
            if life.was_ready and time.monotonic() - life.ready_at > HEALTHY_AFTER_S:
                backoff_s = FIRST_BACKOFF_S
            self._lose(life.reason)
            self._stopping.wait(backoff_s)
            backoff_s = min(2 * backoff_s, LAST_BACKOFF_S)
            while not (life.link.is_gone() or self._stopping.wait(CHECK_PERIOD_S)):
                pass
        self._events.put(None)

    def _live_once(self) -> Life:
        life = Life(
            link=self._make_link(),
            watchdog=Watchdog(self._silent_limit_s),
            outbox=queue.SimpleQueue(),
        )
        life.outbox.put(self._hello)
        with self._lock:
            self._life = life
            if self._stopping.is_set():
                life.outbox.put(encode(Stop()))
            else:
                self._set_state(WorkerState.LOADING, 'the worker starts')
        for target in (self._read, self._write):
            threading.Thread(
                target=target, args=(life,), name=f'gemma worker {target.__name__}', daemon=True
            ).start()
        while not life.ended.wait(CHECK_PERIOD_S):
            self._check(life)
        with self._lock:
            self._life = None
        life.outbox.put(None)
        end = life.link.reap(max(0.0, min(_EXIT_GRACE_S, self._stop_deadline - time.monotonic())))
        life.reason = life.reason or end
        return life

    def _make_link(self) -> Link:
        if self._isolation == 'thread':
            return ThreadLink(self._assembler)
        return ProcessLink(self._python, self._assembler)

    def _check(self, life: Life) -> None:
        now = time.monotonic()
        if now > self._stop_deadline:
            life.condemn('the worker did not stop in time')
            return
        verdict = life.watchdog.verdict()
        if verdict and not self._stopping.is_set():
            life.condemn(verdict)
        with self._lock:
            expired = self._inbox.pop_expired(now)
            self._end(expired, ErrorCode.DEADLINE_EXCEEDED, 'its time passed before its turn came')

    def _write(self, life: Life) -> None:
        while (payload := life.outbox.get()) is not None:
            try:
                life.link.frames.send_encoded(payload)
            except OSError:
                return

    def _read(self, life: Life) -> None:
        try:
            while (frame := life.link.frames.receive_in_node()) is not None:
                self._take(frame, life)
        except FrameError as error:
            life.condemn(f'the worker sent a {error}')
        finally:
            life.ended.set()

    def _take(self, frame: ToNode, life: Life) -> None:
        with self._lock:
            if isinstance(frame, Heartbeat):
                life.watchdog.beat(frame.step_age_s)
                self._events.put(StatsEvent(frame.stats, frame.step_age_s))
            elif isinstance(frame, Progress):
                self._take_progress(frame)
            elif isinstance(frame, Answered):
                self._take_answer(frame.answer)
            elif isinstance(frame, Chosen):
                if frame.verdict.question_id in self._asked:
                    self._asked.discard(frame.verdict.question_id)
                    self._events.put(VerdictEvent(frame.verdict))
            elif isinstance(frame, LoadFailed):
                life.refusal = frame
            elif self._stopping.is_set():
                return
            elif isinstance(frame, Loading):
                life.watchdog.beat()
                percent = round(100 * frame.fraction)
                self._set_state(
                    WorkerState.LOADING, f'the worker loads: {frame.text} ({percent} %)'
                )
                self._events.put(LoadingEvent(frame.fraction, frame.text))
            else:
                life.watchdog.ready(frame.step_s)
                life.ready_at = time.monotonic()
                self._set_state(WorkerState.READY, 'the worker is ready')
                self._events.put(ReadyEvent(frame.facts))

    def _take_progress(self, frame: Progress) -> None:
        if self._inbox.get(frame.request_id) is not None:
            self._events.put(
                ProgressEvent(
                    frame.request_id,
                    frame.stage,
                    frame.prompt_tokens_done,
                    frame.completion_tokens,
                    frame.partial_text,
                )
            )

    def _take_answer(self, answer: Answer) -> None:
        pending = self._inbox.pop(answer.request_id)
        if pending is not None:
            self._events.put(AnswerEvent(with_wait(answer, pending)))
            self._send_ready()

    def _lose(self, reason: str) -> None:
        _LOG.error('%s; it is started again', reason)
        with self._lock:
            if self._stopping.is_set():
                return
            self._set_state(WorkerState.RESTARTING, f'the worker is started again: {reason}')
            self._events.put(RestartedEvent(reason))
            self._end_all(ErrorCode.ENGINE_RESTARTED, reason)

    def _fail(self, code: ErrorCode, message: str) -> None:
        _LOG.error('%s', message)
        with self._lock:
            if not self._stopping.is_set():
                self._set_state(WorkerState.FAILED, message)
            self._end_all(ErrorCode.ENGINE_RESTARTED, message)
            self._events.put(FailedEvent(code, message))

    def _end_all(self, code: ErrorCode, message: str) -> None:
        """End every request and question in flight."""
        self._end(self._inbox.pop_all(), code, message)
        for question_id in sorted(self._asked):
            self._events.put(VerdictEvent(
                Verdict(question_id=question_id, error_code=code, error_msg=message)
            ))
        self._asked.clear()

    def _end(self, ended: list[Pending], code: ErrorCode, message: str) -> None:
        now = time.monotonic()
        for pending in ended:
            self._events.put(AnswerEvent(end_answer(pending, code, message, now)))

    def _send_ready(self) -> None:
        for payload in self._inbox.take_sendable(time.monotonic()):
            self._send(payload)

    def _send(self, payload: bytes) -> None:
        if self._life is not None:
            self._life.outbox.put(payload)

    def _set_state(self, state: WorkerState, status: str) -> None:
        self._state = state
        self._status = status

    def _dispatch(self) -> None:
        while (event := self._events.get()) is not None:
            try:
                self._on_event(event)
            except Exception:
                # An observer's fault must not cost the answers that follow.
                _LOG.exception('on_event failed for %s', type(event).__name__)
