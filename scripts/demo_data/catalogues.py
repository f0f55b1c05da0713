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
Catalogues: tools drawn from skills, with names, descriptions, arguments and choices of their own.

The package's own catalogue is one of them. A tool may have a twin that only the description
tells apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
import functools
from pathlib import Path
import random
import re
from typing import Any

from demo_data import coined
from demo_data import quantities
from demo_data import rare
from demo_data import values
from demo_data import words
from demo_data.extras import extended
from demo_data.library import draw_skills
from demo_data.library import may_join
from demo_data.library import near
from demo_data.library import skills
from demo_data.phrases import expand
from demo_data.qualifiers import draw_sides
from demo_data.qualifiers import Side
from demo_data.quantities import Declared
from demo_data.rules import Rule
from demo_data.skills import Arg
from demo_data.skills import DEMO_SKILLS
from demo_data.skills import Skill
from gemma_node.core import ToolDeclaration
from gemma_node.tools.catalogue import Catalogue
from gemma_node.tools.catalogue import load_catalogue

ROOT = Path(__file__).resolve().parents[2]
BUILTINS = ('no_action', 'stop', 'ask_operator')
_ENUM_CHANCE = {'place': 0.5, 'places': 0.4, 'code': 0.3, 'person': 0.25, 'object': 0.15, 'objects': 0.15, 'plural': 0.15, 'surface': 0.2}
_PREFIXES = ('arm_', 'base_', 'robot1_', 'r2_', 'do_', 'cmd_', 'svc_', 'unit3_', 'bot_', 'mobile_', 'x_', 'task_', 'run_')
_SUFFIXES = ('_v2', '_action', '_cmd', '_tool', '_now', '_1', '_task', '_skill')
_UNIT_WORDS = re.compile(
    r'\b(in |of )?(metres?|meters?|centimetres?|centimeters?|millimetres?|millimeters?|kilometres?|seconds?|minutes?|hours?|degrees?|radians?|percent|'
    r'grams?|kilograms?|kilos?|litres?|liters?|millilitres?|mm|cm|km|kg|ml|deg|rad|min|secs?)\b|\((m|s|h|g|l|%|m/s|km/h|cm/s|[a-zA-Z/]+)\)|[%°]', re.IGNORECASE)


@dataclass(frozen=True)
class Slot:
    """How a tool declares one argument of its skill: where it stands and in which unit."""

    path: tuple[str, ...]
    number: Declared | None = None
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Tool:
    """A tool of a catalogue: its declaration, its skill, and how arguments are declared."""

    skill: Skill
    declaration: ToolDeclaration
    slots: Mapping[str, Slot]
    side: Side | None = None

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.declaration.name

    def required(self) -> set[str]:
        """Return the keys of arguments that a call must have."""
        return {a.key for a in self.skill.args if not a.optional and a.key in self.slots}


@dataclass(frozen=True)
class Book:
    """A catalogue: tools with their meaning, all declarations in their order, stated rules."""

    tools: tuple[Tool, ...]
    declarations: tuple[ToolDeclaration, ...]
    is_demo: bool = False
    rules: tuple[Rule, ...] = ()

    def by_skill(self, key: str) -> Tool | None:
        """Return the tool of a skill."""
        return next((t for t in self.tools if t.skill.key == key), None)

    def tool(self, name: str) -> Tool:
        """Return the tool of a name."""
        return next(t for t in self.tools if t.name == name)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tools."""
        return tuple(t.name for t in self.tools)

    def may_miss(self, skill: Skill) -> bool:
        """Return whether no tool here could fairly serve this skill's sentences."""
        if any(t.skill.key.startswith(('s:', 'm:')) for t in self.tools):
            return False
        if skill.key.startswith('p:') or any(t.skill.key.startswith('p:') for t in self.tools):
            return may_join(skill, [t.skill for t in self.tools])
        have = {tool.skill.key for tool in self.tools} | {'stop'}
        return skill.key not in have and not have & near().get(skill.key, frozenset())


@functools.cache
def demo_catalogue() -> Catalogue:
    """Load the package's config/tools.yaml."""
    return load_catalogue(ROOT / 'config' / 'tools.yaml')


