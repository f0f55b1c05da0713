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

"""Signals to a node process whose robot is moving: goals are confirmed first, then exit 0."""

from pathlib import Path
import signal
import subprocess
import sys
import time

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from ros_harness import NavigateServer

from gemma_node.msg import DecisionRequest
from gemma_node.msg import ToolEvent
from gemma_node.ros.names import DECISIONS
from gemma_node.ros.names import REQUESTS

PROGRAM = """
import functools, importlib.util, sys
spec = importlib.util.spec_from_file_location('ros_harness', sys.argv[1])
harness = importlib.util.module_from_spec(spec)
sys.modules['ros_harness'] = harness
spec.loader.exec_module(harness)
from gemma_node.ros import main

def worker(*args, **kwargs):
    made = harness.ScriptedWorker(*args, **kwargs)
    made.script = harness.calls(('go_to', {'place': 'kitchen'}))
    return made

main.GemmaNode = functools.partial(main.GemmaNode, worker_factory=worker)
sys.exit(main.main(sys.argv[2:]))
"""
TOOLS = """
version: 1
defaults: {mode: auto, cancel_timeout: 1.0}
resources: [base]
tools:
  go_to:
    action: gemma_node/action/NavigateTo
    name: navigate_to
    description: Drive.
    arguments: {place: {type: string, choices: [kitchen]}}
    resources: [base]
"""


@pytest.fixture
def moving(tmp_path):
    """Return (process, server, events, spin) of a node that autostarted and sent a goal."""
    (tmp_path / 'tools.yaml').write_text(TOOLS)
    log = (tmp_path / 'node.log').open('wb')
    process = subprocess.Popen(
        [sys.executable, '-c', PROGRAM, str(Path(__file__).with_name('harness.py')),
         '--ros-args', '-p', f'tools_file:={tmp_path / "tools.yaml"}', '-p', 'mode:=auto',
         '-p', 'robots.r1.mode:=auto'],
        stdout=log, stderr=log, start_new_session=True)
    context = rclpy.context.Context()
    rclpy.init(context=context)
    node = Node('peer', context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    server = NavigateServer(node, 'r1/navigate_to')
    events = []
    node.create_subscription(ToolEvent, '/gemma_node/tool_event', events.append, DECISIONS)
    publisher = node.create_publisher(DecisionRequest, '/gemma_node/request', REQUESTS)

    def spin(until, timeout_s=15.0):
        end_s = time.monotonic() + timeout_s
        while not until():
            assert time.monotonic() < end_s, (tmp_path / 'node.log').read_text()
            executor.spin_once(timeout_sec=0.02)

    spin(publisher.get_subscription_count)
    end_s = time.monotonic() + 10
    while not server.goals:
        assert time.monotonic() < end_s, (tmp_path / 'node.log').read_text()
        publisher.publish(DecisionRequest(robot='r1', text='go'))
        for _ in range(20):
            executor.spin_once(timeout_sec=0.02)
    yield process, server, events, spin
    process.kill()
    process.wait()
    log.close()
    node.destroy_node()
    executor.shutdown()
    rclpy.try_shutdown(context=context)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_cancels_the_goal_and_waits_for_its_confirmation(moving, number):
    process, server, events, spin = moving
    process.send_signal(number)
    spin(lambda: process.poll() is not None)
    assert process.returncode == 0
    assert server.goals[0].status == 5
    spin(lambda: any(event.is_terminal for event in events))
    terminal = [event for event in events if event.is_terminal]
    assert [(event.state, event.cause) for event in terminal] == [
        (ToolEvent.STATE_CANCELED, 'shutdown')]


def test_goal_that_does_not_confirm_delays_the_end_only_so_long(moving):
    process, server, events, spin = moving
    server.serves_cancel = False
    started_s = time.monotonic()
    process.send_signal(signal.SIGINT)
    spin(lambda: process.poll() is not None)
    assert process.returncode == 0
    assert time.monotonic() - started_s < 6.0
    spin(lambda: any(event.state == ToolEvent.STATE_ORPHANED for event in events))
