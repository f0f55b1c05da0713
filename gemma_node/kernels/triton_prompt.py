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
Products of packed matrices with the rows of a prompt.

Weights are rounded to bfloat16 once. Every sum goes over K in the same steps of a tensor-core
product whatever the tile, so that a row's bits do not depend on how many rows there are. Many
rows have a matrix unpacked once, not once for each tile of tokens, and on Hopper and later tiles
come by the tensor memory accelerator.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from gemma_node.kernels.planes import AFFINE4
from gemma_node.kernels.planes import BF16
from gemma_node.kernels.planes import NVFP4
from gemma_node.kernels.planes import Planes
from gemma_node.kernels.triton_matmul import _activations
from gemma_node.kernels.triton_matmul import _begin
from gemma_node.kernels.triton_matmul import _codes4
from gemma_node.kernels.triton_matmul import _dot
from gemma_node.kernels.triton_matmul import _e2m1
from gemma_node.kernels.triton_matmul import _e4m3
from gemma_node.kernels.triton_matmul import _gelu
from gemma_node.kernels.triton_matmul import early
from gemma_node.kernels.triton_matmul import has_assembly
from gemma_node.kernels.triton_matmul import INTERPRETED
from gemma_node.kernels.triton_matmul import KIND
from gemma_node.kernels.tuning import prompt_tiling
from gemma_node.kernels.tuning import Tiling
from gemma_node.kernels.tuning import UNPACKED_FROM

# Whether tiles come by the tensor memory accelerator where there is one; no bit depends on it.
DESCRIBED = True


@triton.jit
def _rounded_tile(raw, scale, bias, KIND: tl.constexpr, J: tl.constexpr, ASM: tl.constexpr):
    """Return a tile of weights, rounded to bfloat16 once by who takes it."""
    if KIND == 0:
        tile = _codes4(raw, J, ASM).to(tl.float32) * scale[:, None]
        tile += (bias - 128.0 * scale)[:, None]
    elif KIND == 1:
        tile = (raw.to(tl.float32) + 128.0) * scale[:, None] + bias[:, None]
    elif KIND == 2:
        tile = _e2m1(raw, J, ASM).to(tl.float32) * scale[:, None]
    elif KIND == 3:
        tile = _e4m3(raw, ASM)
    else:
        tile = raw
    return tile


