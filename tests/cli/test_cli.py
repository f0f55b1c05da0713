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

"""The command: every verb explains itself, a user's mistake is one sentence and exit code 2."""

from collections import Counter
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from gemma_node import cli
from gemma_node.cli import main
from gemma_node.errors import BagError
from gemma_node.replay.run import ReplaySummary

VERBS = (
    'run', 'demo', 'doctor', 'inspect', 'convert', 'receipts', 'bench', 'replay', 'ask', 'schema',
    'tools', 'eval', 'rerun', 'explain',
)  # fmt: skip


def arguments(*words):
    return cli._parser().parse_args(words)


def run(capsys, *words):
    """Return exit code, stdout and stderr of one call."""
    try:
        code = main(words)
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize('verb', VERBS)
def test_every_verb_has_help(capsys, verb):
    code, out, err = run(capsys, verb, '--help')
    assert code == 0 and err == ''
    assert out.startswith(f'usage: gemma-node {verb}')
    assert len(out.splitlines()) > 4


def test_help_lists_exactly_the_verbs_that_work(capsys):
    _, out, _ = run(capsys, '--help')
    listed = [line.split()[0] for line in out.splitlines() if line.startswith('    ')]
    assert listed == list(VERBS)


@pytest.mark.parametrize(
    'words',
    [
        (),
        ('fly',),
        ('replay',),
        ('replay', 'bag'),
        ('replay', 'absent', '--out', 'x'),
        ('inspect', 'absent'),
        ('eval',),
        ('eval', 'absent'),
        ('rerun', 'absent'),
        ('rerun', 'absent', '--all'),
        ('rerun', 'absent', 'abcd'),
        ('explain', 'absent'),
        ('explain', 'absent', 'abcd'),
        ('eval', 'absent', '--jobs', '0'),
        ('convert', 'absent', 'x'),
        ('receipts',),
        ('receipts', 'absent'),
        ('receipts', 'absent', '--device', 'tpu'),
        ('convert', 'absent', 'x', '--recipe', 'mlx-4bit'),
        ('convert', 'absent', 'x', '--recipe', 'mlx-5bit'),
        ('convert', 'absent', 'x', '--recipe', 'mlx-4bit', '--rounding', 'up'),
        ('ask', 'r1'),
        ('ask', 'r1', 'hello', '--timeout', 'soon'),
        ('ask', 'r1', 'hello', '--timeout', 'nan'),
        ('demo', '--robot', 'r9'),
        ('run', '--params-file', 'absent.yaml'),
        ('run', '--device', 'tpu'),
        ('schema',),
        ('schema', 'Twist'),
        ('schema', 'no_such_msgs/msg/Twist'),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(capsys, words):
    code, out, err = run(capsys, *words)
    assert code == 2
    assert out == ''
    assert len(err.splitlines()) == 1
    assert err.startswith('gemma-node')
    assert 'Traceback' not in err


def test_the_command_runs_as_a_module_without_traceback(tmp_path):
    done = subprocess.run(
        [sys.executable, '-m', 'gemma_node.cli', 'replay', 'absent', '--out', 'x'],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr == 'gemma-node: there is no recording at absent\n'
    assert list(tmp_path.iterdir()) == []


def test_replay_needs_neither_ros_nor_torch(tmp_path):
    program = (
        'import sys\n'
        'from gemma_node.cli import main\n'
        "code = main(['replay', 'absent', '--out', 'x'])\n"
        "print(code, [m for m in ('rclpy', 'torch', 'tokenizers') if m in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, '-c', program], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert done.stdout == '2 []\n'


def test_replay_passes_its_options_and_sums_up(capsys, monkeypatch, tmp_path):
    seen = {}

    def fake(bag, out, *, config, on_decision):
        out.touch()
        summary = ReplaySummary(messages=9, seconds=12.25, outcomes=Counter(REPLY=2, NO_ACTION=1))
        on_decision(summary)
        seen.update(bag=bag, out=out, config=config)
        return summary

    monkeypatch.setattr('gemma_node.replay.run.replay', fake)
    out = tmp_path / 'out.jsonl'
    code, said, _ = run(capsys, 'replay', 'bag', '--out', str(out), '--config', 'p.yaml')
    assert code == 0
    assert said == f'9 messages over 12.2 s, 3 decisions (1 NO_ACTION, 2 REPLY) -> {out}\n'
    assert [str(seen[name]) for name in ('bag', 'out', 'config')] == ['bag', str(out), 'p.yaml']


def test_errors_of_several_lines_become_one(capsys, monkeypatch):
    def fake(*_, **__):
        raise BagError('first\n  second')

    monkeypatch.setattr('gemma_node.replay.run.replay', fake)
    assert run(capsys, 'replay', 'bag', '--out', 'x')[2] == 'gemma-node: first second\n'


def test_an_interrupt_ends_quietly(capsys, monkeypatch):
    def fake(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr('gemma_node.replay.run.replay', fake)
    assert run(capsys, 'replay', 'bag', '--out', 'x') == (130, '', '')


def test_run_translates_its_options_into_ros_arguments(tmp_path):
    params = tmp_path / 'p.yaml'
    params.touch()
    words = ['run', '--params-file', str(params), '--model', '/m', '--device', 'cpu']
    words += ['--namespace', 'site/', '--log-level', 'debug', '--ros-args', '-r', 'a:=b']
    assert cli.node_arguments(arguments(*words)) == [
        '--ros-args',
        *('--params-file', str(params)),
        *('-p', 'model.path:=/m', '-p', 'device:=cpu', '-r', '__ns:=/site'),
        *('--log-level', 'debug', '-r', 'a:=b'),
    ]


def test_run_takes_the_packages_parameters_when_none_are_named():
    built = cli.node_arguments(arguments('run'))
    assert built[:2] == ['--ros-args', '--params-file']
    assert built[2].endswith('config/gemma_node.yaml')
    own = cli.node_arguments(arguments('run', '--ros-args', '--params-file', 'mine.yaml'))
    assert own == ['--ros-args', '--params-file', 'mine.yaml']


DECISION = {
    'id': '0' * 32,
    'robot': 'r1',
    'outcome': 'TOOL_CALL',
    'error_code': 'NONE',
    'error_msg': '',
    'text': '',
    'calls': [
        {
            'id': '0' * 32,
            'name': 'go_to',
            'arguments': '{"place": "[lab]"}',
            'verdict': 'REFUSED',
            'error_code': 'STALE_INPUT',
            'violations': ["input 'odom' is 9 s old, the limit is 1 s"],
        }
    ],
}


def test_ask_prints_the_decision_for_a_person_and_as_json(capsys, monkeypatch):
    monkeypatch.setattr('gemma_node.ros.ask.ask', lambda *_, **__: DECISION)
    assert run(capsys, 'ask', 'r1', 'go to the lab') == (
        0,
        'r1: TOOL_CALL\n'
        '  calls go_to {"place": "[lab]"}: REFUSED\n'
        "    input 'odom' is 9 s old, the limit is 1 s\n",
        '',
    )
    _, out, _ = run(capsys, 'ask', 'r1', 'go to the lab', '--json')
    assert json.loads(out) == DECISION


def test_ask_exits_1_when_the_decision_says_why_not(capsys, monkeypatch):
    failed = {**DECISION, 'outcome': 'FAILED', 'error_code': 'BUSY', 'error_msg': 'full'}
    monkeypatch.setattr('gemma_node.ros.ask.ask', lambda *_, **__: {**failed, 'calls': []})
    assert run(capsys, 'ask', 'r1', 'hi')[:2] == (1, 'r1: FAILED BUSY: full\n')


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_unwinds_and_leaves_the_handlers_as_they_were(capsys, monkeypatch, number):
    cleaned = []

    def fake(*_, **__):
        try:
            os.kill(os.getpid(), number)
            time.sleep(10.0)
        finally:
            cleaned.append(signal.getsignal(signal.SIGTERM))

    monkeypatch.setattr('gemma_node.replay.run.replay', fake)
    before = signal.getsignal(number)
    assert before is signal.SIG_DFL
    assert run(capsys, 'replay', 'bag', '--out', 'x')[0] == 128 + number
    assert cleaned == [signal.SIG_IGN]
    assert signal.getsignal(number) is before


def test_what_nohup_ignores_stays_ignored(capsys, monkeypatch):
    seen = []

    def fake(*_, **__):
        seen.append(signal.getsignal(signal.SIGHUP))
        raise BagError('enough')

    monkeypatch.setattr('gemma_node.replay.run.replay', fake)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        run(capsys, 'replay', 'bag', '--out', 'x')
    finally:
        signal.signal(signal.SIGHUP, before)
    assert seen == [signal.SIG_IGN]


def test_bytes_that_are_no_text_are_refused_before_ros_starts(capsys):
    for words in (('ask', 'r1', '\udcff'), ('ask', '\udcff', 'hi'), ('demo', '--say', '\udcff')):
        code, _, err = run(capsys, *words)
        assert code == 2 and 'must be UTF-8 text' in err


@pytest.mark.parametrize('name', ['', '/', 'bad name', '/a//b', '1a', 'a/'])
def test_a_node_name_that_ros_cannot_have_is_refused(capsys, name):
    code, _, err = run(capsys, 'ask', 'r1', 'hi', '--node', name)
    assert code == 2 and 'must be a ROS name' in err


@pytest.mark.parametrize('domain', ['abc', '-1', '233', '1.5'])
def test_a_domain_that_dds_cannot_have_is_refused(capsys, monkeypatch, domain):
    monkeypatch.setenv('ROS_DOMAIN_ID', domain)
    for words in (('ask', 'r1', 'hi'), ('demo',), ('run',)):
        code, _, err = run(capsys, *words)
        assert code == 2 and 'ROS_DOMAIN_ID must be 0 to 232' in err


def test_say_tells_no_sentence_from_an_empty_one():
    assert arguments('demo').say is None
    assert arguments('demo', '--say', '').say == ''


def test_a_folder_name_that_no_terminal_can_show_is_named_in_one_sentence(tmp_path):
    checkpoint = tmp_path / os.fsdecode(b'odd-\xff-name')
    shutil.copytree(cli.EMBEDDED_CHECKPOINT, checkpoint)
    done = subprocess.run(
        [sys.executable, '-m', 'gemma_node.cli', 'inspect', checkpoint],
        capture_output=True, text=True, timeout=60, env={**os.environ, 'PYTHONUTF8': '1'},
    )  # fmt: skip
    # The library that loads weights takes no such name, so what inspects them takes none either.
    assert done.returncode == 2, done.stderr
    assert re.search(r"odd-\\udcff-name' is no UTF-8.*rename the folder\n$", done.stderr)
    assert done.stderr.count('\n') == 1


def test_help_says_what_the_exit_codes_mean(capsys):
    assert 'Exit code: 0 done; 1' in ' '.join(run(capsys, '--help')[1].split())
