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
The node's settings as typed values, read from a parameter tree.

One reader for both users: `ros/parameters` (live parameters) and `replay --config` (the YAML's
``ros__parameters``). Knows nothing of ROS and reads no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import field
import hashlib
import json
import math
import re
from typing import Any
from typing import Protocol

from gemma_node.core import Mode
from gemma_node.core import RobotSettings
from gemma_node.core import ToolDeclaration
from gemma_node.core import WorkerSettings
from gemma_node.errors import ConfigError
from gemma_node.policy.parameter_specs import check_unknown
from gemma_node.policy.parameter_specs import flatten
from gemma_node.policy.parameter_specs import known_parameters
from gemma_node.policy.parameter_specs import names_in

DEFAULT_SYSTEM_PROMPT = (
    'You decide for a mobile robot. Call the tool that fits the request, '
    'or answer in one short sentence.')
MIN_MAX_AGE_S = 0.1
_AUDIT = ('folder', 'max_file_mb', 'max_files', 'max_waiting', 'bag')
_TYPE = re.compile(r'[a-z][a-z0-9_]*/msg/[A-Z][A-Za-z0-9]*\Z')


class Declares(Protocol):
    """The part of tools.catalogue.Catalogue that settings need."""

    def declarations(self, names: tuple[str, ...] = ()) -> tuple[ToolDeclaration, ...]:
        """Return what the model is told of these tools; of all when none are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationConfig:
    """One input of a robot; `topic` is relative to the robot's namespace unless it starts '/'."""

    name: str
    topic: str
    type: str
    max_age_s: float = math.inf
    required: bool = False
    template: str = ''
    max_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerConfig:
    """One question a robot asks by itself."""

    name: str
    kind: str
    text: str
    input: str = ''
    field: str = ''
    period_s: float = 0.0
    min_interval_s: float = 1.0
    min_change: float = 0.0
    above: float = -math.inf
    below: float = math.inf
    equals: str = ''


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotConfig:
    """One robot: where its topics are, what the model sees of it, what it may do."""

    name: str
    namespace: str
    observations: tuple[ObservationConfig, ...] = ()
    tools: tuple[str, ...] = ()
    system_prompt: str = DEFAULT_SYSTEM_PROMPT
    triggers: tuple[TriggerConfig, ...] = ()
    history_turns: int = 8
    history_tokens: int = 2048
    stop_words: tuple[str, ...] = ()
    lock: str = ''
    lock_timeout_s: float = 0.0
    max_request_rate_hz: float = 0.0
    mode: Mode = Mode.AUTO
    allowed_interfaces: tuple[str, ...] = ()
    min_probability: float = 0.0
    on_low_confidence: str = 'approve'
    max_calls_per_minute: int = 60
    max_repeats: int = 3
    repeat_window_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSettings:
    """Everything the parameter tree says; `values` keeps the checked flat parameters."""

    robots: tuple[RobotConfig, ...]
    tools_file: str = ''
    mode: Mode = Mode.SHADOW
    deadline_s: float = 10.0
    decision_lifetime_s: float = 5.0
    max_steps: int = 4
    follow_up_text: str = 'The tool finished. What next?'
    stamp_tolerance_s: float = 5.0
    server_timeout_s: float = 2.0
    server_silence_s: float = 5.0
    on_engine_lost: str = 'cancel'
    on_leftover_goals: str = 'report'
    mode_after_engine_loss: str = 'shadow'
    on_time_jump: str = 'reset'
    lock: str = ''
    lock_timeout_s: float = 0.0
    status_period_s: float = 1.0
    autostart: bool = True
    isolation: str = 'process'
    python: str = ''
    inbox_size: int = 64
    audit_folder: str = ''
    audit_max_file_mb: int = 64
    audit_max_files: int = 16
    audit_max_waiting: int = 4096
    audit_bag: bool = False
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def robot(self, name: str) -> RobotConfig:
        """Return the robot of this name; '' is allowed when there is exactly one."""
        if not name and len(self.robots) == 1:
            return self.robots[0]
        for robot in self.robots:
            if robot.name == name:
                return robot
        names = ', '.join(robot.name for robot in self.robots) or 'none'
        raise ConfigError(f'unknown robot {name!r}; robots are: {names}')

    @property
    def digest(self) -> str:
        """sha256 over everything that decides what calls may do."""
        kept = {k: v for k, v in asdict(self).items()
                if k != 'values' and not k.startswith('audit_')}
        return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def from_mapping(tree: Mapping[str, Any]) -> NodeSettings:
    """
    Read settings from a ``ros__parameters`` tree, nested or flat.

    Raises ConfigError with one sentence on the first unknown name, wrong type or bad value.
    `use_sim_time` and ROS's own names (`qos_overrides.*`, `start_type_description_service`)
    are left to ROS.
    """
    values = {k: v for k, v in flatten(dict(tree)) if not is_ros_parameter(k)}
    known = known_parameters(values)
    check_unknown(values, known)
    checked = {name: spec.check(name, values[name]) if name in values else spec.default
               for name, spec in known.items()}
    for name in checked:
        if name == 'robots' or name.endswith(('.observations', '.trigger')):
            checked[name] = names_in(values, name)
    return _node_settings(checked)


