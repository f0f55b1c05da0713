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
Keys and values of the lanes: where a position's row lies and what a row may see.

Full layers grow; sliding layers are rings of whole tiles, at least window - 1 + TILE slots, so
that a tile (or its padding) never overwrites a row that one of its own rows still sees. Slots
and masks are functions of the absolute position alone.
"""

from __future__ import annotations

import torch

from gemma_node.model.cache_shape import slot_counts
from gemma_node.model.cache_shape import TILE
from gemma_node.model.cached import Span
from gemma_node.model.cached import Spans
from gemma_node.model.config import LayerConfig
from gemma_node.model.config import ModelConfig


class CacheLayout:
    """
    Slots and masks by absolute position, shared by all lanes.

    :param dtype: of masks, the one that computes; `kv_dtype`: of what is stored, if another
    """

    def __init__(
        self,
        config: ModelConfig,
        *,
        context_tokens: int,
        dtype: torch.dtype,
        device: torch.device,
        kv_dtype: torch.dtype | None = None,
    ) -> None:
        self.layers = config.layers[: config.num_owning_layers]
        self.slots = slot_counts(config, context_tokens)
        self.dtype = dtype
        self.kv_dtype = kv_dtype or dtype
        self.device = device
        self._window = config.sliding_window
        ring = self.slots[True]
        slots = torch.arange(ring)
        distance = slots[:, None] - slots
        if ring < self.slots[False]:
            distance %= ring
        hidden = (distance < 0) | (distance >= self._window)
        self._ring_mask = self._additive(hidden)
        rows = torch.arange(TILE)
        self._causal_mask = self._additive(rows[:, None] < rows)

    def tile_spans(self, start: int) -> Spans:
        """Return the spans of the tile that starts at grid line `start`."""
        ring = self.slots[True]
        write, read = start % ring, min(start + TILE, ring)
        mask = self._ring_mask[write : write + TILE, :read]
        return {
            False: Span(start, start + TILE, self._causal_mask),
            True: Span(write, read, mask),
        }

    def row_spans(self, position: int) -> Spans:
        """Return the spans of one row."""
        ring = self.slots[True]
        write, read = position % ring, min(position + 1, ring)
        mask = None if position < self._window else self._ring_mask[write : write + 1, :read]
        return {False: Span(position, position + 1), True: Span(write, read, mask)}

    def snapshot_bytes(self, rows: int) -> int:
        """Return the size of a snapshot of `rows` rows."""
        size = self.kv_dtype.itemsize
        return sum(
            2 * each.num_kv_heads * each.head_dim * size * self.rows_held(each, rows)
            for each in self.layers
        )

    def snapshot_shapes(self, rows: int) -> list[tuple[int, int, int]]:
        """Return the shapes of a snapshot's keys by owning layer, then of its values."""
        shapes = [
            (each.num_kv_heads, self.rows_held(each, rows), each.head_dim) for each in self.layers
        ]
        return shapes * 2

    def rows_held(self, layer: LayerConfig, rows: int) -> int:
        """Return how many slots of a layer are in use after `rows` rows."""
        return min(rows, self.slots[layer.is_sliding])

    def _additive(self, hidden: torch.Tensor) -> torch.Tensor:
        mask = torch.zeros(hidden.shape, dtype=self.dtype)
        return mask.masked_fill_(hidden, -torch.inf).to(self.device)


class LaneCache:
    """
    Keys and values of one lane, [num_kv_heads, slots, head_dim] per owning layer.

    Allocated once; a new sequence overwrites what an old one left.
    """

    def __init__(self, layout: CacheLayout) -> None:
        self._layout = layout
        self.keys = [self._zeros(layer) for layer in layout.layers]
        self.values = [self._zeros(layer) for layer in layout.layers]

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return sum(tensor.nbytes for tensor in (*self.keys, *self.values))

    def snapshot(self, rows: int) -> tuple[torch.Tensor, ...]:
        """Copy the first `rows` rows; all of them must come from whole prefill tiles."""
        return tuple(part.clone() for part in self._parts(rows))

    def restore(self, rows: int, parts: tuple[torch.Tensor, ...]) -> None:
        """Copy a snapshot back into the slots it came from."""
        for part, saved in zip(self._parts(rows), parts, strict=True):
            part.copy_(saved)

    def clear(self) -> None:
        """Zero everything: a value that is not finite would outlive its masked slot."""
        for tensor in (*self.keys, *self.values):
            tensor.zero_()

    def _parts(self, rows: int) -> list[torch.Tensor]:
        held = [self._layout.rows_held(layer, rows) for layer in self._layout.layers]
        return [
            tensor[:, :num_rows]
            for tensors in (self.keys, self.values)
            for tensor, num_rows in zip(tensors, held, strict=True)
        ]

    def _zeros(self, layer: LayerConfig) -> torch.Tensor:
        slots = self._layout.slots[layer.is_sliding]
        shape = (layer.num_kv_heads, slots, layer.head_dim)
        return torch.zeros(shape, dtype=self._layout.kv_dtype, device=self._layout.device)
