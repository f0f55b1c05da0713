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

"""`gemma-node tools`: what check shows of a file, and what init drafts from a live graph."""

import json
from pathlib import Path
import subprocess
import sys

import pytest

from gemma_node.cli import main
from gemma_node.cli_tools import check_tools
from gemma_node.cli_tools import EMBEDDED_CHECKPOINT
from gemma_node.decision.prompt import PromptWriter
from gemma_node.tools.catalogue import load_catalogue

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / 'config' / 'tools_example.yaml'
INTERFACES = ROOT / 'tests' / 'data' / 'interfaces'

pytest.importorskip('rosidl_adapter', reason='rosidl_adapter is not installed')


def test_check_shows_prompt_grammar_cost_and_a_goal_of_each_tool(capsys):
    assert main(['tools', 'check', str(EXAMPLE), '--from', str(INTERFACES), '--json']) == 0
    report = json.loads(capsys.readouterr().out)
    assert report['problems'] == report['warnings'] == []
    assert '<|tool>declaration:go_to{' in report['prompt']
    assert '"call:nudge"' in report['grammar'] and len(report['grammar_digest']) == 64
    tools = {tool['name']: tool for tool in report['tools']}
    assert sum(tool['tokens'] for tool in tools.values()) < report['prompt_tokens']
    assert min(tool['tokens'] for tool in tools.values()) > 10
    assert tools['go_to']['sample'] == {'place': 'kitchen'}
    assert tools['go_to']['goal']['pose']['header'] == {'stamp': 'now', 'frame_id': 'robot/map'}
    assert tools['nudge']['goal']['twist']['linear'] == {'x': 0.15}
    assert not any(tool['goal_problem'] for tool in tools.values())


def test_cost_of_a_tool_is_what_the_prompt_grows_by_and_its_price_does_not_depend_on_others(
        tmp_path, monkeypatch):
    tools = [f'  tool_{i}: {{service: std_srvs/srv/SetBool, name: a{i}, description: "Does {i}."}}'
             for i in range(30)]
    rendered = []
    original = PromptWriter.prefix
    monkeypatch.setattr(PromptWriter, 'prefix', lambda self, robot: (
        rendered.append(len(robot.tools)), original(self, robot))[1])

    def check(lines):
        file = tmp_path / 'tools.yaml'
        file.write_text('\n'.join(['version: 1', 'tools:', *lines]))
        return check_tools(file, model=EMBEDDED_CHECKPOINT)

    whole = check(tools)
    assert sum(rendered) < 6 * len(whole['tools'])
    for index in (0, 17, 29):
        without = check(tools[:index] + tools[index + 1:])
        assert (whole['prompt_tokens'] - without['prompt_tokens']
                == whole['tools'][index]['tokens'] > 10)


def test_check_reads_as_a_page_for_a_person(capsys):
    assert main(['tools', 'check']) == 0
    text = capsys.readouterr().out
    assert 'tokens before the first request' in text
    assert 'start: T0 | T0? ' in text
    assert '  action gemma_node/action/NavigateTo at navigate_to: {"place": "dock"}\n' in text
    assert text.rstrip().endswith('9 tools can be used, 0 problems')


def test_check_says_which_interfaces_are_missing_and_goes_on_with_the_rest(capsys):
    assert main(['tools', 'check', str(EXAMPLE), '--json']) == 1
    report = json.loads(capsys.readouterr().out)
    text = '\n'.join(report['problems'])
    for package in ('nav2_msgs', 'control_msgs'):
        assert f'install the ROS package {package}' in text
    assert f'{EXAMPLE}:' in text
    assert {'clear_costmap', 'nudge'} <= {tool['name'] for tool in report['tools']}
    assert 'go_to' not in {tool['name'] for tool in report['tools']}


def test_check_names_every_broken_tool_of_a_file(capsys, tmp_path):
    file = tmp_path / 'tools.yaml'
    file.write_text(
        'version: 1\ntools:\n  a: {service: std_srvs/srv/Trigger, name: a, description: A.}\n'
        '  b: {service: std_srvs/srv/Trigger, name: b}\n'
        '  c: {service: std_srvs/srv/Trigger, name: c, description: C., arguments: {x: {}}}\n')
    assert main(['tools', 'check', str(file), '--json']) == 1
    report = json.loads(capsys.readouterr().out)
    assert [problem.split(': ', 1)[0] for problem in report['problems']] == [
        f'{file}:4', f'{file}:5']
    assert report['tools'][0]['name'] == 'a'


