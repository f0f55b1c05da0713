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
How a matrix lies in device memory for the matrix kernels, and what it stands for.

Four-bit codes lie in blocks of four groups: 16-bit word i of a block holds element i of each of
them, one a nibble, so that a shift and a mask give a whole group of consecutive columns. Scales
and biases lie by group, then by row. Rows are padded to 64, columns to whole blocks, with zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor
import torch.nn.functional as F  # noqa: N812

ROW_PAD = 64
# Columns that a kernel works on at a time, of the kinds without groups.
BLOCK = 256
AFFINE4, AFFINE8, NVFP4, FP8, BF16 = 'affine4', 'affine8', 'nvfp4', 'fp8', 'bfloat16'
KINDS = (AFFINE4, AFFINE8, NVFP4, FP8, BF16)
_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planes:
    """
    One matrix [rows, columns], packed.

    `data` is int16 [padded rows, padded columns / 4] of four-bit kinds, int8 codes less 128 of
    affine8, uint8 of fp8, bfloat16 of bfloat16. `scales` and `biases` are [groups, padded rows],
    `factors` float32 [padded rows]: a row's last factor.
    """

    kind: str
    rows: int
    columns: int
    group: int
    data: Tensor
    scales: Tensor | None = None
    biases: Tensor | None = None
    factors: Tensor | None = None

    @property
    def padded_rows(self) -> int:
        """Rows of `data`."""
        return self.data.shape[0]

    @property
    def padded_columns(self) -> int:
        """Columns that `data` stands for."""
        return self.data.shape[1] * (4 if self.kind in (AFFINE4, NVFP4) else 1)

    @property
    def block(self) -> int:
        """Columns that lie together."""
        return 4 * self.group if self.kind in (AFFINE4, NVFP4) else self.group or 64

    @property
    def nbytes(self) -> int:
        """Bytes that one product reads."""
        return sum(each.nbytes for each in self._tensors().values())

    def to(self, device: torch.device | str) -> Planes:
        """Return it on a device."""
        moved = {name: each.to(device) for name, each in self._tensors().items()}
        return self._with(**moved)

    def part(self, start: int, end: int) -> Planes:
        """Return some rows, a view; both ends are multiples of 64, or the last row."""
        return self._with(
            rows=min(end, self.rows) - start,
            data=self.data[start:end],
            scales=None if self.scales is None else self.scales[:, start:end],
            biases=None if self.biases is None else self.biases[:, start:end],
            factors=None if self.factors is None else self.factors[start:end],
        )

    def _tensors(self) -> dict[str, Tensor]:
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in found.items() if isinstance(value, Tensor)}

    def _with(self, **changes: Any) -> Planes:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return Planes(**{**values, **changes})


