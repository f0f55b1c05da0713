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
How many calls a robot makes: within a minute, and the same one again and again.

Times on a steady clock, passed in. Executor thread only.
"""

from __future__ import annotations

from collections import defaultdict
from collections import deque
import json

from gemma_node.core import Call
from gemma_node.core import Request
from gemma_node.core import Trigger

MINUTE_S = 60.0
_MAX_KEPT = 4096


class Pace:
    """Remembers the calls that were let through, by robot."""

    def __init__(self) -> None:
        self._calls: defaultdict[str, deque[tuple[float, str]]] = defaultdict(
            lambda: deque(maxlen=_MAX_KEPT))
        self._repeats: defaultdict[str, deque[tuple[float, str]]] = defaultdict(
            lambda: deque(maxlen=_MAX_KEPT))

    def note_request(self, request: Request) -> None:
        """Take note that somebody asked: what a person wants again is no loop."""
        if request.trigger in (Trigger.REQUEST, Trigger.ACTION) and request.step == 0:
            self._repeats[request.robot].clear()

    def note(self, robot: str, call: Call, now_s: float) -> None:
        """Count a call that was let through."""
        entry = (now_s, _key(call))
        self._calls[robot].append(entry)
        self._repeats[robot].append(entry)

    def too_many(self, robot: str, now_s: float, per_minute: int) -> str:
        """Return why the robot may make no call now, '' when it may."""
        recent = sum(now_s - made_s < MINUTE_S for made_s, _ in self._calls[robot])
        if not per_minute or recent < per_minute:
            return ''
        return f"robot '{robot}' made {recent} calls within a minute, at most {per_minute} may be"

    def repeated(
        self, robot: str, call: Call, now_s: float, *, most: int, window_s: float
    ) -> str:
        """Return why this very call may not be made again, '' when it may."""
        key = _key(call)
        made = sum(key == other and now_s - made_s < window_s
                   for made_s, other in self._repeats[robot])
        if not most or made < most:
            return ''
        return (f'{call.name} was called {made} times with the same arguments within '
                f'{window_s:g} s and nobody asked for it again; at most {most} are allowed')


def _key(call: Call) -> str:
    return json.dumps([call.name, call.arguments], sort_keys=True, default=str)
