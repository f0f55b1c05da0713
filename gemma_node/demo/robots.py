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
The simulated robots as ROS 2 nodes: topics and action servers over one `World`.

Goals are advanced by the world's timer, never by a blocking or polling execute callback:
a goal is handed to rclpy's executor only when its task has ended.
"""

from __future__ import annotations

from functools import partial
import math
from typing import Any

from geometry_msgs.msg import Quaternion
from nav_msgs.msg import Odometry
import rclpy
from rclpy.action import ActionServer
from rclpy.action import CancelResponse
from rclpy.action import GoalResponse
from rclpy.executors import ExternalShutdownException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import BatteryState
from sensor_msgs.msg import LaserScan
from std_msgs.msg import String

from gemma_node.action import Dock
from gemma_node.action import NavigateTo
from gemma_node.action import Pick
from gemma_node.action import Place
from gemma_node.action import Say
from gemma_node.demo.world import default_world
from gemma_node.demo.world import NUM_BEAMS
from gemma_node.demo.world import RANGE_MAX
from gemma_node.demo.world import Task
from gemma_node.demo.world import TaskState
from gemma_node.demo.world import World
from gemma_node.msg import Detection
from gemma_node.msg import DetectionArray

TICK_S = 0.05
ACTIONS = {
    'navigate_to': NavigateTo,
    'pick': Pick,
    'place': Place,
    'dock': Dock,
    'say': Say,
}


class SimulatedRobots(Node):
    """Publishes what every robot of a world senses, and serves its actions."""

    def __init__(self, world: World, **kwargs: Any) -> None:
        super().__init__('simulated_robots', **kwargs)
        self.world = world
        self._running: list[tuple[Task, Any]] = []
        self._silent_until: dict[tuple[str, str], float] = {}
        self._pubs: dict[tuple[str, str], Any] = {}
        self._servers = []
        for name in world.robots:
            self._add_publishers(name)
            for action, action_type in ACTIONS.items():
                self._servers.append(self._add_server(name, action, action_type))
        self.create_subscription(String, 'simulation/silence', self._on_silence, 10)
        self.create_timer(TICK_S, self._tick)
        self.create_timer(0.1, partial(self._publish_all, 'odom', self._odometry))
        self.create_timer(0.5, partial(self._publish_all, 'battery', self._battery))
        self.create_timer(0.2, partial(self._publish_all, 'scan', self._scan))
        self.create_timer(0.5, partial(self._publish_all, 'detections', self._detections))

    def _add_publishers(self, name: str) -> None:
        types = {
            'odom': Odometry,
            'battery': BatteryState,
            'scan': LaserScan,
            'detections': DetectionArray,
        }
        for topic, message_type in types.items():
            self._pubs[name, topic] = self.create_publisher(
                message_type, f'{name}/{topic}', qos_profile_sensor_data
            )

    def _add_server(self, name: str, action: str, action_type: Any) -> ActionServer:
        return ActionServer(
            self,
            action_type,
            f'{name}/{action}',
            execute_callback=self._finish,
            goal_callback=lambda _goal: GoalResponse.ACCEPT,
            handle_accepted_callback=partial(self._accepted, name, action),
            cancel_callback=lambda _handle: CancelResponse.ACCEPT,
            result_timeout=10,
        )

    def _accepted(self, name: str, action: str, handle: Any) -> None:
        goal = {field: getattr(handle.request, field) for field in _fields(handle.request)}
        self._running.append((self.world.start(name, action, goal), handle))

    def _tick(self) -> None:
        self.world.step(TICK_S)
        for task, handle in list(self._running):
            if handle.is_cancel_requested:
                self.world.cancel(task)
            if task.state is TaskState.RUNNING:
                self._feed_back(task, handle)
                continue
            self._running.remove((task, handle))
            handle.execute(partial(self._finish, task=task))

    def _feed_back(self, task: Task, handle: Any) -> None:
        if round(task.elapsed / TICK_S) % 10 != 1:
            return
        feedback = ACTIONS[task.kind].Feedback()
        if hasattr(feedback, 'distance_remaining'):
            feedback.distance_remaining = task.remaining
        else:
            feedback.progress = task.progress
        handle.publish_feedback(feedback)

    def _finish(self, handle: Any, task: Task) -> Any:
        result = ACTIONS[task.kind].Result()
        result.error_code = getattr(result, task.error)
        result.error_msg = task.error_msg
        if task.kind == 'navigate_to':
            result.travelled = task.travelled
        elif task.kind == 'dock':
            result.percentage = self.world.robots[task.robot].percentage
        if task.state is TaskState.SUCCEEDED:
            handle.succeed()
        elif task.state is TaskState.CANCELED:
            handle.canceled()
        else:
            handle.abort()
        return result

    def _on_silence(self, message: String) -> None:
        """Stop one topic for a while: 'r2 odom 5.0' silences r2/odom for 5 seconds."""
        parts = message.data.split()
        try:
            name, topic, seconds = parts[0], parts[1], float(parts[2])
        except (IndexError, ValueError):
            self.get_logger().warning(f"expected 'ROBOT TOPIC SECONDS', got {message.data!r}")
            return
        self._silent_until[name, topic] = self._now() + seconds

    def _now(self) -> float:
        return self.get_clock().now().nanoseconds * 1e-9

    def _publish_all(self, topic: str, build: Any) -> None:
        for name in self.world.robots:
            if self._silent_until.get((name, topic), 0.0) <= self._now():
                message = build(name)
                message.header.stamp = self.get_clock().now().to_msg()
                self._pubs[name, topic].publish(message)

    def _odometry(self, name: str) -> Odometry:
        robot = self.world.robots[name]
        message = Odometry()
        message.header.frame_id = 'map'
        message.child_frame_id = f'{name}/base_link'
        message.pose.pose.position.x = robot.x
        message.pose.pose.position.y = robot.y
        message.pose.pose.orientation = _quaternion(robot.yaw)
        message.twist.twist.linear.x = robot.speed
        message.twist.twist.angular.z = robot.turn
        return message

    def _battery(self, name: str) -> BatteryState:
        robot = self.world.robots[name]
        message = BatteryState()
        message.header.frame_id = f'{name}/base_link'
        message.percentage = robot.percentage
        message.voltage = 22.0 + 3.0 * robot.percentage
        message.current = 2.0 if robot.charging else -1.0
        message.power_supply_status = (
            BatteryState.POWER_SUPPLY_STATUS_CHARGING
            if robot.charging
            else BatteryState.POWER_SUPPLY_STATUS_DISCHARGING
        )
        message.present = True
        return message

    def _scan(self, name: str) -> LaserScan:
        message = LaserScan()
        message.header.frame_id = f'{name}/base_link'
        message.angle_min = -math.pi
        message.angle_increment = 2.0 * math.pi / NUM_BEAMS
        message.angle_max = math.pi - message.angle_increment
        message.range_min = 0.05
        message.range_max = RANGE_MAX
        message.ranges = self.world.scan(name)
        return message

    def _detections(self, name: str) -> DetectionArray:
        message = DetectionArray()
        message.header.frame_id = 'map'
        for thing, x, y, distance in self.world.detections(name):
            message.detections.append(
                Detection(name=thing, x=x, y=y, distance=distance, confidence=0.9)
            )
        return message


def _fields(message: Any) -> list[str]:
    return list(message.get_fields_and_field_types())


def _quaternion(yaw: float) -> Quaternion:
    return Quaternion(z=math.sin(yaw / 2.0), w=math.cos(yaw / 2.0))


def main() -> None:
    """Run the simulated robots until SIGINT or SIGTERM."""
    rclpy.init()
    node = SimulatedRobots(default_world())
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
