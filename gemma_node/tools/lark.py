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
Writes the token grammar of a set of tools in llguidance's Lark dialect.

The language written is a subset of what the declarations allow, in Gemma's call syntax. What a
grammar cannot hold is either listed in `checked_after` (validation refuses it) or raised.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import hashlib
import math
from typing import Any

from gemma_node.core import ToolChoice
from gemma_node.core import ToolDeclaration
from gemma_node.errors import GrammarError
from gemma_node.tools.call_format import CallTokens
from gemma_node.tools.call_format import format_number
from gemma_node.tools.call_format import sort_key
from gemma_node.tools.number_pattern import DEFAULT_DECIMALS
from gemma_node.tools.number_pattern import MAX_DECIMALS
from gemma_node.tools.number_pattern import range_pattern
from gemma_node.tools.validate import check_schema
from gemma_node.tools.validate import is_name
from gemma_node.tools.validate import to_decimal
from gemma_node.tools.validate import validate_value

# A completion that asks or declines has one outcome, so these stand alone.
SOLO_BUILTINS = ('no_action', 'ask_operator')
MAX_DEPTH = 16
MAX_ITEMS = 64
MAX_FIXED_ITEMS = 1024
# Compiling the largest grammar taken takes about a second of one core, since choices cost by the
# square of their number (1,000: 0.05 s, 9,000: 3 s); a choice of 200,000 characters made a mask
# take 0.6 s.
MAX_SOURCE_CHARACTERS = 1 << 18
MAX_CHOICES = 1024
MAX_CHOICE_CHARACTERS = 1024
# Part of the texts that special tokens get towards llguidance; no choice may hold it.
HIDDEN_MARK = '\uf8ff\uf8fe'
TEXT_CLASS = r'[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]'
_FREE_TEXT = r'[\t\n\r ]*[^\x00-\x20\x7f]' + TEXT_CLASS + '*'
_ANNOTATIONS = frozenset((
    'title', 'description', 'default', 'examples', 'unit', 'format', 'deprecated', 'readOnly',
    'writeOnly', '$comment', '$schema', '$id', 'nullable',
))
_AFTER = frozenset(('uniqueItems', 'contains', 'minContains', 'maxContains', 'minProperties',
                    'maxProperties'))
