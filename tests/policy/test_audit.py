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

"""The audit log never waits, loses at most a moment to a kill, and reads back what was put in."""

import json
import os
import signal
import subprocess
import sys
import time

from backports import zstd
import pytest

from gemma_node.errors import ConfigError
from gemma_node.policy.audit import audit_files
from gemma_node.policy.audit import AuditLimits
from gemma_node.policy.audit import AuditLog
from gemma_node.policy.audit import read_records
from gemma_node.policy.audit_search import decisions
from gemma_node.policy.audit_search import find_decision


def decision(number, prompt=(1, 2, 3), **more):
    return {'kind': 'decision', 'id': f'{number:032x}', 'robot': 'r1', 'request': {'session': ''},
            'trace': {'prompt_ids': prompt, 'output_ids': (7, 8)}, **more}


def everything(folder):
    return [record for file in audit_files(folder) for record in read_records(file)]


def test_records_come_back_in_order_with_their_prompts_whole(tmp_path):
    log = AuditLog(tmp_path)
    log.put({'kind': 'start', 'settings': {'lanes': 2}})
    prompts = [(1, 2, 3), (1, 2, 4, 5), (1, 2, 4, 5), (9,), (1, 2)]
    for number, prompt in enumerate(prompts):
        log.put(decision(number, prompt))
    log.close()
    found = list(decisions(tmp_path))
    assert [tuple(record['trace']['prompt_ids']) for record in found] == prompts
    assert all(record['start']['settings'] == {'lanes': 2} for record in found)
    assert log.dropped == 0


def test_conversations_do_not_mix_their_prompts(tmp_path):
    log = AuditLog(tmp_path)
    log.put(decision(1, (1, 2, 3)))
    log.put(decision(2, (1, 5), robot='r2'))
    log.put(decision(3, (1, 2, 6)))
    log.close()
    assert [record['trace']['prompt_ids'] for record in everything(tmp_path)] == [
        [1, 2, 3], [1, 5], [1, 2, 6]]


def test_files_rotate_and_each_begins_with_the_start(tmp_path):
    log = AuditLog(tmp_path, AuditLimits(max_file_bytes=1 << 10, max_files=3))
    log.put({'kind': 'start', 'settings': {}})
    for number in range(12):
        log.put(decision(number, tuple(os.urandom(2000))))
        time.sleep(0.3)
    log.close()
    files = audit_files(tmp_path)
    assert len(files) == 3
    for file in files:
        first, *rest = read_records(file)
        assert first['kind'] == 'start'
        assert all(len(record['trace']['prompt_ids']) == 2000 for record in rest)


def test_put_never_waits_and_counts_what_it_drops(tmp_path):
    log = AuditLog(tmp_path, AuditLimits(max_waiting=16))
    started = time.monotonic()
    for number in range(2000):
        log.put(decision(number))
    assert time.monotonic() - started < 0.5
    dropped = log.dropped
    assert dropped > 0
    time.sleep(0.5)
    log.put(decision(9999))
    log.close()
    kinds = [record['kind'] for record in everything(tmp_path)]
    assert kinds.count('decision') == 2001 - log.dropped
    assert sum(record['count'] for record in everything(tmp_path)
               if record['kind'] == 'dropped') == dropped


PROGRAM = """
import sys, time
from gemma_node.policy.audit import AuditLog
log = AuditLog(sys.argv[1])
number = 0
while True:
    log.put({'kind': 'event', 'number': number, 'text': 'x' * 200})
    number += 1
    time.sleep(0.002)
"""


