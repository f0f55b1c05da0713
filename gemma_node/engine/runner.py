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
from importlib.util import find_spec
from threading import Thread
from typing import Any
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from gemma_node.backends.cuda_passes import device_problem
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.sampler import Mask
from gemma_node.engine.sampler import numbers
from gemma_node.engine.sampler import Row
from gemma_node.model.cached_native import native_problem
from gemma_node.model.gemma4 import Gemma4

Logits = npt.NDArray[np.float32]
# Rows of logits, here or where they were computed.
Found = Logits | Sequence[Row]
# Pieces of memory and their bytes.
Parts = Mapping[Any, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """
    Consecutive tokens of one lane to run, from position `start`.

    What the first output is drawn through is `mask`, where it is known: a runner may look through
    it at once.

    `outputs` are the ascending indices whose logits are wanted. Tokens before position
    `num_prompt` are a prompt's; between two prompt chunks lies a grid line.
    """

    lane: int
    start: int
    token_ids: tuple[int, ...]
    num_prompt: int
    outputs: tuple[int, ...] = ()
    mask: Mask | None = None


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

    max_rows: int
    """So many rows after prompts, of all lanes, make one pass at most; 0 for any number."""

    free_rows: int
    """Up to so many rows a pass takes as long as with one; 0 where each row costs."""

    overlaps: bool
    """Whether it is an OverlappingRunner."""

    identity: str
    """What computes; part of the key of states on disk."""

    def warm_up(self) -> None:
        """Do what only first passes do, before requests come."""

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


class OverlappingRunner(Runner, Protocol):
    """A runner whose prompt passes run beside decode steps, one at a time."""

    batch_rows: int
    """Prompts of several lanes make one pass of at most so many rows, each in whole tiles."""

    def begin(self, batch: Sequence[Rows]) -> None:
        """Start prompt rows of some lanes; each wants the logits of its last row or none."""

    def is_done(self) -> bool:
        """Whether what was begun has ended."""

    def wait(self) -> None:
        """Wait for what was begun, and leave it to `take`."""

    def take(self) -> Sequence[Found]:
        """Wait for what was begun; return logits of each entry, valid until the next `begin`."""


def dense(found: Found) -> Logits:
    """Return logits [outputs, vocab], wherever they were."""
    if isinstance(found, np.ndarray):
        return found
    if not found:
        return np.empty((0, 0), np.float32)
    return np.stack([numbers(row) for row in found])


def make_runner(model: Gemma4, config: EngineConfig) -> Runner:
    """Return the native or the device runner where it can run this model, else PyTorch's."""
    # Each is imported where it is chosen: they are an either-or.
    if is_native(model, config):
        from gemma_node.engine.native_runner import NativeRunner

        return NativeRunner(model, config)
    if is_on_device(model, config):
        from gemma_node.engine.device_runner import DeviceRunner
        from gemma_node.kernels import triton_ops

        # Computed in bfloat16, it keeps nothing wider.
        kv_dtype = 'float8' if config.kv_dtype == 'float8' else 'bfloat16'
        return DeviceRunner(model, config, triton_ops, kv_dtype=kv_dtype)
    from gemma_node.engine.torch_runner import TorchRunner

    return TorchRunner(model, config)


def begin(device: str) -> Thread | None:
    """Begin what kernels of a device need before they can be loaded; nobody has to join it."""
    if device != 'cuda' or find_spec('triton') is None:
        return None

    def prepare() -> None:
        from gemma_node.kernels.triton_warm import digest_compiler

        digest_compiler()

    thread = Thread(target=prepare, daemon=True)
    thread.start()
    return thread


def is_on_device(model: Gemma4, config: EngineConfig) -> bool:
    """Return whether the device step is to run this model."""
    is_cuda = torch.device(config.device).type == 'cuda'
    is_wanted = config.native and is_cuda and config.compute_dtype == 'bfloat16'
    return is_wanted and find_spec('triton') is not None and not device_problem(model.config)


def is_native(model: Gemma4, config: EngineConfig) -> bool:
    """Return whether the native runner is to run this model."""
    is_cpu = torch.device(config.device).type == 'cpu'
    is_wide = config.compute_dtype in ('auto', 'float32')
    return config.native and is_cpu and is_wide and not native_problem(model.config)
