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

"""A node in a process of its own, with a worker in another; the test is the robots and person."""

from __future__ import annotations

from collections.abc import Callable
import contextlib
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from typing import Any
import uuid

from lifecycle_msgs.srv import ChangeState
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Bool
from std_msgs.msg import String

from gemma_node.msg import Decision
from gemma_node.msg import DecisionRequest
from gemma_node.msg import RuntimeInfo
from gemma_node.msg import ToolEvent
from gemma_node.ros.conversions import uuid_hex
from gemma_node.ros.conversions import uuid_message
from gemma_node.ros.names import DECISIONS
from gemma_node.ros.names import LATCHED
from gemma_node.ros.names import LOCK
from gemma_node.ros.names import REQUESTS
from gemma_node.srv import Rearm

NODE_PROGRAM = """
import functools, sys
from gemma_node.ros import main
from gemma_node.worker.client import WorkerClient

worker = functools.partial(WorkerClient, _assembler=sys.argv[1])
main.GemmaNode = functools.partial(main.GemmaNode, worker_factory=worker)
sys.exit(main.main(sys.argv[2:]))
"""
SERVER_PROGRAM = """
import importlib.util, sys
from gemma_node.ros_env import prepare_ros
prepare_ros()
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
spec = importlib.util.spec_from_file_location('ros_harness', sys.argv[1])
harness = importlib.util.module_from_spec(spec)
spec.loader.exec_module(harness)
rclpy.init()
node = Node('server')
executor = SingleThreadedExecutor()
executor.add_node(node)
server = harness.NavigateServer(node, sys.argv[2])
executor.spin()
"""
HERE = Path(__file__).parent


def start(program: str, *arguments: str, log: Path) -> subprocess.Popen[bytes]:
    """Start a Python program in a process group of its own."""
    with log.open('ab') as stream:
        return subprocess.Popen([sys.executable, '-c', program, *arguments], stdout=stream,
                                stderr=stream, start_new_session=True)


