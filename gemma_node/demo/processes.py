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
"""Starts the demo's processes and sees to it that none of them outlives it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import ctypes
import os
from pathlib import Path
import signal
import subprocess
import sys

STOP_TIMEOUT_S = 10.0
_PR_SET_PDEATHSIG = 1


@contextmanager
def running(name: str, logs: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run Python with these arguments, its output in `logs`, until the block ends."""
    with (logs / f'{name}.log').open('wb') as log:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_end_with_parent if sys.platform == 'linux' else None,
        )
        try:
            yield process
        finally:
            _stop(process)


def _end_with_parent() -> None:
    """Ask Linux for SIGTERM when the parent is gone, even killed: then nobody else ends us."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a process as Ctrl-C would; kill its group if it, or the user, does not wait."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
