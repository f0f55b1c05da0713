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
Checks a call's arguments against its declaration, after the grammar and independently of it.

Stricter than JSON Schema where ROS needs it: 1.0 is no integer, numbers are finite as doubles,
text holds no control characters but tab and line breaks, `multipleOf` is decimal arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import islice
import json
import math
import re
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema import SchemaError
from jsonschema import ValidationError
from jsonschema.validators import extend

from gemma_node.core import ToolDeclaration
from gemma_node.errors import GrammarError

NAME_PATTERN = re.compile(r'[A-Za-z_][A-Za-z0-9_]{0,63}')
MAX_DEPTH = 32
MAX_MESSAGES = 16
MAX_SCHEMA_CHARACTERS = 1 << 18
MAX_MESSAGE_CHARACTERS = 240
_FORBIDDEN = re.compile('[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]')


def is_name(text: str) -> bool:
    """Return whether `text` may name a tool or an argument."""
    return NAME_PATTERN.fullmatch(text) is not None


def validate_call(declaration: ToolDeclaration, arguments: Any) -> list[str]:
    """Return one sentence per violation, empty when the arguments fit the declaration."""
    if not isinstance(arguments, Mapping):
        return [f'arguments must be an object, found {type(arguments).__name__}']
    return check_plain(arguments) or validate_value(declaration.parameters, arguments)


def check_plain(value: Any, place: str = 'arguments') -> list[str]:
    """Return one sentence per part that is no plain, finite, printable value."""
    return list(islice(_check_values(value, place, 0), MAX_MESSAGES))


def validate_value(schema: Mapping[str, Any], value: Any) -> list[str]:
    """Return one sentence per violation of a schema; the value must be plain and finite."""
    messages = []
    for error in _VALIDATOR(schema).iter_errors(value):
        place = '.'.join(str(part) for part in error.absolute_path)
        text = error.message
        if len(text) > MAX_MESSAGE_CHARACTERS:
            # The value comes first in jsonschema's sentences, what is wrong with it last.
            text = f'{text[:MAX_MESSAGE_CHARACTERS - 80]}…{text[-80:]}'
        messages.append(f'{place}: {text}' if place else text)
        if len(messages) == MAX_MESSAGES:
            break
    return sorted(messages)


def check_schema(schema: Mapping[str, Any], place: str) -> None:
    """Raise GrammarError if this is no JSON Schema 2020-12 of moderate size."""
    try:
        text = json.dumps(schema, default=dict, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise GrammarError(f'{place}: the schema is no plain JSON: {error}') from error
    if len(text) > MAX_SCHEMA_CHARACTERS:
        raise GrammarError(
            f'{place}: a schema of {len(text)} characters; the limit is {MAX_SCHEMA_CHARACTERS}')
    if problem := _schema_problem(text):
        raise GrammarError(f'{place}{problem}')


@lru_cache(maxsize=512)
def _schema_problem(text: str) -> str:
    # Checking against the metaschema takes longer than compiling; tools repeat over grammars.
    try:
        Draft202012Validator.check_schema(json.loads(text))
    except SchemaError as error:
        place = ''.join(f'.{part}' for part in error.absolute_path)
        return f'{place}: not a JSON Schema: {error.message[:MAX_MESSAGE_CHARACTERS]}'
    except RecursionError:
        return ': the schema is nested too deeply'
    return ''


def _check_values(value: Any, place: str, depth: int) -> Iterator[str]:
    """Yield what no schema expresses; the place of a value in its container leads the text."""
    if depth > MAX_DEPTH:
        yield f'{place}: nested deeper than {MAX_DEPTH}'
    elif value is None or isinstance(value, bool):
        return
    elif isinstance(value, (int, float)):
        if not _is_finite(value):
            yield f'{place}: a number must be finite'
    elif isinstance(value, str):
        if found := _FORBIDDEN.search(value):
            yield f'{place}: text holds the control character U+{ord(found.group()):04X}'
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str) or not is_name(key):
                yield f'{place}: {str(key)[:64]!r} is not a name'
            else:
                yield from _check_values(item, key, depth + 1)
    elif isinstance(value, list):
        for idx, item in enumerate(value):
            yield from _check_values(item, f'{place}[{idx}]', depth + 1)
    else:
        yield f'{place}: {type(value).__name__} is no JSON value'


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _check_type(
    validator: Any, types: str | Sequence[str], instance: Any, schema: Mapping[str, Any],
) -> Iterator[ValidationError]:
    if instance is None and schema.get('nullable') is True:
        return
    allowed = [types] if isinstance(types, str) else list(types)
    if not any(validator.is_type(instance, name) for name in allowed):
        found = 'null' if instance is None else type(instance).__name__
        yield ValidationError(f'{_short(instance)} is {found}, not {" or ".join(allowed)}')


def _check_multiple(
    validator: Any, step: float, instance: Any, schema: Mapping[str, Any],
) -> Iterator[ValidationError]:
    if validator.is_type(instance, 'number') and not is_multiple(instance, step):
        yield ValidationError(f'{instance} is not a multiple of {step}')


def is_multiple(value: float, step: float) -> bool:
    """Return whether `value` is a multiple of `step`, both read as the decimals they print as."""
    remainder = to_decimal(value) / to_decimal(step)
    return remainder == remainder.to_integral_value()


def to_decimal(value: float) -> Decimal:
    """Return a number as the decimal that it prints as, so 0.1 is a tenth."""
    return Decimal(repr(value))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + '…'


_VALIDATOR: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    validators={'type': _check_type, 'multipleOf': _check_multiple},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        'integer', lambda _, value: isinstance(value, int) and not isinstance(value, bool),
    ).redefine('object', lambda _, value: isinstance(value, Mapping)),
)
