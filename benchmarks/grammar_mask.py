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
What a grammar costs at Gemma's vocabulary: compiling 12 tools, masks, memory.

    .venv/bin/python benchmarks/grammar_mask.py --out benchmarks/results/grammar_mask.json

The vocabulary has Gemma's form and size (262,144 entries) but not its words: it is the one of
scripts/random_e4b_tokenizer.py, or that of a checkpoint given with --tokenizer. Catalogues are
those of the frozen decision set, filled up to 12 tools with tools of its other cases; masks are
taken at every position of the calls that the set expects, stop token included. Times are wall
time on one thread, so other programs of the host count: run it on a machine that does nothing
else (the load is written beside the figures), or give --clock process.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import replace
import json
import os
from pathlib import Path
import platform
import statistics
import sys
import time
from typing import Any

import llguidance
import numpy as np

from gemma_node.core import ToolChoice
from gemma_node.core import ToolDeclaration
from gemma_node.evaluation.cases import Case
from gemma_node.evaluation.reading import read_cases
from gemma_node.text.tokenizer import Tokenizer
from gemma_node.tools import grammar
from gemma_node.tools.call_format import CallTokens
from gemma_node.tools.call_format import format_call_ids
from gemma_node.tools.lark import TEXT_CLASS

ROOT = Path(__file__).resolve().parents[1]
VOCAB_SIZE = 262_144
NUM_TOOLS = 12
MAX_CALLS = 4
# Bounds that the issue sets, in milliseconds and microseconds.
COMPILE_MS, MASK_MEAN_US, MASK_P99_US = 20.0, 150.0, 2000.0
SLICES = {
    'none': (),
    'strings of any length': (TEXT_CLASS + '+',),
    'shipped': grammar._SLICES,
}


