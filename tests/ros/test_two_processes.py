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
Robots, node and worker in processes of their own: every call ends in one terminal event in time.

The robot is moving in most of these; what ends the motion is a server, a person, a lock, a
signal, or the death of one of the processes.
"""

import os
import signal
import time
import warnings

from geometry_msgs.msg import TwistStamped
from lifecycle_msgs.msg import Transition
import pytest
from rclpy.action import ActionClient
from ros_harness import NavigateServer
from ros_processes import NodeProcess
from std_srvs.srv import Trigger

from gemma_node.action import NavigateTo
from gemma_node.core import ErrorCode
from gemma_node.msg import ToolCall
from gemma_node.msg import ToolEvent
from gemma_node.ros.conversions import uuid_hex

CANCEL_TIMEOUT_S = 1.0
SILENCE_S = 1.0
ACCEPTED = 1
CANCELED = 5
TOOLS = """
version: 1
defaults: {mode: auto, timeout: 30.0, cancel_timeout: 1.0, rate_limit: 0}
resources: [base]
tools:
  go_to:
    action: gemma_node/action/NavigateTo
    name: navigate_to
    description: Drive.
    arguments: &place {place: {type: string, choices: [kitchen, lab]}}
    resources: [base]
    on_busy: preempt_own
    result: {success: {field: error_code, equals: 0}, show: [error_msg]}
  go_briefly:
    action: gemma_node/action/NavigateTo
    name: navigate_to
    description: Drive, but not for long.
    arguments: *place
    timeout: 0.4
    resources: [base]
  go_anyway:
    action: gemma_node/action/NavigateTo
    name: navigate_to
    description: Drive whoever else drives.
    arguments: *place
    on_taken_over: ignore
    resources: [base]
  go_later:
    action: gemma_node/action/NavigateTo
    name: navigate_to
    description: Drive when the base is free.
    arguments: *place
    on_busy: queue
    resources: [base]
  creep:
    topic: geometry_msgs/msg/TwistStamped
    name: cmd_vel_llm
    description: Creep.
    arguments:
      twist.linear.x: {alias: speed, minimum: -0.2, maximum: 0.2}
      header.frame_id: {const: '{frame_prefix}base_link'}
      header.stamp: {const: now}
    stream: {rate: 50.0, duration: {alias: seconds, minimum: 0.1, maximum: 10.0}, then: zero}
    resources: [base]
  tare:
    service: std_srvs/srv/Trigger
    name: tare
    description: Tare.
    timeout: 0.4
    result: {success: {field: success, equals: true}, show: [message]}
builtins: [stop]
"""
ROBOTS = ['ok', 'rejecting', 'aborting', 'slow', 'dying', 'late', 'stubborn', 'preempting',
          'queueing', 'shared', 'shared2', 'locked', 'words', 'creeping', 'creeping2', 'creeping3',
          'lost', 'taring', 'taring2', 'leaving']


@pytest.fixture(scope='module')
def node(tmp_path_factory):
    """Return one node for the robots of all tests here; each test has a robot of its own."""
    node = NodeProcess(tmp_path_factory.mktemp('node'), tools=TOOLS, robots=ROBOTS,
                       server_silence=SILENCE_S)
    yield node
    node.close()


@pytest.fixture
def serve(node):
    """Return a function that brings up a robot's server in this process."""
    servers = []

    def up(robot):
        servers.append(NavigateServer(node.peer, f'{robot}/navigate_to'))
        return servers[-1]

    yield up
    for server in servers:
        server.destroy()


def drive(node, server, robot, tool='go_to'):
    """Send the robot off and wait until its server has the goal."""
    count = len(server.goals)
    call_id = node.send(robot, tool, place='kitchen')
    node.spin(lambda: len(server.goals) > count)
    return call_id


def test_success_is_told_once_with_the_goals_id(node, serve):
    server = serve('ok')
    call_id = drive(node, server, 'ok')
    assert list(server.goals[0].goal_id.uuid) == list(call_id.uuid)
    server.end(server.goals[0])
    assert node.settle(call_id).state == ToolEvent.STATE_SUCCEEDED


def test_rejected_goal(node, serve):
    serve('rejecting').accepts = False
    event = node.settle(node.send('rejecting', place='lab'))
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_REJECTED, ErrorCode.GOAL_REJECTED)


def test_aborted_goal(node, serve):
    server = serve('aborting')
    call_id = drive(node, server, 'aborting')
    server.end(server.goals[0], 'abort', error_code=2, error_msg='a crate')
    event = node.settle(call_id)
    assert (event.state, event.error_code, event.error_msg) == (
        ToolEvent.STATE_ABORTED, ErrorCode.GOAL_ABORTED, 'a crate')


