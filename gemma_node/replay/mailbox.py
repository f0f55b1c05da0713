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
The newest message of each topic at one moment of the recording, and the observations made of it.

Bag time is the only clock. Messages are decoded when somebody looks, newest wins.
"""

from __future__ import annotations

from dataclasses import dataclass
import hashlib
from typing import Any

from gemma_node.core import Observation
from gemma_node.policy.settings import ObservationConfig
from gemma_node.policy.settings import RobotConfig
from gemma_node.policy.snapshot import missing
from gemma_node.policy.snapshot import observe
from gemma_node.policy.triggers import TriggerInput
from gemma_node.replay.bag import Bag
from gemma_node.replay.bag import BagMessage


@dataclass(slots=True)
class _Slot:
    """The newest message of a topic, how many came so far, and its decoding once needed."""

    message: BagMessage
    count: int
    decoded: tuple[Any, int] | None = None
    is_decoded: bool = False


class Mailbox:
    """Holds the newest message of every topic of an open bag."""

    def __init__(self, bag: Bag) -> None:
        self._bag = bag
        self._slots: dict[str, _Slot] = {}

    def put(self, message: BagMessage) -> None:
        """Replace the topic's message by a newer one."""
        slot = self._slots.get(message.topic)
        self._slots[message.topic] = _Slot(message, slot.count + 1 if slot else 1)

    def trigger_input(self, robot: RobotConfig, name: str) -> TriggerInput | None:
        """Return what a trigger may know of one of the robot's inputs; None before it came."""
        config = next(c for c in robot.observations if c.name == name)
        slot = self._slots.get(topic_of(robot, config.topic))
        if slot is None:
            return None
        decoded = self._decode(slot)
        return TriggerInput(count=slot.count, value=None if decoded is None else decoded[0])

    def snapshot(
        self, robot: RobotConfig, now_ns: int, stamp_tolerance_s: float
    ) -> tuple[Observation, ...]:
        """Return all inputs of a robot as they were at `now_ns`."""
        return tuple(
            self._observe(robot, config, now_ns, stamp_tolerance_s)
            for config in robot.observations
        )

    def _observe(
        self, robot: RobotConfig, config: ObservationConfig, now_ns: int, tolerance_s: float
    ) -> Observation:
        topic = topic_of(robot, config.topic)
        slot = self._slots.get(topic)
        if slot is None:
            return missing(config, topic)
        decoded = self._decode(slot) if slot.message.type == config.type else None
        value, stamp_ns = decoded or (None, 0)
        return observe(
            config,
            topic,
            value,
            stamp_ns=stamp_ns,
            received_ns=slot.message.time_ns,
            now_ns=now_ns,
            tolerance_s=tolerance_s,
            digest=hashlib.sha256(slot.message.raw).hexdigest(),
        )

    def _decode(self, slot: _Slot) -> tuple[Any, int] | None:
        if not slot.is_decoded:
            slot.decoded = self._bag.decode(slot.message)
            slot.is_decoded = True
        return slot.decoded


def topic_of(robot: RobotConfig, topic: str) -> str:
    """Return the full name of a topic written relative to the robot's namespace."""
    return topic if topic.startswith('/') else f'/{robot.namespace}/{topic}'
