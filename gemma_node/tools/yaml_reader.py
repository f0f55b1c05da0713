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
Reads a YAML 1.2 file so that every complaint names file and line.

Knows YAML and types; not what a tools file means.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import io
import math
from pathlib import Path
import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.comments import CommentedSeq
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.error import YAMLError

from gemma_node.errors import ConfigError

MAX_FILE_BYTES = 1 << 20
MAX_DEPTH = 32
MAX_VALUES = 100_000
_MAX_INTEGER = 1 << 64
_CONTROL = re.compile('[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]')


class YamlNode:
    """One value of a YAML file and where it stands; accessors check types or raise ConfigError."""

    __slots__ = ('file', 'line', 'path', 'value')

    def __init__(self, value: Any, *, file: str, line: int, path: str) -> None:
        self.value = value
        self.file = file
        self.line = line
        self.path = path

    def error(self, message: str) -> ConfigError:
        """Return (not raise) a ConfigError that names file, line and place."""
        place = f'{self.path}: ' if self.path else ''
        return ConfigError(f'{self.file}:{self.line}: {place}{message}')

    def mapping(self, allowed: Sequence[str] = ()) -> dict[str, YamlNode]:
        """Return the entries; `allowed` lists the keys that may occur, empty = any text."""
        if not isinstance(self.value, CommentedMap):
            raise self.error(f'expected a mapping, found {describe(self.value)}')
        entries = {}
        for key, value in self.value.items():
            line = _line_of_key(self.value, key, self.line)
            path = f'{self.path}.{key}' if self.path else str(key)
            node = YamlNode(value, file=self.file, line=line, path=path)
            if not isinstance(key, str):
                raise node.error(f'a key must be text, found {describe(key)}; quote it')
            if allowed and key not in allowed:
                raise node.error(f'unknown key {key!r}; choices are: {", ".join(sorted(allowed))}')
            entries[str(key)] = node
        return entries

    def sequence(self) -> list[YamlNode]:
        """Return the items of a list."""
        if not isinstance(self.value, CommentedSeq):
            raise self.error(f'expected a list, found {describe(self.value)}')
        nodes = []
        for idx, value in enumerate(self.value):
            line = self.value.lc.item(idx)[0] + 1 if idx in (self.value.lc.data or {}) \
                else self.line
            nodes.append(YamlNode(value, file=self.file, line=line, path=f'{self.path}[{idx}]'))
        return nodes

    def text(self, *, is_empty_allowed: bool = False) -> str:
        """Return a string; YAML's other scalars are refused, not converted."""
        if not isinstance(self.value, str):
            raise self.error(f'expected text, found {describe(self.value)}; quote it if meant so')
        if not is_empty_allowed and not self.value.strip():
            raise self.error('must not be empty')
        if found := _CONTROL.search(self.value):
            raise self.error(f'holds the control character U+{ord(found.group()):04X}')
        return str(self.value)

    def texts(self) -> tuple[str, ...]:
        """Return a list of strings without repetition."""
        seen: list[str] = []
        for node in self.sequence():
            if node.text() in seen:
                raise node.error(f'{node.text()!r} is listed twice')
            seen.append(node.text())
        return tuple(seen)

    def choice(self, choices: Sequence[str]) -> str:
        """Return one of the words given."""
        word = self.text()
        if word not in choices:
            raise self.error(f'unknown value {word!r}; choices are: {", ".join(choices)}')
        return word

    def boolean(self) -> bool:
        """Return true or false (YAML 1.2: yes and on are text)."""
        if not isinstance(self.value, bool):
            raise self.error(f'expected true or false, found {describe(self.value)}')
        return bool(self.value)

    def number(
        self, *, minimum: float = -math.inf, above: float = -math.inf, maximum: float = math.inf,
    ) -> float | int:
        """Return a finite number; an integer stays one."""
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            raise self.error(f'expected a number, found {describe(self.value)}')
        number = int(self.value) if isinstance(self.value, int) else float(self.value)
        if isinstance(number, int) and abs(number) > _MAX_INTEGER:
            raise self.error('holds a whole number beyond 64 bits, which no field takes')
        if isinstance(number, float) and not math.isfinite(number):
            raise self.error(f'must be finite, found {number}')
        if number < minimum:
            raise self.error(f'must be at least {minimum}, found {number}')
        if number <= above:
            raise self.error(f'must be above {above}, found {number}')
        if number > maximum:
            raise self.error(f'must be at most {maximum}, found {number}')
        return number

    def integer(self, *, minimum: int, maximum: int) -> int:
        """Return a whole number within the bounds."""
        number = self.number(minimum=minimum, maximum=maximum)
        if not isinstance(number, int):
            raise self.error(f'expected a whole number, found {number}')
        return number

    def plain(self) -> Any:
        """Return the value as plain dict, list, str, int, float, bool or None."""
        return _plain(self.value, self, 0)


