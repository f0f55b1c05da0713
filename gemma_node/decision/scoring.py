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
Questions as prompts with labels, and label scores as verdicts. Knows no engine and no clock.

Each label must be exactly one token, and no two the same; then one forward pass from the robot's
state answers, with nothing decoded.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
import string

from gemma_node.core import ErrorCode
from gemma_node.errors import RequestError
from gemma_node.text.tokenizer import Tokenizer
from gemma_node.worker.questions import Question
from gemma_node.worker.questions import QuestionType
from gemma_node.worker.questions import Verdict

MAX_OPTIONS = len(string.ascii_uppercase)
MAX_LEVEL = 9
# In the order of `choice`: 1 is yes.
_YES_NO = ('No', 'Yes')


def question_text(question: Question) -> str:
    """Return what the model is asked; raises RequestError for what is no question."""
    _check(question)
    text = question.text.strip()
    if question.type is QuestionType.YES_NO:
        return f'{text}\nAnswer Yes or No.'
    if question.type is QuestionType.SCORE:
        return f'{text}\nAnswer with one digit, from 0 to {question.score_max}.'
    lines = [
        f'{label}: {name.strip()}' + (f', {description.strip()}' if description.strip() else '')
        for label, (name, description) in zip(
            string.ascii_uppercase, question.options, strict=False
        )
    ]
    return '\n'.join([text, *lines, 'Answer with one letter.'])


def label_ids(question: Question, tokenizer: Tokenizer) -> tuple[int, ...]:
    """Return the one token of each label; raises RequestError where one has more."""
    labels = _labels(question)
    found = [tokenizer.encode_data(label) for label in labels]
    wrong = [label for label, ids in zip(labels, found, strict=True) if len(ids) != 1]
    ids = tuple(each[0] for each in found if each)
    if wrong or len(set(ids)) != len(labels):
        raise RequestError(
            ErrorCode.INVALID_REQUEST,
            f'this tokenizer has no single, distinct token for the labels '
            f'{", ".join(wrong or labels)}, so it cannot answer by scores',
        )
    return ids


def verdict(question: Question, scores: Sequence[float]) -> Verdict:
    """
    Return what the labels' scores say.

    :param scores: natural logarithms of the probabilities in the whole vocabulary
    """
    mass = sum(math.exp(score) for score in scores)
    temperature = question.temperature or 1.0
    top = max(scores)
    weights = [math.exp((score - top) / temperature) for score in scores]
    probabilities = tuple(weight / sum(weights) for weight in weights)
    order = sorted(probabilities, reverse=True)
    choice = probabilities.index(order[0])
    is_score = question.type is QuestionType.SCORE
    is_low = mass < question.min_label_mass
    return Verdict(
        question_id=question.id,
        error_code=ErrorCode.LOW_CONFIDENCE if is_low else ErrorCode.NONE,
        error_msg=(
            f'the labels have {mass:.3g} of the probability, less than min_label_mass '
            f'{question.min_label_mass:.3g}: the model would say something else'
            if is_low else ''
        ),
        choice=choice,
        choice_name='' if is_score else _names(question)[choice],
        score=sum(level * share for level, share in enumerate(probabilities))
        if is_score else math.nan,
        probabilities=probabilities,
        label_mass=min(1.0, mass),
        margin=order[0] - order[1],
    )


def _labels(question: Question) -> tuple[str, ...]:
    if question.type is QuestionType.YES_NO:
        return _YES_NO
    if question.type is QuestionType.SCORE:
        return tuple(str(level) for level in range(question.score_max + 1))
    return tuple(string.ascii_uppercase[: len(question.options)])


def _names(question: Question) -> tuple[str, ...]:
    if question.type is QuestionType.YES_NO:
        return _YES_NO
    return tuple(name.strip() for name, _ in question.options)


def _check(question: Question) -> None:
    names = [name.strip() for name, _ in question.options]
    num = len(names)
    problem = ''
    if not question.text.strip():
        problem = 'the question is empty'
    elif question.type is QuestionType.CHOICE and not 2 <= num <= MAX_OPTIONS:
        problem = f'a choice has 2 to {MAX_OPTIONS} options, got {num}'
    elif question.type is not QuestionType.CHOICE and num:
        problem = f'only a choice has options, got {num}'
    elif not all(names) or len(set(names)) != num:
        problem = 'names of options must be distinct and not empty'
    elif question.type is QuestionType.SCORE and not 1 <= question.score_max <= MAX_LEVEL:
        problem = f'score_max must be 1 to {MAX_LEVEL}, got {question.score_max}'
    elif not (math.isfinite(question.temperature) and question.temperature >= 0):
        problem = f'temperature must be 0 or more, got {question.temperature}'
    elif not 0.0 <= question.min_label_mass <= 1.0:
        problem = f'min_label_mass must be 0 to 1, got {question.min_label_mass}'
    if problem:
        raise RequestError(ErrorCode.INVALID_REQUEST, problem)
