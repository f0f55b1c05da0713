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
Bits at the edges: resumed equals fresh, whatever the cut, the lane and the window's turn.

A prompt that ends just before, on or after a tile or the window is run whole, and again in another
lane that others have used, from a copy of its first tiles. The logits of the last prompt token
and of the rows decoded after it must be the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from gemma_node.engine.runner import Runner
from gemma_node.model.cache_shape import TILE
from gemma_node.receipts.bench import Bench
from gemma_node.receipts.bench import decode
from gemma_node.receipts.bench import prefill
from gemma_node.receipts.bench import twin
from gemma_node.receipts.checks import Finding
from gemma_node.receipts.checks import Mutation
from gemma_node.receipts.checks import NotRun

_DECODED = 3
_STATE = 'the prompt state'
_SERVED = 'what serves'

# Changes a state of some rows, as a runner exports it, before it is restored.
_State = dict[str, Tensor]
_Damage = Callable[[_State, int], _State]


class Edges:
    """Bit-identity of resumed and fresh passes."""

    name = 'edges'
    title = 'bits at window and chunk edges, resumed against fresh'

    def lacks(self, bench: Bench) -> str:
        """Return why, where not one tile fits."""
        return '' if _lengths(bench) else 'the context is shorter than two tiles'

    def run(self, bench: Bench) -> Finding:
        """Compare every length and cut."""
        return _compare(
            bench, bench.runner(), bench.runner(), _whole, until_first=False
        )

    def mutations(self, bench: Bench) -> Iterator[Mutation | NotRun]:
        """Yield damaged prompt states, and passes that differ in the window."""
        damages: tuple[tuple[str, _Damage], ...] = (
            ('slots off by one', _rolled),
            ('the newest row lost', _without_newest),
            ('sliding layers not restored', partial(_forgotten, bench)),
            ('keys and values exchanged', partial(_exchanged, bench)),
        )
        for fault, damage in damages:
            yield Mutation(
                fault=f'prompt state: {fault}',
                planted_in=_STATE,
                run=lambda damage=damage: _compare(  # type: ignore[misc]
                    bench, bench.runner(), bench.runner(), damage
                ),
            )
        window = bench.model.config.sliding_window
        has_window = any(layer.is_sliding for layer in bench.plan.layers)
        for step in (-1, 1):
            if not has_window or max(_lengths(bench)) <= window:
                why = 'no prompt is longer than the window'
                yield NotRun(what=f'{self.name}: resumed with window {window + step}', why=why)
                continue
            yield Mutation(
                fault=f'resumed with window {window + step}',
                planted_in=_SERVED,
                run=lambda step=step: _with_window(bench, window + step),  # type: ignore[misc]
            )


def _with_window(bench: Bench, window: int) -> Finding:
    model = twin(bench.model, replace(bench.model.config, sliding_window=window))
    return _compare(bench, bench.runner(), bench.runner(model), _whole)


