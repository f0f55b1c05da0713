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
Every parameter of the node as data: type, default, range, meaning, and whether it may change live.

Names of robots, observations and triggers stand in the table as ``<robot>``, ``<input>`` and
``<trigger>``. Knows nothing of ROS; `ros/parameters` makes descriptors of it, `policy/settings`
checks values against it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
import math
import re
from typing import Any

from gemma_node.errors import ConfigError

Value = bool | int | float | str | tuple[str, ...]
NAME = re.compile(r'[A-Za-z][A-Za-z0-9_]*\Z')


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterSpec:
    """One parameter; `kind` is bool, int, float, str or list (of strings)."""

    name: str
    kind: str
    default: Value
    description: str
    minimum: float = -math.inf
    maximum: float = math.inf
    choices: tuple[str, ...] = ()
    is_live: bool = False

    def check(self, name: str, value: Any) -> Any:
        """Return `value` in this parameter's type, or raise ConfigError naming the bound."""
        value = self._typed(name, value)
        if self.choices and value not in self.choices:
            raise ConfigError(
                f"parameter '{name}' must be one of {', '.join(map(repr, self.choices))}, "
                f'got {value!r}')
        if self.kind in ('int', 'float'):
            self._check_range(name, float(value))
        return value

    def _typed(self, name: str, value: Any) -> Any:
        if self.kind == 'list':
            if isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value):
                return tuple(value)
        elif self.kind == 'float':
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                return float(value)
        elif type(value).__name__ == self.kind:
            return value
        word = {'list': 'a list of strings', 'float': 'a number', 'int': 'an integer',
                'str': 'a string', 'bool': 'true or false'}[self.kind]
        raise ConfigError(f"parameter '{name}' must be {word}, got {value!r}")

    def _check_range(self, name: str, value: float) -> None:
        if math.isnan(value) or not self.minimum <= value <= self.maximum:
            raise ConfigError(
                f"parameter '{name}' must be from {self.minimum:g} to {self.maximum:g}, "
                f'got {value:g}')


def _spec(name: str, default: Value, description: str, **limits: Any) -> ParameterSpec:
    kind = 'list' if isinstance(default, tuple) else type(default).__name__
    return ParameterSpec(name=name, kind=kind, default=default, description=description, **limits)


MODES = ('shadow', 'approve', 'auto')

