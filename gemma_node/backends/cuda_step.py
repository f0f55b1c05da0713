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
The device step: the whole model in fixed buffers, one CUDA graph for each number of rows.

`decode` runs 1 to 16 rows of any lanes through all layers; a row's bits do not depend on the
others. `prompt` runs consecutive rows of one lane through the owning layers alone, in whole tiles
of 64, and the shared layers for those rows whose logits are wanted. Prompt rows are computed with
weights rounded to bfloat16, decode rows are not: a prompt may be resumed at multiples of 64.

Ids, positions and masks come in one copy; what a draw needs goes out in one. Nothing is allocated
for a token. Not verified on any device until its receipt passes.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gemma_node.backends.cuda_buffers import Buffers
from gemma_node.backends.cuda_buffers import MAX_ROWS
from gemma_node.backends.cuda_buffers import PAGE
from gemma_node.backends.cuda_passes import device_problem
from gemma_node.backends.cuda_passes import MIN_HEAD_DIM
from gemma_node.backends.cuda_passes import NARROW
from gemma_node.backends.cuda_passes import Passes
from gemma_node.backends.cuda_weights import DeviceWeights
from gemma_node.backends.cuda_weights import LayerWeights
from gemma_node.errors import ConfigError
from gemma_node.kernels import nvrtc
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.linear import rounded_scale

