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
The text of one interface as fields and constants, by rosidl's own parser.

Knows one text at a time: nested types stay names. Finds no files, imports no message type.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from dataclasses import replace
import io
from itertools import pairwise
import re
from typing import Any

from gemma_node.errors import ConfigError
from gemma_node.tools.interface_schema.enums import enumerations

KINDS = ('action', 'srv', 'msg')
PARTS: Mapping[str, tuple[str, ...]] = {
    'action': ('goal', 'result', 'feedback'), 'srv': ('request', 'response'), 'msg': ('message',)}
MAX_COMMENT = 240
_SEPARATOR = '---'
# ROS 1 wrote these two as primitives; recordings of it still do.
_TIMES: Mapping[str, str] = {
    'time': 'builtin_interfaces/Time', 'duration': 'builtin_interfaces/Duration'}
_CONTROL = re.compile('[\x00-\x1f\x7f\ud800-\udfff]+')
_LICENCE = re.compile(r'copyright|licen[cs]ed? ', re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """
    One field of an interface; `base_type` is a primitive or PKG/NAME, sizes 0 = no bound.

    `names` are the constants that its value is one of, where the text makes that clear.
    """

    name: str
    base_type: str
    is_array: bool = False
    array_size: int = 0
    is_fixed: bool = False
    string_bound: int = 0
    unit: str = ''
    comment: str = ''
    has_default: bool = False
    default: Any = None
    names: Mapping[str, Any] = dataclass_field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Fields and constants of a message, or of one part of a service or action."""

    fields: Mapping[str, Field]
    constants: Mapping[str, Any]
    comment: str = ''


def parse_interface(interface_type: str, text: str, place: str) -> tuple[Section, ...] | None:
    """
    Return the parts of PKG/KIND/NAME in the order of `PARTS`, or None without rosidl's parser.

    Raises ConfigError naming `place` when the text is no interface.
    """
    try:
        from rosidl_adapter import parser
    except ImportError:
        return None
    package, kind, name = interface_type.split('/')
    complaints = io.StringIO()
    try:
        # The parser prints the line that it refuses.
        with redirect_stderr(complaints):
            if kind == 'action':
                action = parser.parse_action_string(package, name, text)
                specs = [action.goal, action.result, action.feedback]
            elif kind == 'srv':
                service = parser.parse_service_string(package, name, text)
                specs = [service.request, service.response]
            else:
                specs = [parser.parse_message_string(package, name, text)]
    except (parser.InvalidSpecification, parser.InvalidValue, AssertionError, LookupError,
            NameError, NotImplementedError, TypeError, ValueError) as error:
        reason = ' '.join((complaints.getvalue() or str(error)).split())
        raise ConfigError(f'{interface_type}: {place} cannot be parsed: {reason}') from error
    texts = _split(text) if kind != 'msg' else [text]
    return tuple(_section(spec, part) for spec, part in zip(specs, texts, strict=True))


def tidy(text: str) -> str:
    """Return a comment as one line without control characters, cut where it gets long."""
    line = ' '.join(_CONTROL.sub(' ', text).split())
    if len(line) <= MAX_COMMENT:
        return line
    return line[:MAX_COMMENT].rsplit(' ', 1)[0] + ' …'


def _split(text: str) -> list[str]:
    parts: list[list[str]] = [[]]
    for line in text.splitlines():
        if line == _SEPARATOR:
            parts.append([])
        else:
            parts[-1].append(line)
    return ['\n'.join(part) for part in parts]


def _section(spec: Any, text: str) -> Section:
    apart = _set_apart(text)
    fields = {parsed.name: _field(parsed) for parsed in spec.fields}
    fields = {name: replace(field, comment='') if name in apart else field
              for name, field in fields.items()}
    constants = {constant.name: constant.value for constant in spec.constants}
    found = enumerations(
        {name: field.base_type for name, field in fields.items() if not field.is_array},
        {constant.name: (constant.type, constant.value) for constant in spec.constants},
        _order(text))
    comment = ' '.join(spec.annotations.get('comment', ()))
    return Section(
        fields={name: replace(field, names=found.get(name, {})) for name, field in fields.items()},
        constants=constants, comment='' if _LICENCE.search(comment) else tidy(comment))


def _field(parsed: Any) -> Field:
    kind = parsed.type
    unit = parsed.annotations.get('unit', '')
    comment = tidy(' '.join(parsed.annotations.get('comment', ())))
    if len(unit.split()) != 1:
        # Brackets around words are part of the sentence, which the parser cut them from.
        comment, unit = f'{comment} [{tidy(unit)}]' if unit else comment, ''
    base_type = f'{kind.pkg_name}/{kind.type}' if kind.pkg_name else kind.type
    return Field(
        name=parsed.name,
        base_type=_TIMES.get(base_type, base_type),
        is_array=bool(kind.is_array),
        array_size=kind.array_size or 0,
        is_fixed=bool(kind.is_array and kind.array_size and not kind.is_upper_bound),
        string_bound=kind.string_upper_bound or 0,
        unit=tidy(unit),
        comment=comment,
        has_default=parsed.default_value is not None,
        default=parsed.default_value,
    )


def _set_apart(text: str) -> set[str]:
    """
    Return the fields after an empty line that have no comment in their own line.

    The parser gives them the comment above the empty line, which speaks of the whole message.
    """
    lines = text.replace('\t', ' ').splitlines()
    return {name for above, line in pairwise(lines) if not above.strip() and '#' not in line
            for name in _order(line)}


def _order(text: str) -> list[str]:
    """Return the names of fields and constants as written; the parser keeps them apart."""
    names = []
    for line in text.replace('\t', ' ').splitlines():
        _, _, rest = line.partition('#')[0].rstrip().partition(' ')
        name = rest.lstrip().partition('=')[0].split()
        names += name[:1]
    return names