def read_yaml(path: Path | str) -> YamlNode:
    """Read one document; raises ConfigError for anything that is not plain, finite YAML 1.2."""
    path = Path(path)
    raw = _read_bounded(path)
    reader = YAML(typ='rt', pure=True)
    reader.allow_duplicate_keys = False
    reader.version = (1, 2)
    try:
        value = reader.load(io.StringIO(raw.decode('utf-8')))
    except UnicodeDecodeError as error:
        line = raw[:error.start].count(b'\n') + 1
        raise ConfigError(f'{path}:{line}: not UTF-8 text') from error
    except DuplicateKeyError as error:
        line = error.problem_mark.line + 1
        problem = str(error.problem).split(' with value ')[0].replace('found ', '')
        raise ConfigError(f'{path}:{line}: {problem}') from error
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f'{path}:{mark.line + 1}' if mark is not None else str(path)
        problem = ' '.join(str(error.problem or error.context or 'not YAML').split())
        raise ConfigError(f'{place}: malformed YAML: {problem}') from error
    except RecursionError as error:
        raise ConfigError(f'{path}: nested too deeply; at most {MAX_DEPTH} levels') from error
    except (YAMLError, ValueError) as error:
        problem = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ConfigError(f'{path}: malformed YAML: {problem}') from error
    node = YamlNode(value, file=str(path), line=1, path='')
    _check_size(node)
    return node


def _read_bounded(path: Path) -> bytes:
    # A device or a pipe may never end, or never begin.
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise ConfigError(f'{path}: cannot be read: no regular file')
        with path.open('rb') as stream:
            raw = stream.read(MAX_FILE_BYTES + 1)
            nbytes = len(raw) if len(raw) <= MAX_FILE_BYTES else path.stat().st_size
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else ''
        raise ConfigError(f'{path}: cannot be read: {reason or error}') from error
    if nbytes > MAX_FILE_BYTES:
        raise ConfigError(f'{path}: {nbytes} bytes; at most {MAX_FILE_BYTES} are read')
    return raw


def describe(value: Any) -> str:
    """Name a value's type in YAML's words, with the value where it is short."""
    if value is None:
        return 'nothing'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, CommentedMap):
        return 'a mapping'
    if isinstance(value, CommentedSeq):
        return 'a list'
    if isinstance(value, str):
        return f'the text {value[:40]!r}'
    if isinstance(value, (int, float)):
        return f'the number {value}'
    return f'a {type(value).__name__}'


def _line_of_key(mapping: CommentedMap, key: Any, fallback: int) -> int:
    position = (mapping.lc.data or {}).get(key)
    return int(position[0]) + 1 if position else fallback


def _plain(value: Any, node: YamlNode, depth: int) -> Any:
    if isinstance(value, CommentedMap):
        return {str(key): _plain(item, node, depth + 1) for key, item in value.items()}
    if isinstance(value, CommentedSeq):
        return [_plain(item, node, depth + 1) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        if abs(value) > _MAX_INTEGER:
            raise node.error('holds a whole number beyond 64 bits, which no field takes')
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise node.error(f'must be finite, found {value}')
        return float(value)
    raise node.error(f'expected plain YAML, found {describe(value)}')


def _check_size(root: YamlNode) -> None:
    # Aliases can make a small file describe a tree without end.
    count = 0
    stack: list[tuple[Iterator[Any], int]] = [(iter([root.value]), 0)]
    while stack:
        values, depth = stack[-1]
        value = next(values, _END)
        if value is _END:
            stack.pop()
            continue
        count += 1
        if depth > MAX_DEPTH or count > MAX_VALUES:
            raise root.error(
                f'nested deeper than {MAX_DEPTH} or more than {MAX_VALUES} values; '
                'write it without aliases'
            )
        if isinstance(value, CommentedMap):
            stack.append((iter(list(value.values())), depth + 1))
        elif isinstance(value, CommentedSeq):
            stack.append((iter(list(value)), depth + 1))


_END = object()
