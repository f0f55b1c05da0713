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
Cases asked of one checkpoint by the path that serves: Decider, grammar, engine, parser.

Torch is behind `assemble`. Earlier turns are put into history by the decider itself, from
completions that the case tells instead of the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
import hashlib
import time
import uuid

from gemma_node.assemble import assemble
from gemma_node.assemble import checkpoint_folder
from gemma_node.core import Answer
from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import Generation
from gemma_node.core import GenerationResult
from gemma_node.core import Request
from gemma_node.core import RobotSettings
from gemma_node.core import RuntimeFacts
from gemma_node.core import ToolResult
from gemma_node.core import WorkerSettings
from gemma_node.decision.generator import Generator
from gemma_node.decision.prompt import PromptWriter
from gemma_node.errors import ConfigError
from gemma_node.evaluation.cases import Case
from gemma_node.evaluation.cases import Round
from gemma_node.evaluation.cases import rounds
from gemma_node.evaluation.checks import MAX_CALLS
from gemma_node.evaluation.observations import observation
from gemma_node.evaluation.scoring import got_of
from gemma_node.evaluation.scoring import judge
from gemma_node.evaluation.scoring import Scored
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.tokenizer import Tokenizer

_CONTEXT_TOKENS = 4096
_MAX_TOKENS = 192
# A case shows all of its turns.
_HISTORY_TURNS = 64
_NAMESPACE = uuid.UUID('5f0c9a4e-9f2c-5d0b-8d53-0a3c1f6f6f10')


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a checkpoint is asked; `lanes` questions are decoded together."""

    model_path: str = ''
    device: str = 'cpu'
    num_threads: int = 1
    lanes: int = 8
    is_constrained: bool = True


class _Relay:
    """Passes generations on to the engine, or holds one back that the case answers itself."""

    def __init__(self, engine: Generator, *, is_constrained: bool) -> None:
        self._engine = engine
        self._is_constrained = is_constrained
        self.holds_back = False
        self.prompts: dict[str, tuple[int, ...]] = {}

    def submit(self, generation: Generation) -> None:
        if self.holds_back:
            return
        self.prompts[generation.id] = generation.prompt_ids
        if not self._is_constrained:
            generation = replace(generation, constraint=None)
        self._engine.submit(generation)

    def cancel(self, generation_id: str, code: ErrorCode = ErrorCode.CANCELED) -> None:
        self._engine.cancel(generation_id, code)

    def forget(self, state_key: str) -> None:
        self._engine.forget(state_key)

    def prepare(self, state_key: str, prompt_ids: tuple[int, ...], cuts: tuple[int, ...]) -> None:
        """Nothing: no case has idle time."""


class Subject:
    """One loaded checkpoint. Asks cases in any number and order; one thread at a time."""

    def __init__(self, options: Options) -> None:
        """Load; raises a GemmaNodeError in one sentence for what cannot be served."""
        self._options = options
        folder = checkpoint_folder(options.model_path)
        self._tokenizer = Tokenizer.from_folder(folder)
        self._writer = PromptWriter(self._tokenizer, ChatTemplate.from_folder(folder))
        relays: list[_Relay] = []

        def relay(engine: Generator) -> Generator:
            relays.append(_Relay(engine, is_constrained=options.is_constrained))
            return relays[0]

        assembly = assemble(self._settings(), lambda *_: None, relay=relay)
        self._decider, self._engine = assembly.decider, assembly.engine
        self._relay = relays[0]
        self.facts: RuntimeFacts = assembly.facts

    def ask(self, cases: Sequence[Case]) -> Iterator[Scored]:
        """Yield each case with its answer, in the order in which answers come."""
        open_cases: dict[str, tuple[Case, float]] = {}
        waiting = iter(cases)
        is_over = False
        while open_cases or not is_over:
            while not is_over and len(open_cases) < self._options.lanes:
                case = next(waiting, None)
                is_over = case is None
                if case is not None:
                    started = time.perf_counter()
                    request, answer = self._submit(case)
                    if answer is not None:
                        yield self._scored(case, answer, started)
                    else:
                        open_cases[request.id] = case, started
            for event in self._engine.step():
                if isinstance(event, GenerationResult):
                    yield self._scored(*_swap(open_cases.pop(event.id),
                                              self._decider.on_result(event)))

    def _settings(self) -> WorkerSettings:
        options = self._options
        return WorkerSettings(
            robots=(),
            model_path=options.model_path,
            device=options.device,
            allow_unverified=options.device != 'cpu',
            lanes=options.lanes,
            context_tokens=_CONTEXT_TOKENS,
            max_tokens=_MAX_TOKENS,
            num_threads=options.num_threads,
            max_calls=MAX_CALLS,
        )

    def _submit(self, case: Case) -> tuple[Request, Answer | None]:
        robot = RobotSettings(
            name=_robot_name(case),
            system_prompt=case.system_prompt,
            tools=case.declarations,
            history_turns=_HISTORY_TURNS,
            history_tokens=_CONTEXT_TOKENS,
        )
        self._decider.add_robot(robot)
        *told, last = rounds(case.turns)
        call_ids: tuple[str, ...] = ()
        for index, each in enumerate(told):
            request = _request(case, robot, index, each, call_ids)
            call_ids = self._tell(case, request, each)
        request = _request(case, robot, len(told), last, call_ids)
        observations = [observation(each) for each in case.observations]
        return request, self._decider.submit(request, observations)

    def _tell(self, case: Case, request: Request, told: Round) -> tuple[str, ...]:
        """Put one earlier turn into history; return the ids of its calls."""
        self._relay.holds_back = True
        try:
            refused = self._decider.submit(request, ())
        finally:
            self._relay.holds_back = False
        if told.calls:
            ids = self._writer.call_ids([(turn.name, turn.arguments) for turn in told.calls])
        else:
            ids = self._writer.reply_ids(told.reply)
        answer = refused or self._decider.on_result(GenerationResult(
            id=request.id,
            finish=Finish.STOP,
            token_ids=ids[:-1],
            stop_id=ids[-1],
            probabilities=(1.0,) * (len(ids) - 1),
            masses=(1.0,) * (len(ids) - 1),
        ))
        if answer.error_code:
            raise ConfigError(f'case {case.id}: an earlier turn cannot be told: '
                              f'{answer.error_msg}')
        return tuple(
            uuid.uuid5(uuid.UUID(hex=request.id), str(index)).hex
            for index in range(len(told.calls))
        )

    def _scored(self, case: Case, answer: Answer, started: float) -> Scored:
        seconds = time.perf_counter() - started
        self._decider.reset(_robot_name(case), case.id)
        prompt_ids = self._relay.prompts.pop(answer.request_id, ())
        got = got_of(answer)
        return Scored(
            case=case,
            got=got,
            verdict=judge(case, got),
            prompt=self._tokenizer.decode(prompt_ids),
            prompt_tokens=len(prompt_ids),
            seconds=seconds,
        )


def prefix_key(case: Case) -> str:
    """Return what cases have in common whose prompts start alike."""
    return _robot_name(case)


def _swap(opened: tuple[Case, float], answer: Answer) -> tuple[Case, Answer, float]:
    case, started = opened
    return case, answer, started


def _robot_name(case: Case) -> str:
    text = repr((case.system_prompt, case.tools, case.builtins))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _request(
    case: Case, robot: RobotSettings, index: int, asked: Round, call_ids: Sequence[str]
) -> Request:
    return Request(
        id=uuid.uuid5(_NAMESPACE, f'{case.id} {index}').hex,
        robot=robot.name,
        session=case.id,
        text=asked.text,
        tool_results=tuple(
            ToolResult(call_id=call_id, name=turn.name, text=turn.text)
            for call_id, turn in zip(call_ids, asked.results, strict=True)
        ),
    )
