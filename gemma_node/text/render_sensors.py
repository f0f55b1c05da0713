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

"""Renders what sensors measure: battery, scan, inertia, position fix, joints, pictures."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

from gemma_node.text.render_values import degrees_text
from gemma_node.text.render_values import euler_degrees
from gemma_node.text.render_values import finite
from gemma_node.text.render_values import fixed
from gemma_node.text.render_values import frame_suffix
from gemma_node.text.render_values import InvalidValueError
from gemma_node.text.render_values import items_of
from gemma_node.text.render_values import label
from gemma_node.text.render_values import lookup
from gemma_node.text.render_values import nbytes_of
from gemma_node.text.render_values import non_finite_word
from gemma_node.text.render_values import number

_MAX_JOINTS = 12
_SUPPLY_STATUS = {1: 'charging', 2: 'discharging', 3: 'not charging', 4: 'full'}
_SUPPLY_HEALTH = {
    2: 'overheated',
    3: 'dead',
    4: 'overvoltage',
    5: 'failed',
    6: 'cold',
    7: 'watchdog timer expired',
    8: 'safety timer expired',
}
_SECTORS = ('front', 'left', 'back', 'right')


def render_battery(value: Any) -> str:
    """
    Charge in percent, then voltage, current, status and health where they are known.

    `percentage` is 0..1 by definition; drivers that publish 0..100 are taken at their word
    above 1. A voltage of exactly 0 V means that the driver does not measure it.
    """
    parts = [f'charge {_charge_text(number(value, "percentage"))}']
    voltage, current = number(value, 'voltage'), number(value, 'current')
    if math.isfinite(voltage) and voltage:
        parts.append(f'voltage {fixed(voltage, 1)} V')
    if math.isfinite(current) and current:
        parts.append(f'current {fixed(current, 1)} A')
    parts += _battery_words(value)
    if len(parts) == 1 and parts[0] == 'charge unknown':
        raise InvalidValueError('no charge, no voltage')
    return ', '.join(parts)


def _charge_text(percentage: float) -> str:
    if not math.isfinite(percentage) or percentage < 0:
        return 'unknown'
    percent = percentage if percentage > 1 else percentage * 100
    return f'{fixed(percent, 0)} %' if percent <= 100 else f'unknown ({fixed(percent, 0)} %)'


def _battery_words(value: Any) -> list[str]:
    status = _SUPPLY_STATUS.get(int(number(value, 'power_supply_status')), '')
    health = _SUPPLY_HEALTH.get(int(number(value, 'power_supply_health')), '')
    return [word for word in (status, health) if word]


def render_scan(value: Any) -> str:
    """
    Nearest obstacle in each quarter around the robot.

    Readings within the range limits count; beyond the far limit or +inf is free space, -inf is
    closer than the near limit (REP 117), nan and readings below the near limit are errors.
    """
    ranges, count = items_of(lookup(value, 'ranges'))
    if not count:
        raise InvalidValueError('no beams')
    start, step = finite(value, 'angle_min'), finite(value, 'angle_increment')
    near, far = finite(value, 'range_min'), number(value, 'range_max')
    seen: dict[str, float] = {}
    for index, distance in enumerate(ranges):
        read = _beam(distance, near, far)
        if read is not None:
            sector = _sector(start + index * step)
            seen[sector] = min(read, seen.get(sector, math.inf))
    if not seen:
        raise InvalidValueError('no valid beam')
    parts = [_sector_text(name, seen[name], near) for name in _SECTORS if name in seen]
    partial = f', first {len(ranges)} of {count} beams' if count > len(ranges) else ''
    return f'nearest {", ".join(parts)}{partial}{frame_suffix(value)}'


def _beam(distance: float, near: float, far: float) -> float | None:
    """Return the usable distance, inf for free space, -inf for too close, None for an error."""
    if math.isinf(distance):
        return distance
    if math.isnan(distance) or distance < near:
        return None
    return distance if math.isnan(far) or distance <= far else math.inf


def _sector(angle: float) -> str:
    return _SECTORS[math.floor((math.degrees(angle) + 45.0) % 360.0 / 90.0) % 4]


def _sector_text(name: str, distance: float, near: float) -> str:
    if math.isinf(distance):
        return f'{name} clear' if distance > 0 else f'{name} below {fixed(near)} m'
    return f'{name} {fixed(distance)} m'


def render_imu(value: Any) -> str:
    """Yaw rate and acceleration, and the attitude where the sensor estimates one."""
    parts = [f'yaw rate {fixed(finite(value, "angular_velocity.z"))} rad/s']
    axes = (fixed(finite(value, f'linear_acceleration.{axis}')) for axis in 'xyz')
    x, y, z = axes
    parts.append(f'acceleration x {x}, y {y}, z {z} m/s2')
    covariance, _ = items_of(lookup(value, 'orientation_covariance'))
    angles = None if covariance and covariance[0] == -1 else euler_degrees(value, 'orientation')
    if angles is not None:
        roll, pitch, yaw = (degrees_text(angle) for angle in angles)
        parts.append(f'roll {roll}, pitch {pitch}, yaw {yaw}')
    return ', '.join(parts) + frame_suffix(value)


def render_fix(value: Any) -> str:
    """Latitude, longitude, altitude and, where given, accuracy; `no fix` without one."""
    if number(value, 'status.status') < 0:
        return 'no fix'
    latitude, longitude = finite(value, 'latitude'), finite(value, 'longitude')
    parts = [f'latitude {fixed(latitude, 6)} deg', f'longitude {fixed(longitude, 6)} deg']
    altitude = number(value, 'altitude')
    if math.isfinite(altitude):
        parts.append(f'altitude {fixed(altitude, 1)} m')
    covariance, _ = items_of(lookup(value, 'position_covariance'))
    if number(value, 'position_covariance_type') and len(covariance) == 9:
        spread = max(covariance[0], covariance[4])
        if math.isfinite(spread) and spread > 0:
            parts.append(f'accurate to {fixed(math.sqrt(spread), 1)} m')
    return ', '.join(parts)


def render_joints(value: Any) -> str:
    """Position of each joint (rad, or m for sliding ones), and its velocity when it moves."""
    names, count = items_of(lookup(value, 'name'))
    positions, _ = items_of(lookup(value, 'position'))
    velocities, _ = items_of(lookup(value, 'velocity'))
    if not count:
        return 'no joints'
    parts = []
    for index, name in enumerate(names[:_MAX_JOINTS]):
        text = fixed(positions[index]) if index < len(positions) else 'unknown'
        rate = velocities[index] if index < len(velocities) else 0.0
        if math.isfinite(rate) and abs(rate) >= 0.005:
            text += f' moving {fixed(rate)} per s'
        parts.append(f'{label(name)} {text}')
    more = f', and {count - len(parts)} more' if count > len(parts) else ''
    return ', '.join(parts) + more


def render_range(value: Any) -> str:
    """One distance, judged by the sensor's limits as a scan's beams are."""
    near, far = finite(value, 'min_range'), number(value, 'max_range')
    read = _beam(number(value, 'range'), near, far)
    if read is None:
        raise InvalidValueError('below the near limit or nan')
    return _sector_text('distance', read, near) + frame_suffix(value)


def render_temperature(value: Any) -> str:
    """Degrees Celsius."""
    return f'{fixed(finite(value, "temperature"), 1)} C'


def render_image(value: Any) -> str:
    """Size and encoding; pixels never become text."""
    width, height = int(number(value, 'width')), int(number(value, 'height'))
    encoding = label(str(lookup(value, 'encoding')))
    nbytes = nbytes_of(lookup(value, 'data'))
    return f'image {width}x{height} {encoding}, {nbytes} bytes{frame_suffix(value)}'


def render_compressed_image(value: Any) -> str:
    """Format and size; content never becomes text."""
    nbytes = nbytes_of(lookup(value, 'data'))
    return f'image {label(str(lookup(value, "format")))}, {nbytes} bytes{frame_suffix(value)}'


def render_cloud(value: Any) -> str:
    """Give the number of points and field names; points never become text."""
    points = int(number(value, 'width')) * int(number(value, 'height'))
    fields, _ = items_of(lookup(value, 'fields'))
    names = ' '.join(label(str(f['name'])) for f in fields if isinstance(f, Mapping))
    nbytes = nbytes_of(lookup(value, 'data'))
    return f'cloud of {points} points, fields {names}, {nbytes} bytes{frame_suffix(value)}'


def render_number(value: Any) -> str:
    """Write a std_msgs number with up to three decimals."""
    data = number(value, 'data')
    if not math.isfinite(data):
        raise InvalidValueError(non_finite_word(data))
    whole = lookup(value, 'data')
    return str(whole) if isinstance(whole, int) else fixed(data, 3).rstrip('0').rstrip('.')
