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
on other rows, so a prompt may be cut and resumed on grid lines, prompts of several lanes make one
pass, and that pass runs beside decode steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import numpy as np
import torch

from gemma_node.backends.cuda_buffers import MAX_ROWS
from gemma_node.backends.cuda_buffers import PAGE
from gemma_node.backends.cuda_step import DECODED
from gemma_node.backends.cuda_step import DeviceModel
from gemma_node.backends.cuda_step import Looks
from gemma_node.backends.cuda_step import places
from gemma_node.backends.cuda_step import prompt_rows
from gemma_node.backends.cuda_step import Segment
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.native_runner import NativeRunner
from gemma_node.engine.pages import PagePool
from gemma_node.engine.runner import Found
from gemma_node.engine.runner import Logits
from gemma_node.engine.runner import Rows
from gemma_node.engine.sampler import Look
from gemma_node.engine.sampler import Mask
from gemma_node.engine.sampler import Row
from gemma_node.model.cache_shape import page_bytes
from gemma_node.model.cache_shape import round_up
from gemma_node.model.cache_shape import TILE
from gemma_node.model.gemma4 import Gemma4

# Prompts of several lanes are one pass of at most so many rows; that takes little longer than one
# of 128 rows does.
_BATCH = 512
# Tokens of a state that is rather short.
_SHORT_STATE = 1024


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

    def fill_free(self, value: float) -> None:
        """Write a number into all pages without a holder, in whatever they are stored as."""
        stored = torch.tensor(value)
        if self.dtype == torch.uint8:
            stored = stored.to(torch.float8_e4m3fn).view(torch.uint8)
        if self._free:
            free = torch.tensor(self._free, device=self._whole.device)
            self._whole.index_fill_(0, free, float(stored))

    def _grow(self) -> None:
        raise MemoryError(f'all {len(self._holders)} cache pages on the device are in use')


