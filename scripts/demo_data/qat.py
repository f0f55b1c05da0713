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
Training with the weights that the shipped file will hold.

`Quantised` puts into the model what its matrices are after the recipe's rounding and
quantisation, and takes it out again before the optimizer steps: gradients pass straight through.
"""

from __future__ import annotations

import torch
from torch import nn

from gemma_node.quant import affine
from gemma_node.quant.affine import AffineFormat
from gemma_node.quant.recipes import recipe_named

RECIPE = 'mlx-4bit-ple-bf16'


class Quantised:
    """What the file holds of a model's parameters, and the parameters behind it."""

    def __init__(self, model: nn.Module) -> None:
        recipe = recipe_named(RECIPE)
        self._groups: dict[AffineFormat, list[nn.Parameter]] = {}
        self._plain: list[nn.Parameter] = []
        for name, parameter in model.named_parameters():
            form = None
            if parameter.ndim == 2:
                form = recipe.form_of(name.removesuffix('.weight'), parameter.shape[1])
            if isinstance(form, AffineFormat):
                self._groups.setdefault(form, []).append(parameter)
            else:
                self._plain.append(parameter)
        self._all = [p for group in self._groups.values() for p in group] + self._plain
        self._kept = [torch.empty_like(p.detach()) for p in self._all]
        self._rounded = [torch.empty_like(p.detach(), dtype=torch.bfloat16) for p in self._plain]

    @torch.no_grad()
    def put_in(self) -> None:
        """Replace every parameter by what the file would hold of it."""
        torch._foreach_copy_(self._kept, [p.data for p in self._all])
        for form, parameters in self._groups.items():
            values = as_stored([p.data for p in parameters], form)
            torch._foreach_copy_([p.data for p in parameters], values)
        torch._foreach_copy_(self._rounded, [p.data for p in self._plain])
        torch._foreach_copy_([p.data for p in self._plain], self._rounded)

    @torch.no_grad()
    def take_out(self) -> None:
        """Bring the parameters back."""
        torch._foreach_copy_([p.data for p in self._all], self._kept)


def as_stored(matrices: list[torch.Tensor], form: AffineFormat) -> list[torch.Tensor]:
    """Return what float32 readers of the file get for matrices, bit for bit."""
    size = form.group_size
    # Groups do not know which matrix they are of, so all are done at once.
    groups = torch.cat([m.reshape(-1, size) for m in matrices]).bfloat16()
    values = affine.round_trip(groups, bits=form.bits, group_size=size)
    parts = values.split([m.numel() // size for m in matrices])
    return [part.reshape(m.shape) for part, m in zip(parts, matrices, strict=True)]
