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
Gemma 4 E-series text model as plain PyTorch modules: the full pass over whole sequences.

Names of parameters equal the checkpoint's names after its prefix. Usable for training; the
engine runs the same weights through `model.cached`.
"""

from __future__ import annotations

from collections import Counter
from math import prod

import torch
from torch import nn

from gemma_node.kernels.steps import HF
from gemma_node.kernels.steps import Steps
from gemma_node.model.attention import Attention
from gemma_node.model.attention import KeyValue
from gemma_node.model.config import LayerConfig
from gemma_node.model.config import ModelConfig
from gemma_node.model.linear import Linear
from gemma_node.model.linear import Mlp
from gemma_node.model.linear import QuantEmbedding
from gemma_node.model.linear import QuantLinear
from gemma_node.model.linear import RmsNorm
from gemma_node.model.linear import ScaledEmbedding
from gemma_node.model.rope import rotary_tables


class Layer(nn.Module):
    """One decoder layer: attention, feed-forward, per-layer input, scalar."""

    def __init__(self, config: ModelConfig, layer: LayerConfig, *, fused: bool) -> None:
        super().__init__()
        size, eps = config.hidden_size, config.rms_norm_eps
        self.layer = layer
        self.steps = HF
        self.self_attn = Attention(config, layer, fused=fused)
        self.mlp = Mlp(size, layer.intermediate_size)
        self.input_layernorm = RmsNorm(size, eps)
        self.post_attention_layernorm = RmsNorm(size, eps)
        self.pre_feedforward_layernorm = RmsNorm(size, eps)
        self.post_feedforward_layernorm = RmsNorm(size, eps)
        self.per_layer_input_gate = Linear(size, config.ple_dim)
        self.per_layer_projection = Linear(config.ple_dim, size)
        self.post_per_layer_input_norm = RmsNorm(size, eps)
        self.layer_scalar = nn.Parameter(torch.ones(1))

    def forward(
        self,
        h: torch.Tensor,
        ple: torch.Tensor,
        tables: KeyValue,
        mask: torch.Tensor,
        shared: KeyValue | None,
    ) -> tuple[torch.Tensor, KeyValue]:
        """Return the new residual stream and the keys and values that were read."""
        attended, read = self.self_attn(self.input_layernorm(h), tables, mask, shared)
        h = h + self.post_attention_layernorm(attended)
        h = h + self.post_feedforward_layernorm(self.mlp(self.pre_feedforward_layernorm(h)))
        gated = self.steps.gelu_tanh(self.per_layer_input_gate(h)) * ple
        h = h + self.post_per_layer_input_norm(self.per_layer_projection(gated))
        return h * self.layer_scalar, read


class Gemma4(nn.Module):
    """
    The text model with its tied head.

    :param fused: attend with PyTorch's fused kernels (for training; other last bits) instead of
        the reference operations
    """

    def __init__(self, config: ModelConfig, *, fused: bool = False) -> None:
        super().__init__()
        self.config = config
        self.fused = fused
        self.steps = HF
        # Of the stored values, where the loader was allowed to take such.
        self.num_not_finite = 0
        size, ple_size = config.hidden_size, config.num_layers * config.ple_dim
        self.embed_tokens = ScaledEmbedding(config.vocab_size, size, size**0.5)
        self.embed_tokens_per_layer = ScaledEmbedding(
            config.vocab_size, ple_size, config.ple_dim**0.5
        )
        self.per_layer_model_projection = Linear(size, ple_size)
        self.per_layer_projection_norm = RmsNorm(config.ple_dim, config.rms_norm_eps)
        self.layers = nn.ModuleList(Layer(config, layer, fused=fused) for layer in config.layers)
        self.norm = RmsNorm(size, config.rms_norm_eps)
        self._geometry: dict[tuple[int, torch.device, torch.dtype], _Geometry] = {}
        self.reset_parameters()

    @property
    def num_parameters(self) -> int:
        """Numbers that the weights stand for, packed or not."""
        plain = sum(parameter.numel() for parameter in self.parameters())
        return plain + sum(prod(each.packed.shape) for each in self._quantised())

    @property
    def is_quantised(self) -> bool:
        """Whether any matrix is."""
        return bool(self._quantised())

    @property
    def form(self) -> str:
        """The forms of the matrices: bfloat16, or for example 261 mlx-4bit/64, 84 bfloat16."""
        kinds = (Linear, ScaledEmbedding)
        forms = Counter(each.form for each in self.modules() if isinstance(each, kinds))
        forms.update(each.form for each in self._quantised())
        if len(forms) == 1:
            return next(iter(forms))
        return ', '.join(f'{count} {form}' for form, count in forms.most_common())

    def _quantised(self) -> list[QuantLinear | QuantEmbedding]:
        kinds = (QuantLinear, QuantEmbedding)
        return [module for module in self.modules() if isinstance(module, kinds)]

    def follow(self, steps: Steps) -> Gemma4:
        """Round at these steps from now on, in the full pass and when it is packed; return it."""
        for module in self.modules():
            if isinstance(module, Gemma4 | Layer | Attention | Mlp | RmsNorm):
                module.steps = steps
        return self

    def reset_parameters(self) -> None:
        """
        Draw initial weights for training.

        q_norm and k_norm start at D^-1/4, so that scores start with unit variance: scale is 1.0.
        Projections into the residual stream are normed before they are added.
        """
        if self.embed_tokens.weight.is_meta:
            return  # random operations without memory import torch's compiler, for 1.6 s
        for module in self.modules():
            if isinstance(module, Linear):
                nn.init.normal_(module.weight, std=module.weight.shape[1] ** -0.5)
            elif isinstance(module, ScaledEmbedding):
                nn.init.normal_(module.weight, std=1.0 / module.scale)
            elif isinstance(module, Attention):
                start = module.layer.head_dim**-0.25
                nn.init.constant_(module.q_norm.weight, start)
                if module.layer.owns_kv:
                    nn.init.constant_(module.k_norm.weight, start)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return logits [batch, rows, vocab] for ids [batch, rows]; causal, from position 0."""
        return self.head(self.hidden(ids))

    def hidden(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the final normed stream [batch, rows, hidden]."""
        h = self.embed_tokens(ids)
        ple = self._per_layer_inputs(ids, h)
        geometry = self._geometry_of(ids.shape[1], h)
        read: dict[int, KeyValue] = {}
        for index, layer in enumerate(self.layers):
            plan = self.config.layer(index)
            h, read[index] = layer(
                h,
                ple[:, :, index],
                geometry.tables[plan.is_sliding],
                geometry.masks[plan.is_sliding],
                None if plan.owns_kv else read[plan.kv_source],
            )
        normed: torch.Tensor = self.norm(h)
        return normed

    def head(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return soft-capped logits of normed rows; the head is the embedding."""
        logits = self.embed_tokens.as_linear(hidden)
        return self.steps.softcap(logits, self.config.softcap)

    def _per_layer_inputs(self, ids: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        shape = (*ids.shape, self.config.num_layers, self.config.ple_dim)
        context = self.per_layer_model_projection(h)
        context = self.steps.scaled(context, self.config.hidden_size**-0.5)
        context = self.per_layer_projection_norm(context.view(shape))
        mixed = context + self.embed_tokens_per_layer(ids).view(shape)
        return self.steps.scaled(mixed, 2.0**-0.5)

    def _geometry_of(self, rows: int, h: torch.Tensor) -> _Geometry:
        key = (rows, h.device, h.dtype)
        if key not in self._geometry:
            self._geometry.clear()
            # Tables made under inference mode could not be used in training afterwards.
            with torch.inference_mode(False):
                self._geometry[key] = _Geometry(self.config, rows, h, fused=self.fused)
        return self._geometry[key]


class _Geometry:
    """Rotary tables and masks of a full pass, by `is_sliding`; depends on the length only."""

    def __init__(self, config: ModelConfig, rows: int, like: torch.Tensor, *, fused: bool) -> None:
        positions = torch.arange(rows)
        distance = positions[:, None] - positions
        self.tables: dict[bool, KeyValue] = {}
        self.masks: dict[bool, torch.Tensor] = {}
        for is_sliding in (False, True):
            head_dim = config.head_dim if is_sliding else config.global_head_dim
            rope = config.rope(is_sliding=is_sliding)
            cos, sin = rotary_tables(rope, head_dim, rows, dtype=like.dtype)
            self.tables[is_sliding] = (cos.to(like.device), sin.to(like.device))
            visible = distance >= 0
            if is_sliding:
                visible &= distance < config.sliding_window
            mask = visible
            if not fused:
                hidden = torch.finfo(like.dtype).min
                mask = torch.zeros(rows, rows, dtype=like.dtype).masked_fill(~visible, hidden)
            self.masks[is_sliding] = mask.to(like.device)