class DeviceRow:
    """A row of the last pass, whose logits stay on the device; until the next pass."""

    def __init__(
        self,
        step: DeviceModel,
        row: int,
        looks: Looks,
        *,
        mask: Mask | None = None,
        of_prompt: bool = False,
    ) -> None:
        self._step, self._row, self._looks = step, row, looks
        # What the pass looked through: None for all ids.
        self._mask = mask
        self._of_prompt = of_prompt

    def look(self, mask: Mask | None) -> Look:
        """Return what a draw needs; through the mask that the pass had, it has said it already."""
        looks, row = self._looks, self._row - self._looks.row
        if mask is not self._mask:
            if mask is None:
                mask = np.full(-(-self._step.config.vocab_size // 32), -1, np.int32)
            looks = self._step.look(self._row, mask, prompts=self._of_prompt)
            row = 0
        best, kept, total = looks.values[row].tolist()
        return Look(total, kept, int(looks.best[row]), best)

    def numbers(self) -> Logits:
        """Bring its logits to the host."""
        return self._step.logits_of(self._row, prompts=self._of_prompt)


class DeviceRunner(NativeRunner):
    """Owns packed weights, fixed buffers, pages and which lane holds which; engine thread only."""

    grid = TILE
    chunk = 2048
    max_rows = MAX_ROWS
    free_rows = 8
    overlaps = True

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
        self.batch_rows = min(_BATCH, self._step.max_prompt_rows)
        self.identity = f'device {ops.NAME} {torch.__version__} {device.type} {kv_dtype} {TILE}'
        self._words = -(-model.config.vocab_size // 32)
        self._pools = tuple(FixedPool(pool) for pool in self._step.pools)
        shape = (config.lanes, round_up(config.context_tokens) // PAGE)
        self._pages = tuple(np.full(shape, -1, np.int32) for _ in self._pools)
        self._addresses = (np.zeros(shape, np.int64), np.zeros(shape, np.int64))
        # Where lanes stand whose last pass was of a prompt, and what was begun.
        self._ends: dict[int, int] = {}
        self._begun: list[Rows] = []

    def warm_up(self) -> None:
        """Compile and capture all that serving runs, while no lane holds anything."""
        most = self._step.max_prompt_rows
        counts = sorted({prompt_rows(count) for count in range(PAGE, most + 1, PAGE)})
        self._step.warm_up(DECODED, [min(each, most) for each in counts])

    def begin(self, batch: Sequence[Rows]) -> None:
        """Start prompt rows of several lanes; each wants its last row or none."""
        self._let_go()
        for rows in batch:
            self._make_writable(rows.lane, rows.start, len(rows.token_ids))
        segments = [
            Segment(rows.lane, rows.start, np.array(rows.token_ids, np.int32)) for rows in batch
        ]
        wanted = [
            place + len(rows.token_ids) - 1
            for place, rows in zip(places(segments), batch, strict=True)
            if rows.outputs
        ]
        masks = [rows.mask for rows in batch if rows.outputs]
        self._step.begin(segments, wanted, self._joined_masks(masks))
        self._begun = list(batch)

    def is_done(self) -> bool:
        """Whether what was begun has ended."""
        return self._step.is_done()

    def take(self) -> Sequence[Found]:
        """Wait for what was begun and return its rows."""
        batch, self._begun = self._begun, []
        looks = self._step.take(sum(bool(rows.outputs) for rows in batch))
        found: list[Found] = []
        row = 0
        for rows in batch:
            self._ends[rows.lane] = rows.start + len(rows.token_ids)
            if not rows.outputs:
                found.append(())
                continue
            found.append([DeviceRow(self._step, row, looks, mask=rows.mask, of_prompt=True)])
            row += 1
        return found

    def wait(self) -> None:
        """Wait for what was begun, and leave it to `take`."""
        self._step.take(0)

    def forward(self, batch: Sequence[Rows]) -> Sequence[Found]:
        """
        Run prompt rows entry by entry, and all other rows together, 16 at a time.

        Logits of the last pass stay on the device; those of passes before it are brought here.
        """
        others = [
            (entry, index)
            for entry, rows in enumerate(batch)
            for index in range(len(rows.token_ids))
            if rows.start + index >= rows.num_prompt
        ]
        num_rows = sum(len(rows.token_ids) for rows in batch)
        if len(others) < num_rows:
            self._let_go()
        for rows in batch:
            self._make_writable(rows.lane, rows.start, len(rows.token_ids))
            if rows.start < rows.num_prompt:
                self._ends[rows.lane] = rows.start + len(rows.token_ids)
        if len(batch) == 1 and not others and batch[0].outputs == (num_rows - 1,):
            looks = self._prompt_looks(batch[0])
            return [[DeviceRow(self._step, looks.row, looks, of_prompt=True)]]
        known: list[dict[int, Row]] = [{} for _ in batch]
        if len(others) < num_rows:
            known = [dict(self._prompt(rows)) for rows in batch]
        groups = [others[first : first + MAX_ROWS] for first in range(0, len(others), MAX_ROWS)]
        for number, group in enumerate(groups):
            masks = [
                batch[entry].mask if batch[entry].outputs[:1] == (index,) else None
                for entry, index in group
            ]
            looks = self._decode(batch, group, masks)
            if number + 1 == len(groups):
                for row, (entry, index) in enumerate(group):
                    known[entry][index] = DeviceRow(self._step, row, looks, mask=masks[row])
            elif any(index in batch[entry].outputs for entry, index in group):
                logits = self._step.logits(len(group))
                for row, (entry, index) in enumerate(group):
                    known[entry][index] = logits[row]
        return [
            [each[index] for index in rows.outputs]
            for rows, each in zip(batch, known, strict=True)
        ]

    def _decode(
        self,
        batch: Sequence[Rows],
        group: list[tuple[int, int]],
        masks: Sequence[Mask | None],
    ) -> Looks:
        ids = [batch[entry].token_ids[index] for entry, index in group]
        positions = [batch[entry].start + index for entry, index in group]
        lanes = [batch[entry].lane for entry, _ in group]
        return self._step.decode(
            np.array(ids, np.int32), np.array(positions, np.int32), np.array(lanes, np.int32),
            self._joined_masks(masks),
        )  # fmt: skip

    def _joined_masks(self, masks: Sequence[Mask | None]) -> Mask | None:
        """Return masks [rows, words] of a pass, open where there is none; None for all open."""
        if all(mask is None for mask in masks):
            return None
        joined = np.full((len(masks), self._words), -1, np.int32)
        for row, mask in zip(joined, masks, strict=True):
            if mask is not None:
                row[:] = mask
        return joined

    def _let_go(self) -> None:
        """Give up what lanes have behind their windows since their prompts ran and were kept."""
        for lane, end in self._ends.items():
            self._release_behind(lane, end)
        self._ends.clear()

    def _make_writable(self, lane: int, start: int, count: int) -> None:
        # States end where pages do, so a page that this lane has begun is its own.
        inside = start % PAGE
        if not inside or inside + count > PAGE:
            super()._make_writable(lane, start, count)

    def leave(self, lane: int, *, is_poisoned: bool = False) -> None:
        """End a lane's sequence."""
        self._ends.pop(lane, None)
        super().leave(lane, is_poisoned=is_poisoned)

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

    def _prompt(self, rows: Rows) -> dict[int, Logits]:
        """Run what lies in the prompt; return logits by index."""
        count = min(len(rows.token_ids), rows.num_prompt - rows.start)
        known: dict[int, Logits] = {}
        most = self._step.max_prompt_rows
        for first in range(0, max(0, count), most):
            ids = np.array(rows.token_ids[first : min(first + most, count)], np.int32)
            wanted = [each - first for each in rows.outputs if 0 <= each - first < len(ids)]
            looks = self._step.prompt(ids, rows.start + first, rows.lane, wanted)
            if looks is not None:
                before = self._step.kept_logits()
                last = self._step.logits(looks.row + 1, prompts=True)[looks.row]
                for row, logits in zip(wanted, [*before, last], strict=True):
                    known[first + row] = logits
        return known

    def _place(self, kind: int, lane: int, number: int, page: int) -> None:
        super()._place(kind, lane, number, page)
        self._step.set_page(kind, lane, number, page)


def num_pages(model: Gemma4, config: EngineConfig, item_bytes: int) -> tuple[int, int]:
    """Return pages of full and of sliding layers: the lanes' most, and the states' budget."""
    pages = round_up(config.context_tokens) // PAGE
    # A lane lets go what is behind its window when the next prompt pass begins.
    in_window = min(pages, round_up(model.config.sliding_window) // TILE + 2)
    full, sliding = page_bytes(model.config, item_bytes)

    def states(tokens: int) -> int:
        each = min(pages, tokens // TILE) * full + in_window * sliding
        # One at least where any are kept: of its pages, whoever goes on from it gets copies.
        least = int(config.state_budget_bytes > 0)
        return max(least, config.state_budget_bytes // max(1, each))

    # Short states hold more of sliding layers in proportion, long ones more of full layers.
    lanes = config.lanes
    running = min(pages, DeviceRunner.chunk // TILE) + lanes
    return (
        (lanes + states(config.context_tokens)) * pages + 1 if full else 1,
        (lanes + states(_SHORT_STATE)) * in_window + running + 1 if sliding else 1,
    )
