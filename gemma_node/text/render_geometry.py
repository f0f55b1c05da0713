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

"""Renders where things are and how they move: poses, odometry, velocities, paths."""

from __future__ import annotations

import itertools
import math
from typing import Any

from gemma_node.text.render_values import degrees_text
from gemma_node.text.render_values import finite
from gemma_node.text.render_values import fixed
from gemma_node.text.render_values import frame_suffix
from gemma_node.text.render_values import items_of
from gemma_node.text.render_values import lookup
from gemma_node.text.render_values import yaw_degrees

_VISIBLE_HEIGHT_M = 0.05
_VISIBLE_SPEED = 0.005


def render_odometry(value: Any) -> str:
    """Position, heading, speed along x (forward positive) and turn rate if it turns."""
    speed = _speed(value, 'twist.twist.linear')
    turn = finite(value, 'twist.twist.angular.z')
    turning = f', turn {fixed(turn)} rad/s' if abs(turn) >= _VISIBLE_SPEED else ''
    pose = _pose(value, 'pose.pose')
    return f'{pose}, speed {fixed(speed)} m/s{turning}{frame_suffix(value)}'


def render_pose(value: Any) -> str:
    """Position and heading of a bare Pose."""
    return _pose(value, '')


def render_pose_stamped(value: Any) -> str:
    """Position, heading and frame."""
    return _pose(value, 'pose') + frame_suffix(value)


def render_pose_with_covariance(value: Any) -> str:
    """Position and heading; the covariance is left out."""
    return _pose(value, 'pose')


def render_pose_with_covariance_stamped(value: Any) -> str:
    """Position, heading and frame; the covariance is left out."""
    return _pose(value, 'pose.pose') + frame_suffix(value)


def render_point(value: Any) -> str:
    """All three coordinates."""
    return ', '.join(f'{axis} {fixed(finite(value, axis))} m' for axis in 'xyz')


def render_point_stamped(value: Any) -> str:
    """All three coordinates and the frame."""
    return render_point(lookup(value, 'point')) + frame_suffix(value)


def render_twist(value: Any) -> str:
    """Forward speed and turn rate; sideways, vertical, roll and pitch only when they move."""
    parts = [
        f'forward {fixed(finite(value, "linear.x"))} m/s',
        _moving(value, 'linear.y', 'left', 'm/s'),
        _moving(value, 'linear.z', 'up', 'm/s'),
        f'turn {fixed(finite(value, "angular.z"))} rad/s',
        _moving(value, 'angular.x', 'roll rate', 'rad/s'),
        _moving(value, 'angular.y', 'pitch rate', 'rad/s'),
    ]
    return ', '.join(part for part in parts if part)


def render_twist_stamped(value: Any) -> str:
    """Forward speed and turn rate, and the frame."""
    return render_twist(lookup(value, 'twist')) + frame_suffix(value)


def render_path(value: Any) -> str:
    """Give the number of poses, length, first and last point."""
    poses, count = items_of(lookup(value, 'poses'))
    if not count:
        return f'empty path{frame_suffix(value)}'
    points = [tuple(finite(pose, f'pose.position.{axis}') for axis in 'xyz') for pose in poses]
    length = sum(math.dist(a, b) for a, b in itertools.pairwise(points))
    at_least = 'at least ' if count > len(points) else ''
    (x0, y0, _), (x1, y1, _) = points[0], points[-1]
    return (
        f'{count} poses, {at_least}{fixed(length)} m long, from x {fixed(x0)} m, '
        f'y {fixed(y0)} m to x {fixed(x1)} m, y {fixed(y1)} m{frame_suffix(value)}'
    )


def _pose(value: Any, path: str) -> str:
    prefix = f'{path}.' if path else ''
    x, y, z = (finite(value, f'{prefix}position.{axis}') for axis in 'xyz')
    height = f', z {fixed(z)} m' if abs(z) >= _VISIBLE_HEIGHT_M else ''
    yaw = degrees_text(yaw_degrees(value, f'{prefix}orientation'))
    return f'x {fixed(x)} m, y {fixed(y)} m{height}, yaw {yaw}'


def _speed(value: Any, path: str) -> float:
    x, y, z = (finite(value, f'{path}.{axis}') for axis in 'xyz')
    size = math.sqrt(x * x + y * y + z * z)
    return -size if x < 0 and abs(x) >= abs(y) else size


def _moving(value: Any, path: str, name: str, unit: str) -> str:
    rate = finite(value, path)
    return f'{name} {fixed(rate)} {unit}' if abs(rate) >= _VISIBLE_SPEED else ''
