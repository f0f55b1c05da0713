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
The report of a scored set: one HTML file that needs nothing else, pictures as inline SVG.

Every text of a case, an answer or a prompt is data here and is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from html import escape
import json
from typing import Any

from gemma_node.evaluation.cases import Case
from gemma_node.evaluation.cases import Expected
from gemma_node.evaluation.scoring import Got
from gemma_node.evaluation.scoring import Scored
from gemma_node.evaluation.summary import tool_confusion

_STYLE = """
body{font:14px/1.4 system-ui,sans-serif;margin:2em auto;max-width:75em;color:#222}
table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .7em;text-align:left;
vertical-align:top;border-bottom:1px solid #ddd}td.n{text-align:right}
.ok{color:#176d2c}.args{color:#9a5b00}.bad{color:#b00020}pre{white-space:pre-wrap;
background:#f6f6f6;padding:.7em;max-width:70em}code{white-space:pre-wrap}
"""
_CELL, _LEFT, _TOP = 46, 210, 150


def write_report(title: str, summary: Mapping[str, Any], scored: Sequence[Scored]) -> str:
    """Return the page."""
    return ''.join((
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8">',
        f'<title>{escape(title)}</title><style>{_STYLE}</style><h1>{escape(title)}</h1>',
        _figures(summary),
        '<h2>Kinds</h2>', confusion_svg(summary['kinds']),
        '<h2>Tools asked for most</h2>', confusion_svg(tool_confusion(scored)),
        '<h2>By kind</h2>', _rate_table(summary['by_kind']),
        '<h2>By category</h2>', _rate_table(summary['by_category']),
        '<h2>Cases</h2>', _case_table(scored),
        '</html>\n',
    ))


def confusion_svg(table: Mapping[str, Mapping[str, int]]) -> str:
    """Return a matrix as a picture: rows expected, columns what came, shaded by share of row."""
    rows = list(table)
    columns = list(next(iter(table.values()), {}))
    width, height = _LEFT + _CELL * len(columns) + 150, _TOP + _CELL * len(rows) // 2 + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12" role="img" aria-label="confusion matrix">'
    ]
    for index, name in enumerate(columns):
        x = _LEFT + _CELL * index + _CELL // 2
        parts.append(
            f'<text x="{x}" y="{_TOP - 6}" transform="rotate(-45 {x} {_TOP - 6})">'
            f'{escape(name)}</text>'
        )
    for index, name in enumerate(rows):
        y = _TOP + _CELL * index // 2
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 16}" text-anchor="end">{escape(name)}</text>')
        total = sum(table[name].values()) or 1
        for column, key in enumerate(columns):
            count = table[name][key]
            is_right = key == name or (name == 'refuse' and key in ('ask', 'reply'))
            parts.append(_cell(_LEFT + _CELL * column, y, count, count / total, is_right))
    return ''.join((*parts, '</svg>'))


def _cell(x: int, y: int, count: int, share: float, is_right: bool) -> str:
    colour = '23,109,44' if is_right else '176,0,32'
    dark = 'fill="#fff"' if share > 0.55 else ''
    text = f'<text x="{x + _CELL // 2}" y="{y + 16}" text-anchor="middle" {dark}>{count}</text>'
    return (
        f'<rect x="{x}" y="{y}" width="{_CELL - 1}" height="{_CELL // 2 - 1}" '
        f'fill="rgba({colour},{share:.3f})" stroke="#ccc"/>{text if count else ""}'
    )


def _figures(summary: Mapping[str, Any]) -> str:
    injected, ranking = summary['injections'], summary['tool_probability']
    lines: list[tuple[str, Any]] = [
        ('cases', summary['cases']),
        ('right tool, %', summary['tool_percent']),
        ('all of it right, %', summary['exact_percent']),
        ('made-up tools, right tool %', summary['made_up']['tool_percent']),
        ('no_action and refusals, %', summary['no_action_and_refuse']['tool_percent']),
        ('state-dependent, all right %', summary['state_dependent']['exact_percent']),
        ('injections that changed the decision, %',
         f'{injected["changed_percent"]} of {injected["pairs"]}'),
        ('invalid answers, %', summary['invalid_percent']),
        ('AUROC of tool_probability (right tool)', ranking['auroc_tool']),
        ('AUROC of tool_probability (all right)', ranking['auroc_exact']),
        *((key, value) for key, value in summary.get('run', {}).items()),
    ]
    rows = (f'<tr><td>{escape(name)}<td class=n>{escape(str(value))}' for name, value in lines)
    return f'<table>{"".join(rows)}</table>'


def _rate_table(groups: Mapping[str, Mapping[str, Any]]) -> str:
    rows = (
        f'<tr><td>{escape(name)}<td class=n>{row["cases"]}<td class=n>{row["tool_percent"]}'
        f'<td class=n>{row["exact_percent"]}'
        for name, row in groups.items()
    )
    return f'<table><tr><th><th>cases<th>tool %<th>exact %{"".join(rows)}</table>'


def _case_table(scored: Iterable[Scored]) -> str:
    rows = []
    for each in sorted(scored, key=lambda one: (one.verdict.is_exact, one.verdict.has_tool)):
        mark, style = ('right', 'ok') if each.verdict.is_exact else ('wrong', 'bad')
        if each.verdict.has_tool and not each.verdict.is_exact:
            mark, style = 'arguments', 'args'
        rows.append(
            f'<tr><td class={style}>{mark}<td>{escape(each.case.id)}<br>'
            f'{escape(each.case.category)}<td><code>{escape(each.case.question)}</code>'
            f'<td><code>{escape(expected_text(each.case))}</code>'
            f'<td><code>{escape(got_text(each.got))}</code>'
            f'<details><summary>prompt</summary><pre>{escape(each.prompt)}</pre></details>'
        )
    return f'<table><tr><th><th>case<th>asked<th>expected<th>got{"".join(rows)}</table>'


def expected_text(case: Case) -> str:
    """Return what is right, in words."""
    if case.expect.kind == 'reply':
        return 'reply: ' + ' | '.join(case.right_texts)
    return '\nor '.join(_decision_text(each) for each in case.right)


def got_text(got: Got) -> str:
    """Return what came, in words."""
    calls = [f'{name} {json.dumps(dict(given), ensure_ascii=False)}' for name, given in got.calls]
    words = [got.text] if got.text else []
    return '\n'.join([*(calls or [f'{got.kind}:']), *words, *([got.error] if got.error else [])])


def _decision_text(expected: Expected) -> str:
    calls = [
        f'{call.name} {json.dumps(call.arguments, ensure_ascii=False)}' for call in expected.calls
    ]
    return '\n'.join(calls) or expected.kind
