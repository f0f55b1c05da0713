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


"""Which kinds of cases there are, and how often each is drawn."""

from __future__ import annotations

from demo_data import chains
from demo_data import makers_calls as calls
from demo_data import makers_missing as missing
from demo_data import makers_refusals as refusals
from demo_data import makers_rules
from demo_data import makers_state as states
from demo_data import makers_turns as turns
from demo_data import mended
from demo_data import motion
from demo_data import scenes
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import Maker
from demo_data.catalogues import Book
from demo_data.household import halt
from demo_data.household import remarked
from demo_data.household import spoken
from demo_data.household import unable
from demo_data.others import for_others
from demo_data.others import of_others
from demo_data.others import true_of
from demo_data.passives import fact_of
from demo_data.passives import passive
from demo_data.passives import passive_wish
from demo_data.remarks import remark
from demo_data.sorts import absent
from demo_data.told import fact
from demo_data.told import told
from demo_data.told import wanted
from demo_data.wordy import rambling
from demo_data.wordy import wordy

FAMILIES: tuple[tuple[float, Maker], ...] = (
    (20, calls.command), (4, calls.by_name), (6, calls.by_description), (2, calls.twin), (11, calls.converted), (7.5, calls.first_step), (4, calls.several), (2.5, mended.together), (2.5, calls.correction), (4, mended.corrected), (2, mended.instead_of), (2.5, calls.instead), (6, calls.condition),
    (2, calls.relative), (1, calls.approach), (1.2, calls.approach_unseen), (1.5, calls.seen), (2.5, calls.bring), (2, calls.quoted),
    (2.5, refusals.stop), (2.5, refusals.chat), (1.5, refusals.to_somebody), (1.7, refusals.forbidden), (2.6, refusals.unclear), (4.5, refusals.unknown_choice), (5.5, refusals.unavailable),
    (3.5, refusals.out_of_range), (4, refusals.overweight), (4, refusals.limited), (4, refusals.demanded),
    (6, states.decide), (2.5, states.decide_elsewhere), (10, states.question), (1.3, states.unanswerable), (0.7, states.reading_aloud),
    (7, turns.follow_up), (0.8, turns.late_result), (2.5, turns.after_several), (3, turns.after_failure), (2, turns.again), (2.2, turns.changed_mind), (1.2, turns.changed_number),
)
# How much more of a kind a second helping has: of what the first left weak, and less of what it taught.
HELPING: dict[Maker, float] = {
    calls.by_name: 1.5, calls.condition: 2.5, calls.converted: 1.2, calls.several: 1.5, calls.first_step: 0.7, calls.correction: 0.7, calls.instead: 0.6, calls.quoted: 0.6,
    calls.approach: 1.5, calls.approach_unseen: 2, calls.seen: 0.3, calls.bring: 0.5,
    refusals.stop: 0.4, refusals.chat: 2, refusals.to_somebody: 2, refusals.forbidden: 0.6, refusals.unclear: 2, refusals.unknown_choice: 2, refusals.unavailable: 1.3,
    refusals.out_of_range: 2.5, refusals.overweight: 1.5, refusals.limited: 1.8, refusals.demanded: 1.2,
    states.decide: 0.8, states.decide_elsewhere: 0.3, states.question: 0.8, states.unanswerable: 0.3, states.reading_aloud: 0.6,
    turns.follow_up: 0.5, turns.late_result: 0.5, turns.after_several: 0.8, turns.after_failure: 0.4, turns.again: 0.3, turns.changed_mind: 0.4, turns.changed_number: 0.6,
}
# Kinds that a fourth helping has besides, and how much of the others it has, over the second.
LATER: tuple[tuple[float, Maker], ...] = (
    (18, makers_rules.branching), (9, missing.left_out), (3, missing.bare_call), (3, missing.described_only), (14, missing.choices), (3, missing.news), (3.5, missing.mention), (3, told), (2, fact), (4, wanted), (2.5, missing.cancelled), (3, makers_rules.asked_beside), (10, wordy), (2, rambling), (3, of_others), (2, for_others), (1.5, true_of), (2, fact_of), (2, passive), (2, passive_wish), (2, absent),
    (2.5, halt), (1, remark), (2.5, spoken), (2.5, unable), (1.5, remarked), (9, scenes.idle), (9, scenes.lacking), (8, scenes.beyond))
FOURTH: dict[Maker, float] = {
    calls.condition: 0.4, calls.command: 1.5, refusals.to_somebody: 1.0, refusals.unclear: 0.4, refusals.unknown_choice: 0.7, refusals.chat: 0.4, refusals.forbidden: 1.5, refusals.out_of_range: 1.0, refusals.demanded: 1.3, states.question: 1.5,
    states.decide: 2.0, states.decide_elsewhere: 2.0, calls.relative: 1.5, calls.approach_unseen: 2.0,
}


def families(book: Book, *, second: bool = False, fourth: bool = False) -> tuple[tuple[float, Maker], ...]:
    """Weigh the kinds for a catalogue: what only some catalogues allow comes often there."""
    rules = {rule.kind for rule in book.rules}
    more: dict[Maker, float] = {}
    if any(t.side is not None for t in book.tools):
        more[calls.twin] = 16
    if any(t.skill.key in motion.BY_MAP for t in book.tools):
        more |= {calls.relative: 24, calls.approach: 8}
    if 'weight' in rules:
        more[refusals.overweight] = 38
    if rules & {'limit', 'place'}:
        more[refusals.limited] = 36
    if rules & {'age', 'fresh', 'needs', 'closed', 'gate'}:
        more[refusals.demanded] = 22
    if rules & {'order', 'ignore'}:
        more[states.decide] = 18
    found = [(more.get(make, weight) * (HELPING.get(make, 1.0) if second else 1.0), make) for weight, make in FAMILIES]
    if fourth:
        found = [(weight * FOURTH.get(make, 1.0), make) for weight, make in found] + list(LATER)
        found += [(34, makers_rules.ordered)] if 'order' in rules else []
        found += [(16, makers_rules.gated)] if 'needs' in rules else []
    return tuple(found)


def draw_case(maker: CaseMaker, *, dense: bool = False, fourth: bool = False) -> Case:
    """Draw a case of any kind, at times after other turns; `dense`: mostly after learnt ones."""
    case = maker.draw(families(maker.book, second=maker.second, fourth=fourth))
    if dense and not case.is_bound and not case.turns and maker.rng.random() < 0.85:
        case.turns = chains.learnt_turns(maker, maker.rng.randint(2, 6), chains.LATER if fourth else chains.BLIND)
        return case
    if not case.is_bound and maker.rng.random() < (0.15 if maker.second else 0.3):
        turns.with_history(maker, case, maker.rng)
    return case
