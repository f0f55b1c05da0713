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
The cached pass: weights packed for stepping, keys and values only in owning layers.

A pass has two parts. `advance` runs the owning layers over some rows and writes their keys and
values; `finish` runs the shared layers for one row and returns its logits. Shared layers write
nothing, so rows without logits never see them. Who chooses rows, slots and masks is the caller;
bits depend on those and on the tokens alone.

Quantised projections are unpacked to the dtype that computes when the model is packed; the two
tables that are only gathered stay as they are stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast
from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812

from gemma_node.kernels import reference
from gemma_node.model.config import LayerConfig
from gemma_node.model.config import ModelConfig
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.gemma4 import Layer
from gemma_node.model.kv_form import decode_kv
from gemma_node.model.kv_form import encode_kv
from gemma_node.model.kv_form import FP8
from gemma_node.model.kv_form import kv_scales
from gemma_node.model.linear import Linear
from gemma_node.model.linear import rounded_scale
from gemma_node.model.linear import ScaledEmbedding
from gemma_node.model.rope import rotary_tables
from gemma_node.quant.packed import dense


@dataclass(frozen=True, slots=True)
class Span:
    """
    Slots of one layer type in one pass: rows go to `write`.., columns are 0..`read` - 1.

    `mask` is additive [rows, n] over the last n columns; None where all are visible.
    """

    write: int
    read: int
    mask: torch.Tensor | None = None


class KeyValueStore(Protocol):
    """Keys and values of the owning layers, each [num_kv_heads, slots, head_dim]."""

    @property
    def keys(self) -> Sequence[torch.Tensor]:
        """Keys by owning layer."""

    @property
    def values(self) -> Sequence[torch.Tensor]:
        """Values by owning layer."""


Spans = Mapping[bool, Span]


