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
Convert a full-size checkpoint by each recipe, twice, and prove what comes out.

    .venv/bin/python benchmarks/rehearsal.py SRC WORK --oracle PYTHON --out FILE

SRC is a bfloat16 checkpoint (scripts/make_random_e4b.py writes one), WORK a folder on a disk with
room for two results, PYTHON one that has mlx-lm, compressed-tensors and transformers. Each
conversion is a process of its own: time, processor time and peak of private memory (RssAnon) are
taken from outside. For each recipe: bytes of tensors, every tensor against mx.quantize,
compressed-tensors or the source, what the libraries would load, and a second conversion whose
files must have the same bytes; it ends without an answer if source or package changed between
them. Of mlx-4bit also 16 tokens are decoded, and a third conversion is killed (-9) half way and
started again. Results are removed; FILE is written as steps end, and a FILE of the same package
and source is added to.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
import hashlib
import json
import os
from pathlib import Path
import platform
import shutil
import signal
import subprocess
import sys
import time
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

import gemma_node  # noqa: E402
from gemma_node.backends.identity import package_digest  # noqa: E402
from gemma_node.cli_inspect import inspect_checkpoint  # noqa: E402
from gemma_node.core import Finish  # noqa: E402
from gemma_node.core import Generation  # noqa: E402
from gemma_node.core import GenerationResult  # noqa: E402
from gemma_node.engine.config import EngineConfig  # noqa: E402
from gemma_node.engine.engine import Engine  # noqa: E402
from gemma_node.errors import CheckpointError  # noqa: E402
from gemma_node.model.header import read_header  # noqa: E402
from gemma_node.model.weights import load_model  # noqa: E402

# What E4B's geometry gives, by arithmetic.
E4B_BYTES = {
    'mlx-4bit': 4_198_750_292, 'mlx-4bit-ple-bf16': 4_277_885_012,
    'mlx-4bit-ple-bf16-attn8': 4_571_486_292, 'mlx-8bit': 7_929_976_916,
    'nvfp4a16': 9_215_139_248, 'bf16': 14_926_026_836,
}
RECIPES = tuple(E4B_BYTES)
DECODED = 'mlx-4bit'
E4B_PARAMETERS = 7_463_013_418
NUM_TOKENS = 16
PROMPT = (2, 600, 7000, 80_000, 900, 1000, 11_000, 120_000)
SAMPLE_S = 0.05


