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
Sends calls to actions, services and topics, and sees every one of them to a terminal event.

The call's id is the goal's UUID. Nothing here waits: transports report what happens, and `tick`
ends what outlives its time. Executor thread only.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
import time
from typing import Any

from rclpy.node import Node

from gemma_node.core import CallKind
from gemma_node.core import ErrorCode
from gemma_node.core import Observation
from gemma_node.msg import ToolEvent
from gemma_node.policy.gate import Gate
from gemma_node.policy.limits import Finding
from gemma_node.ros.action_transport import ActionTransport
from gemma_node.ros.endings import canceled_ending
from gemma_node.ros.endings import denied_ending
from gemma_node.ros.endings import expired_ending
from gemma_node.ros.endings import gone_ending
from gemma_node.ros.endings import orphaned_before
from gemma_node.ros.endings import orphaned_ending
from gemma_node.ros.endings import outdated_ending
from gemma_node.ros.endings import unanswered_ending
from gemma_node.ros.goals import Ending
from gemma_node.ros.goals import Goal
from gemma_node.ros.goals import Phase
from gemma_node.ros.guard import CallbackGuard
from gemma_node.ros.messages import fill
from gemma_node.ros.names import in_namespace
from gemma_node.ros.service_transport import ServiceTransport
from gemma_node.ros.topic_transport import TopicTransport
from gemma_node.ros.transport import Loss
from gemma_node.ros.transport import Transport
from gemma_node.tools.spec import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchHandlers:
    """
    Whom dispatch calls.

    `publish` takes each ToolEvent; `on_end` is called once per call, after its terminal event.
    `recheck` says why a call that waited may not be sent any more; `on_taken_over` names the
    robot that another client drives now. `on_left_over` takes a sentence on a goal of an earlier
    life of this node.
    """

    publish: Callable[[ToolEvent], None]
    on_end: Callable[[Goal, Ending, ToolEvent], None]
    recheck: Callable[[Goal], Finding | None] = lambda goal: None
    on_taken_over: Callable[[Goal], None] = lambda goal: None
    on_left_over: Callable[[str], None] = lambda sentence: None


