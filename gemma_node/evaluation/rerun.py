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
Does audited generations again and says whether they give the same tokens.

The prompt's ids, the grammar and the sampling come from the log; checkpoint and engine are those
of this machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from typing import Any

import msgspec

from gemma_node.assemble import assemble
from gemma_node.assemble import Assembly
from gemma_node.core import Finish
from gemma_node.core import Generation
from gemma_node.core import GenerationResult
from gemma_node.core import Trace
from gemma_node.core import WorkerSettings
from gemma_node.errors import ConfigError
from gemma_node.text.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """One decision done again; `first_difference` is an index into the ids, -1 for none."""

    id: str
    is_equal: bool
    first_difference: int = -1
    was: str = ''
    now: str = ''
    note: str = ''


def has_trace(record: dict[str, Any]) -> bool:
    """Return whether a decision came from the model and can be done again."""
    return bool(record.get('trace')) and bool(record.get('start'))


class Reruns:
    """An engine made with the settings of a log; builds it once for all decisions of a start."""

    def __init__(self, start: dict[str, Any], *, model: str = '', device: str = '') -> None:
        """Load the checkpoint; raises a GemmaNodeError as the worker would."""
        try:
            settings = msgspec.convert(start['settings'], WorkerSettings)
        except (KeyError, msgspec.ValidationError) as error:
            raise ConfigError(f'the log was written by another version: {error}') from error
        self._settings = replace(
            settings, model_path=model or settings.model_path,
            device=device or settings.device)
        self._assembly: Assembly = assemble(self._settings, lambda share, text: None)
        facts, found = start['facts'], self._assembly.facts
        self.differences = tuple(
            f'{name} was {facts.get(name)}, is {getattr(found, name)}'
            for name in ('checkpoint_digest', 'kernel_digest', 'device', 'recipe')
            if facts.get(name) != getattr(found, name))
        self._tools = {
            robot.name: {tool.name: tool for tool in robot.tools} for robot in settings.robots}

    def run(self, records: Sequence[dict[str, Any]]) -> Iterator[Rerun]:
        """Yield every decision as it ends, as many side by side as there are lanes."""
        engine = self._assembly.engine
        waiting = list(reversed(records))
        open_records: dict[str, dict[str, Any]] = {}
        while waiting or open_records:
            while waiting and len(open_records) < self._settings.lanes:
                record = waiting.pop()
                open_records[record['id']] = record
                engine.submit(self._generation(record))
            for event in engine.step():
                if isinstance(event, GenerationResult):
                    yield self._compare(open_records.pop(event.id), event)

    def _generation(self, record: dict[str, Any]) -> Generation:
        trace = _trace(record)
        tools = self._tools.get(record['robot'], {})
        missing = [name for name in trace.tools if name not in tools]
        if missing:
            raise ConfigError(f'decision {record["id"]}: the log does not declare {missing[0]}')
        declared = [tools[name] for name in trace.tools]
        decider = self._assembly.decider
        grammar = decider.grammars.compile(declared, trace.tool_choice, trace.max_calls)
        if grammar.digest != trace.grammar_digest:
            raise ConfigError(f'decision {record["id"]}: this version writes another grammar of '
                              'the same tools, so its tokens cannot be compared')
        return Generation(
            id=record['id'], state_key=f'{record["robot"]}/{record["request"]["session"]}',
            prompt_ids=trace.prompt_ids, cuts=trace.cuts,
            stop_ids=decider.tokenizer.stop_ids,
            constraint=decider.grammars.constraint(
                declared, trace.tool_choice, trace.max_calls),
            **trace.sampling)

    def _compare(self, record: dict[str, Any], result: GenerationResult) -> Rerun:
        trace = _trace(record)
        if result.finish is Finish.FAILED:
            return Rerun(id=record['id'], is_equal=False, note=result.error_msg)
        was = (*trace.output_ids, trace.stop_id)
        now = (*result.token_ids, result.stop_id)
        if trace.stop_id < 0:
            # It was cut short, by a cancel or its deadline: only as far as it came.
            was, now = trace.output_ids, now[:len(trace.output_ids)]
        if was == now:
            return Rerun(id=record['id'], is_equal=True)
        index = next((i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b),
                     min(len(was), len(now)))
        return Rerun(id=record['id'], is_equal=False, first_difference=index,
                     was=self._token(was, index), now=self._token(now, index))

    def _token(self, ids: Sequence[int], index: int) -> str:
        if index >= len(ids):
            return 'nothing'
        tokenizer: Tokenizer = self._assembly.decider.tokenizer
        return f'{ids[index]} {tokenizer.decode([ids[index]])!r}'


def _trace(record: dict[str, Any]) -> Trace:
    try:
        return msgspec.convert(record['trace'], Trace)
    except msgspec.ValidationError as error:
        raise ConfigError(f'decision {record["id"]} was logged by another version: '
                          f'{error}') from error
