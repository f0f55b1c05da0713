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
Train the demo checkpoint: `train_demo.py tokenizer|train|export`.

Conversations come from `demo_data` while the GPU trains; the schedule depends on seeds and step
numbers only. Stops and resumes at a checkpoint; writes its loss curve as JSON.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import replace
import json
import logging
import math
import multiprocessing
import os
from pathlib import Path
import random
import sys
import time
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'scripts')]

from demo_data import packing  # noqa: E402
from demo_data.packed_model import block_mask  # noqa: E402
from demo_data.packed_model import dense_mask  # noqa: E402
from demo_data.packed_model import labels_of  # noqa: E402
from demo_data.packed_model import Layout  # noqa: E402
from demo_data.packed_model import packed_loss  # noqa: E402
from demo_data.packed_model import PackedModel  # noqa: E402
from gemma_node.model.config import ModelConfig  # noqa: E402
from gemma_node.model.gemma4 import Gemma4  # noqa: E402

LOG = logging.getLogger('train_demo')
HELD_OUT_SEED = 999_983
MAX_POSITION = 8192
PACKS_PER_CHUNK = 1000
ENDLESS = 8000


@dataclass(frozen=True)
class Plan:
    """All that decides a training run."""

    steps: int = 3000
    rows: int = 32
    length: int = 4096
    seed: int = 1
    data_seed: int = 1
    repeats: int = 2
    lr: float = 3e-3
    matrix_lr: float = 4e-3
    warmup: int = 100
    weight_decay: float = 0.05
    other_weight: float = 0.25
    eval_rows: int = 16
    eval_every: int = 500


