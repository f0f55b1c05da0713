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


"""The reference backend: what this machine's memory and processor allow."""

from __future__ import annotations

import math
import os
from pathlib import Path
import platform

import torch

_CPU_FOLDER = Path('/sys/devices/system/cpu')
_MEMINFO = Path('/proc/meminfo')
# Folder, limit, usage and the statistic of cache that the kernel gives back on demand.
_CGROUPS = (
    (Path('/sys/fs/cgroup'), 'memory.max', 'memory.current', 'inactive_file'),
    (
        Path('/sys/fs/cgroup/memory'),
        'memory.limit_in_bytes',
        'memory.usage_in_bytes',
        'total_inactive_file',
    ),
)


def free_bytes() -> float:
    """Return memory that can still be used, also within a container; inf where unknown."""
    return min(_machine_bytes(), *(_container_bytes(*group) for group in _CGROUPS))


def describe() -> str:
    """Return the processor's instruction set and torch's threads."""
    capability = torch.backends.cpu.get_cpu_capability()
    return f'{platform.machine()} {capability}, {torch.get_num_threads()} threads'


def default_num_threads() -> int:
    """Return the physical cores this process may use, less one for ROS, but at least one."""
    cpus = os.sched_getaffinity(0) if hasattr(os, 'sched_getaffinity') else None
    if cpus is None:
        return max(1, (os.cpu_count() or 2) // 2 - 1)
    cores = {_siblings(cpu) for cpu in cpus}
    return max(1, len(cores) - 1)


def _siblings(cpu: int) -> str:
    """Return what the threads of one core have in common, or the thread itself if unknown."""
    for name in ('core_cpus_list', 'thread_siblings_list'):
        try:
            return (_CPU_FOLDER / f'cpu{cpu}' / 'topology' / name).read_text().strip()
        except OSError:
            continue
    return str(cpu)


def _machine_bytes() -> float:
    try:
        lines = _MEMINFO.read_text(encoding='ascii').splitlines()
    except OSError:
        return math.inf
    for line in lines:
        if line.startswith('MemAvailable:'):
            return int(line.split()[1]) * 1024
    return math.inf


def _container_bytes(folder: Path, limit: str, usage: str, cache: str) -> float:
    try:
        room = int((folder / limit).read_text()) - int((folder / usage).read_text())
        lines = (folder / 'memory.stat').read_text(encoding='ascii').splitlines()
    except (OSError, ValueError):
        return math.inf
    statistics = dict(line.split(maxsplit=1) for line in lines)
    return max(0, room + int(statistics.get(cache, 0)))
