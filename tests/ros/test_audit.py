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

"""What a node decided is in its audit log, and the model gives the same tokens again."""

import json
import os
from pathlib import Path
import subprocess
import sys
import time

import pytest
from ros_harness import calls
from ros_harness import reply
from ros_harness import World
from rosbags.highlevel import AnyReader

from gemma_node.cli import main
from gemma_node.core import ErrorCode
from gemma_node.msg import ToolEvent
from gemma_node.policy.audit import audit_files
from gemma_node.policy.audit import AuditLog
from gemma_node.policy.audit import read_records
from gemma_node.policy.audit_search import decisions
from gemma_node.policy.audit_search import find_decision
from gemma_node.ros.conversions import uuid_hex
from gemma_node.worker.client import WorkerClient

PLACES = ('kitchen', 'office', 'workshop', 'lobby', 'storage', 'lab', 'entrance', 'dock')
SENTENCES = ('go to the {}', 'please drive to the {} now', 'what is your battery?',
             'say hello at the {}', 'pick up the cup', 'do nothing', 'where are you?',
             'drive to x {} y 2')


def sentence(number):
    return f'{SENTENCES[number % len(SENTENCES)]}'.format(PLACES[number % len(PLACES)])


def audit_real_worker(folder, num_decisions):
    """Ask a node with the embedded checkpoint; leave its log in `folder`."""
    world = World(worker_factory=WorkerClient, audit={'folder': str(folder)}, mode='shadow',
                  engine={'num_threads': 1}, decoding={'max_tokens': 64}, deadline=300.0)
    try:
        world.spin(lambda: world.node.runtime._facts, timeout_s=120.0)
        # In shadow mode nothing is sent, but what has no server is not offered to the model.
        world.serve()
        world.feed(x=0.5)
        for first in range(0, num_decisions, 4):
            # Some side by side, as robots ask, so that the reruns meet other batches.
            ids = [world.ask(sentence(number), session=f's{number % 3}')
                   for number in range(first, min(first + 4, num_decisions))]
            world.feed(x=first / 7.0)
            world.spin(lambda ids=ids: all(world.decision(each) for each in ids),
                       timeout_s=300.0)
    finally:
        world.close()


def run(capsys, *words):
    code = main([str(word) for word in words])
    return code, capsys.readouterr().out


@pytest.fixture(scope='module')
def real_log(tmp_path_factory):
    """Return the log of 16 decisions by the embedded checkpoint."""
    folder = tmp_path_factory.mktemp('audit')
    audit_real_worker(folder, 16)
    return folder


def test_rerun_of_audited_decisions_gives_the_same_tokens(real_log, capsys):
    records = list(decisions(real_log))
    assert len(records) == 16
    assert all(record['trace']['output_ids'] for record in records)
    code, out = run(capsys, 'rerun', real_log, '--all', '--json')
    report = json.loads(out)
    assert (code, report['decisions'], report['unequal']) == (0, 16, 0), report
    assert report['differences'] == []


def test_rerun_says_which_token_differs_first(real_log, tmp_path, capsys):
    record = next(decisions(real_log))
    output = record['trace']['output_ids']
    changed = len(output) // 2
    output[changed] ^= 1
    log = AuditLog(tmp_path)
    log.put(record['start'])
    log.put({key: value for key, value in record.items() if key != 'start'})
    log.close()
    code, out = run(capsys, 'rerun', tmp_path, record['id'][:8])
    assert code == 1
    assert f'token {changed} differs: was {output[changed]} ' in out
    assert '1 decisions done again, 1 unequal' in out


