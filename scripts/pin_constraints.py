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
Write constraints.txt from what pip installed into this Python: exact pins, transitive too.

Pins that only hold on some Pythons are kept: lines with a marker are left as they are.
"""

from importlib.metadata import distributions
from pathlib import Path
import re
import sys

HEAD = """\
# Exact versions of everything that running, testing and building gemma_node installs.
# Written by scripts/pin_constraints.py from a fresh environment; see CONTRIBUTING.md.
"""
OWN = {'gemma-node', 'pip'}


def normalise(name: str) -> str:
    return re.sub(r'[-_.]+', '-', name).lower()


def installed_by_pip() -> dict[str, str]:
    """Return name -> version; the ROS wheels also carry egg-infos, which are no packages."""
    found = {}
    for distribution in distributions():
        if distribution.read_text('INSTALLER') is None:
            continue
        name = normalise(distribution.metadata['Name'])
        if name not in OWN:
            found[name] = distribution.version.partition('+')[0]
    return found


def main() -> int:
    path = Path(__file__).resolve().parents[1] / 'constraints.txt'
    old = path.read_text(encoding='utf-8').splitlines() if path.exists() else []
    marked = [line for line in old if ';' in line and not line.startswith('#')]
    named = {normalise(re.split(r'[=<>!~ ;]', line)[0]) for line in marked}
    found = installed_by_pip().items()
    pins = [f'{name}=={version}' for name, version in found if name not in named]
    path.write_text(HEAD + '\n'.join(sorted([*pins, *marked])) + '\n', encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
