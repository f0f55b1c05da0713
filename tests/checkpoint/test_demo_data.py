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

from fractions import Fraction
from pathlib import Path
import random
import re

import pytest

from demo_data import clocks
from demo_data import drills
from demo_data import lexicon
from demo_data import listing
from demo_data import mended
from demo_data import motion
from demo_data import packing
from demo_data import procedures
from demo_data import quantities
from demo_data import saying
from demo_data import scenes
from demo_data import show
from demo_data import watch_words
from demo_data.cases import CaseMaker
from demo_data.catalogues import plain_book
from demo_data.conditions import arrange
from demo_data.conditions import Condition
from demo_data.library import near
from demo_data.library import skills
from demo_data.observations import State
from demo_data.phrases import expansions
from demo_data.phrases import slots_of
from demo_data.quantities import Declared
from demo_data.rules import Rule
from demo_data.skills import DEMO_SKILLS
from demo_data.speech import fillers
from demo_data.vocabulary import vocabulary
from gemma_node.core import InputState
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.tokenizer import Tokenizer
from gemma_node.tools.call_format import CallTokens
from gemma_node.tools.call_format import parse_output
from gemma_node.tools.grammar import GrammarFactory
from gemma_node.tools.validate import validate_call

NUM_PACKS = 60


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
    kinds = set()
    for index in range(NUM_PACKS):
        settings, _, cases = packing.draw_cases(11, index, 8)
        declared = {tool.name: tool for tool in settings.tools}
        for case in cases:
            kinds.add(case.kind)
            ids = packing.target_ids(writer, case.answer)
            output = parse_output(ids[:-1], tokens=tokens, decode=tokenizer.decode,
                                  special_ids=set(tokenizer.special_ids.values()))
            assert output.text == case.answer.reply
            for call in output.calls:
                assert validate_call(declared[call.name], call.arguments) == []
    assert len(kinds) > 20


def test_calls_of_earlier_turns_fit_their_schemas_too() -> None:
    for index in range(NUM_PACKS):
        settings, _, cases = packing.draw_cases(12, index, 6)
        declared = {tool.name: tool for tool in settings.tools}
        for turn in (turn for case in cases for turn in case.turns):
            for name, arguments in turn.answer.calls:
                assert validate_call(declared[name], arguments) == []


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


def test_a_second_helping_is_shorter_and_has_more_of_what_is_weak() -> None:
    def drawn(second: bool) -> list[packing.Case]:
        return [case for index in range(120)
                for case in packing.draw_cases(21, index, 6, second=second)[2]]

    first, second = drawn(second=False), drawn(second=True)
    weak = {'condition', 'limit', 'out_of_range', 'unknown_choice', 'unclear', 'to_somebody'}
    assert sum(c.kind in weak for c in second) > 1.3 * sum(c.kind in weak for c in first)
    seen = [sum(len(c.state.observations) for c in cases if c.state) for cases in (first, second)]
    assert seen[1] < 0.8 * seen[0]


def test_dense_rows_learn_earlier_answers_too(writer: packing.PromptWriter) -> None:
    stops = set(writer.tokenizer.stop_ids)
    for share in (0.0, 1.0):
        rows, _ = packing.draw_rows(writer, 5, 1, 1, 4096, helping=3, drills=share, stage=0.5)
        assert rows.targets.sum() >= 0.12 * (rows.parts > 0).sum()
        for row, start, end, _ in rows.spans:
            assert int(rows.ids[row, end - 1]) in stops
            assert not stops & set(rows.ids[row, start:end - 1].tolist())


@pytest.mark.parametrize('name', drills.DRILLS)
def test_a_drill_is_answered_within_its_schemas_and_not_always_alike(name: str) -> None:
    kinds = set()
    for index in range(2):
        settings, _, cases = packing.draw_drill(4, index, 9, 0.5, name)
        declared = {tool.name: tool for tool in settings.tools}
        answers = [turn.answer for case in cases for turn in case.turns if turn.kind]
        for answer in (*answers, *(case.answer for case in cases)):
            for called, arguments in answer.calls:
                assert validate_call(declared[called], arguments) == []
                kinds.add((called, str(arguments)))
    assert len(kinds) > 2
    again = packing.draw_drill(4, 1, 9, 0.5, name)[2]
    assert [(c.text, c.answer) for c in again] == [(c.text, c.answer) for c in cases]


