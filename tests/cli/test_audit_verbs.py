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

"""`explain` of logs that were changed: one sentence, or the page with nothing a terminal obeys."""

import json

from backports import zstd
import pytest

from gemma_node.cli import main

ANSWER = {'outcome': 1, 'error_code': 0, 'error_msg': '', 'text': '', 'tool_probability': None,
          'grammar_mass_min': None, 'prompt_tokens': 1, 'cached_tokens': 0,
          'completion_tokens': 1}
RECORD = {'kind': 'decision', 'id': 'ab' * 16, 'robot': 'r1', 'mode': 0, 'time_ns': 1,
          'request': {'text': 'go', 'trigger_source': '', 'session': ''}, 'answer': ANSWER,
          'inputs': [], 'calls': [], 'trace': None}


def log_of(folder, **changes):
    file = folder / 'audit-x.jsonl.zst'
    file.write_bytes(zstd.compress(json.dumps(RECORD | changes).encode() + b'\n'))
    return str(file)


@pytest.mark.parametrize('change', [
    {'answer': None}, {'answer': ANSWER | {'error_code': 9999}}, {'mode': 9},
    {'time_ns': 10 ** 40}, {'time_ns': 'x'}, {'inputs': [{}]}, {'inputs': 3},
    {'calls': [{'name': 'x', 'arguments': {}, 'probability': 1.0, 'verdict': 77, 'code': 0,
                'violations': []}]},
])
def test_a_record_of_another_form_is_one_sentence_and_nothing_printed(capsys, tmp_path, change):
    file = log_of(tmp_path, **change)
    assert main(['explain', file, 'abab']) == 2
    out, err = capsys.readouterr()
    assert out == '' and err.count('\n') == 1
    assert '--json prints it as it is' in err
    assert main(['explain', file, 'abab', '--json']) == 0


def test_what_came_from_outside_cannot_drive_the_terminal(capsys, tmp_path):
    request = RECORD['request'] | {'text': '[bold]a[/nope]\x1b[31mb'}
    assert main(['explain', log_of(tmp_path, request=request), 'abab']) == 0
    out = capsys.readouterr().out
    assert '\x1b' not in out
    assert '[bold]a[/nope]\\x1b[31mb' in out


def test_rerun_says_whether_a_log_is_cut_short_beheaded_or_without_the_model(capsys, tmp_path):
    file = log_of(tmp_path)
    assert main(['rerun', file, '--all']) == 2
    assert "not the 'start' record" in capsys.readouterr().err
    whole = (tmp_path / 'audit-x.jsonl.zst').read_bytes()
    (tmp_path / 'audit-x.jsonl.zst').write_bytes(whole[:len(whole) // 2])
    assert main(['rerun', file, '--all']) == 2
    assert 'holds no whole decision' in capsys.readouterr().err
    lines = [{'kind': 'start', 'settings': {}, 'facts': {}}, RECORD]
    (tmp_path / 'audit-x.jsonl.zst').write_bytes(
        zstd.compress('\n'.join(map(json.dumps, lines)).encode() + b'\n'))
    assert main(['rerun', file, '--all']) == 2
    assert 'the model answered none' in capsys.readouterr().err
