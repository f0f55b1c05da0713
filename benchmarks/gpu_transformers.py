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
Time transformers on a random full-size E4B in bfloat16: `gpu_transformers.py --out FILE`.

Prefill with its best attention, decode of one stream eagerly, and compiled over a static cache as
`generate` does it. The first generation compiles and takes minutes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import statistics
import sys
import time
from typing import Any

import torch
import transformers

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'scripts'))
sys.path.insert(0, str(ROOT))

import make_random_e4b as source  # noqa: E402


def build(device: str, geometry: str) -> Any:
    """Return transformers' model with its own random initial weights."""
    config = transformers.Gemma4TextConfig(**{
        name: value for name, value in source.text_config(geometry).items()
        if name not in ('model_type', 'dtype')
    })
    config._attn_implementation = 'sdpa'
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(device):
        return transformers.Gemma4ForCausalLM(config).eval()


def timed(body: Any, device: str) -> float:
    """Return seconds until the device has done it."""
    started = time.perf_counter()
    body()
    if device == 'cuda':
        torch.cuda.synchronize()
    return time.perf_counter() - started


def decode_s(model: Any, ids: torch.Tensor, steps: tuple[int, int], device: str,
             **more: Any) -> float:  # fmt: skip
    """Return seconds a token: what more tokens cost more."""
    def generate(count: int) -> None:
        model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=count,
                       min_new_tokens=count, do_sample=False, **more)  # fmt: skip

    found = []
    for _ in range(3):
        short, long = (timed(lambda n=n: generate(n), device) for n in steps)
        found.append((long - short) / (steps[1] - steps[0]))
    return statistics.median(found)


def main() -> None:
    """Measure, saving after each."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--device', default='cuda')
    parser.add_argument('--geometry', default='e4b')
    parser.add_argument('--context', type=int, default=2048)
    parser.add_argument('--prompts', type=int, nargs='+', default=[2048, 8192])
    parser.add_argument('--steps', type=int, nargs=2, default=[16, 80])
    parser.add_argument('--compile', action='store_true')
    arguments = parser.parse_args()
    device = arguments.device
    report: dict[str, Any] = {
        'transformers': transformers.__version__, 'torch': torch.__version__,
        'device': torch.cuda.get_device_name() if device == 'cuda' else device,
        'dtype': 'bfloat16', 'attention': 'sdpa', 'context': arguments.context,
    }  # fmt: skip

    def save() -> None:
        arguments.out.write_text(json.dumps(report, indent=1) + '\n')
        sys.stdout.write(f'{report}\n')
        sys.stdout.flush()

    with torch.inference_mode():
        model = build(device, arguments.geometry)
        vocab = model.config.vocab_size
        for length in arguments.prompts:
            ids = torch.randint(3, vocab, (1, length), device=device)
            found = [timed(lambda ids=ids: model(ids, use_cache=True, logits_to_keep=1), device)
                     for _ in range(4)]  # fmt: skip
            report[f'prefill_{length}_tokens_per_s'] = round(length / min(found), 1)
        save()
    ids = torch.randint(3, vocab, (1, arguments.context), device=device)
    with torch.no_grad():
        seconds = decode_s(model, ids, (8, 24), device)
        report['eager_tokens_per_s'] = round(1 / seconds, 2)
        save()
        if arguments.compile:
            more = {'cache_implementation': 'static'}
            report['compile_s'] = round(timed(lambda: model.generate(
                ids, attention_mask=torch.ones_like(ids), max_new_tokens=arguments.steps[1],
                min_new_tokens=arguments.steps[1], do_sample=False, **more), device), 1)
            save()
            seconds = decode_s(model, ids, tuple(arguments.steps), device, **more)
            report['compiled_static_tokens_per_s'] = round(1 / seconds, 2)
            save()


if __name__ == '__main__':
    main()
