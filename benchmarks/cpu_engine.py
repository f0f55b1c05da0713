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
The engine's speed on this CPU, beside transformers on the same checkpoint in the same run.

    .venv/bin/python benchmarks/cpu_engine.py --out benchmarks/results/cpu_engine.json

Ours and theirs take turns, and each figure is the best of its rounds, because a machine is never
quite idle; its load is told. `--clock cpu` counts the process's processor time instead of the
wall's, which others on the machine disturb less; with one thread the two agree on an idle one.
transformers gets the same ids, threads and token counts, its own cache kept from prompt to
prompt, and the best of its dtypes and attentions for each figure; of a quantised checkpoint it
gets the unpacked numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import copy
import json
import os
from pathlib import Path
import platform
import subprocess
import sys
import tempfile
import time
from typing import Any

from checkpoint_twins import unpacked
import numpy as np
import torch
import transformers

import gemma_node
from gemma_node.assemble import checkpoint_folder
from gemma_node.core import Generation
from gemma_node.core import GenerationResult
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.engine import Engine
from gemma_node.kernels import native
from gemma_node.model.weights import load_model
from gemma_node.quant.convert import convert

ROOT = Path(__file__).resolve().parents[1]
PREFIX = 640
COLD = 800
NEW = 70
REPLY = 32
LANES = 8
LANE_PREFIX = 256
CLOCKS = {'wall': time.perf_counter, 'cpu': time.process_time}
clock = time.perf_counter
MID_SIZE = {
    'vocab_size': 16384, 'vocab_size_per_layer_input': 16384, 'hidden_size': 640,
    'intermediate_size': 2560, 'num_hidden_layers': 12, 'num_attention_heads': 8,
    'num_key_value_heads': 2, 'head_dim': 64, 'global_head_dim': 128,
    'hidden_size_per_layer_input': 64, 'num_kv_shared_layers': 4, 'sliding_window': 512,
    'layer_types': (['sliding_attention'] * 2 + ['full_attention']) * 4,
    'final_logit_softcapping': 30.0, 'max_position_embeddings': 8192,
}  # fmt: skip
Figures = dict[str, float]


def main() -> None:
    """Measure and write the result file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--clock', choices=tuple(CLOCKS), default='wall')
    arguments = parser.parse_args()
    global clock
    clock = CLOCKS[arguments.clock]
    torch.set_num_threads(arguments.threads)
    began = os.getloadavg()
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        arguments.work = Path(folder) / 'unpacked'
        result = {
            'embedded checkpoint': measure(checkpoint_folder(''), arguments),
            'random mid-size, bfloat16': measure(mid_size(Path(folder)), arguments),
        }
        coded = Path(folder) / 'coded'
        convert(Path(folder) / 'mid', coded, 'mlx-4bit')
        peer = result['random mid-size, bfloat16']['transformers']
        result['random mid-size, 4-bit'] = measure(coded, arguments, peer=peer)
    told = described(result, arguments, began)
    arguments.out.write_text(json.dumps(told, indent=1) + '\n')
    sys.stdout.write(arguments.out.read_text())


def measure(
    folder: Path, arguments: argparse.Namespace, peer: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return our figures, theirs by variant, and the ratios to their best."""
    model = load_model(folder)
    read_by_peer = folder
    if model.is_quantised and peer is None:
        read_by_peer = unpacked(folder, arguments.work / folder.name)
    ours = Ours(model, arguments.threads)
    theirs: dict[str, Figures] = {}
    variants: list[tuple[str, Any]] = []
    if peer is None:
        for dtype in ('float32', 'bfloat16'):
            for attention in ('sdpa', 'eager'):
                made = transformers.Gemma4ForCausalLM.from_pretrained(
                    read_by_peer, dtype=dtype, attn_implementation=attention)
                variants.append((f'{dtype} {attention}', made.eval()))
    best: Figures = {}
    for _ in range(arguments.rounds):
        best = faster(best, ours.figures())
        for name, made in variants:
            theirs[name] = faster(theirs.get(name, {}), Theirs(made, ours.ids).figures())
    theirs = theirs or peer or {}
    fastest: Figures = {}
    for figures in theirs.values():
        fastest = faster(fastest, figures)
    return {
        'parameters': model.num_parameters,
        'form': model.form,
        'ours_ms': rounded(best),
        'transformers': {name: rounded(each) for name, each in theirs.items()},
        'ratio to the best of theirs': {
            name: round(fastest[name] / best[name], 2) for name in fastest
        },
        'tokens per second': {
            'prefill': round(1e3 * COLD / best['prefill'], 1),
            'decode, one lane': round(1e3 / best['decode token, 1 lane'], 1),
            f'decode, {LANES} lanes': round(1e3 * LANES / best[f'decode step, {LANES} lanes'], 1),
        },
        'states': ours.states(),
    }


