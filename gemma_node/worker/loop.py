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
The worker's side: takes requests from the socket, steps the engine, sends answers.

Knows frames, a decider and an engine by three small Protocols; not which model or tokenizer is
behind them. Three threads: the reader only queues, the heartbeat only reports, and the thread
that calls `run` owns decider and engine.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import replace
import importlib
import importlib.util
import logging
import queue
import sys
import threading
import time
from types import ModuleType
from typing import ParamSpec
from typing import Protocol
from typing import TypeVar

from gemma_node import ahead
from gemma_node.core import Answer
from gemma_node.core import EngineStats
from gemma_node.core import ErrorCode
from gemma_node.core import GenerationProgress
from gemma_node.core import GenerationResult
from gemma_node.core import Observation
from gemma_node.core import Outcome
from gemma_node.core import Request
from gemma_node.core import RuntimeFacts
from gemma_node.core import Stage
from gemma_node.errors import FrameError
from gemma_node.errors import GemmaNodeError
from gemma_node.worker.frames import Answered
from gemma_node.worker.frames import Cancel
from gemma_node.worker.frames import Choose
from gemma_node.worker.frames import Chosen
from gemma_node.worker.frames import FrameSocket
from gemma_node.worker.frames import Heartbeat
from gemma_node.worker.frames import Hello
from gemma_node.worker.frames import LoadFailed
from gemma_node.worker.frames import Loading
from gemma_node.worker.frames import Progress
from gemma_node.worker.frames import PROTOCOL_VERSION
from gemma_node.worker.frames import Ready
from gemma_node.worker.frames import ResetSession
from gemma_node.worker.frames import Submit
from gemma_node.worker.frames import ToWorker
from gemma_node.worker.questions import Question
from gemma_node.worker.questions import Verdict

HEARTBEAT_PERIOD_S = 0.25
PROGRESS_PERIOD_S = 0.1
STATS_PERIOD_S = 0.1
MAX_FAILED_STEPS = 2
_P = ParamSpec('_P')
_T = TypeVar('_T')
_LOG = logging.getLogger(__name__)


class Decider(Protocol):
    """Turns requests into generations and their results into answers."""

    @property
    def questions(self) -> Questioner:
        """Return what answers questions by scores."""

    def submit(self, request: Request, observations: tuple[Observation, ...]) -> Answer | None:
        """Start it, or return the answer to a request that cannot be served."""

    def on_result(self, result: GenerationResult) -> Answer:
        """Return the answer that a finished generation means."""

    def on_progress(self, progress: GenerationProgress) -> Progress | None:
        """Return what may be told of a running generation."""

    def cancel(self, request_id: str, code: ErrorCode) -> None:
        """End it; its result is the engine's."""

    def reset(self, robot: str, session: str, keep_turns: int) -> None:
        """Forget history."""


class Questioner(Protocol):
    """Turns questions into generations and their results into verdicts."""

    def ask(self, question: Question, observations: tuple[Observation, ...]) -> list[Verdict]:
        """Start it, or return its verdict."""

    def on_result(self, result: GenerationResult) -> Verdict:
        """Return the verdict that a finished generation means."""


class Engine(Protocol):
    """Runs generations; a step returns within the slice."""

    @property
    def has_work(self) -> bool:
        """Return whether a step would do anything."""

    def step(self) -> list[GenerationProgress | GenerationResult]:
        """Do one slice of work."""

    def stats(self) -> EngineStats:
        """Return the counters."""

    def close(self) -> None:
        """Write what outlives the worker."""


class Assembly(Protocol):
    """What a composition root makes of settings."""

    @property
    def decider(self) -> Decider:
        """Return the decision path."""

    @property
    def engine(self) -> Engine:
        """Return the engine."""

    @property
    def facts(self) -> RuntimeFacts:
        """Return the constants of this worker."""

    @property
    def step_s(self) -> float:
        """Return how long the longest step of the warm-up took."""


class _Closed(Exception):  # noqa: N818
    """The node closed the socket or said stop."""


