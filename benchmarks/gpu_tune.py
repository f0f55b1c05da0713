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
Tune and take apart the decode step where it runs: `gpu_tune.py --form 4bit --out FILE`.

Times the graph of a whole step, so that a tiling is judged beside its neighbours: with one kind
of launch left out at a time, and with other tilings of one matrix at a time, keeping the best.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
import itertools
import json
import multiprocessing
from pathlib import Path
import sys
import time
from types import SimpleNamespace
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gpu_kernels import launch  # noqa: E402
from gpu_kernels import matrix  # noqa: E402
from gpu_kernels import SHAPES  # noqa: E402
from gpu_kernels import WHOLE  # noqa: E402
from gpu_products import compile_all as compile_plans  # noqa: E402
from gpu_products import Product  # noqa: E402
from gpu_products import variants  # noqa: E402
from gpu_step import Bench  # noqa: E402

from gemma_node.kernels import cuda_matmul  # noqa: E402
from gemma_node.kernels import tuning  # noqa: E402
from gemma_node.kernels.cuda_matmul import Plan  # noqa: E402
from gemma_node.kernels.tuning import Tiling  # noqa: E402

FORM_KIND = {'4bit': 'affine4', '8bit': 'affine8', 'nvfp4': 'nvfp4', 'fp8': 'fp8',
             'bf16': 'bfloat16'}  # fmt: skip
ORDER = ('gate_up', 'down', 'qkv sliding', 'o sliding', 'q sliding', 'ple gate',
         'ple projection', 'head', 'qkv full', 'o full', 'q full', 'ple context')  # fmt: skip
KEPT = ('embed', 'per_layer', 'heads', 'attend', 'residual', 'choose')


