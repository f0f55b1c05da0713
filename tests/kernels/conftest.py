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
"""
Devices for the kernels' tests: the interpreter on a CPU, and compiled kernels on a GPU.

The interpreter proves indexing and arithmetic in float32; the tensor cores' bfloat16 products,
assembly and equal bits are proven by the [gpu] runs alone.
"""

from __future__ import annotations

import os

import pytest
import torch


@pytest.fixture(
    params=['cpu', pytest.param('cuda', marks=pytest.mark.gpu)], ids=['interpreted', 'cuda']
)
def device(request: pytest.FixtureRequest) -> torch.device:
    """Return where kernels run."""
    interpreted = os.environ.get('TRITON_INTERPRET') == '1'
    if request.param == 'cpu' and not interpreted:
        pytest.skip('interpreted where TRITON_INTERPRET=1')
    if request.param == 'cuda' and (interpreted or not torch.cuda.is_available()):
        pytest.skip('no CUDA device')
    torch.manual_seed(3)
    return torch.device(request.param)


@pytest.fixture
def gpu() -> torch.device:
    """Return the GPU."""
    if os.environ.get('TRITON_INTERPRET') == '1' or not torch.cuda.is_available():
        pytest.skip('no CUDA device')
    torch.manual_seed(3)
    return torch.device('cuda')


def distance(found: torch.Tensor, wanted: torch.Tensor) -> float:
    """Return the relative distance; NaN where anything was left unwritten."""
    found, wanted = found.double().cpu(), wanted.double().cpu()
    return float((found - wanted).norm() / wanted.norm())