def affine_planes(codes: Tensor, scales: Tensor, biases: Tensor, *, bits: int) -> Planes:
    """
    Pack codes uint8 [rows, columns] with scales and biases [rows, columns / group size].

    Groups of 128 become two of 64 with equal scales.
    """
    rows, columns = codes.shape
    group = columns // scales.shape[1]
    if group > 64:
        repeats = group // 64
        scales, biases = (each.repeat_interleave(repeats, 1) for each in (scales, biases))
        group = 64
    block = 4 * group if bits == 4 else group
    codes = _padded(codes, block)
    data = _slices(codes, group) if bits == 4 else (codes.int() - 128).to(torch.int8)
    return Planes(
        kind=AFFINE4 if bits == 4 else AFFINE8,
        rows=rows,
        columns=columns,
        group=group,
        data=data,
        scales=_by_group(scales, codes.shape[1] // group),
        biases=_by_group(biases, codes.shape[1] // group),
    )


def nvfp4_planes(codes: Tensor, scales: Tensor, factor: Tensor) -> Planes:
    """Pack E2M1 codes uint8 [rows, columns], e4m3 scales by 16 and one factor for all."""
    rows, columns = codes.shape
    codes = _padded(codes, 64)
    # Every e4m3 number is a bfloat16 number.
    numbers = scales.float().to(torch.bfloat16)
    return Planes(
        kind=NVFP4,
        rows=rows,
        columns=columns,
        group=16,
        data=_slices(codes, 16),
        scales=_by_group(numbers, codes.shape[1] // 16),
        factors=_factors(factor, codes.shape[0], rows),
    )


def fp8_planes(codes: Tensor, factor: Tensor) -> Planes:
    """Pack e4m3 numbers [rows, columns] with a factor for all or [rows, 1]."""
    rows, columns = codes.shape
    data = _padded(codes.view(torch.uint8), 64)
    return Planes(
        kind=FP8, rows=rows, columns=columns, group=0, data=data,
        factors=_factors(factor, data.shape[0], rows),
    )  # fmt: skip


def bf16_planes(values: Tensor) -> Planes:
    """Take numbers as bfloat16."""
    rows, columns = values.shape
    data = _padded(values.to(torch.bfloat16), 64)
    return Planes(kind=BF16, rows=rows, columns=columns, group=0, data=data)


def stacked(parts: list[Planes]) -> Planes:
    """Return matrices of one kind with the same input as one, rows below each other."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if any((each.kind, each.group) != (first.kind, first.group) for each in parts):
        raise ValueError('matrices of different kinds cannot be one')
    if any(each.rows % ROW_PAD for each in parts[:-1]):
        raise ValueError(f'rows must be a multiple of {ROW_PAD} to stand below each other')

    def join(name: str, dim: int) -> Tensor | None:
        tensors = [getattr(each, name) for each in parts]
        return None if tensors[0] is None else torch.cat(tensors, dim)

    return Planes(
        kind=first.kind,
        rows=sum(each.rows for each in parts),
        columns=first.columns,
        group=first.group,
        data=torch.cat([each.data for each in parts]),
        scales=join('scales', 1),
        biases=join('biases', 1),
        factors=join('factors', 0),
    )


def numbers_of(planes: Planes, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return what a matrix stands for, [rows, columns]: the truth that kernels are held to."""
    if planes.kind == BF16:
        values = planes.data.to(dtype)
    elif planes.kind == FP8:
        values = planes.data.view(torch.float8_e4m3fn).to(dtype)
    elif planes.kind == AFFINE8:
        values = planes.data.to(dtype) + 128.0
    else:
        values = _codes(planes).to(dtype)
    if planes.kind == NVFP4:
        table = torch.tensor(_E2M1 + tuple(-each for each in _E2M1), dtype=dtype)
        values = table.to(values.device)[values.long()]
    if planes.scales is not None:
        repeats = planes.group
        values = values * planes.scales.to(dtype).t().repeat_interleave(repeats, 1)
        if planes.biases is not None:
            values = values + planes.biases.to(dtype).t().repeat_interleave(repeats, 1)
    if planes.factors is not None:
        values = values * planes.factors.to(dtype)[:, None]
    return values[: planes.rows, : planes.columns]


def _slices(codes: Tensor, group: int) -> Tensor:
    """Return int16 words [rows, columns / 4] of codes whose columns are whole blocks."""
    rows, columns = codes.shape
    quads = codes.view(rows, columns // (4 * group), 4, group).int()
    shifts = torch.tensor([0, 4, 8, 12], device=codes.device).view(1, 1, 4, 1)
    words = (quads << shifts).sum(2).view(rows, columns // 4)
    return words.where(words < 1 << 15, words - (1 << 16)).to(torch.int16)


def _codes(planes: Planes) -> Tensor:
    rows, words = planes.data.shape
    blocks = planes.data.view(rows, words // planes.group, 1, planes.group).int()
    shifts = torch.tensor([0, 4, 8, 12], device=blocks.device).view(1, 1, 4, 1)
    return (blocks >> shifts & 15).view(rows, words * 4)


def _padded(values: Tensor, block: int) -> Tensor:
    rows, columns = values.shape
    if rows % ROW_PAD == 0 and columns % block == 0:
        return values.contiguous()
    return F.pad(values, (0, -columns % block, 0, -rows % ROW_PAD)).contiguous()


def _by_group(values: Tensor, num_groups: int) -> Tensor:
    """Return [rows, groups] by group, as bfloat16 where that is exact."""
    narrow = values.to(torch.bfloat16)
    kept = narrow if torch.equal(narrow.to(values.dtype), values) else values.float()
    rows, groups = kept.shape
    return F.pad(kept, (0, num_groups - groups, 0, -rows % ROW_PAD)).t().contiguous()


def _factors(factor: Tensor, padded_rows: int, rows: int) -> Tensor:
    whole = factor.float().reshape(-1).expand(rows) if factor.numel() == 1 else factor.float()
    return F.pad(whole.reshape(-1), (0, padded_rows - rows)).contiguous()