@triton.jit
def _prompt_product(
    x, data, scales, biases, factors, out,
    K, x_stride, out_rows, out_stride, data_stride, scale_stride, half,
    KIND: tl.constexpr, GROUP: tl.constexpr, BR: tl.constexpr, BM: tl.constexpr,
    STEPS: tl.constexpr, EVEN: tl.constexpr, WIDE: tl.constexpr, ASM: tl.constexpr,
    STAGES: tl.constexpr, SLICES: tl.constexpr, FACTORED: tl.constexpr, GATED: tl.constexpr,
    EARLY: tl.constexpr,
):  # fmt: skip
    """Multiply a tile of rows with a tile of tokens; the K loop is the same for all tiles."""
    _begin(EARLY)
    # Tiles of tokens run fastest, so that a tile of weights is read while it is in the cache.
    tokens = tl.program_id(0) * BM + tl.arange(0, BM)
    inside = tl.arange(0, BR)
    if GATED:
        # The first half of a tile are rows of the gate, the second the same rows of up.
        rows = tl.program_id(1) * (BR // 2) + inside % (BR // 2) + (inside // (BR // 2)) * half
    else:
        rows = tl.program_id(1) * BR + inside
    lanes = tl.arange(0, GROUP)
    first = data + rows.to(tl.int64)[:, None] * data_stride + lanes[None, :]
    acc = tl.zeros((BR, BM), dtype=tl.float32)
    for step in tl.range(0, STEPS, num_stages=STAGES):
        raw = tl.load(first + step * GROUP)
        for j in tl.static_range(SLICES):
            group = step * SLICES + j
            k = group * GROUP + lanes
            taken = _activations(x, tokens, k, K, x_stride, EVEN)
            if KIND == 0 or KIND == 1:
                scale = tl.load(scales + group * scale_stride + rows).to(tl.float32)
                bias = tl.load(biases + group * scale_stride + rows).to(tl.float32)
                tile = _rounded_tile(raw, scale, bias, KIND, j, ASM)
            elif KIND == 2:
                scale = tl.load(scales + group * scale_stride + rows).to(tl.float32)
                tile = _rounded_tile(raw, scale, scale, KIND, j, ASM)
            else:
                tile = _rounded_tile(raw, acc, acc, KIND, j, ASM)
            acc = _dot(tile, taken, acc, WIDE)
    if FACTORED:
        acc *= tl.load(factors + rows)[:, None]
    if GATED:
        pair = tl.permute(tl.reshape(acc, (2, BR // 2, BM)), (1, 2, 0))
        gate, up = tl.split(pair)
        kept = tl.program_id(1) * (BR // 2) + tl.arange(0, BR // 2)
        at = out + tokens.to(tl.int64)[None, :] * out_stride + kept[:, None]
        tl.store(at, (_gelu(gate) * up).to(out.dtype.element_ty), mask=kept[:, None] < out_rows)
    else:
        at = out + tokens.to(tl.int64)[None, :] * out_stride + rows[:, None]
        tl.store(at, acc.to(out.dtype.element_ty), mask=rows[:, None] < out_rows)


@triton.jit
def _described_product(
    x, weight, factors, out, out_rows, out_stride,
    BR: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr, STEPS: tl.constexpr,
    WIDE: tl.constexpr, STAGES: tl.constexpr, FACTORED: tl.constexpr, EARLY: tl.constexpr,
):  # fmt: skip
    """Do the same in bfloat16, with tiles that come by descriptors."""
    _begin(EARLY)
    first_token = tl.program_id(0) * BM
    first_row = tl.program_id(1) * BR
    acc = tl.zeros((BR, BM), dtype=tl.float32)
    for step in tl.range(0, STEPS, num_stages=STAGES):
        tile = weight.load([first_row, step * BK])
        taken = x.load([first_token, step * BK])
        acc = _dot(tile, tl.trans(taken), acc, WIDE)
    rows = first_row + tl.arange(0, BR)
    tokens = first_token + tl.arange(0, BM)
    if FACTORED:
        acc *= tl.load(factors + rows)[:, None]
    at = out + tokens.to(tl.int64)[None, :] * out_stride + rows[:, None]
    tl.store(at, acc.to(out.dtype.element_ty), mask=rows[:, None] < out_rows)


@triton.jit
def _described_gate(
    x, gate, up, factors, out, out_rows, out_stride, half,
    BR: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr, STEPS: tl.constexpr,
    WIDE: tl.constexpr, STAGES: tl.constexpr, FACTORED: tl.constexpr, EARLY: tl.constexpr,
):  # fmt: skip
    """Do rows of the gate and the same rows of up."""
    _begin(EARLY)
    first_token = tl.program_id(0) * BM
    first_row = tl.program_id(1) * BR
    opened = tl.zeros((BR, BM), dtype=tl.float32)
    acc = tl.zeros((BR, BM), dtype=tl.float32)
    for step in tl.range(0, STEPS, num_stages=STAGES):
        taken = tl.trans(x.load([first_token, step * BK]))
        opened = _dot(gate.load([first_row, step * BK]), taken, opened, WIDE)
        acc = _dot(up.load([first_row, step * BK]), taken, acc, WIDE)
    rows = first_row + tl.arange(0, BR)
    tokens = first_token + tl.arange(0, BM)
    if FACTORED:
        opened *= tl.load(factors + rows)[:, None]
        acc *= tl.load(factors + half + rows)[:, None]
    at = out + tokens.to(tl.int64)[None, :] * out_stride + rows[:, None]
    tl.store(at, (_gelu(opened) * acc).to(out.dtype.element_ty), mask=rows[:, None] < out_rows)


@triton.jit
def _unpack(
    data, scales, biases, out, out_stride, data_stride, scale_stride,
    KIND: tl.constexpr, GROUP: tl.constexpr, BR: tl.constexpr, SLICES: tl.constexpr,
    ASM: tl.constexpr, EARLY: tl.constexpr,
):  # fmt: skip
    """Write a tile of weights as prompts take them."""
    rows = tl.program_id(0) * BR + tl.arange(0, BR)
    lanes = tl.arange(0, GROUP)
    step = tl.program_id(1)
    raw = tl.load(data + rows.to(tl.int64)[:, None] * data_stride + step * GROUP + lanes[None, :])
    _begin(EARLY)
    for j in tl.static_range(SLICES):
        group = step * SLICES + j
        if KIND == 3:
            tile = _e4m3(raw, ASM)
        else:
            scale = tl.load(scales + group * scale_stride + rows).to(tl.float32)
            bias = scale
            if KIND == 0 or KIND == 1:
                bias = tl.load(biases + group * scale_stride + rows).to(tl.float32)
            tile = _rounded_tile(raw, scale, bias, KIND, j, ASM)
        at = out + rows.to(tl.int64)[:, None] * out_stride + group * GROUP + lanes[None, :]
        tl.store(at, tile.to(out.dtype.element_ty))


def prompt_product(
    x: torch.Tensor,
    weight: Planes,
    out: torch.Tensor,
    *,
    tiling: Tiling | None = None,
    gated: bool = False,
    room: torch.Tensor | None = None,
) -> None:
    """
    Multiply whole tiles of 64 prompt rows with a matrix.

    :param x: bfloat16 [a multiple of 64, columns]
    :param out: [the same, rows], of any dtype; with `gated` [the same, rows / 2], the gelu of the
        first half of the rows times the second
    :param room: bfloat16 [numbers] in which many rows may have weights unpacked, not in each tile
    """
    if weight.kind != BF16 and (room is None or x.shape[0] < UNPACKED_FROM):
        _tiled(x, weight, out, tiling, gated)
        return
    if weight.kind == BF16 or room is None:
        _plain(x, weight, out, tiling, gated)
        return
    half = weight.padded_rows // 2
    fitting = room.numel() // weight.padded_columns // 256 * 256
    height = min(fitting, half if gated else weight.padded_rows)
    if gated:
        height = min(fitting // 2 // 128 * 128, half)
    for start in range(0, half if gated else weight.padded_rows, height):
        end = min(start + height, half if gated else weight.padded_rows)
        parts = [weight.part(start, end)]
        if gated:
            parts.append(weight.part(half + start, half + end))
        rows = sum(each.padded_rows for each in parts)
        plain = room[: rows * weight.padded_columns].view(rows, weight.padded_columns)
        for index, part in enumerate(parts):
            unpack(part, plain[index * (end - start) :])
        found = [each.factors for each in parts if each.factors is not None]
        factors = torch.cat(found) if found else None
        taken = Planes(kind=BF16, rows=sum(each.rows for each in parts), columns=weight.columns,
                       group=0, data=plain, factors=factors)  # fmt: skip
        _plain(x, taken, out[:, start:], tiling, gated)


def unpack(weight: Planes, out: torch.Tensor) -> None:
    """Write a packed matrix as bfloat16 [padded rows, padded columns], without its factors."""
    _unpack[(weight.padded_rows // 64, weight.padded_columns // weight.block)](
        weight.data, *_scales(weight), out,
        out.stride(0), weight.data.stride(0), _scale_stride(weight),
        KIND=KIND[weight.kind], GROUP=weight.group or 64, BR=64, SLICES=_slices(weight),
        ASM=has_assembly(out), num_warps=4, **early(out),
    )  # fmt: skip


def _plain(
    x: torch.Tensor, weight: Planes, out: torch.Tensor, tiling: Tiling | None, gated: bool
) -> None:
    """Multiply with bfloat16 weights."""
    options = early(x)
    if not (DESCRIBED and (options['EARLY'] or INTERPRETED)):
        _tiled(x, weight, out, tiling, gated)
        return
    tiling = tiling or prompt_tiling(weight, x.shape[0], gated=gated)
    height, tokens = tiling.rows // (2 if gated else 1), tiling.tokens
    half = weight.padded_rows // 2
    values = TensorDescriptor.from_tensor(x, [tokens, 64])
    factors = out if weight.factors is None else weight.factors
    rest = {
        'BR': height, 'BM': tokens, 'BK': 64, 'STEPS': weight.padded_columns // 64,
        'WIDE': INTERPRETED, 'STAGES': tiling.stages, 'FACTORED': weight.factors is not None,
        'num_warps': tiling.warps, **options,
    }  # fmt: skip
    if gated:
        matrices = [TensorDescriptor.from_tensor(each, [height, 64])
                    for each in (weight.data[:half], weight.data[half:])]  # fmt: skip
        _described_gate[(x.shape[0] // tokens, half // height)](
            values, *matrices, factors, out, min(half, out.shape[1]), out.stride(0), half, **rest
        )
        return
    matrix = TensorDescriptor.from_tensor(weight.data, [height, 64])
    _described_product[(x.shape[0] // tokens, weight.padded_rows // height)](
        values, matrix, factors, out, weight.rows, out.stride(0), **rest
    )


def _tiled(
    x: torch.Tensor, weight: Planes, out: torch.Tensor, tiling: Tiling | None, gated: bool
) -> None:
    tiling = tiling or prompt_tiling(weight, x.shape[0], gated=gated)
    _prompt_product[(x.shape[0] // tiling.tokens, weight.padded_rows // tiling.rows)](
        x, weight.data, *_scales(weight),
        weight.data if weight.factors is None else weight.factors, out,
        weight.columns, x.stride(0), weight.rows // (2 if gated else 1), out.stride(0),
        weight.data.stride(0), _scale_stride(weight), weight.padded_rows // 2,
        KIND=KIND[weight.kind], GROUP=weight.group or 64, BR=tiling.rows, BM=tiling.tokens,
        STEPS=weight.padded_columns // weight.block,
        EVEN=weight.columns == weight.padded_columns, WIDE=INTERPRETED, ASM=has_assembly(x),
        STAGES=tiling.stages, SLICES=_slices(weight), FACTORED=weight.factors is not None,
        GATED=gated, num_warps=tiling.warps, **early(x),
    )  # fmt: skip


def _slices(weight: Planes) -> int:
    return 4 if weight.kind in (AFFINE4, NVFP4) else 1


def _scales(weight: Planes) -> tuple[torch.Tensor, torch.Tensor]:
    """Return scales and biases, or anything that is never read."""
    empty = weight.data
    return (
        empty if weight.scales is None else weight.scales,
        empty if weight.biases is None else weight.biases,
    )


def _scale_stride(weight: Planes) -> int:
    return 0 if weight.scales is None else weight.scales.stride(0)
