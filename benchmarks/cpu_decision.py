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
Decisions a second on this CPU, beside transformers on the same checkpoint in the same run.

    .venv/bin/python benchmarks/cpu_decision.py --out benchmarks/results/cpu_decision.json

Decisions go through the whole worker (render, tokenise, grammar, engine, validate) on the demo's
tools, each the best of its repeats; `draft: false` is the plain reference, token by token.
The speeds of prefill and decode are the engine's alone. The peer gets the same prompt ids,
a key-value cache, the same number of threads, and the faster of its dtypes and attentions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from itertools import count
import json
import math
import os
from pathlib import Path
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any
import uuid

from checkpoint_twins import mid_size
from checkpoint_twins import unpacked
import torch
import transformers

import gemma_node
from gemma_node.assemble import assemble
from gemma_node.assemble import Assembly
from gemma_node.assemble import checkpoint_folder
from gemma_node.core import Answer
from gemma_node.core import Generation
from gemma_node.core import GenerationResult
from gemma_node.core import Observation
from gemma_node.core import Request
from gemma_node.core import ToolChoice
from gemma_node.demo.script import load_steps
from gemma_node.policy.settings import from_mapping
from gemma_node.policy.settings import to_worker_settings
from gemma_node.replay.plan import read_parameters
from gemma_node.tools.catalogue import load_catalogue

ROOT = Path(__file__).resolve().parents[1]
NUM_TOKENS = 64
REPEATS = 5
# Tools whose calls end by themselves, whatever a random model wants.
CLOSED = ('go_to', 'dock')
CLOCKS = {'wall': time.perf_counter, 'cpu': time.process_time}
clock = time.perf_counter


def main() -> None:
    """Measure and write the result file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--clock', choices=CLOCKS, default='wall')
    parser.add_argument('--decisions-only', action='store_true')
    parser.add_argument('--no-mid-size', action='store_true')
    arguments = parser.parse_args()
    global clock
    clock = CLOCKS[arguments.clock]
    settings = from_mapping(read_parameters(ROOT / 'config' / 'gemma_node.yaml'))
    catalogue = load_catalogue(ROOT / 'config' / 'tools.yaml')
    worker = replace(to_worker_settings(settings, catalogue), num_threads=arguments.threads)
    prompts: list[tuple[int, ...]] = []
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        assembly = assemble(worker, lambda _share, _text: None)
        result = {'decisions': decisions(assembly, prompts)}
        if not arguments.no_mid_size:
            path = str(mid_size(Path(folder) / 'mid'))
            mid = assemble(
                replace(worker, model_path=path, max_calls=1), lambda _share, _text: None)
            result['decisions, random mid-size'] = decisions(
                mid, [], allowed_tools=CLOSED, repeats=2)
        if not arguments.decisions_only:
            peer = unpacked(checkpoint_folder(''), Path(folder) / 'embedded')
            torch.set_num_threads(arguments.threads)
            compare(result, assembly, prompts[0], peer)
    arguments.out.write_text(json.dumps(described(result, arguments), indent=1) + '\n')
    sys.stdout.write(arguments.out.read_text())


def compare(
    result: dict[str, Any], assembly: Assembly, prompt: tuple[int, ...], folder: Path
) -> None:
    """Add the speeds of engine and peer."""
    result['engine'] = engine_speed(assembly, prompt)
    result['transformers'] = peer = peer_speed(prompt, folder)
    result['ratio'] = {
        'decode': round(result['engine']['decode_tokens_per_second']
                        / max(entry['decode_tokens_per_second'] for entry in peer.values()), 2),
        'prefill': round(result['engine']['prefill_tokens_per_second']
                         / max(entry['prefill_tokens_per_second'] for entry in peer.values()), 2),
    }


def decisions(
    assembly: Assembly,
    prompts: list[tuple[int, ...]],
    allowed_tools: tuple[str, ...] = (),
    repeats: int = REPEATS,
) -> dict[str, Any]:
    """
    Return cold and warm latencies [ms] over the demo's sentences, each asked of one robot.

    With `allowed_tools` a call of one of them is demanded, drawn at temperature 1.
    """
    submit = assembly.engine.submit

    def recording(generation: Generation) -> None:
        prompts.append(generation.prompt_ids)
        submit(generation)

    assembly.engine.submit = recording  # type: ignore[method-assign]
    kinds = ('cold', 'warm', 'warm, draft: false')
    times: dict[str, list[float]] = {name: [] for name in kinds}
    facts: list[Answer] = []
    for index, step in enumerate(load_steps()):
        for name in kinds:
            best = math.inf
            for _ in range(repeats):
                if name == 'cold':
                    assembly.decider.reset('', '')
                    assembly.engine.clear()
                started = clock()
                answer = ask(assembly, step.say, seed=index + 1, draft=name != kinds[2],
                             allowed_tools=allowed_tools)
                best = min(best, clock() - started)
            times[name].append(1e3 * best)
            if name == 'warm':
                facts.append(answer)
            elif name == kinds[2] and answer.output_digest != facts[-1].output_digest:
                raise AssertionError(f'drafts changed the answer to {step.say!r}')
    assembly.engine.submit = submit  # type: ignore[method-assign]
    calls = [index for index, answer in enumerate(facts) if answer.calls]
    medians = {name: statistics.median(each) for name, each in times.items()}
    cut = {
        name: round(1 - statistics.median(times['warm'][i] for i in chosen)
                    / statistics.median(times[kinds[2]][i] for i in chosen), 3)
        for name, chosen in (('all', range(len(facts))), ('with a call', calls))
    }
    return {
        'median_ms': {name: round(value, 1) for name, value in medians.items()},
        'max_ms': {name: round(max(each), 1) for name, each in times.items()},
        'num': len(facts),
        'num_with_a_call': len(calls),
        'forced_drafts_cut_the_median_by': cut,
        'prompt_tokens_median': statistics.median(map(len, prompts)),
        'warm_new_tokens_median': statistics.median(
            each.prompt_tokens - each.cached_tokens for each in facts),
        'completion_tokens_median': statistics.median(each.completion_tokens for each in facts),
        'forced_tokens_median': statistics.median(each.forced_tokens for each in facts),
        'each_ms': {name: [round(value, 1) for value in each] for name, each in times.items()},
    }


def ask(
    assembly: Assembly, text: str, *, seed: int, draft: bool, allowed_tools: tuple[str, ...]
) -> Answer:
    """Return one decision's answer, stepping the engine as the worker's loop does."""
    more = {'allowed_tools': allowed_tools, 'temperature': 1.0,
            'tool_choice': ToolChoice.REQUIRED} if allowed_tools else {}
    request = Request(id=uuid.UUID(int=seed).hex, robot='r1', text=text, keep=False, seed=seed,
                      draft=draft, **more)
    answer = assembly.decider.submit(request, observations())
    while answer is None:
        for event in assembly.engine.step():
            if isinstance(event, GenerationResult):
                answer = assembly.decider.on_result(event)
    return answer


def observations() -> tuple[Observation, ...]:
    """Return one input as the demo's robots publish it: with a sentence, about 70 new tokens."""
    pose = {'position': {'x': 1.2, 'y': -0.4, 'z': 0.0},
            'orientation': {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0}}
    zero = {'x': 0.0, 'y': 0.0, 'z': 0.0}
    odometry = {'header': {'frame_id': 'map'}, 'child_frame_id': 'base_link',
                'pose': {'pose': pose}, 'twist': {'twist': {'linear': zero, 'angular': zero}}}
    return (
        Observation(name='odom', topic='/r1/odom', type='nav_msgs/msg/Odometry', age_s=0.1,
                    max_age_s=1.0, value=odometry),
    )


