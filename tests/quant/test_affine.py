"""MLX affine quantisation: bytes equal MLX's own where MLX is installed, and itself elsewhere."""

import math
import struct

import pytest
from safetensors.torch import load_file
from safetensors.torch import save_file
import torch

from gemma_node.quant.affine import BITS
from gemma_node.quant.affine import dequantize
from gemma_node.quant.affine import GROUP_SIZES
from gemma_node.quant.affine import pack
from gemma_node.quant.affine import quantize
from gemma_node.quant.affine import unpack
from gemma_node.quant.packed import dense


def f32(value):
    return struct.unpack('<f', struct.pack('<f', value))[0]


def edge_groups(columns):
    """Return bf16 rows whose groups are corner cases of the rounding rule."""
    generator = torch.Generator().manual_seed(7)
    noise = torch.randn(columns, generator=generator)
    rows = [
        noise,
        noise.abs(),
        -noise.abs(),
        torch.zeros(columns),
        torch.full((columns,), -0.0),
        torch.full((columns,), 3.0),
        torch.full((columns,), -1e-30),
        torch.full((columns,), 1e30),
        noise * 1e-8,
        noise * 1e-38,
        noise * 1e30,
        torch.arange(columns) % 16 - 7.5,
        (torch.arange(columns) % 16 - 8.0) * 0.25,
        torch.where(torch.arange(columns) % 9 == 0, noise, 0.0),
        noise.sign(),
    ]
    return torch.stack([row.float() for row in rows]).bfloat16()


def random_bits(rows, columns, seed):
    """Return finite bf16 values of every magnitude."""
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(-(2**15), 2**15, (rows, columns), generator=generator).short()
    values = words.view(torch.bfloat16)
    return torch.where(values.isfinite() & (values.float().abs() < 1e30), values, 0.0)


