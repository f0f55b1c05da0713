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

"""Transitions: configure checks and never waits, the gate opens and closes, nothing is left."""

import subprocess
import sys
import time

from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import State
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import pytest
from rcl_interfaces.srv import DescribeParameters
from rclpy.parameter import Parameter
from ros_harness import calls
from rosgraph_msgs.msg import Clock

from gemma_node.core import ErrorCode
from gemma_node.msg import Decision
from gemma_node.msg import EngineStatus
from gemma_node.msg import RuntimeInfo
from gemma_node.msg import ToolCall
from gemma_node.msg import ToolCatalogue
from gemma_node.ros.main import readable_arguments
from gemma_node.ros.names import LATCHED
from gemma_node.srv import ResetSession
from gemma_node.srv import SetMode

ODOM = {'odom': {'type': 'nav_msgs/msg/Odometry'}}


def ask_service(world, kind, name, request):
    client = world.peer.create_client(kind, f'gemma_node/{name}')
    world.spin(client.service_is_ready)
    done = client.call_async(request)
    world.spin(done.done)
    return done.result()


def test_configure_and_activate_take_less_than_a_second_and_wait_for_no_load(make_world):
    world = make_world(active=False, loads=False)
    started_s = time.monotonic()
    assert world.configure()
    world.node.trigger_activate()
    assert time.monotonic() - started_s < 1.0
    assert world.state == State.PRIMARY_STATE_ACTIVE


@pytest.mark.parametrize(('parameters', 'sentence'), [
    ({'deadlin': 3.0}, "'deadlin'; did you mean 'deadline'"),
    ({'deadline': 'soon'}, "'deadline' must be a number"),
    ({'deadline': -1.0}, 'from 0 to 3600'),
    ({'device': 'tpu'}, "'auto', 'cpu', 'cuda', 'xpu'"),
    ({'robots': {'r1': {'observation': ODOM}}}, 'robots.r1.observations'),
    ({'robots': {'r1': {'observations': {'odom': {'type': 'nav_msgs/msg/Odometri'}}}}},
     'nav_msgs/msg/Odometri is not installed'),
    ({'robots': {'r1': {'observations': {'odom': {'type': 'Odometry'}}}}}, 'such as'),
    ({'robots': {'r1': {'tools': ['fly']}}}, "unknown tool 'fly'"),
    ({'tools_file': '/nowhere/tools.yaml'}, '/nowhere/tools.yaml'),
    ({'robots': {'a b': {'mode': 'auto'}}}, "'a b'"),
    ({'lock': '9 locks'}, "'lock' gives no ROS name"),
    ({'robots': {'r1': {'lock': 'a//b'}}}, "'robots.r1.lock' gives no ROS name"),
    ({'robots': {'r1': {'namespace': '9 r'}}}, "'robots.r1.lock' gives no ROS name"),
    ({'robots': {'r1': {'observations': {'odom': {**ODOM['odom'], 'topic': 'a b'}}}}},
     "'robots.r1.observations.odom.topic' gives no ROS name"),
    ({'robots': {'r1': {'namespace': '~/r'}, 'r2': {'namespace': 'gemma_node/r'}}},
     "'r1' and 'r2' share the namespace"),
    ({'robots': {'r1': {'observations': {'odom': {**ODOM['odom'], 'template': '{{ x.y'}}}}},
     'template line 1'),
    ({'robots': {'r1': {'observations': ODOM, 'trigger': {'low': {
        'kind': 'condition', 'text': 'Well?', 'input': 'odom', 'field': 'pose.x',
        'below': 0.2}}}}}, "reads 'pose.x' of the input 'odom'"),
])
def test_bad_parameters_refuse_configure_and_leave_the_node_up(
        make_world, capfd, parameters, sentence):
    world = make_world(active=False, **parameters)
    assert not world.configure()
    assert world.state == State.PRIMARY_STATE_UNCONFIGURED
    assert sentence in capfd.readouterr().err
    assert not world.workers
    world.spin_for(0.05)
    assert world.node.get_parameter('autostart').value is False


def test_tools_that_no_input_can_allow_are_warned_of(make_world, capfd):
    world = make_world(active=False, robots={'r1': {'observations': ODOM}})
    assert world.configure()
    assert "no input 'battery', so every call of its tool 'go_to'" in capfd.readouterr().err


def test_configure_succeeds_after_the_parameter_was_mended(make_world):
    world = make_world(active=False, device='tpu')
    assert not world.configure()
    world.node.set_parameters([Parameter('device', value='cpu')])
    assert world.configure()


