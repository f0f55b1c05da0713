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
Tilings of the matrix kernels as data: which device they were chosen on, and how.

Never chosen while serving, and never by the number of SMs of the device at hand: where K is cut
decides bits, so a table is part of a kernel's identity.
"""

from __future__ import annotations

from dataclasses import dataclass

from gemma_node.kernels.planes import BF16
from gemma_node.kernels.planes import Planes

# Where the tables come from. `DECODE` was calculated; what is in `BY_KIND` was measured to be
# faster than it there, and other matrices to be no faster otherwise. benchmarks/gpu_tune.py.
ORIGIN = 'NVIDIA H200: affine4 by gpu_tune.py; other forms calculated'


@dataclass(frozen=True, slots=True)
class Tiling:
    """Rows of the matrix and tokens in a tile, parts of K, warps, and stages of the pipeline."""

    rows: int
    parts: int
    warps: int
    stages: int
    tokens: int = 64


# (rows, columns) of a matrix -> rows in a tile, parts, warps, stages. About 500 small programs
# run: 132 SMs take several each, and every part of K is whole blocks of 256 columns.
DECODE: dict[tuple[int, int], tuple[int, int, int, int]] = {
    (3072, 2560): (32, 5, 2, 4),
    (2048, 2560): (32, 5, 2, 4),
    (6144, 2560): (32, 2, 2, 4),
    (4096, 2560): (32, 5, 2, 4),
    (2560, 2048): (32, 4, 2, 4),
    (2560, 4096): (32, 8, 2, 4),
    (2560, 10240): (32, 8, 2, 4),
    (20480, 2560): (32, 1, 2, 4),
    (256, 2560): (16, 10, 1, 4),
    (2560, 256): (16, 1, 1, 4),
    (10752, 2560): (32, 2, 2, 4),
    (262144, 2560): (32, 1, 2, 4),
}
# The same for one form of a matrix, where it needs another.
BY_KIND: dict[tuple[str, int, int], tuple[int, int, int, int]] = {
    # NVIDIA H200, gpu_tune.py, one lane at 2,048 tokens: a step of 2.72 ms instead of 3.18.
    ('affine4', 20480, 2560): (32, 1, 1, 5),
    ('affine4', 2560, 10240): (16, 10, 1, 5),
    ('affine4', 2048, 2560): (64, 10, 4, 3),
    ('affine4', 2560, 256): (16, 1, 1, 3),
    ('affine4', 262144, 2560): (32, 1, 1, 3),
    ('affine4', 6144, 2560): (64, 10, 2, 5),
}
_OTHER = (32, 1, 2, 4)
MAX_PARTS = 10
# Prompts of so many rows unpack a matrix once, not once for each tile of tokens; so many numbers.
UNPACKED_FROM = 512
UNPACKED_NUMBERS = 10240 * 2560

# Positions that one program of a decode row reads, of sliding and of full layers.
ATTENTION_BLOCKS = {True: 32, False: 64}


def attention_parts(num_positions: int, window: int) -> int:
    """Return into how many parts a row's keys may be cut at most; window 0 for full layers."""
    block = ATTENTION_BLOCKS[window > 0]
    return (window - 2) // block + 2 if window else -(-num_positions // block)


def tiling_of(
    weight: Planes, *, gated: bool = False, whole: bool = False
) -> Tiling:
    """Return how a matrix is tiled; a function of its shape and kind alone."""
    key = (weight.rows, weight.columns)
    rows, parts, warps, stages = BY_KIND.get((weight.kind, *key), DECODE.get(key, _OTHER))
    if gated or whole:
        parts = 1
    steps = weight.padded_columns // weight.block
    parts = next(each for each in range(min(parts, MAX_PARTS), 0, -1) if steps % each == 0)
    return Tiling(rows=rows, parts=parts, warps=warps, stages=stages)


# Rows and tokens of a tile, warps, stages, and how well such a tile does, about.
_PLAIN_TILES = (
    (128, 256, 8, 4, 1.0),
    (128, 128, 8, 4, 0.85),
    (128, 64, 4, 4, 0.6),
    (64, 64, 4, 4, 0.4),
)
_PACKED_TILES = (
    (128, 128, 8, 2, 0.85),
    (128, 64, 8, 3, 0.6),
    (64, 64, 4, 3, 0.4),
)
# A device that these choices are made for has so many multiprocessors; no bit depends on it.
_PROCESSORS = 132


def prompt_tiling(weight: Planes, prompt_rows: int, *, gated: bool = False) -> Tiling:
    """Return a tile; it changes no bits, as each sum goes over K in the same steps."""
    best, least = None, float('inf')
    height = weight.padded_rows
    for rows, tokens, warps, stages, worth in (
        _PLAIN_TILES if weight.kind == BF16 else _PACKED_TILES
    ):
        if height % rows or prompt_rows % tokens or (gated and height // 2 % (rows // 2)):
            continue
        programs = height // rows * (prompt_rows // tokens)
        cost = -(-programs // _PROCESSORS) * rows * tokens / worth
        if cost < least:
            best, least = (rows, tokens, warps, stages), cost
    assert best is not None
    rows, tokens, warps, stages = best
    return Tiling(rows=rows, parts=1, warps=warps, stages=stages, tokens=tokens)
