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
What a worker can begin before it imports torch: digests of its files, and the device's context.

Both take seconds in which the interpreter is free. Who needs them later waits for what is left.
"""

from __future__ import annotations

from collections import defaultdict
import ctypes
from functools import lru_cache
import hashlib
import os
from pathlib import Path
import threading

_CHECKPOINT_PATTERNS = ('*.json', '*.jinja', '*.safetensors')
_DRIVER = 'libcuda.so.1'
_locks: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)


def begin(model_path: str, device: str) -> list[threading.Thread]:
    """Begin what a checkpoint and a device need; return the threads, which nobody has to join."""
    jobs = []
    if model_path:
        jobs.append(threading.Thread(
            target=_digest_all, args=(Path(model_path).expanduser(),), daemon=True
        ))  # fmt: skip
    # With auto the device may turn out to be another.
    if device == 'cuda':
        jobs.append(threading.Thread(target=_make_context, daemon=True))
    for job in jobs:
        job.start()
    return jobs


def checkpoint_files(folder: Path) -> list[Path]:
    """Return the files that are read from a checkpoint, by name."""
    files = {path.name: path for pattern in _CHECKPOINT_PATTERNS for path in folder.glob(pattern)}
    # Opening a pipe would wait for its other end.
    return [path for _, path in sorted(files.items()) if path.is_file()]


def file_digest(path: Path) -> str:
    """Return a file's sha256; who asks while another thread reads it waits for that one."""
    status = path.stat()
    with _locks[path]:
        return _digest_of(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4096)
def _digest_of(path: Path, size: int, mtime_ns: int) -> str:
    digest = hashlib.sha256()
    with path.open('rb') as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _digest_all(folder: Path) -> None:
    try:
        for path in checkpoint_files(folder):
            file_digest(path)
    except OSError:
        pass  # whoever needs it says what is wrong


def _make_context() -> None:
    """Start the driver and make the first device's context, which torch then finds."""
    # As torch sets it where nobody has.
    os.environ.setdefault('CUDA_MODULE_LOADING', 'LAZY')
    try:
        driver = ctypes.CDLL(_DRIVER)
    except OSError:
        return
    device, context = ctypes.c_int(), ctypes.c_void_p()
    if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(device), 0):
        return
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
