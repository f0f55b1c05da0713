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
Draws the next token: greedy, or seeded by (seed, absolute position) and nothing else.

The mask comes first, then temperature, top_k, top_p and min_p. Ties go to the lowest id.
"""

from __future__ import annotations

from dataclasses import dataclass
import hashlib

import numpy as np
import numpy.typing as npt
import torch

from gemma_node.core import Generation

_Floats = npt.NDArray[np.float64]


class NotFiniteError(ArithmeticError):
    """The model produced logits that are NaN or infinite."""


@dataclass(frozen=True, slots=True)
class Draw:
    """
    One drawn token.

    `probability` is after the mask at temperature 1, `mass` the probability the mask kept.
    """

    token_id: int
    probability: float
    mass: float


def draw(
    logits: torch.Tensor,
    allowed: npt.NDArray[np.intp] | None,
    generation: Generation,
    position: int,
) -> Draw:
    """
    Draw the token that goes to `position`.

    :param logits: float32 [vocab]
    :param allowed: ids that the mask allows, ascending; None without a mask
    """
    total = float(torch.logsumexp(logits, 0))
    if not np.isfinite(total):
        raise NotFiniteError('the model produced logits that are not finite')
    values = logits.cpu().numpy()
    if allowed is not None:
        values = values[allowed]
    kept = total if allowed is None else float(torch.logsumexp(torch.from_numpy(values), 0))
    if generation.temperature > 0.0:
        choice = _choose(values, generation, position)
    else:
        choice = int(values.argmax())
    return Draw(
        token_id=choice if allowed is None else int(allowed[choice]),
        probability=min(1.0, float(np.exp(float(values[choice]) - kept))),
        mass=1.0 if allowed is None else min(1.0, float(np.exp(kept - total))),
    )


def keyed_uniform(seed: int, position: int) -> float:
    """Return the one number in [0, 1) that belongs to a seed and an absolute position."""
    digest = hashlib.sha256(f'{seed}:{position}'.encode()).digest()
    return (int.from_bytes(digest[:8], 'little') >> 11) * 2.0**-53


def _choose(values: npt.NDArray[np.float32], generation: Generation, position: int) -> int:
    scaled = values.astype(np.float64) / generation.temperature
    order = np.argsort(-scaled, kind='stable')
    if generation.top_k > 0:
        order = order[: generation.top_k]
    weights: _Floats = np.exp(scaled[order] - scaled[order[0]])
    probabilities = weights / weights.sum()
    keep = len(order)
    if generation.top_p < 1.0:
        # The token that crosses top_p still belongs to the kept set.
        before = np.cumsum(probabilities) - probabilities
        keep = max(1, int(np.count_nonzero(before < generation.top_p)))
    if generation.min_p > 0.0:
        enough = np.count_nonzero(probabilities >= generation.min_p * probabilities[0])
        keep = min(keep, max(1, int(enough)))
    cumulative = np.cumsum(probabilities[:keep])
    target = keyed_uniform(generation.seed, position) * cumulative[-1]
    index = int(np.searchsorted(cumulative, target, side='right'))
    return int(order[min(index, keep - 1)])
