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
Turns cases into token ids through the package's own prompt code, and packs them for training.

A pack is one shared prefix (system and tools) with several tails that do not see each other,
as the runtime shares a prompt state between requests. Deterministic from (seed, index).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
import random

import numpy as np

from demo_data import words
from demo_data.cases import Answer
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import Turn
from demo_data.catalogues import Book
from demo_data.catalogues import BUILTINS
from demo_data.catalogues import changed_book
from demo_data.catalogues import demo_book
from demo_data.catalogues import made_up_book
from demo_data.catalogues import ROOT
from demo_data.drills import draw_drill_book
from demo_data.families import draw_case
from demo_data.fast_prompt import FastTemplate
from demo_data.fast_prompt import FastTokenizer
from demo_data.fast_prompt import FastWriter
from demo_data.machines import machine_book
from demo_data.rivals import MOST
from demo_data.rivals import Rival
from demo_data.rivals import Rivals
from demo_data.scenes import scene_book
from demo_data.stated import system_text
from demo_data.stated import with_rules
from gemma_node.core import Request
from gemma_node.core import RobotSettings
from gemma_node.core import ToolResult
from gemma_node.decision.prompt import MadeCall
from gemma_node.decision.prompt import Prompt
from gemma_node.decision.prompt import PromptWriter

ASSETS = ROOT / 'gemma_node' / 'assets' / 'demo'
MAX_TAIL = 1400
DRILL_CASES = 28
# So many packs one after the other that cannot be made are no accident.
MOST_LEFT_OUT = 24


@dataclass(frozen=True)
class Tail:
    """
    Ids after the prefix; `targets` are (start, end, kind) of what the model is to write.

    `rivals` says for deciding tokens what else they could have been.
    """

    ids: tuple[int, ...]
    targets: tuple[tuple[int, int, str], ...]
    rivals: tuple[Rival, ...] = ()


@dataclass(frozen=True)
class Pack:
    """A prefix and its tails."""

    prefix: tuple[int, ...]
    tails: tuple[Tail, ...]

    @property
    def num_tokens(self) -> int:
        """Tokens in all."""
        return len(self.prefix) + sum(len(tail.ids) for tail in self.tails)


def load_writer(assets: Path = ASSETS) -> PromptWriter:
    """Load tokenizer and chat template of the demo checkpoint."""
    return FastWriter(FastTokenizer.from_folder(assets), FastTemplate.from_folder(assets))


def draw_book(rng: random.Random, *, second: bool = False) -> Book:
    """Choose a catalogue: the demo's own, a changed one, or a made-up one; rules come with it."""
    roll = rng.random()
    if roll < 0.17:
        return with_rules(rng, demo_book(), second=second)
    book = changed_book(rng) if roll < 0.28 else scene_book(rng) if roll < 0.37 else machine_book(rng) if roll < 0.45 else made_up_book(rng)
    return with_rules(rng, book, second=second)


def draw_settings(rng: random.Random, book: Book) -> RobotSettings:
    """Choose name and system text of a robot with this catalogue."""
    robot = rng.choice(words.ROBOTS)
    return RobotSettings(
        name=robot, system_prompt=system_text(rng, book, robot), tools=book.declarations,
        history_turns=16, history_tokens=4096)


def draw_cases(
    seed: int, index: int, count: int, *, second: bool = False, dense: bool = False,
    fourth: bool = False,
) -> tuple[RobotSettings, Book, list[Case]]:
    """
    Make `count` cases of one robot; (seed, index) decide all.

    :param second: of the second helping
    :param dense: most come after turns whose answers are learnt too
    :param fourth: with the kinds of the fourth helping
    """
    rng = random.Random(f'{seed}/{index}')
    book = draw_book(rng, second=second)
    settings = draw_settings(rng, book)
    maker = CaseMaker(rng, book, settings.name, second=second)
    return settings, book, [draw_case(maker, dense=dense, fourth=fourth) for _ in range(count)]


def draw_drill(
    seed: int, index: int, count: int, stage: float, name: str = '', *, fourth: bool = False
) -> tuple[RobotSettings, Book, list[Case]]:
    """Make `count` cases of one drill; (seed, index, stage) decide all, or the name of a drill."""
    rng = random.Random(f'drill/{seed}/{index}')
    drill, book = draw_drill_book(rng, stage, name, fourth=fourth)
    settings = draw_settings(rng, book)
    maker = CaseMaker(rng, book, settings.name, second=True, brief=True)
    return settings, book, drill.cases(maker, count, stage)


