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
Faults that must turn the exactness gate red, planted into one engine object at a time.

Each reaches into the engine on purpose; none of it is ever part of one that serves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import torch

from gemma_node.engine import sampler
from gemma_node.engine.engine import Engine
from gemma_node.engine.native_runner import NativeRunner
from gemma_node.engine.runner import dense
from gemma_node.engine.runner import Rows
from gemma_node.engine.runner import Snapshot
from gemma_node.engine.sequence import Sequence as Running
from gemma_node.receipts.gate import Spoil

_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32}


def row_off_by_one_ulp(engine: Engine) -> None:
    """Change one number of each restored state in its last bit."""
    runner: Any = engine._runner
    restore = runner.restore

    def spoiled(lane: int, snapshot: Snapshot) -> None:
        restore(lane, snapshot)
        if isinstance(runner, NativeRunner):
            number = int(np.flatnonzero(runner._pages[0][lane] >= 0)[-1])
            page = runner._pools[0].take()
            runner._pools[0].view(page).copy_(runner._pools[0].view(
                int(runner._pages[0][lane, number])))
            runner._place(0, lane, number, page)
            numbers = runner._pools[0].view(page)
        else:
            numbers = runner._cache(lane).keys[-1].view(-1)
        # The first position's first number: every later row sees it.
        bits = numbers.view(_BITS[numbers.dtype.itemsize])
        bits[0] ^= 1

    runner.restore = spoiled


def stale_row_after_rollback(engine: Engine) -> None:
    """Count the rows of rejected drafts as the reply's."""
    producer: Any = engine._producer
    consume = producer.consume

    def spoiled(sequence: Running, start: int, tokens: tuple[int, ...], *more: Any) -> None:
        consume(sequence, start, tokens, *more)
        if sequence.ending is None:
            sequence.rows = min(start + len(tokens), len(sequence.ids) - 1)

    producer.consume = spoiled


def another_lanes_row(engine: Engine) -> None:
    """Run one token of a lane with its neighbour's newest one where lanes run together."""
    runner: Any = engine._runner
    forward = runner.forward

    def spoiled(batch: Sequence[Rows]) -> Any:
        if len(batch) > 1:
            swapped = [
                replace(rows, token_ids=(*rows.token_ids[:-1], other.token_ids[-1]))
                for rows, other in zip(batch, (*batch[1:], batch[0]), strict=True)
            ]
            return forward(swapped)
        return forward(batch)

    runner.forward = spoiled


def flipped_mask_bit(engine: Engine) -> None:
    """Allow what the grammar forbids, in one bit of each mask."""
    producer: Any = engine._producer
    mask_of = producer._mask

    def spoiled(sequence: Running) -> Any:
        mask = mask_of(sequence)
        if mask is not None:
            mask[0] ^= 1 << (len(sequence.ids) % 31)
        return mask

    producer._mask = spoiled


def unchecked_draft(engine: Engine) -> None:
    """Take each draft as if it had been drawn."""
    producer: Any = engine._producer
    consume, take = producer.consume, producer._take
    drafted: dict[int, int] = {}

    def spoiled(sequence: Running, start: int, tokens: tuple[int, ...], *more: Any) -> None:
        known = len(sequence.ids)
        drafted.clear()
        drafted.update(enumerate(tokens[known - start :], known))
        consume(sequence, start, tokens, *more)

    def spoiled_take(sequence: Running, token_id: int, *more: float) -> Any:
        return take(sequence, drafted.pop(len(sequence.ids), token_id), *more)

    producer.consume, producer._take = spoiled, spoiled_take


def seed_without_position(engine: Engine) -> None:
    """Key draws by how many there were in this engine."""
    producer: Any = engine._producer
    # A name of its own: the sampler's function is replaced only while this engine draws.
    module: Any = sampler
    draw_of, uniform, numbers = producer._draw, sampler.keyed_uniform, count()

    def spoiled(sequence: Running, logits: Any) -> None:
        module.keyed_uniform = lambda seed, _position: uniform(seed, next(numbers))
        try:
            draw_of(sequence, logits)
        finally:
            module.keyed_uniform = uniform

    producer._draw = spoiled


def order_by_rows(engine: Engine) -> None:
    """Round logits otherwise where more than one row runs, as a sum split by rows would."""
    runner: Any = engine._runner
    forward = runner.forward

    def spoiled(batch: Sequence[Rows]) -> Any:
        found = forward(batch)
        if len(batch) > 1:
            return [np.nextafter(dense(logits), np.float32(np.inf)) for logits in found]
        return found

    runner.forward = spoiled


def another_robots_state(engine: Engine) -> None:
    """Find a key's states under every key, whatever its tokens."""
    states: Any = engine._keeper.states
    find = states.find

    def spoiled(key: str, prompt_ids: tuple[int, ...], shared_line: int) -> Any:
        found = find(key, prompt_ids, shared_line)
        for state in states:
            if states.resume_line(state.snapshot.rows, len(prompt_ids)) is not None:
                found = state
        return found

    states.find = spoiled


def lost_row(engine: Engine) -> None:
    """Skip the last prompt row before the first token where a state was resumed."""
    keeper: Any = engine._keeper
    resume = keeper.resume

    def spoiled(sequence: Running) -> None:
        resume(sequence)
        left = sequence.num_prompt_tokens - sequence.rows
        if sequence.rows and left > engine._runner.grid:
            sequence.rows += engine._runner.grid

    keeper.resume = spoiled


FAULTS: dict[str, Spoil] = {
    'a key or value off by one ulp': row_off_by_one_ulp,
    'a stale row after a rejected draft': stale_row_after_rollback,
    "another lane's row": another_lanes_row,
    'a mask bit flipped': flipped_mask_bit,
    'a draft accepted unchecked': unchecked_draft,
    'a seed without position': seed_without_position,
    'an order of summation that follows the number of rows': order_by_rows,
    "another prompt's state": another_robots_state,
    'a row that was never written': lost_row,
}
# What only a runner that runs lanes together can do wrong.
NEEDS_SHARED_PASSES = frozenset({
    'a stale row after a rejected draft',
    "another lane's row",
    'a draft accepted unchecked',
    'an order of summation that follows the number of rows',
})