def test_explain_shows_prompt_inputs_probabilities_and_verdicts(real_log, capsys):
    record = next(each for each in decisions(real_log) if each['calls'])
    code, out = run(capsys, 'explain', real_log, record['id'], '--json')
    told = json.loads(out)
    assert code == 0
    assert record['request']['text'] in told['prompt']
    assert told['completion']
    assert {each['name'] for each in told['inputs']} == {'odom', 'battery'}
    assert all(0 < each['probability'] <= 1 for each in told['calls'])
    code, out = run(capsys, 'explain', real_log, record['id'])
    assert code == 0
    assert record['calls'][0]['name'] in out and 'tool probability' in out


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_rerun_of_a_thousand_audited_decisions_gives_no_other_token(tmp_path):
    audit_real_worker(tmp_path, 1000)
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, '-m', 'gemma_node.cli', 'rerun', str(tmp_path), '--all', '--json'],
        capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    assert (report['decisions'], report['unequal']) == (1000, 0), report
    figures = os.environ.get('GEMMA_NODE_FIGURES')
    if figures:
        Path(figures).write_text(json.dumps({
            'decisions': report['decisions'], 'unequal': report['unequal'],
            'log_bytes': sum(file.stat().st_size for file in audit_files(tmp_path)),
            'rerun_s': round(time.monotonic() - started, 1)}))


def test_what_was_decided_done_and_refused_is_in_the_log(make_world, tmp_path):
    world = make_world(audit={'folder': str(tmp_path)}, mode='auto')
    server = world.serve()
    world.feed()
    world.worker.script = calls(('go_to', {'place': 'kitchen'}), ('fly', {}))
    decision = world.decide()
    world.spin(lambda: server.goals)
    world.worker.script = reply()
    server.end(server.goals[0])
    world.terminal(decision.tool_calls[0].id)
    world.decide('', identifier='c' * 32)
    world.node.trigger_deactivate()
    world.node.trigger_cleanup()
    found = find_decision(tmp_path, uuid_hex(decision.id))
    sent, refused = found['calls']
    assert (sent['verdict'], refused['code']) == (3, ErrorCode.UNKNOWN_TOOL)
    assert sent['goal']['place'] == 'kitchen'
    assert [event['is_terminal'] for event in found['events']][-1] is True
    assert {each['name']: each['digest'] for each in found['inputs']}['odom']
    assert all('value' not in each for each in found['inputs'])
    assert find_decision(tmp_path, 'c' * 32)['answer']['error_code'] == (
        ErrorCode.INVALID_REQUEST)
    kinds = [record['kind'] for file in audit_files(tmp_path) for record in read_records(file)]
    assert kinds[0] == 'start'


def test_decisions_and_events_are_recorded_into_a_bag_that_reads(make_world, tmp_path):
    world = make_world(audit={'folder': str(tmp_path), 'bag': True}, mode='auto')
    server = world.serve()
    world.feed()
    world.worker.script = calls(('go_to', {'place': 'kitchen'}))
    decision = world.decide()
    world.spin(lambda: server.goals)
    world.worker.script = reply()
    server.end(server.goals[0])
    world.terminal(decision.tool_calls[0].id)
    world.node.trigger_deactivate()
    world.node.trigger_cleanup()
    with AnyReader([*tmp_path.glob('decisions-*')]) as reader:
        found = [(connection.topic.rpartition('/')[2], reader.deserialize(data, kind))
                 for connection, _, data in reader.messages()
                 for kind in (connection.msgtype,)]
    first = next(message for topic, message in found if topic == 'decision')
    assert bytes(first.id.uuid) == bytes(decision.id.uuid)
    assert first.tool_calls[0].name == 'go_to'
    states = [message.state for topic, message in found if topic == 'tool_event']
    assert states[:2] == [ToolEvent.STATE_SENT, ToolEvent.STATE_ACCEPTED]
    assert states[-1] == ToolEvent.STATE_SUCCEEDED


def test_without_a_folder_the_worker_sends_no_trace(world):
    assert world.worker.settings.trace is False


def test_a_folder_that_cannot_be_written_refuses_configure(make_world, tmp_path):
    (tmp_path / 'file').write_text('')
    world = make_world(active=False, audit={'folder': str(tmp_path / 'file' / 'log')})
    assert not world.configure()
    assert world.node.runtime is None
