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
Run the demo: simulated robots, the node and the operator as three processes, then a summary.

Starts and ends the processes; the node is the same `gemma-node run` that a user starts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import time

from rich.console import Console

from gemma_node.demo.script import load_steps
from gemma_node.demo.script import Step
from gemma_node.demo.table import LiveTable

READY_TIMEOUT_S = 180.0
STOP_TIMEOUT_S = 10.0
ROBOTS = ('r1', 'r2')
DEFAULT_DOMAIN = '73'


def run_demo(
    console: Console, *, say: str = '', robot: str = ROBOTS[0], model: str = ''
) -> int:
    """
    Play the script, or one sentence of the user's, and return the exit code.

    Returns 0 when every sentence got its decision, 1 when the node did not come up or died.
    """
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    os.environ.setdefault('ROS_DOMAIN_ID', DEFAULT_DOMAIN)
    steps = (Step(robot=robot, say=say, wait='done'),) if say else load_steps()
    with tempfile.TemporaryDirectory(prefix='gemma_demo_') as folder:
        logs = Path(folder)
        with _process('robots', logs, '-m', 'gemma_node.demo.robots') as robots:
            arguments = ('-m', 'gemma_node.cli', 'run', *(('--model', model) if model else ()))
            with _process('node', logs, *arguments) as node:
                return _operate(console, steps, {'robots': robots, 'node': node}, logs)


def _operate(
    console: Console,
    steps: tuple[Step, ...],
    processes: dict[str, subprocess.Popen[bytes]],
    logs: Path,
) -> int:
    import rclpy

    from gemma_node.demo.operator import Operator

    def dead() -> str:
        return next((name for name, one in processes.items() if one.poll() is not None), '')

    rclpy.init()
    operator = Operator(ROBOTS, LiveTable(console))
    try:
        console.print('starting: two simulated robots, gemma_node, the embedded checkpoint')
        operator.spin_until(lambda: operator.is_ready() or bool(dead()), READY_TIMEOUT_S)
        if dead() or not operator.is_ready():
            name = dead() or 'node'
            console.print(f'[red]the {name} process is not serving; its last words:')
            console.print(_tail(logs / f'{name}.log'), markup=False, highlight=False)
            return 1
        assert operator.info is not None
        console.print(f'ready: {operator.info.model or "embedded"} on {operator.info.device}')
        for step in steps:
            operator.play(step)
            if dead():
                console.print(f'[red]the {dead()} process died; its last words:')
                console.print(_tail(logs / f'{dead()}.log'), markup=False, highlight=False)
                return 1
        operator.drain()
        console.rule('summary')
        for line in operator.tally.lines():
            console.print(line, highlight=False)
        return 1 if operator.tally.unanswered else 0
    finally:
        operator.destroy_node()
        rclpy.try_shutdown()


@contextmanager
def _process(name: str, logs: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    with (logs / f'{name}.log').open('wb') as log:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a process as Ctrl-C would; kill its group if it does not listen."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _tail(path: Path, num_lines: int = 15) -> str:
    time.sleep(0.2)
    lines = path.read_text(encoding='utf-8', errors='replace').splitlines()
    return '\n'.join(lines[-num_lines:])
