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
Products of packed matrices with 1 to 16 rows of activations; `triton_prompt` has more rows.

Each weight is read once: rows of the matrix are the long side of a tensor-core tile, tokens its
side of 8. A row of activations meets the same instructions in the same order whatever stands
beside it; K is cut at fixed places and whoever reads the parts adds them up in order.
"""

from __future__ import annotations

from functools import lru_cache

import torch
import triton
import triton.language as tl

from gemma_node.kernels.planes import AFFINE4
from gemma_node.kernels.planes import AFFINE8
from gemma_node.kernels.planes import BF16
from gemma_node.kernels.planes import FP8
from gemma_node.kernels.planes import NVFP4
from gemma_node.kernels.planes import Planes
from gemma_node.kernels.tuning import Tiling
from gemma_node.kernels.tuning import tiling_of

KIND = {AFFINE4: 0, AFFINE8: 1, NVFP4: 2, FP8: 3, BF16: 4}
# Whether kernels run on the interpreter, which is wrong in bfloat16 and knows no assembly.
INTERPRETED = bool(triton.knobs.runtime.interpret)

# Kernels of Hopper and later begin while the one before ends; no bit depends on it.
OVERLAP = True
_PREFETCHED = 8
# Most of so many programs begin long after the kernel before has ended.
_MANY = 2048

# Two codes at a time, one in each half of a register.
_CODES4_ASM = tl.constexpr(tuple(
    f'{{.reg .b32 t; shr.u32 t, $1, {4 * each};'
    ' lop3.b32 $0, t, 0x000f000f, 0x43004300, 0xea;}'
    for each in range(4)
))
_E2M1_ASM = tl.constexpr(tuple(
    f'{{.reg .b32 t, m, f, z; shr.u32 t, $1, {4 * each}; and.b32 m, t, 0x00070007;'
    ' shl.b32 m, m, 6; and.b32 t, t, 0x00080008; shl.b32 t, t, 12; or.b32 m, m, t;'
    ' mov.b32 f, 0x7e807e80; mov.b32 z, 0x80008000; fma.rn.bf16x2 $0, m, f, z;}'
    for each in range(4)
))
# Bytes go to the upper halves of 16 bits, exponents 4 bits to the right, then times 2 ** 120.
_E4M3_ASM = tl.constexpr(
    '{.reg .b32 a, b, m, n, f, z; prmt.b32 a, $2, 0, 0x1404; prmt.b32 b, $2, 0, 0x3424;'
    ' shr.u32 m, a, 4; shr.u32 n, b, 4; and.b32 m, m, 0x07f007f0; and.b32 n, n, 0x07f007f0;'
    ' lop3.b32 a, a, 0x80008000, m, 0xea; lop3.b32 b, b, 0x80008000, n, 0xea;'
    ' mov.b32 f, 0x7b807b80; mov.b32 z, 0x80008000;'
    ' fma.rn.bf16x2 $0, a, f, z; fma.rn.bf16x2 $1, b, f, z;}'
)


@triton.jit
def _begin(EARLY: tl.constexpr):
    """Let the next kernel start, then wait for what the kernel before has written."""
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()


@triton.jit
def _prefetch(at):
    """Ask for the lines at some addresses, into the cache of the whole device."""
    tl.inline_asm_elementwise(
        '{prefetch.global.L2 [$1]; mov.u32 $0, 0;}', '=r,l', [at.to(tl.int64)],
        dtype=tl.int32, is_pure=False, pack=1)


@triton.jit
def _gelu(x):
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    # tanh by exp: 1 - 2 / (exp(2 y) + 1), which is exact at both ends.
    return 0.5 * x * (2.0 - 2.0 / (tl.exp(2.0 * inner) + 1.0))


@triton.jit
def _codes4(words, J: tl.constexpr, ASM: tl.constexpr):
    """Return 128 + nibble J of 16-bit words as bfloat16: 0x4300 is 128, its last bits units."""
    if ASM:
        codes = tl.inline_asm_elementwise(
            _CODES4_ASM[J], '=r,r', [words], dtype=tl.bfloat16, is_pure=True, pack=2)
    else:
        bits = ((words >> (4 * J)) & 15) | 0x4300
        codes = bits.to(tl.int16).to(tl.bfloat16, bitcast=True)
    return codes


@triton.jit
def _e2m1(words, J: tl.constexpr, ASM: tl.constexpr):
    """Return nibble J as an E2M1 number; a product with 2 ** 126 moves its exponent."""
    if ASM:
        numbers = tl.inline_asm_elementwise(
            _E2M1_ASM[J], '=r,r', [words], dtype=tl.bfloat16, is_pure=True, pack=2)
    else:
        code = (words >> (4 * J)).to(tl.int32)
        bits = ((code & 7) << 22) | ((code & 8) << 28)
        numbers = bits.to(tl.float32, bitcast=True) * 8.507059173023462e37
    return numbers


@triton.jit
def _e4m3(codes, ASM: tl.constexpr):
    """Return e4m3 numbers: by float16, whose exponents are 8 larger, or bfloat16, 120 larger."""
    if ASM:
        numbers = tl.inline_asm_elementwise(
            _E4M3_ASM, '=r,=r,r', [codes], dtype=tl.bfloat16, is_pure=True, pack=4)
    else:
        wide = codes.to(tl.int32)
        bits = ((wide & 127) << 7) | ((wide & 128) << 8)
        numbers = bits.to(tl.int16).to(tl.float16, bitcast=True).to(tl.float32) * 256.0
    return numbers


@triton.jit
def _dot(a, b, acc, WIDE: tl.constexpr):
    if WIDE:
        return tl.dot(a.to(tl.float32), b.to(tl.float32), acc, input_precision='ieee')
    return tl.dot(a.to(tl.bfloat16), b.to(tl.bfloat16), acc)


@triton.jit
def _activations(x, tokens, k, K, x_stride, EVEN: tl.constexpr):
    """Return activations [k, tokens]."""
    at = x + tokens.to(tl.int64)[None, :] * x_stride + k[:, None]
    if EVEN:
        taken = tl.load(at)
    else:
        taken = tl.load(at, mask=(k[:, None] < K) & (tokens[None, :] >= 0), other=0.0)
    return taken


@triton.jit
def _four(numbers, group, stride, rows):
    """Return what four groups have for some rows, in float32."""
    at = numbers + group * stride + rows
    return (
        tl.load(at).to(tl.float32),
        tl.load(at + stride).to(tl.float32),
        tl.load(at + 2 * stride).to(tl.float32),
        tl.load(at + 3 * stride).to(tl.float32),
    )


@triton.jit
def _group(acc, words, taken, ones, scale, bias, J: tl.constexpr, KIND: tl.constexpr,
           WIDE: tl.constexpr, ASM: tl.constexpr):
    """Add one group of columns: codes summed first, then scaled."""
    zero = tl.zeros(acc.shape, dtype=tl.float32)
    if KIND == 0:
        acc += _dot(_codes4(words, J, ASM), taken, zero, WIDE) * scale[:, None]
        acc += _dot(ones, taken, zero, WIDE) * (bias - 128.0 * scale)[:, None]
    else:
        acc += _dot(_e2m1(words, J, ASM), taken, zero, WIDE) * scale[:, None]
    return acc


@triton.jit
def _product(
    x, data, scales, biases, factors, out, plane,
    K, x_stride, out_rows, out_stride, data_stride, scale_stride, half, plane_stride,
    KIND: tl.constexpr, GROUP: tl.constexpr, BR: tl.constexpr, N: tl.constexpr,
    STEPS: tl.constexpr, GATED: tl.constexpr, PLANED: tl.constexpr, EVEN: tl.constexpr,
    WIDE: tl.constexpr, ASM: tl.constexpr, STAGES: tl.constexpr, EARLY: tl.constexpr,
    LINES: tl.constexpr,
):  # fmt: skip
    """Do one tile of rows and one part of K, for N tokens."""
    tile = tl.program_id(0)
    part = tl.program_id(1)
    inside = tl.arange(0, BR)
    if GATED:
        # The first half of a tile are rows of the gate, the second the same rows of up.
        rows = tile * (BR // 2) + inside % (BR // 2) + (inside // (BR // 2)) * half
    else:
        rows = tile * BR + inside
    tokens = tl.arange(0, N)
    lanes = tl.arange(0, GROUP)
    first = data + rows.to(tl.int64)[:, None] * data_stride + lanes[None, :]
    if EARLY:
        # Weights depend on nothing: they are on their way while the kernel before still runs.
        tl.extra.cuda.gdc_launch_dependents()
        if LINES > 0:
            line = tl.minimum(tl.arange(0, LINES), STEPS - 1)
            _prefetch(data + rows.to(tl.int64)[:, None] * data_stride
                      + (part * STEPS + line)[None, :] * GROUP)
    acc = tl.zeros((BR, N), dtype=tl.float32)
    ones = tl.full((BR, GROUP), 1.0, tl.float32)
    if KIND == 0 or KIND == 2:
        # Scales of the next block are asked for while this one is worked on.
        s0, s1, s2, s3 = _four(scales, part * STEPS * 4, scale_stride, rows)
        b0, b1, b2, b3 = s0, s1, s2, s3
        if KIND == 0:
            b0, b1, b2, b3 = _four(biases, part * STEPS * 4, scale_stride, rows)
        if EARLY:
            tl.extra.cuda.gdc_wait()
        for step in tl.range(0, STEPS, num_stages=STAGES):
            block = part * STEPS + step
            words = tl.load(first + block * GROUP)
            after = (part * STEPS + tl.minimum(step + 1, STEPS - 1)) * 4
            n0, n1, n2, n3 = _four(scales, after, scale_stride, rows)
            m0, m1, m2, m3 = n0, n1, n2, n3
            if KIND == 0:
                m0, m1, m2, m3 = _four(biases, after, scale_stride, rows)
            at = block * 4 * GROUP + lanes
            taken = _activations(x, tokens, at, K, x_stride, EVEN)
            acc = _group(acc, words, taken, ones, s0, b0, 0, KIND, WIDE, ASM)
            taken = _activations(x, tokens, at + GROUP, K, x_stride, EVEN)
            acc = _group(acc, words, taken, ones, s1, b1, 1, KIND, WIDE, ASM)
            taken = _activations(x, tokens, at + 2 * GROUP, K, x_stride, EVEN)
            acc = _group(acc, words, taken, ones, s2, b2, 2, KIND, WIDE, ASM)
            taken = _activations(x, tokens, at + 3 * GROUP, K, x_stride, EVEN)
            acc = _group(acc, words, taken, ones, s3, b3, 3, KIND, WIDE, ASM)
            s0, s1, s2, s3 = n0, n1, n2, n3
            b0, b1, b2, b3 = m0, m1, m2, m3
    elif KIND == 1:
        scale = tl.load(scales + part * STEPS * scale_stride + rows).to(tl.float32)
        bias = tl.load(biases + part * STEPS * scale_stride + rows).to(tl.float32)
        if EARLY:
            tl.extra.cuda.gdc_wait()
        for step in tl.range(0, STEPS, num_stages=STAGES):
            group = part * STEPS + step
            raw = tl.load(first + group * GROUP)
            after = (part * STEPS + tl.minimum(step + 1, STEPS - 1)) * scale_stride + rows
            next_scale = tl.load(scales + after).to(tl.float32)
            next_bias = tl.load(biases + after).to(tl.float32)
            taken = _activations(x, tokens, group * GROUP + lanes, K, x_stride, EVEN)
            zero = tl.zeros((BR, N), dtype=tl.float32)
            acc += _dot(raw.to(tl.float32), taken, zero, WIDE) * scale[:, None]
            acc += _dot(ones, taken, zero, WIDE) * (bias + 128.0 * scale)[:, None]
            scale = next_scale
            bias = next_bias
    else:
        if EARLY:
            tl.extra.cuda.gdc_wait()
        for step in tl.range(0, STEPS, num_stages=STAGES):
            group = part * STEPS + step
            raw = tl.load(first + group * GROUP)
            taken = _activations(x, tokens, group * GROUP + lanes, K, x_stride, EVEN)
            if KIND == 3:
                acc = _dot(_e4m3(raw, ASM), taken, acc, WIDE)
            else:
                acc = _dot(raw, taken, acc, WIDE)
    if KIND == 2 or KIND == 3:
        acc *= tl.load(factors + rows)[:, None]
    if GATED:
        pair = tl.permute(tl.reshape(acc, (2, BR // 2, N)), (1, 2, 0))
        gate, up = tl.split(pair)
        fed = _gelu(gate) * up
        kept = tile * (BR // 2) + tl.arange(0, BR // 2)
        at = out + tokens[None, :] * out_stride + kept[:, None]
        tl.store(at, fed.to(out.dtype.element_ty), mask=kept[:, None] < out_rows)
    elif PLANED:
        factor = tl.load(plane + tokens[None, :] * plane_stride + rows[:, None],
                         mask=rows[:, None] < out_rows, other=0.0)
        at = out + tokens[None, :] * out_stride + rows[:, None]
        tl.store(at, (_gelu(acc) * factor).to(out.dtype.element_ty),
                 mask=rows[:, None] < out_rows)
    else:
        at = out + (part * N + tokens[None, :]).to(tl.int64) * out_stride + rows[:, None]
        tl.store(at, acc, mask=rows[:, None] < out_rows)


def product(
    x: torch.Tensor,
    weight: Planes,
    out: torch.Tensor,
    *,
    tiling: Tiling | None = None,
    gated: bool = False,
    plane: torch.Tensor | None = None,
) -> None:
    """
    Multiply rows of activations with a matrix.

    :param x: bfloat16 [N, columns], N 8 or 16, all of them computed
    :param out: float32 [parts, N, rows]; with `gated` bfloat16 [N, rows / 2], the gelu of the
        first half of the rows times the second; with `plane` bfloat16 [N, rows], the gelu times
        `plane` [N, rows]
    """
    whole = gated or plane is not None
    tiling = tiling or tiling_of(weight, gated=gated, whole=whole)
    parts = 1 if whole else tiling.parts
    group, steps = weight.group, weight.padded_columns // weight.block
    assert steps % tiling.parts == 0
    if not group:
        # Without groups a step may be as wide as it likes: the order of the sums stays the same.
        columns = weight.padded_columns
        group = next(wide for wide in (256, 128, 64) if columns % (wide * parts) == 0)
        steps = columns // group
    num_tokens = x.shape[-2]
    empty = weight.data
    grid = (weight.padded_rows // tiling.rows, parts)
    _product[grid](
        x,
        weight.data,
        empty if weight.scales is None else weight.scales,
        empty if weight.biases is None else weight.biases,
        empty if weight.factors is None else weight.factors,
        out,
        empty if plane is None else plane,
        weight.columns,
        x.stride(-2),
        out.shape[-1],
        out.stride(-2),
        weight.data.stride(0),
        0 if weight.scales is None else weight.scales.stride(0),
        weight.padded_rows // 2,
        0 if plane is None else plane.stride(0),
        KIND=KIND[weight.kind],
        GROUP=group,
        BR=tiling.rows,
        N=num_tokens,
        STEPS=steps // grid[1],
        GATED=gated,
        PLANED=plane is not None,
        EVEN=weight.columns == weight.padded_columns,
        WIDE=INTERPRETED,
        ASM=has_assembly(x),
        STAGES=min(tiling.stages, max(2, steps // grid[1])),
        LINES=_lines(steps // grid[1], grid[0] * grid[1]),
        num_warps=tiling.warps,
        **early(x),
    )


def has_assembly(x: torch.Tensor) -> bool:
    """Return whether kernels may use NVIDIA's assembly."""
    return x.device.type == 'cuda' and torch.version.cuda is not None and not INTERPRETED


def early(x: torch.Tensor) -> dict[str, bool]:
    """Return options of a launch: whether it may begin before the kernel before it has ended."""
    if not (OVERLAP and has_assembly(x)) or _capability(x.device.index or 0) < (9, 0):
        return {'EARLY': False}
    return {'EARLY': True, 'launch_pdl': True}


@lru_cache
def _capability(index: int) -> tuple[int, int]:
    return torch.cuda.get_device_capability(index)


def _lines(steps: int, programs: int) -> int:
    """Return of how many steps weights are asked for before the wait: a power of two, or 0."""
    return 0 if programs > _MANY else min(_PREFETCHED, 1 << (steps.bit_length() - 1))
