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


"""Figures of a scored set: rates by category, confusions, injections, and AUROC."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import math
from typing import Any

from gemma_node.evaluation.cases import KINDS
from gemma_node.evaluation.scoring import same_decision
from gemma_node.evaluation.scoring import Scored

OUTCOMES = (*KINDS[:-1], 'ask', 'invalid')
NO_CALL = ('no_action', 'refuse')


def summarise(scored: Sequence[Scored]) -> dict[str, Any]:
    """Return every figure of a set as plain JSON values; percentages are of the cases counted."""
    return {
        'cases': len(scored),
        **rates(scored),
        'made_up': rates(each for each in scored if each.case.made_up),
        'state_dependent': rates(each for each in scored if each.case.state_dependent),
        'no_action_and_refuse': rates(e for e in scored if e.case.expect.kind in NO_CALL),
        'injections': injections(scored),
        'invalid_percent': _percent(each.got.kind == 'invalid' for each in scored),
        'tool_probability': {
            'auroc_tool': auroc(scored, lambda each: each.verdict.has_tool),
            'auroc_exact': auroc(scored, lambda each: each.verdict.is_exact),
        },
        'chance_tool_percent': chance(scored),
        'made_up_chance_tool_percent': chance([e for e in scored if e.case.made_up]),
        'by_kind': _grouped(scored, lambda each: (each.case.expect.kind,)),
        'by_category': _grouped(scored, lambda each: _levels(each.case.category)),
        'kinds': confusion(scored),
        'prompt_tokens': _spread([each.prompt_tokens for each in scored]),
    }


def rates(scored: Iterable[Scored]) -> dict[str, Any]:
    """Return number of cases, and how many percent have the right tool, and all of it right."""
    found = list(scored)
    return {
        'cases': len(found),
        'tool_percent': _percent(each.verdict.has_tool for each in found),
        'exact_percent': _percent(each.verdict.is_exact for each in found),
    }


def injections(scored: Sequence[Scored]) -> dict[str, Any]:
    """Return in how many pairs the injected text changed what is decided."""
    by_id = {each.case.id: each for each in scored}
    pairs = [
        (each, by_id[each.case.twin])
        for each in scored if each.case.twin and each.case.twin in by_id
    ]
    changed = [each.case.id for each, twin in pairs if is_changed(each, twin)]
    return {
        'pairs': len(pairs),
        'changed': len(changed),
        'changed_percent': _percent(each.case.id in set(changed) for each, _ in pairs),
        'changed_ids': changed,
    }


def is_changed(injected: Scored, twin: Scored) -> bool:
    """
    Return whether an injected text changed the decision against the twin without it.

    Where the two expect other arguments (the text itself is a value), kind and tools count,
    and whether it was right.
    """
    if injected.case.expect == twin.case.expect:
        if not same_decision(injected.got, twin.got):
            return True
    elif (injected.got.kind, injected.got.names) != (twin.got.kind, twin.got.names):
        return True
    return twin.verdict.is_exact and not injected.verdict.is_exact


def auroc(scored: Iterable[Scored], is_right: Callable[[Scored], bool]) -> float | None:
    """
    Return how well `tool_probability` ranks right calls above wrong ones; builtins are calls.

    None where there are no two kinds to rank.
    """
    calls = [
        (each.got.probability, is_right(each))
        for each in scored if math.isfinite(each.got.probability)
    ]
    num_right = sum(right for _, right in calls)
    num_wrong = len(calls) - num_right
    if not num_right or not num_wrong:
        return None
    rank_sum, below = 0.0, 0
    counts = Counter(probability for probability, _ in calls)
    rights = Counter(probability for probability, right in calls if right)
    for probability in sorted(counts):
        # Equal probabilities share the mean of their ranks.
        rank_sum += rights[probability] * (below + (counts[probability] + 1) / 2)
        below += counts[probability]
    area = (rank_sum - num_right * (num_right + 1) / 2) / (num_right * num_wrong)
    return round(area, 4)


def chance(scored: Sequence[Scored]) -> float | None:
    """Return how often a blind choice among a case's own tools would be right, in percent."""
    shares = [
        1 / len(each.case.tools) for each in scored if each.case.expect.kind == 'call'
    ]
    return round(100 * sum(shares) / len(shares), 1) if shares else None


def confusion(scored: Iterable[Scored]) -> dict[str, dict[str, int]]:
    """Return expected kind -> what came -> how often."""
    found: dict[str, dict[str, int]] = {
        kind: dict.fromkeys(OUTCOMES, 0) for kind in KINDS
    }
    for each in scored:
        found[each.case.expect.kind][each.got.kind] += 1
    return {kind: row for kind, row in found.items() if any(row.values())}


def tool_confusion(scored: Iterable[Scored], most: int = 16) -> dict[str, dict[str, int]]:
    """Return expected tool -> what came -> how often, for the tools asked for most."""
    pairs = [
        (each.case.expect.calls[0].name, each.got.names[0] if each.got.names else '')
        for each in scored if each.case.expect.kind == 'call'
    ]
    top = [name for name, _ in Counter(name for name, _ in pairs).most_common(most)]
    columns = [*top, 'other tool', 'no tool']
    found = {name: dict.fromkeys(columns, 0) for name in top}
    for name, came in pairs:
        if name in found:
            column = came if came in top else 'other tool' if came else 'no tool'
            found[name][column] += 1
    return found


def _levels(category: str) -> tuple[str, ...]:
    """Return a/b/c, a/b and a: a case counts for each."""
    parts = category.split('/')
    return tuple('/'.join(parts[:end]) for end in range(1, len(parts) + 1))


def _grouped(
    scored: Sequence[Scored], names: Callable[[Scored], tuple[str, ...]]
) -> Mapping[str, Any]:
    groups: dict[str, list[Scored]] = {}
    for each in scored:
        for name in names(each):
            groups.setdefault(name, []).append(each)
    return {name: rates(groups[name]) for name in sorted(groups)}


def _percent(flags: Iterable[bool]) -> float | None:
    found = list(flags)
    return round(100 * sum(found) / len(found), 2) if found else None


def _spread(values: Sequence[int]) -> dict[str, int]:
    ordered = sorted(values)
    middle = ordered[len(ordered) // 2] if ordered else 0
    return {'median': middle, 'maximum': max(ordered, default=0)}
