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
Finds what `default: keep` keeps: the field's value now, in a fresh input of the same frame.

An input serves when it holds the very path of the goal's field, as an Odometry or an
amcl_pose holds pose.pose.orientation. What is not found is left out; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import math
from typing import Any

from gemma_node.core import InputState
from gemma_node.core import Observation
from gemma_node.tools.overlay import constant_of
from gemma_node.tools.overlay import value_at
from gemma_node.tools.spec import ArgumentRule
from gemma_node.tools.spec import ToolSpec


def kept_values(
    spec: ToolSpec, observations: Sequence[Observation], *, frame_prefix: str = '',
) -> dict[str, Any]:
    """Return the present values of the tool's kept fields by argument name."""
    kept = {}
    for rule in spec.arguments:
        if not rule.is_kept:
            continue
        path = '.'.join(str(part) for part in rule.path)
        frame = _goal_frame(spec.arguments, rule, frame_prefix)
        for observation in observations:
            if observation.state is not InputState.FRESH:
                continue
            is_same_frame = not frame or value_at(
                observation.value, 'header.frame_id') == frame
            rotation = value_at(observation.value, path)
            if is_same_frame and _is_rotation(rotation):
                kept[rule.name] = rotation
                break
    return kept


def _goal_frame(
    rules: Sequence[ArgumentRule], kept: ArgumentRule, frame_prefix: str,
) -> str:
    """Return the constant frame of the message that the field is part of, '' if there is none."""
    for rule in rules:
        is_frame = rule.has_const and rule.path[-2:] == ('header', 'frame_id')
        if is_frame and kept.path[:len(rule.path) - 2] == rule.path[:-2]:
            return str(constant_of(rule, frame_prefix))
    return ''


def _is_rotation(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(value.get(axis), (int, float)) and math.isfinite(value[axis])
        for axis in ('x', 'y', 'z', 'w')
    ) and any(value[axis] for axis in ('x', 'y', 'z', 'w'))
