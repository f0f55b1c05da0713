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
Muon for many small matrices: matrices of one shape are made orthogonal together.

The update is that of `torch.optim.Muon` with Nesterov momentum and `match_rms_adamw`; a tall
matrix is turned, so that it joins the wide ones of its shape.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
_STEPS = 5
_EPS = 1e-7


class BatchedMuon(torch.optim.Optimizer):
    """Orthogonalised momentum for matrices; `lr` is that of AdamW for the same change."""

    def __init__(
        self, params: Iterable[dict[str, Any]], *, weight_decay: float, momentum: float = 0.95
    ) -> None:
        super().__init__(params, {'weight_decay': weight_decay, 'momentum': momentum})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        """Update every matrix that has a gradient."""
        for group in self.param_groups:
            shapes: dict[tuple[int, int], list[nn.Parameter]] = defaultdict(list)
            for parameter in group['params']:
                if parameter.grad is not None:
                    low, high = sorted(parameter.shape)
                    shapes[low, high].append(parameter)
            for (_, high), parameters in shapes.items():
                rate = group['lr']
                updates = self._directions(parameters, group['momentum'])
                torch._foreach_mul_(parameters, 1.0 - rate * group['weight_decay'])
                torch._foreach_add_(
                    parameters, updates, alpha=-rate * 0.2 * high**0.5)

    def _directions(
        self, parameters: list[nn.Parameter], momentum: float
    ) -> list[torch.Tensor]:
        gradients = [p.grad for p in parameters]
        for parameter in parameters:
            if 'momentum' not in self.state[parameter]:
                self.state[parameter]['momentum'] = torch.zeros_like(parameter)
        averages = [self.state[p]['momentum'] for p in parameters]
        torch._foreach_lerp_(averages, gradients, 1.0 - momentum)
        ahead = torch._foreach_lerp(gradients, averages, momentum)
        wide = torch.stack([x if x.shape[0] <= x.shape[1] else x.T for x in ahead])
        found = orthogonal(wide).unbind()
        return [x.to(p.dtype) if p.shape[0] <= p.shape[1] else x.T.to(p.dtype)
                for x, p in zip(found, parameters, strict=True)]


def orthogonal(matrices: torch.Tensor) -> torch.Tensor:
    """Return wide matrices [n, rows, columns] with singular values near 1, in bfloat16."""
    a, b, c = _COEFFICIENTS
    x = matrices.bfloat16()
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=_EPS)
    for _ in range(_STEPS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x
