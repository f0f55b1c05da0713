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

"""Every form unpacks to the same bits on a CUDA device as on a CPU; only where one is present."""

import pytest
import torch

from gemma_node.quant import affine
from gemma_node.quant import fp8
from gemma_node.quant import nvfp4
from gemma_node.quant.packed import dense

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason='no CUDA device'),
]
WEIGHT = torch.randn(40, 128, generator=torch.Generator().manual_seed(1)).bfloat16()
FORMS = {
    'mlx-4bit': affine.quantize(WEIGHT, bits=4, group_size=64),
    'mlx-8bit': affine.quantize(WEIGHT, bits=8, group_size=64),
    'mlx-3bit': affine.quantize(WEIGHT, bits=3, group_size=32),
    'nvfp4': nvfp4.quantize(WEIGHT),
    'fp8': fp8.quantize(WEIGHT, by_row=True),
}


@pytest.mark.parametrize('dtype', [torch.bfloat16, torch.float32])
@pytest.mark.parametrize('name', FORMS)
def test_unpacked_bits_equal_those_of_the_cpu(name, dtype, monkeypatch):
    monkeypatch.setattr('gemma_node.quant.packed.PART_ELEMENTS', 128 * 9)
    matrix = FORMS[name]
    moved = matrix.to(torch.device('cuda'))
    assert torch.equal(dense(moved, dtype).cpu(), dense(matrix, dtype))
    rows = torch.tensor([39, 0, 39])
    taken = moved.take(rows.cuda()).dequantize(dtype)
    assert torch.equal(taken.cpu(), matrix.take(rows).dequantize(dtype))
