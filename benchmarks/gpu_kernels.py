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
Time matrix kernels on a GPU: `gpu_kernels.py --out FILE`.

Ceilings first (a large copy, a large bfloat16 product), then every matrix shape of E4B in every
form: one CUDA graph over enough copies of a matrix that none is read from the cache. `gpu_tune.py`
tries tilings, in a whole step.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path
import statistics
import sys
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gpu_model import pack  # noqa: E402

from gemma_node.backends.cuda_weights import planes_of  # noqa: E402
from gemma_node.kernels.planes import Planes  # noqa: E402
from gemma_node.kernels.tuning import Tiling  # noqa: E402
from gemma_node.kernels.tuning import tiling_of  # noqa: E402
from gemma_node.quant.packed import PlainTensor  # noqa: E402

# name -> rows, columns, how often in one decode step
SHAPES = {
    'qkv sliding': (3072, 2560, 20),
    'q sliding': (2048, 2560, 15),
    'qkv full': (6144, 2560, 4),
    'q full': (4096, 2560, 3),
    'o sliding': (2560, 2048, 35),
    'o full': (2560, 4096, 7),
    'gate_up': (20480, 2560, 42),
    'down': (2560, 10240, 42),
    'ple gate': (256, 2560, 42),
    'ple projection': (2560, 256, 42),
    'ple context': (10752, 2560, 1),
    'head': (262144, 2560, 1),
}
WHOLE = ('gate_up', 'head')
COLD_BYTES = 192 << 20
MAX_COPIES = 24


def matrix(rows: int, columns: int, form: str, device: str = 'cuda') -> Planes:
    """Return a random matrix, packed."""
    weight = (torch.randn(rows, columns, device=device) * columns**-0.5).bfloat16()
    packed = PlainTensor(weight) if form == 'bf16' else pack(weight, form)
    return planes_of(packed, torch.device(device))


def launch(name: str, weight: Planes, x: torch.Tensor, tiling: Tiling | None) -> Any:
    """Return a function that launches one product as the step does."""
    from gemma_node.kernels import triton_ops

    width = x.shape[0]
    if name == 'gate_up':
        out = torch.empty(width, weight.rows // 2, dtype=torch.bfloat16, device=x.device)
        return lambda w: triton_ops.product(x, w, out, tiling=tiling, gated=True)
    whole = name in WHOLE
    parts = 1 if whole else (tiling or tiling_of(weight)).parts
    out = torch.empty(parts, width, weight.rows, device=x.device)
    fixed = tiling or tiling_of(weight, whole=whole)
    return lambda w: triton_ops.product(x, w, out, tiling=fixed)


def timed(body: Any, copies: list[Any], repeats: int = 7) -> float:
    """Return seconds of one launch: the median graph replay over all copies."""
    for each in copies[:2]:
        body(each)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for each in copies:
            body(each)
    graph.replay()
    found = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        found.append(start.elapsed_time(end) * 1e-3 / len(copies))
    return statistics.median(found)


def copies_of(weight: Planes) -> list[Planes]:
    """Return copies that together are larger than the cache."""
    count = max(1, min(MAX_COPIES, -(-COLD_BYTES // weight.nbytes)))
    def same(each: torch.Tensor | None) -> torch.Tensor | None:
        return None if each is None else each.clone()

    return [weight] + [
        Planes(kind=weight.kind, rows=weight.rows, columns=weight.columns, group=weight.group,
               data=weight.data.clone(), scales=same(weight.scales),
               biases=same(weight.biases), factors=same(weight.factors))
        for _ in range(count - 1)
    ]  # fmt: skip


def ceilings() -> dict[str, float]:
    """Return bytes a second of a copy (read and written) and operations of a large product."""
    source = torch.empty(1 << 31, dtype=torch.uint8, device='cuda').random_()
    target = torch.empty_like(source)
    copy = timed(lambda each: target.copy_(each), [source] * 4)
    a = torch.randn(8192, 8192, device='cuda', dtype=torch.bfloat16)
    b = torch.randn(8192, 8192, device='cuda', dtype=torch.bfloat16)
    product = timed(lambda each: torch.mm(each, b), [a] * 4)
    empty = torch.zeros(1, device='cuda')
    launch_s = timed(lambda each: each.add_(1), [empty] * 400)
    return {
        'copy_bytes_per_s': 2 * source.numel() / copy,
        'bf16_flops': 2 * 8192**3 / product,
        'small_launch_in_graph_s': launch_s,
    }


def measure(forms: tuple[str, ...], widths: tuple[int, ...], ceiling: float) -> list[Any]:
    """Return times of the tilings in use, and their share of the copy's bandwidth."""
    found = []
    for form, (name, (rows, columns, count)) in itertools.product(forms, SHAPES.items()):
        weight = matrix(rows, columns, form)
        copies = copies_of(weight)
        for width in widths:
            x = torch.randn(width, columns, device='cuda').bfloat16()
            seconds = timed(launch(name, weight, x, None), copies)
            found.append({
                'name': name, 'form': form, 'width': width, 'count': count,
                'us': round(seconds * 1e6, 3), 'bytes': weight.nbytes,
                'share_of_copy': round(weight.nbytes / seconds / ceiling, 3),
            })  # fmt: skip
    return found


def main() -> None:
    """Measure, write the file, and print a short table."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--forms', nargs='+', default=['4bit', 'bf16', 'nvfp4', 'fp8', '8bit'])
    parser.add_argument('--widths', type=int, nargs='+', default=[8, 16])
    arguments = parser.parse_args()
    torch.manual_seed(1)
    report: dict[str, Any] = {'device': torch.cuda.get_device_name(), **ceilings()}
    sys.stdout.write(f'{json.dumps(report)}\n')
    copy = report['copy_bytes_per_s']
    forms = tuple(arguments.forms)
    report['decode'] = measure(forms, tuple(arguments.widths), copy)
    for form in forms:
        total = sum(each['us'] * each['count'] for each in report['decode']
                    if each['form'] == form and each['width'] == arguments.widths[0])  # fmt: skip
        report[f'linears_of_a_step_us_{form}'] = round(total, 1)
        sys.stdout.write(f'{form}: linears of a step {total:.0f} us\n')
    for each in report['decode']:
        if each['width'] == arguments.widths[0]:
            sys.stdout.write(f'{each}\n')
    arguments.out.write_text(json.dumps(report, indent=1) + '\n')


if __name__ == '__main__':
    main()