@functools.cache
def demo_book() -> Book:
    """Return the package's own catalogue as it is."""
    declarations = demo_catalogue().declarations()
    tools = []
    for declaration in declarations:
        if declaration.is_builtin:
            continue
        skill = skills()[declaration.name]
        properties = declaration.parameters.get('properties', {})
        slots = {}
        for arg in skill.args:
            schema = properties[arg.key]
            number = Declared(arg.unit, schema['minimum'], schema['maximum'], step=schema.get('multipleOf', 0.0)) if arg.kind == 'number' else None
            slots[arg.key] = Slot((arg.key,), number, {c: (c.replace('_', ' '),) for c in schema.get('enum', ())})
        tools.append(Tool(skill, declaration, slots))
    return Book(tuple(tools), declarations, True)


def changed_book(rng: random.Random) -> Book:
    """Return the demo's skills with other places, some names, extra tools, another order."""
    keep = list(DEMO_SKILLS) if rng.random() < 0.5 else rng.sample(DEMO_SKILLS, rng.randint(3, len(DEMO_SKILLS)))
    chosen = draw_skills(rng, len(keep) + rng.choice((0, 1, 1, 2, 3)), composed=0.2, start=keep)
    return _made_up(rng, chosen, strange=0.35, nonces=0.03, twins=0)


def made_up_book(rng: random.Random) -> Book:
    """Return a catalogue of any skills; names may be invented, only descriptions tell."""
    composed = rng.choice((0.1, 0.3, 0.3, 0.7, 1.0))
    count = rng.choice((2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 12))
    twins = rng.choices((0, 1, 2), (5, 3, 2))[0]
    start = [skills()[k] for k in rng.sample(('go_to', 'say', 'drive_to', 'dock', 'pick'), 1)] if rng.random() < 0.25 else []
    if rng.random() < 0.38:
        start = [skills()[rng.choice(('goto_pose', 'drive_to', 'goto_pose', 'move_target', 'face_heading', 'drive_straight', 'step_side', 'move_by', 'turn_by', 'turn_side', 'move_direction', 'drive_to'))]]
    chosen = draw_skills(rng, max(2, count - twins), composed=composed, start=start)
    return _made_up(rng, chosen, strange=0.85, nonces=rng.choice((0.0, 0.05, 0.3, 1.0)), twins=twins)


def small_book(rng: random.Random, start: list[Skill], count: int, *, nonces: float, strange: float = 0.7, composed: float = 0.3, extra: float = 0.2, nested: float = 0.16, twins: int = 0) -> Book:
    """Return a catalogue of few tools, these skills among them; `extra`: how many have one more argument; `twins` of them come twice or thrice."""
    return _made_up(rng, draw_skills(rng, count, composed=composed, start=start), strange=strange, nonces=nonces, twins=twins, extra=extra, nested=nested)


def home_book(rng: random.Random) -> Book:
    """Return most of the demo's skills and nothing else, with other names and places."""
    keep = list(DEMO_SKILLS) if rng.random() < 0.5 else rng.sample(DEMO_SKILLS, rng.randint(4, len(DEMO_SKILLS)))
    return _made_up(rng, keep, strange=rng.choice((0.2, 0.5)), nonces=0.03, twins=0, extra=0.05, nested=0.04)


def plain_book(rng: random.Random, chosen: list[Skill], *, strange: float, nonces: float) -> Book:
    """Return a catalogue of exactly these skills."""
    return _made_up(rng, chosen, strange=strange, nonces=nonces, twins=0, extra=0.0, nested=0.05)


def with_glossary(rng: random.Random, book: Book) -> Book:
    """Let the system text define the words that the tools' skills say it must."""
    told = [tool.skill.gloss for tool in book.tools if tool.skill.gloss]
    if not told:
        return book
    rng.shuffle(told)
    lead = rng.choice(('', '', 'Words: ', 'Glossary: ', 'You should know: ', 'House language: ', 'Some words of this place: '))
    return replace(book, rules=(*book.rules, Rule('glossary', f'{lead}{" ".join(told)}', in_system=True)))