class Dispatch:
    """The goals of all robots; implements transport.Follower."""

    def __init__(
        self, node: Node, gate: Gate, guard: CallbackGuard, handlers: DispatchHandlers, *,
        server_timeout_s: float, server_silence_s: float = 0.0,
        cancels_leftovers: bool = False,
    ) -> None:
        self._node = node
        self._gate = gate
        self._guard = guard
        self._handlers = handlers
        self._server_timeout_s = server_timeout_s
        self._server_silence_s = server_silence_s
        self._cancels_leftovers = cancels_leftovers
        self._actions: list[ActionTransport] = []
        self._names: dict[tuple[str, str, CallKind], str] = {}
        self._transports: dict[tuple[str, str], Transport] = {}
        self._goals: dict[str, Goal] = {}
        self._orphans: dict[str, Goal] = {}

    def connect(self, namespace: str, specs: Iterable[ToolSpec]) -> None:
        """Create clients and publishers of a robot's tools; tools of one server share one."""
        for spec in specs:
            key = self._key(namespace, spec)
            if not spec.is_builtin and key not in self._transports:
                self._transports[key] = self._make(spec, key[0])

    def interface_name(self, namespace: str, spec: ToolSpec) -> str:
        """Return the fully qualified name of the tool's interface."""
        if spec.is_builtin:
            return ''
        key = (namespace, spec.interface_name, spec.kind)
        if key not in self._names:
            resolve = self._node.resolve_topic_name if spec.kind is CallKind.TOPIC \
                else self._node.resolve_service_name
            self._names[key] = str(resolve(in_namespace(namespace, spec.interface_name)))
        return self._names[key]

    def unavailable(self, namespace: str, spec: ToolSpec) -> str:
        """Return why a call could not be sent now, '' when it could."""
        return self._transports[self._key(namespace, spec)].unavailable()

    def foreign(self, namespace: str, spec: ToolSpec) -> str:
        """Return who else drives the tool's server so that a call must not be sent, or ''."""
        transport = self._transports[self._key(namespace, spec)]
        if spec.on_taken_over == 'ignore' or not transport.is_driven_by_others:
            return ''
        return f'another client drives {self.interface_name(namespace, spec)}'

    def message_type(self, namespace: str, spec: ToolSpec) -> Any:
        """Return the class of the tool's goal, request or message."""
        return self._transports[self._key(namespace, spec)].message_type

    def running(self, robot: str = '') -> list[Goal]:
        """Return the goals that have not ended, of one robot or of all."""
        return [goal for goal in self._goals.values() if robot in ('', goal.robot)]

    def observations(self, robot: str) -> tuple[Observation, ...]:
        """Return what the robot's running goals say of themselves, for the next prompt."""
        now_s, now_ns = time.monotonic(), int(self._node.get_clock().now().nanoseconds)
        found = [goal.observation(now_s, now_ns) for goal in self.running(robot)
                 if goal.phase is Phase.RUNNING]
        return tuple(observation for observation in found if observation is not None)

    def num_orphans(self, robot: str) -> int:
        """Return how many of the robot's goals ended without a confirmed cancel."""
        return sum(goal.robot == robot for goal in self._orphans.values())

    def send(
        self, goal: Goal, preempts: Iterable[str] = (), follows: Iterable[str] = (),
    ) -> None:
        """Send a goal once those it preempts or follows have ended; preempted ones are told to."""
        now_s = time.monotonic()
        preempts = {call_id for call_id in preempts if call_id in self._goals}
        goal.waits_for = preempts | {call_id for call_id in follows if call_id in self._goals}
        goal.phase = Phase.WAITING if goal.waits_for else Phase.SENDING
        goal.waiting_s = now_s
        self._goals[goal.call.id] = goal
        self._gate.start(goal.robot, goal.call, now_s)
        if goal.phase is Phase.SENDING:
            self._send(goal)
        self._cancel_all([self._goals[call_id] for call_id in preempts if call_id in self._goals],
                         'preempted')

    def await_approval(self, goal: Goal) -> None:
        """Keep a call until its approval expires."""
        goal.phase = Phase.APPROVAL
        goal.sent_s = time.monotonic()
        self._goals[goal.call.id] = goal
        self._tell(goal, ToolEvent.STATE_AWAITING_APPROVAL)

    def awaiting(self, decision_id: str) -> list[Goal]:
        """Return the calls of a Decision that wait for approval."""
        return [goal for goal in self._goals.values()
                if goal.decision_id == decision_id and goal.phase is Phase.APPROVAL]

    def deny(self, goal: Goal, reason: str) -> None:
        """End a call that waits for approval, because an operator said no."""
        goal.cause = 'operator'
        self.ended(goal, denied_ending(goal, reason))

    def cancel(self, cause: str, *, robot: str = '', call_ids: Iterable[str] = ()) -> set[str]:
        """Cancel goals (of a robot, by id, or all); return the ids that must still end."""
        wanted = set(call_ids)
        goals = [goal for goal in self.running(robot) if not wanted or goal.call.id in wanted]
        ids = {goal.call.id for goal in goals}
        self._cancel_all(goals, cause)
        return ids & set(self._goals)

    def expire_waiting(self, why: str) -> None:
        """End what was not sent yet: whether it is still valid cannot be told any more."""
        for goal in self.running():
            if goal.phase in (Phase.WAITING, Phase.APPROVAL):
                self.ended(goal, outdated_ending(ErrorCode.DEADLINE_EXCEEDED, why))

    def tick(self) -> None:
        """End what outlived its time; call it about twenty times a second."""
        now_s = time.monotonic()
        for action in self._actions:
            action.tend()
        for goal in list(self._goals.values()):
            if goal.phase is Phase.SENDING and now_s - goal.sent_s > self._server_timeout_s:
                self.ended(goal, unanswered_ending(goal, self._server_timeout_s))
            elif goal.phase is Phase.RUNNING:
                self._watch_running(goal, now_s)
            elif goal.phase is Phase.CANCELING:
                self._watch_canceling(goal, now_s)
            elif goal.phase is Phase.WAITING and now_s - goal.waiting_s > goal.spec.timeout_s:
                self.ended(goal, outdated_ending(
                    ErrorCode.GOAL_TIMEOUT, 'what it waits for did not end in time'))
            elif (goal.phase is Phase.APPROVAL
                    and now_s - goal.sent_s > goal.spec.approval_timeout_s):
                self.ended(goal, expired_ending(goal))

    def abandon(self) -> None:
        """End every goal as orphaned, because the node can no longer follow it."""
        for goal in list(self._goals.values()):
            if goal.phase in (Phase.WAITING, Phase.APPROVAL):
                goal.cause = 'shutdown'
                self.ended(goal, canceled_ending(goal))
            elif goal.phase is not Phase.ENDED:
                self.ended(goal, orphaned_ending(goal, 'the node stopped first'))

    def destroy(self) -> None:
        """Destroy clients and publishers."""
        for transport in self._transports.values():
            transport.destroy()
        self._transports.clear()
        self._actions.clear()

    # What transports report.

    def accepted(self, goal: Goal) -> None:
        """Take note that the goal runs."""
        self._tell(goal, ToolEvent.STATE_ACCEPTED)
        if goal.phase is Phase.SENDING:
            goal.phase = Phase.RUNNING

    def heard(self, goal: Goal, feedback: Mapping[str, Any]) -> None:
        """Publish a feedback, as often as the tool's file says."""
        if goal.phase is Phase.RUNNING:
            self._tell_progress(goal.feedback_event(feedback, time.monotonic()))

    def progressed(self, goal: Goal, fraction: float) -> None:
        """Publish how much is done, as often as the tool's file says."""
        if goal.phase is Phase.RUNNING:
            self._tell_progress(goal.progress_event(fraction, time.monotonic()))

    def orphaned(self, goal: Goal) -> None:
        """Take note that a goal runs that was already given up."""
        self._orphans[goal.call.id] = goal

    def taken_over(self, goal: Goal) -> None:
        """Give way to another client: the goal is canceled and not tried again."""
        if goal.phase is Phase.CANCELING or goal.cause:
            return
        self._handlers.on_taken_over(goal)
        self._cancel(goal, 'taken_over')

    def left_over(self, sentence: str) -> None:
        """Hand on what is to be said of a goal of an earlier life of this node."""
        self._handlers.on_left_over(sentence)

    def goals_at(self, name: str) -> list[Goal]:
        """Return the goals of this interface that were sent and have not ended."""
        sent = (Phase.SENDING, Phase.RUNNING, Phase.CANCELING)
        return [goal for goal in self._goals.values()
                if goal.interface_name == name and goal.phase in sent]

    def ended(self, goal: Goal, ending: Ending) -> None:
        """End a goal, or note that one given up before has ended after all."""
        if goal.phase is Phase.ENDED:
            self._orphans.pop(goal.call.id, None)
            return
        now_s = time.monotonic()
        goal.phase = Phase.ENDED
        self._goals.pop(goal.call.id, None)
        self._gate.usage.end(goal.call.id, now_s)
        if ending.state == ToolEvent.STATE_ORPHANED:
            self._orphans[goal.call.id] = goal
        event = goal.end_event(ending, now_s)
        self._handlers.publish(event)
        self._handlers.on_end(goal, ending, event)
        for other in list(self._goals.values()):
            if goal.call.id in other.waits_for:
                self._release(other, goal, ending)

    def _key(self, namespace: str, spec: ToolSpec) -> tuple[str, str]:
        owner = spec.name if spec.kind is CallKind.TOPIC else ''
        return self.interface_name(namespace, spec), owner

    def _make(self, spec: ToolSpec, name: str) -> Transport:
        if spec.kind is CallKind.SERVICE:
            return ServiceTransport(self._node, spec.interface_type, name, self, self._guard)
        if spec.kind is CallKind.TOPIC:
            return TopicTransport(self._node, spec, name, self, self._guard)
        self._actions.append(ActionTransport(
            self._node, spec.interface_type, name, self, self._guard,
            silence_s=self._server_silence_s, cancels_leftovers=self._cancels_leftovers))
        return self._actions[-1]

    def _transport(self, goal: Goal) -> Transport:
        owner = goal.spec.name if goal.spec.kind is CallKind.TOPIC else ''
        return self._transports[goal.interface_name, owner]

    def _send(self, goal: Goal) -> None:
        goal.sent_s = time.monotonic()
        transport = self._transport(goal)
        # Made now, not at the Decision: a goal that waited carries the time of sending.
        goal.message = fill(transport.message_type(), goal.target,
                            now=self._node.get_clock().now().to_msg())
        self._tell(goal, ToolEvent.STATE_SENT)
        transport.send(goal)

    def _cancel_all(self, goals: Iterable[Goal], cause: str) -> None:
        # Those that wait go first, or the end of what they wait for would send them.
        for goal in sorted(goals, key=lambda goal: goal.phase is not Phase.WAITING):
            self._cancel(goal, cause)

    def _cancel(self, goal: Goal, cause: str) -> None:
        if goal.phase in (Phase.ENDED, Phase.CANCELING):
            return
        goal.cause = cause
        if goal.phase in (Phase.WAITING, Phase.APPROVAL):
            self.ended(goal, canceled_ending(goal))
            return
        goal.phase = Phase.CANCELING
        goal.cancel_s = time.monotonic()
        self._tell(goal, ToolEvent.STATE_CANCELING)
        self._transport(goal).cancel(goal)

    def _watch_running(self, goal: Goal, now_s: float) -> None:
        loss = self._transport(goal).watch(goal, now_s)
        if loss is Loss.GONE:
            self.ended(goal, gone_ending(goal))
        elif loss is Loss.SILENT:
            self._cancel(goal, 'silent')
        elif now_s - goal.sent_s > goal.spec.timeout_s:
            self._cancel(goal, 'timeout')

    def _watch_canceling(self, goal: Goal, now_s: float) -> None:
        loss = self._transport(goal).watch(goal, now_s)
        if now_s - goal.cancel_s > goal.spec.cancel_timeout_s:
            self.ended(goal, orphaned_ending(
                goal, f'no answer within {goal.spec.cancel_timeout_s:g} s'))
        elif loss is Loss.GONE:
            self.ended(goal, orphaned_ending(goal, 'its server is gone'))

    def _tell(self, goal: Goal, state: int) -> None:
        self._handlers.publish(goal.event(state, time.monotonic()))

    def _tell_progress(self, event: ToolEvent | None) -> None:
        if event is not None:
            self._handlers.publish(event)

    def _release(self, waiting: Goal, ended: Goal, ending: Ending) -> None:
        waiting.waits_for.discard(ended.call.id)
        if ending.state == ToolEvent.STATE_ORPHANED:
            waiting.cause = 'preempted'
            self.ended(waiting, orphaned_before(waiting, ended))
        elif not waiting.waits_for and waiting.phase is Phase.WAITING:
            finding = self._handlers.recheck(waiting)
            if finding is not None:
                self.ended(waiting, outdated_ending(finding.code, finding.sentence))
                return
            waiting.phase = Phase.SENDING
            self._send(waiting)
