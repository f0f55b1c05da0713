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
Rotary position tables of both layer types.

Tables are plain tensors, not module buffers: casting a model to bfloat16 must never round the
frequencies, only the finished cosines and sines.
"""

from __future__ import annotations

import torch

from gemma_node.model.config import RopeConfig


def inverse_frequencies(rope: RopeConfig, head_dim: int) -> torch.Tensor:
    """
    Return head_dim / 2 frequencies in float32; pairs past the rotated share get zero.

    The exponent's denominator is the whole head dimension, whatever share of it rotates.
    """
    num_rotated = int(rope.rotary_factor * head_dim // 2)
    exponents = torch.arange(0, 2 * num_rotated, 2, dtype=torch.float32) / head_dim
    rotated = 1.0 / (rope.theta**exponents)
    idle = torch.zeros(head_dim // 2 - num_rotated, dtype=torch.float32)
    return torch.cat((rotated, idle)) / rope.scale


def rotary_tables(
    rope: RopeConfig, head_dim: int, num_positions: int, *, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """
    Return cosines and signed sines for positions 0 to num_positions - 1, each [positions, D].

    The first half of the sines is negated, as `reference.rotary` wants it.
    """
    frequencies = inverse_frequencies(rope, head_dim)
    angles = torch.arange(num_positions, dtype=torch.float32)[:, None] * frequencies
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((cos, cos), -1).to(dtype), torch.cat((-sin, sin), -1).to(dtype)
