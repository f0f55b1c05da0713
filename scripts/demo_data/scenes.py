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
Scenes: robots at everyday work, each with its tools, what people ask of them, and what they only say.

The tables are the files of `scenes/`. `==` begins a scene; `a` declares an argument: names, kind,
range or `~` for a pool, what it is, and after `|` its choices or pool; `t` a tool: name(arguments),
more names : descriptions; `+` wishes; `?` what is said without that argument; `-` what asks for
nothing; `x` what no tool of the scene can do. Items are parted by `;`.
"""

from __future__ import annotations

from dataclasses import dataclass
import functools
from pathlib import Path
import random
import re

from demo_data import speech
from demo_data.cases import ask
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import IDLE
from demo_data.cases import no_action
from demo_data.cases import NO_TOOL
from demo_data.catalogues import Book
from demo_data.catalogues import plain_book
from demo_data.catalogues import Slot
from demo_data.catalogues import Tool
from demo_data.phrases import expand
from demo_data.phrases import Said
from demo_data.phrases import slots_of
from demo_data.quantities import Declared
from demo_data.skills import Arg
from demo_data.skills import Skill
from demo_data.wishes import spoken_value

FOLDER = Path(__file__).with_name('scenes')
_ARG = re.compile(r'a (\S+) (\w+)(?: (-?[\d.]+)\.\.(-?[\d.]+)(?: ([\w/%]+))?)? : ([^|]+)(?:\|(.+))?')
_TOOL = re.compile(r't (@?)(\w+)(?:\(([^)]*)\))?((?: \w+)*) : (.+)')
PREFIX = 's:'
_FILLED = frozenset(('place', 'object', 'person', 'n'))


@dataclass(frozen=True)
class Scene:
    """One robot's work: its skills, what is said without being asked, what it cannot do, and sentences that lack an argument."""

    skills: tuple[Skill, ...]
    idle: tuple[str, ...]
    beyond: tuple[str, ...]
    lacking: dict[str, tuple[tuple[str, str], ...]]
    args: dict[str, Arg]


@functools.cache
def scenes(folder: Path = FOLDER) -> dict[str, Scene]:
    """Load all scenes; raises ValueError that names the file and the line."""
    found: dict[str, Scene] = {}
    for file in sorted(folder.glob('*.txt')):
        for block in re.split(r'^== ', file.read_text(encoding='utf-8'), flags=re.MULTILINE)[1:]:
            name, _, body = block.partition('\n')
            if name.strip() in found:
                raise ValueError(f'{file.name}: the scene {name.strip()!r} is there twice')
            found[name.strip()] = _scene(f'{file.name}, {name.strip()}', name.strip(), body)
    return found


def _scene(where: str, name: str, body: str) -> Scene:
    args: dict[str, Arg] = {}
    made: list[Skill] = []
    idle: list[str] = []
    beyond: list[str] = []
    lacking: dict[str, list[tuple[str, str]]] = {}
    for line in filter(None, map(str.strip, body.splitlines())):
        if line.startswith('a '):
            arg = _arg(line, where)
            args[arg.key] = arg
        elif line.startswith('t '):
            made.append(_tool(line, args, name, where))
        elif line.startswith('+ '):
            made[-1] = _with_says(made[-1], _items(line[2:]), where)
        elif line.startswith('?'):
            key, _, rest = line[1:].strip().partition(':')
            if key not in {a.key for a in made[-1].args if not a.optional}:
                raise ValueError(f'{where}: {made[-1].key} does not need {key!r}')
            lacking.setdefault(made[-1].key, []).extend((key, text) for text in _items(rest))
        elif line.startswith('- '):
            idle += _items(line[2:])
        elif line.startswith('x '):
            beyond += _items(line[2:])
        else:
            raise ValueError(f'{where}: no such line: {line}')
    for skill in made:
        if not skill.says:
            raise ValueError(f'{where}: nobody asks for {skill.key}')
    for text in (*idle, *beyond, *(text for texts in lacking.values() for _, text in texts)):
        unknown = {s.removesuffix('_u') for s in slots_of(text)} - args.keys() - _FILLED
        if unknown:
            raise ValueError(f'{where}: {text!r} has the slots {sorted(unknown)}, which are not declared')
    return Scene(tuple(made), tuple(idle), tuple(beyond), {k: tuple(v) for k, v in lacking.items()}, args)


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(';') if item.strip()]


def _arg(line: str, where: str) -> Arg:
    found = _ARG.fullmatch(line)
    if found is None:
        raise ValueError(f'{where}: no argument: {line}')
    names, kind, low, high, unit, about, rest = found.groups()
    items = _items(rest or '')
    spoken: dict[str, tuple[str, ...]] = {}
    if kind == 'choice':
        spoken = {value.strip(): tuple(p.strip() for p in said.split(',') if p.strip()) or (value.strip().replace('_', ' '),) for value, _, said in (i.partition('=') for i in items)}
    elif items and kind != 'boolean':
        spoken = {'pool': tuple(items)}
    if kind in ('number', 'integer') and low is None:
        raise ValueError(f'{where}: a number without a range: {line}')
    true, _, false = (rest or '').partition('||')
    return Arg(
        names.split('/')[0], kind, tuple(names.split('/')), tuple(t.strip() for t in about.split(' / ')), low=float(low or 0), high=float(high or 1),
        step=1.0 if kind == 'integer' else 0.01, unit=unit or '', choices=tuple(spoken) if kind == 'choice' else (), spoken=spoken,
        says_true=tuple(_items(true)) if kind == 'boolean' else (), says_false=tuple(_items(false)) if kind == 'boolean' else ())


