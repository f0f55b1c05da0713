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

"""The verbs that read an audit log: `rerun` does decisions again, `explain` shows one."""

from __future__ import annotations

import argparse
import datetime
import json
import math
from pathlib import Path
import re
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gemma_node.core import ErrorCode
from gemma_node.core import InputState
from gemma_node.core import Mode
from gemma_node.core import Outcome
from gemma_node.errors import ConfigError
from gemma_node.errors import GemmaNodeError

EMBEDDED_CHECKPOINT = Path(__file__).resolve().parent / 'assets' / 'demo'
_CONTROL = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f]')
_VERDICTS = ('UNKNOWN', 'WOULD_SEND', 'NEEDS_APPROVAL', 'SENT', 'REFUSED')
_EVENT_STATES = ('UNKNOWN', 'AWAITING_APPROVAL', 'SENT', 'ACCEPTED', 'EXECUTING', 'CANCELING',
                 'SUCCEEDED', 'ABORTED', 'CANCELED', 'REJECTED', 'EXPIRED', 'ORPHANED')


def add_audit(verbs: Any) -> None:
    """Add both verbs to the command."""
    rerun = verbs.add_parser(
        'rerun',
        help='do audited decisions again and compare the tokens',
        description='Give the model the very prompt of an audited decision again: the same '
        'tokens, or which one differs first. Exit code 1 when any differs.',
    )
    _add_log(rerun)
    rerun.add_argument('id', nargs='?', default='', metavar='ID',
                       help='decision id or its first digits')
    rerun.add_argument('--all', action='store_true', help='every decision of the log')
    rerun.add_argument('--device', default='', help='where to compute (default: as logged)')
    rerun.set_defaults(verb=_rerun)
    explain = verbs.add_parser(
        'explain',
        help='what an audited decision saw, said and was allowed',
        description='Show an audited decision: prompt, inputs with their ages, probabilities, '
        'verdicts, and what became of its calls.',
    )
    _add_log(explain)
    explain.add_argument('id', metavar='ID', help='decision id or its first digits')
    explain.set_defaults(verb=_explain)


