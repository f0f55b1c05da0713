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

"""What checkpoints say of their quantisation, in every spelling, and what is refused by name."""

import pytest

from gemma_node.errors import CheckpointError
from gemma_node.model.config import ModelConfig
from gemma_node.quant.declaration import parse_declaration

LAYER = 'language_model.model.layers.0.self_attn.q_proj'
HF_LAYER = 'model.language_model.layers.0.mlp.up_proj'


def mlx(**modules):
    return {'quantization': {'group_size': 64, 'bits': 4, 'mode': 'affine', **modules}}


def compressed(weights=None, **more):
    plain = {'num_bits': 4, 'type': 'float', 'strategy': 'tensor_group', 'group_size': 16}
    return {
        'quantization_config': {
            'quant_method': 'compressed-tensors',
            'format': 'nvfp4-pack-quantized',
            'config_groups': {
                'group_0': {'targets': ['Linear'], 'weights': weights or plain},
            },
            'ignore': ['lm_head', 're:.*vision.*'],
            **more,
        }
    }


def test_nothing_declared_is_none():
    assert parse_declaration({'model_type': 'gemma4_text'}) is None
    assert parse_declaration({'quantization': None, 'quantization_config': None}) is None


def test_mlx_overrides_are_held_against_the_stored_form():
    declared = parse_declaration(
        mlx(**{LAYER: {'group_size': 64, 'bits': 8}, 'a.b': False, 'a.c': True})
    )
    assert declared.contradiction(LAYER, 'affine', 'mlx-8bit/64') == ''
    assert declared.contradiction(LAYER, 'affine', 'mlx-4bit/64') == 'mlx-8bit/64'
    assert declared.contradiction(LAYER, 'plain', 'bf16') == 'mlx-8bit/64'
    assert declared.contradiction('a.b', 'plain', 'bf16') == ''
    assert declared.contradiction('a.b', 'affine', 'mlx-4bit/64') == 'plain'
    assert declared.contradiction('a.c', 'affine', 'mlx-4bit/64') == ''
    assert declared.contradiction('a.c', 'plain', 'bf16') == 'mlx-4bit/64'


def test_mlx_modules_that_are_not_named_may_have_any_bits_or_none():
    declared = parse_declaration(mlx())
    assert declared.contradiction('x', 'affine', 'mlx-6bit/128') == ''
    assert declared.contradiction('x', 'plain', 'bf16') == ''
    assert declared.contradiction('x', 'nvfp4', 'nvfp4') == 'affine'


def test_both_keys_of_mlx_and_the_older_one_alone_read_alike():
    both = mlx(**{LAYER: False})
    both['quantization_config'] = both['quantization']
    older = {'quantization_config': {'group_size': 64, 'bits': 4, LAYER: False}}
    assert parse_declaration(both) == parse_declaration(older)


def test_modelopt_reads_from_either_file_nested_or_flat():
    settings = {
        'quant_algo': 'W4A16_NVFP4',
        'kv_cache_quant_algo': None,
        'group_size': 16,
        'exclude_modules': ['lm_head', 'model.language_model.layers.1*'],
    }
    separate = {'producer': {'name': 'modelopt', 'version': '0.40'}, 'quantization': settings}
    flat = {'quantization_config': {'quant_method': 'modelopt', **settings}}
    ignore = {'quant_method': 'modelopt', **settings, 'ignore': settings['exclude_modules']}
    del ignore['exclude_modules']
    bare = {'quantization_config': settings}
    nested = {'quantization_config': {'quant_method': 'modelopt', **separate}}
    expected = parse_declaration({}, separate)
    assert expected.families == {'nvfp4'}
    for config in (flat, {'quantization_config': ignore}, bare, nested):
        assert parse_declaration(config) == expected
    assert parse_declaration({'text_config': flat}) == expected


def test_excluded_modules_are_names_of_modules_of_what_is_inside_them_or_globs():
    settings = {'quant_algo': 'NVFP4', 'exclude_modules': ['a.b', '*.per_layer_*', 're:.*']}
    declared = parse_declaration({'quantization_config': settings})
    for module in ('a.b', 'a.b.c', 'x.per_layer_projection'):
        assert declared.contradiction(module, 'nvfp4', 'nvfp4') == 'plain', module
        assert declared.contradiction(module, 'plain', 'bf16') == ''
    for module in ('a.bc', 'x.mlp'):
        assert declared.contradiction(module, 'nvfp4', 'nvfp4') == '', module


