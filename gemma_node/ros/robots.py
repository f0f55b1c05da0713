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

"""One robot as the node sees it: its topics, its inputs, its tools, its triggers."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from typing import TYPE_CHECKING

from rclpy.node import Node
from rclpy.qos_overriding_options import QoSOverridingOptions
from std_msgs.msg import Bool
from std_msgs.msg import String

from gemma_node.msg import Decision
from gemma_node.msg import Tool
from gemma_node.msg import ToolCatalogue
from gemma_node.policy.settings import RobotConfig
from gemma_node.policy.triggers import Triggers
from gemma_node.ros.conversions import as_json
from gemma_node.ros.dispatch import Dispatch
from gemma_node.ros.guard import CallbackGuard
from gemma_node.ros.names import DECISIONS
from gemma_node.ros.names import in_namespace
from gemma_node.ros.names import LATCHED
from gemma_node.ros.names import LOCK
from gemma_node.ros.names import REQUESTS
from gemma_node.ros.observations import Inputs
from gemma_node.tools.spec import ToolSpec

if TYPE_CHECKING:
    from gemma_node.ros.judging import Judging

_FOR_A_PERSON = (Decision.OUTCOME_REPLY, Decision.OUTCOME_NO_ACTION)


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotHandlers:
    """Whom a robot's entities call: name and text of a command, name and state of a lock."""

    command: Callable[[str, str, str], None]
    lock: Callable[[str, bool], None]
    report: Callable[[str, str, str], None]


class Robot:
    """The entities of one robot. Executor thread only."""

    def __init__(
        self, node: Node, config: RobotConfig, specs: Mapping[str, ToolSpec], *,
        guard: CallbackGuard, handlers: RobotHandlers, now_s: float,
    ) -> None:
        self._node = node
        self.config = config
        self.specs = specs
        self.triggers = Triggers(config.triggers, now_s)
        self.inputs = Inputs(
            node, config, lambda name, sentence: handlers.report(config.name, name, sentence))
        overrides = QoSOverridingOptions.with_default_policies()
        self._publishers = {
            name: node.create_publisher(
                kind, in_namespace(config.namespace, f'gemma/{name}'), qos,
                qos_overriding_options=overrides)
            for name, kind, qos in (('reply', String, REQUESTS), ('decision', Decision, DECISIONS))
        }
        self._catalogue = node.create_publisher(
            ToolCatalogue, f'~/tools/{config.name}', LATCHED, qos_overriding_options=overrides)
        self._told: list[tuple[int, str]] | None = None
        command = node.resolve_topic_name(in_namespace(config.namespace, 'gemma/command'))
        lock = in_namespace(config.namespace, config.lock or 'gemma/lock')
        self._subscriptions = [
            node.create_subscription(
                String, command,
                guard(lambda message: handlers.command(config.name, message.data, command)),
                REQUESTS, qos_overriding_options=overrides),
            node.create_subscription(
                Bool, lock, guard(lambda message: handlers.lock(config.name, message.data)),
                LOCK, qos_overriding_options=overrides),
        ]

    def publish_decision(self, decision: Decision) -> None:
        """Publish on the robot's own decision topic, and what it says on the reply topic."""
        self._publishers['decision'].publish(decision)
        if decision.text and decision.outcome in _FOR_A_PERSON:
            self._publishers['reply'].publish(String(data=decision.text))

    def say(self, text: str) -> None:
        """Publish a line for the person who gave the command."""
        self._publishers['reply'].publish(String(data=text))

    def publish_catalogue(self, dispatch: Dispatch, judging: Judging, digest: str) -> None:
        """Publish the robot's tools when anything about them changed, availability included."""
        states = [(int(judging.gate.modes.of_tool(self.config.name, spec.name, spec.mode)),
                   '' if spec.is_builtin else judging.why_unavailable(self, spec))
                  for spec in self.specs.values()]
        if states == self._told:
            return
        self._told = states
        catalogue = ToolCatalogue(robot=self.config.name, tools_digest=digest, tools=[
            self._tool(spec, dispatch, mode, reason)
            for spec, (mode, reason) in zip(self.specs.values(), states, strict=True)])
        catalogue.header.stamp = self._node.get_clock().now().to_msg()
        self._catalogue.publish(catalogue)

    def is_reachable(self, dispatch: Dispatch) -> bool:
        """Return whether any of the robot's servers is discovered; true when it has none."""
        specs = [spec for spec in self.specs.values() if not spec.is_builtin]
        return not specs or any(
            not dispatch.unavailable(self.config.namespace, spec) for spec in specs)

    def rivals(self) -> str:
        """Return that other nodes decide for this robot too, '' when none does."""
        topic = self._publishers['decision'].topic_name
        others = int(self._node.count_publishers(topic)) - 1
        return f'{others} more publishers of {topic}: only one node may decide for a robot' \
            if others > 0 else ''

    def destroy(self) -> None:
        """Destroy the robot's entities."""
        self.inputs.destroy()
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        for publisher in (*self._publishers.values(), self._catalogue):
            self._node.destroy_publisher(publisher)

    def _tool(self, spec: ToolSpec, dispatch: Dispatch, mode: int, reason: str) -> Tool:
        return Tool(
            name=spec.name, description=spec.description, kind=int(spec.kind),
            interface_type=spec.interface_type,
            interface_name=dispatch.interface_name(self.config.namespace, spec),
            parameters_schema=as_json(spec.declaration.parameters), mode=mode,
            resources=list(spec.resources), available=not reason, unavailable_reason=reason)


def specs_of(config: RobotConfig, tools: Any) -> dict[str, ToolSpec]:
    """Return the tools a robot may use by name, builtins included."""
    return {spec.name: spec for spec in tools
            if spec.is_builtin or not config.tools or spec.name in config.tools}
