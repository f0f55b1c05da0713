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
Process start to first decision, and a killed worker to serving: `gpu_start.py CKPT --out FILE`.

Each start is a process of its own that assembles the worker and makes one decision; the time runs
from before it is started. Kernels that Triton compiles are counted, before and in the decision. A
worker that is killed is started again by nothing more than such a start.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def timed(call: Callable[..., Any], name: str, parts: dict[str, float]) -> Callable[..., Any]:
    """Return what does the same and adds up its seconds."""

    def run(*each: Any, **more: Any) -> Any:
        began = time.perf_counter()
        try:
            return call(*each, **more)
        finally:
            parts[name] += time.perf_counter() - began

    return run


def serve(arguments: argparse.Namespace) -> None:
    """Assemble, decide once, say what took how long, and wait to be ended."""
    imported = time.time()
    # As the worker does.
    from gemma_node import ahead

    ahead.begin(arguments.checkpoint, 'cuda')
    from gpu_decision import CALL
    from gpu_decision import decide
    from gpu_decision import settings_of
    from gpu_decision import Teacher
    import torch
    import triton

    from gemma_node import assemble as assembler
    from gemma_node.assemble import assemble
    from gemma_node.backends.cuda_step import DeviceModel
    from gemma_node.engine import producer

    # Whether each kernel that was made ready came from the cache.
    compiled: list[bool] = []
    triton.knobs.compilation.listener = lambda **about: compiled.append(about['cache_hit'])
    times: list[tuple[str, float]] = [('imported', time.time())]
    parts: dict[str, float] = defaultdict(float)
    for owner, name in ((assembler, 'checkpoint_digest'), (assembler, 'load_model'),
                        (DeviceModel, '__init__'), (DeviceModel, '_run_all'),
                        (DeviceModel, '_run'), (torch.cuda.CUDAGraph, 'capture_end')):
        setattr(owner, name, timed(getattr(owner, name), name, parts))
    worker = settings_of(arguments.checkpoint, 'cuda', allow_unverified=True, lanes=8)
    with torch.inference_mode():
        assembly = assemble(worker, lambda _share, text: times.append((text, time.time())))
        teacher = Teacher(assembly, CALL)
        producer.draw = teacher.draw  # type: ignore[assignment]
        before, loaded = compiled.count(False), len(compiled)
        answer = decide(assembly, 1, 'Drive to the shelf at 1.25, -3.4 facing 90 degrees.')
        decided = time.time()
        second = time.perf_counter()
        decide(assembly, 2, 'Drive to the shelf at 1.25, -3.4 facing 90 degrees, please.')
        second = time.perf_counter() - second
    report = {
        'began': imported, 'decided': decided,
        'stages_s': {text: round(at - imported, 2) for text, at in times},
        'parts_s': {name: round(seconds, 2) for name, seconds in parts.items()},
        'first_decision_ms': round(1e3 * (decided - times[-1][1]), 1),
        'second_decision_ms': round(1e3 * second, 1),
        'kernels': loaded, 'kernels_compiled': before,
        'kernels_in_first_decision': len(compiled) - loaded,
        'error': answer.error_msg, 'calls': [call.name for call in answer.calls],
        'runner': assembly.engine.runner_identity,
    }  # fmt: skip
    sys.stdout.write(json.dumps(report) + '\n')
    sys.stdout.flush()
    sys.stdin.read()


def start(arguments: argparse.Namespace, name: str, **environment: str) -> dict[str, Any]:
    """Return the times of one start; the process is killed at the end."""
    command = [sys.executable, __file__, arguments.checkpoint, '--out', '-', '--serve']
    began = time.time()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, **environment},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        found: dict[str, Any] = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        process.wait()
    return {'name': name, 'first_decision_s': round(found.pop('decided') - began, 2),
            'until_python_runs_s': round(found.pop('began') - began, 2), **found}  # fmt: skip


def main() -> None:
    """Measure, write the file, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('checkpoint')
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--cold', type=Path, help='a fresh folder of compiled kernels')
    parser.add_argument('--serve', action='store_true', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments)
        return
    starts = []
    plans: list[tuple[str, dict[str, str]]] = [('warm', {}), ('again after SIGKILL', {})]
    if arguments.cold:
        plans.insert(0, ('kernel cache cold', {'TRITON_CACHE_DIR': str(arguments.cold)}))
    for name, environment in plans:
        starts.append(start(arguments, name, **environment))
        sys.stdout.write(f'{starts[-1]}\n')
        sys.stdout.flush()
        arguments.out.write_text(json.dumps({'starts': starts}, indent=1) + '\n')


if __name__ == '__main__':
    main()
