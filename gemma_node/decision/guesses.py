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
What a reply may well begin with and name, as ids: guesses that save passes, never tokens.

Robots are mostly answered by a call, and values of calls are mostly words of the request. Knows
no engine.
"""

from __future__ import annotations

from gemma_node.decision.prompt import Prompt
from gemma_node.text.tokenizer import Tokenizer
from gemma_node.tools.call_format import OPEN_CALL
from gemma_node.tools.call_format import QUOTE

_MAX_PHRASE = 4


class Guesses:
    """Guesses in one tokenizer; `turn_end` ends a turn in its prompts."""

    def __init__(self, tokenizer: Tokenizer, turn_end: int) -> None:
        special = tokenizer.special_ids
        self.opening = tuple(special[name] for name in (OPEN_CALL,) if name in special)
        self._quote = tuple(special[name] for name in (QUOTE,) if name in special)
        self._bare_ids = tokenizer.bare_ids()
        self._turn_end = turn_end

    def phrases(self, prompt: Prompt) -> tuple[tuple[int, ...], ...]:
        """
        Return the newest turn from each word on, as values of arguments are written.

        They begin without the space before the word, and end with a quote where the turn ends.
        """
        newest = prompt.ids[prompt.cuts[-1]:]
        ends = [index for index, each in enumerate(newest) if each == self._turn_end]
        said = newest[:ends[-1]] + self._quote if ends else newest
        return tuple(
            (self._bare_ids[each], *said[index + 1:index + _MAX_PHRASE])
            for index, each in enumerate(said)
            if each in self._bare_ids
        )
