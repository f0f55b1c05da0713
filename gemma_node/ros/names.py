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

"""Names and QoS profiles of everything the node offers or listens to."""

from __future__ import annotations

from rclpy.expand_topic_name import expand_topic_name
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.qos import HistoryPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy


def _reliable(depth: int, durability: DurabilityPolicy) -> QoSProfile:
    return QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=depth,
                      reliability=ReliabilityPolicy.RELIABLE, durability=durability)


REQUESTS = _reliable(10, DurabilityPolicy.VOLATILE)
# More than engine.inbox_size: what is too much must arrive to be refused as BUSY.
REQUEST_BURST = _reliable(200, DurabilityPolicy.VOLATILE)
DECISIONS = _reliable(100, DurabilityPolicy.VOLATILE)
LOCK = _reliable(1, DurabilityPolicy.VOLATILE)
LATCHED = _reliable(1, DurabilityPolicy.TRANSIENT_LOCAL)
SENSOR = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=1,
                    reliability=ReliabilityPolicy.BEST_EFFORT,
                    durability=DurabilityPolicy.VOLATILE)


def in_namespace(namespace: str, name: str) -> str:
    """Return a robot's name for a relative name; absolute and private names stay as they are."""
    return name if name.startswith(('/', '~')) else f'{namespace}/{name}'


def full_namespace(node: Node, namespace: str) -> str:
    """Return a robot's namespace below the node's own."""
    return str(expand_topic_name(namespace, node.get_name(), node.get_namespace()))
