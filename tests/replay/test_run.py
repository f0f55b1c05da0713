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

"""A replay asks what the node would have asked, and writes the same bytes every time."""

import json
from pathlib import Path
import re
import uuid

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin
from rosbags.typesys import get_types_from_msg
from rosbags.typesys import get_typestore
from rosbags.typesys import Stores

from gemma_node.core import ErrorCode
from gemma_node.core import InputState
from gemma_node.core import Priority
from gemma_node.core import ToolChoice
from gemma_node.errors import BagError
from gemma_node.errors import ConfigError
from gemma_node.errors import RequestError
from gemma_node.replay.bag import BagTopic
from gemma_node.replay.plan import default_parameters
from gemma_node.replay.plan import DEFAULT_QUESTION
from gemma_node.replay.run import replay
from gemma_node.worker.client import FailedEvent
from gemma_node.worker.client import RestartedEvent
from tests.fixtures.bags import battery
from tests.fixtures.bags import CUSTOM
from tests.fixtures.bags import JAZZY
from tests.fixtures.bags import NS
from tests.fixtures.bags import START
from tests.fixtures.bags import text
from tests.fixtures.bags import write_bag

MESSAGES = [('/battery', float(i), battery(0.5 - 0.04 * i)) for i in range(12)]
LOW = '{kind: condition, input: battery, field: percentage, below: 0.3, text: Battery is low.}'
CONFIG = """
gemma_node:
  ros__parameters:
    robots: [r1]
    robots.r1:
      observations: [battery, notes]
      observations.battery: {type: sensor_msgs/msg/BatteryState, max_age: 2.0}
      observations.notes: {topic: /notes, type: std_msgs/msg/String}
      trigger: [low, tick]
      trigger.low:
        {kind: condition, input: battery, field: percentage, below: 0.3, text: Battery is low.}
      trigger.tick: {kind: period, period: 4.0, text: What now?}
"""


@pytest.fixture
def out(tmp_path):
    return tmp_path / 'out.jsonl'


def lines_of(path):
    header, *decisions = (json.loads(line) for line in path.read_text().splitlines())
    return header, decisions


def write_config(tmp_path, content=CONFIG):
    path = tmp_path / 'params.yaml'
    path.write_text(content)
    return path


def seconds(decisions):
    return [(d['time_ns'] - START) / NS for d in decisions]