def test_mixed_precision_names_the_algorithm_of_each_module():
    settings = {
        'quant_algo': 'MIXED_PRECISION',
        'quantized_layers': {
            HF_LAYER: {'quant_algo': 'W4A16_NVFP4', 'group_size': 16},
            'b': {'quant_algo': 'FP8'},
        },
    }
    declared = parse_declaration({}, {'quantization': settings})
    assert declared.families == {'nvfp4', 'fp8'}
    assert declared.contradiction(HF_LAYER, 'nvfp4', 'nvfp4') == ''
    assert declared.contradiction(HF_LAYER, 'fp8', 'fp8') == 'nvfp4'
    assert declared.contradiction('b', 'plain', 'bf16') == 'fp8'


def test_a_quantised_cache_alone_changes_nothing():
    declared = parse_declaration(
        {}, {'quantization': {'quant_algo': None, 'kv_cache_quant_algo': 'FP8'}}
    )
    assert declared.contradiction('x', 'plain', 'bf16') == ''
    assert declared.contradiction('x', 'nvfp4', 'nvfp4') == 'plain'


def test_compressed_tensors_of_nvfp4_and_fp8():
    assert parse_declaration(compressed()).families == {'nvfp4'}
    for strategy in ('tensor', 'channel'):
        weights = {'num_bits': 8, 'type': 'float', 'strategy': strategy, 'symmetric': True}
        assert parse_declaration(compressed(weights)).families == {'fp8'}


@pytest.mark.parametrize(
    ('config', 'named'),
    [
        (mlx(bits=7), r'quantization.bits must be one of \(2, 3, 4, 5, 6, 8\), found 7'),
        (mlx(group_size=16), r'quantization.group_size must be one of'),
        (mlx(bits=True), 'found True'),
        (mlx(mode='mxfp4'), "quantization.mode 'mxfp4' is not served; served: 'affine'"),
        (mlx(**{LAYER: {'bits': 4}}), f'quantization.{LAYER}.group_size'),
        ({'quantization': 4}, 'quantization must be an object, found int'),
        ({'quantization_config': {'bits': 4}}, 'quantization_config.quant_method None'),
        ({'quantization_config': {'quant_method': 'gptq', 'bits': 4}}, "'gptq' is not served"),
        ({'quantization_config': {'quant_algo': 'W4A8_AWQ'}}, "quant_algo 'W4A8_AWQ'"),
        ({'quantization_config': {'quant_algo': ['NVFP4']}}, 'is not served'),
        ({'quantization_config': {'quant_algo': 'NVFP4', 'group_size': 32}}, 'must be 16'),
        ({'quantization_config': {'quant_algo': 'MIXED_PRECISION'}}, 'quantized_layers'),
        (
            {'quantization_config': {'quant_algo': 'NVFP4', 'exclude_modules': 'lm_head'}},
            'exclude_modules must be a list',
        ),
        (compressed({'num_bits': 4, 'type': 'int', 'strategy': 'group'}), "4 bits, type 'int'"),
        (compressed({'num_bits': 8, 'type': 'float', 'strategy': 'block'}), "'block'"),
        (compressed(sparsity_config={'format': 'x'}), 'sparsity_config'),
        (compressed(transform_config={'config_groups': {}}), 'transform_config'),
        (compressed(config_groups=None), 'config_groups must be an object'),
    ],
)
def test_what_is_not_served_is_refused_by_name(config, named):
    with pytest.raises(CheckpointError, match=named):
        parse_declaration(config)


def test_a_damaged_separate_file_is_named(tmp_path):
    (tmp_path / 'config.json').write_text('{"model_type": "gemma4_text"}')
    (tmp_path / 'hf_quant_config.json').write_text('[')
    with pytest.raises(CheckpointError, match=r'hf_quant_config\.json cannot be read'):
        ModelConfig.from_folder(tmp_path)
