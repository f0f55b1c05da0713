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


# Words of every robot: directions, parts of an arm, colours and the like.
COMMON = frozenset({
    'left', 'right', 'forward', 'back', 'top', 'bottom', 'hard', 'soft', 'elbow', 'shoulder',
    'wrist', 'crimson', 'ivory', 'turquoise',
})  # fmt: skip
# Parts of the training's vocabulary that are sentences or names of fields, no values.
NO_VALUES = frozenset({'descriptions', 'argument_names'})


def texts_in(value):
    """Return every text inside a JSON value."""
    if isinstance(value, str):
        return [value]
    children = value.values() if isinstance(value, dict) else value
    return [text for each in children for text in texts_in(each)] if isinstance(
        value, (dict, list)) else []


def choices_in(schema):
    """Return every choice of a schema."""
    if isinstance(schema, list):
        return [choice for each in schema for choice in choices_in(each)]
    if not isinstance(schema, dict):
        return []
    below = [choice for each in schema.values() for choice in choices_in(each)]
    return [*(str(each) for each in schema.get('enum', ())), *below]


def plain(text):
    return text.casefold().replace('_', ' ').strip()


@pytest.fixture(scope='module')
def known():
    """Return what the training's generator may name, by the file that lists it."""
    code = (
        'import json, sys; sys.path[:0] = ["scripts"]; '
        'from demo_data.vocabulary import vocabulary; '
        'json.dump({k: sorted(v) for k, v in vocabulary().items()}, sys.stdout)'
    )
    found = run('-c', code)
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def test_names_and_values_are_not_those_of_the_training(cases, known):
    names = {plain(each) for each in known['tool_names']}
    values = {plain(each) for kind, texts in known.items() if kind not in NO_VALUES
              for each in texts}
    assert len(names) > 100 and len(values) > len(names)
    tools = {tool.name for case in cases for tool in case.tools}
    said = {text for case in cases for call in case.expect.calls
            for text in texts_in(call.arguments)}
    said |= {text for case in cases for turn in case.turns for text in texts_in(turn.arguments)}
    choices = {each for case in cases for tool in case.tools
               for each in choices_in(tool.parameters)}
    assert {name for name in tools if plain(name) in names} == set()
    assert {text for text in said | choices if plain(text) in values} <= COMMON


def test_people_and_things_are_not_those_of_the_training(known):
    sys.path[:0] = [str(DECISIONS)]
    try:
        from families import values as own
    finally:
        sys.path.remove(str(DECISIONS))
    values = {plain(each) for kind, texts in known.items() if kind not in NO_VALUES
              for each in texts}
    listed = {*own.PEOPLE, *own.ITEMS, *own.TITLES, *own.STATEMENTS}
    assert len(listed) > 50
    assert {each for each in listed if plain(each) in values} == set()