def _tool(line: str, args: dict[str, Arg], scene: str, where: str) -> Skill:
    found = _TOOL.fullmatch(line)
    if found is None:
        raise ValueError(f'{where}: no tool: {line}')
    docks, name, inside, more, about = found.groups()
    own = []
    for key in filter(None, re.split(r'[ ,]+', inside or '')):
        if key.rstrip('?') not in args:
            raise ValueError(f'{where}: {name} takes {key!r}, which is not declared')
        arg = args[key.rstrip('?')]
        own.append(Arg(**{**arg.__dict__, 'optional': key.endswith('?')}))
    return Skill('dock' if docks else f'{PREFIX}{scene}:{name}', (name, *more.split()), tuple(t.strip() for t in about.split(' / ')), (), tuple(own), says_units=True)


def _with_says(skill: Skill, says: list[str], where: str) -> Skill:
    known = {a.key for a in skill.args}
    needed = {a.key for a in skill.args if not a.optional}
    for text in says:
        slots = {s.removesuffix('_u') for s in slots_of(text)}
        if not slots - _FILLED <= known or not needed <= slots:
            raise ValueError(f'{where}: {skill.key}: {text!r} has the slots {sorted(slots)}, not {sorted(known)}')
    return Skill(skill.key, skill.names, skill.descriptions, (*skill.says, *says), skill.args, says_units=True)


def names() -> set[str]:
    """Return the tools' names."""
    return {name for scene in scenes().values() for skill in scene.skills for name in skill.names}


def scene_book(rng: random.Random) -> Book:
    """Draw a scene's catalogue, at times without some of its tools."""
    scene = scenes()[rng.choice(tuple(scenes()))]
    count = len(scene.skills)
    kept = count if rng.random() < 0.5 else rng.randint(min(3, count), count)
    return plain_book(rng, rng.sample(scene.skills, kept), strange=rng.choice((0.15, 0.4, 0.8)), nonces=rng.choice((0.0, 0.0, 0.0, 0.1)))


def scene_of(book: Book) -> tuple[str, Scene] | None:
    """Return the scene that a catalogue is of."""
    key = next((t.skill.key for t in book.tools if t.skill.key.startswith(PREFIX)), None)
    return None if key is None else (key.split(':')[1], scenes()[key.split(':')[1]])


def idle(m: CaseMaker) -> Case | None:
    """What people say in a scene without wanting anything."""
    found = scene_of(m.book)
    if found is None or not found[1].idle:
        return None
    said = filled(m, m.rng.choice(found[1].idle))
    if slots_of(said.template) - said.values.keys():
        return None
    return Case('chat', m.say(said, noise=0.4, polite=False), no_action(IDLE))


def beyond(m: CaseMaker) -> Case | None:
    """What no tool that is there can do, though it belongs to the scene."""
    rng = m.rng
    found = scene_of(m.book)
    if found is None:
        return None
    have = {t.skill.key for t in m.book.tools}
    gone = [s for s in found[1].skills if s.key not in have]
    if gone and rng.random() < 0.6:
        return Case('unavailable', m.say(filled(m, rng.choice(rng.choice(gone).says)), noise=0.4), ask(NO_TOOL))
    return Case('unavailable', m.say(filled(m, rng.choice(found[1].beyond)), noise=0.4), ask(NO_TOOL)) if found[1].beyond else None


def lacking(m: CaseMaker) -> Case | None:
    """A natural sentence that lacks what its tool needs."""
    found = scene_of(m.book)
    if found is None:
        return None
    pairs = [(t, key, text) for t in m.book.tools for key, text in found[1].lacking.get(t.skill.key, ()) if key in t.slots]
    if not pairs:
        return None
    tool, key, text = m.rng.choice(pairs)
    return Case('unclear', m.say(filled(m, text, tool), noise=0.4), ask(f'Which {tool.slots[key].path[-1]} do you mean?'))


def filled(m: CaseMaker, template: str, tool: Tool | None = None) -> Said:
    """Say a sentence of the scene whose values matter to nobody."""
    rng = m.rng
    text = expand(rng, template)
    said = dict(speech.fillers(rng))
    found = scene_of(m.book)
    known = found[1].args if found else {}
    for key in slots_of(text):
        arg = known.get(key.removesuffix('_u'))
        if arg is None:
            continue
        slot = tool.slots.get(arg.key) if tool is not None else None
        tries = (spoken_value(rng, arg, slot or _free_slot(arg), with_unit=True) for _ in range(8))
        said[key] = next((drawn[1] for drawn in tries if drawn is not None), f'{arg.high:g}')
    said = {k: v for k, v in said.items() if k in slots_of(text)}
    return Said(text.lstrip('!'), said, not text.startswith('!'), frozenset(said))


def _free_slot(arg: Arg) -> Slot:
    if arg.kind in ('number', 'integer'):
        return Slot((arg.key,), Declared(arg.unit, arg.low, arg.high, arg.kind == 'integer'))
    return Slot((arg.key,), None, dict(arg.spoken) if arg.kind == 'choice' else {})
