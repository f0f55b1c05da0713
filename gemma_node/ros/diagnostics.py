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
Publishes ~/status and /diagnostics, also while the node is inactive or the model loads.

Holds the counters and the newest troubles of the inputs; asks the rest of the node for nothing
that could wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from collections.abc import Mapping
import math
import resource
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from diagnostic_msgs.msg import DiagnosticStatus
from diagnostic_msgs.msg import KeyValue
from rclpy.node import Node
from rclpy.qos_overriding_options import QoSOverridingOptions

from gemma_node.core import EngineStats
from gemma_node.core import ErrorCode
from gemma_node.core import InputState
from gemma_node.core import Observation
from gemma_node.msg import Decision
from gemma_node.msg import EngineStatus
from gemma_node.msg import RobotStatus
from gemma_node.policy.gate import Gate
from gemma_node.policy.tally import Tally
from gemma_node.policy.tally import WINDOW_S
from gemma_node.ros.dispatch import Dispatch
from gemma_node.ros.names import LATCHED
from gemma_node.ros.robots import Robot

_TROUBLE_KEPT_S = 30.0
_UNKNOWN = ('device_utilization', 'device_power', 'device_temperature', 'energy_per_decision')
_SAME_NAME = ('lanes', 'lanes_busy', 'queue_depth', 'kv_bytes', 'state_bytes',
              'state_budget_bytes', 'states', 'state_hits', 'state_misses', 'state_evictions',
              'state_refused')


