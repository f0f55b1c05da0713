"""The set-up says in one sentence what a machine lacks, and installs once."""

from concurrent.futures import ThreadPoolExecutor
import os
from pathlib import Path
import shutil
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ('bash', 'cp', 'cut', 'find', 'mkdir', 'rm', 'sed', 'sha256sum', 'sort', 'tail', 'xargs')
SCRIPTS = ('scripts/demo.sh', 'scripts/test.sh', 'scripts/colcon_build.sh', '.ci/run')


class Machine:
    """A machine of which this test says what is on its PATH; pip only writes down its call."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / 'checkout'
        self.bin = folder / 'bin'
        self.calls = folder / 'calls'
        self.bin.mkdir(parents=True)
        for name in ('scripts', 'cmake', 'msg', 'srv', 'action', 'config', 'launch'):
            shutil.copytree(ROOT / name, self.root / name)
        for name in ('setup.py', 'pyproject.toml', 'constraints.txt', 'package.xml'):
            shutil.copy(ROOT / name, self.root / name)
        shutil.copy(ROOT / 'CMakeLists.txt', self.root)
        (self.root / 'gemma_node').mkdir()
        shutil.copy(ROOT / 'gemma_node/__init__.py', self.root / 'gemma_node')
        shutil.copytree(ROOT / 'gemma_node/kernels/cpu', self.root / 'gemma_node/kernels/cpu')
        self.link(*TOOLS)
        self.add('uname', 'case $1 in -s) echo Linux;; *) echo x86_64;; esac')
        self.add('g++', 'exit 0')

    def link(self, *tools: str) -> None:
        for tool in tools:
            (self.bin / tool).symlink_to(shutil.which(tool))

    def add(self, name: str, body: str) -> None:
        path = self.bin / name
        path.write_text(f'#!/bin/bash\n{body}\n', encoding='utf-8')
        path.chmod(0o755)

    def add_python(self, *, has_headers: bool = True) -> None:
        """Put a python3 on the PATH whose environments log what pip is asked to do."""
        fake = (
            f'if [ "$1 $2" = "-m pip" ]; then echo "${{@:3}}" >> {self.calls}; exit 0; fi\n'
            f'if [ "$1" = -m ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; exit 0; fi\n'
            f'case $2 in *"import pip"*) exit 0;; *Python.h*) exit {int(not has_headers)};; esac\n'
            f'exec {sys.executable} "$@"'
        )
        self.add('python3', fake)

    def set_up(self, extras: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ['bash', '-c', f'set -euo pipefail; source scripts/setup_venv.sh {extras}'],
            cwd=self.root, env={'PATH': str(self.bin)}, capture_output=True, text=True,
            timeout=60,
        )  # fmt: skip

    def pip_calls(self) -> list[str]:
        return self.calls.read_text(encoding='utf-8').splitlines() if self.calls.exists() else []


@pytest.fixture
def machine(tmp_path) -> Machine:
    return Machine(tmp_path)


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    return line


def test_a_missing_compiler_is_said_in_a_sentence(machine):
    (machine.bin / 'g++').unlink()
    assert 'g++ is missing' in sentence(machine.set_up('ros'))


def test_a_missing_python_is_said_in_a_sentence(machine):
    machine.add('python3', 'exit 1')
    assert 'no Python 3.10, 3.11, 3.12 or 3.13 found' in sentence(machine.set_up('ros'))


def test_missing_headers_of_python_are_said_in_a_sentence(machine):
    machine.add_python(has_headers=False)
    done = machine.set_up('ros')
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith('apt install python3-dev')
    assert machine.pip_calls() == []


def test_an_environment_whose_set_up_was_interrupted_is_made_anew(machine):
    machine.add_python()
    machine.set_up('ros')
    python = machine.root / '.venv/bin/python'
    whole = python.read_text(encoding='utf-8')
    python.write_text(whole.replace('"import pip"*) exit 0', '"import pip"*) exit 1'))
    assert machine.set_up('ros').returncode == 0
    assert python.read_text(encoding='utf-8') == whole
    assert len(machine.pip_calls()) == 4


def test_an_environment_that_was_moved_is_made_anew(machine):
    machine.add_python()
    machine.set_up('ros')
    moved = machine.root.with_name('moved here')
    machine.root = machine.root.rename(moved)
    (moved / '.venv/bin/pytest').touch()
    assert machine.set_up('ros').returncode == 0
    assert not (moved / '.venv/bin/pytest').exists()
    assert len(machine.pip_calls()) == 4


def test_two_set_ups_at_once_install_once(machine):
    machine.add_python()
    machine.link('flock', 'sleep')
    python = machine.bin / 'python3'
    then = '-m pip" ]; then'
    slow = python.read_text(encoding='utf-8').replace(then, f'{then} sleep 0.5;')
    python.write_text(slow)
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(machine.set_up, ('ros', 'ros')))
    assert [one.returncode for one in done] == [0, 0]
    assert len(machine.pip_calls()) == 2
    assert sum('another set-up is at work' in one.stdout for one in done) == 1


def test_what_the_scripts_start_does_not_hold_the_lock(machine):
    machine.add_python()
    machine.link('flock', 'ls')
    done = machine.set_up('ros; ls /proc/self/fd')
    assert '9' not in done.stdout.split()


@pytest.mark.skipif(os.geteuid() == 0, reason='root may write everywhere')
def test_a_folder_that_cannot_be_written_is_said_in_a_sentence(machine):
    machine.add_python()
    machine.root.chmod(0o555)
    assert 'cannot be written' in sentence(machine.set_up('ros'))


def test_a_machine_without_wheels_is_told_to_use_colcon(machine):
    machine.add('uname', 'case $1 in -s) echo Linux;; *) echo aarch64;; esac')
    assert 'use colcon build' in sentence(machine.set_up('ros'))


def test_the_first_set_up_installs_with_the_constraints_and_the_second_does_nothing(machine):
    machine.add_python()
    first = machine.set_up('ros')
    assert first.returncode == 0, first.stderr
    upgrade, install = machine.pip_calls()
    assert upgrade.startswith('install pip==')
    assert '--constraint constraints.txt' in install
    assert '--build-constraint constraints.txt' in install
    assert install.endswith('--editable .[ros]')
    assert machine.set_up('ros').stdout == ''
    assert len(machine.pip_calls()) == 2


def test_a_changed_interface_or_pin_installs_again(machine):
    machine.add_python()
    machine.set_up('ros')
    for name in ('msg/Decision.msg', 'constraints.txt'):
        before = len(machine.pip_calls())
        path = machine.root / name
        path.write_text(path.read_text(encoding='utf-8') + '# more\n', encoding='utf-8')
        machine.set_up('ros')
        assert len(machine.pip_calls()) == before + 2, name


def test_the_demo_needs_nothing_after_the_tests_and_never_takes_away_from_them(machine):
    machine.add_python()
    machine.set_up('ros,test,colcon')
    machine.set_up('ros')
    assert len(machine.pip_calls()) == 2
    (machine.root / 'setup.py').write_text('# changed\n', encoding='utf-8')
    machine.set_up('ros')
    assert machine.pip_calls()[-1].endswith('.[ros,test,colcon]')


def test_a_failed_installation_shows_why_and_is_tried_again(machine):
    machine.add_python()
    text = (machine.bin / 'python3').read_text(encoding='utf-8')
    broken = text.replace('exit 0; fi', 'echo no such wheel; exit 1; fi', 1)
    (machine.bin / 'python3').write_text(broken, encoding='utf-8')
    failed = machine.set_up('ros')
    assert failed.returncode == 1
    assert 'no such wheel' in failed.stderr
    assert 'the installation failed' in failed.stderr
    (machine.root / '.venv/bin/python').write_text(text, encoding='utf-8')
    assert machine.set_up('ros').returncode == 0


@pytest.mark.parametrize('name', SCRIPTS)
def test_every_script_is_executable_and_valid_bash(name):
    path = ROOT / name
    assert path.stat().st_mode & 0o111
    assert subprocess.run(['bash', '-n', path]).returncode == 0
    assert 'set -euo pipefail' in path.read_text(encoding='utf-8')


def test_ci_runs_the_test_script_and_the_demo_script_the_demo():
    assert 'exec scripts/test.sh' in (ROOT / '.ci/run').read_text(encoding='utf-8')
    demo = (ROOT / 'scripts/demo.sh').read_text(encoding='utf-8')
    assert 'exec .venv/bin/gemma-node demo "$@"' in demo
