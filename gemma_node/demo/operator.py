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
The demo's operator: speaks to the robots over ROS 2 topics and watches what they decide.

Runs in its own process beside the node and the simulated robots; sees only public topics.
"""

from __future__ import annotations

from collections.abc import Callable
import json
import time
from typing import Any
import uuid

import jsonschema
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from std_msgs.msg import String
from unique_identifier_msgs.msg import UUID

from gemma_node.core import CallKind
from gemma_node.core import ErrorCode
from gemma_node.core import InputState
from gemma_node.core import Outcome
from gemma_node.demo.script import Given
from gemma_node.demo.script import is_sensible
from gemma_node.demo.script import Step
from gemma_node.demo.table import LiveTable
from gemma_node.demo.table import Row
from gemma_node.demo.table import Tally
from gemma_node.msg import Decision
from gemma_node.msg import DecisionRequest
from gemma_node.msg import RuntimeInfo
from gemma_node.msg import ToolCatalogue
from gemma_node.msg import ToolEvent

DECISION_TIMEOUT_S = 30.0
GOAL_TIMEOUT_S = 40.0
SETTLE_S = 8.0
TERMINAL = {
    ToolEvent.STATE_SUCCEEDED: 'succeeded',
    ToolEvent.STATE_ABORTED: 'aborted',
    ToolEvent.STATE_CANCELED: 'cancelled',
    ToolEvent.STATE_REJECTED: 'rejected',
    ToolEvent.STATE_EXPIRED: 'expired',
    ToolEvent.STATE_ORPHANED: 'orphaned',
}
VERDICTS = {0: 'unknown', 1: 'would send', 2: 'needs approval', 3: 'sent', 4: 'refused'}


class Operator(Node):
    """Asks, waits and keeps score. `spin_until` is the only way time passes."""

    def __init__(self, robots: tuple[str, ...], table: LiveTable, **kwargs: Any) -> None:
        super().__init__('demo_operator', **kwargs)
        self._table = table
        self.tally = Tally()
        self.info: RuntimeInfo | None = None
        self._schemas: dict[str, dict[str, Any]] = {}
        self._decisions: dict[str, Decision] = {}
        self._children: dict[str, Decision] = {}
        self._terminal: dict[str, ToolEvent] = {}
        self._asked: dict[str, str] = {}
        self._started = time.monotonic()
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._request = self.create_publisher(DecisionRequest, 'gemma_node/request', 10)
        self._silence = self.create_publisher(String, 'simulation/silence', 10)
        self._command = {
            robot: self.create_publisher(String, f'{robot}/gemma/command', 10) for robot in robots
        }
        self.create_subscription(RuntimeInfo, 'gemma_node/info', self._on_info, latched)
        for robot in robots:
            topic = f'gemma_node/tools/{robot}'
            self.create_subscription(ToolCatalogue, topic, self._on_tools, latched)
        self.create_subscription(Decision, 'gemma_node/decision', self._on_decision, 100)
        self.create_subscription(ToolEvent, 'gemma_node/tool_event', self._on_event, 100)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self)

    def spin_until(self, done: Callable[[], bool], timeout_s: float) -> bool:
        """Serve callbacks until `done()` or the time is up; return whether it was done."""
        end = time.monotonic() + timeout_s
        while not done():
            left = end - time.monotonic()
            if left <= 0.0:
                return False
            self._executor.spin_once(timeout_sec=min(left, 0.1))
        return True

    def is_ready(self) -> bool:
        """Return whether the node serves, its tools are known and its topics are matched."""
        return (
            self.info is not None
            and len(self._schemas) == len(self._command)
            and self._request.get_subscription_count() > 0
            and all(pub.get_subscription_count() > 0 for pub in self._command.values())
        )

    def play(self, step: Step) -> None:
        """Do one step of the script and show what comes of it."""
        if step.after_s:
            self.spin_until(lambda: False, step.after_s)
        if step.silence:
            text = f'{step.robot} {step.silence["topic"]} {step.silence["seconds"]}'
            self._silence.publish(String(data=text))
            self._table.note(f'(simulated fault: {step.robot}/{step.silence["topic"]} is silent)')
            self.spin_until(lambda: False, float(step.silence['seconds']) * 0.6)
        asked = self._ask(step)
        if not self.spin_until(lambda: asked in self._decisions, DECISION_TIMEOUT_S):
            self.tally.unanswered += 1
            self._table.note(f'no decision within {DECISION_TIMEOUT_S:.0f} s')
            return
        decision = self._decisions[asked]
        self.tally.asked += 1
        self.tally.judged += bool(step.accept)
        self.tally.sensible += bool(step.accept) and is_sensible(step, _given(decision))
        goals = [bytes(call.id.uuid).hex() for call in decision.tool_calls if _was_sent(call)]
        if step.stop_after_s and goals:
            self.spin_until(lambda: False, step.stop_after_s)
            self._table.note(f"(operator: 'stop' to {step.robot})")
            self._command[step.robot].publish(String(data='stop'))
            self.spin_until(lambda: all(goal in self._terminal for goal in goals), GOAL_TIMEOUT_S)
        elif step.wait == 'done' and goals:
            self._await_chain(asked, goals)

    def drain(self) -> None:
        """Serve what still comes in, until nothing has for a moment."""
        seen = -1
        while seen != self.tally.decisions:
            seen = self.tally.decisions
            self.spin_until(lambda: False, 1.5)

    def _await_chain(self, decision_id: str, goals: list[str]) -> None:
        """Wait for the goals, the decision that follows from them, and so on."""
        self.spin_until(lambda: all(goal in self._terminal for goal in goals), GOAL_TIMEOUT_S)
        if not self.spin_until(lambda: decision_id in self._children, SETTLE_S):
            return
        child = self._children[decision_id]
        sent = [bytes(call.id.uuid).hex() for call in child.tool_calls if _was_sent(call)]
        if sent:
            self._await_chain(bytes(child.id.uuid).hex(), sent)

    def _ask(self, step: Step) -> str:
        request_id = uuid.uuid4()
        message = DecisionRequest(robot=step.robot, text=step.say, keep=True)
        message.header.stamp = self.get_clock().now().to_msg()
        message.id = UUID(uuid=list(request_id.bytes))
        self._asked[request_id.hex] = step.say
        self._request.publish(message)
        return request_id.hex

    def _on_info(self, message: RuntimeInfo) -> None:
        if message.config_digest:
            self.info = message

    def _on_tools(self, message: ToolCatalogue) -> None:
        self._schemas[message.robot] = {
            tool.name: json.loads(tool.parameters_schema) for tool in message.tools
        }

    def _on_decision(self, message: Decision) -> None:
        decision_id = bytes(message.id.uuid).hex()
        parent_id = bytes(message.parent_id.uuid).hex()
        self._decisions[decision_id] = message
        tally = self.tally
        tally.decisions += 1
        if int(parent_id, 16):
            self._children[parent_id] = message
            tally.follow_ups += message.trigger == Decision.TRIGGER_TOOL_RESULT
        tally.stale += message.error_code == ErrorCode.STALE_INPUT
        for call in message.tool_calls:
            tally.calls += 1
            tally.valid += self._fits(message.robot, call)
        self._table.add(
            Row(
                time=f'{time.monotonic() - self._started:.1f}',
                robot=message.robot,
                asked=self._asked.get(decision_id, _cause(message)) or '(nothing)',
                observation=_inputs(message),
                decision=_said(message),
                verdict=_verdict(message),
                ms=f'{1e3 * message.total_time:.0f}',
                cached=f'{message.cached_tokens}/{message.prompt_tokens}',
                outcome=Outcome(message.outcome).name,
            )
        )

    def _fits(self, robot: str, call: Any) -> bool:
        schema = self._schemas.get(robot, {}).get(call.name)
        if schema is None:
            return False
        validator = jsonschema.Draft202012Validator(schema)
        return bool(validator.is_valid(json.loads(call.arguments_json)))

    def _on_event(self, message: ToolEvent) -> None:
        if not message.is_terminal:
            return
        self._terminal[bytes(message.call_id.uuid).hex()] = message
        state = TERMINAL.get(message.state, str(message.state))
        self.tally.executed += message.state == ToolEvent.STATE_SUCCEEDED
        self.tally.canceled += message.state == ToolEvent.STATE_CANCELED
        cause = f' by {message.cause}' if message.cause else ''
        reason = f': {message.error_msg}' if message.error_msg else ''
        self._table.note(
            f'{message.robot} {message.name} {state}{cause} after {message.elapsed:.1f} s{reason}'
        )


def _was_sent(call: Any) -> bool:
    return call.verdict == 3 and call.kind != CallKind.NONE


def _given(message: Decision) -> Given:
    return Given(
        outcome=Outcome(message.outcome).name,
        error=ErrorCode(message.error_code).name,
        calls=tuple((call.name, json.loads(call.arguments_json)) for call in message.tool_calls),
    )


def _cause(message: Decision) -> str:
    if message.trigger == Decision.TRIGGER_TOOL_RESULT:
        return f'(result of the goal before, step {message.step})'
    return f'({message.trigger_source or "its own trigger"})'


def _inputs(message: Decision) -> str:
    parts = []
    for item in message.inputs:
        name = item.topic.rsplit('/', 1)[-1]
        state = InputState(item.state)
        age = f'{item.age:.1f}s' if item.age == item.age else ''
        parts.append(f'{name} {age if state is InputState.FRESH else f"{age} {state.name}"}')
    return ', '.join(parts)


def _said(message: Decision) -> str:
    calls = ' '.join(f'{call.name}{call.arguments_json}' for call in message.tool_calls)
    if not calls:
        return message.text or message.error_msg
    # What ask_operator asks is the decision's text as well.
    is_in_calls = json.dumps(message.text, ensure_ascii=False)[1:-1] in calls
    return calls if is_in_calls else f'{calls} {message.text}'


def _verdict(message: Decision) -> str:
    if message.error_code:
        return f'{Outcome(message.outcome).name} {ErrorCode(message.error_code).name}'
    verdicts = {VERDICTS[call.verdict] for call in message.tool_calls if call.kind}
    return ', '.join(sorted(verdicts)) or Outcome(message.outcome).name
