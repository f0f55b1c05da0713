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
Time the device step on a random full-size E4B: `gpu_step.py --form 4bit --out FILE`.

Decode of 1 to 16 lanes at a context, whole step with masks and choice, and the graph alone;
prefill; host time; kernel times of one step; bits of rows alone against rows in company.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
import importlib.metadata
import json
import os
from pathlib import Path
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gpu_energy import Energy  # noqa: E402
from gpu_energy import idle_watts  # noqa: E402
from gpu_kernels import ceilings  # noqa: E402
from gpu_model import FORMS  # noqa: E402
from gpu_model import random_model  # noqa: E402

from gemma_node.backends.cuda_step import DeviceModel  # noqa: E402
from gemma_node.kernels import plain_ops  # noqa: E402

WORDS = 262144 // 32


class Bench:
    """A device model whose lanes hold random prompts of one length."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        from gemma_node.kernels import triton_ops

        self.context, self.lanes = arguments.context, max(arguments.lanes)
        cpu = arguments.device == 'cpu'
        ops = plain_ops if cpu else triton_ops
        began = time.monotonic()
        model = random_model(arguments.form, arguments.device, arguments.geometry)
        self.drawn_s = time.monotonic() - began
        began = time.monotonic()
        self.pages = pages = -(-arguments.most // 64)
        if arguments.ple_on_host:
            table = model.embed_tokens_per_layer
            table.packed = table.packed.to('cpu')
        window = model.config.sliding_window
        ring = min(pages, -(-window // 64) + -(-arguments.chunk // 64) + 2)
        self.step = DeviceModel(
            model, ops=ops, device=torch.device(arguments.device), lanes=self.lanes,
            context_tokens=arguments.most, num_pages=(self.lanes * pages, self.lanes * ring),
            kv_dtype=arguments.kv, max_prompt_rows=arguments.chunk,
            ple_on_host=arguments.ple_on_host,
        )  # fmt: skip
        self.packed_s = time.monotonic() - began
        for lane in range(self.lanes):
            for number in range(pages):
                self.step.set_page(0, lane, number, lane * pages + number)
                # Of sliding layers no pass reads more than so many.
                self.step.set_page(1, lane, number, lane * ring + number % ring)
        self.chunk = arguments.chunk
        self.vocab = model.config.vocab_size
        self.rng = np.random.default_rng(1)

    def fill(self, lane: int, length: int) -> float:
        """Prefill one lane; return seconds until the first token is known."""
        ids = self.rng.integers(0, self.vocab, length).astype(np.int32)
        started = time.perf_counter()
        for start in range(0, length, self.chunk):
            part = ids[start : start + self.chunk]
            is_last = start + self.chunk >= length
            self.step.prompt(part, start, lane, (len(part) - 1,) if is_last else ())
        return time.perf_counter() - started

    def decision(self, state: int, new: int, output: int) -> dict[str, float]:
        """Return times of one call: new tokens on a state, then a reply under masks."""
        ids = self.rng.integers(0, self.vocab, state + new).astype(np.int32)
        for start in range(0, state, self.chunk):
            self.step.prompt(ids[start : min(start + self.chunk, state)], start, 0)
        # States are kept at multiples of 64.
        line = state // 64 * 64
        masks = np.full((1, -(-self.vocab // 32)), -1, np.int32)
        firsts, wholes = [], []
        for _ in range(12):
            started = time.perf_counter()
            looks = self.step.prompt(ids[line:], line, 0, (len(ids) - line - 1,), masks)
            firsts.append(time.perf_counter() - started)
            for index in range(output):
                position = np.array([state + new + index], np.int32)
                masks[0, index] = -2 - index
                looks = self.step.decode(looks.best, position, np.zeros(1, np.int32), masks)
            wholes.append(time.perf_counter() - started)
        return {
            'state': state, 'new': new, 'output': output,
            'first_token_ms': round(1e3 * statistics.median(firsts[2:]), 3),
            'decision_ms': round(1e3 * statistics.median(wholes[2:]), 3),
        }  # fmt: skip

    def decode(self, lanes: int, steps: int, masks: np.ndarray | None) -> list[float]:
        """Return seconds of steps in which each lane takes its best token."""
        ids = np.arange(lanes, dtype=np.int32) + 5
        positions = np.full(lanes, self.context, np.int32)
        numbers = np.arange(lanes, dtype=np.int32)
        found = []
        for _ in range(steps):
            started = time.perf_counter()
            looks = self.step.decode(ids, positions, numbers, masks)
            found.append(time.perf_counter() - started)
            ids = looks.best
            positions = positions + 1
        return found

    def energy(self, lanes: int, masks: np.ndarray, idle_w: float) -> dict[str, Any]:
        """Return what about two seconds of steps take, and of that each token."""
        count = 0
        with Energy('cuda', idle_w) as energy:
            began = time.monotonic()
            while time.monotonic() - began < 2.0:
                self.decode(lanes, 20, masks)
                count += 20 * lanes
        joules = energy.report.get('joules_above_idle', 0.0)
        return {**energy.report, 'tokens': count, 'joules_a_token': round(joules / count, 4)}

    def host_time(self, lanes: int) -> float:
        """Return seconds of host work before the device is waited for."""
        ids = np.arange(lanes, dtype=np.int32) + 5
        positions = np.full(lanes, self.context, np.int32)
        masks = np.full((lanes, WORDS), -1, np.int32)
        step, found = self.step, []
        for _ in range(30):
            torch.cuda.synchronize()
            started = time.perf_counter()
            step._send(step._buffers, ids, positions, ids - 5, positions + 1, masks, lanes)
            step._run('decode', step._buffers, lanes, step._passes.decode)
            found.append(time.perf_counter() - started)
        return statistics.median(found)

    def graph_time(self, lanes: int) -> float:
        """Return seconds of the graph alone."""
        graph, found = self.step._captured['decode', lanes], []
        for _ in range(20):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            found.append(start.elapsed_time(end) * 1e-3)
        return statistics.median(found)

    def kernel_times(self, lanes: int) -> dict[str, Any]:
        """Return microseconds and launches of one step by kernel."""
        activities = [torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities) as profile:
            self.step._captured['decode', lanes].replay()
            torch.cuda.synchronize()
        sums: dict[str, list[float]] = defaultdict(list)
        for event in profile.events():
            sums[event.name].append(event.device_time)
        return {
            name: {'us': round(sum(each), 1), 'launches': len(each)}
            for name, each in sorted(sums.items(), key=lambda item: -sum(item[1]))
        }

    def unequal(self, rows: int) -> int:
        """Return how many of `rows` logits rows differ alone from in company."""
        lanes = self.lanes
        numbers = np.arange(lanes, dtype=np.int32)
        wrong = 0
        for index in range(-(-rows // lanes)):
            ids = self.rng.integers(0, self.vocab, lanes).astype(np.int32)
            positions = np.full(lanes, self.context + index, np.int32)
            self.step.decode(ids, positions, numbers)
            together = self.step.logits(lanes).copy()
            for lane in range(lanes):
                one = slice(lane, lane + 1)
                self.step.decode(ids[one], positions[one], numbers[one])
                wrong += self.step.logits(1).tobytes() != together[one].tobytes()
        return wrong


def memory_used() -> int:
    """Return MiB in use on the device, contexts of processes too."""
    query = ['nvidia-smi', '--query-gpu=memory.used', '--format=csv,noheader,nounits', '-i',
             os.environ.get('CUDA_VISIBLE_DEVICES', '0')]  # fmt: skip
    return int(subprocess.run(query, capture_output=True, text=True, check=True).stdout)


def software() -> dict[str, str]:
    """Return versions."""
    return {'torch': torch.__version__, 'cuda': str(torch.version.cuda),
            'triton': importlib.metadata.version('triton')}  # fmt: skip


def run(arguments: argparse.Namespace, save: Any) -> None:
    """Measure in the order of value, saving after each."""
    on_gpu = arguments.device == 'cuda'
    report: dict[str, Any] = {'form': arguments.form, 'kv': arguments.kv,
                              'context': arguments.context}  # fmt: skip
    if on_gpu:
        used_before = memory_used()
        report |= {'device': torch.cuda.get_device_name(), **ceilings(), **software()}
    bench = Bench(arguments)
    report |= {'draw_s': round(bench.drawn_s, 1), 'pack_s': round(bench.packed_s, 1)}
    report['bytes_per_step'] = bench.step.weights.nbytes_per_token
    for lane in range(bench.lanes):
        bench.fill(lane, bench.context)
    if arguments.energy:
        report['idle_watts'] = idle_watts()
    decode = report['decode'] = []
    for lanes in arguments.lanes:
        masks = np.full((lanes, -(-bench.vocab // 32)), -1, np.int32)
        bench.decode(lanes, 3, masks)
        found = bench.decode(lanes, arguments.steps, masks)
        entry = {'lanes': lanes, 'step_ms': round(1e3 * statistics.median(found), 4),
                 'p99_ms': round(1e3 * sorted(found)[int(0.99 * (len(found) - 1))], 4),
                 'tokens_per_s': round(lanes / statistics.median(found), 1)}  # fmt: skip
        if on_gpu:
            graph = bench.graph_time(lanes)
            entry |= {'graph_ms': round(1e3 * graph, 4),
                      'host_us': round(1e6 * bench.host_time(lanes), 1),
                      'share_of_copy': round(report['bytes_per_step'] / graph
                                             / report['copy_bytes_per_s'], 3)}  # fmt: skip
            if arguments.energy:
                entry['energy'] = bench.energy(lanes, masks, report['idle_watts'])
        decode.append(entry)
        sys.stdout.write(f'{arguments.form} {entry}\n')
        save(report)
    prompt = report['prompt'] = []
    for length in arguments.prompts:
        bench.fill(0, length)
        seconds = min(bench.fill(0, length) for _ in range(3))
        prompt.append({'tokens': length, 'first_token_ms': round(1e3 * seconds, 3),
                       'tokens_per_s': round(length / seconds)})  # fmt: skip
        sys.stdout.write(f'{arguments.form} prompt {prompt[-1]}\n')
        save(report)
    report['decision'] = bench.decision(min(1500, bench.context), 100, 40)
    sys.stdout.write(f'{arguments.form} decision {report["decision"]}\n')
    if on_gpu:
        report['kernels_one_lane'] = bench.kernel_times(arguments.lanes[0])
        for name, each in list(report['kernels_one_lane'].items())[:14]:
            sys.stdout.write(f'  {each} {name[:60]}\n')
        torch.cuda.empty_cache()
        report['device_memory_used_mib'] = memory_used() - used_before
        sys.stdout.write(f'{arguments.form} memory {report["device_memory_used_mib"]} MiB\n')
    for lane in range(bench.lanes):
        bench.fill(lane, bench.context)
    report['rows_compared'] = arguments.compare
    report['rows_unequal'] = bench.unequal(arguments.compare)
    sys.stdout.write(f'{arguments.form} rows unequal alone and in company: '
                     f'{report["rows_unequal"]} of {arguments.compare}\n')  # fmt: skip
    save(report)


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--form', choices=FORMS, default='4bit')
    parser.add_argument('--device', choices=('cuda', 'cpu'), default='cuda')
    parser.add_argument('--geometry', default='e4b')
    parser.add_argument('--kv', choices=('bfloat16', 'float8'), default='bfloat16')
    parser.add_argument('--lanes', type=int, nargs='+', default=[1, 4, 8, 16])
    parser.add_argument('--context', type=int, default=2048)
    parser.add_argument('--most', type=int, default=8704, help='context the buffers are for')
    parser.add_argument('--chunk', type=int, default=512)
    parser.add_argument('--prompts', type=int, nargs='+', default=[100, 512, 2048, 8192])
    parser.add_argument('--steps', type=int, default=100)
    parser.add_argument('--compare', type=int, default=256)
    parser.add_argument('--ple-on-host', action='store_true')
    parser.add_argument('--energy', action='store_true', help='by NVML, above idle')
    arguments = parser.parse_args()

    def save(report: dict[str, Any]) -> None:
        arguments.out.write_text(json.dumps(report, indent=1) + '\n')

    with torch.inference_mode():
        run(arguments, save)


if __name__ == '__main__':
    main()
