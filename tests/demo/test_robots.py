"""The simulated robots over real DDS: topics come, goals end, cancels are confirmed."""

import itertools
import time

import pytest

rclpy = pytest.importorskip('rclpy')


from action_msgs.msg import GoalStatus  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from rclpy.context import Context  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.qos import qos_profile_sensor_data  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from gemma_node.action import NavigateTo  # noqa: E402
from gemma_node.action import Pick  # noqa: E402
from gemma_node.demo.robots import SimulatedRobots  # noqa: E402
from gemma_node.demo.world import default_world  # noqa: E402


class Graph:
    """One executor with the robots and a client node, in a context of its own."""

    def __init__(self):
        self.context = Context()
        rclpy.init(context=self.context)
        self.robots = SimulatedRobots(default_world(), context=self.context)
        self.client = Node('client', context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.robots)
        self.executor.add_node(self.client)

    def until(self, done, timeout_s=10.0):
        end = time.monotonic() + timeout_s
        while not done() and time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.05)
        assert done(), 'timed out'

    def goal(self, action_type, name, **fields):
        client = ActionClient(self.client, action_type, name)
        self.until(client.server_is_ready)
        self.feedback = []
        future = client.send_goal_async(
            action_type.Goal(**fields), feedback_callback=self.feedback.append
        )
        self.until(future.done)
        return future.result()

    def result(self, handle):
        future = handle.get_result_async()
        self.until(future.done)
        return future.result()

    def close(self):
        self.executor.shutdown()
        self.robots.destroy_node()
        self.client.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture
def graph():
    graph = Graph()
    yield graph
    graph.close()


def test_goal_is_driven_with_feedback_and_result(graph):
    graph.robots.world.robots['r1'].x = 3.0
    handle = graph.goal(NavigateTo, 'r1/navigate_to', place='kitchen')
    result = graph.result(handle)
    assert result.status == GoalStatus.STATUS_SUCCEEDED
    assert result.result.error_code == NavigateTo.Result.NONE
    assert result.result.travelled > 2.0
    assert graph.feedback
    assert graph.feedback[0].feedback.distance_remaining > 1.0


def test_impossible_goal_is_aborted_with_the_servers_own_code(graph):
    result = graph.result(graph.goal(Pick, 'r2/pick', object='cup'))
    assert result.status == GoalStatus.STATUS_ABORTED
    assert result.result.error_code == Pick.Result.OUT_OF_REACH
    assert 'm away' in result.result.error_msg


def test_cancel_is_confirmed_and_the_robot_stands(graph):
    handle = graph.goal(NavigateTo, 'r1/navigate_to', place='entrance')
    graph.until(lambda: graph.robots.world.robots['r1'].x > 0.5)
    cancel = handle.cancel_goal_async()
    graph.until(cancel.done)
    assert len(cancel.result().goals_canceling) == 1
    assert graph.result(handle).status == GoalStatus.STATUS_CANCELED
    assert graph.robots.world.robots['r1'].speed == 0.0


def test_silenced_topic_stops_and_comes_back(graph):
    seen = []
    graph.client.create_subscription(
        Odometry, 'r1/odom', lambda _: seen.append(time.monotonic()), qos_profile_sensor_data
    )
    silence = graph.client.create_publisher(String, 'simulation/silence', 10)
    graph.until(lambda: len(seen) > 3 and silence.get_subscription_count() > 0)
    silence.publish(String(data='r1 odom 1.0'))
    silence.publish(String(data='nonsense'))
    graph.until(lambda: len(seen) > 3 and time.monotonic() - seen[-1] > 0.7)
    count = len(seen)
    graph.until(lambda: len(seen) > count + 2)
    assert max(b - a for a, b in itertools.pairwise(seen)) > 0.7
