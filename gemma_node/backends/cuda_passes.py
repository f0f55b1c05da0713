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
"""What the device step's graphs hold: rows through all layers, prompts through owning ones."""

from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Sequence
from types import ModuleType

from torch import Tensor

from gemma_node.backends.cuda_buffers import Buffers
from gemma_node.backends.cuda_buffers import MAX_ROWS
from gemma_node.backends.cuda_weights import DeviceWeights
from gemma_node.backends.cuda_weights import LayerWeights
from gemma_node.kernels.cuda_matmul import plan_of
from gemma_node.kernels.planes import Planes
from gemma_node.model.config import ModelConfig

# Tokens of a tile: so many, or MAX_ROWS.
NARROW = 8
MIN_HEAD_DIM, _MAX_HEAD_DIM = 16, 512


def device_problem(config: ModelConfig) -> str:
    """Return why the device step cannot run this shape; '' when it can."""
    for name in ('hidden_size', 'intermediate_size'):
        if getattr(config, name) % 64:
            return f'{name} {getattr(config, name)} is not a multiple of 64'
    for name in ('head_dim', 'global_head_dim', 'ple_dim'):
        size = getattr(config, name)
        if size & (size - 1) or not MIN_HEAD_DIM <= size <= _MAX_HEAD_DIM:
            return f'{name} {size} is no power of two from {MIN_HEAD_DIM} to {_MAX_HEAD_DIM}'
    for layer in config.layers:
        if layer.num_kv_heads * layer.head_dim % 64:
            return f'keys of layer {layer.index} are not a multiple of 64 wide'
        group = config.num_heads // layer.num_kv_heads
        if group > NARROW:
            return f'{group} query heads a key head are more than {NARROW}'
    if config.num_owning_layers * config.ple_dim % 64:
        return 'the owning layers\' share of the per-layer projection is not a multiple of 64'
    return ''


def _kind_of(layer: LayerWeights) -> Hashable:
    """Return what decides which kernels a layer launches."""
    matrices = (layer.qkv, layer.output, layer.gate_up, layer.down, layer.ple_gate,
                layer.ple_projection)  # fmt: skip
    shapes = tuple(
        (each.kind, each.rows, each.columns, each.group, getattr(each.scales, 'dtype', None))
        for each in matrices
    )
    return layer.plan.is_sliding, layer.plan.owns_kv, shapes


