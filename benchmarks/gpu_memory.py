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
Device memory of what serves, as the drop of free memory: `gpu_memory.py CKPT --out FILE`.

Each case in a process of its own, so that the context counts too; looked at when the engine is
made and warm and every lane holds a prompt as long as its context allows.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
import json
from pathlib import Path
import subprocess
import sys
import time
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gpu_step import memory_used  # noqa: E402

GIB = 1 << 30


def serve(arguments: argparse.Namespace) -> None:
    """Make an engine, fill its lanes, say what was seen, and wait to be ended."""
    import torch

    from gemma_node.engine.config import EngineConfig
    from gemma_node.engine.device_runner import DeviceRunner
    from gemma_node.engine.runner import Rows
    from gemma_node.kernels import triton_ops
    from gemma_node.model.weights import load_model

    free: list[tuple[str, int]] = []

    def look(name: str) -> None:
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        free.append((name, torch.cuda.mem_get_info()[0]))

    with torch.inference_mode():
        look('context')
        model = load_model(arguments.checkpoint)
        config = EngineConfig(
            lanes=arguments.lanes, context_tokens=arguments.context, state_budget_bytes=0,
            device='cuda', compute_dtype='bfloat16',
        )  # fmt: skip
        DeviceRunner.chunk = arguments.chunk
        runner = DeviceRunner(model, config, triton_ops, ple_on_host=arguments.ple_on_host)
        made = torch.cuda.memory_allocated()
        look('weights, pages, buffers')
        runner.warm_up()
        look('kernels, graphs')
        rng = np.random.default_rng(3)
        for lane in range(arguments.lanes):
            length = arguments.context - 8
            for start in range(0, length, runner.chunk):
                ids = rng.integers(0, model.config.vocab_size, min(runner.chunk, length - start))
                runner.forward([Rows(lane=lane, start=start, token_ids=tuple(ids.tolist()),
                                     num_prompt=length, outputs=(len(ids) - 1,))])  # fmt: skip
        for step in range(8):
            runner.forward([
                Rows(lane=lane, start=length + step, token_ids=(5,), num_prompt=length,
                     outputs=(0,))
                for lane in range(arguments.lanes)
            ])  # fmt: skip
        look('running')
        taken = {
            name: (before - now) / GIB
            for (_, before), (name, now) in pairwise(free)
        }
        report = {
            'torch_allocated': torch.cuda.memory_allocated(), 'of_that_before_warm_up': made,
            'torch_reserved': torch.cuda.memory_reserved(), 'pages_bytes': runner.nbytes,
            'pools_bytes': sum(pool.nbytes for pool in runner._step.pools),
            'taken_gib': {name: round(value, 3) for name, value in taken.items()},
        }  # fmt: skip
    sys.stdout.write(json.dumps(report) + '\n')
    sys.stdout.flush()
    sys.stdin.read()


def measure(arguments: argparse.Namespace, *, on_host: bool) -> dict[str, Any]:
    """Return what one case takes."""
    before = memory_used()
    command = [sys.executable, __file__, arguments.checkpoint, '--out', '-', '--serve',
               '--lanes', str(arguments.lanes), '--context', str(arguments.context),
               '--chunk', str(arguments.chunk)]  # fmt: skip
    command += ['--ple-on-host'] if on_host else []
    began = time.monotonic()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        line = process.stdout.readline()
        used = memory_used() - before
        process.stdin.close()
        process.wait()
    found = json.loads(line)
    return {
        'table': 'host' if on_host else 'device', 'lanes': arguments.lanes,
        'context': arguments.context, 'prompt_rows': arguments.chunk,
        'drop_gib': round(used / 1024, 3),
        'seconds': round(time.monotonic() - began, 1),
        'taken_gib': found.pop('taken_gib'),
        **{name: round(value / GIB, 3) for name, value in found.items()},
    }  # fmt: skip


def main() -> None:
    """Measure both cases, write the file, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('checkpoint')
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--lanes', type=int, default=8)
    parser.add_argument('--context', type=int, default=4096)
    parser.add_argument('--chunk', type=int, default=2048, help='rows of a prompt pass')
    parser.add_argument('--serve', action='store_true', help=argparse.SUPPRESS)
    parser.add_argument('--ple-on-host', action='store_true', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments)
        return
    cases = []
    for on_host in (True, False):
        cases.append(measure(arguments, on_host=on_host))
        sys.stdout.write(f'{cases[-1]}\n')
        sys.stdout.flush()
        arguments.out.write_text(json.dumps({'cases': cases}, indent=1) + '\n')


if __name__ == '__main__':
    main()
