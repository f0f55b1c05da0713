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
Which tensors a packed matrix is stored in, and their shapes; the loader's rules without torch.

The forms of `gemma_node.quant` are the authority; a test holds this against them.
"""

from __future__ import annotations

from collections.abc import Mapping

from gemma_node.model.header import Entry
from gemma_node.quant.declaration import BITS
from gemma_node.quant.declaration import GROUP_SIZES

Shape = tuple[int, ...]
_USUAL_BITS, _USUAL_GROUP = 4, 64
_BLOCK = 16
_SCALAR: tuple[Shape, ...] = ((), (1,))


def packed_shapes(
    own: Mapping[str, Entry], rows: int, columns: int
) -> dict[str, tuple[Shape, ...]]:
    """Return the shapes that each tensor of a matrix may have; the first is the usual one."""
    weight, scales = own.get('weight'), own.get('scales')
    kind = '' if weight is None else weight.dtype
    blocks = ((rows, columns // _BLOCK),)
    if 'weight_packed' in own:
        return {
            'weight_packed': ((rows, columns // 2),),
            'weight_scale': blocks,
            'weight_global_scale': _SCALAR[::-1],
        }
    if scales is not None or kind == 'U32':
        words = weight.shape[-1] * 32 if weight is not None and weight.shape else 0
        groups = scales.shape[-1] if scales is not None and scales.shape else 0
        bits = _quotient(words, columns, BITS, _USUAL_BITS)
        group = _quotient(columns, groups, GROUP_SIZES, _USUAL_GROUP)
        by_group = ((rows, columns // group),)
        return {
            'weight': ((rows, columns * bits // 32),), 'scales': by_group, 'biases': by_group
        }  # fmt: skip
    if kind == 'U8':
        return {
            'weight': ((rows, columns // 2),), 'weight_scale': blocks, 'weight_scale_2': _SCALAR
        }  # fmt: skip
    if kind == 'F8_E4M3':
        return {'weight': ((rows, columns),), 'weight_scale': ((rows, 1), (rows,), (1,), ())}
    return {'weight': ((rows, columns),)}


def _quotient(whole: int, part: int, choices: tuple[int, ...], usual: int) -> int:
    quotient, rest = divmod(whole, part) if part else (0, 1)
    return quotient if rest == 0 and quotient in choices else usual
