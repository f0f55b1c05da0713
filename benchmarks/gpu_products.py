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
Time decode products in CUDA C++ beside Triton's: `gpu_products.py --forms 4bit --out FILE`.

Each product of a decode step at E4B's shapes, over copies larger than the cache, in one graph;
checked against float64 and for equal bits alone and in company first. `--sweep` tries plans.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from dataclasses import replace
import itertools
import json
from pathlib import Path
import sys
import time
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gpu_kernels import ceilings  # noqa: E402
from gpu_kernels import copies_of  # noqa: E402
from gpu_kernels import matrix  # noqa: E402
from gpu_kernels import SHAPES  # noqa: E402
from gpu_kernels import timed  # noqa: E402

from gemma_node.kernels import cuda_matmul  # noqa: E402
from gemma_node.kernels import plain_ops  # noqa: E402
from gemma_node.kernels import triton_matmul  # noqa: E402
from gemma_node.kernels.cuda_matmul import Plan  # noqa: E402
from gemma_node.kernels.planes import Planes  # noqa: E402
from gemma_node.kernels.tuning import tiling_of  # noqa: E402

MODES = {'gate_up': cuda_matmul.GATED, 'ple gate': cuda_matmul.PLANED}
CHECKED_ROWS = 8192


class Product:
    """One product of a decode step, with room for its result."""

    def __init__(self, name: str, form: str) -> None:
        self.name, self.form = name, form
        rows, columns, self.count = SHAPES[name]
        self.weight = matrix(rows, columns, form)
        self.mode = MODES.get(name, cuda_matmul.SUMS)
        self.plan = cuda_matmul.plan_of(
            self.weight, gated=name == 'gate_up', whole=name in MODES or name == 'head'
        )
        self.x = torch.randn(16, columns, device='cuda').bfloat16()
        self.plane = torch.randn(16, rows, device='cuda') if self.mode == 2 else None

    def room(self, width: int, parts: int) -> torch.Tensor:
        """Return room for a result, full of NaN."""
        rows = self.weight.rows
        if self.mode == cuda_matmul.SUMS:
            return torch.full((parts, width, rows), torch.nan, device='cuda')
        rows = rows // 2 if self.mode == cuda_matmul.GATED else rows
        return torch.full((width, rows), torch.nan, device='cuda', dtype=torch.bfloat16)

    def run(self, x: torch.Tensor, plan: Plan, weight: Planes | None = None) -> torch.Tensor:
        """Return one result."""
        width = x.shape[0]
        out = self.room(width, plan.parts)
        cuda_matmul.launch(x, weight or self.weight, out, plan, gated=self.mode == 1,
                           plane=None if self.plane is None else self.plane[:width])  # fmt: skip
        return out

    def wrong(self, plan: Plan) -> dict[str, float]:
        """Return distances to float64 and how many numbers differ alone and in company."""
        whole = self.run(self.x, plan)
        few = self.run(self.x[:8], plan)
        alone = torch.zeros_like(self.x[:8])
        alone[5] = self.x[11]
        single = self.run(alone, plan)
        differ = (whole[..., :8, :] != few).sum()
        if self.plane is None:  # a plane has other factors for another place
            differ += (whole[..., 11, :] != single[..., 5, :]).sum()
        found = whole.sum(0) if self.mode == cuda_matmul.SUMS else whole
        if self.mode == cuda_matmul.SUMS:
            some = min(CHECKED_ROWS, self.weight.rows)
            wanted = self.x.double() @ plain_ops.numbers_of(self.weight.part(0, some)).double().t()
            found = found[:, :some]
        else:
            wanted = torch.empty_like(found)
            plain_ops.product(self.x, self.weight, wanted, gated=self.mode == 1, plane=self.plane)
        far = (found.double() - wanted.double()).norm() / wanted.double().norm()
        return {'distance': float(far), 'differ': int(differ),
                'unwritten': int(whole.isnan().sum() + few.isnan().sum())}  # fmt: skip

    def seconds(self, width: int, plan: Plan | None, copies: list[Planes]) -> float:
        """Return the time of one launch; of Triton's without a plan."""
        x, gated = self.x[:width], self.mode == cuda_matmul.GATED
        if plan is None:
            whole = gated or self.name == 'head'
            tiling = tiling_of(self.weight, gated=gated, whole=whole)
            mode, self.mode = self.mode, cuda_matmul.GATED if gated else cuda_matmul.SUMS
            out = self.room(width, tiling.parts)
            self.mode = mode
            return timed(lambda each: triton_matmul.product(
                x, each, out, tiling=tiling, gated=gated), copies)  # fmt: skip
        out = self.room(width, plan.parts)
        plane = None if self.plane is None else self.plane[:width]
        return timed(lambda each: cuda_matmul.launch(
            x, each, out, plan, gated=gated, plane=plane), copies)  # fmt: skip


