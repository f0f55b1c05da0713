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

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from pathlib import Path
from typing import TextIO
import uuid

from gemma_node.core import Answer
from gemma_node.core import ErrorCode
from gemma_node.core import Observation
from gemma_node.core import Request
from gemma_node.core import Trigger
from gemma_node.policy.gate import Verdict
from gemma_node.policy.settings import RobotConfig
from gemma_node.policy.settings import to_worker_settings
from gemma_node.policy.settings import TriggerConfig
from gemma_node.policy.triggers import TriggerInput
from gemma_node.policy.triggers import Triggers
from gemma_node.replay.bag import Bag
from gemma_node.replay.bag import BagMessage
from gemma_node.replay.judge import Judge
from gemma_node.replay.judge import refusal
from gemma_node.replay.mailbox import Mailbox
from gemma_node.replay.output import check_output
from gemma_node.replay.output import whole_file
from gemma_node.replay.plan import make_plan
from gemma_node.replay.plan import Plan
from gemma_node.replay.record import decision_line
from gemma_node.replay.record import header_line
from gemma_node.replay.requests import Requests
from gemma_node.replay.session import MakeWorker
from gemma_node.replay.session import PATIENT_WORKER
from gemma_node.replay.session import Session

NS = 1_000_000_000
POLL_NS = NS // 10


@dataclass(slots=True)
class ReplaySummary:
    """What a replay did, for its user: decisions by outcome, over how many seconds of bag."""

    messages: int = 0
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def decisions(self) -> int:
        """Return how many questions were asked."""
        return self.outcomes.total()


OnDecision = Callable[[ReplaySummary], None]


def replay(
    bag_path: Path,
    out: Path,
    *,
    config: Path | None = None,
    make_worker: MakeWorker = PATIENT_WORKER,
    on_decision: OnDecision = lambda summary: None,
) -> ReplaySummary:
    """
    Replay a recording into a file of JSON lines.

    Raises BagError, ConfigError or RequestError, and leaves no output then.
    """
    check_output(out, (bag_path,) if config is None else (bag_path, config))
    with Bag(bag_path) as bag:
        plan = make_plan(bag, config)
        with whole_file(out) as stream:
            session = Session(to_worker_settings(plan.settings, plan.catalogue), make_worker)
            with session.running() as facts:
                stream.write(header_line(bag, plan, facts) + '\n')
                return _Replay(bag, plan, session, stream, on_decision).run()


class _Replay:
    """One pass over the recording."""

    def __init__(
        self, bag: Bag, plan: Plan, session: Session, stream: TextIO, on_decision: OnDecision
    ) -> None:
        self._bag = bag
        self._plan = plan
        self._stream = stream
        self._on_decision = on_decision
        self._robots = {robot.name: robot for robot in plan.settings.robots}
        self._judge = Judge(plan, session)
        self._mailbox = Mailbox(bag)
        self._requests = Requests(plan.settings)
        self._triggers = {name: Triggers(r.triggers, 0.0) for name, r in self._robots.items()}
        self._namespace = uuid.UUID(hex=bag.digest[:32])
        self._num_asked: Counter[str] = Counter()
        self._asked_ns = bag.start_ns
        self._summary = ReplaySummary(messages=bag.num_messages, seconds=self._seconds(bag.end_ns))

    def run(self) -> ReplaySummary:
        """Poll the triggers as often as the node does, between the messages."""
        tick_ns = self._bag.start_ns + POLL_NS
        for message in self._bag.messages():
            while tick_ns < message.time_ns:
                self._poll(tick_ns)
                tick_ns += POLL_NS
            self._mailbox.put(message)
            self._hear(message)
        self._poll(self._bag.end_ns)
        if self._plan.is_default and self._asked_ns < self._bag.end_ns:
            (robot,) = self._robots.values()
            self._ask_by(robot, robot.triggers[0], self._bag.end_ns)
        return self._summary

    def _poll(self, now_ns: int) -> None:
        for name, robot in self._robots.items():

            def read(key: str, robot: RobotConfig = robot) -> TriggerInput | None:
                return self._mailbox.trigger_input(robot, key)

            for config in self._triggers[name].poll(self._seconds(now_ns), read):
                self._ask_by(robot, config, now_ns)

    def _hear(self, message: BagMessage) -> None:
        """Ask what was asked in the recording, and follow its locks."""
        if self._judge.is_lock(message):
            decoded = self._bag.decode(message)
            if decoded is not None:
                is_locked = bool(decoded[0]['data'])
                self._judge.hear_lock(message.topic, is_locked, self._seconds(message.time_ns))
        elif self._requests.is_request(message):
            decoded = self._bag.decode(message)
            request = self._requests.request(message, None if decoded is None else decoded[0])
            if request is not None:
                self._ask(request)

    def _ask_by(self, robot: RobotConfig, config: TriggerConfig, now_ns: int) -> None:
        self._ask(
            Request(
                id='',
                robot=robot.name,
                text=config.text,
                trigger=Trigger.TIMER if config.kind == 'period' else Trigger.OBSERVATION,
                trigger_source=f'{robot.name}.trigger.{config.name}',
                stamp_ns=now_ns,
            )
        )

    def _ask(self, request: Request) -> None:
        index = self._num_asked[request.robot]
        self._num_asked[request.robot] += 1
        name = f'{request.robot}/{index}'
        request = replace(request, id=uuid.uuid5(self._namespace, name).hex)
        self._asked_ns = now_ns = request.stamp_ns
        robot = self._robots.get(request.robot)
        if robot is None:
            names = ', '.join(self._robots)
            text = f'unknown robot {request.robot!r}; robots are: {names}'
            self._write(index, request, (), refusal(request, ErrorCode.UNKNOWN_ROBOT, text), [])
            return
        observations = self._mailbox.snapshot(robot, now_ns, self._plan.settings.stamp_tolerance_s)
        answer, verdicts = self._judge.decide(request, observations, self._seconds(now_ns))
        self._write(index, request, observations, answer, verdicts)

    def _write(
        self,
        index: int,
        request: Request,
        observations: tuple[Observation, ...],
        answer: Answer,
        verdicts: list[Verdict],
    ) -> None:
        line = decision_line(index, request, observations, answer, verdicts)
        self._stream.write(line + '\n')
        self._summary.outcomes[answer.outcome.name] += 1
        self._on_decision(self._summary)

    def _seconds(self, now_ns: int) -> float:
        """Return the time since the start, small enough for a float to be exact to the tick."""
        return (now_ns - self._bag.start_ns) / NS
