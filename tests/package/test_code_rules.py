"""Rules for every file: no prints, no calls that run text as code, bounded length."""

import ast
from pathlib import Path
import re
import subprocess

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAX_LINES = 450
# core.py holds values and their meaning only; tests and training phrases are tables.
LONGER = {'gemma_node/core.py': 530, 'scripts/': 600, 'tests/': 650}
FORBIDDEN_MODULES = {'pickle', 'cPickle', 'dill', 'shelve', 'marshal', 'cloudpickle', 'joblib'}
FORBIDDEN_CALLS = {'eval', 'exec', 'compile', '__import__', 'print', 'breakpoint', 'input'}
FORBIDDEN_ATTRIBUTES = {('os', 'system'), ('os', 'popen'), ('yaml', 'load'), ('torch', 'load')}
# Written in pieces, so that this file does not name one either.
REGISTRY_HOSTS = re.compile(
    r'(pypi|test\.pypi|pythonhosted|npmjs|conda|anaconda|huggingface|download\.pytorch'
    r'|packages\.ros|deb\.debian|archive\.ubuntu|crates|registry-[0-9]+\.docker)'
    r'\.(org|com|io|co)\b'
)


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    paths = [ROOT / name for name in listed.stdout.split('\0') if name]
    return [path for path in paths if path.is_file()]


def package_files() -> list[Path]:
    package = ROOT / 'gemma_node'
    return [path for path in tracked_files() if package in path.parents and path.suffix == '.py']


def forbidden(tree: ast.AST) -> list[str]:
    """Return what this code does that no file of the package may do."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name in FORBIDDEN_MODULES]
        elif isinstance(node, ast.ImportFrom) and node.module in FORBIDDEN_MODULES:
            found.append(node.module)
        elif isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name) and function.id in FORBIDDEN_CALLS:
                found.append(function.id)
            if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
                name = (function.value.id, function.attr)
                found += ['.'.join(name)] if name in FORBIDDEN_ATTRIBUTES else []
            for keyword in node.keywords:
                is_false = isinstance(keyword.value, ast.Constant) and not keyword.value.value
                if keyword.arg in ('shell', 'trust_remote_code', 'allow_pickle') and not is_false:
                    found.append(f'{keyword.arg}=')
        elif isinstance(node, ast.ExceptHandler) and node.type is None:
            found.append('bare except')
    return found


def test_no_file_of_the_package_prints_or_runs_text_as_code():
    found = {}
    for path in package_files():
        wrong = forbidden(ast.parse(path.read_text(encoding='utf-8')))
        if wrong:
            found[str(path.relative_to(ROOT))] = wrong
    assert found == {}


@pytest.mark.parametrize(
    'line',
    [
        "print('x')",
        "eval('1')",
        "exec('1')",
        'import pickle',
        'from pickle import loads',
        "import subprocess\nsubprocess.run('ls', shell=True)",
        'load(path, trust_remote_code=flag)',
        "import os\nos.system('ls')",
        'try:\n    f()\nexcept:\n    g()',
    ],
)
def test_a_planted_breach_is_found(line):
    assert len(forbidden(ast.parse(line))) == 1


def _is_blanket(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {node.id for node in caught if isinstance(node, ast.Name)}
    return handler.type is None or bool(names & {'Exception', 'BaseException'})


BLANKET = {
    'engine/engine.py': 'a broken sequence must not end the others',
    'engine/flight.py': 'the same, of prompts that run beside decode steps',
    'engine/rounds.py': 'the same, of decode steps',
    'replay/bag.py': 'damaged files: rosbags raises what its decoders raise; said at once',
    'ros/guard.py': 'executor callbacks: logged, the node stays up',
    'ros/node.py': 'lifecycle transitions: rclpy would swallow it unlogged',
    'text/tokenizer.py': 'the library raises nothing narrower; wrapped at once',
    'worker/client.py': "the reader's callback: events after a bad one must arrive",
    'worker/loop.py': 'the worker loop: the affected requests fail',
}


def test_blanket_except_stands_only_where_a_loop_or_callback_must_survive():
    found = set()
    for path in package_files():
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.ExceptHandler) and _is_blanket(node):
                found.add(path.relative_to(ROOT / 'gemma_node').as_posix())
    assert found <= set(BLANKET)


def test_no_python_file_is_longer_than_the_limit():
    too_long = {}
    for path in tracked_files():
        name = path.relative_to(ROOT).as_posix()
        limit = next((n for part, n in LONGER.items() if name.startswith(part)), MAX_LINES)
        length = path.read_bytes().count(b'\n') if path.suffix == '.py' else 0
        if length > limit:
            too_long[name] = length
    assert too_long == {}


def test_every_package_file_starts_with_the_licence_and_a_docstring():
    for path in package_files():
        if path.name == '__init__.py':
            continue
        text = path.read_text(encoding='utf-8')
        name = path.relative_to(ROOT)
        assert text.startswith('# Copyright 2026 The gemma_node authors\n'), name
        assert 'Licensed under the Apache License, Version 2.0' in text, name
        assert ast.get_docstring(ast.parse(text)), name


def test_no_file_names_the_host_of_a_package_registry():
    found = []
    for path in tracked_files():
        if path.suffix in ('.safetensors', '.png', '.mcap', '.db3', '.bag'):
            continue
        text = path.read_text(encoding='utf-8', errors='replace')
        found += [f'{path.relative_to(ROOT)}: {m.group()}' for m in REGISTRY_HOSTS.finditer(text)]
    assert found == []


def test_the_host_rule_can_fail():
    assert REGISTRY_HOSTS.search('https://' + 'pypi' + '.org/simple')
    assert not REGISTRY_HOSTS.search('pip install gemma_node')


def test_package_files_are_small_enough_to_clone():
    sizes = {path: path.stat().st_size for path in tracked_files()}
    assert {path for path, size in sizes.items() if size > 20 * 1024 * 1024} == set()