def _made_up(rng: random.Random, chosen: list[Skill], *, strange: float, nonces: float, twins: int, extra: float = 0.2, nested: float = 0.16) -> Book:
    rng.shuffle(chosen)
    style = _NameStyle(rng)
    taken = {'no_action', 'stop', 'ask_operator'}
    tools: list[Tool] = []
    for skill in chosen:
        skill = extended(rng, skill) if rng.random() < extra else skill
        _append(tools, taken, _tool(rng, skill, style, strange=strange, is_nonce=rng.random() < nonces, nested=nested))
    for number in rng.sample(range(len(tools)), min(twins, len(tools))):
        _add_twins(rng, tools, taken, number, style, strange, nonces)
    if twins:
        rng.shuffle(tools)
    declarations = [tool.declaration for tool in tools]
    builtins = [d for d in demo_catalogue().declarations() if d.is_builtin]
    declarations = [*builtins, *declarations] if rng.random() < 0.15 else [*declarations, *builtins]
    return Book(tuple(tools), tuple(declarations))


def _append(tools: list[Tool], taken: set[str], tool: Tool) -> bool:
    if tool.name.lower() in taken:
        return False
    taken.add(tool.name.lower())
    tools.append(tool)
    return True


def _add_twins(rng: random.Random, tools: list[Tool], taken: set[str], at: int, style: _NameStyle, strange: float, nonces: float) -> None:
    """Turn a tool into two or three that differ by a side of a group, told by their descriptions."""
    model = tools[at]
    if not any(not t.startswith('!') for t in model.skill.says):
        return
    sides = list(draw_sides(rng))
    rng.shuffle(sides)
    names = _twin_names(rng, model, style, sides, is_nonce=rng.random() < max(nonces, 0.3))
    about = model.declaration.description.rstrip('.')
    same = rng.random() < 0.6
    for index, (side, name) in enumerate(zip(sides, names, strict=True)):
        if not same:
            about = expand(rng, rng.choice(model.skill.descriptions)).rstrip('.')
        words_of_side = rng.choice(side.describes)
        text = rng.choice((f'{about} ({words_of_side}).', f'{about}, {words_of_side}.', f'{about}: {words_of_side}.', f'{about}. {words_of_side[:1].upper()}{words_of_side[1:]}.'))
        twin = replace(model, declaration=replace(model.declaration, name=name, description=text), side=side)
        if index == 0:
            taken.discard(model.name.lower())
            taken.add(name.lower())
            tools[at] = twin
        else:
            _append(tools, taken, twin)


def _twin_names(rng: random.Random, model: Tool, style: _NameStyle, sides: list[Side], *, is_nonce: bool) -> list[str]:
    """Name each side's tool: by a word of its own, by its side, by a letter or number."""
    if is_nonce:
        return [style.dress(_nonce_name(rng)) for _ in sides]
    if all(side.word for side in sides) and rng.random() < 0.4:
        return [f'{model.name[:50]}_{side.word}' for side in sides]
    if len(sides) > 2:
        ends = rng.choice((('_a', '_b', '_c'), ('_1', '_2', '_3'), ('_x', '_y', '_z'), ('_one', '_two', '_three'), ('_p', '_q', '_r'), ('', '_2', '_3')))
        return [f'{model.name[:60]}{end}' for end in ends]
    first, second = rng.choice((('_a', '_b'), ('_1', '_2'), ('_x', '_y'), ('_alpha', '_beta'), ('_one', '_two'), ('_p', '_q'), ('', '_2'), ('_v1', '_v2'), ('', '_alt')))
    return [f'{model.name}{first}'[:64], f'{model.name}{second}'[:64]]


class _NameStyle:
    """One way of writing names for a whole catalogue: snake or camel case, prefix, suffix."""

    def __init__(self, rng: random.Random) -> None:
        roll = rng.random()
        self._case = 'snake' if roll < 0.72 else 'camel' if roll < 0.86 else 'pascal' if roll < 0.93 else 'upper' if roll < 0.96 else 'flat'
        self._prefix = rng.choice(_PREFIXES) if rng.random() < 0.12 else ''
        self._suffix = rng.choice(_SUFFIXES) if rng.random() < 0.06 else ''

    def dress(self, name: str) -> str:
        """Write a snake_case name in this style."""
        name = f'{self._prefix}{name}{self._suffix}'
        parts = [p for p in name.split('_') if p]
        if self._case == 'camel':
            name = parts[0].lower() + ''.join(p.capitalize() for p in parts[1:])
        elif self._case == 'pascal':
            name = ''.join(p.capitalize() for p in parts)
        elif self._case == 'upper':
            name = name.upper()
        elif self._case == 'flat':
            name = ''.join(parts).lower()
        return name[:60]