class Feed:
    """
    Batches in a fixed order: every fresh one is followed by `repeats` - 1 older ones.

    Worker processes write fresh ones ahead; the order never depends on their speed.
    """

    def __init__(self, plan: Plan, workers: int, first_chunk: int) -> None:
        self._plan = plan
        self._fresh = self._produce(workers, first_chunk)
        self._pool: list[packing.Rows] = []

    def batch(self, step: int) -> packing.Rows:
        """Return the batch of this step; steps must come in order."""
        if step % self._plan.repeats == 0 or not self._pool:
            self._pool.append(next(self._fresh))
            return self._pool[-1]
        return random.Random(f'{self._plan.seed}/{step}').choice(self._pool)

    def _produce(self, workers: int, first_chunk: int) -> Iterator[packing.Rows]:
        plan = self._plan
        jobs = ((plan.data_seed, chunk, plan.rows, plan.length) for chunk in
                range(first_chunk, first_chunk + plan.steps // plan.repeats + 1))
        if workers == 0:
            yield from map(make_chunk, jobs)
            return
        with multiprocessing.get_context('spawn').Pool(workers, os.nice, (10,)) as pool:
            yield from pool.imap(make_chunk, jobs)


_WRITER: list[Any] = []


def make_chunk(job: tuple[int, int, int, int]) -> packing.Rows:
    """Make one batch of rows; runs in a worker process."""
    if not _WRITER:
        _WRITER.append(packing.load_writer())
    seed, chunk, rows, length = job
    made, used = packing.draw_rows(
        _WRITER[0], seed, chunk * PACKS_PER_CHUNK, rows, length)
    if used > (chunk + 1) * PACKS_PER_CHUNK:
        raise ValueError('a chunk used more packs than it may; make PACKS_PER_CHUNK larger')
    return made


class Trainer:
    """Model, optimizers and the compiled step. One process, one device."""

    def __init__(self, plan: Plan, config: ModelConfig, device: str, *, compiles: bool) -> None:
        torch.manual_seed(plan.seed)
        self.plan = plan
        self.device = device
        self.uses_flex = device == 'cuda'
        self.model = Gemma4(config, fused=True).to(device)
        self.packed = PackedModel(self.model, MAX_POSITION, uses_flex=self.uses_flex).to(device)
        self.window = config.sliding_window
        self.optimizers = self._optimizers()
        shape = (plan.rows, plan.length)
        self.layout = Layout(*(torch.zeros(shape, dtype=torch.int32, device=device)
                               for _ in range(3)))
        self.loss = packed_loss
        if compiles:
            # Layer by layer: the whole model as one graph takes minutes to compile.
            torch._dynamo.config.recompile_limit = 64
            self.packed.run_layer = torch.compile(self.packed.run_layer)
            self.loss = torch.compile(packed_loss)

    def step(self, rows: packing.Rows, step: int) -> torch.Tensor:
        """Take one step; returns the loss, still on the device."""
        rate = self._rate(step)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group['lr'] = group['peak'] * rate
        loss, _, _ = self._run(rows)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    def evaluate(self, batches: list[packing.Rows]) -> dict[str, float]:
        """
        Return the share of answers whose every token is the likeliest, by kind of case.

        Runs the very graph of training, gradients included, so that nothing compiles twice.
        """
        right: dict[str, list[bool]] = defaultdict(list)
        for rows in batches:
            _, predicted, ids = self._run(rows)
            same = torch.zeros_like(ids, dtype=torch.bool)
            same[:, 1:] = predicted.view(ids.shape)[:, :-1] == ids[:, 1:]
            found = same.cpu().numpy()
            for row, start, end, kind in rows.spans:
                right[kind].append(bool(found[row, start:end].all()))
        scores = {kind: sum(v) / len(v) for kind, v in sorted(right.items())}
        everything = [ok for v in right.values() for ok in v]
        return {'all': sum(everything) / len(everything), **scores}

    def save(self, folder: Path, step: int) -> None:
        """Write a checkpoint to resume from."""
        folder.mkdir(parents=True, exist_ok=True)
        torch.save({'step': step, 'model': self.model.state_dict(),
                    'optimizers': [o.state_dict() for o in self.optimizers]},
                   folder / 'state.tmp')
        (folder / 'state.tmp').replace(folder / 'state.pt')

    def resume(self, folder: Path) -> int:
        """Load a checkpoint if there is one; returns the next step."""
        file = folder / 'state.pt'
        if not file.is_file():
            return 0
        state = torch.load(file, map_location=self.device, weights_only=True)
        self.model.load_state_dict(state['model'])
        for optimizer, saved in zip(self.optimizers, state['optimizers'], strict=True):
            optimizer.load_state_dict(saved)
        return int(state['step'])

    def _run(self, rows: packing.Rows) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        on = {'device': self.device, 'non_blocking': True}
        ids = torch.from_numpy(rows.ids.astype(np.int64)).to(**on)
        targets = torch.from_numpy(rows.targets).to(**on)
        self.layout.copy_(Layout(*(torch.from_numpy(a.astype(np.int32)).to(**on)
                                   for a in (rows.parts, rows.homes, rows.positions))))
        make = block_mask if self.uses_flex else dense_mask
        full, sliding = make(self.layout, None), make(self.layout, self.window)
        labels, weights, _ = labels_of(ids, self.layout, targets, self.plan.other_weight)
        with torch.autocast(self.device, torch.bfloat16, enabled=self.device == 'cuda'):
            hidden = self.packed(ids, self.layout.positions, full, sliding)
            loss, predicted = self.loss(self.model, hidden, labels, weights)
        return loss, predicted, ids

    def _optimizers(self) -> list[torch.optim.Optimizer]:
        """Muon for the matrices of the layers where PyTorch has it, AdamW for everything else."""
        plan = self.plan
        matrices, tables, vectors = [], [], []
        for name, parameter in self.model.named_parameters():
            if parameter.ndim < 2:
                vectors.append(parameter)
            elif 'embed' in name:
                tables.append(parameter)
            else:
                matrices.append(parameter)
        groups = [
            {'params': tables, 'weight_decay': 0.0, 'lr': plan.lr, 'peak': plan.lr},
            {'params': vectors, 'weight_decay': 0.0, 'lr': plan.lr, 'peak': plan.lr},
        ]
        muon = getattr(torch.optim, 'Muon', None)
        made: list[torch.optim.Optimizer] = []
        if muon is None:
            groups.append({'params': matrices, 'weight_decay': plan.weight_decay, 'lr': plan.lr,
                           'peak': plan.lr})
        else:
            group = {'params': matrices, 'lr': plan.matrix_lr, 'peak': plan.matrix_lr}
            made.append(muon([group], weight_decay=plan.weight_decay,
                             adjust_lr_fn='match_rms_adamw'))
        made.append(torch.optim.AdamW(
            groups, betas=(0.9, 0.95), eps=1e-8, fused=self.device == 'cuda'))
        return made

    def _rate(self, step: int) -> float:
        plan = self.plan
        if step < plan.warmup:
            return (step + 1) / plan.warmup
        share = (step - plan.warmup) / max(plan.steps - plan.warmup, 1)
        return 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(share, 1.0)))


