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

"""Makes up arguments that fit a declaration, the same every time. For showing, not for use."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

from gemma_node.errors import ConfigError
from gemma_node.tools.validate import to_decimal
from gemma_node.tools.validate import validate_value

_WORDS = 'text of some length '


def sample_arguments(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments for every property; raises ConfigError where none can be made up."""
    arguments: dict[str, Any] = {
        name: _sample(schema) for name, schema in parameters['properties'].items()}
    if problems := validate_value(parameters, arguments):
        raise ConfigError(f'no sample fits the declaration: {problems[0]}; give examples')
    return arguments


def _sample(schema: Mapping[str, Any]) -> Any:
    if 'const' in schema:
        return schema['const']
    if 'enum' in schema:
        return schema['enum'][0]
    if 'default' in schema:
        return schema['default']
    kind = schema['type']
    if kind in ('integer', 'number'):
        return _number(schema)
    if kind == 'boolean':
        return True
    if kind == 'array':
        return [_sample(schema['items'])] * max(1, schema.get('minItems', 1))
    if kind == 'object':
        return {name: _sample(inner) for name, inner in schema['properties'].items()}
    longest = schema.get('maxLength', 400)
    text = (_WORDS * (1 + schema.get('minLength', 1) // len(_WORDS)))[:longest]
    return text[:max(schema.get('minLength', 1), 4)]


def _number(schema: Mapping[str, Any]) -> int | float:
    """Return 1, or the value within the bounds that is closest to it, on the step's grid."""
    is_whole = schema['type'] == 'integer'
    step = to_decimal(schema.get('multipleOf', 1 if is_whole else 0.01))
    low = schema.get('minimum', schema.get('exclusiveMinimum', -math.inf))
    high = schema.get('maximum', schema.get('exclusiveMaximum', math.inf))
    value = to_decimal(max(low, min(high, 1))) / step
    count = math.ceil(value) if low > 1 else math.floor(value)
    if count * step <= to_decimal(low) and 'exclusiveMinimum' in schema:
        count += 1
    if math.isfinite(high) and count * step >= to_decimal(high) and 'exclusiveMaximum' in schema:
        count -= 1
    found = count * step
    return int(found) if is_whole or found == int(found) else float(found)