class Child:
    """A process whose peak of private memory is sampled while it runs."""

    def __init__(self, *command: object) -> None:
        environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
        self._began = time.monotonic()
        self._peak = 0
        self.process = subprocess.Popen(
            [str(each) for each in command], cwd=ROOT, env=environment, text=True,
            stdout=subprocess.PIPE)

    def running(self, pause: float = SAMPLE_S) -> bool:
        """Sample, and return whether it still runs; sleeps in between."""
        self._peak = max(self._peak, rss_anon(self.process.pid))
        time.sleep(pause)
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def result(self) -> dict[str, Any]:
        """Wait for it and return what it printed, with what it took."""
        while self.running():
            pass
        assert self.process.stdout is not None
        text = self.process.stdout.read()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if self.process.returncode:
            raise SystemExit(f'{self.process.args} ended with {self.process.returncode}')
        return {
            'printed': json.loads(text),
            'wall_s': round(time.monotonic() - self._began, 1),
            'processor_s': round(usage.ru_utime + usage.ru_stime, 1),
            'peak_rss_anon_bytes': self._peak,
        }

    def kill(self) -> None:
        """End it as the out-of-memory killer would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()


def rss_anon(pid: int) -> int:
    """Return the private memory of a process [bytes]; 0 if it has ended."""
    try:
        lines = Path(f'/proc/{pid}/status').read_text(encoding='ascii').splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith('RssAnon:')), 0)


def converting(source: Path, target: Path, recipe: str) -> Child:
    """Start a conversion."""
    return Child(sys.executable, '-m', 'gemma_node.cli', 'convert', source, target,
                 '--recipe', recipe, '--json')


def convert(source: Path, target: Path, recipe: str) -> dict[str, Any]:
    """Convert, and return what it took and what came out."""
    report = converting(source, target, recipe).result()
    report['quantised'] = report.pop('printed')['quantised']
    report['tensor_bytes'] = sum(
        entry.nbytes for file in target.glob('*.safetensors')
        for entry in read_header(file).values())
    facts = inspect_checkpoint(target)
    if facts['parameters'] == E4B_PARAMETERS:
        report['tensor_bytes_as_computed'] = report['tensor_bytes'] == E4B_BYTES[recipe]
    source_bytes = sum(file.stat().st_size for file in source.glob('*.safetensors'))
    report['source_mb_per_processor_s'] = round(source_bytes / 1e6 / report['processor_s'])
    return report


def against_libraries(oracle: str, source: Path, target: Path, recipe: str) -> dict[str, Any]:
    """Return how many tensors equal what MLX or compressed-tensors gives now, or the source."""
    programs = ROOT / 'tests' / 'fixtures' / 'oracles'
    is_mlx = recipe.startswith('mlx')
    program = programs / ('mlx_full.py' if is_mlx else 'compressed_full.py')
    report = Child(oracle, program, source, target).result()
    found = report.pop('printed')
    if is_mlx:
        found |= found.pop('folders')[target.name]
    # By what follows layers.N.
    found['dropped'] = dict(Counter(name.split('.', 2)[-1] for name in found['dropped']))
    return {**found, **report}


def decode(folder: Path) -> None:
    """Load a folder, decode some tokens with the engine on the CPU, and print them."""
    began = time.monotonic()
    model = load_model(folder)
    engine = Engine(model, EngineConfig(
        lanes=1, context_tokens=512, state_budget_bytes=0, compute_dtype='float32',
        num_threads=1))
    loaded = time.monotonic() - began
    prompt = tuple(number % model.config.vocab_size for number in PROMPT)
    engine.submit(Generation(id='rehearsal', state_key='', prompt_ids=prompt,
                             max_tokens=NUM_TOKENS))
    result = None
    while result is None:
        result = next((event for event in engine.step()
                       if isinstance(event, GenerationResult)), None)
    if result.finish is Finish.FAILED:
        raise SystemExit(f'{folder} cannot decode: {result.error_msg}')
    sys.stdout.write(json.dumps({
        'form': model.form, 'step': 'native' if engine.is_native else 'torch',
        'load_s': round(loaded, 1), 'prefill_s': round(result.prefill_time, 2),
        'decode_s': round(result.decode_time, 2),
        'finish': result.finish.name, 'token_ids': list(result.token_ids)}))


def killed_and_resumed(source: Path, target: Path, recipe: str, units: int) -> dict[str, Any]:
    """Convert again, killed half way and started again."""
    child = converting(source, target, recipe)
    partial = target.parent / f'.{target.name}.partial'
    journal = partial / 'journal.jsonl'
    while child.running(pause=0.001):
        if journal.is_file() and len(journal.read_bytes().splitlines()) > units // 2:
            break
    child.kill()
    report: dict[str, Any] = {'killed_after_units': len(journal.read_bytes().splitlines()) - 1,
                              'of_units': units, 'destination_exists': target.exists(),
                              'partial_folder_is_refused': is_refused(partial)}
    again = converting(source, target, recipe).result()
    report['resumed_units'] = again.pop('printed')['resumed']
    report |= again
    report['left_behind'] = sorted(each.name for each in target.parent.glob('.*.partial'))
    return report


class Unchanged:
    """Holds that source and package stay what they were, since a result depends on both."""

    def __init__(self, source: Path) -> None:
        self._source = source
        self._before = self._state()

    def check(self) -> None:
        """End the rehearsal if either changed: what it then compared would say nothing."""
        if self._state() != self._before:
            raise SystemExit('source or package changed during the rehearsal; run it again')

    def _state(self) -> object:
        files = sorted(self._source.iterdir())
        return package_digest(), [
            (file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files
        ]


def compared(first: dict[str, str], target: Path) -> dict[str, Any]:
    """Say whether a folder has the files, byte for byte, whose digests were taken before."""
    again = digests(target)
    differ = sorted(name for name in first | again if first.get(name) != again.get(name))
    return {'files': len(again), 'same_bytes_as_first': not differ, 'files_that_differ': differ}


def is_refused(folder: Path) -> bool:
    """Return whether the loader refuses a folder."""
    try:
        load_model(folder)
    except CheckpointError:
        return True
    return False


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of every file of a folder."""
    found = {}
    for file in sorted(folder.iterdir()):
        with file.open('rb') as stream:
            digest = hashlib.sha256()
            while block := stream.read(1 << 22):
                digest.update(block)
        found[file.name] = digest.hexdigest()
    return found


