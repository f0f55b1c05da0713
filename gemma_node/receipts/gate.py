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
The exactness gate: a reply among others is, bit for bit, the reply alone, fresh and undrafted.

Each pair is one generation run twice on engines of the same kind: plainly, in an empty engine
without drafts, and in one of the ways of a covering array. Compared are the token ids and a
hash over the bits of all logits that were drawn from. Equal pairs bound the share of unequal
ones; a plain run against a plain run is the control.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
import hashlib
import tempfile
from typing import Any

import numpy as np

from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import Generation
from gemma_node.core import GenerationResult
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.config import KV_DTYPES
from gemma_node.engine.engine import Engine
from gemma_node.model.cache_shape import TILE
from gemma_node.model.config import ModelConfig
from gemma_node.model.gemma4 import Gemma4
from gemma_node.receipts.covering import Combination
from gemma_node.receipts.covering import covering_array

MAX_LANES = 16
_REPLY = 24
# Where every token of every lane is a pass of its own.
_SHORT_REPLY = 10
_KEY = 'robot'
_SHARED = 40
# Prepares or damages an engine before the compared generation runs in it.
Spoil = Callable[[Engine], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What two runs of a generation must have in common."""

    finish: Finish
    token_ids: tuple[int, ...]
    ids_digest: str
    logits_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """How many pairs and tokens were compared, what took part in them, and which were unequal."""

    num_pairs: int
    num_rows: int
    unequal: tuple[str, ...]
    exercised: Mapping[str, int]

    @property
    def bound(self) -> float:
        """The share of unequal pairs that is refuted at 95 %, where none was found."""
        return float(1.0 - 0.05 ** (1.0 / max(1, self.num_pairs)))


class Rule:
    """
    A grammar without a text: what is allowed next follows from a seed and the tokens so far.

    At a third of the positions one token is allowed, at another third a few.
    """

    def __init__(self, seed: int, vocab_size: int) -> None:
        self._seed = seed
        self._vocab_size = vocab_size
        self._accepted: list[int] = []

    def fill_bitmask(self, row: Any) -> None:
        """Write what is allowed after the tokens accepted so far."""
        row.fill(0)
        words = row.view(np.uint32)
        for token in self._allowed():
            words[token // 32] |= np.uint32(1 << (token % 32))

    def accept(self, token_id: int) -> bool:
        """Advance, if the token is allowed."""
        if token_id not in self._allowed():
            return False
        self._accepted.append(token_id)
        return True

    def is_complete(self) -> bool:
        """Return that more may always follow."""
        return False

    def forced_token(self) -> int | None:
        """Return the one token allowed, or None."""
        allowed = self._allowed()
        return allowed[0] if len(allowed) == 1 else None

    def rollback(self, num_tokens: int) -> None:
        """Undo accepted tokens."""
        del self._accepted[len(self._accepted) - num_tokens :]

    def _allowed(self) -> Sequence[int]:
        text = f'{self._seed}:{self._accepted[-2:]}:{len(self._accepted)}'
        number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], 'little')
        count = (1, 5, self._vocab_size)[number % 3]
        if count == self._vocab_size:
            return range(self._vocab_size)
        step = number // 3 % (self._vocab_size // count)
        return [each * (self._vocab_size // count) + step for each in range(count)]


class Gate:
    """
    Runs pairs on one model.

    :param config: of the engines; lanes, states and folders are set by each way
    :param token_ids: what prompts are made of
    :param most_lanes: that a way has
    """

    def __init__(
        self,
        model: Gemma4,
        config: EngineConfig,
        token_ids: Sequence[int],
        *,
        most_lanes: int = MAX_LANES,
    ) -> None:
        self._model = model
        self._most_lanes = most_lanes
        self._config = replace(config, lanes=MAX_LANES, max_drafting_lanes=MAX_LANES)
        self._ids = tuple(token_ids)
        self._reply = _REPLY if config.native else _SHORT_REPLY
        self._plain: dict[tuple[Any, ...], Outcome] = {}
        self._exercised: Counter[str] = Counter()

    def run(self, num_pairs: int, seed: int, spoil: Spoil | None = None) -> Ways:
        """Compare pairs; with a fault planted, only until one is unequal."""
        unequal: list[str] = []
        count = num_rows = 0
        self._exercised.clear()
        for way in self._ways(seed):
            if count >= num_pairs or (spoil is not None and unequal):
                break
            count += 1
            expected, found = self.plain(way), self.run_way(way, spoil)
            num_rows += len(found.token_ids)
            if expected != found:
                unequal.append(_told(way))
        return Ways(
            num_pairs=count,
            num_rows=num_rows,
            unequal=tuple(unequal),
            exercised=dict(self._exercised),
        )

    def control(self, num_pairs: int, seed: int) -> Ways:
        """Compare plain runs with plain runs."""
        unequal: list[str] = []
        count = 0
        for way in self._ways(seed):
            if count >= num_pairs:
                break
            count += 1
            first = self.plain(way)
            self._plain.clear()
            if self.plain(way) != first:
                unequal.append(_told(way))
        return Ways(num_pairs=count, num_rows=0, unequal=tuple(unequal), exercised={})

    def plain(self, way: Combination) -> Outcome:
        """Return the outcome of an empty engine with nothing else to do, token by token."""
        key = tuple(way[name] for name in ('text', 'length', 'kv', 'grammar', 'sampled'))
        if key not in self._plain:
            engine = self._engine(way, state_budget_bytes=0, drafts=False)
            plain = replace(self._asked(way), draft=False)
            self._plain[key] = _outcome(engine, plain, [], Counter())
        return self._plain[key]

    def run_way(self, way: Combination, spoil: Spoil | None = None) -> Outcome:
        """Return the outcome of one way."""
        asked = self._asked(way)
        with tempfile.TemporaryDirectory() as folder:
            more = {'state_dir': folder} if way['state'] == 'disk' else {}
            engine = self._engine(way, drafts=way['drafts'], **more)
            self._warm(engine, way, asked)
            if way['state'] == 'disk':
                engine.close()
                engine = self._engine(way, drafts=way['drafts'], **more)
            _give_drafts(engine, asked, self.plain(way).token_ids)
            if spoil is not None:
                spoil(engine)
            return _outcome(engine, asked, self._neighbours(way, asked), self._exercised)

    def _ways(self, seed: int) -> Iterator[Combination]:
        factors = self.factors()
        while True:
            for way in covering_array(factors, seed):
                # A text of its own for each way, but few enough that plain runs are shared.
                yield {**way, 'text': (hash_number(seed) + way['length']) % 7}
            seed += 1

    def factors(self) -> dict[str, Sequence[Any]]:
        """Return what differs between pairs."""
        is_native = self._config.native
        # Lanes that run one after the other cannot meet in one pass.
        lanes = (1, 2, 3, 5, 8, 16) if is_native else (1, 2, 4)
        return {
            'length': _lengths(self._model.config, self._config.context_tokens),
            'state': ('none', 'memory', 'disk', 'fork', 'evicted'),
            'lanes': tuple(each for each in lanes if each <= self._most_lanes),
            'place': ('first', 'middle', 'last'),
            'neighbours': ('plain', 'canceled', 'failing', 'late', 'same text'),
            'drafts': (False, True),
            'grammar': (False, True),
            'sampled': (False, True),
            'poisoned': (False, True),
            'kv': KV_DTYPES,
        }

    def _engine(self, way: Combination, **more: Any) -> Engine:
        engine = Engine(self._model, replace(self._config, kv_dtype=way['kv'], **more))
        if way['poisoned']:
            engine.fill_free_memory(float('nan'))
        return engine

    def _asked(self, way: Combination) -> Generation:
        """Return the generation that is compared; it begins with the warm prompt's first part."""
        length, start = way['length'], way['text'] * 11
        ids = self._ids[start : start + length]
        seed = way['text'] + 1
        return Generation(
            id='compared',
            state_key=_KEY,
            prompt_ids=ids,
            cuts=(min(_SHARED, length), max(min(_SHARED, length), length - 9)),
            max_tokens=self._reply,
            constraint=Rule(seed, self._model.config.vocab_size) if way['grammar'] else None,
            temperature=0.8 if way['sampled'] else 0.0,
            top_p=0.95 if way['sampled'] else 1.0,
            seed=seed,
        )

    def _warm(self, engine: Engine, way: Combination, asked: Generation) -> None:
        """Bring the engine's states to where the way begins."""
        if way['state'] == 'none':
            return
        turns = 2 if way['state'] == 'fork' else 1
        for turn in range(turns):
            other = tuple(reversed(self._ids[turn * 5 : turn * 5 + 23]))
            prompt = asked.prompt_ids[: asked.cuts[-1]] + other
            prompt = prompt[: self._config.context_tokens - self._reply]
            warm = replace(asked, id=f'warm{turn}', prompt_ids=prompt, constraint=None, seed=9)
            _finish(engine, [warm])
        if way['state'] == 'evicted':
            engine.forget(_KEY)

    def _neighbours(self, way: Combination, asked: Generation) -> list[tuple[str, Generation]]:
        """Return what runs beside, in order, with what becomes of it; '' stands for `asked`."""
        count = way['lanes'] - 1
        before = {'first': 0, 'middle': count // 2, 'last': count}[way['place']]
        kind = way['neighbours']
        made: list[tuple[str, Generation]] = []
        for number in range(count):
            length = (17, 64, 65, 130)[number % 4]
            start = 13 * number + 5
            ids = self._ids[start : start + length]
            if kind == 'same text':
                ids = asked.prompt_ids[: -1 - number % 3] or ids
            failing = kind == 'failing' and number % 2 == 0
            made.append((kind, Generation(
                id=f'beside{number}',
                state_key=f'other{number}',
                prompt_ids=ids,
                cuts=(min(_SHARED, len(ids)), max(min(_SHARED, len(ids)), len(ids) - 1)),
                max_tokens=self._reply + number % 5,
                temperature=1.0,
                seed=number,
                constraint=_Failing() if failing else None,
                draft=number % 2 == 0,
            )))
        made.insert(before, ('', asked))
        return made


class _Guesser:
    """Proposes the plain reply, with a wrong token now and then: drafts of both kinds."""

    rests = False

    def __init__(self, token_ids: list[int], num_prompt: int, reply: tuple[int, ...]) -> None:
        self._ids = token_ids
        self._num_prompt = num_prompt
        self._reply = reply

    def propose(self, limit: int) -> tuple[int, ...]:
        """Return what follows in the reply, at most `limit`; one of four is wrong."""
        at = len(self._ids) - self._num_prompt
        guessed = list(self._reply[at : at + limit])
        for index in range(len(guessed)):
            if (at + index) % 4 == 2:
                guessed[index] = self._ids[0]
        return tuple(guessed)

    def learn(self, *, accepted: int) -> None:
        """Guess on."""


def _give_drafts(engine: Engine, asked: Generation, reply: tuple[int, ...]) -> None:
    """Have the compared generation drafted from its plain reply."""
    reached: Any = engine
    make = reached._sequence

    def made(generation: Generation, **more: Any) -> Any:
        if generation.id != asked.id:
            return make(generation, **more)
        num_prompt = len(generation.prompt_ids)
        opening = _Guesser(list(generation.prompt_ids), num_prompt, reply).propose(3)
        sequence = make(replace(generation, guess=opening), **more)
        sequence.drafter = _Guesser(sequence.ids, num_prompt, reply)
        return sequence

    reached._sequence = made


class _Failing(Rule):
    """Allows everything twice, then breaks."""

    def __init__(self) -> None:
        super().__init__(0, 1)
        self._left = 2

    def fill_bitmask(self, row: Any) -> None:
        """Raise after two masks."""
        self._left -= 1
        if self._left < 0:
            raise RuntimeError('a neighbour breaks, as planned')
        row.fill(-1)

    def accept(self, token_id: int) -> bool:
        """Take anything."""
        return True


def _outcome(
    engine: Engine,
    asked: Generation,
    order: Sequence[tuple[str, Generation]],
    exercised: Counter[str],
) -> Outcome:
    """Run a generation, beside others if there are any, and return its outcome."""
    digest = hashlib.sha256()

    def trace(generation_id: str, position: int, logits: Any) -> None:
        if generation_id == asked.id:
            digest.update(position.to_bytes(4, 'little') + logits.tobytes())

    engine.set_trace(trace)
    result = _finish(engine, [asked], order or [('', asked)])
    engine.set_trace(None)
    exercised['pairs with forced tokens'] += result.forced_tokens > 0
    exercised['pairs with accepted drafts'] += result.drafted_tokens > 0
    exercised['pairs with rejected drafts'] += (
        engine.stats().drafted_tokens > engine.stats().drafts_accepted
    )
    if result.cached_tokens:
        exercised[f'pairs resumed: {result.cache_source.name.lower()}'] += 1
    ids = np.asarray(result.token_ids, '<u4').tobytes()
    return Outcome(
        finish=result.finish,
        token_ids=result.token_ids,
        ids_digest=hashlib.sha256(ids).hexdigest(),
        logits_digest=digest.hexdigest(),
    )


def _finish(
    engine: Engine,
    asked: Sequence[Generation],
    order: Sequence[tuple[str, Generation]] | None = None,
) -> GenerationResult:
    """Run to the end, treating each neighbour as its kind says; return the asked one's result."""
    plan = list(order or [('', each) for each in asked])
    late = [generation for kind, generation in plan if kind == 'late']
    for kind, generation in plan:
        if kind != 'late':
            engine.submit(generation)
    found: GenerationResult | None = None
    steps = 0
    while engine.has_work or late:
        steps += 1
        if late and steps % 3 == 0:
            engine.submit(late.pop(0))
        if steps % 4 == 0:
            for kind, generation in plan:
                if kind == 'canceled' and int(generation.id[6:]) % 4 == steps // 4 % 4:
                    engine.cancel(generation.id, ErrorCode.CANCELED)
        for event in engine.step():
            if isinstance(event, GenerationResult) and event.id == asked[-1].id:
                found = event
    assert found is not None
    return found


def _lengths(config: ModelConfig, context_tokens: int) -> tuple[int, ...]:
    """Return prompt lengths around the window, tiles and pages that fit."""
    window = config.sliding_window
    wanted = {
        *(TILE + each for each in (-1, 0, 1)),
        *(2 * TILE + each for each in (-1, 0, 1)),
        *(window + each for each in (-1, 0, 1)),
        window + TILE + 1,
        window - _REPLY // 2,
        49,
    }
    room = min(context_tokens, config.max_position_embeddings) - 2 * _REPLY - 24
    return tuple(sorted(each for each in wanted if 9 < each <= room))


def hash_number(seed: int) -> int:
    """Return a number that follows from a seed."""
    return int.from_bytes(hashlib.sha256(str(seed).encode()).digest()[:4], 'little')


def _told(way: Combination) -> str:
    return ', '.join(f'{name} {value}' for name, value in way.items())
