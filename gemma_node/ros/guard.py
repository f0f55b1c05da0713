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

"""One decorator for executor callbacks: an exception is logged and counted, the node stays up."""

from __future__ import annotations

from collections.abc import Callable
import functools
import traceback
from typing import Any

from rclpy.exceptions import ROSInterruptException
from rclpy.executors import ExternalShutdownException


class CallbackGuard:
    """Wraps callbacks of one node; `errors` counts what they raised."""

    def __init__(self, logger: Any) -> None:
        self._logger = logger
        self.errors = 0

    def __call__(self, callback: Callable[..., Any]) -> Callable[..., Any]:
        """Return the callback with its exceptions logged; it then returns None."""
        @functools.wraps(callback)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            try:
                return callback(*args, **kwargs)
            except (ExternalShutdownException, ROSInterruptException, KeyboardInterrupt):
                raise
            except Exception:
                self.errors += 1
                self._logger.error(
                    f'{callback.__qualname__} failed:\n{traceback.format_exc()}')
                return None
        return guarded
