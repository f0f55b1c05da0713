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
Runs all lanes in one native pass over pages of keys and values.

Prefill and decode give equal bits, so a prompt may be cut and resumed anywhere (grid 1), and
drafts are checked in one pass. A snapshot refers to the lane's pages; whoever writes into a page
that others hold gets a copy first.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from gemma_node.engine.config import EngineConfig
from gemma_node.engine.pages import PagePool
from gemma_node.engine.runner import Found
from gemma_node.engine.runner import Parts
from gemma_node.engine.runner import Rows
from gemma_node.engine.runner import Snapshot
from gemma_node.kernels import native
from gemma_node.kernels.native import PAGE
from gemma_node.model.cache_shape import round_up
from gemma_node.model.cache_shape import TILE
from gemma_node.model.cached_native import NativeModel
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.kv_form import KV_DTYPES

_NAMES = ('full', 'sliding')


class _Held(NamedTuple):
    """Pages of one layer type: the first one's number and the ids from there on."""

    first: int
    pages: tuple[int, ...]


class NativeRunner:
    """
    Owns the packed weights, the pages and which lane holds which.

    Engine thread only.
    """

    grid = 1
    chunk = TILE
    shares_passes = True
    max_rows = 0
    free_rows = 0
    overlaps = False

    def __init__(self, model: Gemma4, config: EngineConfig) -> None:
        self._window = model.config.sliding_window
        kv_dtype = KV_DTYPES[config.kv_dtype]
        self._model = NativeModel(
            model,
            num_positions=round_up(config.context_tokens),
            num_threads=config.num_threads or torch.get_num_threads(),
            kv_dtype=kv_dtype,
        )
        self.identity = f'native {native.ABI} {native.isa()} {config.kv_dtype} {PAGE}'
        self._pools = tuple(
            PagePool(self._model.page_elements(is_sliding=is_sliding), kv_dtype)
            for is_sliding in (False, True)
        )
        num_pages = round_up(config.context_tokens) // PAGE
        shape = (config.lanes, num_pages)
        self._pages = tuple(np.full(shape, -1, np.int32) for _ in _NAMES)
        self._addresses = (np.zeros(shape, np.int64), np.zeros(shape, np.int64))

    def warm_up(self) -> None:
        """Do nothing: nothing is compiled."""

    @property
    def nbytes(self) -> int:
        """Bytes of the pages that lanes hold."""
        return sum(
            pool.page_bytes * int(np.count_nonzero(pages >= 0))
            for pool, pages in zip(self._pools, self._pages, strict=True)
        )

    def forward(self, batch: Sequence[Rows]) -> Sequence[Found]:
        """Run all rows in one pass."""
        for rows in batch:
            self._make_writable(rows.lane, rows.start, len(rows.token_ids))
        counts = [len(rows.token_ids) for rows in batch]
        ids = _joined([each for rows in batch for each in rows.token_ids])
        lanes = np.repeat(_joined([rows.lane for rows in batch]), counts)
        positions: list[int] = []
        outputs: list[int] = []
        first = 0
        for rows, count in zip(batch, counts, strict=True):
            positions += range(rows.start, rows.start + count)
            outputs += [first + each for each in rows.outputs]
            first += count
        logits = self._model.forward(
            ids, _joined(positions), lanes, _joined(outputs), self._addresses
        )
        ends = np.cumsum([len(rows.outputs) for rows in batch])
        return np.split(logits, ends[:-1])

    def parts(self, lane: int, rows: int) -> Parts:
        """Return the pages that rows up to `rows` need to go on from there, or one earlier."""
        return {
            (name, page): pool.page_bytes
            for name, pool, held in zip(_NAMES, self._pools, self._held(lane, rows), strict=True)
            for page in held.pages
        }

    def snapshot(self, lane: int, rows: int, parts: Parts) -> Snapshot:
        """Hold the lane's pages."""
        payload = self._held(lane, rows)
        for pool, held in zip(self._pools, payload, strict=True):
            for page in held.pages:
                pool.hold(page)
        return Snapshot(rows=rows, parts=parts, payload=payload)

    def restore(self, lane: int, snapshot: Snapshot) -> None:
        """Let the lane hold a snapshot's pages."""
        self.leave(lane)
        for kind, held in enumerate(snapshot.payload):
            for number, page in enumerate(held.pages, held.first):
                self._pools[kind].hold(page)
                self._place(kind, lane, number, page)

    def discard(self, snapshot: Snapshot) -> None:
        """Give up a snapshot's pages."""
        for pool, held in zip(self._pools, snapshot.payload, strict=True):
            for page in held.pages:
                pool.drop(page)

    def leave(self, lane: int, *, is_poisoned: bool = False) -> None:
        """Give up a lane's pages; nothing is zeroed, as no pass reads what it may not see."""
        for kind in range(len(_NAMES)):
            for number in np.flatnonzero(self._pages[kind][lane] >= 0):
                self._release(kind, lane, int(number))

    def fill_free(self, value: float) -> None:
        """Write a number into all pages that nobody holds."""
        for pool in self._pools:
            pool.fill_free(value)

    def export(self, snapshot: Snapshot) -> dict[str, torch.Tensor]:
        """Return the pages by layer type; sliding ones start at the window."""
        return {
            name: torch.stack([pool.view(page) for page in held.pages])
            for name, pool, held in zip(_NAMES, self._pools, snapshot.payload, strict=True)
        }

    def import_parts(self, rows: int) -> Parts:
        """Return new pages of both types."""
        return {
            object(): pool.page_bytes
            for pool, (first, last) in zip(self._pools, self._ranges(rows), strict=True)
            for _ in range(first, last)
        }

    def load(self, rows: int, tensors: Mapping[str, torch.Tensor]) -> Snapshot:
        """Fill new pages with what a file held."""
        ranges = self._ranges(rows)
        for name, pool, (first, last) in zip(_NAMES, self._pools, ranges, strict=True):
            tensor, shape = tensors.get(name), (last - first, pool.num_elements)
            if tensor is None or tensor.shape != shape or tensor.dtype != pool.dtype:
                raise ValueError(f'the {name} pages are missing or not {shape} in {pool.dtype}')
        payload, parts = [], {}
        for name, pool, (first, last) in zip(_NAMES, self._pools, ranges, strict=True):
            pages = tuple(pool.take() for _ in range(first, last))
            for page, values in zip(pages, tensors[name], strict=True):
                pool.view(page).copy_(values)
                parts[name, page] = pool.page_bytes
            payload.append(_Held(first, pages))
        return Snapshot(rows=rows, parts=parts, payload=tuple(payload))

    def _ranges(self, rows: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return first and last page number of each layer type after `rows` rows."""
        last = -(-rows // PAGE)
        return (0, last), (max(0, rows - self._window) // PAGE, last)

    def _held(self, lane: int, rows: int) -> tuple[_Held, ...]:
        return tuple(
            _Held(first, tuple(self._pages[kind][lane, first:last].tolist()))
            for kind, (first, last) in enumerate(self._ranges(rows))
        )

    def _make_writable(self, lane: int, start: int, count: int) -> None:
        """Give the lane pages of its own for the rows, and let go what no row sees any more."""
        for kind, pool in enumerate(self._pools):
            pages = self._pages[kind][lane]
            for number in range(start // PAGE, -(-(start + count) // PAGE)):
                page = int(pages[number])
                if page < 0:
                    self._place(kind, lane, number, pool.take())
                elif pool.is_shared(page):
                    self._place(kind, lane, number, pool.own(page))
        self._release_behind(lane, start)

    def _release_behind(self, lane: int, start: int) -> None:
        """Let go what no row from `start` on sees."""
        behind = max(0, start - self._window) // PAGE
        for number in range(behind - 1, -1, -1):
            if self._pages[1][lane, number] < 0:
                break
            self._release(1, lane, number)

    def _place(self, kind: int, lane: int, number: int, page: int) -> None:
        self._pages[kind][lane, number] = page
        self._addresses[kind][lane, number] = self._pools[kind].address(page)

    def _release(self, kind: int, lane: int, number: int) -> None:
        self._pools[kind].drop(int(self._pages[kind][lane, number]))
        self._pages[kind][lane, number] = -1
        self._addresses[kind][lane, number] = 0


def _joined(values: list[int]) -> npt.NDArray[np.int32]:
    return np.array(values, np.int32)
