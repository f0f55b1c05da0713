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
Finish a trained demo checkpoint on a CPU: short answers over one shared prefix per step.

The prefix's keys and values are computed once for all answers of a step, which makes a step on
two cores some four times cheaper than packed rows. Same data, loss and weights as train_demo.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
from pathlib import Path
import random
import sys
import time
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'scripts')]

import train_demo  # noqa: E402

from demo_data import packing  # noqa: E402
from demo_data.cases import CaseMaker  # noqa: E402
from gemma_node.model.config import ModelConfig  # noqa: E402
from gemma_node.model.gemma4 import Gemma4  # noqa: E402
from gemma_node.model.rope import rotary_tables  # noqa: E402

LOG = logging.getLogger('tune_demo')
NEEDS_HISTORY = ('follow_up', 'again')


def draw_step(
    writer: Any, seed: int, index: int, *, count: int, max_tail: int
) -> tuple[tuple[int, ...], list[packing.Tail]]:
    """Make one prefix and `count` short tails; history only where the answer needs it."""
    rng = random.Random(f'tune/{seed}/{index}')
    book = packing.draw_book(rng)
    settings = packing.draw_settings(rng, book)
    maker = CaseMaker(rng, book, settings.name)
    writer._prefixes.clear()
    prefix = writer.prefix(settings).ids
    tails: list[packing.Tail] = []
    while len(tails) < count:
        case = maker.decide(of_any_robot=True) if rng.random() < 0.2 else maker.draw()
        if case.kind not in NEEDS_HISTORY and rng.random() < 0.9:
            case.turns = []
        prompt, target = packing.encode_case(writer, settings, case)
        ids = (*prompt.ids[len(prefix):], *target)
        if len(ids) <= max_tail:
            tails.append(packing.Tail(ids, len(target), case.kind))
    return prefix, tails


class SharedPrefix:
    """Runs prefix and tails in one pass; tails see the prefix and themselves."""

    def __init__(self, model: Gemma4) -> None:
        self.model = model
        config = model.config
        self.tables = {
            is_sliding: rotary_tables(
                config.rope(is_sliding=is_sliding),
                config.head_dim if is_sliding else config.global_head_dim, 4096,
                dtype=torch.float32)
            for is_sliding in (False, True)
        }
        for layer in model.layers:
            layer.self_attn._attend = self._attend

    def hidden(self, prefix: torch.Tensor, tails: torch.Tensor) -> torch.Tensor:
        """Return the normed stream [tails, length, hidden] over padded tails."""
        model, config = self.model, self.model.config
        (num, length), at = tails.shape, len(prefix)
        flat = torch.cat((prefix, tails.flatten()))[None]
        where = torch.cat((torch.arange(at), torch.arange(at, at + length).repeat(num)))
        h = model.embed_tokens(flat)
        ple = model._per_layer_inputs(flat, h)
        read: dict[int, Any] = {}
        for index, layer in enumerate(model.layers):
            plan = config.layer(index)
            tables = tuple(table[where] for table in self.tables[plan.is_sliding])
            shape = (at, num, length, config.sliding_window if plan.is_sliding else 1 << 20)
            shared = None if plan.owns_kv else read[plan.kv_source]
            h, read[index] = layer(h, ple[:, :, index], tables, shape, shared)
        return model.norm(h[0, at:]).view(num, length, -1)

    def _attend(
        self, q: torch.Tensor, shared: tuple[torch.Tensor, torch.Tensor],
        shape: tuple[int, int, int, int],
    ) -> torch.Tensor:
        at, num, length, window = shape
        k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in shared)
        q, k = q.to(v.dtype), k.to(v.dtype)
        rows = torch.arange(at + length)
        distance = rows[:, None] - rows
        visible = (distance >= 0) & (distance < window)
        first = F.scaled_dot_product_attention(
            q[:, :, :at], k[:, :, :at], v[:, :, :at], attn_mask=visible[:at, :at], scale=1.0)
        heads, dim = q.shape[1], q.shape[3]

        def tails_of(x: torch.Tensor) -> torch.Tensor:
            return x[0, :, at:].reshape(heads, num, length, dim).transpose(0, 1)

        def with_prefix(x: torch.Tensor) -> torch.Tensor:
            return torch.cat((x[:, :, :at].expand(num, -1, -1, -1), tails_of(x)), 2)

        rest = F.scaled_dot_product_attention(
            tails_of(q), with_prefix(k), with_prefix(v), attn_mask=visible[at:], scale=1.0)
        rest = rest.transpose(0, 1).reshape(1, heads, num * length, dim)
        return torch.cat((first, rest), 2)


