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
The cached pass as one native call: weights packed once for kernels/cpu, keys and values in pages.

A page covers 64 positions of all owning layers of one type. Every row's bits depend on its
token, its position and its lane's rows alone, so prefill and decode give equal bits, whatever
runs beside them. Holds no sequence state; who owns pages and lanes is the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
import ctypes
from typing import Any
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F  # noqa: N812

from gemma_node.errors import ConfigError
from gemma_node.kernels import native
from gemma_node.model.config import LayerConfig
from gemma_node.model.config import ModelConfig
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.gemma4 import Layer
from gemma_node.model.kv_form import FP8
from gemma_node.model.kv_form import kv_scales
from gemma_node.model.linear import rounded_scale
from gemma_node.model.rope import rotary_tables
from gemma_node.quant.affine import AffineTensors
from gemma_node.quant.packed import dense
from gemma_node.quant.packed import Packed
from gemma_node.quant.packed import PlainTensor

_MAX_HEAD_DIM = 1024
_KV_KINDS = {
    torch.float32: native.KV_F32,
    torch.bfloat16: native.KV_BF16,
    FP8: native.KV_FP8,
}
Ids = npt.NDArray[np.int32]


def native_problem(config: ModelConfig) -> str:
    """Return why the native step cannot run this shape here; '' when it can."""
    if native.library() is None:
        return f'{native.LIBRARY} was not built with the package'
    sizes = {
        'hidden_size': config.hidden_size,
        'hidden_size_per_layer_input': config.ple_dim,
        'intermediate_size': config.intermediate_size,
        'head_dim': config.head_dim,
        'global_head_dim': config.global_head_dim,
    }
    for name, size in sizes.items():
        if size % native.WIDTH:
            return f'{name} {size} is not a multiple of {native.WIDTH}'
    if max(config.head_dim, config.global_head_dim) > _MAX_HEAD_DIM:
        return f'head_dim is larger than {_MAX_HEAD_DIM}'
    return ''


