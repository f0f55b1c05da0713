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
Made-up robot states and the observations that show them, as plain message values.

`text.render` turns them into the lines the model reads; nothing here writes those lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
import math
import random
from typing import Any

from demo_data import words
from demo_data.phrases import nonce
from demo_data.phrases import object_phrase
from demo_data.phrases import place_phrase
from gemma_node.core import InputState
from gemma_node.core import Observation

_ERROR_NAMES = ('errors', 'errorcodes', 'troubleshooting_errorcodes', 'error_codes', 'faults',
                'alarms', 'error', 'robot_errors', 'fault_code', 'status_errors')
_MODE_NAMES = ('mode', 'state', 'robot_mode', 'status', 'drive_mode')
_ODOM_NAMES = ('odom', 'odom', 'odom', 'odometry', 'base_odom', 'husky_odom')
_BATTERY_NAMES = ('battery', 'battery', 'battery', 'battery_state', 'power')
_SCAN_NAMES = ('scan', 'scan', 'scan', 'lidar', 'laser', 'front_scan')
_SEEN_NAMES = ('detections', 'detections', 'detections', 'camera', 'objects', 'vision')
_FRAMES = ('odom', 'map', 'base_link', '', 'world')


@dataclass
class State:
    """What is true of the robot at one moment; None = no such input."""

    observations: list[Observation] = field(default_factory=list)
    battery: int | None = None
    is_charging: bool = False
    pose: tuple[float, float, int] | None = None
    speed: float | None = None
    front: float | None = None
    drive: float = 0.0
    seen: list[str] | None = None
    mode: str | None = None
    error: str | None = None
    notes: dict[str, str] = field(default_factory=dict)


def _quaternion(yaw_deg: float) -> dict[str, float]:
    half = math.radians(yaw_deg) / 2
    return {'x': 0.0, 'y': 0.0, 'z': math.sin(half), 'w': math.cos(half)}


def _header(rng: random.Random, frame: str | None = None) -> dict[str, Any]:
    return {'stamp': {'sec': 0, 'nanosec': 0},
            'frame_id': rng.choice(_FRAMES) if frame is None else frame}


