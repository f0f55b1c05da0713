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
Writes messages into an mcap bag, by a thread of its own; for those who want decisions in a bag.

`put` never waits: when too many messages wait, a new one is dropped and counted. A bag is whole
once it is closed; of a process that was killed `mcap recover` reads what was written.
"""

from __future__ import annotations

from collections.abc import Mapping
import logging
from pathlib import Path
import queue
import threading
from typing import Any

from gemma_node.errors import ConfigError

_LOG = logging.getLogger(__name__)


class Recorder:
    """
    Records serialized messages of a few topics.

    `topics` gives each topic's type, `definitions` the text of types that ROS does not bring.
    Raises ConfigError when the folder cannot be made.
    """

    def __init__(
        self, folder: Path, topics: Mapping[str, str], definitions: Mapping[str, str], *,
        max_waiting: int,
    ) -> None:
        self._folder = folder
        self._topics = dict(topics)
        self._definitions = dict(definitions)
        self._queue: queue.Queue[tuple[str, int, bytes] | None] = queue.Queue(max_waiting)
        self.dropped = 0
        if folder.exists() or not folder.parent.is_dir():
            raise ConfigError(f'{folder} cannot be made for the recording: it exists already, or '
                              'its parent does not')
        self._thread = threading.Thread(target=self._run, name='gemma recorder', daemon=True)
        self._thread.start()

    def put(self, topic: str, time_ns: int, data: bytes) -> None:
        """Queue a serialized message, or drop it."""
        try:
            self._queue.put_nowait((topic, time_ns, data))
        except queue.Full:
            self.dropped += 1

    def close(self, timeout_s: float = 5.0) -> None:
        """Write what waits and close the bag."""
        try:
            self._queue.put(None, timeout=timeout_s)
        except queue.Full:
            return
        self._thread.join(timeout_s)

    def _run(self) -> None:
        # Takes a second, which the executor does not have.
        from rosbags.rosbag2 import WriterError

        try:
            writer, connections = self._open()
        except (OSError, ValueError, KeyError, WriterError) as error:
            _LOG.error('decisions are not recorded: %s', error)
            return
        try:
            while (item := self._queue.get()) is not None:
                topic, time_ns, data = item
                writer.write(connections[topic], time_ns, data)
        except (OSError, WriterError) as error:
            _LOG.error('the recording cannot be written: %s', error)
        finally:
            writer.close()

    def _open(self) -> tuple[Any, dict[str, Any]]:
        from rosbags.rosbag2 import StoragePlugin
        from rosbags.rosbag2 import Writer
        from rosbags.typesys import get_types_from_msg
        from rosbags.typesys import get_typestore
        from rosbags.typesys import Stores

        store = get_typestore(Stores.ROS2_JAZZY)
        types: dict[str, Any] = {}
        for name, text in self._definitions.items():
            types.update(get_types_from_msg(text, name))
        store.register(types)
        writer = Writer(self._folder, version=9, storage_plugin=StoragePlugin.MCAP)
        writer.open()
        return writer, {topic: writer.add_connection(topic, kind, typestore=store)
                        for topic, kind in self._topics.items()}
