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
Observations -> the text that the model reads, one line an input.

Works on plain values only and knows nothing of ROS, tokens or prompts. The format is part of
what checkpoints were trained on: change it only together with one.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any

from gemma_node.core import InputState
from gemma_node.core import Observation
from gemma_node.text import render_geometry
from gemma_node.text import render_reports
from gemma_node.text import render_sensors
from gemma_node.text.render_template import render_template
from gemma_node.text.render_values import InvalidValueError
from gemma_node.text.render_values import label
from gemma_node.text.render_values import non_finite_word
from gemma_node.text.render_values import render_generic

HEADING = 'Observations:'
MAX_BODY_CHARS = 2000
_CUT = ' ... (cut)'

_NUMBERS = ('Byte', 'Char', 'Float32', 'Float64', 'Int8', 'Int16', 'Int32', 'Int64')
_UNSIGNED = ('UInt8', 'UInt16', 'UInt32', 'UInt64')

Renderer = Callable[[Any], str]
RENDERERS: dict[str, Renderer] = {
    'nav_msgs/Odometry': render_geometry.render_odometry,
    'nav_msgs/Path': render_geometry.render_path,
    'geometry_msgs/Pose': render_geometry.render_pose,
    'geometry_msgs/PoseStamped': render_geometry.render_pose_stamped,
    'geometry_msgs/PoseWithCovariance': render_geometry.render_pose_with_covariance,
    'geometry_msgs/PoseWithCovarianceStamped': (
        render_geometry.render_pose_with_covariance_stamped
    ),
    'geometry_msgs/Point': render_geometry.render_point,
    'geometry_msgs/PointStamped': render_geometry.render_point_stamped,
    'geometry_msgs/Twist': render_geometry.render_twist,
    'geometry_msgs/TwistStamped': render_geometry.render_twist_stamped,
    'sensor_msgs/BatteryState': render_sensors.render_battery,
    'sensor_msgs/LaserScan': render_sensors.render_scan,
    'sensor_msgs/Imu': render_sensors.render_imu,
    'sensor_msgs/NavSatFix': render_sensors.render_fix,
    'sensor_msgs/JointState': render_sensors.render_joints,
    'sensor_msgs/Range': render_sensors.render_range,
    'sensor_msgs/Temperature': render_sensors.render_temperature,
    'sensor_msgs/Image': render_sensors.render_image,
    'sensor_msgs/CompressedImage': render_sensors.render_compressed_image,
    'sensor_msgs/PointCloud2': render_sensors.render_cloud,
    'diagnostic_msgs/DiagnosticArray': render_reports.render_diagnostics,
    'std_msgs/String': render_reports.render_string,
    'std_msgs/Bool': render_reports.render_flag,
    **{f'std_msgs/{name}': render_sensors.render_number for name in _NUMBERS + _UNSIGNED},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedInput:
    """One line of the block: the input's name, its text, and whether it was cut."""

    name: str
    text: str
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedBlock:
    """All observations of one turn as text, heading included."""

    text: str
    inputs: tuple[RenderedInput, ...]


def render_block(
    observations: Sequence[Observation],
    count_tokens: Callable[[str], int] | None = None,
) -> RenderedBlock:
    """Render all inputs in their order; those with `max_tokens` are cut to fit by the count."""
    inputs = tuple(_render_input(observation, count_tokens) for observation in observations)
    if not inputs:
        return RenderedBlock(text=f'{HEADING} none', inputs=())
    return RenderedBlock(text='\n'.join([HEADING, *(line.text for line in inputs)]), inputs=inputs)


def render_observation(observation: Observation) -> str:
    """Render one input as its line, bounded in length but not to a token budget."""
    return _render_input(observation, None).text


def render_value(type_name: str, value: Any) -> str:
    """
    Render a message by its type; unknown types and unexpected shapes go the generic way.

    Raises InvalidValueError when the message says nothing usable.
    """
    renderer = RENDERERS.get(type_name.replace('/msg/', '/'))
    if renderer is None and render_reports.looks_like_detections(value):
        renderer = render_reports.render_detections
    if renderer is not None:
        try:
            return renderer(value)
        except InvalidValueError:
            raise
        except (LookupError, TypeError, ValueError, OverflowError):
            pass
    return render_generic(value)


def format_age(age_s: float) -> str:
    """Write an age briefly: tenths below 10 s, seconds below 2 min, then minutes and hours."""
    if math.isnan(age_s):
        return 'age unknown'
    if age_s < 10:
        return f'{max(age_s, 0.0):.1f} s ago'
    if age_s < 120:
        return f'{age_s:.0f} s ago'
    return f'{age_s / 60:.0f} min ago' if age_s < 7200 else f'{age_s / 3600:.0f} h ago'


def _render_input(
    observation: Observation, count_tokens: Callable[[str], int] | None
) -> RenderedInput:
    name = label(observation.name)
    if observation.state is InputState.MISSING:
        return RenderedInput(
            name=observation.name, text=f'- {name}: no message yet', truncated=False
        )
    try:
        body = _body(observation)
    except InvalidValueError as error:
        text = f'- {name}: invalid ({error})'
        return RenderedInput(name=observation.name, text=text, truncated=False)
    head = f'- {name} ({_age_note(observation)}): '
    text, truncated = _fit(head, body, observation.max_tokens, count_tokens)
    return RenderedInput(name=observation.name, text=text, truncated=truncated)


def _age_note(observation: Observation) -> str:
    note = format_age(observation.age_s)
    if observation.state is InputState.STALE:
        note += f', STALE, limit {observation.max_age_s:g} s'
    return note


def _body(observation: Observation) -> str:
    if observation.value is None:
        raise InvalidValueError('cannot be decoded')
    if observation.template:
        return render_template(observation)
    body = render_value(observation.type, observation.value)
    if observation.state is InputState.INVALID:
        raise InvalidValueError(_first_non_finite(observation.value) or 'time in the future')
    return body


def _first_non_finite(value: Any) -> str:
    """Name the first nan or inf outside arrays, which may hold them; nothing if there is none."""
    if isinstance(value, float):
        return '' if math.isfinite(value) else non_finite_word(value)
    if not isinstance(value, Mapping):
        return ''
    return next((word for word in map(_first_non_finite, value.values()) if word), '')


def _fit(
    head: str, body: str, max_tokens: int, count_tokens: Callable[[str], int] | None
) -> tuple[str, bool]:
    """Cut the body to its bounds; the head stays whole."""
    truncated = len(body) > MAX_BODY_CHARS
    text = head + (body[:MAX_BODY_CHARS] + _CUT if truncated else body)
    if not max_tokens or count_tokens is None or count_tokens(text) <= max_tokens:
        return text, truncated
    low, high = 0, min(len(body), MAX_BODY_CHARS)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(head + body[:middle].rstrip() + _CUT) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    return head + body[:low].rstrip() + _CUT, True
