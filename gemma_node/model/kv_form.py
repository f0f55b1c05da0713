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
How cached keys and values are stored: float32, bfloat16, or e4m3 with a scale for each head.

Keys and values come out of an RMS norm, so a head's largest is known from its weights: no number
of any text is ever clipped, and a row's bits depend on that row alone. Scales are powers of two,
so multiplying with them rounds nothing.
"""

from __future__ import annotations

import math
from typing import cast

import torch

from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.gemma4 import Layer

FP8 = torch.float8_e4m3fn
KV_DTYPES = {'float32': torch.float32, 'bfloat16': torch.bfloat16, 'float8': FP8}
_LARGEST = 448.0


def kv_scales(model: Gemma4) -> dict[int, torch.Tensor]:
    """Return scales [2, num_kv_heads] of keys and of values, by owning layer."""
    return {index: _of_layer(cast('Layer', model.layers[index])) for index in _owners(model)}


def encode_kv(values: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Return e4m3 of [heads, rows, head_dim] by the scales [heads]."""
    scaled = values / scale.to(values)[:, None, None]
    return scaled.clamp(-_LARGEST, _LARGEST).to(FP8)


def decode_kv(stored: torch.Tensor, scale: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return what e4m3 [heads, rows, head_dim] stands for."""
    return stored.to(dtype) * scale.to(stored.device, dtype)[:, None, None]


def _owners(model: Gemma4) -> range:
    return range(model.config.num_owning_layers)


def _of_layer(layer: Layer) -> torch.Tensor:
    plan, weight = layer.layer, layer.self_attn.k_norm.weight
    # A normed head has at most sqrt(head_dim) in one place; rotation keeps pairs within that.
    value = math.sqrt(plan.head_dim)
    key = value * float(weight.detach().abs().max())
    scales = [_power_of_two(bound / _LARGEST) for bound in (key, value)]
    return torch.tensor(scales, dtype=torch.float32)[:, None].expand(2, plan.num_kv_heads)


def _power_of_two(least: float) -> float:
    """Return the smallest power of two that is no less; 1 for what is not a size."""
    if not 0.0 < least < math.inf:
        return 1.0
    mantissa, exponent = math.frexp(least)
    return math.ldexp(1.0, exponent - (mantissa == 0.5))
