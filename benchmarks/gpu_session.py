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
One visit to a GPU: tests, kernels, steps; `gpu_session.py OUT [--minutes 9]`.

Runs the most valuable first, each in a process of its own with a limit, so that a crash or a hang
costs one stage; what is left when time is up is said. Writes a log and a JSON file for each.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
import subprocess
import sys
import time

ROOT = Path(__file__).resolve().parents[1]
PYTEST = (
    '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-m', 'gpu', '--timeout', '150',
    'tests/kernels/test_triton_matmul.py', 'tests/kernels/test_triton_rows.py',
    'tests/backends/test_cuda_step.py',
)  # fmt: skip


def stages(out: Path) -> list[tuple[str, float, list[str]]]:
    """Return name, longest seconds and command of each stage, in order."""

    def step(name: str, *more: str) -> list[str]:
        return ['benchmarks/gpu_step.py', '--out', str(out / f'{name}.json'), *more]

    kernels = ['benchmarks/gpu_kernels.py', '--out']
    return [
        ('tests', 170, [*PYTEST, '-n', '8']),
        ('step 4bit', 110, step('step_4bit')),
        ('tune', 150, ['benchmarks/gpu_tune.py', '--out', str(out / 'tune.json'), '--tune']),
        ('equal bits', 120, ['benchmarks/gpu_exact.py', '--out', str(out / 'exact.json')]),
        ('error', 60, ['benchmarks/gpu_error.py', '--out', str(out / 'error.json')]),
        ('prompt', 60, ['benchmarks/gpu_prompt.py', '--out', str(out / 'prompt.json')]),
        ('step bf16', 70, step('step_bf16', '--form', 'bf16')),
        ('kernels', 90, [*kernels, str(out / 'kernels.json')]),
        ('step nvfp4', 60, step('step_nvfp4', '--form', 'nvfp4', '--lanes', '1', '8')),
        ('step 4bit fp8 cache', 60, step('step_4bit_fp8kv', '--kv', 'float8', '--lanes', '1')),
        ('step 4bit table on host', 60, step('step_4bit_host', '--ple-on-host', '--lanes', '1')),
        ('step fp8', 60, step('step_fp8', '--form', 'fp8', '--lanes', '1')),
        ('step 8bit', 60, step('step_8bit', '--form', '8bit', '--lanes', '1')),
    ]


def main() -> int:
    """Run what fits into the time; return how many stages failed."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('out', type=Path)
    parser.add_argument('--minutes', type=float, default=9.0)
    parser.add_argument('--only', nargs='+', help='names of stages')
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * arguments.minutes
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'TRITON_INTERPRET': '0'}
    environment.setdefault('TRITON_CACHE_DIR', str(Path.home() / '.triton' / 'cache'))
    report = []
    for name, limit, command in stages(out):
        if arguments.only and name not in arguments.only:
            continue
        left = end - time.monotonic()
        if left < 20:
            report.append({'stage': name, 'result': 'not run: no time left'})
            continue
        log = out / f'{name.replace(" ", "_")}.log'
        began = time.monotonic()
        with log.open('w') as file:
            try:
                done = subprocess.run(
                    [sys.executable, *command], cwd=ROOT, env=environment, stdout=file,
                    stderr=subprocess.STDOUT, timeout=min(limit, left), check=False,
                )  # fmt: skip
                result = 'done' if done.returncode == 0 else f'exit code {done.returncode}'
            except subprocess.TimeoutExpired:
                result = 'out of time'
        seconds = round(time.monotonic() - began, 1)
        report.append({'stage': name, 'result': result, 'seconds': seconds})
        lines = log.read_text(errors='replace').splitlines()
        sys.stdout.write(f'== {name}: {result}, {seconds} s\n')
        sys.stdout.write(''.join(f'{line[:220]}\n' for line in lines[-24:]))
        sys.stdout.flush()
        (out / 'session.json').write_text(json.dumps(report, indent=1) + '\n')
    (out / 'session.json').write_text(json.dumps(report, indent=1) + '\n')
    return sum(each['result'] != 'done' for each in report)


if __name__ == '__main__':
    sys.exit(main())