NODE_PARAMETERS = (
    _spec('model.path', '', "Checkpoint folder; '' is the embedded demo checkpoint."),
    _spec('model.allow_not_finite', False, 'Load weights that hold NaN or infinite values.'),
    _spec('device', 'auto', 'Where the model runs.', choices=('auto', 'cpu', 'cuda', 'xpu')),
    _spec('allow_unverified', False, 'Serve on a device that no receipt covers.'),
    _spec('engine.isolation', 'process', 'Worker in its own process, or in a thread (tests).',
          choices=('process', 'thread')),
    _spec('engine.python', '', "Python of the worker process; '' is the node's own."),
    _spec('engine.lanes', 8, 'Requests decoded side by side.', minimum=1, maximum=256),
    _spec('engine.context_tokens', 8192, 'Longest prompt plus completion.',
          minimum=256, maximum=262144),
    _spec('engine.kv_dtype', 'auto', 'Numbers of cached keys and values; auto: float32 on a CPU. '
          'bfloat16 halves their memory, float8 (e4m3) quarters it.',
          choices=('auto', 'float32', 'bfloat16', 'float8')),
    _spec('engine.max_slice_ms', 50.0, 'Longest engine step aimed at [ms].',
          minimum=1.0, maximum=10000.0),
    _spec('engine.state_budget_mb', 512, 'Memory for kept prompt states [MiB].',
          minimum=0, maximum=1048576),
    _spec('engine.state_dir', '', "Folder of saved sessions; '' saves none."),
    _spec('engine.cache_dir', '', "Folder of compiled kernels; '' is the user's cache."),
    _spec('engine.num_threads', 0, 'CPU threads of the engine; 0: all.', minimum=0, maximum=1024),
    _spec('engine.inbox_size', 64, 'Requests that may wait or run; more end BUSY.',
          minimum=1, maximum=4096),
    _spec('decoding.temperature', 0.0, '0 is greedy.', minimum=0.0, maximum=10.0),
    _spec('decoding.top_k', 0, '0: off.', minimum=0, maximum=1000000),
    _spec('decoding.top_p', 1.0, '1: off.', minimum=0.0, maximum=1.0),
    _spec('decoding.min_p', 0.0, '0: off.', minimum=0.0, maximum=1.0),
    _spec('decoding.seed', 0, 'Sampling key; unused when greedy.', minimum=0),
    _spec('decoding.max_tokens', 256, 'Longest completion.', minimum=1, maximum=65536),
    _spec('decoding.max_calls', 4, 'Most tool calls in one decision.', minimum=1, maximum=64),
    _spec('decoding.max_thinking_tokens', 0, 'Longest thought before an answer, part of '
          'max_tokens; 0: no thinking. The checkpoint must know how.', minimum=0, maximum=65536),
    _spec('robots', (), 'Names of the robots; empty: those that have robots.<robot>.* '
          'parameters.'),
    _spec('tools_file', '', "Tool catalogue; '' is config/tools.yaml of the package."),
    _spec('mode', 'shadow', 'The most any robot or tool may do.', choices=MODES),
    _spec('deadline', 10.0, 'Time for a decision when the request names none; 0: none [s].',
          minimum=0.0, maximum=3600.0, is_live=True),
    _spec('decision_lifetime', 5.0, 'valid_until = decision time + this; 0: no expiry [s].',
          minimum=0.0, maximum=3600.0, is_live=True),
    _spec('max_steps', 4, 'Follow-ups after tool results in one chain.',
          minimum=0, maximum=1000, is_live=True),
    _spec('follow_up_text', 'The tool finished. What next?', 'Text of the follow-up request.'),
    _spec('stamp_tolerance', 5.0, 'A header stamp farther from reception than this is not used '
          'for the age [s].', minimum=0.0, maximum=3600.0),
    _spec('server_timeout', 2.0, 'Longest wait for an action server to accept a goal [s].',
          minimum=0.05, maximum=600.0),
    _spec('server_silence', 5.0, 'An action server that runs a goal and gives no sign of life '
          'this long is given up; 0: never [s].', minimum=0.0, maximum=600.0),
    _spec('on_engine_lost', 'cancel', 'What happens to running goals when the worker dies.',
          choices=('cancel', 'keep')),
    _spec('on_leftover_goals', 'report', 'Goals that an earlier life of this node left at its '
          'action servers, as after a kill: told, and canceled or left alone.',
          choices=('cancel', 'report')),
    _spec('mode_after_engine_loss', 'shadow', 'Robots after the worker died: in shadow mode until '
          'Rearm, or in the same mode as before.', choices=('shadow', 'same')),
    _spec('on_time_jump', 'reset', 'Sessions when ROS time jumps back.',
          choices=('reset', 'keep')),
    _spec('lock', '', "std_msgs/Bool topic that locks every robot while true; '' is ~/lock."),
    _spec('lock_timeout', 0.0, 'Locked when the lock topic is silent this long; 0: never [s].',
          minimum=0.0, maximum=3600.0),
    _spec('status_period', 1.0, 'Period of ~/status and /diagnostics [s].',
          minimum=0.1, maximum=60.0),
    _spec('audit.folder', '', "Folder of the audit log; '' keeps none."),
    _spec('audit.max_file_mb', 64, 'A file of the log is closed at this size [MiB].',
          minimum=1, maximum=65536),
    _spec('audit.max_files', 16, 'Files of the log that are kept, the newest.',
          minimum=1, maximum=100000),
    _spec('audit.max_waiting', 4096, 'Records that may wait to be written; more are dropped, '
          'counted and said.', minimum=16, maximum=1000000),
    _spec('audit.bag', False, 'Also record Decisions and ToolEvents into an mcap bag in that '
          'folder.'),
    _spec('autostart', True, 'Configure and activate without a lifecycle manager.'),
)

