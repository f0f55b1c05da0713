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
Refuses settings that no robot could be served with, before an entity is created.

What ROS itself would refuse half-way, or what would only fail at the first request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rclpy.exceptions import NameValidationException
from rclpy.expand_topic_name import expand_topic_name
from rclpy.node import Node
from rclpy.validate_full_topic_name import validate_full_topic_name

from gemma_node.core import CallKind
from gemma_node.errors import ConfigError
from gemma_node.policy.settings import NodeSettings
from gemma_node.policy.settings import RobotConfig
from gemma_node.ros.messages import has_field
from gemma_node.ros.messages import interface_class
from gemma_node.ros.names import in_namespace
from gemma_node.tools.spec import ToolSpec

Specs = Mapping[str, Mapping[str, ToolSpec]]


def check_settings(node: Node, settings: NodeSettings, specs: Specs) -> None:
    """Raise ConfigError with one sentence on what could never work; warn of useless tools."""
    _check_name(node, 'lock', settings.lock or '~/lock')
    namespaces: dict[str, str] = {}
    for robot in settings.robots:
        _check_names(node, robot)
        namespace = _check_name(node, f'robots.{robot.name}.namespace', robot.namespace)
        if namespace in namespaces:
            raise ConfigError(f"robots '{namespaces[namespace]}' and '{robot.name}' share the "
                              f"namespace '{namespace}'")
        namespaces[namespace] = robot.name
    for robot in settings.robots:
        _check_inputs(node, robot, specs[robot.name])


def _check_names(node: Node, robot: RobotConfig) -> None:
    root, namespace = f'robots.{robot.name}', robot.namespace
    _check_name(node, 'robots', f'~/tools/{robot.name}')
    _check_name(node, f'{root}.lock', in_namespace(namespace, robot.lock or 'gemma/lock'))
    for observation in robot.observations:
        _check_name(node, f'{root}.observations.{observation.name}.topic',
                    in_namespace(namespace, observation.topic))


def _check_name(node: Node, parameter: str, name: str) -> str:
    """Return the full name, or raise ConfigError that names the parameter."""
    try:
        full: str = expand_topic_name(name, node.get_name(), node.get_namespace())
        validate_full_topic_name(full)
    except (NameValidationException, ValueError) as error:
        reason = ' '.join(str(error).split("'^'")[0].split('\n')[0].split())
        raise ConfigError(f"parameter '{parameter}' gives no ROS name: {reason}") from error
    return full


def _check_inputs(node: Node, robot: RobotConfig, specs: Mapping[str, ToolSpec]) -> None:
    types: dict[str, Any] = {}
    for observation in robot.observations:
        place = f'robots.{robot.name}.observations.{observation.name}'
        types[observation.name] = interface_class(observation.type)
        if observation.template:
            # Jinja2 is the worker's; it comes into this process only for its syntax check.
            from gemma_node.text.render_template import check_template
            check_template(observation.template, f"parameter '{place}.template'")
    for trigger in robot.triggers:
        if trigger.input:
            _check_field(f"trigger 'robots.{robot.name}.trigger.{trigger.name}'", trigger.input,
                         trigger.field, types)
    for spec in specs.values():
        if spec.kind is not CallKind.NONE:
            interface_class(spec.interface_type)
        for requirement in spec.requires:
            if requirement.input not in types:
                node.get_logger().warning(
                    f"robot '{robot.name}' has no input '{requirement.input}', so every call of "
                    f"its tool '{spec.name}' will be refused; it has {', '.join(types) or 'none'}")
            _check_field(f"tool '{spec.name}'", requirement.input, requirement.field, types)


def _check_field(place: str, name: str, path: str, types: Mapping[str, Any]) -> None:
    if name in types and not has_field(types[name], path):
        raise ConfigError(f"{place} reads '{path}' of the input '{name}', but "
                          f'{types[name].__module__.split(".")[0]}/{types[name].__name__} has '
                          'no such field')
