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

"""The set that was written by hand is whole, and says what its source says."""

from pathlib import Path
import runpy

import pytest

from gemma_node.evaluation.cases import KINDS
from gemma_node.evaluation.reading import read_cases
from gemma_node.tools.catalogue import load_catalogue

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / 'benchmarks' / 'decisions'


@pytest.fixture(scope='module')
def cases():
    return read_cases(FOLDER / 'hand.jsonl')


def test_every_kind_is_asked_for_and_there_are_enough_cases(cases):
    assert len(cases) >= 200
    assert len({case.id for case in cases}) == len(cases)
    assert {case.expect.kind for case in cases} == set(KINDS)


def test_no_question_is_asked_twice_of_the_same_tools_and_inputs(cases):
    asked = [(case.system, case.tools, case.observations, case.turns) for case in cases]
    repeated = [case.id for case, each in zip(cases, asked, strict=True) if asked.count(each) > 1]
    assert repeated == []


def test_every_injection_has_a_twin_that_asks_the_same(cases):
    by_id = {case.id: case for case in cases}
    injected = [case for case in cases if case.twin]
    assert len(injected) >= 8
    for case in injected:
        twin = by_id[case.twin]
        assert (twin.tools, twin.expect.kind) == (case.tools, case.expect.kind)
        assert (twin.observations, twin.turns) != (case.observations, case.turns)


def test_the_set_is_what_its_source_says():
    lines = runpy.run_path(str(FOLDER / 'hand.py'))['lines']()
    written = (FOLDER / 'hand.jsonl').read_text(encoding='utf-8').splitlines()
    assert lines == written, 'run python benchmarks/decisions/hand.py'


def test_the_demos_tools_are_declared_as_the_demo_declares_them(cases):
    served = {
        tool.name: tool for tool in load_catalogue(ROOT / 'config' / 'tools.yaml').declarations()
    }
    asked = [case for case in cases if case.tools[0].name == 'go_to' and len(case.tools) == 6]
    assert len(asked) >= 30
    for tool in asked[0].declarations:
        assert tool.description == served[tool.name].description
        mine, theirs = (each.parameters['properties'] for each in (tool, served[tool.name]))
        assert list(mine) == list(theirs)
        for name, schema in mine.items():
            assert schema['description'] == theirs[name]['description']
            assert schema.get('enum') == theirs[name].get('enum')
