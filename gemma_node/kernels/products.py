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
"""Products of packed matrices with few rows: in CUDA C++ where that can be, else in Triton."""

from __future__ import annotations

from dataclasses import replace

import torch

from gemma_node.kernels import cuda_matmul
from gemma_node.kernels import triton_matmul
from gemma_node.kernels.planes import Planes
from gemma_node.kernels.tuning import Tiling
from gemma_node.kernels.tuning import tiling_of


def product(
    x: torch.Tensor,
    weight: Planes,
    out: torch.Tensor,
    *,
    tiling: Tiling | None = None,
    gated: bool = False,
    plane: torch.Tensor | None = None,
    rows: int | None = None,
) -> None:
    """
    Multiply rows of activations with a matrix, see `triton_matmul.product`.

    :param tiling: of Triton, which then does it
    :param rows: how many are wanted; what is written of the others, if anything, means nothing
    """
    whole = gated or plane is not None
    parts = 1 if whole else out.shape[0]
    plan = None if tiling else cuda_matmul.plan_of(weight, gated=gated, whole=whole)
    if plan is not None and plan.parts == parts:
        cuda_matmul.launch(x[:rows], weight, out, plan, gated=gated, plane=plane)
        return
    tiling = tiling or replace(tiling_of(weight, gated=gated, whole=whole), parts=parts)
    triton_matmul.product(x, weight, out, tiling=tiling, gated=gated, plane=plane)
