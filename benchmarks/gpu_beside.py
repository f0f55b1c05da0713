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
Transformers and the device step, one after the other in one run: `gpu_beside.py --out FILE`.

Decode of one stream at 2,048 tokens and prefill, each in a process of its own: transformers in
bfloat16, eager and compiled over a static cache, then the device step in 4 bit and in bfloat16.
With `--hold FILE` transformers compiles first and nothing is timed before that file is there.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import subprocess
import sys
import tempfile
import time
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# What is wanted of each form: times transformers' decode, and times its prefill.
WANTED = {'4bit': (4.0, 2.5), 'bf16': (3.0, 2.5)}


def child(name: str, file: Path, *more: str) -> dict[str, Any]:
    """Run a program that writes a file; return what it wrote, also where it did not get far."""
    began = time.monotonic()
    command = [sys.executable, str(ROOT / 'benchmarks' / name), '--out', str(file), *more]
    done = subprocess.run(command, cwd=ROOT, check=False)
    found = json.loads(file.read_text()) if file.exists() else {}
    shown = [each for each in more if '/' not in each and each != '--hold']
    return {'command': [name, *shown], 'exit_code': done.returncode,
            'seconds': round(time.monotonic() - began, 1), **found}  # fmt: skip


def ratios(theirs: dict[str, Any], ours: dict[str, Any], form: str) -> dict[str, Any]:
    """Return ours over theirs, and whether that is what is wanted."""
    found: dict[str, Any] = {}
    decode, prefill = WANTED[form]
    compiled = theirs.get('compiled_static_tokens_per_s')
    for each in ours.get('decode', ()):
        if compiled and each['lanes'] == 1:
            found['one stream'] = _ratio(each['tokens_per_s'], compiled, decode)
    for each in ours.get('prompt', ()):
        known = theirs.get(f'prefill_{each["tokens"]}_tokens_per_s')
        if known:
            name = f'prefill {each["tokens"]}'
            found[name] = _ratio(each['tokens_per_s'], known, prefill)
    return found


def _ratio(ours: float, theirs: float, wanted: float) -> dict[str, Any]:
    return {'ours': ours, 'transformers': theirs, 'times': round(ours / theirs, 2),
            'wanted': wanted, 'met': ours >= wanted * theirs}  # fmt: skip


def main() -> None:
    """Measure, writing the file after each, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--device', default='cuda')
    parser.add_argument('--geometry', default='e4b')
    parser.add_argument('--context', type=int, default=2048)
    parser.add_argument('--prompts', type=int, nargs='+', default=[2048, 8192])
    parser.add_argument('--chunk', type=int, default=2048, help='rows of a prompt pass')
    parser.add_argument('--hold', type=Path, help='time nothing before this file is there')
    arguments = parser.parse_args()
    prompts = [str(each) for each in arguments.prompts]
    same = ('--device', arguments.device, '--geometry', arguments.geometry,
            '--context', str(arguments.context), '--prompts', *prompts)  # fmt: skip
    report: dict[str, Any] = {}

    def save(**found: Any) -> None:
        report.update(found)
        arguments.out.write_text(json.dumps(report, indent=1) + '\n')

    with tempfile.TemporaryDirectory() as folder:
        hold = ('--hold', str(arguments.hold)) if arguments.hold else ()
        file = Path(folder) / 'transformers.json'
        theirs = child('gpu_transformers.py', file, '--compile', *same, *hold)
        save(transformers=theirs, times={})
        for form in WANTED:
            ours = child(
                'gpu_step.py', Path(folder) / f'{form}.json', '--form', form, '--lanes', '1',
                '--chunk', str(arguments.chunk), '--most', str(max(arguments.prompts) + 512),
                '--steps', '100', '--compare', '16', *same,
            )  # fmt: skip
            report['times'][form] = ratios(theirs, ours, form)
            save(**{form: ours})
            for name, each in report['times'][form].items():
                sys.stdout.write(f'{form} {name}: {each}\n')
            sys.stdout.flush()


if __name__ == '__main__':
    main()
