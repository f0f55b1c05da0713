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

"""One decision of a replay as one line of JSON: bag time only, nothing of the host."""

from __future__ import annotations

from collections.abc import Sequence
import json
import math
from typing import Any

from gemma_node.core import Answer
from gemma_node.core import Observation
from gemma_node.core import Request
from gemma_node.core import RuntimeFacts
from gemma_node.policy.gate import Verdict
from gemma_node.policy.gate import VerdictKind
from gemma_node.replay.bag import Bag
from gemma_node.replay.plan import Plan
from gemma_node.text.render import render_block

FORMAT_VERSION = 1


def header_line(bag: Bag, plan: Plan, facts: RuntimeFacts) -> str:
    """Return the first line: which recording, model, settings and tools the answers belong to."""
    return _line(
        {
            'record': 'replay',
            'version': FORMAT_VERSION,
            'bag_digest': bag.digest,
            'start_ns': bag.start_ns,
            'end_ns': bag.end_ns,
            'messages': bag.num_messages,
            'topics': [
                {'name': topic.name, 'type': topic.type, 'messages': topic.count}
                for topic in bag.topics
            ],
            'checkpoint_digest': facts.checkpoint_digest,
            'recipe': facts.recipe,
            'settings_digest': plan.settings.digest,
            'tools_digest': plan.catalogue.digest,
        }
    )


def decision_line(
    index: int,
    request: Request,
    observations: Sequence[Observation],
    answer: Answer,
    verdicts: Sequence[Verdict],
) -> str:
    """Return the line of one decision; verdicts are the policy's word on each call."""
    return _line(
        {
            'record': 'decision',
            'index': index,
            'id': request.id,
            'time_ns': request.stamp_ns,
            'robot': request.robot,
            'trigger': request.trigger.name,
            'trigger_source': request.trigger_source,
            'question': request.text,
            'outcome': answer.outcome.name,
            'error_code': answer.error_code.name,
            'error_msg': answer.error_msg,
            'text': answer.text,
            'calls': _calls(answer, verdicts),
            'inputs': _inputs(observations, answer),
            'prompt_digest': answer.prompt_digest,
            'output_digest': answer.output_digest,
            'prompt_tokens': answer.prompt_tokens,
            'completion_tokens': answer.completion_tokens,
        }
    )


def _calls(answer: Answer, verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    return [
        {
            'id': call.id,
            'name': call.name,
            'arguments': dict(call.arguments),
            'verdict': 'BUILTIN' if verdict.kind is VerdictKind.UNKNOWN else verdict.kind.name,
            'error_code': verdict.code.name,
            'violations': list(verdict.violations),
        }
        for call, verdict in zip(answer.calls, verdicts, strict=True)
    ]


def _inputs(observations: Sequence[Observation], answer: Answer) -> list[dict[str, Any]]:
    rendered = render_block(observations).inputs
    tokens = {name: (count, is_cut) for name, count, is_cut in answer.input_tokens}
    return [
        {
            'name': observation.name,
            'topic': observation.topic,
            'type': observation.type,
            'state': observation.state.name,
            'stamp_ns': observation.stamp_ns,
            'received_ns': observation.received_ns,
            'age_s': _finite(observation.age_s),
            'age_source': observation.age_source.name,
            'max_age_s': _finite(observation.max_age_s),
            'digest': observation.digest,
            'tokens': tokens.get(observation.name, (0, False))[0],
            'truncated': tokens.get(observation.name, (0, False))[1],
            'text': line.text,
        }
        for observation, line in zip(observations, rendered, strict=True)
    ]


def _finite(value: float) -> float | None:
    """Return null for an unknown age and for no limit: JSON has no nan and no inf."""
    return value if math.isfinite(value) else None


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, allow_nan=False, ensure_ascii=True, separators=(', ', ': '))
