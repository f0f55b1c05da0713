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
A checkpoint's own chat template, rendered so that data never passes through it.

Every piece of data is handed over as a mark: a number in private-use characters that survives
trim, upper and sorting. The template may only append: what it wrote of a conversation must stay
an exact prefix. A generation prompt may end in an empty thought, which the history leaves out.
Knows nothing of token ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
import hashlib
import json
from pathlib import Path
import re
from typing import Any
from typing import NoReturn

from jinja2 import nodes
from jinja2 import TemplateError as JinjaError
from jinja2 import TemplateSyntaxError
from jinja2.ext import Extension
from jinja2.ext import loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from gemma_node.errors import CheckpointError
from gemma_node.errors import TemplateError
from gemma_node.text.tokenizer import read_json

Message = Mapping[str, Any]

CALL_OPEN = '<|tool_call>'
CALL_CLOSE = '<tool_call|>'
THINK = '<|think|>'
_EMPTY_THOUGHT = re.compile(r'<\|channel>\w*\s*<channel\|>\s*')
_MARK = re.compile('\ue00a([\ue000-\ue009]+)\ue00b')
_TO_PRIVATE = str.maketrans('0123456789', ''.join(chr(0xE000 + i) for i in range(10)))
_FROM_PRIVATE = str.maketrans(''.join(chr(0xE000 + i) for i in range(10)), '0123456789')
_RESERVED = re.compile('[\ue000-\ue00b]')


def mark(number: int) -> str:
    """Return what stands for data number `number` in a template; 0 is the template's own."""
    return '\ue00a' + str(number).translate(_TO_PRIVATE) + '\ue00b'


def marks_in(text: str) -> list[int]:
    """Return the numbers of the marks in a text, in order."""
    return [int(digits.translate(_FROM_PRIVATE)) for digits in _MARK.findall(text)]


def split_marks(text: str) -> Iterator[str | int]:
    """Yield rendered text as literal pieces (str) and marks (int), in order."""
    for index, piece in enumerate(_MARK.split(text)):
        if index % 2:
            yield int(piece.translate(_FROM_PRIVATE))
        elif piece:
            yield piece


class _GenerationBlock(Extension):
    """Accepts `{% generation %}` blocks, which only matter for training masks."""

    tags = {'generation'}  # noqa: RUF012

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(('name:endgeneration',), drop_needle=True)