def variants(product: Product, width: int) -> list[Plan]:
    """Return plans worth a try."""
    base, weight = product.plan, product.weight
    units = weight.padded_rows // 16 * base.parts
    found = []
    step = 2 if product.mode == cuda_matmul.GATED else 1
    counts = {max(step, -(-units // blocks // step) * step)
              for blocks in (128, 132, 192, 264, 330, 400, 660)}  # fmt: skip
    for tiles, chunk, depth, resident in itertools.product(
        sorted(counts), (1, 2, 4, 6, 8, 10), (3, 4, 6, 8), (1, 2)
    ):
        plan = replace(base, tiles=tiles, chunk=chunk, depth=depth, resident=resident)
        fit = cuda_matmul.fitted(
            weight.kind, plan, width, cuda_matmul.H200_SHARED, gated=step == 2
        )
        if chunk % step or chunk > tiles or tiles % chunk or depth > max(2, tiles + 1) + 2:
            continue
        if fit != plan or base.warps * resident > 30:
            continue
        found.append(plan)
    return found


def compile_all(product: Product, plans: list[Plan], widths: list[int]) -> None:
    """Compile on all processors."""
    arch = cuda_matmul.arch_of(0)

    def make(job: tuple[Plan, int]) -> None:
        fit = cuda_matmul.fitted(product.weight.kind, job[0], job[1], cuda_matmul.shared_of(0),
                                 gated=product.mode == cuda_matmul.GATED)  # fmt: skip
        cuda_matmul.nvrtc.compiled(
            cuda_matmul.source(),
            cuda_matmul.options(product.weight.kind, fit or job[0], job[1], product.mode, arch),
        )

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(make, itertools.product(plans, widths)))


def measure(product: Product, arguments: argparse.Namespace, ceiling: float) -> dict[str, Any]:
    """Return what was found of one product."""
    weight, entry = product.weight, {'name': product.name, 'form': product.form}
    entry |= {'bytes': weight.nbytes, 'count': product.count, 'plan': asdict(product.plan)}
    compile_all(product, [product.plan], [8, 16, *arguments.widths])
    entry |= product.wrong(product.plan)
    copies = copies_of(weight)
    floor = weight.nbytes / ceiling
    entry['floor_us'] = round(1e6 * floor, 2)
    for width in arguments.widths:
        if not arguments.no_triton:
            entry[f'triton_us_{width}'] = round(1e6 * product.seconds(width, None, copies), 2)
        entry[f'cuda_us_{width}'] = round(1e6 * product.seconds(width, product.plan, copies), 2)
    if arguments.sweep:
        plans = variants(product, arguments.widths[0])[:: arguments.every]
        width = arguments.widths[0]
        began = time.monotonic()
        compile_all(product, plans, [width])
        tried = []
        for plan in plans:
            if time.monotonic() - began > arguments.seconds:
                break
            seconds = product.seconds(width, plan, copies)
            tried.append((round(1e6 * seconds, 2), plan.tiles, plan.chunk, plan.depth,
                          plan.resident))
        entry['tried'] = sorted(tried)
        entry['plans'] = len(plans)
    return entry


def main() -> None:
    """Measure, write the file, and print a line for each product."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--forms', nargs='+', default=['4bit', 'nvfp4', 'bf16'])
    parser.add_argument('--names', nargs='+', default=list(SHAPES))
    parser.add_argument('--widths', type=int, nargs='+', default=[8, 16])
    parser.add_argument('--no-triton', action='store_true')
    parser.add_argument('--sweep', action='store_true')
    parser.add_argument('--every', type=int, default=1, help='try every so many plans')
    parser.add_argument('--seconds', type=float, default=10.0, help='of a sweep, each product')
    arguments = parser.parse_args()
    torch.manual_seed(1)
    report: dict[str, Any] = {'device': torch.cuda.get_device_name(), **ceilings()}
    sys.stdout.write(f'{json.dumps(report)}\n')
    report['problem'] = cuda_matmul.device_problem(torch.device('cuda', 0))
    sys.stdout.write(f'problem: {report["problem"]!r}\n')
    report['products'] = []
    for form, name in itertools.product(arguments.forms, arguments.names):
        found = measure(Product(name, form), arguments, report['copy_bytes_per_s'])
        report['products'].append(found)
        shown = {**found, 'plan': list(found['plan'].values()),
                 'tried': found.get('tried', [])[:8]}  # fmt: skip
        sys.stdout.write(f'{json.dumps(shown)}\n')
        sys.stdout.flush()
        arguments.out.write_text(json.dumps(report, indent=1) + '\n')
    width = arguments.widths[0]
    for form, which in itertools.product(arguments.forms, ('triton', 'cuda', 'floor')):
        key = f'{which}_us' if which == 'floor' else f'{which}_us_{width}'
        total = sum(each.get(key, 0) * each['count'] for each in report['products']
                    if each['form'] == form)  # fmt: skip
        sys.stdout.write(f'{form} {which}: {total:.0f} us a step\n')


if __name__ == '__main__':
    with torch.inference_mode():
        main()
