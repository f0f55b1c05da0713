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

"""A node with a scripted worker, simulated action servers and a listener, in one executor."""

from __future__ import annotations

from collections.abc import Callable
import contextlib
import itertools
import time
from typing import Any
import uuid

from lifecycle_msgs.msg import State
from nav_msgs.msg import Odometry
import rclpy
from rclpy.action import ActionServer
from rclpy.action import CancelResponse
from rclpy.action import GoalResponse
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool
from std_msgs.msg import String

from gemma_node.action import NavigateTo
from gemma_node.core import Answer
from gemma_node.core import Call
from gemma_node.core import ErrorCode
from gemma_node.core import Outcome
from gemma_node.core import RuntimeFacts
from gemma_node.errors import RequestError
from gemma_node.msg import Decision
from gemma_node.msg import DecisionRequest
from gemma_node.msg import ToolEvent
from gemma_node.ros.conversions import time_message
from gemma_node.ros.conversions import uuid_hex
from gemma_node.ros.conversions import uuid_message
from gemma_node.ros.names import DECISIONS
from gemma_node.ros.names import LOCK
from gemma_node.ros.names import REQUESTS
from gemma_node.ros.node import GemmaNode
from gemma_node.worker.client import AnswerEvent
from gemma_node.worker.client import LoadingEvent
from gemma_node.worker.client import ReadyEvent

FACTS = RuntimeFacts(
    package_version='0', model='scripted', checkpoint_digest='c', recipe='bf16', rounding='hf',
    backend='cpu', device='cpu', driver='', kernel_digest='k', prompt_digest='p', verified=False,
    not_verified=('all',), lanes=1, context_tokens=512)
ODOM = {'type': 'nav_msgs/msg/Odometry', 'max_age': 0.5}
BATTERY = {'type': 'sensor_msgs/msg/BatteryState', 'max_age': 30.0}
ROBOT = {'observations': {'odom': ODOM, 'battery': BATTERY}, 'stop_words': ['stop now'],
         'mode': 'auto'}
_names = itertools.count()


def call(request_id: str, name: str, index: int = 0, **arguments: Any) -> Call:
    """Return the call a worker would decode."""
    return Call(id=uuid.uuid5(uuid.UUID(request_id), str(index)).hex, name=name,
                arguments=arguments, probability=0.9)


def calls(*wanted: tuple[str, dict[str, Any]]) -> Callable[[Any], Answer]:
    """Return a script that answers every request with these calls."""
    def script(request: Any) -> Answer:
        made = tuple(call(request.id, name, index, **arguments)
                     for index, (name, arguments) in enumerate(wanted))
        return Answer(request_id=request.id, robot=request.robot, outcome=Outcome.TOOL_CALL,
                      calls=made, input_tokens=(('odom', 12, False),))
    return script


def reply(text: str = 'hello') -> Callable[[Any], Answer]:
    """Return a script that answers every request with a sentence."""
    return lambda request: Answer(request_id=request.id, robot=request.robot,
                                  outcome=Outcome.REPLY, text=text)


class ScriptedWorker:
    """Stands in for WorkerClient: answers by `script`, or keeps requests when that is None."""

    def __init__(self, settings: Any, on_event: Any, **options: Any) -> None:
        self.settings = settings
        self.options = options
        self.emit = on_event
        self.script: Callable[[Any], Answer] | None = reply()
        self.is_ready = False
        self.loads = True
        self.held: list[Any] = []
        self.requests: list[tuple[Any, tuple[Any, ...]]] = []
        self.resets: list[tuple[str, str, int]] = []
        self.canceled: list[str] = []
        self.questions: list[tuple[Any, tuple[Any, ...]]] = []
        self.refuses_questions: RequestError | None = None

    def start(self) -> None:
        if self.loads:
            self.ready()
        else:
            self.emit(LoadingEvent(0.4, 'weights'))

    def ready(self) -> None:
        self.is_ready = True
        self.emit(ReadyEvent(FACTS))

    def submit(self, request: Any, observations: Any) -> None:
        if not self.is_ready:
            raise RequestError(ErrorCode.NOT_ACTIVE, 'loading, 40%: weights')
        self.requests.append((request, observations))
        if self.script is None:
            self.held.append(request)
        else:
            self.emit(AnswerEvent(self.script(request)))

    def choose(self, question: Any, observations: Any) -> None:
        if self.refuses_questions:
            raise self.refuses_questions
        self.questions.append((question, observations))

    def cancel(self, request_id: str, code: ErrorCode = ErrorCode.CANCELED) -> bool:
        self.canceled.append(request_id)
        for request in self.held:
            if request.id == request_id:
                self.held.remove(request)
                self.emit(AnswerEvent(Answer(
                    request_id=request_id, robot=request.robot, outcome=Outcome.FAILED,
                    error_code=code, error_msg='canceled')))
                return True
        return False

    def reset(self, robot: str, session: str = '', keep: int = 0) -> None:
        self.resets.append((robot, session, keep))

    def stop(self, timeout_s: float = 5.0) -> None:
        self.is_ready = False


