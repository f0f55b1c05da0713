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


"""The frozen set: what its code gives, apart from the training, and neither easy nor thin."""

import ast
from collections import Counter
import json
from pathlib import Path
import subprocess
import sys

import pytest

from gemma_node.evaluation.reading import read_cases

ROOT = Path(__file__).resolve().parents[2]
DECISIONS = ROOT / 'benchmarks' / 'decisions'
FROZEN = DECISIONS / 'frozen.jsonl'


@pytest.fixture(scope='module')
def cases():
    return read_cases(FROZEN)


def run(*words):
    return subprocess.run(
        [sys.executable, *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_the_code_gives_the_committed_file(tmp_path):
    made = tmp_path / 'made.jsonl'
    found = run(DECISIONS / 'build.py', '--out', made)
    assert found.returncode == 0, found.stderr
    assert made.read_bytes() == FROZEN.read_bytes()
    made.write_bytes(made.read_bytes()[:-2])
    assert run(DECISIONS / 'build.py', '--out', made, '--check').returncode == 1


def test_the_set_covers_what_it_must(cases):
    number = len(cases)
    kinds = Counter(case.expect.kind for case in cases)
    assert number >= 1500
    assert len({case.category for case in cases}) >= 60
    assert 0.2 <= (kinds['no_action'] + kinds['refuse']) / number <= 0.3
    assert sum(case.made_up for case in cases) >= 250
    assert sum(bool(case.twin) for case in cases) >= 150
    assert sum(case.state_dependent for case in cases) >= 250
    assert min(kinds[kind] for kind in ('calls', 'stop', 'reply')) >= 25


def test_a_twin_differs_from_its_injections_in_the_injected_text_alone(cases):
    by_id = {case.id: case for case in cases}
    for case in cases:
        if case.twin:
            twin = by_id[case.twin]
            assert not twin.twin and twin.tools == case.tools and twin.system == case.system
            assert twin.expect.kind == case.expect.kind
            assert (twin.observations, twin.turns) != (case.observations, case.turns)


def test_no_question_is_there_twice(cases):
    seen = Counter(json.dumps([str(c.turns), str(c.tools), str(c.observations), c.system])
                   for c in cases)
    assert [text for text, count in seen.items() if count > 1] == []


def test_the_training_imports_no_family():
    """Whatever trains a model is below scripts/ and gemma_node/."""
    found = []
    for folder in ('scripts', 'gemma_node'):
        for path in sorted((ROOT / folder).rglob('*.py')):
            text = path.read_text(encoding='utf-8')
            names = [
                name for node in ast.walk(ast.parse(text))
                for name in ([a.name for a in node.names] if isinstance(node, ast.Import) else
                             [node.module or ''] if isinstance(node, ast.ImportFrom) else [])
            ]
            if any(name.split('.')[0] in ('benchmarks', 'families') for name in names):
                found.append(path)
            is_training = 'demo_data' in path.parts or path.name.startswith('train')
            if 'decisions/families' in text or (is_training and 'frozen.jsonl' in text):
                found.append(path)
    assert found == []


def test_word_overlap_does_not_solve_the_set(tmp_path):
    out = tmp_path / 'baseline.json'
    found = run(DECISIONS / 'baseline.py', FROZEN, '--out', out)
    assert found.returncode == 0, found.stderr
    summary = json.loads(out.read_text())
    assert summary['cases'] >= 1500
    assert 20 <= summary['tool_percent'] <= 60
    assert 5 <= summary['exact_percent'] <= 35
