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
Tool catalogues for training: the package's own, changed ones, and made-up ones.

A catalogue remembers which tool means which skill, so that the right call can be worked out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
import functools
from pathlib import Path
import random
from typing import Any

from demo_data import words
from demo_data.phrases import any_word
from demo_data.phrases import article
from demo_data.phrases import nonce
from demo_data.phrases import object_phrase
from demo_data.phrases import place_phrase
from demo_data.phrases import statement
from demo_data.skills import Arg
from demo_data.skills import DEMO_SKILLS
from demo_data.skills import Skill
from demo_data.skills_other import OTHER_SKILLS
from gemma_node.core import ToolDeclaration
from gemma_node.tools.catalogue import Catalogue
from gemma_node.tools.catalogue import load_catalogue

ROOT = Path(__file__).resolve().parents[2]
SKILLS = {skill.key: skill for skill in (*DEMO_SKILLS, *OTHER_SKILLS)}
_NUMBER_WORDS = ('zero one two three four five six seven eight nine ten eleven twelve').split()
# Skills whose sentences another skill could fairly serve.
_NEAR = (
    {'deliver', 'go_to', 'place', 'pick', 'hand_over', 'find'}, {'elevator', 'go_to'},
    {'gripper_open', 'place', 'hand_over'}, {'message', 'say'}, {'patrol', 'go_to'},
    {'sort', 'place'}, {'inspect', 'look', 'photo', 'count'}, {'undock', 'dock', 'go_to'},
    {'follow', 'go_to'}, {'gripper_close', 'pick'}, {'play', 'beep', 'say'}, {'land', 'place'},
    {'arm_home', 'place'}, {'wave', 'say'}, {'drive_to', 'go_to'}, {'wait', 'stop'},
    {'light_on', 'light_off'}, {'open_door', 'close_door'}, {'weigh', 'place', 'pick'},
    {'clean', 'go_to'}, {'localize', 'find'}, {'push', 'pick'}, {'rotate', 'drive_to', 'look'},
)


@dataclass(frozen=True)
class Tool:
    """A tool of a catalogue: its declaration, its skill, and how arguments are named."""

    skill: Skill
    declaration: ToolDeclaration
    names: Mapping[str, str]
    choices: Mapping[str, tuple[str, ...]]

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.declaration.name


@dataclass(frozen=True)
class Book:
    """A catalogue: tools with their meaning, and all declarations in their order."""

    tools: tuple[Tool, ...]
    declarations: tuple[ToolDeclaration, ...]
    is_demo: bool = False
    by_skill: Mapping[str, Tool] = field(default_factory=dict)

    def missing_skills(self) -> list[Skill]:
        """Return skills that no tool here could fairly serve."""
        have = {tool.skill.key for tool in self.tools} | {'stop'}
        near = {key for group in _NEAR if group & have for key in group}
        return [s for s in OTHER_SKILLS if s.key not in have and s.key not in near]


@functools.cache
def demo_catalogue() -> Catalogue:
    """Load the package's config/tools.yaml."""
    return load_catalogue(ROOT / 'config' / 'tools.yaml')


def demo_book() -> Book:
    """Return the package's own catalogue as it is."""
    declarations = demo_catalogue().declarations()
    tools = []
    for declaration in declarations:
        if declaration.is_builtin:
            continue
        skill = SKILLS[declaration.name]
        properties = declaration.parameters.get('properties', {})
        names = {a.key: a.key for a in skill.args if a.key in properties}
        choices = {k: tuple(properties[k]['enum']) for k in names if 'enum' in properties[k]}
        tools.append(Tool(skill, declaration, names, choices))
    return _book(tools, declarations, is_demo=True)


def changed_book(rng: random.Random) -> Book:
    """Return the demo's skills with other places, some names, an extra tool, another order."""
    keep = list(DEMO_SKILLS) if rng.random() < 0.6 else rng.sample(
        DEMO_SKILLS, rng.randint(3, len(DEMO_SKILLS)))
    skills = [*keep, *rng.sample(OTHER_SKILLS, rng.choice((0, 0, 1, 1, 2, 3)))]
    return _made_up(rng, skills, strange=0.35, nonces=0.03)


