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

from collections import OrderedDict
from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
import hashlib
import math
import re
import time

from gemma_node.core import Answer
from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import Generation
from gemma_node.core import GenerationProgress
from gemma_node.core import GenerationResult
from gemma_node.core import Observation
from gemma_node.core import Request
from gemma_node.core import RobotSettings
from gemma_node.core import ToolChoice
from gemma_node.core import Trace
from gemma_node.core import WorkerSettings
from gemma_node.decision.answers import ids_digest
from gemma_node.decision.answers import served
from gemma_node.decision.answers import trace_of
from gemma_node.decision.answers import unserved
from gemma_node.decision.answers import with_facts
from gemma_node.decision.arrival import Arrival
from gemma_node.decision.arrival import Session
from gemma_node.decision.generator import Generator
from gemma_node.decision.guesses import Guesses
from gemma_node.decision.outcome import allowed_tools
from gemma_node.decision.outcome import AllowedTools
from gemma_node.decision.outcome import finish_error
from gemma_node.decision.outcome import free_text
from gemma_node.decision.outcome import Meaning
from gemma_node.decision.outcome import read_output
from gemma_node.decision.prompt import Conversation
from gemma_node.decision.prompt import Prompt
from gemma_node.decision.prompt import PromptWriter
from gemma_node.decision.questioner import Questioner
from gemma_node.errors import GemmaNodeError
from gemma_node.errors import RequestError
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.tokenizer import Tokenizer
from gemma_node.tools.call_format import thought_length
from gemma_node.tools.grammar import GrammarFactory
from gemma_node.worker.frames import Progress

MAX_SESSIONS = 256
# No vocabulary packs ordinary text denser; longer text is refused without encoding it.
CHARACTERS_PER_TOKEN = 8
# No robot's name has a line end, so no robot shares its states.
_NO_ROBOT = '\n'
_ID = re.compile(r'[0-9a-f]{32}')


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    """A request with the engine; `request` carries the results that its prompt tells."""

    arrival: Arrival
    request: Request
    prompt: Prompt
    generation: Generation
    seed: int
    wait_time: float
    encode_time: float