def test_goal_past_its_timeout_is_canceled_and_confirmed(node, serve):
    server = serve('slow')
    call_id = drive(node, server, 'slow', 'go_briefly')
    event = node.settle(call_id, 0.4 + CANCEL_TIMEOUT_S)
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_CANCELED, ErrorCode.GOAL_TIMEOUT)
    assert server.goals[0].status == CANCELED


def test_killed_server_is_noticed_long_before_the_middleware_does(node):
    server = node.serve_elsewhere('dying/navigate_to')
    node.spin(lambda: any(name.endswith('/dying/navigate_to/_action/send_goal')
                          for name, _ in node.peer.get_service_names_and_types()))
    node.spin_for(1.0)

    def events():
        return [event for event in node.events
                if list(event.call_id.uuid) == list(call_id.uuid)]

    for _ in range(5):
        call_id = node.send('dying', place='lab')
        node.spin(lambda: any(event.state == ToolEvent.STATE_ACCEPTED or event.is_terminal
                              for event in events()))
        if not events()[-1].is_terminal:
            break
        # A server on a busy machine may answer later than within server_timeout.
    node.spin_for(1.5 * SILENCE_S)
    assert not [event for event in events() if event.is_terminal]
    os.kill(server.pid, signal.SIGKILL)
    event = node.settle(call_id, SILENCE_S + CANCEL_TIMEOUT_S + 0.5)
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_ORPHANED, ErrorCode.CANCEL_UNCONFIRMED)
    assert 'may still be moving' in event.error_msg


def test_goal_accepted_too_late_is_canceled(node, serve, monkeypatch):
    server = serve('late')
    original, held = server._server._execute_goal_request, []

    async def hold(request):
        held.append(request)

    monkeypatch.setattr(server._server, '_execute_goal_request', hold)
    event = node.settle(node.send('late', place='lab'))
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_REJECTED, ErrorCode.SERVER_UNAVAILABLE)
    node.executor.create_task(original, held[0])
    node.spin(lambda: server.goals and server.goals[0].status == CANCELED)


def test_goal_whose_cancel_is_refused_is_orphaned_within_its_deadline(node, serve):
    server = serve('stubborn')
    server.serves_cancel = False
    call_id = drive(node, server, 'stubborn', 'go_briefly')
    event = node.settle(call_id, 0.4 + CANCEL_TIMEOUT_S + 0.5)
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_ORPHANED, ErrorCode.CANCEL_UNCONFIRMED)
    server.end(server.goals[0])


def test_newer_goal_is_sent_when_the_preempted_one_is_confirmed(node, serve):
    server = serve('preempting')
    first = drive(node, server, 'preempting')
    second = drive(node, server, 'preempting')
    assert server.goals[0].status == CANCELED
    event = node.settle(first)
    assert (event.state, event.cause) == (ToolEvent.STATE_CANCELED, 'preempted')
    server.end(server.goals[1])
    assert node.settle(second).state == ToolEvent.STATE_SUCCEEDED


def test_queued_goal_is_sent_when_the_one_before_it_ends(node, serve):
    server = serve('queueing')
    first = drive(node, server, 'queueing')
    second = node.send('queueing', 'go_later', place='lab')
    node.spin_for(0.2)
    assert len(server.goals) == 1
    server.end(server.goals[0])
    node.spin(lambda: len(server.goals) == 2)
    assert node.settle(first).state == ToolEvent.STATE_SUCCEEDED
    server.end(server.goals[1])
    assert node.settle(second).state == ToolEvent.STATE_SUCCEEDED


def send_by_hand(node, robot):
    """Send a goal as an operator's console would."""
    client = ActionClient(node.peer, NavigateTo, f'{robot}/navigate_to')
    node.spin(client.server_is_ready)
    future = client.send_goal_async(NavigateTo.Goal(place='dock'))
    node.spin(future.done)
    return client


def test_operators_goal_takes_the_robot_over_until_it_is_rearmed(node, serve):
    server = serve('shared')
    call_id = drive(node, server, 'shared')
    client = send_by_hand(node, 'shared')
    event = node.settle(call_id, CANCEL_TIMEOUT_S)
    assert (event.state, event.error_code, event.cause) == (
        ToolEvent.STATE_CANCELED, ErrorCode.OPERATOR_TOOK_OVER, 'operator')
    assert server.goals[0].status == CANCELED
    assert server.goals[1].status != CANCELED
    server.end(server.goals[1])
    node.spin_for(0.3)
    refused = node.ask('shared', ('go_to', {'place': 'lab'})).tool_calls[0]
    assert refused.verdict == ToolCall.VERDICT_WOULD_SEND
    assert len(server.goals) == 2
    client.destroy()


