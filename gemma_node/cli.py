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
The `gemma-node` command: parses, starts the one part a verb needs, prints what it says.

Heavy parts are imported by the verb that uses them. A user's mistake is one sentence on stderr
and exit code 2, never a traceback.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
import io
import os
from pathlib import Path
import signal
import sys
from types import FrameType
from typing import Any
from typing import NoReturn

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gemma_node.cli_audit import add_audit
from gemma_node.cli_bench import add_bench
from gemma_node.cli_eval import add_eval
from gemma_node.cli_inspect import add_inspect
from gemma_node.cli_inspect import EMBEDDED_CHECKPOINT
from gemma_node.cli_receipts import add_receipts
from gemma_node.cli_schema import add_schema
from gemma_node.cli_tools import add_tools
from gemma_node.cli_values import positive_seconds
from gemma_node.cli_values import print_json
from gemma_node.cli_values import ros_name
from gemma_node.cli_values import utf8_text
from gemma_node.errors import ConfigError
from gemma_node.errors import GemmaNodeError
from gemma_node.ros_env import prepare_ros
from gemma_node.ros_env import share_folder

USER_ERROR = 2
MAX_DOMAIN = 232
# As gemma_node.quant.recipes has them, which needs torch.
RECIPE_NAMES = (
    'mlx-4bit', 'mlx-4bit-ple-bf16', 'mlx-4bit-ple-bf16-attn8', 'mlx-8bit', 'nvfp4a16', 'bf16',
)  # fmt: skip


class _Parser(argparse.ArgumentParser):
    """Says a mistake in one line instead of printing the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(USER_ERROR, f'{self.prog}: {message} (see {self.prog} --help)\n')


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code."""
    arguments = _parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A locale or a file name that has no such character is no reason to fail.
        sys.stdout.reconfigure(errors='backslashreplace')
    try:
        with _unwound_by_signals():
            return int(arguments.verb(arguments, Console()))
    except GemmaNodeError as error:
        return _complain(str(error))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 141
    except OSError as error:
        return _complain(f'{error.strerror or error}: {error.filename or ""}'.rstrip(': '))


@contextmanager
def _unwound_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a verb as Ctrl-C does: no part of a file, no process is left."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        for each in before:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    # What nohup and the like ignore stays ignored.
    before = [
        number
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_DFL
    ]
    for number in before:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in before:
            signal.signal(number, signal.SIG_DFL)


def _complain(sentence: str) -> int:
    sys.stderr.write(f'gemma-node: {" ".join(sentence.split())}\n')
    return USER_ERROR


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog='gemma-node',
        description='Gemma 4 as a ROS 2 node: topics in, checked tool calls out.',
        epilog='Exit code: 0 done; 1 the answer is no (ask: an error code; doctor: something is '
        'missing; demo: a sentence went unanswered); 2 a mistake, said in a sentence; 128 + N '
        'ended by signal N.',
    )
    verbs = parser.add_subparsers(title='verbs', metavar='VERB', required=True)
    _add_run(verbs)
    _add_demo(verbs)
    _add_doctor(verbs)
    add_inspect(verbs)
    _add_convert(verbs)
    add_receipts(verbs)
    add_bench(verbs)
    _add_replay(verbs)
    _add_ask(verbs)
    add_schema(verbs)
    add_tools(verbs)
    add_eval(verbs)
    add_audit(verbs)
    return parser


def _add_run(verbs: Any) -> None:
    verb = verbs.add_parser(
        'run',
        help='start the node',
        description='Start the gemma_node lifecycle node; what follows --ros-args goes to ROS.',
    )
    verb.add_argument(
        '--params-file',
        type=Path,
        metavar='FILE',
        help='parameter file (default: config/gemma_node.yaml of the package)',
    )
    verb.add_argument('--model', metavar='FOLDER', help='checkpoint folder (model.path)')
    verb.add_argument('--device', choices=('auto', 'cpu', 'cuda', 'xpu'), help='where to compute')
    verb.add_argument('--namespace', metavar='NS', help='ROS namespace of the node')
    verb.add_argument('--log-level', choices=('debug', 'info', 'warn', 'error', 'fatal'))
    verb.add_argument('--ros-args', nargs=argparse.REMAINDER, default=[], help='passed on to ROS')
    verb.set_defaults(verb=_run)


def _run(arguments: argparse.Namespace, console: Console) -> int:
    ros_arguments = node_arguments(arguments)
    _prepare_ros()
    from gemma_node.ros.main import main as run_node

    return int(run_node(ros_arguments) or 0)


