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
Models in which most of a model is multiplied by zero, in the form its weights have.

What is left is small enough to be told from rounding, and every kernel still runs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import torch
from torch import nn

from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.gemma4 import Layer
from gemma_node.model.linear import Linear
from gemma_node.model.linear import QuantLinear
from gemma_node.quant.affine import AffineTensors
from gemma_node.quant.fp8 import Fp8Tensors
from gemma_node.quant.nvfp4 import Nvfp4Tensors
from gemma_node.quant.packed import Packed
from gemma_node.quant.packed import PlainTensor
from gemma_node.receipts.bench import twin


def last_layer_alone(model: Gemma4) -> Gemma4:
    """Return the model in which only the last layer adds to the stream."""
    made = twin(model)
    zeros: dict[tuple[int, int], Packed] = {}
    for module in made.layers[:-1]:
        layer = cast('Layer', module)
        for parent, name in (
            (layer.self_attn, 'o_proj'),
            (layer.mlp, 'down_proj'),
            (layer, 'per_layer_projection'),
        ):
            packed: Packed = getattr(parent, name).packed
            zeros.setdefault(packed.shape, zeroed(packed))
            put(parent, name, zeros[packed.shape])
    return made


def put(parent: nn.Module, name: str, packed: Packed) -> None:
    """Give a projection of a model other numbers in the same form."""
    module = getattr(parent, name)
    if isinstance(packed, PlainTensor):
        assert isinstance(module, Linear)
        module.weight = nn.Parameter(packed.values, requires_grad=False)
    else:
        setattr(parent, name, QuantLinear(packed, module.form))


def zeroed(packed: Packed) -> Packed:
    """Return zeros in the same form."""
    if isinstance(packed, PlainTensor):
        return PlainTensor(torch.zeros_like(packed.values))
    if isinstance(packed, AffineTensors):
        return replace(
            packed,
            scales=torch.zeros_like(packed.scales),
            biases=torch.zeros_like(packed.biases),
        )
    if isinstance(packed, Nvfp4Tensors):
        return replace(packed, codes=torch.zeros_like(packed.codes))
    assert isinstance(packed, Fp8Tensors)
    return replace(packed, scale=torch.zeros_like(packed.scale))