@pytest.mark.parametrize(('text', 'sentence'), [
    ('version: 1\ntools: {}\nversion: 1\n', ':3: duplicate key'),
    ('version: 1\n', 'the key tools is missing')])
def test_check_of_a_file_that_cannot_be_read_is_a_mistake(capsys, tmp_path, text, sentence):
    (tmp_path / 'tools.yaml').write_text(text)
    assert main(['tools', 'check', str(tmp_path / 'tools.yaml')]) == 2
    assert sentence in capsys.readouterr().err


def test_check_counts_a_tool_whose_sample_no_server_would_get_as_a_problem(capsys, tmp_path):
    file = tmp_path / 'tools.yaml'
    file.write_text(
        'version: 1\ntools:\n'
        '  gap: {topic: test_msgs/msg/Arrays, name: a, description: A., arguments: '
        '{"bool_values[1]": {alias: b}}}\n'
        '  long: {topic: std_msgs/msg/String, name: b, description: B., arguments: '
        '{data: {min_length: 1048576}}}\n'
        '  fine: {topic: std_msgs/msg/String, name: b, description: B., arguments: {data: {}}}\n')
    assert main(['tools', 'check', str(file)]) == 1
    text = capsys.readouterr().out
    assert 'problem: gap: this sample cannot be sent: gap: the items [1] leave a gap' in text
    assert 'problem: long: this sample cannot be sent: no sample fits' in text
    assert text.rstrip().endswith('4 tools can be used, 2 problems')


def test_init_refuses_to_replace_a_file(capsys, tmp_path):
    (tmp_path / 'mine.yaml').write_text('mine')
    assert main(['tools', 'init', '--robot', 'r1', '--out', str(tmp_path / 'mine.yaml')]) == 2
    assert 'exists' in capsys.readouterr().err
    assert (tmp_path / 'mine.yaml').read_text() == 'mine'


SERVERS = """
from gemma_node.ros_env import prepare_ros
prepare_ros()
import rclpy
from rclpy.action import ActionServer
from rclpy.node import Node
from geometry_msgs.msg import TwistStamped
from std_srvs.srv import Trigger
from gemma_node.action import Dock
rclpy.init()
node = Node('robot', namespace='/drafted')
server = ActionServer(node, Dock, 'dock', lambda goal: Dock.Result())
node.create_service(Trigger, 'arm/tare', lambda request, response: response)
node.create_subscription(TwistStamped, 'cmd_vel_llm', lambda message: None, 1)
print('up', flush=True)
rclpy.spin(node)
"""


@pytest.fixture
def robot():
    process = subprocess.Popen([sys.executable, '-c', SERVERS], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    assert process.stdout.readline() == b'up\n'
    yield process
    process.kill()
    process.wait()


def test_init_drafts_what_a_live_robot_offers(capsys, tmp_path, robot):
    pytest.importorskip('rclpy')
    file = tmp_path / 'drafted.yaml'
    assert main(['tools', 'init', '--robot', 'drafted', '--timeout', '10', '--out',
                 str(file)]) == 0
    tools = load_catalogue(file).by_name
    assert {name: (tool.interface_type, tool.interface_name) for name, tool in tools.items()
            if not tool.is_builtin} == {
        'dock': ('gemma_node/action/Dock', 'dock'),
        'arm_tare': ('std_srvs/srv/Trigger', 'arm/tare'),
        'cmd_vel_llm': ('geometry_msgs/msg/TwistStamped', 'cmd_vel_llm')}
    assert main(['tools', 'check', str(file)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ['drafted.yaml']


def test_init_of_a_robot_that_is_not_there_says_so_and_writes_nothing(capsys, tmp_path):
    pytest.importorskip('rclpy')
    file = tmp_path / 'none.yaml'
    assert main(['tools', 'init', '--robot', 'nobody', '--timeout', '0.3', '--out',
                 str(file)]) == 2
    assert 'below /nobody/ within 0.3 s' in capsys.readouterr().err
    assert not file.exists()