def is_ros_parameter(name: str) -> bool:
    """Return whether ROS itself owns this parameter."""
    return name in ('use_sim_time', 'start_type_description_service') or name.startswith(
        'qos_overrides.')


def to_worker_settings(settings: NodeSettings, catalogue: Declares) -> WorkerSettings:
    """Return what the worker must know: decoding, engine limits, each robot's prefix."""
    value = settings.values
    robots = tuple(
        RobotSettings(name=robot.name, system_prompt=robot.system_prompt,
                      tools=tuple(catalogue.declarations(robot.tools)),
                      history_turns=robot.history_turns, history_tokens=robot.history_tokens)
        for robot in settings.robots)
    if value['decoding.max_thinking_tokens'] >= value['decoding.max_tokens']:
        raise ConfigError(
            f"parameter 'decoding.max_thinking_tokens' is "
            f"{value['decoding.max_thinking_tokens']}: it must leave room for an answer within "
            f"decoding.max_tokens, {value['decoding.max_tokens']}")
    engine = ('lanes', 'context_tokens', 'max_slice_ms', 'state_budget_mb', 'state_dir',
              'cache_dir', 'num_threads', 'inbox_size', 'kv_dtype')
    decoding = ('temperature', 'top_k', 'top_p', 'min_p', 'seed', 'max_tokens', 'max_calls',
                'max_thinking_tokens')
    return WorkerSettings(
        robots=robots, model_path=value['model.path'], device=value['device'],
        allow_unverified=value['allow_unverified'], trace=bool(settings.audit_folder),
        allow_not_finite=value['model.allow_not_finite'],
        **{name: value[f'engine.{name}'] for name in engine},
        **{name: value[f'decoding.{name}'] for name in decoding})


def _node_settings(value: dict[str, Any]) -> NodeSettings:
    robots = tuple(_robot(value, name) for name in value['robots'])
    if not robots:
        raise ConfigError("parameter 'robots' must name at least one robot")
    seen: dict[str, str] = {}
    for robot in robots:
        if robot.namespace in seen:
            raise ConfigError(f"robots '{seen[robot.namespace]}' and '{robot.name}' share the "
                              f"namespace '{robot.namespace}'")
        seen[robot.namespace] = robot.name
    return NodeSettings(
        robots=robots, tools_file=value['tools_file'], mode=Mode[value['mode'].upper()],
        deadline_s=value['deadline'], decision_lifetime_s=value['decision_lifetime'],
        max_steps=value['max_steps'], follow_up_text=value['follow_up_text'],
        stamp_tolerance_s=value['stamp_tolerance'], server_timeout_s=value['server_timeout'],
        server_silence_s=value['server_silence'],
        on_engine_lost=value['on_engine_lost'],
        on_leftover_goals=value['on_leftover_goals'],
        mode_after_engine_loss=value['mode_after_engine_loss'],
        on_time_jump=value['on_time_jump'],
        lock=value['lock'], lock_timeout_s=value['lock_timeout'],
        status_period_s=value['status_period'], autostart=value['autostart'],
        isolation=value['engine.isolation'], python=value['engine.python'],
        inbox_size=value['engine.inbox_size'],
        **{f'audit_{name}': value[f'audit.{name}'] for name in _AUDIT}, values=value)


