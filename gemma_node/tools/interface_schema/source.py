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
Finds the texts of interfaces: installed ones, those of a folder, or a recording's definitions.

Parses each text once. Needs no message class, so it also serves replay on machines without ROS.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace
import difflib
import os
from pathlib import Path
import re
import sys

from gemma_node.errors import ConfigError
from gemma_node.tools.interface_schema.definition import Field
from gemma_node.tools.interface_schema.definition import KINDS
from gemma_node.tools.interface_schema.definition import parse_interface
from gemma_node.tools.interface_schema.definition import Section

PathPart = str | int
_BLOCK = re.compile(r'^={3,}\s*$\n^(MSG|IDL):\s*(\S+)\s*$\n?', re.MULTILINE)
_ROS1_HEADER = re.compile(r'^Header(?=\s)', re.MULTILINE)
_MAX_TEXT = 1 << 20


class InterfaceSource:
    """
    Interface texts below share folders, or `definitions` (type -> text); not thread-safe.

    A folder holds PKG/msg/NAME.msg, PKG/srv/NAME.srv, PKG/action/NAME.action.
    """

    def __init__(
        self, share_folders: Sequence[Path] = (), *, definitions: Mapping[str, str] | None = None,
    ) -> None:
        self._folders = tuple(share_folders)
        self._definitions = definitions
        self._parsed: dict[str, tuple[Section, ...] | None] = {}

    @classmethod
    def installed(cls) -> InterfaceSource:
        """Look where ROS packages are installed, and into this package's own repository."""
        prefixes = [Path(part) for part in os.environ.get('AMENT_PREFIX_PATH', '').split(':')
                    if part]
        return cls([prefix / 'share' for prefix in (*prefixes, Path(sys.prefix))])

    @classmethod
    def of_folder(cls, folder: Path) -> InterfaceSource:
        """Look into a package, workspace or prefix first, then where packages are installed."""
        if not folder.is_dir():
            raise ConfigError(f'there is no folder {folder}')
        folder = folder.resolve()
        own = [folder.parent] if (folder / 'package.xml').is_file() else []
        own += [folder, folder / 'share', folder / 'src']
        return cls([*own, *cls.installed()._folders])

    @classmethod
    def of_definitions(cls, definitions: Mapping[str, str]) -> InterfaceSource:
        """
        Read message texts as recordings keep them, and nothing else.

        A text may be followed by those of the messages inside it, each after a line of = and
        ``MSG: PKG/NAME``.
        """
        texts: dict[str, str] = {}
        for name, text in definitions.items():
            pieces = _BLOCK.split(_ROS1_HEADER.sub('std_msgs/Header', text))
            texts[_full_name(name)] = pieces[0]
            for form, nested, body in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
                if form == 'MSG':
                    texts.setdefault(_full_name(nested), body)
        return cls(definitions=texts)

    def sections(self, interface_type: str) -> tuple[Section, ...] | None:
        """
        Return an interface's parts, or None if it cannot be read here.

        Message: one. Service: request, response. Action: goal, result, feedback.
        """
        if interface_type not in self._parsed:
            self._parsed[interface_type] = self._parse(interface_type)
        return self._parsed[interface_type]

    def required(self, interface_type: str) -> tuple[Section, ...]:
        """Return an interface's parts; raises ConfigError saying what is missing."""
        if not any(is_interface_type(interface_type, kind) for kind in KINDS):
            raise ConfigError(f'{interface_type!r} is no interface type like '
                              'nav_msgs/msg/Odometry, std_srvs/srv/Trigger or pkg/action/Name')
        sections = self.sections(interface_type)
        if sections is None:
            raise ConfigError(self._reason(interface_type))
        return sections

    def field_at(self, interface_type: str, path: Sequence[PathPart]) -> Field | None:
        """
        Return the goal, request or message field at a path, or None if types cannot be read.

        Raises ConfigError listing the choices when there is no such field.
        """
        sections = self.sections(interface_type)
        found: Field | None = None
        for part in path:
            if isinstance(part, int):
                found = _item(found, part, path)
                continue
            if found is not None and ('/' not in found.base_type or found.is_array):
                raise ConfigError(f'{format_path(path)}: {found.name} has no field {part!r}')
            if found is not None:
                sections = self.sections(message_type(found.base_type))
            if sections is None:
                return None
            fields = sections[0].fields
            if part not in fields:
                raise ConfigError(f'{format_path(path)}: no field {part!r}; choices are: '
                                  f'{", ".join(fields) or "none"}')
            found = fields[part]
        return found

    def _parse(self, interface_type: str) -> tuple[Section, ...] | None:
        if self._definitions is not None:
            text = self._definitions.get(interface_type)
            place = 'its definition'
        else:
            file = self._find(interface_type)
            text = None if file is None else _read(interface_type, file)
            place = str(file)
        return None if text is None else parse_interface(interface_type, text, place)

    def _find(self, interface_type: str) -> Path | None:
        _, kind, name = interface_type.split('/')
        candidates = [folder / f'{name}.{kind}' for folder in self._places(interface_type)]
        return next((file for file in candidates if file.is_file()), None)

    def _places(self, interface_type: str) -> list[Path]:
        package, kind, _ = interface_type.split('/')
        places = [folder / package / kind for folder in self._folders]
        if package == 'gemma_node':
            places.append(Path(__file__).parents[3] / kind)
        return places

    def _reason(self, interface_type: str) -> str:
        """Say in one sentence why an interface cannot be read."""
        package, kind, name = interface_type.split('/')
        if self._definitions is not None:
            if interface_type in self._definitions:
                return _NO_PARSER.format(interface_type)
            defined = ', '.join(sorted(self._definitions)) or 'none'
            return f'the recording does not define {interface_type}; it defines: {defined}'
        places = [place for place in self._places(interface_type) if place.is_dir()]
        if not places:
            return (f'{interface_type} is not installed: install the ROS package {package} and '
                    'source its workspace, or name a folder that holds it')
        if any((place / f'{name}.{kind}').is_file() for place in places):
            return _NO_PARSER.format(interface_type)
        if any((place / f'{name}.idl').is_file() for place in places):
            return f'{interface_type} is defined in IDL only, which is not read here'
        known = sorted({file.stem for place in places for file in place.glob(f'*.{kind}')})
        close = difflib.get_close_matches(name, known, n=5, cutoff=0.4) or known
        return f'{package} has no {kind} {name}; choices are: {", ".join(close) or "none"}'


