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
A model's weights as the device step reads them: matrices packed for its kernels, norms in float32.

Matrices with the same input stand below each other. Where their forms differ, or where a kernel
does not know one, they become bfloat16.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from gemma_node.kernels.planes import affine_planes
from gemma_node.kernels.planes import bf16_planes
from gemma_node.kernels.planes import fp8_planes
from gemma_node.kernels.planes import nvfp4_planes
from gemma_node.kernels.planes import Planes
from gemma_node.kernels.planes import ROW_PAD
from gemma_node.kernels.planes import stacked
from gemma_node.model.config import LayerConfig
from gemma_node.model.config import ModelConfig
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.gemma4 import Layer
from gemma_node.model.rope import inverse_frequencies
from gemma_node.quant.affine import AffineTensors
from gemma_node.quant.affine import unpack
from gemma_node.quant.fp8 import Fp8Tensors
from gemma_node.quant.nvfp4 import Nvfp4Tensors
from gemma_node.quant.packed import dense
from gemma_node.quant.packed import Packed

# Codes are unpacked to a byte each on the way; so many at a time.
_PART_ELEMENTS = 1 << 26


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerWeights:
    """One layer; `slot` is its place among the owning layers of its type."""

    plan: LayerConfig
    slot: int
    qkv: Planes
    output: Planes
    gate_up: Planes
    down: Planes
    ple_gate: Planes
    ple_projection: Planes
    head_norms: Tensor
    input_norm: Tensor
    post_attention_norm: Tensor
    pre_feedforward_norm: Tensor
    post_feedforward_norm: Tensor
    post_ple_norm: Tensor
    scalar: Tensor


class DeviceWeights:
    """
    All weights of a model, on a device.

    :param ple_on_host: leave the per-layer table where it is; `ple_table` is then None
    """

    def __init__(
        self, model: Gemma4, *, num_positions: int, device: torch.device, ple_on_host: bool
    ) -> None:
        config = model.config
        self._device = device
        self.head = self._planes(model.embed_tokens.packed)
        # A table that no gather knows is given as bfloat16.
        self.embedding = self.head if _is_table(self.head) else self._plain(model.embed_tokens)
        # One of both: a table that is on the device is not kept here as well.
        source = model.embed_tokens_per_layer.packed
        self.ple_source = source if ple_on_host else None
        self.ple_table: Planes | None = None
        if not ple_on_host:
            table = self._planes(source)
            if not _is_table(table):
                table = self._plain(model.embed_tokens_per_layer)
            self.ple_table = table
        self.context = self._planes(model.per_layer_model_projection.packed)
        self.ple_norm = self._vector(model.per_layer_projection_norm.weight)
        self.norm = self._vector(model.norm.weight)
        self.layers = [self._layer(config, cast('Layer', layer)) for layer in model.layers]
        self.rotary = {
            is_sliding: self._rotary(config, num_positions, is_sliding=is_sliding)
            for is_sliding in (False, True)
        }

    @property
    def nbytes_per_token(self) -> int:
        """Bytes of matrices that one decode step reads."""
        matrices = [self.head, self.context]
        for layer in self.layers:
            matrices += [layer.qkv, layer.output, layer.gate_up, layer.down]
            matrices += [layer.ple_gate, layer.ple_projection]
        return sum(each.nbytes for each in matrices)

    def _rotary(
        self, config: ModelConfig, num_positions: int, *, is_sliding: bool
    ) -> tuple[Tensor, Tensor]:
        """Return cosines and sines [positions, rotated pairs]."""
        head_dim = config.head_dim if is_sliding else config.global_head_dim
        frequencies = inverse_frequencies(config.rope(is_sliding=is_sliding), head_dim)
        rotated = frequencies[: int(torch.count_nonzero(frequencies))]
        angles = torch.arange(num_positions, dtype=torch.float32)[:, None] * rotated
        return angles.cos().to(self._device), angles.sin().to(self._device)

    def _layer(self, config: ModelConfig, layer: Layer) -> LayerWeights:
        attention, mlp, plan = layer.self_attn, layer.mlp, layer.layer
        owners = config.layers[: config.num_owning_layers]
        same_type = [each.index for each in owners if each.is_sliding == plan.is_sliding]
        projections = [attention.q_proj.packed]
        norms: list[Tensor] = [attention.q_norm.weight]
        if plan.owns_kv:
            projections += [attention.k_proj.packed, attention.v_proj.packed]
            norms.append(attention.k_norm.weight)
        return LayerWeights(
            plan=plan,
            slot=same_type.index(plan.kv_source),
            qkv=self._joined(projections),
            output=self._planes(attention.o_proj.packed),
            gate_up=self._joined([mlp.gate_proj.packed, mlp.up_proj.packed]),
            down=self._planes(mlp.down_proj.packed),
            ple_gate=self._planes(layer.per_layer_input_gate.packed),
            ple_projection=self._planes(layer.per_layer_projection.packed),
            head_norms=self._vector(torch.stack(norms)),
            input_norm=self._vector(layer.input_layernorm.weight),
            post_attention_norm=self._vector(layer.post_attention_layernorm.weight),
            pre_feedforward_norm=self._vector(layer.pre_feedforward_layernorm.weight),
            post_feedforward_norm=self._vector(layer.post_feedforward_layernorm.weight),
            post_ple_norm=self._vector(layer.post_per_layer_input_norm.weight),
            scalar=self._vector(layer.layer_scalar),
        )

    def _vector(self, values: Tensor) -> Tensor:
        return values.detach().to(self._device, torch.float32).contiguous()

    def _plain(self, module: object) -> Planes:
        packed = cast('Packed', module.packed)  # type: ignore[attr-defined]
        return bf16_planes(dense(packed.to(self._device), torch.bfloat16))

    def _joined(self, parts: list[Packed]) -> Planes:
        planes = [self._planes(part) for part in parts]
        if len({(each.kind, each.group) for each in planes}) == 1:
            return stacked(planes)
        return stacked([
            bf16_planes(dense(part.to(self._device), torch.bfloat16)) for part in parts
        ])

    def _planes(self, packed: Packed) -> Planes:
        return planes_of(packed, self._device)


def planes_of(packed: Packed, device: torch.device) -> Planes:
    """Pack a matrix for the kernels of a device, part by part."""
    rows, columns = packed.shape
    step = max(ROW_PAD, _PART_ELEMENTS // columns // ROW_PAD * ROW_PAD)
    parts = [
        _planes_of(packed.take(slice(start, start + step)).to(device))
        for start in range(0, rows, step)
    ]
    return stacked(parts)


def _planes_of(packed: Packed) -> Planes:
    if isinstance(packed, AffineTensors) and packed.bits in (4, 8):
        codes = unpack(packed.words, packed.bits)
        return affine_planes(codes, packed.scales, packed.biases, bits=packed.bits)
    if isinstance(packed, Nvfp4Tensors):
        codes = torch.stack([packed.codes & 15, packed.codes >> 4], -1).flatten(1)
        factor = packed.tensor_scale.float()
        return nvfp4_planes(codes, packed.scales, 1.0 / factor if packed.divides else factor)
    if isinstance(packed, Fp8Tensors):
        return fp8_planes(packed.codes, packed.scale)
    return bf16_planes(dense(packed, torch.bfloat16))


def _is_table(planes: Planes) -> bool:
    return planes.factors is None
