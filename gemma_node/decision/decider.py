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
Requests in, exactly one answer each out: prompts, grammars and conversations of all robots.

The engine is behind `Generator`. Called by the engine's thread only; knows no ROS and no torch.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
import hashlib
import math
import re
import sys
import time
from typing import Any
from typing import Protocol

from gemma_node.core import Answer
from gemma_node.core import EngineStats
from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import Generation
from gemma_node.core import GenerationProgress
from gemma_node.core import GenerationResult
from gemma_node.core import Observation
from gemma_node.core import Outcome
from gemma_node.core import Request
from gemma_node.core import RobotSettings
from gemma_node.core import ToolChoice
from gemma_node.core import WorkerSettings
from gemma_node.decision.outcome import allowed_tools
from gemma_node.decision.outcome import AllowedTools
from gemma_node.decision.outcome import finish_error
from gemma_node.decision.outcome import free_text
from gemma_node.decision.outcome import read_output
from gemma_node.decision.prompt import Conversation
from gemma_node.decision.prompt import Prompt
from gemma_node.decision.prompt import PromptWriter
from gemma_node.errors import GemmaNodeError
from gemma_node.errors import RequestError
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.tokenizer import Tokenizer
from gemma_node.tools.grammar import GrammarFactory
from gemma_node.worker.frames import Progress

MAX_SESSIONS = 256
# No vocabulary packs ordinary text denser; longer text is refused without encoding it.
CHARACTERS_PER_TOKEN = 8
_ID = re.compile(r'[0-9a-f]{32}')
_REFUSALS = frozenset({
    ErrorCode.INVALID_REQUEST,
    ErrorCode.UNKNOWN_ROBOT,
    ErrorCode.NOT_ALLOWED,
    ErrorCode.CONTEXT_OVERFLOW,
    ErrorCode.BUSY,
    ErrorCode.SUPERSEDED,
    ErrorCode.NOT_ACTIVE,
    ErrorCode.LOCKED,
})