def test_numbers_beside_a_bound_are_refused_only_outside() -> None:
    found = {'in_range': 0, 'out_of_range': 0}
    for index in range(4):
        for case in packing.draw_drill(8, index, 12, 0.5, 'range')[2]:
            found[case.kind] += 1
            assert (case.answer.calls[0][0] == 'ask_operator') is (case.kind == 'out_of_range')
    assert min(found.values()) > 2


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
    assert cases[0].text in {*found, *(turn.text for turn in cases[0].turns)}


def test_templates_have_only_slots_that_get_values_and_brackets_that_match() -> None:
    filled = fillers(random.Random(1)).keys()
    for skill in skills().values():
        known = filled | {arg.key for arg in skill.args} | {f'{arg.key}_u' for arg in skill.args}
        for template in skill.says:
            assert slots_of(template) <= known, (skill.key, template)
            assert not set('[]|') & set(''.join(expansions(template, 8))), (skill.key, template)


def test_a_lexicon_fault_names_file_entry_and_key(tmp_path: Path) -> None:
    file = tmp_path / 'odd.yaml'
    entry = '- key: x\n  names: [x]\n  descriptions: [Do x.]\n  args: []\n  says: ["do x"]\n'
    file.write_text(entry)
    assert lexicon.load_file(file)[0].key == 'x'
    for wrong, told in ((entry + '  colour: red\n', "unknown key 'colour'"),
                        (entry.replace('do x', 'do {y}'), "slot 'y'"),
                        (entry.replace('["do x"]', '[]'), "'says' is missing"),
                        (entry.replace('do x', 'do [x'), 'brackets')):
        file.write_text(wrong)
        with pytest.raises(lexicon.LexiconError, match=r'odd\.yaml, entry 0 \(x\)') as error:
            lexicon.load_file(file)
        assert told in str(error.value)
    file.write_text('- key: [')
    with pytest.raises(lexicon.LexiconError, match=r'odd\.yaml: no YAML'):
        lexicon.load_file(file)


def test_no_catalogue_holds_two_skills_that_could_serve_one_sentence() -> None:
    for index in range(150):
        book = packing.draw_book(random.Random(f'pairs/{index}'))
        groups: dict[int, list[str]] = {}
        for tool in book.tools:
            groups.setdefault(id(tool.skill), []).append(tool.skill.key)
        keys = {found[0] for found in groups.values()} - {skill.key for skill in DEMO_SKILLS}
        assert not any(near().get(key, frozenset()) & keys - {key} for key in keys)
        for tool in book.tools:
            twins = [t for t in book.tools if t.skill is tool.skill]
            assert len(twins) == 1 or len({t.declaration.description for t in twins}) == len(twins)


@pytest.mark.parametrize('declared', [
    Declared('m', 0.1, 5), Declared('cm', 1, 300, is_integer=True), Declared('m/s', 0.1, 1.5),
    Declared('deg', -180, 180), Declared('rad', 0, 3.14), Declared('s', 1, 600),
    Declared('fraction', 0, 1), Declared('min', 1, 120, is_integer=True), Declared('kg', 0.1, 20),
    Declared('C', 5, 30)],
    ids=lambda d: d.unit)
def test_quantities_keep_their_bounds_and_leave_them_when_asked(declared: Declared) -> None:
    rng = random.Random(2)
    inside = [q for q in (quantities.draw(rng, declared) for _ in range(200)) if q]
    drawn = [quantities.draw(rng, declared, outside=True) for _ in range(200)]
    outside = [q for q in drawn if q]
    assert len(inside) > 100 and len(outside) > 100
    assert all(declared.low <= q.value <= declared.high for q in inside)
    assert not any(declared.low <= q.value <= declared.high for q in outside)
    assert all(round(q.value, 2) == q.value for q in inside)
    if declared.is_integer:
        assert all(isinstance(q.value, int) for q in (*inside, *outside))


