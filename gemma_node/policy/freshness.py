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
Ages of inputs: which clock reading counts, how old it is, and whether that is too old.

Pure functions on nanoseconds of ROS time (or bag time); nothing here reads a clock.
"""

from __future__ import annotations

import math
from typing import Any

from gemma_node.core import AgeSource
from gemma_node.core import InputState

NS = 1_000_000_000
# Messages that say nothing once a number in them is NaN or inf; elsewhere NaN means unknown.
_MUST_BE_FINITE = frozenset({
    'nav_msgs/msg/Odometry', 'geometry_msgs/msg/PoseStamped', 'geometry_msgs/msg/Pose',
    'geometry_msgs/msg/PoseWithCovarianceStamped', 'geometry_msgs/msg/PointStamped',
    'geometry_msgs/msg/TransformStamped', 'geometry_msgs/msg/TwistStamped',
    'geometry_msgs/msg/Twist', 'sensor_msgs/msg/NavSatFix', 'sensor_msgs/msg/Imu',
    'std_msgs/msg/Float32', 'std_msgs/msg/Float64',
})
FUTURE_TOLERANCE_NS = 100_000_000


def age_of(
    stamp_ns: int, received_ns: int, now_ns: int, tolerance_s: float
) -> tuple[float, AgeSource, bool]:
    """
    Return (quantised age in seconds, what it was measured from, whether it can be true).

    The header stamp counts when it is non-zero and within `tolerance_s` of reception, else the
    reception time. An age further in the future than 0.1 s cannot be true.
    """
    has_stamp = stamp_ns > 0 and abs(received_ns - stamp_ns) <= tolerance_s * NS
    source = AgeSource.STAMP if has_stamp else AgeSource.RECEPTION
    age_ns = now_ns - (stamp_ns if has_stamp else received_ns)
    return quantise_age(age_ns), source, age_ns >= -FUTURE_TOLERANCE_NS


def quantise_age(age_ns: int) -> float:
    """
    Round an age up to 0.1 s below 10 s, to 1 s below two minutes, else to 10 s.

    Up, so that no input is ever shown or judged younger than it is.
    """
    age_ns = max(age_ns, 0)
    step_ns = NS // 10 if age_ns <= 10 * NS else NS if age_ns <= 120 * NS else 10 * NS
    steps = -(-age_ns // step_ns)
    return steps * step_ns / NS


def has_broken_numbers(message_type: str, value: Any) -> bool:
    """Return whether a message holds a NaN or inf that makes it useless; arrays may hold them."""
    return message_type in _MUST_BE_FINITE and not _is_finite(value)


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_finite(item) for item in value.values())
    return not isinstance(value, float) or math.isfinite(value)


def snapshot_state(age_s: float, max_age_s: float, *, is_valid: bool) -> InputState:
    """Return the state of an input that was received: invalid, stale or fresh."""
    if not is_valid or math.isnan(age_s):
        return InputState.INVALID
    return InputState.STALE if age_s > max_age_s else InputState.FRESH
