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
What a robot offers on the live graph, for `gemma-node tools init`.

Makes a node of its own for a moment; nothing else may spin its context.
"""

from __future__ import annotations

from collections.abc import Iterable
import time
import uuid

import rclpy
from rclpy.action import get_action_names_and_types
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from gemma_node.errors import ConfigError
from gemma_node.tools.draft import Offer
from gemma_node.tools.draft import STREAMED

# What every node offers, and what this node offers itself.
_INFRASTRUCTURE = ('rcl_interfaces', 'lifecycle_msgs', 'type_description_interfaces',
                   'gemma_node/srv', 'gemma_node/action/Decide', 'composition_interfaces')
_SETTLED_S = 0.5


def offers_of(namespace: str, *, timeout_s: float = 3.0) -> list[Offer]:
    """
    Return the actions, services and velocity topics below a namespace.

    Waits until the graph stands still, at most `timeout_s`. Raises ConfigError when nothing is
    offered there.
    """
    context = Context()
    rclpy.init(args=[], context=context)
    name = f'gemma_node_tools_{uuid.uuid4().hex[:8]}'
    node = rclpy.create_node(name, context=context, enable_rosout=False,
                             start_parameter_services=False)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    try:
        return _settled(node, executor, f'/{namespace.strip("/")}/'.replace('//', '/'), timeout_s)
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown(context=context)


def _settled(
    node: Node, executor: SingleThreadedExecutor, root: str, timeout_s: float,
) -> list[Offer]:
    found: list[Offer] = []
    started_s = changed_s = time.monotonic()
    while True:
        executor.spin_once(timeout_sec=0.05)
        now_s = time.monotonic()
        seen = list(_offers(node, root))
        if seen != found:
            found, changed_s = seen, now_s
        if (found and now_s - changed_s > _SETTLED_S) or now_s - started_s > timeout_s:
            break
    if not found:
        others = sorted({name.split('/')[1] for name, _ in get_action_names_and_types(node)})
        raise ConfigError(
            f'nothing offers an action, a service or a velocity topic below {root} within '
            f'{timeout_s:g} s; actions are below: {", ".join(others) or "nothing"} '
            '(same ROS_DOMAIN_ID?)')
    return found


def _offers(node: Node, root: str) -> Iterable[Offer]:
    for kind, listed in (('action', get_action_names_and_types(node)),
                         ('service', node.get_service_names_and_types())):
        for name, types in sorted(listed):
            is_hidden = '/_' in name
            if name.startswith(root) and not is_hidden and not types[0].startswith(
                    _INFRASTRUCTURE):
                yield Offer(kind=kind, type=types[0], name=name.removeprefix(root))
    for name, types in sorted(node.get_topic_names_and_types()):
        if name.startswith(root) and types[0] in STREAMED and node.count_subscribers(name):
            yield Offer(kind='topic', type=types[0], name=name.removeprefix(root))