_ENFORCED: Mapping[str, frozenset[str]] = {
    'string': frozenset(('minLength', 'maxLength', 'pattern')),
    'integer': frozenset((
        'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf')),
    'number': frozenset((
        'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf')),
    'boolean': frozenset(),
    'null': frozenset(),
    'array': frozenset((
        'items', 'minItems', 'maxItems', 'uniqueItems', 'contains', 'minContains',
        'maxContains')),
    'object': frozenset((
        'properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties')),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GrammarSource:
    """A grammar as text, its sha256, and what only validation holds ('tool.argument: keyword')."""

    text: str
    digest: str
    checked_after: tuple[str, ...] = ()


def write_grammar(
    declarations: Sequence[ToolDeclaration],
    *,
    tool_choice: ToolChoice,
    max_calls: int,
    tokens: CallTokens,
    thought: tuple[int, int] | None = None,
) -> GrammarSource:
    """
    Write the grammar of one completion without its stop token.

    AUTO: text, or optional text and 1 to `max_calls` calls. REQUIRED: calls. NONE: text.
    `thought`: the markers of a thought that may come before each of these.
    Raises GrammarError naming the tool and the keyword that cannot be expressed.
    """
    writer = _LarkWriter(tokens)
    text = writer.terminal(_FREE_TEXT)
    calls = '' if tool_choice == ToolChoice.NONE else writer.calls(declarations, max_calls)
    if tool_choice == ToolChoice.REQUIRED:
        if not calls:
            raise GrammarError('a tool call is required, but no tool is allowed')
        start = calls
    else:
        start = f'{text} | {text}? {calls}' if calls else text
    if thought is not None:
        text = writer.terminal(f'{TEXT_CLASS}+')
        start = f'(<[{thought[0]}]> {text}? <[{thought[1]}]>)? ({start})'
    source = writer.source(start)
    return GrammarSource(
        text=source,
        digest=hashlib.sha256(source.encode()).hexdigest(),
        checked_after=tuple(writer.checked_after),
    )


class _LarkWriter:
    """Collects rules and terminals; equal bodies share one name."""

    def __init__(self, tokens: CallTokens) -> None:
        self._tokens = tokens
        self._quote = f'<[{tokens.quote}]>'
        self._rules: dict[str, str] = {}
        self._terminals: dict[str, str] = {}
        self._num_characters = 0
        self.checked_after: list[str] = []

    def source(self, start: str) -> str:
        """Return the whole grammar."""
        lines = [f'start: {start}']
        lines += [f'{name}: {body}' for body, name in self._rules.items()]
        lines += [f'{name}: /{body}/' for body, name in self._terminals.items()]
        return '\n'.join(lines) + '\n'

    def terminal(self, pattern: str) -> str:
        """Return the name of the terminal that matches the pattern."""
        return self._kept(self._terminals, pattern, 'T')

    def rule(self, body: str) -> str:
        """Return the name of the rule with this body."""
        return self._kept(self._rules, body, 'r')

    def _kept(self, known: dict[str, str], body: str, kind: str) -> str:
        if body not in known:
            self._num_characters += len(body)
            # Told while it is written, so that refusing takes no longer than taking.
            if self._num_characters > MAX_SOURCE_CHARACTERS:
                raise GrammarError(
                    'the tools need a grammar over the limit of '
                    f'{MAX_SOURCE_CHARACTERS} characters: allow fewer tools, or fewer choices')
            known[body] = f'{kind}{len(known)}'
        return known[body]

    def calls(self, declarations: Sequence[ToolDeclaration], max_calls: int) -> str:
        """Return an expression for the calls of one completion, '' without tools."""
        if max_calls < 1:
            raise GrammarError(f'max_calls must be at least 1, got {max_calls}')
        chains: list[str] = []
        solos: list[str] = []
        names: set[str] = set()
        for declaration in declarations:
            name = declaration.name
            if not is_name(name):
                raise GrammarError(f'{name[:64]!r} is not a tool name: [A-Za-z_][A-Za-z0-9_]*')
            if name in names:
                raise GrammarError(f'the tool {name} is declared twice')
            names.add(name)
            check_schema(declaration.parameters, name)
            parameters = self._object(declaration.parameters, name, 0)
            call = (f'<[{self._tokens.open_call}]> "call:{name}" {parameters} '
                    f'<[{self._tokens.close_call}]>')
            is_solo = declaration.is_builtin and name in SOLO_BUILTINS
            (solos if is_solo else chains).append(self.rule(call))
        options = list(solos)
        if chains:
            options.append(f'{self.rule(" | ".join(chains))}{{1,{max_calls}}}')
        return self.rule(' | '.join(options)) if options else ''

    def _value(self, schema: Any, place: str, depth: int) -> str:
        """Return an expression for one value of the schema."""
        if not isinstance(schema, Mapping):
            raise GrammarError(f'{place}: a schema must be an object, found {schema!r}')
        if depth > MAX_DEPTH:
            raise GrammarError(f'{place}: nested deeper than {MAX_DEPTH}')
        options = self._options(schema, place, depth)
        if schema.get('nullable') is True and 'null' not in options:
            options.append('"null"')
        return options[0] if len(options) == 1 else self.rule(' | '.join(options))

    def _options(self, schema: Mapping[str, Any], place: str, depth: int) -> list[str]:
        if 'const' in schema or 'enum' in schema:
            return [self._enum(schema, place, depth)]
        for keyword in ('anyOf', 'oneOf'):
            if keyword in schema:
                self._refuse_others(schema, frozenset((keyword,)), place)
                members = schema[keyword]
                if not isinstance(members, (list, tuple)) or not members:
                    raise GrammarError(f'{place}: {keyword} must be a list of schemas')
                if keyword == 'oneOf':
                    self._note(place, keyword)
                return [self._value(member, place, depth + 1) for member in members]
        types = schema.get('type')
        types = [types] if isinstance(types, str) else types
        if not isinstance(types, (list, tuple)) or not types:
            raise GrammarError(f'{place}: says no type')
        known = frozenset(('type',)).union(*(_ENFORCED.get(str(name), ()) for name in types))
        self._refuse_others(schema, known, place)
        return [self._typed(str(name), schema, place, depth) for name in types]

    def _typed(self, name: str, schema: Mapping[str, Any], place: str, depth: int) -> str:
        for keyword in schema:
            if keyword in _AFTER:
                self._note(place, keyword)
        if name == 'string':
            return self._string(schema, place)
        if name in ('integer', 'number'):
            return self._number(name, schema, place)
        if name == 'boolean':
            return self.terminal('true|false')
        if name == 'null':
            return '"null"'
        if name == 'array':
            return self._array(schema, place, depth)
        if name == 'object':
            return self._object(schema, place, depth)
        raise GrammarError(f'{place}: unknown type {name!r}')

    def _string(self, schema: Mapping[str, Any], place: str) -> str:
        shortest = _count(schema, 'minLength', place, 0)
        _count(schema, 'maxLength', place, 0)
        # Counted patterns make masks slow, so only "not empty" goes into the grammar.
        if shortest > 1:
            self._note(place, 'minLength')
        for keyword in ('maxLength', 'pattern'):
            if keyword in schema:
                self._note(place, keyword)
        text = self.terminal(f'{TEXT_CLASS}+')
        return self.rule(f'{self._quote} {text}{"" if shortest else "?"} {self._quote}')

    def _number(self, name: str, schema: Mapping[str, Any], place: str) -> str:
        decimals = 0 if name == 'integer' else DEFAULT_DECIMALS
        step = _bound(schema, 'multipleOf', place)
        if step is not None:
            if step <= 0:
                raise GrammarError(f'{place}: multipleOf must be above 0, found {step}')
            exponent = to_decimal(step).normalize().as_tuple().exponent
            digits = max(0, -int(exponent))
            decimals = min(digits, MAX_DECIMALS) if name == 'number' else 0
            if to_decimal(step) != to_decimal(10.0 ** -decimals):
                self._note(place, 'multipleOf')
        minimum, is_minimum_excluded = _limit(schema, 'minimum', 'exclusiveMinimum', place)
        maximum, is_maximum_excluded = _limit(schema, 'maximum', 'exclusiveMaximum', place)
        pattern = range_pattern(
            None if minimum is None else to_decimal(minimum),
            None if maximum is None else to_decimal(maximum),
            decimals=decimals,
            is_minimum_excluded=is_minimum_excluded,
            is_maximum_excluded=is_maximum_excluded,
        )
        if pattern is None:
            raise GrammarError(
                f'{place}: no {name} with at most {decimals} decimals lies between its minimum '
                'and maximum'
            )
        if name == 'number' and decimals == 0:
            pattern = f'({pattern})(\\.0)?'
        return self.terminal(pattern)

    def _array(self, schema: Mapping[str, Any], place: str, depth: int) -> str:
        fewest = _count(schema, 'minItems', place, 0)
        most = _count(schema, 'maxItems', place, max(MAX_ITEMS, fewest))
        if most < fewest:
            raise GrammarError(f'{place}: maxItems {most} is less than minItems {fewest}')
        if most == 0:
            return '"[" "]"'
        if fewest > MAX_FIXED_ITEMS:
            raise GrammarError(
                f'{place}: an array of {fewest} items is no argument; at most {MAX_FIXED_ITEMS}')
        most = min(most, max(MAX_ITEMS, fewest))
        item = self._value(schema.get('items'), f'{place}[]', depth + 1)
        more = f'("," {item}){{{max(0, fewest - 1)},{most - 1}}}' if most > 1 else ''
        items = f'{item} {more}'.rstrip()
        return self.rule(f'"[" {items} "]"' if fewest else f'"[" ({items})? "]"')

    def _object(self, schema: Any, place: str, depth: int) -> str:
        if not isinstance(schema, Mapping) or schema.get('type') != 'object':
            raise GrammarError(f'{place}: parameters must be a schema of type object')
        self._refuse_others(schema, _ENFORCED['object'] | {'type'}, place)
        properties = schema.get('properties', {})
        required = schema.get('required', ())
        if not isinstance(properties, Mapping):
            raise GrammarError(f'{place}: properties must be an object')
        for name in (*properties, *required):
            if not isinstance(name, str) or not is_name(name):
                raise GrammarError(f'{place}: {str(name)[:64]!r} is not an argument name')
            if name not in properties:
                raise GrammarError(f'{place}: {name} is required, but not among the properties')
        names = sorted(properties, key=sort_key)
        members = [
            f'"{name}:" {self._value(properties[name], f"{place}.{name}", depth + 1)}'
            for name in names
        ]
        return self.rule(self._members(members, [name in required for name in names]))

    def _members(self, members: Sequence[str], is_required: Sequence[bool]) -> str:
        """Return the body of an object: members in order, commas between those present."""
        rest = ['' for _ in range(len(members) + 1)]
        for idx in range(len(members) - 1, 0, -1):
            member = f'"," {members[idx]}' if is_required[idx] else f'("," {members[idx]})?'
            rest[idx] = self.rule(f'{member} {rest[idx + 1]}'.rstrip())
        starts = []
        for idx, member in enumerate(members):
            starts.append(f'{member} {rest[idx + 1]}'.rstrip())
            if is_required[idx]:
                return f'"{{" ({" | ".join(starts)}) "}}"'
        return f'"{{" ({" | ".join(starts)})? "}}"' if starts else '"{" "}"'

    def _enum(self, schema: Mapping[str, Any], place: str, depth: int) -> str:
        values = [schema['const']] if 'const' in schema else schema['enum']
        if not isinstance(values, (list, tuple)):
            raise GrammarError(f'{place}: enum must be a list')
        if len(values) > MAX_CHOICES:
            raise GrammarError(f'{place}: {len(values)} choices; at most {MAX_CHOICES} are taken')
        # A value of the enum that another keyword forbids is no choice.
        values = [value for value in values if not validate_value(schema, value)]
        texts = [_escape(value, place) for value in values if isinstance(value, str) and value]
        options = []
        if texts:
            terminal = self.terminal('|'.join(texts))
            options.append(f'{self._quote} {terminal} {self._quote}')
        options += [
            self._literal(value, place, depth)
            for value in values if not isinstance(value, str) or not value
        ]
        if not options:
            raise GrammarError(f'{place}: no value of its enum is allowed')
        return self.rule(' | '.join(dict.fromkeys(options)))

    def _literal(self, value: Any, place: str, depth: int) -> str:
        if depth > MAX_DEPTH:
            raise GrammarError(f'{place}: nested deeper than {MAX_DEPTH}')
        if value is None:
            return '"null"'
        if isinstance(value, bool):
            return '"true"' if value else '"false"'
        if isinstance(value, (int, float)):
            if not math.isfinite(value):
                raise GrammarError(f'{place}: {value} is not finite')
            return self.terminal(format_number(value).replace('.', '\\.'))
        if isinstance(value, str):
            text = self.terminal(_escape(value, place)) if value else ''
            return f'{self._quote} {text} {self._quote}'.replace('  ', ' ')
        if isinstance(value, (list, tuple)):
            items = ' "," '.join(self._literal(item, place, depth + 1) for item in value)
            return f'"[" {items} "]"'.replace('  ', ' ')
        if isinstance(value, Mapping):
            if not all(isinstance(key, str) and is_name(key) for key in value):
                raise GrammarError(f'{place}: a key of its enum is not a name')
            members = ' "," '.join(
                f'"{key}:" {self._literal(value[key], place, depth + 1)}'
                for key in sorted(value, key=sort_key)
            )
            return f'"{{" {members} "}}"'.replace('  ', ' ')
        raise GrammarError(f'{place}: {type(value).__name__} is no JSON value')

    def _refuse_others(
        self, schema: Mapping[str, Any], known: frozenset[str], place: str,
    ) -> None:
        for keyword in schema:
            if keyword not in known and keyword not in _ANNOTATIONS:
                raise GrammarError(f'{place}: the keyword {keyword} cannot be enforced; remove it')

    def _note(self, place: str, keyword: str) -> None:
        note = f'{place}: {keyword}'
        if note not in self.checked_after:
            self.checked_after.append(note)


def _escape(text: str, place: str) -> str:
    if HIDDEN_MARK in text:
        raise GrammarError(f'{place}: a choice holds the characters U+F8FF U+F8FE')
    if len(text) > MAX_CHOICE_CHARACTERS:
        raise GrammarError(f'{place}: a choice of {len(text)} characters; at most '
                           f'{MAX_CHOICE_CHARACTERS} are taken')
    for character in text:
        if (character < ' ' and character not in '\t\n\r') or character == '\x7f' \
                or '\ud800' <= character <= '\udfff':
            raise GrammarError(
                f'{place}: a choice holds the control character U+{ord(character):04X}')
    return ''.join(
        character if character.isascii() and character.isalnum() else f'\\x{{{ord(character):X}}}'
        for character in text
    )


def _count(schema: Mapping[str, Any], keyword: str, place: str, default: int) -> int:
    value = schema.get(keyword, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise GrammarError(f'{place}: {keyword} must be a whole number from 0, found {value!r}')
    return value


def _bound(schema: Mapping[str, Any], keyword: str, place: str) -> float | None:
    value = schema.get(keyword)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise GrammarError(f'{place}: {keyword} must be a finite number, found {value!r}')
    return value


def _limit(
    schema: Mapping[str, Any], inclusive: str, exclusive: str, place: str,
) -> tuple[float | None, bool]:
    """Return the tighter of an inclusive and an exclusive bound, and whether it is exclusive."""
    bound, strict = _bound(schema, inclusive, place), _bound(schema, exclusive, place)
    if strict is None:
        return bound, False
    if bound is None:
        return strict, True
    is_strict = strict >= bound if inclusive == 'minimum' else strict <= bound
    return (strict, True) if is_strict else (bound, False)
