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
Writes training prompts through the package's own prompt code, rendering templates less often.

What a chat template appends to a conversation does not depend on its system text and tools, so
conversations are rendered behind a small stand-in prefix, and equal ones once; short texts are encoded once. The ids are those
of `PromptWriter`, which a test compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
import json
import re
from typing import Any

from gemma_node.core import RobotSettings
from gemma_node.core import ToolDeclaration
from gemma_node.decision.prefix import Prefix
from gemma_node.decision.prompt import PromptWriter
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.chat_template import Message
from gemma_node.text.tokenizer import Tokenizer

_MAX_RENDERED = 20_000
_MAX_ENCODED = 50_000
_LONG = 40
_NAME = re.compile(r'"name": "([A-Za-z0-9_.-]+)"')


class FastTokenizer(Tokenizer):
    """A tokenizer that remembers short pieces, which come again and again."""

    def __init__(self, inner: Any, stop_ids: Sequence[int]) -> None:
        self._remembered = lru_cache(_MAX_ENCODED)(self._ids)
        super().__init__(inner, stop_ids)

    def encode_data(self, text: str) -> list[int]:
        """Encode text from outside, or return what the same one gave before."""
        return list(self._remembered(text)) if len(text) < _LONG else super().encode_data(text)

    def _ids(self, text: str) -> tuple[int, ...]:
        return tuple(super().encode_data(text))


class FastTemplate(ChatTemplate):
    """A chat template that remembers what it rendered, whatever the called tools' names."""

    def __init__(
        self, source: str, special_tokens: dict[str, str] | None = None, *,
        thinking: bool = False,
    ) -> None:
        super().__init__(source, special_tokens, thinking=thinking)
        self._remembered = lru_cache(_MAX_RENDERED)(self._render)

    def render(
        self, messages: Sequence[Message], tools: Sequence[Message], *, generation: bool
    ) -> str:
        """Render a whole conversation, or return what the same one gave before."""
        names: list[str] = []
        told = _NAME.sub(lambda found: f'"name": "{_stand_in(found[1], names)}"',
                         json.dumps(list(messages)))
        text = self._remembered(told, json.dumps(list(tools)), generation)
        for number, name in enumerate(names):
            text = text.replace(f'zz{number}zz', name)
        return text

    def _render(self, messages: str, tools: str, generation: bool) -> str:
        return super().render(
            json.loads(messages), json.loads(tools), generation=generation)


def _stand_in(name: str, names: list[str]) -> str:
    if name not in names:
        names.append(name)
    return f'zz{names.index(name)}zz'


class FastWriter(PromptWriter):
    """A prompt writer whose conversations are rendered without their tools."""

    def __init__(self, tokenizer: Tokenizer, template: ChatTemplate) -> None:
        super().__init__(tokenizer, template)
        settings = RobotSettings(
            name='r', system_prompt='s', tools=(
                ToolDeclaration(name='t', description='d', parameters={
                    'type': 'object', 'properties': {}}),))
        self._stand_in = super().prefix(settings)

    def prefix(self, settings: RobotSettings) -> Prefix:
        """Return a prefix with the ids of these settings, ahead of the stand-in's transcript."""
        prefix = super().prefix(settings)
        prefix.transcript = self._stand_in.transcript
        prefix.num_data = self._stand_in.num_data
        return prefix