class NavigateServer:
    """An action server whose goals end when and how the test says."""

    def __init__(self, node: Node, name: str, **options: Any) -> None:
        self.goals: list[Any] = []
        self.accepts = True
        self.serves_cancel = True
        self.node = node
        self._server = ActionServer(
            node, NavigateTo, name, self._execute, goal_callback=self._take,
            handle_accepted_callback=self.goals.append, cancel_callback=self._cancel)
        self._endings: dict[bytes, tuple[str, Any]] = {}

    def _take(self, goal: Any) -> GoalResponse:
        return GoalResponse.ACCEPT if self.accepts else GoalResponse.REJECT

    def _cancel(self, handle: Any) -> CancelResponse:
        if not self.serves_cancel:
            return CancelResponse.REJECT
        self.node.executor.create_task(self.end, handle, 'canceled')
        return CancelResponse.ACCEPT

    def end(self, handle: Any, how: str = 'succeed', **result: Any) -> None:
        self._endings[bytes(handle.goal_id.uuid)] = (how, NavigateTo.Result(**result))
        handle.execute()

    def _execute(self, handle: Any) -> Any:
        how, result = self._endings[bytes(handle.goal_id.uuid)]
        getattr(handle, how)()
        return result

    def destroy(self) -> None:
        self._server.destroy()


