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

"""A replay's output is whole or absent, and no input or device is ever replaced by it."""

from contextlib import contextmanager
import os
from pathlib import Path
import resource
import signal
import stat
import threading

import pytest

from gemma_node.errors import ConfigError
from gemma_node.replay.output import check_output
from gemma_node.replay.output import whole_file
from gemma_node.replay.run import replay
from tests.fixtures.bags import battery
from tests.fixtures.bags import write_bag

MESSAGES = [('/battery', float(i), battery(0.5)) for i in range(3)]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_nothing_is_seen_before_the_end_and_all_of_it_then(tmp_path):
    out = tmp_path / 'out.jsonl'
    with whole_file(out) as stream:
        stream.write('one\n')
        stream.flush()
        assert not out.exists()
    assert out.read_text() == 'one\n'
    assert names(tmp_path) == ['out.jsonl']
    assert stat.S_IMODE(out.stat().st_mode) == 0o644


def test_an_error_keeps_the_older_file(tmp_path):
    out = tmp_path / 'out.jsonl'
    out.write_text('older')
    with pytest.raises(KeyboardInterrupt), whole_file(out) as stream:
        stream.write('newer')
        raise KeyboardInterrupt
    assert out.read_text() == 'older'
    assert names(tmp_path) == ['out.jsonl']


def test_a_link_is_followed_not_replaced(tmp_path):
    (tmp_path / 'real').mkdir()
    link = tmp_path / 'link.jsonl'
    link.symlink_to(tmp_path / 'real' / 'out.jsonl')
    with whole_file(link) as stream:
        stream.write('x')
    assert link.is_symlink() and (tmp_path / 'real' / 'out.jsonl').read_text() == 'x'


def test_a_pipe_gets_the_text_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    with whole_file(pipe) as stream:
        stream.write('x\n')
    reader.join(10)
    assert got == ['x\n']
    assert pipe.is_fifo()


def test_a_full_device_is_said_in_a_sentence_and_stays_a_device():
    full = Path('/dev/full')
    with pytest.raises(ConfigError, match='cannot write /dev/full: No space left'):
        with whole_file(full) as stream:
            stream.write('x')
    assert full.is_char_device()


@contextmanager
def file_size_limit(num_bytes):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_no_room_is_said_in_a_sentence_and_leaves_nothing(tmp_path):
    with file_size_limit(4096), pytest.raises(ConfigError, match=r'cannot write .*too large'):
        with whole_file(tmp_path / 'out') as stream:
            stream.write('x' * 100_000)
    assert names(tmp_path) == []


def test_a_folder_or_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(ConfigError, match='it is a folder'):
        check_output(tmp_path, ())
    with pytest.raises(ConfigError, match='there is no folder'):
        check_output(tmp_path / 'absent' / 'out', ())


def test_the_recording_and_the_parameter_file_are_never_written_over(tmp_path, workers):
    bag = write_bag(tmp_path / 'bag', MESSAGES)
    config = tmp_path / 'params.yaml'
    config.write_text('gemma_node: {ros__parameters: {robots: [r1]}}')
    (storage,) = bag.glob('*.mcap')
    link = tmp_path / 'link'
    link.symlink_to(storage)
    before = storage.read_bytes()
    for path, out in ((bag, storage), (storage, storage), (storage, link), (bag, bag / 'new')):
        with pytest.raises(ConfigError, match='written over'):
            replay(path, out, make_worker=workers)
    with pytest.raises(ConfigError, match=r'written over .*params\.yaml'):
        replay(bag, config, config=config, make_worker=workers)
    assert storage.read_bytes() == before
    assert workers.made == []
