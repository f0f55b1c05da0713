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

"""Questions become prompts with one-token labels, and label scores become verdicts."""

from __future__ import annotations

from dataclasses import replace
import math
import time
from typing import Any

from fake_engine import FakeEngine
from fake_engine import make_decider
import pytest

from gemma_node.assemble import EMBEDDED_CHECKPOINT
from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import GenerationResult
from gemma_node.core import Request
from gemma_node.decision.decider import Decider
from gemma_node.decision.prompt import PromptWriter
from gemma_node.decision.scoring import label_ids
from gemma_node.decision.scoring import question_text
from gemma_node.decision.scoring import verdict
from gemma_node.errors import RequestError
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.tokenizer import Tokenizer
from gemma_node.worker.questions import Question
from gemma_node.worker.questions import QuestionType

CHOICE = Question(
    id='a' * 32,
    text='Where is the cup?',
    type=QuestionType.CHOICE,
    options=(('dock', 'the charging place'), ('kitchen', '')),
)
SCORE = Question(id='b' * 32, text='How full?', type=QuestionType.SCORE, score_max=3)
YES_NO = Question(id='c' * 32, text='Is it safe?', type=QuestionType.YES_NO)


@pytest.fixture
def engine(writer: PromptWriter) -> FakeEngine:
    return FakeEngine(writer)


@pytest.fixture
def decider(tokenizer: Tokenizer, template: ChatTemplate, engine: FakeEngine) -> Decider:
    return make_decider(tokenizer, template, engine, time.monotonic)


def _logs(*shares: float) -> tuple[float, ...]:
    return tuple(map(math.log, shares))


def test_a_choice_lists_its_options_by_letter() -> None:
    assert question_text(CHOICE) == (
        'Where is the cup?\nA: dock, the charging place\nB: kitchen\nAnswer with one letter.'
    )
    assert question_text(SCORE).endswith('Answer with one digit, from 0 to 3.')
    assert question_text(YES_NO).endswith('Answer Yes or No.')


@pytest.mark.parametrize(
    ('question', 'change', 'named'),
    [
        (CHOICE, {'text': ' '}, 'question is empty'),
        (CHOICE, {'options': CHOICE.options[:1]}, '2 to 26'),
        (CHOICE, {'options': tuple((str(n), '') for n in range(27))}, 'got 27'),
        (CHOICE, {'options': (('x', ''), ('x ', ''))}, 'distinct'),
        (CHOICE, {'options': (('x', ''), ('', ''))}, 'distinct'),
        (YES_NO, {'options': CHOICE.options}, 'only a choice'),
        (SCORE, {'score_max': 10}, 'score_max must be 1 to 9'),
        (SCORE, {'score_max': 0}, 'score_max must be 1 to 9'),
        (YES_NO, {'temperature': math.nan}, 'temperature'),
        (YES_NO, {'temperature': -1.0}, 'temperature'),
        (YES_NO, {'min_label_mass': 1.5}, 'min_label_mass'),
    ],
)
def test_what_is_no_question_is_named(
    question: Question, change: dict[str, Any], named: str
) -> None:
    with pytest.raises(RequestError, match=named) as caught:
        question_text(replace(question, **change))
    assert caught.value.code is ErrorCode.INVALID_REQUEST


def test_verdicts_are_softmax_over_the_labels_and_tell_their_mass() -> None:
    found = verdict(CHOICE, _logs(0.1, 0.3))
    assert (found.choice, found.choice_name) == (1, 'kitchen')
    assert found.probabilities == pytest.approx((0.25, 0.75))
    assert found.label_mass == pytest.approx(0.4)
    assert found.margin == pytest.approx(0.5)
    assert math.isnan(found.score)
    assert found.error_code is ErrorCode.NONE


def test_a_score_is_the_expected_level_and_yes_is_one() -> None:
    found = verdict(SCORE, _logs(0.1, 0.1, 0.2, 0.4))
    assert found.score == pytest.approx((0.1 + 0.4 + 1.2) / 0.8)
    assert (found.choice, found.choice_name) == (3, '')
    assert verdict(YES_NO, _logs(0.2, 0.6)).choice_name == 'Yes'
    assert verdict(YES_NO, _logs(0.2, 0.6)).choice == 1


