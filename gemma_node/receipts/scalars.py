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
Layer scalars by bits: a power of two on a layer is a power of two on the embedding.

In a model whose last layer alone adds to the stream, scalars of 2 and 1/2 on the layers before it
round nothing, so that their product on the embedding instead gives the same bits. A scalar that
is off by any share, or that does not multiply the whole stream, does not.
"""

from __future__ import annotations

from collections.abc import Iterator
import math
from typing import cast

import torch
from torch import nn
from torch import Tensor

from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.gemma4 import Layer
from gemma_node.model.linear import QuantEmbedding
from gemma_node.model.linear import ScaledEmbedding
from gemma_node.receipts.bench import Bench
from gemma_node.receipts.bench import decode
from gemma_node.receipts.bench import prefill
from gemma_node.receipts.checks import Finding
from gemma_node.receipts.checks import Mutation
from gemma_node.receipts.checks import NotRun
from gemma_node.receipts.muted import last_layer_alone

_DECODED = 4


class Scalars:
    """Bit-identity of a scale on a layer and on the embedding."""

    name = 'scalars'
    title = 'layer scalars, by bits: a power of two on a layer or on the embedding'

    def lacks(self, bench: Bench) -> str:
        """Return why, where there is no layer before the last."""
        return '' if len(bench.plan.layers) > 1 else 'the model has one layer'

    def run(self, bench: Bench) -> Finding:
        """Compare prefill and decode."""
        return _compare(bench, {})

    def mutations(self, bench: Bench) -> Iterator[Mutation | NotRun]:
        """Yield a wrong scalar of the first layer, a middle one and the one before the last."""
        last = len(bench.plan.layers) - 1
        for index in sorted({0, last // 2, last - 1}):
            yield Mutation(
                fault=f'layer_scalar of layer {index} + 1 %',
                planted_in='what serves',
                run=lambda index=index: _compare(bench, {index: 1.01}),  # type: ignore[misc]
            )


def _compare(bench: Bench, gains: dict[int, float]) -> Finding:
    num_scaled = len(bench.plan.layers) - 1
    source = bench.plan.layers[-1].source
    # The owner that the last layer reads must see the same stream too, for the norms' epsilon.
    scalars = [*_alternating(source), *_alternating((num_scaled - source) // 2 * 2)]
    scalars += [1.0] * (num_scaled - len(scalars))
    product = math.prod(scalars)
    on_layers = _scaled(
        bench.model,
        [scalar * gains.get(index, 1.0) for index, scalar in enumerate(scalars)],
        1.0,
    )
    on_embedding = _scaled(bench.model, [1.0] * num_scaled, product)
    one, other = (_logits(bench, model) for model in (on_layers, on_embedding))
    different = int((one != other).any(-1).sum())
    return Finding(
        passed=different == 0,
        measured={'rows': one.shape[0], 'rows_that_differ': different},
        bounds={'rows_that_differ': 0},
    )


def _alternating(count: int) -> list[float]:
    return [0.5 if index % 2 else 2.0 for index in range(count)]


def _scaled(model: Gemma4, scalars: list[float], embedding: float) -> Gemma4:
    made = last_layer_alone(model)
    last = cast('Layer', made.layers[-1])
    # What a layer adds of its per-layer input depends on the embedding's scale in the last bit.
    last.post_per_layer_input_norm.weight = nn.Parameter(
        torch.zeros_like(last.post_per_layer_input_norm.weight), requires_grad=False
    )
    for module, scalar in zip(made.layers[:-1], scalars, strict=True):
        layer = cast('Layer', module)
        layer.layer_scalar = nn.Parameter(torch.tensor([scalar]), requires_grad=False)
    table = made.embed_tokens
    assert isinstance(table, ScaledEmbedding | QuantEmbedding)
    table.scale *= embedding
    return made


def _logits(bench: Bench, model: Gemma4) -> Tensor:
    ids = bench.forced[0].ids
    runner = bench.runner(model)
    length = len(ids) - _DECODED
    rows = [prefill(runner, 0, ids[:length])]
    for position in range(length, len(ids)):
        rows.append(decode(runner, 0, ids[position], position))
    return torch.stack(rows)