class ChatTemplate:
    """A compiled template. Immutable; any thread may render with it."""

    def __init__(
        self, source: str, special_tokens: Mapping[str, str] | None = None, *,
        thinking: bool = False,
    ) -> None:
        """Compile `source`, to render with or without thinking; raises TemplateError."""
        if _RESERVED.search(source):
            raise TemplateError('the chat template contains the characters U+E000 to U+E00B, '
                                'which are reserved for marking data')
        self._thinking = thinking
        self.digest = hashlib.sha256(source.encode()).hexdigest()
        self._special_tokens = dict(special_tokens or {'bos_token': '<bos>', 'eos_token': '<eos>'})
        try:
            self._template = _environment().from_string(source)
        except TemplateSyntaxError as error:
            raise TemplateError(f'chat template line {error.lineno}: {error.message}') from error

    @classmethod
    def from_folder(cls, path: str | Path, *, thinking: bool = False) -> ChatTemplate:
        """Load and probe chat_template.jinja, or the template in tokenizer_config.json."""
        folder = Path(path)
        settings = folder / 'tokenizer_config.json'
        config = read_json(settings) if settings.exists() else {}
        source = config.get('chat_template')
        file = folder / 'chat_template.jinja'
        if file.is_file():
            try:
                source = file.read_text(encoding='utf-8')
            except (OSError, UnicodeError) as error:
                raise CheckpointError(f'{file} cannot be read: {error}') from error
        if not isinstance(source, str):
            raise CheckpointError(f'{folder} holds no chat template; expected {file.name}')
        tokens = {'bos_token': '<bos>', 'eos_token': '<eos>'}
        tokens.update({
            key: str(value.get('content', '')) if isinstance(value, dict) else value
            for key, value in config.items()
            if key.endswith('_token') and isinstance(value, (str, dict))
        })
        template = cls(source, tokens, thinking=thinking)
        template.probe()
        if thinking and THINK not in template.begin((), ()).text:
            raise TemplateError('the chat template knows no thinking: set '
                                'decoding.max_thinking_tokens to 0')
        return template

    def render(
        self, messages: Sequence[Message], tools: Sequence[Message], *, generation: bool
    ) -> str:
        """Render a whole conversation; raises TemplateError."""
        try:
            return self._template.render(
                messages=list(messages),
                tools=list(tools) or None,
                add_generation_prompt=generation,
                enable_thinking=self._thinking,
                **self._special_tokens,
            )
        except (JinjaError, LookupError, TypeError, ValueError, AttributeError) as error:
            raise TemplateError(f'the chat template failed: {error}') from error

    def begin(self, system: Sequence[Message], tools: Sequence[Message]) -> Transcript:
        """Return the transcript of system and tools, up to where the first user text goes."""
        here = mark(0)
        user = {'role': 'user', 'content': here}
        text = self.render([*system, user], tools, generation=False)
        if text.count(here) != 1:
            raise TemplateError(f'the chat template writes a user message {text.count(here)} '
                                'times, it must write it once')
        opening = text.partition(here)[0]
        for tool in tools:
            if tool['function']['name'] not in opening:
                raise TemplateError('the chat template leaves out the tools it is given, '
                                    'so the model could not know them')
        return Transcript(self, tuple(tools), tuple(system), opening)

    def probe(self) -> None:
        """Check on a made-up conversation that the template only appends; TemplateError."""
        transcript = self.begin([{'role': 'system', 'content': mark(1)}], _PROBE_TOOLS)
        if sorted(marks_in(transcript.text)) != list(range(1, 8)):
            raise TemplateError('the chat template does not write the system text, each '
                                'description and each choice of a tool exactly once')
        user = {'role': 'user', 'content': mark(11)}
        transcript, _ = transcript.answer([user], reply=mark(12))
        user = {'role': 'user', 'content': mark(13)}
        transcript, _ = transcript.answer([user], [('a', 'go'), ('b', 'wait')])
        results = [tool_turn('a', 'go', mark(14)), tool_turn('b', 'wait', mark(15))]
        user = {'role': 'user', 'content': mark(16)}
        transcript, _ = transcript.answer([*results, user], [('c', 'go')])
        results = [tool_turn('c', 'go', mark(17))]
        user = {'role': 'user', 'content': mark(18)}
        transcript, _ = transcript.answer([*results, user], reply=mark(19))
        transcript.ask([{'role': 'user', 'content': mark(20)}])


