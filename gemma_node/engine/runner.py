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
What the engine asks of whatever runs the model: rows of lanes in, logits out, states by cuts.

Two runners keep the same promise, that a row's bits depend on its tokens and position alone:
`native_runner` in one call for all lanes, `torch_runner` in plain PyTorch, tile by tile and row
by row. `make_runner` chooses once.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from gemma_node.engine.config import EngineConfig
from gemma_node.engine.sampler import FarRow
from gemma_node.engine.sampler import numbers
from gemma_node.model.cached_native import native_problem
from gemma_node.model.gemma4 import Gemma4

Logits = npt.NDArray[np.float32]
# Rows of logits, here or where they were computed.
Found = Logits | Sequence[FarRow]
# Pieces of memory and their bytes.
Parts = Mapping[Any, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """
    Consecutive tokens of one lane to run, from position `start`.

    `outputs` are the ascending indices whose logits are wanted. Tokens before position
    `num_prompt` are a prompt's; between two prompt chunks lies a grid line.
    """

    lane: int
    start: int
    token_ids: tuple[int, ...]
    num_prompt: int
    outputs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Snapshot:
    """
    A lane's first `rows` rows, kept.

    `parts` maps each piece of memory to its bytes; snapshots may have pieces in common.
    """

    rows: int
    parts: Parts
    payload: Any

    @property
    def nbytes(self) -> int:
        """Bytes of all its pieces."""
        return sum(self.parts.values())


class Runner(Protocol):
    """Owns weights and lanes; engine thread only, under inference mode."""

    grid: int
    """A prompt may be resumed at multiples of this position only."""

    chunk: int
    """So many rows of a prompt are run at once, from a multiple of it to the next."""

    shares_passes: bool
    """Whether one pass of many lanes costs less than one after the other."""

    identity: str
    """What computes; part of the key of states on disk."""

    @property
    def nbytes(self) -> int:
        """Bytes the lanes hold."""

    def forward(self, batch: Sequence[Rows]) -> Sequence[Found]:
        """Run all rows; return logits [outputs, vocab] of each entry, valid until the next."""

    def parts(self, lane: int, rows: int) -> Parts:
        """Return what a snapshot would hold."""

    def snapshot(self, lane: int, rows: int, parts: Parts) -> Snapshot:
        """Keep a lane's first `rows` rows; `parts` as the method of that name said."""

    def restore(self, lane: int, snapshot: Snapshot) -> None:
        """Make a snapshot's rows the lane's first."""

    def discard(self, snapshot: Snapshot) -> None:
        """Give up a snapshot."""

    def leave(self, lane: int, *, is_poisoned: bool = False) -> None:
        """End a lane's sequence; `is_poisoned` when its rows may not be finite."""

    def fill_free(self, value: float) -> None:
        """Write a number into memory that nothing holds."""

    def export(self, snapshot: Snapshot) -> dict[str, torch.Tensor]:
        """Return a snapshot's numbers by name, for a file."""

    def import_parts(self, rows: int) -> Parts:
        """Return what a snapshot of `rows` rows from a file would hold."""

    def load(self, rows: int, tensors: Mapping[str, torch.Tensor]) -> Snapshot:
        """Make a snapshot of what `export` gave; ValueError where names or shapes differ."""


def dense(found: Found) -> Logits:
    """Return logits [outputs, vocab], wherever they were."""
    if isinstance(found, np.ndarray):
        return found
    return np.stack([numbers(row) for row in found])


def make_runner(model: Gemma4, config: EngineConfig) -> Runner:
    """Return the native runner where it can run this model in this form, else PyTorch's."""
    # Both are imported here: each is half of an either-or.
    from gemma_node.engine.native_runner import NativeRunner
    from gemma_node.engine.torch_runner import TorchRunner

    return NativeRunner(model, config) if is_native(model, config) else TorchRunner(model, config)


def is_native(model: Gemma4, config: EngineConfig) -> bool:
    """Return whether the native runner is to run this model."""
    is_cpu = torch.device(config.device).type == 'cpu'
    is_wide = config.compute_dtype in ('auto', 'float32')
    return config.native and is_cpu and is_wide and not native_problem(model.config)