class CachedModel:
    """
    Gemma 4 packed for stepping, in one dtype on one device.

    Owned by the engine thread. Holds no sequence state; call it under inference mode.
    """

    def __init__(
        self, model: Gemma4, *, num_positions: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        config = model.config
        self.config = config
        self.steps = model.steps
        self.dtype = dtype
        self.device = device
        self._layers = [
            _pack(config, cast('Layer', layer), dtype, device) for layer in model.layers
        ]
        # Only gathered, so both tables keep the checkpoint's form.
        self._embedding = model.embed_tokens.packed.to(device)
        self._head = _joined(model.embed_tokens, dtype=dtype, device=device)
        self._embedding_scale = rounded_scale(model.embed_tokens.scale, dtype)
        self._ple_table = model.embed_tokens_per_layer.packed.to(device)
        self._ple_scale = rounded_scale(model.embed_tokens_per_layer.scale, dtype)
        split = config.num_owning_layers * config.ple_dim
        projection = dense(model.per_layer_model_projection.packed.to(device), dtype)
        self._ple_projection = tuple(
            _placed(part, dtype=dtype, device=device) for part in projection.tensor_split([split])
        )
        self._ple_split = split
        self._kv_scales = {index: each.to(device) for index, each in kv_scales(model).items()}
        self._ple_norm = model.per_layer_projection_norm.weight.detach().to(device, dtype)
        self._norm = model.norm.weight.detach().to(device, dtype)
        self._tables = {
            is_sliding: tuple(
                table.to(device)
                for table in rotary_tables(
                    config.rope(is_sliding=is_sliding),
                    config.head_dim if is_sliding else config.global_head_dim,
                    num_positions,
                    dtype=dtype,
                )
            )
            for is_sliding in (False, True)
        }

    def advance(
        self, ids: torch.Tensor, start: int, spans: Spans, store: KeyValueStore
    ) -> torch.Tensor:
        """
        Run tokens `ids` [rows] at positions `start`.. through the owning layers.

        Writes their keys and values into `store` and returns the stream [rows, hidden].
        """
        h = self._embed(ids)
        ple = self._per_layer_inputs(ids, h, shared=False)
        for layer in self._layers[: self.config.num_owning_layers]:
            h = self._run(layer, h, ple[:, layer.plan.index], start, spans, store)
        return h

    def finish(
        self,
        ids: torch.Tensor,
        h: torch.Tensor,
        start: int,
        spans: Spans,
        store: KeyValueStore,
    ) -> torch.Tensor:
        """Run one row `h` [1, hidden] of token `ids` [1] to its float32 logits [vocab]."""
        first = self.config.num_owning_layers
        if first < self.config.num_layers:
            ple = self._per_layer_inputs(ids, self._embed(ids), shared=True)
            for layer in self._layers[first:]:
                h = self._run(layer, h, ple[:, layer.plan.index - first], start, spans, store)
        h = self.steps.rms_norm(h, self._norm, self.config.rms_norm_eps)
        logits = self.steps.softcap(F.linear(h, self._head), self.config.softcap)
        return logits[0].float()

    def _embed(self, ids: torch.Tensor) -> torch.Tensor:
        return self._embedding.take(ids).dequantize(self.dtype) * self._embedding_scale

    def _per_layer_inputs(
        self, ids: torch.Tensor, embedded: torch.Tensor, *, shared: bool
    ) -> torch.Tensor:
        """Return per-layer inputs [rows, layers, ple_dim] of the owning or the shared layers."""
        shape = (ids.shape[0], -1, self.config.ple_dim)
        context = F.linear(embedded, self._ple_projection[shared])
        context = self.steps.scaled(context, self.config.hidden_size**-0.5).view(shape)
        context = self.steps.rms_norm(context, self._ple_norm, self.config.rms_norm_eps)
        rows = self._ple_table.take(ids).dequantize(self.dtype)
        columns = rows[:, self._ple_split :] if shared else rows[:, : self._ple_split]
        tokens = columns * self._ple_scale
        return self.steps.scaled(context + tokens.view(shape), 2.0**-0.5)

    def _run(
        self,
        layer: _Packed,
        h: torch.Tensor,
        ple: torch.Tensor,
        start: int,
        spans: Spans,
        store: KeyValueStore,
    ) -> torch.Tensor:
        eps = self.config.rms_norm_eps
        normed = self.steps.rms_norm(h, layer.input_norm, eps)
        attended = self._attention(layer, normed, start, spans[layer.plan.is_sliding], store)
        h = h + self.steps.rms_norm(attended, layer.post_attention_norm, eps)
        normed = self.steps.rms_norm(h, layer.pre_feedforward_norm, eps)
        gate, up = F.linear(normed, layer.gate_up).chunk(2, -1)
        fed = F.linear(self.steps.gelu_tanh(gate) * up, layer.down)
        h = h + self.steps.rms_norm(fed, layer.post_feedforward_norm, eps)
        gated = self.steps.gelu_tanh(F.linear(h, layer.ple_gate)) * ple
        mixed = F.linear(gated, layer.ple_projection)
        return (h + self.steps.rms_norm(mixed, layer.post_ple_norm, eps)) * layer.scalar

    def _attention(
        self, layer: _Packed, x: torch.Tensor, start: int, span: Span, store: KeyValueStore
    ) -> torch.Tensor:
        plan, rows = layer.plan, x.shape[0]
        num_heads = self.config.num_heads
        heads = F.linear(x, layer.qkv).view(rows, -1, plan.head_dim)
        heads = self.steps.rms_norm(heads, layer.head_norms, self.config.rms_norm_eps)
        cos, signed_sin = self._tables[plan.is_sliding]
        cos = cos[start : start + rows, None]
        signed_sin = signed_sin[start : start + rows, None]
        if plan.owns_kv:
            num_rotated = num_heads + plan.num_kv_heads
            rotated = reference.rotary(heads[:, :num_rotated], cos, signed_sin)
            q = rotated[:, :num_heads]
            slots = slice(span.write, span.write + rows)
            kept = (rotated[:, num_heads:], heads[:, num_rotated:])
            for tensors, values, scale in zip(
                (store.keys, store.values), kept, self._kv_scales[plan.index], strict=True
            ):
                tensor, values = tensors[plan.index], values.transpose(0, 1)
                is_fp8 = tensor.dtype == FP8
                tensor[:, slots] = encode_kv(values, scale) if is_fp8 else values
        else:
            q = reference.rotary(heads, cos, signed_sin)
        k, v = (
            self._read(tensors[plan.kv_source][:, : span.read], scale)
            for tensors, scale in zip(
                (store.keys, store.values), self._kv_scales[plan.kv_source], strict=True
            )
        )
        return F.linear(_attend(q, k, v, span.mask), layer.output)

    def _read(self, stored: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        """Return cached keys or values in the dtype that computes."""
        if stored.dtype == FP8:
            return decode_kv(stored, scale, self.dtype)
        return stored.to(self.dtype)


def _attend(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    """
    Return attention [rows, num_heads * head_dim] without repeating key-value heads.

    :param q: [rows, num_heads, head_dim]
    :param k: [num_kv_heads, columns, head_dim]; v alike
    """
    rows, num_heads, head_dim = q.shape
    num_kv_heads, columns = k.shape[:2]
    groups = num_heads // num_kv_heads
    grouped = q.reshape(rows, num_kv_heads, groups, head_dim).permute(1, 2, 0, 3)
    grouped = grouped.reshape(num_kv_heads, groups * rows, head_dim)
    scores = torch.bmm(grouped, k.transpose(1, 2))
    if mask is not None:
        tail = scores.view(num_kv_heads, groups, rows, columns)[..., columns - mask.shape[1] :]
        tail += mask
    weights = torch.softmax(scores, -1, dtype=torch.float32).to(q.dtype)
    attended = torch.bmm(weights, v).view(num_kv_heads, groups, rows, head_dim)
    return attended.permute(2, 0, 1, 3).reshape(rows, num_heads * head_dim)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Packed:
    """
    Weights of one layer; projections with the same input are one matrix.

    `head_norms` is [heads, head_dim]: q_norm and k_norm by head, ones for the values.
    """

    plan: LayerConfig
    input_norm: torch.Tensor
    qkv: torch.Tensor
    head_norms: torch.Tensor
    output: torch.Tensor
    post_attention_norm: torch.Tensor
    pre_feedforward_norm: torch.Tensor
    gate_up: torch.Tensor
    down: torch.Tensor
    post_feedforward_norm: torch.Tensor
    ple_gate: torch.Tensor
    ple_projection: torch.Tensor
    post_ple_norm: torch.Tensor
    scalar: float


def _placed(*weights: torch.Tensor, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """
    Return weights with the same input as one, in the dtype, place and layout that compute.

    A wide float32 matrix on a CPU is stored by columns: for one row MKL then reads it 2 to 4
    times as fast (256 x 2048: 109 us instead of 347, one thread of a Zen 4).
    """
    moved = [weight.detach().to(device, dtype) for weight in weights]
    joined = moved[0] if len(moved) == 1 else torch.cat(moved)
    by_columns = device.type == 'cpu' and dtype == torch.float32 and joined.ndim == 2
    if by_columns and joined.shape[0] > joined.shape[1]:
        return joined.t().contiguous().t()
    return joined


def _joined(
    *modules: Linear | ScaledEmbedding, dtype: torch.dtype, device: torch.device
) -> torch.Tensor:
    """Return the unpacked matrices of modules with the same input as one."""
    matrices = [dense(module.packed.to(device), dtype) for module in modules]
    return _placed(*matrices, dtype=dtype, device=device)


def _pack(
    config: ModelConfig, layer: Layer, dtype: torch.dtype, device: torch.device
) -> _Packed:
    attention, mlp, plan = layer.self_attn, layer.mlp, layer.layer
    projections = [attention.q_proj]
    norms = [attention.q_norm.weight.expand(config.num_heads, -1)]
    if plan.owns_kv:
        projections += [attention.k_proj, attention.v_proj]
        norms.append(attention.k_norm.weight.expand(plan.num_kv_heads, -1))
        norms.append(torch.ones_like(norms[-1]))

    def place(*weights: torch.Tensor) -> torch.Tensor:
        return _placed(*weights, dtype=dtype, device=device)

    def join(*projections: Linear) -> torch.Tensor:
        return _joined(*projections, dtype=dtype, device=device)

    return _Packed(
        plan=plan,
        input_norm=place(layer.input_layernorm.weight),
        qkv=join(*projections),
        head_norms=place(*norms),
        output=join(attention.o_proj),
        post_attention_norm=place(layer.post_attention_layernorm.weight),
        pre_feedforward_norm=place(layer.pre_feedforward_layernorm.weight),
        gate_up=join(mlp.gate_proj, mlp.up_proj),
        down=join(mlp.down_proj),
        post_feedforward_norm=place(layer.post_feedforward_layernorm.weight),
        ple_gate=join(layer.per_layer_input_gate),
        ple_projection=join(layer.per_layer_projection),
        post_ple_norm=place(layer.post_per_layer_input_norm.weight),
        scalar=float(layer.layer_scalar.detach()),
    )