def _nonce_name(rng: random.Random) -> str:
    roll = rng.random()
    if roll < 0.45:
        return coined.name(rng)
    if roll < 0.65:
        return rare.syllables(rng)
    if roll < 0.8:
        return f'{rare.syllables(rng)}_{rare.syllables(rng)}'
    return rng.choice((f'{rare.any_word(rng)}_{rng.randint(1, 99)}', f'fn_{rng.randint(1, 999)}', f'op{rng.randint(1, 99)}', f't{rng.randint(100, 999)}', rare.noun(rng)))


def _tool(rng: random.Random, skill: Skill, style: _NameStyle, *, strange: float, is_nonce: bool, nested: float = 0.16) -> Tool:
    name = skill.names[0] if rng.random() > strange else rng.choice(skill.names)
    if is_nonce:
        name = _nonce_name(rng)
    about = skill.descriptions[0] if rng.random() > strange else rng.choice(skill.descriptions)
    properties: dict[str, Any] = {}
    slots: dict[str, Slot] = {}
    required: list[str] = []
    nest = rng.choice(skill.nest) if skill.nest and rng.random() < 0.6 else ''
    if not nest and skill.args and not skill.nest and skill.key != 'dock' and rng.random() < (nested if len(skill.args) > 1 else nested * 0.4):
        nest = rng.choice(('options', 'params', 'request', 'goal', 'settings', 'spec', 'job', 'order', 'details', 'input', 'what', rare.noun(rng), rare.syllables(rng)))
    invented = 1.0 if rng.random() < strange * 0.14 else strange * 0.06
    inside: dict[str, Any] = {}
    inner_required: list[str] = []
    spaces = rng.choice((' ', ' ', '_', '_', '-')) if strange < 0.5 or rng.random() < 0.6 else rng.choice((' ', '_', '-', 'camel', 'upper'))
    for arg in skill.args:
        if arg.optional and skill.key != 'move_by' and rng.random() < strange * 0.45:
            continue
        is_inner = bool(nest) and (not skill.nest or arg.key in skill.nested)
        home, wanted = (inside, inner_required) if is_inner else (properties, required)
        schema, number, choices = _argument(rng, arg, strange, spaces)
        if arg.optional and rng.random() < strange * 0.35:
            schema['description'] = _with_default(rng, schema)
        names = _fitting(arg, number)
        key = names[0] if rng.random() > strange else rng.choice(names)
        if rng.random() < invented:
            key = rare.syllables(rng) if rng.random() < 0.4 else coined.name(rng)
        if key in home or key == nest:
            key = f'{arg.key}_{len(home)}'
        slot = Slot((nest, key) if is_inner else (key,), number, choices)
        home[key] = schema
        slots[arg.key] = slot
        if not arg.optional:
            wanted.append(key)
    if inside and rng.random() < nested:
        deeper = rng.choice([k for k in ('data', 'values', 'body', 'target', 'inner', 'content', coined.coin(rng)) if k != nest])
        inside = {deeper: {'type': 'object', 'description': rng.choice(('The values.', 'What it is about.', 'Details of it.')), 'properties': inside, 'required': inner_required, 'additionalProperties': False}}
        inner_required = [deeper] if inner_required else []
        slots = {k: replace(s, path=(nest, deeper, *s.path[1:])) if s.path[0] == nest else s for k, s in slots.items()}
    if inside:
        properties[nest] = {'type': 'object', 'description': rng.choice(('All of it.', 'What to do it with.', 'The goal.', 'Details.')), 'properties': inside,
                            'required': inner_required, 'additionalProperties': False}
        if inner_required:
            required.append(nest)
    if len(properties) > 1 and rng.random() < 0.3:
        order = list(properties)
        rng.shuffle(order)
        properties = {k: properties[k] for k in order}
    parameters = {'type': 'object', 'properties': properties, 'required': required, 'additionalProperties': False}
    declaration = ToolDeclaration(name=style.dress(name), description=_reworded(rng, expand(rng, about), strange), parameters=parameters)
    return Tool(skill, declaration, slots)