def test_cycles_of_all_transitions_leave_a_node_that_serves(make_world):
    world = make_world(active=False)
    for _ in range(4):
        assert world.configure()
        world.node.trigger_activate()
        world.spin(lambda: world.request_publisher.get_subscription_count())
        assert world.decide().outcome == Decision.OUTCOME_REPLY
        world.ask()
        world.node.trigger_deactivate()
        world.node.trigger_cleanup()
        assert world.state == State.PRIMARY_STATE_UNCONFIGURED
        world.spin(lambda: not world.request_publisher.get_subscription_count())
    assert len(world.workers) == 4


def test_impossible_transition_is_answered_and_changes_nothing(make_world):
    world = make_world(active=False)
    answer = ask_service(world, ChangeState, 'change_state', ChangeState.Request(
        transition=Transition(id=Transition.TRANSITION_ACTIVATE)))
    assert not answer.success
    assert world.configure()


def test_parameters_are_described_and_what_cannot_change_is_read_only(world):
    answer = ask_service(world, DescribeParameters, 'describe_parameters',
                         DescribeParameters.Request(names=[
                             'device', 'deadline', 'robots.r1.mode', 'decoding.top_p']))
    device, deadline, mode, top_p = answer.descriptors
    assert device.read_only
    assert 'cuda' in device.additional_constraints
    assert not deadline.read_only
    assert mode.description
    assert top_p.floating_point_range[0].to_value == 1.0
    refused = world.node.set_parameters([Parameter('device', value='cuda')])[0]
    assert not refused.successful


def test_deadline_changes_live(world):
    assert world.node.set_parameters([Parameter('deadline', value=3.0)])[0].successful
    world.decide()
    assert world.worker.requests[0][0].timeout_s == 3.0


def test_late_listener_gets_info_catalogue_and_status(world):
    got = {}
    for kind, name in ((RuntimeInfo, 'info'), (ToolCatalogue, 'tools/r1'),
                       (EngineStatus, 'status')):
        world.peer.create_subscription(
            kind, f'gemma_node/{name}', lambda message, name=name: got.update({name: message}),
            LATCHED)
    world.spin(lambda: len(got) == 3)
    assert got['info'].model == 'scripted'
    assert len(got['info'].config_digest) == 64
    tools = {tool.name: tool for tool in got['tools/r1'].tools}
    assert not tools['go_to'].available
    assert 'navigate_to' in tools['go_to'].unavailable_reason
    assert tools['stop'].available
    assert got['status'].robots[0].robot == 'r1'


def test_diagnostics_tell_of_the_worker_and_stale_inputs_while_inactive(make_world):
    world = make_world(active=False, loads=False, status_period=0.1, robot={
        'observations': {'odom': {'type': 'nav_msgs/msg/Odometry', 'required': True},
                         'battery': {'type': 'sensor_msgs/msg/BatteryState'}}})
    arrays = []
    world.peer.create_subscription(DiagnosticArray, '/diagnostics', arrays.append, 10)
    assert world.configure()
    world.spin(lambda: arrays and any('loading' in item.message for item in arrays[-1].status))
    assert any('odom is missing' in item.message for item in arrays[-1].status)


def test_incompatible_qos_becomes_a_diagnostic(world):
    from nav_msgs.msg import Odometry
    inputs = world.node.runtime._robots['r1'].inputs._inputs
    reported = world.node.runtime.diagnostics._troubles
    latched = world.peer.create_publisher(Odometry, 'r1/odom', LATCHED)
    world.peer.destroy_publisher(world.odom_publisher)
    world.spin(lambda: inputs['odom']._active == 'latched', timeout_s=4.0)
    world.spin(lambda: latched.get_subscription_count() == 2)
    latched.publish(Odometry())
    world.spin(lambda: inputs['odom'].count == 1)
    world.odom_publisher = world.peer.create_publisher(Odometry, 'r1/odom', 10)
    world.spin(lambda: 'r1: odom' in reported)


def test_set_mode_lowers_a_robot_and_says_what_is_effective(world):
    world.serve()
    world.feed()
    world.worker.script = calls(('go_to', {'place': 'lab'}))
    answer = ask_service(world, SetMode, 'set_mode', SetMode.Request(robot='r1', mode=0))
    assert (answer.success, answer.effective_mode) == (True, Decision.MODE_SHADOW)
    assert world.decide().tool_calls[0].verdict == ToolCall.VERDICT_WOULD_SEND
    answer = ask_service(world, SetMode, 'set_mode', SetMode.Request(robot='r9', mode=0))
    assert answer.error_code == ErrorCode.UNKNOWN_ROBOT
    answer = ask_service(world, SetMode, 'set_mode', SetMode.Request(mode=9))
    assert answer.error_code == ErrorCode.INVALID_REQUEST