def node_arguments(arguments: argparse.Namespace) -> list[str]:
    """Return the ROS arguments that the verb's options stand for."""
    rest = list(arguments.ros_args)
    built: list[str] = []
    if arguments.params_file is not None:
        if not arguments.params_file.is_file():
            raise ConfigError(f'there is no parameter file at {arguments.params_file}')
        built += ['--params-file', str(arguments.params_file)]
    elif '--params-file' not in rest:
        built += ['--params-file', str(share_folder() / 'config' / 'gemma_node.yaml')]
    if arguments.model is not None:
        built += ['-p', f'model.path:={arguments.model}']
    if arguments.device is not None:
        built += ['-p', f'device:={arguments.device}']
    if arguments.namespace is not None:
        built += ['-r', f'__ns:=/{arguments.namespace.strip("/")}']
    if arguments.log_level is not None:
        built += ['--log-level', arguments.log_level]
    return ['--ros-args', *built, *rest]


def _prepare_ros() -> None:
    domain = os.environ.get('ROS_DOMAIN_ID', '')
    if domain and not (domain.isdecimal() and int(domain) <= MAX_DOMAIN):
        raise ConfigError(f'ROS_DOMAIN_ID must be 0 to {MAX_DOMAIN}, found {domain!r}')
    prepare_ros()
    try:
        import rclpy  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            f'ROS 2 cannot be imported ({error}): source your ROS 2, or install the wheels with '
            "pip install '.[ros]'; `gemma-node doctor` lists what is missing"
        ) from error


def _add_demo(verbs: Any) -> None:
    verb = verbs.add_parser(
        'demo',
        help='two simulated robots, the node and an operator; ends by itself',
        description='Run the demo: simulated robots, the node, an operator, and a summary.',
    )
    verb.add_argument('--say', type=utf8_text, metavar='TEXT', help='say this sentence instead')
    verb.add_argument('--robot', default='r1', help='the robot that --say speaks to')
    verb.add_argument('--model', default='', metavar='FOLDER', help='a checkpoint of your own')
    verb.set_defaults(verb=_demo)


def _demo(arguments: argparse.Namespace, console: Console) -> int:
    _prepare_ros()
    from gemma_node.demo.main import ROBOTS
    from gemma_node.demo.main import run_demo

    if arguments.robot not in ROBOTS:
        raise ConfigError(f'unknown robot {arguments.robot!r}; robots are: {", ".join(ROBOTS)}')
    return run_demo(
        console, say=arguments.say, robot=arguments.robot, model=arguments.model
    )


def _add_doctor(verbs: Any) -> None:
    verb = verbs.add_parser(
        'doctor',
        help='what this machine has and what is missing',
        description='Look at Python, torch, devices, ROS packages and the checkpoint.',
    )
    verb.add_argument('--model', type=Path, default=EMBEDDED_CHECKPOINT, metavar='FOLDER')
    verb.add_argument('--json', action='store_true', help='print JSON')
    verb.set_defaults(verb=_doctor)


def _doctor(arguments: argparse.Namespace, console: Console) -> int:
    from gemma_node.cli_doctor import as_report
    from gemma_node.cli_doctor import is_missing
    from gemma_node.cli_doctor import run_checks

    checks = run_checks(arguments.model)
    if arguments.json:
        print_json(console, as_report(checks))
    else:
        table = Table('', 'what', box=None)
        table.add_column('found', overflow='fold')
        for check in checks:
            colour = {'ok': 'green', 'missing': 'red'}.get(check.state, 'yellow')
            table.add_row(f'[{colour}]{check.state}', check.name, escape(check.text))
        console.print(table)
        verdict = 'something needed is missing' if is_missing(checks) else 'ready to run'
        console.print(verdict)
    return 1 if is_missing(checks) else 0


def _add_convert(verbs: Any) -> None:
    verb = verbs.add_parser(
        'convert',
        help='write a checkpoint in another form',
        description='Convert a checkpoint folder by a recipe, some rows at a time; the new folder '
        'appears whole or not at all. After Ctrl-C the same command goes on where it was.',
    )
    verb.add_argument('source', type=Path, metavar='SRC', help='checkpoint folder')
    verb.add_argument('destination', type=Path, metavar='DST', help='folder that is made')
    verb.add_argument('--recipe', required=True, choices=RECIPE_NAMES)
    verb.add_argument(
        '--rounding',
        choices=('cpu', 'metal'),
        default='cpu',
        help="whose bytes the mlx recipes give: MLX's CPU backend or its Metal kernel (the "
        'latter from its source, not compared on a Mac)',
    )
    verb.add_argument('--json', action='store_true', help='print JSON')
    verb.set_defaults(verb=_convert)


