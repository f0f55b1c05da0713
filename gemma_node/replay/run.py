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
Replays a recording: the same triggers, policy, prompt, model and grammar as the node, no ROS.

One request at a time, so the output depends on the recording, the settings and the checkpoint
only. The output file appears whole at the end or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from functools import partial
import os
from pathlib import Path
import queue
import tempfile
from typing import Protocol
from typing import TextIO
import uuid

from gemma_node.core import Answer
from gemma_node.core import ErrorCode
from gemma_node.core import Mode
from gemma_node.core import Observation
from gemma_node.core import Outcome
from gemma_node.core import Request
from gemma_node.core import RuntimeFacts
from gemma_node.core import Trigger
from gemma_node.core import WorkerSettings
from gemma_node.errors import ConfigError
from gemma_node.errors import RequestError
from gemma_node.policy.gate import Gate
from gemma_node.policy.settings import RobotConfig
from gemma_node.policy.settings import to_worker_settings
from gemma_node.policy.settings import TriggerConfig
from gemma_node.policy.triggers import TriggerInput
from gemma_node.policy.triggers import Triggers
from gemma_node.replay.bag import Bag
from gemma_node.replay.bag import BagMessage
from gemma_node.replay.mailbox import Mailbox
from gemma_node.replay.mailbox import topic_of
from gemma_node.replay.plan import make_plan
from gemma_node.replay.plan import Plan
from gemma_node.replay.record import decision_line
from gemma_node.replay.record import header_line
from gemma_node.worker.client import AnswerEvent
from gemma_node.worker.client import Event
from gemma_node.worker.client import FailedEvent
from gemma_node.worker.client import ReadyEvent
from gemma_node.worker.client import RestartedEvent
from gemma_node.worker.client import WorkerClient

NS = 1_000_000_000
POLL_NS = NS // 10
COMMAND_TOPIC = 'gemma/command'


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
_PATIENT_WORKER: MakeWorker = partial(WorkerClient, silent_limit_s=120.0)


@dataclass(slots=True)
class ReplaySummary:
    """What a replay did, for its user: decisions by outcome, over how many seconds of bag."""

    messages: int = 0
    seconds: float = 0.0
    outcomes: dict[str, int] = field(default_factory=dict)

    @property
    def decisions(self) -> int:
        """Return how many questions were asked."""
        return sum(self.outcomes.values())


def replay(
    bag_path: Path,
    out: Path,
    *,
    config: Path | None = None,
    make_worker: MakeWorker = _PATIENT_WORKER,
    on_decision: Callable[[ReplaySummary], None] = lambda summary: None,
) -> ReplaySummary:
    """
    Replay a recording into a file of JSON lines.

    Raises BagError, ConfigError or RequestError, and leaves no output then.
    """
    with Bag(bag_path) as bag:
        plan = make_plan(bag, config)
        with _whole_file(out) as stream, _session(plan, make_worker) as session:
            stream.write(header_line(bag, plan, session.wait_ready()) + '\n')
            return _Replay(bag, plan, session, stream, on_decision).run()


class _Session:
    """Asks a worker one question after the other. The caller's thread waits."""

    def __init__(self, settings: WorkerSettings, make_worker: MakeWorker) -> None:
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._worker = make_worker(settings, self._events.put)

    def start(self) -> None:
        self._worker.start()

    def stop(self) -> None:
        self._worker.stop()

    def wait_ready(self) -> RuntimeFacts:
        while True:
            event = self._next()
            if isinstance(event, ReadyEvent):
                return event.facts

    def ask(self, request: Request, observations: tuple[Observation, ...]) -> Answer:
        try:
            self._worker.submit(request, observations)
        except RequestError as error:
            return _refusal(request, error.code, str(error), outcome=Outcome.FAILED)
        while True:
            event = self._next()
            if isinstance(event, AnswerEvent) and event.answer.request_id == request.id:
                return event.answer

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