def draw_pack(
    writer: PromptWriter, seed: int, index: int, count: int, *, second: bool = False,
    dense: bool = False, stage: float | None = None, fourth: bool = False,
) -> Pack:
    """
    Make one pack; tails too long for training are left out.

    :param dense: whether answers that need no observation come before most cases, and are learnt
    :param stage: makes it a drill, at this share of the curriculum
    :param fourth: of the fourth helping
    """
    if stage is not None:
        settings, _, cases = draw_drill(seed, index, count, stage, fourth=fourth)
    else:
        settings, _, cases = draw_cases(
            seed, index, count, second=second, dense=dense, fourth=fourth)
    writer._prefixes.clear()
    prefix = writer.prefix(settings).ids
    rivals = Rivals(writer, [tool.name for tool in settings.tools])
    tails = []
    for case in cases:
        prompt, target, learnt = _encode(writer, settings, case)
        ids = (*prompt.ids, *target)
        if len(ids) <= MAX_TAIL + len(prefix):
            spans = (*learnt, (len(prompt.ids), len(ids), case.kind))
            own = ids[len(prefix):]
            placed = tuple(
                (start - len(prefix), end - len(prefix), kind) for start, end, kind in spans)
            tails.append(Tail(own, placed, tuple(
                rival for span in placed for rival in rivals.of(own, *span))))
    return Pack(prefix, tuple(tails))


def encode_case(
    writer: PromptWriter, settings: RobotSettings, case: Case
) -> tuple[Prompt, tuple[int, ...]]:
    """Return the prompt the runtime would write, and the ids the model should answer with."""
    prompt, target, _ = _encode(writer, settings, case)
    return prompt, target


def _encode(
    writer: PromptWriter, settings: RobotSettings, case: Case
) -> tuple[Prompt, tuple[int, ...], list[tuple[int, int, str]]]:
    """Return prompt, answer, and where in the prompt earlier answers stand that are learnt."""
    learnt: list[tuple[int, int, str]] = []
    conversation = writer.conversation(settings)
    results: tuple[ToolResult, ...] = ()
    for number, turn in enumerate(case.turns):
        request = _request(settings, turn.text, results)
        ids, calls = _output(writer, turn, number)
        conversation.commit(request, ids[:-1], calls)
        end = len(conversation.history_ids) + 1
        if turn.kind:
            learnt.append((end - len(ids), end, turn.kind))
        told = turn.results or (turn.result,) * len(calls)
        results = tuple(
            ToolResult(call_id=call.id, name=call.name, text=text)
            for call, text in zip(calls, told, strict=True) if text)
    request = _request(settings, case.text, results)
    observations = case.state.observations if case.state is not None else ()
    prompt = conversation.build(request, observations)
    if conversation.history_turns < len(case.turns):
        learnt = []
    return prompt, target_ids(writer, case.answer), learnt


def target_ids(writer: PromptWriter, answer: Answer) -> tuple[int, ...]:
    """Return the ids of an answer, its stop token last."""
    if answer.calls:
        return writer.call_ids(answer.calls)
    return writer.reply_ids(answer.reply)


def training_sentences(seed: int, count: int) -> Iterator[str]:
    """Stream request texts as training draws them, `count` in all, history included."""
    made = 0
    index = 0
    while made < count:
        _, _, cases = draw_cases(seed, index, 8) if index % 4 != 3 else draw_drill(seed, index, 8, 1.0)
        index += 1
        for case in cases:
            for text in (*(turn.text for turn in case.turns), case.text):
                if made < count:
                    made += 1
                    yield text


@dataclass(frozen=True)
class LeftOut:
    """A pack that could not be made, and why."""

    seed: int
    index: int
    why: str

    def __str__(self) -> str:
        return f'pack {self.index} of seed {self.seed}: {self.why}'


