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


"""Draws the state of some robot: which inputs it has, and what they say at this moment."""

from __future__ import annotations

import math
import random

from demo_data import observations as obs
from demo_data import rare
from demo_data import values
from demo_data import words
from demo_data.injections import injection
from demo_data.observations import header
from demo_data.observations import Inputs
from demo_data.observations import State
from demo_data.observations import vector

_ERROR_NAMES = ('errors', 'errorcodes', 'error_codes', 'faults', 'alarms', 'robot_errors', 'error', 'fault_code', 'troubleshooting_errorcodes')
_NOTE_NAMES = ('notes', 'sign', 'qr_code', 'speech', 'chat', 'label_reader', 'barcode', 'ocr', 'door_sign', 'whiteboard', 'radio', 'sticker', 'display', 'voice')
MODE_NAMES = ('mode', 'state', 'robot_mode', 'status', 'drive_mode', 'task_state', 'controller_mode')
MODES = (*words.MODES, 'mapping', 'exploring', 'waiting', 'loading', 'unloading', 'picking', 'homing', 'calibrating', 'cleaning', 'following', 'sleeping')
FLAGS = tuple("""
gripper_closed carrying door_open lights_on docked estop_released person_detected water_low bin_full lid_open raining motion_detected
window_open belt_running holding_object tank_empty tool_attached payload_locked gate_open key_present network_ok calibrated line_detected
cargo_loaded tray_in_place arm_folded brake_on headlights_on operator_present smoke_detected valve_open
""".split())
NUMBERS: tuple[tuple[str, str, float, float, int], ...] = (
    ('humidity', '%', 10, 95, 0), ('wifi_signal', 'dBm', -90, -30, 0), ('payload', 'kg', 0, 40, 1), ('water_level', '%', 0, 100, 0),
    ('co2', 'ppm', 350, 2500, 0), ('noise_level', 'dB', 25, 95, 0), ('light_level', 'lx', 0, 2000, 0), ('wind_speed', 'm/s', 0, 18, 1),
    ('tank_level', '%', 0, 100, 0), ('pressure', 'bar', 0, 9, 1), ('grip_force', 'N', 0, 60, 1), ('motor_temperature', 'C', 15, 95, 1),
    ('cpu_load', '%', 1, 100, 0), ('battery_runtime', 'min', 5, 300, 0), ('load_perc_available', '', 0, 100, 1), ('depth', 'm', 0, 60, 1),
    ('altitude', 'm', 0, 120, 1), ('fill_level', '%', 0, 100, 0), ('queue_length', '', 0, 30, 0), ('soil_moisture', '%', 2, 80, 0),
    ('lift_height', 'm', 0, 3, 2), ('disk_free', '%', 1, 99, 0), ('speed_limit', 'm/s', 0.2, 2, 1), ('belt_speed', 'm/s', 0, 2, 1),
    ('room_temperature', 'C', 5, 38, 1), ('dust', '', 0, 500, 0), ('distance_to_dock', 'm', 0, 80, 1), ('torque', 'Nm', 0, 90, 1),
)


