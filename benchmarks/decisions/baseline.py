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
How far word overlap gets on a set of decisions: TF-IDF on descriptions, arguments by pattern.

    benchmarks/decisions/baseline.py SET.jsonl [--out FILE]

It reads the tools and the last user turn, nothing else, and is scored as a checkpoint is.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from collections.abc import Sequence
import json
import math
from pathlib import Path
import re
import sys
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from gemma_node.core import ToolDeclaration  # noqa: E402
from gemma_node.evaluation.cases import Case  # noqa: E402
from gemma_node.evaluation.reading import read_cases  # noqa: E402
from gemma_node.evaluation.scoring import Got  # noqa: E402
from gemma_node.evaluation.scoring import judge  # noqa: E402
from gemma_node.evaluation.scoring import Scored  # noqa: E402
from gemma_node.evaluation.summary import summarise  # noqa: E402

_WORD = re.compile(r'[a-z]+|[0-9]+')
_NUMBER = re.compile(r'(?<![\w.])-?[0-9]+(?:\.[0-9]+)?')
_TEXT = re.compile(r'"([^"]+)"|:\s*(.+)|\bthat (.+)|\bthe ((?:\w+ ?){1,3})')
Frequencies = Mapping[str, float]


def words(text: str) -> list[str]:
    """Return the words, plural s cut off."""
    return [word.removesuffix('s') for word in _WORD.findall(text.lower())]


def document(tool: ToolDeclaration) -> list[str]:
    """Return every word of a declaration."""
    return words(f'{tool.name} {tool.description} {json.dumps(tool.parameters)}')


def inverse_frequencies(cases: Sequence[Case]) -> Frequencies:
    """Return how rare a word is among all declarations of the set."""
    documents = {
        json.dumps([tool.name, tool.description]): set(document(tool))
        for case in cases for tool in case.declarations
    }
    counts = Counter(word for each in documents.values() for word in each)
    return {word: math.log(len(documents) / count) for word, count in counts.items()}


def similarity(asked: list[str], tool: list[str], rare: Frequencies) -> float:
    """Return the cosine of two texts as weighted bags of words."""
    left, right = (
        {word: count * rare.get(word, 0.0) for word, count in Counter(each).items()}
        for each in (asked, tool)
    )
    norm = math.hypot(*left.values()) * math.hypot(*right.values())
    return sum(left[word] * right.get(word, 0.0) for word in left) / norm if norm else 0.0


def decide(case: Case, rare: Frequencies) -> Got:
    """Return the tool that shares most with the question; ask_operator where none shares."""
    text = case.question
    asked = words(text)
    scores = {tool.name: similarity(asked, document(tool), rare) for tool in case.declarations}
    best = max(scores, key=lambda name: scores[name])
    probability = scores[best]
    if not probability or best == 'ask_operator':
        return Got(kind='ask', probability=probability)
    if best in ('no_action', 'stop'):
        return Got(kind=best, probability=probability)
    schema = next(tool.parameters for tool in case.declarations if tool.name == best)
    arguments = fill(schema, text, _numbers(text))
    return Got(kind='call', calls=((best, arguments),), probability=probability)


def fill(schema: Mapping[str, Any], text: str, numbers: list[float]) -> Any:
    """Return a value for a schema from the words said; `numbers` are used up in their order."""
    kind = schema.get('type')
    if 'enum' in schema:
        asked = set(words(text))
        return max(schema['enum'], key=lambda each: len(asked & set(words(str(each)))))
    if kind == 'object':
        return {name: fill(schema['properties'][name], text, numbers)
                for name in schema['required']}
    if kind == 'array':
        items = schema.get('items', {})
        if items.get('type') in ('number', 'integer'):
            return [_as(items, numbers.pop(0)) for _ in range(len(numbers))]
        return [fill(items, text, numbers)]
    if kind in ('number', 'integer'):
        return _as(schema, numbers.pop(0) if numbers else 0.0)
    if kind == 'boolean':
        return 'off' not in words(text)
    found = _TEXT.search(text.rstrip('.!?'))
    return next((group for group in found.groups() if group), text) if found else text


def _as(schema: Mapping[str, Any], value: float) -> float:
    return round(value) if schema['type'] == 'integer' else value


def _numbers(text: str) -> list[float]:
    return [float(number) for number in _NUMBER.findall(text)]


def run(path: Path) -> dict[str, Any]:
    """Return the figures of the baseline on a set."""
    cases = read_cases(path)
    rare = inverse_frequencies(cases)
    answers = [(case, decide(case, rare)) for case in cases]
    return summarise([Scored(case=c, got=got, verdict=judge(c, got)) for c, got in answers])


def main() -> None:
    """Read the command line and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('set', type=Path)
    parser.add_argument('--out', type=Path)
    arguments = parser.parse_args()
    summary = run(arguments.set)
    text = json.dumps(summary, indent=1) + '\n'
    if arguments.out is None:
        sys.stdout.write(text)
    else:
        arguments.out.write_text(text, encoding='utf-8')


if __name__ == '__main__':
    main()
