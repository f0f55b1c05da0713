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

"""Quantised checkpoints of every layout load, compute what their numbers say, and are served."""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file
from safetensors.torch import save_file
import torch

from gemma_node.backends.base import Envelope
from gemma_node.backends.base import memory_needed
from gemma_node.core import Finish
from gemma_node.core import Generation
from gemma_node.core import GenerationResult
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.engine import Engine
from gemma_node.errors import CheckpointError
from gemma_node.kernels.native import TABLE_NONE
from gemma_node.model.cache_shape import lane_bytes
from gemma_node.model.cached_native import _table_kind
from gemma_node.model.cached_native import NativeModel
from gemma_node.model.config import ModelConfig
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.linear import QuantEmbedding
from gemma_node.model.linear import QuantLinear
from gemma_node.model.native_size import stored_sizes
from gemma_node.model.native_size import StoredSizes
from gemma_node.model.weights import load_model
from gemma_node.model.weights import load_weights
from gemma_node.quant.packed import dense
from tests.fixtures import quantised

# Its matrices have 64 or 32 columns, but o_proj and per_layer_projection may stay plain.
SEED = 4
AFFINE = {'quantization': {'group_size': 32, 'bits': 4, 'mode': 'affine'}}
MODELOPT = {'quantization_config': {'quant_method': 'modelopt', 'quant_algo': 'W4A16_NVFP4'}}
FP8 = {'quantization_config': {'quant_method': 'modelopt', 'quant_algo': 'FP8'}}
COMPRESSED = {
    'quantization_config': {
        'quant_method': 'compressed-tensors',
        'format': 'nvfp4-pack-quantized',
        'config_groups': {
            'group_0': {'weights': {'num_bits': 4, 'type': 'float', 'group_size': 16}}
        },
    }
}
LAYOUTS: dict[str, dict[str, Any]] = {
    'mlx': {'quantise': quantised.mlx(), 'declare': AFFINE},
    'mlx_8': {'quantise': quantised.mlx(8, 64), 'declare': AFFINE, 'prefix': quantised.MLX},
    'mlx_3': {'quantise': quantised.mlx(3), 'declare': {}, 'prefix': quantised.MLX},
    'nvfp4_modelopt': {
        'quantise': quantised.modelopt, 'declare': MODELOPT, 'prefix': quantised.MULTIMODAL,
    },
    'nvfp4_compressed': {'quantise': quantised.compressed, 'declare': COMPRESSED},
    'fp8_tensor': {'quantise': quantised.eight_bit_floats(by_row=False), 'declare': FP8},
    'fp8_row': {'quantise': quantised.eight_bit_floats(by_row=True), 'declare': FP8},
}  # fmt: skip
FOUR_BITS = {'mlx'}
Twin = Callable[..., Path]


@pytest.fixture
def source(make_checkpoint: Callable[..., Any]) -> Path:
    folder: Path = make_checkpoint(SEED).path
    return folder


@pytest.fixture
def twin(source: Path, tmp_path: Path) -> Twin:
    """Return a maker of a quantised twin; keywords replace those of the layout."""

    def make(layout: str, **changes: Any) -> Path:
        keywords = LAYOUTS[layout] | changes
        quantise = keywords.pop('quantise')
        return quantised.write_twin(source, tmp_path / layout, quantise, **keywords)

    return make


def unpacked(model: Gemma4) -> Gemma4:
    """Return a plain model with the numbers that a quantised one stands for, in bfloat16."""
    plain = Gemma4(model.config).to(torch.bfloat16)
    state = dict(model.state_dict())
    for name, module in model.named_modules():
        if isinstance(module, QuantLinear | QuantEmbedding):
            state[f'{name}.weight'] = dense(module.packed, torch.bfloat16)
    plain.load_state_dict(state)
    return plain


