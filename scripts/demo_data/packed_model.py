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
Runs `model.gemma4.Gemma4` over packed rows: several conversations that do not see each other.

Same modules and weights as the full pass; only positions and the attention mask differ. On a GPU
attention goes through FlexAttention, elsewhere through a dense mask.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask
from torch.nn.attention.flex_attention import flex_attention
import torch.nn.functional as F  # noqa: N812

from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.linear import ScaledEmbedding
from gemma_node.model.rope import rotary_tables

MaskRule = Callable[[Any, Any, Any, Any], Any]


@dataclass
class Layout:
    """Where every token of a batch of rows belongs; see `packing.Rows`. All are [rows, length]."""

    parts: torch.Tensor
    homes: torch.Tensor
    positions: torch.Tensor

    def copy_(self, other: Layout) -> None:
        """Take over another layout's values in place."""
        self.parts.copy_(other.parts)
        self.homes.copy_(other.homes)
        self.positions.copy_(other.positions)


def mask_rule(layout: Layout, window: int | None) -> MaskRule:
    """Return who sees whom: own part and its prefix, not ahead, and within the window."""

    def is_visible(b: Any, h: Any, q: Any, k: Any) -> Any:
        same = layout.parts[b, q] == layout.parts[b, k]
        visible = (q >= k) & (same | (layout.parts[b, k] == layout.homes[b, q]))
        if window is not None:
            near = layout.positions[b, q] - layout.positions[b, k] < window
            visible = visible & near
        return visible

    return is_visible


def dense_mask(layout: Layout, window: int | None) -> torch.Tensor:
    """Return the boolean mask [rows, 1, length, length]."""
    rows, length = layout.parts.shape
    at = torch.arange(length, device=layout.parts.device)
    batch = torch.arange(rows, device=layout.parts.device)[:, None, None]
    rule = mask_rule(layout, window)
    return rule(batch, None, at[None, :, None], at[None, None, :])[:, None]


def block_mask(layout: Layout, window: int | None) -> Any:
    """Return FlexAttention's mask of the same rule."""
    rows, length = layout.parts.shape
    return create_block_mask(
        mask_rule(layout, window), rows, None, length, length,
        device=layout.parts.device.type, _compile=True)


class PackedModel(nn.Module):
    """The model's hidden stream over packed rows, flattened to one long sequence."""

    def __init__(self, model: Gemma4, max_position: int, *, uses_flex: bool) -> None:
        super().__init__()
        self.model = model
        self.uses_flex = uses_flex
        self.run_layer = _run_layer
        self.run_inputs = _run_inputs
        config = model.config
        for layer in model.layers:
            layer.self_attn._attend = self._attend
        for table in (model.embed_tokens, model.embed_tokens_per_layer):
            table.forward = partial(_embed, table)
        for is_sliding in (False, True):
            dim = config.head_dim if is_sliding else config.global_head_dim
            tables = rotary_tables(
                config.rope(is_sliding=is_sliding), dim, max_position, dtype=torch.float32)
            for name, table in zip(('cos', 'sin'), tables, strict=True):
                self.register_buffer(f'{name}_{is_sliding}', table, persistent=False)

    def forward(
        self, ids: torch.Tensor, positions: torch.Tensor, full: Any, sliding: Any
    ) -> torch.Tensor:
        """Return the stream after the last layer [rows * length, hidden]."""
        model, config = self.model, self.model.config
        where = positions.reshape(-1)
        h, per_layer = self.run_inputs(model, ids.reshape(1, -1), self.uses_flex)
        tables = {
            is_sliding: tuple(
                getattr(self, f'{name}_{is_sliding}')[where] for name in ('cos', 'sin'))
            for is_sliding in (False, True)
        }
        read: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        for index, layer in enumerate(model.layers):
            plan = config.layer(index)
            mask = (ids.shape[0], sliding if plan.is_sliding else full)
            shared = None if plan.owns_kv else read[plan.kv_source]
            h, read[index] = self.run_layer(
                layer, h, per_layer[index], tables[plan.is_sliding], mask, shared)
        return h[0]

    def _attend(
        self, q: torch.Tensor, shared: tuple[torch.Tensor, torch.Tensor], mask: tuple[int, Any]
    ) -> torch.Tensor:
        rows, visible = mask
        q, k, v = (self._to_rows(x, rows).to(shared[1].dtype) for x in (q, *shared))
        if self.uses_flex:
            out = flex_attention(q, k, v, block_mask=visible, scale=1.0, enable_gqa=True)
        else:
            k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=visible, scale=1.0)
        heads, dim = out.shape[1], out.shape[3]
        return out.transpose(1, 2).reshape(1, -1, heads, dim).transpose(1, 2)

    @staticmethod
    def _to_rows(x: torch.Tensor, rows: int) -> torch.Tensor:
        """Turn [1, heads, rows * length, dim] into [rows, heads, length, dim]."""
        _, heads, _, dim = x.shape
        return x.transpose(1, 2).reshape(rows, -1, heads, dim).transpose(1, 2)


