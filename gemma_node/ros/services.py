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

"""The node's services: reset, mode, approve, re-arm. Those that do nothing yet are not offered."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from rclpy.node import Node

from gemma_node.core import ErrorCode
from gemma_node.core import Mode
from gemma_node.errors import RequestError
from gemma_node.policy.gate import Gate
from gemma_node.ros.approvals import Approvals
from gemma_node.ros.auditing import Auditor
from gemma_node.ros.conversions import uuid_hex
from gemma_node.ros.guard import CallbackGuard
from gemma_node.ros.robots import Robot
from gemma_node.ros.worker_client import Client
from gemma_node.srv import Approve
from gemma_node.srv import Rearm
from gemma_node.srv import ResetSession
from gemma_node.srv import SetMode


class Services:
    """
    Serves ~/reset_session, ~/set_mode, ~/approve and ~/rearm.

    `changed` is called after a mode changed; `not_ready()` says why the worker cannot be asked.
    """

    def __init__(
        self, node: Node, guard: CallbackGuard, robots: dict[str, Robot], gate: Gate,
        client: Client, approvals: Approvals, auditor: Auditor, *, changed: Callable[[], None],
        not_ready: Callable[[], str],
    ) -> None:
        self._node = node
        self._robots = robots
        self._gate = gate
        self._client = client
        self._approvals = approvals
        self._auditor = auditor
        self._changed = changed
        self._not_ready = not_ready
        self._services = [
            node.create_service(ResetSession, '~/reset_session',
                                _answering(guard, self._reset_session)),
            node.create_service(SetMode, '~/set_mode', _answering(guard, self._set_mode)),
            node.create_service(Approve, '~/approve', _answering(guard, self._approve)),
            node.create_service(Rearm, '~/rearm', _answering(guard, self._rearm)),
        ]

    def destroy(self) -> None:
        """Destroy the services."""
        for service in self._services:
            self._node.destroy_service(service)

    def _reset_session(self, request: Any, response: Any) -> None:
        self._check_robot(request.robot)
        reason = self._not_ready()
        if reason:
            raise RequestError(ErrorCode.NOT_ACTIVE, reason)
        self._client.reset(request.robot, request.session, request.keep_turns)

    def _set_mode(self, request: Any, response: Any) -> None:
        self._check_robot(request.robot)
        if request.mode not in list(Mode):
            raise RequestError(ErrorCode.INVALID_REQUEST,
                               f'mode is {request.mode}, must be 0, 1 or 2')
        names = [request.robot] if request.robot else list(self._robots)
        if request.tool and not all(request.tool in self._robots[name].specs for name in names):
            raise RequestError(ErrorCode.UNKNOWN_TOOL, f"no tool '{request.tool}'")
        self._auditor.operator(
            'set_mode', robot=request.robot, tool=request.tool, mode=request.mode,
            operator_name=request.operator_name)
        modes = self._gate.modes
        modes.set(Mode(request.mode), robot=request.robot, tool=request.tool)
        response.effective_mode = int(min(
            modes.of_tool(name, request.tool, self._robots[name].specs[request.tool].mode)
            if request.tool else modes.of_robot(name) for name in names))
        self._node.get_logger().info(
            f'{request.operator_name or "somebody"} set the mode of '
            f'{request.tool or "every tool"} of {request.robot or "every robot"} to '
            f'{Mode(request.mode).name}')
        self._changed()

    def _approve(self, request: Any, response: Any) -> None:
        decision_id = uuid_hex(request.decision_id)
        if not decision_id:
            raise RequestError(ErrorCode.INVALID_REQUEST,
                               'decision_id is zero; ~/pending_approvals has those that wait')
        self._auditor.operator(
            'approve' if request.approved else 'deny', decision_id=decision_id,
            call_ids=[uuid_hex(call_id) for call_id in request.call_ids],
            operator_name=request.operator_name, reason=request.reason)
        self._approvals.decide(
            decision_id, [uuid_hex(call_id) for call_id in request.call_ids],
            is_approved=request.approved, reason=request.reason)
        self._node.get_logger().info(
            f'{request.operator_name or "somebody"} '
            f'{"approved" if request.approved else "denied"} calls of {decision_id}')

    def _rearm(self, request: Any, response: Any) -> None:
        name = request.robot or (next(iter(self._robots)) if len(self._robots) == 1 else '')
        if name not in self._robots:
            raise RequestError(ErrorCode.UNKNOWN_ROBOT, f'unknown robot {name!r}; robots are: '
                               f'{", ".join(self._robots)}')
        reason = self._gate.locks.reason(name, time.monotonic())
        if reason:
            raise RequestError(ErrorCode.LOCKED, f'not re-armed: {reason}')
        self._auditor.operator('rearm', robot=name, operator_name=request.operator_name)
        self._gate.modes.rearm(name)
        self._node.get_logger().info(
            f'{request.operator_name or "somebody"} re-armed robot {name}')
        self._changed()

    def _check_robot(self, name: str) -> None:
        if name and name not in self._robots:
            raise RequestError(ErrorCode.UNKNOWN_ROBOT, f'unknown robot {name!r}; robots are: '
                               f'{", ".join(self._robots)}')


def _answering(
    guard: CallbackGuard, serve: Callable[[Any, Any], None]
) -> Callable[[Any, Any], Any]:
    """Return a service callback that says `success`, or the code and sentence of what failed."""
    def answer(request: Any, response: Any) -> Any:
        response.error_code = int(ErrorCode.RUNTIME_FAILURE)
        response.error_msg = 'the node failed to serve this; its log says why'
        guarded(request, response)
        return response

    @guard
    def guarded(request: Any, response: Any) -> None:
        try:
            serve(request, response)
        except RequestError as error:
            response.error_code, response.error_msg = int(error.code), str(error)
        else:
            response.success = True
            response.error_code, response.error_msg = int(ErrorCode.NONE), ''

    return answer
