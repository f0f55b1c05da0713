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
The demo's script: what the operator says, and what counts as a sensible answer.

Knows nothing of ROS: decisions are judged as plain `Verdict` values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
import math
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from gemma_node.errors import ConfigError

SENTENCES = Path(__file__).with_name('sentences.yaml')
_KEYS = {'robot', 'say', 'accept', 'wait', 'silence', 'stop_after_s', 'after_s'}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing the operator does; `accept` lists the sensible answers (empty: anything)."""

    robot: str
    say: str
    accept: tuple[Mapping[str, Any], ...] = ()
    wait: str = 'decision'
    silence: Mapping[str, Any] = field(default_factory=dict)
    stop_after_s: float = 0.0
    after_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a robot decided: outcome and error by name, and its calls."""

    outcome: str
    error: str = 'NONE'
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()


def load_steps(path: Path = SENTENCES) -> tuple[Step, ...]:
    """Read a script; raises ConfigError naming the step and the key."""
    content = YAML(typ='safe', pure=True).load(path.read_text(encoding='utf-8'))
    steps = []
    for index, entry in enumerate(content['steps']):
        unknown = set(entry) - _KEYS
        if unknown:
            raise ConfigError(
                f'{path.name}, step {index}: unknown key {sorted(unknown)[0]!r}; '
                f'known are {", ".join(sorted(_KEYS))}'
            )
        steps.append(Step(**{**entry, 'accept': tuple(entry.get('accept', ()))}))
    return tuple(steps)


def is_sensible(step: Step, given: Given) -> bool:
    """Return whether a decision is one of those the step accepts."""
    return any(_matches(wanted, given) for wanted in step.accept) or not step.accept


def _matches(wanted: Mapping[str, Any], given: Given) -> bool:
    if 'error' in wanted:
        return bool(given.error == wanted['error'])
    if 'outcome' in wanted:
        return bool(given.outcome == wanted['outcome'])
    if not given.calls or given.calls[0][0] != wanted['tool'] or given.error != 'NONE':
        return False
    arguments = given.calls[0][1]
    return all(
        key in arguments and _equal(value, arguments[key])
        for key, value in wanted.get('arguments', {}).items()
    )


def _equal(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, (int, float)) and isinstance(found, (int, float)):
        return math.isclose(wanted, found, abs_tol=0.01)
    return _plain(wanted) == _plain(found)


def _plain(value: Any) -> str:
    words = str(value).lower().strip(' .!?"').split()
    return ' '.join(word for word in words if word not in ('the', 'a', 'an'))
