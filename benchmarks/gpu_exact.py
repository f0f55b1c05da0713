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
Compare bits of replies alone and in company on a GPU: `gpu_exact.py --pairs 3000 --out FILE`.

Alone: a prompt in passes of 512 rows, then one row a step. In company: another lane, passes of
parts of several prompts and of other lengths, a cache full of NaN before, and up to 16 rows a
step of 1 or 2 from each lane. A pair is one reply alone and in one company; it is equal when
every row's best id and both logarithms of sums over all 262,144 ids have equal bits. Faults are
planted too, and must be found.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
import json
from pathlib import Path
import sys
import time
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gpu_step import Bench  # noqa: E402

from gemma_node.backends.cuda_step import places  # noqa: E402
from gemma_node.backends.cuda_step import Segment  # noqa: E402
from gemma_node.kernels import cuda_matmul  # noqa: E402
from gemma_node.kernels import triton_attention  # noqa: E402
from gemma_node.kernels import tuning  # noqa: E402

CHUNKS = (64, 128, 192, 320, 512)


class Gate:
    """Prompts and replies of one model."""

    def __init__(self, bench: Bench, steps: int, longest: int, companies: int) -> None:
        self.bench, self.steps, self.longest = bench, steps, longest
        self.companies = companies
        self.rng = np.random.default_rng(7)

    def prefill(self, ids: Any, lane: int, chunk: int) -> Any:
        """Run a prompt; return what its last row says, as bytes, and its best id."""
        step, looks = self.bench.step, None
        for start in range(0, len(ids), chunk):
            part = ids[start : start + chunk]
            is_last = start + chunk >= len(ids)
            looks = step.prompt(part, start, lane, (len(part) - 1,) if is_last else ())
        return looks

    def alone(self, ids: Any) -> tuple[list[int], list[bytes]]:
        """Return a reply and its rows' bits."""
        looks = self.prefill(ids, 0, 512)
        reply, rows = [int(looks.best[0])], [looks.values.tobytes()]
        for index in range(self.steps):
            looks = self.bench.step.decode(
                np.array(reply[-1:], np.int32), np.array([len(ids) + index], np.int32),
                np.zeros(1, np.int32))  # fmt: skip
            reply.append(int(looks.best[0]))
            rows.append(looks.values.tobytes())
        return reply, rows

    def together(self, prompts: list[Any]) -> list[Any]:
        """Run prompts in passes of parts of several lanes; return what each last row says."""
        step, chunk = self.bench.step, int(self.rng.choice(CHUNKS))
        found: list[Any] = [None] * len(prompts)
        starts = [0] * len(prompts)
        while any(start < len(ids) for start, ids in zip(starts, prompts, strict=True)):
            segments, lanes, room = [], [], step.max_prompt_rows
            for lane in self.rng.permutation(len(prompts)):
                start, ids = starts[lane], prompts[lane]
                part = ids[start : start + min(chunk, room)]
                if len(part):
                    segments.append(Segment(int(lane), start, part))
                    lanes.append(int(lane))
                    room -= -(-len(part) // 64) * 64
            ended = [each.start + len(each.ids) == len(prompts[each.lane]) for each in segments]
            rows = [place + len(each.ids) - 1 for place, each, is_last
                    in zip(places(segments), segments, ended, strict=True) if is_last]
            step.begin(segments, rows)
            looks = step.take(len(rows))
            row = 0
            for each, is_last in zip(segments, ended, strict=True):
                starts[each.lane] += len(each.ids)
                if is_last:
                    found[each.lane] = (int(looks.best[row]), looks.values[row].tobytes())
                    row += 1
        return found

    def company(self, prompts: list[Any], known: list[Any]) -> list[bool]:
        """Return whether each reply is equal among the others."""
        equal = [seen == (reply[0], rows[0]) for seen, (reply, rows)
                 in zip(self.together(prompts), known, strict=True)]
        done = [0] * len(prompts)
        while min(done) < self.steps:
            entries: list[tuple[int, int]] = []
            asked = [0] * len(prompts)
            # Those that lag first: with 16 lanes not all of them fit twice.
            for lane in sorted(range(len(done)), key=lambda each: done[each]):
                count = min(int(self.rng.integers(1, 3)), self.steps - done[lane])
                asked[lane] = min(count, 16 - len(entries))
                entries += [(lane, done[lane] + each) for each in range(asked[lane])]
            looks = self.bench.step.decode(
                np.array([known[lane][0][index] for lane, index in entries], np.int32),
                np.array([len(prompts[lane]) + index for lane, index in entries], np.int32),
                np.array([lane for lane, _ in entries], np.int32))  # fmt: skip
            for row, (lane, index) in enumerate(entries):
                reply, rows = known[lane]
                equal[lane] &= int(looks.best[row]) == reply[index + 1]
                equal[lane] &= looks.values[row].tobytes() == rows[index + 1]
            done = [each + count for each, count in zip(done, asked, strict=True)]
        return equal

    def prompts(self) -> list[Any]:
        """Return random prompts, one a lane."""
        return [self.rng.integers(0, self.bench.vocab, int(length)).astype(np.int32)
                for length in self.rng.integers(20, self.longest, self.bench.lanes)]  # fmt: skip

    def poison(self) -> None:
        """Fill the cache with numbers that nothing may read."""
        for pool in self.bench.step.pools:
            pool.fill_(127 if pool.dtype == torch.uint8 else torch.nan)

    def pairs(self, count: int, deadline: float) -> tuple[int, int, int]:
        """Return pairs compared, unequal ones and different replies."""
        compared = unequal = 0
        replies = set()
        while compared < count and time.monotonic() < deadline:
            prompts = self.prompts()
            known = [self.alone(ids) for ids in prompts]
            replies |= {tuple(reply) for reply, _ in known}
            for _ in range(self.companies):
                # Another lane, other neighbours, other passes.
                order = self.rng.permutation(len(prompts))
                self.poison()
                equal = self.company([prompts[i] for i in order], [known[i] for i in order])
                compared += len(equal)
                unequal += equal.count(False)
        return compared, unequal, len(replies)

    def planted(self) -> dict[str, bool]:
        """Return which planted faults were found."""
        step, found = self.bench.step, {}

        def differs(body: Any) -> bool:
            prompts = [ids[: len(ids) // 64 * 64 + 40] if len(ids) > 64 else ids
                       for ids in self.prompts()]  # fmt: skip
            known = [self.alone(ids) for ids in prompts]
            self.poison()
            return not all(body(prompts, known))

        def with_page(prompts: list[Any], known: list[Any]) -> list[bool]:
            step.set_page(0, 0, 0, self.bench.pages)
            try:
                return self.company(prompts, known)
            finally:
                step.set_page(0, 0, 0, 0)

        def with_token(prompts: list[Any], known: list[Any]) -> list[bool]:
            changed = [ids.copy() for ids in prompts]
            changed[0][3] = (changed[0][3] + 1) % self.bench.vocab
            return self.company(changed, known)

        def with_split(prompts: list[Any], known: list[Any]) -> list[bool]:
            blocks = dict(triton_attention.ATTENTION_BLOCKS)
            triton_attention.ATTENTION_BLOCKS.update({True: 64})
            step._captured.clear()
            try:
                return self.company(prompts, known)
            finally:
                triton_attention.ATTENTION_BLOCKS.update(blocks)
                step._captured.clear()

        def with_parts(prompts: list[Any], known: list[Any]) -> list[bool]:
            key = (step.weights.layers[0].output.kind, 2560, 2048)
            plan = cuda_matmul.plan_of(step.weights.layers[0].output)
            if plan is not None:
                # Half as many columns a part: sums are rounded at other places.
                planned = dict(cuda_matmul.PLANS)
                cuda_matmul.PLANS[key] = replace(plan, warps=plan.warps // 2,
                                                 parts=plan.parts * 2)  # fmt: skip
                step._captured.clear()
                try:
                    return self.company(prompts, known)
                finally:
                    cuda_matmul.PLANS.clear()
                    cuda_matmul.PLANS.update(planned)
                    step._captured.clear()
            before = tuning.BY_KIND.get(key)
            rows, parts, warps, stages = before or tuning.DECODE[2560, 2048]
            tuning.BY_KIND[key] = (rows, 1 if parts > 1 else 2, warps, stages)
            step._captured.clear()
            try:
                return self.company(prompts, known)
            finally:
                tuning.BY_KIND.pop(key)
                if before:
                    tuning.BY_KIND[key] = before
                step._captured.clear()

        for name, body in (('a page of another lane', with_page), ('one other token', with_token),
                           ('another split of keys', with_split),
                           ('another cut of K', with_parts)):  # fmt: skip
            found[name] = differs(body)
        return found


def main() -> None:
    """Compare, write the file, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--form', default='4bit')
    parser.add_argument('--device', default='cuda')
    parser.add_argument('--geometry', default='e4b')
    parser.add_argument('--kv', choices=('bfloat16', 'float8'), default='bfloat16')
    parser.add_argument('--pairs', type=int, default=3000)
    parser.add_argument('--seconds', type=float, default=100.0)
    parser.add_argument('--steps', type=int, default=6)
    parser.add_argument('--longest', type=int, default=900)
    parser.add_argument('--companies', type=int, default=8)
    parser.add_argument('--lanes', type=int, nargs=1, default=[16])
    arguments = parser.parse_args()
    arguments.ple_on_host = False
    arguments.most, arguments.chunk, arguments.context = 1024, 2048, 900
    started = time.monotonic()
    with torch.inference_mode():
        gate = Gate(Bench(arguments), arguments.steps, arguments.longest, arguments.companies)
        began = time.monotonic()
        compared, unequal, different = gate.pairs(arguments.pairs, started + arguments.seconds)
        report = {
            'device': torch.cuda.get_device_name() if torch.cuda.is_available() else 'cpu',
            'form': arguments.form, 'kv': arguments.kv,
            'pairs': compared, 'unequal': unequal, 'different_replies': different,
            'rows_a_pair': arguments.steps + 1, 'seconds': round(time.monotonic() - began, 1),
        }  # fmt: skip
        sys.stdout.write(f'{report}\n')
        report['planted_faults_found'] = gate.planted()
    sys.stdout.write(f'{report["planted_faults_found"]}\n')
    arguments.out.write_text(json.dumps(report, indent=1) + '\n')


if __name__ == '__main__':
    main()
