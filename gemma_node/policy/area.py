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
Judges where a call would send the robot: a polygon, in the goal's own frame or in a named one.

A target in another frame is judged only where a fresh transform is at hand; else it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from gemma_node.core import ErrorCode
from gemma_node.core import Observation
from gemma_node.errors import RequestError
from gemma_node.policy.limits import Finding
from gemma_node.policy.transforms import carried
from gemma_node.policy.transforms import frame_name
from gemma_node.policy.transforms import links_of
from gemma_node.tools.overlay import to_message
from gemma_node.tools.overlay import value_at
from gemma_node.tools.spec import ArgumentRule
from gemma_node.tools.spec import Inside
from gemma_node.tools.spec import ToolSpec

_FRAME_PREFIX = '{frame_prefix}'
_NO_TURN = {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0}


def check_area(
    spec: ToolSpec, arguments: Mapping[str, Any], inputs: Iterable[Observation], *,
    frame_prefix: str,
) -> list[Finding]:
    """
    Judge the target of a call.

    With neither coordinate given it is what choices or constants say, else the fields' zeros.
    """
    inside = spec.inside
    if inside is None:
        return []
    given = {name: _given(spec, name, arguments) for name in (inside.x, inside.y)}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) == 1:
        return _outside(f'{missing[0]} is not given, so the area cannot be judged')
    if inside.frame or missing:
        kept = {rule.name: _NO_TURN for rule in spec.arguments if rule.is_kept}
        try:
            goal = to_message(spec, arguments, frame_prefix=frame_prefix, kept=kept)
        except RequestError as error:
            return [Finding(error.code, str(error))]
    if inside.frame:
        return _check_in_frame(spec, inside, goal, inputs, frame_prefix)
    if missing:
        given = {name: _number(goal, spec, name) / _rule(spec, name).gain for name in missing}
    x, y = given[inside.x], given[inside.y]
    if contains(inside.polygon, x, y):
        return []
    return _outside(f'{inside.x} {x:g}, {inside.y} {y:g} is outside the allowed area')


def contains(polygon: Sequence[Sequence[float]], x: float, y: float) -> bool:
    """Return whether the point is in the polygon, its edge included."""
    is_inside = False
    for (x1, y1), (x2, y2) in zip(polygon, [*polygon[1:], polygon[0]], strict=True):
        cross = (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)
        on_box = min(x1, x2) <= x <= max(x1, x2) and min(y1, y2) <= y <= max(y1, y2)
        if cross == 0 and on_box:
            return True
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            is_inside = not is_inside
    return is_inside


def _check_in_frame(
    spec: ToolSpec, inside: Inside, goal: Mapping[str, Any], inputs: Iterable[Observation],
    frame_prefix: str,
) -> list[Finding]:
    frame = frame_name(inside.frame.replace(_FRAME_PREFIX, frame_prefix))
    goal_frame = _frame_of(goal, _rule(spec, inside.x).path)
    point = tuple(_number(goal, spec, name) for name in (inside.x, inside.y))
    if not goal_frame:
        return _outside(f"the goal names no frame, the allowed area is in '{frame}'")
    place, why = (point[0], point[1], 0.0), ''
    if goal_frame != frame:
        found, why = carried(links_of(inputs), place, source=goal_frame, target=frame,
                             max_age_s=inside.max_age_s)
        if found is None:
            return _outside(f"the target is in '{goal_frame}', the allowed area in '{frame}': "
                            f'{why}')
        place = found
    if contains(inside.polygon, place[0], place[1]):
        return []
    return _outside(f"{place[0]:.2f}, {place[1]:.2f} in '{frame}' is outside the allowed area")


def _given(spec: ToolSpec, name: str, arguments: Mapping[str, Any]) -> Any:
    """Return what the model wrote, else the argument's default, else None."""
    if name in arguments:
        return arguments[name]
    return next((rule.default for rule in spec.arguments
                 if rule.name == name and rule.has_default), None)


def _number(goal: Mapping[str, Any], spec: ToolSpec, name: str) -> float:
    # A field that nothing sets is sent as zero.
    return float(value_at(goal, '.'.join(map(str, _rule(spec, name).path))) or 0.0)


def _rule(spec: ToolSpec, name: str) -> ArgumentRule:
    return next(rule for rule in spec.arguments if rule.name == name)


def _frame_of(goal: Mapping[str, Any], path: Sequence[Any]) -> str:
    """Return the frame of the innermost message with a header that the field is part of."""
    for length in range(len(path) - 1, -1, -1):
        frame = value_at(goal, '.'.join([*map(str, path[:length]), 'header.frame_id']))
        if isinstance(frame, str):
            return frame_name(frame)
    return ''


def _outside(sentence: str) -> list[Finding]:
    return [Finding(ErrorCode.LIMIT_EXCEEDED, sentence)]
