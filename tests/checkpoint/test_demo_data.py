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

"""What the training data promises: the same for a seed, in the runtime's own words, answerable."""

from __future__ import annotations

import random

import pytest

from demo_data import packing
from demo_data.cases import CaseMaker
from demo_data.phrases import expand
from demo_data.phrases import fill
from demo_data.phrases import slots_of
from demo_data.skills import DEMO_SKILLS
from demo_data.skills_other import OTHER_SKILLS
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.tokenizer import Tokenizer
from gemma_node.tools.call_format import CallTokens
from gemma_node.tools.call_format import parse_output
from gemma_node.tools.validate import validate_call

NUM_PACKS = 12


@pytest.fixture(scope='module')
def writer() -> packing.PromptWriter:
    return packing.load_writer()


def test_same_seed_and_index_give_the_same_pack(writer: packing.PromptWriter) -> None:
    assert packing.draw_pack(writer, 3, 7, 5) == packing.draw_pack(writer, 3, 7, 5)
    assert packing.draw_pack(writer, 3, 7, 5) != packing.draw_pack(writer, 4, 7, 5)


def test_fast_prompts_are_those_of_the_runtime(writer: packing.PromptWriter) -> None:
    runtime = packing.PromptWriter(
        Tokenizer.from_folder(packing.ASSETS), ChatTemplate.from_folder(packing.ASSETS))
    for index in range(10):
        assert packing.draw_pack(writer, 9, index, 6) == packing.draw_pack(runtime, 9, index, 6)


def test_every_answer_parses_and_fits_the_declared_schema(writer: packing.PromptWriter) -> None:
    tokenizer = writer.tokenizer
    tokens = CallTokens.from_special_ids(tokenizer.special_ids)
    checked = 0
    for index in range(NUM_PACKS):
        settings, _, cases = packing.draw_cases(11, index, 8)
        declared = {tool.name: tool for tool in settings.tools}
        for case in cases:
            ids = packing.target_ids(writer, case.answer)
            output = parse_output(ids[:-1], tokens=tokens, decode=tokenizer.decode,
                                  special_ids=set(tokenizer.special_ids.values()))
            assert output.text == case.answer.reply
            for call in output.calls:
                assert validate_call(declared[call.name], call.arguments) == []
                checked += 1
    assert checked > 40


def test_a_tail_continues_its_prefix_as_the_runtime_writes_it(
    writer: packing.PromptWriter,
) -> None:
    settings, _, cases = packing.draw_cases(11, 2, 3)
    prefix = writer.prefix(settings).ids
    for case in cases:
        prompt, target = packing.encode_case(writer, settings, case)
        assert prompt.ids[:len(prefix)] == prefix
        assert target[-1] in writer.tokenizer.stop_ids
        text = writer.tokenizer.decode(prompt.ids[len(prefix):])
        assert text.endswith('<|turn>model\n')
        assert case.text in text


def test_rows_mark_exactly_the_answers(writer: packing.PromptWriter) -> None:
    rows, used = packing.draw_rows(writer, 5, 0, 2, 2048)
    assert used > 0
    stops = set(writer.tokenizer.stop_ids)
    assert rows.targets.sum() == sum(end - start for _, start, end, _ in rows.spans)
    for row, start, end, _ in rows.spans:
        assert int(rows.ids[row, end - 1]) in stops
        assert rows.targets[row, start:end].all()
        assert not rows.targets[row, start - 1]


def test_training_sentences_stream_what_training_draws() -> None:
    found = list(packing.training_sentences(3, 60))
    assert len(found) == 60
    _, _, cases = packing.draw_cases(3, 0, 8)
    assert cases[0].text in found


@pytest.mark.parametrize('skill', [*DEMO_SKILLS, *OTHER_SKILLS], ids=lambda skill: skill.key)
def test_templates_have_only_slots_that_get_values(skill: object) -> None:
    rng = random.Random(1)
    maker = CaseMaker(rng, packing.demo_book(), 'alpha')
    known = maker._fillers().keys() | {arg.key for arg in skill.args}
    for template in skill.says:
        assert slots_of(template) <= known
        text = fill(expand(rng, template), dict.fromkeys(known, 'x'))
        assert '[' not in text and '|' not in text and '{' not in text


def test_the_state_rules_follow_danger_then_errors_then_battery() -> None:
    maker = CaseMaker(random.Random(1), packing.demo_book(), 'alpha')
    state = maker._state()
    state.battery, state.is_charging, state.front = 50, False, 2.0
    state.error, state.drive = None, 0.0
    assert maker._judge(state).call[0] == 'no_action'
    state.battery = 12
    assert maker._judge(state).call == ('dock', {})
    state.error = 'E7'
    assert maker._judge(state).call[0] == 'ask_operator'
    state.drive = 0.4
    assert maker._judge(state).call == ('stop', {})
    state.error, state.drive, state.front = None, 0.0, 0.2
    assert maker._judge(state).call == ('stop', {})
