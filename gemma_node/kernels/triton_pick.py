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
From the head's products to a token: softcap, mask, the sums a probability needs, the best id.

Blocks of the vocabulary first, then one program a row over the blocks in ascending order. Ties
go to the lowest id.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from gemma_node.kernels.triton_matmul import _begin
from gemma_node.kernels.triton_matmul import early

BLOCK = 2048


@triton.jit
def _capped(x, cap, CAPPED: tl.constexpr):
    if CAPPED:
        x = cap - 2.0 * cap / (tl.exp(2.0 * x / cap) + 1.0)
    return x


@triton.jit
def _look(
    logits, mask, blocks, cap, vocab, logits_stride, mask_stride, num_blocks,
    CAPPED: tl.constexpr, BLOCK: tl.constexpr, EARLY: tl.constexpr,
):  # fmt: skip
    """Cap one block in place; note its best allowed id and both sums of exponents."""
    _begin(EARLY)
    block = tl.program_id(0)
    row = tl.program_id(1).to(tl.int64)
    ids = block * BLOCK + tl.arange(0, BLOCK)
    there = ids < vocab
    at = logits + row * logits_stride + ids
    values = _capped(tl.load(at, mask=there, other=0.0), cap, CAPPED)
    tl.store(at, values, mask=there)
    word = tl.load(mask + row * mask_stride + ids // 32, mask=there, other=0)
    allowed = there & (((word >> (ids % 32)) & 1) != 0)
    values = tl.where(there, values, float('-inf'))
    kept = tl.where(allowed, values, float('-inf'))
    top = tl.max(values, 0)
    best = tl.max(kept, 0)
    base = tl.where(best == float('-inf'), 0.0, best)
    # NaN and infinity stay in the sum of all, which is how they are noticed.
    first = tl.min(tl.where(allowed & (kept == best), ids, 2147483647), 0)
    to = blocks + (row * num_blocks + block) * 8
    tl.store(to, best)
    tl.store(to + 1, tl.sum(tl.exp(kept - base), 0))
    tl.store(to + 2, top)
    tl.store(to + 3, tl.sum(tl.exp(values - top), 0))
    tl.store(to + 4, first.to(tl.float32, bitcast=True))


@triton.jit
def _choose(blocks, looks, best_ids, num_blocks, looks_stride, ids_stride, SIZE: tl.constexpr,
            EARLY: tl.constexpr):
    """Join the blocks of one row."""
    _begin(EARLY)
    row = tl.program_id(0).to(tl.int64)
    index = tl.arange(0, SIZE)
    there = index < num_blocks
    at = blocks + (row * num_blocks + index) * 8
    best = tl.load(at, mask=there, other=float('-inf'))
    top = tl.load(at + 2, mask=there, other=float('-inf'))
    first = tl.load(at + 4, mask=there, other=0.0).to(tl.int32, bitcast=True)
    highest = tl.max(best, 0)
    tallest = tl.max(top, 0)
    ids = tl.where(there & (best == highest), first, 2147483647)
    kept = tl.load(at + 1, mask=there, other=0.0) * tl.exp(best - highest)
    total = tl.load(at + 3, mask=there, other=0.0) * tl.exp(top - tallest)
    kept = tl.where(there & (best > float('-inf')), kept, 0.0)
    tl.store(best_ids + row * ids_stride, tl.min(ids, 0))
    tl.store(looks + row * looks_stride, highest)
    tl.store(looks + row * looks_stride + 1, highest + tl.log(tl.sum(kept, 0)))
    tl.store(looks + row * looks_stride + 2, tallest + tl.log(tl.sum(total, 0)))


def choose(
    logits: torch.Tensor,
    mask: torch.Tensor,
    cap: float | None,
    blocks: torch.Tensor,
    looks: torch.Tensor,
    best_ids: torch.Tensor,
    rows: int,
) -> None:
    """
    Cap the first `rows` rows of logits in place and say what a draw needs of each.

    :param logits: float32 [., vocab]
    :param mask: int32 [., words], a bit an id
    :param blocks: float32 [., ceil(vocab / 2048), 8], scratch
    :param looks: float32 [., 3]: the best allowed logit, the logarithms of the sums of exponents
        over allowed and over all ids; not finite where a logit is not
    :param best_ids: int32 [.], the lowest allowed id with the best logit; 2**31 - 1 without one
    """
    vocab = logits.shape[-1]
    num_blocks = triton.cdiv(vocab, BLOCK)
    _look[(num_blocks, rows)](
        logits, mask, blocks, 0.0 if cap is None else cap, vocab, logits.stride(0),
        mask.stride(0), num_blocks, CAPPED=cap is not None, BLOCK=BLOCK, num_warps=4,
        **early(logits),
    )  # fmt: skip
    _choose[(rows,)](
        blocks, looks, best_ids, num_blocks, looks.stride(0), best_ids.stride(0),
        SIZE=triton.next_power_of_2(num_blocks), num_warps=4, **early(logits),
    )  # fmt: skip
