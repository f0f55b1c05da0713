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

"""Training learns, resumes where it stopped, and packs rows without changing the model."""

from __future__ import annotations

from collections.abc import Callable
import json
import logging
import math
import os
from pathlib import Path
import random
import socket
import subprocess
import sys
import unittest.mock
import xml.etree.ElementTree

import pytest
import torch
import train_demo

from demo_data import packing
from demo_data import trainer
from demo_data.feed import Feed
from demo_data.feed import Supply
from demo_data.muon import BatchedMuon
from demo_data.pace import Pace
from demo_data.packed_model import dense_mask
from demo_data.packed_model import Layout
from demo_data.packed_model import PackedModel
from demo_data.packed_model import softening
from demo_data.packed_model import wanted_of
from demo_data.qat import Quantised
from demo_data.rivals import Rivals
from gemma_node.model.config import ModelConfig
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.weights import load_model
from gemma_node.quant.packed import dense

SMALL = {
    'hidden_size': 64, 'intermediate_size': 128, 'num_hidden_layers': 4,
    'num_kv_shared_layers': 2, 'num_attention_heads': 2, 'num_key_value_heads': 1,
    'layer_types': ['sliding_attention', 'full_attention'] * 2, 'sliding_window': 128,
}


@pytest.fixture(scope='module')
def small_config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('small')
    raw = json.loads((packing.ASSETS / 'config.json').read_text(encoding='utf-8'))
    (folder / 'config.json').write_text(json.dumps(raw | SMALL), encoding='utf-8')
    return folder


ARGUMENTS = ['--rows', '1', '--length', '1280', '--warmup', '1', '--log-every', '1',
             '--lr', '0.02', '--repeats', '3']


def run_training(folder: Path, config: Path, *more: str) -> dict:
    train_demo.main(
        ['train', '--config', str(config), '--out', str(folder), *ARGUMENTS, *more])
    return json.loads((folder / 'train.json').read_text(encoding='utf-8'))


def test_loss_falls_and_a_stopped_run_goes_on(small_config: Path, tmp_path: Path) -> None:
    state = str(tmp_path / 'state')
    report = run_training(tmp_path, small_config, '--steps', '6', '--state', state)
    losses = [point['loss'] for point in report['curve'] if 'loss' in point]
    assert losses[-1] < losses[0] - 0.8
    report = run_training(tmp_path, small_config, '--steps', '7', '--state', state)
    assert report['resumed_at'] == 6
    assert report['curve'][0]['loss'] < losses[0] - 0.8


def test_two_processes_train_one_model(small_config: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(packing.ROOT / 'scripts' / 'train_demo.py'), 'train',
               '--config', str(small_config), *ARGUMENTS, '--steps', '3', '--qat-from', '0.5']
    with socket.socket() as probe:
        probe.bind(('localhost', 0))
        port = probe.getsockname()[1]
    shared = {**os.environ, 'MASTER_ADDR': 'localhost', 'MASTER_PORT': str(port),
              'WORLD_SIZE': '2', 'OMP_NUM_THREADS': '1'}
    running = [
        subprocess.Popen([*command, '--out', str(tmp_path / str(rank))],
                         env={**shared, 'RANK': str(rank)})
        for rank in (0, 1)]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    report = json.loads((tmp_path / '0' / 'train.json').read_text(encoding='utf-8'))
    assert report['tokens_seen'] == 3 * 1280 * 2
    assert not (tmp_path / '1' / 'train.json').exists()


def test_processes_share_gradients_and_pace(tmp_path: Path) -> None:
    group = trainer.Group(0, 2)
    sums = iter([torch.tensor([4.0, 8.0, 2.0])])

    def all_reduce(flat: torch.Tensor) -> None:
        flat.copy_(next(sums))

    tensors = [torch.zeros(2), torch.zeros(1, 1)]
    with unittest.mock.patch.object(trainer.distributed, 'all_reduce', all_reduce):
        group.add(tensors)
    assert tensors[0].tolist() == [2.0, 4.0] and tensors[1].item() == 1.0


