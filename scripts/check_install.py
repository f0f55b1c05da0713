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
Check an installed package, from inside its sourced environment: check_install.py PREFIX.

Everything must come from PREFIX: Python modules, interfaces with typesupport, executable, files.
"""

import importlib
import importlib.util
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import rclpy


def modules(package: Path) -> list[str]:
    """Return every module below the checkout's package, generated ones left out."""
    found = []
    for path in sorted(package.rglob('*.py')):
        parts = path.relative_to(package.parent).with_suffix('').parts
        if parts[1] not in ('msg', 'srv', 'action') and parts[-1] != '__main__':
            found.append('.'.join(parts).removesuffix('.__init__'))
    return found


def check_python(prefix: Path, checkout: Path, problems: list[str]) -> None:
    """Find every module below the prefix, and import the light ones for real."""
    for name in modules(checkout / 'gemma_node'):
        spec = importlib.util.find_spec(name)
        if spec is None or not str(spec.origin).startswith(str(prefix)):
            problems.append(f'{name} was not installed (found: {spec and spec.origin})')
    for name in ('core', 'errors', 'ros_env', 'policy', 'worker.frames'):
        importlib.import_module(f'gemma_node.{name}')


def check_interfaces(checkout: Path, problems: list[str]) -> None:
    """Load the typesupport of every interface of the checkout."""
    for kind in ('msg', 'srv', 'action'):
        for path in sorted((checkout / kind).glob(f'*.{kind}')):
            try:
                module = importlib.import_module(f'gemma_node.{kind}')
                interface = getattr(module, path.stem)
                if kind == 'msg':
                    interface()
                interface.__class__.__import_type_support__()
            except (ImportError, AttributeError) as error:
                problems.append(f'{kind}/{path.stem} does not load: {error}')


def check_files(prefix: Path, checkout: Path, problems: list[str]) -> None:
    """Compare data files with the checkout, and look at the executable."""
    share = prefix / 'share/gemma_node'
    expected = {share / 'package.xml': checkout / 'package.xml'}
    for folder in ('launch', 'config', 'msg', 'srv', 'action'):
        for path in sorted((checkout / folder).glob('*.*')):
            expected[share / folder / path.name] = path
    (site,) = prefix.glob('lib/python3*/site-packages')
    for path in sorted((checkout / 'gemma_node').rglob('*')):
        if path.suffix in ('.yaml', '.json', '.jinja', '.safetensors', '.md', '.cu'):
            expected[site / path.relative_to(checkout)] = path
    for installed, source in expected.items():
        if not installed.is_file() or installed.read_bytes() != source.read_bytes():
            problems.append(f'{installed} is missing or differs from {source}')
    executable = prefix / 'lib/gemma_node/gemma_node'
    if not os.access(executable, os.X_OK):
        problems.append(f'{executable} is not an executable')


def check_executable(prefix: Path, problems: list[str]) -> None:
    """Start the installed executable as `ros2 run` does; it must show up and end on SIGINT."""
    rclpy.init()
    watcher = rclpy.create_node(f'check_install_{os.getpid()}')
    # A name of its own: another gemma_node may be alive in this domain.
    name = f'installed_{os.getpid()}'
    executable = prefix / 'lib/gemma_node/gemma_node'
    process = subprocess.Popen(
        [executable, '--ros-args', '-r', f'__node:={name}', '-p', 'autostart:=false'],
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 30.0
        while name not in watcher.get_node_names():
            if process.poll() is not None or time.monotonic() > deadline:
                problems.append(f'the executable did not come up (status {process.poll()})')
                return
            rclpy.spin_once(watcher, timeout_sec=0.1)
        process.send_signal(signal.SIGINT)
        if status := process.wait(timeout=20.0):
            problems.append(f'the executable ended with status {status} on SIGINT')
    finally:
        process.kill()
        process.wait()
        watcher.destroy_node()
        rclpy.try_shutdown()


def main() -> int:
    prefix = Path(sys.argv[1])
    checkout = Path(__file__).resolve().parents[1]
    problems: list[str] = []
    check_python(prefix, checkout, problems)
    check_interfaces(checkout, problems)
    check_files(prefix, checkout, problems)
    if not problems:
        check_executable(prefix, problems)
    sys.stderr.writelines(f'{problem}\n' for problem in problems)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