@dataclass(frozen=True, slots=True)
class Transcript:
    """The rendered text of one conversation; it ends where the model's last words end."""

    template: ChatTemplate
    tools: tuple[Message, ...]
    messages: tuple[Message, ...]
    text: str
    # What was asked last: a turn is rendered when it is asked and again when it is answered.
    _asked: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    def ask(self, messages: Sequence[Message]) -> str:
        """Return what `messages` and the generation prompt append; raises TemplateError."""
        key = repr(messages)
        if key not in self._asked:
            suffix = self._ask(messages)
            self._asked.clear()
            self._asked[key] = suffix
        return self._asked[key]

    def _ask(self, messages: Sequence[Message]) -> str:
        suffix = self._appended(messages, self.text, generation=True)
        expected = [number for m in messages for number in marks_in(m.get('content') or '')]
        found = marks_in(suffix)
        if found != expected:
            raise TemplateError(_wrong_marks(found, expected, messages))
        return suffix

    def answer(
        self,
        messages: Sequence[Message],
        calls: Sequence[tuple[str, str]] = (),
        *,
        reply: str = '',
    ) -> tuple[Transcript, str]:
        """
        Append `messages` and the model's turn: `calls` as (id, tool), or `reply` (a mark).

        Returns the longer transcript and what precedes the model's own words in it: what `ask`
        appends to this one, less an empty thought.
        """
        turn = model_turn(calls, reply)
        tail = self._appended([*messages, turn], self.text, generation=False)
        opening, found, rest = tail.partition(CALL_OPEN if calls else reply)
        written = found + rest
        if calls:
            end = written.rfind(CALL_CLOSE) + len(CALL_CLOSE)
            sound = (
                written.count(CALL_OPEN) == written.count(CALL_CLOSE) == len(calls)
                and not _MARK.search(written)
            )
        else:
            end = len(reply)
            sound = written.count(reply) == 1
        asked = self.ask(messages)
        thought = asked.removeprefix(opening)
        if not sound or (thought and not _EMPTY_THOUGHT.fullmatch(thought)):
            what = 'calls' if calls else 'reply'
            raise TemplateError(
                f"the chat template does not write the model's {what} once and right after the "
                f'generation prompt {_excerpt(asked[-40:])}, but {_excerpt(tail)}'
            )
        grown = (*self.messages, *messages, turn)
        text = self.text + opening + written[:end]
        return replace(self, messages=grown, text=text, _asked={}), opening

    def _appended(self, messages: Sequence[Message], old: str, *, generation: bool) -> str:
        full = self.template.render(
            [*self.messages, *messages], self.tools, generation=generation
        )
        if full.startswith(old):
            return full[len(old):]
        at = next((i for i, (a, b) in enumerate(zip(old, full, strict=False)) if a != b),
                  min(len(old), len(full)))
        raise TemplateError(
            f'the chat template rewrites earlier text when a message is appended: at character '
            f'{at} it had {_excerpt(old[at:])} and now has {_excerpt(full[at:])}'
        )


def model_turn(calls: Sequence[tuple[str, str]], reply: str = '') -> Message:
    """Return the assistant message of a reply, or of calls with empty arguments."""
    if not calls:
        return {'role': 'assistant', 'content': reply}
    return {'role': 'assistant', 'content': '', 'tool_calls': [
        {'id': call_id, 'type': 'function', 'function': {'name': name, 'arguments': {}}}
        for call_id, name in calls
    ]}


def tool_turn(call_id: str, name: str, content: str) -> Message:
    """Return the message that tells the result of one call; `content` is a mark."""
    return {'role': 'tool', 'tool_call_id': call_id, 'name': name, 'content': content}


def _wrong_marks(found: list[int], expected: list[int], messages: Sequence[Message]) -> str:
    for message in messages:
        for number in marks_in(message.get('content') or ''):
            if found.count(number) != 1:
                return (f'the chat template writes a {message["role"]} message '
                        f'{found.count(number)} times, it must write it once')
    if sorted(found) == sorted(expected):
        return 'the chat template changes the order of the messages'
    return 'the chat template repeats earlier messages'


def _excerpt(text: str) -> str:
    shown = _MARK.sub('[data]', text[:60])
    return repr(_RESERVED.sub('', shown)) if shown else 'nothing'


def _raise_exception(message: str) -> NoReturn:
    raise JinjaError(message)


def _to_json(value: Any, **options: Any) -> str:
    allowed = {'indent', 'separators', 'sort_keys', 'ensure_ascii'}
    return json.dumps(value, **{
        'ensure_ascii': False, **{k: v for k, v in options.items() if k in allowed}
    })


def _environment() -> ImmutableSandboxedEnvironment:
    """Return what transformers renders templates with, less all that is not a pure function."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_GenerationBlock, loopcontrols]
    )
    environment.filters['tojson'] = _to_json
    environment.globals['raise_exception'] = _raise_exception
    del environment.filters['random']
    del environment.globals['lipsum']
    return environment


_PROBE_TOOLS: tuple[Message, ...] = (
    {'type': 'function', 'function': {
        'name': 'go', 'description': mark(2),
        'parameters': {
            'type': 'object',
            'properties': {
                'place': {'type': 'string', 'description': mark(3), 'enum': [mark(4), mark(5)]},
                'speed': {'type': 'number', 'description': mark(6)},
            },
            'required': ['place'],
        },
    }},
    {'type': 'function', 'function': {
        'name': 'wait', 'description': mark(7),
        'parameters': {'type': 'object', 'properties': {}},
    }},
)
