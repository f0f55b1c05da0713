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
Decides when a robot asks by itself: on a period, a message, a change or a condition.

No clock and no ROS: the caller passes the time and a way to read inputs, so the node and replay
fire alike. Not thread-safe.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any

from gemma_node.policy.fields import lookup
from gemma_node.policy.fields import violation
from gemma_node.policy.settings import TriggerConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerInput:
    """What a trigger may know of its input: messages received so far, and the newest value."""

    count: int
    value: Any


ReadInput = Callable[[str], TriggerInput | None]


class Triggers:
    """
    The triggers of one robot.

    `poll` is to be called at least as often as triggers should be noticed; the node does so ten
    times a second, replay at every message.
    """

    def __init__(self, configs: Sequence[TriggerConfig], start_s: float) -> None:
        self._states = [_State(config) for config in configs if config.kind != 'request']
        self.reset(start_s)

    def reset(self, now_s: float) -> None:
        """Forget everything seen; periods count from now."""
        for state in self._states:
            state.reset(now_s)

    def poll(self, now_s: float, read: ReadInput) -> list[TriggerConfig]:
        """Return the triggers that fire now. `read` is called for watched inputs only."""
        return [state.config for state in self._states if state.fires(now_s, read)]


class _State:
    """What one trigger remembers between polls."""

    def __init__(self, config: TriggerConfig) -> None:
        self.config = config
        self._fired_s = 0.0
        self._has_fired = False
        self._count = 0
        self._baseline: Any = None
        self._was_true = False

    def reset(self, now_s: float) -> None:
        self._fired_s = now_s
        self._has_fired = False
        self._count = 0
        self._baseline = None
        self._was_true = False

    def fires(self, now_s: float, read: ReadInput) -> bool:
        config = self.config
        if config.kind == 'period':
            if now_s - self._fired_s < config.period_s:
                return False
            missed = int((now_s - self._fired_s) / config.period_s)
            self._fired_s += missed * config.period_s
            return True
        seen = read(config.input)
        if seen is None or seen.count == self._count:
            return False
        if self._has_fired and now_s - self._fired_s < config.min_interval_s:
            return False
        self._count = seen.count
        if not self._happened(seen.value):
            return False
        self._fired_s = now_s
        self._has_fired = True
        return True

    def _happened(self, message: Any) -> bool:
        config = self.config
        if config.kind == 'on_message':
            return True
        value = lookup(message, config.field)
        if isinstance(value, float) and math.isnan(value):
            value = None
        if config.kind == 'on_change':
            return self._changed(value)
        is_true = not violation(
            value, above=config.above, below=config.below, equals=config.equals)
        rises = is_true and not self._was_true
        self._was_true = is_true
        return rises

    def _changed(self, value: Any) -> bool:
        if value is None or value == self._baseline:
            return False
        baseline, numbers = self._baseline, (int, float)
        are_numbers = isinstance(value, numbers) and isinstance(baseline, numbers)
        if are_numbers and not abs(value - baseline) > self.config.min_change:
            return False
        self._baseline = value
        return baseline is not None
