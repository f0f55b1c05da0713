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
Finds ROS and the package's own files, whether they came from apt, colcon or pip.

Standard library only, and never imports ROS: call it before the first ``import rclpy``.
"""

from collections.abc import Mapping
import os
from pathlib import Path
import sys

_BOOTSTRAPPED = '_ROS_WHEELS_BOOTSTRAP_COMPLETE'
_RESTARTED = '_GEMMA_NODE_ROS_ENV'
_WHEEL_RMW = 'rmw_fastrtps_cpp'


def has_ros_wheels() -> bool:
    """Return whether rclpy was installed into this Python's prefix from pip wheels."""
    return (Path(sys.prefix) / 'share/ament_index/resource_index/packages/rclpy').is_file()


def prepare_ros() -> None:
    """
    Make ROS from pip wheels usable in this process; change nothing where ROS was sourced.

    Wheels set no AMENT_PREFIX_PATH, and a Python started by one of another prefix inherits its
    library path together with the wheels' note that all is done. The loader reads that path only
    at the start of a process, so in this last case the process starts itself again, once, and
    the wheels do the rest.
    """
    if not has_ros_wheels():
        return
    _prepend('AMENT_PREFIX_PATH', sys.prefix)
    index = Path(sys.prefix) / 'share/ament_index/resource_index/packages'
    if not (index / os.environ.get('RMW_IMPLEMENTATION', _WHEEL_RMW)).is_file():
        os.environ['RMW_IMPLEMENTATION'] = _WHEEL_RMW
    if str(Path(sys.prefix) / 'lib') not in _parts('LD_LIBRARY_PATH') and _may_restart():
        os.environ[_RESTARTED] = sys.prefix
        os.environ.pop(_BOOTSTRAPPED, None)
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(sys.executable, sys.orig_argv)


def child_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return `environ` fit for starting a Python of another prefix: it finds its own ROS."""
    child = dict(environ)
    child.pop(_RESTARTED, None)
    if child.pop(_BOOTSTRAPPED, None):
        parts = child.pop('LD_LIBRARY_PATH', '').split(os.pathsep)
        kept = [part for part in parts if part and not part.startswith(f'{sys.prefix}{os.sep}')]
        if kept:
            child['LD_LIBRARY_PATH'] = os.pathsep.join(kept)
    return child


def share_folder() -> Path:
    """
    Return the folder with config/, launch/, msg/, srv/ and action/ of this very package.

    That is the repository for a checkout, an editable install or a colcon link install, else
    share/gemma_node of the prefix that this file was installed into.
    """
    here = Path(__file__)
    root = here.resolve().parents[1]
    if (root / 'package.xml').is_file():
        return root
    for parent in here.parents:
        if (parent / 'share/gemma_node/package.xml').is_file():
            return parent / 'share/gemma_node'
    return Path(sys.prefix) / 'share/gemma_node'


def _prepend(name: str, folder: str) -> None:
    """Put a folder first in a path variable, unless it is in it."""
    parts = _parts(name)
    if folder not in parts:
        os.environ[name] = os.pathsep.join([folder, *parts])


def _parts(name: str) -> list[str]:
    return [part for part in os.environ.get(name, '').split(os.pathsep) if part]


def _may_restart() -> bool:
    return os.environ.get(_RESTARTED) != sys.prefix and 'rclpy' not in sys.modules
