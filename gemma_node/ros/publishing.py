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

"""Builds and publishes what the node says: decisions, tool events, runtime facts."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import hashlib
import json
import math
import time

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos_overriding_options import QoSOverridingOptions

from gemma_node.core import Answer
from gemma_node.core import Call
from gemma_node.core import ErrorCode
from gemma_node.core import Observation
from gemma_node.core import Outcome
from gemma_node.core import Request
from gemma_node.core import RuntimeFacts
from gemma_node.msg import Decision
from gemma_node.msg import RuntimeInfo
from gemma_node.msg import ToolEvent
from gemma_node.policy.gate import Verdict
from gemma_node.policy.gate import VerdictKind
from gemma_node.policy.modes import Modes
from gemma_node.ros.auditing import Auditor
from gemma_node.ros.conversions import decision_of
from gemma_node.ros.conversions import input_refs
from gemma_node.ros.conversions import NS
from gemma_node.ros.conversions import time_message
from gemma_node.ros.conversions import time_ns
from gemma_node.ros.conversions import tool_call
from gemma_node.ros.conversions import uuid_message
from gemma_node.ros.dispatch import Dispatch
from gemma_node.ros.goals import Goal
from gemma_node.ros.messages import fill
from gemma_node.ros.messages import to_plain
from gemma_node.ros.names import DECISIONS
from gemma_node.ros.names import LATCHED
from gemma_node.ros.robots import Robot
from gemma_node.tools.keep import kept_values
from gemma_node.tools.overlay import to_message
from gemma_node.tools.spec import ToolSpec

_FACT_FIELDS = ('package_version', 'model', 'checkpoint_digest', 'recipe', 'rounding', 'backend',
                'device', 'driver', 'kernel_digest', 'prompt_digest', 'verified', 'lanes',
                'context_tokens')
LAST_WORDS_S = 0.2


class Outbox:
    """The node's own publishers. `record` counts decisions, `auditor` keeps them."""

    def __init__(
        self, node: Node, dispatch: Dispatch, modes: Modes,
        record: Callable[[Decision], None], auditor: Auditor,
    ) -> None:
        self._node = node
        self._dispatch = dispatch
        self._modes = modes
        self._record = record
        self.auditor = auditor
        self.config_digest = ''
        self._said_s = -math.inf
        overrides = QoSOverridingOptions.with_default_policies()
        self._decisions = node.create_publisher(
            Decision, '~/decision', DECISIONS, qos_overriding_options=overrides)
        self._events = node.create_publisher(
            ToolEvent, '~/tool_event', DECISIONS, qos_overriding_options=overrides)
        self._info = node.create_publisher(
            RuntimeInfo, '~/info', LATCHED, qos_overriding_options=overrides)

    def goal(
        self, request: Request, call: Call, spec: ToolSpec, namespace: str,
        observations: Sequence[Observation],
    ) -> Goal:
        """Return the goal a call stands for, or raise RequestError saying what does not fit."""
        prefix = f'{namespace.strip("/")}/'
        target = to_message(spec, call.arguments, frame_prefix=prefix,
                            kept=kept_values(spec, observations, frame_prefix=prefix))
        message = fill(self._dispatch.message_type(namespace, spec)(), target,
                       now=self._node.get_clock().now().to_msg())
        return Goal(robot=request.robot, decision_id=request.id, call=call, spec=spec,
                    interface_name=self._dispatch.interface_name(namespace, spec),
                    target=target, fields=to_plain(message))

    def decision(
        self, request: Request, answer: Answer, observations: tuple[Observation, ...],
        verdicts: Sequence[Verdict], goals: Sequence[Goal | None], robot: Robot | None, *,
        accepted_s: float, timeout_s: float, lifetime_s: float,
    ) -> Decision:
        """Return the whole Decision of an answer, stamped now."""
        decision = decision_of(answer, request)
        now_ns = self._node.get_clock().now().nanoseconds
        decision.header.stamp = time_message(now_ns)
        decision.config_digest = self.config_digest
        decision.inputs = input_refs(observations, answer)
        decision.mode = int(min(
            (verdict.mode for verdict in verdicts),
            default=self._modes.of_robot(request.robot) if robot else 0))
        for call, verdict, goal in zip(answer.calls, verdicts, goals, strict=False):
            decision.tool_calls.append(tool_call(
                call, robot.specs.get(call.name) if robot else None, verdict,
                interface_name=goal.interface_name if goal else '',
                goal=goal.fields if goal else {}))
        if answer.outcome is Outcome.TOOL_CALL and lifetime_s:
            lifetime_s = max(lifetime_s, _longest_wait(verdicts, goals))
            decision.valid_until = time_message(now_ns + int(lifetime_s * NS))
            for goal in filter(None, goals):
                goal.valid_until_ns = time_ns(decision.valid_until)
        decision.total_time = time.monotonic() - accepted_s
        if request.stamp_ns:
            decision.sense_to_decision_time = (now_ns - request.stamp_ns) / NS
        if timeout_s:
            decision.deadline_slack = timeout_s - decision.total_time
        return decision

    def publish_decision(
        self, decision: Decision, request: Request, robot: Robot | None
    ) -> None:
        """
        Publish on the node's topic and the robot's.

        A refused command is answered in words, and the operator asked about an unsure call.
        """
        self._record(decision)
        self._said_s = time.monotonic()
        self._decisions.publish(decision)
        if robot is None:
            return
        robot.publish_decision(decision)
        is_answer = request.trigger_source.endswith('/gemma/command')
        if decision.error_msg and (
                is_answer or decision.error_code == ErrorCode.LOW_CONFIDENCE):
            robot.say(decision.error_msg)

    def publish_event(self, event: ToolEvent) -> None:
        """Stamp and publish an event of a call."""
        event.header.stamp = self._node.get_clock().now().to_msg()
        self._said_s = time.monotonic()
        self._events.publish(event)
        self.auditor.event(event)

    def publish_stop(
        self, robot: str, decision_id: str, call: Call, *, is_done: bool,
        is_confirmed: bool = True,
    ) -> ToolEvent:
        """Publish what the builtin stop does: canceling, then done or not confirmed."""
        event = ToolEvent(
            robot=robot, decision_id=uuid_message(decision_id), call_id=uuid_message(call.id),
            name=call.name, state=ToolEvent.STATE_CANCELING, is_terminal=is_done,
            progress=float('nan'))
        if is_done:
            event.state = ToolEvent.STATE_SUCCEEDED
        if is_done and not is_confirmed:
            event.state = ToolEvent.STATE_ORPHANED
            event.error_code = int(ErrorCode.CANCEL_UNCONFIRMED)
            event.error_msg = 'a cancel is not confirmed; the robot may still be moving'
        self.publish_event(event)
        return event

    def publish_info(
        self, facts: RuntimeFacts, *, tools_digest: str, policy_digest: str,
        robots: Sequence[str],
    ) -> None:
        """Publish what every Decision from now on is made with."""
        info = RuntimeInfo(**{name: getattr(facts, name) for name in _FACT_FIELDS},
                           tools_digest=tools_digest, policy_digest=policy_digest,
                           not_verified=list(facts.not_verified), robots=list(robots))
        plain = to_plain(info)
        for unbound in ('header', 'config_digest'):
            del plain[unbound]
        self.config_digest = hashlib.sha256(
            json.dumps(plain, sort_keys=True).encode()).hexdigest()
        info.config_digest = self.config_digest
        info.header.stamp = self._node.get_clock().now().to_msg()
        self._info.publish(info)
        self.auditor.start(facts, info)

    def destroy(self) -> None:
        """Destroy the publishers, but give what was said a moment ago the time to arrive."""
        for publisher in (self._decisions, self._events, self._info):
            left_s = self._said_s + LAST_WORDS_S - time.monotonic()
            if left_s > 0:
                publisher.wait_for_all_acked(Duration(seconds=left_s))
            self._node.destroy_publisher(publisher)


def _longest_wait(verdicts: Sequence[Verdict], goals: Sequence[Goal | None]) -> float:
    """Return how long a call may wait by its tool's file: for approval, or in a queue."""
    waits = [0.0]
    for verdict, goal in zip(verdicts, goals, strict=True):
        if goal is not None and verdict.kind is VerdictKind.NEEDS_APPROVAL:
            waits.append(goal.spec.approval_timeout_s)
        elif goal is not None and verdict.follows:
            waits.append(goal.spec.timeout_s)
    return max(waits)