def _convert(arguments: argparse.Namespace, console: Console) -> int:
    from gemma_node.cli_convert import run_conversion

    report = run_conversion(
        arguments.source,
        arguments.destination,
        recipe=arguments.recipe,
        rounding=arguments.rounding,
    )
    if arguments.json:
        print_json(console, report)
        return 0
    console.print(
        f'{report["quantised"]} of {report["matrices"]} matrices quantised, '
        f'{report["tensor_bytes"]:,} bytes of tensors -> {report["folder"]}',
        highlight=False,
        soft_wrap=True,
    )
    if report['unverified']:
        console.print(f'unverified: {report["unverified"]}', highlight=False, soft_wrap=True)
    return 0


def _add_replay(verbs: Any) -> None:
    verb = verbs.add_parser(
        'replay',
        help='decide on a recording; no ROS needed',
        description='Replay a recording (rosbag2 folder, .mcap, .db3 or ROS 1 .bag) into JSON '
        'lines. Without --config every standard topic is an input and one question is asked for '
        'every 5 s.',
    )
    verb.add_argument('bag', type=Path, metavar='BAG')
    verb.add_argument('--out', type=Path, required=True, metavar='FILE', help='JSON lines')
    verb.add_argument('--config', type=Path, metavar='FILE', help="the node's parameter file")
    verb.set_defaults(verb=_replay)


def _replay(arguments: argparse.Namespace, console: Console) -> int:
    from gemma_node.replay.run import replay

    with Console(stderr=True).status('reading the recording') as status:
        summary = replay(
            arguments.bag,
            arguments.out,
            config=arguments.config,
            on_decision=lambda so_far: status.update(f'{so_far.decisions} decisions'),
        )
    counts = ', '.join(f'{count} {name}' for name, count in sorted(summary.outcomes.items()))
    plural = '' if summary.decisions == 1 else 's'
    line = (
        f'{summary.messages} messages over {summary.seconds:.1f} s, {summary.decisions} '
        f'decision{plural}{f" ({counts})" if counts else ""} -> {arguments.out}'
    )
    # What is no file may be stdout itself.
    stream = console if arguments.out.is_file() else Console(stderr=True)
    stream.print(line, markup=False, highlight=False, soft_wrap=True)
    return 0


def _add_ask(verbs: Any) -> None:
    verb = verbs.add_parser(
        'ask',
        help='ask a running node and print its decision',
        description='Publish one DecisionRequest and print the Decision that answers it.',
    )
    verb.add_argument(
        'robot', type=utf8_text, metavar='ROBOT', help="name of the robot; '' if there is one"
    )
    verb.add_argument('text', type=utf8_text, metavar='TEXT', help='the question or order')
    verb.add_argument(
        '--node', type=ros_name, default='/gemma_node', help='full name of the node'
    )
    verb.add_argument(
        '--timeout', type=positive_seconds, default=30.0, metavar='S', help='seconds to wait (30)'
    )
    verb.add_argument('--json', action='store_true', help='print JSON')
    verb.set_defaults(verb=_ask)


def _ask(arguments: argparse.Namespace, console: Console) -> int:
    _prepare_ros()
    from gemma_node.ros.ask import ask

    decision = ask(
        arguments.robot, arguments.text, node=arguments.node, timeout_s=arguments.timeout
    )
    if arguments.json:
        print_json(console, decision)
    else:
        console.print(_decision_text(decision), highlight=False, markup=False, soft_wrap=True)
    return 0 if decision['error_code'] == 'NONE' else 1


def _decision_text(decision: dict[str, Any]) -> str:
    lines = [f'{decision["robot"]}: {decision["outcome"]}']
    if decision['error_msg']:
        lines[0] += f' {decision["error_code"]}: {decision["error_msg"]}'
    if decision['text']:
        lines.append(f'  says {decision["text"]!r}')
    for call in decision['calls']:
        lines.append(f'  calls {call["name"]} {call["arguments"]}: {call["verdict"]}')
        lines += [f'    {sentence}' for sentence in call['violations']]
    return '\n'.join(lines)


if __name__ == '__main__':
    sys.exit(main())
