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
"""Energy that a GPU has taken, by NVML: `with Energy('cuda') as energy: ...; energy.report`."""

from __future__ import annotations

import ctypes
import os
import time
from typing import Any


class Energy:
    """
    Millijoules between entry and exit, as the driver counts them; nothing without a GPU.

    :param idle_w: what the device takes with a context and nothing to do, taken off
    """

    def __init__(self, device: str, idle_w: float = 0.0) -> None:
        self.report: dict[str, Any] = {}
        self._idle_w = idle_w
        self._library: Any = None
        self._handle = ctypes.c_void_p()
        if device != 'cuda':
            return
        try:
            self._library = ctypes.CDLL('libnvidia-ml.so.1')
        except OSError:
            return
        self._library.nvmlInit_v2()
        index = int(os.environ.get('CUDA_VISIBLE_DEVICES', '0').split(',')[0] or 0)
        self._library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(self._handle))

    def __enter__(self) -> Energy:
        self._began, self._first = time.monotonic(), self._joules()
        return self

    def __exit__(self, *_: object) -> None:
        last, seconds = self._joules(), time.monotonic() - self._began
        if last is None or self._first is None:
            return
        joules = last - self._first
        self.report = {
            'joules': round(joules, 1), 'watts': round(joules / seconds, 1),
            'joules_above_idle': round(joules - self._idle_w * seconds, 1),
        }  # fmt: skip

    def _joules(self) -> float | None:
        if self._library is None:
            return None
        found = ctypes.c_ulonglong()
        code = self._library.nvmlDeviceGetTotalEnergyConsumption(
            self._handle, ctypes.byref(found)
        )
        return None if code else found.value / 1e3


def idle_watts(seconds: float = 2.0) -> float:
    """Return what a device with a context takes while nothing runs."""
    with Energy('cuda') as energy:
        time.sleep(seconds)
    return float(energy.report.get('watts', 0.0))
