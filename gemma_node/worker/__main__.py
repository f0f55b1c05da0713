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
The worker process: ``python -m gemma_node.worker --fd N``, started by the client only.

Speaks frames on the inherited socket, logs to stderr, never writes to stdout, ignores SIGINT
(the node decides) and does not outlive its parent.
"""

from __future__ import annotations

import argparse
import ctypes
import logging
import os
import signal
import socket
import sys
import threading

from gemma_node.worker.frames import FrameSocket
from gemma_node.worker.link import DEFAULT_ASSEMBLER
from gemma_node.worker.loop import WorkerLoop

_PR_SET_PDEATHSIG = 1
_EXIT_GRACE_S = 2.0


def main() -> int:
    """Serve the node on the other end of the socket; return the exit code."""
    parser = argparse.ArgumentParser(prog='python -m gemma_node.worker', description=__doc__)
    parser.add_argument('--fd', type=int, required=True, help='inherited stream socket')
    parser.add_argument('--assembler', default=DEFAULT_ASSEMBLER, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with_parent()
    os.dup2(2, 1)
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format='[worker] %(levelname)s %(name)s: %(message)s',
    )
    try:
        stream = socket.socket(fileno=arguments.fd)
    except OSError as error:
        parser.error(f'--fd {arguments.fd} is not a socket: {error.strerror}')
    stream.set_inheritable(False)
    is_over = threading.Event()

    def leave_soon() -> None:
        if not is_over.wait(_EXIT_GRACE_S):
            os._exit(0)

    try:
        return WorkerLoop(FrameSocket(stream), arguments.assembler, on_closed=leave_soon).run()
    finally:
        is_over.set()
        stream.close()


def _die_with_parent() -> None:
    """Ask Linux for SIGKILL when the parent's thread ends; elsewhere the closed socket does it."""
    if sys.platform == 'linux':
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


if __name__ == '__main__':
    sys.exit(main())
