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
From logits to tokens: masks, forced tokens, draws, and the check of drafts.

A token is forced where the grammar's mask has exactly one bit; it is taken without logits, and
without a pass of its own unless the request wants the plain reference (`draft` false). A draft
is taken only where it equals the draw of its position; what it forces is run along with it.
Knows no lanes and no model.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gemma_node.core import Finish
from gemma_node.engine.drafts import Draft
from gemma_node.engine.drafts import MAX_FOLLOWED
from gemma_node.engine.drafts import NO_DRAFT
from gemma_node.engine.runner import Found
from gemma_node.engine.runner import Logits
from gemma_node.engine.sampler import draw
from gemma_node.engine.sampler import look
from gemma_node.engine.sampler import Mask
from gemma_node.engine.sampler import NotFiniteError
from gemma_node.engine.sampler import numbers
from gemma_node.engine.sampler import only_id
from gemma_node.engine.sampler import Row
from gemma_node.engine.sequence import Sequence

Trace = Callable[[str, int, Logits], None]


class Producer:
    """
    Adds tokens to sequences and says when they end; engine thread only.

    `trace` is told each row of logits that is drawn from, with its generation's id and the
    position of the token that it decides.
    """

    def __init__(self, vocab_size: int) -> None:
        self.trace: Trace | None = None
        self.num_generated = 0
        self.num_forced = 0
        self.num_drafted = 0
        self.num_accepted = 0
        self._vocab_size = vocab_size
        self._num_words = -(-vocab_size // 32)
        self._tail = np.array([(1 << (vocab_size % 32)) - 1], np.uint32).view(np.int32)[0]

    def force(self, sequence: Sequence) -> None:
        """Take what the grammar leaves no choice about; note the mask where there is one."""
        while sequence.ending is None:
            sequence.mask = self._mask(sequence)
            only = None if sequence.mask is None else only_id(sequence.mask)
            if only is None or not sequence.generation.draft:
                return
            if self._take(sequence, only, 1.0, 1.0):
                sequence.forced_tokens += 1
                self.num_forced += 1

    def consume(
        self,
        sequence: Sequence,
        start: int,
        tokens: tuple[int, ...],
        outputs: tuple[int, ...],
        logits: Found,
    ) -> None:
        """
        Draw from the logits of rows that ran, as far as their drafts come true.

        :param start: position of tokens[0]
        :param outputs: whose logits these are, by index into tokens, from the last known one on
        """
        known = len(sequence.ids) - start
        forced = sequence.forced_tokens
        rows = {index: row for row, index in enumerate(outputs)}
        last = known - 1
        while last in rows:
            self._draw(sequence, logits[rows[last]])
            produced = sequence.ids[start + known :]
            last = known + len(produced) - 1
            if sequence.ending is not None or tuple(produced) != tokens[known : last + 1]:
                break
        right = 0
        for ours, theirs in zip(sequence.ids[start + known :], tokens[known:], strict=False):
            if ours != theirs:
                break
            right += 1
        sequence.rows = min(start + known + right, len(sequence.ids) - 1)
        if len(tokens) > known:
            free = right - (sequence.forced_tokens - forced)
            sequence.drafted_tokens += max(0, free)
            self.num_drafted += len(tokens) - known
            self.num_accepted += right
            # Guesses of a reply's opening are none of the drafter's.
            if start + known > sequence.num_prompt_tokens:
                sequence.drafter.learn(accepted=right)

    def opening(self, sequence: Sequence, limit: int) -> Draft:
        """Return what a reply may well begin with, to be run with its prompt's last rows."""
        generation = sequence.generation
        has_own_outputs = generation.prompt_logprobs or generation.score_ids
        left = generation.max_tokens - 1
        if not generation.draft or has_own_outputs or sequence.num_produced or left < 1:
            return NO_DRAFT
        guess = generation.guess[:limit]
        return self.possible(sequence, guess, min(left, MAX_FOLLOWED)) if guess else NO_DRAFT

    def draft(self, sequence: Sequence, limit: int, most: int = MAX_FOLLOWED) -> Draft:
        """Return what may well follow: `limit` tokens guessed, 0 for none, `most` with forced."""
        generation, drafter = sequence.generation, sequence.drafter
        if not limit or not generation.draft:
            return NO_DRAFT
        left = generation.max_tokens - sequence.num_produced - 1
        guessed = drafter.propose(min(limit, left))
        return NO_DRAFT if drafter.rests else self.possible(sequence, guessed, min(left, most))

    def possible(self, sequence: Sequence, drafts: tuple[int, ...], limit: int) -> Draft:
        """
        Return drafts up to one that the grammar forbids, with what it forces after them.

        Where the first one is, what the request names in their place. At most `limit` tokens.
        """
        constraint = sequence.generation.constraint
        if not drafts or not _allows(sequence, drafts[0]):
            drafts = self._named(sequence)
        if constraint is None or not drafts:
            return Draft(drafts[:limit], tuple(range(len(drafts[:limit]))))
        waiting, tokens, draws = list(drafts), list[int](), list[int]()
        while len(tokens) < limit:
            forced = constraint.forced_token() if tokens else None
            if forced is None:
                if not waiting:
                    break
                forced = waiting.pop(0)
            elif waiting and waiting.pop(0) != forced:
                waiting.clear()
            if forced in sequence.generation.stop_ids or not constraint.accept(forced):
                break
            tokens.append(forced)
            if constraint.forced_token() is None:
                draws.append(len(tokens) - 1)
        if tokens:
            constraint.rollback(len(tokens))
        return Draft(tuple(tokens), tuple(draws))

    def score(self, sequence: Sequence, logits: Row) -> None:
        """Note how probable each token that was asked about is, and end the sequence."""
        seen = look(logits, None)
        if not np.isfinite(seen.total):
            raise NotFiniteError('the model produced logits that are not finite')
        ids = sequence.generation.score_ids
        values = numbers(logits)
        sequence.scores = tuple(float(values[each]) - seen.total for each in ids)
        sequence.ending = (Finish.STOP, -1)

    def note_prompt(self, sequence: Sequence, start: int, logits: Found) -> None:
        """Note how probable the prompt's tokens are after the rows from position `start` on."""
        prompt = sequence.generation.prompt_ids
        count = max(0, len(prompt) - 1 - start)
        for position, row in enumerate(logits[:count], start + 1):
            seen = look(row, None)
            if not np.isfinite(seen.total):
                raise NotFiniteError('the model produced logits that are not finite')
            sequence.prompt_logprobs.append(float(numbers(row)[prompt[position]]) - seen.total)

    def _named(self, sequence: Sequence) -> tuple[int, ...]:
        """Return the only phrase of the request that may come next, or how it goes on."""
        phrases, newest = sequence.generation.phrases, sequence.ids[-1]
        if sequence.num_produced:
            going_on = {phrase[1:] for phrase in phrases if phrase[0] == newest}
            if len(going_on) == 1 and (rest := going_on.pop()) and _allows(sequence, rest[0]):
                return rest
        if sequence.mask is None:
            return ()
        allowed = {phrase for phrase in phrases if _allows(sequence, phrase[0])}
        return allowed.pop() if len(allowed) == 1 else ()

    def _draw(self, sequence: Sequence, logits: Row) -> None:
        generation, position = sequence.generation, len(sequence.ids)
        mask = sequence.mask
        only = None if mask is None or generation.draft else only_id(mask)
        if only is not None:
            self._take(sequence, only, 1.0, 1.0)
            self.force(sequence)
            return
        if self.trace is not None:
            self.trace(generation.id, position, numbers(logits))
        drawn = draw(logits, mask, generation, position)
        self._take(sequence, drawn.token_id, drawn.probability, drawn.mass)
        self.force(sequence)

    def _take(self, sequence: Sequence, token_id: int, probability: float, mass: float) -> bool:
        """Add a token, or note that it ends the sequence and return False."""
        generation = sequence.generation
        if token_id in generation.stop_ids:
            sequence.ending = (Finish.STOP, token_id)
            return False
        constraint = generation.constraint
        if constraint is not None and not constraint.accept(token_id):
            raise ValueError(f'the grammar refuses token {token_id}, which its mask allows')
        sequence.append(token_id, probability, mass)
        self.num_generated += 1
        if sequence.num_produced >= generation.max_tokens:
            sequence.ending = (Finish.LENGTH, -1)
        return True

    def _mask(self, sequence: Sequence) -> Mask | None:
        """Return the bits the constraint allows next; None without one."""
        constraint = sequence.generation.constraint
        if constraint is None:
            return None
        mask: Mask | None = sequence.mask
        if mask is None:
            mask = np.empty(self._num_words, np.int32)
        mask.fill(0)
        constraint.fill_bitmask(mask)
        if self._vocab_size % 32:
            mask[-1] &= self._tail
        return mask


def _allows(sequence: Sequence, token_id: int) -> bool:
    mask = sequence.mask
    return mask is None or bool(mask[token_id >> 5] >> (token_id & 31) & 1)
