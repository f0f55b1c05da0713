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
Asks a running node one question and waits for its decision: the client behind `gemma-node ask`.

Sees public topics only. Blocks its caller; nothing else may spin the context it makes.
"""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any
import uuid

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from unique_identifier_msgs.msg import UUID

from gemma_node.core import ErrorCode
from gemma_node.core import Outcome
from gemma_node.errors import RequestError
from gemma_node.msg import Decision
from gemma_node.msg import DecisionRequest
from gemma_node.policy.gate import VerdictKind

DISCOVERY_TIMEOUT_S = 5.0
_SPIN_S = 0.05


def ask(
    robot: str, text: str, *, node: str = '/gemma_node', timeout_s: float = 30.0
) -> dict[str, Any]:
    """
    Publish a DecisionRequest to `node` and return the Decision to it as plain values.

    Raises RequestError when nobody listens, or no decision comes within `timeout_s`.
    """
    context = Context()
    rclpy.init(args=[], context=context)
    asker = rclpy.create_node(
        f'gemma_node_ask_{uuid.uuid4().hex[:8]}', context=context, enable_rosout=False
    )
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(asker)
    try:
        return _as_plain(_exchange(asker, executor, f'/{node.strip("/")}', robot, text, timeout_s))
    finally:
        executor.shutdown()
        asker.destroy_node()
        rclpy.try_shutdown(context=context)


def _exchange(
    asker: Node,
    executor: SingleThreadedExecutor,
    node: str,
    robot: str,
    text: str,
    timeout_s: float,
) -> Decision:
    request_id = uuid.uuid4()
    answers: list[Decision] = []

    def take(decision: Decision) -> None:
        if bytes(decision.id.uuid) == request_id.bytes:
            answers.append(decision)

    decisions = asker.create_subscription(Decision, f'{node}/decision', take, 100)
    requests = asker.create_publisher(DecisionRequest, f'{node}/request', 10)

    def is_matched() -> bool:
        return requests.get_subscription_count() > 0 and _num_publishers(asker, decisions) > 0

    if not _spin_until(executor, is_matched, DISCOVERY_TIMEOUT_S):
        raise RequestError(
            ErrorCode.SERVER_UNAVAILABLE,
            f'no node {node} was found within {DISCOVERY_TIMEOUT_S:g} s: start it with '
            '`gemma-node run`, or name it with --node (same ROS_DOMAIN_ID?)',
        )
    message = DecisionRequest(robot=robot, text=text, keep=True)
    message.id = UUID(uuid=list(request_id.bytes))
    message.header.stamp = asker.get_clock().now().to_msg()
    requests.publish(message)
    if not _spin_until(executor, lambda: bool(answers), timeout_s):
        raise RequestError(
            ErrorCode.DEADLINE_EXCEEDED,
            f'{node} gave no decision within {timeout_s:g} s; --timeout waits longer',
        )
    return answers[0]


def _num_publishers(asker: Node, subscription: Any) -> int:
    return asker.count_publishers(subscription.topic_name)


def _spin_until(
    executor: SingleThreadedExecutor, is_done: Callable[[], bool], timeout_s: float
) -> bool:
    deadline = time.monotonic() + timeout_s
    while not is_done():
        if time.monotonic() > deadline:
            return False
        executor.spin_once(timeout_sec=_SPIN_S)
    return True


def _as_plain(decision: Decision) -> dict[str, Any]:
    return {
        'id': bytes(decision.id.uuid).hex(),
        'robot': decision.robot,
        'outcome': Outcome(decision.outcome).name,
        'error_code': ErrorCode(decision.error_code).name,
        'error_msg': decision.error_msg,
        'text': decision.text,
        'calls': [
            {
                'id': bytes(call.id.uuid).hex(),
                'name': call.name,
                'arguments': call.arguments_json,
                'verdict': VerdictKind(call.verdict).name,
                'error_code': ErrorCode(call.error_code).name,
                'violations': list(call.violations),
            }
            for call in decision.tool_calls
        ],
    }
