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
The device step: the whole model in fixed buffers, one CUDA graph for each number of rows.

`decode` runs 1 to 16 rows of any lanes through all layers; a row's bits do not depend on the
others. `prompt` runs consecutive rows of one lane through the owning layers alone, in whole tiles
of 64, and the shared layers for those rows whose logits are wanted. Prompt rows are computed with
weights rounded to bfloat16, decode rows are not: a prompt may be resumed at multiples of 64.

Ids, positions and masks come in one copy; what a draw needs goes out in one. Nothing is allocated
for a token. Not verified on any device until its receipt passes.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gemma_node.backends.cuda_buffers import Buffers
from gemma_node.backends.cuda_buffers import MAX_ROWS
from gemma_node.backends.cuda_buffers import PAGE
from gemma_node.backends.cuda_weights import DeviceWeights
from gemma_node.backends.cuda_weights import LayerWeights
from gemma_node.errors import ConfigError
from gemma_node.kernels.planes import Planes
from gemma_node.kernels.tuning import Tiling
from gemma_node.kernels.tuning import tiling_of
from gemma_node.model.config import ModelConfig
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.linear import rounded_scale

_NARROW = 8
_MIN_HEAD_DIM, _MAX_HEAD_DIM = 16, 512
KV_DTYPES = {'bfloat16': torch.bfloat16, 'float8': torch.uint8}
Ids = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Looks:
    """
    What a draw needs of rows that ran: `best` [rows] and `values` [rows, 3].

    The three are the best allowed logit and the logarithms of the sums of exponents over allowed
    and over all ids.
    """

    best: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]


def device_problem(config: ModelConfig) -> str:
    """Return why the device step cannot run this shape; '' when it can."""
    for name in ('hidden_size', 'intermediate_size'):
        if getattr(config, name) % 64:
            return f'{name} {getattr(config, name)} is not a multiple of 64'
    for name in ('head_dim', 'global_head_dim', 'ple_dim'):
        size = getattr(config, name)
        if size & (size - 1) or not _MIN_HEAD_DIM <= size <= _MAX_HEAD_DIM:
            return f'{name} {size} is no power of two from {_MIN_HEAD_DIM} to {_MAX_HEAD_DIM}'
    for layer in config.layers:
        if layer.num_kv_heads * layer.head_dim % 64:
            return f'keys of layer {layer.index} are not a multiple of 64 wide'
        group = config.num_heads // layer.num_kv_heads
        if group & (group - 1) or group > _NARROW:
            return f'{group} query heads a key head is no power of two up to {_NARROW}'
    if config.num_owning_layers * config.ple_dim % 64:
        return 'the owning layers\' share of the per-layer projection is not a multiple of 64'
    return ''


