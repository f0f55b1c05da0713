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
From shapes to JSON Schema 2020-12, as far as a schema can say it.

What it cannot say (the range of a float32, bytes) the conversion to a goal checks.
"""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

from gemma_node.tools.interface_schema.shape import Bytes
from gemma_node.tools.interface_schema.shape import Items
from gemma_node.tools.interface_schema.shape import Member
from gemma_node.tools.interface_schema.shape import Record
from gemma_node.tools.interface_schema.shape import Scalar
from gemma_node.tools.interface_schema.shape import Seconds
from gemma_node.tools.interface_schema.shape import Shape
from gemma_node.tools.interface_schema.values import to_json
from gemma_node.tools.interface_schema.values import WHOLE

DIALECT = 'https://json-schema.org/draft/2020-12/schema'


def schema_of(shape: Shape) -> dict[str, Any]:
    """Return the schema of a value in its JSON form; byte arrays are left out of records."""
    if isinstance(shape, Scalar):
        return _scalar(shape)
    if isinstance(shape, Seconds):
        return {'type': 'number', 'minimum': -(1 << 31), 'exclusiveMaximum': 1 << 31}
    if isinstance(shape, Items):
        schema: dict[str, Any] = {'type': 'array', 'items': schema_of(shape.item)}
        if shape.fewest:
            schema['minItems'] = shape.fewest
        if shape.most:
            schema['maxItems'] = shape.most
        return schema
    if isinstance(shape, Record):
        return _record(shape)
    raise ValueError(f'{shape.type}[] is data, which has no schema')


def document(record: Record) -> dict[str, Any]:
    """Return the schema of a whole interface, with dialect, title and the text's comment."""
    head = {'$schema': DIALECT, 'title': record.type}
    if record.comment:
        head['description'] = record.comment
    return {**head, **_record(record)}


def _scalar(shape: Scalar) -> dict[str, Any]:
    if shape.names:
        is_text = shape.type in ('string', 'wstring')
        choices = shape.names.values() if is_text else shape.names
        return {'type': 'string', 'enum': list(dict.fromkeys(choices))}
    if shape.type in WHOLE:
        low, high = WHOLE[shape.type]
        return {'type': 'integer', 'minimum': low, 'maximum': high}
    if shape.type in ('float32', 'float64'):
        return {'type': 'number'}
    if shape.type == 'bool':
        return {'type': 'boolean'}
    bound = {'maxLength': shape.bound} if shape.bound else {}
    return {'type': 'string', **bound}


def _record(record: Record) -> dict[str, Any]:
    shown = {name: member for name, member in record.members.items()
             if not isinstance(member.shape, Bytes)}
    schema: dict[str, Any] = {
        'type': 'object',
        'properties': {name: _member(member) for name, member in shown.items()},
        'required': [name for name, member in shown.items() if not member.has_default],
        'additionalProperties': False,
    }
    if hidden := [f'{name} ({bytes_text(member.shape)})' for name, member
                  in record.members.items() if isinstance(member.shape, Bytes)]:
        schema['$comment'] = f'left out, because no call holds bytes: {", ".join(hidden)}'
    return schema


def bytes_text(shape: Bytes) -> str:
    """Return the type of a byte array as interfaces write it."""
    size = str(shape.most or '')
    return f'{shape.type}[{size if shape.fewest or not size else "<=" + size}]'


def _member(member: Member) -> dict[str, Any]:
    schema = schema_of(member.shape)
    unit = member.unit or ('s' if isinstance(member.shape, Seconds) else '')
    if description := f'{member.comment}{f" ({unit})" if unit else ""}'.strip():
        schema['description'] = description
    if member.has_default and _is_finite(member.default):
        schema['default'] = to_json(member.shape, member.default)
    return schema


def _is_finite(value: Any) -> bool:
    if isinstance(value, (list, Mapping)):
        return all(_is_finite(item) for item in value)
    return not isinstance(value, float) or math.isfinite(value)