def loss_of(
    runner: SharedPrefix, prefix: tuple[int, ...], tails: list[packing.Tail]
) -> tuple[torch.Tensor, int]:
    """Return the mean loss over the answers' tokens, and how many answers are right."""
    length = max(len(tail.ids) for tail in tails)
    ids = torch.zeros(len(tails), length, dtype=torch.long)
    wanted = torch.zeros(len(tails), length, dtype=torch.bool)
    for row, tail in enumerate(tails):
        ids[row, :len(tail.ids)] = torch.tensor(tail.ids)
        wanted[row, len(tail.ids) - tail.num_target:len(tail.ids)] = True
    hidden = runner.hidden(torch.tensor(prefix), ids)
    picked = wanted[:, 1:]
    logits = runner.model.head(hidden[:, :-1][picked]).float()
    labels = ids[:, 1:][picked]
    wrong = (logits.argmax(-1) != labels).float()
    owner = picked.nonzero()[:, 0]
    failed = torch.zeros(len(tails)).index_add(0, owner, wrong)
    return F.cross_entropy(logits, labels), int((failed == 0).sum())


def tune(arguments: argparse.Namespace) -> None:
    """Take `steps` steps of AdamW with a rate that rises briefly and falls to zero."""
    os.nice(arguments.nice)
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(arguments.threads)
    model = Gemma4(ModelConfig.from_folder(packing.ASSETS), fused=True)
    train_demo.load_shards(model, Path(arguments.start))
    runner, writer = SharedPrefix(model), packing.load_writer()
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.0)
    curve: list[dict[str, Any]] = []
    began = time.monotonic()
    for step in range(arguments.steps):
        rise = min(1.0, (step + 1) / 10)
        for group in optimizer.param_groups:
            group['lr'] = arguments.lr * rise * (1 - step / arguments.steps)
        prefix, tails = draw_step(
            writer, arguments.seed, step, count=arguments.count, max_tail=arguments.max_tail)
        with torch.autocast('cpu', torch.bfloat16):
            loss, right = loss_of(runner, prefix, tails)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        curve.append({'step': step, 'loss': round(loss.item(), 4),
                      'right': right / len(tails), 's': round(time.monotonic() - began, 1)})
        LOG.info('%s', curve[-1])
        if step % 25 == 24 or step + 1 == arguments.steps:
            out = Path(arguments.out)
            out.mkdir(parents=True, exist_ok=True)
            train_demo.save_shards(model, out)
            text = json.dumps({'command': ' '.join(sys.argv[1:]), 'device': 'cpu',
                               'torch': torch.__version__, 'curve': curve}, indent=1)
            (out / 'tune.json').write_text(text + '\n', encoding='utf-8')


def main() -> None:
    """Read the command line."""
    logging.basicConfig(level=logging.INFO, format='%(message)s')
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--start', required=True, help='folder of weights to start from')
    parser.add_argument('--out', required=True)
    parser.add_argument('--steps', type=int, default=150)
    parser.add_argument('--count', type=int, default=40, help='answers a step')
    parser.add_argument('--max-tail', type=int, default=260)
    parser.add_argument('--lr', type=float, default=2e-4)
    parser.add_argument('--seed', type=int, default=5)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--nice', type=int, default=15)
    tune(parser.parse_args())


if __name__ == '__main__':
    main()
