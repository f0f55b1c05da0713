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
"""The area check with TFMessages from several publishers; `test_transforms.py` runs this file."""

from __future__ import annotations

import math

from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import TransformStamped
import pytest
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from ros_harness import calls
from tf2_msgs.msg import TFMessage

from gemma_node.core import ErrorCode
from gemma_node.msg import ToolCall
from gemma_node.ros.conversions import time_message

TOOLS = """
version: 1
defaults: {mode: auto, timeout: 30.0, rate_limit: 0}
tools:
  drive_to:
    topic: geometry_msgs/msg/PoseStamped
    name: goal_pose
    description: Drive to a place as the odometry has it.
    arguments:
      header.frame_id: {const: '{frame_prefix}odom'}
      header.stamp: {const: now}
      pose.position.x: {alias: x, minimum: -50, maximum: 50}
      pose.position.y: {alias: y, minimum: -50, maximum: 50}
    inside: {polygon: [[0, 0], [4, 0], [4, 4], [0, 4]], x: x, y: y, frame: map, max_age: 1.0}
"""
TF = 'tf2_msgs/msg/TFMessage'


@pytest.fixture
def world(make_world, tmp_path):
    """Return a world that listens to /tf and /tf_static and whose robot takes goal poses."""
    (tmp_path / 'tools.yaml').write_text(TOOLS)
    world = make_world(tools_file=str(tmp_path / 'tools.yaml'), robot={'observations': {
        'tf': {'type': TF, 'topic': '/tf', 'max_tokens': 32},
        'tf_static': {'type': TF, 'topic': '/tf_static', 'max_tokens': 32}}})
    world.poses = []
    world.peer.create_subscription(PoseStamped, 'r1/goal_pose', world.poses.append, 10)
    runtime = world.node.runtime
    spec = runtime._specs['r1']['drive_to']
    world.spin(lambda: not runtime.dispatch.unavailable('r1', spec))
    world.inputs = runtime._robots['r1'].inputs._inputs
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    world.publishers = {
        'tf': [world.peer.create_publisher(TFMessage, '/tf', 100) for _ in range(2)],
        'tf_static': [world.peer.create_publisher(TFMessage, '/tf_static', latched)]}
    for name, publishers in world.publishers.items():
        world.spin(lambda name=name, publishers=publishers: all(
            each.get_subscription_count() for each in publishers)
            and world.inputs[name].match_publishers() is None)
    return world


def say(world, parent, child, *, x=0.0, turn=0.0, age_s=0.0, index=0, name='tf'):
    """Publish one transform and wait until the node has it."""
    count = world.inputs[name].count
    transform = TransformStamped(child_frame_id=child)
    transform.header.frame_id = parent
    transform.header.stamp = time_message(
        world.peer.get_clock().now().nanoseconds - int(age_s * 1e9))
    transform.transform.translation.x = x
    transform.transform.rotation.z = math.sin(turn / 2)
    transform.transform.rotation.w = math.cos(turn / 2)
    message = TFMessage(transforms=[transform])
    world.publishers[name][index].publish(message)
    world.spin(lambda: world.inputs[name].count > count)


def drive(world, x, y):
    world.worker.script = calls(('drive_to', {'x': x, 'y': y}))
    return world.decide().tool_calls[0]


def test_a_pose_in_another_frame_goes_out_only_with_a_transform_at_hand(world):
    refused = drive(world, -8.0, 1.0)
    assert (refused.verdict, refused.error_code) == (
        ToolCall.VERDICT_REFUSED, ErrorCode.LIMIT_EXCEEDED)
    assert "no input gives a transform from 'r1/odom' to 'map'" in refused.violations[0]
    say(world, 'map', 'r1/odom', x=10.0)
    assert drive(world, -8.0, 1.0).verdict == ToolCall.VERDICT_SENT
    world.spin(lambda: world.poses)
    assert world.poses[0].header.frame_id == 'r1/odom'
    assert world.poses[0].pose.position.x == -8.0
    outside = drive(world, 1.0, 1.0)
    assert outside.verdict == ToolCall.VERDICT_REFUSED
    assert "11.00, 1.00 in 'map' is outside" in outside.violations[0]


def test_other_publishers_of_the_tree_do_not_hide_the_transform(world):
    say(world, 'map', 'r1/odom', x=10.0)
    for _ in range(20):
        say(world, 'r1/odom', 'r1/base_link', index=1)
    assert drive(world, -8.0, 1.0).verdict == ToolCall.VERDICT_SENT


def test_an_old_transform_and_one_far_ahead_carry_nothing(world):
    say(world, 'map', 'r1/odom', x=10.0, age_s=3.0)
    assert 's old, the limit is 1 s' in drive(world, -8.0, 1.0).violations[0]
    say(world, 'map', 'r1/odom', x=10.0, age_s=-60.0)
    assert 'the clocks do not agree' in drive(world, -8.0, 1.0).violations[0]
    say(world, 'map', 'r1/odom', x=10.0)
    assert drive(world, -8.0, 1.0).verdict == ToolCall.VERDICT_SENT
    world.spin_for(1.3)
    assert 's old, the limit is 1 s' in drive(world, -8.0, 1.0).violations[0]


def test_a_static_turn_holds_for_ever_and_joins_the_moving_part(world):
    say(world, 'map', 'hall', x=4.0, age_s=500.0, turn=math.pi / 2, name='tf_static')
    say(world, 'hall', 'r1/odom', x=1.0)
    # (x, y) of odom is (x + 1, y) of the hall and (4 - y, x + 1) of the map.
    assert drive(world, 1.0, 3.0).verdict == ToolCall.VERDICT_SENT
    assert "-1.00, 2.00 in 'map'" in drive(world, 1.0, 5.0).violations[0]
