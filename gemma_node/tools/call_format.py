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
Gemma's call syntax, both ways: values to token ids, token ids to values.

``<|tool_call>call:NAME{key:value,…}<tool_call|>``; keys bare, sorted as Jinja's dictsort; strings
raw between two ``<|"|>`` tokens. Structure is read from token ids, never from decoded text: a
string that spells a marker in ordinary tokens stays a string.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from decimal import Decimal
import math
import re
from typing import Any

from gemma_node.core import ErrorCode
from gemma_node.errors import RequestError
from gemma_node.tools.validate import is_name
from gemma_node.tools.validate import MAX_DEPTH

Decode = Callable[[Sequence[int]], str]
Encode = Callable[[str], Sequence[int]]

OPEN_CALL = '<|tool_call>'
OPEN_THOUGHT = '<|channel>'
CLOSE_THOUGHT = '<channel|>'
CLOSE_CALL = '<tool_call|>'
QUOTE = '<|"|>'
_STRUCTURE = re.compile(
    r'(?P<number>-?(?:0|[1-9][0-9]{0,39})(?:\.[0-9]{1,40})?)(?![0-9A-Za-z_.+-])'
    r'|(?P<word>[A-Za-z_][A-Za-z0-9_]*)'
    r'|(?P<sign>[{}\[\]:,])'
)
_CONSTANTS: Mapping[str, Any] = {'true': True, 'false': False, 'null': None}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTokens:
    """Ids of the three markers of the call syntax."""

    open_call: int
    close_call: int
    quote: int

    @classmethod
    def from_special_ids(cls, special_ids: Mapping[str, int]) -> CallTokens:
        """Take the ids from a map of special token texts; raises KeyError where one is missing."""
        return cls(
            open_call=special_ids[OPEN_CALL],
            close_call=special_ids[CLOSE_CALL],
            quote=special_ids[QUOTE],
        )


