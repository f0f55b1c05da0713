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
The shared start of every conversation, and how data is kept out of templates.

Names and types of a tool are checked and written as they are; every other text is data.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
import re
from typing import Any

from gemma_node.core import ToolDeclaration
from gemma_node.errors import ConfigError
from gemma_node.errors import TemplateError
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.chat_template import mark
from gemma_node.text.chat_template import marks_in
from gemma_node.text.chat_template import Message
from gemma_node.text.chat_template import split_marks
from gemma_node.text.tokenizer import Tokenizer

_NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_.-]{0,63}')
_KEYWORD = re.compile(r'\$?[A-Za-z_][A-Za-z0-9_.-]{0,63}')
_TYPES = frozenset({'object', 'array', 'string', 'number', 'integer', 'boolean', 'null'})


@dataclass(slots=True)
class Data:
    """Takes data out of a conversation: gives marks for it, and its ids for the marks."""

    tokenizer: Tokenizer
    next_mark: int = 1
    texts: dict[int, str] = field(default_factory=dict)
    required: set[int] = field(default_factory=set)

    def hold(self, text: str, *, required: bool = True) -> str:
        """Return a mark for `text`; an empty text needs none."""
        if not text:
            return ''
        number = self.next_mark
        self.next_mark += 1
        self.texts[number] = text
        if required:
            self.required.add(number)
        return mark(number)

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the ids of rendered text: literals as markup, marks as their data."""
        ids: list[int] = []
        for piece in split_marks(text):
            if isinstance(piece, str):
                ids += self.tokenizer.encode_markup(piece)
            else:
                ids += self.tokenizer.encode_data(self.texts[piece])
        return tuple(ids)


class Prefix:
    """System text and tool declarations as ids; one for all robots that have the same."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        template: ChatTemplate,
        system_prompt: str,
        tools: Sequence[ToolDeclaration],
    ) -> None:
        """Render and encode; raises TemplateError, and ConfigError for a name that is none."""
        data = Data(tokenizer)
        system_text = data.hold(system_prompt.strip())
        system = [{'role': 'system', 'content': system_text}] if system_text else []
        declared = [_declare(tool, data) for tool in tools]
        transcript = template.begin(system, declared)
        _check_prefix_marks(marks_in(transcript.text), data)
        self.num_data = data.next_mark
        self.transcript = transcript
        self.ids = data.encode(transcript.text)


def _check_prefix_marks(found: Sequence[int], data: Data) -> None:
    for number, text in data.texts.items():
        count = found.count(number)
        if count > 1 or (count == 0 and number in data.required):
            raise TemplateError(
                f'the chat template writes the text {text[:40]!r} of the system prompt or tools '
                f'{count} times, it must write it once'
            )


def _declare(tool: ToolDeclaration, data: Data) -> Message:
    if not _NAME.fullmatch(tool.name):
        raise ConfigError(f'{tool.name[:80]!r} is no tool name; use letters, digits and _')
    if not tool.description.strip():
        raise ConfigError(f'tool {tool.name} has no description, which its declaration needs')
    return {'type': 'function', 'function': {
        'name': tool.name,
        'description': data.hold(tool.description.strip()),
        'parameters': _hold_schema(tool.parameters, data, tool.name, level=0),
    }}


def _hold_schema(
    schema: Mapping[str, Any], data: Data, tool: str, *, level: int | None
) -> dict[str, Any]:
    """
    Copy a JSON schema with marks for its texts; names and types stay, being checked.

    `level` is the depth in nested `properties`, None elsewhere. Descriptions and choices of
    properties must reach the model; templates may drop the rest.
    """
    held: dict[str, Any] = {}
    for key, value in schema.items():
        if key == 'properties' and isinstance(value, Mapping):
            below = None if level is None else level + 1
            held[key] = {
                _name(name, tool): _hold_schema(child, data, tool, level=below)
                for name, child in value.items()
            }
        elif key == 'required' and isinstance(value, Sequence) and not isinstance(value, str):
            held[key] = [_name(name, tool) for name in value]
        elif key == 'type':
            kinds = [value] if isinstance(value, str) else list(value)
            if not _TYPES.issuperset(kinds):
                raise ConfigError(f'tool {tool}: {value!r} is no JSON schema type')
            held[key] = value
        else:
            is_schema = isinstance(value, Mapping) and key not in ('default', 'const')
            held[_keyword(key, tool)] = (
                _hold_schema(value, data, tool, level=None) if is_schema
                else _hold_value(value, data, tool,
                                 required=bool(level) and key in ('description', 'enum'))
            )
    return held


def _hold_value(value: Any, data: Data, tool: str, *, required: bool = False) -> Any:
    if isinstance(value, str):
        return data.hold(value, required=required)
    if isinstance(value, Mapping):
        return {_keyword(key, tool): _hold_value(item, data, tool) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_hold_value(item, data, tool, required=required) for item in value]
    return value


def _name(name: str, tool: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(f'tool {tool}: {str(name)[:80]!r} is no argument name')
    return name


def _keyword(key: str, tool: str) -> str:
    if not isinstance(key, str) or not _KEYWORD.fullmatch(key):
        raise ConfigError(f'tool {tool}: {str(key)[:80]!r} is no JSON schema keyword')
    return key
