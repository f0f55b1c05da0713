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


"""config.json in both spellings, and what is refused by name."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from transformers import Gemma4TextConfig

from gemma_node.errors import CheckpointError
from gemma_node.model.config import FULL
from gemma_node.model.config import ModelConfig
from gemma_node.model.config import SLIDING
from tests.fixtures import sources


def e4b() -> dict[str, Any]:
    """Return E4B's text configuration as published."""
    return {
        'model_type': 'gemma4_text',
        'vocab_size': 262144,
        'vocab_size_per_layer_input': 262144,
        'hidden_size': 2560,
        'intermediate_size': 10240,
        'num_hidden_layers': 42,
        'num_attention_heads': 8,
        'num_key_value_heads': 2,
        'num_global_key_value_heads': None,
        'head_dim': 256,
        'global_head_dim': 512,
        'hidden_size_per_layer_input': 256,
        'num_kv_shared_layers': 18,
        'sliding_window': 512,
        'layer_types': ([SLIDING] * 5 + [FULL]) * 7,
        'rope_parameters': {
            SLIDING: {'rope_type': 'default', 'rope_theta': 10000.0},
            FULL: {
                'rope_type': 'proportional',
                'rope_theta': 1000000.0,
                'partial_rotary_factor': 0.25,
            },
        },
        'rms_norm_eps': 1e-6,
        'hidden_activation': 'gelu_pytorch_tanh',
        'final_logit_softcapping': 30.0,
        'max_position_embeddings': 131072,
        'eos_token_id': 1,
    }


def test_e4b_layers_share_keys_and_values_as_specified() -> None:
    config = ModelConfig.from_mapping(e4b())
    assert [each.index for each in config.layers if not each.is_sliding] == [
        5, 11, 17, 23, 29, 35, 41
    ]
    assert config.num_owning_layers == 24
    assert {each.kv_source for each in config.layers[24:] if each.is_sliding} == {22}
    assert {each.kv_source for each in config.layers[24:] if not each.is_sliding} == {23}
    assert all(each.kv_source == each.index for each in config.layers[:24])
    assert config.layer(5).head_dim == 512
    assert config.layer(4).head_dim == 256
    assert {each.intermediate_size for each in config.layers} == {10240}


def test_e2b_layers_share_keys_and_values_and_are_wide_where_they_do() -> None:
    config = ModelConfig.from_mapping(sources.E2B)
    assert (config.num_layers, config.num_owning_layers) == (35, 15)
    assert [each.index for each in config.layers if not each.is_sliding] == [*range(4, 35, 5)]
    shared = config.layers[15:]
    assert {each.kv_source for each in shared if each.is_sliding} == {13}
    assert {each.kv_source for each in shared if not each.is_sliding} == {14}
    assert {each.intermediate_size for each in config.layers[:15]} == {6144}
    assert {each.intermediate_size for each in shared} == {12288}


def test_double_wide_mlp_widens_shared_layers_only() -> None:
    config = ModelConfig.from_mapping(e4b() | {'use_double_wide_mlp': True})
    assert {each.intermediate_size for each in config.layers[:24]} == {10240}
    assert {each.intermediate_size for each in config.layers[24:]} == {20480}


def test_multimodal_and_standalone_files_give_the_same_config() -> None:
    standalone = ModelConfig.from_mapping(e4b() | {'eos_token_id': [1, 106]})
    multimodal = ModelConfig.from_mapping(
        {
            'model_type': 'gemma4',
            'text_config': e4b(),
            'vision_config': {'hidden_size': 768},
            'audio_config': None,
            'eos_token_id': [1, 106],
        }
    )
    assert multimodal == standalone
    assert multimodal.eos_token_ids == (1, 106)


def test_what_transformers_writes_reads_like_the_published_spelling() -> None:
    raw = e4b()
    written = json.loads(Gemma4TextConfig(**raw).to_json_string(use_diff=False))
    assert 'per_layer_config' in written
    assert 'global_head_dim' not in written
    assert ModelConfig.from_mapping(written) == ModelConfig.from_mapping(raw)


