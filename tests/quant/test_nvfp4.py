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

"""NVFP4 and FP8: bytes and numbers equal compressed-tensors' own, and independent arithmetic."""

import pytest
from safetensors.torch import load_file
from safetensors.torch import save_file
import torch

from gemma_node.quant import fp8
from gemma_node.quant import nvfp4
from gemma_node.quant.packed import dense

E2M1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def weights():
    """Return bf16 matrices: noise of several scales, outliers, zeros, constants, ties."""
    generator = torch.Generator().manual_seed(11)
    noise = torch.randn(24, 96, generator=generator)
    outlier = noise.clone()
    outlier[3, 5] = 900.0
    sparse = torch.where(noise > 1.2, noise, 0.0)
    sparse[:, :16] = 0.0
    # Every halfway point between two numbers, at a block scale of one.
    ties = torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 6.0]).repeat(24, 12)
    signs = torch.where(torch.arange(96) % 3 == 0, -1.0, 1.0)
    return {
        'noise': noise.bfloat16(),
        'small': (noise * 1e-6).bfloat16(),
        'denormal': (noise * 1e-38).bfloat16(),
        'large': (noise * 1e30).bfloat16(),
        'outlier': outlier.bfloat16(),
        'sparse': sparse.bfloat16(),
        'zeros': torch.zeros(24, 96).bfloat16(),
        'minus_zeros': torch.full((24, 96), -0.0).bfloat16(),
        'constant': torch.full((24, 96), -3.0).bfloat16(),
        'ties': (ties * signs).bfloat16(),
        'one_row': noise[:1].bfloat16(),
    }


@pytest.fixture(scope='module')
def theirs(run_oracle, tmp_path_factory):
    """Return what compressed-tensors makes of `weights`."""
    folder = tmp_path_factory.mktemp('nvfp4')
    save_file(weights(), folder / 'in.safetensors')
    run_oracle(
        'nvfp4.py', 'compressed_tensors', folder / 'in.safetensors', folder / 'out.safetensors'
    )
    return load_file(folder / 'out.safetensors')


def same_bits(one, other):
    assert one.dtype == other.dtype
    assert one.shape == other.shape
    raw = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[one.element_size()]
    return torch.equal(one.contiguous().view(raw), other.contiguous().view(raw))


@pytest.mark.parametrize('name', sorted(weights()))
def test_nvfp4_bytes_and_numbers_equal_compressed_tensors(theirs, name):
    ours = nvfp4.quantize(weights()[name])
    stored = {
        'weight_packed': ours.codes,
        'weight_scale': ours.scales,
        'weight_global_scale': ours.tensor_scale.reshape(1),
    }
    for leaf, tensor in stored.items():
        assert same_bits(tensor, theirs[f'nvfp4.{name}.{leaf}']), leaf
    form = nvfp4.Nvfp4Format('compressed-tensors')
    read = form.build({leaf: theirs[f'nvfp4.{name}.{leaf}'] for leaf in stored})
    assert same_bits(read.dequantize(torch.bfloat16), theirs[f'nvfp4.{name}.back'])


@pytest.mark.parametrize('strategy', ['tensor', 'channel'])
@pytest.mark.parametrize('name', ['noise', 'large', 'outlier', 'constant', 'ties', 'one_row'])
def test_fp8_bytes_and_numbers_equal_compressed_tensors(theirs, name, strategy):
    kind = f'fp8.{strategy}.{name}'
    stored = {leaf: theirs[f'{kind}.{leaf}'] for leaf in ('weight', 'weight_scale')}
    ours = fp8.quantize(weights()[name], by_row=strategy == 'channel')
    assert same_bits(ours.codes, stored['weight'])
    assert torch.equal(ours.scale.reshape(-1), stored['weight_scale'].reshape(-1))
    read = fp8.Fp8Format().build(stored)
    assert same_bits(read.dequantize(torch.float32), theirs[f'{kind}.back'])


def test_a_byte_holds_the_even_column_low_and_bit_3_is_the_sign():
    codes = torch.tensor([[0x10, 0x9A, 0xF7]], dtype=torch.uint8)
    expected = [0.0, 0.5, -1.0, -0.5, 6.0, -6.0]
    assert nvfp4.unpack(codes, torch.float32).tolist() == [expected]
    assert torch.equal(nvfp4.pack(torch.tensor([[0, 1, 10, 9, 7, 15]]).to(torch.uint8)), codes)


