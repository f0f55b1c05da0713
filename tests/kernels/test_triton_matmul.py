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
"""Products of packed matrices: near float64, whatever the form, and a row alone as in company."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from gemma_node.kernels import plain_ops
from gemma_node.kernels import triton_ops
from gemma_node.kernels import triton_prompt
from gemma_node.kernels.planes import affine_planes
from gemma_node.kernels.planes import bf16_planes
from gemma_node.kernels.planes import fp8_planes
from gemma_node.kernels.planes import numbers_of
from gemma_node.kernels.planes import nvfp4_planes
from gemma_node.kernels.planes import Planes
from gemma_node.kernels.planes import stacked
from gemma_node.kernels.tuning import Tiling
from gemma_node.kernels.tuning import tiling_of
from gemma_node.quant import affine
from gemma_node.quant import fp8
from gemma_node.quant import nvfp4
from tests.kernels.conftest import distance

ROWS, COLUMNS = 128, 640
# With float32 sums of exact products; the twin rounds weights of prompts where the kernel does.
NEAR = 5e-6


def _affine(bits: int, group: int) -> Callable[[Tensor], tuple[Planes, Tensor]]:
    def make(weight: Tensor) -> tuple[Planes, Tensor]:
        packed = affine.quantize(weight.bfloat16(), bits=bits, group_size=group)
        codes = affine.unpack(packed.words, bits)
        planes = affine_planes(codes, packed.scales, packed.biases, bits=bits)
        return planes, packed.dequantize(torch.float32)

    return make


def _nvfp4(weight: Tensor) -> tuple[Planes, Tensor]:
    packed = nvfp4.quantize(weight)
    codes = torch.stack([packed.codes & 15, packed.codes >> 4], -1).flatten(1)
    planes = nvfp4_planes(codes, packed.scales, 1.0 / packed.tensor_scale)
    return planes, packed.dequantize(torch.float32)


def _fp8(weight: Tensor) -> tuple[Planes, Tensor]:
    packed = fp8.quantize(weight, by_row=True)
    return fp8_planes(packed.codes, packed.scale), packed.dequantize(torch.float32)


def _bf16(weight: Tensor) -> tuple[Planes, Tensor]:
    return bf16_planes(weight), weight.bfloat16().float()


FORMS = {
    'affine4/32': _affine(4, 32),
    'affine4/64': _affine(4, 64),
    'affine4/128': _affine(4, 128),
    'affine8/32': _affine(8, 32),
    'affine8/64': _affine(8, 64),
    'nvfp4': _nvfp4,
    'fp8': _fp8,
    'bfloat16': _bf16,
}
each_form = pytest.mark.parametrize('form', FORMS)


def _weight(rows: int = ROWS, columns: int = COLUMNS) -> Tensor:
    return torch.randn(rows, columns) * 0.1


def _parts(planes: Planes) -> int:
    steps = planes.padded_columns // planes.block
    return next(each for each in (5, 3, 2, 1) if steps % each == 0)


def _product(x: Tensor, planes: Planes, parts: int) -> Tensor:
    out = torch.full((parts, x.shape[0], planes.rows), torch.nan, device=x.device)
    triton_ops.product(x, planes, out, tiling=Tiling(rows=32, parts=parts, warps=2, stages=2))
    return out


@each_form
def test_packing_keeps_every_number(form: str) -> None:
    torch.manual_seed(1)
    # Rows and columns that are no whole blocks.
    planes, numbers = FORMS[form](_weight(72, 384))
    assert (numbers_of(planes) - numbers).abs().max() <= 1e-7 * numbers.abs().max()
    assert planes.padded_rows == 128
    assert planes.padded_columns % planes.block == 0


@each_form
def test_products_are_near_float64(form: str, device: torch.device) -> None:
    planes, numbers = FORMS[form](_weight())
    x = torch.randn(8, COLUMNS, dtype=torch.bfloat16)
    wanted = x.double() @ numbers.double().t()
    found = _product(x.to(device), planes.to(device), _parts(planes)).double().sum(0)
    assert distance(found, wanted) < NEAR
    twin = torch.empty(2, 8, ROWS)
    plain_ops.product(x, planes, twin)
    assert distance(twin.sum(0), wanted) < NEAR


def test_rows_and_columns_may_be_no_whole_blocks(device: torch.device) -> None:
    planes, numbers = FORMS['affine4/64'](_weight(72, 320))
    x = torch.randn(16, 320, dtype=torch.bfloat16)
    found = _product(x.to(device), planes.to(device), 1)
    assert found.shape == (1, 16, 72)
    assert distance(found[0], x.double() @ numbers.double().t()) < NEAR


def test_large_sums_do_not_cancel_in_four_bits(device: torch.device) -> None:
    planes, numbers = FORMS['affine4/64'](_weight())
    x = torch.randn(8, COLUMNS, dtype=torch.bfloat16) + 100.0
    found = _product(x.to(device), planes.to(device), 1)[0]
    assert distance(found, x.double() @ numbers.double().t()) < 1e-4


@pytest.mark.parametrize('form', ['affine4/64', 'nvfp4', 'bfloat16'])
def test_gates_are_applied_to_finished_sums(form: str, device: torch.device) -> None:
    planes, _ = FORMS[form](_weight())
    x = torch.randn(8, COLUMNS, dtype=torch.bfloat16)
    plane = torch.randn(8, 3, ROWS)
    for more in ({'gated': True}, {'plane': plane[:, 1]}):
        shape = (8, ROWS // 2 if 'gated' in more else ROWS)
        wanted = torch.empty(shape)
        plain_ops.product(x, planes, wanted, **more)
        found = torch.full(shape, torch.nan, device=device)
        more = {name: each.to(device) if name == 'plane' else each for name, each in more.items()}
        triton_ops.product(x.to(device), planes.to(device), found, **more)
        assert distance(found, wanted) < NEAR


@each_form
def test_prompt_products_round_weights_once(form: str, device: torch.device) -> None:
    planes, numbers = FORMS[form](_weight())
    x = torch.randn(64, COLUMNS, dtype=torch.bfloat16)
    found = torch.full((64, ROWS), torch.nan, device=device)
    triton_ops.prompt_product(x.to(device), planes.to(device), found)
    exact, twin = x.double() @ numbers.double().t(), torch.empty(64, ROWS)
    plain_ops.prompt_product(x, planes, twin)
    assert distance(twin, exact) < 4e-3
    # The interpreter cannot round to bfloat16: there the weights stay as they are. On a GPU a
    # weight in the middle between two bfloat16 numbers may fall to either side.
    if device.type == 'cpu':
        assert distance(found, exact) < NEAR
    else:
        assert distance(found, twin) < 2e-4


@pytest.mark.parametrize('form', ['affine4/64', 'affine8/64', 'nvfp4', 'fp8'])
def test_weights_unpacked_beforehand_are_those_of_the_tile(
    form: str, device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(triton_prompt, 'UNPACKED_FROM', 64)
    planes, numbers = FORMS[form](_weight(320))
    x = torch.randn(64, COLUMNS, dtype=torch.bfloat16)
    # Room for a part of the rows only.
    room = torch.full((256 * planes.padded_columns,), torch.nan, dtype=torch.bfloat16)
    found = torch.full((2, 64, 320), torch.nan, device=device)
    triton_ops.prompt_product(x.to(device), planes.to(device), found[0], room=room.to(device))
    triton_ops.prompt_product(x.to(device), planes.to(device), found[1])
    if device.type == 'cpu':
        # The interpreter does not round to bfloat16 but cuts off.
        assert distance(found[0], x.double() @ numbers.double().t()) < 8e-3
    else:
        assert torch.equal(found[0], found[1])


@each_form
def test_prompts_are_gated_alike_packed_and_unpacked(
    form: str, device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(triton_prompt, 'UNPACKED_FROM', 64)
    planes, numbers = FORMS[form](_weight(512))
    x = torch.randn(64, COLUMNS, dtype=torch.bfloat16)
    wanted = torch.empty(64, 256)
    plain_ops.prompt_product(x, planes, wanted, gated=True)
    room = torch.full((256 * planes.padded_columns,), torch.nan, dtype=torch.bfloat16)
    found = torch.full((2, 64, 256), torch.nan, device=device)
    x, planes = x.to(device), planes.to(device)
    triton_ops.prompt_product(x, planes, found[0], gated=True, room=room.to(device))
    triton_ops.prompt_product(x, planes, found[1], gated=True)
    if device.type == 'cpu':
        gate, up = (x.double() @ numbers.double().t()).chunk(2, -1)
        exact = torch.nn.functional.gelu(gate, approximate='tanh') * up
        assert distance(found[0], exact) < 2e-2
        assert distance(found[1], exact) < 2e-5
    else:
        assert distance(found[0], wanted) < 5e-4
        assert torch.equal(found[0], found[1])


def test_matrices_below_each_other_are_one(device: torch.device) -> None:
    (first, a), (second, b) = (FORMS['affine4/64'](_weight(rows)) for rows in (64, 72))
    both = stacked([first, second])
    x = torch.randn(8, COLUMNS, dtype=torch.bfloat16)
    found = _product(x.to(device), both.to(device), 1)[0]
    assert distance(found, x.double() @ torch.cat((a, b)).double().t()) < NEAR
    part = both.part(64, 136)
    assert torch.equal(numbers_of(part), numbers_of(second))


def test_a_tiling_is_a_function_of_shape_alone() -> None:
    planes, _ = FORMS['affine4/64'](_weight(3072, 2560))
    tiling = tiling_of(planes)
    assert tiling.parts == 5
    assert tiling_of(planes, whole=True).parts == 1


@pytest.mark.gpu
@each_form
def test_a_row_has_the_same_bits_in_any_company(form: str, gpu: torch.device) -> None:
    planes, _ = FORMS[form](_weight(256, 2560))
    planes = planes.to(gpu)
    x = torch.randn(16, 2560, dtype=torch.bfloat16, device=gpu)
    whole = _product(x, planes, _parts(planes))
    for first in range(16):
        for place in (0, 3, 7):
            eight = torch.randn(8, 2560, dtype=torch.bfloat16, device=gpu)
            eight[place] = x[first]
            found = _product(eight, planes, _parts(planes))
            assert torch.equal(found[:, place], whole[:, first])


@pytest.mark.gpu
@each_form
def test_a_prompt_row_has_the_same_bits_in_any_tile(form: str, gpu: torch.device) -> None:
    planes, _ = FORMS[form](_weight(256, 2560))
    planes = planes.to(gpu)
    x = torch.randn(512, 2560, dtype=torch.bfloat16, device=gpu)
    whole, unpacked = torch.full((2, 512, 256), torch.nan, device=gpu)
    triton_ops.prompt_product(x, planes, whole)
    room = torch.empty(256 * planes.padded_columns, dtype=torch.bfloat16, device=gpu)
    triton_ops.prompt_product(x, planes, unpacked, room=room)
    assert torch.equal(unpacked, whole)
    for first in (0, 64, 37, 448):
        found = torch.full((64, 256), torch.nan, device=gpu)
        triton_ops.prompt_product(x[first : first + 64].contiguous(), planes, found)
        assert torch.equal(found, whole[first : first + 64])
