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
Inputs of a case as the runtime's observations, so that `text/render` writes their lines.

A case holds the text that the runtime wrote for a message; the message itself is not needed.
"""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any
from typing import TYPE_CHECKING

from gemma_node.core import InputState
from gemma_node.core import Observation

if TYPE_CHECKING:
    from gemma_node.evaluation.cases import Input

_TEXT = '{{ msg.text }}'
_UNKNOWN_BATTERY = {
    'percentage': math.nan, 'voltage': 0.0, 'current': 0.0, 'power_supply_status': 0,
    'power_supply_health': 0,
}  # fmt: skip
_SCAN = {'angle_min': 0.0, 'angle_increment': 0.1, 'range_min': 0.1, 'range_max': 10.0}
# What the runtime says of an invalid input -> a message (type, value) of which it says so.
INVALID_REASONS: Mapping[str, tuple[str, Any]] = {
    'nan': ('std_msgs/msg/Float64', {'data': math.nan}),
    'inf': ('std_msgs/msg/Float64', {'data': math.inf}),
    '-inf': ('std_msgs/msg/Float64', {'data': -math.inf}),
    'cannot be decoded': ('std_msgs/msg/String', None),
    'time in the future': ('std_msgs/msg/String', {'data': ''}),
    'no beams': ('sensor_msgs/msg/LaserScan', {**_SCAN, 'ranges': []}),
    'no valid beam': ('sensor_msgs/msg/LaserScan', {**_SCAN, 'ranges': [math.nan]}),
    'no charge, no voltage': ('sensor_msgs/msg/BatteryState', _UNKNOWN_BATTERY),
}


def observation(given: Input) -> Observation:
    """Return the observation of which `text/render` writes this input's line."""
    age_s = math.nan if given.age_s is None else given.age_s
    max_age_s = math.inf if given.max_age_s is None else given.max_age_s
    state, kind, template = InputState.FRESH, given.type, _TEXT
    value: Any = {'text': given.text}
    if given.state == 'missing':
        state, value = InputState.MISSING, None
    elif given.state == 'invalid':
        state, template = InputState.INVALID, ''
        kind, value = INVALID_REASONS[given.text]
    elif age_s > max_age_s:
        state = InputState.STALE
    return Observation(
        name=given.topic,
        topic=f'/{given.topic}',
        type=kind,
        age_s=age_s,
        max_age_s=max_age_s,
        state=state,
        value=value,
        template=template,
    )