def _vector(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> dict[str, float]:
    return {'x': x, 'y': y, 'z': z}


class StateMaker:
    """
    Draws states. `trouble` raises the chance of low battery, errors and near obstacles.

    Quiet and troubled states have the same inputs, so that only the values tell them apart.
    """

    def __init__(self, rng: random.Random, *, is_demo: bool, trouble: float = 0.15) -> None:
        self.rng = rng
        self.is_demo = is_demo
        self.trouble = trouble
        self.state = State()

    def draw(self) -> State:
        """Make up one state with its observations."""
        rng = self.rng
        self.state = State()
        if not self.is_demo and rng.random() < 0.45:
            return self._recorded()
        keep = 0.96 if self.is_demo else 0.6
        makers = [self._odom, self._battery, self._scan, self._detections]
        for make in makers:
            if rng.random() < keep:
                make()
        if rng.random() < (0.1 if self.is_demo else 0.5):
            extra = [self._mode, self._errors, self._diagnostics, self._imu, self._gps,
                     self._joints, self._path, self._twist, self._pose, self._number,
                     self._flag, self._note, self._range, self._temperature, self._image]
            for make in rng.sample(extra, rng.choice((1, 1, 2, 2, 3, 4))):
                make()
        if not self.is_demo and rng.random() < 0.5:
            rng.shuffle(self.state.observations)
        return self.state

    def _recorded(self) -> State:
        """Make up what a recording of some other robot shows, in the order of its topics."""
        makers = [self._battery, self._number, self._path, self._pose, self._mode, self._errors,
                  self._twist, self._number, self._diagnostics]
        keep = 0.75
        if self.rng.random() < 0.5:
            makers = [self._gps, self._odom, self._imu, self._joints, self._image, self._note,
                      self._pose, self._scan, self._temperature, self._number]
            keep = self.rng.choice((0.25, 0.4))
            self.rng.shuffle(makers)
        for make in makers:
            if self.rng.random() < keep:
                make()
        if self.rng.random() < 0.5:
            self.state.observations.sort(key=lambda o: o.name)
        return self.state

    def add(self, name: str, type_name: str, value: Any) -> bool:
        """Add one input; returns whether its value can be read (it may be missing or invalid)."""
        rng = self.rng
        roll = rng.random()
        age = rng.choice((0.0, 0.1, 0.2, 0.3, 0.4, 0.5, round(rng.uniform(0, 2), 1),
                          round(rng.uniform(0, 9), 1)))
        limit = rng.choice((0.5, 1.0, 2.0, 5.0, 10.0, 30.0))
        state = InputState.FRESH
        if roll < 0.03:
            state = InputState.MISSING
            value = None
        elif roll < 0.1:
            state = InputState.STALE
            age = limit + rng.choice((0.6, 1.5, 4.0, 12.0, 40.0, 300.0))
        elif roll < 0.11:
            value = None
            state = InputState.INVALID
        self.state.observations.append(Observation(
            name=name, topic=f'/{name}', type=type_name, age_s=age, max_age_s=limit,
            state=state, value=value))
        return value is not None

    def _odom(self) -> None:
        rng = self.rng
        far = rng.choice((10, 10, 10, 200)) if not self.is_demo else 10
        x, y = round(rng.uniform(-far, far), 2), round(rng.uniform(-far, far), 2)
        yaw = rng.choice((0, 90, -90, 180, rng.randint(-179, 180)))
        speed = rng.choice((0.0, 0.0, 0.0, round(rng.uniform(0, 0.06), 2),
                            round(rng.uniform(0.13, 1.5), 2), round(rng.uniform(0.13, 0.6), 2)))
        turn = rng.choice((0.0, 0.0, round(rng.uniform(-1, 1), 2)))
        value = {
            'header': _header(rng), 'child_frame_id': 'base_link',
            'pose': {'pose': {'position': _vector(x, y), 'orientation': _quaternion(yaw)}},
            'twist': {'twist': {'linear': _vector(speed), 'angular': _vector(z=turn)}},
        }
        name = 'odom' if self.is_demo else rng.choice(_ODOM_NAMES)
        if self.add(name, 'nav_msgs/msg/Odometry', value):
            self.state.pose, self.state.speed = (x, y, yaw), speed
            self.state.drive = max(self.state.drive, speed)

    def _battery(self) -> None:
        rng = self.rng
        low = rng.random() < self.trouble
        percent = rng.randint(1, 19) if low else rng.randint(20, 100)
        status = rng.choice((0, 2, 2, 2, 3) if low or rng.random() < 0.85 else (1, 4))
        value = {
            'percentage': percent / 100 if rng.random() < 0.8 or percent < 2 else float(percent),
            'voltage': rng.choice((0.0, round(rng.uniform(9, 52), 1))),
            'current': rng.choice((0.0, math.nan, round(rng.uniform(-9, 3), 1))),
            'power_supply_status': status, 'power_supply_health': rng.choice((0, 1, 1)),
            'header': _header(rng, ''),
        }
        name = 'battery' if self.is_demo else rng.choice(_BATTERY_NAMES)
        if self.add(name, 'sensor_msgs/msg/BatteryState', value):
            self.state.battery, self.state.is_charging = percent, status == 1

    def _scan(self) -> None:
        rng = self.rng
        near = rng.random() < self.trouble
        front = round(rng.uniform(0.05, 0.29), 2) if near else round(rng.uniform(0.31, 8), 2)
        sides = [round(rng.uniform(0.31, 9), 2) for _ in range(3)]
        if rng.random() < 0.2:
            sides[rng.randrange(3)] = math.inf
        if not near and rng.random() < 0.1:
            front = math.inf
        value = {'header': _header(rng), 'angle_min': 0.0, 'angle_increment': math.pi / 2,
                 'range_min': 0.02, 'range_max': rng.choice((10.0, 12.0, 30.0)),
                 'ranges': [front, *sides]}
        name = 'scan' if self.is_demo else rng.choice(_SCAN_NAMES)
        if self.add(name, 'sensor_msgs/msg/LaserScan', value):
            self.state.front = front

    def _range(self) -> None:
        rng = self.rng
        if self.state.front is not None:
            return
        near = rng.random() < self.trouble
        distance = round(rng.uniform(0.05, 0.29), 2) if near else round(rng.uniform(0.31, 4), 2)
        value = {'header': _header(rng), 'min_range': 0.02, 'max_range': 5.0, 'range': distance}
        name = rng.choice(('sonar', 'range', 'ultrasonic', 'distance', 'front_range'))
        if self.add(name, 'sensor_msgs/msg/Range', value):
            self.state.front = distance

    def _detections(self) -> None:
        rng = self.rng
        names = [object_phrase(rng) for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 4)))]
        if rng.random() < 0.2:
            names = [name.split()[-1] for name in names]
        if names and rng.random() < 0.04:
            names[0] = injection(rng)
        names = list(dict.fromkeys(names))
        distances = sorted(round(rng.uniform(0.2, 6), 2) for _ in names)
        value = {'header': _header(rng, 'map'), 'detections': [
            {'name': name, 'x': round(rng.uniform(-10, 10), 2), 'y': round(rng.uniform(-9, 9), 2),
             'distance': distance, 'confidence': round(rng.uniform(0.4, 1), 2)}
            for name, distance in zip(names, distances, strict=True)]}
        name = 'detections' if self.is_demo else rng.choice(_SEEN_NAMES)
        if self.add(name, 'gemma_node/msg/DetectionArray', value):
            self.state.seen = names

    def _mode(self) -> None:
        mode = self.rng.choice((*words.MODES, nonce(self.rng)))
        if self.add(self.rng.choice(_MODE_NAMES), 'std_msgs/msg/String', {'data': mode}):
            self.state.mode = mode

    def _errors(self) -> None:
        rng = self.rng
        text = ''
        if rng.random() < min(0.9, self.trouble * 1.5):
            text = rng.choice((
                f'error_{rng.randint(1, 999)}', f'E{rng.randint(1, 99):02d}',
                f'error_{rng.randint(1, 300)},error_{rng.randint(1, 300)}',
                rng.choice(words.DIAGNOSES), f'ERR {rng.randint(100, 999)}',
                f'{nonce(rng)} failed', f'fault {rng.randint(1, 50)}'))
        quiet = rng.choice(('', '', '', 'none', 'no error', 'ok'))
        if self.add(rng.choice(_ERROR_NAMES), 'std_msgs/msg/String', {'data': text or quiet}):
            self.state.error = text or self.state.error

    def _diagnostics(self) -> None:
        rng = self.rng
        statuses = [{'level': 0, 'name': f'{nonce(rng)}', 'message': 'ok', 'hardware_id': '',
                     'values': []} for _ in range(rng.randint(0, 4))]
        message = ''
        if rng.random() < min(0.8, self.trouble * 1.5):
            message = rng.choice(words.DIAGNOSES)
            statuses.append({'level': 2, 'name': rng.choice(('motors', 'lidar', 'arm', 'base',
                             'camera', 'power', nonce(rng))), 'message': message})
        elif rng.random() < 0.2:
            statuses.append({'level': 1, 'name': 'wifi', 'message': 'weak signal'})
        value = {'header': _header(rng, ''), 'status': statuses}
        if self.add('diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', value) and message:
            self.state.error = self.state.error or message

    def _imu(self) -> None:
        rng = self.rng
        half = rng.choice((0.0, 0.0, 45.0))
        turn = _quaternion(rng.randint(-179, 179))
        if half:
            turn = {'x': math.sin(math.radians(half)), 'y': 0.0, 'z': 0.0,
                    'w': math.cos(math.radians(half))}
        axes = [round(rng.uniform(-1.2, 1.2), 2), round(rng.uniform(-1.2, 1.2), 2),
                round(rng.uniform(7, 11), 2)]
        if rng.random() < 0.3:
            rng.shuffle(axes)
        self.add(rng.choice(('imu', 'imu', 'imu_data')), 'sensor_msgs/msg/Imu', {
            'header': {'frame_id': rng.choice(('imu_link', f'{nonce(rng)}/imu_sensor', 'base'))},
            'orientation': turn, 'orientation_covariance': [0.0] * 9,
            'angular_velocity': _vector(z=round(rng.uniform(-1, 1) * rng.choice((0, 1)), 2)),
            'linear_acceleration': _vector(*axes)})

    def _gps(self) -> None:
        rng = self.rng
        self.add(rng.choice(('gps', 'fix', 'navsat_fix')), 'sensor_msgs/msg/NavSatFix', {
            'header': _header(rng), 'status': {'status': rng.choice((0, 0, 0, -1))},
            'latitude': rng.uniform(-80, 80), 'longitude': rng.uniform(-179, 179),
            'altitude': rng.uniform(-30, 900), 'position_covariance_type': rng.choice((0, 2)),
            'position_covariance': [rng.uniform(0.01, 9), 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]})

    def _joints(self) -> None:
        rng = self.rng
        kinds = rng.sample(('joint', 'wheel', 'arm', 'gripper', 'left_wheel', 'head', 'leg',
                            nonce(rng)), rng.randint(1, 3))
        ending = rng.choice(('', '_joint', '_link_joint'))
        names = [f'{kind}_{i}{ending}' for kind in kinds for i in range(rng.randint(1, 4))]
        moving = rng.random() < 0.4
        self.add(rng.choice(('joint_states', 'joints', 'joints')), 'sensor_msgs/msg/JointState', {
            'header': {'frame_id': ''}, 'name': names, 'effort': [],
            'velocity': [round(rng.uniform(-3, 3), 2) * moving for _ in names],
            'position': [round(rng.uniform(-12, 12) * rng.choice((0, 1)), 2) for _ in names]})

    def _path(self) -> None:
        rng = self.rng
        poses = [{'pose': {'position': _vector(rng.uniform(-9, 9), rng.uniform(-9, 9))}}
                 for _ in range(rng.randint(0, 4))]
        self.add(rng.choice(('plan', 'path', 'local_plan')), 'nav_msgs/msg/Path',
                 {'header': _header(rng), 'poses': poses})

    def _twist(self) -> None:
        rng = self.rng
        forward = rng.choice((0.0, 0.0, round(rng.uniform(-0.06, 0.06), 2),
                              round(rng.uniform(0.13, 1.2), 2), -round(rng.uniform(0.13, 0.5), 2)))
        turn = rng.choice((0.0, round(rng.uniform(-1, 1), 2)))
        value = {'linear': _vector(forward), 'angular': _vector(z=turn)}
        name = rng.choice(('velocity', 'velocity', 'twist', 'speed', 'base_velocity'))
        if self.add(name, 'geometry_msgs/msg/TwistStamped',
                    {'header': _header(rng), 'twist': value}):
            self.state.drive = max(self.state.drive, abs(forward))

    def _pose(self) -> None:
        rng = self.rng
        value = {'position': _vector(rng.uniform(-9, 9), rng.uniform(-9, 9)),
                 'orientation': _quaternion(rng.randint(-179, 179))}
        self.add(rng.choice(('location', 'pose', 'amcl_pose')), 'geometry_msgs/msg/PoseStamped',
                 {'header': _header(rng), 'pose': value})

    def _number(self) -> None:
        rng = self.rng
        name = rng.choice(('load_perc_available', 'battery_runtime', 'payload', 'humidity',
                           'wifi_signal', f'{nonce(rng)}'))
        self.add(name, 'std_msgs/msg/Float32', {'data': round(rng.uniform(0, 100), 2)})

    def _flag(self) -> None:
        name = self.rng.choice(('gripper_closed', 'carrying', 'door_open', 'lights_on', 'docked'))
        self.add(name, 'std_msgs/msg/Bool', {'data': self.rng.random() < 0.5})

    def _note(self) -> None:
        rng = self.rng
        text = injection(rng) if rng.random() < 0.4 else f'{place_phrase(rng)} {nonce(rng)}'
        self.add(rng.choice(('notes', 'sign', 'qr_code', 'speech', 'chat', 'label_reader')),
                 'std_msgs/msg/String', {'data': text})

    def _temperature(self) -> None:
        self.add('temperature', 'sensor_msgs/msg/Temperature', {
            'header': _header(self.rng), 'temperature': round(self.rng.uniform(-10, 60), 1)})

    def _image(self) -> None:
        self.add(self.rng.choice(('image', 'camera_image')), 'sensor_msgs/msg/Image', {
            'header': _header(self.rng), 'width': 640, 'height': 480, 'encoding': 'rgb8',
            'data': {'__bytes__': 921600}})


def injection(rng: random.Random) -> str:
    """Write a text that tries to give orders from inside the data."""
    text = rng.choice(words.INJECTIONS)
    return text.replace('{place}', place_phrase(rng)).replace(
        '{object}', object_phrase(rng)).replace('{{', '{').replace('}}', '}')
