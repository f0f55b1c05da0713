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
import os

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
# With the space after each column.
FULL_WIDTH = sum(WIDTHS.values()) + len(WIDTHS)
MAX_SHOWN = 160
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
    """
    Prints rows as they come: under one header where there is room, else a few lines each.

    A pipe has room, unless COLUMNS says how wide it is read.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._has_header = False
        if not console.is_terminal and 'COLUMNS' not in os.environ:
            console.width = FULL_WIDTH

    def add(self, row: Row) -> None:
        """Print one row."""
        style = STYLES.get(row.outcome, 'red')
        if self._console.width < FULL_WIDTH:
            self._console.print(_stacked(row), style=style)
            return
        table = Table(show_header=not self._has_header, box=None, padding=(0, 1, 0, 0))
        for name, width in WIDTHS.items():
            table.add_column(name, width=width, overflow='fold')
        self._has_header = True
        table.add_row(*(escape(shown(getattr(row, name))) for name in WIDTHS))
        self._console.print(table, style=style)

    def note(self, text: str) -> None:
        """Print a line between rows."""
        self._console.print(f'       {shown(text)}', style='dim', markup=False, highlight=False)


def _stacked(row: Row) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=WIDTHS['time'])
    grid.add_column(overflow='fold')
    lines = (
        f'{row.robot}: {shown(row.asked)}',
        f'{shown(row.decision)} ({row.verdict})',
        f'{shown(row.observation) or "no input"}; {row.ms} ms, {row.cached} tokens cached',
    )
    for time, line in zip((row.time, '', ''), lines, strict=True):
        grid.add_row(time, escape(line))
    return grid


def shown(text: str) -> str:
    """Return text cut to what a row holds, without characters that would steer a terminal."""
    cut = text if len(text) <= MAX_SHOWN else f'{text[:MAX_SHOWN]}…'
    return ''.join(c if c.isprintable() else ' ' if c.isspace() else '\ufffd' for c in cut)


@dataclass
class Tally:
    """What the summary counts."""

    decisions: int = 0
    asked: int = 0
    judged: int = 0
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
        judged = f', {self.sensible} of {self.judged} sensible' if self.judged else ''
        return [
            f'{self.decisions} decisions, {self.asked} of them answers to a sentence{judged}',
            f'{self.valid} of {self.calls} tool calls fit their schema',
            f'{self.executed} goals executed, {self.canceled} cancelled, '
            f'{self.stale} refused for a stale input',
            f'{self.follow_ups} decisions followed from a tool result',
            f'{self.unanswered} sentences without a decision',
        ]
