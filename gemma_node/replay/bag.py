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
Reads a recording whole or not at all: sqlite3, mcap and ROS 1 bags, with rosbags, without ROS.

Knows nothing of questions or models. A bag that would come out short is a BagError.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
import hashlib
from pathlib import Path
from types import TracebackType
from typing import Any

from rosbags.highlevel import AnyReader
from rosbags.interfaces import MessageDefinitionFormat
from rosbags.rosbag2 import Reader
from rosbags.typesys import get_typestore
from rosbags.typesys import Stores

from gemma_node.errors import BagError
from gemma_node.replay.plain import header_stamp
from gemma_node.replay.plain import to_plain

_CHUNK = 1 << 20
MAX_SPAN_NS = 31 * 24 * 3600 * 1_000_000_000
_STORAGES = ('.mcap', '.db3')


@dataclass(frozen=True, slots=True, kw_only=True)
class BagTopic:
    """One topic of a recording and how many messages it declares."""

    name: str
    type: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BagMessage:
    """One message as recorded; `time_ns` is when the recorder received it."""

    topic: str
    type: str
    time_ns: int
    raw: bytes


class Bag:
    """
    An open recording; use as a context manager. Not thread-safe.

    Entering it reads every message once, so that damage shows before the first question.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.digest = ''
        self.topics: tuple[BagTopic, ...] = ()
        self.num_messages = 0
        self.start_ns = 0
        self.end_ns = 0
        self._jazzy = get_typestore(Stores.ROS2_JAZZY)
        self._reader: AnyReader | None = None

    def __enter__(self) -> Bag:
        """Open, check and digest the recording; raises BagError."""
        try:
            self._open()
        except BagError:
            self.close()
            raise
        except Exception as error:
            # Of damaged files rosbags raises whatever its decoders do: zstd, apsw, OverflowError.
            self.close()
            raise BagError(f'{self.path} cannot be read: {_sentence(error)}') from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the files."""
        self.close()

    def close(self) -> None:
        """Close the files; safe to call twice."""
        reader, self._reader = self._reader, None
        if reader is not None and reader.stack is not None:
            reader.close()

    def messages(self) -> Iterator[BagMessage]:
        """Yield every message in order of its receive time."""
        assert self._reader is not None
        try:
            for connection, time_ns, raw in self._reader.messages():
                yield BagMessage(
                    topic=connection.topic,
                    type=connection.msgtype,
                    time_ns=time_ns,
                    raw=bytes(raw),
                )
        except Exception as error:
            raise BagError(f'{self.path} cannot be read whole: {_sentence(error)}') from error

    def definitions(self) -> dict[str, str]:
        """Return the message texts that the recording carries, by type."""
        assert self._reader is not None
        return {
            connection.msgtype: connection.msgdef.data
            for connection in self._reader.connections
            if connection.msgdef.format is MessageDefinitionFormat.MSG
        }

    def decode(self, message: BagMessage) -> tuple[Any, int] | None:
        """
        Return the message as plain values and its header stamp, or None if undecodable.

        The definitions inside the bag come first; types without one are taken from Jazzy.
        """
        assert self._reader is not None
        try:
            if message.type in self._reader.typestore.fielddefs:
                decoded = self._reader.deserialize(message.raw, message.type)
            elif self._reader.is2:
                decoded = self._jazzy.deserialize_cdr(message.raw, message.type)
            else:
                return None
        except Exception:
            return None
        plain = to_plain(decoded)
        return plain, header_stamp(plain)

    def _open(self) -> None:
        paths, declared = _locate(self.path)
        reader = AnyReader(paths, default_typestore=self._jazzy)
        reader.open()
        self._reader = reader
        if declared is None:
            declared = _declared(reader.connections)
        found, self.start_ns, self.end_ns = self._count()
        _compare(self.path, declared, found)
        types = {connection.topic: connection.msgtype for connection in reader.connections}
        self.topics = tuple(
            BagTopic(name=name, type=types[name], count=found[name]) for name in sorted(types)
        )
        self.num_messages = found.total()
        if not self.num_messages:
            raise BagError(f'{self.path} holds no message, so there is nothing to replay')
        if self.end_ns - self.start_ns > MAX_SPAN_NS:
            days = (self.end_ns - self.start_ns) / MAX_SPAN_NS * 31
            raise BagError(
                f'{self.path} spans {days:.0f} days, so its receive times cannot be right: cut '
                'the stray messages off with `ros2 bag convert`'
            )
        self.digest = _digest(paths)

    def _count(self) -> tuple[Counter[str], int, int]:
        found: Counter[str] = Counter()
        first, last = 0, 0
        for message in self.messages():
            if not found:
                first = message.time_ns
            found[message.topic] += 1
            last = message.time_ns
        return found, first, last