@contextmanager
def under_load(report: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """Give the dict of a step and note how busy the machine was before and after."""
    step: dict[str, Any] = {}
    before = os.getloadavg()[0]
    yield step
    step['load_average'] = [round(before, 1), round(os.getloadavg()[0], 1)]
    report[name] = step
    sys.stderr.write(f'{name}: {json.dumps(step)}\n')


def described(source: Path, words: list[str]) -> dict[str, Any]:
    """Return what is measured, with what and on what."""
    commit = subprocess.run(('git', 'rev-parse', 'HEAD'), cwd=ROOT, capture_output=True,
                            text=True, check=True).stdout.strip()
    cpu = next((line.split(':')[1].strip() for line in Path('/proc/cpuinfo').read_text()
                .splitlines() if line.startswith('model name')), platform.machine())
    random = source / 'random_e4b.json'
    facts = inspect_checkpoint(source)
    return {
        'what': 'conversion of a checkpoint by each recipe, and what came out',
        'command': ' '.join(['.venv/bin/python benchmarks/rehearsal.py', *words]),
        'commit': commit, 'cpu': cpu, 'cores': len(os.sched_getaffinity(0)),
        'memory_bytes': os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES'),
        'niceness': os.nice(0), 'package_digest': package_digest(),
        'versions': {'gemma_node': gemma_node.__version__, 'torch': torch.__version__,
                     'python': platform.python_version()},
        'source': {'parameters': facts['parameters'], 'bytes': facts['bytes'],
                   'random': json.loads(random.read_text()) if random.is_file() else None},
    }


def rehearse_recipe(
    arguments: argparse.Namespace, recipe: str, steps: dict[str, Any], unchanged: Unchanged
) -> Iterator[None]:
    """Run the steps of one recipe; yields after each."""
    source, target = arguments.source, arguments.work / recipe
    with under_load(steps, f'convert {recipe}') as step:
        step |= convert(source, target, recipe)
    yield
    if arguments.oracle:
        with under_load(steps, f'compare {recipe}') as step:
            step |= against_libraries(arguments.oracle, source, target, recipe)
        yield
    if recipe == DECODED:
        with under_load(steps, f'decode {recipe}') as step:
            step |= Child(sys.executable, __file__, target, '--decode').result()
        yield
    first = digests(target)
    units = sum(name.endswith('.weight') or name.endswith('layer_scalar')
                for file in target.glob('*.safetensors') for name in read_header(file))
    shutil.rmtree(target)
    with under_load(steps, f'convert {recipe} again') as step:
        step |= convert(source, target, recipe)
        unchanged.check()
        step |= compared(first, target)
    shutil.rmtree(target)
    yield
    if recipe == DECODED:
        with under_load(steps, f'killed and resumed {recipe}') as step:
            step |= killed_and_resumed(source, target, recipe, units)
            unchanged.check()
            step |= compared(first, target)
        shutil.rmtree(target)
        yield


def recorded(out: Path, report: dict[str, Any]) -> dict[str, Any]:
    """Return the steps that a file already has of the same package and source, to be added to."""
    if not out.exists():
        return {}
    before = json.loads(out.read_text())
    for name in ('package_digest', 'source', 'versions'):
        if before[name] != report[name]:
            raise SystemExit(f'{out} is of another {name}; name a new file')
    steps: dict[str, Any] = before['steps']
    return steps


def rehearse(arguments: argparse.Namespace) -> None:
    """Run all steps; the file is written after each."""
    words = ['SRC', 'WORK', '--oracle PYTHON', f'--recipes {" ".join(arguments.recipes)}']
    report = described(arguments.source, words)
    report['steps'] = steps = recorded(arguments.out, report)
    arguments.work.mkdir(exist_ok=True)
    unchanged = Unchanged(arguments.source)
    for recipe in arguments.recipes:
        for _ in rehearse_recipe(arguments, recipe, steps, unchanged):
            arguments.out.write_text(json.dumps(report, indent=1) + '\n')


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('source', type=Path)
    parser.add_argument('work', type=Path, nargs='?')
    parser.add_argument('--oracle', default='', metavar='PYTHON',
                        help='one that has mlx-lm and compressed-tensors')
    parser.add_argument('--recipes', nargs='+', choices=E4B_BYTES, default=RECIPES)
    parser.add_argument('--out', type=Path, metavar='FILE')
    parser.add_argument('--decode', action='store_true', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.decode:
        decode(arguments.source)
        return
    if arguments.work is None or arguments.out is None:
        parser.error('give SRC, WORK and --out')
    rehearse(arguments)


if __name__ == '__main__':
    main()
