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


"""One life of a worker: a child process, or a thread of this one. Knows frames, not requests."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
import signal
import socket
import subprocess
import sys
import threading
from typing import Protocol

from gemma_node.errors import ConfigError
from gemma_node.worker.frames import FrameSocket

DEFAULT_ASSEMBLER = 'gemma_node.assemble'


class Link(Protocol):
    """What the client needs of a worker's life."""

    frames: FrameSocket

    def kill(self) -> None:
        """End it by force, from any thread; its socket closes. A thread can only be let go."""

    def reap(self, timeout_s: float) -> str:
        """Wait for its end, by force after the timeout, and return how it ended."""

    def is_gone(self) -> bool:
        """Return whether nothing of it runs any more."""


class ProcessLink:
    """
    A child process in its own session, with one end of a socket pair.

    Create it in a thread that outlives it: Linux ends the child with the thread that made it.
    """

    def __init__(self, python: str, assembler: str) -> None:
        ours, theirs = socket.socketpair()
        command = [python or sys.executable, '-m', 'gemma_node.worker']
        command += ['--fd', str(theirs.fileno()), '--assembler', assembler]
        with theirs:
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=2,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                    env=_environment(),
                )
            except OSError as error:
                ours.close()
                raise ConfigError(
                    f'the worker cannot be started with {command[0]}: {error.strerror}; '
                    f'set engine.python to a Python 3.10 or newer with gemma_node installed'
                ) from error
        self.frames = FrameSocket(ours)

    @property
    def pid(self) -> int:
        """Return the process id, which is also its process group."""
        return self._process.pid

    def kill(self) -> None:
        """End the process and what it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def reap(self, timeout_s: float) -> str:
        """Wait for the end, by force after the timeout, and return how it ended."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
        code = self._process.wait()
        self.kill()
        self.frames.close()
        if code < 0:
            return f'the worker process was ended by {signal.Signals(-code).name}'
        return f'the worker process ended with exit code {code}'

    def is_gone(self) -> bool:
        """Return whether the process was reaped."""
        return self._process.returncode is not None


class ThreadLink:
    """
    The worker loop in a thread of this process, over the same frames.

    It cannot be killed: after `kill` it ends when its step returns.
    """

    def __init__(self, assembler: str) -> None:
        ours, theirs = socket.socketpair()
        self.frames = FrameSocket(ours)
        self._theirs = FrameSocket(theirs)
        self._thread = threading.Thread(
            target=self._run, args=(assembler,), name='gemma worker', daemon=True
        )
        self._thread.start()

    def kill(self) -> None:
        """Close the socket, which the loop takes as its order to end."""
        self.frames.close()

    def reap(self, timeout_s: float) -> str:
        """Wait for the end of the thread, but no longer than the timeout."""
        self.frames.close()
        self._thread.join(timeout_s)
        return 'the worker thread ended' if self.is_gone() else 'the worker thread hangs'

    def is_gone(self) -> bool:
        """Return whether the thread ended."""
        return not self._thread.is_alive()

    def _run(self, assembler: str) -> None:
        from gemma_node.worker.loop import WorkerLoop

        try:
            WorkerLoop(self._theirs, assembler).run()
        finally:
            self._theirs.close()


def _environment() -> dict[str, str]:
    """Return our environment; a source tree is put on the child's path, site-packages are not."""
    environment = dict(os.environ)
    root = Path(__file__).resolve().parents[2]
    if root.name not in ('site-packages', 'dist-packages'):
        paths = [str(root), environment.get('PYTHONPATH', '')]
        environment['PYTHONPATH'] = os.pathsep.join(path for path in paths if path)
    return environment
