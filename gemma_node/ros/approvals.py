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
Calls that wait for an operator: told on ~/pending_approvals, let go or denied by Approve.

Executor thread only.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from collections.abc import Collection
import time

from rclpy.node import Node
from rclpy.qos_overriding_options import QoSOverridingOptions

from gemma_node.core import ErrorCode
from gemma_node.errors import RequestError
from gemma_node.msg import Decision
from gemma_node.msg import PendingApprovals
from gemma_node.policy.gate import Verdict
from gemma_node.policy.gate import VerdictKind
from gemma_node.ros.conversions import uuid_hex
from gemma_node.ros.dispatch import Dispatch
from gemma_node.ros.goals import Goal
from gemma_node.ros.names import LATCHED

MAX_REMEMBERED = 1024


class Approvals:
    """
    The Decisions with a call that waits, oldest first.

    `judge` is the gate's word on a call now.
    """

    def __init__(
        self, node: Node, dispatch: Dispatch, judge: Callable[[Goal], Verdict]
    ) -> None:
        self._node = node
        self._dispatch = dispatch
        self._judge = judge
        self._waiting: dict[str, tuple[Decision, set[str]]] = {}
        self._past: OrderedDict[str, None] = OrderedDict()
        self._publisher = node.create_publisher(
            PendingApprovals, '~/pending_approvals', LATCHED,
            qos_overriding_options=QoSOverridingOptions.with_default_policies())
        self._publish()

    def add(self, decision: Decision, call_ids: Collection[str]) -> None:
        """Tell that these calls of a Decision wait."""
        if call_ids:
            self._waiting[uuid_hex(decision.id)] = (decision, set(call_ids))
            self._publish()

    def end(self, goal: Goal) -> None:
        """Take note that a call does not wait any more, for whatever reason."""
        decision, call_ids = self._waiting.get(goal.decision_id, (None, set()))
        if decision is None or goal.call.id not in call_ids:
            return
        call_ids.discard(goal.call.id)
        if not call_ids:
            del self._waiting[goal.decision_id]
            self._past[goal.decision_id] = None
            if len(self._past) > MAX_REMEMBERED:
                self._past.popitem(last=False)
        self._publish()

    def decide(
        self, decision_id: str, call_ids: Collection[str], *, is_approved: bool, reason: str
    ) -> None:
        """
        Send or end calls that wait (none named: all of them).

        Raises RequestError with the first reason why one may not be sent now; it waits on, so
        that the operator may try again until its approval expires.
        """
        goals = self._goals(decision_id, call_ids)
        refused: Verdict | None = None
        for goal in goals:
            if not is_approved:
                self._dispatch.deny(goal, reason)
                continue
            verdict = self._judge(goal)
            if verdict.kind is VerdictKind.REFUSED:
                refused = refused or verdict
                continue
            self.end(goal)
            self._dispatch.send(goal, verdict.preempts, verdict.follows)
        if refused is not None:
            raise RequestError(refused.code, refused.violations[0])

    def destroy(self) -> None:
        """Tell that nothing waits any more, and destroy the publisher."""
        self._waiting.clear()
        self._publish()
        self._node.destroy_publisher(self._publisher)

    def _goals(self, decision_id: str, call_ids: Collection[str]) -> list[Goal]:
        now_s = time.monotonic()
        waiting = [goal for goal in self._dispatch.awaiting(decision_id)
                   if now_s - goal.sent_s <= goal.spec.approval_timeout_s]
        goals = [goal for goal in waiting if not call_ids or goal.call.id in call_ids]
        known = self._waiting.get(decision_id)
        if not waiting and (known is not None or decision_id in self._past):
            raise RequestError(ErrorCode.APPROVAL_EXPIRED,
                               f'no such call of decision {decision_id} waits any more')
        missing = set(call_ids) - {goal.call.id for goal in goals}
        if not goals or missing:
            raise RequestError(
                ErrorCode.INVALID_REQUEST, f'call {min(missing)} of decision {decision_id} does '
                'not wait for approval' if missing else
                f'decision {decision_id} has no call that waits for approval')
        return goals

    def _publish(self) -> None:
        message = PendingApprovals(decisions=[each for each, _ in self._waiting.values()])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)
