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
What a run depends on, as digests and names: checkpoint, package, kernels, libraries, device.

Reads files; starts nothing on a device.
"""

from __future__ import annotations

from collections.abc import Iterable
import hashlib
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version
from pathlib import Path
import platform

import torch

from gemma_node.ahead import checkpoint_files
from gemma_node.ahead import file_digest
from gemma_node.kernels import nvrtc
from gemma_node.kernels.native import LIBRARY

_PACKAGE = Path(__file__).resolve().parents[1]
_KERNEL_FOLDERS = ('backends', 'engine', 'kernels', 'model', 'quant')
_LIBRARIES = ('torch', 'triton')
_CPU_INFO = Path('/proc/cpuinfo')
_NVIDIA_DRIVER = Path('/proc/driver/nvidia/version')


def checkpoint_digest(folder: Path) -> str:
    """Return the sha256 over name and sha256 of each file that is read from a checkpoint."""
    return _digest((path.name, file_digest(path)) for path in checkpoint_files(folder))


def package_digest() -> str:
    """Return the sha256 over every Python file of the package but generated interfaces."""
    generated = ('msg', 'srv', 'action')
    paths = [
        path
        for path in sorted(_PACKAGE.rglob('*.py'))
        if path.relative_to(_PACKAGE).parts[0] not in generated
    ]
    return _digest(_sources(paths))


def kernel_digest() -> str:
    """Return the sha256 over what computes: sources, the native library and torch's version."""
    paths = [
        path
        for name in _KERNEL_FOLDERS
        for kind in ('*.py', '*.cu')
        for path in sorted((_PACKAGE / name).rglob(kind))
    ]
    paths += _PACKAGE.glob(LIBRARY)
    return _digest([*_sources(sorted(paths)), ('torch', version('torch'))])


def libraries() -> dict[str, str]:
    """Return the versions of what computes, 'absent' where there is none."""
    found = {'python': platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = 'absent'
    return found


def cpu_identity() -> dict[str, str]:
    """Return what decides which instructions a CPU runs."""
    return {
        'name': cpu_name(),
        'architecture': platform.machine(),
        'capability': torch.backends.cpu.get_cpu_capability(),
    }


def cuda_identity() -> dict[str, str]:
    """Return what compiled kernels of a CUDA device depend on."""
    properties = torch.cuda.get_device_properties()
    return {
        'name': properties.name,
        'architecture': f'sm_{properties.major}{properties.minor}',
        'multiprocessors': str(properties.multi_processor_count),
        'cuda': str(torch.version.cuda),
        # Without it Triton multiplies, and rounds elsewhere.
        'nvrtc': nvrtc.compiler_version(),
        'driver': _nvidia_driver(),
    }


def xpu_identity() -> dict[str, str]:
    """Return what compiled kernels of an XPU device depend on."""
    properties = torch.xpu.get_device_properties()
    return {'name': properties.name, 'driver': str(getattr(properties, 'driver_version', ''))}


def cpu_name() -> str:
    """Return the processor's name."""
    if _CPU_INFO.is_file():
        for line in _CPU_INFO.read_text(errors='replace').splitlines():
            name, _, value = line.partition(':')
            if name.strip() == 'model name':
                return value.strip()
    return platform.processor() or platform.machine()


def _nvidia_driver() -> str:
    try:
        first = _NVIDIA_DRIVER.read_text(errors='replace').splitlines()[0]
    except (OSError, IndexError):
        return 'unknown'
    return next((word for word in first.split() if word[0].isdigit() and '.' in word), 'unknown')


def _sources(paths: Iterable[Path]) -> list[tuple[str, str]]:
    return [(path.relative_to(_PACKAGE).as_posix(), file_digest(path)) for path in paths]


def _digest(parts: Iterable[tuple[str, str]]) -> str:
    digest = hashlib.sha256()
    for name, value in parts:
        digest.update(f'{value}  {name}\n'.encode())
    return digest.hexdigest()