def _add_log(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('audit', type=Path, metavar='AUDIT', help='folder or file of the log')
    verb.add_argument('--model', default='', metavar='FOLDER',
                      help='checkpoint folder (default: as logged)')
    verb.add_argument('--json', action='store_true', help='print JSON')


def _why_none(path: Path, found: list[dict[str, Any]]) -> str:
    if not found:
        return (f'{path} holds no whole decision: nothing was decided yet, or the file is cut '
                'short')
    if not any(record['start'] for record in found):
        return (f"{path} has decisions, but not the 'start' record before them, which says what "
                'made them; give a file as the node wrote it')
    return 'the model answered none of these decisions, so there is nothing to do again'


def _rerun(arguments: argparse.Namespace, console: Console) -> int:
    from gemma_node.evaluation.rerun import has_trace
    from gemma_node.evaluation.rerun import Reruns
    from gemma_node.policy.audit_search import decisions
    from gemma_node.policy.audit_search import find_decision

    if arguments.all == bool(arguments.id):
        raise ConfigError('give the ID of one decision, or --all')
    if arguments.all:
        found = list(decisions(arguments.audit))
    else:
        found = [find_decision(arguments.audit, arguments.id)]
    chosen = [record for record in found if has_trace(record)]
    if not chosen:
        raise ConfigError(_why_none(arguments.audit, found))
    results: list[Any] = []
    differences: tuple[str, ...] = ()
    groups: dict[str, list[dict[str, Any]]] = {}
    for record in chosen:
        groups.setdefault(json.dumps(record['start'], sort_keys=True), []).append(record)
    with Console(stderr=True).status('reading the checkpoint') as status:
        for group in groups.values():
            reruns = Reruns(group[0]['start'], model=arguments.model, device=arguments.device)
            differences = tuple(dict.fromkeys((*differences, *reruns.differences)))
            for result in reruns.run(group):
                results.append(result)
                status.update(f'{len(results)} of {len(chosen)} decisions')
    unequal = [each for each in results if not each.is_equal]
    if arguments.json:
        _print_json(console, {
            'decisions': len(results), 'unequal': len(unequal), 'differences': differences,
            'results': [{'id': each.id, 'equal': each.is_equal,
                         'first_difference': each.first_difference, 'was': each.was,
                         'now': each.now, 'note': each.note} for each in results]})
        return 1 if unequal else 0
    for each in unequal:
        what = each.note or (f'token {each.first_difference} differs: was {each.was}, '
                             f'is {each.now}')
        console.print(escape(f'{each.id}: {what}'), highlight=False, soft_wrap=True)
    for sentence in differences:
        console.print(escape(f'not as logged: {sentence}'), highlight=False, soft_wrap=True)
    console.print(f'{len(results)} decisions done again, {len(unequal)} unequal',
                  highlight=False)
    return 1 if unequal else 0


def _explain(arguments: argparse.Namespace, console: Console) -> int:
    from gemma_node.policy.audit_search import find_decision

    record = find_decision(arguments.audit, arguments.id)
    texts = _texts(record, arguments.model)
    if arguments.json:
        del record['start']
        _print_json(console, {**record, **texts})
        return 0
    try:
        page = _page(record, texts)
    except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
        # Ours are written whole; what lacks a part was written by another version or changed.
        raise ConfigError(f'decision {record["id"]} cannot be shown as a page: its record is not '
                          f'as this version writes it ({type(error).__name__}: {error}); --json '
                          'prints it as it is') from error
    for table in page:
        console.print(table)
    return 0


def _page(record: dict[str, Any], texts: dict[str, str]) -> list[Table]:
    """Return what a person is shown of a decision."""
    answer, request = record['answer'], record['request']
    moment = datetime.datetime.fromtimestamp(record['time_ns'] / 1e9, datetime.timezone.utc)
    code = ErrorCode(answer['error_code'])
    lines = {
        'decision': record['id'],
        'time': f'{moment:%Y-%m-%d %H:%M:%S.%f} UTC',
        'robot': f'{record["robot"]}, mode {Mode(record["mode"]).name}',
        'asked': f'{request["text"]} ({request["trigger_source"] or "no source"})',
        'outcome': Outcome(answer['outcome']).name + (
            f' {code.name}: {answer["error_msg"]}' if code else ''),
        'said': answer['text'],
        'tool probability': _number(answer['tool_probability']),
        'least grammar mass': _number(answer['grammar_mass_min']),
        'tokens': f'{answer["prompt_tokens"]} prompt ({answer["cached_tokens"]} cached), '
                  f'{answer["completion_tokens"]} written',
        **texts,
    }
    table = Table(box=None, show_header=False)
    table.add_column()
    table.add_column(overflow='fold')
    for name, value in lines.items():
        if value:
            table.add_row(name, _shown(value))
    return [table, *_rows('input', ('age s', 'limit s', 'state', 'tokens', 'topic', 'digest'), [
        (each['name'], _number(each['age_s']), _number(each['max_age_s']),
         InputState(each['state']).name, each['tokens'], each['topic'], each['digest'][:12])
        for each in record['inputs']]),
        *_rows('call', ('arguments', 'probability', 'verdict', 'code', 'why'), [
            (each['name'], json.dumps(each['arguments']), _number(each['probability']),
             _VERDICTS[each['verdict']], ErrorCode(each['code']).name,
             '; '.join(each['violations'])) for each in record['calls']]),
        *_rows('event', ('state', 'after s', 'code', 'message', 'cause'), [
            (each['name'], _EVENT_STATES[each['state']], _number(each['elapsed']),
             ErrorCode(each['error_code']).name, each['error_msg'], each['cause'])
            for each in record['events'] if each['kind'] == 'event']),
        *_rows('operator', ('what', 'reason'), [
            (each['operator_name'] or 'somebody', each['what'], each['reason'])
            for each in record['events'] if each['kind'] == 'operator'])]


def _texts(record: dict[str, Any], model: str) -> dict[str, str]:
    """Return prompt and completion as text, or why they cannot be shown."""
    trace = record.get('trace')
    if not trace:
        return {}
    from gemma_node.text.tokenizer import Tokenizer

    path = model or record['start'].get('settings', {}).get('model_path', '')
    folder = Path(path).expanduser() if path else EMBEDDED_CHECKPOINT
    try:
        tokenizer = Tokenizer.from_folder(folder)
    except GemmaNodeError as error:
        return {'prompt': f'{len(trace["prompt_ids"])} ids; no tokenizer: {error}'}
    return {'prompt': tokenizer.decode(trace['prompt_ids']),
            'completion': tokenizer.decode(trace.get('output_ids', ()))}


def _rows(
    first: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]
) -> list[Table]:
    if not rows:
        return []
    table = Table(first, *columns, box=None)
    for row in rows:
        table.add_row(*(_shown(value) for value in row))
    return [table]


def _shown(value: Any) -> str:
    """Return text that no terminal obeys: it came from topics and servers."""
    return escape(_CONTROL.sub(lambda found: f'\\x{ord(found.group()):02x}', str(value)))


def _number(value: float | None) -> str:
    """Return a number as written in tables; null is what the log says of nan and inf."""
    return '' if value is None or not math.isfinite(value) else f'{value:.4g}'


def _print_json(console: Console, value: Any) -> None:
    console.print(json.dumps(value, indent=2), markup=False, highlight=False, soft_wrap=True)
