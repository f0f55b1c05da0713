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
Train the demo checkpoint: `train_demo.py tokenizer|train|export|plot`.

Conversations come from `demo_data` while the device trains. Several devices: start one process
each with `torchrun --nproc-per-node N scripts/train_demo.py train ...`. With a time limit the
schedule is fitted to it. Stops and resumes at a checkpoint; writes its loss curve as JSON.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
import json
import logging
import lzma
import math
import os
from pathlib import Path
import sys
import tempfile
import time
from typing import Any

import torch
from torch import distributed

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'scripts')]

from demo_data import packing  # noqa: E402
from demo_data.curve import draw_curve  # noqa: E402
from demo_data.feed import Feed  # noqa: E402
from demo_data.feed import Supply  # noqa: E402
from demo_data.pace import Pace  # noqa: E402
from demo_data.qat import RECIPE  # noqa: E402
from demo_data.trainer import Group  # noqa: E402
from demo_data.trainer import Plan  # noqa: E402
from demo_data.trainer import Trainer  # noqa: E402
from gemma_node.model.config import ModelConfig  # noqa: E402
from gemma_node.model.gemma4 import Gemma4  # noqa: E402
from gemma_node.model.weights import load_model  # noqa: E402
from gemma_node.quant.convert import convert  # noqa: E402
from gemma_node.quant.packed import dense  # noqa: E402

LOG = logging.getLogger('train_demo')
_COPIED = ('tokenizer.json', 'tokenizer_config.json', 'generation_config.json',
           'chat_template.jinja')


class Run:
    """One process's part of a training run, from its workers to its record."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.began = time.monotonic()
        self.plan = plan = Plan(
            **{k: v for k, v in vars(arguments).items() if k in Plan.__dataclass_fields__})
        self.group = group = Group(
            int(os.environ.get('RANK', '0')), int(os.environ.get('WORLD_SIZE', '1')))
        self.is_first = group.rank == 0
        self.out = Path(arguments.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.waited = 0.0
        self.curve: list[dict[str, Any]] = []
        supply = Supply(
            plan.data_seed, plan.rows, plan.length, arguments.first_chunk + group.rank,
            group.size, plan.held_out if self.is_first else 0, assets_of(arguments.config),
            plan.helping, plan.drills_first, plan.drills_last, plan.drill_chunks)
        self.feed = Feed(supply, workers=arguments.workers, repeats=plan.repeats,
                         seed=plan.seed * 1000 + group.rank)
        self.device = self._join()
        LOG.info('process %s of %s on %s', group.rank, group.size, self.device)
        if arguments.compile_cache and Path(arguments.compile_cache).is_file():
            held = lzma.decompress(Path(arguments.compile_cache).read_bytes())
            torch.compiler.load_cache_artifacts(held)
            LOG.info('%s bytes of compiled code', len(held))
        self.trainer = Trainer(plan, ModelConfig.from_folder(arguments.config), self.device,
                               group, compiles=self.device != 'cpu')
        if arguments.start:
            load_shards(self.trainer.model, Path(arguments.start))
        self.first = self.trainer.resume(Path(arguments.state)) if arguments.state else 0

    def train(self) -> None:
        """Train as planned, or until the time is up; writes weights and record."""
        arguments, trainer = self.arguments, self.trainer
        limit = arguments.max_seconds - (time.monotonic() - self.began)
        pace = Pace(self.plan.steps, self.first, limit, self.group)
        step = self.first
        while True:
            asked = time.monotonic()
            rows = self.feed.batch(step)
            self.waited += time.monotonic() - asked
            if step == self.first:
                LOG.info('first batch after %.1f s', time.monotonic() - self.began)
            loss = trainer.step(rows, step)
            self._log(step, loss, is_last=False)
            if self.is_first and step % self.plan.eval_every == self.plan.eval_every - 1:
                self._evaluate(step)
                save_shards(trainer.model, self.out)
                if arguments.state:
                    trainer.save(Path(arguments.state), step + 1)
            trainer.progress = pace.after(step, trainer.progress)
            if pace.is_over:
                break
            step += 1
        self._log(step, loss, is_last=True)
        if self.is_first:
            self._finish(step)
        self.feed.close()
        if self.group.size > 1:
            distributed.destroy_process_group()

    def _finish(self, step: int) -> None:
        arguments = self.arguments
        save_shards(self.trainer.model, self.out)
        if arguments.state:
            self.trainer.save(Path(arguments.state), step + 1)
        self._evaluate(step)
        self._write_record(step)
        if arguments.compile_cache and not Path(arguments.compile_cache).exists():
            saved = torch.compiler.save_cache_artifacts()
            if saved is not None:
                Path(arguments.compile_cache).write_bytes(lzma.compress(saved[0], preset=1))

    def _join(self) -> str:
        """Join the other processes; returns this one's device."""
        torch.set_float32_matmul_precision('high')
        device = 'cpu'
        if torch.cuda.is_available():
            device = f'cuda:{os.environ.get("LOCAL_RANK", "0")}'
            torch.cuda.set_device(device)
        if self.group.size > 1:
            distributed.init_process_group('cpu:gloo,cuda:nccl' if device != 'cpu' else 'gloo')
        return device

    def _log(self, step: int, loss: torch.Tensor, *, is_last: bool) -> None:
        if self.is_first and (is_last or step % self.arguments.log_every == 0):
            self.curve.append({
                'step': step, 'loss': round(loss.item(), 4),
                'progress': round(self.trainer.progress, 4),
                's': round(time.monotonic() - self.began, 1),
                'waited_s': round(self.waited, 1), 'fresh': self.feed.num_fresh})
            LOG.info('%s', self.curve[-1])

    def _evaluate(self, step: int) -> None:
        scores = self.trainer.evaluate(self.feed.held_out())
        self.curve.append({'step': step, 'held_out': scores})
        LOG.info('%s', self.curve[-1])

    def _write_record(self, step: int) -> None:
        plan, done = self.plan, step + 1 - self.first
        record = {
            'plan': asdict(plan), 'steps_done': step + 1, 'resumed_at': self.first,
            'device': self._device_name(), 'devices': self.group.size,
            'workers_each': self.arguments.workers, 'torch': torch.__version__,
            'parameters': self.trainer.model.num_parameters,
            'tokens_seen': done * plan.rows * plan.length * self.group.size,
            'fresh_batches_of_first': self.feed.num_fresh,
            'packs_left_out_of_first': self.feed.num_left_out,
            'wall_s': round(time.monotonic() - self.began, 1),
            'command': ' '.join(sys.argv[1:]), 'held_out': self.curve[-1]['held_out'],
            'curve': self.curve,
        }
        text = json.dumps(record, indent=1) + '\n'
        (self.out / 'train.json').write_text(text, encoding='utf-8')

    def _device_name(self) -> str:
        return 'cpu' if self.device == 'cpu' else torch.cuda.get_device_name()


