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
Test sets from files. A set is read whole or refused.

The error names the line, the field, and what was expected there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from gemma_node.errors import ConfigError
from gemma_node.evaluation.cases import Case
from gemma_node.evaluation.checks import check_case


def read_cases(path: Path) -> tuple[Case, ...]:
    """Read a set; raises ConfigError naming the line and the field of the first mistake."""
    cases: dict[str, Case] = {}
    twins: list[tuple[int, str]] = []
    for line_number, line in _lines(path):
        place = f'{path} line {line_number}'
        try:
            case = msgspec.json.decode(line, type=Case)
        except msgspec.ValidationError as error:
            text, _, where = str(error).partition(' - at ')
            field = where.strip('`').removeprefix('$').lstrip('.') or 'the case'
            raise ConfigError(f'{place}, {field}: {text}; see docs/eval_format.md') from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f'{place}: expected one JSON object: {error}') from error
        try:
            check_case(case)
        except ConfigError as error:
            raise ConfigError(f'{place}, {error}') from error
        if case.id in cases:
            raise ConfigError(f'{place}, id: {case.id!r} is the id of an earlier case too')
        cases[case.id] = case
        twins.append((line_number, case.twin))
    for line_number, twin in twins:
        if twin and twin not in cases:
            raise ConfigError(f'{path} line {line_number}, twin: no case has the id {twin!r}')
    if not cases:
        raise ConfigError(f'{path} holds no case; a set is JSON lines, one case a line')
    return tuple(cases.values())


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    if not path.is_file():
        raise ConfigError(f'there is no test set at {path}')
    with path.open('rb') as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line
