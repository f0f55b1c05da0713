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
Operations on single rows: gathers, norms with residual, heads with rotary positions.

One program a row, so a row never meets another. Sums of parts of K are in ascending order.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from gemma_node.kernels.planes import AFFINE4
from gemma_node.kernels.planes import AFFINE8
from gemma_node.kernels.planes import BF16
from gemma_node.kernels.planes import Planes
from gemma_node.kernels.triton_matmul import _begin
from gemma_node.kernels.triton_matmul import early

PAGE = 64
_TABLES = {AFFINE4: 0, AFFINE8: 1, BF16: 4}


@triton.jit
def _table_row(data, scales, biases, row, columns, seen, data_stride, scale_stride,
               KIND: tl.constexpr, GROUP: tl.constexpr):
    """Return some columns of one row of a packed table in float32."""
    start = data + row.to(tl.int64) * data_stride
    if KIND == 4:
        values = tl.load(start + columns, mask=seen, other=0.0).to(tl.float32)
    else:
        if KIND == 0:
            block = columns // (4 * GROUP)
            within = columns % (4 * GROUP)
            word = tl.load(start + block * GROUP + within % GROUP, mask=seen, other=0)
            codes = ((word.to(tl.int32) >> (within // GROUP * 4)) & 15).to(tl.float32)
        else:
            codes = tl.load(start + columns, mask=seen, other=0).to(tl.float32) + 128.0
        at = (columns // GROUP).to(tl.int64) * scale_stride + row
        scale = tl.load(scales + at, mask=seen, other=0.0).to(tl.float32)
        bias = tl.load(biases + at, mask=seen, other=0.0).to(tl.float32)
        values = codes * scale + bias
    return values


@triton.jit
def _rms(x, size, eps):
    """Return x over its root mean square; what lies past `size` must be zero."""
    return x * tl.rsqrt(tl.sum(x * x, 0) / size + eps)


@triton.jit
def _embed(
    ids, data, scales, biases, h, narrow, weight, x,
    factor, size, eps, data_stride, scale_stride,
    KIND: tl.constexpr, GROUP: tl.constexpr, BLOCK: tl.constexpr, EARLY: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    seen = columns < size
    _begin(EARLY)
    token = tl.load(ids + row)
    values = factor * _table_row(data, scales, biases, token, columns, seen, data_stride,
                                 scale_stride, KIND, GROUP)
    at = row * size + columns
    tl.store(h + at, values, mask=seen)
    tl.store(narrow + at, values.to(narrow.dtype.element_ty), mask=seen)
    gain = tl.load(weight + columns, mask=seen, other=0.0)
    normed = _rms(values, size, eps) * gain
    tl.store(x + at, normed.to(x.dtype.element_ty), mask=seen)


@triton.jit
def _per_layer(
    ids, data, scales, biases, context, weight, out,
    factor, context_factor, mix, eps, first, context_rows, part_stride, data_stride,
    scale_stride, layers,
    KIND: tl.constexpr, GROUP: tl.constexpr, SIZE: tl.constexpr, PARTS: tl.constexpr,
    EARLY: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    layer = tl.program_id(1)
    inside = tl.arange(0, SIZE)
    _begin(EARLY)
    columns = (first + layer) * SIZE + inside
    token = tl.load(ids + row)
    told = factor * _table_row(data, scales, biases, token, columns, columns >= 0, data_stride,
                               scale_stride, KIND, GROUP)
    at = row.to(tl.int64) * context_rows + layer * SIZE + inside
    mixed = tl.load(context + at).to(tl.float32)
    for part in tl.static_range(1, PARTS):
        mixed += tl.load(context + part * part_stride + at)
    mixed = _rms(mixed * context_factor, SIZE, eps) * tl.load(weight + inside)
    tl.store(out + (row * layers + layer) * SIZE + inside, (mixed + told) * mix)


@triton.jit
def _residual(
    parts, weight, h, scalar, next_weight, x, size, eps, part_stride, part_row,
    PARTS: tl.constexpr, NORM: tl.constexpr, SCALED: tl.constexpr, BLOCK: tl.constexpr,
    EARLY: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    seen = columns < size
    gains = tl.load(weight + columns, mask=seen, other=0.0)
    if NORM:
        next_gains = tl.load(next_weight + columns, mask=seen, other=0.0)
    if SCALED:
        factor = tl.load(scalar)
    _begin(EARLY)
    source = parts + row * part_row + columns
    total = tl.load(source, mask=seen, other=0.0).to(tl.float32)
    for part in tl.static_range(1, PARTS):
        total += tl.load(source + part * part_stride, mask=seen, other=0.0)
    at = row * size + columns
    stream = tl.load(h + at, mask=seen, other=0.0)
    stream += _rms(total, size, eps) * gains
    if SCALED:
        stream *= factor
    tl.store(h + at, stream, mask=seen)
    if NORM:
        stream = _rms(stream, size, eps) * next_gains
    tl.store(x + at, stream.to(x.dtype.element_ty), mask=seen)


@triton.jit
def _gate(first, second, x, size, part_stride, first_stride, second_stride,
          PARTS: tl.constexpr, BLOCK: tl.constexpr, EARLY: tl.constexpr):
    _begin(EARLY)
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    seen = columns < size
    source = first + row * first_stride + columns
    gate = tl.load(source, mask=seen, other=0.0).to(tl.float32)
    for part in tl.static_range(1, PARTS):
        gate += tl.load(source + part * part_stride, mask=seen, other=0.0).to(tl.float32)
    up = tl.load(second + row * second_stride + columns, mask=seen, other=0.0).to(tl.float32)
    inner = 0.7978845608028654 * (gate + 0.044715 * gate * gate * gate)
    fed = 0.5 * gate * (2.0 - 2.0 / (tl.exp(2.0 * inner) + 1.0)) * up
    tl.store(x + row * size + columns, fed.to(x.dtype.element_ty), mask=seen)


@triton.jit
def _to_e4m3(x):
    """
    Return the nearest e4m3 numbers as bytes, ties to even, at most 448.

    Times 2 ** -120 an e4m3 number has its exponent in the lowest bits of a float32's, so that
    rounding is an addition to the bits. Works where a device has no such conversion.
    """
    bits = (x * 7.52316384526264e-37).to(tl.int32, bitcast=True)
    size = bits & 0x7FFFFFFF
    size = (size + 0x7FFFF + ((size >> 20) & 1)) >> 20
    return (tl.minimum(size, 126) | ((bits >> 24) & 128)).to(tl.uint8)


@triton.jit
def _heads(
    qkv, norms, cos, sin, positions, lanes, ends, table, q, pool,
    eps, part_stride, qkv_row, table_stride, page_stride, slot_offset, value_offset,
    D: tl.constexpr, ROTATED: tl.constexpr, HQ: tl.constexpr, HKV: tl.constexpr,
    PARTS: tl.constexpr, PAGE: tl.constexpr, FP8: tl.constexpr, EARLY: tl.constexpr,
):  # fmt: skip
    """Norm one head of one row; rotate it unless it is a value; put it where it is read."""
    row = tl.program_id(0)
    head = tl.program_id(1)
    d = tl.arange(0, D)
    other = (d + D // 2) % D
    _begin(EARLY)
    source = qkv + row.to(tl.int64) * qkv_row + head * D
    own = tl.load(source + d).to(tl.float32)
    partner = tl.load(source + other).to(tl.float32)
    for part in tl.static_range(1, PARTS):
        own += tl.load(source + part * part_stride + d)
        partner += tl.load(source + part * part_stride + other)
    scale = tl.rsqrt(tl.sum(own * own, 0) / D + eps)
    position = tl.load(positions + row)
    if head < HQ + HKV:
        gains = norms + (head >= HQ).to(tl.int32) * D
        pair = d % (D // 2)
        rotates = pair < ROTATED
        angle = position.to(tl.int64) * ROTATED + pair
        c = tl.load(cos + angle, mask=rotates, other=1.0)
        s = tl.load(sin + angle, mask=rotates, other=0.0)
        s = tl.where(d < D // 2, -s, s)
        own = own * scale * tl.load(gains + d)
        partner = partner * scale * tl.load(gains + other)
        value = own * c + partner * s
    else:
        value = own * scale
    if head < HQ:
        at = (row.to(tl.int64) * HQ + head) * D + d
        tl.store(q + at, value.to(q.dtype.element_ty))
    elif position < tl.load(ends + row):
        lane = tl.load(lanes + row)
        page = tl.load(table + lane * table_stride + position // PAGE).to(tl.int64)
        kind = (head - HQ) // HKV
        at = page * page_stride + slot_offset + kind * value_offset
        at += ((head - HQ) % HKV * PAGE + position % PAGE) * D + d
        if FP8:
            tl.store(pool + at, _to_e4m3(value))
        else:
            tl.store(pool + at, value.to(pool.dtype.element_ty))


def embed(
    ids: torch.Tensor,
    table: Planes,
    factor: float,
    weight: torch.Tensor,
    eps: float,
    h: torch.Tensor,
    narrow: torch.Tensor,
    x: torch.Tensor,
    rows: int,
) -> None:
    """
    Gather embeddings of the first `rows` of `ids` times a factor.

    :param h: float32 [., hidden], the stream; `narrow` the same in bfloat16
    :param x: bfloat16, the stream normed with `weight`
    """
    size = h.shape[-1]
    _embed[(rows,)](
        ids, table.data, *_scales(table), h, narrow, weight, x,
        factor, size, eps, table.data.stride(0), _scale_stride(table),
        KIND=_TABLES[table.kind], GROUP=table.group or 64, BLOCK=triton.next_power_of_2(size),
        num_warps=8, **early(h),
    )  # fmt: skip


def per_layer(
    ids: torch.Tensor,
    table: Planes,
    factor: float,
    context: torch.Tensor,
    context_factor: float,
    weight: torch.Tensor,
    eps: float,
    first_layer: int,
    out: torch.Tensor,
    rows: int,
) -> None:
    """
    Mix what the per-layer table says of a token with its projected embedding.

    :param context: [parts, ., layers * size], of the layers from `first_layer` on
    :param out: float32 [., layers, size]
    """
    layers, size = out.shape[1:]
    _per_layer[(rows, layers)](
        ids, table.data, *_scales(table), context, weight, out,
        factor, context_factor, 2.0**-0.5, eps, first_layer, context.stride(-2),
        context.stride(0), table.data.stride(0), _scale_stride(table), layers,
        KIND=_TABLES[table.kind], GROUP=table.group or 64, SIZE=size, PARTS=context.shape[0],
        num_warps=2, **early(out),
    )  # fmt: skip


def residual(
    parts: torch.Tensor,
    weight: torch.Tensor,
    h: torch.Tensor,
    scalar: torch.Tensor | None,
    next_weight: torch.Tensor | None,
    eps: float,
    x: torch.Tensor,
    rows: int,
) -> None:
    """
    Add the normed sum of parts to the stream, and norm that for what comes next.

    :param parts: [parts, ., hidden]
    :param h: float32 [., hidden]; times `scalar` [1] after the addition
    :param x: bfloat16 [., hidden], the new stream, normed where there is a `next_weight`
    """
    size = h.shape[-1]
    _residual[(rows,)](
        parts, weight, h, h if scalar is None else scalar,
        weight if next_weight is None else next_weight, x, size, eps,
        parts.stride(0), parts.stride(1),
        PARTS=parts.shape[0], NORM=next_weight is not None, SCALED=scalar is not None,
        BLOCK=triton.next_power_of_2(size), num_warps=8, **early(h),
    )  # fmt: skip


def gate(first: torch.Tensor, second: torch.Tensor, x: torch.Tensor) -> None:
    """Write gelu(sum of first [parts, rows, size]) * second [rows, size] into `x`."""
    rows, size = x.shape
    block = min(1024, triton.next_power_of_2(size))
    _gate[(rows, triton.cdiv(size, block))](
        first, second, x, size, first.stride(0), first.stride(1), second.stride(0),
        PARTS=first.shape[0], BLOCK=block, num_warps=4 if block > 512 else 1, **early(x),
    )  # fmt: skip


def heads(
    qkv: torch.Tensor,
    norms: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    positions: torch.Tensor,
    lanes: torch.Tensor,
    ends: torch.Tensor,
    table: torch.Tensor,
    q: torch.Tensor,
    pool: torch.Tensor,
    slot: int,
    num_kv_heads: int,
    eps: float,
    rows: int,
    *,
    owns: bool,
) -> None:
    """
    Norm and rotate heads, and write keys and values of rows before their `ends` into pages.

    :param qkv: [parts, ., heads * D]; queries alone unless the layer `owns` keys and values
    :param norms: float32 [2, D], of queries and keys
    :param cos: float32 [positions, rotated pairs]; `sin` alike
    :param table: int32 [lanes, pages]
    :param q: bfloat16 [., num_heads, D]
    :param pool: [pages, slots, 2, num_kv_heads, 64, D], bfloat16 or e4m3 as uint8
    """
    num_heads, size = q.shape[1:]
    total = num_heads + (2 * num_kv_heads if owns else 0)
    _heads[(rows, total)](
        qkv, norms, cos, sin, positions, lanes, ends, table, q, pool,
        eps, qkv.stride(0), qkv.stride(1), table.stride(0), pool.stride(0),
        slot * pool.stride(1), pool.stride(2),
        D=size, ROTATED=cos.shape[1], HQ=num_heads, HKV=num_kv_heads, PARTS=qkv.shape[0],
        PAGE=PAGE, FP8=pool.dtype == torch.uint8, num_warps=2, **early(q),
    )  # fmt: skip


def _scales(table: Planes) -> tuple[torch.Tensor, torch.Tensor]:
    """Return scales and biases, or anything that is never read."""
    if table.scales is None or table.biases is None:
        return table.data, table.data
    return table.scales, table.biases


def _scale_stride(table: Planes) -> int:
    return 0 if table.scales is None else table.scales.stride(0)
