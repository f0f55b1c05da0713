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
Half an hour of a node with its worker: eight robots, cancels, restarts and a killed worker.

    .venv/bin/python benchmarks/soak.py --out benchmarks/results/soak.json

The node runs as a user runs it, in a process of its own with the embedded checkpoint and the
example's tools, in shadow mode; this program is another process, which asks. Each robot asks at a
rate of its own and keeps its history; some requests are canceled on their way, some sessions are
reset, once the node is deactivated and activated again, and once its worker is killed. The budget
of prompt states is so small that some are evicted all the time. Told are how many decisions each
request got, and what the memory of node and worker grew by after their warm-ups, a worker's from
its own start on: all that is resident, and what of it is no file's, since a machine that lacks
memory gives files' pages back and hides a growth.
"""

from __future__ import annotations

import argparse
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import field
import json
import os
from pathlib import Path
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any
import uuid

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import rclpy
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy

from gemma_node.action import Decide
from gemma_node.core import ErrorCode
from gemma_node.demo.script import load_steps
from gemma_node.msg import Decision
from gemma_node.msg import DecisionRequest
from gemma_node.msg import RuntimeInfo
from gemma_node.ros.conversions import uuid_hex
from gemma_node.ros.conversions import uuid_message
from gemma_node.ros.flow import MAX_ANSWERED
from gemma_node.ros.names import LATCHED
from gemma_node.srv import ResetSession

ROOT = Path(__file__).resolve().parents[1]
PERIODS_S = (0.8, 1.2, 1.6, 2.0, 3.0, 4.0, 6.0, 9.0)
LIMIT_MIB = 2.0
# More than the node remembers ids of.
NUM_STOPS = MAX_ANSWERED + 100
NUM_ROUNDS = 24
SAMPLE_S = 5.0
RELIABLE = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
PARAMETERS = """
/**:
  ros__parameters:
    mode: shadow
    tools_file: {tools}
    deadline: 30.0
    engine: {{num_threads: 1, lanes: 4, context_tokens: 4096, state_budget_mb: 40}}
    decoding: {{max_tokens: 48}}
    robots:
"""
ROBOT = """
      r{0}:
        observations: {{odom: {{type: nav_msgs/msg/Odometry, max_age: 1.0}}}}
        history: {{turns: 6, tokens: 512}}
"""


@dataclass(slots=True)
class Life:
    """One process's memory over time: seconds since the start of the run, KiB."""

    pid: int
    began_s: float
    resident: list[tuple[float, int]] = field(default_factory=list)
    anonymous: list[tuple[float, int]] = field(default_factory=list)

    def sample(self, now_s: float) -> None:
        """Read its memory; a process that is gone has none."""
        with suppress(OSError, StopIteration):
            lines = Path(f'/proc/{self.pid}/status').read_text().splitlines()
            values = dict(line.split(':') for line in lines if line.startswith(('VmRSS', 'RssA')))
            self.resident.append((now_s, int(values['VmRSS'].split()[0])))
            self.anonymous.append((now_s, int(values['RssAnon'].split()[0])))

    def growth(self, warm_s: float) -> dict[str, Any]:
        """Return MiB that it grew by, between the first and the last tenth after its warm-up."""
        found: dict[str, Any] = {}
        for name in ('resident', 'anonymous'):
            after = [kib for at, kib in getattr(self, name) if at >= self.began_s + warm_s]
            count = max(1, len(after) // 10)
            if not after:
                return {}
            first, last = (statistics.median(part) for part in (after[:count], after[-count:]))
            found[f'{name}_mib_first'] = round(first / 1024, 2)
            found[f'{name}_mib_growth'] = round((last - first) / 1024, 2)
            found[f'{name}_mib_by_minute'] = [
                round(kib / 1024, 1) for _, kib in getattr(self, name)[:: round(60 / SAMPLE_S)]]
        return found


class Soak:
    """Starts a node, asks it, and counts what comes back."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.sentences = [step.say for step in load_steps()]
        parameters = PARAMETERS.format(tools=ROOT / 'config' / 'tools.yaml')
        parameters += ''.join(ROBOT.format(number) for number in range(1, 9))
        (folder / 'parameters.yaml').write_text(parameters)
        self.log = (folder / 'node.log').open('wb')
        self.process = subprocess.Popen(
            [sys.executable, '-m', 'gemma_node.ros.main', '--ros-args', '--params-file',
             str(folder / 'parameters.yaml')],
            stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True)
        self.began = time.monotonic()
        self.node = Node('soak')
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.sent: dict[str, float] = {}
        self.ended: Counter[str] = Counter()
        self.codes: Counter[str] = Counter()
        self.canceled: set[str] = set()
        self.infos = 0
        self.node.create_subscription(
            Decision, '/gemma_node/decision', self._on_decision, RELIABLE)
        self.node.create_subscription(RuntimeInfo, '/gemma_node/info', self._on_info, LATCHED)
        self.requests = self.node.create_publisher(
            DecisionRequest, '/gemma_node/request', RELIABLE)
        self.decide = ActionClient(self.node, Decide, '/gemma_node/decide')
        self.reset = self.node.create_client(ResetSession, '/gemma_node/reset_session')
        self.change = self.node.create_client(ChangeState, '/gemma_node/change_state')
        self.lives = [Life(self.process.pid, 0.0)]
        self.next_s = [0.0] * len(PERIODS_S)
        self.to_cancel: list[tuple[float, Any, str]] = []
        self.start_s = 0.0

    @property
    def now_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.began

    def spin(self, until: Any, timeout_s: float) -> bool:
        """Spin until something holds; False when it did not in time."""
        end_s = self.now_s + timeout_s
        while not until():
            if self.now_s > end_s:
                return False
            if self.process.poll() is not None:
                raise SystemExit(f'the node ended with {self.process.returncode}')
            self.executor.spin_once(timeout_sec=0.02)
        return True

    def run(self, minutes: float) -> None:
        """Ask for so long; the events come at fixed shares of it."""
        if not self.spin(lambda: self.infos and self.decide.server_is_ready(), 120):
            raise SystemExit('the node was not ready in 120 s')
        self._fill_books()
        self._find_worker()
        self._ask_all_at_once()
        self.start_s = self.now_s
        end_s = self.start_s + 60 * minutes
        events = [(end_s - 60 * minutes * 0.7, self._deactivate_and_activate),
                  (end_s - 60 * minutes * 0.5, self._kill_worker)]
        sampled_s = 0.0
        while self.now_s < end_s:
            if events and self.now_s >= events[0][0]:
                events.pop(0)[1]()
            self._ask_those_due()
            if self.now_s - sampled_s > SAMPLE_S:
                sampled_s = self.now_s
                for life in self.lives:
                    life.sample(sampled_s)
            self.spin(lambda: True, 1)
            self.executor.spin_once(timeout_sec=0.02)
        self.spin(self._all_ended, 60)
        # A second decision of a request would come now.
        self.spin(lambda: False, 2)

    def close(self) -> None:
        """End the node."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.node.destroy_node()
        self.log.close()

    def figures(self, warm_s: float) -> dict[str, Any]:
        """Return what was counted."""
        self.lives[0].began_s = self.start_s
        grown = [{'process': name, **life.growth(warm_s)} for name, life in zip(
            ['node', *(f'worker {n}' for n in range(1, len(self.lives)))], self.lives,
            strict=True)]
        totals = {name: round(sum(each.get(f'{name}_mib_growth', 0.0) for each in grown), 2)
                  for name in ('resident', 'anonymous')}
        wrong = {name: self.ended[name] for name in self.sent if self.ended[name] != 1}
        return {
            'requests': len(self.sent),
            'canceled': len(self.canceled),
            'not exactly one decision': len(wrong),
            'unknown decisions': len(set(self.ended) - set(self.sent)),
            'decisions by error': dict(sorted(self.codes.items())),
            'memory': grown,
            'growth_mib': totals,
            'limit_mib': LIMIT_MIB,
            'holds': {'memory': max(totals.values()) <= LIMIT_MIB, 'decisions': not wrong},
        }

    def _fill_books(self) -> None:
        """
        Send stops, which need no model, until the node's bounded books are full.

        It remembers the ids of so many answered requests; filling that is no growth.
        """
        for number in range(NUM_STOPS):
            name = uuid.UUID(int=self.random.getrandbits(128)).hex
            self.sent[name] = self.now_s
            self.requests.publish(DecisionRequest(
                id=uuid_message(name), robot=f'r{number % 8 + 1}', text='stop', keep=False))
            self.spin(lambda: len(self.sent) - sum(self.ended.values()) < 4, 10)

    def _ask_all_at_once(self) -> None:
        """Have every lane busy and every history full, which is the most that a worker holds."""
        for _ in range(NUM_ROUNDS):
            for number in range(8):
                self._ask(f'r{number + 1}')
            self.spin(self._all_ended, 60)

    def _ask_those_due(self) -> None:
        now_s = self.now_s
        for number, period_s in enumerate(PERIODS_S):
            if now_s >= self.next_s[number]:
                self.next_s[number] = now_s + period_s * self.random.uniform(0.5, 1.5)
                self._ask(f'r{number + 1}')
        for entry in [each for each in self.to_cancel if now_s >= each[0] and each[1].done()]:
            self.to_cancel.remove(entry)
            handle = entry[1].result()
            if handle.accepted:
                self.canceled.add(entry[2])
                handle.cancel_goal_async()

    def _ask(self, robot: str) -> None:
        name = uuid.UUID(int=self.random.getrandbits(128)).hex
        request = DecisionRequest(
            id=uuid_message(name), robot=robot, text=self.random.choice(self.sentences), keep=True)
        self.sent[name] = self.now_s
        if self.random.random() < 0.15:
            goal = self.decide.send_goal_async(Decide.Goal(request=request))
            self.to_cancel.append((self.now_s + self.random.uniform(0.0, 0.1), goal, name))
        else:
            self.requests.publish(request)
        if self.random.random() < 0.02:
            self.reset.call_async(ResetSession.Request(robot=robot))

    def _deactivate_and_activate(self) -> None:
        for transition in (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVATE):
            request = ChangeState.Request(transition=Transition(id=transition))
            answer = self.change.call_async(request)
            if not self.spin(answer.done, 30) or not answer.result().success:
                raise SystemExit(f'transition {transition} failed')
        self._find_worker()

    def _kill_worker(self) -> None:
        worker = self.lives[-1].pid
        self.infos = 0
        os.kill(worker, signal.SIGKILL)
        if not self.spin(lambda: self.infos, 60):
            raise SystemExit('the worker did not come back')
        self._find_worker()
        self._ask_all_at_once()

    def _find_worker(self) -> None:
        """Add the worker's life, if it is a new one."""
        pids = []
        for file in Path('/proc').glob(f'{self.process.pid}/task/*/children'):
            pids += file.read_text().split()
        for pid in map(int, pids):
            command = Path(f'/proc/{pid}/cmdline').read_bytes()
            if b'gemma_node.worker' in command and pid not in [each.pid for each in self.lives]:
                self.lives.append(Life(pid, self.now_s))

    def _all_ended(self) -> bool:
        return all(self.ended[name] for name in self.sent)

    def _on_decision(self, decision: Decision) -> None:
        self.ended[uuid_hex(decision.id)] += 1
        self.codes[ErrorCode(decision.error_code).name] += 1

    def _on_info(self, _info: RuntimeInfo) -> None:
        self.infos += 1


def main() -> int:
    """Run and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--minutes', type=float, default=30.0)
    parser.add_argument('--warm-minutes', type=float, default=None, help='a sixth of all')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--out', type=Path, default=None)
    arguments = parser.parse_args()
    warm_s = 60 * (arguments.warm_minutes or arguments.minutes / 6)
    load = os.getloadavg()[0]
    rclpy.init()
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Path(folder), arguments.seed)
        try:
            soak.run(arguments.minutes)
        except BaseException:
            sys.stderr.write((Path(folder) / 'node.log').read_text()[-3000:])
            raise
        finally:
            soak.close()
    figures = {
        'minutes': arguments.minutes,
        'warm_minutes': round(warm_s / 60, 2),
        'load_before_and_after': [round(load, 1), round(os.getloadavg()[0], 1)],
        **soak.figures(warm_s),
    }
    text = json.dumps(figures, indent=1) + '\n'
    sys.stdout.write(text)
    if arguments.out is not None:
        arguments.out.write_text(text)
    return 0 if all(figures['holds'].values()) else 1


if __name__ == '__main__':
    sys.exit(main())