class WorkerLoop:
    """
    Serves one node over one socket until it closes, says stop, or the engine is beyond repair.

    `assembler` names the module (or .py file) whose ``assemble(settings, report)`` builds decider
    and engine. `on_closed` is called by the reader thread when the node is gone.
    """

    def __init__(
        self,
        frames: FrameSocket,
        assembler: str,
        *,
        on_closed: Callable[[], None] = lambda: None,
    ) -> None:
        self._frames = frames
        self._assembler = assembler
        self._on_closed = on_closed
        self._arrived: queue.SimpleQueue[ToWorker | None] = queue.SimpleQueue()
        self._is_closed = threading.Event()
        self._is_over = threading.Event()
        self._busy_since = 0.0
        self._stats = EngineStats()
        self._stats_at = 0.0
        self._open: dict[str, str] = {}
        self._asked: set[str] = set()
        self._told: dict[str, tuple[Stage, float]] = {}
        self._failed_steps = 0
        self._is_verified = False

    def run(self) -> int:
        """Serve until the end; return the exit code of the worker."""
        try:
            hello = self._frames.receive_in_worker()
        except FrameError as error:
            _LOG.error('%s', error)
            return 1
        if not isinstance(hello, Hello):
            return 0 if hello is None else 1
        for target in (self._read, self._beat):
            threading.Thread(target=target, name=target.__name__, daemon=True).start()
        try:
            assembly = self._load(hello)
            return 2 if assembly is None else self._serve(assembly)
        except (_Closed, OSError):
            return 0
        finally:
            self._is_over.set()

    def _read(self) -> None:
        """Queue frames until the node closes; a malformed one ends the worker: its id is lost."""
        try:
            while (frame := self._frames.receive_in_worker()) is not None:
                if not isinstance(frame, (Submit, Choose, Cancel, ResetSession)):
                    break
                self._arrived.put(frame)
        except FrameError as error:
            _LOG.error('the node sent a %s', error)
        self._is_closed.set()
        self._arrived.put(None)
        self._on_closed()

    def _beat(self) -> None:
        while not self._is_over.wait(HEARTBEAT_PERIOD_S):
            since = self._busy_since
            age_s = time.monotonic() - since if since else 0.0
            try:
                self._frames.send(Heartbeat(age_s, self._stats))
            except OSError:
                return

    def _load(self, hello: Hello) -> Assembly | None:
        code = ErrorCode.RUNTIME_FAILURE
        try:
            if hello.version != PROTOCOL_VERSION:
                raise FrameError(
                    f'the node speaks frames {hello.version}, the worker {PROTOCOL_VERSION}; '
                    f'install the same gemma_node for both'
                )
            self._report(0.0, 'importing libraries')
            ahead.begin(hello.settings.model_path, hello.settings.device)
            module = _import(self._assembler)
            assembly: Assembly = module.assemble(hello.settings, self._report)
            self._stats = assembly.engine.stats()
            self._is_verified = assembly.facts.verified
            self._frames.send(Ready(assembly.facts, assembly.step_s))
            return assembly
        except (_Closed, BrokenPipeError):
            raise
        except GemmaNodeError as error:
            code, message = error.code, str(error)
        except ImportError as error:
            message = f'{sys.executable} cannot run the worker: {error}'
        except MemoryError:
            code, message = ErrorCode.OUT_OF_MEMORY, 'the checkpoint does not fit in memory'
        except Exception as error:
            _LOG.exception('the worker cannot load')
            message = f'loading failed: {type(error).__name__}: {error}'
        self._frames.send(LoadFailed(int(code), ' '.join(message.split())))
        return None

    def _report(self, fraction: float, text: str) -> None:
        if self._is_closed.is_set():
            raise _Closed
        self._frames.send(Loading(min(max(fraction, 0.0), 1.0), text))

    def _serve(self, assembly: Assembly) -> int:
        try:
            return self._serve_on(assembly.engine, assembly.decider)
        except _Closed:
            self._guarded((), assembly.engine.close)
            raise

    def _serve_on(self, engine: Engine, decider: Decider) -> int:
        while True:
            for frame in self._drain(wait=not engine.has_work):
                self._take(frame, decider)
            if engine.has_work and not self._step(engine, decider):
                return 1
            self._keep_stats(engine)

    def _keep_stats(self, engine: Engine) -> None:
        """Read the counters for the heartbeat, which is another thread's."""
        now = time.monotonic()
        if now - self._stats_at > STATS_PERIOD_S or not engine.has_work:
            self._stats_at = now
            self._stats = engine.stats()

    def _drain(self, *, wait: bool) -> Iterator[ToWorker]:
        """Yield all frames that arrived; with `wait` sleep until there is one."""
        while wait or not self._arrived.empty():
            frame = self._arrived.get()
            wait = False
            if frame is None:
                raise _Closed
            yield frame

    def _take(self, frame: ToWorker, decider: Decider) -> None:
        if isinstance(frame, Submit):
            request = frame.request
            self._open[request.id] = request.robot
            answer = self._guarded((request.id,), decider.submit, request, frame.observations)
            if answer is not None:
                self._answer(answer)
        elif isinstance(frame, Cancel):
            if frame.request_id in self._open:
                code = ErrorCode(frame.error_code)
                self._guarded((frame.request_id,), decider.cancel, frame.request_id, code)
        elif isinstance(frame, Choose):
            self._ask(frame, decider)
        elif isinstance(frame, ResetSession):
            self._guarded((), decider.reset, frame.robot, frame.session, frame.keep_turns)

    def _step(self, engine: Engine, decider: Decider) -> bool:
        """Do one step and send what it brought; False when the engine is beyond repair."""
        request_ids = tuple(self._open)
        events = self._guarded(request_ids, engine.step)
        if events is None:
            self._failed_steps += 1
            for request_id in request_ids:
                self._guarded((), decider.cancel, request_id, ErrorCode.RUNTIME_FAILURE)
            for question_id in sorted(self._asked):
                self._frames.send(Chosen(_unscored(question_id)))
            self._asked.clear()
            return self._failed_steps < MAX_FAILED_STEPS
        self._failed_steps = 0
        for event in events:
            if isinstance(event, GenerationProgress):
                self._tell(event, decider)
            elif event.id in self._asked:
                self._asked.discard(event.id)
                verdict = self._guarded((), decider.questions.on_result, event)
                self._frames.send(Chosen(verdict or _unscored(event.id)))
            elif (answer := self._guarded((event.id,), decider.on_result, event)) is not None:
                self._answer(answer)
        return True

    def _ask(self, frame: Choose, decider: Decider) -> None:
        """Start a question, or send its verdict."""
        question = frame.question
        found = self._guarded((), decider.questions.ask, question, frame.observations)
        if found is None:
            found = [_unscored(question.id)]
        for verdict in found:
            self._frames.send(Chosen(verdict))
        if not found:
            self._asked.add(question.id)

    def _tell(self, progress: GenerationProgress, decider: Decider) -> None:
        stage, told_at = self._told.get(progress.id, (None, 0.0))
        now = time.monotonic()
        if progress.id not in self._open:
            return
        if progress.stage == stage and now - told_at < PROGRESS_PERIOD_S:
            return
        self._told[progress.id] = (progress.stage, now)
        frame = self._guarded((progress.id,), decider.on_progress, progress)
        if frame is not None:
            self._frames.send(frame)

    def _answer(self, answer: Answer) -> None:
        """Send the answer to a request unless it has had one."""
        self._told.pop(answer.request_id, None)
        if self._open.pop(answer.request_id, None) is not None:
            self._frames.send(Answered(replace(answer, verified=self._is_verified)))

    def _guarded(
        self,
        request_ids: tuple[str, ...],
        work: Callable[_P, _T],
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> _T | None:
        """Do the work; if it fails, end the requests it concerns and return None."""
        self._busy_since = time.monotonic()
        try:
            return work(*args, **kwargs)
        except Exception as error:
            _LOG.exception('%s failed', getattr(work, '__qualname__', work))
            failure = error
        finally:
            self._busy_since = 0.0
        for request_id in request_ids:
            if request_id in self._open:
                self._answer(_failed(request_id, self._open[request_id], failure))
        return None


def _unscored(question_id: str) -> Verdict:
    return Verdict(
        question_id=question_id,
        error_code=ErrorCode.RUNTIME_FAILURE,
        error_msg='the worker failed at this question; its log says how',
    )


def _failed(request_id: str, robot: str, error: Exception) -> Answer:
    code = error.code if isinstance(error, GemmaNodeError) else ErrorCode.RUNTIME_FAILURE
    if isinstance(error, MemoryError):
        code = ErrorCode.OUT_OF_MEMORY
    return Answer(
        request_id=request_id,
        robot=robot,
        outcome=Outcome.FAILED,
        error_code=code,
        error_msg=f'the worker failed: {type(error).__name__}: {error}',
    )


def _import(assembler: str) -> ModuleType:
    """Import a module by its name, or a file by its path."""
    if not assembler.endswith('.py'):
        return importlib.import_module(assembler)
    spec = importlib.util.spec_from_file_location('gemma_node_assembler', assembler)
    if spec is None or spec.loader is None:
        raise ImportError(f'{assembler} is not a Python file')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