def _robot(value: dict[str, Any], name: str) -> RobotConfig:
    root = f'robots.{name}'
    observations = tuple(_observation(value, name, key) for key in value[f'{root}.observations'])
    names = {observation.name for observation in observations}
    return RobotConfig(
        name=name, namespace=value[f'{root}.namespace'].rstrip('/') or name,
        observations=observations, tools=value[f'{root}.tools'],
        system_prompt=value[f'{root}.system_prompt'] or DEFAULT_SYSTEM_PROMPT,
        triggers=tuple(_trigger(value, name, key, names) for key in value[f'{root}.trigger']),
        history_turns=value[f'{root}.history.turns'],
        history_tokens=value[f'{root}.history.tokens'],
        stop_words=tuple(fold_words(word) for word in value[f'{root}.stop_words']),
        lock=value[f'{root}.lock'], lock_timeout_s=value[f'{root}.lock_timeout'],
        max_request_rate_hz=value[f'{root}.max_request_rate'],
        mode=Mode[value[f'{root}.mode'].upper()],
        allowed_interfaces=value[f'{root}.allowed_interfaces'],
        min_probability=value[f'{root}.min_probability'],
        on_low_confidence=value[f'{root}.on_low_confidence'],
        max_calls_per_minute=value[f'{root}.max_calls_per_minute'],
        max_repeats=value[f'{root}.max_repeats'],
        repeat_window_s=value[f'{root}.repeat_window'])


def fold_words(text: str) -> str:
    """Return a command's words in lower case without punctuation, for comparing stop words."""
    return ' '.join(re.findall(r"[\w']+", text.casefold()))


def _observation(value: dict[str, Any], robot: str, name: str) -> ObservationConfig:
    root = f'robots.{robot}.observations.{name}'
    interface = value[f'{root}.type']
    if not _TYPE.match(interface):
        raise ConfigError(f"parameter '{root}.type' must be a message type such as "
                          f'nav_msgs/msg/Odometry, got {interface!r}')
    max_age = value[f'{root}.max_age']
    if 0 < max_age < MIN_MAX_AGE_S:
        raise ConfigError(f"parameter '{root}.max_age' must be 0 or at least {MIN_MAX_AGE_S:g} s "
                          f'(ages are quantised to that), got {max_age:g}')
    return ObservationConfig(
        name=name, topic=value[f'{root}.topic'] or name, type=interface,
        max_age_s=max_age or math.inf, required=value[f'{root}.required'],
        template=value[f'{root}.template'], max_tokens=value[f'{root}.max_tokens'])


def _trigger(value: dict[str, Any], robot: str, name: str, inputs: set[str]) -> TriggerConfig:
    root = f'robots.{robot}.trigger.{name}'
    config = TriggerConfig(
        name=name, kind=value[f'{root}.kind'], text=value[f'{root}.text'],
        input=value[f'{root}.input'], field=value[f'{root}.field'],
        period_s=value[f'{root}.period'], min_interval_s=value[f'{root}.min_interval'],
        min_change=value[f'{root}.min_change'], above=value[f'{root}.above'],
        below=value[f'{root}.below'], equals=value[f'{root}.equals'])
    if config.kind == 'request':
        return config
    if not config.text.strip():
        raise ConfigError(f"parameter '{root}.text' must hold the question to ask")
    if config.kind == 'period':
        if config.period_s <= 0:
            raise ConfigError(f"parameter '{root}.period' must be above 0 s for a period trigger")
        return config
    if config.input not in inputs:
        raise ConfigError(f"parameter '{root}.input' must be one of the robot's observations "
                          f"({', '.join(sorted(inputs)) or 'none'}), got {config.input!r}")
    unbounded = config.above == -math.inf and config.below == math.inf and not config.equals
    if config.kind == 'condition' and unbounded:
        raise ConfigError(f"trigger '{root}' is a condition: give above, below or equals")
    return config