def modelopt(rows=4, columns=32, seed=2):
    """Return random tensors as ModelOpt stores them."""
    generator = torch.Generator().manual_seed(seed)
    scales = torch.rand(rows, columns // 16, generator=generator) * 400 + 0.01
    return {
        'weight': torch.randint(0, 256, (rows, columns // 2), generator=generator).to(torch.uint8),
        'weight_scale': scales.to(torch.float8_e4m3fn),
        'weight_scale_2': torch.tensor(0.00123),
    }


def test_modelopt_numbers_equal_the_formula_scalar_by_scalar():
    tensors = modelopt()
    matrix = nvfp4.Nvfp4Format('modelopt').build(tensors)
    values = matrix.dequantize(torch.float32)
    for row in range(4):
        for column in range(32):
            byte = int(tensors['weight'][row, column // 2])
            code = byte >> 4 if column % 2 else byte & 15
            number = E2M1[code & 7] * (-1.0 if code & 8 else 1.0)
            scale = tensors['weight_scale'][row, column // 16].float() * tensors['weight_scale_2']
            assert values[row, column] == number * scale


def test_both_styles_of_one_matrix_agree_up_to_the_rounding_of_the_inverse():
    tensors = modelopt(16, 64)
    one = nvfp4.Nvfp4Format('modelopt').build(tensors).dequantize(torch.float64)
    other = nvfp4.Nvfp4Format('compressed-tensors').build(
        {
            'weight_packed': tensors['weight'],
            'weight_scale': tensors['weight_scale'],
            'weight_global_scale': 1.0 / tensors['weight_scale_2'].reshape(1),
        }
    )
    torch.testing.assert_close(one, other.dequantize(torch.float64), rtol=1.3e-7, atol=0.0)


def test_rows_quantised_in_parts_with_the_whole_scale_are_the_same_bytes():
    weight = weights()['outlier']
    whole = nvfp4.quantize(weight)
    scale = nvfp4.tensor_scale_of(weight.abs().amax())
    parts = [nvfp4.quantize(part, scale) for part in weight.split(5)]
    assert torch.equal(torch.cat([part.codes for part in parts]), whole.codes)
    scales = torch.cat([part.scales.view(torch.uint8) for part in parts])
    assert torch.equal(scales, whole.scales.view(torch.uint8))


def test_nvfp4_error_is_within_half_a_step_of_each_number():
    weight = weights()['noise']
    tensors = nvfp4.quantize(weight)
    scale = (tensors.scales.double() / tensors.tensor_scale.double()).repeat_interleave(16, 1)
    error = (tensors.dequantize(torch.float64) - weight.double()).abs() / scale
    # The gap above 4 is 2 wide; the block's largest may exceed 6 by the scale's rounding.
    assert error.max() <= 1.0 + 6.0 * 2.0**-4


@pytest.mark.parametrize('form', ['nvfp4', 'fp8_rows', 'fp8_tensor'])
def test_rows_taken_and_dense_give_the_same_bits_as_the_whole(form, monkeypatch):
    weight = weights()['outlier']
    matrix = {
        'nvfp4': lambda: nvfp4.quantize(weight),
        'fp8_rows': lambda: fp8.quantize(weight, by_row=True),
        'fp8_tensor': lambda: fp8.quantize(weight, by_row=False),
    }[form]()
    for dtype in (torch.bfloat16, torch.float32, torch.float64):
        whole = matrix.dequantize(dtype)
        rows = torch.tensor([7, 0, 7])
        assert torch.equal(matrix.take(rows).dequantize(dtype), whole[rows])
        monkeypatch.setattr('gemma_node.quant.packed.PART_ELEMENTS', 96 * 5)
        assert torch.equal(dense(matrix, dtype), whole)
        assert dense(matrix, dtype).dtype == dtype
    assert matrix.shape == (24, 96)


def test_bytes_are_those_of_the_stored_tensors():
    assert nvfp4.quantize(weights()['noise']).nbytes == 24 * 48 + 24 * 6 + 4
    assert fp8.quantize(weights()['noise'], by_row=True).nbytes == 24 * 96 + 24 * 4


def test_wrong_shapes_are_named():
    with pytest.raises(ValueError, match=r'multiple of 16\], got \[2, 40\]'):
        nvfp4.quantize(torch.zeros(2, 40))
    with pytest.raises(ValueError, match='got'):
        fp8.quantize(torch.zeros(2), by_row=True)
