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
What else a deciding token could have been: calls of the catalogue's other tools, a reply, a call.

Training may give these a small share of the target (`decision_smoothing`), so that a close
decision keeps a probability that says so. Knows no torch: it runs in the worker processes.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence

from gemma_node.decision.prompt import PromptWriter

MOST = 8
# Kinds whose answer a reasonable person might have given otherwise; they are smoothed more.
DOUBTFUL = frozenset(('unclear', 'unknown_choice', 'to_somebody', 'wish', 'chat', 'twin'))
DOUBT = 3.0
# How many tokens stand before a name: the opening token, `call` and `:`.
_BEFORE_NAME = 3

Rival = tuple[int, tuple[int, ...], float]


class Rivals:
    """The rivals of one catalogue's answers."""

    def __init__(self, writer: PromptWriter, names: Sequence[str]) -> None:
        called = {name: writer.call_ids(((name, {}),)) for name in names}
        first = next(iter(called.values()))
        self._opening = first[:_BEFORE_NAME]
        self._brace = tuple(writer.tokenizer.encode_data('{'))[:1]
        self._braces = frozenset(
            token for token in {i for ids in called.values() for i in ids} | set(self._brace)
            if writer.tokenizer.decode([token]).startswith('{'))
        self._names = tuple(self._name(ids) for ids in called.values())
        self._replies = tuple(sorted({writer.reply_ids(text)[0] for text in ('The', 'I')}))

    def _name(self, ids: Sequence[int]) -> tuple[int, ...]:
        rest = ids[_BEFORE_NAME:]
        end = next(i for i, token in enumerate(rest) if token in self._braces)
        return (*rest[:end], *self._brace)

    def of(self, ids: Sequence[int], start: int, end: int, kind: str) -> Iterator[Rival]:
        """Yield (place, ids, how much) for the deciding tokens of the answer at start..end."""
        much = DOUBT if kind in DOUBTFUL else 1.0
        opening = self._opening[0]
        if ids[start] != opening:
            yield start, (opening,), much
            return
        yield start, self._replies, much
        for at in range(start, end):
            if ids[at] == opening:
                yield from self._within_name(ids, at + _BEFORE_NAME, end, much)

    def _within_name(
        self, ids: Sequence[int], start: int, end: int, much: float
    ) -> Iterator[Rival]:
        for at in range(start, end):
            said = tuple(ids[start:at])
            nexts = {n[len(said)] for n in self._names
                     if n[:len(said)] == said and len(n) > len(said)}
            is_end = ids[at] in self._braces
            others = sorted(nexts - {ids[at]} - (self._braces if is_end else set()))
            if others:
                yield at, tuple(others[:MOST]), much
            if is_end:
                return