@pytest.mark.parametrize(('number', 'unit', 'words'), [
    (Fraction(1, 2), 'm', {'half a metre', 'a half metre'}),
    (Fraction(5, 2), 'h', {'two and a half hours'}),
    (Fraction(1, 4), 'h', {'a quarter of an hour', 'a quarter hour'}),
    (Fraction(21), 's', {'twenty-one seconds', 'twenty one seconds'})])
def test_number_words_say_the_number(number: Fraction, unit: str, words: set[str]) -> None:
    rng = random.Random(5)
    said = {quantities.say(rng, number, unit) for _ in range(300)}
    assert words <= said


def test_relative_moves_follow_the_heading() -> None:
    move = motion.Move('', forward=Fraction(2), left=Fraction(1))
    assert motion.reach((1.0, 1.0, 0), move) == (3, 2)
    assert motion.reach((1.0, 1.0, 90), move) == (0, 3)
    assert motion.reach((1.0, 1.0, 180), move) == (-1, 0)
    assert motion.reach((1.0, 1.0, -90), move) == (2, -1)
    x, y = motion.reach((0.0, 0.0, 30), motion.Move('', forward=Fraction(2)))
    assert (quantities.plain(x), quantities.plain(y)) == (1.73, 1)
    assert [motion.wrapped(a) for a in (190, -190, 180, -180, 360)] == [-170, 170, 180, 180, 0]


def test_the_state_rules_follow_danger_then_errors_then_battery() -> None:
    rng = random.Random(1)
    maker = CaseMaker(rng, packing.demo_book(), 'alpha')
    state = State()
    arrange(rng, state, Condition('battery', '>', 40), truth=True)
    assert maker.judge(state).call[0] == 'no_action'
    arrange(rng, state, Condition('battery', '<', 19), truth=True)
    assert maker.judge(state).call == ('dock', {})
    state.facts.append(type(state.facts[0])('error', 'errors', 'E7'))
    assert maker.judge(state).call[0] == 'ask_operator'
    arrange(rng, state, Condition('speed', '>', 0.2), truth=True)
    assert maker.judge(state).call == ('stop', {})
    state.facts = [f for f in state.facts if f.kind != 'error']
    arrange(rng, state, Condition('front', '<', 0.29), truth=True, fault=InputState.STALE)
    assert maker.judge(state).call == ('dock', {})
    arrange(rng, state, Condition('front', '>', 0.5), truth=True)
    assert maker.judge(state).call == ('dock', {})


def test_a_broken_rule_refuses_and_says_why() -> None:
    rng = random.Random(3)
    rule = Rule('age', 'Needs odom not older than 0.5 s.', 'go_to', limit=0.5, value='odom')
    state = State()
    assert rule.broken({}, state) == 'odom is missing'
    rule.prepare(rng, state, 0.0)
    assert rule.broken({}, state) == ''
    assert state.observations[0].age_s <= 0.5
    limit = Rule('limit', '', 'go_to', path=('speed',), limit=0.5, unit='m/s')
    assert limit.broken({'speed': 0.6}, state) == 'the limit is 0.5 m/s'
    assert limit.broken({'speed': 0.5}, state) == ''
    is_open = Condition('flag', '=', True, 'door_open')
    needs = Rule('needs', '', 'go_to', is_open, value='the door is closed')
    needs.prepare(rng, state, 0.0)
    assert needs.broken({}, state) == ''
    arrange(rng, state, is_open, truth=False)
    assert needs.broken({}, state) == 'the door is closed'
    arrange(rng, state, is_open, truth=True, fault=InputState.STALE)
    assert needs.broken({}, state) == 'door_open is stale'


def test_answers_fit_the_grammar_of_their_catalogue(writer: packing.PromptWriter) -> None:
    tokenizer = writer.tokenizer
    factory = GrammarFactory(
        tokenizer.inner, vocab_size=tokenizer.vocab_size, stop_ids=tokenizer.stop_ids,
        special_ids=tokenizer.special_ids)
    for index in range(15):
        settings, _, cases = packing.draw_cases(13, index, 6)
        for case in cases:
            constraint = factory.constraint(settings.tools)
            for token in packing.target_ids(writer, case.answer)[:-1]:
                assert constraint.accept(token), show.case_text(case)