def test_reset_session_reaches_the_worker(world):
    answer = ask_service(world, ResetSession, 'reset_session',
                         ResetSession.Request(robot='r1', keep_turns=2))
    assert answer.success
    assert world.worker.resets == [('r1', '', 2)]
    answer = ask_service(world, ResetSession, 'reset_session', ResetSession.Request(robot='x'))
    assert answer.error_code == ErrorCode.UNKNOWN_ROBOT


def test_only_implemented_services_are_offered(world):
    names = {name.rsplit('/', 1)[1] for name, _ in world.peer.get_service_names_and_types_by_node(
        'gemma_node', f'/{world.namespace}')}
    assert {'reset_session', 'set_mode', 'approve', 'rearm', 'choose'} <= names
    assert not names & {'save_session', 'restore_session'}


def test_sim_time_before_the_clock_and_a_jump_back(make_world):
    world = make_world(use_sim_time=True)
    assert world.decide().error_code == ErrorCode.NOT_ACTIVE
    clock = world.peer.create_publisher(Clock, '/clock', 10)
    world.spin(lambda: clock.get_subscription_count())

    def tick(seconds):
        message = Clock()
        message.clock.sec = seconds
        clock.publish(message)
        world.spin(lambda: world.node.get_clock().now().nanoseconds == seconds * 10**9)

    tick(100)
    assert world.decide().outcome == Decision.OUTCOME_REPLY
    world.feed()
    assert world.decide().inputs[1].state == 0
    tick(50)
    world.spin_for(0.05)
    assert world.worker.resets == [('', '', 0)]
    assert world.decide().inputs[1].state == 2


def test_silent_lock_topic_with_a_timeout_is_a_lock(make_world):
    from std_msgs.msg import Bool
    world = make_world(robot={'lock_timeout': 0.3})
    assert world.decide().error_code == ErrorCode.LOCKED
    world.spin(lambda: world.lock_publisher.get_subscription_count())
    world.lock_publisher.publish(Bool(data=False))
    world.spin_for(0.05)
    assert world.decide().outcome == Decision.OUTCOME_REPLY
    world.spin_for(0.3)
    assert world.decide().error_code == ErrorCode.LOCKED


def test_callback_that_raises_is_counted_and_the_node_goes_on(world, monkeypatch):
    flow = world.node.runtime.flow
    monkeypatch.setattr(flow, 'accept', lambda request: 1 / 0)
    world.ask()
    world.spin(lambda: world.node._guard.errors == 1)
    monkeypatch.undo()
    assert world.decide().outcome == Decision.OUTCOME_REPLY


def test_broken_parameter_files_are_left_out_with_a_sentence(tmp_path):
    good, twice, broken = (tmp_path / name for name in ('good.yaml', 'twice.yaml', 'broken.yaml'))
    good.write_text('n: {ros__parameters: {deadline: 1.0}}\n')
    twice.write_text('a: 1\na: 2\n')
    broken.write_text('a: [1\n')
    arguments = ['--ros-args', '--params-file', str(good), '-p', 'x:=1']
    assert readable_arguments(arguments) == (arguments, '')
    for path in (twice, broken, tmp_path / 'absent.yaml'):
        kept, problem = readable_arguments(['--ros-args', '--params-file', str(path)])
        assert kept == ['--ros-args']
        assert path.name in problem


@pytest.mark.parametrize('text', ['- 1\n- 2\n', 'n: {ros__parameters: {a: [x, 1]}}\n',
                                  'n: {deadline: 1.0}\n'])
def test_parameter_files_that_only_ros_refuses_end_in_a_refused_configure(tmp_path, text):
    (tmp_path / 'odd.yaml').write_text(text)
    code = ('import sys, rclpy; from gemma_node.ros.main import start_ros;'
            'print(start_ros(sys.argv), rclpy.ok())')
    done = subprocess.run(
        [sys.executable, '-c', code, '--ros-args', '--params-file', str(tmp_path / 'odd.yaml')],
        timeout=60, check=True, capture_output=True, text=True)
    assert 'odd.yaml' in done.stdout
    assert '.c:' not in done.stdout
    assert done.stdout.endswith('True\n')


def test_node_process_never_imports_the_engines_libraries():
    code = ('import gemma_node.ros.main, gemma_node.cli, sys;'
            "bad = {'torch', 'tokenizers', 'llguidance', 'transformers', 'jinja2'};"
            'sys.exit(sorted(bad & set(sys.modules)) or 0)')
    assert subprocess.run([sys.executable, '-c', code], timeout=60, check=False).returncode == 0