def assets_of(config: str) -> Path:
    """Return the folder of tokenizer and template: the config's own, or the package's."""
    folder = Path(config)
    return folder if (folder / 'tokenizer.json').is_file() else packing.ASSETS


def save_shards(model: Gemma4, folder: Path, nbytes: int = 15_000_000) -> None:
    """Write weights in bfloat16, as the file will hold them, in files of bounded size."""
    from safetensors.torch import save_file

    shards: list[dict[str, torch.Tensor]] = [{}]
    for name, tensor in model.state_dict().items():
        used = sum(t.nbytes for t in shards[-1].values())
        if shards[-1] and used + tensor.numel() * 2 > nbytes:
            shards.append({})
        shards[-1][name] = tensor.detach().bfloat16().cpu().contiguous()
    for number, shard in enumerate(shards):
        save_file(shard, str(folder / f'new-{number}.tmp'))
    for number in range(len(shards)):
        (folder / f'new-{number}.tmp').replace(folder / f'weights-{number}.safetensors')


def load_shards(model: Gemma4, folder: Path) -> None:
    """Read what `save_shards` wrote, or the weights of a checkpoint folder, packed or not."""
    from safetensors.torch import load_file

    weights: dict[str, torch.Tensor] = {}
    for file in sorted(folder.glob('weights-*.safetensors')):
        weights |= load_file(str(file))
    if not weights:
        held = load_model(folder)
        for name in model.state_dict():
            module = held.get_submodule(name.rpartition('.')[0])
            weights[name] = (dense(module.packed, torch.float32) if hasattr(module, 'packed')
                             else held.get_parameter(name).detach())
    model.load_state_dict(weights)