def train(arguments: argparse.Namespace) -> None:
    """Train as planned, or until the time is up; writes weights and curve."""
    plan = Plan(**{k: v for k, v in vars(arguments).items() if k in Plan.__dataclass_fields__})
    out, began = Path(arguments.out), time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    torch.set_float32_matmul_precision('high')
    config = ModelConfig.from_folder(arguments.config)
    held_out = [make_chunk((HELD_OUT_SEED, i, plan.rows, plan.length))
                for i in range(max(plan.eval_rows // plan.rows, 1))]
    trainer = Trainer(plan, config, device, compiles=device == 'cuda')
    if arguments.start:
        load_shards(trainer.model, Path(arguments.start))
    first = trainer.resume(Path(arguments.state)) if arguments.state else 0
    feed = Feed(plan, arguments.workers, arguments.first_chunk + first // plan.repeats)
    curve: list[dict[str, Any]] = []
    step = first
    waited = 0.0
    for step in range(first, plan.steps):
        asked = time.monotonic()
        rows = feed.batch(step)
        waited += time.monotonic() - asked
        loss = trainer.step(rows, step)
        if step % arguments.log_every == 0 or step == plan.steps - 1:
            curve.append({'step': step, 'loss': round(loss.item(), 4),
                          's': round(time.monotonic() - began, 1),
                          'waited_s': round(waited, 1)})
            LOG.info('%s', curve[-1])
        if step % plan.eval_every == plan.eval_every - 1:
            curve.append({'step': step, 'held_out': trainer.evaluate(held_out)})
            LOG.info('%s', curve[-1])
        if plan.steps == ENDLESS and step == first + 80:
            plan = trainer.plan = _fitted(plan, step, curve, arguments.max_seconds)
            LOG.info('%s steps fit', plan.steps)
        if time.monotonic() - began > arguments.max_seconds or step + 1 >= plan.steps:
            break
    if arguments.state:
        trainer.save(Path(arguments.state), step + 1)
    final = trainer.evaluate(held_out)
    LOG.info('held out: %s', final)
    save_shards(trainer.model, out)
    report = {
        'plan': asdict(plan), 'steps_done': step + 1, 'resumed_at': first, 'device': _name(device),
        'torch': torch.__version__,
        'parameters': sum(p.numel() for p in trainer.model.parameters()),
        'tokens_seen': (step + 1 - first) * plan.rows * plan.length,
        'wall_s': round(time.monotonic() - began, 1), 'command': ' '.join(sys.argv[1:]),
        'held_out': final, 'curve': curve,
    }
    (out / 'train.json').write_text(json.dumps(report, indent=1) + '\n', encoding='utf-8')


def _fitted(plan: Plan, step: int, curve: list[dict[str, Any]], max_seconds: float) -> Plan:
    """Choose the number of steps that fits the time, from the speed of the last ones."""
    timed = [point for point in curve if 's' in point][-2:]
    pace = (timed[-1]['s'] - timed[0]['s']) / (timed[-1]['step'] - timed[0]['step'])
    left = max_seconds - timed[-1]['s'] - 20
    return replace(plan, steps=max(step + int(left / pace), step + 1))


def _name(device: str) -> str:
    return torch.cuda.get_device_name() if device == 'cuda' else 'cpu'


def save_shards(model: Gemma4, folder: Path, nbytes: int = 15_000_000) -> None:
    """Write float32 weights as safetensors files of bounded size."""
    from safetensors.torch import save_file

    shards: list[dict[str, torch.Tensor]] = [{}]
    for name, tensor in model.state_dict().items():
        used = sum(t.numel() * 4 for t in shards[-1].values())
        if shards[-1] and used + tensor.numel() * 4 > nbytes:
            shards.append({})
        shards[-1][name] = tensor.detach().float().cpu().contiguous()
    for number, shard in enumerate(shards):
        save_file(shard, str(folder / f'weights-{number}.safetensors'))


def load_shards(model: Gemma4, folder: Path) -> None:
    """Read what `save_shards` wrote."""
    from safetensors.torch import load_file

    weights: dict[str, torch.Tensor] = {}
    for file in sorted(folder.glob('weights-*.safetensors')):
        weights |= load_file(str(file))
    model.load_state_dict(weights)


def export(arguments: argparse.Namespace) -> None:
    """Write model.safetensors in bfloat16 with the names of a Gemma4ForCausalLM checkpoint."""
    from safetensors.torch import save_file

    model = Gemma4(ModelConfig.from_folder(arguments.config))
    load_shards(model, Path(arguments.start))
    weights = {f'model.{name}': tensor.to(torch.bfloat16).contiguous()
               for name, tensor in model.state_dict().items()}
    save_file(weights, arguments.out, metadata={'format': 'pt'})


def tokenizer(arguments: argparse.Namespace) -> None:
    """Learn the tokenizer anew from the generator's texts."""
    from demo_data.corpus import corpus
    from demo_data.tokenizer import save_tokenizer
    from demo_data.tokenizer import train_tokenizer

    save_tokenizer(train_tokenizer(corpus(arguments.seed, 400)), Path(arguments.out))


def main(words: list[str] | None = None) -> None:
    """Read the command line (or `words`) and run one verb."""
    logging.basicConfig(level=logging.INFO, format='%(message)s')
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(required=True)
    run = verbs.add_parser('train', help='train, or continue')
    for name, spec in Plan.__dataclass_fields__.items():
        kind = float if spec.type == 'float' else int
        run.add_argument(f'--{name.replace("_", "-")}', type=kind, default=spec.default)
    run.add_argument('--config', default=str(packing.ASSETS), help='folder of config.json')
    run.add_argument('--out', required=True)
    run.add_argument('--state', default='', help='folder of the checkpoint to resume from')
    run.add_argument('--start', default='', help='folder of weights to start from')
    run.add_argument('--workers', type=int, default=0)
    run.add_argument('--first-chunk', type=int, default=0)
    run.add_argument('--log-every', type=int, default=25)
    run.add_argument('--max-seconds', type=float, default=math.inf)
    run.set_defaults(verb=train)
    write = verbs.add_parser('export', help='write model.safetensors')
    write.add_argument('--config', default=str(packing.ASSETS))
    write.add_argument('--start', required=True)
    write.add_argument('--out', default=str(packing.ASSETS / 'model.safetensors'))
    write.set_defaults(verb=export)
    learn = verbs.add_parser('tokenizer', help='learn tokenizer.json')
    learn.add_argument('--seed', type=int, default=77)
    learn.add_argument('--out', default=str(packing.ASSETS))
    learn.set_defaults(verb=tokenizer)
    arguments = parser.parse_args(words)
    arguments.verb(arguments)


if __name__ == '__main__':
    main()