def main() -> int:
    """Measure everything and write the figures."""
    arguments = _arguments()
    sys.path.insert(0, str(ROOT / 'scripts'))
    from random_e4b_tokenizer import tokenizer_description
    from tokenizers import Tokenizer as InnerTokenizer

    if arguments.tokenizer is None:
        inner = InnerTokenizer.from_str(json.dumps(tokenizer_description(VOCAB_SIZE)))
        tokenizer = Tokenizer(inner, stop_ids=(1, 106, 50))
    else:
        tokenizer = Tokenizer.from_folder(arguments.tokenizer)
    clock = time.perf_counter if arguments.clock == 'wall' else time.process_time
    cases = [case for case in read_cases(arguments.set) if _calls_of(case)]
    wanted = arguments.cases or len(cases)
    chosen = cases[::max(1, len(cases) // wanted)][:wanted]
    started = time.perf_counter()
    factory = _factory(tokenizer, SLICES['shipped'])
    load_s = time.perf_counter() - started
    pool = _pool(cases)
    figures = {
        'host': {'cpu': _cpu(), 'python': platform.python_version(),
                 'llguidance': llguidance.__version__},
        'vocabulary': 'random words of Gemma\'s form' if arguments.tokenizer is None
        else str(arguments.tokenizer.name),
        'vocab_size': tokenizer.vocab_size, 'set': arguments.set.name, 'cases': len(chosen),
        'clock': arguments.clock, 'load_before': round(os.getloadavg()[0], 2),
        'tools': NUM_TOOLS, 'load_s': round(load_s, 2),
    }
    catalogues = [_catalogue(case, pool) for case in chosen]
    figures['compile_ms'] = compile_times(factory, catalogues, clock)
    figures['mask_us'] = mask_times(factory, tokenizer, chosen, catalogues, clock)
    figures['mask_us_by_slices'] = {
        name: mask_times(
            _factory(tokenizer, slices), tokenizer, chosen[:40], catalogues[:40], clock)
        for name, slices in SLICES.items()}
    figures['memory'] = memory(factory, pool, arguments.catalogues)
    figures['bounds'] = {
        'compile_ms': COMPILE_MS, 'mask_mean_us': MASK_MEAN_US, 'mask_p99_us': MASK_P99_US}
    figures['holds'] = {
        'compile': figures['compile_ms']['p99'] <= COMPILE_MS,
        'mask_mean': figures['mask_us']['mean'] <= MASK_MEAN_US,
        'mask_p99': figures['mask_us']['p99'] <= MASK_P99_US,
        'memory': figures['memory']['growth_mib_second_half'] <= 8.0}
    text = json.dumps(figures, indent=1)
    sys.stdout.write(text + '\n')
    if arguments.out is not None:
        arguments.out.write_text(text + '\n', encoding='utf-8')
    return 0 if all(figures['holds'].values()) else 1


def compile_times(
    factory: grammar.GrammarFactory, catalogues: Sequence[Sequence[ToolDeclaration]],
    clock: Callable[[], float],
) -> dict[str, float]:
    """Return how long a grammar takes that was not compiled before [ms]."""
    times = []
    for declarations in catalogues:
        started = clock()
        factory.compile(declarations, ToolChoice.AUTO, MAX_CALLS)
        times.append(1e3 * (clock() - started))
    return _summary(times)


def mask_times(
    factory: grammar.GrammarFactory, tokenizer: Tokenizer, cases: Sequence[Case],
    catalogues: Sequence[Sequence[ToolDeclaration]], clock: Callable[[], float],
) -> dict[str, float]:
    """Return how long the mask of one position takes, over all positions of the calls [us]."""
    row = np.zeros((tokenizer.vocab_size + 31) // 32, dtype=np.int32)
    times = []
    for case, declarations in zip(cases, catalogues, strict=True):
        constraint = factory.constraint(declarations, ToolChoice.AUTO, MAX_CALLS)
        for token_id in _call_ids(case, tokenizer):
            started = clock()
            constraint.fill_bitmask(row)
            times.append(1e6 * (clock() - started))
            if not constraint.accept(token_id):
                raise SystemExit(f'{case.id}: the grammar forbids the expected call')
    return {'positions': len(times), **_summary(times)}


def memory(
    factory: grammar.GrammarFactory, pool: Sequence[ToolDeclaration], num_catalogues: int
) -> dict[str, float]:
    """Return what the process grows by while it compiles as many different catalogues [MiB]."""
    row = np.zeros((VOCAB_SIZE + 31) // 32, dtype=np.int32)
    readings = [_rss_mib()]
    for number in range(num_catalogues):
        tools = [pool[(number * 7 + index * 31) % len(pool)] for index in range(3)]
        named = [replace(tool, name=f'{tool.name[:40]}_{number}_{index}')
                 for index, tool in enumerate(tools)]
        factory.constraint(named, ToolChoice.AUTO, MAX_CALLS).fill_bitmask(row)
        if (number + 1) % max(1, num_catalogues // 10) == 0:
            readings.append(_rss_mib())
    half = readings[len(readings) // 2]
    return {
        'catalogues': num_catalogues, 'tools_each': 3,
        'cache_bound_mib': grammar.DEFAULT_CACHE_BYTES / 2**20,
        'cached_mib': round(factory.cached_bytes / 2**20, 1),
        'growth_mib': round(readings[-1] - readings[0], 1),
        'growth_mib_second_half': round(readings[-1] - half, 1)}


def _factory(tokenizer: Tokenizer, slices: Sequence[str]) -> grammar.GrammarFactory:
    shipped = grammar._SLICES
    grammar._SLICES = tuple(slices)  # type: ignore[assignment]
    try:
        return grammar.GrammarFactory(
            tokenizer.inner, vocab_size=tokenizer.vocab_size, stop_ids=tokenizer.stop_ids,
            special_ids=tokenizer.special_ids)
    finally:
        grammar._SLICES = shipped


def _calls_of(case: Case) -> Sequence[Any]:
    return case.expect.calls if case.expect.kind in ('call', 'calls') else ()


def _call_ids(case: Case, tokenizer: Tokenizer) -> Iterator[int]:
    tokens = CallTokens.from_special_ids(tokenizer.special_ids)
    for call in _calls_of(case):
        yield from format_call_ids(
            call.name, call.arguments, tokens=tokens, encode=tokenizer.encode_data)
    yield tokenizer.stop_ids[0]


def _pool(cases: Sequence[Case]) -> list[ToolDeclaration]:
    """Return one declaration of each name of the set."""
    found: dict[str, ToolDeclaration] = {}
    for case in cases:
        for declaration in case.declarations:
            found.setdefault(declaration.name, declaration)
    return [each for each in found.values() if not each.is_builtin]


def _catalogue(case: Case, pool: Sequence[ToolDeclaration]) -> list[ToolDeclaration]:
    """Return the case's tools, and others up to the number that is measured."""
    own = list(case.declarations)[:NUM_TOOLS]
    names = {tool.name for tool in own}
    start = sum(map(ord, case.id)) % len(pool)
    others = [tool for tool in (*pool[start:], *pool[:start]) if tool.name not in names]
    return [*own, *others[:NUM_TOOLS - len(own)]]


def _summary(times: Sequence[float]) -> dict[str, float]:
    ordered = sorted(times)

    def at(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 2)
    return {'mean': round(statistics.fmean(ordered), 2), 'p50': at(0.5), 'p99': at(0.99),
            'max': round(ordered[-1], 2)}


def _rss_mib() -> float:
    pages = int(Path('/proc/self/statm').read_text().split()[1])
    return pages * 4096 / 2**20


def _cpu() -> str:
    for line in Path('/proc/cpuinfo').read_text().splitlines():
        if line.startswith('model name'):
            return line.partition(':')[2].strip()
    return platform.processor()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or '').split('\n\n')[0])
    positive: Callable[[str], int] = int
    parser.add_argument('--set', type=Path, metavar='JSONL',
                        default=ROOT / 'benchmarks' / 'decisions' / 'frozen.jsonl')
    parser.add_argument('--tokenizer', type=Path, metavar='FOLDER')
    parser.add_argument('--cases', type=positive, default=0, help='0: all that expect calls')
    parser.add_argument('--clock', choices=('wall', 'process'), default='wall')
    parser.add_argument('--catalogues', type=positive, default=10_000)
    parser.add_argument('--out', type=Path, metavar='FILE')
    return parser.parse_args()


if __name__ == '__main__':
    raise SystemExit(main())