def _run_layer(layer: nn.Module, *inputs: Any) -> Any:
    return layer(*inputs)


def _embed(table: ScaledEmbedding, ids: torch.Tensor) -> torch.Tensor:
    """Return a float32 table's scaled rows; its own way reads a tensor, which breaks graphs."""
    return F.embedding(ids, table.weight) * table.scale


def _run_inputs(
    model: Gemma4, ids: torch.Tensor, is_narrow: bool
) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
    """Return the stream and each layer's inputs of flat ids, in bfloat16 if narrow."""
    h = model.embed_tokens(ids)
    ple = model._per_layer_inputs(ids, h)
    if is_narrow:
        h, ple = h.bfloat16(), ple.bfloat16()
    return h, ple.unbind(2)


@dataclass
class Wanted:
    """The tokens of a batch that count for the loss; all are flat and of one fixed length."""

    at: torch.Tensor
    labels: torch.Tensor
    weights: torch.Tensor


def packed_loss(
    model: Gemma4, hidden: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the weighted loss, and what each row predicts; all flat over tokens."""
    logits = model.head(model.norm(hidden)).float()
    losses = F.cross_entropy(logits, labels, reduction='none')
    return (losses * weights).sum(), logits.argmax(-1)


def wanted_of(
    ids: torch.Tensor,
    layout: Layout,
    targets: torch.Tensor,
    *,
    other_weight: float,
    share: float,
) -> Wanted:
    """
    Choose all targets and, up to a `share` of the tokens, others by lot; weights as one sum each.

    A token is predicted from the one before it in its own part; nothing crosses parts. Weights
    sum to 1 over targets, in the proportions of `targets`, and to `other_weight` over the others.
    """
    labels = torch.roll(ids, -1, 1)
    inside = torch.roll(layout.parts, -1, 1) == layout.parts
    inside &= layout.parts > 0
    inside[:, -1] = False
    worth = (torch.roll(targets, -1, 1) * inside).flatten()
    is_target = worth > 0
    chances = torch.rand(ids.numel(), device=ids.device) + inside.flatten() + is_target
    at = chances.topk(int(ids.numel() * share)).indices
    wanted = is_target[at]
    other = inside.flatten()[at] & ~wanted
    weights = worth[at] / worth[at].sum().clamp(min=1)
    weights = weights + other_weight * other / other.sum().clamp(min=1)
    return Wanted(at, labels.flatten()[at], weights.float())


def softening(
    model: Gemma4,
    hidden: torch.Tensor,
    at: torch.Tensor,
    labels: torch.Tensor,
    rivals: torch.Tensor,
    weights: torch.Tensor,
) -> torch.Tensor:
    """
    Return what takes `weights` of the target from the right tokens and gives it to their rivals.

    :param at: flat places whose streams predict the tokens [n]
    :param labels: the right tokens [n]
    :param rivals: what else could stand there [n, most]; -1 is none
    """
    chances = model.head(model.norm(hidden.index_select(0, at))).float().log_softmax(-1)
    right = chances.gather(1, labels[:, None])[:, 0]
    is_one = rivals >= 0
    others = (chances.gather(1, rivals.clamp(min=0)) * is_one).sum(1) / is_one.sum(1)
    return ((right - others) * weights).sum()
