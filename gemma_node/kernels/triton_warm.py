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
"""Compiles many kernels at once: what is launched inside is compiled by threads, and not run."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextlib import nullcontext
import os
from typing import Any

import triton
from triton.runtime.jit import JITFunction

_MOST_THREADS = 16


def digest_compiler() -> None:
    """Have Triton digest itself, once: it is part of each kernel's name, and takes a second."""
    for module in (triton.compiler.compiler, triton.runtime.cache):
        key = getattr(module, 'triton_key', None)
        if key is not None:
            key()
            return


@contextmanager
def compiling() -> Iterator[None]:
    """Compile what is launched inside instead of running it; all of it is there at the end."""
    launch = JITFunction.run

    def compiled(self: Any, *arguments: Any, **options: Any) -> Any:
        return launch(self, *arguments, **{**options, 'warmup': True})

    threads = min(_MOST_THREADS, os.cpu_count() or 1)
    # Older releases compile one kernel after the other.
    mode = getattr(triton, 'AsyncCompileMode', lambda _: nullcontext())
    with ThreadPoolExecutor(threads) as executor, mode(executor):
        JITFunction.run = compiled
        try:
            yield
        finally:
            JITFunction.run = launch