def test_a_kill_leaves_a_log_that_reads_to_its_last_moment(tmp_path):
    writer = subprocess.Popen([sys.executable, '-c', PROGRAM, str(tmp_path)])
    try:
        end_s = time.monotonic() + 20.0
        while not list(tmp_path.glob('*.zst')) or not everything(tmp_path):
            assert time.monotonic() < end_s
            time.sleep(0.1)
        time.sleep(0.6)
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    numbers = [record['number'] for record in everything(tmp_path)]
    assert numbers == list(range(len(numbers)))
    file = audit_files(tmp_path)[0]
    data = file.read_bytes()
    for cut in (1, 7, len(data) // 2):
        file.write_bytes(data[:-cut])
        assert [record['number'] for record in everything(tmp_path)] == numbers[:len(
            everything(tmp_path))]


def test_a_record_that_cannot_be_written_costs_no_other(tmp_path):
    log = AuditLog(tmp_path)
    log.put({'kind': 'event', 'what': object()})
    log.put({'kind': 'event', 'what': 'fine'})
    log.close()
    assert [record['what'] for record in everything(tmp_path)] == ['fine']
    assert log.dropped == 1


@pytest.mark.parametrize('content', [b'', b'no log at all', b'{"kind": "start"}\n'])
def test_what_is_no_log_is_said(tmp_path, content):
    path = tmp_path / 'audit-x.jsonl.zst'
    path.write_bytes(content)
    if content:
        with pytest.raises(ConfigError, match='no audit log'):
            list(read_records(path))
    else:
        assert list(read_records(path)) == []
    with pytest.raises(ConfigError, match='no audit log at'):
        audit_files(tmp_path / 'nothing')
    with pytest.raises(ConfigError, match=r'no decision|no audit log'):
        find_decision(path, '0' * 32)


def log_of(path, *records):
    """Write records as they are, in one frame of its own."""
    lines = b''.join(json.dumps(record).encode() + b'\n' for record in records)
    with path.open('ab') as stream:
        stream.write(zstd.compress(lines))
    return path


WHOLE = {'kind': 'decision', 'id': 'ab' * 16, 'robot': 'r1', 'request': {'session': ''}}


@pytest.mark.parametrize(('change', 'problem'), [
    ({'id': None}, 'id that is no str'), ({'request': 3}, 'request that is no dict'),
    ({'id': 'cd' * 16, 'decision_id': 5}, 'decision_id that is no str'),
    ({'trace': {'x': 1}}, 'without a prompt'),
    ({'trace': [1]}, 'without a prompt'),
    ({'trace': {'prompt': {'keep': 'x', 'ids': []}}}, 'without a prompt'),
    ({'trace': {'prompt': {'keep': 0, 'ids': [-1]}}}, 'no tokens'),
    ({'trace': {'prompt': {'keep': 0, 'ids': [1]}, 'output_ids': ['x']}}, 'no tokens'),
    ({'trace': {'prompt': {'keep': 9, 'ids': [1]}}}, 'keeps 9 tokens of a prompt of 0'),
])
def test_a_record_that_was_changed_is_a_damaged_log(tmp_path, change, problem):
    file = log_of(tmp_path / 'audit-x.jsonl.zst', WHOLE | change)
    with pytest.raises(ConfigError, match=f'damaged.*{problem}'):
        find_decision(file, 'abab')


def test_a_decision_without_an_id_and_nesting_without_end_are_damage(tmp_path):
    file = log_of(tmp_path / 'audit-x.jsonl.zst', {'kind': 'decision'})
    with pytest.raises(ConfigError, match='has no id'):
        find_decision(file, 'abab')
    file.write_bytes(zstd.compress(b'[' * 100_000 + b'\n'))
    with pytest.raises(ConfigError, match='is damaged'):
        find_decision(file, 'abab')


def test_logs_that_were_joined_are_read_to_their_end_and_what_follows_is_damage(tmp_path):
    file = log_of(tmp_path / 'audit-x.jsonl.zst', WHOLE)
    log_of(file, WHOLE | {'id': 'cd' * 16})
    assert [record['id'] for record in decisions(file)] == ['ab' * 16, 'cd' * 16]
    with file.open('ab') as stream:
        stream.write(b'garbage')
    with pytest.raises(ConfigError, match='no audit log, or damaged'):
        list(decisions(file))


def test_a_folder_that_cannot_be_written_is_a_config_error(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(ConfigError, match=r'audit\.folder'):
        AuditLog(tmp_path / 'file' / 'log')


def test_a_decision_is_found_by_the_start_of_its_id_with_its_events(tmp_path):
    log = AuditLog(tmp_path)
    log.put(decision(0xab << 120))
    log.put(decision(0xac << 120))
    log.put({'kind': 'event', 'decision_id': f'{0xab << 120:032x}', 'state': 6})
    log.close()
    found = find_decision(tmp_path, 'ab00')
    assert [event['state'] for event in found['events']] == [6]
    for prefix, words in (('a', 'first 4'), ('zzzz', 'no decision id'), ('dddd', 'has no')):
        with pytest.raises(ConfigError, match=words):
            find_decision(tmp_path, prefix)