def thought_length(token_ids: Sequence[int], special_ids: Mapping[str, int]) -> int:
    """Return how many of a completion's first tokens are its thought, markers included."""
    opening, closing = special_ids.get(OPEN_THOUGHT, -1), special_ids.get(CLOSE_THOUGHT, -1)
    if not token_ids or token_ids[0] != opening:
        return 0
    return list(token_ids).index(closing) + 1 if closing in token_ids else len(token_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedCall:
    """One call as written; tokens `name_start` up to `name_end` decided which tool it is."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    name_start: int = 0
    name_end: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedOutput:
    """Free text, then calls; at least one of the two."""

    text: str = ''
    calls: tuple[ParsedCall, ...] = ()


def sort_key(name: str) -> tuple[str, str]:
    """Order keys as the template's dictsort does; names equal but for case stay apart."""
    return name.lower(), name


def format_number(value: float) -> str:
    """Write a finite number as JSON without exponent, as short as it reads back equal."""
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        raise ValueError(f'{value} cannot be written in a call')
    text = format(Decimal(repr(value)), 'f')
    return '0.0' if text == '-0.0' else text


def format_call(name: str, arguments: Mapping[str, Any]) -> str:
    """Return the call as text, for people and logs; strings may spell markers, never encode it."""
    return ''.join(
        QUOTE + part.value + QUOTE if isinstance(part, _Text) else part
        for part in (OPEN_CALL, *_call_parts(name, arguments), CLOSE_CALL)
    )


def format_call_ids(
    name: str, arguments: Mapping[str, Any], *, tokens: CallTokens, encode: Encode,
) -> list[int]:
    """Return the call's canonical token ids; `encode` must treat special token texts as data."""
    ids = [tokens.open_call]
    structure = ''
    for part in _call_parts(name, arguments):
        if isinstance(part, str):
            structure += part
            continue
        ids += [*encode(structure), tokens.quote]
        if part.value:
            ids += encode(part.value)
        ids.append(tokens.quote)
        structure = ''
    return [*ids, *encode(structure), tokens.close_call]


def parse_output(
    token_ids: Sequence[int],
    *,
    tokens: CallTokens,
    decode: Decode,
    special_ids: Collection[int] = (),
) -> ParsedOutput:
    """
    Read a completion (without its stop token); raises RequestError SCHEMA_VIOLATION if malformed.

    `special_ids` are all the tokenizer's special tokens: one that is no call marker is an error.
    """
    first_call = _index(token_ids, tokens.open_call, 0)
    text_ids = token_ids[:first_call]
    _refuse_special(text_ids, {*special_ids, tokens.close_call, tokens.quote})
    text = decode(text_ids) if text_ids else ''
    calls = []
    position = first_call
    while position < len(token_ids):
        if token_ids[position] != tokens.open_call:
            raise _malformed('text after a call')
        end = _call_end(token_ids, position + 1, tokens)
        calls.append(_parse_call(token_ids, position + 1, end, tokens, decode, special_ids))
        position = end + 1
    if not calls and not text.strip():
        raise _malformed('neither text nor a call')
    return ParsedOutput(text=text, calls=tuple(calls))


@dataclass(frozen=True, slots=True)
class _Text:
    """A string value, kept apart from structure."""

    value: str


def _call_parts(name: str, arguments: Mapping[str, Any]) -> list[str | _Text]:
    if not is_name(name):
        raise ValueError(f'{name[:64]!r} is not a tool name')
    return [f'call:{name}', *_value_parts(dict(arguments), 0)]


def _value_parts(value: Any, depth: int) -> list[str | _Text]:
    if depth > MAX_DEPTH:
        raise ValueError(f'nested deeper than {MAX_DEPTH}')
    if value is None:
        return ['null']
    if isinstance(value, bool):
        return ['true' if value else 'false']
    if isinstance(value, (int, float)):
        return [format_number(value)]
    if isinstance(value, str):
        return [_Text(value)]
    parts: list[str | _Text] = []
    if isinstance(value, Mapping):
        for key in sorted(value, key=sort_key):
            if not is_name(key):
                raise ValueError(f'{key[:64]!r} is not an argument name')
            parts += [',' if parts else '', f'{key}:', *_value_parts(value[key], depth + 1)]
        return ['{', *parts, '}']
    for item in value:
        parts += [',' if parts else '', *_value_parts(item, depth + 1)]
    return ['[', *parts, ']']


def _parse_call(
    token_ids: Sequence[int],
    start: int,
    end: int,
    tokens: CallTokens,
    decode: Decode,
    special_ids: Collection[int],
) -> ParsedCall:
    markers = {*special_ids, tokens.open_call, tokens.close_call} - {tokens.quote}
    _refuse_special(token_ids[start:end], markers)
    parts = _split(token_ids[start:end], tokens, decode)
    if [part.value for part in parts[:2]] != ['call', ':'] or len(parts) < 3:
        raise _malformed('a call must start with call:NAME')
    name = parts[2]
    if name.kind != 'word' or not is_name(name.value):
        raise _malformed('a call must start with call:NAME')
    reader = _Reader(parts[3:])
    arguments = reader.value(0)
    if not isinstance(arguments, dict) or not reader.is_done:
        raise _malformed(f'the arguments of {name.value} must be one {{…}}')
    name_end = start
    while name_end < end and '{' not in decode(token_ids[start:name_end]):
        name_end += 1
    return ParsedCall(
        name=name.value, arguments=arguments, name_start=start, name_end=name_end,
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a call: kind is number, word, sign or text."""

    kind: str
    value: str


def _split(token_ids: Sequence[int], tokens: CallTokens, decode: Decode) -> list[_Part]:
    parts: list[_Part] = []
    position = 0
    is_text = False
    while position <= len(token_ids):
        end = _index(token_ids, tokens.quote, position)
        piece = decode(token_ids[position:end]) if end > position else ''
        if is_text:
            if end == len(token_ids):
                raise _malformed('a string does not end')
            parts.append(_Part('text', piece))
        else:
            parts += _split_structure(piece)
        is_text = not is_text
        position = end + 1
    return parts


def _split_structure(piece: str) -> list[_Part]:
    parts = []
    position = 0
    while position < len(piece):
        found = _STRUCTURE.match(piece, position)
        if found is None or found.lastgroup is None:
            raise _malformed(f'unexpected {piece[position:position + 12]!r} in a call')
        parts.append(_Part(found.lastgroup, found.group()))
        position = found.end()
    return parts


class _Reader:
    """Recursive descent over the parts of one call's arguments."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        self._parts = parts
        self._position = 0

    @property
    def is_done(self) -> bool:
        """Whether every part was read."""
        return self._position == len(self._parts)

    def value(self, depth: int) -> Any:
        """Read one value."""
        part = self._next()
        if depth > MAX_DEPTH:
            raise _malformed(f'a call nested deeper than {MAX_DEPTH}')
        if part.kind == 'text':
            return part.value
        if part.kind == 'number':
            return float(part.value) if '.' in part.value else int(part.value)
        if part.kind == 'word' and part.value in _CONSTANTS:
            return _CONSTANTS[part.value]
        if part == _Part('sign', '{'):
            return self._object(depth)
        if part == _Part('sign', '['):
            return self._array(depth)
        raise _malformed(f'unexpected {part.value[:12]!r} where a value belongs')

    def _object(self, depth: int) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        if self._skip('}'):
            return entries
        while True:
            key = self._next()
            if key.kind != 'word' or not is_name(key.value):
                raise _malformed(f'{key.value[:12]!r} where a key belongs')
            if key.value in entries:
                raise _malformed(f'the key {key.value} occurs twice')
            self._expect(':')
            entries[key.value] = self.value(depth + 1)
            if self._skip('}'):
                return entries
            self._expect(',')

    def _array(self, depth: int) -> list[Any]:
        items: list[Any] = []
        if self._skip(']'):
            return items
        while True:
            items.append(self.value(depth + 1))
            if self._skip(']'):
                return items
            self._expect(',')

    def _next(self) -> _Part:
        if self.is_done:
            raise _malformed('a call ends early')
        self._position += 1
        return self._parts[self._position - 1]

    def _skip(self, sign: str) -> bool:
        if not self.is_done and self._parts[self._position] == _Part('sign', sign):
            self._position += 1
            return True
        return False

    def _expect(self, sign: str) -> None:
        if not self._skip(sign):
            raise _malformed(f'{sign!r} is missing in a call')


def _call_end(token_ids: Sequence[int], start: int, tokens: CallTokens) -> int:
    is_text = False
    for idx in range(start, len(token_ids)):
        if token_ids[idx] == tokens.quote:
            is_text = not is_text
        elif token_ids[idx] == tokens.close_call and not is_text:
            return idx
    raise _malformed('a call does not end')


def _refuse_special(token_ids: Sequence[int], special_ids: Collection[int]) -> None:
    for token_id in token_ids:
        if token_id in special_ids:
            raise _malformed(f'the special token {token_id} where text belongs')


def _index(token_ids: Sequence[int], token_id: int, start: int) -> int:
    for idx in range(start, len(token_ids)):
        if token_ids[idx] == token_id:
            return idx
    return len(token_ids)


def _malformed(what: str) -> RequestError:
    return RequestError(ErrorCode.SCHEMA_VIOLATION, f'malformed completion: {what}')
