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
Drills: small catalogues and many short cases of one weak skill each.

A drill of what is said alone is a conversation whose every answer is learnt; one of what is
observed has a short block of its own for each answer. `stage` (0 to 1) makes some harder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import random

from demo_data import machines
from demo_data import makers_calls as calls
from demo_data import makers_drills as drills
from demo_data import makers_missing as missing
from demo_data import makers_refusals as refusals
from demo_data import makers_rules
from demo_data import makers_state as states
from demo_data import meant
from demo_data import scenes
from demo_data.beside import named_beside
from demo_data.beside import wished_beside
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.catalogues import Book
from demo_data.catalogues import demo_book
from demo_data.catalogues import small_book
from demo_data.catalogues import with_glossary
from demo_data.chains import learnt_turns
from demo_data.chains import Makers
from demo_data.clocks import clocked
from demo_data.clocks import counted
from demo_data.clocks import draw_clock
from demo_data.clocks import draw_counted
from demo_data.defined import draw_defined
from demo_data.extras import extended
from demo_data.extras import optioned
from demo_data.graded import graded_book
from demo_data.household import demo_like
from demo_data.household import halt
from demo_data.household import remarked
from demo_data.household import spoken
from demo_data.household import unable
from demo_data.library import skills
from demo_data.listed import draw_listed
from demo_data.makers_turns import with_history
from demo_data.measured import draw_measured
from demo_data.mended import corrected
from demo_data.mended import instead_of
from demo_data.mended import together
from demo_data.motion import BY_MAP
from demo_data.motion import RELATIVE
from demo_data.others import for_others
from demo_data.others import of_others
from demo_data.others import true_of
from demo_data.pairs import paired
from demo_data.passives import fact_of
from demo_data.passives import passive
from demo_data.passives import passive_wish
from demo_data.procedural import draw_alike
from demo_data.procedural import draw_switch
from demo_data.readings import reading
from demo_data.remarks import remark
from demo_data.skills import Arg
from demo_data.skills import Skill
from demo_data.sorts import absent
from demo_data.sorts import draw_sorted
from demo_data.stated import with_rule
from demo_data.told import fact
from demo_data.told import told
from demo_data.told import wanted
from demo_data.wordy import rambling
from demo_data.wordy import wordy


