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
Compile what serving runs, in several processes at once: `gpu_warm.py CKPT --processes 6`.

Each takes some numbers of prompt rows or decode rows; all fill one folder of compiled kernels.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import subprocess
import sys
import time

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

DECODE = (8, 16)
PROMPTS = (*range(64, 513, 64), *range(768, 2049, 256))


def serve(arguments: argparse.Namespace, work: list[int]) -> None:
    """Compile some of it."""
    import torch

    from gemma_node.engine.config import EngineConfig
    from gemma_node.engine.device_runner import DeviceRunner
    from gemma_node.kernels import triton_ops
    from gemma_node.model.weights import load_model

    with torch.inference_mode():
        config = EngineConfig(lanes=2, context_tokens=arguments.context, state_budget_bytes=0,
                              device='cuda', compute_dtype='bfloat16')  # fmt: skip
        runner = DeviceRunner(load_model(arguments.checkpoint), config, triton_ops,
                              kv_dtype=arguments.kv)  # fmt: skip
        runner._step._graphs = False
        rows = [each for each in work if each in DECODE]
        runner._step.warm_up(rows, [each for each in work if each not in DECODE])


def main() -> None:
    """Start the processes and wait for them."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('checkpoint')
    parser.add_argument('--processes', type=int, default=6)
    parser.add_argument('--context', type=int, default=8192)
    parser.add_argument('--kv', default='bfloat16')
    parser.add_argument('--work', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        serve(arguments, json.loads(arguments.work))
        return
    began = time.monotonic()
    work = [*DECODE, *PROMPTS]
    running = [
        subprocess.Popen([
            sys.executable, __file__, arguments.checkpoint, '--context', str(arguments.context),
            '--kv', arguments.kv, '--work', json.dumps(work[part :: arguments.processes]),
        ])
        for part in range(arguments.processes)
    ]  # fmt: skip
    codes = [each.wait() for each in running]
    sys.stdout.write(f'compiled in {time.monotonic() - began:.1f} s, {codes}\n')


if __name__ == '__main__':
    main()
