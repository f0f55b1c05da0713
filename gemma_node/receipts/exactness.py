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
The exactness gate as a check of a receipt.

Bits only: a reply among others, resumed and drafted equals the reply alone, fresh and plain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gemma_node.engine.config import EngineConfig
from gemma_node.engine.runner import is_native
from gemma_node.engine.runner import is_on_device
from gemma_node.receipts.bench import Bench
from gemma_node.receipts.checks import Finding
from gemma_node.receipts.checks import Mutation
from gemma_node.receipts.checks import NotRun
from gemma_node.receipts.gate import Gate
from gemma_node.receipts.gate import MAX_LANES
from gemma_node.receipts.gate import Spoil
from gemma_node.receipts.gate_faults import FAULTS
from gemma_node.receipts.gate_faults import NEEDS_SHARED_PASSES

_PAIRS = 60
_QUICK_PAIRS = 12
_CONTROLS = 3
# A fault that only some pairs can show gets so many to show itself in.
_PAIRS_FOR_A_FAULT = 60
# A fault shows in few lanes too; many take most of the time.
_QUICK_LANES_FOR_A_FAULT = 5
_PLANTED_IN = 'what serves'


class Exactness:
    """Pairs of a covering array, each against the plain run of the same generation."""

    name = 'exactness'
    title = 'bits of replies among others, resumed and drafted, against alone, fresh and plain'

    def lacks(self, bench: Bench) -> str:
        """Return why, where not even short prompts fit."""
        room = bench.envelope.context_tokens
        return '' if room >= 192 else f'a context of {room} is shorter than three tiles'

    def run(self, bench: Bench) -> Finding:
        """Compare the pairs, and plain runs with themselves."""
        gate = _gate(bench)
        control = gate.control(_CONTROLS, seed=0)
        found = gate.run(_QUICK_PAIRS if bench.quick else _PAIRS, seed=0)
        return Finding(
            passed=not found.unequal and not control.unequal,
            measured={
                'pairs': found.num_pairs,
                'unequal': list(found.unequal),
                'unequal_controls': list(control.unequal),
                'tokens_compared': found.num_rows,
                'exercised': dict(found.exercised),
                'share_refuted_at_95_percent': found.bound,
                'factors': {name: list(values) for name, values in gate.factors().items()},
            },
            bounds={'unequal': 0, 'unequal_controls': 0},
        )

    def mutations(self, bench: Bench) -> Iterator[Mutation | NotRun]:
        """Yield every fault that this runner can have."""
        shares = _config(bench).native
        for name, spoil in FAULTS.items():
            if name in NEEDS_SHARED_PASSES and not shares:
                why = 'lanes run one after the other here, and without drafts'
                yield NotRun(what=f'{self.name}: {name}', why=why)
                continue
            yield Mutation(
                fault=name,
                planted_in=_PLANTED_IN,
                run=lambda spoil=spoil: _spoiled(bench, spoil),  # type: ignore[misc]
            )


def _spoiled(bench: Bench, spoil: Spoil) -> Finding:
    most_lanes = _QUICK_LANES_FOR_A_FAULT if bench.quick else MAX_LANES
    found = _gate(bench, most_lanes).run(_PAIRS_FOR_A_FAULT, seed=1, spoil=spoil)
    return Finding(
        passed=not found.unequal,
        measured={'pairs': found.num_pairs, 'unequal': list(found.unequal)},
        bounds={'unequal': 0},
    )


def _gate(bench: Bench, most_lanes: int = MAX_LANES) -> Gate:
    # A text that repeats itself gives drafts something to find.
    ids = bench.forced[-1].ids
    return Gate(bench.model, _config(bench), (ids * 64)[:4096], most_lanes=most_lanes)


def _config(bench: Bench) -> EngineConfig:
    config = EngineConfig(
        context_tokens=bench.envelope.context_tokens,
        device=bench.backend,
        compute_dtype=str(bench.dtype).removeprefix('torch.'),
    )
    shares = is_native(bench.model, config) or is_on_device(bench.model, config)
    return replace(config, native=shares)
