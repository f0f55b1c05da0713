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


"""All skills there are, and which of them must not stand in one catalogue."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
import functools
import random
import re

from demo_data import meaning
from demo_data import procedural
from demo_data.defined import draw_one
from demo_data.lexicon import load_lexicon
from demo_data.motion import MOTION_SKILLS
from demo_data.phrases import expansions
from demo_data.skills import DEMO_SKILLS
from demo_data.skills import Skill

# What the skills of the demo and of motion must not stand beside: others could fairly serve them.
_NEAR: dict[str, str] = {
    'go_to': """visit_places tour_places wait_at patrol_places return_to_start join_queue queue_up lead_person cross_threshold check_room ride_elevator call_elevator
        recall_fleet explore_area monitor_area move_target fork_drop_pallet fork_pick_pallet follow_person deliver_mail
        walk_with_patient guide_to_product give_tour guide_child guide_senior guide_blind usher_to_seat open_umbrella_guest evacuate_area follow_leader help_sit_down""",
    'drive_to': 'goto_pose move_target set_pose rover_drive point_antenna set_heading',
    'goto_pose': 'move_target set_pose rover_drive point_antenna set_heading',
    'move_target': 'set_pose rover_drive point_antenna set_heading',
    'face_heading': 'turn_by turn_side lex_turn_by set_heading face_person indicate_turn rover_drive point_antenna',
    'pick': """grasp_item fetch_items receive_item collect_parcel fetch_book retrieve_from_bin put_to_storage remove_barrier log_lost_item fork_pick_pallet depalletise_goods
        hand_instrument take_coat fetch_ingredient fetch_equipment clear_table catch_ball collect_litter unstack_things suction_on magnet_on dismantle_item hand_over""",
    'place': """release_item put_to_storage place_prop drop_payload fork_drop_pallet insert_part load_vehicle pack_box stack_things hand_over restock_shelf reshelve_book
        offer_snacks decorate_room palletise_goods sort_things return_coat suction_off magnet_off""",
    'dock': 'start_charging plug_ev charge_car return_to_launch return_to_start go_to_sleep swap_battery_pack',
    'say': """announce_everywhere tell_person send_message show_text read_aloud write_on_board say_goodbye welcome_visitor tell_joke wave_hello translate remind_person
        ask_person greet_at_arrival remind_to_drink post_public_notice post_internal_notice warn_of_heat warn_of_wet warn_of_fall formal_handshake read_news apologise joke_for_audience take_minutes schedule_task""",
    'drive_straight': 'move_by move_direction back_off rover_drive push_object', 'step_side': 'move_by move_direction', 'move_by': 'drive_straight step_side move_direction back_off rover_drive',
    'move_direction': 'drive_straight step_side back_off rover_drive push_object', 'turn_by': 'turn_side indicate_turn turn_knob swing_crane set_heading', 'turn_side': 'turn_by indicate_turn swing_crane set_heading',
}
# Of the words that are not compared, those that tell opposites apart ("take in", "let out").
_SIDES = frozenset('up down in out on off to from into over back'.split())
_STOP = set("""
a an the to of in on at for with and or it that this is are be you your me my i we us do does please can could would should have has
need want by from up down out into off over one some any now there here go get make let will go's s
""".split())


def _words(text: str) -> frozenset[str]:
    return frozenset(w for w in re.findall(r'\{\w+\}|[a-z]+', text.lower()) if w not in _STOP or w in _SIDES)


def _kinds(skill: Skill, text: str) -> frozenset[str]:
    """Return the content words and sides of a template, slots by their kind."""
    kinds = {a.key: {'surface': 'place', 'plural': 'object', 'code': 'object'}.get(a.kind, a.kind) for a in skill.args}
    return _words(re.sub(r'\{(\w+)\}', lambda m: f'{{{kinds.get(m.group(1), m.group(1))}}}', text))


@functools.cache
def skills() -> dict[str, Skill]:
    """Return all skills by key; the lexicon comes last and must not redefine one."""
    found = {s.key: s for s in (*DEMO_SKILLS, *MOTION_SKILLS)}
    for skill in load_lexicon():
        if skill.key in found:
            own = f'lex_{skill.key}'
            found[own] = replace(skill, key=own, near=(*skill.near, skill.key))
        else:
            found[skill.key] = skill
    return found


@functools.cache
def _signatures() -> dict[frozenset[str], dict[str, set[frozenset[str]]]]:
    """Return by their content words the skills that say them, each with the sides it says."""
    homes: dict[frozenset[str], dict[str, set[frozenset[str]]]] = defaultdict(lambda: defaultdict(set))
    for key, skill in skills().items():
        for template in skill.says:
            for text in expansions(template.lstrip('!'), 60):
                found = _kinds(skill, text)
                homes[found - _SIDES][key].add(found & _SIDES)
    return homes


@functools.cache
def near() -> dict[str, frozenset[str]]:
    """Return for every skill the keys that must not stand beside it."""
    found: dict[str, set[str]] = defaultdict(set)
    for key, skill in skills().items():
        for other in skill.near:
            found[key].add(other)
            found[other].add(key)
    for key, others in _NEAR.items():
        for other in others.split():
            found[key].add(other)
            found[other].add(key)
    for group in _signatures().values():
        for key, sides in group.items():
            found[key] |= {other for other, theirs in group.items()
                           if other != key and not (_are_opposite(key, other) and sides.isdisjoint(theirs))}
    return {key: frozenset(group) for key, group in found.items()}


def _are_opposite(one: str, other: str) -> bool:
    return other in skills()[one].opposite or one in skills()[other].opposite


@functools.cache
def _verbs(key: str) -> frozenset[str]:
    """Return the words that sentences and descriptions of a skill hold."""
    skill = skills()[key]
    texts = [*skill.descriptions, *skill.says]
    return frozenset(w for t in texts for w in re.findall(r'[a-z]+', t.lower()) if w not in _STOP)


def verbs_of(skill: Skill) -> frozenset[str]:
    """Return the words that a composed skill must not share with another one."""
    return frozenset(n[2:] for n in skill.near if n.startswith('v:'))


def may_join(skill: Skill, others: list[Skill]) -> bool:
    """Return whether a skill may stand in one catalogue with these."""
    for other in others:
        if skill.key == other.key:
            return False
        composed = [s for s in (skill, other) if s.key.startswith('p:')]
        if len(composed) == 2:
            shares_verb = bool(verbs_of(skill) & verbs_of(other))
            is_open = not all(':' in s.key and _is_fixed(s) for s in composed)
            if (shares_verb and (is_open or things_of(skill) & things_of(other))) or (_thing_of(skill) == _thing_of(other) and not _differ(skill, other)):
                return False
        elif composed:
            known = other if composed[0] is skill else skill
            if (verbs_of(composed[0]) | things_of(composed[0])) & _verbs(known.key):
                return False
        elif other.key in near().get(skill.key, frozenset()):
            return False
    return True


def _is_fixed(skill: Skill) -> bool:
    return not any(a.key == 'what' for a in skill.args)


def _thing_of(skill: Skill) -> str:
    return skill.key.rsplit(':', 1)[1]


def _thing_words(skill: Skill) -> frozenset[str]:
    return frozenset(_thing_of(skill).split()) if _is_fixed(skill) else frozenset()


def things_of(skill: Skill) -> frozenset[str]:
    """Return the words of the things that a composed skill is about."""
    return _thing_words(skill) | frozenset(n[2:] for n in skill.near if n.startswith('t:'))


def _differ(one: Skill, other: Skill) -> bool:
    """Return whether two composed skills of one thing do things that cannot be confused."""
    return bool(verbs_of(one)) and bool(verbs_of(other)) and not verbs_of(one) & verbs_of(other)


def draw_skills(rng: random.Random, count: int, *, composed: float, start: list[Skill] | None = None) -> list[Skill]:
    """Draw skills that may stand in one catalogue; `composed` is the share of made-up ones."""
    chosen = list(start or ())
    pool = list(skills().values())
    for _ in range(count * 6):
        if len(chosen) >= count:
            break
        if rng.random() < composed:
            skill = related(rng, chosen) or (draw_one(rng) if rng.random() < 0.12 else meaning.draw_skill(rng) if rng.random() < 0.4 else procedural.draw_skill(rng))
        elif confusing := _confusing(rng, chosen):
            skill = skills().get(rng.choice(confusing)) or rng.choice(pool)
        else:
            skill = rng.choice(pool)
        if may_join(skill, chosen):
            chosen.append(skill)
    return chosen


def _confusing(rng: random.Random, chosen: list[Skill]) -> tuple[str, ...]:
    """Return the opposites of the last skill, or of any, so that groups of more than two come too."""
    if chosen and chosen[-1].opposite and rng.random() < 0.6:
        return chosen[-1].opposite
    having = [s.opposite for s in chosen if s.opposite]
    return rng.choice(having) if having and rng.random() < 0.25 else ()


def related(rng: random.Random, chosen: list[Skill]) -> Skill | None:
    """Compose a skill that is easily confused with one chosen: other deed, or other thing."""
    made = [s for s in chosen if s.key.startswith('p:') and _is_fixed(s) and s.key.split(':')[1].isdigit()]
    if not made or rng.random() < 0.55:
        return None
    model = rng.choice(made)
    group, thing = int(model.key.split(':')[1]), _thing_of(model)
    if rng.random() < 0.5:
        other = procedural.OPPOSITES.get(group, rng.randrange(len(procedural.GROUPS)))
        return procedural.draw_skill(rng, group=other, thing=thing)
    return procedural.draw_skill(rng, group=group, thing=procedural._thing(rng))