class NodeProcess:
    """
    The node, and what the rest of the world hears of it.

    `spin(until)` runs this process's executor until the condition holds, or fails the test.
    """

    def __init__(
        self, folder: Path, *, tools: str, robots: list[str], name: str = 'gemma_node',
        **parameters: Any,
    ) -> None:
        (folder / 'tools.yaml').write_text(tools)
        tree = {'mode': 'auto', 'tools_file': str(folder / 'tools.yaml'), 'server_timeout': 0.5,
                'robots': {name: {'mode': 'auto', 'stop_words': ['stop now']}
                           for name in robots}, **parameters}
        (folder / 'parameters.yaml').write_text(
            json.dumps({'/**': {'ros__parameters': tree}}))
        self.log = folder / 'node.log'
        self.process = start(
            NODE_PROGRAM, str(HERE / 'scripted_assemble.py'), '--ros-args', '--params-file',
            str(folder / 'parameters.yaml'), '-r', f'__node:={name}', log=self.log)
        self.context = rclpy.context.Context()
        rclpy.init(context=self.context)
        self.peer = Node('peer', context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.peer)
        self.decisions: list[Decision] = []
        self.events: list[ToolEvent] = []
        self.infos: list[RuntimeInfo] = []
        peer = self.peer
        peer.create_subscription(
            Decision, f'/{name}/decision', self.decisions.append, DECISIONS)
        peer.create_subscription(
            ToolEvent, f'/{name}/tool_event', self.events.append, DECISIONS)
        peer.create_subscription(RuntimeInfo, f'/{name}/info', self.infos.append, LATCHED)
        self._requests = peer.create_publisher(DecisionRequest, f'/{name}/request', REQUESTS)
        self._transitions = peer.create_client(ChangeState, f'/{name}/change_state')
        self._rearm = peer.create_client(Rearm, f'/{name}/rearm')
        self._publishers: dict[str, Any] = {}
        self.others: list[subprocess.Popen[bytes]] = []
        try:
            self.spin(lambda: self.infos and self._requests.get_subscription_count(), 20.0)
        except BaseException:
            self.close()
            raise

    def spin(self, until: Callable[[], Any] = lambda: False, timeout_s: float = 10.0) -> None:
        end_s = time.monotonic() + timeout_s
        while not until():
            assert time.monotonic() < end_s, self.log.read_text()[-3000:]
            self.executor.spin_once(timeout_sec=0.01)

    def spin_for(self, seconds: float) -> None:
        with contextlib.suppress(AssertionError):
            self.spin(timeout_s=seconds)

    def ask(self, robot: str, *calls: tuple[str, dict[str, Any]], text: str = '') -> Decision:
        """Ask for these calls; return the Decision."""
        identifier = uuid.uuid4().hex
        self._requests.publish(DecisionRequest(
            id=uuid_message(identifier), robot=robot, text=text or json.dumps(calls)))

        def found() -> list[Decision]:
            return [item for item in self.decisions if uuid_hex(item.id) == identifier]

        self.spin(found)
        assert len(found()) == 1
        return found()[0]

    def send(self, robot: str, name: str = 'go_to', **arguments: Any) -> Any:
        """Ask for one call and return its id; asked again while its server is not yet seen."""
        end_s = time.monotonic() + 10.0
        while True:
            call = self.ask(robot, (name, arguments)).tool_calls[0]
            if call.verdict == call.VERDICT_SENT:
                return call.id
            assert time.monotonic() < end_s, call.violations
            self.spin_for(0.1)

    def publisher(self, kind: Any, topic: str, qos: Any) -> Any:
        """Return a publisher that the node has matched."""
        if topic not in self._publishers:
            self._publishers[topic] = self.peer.create_publisher(kind, topic, qos)
            self.spin(self._publishers[topic].get_subscription_count)
        return self._publishers[topic]

    def lock(self, robot: str, is_locked: bool = True) -> None:
        self.publisher(Bool, f'/{robot}/gemma/lock', LOCK).publish(Bool(data=is_locked))

    def say(self, robot: str, text: str) -> None:
        self.publisher(String, f'/{robot}/gemma/command', REQUESTS).publish(String(data=text))

    def transition(self, number: int) -> None:
        request = ChangeState.Request()
        request.transition.id = number
        self.spin(self._transitions.service_is_ready)
        future = self._transitions.call_async(request)
        self.spin(future.done)
        assert future.result().success

    def rearm(self, robot: str) -> None:
        self.spin(self._rearm.service_is_ready)
        future = self._rearm.call_async(Rearm.Request(robot=robot, operator_name='test'))
        self.spin(future.done)
        assert future.result().success, future.result().error_msg

    def settle(self, call_id: Any, within_s: float = 10.0) -> ToolEvent:
        """Return the call's one terminal event; a second one within a moment fails the test."""
        def terminal() -> list[ToolEvent]:
            return [event for event in self.events if event.is_terminal
                    and list(event.call_id.uuid) == list(call_id.uuid)]
        started_s = time.monotonic()
        self.spin(terminal, within_s + 5.0)
        assert time.monotonic() - started_s < within_s
        self.spin_for(0.15)
        assert len(terminal()) == 1
        return terminal()[0]

    def serve_elsewhere(self, name: str) -> subprocess.Popen[bytes]:
        """Start a process that serves the action and can be killed."""
        self.others.append(start(SERVER_PROGRAM, str(HERE / 'harness.py'), name,
                                 log=self.log.with_name('server.log')))
        return self.others[-1]

    def worker_pid(self) -> int:
        path = f'proc/{self.process.pid}/task/*/children'
        children = ' '.join(file.read_text() for file in Path('/').glob(path)).split()
        found = [int(pid) for pid in children
                 if b'gemma_node.worker' in Path(f'/proc/{pid}/cmdline').read_bytes()]
        assert len(found) == 1
        return found[0]

    def close(self) -> None:
        for process in (self.process, *self.others):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.peer.destroy_node()
        self.executor.shutdown()
        rclpy.try_shutdown(context=self.context)