def test_temperature_flattens_and_a_low_mass_is_an_error() -> None:
    hot = verdict(replace(CHOICE, temperature=2.0), _logs(0.1, 0.4))
    assert hot.probabilities == pytest.approx((1 / 3, 2 / 3))
    low = verdict(replace(CHOICE, min_label_mass=0.6), _logs(0.1, 0.4))
    assert low.error_code is ErrorCode.LOW_CONFIDENCE
    assert '0.5 of the probability' in low.error_msg
    assert low.probabilities == pytest.approx((0.2, 0.8))


def test_labels_are_one_token_each_or_refused(tokenizer: Tokenizer) -> None:
    for question in (CHOICE, SCORE):
        ids = label_ids(question, tokenizer)
        assert len(set(ids)) == len(ids)
    # The tests' tokenizer spells words that the embedded one has whole.
    with pytest.raises(RequestError, match='labels No, Yes'):
        label_ids(YES_NO, tokenizer)
    embedded = Tokenizer.from_folder(EMBEDDED_CHECKPOINT)
    assert len(label_ids(YES_NO, embedded)) == 2


def test_a_question_goes_to_the_robots_history_and_leaves_it(
    decider: Decider, engine: FakeEngine
) -> None:
    request = Request(id='1' * 32, robot='alpha', text='Go.')
    assert decider.submit(request, ()) is None
    decider.on_result(engine.result(request, 'Yes.'))
    _, history, cuts = engine.prepared[-1]
    asked = replace(CHOICE, robot='alpha', timeout_s=5.0)
    assert decider.questions.ask(asked, ()) == []
    generation = engine.generations[asked.id]
    assert generation.prompt_ids[: len(history)] == history
    assert generation.cuts == cuts
    assert (generation.state_key, generation.max_tokens) == ('alpha', 0)
    assert len(generation.score_ids) == 2
    assert generation.deadline < math.inf
    result = GenerationResult(
        id=asked.id, finish=Finish.STOP, scores=_logs(0.1, 0.8), cached_tokens=7
    )
    found = decider.questions.on_result(result)
    assert (found.choice_name, found.cached_tokens) == ('kitchen', 7)
    assert found.prompt_tokens == len(generation.prompt_ids)
    assert found.total_time >= 0.0
    assert decider.history_turns('alpha') == 1


def test_a_question_without_a_robot_has_no_tools_and_unknown_robots_are_named(
    decider: Decider, engine: FakeEngine
) -> None:
    assert decider.questions.ask(CHOICE, ()) == []
    bare = engine.generations[CHOICE.id]
    decider.questions.ask(replace(CHOICE, id='d' * 32, robot='alpha'), ())
    assert len(bare.prompt_ids) < len(engine.generations['d' * 32].prompt_ids)
    assert bare.state_key not in ('', 'alpha')
    (refused,) = decider.questions.ask(replace(CHOICE, id='e' * 32, robot='omega'), ())
    assert refused.error_code is ErrorCode.UNKNOWN_ROBOT
    (again,) = decider.questions.ask(CHOICE, ())
    assert again.error_code is ErrorCode.INVALID_REQUEST


def test_a_late_or_failed_score_says_why(decider: Decider, engine: FakeEngine) -> None:
    decider.questions.ask(CHOICE, ())
    late = GenerationResult(
        id=CHOICE.id, finish=Finish.DEADLINE, error_code=ErrorCode.DEADLINE_EXCEEDED
    )
    found = decider.questions.on_result(late)
    assert found.error_code is ErrorCode.DEADLINE_EXCEEDED
    assert 'deadline' in found.error_msg


def test_a_question_longer_than_the_context_is_refused(decider: Decider) -> None:
    (refused,) = decider.questions.ask(replace(CHOICE, text='why ' * 20_000), ())
    assert refused.error_code is ErrorCode.CONTEXT_OVERFLOW
