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
Compile what serving runs, without serving: `gpu_warm.py CKPT [--part decode|prompt]`.

Says as it goes how many kernels are compiled; two parts may run side by side.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
import time
from typing import Any

import torch
import triton

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gpu_model import random_model  # noqa: E402

from gemma_node.backends.cuda_step import prompt_rows  # noqa: E402
from gemma_node.engine.config import EngineConfig  # noqa: E402
from gemma_node.engine.device_runner import DeviceRunner  # noqa: E402
from gemma_node.kernels import triton_ops  # noqa: E402
from gemma_node.model.weights import load_model  # noqa: E402


def main() -> None:
    """Compile, and say how it goes."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('checkpoint', nargs='?', default='')
    parser.add_argument('--part', choices=('decode', 'prompt', 'all'), default='all')
    parser.add_argument('--context', type=int, default=8192)
    parser.add_argument('--kv', default='bfloat16')
    parser.add_argument('--form', help='of random weights, in place of a checkpoint')
    arguments = parser.parse_args()
    began = time.monotonic()
    counts = {True: 0, False: 0}

    def tell(**about: Any) -> None:
        counts[about['cache_hit']] += 1
        sys.stdout.write(f'{time.monotonic() - began:.1f} s: {counts[False]} compiled, '
                         f'{counts[True]} were there, {about["metadata"].get("name")}\n')
        sys.stdout.flush()

    triton.knobs.compilation.listener = tell
    with torch.inference_mode():
        config = EngineConfig(lanes=2, context_tokens=arguments.context, state_budget_bytes=0,
                              device='cuda', compute_dtype='bfloat16')  # fmt: skip
        model = (random_model(arguments.form, 'cuda') if arguments.form
                 else load_model(arguments.checkpoint))  # fmt: skip
        runner = DeviceRunner(model, config, triton_ops, kv_dtype=arguments.kv)
        sys.stdout.write(f'{time.monotonic() - began:.1f} s: packed\n')
        sys.stdout.flush()
        prompts = sorted({prompt_rows(count) for count in range(64, 2049, 64)})
        # Products in CUDA C++ are compiled for 1, 2, 4, 8 and 16 rows.
        rows = (1, 2, 4, 8, 16)
        with triton_ops.compiling():
            runner._step._run_all(
                () if arguments.part == 'prompt' else rows,
                () if arguments.part == 'decode' else prompts,
                runner._step._passes.samples,
            )
    sys.stdout.write(f'{time.monotonic() - began:.1f} s: done\n')


if __name__ == '__main__':
    main()
