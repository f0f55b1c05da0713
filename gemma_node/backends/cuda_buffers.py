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

"""The buffers of the device step: what a pass reads and writes, allocated once."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gemma_node.backends.cuda_weights import DeviceWeights
from gemma_node.kernels.cuda_matmul import parts_of
from gemma_node.kernels.planes import BF16
from gemma_node.kernels.planes import bf16_planes
from gemma_node.kernels.planes import Planes
from gemma_node.kernels.tuning import attention_parts
from gemma_node.kernels.tuning import UNPACKED_FROM
from gemma_node.kernels.tuning import UNPACKED_NUMBERS
from gemma_node.model.config import ModelConfig

PAGE = 64
MAX_ROWS = 16


class Buffers:
    """Everything a pass reads and writes, allocated once."""

    def __init__(
        self,
        config: ModelConfig,
        weights: DeviceWeights,
        *,
        device: torch.device,
        rows: int,
        lanes: int,
        table_pages: int,
    ) -> None:
        vocab = config.vocab_size
        self._device = device
        self._config = config
        hidden = config.hidden_size
        inner = max(each.intermediate_size for each in config.layers)
        words = -(-vocab // 32)
        narrow = torch.bfloat16

        def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
            return torch.zeros(*shape, dtype=dtype, device=device)

        header = 4 * rows
        is_cuda = device.type == 'cuda'
        self._copied: Any = torch.cuda.Event() if is_cuda else None  # type: ignore[no-untyped-call]
        self._open_rows = 0
        staging = torch.zeros(header + MAX_ROWS * words, dtype=torch.int32, pin_memory=is_cuda)
        self._staging, self._header, self._words = staging, header, words
        self._inputs = zeros(header + MAX_ROWS * words, dtype=torch.int32)
        self.ids, self.positions, self.lanes, self.ends, self.masks = _split(
            self._inputs, rows, words
        )
        host = [each.numpy() for each in _split(staging, rows, words)]
        self.host_ids, self.host_positions, self.host_lanes, self.host_ends = host[:4]
        self.host_masks = host[4]
        shape = (2, lanes, table_pages)
        self._host_tables = torch.zeros(shape, dtype=torch.int32, pin_memory=is_cuda)
        self.host_tables = self._host_tables.numpy()
        self.tables = zeros(*shape, dtype=torch.int32)
        self.tables_changed = True
        self._host_picked = torch.zeros(MAX_ROWS, dtype=torch.int32, pin_memory=is_cuda)
        self.host_picked = self._host_picked.numpy()
        self.picked = zeros(MAX_ROWS, dtype=torch.int32)
        self.row_numbers = torch.arange(rows, dtype=torch.int32, device=device)
        self.h, self.x = zeros(rows, hidden), zeros(rows, hidden, dtype=narrow)
        self.narrow = zeros(rows, hidden, dtype=narrow)
        self.fed = zeros(rows, inner, dtype=narrow)
        self.opened = zeros(rows, config.ple_dim)
        self.gated = zeros(rows, config.ple_dim, dtype=narrow)
        self._spares = {each.dtype: zeros(MAX_ROWS, hidden, dtype=each.dtype)
                        for each in (self.h, self.x)}  # fmt: skip
        self._spare_ints = zeros(MAX_ROWS, dtype=torch.int32)
        self._heads = {
            size: (
                zeros(rows, config.num_heads, size, dtype=narrow),
                zeros(rows, config.num_heads * size, dtype=narrow),
            )
            for size in {config.head_dim, config.global_head_dim}
        }
        widest = max(
            config.num_owning_layers * config.ple_dim,
            hidden,
            *(layer.qkv.rows for layer in weights.layers),
        )
        is_prompt = rows > MAX_ROWS
        self._wide = zeros(rows * widest if is_prompt else 1)
        self._parts = zeros(_most_parts(weights))
        # Where a long prompt has weights unpacked.
        size = min(UNPACKED_NUMBERS, _largest_packed(weights)) if rows >= UNPACKED_FROM else 0
        self.room = zeros(size, dtype=narrow) if size else None
        self._planes = zeros(MAX_ROWS * config.num_layers * config.ple_dim)
        self.planes = self._planes
        self.prompt_planes = zeros(
            rows if is_prompt else 1, config.num_owning_layers, config.ple_dim
        )
        # The rows of a prompt that are finished attend when nothing is unpacked any more.
        spare = None if self.room is None else self.room.view(torch.float32)
        self.scratch = []
        for window in (0, config.sliding_window):
            shapes = self._scratch_shapes(table_pages * PAGE, window)
            size = sum(map(math.prod, shapes))
            if spare is not None and spare.numel() >= size:
                found, spare = spare[:size], spare[size:]
            else:
                found = zeros(size)
            parts, stats = torch.split(found, [math.prod(each) for each in shapes])
            self.scratch.append((parts.view(shapes[0]), stats.view(shapes[1])))
        self.logits = zeros(1, MAX_ROWS, vocab)
        self.blocks = zeros(MAX_ROWS, -(-vocab // 2048), 8)
        self.result = zeros(MAX_ROWS, 4)
        self.looks, self.best = self.result[:, :3], self.result.view(torch.int32)[:, 3]
        self.host_result = torch.zeros(MAX_ROWS, 4, pin_memory=is_cuda)
        told = config.num_layers * config.ple_dim
        staged = rows if weights.ple_table is None else 0
        self.told = bf16_planes(zeros(max(staged, 64), told, dtype=narrow))
        self.host_told = torch.zeros(max(staged, 1), told, dtype=narrow, pin_memory=is_cuda)

    def wait(self) -> None:
        """Wait until what was last sent has left the host's buffers."""
        if self._copied is not None:
            self._copied.synchronize()

    def set_page(self, kind: int, lane: int, number: int, page: int) -> None:
        """Note a page; it goes to the device with what is sent next."""
        self.wait()
        self.host_tables[kind, lane, number] = page
        self.tables_changed = True

    def sent(self) -> None:
        """Note that copies from the host's buffers are under way."""
        if self._copied is not None:
            self._copied.record()

    def send(self, masks: npt.NDArray[np.int32] | None, rows: int) -> None:
        """Copy what came in: masks only where they are not all open, as they mostly stay."""
        size = self._header
        if masks is not None:
            self.host_masks[: len(masks)] = masks
            self.host_masks[len(masks) : rows] = -1
            self._open_rows = 0
        elif self._open_rows < rows:
            self.host_masks[:rows] = -1
            self._open_rows = rows
        else:
            rows = 0
        size += rows * self._words
        self._inputs[:size].copy_(self._staging[:size], non_blocking=True)
        if self.tables_changed:
            self.tables.copy_(self._host_tables, non_blocking=True)
            self.tables_changed = False

    def send_mask(self, mask: npt.NDArray[np.int32]) -> None:
        """Copy the mask of one row."""
        self.wait()
        self.host_masks[0] = mask
        self._open_rows = 0
        start, end = self._header, self._header + self._words
        self._inputs[start:end].copy_(self._staging[start:end], non_blocking=True)
        self.sent()

    def send_picked(self, rows: Sequence[int]) -> None:
        """Copy which rows of the pass are finished."""
        self.wait()
        self.host_picked[: len(rows)] = rows
        self.picked.copy_(self._host_picked, non_blocking=True)
        self.sent()

    def pick(self, count: int) -> None:
        """Make the picked rows the first ones."""
        picked = self.picked[:count]
        for source in (self.h, self.x, self.narrow):
            spare = self._spares[source.dtype][:count]
            torch.index_select(source, 0, picked, out=spare)
            source[:count].copy_(spare)
        for source in (self.ids, self.positions, self.lanes):
            spare = self._spare_ints[:count]
            torch.index_select(source, 0, picked, out=spare)
            source[:count].copy_(spare)

    def queries(self, size: int) -> Tensor:
        """Return queries [rows, heads, size]."""
        return self._heads[size][0]

    def attended(self, size: int) -> Tensor:
        """Return what was attended [rows, heads * size]."""
        return self._heads[size][1]

    def parts(self, weight: Planes, width: int) -> Tensor:
        """Return room for a product of `width` rows, [parts, width, rows of the matrix]."""
        shape = (parts_of(weight), width, weight.rows)
        return self._parts[: shape[0] * shape[1] * shape[2]].view(shape)

    def wide(self, rows: int, columns: int) -> Tensor:
        """Return room for a prompt's product."""
        return self._wide[: rows * columns].view(rows, columns)

    def plane(self, layers: int) -> Tensor:
        """Return per-layer inputs [16, layers, size]."""
        size = self._config.ple_dim
        return self._planes[: MAX_ROWS * layers * size].view(MAX_ROWS, layers, size)

    def _scratch_shapes(
        self, num_positions: int, window: int
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return those of a decode row's parts and of what joins them."""
        size = self._config.head_dim if window else self._config.global_head_dim
        shape = (MAX_ROWS, attention_parts(num_positions, window), self._config.num_heads)
        return (*shape, size), (*shape, 2)


def _most_parts(weights: DeviceWeights) -> int:
    matrices = [weights.context]
    for layer in weights.layers:
        matrices += [layer.qkv, layer.output, layer.down, layer.ple_gate, layer.ple_projection]
    return max(parts_of(each) * MAX_ROWS * each.rows for each in matrices)


def _largest_packed(weights: DeviceWeights) -> int:
    """Return the numbers of the largest matrix that a prompt has to unpack; 0 for none."""
    matrices = [weights.context]
    for layer in weights.layers:
        matrices += [layer.qkv, layer.output, layer.gate_up, layer.down, layer.ple_gate,
                     layer.ple_projection]  # fmt: skip
    sizes = [each.padded_rows * each.padded_columns for each in matrices if each.kind != BF16]
    return max(sizes, default=0)


def _split(values: Tensor, rows: int, words: int) -> list[Tensor]:
    """Return ids, positions, lanes, ends and masks of one input buffer."""
    ids, positions, lanes, ends, masks = torch.split(
        values, [rows, rows, rows, rows, MAX_ROWS * words]
    )
    return [ids, positions, lanes, ends, masks.view(MAX_ROWS, words)]