class NativeModel:
    """
    Gemma 4 packed for kernels/cpu; engine thread only.

    :param kv_dtype: of cached keys and values, one of kv_form.KV_DTYPES
    """

    def __init__(
        self,
        model: Gemma4,
        *,
        num_positions: int,
        num_threads: int,
        kv_dtype: torch.dtype = torch.float32,
    ) -> None:
        self.config = config = model.config
        problem = native_problem(config)
        library = native.library()
        if problem or library is None:
            raise ConfigError(f'the native step cannot run this model: {problem}')
        if not native.knows_kv(_KV_KINDS[kv_dtype]):
            raise ConfigError(
                f'{native.LIBRARY} is older than the package and knows no {kv_dtype} cache; build '
                'the package again'
            )
        self._library = library
        self.kv_dtype = kv_dtype
        self._kept: list[Any] = []
        self._embedding, self._ple = model.embed_tokens.packed, model.embed_tokens_per_layer.packed
        self._scales = (
            rounded_scale(model.embed_tokens.scale, torch.float32),
            rounded_scale(model.embed_tokens_per_layer.scale, torch.float32),
        )
        packed = self._pack(model, num_positions)
        self._handle = library.gn_create(ctypes.byref(packed), num_threads)
        if not self._handle:
            raise MemoryError('no memory for the native step')
        self._batch = native.Batch()

    def __del__(self) -> None:
        handle = getattr(self, '_handle', None)
        if handle:
            self._library.gn_destroy(handle)

    @property
    def vocab_stride(self) -> int:
        """Numbers from one row of logits to the next."""
        return -(-self.config.vocab_size // native.WIDTH) * native.WIDTH

    def page_elements(self, *, is_sliding: bool) -> int:
        """Return how many numbers a page of one layer type holds."""
        owners = [each for each in self._owners() if each.is_sliding == is_sliding]
        return sum(2 * each.num_kv_heads * each.head_dim for each in owners) * native.PAGE

    def forward(
        self,
        ids: Ids,
        positions: Ids,
        lanes: Ids,
        output_rows: Ids,
        pages: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    ) -> npt.NDArray[np.float32]:
        """
        Run rows [n] and return logits [len(output_rows), vocab].

        Rows of one lane stand together in ascending order. `pages` are addresses by lane and
        page number, of full and of sliding layers.
        """
        logits = np.empty((len(output_rows), self.vocab_stride), np.float32)
        batch = self._batch
        batch.rows, batch.outputs = len(ids), len(output_rows)
        batch.ids, batch.positions = ids.ctypes.data, positions.ctypes.data
        batch.lanes, batch.output_rows = lanes.ctypes.data, output_rows.ctypes.data
        for index, table in enumerate(pages):
            batch.pages[index] = table.ctypes.data
            batch.page_stride[index] = table.shape[1]
        gathered = self._gathered(ids)
        batch.embedded, batch.ple_tokens = (
            None if each is None else each.data_ptr() for each in gathered
        )
        batch.logits = logits.ctypes.data
        if self._library.gn_forward(self._handle, ctypes.byref(batch)):
            raise MemoryError(f'no memory for a pass of {len(ids)} rows')
        return logits[:, : self.config.vocab_size]

    def multiply(self, matrix: Packed, x: torch.Tensor) -> torch.Tensor:
        """Return x W^T of float32 x [rows, columns] as a step computes it; for measurements."""
        num_kept = len(self._kept)
        packed = self._matrix(matrix)
        stride = -(-packed.rows // native.WIDTH) * native.WIDTH
        y = torch.empty(len(x), stride, dtype=torch.float32)
        x = x.contiguous()
        self._library.gn_matmul(
            self._handle, ctypes.byref(packed), x.data_ptr(), len(x), y.data_ptr()
        )
        del self._kept[num_kept:]
        return y[:, : packed.rows]

    def _gathered(self, ids: Ids) -> list[torch.Tensor | None]:
        """Return rows of the tables that the library cannot read as they are stored."""
        rows: list[torch.Tensor | None] = []
        for table, scale in zip((self._embedding, self._ple), self._scales, strict=True):
            if _table_kind(table) != native.TABLE_NONE:
                rows.append(None)
                continue
            taken = table.take(torch.from_numpy(ids).long()).dequantize(torch.float32)
            rows.append((taken * scale).contiguous())
        return rows

    def _owners(self) -> tuple[LayerConfig, ...]:
        return self.config.layers[: self.config.num_owning_layers]

    def _pack(self, model: Gemma4, num_positions: int) -> native.Model:
        config = self.config
        layers = (native.Layer * config.num_layers)(
            *(self._layer(cast('Layer', layer)) for layer in model.layers)
        )
        self._kept.append(layers)
        split = config.num_owning_layers * config.ple_dim
        context = model.per_layer_model_projection.packed
        total = config.num_layers * config.ple_dim
        packed = native.Model(
            hidden=config.hidden_size,
            num_heads=config.num_heads,
            ple_dim=config.ple_dim,
            vocab=config.vocab_size,
            num_layers=config.num_layers,
            num_owners=config.num_owning_layers,
            window=config.sliding_window,
            kv_kind=_KV_KINDS[self.kv_dtype],
            eps=config.rms_norm_eps,
            softcap=config.softcap or 0.0,
            ple_context_scale=config.hidden_size**-0.5,
            ple_mix_scale=2.0**-0.5,
            embedding=self._table(self._embedding, self._scales[0]),
            ple_table=self._table(self._ple, self._scales[1]),
            ple_owners=self._matrix(context.take(slice(0, split))),
            ple_shared=self._matrix(context.take(slice(split, total))),
            head=self._matrix(self._embedding),
            ple_norm=self._vector(model.per_layer_projection_norm.weight),
            norm=self._vector(model.norm.weight),
            layers=ctypes.addressof(layers),
        )
        for is_sliding in (False, True):
            head_dim = config.head_dim if is_sliding else config.global_head_dim
            rope = config.rope(is_sliding=is_sliding)
            cos, sin = rotary_tables(rope, head_dim, num_positions, dtype=torch.float32)
            packed.cos[is_sliding], packed.sin[is_sliding] = self._vector(cos), self._vector(sin)
        if self.kv_dtype == FP8:
            of_layers = kv_scales(model)
            for is_sliding in (False, True):
                owners = [each for each in self._owners() if each.is_sliding == is_sliding]
                if owners:
                    scales = torch.stack([of_layers[each.index] for each in owners])
                    packed.kv_scales[is_sliding] = self._vector(scales)
        return packed

    def _layer(self, layer: Layer) -> native.Layer:
        attention, mlp, plan = layer.self_attn, layer.mlp, layer.layer
        projections = [attention.q_proj.packed]
        norms = [attention.q_norm.weight.expand(self.config.num_heads, -1)]
        if plan.owns_kv:
            projections += [attention.k_proj.packed, attention.v_proj.packed]
            norms.append(attention.k_norm.weight.expand(plan.num_kv_heads, -1))
        same_type = [each.index for each in self._owners() if each.is_sliding == plan.is_sliding]
        return native.Layer(
            qkv=self._matrix(*projections),
            output=self._matrix(attention.o_proj.packed),
            gate_up=self._matrix(mlp.gate_proj.packed, mlp.up_proj.packed),
            down=self._matrix(mlp.down_proj.packed),
            ple_gate=self._matrix(layer.per_layer_input_gate.packed),
            ple_projection=self._matrix(layer.per_layer_projection.packed),
            input_norm=self._vector(layer.input_layernorm.weight),
            head_norms=self._vector(torch.cat(norms)),
            post_attention_norm=self._vector(layer.post_attention_layernorm.weight),
            pre_feedforward_norm=self._vector(layer.pre_feedforward_layernorm.weight),
            post_feedforward_norm=self._vector(layer.post_feedforward_layernorm.weight),
            post_ple_norm=self._vector(layer.post_per_layer_input_norm.weight),
            scalar=float(layer.layer_scalar.detach()),
            is_sliding=plan.is_sliding,
            head_dim=plan.head_dim,
            num_kv_heads=plan.num_kv_heads,
            owns=plan.owns_kv,
            page_slot=same_type.index(plan.kv_source),
        )

    def _vector(self, values: torch.Tensor) -> int:
        return self._keep(values.detach().to('cpu', torch.float32).clone())

    def _keep(self, tensor: torch.Tensor) -> int:
        tensor = tensor.contiguous()
        self._kept.append(tensor)
        return tensor.data_ptr()

    def _matrix(self, *parts: Packed) -> native.Matrix:
        """Return matrices with the same input as one, in the narrowest form that is exact."""
        rows, columns = sum(part.shape[0] for part in parts), parts[0].shape[1]
        matrix = native.Matrix(rows=rows, columns=columns)
        if rows == 0:
            return matrix
        if _are_codes(parts):
            affine = cast('tuple[AffineTensors, ...]', parts)
            matrix.kind, matrix.group = native.KIND_Q4, affine[0].group_size
            words = torch.cat([part.words.view(torch.int32) for part in affine])
            scales = torch.cat([part.scales.float() for part in affine])
            biases = torch.cat([part.biases.float() for part in affine])
            matrix.data = self._keep(_blocks(words))
            matrix.scales = self._keep(_blocks(scales))
            # Codes are centred on 8, which keeps the two large sums from cancelling.
            matrix.biases = self._keep(_blocks(biases + 8.0 * scales))
            return matrix
        is_bf16 = columns % 2 == 0 and all(
            isinstance(part, PlainTensor) and part.values.dtype == torch.bfloat16
            for part in parts
        )
        dtype = torch.bfloat16 if is_bf16 else torch.float32
        values = torch.cat([dense(part, dtype).detach().to('cpu') for part in parts])
        matrix.kind = native.KIND_BF16 if is_bf16 else native.KIND_F32
        pairs = values.contiguous().view(torch.int32) if is_bf16 else values
        matrix.data = self._keep(_blocks(pairs))
        return matrix

    def _table(self, table: Packed, factor: float) -> native.Table:
        kind = _table_kind(table)
        described = native.Table(kind=kind, columns=table.shape[1], factor=factor)
        if kind == native.TABLE_AFFINE:
            affine = cast('AffineTensors', table)
            described.bits, described.group = affine.bits, affine.group_size
            described.wide_scales = affine.scales.dtype == torch.float32
            described.data = self._keep(affine.words)
            described.scales = self._keep(affine.scales)
            described.biases = self._keep(affine.biases)
        elif kind != native.TABLE_NONE:
            described.data = self._keep(cast('PlainTensor', table).values)
        return described


def _are_codes(parts: Sequence[Packed]) -> bool:
    groups = {
        part.group_size
        if isinstance(part, AffineTensors) and part.bits == 4 and part.group_size % 16 == 0
        else 0
        for part in parts
    }
    return len(groups) == 1 and 0 not in groups


def _table_kind(table: Packed) -> int:
    plain = {torch.float32: native.TABLE_F32, torch.bfloat16: native.TABLE_BF16}
    if isinstance(table, PlainTensor):
        return plain.get(table.values.dtype, native.TABLE_NONE)
    if isinstance(table, AffineTensors) and table.bits in (4, 8) and table.scales.dtype in plain:
        return native.TABLE_AFFINE
    return native.TABLE_NONE


def _blocks(values: torch.Tensor) -> torch.Tensor:
    """Return [rows, n] as [rows / 16, n, 16], padded with zeros."""
    rows, columns = values.shape
    padded = F.pad(values, (0, 0, 0, -rows % native.WIDTH))
    return padded.view(-1, native.WIDTH, columns).permute(0, 2, 1).contiguous()
