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
Real recordings (skipped where ../shared is absent), with a scripted and with the real worker.

The two long ones are robotloc_test1_ros1 (395 s) and inorbit_tb3_ros1 (111 s).
"""

from functools import cache
import json

import pytest

from gemma_node.cli import EMBEDDED_CHECKPOINT
from gemma_node.cli import main
from gemma_node.replay.run import replay
from tests.fixtures.bags import recording

DECISIONS = {
    'inorbit_tb3_ros1': 23,
    'robotloc_test1_ros1': 80,
    'abitobot_rover': 20,
    'crazyflie_flybag': 2,
    'r2_talker_mcap': 1,
}


@pytest.fixture
def out(tmp_path):
    return tmp_path / 'out.jsonl'


def decisions_of(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line for line in lines if line['record'] == 'decision']


@pytest.mark.parametrize(('name', 'count'), DECISIONS.items())
def test_recordings_replay_whole_and_equal(tmp_path, workers, name, count):
    outs = [tmp_path / 'a.jsonl', tmp_path / 'b.jsonl']
    for path in outs:
        assert replay(recording(name), path, make_worker=workers).decisions == count
    assert outs[0].read_bytes() == outs[1].read_bytes()


def test_recorded_battery_mode_and_errors_change_what_is_shown(out, workers):
    replay(recording('inorbit_tb3_ros1'), out, make_worker=workers)
    decisions = decisions_of(out)
    shown = {name: set() for name in ('battery', 'mode', 'troubleshooting_errorcodes')}
    for decision in decisions:
        for line in decision['inputs']:
            if line['name'] in shown:
                shown[line['name']].add(line['text'].partition(': ')[2])
    assert 'charge 84 %' in shown['battery']
    assert '"charging"' in shown['mode'] and '"navigating"' in shown['mode']
    assert {'"error_194,error_1"', '""'} <= shown['troubleshooting_errorcodes']


def test_recorded_sim_time_stamps_count_from_reception(out, workers):
    replay(recording('abitobot_rover'), out, make_worker=workers)
    decisions = decisions_of(out)
    ages = {(i['age_source'], i['age_s'] < 1.0) for d in decisions for i in d['inputs']}
    assert ages == {('RECEPTION', True)}


@pytest.fixture(scope='module')
def replay_twice(tmp_path_factory):
    """Run the command twice as a user does, on the embedded checkpoint; once per recording."""
    assert (EMBEDDED_CHECKPOINT / 'model.safetensors').is_file()

    @cache
    def run(name):
        bag, folder = recording(name), tmp_path_factory.mktemp(name)
        outs = [folder / 'a.jsonl', folder / 'b.jsonl']
        for out in outs:
            assert main(['replay', str(bag), '--out', str(out)]) == 0
        return outs

    return run


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    'name', ['inorbit_tb3_ros1', 'robotloc_test1_ros1', 'abitobot_rover', 'crazyflie_flybag']
)
def test_the_real_model_decides_the_same_bytes_twice(replay_twice, name):
    first, second = replay_twice(name)
    assert first.read_bytes() == second.read_bytes()
    decisions = decisions_of(first)
    assert len(decisions) == DECISIONS[name]
    assert {d['outcome'] for d in decisions} <= {'TOOL_CALL', 'REPLY', 'NO_ACTION', 'REFUSED'}
    assert all(d['prompt_tokens'] and d['output_digest'] for d in decisions)


def test_battery_mode_and_errors_lead_the_real_model_to_different_calls(replay_twice):
    first, _ = replay_twice('inorbit_tb3_ros1')
    said = set()
    for decision in decisions_of(first):
        calls = [(call['name'], json.dumps(call['arguments'])) for call in decision['calls']]
        said.add((decision['outcome'], tuple(calls), decision['text'] if not calls else ''))
    assert len(said) >= 3, said
    assert len({outcome for outcome, _, _ in said}) >= 2, said