class Generator(Protocol):
    """What the decider asks of an engine; one GenerationResult follows each submit."""

    def submit(self, generation: Generation) -> Any:
        """Queue a generation; may return its GenerationResult when it cannot run."""

    def cancel(self, generation_id: str, code: ErrorCode = ErrorCode.CANCELED) -> Any:
        """End a generation; its result says `code`."""

    def stats(self) -> EngineStats:
        """Return the counters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pending:
    request: Request
    conversation: Conversation
    epoch: int
    allowed: AllowedTools
    prompt: Prompt
    seed: int
    encode_time: float


class Decider:
    """
    Turns requests into generations and their results into answers.

    `vocab_size` is the model's, where it is larger than the tokenizer's. Raises TemplateError,
    ConfigError or GrammarError for settings that could never be served.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        template: ChatTemplate,
        settings: WorkerSettings,
        generator: Generator,
        *,
        vocab_size: int = 0,
    ) -> None:
        self._tokenizer = tokenizer
        self._settings = settings
        self._generator = generator
        self._writer = PromptWriter(tokenizer, template)
        self._grammars = GrammarFactory(
            tokenizer.inner,
            vocab_size=max(vocab_size, tokenizer.vocab_size),
            stop_ids=tokenizer.stop_ids,
            special_ids=tokenizer.special_ids,
        )
        self._robots = {robot.name: robot for robot in settings.robots}
        self._conversations: OrderedDict[tuple[str, str], Conversation] = OrderedDict()
        self._pending: dict[str, _Pending] = {}
        digest = hashlib.sha256(template.digest.encode())
        for robot in settings.robots:
            prefix = self._writer.prefix(robot)
            digest.update(ids_digest(prefix.ids).encode())
            if robot.tools:
                self._grammars.compile(robot.tools, ToolChoice.AUTO, settings.max_calls)
        self.prompt_digest = digest.hexdigest()

    def submit(self, request: Request, observations: Sequence[Observation]) -> Answer | None:
        """Start a generation, or return the answer to a request that cannot be served."""
        try:
            pending, generation = self._prepare(request, observations)
            result = self._generator.submit(generation)
        except GemmaNodeError as error:
            self._keep_results(request)
            return _unserved(request, error, may_refuse=True)
        self._pending[request.id] = pending
        return self.on_result(result) if isinstance(result, GenerationResult) else None

    def on_result(self, result: GenerationResult) -> Answer:
        """Return the answer that a finished generation means, and keep its turn."""
        pending = self._pending.pop(result.id, None)
        if pending is None:
            raise RequestError(ErrorCode.RUNTIME_FAILURE, f'no request waits for {result.id!r}')
        request, conversation = pending.request, pending.conversation
        try:
            error = finish_error(result)
            if error is not None:
                raise error
            meaning = read_output(result, request, pending.allowed, self._tokenizer)
            if not request.keep:
                conversation.abandon(request)
            elif conversation.epoch == pending.epoch:
                conversation.commit(request, result.token_ids, meaning.made)
        except GemmaNodeError as error:
            conversation.abandon(request)
            # A completion that is wrong is no refusal, whatever its code.
            answer = _unserved(request, error, may_refuse=result.finish is not Finish.STOP)
            answer = replace(answer, text=free_text(result.token_ids, self._tokenizer))
        else:
            answer = Answer(
                request_id=request.id,
                robot=request.robot,
                outcome=meaning.outcome,
                calls=meaning.calls,
                text=meaning.text,
                tool_probability=meaning.tool_probability,
            )
        return _with_facts(answer, pending, result)

    def on_progress(self, progress: GenerationProgress) -> Progress | None:
        """Return what may be told of a running request: free text only, nothing of a call."""
        if progress.id not in self._pending:
            return None
        return Progress(
            request_id=progress.id,
            stage=progress.stage,
            prompt_tokens_done=progress.prompt_tokens_done,
            completion_tokens=len(progress.token_ids),
            partial_text=free_text(progress.token_ids, self._tokenizer),
        )

    def cancel(self, request_id: str, code: ErrorCode = ErrorCode.CANCELED) -> None:
        """End a request in flight; its answer comes with the engine's result."""
        if request_id in self._pending:
            self._generator.cancel(request_id, code)

    def reset(self, robot: str, session: str, keep_turns: int = 0) -> None:
        """Forget a session's history but for its newest turns; robot '' means every robot."""
        for (name, its_session), conversation in list(self._conversations.items()):
            if robot in ('', name) and session == its_session:
                conversation.reset(keep_turns)

    def history_turns(self, robot: str, session: str = '') -> int:
        """Return how many turns a session's next prompt will show."""
        conversation = self._conversations.get((robot, session))
        return conversation.history_turns if conversation else 0

    def _prepare(
        self, request: Request, observations: Sequence[Observation]
    ) -> tuple[_Pending, Generation]:
        started = time.perf_counter()
        robot = self._check(request)
        allowed = allowed_tools(request, robot.tools, self._settings.max_calls)
        max_tokens = request.max_tokens or self._settings.max_tokens
        conversation = self._conversation(robot, request.session)
        prompt = self._fit(conversation, request, observations, allowed, max_tokens)
        constraint = self._grammars.constraint(
            allowed.declarations, allowed.choice, allowed.max_calls
        )
        seed = request.seed or self._settings.seed
        generation = Generation(
            id=request.id,
            state_key=f'{robot.name}/{request.session}',
            prompt_ids=prompt.ids,
            cuts=prompt.cuts,
            max_tokens=max_tokens,
            stop_ids=self._tokenizer.stop_ids,
            constraint=constraint,
            temperature=request.temperature or self._settings.temperature,
            top_k=self._settings.top_k,
            top_p=self._settings.top_p,
            min_p=self._settings.min_p,
            seed=seed,
            priority=int(request.priority),
            deadline=time.monotonic() + request.timeout_s if request.timeout_s > 0 else math.inf,
            draft=request.draft,
        )
        return _Pending(
            request=request,
            conversation=conversation,
            epoch=conversation.epoch,
            allowed=allowed,
            prompt=prompt,
            seed=seed,
            encode_time=time.perf_counter() - started,
        ), generation

    def _check(self, request: Request) -> RobotSettings:
        robot = self._robots.get(request.robot)
        if robot is None:
            raise RequestError(
                ErrorCode.UNKNOWN_ROBOT,
                f'no robot {request.robot[:64]!r}; there are {", ".join(self._robots)}',
            )
        problem = ''
        if not _ID.fullmatch(request.id):
            problem = f'the id {request.id[:64]!r} is not 32 lower-case hex digits'
        elif request.id in self._pending:
            problem = f'request {request.id} is being answered already'
        elif not request.text.strip() and not request.tool_results:
            problem = 'the text is empty'
        elif not (math.isfinite(request.temperature) and request.temperature >= 0):
            problem = f'temperature must be 0 or more, got {request.temperature}'
        elif request.max_tokens < 0 or not 0 <= request.seed < 1 << 64:
            problem = 'max_tokens must not be negative, and seed must have 64 bits'
        if problem:
            raise RequestError(ErrorCode.INVALID_REQUEST, problem)
        limit = CHARACTERS_PER_TOKEN * self._settings.context_tokens
        length = len(request.text) + sum(len(result.text) for result in request.tool_results)
        if length > limit:
            raise RequestError(
                ErrorCode.CONTEXT_OVERFLOW,
                f'the text has {length} characters; at most {limit} can fit into the context of '
                f'{self._settings.context_tokens} tokens',
            )
        return robot

    def _fit(
        self,
        conversation: Conversation,
        request: Request,
        observations: Sequence[Observation],
        allowed: AllowedTools,
        max_tokens: int,
    ) -> Prompt:
        """Return the prompt, with less history where it would not fit; CONTEXT_OVERFLOW."""
        room = self._settings.context_tokens - max_tokens
        notes = _notes(request, allowed)
        prompt = conversation.build(request, observations, notes)
        bare = len(prompt.ids) - prompt.history_tokens
        while bare <= room < len(prompt.ids) and prompt.history_turns:
            conversation.keep_turns(prompt.history_turns // 2)
            prompt = conversation.build(request, observations, notes)
            bare = len(prompt.ids) - prompt.history_tokens
        if len(prompt.ids) > room:
            raise RequestError(
                ErrorCode.CONTEXT_OVERFLOW, self._overflow_text(request, bare, max_tokens)
            )
        return prompt

    def _overflow_text(self, request: Request, num_tokens: int, max_tokens: int) -> str:
        context = self._settings.context_tokens
        text = (
            f'a prompt of {num_tokens} tokens and {max_tokens} to generate exceed the context '
            f'of {context}: '
        )
        num_text = len(self._tokenizer.encode_data(request.text.strip()))
        fits = context - max_tokens - (num_tokens - num_text)
        if fits > 0:
            return f'{text}a text of {fits} tokens fits, this one has {num_text}'
        if num_tokens < context:
            return f'{text}max_tokens {context - num_tokens} fits'
        return f'{text}raise engine.context_tokens, or give the robot fewer tools and inputs'

    def _conversation(self, robot: RobotSettings, session: str) -> Conversation:
        key = (robot.name, session)
        if key not in self._conversations:
            self._conversations[key] = self._writer.conversation(robot)
            if len(self._conversations) > MAX_SESSIONS:
                self._conversations.popitem(last=False)
        self._conversations.move_to_end(key)
        return self._conversations[key]

    def _keep_results(self, request: Request) -> None:
        """Have the tool results of an unserved request told by the session's next one."""
        conversation = self._conversations.get((request.robot, request.session))
        if conversation is not None:
            conversation.abandon(request)


def ids_digest(ids: Sequence[int]) -> str:
    """Return the sha256 of token ids as little-endian uint32, in hex."""
    words = array('I', ids)
    if sys.byteorder == 'big':
        words.byteswap()
    return hashlib.sha256(words.tobytes()).hexdigest()


def _notes(request: Request, allowed: AllowedTools) -> list[str]:
    """Return the line that says which tools are there now, when it is not all of them."""
    names = [tool.name for tool in allowed.declarations]
    if len(names) == len(allowed.robot_tools):
        return []
    return [f'tools available now: {", ".join(names) or "none"}']


def _unserved(request: Request, error: GemmaNodeError, *, may_refuse: bool) -> Answer:
    is_refusal = may_refuse and error.code in _REFUSALS
    return Answer(
        request_id=request.id,
        robot=request.robot,
        outcome=Outcome.REFUSED if is_refusal else Outcome.FAILED,
        error_code=error.code,
        error_msg=str(error),
    )


def _with_facts(answer: Answer, pending: _Pending, result: GenerationResult) -> Answer:
    prompt = pending.prompt
    return replace(
        answer,
        prompt_digest=ids_digest(prompt.ids),
        output_digest=ids_digest(result.token_ids),
        seed=pending.seed,
        cache_source=result.cache_source,
        prompt_tokens=len(prompt.ids),
        cached_tokens=result.cached_tokens,
        completion_tokens=len(result.token_ids),
        forced_tokens=result.forced_tokens,
        drafted_tokens=result.drafted_tokens,
        history_turns=prompt.history_turns,
        queue_time=result.queue_time,
        encode_time=pending.encode_time,
        prefill_time=result.prefill_time,
        decode_time=result.decode_time,
        grammar_mass_min=min(result.masses, default=math.nan),
        input_tokens=prompt.input_tokens,
    )