@dataclass(frozen=True)
class Drill:
    """What is drilled: which skills its catalogue has, which rule, which cases."""

    weight: float
    makers: Makers
    fits: Callable[[Skill], bool] = lambda _: True
    rules: tuple[str, ...] = ()
    is_blind: bool = True
    nonces: float = 0.2
    strange: float = 0.7
    by_pose: bool = False
    composed: float = 0.3
    extra: float = 0.15
    with_flag: bool = False
    alike: float = 0.0
    past: bool = False
    defined: float = 0.0
    measured: float = 0.0
    listed: float = 0.0
    sorted: float = 0.0
    nested: float = 0.16
    is_paired: bool = False
    twins: int = 0
    optioned: float = 0.0
    is_graded: bool = False
    is_scene: bool = False
    is_machine: bool = False
    is_home: bool = False
    counts: bool = False
    is_meaning: bool = False

    def book(self, rng: random.Random) -> Book | None:
        """Draw a catalogue; None where this draw gives none."""
        if self.is_scene or self.is_machine:
            is_scene = self.is_scene and not (self.is_machine and rng.random() < 0.4)
            book = scenes.scene_book(rng) if is_scene else machines.machine_book(rng)
            return with_rule(rng, book, self.rules) if self.rules else book
        if self.is_graded:
            return graded_book(rng)
        if self.is_home:
            return demo_like(rng)
        if self.is_meaning:
            return meant.meaning_book(rng)
        if self.counts:
            starts = rng.sample((draw_clock, draw_counted, draw_counted, draw_clock), rng.choice((1, 1, 2)))
            return small_book(rng, [draw(rng) for draw in dict.fromkeys(starts)], rng.choice((2, 3, 4, 5)), nonces=0.1, strange=0.6, composed=0.3, extra=0.05)
        if rng.random() < 0.12 and not self.by_pose and not self.with_flag and not self.alike and not self.defined and not self.measured and not self.twins and not self.optioned and not self.listed and not self.sorted and self.nested < 0.5 and self.nonces < 1 and any(self.fits(t.skill) for t in demo_book().tools):
            return with_rule(rng, demo_book(), self.rules) if self.rules else demo_book()
        start = rng.choice([s for s in skills().values() if self.fits(s)])
        if self.with_flag:
            start = draw_switch(rng) if rng.random() < 0.35 else extended(rng, start, only_flags=True)
        starts = draw_alike(rng, rng.choice((2, 3, 3, 4))) if rng.random() < self.alike else [start]
        if rng.random() < self.defined:
            starts = draw_defined(rng, rng.choice((2, 2, 3, 4)))
        if rng.random() < self.measured:
            starts = [draw_measured(rng)]
        if self.optioned:
            starts = optioned(rng, start, rng.choice((2, 2, 3, 3, 4))) or starts
        if rng.random() < self.listed:
            starts = [draw_listed(rng)]
        if rng.random() < self.sorted:
            starts = [draw_sorted(rng)]
        book = small_book(rng, starts, rng.choice((1, 1, 2, 3, 4) if self.twins else (1, 2, 3, 4) if self.optioned else (2, 3, 3, 4, 4, 5, 7)), nonces=self.nonces, strange=self.strange, composed=self.composed, extra=self.extra, nested=self.nested, twins=self.twins)
        book = with_glossary(rng, book)
        return with_rule(rng, book, self.rules) if self.rules else book

    def cases(self, m: CaseMaker, count: int, stage: float) -> list[Case]:
        """Make cases: `count` with observations each, or about as many answers in conversations."""
        found: list[Case] = []
        for _ in range(12 * count):
            if len(found) >= (count // 3 if self.is_blind else count):
                break
            if self.by_pose:
                case = drills.from_pose(m, stage)
            elif self.is_blind:
                case = m.blind(self.makers)
            else:
                make = m.rng.choices([make for _, make in self.makers], [weight for weight, _ in self.makers])[0]
                case = make(m)
                case = case and m.finish(case)
                if case is not None and self.past and m.rng.random() < 0.1 and not case.turns and not case.is_bound:
                    with_history(m, case, m.rng)
            if case is None:
                continue
            if self.is_paired:
                found += paired(m, case)
                continue
            if self.is_blind:
                case.turns = learnt_turns(m, m.rng.choice((2, 3, 4, 5, 6)), self.makers)
            found.append(case)
        return found


def _has(*kinds: str, optional: bool = False) -> Callable[[Skill], bool]:
    def fits(arg: Arg) -> bool:
        return arg.kind in kinds and (not optional or arg.optional)
    return lambda skill: skill.key not in RELATIVE and any(fits(a) for a in skill.args)


def _has_numbers(skill: Skill) -> bool:
    """Return whether a skill takes several numbers, which a sentence must tell apart."""
    return skill.key not in RELATIVE and sum(a.kind in ('number', 'integer') for a in skill.args) > 1


def _has_needs(skill: Skill) -> bool:
    """Return whether a skill takes several things, of which one may be left out."""
    return skill.key not in RELATIVE and sum(not a.optional and a.kind not in ('text', 'xy', 'numbers', 'boolean') for a in skill.args) > 1


_NUMBER = _has('number', 'integer')
_NAMED = _has('place', 'object', 'person', 'code', 'choice', 'surface', 'plural')
_NEEDY = _has('place', 'object', 'person', 'code', 'choice', 'surface', 'plural', 'number', 'integer', 'places', 'objects')
DRILLS: dict[str, Drill] = {
    'range': Drill(9, ((1, drills.edge_of_range),), _NUMBER),
    'numbers': Drill(0, ((6, calls.command), (2, calls.converted), (2, drills.edge_of_range), (1, calls.by_name)), _has_numbers),
    'limit': Drill(9, ((1, drills.edge_of_limit),), _NUMBER, ('limit',)),
    'weight': Drill(3, ((1, refusals.overweight),), _has('object', 'objects'), ('weight',)),
    'place': Drill(5, ((1, refusals.limited),), _has('place'), ('place',)),
    'demand': Drill(7, ((8, refusals.demanded), (1, calls.command)), rules=('age', 'fresh', 'needs'), is_blind=False),
    'branch': Drill(14, ((1, drills.branch),), is_blind=False),
    'order': Drill(11, ((1, drills.ordered),), rules=('order',), is_blind=False),
    'watch': Drill(1, ((1, drills.watched),), is_blind=False),
    'member': Drill(13, ((1, drills.member),), _NAMED, strange=0.5),
    'needed': Drill(7, ((8, refusals.unclear), (2, drills.bare_name), (6, drills.given), (3, calls.by_name)), _NAMED),
    'pose': Drill(24, (), lambda s: s.key in BY_MAP, is_blind=False, by_pose=True, strange=0.4),
    'convert': Drill(9, ((4, calls.converted), (1, calls.command)), lambda s: _NUMBER(s) and s.says_units),
    'list': Drill(7, ((3, calls.command), (1, calls.by_name), (1, corrected)), _has('places', 'objects', 'numbers', 'xy'), listed=0.75),
    'optional': Drill(6, ((3, calls.command), (1, calls.by_name)), _has('place', 'object', 'person', 'number', 'integer', 'choice', 'boolean', optional=True), strange=0.3, extra=0.5),
    'address': Drill(9, ((5, refusals.to_somebody), (2, refusals.chat), (4, drills.indirect), (3, drills.statement), (1, calls.command))),
    'invented': Drill(11, ((4, calls.command), (3, calls.by_name), (2, calls.by_description), (2, refusals.unavailable)), nonces=0.8, strange=1.0, composed=0.6, alike=0.45),
    'closed': Drill(7, ((8, refusals.demanded), (1, calls.command)), _has('place', 'object', 'person', 'code', 'surface'), ('closed', 'gate'), is_blind=False),
    'flag': Drill(8, ((6, calls.command), (1, calls.by_name), (1, calls.first_step)), lambda s: not s.is_motion, with_flag=True, composed=0.5),
    'graded': Drill(0, ((9, calls.command), (1, calls.by_name), (1, wished_beside)), is_graded=True),
    'heard': Drill(0, ((8, drills.heard), (2, calls.command)), lambda s: bool(s.says), nonces=0.15, composed=0.4),
    'optioned': Drill(0, ((8, calls.command), (1, calls.by_name)), lambda s: bool(s.says) and not s.is_motion, nonces=0.9, strange=0.8, composed=0.5, extra=0.0, optioned=1.0),
    'declared': Drill(5, ((7, states.declared), (2, calls.command), (1, refusals.unavailable)), _has('place', 'object', 'person', 'code', 'choice', 'number', 'integer'), strange=0.5),
    'orders': Drill(0, ((1, makers_rules.ordered),), rules=('order',), is_blind=False, past=True),
    'either': Drill(0, ((1, makers_rules.ordered),), rules=('order', 'several'), is_blind=False, past=True),
    'gates': Drill(0, ((1, makers_rules.gated),), lambda s: bool(s.says), rules=('gates',), is_blind=False, past=True),
    'branches': Drill(0, ((1, makers_rules.branching),), is_blind=False, past=True),
    'left_out': Drill(0, ((8, missing.left_out), (2, missing.bare_call), (4, missing.described_only), (9, missing.complete), (3, calls.by_description), (1.5, calls.by_name)), _NEEDY),
    'lacking': Drill(0, ((8, missing.left_out), (7, missing.complete), (2, drills.given), (1, missing.described_only)), _has_needs, strange=0.5),
    'sorts': Drill(0, ((7, absent), (7, calls.command), (1, calls.by_name), (1, missing.left_out)), sorted=1.0, strange=0.4),
    'choices': Drill(0, ((1, missing.choices),), _NAMED, strange=0.5),
    'idle': Drill(0, ((5, remark), (7, told), (4, fact), (6, wanted), (4, missing.news), (5, missing.mention), (4, missing.cancelled), (4, refusals.to_somebody), (4, refusals.forbidden), (1, refusals.chat), (7, drills.indirect), (5, drills.statement), (6, missing.complete), (1.5, calls.instead), (4, wished_beside))),
    'named': Drill(0, ((6, named_beside), (3, calls.by_name), (2, wished_beside), (1, calls.command), (1, calls.by_description)), nonces=0.85, strange=0.9, composed=0.5),
    'asked': Drill(0, ((5, makers_rules.asked_beside), (5, states.question), (4, calls.command), (1, states.unanswerable)), is_blind=False, composed=0.9),
    'twins': Drill(0, ((7, calls.twin), (1, calls.command), (1, calls.by_name)), lambda s: any(not t.startswith('!') for t in s.says) and s.key not in RELATIVE, nonces=0.3, composed=0.6, twins=1),
    'others': Drill(0, ((6, of_others), (4, for_others), (3, true_of), (2, drills.indirect), (2, calls.command), (1, refusals.to_somebody))),
    'facts': Drill(0, ((6, fact_of), (4, passive), (5, passive_wish), (2, true_of), (5, calls.command), (1, missing.mention))),
    'wordy': Drill(0, ((9, wordy), (2.5, rambling), (0.5, told), (0.5, wanted))),
    'machines': Drill(0, ((12, calls.command), (2, calls.converted), (1, calls.by_name), (1, calls.by_description), (4, machines.idle), (2, remark), (3.5, machines.lacking), (2, machines.beyond), (0.7, calls.several), (0.7, corrected), (1, wanted), (0.7, told)), is_machine=True),
    'several': Drill(4, ((3, calls.several), (3, calls.first_step), (2, calls.correction), (1, calls.instead))),
    'defined': Drill(0, ((7, calls.command), (3, calls.by_name), (1, corrected), (1, together), (2, refusals.unavailable)), nonces=0.4, strange=1.0, composed=0.7, defined=1.0),
    'copied': Drill(0, ((5, calls.command), (2, calls.by_name), (1, corrected)), _has('place', 'object', 'person', 'code', 'text', 'objects', 'places'), nonces=0.3, strange=1.0, nested=0.25),
    'texts': Drill(0, ((6, calls.command), (2, calls.by_name), (1, calls.quoted), (1, refusals.to_somebody)), _has('text'), strange=0.8),
    'nested': Drill(0, ((4, calls.command), (3, calls.by_name), (1, calls.converted), (1, corrected)), lambda s: len(s.args) > 1 and s.key not in RELATIVE, nested=0.9, strange=0.8, extra=0.5, listed=0.3),
    'exact': Drill(0, ((5, calls.converted), (3, calls.command), (1, calls.by_name), (1, corrected)), measured=0.75, nonces=0.3),
    'mended': Drill(0, ((8, corrected), (4, instead_of), (4, together), (1, calls.first_step), (1, calls.instead), (1, calls.correction), (2, calls.command)), lambda s: bool(s.args), measured=0.25, strange=0.9),
    'injected': Drill(0, ((4, calls.command), (1, calls.by_name), (4, calls.condition), (2, states.decide), (4, drills.watched), (3, states.question), (2, reading), (1, refusals.unavailable), (1, refusals.chat)), is_blind=False, is_paired=True),
    'scenes': Drill(0, ((13, calls.command), (1.5, calls.by_name), (1.5, calls.by_description), (1.5, calls.several), (1.5, calls.first_step), (1, together), (1.5, corrected), (1, calls.instead), (1.5, calls.converted),
                        (3.5, scenes.idle), (3.5, scenes.lacking), (3, scenes.beyond), (1, missing.left_out), (0.7, missing.bare_call), (1.5, refusals.unknown_choice), (1, refusals.out_of_range),
                        (1, refusals.to_somebody), (0.7, refusals.forbidden), (0.6, refusals.chat), (0.6, fact), (0.6, told), (0.6, wanted), (0.6, drills.indirect), (0.4, refusals.stop), (0.7, halt)), is_scene=True),
    'duties': Drill(0, ((1, makers_rules.ordered),), rules=('order', 'several'), is_blind=False, past=True, is_scene=True, is_machine=True),
    'chatter': Drill(0, ((10, wordy), (2, rambling), (2, of_others), (2, for_others), (1.5, passive), (2, passive_wish), (2, fact_of), (1.5, absent), (2, instead_of)), is_scene=True, is_machine=True),
    'household': Drill(0, ((12, calls.command), (2, calls.converted), (4, spoken), (5, halt), (3, unable), (2.5, remarked), (3, refusals.unknown_choice), (2, refusals.unclear), (1, missing.left_out), (1, calls.first_step), (1, calls.several), (1, together), (1, corrected),
                           (1, calls.instead), (1, refusals.forbidden), (1, refusals.chat), (0.7, fact), (0.7, refusals.to_somebody), (0.7, wanted), (0.7, drills.indirect), (0.7, refusals.unavailable), (0.7, calls.by_name)), is_home=True),
    'meaning': Drill(0, ((14, calls.command), (2, meant.beyond), (1, calls.several), (1, calls.first_step), (1, together), (1, corrected), (1, calls.by_name), (1, drills.indirect), (1, refusals.unknown_choice), (0.5, told), (0.5, wanted), (0.5, fact), (0.5, refusals.forbidden)), is_meaning=True),
    'counted': Drill(0, ((8, clocked), (9, counted), (3, calls.command), (1, calls.converted), (1, calls.by_name), (1, refusals.unavailable), (1, missing.left_out)), counts=True),
    'reading': Drill(0, ((5, reading), (1, states.question), (1, states.unanswerable), (3, calls.command)), is_blind=False),
}
# Weights in a fourth helping, where they differ: what is learnt comes seldom.
FOURTH: dict[str, float] = {
    'range': 4, 'limit': 7, 'weight': 3, 'place': 2, 'demand': 6, 'branch': 3, 'order': 6, 'watch': 12, 'member': 8, 'needed': 2, 'pose': 20, 'convert': 5, 'list': 24, 'optional': 8,
    'address': 3, 'invented': 11, 'closed': 5, 'flag': 7, 'declared': 4, 'several': 4,
    'orders': 22, 'either': 44, 'gates': 24, 'branches': 14, 'left_out': 12, 'choices': 8, 'idle': 20, 'asked': 10, 'named': 22, 'optioned': 16,
    'twins': 20, 'numbers': 8, 'defined': 20, 'copied': 14, 'nested': 12, 'exact': 16, 'mended': 13, 'injected': 12, 'reading': 11, 'texts': 10,
    'graded': 22, 'heard': 14,
    'wordy': 34, 'others': 12, 'lacking': 11, 'facts': 15, 'sorts': 18,
    'meaning': 80,
    'scenes': 62,
    'duties': 18, 'chatter': 18,
    'machines': 50,
    'household': 44, 'counted': 16,
}
_ENOUGH = 4


def draw_drill_book(rng: random.Random, stage: float, name: str = '', *, fourth: bool = False) -> tuple[Drill, Book]:
    """Choose a drill, or take the named one, and a catalogue that it can be done with; `fourth`: as often as the fourth helping has them."""
    weights = [FOURTH.get(key, d.weight) if fourth else d.weight for key, d in DRILLS.items()]
    for _ in range(1000):
        chosen = name or rng.choices(tuple(DRILLS), weights)[0]
        drill = DRILLS[chosen]
        book = drill.book(rng)
        if book is not None and drill.cases(CaseMaker(random.Random(rng.random()), book, 'r', second=True, brief=True), _ENOUGH * 3 if drill.is_blind else _ENOUGH, stage)[_ENOUGH - 1:]:
            return drill, book
    raise ValueError(f'no catalogue was found for the drill {name!r}')
