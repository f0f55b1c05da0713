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
NVFP4 weights: E2M1 numbers in blocks of 16 that share an e4m3 scale, and one scale a tensor.

Formula: `w = e2m1 * (block * tensor)` as ModelOpt exports it, `w = e2m1 * (block / tensor)` as
compressed-tensors does (its tensor scale is the inverse); float32, rounded once at the end. Bytes
hold two codes, the even column in the low half; bit 3 of a code is the sign.

The quantiser follows compressed-tensors 0.20 byte for byte, fed with float32 weights. Activations
stay as they are: a checkpoint that also has activation scales is computed with its weights only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from gemma_node.quant.declaration import NVFP4
from gemma_node.quant.packed import Leaf

BLOCK = 16
# What compressed-tensors calls the tensor scale, by which it divides.
DIVISOR = 'weight_global_scale'
_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_LARGEST = 6.0
_LARGEST_SCALE = 448.0
# A block whose scale would round to zero gets this one, as compressed-tensors gives it.
_SCALE_OF_ZEROS = 0.125

Style = Literal['modelopt', 'compressed-tensors']


@dataclass(frozen=True, slots=True, kw_only=True)
class Nvfp4Tensors:
    """
    One matrix [rows, columns].

    `codes` uint8 [rows, columns / 2]; `scales` float8_e4m3fn [rows, columns / 16];
    `tensor_scale` float32 [], by which the scales are multiplied, or divided if `divides`.
    """

    codes: Tensor
    scales: Tensor
    tensor_scale: Tensor
    divides: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Return rows and columns of the matrix."""
        return self.codes.shape[0], self.codes.shape[1] * 2

    @property
    def nbytes(self) -> int:
        """Return bytes of the three tensors."""
        return self.codes.nbytes + self.scales.nbytes + self.tensor_scale.nbytes

    def to(self, device: torch.device) -> Nvfp4Tensors:
        """Return it on a device."""
        return self._with(
            self.codes.to(device), self.scales.to(device), self.tensor_scale.to(device)
        )

    def take(self, rows: slice | Tensor) -> Nvfp4Tensors:
        """Return some rows."""
        # Indexing is not implemented for eight-bit floats everywhere.
        scales = self.scales.view(torch.uint8)[rows].view(torch.float8_e4m3fn)
        return self._with(self.codes[rows], scales, self.tensor_scale)

    def dequantize(self, dtype: torch.dtype) -> Tensor:
        """Return the numbers, with one rounding from float32 (float64 if that is asked)."""
        exact = torch.float64 if dtype == torch.float64 else torch.float32
        scales, tensor_scale = self.scales.to(exact), self.tensor_scale.to(exact)
        scales = scales / tensor_scale if self.divides else scales * tensor_scale
        values = unpack(self.codes, exact).view(*scales.shape, BLOCK) * scales.unsqueeze(-1)
        return values.view(self.shape).to(dtype)

    def _with(self, codes: Tensor, scales: Tensor, tensor_scale: Tensor) -> Nvfp4Tensors:
        return Nvfp4Tensors(
            codes=codes, scales=scales, tensor_scale=tensor_scale, divides=self.divides
        )


@dataclass(frozen=True, slots=True)
class Nvfp4Format:
    """How either library names and shapes the three tensors."""

    style: Style

    @property
    def name(self) -> str:
        """Return what both are called."""
        return NVFP4

    @property
    def family(self) -> str:
        """Return the same."""
        return NVFP4

    @property
    def block(self) -> int:
        """Return 16."""
        return BLOCK

    def leaves(self, rows: int, columns: int) -> dict[str, Leaf]:
        """Return the tensors of a matrix; columns are whole blocks."""
        codes, tensor_scale = _NAMES[self.style]
        scalar: tuple[tuple[int, ...], ...] = ((1,), ())
        return {
            codes: Leaf(('U8',), ((rows, columns // 2),)),
            'weight_scale': Leaf(('F8_E4M3',), ((rows, columns // BLOCK),)),
            tensor_scale: Leaf(('F32',), scalar if self.divides else scalar[::-1]),
        }

    def build(self, tensors: Mapping[str, Tensor]) -> Nvfp4Tensors:
        """Return the matrix that the tensors stand for."""
        codes, tensor_scale = _NAMES[self.style]
        return Nvfp4Tensors(
            codes=tensors[codes],
            scales=tensors['weight_scale'],
            tensor_scale=tensors[tensor_scale].reshape(()),
            divides=self.divides,
        )

    @property
    def divides(self) -> bool:
        """Whether the tensor scale is stored as its inverse."""
        return self.style == 'compressed-tensors'


_NAMES: dict[Style, tuple[str, str]] = {
    'modelopt': ('weight', 'weight_scale_2'),
    'compressed-tensors': ('weight_packed', DIVISOR),
}


def tensor_scale_of(largest: Tensor) -> Tensor:
    """
    Return the (inverse) tensor scale for weights whose largest magnitude is `largest` [].

    The largest block scale becomes e4m3's largest number. Matrices that a server fuses share one
    scale: give the largest magnitude of them all.
    """
    tiny = torch.finfo(torch.float32).tiny
    scale = _LARGEST_SCALE * _LARGEST / largest.float().clamp(min=tiny)
    return torch.where(scale.isfinite(), scale, 1.0)


def quantize(weight: Tensor, tensor_scale: Tensor | None = None) -> Nvfp4Tensors:
    """
    Quantise rows [rows, a multiple of 16], by default with their own tensor scale.

    Nearest number, ties to the even code; rows do not depend on each other given the scale.
    """
    if weight.dim() != 2 or weight.shape[1] % BLOCK:
        raise ValueError(f'expected [rows, a multiple of {BLOCK}], got {list(weight.shape)}')
    blocks = weight.float().reshape(weight.shape[0], -1, BLOCK)
    largest = blocks.abs().amax(-1)
    if tensor_scale is None:
        tensor_scale = tensor_scale_of(largest.amax())
    wanted = tensor_scale * (largest / _LARGEST)
    scales = wanted.clamp(max=_LARGEST_SCALE).to(torch.float8_e4m3fn).float()
    scales = torch.where(scales == 0.0, _SCALE_OF_ZEROS, scales)
    scaled = blocks / (scales / tensor_scale).unsqueeze(-1)
    return Nvfp4Tensors(
        codes=pack(_codes(scaled).view(weight.shape)),
        scales=scales.to(torch.float8_e4m3fn),
        tensor_scale=tensor_scale,
        divides=True,
    )


def pack(codes: Tensor) -> Tensor:
    """Pack uint8 codes [rows, columns] below 16 into bytes [rows, columns / 2]."""
    return codes[:, 0::2] | codes[:, 1::2] << 4


def unpack(codes: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the E2M1 numbers [rows, columns] of bytes [rows, columns / 2]."""
    numbers = torch.tensor(_MAGNITUDES + tuple(-each for each in _MAGNITUDES), dtype=dtype)
    byte = torch.arange(256)
    pairs = torch.stack([numbers[byte & 15], numbers[byte >> 4]], -1).to(codes.device)
    return pairs[codes.long()].flatten(1)


def _codes(scaled: Tensor) -> Tensor:
    size = scaled.abs()
    codes = (size > 0.25).to(torch.uint8)
    codes += size >= 0.75
    codes += size > 1.25
    codes += size >= 1.75
    codes += size > 2.5
    codes += size >= 3.5
    codes += size > 5.0
    return codes | (scaled < 0).to(torch.uint8) << 3
