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

import ctypes
from dataclasses import dataclass
import hashlib
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gemma_node.core import Generation
from gemma_node.kernels import native

_Floats = npt.NDArray[np.float64]
Logits = npt.NDArray[np.float32]
# Bits by token: bit j of word i is token 32 * i + j; bits past the vocabulary are 0.
Mask = npt.NDArray[np.int32]


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


@dataclass(frozen=True, slots=True)
class Look:
    """
    One row of logits at a glance.

    `total` and `kept` are the logarithms of the sums of exponents over all ids and over those
    allowed; `best` the lowest of the allowed ids with the highest logit.
    """

    total: float
    kept: float
    best: int
    best_value: float


class FarRow(Protocol):
    """A row of logits that stays where it was computed."""

    def look(self, mask: Mask | None) -> Look:
        """Return what a draw needs of it, computed there."""

    def numbers(self) -> Logits:
        """Bring it here."""


Row = Logits | FarRow


def numbers(row: Row) -> Logits:
    """Return a row's logits."""
    return row if isinstance(row, np.ndarray) else row.numbers()


def look(logits: Row, mask: Mask | None) -> Look:
    """Return what a draw needs of a row, natively where that is built."""
    if not isinstance(logits, np.ndarray):
        return logits.look(mask)
    library = native.library()
    if library is None:
        return look_plain(logits, mask)
    row = native.Row()
    words = None if mask is None else mask.ctypes.data
    library.gn_look(logits.ctypes.data, len(logits), words, ctypes.byref(row))
    return Look(row.total, row.kept, row.best, row.best_value)


def look_plain(logits: Logits, mask: Mask | None) -> Look:
    """Return the same with NumPy; sums differ from the native ones in the last bits."""
    top = float(logits.max())
    weights = np.exp(logits.astype(np.float64) - top)
    total = float(np.log(weights.sum())) + top
    if mask is None:
        best = int(logits.argmax())
        return Look(total, total, best, float(logits[best]))
    ids = allowed_ids(mask, len(logits))
    best = int(ids[logits[ids].argmax()])
    allowed = logits[ids].astype(np.float64) - float(logits[best])
    kept = float(np.log(np.exp(allowed).sum())) + float(logits[best])
    return Look(total, kept, best, float(logits[best]))


def allowed_ids(mask: Mask, vocab_size: int) -> npt.NDArray[np.intp]:
    """Return the ids that a mask allows, ascending."""
    bits = np.unpackbits(mask.view(np.uint8), bitorder='little')
    return np.flatnonzero(bits[:vocab_size])


def only_id(mask: Mask) -> int | None:
    """Return the one id that a mask allows; None for more, ValueError for none."""
    words = np.flatnonzero(mask)
    if not words.size:
        raise ValueError('the grammar allows no token at all')
    if words.size > 1:
        return None
    word = int(mask[words[0]]) & 0xFFFFFFFF
    return None if word & (word - 1) else 32 * int(words[0]) + word.bit_length() - 1


def draw(logits: Row, mask: Mask | None, generation: Generation, position: int) -> Draw:
    """
    Draw the token that goes to `position`.

    :param logits: float32 [vocab], contiguous
    """
    seen = look(logits, mask)
    if not np.isfinite(seen.total):
        raise NotFiniteError('the model produced logits that are not finite')
    choice, value = seen.best, seen.best_value
    if generation.temperature > 0.0:
        all_values = numbers(logits)
        ids = None if mask is None else allowed_ids(mask, len(all_values))
        values = all_values if ids is None else all_values[ids]
        index = _choose(values, generation, position)
        choice, value = index if ids is None else int(ids[index]), float(values[index])
    return Draw(
        token_id=choice,
        probability=min(1.0, float(np.exp(value - seen.kept))),
        mass=1.0 if mask is None else min(1.0, float(np.exp(seen.kept - seen.total))),
    )


def keyed_uniform(seed: int, position: int) -> float:
    """Return the one number in [0, 1) that belongs to a seed and an absolute position."""
    digest = hashlib.sha256(f'{seed}:{position}'.encode()).digest()
    return (int.from_bytes(digest[:8], 'little') >> 11) * 2.0**-53


def _choose(values: Logits, generation: Generation, position: int) -> int:
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