def test_weights_in_quantised_training_are_those_of_the_file(
    small_config: Path, tmp_path: Path
) -> None:
    torch.manual_seed(3)
    model = Gemma4(ModelConfig.from_folder(small_config))
    train_demo.save_shards(model, tmp_path)
    out = tmp_path / 'file'
    train_demo.main(['export', '--config', str(small_config), '--start', str(tmp_path),
                     '--out', str(out)])
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    quantised = Quantised(model)
    quantised.put_in()
    held = load_model(out)
    assert held.is_quantised
    num_changed = 0
    for name, parameter in model.named_parameters():
        module = held.get_submodule(name.rpartition('.')[0])
        stored = dense(module.packed, torch.float32) if hasattr(module, 'packed') else \
            held.get_parameter(name).float()
        assert torch.equal(parameter.detach(), stored), name
        num_changed += not torch.equal(stored, before[name].bfloat16().float())
    assert num_changed > 20
    quantised.take_out()
    assert all(torch.equal(p, before[name]) for name, p in model.named_parameters())


def test_gradients_pass_straight_through_the_stored_weights(small_config: Path) -> None:
    model = Gemma4(ModelConfig.from_folder(small_config))
    quantised = Quantised(model)
    weight = model.layers[0].mlp.down_proj.weight
    before = weight.detach().clone()
    quantised.put_in()
    stored = weight.detach().clone()
    (weight * weight).sum().backward()
    quantised.take_out()
    assert torch.equal(weight.grad, 2 * stored)
    assert torch.equal(weight, before) and not torch.equal(weight, stored)


def test_targets_count_in_their_proportions_and_others_little() -> None:
    ids = torch.arange(12).view(1, 12)
    layout = Layout(*(torch.ones(1, 12, dtype=torch.int32) for _ in range(3)))
    targets = torch.tensor([[0, 0, 0, 0, 3, 3, 1, 0, 0, 0, 0, 0]])
    wanted = wanted_of(ids, layout, targets, other_weight=0.5, share=0.75)
    weight = dict(zip(wanted.labels.tolist(), wanted.weights.tolist(), strict=True))
    assert weight[4] == weight[5] == pytest.approx(3 / 7)
    assert weight[6] == pytest.approx(1 / 7)
    assert sum(weight.values()) == pytest.approx(1.5)
    assert len(weight) == 9


def test_a_deciding_tokens_rivals_are_what_other_tools_go_on_with() -> None:
    writer = packing.load_writer()
    rivals = Rivals(writer, ['go_to', 'go_home', 'stop'])
    decode = writer.tokenizer.decode
    ids = (9, *writer.call_ids((('go_to', {'place': 'lab'}),)))
    found = {decode([ids[at]]): {decode([i]) for i in others}
             for at, others, much in rivals.of(ids, 1, len(ids), 'command') if much == 1}
    assert found == {'<|tool_call>': {'The', 'I'}, 'go': {'stop'}, 'to': {'home'}}
    said = writer.reply_ids('The battery is full.')
    [(at, others, much)] = rivals.of(said, 0, len(said), 'unclear')
    assert (at, decode(list(others)), much) == (0, '<|tool_call>', 3)


def test_smoothing_moves_its_share_of_the_target_to_the_rivals() -> None:
    torch.manual_seed(1)
    model = unittest.mock.Mock(head=lambda x: x, norm=lambda x: x)
    hidden = torch.zeros(2, 6, requires_grad=True)
    at, labels = torch.tensor([1]), torch.tensor([2])
    rivals, share = torch.tensor([[3, 4, -1]]), 0.2
    plain = torch.nn.functional.cross_entropy(hidden[1:], labels)
    (plain + softening(model, hidden, at, labels, rivals, torch.tensor([share]))).backward()
    wanted = torch.tensor([0, 0, 0.8, 0.1, 0.1, 0])
    torch.testing.assert_close(hidden.grad[1], 1 / 6 - wanted)
    assert not hidden.grad[0].any()


def test_a_smoothed_run_trains_and_is_off_by_default(small_config: Path, tmp_path: Path) -> None:
    losses = []
    for share in ('0', '0.05'):
        report = run_training(tmp_path / share, small_config, '--steps', '2', '--helping', '4',
                              '--decision-smoothing', share, '--other-weight', '0')
        losses.append(report['curve'][0]['loss'])
    assert trainer.Plan().decision_smoothing == 0
    assert losses[0] == pytest.approx(losses[1], rel=0.05) and losses[0] != losses[1]


