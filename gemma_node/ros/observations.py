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
One robot's inputs: raw subscriptions that keep the newest bytes, decoded only at a snapshot.

A subscription is best effort and volatile; where every publisher offers transient local, a
second, reliable one takes over. Subscriptions are never destroyed while the node is configured.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import hashlib
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.serialization import deserialize_message

from gemma_node.core import Observation
from gemma_node.policy.settings import ObservationConfig
from gemma_node.policy.settings import RobotConfig
from gemma_node.policy.snapshot import missing
from gemma_node.policy.snapshot import observe
from gemma_node.policy.transforms import TRANSFORMS_TYPE
from gemma_node.policy.triggers import TriggerInput
from gemma_node.ros.messages import interface_class
from gemma_node.ros.messages import to_plain
from gemma_node.ros.names import in_namespace
from gemma_node.ros.names import LATCHED
from gemma_node.ros.names import SENSOR

Report = Callable[[str, str], None]
MAX_UNMERGED = 256
MAX_TRANSFORMS = 1024


class Input:
    """The newest message of one topic. `report(name, sentence)` takes QoS troubles."""

    def __init__(
        self, node: Node, config: ObservationConfig, namespace: str, report: Report
    ) -> None:
        self._node = node
        self._config = config
        self._type = interface_class(config.type)
        self._report = report
        self._subscriptions: dict[str, Any] = {}
        self._active = ''
        self._bytes: bytes | None = None
        self._received_ns = 0
        self._decoded: tuple[int, Any] = (0, None)
        self._transforms: dict[tuple[str, str], Any] = {}
        self._unmerged: deque[bytes] = deque(maxlen=MAX_UNMERGED)
        self.count = 0
        self.topic = node.resolve_topic_name(in_namespace(namespace, config.topic))
        self.match_publishers()

    def match_publishers(self) -> None:
        """Choose the QoS that the publishers offer now; call it now and then."""
        offers = [info.qos_profile.durability
                  for info in self._node.get_publishers_info_by_topic(self.topic)]
        is_latched = bool(offers) and all(
            offer is DurabilityPolicy.TRANSIENT_LOCAL for offer in offers)
        self._active = 'latched' if is_latched else 'volatile' if offers else (
            self._active or 'volatile')
        if self._active not in self._subscriptions:
            self._subscriptions[self._active] = self._subscribe(
                self._active, self._qos(LATCHED if is_latched else SENSOR))

    def observation(self, now_ns: int, tolerance_s: float) -> Observation:
        """Return the input as it is now, ages quantised."""
        if self._bytes is None:
            return missing(self._config, self.topic)
        value = self._value()
        return observe(
            self._config, self.topic, value, stamp_ns=header_stamp_ns(value),
            received_ns=self._received_ns, now_ns=now_ns, tolerance_s=tolerance_s,
            digest=hashlib.sha256(self._bytes).hexdigest())

    def trigger_input(self) -> TriggerInput | None:
        """Return what triggers may know of it; None before the first message."""
        if self._bytes is None:
            return None
        return TriggerInput(count=self.count, value=self._value())

    @property
    def _is_tree(self) -> bool:
        return self._config.type == TRANSFORMS_TYPE

    def forget(self) -> None:
        """Drop the newest message, because time jumped."""
        self._bytes = None
        self._transforms.clear()
        self._unmerged.clear()
        self._decoded = (0, None)

    def destroy(self) -> None:
        """Destroy the subscriptions; the input is of no use afterwards."""
        for subscription in self._subscriptions.values():
            self._node.destroy_subscription(subscription)
        self._subscriptions.clear()

    def _subscribe(self, key: str, qos: QoSProfile) -> Any:
        def receive(data: bytes) -> None:
            if key == self._active:
                self._bytes = data
                if self._is_tree:
                    self._unmerged.append(data)
                self._received_ns = self._node.get_clock().now().nanoseconds
                self.count += 1
        return self._node.create_subscription(
            self._type, self.topic, receive, qos, raw=True,
            event_callbacks=self._event_callbacks(),
            qos_overriding_options=QoSOverridingOptions.with_default_policies(
                entity_id='' if key == 'volatile' else key))

    def _event_callbacks(self) -> SubscriptionEventCallbacks:
        def incompatible(event: Any) -> None:
            if event.total_count_change > 0:
                self._report(self._config.name,
                             f'a publisher of {self.topic} offers an incompatible QoS '
                             f'({event.last_policy_kind!s})')

        def late(event: Any) -> None:
            if event.total_count_change > 0:
                self._report(self._config.name, f'{self.topic} missed its deadline')

        def lost(event: Any) -> None:
            if event.not_alive_count_change > 0:
                self._report(self._config.name, f'a publisher of {self.topic} lost liveliness')

        return SubscriptionEventCallbacks(
            incompatible_qos=incompatible, deadline=late, liveliness=lost)

    def _value(self) -> Any:
        """Return the newest message as plain values, None when it cannot be decoded."""
        if self._decoded[0] != self.count:
            self._decoded = (self.count, self._decode())
        return self._decoded[1]

    def _qos(self, qos: QoSProfile) -> QoSProfile:
        if not self._is_tree:
            return qos
        # Each publisher of a tree sends its own part of it.
        return QoSProfile(history=qos.history, depth=MAX_UNMERGED, reliability=qos.reliability,
                          durability=qos.durability)

    def _decode(self) -> Any:
        # rclpy's C++ conversion raises no single type for malformed bytes.
        try:
            if self._is_tree:
                return self._merge()
            return to_plain(deserialize_message(self._bytes, self._type))
        except (RuntimeError, ValueError, TypeError, MemoryError) as error:
            self._report(self._config.name, f'{self.topic} cannot be decoded: {error}')
            return None

    def _merge(self) -> Any:
        """Return all transforms heard so far as one message, the newest of each pair."""
        while self._unmerged:
            for item in deserialize_message(self._unmerged.popleft(), self._type).transforms:
                key = (item.header.frame_id, item.child_frame_id)
                if key in self._transforms or len(self._transforms) < MAX_TRANSFORMS:
                    self._transforms[key] = to_plain(item)
        return {'transforms': list(self._transforms.values())}


class Inputs:
    """All inputs of one robot, in prompt order."""

    def __init__(self, node: Node, robot: RobotConfig, report: Report) -> None:
        self._inputs = {config.name: Input(node, config, robot.namespace, report)
                        for config in robot.observations}

    def snapshot(self, now_ns: int, tolerance_s: float) -> tuple[Observation, ...]:
        """Return every input as it is now."""
        return tuple(item.observation(now_ns, tolerance_s) for item in self._inputs.values())

    def read(self, name: str) -> TriggerInput | None:
        """Return what a trigger may know of one input."""
        return self._inputs[name].trigger_input()

    def match_publishers(self) -> None:
        """Follow the QoS that publishers offer."""
        for item in self._inputs.values():
            item.match_publishers()

    def forget(self) -> None:
        """Drop every message, because time jumped."""
        for item in self._inputs.values():
            item.forget()

    def destroy(self) -> None:
        """Destroy every subscription."""
        for item in self._inputs.values():
            item.destroy()


def header_stamp_ns(value: Any) -> int:
    """Return the header stamp of a plain message, 0 when it has none."""
    header = value.get('header') if isinstance(value, dict) else None
    stamp = header.get('stamp') if isinstance(header, dict) else None
    if not isinstance(stamp, dict):
        return 0
    return int(stamp['sec']) * 1_000_000_000 + int(stamp['nanosec'])