def test_tool_that_ignores_other_drivers_goes_on(node, serve):
    server = serve('shared2')
    call_id = drive(node, server, 'shared2', 'go_anyway')
    client = send_by_hand(node, 'shared2')
    node.spin_for(0.3)
    busy = node.ask('shared2', ('go_to', {'place': 'lab'})).tool_calls[0]
    assert (busy.verdict, busy.error_code) == (
        ToolCall.VERDICT_REFUSED, ErrorCode.RESOURCE_BUSY)
    assert 'another client drives' in busy.violations[0]
    for goal in server.goals:
        server.end(goal)
    assert node.settle(call_id).state == ToolEvent.STATE_SUCCEEDED
    client.destroy()


def test_lock_in_the_middle_of_a_goal(node, serve):
    server = serve('locked')
    call_id = drive(node, server, 'locked')
    node.lock('locked')
    event = node.settle(call_id, CANCEL_TIMEOUT_S)
    assert (event.state, event.error_code, event.cause) == (
        ToolEvent.STATE_CANCELED, ErrorCode.LOCKED, 'lock')
    assert server.goals[0].status == CANCELED
    node.lock('locked', False)


def test_stop_word_reaches_the_server_as_a_cancel_within_50_ms(node, serve):
    server = serve('words')
    asked_s = []
    original = server._cancel
    server._server.register_cancel_callback(
        lambda handle: (asked_s.append(time.monotonic()), original(handle))[1])
    took_s, late_s = [], []
    while len(took_s) < 7:
        call_id = drive(node, server, 'words')
        node.say('words', '')
        node.spin_for(0.1)
        said_s = time.monotonic()
        node.say('words', 'Stop now!')
        assert node.settle(call_id, CANCEL_TIMEOUT_S).cause == 'operator'
        is_overloaded = os.getloadavg()[0] > 2 * os.cpu_count()
        is_late = asked_s[-1] - said_s > 0.05
        (late_s if is_late and is_overloaded else took_s).append(asked_s[-1] - said_s)
        assert len(late_s) <= 3, late_s
    if late_s:
        warnings.warn(f'set aside, the machine being overloaded: {late_s} s', stacklevel=1)
    assert max(took_s) <= 0.05, took_s


def listen(node, robot):
    """Return the list that the robot's wheels append to."""
    heard = []
    node.peer.create_subscription(TwistStamped, f'/{robot}/cmd_vel_llm', heard.append, 50)
    return heard


def test_stream_lasts_as_long_as_asked_and_ends_with_zeros(node):
    heard = listen(node, 'creeping')
    event = node.settle(node.send('creeping', 'creep', speed=0.2, seconds=0.5))
    assert event.state == ToolEvent.STATE_SUCCEEDED
    assert 0.45 < event.elapsed < 1.0
    node.spin_for(0.1)
    speeds = [message.twist.linear.x for message in heard]
    assert speeds[-3:] == [0.0, 0.0, 0.0]
    assert set(speeds[:-3]) == {0.2}
    assert 15 <= len(speeds) <= 32
    assert {message.header.frame_id for message in heard} == {'creeping/base_link'}
    stamps = [message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
              for message in heard]
    assert stamps == sorted(stamps) and stamps[-1] - stamps[0] > 4e8


def test_lock_in_the_middle_of_a_stream_zeroes_it_at_once(node):
    heard = listen(node, 'creeping2')
    call_id = node.send('creeping2', 'creep', speed=-0.1, seconds=10.0)
    node.spin(lambda: len(heard) > 5)
    node.lock('creeping2')
    event = node.settle(call_id, 0.5)
    assert (event.state, event.error_code) == (ToolEvent.STATE_CANCELED, ErrorCode.LOCKED)
    count = len(heard)
    assert [message.twist.linear.x for message in heard[-3:]] == [0.0, 0.0, 0.0]
    node.spin_for(0.2)
    assert len(heard) == count
    node.lock('creeping2', False)


def test_goal_takes_the_base_from_a_stream_only_after_its_zeros(node, serve):
    server = serve('creeping3')
    heard = listen(node, 'creeping3')
    call_id = node.send('creeping3', 'creep', speed=0.1, seconds=10.0)
    node.spin(lambda: heard)
    goal_id = drive(node, server, 'creeping3')
    event = node.settle(call_id)
    assert (event.state, event.cause) == (ToolEvent.STATE_CANCELED, 'preempted')
    assert heard[-1].twist.linear.x == 0.0
    server.end(server.goals[0])
    node.settle(goal_id)


