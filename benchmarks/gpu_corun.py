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
A perception load at 30 Hz beside the robots' engine: `gpu_corun.py CKPT --out FILE`.

The load is a stack of convolutions as a camera's network has them, in a process of its own and in
this one on a stream of high or low priority: every 33 ms it is started, and timed until its result
is on the host. Alone first, then beside an engine that decodes 8 lanes and prefills all the time.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gemma_node.core import Generation  # noqa: E402
from gemma_node.engine.config import EngineConfig  # noqa: E402
from gemma_node.engine.engine import Engine  # noqa: E402
from gemma_node.model.weights import load_model  # noqa: E402

PERIOD_S = 1 / 30


class Load:
    """A network that looks at one frame."""

    def __init__(self, layers: int, *, urgent: bool) -> None:
        priority = -5 if urgent else 0
        self._stream = torch.cuda.Stream(priority=priority)  # type: ignore[no-untyped-call]
        with torch.cuda.stream(self._stream):
            self._image = torch.randn(1, 64, 240, 320, device='cuda', dtype=torch.float16)
            self._layers = [
                torch.nn.Conv2d(64, 64, 3, padding=1, device='cuda', dtype=torch.float16)
                for _ in range(layers)
            ]
            self._result = torch.zeros(1, pin_memory=True)
        self.frame()

    def frame(self) -> float:
        """Return the seconds of one frame, until its result is on the host."""
        started = time.perf_counter()
        with torch.inference_mode(), torch.cuda.stream(self._stream):
            seen = self._image
            for layer in self._layers:
                seen = torch.relu(layer(seen))
            self._result.copy_(seen.float().mean()[None], non_blocking=True)
            self._stream.synchronize()
        return time.perf_counter() - started

    def run(self, seconds: float) -> list[float]:
        """Return the times of frames at 30 Hz."""
        found, began = [], time.perf_counter()
        for number in range(int(seconds / PERIOD_S)):
            time.sleep(max(0.0, began + number * PERIOD_S - time.perf_counter()))
            found.append(self.frame())
        return found


class Robots(threading.Thread):
    """An engine that is never idle: decodes of 8 lanes, a prompt of 2,048 tokens each second."""

    def __init__(self, checkpoint: str, slice_s: float) -> None:
        super().__init__(daemon=True)
        model = load_model(checkpoint)
        config = EngineConfig(
            lanes=8, context_tokens=4096, state_budget_bytes=0, device='cuda',
            compute_dtype='bfloat16', max_slice_s=slice_s,
        )  # fmt: skip
        self.engine = Engine(model, config)
        self.engine.warm_up()
        self.runner = self.engine.runner_identity
        self._vocab = model.config.vocab_size
        self._rng = np.random.default_rng(5)
        self._number = 0
        self.is_over = threading.Event()

    def submit(self) -> None:
        """Ask for one more reply."""
        self._number += 1
        long = self._number % 8 == 0
        ids = self._rng.integers(0, self._vocab, 2048 if long else 100).tolist()
        self.engine.submit(Generation(id=f'{self._number}', state_key=f'{self._number}',
                                      prompt_ids=tuple(ids), max_tokens=80))  # fmt: skip

    def run(self) -> None:
        """Serve until it is over."""
        for _ in range(8):
            self.submit()
        while not self.is_over.is_set():
            for event in self.engine.step():
                if hasattr(event, 'finish'):
                    self.submit()


def facts(times: list[float]) -> dict[str, float]:
    """Return median, p99 and slowest in ms."""
    ranked = sorted(times)
    return {
        'frames': len(ranked), 'median_ms': round(1e3 * ranked[len(ranked) // 2], 3),
        'p99_ms': round(1e3 * ranked[int(0.99 * (len(ranked) - 1))], 3),
        'slowest_ms': round(1e3 * ranked[-1], 3),
    }  # fmt: skip


def other_process(arguments: argparse.Namespace) -> dict[str, float]:
    """Return what a load in a process of its own sees."""
    command = [sys.executable, __file__, arguments.checkpoint, '--out', '-', '--load',
               '--seconds', str(arguments.seconds), '--layers', str(arguments.layers)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measure, write the file, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('checkpoint')
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--seconds', type=float, default=6.0)
    parser.add_argument('--layers', type=int, default=24)
    parser.add_argument('--slice-ms', type=float, default=10.0, help='engine.max_slice_ms')
    parser.add_argument('--other-process', action='store_true', help='the load has its own')
    parser.add_argument('--load', action='store_true', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.load:
        load = Load(arguments.layers, urgent=False)
        load.run(1.0)
        sys.stdout.write(json.dumps(facts(load.run(arguments.seconds))) + '\n')
        return
    report: dict[str, Any] = {'device': torch.cuda.get_device_name(), 'layers': arguments.layers}
    with torch.inference_mode():
        robots = Robots(arguments.checkpoint, arguments.slice_ms / 1e3)
    loads = {} if arguments.other_process else {
        'stream of high priority': Load(arguments.layers, urgent=True),
        'stream of low priority': Load(arguments.layers, urgent=False),
    }  # fmt: skip
    report['runner'] = robots.runner
    cases: dict[str, Any] = {name: {'alone': facts(each.run(arguments.seconds))}
                             for name, each in loads.items()}  # fmt: skip
    if arguments.other_process:
        cases['process of its own'] = {'alone': other_process(arguments)}
    robots.start()
    time.sleep(1.0)
    for name, each in loads.items():
        cases[name]['beside'] = facts(each.run(arguments.seconds))
    if arguments.other_process:
        cases['process of its own']['beside'] = other_process(arguments)
    robots.is_over.set()
    robots.join(5.0)
    for name, each in cases.items():
        each['p99_grows_by'] = round(each['beside']['p99_ms'] / each['alone']['p99_ms'] - 1, 3)
        sys.stdout.write(f'{name}: {each}\n')
    report |= {'cases': cases, 'generated_tokens': robots.engine.stats().generated_tokens}
    arguments.out.write_text(json.dumps(report, indent=1) + '\n')


if __name__ == '__main__':
    main()
