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
Where a pass rounds: the operations that transformers and MLX round at different places.

`hf` rounds once at the end of each operation, as transformers' eager pass does; `mlx` rounds at
MLX's steps, but keeps what the head gives in float32 from there on, where MLX rounds three times
more: so it is in bfloat16 nearer to float64 than MLX. In float32 and wider both modes compute the
same numbers but for the last bits. All other operations round alike in both and are in
`reference`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from gemma_node.errors import ConfigError
from gemma_node.kernels import reference


@dataclass(frozen=True, slots=True)
class Steps:
    """
    The operations of one rounding mode.

    `rms_norm(x, weight, eps)`, `gelu_tanh(x)`, `scaled(x, factor)`, a product with a number that
    is not itself a power of two, and `softcap(x, cap)` of the logits.
    """

    name: str
    rms_norm: Callable[[torch.Tensor, torch.Tensor | None, float], torch.Tensor]
    gelu_tanh: Callable[[torch.Tensor], torch.Tensor]
    scaled: Callable[[torch.Tensor, float], torch.Tensor]
    softcap: Callable[[torch.Tensor, float | None], torch.Tensor]


def _scaled_once(x: torch.Tensor, factor: float) -> torch.Tensor:
    """Multiply with the factor in float32, for narrow dtypes, and round the product."""
    return x * factor


def _rms_norm_mlx(x: torch.Tensor, weight: torch.Tensor | None, eps: float) -> torch.Tensor:
    """Round the normalised value, multiply with the weight, round again."""
    normed = reference.rms_norm(x, None, eps)
    return normed if weight is None else normed * weight


def _gelu_tanh_mlx(x: torch.Tensor) -> torch.Tensor:
    """Round after every operation, the cube being one; the constants have the dtype of x."""
    wide = torch.promote_types(x.dtype, torch.float32)
    cube = x.to(wide).pow(3).to(x.dtype)
    half, cubic, root, one = (
        torch.tensor(value, dtype=x.dtype, device='cpu')
        for value in (0.5, 0.044715, 0.7978845608028654, 1.0)
    )
    return half * x * (one + torch.tanh(root * (x + cubic * cube)))


def _scaled_mlx(x: torch.Tensor, factor: float) -> torch.Tensor:
    """Round the factor to the dtype of x first."""
    return x * torch.tensor(factor, dtype=x.dtype, device='cpu')


def _softcap_wide(x: torch.Tensor, cap: float | None) -> torch.Tensor:
    """Round nowhere: the logits are float32 from here on."""
    return reference.softcap(x.to(torch.promote_types(x.dtype, torch.float32)), cap)


HF = Steps('hf', reference.rms_norm, reference.gelu_tanh, _scaled_once, reference.softcap)
MLX = Steps('mlx', _rms_norm_mlx, _gelu_tanh_mlx, _scaled_mlx, _softcap_wide)
STEPS = {steps.name: steps for steps in (HF, MLX)}


def steps_named(name: str) -> Steps:
    """Return a rounding mode; raises ConfigError with the choices."""
    if name not in STEPS:
        raise ConfigError(f'unknown rounding {name!r}; choices: {", ".join(STEPS)}')
    return STEPS[name]
