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


"""Scheduling and sequences never load torch: the node's side may import them."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize('name', ['config', 'sequence', 'scheduler'])
def test_torch_is_not_loaded(name: str) -> None:
    code = (
        'import sys, importlib\n'
        f'importlib.import_module("gemma_node.engine.{name}")\n'
        'sys.exit("torch" in sys.modules)'
    )
    assert subprocess.run([sys.executable, '-c', code], check=False).returncode == 0
