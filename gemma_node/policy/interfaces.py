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
Which actions, services and topics a robot's tools may drive: none but those allowed by name.

Names are judged after namespaces and remappings, as the graph knows them, so that no alias leads
around the list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from gemma_node.core import ErrorCode
from gemma_node.policy.limits import Finding
from gemma_node.policy.settings import RobotConfig
from gemma_node.tools.spec import ToolSpec

# What changes nodes rather than the robot; to be named one by one, never by being near by.
_PLUMBING = ('rcl_interfaces/', 'lifecycle_msgs/', 'composition_interfaces/',
             'type_description_interfaces/')


def _plain_name(robot: RobotConfig, name: str) -> str:
    return name if name.startswith('/') else f'/{robot.namespace.strip("/")}/{name}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """
    How names are made canonical; the node gives ROS's own way, remappings included.

    `interface` of a tool and `namespace` of a robot are fully qualified; `node` is this node's.
    """

    interface: Callable[[RobotConfig, ToolSpec], str] = (
        lambda robot, spec: _plain_name(robot, spec.interface_name))
    namespace: Callable[[RobotConfig], str] = (
        lambda robot: f'/{robot.namespace.strip("/")}')
    node: str = '/gemma_node'


def check_interface(robot: RobotConfig, spec: ToolSpec, names: Names) -> list[Finding]:
    """Judge whether a robot's tool may drive its interface at all."""
    name, root = names.interface(robot, spec), names.namespace(robot)
    own = (f'{root}/gemma', names.node)
    if any(name == each or name.startswith(f'{each}/') for each in own):
        return _deny(f'{name} is an interface of this node itself')
    if any(part.startswith('_') for part in name.split('/')):
        return _deny(f'{name} is a hidden interface')
    if any(fnmatchcase(name, pattern) for pattern in robot.allowed_interfaces):
        return []
    hint = f"'robots.{robot.name}.allowed_interfaces' does not name it"
    if spec.interface_type.startswith(_PLUMBING):
        return _deny(f'{name} changes nodes, and {hint}')
    if name.startswith(f'{root}/'):
        return []
    return _deny(f'{name} is outside the namespace {root}, and {hint}')


def _deny(sentence: str) -> list[Finding]:
    return [Finding(ErrorCode.NOT_ALLOWED, sentence)]