def test_muon_steps_as_the_library_does() -> None:
    torch.manual_seed(0)
    shapes = [(8, 16), (16, 8), (8, 16), (12, 12)]
    ours = [torch.nn.Parameter(torch.randn(shape)) for shape in shapes]
    theirs = [torch.nn.Parameter(p.detach().clone()) for p in ours]
    mine = BatchedMuon([{'params': ours, 'lr': 0.02}], weight_decay=0.1)
    library = torch.optim.Muon(theirs, lr=0.02, weight_decay=0.1, adjust_lr_fn='match_rms_adamw')
    for _ in range(3):
        for a, b in zip(ours, theirs, strict=True):
            a.grad = torch.randn(a.shape)
            b.grad = a.grad.clone()
        mine.step()
        library.step()
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, atol=2e-3, rtol=0)


@pytest.mark.parametrize('num_steps', [1, 7, 100])
def test_progress_ends_with_the_steps(num_steps: int) -> None:
    pace = Pace(num_steps, 0, math.inf, trainer.Group())
    progress, step = 0.0, 0
    while not pace.is_over:
        progress = pace.after(step, progress)
        step += 1
    assert step == num_steps and progress > 0.999


def test_progress_ends_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr('demo_data.pace.time.monotonic', lambda: now[0])
    pace = Pace(10**6, 0, 100.0, trainer.Group())
    progress, step, seen = 0.0, 0, []
    while not pace.is_over:
        now[0] += 20.0 if step == 0 else 0.05 if step < 600 else 0.1
        progress = pace.after(step, progress)
        seen.append(progress)
        step += 1
    assert progress > 0.999 and 95.0 < now[0] < 103.0
    assert seen == sorted(seen)


def test_older_batches_fill_in_between_fresh_ones() -> None:
    feed = Feed(Supply(1, 1, 1024), workers=0, repeats=3, seed=1)
    batches = [feed.batch(step) for step in range(6)]
    assert feed.num_fresh == 2
    assert batches[1] is batches[2] is batches[0]
    assert batches[3] is not batches[0]


def test_workers_make_the_same_batches() -> None:
    supply = Supply(1, 1, 1024, first=4, stride=2, held_out=1)
    alone = Feed(supply, workers=0, repeats=1, seed=1)
    helped = Feed(supply, workers=1, repeats=1, seed=1)
    try:
        for step in range(2):
            assert (alone.batch(step).ids == helped.batch(step).ids).all()
        assert (alone.held_out()[0].ids == helped.held_out()[0].ids).all()
    finally:
        helped.close()


def fail_packs(monkeypatch: pytest.MonkeyPatch, fails: Callable[[int], bool]) -> None:
    drawn = packing.draw_pack

    def draw(writer: object, seed: int, index: int, *rest: object, **more: object) -> packing.Pack:
        if fails(index):
            raise KeyError('fine-tune')
        return drawn(writer, seed, index, *rest, **more)

    monkeypatch.setattr(packing, 'draw_pack', draw)


def test_a_pack_that_cannot_be_made_is_left_out_and_the_next_takes_its_place(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    small_config: Path, tmp_path: Path,
) -> None:
    whole, used = packing.draw_rows(packing.load_writer(), 1, 3000, 2, 2048)
    fail_packs(monkeypatch, lambda index: index in (3000, 3002))
    made, more = packing.draw_rows(packing.load_writer(), 1, 3000, 2, 2048)
    again, _ = packing.draw_rows(packing.load_writer(), 1, 3000, 2, 2048)
    assert whole.left_out == [] and [each.index for each in made.left_out] == [3000, 3002]
    assert (made.ids == again.ids).all() and not (made.ids == whole.ids).all()
    assert more > used and len(made.spans) > 2
    with caplog.at_level(logging.WARNING):
        record = run_training(tmp_path, small_config, '--steps', '4', '--first-chunk', '3',
                              '--held-out', '1')
    told = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert record['packs_left_out_of_first'] == len(told) >= 1
    assert told[0] == "left out pack 3000 of seed 1: KeyError: 'fine-tune'"
    assert len(set(told)) == len(told)


def test_a_generator_that_always_fails_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_packs(monkeypatch, lambda index: True)
    feed = Feed(Supply(1, 1, 1024), workers=1, repeats=1, seed=1)
    try:
        with pytest.raises(ValueError, match="24 packs in a row failed, the last pack 23 of seed"
                                             " 1: KeyError: 'fine-tune'"):
            feed.batch(0)
    finally:
        feed.close()


