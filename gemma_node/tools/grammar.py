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
Token masks of a tool grammar, by llguidance. Knows token ids and grammars, nothing of engines.

Stop tokens are handled here, not in the grammar: they are allowed exactly where it is complete.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import json
from typing import Any
from typing import Protocol

from llguidance import LLMatcher
from llguidance import LLTokenizer
import numpy as np
from numpy.typing import NDArray

from gemma_node.core import ToolChoice
from gemma_node.core import ToolDeclaration
from gemma_node.errors import GrammarError
from gemma_node.tools.call_format import CallTokens
from gemma_node.tools.call_format import CLOSE_THOUGHT
from gemma_node.tools.call_format import OPEN_THOUGHT
from gemma_node.tools.lark import GrammarSource
from gemma_node.tools.lark import HIDDEN_MARK
from gemma_node.tools.lark import TEXT_CLASS
from gemma_node.tools.lark import write_grammar

DEFAULT_CACHE_BYTES = 16 << 20
# Growth of the process measured with 1 to 200 tools: 67 to 656 KiB an entry.
_BYTES_PER_CHARACTER = 64
_BYTES_PER_ENTRY = 64 << 10
# Sets of tokens that masks inside strings and free text are made of.
_SLICES = (TEXT_CLASS + '{1,10}', TEXT_CLASS + '{1,30}', TEXT_CLASS + '+')


class SerializableTokenizer(Protocol):
    """What is needed of `tokenizers.Tokenizer`."""

    def to_str(self) -> str:
        """Return the content of tokenizer.json."""


@dataclass(frozen=True, slots=True)
class _Entry:
    source: GrammarSource
    matcher: LLMatcher
    nbytes: int


class GrammarFactory:
    """
    Compiles tool grammars and makes one constraint per generation. One thread at a time.

    Loading takes seconds with a large vocabulary and holds the GIL. Compiled grammars are kept
    up to `cache_bytes` (estimated), the least recently used go first. With
    `max_thinking_tokens`, a thought of at most so many tokens may come before the answer.
    """

    def __init__(
        self,
        tokenizer: SerializableTokenizer | str,
        *,
        vocab_size: int,
        stop_ids: Sequence[int],
        special_ids: Mapping[str, int],
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        max_thinking_tokens: int = 0,
    ) -> None:
        text = tokenizer if isinstance(tokenizer, str) else tokenizer.to_str()
        try:
            self._tokens = CallTokens.from_special_ids(special_ids)
        except KeyError as error:
            raise GrammarError(f'the tokenizer lacks the special token {error}') from error
        self._max_thinking_tokens = max_thinking_tokens
        self._thought = _thought_of(special_ids) if max_thinking_tokens else None
        self._stop_ids = tuple(sorted(set(stop_ids)))
        if not self._stop_ids or not 0 <= self._stop_ids[0] <= self._stop_ids[-1] < vocab_size:
            raise GrammarError(f'stop_ids must be ids below {vocab_size}, got {stop_ids}')
        if set(self._stop_ids) & {
            self._tokens.open_call, self._tokens.close_call, self._tokens.quote,
        }:
            raise GrammarError('a token of the call syntax cannot be a stop token')
        try:
            self._tokenizer = LLTokenizer(
                hide_special_texts(text), n_vocab=vocab_size, eos_token=list(self._stop_ids),
                slices=list(_SLICES))
        except (KeyError, ValueError, TypeError, RuntimeError) as error:
            reason = str(error).partition('\n')[0]
            raise GrammarError(f'the tokenizer does not fit its vocabulary: {reason}') from error
        self._vocab_size = vocab_size
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._cache_bytes = cache_bytes
        self._cached_bytes = 0

    @property
    def cached_bytes(self) -> int:
        """Estimated bytes of the compiled grammars kept."""
        return self._cached_bytes

    def compile(
        self,
        declarations: Sequence[ToolDeclaration],
        tool_choice: ToolChoice = ToolChoice.AUTO,
        max_calls: int = 4,
    ) -> GrammarSource:
        """Return the grammar's source and digest; raises GrammarError if it cannot be compiled."""
        return self._entry(declarations, tool_choice, max_calls).source

    def constraint(
        self,
        declarations: Sequence[ToolDeclaration],
        tool_choice: ToolChoice = ToolChoice.AUTO,
        max_calls: int = 4,
    ) -> GrammarConstraint:
        """Return a fresh constraint (a core.TokenConstraint) for one generation."""
        entry = self._entry(declarations, tool_choice, max_calls)
        return GrammarConstraint(
            entry.matcher.deep_copy(), self._stop_ids, self._vocab_size, thought=self._thought,
            max_thinking_tokens=self._max_thinking_tokens)

    def _entry(
        self, declarations: Sequence[ToolDeclaration], tool_choice: ToolChoice, max_calls: int,
    ) -> _Entry:
        key = _key(declarations, tool_choice, max_calls)
        entry = self._entries.get(key)
        if entry is not None:
            self._entries.move_to_end(key)
            return entry
        source = write_grammar(
            declarations, tool_choice=tool_choice, max_calls=max_calls, tokens=self._tokens,
            thought=self._thought)
        matcher = LLMatcher(self._tokenizer, source.text, log_level=0)
        if matcher.is_error():
            first_line = matcher.get_error().partition('\n')[0]
            raise GrammarError(f'the grammar of the tools cannot be compiled: {first_line}')
        nbytes = _BYTES_PER_ENTRY + _BYTES_PER_CHARACTER * len(source.text) + len(key)
        entry = _Entry(source, matcher, nbytes)
        self._entries[key] = entry
        self._cached_bytes += nbytes
        while self._cached_bytes > self._cache_bytes and len(self._entries) > 1:
            _, oldest = self._entries.popitem(last=False)
            self._cached_bytes -= oldest.nbytes
        return entry


