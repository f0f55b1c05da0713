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
Start the gemma_node lifecycle node.

An argument that is left empty keeps what the parameter file says.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.actions import OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import LifecycleNode
from launch_ros.substitutions import FindPackageShare

# argument -> (parameter, is it true/false)
OVERRIDES = {
    'use_sim_time': ('use_sim_time', True),
    'autostart': ('autostart', True),
    'device': ('device', False),
    'model': ('model.path', False),
}


def _overrides(context):
    """Return the parameters that the arguments set."""
    parameters = {}
    for argument, (parameter, is_bool) in OVERRIDES.items():
        value = LaunchConfiguration(argument).perform(context)
        if not value:
            continue
        if is_bool:
            if value.lower() not in ('true', 'false'):
                raise RuntimeError(f"{argument} must be true or false, got '{value}'")
            parameters[parameter] = value.lower() == 'true'
        else:
            parameters[parameter] = value
    return parameters


def _start_node(context):
    """Return the node, with the arguments' values over those of the parameter file."""
    overrides = _overrides(context)
    return [
        LifecycleNode(
            package='gemma_node',
            executable='gemma_node',
            name='gemma_node',
            namespace=LaunchConfiguration('namespace'),
            parameters=[LaunchConfiguration('params_file'), *([overrides] if overrides else [])],
            arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
            output='screen',
            emulate_tty=True,
        )
    ]


def generate_launch_description():
    """Declare the arguments and start the node."""
    default_params = PathJoinSubstitution(
        [FindPackageShare('gemma_node'), 'config', 'gemma_node.yaml']
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'namespace',
                default_value='',
                description='Namespace of the node; topics of robots have their own.',
            ),
            DeclareLaunchArgument(
                'params_file',
                default_value=default_params,
                description='Parameter file (YAML); the default serves the demo robots.',
            ),
            DeclareLaunchArgument(
                'use_sim_time',
                default_value='',
                description='true: time comes from /clock. Empty: as in the parameter file.',
            ),
            DeclareLaunchArgument(
                'autostart',
                default_value='',
                description='false: a lifecycle manager configures and activates the node. '
                'Empty: as in the parameter file.',
            ),
            DeclareLaunchArgument(
                'log_level',
                default_value='info',
                description='debug, info, warn, error or fatal; or LOGGER:=LEVEL.',
            ),
            DeclareLaunchArgument(
                'device',
                default_value='',
                description='auto, cpu, cuda or xpu. Empty: as in the parameter file.',
            ),
            DeclareLaunchArgument(
                'model',
                default_value='',
                description='Checkpoint folder. Empty: as in the parameter file.',
            ),
            OpaqueFunction(function=_start_node),
        ]
    )
