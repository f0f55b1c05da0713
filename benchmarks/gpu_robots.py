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
Robots on one GPU: `gpu_robots.py --robots 40 --seconds 180 --out FILE`.

Requests arrive whether or not earlier ones are done: each robot's once a second on average
(Poisson), 100 new tokens on its state of 1,500, 40 tokens of reply; every 5 s a prompt of 8,192
tokens that nothing is known of, at a lower priority; 5 % are canceled on the way. Through the
engine as it serves, with the device's runner; greedy, without a grammar.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
import json
from pathlib import Path
import statistics
import sys
import time
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gpu_energy import Energy  # noqa: E402
from gpu_model import random_model  # noqa: E402
from gpu_step import software  # noqa: E402

from gemma_node.core import Finish  # noqa: E402
from gemma_node.core import Generation  # noqa: E402
from gemma_node.engine import engine as engine_module  # noqa: E402
from gemma_node.engine.config import EngineConfig  # noqa: E402
from gemma_node.engine.device_runner import DeviceRunner  # noqa: E402
from gemma_node.kernels import plain_ops  # noqa: E402

COLD_EVERY_S = 5.0


class Fleet:
    """Robots, their states, and an engine."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.rng = np.random.default_rng(11)
        cpu = arguments.device == 'cpu'
        model = random_model(arguments.form, arguments.device, arguments.geometry)
        self.vocab = model.config.vocab_size
        if cpu:
            engine_module.make_runner = lambda *each: DeviceRunner(*each, plain_ops)
        config = EngineConfig(
            lanes=arguments.lanes, context_tokens=arguments.cold + 64,
            state_budget_bytes=arguments.budget, device=arguments.device,
            compute_dtype='bfloat16',
        )  # fmt: skip
        began = time.monotonic()
        self.engine = engine_module.Engine(model, config)
        if not cpu:
            self.engine.warm_up()
        self.warm_s = round(time.monotonic() - began, 1)
        self.states = [self.tokens(arguments.state) for _ in range(arguments.robots)]
        for robot in range(arguments.robots):
            self.engine.submit(self.request(robot, f'prime {robot}', 1))
            while self.engine.has_work:
                self.engine.step()

    def tokens(self, count: int) -> tuple[int, ...]:
        """Return random tokens."""
        return tuple(self.rng.integers(0, self.vocab, count).tolist())

    def request(self, robot: int, name: str, output: int) -> Generation:
        """Return a robot's request."""
        state = self.states[robot]
        return Generation(
            id=name, state_key=f'robot {robot}', prompt_ids=state + self.tokens(100),
            cuts=(64, len(state)), max_tokens=output, priority=1,
        )  # fmt: skip

    def arrivals(self) -> list[tuple[float, int, float]]:
        """Return time, robot (-1: a cold prompt) and time of cancel, ascending."""
        found = []
        for robot in range(self.arguments.robots):
            at = float(self.rng.exponential(1.0))
            while at < self.arguments.seconds:
                canceled = self.rng.random() < 0.05
                wait = float(self.rng.uniform(0.0, 0.1)) if canceled else float('inf')
                found.append((at, robot, at + wait))
                at += float(self.rng.exponential(1.0))
        at = min(0.5 * COLD_EVERY_S, 0.5 * self.arguments.seconds)
        while at < self.arguments.seconds:
            found.append((at, -1, float('inf')))
            at += COLD_EVERY_S
        return sorted(found)

    def run(self) -> dict[str, Any]:
        """Serve all arrivals; return what the times were."""
        arrivals = self.arrivals()
        requests = {}
        for index, (_, robot, _) in enumerate(arrivals):
            name = f'{index}'
            if robot < 0:
                ids = self.tokens(self.arguments.cold)
                requests[name] = Generation(
                    id=name, state_key=f'cold {index}', max_tokens=1, prompt_ids=ids
                )
            else:
                requests[name] = self.request(robot, name, 40)
        times: dict[int, list[float]] = defaultdict(list)
        cold, canceled, failed, cached = [], 0, 0, []
        pending: list[tuple[float, str]] = []
        open_requests = len(arrivals)
        following, began = 0, time.monotonic()
        while open_requests:
            now = time.monotonic() - began
            while following < len(arrivals) and arrivals[following][0] <= now:
                self.engine.submit(requests.pop(f'{following}'))
                if arrivals[following][2] < float('inf'):
                    pending.append((arrivals[following][2], f'{following}'))
                following += 1
            for at, name in [each for each in pending if each[0] <= now]:
                self.engine.cancel(name)
                pending.remove((at, name))
            if not self.engine.has_work:
                time.sleep(0.0002)
                continue
            events = self.engine.step()
            now = time.monotonic() - began
            for each in events:
                if not hasattr(each, 'finish'):
                    continue
                at, robot, _ = arrivals[int(each.id)]
                open_requests -= 1
                if each.finish is Finish.CANCELED:
                    canceled += 1
                elif each.finish is not Finish.LENGTH:
                    failed += 1
                    sys.stderr.write(f'{each.error_msg}\n')
                elif robot < 0:
                    cold.append(now - at)
                else:
                    times[robot].append(now - at)
                    cached.append(each.cached_tokens)
        whole = sorted(each for found in times.values() for each in found)
        means = [statistics.mean(each) for each in times.values()]
        limit = self.arguments.limit
        return {
            'requests': len(arrivals), 'done': len(whole), 'canceled': canceled,
            'failed': failed, 'seconds': round(time.monotonic() - began, 2),
            'median_ms': round(1e3 * statistics.median(whole), 2),
            'p99_ms': round(1e3 * whole[int(0.99 * (len(whole) - 1))], 2),
            'slowest_ms': round(1e3 * whole[-1], 2),
            'limit_ms': round(1e3 * limit),
            'later_than_limit': round(sum(each > limit for each in whole) / len(whole), 5),
            'worst_robot_over_best': round(max(means) / min(means), 3),
            'cold_ms': [round(1e3 * each, 1) for each in cold],
            'least_cached_tokens': min(cached),
        }  # fmt: skip


def main() -> None:
    """Measure, write the file, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--form', default='4bit')
    parser.add_argument('--device', default='cuda')
    parser.add_argument('--geometry', default='e4b')
    parser.add_argument('--robots', type=int, default=40)
    parser.add_argument('--lanes', type=int, default=16)
    parser.add_argument('--state', type=int, default=1500)
    parser.add_argument('--cold', type=int, default=8192)
    parser.add_argument('--seconds', type=float, default=180.0)
    parser.add_argument('--limit', type=float, default=0.25, help='seconds; later is a miss')
    parser.add_argument('--budget', type=int, default=24 << 30)
    arguments = parser.parse_args()
    fleet = Fleet(arguments)
    report = {'form': arguments.form, 'robots': arguments.robots, 'lanes': arguments.lanes}
    if arguments.device == 'cuda':
        report |= {'device': torch.cuda.get_device_name(), **software()}
    report |= {'warm_s': fleet.warm_s, 'runner': fleet.engine.runner_identity}
    sys.stdout.write(f'warm after {fleet.warm_s} s\n')
    sys.stdout.flush()
    with Energy(arguments.device) as energy:
        report |= fleet.run()
    report |= energy.report
    stats = fleet.engine.stats()
    report |= {'generated_tokens': stats.generated_tokens, 'drafted': stats.drafted_tokens,
               'drafts_accepted': stats.drafts_accepted}  # fmt: skip
    sys.stdout.write(f'{report}\n')
    arguments.out.write_text(json.dumps(report, indent=1) + '\n')


if __name__ == '__main__':
    main()
