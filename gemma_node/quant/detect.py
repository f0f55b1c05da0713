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

"""Recognises in which form a matrix is stored, by the names, dtypes and shapes of its tensors."""

from __future__ import annotations

from collections.abc import Mapping

from gemma_node.quant.affine import AffineFormat
from gemma_node.quant.declaration import BITS
from gemma_node.quant.declaration import GROUP_SIZES
from gemma_node.quant.fp8 import Fp8Format
from gemma_node.quant.nvfp4 import Nvfp4Format
from gemma_node.quant.packed import Format
from gemma_node.quant.packed import PlainFormat

_USUAL_BITS = 4
_USUAL_GROUP = 64

# Dtype and shape of a stored tensor.
Stored = tuple[str, tuple[int, ...]]


def detect(stored: Mapping[str, Stored], columns: int, dtype: str) -> Format:
    """
    Return the form whose tensors these look most like; whether they are is for the caller.

    :param stored: the tensors of one module by their last name
    :param columns: of the matrix that the model needs
    :param dtype: of the checkpoint's unquantised tensors
    """
    if 'weight_packed' in stored:
        return Nvfp4Format('compressed-tensors')
    kind, shape = stored.get('weight', ('', ()))
    if 'scales' in stored or kind == 'U32':
        groups = stored.get('scales', ('', ()))[1]
        return AffineFormat(
            _quotient(shape[-1] * 32 if shape else 0, columns, BITS, _USUAL_BITS),
            _quotient(columns, groups[-1] if groups else 0, GROUP_SIZES, _USUAL_GROUP),
            dtype,
        )
    if kind == 'U8':
        return Nvfp4Format('modelopt')
    if kind == 'F8_E4M3':
        return Fp8Format()
    return PlainFormat(dtype)


def _quotient(whole: int, part: int, choices: tuple[int, ...], usual: int) -> int:
    quotient, rest = divmod(whole, part) if part else (0, 1)
    return quotient if rest == 0 and quotient in choices else usual
