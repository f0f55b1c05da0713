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
The Choose service: a question goes to the worker, and its verdict is the response, later.

A service callback of rclpy answers when it returns, and a coroutine would be polled. So the
callback returns a promise, the service keeps the request's header with it, and the response is
sent when the verdict comes. All of it runs on the executor thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
import uuid

from rclpy.node import Node

from gemma_node.core import ErrorCode
from gemma_node.core import Observation
from gemma_node.errors import RequestError
from gemma_node.ros.conversions import NS
from gemma_node.ros.conversions import time_ns
from gemma_node.ros.conversions import uuid_message
from gemma_node.ros.guard import CallbackGuard
from gemma_node.srv import Choose
from gemma_node.worker.questions import Question
from gemma_node.worker.questions import QuestionType
from gemma_node.worker.questions import Verdict

Ask = Callable[[Question, tuple[Observation, ...]], None]


@dataclass(slots=True, eq=False)
class _Promise:
    """A response that is not there yet."""

    header: Any = None


class ChooseServer:
    """
    Serves ~/choose.

    `ask` hands a question on or raises RequestError; `observe` returns a robot's inputs now,
    or raises it for an unknown robot. `deadline_s` counts where a request names no timeout.
    """

    def __init__(
        self,
        node: Node,
        guard: CallbackGuard,
        ask: Ask,
        observe: Callable[[str], tuple[Observation, ...]],
        *,
        deadline_s: float,
    ) -> None:
        self._node = node
        self._ask = ask
        self._observe = observe
        self._deadline_s = deadline_s
        self._promises: dict[str, _Promise] = {}
        self._take = guard(self._take_request)
        self._service: Any = node.create_service(Choose, '~/choose', self._serve)
        self._send = self._service.send_response
        self._service.send_response = self._send_or_keep

    def destroy(self) -> None:
        """Answer what still waits, and destroy the service."""
        for question_id in list(self._promises):
            self.on_verdict(Verdict(
                question_id=question_id, error_code=ErrorCode.NOT_ACTIVE,
                error_msg='the node was cleaned up before the question was answered'))
        self._node.destroy_service(self._service)

    def on_verdict(self, verdict: Verdict) -> None:
        """Send the response to the question that a verdict is of."""
        promise = self._promises.pop(verdict.question_id, None)
        if promise is not None and promise.header is not None:
            self._send(_response(verdict), promise.header)

    def _serve(self, request: Any, response: Any) -> Any:
        question_id = uuid.uuid4().hex
        promise = self._promises[question_id] = _Promise()
        failures: list[Verdict] = []
        self._take(request, question_id, failures)
        # A callback that failed as a whole is logged by the guard.
        if failures or question_id not in self._promises:
            self._promises.pop(question_id, None)
            return _response(failures[0])
        return promise

    def _take_request(self, request: Any, question_id: str, failures: list[Verdict]) -> None:
        failures.append(Verdict(
            question_id=question_id, error_code=ErrorCode.RUNTIME_FAILURE,
            error_msg='the node failed to serve this; its log says why'))
        try:
            question = question_of(request, question_id, self._deadline_s)
            observations: tuple[Observation, ...] = ()
            if request.robot:
                inputs = self._observe(request.robot)
                observations = inputs if request.with_observations else ()
            elif request.with_observations:
                raise RequestError(ErrorCode.INVALID_REQUEST,
                                   'with_observations needs a robot, whose inputs they are')
            self._ask(question, observations)
        except RequestError as error:
            failures[0] = Verdict(
                question_id=question_id, error_code=error.code, error_msg=str(error))
        else:
            failures.clear()

    def _send_or_keep(self, response: Any, header: Any) -> None:
        if isinstance(response, _Promise):
            response.header = header
        else:
            self._send(response, header)


def question_of(request: Any, question_id: str, deadline_s: float) -> Question:
    """Return the question that a service request asks; raises RequestError."""
    if request.type not in list(QuestionType):
        raise RequestError(ErrorCode.INVALID_REQUEST,
                           f'type is {request.type}, must be one of TYPE_*')
    timeout_s = time_ns(request.timeout) / NS
    if timeout_s < 0:
        raise RequestError(ErrorCode.INVALID_REQUEST, f'timeout is {timeout_s:g} s, below zero')
    return Question(
        id=question_id,
        robot=request.robot,
        session=request.session,
        text=request.question,
        type=QuestionType(request.type),
        options=tuple((option.name, option.description) for option in request.options),
        score_max=request.score_max,
        temperature=request.temperature,
        min_label_mass=request.min_label_mass,
        timeout_s=timeout_s or deadline_s,
    )


def _response(verdict: Verdict) -> Any:
    return Choose.Response(
        error_code=int(verdict.error_code),
        error_msg=verdict.error_msg,
        id=uuid_message(verdict.question_id),
        choice=verdict.choice,
        choice_name=verdict.choice_name,
        score=verdict.score,
        probabilities=list(verdict.probabilities),
        label_mass=verdict.label_mass,
        margin=verdict.margin,
        prompt_tokens=verdict.prompt_tokens,
        cached_tokens=verdict.cached_tokens,
        total_time=verdict.total_time,
    )