@pytest.mark.parametrize(
    ('change', 'named'),
    [
        ({'enable_moe_block': True}, 'enable_moe_block'),
        ({'attention_k_eq_v': True}, 'attention_k_eq_v'),
        ({'attention_bias': True}, 'attention_bias'),
        ({'tie_word_embeddings': False}, 'tie_word_embeddings'),
        ({'hidden_activation': 'silu'}, 'hidden_activation'),
        ({'use_bidirectional_attention': 'all'}, 'use_bidirectional_attention'),
        ({'quantization_config': {'bits': 4}}, 'quantization_config'),
        ({'hidden_size_per_layer_input': 0}, 'per-layer inputs'),
        ({'model_type': 'llama'}, "'llama' is not served"),
        ({'model_type': None}, 'None is not served'),
        ({'layer_types': [SLIDING] * 41 + ['linear_attention']}, 'linear_attention'),
        ({'layer_types': [SLIDING] * 42}, 'last layer'),
        ({'layer_types': [FULL] * 3}, '3 layers, not 42'),
        ({'layer_types': None}, 'layer_types'),
        ({'hidden_size': '2560'}, f"from 1 to {2**31 - 1}, found '2560'"),
        ({'hidden_size': True}, 'hidden_size'),
        ({'num_key_value_heads': 3}, 'multiple'),
        ({'num_kv_shared_layers': 42}, 'num_kv_shared_layers'),
        ({'num_kv_shared_layers': 40}, 'no layer owns'),
        ({'head_dim': 255}, 'even'),
        ({'rms_norm_eps': float('nan')}, 'rms_norm_eps'),
        ({'rope_parameters': {SLIDING: {}}}, FULL),
        ({'rope_parameters': {SLIDING: {'rope_type': 'yarn'}, FULL: {}}}, 'yarn'),
        ({'vocab_size_per_layer_input': 100}, 'vocab_size_per_layer_input'),
        ({'eos_token_id': 'x'}, 'eos_token_id'),
        ({'eos_token_id': [1, -1]}, 'eos_token_id'),
        ({'hidden_size': 2**63}, 'hidden_size must be an integer from 1 to 2147483647'),
        ({'head_dim': 10**400}, f'found 1{"0" * 79}...'),
        ({'intermediate_size': 2**30}, 'intermediate_size x 2 is 2147483648'),
        ({'num_attention_heads': 2**30}, 'num_attention_heads x head_dim is'),
        ({'hidden_size_per_layer_input': 2**30}, 'hidden_size_per_layer_input is'),
        ({'rms_norm_eps': 10**400}, 'rms_norm_eps must be a finite number >= 0'),
        ({'rms_norm_eps': float('inf')}, 'rms_norm_eps must be a finite number >= 0'),
        ({'final_logit_softcapping': 0.0}, 'final_logit_softcapping must be a finite number > 0'),
        ({'rope_parameters': []}, 'rope_parameters.sliding_attention is missing'),
        ({'rope_parameters': {SLIDING: {'rope_theta': 0}, FULL: {}}}, 'rope_theta'),
        ({'per_layer_config': {'9' * 5000: {}}}, 'per_layer_config'),
        ({'per_layer_config': {'5': {'head_dim': 128}}}, 'agree'),
        ({'per_layer_config': {'5': {'sliding_window': 3}}}, 'sliding_window'),
        ({'per_layer_config': 3}, 'per_layer_config'),
    ],
)
def test_what_is_not_served_is_refused_by_name(change: dict[str, Any], named: str) -> None:
    with pytest.raises(CheckpointError) as caught:
        ModelConfig.from_mapping(e4b() | change)
    assert named in str(caught.value)


def test_several_features_are_named_together() -> None:
    change = {'enable_moe_block': True, 'attention_bias': True}
    with pytest.raises(CheckpointError, match=r'enable_moe_block.*attention_bias'):
        ModelConfig.from_mapping(e4b() | change)


@pytest.mark.parametrize('text', ['', '{', '[]', '"x"', '\x00\xff'])
def test_damaged_config_file_is_a_checkpoint_error(tmp_path: Path, text: str) -> None:
    (tmp_path / 'config.json').write_bytes(text.encode('latin-1'))
    with pytest.raises(CheckpointError, match=r'config\.json'):
        ModelConfig.from_folder(tmp_path)


def test_a_pipe_instead_of_the_config_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / 'config.json')
    with pytest.raises(CheckpointError, match='must be a plain file'):
        ModelConfig.from_folder(tmp_path)


def test_missing_folder_and_file_are_checkpoint_errors(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match='no checkpoint folder'):
        ModelConfig.from_folder(tmp_path / 'absent')
    with pytest.raises(CheckpointError, match='is missing'):
        ModelConfig.from_folder(tmp_path)
