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
Forced tokens: the logits that serving gives, against float64, position by position.

Two checks share the logits. `forced_tokens` holds the distance to float64 against that of the
eager pass in the same dtype. `known_faults` asks, for each known fault, how much of it is in the
served logits: the difference to float64, projected on the difference that the fault makes. It is
near 0 without the fault and near 1 with it, also where the fault is smaller than the noise.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from gemma_node.receipts.bench import Bench
from gemma_node.receipts.bench import Forced
from gemma_node.receipts.checks import Finding
from gemma_node.receipts.checks import Mutation
from gemma_node.receipts.checks import NotRun
from gemma_node.receipts.faults import forward_faults
from gemma_node.receipts.faults import ForwardFault
from gemma_node.receipts.reference64 import ForwardPass

# How much farther from float64 than the eager pass serving may be: its sums have another order.
_FACTOR = {'logit_mean': 1.5, 'logit_p99': 1.5, 'kl_mean': 2.0, 'kl_p99': 2.0}
# Logits of float32 passes that differ in the order of sums only are nearer than this.
_FLOOR = {'logit_mean': 1e-5, 'logit_p99': 5e-5, 'kl_mean': 1e-9, 'kl_p99': 1e-8}
# A share of a known fault that may be in the served logits; a fault is judged where the eager
# pass, which does not have it, says so three standard deviations within that.
_SHARE = 0.25
_DEVIATIONS = 3.0
# Below this a fault changes no logit in float64 more than float32 rounds.
_VISIBLE = 1e-5
_SERVED = 'what serves'
_REFERENCE = 'the reference'


class ForcedTokens:
    """Distance of served logits to float64, no larger than that of the eager pass."""

    name = 'forced_tokens'
    title = 'served logits against float64 on forced tokens'

    def lacks(self, bench: Bench) -> str:
        """Return ''; it runs everywhere."""
        return ''

    def run(self, bench: Bench) -> Finding:
        """Compare every forced row."""
        return _compare(bench, bench.forced, bench.plan, None)

    def mutations(self, bench: Bench) -> Iterator[Mutation | NotRun]:
        """Yield the faults that are large enough to stand out from this dtype's rounding."""
        for fault, forced in _faults_of(bench):
            if isinstance(fault, NotRun):
                yield fault
                continue
            noise = torch.cat([_error(bench, each) for each in forced]).abs().mean().item()
            effect = torch.cat([_effect(bench, each, fault) for each in forced]).abs().mean()
            if effect < 4.0 * noise:
                yield NotRun(
                    what=f'{self.name}: {fault.name}',
                    why='smaller than the rounding of this dtype; other checks look for it',
                )
                continue
            yield _mutation(bench, fault, forced, ForcedTokens._with)

    @staticmethod
    def _with(bench: Bench, fault: ForwardFault, forced: tuple[Forced, ...]) -> Finding:
        if fault.plant is None:
            return _compare(bench, forced, fault.plan, None)
        return _compare(bench, forced, bench.plan, fault)


class KnownFaults:
    """The share of each known fault in the served logits."""

    name = 'known_faults'
    title = 'how much of each known fault is in the served logits'

    def lacks(self, bench: Bench) -> str:
        """Return ''; it runs everywhere."""
        return ''

    def run(self, bench: Bench) -> Finding:
        """Project the served error on every fault."""
        return _judge_shares(
            {
                fault.name: _share(bench, fault, forced, _served)
                for fault, forced in _faults_of(bench)
                if isinstance(fault, ForwardFault) and _is_resolved(bench, fault, forced)
            }
        )

    def mutations(self, bench: Bench) -> Iterator[Mutation | NotRun]:
        """Yield every fault that what serves can have and that can be told from rounding."""
        for fault, forced in _faults_of(bench):
            if isinstance(fault, NotRun):
                continue
            if not _is_resolved(bench, fault, forced):
                why = 'in this dtype these tokens do not tell it from rounding'
                yield NotRun(what=f'{self.name}: {fault.name}', why=why)
            elif fault.plant is not None:
                yield _mutation(bench, fault, forced, KnownFaults._with)

    @staticmethod
    def _with(bench: Bench, fault: ForwardFault, forced: tuple[Forced, ...]) -> Finding:
        return _judge_shares({fault.name: _share(bench, fault, forced, _planted)})


def _mutation(bench: Bench, fault: ForwardFault, forced: Any, run: Any) -> Mutation:
    return Mutation(
        fault=fault.name,
        planted_in=_REFERENCE if fault.plant is None else _SERVED,
        run=lambda: run(bench, fault, forced),
    )