class StateMaker:
    """
    Draws states. `trouble` raises the chance of low battery, errors and near obstacles.

    Quiet and troubled states have the same inputs, so that only the values tell them apart.
    """

    def __init__(self, rng: random.Random, *, is_demo: bool, trouble: float = 0.12, faults: float = 0.05,
                 tools: tuple[str, ...] = (), injected: float = 0.12) -> None:
        self.rng = rng
        self.is_demo = is_demo
        self.trouble = trouble
        self.tools = tools
        self.injected = injected
        self.faults = faults
        self.state = State()
        self.inputs = Inputs(rng, self.state, faults)

    def draw(self, most: int = 99) -> State:
        """Make up one state with its observations, `most` inputs at most."""
        rng = self.rng
        self.state = State()
        self.inputs = Inputs(rng, self.state, self.faults)
        if rng.random() < 0.02:
            return self.state
        for make in self._plan()[:most]:
            make()
        if not self.is_demo and rng.random() < 0.4:
            rng.shuffle(self.state.observations)
        if rng.random() < self.injected:
            self._inject()
        return self.state

    def _plan(self) -> list[obs.Maker]:
        rng = self.rng
        if self.is_demo:
            makers = [self.odom, self.battery, self.scan, self.detections]
            extra = [self.errors, self.mode, self.note, self.flag] if rng.random() < 0.15 else []
            return [m for m in makers if rng.random() < 0.96] + extra[:1 + (rng.random() < 0.3)]
        base = rng.choice((
            (self.odom, self.battery, self.scan, self.detections),
            (self.odom, self.battery, self.scan),
            (self.odom, self.gps, self.imu),
            (self.gps, self.odom, self.imu, self.twist, self.battery),
            (self.imu, self.joints, self.odom),
            (self.joints, self.flag, self.number),
            (self.battery, self.number, self.path, self.pose, self.mode, self.errors, self.twist, self.number, self.diagnostics),
            (self.altitude, self.gps, self.battery, self.imu),
            (self.odom, self.range, self.detections, self.flag),
            (self.pose, self.battery, self.image, self.detections),
            (self.number, self.number, self.flag, self.temperature, self.mode),
            (self.custom, self.odom, self.battery), (self.twist, self.scan, self.mode),
        ))
        makers = [m for m in base if rng.random() < 0.9]
        extra = [self.mode, self.errors, self.diagnostics, self.imu, self.gps, self.joints, self.path, self.twist, self.pose, self.number,
                 self.flag, self.note, self.range, self.temperature, self.image, self.custom, self.cloud, self.note, self.number, self.flag,
                 self.odom, self.battery, self.scan, self.detections]
        return makers + rng.sample(extra, rng.choice((0, 0, 1, 1, 2, 3)))

    def _has(self, kind: str) -> bool:
        return any(f.kind == kind for f in self.state.facts)

    def odom(self) -> None:
        """Add odometry; of robots out of doors far from the origin."""
        rng = self.rng
        if self._has('pose'):
            return
        far = 10 if self.is_demo else rng.choice((8, 10, 20, 20, 200, 900))
        decimals = rng.choice((1, 1, 2, 2, 2))
        yaw = rng.choice((0, 0, 90, 90, -90, -90, 180, 180, 45, -45, 135, -135, 30, 60, rng.randint(-179, 180)))
        speed = rng.choice((0.0, 0.0, 0.0, round(rng.uniform(0, 0.09), 2), round(rng.uniform(0.1, 1.5), 2), round(rng.uniform(0.1, 0.6), 2)))
        pose = (round(rng.uniform(-far, far), decimals), round(rng.uniform(-far, far), decimals), yaw)
        name = 'odom' if self.is_demo else rng.choice(('odom', 'odom', 'odom', 'odometry', 'base_odom', 'wheel_odom', 'odometry/filtered'))
        obs.odometry(rng, self.inputs, name, pose, speed)

    def battery(self) -> None:
        """Add a battery."""
        rng = self.rng
        if self._has('battery'):
            return
        low = rng.random() < self.trouble
        status = rng.choice((0, 2, 2, 2, 3) if rng.random() < (0.75 if low else 0.85) else (1, 1, 4))
        name = 'battery' if self.is_demo else rng.choice(('battery', 'battery', 'battery', 'battery_state', 'power', 'bms'))
        obs.battery(rng, self.inputs, name, obs.percent(rng, low=low), status)

    def scan(self) -> None:
        """Add a laser scan."""
        rng = self.rng
        if self._has('front'):
            return
        near = rng.random() < self.trouble
        front = round(rng.uniform(0.05, 0.29), 2) if near else rng.choice((round(rng.uniform(0.31, 8), 2), round(rng.uniform(0.31, 1), 2)))
        if not near and rng.random() < 0.08:
            front = math.inf
        name = 'scan' if self.is_demo else rng.choice(('scan', 'scan', 'lidar', 'laser', 'front_scan', 'base_scan'))
        obs.scan(rng, self.inputs, name, front)

    def range(self) -> None:
        """Add one distance; only sensors that look forward count as front."""
        rng = self.rng
        if self._has('front'):
            return
        is_front = rng.random() < 0.65
        name = rng.choice(('front_range', 'front_sonar', 'range_front') if is_front else ('rear_range', 'left_sonar', 'right_ultrasonic', 'back_range'))
        near = rng.random() < (self.trouble if is_front else 0.3)
        distance = round(rng.uniform(0.05, 0.29), 2) if near else round(rng.uniform(0.31, 4), 2)
        value = {'header': header(rng), 'min_range': 0.02, 'max_range': 5.0, 'range': distance}
        self.inputs.add(name, 'sensor_msgs/msg/Range', value, ('front' if is_front else 'distance', distance, 'm'))

    def detections(self) -> None:
        """Add things that a camera sees, nearest first."""
        rng = self.rng
        if self._has('seen'):
            return
        names = list(dict.fromkeys(values.thing(rng) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 4)))))
        if rng.random() < 0.12:
            names.append(values.person(rng))
        distances = sorted(round(rng.uniform(0.2, 6), 2) for _ in names)
        found = [{'name': name, 'x': round(rng.uniform(-10, 10), rng.choice((1, 2))), 'y': round(rng.uniform(-9, 9), rng.choice((1, 2))),
                  'distance': distance, 'confidence': round(rng.uniform(0.4, 1), 2)}
                 for name, distance in zip(names, distances, strict=True)]
        name = 'detections' if self.is_demo else rng.choice(('detections', 'detections', 'camera', 'objects', 'vision'))
        self.inputs.add(name, 'gemma_node/msg/DetectionArray', {'header': header(rng, rng.choice(('map', 'map', ''))), 'detections': found},
                        ('seen', found, ''))

    def mode(self) -> None:
        """Add a mode."""
        mode = self.rng.choice((*MODES, rare.syllables(self.rng)))
        obs.string(self.inputs, self.rng.choice(MODE_NAMES), mode, 'mode')

    def errors(self) -> None:
        """Add error codes as text; empty ones mean that all is well."""
        rng = self.rng
        text = ''
        if rng.random() < min(0.9, self.trouble * 1.5):
            text = rng.choice((f'error_{rng.randint(1, 999)}', f'E{rng.randint(1, 99):02d}', f'error_{rng.randint(1, 300)},error_{rng.randint(1, 300)}',
                               rng.choice(words.DIAGNOSES), f'ERR {rng.randint(100, 999)}', f'{rare.noun(rng)} failed', f'fault {rng.randint(1, 50)}'))
        quiet = rng.choice(('', '', '', 'none', 'no error', 'ok'))
        obs.string(self.inputs, rng.choice(_ERROR_NAMES), text or quiet, 'error' if text else 'no_error')

    def diagnostics(self) -> None:
        """Add diagnostics, at times with an error or a warning."""
        rng = self.rng
        statuses = [{'level': 0, 'name': rare.noun(rng), 'message': 'ok', 'hardware_id': '', 'values': []} for _ in range(rng.randint(0, 4))]
        message = ''
        if rng.random() < min(0.8, self.trouble * 1.5):
            message = rng.choice((*words.DIAGNOSES, f'{rare.noun(rng)} {rng.choice(("jammed", "overheated", "lost", "too slow", "blocked", "not found"))}'))
            statuses.append({'level': 2, 'name': rng.choice(('motors', 'lidar', 'arm', 'base', 'camera', 'power', rare.noun(rng))), 'message': message})
        elif rng.random() < 0.35:
            statuses.append({'level': 1, 'name': rng.choice(('wifi', 'disk', 'cpu', rare.noun(rng))), 'message': rng.choice(('weak signal', 'nearly full', 'slow', 'late messages'))})
        self.inputs.add('diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', {'header': header(rng, ''), 'status': statuses},
                        *((('error', message, ''),) if message else (('no_error', '', ''),)))

    def imu(self) -> None:
        """Add inertia."""
        rng = self.rng
        turn = obs.quaternion(rng.randint(-179, 179))
        if rng.random() < 0.3:
            half = math.radians(rng.choice((3.0, 8.0, 45.0)))
            turn = {'x': math.sin(half), 'y': 0.0, 'z': 0.0, 'w': math.cos(half)}
        axes = [round(rng.uniform(-1.2, 1.2), 2), round(rng.uniform(-1.2, 1.2), 2), round(rng.uniform(7, 11), 2)]
        if rng.random() < 0.3:
            rng.shuffle(axes)
        self.inputs.add(rng.choice(('imu', 'imu', 'imu_data', 'imu/data')), 'sensor_msgs/msg/Imu', {
            'header': {'frame_id': rng.choice(('imu_link', f'{rare.noun(rng)}/imu_sensor', 'base'))},
            'orientation': turn, 'orientation_covariance': [rng.choice((0.0, 0.0, -1.0))] + [0.0] * 8,
            'angular_velocity': vector(z=round(rng.uniform(-1, 1) * rng.choice((0, 1)), 2)), 'linear_acceleration': vector(*axes)})

    def gps(self) -> None:
        """Add a position fix, or the lack of one."""
        rng = self.rng
        has_fix = rng.random() < 0.8
        self.inputs.add(rng.choice(('gps', 'fix', 'navsat_fix', 'gnss', 'gps/fix')), 'sensor_msgs/msg/NavSatFix', {
            'header': header(rng), 'status': {'status': rng.choice((0, 0, 1, 2)) if has_fix else -1},
            'latitude': rng.uniform(-80, 80), 'longitude': rng.uniform(-179, 179), 'altitude': rng.uniform(-30, 900),
            'position_covariance_type': rng.choice((0, 2)), 'position_covariance': [rng.uniform(0.01, 9), 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        }, ('fix', has_fix, ''))

    def joints(self) -> None:
        """Add joint states."""
        rng = self.rng
        kinds = rng.sample(('joint', 'wheel', 'arm', 'gripper', 'left_wheel', 'head', 'leg', 'finger', rare.noun(rng)), rng.randint(1, 3))
        ending = rng.choice(('', '_joint', '_link_joint'))
        names = [f'{kind}_{i}{ending}' for kind in kinds for i in range(rng.randint(1, 4))]
        moving = rng.random() < 0.4
        positions = [round(rng.uniform(-12, 12) * rng.choice((0, 1)), 2) for _ in names]
        self.inputs.add(rng.choice(('joint_states', 'joints')), 'sensor_msgs/msg/JointState', {
            'header': {'frame_id': ''}, 'name': names, 'effort': [],
            'velocity': [round(rng.uniform(-3, 3), 2) * moving for _ in names], 'position': positions,
        }, ('joints', dict(zip(names, positions, strict=True)), ''))

    def path(self) -> None:
        """Add a planned path."""
        rng = self.rng
        poses = [{'pose': {'position': vector(rng.uniform(-9, 9), rng.uniform(-9, 9))}} for _ in range(rng.randint(0, 4))]
        self.inputs.add(rng.choice(('plan', 'path', 'local_plan')), 'nav_msgs/msg/Path', {'header': header(rng), 'poses': poses})

    def twist(self) -> None:
        """Add a velocity."""
        rng = self.rng
        forward = rng.choice((0.0, 0.0, round(rng.uniform(-0.09, 0.09), 2), round(rng.uniform(0.1, 1.2), 2), -round(rng.uniform(0.1, 0.5), 2)))
        value = {'linear': vector(forward), 'angular': vector(z=rng.choice((0.0, round(rng.uniform(-1, 1), 2))))}
        name = rng.choice(('velocity', 'twist', 'base_velocity', 'cmd_vel_out'))
        self.inputs.add(name, 'geometry_msgs/msg/TwistStamped', {'header': header(rng), 'twist': value}, ('forward', forward, 'm/s'))

    def pose(self) -> None:
        """Add a pose estimate."""
        rng = self.rng
        if self._has('pose'):
            return
        x, y, yaw = round(rng.uniform(-15, 15), rng.choice((1, 2))), round(rng.uniform(-15, 15), rng.choice((1, 2))), rng.choice((0, 90, -90, 180, rng.randint(-179, 179)))
        self.inputs.add(rng.choice(('location', 'pose', 'amcl_pose')), 'geometry_msgs/msg/PoseStamped',
                        {'header': header(rng, 'map'), 'pose': {'position': vector(x, y), 'orientation': obs.quaternion(yaw)}}, ('pose', (x, y, yaw), ''))

    def number(self) -> None:
        """Add one number with a telling name, at times an invented one."""
        rng = self.rng
        name, unit, low, high, decimals = rng.choice(NUMBERS)
        if rng.random() < 0.15:
            name, unit = f'{rare.noun(rng)}_{rng.choice(("level", "count", "value"))}', ''
        value = round(rng.uniform(low, high), decimals)
        kind = 'number'
        if decimals == 0 and rng.random() < 0.4:
            self.inputs.add(name, 'std_msgs/msg/Int32', {'data': int(value)}, (kind, int(value), unit))
        else:
            obs.number(self.inputs, name, value, unit)

    def flag(self) -> None:
        """Add one truth value."""
        obs.flag(self.inputs, self.rng.choice(FLAGS), self.rng.random() < 0.5)

    def note(self) -> None:
        """Add a text that somebody or something wrote."""
        rng = self.rng
        text = rng.choice((values.text(rng), values.place(rng), values.thing(rng), rare.code(rng), f'{rare.full_name(rng)}: {values.text(rng)}'))
        obs.string(self.inputs, rng.choice(_NOTE_NAMES), text, 'note')

    def temperature(self) -> None:
        """Add a temperature."""
        degrees = round(self.rng.uniform(-12, 62), 1)
        self.inputs.add(self.rng.choice(('temperature', 'temperature', 'ambient', 'thermometer')), 'sensor_msgs/msg/Temperature',
                        {'header': header(self.rng), 'temperature': degrees}, ('temperature', degrees, 'C'))

    def altitude(self) -> None:
        """Add the height of a drone."""
        obs.number(self.inputs, 'altitude', round(self.rng.uniform(0, 90), 1), 'm')

    def image(self) -> None:
        """Add a picture, which the model only hears of."""
        self.inputs.add(self.rng.choice(('image', 'camera_image', 'camera/color')), 'sensor_msgs/msg/Image', {
            'header': header(self.rng), 'width': self.rng.choice((320, 640, 1280)), 'height': 480, 'encoding': 'rgb8', 'data': {'__bytes__': 921600}})

    def cloud(self) -> None:
        """Add a point cloud, which the model only hears of."""
        self.inputs.add(self.rng.choice(('points', 'velodyne_points', 'depth/points')), 'sensor_msgs/msg/PointCloud2', {
            'header': header(self.rng), 'width': self.rng.randint(100, 30000), 'height': 1, 'fields': [{'name': n} for n in 'xyz'],
            'data': {'__bytes__': self.rng.randint(1000, 400000)}})

    def custom(self) -> None:
        """Add a message of a type that nobody knows, rendered field by field."""
        rng = self.rng
        fields: dict[str, object] = {}
        for _ in range(rng.randint(1, 5)):
            key = rng.choice((rare.noun(rng), f'{rare.noun(rng)}_{rng.choice(("state", "level", "id", "count", "ok"))}'))
            fields[key] = rng.choice((rng.randint(0, 500), round(rng.uniform(-20, 200), 2), rng.random() < 0.5, rare.code(rng), rare.any_word(rng),
                                      [round(rng.uniform(0, 9), 1) for _ in range(rng.randint(1, 4))], vector(*(round(rng.uniform(-5, 5), 2) for _ in range(3)))))
        kind = f'{rng.choice(("acme", "vendor", rare.noun(rng)))}_msgs/msg/{rare.noun(rng).capitalize()}State'
        self.inputs.add(f'{rare.noun(rng)}_{rng.choice(("status", "info", "report"))}', kind, fields, ('custom', fields, ''))

    def _inject(self) -> None:
        """Write an order into one of the texts, or add a text that holds one."""
        rng, state = self.rng, self.state
        text = injection(rng, self.tools)
        state.injected.append(text)
        roll = rng.random()
        seen = state.fact('seen')
        if roll < 0.35 and seen is not None and seen.is_usable:
            place = {'name': text, 'x': round(rng.uniform(-9, 9), 2), 'y': round(rng.uniform(-9, 9), 2),
                     'distance': round(rng.uniform(0.3, 7), 2), 'confidence': round(rng.uniform(0.4, 1), 2)}
            seen.value.append(place)
            seen.value.sort(key=lambda d: d['distance'])
        elif roll < 0.5:
            target = next((o for o in state.observations if isinstance(o.value, dict) and 'frame_id' in (o.value.get('header') or {})), None)
            if target is not None:
                target.value['header']['frame_id'] = text
        elif roll < 0.6:
            statuses = [{'level': 1, 'name': rng.choice(('wifi', rare.noun(rng))), 'message': text}]
            self.inputs.add('diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', {'header': header(rng, ''), 'status': statuses}, ('no_error', '', ''))
        else:
            faults, self.inputs.faults = self.inputs.faults, 0.0
            obs.string(self.inputs, rng.choice(_NOTE_NAMES), text, 'note')
            self.inputs.faults = faults


