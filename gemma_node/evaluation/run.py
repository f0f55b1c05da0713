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
Whole sets, over processes: each loads the checkpoint once and asks its share of the cases.

Cases whose prompts start alike go to one process in a row, so that the start is read once.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import multiprocessing
from typing import Any

from gemma_node.core import RuntimeFacts
from gemma_node.errors import ConfigError
from gemma_node.errors import GemmaNodeError
from gemma_node.evaluation.asking import Options
from gemma_node.evaluation.asking import prefix_key
from gemma_node.evaluation.asking import Subject
from gemma_node.evaluation.cases import Case
from gemma_node.evaluation.scoring import Scored

_MAX_SHARE = 32

_subject: Subject | None = None


def run_cases(
    cases: Sequence[Case],
    options: Options,
    *,
    jobs: int = 1,
    on_scored: Callable[[int], None] = lambda done: None,
) -> tuple[tuple[Scored, ...], RuntimeFacts]:
    """Ask all cases; return them scored, in their order, and what answered."""
    found: dict[str, Scored] = {}
    facts: list[RuntimeFacts] = []
    shares = _shares(cases, jobs)
    for part, fact in _spread(shares, options, jobs):
        facts.append(fact)
        found |= {each.case.id: each for each in part}
        on_scored(len(found))
    return tuple(found[case.id] for case in cases), facts[0]


def _spread(
    shares: list[tuple[Case, ...]], options: Options, jobs: int
) -> Iterator[tuple[list[Scored], RuntimeFacts]]:
    if jobs == 1:
        subject = Subject(options)
        for share in shares:
            yield list(subject.ask(share)), subject.facts
        return
    context = multiprocessing.get_context('spawn')
    work = [(options, share) for share in shares]
    with context.Pool(min(jobs, len(shares))) as pool:
        for answered in pool.imap_unordered(_ask_share, work):
            if isinstance(answered, str):
                raise ConfigError(answered)
            yield answered


def _ask_share(
    work: tuple[Options, tuple[Case, ...]]
) -> tuple[list[Scored], RuntimeFacts] | str:
    """
    Ask a share in a child process, which keeps its checkpoint for the next one.

    What goes wrong is returned as its sentence: not every error can cross to the parent.
    """
    global _subject
    options, share = work
    try:
        if _subject is None:
            _subject = Subject(options)
        return list(_subject.ask(share)), _subject.facts
    except GemmaNodeError as error:
        return str(error)


def _shares(cases: Sequence[Case], jobs: int) -> list[tuple[Case, ...]]:
    size = max(1, min(_MAX_SHARE, len(cases) // (4 * jobs)))
    ordered = sorted(cases, key=prefix_key)
    return [tuple(ordered[at:at + size]) for at in range(0, len(ordered), size)]


def plain(each: Scored) -> dict[str, Any]:
    """Return one scored case as JSON values."""
    got = each.got
    has_probability = got.probability == got.probability
    return {
        'id': each.case.id,
        'category': each.case.category,
        'tool': each.verdict.has_tool,
        'exact': each.verdict.is_exact,
        'kind': got.kind,
        'calls': [{'name': name, 'arguments': dict(given)} for name, given in got.calls],
        'text': got.text,
        'probability': round(got.probability, 6) if has_probability else None,
        'error': got.error,
        'prompt_tokens': each.prompt_tokens,
    }
