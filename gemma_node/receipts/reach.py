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
What a row can see, by bits: the edge of the window, the order of tokens, the layer that is read.

One layer at a time is left to attend, with the same weight for every key it sees: all other
layers' attention is multiplied by zero, and queries are zero. Then a token changes a row's bits
if and only if that layer sees it. No rounding hides an edge that is off by one, in any dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import torch
from torch import nn
from torch import Tensor

from gemma_node.engine.runner import dense
from gemma_node.engine.runner import Rows
from gemma_node.engine.runner import Runner
from gemma_node.model.cache_shape import slot_counts
from gemma_node.model.cache_shape import TILE
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.gemma4 import Layer
from gemma_node.quant.packed import Packed
from gemma_node.receipts.bench import Bench
from gemma_node.receipts.bench import decode
from gemma_node.receipts.bench import prefill
from gemma_node.receipts.bench import twin
from gemma_node.receipts.checks import Finding
from gemma_node.receipts.checks import Mutation
from gemma_node.receipts.checks import NotRun
from gemma_node.receipts.faults import with_config
from gemma_node.receipts.faults import with_source
from gemma_node.receipts.muted import put
from gemma_node.receipts.muted import zeroed

_SERVED = 'what serves'
# Makes the model that serves of the one in which a single layer attends.
_Plant = Callable[[Gemma4], Gemma4]


@dataclass(frozen=True, slots=True)
class _Layer:
    """A layer to probe, and the owners of its kind, newest last."""

    index: int
    is_sliding: bool
    source: int
    owners: tuple[int, ...]


class Reach:
    """Which tokens and which owner change a row's bits."""

    name = 'reach'
    title = 'what a row sees, by bits: window, order, source of keys and values'

    def lacks(self, bench: Bench) -> str:
        """Return why, where no row is beyond the window."""
        return '' if _rows(bench) else 'the context is not longer than the sliding window'

    def run(self, bench: Bench) -> Finding:
        """Probe the first owner and the first reader of each kind."""
        return _probe(bench, _layers(bench), lambda model: model, rows=len(_rows(bench)))

    def mutations(self, bench: Bench) -> Iterator[Mutation | NotRun]:
        """Yield another window, another source, and a change that a row does see."""
        window = bench.model.config.sliding_window
        layers = _layers(bench)
        sliding = [each for each in layers if each.is_sliding][:1]
        for step in (-1, 1):
            yield Mutation(
                fault=f'window {window + step}',
                planted_in=_SERVED,
                run=lambda step=step: _probe(  # type: ignore[misc]
                    bench,
                    sliding,
                    lambda model: with_config(model, sliding_window=window + step)(),
                ),
            )
        yield Mutation(
            fault='a token that the row does see is changed as if it came later',
            planted_in='the probe',
            run=lambda: _probe(bench, layers[:1], lambda model: model, later=0),
        )
        readers = [each for each in layers if each.source != each.index and len(each.owners) > 1]
        for each in readers:
            yield Mutation(
                fault=f'layer {each.index} reads layer {each.owners[-2]}, not {each.source}',
                planted_in=_SERVED,
                run=lambda each=each: _probe(  # type: ignore[misc]
                    bench,
                    [each],
                    lambda model: with_source(model, [each.index], each.owners[-2])(),
                    tokens=False,
                ),
            )
        if not readers:
            why = 'no layer reads the keys and values of one of several'
            yield NotRun(what=f'{self.name}: another source', why=why)


def _layers(bench: Bench) -> list[_Layer]:
    """Return the first owner and the first reader of each kind that the model has."""
    num_owners = bench.model.config.num_owning_layers
    chosen: dict[tuple[bool, bool], _Layer] = {}
    for index, layer in enumerate(bench.plan.layers):
        owners = tuple(
            number
            for number, other in enumerate(bench.plan.layers[:num_owners])
            if other.is_sliding == layer.is_sliding
        )
        key = (layer.is_sliding, index < num_owners)
        chosen.setdefault(key, _Layer(index, layer.is_sliding, layer.source, owners))
    return sorted(chosen.values(), key=lambda each: not each.is_sliding)


def _rows(bench: Bench) -> list[int]:
    """Return rows beyond the window that fit: one near it, one after the ring has turned."""
    config = bench.model.config
    room = min(bench.envelope.context_tokens, config.max_position_embeddings)
    ring = slot_counts(config, bench.envelope.context_tokens)[True]
    wanted = [config.sliding_window + 5, ring + 37]
    return [row for row in wanted[: 1 if bench.quick else 2] if row < room]


