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

"""`gemma-node schema`: JSON on stdout, from what is installed, a folder or a recording."""

import json

from jsonschema import Draft202012Validator
import pytest
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer
from rosbags.typesys import get_types_from_msg
from rosbags.typesys import get_typestore
from rosbags.typesys import Stores

from gemma_node.cli import main
from gemma_node.ros_env import share_folder

pytest.importorskip('rosidl_adapter', reason='rosidl_adapter is not installed')

ACTION = """\
uint8 SIDE_LEFT=0
uint8 SIDE_RIGHT=1
uint8 side
float64 speed  # How fast [m/s]
string note
---
bool done
---
"""


def run(capsys, *words):
    """Return exit code, stdout and stderr of the verb."""
    try:
        code = main(('schema', *map(str, words)))
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def schema(capsys, *words):
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, '')
    found = json.loads(out)
    Draft202012Validator.check_schema(found)
    assert found['$schema'] == 'https://json-schema.org/draft/2020-12/schema'
    return found


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / 'leg_msgs'
    (folder / 'action').mkdir(parents=True)
    (folder / 'package.xml').write_text('<package/>')
    (folder / 'action' / 'Step.action').write_text(ACTION)
    return folder


def test_interface_is_printed_indented_or_in_one_line(capsys, package):
    code, out, _ = run(capsys, 'leg_msgs/action/Step', '--from', package)
    assert code == 0 and len(out.splitlines()) > 10
    code, line, _ = run(capsys, 'leg_msgs/action/Step', '--from', package, '--json')
    assert code == 0 and len(line.splitlines()) == 1
    found = json.loads(out)
    assert json.loads(line) == found == schema(
        capsys, 'leg_msgs/action/Step', '--from', package, '--part', 'goal')
    assert found['title'] == 'leg_msgs/action/Step'
    assert found['properties']['side'] == {'type': 'string', 'enum': ['SIDE_LEFT', 'SIDE_RIGHT']}
    result = schema(capsys, 'leg_msgs/action/Step', '--from', package, '--part', 'result')
    assert list(result['properties']) == ['done']


def test_overlay_shows_what_the_model_sees(capsys, package, tmp_path):
    overlay = tmp_path / 'overlay.yaml'
    overlay.write_text('speed: {unit: cm/s, gain: 0.01, minimum: 1, maximum: 50}\n'
                       'side: {alias: leg}\nnote: {const: by the model}\n')
    found = schema(capsys, 'leg_msgs/action/Step', '--from', package, '--overlay', overlay)
    assert found['required'] == ['speed', 'leg']
    assert found['properties']['speed'] == {
        'type': 'number', 'minimum': 1, 'maximum': 50,
        'description': 'How fast (cm/s, 1 to 50)'}


def test_overlay_may_be_a_tools_file(capsys):
    words = ('gemma_node/action/NavigateTo', '--overlay', share_folder() / 'config/tools.yaml')
    found = schema(capsys, *words, '--tool', 'drive_to')
    assert list(found['properties']) == ['x', 'y', 'heading', 'speed']
    for rest, fragment in (((), '2 tools of gemma_node/action/NavigateTo: go_to, drive_to'),
                           (('--tool', 'fly'), 'there is no tool fly')):
        code, out, err = run(capsys, *words, *rest)
        assert (code, out) == (2, '') and fragment in err


@pytest.fixture(params=[StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def recording(request, tmp_path):
    store = get_typestore(Stores.ROS2_JAZZY)
    text = 'std_msgs/Header header\nfloat32 angle\n'
    store.register(get_types_from_msg(text, 'leg_msgs/msg/Knee'))
    knee = store.types['leg_msgs/msg/Knee'](
        header=store.types['std_msgs/msg/Header'](
            stamp=store.types['builtin_interfaces/msg/Time'](sec=1, nanosec=0), frame_id='leg'),
        angle=0.5)
    folder = tmp_path / 'bag'
    with Writer(folder, version=9, storage_plugin=request.param) as writer:
        connection = writer.add_connection('/knee', 'leg_msgs/msg/Knee', typestore=store)
        writer.write(connection, 1, store.serialize_cdr(knee, 'leg_msgs/msg/Knee'))
    return folder


def test_recording_brings_its_own_definitions(capsys, recording):
    found = schema(capsys, 'leg_msgs/msg/Knee', '--from', recording)
    assert list(found['properties']) == ['header', 'angle']
    assert found['properties']['header']['properties']['stamp']['type'] == 'number'
    code, _, err = run(capsys, 'sensor_msgs/msg/Image', '--from', recording)
    assert code == 2 and 'does not define sensor_msgs/msg/Image; it defines:' in err


@pytest.mark.parametrize(('words', 'fragment'), [
    (('nav2_msgs/action/Fly',), 'install the ROS package nav2_msgs'),
    (('std_msgs/msg/Strin',), 'choices are: String'), (('String',), 'is no interface type'),
    (('std_msgs/msg/String', '--part', 'goal'), 'has no goal'),
    (('std_msgs/msg/String', '--from', '/nowhere'), 'there is no folder'),
    (('std_msgs/msg/String', '--overlay', '/nowhere.yaml'), 'cannot be read'),
    (('std_msgs/msg/String', '--tool', 'x'), '--tool needs --overlay'),
])
def test_mistake_is_one_sentence(capsys, words, fragment):
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, '')
    assert len(err.splitlines()) == 1 and fragment in err
