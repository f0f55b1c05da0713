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

"""One run of the worker as the client sees it. Holds no lock: the client's guards it."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
import math
import queue
import threading

from gemma_node.worker.frames import LoadFailed
from gemma_node.worker.link import Link
from gemma_node.worker.watchdog import Watchdog


@dataclass(slots=True, kw_only=True)
class Life:
    """One run of the worker, from its start to its end."""

    link: Link
    watchdog: Watchdog
    outbox: queue.SimpleQueue[bytes | None]
    ended: threading.Event = field(default_factory=threading.Event)
    ready_at: float = math.nan
    reason: str = ''
    refusal: LoadFailed | None = None

    @property
    def was_ready(self) -> bool:
        """Return whether it ever served."""
        return not math.isnan(self.ready_at)

    def condemn(self, reason: str) -> None:
        """Kill the worker for a reason; the first reason stays."""
        self.reason = self.reason or reason
        self.link.kill()