@pytest.mark.parametrize('bits', BITS)
def test_packing_is_one_little_endian_bit_stream_per_row(bits):
    codes = torch.randint(0, 2**bits, (3, 64), generator=torch.Generator().manual_seed(bits))
    words = pack(codes.to(torch.uint8), bits)
    assert words.shape == (3, 64 * bits // 32)
    for row in range(3):
        number = sum(int(code) << bits * index for index, code in enumerate(codes[row]))
        expected = number.to_bytes(8 * bits, 'little')
        assert words[row].view(torch.uint8).numpy().tobytes() == expected
    assert torch.equal(unpack(words, bits), codes.to(torch.uint8))


@pytest.fixture(scope='module')
def cases():
    return {
        'edges': edge_groups(256),
        'bits': random_bits(8, 256, 1),
        'noise': torch.randn(16, 256, generator=torch.Generator().manual_seed(5)).bfloat16(),
        'float32': torch.randn(4, 256, generator=torch.Generator().manual_seed(6)),
    }


@pytest.fixture(scope='module')
def theirs(cases, run_oracle, tmp_path_factory):
    """Return what MLX makes of the cases."""
    folder = tmp_path_factory.mktemp('affine')
    save_file(cases, folder / 'in.safetensors')
    run_oracle('affine.py', 'mlx.core', folder / 'in.safetensors', folder / 'out.safetensors')
    return load_file(folder / 'out.safetensors')


@pytest.mark.parametrize('group_size', GROUP_SIZES)
@pytest.mark.parametrize('bits', BITS)
def test_bytes_equal_mlx(cases, theirs, bits, group_size):
    for case, weight in cases.items():
        kind = f'{bits}.{group_size}.{case}'
        ours = quantize(weight, bits=bits, group_size=group_size)
        for name in ('words', 'scales', 'biases'):
            one, other = getattr(ours, name), theirs[f'{kind}.{name}']
            assert one.dtype == other.dtype and raw(one) == raw(other), (case, name)
        assert raw(dequantize(ours)) == raw(theirs[f'{kind}.back']), case
        assert raw(ours.dequantize(weight.dtype)) == raw(theirs[f'{kind}.back']), case


def raw(tensor):
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


def metal_group(group, bits):
    """Quantise one group as the Metal kernel does, scalar by scalar."""
    levels = 2**bits - 1
    high, low = 0.0, 0.0
    for value in group:
        high, low = max(high, value), min(low, value)
    scale = max(f32(f32(high - low) / levels), f32(1e-7))
    side = abs(low) > abs(high)
    scale = scale if side else -scale
    edge = low if side else high

    def away(value):
        whole = math.trunc(value)
        return whole + math.copysign(1, value) if abs(value - whole) >= 0.5 else whole

    steps = away(f32(edge / scale))
    bias = 0.0
    if steps != 0:
        scale, bias = f32(edge / steps), edge
    codes = [max(0, min(levels, away(f32(f32(value - bias) / scale)))) for value in group]
    return codes, scale, bias


@pytest.mark.parametrize('bits', BITS)
def test_metal_rounding_equals_a_scalar_transcription(bits):
    weight = torch.cat([edge_groups(64), torch.randn(64, 64).bfloat16()])
    ours = quantize(weight, bits=bits, group_size=64, rounding='metal')
    codes = unpack(ours.words, bits)
    for row in range(weight.shape[0]):
        expected, scale, bias = metal_group(weight[row].double().tolist(), bits)
        assert codes[row].tolist() == expected, row
        assert ours.scales[row, 0] == torch.tensor(scale).bfloat16(), row
        assert ours.biases[row, 0] == torch.tensor(bias).bfloat16(), row


def test_the_two_roundings_differ_where_a_group_is_all_negative():
    weight = -torch.rand(4, 64, generator=torch.Generator().manual_seed(1)).bfloat16() - 1.0
    cpu = quantize(weight, bits=4, group_size=64, rounding='cpu')
    metal = quantize(weight, bits=4, group_size=64, rounding='metal')
    assert not torch.equal(cpu.scales, metal.scales)


def test_error_is_at_most_a_rounding_step_and_the_larger_end_is_exact():
    weight = torch.randn(8, 128, generator=torch.Generator().manual_seed(3)).bfloat16()
    tensors = quantize(weight, bits=8, group_size=64)
    values = dequantize(tensors, torch.float64)
    step = tensors.scales.double().abs().repeat_interleave(64, 1)
    bias = tensors.biases.double().repeat_interleave(64, 1)
    # Half a step (one where zero's grid clips the far end), plus the bf16 rounding of the scale.
    codes = unpack(tensors.words, 8)
    steps = torch.where((codes == 0) | (codes == 255), 1.0, 0.5).double()
    bound = steps * step * 1.005 + 2.0**-8 * (weight.double() - bias).abs()
    assert ((values - weight.double()).abs() <= bound).all()
    ends = weight.double().reshape(8, 2, 64)
    edge = torch.where(ends.amin(-1).abs() > ends.amax(-1).abs(), ends.amin(-1), ends.amax(-1))
    assert torch.equal(edge, tensors.biases.double())


@pytest.mark.parametrize('bits', BITS)
def test_rows_taken_and_dense_give_the_same_bits_as_the_whole(bits, monkeypatch):
    matrix = quantize(edge_groups(64)[:13], bits=bits, group_size=32)
    monkeypatch.setattr('gemma_node.quant.packed.PART_ELEMENTS', 64 * 4)
    for dtype in (torch.bfloat16, torch.float32, torch.float64):
        whole = matrix.dequantize(dtype)
        rows = torch.tensor([12, 0, 12])
        assert torch.equal(matrix.take(rows).dequantize(dtype), whole[rows])
        assert torch.equal(dense(matrix, dtype), whole)
    assert matrix.shape == (13, 64)
    assert matrix.nbytes == 13 * (64 * bits // 8 + 2 * 2 * 2)


def test_float32_groups_are_not_rounded_to_bfloat16_before_they_are_used():
    weight = torch.randn(4, 64, generator=torch.Generator().manual_seed(8))
    matrix = quantize(weight, bits=8, group_size=64)
    exact = matrix.dequantize(torch.float32)
    assert torch.equal(matrix.dequantize(torch.bfloat16), exact.bfloat16())


@pytest.mark.parametrize(
    ('shape', 'bits', 'group_size'), [((2, 64), 7, 64), ((2, 64), 4, 48), ((2, 96), 4, 64)]
)
def test_wrong_bits_groups_and_shapes_are_named(shape, bits, group_size):
    with pytest.raises(ValueError, match='got'):
        quantize(torch.zeros(shape), bits=bits, group_size=group_size)
