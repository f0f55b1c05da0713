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
A small deterministic 2-D world with robots that drive, pick, place, dock and speak.

Knows nothing of ROS, clocks or randomness: `World.step(dt)` is its only source of change.
Lengths in metres, angles in radians, battery as a fraction 0..1.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from enum import Enum
import math

WALL = 10.0
REACH = 1.0
SIGHT = 4.0
TURN_RATE = 2.5
HANDLING_S = 1.5
TALKING_S = 1.0
NUM_BEAMS = 72
RANGE_MAX = 12.0
DRAIN_PER_M = 0.0015
CHARGE_PER_S = 0.02

PLACES: dict[str, tuple[float, float]] = {
    'dock': (0.0, 0.0),
    'kitchen': (4.0, 3.0),
    'office': (-3.0, 4.0),
    'workshop': (5.0, -4.0),
    'lobby': (1.0, -3.0),
    'storage': (-5.0, -3.0),
    'lab': (-5.0, 1.0),
    'entrance': (7.0, 0.0),
}


class TaskState(Enum):
    """Where a task stands."""

    RUNNING = 'running'
    SUCCEEDED = 'succeeded'
    ABORTED = 'aborted'
    CANCELED = 'canceled'


@dataclass
class Thing:
    """Something that can be picked up."""

    name: str
    x: float
    y: float
    holder: str = ''


@dataclass
class Robot:
    """One robot's state; `utterances` is what it has said so far."""

    name: str
    x: float
    y: float
    yaw: float = 0.0
    speed: float = 0.0
    turn: float = 0.0
    percentage: float = 0.8
    cruise: float = 1.5
    holding: str = ''
    charging: bool = False
    utterances: list[str] = field(default_factory=list)


@dataclass
class Task:
    """One running goal. `kind` is navigate_to, pick, place, dock or say."""

    robot: str
    kind: str
    goal: dict[str, object]
    state: TaskState = TaskState.RUNNING
    error: str = 'NONE'
    error_msg: str = ''
    elapsed: float = 0.0
    travelled: float = 0.0
    remaining: float = 0.0
    progress: float = 0.0