def _lengths(bench: Bench) -> list[int]:
    """Return prompt lengths around the edges that fit, with at least one whole tile."""
    config, ids = bench.model.config, _ids(bench)
    window = config.sliding_window
    line = -(-window // TILE) * TILE
    wanted = {TILE + 1, 2 * TILE - 1, 2 * TILE, 2 * TILE + 1, window, window + 1, line + TILE + 5}
    if not bench.quick:
        wanted |= {window - 1, line, line + 1, line + 2 * TILE, line + 3 * TILE + 1}
    room = min(bench.envelope.context_tokens, config.max_position_embeddings, len(ids))
    return sorted(each for each in wanted if TILE < each <= room - _DECODED)


def _ids(bench: Bench) -> tuple[int, ...]:
    """Return forced tokens, repeated to be long enough for every edge."""
    ids = bench.forced[-1].ids
    wanted = bench.model.config.sliding_window + 6 * TILE
    return (ids * (wanted // len(ids) + 1))[:wanted]


def _compare(
    bench: Bench, fresh: Runner, resumed: Runner, damage: _Damage, *, until_first: bool = True
) -> Finding:
    """Compare all lengths and cuts, or only until one differs."""
    ids, compared = _ids(bench), 0
    different: list[str] = []
    lane = bench.envelope.lanes - 1
    # What another sequence left in the lane must not matter.
    prefill(resumed, lane, tuple(reversed(ids[: 2 * TILE])))
    pairs = [(length, cut) for length in _lengths(bench) for cut in _cuts(bench, length)]
    for length, cut in pairs:
        if different and until_first:
            break
        wanted = _logits(fresh, 0, ids, length, 0)
        prefill(fresh, 0, ids[:cut])
        snapshot = fresh.snapshot(0, cut, fresh.parts(0, cut))
        state = resumed.load(cut, damage(fresh.export(snapshot), cut))
        fresh.discard(snapshot)
        resumed.restore(lane, state)
        resumed.discard(state)
        found = _logits(resumed, lane, ids, length, cut)
        compared += len(wanted)
        if not torch.equal(wanted, found):
            different.append(f'{length} tokens resumed at {cut}')
    return Finding(
        passed=not different,
        measured={
            'prompt_lengths': _lengths(bench),
            'rows_compared': compared,
            'lane': lane,
            'different': different,
        },
        bounds={'different': 0},
    )


def _cuts(bench: Bench, length: int) -> list[int]:
    """Return grid lines to resume from: the last, the first, and where the window ends."""
    last = (length - 1) // TILE * TILE
    window = bench.model.config.sliding_window // TILE * TILE
    cuts = {last} if bench.quick else {TILE, last, min(last, max(TILE, window))}
    return sorted(cut for cut in cuts if cut)


def _logits(runner: Runner, lane: int, ids: tuple[int, ...], length: int, start: int) -> Tensor:
    rows = [prefill(runner, lane, ids[:length], start)]
    for position in range(length, length + _DECODED):
        rows.append(decode(runner, lane, ids[position], position))
    return torch.stack(rows)


def _whole(state: _State, rows: int) -> _State:
    return state


def _is_paged(state: _State) -> bool:
    """Return whether pages of 64 rows are meant, else [heads, slots, head_dim] by layer."""
    return 'full' in state


def _rolled(state: _State, rows: int) -> _State:
    # The innermost numbers of a page are one key's, by position.
    return {
        name: each.flatten().roll(1).view_as(each) if _is_paged(state) else each.roll(1, 1)
        for name, each in state.items()
    }


def _without_newest(state: _State, rows: int) -> _State:
    changed = {name: each.clone() for name, each in state.items()}
    for tensor in changed.values():
        if _is_paged(state):
            tensor[-1] = 0
        else:
            tensor[:, (rows - 1) % tensor.shape[1]] = 0
    return changed


def _forgotten(bench: Bench, state: _State, rows: int) -> _State:
    if _is_paged(state):
        return {**state, 'sliding': torch.zeros_like(state['sliding'])}
    owners = bench.plan.layers[: bench.model.config.num_owning_layers]
    return {
        name: torch.zeros_like(tensor) if layer.is_sliding else tensor
        for layer, (name, tensor) in zip((*owners, *owners), state.items(), strict=True)
    }


def _exchanged(bench: Bench, state: _State, rows: int) -> _State:
    if not _is_paged(state):
        names, half = list(state), len(state) // 2
        return dict(zip(names, [state[name] for name in names[half:] + names[:half]], strict=True))
    owners = bench.plan.layers[: bench.model.config.num_owning_layers]
    changed = {}
    for name, tensor in state.items():
        num_layers = sum(layer.is_sliding == (name == 'sliding') for layer in owners)
        shape = (len(tensor), num_layers, 2, -1)
        changed[name] = tensor.view(shape).flip(2).reshape(tensor.shape) if num_layers else tensor
    return changed
