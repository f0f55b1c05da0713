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
Runs the node: one SingleThreadedExecutor, Python's logging sent to ROS, an orderly end.

SIGINT, SIGTERM and SIGHUP close the gate, cancel goals and see them confirmed before the node
goes; all end with exit code 0. A second signal does not wait for confirmation.
"""

from __future__ import annotations

from collections.abc import Sequence
import logging
import re
import signal
import sys
import time
from types import FrameType

import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.executors import ExternalShutdownException
from rclpy.executors import SingleThreadedExecutor
from rclpy.logging import get_logger
from rclpy.logging import LoggingSeverity
from rclpy.signals import SignalHandlerOptions

from gemma_node.errors import ConfigError
from gemma_node.ros.node import GemmaNode
from gemma_node.tools.yaml_reader import read_yaml

CONFIRM_LIMIT_S = 4.0
ROS_ERROR = re.compile(r"Couldn't parse [^\n]*")
_SPIN_S = 0.1


class RosLogHandler(logging.Handler):
    """Sends records of Python's logging to the ROS logger."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log at the nearest ROS severity."""
        severity = LoggingSeverity(max(10, min(50, record.levelno // 10 * 10)))
        get_logger('gemma_node').log(f'{record.name}: {record.getMessage()}', severity)


class Signals:
    """Counts SIGINT, SIGTERM and SIGHUP instead of letting them tear the context down."""

    def __init__(self) -> None:
        self.count = 0
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # What nohup ignores stays ignored.
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._take)

    def _take(self, number: int, frame: FrameType | None) -> None:
        self.count += 1


def readable_arguments(args: Sequence[str]) -> tuple[list[str], str]:
    """
    Leave out parameter files that cannot be read; return the rest, and what was wrong.

    ROS ends the process on such a file and takes the last of two equal keys; here the node comes
    up and refuses to configure.
    """
    kept: list[str] = []
    problem = ''
    rest = iter(args)
    for argument in rest:
        if argument != '--params-file':
            kept.append(argument)
            continue
        path = next(rest, '')
        try:
            read_yaml(path)
        except (ConfigError, OSError) as error:
            problem = problem or str(error)
        else:
            kept += [argument, path]
    return kept, problem


def start_ros(arguments: Sequence[str]) -> str:
    """
    Start rclpy; without the parameter files where ROS cannot take them, and say what was wrong.

    ROS refuses some files that are YAML, such as lists of mixed types. Raises RCLError for
    arguments that are wrong themselves.
    """
    try:
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    except RCLError as error:
        rest = _without_files(arguments)
        if len(rest) == len(arguments):
            raise
        rclpy.init(args=rest, signal_handler_options=SignalHandlerOptions.NO)
        return _reason(error)
    return ''


def _without_files(arguments: Sequence[str]) -> list[str]:
    files = {index for index, argument in enumerate(arguments) if argument == '--params-file'}
    return [argument for index, argument in enumerate(arguments)
            if index not in files and index - 1 not in files]


def _reason(error: RCLError) -> str:
    """Return what ROS says is wrong, without the places in its own source."""
    found = ROS_ERROR.search(str(error))
    return re.sub(r',? at /\S+', '', found[0] if found else str(error))


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until a signal; return the exit code."""
    signals = Signals()
    arguments, problem = readable_arguments(sys.argv if args is None else args)
    try:
        problem = start_ros(arguments) or problem
    except RCLError as error:
        sys.stderr.write(f'gemma_node: {_reason(error)}\n')
        return 2
    logging.getLogger('gemma_node').addHandler(RosLogHandler())
    logging.getLogger('gemma_node').setLevel(logging.INFO)
    node = GemmaNode(problem=problem)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        while signals.count == 0 and rclpy.ok():
            executor.spin_once(timeout_sec=_SPIN_S)
        node.begin_shutdown()
        deadline_s = time.monotonic() + CONFIRM_LIMIT_S
        while node.num_goals and signals.count < 2 and time.monotonic() < deadline_s:
            executor.spin_once(timeout_sec=_SPIN_S)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        executor.remove_node(node)
        node.destroy_node()
        executor.shutdown()
        rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