class Diagnostics:
    """Counters and their publishers. Executor thread only."""

    def __init__(self, node: Node, robots: Iterable[str]) -> None:
        self._node = node
        overrides = QoSOverridingOptions.with_default_policies()
        self._status = node.create_publisher(
            EngineStatus, '~/status', LATCHED, qos_overriding_options=overrides)
        self._diagnostics = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._all = Tally()
        self._robots = {name: Tally() for name in robots}
        self._troubles: dict[str, deque[tuple[float, str]]] = {}
        self._previous: tuple[float, EngineStats] | None = None
        self.stats = EngineStats()
        self.worker = (DiagnosticStatus.STALE, 'the worker was not started')
        self.restarts = 0
        self.callback_errors = 0

    def record(self, decision: Decision) -> None:
        """Count a decision."""
        known = self._robots.get(decision.robot)
        for tally in (self._all, *([known] if known else [])):
            tally.record(
                now_s=time.monotonic(), latency_s=decision.total_time,
                code=decision.error_code,
                is_refused=decision.outcome == Decision.OUTCOME_REFUSED,
                is_late=decision.deadline_slack < 0
                or decision.error_code == ErrorCode.DEADLINE_EXCEEDED)

    def report(self, robot: str, name: str, sentence: str) -> None:
        """Note a trouble with an input; it stays visible for half a minute."""
        self._troubles.setdefault(f'{robot}: {name}', deque(maxlen=8)).append(
            (time.monotonic(), sentence))

    def publish(
        self, robots: Mapping[str, Robot], snapshots: Mapping[str, tuple[Observation, ...]],
        gate: Gate, dispatch: Dispatch,
    ) -> None:
        """Publish the status of the engine and every robot, and the diagnostics made of it."""
        now_s = time.monotonic()
        status = self._engine_status(now_s)
        status.robots = [self._robot_status(robot, snapshots[name], gate, dispatch, now_s)
                         for name, robot in robots.items()]
        self._status.publish(status)
        array = DiagnosticArray(status=[
            self._worker_diagnostic(status),
            *(self._robot_diagnostic(item, snapshots[item.robot], now_s)
              for item in status.robots)])
        array.header.stamp = status.header.stamp
        self._diagnostics.publish(array)

    def destroy(self) -> None:
        """Destroy the publishers."""
        self._node.destroy_publisher(self._status)
        self._node.destroy_publisher(self._diagnostics)

    def _engine_status(self, now_s: float) -> EngineStatus:
        stats = self.stats
        status = EngineStatus(
            window=WINDOW_S, decisions=self._all.decisions,
            deadline_misses=self._all.deadline_misses, engine_restarts=self.restarts,
            latency_p50=self._all.percentile(0.5, now_s),
            latency_p99=self._all.percentile(0.99, now_s),
            host_memory_used=_resident_bytes(), error_codes=sorted(self._all.codes),
            error_counts=[self._all.codes[code] for code in sorted(self._all.codes)],
            **{name: getattr(stats, name) for name in _SAME_NAME},
            **dict.fromkeys(_UNKNOWN, math.nan))
        status.header.stamp = self._node.get_clock().now().to_msg()
        if self._previous is not None and now_s > self._previous[0]:
            span_s, before = now_s - self._previous[0], self._previous[1]
            status.tokens_per_second = max(
                0.0, (stats.generated_tokens - before.generated_tokens) / span_s)
            status.prefill_tokens_per_second = max(
                0.0, (stats.prefilled_tokens - before.prefilled_tokens) / span_s)
        self._previous = (now_s, stats)
        return status

    def _robot_status(
        self, robot: Robot, snapshot: tuple[Observation, ...], gate: Gate, dispatch: Dispatch,
        now_s: float,
    ) -> RobotStatus:
        name = robot.config.name
        tally = self._robots[name]
        link = RobotStatus.LINK_OK
        if any(item.required and item.state is not InputState.FRESH for item in snapshot):
            link = RobotStatus.LINK_STALE
        if not robot.is_reachable(dispatch):
            link = RobotStatus.LINK_LOST
        return RobotStatus(
            robot=name, mode=int(gate.modes.of_robot(name)),
            locked=bool(gate.locks.reason(name, now_s)), link=link,
            last_decision_age=tally.last_age(now_s), decision_rate=tally.rate(now_s),
            latency_p50=tally.percentile(0.5, now_s), latency_p99=tally.percentile(0.99, now_s),
            decisions=tally.decisions, deadline_misses=tally.deadline_misses,
            refused=tally.refused, context_tokens=int(self.stats.context_tokens.get(name, 0)),
            clock_offset=math.nan, goals_active=len(dispatch.running(name)),
            goals_orphaned=dispatch.num_orphans(name))

    def _worker_diagnostic(self, status: EngineStatus) -> DiagnosticStatus:
        level, message = self.worker
        names = {ErrorCode(code).name: count for code, count in self._all.codes.items()}
        return _diagnostic(f'{self._node.get_name()}: worker', level, message, {
            'decisions': status.decisions, 'engine restarts': status.engine_restarts,
            'queue': status.queue_depth, 'lanes busy': f'{status.lanes_busy}/{status.lanes}',
            'tokens per second': f'{status.tokens_per_second:.1f}',
            'latency p50 [s]': f'{status.latency_p50:.3f}',
            'latency p99 [s]': f'{status.latency_p99:.3f}',
            'KV bytes': status.kv_bytes, 'state bytes': status.state_bytes,
            'callback errors': self.callback_errors,
            **{f'rejects {name}': count for name, count in sorted(names.items())}})

    def _robot_diagnostic(
        self, status: RobotStatus, snapshot: tuple[Observation, ...], now_s: float
    ) -> DiagnosticStatus:
        level, messages = DiagnosticStatus.OK, []
        for item in snapshot:
            if item.required and item.state is not InputState.FRESH:
                level = DiagnosticStatus.ERROR
                messages.append(f'{item.name} is {item.state.name.lower()}')
        for key, troubles in self._troubles.items():
            recent = [sentence for at_s, sentence in troubles if now_s - at_s < _TROUBLE_KEPT_S]
            if key.startswith(f'{status.robot}: ') and recent:
                level = max(level, DiagnosticStatus.WARN)
                messages.append(recent[-1])
        if status.locked:
            level = max(level, DiagnosticStatus.WARN)
            messages.append('locked')
        if status.goals_orphaned:
            level = DiagnosticStatus.ERROR
            messages.append('a cancel is not confirmed')
        return _diagnostic(
            f'{self._node.get_name()}: robot {status.robot}', level, '; '.join(messages) or 'ok',
            {'goals active': status.goals_active, 'decisions': status.decisions,
             'refused': status.refused,
             **{f'age of {item.name} [s]': f'{item.age_s:g}' for item in snapshot}})


def _diagnostic(name: str, level: bytes, message: str, values: dict[str, Any]) -> DiagnosticStatus:
    return DiagnosticStatus(
        level=level, name=name, message=message, hardware_id='gemma_node',
        values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])


def _resident_bytes() -> int:
    """Return the peak resident memory of this process and of worker processes that ended."""
    kilobytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                 + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    return kilobytes * 1024