def test_the_vocabulary_lists_what_catalogues_draw_from() -> None:
    found = vocabulary()
    assert {'go_to', 'mop_floor'} <= found['tool_names']
    assert 'kitchen' in found['places'] and 'kitchen' in found['demo_places']
    assert all(found.values())


def test_samples_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    show.main(['--seed', '7', '--packs', '2'])
    text = capsys.readouterr().out
    assert 'SYSTEM ' in text and '-> ' in text and 'Observations:' in text
    show.main(['--packs', '2', '--count'])
    assert '%' in capsys.readouterr().out


def test_invented_words_are_defined_where_the_model_can_read_it() -> None:
    told = 0
    for index in range(25):
        settings, _, _ = packing.draw_drill(5, index, 1, 1.0, 'defined')
        shown = ' '.join([settings.system_prompt, *(t.description for t in settings.tools)])
        book = packing.draw_drill_book(random.Random(f'drill/5/{index}'), 1.0, 'defined')[1]
        for tool in book.tools:
            told += bool(tool.skill.gloss)
            assert tool.skill.gloss in shown
    assert told > 5


def test_injected_pairs_differ_in_the_injected_text_alone() -> None:
    num_pairs = 0
    for index in range(12):
        _, _, cases = packing.draw_drill(6, index, 12, 1.0, 'injected')
        by_text: dict[str, list[packing.Case]] = {}
        for case in cases:
            by_text.setdefault(case.text, []).append(case)
        for found in by_text.values():
            if len(found) == 2 and found[0].kind not in ('decide', 'order', 'follow_up'):
                num_pairs += 1
                assert found[0].answer == found[1].answer
                assert [t.answer for t in found[0].turns] == [t.answer for t in found[1].turns]
    assert num_pairs > 15


@pytest.mark.parametrize(('number', 'unit', 'said'), [
    (Fraction(23, 10), 'm', {'2 m 30 cm', '2 metres 30'}),
    (Fraction(4, 3), 'h', {'an hour and 20 minutes', '1 h 20 min'}),
    (Fraction(90), 'deg', {'a quarter turn', 'a right angle'}),
    (Fraction(75), '%', {'three quarters'}), (Fraction(1500), 'g', {'1,500 g', '1,500 grams'})])
def test_special_ways_to_say_a_number_say_that_number(
    number: Fraction, unit: str, said: set[str],
) -> None:
    rng = random.Random(3)
    assert said <= {saying.special(rng, number, unit) for _ in range(400)}


def test_things_enumerated_are_all_said_in_their_order() -> None:
    rng = random.Random(4)
    for count in (1, 2, 3, 5):
        for _ in range(100):
            text = listing.enumerated(rng, ['AA', 'BB', 'CC', 'DD', 'EE'][:count])
            assert re.findall('AA|BB|CC|DD|EE', text) == ['AA', 'BB', 'CC', 'DD', 'EE'][:count]


def test_the_last_word_of_a_correction_counts() -> None:
    found = 0
    for index in range(6):
        settings, book, _ = packing.draw_drill(7, index, 3, 1.0, 'mended')
        maker = CaseMaker(random.Random(index), book, settings.name)
        for _ in range(20):
            case = mended.corrected(maker)
            found += case is not None and case.kind == 'correction'
    assert found > 20
    assert all(text.count('{b}') == 1 for text in (*mended.WITHIN, *mended.AFTER))
    assert all(text.count('{a}') == text.count('{b}') == 1 for text in mended.TOGETHER)
    assert all(text.find('{a}') < text.find('{b}') for text in mended.TOGETHER)


def test_a_fourth_helping_draws_the_new_drills() -> None:
    drawn = [packing.draw_drill_book(random.Random(i), 1.0, fourth=True)[0] for i in range(240)]
    names = ('defined', 'copied', 'exact', 'nested', 'mended')
    new = [drills.DRILLS[name] for name in names]
    weights = {name: drills.FOURTH.get(name, d.weight) for name, d in drills.DRILLS.items()}
    expected = sum(weights[name] for name in names) / sum(weights.values())
    assert expected > 0.08
    assert abs(sum(drill in new for drill in drawn) / 240 - expected) < 0.06


def test_a_quantity_with_a_whole_step_is_whole_in_whatever_unit_it_is_said() -> None:
    rng = random.Random(6)
    declared = Declared('deg', -180, 180, step=1)
    found = [q for q in (quantities.draw(rng, declared) for _ in range(300)) if q]
    assert len(found) > 200
    assert all(isinstance(q.value, int) for q in found)


