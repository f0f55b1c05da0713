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

from pathlib import Path
import subprocess
import tempfile
import time

from rich.console import Console

from gemma_node.demo.domain import own_domain
from gemma_node.demo.processes import running
from gemma_node.demo.script import load_steps
from gemma_node.demo.script import Step
from gemma_node.demo.table import LiveTable
from gemma_node.errors import ConfigError

READY_TIMEOUT_S = 180.0
ROBOTS = ('r1', 'r2')


def run_demo(
    console: Console, *, say: str | None = None, robot: str = ROBOTS[0], model: str = ''
) -> int:
    """
    Play the script, or one sentence of the user's, and return the exit code.

    Returns 0 when every sentence got its decision, 1 when the node did not come up or died.
    Raises ConfigError for a checkpoint that is not there.
    """
    if model and not Path(model).is_dir():
        raise ConfigError(f'there is no checkpoint folder at {model}')
    steps = load_steps() if say is None else (Step(robot=robot, say=say, wait='done'),)
    arguments = ('-m', 'gemma_node.cli', 'run', *(('--model', model) if model else ()))
    with own_domain(), tempfile.TemporaryDirectory(prefix='gemma_demo_') as folder:
        logs = Path(folder)
        with (
            running('robots', logs, '-m', 'gemma_node.demo.robots') as robots,
            running('node', logs, *arguments) as node,
        ):
            checkpoint = model or 'the embedded checkpoint'
            starting = f'starting: two simulated robots, gemma_node, {checkpoint}'
            console.print(starting, markup=False, highlight=False)
            return _operate(console, steps, {'robots': robots, 'node': node}, logs)


def _operate(
    console: Console,
    steps: tuple[Step, ...],
    processes: dict[str, subprocess.Popen[bytes]],
    logs: Path,
) -> int:
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    from gemma_node.demo.operator import Operator

    def dead() -> str:
        return next((name for name, one in processes.items() if one.poll() is not None), '')

    # Signals stay Python's: they unwind this process, which ends the others.
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    operator = Operator(ROBOTS, LiveTable(console))
    try:
        operator.spin_until(lambda: operator.is_ready() or bool(dead()), READY_TIMEOUT_S)
        if dead() or not operator.is_ready():
            name = dead() or 'node'
            console.print(f'[red]the {name} process is not serving; its last words:')
            console.print(_tail(logs / f'{name}.log'), markup=False, highlight=False)
            return 1
        assert operator.info is not None
        ready = f'ready: {operator.info.model or "embedded"} on {operator.info.device}'
        console.print(ready, markup=False, highlight=False)
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


def _tail(path: Path, num_lines: int = 15) -> str:
    time.sleep(0.2)
    lines = path.read_text(encoding='utf-8', errors='replace').splitlines()
    return '\n'.join(lines[-num_lines:])
