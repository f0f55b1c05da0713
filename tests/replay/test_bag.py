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

"""Recordings come whole or not at all."""

import math
import random
import shutil

import numpy as np
import pytest
from rosbags.rosbag2 import CompressionFormat
from rosbags.rosbag2 import CompressionMode
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer
from ruamel.yaml import YAML

from gemma_node.errors import BagError
from gemma_node.replay.bag import Bag
from gemma_node.replay.plain import MAX_ARRAY
from gemma_node.replay.plain import to_plain
from tests.fixtures.bags import battery
from tests.fixtures.bags import CUSTOM
from tests.fixtures.bags import JAZZY
from tests.fixtures.bags import NS
from tests.fixtures.bags import recording
from tests.fixtures.bags import START
from tests.fixtures.bags import text
from tests.fixtures.bags import write_bag
from tests.fixtures.bags import write_ros1_bag

STORAGES = [StoragePlugin.MCAP, StoragePlugin.SQLITE3]
MESSAGES = [
    ('/battery', 0.0, battery(0.5, stamp_s=3.25)),
    ('/operator', 0.5, text('hello')),
    ('/operator', 1.5, text('again')),
]


def contents(bag):
    return [(m.topic, (m.time_ns - START) / NS, bag.decode(m)) for m in bag.messages()]


def edit_metadata(folder, change):
    yaml = YAML()
    path = folder / 'metadata.yaml'
    tree = yaml.load(path.read_text())
    change(tree['rosbag2_bagfile_information'])
    with path.open('w') as stream:
        yaml.dump(tree, stream)


@pytest.mark.parametrize('storage', STORAGES)
def test_both_storages_give_every_message_with_its_value_and_stamp(tmp_path, storage):
    with Bag(write_bag(tmp_path / 'bag', MESSAGES, storage)) as bag:
        found = contents(bag)
        assert bag.num_messages == 3
        assert (bag.start_ns, bag.end_ns) == (START, START + round(1.5 * NS))
        assert [(t.name, t.count) for t in bag.topics] == [('/battery', 1), ('/operator', 2)]
    assert [(topic, seconds) for topic, seconds, _ in found] == [
        ('/battery', 0.0),
        ('/operator', 0.5),
        ('/operator', 1.5),
    ]
    charge, stamp_ns = found[0][2]
    assert charge['percentage'] == 0.5
    assert charge['header']['frame_id'] == ''
    assert stamp_ns == 3_250_000_000
    assert found[1][2] == ({'data': 'hello'}, 0)


def test_a_ros_1_bag_reads_the_same_way_as_file_and_as_folder(tmp_path):
    path = write_ros1_bag(tmp_path / 'old.bag', [('/a', 0.0, 'x'), ('/b', 1.0, 'y')])
    for place in (path, tmp_path):
        with Bag(place) as bag:
            assert contents(bag) == [
                ('/a', 0.0, ({'data': 'x'}, 0)),
                ('/b', 1.0, ({'data': 'y'}, 0)),
            ]


@pytest.mark.parametrize('storage', STORAGES)
def test_types_that_jazzy_lacks_are_read_by_the_bags_own_definition(tmp_path, storage):
    load = CUSTOM.types['my_msgs/msg/Load'](load=1.5, label='crate')
    path = write_bag(tmp_path / 'bag', [('/load', 0.0, load)], storage, CUSTOM)
    with Bag(path) as bag:
        assert contents(bag) == [('/load', 0.0, ({'load': 1.5, 'label': 'crate'}, 0))]


@pytest.mark.parametrize('mode', [CompressionMode.FILE, CompressionMode.MESSAGE])
def test_compressed_bags_are_unpacked(tmp_path, mode):
    writer = Writer(tmp_path / 'bag', version=9, storage_plugin=StoragePlugin.SQLITE3)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        connection = writer.add_connection('/a', 'std_msgs/msg/String', typestore=JAZZY)
        raw = JAZZY.serialize_cdr(text('packed'), 'std_msgs/msg/String')
        writer.write(connection, START, raw)
    with Bag(tmp_path / 'bag') as bag:
        assert contents(bag) == [('/a', 0.0, ({'data': 'packed'}, 0))]