def _faults_of(
    bench: Bench,
) -> Iterator[tuple[ForwardFault | NotRun, tuple[Forced, ...]]]:
    """Yield each fault with the shortest sequences that show it."""
    for fault in forward_faults(bench.model, bench.plan):
        forced = tuple(
            each for each in bench.forced if each.crosses_window or not fault.in_window
        )
        if bench.quick and not fault.in_window:
            forced = forced[:1]
        if not forced:
            why = 'the context is not longer than the sliding window'
            yield NotRun(what=f'forced_tokens: {fault.name}', why=why), ()
        elif max(_effect(bench, each, fault).abs().max().item() for each in forced) < _VISIBLE:
            why = 'it changes no logit of this checkpoint'
            yield NotRun(what=f'forced_tokens: {fault.name}', why=why), ()
        else:
            yield fault, forced


def _error(bench: Bench, forced: Forced) -> Tensor:
    return bench.served(forced) - bench.reference(forced, bench.plan)


def _effect(bench: Bench, forced: Forced, fault: ForwardFault) -> Tensor:
    return bench.reference(forced, fault.plan) - bench.reference(forced, bench.plan)


def _served(bench: Bench, forced: Forced, fault: ForwardFault) -> Tensor:
    return bench.served(forced)


def _eager(bench: Bench, forced: Forced, fault: ForwardFault) -> Tensor:
    return bench.eager(forced)


def _planted(bench: Bench, forced: Forced, fault: ForwardFault) -> Tensor:
    return bench.served(forced, fault.name, fault.plant)


def _share(
    bench: Bench,
    fault: ForwardFault,
    every: tuple[Forced, ...],
    logits: Callable[[Bench, Forced, ForwardFault], Tensor],
) -> tuple[float, float]:
    """Return the share of a fault in some logits, and its standard deviation over the rows."""
    along, whole = [], []
    for forced in every:
        error = logits(bench, forced, fault) - bench.reference(forced, bench.plan)
        effect = _effect(bench, forced, fault)
        along.append((error * effect).sum(-1))
        whole.append(effect.square().sum(-1))
    a, b = torch.cat(along), torch.cat(whole)
    share = a.sum() / b.sum()
    deviation = (a - share * b).square().sum().sqrt() / b.sum()
    return share.item(), deviation.item()


def _is_resolved(bench: Bench, fault: ForwardFault, forced: tuple[Forced, ...]) -> bool:
    share, deviation = _share(bench, fault, forced, _eager)
    return abs(share) + _DEVIATIONS * deviation <= _SHARE


def _judge_shares(shares: dict[str, tuple[float, float]]) -> Finding:
    return Finding(
        passed=all(abs(share) <= _SHARE for share, _ in shares.values()),
        measured={
            name: {'share': round(share, 6), 'deviation': round(deviation, 6)}
            for name, (share, deviation) in shares.items()
        },
        bounds={'share': _SHARE},
    )


def _compare(
    bench: Bench, every: tuple[Forced, ...], plan: ForwardPass, planted: ForwardFault | None
) -> Finding:
    name, plant = ('', None) if planted is None else (planted.name, planted.plant)
    passed, measured, bounds = True, {}, {}
    for forced in every:
        exact = bench.reference(forced, plan)
        served = _distance(bench.served(forced, name, plant), exact)
        eager = _distance(bench.eager(forced), bench.reference(forced, bench.plan))
        limit = {key: max(_FACTOR[key] * eager[key], _FLOOR[key]) for key in _FACTOR}
        passed &= all(served[key] <= limit[key] for key in limit)
        measured[forced.name] = {'rows': exact.shape[0], 'from': forced.first} | served
        measured[forced.name]['eager'] = eager
        bounds[forced.name] = limit
    return Finding(passed=passed, measured=measured, bounds=bounds)


def _distance(logits: Tensor, exact: Tensor) -> dict[str, Any]:
    """Return how far logits [rows, vocab] are from those of float64, and where."""
    error = (logits - exact).abs()
    wanted = exact.log_softmax(-1)
    kl = (wanted.exp() * (wanted - logits.log_softmax(-1))).sum(-1).clamp(min=0.0)
    best = exact.topk(2, -1).values
    same = logits.argmax(-1) == exact.argmax(-1)
    rows = kl.tensor_split(min(4, len(kl)))
    return {
        'logit_mean': error.mean().item(),
        'logit_p99': _quantile(error.flatten(), 0.99),
        'logit_max': error.max().item(),
        'kl_mean': kl.mean().item(),
        'kl_p99': _quantile(kl, 0.99),
        'kl_mean_by_quarter': [part.mean().item() for part in rows],
        'top1_agreement': same.double().mean().item(),
        'smallest_margin': (best[:, 0] - best[:, 1]).min().item(),
    }


def _quantile(values: Tensor, share: float) -> float:
    """Return a quantile; torch's own refuses more than 2^24 values."""
    rank = max(1, round(share * values.numel()))
    return values.flatten().kthvalue(rank).values.item()
