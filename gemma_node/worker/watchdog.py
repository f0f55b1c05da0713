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
Judges whether a worker is alive by its heartbeats. Holds no thread and no process.

A worker is silent when no heartbeat came for the limit, or when its engine has been in one step
for longer. Before it is ready only the first counts, with the wider limit: importing and mapping
a large checkpoint can hold the interpreter for seconds.
"""

from __future__ import annotations

from collections.abc import Callable
import time

SILENT_LIMIT_S = 2.0
MAX_SILENT_LIMIT_S = 60.0
LOAD_SILENT_LIMIT_S = 60.0
CHECK_PERIOD_S = 0.25


class Watchdog:
    """
    Remembers the last heartbeat of one worker.

    `beat`, `ready` and `verdict` may be called from any thread: each works on single values.
    """

    def __init__(
        self,
        limit_s: float = SILENT_LIMIT_S,
        *,
        load_limit_s: float = LOAD_SILENT_LIMIT_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit_s = limit_s
        self._load_limit_s = max(load_limit_s, limit_s)
        self._clock = clock
        self._is_ready = False
        self._step_age_s = 0.0
        self._last_beat = self._last_check = clock()

    def ready(self, step_s: float = 0.0) -> None:
        """Apply the strict limit, or on a slow device five times what one step takes there."""
        self._limit_s = max(self._limit_s, min(5 * step_s, MAX_SILENT_LIMIT_S))
        self._last_beat = self._clock()
        self._is_ready = True

    def beat(self, step_age_s: float = 0.0) -> None:
        """Take one heartbeat; `step_age_s` is how long the engine has been in its step."""
        self._last_beat = self._clock()
        self._step_age_s = step_age_s

    def verdict(self) -> str:
        """
        Return why the worker must be killed, or ''.

        Call it every CHECK_PERIOD_S. After a late call the observer itself was held up (a
        suspended machine, a stopped node), so the worker gets a new period before it is judged.
        """
        now = self._clock()
        was_away = now - self._last_check > 4 * CHECK_PERIOD_S
        self._last_check = now
        if was_away:
            self._last_beat = now
            self._step_age_s = 0.0
            return ''
        silent_s = now - self._last_beat
        limit_s = self._limit_s if self._is_ready else self._load_limit_s
        if silent_s > limit_s:
            return f'the worker was silent for {silent_s:.1f} s; the limit is {limit_s:g} s'
        if self._is_ready and self._step_age_s > limit_s:
            return (
                f'the worker was in one step for {self._step_age_s:.1f} s; '
                f'the limit is {limit_s:g} s'
            )
        return ''
