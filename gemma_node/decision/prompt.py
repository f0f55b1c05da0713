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
Conversations as token ids: one shared prefix, kept history, one turn to answer.

Ids once in history are kept, never encoded again; what the model wrote stays the very ids it
wrote. Observations are in a prompt but never in history. Knows no engine and no clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from typing import Any

from gemma_node.core import Observation
from gemma_node.core import Request
from gemma_node.core import RobotSettings
from gemma_node.core import ToolResult
from gemma_node.decision.prefix import Data
from gemma_node.decision.prefix import Prefix
from gemma_node.errors import TemplateError
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.chat_template import mark
from gemma_node.text.chat_template import Message
from gemma_node.text.chat_template import split_marks
from gemma_node.text.chat_template import tool_turn
from gemma_node.text.chat_template import Transcript
from gemma_node.text.render import render_block
from gemma_node.text.tokenizer import Tokenizer
from gemma_node.tools.call_format import CallTokens
from gemma_node.tools.call_format import format_call_ids

FOLLOW_UP_TEXT = 'Continue.'
STILL_RUNNING = 'running'
BUILTIN_DONE = 'ok'
# Past a bound, history shrinks to this share of it, so that not every turn rebuilds it.
_KEPT_SHARE = 0.75
# Results that are told late: how many, and how much of each.
_MAX_UNREAD = 16
_MAX_UNREAD_CHARACTERS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCall:
    """A call the model made, as history needs it: whose result may still come."""

    id: str
    name: str
    is_builtin: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """
    What the model continues, and where states of it are worth keeping.

    `cuts` are the end of the shared prefix and the end of history. `input_tokens` gives
    (observation name, tokens, truncated).
    """

    ids: tuple[int, ...]
    cuts: tuple[int, ...]
    history_turns: int
    history_tokens: int
    input_tokens: tuple[tuple[str, int, bool], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    text: str
    output_ids: tuple[int, ...]
    calls: tuple[MadeCall, ...]
    results: tuple[str, ...] = ()
    num_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _History:
    transcript: Transcript
    ids: tuple[int, ...]
    next_mark: int
    turns: tuple[_Turn, ...] = ()


class PromptWriter:
    """
    Makes conversations of one checkpoint, and the ids a model should answer with.

    The worker and the training program write prompts through this one class.
    """

    def __init__(self, tokenizer: Tokenizer, template: ChatTemplate) -> None:
        """Find the stop tokens of replies and calls; raises TemplateError when there are none."""
        self.tokenizer = tokenizer
        self.template = template
        self._call_tokens = CallTokens.from_special_ids(tokenizer.special_ids)
        self._prefixes: dict[tuple[str, str], Prefix] = {}
        self.reply_stop_id, self.call_stop_id = self._find_stop_ids()

    def prefix(self, settings: RobotSettings) -> Prefix:
        """Return the shared prefix of a robot with these settings."""
        key = (settings.system_prompt, repr(settings.tools))
        if key not in self._prefixes:
            self._prefixes[key] = Prefix(
                self.tokenizer, self.template, settings.system_prompt, settings.tools
            )
        return self._prefixes[key]

    def conversation(self, settings: RobotSettings) -> Conversation:
        """Return an empty conversation of a robot."""
        return Conversation(self.tokenizer, self.prefix(settings), settings)

    def reply_ids(self, text: str) -> tuple[int, ...]:
        """Return the ids of a reply, its stop token last."""
        return (*self.tokenizer.encode_data(text), self.reply_stop_id)

    def call_ids(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[int, ...]:
        """Return the canonical ids of calls as (name, arguments), their stop token last."""
        ids: list[int] = []
        for name, arguments in calls:
            ids += format_call_ids(
                name, arguments, tokens=self._call_tokens, encode=self.tokenizer.encode_data
            )
        return (*ids, self.call_stop_id)

    def _find_stop_ids(self) -> tuple[int, int]:
        start = self.template.begin([{'role': 'system', 'content': mark(1)}], ())
        user = {'role': 'user', 'content': mark(2)}
        replied, _ = start.answer([user], reply=mark(3))
        after_reply = replied.ask([{'role': 'user', 'content': mark(4)}])
        called, _ = start.answer([user], [('a', 'go')])
        after_call = called.ask([
            tool_turn('a', 'go', mark(3)), {'role': 'user', 'content': mark(4)}
        ])
        reply_stop = self._first_id(after_reply)
        call_stop = self._first_id(after_call)
        stop_ids = self.tokenizer.stop_ids
        if reply_stop not in stop_ids:
            raise TemplateError(
                f'the chat template ends a reply with token {reply_stop}, which is none of the '
                f"checkpoint's stop tokens {list(stop_ids)}"
            )
        return reply_stop, call_stop if call_stop in stop_ids else reply_stop

    def _first_id(self, text: str) -> int:
        literal = next((piece for piece in split_marks(text) if isinstance(piece, str)), '')
        ids = self.tokenizer.encode_markup(literal.lstrip())
        return ids[0] if ids else -1


class Conversation:
    """
    One robot's session: builds prompts, and takes what became of them into history.

    Not thread-safe. A call that raises changes nothing. `epoch` grows when history was reset.
    """

    def __init__(self, tokenizer: Tokenizer, prefix: Prefix, settings: RobotSettings) -> None:
        self._tokenizer = tokenizer
        self._prefix = prefix
        self._max_turns = settings.history_turns
        self._max_tokens = settings.history_tokens
        self._history = self._empty()
        self._unread: dict[str, ToolResult] = {}
        self.epoch = 0

    @property
    def history_ids(self) -> tuple[int, ...]:
        """Return prefix and history as ids."""
        return self._history.ids

    @property
    def cuts(self) -> tuple[int, ...]:
        """Return the ends of the prefix and of history, ascending."""
        return tuple(sorted({len(self._prefix.ids), len(self._history.ids)}))

    @property
    def history_turns(self) -> int:
        """Return how many turns the model sees."""
        return len(self._history.turns)

    def build(
        self,
        request: Request,
        observations: Sequence[Observation],
        notes: Sequence[str] = (),
    ) -> Prompt:
        """Return the prompt of a request; `notes` become lines of the observations block."""
        count = self._count_tokens
        block = render_block(observations, count)
        lines = '\n'.join([block.text, *(f'- {note}' for note in notes)])
        content = f'{lines}\n\n{self._user_text(request)}'
        messages, data = self._messages(self._history, self._results(request), content)
        history = self._history
        ids = (*history.ids, *data.encode(history.transcript.ask(messages)))
        return Prompt(
            ids=ids,
            cuts=tuple(sorted({len(self._prefix.ids), len(history.ids)})),
            history_turns=len(history.turns),
            history_tokens=len(history.ids) - len(self._prefix.ids),
            input_tokens=tuple((i.name, count(i.text), i.truncated) for i in block.inputs),
        )

    def commit(
        self, request: Request, output_ids: Sequence[int], calls: Sequence[MadeCall] = ()
    ) -> None:
        """Append a request and the model's answer, given as the ids it generated."""
        turn = _Turn(
            text=self._user_text(request), output_ids=tuple(output_ids), calls=tuple(calls)
        )
        history = self._append(self._history, turn, self._results(request))
        if self._is_past_bounds(history):
            history = self._rebuild(self._newest_turns(history.turns))
        self._history = history
        for result in request.tool_results:
            self._unread.pop(result.call_id, None)

    def adopt(self, request: Request) -> Request:
        """Return the request with the tool results that no turn in history tells yet."""
        if not self._unread:
            return request
        own = {result.call_id: result for result in request.tool_results}
        return replace(request, tool_results=tuple({**self._unread, **own}.values()))

    def abandon(self, request: Request) -> None:
        """Remember, cut short, the newest results of a request whose turn joins no history."""
        for result in request.tool_results:
            self._unread.pop(result.call_id, None)
            self._unread[result.call_id] = _shortened(result)
        for call_id in list(self._unread)[:-_MAX_UNREAD]:
            del self._unread[call_id]

    def keep_turns(self, num_turns: int) -> None:
        """Forget all but the newest turns."""
        turns = self._history.turns
        self._history = self._rebuild(turns[max(len(turns) - num_turns, 0):])

    def reset(self, num_turns: int) -> None:
        """Forget all but the newest turns; answers still on their way will not join."""
        self.keep_turns(num_turns)
        self._unread.clear()
        self.epoch += 1

    def _empty(self) -> _History:
        prefix = self._prefix
        return _History(
            transcript=prefix.transcript, ids=prefix.ids, next_mark=prefix.num_data
        )

    def _append(self, history: _History, turn: _Turn, results: tuple[str, ...]) -> _History:
        messages, data = self._messages(history, results, turn.text)
        reply = '' if turn.calls else mark(data.next_mark)
        made = [(call.id, call.name) for call in turn.calls]
        transcript, suffix = history.transcript.answer(messages, made, reply=reply)
        ids = (*history.ids, *data.encode(suffix), *turn.output_ids)
        turns = history.turns
        if turns:
            turns = (*turns[:-1], replace(turns[-1], results=results))
        num_tokens = len(ids) - len(history.ids)
        return _History(
            transcript=transcript,
            ids=ids,
            next_mark=data.next_mark + 1,
            turns=(*turns, replace(turn, results=(), num_tokens=num_tokens)),
        )

    def _rebuild(self, turns: Sequence[_Turn]) -> _History:
        history = self._empty()
        results: tuple[str, ...] = ()
        for turn in turns:
            history = self._append(history, turn, results)
            results = turn.results
        return history

    def _messages(
        self, history: _History, results: tuple[str, ...], content: str
    ) -> tuple[list[Message], Data]:
        """Return the results of the last turn's calls and the user's words, as marks."""
        data = Data(self._tokenizer, history.next_mark)
        calls = history.turns[-1].calls if history.turns else ()
        messages: list[Message] = [
            tool_turn(call.id, call.name, data.hold(text))
            for call, text in zip(calls, results, strict=True)
        ]
        messages.append({'role': 'user', 'content': data.hold(content)})
        return messages, data

    def _results(self, request: Request) -> tuple[str, ...]:
        """Return one text per call of the last turn, in the order the calls were made."""
        told = {result.call_id: result.text.strip() for result in request.tool_results}
        return tuple(
            told.get(call.id, BUILTIN_DONE if call.is_builtin else STILL_RUNNING)
            for call in self._open_calls()
        )

    def _user_text(self, request: Request) -> str:
        """Return the request's text, after the results of calls that are not open any more."""
        open_ids = {call.id for call in self._open_calls()}
        late = [
            f'Result of {result.name}: {result.text.strip()}'
            for result in request.tool_results if result.call_id not in open_ids
        ]
        return '\n'.join([*late, request.text.strip() or FOLLOW_UP_TEXT])

    def _open_calls(self) -> tuple[MadeCall, ...]:
        return self._history.turns[-1].calls if self._history.turns else ()

    def _is_past_bounds(self, history: _History) -> bool:
        num_tokens = len(history.ids) - len(self._prefix.ids)
        return len(history.turns) > self._max_turns or num_tokens > self._max_tokens

    def _newest_turns(self, turns: Sequence[_Turn]) -> Sequence[_Turn]:
        """Return the newest turns that fit into the share of the bounds that is kept."""
        room = int(self._max_tokens * _KEPT_SHARE)
        kept = 0
        for turn in reversed(turns):
            room -= turn.num_tokens
            if room < 0 or kept + 1 > max(int(self._max_turns * _KEPT_SHARE), 1):
                break
            kept += 1
        return turns[len(turns) - min(kept, self._max_turns):]

    def _count_tokens(self, text: str) -> int:
        return len(self._tokenizer.encode_data(text))


def _shortened(result: ToolResult) -> ToolResult:
    if len(result.text) <= _MAX_UNREAD_CHARACTERS:
        return result
    return replace(result, text=result.text[:_MAX_UNREAD_CHARACTERS] + '…')