_OPTIONAL = (
    '{t} (optional)', '{t}. Optional.', 'Optional: {l}', '{t}; may be left out', '{t}. Only if asked for.', '{t}, if wanted', '{t}. Leave out if nothing was said.', '{t}. Not needed.', 'If told so: {l}', '{t}. The default does otherwise.', '{t}, default as set up', '{t}. Has a default.',
)


def _with_default(rng: random.Random, schema: Mapping[str, Any]) -> str:
    """Say in an argument's description that it may be left out, and at times what holds then."""
    text = schema['description'].rstrip('.')
    told: Any = None
    if schema['type'] == 'boolean':
        told = rng.choice(('false', 'true', 'no', 'off', 'on'))
    elif 'minimum' in schema and schema['minimum'] >= 0:
        told = rng.choice((schema['minimum'], schema['maximum'], int((schema['minimum'] + schema['maximum']) / 2)))
    elif schema.get('enum'):
        told = rng.choice(schema['enum'])
    if told is not None and rng.random() < 0.6:
        return rng.choice((f'{text}, default {told}', f'{text} (default: {told})', f'{text}. Default {told}.', f'{text}; {told} if not given', f'{text}. Without it: {told}.', f'{text}. {str(told).capitalize()} by default.', f'{text} (otherwise {told})'))
    return rng.choice(_OPTIONAL).format(t=text, l=text[:1].lower() + text[1:])


def _reworded(rng: random.Random, about: str, strange: float) -> str:
    if rng.random() > strange * 0.3:
        return about
    bare = about.rstrip('.')
    lower = bare[:1].lower() + bare[1:]
    return rng.choice((f'{bare}', f'Action: {lower}.', f'{bare}. Returns when done.', f'[{rare.noun(rng)}] {bare}.', f'{bare}. May take a while.', f'Skill: {lower}',
                       f'{bare}. Blocks until it is finished.', f'Tool: {lower}.'))


def _fitting(arg: Arg, number: Declared | None) -> tuple[str, ...]:
    """Return the names of an argument that do not tell another unit than the declared one."""
    if number is None or number.unit == arg.unit:
        return arg.names
    return tuple(n for n in arg.names if not _UNIT_WORDS.search(n.replace('_', ' '))) or ('amount', 'value')


def _argument(
    rng: random.Random, arg: Arg, strange: float, spaces: str
) -> tuple[dict[str, Any], Declared | None, dict[str, tuple[str, ...]]]:
    abouts = arg.descriptions if rng.random() < strange or len(arg.descriptions) == 1 else arg.descriptions[:1]
    if arg.kind in ('number', 'integer'):
        declared = _declared(rng, arg, strange)
        if declared.unit != arg.unit:
            abouts = tuple(a for a in arg.descriptions if not _UNIT_WORDS.search(a)) or ('How much.',)
        abouts = tuple(_without_unit(a) for a in abouts)
        kind = 'integer' if declared.is_integer else 'number'
        text = quantities.describe(rng, expand(rng, rng.choice(abouts)), declared, strange)
        low, high = (int(v) if v == int(v) else v for v in (declared.low, declared.high))
        return {'type': kind, 'description': text, 'minimum': low, 'maximum': high}, declared, {}
    about = expand(rng, rng.choice(abouts))
    if arg.kind == 'boolean':
        return {'type': 'boolean', 'description': about}, None, {}
    if arg.kind in ('xy', 'numbers'):
        declared = Declared(arg.unit or 'm', arg.low, arg.high)
        if arg.kind == 'numbers' and arg.step >= 1:
            bounds = {'minimum': int(arg.low), 'maximum': int(arg.high)} if rng.random() < 0.6 else {}
            return {'type': 'array', 'description': about, 'items': {'type': 'integer', **bounds}, 'minItems': 1, 'maxItems': 6}, declared, {}
        return {'type': 'array', 'description': about, 'items': {'type': 'number'}, 'minItems': 2, 'maxItems': 2 if arg.kind == 'xy' else 6}, declared, {}
    choices = _choices(rng, arg, spaces)
    schema: dict[str, Any] = {'type': 'string', 'description': about}
    if choices:
        schema['enum'] = list(choices)
    if arg.kind in ('places', 'objects'):
        about = schema.pop('description')
        schema = {'type': 'array', 'description': about, 'items': schema, 'minItems': 1, 'maxItems': 6}
    return schema, None, choices


