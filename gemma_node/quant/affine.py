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
MLX affine quantisation: groups of a row share a scale and a bias.

Format: `w = scale * code + bias`; each row's codes are one little-endian bit stream, viewed as
uint32 words; scales and biases have the weight's dtype, one pair per group. All arithmetic of
the quantiser is float32. Source: MLX 0.32 (`mx.quantize`, CPU backend and Metal kernel).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from gemma_node.quant.declaration import AFFINE
from gemma_node.quant.declaration import affine_name
from gemma_node.quant.declaration import BITS
from gemma_node.quant.declaration import GROUP_SIZES
from gemma_node.quant.packed import Leaf

_MIN_SCALE = 1e-7

Rounding = Literal['cpu', 'metal']


@dataclass(frozen=True, slots=True, kw_only=True)
class AffineTensors:
    """
    One quantised matrix of shape [rows, columns].

    `words` uint32 [rows, columns * bits / 32]; `scales`, `biases` [rows, columns / group_size].
    """

    words: Tensor
    scales: Tensor
    biases: Tensor
    bits: int
    group_size: int

    @property
    def shape(self) -> tuple[int, int]:
        """Return [rows, columns] of the matrix that this stands for."""
        return self.words.shape[0], self.words.shape[1] * 32 // self.bits

    @property
    def nbytes(self) -> int:
        """Return bytes of the three tensors."""
        return self.words.nbytes + self.scales.nbytes + self.biases.nbytes

    def to(self, device: torch.device) -> AffineTensors:
        """Return it on a device."""
        return self._with(self.words.to(device), self.scales.to(device), self.biases.to(device))

    def take(self, rows: slice | Tensor) -> AffineTensors:
        """Return some rows."""
        # Indexing is not implemented for unsigned words everywhere.
        words = self.words.view(torch.int32)[rows].view(torch.uint32)
        return self._with(words, self.scales[rows], self.biases[rows])

    def dequantize(self, dtype: torch.dtype) -> Tensor:
        """Return the numbers, in the scales' dtype with MLX's two roundings."""
        return dequantize(self, dtype)

    def _with(self, words: Tensor, scales: Tensor, biases: Tensor) -> AffineTensors:
        return AffineTensors(
            words=words,
            scales=scales,
            biases=biases,
            bits=self.bits,
            group_size=self.group_size,
        )


