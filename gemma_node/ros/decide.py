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
The Decide action: a request with feedback, cancel and, if asked, the wait for its calls.

Goals are never executed by a coroutine: rclpy would poll it. The handle is kept and finished
when the Decision, or the last event, is there.
"""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from rclpy.action import ActionServer
from rclpy.action import CancelResponse
from rclpy.action import GoalResponse
from rclpy.node import Node

from gemma_node.action import Decide
from gemma_node.core import ErrorCode
from gemma_node.core import Stage
from gemma_node.core import Trigger
from gemma_node.msg import Decision
from gemma_node.msg import ToolCall
from gemma_node.msg import ToolEvent
from gemma_node.ros.conversions import request_of
from gemma_node.ros.flow import Flow
from gemma_node.ros.guard import CallbackGuard
from gemma_node.worker.client import ProgressEvent

FEEDBACK_PERIOD_S = 0.1
RESULT_TIMEOUT_S = 10
_NO_ANSWER = (Decision.OUTCOME_REFUSED, Decision.OUTCOME_FAILED)


class DecideGoal:
    """One goal of the action; the flow's Origin."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._waits = handle.request.wait_for_execution
        self._started_s = time.monotonic()
        self._told_s = -FEEDBACK_PERIOD_S
        self._result = Decide.Result()

    def on_progress(self, progress: ProgressEvent) -> None:
        """Publish feedback, at most ten times a second."""
        now_s = time.monotonic()
        if now_s - self._told_s < FEEDBACK_PERIOD_S:
            return
        self._told_s = now_s
        self._handle.publish_feedback(Decide.Feedback(
            stage=int(progress.stage), prompt_tokens_done=progress.prompt_tokens_done,
            completion_tokens=progress.completion_tokens, partial_text=progress.partial_text,
            elapsed=now_s - self._started_s))

    def on_decision(self, decision: Decision, *, has_open_calls: bool) -> None:
        """Finish, or tell that the calls are being executed or wait for approval."""
        self._result.decision = decision
        self._result.error_code = decision.error_code
        self._result.error_msg = decision.error_msg
        if not (self._waits and has_open_calls):
            self._finish()
            return
        is_sent = any(call.verdict == ToolCall.VERDICT_SENT for call in decision.tool_calls)
        stage = Stage.EXECUTING if is_sent else Stage.AWAITING_APPROVAL
        self._handle.publish_feedback(Decide.Feedback(
            stage=int(stage), elapsed=time.monotonic() - self._started_s))

    def on_end(self, event: ToolEvent, *, has_open_calls: bool) -> None:
        """Collect a terminal event; finish with the last one."""
        if not self._waits:
            return
        self._result.results.append(event)
        if event.error_code and not self._result.error_code:
            self._result.error_code = event.error_code
            self._result.error_msg = event.error_msg
        if not has_open_calls:
            self._finish()

    def _finish(self) -> None:
        self._handle.execute(self._conclude)

    def _conclude(self, handle: Any) -> Decide.Result:
        if handle.is_cancel_requested:
            handle.canceled()
        elif self._result.error_code or self._result.decision.outcome in _NO_ANSWER:
            handle.abort()
        else:
            handle.succeed()
        return self._result


class DecideServer:
    """
    Serves ~/decide for the node's whole life; `flow()` is None while it is not configured.

    Not destroyed in cleanup: results of goals that end there are still on their way.
    """

    def __init__(
        self, node: Node, guard: CallbackGuard, flow: Callable[[], Flow | None]
    ) -> None:
        self._node = node
        self._flow = flow
        self._server = ActionServer(
            node, Decide, '~/decide', self._never, goal_callback=guard(self._take_goal),
            handle_accepted_callback=guard(self._accept), cancel_callback=guard(self._cancel),
            result_timeout=RESULT_TIMEOUT_S)

    def destroy(self) -> None:
        """Destroy the server, with the node."""
        self._server.destroy()

    def _take_goal(self, goal: Any) -> GoalResponse:
        return GoalResponse.REJECT if self._flow() is None else GoalResponse.ACCEPT

    def _accept(self, handle: Any) -> None:
        flow = self._flow()
        assert flow is not None
        goal = handle.request
        request, problem = request_of(
            goal.request, trigger=Trigger.ACTION,
            source=self._node.resolve_service_name('~/decide'),
            identifier=bytes(handle.goal_id.uuid).hex(), temperature=goal.temperature,
            seed=goal.seed, max_tokens=goal.max_tokens)
        if problem:
            flow.refuse(request, problem, DecideGoal(handle))
        else:
            flow.accept(request, DecideGoal(handle))

    def _cancel(self, handle: Any) -> CancelResponse:
        flow = self._flow()
        if flow is None:
            return CancelResponse.REJECT
        request, _ = request_of(
            handle.request.request, trigger=Trigger.ACTION, source='',
            identifier=bytes(handle.goal_id.uuid).hex())
        # The status must be CANCELING before the answer to the cancel finishes the goal.
        self._node.executor.create_task(flow.cancel, request.id)
        return CancelResponse.ACCEPT

    def _never(self, handle: Any) -> Decide.Result:
        handle.abort()
        return Decide.Result(error_code=int(ErrorCode.RUNTIME_FAILURE))
