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
What a configured node consists of: made in configure, destroyed in cleanup.

Wires robots, gate, worker, flow and dispatch, and routes events between them. Executor thread
only.
"""

from __future__ import annotations

from collections.abc import Mapping
import threading
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.clock import Clock
from rclpy.node import Node
from rclpy.qos_overriding_options import QoSOverridingOptions
from std_msgs.msg import Bool

from gemma_node.core import ErrorCode
from gemma_node.core import Request
from gemma_node.core import RuntimeFacts
from gemma_node.core import Trigger
from gemma_node.errors import RequestError
from gemma_node.msg import DecisionRequest
from gemma_node.policy.gate import Gate
from gemma_node.policy.interfaces import Names
from gemma_node.policy.lock import NODE
from gemma_node.policy.settings import NodeSettings
from gemma_node.policy.settings import to_worker_settings
from gemma_node.ros.approvals import Approvals
from gemma_node.ros.auditing import Auditor
from gemma_node.ros.checks import check_settings
from gemma_node.ros.choose import ChooseServer
from gemma_node.ros.conversions import request_of
from gemma_node.ros.diagnostics import Diagnostics
from gemma_node.ros.dispatch import Dispatch
from gemma_node.ros.dispatch import DispatchHandlers
from gemma_node.ros.flow import Flow
from gemma_node.ros.goals import Goal
from gemma_node.ros.guard import CallbackGuard
from gemma_node.ros.judging import Judging
from gemma_node.ros.names import full_namespace
from gemma_node.ros.names import LOCK
from gemma_node.ros.names import REQUEST_BURST
from gemma_node.ros.publishing import Outbox
from gemma_node.ros.robots import Robot
from gemma_node.ros.robots import RobotHandlers
from gemma_node.ros.robots import specs_of
from gemma_node.ros.services import Services
from gemma_node.ros.worker_client import WorkerBridge
from gemma_node.ros.worker_client import WorkerFactory
from gemma_node.ros_env import share_folder
from gemma_node.tools.catalogue import Catalogue
from gemma_node.tools.catalogue import load_catalogue
from gemma_node.worker.client import AnswerEvent
from gemma_node.worker.client import Event
from gemma_node.worker.client import FailedEvent
from gemma_node.worker.client import LoadingEvent
from gemma_node.worker.client import ProgressEvent
from gemma_node.worker.client import ReadyEvent
from gemma_node.worker.client import RestartedEvent
from gemma_node.worker.client import StatsEvent
from gemma_node.worker.client import VerdictEvent

DISPATCH_PERIOD_S = 0.05
TRIGGER_PERIOD_S = 0.1
DURING_PERIOD_S = 0.2
MATCH_PERIOD_S = 1.0


class Runtime:
    """
    All parts of a configured node.

    The constructor checks settings, tools and types without creating an entity, so that a
    refused configure leaves nothing behind; `create` makes the entities and starts the worker.
    """

    def __init__(
        self, node: Node, settings: NodeSettings, worker_factory: WorkerFactory,
        guard: CallbackGuard, steady: Clock,
    ) -> None:
        self._node = node
        self._settings = settings
        self._worker_factory = worker_factory
        self._guard = guard
        self._steady = steady
        self._catalogue: Catalogue = load_catalogue(
            settings.tools_file or share_folder() / 'config' / 'tools.yaml')
        self._worker_settings = to_worker_settings(settings, self._catalogue)
        self._specs = {robot.name: specs_of(robot, self._catalogue.tools)
                       for robot in settings.robots}
        check_settings(node, settings, self._specs)
        for sentence in self._catalogue.warnings:
            node.get_logger().warning(f'tools file: {sentence}')
        if self._catalogue.checked_after:
            node.get_logger().info('checked after the grammar: '
                                   + ', '.join(self._catalogue.checked_after))
        self._robots: dict[str, Robot] = {}
        self._entities: list[Any] = []
        self._timers: tuple[Any, ...] = ()
        self._subscriptions: tuple[Any, ...] = ()
        self._bridge: WorkerBridge | None = None
        self._facts: RuntimeFacts | None = None
        self.is_created = False
        self.gate = Gate(settings, self._specs, Names(
            interface=lambda robot, spec: self.dispatch.interface_name(robot.namespace, spec),
            namespace=lambda robot: full_namespace(node, robot.namespace),
            node=node.get_fully_qualified_name()))

    def create(self) -> None:
        """Create every entity and start the worker."""
        node, settings, guard = self._node, self._settings, self._guard
        self.diagnostics = self._keep(Diagnostics(node, self._specs))
        self.dispatch = self._keep(Dispatch(
            node, self.gate, guard,
            DispatchHandlers(
                publish=lambda event: self._outbox.publish_event(event),
                on_end=lambda goal, ending, event: self.flow.on_goal_end(goal, ending, event),
                recheck=lambda goal: self.judging.again(goal),
                on_taken_over=self._take_over, on_left_over=self._take_left_over),
            server_timeout_s=settings.server_timeout_s,
            server_silence_s=settings.server_silence_s,
            cancels_leftovers=settings.on_leftover_goals == 'cancel'))
        self._auditor = self._keep(Auditor(node, settings, self._worker_settings))
        self._outbox = self._keep(Outbox(
            node, self.dispatch, self.gate.modes, self.diagnostics.record, self._auditor))
        handlers = RobotHandlers(command=self._take_command, lock=self._take_lock,
                                 report=self.diagnostics.report)
        for config in settings.robots:
            specs = self._specs[config.name]
            self.dispatch.connect(config.namespace, specs.values())
            self._robots[config.name] = self._keep(Robot(
                node, config, specs, guard=guard, handlers=handlers, now_s=self._now_ns() / 1e9))
        self._warn_of_denied()
        self._bridge = WorkerBridge(
            node, settings, self._worker_settings, self._worker_factory, guard(self._take_event))
        self.judging = Judging(self.gate, self.dispatch, self._robots, now_ns=self._now_ns,
                               stamp_tolerance_s=settings.stamp_tolerance_s)
        approvals = self._keep(Approvals(node, self.dispatch, self.judging.approve))
        self.flow = Flow(settings, self._robots, self.judging, self.dispatch,
                         self._bridge.client, self._outbox, approvals, self._now_ns)
        self._keep(Services(
            node, guard, self._robots, self.gate, self._bridge.client, approvals, self._auditor,
            changed=self._publish_catalogues,
            not_ready=lambda: '' if self._facts else self.diagnostics.worker[1]))
        self._choices = self._keep(ChooseServer(
            node, guard, self._bridge.client.choose, self._inputs_of,
            deadline_s=settings.deadline_s))
        self._create_own_topics()
        self._bridge.start()
        self.is_created = True

    def open_gate(self) -> None:
        """Take requests from now on."""
        for robot in self._robots.values():
            robot.triggers.reset(self._now_ns() / 1e9)
        self.judging.is_active = True

    def close_gate(self) -> None:
        """Refuse requests from now on; cancel those being decided, and every goal."""
        if not self.is_created:
            return
        self.judging.is_active = False
        self.flow.cancel_open()
        self.dispatch.cancel('shutdown')

    def forget_time(self) -> None:
        """Forget what was measured before ROS time jumped back."""
        if not self.is_created:
            return
        self._node.get_logger().warning('ROS time jumped back: inputs are forgotten')
        self.dispatch.expire_waiting('ROS time jumped back')
        for robot in self._robots.values():
            robot.inputs.forget()
            robot.triggers.reset(self._now_ns() / 1e9)
        if self._settings.on_time_jump == 'reset' and self._bridge is not None:
            self._bridge.client.reset('', '', 0)
            self.flow.forget_sessions()

    def destroy(self) -> list[threading.Thread]:
        """End what is open, destroy every entity; return threads that still end the worker."""
        threads = []
        if self._bridge is not None:
            threads.append(self._bridge.stop())
        if self.is_created:
            self.is_created = False
            self.flow.close('the node was cleaned up')
            self.dispatch.abandon()
        for timer in self._timers:
            self._node.destroy_timer(timer)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        for entity in reversed(self._entities):
            entity.destroy()
        self._entities.clear()
        return threads

    def _keep(self, entity: Any) -> Any:
        self._entities.append(entity)
        return entity

    def _create_own_topics(self) -> None:
        node, guard = self._node, self._guard
        overrides = QoSOverridingOptions.with_default_policies()
        self._subscriptions = (
            node.create_subscription(DecisionRequest, '~/request', guard(self._take_request),
                                     REQUEST_BURST, qos_overriding_options=overrides),
            node.create_subscription(Bool, self._settings.lock or '~/lock',
                                     guard(lambda message: self._take_lock(NODE, message.data)),
                                     LOCK, qos_overriding_options=overrides))
        # Steady: timers on ROS time would stand still until /clock comes.
        self._timers = tuple(
            node.create_timer(period_s, guard(callback), clock=self._steady)
            for period_s, callback in (
                (DISPATCH_PERIOD_S, self._tick),
                (TRIGGER_PERIOD_S, self._poll_triggers),
                (DURING_PERIOD_S, self._watch_during),
                (MATCH_PERIOD_S, self._match_publishers),
                (self._settings.status_period_s, self._publish_status)))
        self._publish_catalogues()

    def _now_ns(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)

    def _take_request(self, message: DecisionRequest) -> None:
        request, problem = request_of(
            message, trigger=Trigger.REQUEST,
            source=self._node.resolve_topic_name('~/request'))
        if problem:
            self.flow.refuse(request, problem)
        else:
            self.flow.accept(request)

    def _take_command(self, robot: str, text: str, topic: str) -> None:
        self.flow.accept(Request(id='', robot=robot, text=text, trigger=Trigger.REQUEST,
                                 trigger_source=topic, stamp_ns=self._now_ns()))

    def _take_lock(self, source: str, is_locked: bool) -> None:
        self.gate.locks.hear(source, is_locked, time.monotonic())
        self._enforce_locks()

    def _enforce_locks(self) -> None:
        now_s = time.monotonic()
        for name in self._robots:
            if self.dispatch.running(name) and self.gate.locks.reason(name, now_s):
                self.dispatch.cancel('lock', robot=name)

    def _take_over(self, goal: Goal) -> None:
        """Hold the robot in SHADOW, because somebody else drives it now."""
        self._disarm(goal.robot, f'another client sent a goal to {goal.interface_name}')

    def _take_left_over(self, sentence: str) -> None:
        self._node.get_logger().warning(sentence)
        self._auditor.operator('leftover', reason=sentence)

    def _disarm(self, robot: str, reason: str) -> None:
        self.gate.modes.disarm(robot, reason)
        self._auditor.operator('disarm', robot=robot, reason=reason)
        self._node.get_logger().warning(
            f"robot '{robot}' is in shadow mode until it is re-armed: {reason}")
        self._publish_catalogues()

    def _warn_of_denied(self) -> None:
        """Say at configure which tools the gate will never let through."""
        for robot in self._settings.robots:
            for spec in self._specs[robot.name].values():
                findings = () if spec.is_builtin else self.gate.denied(robot.name, spec)
                for finding in findings:
                    self._node.get_logger().warning(
                        f"tool '{spec.name}' of robot '{robot.name}' can never be used: "
                        f'{finding.sentence}')

    def _tick(self) -> None:
        self._enforce_locks()
        self.dispatch.tick()

    def _poll_triggers(self) -> None:
        if self.judging.is_active:
            self.flow.ask_triggered()

    def _watch_during(self) -> None:
        """Cancel goals whose tool needs an input to hold all the while, when it no longer does."""
        for name, robot in self._robots.items():
            goals = [goal for goal in self.dispatch.running(name)
                     if any(requirement.during for requirement in goal.spec.requires)]
            if not goals:
                continue
            inputs = robot.inputs.snapshot(self._now_ns(), self._settings.stamp_tolerance_s)
            for goal in goals:
                if self.gate.broken_during(goal.spec, inputs):
                    self.dispatch.cancel('condition', call_ids=[goal.call.id])

    def _match_publishers(self) -> None:
        for name, robot in self._robots.items():
            robot.inputs.match_publishers()
            if rivals := robot.rivals():
                self.diagnostics.report(name, 'decision', rivals)
        self._publish_catalogues()

    def _publish_catalogues(self) -> None:
        for robot in self._robots.values():
            robot.publish_catalogue(self.dispatch, self.judging, self._catalogue.digest)

    def _publish_status(self) -> None:
        self._auditor.tell_dropped()
        self.diagnostics.callback_errors = self._guard.errors
        self.diagnostics.publish(self._robots, self._snapshots(), self.gate, self.dispatch)

    def _snapshots(self) -> Mapping[str, tuple[Any, ...]]:
        now_ns = self._now_ns()
        return {name: robot.inputs.snapshot(now_ns, self._settings.stamp_tolerance_s)
                for name, robot in self._robots.items()}

    def _inputs_of(self, name: str) -> tuple[Any, ...]:
        robot = self._robots.get(name)
        if robot is None:
            raise RequestError(ErrorCode.UNKNOWN_ROBOT, f'unknown robot {name!r}; robots are: '
                               f'{", ".join(self._robots)}')
        return robot.inputs.snapshot(self._now_ns(), self._settings.stamp_tolerance_s)

    def _take_event(self, event: Event) -> None:
        if isinstance(event, AnswerEvent):
            self.flow.on_answer(event.answer)
        elif isinstance(event, VerdictEvent):
            self._choices.on_verdict(event.verdict)
        elif isinstance(event, ProgressEvent):
            self.flow.on_progress(event)
        elif isinstance(event, StatsEvent):
            self.diagnostics.stats = event.stats
        elif isinstance(event, LoadingEvent):
            self.diagnostics.worker = (
                DiagnosticStatus.WARN, f'loading, {event.fraction:.0%}: {event.text}')
        elif isinstance(event, ReadyEvent):
            self._take_ready(event)
        elif isinstance(event, RestartedEvent):
            self._take_restart(event)
        elif isinstance(event, FailedEvent):
            self._facts = None
            self.diagnostics.worker = (DiagnosticStatus.ERROR, event.message)
            self._node.get_logger().error(
                f'the worker cannot serve: {event.code.name}: {event.message}')

    def _take_ready(self, event: ReadyEvent) -> None:
        self._facts = event.facts
        self.diagnostics.worker = (DiagnosticStatus.OK, 'ready')
        self._outbox.publish_info(
            event.facts, tools_digest=self._catalogue.digest,
            policy_digest=self._settings.digest, robots=list(self._robots))
        self._node.get_logger().info(
            f'ready: {event.facts.model or "the embedded checkpoint"} on {event.facts.device}')

    def _take_restart(self, event: RestartedEvent) -> None:
        self._facts = None
        self.diagnostics.restarts += 1
        self.diagnostics.worker = (DiagnosticStatus.ERROR, f'restarting: {event.reason}')
        self._node.get_logger().error(f'the worker is restarted: {event.reason}')
        if self._settings.on_engine_lost == 'cancel':
            self.dispatch.cancel('engine_lost')
        if self._settings.mode_after_engine_loss == 'shadow':
            for name in self._robots:
                self._disarm(name, 'the worker was lost')

