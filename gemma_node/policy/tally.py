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
Counts decisions: totals, refusals by code, and latencies over a sliding window.

Times on a steady clock, passed in. Executor thread only.
"""

from __future__ import annotations

from collections import Counter
from collections import deque
import math

WINDOW_S = 60.0
_MAX_KEPT = 4096


class Tally:
    """Counters of one robot, or of all."""

    def __init__(self) -> None:
        self.decisions = 0
        self.refused = 0
        self.deadline_misses = 0
        self.codes: Counter[int] = Counter()
        self._last_s = math.nan
        self._recent: deque[tuple[float, float]] = deque(maxlen=_MAX_KEPT)

    def record(
        self, *, now_s: float, latency_s: float, code: int, is_refused: bool, is_late: bool
    ) -> None:
        """Count one decision."""
        self.decisions += 1
        self.refused += is_refused
        self.deadline_misses += is_late
        if code:
            self.codes[code] += 1
        self._last_s = now_s
        self._recent.append((now_s, latency_s))

    def rate(self, now_s: float) -> float:
        """Return decisions a second over the window."""
        return len(self._latencies(now_s)) / WINDOW_S

    def percentile(self, fraction: float, now_s: float) -> float:
        """Return a latency percentile over the window, nan when it is empty."""
        latencies = self._latencies(now_s)
        if not latencies:
            return math.nan
        return latencies[min(len(latencies) - 1, int(fraction * len(latencies)))]

    def last_age(self, now_s: float) -> float:
        """Return the time since the last decision, nan before the first."""
        return now_s - self._last_s

    def _latencies(self, now_s: float) -> list[float]:
        while self._recent and now_s - self._recent[0][0] > WINDOW_S:
            self._recent.popleft()
        return sorted(latency for _, latency in self._recent)