def engine_speed(assembly: Assembly, prompt: tuple[int, ...]) -> dict[str, Any]:
    """Return prefill and decode speed of one lane without grammar, best of the repeats."""
    prefill, decode = [], []
    for _, index in zip(range(REPEATS), count(), strict=False):
        assembly.engine.clear()
        assembly.engine.submit(Generation(id=f'speed{index}', state_key=f'speed{index}',
                                          prompt_ids=prompt, max_tokens=NUM_TOKENS))
        result = None
        while result is None:
            result = next((event for event in assembly.engine.step()
                           if isinstance(event, GenerationResult)), None)
        prefill.append(len(prompt) / result.prefill_time)
        decode.append((len(result.token_ids) - 1) / result.decode_time)
    return _speeds(prefill, decode)


def peer_speed(prompt: tuple[int, ...], folder: Path) -> dict[str, Any]:
    """Return the same of transformers, for each dtype and attention it could be run with."""
    found = {}
    for dtype in ('float32', 'bfloat16'):
        for attention in ('sdpa', 'eager'):
            model = transformers.Gemma4ForCausalLM.from_pretrained(
                folder, dtype=dtype, attn_implementation=attention)
            found[f'{dtype} {attention}'] = _peer_run(model.eval(), prompt)
    return found


def _peer_run(model: Any, prompt: tuple[int, ...]) -> dict[str, Any]:
    prefill, decode = [], []
    for _ in range(REPEATS):
        started = time.perf_counter()
        out = model(torch.tensor([prompt]), use_cache=True, logits_to_keep=1)
        token = out.logits[:, -1:].argmax(-1)
        prefilled = time.perf_counter()
        for _ in range(NUM_TOKENS - 1):
            out = model(token, past_key_values=out.past_key_values, use_cache=True)
            token = out.logits[:, -1:].argmax(-1)
        prefill.append(len(prompt) / (prefilled - started))
        decode.append((NUM_TOKENS - 1) / (time.perf_counter() - prefilled))
    return _speeds(prefill, decode)


def _speeds(prefill: list[float], decode: list[float]) -> dict[str, Any]:
    return {'prefill_tokens_per_second': round(max(prefill), 1),
            'decode_tokens_per_second': round(max(decode), 1)}


def described(result: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the result with what it was measured on."""
    run: Callable[..., str] = lambda *command: subprocess.run(  # noqa: E731
        command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    return {
        'what': 'embedded checkpoint, demo tools, one robot',
        'command': f'.venv/bin/python benchmarks/cpu_decision.py --threads {arguments.threads} '
                   f'--clock {arguments.clock}',
        'clock': arguments.clock,
        'load': round(os.getloadavg()[0], 1),
        'commit': run('git', 'rev-parse', 'HEAD'),
        'device': platform.processor() or platform.machine(),
        'cpu': next((line.split(':')[1].strip() for line in Path('/proc/cpuinfo').read_text()
                     .splitlines() if line.startswith('model name')), ''),
        'threads': arguments.threads,
        'versions': {'gemma_node': gemma_node.__version__, 'torch': torch.__version__,
                     'transformers': transformers.__version__,
                     'python': platform.python_version()},
        **result,
    }


if __name__ == '__main__':
    main()
