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
What a check of a receipt is.

To add one, write a class with the members of `Check` and put an instance into
`gemma_node.receipts.registry.CHECKS`. A check measures something of what serves against bounds,
and names the faults that must turn it red; the receipt runs both and passes only if every check
is green and every planted fault was caught.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import Any
from typing import Protocol

from gemma_node.receipts.bench import Bench


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one run of a check measured; plain values only, for JSON."""

    passed: bool
    measured: Mapping[str, Any]
    bounds: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """
    A fault that must turn the check red, and the check with it.

    `planted_in` says which side has it: what serves, or the reference where a device's kernels
    could not be changed.
    """

    fault: str
    planted_in: str
    run: Callable[[], Finding]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRun:
    """Something that could not be run here, and why."""

    what: str
    why: str


class Check(Protocol):
    """One check. It is stateless: what is expensive and shared is kept by the bench."""

    @property
    def name(self) -> str:
        """The key of its result."""

    @property
    def title(self) -> str:
        """What it shows, in one line."""

    def lacks(self, bench: Bench) -> str:
        """Return why it cannot run on this bench, or ''."""

    def run(self, bench: Bench) -> Finding:
        """Measure."""

    def mutations(self, bench: Bench) -> Iterator[Mutation | NotRun]:
        """Yield the faults that must turn it red; those that make no sense here as NotRun."""
