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

"""A state that another process wrote gives the bits that a fresh prefill gives."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
import subprocess
import sys

import pytest

_PROGRAM = """
import hashlib, json, sys
from gemma_node.core import Generation, GenerationResult
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.engine import Engine
from tests.fixtures.random_model import random_model, small_config

folder, length, native = sys.argv[1], int(sys.argv[2]), sys.argv[3] == 'native'
ids = tuple((7 * n * n + 3 * n) % 197 + 2 for n in range(length))
engine = Engine(random_model(small_config()), EngineConfig(
    lanes=2, context_tokens=512, num_threads=1, state_dir=folder, native=native,
    state_budget_bytes=0 if folder == '' else 1 << 28))
digest = hashlib.sha256()
engine.set_trace(lambda _id, position, logits: digest.update(logits.tobytes()))
engine.submit(Generation(id='g', state_key='robot', prompt_ids=ids, cuts=(70, 140), max_tokens=9,
                         temperature=1.0, seed=4))
found = None
while engine.has_work:
    for event in engine.step():
        found = event if isinstance(event, GenerationResult) else found
engine.close()
print(json.dumps([digest.hexdigest(), found.token_ids, found.cached_tokens,
                  int(found.cache_source)]))
"""


def _run(folder: str, length: int, runner: str) -> list[object]:
    done = subprocess.run(
        [sys.executable, '-c', _PROGRAM, folder, str(length), runner],
        capture_output=True, check=True, text=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    found: list[object] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize('runner', ['native', 'torch'])
def test_a_second_process_resumes_with_the_bits_of_a_fresh_one(
    tmp_path: Path, runner: str
) -> None:
    first = _run(str(tmp_path), 150, runner)
    assert first[2:] == [0, 0]
    second = _run(str(tmp_path), 200, runner)
    fresh = _run('', 200, runner)
    assert second[2:] == [140 if runner == 'native' else 128, 3]
    assert fresh[2:] == [0, 0]
    assert second[:2] == fresh[:2]
    assert len(str(first[0])) == len(hashlib.sha256().hexdigest())
