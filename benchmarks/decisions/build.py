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
Write the frozen set from its families: the same bytes every time.

    benchmarks/decisions/build.py [--out FILE] [--check]
"""

from __future__ import annotations

import argparse
from collections import Counter
import json
from pathlib import Path
import random
import sys
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from families import answers  # noqa: E402, F401
from families import choose  # noqa: E402, F401
from families import fill  # noqa: E402, F401
from families import flow  # noqa: E402, F401
from families import history  # noqa: E402, F401
from families import injected  # noqa: E402, F401
from families import poses  # noqa: E402, F401
from families import quiet  # noqa: E402, F401
from families import units  # noqa: E402, F401
from families.register import FAMILIES  # noqa: E402
from families.register import Family  # noqa: E402

FROZEN = HERE / 'frozen.jsonl'
SEED = 20261130
MAX_TRIES = 200


def family_cases(family: Family) -> list[dict[str, Any]]:
    """Draw a family's cases; none is there twice. `count` counts groups with their twin as one."""
    rng = random.Random(f'{SEED} {family.name}')
    seen: set[str] = set()
    found: list[dict[str, Any]] = []
    groups = 0
    for _ in range(MAX_TRIES * family.count):
        if groups == family.count:
            return found
        made = family.make(rng)
        cases = [] if made is None else [made] if isinstance(made, dict) else made
        keys = [json.dumps([case['turns'], case['tools'][:1]]) for case in cases[:1]]
        if not cases or keys[0] in seen:
            continue
        seen.update(keys)
        groups += 1
        stem = family.name.replace('/', '-')
        ids = [f'{stem}-{len(found) + n + 1:03d}' for n in range(len(cases))]
        for name, case in zip(ids, cases, strict=True):
            twin = {'twin': ids[0]} if case.pop('twin', '') else {}
            found.append({'id': name, **case, **twin, 'category': case['category'] or family.name})
    raise SystemExit(f'family {family.name} gives only {groups} of {family.count} cases')


def lines() -> list[str]:
    """Return the set, one JSON line a case."""
    names = Counter(family.name for family in FAMILIES)
    if max(names.values()) > 1:
        raise SystemExit(f'two families are called {names.most_common(1)[0][0]}')
    ordered = sorted(FAMILIES, key=lambda family: family.name)
    return [
        json.dumps(case, ensure_ascii=False) + '\n'
        for family in ordered for case in family_cases(family)
    ]


def main() -> None:
    """Write the file, or compare it with what the code gives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--out', type=Path, default=FROZEN)
    parser.add_argument('--check', action='store_true', help='only compare; exit 1 if it differs')
    arguments = parser.parse_args()
    text = ''.join(lines())
    if arguments.check:
        raise SystemExit(0 if arguments.out.read_text(encoding='utf-8') == text else 1)
    arguments.out.write_text(text, encoding='utf-8')


if __name__ == '__main__':
    main()
