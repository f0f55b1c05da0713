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
Publishes messages: once, or as a stream that ends with zeros whatever ends it.

A stream is a goal that this node serves itself, so its cancel is confirmed at once. Executor
thread only.
"""

from __future__ import annotations

import math
import time
from typing import Any

from rclpy.clock import Clock
from rclpy.clock import ClockType
from rclpy.duration import Duration
from rclpy.node import Node

from gemma_node.ros.endings import canceled_ending
from gemma_node.ros.endings import done_ending
from gemma_node.ros.endings import unheard_ending
from gemma_node.ros.goals import Ending
from gemma_node.ros.goals import Goal
from gemma_node.ros.guard import CallbackGuard
from gemma_node.ros.messages import fill
from gemma_node.ros.messages import interface_class
from gemma_node.ros.transport import Follower
from gemma_node.ros.transport import Loss
from gemma_node.tools.spec import StreamRule
from gemma_node.tools.spec import ToolSpec
from gemma_node.tools.stream import duration_of
from gemma_node.tools.stream import value_at_time
from gemma_node.tools.stream import zero

# A subscriber that loses one message must not drive on.
NUM_ZEROS = 3
QUEUE_DEPTH = 10
LAST_WORDS_S = 0.2


class TopicTransport:
    """
    One publisher of one topic, used by one tool.

    The timer stands still while nothing streams; one stream at a time.
    """

    def __init__(
        self, node: Node, spec: ToolSpec, name: str, follower: Follower, guard: CallbackGuard,
    ) -> None:
        self._node = node
        self._name = name
        self._rule: StreamRule | None = spec.stream
        self._follower = follower
        self._type = interface_class(spec.interface_type)
        self._publisher = node.create_publisher(self._type, name, QUEUE_DEPTH)
        self._goal: Goal | None = None
        self._duration_s = 0.0
        self._said_s = -math.inf
        self._timer: Any = None
        if spec.stream is not None:
            self._timer = node.create_timer(
                1.0 / spec.stream.rate_hz, guard(self._publish_next),
                clock=Clock(clock_type=ClockType.STEADY_TIME))
            self._timer.cancel()

    @property
    def message_type(self) -> Any:
        """Return the class of what is sent."""
        return self._type

    @property
    def is_driven_by_others(self) -> bool:
        """Return false: a topic may have other publishers, twist_mux tells them apart."""
        return False

    def unavailable(self) -> str:
        """Return why nothing can be sent now, '' when it can."""
        wanted = self._rule.min_subscribers if self._rule is not None else 1
        found = self._publisher.get_subscription_count()
        if found >= wanted:
            return ''
        return f'{self._name} has {found} subscribers, {wanted} needed'

    def send(self, goal: Goal) -> None:
        """Publish once and end, or begin the stream."""
        self._follower.accepted(goal)
        if self._rule is None:
            self._publish(goal.target)
            self._follower.ended(goal, done_ending(goal))
            return
        if self._goal is not None:
            self._finish(canceled_ending(self._goal))
        self._goal = goal
        self._duration_s = duration_of(self._rule, goal.call.arguments)
        self._timer.reset()
        self._publish_next()

    def cancel(self, goal: Goal) -> None:
        """Publish zeros; that is the confirmation."""
        if goal is self._goal:
            self._finish(canceled_ending(goal))

    def watch(self, goal: Goal, now_s: float) -> Loss:
        """Return that nothing is lost: the stream itself looks at its subscribers."""
        return Loss.NONE

    def destroy(self) -> None:
        """Destroy timer and publisher; a stream that still runs ends with zeros."""
        if self._goal is not None:
            self._finish(canceled_ending(self._goal))
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
        left_s = self._said_s + LAST_WORDS_S - time.monotonic()
        if left_s > 0:
            self._publisher.wait_for_all_acked(Duration(seconds=left_s))
        self._node.destroy_publisher(self._publisher)

    def _publish_next(self) -> None:
        goal, rule = self._goal, self._rule
        if goal is None or rule is None:
            self._timer.cancel()
            return
        elapsed_s = time.monotonic() - goal.sent_s
        if elapsed_s >= self._duration_s:
            self._finish(done_ending(goal))
        elif missing := self.unavailable():
            self._finish(unheard_ending(goal, missing))
        else:
            self._publish(value_at_time(rule, goal.target, elapsed_s, self._duration_s))
            self._follower.progressed(goal, elapsed_s / self._duration_s)

    def _finish(self, ending: Ending) -> None:
        goal, self._goal = self._goal, None
        assert goal is not None
        self._timer.cancel()
        for _ in range(NUM_ZEROS):
            self._publish(zero(goal.target))
        self._follower.ended(goal, ending)

    def _publish(self, values: Any) -> None:
        self._said_s = time.monotonic()
        now = self._node.get_clock().now().to_msg()
        self._publisher.publish(fill(self._type(), values, now=now))
