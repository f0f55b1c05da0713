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
Right or wrong: one answer against what its case expects. Knows values only.

The rules are those of docs/eval_format.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
import math
import re
from typing import Any

from gemma_node.core import Answer
from gemma_node.core import Outcome
from gemma_node.decision.outcome import ASK_OPERATOR
from gemma_node.evaluation.cases import Case
from gemma_node.evaluation.cases import Expected
from gemma_node.evaluation.cases import ExpectedCall

TOLERANCE = 0.005
_ARTICLE = re.compile(r'(the|an|a)\s+')
_QUOTES = '"\'“”‘’'


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """
    What the model decided: kind is an expected one, 'ask' (ask_operator) or 'invalid'.

    `probability` is that of the first call's name, nan without one; `error` says what was wrong.
    """

    kind: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    text: str = ''
    probability: float = math.nan
    error: str = ''

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the tools called."""
        return tuple(name for name, _ in self.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether kind and tools were right, and whether the arguments (or the reply) were too."""

    has_tool: bool
    is_exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One case with what came of it."""

    case: Case
    got: Got
    verdict: Verdict
    prompt: str = ''
    prompt_tokens: int = 0
    seconds: float = field(default=math.nan)


def got_of(answer: Answer) -> Got:
    """Return what an answer of the worker decides."""
    calls = tuple((call.name, dict(call.arguments)) for call in answer.calls)
    names = [name for name, _ in calls]
    kind = 'invalid'
    if answer.outcome is Outcome.NO_ACTION:
        kind = 'no_action'
    elif answer.outcome is Outcome.REPLY:
        kind = 'ask' if ASK_OPERATOR in names else 'reply'
        calls = ()
    elif answer.outcome is Outcome.TOOL_CALL:
        kind = 'stop' if names == ['stop'] else 'call' if len(names) == 1 else 'calls'
        calls = () if kind == 'stop' else calls
    return Got(
        kind=kind,
        calls=calls,
        text=answer.text,
        probability=answer.tool_probability,
        error=answer.error_msg,
    )


def judge(case: Case, got: Got) -> Verdict:
    """Return whether this is one of the right decisions."""
    if _is_forbidden(case, got):
        return Verdict(has_tool=False, is_exact=False)
    right = [each for each in case.right if _has_kind(each, got)]
    return Verdict(
        has_tool=bool(right), is_exact=any(_is_exact(each, case, got) for each in right)
    )


def folded(text: str) -> str:
    """Return text as it is compared: no case, article, outer quotes, full stop, extra spaces."""
    words = ' '.join(text.casefold().split())
    words = words.strip(_QUOTES).removesuffix('.').strip(_QUOTES).strip()
    return _ARTICLE.sub('', words, count=1) if _ARTICLE.match(words) else words


def contains(reply: str, wanted: str) -> bool:
    """Return whether a reply says this; a number in it must stand whole, 4 is not in 54."""
    inside = ''.join(reply.casefold().split())
    pattern = re.escape(''.join(wanted.casefold().split()))
    if wanted.strip()[:1].isdigit():
        pattern = r'(?<![0-9])(?<![0-9][.,])(?<!-)' + pattern
    if wanted.strip()[-1:].isdigit():
        pattern += r'(?![0-9]|[.,][0-9])'
    return re.search(pattern, inside) is not None


def _is_forbidden(case: Case, got: Got) -> bool:
    names = {*got.names, *(['stop'] if got.kind == 'stop' else [])}
    return any(text in names or (got.text and contains(got.text, text)) for text in case.forbid)


def _has_kind(expected: Expected, got: Got) -> bool:
    if expected.kind == 'refuse':
        return got.kind in ('ask', 'reply')
    if expected.kind in ('call', 'calls'):
        return got.names == tuple(call.name for call in expected.calls)
    return got.kind == expected.kind


def _is_exact(expected: Expected, case: Case, got: Got) -> bool:
    if expected.kind == 'reply':
        return any(contains(got.text, text) for text in case.right_texts)
    return all(
        _same_call(wanted, arguments, _enums(case, wanted.name))
        for wanted, (_, arguments) in zip(expected.calls, got.calls, strict=True)
    )


def _enums(case: Case, name: str) -> Mapping[str, Any]:
    return next((tool.parameters for tool in case.declarations if tool.name == name), {})


def _same_call(
    wanted: ExpectedCall, arguments: Mapping[str, Any], schema: Mapping[str, Any]
) -> bool:
    return _same(wanted.arguments, arguments, schema, wanted.tolerance, '')


def _same(
    wanted: Any, found: Any, schema: Any, tolerance: Mapping[str, float], path: str
) -> bool:
    schema = schema if isinstance(schema, Mapping) else {}
    prefix = f'{path}.' if path else ''
    if isinstance(wanted, Mapping):
        properties = schema.get('properties', {})
        return isinstance(found, Mapping) and set(wanted) == set(found) and all(
            _same(value, found[key], properties.get(key), tolerance, prefix + key)
            for key, value in wanted.items()
        )
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        return isinstance(found, list) and len(wanted) == len(found) and all(
            _same(value, found[index], schema.get('items'), tolerance, f'{prefix}{index}')
            for index, value in enumerate(wanted)
        )
    if isinstance(wanted, str) and 'enum' not in schema:
        return isinstance(found, str) and folded(found) == folded(wanted)
    if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        return _same_number(wanted, found, schema, _allowed(tolerance, path))
    return type(found) is type(wanted) and bool(found == wanted)


def _same_number(
    wanted: float, found: Any, schema: Mapping[str, Any], allowed: float | None
) -> bool:
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return False
    if allowed is None:
        allowed = 0.0 if schema.get('type') == 'integer' else TOLERANCE
    return abs(found - wanted) <= allowed + 1e-9


def _allowed(tolerance: Mapping[str, float], path: str) -> float | None:
    """Return what the path, or a path that holds it, allows."""
    while path:
        if path in tolerance:
            return tolerance[path]
        path = path.rpartition('.')[0]
    return None


def same_decision(first: Got, second: Got) -> bool:
    """Return whether two answers decide the same; words of replies and questions may differ."""
    if (first.kind, first.names) != (second.kind, second.names):
        return False
    return all(
        _same(one, other, {}, {}, '')
        for (_, one), (_, other) in zip(first.calls, second.calls, strict=True)
    )
