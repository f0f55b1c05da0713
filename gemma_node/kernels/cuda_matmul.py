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
Products of packed matrices with 1 to 16 rows of activations, in CUDA C++ (cuda/products.cu).

`plan_of` says whether and how it takes a matrix; what it does not take, `triton_matmul` does.
How K is cut is a function of shape and kind alone.
"""

from __future__ import annotations

import ctypes
from ctypes import c_int32
from ctypes import c_uint64
from ctypes import c_void_p
from dataclasses import dataclass
from dataclasses import replace
from functools import cache
from pathlib import Path

import torch

from gemma_node.kernels import nvrtc
from gemma_node.kernels.planes import AFFINE4
from gemma_node.kernels.planes import BF16
from gemma_node.kernels.planes import NVFP4
from gemma_node.kernels.planes import Planes
from gemma_node.kernels.tuning import tiling_of

SOURCES = ('instructions.cu', 'tiles.cu', 'products.cu')
KIND = {AFFINE4: 0, NVFP4: 2, BF16: 4}
GROUPS = {AFFINE4: 64, NVFP4: 16, BF16: 0}
# Columns of one warp, rows of one tile.
COLUMNS, ROWS = 256, 16
SUMS, GATED, PLANED = range(3)
_STAGE = {AFFINE4: 2304, NVFP4: 2688, BF16: 2048}
_TOKEN_BYTES = 20 * 4
# Shared memory of a block at most and of a processor, here of an H200; a block has some besides.
H200_SHARED = (232448, 233472)
_RESERVED_SHARED = 1024
_LEAST_DEPTH, _LEAST_SHARED_DEPTH = 2, 3


class Job(ctypes.Structure):
    """The argument of the kernel, as in products.cu."""

    _fields_ = (
        ('x', c_void_p),
        ('data', c_void_p),
        ('scales', c_void_p),
        ('biases', c_void_p),
        ('factors', c_void_p),
        ('plane', c_void_p),
        ('out', c_void_p),
        ('data_stride', c_uint64),
        ('part_stride', c_uint64),
        ('x_stride', c_int32),
        ('scale_stride', c_int32),
        ('plane_stride', c_int32),
        ('out_rows', c_int32),
        ('out_stride', c_int32),
        ('half_rows', c_int32),
        ('units', c_int32),
        ('block_units', c_int32),
        ('unit_step', c_int32),
        ('tokens', c_int32),
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """
    How a matrix is worked on.

    `parts` of K are summed by whoever reads the result; a block has `warps`, each 256 columns,
    and goes over `tiles` of 16 rows, `chunk` of them between two meetings of its warps. `depth`
    stages a warp, `resident` blocks a processor; `apart`: what a block does lies as far apart as
    there are blocks, so that all read beside each other.
    """

    warps: int
    parts: int
    tiles: int
    chunk: int = 2
    depth: int = 4
    resident: int = 2
    apart: bool = True


# (kind, rows, columns) -> how; what is not here is calculated. `warps` and `parts` decide bits.
PLANS: dict[tuple[str, int, int], Plan] = {
    # NVIDIA H200, gpu_tune.py --plans, one lane at 2,048 tokens.
    (AFFINE4, 20480, 2560): Plan(warps=10, parts=1, tiles=6, chunk=6, depth=3, resident=1),
    (AFFINE4, 2560, 10240): Plan(warps=8, parts=5, tiles=4, chunk=4, depth=4),
    (AFFINE4, 262144, 2560): Plan(warps=10, parts=1, tiles=125, chunk=2, depth=6, resident=1),
    (AFFINE4, 2560, 4096): Plan(warps=8, parts=2, tiles=2, chunk=2, depth=4),
    (AFFINE4, 6144, 2560): Plan(warps=10, parts=1, tiles=3, chunk=3, depth=3),
    (AFFINE4, 10752, 2560): Plan(warps=10, parts=1, tiles=3, chunk=3, depth=4),
    (NVFP4, 20480, 2560): Plan(warps=10, parts=1, tiles=6, chunk=6, depth=4),
    (NVFP4, 2560, 10240): Plan(warps=10, parts=4, tiles=3, chunk=3, depth=3),
    (NVFP4, 3072, 2560): Plan(warps=10, parts=1, tiles=1, chunk=1, depth=3),
    (NVFP4, 2560, 2048): Plan(warps=8, parts=1, tiles=1, chunk=1, depth=3, resident=1),
    (NVFP4, 2048, 2560): Plan(warps=10, parts=1, tiles=2, chunk=2, depth=3, resident=1),
    (BF16, 20480, 2560): Plan(warps=10, parts=1, tiles=4, chunk=4, depth=5, resident=1),
    (BF16, 2560, 10240): Plan(warps=10, parts=4, tiles=5, chunk=5, depth=6, resident=1),
    (BF16, 262144, 2560): Plan(warps=10, parts=1, tiles=16, chunk=4, depth=6, resident=1),
    (BF16, 3072, 2560): Plan(warps=10, parts=1, tiles=1, chunk=1, depth=3),
    (BF16, 2560, 2048): Plan(warps=8, parts=1, tiles=1, chunk=1, depth=3, resident=1),
    (BF16, 2048, 2560): Plan(warps=10, parts=1, tiles=2, chunk=2, depth=4, resident=1),
    (BF16, 2560, 256): Plan(warps=1, parts=1, tiles=1, chunk=1, depth=3, resident=1),
    (BF16, 2560, 4096): Plan(warps=8, parts=2, tiles=2, chunk=2, depth=4, resident=1),
}
# Whether the kernel is used at all; for comparisons.
ENABLED = True
_MOST_WARPS, _MOST_ROWS = 10, 16
_ONE_MEETING = 10
# A device that plans are made for has so many multiprocessors; no bit depends on it.
_PROCESSORS = 132


def plan_of(weight: Planes, *, gated: bool = False, whole: bool = False) -> Plan | None:
    """Return how the kernel takes a matrix, or None where it does not."""
    if not ENABLED or weight.data.device.type != 'cuda' or device_problem(weight.data.device):
        return None
    if shape_problem(weight):
        return None
    plan = PLANS.get((weight.kind, weight.rows, weight.columns)) or calculated(weight, gated=gated)
    if (gated or whole) and plan.parts > 1:
        return None
    shared = shared_of(weight.data.device.index or 0)
    fits = fitted(weight.kind, plan, _MOST_ROWS, shared, gated=gated) is not None
    return plan if fits else None


def calculated(weight: Planes, *, gated: bool = False) -> Plan:
    """Return a plan by a matrix's shape alone."""
    blocks = weight.columns // COLUMNS
    warps = next(each for each in range(_MOST_WARPS, 0, -1) if blocks % each == 0)
    parts = blocks // warps
    tiles = -(-weight.padded_rows // ROWS * parts // _PROCESSORS)
    if gated:
        tiles = -(-tiles // 2) * 2
    # One meeting where there is room for all sums, of 16 rows too.
    chunk = tiles if tiles <= _ONE_MEETING else 2
    return Plan(warps=warps, parts=parts, tiles=tiles, chunk=chunk, depth=4)


def parts_of(weight: Planes) -> int:
    """Return in how many parts a product's sums come."""
    plan = plan_of(weight)
    return tiling_of(weight).parts if plan is None else plan.parts


@cache
def device_problem(device: torch.device) -> str:
    """Return why a device cannot run the kernel; '' when it can."""
    if torch.version.cuda is None:
        return 'no CUDA'
    if torch.cuda.get_device_capability(device) < (8, 0):
        return 'older than compute capability 8.0'
    found = nvrtc.problem()
    if found:
        return found
    try:
        trial = Plan(warps=1, parts=1, tiles=1, chunk=1, depth=2)
        kernel_of(BF16, trial, 8, SUMS, device.index or 0)
    except nvrtc.KernelError as error:
        return str(error)
    return ''


def shape_problem(weight: Planes) -> str:
    """Return why the kernel does not take a matrix; '' when it does."""
    if weight.kind not in KIND:
        return f'{weight.kind} is not one of {", ".join(KIND)}'
    if weight.group != GROUPS[weight.kind]:
        return f'groups of {weight.group}'
    if weight.columns != weight.padded_columns or weight.columns % COLUMNS:
        return f'{weight.columns} columns are no multiple of {COLUMNS}'
    for each in (weight.scales, weight.biases):
        if each is not None and each.dtype != torch.bfloat16:
            return f'scales are {each.dtype}'
    return ''


def shared_bytes(kind: str, plan: Plan, tokens: int) -> int:
    """Return the shared memory of a block."""
    return plan.warps * plan.depth * _STAGE[kind] + _partial_bytes(plan, tokens)


@cache
def fitted(
    kind: str, plan: Plan, tokens: int, shared: tuple[int, int], *, gated: bool = False
) -> Plan | None:
    """
    Return a plan with stages and chunks that fit into shared memory, None where none do.

    As many blocks as planned share a processor where that leaves them three stages. No bit
    depends on what is changed here.
    """
    most, of_processor = shared
    stage = plan.warps * _STAGE[kind]
    for chunk in (plan.chunk, 2 if gated else 1):
        tried = replace(plan, chunk=chunk)
        partial = _partial_bytes(tried, tokens)
        depth = (of_processor // plan.resident - _RESERVED_SHARED - partial) // stage
        if depth < _LEAST_SHARED_DEPTH:
            depth = (most - partial) // stage
        if depth >= _LEAST_DEPTH:
            return replace(tried, depth=min(plan.depth, depth))
    return None


def _partial_bytes(plan: Plan, tokens: int) -> int:
    rooms = 2 if plan.tiles > plan.chunk else 1
    return rooms * plan.chunk * plan.warps * room_of(tokens) * _TOKEN_BYTES


def room_of(tokens: int) -> int:
    """Return for how many rows a kernel is compiled that has to do some."""
    return 1 << (tokens - 1).bit_length()


def options(kind: str, plan: Plan, tokens: int, mode: int, arch: str) -> tuple[str, ...]:
    """Return what the compiler is told."""
    resident = plan.resident if tokens <= 8 else 1
    return (
        '--std=c++17',
        f'--gpu-architecture={arch}',
        '--fmad=false',
        f'-DKIND={KIND[kind]}',
        f'-DWARPS={plan.warps}',
        f'-DTOKENS={8 if tokens <= 8 else 16}',
        f'-DROOM={room_of(tokens)}',
        f'-DMODE={mode}',
        f'-DCHUNK={plan.chunk}',
        f'-DTURNS={int(plan.tiles > plan.chunk)}',
        f'-DDEPTH={plan.depth}',
        f'-DRESIDENT={resident}',
    )


def source() -> str:
    """Return the text that is compiled."""
    folder = Path(__file__).parent / 'cuda'
    return ''.join((folder / each).read_text() for each in SOURCES)


@cache
def kernel_of(kind: str, plan: Plan, tokens: int, mode: int, index: int) -> nvrtc.Kernel:
    """Return the compiled kernel, loaded on a device."""
    code = nvrtc.compiled(source(), options(kind, plan, tokens, mode, arch_of(index)))
    with torch.cuda.device(index):
        return nvrtc.Kernel(code, 'product', shared=shared_bytes(kind, plan, tokens))


def launch(
    x: torch.Tensor,
    weight: Planes,
    out: torch.Tensor,
    plan: Plan,
    *,
    gated: bool = False,
    plane: torch.Tensor | None = None,
) -> None:
    """
    Multiply, see `triton_matmul.product`, but with any number of rows up to 16.

    :param out: its next-to-last dimension may have more rows, which are left as they are
    """
    mode = GATED if gated else SUMS if plane is None else PLANED
    tokens = room_of(x.shape[-2])
    job = job_of(x, weight, out, plan, gated=gated, plane=plane)
    index = x.device.index or 0
    fit = fitted(weight.kind, plan, tokens, shared_of(index), gated=gated)
    assert fit is not None
    kernel = kernel_of(weight.kind, fit, tokens, mode, index)
    kernel.launch(
        grid_of(weight, plan),
        plan.warps * 32,
        torch.cuda.current_stream(x.device).cuda_stream,
        job,
        early=torch.cuda.get_device_capability(x.device) >= (9, 0),
    )


def grid_of(weight: Planes, plan: Plan) -> tuple[int, int]:
    """Return how many blocks there are, by tiles and by parts of K."""
    return -(-weight.padded_rows // ROWS // plan.tiles), plan.parts


def job_of(
    x: torch.Tensor,
    weight: Planes,
    out: torch.Tensor,
    plan: Plan,
    *,
    gated: bool = False,
    plane: torch.Tensor | None = None,
) -> Job:
    """Return the kernel's argument: addresses, strides and sizes."""
    unit = 2 if gated else 1
    return Job(
        x=x.data_ptr(),
        data=weight.data.data_ptr(),
        scales=address(weight.scales),
        biases=address(weight.biases),
        factors=address(weight.factors),
        plane=address(plane),
        out=out.data_ptr(),
        data_stride=weight.data.stride(0) * weight.data.element_size(),
        part_stride=out.stride(0) if out.dim() == 3 else 0,
        x_stride=x.stride(-2),
        scale_stride=0 if weight.scales is None else weight.scales.stride(0),
        plane_stride=0 if plane is None else plane.stride(0),
        out_rows=out.shape[-1],
        out_stride=out.stride(-2),
        half_rows=weight.padded_rows // 2,
        units=weight.padded_rows // ROWS // unit,
        block_units=plan.tiles // unit,
        unit_step=grid_of(weight, plan)[0] if plan.apart else 1,
        tokens=x.shape[-2],
    )


@cache
def shared_of(index: int) -> tuple[int, int]:
    """Return the shared memory of a block at most, and of a processor."""
    found = torch.cuda.get_device_properties(index)
    most = getattr(found, 'shared_memory_per_block_optin', found.shared_memory_per_block)
    return most, found.shared_memory_per_multiprocessor


@cache
def arch_of(index: int) -> str:
    """Return the compiler's name of a device."""
    major, minor = torch.cuda.get_device_capability(index)
    return f'sm_{major}{minor}'


def address(tensor: torch.Tensor | None) -> int | None:
    """Return where a tensor lies, if there is one."""
    return None if tensor is None else tensor.data_ptr()
