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
Runs all lanes with the device step over pages that are allocated once.

Prompt rows and decode rows are computed by different kernels, each with bits that do not depend
on other rows, so a prompt may be cut and resumed on grid lines. Not chosen by `make_runner` until
a device has shown what it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import numpy as np
import torch

from gemma_node.backends.cuda_buffers import MAX_ROWS
from gemma_node.backends.cuda_buffers import PAGE
from gemma_node.backends.cuda_step import DeviceModel
from gemma_node.backends.cuda_step import Looks
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.native_runner import NativeRunner
from gemma_node.engine.pages import PagePool
from gemma_node.engine.runner import Found
from gemma_node.engine.runner import Logits
from gemma_node.engine.runner import Rows
from gemma_node.engine.sampler import Look
from gemma_node.engine.sampler import Mask
from gemma_node.model.cache_shape import page_bytes
from gemma_node.model.cache_shape import round_up
from gemma_node.model.cache_shape import TILE
from gemma_node.model.gemma4 import Gemma4


class FixedPool(PagePool):
    """A pool over memory that exists already: graphs hold its address, so it never grows."""

    def __init__(self, pages: torch.Tensor) -> None:
        super().__init__(pages[0].numel(), pages.dtype)
        self._whole = pages.view(pages.shape[0], -1)
        self._holders = [0] * pages.shape[0]
        self._free = list(range(pages.shape[0] - 1, -1, -1))

    def view(self, page: int) -> torch.Tensor:
        """Return its numbers."""
        return self._whole[page]

    def _grow(self) -> None:
        raise MemoryError(f'all {len(self._holders)} cache pages on the device are in use')


class DeviceRow:
    """A row of the last pass, whose logits stay on the device; until the next pass."""

    def __init__(self, step: DeviceModel, row: int, looks: Looks) -> None:
        self._step, self._row, self._looks = step, row, looks

    def look(self, mask: Mask | None) -> Look:
        """Return what a draw needs; without a mask the pass has said it already."""
        looks, row = self._looks, self._row
        if mask is not None:
            looks, row = self._step.look(row, mask), 0
        best, kept, total = looks.values[row].tolist()
        return Look(total, kept, int(looks.best[row]), best)

    def numbers(self) -> Logits:
        """Bring its logits to the host."""
        found: Logits = self._step.logits(self._row + 1)[self._row]
        return found


