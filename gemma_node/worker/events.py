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


"""What a worker client tells its owner. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gemma_node.core import Answer
from gemma_node.core import EngineStats
from gemma_node.core import ErrorCode
from gemma_node.core import RuntimeFacts
from gemma_node.core import Stage
from gemma_node.worker.questions import Verdict


@dataclass(frozen=True, slots=True)
class LoadingEvent:
    """The worker loads: 0..1 and what it does."""

    fraction: float
    text: str


@dataclass(frozen=True, slots=True)
class ReadyEvent:
    """Requests are accepted from now on."""

    facts: RuntimeFacts


@dataclass(frozen=True, slots=True)
class ProgressEvent:
    """Progress of one request; `partial_text` is all free text so far."""

    request_id: str
    stage: Stage
    prompt_tokens_done: int
    completion_tokens: int
    partial_text: str


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """The one answer to one accepted request."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class VerdictEvent:
    """The one verdict on one accepted question."""

    verdict: Verdict


@dataclass(frozen=True, slots=True)
class StatsEvent:
    """A heartbeat: the engine's counters and how long its step has lasted."""

    stats: EngineStats
    step_age_s: float


@dataclass(frozen=True, slots=True)
class RestartedEvent:
    """The worker is gone and will be started again; the lost requests' answers follow."""

    reason: str


@dataclass(frozen=True, slots=True)
class FailedEvent:
    """The worker cannot serve these settings and will not be started again."""

    code: ErrorCode
    message: str


Event = (
    LoadingEvent
    | ReadyEvent
    | ProgressEvent
    | AnswerEvent
    | VerdictEvent
    | StatsEvent
    | RestartedEvent
    | FailedEvent
)


class WorkerState(Enum):
    """Where the worker stands; requests are accepted in READY only."""

    NEW = 'not started'
    LOADING = 'loading'
    READY = 'ready'
    RESTARTING = 'restarting'
    FAILED = 'failed'
    STOPPED = 'stopped'