def test_the_share_of_drills_falls_with_the_chunks() -> None:
    supply = Supply(1, 1, 1024, helping=3, drills_first=0.5, drills_last=0.1, drill_chunks=10)
    shares = [supply.job(chunk)[-2:] for chunk in (0, 5, 10, 50)]
    assert shares == [(0.5, 0.0), (pytest.approx(0.3), 0.5), (pytest.approx(0.1), 1.0),
                      (pytest.approx(0.1), 1.0)]


def test_the_curve_is_drawn(tmp_path: Path) -> None:
    record = {'curve': [{'step': 0, 'loss': 9.0}, {'step': 5, 'held_out': {'all': 0.5}},
                        {'step': 10, 'loss': 0.1}]}
    (tmp_path / 'train.json').write_text(json.dumps(record), encoding='utf-8')
    train_demo.main(['plot', str(tmp_path / 'train.json'), '--out', str(tmp_path / 'a.svg')])
    root = xml.etree.ElementTree.parse(tmp_path / 'a.svg').getroot()
    lines = [e.get('points').split() for e in root.iter() if e.tag.endswith('polyline')]
    assert [len(points) for points in lines] == [2, 1]
    assert lines[0] == ['60.0,24.0', '700.0,334.0']


def test_export_names_and_types_are_a_gemma4_checkpoint(
    small_config: Path, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    model = Gemma4(ModelConfig.from_folder(small_config))
    train_demo.save_shards(model, tmp_path, nbytes=300_000)
    assert len(list(tmp_path.glob('weights-*.safetensors'))) > 1
    out = tmp_path / 'made'
    train_demo.main(['export', '--config', str(small_config), '--start', str(tmp_path),
                     '--out', str(out), '--recipe', 'bf16'])
    loaded = load_model(out)
    for name, tensor in model.state_dict().items():
        found = loaded.state_dict()[name]
        assert found.dtype == torch.bfloat16
        assert torch.equal(found, tensor.to(torch.bfloat16))


def test_export_takes_the_mean_of_two_runs(small_config: Path, tmp_path: Path) -> None:
    models = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        models.append(Gemma4(ModelConfig.from_folder(small_config)))
        (tmp_path / str(seed)).mkdir()
        train_demo.save_shards(models[-1], tmp_path / str(seed))
    out = tmp_path / 'made'
    train_demo.main(['export', '--config', str(small_config), '--start', str(tmp_path / '1'),
                     '--mean-with', str(tmp_path / '2'), '--out', str(out), '--recipe', 'bf16'])
    found = load_model(out).state_dict()
    for name, first in models[0].state_dict().items():
        second = models[1].state_dict()[name]
        mean = (first.bfloat16().double() + second.bfloat16().double()) / 2
        assert torch.equal(found[name], mean.to(torch.bfloat16)), name


class NoGaps(random.Random):
    def random(self) -> float:
        return 1.0


def test_packed_rows_compute_what_each_conversation_alone_does(small_config: Path) -> None:
    torch.manual_seed(0)
    config = ModelConfig.from_folder(small_config)
    model = Gemma4(config, fused=True)
    pack = packing.draw_pack(packing.load_writer(), 5, 0, 3)
    at = len(pack.prefix)
    with torch.no_grad():
        alone = [model(torch.tensor([[*pack.prefix, *tail.ids]]))[0, at:] for tail in pack.tails]
    rows = packing.Rows(1, pack.num_tokens)
    rows.fill(0, [pack], NoGaps())
    layout = Layout(*(torch.from_numpy(a.astype('int32'))
                      for a in (rows.parts, rows.homes, rows.positions)))
    packed = PackedModel(model, 4096, uses_flex=False)
    with torch.no_grad():
        hidden = packed(torch.from_numpy(rows.ids.astype('int64')), layout.positions,
                        dense_mask(layout, None), dense_mask(layout, config.sliding_window))
        logits = model.head(model.norm(hidden))
    for tail, expected in zip(pack.tails, alone, strict=True):
        torch.testing.assert_close(
            logits[at:at + len(tail.ids)], expected, atol=1e-4, rtol=0)
        at += len(tail.ids)