def test_the_digest_follows_content_not_place(tmp_path):
    first = write_bag(tmp_path / 'one', MESSAGES)
    copy = tmp_path / 'elsewhere' / 'two'
    shutil.copytree(first, copy)
    other = write_bag(tmp_path / 'three', MESSAGES[:2])
    digests = []
    for path in (first, copy, other):
        with Bag(path) as bag:
            digests.append(bag.digest)
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize('declared', [1, 3])
@pytest.mark.parametrize('storage', STORAGES)
def test_more_or_fewer_messages_than_declared_is_an_error(tmp_path, storage, declared):
    path = write_bag(tmp_path / 'bag', MESSAGES, storage)

    def change(info):
        info['message_count'] += declared - 2
        info['topics_with_message_count'][1]['message_count'] = declared

    edit_metadata(path, change)
    expected = rf'declares {declared} messages on /operator, 2 can be read.*ros2 bag reindex'
    with pytest.raises(BagError, match=expected), Bag(path):
        pass


def test_metadata_that_contradicts_itself_is_an_error(tmp_path):
    path = write_bag(tmp_path / 'bag', MESSAGES)
    edit_metadata(path, lambda info: info.update(message_count=7))
    with pytest.raises(BagError, match='7 messages, but 3 over all topics'), Bag(path):
        pass


def test_a_topic_whose_qos_text_differs_from_the_file_loses_no_message(tmp_path):
    path = write_bag(tmp_path / 'bag', MESSAGES)

    def change(info):
        info['topics_with_message_count'][1]['topic_metadata']['offered_qos_profiles'] = [
            {
                'history': 'keep_last',
                'depth': 7,
                'reliability': 'reliable',
                'durability': 'volatile',
                'deadline': {'sec': 0, 'nsec': 0},
                'lifespan': {'sec': 0, 'nsec': 0},
                'liveliness': 'automatic',
                'liveliness_lease_duration': {'sec': 0, 'nsec': 0},
                'avoid_ros_namespace_conventions': False,
            }
        ]

    edit_metadata(path, change)
    with Bag(path) as bag:
        assert len(contents(bag)) == 3


def test_a_missing_file_of_a_split_bag_is_an_error(tmp_path):
    path = write_bag(tmp_path / 'bag', MESSAGES)
    edit_metadata(path, lambda info: info['relative_file_paths'].append('bag_1.mcap'))
    with pytest.raises(BagError, match=r'missing.*bag_1\.mcap'), Bag(path):
        pass


@pytest.mark.parametrize(
    ('storage', 'word'), [(StoragePlugin.MCAP, 'mcap'), (StoragePlugin.SQLITE3, 'sqlite3')]
)
def test_a_folder_without_metadata_says_how_to_get_it(tmp_path, storage, word):
    path = write_bag(tmp_path / 'bag', MESSAGES, storage)
    (path / 'metadata.yaml').unlink()
    with (
        pytest.raises(BagError, match=f'ros2 bag reindex -s {word} .*or pass one file'),
        Bag(path),
    ):
        pass
    (file,) = path.iterdir()
    with Bag(file) as bag:
        assert bag.num_messages == 3


@pytest.mark.parametrize('storage', STORAGES)
@pytest.mark.parametrize('kept', [0, 10, 0.5, 0.95])
def test_a_truncated_file_is_an_error_never_a_short_bag(tmp_path, storage, kept):
    messages = [('/a', i / 10, text('x' * 900)) for i in range(60)]
    path = write_bag(tmp_path / 'bag', messages, storage)
    (file,) = (f for f in path.iterdir() if f.name != 'metadata.yaml')
    raw = file.read_bytes()
    file.write_bytes(raw[: kept if kept in (0, 10) else int(len(raw) * kept)])
    with pytest.raises(BagError, match='cannot be read'), Bag(path):
        pass


@pytest.mark.parametrize('kept', [0, 5, 0.5, 0.95])
def test_a_truncated_ros_1_bag_is_an_error(tmp_path, kept):
    path = write_ros1_bag(tmp_path / 'old.bag', [('/a', i / 10, 'x' * 900) for i in range(60)])
    raw = path.read_bytes()
    path.write_bytes(raw[: kept if kept in (0, 5) else int(len(raw) * kept)])
    with pytest.raises(BagError, match='cannot be read'), Bag(path):
        pass


def test_flipped_bytes_inside_a_chunk_do_not_pass_as_messages(tmp_path):
    path = write_ros1_bag(tmp_path / 'old.bag', [('/a', i / 10, 'x' * 900) for i in range(60)])
    raw = bytearray(path.read_bytes())
    middle = len(raw) // 2
    raw[middle : middle + 2000] = b'\xff' * 2000
    path.write_bytes(raw)
    with pytest.raises(BagError), Bag(path):
        pass