def export(arguments: argparse.Namespace) -> None:
    """Write a checkpoint folder by a recipe, from the weights of a run."""
    from safetensors.torch import save_file

    config = Path(arguments.config)
    model = Gemma4(ModelConfig.from_folder(config))
    load_shards(model, Path(arguments.start))
    if arguments.mean_with:
        other = Gemma4(model.config)
        load_shards(other, Path(arguments.mean_with))
        with torch.no_grad():
            for mine, its in zip(model.parameters(), other.parameters(), strict=True):
                mine.copy_(0.5 * mine + 0.5 * its)
    weights = {f'model.{name}': tensor.to(torch.bfloat16).contiguous()
               for name, tensor in model.state_dict().items()}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in _COPIED:
            (folder / name).write_bytes((assets_of(arguments.config) / name).read_bytes())
        raw = json.loads((config / 'config.json').read_text(encoding='utf-8'))
        plain = {k: v for k, v in raw.items() if not k.startswith('quantization')}
        (folder / 'config.json').write_text(json.dumps(plain, indent=2), encoding='utf-8')
        save_file(weights, str(folder / 'model.safetensors'), metadata={'format': 'pt'})
        made = convert(folder, Path(arguments.out), arguments.recipe)
    LOG.info('%s: %s of %s matrices quantised, %s bytes of tensors', arguments.out,
             made.num_quantised, made.num_matrices, made.tensor_bytes)


def tokenizer(arguments: argparse.Namespace) -> None:
    """
    Learn the tokenizer anew from the generator's texts, twice.

    Texts are cut by their tokens, so the first pass starts from bytes and the second from what
    the first learnt: the result depends on nothing that is there already.
    """
    from demo_data.corpus import corpus
    from demo_data.tokenizer import save_tokenizer
    from demo_data.tokenizer import train_tokenizer

    learned = train_tokenizer(())
    for num_packs in (arguments.packs // 4, arguments.packs):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            for name in _COPIED[2:]:
                (folder / name).write_bytes((packing.ASSETS / name).read_bytes())
            save_tokenizer(learned, folder)
            texts = corpus(arguments.seed, num_packs, folder)
        learned = train_tokenizer(texts)
    save_tokenizer(learned, Path(arguments.out))


def plot(arguments: argparse.Namespace) -> None:
    """Draw the loss curves of records as SVG."""
    curves = []
    for file in arguments.records:
        record = json.loads(Path(file).read_text(encoding='utf-8'))
        curves += [(run.get('run', Path(file).stem), run['curve'])
                   for run in record.get('runs', [record])]
    Path(arguments.out).write_text(draw_curve(curves), encoding='utf-8')


def main(words: Sequence[str] | None = None) -> None:
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
    run.add_argument('--start', default='', help='weights or checkpoint to start from')
    run.add_argument('--workers', type=int, default=0, help='that make data, of each process')
    run.add_argument('--first-chunk', type=int, default=0)
    run.add_argument('--log-every', type=int, default=25)
    run.add_argument('--max-seconds', type=float, default=math.inf)
    run.add_argument('--compile-cache', default='', help='file to read, and to write at the end')
    run.set_defaults(verb=lambda arguments: Run(arguments).train())
    write = verbs.add_parser('export', help='write a checkpoint folder')
    write.add_argument('--config', default=str(packing.ASSETS))
    write.add_argument('--start', required=True)
    write.add_argument('--mean-with', default='', help='weights to take the mean with')
    write.add_argument('--recipe', default=RECIPE)
    write.add_argument('--out', required=True)
    write.set_defaults(verb=export)
    learn = verbs.add_parser('tokenizer', help='learn tokenizer.json')
    learn.add_argument('--seed', type=int, default=77)
    learn.add_argument('--packs', type=int, default=2000, help='robots whose texts are read')
    learn.add_argument('--out', default=str(packing.ASSETS))
    learn.set_defaults(verb=tokenizer)
    draw = verbs.add_parser('plot', help='draw loss curves as SVG')
    draw.add_argument('records', nargs='+')
    draw.add_argument('--out', required=True)
    draw.set_defaults(verb=plot)
    arguments = parser.parse_args(words)
    arguments.verb(arguments)


if __name__ == '__main__':
    main()
