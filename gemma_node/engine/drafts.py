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
Prompt-lookup drafts: what followed the newest two tokens when they last occurred.

Beside them stand the guesses that a request brings: how its reply may begin, and phrases that
it may name. Guesses only. A draft joins a reply when it equals the plain draw of its position, so
drafts change speed and never a token. Holds no tensors and imports no torch.
"""

from __future__ import annotations

from typing import NamedTuple

MAX_DRAFT = 4
# With what a grammar forces after them.
MAX_FOLLOWED = 12
# After as many rejections in a row, rest for so many tokens, then twice as many.
_PATIENCE = 2
_FIRST_REST = 8
_LONGEST_REST = 128


class Draft(NamedTuple):
    """Tokens that may follow, and after which of them (by index) a token is to be drawn."""

    token_ids: tuple[int, ...] = ()
    draws: tuple[int, ...] = ()


NO_DRAFT = Draft()


class Drafter:
    """Proposes continuations of one sequence, and less often while they are wrong."""

    def __init__(self, token_ids: list[int], first: int = 0) -> None:
        """Look things up from token `first` on: tools are declared in other words than called."""
        self._ids = token_ids
        self._last: dict[tuple[int, int], int] = {}
        self._indexed = first + 1
        self._misses = 0
        self._rest = _FIRST_REST
        self._rests_until = 0

    @property
    def rests(self) -> bool:
        """Whether proposals were wrong too often just now."""
        return len(self._ids) < self._rests_until

    def propose(self, limit: int) -> tuple[int, ...]:
        """Return at most `limit` likely next tokens, of those the sequence holds already."""
        ids, last = self._ids, self._last
        # The newest pair itself is indexed only once something follows it.
        for index in range(self._indexed, len(ids) - 1):
            last[ids[index - 1], ids[index]] = index + 1
        self._indexed = max(self._indexed, len(ids) - 1)
        if limit < 1 or len(ids) < 3 or self.rests:
            return ()
        start = last.get((ids[-2], ids[-1]))
        if start is None:
            return ()
        return tuple(ids[start : start + min(limit, MAX_DRAFT)])

    def learn(self, *, accepted: int) -> None:
        """Take note of how many of the last proposal's tokens were right."""
        if accepted:
            self._misses, self._rest = 0, _FIRST_REST
            return
        self._misses += 1
        if self._misses >= _PATIENCE:
            self._rests_until = len(self._ids) + self._rest
            self._rest = min(2 * self._rest, _LONGEST_REST)
            self._misses = 0
