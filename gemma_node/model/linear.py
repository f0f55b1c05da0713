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
Modules that hold weights: projections, norms and scaled embeddings. No biases anywhere.

Every matrix shows itself as `packed`, plain or not, and names its `form`. The quantised twins
are references: they unpack what they multiply with, each time. Their packed tensors are no
module state, so that casting a model never rounds a scale; they stay on the device they are on.
"""

from __future__ import annotations

import torch
from torch import nn
import torch.nn.functional as F  # noqa: N812

from gemma_node.kernels.steps import HF
from gemma_node.quant.packed import dense
from gemma_node.quant.packed import Packed
from gemma_node.quant.packed import PlainTensor


class Linear(nn.Module):
    """A projection without bias; weight is [out, in]."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out_features, in_features))

    @property
    def packed(self) -> Packed:
        """The weight as the contract of matrices has it."""
        return PlainTensor(self.weight.detach())

    @property
    def form(self) -> str:
        """The name of the weight's dtype."""
        return _name(self.weight.dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return x W^T."""
        return F.linear(x, self.weight)


class QuantLinear(nn.Module):
    """A projection whose weight stays packed; `form` names how."""

    def __init__(self, packed: Packed, form: str) -> None:
        super().__init__()
        self.packed = packed
        self.form = form

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return x W^T with the unpacked weight in the dtype of x."""
        return F.linear(x, dense(self.packed, x.dtype).to(x.device))


class RmsNorm(nn.Module):
    """Root-mean-square norm with a plain weight."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.steps = HF
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the normalised, scaled input."""
        return self.steps.rms_norm(x, self.weight, self.eps)


class ScaledEmbedding(nn.Module):
    """An embedding times sqrt(dim), a factor that is first rounded to the weight's dtype."""

    def __init__(self, num_embeddings: int, size: int, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.weight = nn.Parameter(torch.empty(num_embeddings, size))

    @property
    def packed(self) -> Packed:
        """The table as the contract of matrices has it."""
        return PlainTensor(self.weight.detach())

    @property
    def form(self) -> str:
        """The name of the table's dtype."""
        return _name(self.weight.dtype)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the scaled rows of `ids`."""
        return F.embedding(ids, self.weight) * rounded_scale(self.scale, self.weight.dtype)

    def as_linear(self, x: torch.Tensor) -> torch.Tensor:
        """Return x E^T, the table used as a projection."""
        return F.linear(x, self.weight)


class QuantEmbedding(nn.Module):
    """A scaled embedding whose table stays packed; its rows come in `dtype`."""

    def __init__(self, packed: Packed, form: str, *, scale: float, dtype: torch.dtype) -> None:
        super().__init__()
        self.packed = packed
        self.form = form
        self.scale = scale
        self.dtype = dtype

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the scaled rows of `ids`."""
        rows = self.packed.take(ids.flatten()).dequantize(self.dtype)
        return rows.view(*ids.shape, -1) * rounded_scale(self.scale, self.dtype)

    def as_linear(self, x: torch.Tensor) -> torch.Tensor:
        """Return x E^T with the unpacked table in the dtype of x."""
        return F.linear(x, dense(self.packed, x.dtype).to(x.device))


def rounded_scale(scale: float, dtype: torch.dtype) -> float:
    """Return `scale` as `dtype` holds it: sqrt(2560) is 50.5 in bfloat16."""
    return torch.tensor(scale, dtype=dtype, device='cpu').item()


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix('torch.')


class Mlp(nn.Module):
    """The gated feed-forward part of a layer."""

    def __init__(self, hidden_size: int, intermediate_size: int) -> None:
        super().__init__()
        self.steps = HF
        self.gate_proj = Linear(hidden_size, intermediate_size)
        self.up_proj = Linear(hidden_size, intermediate_size)
        self.down_proj = Linear(intermediate_size, hidden_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return down(gelu(gate(x)) * up(x))."""
        down: torch.Tensor = self.down_proj(
            self.steps.gelu_tanh(self.gate_proj(x)) * self.up_proj(x)
        )
        return down