class World:
    """
    The node under test and everything around it; a robot `r1` in a namespace of its own.

    `spin(until)` runs the executor until the condition holds and fails the test otherwise.
    """

    def __init__(self, *, robot: dict[str, Any] | None = None, loads: bool = True,
                 active: bool = True, worker_factory: Any = None,
                 **parameters: Any) -> None:
        self.namespace = f'w{next(_names)}'
        self.context = rclpy.context.Context()
        rclpy.init(context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.workers: list[ScriptedWorker] = []
        self.loads = loads
        tree = {'mode': 'auto', 'autostart': False, 'server_timeout': 0.5,
                'robots': {'r1': {**ROBOT, **(robot or {})}}, **parameters}
        self.node = GemmaNode(
            worker_factory=worker_factory or self._make_worker, context=self.context,
            namespace=self.namespace, parameter_overrides=list(_parameters(tree)))
        self.peer = Node('peer', context=self.context, namespace=self.namespace)
        self.executor.add_node(self.node)
        self.executor.add_node(self.peer)
        self.decisions: list[Decision] = []
        self.events: list[ToolEvent] = []
        self.replies: list[str] = []
        self._listen()
        if active:
            self.configure()
            assert self.node.trigger_activate().name == 'SUCCESS'
            self.spin(lambda: self.request_publisher.get_subscription_count() > 0)

    def _make_worker(self, *args: Any, **kwargs: Any) -> ScriptedWorker:
        worker = ScriptedWorker(*args, **kwargs)
        worker.loads = self.loads
        self.workers.append(worker)
        return worker

    def _listen(self) -> None:
        peer = self.peer
        peer.create_subscription(Decision, 'gemma_node/decision', self.decisions.append, DECISIONS)
        peer.create_subscription(ToolEvent, 'gemma_node/tool_event', self.events.append, DECISIONS)
        peer.create_subscription(String, 'r1/gemma/reply',
                                 lambda message: self.replies.append(message.data), REQUESTS)
        self.request_publisher = peer.create_publisher(
            DecisionRequest, 'gemma_node/request', REQUESTS)
        self.command_publisher = peer.create_publisher(String, 'r1/gemma/command', REQUESTS)
        self.odom_publisher = peer.create_publisher(Odometry, 'r1/odom', 10)
        self.battery_publisher = peer.create_publisher(BatteryState, 'r1/battery', 10)
        self.lock_publisher = peer.create_publisher(Bool, 'r1/gemma/lock', LOCK)

    @property
    def worker(self) -> ScriptedWorker:
        return self.workers[-1]

    @property
    def state(self) -> int:
        return int(self.node._state_machine.current_state[0])

    def configure(self) -> bool:
        self.node.trigger_configure()
        return self.state == State.PRIMARY_STATE_INACTIVE

    def spin(self, until: Callable[[], Any] = lambda: False, timeout_s: float = 5.0) -> None:
        """Spin until the condition holds; fail when it does not in time."""
        end_s = time.monotonic() + timeout_s
        while not until():
            assert time.monotonic() < end_s, 'the condition did not come true in time'
            self.executor.spin_once(timeout_sec=0.02)

    def spin_for(self, seconds: float) -> None:
        with contextlib.suppress(AssertionError):
            self.spin(timeout_s=seconds)

    def serve(self) -> NavigateServer:
        """Bring up the navigate_to server and wait until the node sees it."""
        server = NavigateServer(self.peer, 'r1/navigate_to')
        runtime = self.node.runtime
        spec = runtime._specs['r1']['go_to']
        self.spin(lambda: not runtime.dispatch.unavailable('r1', spec))
        return server

    def feed(self, *, percentage: float = 0.8, age_s: float = 0.0, x: float = 1.0) -> None:
        """Publish odometry and battery, and wait until the node has them."""
        inputs = self.node.runtime._robots['r1'].inputs._inputs
        counts = {name: item.count for name, item in inputs.items()}
        self.spin(lambda: self.odom_publisher.get_subscription_count() > 0
                  and self.battery_publisher.get_subscription_count() > 0)
        odom = Odometry()
        odom.pose.pose.position.x = x
        stamp_ns = self.peer.get_clock().now().nanoseconds - int(age_s * 1e9)
        odom.header.stamp = time_message(stamp_ns)
        self.odom_publisher.publish(odom)
        self.battery_publisher.publish(BatteryState(percentage=percentage))
        self.spin(lambda: all(item.count > counts[name] for name, item in inputs.items()))

    def ask(self, text: str = 'go to the kitchen', **fields: Any) -> str:
        """Publish a request; return its id."""
        identifier = fields.pop('identifier', None) or uuid.uuid4().hex
        self.request_publisher.publish(
            DecisionRequest(id=uuid_message(identifier), robot='r1', text=text, keep=True)
            if not fields else DecisionRequest(**{
                'id': uuid_message(identifier), 'robot': 'r1', 'text': text, 'keep': True,
                **fields}))
        return identifier

    def decide(self, text: str = 'go to the kitchen', **fields: Any) -> Decision:
        """Publish a request; return its Decision."""
        identifier = self.ask(text, **fields)
        self.spin(lambda: self.decision(identifier))
        found = self.decision(identifier)
        assert found is not None
        return found

    def decision(self, identifier: str) -> Decision | None:
        found = [item for item in self.decisions if uuid_hex(item.id) == identifier]
        assert len(found) < 2, 'more than one Decision for a request'
        return found[0] if found else None

    def terminal(self, call_id: Any) -> ToolEvent:
        """Wait for the terminal event of a call; there must never be a second one."""
        def found() -> list[ToolEvent]:
            return [event for event in self.events
                    if event.is_terminal and list(event.call_id.uuid) == list(call_id.uuid)]
        self.spin(found)
        assert len(found()) == 1
        return found()[0]

    def states(self, call_id: Any) -> list[int]:
        return [event.state for event in self.events
                if list(event.call_id.uuid) == list(call_id.uuid)]

    def close(self) -> None:
        self.executor.remove_node(self.node)
        self.node.destroy_node()
        self.peer.destroy_node()
        self.executor.shutdown()
        rclpy.try_shutdown(context=self.context)


def _parameters(tree: dict[str, Any], prefix: str = '') -> Any:
    for key, value in tree.items():
        name = f'{prefix}{key}'
        if isinstance(value, dict):
            yield from _parameters(value, f'{name}.')
        else:
            yield Parameter(name, value=value)
