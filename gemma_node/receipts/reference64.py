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
The whole forward pass once more, in float64 and straight from the specification.

Shares no arithmetic with the code that serves: of the model it reads geometry and weights only.
Every number and switch of the pass is a field of `ForwardPass`, so that a fault can be planted
here too. Rotary angles are float32, as the model defines them; all else is float64.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import cast

import torch
from torch import Tensor

from gemma_node.model.config import ModelConfig
from gemma_node.model.config import RopeConfig
from gemma_node.model.config import SLIDING
from gemma_node.model.gemma4 import Gemma4
from gemma_node.quant.packed import dense
from gemma_node.quant.packed import Packed

# A model of at most this many numbers is unpacked once, a larger one part by part each time.
_KEEP = 1 << 27
_PART = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerPass:
    """One layer: the layer whose keys and values it reads, a factor on its scalar."""

    is_sliding: bool
    head_dim: int
    source: int
    gain: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardPass:
    """
    The specification with its numbers filled in.

    The last fields are for planted faults: norms left out by their last name, a number added to
    every norm's weight, rows by which the mask and the per-layer table are off, layers by which
    the per-layer inputs are off, a factor on the scores.
    """

    num_heads: int
    layers: tuple[LayerPass, ...]
    window: int
    eps: float
    softcap: float | None
    rope: tuple[RopeConfig, RopeConfig]
    embedding_scale: float
    table_scale: float
    context_scale: float
    mix_scale: float
    skipped_norms: frozenset[str] = frozenset()
    norm_offset: float = 0.0
    mask_shift: int = 0
    table_shift: int = 0
    slice_shift: int = 0
    score_scale: float = 1.0

    @classmethod
    def of(cls, config: ModelConfig, dtype: torch.dtype) -> ForwardPass:
        """
        Return what a model of this shape computes in `dtype`.

        The factor on the embedding is part of the model as `dtype` holds it.
        """
        owners = config.layer_types[: config.num_layers - config.num_kv_shared_layers]
        newest = {kind: index for index, kind in enumerate(owners)}
        layers = tuple(
            LayerPass(
                is_sliding=kind == SLIDING,
                head_dim=config.head_dim if kind == SLIDING else config.global_head_dim,
                source=index if index < len(owners) else newest[kind],
            )
            for index, kind in enumerate(config.layer_types)
        )
        factor = torch.tensor([config.hidden_size, config.ple_dim], dtype=torch.float64).sqrt()
        embedding_scale, table_scale = factor.to(dtype).tolist()
        return cls(
            num_heads=config.num_heads,
            layers=layers,
            window=config.sliding_window,
            eps=config.rms_norm_eps,
            softcap=config.softcap,
            rope=(config.full_rope, config.sliding_rope),
            embedding_scale=embedding_scale,
            table_scale=table_scale,
            context_scale=1.0 / math.sqrt(config.hidden_size),
            mix_scale=1.0 / math.sqrt(2.0),
        )