@dataclass(frozen=True, slots=True)
class AffineFormat:
    """MLX's names and shapes of the three tensors; `dtype` is that of scales and biases."""

    bits: int
    group_size: int
    dtype: str = 'BF16'

    @property
    def name(self) -> str:
        """Return bits and group size."""
        return affine_name(self.bits, self.group_size)

    @property
    def family(self) -> str:
        """Return MLX's mode."""
        return AFFINE

    @property
    def block(self) -> int:
        """Return the group size."""
        return self.group_size

    def leaves(self, rows: int, columns: int) -> dict[str, Leaf]:
        """Return the tensors of a matrix; columns are whole groups."""
        groups = Leaf((self.dtype,), ((rows, columns // self.group_size),))
        words = Leaf(('U32',), ((rows, columns * self.bits // 32),))
        return {'weight': words, 'scales': groups, 'biases': groups}

    def build(self, tensors: Mapping[str, Tensor]) -> AffineTensors:
        """Return the matrix that the tensors stand for."""
        return AffineTensors(
            words=tensors['weight'],
            scales=tensors['scales'],
            biases=tensors['biases'],
            bits=self.bits,
            group_size=self.group_size,
        )


def quantize(
    weight: Tensor, *, bits: int, group_size: int, rounding: Rounding = 'cpu'
) -> AffineTensors:
    """
    Quantise [rows, columns]; columns must be a multiple of the group size.

    `cpu` equals `mx.quantize` on MLX's CPU backend byte for byte: ties to even, the group's own
    extremes. `metal` follows the Metal kernel: ties away from zero, extremes start at 0.
    """
    codes, scale, bias = _encode(weight, bits, group_size, rounding)
    return AffineTensors(
        words=pack(codes.to(torch.uint8).reshape(weight.shape), bits),
        scales=scale.squeeze(-1).to(weight.dtype),
        biases=bias.squeeze(-1).to(weight.dtype),
        bits=bits,
        group_size=group_size,
    )


def round_trip(weight: Tensor, *, bits: int, group_size: int) -> Tensor:
    """Return, in float32, what `dequantize` gives of `quantize`, without packing anything."""
    codes, scale, bias = _encode(weight, bits, group_size, 'cpu')
    values = codes.mul_(scale.to(weight.dtype)).add_(bias.to(weight.dtype))
    return values.reshape(weight.shape)


def _encode(
    weight: Tensor, bits: int, group_size: int, rounding: Rounding
) -> tuple[Tensor, Tensor, Tensor]:
    """Return float32 codes [rows, groups, size], and scale and bias [rows, groups, 1]."""
    _check(weight, bits, group_size)
    levels = float(2**bits - 1)
    groups = weight.reshape(weight.shape[0], -1, group_size).float()
    high, low = groups.amax(-1, keepdim=True), groups.amin(-1, keepdim=True)
    if rounding == 'metal':
        high, low = high.clamp(min=0.0), low.clamp(max=0.0)
    scale = ((high - low) / levels).clamp(min=_MIN_SCALE)
    is_low_edge = low.abs() > high.abs()
    scale = torch.where(is_low_edge, scale, -scale)
    edge = torch.where(is_low_edge, low, high)
    steps = _round(edge / scale, rounding)
    has_steps = steps != 0
    scale = torch.where(has_steps, edge / torch.where(has_steps, steps, 1.0), scale)
    bias = torch.where(has_steps, edge, 0.0)
    # In place, since fresh memory costs more here than arithmetic.
    steps = _round((groups - bias).div_(scale), rounding)
    return steps.clamp_(0.0, levels), scale, bias


def dequantize(tensors: AffineTensors, dtype: torch.dtype | None = None) -> Tensor:
    """
    Return [rows, columns]; by default in the scales' dtype with MLX's two roundings.

    `mx.dequantize` computes `scale * code`, rounds, adds `bias`, rounds. With `dtype` float32 or
    float64 nothing is rounded before the end: the value a float32-accumulating kernel uses.
    """
    scales, biases = tensors.scales, tensors.biases
    if dtype is not None:
        wider = torch.promote_types(dtype, scales.dtype)
        scales, biases = scales.to(wider), biases.to(wider)
    codes = unpack(tensors.words, tensors.bits)
    groups = codes.reshape(codes.shape[0], -1, tensors.group_size).to(scales.dtype)
    values = groups * scales.unsqueeze(-1) + biases.unsqueeze(-1)
    return values.reshape(tensors.shape).to(dtype or scales.dtype)


def pack(codes: Tensor, bits: int) -> Tensor:
    """Pack uint8 codes [rows, columns] into uint32 words [rows, columns * bits / 32]."""
    rows, columns = codes.shape
    if bits == 8:
        stream = codes.contiguous()
    elif bits == 4:
        stream = codes[:, 0::2] | codes[:, 1::2] << 4
    else:
        shifts = torch.arange(8, device=codes.device) * bits
        runs = (codes.reshape(rows, columns // 8, 8).long() << shifts).sum(-1)
        stream = torch.stack([(runs >> 8 * byte) & 0xFF for byte in range(bits)], -1)
        stream = stream.to(torch.uint8).reshape(rows, -1)
    return stream.contiguous().view(torch.uint32)


def unpack(words: Tensor, bits: int) -> Tensor:
    """Unpack uint32 words [rows, n] into uint8 codes [rows, n * 32 / bits]."""
    stream = words.contiguous().view(torch.uint8)
    if bits == 8:
        return stream
    if bits == 4:
        return torch.stack([stream & 15, stream >> 4], -1).flatten(1)
    runs = stream.reshape(words.shape[0], -1, bits).long()
    joined = (runs << 8 * torch.arange(bits, device=words.device)).sum(-1)
    shifts = torch.arange(8, device=words.device) * bits
    codes: Tensor = (joined.unsqueeze(-1) >> shifts) & (2**bits - 1)
    return codes.to(torch.uint8).flatten(1)


def _round(values: Tensor, rounding: Rounding) -> Tensor:
    """Round, maybe in place."""
    if rounding == 'cpu':
        return values.round_()
    whole = torch.trunc(values)
    away: Tensor = whole + torch.where((values - whole).abs() >= 0.5, torch.sign(values), 0.0)
    return away


def _check(weight: Tensor, bits: int, group_size: int) -> None:
    if bits not in BITS:
        raise ValueError(f'bits must be one of {BITS}, got {bits}')
    if group_size not in GROUP_SIZES:
        raise ValueError(f'group_size must be one of {GROUP_SIZES}, got {group_size}')
    if weight.dim() != 2 or weight.shape[1] % group_size:
        raise ValueError(f'expected [rows, a multiple of {group_size}], got {list(weight.shape)}')