@pytest.mark.parametrize(
    ('name', 'content', 'expected'),
    [
        ('absent', None, 'there is no recording'),
        ('notes.txt', b'hello', r'is no recording: pass a \.bag, \.mcap or \.db3 file'),
        ('empty.mcap', b'', 'cannot be read'),
        ('junk.db3', b'junk' * 100, 'cannot be read'),
        ('junk.bag', b'#ROSBAG V2.0\n' + b'\xff' * 100, 'cannot be read'),
    ],
)
def test_what_is_no_recording_is_said_in_one_sentence(tmp_path, name, content, expected):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BagError, match=expected) as caught, Bag(path):
        pass
    assert '\n' not in str(caught.value)


def test_an_empty_folder_and_an_empty_bag_are_errors(tmp_path):
    (tmp_path / 'folder').mkdir()
    with pytest.raises(BagError, match='holds no recording'), Bag(tmp_path / 'folder'):
        pass
    with Writer(tmp_path / 'bag', version=9) as writer:
        writer.add_connection('/a', 'std_msgs/msg/String', typestore=JAZZY)
    with pytest.raises(BagError, match='holds no message'), Bag(tmp_path / 'bag'):
        pass


def test_receive_times_decades_apart_are_an_error(tmp_path):
    path = write_bag(tmp_path / 'bag', [('/a', -1.6e9, text('x')), ('/a', 0.0, text('y'))])
    with pytest.raises(BagError, match='spans 18519 days'), Bag(path):
        pass


def test_a_message_that_does_not_fit_its_type_is_undecodable_not_fatal(tmp_path):
    with Writer(tmp_path / 'bag', version=9) as writer:
        connection = writer.add_connection('/a', 'std_msgs/msg/String', typestore=JAZZY)
        writer.write(connection, START, b'\x00\x01\x00\x00\xff\xff\xff\x7f')
    with Bag(tmp_path / 'bag') as bag:
        assert [bag.decode(message) for message in bag.messages()] == [None]


def test_arrays_are_bounded_and_bytes_never_leave():
    assert to_plain(np.arange(3, dtype=np.float32)) == [0.0, 1.0, 2.0]
    long = to_plain(np.zeros(MAX_ARRAY + 1))
    assert long['__array__'] == MAX_ARRAY + 1 and len(long['head']) == MAX_ARRAY
    assert to_plain(np.zeros(9, dtype=np.uint8)) == {'__bytes__': 9}
    assert to_plain(np.zeros(9, dtype=np.int8)) == {'__bytes__': 9}
    assert to_plain([True] * 2) == [True, True]
    assert to_plain(np.zeros(2, dtype=np.bool_)) == [False, False]
    assert math.isnan(to_plain(np.float32(math.nan)))


def test_constants_of_an_interface_are_no_fields():
    plain = to_plain(battery(0.5))
    assert 'percentage' in plain
    assert not [name for name in plain if name.isupper()]


def test_recorded_talker_gives_its_twenty_messages():
    with Bag(recording('r2_talker_mcap')) as bag:
        texts = [bag.decode(m)[0]['data'] for m in bag.messages() if m.topic == '/topic']
        assert bag.num_messages == 20
    assert texts == [f'Hello, world! {i}' for i in range(10)]


def test_recorded_splits_without_metadata_say_what_to_do():
    path = recording('r2_reindex_nometa_db3')
    with pytest.raises(BagError, match='ros2 bag reindex -s sqlite3'), Bag(path):
        pass
    counts = []
    for file in sorted(path.glob('*.db3')):
        with Bag(file) as bag:
            counts.append(bag.num_messages)
    assert sum(counts) == 3177


def test_random_damage_is_an_error_in_one_line_or_changes_no_count(tmp_path):
    chance = random.Random(7)
    plain = write_bag(tmp_path / 'mcap', MESSAGES, StoragePlugin.MCAP)
    table = write_bag(tmp_path / 'db3', MESSAGES, StoragePlugin.SQLITE3)
    ros1 = write_ros1_bag(tmp_path / 'old.bag', [('/a', 0.0, 'x'), ('/b', 1.0, 'y')])
    num_errors = 0
    for whole in (*plain.glob('*.mcap'), *table.glob('*.db3'), ros1):
        path = tmp_path / f'damaged{whole.suffix}'
        for _ in range(60):
            content = bytearray(whole.read_bytes())
            for _ in range(chance.choice([1, 4, 16])):
                place = chance.randrange(len(content))
                content[place : place + 8] = chance.choice([b'\xff' * 8, chance.randbytes(8)])
            path.write_bytes(content)
            try:
                with Bag(path) as bag:
                    assert bag.num_messages == len(contents(bag))
            except BagError as error:
                assert '\n' not in str(error)
                num_errors += 1
    assert num_errors > 30
