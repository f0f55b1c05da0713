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

"""The demo's live table and summary, written with rich."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.table import Table

WIDTHS = {
    'time': 6,
    'robot': 5,
    'asked': 34,
    'observation': 27,
    'decision': 38,
    'verdict': 18,
    'ms': 5,
    'cached': 9,
}
STYLES = {'TOOL_CALL': 'green', 'REPLY': 'cyan', 'NO_ACTION': 'blue', 'REFUSED': 'yellow'}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table; `outcome` only picks the colour."""

    time: str
    robot: str
    asked: str
    observation: str
    decision: str
    verdict: str
    ms: str
    cached: str
    outcome: str = ''


class LiveTable:
    """Prints rows as they come, under one header, so that a pipe and a terminal read alike."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._has_header = False

    def add(self, row: Row) -> None:
        """Print one row."""
        table = Table(show_header=not self._has_header, box=None, pad_edge=False)
        for name, width in WIDTHS.items():
            table.add_column(name, width=width, overflow='fold')
        self._has_header = True
        cells = [escape(getattr(row, name)) for name in WIDTHS]
        table.add_row(*cells, style=STYLES.get(row.outcome, 'red'))
        self._console.print(table)

    def note(self, text: str) -> None:
        """Print a line between rows."""
        self._console.print(f'       {text}', style='dim', markup=False, highlight=False)


@dataclass
class Tally:
    """What the summary counts."""

    decisions: int = 0
    asked: int = 0
    sensible: int = 0
    valid: int = 0
    calls: int = 0
    executed: int = 0
    stale: int = 0
    canceled: int = 0
    follow_ups: int = 0
    unanswered: int = 0

    def lines(self) -> list[str]:
        """Return the summary, one sentence a line."""
        return [
            f'{self.decisions} decisions, {self.asked} of them answers to a sentence, '
            f'{self.sensible} of those sensible',
            f'{self.valid} of {self.calls} tool calls fit their schema',
            f'{self.executed} goals executed, {self.canceled} cancelled, '
            f'{self.stale} refused for a stale input',
            f'{self.follow_ups} decisions followed from a tool result',
            f'{self.unanswered} sentences without a decision',
        ]
