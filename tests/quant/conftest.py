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
Live oracles: other libraries, run as a child where they are installed.

They are looked for in this Python, in the one that GEMMA_NODE_ORACLE names, and in a folder
`oracle` beside the repository; without any, the tests that need them are skipped.
"""

from collections.abc import Callable
import os
from pathlib import Path
import subprocess
import sys

import pytest
import torch

torch.set_num_threads(1)

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / 'tests' / 'fixtures' / 'oracles'
CANDIDATES = (
    sys.executable,
    os.environ.get('GEMMA_NODE_ORACLE', ''),
    str(ROOT.parent / 'oracle' / 'bin' / 'python'),
)


def _has(python: str, module: str) -> bool:
    program = f'from importlib.util import find_spec; raise SystemExit(not find_spec("{module}"))'
    try:
        return subprocess.run([python, '-c', program], timeout=60).returncode == 0
    except OSError:
        return False


@pytest.fixture(scope='session')
def run_oracle() -> Callable[..., str]:
    """Return a runner of a program of tests/fixtures/oracles; gives what it prints."""
    pythons: dict[str, str] = {}

    def run(program: str, module: str, *arguments: object) -> str:
        if module not in pythons:
            pythons[module] = next((each for each in CANDIDATES if _has(each, module)), '')
        if not pythons[module]:
            pytest.skip(f'{module} is not installed')
        done = subprocess.run(
            [pythons[module], PROGRAMS / program, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, 'OMP_NUM_THREADS': '1', 'HF_HUB_OFFLINE': '1'},
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    return run