def test_of_several_standing_orders_each_is_due_as_often_as_none() -> None:
    met: dict[int, list[int]] = {}
    for index in range(60):
        _, book, cases = packing.draw_drill(77, index, 12, 1.0, 'either')
        rules = [r for r in book.rules if r.kind == 'order' and r.condition is not None]
        assert len(rules) > 1
        assert len({str(r.order) for r in rules}) == len(rules)
        for case in cases:
            assert case.state is not None
            conditions = [r.condition for r in rules if r.condition is not None]
            if any(c.problem(case.state) for c in conditions):
                continue
            due = [i for i, c in enumerate(conditions) if c.holds(case.state)]
            assert len(due) < 2
            if len(rules) == 2:
                place = due[0] if due else -1
                met.setdefault(place, []).append(index)
                if due:
                    assert case.answer.calls[0][0] == rules[place].order[0]
    shares = [len(met[place]) / sum(map(len, met.values())) for place in (-1, 0, 1)]
    assert all(0.22 < share < 0.45 for share in shares), shares


def test_conditions_in_verbs_errors_and_numbers_of_things_hold_as_laid() -> None:
    makers = (watch_words.doings, watch_words.troubles, lambda r: watch_words.crowds(r, 'objects'))
    for make in makers:
        for seed in range(60):
            rng = random.Random(seed)
            watch, state = make(rng), State()
            for truth in (True, False):
                assert watch.lay(rng, state, truth, None)
                assert watch.holds(state) is truth
                assert watch.opposite().holds(state) is not truth
                assert ' ' not in watch.name


def test_a_table_of_one_input_orders_what_its_value_says() -> None:
    rng = random.Random(3)
    found = 0
    for index in range(12):
        _, book, _ = packing.draw_drill(31, index, 2, 1.0, 'either')
        ruled = procedures.table(rng, book)
        for rule in ruled:
            for other in ruled:
                assert rule.condition is not None and other.condition is not None
                state = State()
                other.condition.lay(rng, state, False, None)
                rule.condition.lay(rng, state, True, None)
                assert other.condition.holds(state) is (other is rule)
                found += 1
    assert found > 20


def test_a_word_of_the_same_sort_is_asked_about_only_where_it_is_not_declared() -> None:
    found = 0
    for index in range(8):
        settings, _, cases = packing.draw_drill(17, index, 18, 1.0, 'sorts')
        schemas = [p for t in settings.tools for p in t.parameters['properties'].values()]
        declared = {c.replace('_', ' ').lower() for p in schemas for c in p.get('enum', ())}
        for case in cases:
            if case.kind == 'unknown_choice':
                found += 1
                name, arguments = case.answer.calls[0]
                assert name == 'ask_operator'
                asked = arguments['question'].removeprefix('I do not know ')
                assert asked.partition('. Which')[0].lower() not in declared
    assert found > 5


def test_every_sentence_of_every_scene_can_be_said() -> None:
    rng = random.Random(4)
    for name, scene in scenes.scenes().items():
        m = CaseMaker(rng, plain_book(rng, list(scene.skills), strange=0.3, nonces=0.0), 'r')
        assert len(scene.skills) > 3 and len(scene.idle) > 7 and len(scene.beyond) > 4, name
        lacking = [text for texts in scene.lacking.values() for _, text in texts]
        for text in (*scene.idle, *scene.beyond, *lacking):
            said = scenes.filled(m, text)
            assert not re.search(r'[{}\[\]|!]', said.plain), text
        for tool in m.book.tools:
            assert any(m.wish(tool) for _ in range(20)), tool.name


def test_hours_are_those_that_are_said() -> None:
    rng = random.Random(8)
    for _ in range(400):
        hour, minute, said = clocks.say_hour(rng)
        assert 0 <= hour < 24 and 0 <= minute < 60
        if digits := re.match(r'(\d+)[:.](\d\d)(.*)', said):
            assert int(digits[2]) == minute
            assert int(digits[1]) % 12 == hour % 12
            assert not ('pm' in digits[3] and hour < 12)