class Decider:
    """
    Turns requests into generations and their results into answers, exactly one each.

    A session has one request at a time, since its next prompt holds this one's turn: the others
    wait in the node's inbox, and a second one here is refused. `vocab_size` is the model's, where
    it is larger than the tokenizer's; `clock` the one that the engine keeps deadlines by. Raises
    TemplateError, ConfigError or GrammarError for settings that could never be served.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        template: ChatTemplate,
        settings: WorkerSettings,
        generator: Generator,
        *,
        vocab_size: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.tokenizer = tokenizer
        self._settings = settings
        self._generator = generator
        self._clock = clock
        self._writer = PromptWriter(tokenizer, template)
        self.grammars = GrammarFactory(
            tokenizer.inner,
            vocab_size=max(vocab_size, tokenizer.vocab_size),
            stop_ids=tokenizer.stop_ids,
            special_ids=tokenizer.special_ids,
            max_thinking_tokens=settings.max_thinking_tokens,
        )
        self._guesses = Guesses(tokenizer, self._writer.reply_stop_id)
        self._robots: dict[str, RobotSettings] = {}
        self._conversations: OrderedDict[Session, Conversation] = OrderedDict()
        self._running: dict[str, _Running] = {}
        self._bare = self._writer.conversation(
            RobotSettings(name='', system_prompt='', tools=())
        )
        self.questions = Questioner(
            tokenizer, generator, self._asked_of,
            context_tokens=settings.context_tokens, clock=clock,
        )
        digest = hashlib.sha256(template.digest.encode())
        for robot in settings.robots:
            self.add_robot(robot)
            digest.update(ids_digest(self._writer.prefix(robot).ids).encode())
        self.prompt_digest = digest.hexdigest()

    def add_robot(self, robot: RobotSettings) -> None:
        """
        Serve this robot too; one by this name is replaced, but for its conversations.

        Raises as the constructor does. `prompt_digest` stays that of the first settings.
        """
        self._writer.prefix(robot)
        if robot.tools:
            self.grammars.compile(robot.tools, ToolChoice.AUTO, self._settings.max_calls)
        self._robots[robot.name] = robot

    def submit(self, request: Request, observations: Sequence[Observation]) -> Answer | None:
        """Start a request, or return the answer to one that cannot be served."""
        try:
            robot = self._check(request)
            allowed = allowed_tools(request, robot.tools, self._settings.max_calls)
        except GemmaNodeError as error:
            conversation = self._conversations.get((request.robot, request.session))
            if conversation is not None:
                conversation.abandon(request)
            return unserved(request, error)
        conversation = self._conversation(robot, request.session)
        arrival = Arrival(
            request=request,
            observations=tuple(observations),
            allowed=allowed,
            conversation=conversation,
            epoch=conversation.epoch,
            at=self._clock(),
        )
        return self._start(arrival)

    def on_result(self, result: GenerationResult) -> Answer:
        """Return the answer that a finished generation means, and keep its turn."""
        running = self._running.pop(result.id, None)
        if running is None:
            raise RequestError(ErrorCode.RUNTIME_FAILURE, f'no request waits for {result.id!r}')
        request, arrival = running.request, running.arrival
        if arrival.is_outdated:
            self._generator.forget(_state_key(arrival.session))
        try:
            error = finish_error(result)
            if error is not None:
                raise error
            meaning = read_output(result, request, arrival.allowed, self.tokenizer)
            if not request.keep:
                _abandon(arrival)
            elif not arrival.is_outdated:
                self._commit(arrival, request, result, meaning)
        except GemmaNodeError as error:
            _abandon(arrival)
            # A completion that is wrong is no refusal, whatever its code.
            answer = unserved(request, error, may_refuse=result.finish is not Finish.STOP)
            answer = replace(answer, text=free_text(result.token_ids, self.tokenizer))
        else:
            answer = served(request, meaning)
        if self._settings.trace:
            answer = replace(answer, trace=self._trace(running, result))
        return replace(
            with_facts(answer, running.prompt, result),
            seed=running.seed,
            queue_time=running.wait_time + result.queue_time,
            encode_time=running.encode_time,
        )

    def on_progress(self, progress: GenerationProgress) -> Progress | None:
        """Return what may be told of a running request: free text only, nothing of a call."""
        if progress.id not in self._running:
            return None
        return Progress(
            request_id=progress.id,
            stage=progress.stage,
            prompt_tokens_done=progress.prompt_tokens_done,
            completion_tokens=len(progress.token_ids),
            partial_text=free_text(progress.token_ids, self.tokenizer),
        )

    def cancel(self, request_id: str, code: ErrorCode = ErrorCode.CANCELED) -> None:
        """End a request; its result is the engine's."""
        if request_id in self._running:
            self._generator.cancel(request_id, code)

    def reset(self, robot: str, session: str, keep_turns: int = 0) -> None:
        """
        Forget a session's history but for its newest turns; robot '' means every robot.

        Requests that came before are still answered, but their turns do not join the history.
        """
        for key, conversation in self._conversations.items():
            if robot in ('', key[0]) and session == key[1]:
                conversation.reset(keep_turns)
                self._generator.forget(_state_key(key))

    def history_turns(self, robot: str, session: str = '') -> int:
        """Return how many turns a session's next prompt will show."""
        conversation = self._conversations.get((robot, session))
        return conversation.history_turns if conversation else 0

    def _start(self, arrival: Arrival) -> Answer | None:
        try:
            running, generation = self._prepare(arrival)
            self._generator.submit(generation)
        except GemmaNodeError as error:
            _abandon(arrival)
            return unserved(arrival.request, error)
        self._running[generation.id] = running
        return None

    def _commit(
        self, arrival: Arrival, request: Request, result: GenerationResult, meaning: Meaning
    ) -> None:
        """Keep a turn, and have what the session's next prompt begins with computed."""
        conversation = arrival.conversation
        # A thought is of its turn only; the template leaves earlier ones out too.
        num_thought = thought_length(result.token_ids, self.tokenizer.special_ids)
        conversation.commit(request, result.token_ids[num_thought:], meaning.made)
        key = _state_key(arrival.session)
        self._generator.prepare(key, conversation.history_ids, conversation.cuts)

    def _prepare(self, arrival: Arrival) -> tuple[_Running, Generation]:
        started = self._clock()
        settings, allowed = self._settings, arrival.allowed
        max_tokens = arrival.request.max_tokens or settings.max_tokens
        request, prompt = self._write(arrival, max_tokens)
        constraint = self.grammars.constraint(
            allowed.declarations, allowed.choice, allowed.max_calls
        )
        seed = request.seed or settings.seed
        generation = Generation(
            id=request.id,
            state_key=_state_key(arrival.session),
            prompt_ids=prompt.ids,
            cuts=prompt.cuts,
            max_tokens=max_tokens,
            stop_ids=self.tokenizer.stop_ids,
            constraint=constraint,
            temperature=request.temperature or settings.temperature,
            top_k=settings.top_k,
            top_p=settings.top_p,
            min_p=settings.min_p,
            seed=seed,
            priority=int(request.priority),
            deadline=arrival.deadline,
            draft=request.draft,
            guess=self._guesses.opening,
            phrases=self._guesses.phrases(prompt),
        )
        return _Running(
            arrival=arrival,
            request=request,
            prompt=prompt,
            generation=generation,
            seed=seed,
            wait_time=started - arrival.at,
            encode_time=self._clock() - started,
        ), generation

    def _trace(self, running: _Running, result: GenerationResult) -> Trace:
        allowed = running.arrival.allowed
        grammar = self.grammars.compile(allowed.declarations, allowed.choice, allowed.max_calls)
        return trace_of(running.generation, result, allowed, grammar.digest)

    def _check(self, request: Request) -> RobotSettings:
        robot = self._robots.get(request.robot)
        if robot is None:
            raise self._unknown(request.robot)
        problem = ''
        if not _ID.fullmatch(request.id):
            problem = f'the id {request.id[:64]!r} is not 32 lower-case hex digits'
        elif request.id in self._running:
            problem = f'request {request.id} is being answered already'
        elif not request.text.strip() and not request.tool_results:
            problem = 'the text is empty'
        elif not (math.isfinite(request.temperature) and request.temperature >= 0):
            problem = f'temperature must be 0 or more, got {request.temperature}'
        elif request.max_tokens < 0 or not 0 <= request.seed < 1 << 64:
            problem = 'max_tokens must not be negative, and seed must have 64 bits'
        if problem:
            raise RequestError(ErrorCode.INVALID_REQUEST, problem)
        if (request.robot, request.session) in self._busy_sessions():
            raise RequestError(
                ErrorCode.BUSY, f'session {request.session!r} of {request.robot} has a request '
                'that is being answered; the next one comes after it'
            )
        limit = CHARACTERS_PER_TOKEN * self._settings.context_tokens
        length = len(request.text) + sum(len(result.text) for result in request.tool_results)
        if length > limit:
            raise RequestError(
                ErrorCode.CONTEXT_OVERFLOW,
                f'the text has {length} characters; at most {limit} can fit into the context of '
                f'{self._settings.context_tokens} tokens',
            )
        return robot

    def _write(self, arrival: Arrival, max_tokens: int) -> tuple[Request, Prompt]:
        """Return the prompt and the request as it tells it: with older results, if they fit."""
        told = arrival.conversation.adopt(arrival.request)
        try:
            return told, self._fit(arrival, told, max_tokens)
        except RequestError:
            if told is arrival.request:
                raise
        return arrival.request, self._fit(arrival, arrival.request, max_tokens)

    def _fit(self, arrival: Arrival, request: Request, max_tokens: int) -> Prompt:
        """Return the prompt, with less history where it would not fit; CONTEXT_OVERFLOW."""
        room = self._settings.context_tokens - max_tokens
        conversation, notes = arrival.conversation, _notes(arrival.allowed)
        prompt = conversation.build(request, arrival.observations, notes)
        bare = len(prompt.ids) - prompt.history_tokens
        while bare <= room < len(prompt.ids) and prompt.history_turns:
            conversation.keep_turns(prompt.history_turns // 2)
            prompt = conversation.build(request, arrival.observations, notes)
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
        num_text = len(self.tokenizer.encode_data(request.text.strip()))
        fits = context - max_tokens - (num_tokens - num_text)
        if fits > 0:
            return f'{text}a text of {fits} tokens fits, this one has {num_text}'
        if num_tokens < context:
            return f'{text}max_tokens {context - num_tokens} fits'
        return f'{text}raise engine.context_tokens, or give the robot fewer tools and inputs'

    def _conversation(self, robot: RobotSettings, session: str) -> Conversation:
        """Return a session's conversation; for a new one the longest unused are forgotten."""
        key = (robot.name, session)
        if key not in self._conversations:
            busy = self._busy_sessions()
            unused = [each for each in self._conversations if each not in busy]
            for each in unused[:max(len(self._conversations) + 1 - MAX_SESSIONS, 0)]:
                del self._conversations[each]
                self._generator.forget(_state_key(each))
            self._conversations[key] = self._writer.conversation(robot)
        self._conversations.move_to_end(key)
        return self._conversations[key]

    def _asked_of(self, robot: str, session: str) -> tuple[Conversation, str]:
        """Return what a question is put to: a session, or none for robot ''."""
        if not robot:
            return self._bare, _NO_ROBOT
        settings = self._robots.get(robot)
        if settings is None:
            raise self._unknown(robot)
        return self._conversation(settings, session), _state_key((robot, session))

    def _unknown(self, robot: str) -> RequestError:
        text = f'no robot {robot[:64]!r}; there are {", ".join(self._robots)}'
        return RequestError(ErrorCode.UNKNOWN_ROBOT, text)

    def _busy_sessions(self) -> set[Session]:
        """Return the sessions of which a request is with the engine."""
        return {each.arrival.session for each in self._running.values()}


def _state_key(session: Session) -> str:
    """Return the key of a session's states; a robot's default session has the robot's name."""
    return '/'.join(filter(None, session))


def _abandon(arrival: Arrival) -> None:
    """Have the results that an unserved request carried told by the session's next one."""
    if not arrival.is_outdated:
        arrival.conversation.abandon(arrival.request)


def _notes(allowed: AllowedTools) -> list[str]:
    """Return the line that says which tools are there now, when it is not all of them."""
    names = [tool.name for tool in allowed.declarations]
    if len(names) == len(allowed.robot_tools):
        return []
    return [f'tools available now: {", ".join(names) or "none"}']
