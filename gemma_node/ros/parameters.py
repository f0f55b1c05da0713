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

"""Declares the node's parameters with descriptors, and reads them as NodeSettings."""

from __future__ import annotations

import math
from typing import Any

from rcl_interfaces.msg import FloatingPointRange
from rcl_interfaces.msg import IntegerRange
from rcl_interfaces.msg import ParameterDescriptor
from rcl_interfaces.msg import ParameterType
from rclpy.node import Node
from rclpy.parameter import Parameter

from gemma_node.policy.parameter_specs import known_parameters
from gemma_node.policy.parameter_specs import NODE_PARAMETERS
from gemma_node.policy.parameter_specs import ParameterSpec
from gemma_node.policy.settings import from_mapping
from gemma_node.policy.settings import is_ros_parameter
from gemma_node.policy.settings import NodeSettings

_TYPES = {
    'bool': Parameter.Type.BOOL, 'int': Parameter.Type.INTEGER, 'float': Parameter.Type.DOUBLE,
    'str': Parameter.Type.STRING, 'list': Parameter.Type.STRING_ARRAY,
}
_MAX_INT64 = (1 << 63) - 1


def declare(node: Node) -> None:
    """
    Declare what no override declared yet. Types are checked in configure, not here.

    A wrong value therefore refuses the transition and leaves the node up.
    """
    for spec in NODE_PARAMETERS:
        if not node.has_parameter(spec.name):
            node.declare_parameter(spec.name, _ros_value(spec.default),
                                   ParameterDescriptor(description=spec.description,
                                                       dynamic_typing=True))


def read(node: Node) -> NodeSettings:
    """Return the settings, or raise ConfigError with one sentence."""
    return from_mapping(_values(node))


def settle(node: Node, settings: NodeSettings) -> None:
    """
    Give every parameter its type, range and description once configured.

    What cannot change live becomes read-only, so that no value is accepted without effect.
    """
    known = known_parameters(_values(node))
    for name, spec in known.items():
        descriptor = _descriptor(spec)
        parameter = Parameter(name, _TYPES[spec.kind], _ros_value(settings.values[name]))
        if not node.has_parameter(name):
            node.declare_parameter(name, parameter.value, descriptor, ignore_override=True)
        elif not node.describe_parameter(name).read_only:
            node.set_descriptor(name, descriptor, parameter.get_parameter_value())


def _values(node: Node) -> dict[str, Any]:
    return {name: parameter.value
            for name, parameter in node.get_parameters_by_prefix('').items()
            if parameter.value is not None and not is_ros_parameter(name)}


def _descriptor(spec: ParameterSpec) -> ParameterDescriptor:
    descriptor = ParameterDescriptor(
        description=spec.description, read_only=not spec.is_live,
        type=_TYPES[spec.kind].value,
        additional_constraints=f'one of {", ".join(spec.choices)}' if spec.choices else '')
    if descriptor.type == ParameterType.PARAMETER_DOUBLE and math.isfinite(spec.minimum):
        high = spec.maximum if math.isfinite(spec.maximum) else 1e308
        descriptor.floating_point_range = [
            FloatingPointRange(from_value=float(spec.minimum), to_value=float(high))]
    if descriptor.type == ParameterType.PARAMETER_INTEGER and math.isfinite(spec.minimum):
        high = int(spec.maximum) if math.isfinite(spec.maximum) else _MAX_INT64
        descriptor.integer_range = [IntegerRange(from_value=int(spec.minimum), to_value=high)]
    return descriptor


def _ros_value(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