_NO_PARSER = ('{} cannot be read without the ROS package rosidl_adapter: install it and source '
              'its workspace')


def is_interface_type(text: str, kind: str) -> bool:
    """Return whether `text` reads PKG/KIND/NAME with this kind (action, srv or msg)."""
    parts = text.split('/')
    return (len(parts) == 3 and kind in KINDS and parts[1] == kind
            and all(part.isidentifier() and part.isascii() for part in parts))


def message_type(base_type: str) -> str:
    """Return PKG/msg/NAME for the PKG/NAME that a field says."""
    return base_type.replace('/', '/msg/')


def format_path(path: Sequence[PathPart]) -> str:
    """Write a path as a tools file does."""
    text = ''.join(f'[{part}]' if isinstance(part, int) else f'.{part}' for part in path)
    return text.lstrip('.')


def _full_name(name: str) -> str:
    package, _, rest = name.partition('/')
    return name if '/' in rest else f'{package}/msg/{rest}'


def _read(interface_type: str, file: Path) -> str:
    try:
        if file.stat().st_size > _MAX_TEXT:
            raise ConfigError(f'{interface_type}: {file} has more than {_MAX_TEXT} bytes')
        return file.read_text(encoding='utf-8')
    except OSError as error:
        raise ConfigError(f'{interface_type}: {file}: {error.strerror or error}') from error
    except UnicodeDecodeError as error:
        raise ConfigError(f'{interface_type}: {file} cannot be parsed: not UTF-8') from error


def _item(found: Field | None, index: int, path: Sequence[PathPart]) -> Field:
    if found is None or not found.is_array:
        raise ConfigError(f'{format_path(path)}: [{index}] where there is no array')
    if found.array_size and index >= found.array_size:
        raise ConfigError(
            f'{format_path(path)}: {found.name} holds at most {found.array_size} items')
    return replace(
        found, is_array=False, array_size=0, is_fixed=False, has_default=False, default=None)