class GrammarConstraint:
    """The state of one generation in its grammar; implements core.TokenConstraint."""

    def __init__(
        self, matcher: LLMatcher, stop_ids: Sequence[int], vocab_size: int, *,
        thought: tuple[int, int] | None = None, max_thinking_tokens: int = 0,
    ) -> None:
        self._matcher = matcher
        self._stop_ids = frozenset(stop_ids)
        self._vocab_size = vocab_size
        self._mask: NDArray[np.int32] = np.zeros((vocab_size + 31) // 32, dtype=np.int32)
        self._stop_mask = np.zeros_like(self._mask)
        for token_id in stop_ids:
            self._stop_mask.view(np.uint32)[token_id // 32] |= np.uint32(1 << token_id % 32)
        self._is_mask_current = False
        self._num_stops = 0
        self._thought = thought
        self._max_thinking_tokens = max_thinking_tokens
        self._num_accepted = 0
        # Position of the marker that closed the thought; -1 while none is open or it is open.
        self._thought_end = -1
        self._is_thinking = False

    def fill_bitmask(self, row: Any) -> None:
        """Write the tokens allowed next; words past the vocabulary become 0."""
        self._refresh()
        row[:self._mask.size] = self._mask
        row[self._mask.size:] = 0

    def accept(self, token_id: int) -> bool:
        """Advance by one token; False (and no change) when the grammar forbids it."""
        if not 0 <= token_id < self._vocab_size:
            return False
        if self._num_stops or token_id in self._stop_ids:
            if token_id not in self._stop_ids or not self._can_stop():
                return False
            self._num_stops += 1
            self._is_mask_current = False
            return True
        if self._is_thought_full() and not self._allows(token_id):
            return False
        accepted = self._matcher.try_consume_tokens([token_id]) == 1
        self._check()
        if accepted:
            self._is_mask_current = False
            self._note_thought(token_id)
            self._num_accepted += 1
        return accepted

    def is_complete(self) -> bool:
        """Return whether nothing but a stop token may follow."""
        self._refresh()
        return not np.any(self._mask & ~self._stop_mask)

    def forced_token(self) -> int | None:
        """Return the one token the mask allows, or None when there is a choice."""
        self._refresh()
        words = np.flatnonzero(self._mask)
        if words.size != 1:
            return None
        word = int(self._mask[words[0]]) & 0xFFFFFFFF
        return 32 * int(words[0]) + word.bit_length() - 1 if word & (word - 1) == 0 else None

    def rollback(self, num_tokens: int) -> None:
        """Undo the last `num_tokens` accepted tokens."""
        stops = min(num_tokens, self._num_stops)
        self._num_stops -= stops
        if num_tokens > stops and not self._matcher.rollback(num_tokens - stops):
            raise GrammarError(f'cannot roll back {num_tokens} tokens: {self._error()}')
        self._is_mask_current = False
        self._num_accepted -= num_tokens - stops
        if self._num_accepted <= self._thought_end:
            self._thought_end, self._is_thinking = -1, True
        self._is_thinking &= self._num_accepted > 0

    def _note_thought(self, token_id: int) -> None:
        if self._thought is None:
            return
        if self._num_accepted == 0:
            self._is_thinking = token_id == self._thought[0]
        elif self._is_thinking and token_id == self._thought[1]:
            self._is_thinking, self._thought_end = False, self._num_accepted

    def _is_thought_full(self) -> bool:
        return self._is_thinking and self._num_accepted > self._max_thinking_tokens

    def _allows(self, token_id: int) -> bool:
        self._refresh()
        return bool(self._mask.view(np.uint32)[token_id // 32] >> np.uint32(token_id % 32) & 1)

    def _can_stop(self) -> bool:
        return bool(self._matcher.is_accepting())

    def _refresh(self) -> None:
        if self._is_mask_current:
            return
        if self._num_stops or self._matcher.is_stopped():
            self._mask[:] = self._stop_mask
        else:
            self._matcher.unsafe_compute_mask_ptr(self._mask.ctypes.data, self._mask.nbytes)
            self._mask &= ~self._stop_mask
            if self._can_stop():
                self._mask |= self._stop_mask
            if self._is_thought_full():
                self._close_thought()
        self._check()
        self._is_mask_current = True

    def _close_thought(self) -> None:
        """Leave only the marker that ends the thought, unless a character is half written."""
        assert self._thought is not None
        word, bit = divmod(self._thought[1], 32)
        closing = self._mask.view(np.uint32)[word] & np.uint32(1 << bit)
        if closing:
            self._mask[:] = 0
            self._mask.view(np.uint32)[word] = closing

    def _check(self) -> None:
        if self._matcher.is_error():
            raise GrammarError(f'the token grammar failed: {self._error()}')

    def _error(self) -> str:
        return self._matcher.get_error().partition('\n')[0]


def _thought_of(special_ids: Mapping[str, int]) -> tuple[int, int]:
    try:
        return special_ids[OPEN_THOUGHT], special_ids[CLOSE_THOUGHT]
    except KeyError as error:
        raise GrammarError(f'the checkpoint cannot think: its tokenizer lacks {error}; set '
                           'decoding.max_thinking_tokens to 0') from error


def hide_special_texts(tokenizer_json: str) -> str:
    """
    Give the special tokens of a tokenizer.json texts that no grammar spells.

    llguidance tokenises forced bytes with special tokens on: a choice that reads like a marker
    would be offered as the marker. The grammars here name special tokens by id only.
    """
    content = json.loads(tokenizer_json)
    model = content['model']
    names = {
        token['content']: f'<{HIDDEN_MARK}{token["id"]}>'
        for token in content['added_tokens'] if token['special']
    }
    for token in content['added_tokens']:
        token['content'] = names.get(token['content'], token['content'])
    vocab = model['vocab']
    if isinstance(vocab, dict):
        model['vocab'] = {names.get(text, text): token_id for text, token_id in vocab.items()}
    else:
        model['vocab'] = [[names.get(text, text), score] for text, score in vocab]
    if model.get('unk_token') in names:
        model['unk_token'] = names[model['unk_token']]
    content['post_processor'] = content['truncation'] = content['padding'] = None
    return json.dumps(content, ensure_ascii=False)


def _key(
    declarations: Sequence[ToolDeclaration], tool_choice: ToolChoice, max_calls: int,
) -> str:
    try:
        return json.dumps(
            [int(tool_choice), max_calls,
             [[tool.name, tool.is_builtin, tool.parameters] for tool in declarations]],
            default=dict, allow_nan=False,
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise GrammarError(f'a tool declaration is no plain JSON: {error}') from error