def faster(one: Figures, other: Figures) -> Figures:
    """Return the smaller time of each figure."""
    return {name: min(one.get(name, value), value) for name, value in other.items()}


def rounded(figures: Figures) -> Figures:
    return {name: round(value, 3) for name, value in figures.items()}


def timed(work: Callable[[], Any]) -> float:
    """Return how long it took [ms]."""
    started = clock()
    work()
    return 1e3 * (clock() - started)


class Ours:
    """This package's engine."""

    def __init__(self, model: Any, num_threads: int) -> None:
        rng = np.random.default_rng(3)
        self.ids = tuple(rng.integers(3, model.config.vocab_size, 2000).tolist())
        config = EngineConfig(lanes=LANES, context_tokens=2048, num_threads=num_threads,
                              drafts=False)
        self.engine = Engine(model, config, clock=clock)
        self.number = 0

    def ask(self, prompt: tuple[int, ...], **more: Any) -> Generation:
        """Return a generation that ends after its tokens only."""
        self.number += 1
        more = {'state_key': 'robot', 'max_tokens': REPLY, **more}
        return Generation(id=f'g{self.number}', prompt_ids=prompt, **more)

    def run(self, *asked: Generation) -> list[GenerationResult]:
        """Run to the end."""
        for each in asked:
            self.engine.submit(each)
        found = []
        while self.engine.has_work:
            found += [e for e in self.engine.step() if isinstance(e, GenerationResult)]
        return found

    def figures(self) -> Figures:
        """Return times [ms]; a step of several lanes gives each a token."""
        ids, found = self.ids, {}
        self.engine.clear()
        (result,) = self.run(self.ask(ids[:COLD], max_tokens=1))
        found['prefill'] = 1e3 * result.prefill_time
        self.engine.clear()
        found['cold decision'] = timed(lambda: self.run(self.ask(ids[:COLD])))
        (result,) = self.run(self.ask(ids[:PREFIX]))
        found['decode token, 1 lane'] = 1e3 * result.decode_time / (REPLY - 1)
        self.engine.clear()
        for lane in range(LANES):
            self.engine.submit(self.ask(ids[lane : lane + LANE_PREFIX], state_key=f'r{lane}'))
        while self.engine.stats().generated_tokens % REPLY or any(
            each.phase < 2 for each in self.engine._scheduler
        ):
            if all(each.phase == 2 for each in self.engine._scheduler):
                break
            self.engine.step()
        steps = [timed(self.engine.step) for _ in range(8)]
        found[f'decode step, {LANES} lanes'] = min(steps)
        self.run()
        self.engine.clear()
        cuts = (PREFIX,)
        self.run(self.ask(ids[: PREFIX + 1], cuts=cuts, max_tokens=1))
        warm = self.ask(ids[:PREFIX] + ids[1000 : 1000 + NEW], cuts=cuts)
        found['warm decision'] = timed(lambda: self.run(warm))
        return found

    def states(self) -> dict[str, Any]:
        """Return what a prefix of 1,500 tokens saves, and what eight robots hold of it."""
        ids = self.ids
        first = {}
        for name in ('without', 'with'):
            times = []
            for turn in range(3):
                if name == 'without':
                    self.engine.clear()
                prompt = ids[:1500] + ids[1600 + turn : 1660 + turn]
                (result,) = self.run(self.ask(prompt, cuts=(1500,), max_tokens=1))
                times.append(1e3 * result.prefill_time)
            first[name] = min(times)
        one = self.engine.stats().state_bytes
        for robot in range(8):
            prompt = ids[:1500] + ids[1600 + robot : 1640 + robot]
            self.run(self.ask(prompt, cuts=(1500, 1530), state_key=f'robot{robot}', max_tokens=1))
        return {
            'first token ms, 1,500 + 60 tokens': rounded(first),
            'ratio': round(first['without'] / first['with'], 1),
            'bytes of one prefix': one,
            'bytes of one prefix and eight robots': self.engine.stats().state_bytes,
        }