def _probe(
    bench: Bench,
    layers: list[_Layer],
    plant: _Plant,
    *,
    rows: int = 1,
    tokens: bool = True,
    later: int = 1,
) -> Finding:
    """
    Compare bits with one token or one owner's values changed.

    :param rows: how many rows are probed
    :param tokens: probe tokens too, not the source only
    :param later: how far after the row the token is that must not matter
    """
    wrong: list[str] = []
    for layer in layers:
        muted = _muted(bench.model, layer.index)
        runner = bench.runner(plant(muted))
        is_reader = layer.source != layer.index
        if tokens and not (is_reader and bench.quick):
            for row in _rows(bench)[:rows]:
                wrong += _wrong_tokens(bench, runner, layer, row, later)
        if is_reader:
            wrong += _wrong_sources(bench, layer, muted, plant)
    return Finding(
        passed=not wrong,
        measured={
            'layers': [each.index for each in layers],
            'rows': _rows(bench),
            'wrong': wrong,
        },
        bounds={'wrong': 0},
    )


def _wrong_tokens(
    bench: Bench, runner: Runner, layer: _Layer, row: int, later: int
) -> list[str]:
    window = bench.model.config.sliding_window
    farthest = row - window + 1 if layer.is_sliding else 0
    ids = _ids(bench, row)
    before = _bits(runner, ids, row)
    at = f'layer {layer.index}, row {row}'
    wrong = []
    # The farthest that is seen, and the nearest that is not.
    for position, is_seen in ((farthest, True), (farthest - 1, False)):
        if position < 0:
            continue
        after = _bits(runner, _changed(ids, position), row)
        for kind, one, other in zip(('prefill', 'decode'), before, after, strict=True):
            if torch.equal(one, other) == is_seen:
                not_ = '' if is_seen else 'not '
                wrong.append(f'{at}: {kind} should {not_}see token {position}')
    start = row // TILE * TILE
    if row + later < start + TILE:
        prefill(runner, 0, ids[:start]) if start else None
        one, other = (
            _tile(runner, each, row) for each in (ids, _changed(ids, row + later))
        )
        if not torch.equal(one, other):
            wrong.append(f'{at}: prefill sees token {row + later}')
    return wrong


def _wrong_sources(bench: Bench, layer: _Layer, muted: Gemma4, plant: _Plant) -> list[str]:
    row = _rows(bench)[0]
    ids = _ids(bench, row)
    before = _bits(bench.runner(plant(muted)), ids, row)
    wrong = []
    for owner in layer.owners[-2:]:
        after = _bits(bench.runner(plant(_with_other_values(muted, owner))), ids, row)
        is_read = not torch.equal(before[1], after[1])
        if is_read != (owner == layer.source):
            verb = 'reads' if is_read else 'does not read'
            wrong.append(f'layer {layer.index} {verb} the values of layer {owner}')
    return wrong


def _bits(runner: Runner, ids: tuple[int, ...], row: int) -> tuple[Tensor, Tensor]:
    """Return the logits of a row, once by prefill and once by decode."""
    prefilled = prefill(runner, 0, ids[: row + 1])
    # Decoding overwrites what prefill wrote of the row itself.
    return prefilled, decode(runner, 0, ids[row], row)


def _tile(runner: Runner, ids: tuple[int, ...], row: int) -> Tensor:
    start = row // TILE * TILE
    tile = ids[start : start + TILE]
    (logits,) = runner.forward([
        Rows(
            lane=0,
            start=start,
            token_ids=tile,
            num_prompt=start + len(tile),
            outputs=(row - start,),
        )
    ])
    return torch.from_numpy(dense(logits)[0].copy())


def _ids(bench: Bench, row: int) -> tuple[int, ...]:
    """Return forced tokens to the end of the row's tile."""
    ids = bench.forced[-1].ids
    length = (row // TILE + 1) * TILE
    return (ids * (length // len(ids) + 1))[:length]


def _changed(ids: tuple[int, ...], position: int) -> tuple[int, ...]:
    other = next(each for each in ids if each != ids[position])
    return (*ids[:position], other, *ids[position + 1 :])


def _muted(model: Gemma4, index: int) -> Gemma4:
    """Return the model in which one layer attends, to all it sees alike."""
    made = twin(model)
    zeros: dict[tuple[int, int], Packed] = {}
    for number, module in enumerate(made.layers):
        attention = cast('Layer', module).self_attn
        if number != index:
            packed: Packed = attention.o_proj.packed
            zeros.setdefault(packed.shape, zeroed(packed))
            put(attention, 'o_proj', zeros[packed.shape])
        else:
            weight = torch.zeros_like(attention.q_norm.weight)
            attention.q_norm.weight = nn.Parameter(weight, requires_grad=False)
    return made


def _with_other_values(model: Gemma4, owner: int) -> Gemma4:
    """Return the model with the rows of one owner's value projection in another order."""
    made = twin(model)
    attention = cast('Layer', made.layers[owner]).self_attn
    packed: Packed = attention.v_proj.packed
    put(attention, 'v_proj', packed.take((torch.arange(packed.shape[0]) + 1) % packed.shape[0]))
    return made
