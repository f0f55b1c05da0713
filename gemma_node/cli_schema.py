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
The verb `schema`: an interface as JSON Schema 2020-12, plain or seen through an overlay.

Needs no running ROS: it reads the texts that are installed, in a folder, or in a recording.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any
from typing import TYPE_CHECKING

from rich.console import Console

from gemma_node.errors import ConfigError

if TYPE_CHECKING:
    from gemma_node.tools.interface_schema import InterfaceSource
    from gemma_node.tools.yaml_reader import YamlNode

_RECORDINGS = ('.mcap', '.db3', '.bag')


def add_schema(verbs: Any) -> None:
    """Add the verb to the command's parser."""
    verb = verbs.add_parser(
        'schema',
        help='the JSON Schema of an installed interface',
        description='Print the JSON Schema (2020-12) of a message, a request or a goal. With '
        '--overlay: of the arguments that the model sees.',
    )
    verb.add_argument(
        'type', metavar='PKG/KIND/TYPE', help='such as nav2_msgs/action/NavigateToPose')
    verb.add_argument(
        '--overlay', type=Path, metavar='FILE',
        help='YAML: the arguments of one tool (path: rules), or a tools file')
    verb.add_argument(
        '--tool', default='', metavar='NAME', help='the tool, if the file holds several')
    verb.add_argument(
        '--part', default='', metavar='PART',
        help='goal, result or feedback of an action; request or response of a service')
    verb.add_argument(
        '--from', dest='origin', type=Path, metavar='PATH',
        help='look into this package, workspace or recording first')
    verb.add_argument('--json', action='store_true', help='print it in one line')
    verb.set_defaults(verb=_schema)


def _schema(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.overlay is None:
        if arguments.tool:
            raise ConfigError('--tool needs --overlay with a tools file')
        schema = interface_schema(arguments.type, part=arguments.part, origin=arguments.origin)
    else:
        if arguments.part:
            raise ConfigError('--overlay is for what is sent, so it takes no --part')
        schema = overlay_schema(
            arguments.type, arguments.overlay, tool=arguments.tool, origin=arguments.origin)
    text = json.dumps(
        schema, allow_nan=False, ensure_ascii=False, indent=None if arguments.json else 2)
    console.print(text, markup=False, highlight=False, soft_wrap=True)
    return 0


def interface_schema(
    interface_type: str, *, part: str = '', origin: Path | None = None,
) -> dict[str, Any]:
    """Return the schema of a whole interface; raises ConfigError or BagError."""
    from gemma_node.tools.interface_schema import document
    from gemma_node.tools.interface_schema import shape_of

    return document(shape_of(source_of(origin), interface_type, part))


def overlay_schema(
    interface_type: str, overlay: Path, *, tool: str = '', origin: Path | None = None,
) -> dict[str, Any]:
    """Return the schema of the arguments that an overlay leaves to the model."""
    from gemma_node.tools.arguments import parameters_of
    from gemma_node.tools.arguments import read_arguments
    from gemma_node.tools.interface_schema import DIALECT
    from gemma_node.tools.yaml_reader import read_yaml

    source = source_of(origin)
    source.required(interface_type)
    root = read_yaml(overlay)
    entries = root.mapping()
    node: YamlNode | None = root
    if 'version' in entries and 'tools' in entries:
        node = _tool_of(entries['tools'], interface_type, tool).mapping().get('arguments')
    elif tool:
        raise root.error('no tools file, so --tool has no meaning')
    rules = read_arguments(node, interface_type, source)
    return {'$schema': DIALECT, 'title': interface_type, **parameters_of(rules)}


def _tool_of(tools: YamlNode, interface_type: str, name: str) -> YamlNode:
    """Return the one tool of a file that drives this interface."""
    found = {
        key: node for key, node in tools.mapping().items()
        if interface_type in [entry.value for entry in node.mapping().values()]
    }
    if name:
        found = {key: node for key, node in found.items() if key == name}
    if len(found) != 1:
        which = f'the tool {name}' if name else f'{len(found) or "no"} tools'
        choose = f': {", ".join(found)}; choose with --tool' if found else ''
        raise tools.error(f'{which} of {interface_type}{choose}' if found or not name else
                          f'there is no tool {name} of {interface_type}')
    return next(iter(found.values()))


def source_of(origin: Path | None) -> InterfaceSource:
    """Return the interfaces installed, or those of a folder or recording first."""
    from gemma_node.tools.interface_schema import InterfaceSource

    if origin is None:
        return InterfaceSource.installed()
    is_recording = origin.suffix in _RECORDINGS or (origin / 'metadata.yaml').is_file()
    if not is_recording:
        return InterfaceSource.of_folder(origin)
    from gemma_node.replay.bag import Bag

    with Bag(origin) as bag:
        return InterfaceSource.of_definitions(bag.definitions())
