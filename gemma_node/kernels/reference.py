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
The plain PyTorch truth of the operations that a fast kernel may replace.

Rounds where transformers' eager Gemma 4 rounds ("hf"): in float32 inside an operation, once to
the tensor's dtype at its end. Every function works in any dtype and under autograd.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812


def rms_norm(x: torch.Tensor, weight: torch.Tensor | None, eps: float) -> torch.Tensor:
    """Return x / sqrt(mean(x^2) + eps) * weight over the last dimension; no "+1" on weight."""
    wide = x.float()
    wide = wide * torch.pow(wide.pow(2).mean(-1, keepdim=True) + eps, -0.5)
    if weight is not None:
        wide = wide * weight.float()
    return wide.to(x.dtype)


def rotary(x: torch.Tensor, cos: torch.Tensor, signed_sin: torch.Tensor) -> torch.Tensor:
    """
    Rotate pairs (j, j + D/2) of the last dimension.

    `signed_sin` has its first half negated, so that the rotated half is a plain roll.
    """
    return x * cos + x.roll(x.shape[-1] // 2, -1) * signed_sin


def gelu_tanh(x: torch.Tensor) -> torch.Tensor:
    """Return the tanh approximation of GELU."""
    return F.gelu(x, approximate='tanh')


def softcap(x: torch.Tensor, cap: float | None) -> torch.Tensor:
    """Return cap * tanh(x / cap), or x without a cap."""
    return x if cap is None else torch.tanh(x / cap) * cap


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor
) -> torch.Tensor:
    """
    Return softmax(q k^T + mask) v with scale 1.0; query head n reads head n // (Hq / Hkv).

    :param q: [batch, num_heads, rows, head_dim]
    :param k: [batch, num_kv_heads, columns, head_dim]; v alike
    :param mask: additive, broadcastable to [batch, num_heads, rows, columns]
    :return: [batch, num_heads, rows, head_dim]
    """
    groups = q.shape[1] // k.shape[1]
    k, v = repeat_heads(k, groups), repeat_heads(v, groups)
    scores = torch.matmul(q, k.transpose(2, 3)) + mask
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
    return torch.matmul(weights, v)


def repeat_heads(x: torch.Tensor, groups: int) -> torch.Tensor:
    """Repeat every head of [batch, heads, rows, head_dim] `groups` times in place."""
    if groups == 1:
        return x
    batch, heads, rows, dim = x.shape
    x = x[:, :, None].expand(batch, heads, groups, rows, dim)
    return x.reshape(batch, heads * groups, rows, dim)
