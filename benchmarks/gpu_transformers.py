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
`generate` does it. The first generation compiles, once: how far a sliding cache is filled is a
number that changes with each token, and is said to be one beforehand, where it would be found out
by compiling twice. `--hold FILE`: compile, then time everything when that file is there.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import sys
import time
from typing import Any

import torch
import torch.compiler.config as options
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


class Clock(transformers.StoppingCriteria):
    """Notes when each token is there; `generate` waits for the device after each."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        """Note the time, and never stop."""
        self.times.append(time.perf_counter())
        return torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)


def generate(model: Any, ids: torch.Tensor, count: int, **more: Any) -> list[float]:
    """Generate so many tokens; return when each was there."""
    clock = Clock()
    model.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=count, min_new_tokens=count,
        do_sample=False, stopping_criteria=transformers.StoppingCriteriaList([clock]), **more,
    )  # fmt: skip
    return clock.times


def tokens_per_s(times: list[float]) -> float:
    """Return how many tokens a second came in the later three quarters."""
    kept = times[len(times) // 4 :]
    return round((len(kept) - 1) / (kept[-1] - kept[0]), 2)


def prefill(model: Any, lengths: list[int], device: str) -> dict[str, float]:
    """Return tokens a second of prompts, the best of four."""
    found = {}
    for length in lengths:
        ids = torch.randint(3, model.config.vocab_size, (1, length), device=device)
        best = min(
            timed(lambda ids=ids: model(ids, use_cache=True, logits_to_keep=1), device)
            for _ in range(4)
        )
        found[f'prefill_{length}_tokens_per_s'] = round(length / best, 1)
    return found


def compile_once(model: Any, ids: torch.Tensor, count: int) -> dict[str, Any]:
    """Generate for the first time with a static cache, which compiles; return what to pass on."""
    if hasattr(options, 'dynamic_sources'):
        options.dynamic_sources = ','.join(
            f"L['kwargs']['past_key_values'].layers[{each}].cumulative_length_int"
            for each in range(model.config.num_hidden_layers)
        )
    more: dict[str, Any] = {'cache_implementation': 'static'}
    if ids.device.type != 'cuda':
        # Only so that all of this runs somewhere without a GPU.
        more['compile_config'] = transformers.CompileConfig(backend='eager')
        more['compile_config']._compile_all_devices = True
    generate(model, ids, count, **more)
    return more


def wait_for(file: Path, seconds: float) -> float:
    """Wait until a file is there; return how long that was."""
    began = time.monotonic()
    while not file.exists() and time.monotonic() - began < seconds:
        time.sleep(0.1)
    return time.monotonic() - began


def main() -> None:
    """Measure, saving after each."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--device', default='cuda')
    parser.add_argument('--geometry', default='e4b')
    parser.add_argument('--context', type=int, default=2048)
    parser.add_argument('--prompts', type=int, nargs='+', default=[2048, 8192])
    parser.add_argument('--steps', type=int, default=80)
    parser.add_argument('--compile', action='store_true')
    parser.add_argument('--hold', type=Path, help='time nothing before this file is there')
    arguments = parser.parse_args()
    device = arguments.device
    report: dict[str, Any] = {
        'transformers': transformers.__version__, 'torch': torch.__version__,
        'device': torch.cuda.get_device_name() if device == 'cuda' else device,
        'dtype': 'bfloat16', 'attention': 'sdpa', 'context': arguments.context,
    }  # fmt: skip

    def save(**found: Any) -> None:
        report.update(found)
        arguments.out.write_text(json.dumps(report, indent=1) + '\n')
        sys.stdout.write(f'{found}\n')
        sys.stdout.flush()

    model = build(device, arguments.geometry)
    ids = torch.randint(3, model.config.vocab_size, (1, arguments.context), device=device)
    more: dict[str, Any] = {}
    with torch.no_grad():
        if arguments.compile:
            began = time.perf_counter()
            more = compile_once(model, ids, arguments.steps)
            save(
                compile_s=round(time.perf_counter() - began, 1),
                compiled_graphs=torch._dynamo.utils.counters['stats']['unique_graphs'],
            )
        if arguments.hold:
            save(held_s=round(wait_for(arguments.hold, 400.0), 1))
        if arguments.compile:
            runs = [tokens_per_s(generate(model, ids, arguments.steps, **more))
                    for _ in range(2)]  # fmt: skip
            save(compiled_static_tokens_per_s=max(runs), compiled_static_runs=runs)
        save(eager_tokens_per_s=tokens_per_s(generate(model, ids, 24)))
    with torch.inference_mode():
        save(**prefill(model, arguments.prompts, device))


if __name__ == '__main__':
    main()
