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
Error of the device step to float64 at full size: `gpu_error.py --form 4bit --out FILE`.

The same weights in float64 are the truth; beside the step stands the plain pass in bfloat16, which
the tests hold to transformers' eager pass bit for bit. Logits of forced tokens, by decode rows and
by prompt rows.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import sys
import time
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gpu_model import random_model  # noqa: E402
from gpu_step import software  # noqa: E402

from gemma_node.backends.cuda_step import DeviceModel  # noqa: E402
from gemma_node.kernels import plain_ops  # noqa: E402
from gemma_node.receipts.reference64 import ForwardPass  # noqa: E402
from gemma_node.receipts.reference64 import logits64  # noqa: E402
from gemma_node.receipts.reference64 import Weights  # noqa: E402


def distances(found: torch.Tensor, wanted: torch.Tensor) -> dict[str, float]:
    """Return what separates logits [rows, vocab] from the truth."""
    found, wanted = found.double(), wanted.double()
    error = (found - wanted).abs()
    share = torch.log_softmax(wanted, -1)
    kl = (share.exp() * (share - torch.log_softmax(found, -1))).sum(-1)
    same = (found.argmax(-1) == wanted.argmax(-1)).double().mean()
    ranked = error.flatten().sort().values
    return {
        'largest': float(ranked[-1]), 'p99': float(ranked[int(0.99 * len(ranked))]),
        'mean': float(error.mean()), 'kl_mean': float(kl.mean()), 'kl_largest': float(kl.max()),
        'same_best': float(same),
    }  # fmt: skip


def main() -> None:
    """Measure, write the file, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--form', default='4bit')
    parser.add_argument('--device', default='cuda')
    parser.add_argument('--geometry', default='e4b')
    parser.add_argument('--tokens', type=int, default=640)
    parser.add_argument('--rows', type=int, default=48)
    parser.add_argument('--kv', default='bfloat16')
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    ops = plain_ops
    if device.type == 'cuda':
        from gemma_node.kernels import triton_ops

        ops = triton_ops
    count, rows = arguments.tokens, arguments.rows
    first = count - rows
    with torch.inference_mode():
        model = random_model(arguments.form, arguments.device, arguments.geometry)
        pages = -(-count // 64) + 1
        step = DeviceModel(
            model, ops=ops, device=device, lanes=1, context_tokens=64 * pages,
            num_pages=(pages, pages), kv_dtype=arguments.kv,
        )  # fmt: skip
        for kind in (0, 1):
            for page in range(pages):
                step.set_page(kind, 0, page, page)
        ids = np.random.default_rng(5).integers(0, model.config.vocab_size, count)
        ids = ids.astype(np.int32)
        for start in range(0, first, 512):
            step.prompt(ids[start : min(first, start + 512)], start, 0)
        decoded = []
        for position in range(first, count):
            step.decode(ids[position : position + 1], np.array([position], np.int32),
                        np.zeros(1, np.int32))  # fmt: skip
            decoded.append(torch.from_numpy(step.logits(1).copy()))
        prompted = []
        for position in range(first, count, max(1, rows // 12)):
            line = position // 64 * 64
            step.prompt(ids[line : position + 1], line, 0, (position - line,))
            prompted.append((position - first, torch.from_numpy(step.logits(1).copy())))
        began = time.monotonic()
        tokens = torch.from_numpy(ids.astype(np.int64)).to(device)
        eager = model.head(model.hidden(tokens[None])[:, first:])[0].cpu()
        plan = ForwardPass.of(model.config, torch.bfloat16)
        truth = logits64(Weights(model, device), plan, ids.tolist(), first).cpu()
        seconds = time.monotonic() - began
    chosen = [index for index, _ in prompted]
    report: dict[str, Any] = {
        'form': arguments.form, 'kv': arguments.kv, 'tokens': count, 'rows': rows,
        'device': torch.cuda.get_device_name() if device.type == 'cuda' else 'cpu', **software(),
        'decode': distances(torch.cat(decoded), truth),
        'prompt': distances(torch.cat([each for _, each in prompted]), truth[chosen]),
        'bfloat16_eager': distances(eager, truth),
        'bfloat16_eager_of_prompt_rows': distances(eager[chosen], truth[chosen]),
        'reference_seconds': round(seconds, 1),
    }  # fmt: skip
    for name in ('largest', 'p99'):
        report[f'decode_over_eager_{name}'] = round(
            report['decode'][name] / report['bfloat16_eager'][name], 3)
        report[f'prompt_over_eager_{name}'] = round(
            report['prompt'][name] / report['bfloat16_eager_of_prompt_rows'][name], 3)
    sys.stdout.write(f'{json.dumps(report, indent=1)}\n')
    arguments.out.write_text(json.dumps(report, indent=1) + '\n')


if __name__ == '__main__':
    main()
