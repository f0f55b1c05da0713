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
"""Two demos never meet in one ROS domain, and no process outlives the demo that started it."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import pytest

from gemma_node.demo.domain import DOMAINS
from gemma_node.demo.domain import own_domain
from gemma_node.demo.processes import running
from gemma_node.errors import ConfigError

pytestmark = pytest.mark.skipif(sys.platform != 'linux', reason='Linux frees names and children')
SLEEP = 'import time; print("up", flush=True); time.sleep(60)'
DEAF = f'import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); {SLEEP}'
PARENT = """
import sys, time
from pathlib import Path
from gemma_node.demo.processes import running
with running('child', Path(sys.argv[1]), '-c', 'import time; time.sleep(60)') as child:
    print(child.pid, flush=True)
    time.sleep(60)
"""


def test_a_second_demo_takes_another_domain_and_the_first_is_free_again(monkeypatch):
    taken = []
    for _ in range(2):
        monkeypatch.setenv('ROS_DOMAIN_ID', '')
        with own_domain() as first:
            os.environ['ROS_DOMAIN_ID'] = ''
            with own_domain() as second:
                assert os.environ['ROS_DOMAIN_ID'] == second
        taken.append((first, second))
    assert taken[0] == taken[1]
    assert first != second and {int(first), int(second)} <= set(DOMAINS)


def test_the_users_domain_is_kept_and_refused_while_another_demo_is_in_it(monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', '187')
    with own_domain() as domain:
        assert domain == '187'
        with pytest.raises(ConfigError, match='another demo runs in domain 187'):
            own_domain().__enter__()


def wait_for(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


def is_alive(pid):
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False


def test_a_process_is_ended_with_its_block_and_its_words_are_kept(tmp_path):
    with running('one', tmp_path, '-c', SLEEP) as process:
        wait_for(lambda: (tmp_path / 'one.log').read_text() == 'up\n')
    assert process.returncode == -signal.SIGINT


def test_a_process_that_does_not_listen_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr('gemma_node.demo.processes.STOP_TIMEOUT_S', 0.2)
    with running('deaf', tmp_path, '-c', DEAF) as process:
        wait_for(lambda: (tmp_path / 'deaf.log').read_text() == 'up\n')
    assert process.returncode == -signal.SIGKILL


def test_an_impatient_user_leaves_no_process_behind(tmp_path, monkeypatch):
    def interrupted(*_):
        monkeypatch.undo()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), running('deaf', tmp_path, '-c', DEAF) as process:
        wait_for(lambda: (tmp_path / 'deaf.log').read_text() == 'up\n')
        monkeypatch.setattr(process, 'wait', interrupted)
    assert process.returncode == -signal.SIGKILL


def test_a_process_ends_even_when_the_demo_is_killed(tmp_path):
    parent = subprocess.Popen(
        [sys.executable, '-c', PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with parent:
        child = int(parent.stdout.readline())
        assert is_alive(child)
        parent.kill()
    wait_for(lambda: not is_alive(child))