def made_up_book(rng: random.Random) -> Book:
    """Return a catalogue of any skills; names may be invented, only descriptions tell."""
    skills = rng.sample(tuple(SKILLS.values()), rng.randint(2, 9))
    return _made_up(rng, skills, strange=0.8, nonces=rng.choice((0.0, 0.0, 0.2, 0.8)))


def _made_up(rng: random.Random, skills: list[Skill], *, strange: float, nonces: float) -> Book:
    rng.shuffle(skills)
    tools: list[Tool] = []
    taken = {'no_action', 'stop', 'ask_operator'}
    style = rng.choice((' ', ' ', '_'))
    for skill in skills:
        tool = _tool(rng, skill, strange=strange, is_nonce=rng.random() < nonces, style=style)
        if tool.name not in taken:
            taken.add(tool.name)
            tools.append(tool)
    declarations = [tool.declaration for tool in tools]
    builtins = [d for d in demo_catalogue().declarations() if d.is_builtin]
    if rng.random() < 0.15:
        declarations = [*builtins, *declarations]
    else:
        declarations += builtins
    return _book(tools, declarations)


def _book(
    tools: list[Tool], declarations: list[ToolDeclaration] | tuple[ToolDeclaration, ...],
    *, is_demo: bool = False,
) -> Book:
    return Book(tuple(tools), tuple(declarations), is_demo, {t.skill.key: t for t in tools})


def _tool(
    rng: random.Random, skill: Skill, *, strange: float, is_nonce: bool, style: str
) -> Tool:
    name = skill.names[0] if rng.random() > strange else rng.choice(skill.names)
    if is_nonce:
        name = f'{nonce(rng)}_{nonce(rng)}' if rng.random() < 0.4 else nonce(rng)
    about = skill.descriptions[0] if rng.random() > strange else rng.choice(skill.descriptions)
    properties: dict[str, Any] = {}
    required = []
    names: dict[str, str] = {}
    choices: dict[str, tuple[str, ...]] = {}
    for arg in skill.args:
        if arg.optional and rng.random() < strange * 0.6:
            continue
        key = arg.names[0] if rng.random() > strange else rng.choice(arg.names)
        if key in properties:
            key = f'{arg.key}_{len(properties)}'
        names[arg.key] = key
        properties[key] = _schema(rng, arg, strange)
        values = _choices(rng, arg, style)
        if values:
            properties[key]['enum'] = list(values)
            choices[arg.key] = values
        if not arg.optional:
            required.append(key)
    parameters: dict[str, Any] = {
        'type': 'object', 'properties': properties, 'required': required,
        'additionalProperties': False}
    declaration = ToolDeclaration(name=name, description=about, parameters=parameters)
    return Tool(skill, declaration, names, choices)


def _schema(rng: random.Random, arg: Arg, strange: float) -> dict[str, Any]:
    about = arg.descriptions[0] if rng.random() > strange else rng.choice(arg.descriptions)
    if arg.kind in ('number', 'integer'):
        return {'type': arg.kind, 'description': describe_number(about, arg),
                'minimum': arg.low, 'maximum': arg.high}
    return {'type': 'string', 'description': about}


def describe_number(about: str, arg: Arg) -> str:
    """Write what the catalogue writes of a number: unit and range."""
    notes = f'{arg.unit}, ' if arg.unit else ''
    return f'{about.rstrip(".")} ({notes}{arg.low:g} to {arg.high:g})'


def _choices(rng: random.Random, arg: Arg, style: str) -> tuple[str, ...]:
    if arg.kind == 'choice':
        return tuple(rng.sample(arg.choices, rng.randint(2, min(7, len(arg.choices)))))
    chance = {'place': 0.75, 'code': 0.5, 'person': 0.3, 'object': 0.15, 'plural': 0.2}
    if rng.random() >= chance.get(arg.kind, 0.0):
        return ()
    made = dict.fromkeys(_value(rng, arg)[0] for _ in range(rng.randint(2, 10)))
    if arg.key == 'place' and rng.random() < 0.5:
        made = dict.fromkeys([*rng.sample(words.PLACES[:8], rng.randint(3, 8)), *list(made)[:3]])
    values = [value.replace(' ', style) for value in made]
    return tuple(dict.fromkeys(values))


