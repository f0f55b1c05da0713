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


"""Modules that hold weights: projections, norms and scaled embeddings. No biases anywhere."""

from __future__ import annotations

import torch
from torch import nn
import torch.nn.functional as F  # noqa: N812

from gemma_node.kernels import reference


class Linear(nn.Module):
    """A projection without bias; weight is [out, in]."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out_features, in_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return x W^T."""
        return F.linear(x, self.weight)


class RmsNorm(nn.Module):
    """Root-mean-square norm with a plain weight."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the normalised, scaled input."""
        return reference.rms_norm(x, self.weight, self.eps)


class ScaledEmbedding(nn.Module):
    """An embedding times sqrt(dim), a factor that is first rounded to the weight's dtype."""

    def __init__(self, num_embeddings: int, size: int, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.weight = nn.Parameter(torch.empty(num_embeddings, size))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the scaled rows of `ids`."""
        return F.embedding(ids, self.weight) * rounded_scale(self.scale, self.weight.dtype)


def rounded_scale(scale: float, dtype: torch.dtype) -> float:
    """Return `scale` as `dtype` holds it: sqrt(2560) is 50.5 in bfloat16."""
    return torch.tensor(scale, dtype=dtype, device='cpu').item()


class Mlp(nn.Module):
    """The gated feed-forward part of a layer."""

    def __init__(self, hidden_size: int, intermediate_size: int) -> None:
        super().__init__()
        self.gate_proj = Linear(hidden_size, intermediate_size)
        self.up_proj = Linear(hidden_size, intermediate_size)
        self.down_proj = Linear(intermediate_size, hidden_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return down(gelu(gate(x)) * up(x))."""
        down: torch.Tensor = self.down_proj(
            reference.gelu_tanh(self.gate_proj(x)) * self.up_proj(x)
        )
        return down