def candidates(name: str, form: str) -> list[tuple[int, int, int, int]]:
    """Return rows, parts, warps and stages worth a try."""
    rows, columns, _ = SHAPES[name]
    steps = columns // (256 if form == '4bit' else 64)
    wanted = (1,) if name in WHOLE else (1, 2, 4, 5, 8, 10)
    found = []
    for (tall, warps), parts, stages in itertools.product(
        ((16, 1), (32, 2), (32, 1), (64, 2)), wanted, (2, 3)
    ):
        programs = -(-rows // tall) * parts
        if steps % parts:
            continue
        if not (name in WHOLE or 100 <= programs <= 1600):
            continue
        found.append((tall, parts, warps, stages))
    return found


def _compile(jobs: list[tuple[str, str, tuple[int, int, int, int]]]) -> int:
    made: dict[str, Any] = {}
    for name, form, (rows, parts, warps, stages) in jobs:
        if name not in made:
            made.clear()
            size, columns, _ = SHAPES[name]
            made[name] = matrix(size, columns, form)
        weight = made[name]
        x = torch.zeros(8, weight.columns, device='cuda').bfloat16()
        tiling = Tiling(rows=rows, parts=parts, warps=warps, stages=stages)
        try:
            launch(name, weight, x, tiling)(weight)
        except Exception as error:
            sys.stderr.write(f'{name} {tiling}: {error!r}\n'[:300])
    torch.cuda.synchronize()
    return len(jobs)


def compile_all(jobs: list[tuple[str, str, tuple[int, int, int, int]]], processes: int) -> None:
    """Fill Triton's cache on disk."""
    jobs = sorted(jobs)
    size = -(-len(jobs) // processes)
    shares = [jobs[start : start + size] for start in range(0, len(jobs), size)]
    context = multiprocessing.get_context('spawn')
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        list(pool.map(_compile, shares))


class Tuner:
    """A step whose graph is captured again and again."""

    def __init__(self, bench: Bench, lanes: int) -> None:
        self.bench, self.lanes = bench, lanes

    def seconds(self, repeats: int = 12) -> float:
        """Capture the step as it is now, and return the median of its replays."""
        step = self.bench.step
        step._captured.pop(('decode', self.lanes), None)
        self.bench.decode(self.lanes, 2, None)
        found = []
        for _ in range(repeats):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            step._captured['decode', self.lanes].replay()
            end.record()
            torch.cuda.synchronize()
            found.append(start.elapsed_time(end) * 1e-3)
        return sorted(found)[len(found) // 2]

    @contextmanager
    def without(self, leave_out: Callable[..., bool], name: str) -> Iterator[None]:
        """Leave out launches of one operation."""
        step = self.bench.step
        ops = step._ops
        real = getattr(ops, name)

        def maybe(*values: Any, **named: Any) -> None:
            if not leave_out(*values, **named):
                real(*values, **named)

        changed = {each: getattr(ops, each) for each in dir(ops) if not each.startswith('__')}
        step._ops = SimpleNamespace(**{**changed, name: maybe})
        try:
            yield
        finally:
            step._ops = ops

    def parts(self) -> dict[str, float]:
        """Return by how much a step without one kind of launch is shorter, in microseconds."""
        whole = self.seconds()
        found = {'whole': whole * 1e6}
        for name in KEPT:
            with self.without(lambda *_, **__: True, name):
                found[name] = (whole - self.seconds()) * 1e6
        for name in ORDER:
            rows, columns, _ = SHAPES[name]

            def same(x: Any, weight: Any, *_: Any, size: Any = (rows, columns), **__: Any) -> bool:
                return (weight.rows, weight.columns) == size

            with self.without(same, 'product'):
                found[name] = (whole - self.seconds()) * 1e6
        self.seconds()
        return {name: round(each, 1) for name, each in found.items()}

    def tune(self, form: str, deadline: float, report: Callable[[str], None]) -> list[Any]:
        """Try tilings of one matrix at a time; keep what is faster by more than noise."""
        best, tried = self.seconds(), []
        for name in ORDER:
            rows, columns, _ = SHAPES[name]
            key = (FORM_KIND[form], rows, columns)
            if key not in tuning.BY_KIND:
                tuning.BY_KIND[key] = tuning.DECODE[rows, columns]
            for each in candidates(name, form):
                if time.monotonic() > deadline:
                    return tried
                kept = tuning.BY_KIND[key]
                tuning.BY_KIND[key] = each
                try:
                    seconds = self.seconds()
                except Exception as error:
                    tuning.BY_KIND[key] = kept
                    tried.append({'matrix': name, 'tiling': each, 'error': repr(error)[:200]})
                    continue
                tried.append({'matrix': name, 'tiling': each, 'us': round(seconds * 1e6, 1)})
                if seconds < best * 0.9985:
                    best = seconds
                else:
                    tuning.BY_KIND[key] = kept
            report(f'{name}: {tuning.BY_KIND[key]} step {best * 1e6:.1f} us\n')
        return tried


def all_plans(form: str, every: int) -> dict[str, list[Plan]]:
    """Return plans of the CUDA C++ kernel worth a try, compiled."""
    found = {}
    for name in ORDER:
        if name == 'head' and form in ('nvfp4', 'fp8'):
            continue  # it is bfloat16
        product = Product(name, form)
        if product.plan is None:
            continue
        found[name] = variants(product, 1)[::every]
        compile_plans(product, found[name], [1])
        torch.cuda.empty_cache()
    return found


def tune_plans(
    tuner: Tuner, form: str, plans: dict[str, list[Plan]], deadline: float,
    report: Callable[[str], None],
) -> list[Any]:  # fmt: skip
    """Try plans of one matrix at a time in the whole step; keep what is faster."""
    best, tried = tuner.seconds(), []
    for name, some in plans.items():
        rows, columns, _ = SHAPES[name]
        key = (FORM_KIND[form], rows, columns)
        before = cuda_matmul.PLANS.get(key)
        of_name = []
        for plan in some:
            if time.monotonic() > deadline:
                break
            cuda_matmul.PLANS[key] = plan
            of_name.append((round(tuner.seconds(5) * 1e6, 1), str(plan), plan))
        # The best few once more: a single look is noise.
        kept = before
        for _, _, plan in sorted(of_name)[:4]:
            cuda_matmul.PLANS[key] = plan
            seconds = tuner.seconds(24)
            if seconds < best * 0.9985:
                best, kept = seconds, plan
        if kept is None:
            cuda_matmul.PLANS.pop(key, None)
        else:
            cuda_matmul.PLANS[key] = kept
        tried += [{'matrix': name, 'us': us, 'plan': shown} for us, shown, _ in of_name]
        report(f'{name}: {kept} of {len(of_name)} step {best * 1e6:.1f} us\n')
    return tried


def run(arguments: argparse.Namespace) -> None:
    """Measure, write the file, and print tables."""
    started = time.monotonic()
    plans = {}
    if arguments.plans:
        plans = all_plans(arguments.form, arguments.every)
        sys.stdout.write(f'compiled after {time.monotonic() - started:.0f} s\n')
    if arguments.tune:
        jobs = [(name, arguments.form, each) for name in ORDER
                for each in candidates(name, arguments.form)]  # fmt: skip
        compile_all(jobs, arguments.processes)
        sys.stdout.write(f'compiled {len(jobs)} in {time.monotonic() - started:.0f} s\n')
        # Room for as many parts as are tried.
        saved = dict(tuning.DECODE)
        tuning.DECODE.update({
            key: (value[0], tuning.MAX_PARTS, *value[2:]) for key, value in saved.items()
        })
    bench = Bench(arguments)
    if arguments.tune:
        tuning.DECODE.update(saved)
    bench.fill(0, bench.context)
    tuner = Tuner(bench, max(arguments.lanes))
    report: dict[str, Any] = {
        'device': torch.cuda.get_device_name(), 'form': arguments.form,
        'lanes': max(arguments.lanes), 'context': bench.context,
    }  # fmt: skip
    sys.stdout.write(f'ready after {time.monotonic() - started:.0f} s\n')
    report['left_out_us'] = tuner.parts()
    sys.stdout.write(f'{report["left_out_us"]}\n')
    arguments.out.write_text(json.dumps(report, indent=1) + '\n')
    if arguments.tune:
        deadline = started + arguments.seconds
        report['tried'] = tuner.tune(arguments.form, deadline, sys.stdout.write)
        report['best'] = [[*key, *value] for key, value in tuning.BY_KIND.items()]
        report['tuned_left_out_us'] = tuner.parts()
        sys.stdout.write(f'{report["tuned_left_out_us"]}\n{report["best"]}\n')
    if arguments.plans:
        deadline = started + arguments.seconds
        report['tried_plans'] = tune_plans(
            tuner, arguments.form, plans, deadline, sys.stdout.write
        )
        report['best_plans'] = [[*key, asdict(plan)] for key, plan in cuda_matmul.PLANS.items()]
        report['planned_left_out_us'] = tuner.parts()
        sys.stdout.write(f'{report["planned_left_out_us"]}\n{report["best_plans"]}\n')
    report['seconds'] = round(time.monotonic() - started, 1)
    arguments.out.write_text(json.dumps(report, indent=1) + '\n')


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--form', choices=tuple(FORM_KIND), default='4bit')
    parser.add_argument('--lanes', type=int, nargs='+', default=[1])
    parser.add_argument('--context', type=int, default=2048)
    parser.add_argument('--most', type=int, default=4096)
    parser.add_argument('--chunk', type=int, default=512)
    parser.add_argument('--kv', default='bfloat16')
    parser.add_argument('--tune', action='store_true')
    parser.add_argument('--plans', action='store_true', help='of the CUDA C++ kernel')
    parser.add_argument('--every', type=int, default=1, help='try every so many plans')
    parser.add_argument('--no-cuda', action='store_true', help="Triton's products alone")
    parser.add_argument('--seconds', type=float, default=90.0, help='budget of --tune')
    parser.add_argument('--processes', type=int, default=14)
    arguments = parser.parse_args()
    cuda_matmul.ENABLED = not arguments.no_cuda
    arguments.device, arguments.geometry, arguments.ple_on_host = 'cuda', 'e4b', False
    with torch.inference_mode():
        run(arguments)


if __name__ == '__main__':
    main()
