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
The one contract of weight matrices, whatever form they are stored in, and its plain member.

A `Format` says how a form is laid out in a checkpoint; a `Packed` holds one matrix of it and can
give any of its rows back as numbers. A kernel that computes on packed tensors takes them from
the members' own fields; everything else goes through `dense`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from gemma_node.quant.declaration import PLAIN

# Rows are unpacked in parts of about this many numbers, so that temporaries stay small.
PART_ELEMENTS = 1 << 20


@dataclass(frozen=True, slots=True)
class Leaf:
    """
    One stored tensor of a matrix: the dtypes and shapes that are accepted, the written first.

    Dtypes are named as safetensors does.
    """

    dtypes: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]


class Packed(Protocol):
    """
    One matrix [rows, columns] in the form it is stored in.

    `dequantize` in the dtype of the checkpoint gives the bits that the format's own library
    gives; in float32 and float64 nothing is rounded before the end.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix, not of what stores it."""

    @property
    def nbytes(self) -> int:
        """Bytes of the stored tensors."""

    def to(self, device: torch.device) -> Packed:
        """Return it on a device."""

    def take(self, rows: slice | Tensor) -> Packed:
        """Return some rows, by a slice or by indices [n]."""

    def dequantize(self, dtype: torch.dtype) -> Tensor:
        """Return all numbers at once; for a large matrix use `dense`."""


class Format(Protocol):
    """One form that a matrix can have in a checkpoint."""

    @property
    def name(self) -> str:
        """How people call it: bf16, mlx-4bit/64, nvfp4, fp8."""

    @property
    def family(self) -> str:
        """What a declaration calls it."""

    @property
    def block(self) -> int:
        """How many columns share a scale; a matrix has whole blocks."""

    def leaves(self, rows: int, columns: int) -> dict[str, Leaf]:
        """Return what is stored for a matrix, by the name after the module's."""

    def build(self, tensors: Mapping[str, Tensor]) -> Packed:
        """Return the matrix that stored tensors, by the names of `leaves`, stand for."""


@dataclass(frozen=True, slots=True)
class PlainTensor:
    """A matrix that is stored as its numbers."""

    values: Tensor

    @property
    def shape(self) -> tuple[int, int]:
        """Return rows and columns."""
        return self.values.shape[0], self.values.shape[1]

    @property
    def nbytes(self) -> int:
        """Return its size."""
        return self.values.nbytes

    def to(self, device: torch.device) -> PlainTensor:
        """Return it on a device."""
        return PlainTensor(self.values.to(device))

    def take(self, rows: slice | Tensor) -> PlainTensor:
        """Return some rows."""
        return PlainTensor(self.values[rows])

    def dequantize(self, dtype: torch.dtype) -> Tensor:
        """Return the numbers, rounded if the dtype is narrower."""
        return self.values.to(dtype)


@dataclass(frozen=True, slots=True)
class PlainFormat:
    """Numbers as they are; `dtype` as safetensors names it."""

    dtype: str = 'BF16'

    @property
    def name(self) -> str:
        """Return the dtype's name."""
        return self.dtype.lower()

    @property
    def family(self) -> str:
        """Return that nothing is quantised."""
        return PLAIN

    @property
    def block(self) -> int:
        """Return 1: columns share nothing."""
        return 1

    def leaves(self, rows: int, columns: int) -> dict[str, Leaf]:
        """Return the one tensor."""
        return {'weight': Leaf((self.dtype,), ((rows, columns),))}

    def build(self, tensors: Mapping[str, Tensor]) -> PlainTensor:
        """Return the matrix."""
        return PlainTensor(tensors['weight'])


def dense(matrix: Packed, dtype: torch.dtype) -> Tensor:
    """Return all numbers of a matrix in a dtype, unpacked part by part on its device."""
    if isinstance(matrix, PlainTensor):
        return matrix.dequantize(dtype)
    rows, columns = matrix.shape
    step = max(1, PART_ELEMENTS // max(1, columns))
    first = matrix.take(slice(0, step)).dequantize(dtype)
    if step >= rows:
        return first
    whole = torch.empty(rows, columns, dtype=dtype, device=first.device)
    whole[:step] = first
    for start in range(step, rows, step):
        whole[start : start + step] = matrix.take(slice(start, start + step)).dequantize(dtype)
    return whole
