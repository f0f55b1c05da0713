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
Attention of the full pass: normed and rotated queries, keys and values of the owning layer.

Scale is 1.0; the learned q_norm and k_norm set the temperature. Shared layers have no key or
value projection and read what their owner computed in the same pass.
"""

from __future__ import annotations

import torch
from torch import nn
import torch.nn.functional as F  # noqa: N812

from gemma_node.kernels import reference
from gemma_node.kernels.steps import HF
from gemma_node.model.config import LayerConfig
from gemma_node.model.config import ModelConfig
from gemma_node.model.linear import Linear
from gemma_node.model.linear import RmsNorm

KeyValue = tuple[torch.Tensor, torch.Tensor]


class Attention(nn.Module):
    """Multi-head attention of one layer, over a whole sequence at once."""

    def __init__(self, config: ModelConfig, layer: LayerConfig, *, fused: bool) -> None:
        super().__init__()
        self.layer = layer
        self.eps = config.rms_norm_eps
        self.fused = fused
        self.steps = HF
        size = layer.head_dim
        self.q_proj = Linear(config.hidden_size, config.num_heads * size)
        self.q_norm = RmsNorm(size, self.eps)
        self.o_proj = Linear(config.num_heads * size, config.hidden_size)
        if layer.owns_kv:
            self.k_proj = Linear(config.hidden_size, layer.num_kv_heads * size)
            self.v_proj = Linear(config.hidden_size, layer.num_kv_heads * size)
            self.k_norm = RmsNorm(size, self.eps)

    def forward(
        self,
        x: torch.Tensor,
        tables: KeyValue,
        mask: torch.Tensor,
        shared: KeyValue | None,
    ) -> tuple[torch.Tensor, KeyValue]:
        """
        Return the attended [batch, rows, hidden] and the keys and values that were read.

        :param tables: cosines and signed sines, each [rows, head_dim]
        :param mask: additive [rows, rows]; boolean with the fused kernel
        :param shared: the owner's keys and values, None in an owning layer
        """
        batch, rows = x.shape[:2]
        heads = (batch, rows, -1, self.layer.head_dim)
        cos, sin = tables[0][:, None], tables[1][:, None]
        q = reference.rotary(self.q_norm(self.q_proj(x).view(heads)), cos, sin).transpose(1, 2)
        if shared is None:
            k = reference.rotary(self.k_norm(self.k_proj(x).view(heads)), cos, sin)
            v = self.steps.rms_norm(self.v_proj(x).view(heads), None, self.eps)
            shared = (k.transpose(1, 2), v.transpose(1, 2))
        attended = self._attend(q, shared, mask)
        return self.o_proj(attended.transpose(1, 2).reshape(batch, rows, -1)), shared

    def _attend(self, q: torch.Tensor, shared: KeyValue, mask: torch.Tensor) -> torch.Tensor:
        k, v = shared
        if not self.fused:
            return reference.attention(q, k, v, mask)
        groups = q.shape[1] // k.shape[1]
        k, v = reference.repeat_heads(k, groups), reference.repeat_heads(v, groups)
        q, k, v = q.to(v.dtype), k.to(v.dtype), v
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=1.0)
