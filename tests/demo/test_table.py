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
"""The demo's table reads well at any width, and what a robot heard cannot steer the terminal."""

import io

import pytest
from rich.console import Console

from gemma_node.demo.table import FULL_WIDTH
from gemma_node.demo.table import LiveTable
from gemma_node.demo.table import MAX_SHOWN
from gemma_node.demo.table import Row
from gemma_node.demo.table import shown
from gemma_node.demo.table import Tally

ROW = Row(
    time='12.3',
    robot='r1',
    asked='Drive to the [bold]lab[/bold]',
    observation='odom 0.1s, battery 0.5s',
    decision='go_to{"place": "lab"}',
    verdict='sent',
    ms='412',
    cached='512/640',
    outcome='TOOL_CALL',
)


def printed(width=None, rows=1, *, is_terminal=False):
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=is_terminal, color_system=None)
    table = LiveTable(console)
    for _ in range(rows):
        table.add(ROW)
    return stream.getvalue()


@pytest.fixture
def no_columns(monkeypatch):
    monkeypatch.delenv('COLUMNS', raising=False)


@pytest.mark.usefixtures('no_columns')
def test_a_pipe_gets_one_header_and_one_line_for_each_row():
    header, *lines = printed(rows=2).splitlines()
    assert header.split() == ['time', 'robot', 'asked', 'observation', 'decision', 'verdict', 'ms',
                              'cached']  # fmt: skip
    assert len(lines) == 2
    for text in (ROW.time, ROW.robot, ROW.asked, ROW.decision, ROW.verdict, ROW.ms, ROW.cached):
        assert text in lines[1]


@pytest.mark.parametrize('width', [40, 60, 80, FULL_WIDTH - 1])
def test_a_narrow_terminal_gets_every_value_within_its_width(width):
    text = printed(width, is_terminal=True)
    assert all(len(line) <= width for line in text.splitlines())
    flat = ' '.join(text.split())
    for value in (ROW.time, ROW.robot, ROW.asked, ROW.decision, ROW.verdict, ROW.ms, ROW.cached):
        assert value in flat


def test_a_wide_terminal_gets_the_table():
    assert 'observation' in printed(FULL_WIDTH, is_terminal=True)


def test_columns_says_how_wide_a_pipe_is_read(monkeypatch):
    monkeypatch.setenv('COLUMNS', '60')
    assert all(len(line) <= 60 for line in printed(60).splitlines())


def test_long_and_steering_text_is_cut_and_shown_as_text():
    assert shown('a\x1b[31mb\u202ec\nd') == 'a\ufffd[31mb\ufffdc d'
    assert len(shown('x' * 1_000_000)) == MAX_SHOWN + 1


def test_the_summary_claims_sense_only_of_what_was_judged():
    assert 'sensible' not in Tally(decisions=2, asked=1).lines()[0]
    judged = Tally(decisions=9, asked=8, judged=8, sensible=7)
    assert judged.lines()[0].endswith('7 of 8 sensible')