class DeviceRunner(NativeRunner):
    """Owns packed weights, fixed buffers, pages and which lane holds which; engine thread only."""

    grid = TILE
    chunk = 2048

    def __init__(
        self,
        model: Gemma4,
        config: EngineConfig,
        ops: ModuleType,
        *,
        kv_dtype: str = 'bfloat16',
        ple_on_host: bool = False,
    ) -> None:
        self._window = model.config.sliding_window
        device = torch.device(config.device)
        counts = num_pages(model, config, 1 if kv_dtype == 'float8' else 2)
        self._step = DeviceModel(
            model,
            ops=ops,
            device=device,
            lanes=config.lanes,
            context_tokens=config.context_tokens,
            num_pages=counts,
            kv_dtype=kv_dtype,
            max_prompt_rows=min(self.chunk, round_up(config.context_tokens)),
            ple_on_host=ple_on_host,
        )
        self.identity = f'device {ops.NAME} {torch.__version__} {device.type} {kv_dtype} {TILE}'
        self._pools = tuple(FixedPool(pool) for pool in self._step.pools)
        shape = (config.lanes, round_up(config.context_tokens) // PAGE)
        self._pages = tuple(np.full(shape, -1, np.int32) for _ in self._pools)
        self._addresses = (np.zeros(shape, np.int64), np.zeros(shape, np.int64))

    def forward(self, batch: Sequence[Rows]) -> Sequence[Found]:
        """
        Run prompt rows entry by entry, and all other rows together, 16 at a time.

        Logits of a single pass stay on the device; those of more passes are brought here.
        """
        for rows in batch:
            self._make_writable(rows.lane, rows.start, len(rows.token_ids))
        others = [
            (entry, index)
            for entry, rows in enumerate(batch)
            for index in range(len(rows.token_ids))
            if rows.start + index >= rows.num_prompt
        ]
        num_rows = sum(len(rows.token_ids) for rows in batch)
        if len(others) == num_rows <= MAX_ROWS:
            looks = self._decode(batch, others)
            places = {each: row for row, each in enumerate(others)}
            return [
                [DeviceRow(self._step, places[entry, index], looks) for index in rows.outputs]
                for entry, rows in enumerate(batch)
            ]
        if len(batch) == 1 and not others and batch[0].outputs == (num_rows - 1,):
            looks = self._prompt_looks(batch[0])
            return [[DeviceRow(self._step, 0, looks)]]
        found: list[dict[int, Logits]] = [self._prompt(rows) for rows in batch]
        for first in range(0, len(others), MAX_ROWS):
            group = others[first : first + MAX_ROWS]
            self._decode(batch, group)
            logits = self._step.logits(len(group))
            for row, (entry, index) in enumerate(group):
                found[entry][index] = logits[row]
        return [self._wanted(rows, known) for rows, known in zip(batch, found, strict=True)]

    def _decode(self, batch: Sequence[Rows], group: list[tuple[int, int]]) -> Looks:
        ids = [batch[entry].token_ids[index] for entry, index in group]
        positions = [batch[entry].start + index for entry, index in group]
        lanes = [batch[entry].lane for entry, _ in group]
        return self._step.decode(
            np.array(ids, np.int32), np.array(positions, np.int32), np.array(lanes, np.int32)
        )

    def _prompt_looks(self, rows: Rows) -> Looks:
        """Run prompt rows of which the last alone is wanted."""
        most, count = self._step.max_prompt_rows, len(rows.token_ids)
        looks = None
        for first in range(0, count, most):
            ids = np.array(rows.token_ids[first : first + most], np.int32)
            wanted = (len(ids) - 1,) if first + most >= count else ()
            looks = self._step.prompt(ids, rows.start + first, rows.lane, wanted)
        assert looks is not None
        return looks

    def _wanted(self, rows: Rows, known: dict[int, Logits]) -> Logits:
        if not rows.outputs:
            return np.empty((0, self._step.config.vocab_size), np.float32)
        return np.stack([known[index] for index in rows.outputs])

    def _prompt(self, rows: Rows) -> dict[int, Logits]:
        """Run what lies in the prompt; return logits by index."""
        count = min(len(rows.token_ids), rows.num_prompt - rows.start)
        known: dict[int, Logits] = {}
        most = self._step.max_prompt_rows
        for first in range(0, max(0, count), most):
            ids = np.array(rows.token_ids[first : min(first + most, count)], np.int32)
            wanted = [each - first for each in rows.outputs if 0 <= each - first < len(ids)]
            self._step.prompt(ids, rows.start + first, rows.lane, wanted)
            if wanted:
                before, last = self._step.kept_logits(), self._step.logits(1)
                for row, logits in zip(wanted, [*before, *last], strict=True):
                    known[first + row] = logits
        return known

    def _place(self, kind: int, lane: int, number: int, page: int) -> None:
        super()._place(kind, lane, number, page)
        self._step.set_page(kind, lane, number, page)


def num_pages(model: Gemma4, config: EngineConfig, item_bytes: int) -> tuple[int, int]:
    """Return pages of full and of sliding layers: the lanes' most, and the states' budget."""
    pages = round_up(config.context_tokens) // PAGE
    # A lane lets go what is behind its window when its next pass begins.
    seen = round_up(model.config.sliding_window) + DeviceRunner.chunk
    in_window = min(pages, seen // TILE + 2)
    full, sliding = page_bytes(model.config, item_bytes)
    # A state holds both in about this proportion. One more of all while pages are copied and
    # while a prompt pass longer than a tile runs.
    per_state = pages * full + in_window * sliding
    states = config.state_budget_bytes // max(1, per_state)
    extra = max(1, states)
    return (
        (config.lanes + extra) * pages + 1 if full else 1,
        (config.lanes + extra) * in_window + 1 if sliding else 1,
    )