class Passes:
    """
    The launches of each pass, in order, over buffers that are allocated already.

    :param ops: `kernels.triton_ops`, or `kernels.plain_ops`
    :param scales: of embeddings and of the per-layer table
    """

    def __init__(
        self,
        config: ModelConfig,
        ops: ModuleType,
        weights: DeviceWeights,
        pools: tuple[Tensor, ...],
        scales: tuple[float, float],
    ) -> None:
        self.config = config
        self.weights = weights
        self.pools = pools
        self._ops = ops
        self._scale, self._ple_scale = scales
        # One layer of each kind: together they launch whatever kernels a pass launches.
        self.samples = list({_kind_of(each): each for each in weights.layers}.values())

    def decode(
        self, buffers: Buffers, rows: int, layers: Sequence[LayerWeights] | None = None
    ) -> None:
        """Run single rows through all layers, or through some."""
        ops, weights, config = self._ops, self.weights, self.config
        width = NARROW if rows <= NARROW else MAX_ROWS
        ops.embed(
            buffers.ids, weights.embedding, self._scale, weights.layers[0].input_norm,
            config.rms_norm_eps, buffers.h, buffers.narrow, buffers.x, rows,
        )  # fmt: skip
        self._mix(buffers, weights.context, 0, config.num_layers, width, rows)
        for layer in weights.layers if layers is None else layers:
            self._layer(buffers, layer, layer.plan.index, width, rows)
        self._head(buffers, width, rows)

    def finish(self, buffers: Buffers, rows: int) -> None:
        """Run the shared layers for the picked rows of a prompt pass that has just run."""
        config, weights = self.config, self.weights
        first = config.num_owning_layers
        width = NARROW if rows <= NARROW else MAX_ROWS
        buffers.pick(rows)
        if first < config.num_layers:
            split = first * config.ple_dim
            shared = weights.context.part(split, config.num_layers * config.ple_dim)
            self._mix(buffers, shared, first, config.num_layers, width, rows, picked=True)
            for layer in weights.layers[first:]:
                self._layer(buffers, layer, layer.plan.index - first, width, rows)
        self._head(buffers, width, rows)

    def _mix(
        self,
        buffers: Buffers,
        context: Planes,
        first: int,
        last: int,
        width: int,
        rows: int,
        *,
        picked: bool = False,
    ) -> None:
        """Compute the per-layer inputs of layers from `first` to before `last`."""
        ops, weights, config = self._ops, self.weights, self.config
        parts = buffers.parts(context, width)
        ops.product(buffers.narrow[:width], context, parts, rows=rows)
        table, ids = weights.ple_table, buffers.ids
        if table is None:
            table, ids = buffers.told, buffers.picked if picked else buffers.row_numbers
        ops.per_layer(
            ids, table, self._ple_scale, parts, config.hidden_size**-0.5, weights.ple_norm,
            config.rms_norm_eps, first, buffers.plane(last - first), rows,
        )  # fmt: skip
        buffers.planes = buffers.plane(last - first)

    def _layer(
        self, buffers: Buffers, layer: LayerWeights, plane: int, width: int, rows: int
    ) -> None:
        """One layer of a decode pass: twelve launches, or thirteen."""
        ops, eps = self._ops, self.config.rms_norm_eps
        kind, size = int(layer.plan.is_sliding), layer.plan.head_dim
        window = self.config.sliding_window if kind else 0
        q, attended = buffers.queries(size), buffers.attended(size)
        qkv = buffers.parts(layer.qkv, width)
        ops.product(buffers.x[:width], layer.qkv, qkv, rows=rows)
        self._heads(buffers, layer, qkv, q, rows)
        parts, stats = buffers.scratch[kind]
        ops.attend(
            q, self.pools[kind], buffers.tables[kind], buffers.positions, buffers.lanes,
            layer.slot, window, parts, stats, attended, rows,
        )  # fmt: skip
        mixed = buffers.parts(layer.output, width)
        ops.product(attended[:width], layer.output, mixed, rows=rows)
        ops.residual(mixed, layer.post_attention_norm, buffers.h, None,
                     layer.pre_feedforward_norm, eps, buffers.x, rows)  # fmt: skip
        ops.product(buffers.x[:width], layer.gate_up, buffers.fed[:width], gated=True,
                    rows=rows)  # fmt: skip
        mixed = buffers.parts(layer.down, width)
        ops.product(buffers.fed[:width], layer.down, mixed, rows=rows)
        ops.residual(mixed, layer.post_feedforward_norm, buffers.h, None, None, eps,
                     buffers.x, rows)  # fmt: skip
        if ops.NAME == 'triton' and plan_of(layer.ple_gate, whole=True) is not None:
            ops.product(buffers.x[:width], layer.ple_gate, buffers.gated[:width],
                        plane=buffers.planes[:, plane], rows=rows)  # fmt: skip
        else:
            opened = buffers.parts(layer.ple_gate, width)
            ops.product(buffers.x[:width], layer.ple_gate, opened, rows=rows)
            ops.gate(opened, buffers.planes[:, plane], buffers.gated[:rows])
        mixed = buffers.parts(layer.ple_projection, width)
        ops.product(buffers.gated[:width], layer.ple_projection, mixed, rows=rows)
        ops.residual(mixed, layer.post_ple_norm, buffers.h, layer.scalar,
                     self._next_norm(layer), eps, buffers.x, rows)  # fmt: skip

    def _heads(
        self, buffers: Buffers, layer: LayerWeights, qkv: Tensor, q: Tensor, rows: int
    ) -> None:
        kind = int(layer.plan.is_sliding)
        cos, sin = self.weights.rotary[layer.plan.is_sliding]
        self._ops.heads(
            qkv, layer.head_norms, cos, sin, buffers.positions, buffers.lanes, buffers.ends,
            buffers.tables[kind], q, self.pools[kind], layer.slot, layer.plan.num_kv_heads,
            self.config.rms_norm_eps, rows, owns=layer.plan.owns_kv,
        )  # fmt: skip

    def _next_norm(self, layer: LayerWeights) -> Tensor:
        index = layer.plan.index + 1
        layers = self.weights.layers
        return layers[index].input_norm if index < len(layers) else self.weights.norm

    def _head(self, buffers: Buffers, width: int, rows: int) -> None:
        ops = self._ops
        logits = buffers.logits[:, :width]
        ops.product(buffers.x[:width], self.weights.head, logits, rows=rows)
        ops.choose(logits[0], buffers.masks, self.config.softcap, buffers.blocks,
                   buffers.looks, buffers.best, rows)  # fmt: skip

    def look(self, buffers: Buffers, row: int) -> None:
        """Look again at one row of the last pass."""
        self._ops.choose(buffers.logits[0, row : row + 1], buffers.masks, None, buffers.blocks,
                         buffers.looks, buffers.best, 1)  # fmt: skip

    def prompt(
        self, buffers: Buffers, rows: int, layers: Sequence[LayerWeights] | None = None
    ) -> None:
        """Run prompt rows through the owning layers, or through those among some."""
        ops, weights, config = self._ops, self.weights, self.config
        eps, owners = config.rms_norm_eps, config.num_owning_layers
        x, narrow, wide = buffers.x[:rows], buffers.narrow[:rows], buffers.wide
        room = buffers.room
        ops.embed(
            buffers.ids, weights.embedding, self._scale, weights.layers[0].input_norm, eps,
            buffers.h, buffers.narrow, buffers.x, rows,
        )  # fmt: skip
        context = weights.context.part(0, owners * config.ple_dim)
        mixed = wide(rows, context.rows)
        ops.prompt_product(narrow, context, mixed, room=room)
        table, ids = weights.ple_table, buffers.ids
        if table is None:
            table, ids = buffers.told, buffers.row_numbers
        planes = buffers.prompt_planes
        ops.per_layer(ids, table, self._ple_scale, mixed[None], config.hidden_size**-0.5,
                      weights.ple_norm, eps, 0, planes, rows)  # fmt: skip
        for layer in weights.layers[:owners] if layers is None else layers:
            if not layer.plan.owns_kv:
                continue
            kind, size = int(layer.plan.is_sliding), layer.plan.head_dim
            q, attended = buffers.queries(size)[:rows], buffers.attended(size)[:rows]
            qkv = wide(rows, layer.qkv.rows)
            ops.prompt_product(x, layer.qkv, qkv, room=room)
            self._heads(buffers, layer, qkv[None], q, rows)
            ops.attend_prompt(
                q, self.pools[kind], buffers.tables[kind], buffers.positions, buffers.lanes,
                buffers.ends, layer.slot, config.sliding_window if kind else 0, attended,
            )  # fmt: skip
            mixed = wide(rows, config.hidden_size)
            ops.prompt_product(attended, layer.output, mixed, room=room)
            ops.residual(mixed[None], layer.post_attention_norm, buffers.h, None,
                         layer.pre_feedforward_norm, eps, buffers.x, rows)  # fmt: skip
            fed = buffers.fed[:rows]
            ops.prompt_product(x, layer.gate_up, fed, gated=True, room=room)
            ops.prompt_product(fed, layer.down, mixed, room=room)
            ops.residual(mixed[None], layer.post_feedforward_norm, buffers.h, None, None, eps,
                         buffers.x, rows)  # fmt: skip
            opened = buffers.opened[:rows]
            ops.prompt_product(x, layer.ple_gate, opened, room=room)
            ops.gate(opened[None], planes[:rows, layer.plan.index], buffers.gated[:rows])
            ops.prompt_product(buffers.gated[:rows], layer.ple_projection, mixed, room=room)
            ops.residual(mixed[None], layer.post_ple_norm, buffers.h, layer.scalar,
                         self._next_norm(layer), eps, buffers.x, rows)  # fmt: skip
