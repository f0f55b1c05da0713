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

"""`gemma-node ask` over real DDS, against a node that answers by script."""

import threading
import time

import pytest

from gemma_node.core import ErrorCode
from gemma_node.errors import RequestError

rclpy = pytest.importorskip('rclpy')

from rclpy.context import Context  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402

from gemma_node.msg import Decision  # noqa: E402
from gemma_node.msg import DecisionRequest  # noqa: E402
from gemma_node.msg import ToolCall  # noqa: E402
from gemma_node.ros import ask as ask_module  # noqa: E402
from gemma_node.ros.ask import ask  # noqa: E402


class Answerer:
    """Answers each request with a foreign decision first, then its own; or not at all."""

    def __init__(self, name, is_silent=False):
        self.requests = []
        self._is_silent = is_silent
        self._context = Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node(name, context=self._context)
        self._decisions = self._node.create_publisher(Decision, '~/decision', 100)
        self._node.create_subscription(DecisionRequest, '~/request', self._answer, 10)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._spin)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        self._thread.join()
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def _spin(self):
        while not self._is_over.is_set():
            self._executor.spin_once(timeout_sec=0.05)

    def _answer(self, request):
        self.requests.append(request)
        if self._is_silent:
            return
        self._decisions.publish(Decision(robot='other'))
        call = ToolCall(name='dock', arguments_json='{}', verdict=ToolCall.VERDICT_SENT)
        self._decisions.publish(
            Decision(
                id=request.id,
                robot=request.robot,
                outcome=Decision.OUTCOME_TOOL_CALL,
                tool_calls=[call],
            )
        )


def test_the_decision_with_the_requests_own_id_is_returned():
    with Answerer('asked') as answerer:
        decision = ask('r1', 'dock yourself', node='/asked', timeout_s=10.0)
    (request,) = answerer.requests
    assert (request.robot, request.text, request.keep) == ('r1', 'dock yourself', True)
    assert decision['id'] == bytes(request.id.uuid).hex()
    assert (decision['robot'], decision['outcome']) == ('r1', 'TOOL_CALL')
    assert decision['error_code'] == 'NONE'
    (call,) = decision['calls']
    assert (call['name'], call['verdict']) == ('dock', 'SENT')


def test_a_node_that_never_answers_is_given_up_after_the_timeout():
    started = time.monotonic()
    with Answerer('silent', is_silent=True), pytest.raises(RequestError) as caught:
        ask('r1', 'hello', node='silent', timeout_s=0.5)
    assert caught.value.code is ErrorCode.DEADLINE_EXCEEDED
    assert str(caught.value) == '/silent gave no decision within 0.5 s; --timeout waits longer'
    assert time.monotonic() - started < 10.0


def test_no_node_at_all_is_said_with_the_remedy(monkeypatch):
    monkeypatch.setattr(ask_module, 'DISCOVERY_TIMEOUT_S', 0.3)
    with pytest.raises(RequestError, match=r'no node /absent .*gemma-node run') as caught:
        ask('r1', 'hello', node='/absent')
    assert caught.value.code is ErrorCode.SERVER_UNAVAILABLE
