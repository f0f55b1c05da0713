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
Questions in, one verdict each out: from a session's history, which they leave as it is.

Called by the engine's thread only; knows no ROS and no torch.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
import math
from typing import Any
from typing import Protocol

from gemma_node.core import ErrorCode
from gemma_node.core import Generation
from gemma_node.core import GenerationResult
from gemma_node.core import Observation
from gemma_node.core import Request
from gemma_node.decision.prompt import Conversation
from gemma_node.decision.scoring import label_ids
from gemma_node.decision.scoring import question_text
from gemma_node.decision.scoring import verdict
from gemma_node.errors import GemmaNodeError
from gemma_node.errors import RequestError
from gemma_node.text.tokenizer import Tokenizer
from gemma_node.worker.questions import Question
from gemma_node.worker.questions import Verdict


class Scorer(Protocol):
    """What is asked of an engine."""

    def submit(self, generation: Generation) -> Any:
        """Queue a generation; raises GemmaNodeError when it takes none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    question: Question
    num_tokens: int
    at: float


class Questioner:
    """
    Asks the engine how probable each label is.

    `conversation_of` returns a robot's conversation and its state key, or raises RequestError;
    its history is read and never changed.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        scorer: Scorer,
        conversation_of: Callable[[str, str], tuple[Conversation, str]],
        *,
        context_tokens: int,
        clock: Callable[[], float],
    ) -> None:
        self._tokenizer = tokenizer
        self._scorer = scorer
        self._conversation_of = conversation_of
        self._context_tokens = context_tokens
        self._clock = clock
        self._asked: dict[str, _Asked] = {}

    def ask(self, question: Question, observations: Sequence[Observation]) -> list[Verdict]:
        """Start a question; returns the verdict at once where it cannot be asked."""
        at = self._clock()
        try:
            if question.id in self._asked:
                raise RequestError(
                    ErrorCode.INVALID_REQUEST, f'question {question.id} is being answered already'
                )
            generation = self._generation(question, observations, at)
            self._scorer.submit(generation)
        except GemmaNodeError as error:
            return [refusal(question.id, error.code, str(error))]
        num_tokens = len(generation.prompt_ids)
        self._asked[question.id] = _Asked(question=question, num_tokens=num_tokens, at=at)
        return []

    def on_result(self, result: GenerationResult) -> Verdict:
        """Return the verdict that a result means."""
        asked = self._asked.pop(result.id)
        if result.error_code is not ErrorCode.NONE:
            text = result.error_msg or 'the deadline passed before the question was scored'
            found = refusal(result.id, result.error_code, text)
        else:
            found = verdict(asked.question, result.scores)
        return replace(
            found,
            prompt_tokens=asked.num_tokens,
            cached_tokens=result.cached_tokens,
            total_time=self._clock() - asked.at,
        )

    def _generation(
        self, question: Question, observations: Sequence[Observation], at: float
    ) -> Generation:
        text = question_text(question)
        labels = label_ids(question, self._tokenizer)
        conversation, state_key = self._conversation_of(question.robot, question.session)
        request = Request(id=question.id, robot=question.robot, text=text)
        prompt = conversation.build(request, observations)
        if len(prompt.ids) > self._context_tokens:
            raise RequestError(
                ErrorCode.CONTEXT_OVERFLOW,
                f'the question makes a prompt of {len(prompt.ids)} tokens, the context has '
                f'{self._context_tokens}; ask it shorter or without a session',
            )
        return Generation(
            id=question.id,
            state_key=state_key,
            prompt_ids=prompt.ids,
            cuts=prompt.cuts,
            max_tokens=0,
            deadline=at + question.timeout_s if question.timeout_s > 0 else math.inf,
            score_ids=labels,
        )


def refusal(question_id: str, code: ErrorCode, text: str) -> Verdict:
    """Return the verdict of a question that was not scored."""
    return Verdict(question_id=question_id, error_code=code, error_msg=text)
