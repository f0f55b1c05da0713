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
Runs lanes with plain PyTorch: the twin of the native runner, and what a GPU uses.

Prefill always runs whole tiles on the position grid and decode always one row of one lane, so a
row's bits depend on its tokens and position alone: not on other lanes, turn ends or resumption.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence

import numpy as np
import torch

from gemma_node.engine.config import EngineConfig
from gemma_node.engine.kv_cache import CacheLayout
from gemma_node.engine.kv_cache import LaneCache
from gemma_node.engine.runner import Logits
from gemma_node.engine.runner import Parts
from gemma_node.engine.runner import Rows
from gemma_node.engine.runner import Snapshot
from gemma_node.model.cache_shape import round_up
from gemma_node.model.cache_shape import TILE
from gemma_node.model.cached import CachedModel
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.kv_form import KV_DTYPES

_DTYPES = {'float32': torch.float32, 'bfloat16': torch.bfloat16}


class TorchRunner:
    """
    Owns the packed weights and the lanes' caches.

    Engine thread only, under inference mode. A lane's cache is allocated at its first use.
    """

    grid = TILE
    chunk = TILE
    shares_passes = False
    max_rows = 0
    free_rows = 0
    overlaps = False

    def __init__(self, model: Gemma4, config: EngineConfig) -> None:
        stored = model.norm.weight.dtype
        self.device = torch.device(config.device)
        self.dtype = _DTYPES.get(config.compute_dtype, stored)
        if config.compute_dtype == 'auto' and self.device.type == 'cpu':
            self.dtype = torch.float32
        # Wider than what computes would hold nothing more.
        stored_as = KV_DTYPES[config.kv_dtype]
        self.kv_dtype = stored_as if stored_as.itemsize < self.dtype.itemsize else self.dtype
        self.identity = (
            f'torch {torch.__version__} {self.device.type} {self.dtype} {self.kv_dtype} {TILE}'
        )
        self._vocab_size = model.config.vocab_size
        self._model = CachedModel(
            model,
            num_positions=round_up(config.context_tokens),
            dtype=self.dtype,
            device=self.device,
        )
        self._layout = CacheLayout(
            model.config,
            context_tokens=config.context_tokens,
            dtype=self.dtype,
            device=self.device,
            kv_dtype=self.kv_dtype,
        )
        self._caches: list[LaneCache | None] = [None] * config.lanes

    def warm_up(self) -> None:
        """Do nothing: nothing is compiled."""

    @property
    def nbytes(self) -> int:
        """Memory held by the lanes."""
        return sum(cache.nbytes for cache in self._caches if cache is not None)

    def forward(self, batch: Sequence[Rows]) -> list[Logits]:
        """Run one entry after the other: prompt tokens as tiles, the others row by row."""
        return [self._run(rows) for rows in batch]

    def _run(self, rows: Rows) -> Logits:
        found = []
        count, index = len(rows.token_ids), 0
        while index < count:
            position = rows.start + index
            if position < rows.num_prompt:
                taken = min(TILE, rows.num_prompt - position, count - index)
                tile = list(rows.token_ids[index : index + taken]) + [0] * (TILE - taken)
                wanted = [each - index for each in rows.outputs if index <= each < index + taken]
                found += self.prefill_tile(rows.lane, tile, position, wanted)
            else:
                taken = 1
                logits = self.decode_row(
                    rows.lane,
                    rows.token_ids[index],
                    position,
                    with_logits=index in rows.outputs,
                )
                found += [] if logits is None else [logits]
            index += taken
        if not found:
            return np.empty((0, self._vocab_size), np.float32)
        return torch.stack(found).cpu().numpy()

    def prefill_tile(
        self, lane: int, token_ids: list[int], start: int, outputs: Sequence[int] = ()
    ) -> list[torch.Tensor]:
        """Run one padded tile; return the logits [vocab] of the rows that are asked for."""
        ids = torch.tensor(token_ids, device=self.device)
        cache = self._cache(lane)
        h = self._model.advance(ids, start, self._layout.tile_spans(start), cache)
        found = []
        for output in outputs:
            row, position = slice(output, output + 1), start + output
            spans = self._layout.row_spans(position)
            found.append(self._model.finish(ids[row], h[row], position, spans, cache))
        return found

    def decode_row(
        self, lane: int, token_id: int, position: int, *, with_logits: bool
    ) -> torch.Tensor | None:
        """Run one token; without logits the shared layers and the head are left out."""
        ids = torch.tensor([token_id], device=self.device)
        cache = self._cache(lane)
        spans = self._layout.row_spans(position)
        h = self._model.advance(ids, position, spans, cache)
        return self._model.finish(ids, h, position, spans, cache) if with_logits else None

    def parts(self, lane: int, rows: int) -> Parts:
        """Return one piece: a copy shares nothing."""
        return {object(): self._layout.snapshot_bytes(rows)}

    def snapshot(self, lane: int, rows: int, parts: Parts) -> Snapshot:
        """Copy the first `rows` rows of a lane, a whole number of tiles."""
        return Snapshot(rows=rows, parts=parts, payload=self._cache(lane).snapshot(rows))

    def restore(self, lane: int, snapshot: Snapshot) -> None:
        """Put a copy back into a lane."""
        self._cache(lane).restore(snapshot.rows, snapshot.payload)

    def discard(self, snapshot: Snapshot) -> None:
        """Give up a copy; its memory goes with it."""

    def leave(self, lane: int, *, is_poisoned: bool = False) -> None:
        """End a lane's sequence: the next one overwrites it, but for what masks cannot hide."""
        if is_poisoned:
            self._cache(lane).clear()

    def fill_free(self, value: float) -> None:
        """Leave memory as it is: what a mask hides must be finite here."""

    def export(self, snapshot: Snapshot) -> dict[str, torch.Tensor]:
        """Return keys, then values, by owning layer."""
        return {f'{index:04}': part.cpu() for index, part in enumerate(snapshot.payload)}

    def import_parts(self, rows: int) -> Parts:
        """Return the one piece of a copy."""
        return {object(): self._layout.snapshot_bytes(rows)}

    def load(self, rows: int, tensors: Mapping[str, torch.Tensor]) -> Snapshot:
        """Make a copy of what a file held."""
        shapes = self._layout.snapshot_shapes(rows)
        found = [tensors.get(f'{index:04}') for index in range(len(shapes))]
        parts = []
        for tensor, shape in zip(found, shapes, strict=True):
            if tensor is None or tensor.shape != shape or tensor.dtype != self.kv_dtype:
                raise ValueError(f'a part of {shape} in {self.kv_dtype} is missing or different')
            parts.append(tensor.to(self.device))
        if len(tensors) != len(shapes):
            raise ValueError(f'{len(tensors)} parts, expected {len(shapes)}')
        return Snapshot(rows=rows, parts=self.import_parts(rows), payload=tuple(parts))

    def _cache(self, lane: int) -> LaneCache:
        cache = self._caches[lane]
        if cache is None:
            cache = self._caches[lane] = LaneCache(self._layout)
        return cache
