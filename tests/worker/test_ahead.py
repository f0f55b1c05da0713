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


"""What begins before torch is imported: a file is read once, a context is made where it is."""

from __future__ import annotations

import ctypes
import hashlib
import os
from pathlib import Path
import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from gemma_node import ahead
from gemma_node.backends.identity import checkpoint_digest


def _wait(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(10)


def test_a_file_is_read_once_however_many_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'model.safetensors').write_bytes(os.urandom(1 << 22))
    opened = []
    plain = Path.open

    def counted(self: Path, *each: Any, **more: Any) -> Any:
        opened.append(self.name)
        return plain(self, *each, **more)

    monkeypatch.setattr(Path, 'open', counted)
    threads = ahead.begin(str(tmp_path), 'cpu')
    found = ahead.file_digest(tmp_path / 'model.safetensors')
    checkpoint_digest(tmp_path)
    _wait(threads)
    assert opened == ['model.safetensors']
    assert found == hashlib.sha256((tmp_path / 'model.safetensors').read_bytes()).hexdigest()


def test_a_pipe_in_a_checkpoint_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / 'config.json')
    (tmp_path / 'tokenizer.json').write_text('{}')
    _wait(ahead.begin(str(tmp_path), 'cpu'))
    assert [path.name for path in ahead.checkpoint_files(tmp_path)] == ['tokenizer.json']


def test_a_folder_that_is_none_is_left_to_whoever_says_so(tmp_path: Path) -> None:
    _wait(ahead.begin(str(tmp_path / 'absent'), 'cpu'))


@pytest.mark.parametrize('present', [True, False])
def test_only_cuda_has_a_context_made(monkeypatch: pytest.MonkeyPatch, present: bool) -> None:
    calls: list[str] = []

    def call(name: str) -> Any:
        def run(*_: Any) -> int:
            calls.append(name)
            return 0

        return run

    def load(name: str) -> Any:
        if not present:
            raise OSError(name)
        return SimpleNamespace(
            cuInit=call('init'),
            cuDeviceGet=call('device'),
            cuDevicePrimaryCtxRetain=call('context'),
        )

    monkeypatch.setattr(ctypes, 'CDLL', load)
    monkeypatch.setenv('CUDA_MODULE_LOADING', 'EAGER')
    for device in ('auto', 'cpu', 'xpu'):
        assert ahead.begin('', device) == []
    _wait(ahead.begin('', 'cuda'))
    assert calls == (['init', 'device', 'context'] if present else [])
    assert os.environ['CUDA_MODULE_LOADING'] == 'EAGER'


def test_it_imports_nothing_heavy() -> None:
    code = 'import sys, gemma_node.ahead; sys.exit("torch" in sys.modules)'
    subprocess.run([sys.executable, '-c', code], check=True)
