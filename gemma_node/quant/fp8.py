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
FP8 weights: e4m3 numbers with one scale a tensor or one a row (output channel).

Formula: `w = e4m3 * scale` in float32, rounded once at the end. ModelOpt stores the tensor's
scale as a scalar, compressed-tensors as [1], a row's as [rows] or [rows, 1].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from gemma_node.quant.declaration import FP8
from gemma_node.quant.packed import Leaf

_LARGEST = 448.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fp8Tensors:
    """One matrix: `codes` float8_e4m3fn [rows, columns], `scale` [] or [rows, 1]."""

    codes: Tensor
    scale: Tensor

    @property
    def shape(self) -> tuple[int, int]:
        """Return rows and columns."""
        return self.codes.shape[0], self.codes.shape[1]

    @property
    def nbytes(self) -> int:
        """Return bytes of both tensors."""
        return self.codes.nbytes + self.scale.nbytes

    def to(self, device: torch.device) -> Fp8Tensors:
        """Return it on a device."""
        return Fp8Tensors(codes=self.codes.to(device), scale=self.scale.to(device))

    def take(self, rows: slice | Tensor) -> Fp8Tensors:
        """Return some rows."""
        # Indexing is not implemented for eight-bit floats everywhere.
        codes = self.codes.view(torch.uint8)[rows].view(torch.float8_e4m3fn)
        return Fp8Tensors(codes=codes, scale=self.scale[rows] if self.scale.dim() else self.scale)

    def dequantize(self, dtype: torch.dtype) -> Tensor:
        """Return the numbers, with one rounding from float32 (float64 if that is asked)."""
        exact = torch.float64 if dtype == torch.float64 else torch.float32
        return (self.codes.to(exact) * self.scale.to(exact)).to(dtype)


@dataclass(frozen=True, slots=True)
class Fp8Format:
    """An e4m3 matrix with its scale, one a tensor or one a row."""

    @property
    def name(self) -> str:
        """Return what it is called."""
        return FP8

    @property
    def family(self) -> str:
        """Return the same."""
        return FP8

    @property
    def block(self) -> int:
        """Return 1: a scale is for a row or for all."""
        return 1

    def leaves(self, rows: int, columns: int) -> dict[str, Leaf]:
        """Return the tensors of a matrix."""
        return {
            'weight': Leaf(('F8_E4M3',), ((rows, columns),)),
            'weight_scale': Leaf(('F32', 'BF16'), ((rows, 1), (rows,), (1,), ())),
        }

    def build(self, tensors: Mapping[str, Tensor]) -> Fp8Tensors:
        """Return the matrix that the tensors stand for."""
        codes, scale = tensors['weight'], tensors['weight_scale']
        by_row = scale.numel() == codes.shape[0] and scale.numel() > 1
        return Fp8Tensors(codes=codes, scale=scale.reshape((-1, 1) if by_row else ()))


def quantize(weight: Tensor, *, by_row: bool) -> Fp8Tensors:
    """Quantise [rows, columns] so that the largest magnitude becomes e4m3's largest number."""
    if weight.dim() != 2:
        raise ValueError(f'expected [rows, columns], got {list(weight.shape)}')
    values = weight.float()
    largest = values.abs().amax(-1, keepdim=True) if by_row else values.abs().amax()
    scale = largest / _LARGEST
    scale = torch.where(scale == 0.0, 1.0, scale)
    codes = (values / scale).clamp(-_LARGEST, _LARGEST).to(torch.float8_e4m3fn)
    return Fp8Tensors(codes=codes, scale=scale)
