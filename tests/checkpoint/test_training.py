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

import json
from pathlib import Path
import random

import pytest
import torch
import train_demo

from demo_data import packing
from demo_data.packed_model import dense_mask
from demo_data.packed_model import Layout
from demo_data.packed_model import PackedModel
from gemma_node.model.config import ModelConfig
from gemma_node.model.gemma4 import Gemma4

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


def run_training(folder: Path, config: Path, *more: str) -> dict:
    arguments = ['--config', str(config), '--out', str(folder), '--rows', '1', '--length', '1280',
                 '--warmup', '2', '--eval-rows', '1', '--log-every', '1', *more]
    train_demo.main(['train', *arguments])
    return json.loads((folder / 'train.json').read_text(encoding='utf-8'))


def test_loss_falls_and_a_stopped_run_goes_on(small_config: Path, tmp_path: Path) -> None:
    state = str(tmp_path / 'state')
    report = run_training(tmp_path, small_config, '--steps', '5', '--state', state)
    losses = [point['loss'] for point in report['curve'] if 'loss' in point]
    assert losses[-1] < losses[0] - 0.8
    report = run_training(tmp_path, small_config, '--steps', '6', '--state', state)
    assert report['resumed_at'] == 5
    assert report['curve'][0]['loss'] < losses[0] - 0.8


def test_export_names_and_types_are_a_gemma4_checkpoint(
    small_config: Path, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    model = Gemma4(ModelConfig.from_folder(small_config))
    train_demo.save_shards(model, tmp_path, nbytes=300_000)
    assert len(list(tmp_path.glob('weights-*.safetensors'))) > 1
    out = tmp_path / 'model.safetensors'
    train_demo.main(['export', '--config', str(small_config), '--start', str(tmp_path),
                     '--out', str(out)])
    (tmp_path / 'config.json').write_text((small_config / 'config.json').read_text())
    for file in tmp_path.glob('weights-*.safetensors'):
        file.unlink()
    from gemma_node.model.weights import load_model

    loaded = load_model(tmp_path)
    for name, tensor in model.state_dict().items():
        found = loaded.state_dict()[name]
        assert found.dtype == torch.bfloat16
        assert torch.equal(found, tensor.to(torch.bfloat16))


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
        logits = model.head(hidden)
    for tail, expected in zip(pack.tails, alone, strict=True):
        torch.testing.assert_close(
            logits[at:at + len(tail.ids)], expected, atol=1e-4, rtol=0)
        at += len(tail.ids)