class Rows:
    """
    Fixed-length rows of packed ids for training, as arrays.

    `parts` numbers prefix and tails within a row: 0 is padding, each prefix is
    followed by its tails. `homes` names the prefix that a token may read. `spans` lists the targets
    as (row, start, end, kind). `rivals` is of deciding tokens: flat place, right id, ids of what
    else could stand there (-1 is none); `rival_weights` says how much these are worth. `left_out`
    tells of packs that could not be made.
    """

    def __init__(self, num_rows: int, length: int) -> None:
        self.ids = np.zeros((num_rows, length), np.uint16)
        self.parts = np.zeros((num_rows, length), np.int16)
        self.homes = np.zeros((num_rows, length), np.int16)
        self.positions = np.zeros((num_rows, length), np.int16)
        self.targets = np.zeros((num_rows, length), np.bool_)
        self.spans: list[tuple[int, int, int, str]] = []
        self.rivals = np.zeros((0, 2 + MOST), np.int32)
        self.rival_weights = np.zeros(0, np.float32)
        self.left_out: list[LeftOut] = []

    def fill(self, row: int, packs: list[Pack], gaps: random.Random) -> None:
        """Lay packs into one row; some tails are moved away from their prefix by a gap."""
        at, part = 0, 0
        rivals: list[tuple[int, ...]] = []
        weights: list[float] = []
        for pack in packs:
            part += 1
            home = part
            at = self._put(row, at, pack.prefix, home, home, 0)
            for tail in pack.tails:
                part += 1
                gap = gaps.randrange(2500) if gaps.random() < 0.12 else 0
                at = self._put(row, at, tail.ids, part, home, len(pack.prefix) + gap)
                begin = at - len(tail.ids)
                for start, end, kind in tail.targets:
                    self.targets[row, begin + start:begin + end] = True
                    self.spans.append((row, begin + start, begin + end, kind))
                for place, others, much in tail.rivals:
                    none = (-1,) * (MOST - len(others))
                    rivals.append((row * self.ids.shape[1] + begin + place, tail.ids[place], *others, *none))
                    weights.append(much)
        if rivals:
            self.rivals = np.concatenate((self.rivals, np.array(rivals, np.int32)))
            self.rival_weights = np.concatenate((self.rival_weights, np.array(weights, np.float32)))

    def _put(
        self, row: int, at: int, ids: tuple[int, ...], part: int, home: int, position: int
    ) -> int:
        end = at + len(ids)
        self.ids[row, at:end] = ids
        self.parts[row, at:end] = part
        self.homes[row, at:end] = home
        self.positions[row, at:end] = np.arange(position, position + len(ids))
        return end


def draw_rows(
    writer: PromptWriter, seed: int, first_index: int, num_rows: int, length: int, *,
    helping: int = 1, drills: float = 0.0, stage: float = 1.0,
) -> tuple[Rows, int]:
    """
    Fill rows with fresh packs; returns them and the next unused pack index.

    A pack that cannot be made is left out, and the next in number takes its place; many of them in
    a row are an error.

    :param helping: 2 makes three packs in four of the second helping; 3 learns earlier answers
        too; 4 has more kinds and other drills
    :param drills: the share of packs that are drills, at this stage of their curriculum
    """
    rows = Rows(num_rows, length)
    index, failed = first_index, 0
    for row in range(num_rows):
        gaps = random.Random(f'gaps/{seed}/{index}')
        packs: list[Pack] = []
        room = length
        while room > 500:
            try:
                pack = _numbered_pack(writer, seed, index, helping, drills, stage)
            except Exception as error:
                failed += 1
                rows.left_out.append(LeftOut(seed, index, f'{type(error).__name__}: {error}'))
                if failed == MOST_LEFT_OUT:
                    raise ValueError(
                        f'{failed} packs in a row failed, the last {rows.left_out[-1]}') from error
                index += 1
                continue
            index, failed = index + 1, 0
            kept, room = _fit(pack, room)
            if kept is None:
                break
            packs.append(kept)
        rows.fill(row, packs, gaps)
    return rows, index


def _numbered_pack(
    writer: PromptWriter, seed: int, index: int, helping: int, drills: float, stage: float
) -> Pack:
    """Make the pack of this number: a drill or of a mixture, as seed and number decide."""
    if random.Random(f'mixture/{seed}/{index}').random() < drills:
        return draw_pack(writer, seed, index, DRILL_CASES, stage=stage, fourth=helping >= 4)
    second = helping >= 2 and index % 4 != 0
    return draw_pack(
        writer, seed, index, 14 if second else 10, second=second, dense=helping >= 3,
        fourth=helping >= 4 and second)


def _fit(pack: Pack, room: int) -> tuple[Pack | None, int]:
    """Keep as many tails as fit; None when not even one does."""
    room -= len(pack.prefix)
    tails = []
    for tail in pack.tails:
        if len(tail.ids) <= room:
            tails.append(tail)
            room -= len(tail.ids)
    return (Pack(pack.prefix, tuple(tails)), room) if tails else (None, room)


def _request(settings: RobotSettings, text: str, results: tuple[ToolResult, ...]) -> Request:
    return Request(id='0' * 32, robot=settings.name, text=text, tool_results=results)


def _output(
    writer: PromptWriter, turn: Turn, number: int
) -> tuple[tuple[int, ...], tuple[MadeCall, ...]]:
    """Return the ids of an earlier answer (stop token last) and the calls it made."""
    made = tuple(
        MadeCall(id=f'{number:016x}{place:016x}', name=name, is_builtin=name in BUILTINS)
        for place, (name, _) in enumerate(turn.answer.calls))
    return target_ids(writer, turn.answer), made