ROBOT_PARAMETERS = (
    _spec('robots.<robot>.namespace', '', "Namespace of the robot's topics and actions; '' is "
          "the robot's name."),
    _spec('robots.<robot>.observations', (), 'Names of the inputs, in prompt '
          'order; empty: those below it.'),
    _spec('robots.<robot>.tools', (), 'Tools the robot may use; empty: all of the file.'),
    _spec('robots.<robot>.system_prompt', '', "First text of the prompt; '' is the package's."),
    _spec('robots.<robot>.trigger', (), 'Names of the triggers besides requests; '
          'empty: those below it.'),
    _spec('robots.<robot>.history.turns', 8, 'Turns the model still sees.',
          minimum=0, maximum=1000),
    _spec('robots.<robot>.history.tokens', 2048, 'Tokens of history the model still sees.',
          minimum=0, maximum=262144),
    _spec('robots.<robot>.stop_words', (), 'A command that is one of these cancels every goal '
          'at once, without the model.'),
    _spec('robots.<robot>.lock', '', "std_msgs/Bool topic that locks the robot while true; '' "
          'is <namespace>/gemma/lock.'),
    _spec('robots.<robot>.lock_timeout', 0.0, 'Locked when that topic is silent this long; '
          '0: never [s].', minimum=0.0, maximum=3600.0),
    _spec('robots.<robot>.max_request_rate', 0.0, 'Requests a second; more end RATE_LIMITED; '
          '0: no limit [Hz].', minimum=0.0, maximum=1000.0),
    _spec('robots.<robot>.mode', 'auto', 'The most this robot may do.', choices=MODES),
    _spec('robots.<robot>.allowed_interfaces', (), 'Full names of actions, services and topics, '
          "with * and ?, that its tools may drive besides those in the robot's namespace."),
    _spec('robots.<robot>.min_probability', 0.0, 'A call of a tool that the model chose with less '
          'is LOW_CONFIDENCE; 0: none is.', minimum=0.0, maximum=1.0),
    _spec('robots.<robot>.on_low_confidence', 'approve', 'Such a call waits for approval, or is '
          'refused and the operator asked.', choices=('approve', 'ask_operator')),
    _spec('robots.<robot>.max_calls_per_minute', 60, 'More calls end RATE_LIMITED; 0: no limit.',
          minimum=0, maximum=100000),
    _spec('robots.<robot>.max_repeats', 3, 'How often the robot may make the same call by itself '
          'within repeat_window; more end RATE_LIMITED; 0: no limit.', minimum=0, maximum=1000),
    _spec('robots.<robot>.repeat_window', 60.0, 'Time over which equal calls count as repeats '
          '[s].', minimum=0.1, maximum=86400.0),
)

OBSERVATION_PARAMETERS = (
    _spec('robots.<robot>.observations.<input>.topic', '', "Topic, relative to the robot's "
          "namespace; '' is the input's name."),
    _spec('robots.<robot>.observations.<input>.type', '', 'Message type, for example '
          'nav_msgs/msg/Odometry.'),
    _spec('robots.<robot>.observations.<input>.max_age', 0.0, 'Older is stale; 0: no limit [s].',
          minimum=0.0, maximum=86400.0),
    _spec('robots.<robot>.observations.<input>.required', False, 'A request is refused while '
          'this input is missing or stale.'),
    _spec('robots.<robot>.observations.<input>.template', '', 'Jinja2 text that replaces the '
          'built-in rendering.'),
    _spec('robots.<robot>.observations.<input>.max_tokens', 0, 'Token budget; 0: none.',
          minimum=0, maximum=65535),
)

