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


"""Cases of a test set as values, as docs/eval_format.md has them. Knows no engine and no file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import Literal

import msgspec

from gemma_node.core import ToolDeclaration
from gemma_node.decision.prompt import FOLLOW_UP_TEXT
from gemma_node.policy.settings import DEFAULT_SYSTEM_PROMPT
from gemma_node.tools.catalogue import BUILTINS

Kind = Literal['call', 'calls', 'no_action', 'stop', 'reply', 'refuse']
Builtin = Literal['no_action', 'stop', 'ask_operator']
KINDS: tuple[Kind, ...] = ('call', 'calls', 'no_action', 'stop', 'reply', 'refuse')


class Tool(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One declared tool; `parameters` is an object schema."""

    name: str
    description: str
    parameters: dict[str, Any] = msgspec.field(default_factory=dict)


class Input(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One observation: `text` is what follows name and age, or why it is invalid."""

    topic: str
    type: str
    age_s: float | None = None
    text: str = ''
    max_age_s: float | None = None
    state: Literal['', 'missing', 'invalid'] = ''


class Turn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One turn; a `tool` turn is the result of a call of `name` with `arguments`."""

    role: Literal['user', 'assistant', 'tool']
    text: str = ''
    name: str = ''
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)


class ExpectedCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One call; `tolerance` maps paths of numbers ('x', 'pose.x', 'points') to what they allow."""

    name: str
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    tolerance: dict[str, float] = msgspec.field(default_factory=dict)


class Expected(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One right decision."""

    kind: Kind
    calls: tuple[ExpectedCall, ...] = ()


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One question with what is right; see docs/eval_format.md."""

    id: str
    category: str
    made_up: bool = False
    state_dependent: bool = False
    twin: str = ''
    system: str = ''
    tools: tuple[Tool, ...] = ()
    builtins: tuple[Builtin, ...] = ('no_action', 'stop', 'ask_operator')
    observations: tuple[Input, ...] = ()
    turns: tuple[Turn, ...]
    expect: Expected
    accept: tuple[str | Expected, ...] = ()
    forbid: tuple[str, ...] = ()

    @property
    def system_prompt(self) -> str:
        """Return the system text the model is given."""
        return self.system.strip() or DEFAULT_SYSTEM_PROMPT

    @property
    def declarations(self) -> tuple[ToolDeclaration, ...]:
        """Return the tools as a catalogue declares them, builtins last."""
        own = tuple(
            ToolDeclaration(
                name=tool.name, description=tool.description, parameters=_schema(tool.parameters)
            )
            for tool in self.tools
        )
        return (*own, *(BUILTINS[name] for name in BUILTINS if name in self.builtins))

    @property
    def right(self) -> tuple[Expected, ...]:
        """Return all right decisions, the first one first."""
        return (self.expect, *(each for each in self.accept if isinstance(each, Expected)))

    @property
    def right_texts(self) -> tuple[str, ...]:
        """Return the texts of which a reply must contain one."""
        return tuple(each for each in self.accept if isinstance(each, str))

    @property
    def question(self) -> str:
        """Return the last user turn's text."""
        return self.turns[-1].text.strip() or FOLLOW_UP_TEXT


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked once: the results told with it, the words, and what the model answered."""

    results: tuple[Turn, ...] = ()
    text: str = ''
    reply: str = ''
    calls: tuple[Turn, ...] = ()


def rounds(turns: tuple[Turn, ...]) -> tuple[Round, ...]:
    """
    Return turns as the runtime asks them; the last round is the one to answer.

    Tool turns in a row are the calls of one answer. A reply straight after results answers the
    follow-up that the runtime sends ("Continue.").
    """
    found: list[Round] = []
    results: tuple[Turn, ...] = ()
    position = 0
    while position < len(turns):
        text = turns[position].text if turns[position].role == 'user' else ''
        position += turns[position].role == 'user'
        reply, calls = '', []
        if position < len(turns) and turns[position].role == 'assistant':
            reply = turns[position].text
            position += 1
        while not reply and position < len(turns) and turns[position].role == 'tool':
            calls.append(turns[position])
            position += 1
        found.append(Round(results=results, text=text, reply=reply, calls=tuple(calls)))
        results = tuple(calls)
    return tuple(found)


def _schema(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object schema with the keywords that a catalogue always writes."""
    return {
        'type': 'object',
        'properties': {},
        'required': [],
        'additionalProperties': False,
        **parameters,
    }
