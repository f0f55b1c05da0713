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
Time a prompt's products and attention on a GPU: `gpu_prompt.py --out FILE`.

Products in bfloat16 with many tiles, beside the library's; the unpacking of four bits; whether
tiles change bits; attention of a pass by position.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
import itertools
import json
import multiprocessing
from pathlib import Path
import sys
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gpu_kernels import matrix  # noqa: E402
from gpu_kernels import SHAPES  # noqa: E402
from gpu_kernels import timed  # noqa: E402

from gemma_node.kernels.tuning import Tiling  # noqa: E402

NAMES = ('gate_up', 'gate_up plain', 'down', 'qkv sliding', 'o sliding')
# Rows, tokens, warps, stages, and whether tiles come by descriptors.
TILES = ((128, 128, 8, 3, False), (128, 256, 8, 3, False), (128, 128, 8, 3, True),
         (128, 128, 8, 4, True), (128, 128, 4, 3, True), (128, 256, 8, 3, True),
         (128, 256, 8, 4, True), (256, 128, 8, 3, True), (256, 128, 8, 4, True),
         (128, 64, 4, 4, True), (64, 64, 4, 4, True), (64, 256, 4, 4, True))  # fmt: skip


def product(name: str, form: str, count: int, tile: tuple[int, ...]) -> tuple[Any, ...]:
    """Return a function that multiplies, its matrix and where it writes."""
    from gemma_node.kernels import triton_ops
    from gemma_node.kernels import triton_prompt

    rows, tokens, warps, stages, described = tile
    gated = name == 'gate_up'
    weight = matrix(*SHAPES[name.removesuffix(' plain')][:2], form)
    x = torch.randn(count, weight.columns, device='cuda').bfloat16()
    width = weight.rows // 2 if gated else weight.rows
    out = torch.empty(count, width, dtype=torch.bfloat16, device='cuda')
    tiling = Tiling(rows=rows, parts=1, warps=warps, stages=stages, tokens=tokens)

    def body(each: Any) -> None:
        triton_prompt.DESCRIBED = described
        triton_ops.prompt_product(x, each, out, tiling=tiling, gated=gated)

    return body, weight, x, out


def _compile(job: tuple[str, str, int, tuple[int, ...]]) -> None:
    try:
        body, weight, _, _ = product(*job)
        body(weight)
    except Exception as error:
        sys.stderr.write(f'{job}: {error!r}\n'[:300])


def products(counts: tuple[int, ...], processes: int) -> list[Any]:
    """Return times of products, and whether bits are those of the first tile."""
    jobs = [(name, 'bf16', count, tile) for name, count, tile
            in itertools.product(NAMES, counts, TILES)]  # fmt: skip
    fused = [('gate_up', '4bit', count, (128, tokens, 8, 2, False)) for count in counts
             for tokens in (64, 128)]  # fmt: skip
    fused += [('gate_up', '4bit', 128, (128, tokens, 8, 2, False)) for tokens in (64, 128)]
    context = multiprocessing.get_context('spawn')
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        list(pool.map(_compile, [*jobs, *fused], chunksize=3))
    found, first = [], {}
    for name, form, count, tile in [*jobs, *fused]:
        torch.manual_seed(1)
        body, weight, x, out = product(name, form, count, tile)
        entry = {'name': name, 'form': form, 'prompt_rows': count, 'tile': tile}
        flops = 2 * weight.rows * weight.columns * count
        try:
            seconds = timed(body, [weight] * 8, repeats=3)
        except Exception as error:
            found.append({**entry, 'error': repr(error)[:200]})
            continue
        entry |= {'us': round(seconds * 1e6, 1), 'tflops': round(flops / seconds / 1e12, 1)}
        key = (name, form, count)
        if key not in first:
            first[key] = out.clone()
            if form == 'bf16' and name != 'gate_up':
                library = timed(lambda w, x=x: torch.mm(x, w.data.t()), [weight] * 8, repeats=3)
                entry['library_tflops'] = round(flops / library / 1e12, 1)
                entry['library_bits'] = bool(torch.equal(torch.mm(x, weight.data.t()), out))
        entry['same_bits'] = bool(torch.equal(first[key], out))
        found.append(entry)
    return found


def unpacking() -> dict[str, float]:
    """Return microseconds of unpacking a matrix."""
    from gemma_node.kernels import triton_prompt

    found = {}
    for name in ('gate_up', 'down', 'qkv sliding'):
        weight = matrix(*SHAPES[name][:2], '4bit')
        room = torch.empty(weight.padded_rows, weight.padded_columns, dtype=torch.bfloat16,
                           device='cuda')  # fmt: skip
        seconds = timed(lambda w, room=room: triton_prompt.unpack(w, room), [weight] * 4)
        found[name] = round(seconds * 1e6, 1)
    return found


def attention(rows: int) -> list[Any]:
    """Return microseconds of prompt attention of a pass that starts at some positions."""
    from gemma_node.kernels import triton_ops

    found = []
    for size, window in ((256, 512), (512, 0)):
        pages = 512
        pool = torch.randn(pages, 1, 2, 2, 64, size, device='cuda').bfloat16()
        table = torch.arange(pages, dtype=torch.int32, device='cuda')[None]
        q = torch.randn(rows, 8, size, device='cuda').bfloat16() * size**-0.5
        out = torch.empty(rows, 8 * size, dtype=torch.bfloat16, device='cuda')
        lanes = torch.zeros(rows, dtype=torch.int32, device='cuda')
        for start in (0, 2048, 8192):
            positions = torch.arange(start, start + rows, dtype=torch.int32, device='cuda')
            ends = torch.full_like(positions, start + rows)
            values = (q, pool, table, positions, lanes, ends, 0, window, out)
            seconds = timed(
                lambda each: triton_ops.attend_prompt(*each), [values] * 4, repeats=3
            )
            keys = min(window, start + rows / 2) if window else start + rows / 2
            rate = 4 * rows * 8 * size * keys / seconds / 1e12
            found.append({'head_dim': size, 'start': start, 'rows': rows,
                          'us': round(seconds * 1e6, 1), 'tflops': round(rate, 1)})  # fmt: skip
    return found


def main() -> None:
    """Measure, write the file, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--rows', type=int, nargs='+', default=[512, 2048])
    parser.add_argument('--processes', type=int, default=14)
    arguments = parser.parse_args()
    report: dict[str, Any] = {'device': torch.cuda.get_device_name()}
    report['attention'] = attention(512) + attention(2048)
    report['unpacking_us'] = unpacking()
    sys.stdout.write('\n'.join(map(str, report['attention'])) + f'\n{report["unpacking_us"]}\n')
    report['products'] = products(tuple(arguments.rows), arguments.processes)
    for each in report['products']:
        sys.stdout.write(f'{each}\n')
    arguments.out.write_text(json.dumps(report, indent=1) + '\n')


if __name__ == '__main__':
    main()
