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

"""Questions that scores answer, and their verdicts: plain values that cross the frames."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
import math

from gemma_node.core import ErrorCode


class QuestionType(IntEnum):
    """What a Question asks for; equals gemma_node/srv/Choose."""

    CHOICE = 0
    SCORE = 1
    YES_NO = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """
    A question that is answered by the probabilities of a few labels, without decoding.

    `robot` '' asks without a robot's context. `options` are (name, description) of a choice.
    `temperature` 0 is read as 1; below `min_label_mass` the answer is LOW_CONFIDENCE.
    """

    id: str
    text: str
    type: QuestionType
    robot: str = ''
    session: str = ''
    options: tuple[tuple[str, str], ...] = ()
    score_max: int = 9
    temperature: float = 0.0
    min_label_mass: float = 0.0
    timeout_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """
    The answer to one question; exactly one each. Times in seconds, probabilities by option.

    `choice` is an option's index, 1 for yes; `score` the expected level. `label_mass` is the
    whole vocabulary's probability of all labels.
    """

    question_id: str
    error_code: ErrorCode = ErrorCode.NONE
    error_msg: str = ''
    choice: int = 0
    choice_name: str = ''
    score: float = math.nan
    probabilities: tuple[float, ...] = ()
    label_mass: float = math.nan
    margin: float = math.nan
    prompt_tokens: int = 0
    cached_tokens: int = 0
    total_time: float = math.nan
