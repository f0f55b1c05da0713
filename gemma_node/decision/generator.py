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

"""What the decision path asks of an engine. Holds nothing."""

from __future__ import annotations

from typing import Any
from typing import Protocol

from gemma_node.core import ErrorCode
from gemma_node.core import Generation


class Generator(Protocol):
    """What the decider asks of an engine; one GenerationResult follows each accepted submit."""

    def submit(self, generation: Generation) -> Any:
        """Queue a generation; raises GemmaNodeError when it takes none."""

    def cancel(self, generation_id: str, code: ErrorCode = ErrorCode.CANCELED) -> Any:
        """End a generation; its result says `code`."""

    def forget(self, state_key: str) -> Any:
        """Drop what is kept of this key's prompts, but for prefixes that all share."""

    def prepare(
        self, state_key: str, prompt_ids: tuple[int, ...], cuts: tuple[int, ...]
    ) -> Any:
        """Make ready, in idle time, for prompts that begin so; the newest of a key counts."""
