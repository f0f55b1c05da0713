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
"""Every kernel compiles for a GPU that is not here, without registers spilled to memory."""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys

import pytest

from gemma_node.kernels import nvrtc

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / 'benchmarks' / 'compile_kernels.py'


def _compile(cache: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, 'TRITON_INTERPRET': '0', 'TRITON_CACHE_DIR': str(cache)}
    return subprocess.run(
        [sys.executable, PROGRAM, '--arch', '90', *words],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform != 'linux', reason='Triton is there on Linux')
def test_products_of_four_bits_compile(tmp_path: Path) -> None:
    done = _compile(tmp_path, '--only', 'affine4 8')
    assert done.returncode == 0, done.stdout + done.stderr
    # Triton's three, and as many in CUDA C++ or a line that says why there are none.
    has_compiler = nvrtc.compiler() is not None
    assert done.stdout.count('"stack": 0') == (6 if has_compiler else 3)
    assert ('were not compiled' in done.stdout) is not has_compiler


@pytest.mark.slow
def test_all_kernels_compile(tmp_path: Path) -> None:
    done = _compile(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count('"stack": 0') > 40