def spoken_value(rng: random.Random, tool: Tool, arg: Arg) -> tuple[Any, str]:
    """Draw a value for an argument, and how a person says it."""
    if arg.key in tool.choices:
        value = rng.choice(tool.choices[arg.key])
        plain = value.replace('_', ' ')
        return value, article(rng, plain) if arg.kind in ('place', 'object') else plain
    return _value(rng, arg)


def _value(rng: random.Random, arg: Arg) -> tuple[Any, str]:
    if arg.kind in ('number', 'integer'):
        return spoken_number(rng, arg)
    if arg.kind == 'place':
        place = place_phrase(rng)
        return place, article(rng, place)
    if arg.kind == 'object':
        thing = object_phrase(rng)
        return thing, article(rng, thing)
    if arg.kind == 'plural':
        thing = rng.choice(words.OBJECTS) + 's'
        return thing, thing
    if arg.kind == 'surface':
        return _surface(rng)
    if arg.kind == 'person':
        person = rng.choice(words.PEOPLE)
        return person, person
    if arg.kind == 'text':
        text = statement(rng)
        return text, text
    code = rng.choice((nonce(rng), f'{rng.choice("ABCDEFGHKLMNPR")}{rng.randint(1, 30)}',
                       rng.choice(('north', 'south', 'east', 'west', 'night', 'green', 'red')),
                       f'{nonce(rng)}_{rng.randint(1, 9)}'))
    return code, code


def _surface(rng: random.Random) -> tuple[str, str]:
    thing = rng.choice(words.SURFACES)
    roll = rng.random()
    if roll < 0.12:
        thing = nonce(rng)
    elif roll < 0.3:
        thing = rng.choice((*words.GENERAL, *words.OBJECTS))
    roll = rng.random()
    if roll < 0.3:
        thing = f'{rng.choice((*words.COLOURS, *words.ADJECTIVES))} {thing}'
    elif roll < 0.38:
        thing = f'{thing} {rng.choice("ABCDEF")}'
    elif roll < 0.44:
        thing = f'{nonce(rng)} {thing}'
    elif roll < 0.5:
        thing = f'{rng.choice(words.PLACES)} {thing}'
    elif roll < 0.56:
        thing = f'{any_word(rng)} {thing}'
    elif roll < 0.62:
        thing = place_phrase(rng)
    return thing, article(rng, thing)


def spoken_number(rng: random.Random, arg: Arg) -> tuple[Any, str]:
    """Draw a number within the argument's range; said in digits, at times in words."""
    if arg.kind == 'integer':
        whole = rng.randint(int(arg.low), int(arg.high))
        if 0 <= whole <= 12 and rng.random() < 0.15:
            return whole, _NUMBER_WORDS[whole]
        return whole, str(whole)
    decimals = rng.choice((0, 0, 1, 1, 2) if arg.high - arg.low > 3 else (1, 1, 2))
    if arg.step >= 1:
        decimals = 0
    value = round(rng.uniform(arg.low, arg.high), decimals)
    if arg.unit == 'deg' and rng.random() < 0.5:
        value = float(rng.choice((0, 45, 90, 135, 180, -45, -90, -135, -180, 30, 60)))
    value = min(max(value, arg.low), arg.high)
    number: Any = int(value) if value == int(value) else value
    text = f'{value:.{decimals}f}' if rng.random() < 0.3 else str(number)
    if text.startswith('-') and text.strip('-0.') == '':
        text = text[1:]
    if text.startswith('-') and rng.random() < 0.12:
        text = 'minus ' + text[1:]
    elif isinstance(number, int) and 0 <= number <= 12 and rng.random() < 0.08:
        text = _NUMBER_WORDS[number]
    return number, text