class Weights:
    """The numbers of a model's weights in float64, on a device."""

    def __init__(self, model: Gemma4, device: torch.device) -> None:
        self.device = device
        self._vectors = {
            name: value.detach().to(device, torch.float64)
            for name, value in model.state_dict().items()
            if value.ndim == 1
        }
        self._matrices: dict[str, Packed] = {
            name: cast('Packed', module.packed)
            for name, module in model.named_modules()
            if hasattr(module, 'packed')
        }
        self._kept: dict[str, Tensor] | None = {} if model.num_parameters <= _KEEP else None

    def vector(self, name: str) -> Tensor:
        """Return the weight of a norm, or a scalar."""
        vector: Tensor = self._vectors[name]
        return vector

    def rows(self, name: str, ids: Tensor) -> Tensor:
        """Return some rows of a table."""
        ids = ids.cpu()
        taken: Tensor = self._matrices[name].take(ids).dequantize(torch.float64).to(self.device)
        return taken

    def times(self, name: str, x: Tensor) -> Tensor:
        """Return x W^T."""
        matrix = self._matrices[name]
        if self._kept is not None:
            if name not in self._kept:
                self._kept[name] = dense(matrix, torch.float64).to(self.device)
            product: Tensor = x @ self._kept[name].T
            return product
        rows, columns = matrix.shape
        step = max(1, _PART // columns)
        parts = [
            x @ matrix.take(slice(start, start + step)).to(self.device).dequantize(torch.float64).T
            for start in range(0, rows, step)
        ]
        return torch.cat(parts, -1)


def logits64(weights: Weights, plan: ForwardPass, ids: list[int], first: int) -> Tensor:
    """Return logits [len(ids) - first, vocab] of the tokens from number `first` on."""
    tokens = torch.tensor(ids, device=weights.device)
    h = weights.rows('embed_tokens', tokens) * plan.embedding_scale
    inputs = _per_layer_inputs(weights, plan, tokens, h)
    read: list[tuple[Tensor, Tensor]] = []
    for index, layer in enumerate(plan.layers):
        at = f'layers.{index}.'
        x = _norm(weights, plan, f'{at}input_layernorm', h)
        attended, keys_values = _attention(weights, plan, layer, at, x, read)
        read.append(keys_values)
        h = h + _norm(weights, plan, f'{at}post_attention_layernorm', attended)
        x = _norm(weights, plan, f'{at}pre_feedforward_layernorm', h)
        gated = _gelu(weights.times(f'{at}mlp.gate_proj', x))
        fed = weights.times(f'{at}mlp.down_proj', gated * weights.times(f'{at}mlp.up_proj', x))
        h = h + _norm(weights, plan, f'{at}post_feedforward_layernorm', fed)
        e = _gelu(weights.times(f'{at}per_layer_input_gate', h))
        e = e * inputs[:, (index + plan.slice_shift) % len(plan.layers)]
        e = weights.times(f'{at}per_layer_projection', e)
        h = h + _norm(weights, plan, f'{at}post_per_layer_input_norm', e)
        h = h * (weights.vector(f'{at}layer_scalar') * layer.gain)
    z = weights.times('embed_tokens', _norm(weights, plan, 'norm', h[first:]))
    return z if plan.softcap is None else plan.softcap * torch.tanh(z / plan.softcap)


def _per_layer_inputs(weights: Weights, plan: ForwardPass, tokens: Tensor, h: Tensor) -> Tensor:
    """Return [tokens, layers, per-layer size]."""
    shape = (len(tokens), len(plan.layers), -1)
    u = weights.times('per_layer_model_projection', h) * plan.context_scale
    u = _norm(weights, plan, 'per_layer_projection_norm', u.view(shape))
    vocabulary = weights._matrices['embed_tokens_per_layer'].shape[0]
    shifted = (tokens + plan.table_shift) % vocabulary
    t = weights.rows('embed_tokens_per_layer', shifted) * plan.table_scale
    return (u + t.view(shape)) * plan.mix_scale


def _attention(
    weights: Weights,
    plan: ForwardPass,
    layer: LayerPass,
    at: str,
    x: Tensor,
    read: list[tuple[Tensor, Tensor]],
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Return the attended rows, and the keys and values [tokens, heads, size] that were read."""
    num_tokens, heads = len(x), (len(x), -1, layer.head_dim)
    rope = plan.rope[layer.is_sliding]
    q = weights.times(f'{at}self_attn.q_proj', x).view(heads)
    q = _rotate(_norm(weights, plan, f'{at}self_attn.q_norm', q), rope)
    if layer.source == len(read):
        k = weights.times(f'{at}self_attn.k_proj', x).view(heads)
        k = _rotate(_norm(weights, plan, f'{at}self_attn.k_norm', k), rope)
        v = weights.times(f'{at}self_attn.v_proj', x).view(heads)
        if 'v_norm' not in plan.skipped_norms:
            v = v * torch.rsqrt(v.square().mean(-1, keepdim=True) + plan.eps)
    else:
        k, v = read[layer.source]
    position = torch.arange(num_tokens, device=x.device)
    distance = position[:, None] - position
    hidden = distance < -plan.mask_shift
    if layer.is_sliding:
        hidden |= distance >= plan.window
    out = torch.empty_like(q)
    per_group = q.shape[1] // k.shape[1]
    for head in range(plan.num_heads):
        scores = plan.score_scale * (q[:, head] @ k[:, head // per_group].T)
        weight = torch.softmax(scores.masked_fill(hidden, -math.inf), -1)
        out[:, head] = weight @ v[:, head // per_group]
    return weights.times(f'{at}self_attn.o_proj', out.reshape(num_tokens, -1)), (k, v)


def _norm(weights: Weights, plan: ForwardPass, name: str, x: Tensor) -> Tensor:
    if name.rpartition('.')[2] in plan.skipped_norms:
        return x
    weight = weights.vector(f'{name}.weight') + plan.norm_offset
    normed: Tensor = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + plan.eps)
    return normed * weight


def _rotate(x: Tensor, rope: RopeConfig) -> Tensor:
    """Turn the pairs (j, j + size / 2) of [tokens, heads, size] by position times frequency."""
    size = x.shape[-1]
    half, rotated = size // 2, int(rope.rotary_factor * size // 2)
    frequency = torch.zeros(half, dtype=torch.float64)
    exponent = torch.arange(rotated, dtype=torch.float64) * (-2.0 / size)
    frequency[:rotated] = rope.theta**exponent / rope.scale
    position = torch.arange(len(x), dtype=torch.float32)
    angle = (position[:, None] * frequency.float()).double().to(x.device)[:, None]
    a, b, cos, sin = x[..., :half], x[..., half:], angle.cos(), angle.sin()
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def _gelu(x: Tensor) -> Tensor:
    inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1.0 + torch.tanh(inner))
