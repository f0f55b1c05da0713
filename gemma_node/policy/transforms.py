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
Carries points from one frame to another by the transforms that inputs hold.

Pure functions on plain TFMessage values; a transform's age comes from its stamp and the age of
the input that brought it, so nothing here reads a clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any

from gemma_node.core import InputState
from gemma_node.core import Observation

TRANSFORMS_TYPE = 'tf2_msgs/msg/TFMessage'
STATIC_TOPIC = 'tf_static'
NS = 1_000_000_000
# Localisers date their transforms ahead by about a second; further ahead a clock is wrong.
MAX_AHEAD_S = 2.0
Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One transform: where frame `child` is in frame `parent`, and how long ago that was known."""

    parent: str
    child: str
    age_s: float
    translation: Point
    rotation: tuple[float, float, float, float]

    def to_parent(self, point: Point) -> Point:
        """Return a point of the child frame as the parent frame has it."""
        turned = _rotate(self.rotation, point)
        x, y, z = (a + b for a, b in zip(turned, self.translation, strict=True))
        return x, y, z

    def to_child(self, point: Point) -> Point:
        """Return a point of the parent frame as the child frame has it."""
        x, y, z = (a - b for a, b in zip(point, self.translation, strict=True))
        qx, qy, qz, qw = self.rotation
        return _rotate((-qx, -qy, -qz, qw), (x, y, z))


def links_of(observations: Iterable[Observation]) -> list[Link]:
    """Return the transforms that the inputs hold; what has no finite rotation is left out."""
    links = []
    for observation in observations:
        known = observation.state in (InputState.FRESH, InputState.STALE)
        if observation.type != TRANSFORMS_TYPE or not known:
            continue
        for transform in observation.value.get('transforms', ()):
            link = _link(transform, observation)
            if link is not None:
                links.append(link)
    return links


def carried(
    links: Iterable[Link], point: Point, *, source: str, target: str, max_age_s: float
) -> tuple[Point | None, str]:
    """Return the point as frame `target` has it, or None and why no transform carries it."""
    known = list(links)
    fresh = [link for link in known if -MAX_AHEAD_S <= link.age_s <= max_age_s]
    found = _walk(fresh, point, source, target)
    if found is not None:
        return found, ''
    if len(fresh) < len(known) and _walk(known, point, source, target) is not None:
        oldest_s = max(link.age_s for link in known if link not in fresh)
        if oldest_s < 0.0:
            return None, (f"the transform from '{source}' to '{target}' is of {-oldest_s:.1f} s "
                          'ahead: the clocks do not agree')
        return None, (f"the transform from '{source}' to '{target}' is {oldest_s:.1f} s old, the "
                      f'limit is {max_age_s:g} s')
    return None, f"no input gives a transform from '{source}' to '{target}'"


def _walk(links: list[Link], point: Point, source: str, target: str) -> Point | None:
    places = {source: point}
    frontier = deque([source])
    while frontier and target not in places:
        frame = frontier.popleft()
        for link in links:
            if link.child == frame and link.parent not in places:
                places[link.parent] = link.to_parent(places[frame])
                frontier.append(link.parent)
            elif link.parent == frame and link.child not in places:
                places[link.child] = link.to_child(places[frame])
                frontier.append(link.child)
    return places.get(target)


def _link(transform: Mapping[str, Any], observation: Observation) -> Link | None:
    pose, stamp = transform['transform'], transform['header']['stamp']
    moved, turned = pose['translation'], pose['rotation']
    quaternion = tuple(float(turned[axis]) for axis in 'xyzw')
    norm = math.sqrt(sum(part * part for part in quaternion))
    if not math.isfinite(norm) or norm < 1e-6:
        return None
    qx, qy, qz, qw = (part / norm for part in quaternion)
    stamp_ns = int(stamp['sec']) * NS + int(stamp['nanosec'])
    is_static = observation.topic.endswith(STATIC_TOPIC)
    age_s = 0.0 if is_static else observation.age_s + (observation.received_ns - stamp_ns) / NS
    return Link(
        parent=frame_name(transform['header']['frame_id']),
        child=frame_name(transform['child_frame_id']), age_s=age_s,
        translation=(float(moved['x']), float(moved['y']), float(moved['z'])),
        rotation=(qx, qy, qz, qw))


def frame_name(name: str) -> str:
    """Return a frame's name as tf2 knows it, without the slash that tf1 allowed."""
    return name.lstrip('/')


def _rotate(rotation: tuple[float, float, float, float], point: Point) -> Point:
    qx, qy, qz, qw = rotation
    x, y, z = point
    # v + 2 w (q x v) + 2 q x (q x v)
    tx, ty, tz = 2 * (qy * z - qz * y), 2 * (qz * x - qx * z), 2 * (qx * y - qy * x)
    return (x + qw * tx + qy * tz - qz * ty,
            y + qw * ty + qz * tx - qx * tz,
            z + qw * tz + qx * ty - qy * tx)