class World:
    """All robots and things; single-threaded, owned by whoever calls `step`."""

    def __init__(self, robots: list[Robot], things: list[Thing]) -> None:
        self.robots = {robot.name: robot for robot in robots}
        self.things = {thing.name: thing for thing in things}
        self.tasks: list[Task] = []

    def start(self, robot: str, kind: str, goal: dict[str, object]) -> Task:
        """Begin a task; it may already be ABORTED when its goal makes no sense."""
        task = Task(robot, kind, goal)
        if kind == 'navigate_to' and self._target(task) is None:
            _abort(task, 'UNKNOWN_PLACE', f'there is no place called {goal.get("place")!r}')
        elif kind == 'pick':
            self._check_pick(task)
        elif kind == 'place' and not self.robots[robot].holding:
            _abort(task, 'HANDS_EMPTY', 'the robot holds nothing')
        if task.state is TaskState.RUNNING:
            self.tasks.append(task)
        return task

    def cancel(self, task: Task) -> None:
        """End a running task where the robot stands."""
        if task.state is TaskState.RUNNING:
            task.state = TaskState.CANCELED
            self._halt(task.robot)
            self.tasks.remove(task)

    def step(self, dt: float) -> None:
        """Advance everything by `dt` seconds."""
        for task in list(self.tasks):
            task.elapsed += dt
            if task.kind in ('navigate_to', 'dock'):
                self._drive(task, dt)
            else:
                self._handle(task)
            if task.state is not TaskState.RUNNING:
                self._halt(task.robot)
                self.tasks.remove(task)
        for robot in self.robots.values():
            if robot.charging:
                robot.percentage = min(1.0, robot.percentage + CHARGE_PER_S * dt)

    def scan(self, name: str) -> list[float]:
        """Return `NUM_BEAMS` ranges counter-clockwise from straight behind (-pi)."""
        robot = self.robots[name]
        step = 2.0 * math.pi / NUM_BEAMS
        angles = [robot.yaw - math.pi + index * step for index in range(NUM_BEAMS)]
        return [round(self._range(robot, angle), 3) for angle in angles]

    def detections(self, name: str) -> list[tuple[str, float, float, float]]:
        """Return (name, x, y, distance) of things and robots in sight, nearest first."""
        robot = self.robots[name]
        seen = []
        for thing in self.things.values():
            if not thing.holder:
                seen.append((thing.name, thing.x, thing.y, _distance(robot, thing)))
        for other in self.robots.values():
            if other.name != name:
                seen.append((other.name, other.x, other.y, _distance(robot, other)))
        return sorted((item for item in seen if item[3] <= SIGHT), key=lambda item: item[3])

    def _check_pick(self, task: Task) -> None:
        robot = self.robots[task.robot]
        thing = self.things.get(str(task.goal['object']).strip().lower())
        if robot.holding:
            _abort(task, 'HANDS_FULL', f'the robot already holds the {robot.holding}')
        elif thing is None or thing.holder:
            _abort(task, 'NOT_FOUND', f'no {task.goal["object"]!r} is free to be picked up')
        elif _distance(robot, thing) > REACH:
            far = _distance(robot, thing)
            _abort(task, 'OUT_OF_REACH', f'the {thing.name} is {far:.1f} m away')

    def _target(self, task: Task) -> tuple[float, float] | None:
        if task.kind == 'dock':
            return PLACES['dock']
        place = str(task.goal.get('place', ''))
        if place:
            return PLACES.get(place)
        return float(str(task.goal['x'])), float(str(task.goal['y']))

    def _drive(self, task: Task, dt: float) -> None:
        robot = self.robots[task.robot]
        target = self._target(task)
        assert target is not None
        robot.charging = False
        dx, dy = target[0] - robot.x, target[1] - robot.y
        task.remaining = math.hypot(dx, dy)
        cruise = float(str(task.goal.get('speed', 0.0))) or robot.cruise
        if task.remaining < 0.05:
            self._arrive(task, robot, dt)
            return
        error = _wrap(math.atan2(dy, dx) - robot.yaw)
        robot.turn = max(-TURN_RATE, min(TURN_RATE, error / dt))
        robot.yaw = _wrap(robot.yaw + robot.turn * dt)
        robot.speed = cruise if abs(error) < 0.3 else 0.0
        move = min(robot.speed * dt, task.remaining)
        if robot.percentage <= 0.0:
            _abort(task, 'BATTERY_EMPTY' if task.kind == 'navigate_to' else 'BLOCKED', 'no charge')
            return
        robot.x += math.cos(robot.yaw) * move
        robot.y += math.sin(robot.yaw) * move
        robot.percentage = max(0.0, robot.percentage - DRAIN_PER_M * move)
        task.travelled += move
        held = self.things.get(robot.holding)
        if held is not None:
            held.x, held.y = robot.x, robot.y

    def _arrive(self, task: Task, robot: Robot, dt: float) -> None:
        robot.speed = 0.0
        turn_to = task.goal.get('yaw')
        if task.kind == 'navigate_to' and not task.goal.get('place') and turn_to is not None:
            error = _wrap(float(str(turn_to)) - robot.yaw)
            robot.yaw = _wrap(robot.yaw + max(-TURN_RATE * dt, min(TURN_RATE * dt, error)))
            if abs(error) > 0.02:
                return
        robot.charging = task.kind == 'dock'
        task.state = TaskState.SUCCEEDED

    def _handle(self, task: Task) -> None:
        robot = self.robots[task.robot]
        needed = TALKING_S if task.kind == 'say' else HANDLING_S
        task.progress = min(1.0, task.elapsed / needed)
        if task.elapsed < needed:
            return
        task.state = TaskState.SUCCEEDED
        if task.kind == 'say':
            robot.utterances.append(str(task.goal['text']))
        elif task.kind == 'pick':
            thing = self.things[str(task.goal['object']).strip().lower()]
            thing.holder, robot.holding = robot.name, thing.name
        else:
            self.things[robot.holding].holder = ''
            robot.holding = ''

    def _halt(self, name: str) -> None:
        self.robots[name].speed = 0.0
        self.robots[name].turn = 0.0

    def _range(self, robot: Robot, angle: float) -> float:
        cos, sin = math.cos(angle), math.sin(angle)
        hits = [RANGE_MAX]
        for value, direction in ((robot.x, cos), (robot.y, sin)):
            if abs(direction) > 1e-9:
                hits.append(((WALL if direction > 0 else -WALL) - value) / direction)
        for other in self.robots.values():
            if other is not robot:
                hits.append(_hit(robot, other, cos, sin))
        return min(hit for hit in hits if hit > 0.0)


def default_world() -> World:
    """Return the demo's world: two robots, five things."""
    return World(
        [
            Robot('r1', 0.0, 0.0, percentage=0.82),
            Robot('r2', 1.0, -3.0, yaw=math.pi / 2, percentage=0.64),
        ],
        [
            Thing('cup', 4.5, 3.2),
            Thing('parcel', 1.3, -3.4),
            Thing('toolbox', 5.4, -4.3),
            Thing('box', -5.2, -3.4),
            Thing('stapler', -3.2, 4.5),
        ],
    )


def _abort(task: Task, error: str, text: str) -> None:
    task.state, task.error, task.error_msg = TaskState.ABORTED, error, text


def _distance(robot: Robot, other: Robot | Thing) -> float:
    return math.hypot(other.x - robot.x, other.y - robot.y)


def _wrap(angle: float) -> float:
    return math.atan2(math.sin(angle), math.cos(angle))


def _hit(robot: Robot, other: Robot, cos: float, sin: float, radius: float = 0.3) -> float:
    """Return the distance to a round robot along a beam, inf if it passes by."""
    dx, dy = other.x - robot.x, other.y - robot.y
    along, across = dx * cos + dy * sin, -dx * sin + dy * cos
    if along <= 0.0 or abs(across) >= radius:
        return math.inf
    return max(0.01, along - math.sqrt(radius * radius - across * across))
