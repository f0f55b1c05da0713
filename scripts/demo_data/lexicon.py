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
Loads the lexicon: skills as data, one YAML list a file in `lexicon/`.

Every entry is checked; a fault is one error that names the file, the entry and the key.
"""

from __future__ import annotations

from collections.abc import Mapping
import functools
from pathlib import Path
import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from demo_data.skills import Arg
from demo_data.skills import Skill

FOLDER = Path(__file__).with_name('lexicon')
KINDS = ('place', 'object', 'plural', 'surface', 'person', 'text', 'code', 'number', 'integer',
         'choice', 'boolean', 'places', 'objects')
UNITS = ('', 'm', 'cm', 'mm', 'km', 'm/s', 'km/h', 'cm/s', 'deg', 'rad', 's', 'min', 'h', '%', 'C', 'kg',
         'g', 'l', 'ml', 'Hz', 'N', 'V', 'W', 'lx', 'dB', 'bar', 'rpm', 'px', 'x')
_KEYS = {'key', 'names', 'descriptions', 'args', 'says', 'near', 'opposite'}
_ARG_KEYS = {'key', 'kind', 'names', 'descriptions', 'optional', 'low', 'high', 'step', 'unit',
             'choices', 'says_true'}
_NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_]{0,63}')
_SLOT = re.compile(r'\{(\w*)\}')


class LexiconError(ValueError):
    """An entry of the lexicon that cannot be used; the text says which, and what to change."""


@functools.cache
def load_lexicon(folder: Path = FOLDER) -> tuple[Skill, ...]:
    """Load all files in the order of their names; raises LexiconError."""
    skills: list[Skill] = []
    homes: dict[str, str] = {}
    for file in sorted(folder.glob('*.yaml')):
        for skill in load_file(file):
            if skill.key in homes:
                raise LexiconError(
                    f'{file.name}: the key {skill.key!r} is also in {homes[skill.key]}; keys must be unique')
            homes[skill.key] = file.name
            skills.append(skill)
    return tuple(skills)


def load_file(file: Path) -> list[Skill]:
    """Load one file; raises LexiconError."""
    try:
        content = YAML(typ='safe').load(file.read_text(encoding='utf-8'))
    except YAMLError as error:
        raise LexiconError(f'{file.name}: no YAML: {" ".join(str(error).split())[:200]}') from error
    if not isinstance(content, list):
        raise LexiconError(f'{file.name}: expected a list of skills, found {type(content).__name__}')
    return [_skill(entry, f'{file.name}, entry {number}') for number, entry in enumerate(content)]


def _skill(entry: Any, where: str) -> Skill:
    if not isinstance(entry, dict):
        raise LexiconError(f'{where}: expected a mapping, found {type(entry).__name__}')
    where = f'{where} ({entry.get("key", "no key")})'
    _known(entry, _KEYS, where)
    for key in ('key', 'names', 'descriptions', 'says'):
        if not entry.get(key):
            raise LexiconError(f'{where}: the key {key!r} is missing or empty')
    args = tuple(_arg(arg, f'{where}, args[{i}]') for i, arg in enumerate(entry.get('args') or ()))
    names = _texts(entry, 'names', where)
    for name in (str(entry['key']), *names):
        if not _NAME.fullmatch(name):
            raise LexiconError(f'{where}: names: {name!r} is no tool name; use letters, digits and _')
    says = _texts(entry, 'says', where)
    required = {a.key for a in args if not a.optional and a.kind != 'boolean'}
    for template in says:
        _check_template(template, {a.key for a in args}, required, where)
    return Skill(
        key=str(entry['key']), names=names, descriptions=_texts(entry, 'descriptions', where), says=says,
        args=args, near=_texts(entry, 'near', where), opposite=_texts(entry, 'opposite', where),
        says_units=True)


def _arg(entry: Any, where: str) -> Arg:
    if not isinstance(entry, dict):
        raise LexiconError(f'{where}: expected a mapping, found {type(entry).__name__}')
    _known(entry, _ARG_KEYS, where)
    for key in ('key', 'kind', 'names', 'descriptions'):
        if not entry.get(key):
            raise LexiconError(f'{where}: the key {key!r} is missing or empty')
    kind = entry['kind']
    if kind not in KINDS:
        raise LexiconError(f'{where}: kind: {kind!r} is none of {", ".join(KINDS)}')
    unit = str(entry.get('unit') or '')
    low, high = entry.get('low', 0), entry.get('high', 1)
    if kind in ('number', 'integer'):
        if unit not in UNITS:
            raise LexiconError(f'{where}: unit: {unit!r} is none of {", ".join(filter(None, UNITS))}')
        if not (isinstance(low, (int, float)) and isinstance(high, (int, float)) and low < high):
            raise LexiconError(f'{where}: low and high must be numbers, low below high; found {low!r}, {high!r}')
    step = entry.get('step') or (1 if kind == 'integer' else 0.01)
    return Arg(
        key=str(entry['key']), kind=kind, names=_texts(entry, 'names', where),
        descriptions=_texts(entry, 'descriptions', where),
        optional=bool(entry.get('optional')) or kind == 'boolean', low=float(low), high=float(high),
        step=float(step), unit=unit, choices=tuple(_choices(entry, where)),
        spoken={k: tuple(v) for k, v in _choices(entry, where).items()},
        says_true=_texts(entry, 'says_true', where, needed=kind == 'boolean'))


def _choices(entry: Mapping[str, Any], where: str) -> dict[str, list[str]]:
    if entry['kind'] != 'choice':
        return {}
    raw = entry.get('choices')
    if not isinstance(raw, dict) or len(raw) < 2:
        raise LexiconError(f'{where}: choices: expected a mapping of at least two spellings to phrases')
    choices = {}
    for name, phrases in raw.items():
        said = [phrases] if isinstance(phrases, (str, int, float)) else list(phrases or ())
        choices[_word(name)] = [_word(p) for p in said] or [_word(name).replace('_', ' ')]
    return choices


def _word(value: Any) -> str:
    """Undo what YAML makes of words like on, off, yes and no."""
    return {True: 'on', False: 'off'}[value] if isinstance(value, bool) else str(value)


def _texts(entry: Mapping[str, Any], key: str, where: str, *, needed: bool = False) -> tuple[str, ...]:
    raw = entry.get(key) or []
    if isinstance(raw, str) or not isinstance(raw, list) or (needed and not raw):
        raise LexiconError(f'{where}: {key}: expected a list of texts, found {raw!r}')
    return tuple(_word(item).strip() for item in raw)


def _known(entry: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(map(str, entry)) - known)
    if unknown:
        raise LexiconError(f'{where}: unknown key {unknown[0]!r}; known are {", ".join(sorted(known))}')


def _check_template(template: str, known: set[str], required: set[str], where: str) -> None:
    slots = set(_SLOT.findall(template))
    if not slots <= known:
        raise LexiconError(f'{where}: says: {template!r} has the slot {sorted(slots - known)[0]!r}, which is no argument')
    if not required <= slots:
        raise LexiconError(f'{where}: says: {template!r} lacks the argument {sorted(required - slots)[0]!r}')
    depth = 0
    for sign in template:
        depth += {'[': 1, ']': -1}.get(sign, 0)
        if not 0 <= depth <= 2:
            break
    if depth:
        raise LexiconError(f'{where}: says: {template!r} has brackets that do not match or nest too deep')
