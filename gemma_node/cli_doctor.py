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
Looks at this machine: what gemma_node needs, what it can use, what is missing and how to get it.

Imports neither torch nor ROS: versions come from package metadata, devices from a child process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
import json
import os
from pathlib import Path
import platform
import shutil
import subprocess
import sys
from typing import Any

from gemma_node.cli_inspect import inspect_checkpoint
from gemma_node.errors import CheckpointError

OK, MISSING, OPTIONAL = 'ok', 'missing', 'optional'
_TORCH_MINIMUM = (2, 8)
_PYTHON = ((3, 10), (3, 13))
_DEVICE_TIMEOUT_S = 120.0
_DEVICES = """
import json, torch
found = [f'cpu ({torch.get_num_threads()} threads)']
if torch.cuda.is_available():
    for i in range(torch.cuda.device_count()):
        p = torch.cuda.get_device_properties(i)
        found.append(f'cuda:{i} {p.name}, {p.total_memory >> 20} MiB, sm_{p.major}{p.minor}')
if hasattr(torch, 'xpu') and torch.xpu.is_available():
    found += [f'xpu:{i} {torch.xpu.get_device_name(i)}' for i in range(torch.xpu.device_count())]
print(json.dumps(found))
"""
_ROS_NEEDED = (
    'rclpy',
    'std_msgs',
    'sensor_msgs',
    'geometry_msgs',
    'nav_msgs',
    'diagnostic_msgs',
    'lifecycle_msgs',
    'action_msgs',
)
_ROS_OPTIONAL = {
    'nav2_msgs': 'needed for tools on Nav2 actions (config/tools_nav2.yaml) only',
    'vision_msgs': 'needed for detections of vision pipelines as inputs only',
    'tf2_msgs': 'needed for transforms as inputs only',
    'bond': 'needed for a bond with a lifecycle manager only',
    'diagnostic_updater': 'not needed: diagnostics are published without it',
}
_LIBRARIES = (
    'numpy',
    'safetensors',
    'tokenizers',
    'llguidance',
    'msgspec',
    'jsonschema',
    'Jinja2',
    'ruamel.yaml',
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing looked at: ok, missing (the node needs it) or optional (it can do without)."""

    name: str
    state: str
    text: str


def run_checks(checkpoint: Path) -> list[Check]:
    """Look at everything; `checkpoint` is the folder that would be loaded."""
    checks = [_python(), _compiler(), *_torch(), *_libraries()]
    checks += [_ros_package(name) for name in _ROS_NEEDED]
    checks.append(_middleware())
    checks.append(_interfaces())
    for name, use in _ROS_OPTIONAL.items():
        found = find_spec(name) is not None
        text = 'found' if found else f'not installed; {use}'
        checks.append(Check(name=name, state=OK if found else OPTIONAL, text=text))
    checks.append(_checkpoint(checkpoint))
    return checks


def as_report(checks: list[Check]) -> dict[str, Any]:
    """Return the checks as plain values for JSON."""
    return {'ok': not is_missing(checks), 'checks': [asdict(check) for check in checks]}


def is_missing(checks: list[Check]) -> bool:
    """Return whether anything that the node needs is missing."""
    return any(check.state == MISSING for check in checks)


def _python() -> Check:
    fits = _PYTHON[0] <= sys.version_info[:2] <= _PYTHON[1]
    text = f'{platform.python_version()} on {platform.system()} {platform.machine()}'
    if not fits:
        text += '; 3.10 to 3.13 is needed'
    return Check(name='python', state=OK if fits else MISSING, text=text)


def _compiler() -> Check:
    path = shutil.which('g++') or shutil.which('c++')
    text = path or 'not found; needed to build the interfaces: apt install g++'
    return Check(name='g++', state=OK if path else OPTIONAL, text=text)


def _torch() -> list[Check]:
    version = _version('torch')
    if not version:
        text = 'not installed; pip install torch, or point engine.python at a Python that has it'
        return [Check(name='torch', state=MISSING, text=text)]
    numbers = tuple(int(part) for part in version.split('+')[0].split('.')[:2])
    if numbers < _TORCH_MINIMUM:
        return [Check(name='torch', state=MISSING, text=f'{version}; 2.8 or newer is needed')]
    return [Check(name='torch', state=OK, text=version), _devices()]


def _devices(run: Callable[..., Any] = subprocess.run) -> Check:
    try:
        done = run(
            [sys.executable, '-c', _DEVICES],
            capture_output=True,
            text=True,
            timeout=_DEVICE_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        text = f'asking torch for devices took more than {_DEVICE_TIMEOUT_S:g} s'
        return Check(name='devices', state=MISSING, text=text)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ['no message'])[-1]
        return Check(name='devices', state=MISSING, text=f'torch cannot be imported: {last}')
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return Check(name='devices', state=OK, text='; '.join(found))


def _libraries() -> list[Check]:
    checks = []
    for name in _LIBRARIES:
        version = _version(name)
        text = version or f'not installed; pip install {name}'
        checks.append(Check(name=name, state=OK if version else MISSING, text=text))
    version = _version('rosbags')
    text = version or 'not installed; needed for replay only: pip install rosbags'
    checks.append(Check(name='rosbags', state=OK if version else OPTIONAL, text=text))
    return checks


def _ros_package(name: str) -> Check:
    if find_spec(name) is None:
        text = "not found; source your ROS 2, or pip install '.[ros]' (Linux x86_64)"
        return Check(name=name, state=MISSING, text=text)
    version = _version(f'ros-jazzy-{name.replace("_", "-")}')
    return Check(name=name, state=OK, text=f'wheel {version}' if version else 'found')


def _middleware() -> Check:
    wanted = os.environ.get('RMW_IMPLEMENTATION', '')
    version = _version('ros-jazzy-rmw-fastrtps-cpp')
    if version:
        return Check(name='middleware', state=OK, text=f'rmw_fastrtps_cpp, wheel {version}')
    if os.environ.get('AMENT_PREFIX_PATH'):
        return Check(name='middleware', state=OK, text=wanted or 'the default of the sourced ROS')
    text = 'no rmw found; pip install ros-jazzy-rmw-fastrtps-cpp, or source your ROS 2'
    return Check(name='middleware', state=MISSING, text=text)


def _interfaces() -> Check:
    if find_spec('gemma_node.msg') is None:
        text = 'not built; colcon build, or pip install .'
        return Check(name='gemma_node interfaces', state=MISSING, text=text)
    return Check(name='gemma_node interfaces', state=OK, text='built')


def _checkpoint(folder: Path) -> Check:
    try:
        facts = inspect_checkpoint(folder)
    except CheckpointError as error:
        return Check(name='checkpoint', state=MISSING, text=str(error))
    text = f'{folder}: {facts["parameters"]:,} parameters, {facts["bytes"]:,} bytes, '
    text += f'served with rounding {facts["rounding"]}'
    return Check(name='checkpoint', state=OK, text=text)


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ''
