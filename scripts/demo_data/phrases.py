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
Tiny template language for sentences: `[a|b|]` picks one alternative, `{slot}` takes a value.

A `Said` is a sentence whose words are chosen and whose values are not yet in it, so that noise
can touch the words and leave the values alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
import functools
import random
import re

_SLOT = re.compile(r'\{([\w.]+)\}')
Parts = tuple['str | tuple[Parts, ...]', ...]


@dataclass(frozen=True)
class Said:
    """
    Words with slots, and the values for them.

    `fixed` names the slots whose letters are copied into an answer: neither their spelling nor
    their case may change.
    """

    template: str
    values: Mapping[str, str] = field(default_factory=dict)
    is_imperative: bool = True
    fixed: frozenset[str] = frozenset()

    @property
    def plain(self) -> str:
        """The sentence without any noise."""
        return re.sub(' +', ' ', fill(self.template, self.values)).strip()


def join(template: str, *, is_imperative: bool = True, **parts: Said | str) -> Said:
    """Put sentences into the slots of a template; texts are values that are copied."""
    values: dict[str, str] = {}
    fixed: set[str] = set()
    texts: dict[str, str] = {}
    for name, part in parts.items():
        if isinstance(part, str):
            values[name] = part
            fixed.add(name)
            texts[name] = f'{{{name}}}'
            continue
        values |= {f'{name}.{key}': value for key, value in part.values.items()}
        fixed |= {f'{name}.{key}' for key in part.fixed}
        texts[name] = _SLOT.sub(lambda m, n=name: f'{{{n}.{m.group(1)}}}', part.template)
    return Said(_SLOT.sub(lambda m: texts.get(m.group(1), m.group()), template), values,
                is_imperative, frozenset(fixed))


@functools.lru_cache(maxsize=65536)
def _parse(template: str) -> Parts:
    parts, end = _parse_until(template, 0)
    if end != len(template):
        raise ValueError(f'{template!r}: a bracket closes that was not opened')
    return parts


def _parse_until(template: str, at: int) -> tuple[Parts, int]:
    parts: list[str | tuple[Parts, ...]] = []
    text = ''
    while at < len(template) and template[at] not in '|]':
        if template[at] != '[':
            text += template[at]
            at += 1
            continue
        parts.append(text)
        text = ''
        options: list[Parts] = []
        while template[at:at + 1] in ('[', '|'):
            option, at = _parse_until(template, at + 1)
            options.append(option)
        if template[at:at + 1] != ']':
            raise ValueError(f'{template!r}: a bracket does not close')
        at += 1
        parts.append(tuple(options))
    parts.append(text)
    return tuple(parts), at


def expand(rng: random.Random, template: str) -> str:
    """Pick one alternative of every bracket."""
    return template if '[' not in template else _pick(rng, _parse(template))


def _pick(rng: random.Random, parts: Parts) -> str:
    return ''.join(part if isinstance(part, str) else _pick(rng, rng.choice(part)) for part in parts)


def expansions(template: str, limit: int) -> list[str]:
    """List what a template can become, up to a limit."""
    found = ['']
    for part in _parse(template):
        options = [part] if isinstance(part, str) else [
            text for option in part for text in (_all(option, limit))]
        found = [a + b for a in found for b in options][:limit]
    return found


def _all(parts: Parts, limit: int) -> list[str]:
    found = ['']
    for part in parts:
        options = [part] if isinstance(part, str) else [t for o in part for t in _all(o, limit)]
        found = [a + b for a in found for b in options][:limit]
    return found


def parted(table: str) -> tuple[str, ...]:
    """Part a table at line ends and at `|` outside of brackets."""
    found, depth = [''], 0
    for sign in table.strip():
        depth += (sign == '[') - (sign == ']')
        if sign == '\n' or (sign == '|' and not depth):
            found.append('')
        else:
            found[-1] += sign
    return tuple(filter(None, found))


def slots_of(template: str) -> frozenset[str]:
    """Name the slots a template has."""
    return frozenset(_SLOT.findall(template))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values into slots; text of values is never expanded again."""
    return _SLOT.sub(lambda found: values[found.group(1)], template)


def capital(text: str) -> str:
    """Start a text with a capital letter."""
    return text[:1].upper() + text[1:]