# How many rows decode passes are run with: each has a graph.
DECODED = (1, 2, 4, 6, 8, 12, MAX_ROWS)
# Of how many rows at once the shared layers are run after prompts.
FINISHED = (1, 2, 4, 8, MAX_ROWS)
# Up to so many rows every multiple of 64 has a graph, then every multiple of 256.
_FINE, _COARSE = 512, 256
# No kernel of a pass spills; what those of others spill, the driver adds.
_STACK_BYTES = 128
KV_DTYPES = {'bfloat16': torch.bfloat16, 'float8': torch.uint8}
Ids = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Looks:
    """
    What a draw needs of rows that ran: `best` [rows] and `values` [rows, 3].

    The three are the best allowed logit and the logarithms of the sums of exponents over allowed
    and over all ids. `row` is where the first one's logits lie.
    """

    best: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]
    row: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive prompt rows of one lane."""

    lane: int
    start: int
    ids: Ids


def places(segments: Sequence[Segment]) -> list[int]:
    """Return at which row of a pass each segment begins."""
    found, row = [], 0
    for each in segments:
        found.append(row)
        row += len(each.ids) + -len(each.ids) % PAGE
    return found


def prompt_rows(count: int) -> int:
    """Return how many rows a pass of so many is run with: few sizes, as each has a graph."""
    step = PAGE if count <= _FINE else _COARSE
    return -(-count // step) * step


@contextmanager
def _few_threads(rows: int) -> Iterator[None]:
    """Have one thread do what waking others for would take longer: the rows of a decode step."""
    before = torch.get_num_threads()
    if rows > MAX_ROWS or before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _looks(buffers: Buffers, rows: int) -> Looks:
    found = buffers.host_result.numpy()
    return Looks(best=found[:rows, 3].view(np.int32).copy(), values=found[:rows, :3].copy())


class DeviceModel:
    """
    Gemma 4 in fixed buffers on one device; engine thread only.

    A pass of prompts has buffers and a stream of its own: `begin` starts one, `decode` runs
    beside it, `take` waits for it.

    :param ops: `kernels.triton_ops`, or `kernels.plain_ops`
    :param num_pages: pages of full and of sliding layers
    :param max_prompt_rows: the longest prompt pass, whole tiles
    """

    def __init__(
        self,
        model: Gemma4,
        *,
        ops: ModuleType,
        device: torch.device,
        lanes: int,
        context_tokens: int,
        num_pages: tuple[int, int],
        kv_dtype: str = 'bfloat16',
        max_prompt_rows: int = 512,
        ple_on_host: bool = False,
        graphs: bool = True,
    ) -> None:
        self.config = config = model.config
        problem = device_problem(config)
        if problem:
            raise ConfigError(f'the device step cannot run this model: {problem}')
        self.device = device
        # The twins look at values on the host, which no graph can.
        self._ops = ops
        self._graphs = graphs and device.type == 'cuda' and ops.NAME == 'triton'
        self._captured: dict[tuple[str, int], torch.cuda.CUDAGraph] = {}
        self._ran: set[str] = set()
        self._kept: list[npt.NDArray[np.float32]] = []
        table_pages = -(-context_tokens // PAGE)
        self.weights = DeviceWeights(
            model, num_positions=table_pages * PAGE, device=device, ple_on_host=ple_on_host
        )
        self._num_positions = table_pages * PAGE
        self.pools = tuple(
            self._pool(count, KV_DTYPES[kv_dtype], is_sliding=is_sliding)
            for is_sliding, count in zip((False, True), num_pages, strict=True)
        )
        self._passes = Passes(
            config, ops, self.weights, self.pools,
            (rounded_scale(model.embed_tokens.scale, torch.bfloat16),
             rounded_scale(model.embed_tokens_per_layer.scale, torch.bfloat16)),
        )  # fmt: skip
        self.max_prompt_rows = max(max_prompt_rows, PAGE)
        # Of decode passes and of prompts: both may run at once.
        self._buffers, self._prompts = (
            Buffers(
                config, self.weights, device=device, rows=rows, lanes=lanes,
                table_pages=table_pages,
            )
            for rows in (MAX_ROWS, self.max_prompt_rows)
        )  # fmt: skip
        is_cuda = device.type == 'cuda'
        if is_cuda:
            # After packing: what that has made it grow by is given back.
            with torch.cuda.device(device):
                torch.cuda.synchronize()
                nvrtc.limit_stack(_STACK_BYTES)
        # Lower numbers go first: decode steps before prompts.
        self._streams: list[Any] = [
            torch.cuda.Stream(device, priority=each)  # type: ignore[no-untyped-call]
            for each in ((-1, 0) if is_cuda else ())
        ]
        self._done: Any = torch.cuda.Event() if is_cuda else None  # type: ignore[no-untyped-call]

    def set_page(self, kind: int, lane: int, number: int, page: int) -> None:
        """Say which page of full (0) or sliding layers (1) holds a lane's 64 positions."""
        self._buffers.set_page(kind, lane, number, page)
        self._prompts.set_page(kind, lane, number, page)

    def decode(
        self, ids: Ids, positions: Ids, lanes: Ids, masks: npt.NDArray[np.int32] | None = None
    ) -> Looks:
        """
        Run up to 16 rows; rows of one lane stand together in ascending order.

        :param masks: int32 [rows, words], a bit an allowed id; None for all
        """
        count, buffers = len(ids), self._buffers
        rows = next(each for each in DECODED if each >= count)
        # The last row runs again in what is left of a pass: it writes the same once more.
        ids, positions, lanes = (
            np.concatenate([each, np.repeat(each[-1:], rows - count)])
            for each in (ids, positions, lanes)
        )
        self._send(buffers, ids, positions, lanes, positions + 1, masks, count)
        self._run('decode', buffers, rows, self._passes.decode)
        return self._receive(buffers, count)

    def begin(
        self,
        segments: Sequence[Segment],
        outputs: Sequence[int] = (),
        masks: npt.NDArray[np.int32] | None = None,
    ) -> None:
        """
        Start a pass of prompts, and the head for some of its rows; one at a time.

        Each segment begins at a multiple of 64 rows of the pass.

        :param outputs: up to 16 ascending rows of the pass, as `places` counts them
        :param masks: int32 [outputs, words]
        """
        buffers = self._prompts
        rows = prompt_rows(sum(len(each.ids) + -len(each.ids) % PAGE for each in segments))
        rows = min(rows, self.max_prompt_rows)
        ids, positions, lanes, ends = np.zeros((4, rows), np.int32)
        for place, each in zip(places(segments), segments, strict=True):
            count = len(each.ids)
            whole = slice(place, place + count + -count % PAGE)
            ids[place : place + count] = each.ids
            lanes[whole] = each.lane
            ends[whole] = each.start + count
            # Rows past the end are thrown away; they must not read past tables.
            positions[whole] = np.minimum(
                np.arange(each.start, each.start + whole.stop - place), self._num_positions - 1
            )
        with self._beside():
            # Nothing is sent once the pass runs: who waits for that would wait for it all.
            count = next((each for each in FINISHED if each >= len(outputs)), 0)
            if outputs:
                buffers.send_picked([*outputs, *[outputs[-1]] * (count - len(outputs))])
            self._send(buffers, ids, positions, lanes, ends, masks, len(outputs))
            self._run('prompt', buffers, rows, self._passes.prompt)
            if outputs:
                self._run('finish', buffers, count, self._passes.finish)
            buffers.host_result.copy_(buffers.result, non_blocking=True)
            if self._done is not None:
                self._done.record()

    def is_done(self) -> bool:
        """Whether the pass that was begun has ended."""
        return self._done is None or bool(self._done.query())

    def take(self, count: int) -> Looks:
        """Wait for the pass that was begun; return what its first outputs say."""
        if self._done is not None:
            self._done.synchronize()
        return _looks(self._prompts, count)

    def prompt(
        self,
        ids: Ids,
        start: int,
        lane: int,
        outputs: Sequence[int] = (),
        masks: npt.NDArray[np.int32] | None = None,
    ) -> Looks | None:
        """
        Run consecutive rows of one lane from `start`, and the head for some of them.

        :param masks: of the last output
        """
        self._kept = []
        groups = [outputs[first : first + MAX_ROWS] for first in range(0, len(outputs), MAX_ROWS)]
        if len(outputs) > 1 and masks is not None:
            masks = np.concatenate([np.full((len(groups[0]) - 1, masks.shape[1]), -1, np.int32),
                                    masks[-1:]])  # fmt: skip
        first = groups[0] if groups else ()
        self.begin([Segment(lane, start, ids)], first, masks if len(groups) == 1 else None)
        looks = self.take(len(first))
        for group in groups[1:]:
            self._kept += list(self.logits(len(first), prompts=True))
            first = group
            with self._beside():
                padded = [*group, *[group[-1]] * (MAX_ROWS - len(group))]
                self._prompts.send_picked(padded)
                self._run('finish', self._prompts, MAX_ROWS, self._passes.finish)
                looks = self._receive(self._prompts, len(group))
        if len(first) > 1:
            self._kept += list(self.logits(len(first), prompts=True)[:-1])
        if not outputs:
            return None
        return Looks(best=looks.best[-1:], values=looks.values[-1:], row=len(first) - 1)

    def look(self, row: int, mask: npt.NDArray[np.int32], *, prompts: bool = False) -> Looks:
        """Look again at one row of the last pass, through a mask [words]."""
        buffers = self._prompts if prompts else self._buffers
        buffers.send_mask(mask)
        # Two launches need no graph.
        self._passes.look(buffers, row)
        return self._receive(buffers, 1)

    def logits(self, rows: int, *, prompts: bool = False) -> npt.NDArray[np.float32]:
        """Return the capped logits [rows, vocab] of the last pass."""
        buffers = self._prompts if prompts else self._buffers
        taken = buffers.logits[0, :rows].to('cpu', copy=True)
        found: npt.NDArray[np.float32] = taken.numpy()
        return found

    def logits_of(self, row: int, *, prompts: bool = False) -> npt.NDArray[np.float32]:
        """Return the capped logits [vocab] of one row of the last pass."""
        buffers = self._prompts if prompts else self._buffers
        found: npt.NDArray[np.float32] = buffers.logits[0, row].to('cpu', copy=True).numpy()
        return found

    def kept_logits(self) -> list[npt.NDArray[np.float32]]:
        """Return those of the outputs of the last `prompt` but the last one."""
        return self._kept

    def warm_up(self, rows: Sequence[int], prompt_rows: Sequence[int]) -> None:
        """Compile and capture what serving will run; page 0 of lane 0 is overwritten."""
        if self._graphs:
            with self._ops.compiling():
                # Of how many tokens a tile is decides what is compiled, not the number of rows.
                self._run_all([each for each in (1, NARROW, MAX_ROWS) if each in rows],
                              prompt_rows, self._passes.samples)  # fmt: skip
        mask = np.full(-(-self.config.vocab_size // 32), -1, np.int32)
        for count in rows:
            zeros = np.zeros(count, np.int32)
            self.decode(zeros, np.arange(count, dtype=np.int32), zeros)
        self.look(0, mask)
        for count in prompt_rows:
            self.prompt(np.zeros(count, np.int32), 0, 0, (count - 1,))
        for count in FINISHED:
            self.prompt(np.zeros(PAGE, np.int32), 0, 0, range(count))
        self.look(0, mask, prompts=True)

    def _run_all(
        self,
        rows: Sequence[int],
        prompt_rows: Sequence[int],
        layers: Sequence[LayerWeights] | None = None,
    ) -> None:
        """Launch once whatever passes of so many rows launch, in all layers or in some."""
        passes, buffers = self._passes, self._prompts
        for count in prompt_rows:
            passes.prompt(buffers, count, layers)
        for count in rows:
            passes.decode(self._buffers, count, layers)
        for count in (1, NARROW, MAX_ROWS):
            passes.finish(buffers, count)
        passes.look(buffers, 0)

    def _pool(self, count: int, dtype: torch.dtype, *, is_sliding: bool) -> Tensor:
        config = self.config
        owners = config.layers[: config.num_owning_layers]
        same = [each for each in owners if each.is_sliding == is_sliding]
        if not same:
            return torch.zeros(1, 1, 2, 1, PAGE, MIN_HEAD_DIM, dtype=dtype, device=self.device)
        shape = (count, len(same), 2, same[0].num_kv_heads, PAGE, same[0].head_dim)
        return torch.zeros(shape, dtype=dtype, device=self.device)

    @contextmanager
    def _beside(self) -> Iterator[None]:
        """Have prompts run on their stream, after what was asked for so far."""
        if not self._streams:
            yield
            return
        stream = self._streams[1]
        stream.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(stream):
            yield

    def _send(
        self,
        buffers: Buffers,
        ids: Ids,
        positions: Ids,
        lanes: Ids,
        ends: Ids,
        masks: npt.NDArray[np.int32] | None,
        looked_at: int,
    ) -> None:
        rows = len(ids)
        buffers.wait()
        buffers.host_ids[:rows] = ids
        buffers.host_positions[:rows] = positions
        buffers.host_lanes[:rows] = lanes
        buffers.host_ends[:rows] = ends
        buffers.send(masks, looked_at)
        source = self.weights.ple_source
        if source is not None:
            told = buffers.told.data[:rows, : buffers.told.columns]
            wanted = torch.from_numpy(ids.astype(np.int64))
            if rows > MAX_ROWS and self.device.type == 'cuda':
                # Many rows go as they are stored and are unpacked there.
                told.copy_(source.take(wanted).to(self.device).dequantize(torch.bfloat16))
            else:
                with _few_threads(rows):
                    taken = source.take(wanted).dequantize(torch.bfloat16)
                    buffers.host_told[:rows].copy_(taken)
                told.copy_(buffers.host_told[:rows], non_blocking=True)
        buffers.sent()

    def _receive(self, buffers: Buffers, rows: int) -> Looks:
        buffers.host_result.copy_(buffers.result)
        return _looks(buffers, rows)

    def _run(
        self, name: str, buffers: Buffers, rows: int, body: Callable[..., None]
    ) -> None:
        """Replay the graph of a pass, or run it; the first run of each compiles and captures."""
        if not self._graphs:
            body(buffers, rows)
            return
        is_prompt = buffers is self._prompts
        key = (f'prompt {name}' if is_prompt else name, rows)
        if key not in self._captured:
            graph = torch.cuda.CUDAGraph()
            # Kernels are loaded when they first run, which no capture may do. Of what may run
            # twice, one layer of each kind does, and then the graph.
            is_sampled = name != 'finish' and key[0] in self._ran
            body(buffers, rows, *([self._passes.samples] if is_sampled else []))
            self._ran.add(key[0])
            torch.cuda.synchronize()
            # Kernels of a graph keep the priority of the stream that they were captured on.
            with torch.cuda.stream(self._streams[is_prompt]):
                graph.capture_begin()
                body(buffers, rows)
                graph.capture_end()
            self._captured[key] = graph
            if not is_sampled:
                return
        self._captured[key].replay()
