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


"""Checkpoints in all accepted layouts, and every kind of damage named."""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path
import re
import shutil
from typing import Any

import pytest
from safetensors.torch import load_file
from safetensors.torch import save_file
import torch

from gemma_node.errors import CheckpointError
from gemma_node.model.config import ModelConfig
from gemma_node.model.weights import load_model
from gemma_node.model.weights import load_weights

Tensors = dict[str, torch.Tensor]


@pytest.fixture
def folder(make_checkpoint: Callable[..., Any], tmp_path: Path) -> Path:
    """Return a private copy of a checkpoint."""
    copy = tmp_path / 'checkpoint'
    shutil.copytree(make_checkpoint(3).path, copy)
    return copy


def _tensors(folder: Path) -> Tensors:
    return {name: each.clone() for name, each in load_file(folder / 'model.safetensors').items()}


def _rewrite(folder: Path, change: Callable[[Tensors], Tensors | None]) -> None:
    tensors = _tensors(folder)
    changed = change(tensors)
    save_file(tensors if changed is None else changed, folder / 'model.safetensors')


def _refusal(folder: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        load_model(folder)
    return str(caught.value)


def test_loaded_weights_are_the_stored_bits(folder: Path) -> None:
    stored = _tensors(folder)
    weights = load_weights(folder, ModelConfig.from_folder(folder))
    assert {f'model.{name}' for name in weights} == set(stored)
    assert all(torch.equal(weights[name], stored[f'model.{name}']) for name in weights)


def test_multimodal_names_load_and_vision_and_audio_are_skipped(folder: Path) -> None:
    plain = load_weights(folder, ModelConfig.from_folder(folder))

    def rename(tensors: Tensors) -> Tensors:
        renamed = {
            name.replace('model.', 'model.language_model.', 1): each
            for name, each in tensors.items()
        }
        for part in ('vision_tower.a', 'audio_tower.b', 'embed_vision.c', 'embed_audio.d'):
            renamed[f'model.{part}.weight'] = torch.zeros(3)
        return renamed

    _rewrite(folder, rename)
    weights = load_weights(folder, ModelConfig.from_folder(folder))
    assert weights.keys() == plain.keys()
    assert all(torch.equal(weights[name], plain[name]) for name in plain)


def test_unused_projections_of_shared_layers_are_tolerated(folder: Path) -> None:
    config = ModelConfig.from_folder(folder)
    first = config.num_owning_layers

    def add(tensors: Tensors) -> None:
        for name in ('k_proj', 'v_proj', 'k_norm'):
            tensors[f'model.layers.{first}.self_attn.{name}.weight'] = torch.zeros(2, 2)

    _rewrite(folder, add)
    assert f'layers.{first}.self_attn.k_proj.weight' not in load_weights(folder, config)


def test_shards_load_like_one_file(folder: Path) -> None:
    config = ModelConfig.from_folder(folder)
    whole = load_weights(folder, config)
    tensors = _tensors(folder)
    names = sorted(tensors)
    parts = {'a.safetensors': names[::2], 'b.safetensors': names[1::2]}
    for file, members in parts.items():
        save_file({name: tensors[name] for name in members}, folder / file)
    weight_map = {name: file for file, members in parts.items() for name in members}
    index = folder / 'model.safetensors.index.json'
    index.write_text(json.dumps({'weight_map': weight_map}))
    (folder / 'model.safetensors').unlink()
    sharded = load_weights(folder, config)
    assert all(torch.equal(sharded[name], whole[name]) for name in whole)
    (folder / 'b.safetensors').unlink()
    assert 'b.safetensors is missing' in _refusal(folder)


def test_a_tensor_in_two_shards_is_refused(folder: Path) -> None:
    tensors = _tensors(folder)
    (folder / 'model.safetensors').unlink()
    for file in ('a.safetensors', 'b.safetensors'):
        save_file(tensors, folder / file)
    index = folder / 'model.safetensors.index.json'
    index.write_text(json.dumps({'weight_map': {'x': 'a.safetensors', 'y': 'b.safetensors'}}))
    assert re.search(r'stores model\.\S+ twice', _refusal(folder))


@pytest.mark.parametrize(
    'shard', ['../model.safetensors', '/etc/passwd', 'a/b.safetensors', 'x.bin', 3, '..']
)
def test_an_index_cannot_leave_its_folder(folder: Path, shard: Any) -> None:
    (folder / 'model.safetensors').rename(folder.parent / 'model.safetensors')
    index = folder / 'model.safetensors.index.json'
    index.write_text(json.dumps({'weight_map': {'model.norm.weight': shard}}))
    assert 'a shard is a .safetensors file name' in _refusal(folder)


@pytest.mark.parametrize('text', ['{', '[]', '{}', '{"weight_map": [1]}', '{"weight_map": 3}'])
def test_a_damaged_index_is_refused(folder: Path, text: str) -> None:
    (folder / 'model.safetensors').unlink()
    (folder / 'model.safetensors.index.json').write_text(text)
    assert 'is not a weight index' in _refusal(folder)


def test_all_that_is_wrong_is_said_at_once(folder: Path) -> None:
    def damage(tensors: Tensors) -> None:
        del tensors['model.norm.weight']
        tensors['model.lm_head.weight'] = torch.zeros(2, dtype=torch.bfloat16)
        name = 'model.layers.0.mlp.up_proj.weight'
        tensors[name] = tensors[name].t().contiguous()
        name = 'model.layers.0.self_attn.q_norm.weight'
        tensors[name] = tensors[name].to(torch.float16)

    _rewrite(folder, damage)
    text = _refusal(folder)
    assert 'missing: norm.weight' in text
    assert 'unexpected: lm_head.weight' in text
    assert 'wrong shape: layers.0.mlp.up_proj.weight is' in text
    assert 'layers.0.self_attn.q_norm.weight is F16, expected BF16' in text


def test_many_missing_names_are_counted_not_listed(folder: Path) -> None:
    _rewrite(folder, lambda tensors: {'model.norm.weight': tensors['model.norm.weight']})
    text = _refusal(folder)
    assert 'more' in text
    assert len(text) < 1000


@pytest.mark.parametrize('value', [float('nan'), float('inf')])
def test_values_that_are_not_finite_are_refused_with_their_count(
    folder: Path, value: float
) -> None:
    def poison(tensors: Tensors) -> None:
        tensors['model.layers.0.mlp.up_proj.weight'].view(-1)[5:8] = value

    _rewrite(folder, poison)
    expected = 'layers.0.mlp.up_proj.weight holds 3 values that are NaN or infinite'
    said = _refusal(folder)
    assert expected in said
    assert said.endswith('model.allow_not_finite: true loads them all the same')
    assert load_model(folder, allow_not_finite=True).num_not_finite == 3


@pytest.mark.parametrize('keep', [0, 4, 200, -1])
def test_a_cut_file_is_refused(folder: Path, keep: int) -> None:
    file = folder / 'model.safetensors'
    file.write_bytes(file.read_bytes()[:keep])
    assert 'is damaged or cut short' in _refusal(folder)


def test_garbage_in_the_header_is_refused(folder: Path) -> None:
    file = folder / 'model.safetensors'
    content = bytearray(file.read_bytes())
    content[9:40] = b'\xff' * 31
    file.write_bytes(bytes(content))
    assert 'is damaged or cut short' in _refusal(folder)


def test_a_pickle_is_refused_unread(folder: Path) -> None:
    (folder / 'model.safetensors').unlink()
    (folder / 'pytorch_model.bin').write_bytes(b'cos\nsystem\n')
    assert 'a pickle that can run code' in _refusal(folder)


def test_a_folder_without_weights_says_what_it_lacks(folder: Path) -> None:
    (folder / 'model.safetensors').unlink()
    assert 'holds neither model.safetensors nor' in _refusal(folder)


def test_float32_checkpoints_load(folder: Path) -> None:
    _rewrite(folder, lambda tensors: {name: each.float() for name, each in tensors.items()})
    assert load_model(folder).norm.weight.dtype == torch.float32