class _Replay:
    """One pass over the recording."""

    def __init__(
        self,
        bag: Bag,
        plan: Plan,
        session: _Session,
        stream: TextIO,
        on_decision: Callable[[ReplaySummary], None],
    ) -> None:
        self._bag = bag
        self._plan = plan
        self._session = session
        self._stream = stream
        self._on_decision = on_decision
        self._mailbox = Mailbox(bag)
        self._namespace = uuid.UUID(hex=bag.digest[:32])
        self._indices = {robot.name: 0 for robot in plan.settings.robots}
        self._triggers = {
            robot.name: Triggers(robot.triggers, 0.0) for robot in plan.settings.robots
        }
        tools = {
            robot.name: {
                tool.name: tool
                for tool in plan.catalogue.tools
                if not robot.tools or tool.name in robot.tools
            }
            for robot in plan.settings.robots
        }
        self._gate = Gate(plan.settings, tools)
        # Nothing is ever sent: a call that passes is recorded as one that would be.
        self._gate.modes.set(Mode.SHADOW)
        self._commands = {
            topic_of(robot, COMMAND_TOPIC): robot for robot in plan.settings.robots
        }
        self._asked_ns = bag.start_ns
        self._summary = ReplaySummary(
            messages=bag.num_messages, seconds=(bag.end_ns - bag.start_ns) / NS
        )

    def run(self) -> ReplaySummary:
        tick_ns = self._bag.start_ns + POLL_NS
        for message in self._bag.messages():
            while tick_ns < message.time_ns:
                self._poll(tick_ns)
                tick_ns += POLL_NS
            self._mailbox.put(message)
            self._hear(message)
        self._poll(self._bag.end_ns)
        if self._plan.asks_at_end and self._asked_ns < self._bag.end_ns:
            robot = self._plan.settings.robots[0]
            self._ask_by(robot, robot.triggers[0], self._bag.end_ns)
        return self._summary

    def _poll(self, now_ns: int) -> None:
        for robot in self._plan.settings.robots:

            def read(name: str, robot: RobotConfig = robot) -> TriggerInput | None:
                return self._mailbox.trigger_input(robot, name)

            for config in self._triggers[robot.name].poll(self._seconds(now_ns), read):
                self._ask_by(robot, config, now_ns)

    def _hear(self, message: BagMessage) -> None:
        """Ask what an operator asked in the recording."""
        robot = self._commands.get(message.topic)
        if robot is None:
            return
        decoded = self._bag.decode(message)
        text = decoded[0].get('data') if decoded else None
        if isinstance(text, str):
            self._ask(robot, text, Trigger.REQUEST, message.topic, message.time_ns)

    def _ask_by(self, robot: RobotConfig, config: TriggerConfig, now_ns: int) -> None:
        trigger = Trigger.TIMER if config.kind == 'period' else Trigger.OBSERVATION
        self._ask(robot, config.text, trigger, config.name, now_ns)

    def _ask(
        self, robot: RobotConfig, text: str, trigger: Trigger, source: str, now_ns: int
    ) -> None:
        settings = self._plan.settings
        index = self._indices[robot.name]
        self._indices[robot.name] += 1
        self._asked_ns = now_ns
        request = Request(
            id=uuid.uuid5(self._namespace, f'{robot.name}/{index}').hex,
            robot=robot.name,
            text=text,
            trigger=trigger,
            trigger_source=source,
            stamp_ns=now_ns,
        )
        observations = self._mailbox.snapshot(robot, now_ns, settings.stamp_tolerance_s)
        now_s = self._seconds(now_ns)
        finding = self._gate.before(request, observations, now_s=now_s)
        if finding is not None:
            answer = _refusal(request, finding.code, finding.sentence)
        else:
            answer = self._session.ask(request, observations)
        verdicts = self._gate.after(request, answer.calls, observations, now_s=now_s)
        line = decision_line(index, request, observations, answer, verdicts)
        self._stream.write(line + '\n')
        outcomes = self._summary.outcomes
        outcomes[answer.outcome.name] = outcomes.get(answer.outcome.name, 0) + 1
        self._on_decision(self._summary)

    def _seconds(self, now_ns: int) -> float:
        """Return the time since the start, small enough for a float to be exact to the tick."""
        return (now_ns - self._bag.start_ns) / NS


def _refusal(
    request: Request, code: ErrorCode, sentence: str, outcome: Outcome = Outcome.REFUSED
) -> Answer:
    return Answer(
        request_id=request.id,
        robot=request.robot,
        outcome=outcome,
        error_code=code,
        error_msg=sentence,
    )


@contextmanager
def _session(plan: Plan, make_worker: MakeWorker) -> Iterator[_Session]:
    settings = to_worker_settings(plan.settings, plan.catalogue)
    session = _Session(settings, make_worker)
    session.start()
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def _whole_file(out: Path) -> Iterator[TextIO]:
    """Write beside the target and rename at the end, so that no partial file is ever seen."""
    try:
        handle, name = tempfile.mkstemp(prefix=f'.{out.name}.', dir=out.parent)
    except OSError as error:
        raise ConfigError(f'cannot write {out}: {error.strerror}') from error
    part = Path(name)
    try:
        with os.fdopen(handle, 'w', encoding='utf-8', newline='\n') as stream:
            yield stream
        part.chmod(0o644)
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