class Theirs:
    """transformers with its own cache."""

    def __init__(self, model: Any, ids: tuple[int, ...]) -> None:
        self.model = model
        self.ids = ids

    def prefill(self, rows: list[tuple[int, ...]], cache: Any = None) -> Any:
        return self.model(torch.tensor(rows), past_key_values=cache, use_cache=True,
                          logits_to_keep=1)

    def decode(self, out: Any, count: int) -> Any:
        token = out.logits[:, -1:].argmax(-1)
        for _ in range(count):
            out = self.model(token, past_key_values=out.past_key_values, use_cache=True)
            token = out.logits[:, -1:].argmax(-1)
        return out

    def figures(self) -> Figures:
        """Return the same times [ms]."""
        ids, found = self.ids, {}
        found['prefill'] = timed(lambda: self.prefill([ids[:COLD]]))
        found['cold decision'] = timed(
            lambda: self.decode(self.prefill([ids[:COLD]]), REPLY - 1))
        out = self.prefill([ids[:PREFIX]])
        kept = copy.deepcopy(out.past_key_values)
        found['decode token, 1 lane'] = timed(lambda: self.decode(out, REPLY - 1)) / (REPLY - 1)
        rows = [ids[lane : lane + LANE_PREFIX] for lane in range(LANES)]
        out = self.prefill(rows)
        found[f'decode step, {LANES} lanes'] = timed(lambda: self.decode(out, 8)) / 8
        new = [ids[1000 : 1000 + NEW]]
        found['warm decision'] = timed(lambda: self.decode(self.prefill(new, kept), REPLY - 1))
        return found


def mid_size(folder: Path) -> Path:
    """Write a random checkpoint of about 90 million parameters."""
    torch.manual_seed(1)
    with torch.inference_mode(False):
        model = transformers.Gemma4ForCausalLM(transformers.Gemma4TextConfig(**MID_SIZE))
        model.to(torch.bfloat16).save_pretrained(folder / 'mid')
    return folder / 'mid'


def described(
    result: dict[str, Any], arguments: argparse.Namespace, began: tuple[float, float, float]
) -> dict[str, Any]:
    """Return the result with what it was measured on."""
    run: Callable[..., str] = lambda *command: subprocess.run(  # noqa: E731
        command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    cpu = Path('/proc/cpuinfo').read_text() if Path('/proc/cpuinfo').is_file() else ''
    names = [line.split(':')[1].strip() for line in cpu.splitlines()
             if line.startswith('model name')]
    return {
        'what': f'times in ms, best of {arguments.rounds} rounds; prompts of {COLD} tokens cold, '
                f'{PREFIX} kept and {NEW} new warm, {LANE_PREFIX} a lane; replies of {REPLY} '
                'tokens, no grammar, no drafts',
        'clock': arguments.clock,
        'command': f'.venv/bin/python benchmarks/cpu_engine.py --threads {arguments.threads} '
                   f'--rounds {arguments.rounds} --clock {arguments.clock}',
        'commit': run('git', 'rev-parse', 'HEAD'),
        'cpu': names[0] if names else platform.machine(),
        'cpus': os.cpu_count(),
        'threads': arguments.threads,
        'instruction set': native.isa(),
        'load before and after': [round(began[0], 1), round(os.getloadavg()[0], 1)],
        'versions': {'gemma_node': gemma_node.__version__, 'torch': torch.__version__,
                     'transformers': transformers.__version__,
                     'python': platform.python_version()},
        **result,
    }


if __name__ == '__main__':
    main()