def _locate(path: Path) -> tuple[list[Path], Counter[str] | None]:
    """Return the files to read, and the counts that a metadata.yaml declares."""
    if not path.exists():
        raise BagError(f'there is no recording at {path}')
    if path.is_file():
        if path.suffix not in (*_STORAGES, '.bag'):
            raise BagError(
                f'{path} is no recording: pass a .bag, .mcap or .db3 file, or a rosbag2 folder'
            )
        return [path], None
    if (path / 'metadata.yaml').exists():
        return _locate_in_folder(path)
    ros1 = sorted(path.glob('*.bag'))
    if ros1:
        return ros1, None
    files = sorted(file for file in path.iterdir() if file.suffix in _STORAGES)
    if not files:
        raise BagError(f'{path} holds no recording: neither a metadata.yaml nor a .bag file')
    storage = 'mcap' if files[0].suffix == '.mcap' else 'sqlite3'
    raise BagError(
        f'{path} has no metadata.yaml, so nothing says whether its files are all there: '
        f'run `ros2 bag reindex -s {storage} {path}`, or pass one file, such as {files[0]}'
    )


def _locate_in_folder(path: Path) -> tuple[list[Path], Counter[str]]:
    """
    Read metadata.yaml, and prefer the storage files themselves to the folder.

    The folder reader drops messages of topics whose QoS text differs between metadata.yaml and
    file; the files give all. Compressed files and messages only the folder reader unpacks.
    """
    with Reader(path) as reader:
        declared = _declared(reader.connections)
        total = reader.message_count
        if total != declared.total():
            raise BagError(
                f'{path}/metadata.yaml contradicts itself: {total} messages, but '
                f'{declared.total()} over all topics; run `ros2 bag reindex {path}`'
            )
        if reader.compression_mode:
            return [path], declared
        storages = getattr(reader.storage, 'storages', [])
        files = [Path(storage.path) for storage in storages]
    return files or [path], declared


def _declared(connections: list[Any]) -> Counter[str]:
    declared: Counter[str] = Counter()
    for connection in connections:
        declared[connection.topic] += connection.msgcount
    return declared


def _compare(path: Path, declared: Counter[str], found: Counter[str]) -> None:
    """Raise BagError where a topic gives more or fewer messages than the bag declares."""
    for topic in sorted(declared.keys() | found.keys()):
        if declared[topic] != found[topic]:
            raise BagError(
                f'{path} cannot be read whole: it declares {declared[topic]} messages on '
                f'{topic}, {found[topic]} can be read; run `ros2 bag reindex {path}`, or record '
                'it again'
            )


def _digest(paths: list[Path]) -> str:
    """Return the sha256 over the storage files' content, in order; names do not count."""
    digest = hashlib.sha256()
    for path in paths:
        files = [path] if path.is_file() else sorted(f for f in path.iterdir() if f.is_file())
        for file in files:
            with file.open('rb') as stream:
                while block := stream.read(_CHUNK):
                    digest.update(block)
    return digest.hexdigest()


def _sentence(error: BaseException) -> str:
    text = ' '.join(str(error).split()) or type(error).__name__
    return text[:300].rstrip('.')