TRIGGER_PARAMETERS = (
    _spec('robots.<robot>.trigger.<trigger>.kind', 'period', 'What fires it.',
          choices=('request', 'period', 'on_change', 'on_message', 'condition')),
    _spec('robots.<robot>.trigger.<trigger>.text', '', 'The question it asks.'),
    _spec('robots.<robot>.trigger.<trigger>.input', '', 'Name of the observation it watches.'),
    _spec('robots.<robot>.trigger.<trigger>.field', '', 'Path in that message, for example '
          'pose.pose.position.x.'),
    _spec('robots.<robot>.trigger.<trigger>.period', 0.0, 'Time between firings of a period '
          'trigger [s].', minimum=0.0, maximum=86400.0),
    _spec('robots.<robot>.trigger.<trigger>.min_interval', 1.0, 'Least time between two firings '
          '[s].', minimum=0.0, maximum=86400.0),
    _spec('robots.<robot>.trigger.<trigger>.min_change', 0.0, 'Numbers must move this far for '
          'on_change.', minimum=0.0),
    _spec('robots.<robot>.trigger.<trigger>.above', -math.inf, 'condition: value above this.'),
    _spec('robots.<robot>.trigger.<trigger>.below', math.inf, 'condition: value below this.'),
    _spec('robots.<robot>.trigger.<trigger>.equals', '', 'condition: value, as text, equals '
          'this.'),
)


def flatten(tree: Any, prefix: str = '') -> Iterator[tuple[str, Any]]:
    """Yield (dotted name, value) of a nested parameter mapping, in its order."""
    if not isinstance(tree, dict):
        yield prefix, tree
        return
    for key, value in tree.items():
        yield from flatten(value, f'{prefix}.{key}' if prefix else str(key))


def expand(specs: tuple[ParameterSpec, ...], **names: str) -> dict[str, ParameterSpec]:
    """Fill the placeholders of the specs' names; return them by full name."""
    table = {}
    for spec in specs:
        full = spec.name
        for placeholder, name in names.items():
            full = full.replace(f'<{placeholder}>', name)
        table[full] = spec
    return table


def known_parameters(values: dict[str, Any]) -> dict[str, ParameterSpec]:
    """Return the spec of every name that these values may hold, given the names they list."""
    table = expand(NODE_PARAMETERS)
    for robot in names_in(values, 'robots'):
        table |= expand(ROBOT_PARAMETERS, robot=robot)
        root = f'robots.{robot}'
        for name in names_in(values, f'{root}.observations'):
            table |= expand(OBSERVATION_PARAMETERS, robot=robot, input=name)
        for name in names_in(values, f'{root}.trigger'):
            table |= expand(TRIGGER_PARAMETERS, robot=robot, trigger=name)
    return table


def names_in(values: dict[str, Any], parameter: str) -> tuple[str, ...]:
    """
    Return the names that a list parameter gives, else those that stand below it, in order.

    ``robots: [r1]`` beside ``robots.r1.mode`` says the same as ``robots: {r1: {mode: …}}``.
    """
    names = values.get(parameter)
    if not names:
        below = (name[len(parameter) + 1:] for name in values if name.startswith(f'{parameter}.'))
        names = list(dict.fromkeys(rest.split('.', 1)[0] for rest in below))
    if not isinstance(names, (list, tuple)) or not all(isinstance(n, str) for n in names):
        raise ConfigError(f"parameter '{parameter}' must be a list of names, got {names!r}")
    for name in names:
        if not NAME.match(name):
            raise ConfigError(f"name {name!r} in '{parameter}' must be a letter, then letters, "
                              'digits and underscores')
    if len(set(names)) != len(names):
        raise ConfigError(f"parameter '{parameter}' gives a name twice: {list(names)}")
    return tuple(names)


def check_unknown(values: dict[str, Any], known: dict[str, ParameterSpec]) -> None:
    """Raise ConfigError for the first name that no spec covers, with the nearest known names."""
    for name in values:
        if name in known:
            continue
        near = get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ''
        raise ConfigError(f"unknown parameter '{name}'{hint or _listing_hint(name)}")


def _listing_hint(name: str) -> str:
    parts = name.split('.')
    if parts[0] == 'robots' and len(parts) > 2:
        return f"; is '{parts[1]}' listed in the parameter 'robots'?"
    return '; `gemma-node run --help` and config/gemma_node.yaml list them all'
