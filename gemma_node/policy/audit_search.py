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

"""Finds decisions in an audit log, with the events of their calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import re
from typing import Any

from gemma_node.errors import ConfigError
from gemma_node.policy.audit import audit_files
from gemma_node.policy.audit import read_records

_SHORTEST = 4


def decisions(path: Path) -> Iterator[dict[str, Any]]:
    """Yield every decision of a log, oldest first, each with its `start` record."""
    for file in audit_files(path):
        for record in read_records(file):
            if record.get('kind') == 'decision':
                yield record


def find_decision(path: Path, prefix: str) -> dict[str, Any]:
    """
    Return the one decision whose id starts so, its later records under `events`.

    Raises ConfigError when there is none, or more than one.
    """
    wanted = prefix.replace('-', '').lower()
    if re.fullmatch(rf'[0-9a-f]{{{_SHORTEST},32}}', wanted) is None:
        raise ConfigError(f'{prefix!r} is no decision id; give at least its first {_SHORTEST} '
                          'hex digits')
    found: dict[str, dict[str, Any]] = {}
    events: dict[str, list[dict[str, Any]]] = {}
    for file in audit_files(path):
        for record in read_records(file):
            if record.get('kind') == 'decision' and record['id'].startswith(wanted):
                found[record['id']] = record
            elif record.get('decision_id', '').startswith(wanted):
                events.setdefault(record['decision_id'], []).append(record)
    if not found:
        raise ConfigError(f'{path} has no decision {prefix}')
    if len(found) > 1:
        raise ConfigError(f'{len(found)} decisions start with {prefix}: '
                          f'{", ".join(list(found)[:4])}; give more of the id')
    (identifier, record), = found.items()
    return {**record, 'events': events.get(identifier, [])}
