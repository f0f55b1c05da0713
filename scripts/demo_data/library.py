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
import functools
import random
import re

from demo_data import procedural
from demo_data.lexicon import load_lexicon
from demo_data.motion import MOTION_SKILLS
from demo_data.phrases import expansions
from demo_data.skills import DEMO_SKILLS
from demo_data.skills import Skill
from demo_data.skills_other import OTHER_SKILLS

# Skills of this package's own lists whose sentences another skill could fairly serve.
_NEAR = (
    {'deliver', 'go_to', 'place', 'pick', 'hand_over', 'find'}, {'elevator', 'go_to'},
    {'gripper_open', 'place', 'hand_over'}, {'message', 'say'}, {'patrol', 'go_to'},
    {'sort', 'place'}, {'inspect', 'look', 'photo', 'count'}, {'undock', 'dock', 'go_to'},
    {'follow', 'go_to'}, {'gripper_close', 'pick'}, {'play', 'beep', 'say'}, {'land', 'place'},
    {'arm_home', 'place'}, {'wave', 'say'}, {'drive_to', 'go_to', 'goto_pose', 'move_target'}, {'wait', 'stop'},
    {'weigh', 'place', 'pick'}, {'clean', 'go_to'}, {'localize', 'find'}, {'push', 'pick'},
    {'rotate', 'drive_to', 'look', 'turn_by', 'face_heading', 'turn_side'}, {'drive_to', 'goto_pose', 'move_target'},
    {'move_by', 'drive_straight', 'step_side', 'move_direction', 'push', 'goto_pose'}, {'turn_by', 'turn_side', 'face_heading'},
)
_STOP = set("""
a an the to of in on at for with and or it that this is are be you your me my i we us do does please can could would should have has
need want by from up down out into off over one some any now there here go get make let will go's s
""".split())


def _words(text: str) -> frozenset[str]:
    return frozenset(w for w in re.findall(r'\{\w+\}|[a-z]+', text.lower()) if w not in _STOP)


def _kinds(skill: Skill, text: str) -> frozenset[str]:
    """Return the content words of a template, slots by their kind."""
    kinds = {a.key: {'surface': 'place', 'plural': 'object', 'code': 'object'}.get(a.kind, a.kind) for a in skill.args}
    return _words(re.sub(r'\{(\w+)\}', lambda m: f'{{{kinds.get(m.group(1), m.group(1))}}}', text))


@functools.cache
def skills() -> dict[str, Skill]:
    """Return all skills by key; the lexicon comes last and must not redefine one."""
    found = {s.key: s for s in (*DEMO_SKILLS, *OTHER_SKILLS, *MOTION_SKILLS)}
    for skill in load_lexicon():
        found[skill.key if skill.key not in found else f'lex_{skill.key}'] = skill
    return found


@functools.cache
def _signatures() -> dict[frozenset[str], set[str]]:
    homes: dict[frozenset[str], set[str]] = defaultdict(set)
    for key, skill in skills().items():
        for template in skill.says:
            for text in expansions(template.lstrip('!'), 60):
                homes[_kinds(skill, text)].add(key)
    return homes


@functools.cache
def near() -> dict[str, frozenset[str]]:
    """Return for every skill the keys that must not stand beside it."""
    found: dict[str, set[str]] = defaultdict(set)
    for key, skill in skills().items():
        for other in skill.near:
            found[key].add(other)
            found[other].add(key)
    for group in (*_NEAR, *_signatures().values()):
        for key in group:
            found[key] |= group - {key}
    return {key: frozenset(group) for key, group in found.items()}


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
            if (shares_verb and is_open) or _thing_of(skill) == _thing_of(other) and not _differ(skill, other):
                return False
        elif composed:
            known = other if composed[0] is skill else skill
            if verbs_of(composed[0]) & _verbs(known.key) or _thing_words(composed[0]) & _verbs(known.key):
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
            skill = _related(rng, chosen) or procedural.draw_skill(rng)
        elif chosen and chosen[-1].opposite and rng.random() < 0.6:
            opposite = skills().get(rng.choice(chosen[-1].opposite))
            skill = opposite or rng.choice(pool)
        else:
            skill = rng.choice(pool)
        if may_join(skill, chosen):
            chosen.append(skill)
    return chosen


def _related(rng: random.Random, chosen: list[Skill]) -> Skill | None:
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