@pytest.mark.parametrize('storage', [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_without_config_one_question_is_asked_for_every_five_seconds_begun(
    tmp_path, out, workers, storage
):
    summary = replay(write_bag(tmp_path / 'bag', MESSAGES, storage), out, make_worker=workers)
    header, decisions = lines_of(out)
    assert seconds(decisions) == [5.0, 10.0, 11.0]
    assert {d['question'] for d in decisions} == {DEFAULT_QUESTION}
    assert summary.decisions == 3 and summary.outcomes == {'REPLY': 1, 'REFUSED': 2}
    assert header['messages'] == 12
    assert header['topics'] == [
        {'name': '/battery', 'type': 'sensor_msgs/msg/BatteryState', 'messages': 12}
    ]


def test_each_question_sees_the_inputs_of_its_own_time(tmp_path, out, workers):
    replay(write_bag(tmp_path / 'bag', MESSAGES), out, make_worker=workers)
    _, decisions = lines_of(out)
    shown = [d['inputs'][0]['text'] for d in decisions]
    assert shown == [
        '- battery (0.0 s ago): charge 30 %, voltage 12.0 V, discharging',
        '- battery (0.0 s ago): charge 10 %, voltage 12.0 V, discharging',
        '- battery (0.0 s ago): charge 6 %, voltage 12.0 V, discharging',
    ]
    assert [d['outcome'] for d in decisions] == ['REPLY', 'REFUSED', 'REFUSED']


def test_two_runs_are_equal_byte_for_byte(tmp_path, workers):
    bag = write_bag(tmp_path / 'bag', MESSAGES)
    outs = [tmp_path / 'a.jsonl', tmp_path / 'b.jsonl']
    for path in outs:
        replay(bag, path, make_worker=workers)
    assert outs[0].read_bytes() == outs[1].read_bytes()


def test_lines_hold_no_durations_no_host_and_no_numbers_json_lacks(tmp_path, out, workers):
    replay(write_bag(tmp_path / 'bag', MESSAGES), out, make_worker=workers)
    raw = out.read_text()
    assert not re.search(r'NaN|Infinity|some cpu|0\.123', raw)
    assert str(tmp_path) not in raw
    keys = [list(json.loads(line)) for line in raw.splitlines()[1:]]
    assert all(key == keys[0] for key in keys)


def test_ids_come_from_the_bags_content_robot_and_index(tmp_path, out, workers):
    replay(write_bag(tmp_path / 'bag', MESSAGES), out, make_worker=workers)
    header, decisions = lines_of(out)
    namespace = uuid.UUID(hex=header['bag_digest'][:32])
    expected = [uuid.uuid5(namespace, f'robot/{i}').hex for i in range(3)]
    assert [d['id'] for d in decisions] == expected


def test_config_fires_the_nodes_triggers_at_bag_time(tmp_path, out, workers):
    messages = [(f'/r1{topic}', when, message) for topic, when, message in MESSAGES]
    replay(
        write_bag(tmp_path / 'bag', messages),
        out,
        config=write_config(tmp_path),
        make_worker=workers,
    )
    _, decisions = lines_of(out)
    fired = [(d['trigger_source'], d['trigger']) for d in decisions]
    assert list(zip(seconds(decisions), fired, strict=True)) == [
        (4.0, ('r1.trigger.tick', 'TIMER')),
        (6.0, ('r1.trigger.low', 'OBSERVATION')),
        (8.0, ('r1.trigger.tick', 'TIMER')),
    ]
    notes = [d['inputs'][1] for d in decisions]
    assert {n['state'] for n in notes} == {'MISSING'}
    assert notes[0]['age_s'] is None and notes[0]['max_age_s'] is None


def test_config_marks_stale_inputs_by_its_limit(tmp_path, out, workers):
    messages = [('/r1/battery', 0.0, battery(0.5)), ('/other', 4.5, text('x'))]
    replay(
        write_bag(tmp_path / 'bag', messages),
        out,
        config=write_config(tmp_path),
        make_worker=workers,
    )
    ((_, observations),) = workers.asked
    assert observations[0].state is InputState.STALE
    assert observations[0].age_s == 4.0


def test_commands_of_the_recording_are_asked_as_they_were_spoken(tmp_path, out, workers):
    messages = [
        ('/r1/battery', 0.0, battery(0.5)),
        ('/r1/gemma/command', 1.0, text('go to the kitchen')),
        ('/r1/battery', 2.0, battery(0.5)),
    ]
    config = write_config(tmp_path)
    replay(write_bag(tmp_path / 'bag', messages), out, config=config, make_worker=workers)
    _, (decision,) = lines_of(out)
    assert decision['question'] == 'go to the kitchen'
    assert (decision['trigger'], decision['trigger_source']) == ('REQUEST', '/r1/gemma/command')
    assert decision['time_ns'] == START + NS


def test_a_required_input_that_is_missing_refuses_without_asking_the_model(tmp_path, out, workers):
    content = CONFIG.replace('topic: /notes,', 'topic: /notes, required: true,')
    messages = [('/r1/battery', float(i), battery(0.9)) for i in range(6)]
    replay(
        write_bag(tmp_path / 'bag', messages),
        out,
        config=write_config(tmp_path, content),
        make_worker=workers,
    )
    _, (decision,) = lines_of(out)
    assert (decision['outcome'], decision['error_code']) == ('REFUSED', 'MISSING_INPUT')
    assert 'notes' in decision['error_msg']
    assert workers.asked == []


def test_the_policy_judges_each_call_and_sends_nothing(tmp_path, out, workers):
    replay(write_bag(tmp_path / 'bag', MESSAGES), out, make_worker=workers)
    _, decisions = lines_of(out)
    (call,) = decisions[1]['calls']
    assert call['name'] == 'dock'
    assert (call['verdict'], call['error_code']) == ('REFUSED', 'MISSING_INPUT')
    assert 'odom' in call['violations'][0]


def test_locks_of_the_recording_refuse_until_they_open(tmp_path, out, workers):
    flag = JAZZY.types['std_msgs/msg/Bool']
    messages = [('/r1/battery', float(i), battery(0.9)) for i in range(10)]
    messages += [('/gemma_node/lock', 1.0, flag(data=True)), ('/r1/gemma/lock', 1.0, flag(True))]
    messages += [('/gemma_node/lock', 5.0, flag(data=False)), ('/r1/gemma/lock', 7.0, flag(False))]
    messages.sort(key=lambda item: item[1])
    bag = write_bag(tmp_path / 'bag', messages)
    replay(bag, out, config=write_config(tmp_path), make_worker=workers)
    _, decisions = lines_of(out)
    assert [(d['outcome'], d['error_code']) for d in decisions] == [
        ('REFUSED', 'LOCKED'),
        ('REPLY', 'NONE'),
    ]


def test_a_stop_word_stops_without_the_model(tmp_path, out, workers):
    content = CONFIG.replace('observations: [', 'stop_words: [halt]\n      observations: [')
    messages = [('/r1/battery', 0.0, battery(0.9)), ('/r1/gemma/command', 1.0, text('Halt!'))]
    replay(
        write_bag(tmp_path / 'bag', messages),
        out,
        config=write_config(tmp_path, content),
        make_worker=workers,
    )
    _, (decision,) = lines_of(out)
    assert [call['name'] for call in decision['calls']] == ['stop']
    assert decision['outcome'] == 'TOOL_CALL' and workers.asked == []


def test_the_next_question_carries_what_became_of_the_calls(tmp_path, out, workers):
    messages = [('/r1/battery', float(i), battery(0.1)) for i in range(10)]
    config = write_config(
        tmp_path,
        CONFIG.replace('trigger: [low, tick]', 'trigger: [tick]')
        .replace('trigger.low:', '')
        .replace(LOW, ''),
    )
    replay(write_bag(tmp_path / 'bag', messages), out, config=config, make_worker=workers)
    (first, _), (second, _) = workers.asked
    assert first.tool_results == ()
    (result,) = second.tool_results
    assert (result.call_id, result.name) == (first.id, 'dock')
    assert result.text.startswith('refused: ') and 'odom' in result.text


def test_without_config_each_question_stands_alone(tmp_path, out, workers):
    replay(write_bag(tmp_path / 'bag', MESSAGES), out, make_worker=workers)
    assert {request.tool_results for request, _ in workers.asked} == {()}
    assert workers.made[0].settings.robots[0].history_turns == 0


def test_recorded_requests_keep_their_options(tmp_path, out, workers):
    text_of_type = (Path(__file__).parents[2] / 'msg' / 'DecisionRequest.msg').read_text()
    store = get_typestore(Stores.ROS2_JAZZY)
    store.register(get_types_from_msg('uint8[16] uuid', 'unique_identifier_msgs/msg/UUID'))
    store.register(get_types_from_msg(text_of_type, 'gemma_node/msg/DecisionRequest'))
    types = store.types
    time = types['builtin_interfaces/msg/Time'](sec=0, nanosec=0)
    common = {
        'header': types['std_msgs/msg/Header'](stamp=time, frame_id=''),
        'id': types['unique_identifier_msgs/msg/UUID'](uuid=np.zeros(16, dtype=np.uint8)),
        'session': 'night',
        'tool_choice': 2,
        'allowed_tools': ['dock'],
        'timeout': types['builtin_interfaces/msg/Duration'](sec=0, nanosec=0),
        'priority': 9,
        'keep': False,
    }
    request = types['gemma_node/msg/DecisionRequest']
    messages = [
        ('/r1/battery', 0.0, battery(0.9)),
        ('/gemma_node/request', 1.0, request(robot='', text='hello', **common)),
        ('/gemma_node/request', 2.0, request(robot='r9', text='hello', **common)),
        ('/gemma_node/request', 3.0, request(robot='r1', text='  ', **common)),
    ]
    replay(
        write_bag(tmp_path / 'bag', messages, store=store),
        out,
        config=write_config(tmp_path),
        make_worker=workers,
    )
    ((asked, _),) = workers.asked
    assert (asked.robot, asked.session, asked.keep) == ('r1', 'night', False)
    assert (asked.tool_choice, asked.priority) == (ToolChoice.NONE, Priority.NORMAL)
    assert asked.allowed_tools == ('dock',)
    _, decisions = lines_of(out)
    assert [d['error_code'] for d in decisions] == ['NONE', 'UNKNOWN_ROBOT', 'INVALID_REQUEST']


def test_the_worker_is_told_the_models_tools_and_is_stopped_at_the_end(tmp_path, out, workers):
    replay(write_bag(tmp_path / 'bag', MESSAGES), out, make_worker=workers)
    (worker,) = workers.made
    assert worker.is_stopped
    (robot,) = worker.settings.robots
    assert {'go_to', 'dock', 'no_action'} <= {tool.name for tool in robot.tools}


@pytest.mark.parametrize(
    'event',
    [
        FailedEvent(ErrorCode.RUNTIME_FAILURE, 'the checkpoint is damaged'),
        RestartedEvent('it was killed'),
    ],
)
def test_a_worker_that_fails_leaves_no_output(tmp_path, out, workers, event):
    workers.events = [event]
    with pytest.raises(RequestError, match=r'the checkpoint is damaged|it was killed'):
        replay(write_bag(tmp_path / 'bag', MESSAGES), out, make_worker=workers)
    assert [path.name for path in tmp_path.iterdir()] == ['bag']
    assert workers.made[0].is_stopped


def test_a_failing_replay_keeps_the_old_output(tmp_path, out, workers):
    out.write_text('before')
    workers.events = [RestartedEvent('it was killed')]
    with pytest.raises(RequestError):
        replay(write_bag(tmp_path / 'bag', MESSAGES), out, make_worker=workers)
    assert out.read_text() == 'before'


def test_a_damaged_bag_starts_no_worker(tmp_path, out, workers):
    path = write_bag(tmp_path / 'bag', MESSAGES)
    (path / 'metadata.yaml').unlink()
    with pytest.raises(BagError):
        replay(path, out, make_worker=workers)
    assert workers.made == [] and not out.exists()


@pytest.mark.parametrize(
    ('content', 'expected'),
    [
        (None, 'cannot be read'),
        ('gemma_node: {ros__parameters: {robts: [r1]}}', "unknown parameter 'robts'"),
        ('a: [', 'malformed YAML'),
        ('other: 1', 'holds no parameters of this node'),
        (
            CONFIG.replace('/notes', '/x')
            .replace('[battery, notes]', '[notes]')
            .replace('trigger: [low, tick]', 'trigger: [tick]')
            .replace(
                'observations.battery: {type: sensor_msgs/msg/BatteryState, max_age: 2.0}', ''
            )
            .replace('trigger.low:', '')
            .replace(
                '{kind: condition, input: battery, field: percentage, below: 0.3, '
                'text: Battery is low.}',
                '',
            ),
            'holds none of the inputs',
        ),
        (
            CONFIG.replace(
                'type: std_msgs/msg/String}', 'type: std_msgs/msg/String, template: "{% if %}"}'
            ),
            'template line 1',
        ),
    ],
)
def test_a_parameter_file_that_does_not_fit_is_refused(tmp_path, out, workers, content, expected):
    path = tmp_path / 'params.yaml'
    if content is not None:
        path.write_text(content)
    bag = write_bag(tmp_path / 'bag', [('/r1/battery', 0.0, battery(0.5))])
    with pytest.raises(ConfigError, match=expected):
        replay(bag, out, config=path, make_worker=workers)
    assert workers.made == [] and not out.exists()


def test_an_output_that_cannot_be_written_is_said_before_anything_is_asked(tmp_path, workers):
    bag = write_bag(tmp_path / 'bag', MESSAGES)
    with pytest.raises(ConfigError, match='cannot write'):
        replay(bag, tmp_path / 'absent' / 'out.jsonl', make_worker=workers)
    assert workers.made == []


def test_standard_topics_are_inputs_plumbing_and_own_types_are_not():
    topics = (
        BagTopic(name='/rosout', type='rcl_interfaces/msg/Log', count=1),
        BagTopic(name='/tf', type='tf2_msgs/msg/TFMessage', count=1),
        BagTopic(name='/a/pose', type='geometry_msgs/msg/Pose', count=1),
        BagTopic(name='/b/pose', type='geometry_msgs/msg/Pose', count=0),
        BagTopic(name='/base/odometry', type='nav_msgs/msg/Odometry', count=1),
        BagTopic(name='/x', type='my_msgs/msg/Load', count=1),
    )
    parameters = default_parameters(topics)
    assert parameters['robots.robot.observations'] == ['a_pose', 'b_pose', 'odom']
    assert parameters['robots.robot.observations.odom.topic'] == '/base/odometry'


def test_a_bag_of_own_types_only_is_shown_the_generic_way(tmp_path, out, workers):
    load = CUSTOM.types['my_msgs/msg/Load'](load=1.5, label='crate')
    replay(
        write_bag(tmp_path / 'bag', [('/1load', 0.0, load), ('/1load', 1.0, load)], store=CUSTOM),
        out,
        make_worker=workers,
    )
    _, (decision,) = lines_of(out)
    assert decision['inputs'][0]['text'] == (
        '- topic_1load (0.0 s ago): load: 1.5, label: "crate"'
    )
