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

"""How far a run is: by steps, or by the time it has, whichever ends it first."""

from __future__ import annotations

from collections import deque
import math
import time

from demo_data.trainer import Group

_SYNC_EVERY = 16
# The first steps compile; they say nothing of the speed.
_WARM = 48
_ALMOST_ALL = 1.0 - 1e-9


class Pace:
    """
    Says what share of a run is done after each step, the same in every process.

    With a time limit the shares follow the measured speed, so that the schedule ends in time.
    """

    def __init__(self, num_steps: int, first: int, seconds: float, group: Group) -> None:
        self._num_steps = num_steps
        self._first = first
        self._ends = time.monotonic() + seconds
        self._is_timed = math.isfinite(seconds)
        self._group = group
        self._share = 0.0
        self._timed: deque[tuple[int, float]] = deque(maxlen=40)
        self.is_over = False

    def after(self, step: int, progress: float) -> float:
        """Return the progress after a step, given that before it."""
        done = step + 1 - self._first
        if done == 1 or done % _SYNC_EVERY == 0:
            self._share = self._group.first((1.0 - progress) / self._steps_left(step, done))
        progress = min(progress + self._share, 1.0)
        self.is_over = step + 1 >= self._num_steps or progress >= _ALMOST_ALL
        return progress

    def _steps_left(self, step: int, done: int) -> float:
        """Return the steps to go, the one just done counted in."""
        left = float(self._num_steps - step)
        if self._is_timed and done >= _WARM:
            now = time.monotonic()
            self._timed.append((done, now))
            since, began = self._timed[0]
            if done > since:
                seconds = (now - began) / (done - since)
                left = min(left, (self._ends - now) / seconds)
        return max(left, 1.0)
