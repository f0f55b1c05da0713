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
What a case must hold beyond its shape: tools that serve, turns in order, calls that fit.

Each check raises ConfigError whose text starts with the field; the reader adds the line.
"""

from __future__ import annotations

from collections.abc import Mapping
import json
import math
from typing import Any
from typing import NoReturn

from gemma_node.core import ToolChoice
from gemma_node.core import ToolDeclaration
from gemma_node.errors import ConfigError
from gemma_node.errors import GrammarError
from gemma_node.evaluation.cases import Case
from gemma_node.evaluation.cases import Expected
from gemma_node.evaluation.cases import ExpectedCall
from gemma_node.evaluation.cases import Turn
from gemma_node.evaluation.observations import INVALID_REASONS
from gemma_node.tools.call_format import CallTokens
from gemma_node.tools.catalogue import BUILTINS
from gemma_node.tools.lark import write_grammar
from gemma_node.tools.validate import is_name
from gemma_node.tools.validate import validate_call

MAX_CALLS = 4
_TOKENS = CallTokens(open_call=1, close_call=2, quote=3)
_NEEDS_BUILTIN = {'no_action': 'no_action', 'stop': 'stop', 'refuse': 'ask_operator'}
# Grammars that were written before, by what they say: families of cases share their tools.
_known_tools: set[str] = set()


def check_case(case: Case) -> None:
    """Raise ConfigError unless the case can be asked and scored."""
    for field in ('id', 'category'):
        if not getattr(case, field).strip():
            _fail(field, 'expected a text, found none')
    if case.twin == case.id:
        _fail('twin', 'expected the id of another case')
    _check_tools(case)
    for index, each in enumerate(case.observations):
        field = f'observations[{index}]'
        if not each.topic.strip():
            _fail(f'{field}.topic', 'expected a name, found none')
        if each.state == 'invalid' and each.text not in INVALID_REASONS:
            _fail(f'{field}.text', f'an invalid input says why: {", ".join(INVALID_REASONS)}')
        if each.state != 'missing' and not each.text:
            _fail(f'{field}.text', 'expected what the input says, found nothing')
        for name in ('age_s', 'max_age_s'):
            seconds = getattr(each, name)
            if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
                _fail(f'{field}.{name}', f'expected seconds of 0 or more, found {seconds}')
    declared = {tool.name: tool for tool in case.declarations}
    _check_turns(case.turns, declared)
    _check_expected('expect', case.expect, declared)
    for index, accepted in enumerate(case.accept):
        field = f'accept[{index}]'
        if isinstance(accepted, Expected):
            _check_expected(field, accepted, declared)
        elif case.expect.kind != 'reply':
            _fail(field, f'texts are for replies; for {case.expect.kind} write a decision')
        elif not accepted.strip():
            _fail(field, 'expected a text, found none')
    if case.expect.kind == 'reply' and not case.right_texts:
        _fail('accept', 'a reply needs the texts of which it must contain one')
    if not all(text.strip() for text in case.forbid):
        _fail('forbid', 'expected texts, found an empty one')


def _check_tools(case: Case) -> None:
    names = [tool.name for tool in case.tools]
    for index, tool in enumerate(case.tools):
        field = f'tools[{index}]'
        if not is_name(tool.name):
            _fail(f'{field}.name', f'expected letters, digits and _, found {tool.name[:64]!r}')
        if tool.name in BUILTINS:
            _fail(f'{field}.name', f'{tool.name} is a builtin; list it in builtins')
        if names.count(tool.name) > 1:
            _fail(f'{field}.name', f'two tools are called {tool.name}')
        if not tool.description.strip():
            _fail(f'{field}.description', 'expected a text, found none')
    if not names and not case.builtins:
        _fail('tools', 'expected a tool or a builtin, found none')
    if len(set(case.builtins)) != len(case.builtins):
        _fail('builtins', f'one is named twice: {", ".join(case.builtins)}')
    for index, declared in enumerate(case.declarations[:len(names)]):
        key = json.dumps([declared.name, declared.parameters])
        if key in _known_tools:
            continue
        if declared.parameters['type'] != 'object':
            _fail(f'tools[{index}].parameters.type', 'expected object')
        if declared.parameters['additionalProperties'] is not False:
            _fail(f'tools[{index}].parameters.additionalProperties', 'expected false or nothing')
        try:
            write_grammar(
                [declared], tool_choice=ToolChoice.AUTO, max_calls=1, tokens=_TOKENS
            )
        except GrammarError as error:
            _fail(f'tools[{index}].parameters', str(error))
        _known_tools.add(key)


def _check_turns(turns: tuple[Turn, ...], declared: Mapping[str, ToolDeclaration]) -> None:
    if not turns:
        _fail('turns', 'expected at least one, found none')
    may_follow: Mapping[str, tuple[str, ...]] = {
        '': ('user',),
        'user': ('assistant', 'tool'),
        'assistant': ('user',),
        'tool': ('tool', 'assistant', 'user'),
    }
    before = ''
    for index, turn in enumerate(turns):
        field = f'turns[{index}]'
        if turn.role not in may_follow[before]:
            expected = ' or '.join(may_follow[before])
            _fail(f'{field}.role', f'expected {expected} here, found {turn.role}')
        if not turn.text.strip() and not (turn.role == 'user' and before == 'tool'):
            _fail(f'{field}.text', 'expected a text, found none')
        if turn.role == 'tool':
            _check_call(field, turn.name, turn.arguments, declared)
        elif turn.name or turn.arguments:
            _fail(f'{field}.name', 'only tool turns have a name and arguments')
        before = turn.role
    if before != 'user':
        _fail(f'turns[{len(turns) - 1}].role', f'the last turn must be user, found {before}')


def _check_expected(
    field: str, expected: Expected, declared: Mapping[str, ToolDeclaration]
) -> None:
    number = len(expected.calls)
    if expected.kind == 'call' and number != 1:
        _fail(f'{field}.calls', f'kind call needs one, found {number}')
    if expected.kind == 'calls' and not 2 <= number <= MAX_CALLS:
        _fail(f'{field}.calls', f'kind calls needs 2 to {MAX_CALLS}, found {number}')
    if expected.kind not in ('call', 'calls') and number:
        _fail(f'{field}.calls', f'kind {expected.kind} has none, found {number}')
    builtin = _NEEDS_BUILTIN.get(expected.kind, '')
    if builtin and builtin not in declared:
        _fail(f'{field}.kind', f'{expected.kind} needs the builtin {builtin}')
    for index, call in enumerate(expected.calls):
        place = f'{field}.calls[{index}]'
        if call.name in BUILTINS:
            _fail(f'{place}.name', f'{call.name} has a kind of its own, it is no call')
        _check_call(place, call.name, call.arguments, declared)
        _check_tolerance(place, call)


def _check_call(
    field: str,
    name: str,
    arguments: Mapping[str, Any],
    declared: Mapping[str, ToolDeclaration],
) -> None:
    if name not in declared:
        _fail(f'{field}.name', f'{name!r} is none of {", ".join(declared)}')
    violations = validate_call(declared[name], arguments)
    if violations:
        _fail(f'{field}.arguments', f'{name} would refuse them: {"; ".join(violations)}')


def _check_tolerance(field: str, call: ExpectedCall) -> None:
    paths = set(number_paths(call.arguments))
    for path, allowed in call.tolerance.items():
        is_path = any(each == path or each.startswith(f'{path}.') for each in paths)
        if not is_path:
            _fail(f'{field}.tolerance', f'{path!r} names no number of the arguments')
        if not (math.isfinite(allowed) and allowed >= 0):
            _fail(f'{field}.tolerance', f'expected 0 or more for {path}, found {allowed}')


def number_paths(value: Any, path: str = '') -> list[str]:
    """Return the dotted paths of all numbers, list indices included."""
    if isinstance(value, bool):
        return []
    if isinstance(value, (int, float)):
        return [path]
    children: list[tuple[str, Any]] = []
    if isinstance(value, Mapping):
        children = list(value.items())
    elif isinstance(value, list):
        children = [(str(index), item) for index, item in enumerate(value)]
    prefix = f'{path}.' if path else ''
    return [each for key, child in children for each in number_paths(child, prefix + key)]


def _fail(field: str, text: str) -> NoReturn:
    raise ConfigError(f'{field}: {text}')
