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

"""Inputs keep the newest bytes, decode only when asked, and follow what publishers offer."""

from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from ros_harness import ROBOT
from sensor_msgs.msg import BatteryState

from gemma_node.msg import InputRef
from gemma_node.ros.names import LATCHED
from gemma_node.ros.observations import header_stamp_ns


def inputs_of(world):
    return world.node.runtime._robots['r1'].inputs._inputs


def test_newest_message_wins_and_is_decoded_once(world, monkeypatch):
    from gemma_node.ros import observations
    decoded = []
    original = observations.deserialize_message
    monkeypatch.setattr(observations, 'deserialize_message',
                        lambda *a: decoded.append(1) or original(*a))
    for x in (1.0, 2.0, 3.0):
        world.feed(x=x)
    decoded.clear()
    world.decide()
    world.decide()
    first, second = (observations for _, observations in world.worker.requests)
    assert first[0].value['pose']['pose']['position']['x'] == 3.0
    assert second[0].value == first[0].value
    assert len(decoded) <= 2


def test_best_effort_publisher_is_heard(world):
    odom = inputs_of(world)['odom']
    publisher = world.peer.create_publisher(
        Odometry, 'r1/odom', QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT))
    world.spin(publisher.get_subscription_count)
    publisher.publish(Odometry())
    world.spin(lambda: odom.count)


def test_latched_message_from_before_the_node_is_received(make_world):
    world = make_world(active=False)
    world.peer.destroy_publisher(world.battery_publisher)
    early = world.peer.create_publisher(BatteryState, 'r1/battery', LATCHED)
    early.publish(BatteryState(percentage=0.4))
    world.spin_for(0.2)
    assert world.configure()
    world.spin(lambda: inputs_of(world)['battery'].count == 1)


def test_undecodable_bytes_make_the_input_invalid_and_a_diagnostic(world):
    odom = inputs_of(world)['odom']
    world.feed()
    world.odom_publisher.publish(b'\x00\x01\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff')
    world.spin(lambda: odom.count == 2)
    decision = world.decide()
    assert decision.inputs[0].state == InputRef.STATE_INVALID
    assert 'cannot be decoded' in world.node.runtime.diagnostics._troubles['r1: odom'][-1][1]


def test_stamp_in_the_future_is_invalid(world):
    world.feed(age_s=-2.0)
    assert world.decide().inputs[0].state == InputRef.STATE_INVALID


def test_template_and_budget_reach_the_worker(make_world):
    world = make_world(robot={**ROBOT, 'observations': {
        'odom': {'type': 'nav_msgs/msg/Odometry', 'template': 'x {{ value }}', 'max_tokens': 9},
        'battery': {'type': 'sensor_msgs/msg/BatteryState'}}})
    world.decide()
    observation = world.worker.requests[0][1][0]
    assert (observation.template, observation.max_tokens) == ('x {{ value }}', 9)


def test_absolute_topic_is_taken_as_it_is(make_world):
    world = make_world(robot={'observations': {
        'map': {'type': 'nav_msgs/msg/Odometry', 'topic': '/shared/odom'}}})
    assert world.decide().inputs[0].topic == '/shared/odom'


def test_header_stamp_of_messages_with_and_without_one():
    assert header_stamp_ns({'header': {'stamp': {'sec': 2, 'nanosec': 5}}}) == 2_000_000_005
    assert header_stamp_ns({'data': 1.0}) == 0
    assert header_stamp_ns(None) == 0