def _without_unit(about: str) -> str:
    bare = re.sub(r'\(\W*\)', '', _UNIT_WORDS.sub('', about).replace('(, ', '('))
    return re.sub(' +', ' ', bare).strip(' .,') or about


def _declared(rng: random.Random, arg: Arg, strange: float) -> Declared:
    """Choose the unit and the range that a tool declares a number in."""
    low, high, unit = arg.low, arg.high, arg.unit
    is_integer = arg.kind == 'integer' or (arg.step >= 1 and arg.step == int(arg.step) and low == int(low) and rng.random() < 0.4)
    family = quantities.FAMILIES.get(quantities.FAMILY_OF.get(unit, ''), {})
    if unit == 'm' and high >= 10 and low == -high:
        high = rng.choice((10, 10, 20, 20, 50, 100, 1000))
        return Declared(unit, -high, high)
    if family and not arg.keeps_all and rng.random() < strange * 0.4 and low >= 0:
        other = rng.choice(tuple(family))
        scale = float(family[unit] / family[other])
        new_low, new_high = low * scale, high * scale
        if new_high >= 1 and (new_low == 0 or new_low >= 0.05) and new_high <= 20000 and other != 'rad':
            rounding = 0 if new_high >= 50 else 1
            new_low = round(new_low, rounding) if round(new_low, rounding) > 0 or low == 0 else round(new_low, 2)
            low, high, unit = new_low, round(new_high, rounding), other
            is_integer = is_integer and rounding == 0 and low == int(low) and scale >= 1
        elif other == 'fraction' and unit == '%':
            low, high, unit, is_integer = round(low / 100, 2), round(high / 100, 2), other, False
        elif other == 'rad' and unit == 'deg' and high <= 360:
            low, high, unit, is_integer = 0.0, round(high / 57.29577951, 2), other, False
    if not arg.keeps_all and rng.random() < 0.3 and low >= 0 and high - low > 4 and unit not in ('rad', 'fraction', 'deg', '%'):
        high = round(low + (high - low) * rng.choice((0.5, 0.6, 0.8, 1.2, 1.5)), 0)
    return Declared(unit, low, high, is_integer, arg.step if is_integer else 0.0)


def _choices(rng: random.Random, arg: Arg, spaces: str) -> dict[str, tuple[str, ...]]:
    if arg.kind == 'choice':
        count = len(arg.choices) if arg.keeps_all or rng.random() < 0.5 else rng.randint(min(2, len(arg.choices)), len(arg.choices))
        found = sorted(rng.sample(arg.choices, count), key=arg.choices.index) if rng.random() < 0.5 else rng.sample(arg.choices, count)
        return {_spelt(c, spaces): (*arg.spoken.get(c, ()), c.replace('_', ' ')) for c in found}
    if arg.choices:
        return {_spelt(c, spaces): (c.replace('_', ' '),) for c in arg.choices}
    if rng.random() >= _ENUM_CHANCE.get(arg.kind, 0.0):
        return {}
    arg = replace(arg, kind=arg.unit) if arg.unit in ('person', 'code') else arg
    made = list(dict.fromkeys(values.draw(rng, arg)[0] for _ in range(rng.choice((2, 3, 4, 5, 6, 8, 10)))))
    if arg.kind == 'place' and rng.random() < 0.35:
        made = list(dict.fromkeys([*rng.sample(words.PLACES[:8], rng.randint(3, 8)), *made[:3]]))
    if any(a != b and (a in b or b in a) for a in made for b in made):
        made = [a for a in made if not any(a != b and a in b for b in made)]
    choices = {_spelt(value, spaces): (value,) for value in made}
    return choices if len(choices) > 1 else {}


def _spelt(value: str, spaces: str) -> str:
    """Spell a choice in the style of its catalogue."""
    if spaces == 'camel':
        parts = re.split(r'[ _]', value)
        return parts[0] + ''.join(p[:1].upper() + p[1:] for p in parts[1:])
    if spaces == 'upper':
        return re.sub(r'[ -]', '_', value).upper()
    return re.sub(r'[ _]', spaces, value) if spaces != ' ' else value
