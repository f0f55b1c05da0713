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
Attention over pages: single rows cut at fixed positions, and tiles of a prompt.

A decode row's keys are cut into blocks at absolute multiples of a block's length, whatever the
context's length and whoever else is there; the parts are joined in ascending order. A prompt's
tile goes over blocks of keys in ascending order, and a block of which a row sees nothing leaves
that row as it was, bit for bit. Scores are not scaled; query head n reads head n // group.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from gemma_node.kernels.triton_matmul import _begin
from gemma_node.kernels.triton_matmul import _dot
from gemma_node.kernels.triton_matmul import _e4m3
from gemma_node.kernels.triton_matmul import _prefetch
from gemma_node.kernels.triton_matmul import early
from gemma_node.kernels.triton_matmul import has_assembly
from gemma_node.kernels.triton_matmul import INTERPRETED
from gemma_node.kernels.triton_rows import PAGE
from gemma_node.kernels.tuning import ATTENTION_BLOCKS

_TILE = 16
_JOIN = 32


@triton.jit
def _cached(pool, at, seen, FP8: tl.constexpr, ASM: tl.constexpr):
    values = tl.load(pool + at, mask=seen, other=0)
    if FP8:
        values = _e4m3(values, ASM)
    return values


@triton.jit
def _attend(
    q, pool, table, positions, lanes, parts, stats,
    table_stride, page_stride, slot_offset, value_offset, num_parts,
    D: tl.constexpr, GROUP: tl.constexpr, HQ: tl.constexpr, NQ: tl.constexpr,
    BLOCK: tl.constexpr, WINDOW: tl.constexpr, PAGE: tl.constexpr,
    FP8: tl.constexpr, WIDE: tl.constexpr, ASM: tl.constexpr, EARLY: tl.constexpr,
):  # fmt: skip
    """Do one block of keys for the queries of one row that read one head."""
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
    row = tl.program_id(0)
    kv = tl.program_id(1)
    part = tl.program_id(2)
    last = tl.load(positions + row)
    base = part * BLOCK
    if WINDOW > 0:
        base += tl.maximum(last - WINDOW + 1, 0) // BLOCK * BLOCK
    if base <= last:
        inside = tl.arange(0, BLOCK)
        position = base + inside
        seen = position <= last
        if WINDOW > 0:
            seen &= position > last - WINDOW
        lane = tl.load(lanes + row)
        # A block lies in one page.
        page = tl.load(table + lane * table_stride + base // PAGE).to(tl.int64)
        d = tl.arange(0, D)
        at = page * page_stride + slot_offset + (kv * PAGE + base % PAGE + inside) * D
        if EARLY:
            # All keys but those of this step's rows lie there already.
            ITEM: tl.constexpr = pool.dtype.element_ty.primitive_bitwidth // 8
            line = tl.arange(0, (D * ITEM + 127) // 128) * (128 // ITEM)
            _prefetch(pool + at[:, None] + line[None, :])
            _prefetch(pool + at[:, None] + value_offset + line[None, :])
            tl.extra.cuda.gdc_wait()
        n = tl.arange(0, NQ)
        heads = (row.to(tl.int64) * HQ + kv * GROUP + n) * D
        asked = tl.load(q + heads[None, :] + d[:, None], mask=n[None, :] < GROUP, other=0.0)
        keys = _cached(pool, at[:, None] + d[None, :], seen[:, None], FP8, ASM)
        values = _cached(pool, at[:, None] + value_offset + d[None, :], seen[:, None], FP8, ASM)
        scores = _dot(keys, asked, tl.zeros((BLOCK, NQ), dtype=tl.float32), WIDE)
        scores = tl.where(seen[:, None], scores, float('-inf'))
        top = tl.max(scores, 0)
        weights = tl.exp(scores - top[None, :])
        out = (row.to(tl.int64) * num_parts + part) * HQ + kv * GROUP + n
        tl.store(stats + 2 * out, top, mask=n < GROUP)
        tl.store(stats + 2 * out + 1, tl.sum(weights, 0), mask=n < GROUP)
        joined = _dot(tl.trans(values), weights, tl.zeros((D, NQ), dtype=tl.float32), WIDE)
        tl.store(parts + out[None, :] * D + d[:, None], joined, mask=n[None, :] < GROUP)


@triton.jit
def _combine(
    parts, stats, positions, out, num_parts,
    D: tl.constexpr, HQ: tl.constexpr, BLOCK: tl.constexpr, WINDOW: tl.constexpr,
    JOIN: tl.constexpr, EARLY: tl.constexpr,
):  # fmt: skip
    """Join the parts of one head of one row."""
    _begin(EARLY)
    row = tl.program_id(0)
    head = tl.program_id(1)
    last = tl.load(positions + row)
    count = last // BLOCK + 1
    if WINDOW > 0:
        count -= tl.maximum(last - WINDOW + 1, 0) // BLOCK
    inside = tl.arange(0, JOIN)
    d = tl.arange(0, D)
    start = row.to(tl.int64) * num_parts * HQ + head
    top = tl.full((JOIN,), float('-inf'), tl.float32)
    for first in range(0, count, JOIN):
        index = first + inside
        found = tl.load(stats + 2 * (start + index * HQ), mask=index < count,
                        other=float('-inf'))
        top = tl.maximum(top, found)
    highest = tl.max(top, 0)
    total = 0.0
    acc = tl.zeros((D,), dtype=tl.float32)
    for first in range(0, count, JOIN):
        index = first + inside
        at = start + index * HQ
        found = tl.load(stats + 2 * at, mask=index < count, other=float('-inf'))
        share = tl.exp(found - highest)
        total += tl.sum(share * tl.load(stats + 2 * at + 1, mask=index < count, other=0.0), 0)
        values = tl.load(parts + at[:, None] * D + d[None, :], mask=index[:, None] < count,
                         other=0.0)
        acc += tl.sum(share[:, None] * values, 0)
    to = out + (row.to(tl.int64) * HQ + head) * D + d
    tl.store(to, (acc / total).to(out.dtype.element_ty))


@triton.jit
def _attend_prompt(
    q, pool, table, positions, lanes, ends, out,
    table_stride, page_stride, slot_offset, value_offset,
    D: tl.constexpr, GROUP: tl.constexpr, NQ: tl.constexpr, HQ: tl.constexpr,
    TILE: tl.constexpr, BLOCK: tl.constexpr, WINDOW: tl.constexpr, PAGE: tl.constexpr,
    FP8: tl.constexpr, WIDE: tl.constexpr, ASM: tl.constexpr, EARLY: tl.constexpr,
):  # fmt: skip
    """Do a tile of consecutive rows of one lane, all queries that read one head."""
    _begin(EARLY)
    tile = tl.program_id(0)
    kv = tl.program_id(1)
    lane = tl.load(lanes + tile * TILE)
    start = tl.load(positions + tile * TILE)
    end = tl.load(ends + tile * TILE)
    r = tl.arange(0, TILE * NQ)
    row = tile * TILE + r % TILE
    asking = start + r % TILE
    d = tl.arange(0, D)
    at = ((row.to(tl.int64) * HQ) + kv * GROUP + r // TILE) * D
    # Tiles have powers of two of queries a head; those past the group are thrown away.
    mine = (r // TILE < GROUP)[:, None] & (d[None, :] >= 0)
    if NQ == GROUP:
        asked = tl.load(q + at[:, None] + d[None, :])
    else:
        asked = tl.load(q + at[:, None] + d[None, :], mask=mine, other=0.0)
    acc = tl.zeros((TILE * NQ, D), dtype=tl.float32)
    top = tl.full((TILE * NQ,), float('-inf'), tl.float32)
    total = tl.zeros((TILE * NQ,), dtype=tl.float32)
    low = 0
    if WINDOW > 0:
        low = tl.maximum(start - WINDOW + 1, 0) // BLOCK * BLOCK
    high = tl.minimum(start + TILE, end)
    for base in range(low, high, BLOCK):
        inside = tl.arange(0, BLOCK)
        position = base + inside
        page = tl.load(table + lane * table_stride + base // PAGE).to(tl.int64)
        to = page * page_stride + slot_offset + (kv * PAGE + base % PAGE + inside) * D
        there = (position < end)[:, None] & (d[None, :] >= 0)
        keys = _cached(pool, to[:, None] + d[None, :], there, FP8, ASM)
        zero = tl.zeros((TILE * NQ, BLOCK), dtype=tl.float32)
        scores = _dot(asked, tl.trans(keys), zero, WIDE)
        seen = (position[None, :] <= asking[:, None]) & (position[None, :] < end)
        if WINDOW > 0:
            seen &= position[None, :] > asking[:, None] - WINDOW
        scores = tl.where(seen, scores, float('-inf'))
        higher = tl.maximum(top, tl.max(scores, 1))
        # Nothing seen so far: any finite number keeps what follows free of NaN.
        safe = tl.where(higher == float('-inf'), 0.0, higher)
        weights = tl.exp(scores - safe[:, None])
        kept = tl.exp(top - safe)
        total = total * kept + tl.sum(weights, 1)
        values = _cached(pool, to[:, None] + value_offset + d[None, :], there, FP8, ASM)
        acc = _dot(weights, values, acc * kept[:, None], WIDE)
        top = higher
    acc = acc / tl.where(total == 0.0, 1.0, total)[:, None]
    if NQ == GROUP:
        tl.store(out + at[:, None] + d[None, :], acc.to(out.dtype.element_ty))
    else:
        tl.store(out + at[:, None] + d[None, :], acc.to(out.dtype.element_ty), mask=mine)


def attend(
    q: torch.Tensor,
    pool: torch.Tensor,
    table: torch.Tensor,
    positions: torch.Tensor,
    lanes: torch.Tensor,
    slot: int,
    window: int,
    parts: torch.Tensor,
    stats: torch.Tensor,
    out: torch.Tensor,
    rows: int,
) -> None:
    """
    Attend with the first `rows` rows, each at a position of a lane.

    :param q: bfloat16 [., num_heads, D]; pool, table as in `heads`
    :param window: how many newest positions a row sees; 0 for all
    :param parts: float32 [., at least attention_parts, num_heads, D], and `stats` [.., 2]: scratch
    :param out: bfloat16 [., num_heads * D]
    """
    num_heads, size = q.shape[1:]
    num_kv_heads = pool.shape[3]
    group, block = num_heads // num_kv_heads, ATTENTION_BLOCKS[window > 0]
    _attend[(rows, num_kv_heads, parts.shape[1])](
        q, pool, table, positions, lanes, parts, stats,
        table.stride(0), pool.stride(0), slot * pool.stride(1), pool.stride(2), parts.shape[1],
        D=size, GROUP=group, HQ=num_heads, NQ=max(8, triton.next_power_of_2(group)),
        BLOCK=block, WINDOW=window, PAGE=PAGE,
        FP8=pool.dtype == torch.uint8, WIDE=INTERPRETED, ASM=has_assembly(q),
        num_warps=8 if size * block > 16384 else 4, **early(q),
    )  # fmt: skip
    _combine[(rows, num_heads)](
        parts, stats, positions, out, parts.shape[1],
        D=size, HQ=num_heads, BLOCK=block, WINDOW=window, JOIN=_JOIN, num_warps=4, **early(q),
    )  # fmt: skip


def attend_prompt(
    q: torch.Tensor,
    pool: torch.Tensor,
    table: torch.Tensor,
    positions: torch.Tensor,
    lanes: torch.Tensor,
    ends: torch.Tensor,
    slot: int,
    window: int,
    out: torch.Tensor,
) -> None:
    """
    Attend with rows that are consecutive and of one lane in each page; real before their `ends`.

    :param q: bfloat16 [a multiple of 64, num_heads, D]
    :param out: bfloat16 [the same, num_heads * D]
    """
    rows, num_heads, size = q.shape
    num_kv_heads = pool.shape[3]
    group = num_heads // num_kv_heads
    tile = _TILE if rows % 32 or size > 256 else 32
    _attend_prompt[(rows // tile, num_kv_heads)](
        q, pool, table, positions, lanes, ends, out,
        table.stride(0), pool.stride(0), slot * pool.stride(1), pool.stride(2),
        D=size, GROUP=group, NQ=triton.next_power_of_2(group), HQ=num_heads, TILE=tile,
        BLOCK=32 if size > 256 else 64, WINDOW=window, PAGE=PAGE,
        FP8=pool.dtype == torch.uint8, WIDE=INTERPRETED, ASM=has_assembly(q),
        num_warps=8, num_stages=2, **early(q),
    )  # fmt: skip
