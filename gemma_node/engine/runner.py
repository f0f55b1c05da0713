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
Runs tiles and rows of lanes through the cached model.

Prefill always runs whole tiles on the position grid and decode always one row of one lane, so a
row's bits depend on its tokens and position alone: not on other lanes, turn ends or resumption.
"""

from __future__ import annotations

import torch

from gemma_node.engine.config import EngineConfig
from gemma_node.engine.kv_cache import CacheLayout
from gemma_node.engine.kv_cache import LaneCache
from gemma_node.engine.kv_cache import Snapshot
from gemma_node.model.cache_shape import round_up
from gemma_node.model.cached import CachedModel
from gemma_node.model.gemma4 import Gemma4

_DTYPES = {'float32': torch.float32, 'bfloat16': torch.bfloat16}


class Runner:
    """
    Owns the packed weights and the lanes' caches.

    Engine thread only, under inference mode. A lane's cache is allocated at its first use.
    """

    def __init__(self, model: Gemma4, config: EngineConfig) -> None:
        stored = model.norm.weight.dtype
        self.device = torch.device(config.device)
        self.dtype = _DTYPES.get(config.compute_dtype, stored)
        if config.compute_dtype == 'auto' and self.device.type == 'cpu':
            self.dtype = torch.float32
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
        )
        self._caches: list[LaneCache | None] = [None] * config.lanes

    @property
    def nbytes(self) -> int:
        """Memory held by the lanes."""
        return sum(cache.nbytes for cache in self._caches if cache is not None)

    def prefill_tile(
        self, lane: int, token_ids: list[int], start: int, logits_row: int | None
    ) -> torch.Tensor | None:
        """Run one padded tile; return the logits [vocab] of one of its rows, if asked."""
        ids = torch.tensor(token_ids, device=self.device)
        cache = self._cache(lane)
        h = self._model.advance(ids, start, self._layout.tile_spans(start), cache)
        if logits_row is None:
            return None
        row = slice(logits_row, logits_row + 1)
        position = start + logits_row
        spans = self._layout.row_spans(position)
        return self._model.finish(ids[row], h[row], position, spans, cache)

    def decode_row(
        self, lane: int, token_id: int, position: int, *, with_logits: bool
    ) -> torch.Tensor | None:
        """Run one token; without logits the shared layers and the head are left out."""
        ids = torch.tensor([token_id], device=self.device)
        cache = self._cache(lane)
        spans = self._layout.row_spans(position)
        h = self._model.advance(ids, position, spans, cache)
        return self._model.finish(ids, h, position, spans, cache) if with_logits else None

    def snapshot(self, lane: int, rows: int) -> Snapshot:
        """Copy the first `rows` rows of a lane, a whole number of tiles."""
        return self._cache(lane).snapshot(rows)

    def snapshot_bytes(self, rows: int) -> int:
        """Return how large such a copy is."""
        return self._layout.snapshot_bytes(rows)

    def restore(self, lane: int, snapshot: Snapshot) -> None:
        """Put a copy back into a lane."""
        self._cache(lane).restore(snapshot)

    def clear(self, lane: int) -> None:
        """Zero a lane after values that were not finite."""
        self._cache(lane).clear()

    def _cache(self, lane: int) -> LaneCache:
        cache = self._caches[lane]
        if cache is None:
            cache = self._caches[lane] = LaneCache(self._layout)
        return cache