def test_service_that_answers_and_one_that_does_not(node):
    services = [
        node.peer.create_service(Trigger, 'taring/tare', lambda request, response: (
            setattr(response, 'success', True), response)[1]),
        node.peer.create_service(Trigger, 'taring2/tare', lambda request, response: response)]
    assert node.settle(node.send('taring', 'tare')).state == ToolEvent.STATE_SUCCEEDED
    event = node.settle(node.send('taring2', 'tare'))
    assert (event.state, event.error_code) == (
        ToolEvent.STATE_ABORTED, ErrorCode.GOAL_ABORTED)
    for service in services:
        node.peer.destroy_service(service)


def test_killed_worker_cancels_the_goal_and_the_next_call_is_served(node, serve):
    server = serve('lost')
    call_id = drive(node, server, 'lost')
    num_infos = len(node.infos)
    os.kill(node.worker_pid(), signal.SIGKILL)
    event = node.settle(call_id, 1.0 + CANCEL_TIMEOUT_S)
    assert (event.state, event.cause) == (ToolEvent.STATE_CANCELED, 'engine_lost')
    assert server.goals[0].status == CANCELED
    node.spin(lambda: len(node.infos) > num_infos, 20.0)
    call = node.ask('lost', ('go_to', {'place': 'kitchen'})).tool_calls[0]
    assert call.verdict == call.VERDICT_WOULD_SEND
    for robot in ROBOTS:
        node.rearm(robot)
    call_id = drive(node, server, 'lost')
    server.end(server.goals[1])
    assert node.settle(call_id).state == ToolEvent.STATE_SUCCEEDED


def test_deactivate_in_the_middle_of_a_goal(node, serve):
    server = serve('leaving')
    call_id = drive(node, server, 'leaving')
    node.transition(Transition.TRANSITION_DEACTIVATE)
    event = node.settle(call_id, CANCEL_TIMEOUT_S)
    assert (event.state, event.cause) == (ToolEvent.STATE_CANCELED, 'shutdown')
    assert server.goals[0].status == CANCELED
    node.transition(Transition.TRANSITION_ACTIVATE)


@pytest.mark.parametrize('is_stream', [False, True])
def test_sigint_in_the_middle_of_a_goal_and_of_a_stream(tmp_path, is_stream):
    node = NodeProcess(tmp_path, tools=TOOLS, robots=['r1'], name='another_node')
    try:
        server = NavigateServer(node.peer, 'r1/navigate_to')
        heard = listen(node, 'r1')
        call_id = node.send('r1', 'creep', speed=0.2, seconds=9.0) if is_stream \
            else drive(node, server, 'r1')
        node.spin(lambda: heard or server.goals)
        node.process.send_signal(signal.SIGINT)
        event = node.settle(call_id, CANCEL_TIMEOUT_S + 1.0)
        assert (event.state, event.cause) == (ToolEvent.STATE_CANCELED, 'shutdown')
        node.spin(lambda: node.process.poll() is not None)
        assert node.process.returncode == 0
        if is_stream:
            assert [message.twist.linear.x for message in heard[-3:]] == [0.0, 0.0, 0.0]
        else:
            assert server.goals[0].status == CANCELED
    finally:
        node.close()


@pytest.mark.parametrize('policy', ['cancel', 'report'])
def test_goal_that_a_killed_node_left_behind_is_ended_by_its_next_life(tmp_path, policy):
    folders = [tmp_path / name for name in ('first', 'second')]
    for folder in folders:
        folder.mkdir()
    robot = f'left_to_{policy}'
    arguments = {'tools': TOOLS, 'robots': [robot], 'name': 'killed_node'}
    node = NodeProcess(folders[0], **arguments)
    server = NavigateServer(node.peer, f'{robot}/navigate_to')
    another = None
    try:
        drive(node, server, robot)
        os.killpg(node.process.pid, signal.SIGKILL)
        node.process.wait()
        client = send_by_hand(node, robot)
        left, by_hand = server.goals
        another = NodeProcess(folders[1], on_leftover_goals=policy, **arguments)
        if policy == 'cancel':
            node.spin(lambda: left.status == CANCELED)
        else:
            node.spin_for(1.5)
        log = another.log.read_text()
        assert log.count('one that this node sent before it was configured') == 1
        assert uuid_hex(left.goal_id) in log
        assert left.status == (CANCELED if policy == 'cancel' else ACCEPTED)
        assert by_hand.status == ACCEPTED
        client.destroy()
    finally:
        server.destroy()
        for each in filter(None, (another, node)):
            each.close()