def ids_of(model: Gemma4, count: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(5)
    return torch.randint(0, model.config.vocab_size, (1, count), generator=generator)


@pytest.mark.parametrize('layout', LAYOUTS)
def test_the_full_pass_is_that_of_the_unpacked_numbers_bit_for_bit(
    twin: Twin, layout: str
) -> None:
    model = load_model(twin(layout))
    assert model.is_quantised
    ids = ids_of(model, 40)
    with torch.inference_mode():
        assert torch.equal(model(ids), unpacked(model)(ids))


@pytest.mark.parametrize('layout', LAYOUTS)
def test_quantised_weights_stay_near_those_they_were_made_of(
    twin: Twin, source: Path, layout: str
) -> None:
    plain, packed = load_model(source), load_model(twin(layout))
    ids = ids_of(plain, 40)
    with torch.inference_mode():
        one, other = plain(ids).float(), packed(ids).float()
    share = (one - other).std() / one.std()
    assert 0.0 < share < {'mlx_3': 1.2, 'mlx_8': 0.1}.get(layout, 0.8), share


def generate(model: Gemma4, dtype: str, *, native: bool) -> GenerationResult:
    config = EngineConfig(lanes=1, context_tokens=256, compute_dtype=dtype, native=native)
    engine = Engine(model, config)
    assert engine.is_native == native
    prompt = tuple(ids_of(model, 100)[0].tolist())
    engine.submit(Generation(id='a', state_key='a', prompt_ids=prompt, max_tokens=8))
    while True:
        for event in engine.step():
            if isinstance(event, GenerationResult):
                return event


def both(folder: Path, dtype: str, *, native: bool) -> tuple[GenerationResult, GenerationResult]:
    """Serve a quantised checkpoint, and a plain one with the numbers that it stands for."""
    model = load_model(folder)
    reference = unpacked(model)
    if dtype == 'float32':
        # In float32 the engine uses the unrounded numbers.
        reference = reference.float()
        for name, module in model.named_modules():
            if isinstance(module, QuantLinear | QuantEmbedding):
                exact = dense(module.packed, torch.float32)
                reference.get_submodule(name).weight.data.copy_(exact)
    ours = generate(model, dtype, native=native)
    assert ours.finish is Finish.LENGTH
    assert len(ours.token_ids) == 8
    return ours, generate(reference, dtype, native=native)


@pytest.mark.parametrize('dtype', ['bfloat16', 'float32'])
@pytest.mark.parametrize('layout', LAYOUTS)
def test_plain_pytorch_serves_a_quantised_checkpoint_as_its_numbers_bit_for_bit(
    twin: Twin, layout: str, dtype: str
) -> None:
    ours, plain = both(twin(layout), dtype, native=False)
    assert ours.token_ids == plain.token_ids
    assert ours.probabilities == plain.probabilities


@pytest.mark.parametrize('layout', sorted(LAYOUTS.keys() - FOUR_BITS))
def test_the_native_step_serves_what_it_unpacks_as_its_numbers_bit_for_bit(
    twin: Twin, layout: str
) -> None:
    ours, plain = both(twin(layout), 'float32', native=True)
    assert ours.token_ids == plain.token_ids
    assert ours.probabilities == plain.probabilities


@pytest.mark.parametrize('layout', sorted(FOUR_BITS))
def test_the_native_step_sums_codes_before_it_scales_them_and_stays_near_the_numbers(
    twin: Twin, layout: str
) -> None:
    """In what order it sums is held to the bit in tests/kernels/test_native.py."""
    ours, plain = both(twin(layout), 'float32', native=True)
    assert ours.token_ids == plain.token_ids
    # A few roundings of float32 (6e-8 each), through four layers.
    assert ours.probabilities == pytest.approx(plain.probabilities, rel=1e-5)


def test_forms_parameters_and_table_are_named_and_counted(twin: Twin, source: Path) -> None:
    plain, folder = load_model(source), twin('mlx')
    packed = load_model(folder)
    assert plain.form == 'bfloat16' and not plain.is_quantised
    assert 'mlx-4bit/32' in packed.form
    assert packed.num_parameters == plain.num_parameters
    columns = packed.config.num_layers * packed.config.ple_dim
    rows = packed.config.vocab_size
    sizes = stored_sizes(folder, packed.config)
    assert sizes.table_bytes == rows * (columns // 2 + columns // 32 * 4)
    assert stored_sizes(source, plain.config).table_bytes == rows * columns * 2


def test_a_quantised_table_is_admitted_with_the_bytes_it_takes(twin: Twin) -> None:
    folder = twin('mlx')
    config = ModelConfig.from_folder(folder)
    envelope = Envelope(lanes=1, context_tokens=64, state_budget_bytes=0)
    stored = stored_sizes(folder, config)
    plain = config.vocab_size * config.num_layers * config.ple_dim * 2
    needed = [
        memory_needed(config, envelope, 'bfloat16', sizes)['weights']
        for sizes in (stored, StoredSizes())
    ]
    assert needed[1] - needed[0] == plain - stored.table_bytes


@pytest.mark.parametrize('form', ['source', 'mlx', 'nvfp4_modelopt'])
def test_packed_weights_are_admitted_with_the_bytes_that_the_native_step_holds(
    twin: Twin, source: Path, form: str
) -> None:
    folder = source if form == 'source' else twin(form)
    model = load_model(folder)
    config = model.config
    native = NativeModel(model, num_positions=64, num_threads=1)
    held = sum(each.nbytes for each in native._kept if isinstance(each, torch.Tensor))
    # Not kept when the step cannot read a table: then its rows are gathered from the model.
    tables = (model.embed_tokens.packed, model.embed_tokens_per_layer.packed)
    held += sum(each.nbytes for each in tables if _table_kind(each) == TABLE_NONE)
    envelope = Envelope(lanes=2, context_tokens=64, state_budget_bytes=0, kv_dtype='float8')
    sizes = stored_sizes(folder, config)
    needed = memory_needed(config, envelope, 'float32', sizes)
    # What is left: norms are kept for each head, scalars in the layers.
    assert abs(held - needed['weights']) < 1000
    if form != 'nvfp4_modelopt':
        # It is unpacked, so only these forms take less than plain PyTorch needs.
        unpacked = memory_needed(config, envelope, 'float32')['weights']
        assert needed['weights'] < (0.7 if form == 'source' else 0.4) * unpacked
    assert needed['lanes'] == 2 * lane_bytes(config, 64, 1)


def _refusal(folder: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        load_model(folder)
    return str(caught.value)


def test_unused_tensors_of_shared_layers_are_tolerated_in_every_form(
    twin: Twin, source: Path
) -> None:
    config = ModelConfig.from_folder(source)
    extra = {}
    for index in range(config.num_owning_layers, config.num_layers):
        at = f'{quantised.MLX}layers.{index}.self_attn'
        for name in ('k_proj', 'v_proj'):
            extra |= {
                f'{at}.{name}.{leaf}': torch.zeros(2)
                for leaf in ('weight', 'scales', 'biases', 'weight_scale', 'k_scale')
            }
        extra[f'{at}.k_norm.weight'] = torch.zeros(2)
    folder = twin('mlx', prefix=quantised.MLX, extra=extra)
    assert not any(name.endswith('k_scale') for name in load_weights(folder, config))


def test_scales_of_activations_and_of_the_cache_are_passed_over(twin: Twin) -> None:
    at = 'model.layers.0.self_attn'
    extra = {
        f'{at}.q_proj.input_global_scale': torch.ones(1),
        f'{at}.k_proj.k_scale': torch.ones(1),
        f'{at}.v_proj.v_scale': torch.ones(1),
    }
    load_model(twin('nvfp4_compressed', extra=extra))


def test_names_of_two_layouts_in_one_file_are_refused(twin: Twin) -> None:
    extra = {'model.language_model.norm.weight': torch.ones(64).bfloat16()}
    assert 'unexpected: model.' in _refusal(twin('mlx', extra=extra))


@pytest.mark.parametrize(
    ('override', 'said'),
    [
        (False, 'is stored as mlx-4bit/32, declared as plain'),
        ({'bits': 8, 'group_size': 32}, 'is stored as mlx-4bit/32, declared as mlx-8bit/32'),
        ({'bits': 4, 'group_size': 64}, 'is stored as mlx-4bit/32, declared as mlx-4bit/64'),
        ({'bits': 4, 'group_size': 32}, ''),
        (True, ''),
    ],
)
def test_an_override_that_the_tensors_contradict_is_refused(
    twin: Twin, override: Any, said: str
) -> None:
    name = 'layers.0.mlp.gate_proj'
    declare = {'quantization': AFFINE['quantization'] | {f'{quantised.MLX}{name}': override}}
    folder = twin('mlx', prefix=quantised.MLX, declare=declare)
    if said:
        assert f'against its quantization config: {name} {said}' in _refusal(folder)
    else:
        load_model(folder)


def test_a_declared_override_of_a_plain_matrix_is_refused(twin: Twin) -> None:
    name = 'layers.0.mlp.gate_proj'
    declare = {'quantization': AFFINE['quantization'] | {f'{quantised.MLX}{name}': True}}
    folder = twin(
        'mlx', quantise=quantised.mlx(leave=name), prefix=quantised.MLX, declare=declare
    )
    assert f'{name} is stored as bf16, declared as mlx-4bit/32' in _refusal(folder)


def test_mixed_bits_without_overrides_are_read_by_their_shapes(twin: Twin) -> None:
    def mixed(module: str, weight: torch.Tensor) -> Any:
        return quantised.mlx(8 if 'attn' in module else 5, 32)(module, weight)

    form = load_model(twin('mlx', quantise=mixed)).form
    assert 'mlx-8bit/32' in form and 'mlx-5bit/32' in form


def test_modelopts_mixed_precision_loads_and_computes_what_it_stands_for(twin: Twin) -> None:
    algorithms = {'self_attn': 'FP8', 'mlp': 'W4A16_NVFP4'}
    layers = {}

    def mixed(module: str, weight: torch.Tensor) -> Any:
        algorithm = next((name for part, name in algorithms.items() if part in module), '')
        if not algorithm:
            return None
        layers[module] = {'quant_algo': algorithm}
        if algorithm == 'FP8':
            return quantised.eight_bit_floats(by_row=False)(module, weight)
        return quantised.modelopt(module, weight)

    folder = twin('nvfp4_modelopt', quantise=mixed, declare={})
    settings = {'quant_algo': 'MIXED_PRECISION', 'quantized_layers': layers}
    separate = {'producer': {'name': 'modelopt'}, 'quantization': settings}
    (folder / 'hf_quant_config.json').write_text(json.dumps(separate))
    model = load_model(folder)
    assert 'nvfp4' in model.form and 'fp8' in model.form
    ids = ids_of(model, 40)
    with torch.inference_mode():
        assert torch.equal(model(ids), unpacked(model)(ids))
    wrong = next(name for name in layers if 'mlp' in name)
    layers[wrong] = {'quant_algo': 'FP8'}
    (folder / 'hf_quant_config.json').write_text(json.dumps(separate))
    assert 'is stored as nvfp4, declared as fp8' in _refusal(folder)


def test_an_excluded_module_that_is_quantised_is_refused(twin: Twin) -> None:
    declare = {
        'quantization_config': MODELOPT['quantization_config']
        | {'exclude_modules': ['*layers.0.mlp*']}
    }
    text = _refusal(twin('nvfp4_modelopt', declare=declare))
    assert 'layers.0.mlp.down_proj is stored as nvfp4, declared as plain' in text


def test_a_form_that_is_not_declared_at_all_is_refused(twin: Twin) -> None:
    text = _refusal(twin('fp8_row', declare=MODELOPT))
    assert 'is stored as fp8, declared as nvfp4' in text


def rewrite(folder: Path, change: Callable[[dict[str, torch.Tensor]], None]) -> None:
    file = folder / 'model.safetensors'
    tensors = {name: tensor.clone() for name, tensor in load_file(file).items()}
    change(tensors)
    save_file(tensors, file)


def test_all_that_is_wrong_with_quantised_tensors_is_said_at_once(twin: Twin) -> None:
    at = 'model.layers.0.mlp'

    def damage(tensors: dict[str, torch.Tensor]) -> None:
        del tensors[f'{at}.gate_proj.biases']
        tensors[f'{at}.up_proj.scales'] = tensors[f'{at}.up_proj.scales'].to(torch.float16)
        tensors[f'{at}.down_proj.weight'] = tensors[f'{at}.down_proj.weight'][:, :3].contiguous()
        tensors[f'{at}.gate_proj.zeros'] = torch.zeros(1)

    folder = twin('mlx')
    rewrite(folder, damage)
    text = _refusal(folder)
    assert 'missing: layers.0.mlp.gate_proj.biases' in text
    assert 'unexpected: layers.0.mlp.gate_proj.zeros' in text
    assert 'wrong shape: layers.0.mlp.down_proj.weight is [64, 3], expected' in text
    assert 'wrong dtype: layers.0.mlp.up_proj.scales is F16, expected BF16' in text
    assert '\n' not in text


@pytest.mark.parametrize(
    ('layout', 'leaf', 'count'),
    [('mlx', 'scales', 2), ('nvfp4_modelopt', 'weight_scale', 2), ('fp8_row', 'weight', 2)],
)
def test_scales_and_codes_that_are_nan_are_counted_and_refused_unless_allowed(
    twin: Twin, layout: str, leaf: str, count: int
) -> None:
    def poison(tensors: dict[str, torch.Tensor]) -> None:
        name = next(each for each in tensors if each.endswith(f'layers.1.mlp.up_proj.{leaf}'))
        flat = tensors[name].view(-1)
        if flat.dtype == torch.float8_e4m3fn:
            flat.view(torch.uint8)[3:5] = 0x7F
        else:
            flat[3:5] = float('nan')

    folder = twin(layout)
    rewrite(folder, poison)
    expected = f'layers.1.mlp.up_proj.{leaf} holds {count} values that are NaN or infinite'
    assert expected in _refusal(folder)
    assert load_model(folder, allow_not_finite=True).is_quantised


def test_a_tensor_scale_of_zero_is_refused(twin: Twin) -> None:
    def empty(tensors: dict[str, torch.Tensor]) -> None:
        tensors['model.layers.0.mlp.up_proj.weight_global_scale'].zero_()

    folder = twin('nvfp4_compressed')
    rewrite(folder, empty)
    assert 'up_proj.weight_global_scale is 0, which divides' in _refusal(folder)
