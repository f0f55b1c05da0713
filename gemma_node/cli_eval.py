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


"""`gemma-node eval`: a test set asked of a checkpoint, its figures, and a report."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import hashlib
import json
from pathlib import Path
import time
from typing import Any

from rich.console import Console
from rich.table import Table

from gemma_node.errors import ConfigError
from gemma_node.replay.output import check_output
from gemma_node.replay.output import whole_file


def add_eval(verbs: Any) -> None:
    """Declare the verb."""
    verb = verbs.add_parser(
        'eval',
        help='score a checkpoint on a test set',
        description='Ask a checkpoint every case of a test set by the path that serves, and '
        'score its decisions. docs/eval_format.md describes the sets. Nothing is written before '
        'all cases are answered.',
    )
    verb.add_argument('set', type=Path, metavar='SET', help='JSON lines, one case a line')
    verb.add_argument('--checkpoint', type=Path, metavar='PATH', help='folder (default: embedded)')
    verb.add_argument('--device', choices=('cpu', 'cuda', 'xpu'), default='cpu')
    verb.add_argument('--jobs', type=_count, default=1, metavar='N', help='processes (1)')
    verb.add_argument('--check', action='store_true', help='only check the set')
    verb.add_argument('--json', action='store_true', help='print JSON')
    verb.add_argument('--report', type=Path, metavar='FILE', help='write an HTML page')
    verb.add_argument('--out', type=Path, metavar='FILE', help='write figures and answers as JSON')
    verb.add_argument('--unconstrained', action='store_true', help='without the call grammar')
    verb.add_argument('--shuffle-descriptions', type=int, metavar='SEED',
                      help="give every tool another tool's description")
    verb.add_argument('--without-observations', action='store_true', help='take them away')
    verb.add_argument('--limit', type=_count, metavar='N', help='only the first N cases')
    verb.add_argument('--category', action='append', default=[], metavar='C',
                      help='only this category and those below; may be repeated')
    verb.set_defaults(verb=run_eval)


def run_eval(arguments: argparse.Namespace, console: Console) -> int:
    """Check or score the set; return the exit code."""
    from gemma_node.evaluation.reading import read_cases

    outputs = [path for path in (arguments.report, arguments.out) if path is not None]
    for path in outputs:
        check_output(path, [arguments.set])
    if len(outputs) == 2 and outputs[0].resolve() == outputs[1].resolve():
        raise ConfigError(f'--report and --out both name {outputs[0]}')
    cases = read_cases(arguments.set)
    chosen = _choose(cases, arguments)
    if arguments.check:
        _say_checked(arguments, console, chosen)
        return 0
    result = _score(chosen, arguments)
    if arguments.report is not None:
        from gemma_node.evaluation.report import write_report

        page = write_report(f'{arguments.set.name}', result['summary'], result['scored'])
        with whole_file(arguments.report) as stream:
            stream.write(page)
    if arguments.out is not None:
        from gemma_node.evaluation.run import plain

        answers = [plain(each) for each in result['scored']]
        with whole_file(arguments.out) as stream:
            json.dump({**result['summary'], 'answers': answers}, stream, indent=1)
            stream.write('\n')
    if arguments.json:
        text = json.dumps(result['summary'], indent=2, allow_nan=False)
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    else:
        _print_summary(console, result['summary'])
    return 0


def _choose(cases: Sequence[Any], arguments: argparse.Namespace) -> tuple[Any, ...]:
    wanted = tuple(arguments.category)
    chosen = [
        case for case in cases
        if not wanted or any(f'{case.category}/'.startswith(f'{each}/') for each in wanted)
    ]
    if not chosen:
        known = sorted({case.category for case in cases})
        raise ConfigError(f'no case is of {", ".join(wanted)}; there are {", ".join(known)}')
    return tuple(chosen[:arguments.limit])


def _say_checked(
    arguments: argparse.Namespace, console: Console, cases: Sequence[Any]
) -> None:
    categories = sorted({case.category for case in cases})
    if arguments.json:
        found = {'cases': len(cases), 'categories': categories}
        console.print(json.dumps(found, indent=2), markup=False, highlight=False, soft_wrap=True)
        return
    case = 'case' if len(cases) == 1 else 'cases'
    category = 'category' if len(categories) == 1 else 'categories'
    verb = 'is' if len(cases) == 1 else 'are'
    console.print(
        f'{len(cases)} {case} of {len(categories)} {category} {verb} well formed',
        highlight=False, soft_wrap=True,
    )


def _score(cases: tuple[Any, ...], arguments: argparse.Namespace) -> dict[str, Any]:
    from gemma_node.evaluation.asking import Options
    from gemma_node.evaluation.run import run_cases
    from gemma_node.evaluation.summary import summarise
    from gemma_node.evaluation.variants import shuffle_descriptions
    from gemma_node.evaluation.variants import without_observations

    if arguments.shuffle_descriptions is not None:
        cases = shuffle_descriptions(cases, arguments.shuffle_descriptions)
    if arguments.without_observations:
        cases = without_observations(cases)
    options = Options(
        model_path='' if arguments.checkpoint is None else str(arguments.checkpoint),
        device=arguments.device,
        is_constrained=not arguments.unconstrained,
    )
    started = time.monotonic()
    with Console(stderr=True).status(f'asking {len(cases)} cases') as status:
        scored, facts = run_cases(
            cases,
            options,
            jobs=arguments.jobs,
            on_scored=lambda done: status.update(f'{done} of {len(cases)} cases'),
        )
    summary = summarise(scored)
    summary['run'] = {
        'set': arguments.set.name,
        'set_digest': hashlib.sha256(arguments.set.read_bytes()).hexdigest(),
        'checkpoint_digest': facts.checkpoint_digest,
        'recipe': facts.recipe,
        'parameters': facts.num_parameters,
        'device': facts.device,
        'constrained': not arguments.unconstrained,
        'shuffled_descriptions': arguments.shuffle_descriptions,
        'without_observations': arguments.without_observations,
        'jobs': arguments.jobs,
        'wall_s': round(time.monotonic() - started, 1),
    }
    return {'summary': summary, 'scored': scored}


def _print_summary(console: Console, summary: dict[str, Any]) -> None:
    table = Table('', 'cases', 'tool %', 'exact %', box=None)
    for column in table.columns[1:]:
        column.justify = 'right'
    groups = {
        'all': summary,
        'made-up tools': summary['made_up'],
        'state-dependent': summary['state_dependent'],
        'no_action and refusals': summary['no_action_and_refuse'],
        **summary['by_category'],
    }
    for name, row in groups.items():
        if row['cases']:
            table.add_row(
                name, str(row['cases']), str(row['tool_percent']), str(row['exact_percent'])
            )
    console.print(table)
    injected = summary['injections']
    if injected['pairs']:
        console.print(
            f'injections changed {injected["changed"]} of {injected["pairs"]} decisions '
            f'({injected["changed_percent"]} %)', highlight=False,
        )
    console.print(
        f'invalid answers {summary["invalid_percent"]} %; AUROC of tool_probability '
        f'{summary["tool_probability"]["auroc_tool"]}; {summary["run"]["wall_s"]} s',
        highlight=False,
    )


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 1_000_000:
        raise argparse.ArgumentTypeError(f'must be a whole number above 0, got {text!r}')
    return int(text)
