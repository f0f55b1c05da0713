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
What a replay asks of a recording: the settings and the tools.

With a parameter file, exactly what the node would do; without, every standard topic is an input
and one question is asked for every five seconds begun.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
import re
from typing import Any

from gemma_node.errors import ConfigError
from gemma_node.policy.settings import from_mapping
from gemma_node.policy.settings import NodeSettings
from gemma_node.replay.bag import Bag
from gemma_node.replay.bag import BagTopic
from gemma_node.replay.mailbox import topic_of
from gemma_node.ros_env import share_folder
from gemma_node.text.render_template import check_template
from gemma_node.tools.catalogue import Catalogue
from gemma_node.tools.catalogue import load_catalogue
from gemma_node.tools.yaml_reader import read_yaml

DEFAULT_ROBOT = 'robot'
DEFAULT_PERIOD_S = 5.0
DEFAULT_QUESTION = 'What should the robot do now?'
_STANDARD = re.compile(
    r'(std_msgs|geometry_msgs|sensor_msgs|nav_msgs|diagnostic_msgs|gemma_node|vision_msgs)/msg/'
)
_PLUMBING = re.compile(
    r'/(rosout(_agg)?|parameter_events|clock|tf(_static)?|.*/transition_event|.*/_action/.*)\Z'
)
_KNOWN_NAMES = {
    'nav_msgs/msg/Odometry': 'odom',
    'sensor_msgs/msg/BatteryState': 'battery',
    'sensor_msgs/msg/LaserScan': 'scan',
    'sensor_msgs/msg/Imu': 'imu',
    'sensor_msgs/msg/NavSatFix': 'gps',
    'sensor_msgs/msg/JointState': 'joints',
    'diagnostic_msgs/msg/DiagnosticArray': 'diagnostics',
    'gemma_node/msg/DetectionArray': 'detections',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """
    Settings as the node's, and the tool catalogue.

    `is_default`: no parameter file. Then each question stands alone, and the end is asked about.
    """

    settings: NodeSettings
    catalogue: Catalogue
    is_default: bool


def make_plan(bag: Bag, config: Path | None) -> Plan:
    """Plan the replay of an open bag; ConfigError where the parameter file does not fit it."""
    if config is None:
        settings = from_mapping(default_parameters(bag.topics))
        return Plan(settings=settings, catalogue=_catalogue(settings, None), is_default=True)
    settings = from_mapping(read_parameters(config))
    _check_topics(bag, settings, config)
    for robot in settings.robots:
        for observation in robot.observations:
            if observation.template:
                place = f'robots.{robot.name}.observations.{observation.name}'
                check_template(observation.template, place)
    catalogue = _catalogue(settings, config)
    return Plan(settings=settings, catalogue=catalogue, is_default=False)


def read_parameters(path: Path) -> dict[str, Any]:
    """Return the ``ros__parameters`` of a ROS parameter file: of gemma_node, or of any node."""
    tree = read_yaml(path).plain()
    found: dict[str, Any] = {}
    if isinstance(tree, dict):
        for name in ('/**', 'gemma_node', '/gemma_node', '/**/gemma_node'):
            node = tree.get(name)
            if isinstance(node, dict) and isinstance(node.get('ros__parameters'), dict):
                found |= node['ros__parameters']
    if not found:
        raise ConfigError(
            f'{path} holds no parameters of this node: expected gemma_node: ros__parameters: ...'
        )
    return found


def default_parameters(topics: tuple[BagTopic, ...]) -> dict[str, Any]:
    """Return parameters under which one robot sees every standard topic, else every topic."""
    useful = [topic for topic in topics if not _PLUMBING.match(topic.name)] or list(topics)
    shown = [topic for topic in useful if _STANDARD.match(topic.type)] or useful
    root = f'robots.{DEFAULT_ROBOT}'
    names = _names(shown)
    parameters: dict[str, Any] = {
        'robots': [DEFAULT_ROBOT],
        'deadline': 0.0,
        f'{root}.observations': list(names.values()),
        f'{root}.history.turns': 0,
        f'{root}.trigger': ['question'],
        f'{root}.trigger.question.kind': 'period',
        f'{root}.trigger.question.period': DEFAULT_PERIOD_S,
        f'{root}.trigger.question.text': DEFAULT_QUESTION,
    }
    for topic in shown:
        parameters[f'{root}.observations.{names[topic.name]}.topic'] = topic.name
        parameters[f'{root}.observations.{names[topic.name]}.type'] = topic.type
    return parameters


def _names(topics: list[BagTopic]) -> dict[str, str]:
    """Name each topic: by its type where it is the only one of it, else by its path."""
    types = [topic.type for topic in topics]
    names: dict[str, str] = {}
    for topic in topics:
        known = _KNOWN_NAMES.get(topic.type, '')
        name = known if known and types.count(topic.type) == 1 else _path_name(topic.name)
        while name in names.values():
            name += '_2'
        names[topic.name] = name
    return names


def _path_name(topic: str) -> str:
    name = re.sub(r'[^A-Za-z0-9]+', '_', topic).strip('_') or 'topic'
    return name if name[0].isalpha() else f'topic_{name}'


def _catalogue(settings: NodeSettings, config: Path | None) -> Catalogue:
    named = settings.tools_file
    if not named:
        return load_catalogue(share_folder() / 'config' / 'tools.yaml')
    path = Path(named)
    if not path.is_absolute() and config is not None and (config.parent / path).exists():
        path = config.parent / path
    return load_catalogue(path)


def _check_topics(bag: Bag, settings: NodeSettings, config: Path) -> None:
    recorded = {topic.name for topic in bag.topics}
    wanted = [
        topic_of(robot, observation.topic)
        for robot in settings.robots
        for observation in robot.observations
    ]
    if wanted and not recorded & set(wanted):
        raise ConfigError(
            f'{bag.path} holds none of the inputs of {config} ({", ".join(wanted[:5])}); '
            f'it holds {", ".join(sorted(recorded)[:10])}'
        )