@contextmanager
def _few_threads(rows: int) -> Iterator[None]:
    """Have one thread do what waking others for would take longer: the rows of a decode step."""
    before = torch.get_num_threads()
    if rows > MAX_ROWS or before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class DeviceModel:
    """
    Gemma 4 in fixed buffers on one device; engine thread only.

    :param ops: `kernels.triton_ops`, or `kernels.plain_ops`
    :param num_pages: pages of full and of sliding layers
    :param max_prompt_rows: the longest prompt pass, whole tiles
    """

    def __init__(
        self,
        model: Gemma4,
        *,
        ops: ModuleType,
        device: torch.device,
        lanes: int,
        context_tokens: int,
        num_pages: tuple[int, int],
        kv_dtype: str = 'bfloat16',
        max_prompt_rows: int = 512,
        ple_on_host: bool = False,
        graphs: bool = True,
    ) -> None:
        self.config = config = model.config
        problem = device_problem(config)
        if problem:
            raise ConfigError(f'the device step cannot run this model: {problem}')
        self._ops = ops
        self.device = device
        # The twins look at values on the host, which no graph can.
        self._graphs = graphs and device.type == 'cuda' and ops.NAME == 'triton'
        self._captured: dict[tuple[str, int], torch.cuda.CUDAGraph] = {}
        self._kept: list[npt.NDArray[np.float32]] = []
        table_pages = -(-context_tokens // PAGE)
        self.weights = DeviceWeights(
            model, num_positions=table_pages * PAGE, device=device, ple_on_host=ple_on_host
        )
        dtype = torch.bfloat16
        self._num_positions = table_pages * PAGE
        self._scale = rounded_scale(model.embed_tokens.scale, dtype)
        self._ple_scale = rounded_scale(model.embed_tokens_per_layer.scale, dtype)
        self.pools = tuple(
            self._pool(count, KV_DTYPES[kv_dtype], is_sliding=is_sliding)
            for is_sliding, count in zip((False, True), num_pages, strict=True)
        )
        self.max_prompt_rows = max(max_prompt_rows, MAX_ROWS)
        self._buffers = Buffers(
            config,
            self.weights,
            device=device,
            rows=self.max_prompt_rows,
            lanes=lanes,
            table_pages=table_pages,
        )

    def set_page(self, kind: int, lane: int, number: int, page: int) -> None:
        """Say which page of full (0) or sliding layers (1) holds a lane's 64 positions."""
        self._buffers.wait()
        self._buffers.host_tables[kind, lane, number] = page
        self._buffers.tables_changed = True

    def decode(
        self, ids: Ids, positions: Ids, lanes: Ids, masks: npt.NDArray[np.int32] | None = None
    ) -> Looks:
        """
        Run up to 16 rows; rows of one lane stand together in ascending order.

        :param masks: int32 [rows, words], a bit an allowed id; None for all
        """
        rows = len(ids)
        self._send(ids, positions, lanes, masks, rows)
        self._run('decode', rows, self._decode)
        return self._receive(rows)

    def prompt(
        self,
        ids: Ids,
        start: int,
        lane: int,
        outputs: Sequence[int] = (),
        masks: npt.NDArray[np.int32] | None = None,
    ) -> Looks | None:
        """
        Run consecutive rows of one lane from `start`, and the head for some of them.

        :param masks: of the last output
        """
        count = len(ids)
        rows = -(-count // PAGE) * PAGE
        # Rows past the end are computed and thrown away; they must not read past tables.
        positions = np.arange(start, start + rows, dtype=np.int32)
        np.minimum(positions, self._num_positions - 1, out=positions)
        padded = np.zeros(rows, np.int32)
        padded[:count] = ids
        self._send(padded, positions, np.full(rows, lane, np.int32), masks, count)
        self._run('prompt', rows, self._prompt)
        looks = None
        self._kept = []
        for row in outputs:
            if looks is not None:
                self._kept.append(self.logits(1)[0])
            self._buffers.picked.fill_(row)
            self._run('finish', 1, self._finish)
            looks = self._receive(1)
        return looks

    def look(self, row: int, mask: npt.NDArray[np.int32]) -> Looks:
        """Look again at one row of the last pass, through a mask [words]."""
        self._buffers.send_mask(mask)
        self._run('look', row, self._look)
        return self._receive(1)

    def logits(self, rows: int) -> npt.NDArray[np.float32]:
        """Return the capped logits [rows, vocab] of the last pass."""
        taken = self._buffers.logits[0, :rows].to('cpu', copy=True)
        found: npt.NDArray[np.float32] = taken.numpy()
        return found

    def kept_logits(self) -> list[npt.NDArray[np.float32]]:
        """Return those of the outputs of the last `prompt` but the last one."""
        return self._kept

    def warm_up(self, rows: Sequence[int], prompt_rows: Sequence[int]) -> None:
        """Compile and capture what serving will run; page 0 of lane 0 is overwritten."""
        mask = None
        for count in rows:
            zeros = np.zeros(count, np.int32)
            self.decode(zeros, np.arange(count, dtype=np.int32), zeros, mask)
        for count in prompt_rows:
            self.prompt(np.zeros(count, np.int32), 0, 0, (count - 1,))

    def _pool(self, count: int, dtype: torch.dtype, *, is_sliding: bool) -> Tensor:
        config = self.config
        owners = config.layers[: config.num_owning_layers]
        same = [each for each in owners if each.is_sliding == is_sliding]
        if not same:
            return torch.zeros(1, 1, 2, 1, PAGE, _MIN_HEAD_DIM, dtype=dtype, device=self.device)
        shape = (count, len(same), 2, same[0].num_kv_heads, PAGE, same[0].head_dim)
        return torch.zeros(shape, dtype=dtype, device=self.device)

    def _send(
        self,
        ids: Ids,
        positions: Ids,
        lanes: Ids,
        masks: npt.NDArray[np.int32] | None,
        count: int,
    ) -> None:
        buffers, rows = self._buffers, len(ids)
        buffers.wait()
        buffers.host_ids[:rows] = ids
        buffers.host_positions[:rows] = positions
        buffers.host_lanes[:rows] = lanes
        buffers.host_count[0] = count
        buffers.send(masks, min(rows, MAX_ROWS))
        if self.weights.ple_source is not None:
            with _few_threads(rows):
                taken = self.weights.ple_source.take(torch.from_numpy(ids.astype(np.int64)))
                buffers.host_told[:rows].copy_(taken.dequantize(torch.bfloat16))
            told = buffers.told.data[:rows, : buffers.told.columns]
            told.copy_(buffers.host_told[:rows], non_blocking=True)
        buffers.sent()

    def _receive(self, rows: int) -> Looks:
        buffers = self._buffers
        buffers.host_result.copy_(buffers.result)
        found = buffers.host_result.numpy()
        return Looks(
            best=found[:rows, 3].view(np.int32).copy(), values=found[:rows, :3].copy()
        )

    def _run(self, name: str, rows: int, body: Callable[[int], None]) -> None:
        """Replay the graph of a pass, or run it; the first run of each compiles and captures."""
        if not self._graphs:
            body(rows)
            return
        key = (name, rows)
        if key in self._captured:
            self._captured[key].replay()
            return
        body(rows)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            body(rows)
        self._captured[key] = graph

    def _decode(self, rows: int) -> None:
        ops, weights, buffers, config = self._ops, self.weights, self._buffers, self.config
        width = _NARROW if rows <= _NARROW else MAX_ROWS
        ops.embed(
            buffers.ids, weights.embedding, self._scale, weights.layers[0].input_norm,
            config.rms_norm_eps, buffers.h, buffers.narrow, buffers.x, rows,
        )  # fmt: skip
        self._mix(weights.context, 0, config.num_layers, width, rows)
        for layer in weights.layers:
            self._layer(layer, layer.plan.index, width, rows)
        self._head(width, rows)

    def _finish(self, rows: int) -> None:
        """Run the shared layers for one row of a prompt pass that has just run."""
        buffers, config, weights = self._buffers, self.config, self.weights
        first = config.num_owning_layers
        for source in (buffers.h, buffers.x, buffers.narrow):
            torch.index_select(source, 0, buffers.picked, out=buffers.spare(source))
            source[:1].copy_(buffers.spare(source))
        for source in (buffers.ids, buffers.positions):
            torch.index_select(source, 0, buffers.picked, out=buffers.spare_int)
            source[:1].copy_(buffers.spare_int)
        if first < config.num_layers:
            split = first * config.ple_dim
            shared = weights.context.part(split, config.num_layers * config.ple_dim)
            self._mix(shared, first, config.num_layers, _NARROW, rows, picked=True)
            for layer in weights.layers[first:]:
                self._layer(layer, layer.plan.index - first, _NARROW, rows)
        self._head(_NARROW, rows)

    def _mix(
        self,
        context: Planes,
        first: int,
        last: int,
        width: int,
        rows: int,
        *,
        picked: bool = False,
    ) -> None:
        """Compute the per-layer inputs of layers from `first` to before `last`."""
        ops, weights, buffers, config = self._ops, self.weights, self._buffers, self.config
        parts = buffers.parts(context, width)
        ops.product(buffers.narrow[:width], context, parts)
        table, ids = weights.ple_table, buffers.ids
        if table is None:
            table, ids = buffers.told, buffers.picked if picked else buffers.row_numbers
        ops.per_layer(
            ids, table, self._ple_scale, parts, config.hidden_size**-0.5, weights.ple_norm,
            config.rms_norm_eps, first, buffers.plane(last - first), rows,
        )  # fmt: skip
        buffers.planes = buffers.plane(last - first)

    def _layer(self, layer: LayerWeights, plane: int, width: int, rows: int) -> None:
        """One layer of a decode pass: thirteen launches."""
        ops, buffers, eps = self._ops, self._buffers, self.config.rms_norm_eps
        kind, size = int(layer.plan.is_sliding), layer.plan.head_dim
        window = self.config.sliding_window if kind else 0
        q, attended = buffers.queries(size), buffers.attended(size)
        qkv = buffers.parts(layer.qkv, width)
        ops.product(buffers.x[:width], layer.qkv, qkv)
        self._heads(layer, qkv, q, rows)
        parts, stats = buffers.scratch[kind]
        ops.attend(
            q, self.pools[kind], buffers.tables[kind], buffers.positions, buffers.lanes,
            layer.slot, window, parts, stats, attended, rows,
        )  # fmt: skip
        mixed = buffers.parts(layer.output, width)
        ops.product(attended[:width], layer.output, mixed)
        ops.residual(mixed, layer.post_attention_norm, buffers.h, None,
                     layer.pre_feedforward_norm, eps, buffers.x, rows)  # fmt: skip
        ops.product(buffers.x[:width], layer.gate_up, buffers.fed[:width], gated=True)
        mixed = buffers.parts(layer.down, width)
        ops.product(buffers.fed[:width], layer.down, mixed)
        ops.residual(mixed, layer.post_feedforward_norm, buffers.h, None, None, eps,
                     buffers.x, rows)  # fmt: skip
        opened = buffers.parts(layer.ple_gate, width)
        ops.product(buffers.x[:width], layer.ple_gate, opened)
        ops.gate(opened, buffers.planes[:, plane], buffers.gated[:rows])
        mixed = buffers.parts(layer.ple_projection, width)
        ops.product(buffers.gated[:width], layer.ple_projection, mixed)
        ops.residual(mixed, layer.post_ple_norm, buffers.h, layer.scalar,
                     self._next_norm(layer), eps, buffers.x, rows)  # fmt: skip

    def _heads(self, layer: LayerWeights, qkv: Tensor, q: Tensor, rows: int) -> None:
        buffers, kind = self._buffers, int(layer.plan.is_sliding)
        cos, sin = self.weights.rotary[layer.plan.is_sliding]
        self._ops.heads(
            qkv, layer.head_norms, cos, sin, buffers.positions, buffers.lanes, buffers.count,
            buffers.tables[kind], q, self.pools[kind], layer.slot, layer.plan.num_kv_heads,
            self.config.rms_norm_eps, rows, owns=layer.plan.owns_kv,
        )  # fmt: skip

    def _next_norm(self, layer: LayerWeights) -> Tensor:
        index = layer.plan.index + 1
        layers = self.weights.layers
        return layers[index].input_norm if index < len(layers) else self.weights.norm

    def _head(self, width: int, rows: int) -> None:
        ops, buffers = self._ops, self._buffers
        logits = buffers.logits[:, :width]
        ops.product(buffers.x[:width], self.weights.head, logits, tiling=self._head_tiling)
        ops.choose(logits[0], buffers.masks, self.config.softcap, buffers.blocks,
                   buffers.looks, buffers.best, rows)  # fmt: skip

    def _look(self, row: int) -> None:
        buffers = self._buffers
        self._ops.choose(buffers.logits[0, row : row + 1], buffers.masks, None, buffers.blocks,
                         buffers.looks, buffers.best, 1)  # fmt: skip

    @property
    def _head_tiling(self) -> Tiling:
        return tiling_of(self.weights.head, whole=True)

    def _prompt(self, rows: int) -> None:
        ops, weights, buffers, config = self._ops, self.weights, self._buffers, self.config
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
        for layer in weights.layers[:owners]:
            kind, size = int(layer.plan.is_sliding), layer.plan.head_dim
            q, attended = buffers.queries(size)[:rows], buffers.attended(size)[:rows]
            qkv = wide(rows, layer.qkv.rows)
            ops.prompt_product(x, layer.qkv, qkv, room=room)
            self._heads(layer, qkv[None], q, rows)
            ops.attend_prompt(
                q, self.pools[kind], buffers.tables[kind], buffers.positions, buffers.lanes,
                buffers.count, layer.slot, config.sliding_window if kind else 0, attended,
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
