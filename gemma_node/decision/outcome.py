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
What a completion means: calls, a reply, or nothing to do. Knows token ids, not engines.

Everything is checked again here, although the grammar could not have produced it.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import math
import uuid

from gemma_node.core import Call
from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import GenerationResult
from gemma_node.core import Outcome
from gemma_node.core import Request
from gemma_node.core import ToolChoice
from gemma_node.core import ToolDeclaration
from gemma_node.decision.prompt import MadeCall
from gemma_node.errors import RequestError
from gemma_node.text.tokenizer import CALL_OPEN
from gemma_node.text.tokenizer import Tokenizer
from gemma_node.tools.call_format import CallTokens
from gemma_node.tools.call_format import parse_output
from gemma_node.tools.call_format import ParsedCall
from gemma_node.tools.call_format import thought_length
from gemma_node.tools.validate import validate_call

NO_ACTION = 'no_action'
ASK_OPERATOR = 'ask_operator'

_FINISH_CODES = {
    Finish.LENGTH: ErrorCode.TRUNCATED,
    Finish.CANCELED: ErrorCode.CANCELED,
    Finish.DEADLINE: ErrorCode.DEADLINE_EXCEEDED,
    Finish.FAILED: ErrorCode.RUNTIME_FAILURE,
}
_FINISH_TEXTS = {
    Finish.LENGTH: 'the answer was not complete after {tokens} tokens; raise max_tokens',
    Finish.CANCELED: 'the request was canceled',
    Finish.DEADLINE: 'the deadline passed before the answer was complete',
    Finish.FAILED: 'the engine could not finish the answer',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """An outcome with its calls and text; `made` are all calls, for the history."""

    outcome: Outcome
    calls: tuple[Call, ...] = ()
    text: str = ''
    made: tuple[MadeCall, ...] = ()
    tool_probability: float = math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedTools:
    """What the robot has, and which of it this request may call."""

    robot_tools: Mapping[str, ToolDeclaration]
    declarations: tuple[ToolDeclaration, ...]
    choice: ToolChoice
    max_calls: int


def allowed_tools(
    request: Request, tools: Sequence[ToolDeclaration], max_calls: int
) -> AllowedTools:
    """
    Return the tools a request may call: those it names (none = all) and every builtin.

    What cannot be reached now is left out; its declaration stays in the prompt.

    Raises RequestError NOT_ALLOWED for a name that the robot lacks.
    """
    by_name = {tool.name: tool for tool in tools}
    unknown = sorted(set(request.allowed_tools) - set(by_name))
    if unknown:
        raise RequestError(
            ErrorCode.NOT_ALLOWED,
            f'allowed_tools names {", ".join(unknown)[:200]}; robot {request.robot} has '
            f'{", ".join(by_name) or "no tools"}',
        )
    names = request.allowed_tools or tuple(by_name)
    declarations = tuple(
        tool for tool in tools
        if tool.is_builtin or (tool.name in names and tool.name not in request.unavailable_tools))
    if request.tool_choice is ToolChoice.NONE:
        declarations = ()
    elif request.tool_choice is ToolChoice.REQUIRED and not declarations:
        raise RequestError(
            ErrorCode.NOT_ALLOWED,
            f'a tool call is required, but robot {request.robot} has no tools that can be called',
        )
    choice = request.tool_choice if declarations else ToolChoice.NONE
    return AllowedTools(
        robot_tools=by_name, declarations=declarations, choice=choice, max_calls=max_calls
    )


def finish_error(result: GenerationResult) -> RequestError | None:
    """Return why a generation did not end by itself, or None when it did."""
    if result.finish is Finish.STOP:
        return None
    code = result.error_code or _FINISH_CODES[result.finish]
    text = result.error_msg or _FINISH_TEXTS[result.finish].format(tokens=len(result.token_ids))
    return RequestError(code, text)


def free_text(token_ids: Sequence[int], tokenizer: Tokenizer) -> str:
    """Return what the ids say to a person so far: no thought, no call, no half character."""
    ids = list(token_ids)[thought_length(token_ids, tokenizer.special_ids):]
    opening = tokenizer.special_id(CALL_OPEN)
    if opening in ids:
        ids = ids[:ids.index(opening)]
    return tokenizer.decode(ids).rstrip('\ufffd') if ids else ''


def read_output(
    result: GenerationResult, request: Request, allowed: AllowedTools, tokenizer: Tokenizer
) -> Meaning:
    """Parse and validate a completion that ended by itself; raises RequestError."""
    num_thought = thought_length(result.token_ids, tokenizer.special_ids)
    parsed = parse_output(
        result.token_ids[num_thought:],
        tokens=CallTokens.from_special_ids(tokenizer.special_ids),
        decode=tokenizer.decode,
        special_ids=tokenizer.special_ids.values(),
    )
    if allowed.choice is ToolChoice.REQUIRED and not parsed.calls:
        raise RequestError(ErrorCode.SCHEMA_VIOLATION, 'a call was required, the model wrote none')
    if len(parsed.calls) > allowed.max_calls:
        raise RequestError(
            ErrorCode.SCHEMA_VIOLATION,
            f'the model made {len(parsed.calls)} calls, at most {allowed.max_calls} are allowed',
        )
    calls = []
    for index, call in enumerate(parsed.calls):
        _check_call(call, allowed)
        calls.append(Call(
            id=uuid.uuid5(uuid.UUID(hex=request.id), str(index)).hex,
            name=call.name,
            arguments=call.arguments,
            probability=_probability(call, result.probabilities[num_thought:]),
        ))
    return _meaning(parsed.text.strip(), tuple(calls), allowed)


def _check_call(call: ParsedCall, allowed: AllowedTools) -> None:
    declaration = next((d for d in allowed.declarations if d.name == call.name), None)
    if declaration is None:
        known = call.name in allowed.robot_tools
        code = ErrorCode.NOT_ALLOWED if known else ErrorCode.UNKNOWN_TOOL
        raise RequestError(code, f'the model called {call.name}, which it may not here')
    violations = validate_call(declaration, call.arguments)
    if violations:
        raise RequestError(ErrorCode.SCHEMA_VIOLATION, f'{call.name}: {"; ".join(violations)}')


def _meaning(text: str, calls: tuple[Call, ...], allowed: AllowedTools) -> Meaning:
    made = tuple(
        MadeCall(id=c.id, name=c.name, is_builtin=allowed.robot_tools[c.name].is_builtin)
        for c in calls
    )
    if not calls:
        return Meaning(outcome=Outcome.REPLY, text=text)
    names = {call.name for call in made if call.is_builtin} & {NO_ACTION, ASK_OPERATOR}
    is_solo = all(call.name in names for call in made)
    said = ' '.join(filter(None, (text, *(_words(call) for call in calls)))) if is_solo else text
    outcome = Outcome.TOOL_CALL
    if is_solo:
        outcome = Outcome.REPLY if ASK_OPERATOR in names else Outcome.NO_ACTION
    return Meaning(
        outcome=outcome,
        calls=() if outcome is Outcome.NO_ACTION else calls,
        text=said,
        made=made,
        tool_probability=calls[0].probability,
    )


def _words(call: Call) -> str:
    """Return what a builtin says: its question or reason."""
    return ' '.join(value for value in call.arguments.values() if isinstance(value, str))


def _probability(call: ParsedCall, probabilities: Sequence[float]) -> float:
    if call.name_end > len(probabilities):
        return math.nan
    return math.prod(probabilities[call.name_start:call.name_end])
