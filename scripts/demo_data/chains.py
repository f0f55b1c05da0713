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


"""Earlier turns whose answers no observation changes, so that they are learnt as well."""

from __future__ import annotations

from demo_data import makers_calls as calls
from demo_data import makers_missing as missing
from demo_data import makers_refusals as refusals
from demo_data import makers_turns as turns
from demo_data import mended
from demo_data import scenes
from demo_data.beside import named_beside
from demo_data.beside import wished_beside
from demo_data.cases import ask
from demo_data.cases import CaseMaker
from demo_data.cases import DONE
from demo_data.cases import Maker
from demo_data.cases import no_action
from demo_data.cases import Turn
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

Makers = tuple[tuple[float, Maker], ...]
BLIND: Makers = (
    (18, calls.command), (6, calls.by_name), (7, calls.by_description), (5, calls.twin), (12, calls.converted), (5, calls.first_step), (4, calls.several), (4, mended.together), (2, calls.correction), (5, mended.corrected), (2, mended.instead_of),
    (2, calls.instead), (2, calls.quoted), (1.5, refusals.stop), (4, refusals.chat), (5, refusals.to_somebody), (1.5, refusals.forbidden),
    (5, refusals.unclear), (8, refusals.unknown_choice), (6, refusals.unavailable), (8, refusals.out_of_range), (8, refusals.overweight), (8, refusals.limited),
)
LATER: Makers = (*BLIND, (7, missing.left_out), (3, missing.bare_call), (3, missing.described_only), (6, missing.choices), (8, calls.command), (2, missing.news), (3, missing.mention), (3, told), (1.5, fact), (4, wanted), (2, missing.cancelled), (2.5, refusals.forbidden), (3, missing.complete), (2.5, named_beside), (2.5, wished_beside),
    (9, wordy), (2, rambling), (2.5, of_others), (2, for_others), (1.5, true_of), (2, fact_of), (2, passive), (2, passive_wish), (2, absent),
    (2, halt), (1, remark), (2, spoken), (2, unable), (1.3, remarked), (6, scenes.idle), (6, scenes.lacking), (5, scenes.beyond),
)
# After these a result has nothing left to do.
_SINGLE = frozenset(('command', 'by_name', 'twin', 'converted', 'in_range', 'member', 'list', 'optional', 'wish'))


def learnt_turns(m: CaseMaker, count: int, makers: Makers) -> list[Turn]:
    """Make up turns whose answers are learnt, with results, and what follows from these at times."""
    rng = m.rng
    made: list[Turn] = []
    for _ in range(6 * count):
        if len(made) >= count:
            break
        case = m.blind(makers)
        if case is None:
            continue
        roll = rng.random()
        called = case.answer.call
        if called is None or not case.answer.is_of_tools or roll < 0.6 or len(case.answer.calls) > 1:
            made.append(Turn(case.text, case.answer, kind=case.kind))
        elif roll < 0.85:
            made.append(Turn(case.text, case.answer, turns.success(m, called), kind=case.kind))
            if case.kind in _SINGLE and rng.random() < 0.4:
                made.append(Turn(turns.follow_up_text(m), no_action(DONE), kind='follow_up'))
        else:
            result, why = turns.failure(m)
            made.append(Turn(case.text, case.answer, result, kind=case.kind))
            if rng.random() < 0.5:
                made.append(Turn(turns.follow_up_text(m), ask(f'{called[0]} failed{why}. What should I do?'), kind='after_failure'))
    return made[:count]
