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
Score a checkpoint on the decision sets in every variant, beside the word-overlap baseline.

    benchmarks/decision_sets.py --out benchmarks/results/decision_sets.json [--jobs N]
    benchmarks/decision_sets.py --out FILE --checkpoint FOLDER --sets frozen --variants constrained

A file that is there is added to where it is of the same set and checkpoint, so that the variants
can be measured one after the other.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Sequence
import hashlib
import json
from pathlib import Path
import platform
import sys
import time
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'benchmarks' / 'decisions')]

import baseline  # noqa: E402
from gemma_node.assemble import checkpoint_digest  # noqa: E402
from gemma_node.assemble import checkpoint_folder  # noqa: E402
from gemma_node.evaluation.asking import Options  # noqa: E402
from gemma_node.evaluation.cases import Case  # noqa: E402
from gemma_node.evaluation.reading import read_cases  # noqa: E402
from gemma_node.evaluation.run import run_cases  # noqa: E402
from gemma_node.evaluation.summary import summarise  # noqa: E402
from gemma_node.evaluation.variants import shuffle_descriptions  # noqa: E402
from gemma_node.evaluation.variants import without_observations  # noqa: E402

SETS = {name: ROOT / 'benchmarks' / 'decisions' / f'{name}.jsonl' for name in ('frozen', 'hand')}
SHUFFLE_SEED = 1
Cases = Sequence[Case]
VARIANTS: dict[str, tuple[bool, Callable[[Cases], Cases]]] = {
    'constrained': (True, lambda cases: cases),
    'unconstrained': (False, lambda cases: cases),
    'shuffled_descriptions': (
        True, lambda cases: shuffle_descriptions([c for c in cases if c.made_up], SHUFFLE_SEED)),
    'without_observations': (
        True, lambda cases: without_observations([c for c in cases if c.state_dependent])),
}


def run_variant(
    name: str, cases: Cases, options: dict[str, Any], jobs: int
) -> dict[str, Any]:
    """Return the figures of one variant; of all its cases the twins' ids are left out."""
    is_constrained, change = VARIANTS[name]
    chosen = change(cases)
    if not chosen:
        return {'cases': 0}
    started = time.monotonic()
    scored, facts = run_cases(
        chosen, Options(**options, is_constrained=is_constrained), jobs=jobs)
    wall_s = time.monotonic() - started
    return {
        **summarise(scored),
        'wrong': [each.case.id for each in scored if not each.verdict.is_exact],
        'recipe': facts.recipe,
        'parameters': facts.num_parameters,
        'device': facts.device,
        'jobs': jobs,
        'wall_s': round(wall_s, 1),
        'seconds_a_case_and_job': round(wall_s * jobs / len(chosen), 3),
    }


def main() -> None:
    """Read the command line, score, write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--checkpoint', default='', help="folder; '' is the embedded one")
    parser.add_argument('--device', default='cpu')
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--sets', nargs='+', choices=SETS, default=list(SETS))
    parser.add_argument('--variants', nargs='*', default=list(VARIANTS),
                        help=f'of {", ".join(VARIANTS)}; none: the baseline alone')
    arguments = parser.parse_args()
    if unknown := set(arguments.variants) - set(VARIANTS):
        parser.error(f'no variant is called {", ".join(sorted(unknown))}')
    options = {'model_path': arguments.checkpoint, 'device': arguments.device}
    digest = checkpoint_digest(checkpoint_folder(arguments.checkpoint))
    report = begun(arguments.out, digest)
    report['python'] = platform.python_version()
    for name in arguments.sets:
        cases = read_cases(SETS[name])
        set_digest = hashlib.sha256(SETS[name].read_bytes()).hexdigest()
        before = report['sets'].get(name, {})
        kept = before if before.get('digest') == set_digest else {}
        found = report['sets'][name] = {
            **kept, 'digest': set_digest, 'baseline': baseline.run(SETS[name])}
        for each in [None, *arguments.variants]:
            if each is not None:
                found[each] = run_variant(each, cases, options, arguments.jobs)
            # What is measured is kept, also when a later variant is ended by a time limit.
            arguments.out.write_text(json.dumps(report, indent=1) + '\n', encoding='utf-8')


def begun(out: Path, digest: str) -> dict[str, Any]:
    """Return the report that is there for this checkpoint, or an empty one."""
    if out.is_file():
        report: dict[str, Any] = json.loads(out.read_bytes())
        if report.get('checkpoint_digest') == digest:
            return report
    return {'command': 'benchmarks/decision_sets.py --out FILE', 'checkpoint_digest': digest,
            'sets': {}}


if __name__ == '__main__':
    main()
