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
The audit log: JSON lines in rotating zstd files, written by a thread of its own.

`put` never waits: when too many records wait, a new one is dropped and counted. Every file is
complete by itself: it begins with the newest `start` record, and prompts are told as what they
add to the conversation's last one in the same file. What a batch of records came to is flushed,
so that a kill costs no more than the last of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import datetime
import itertools
import logging
import os
from pathlib import Path
import queue
import threading
from typing import Any

from backports import zstd
import msgspec

from gemma_node.errors import ConfigError

SUFFIX = '.jsonl.zst'
PREFIX = 'audit-'
BATCH_S = 0.25
_MAX_BATCH = 256
_LEVEL = 3
_LOG = logging.getLogger(__name__)
_ENCODER = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLimits:
    """How much is kept: bytes of one file, files, and records that wait."""

    max_file_bytes: int = 64 << 20
    max_files: int = 16
    max_waiting: int = 4096


class AuditLog:
    """
    Takes records from any thread; `dropped` counts those that were not written.

    Raises ConfigError when the folder cannot be written.
    """

    def __init__(self, folder: str | Path, limits: AuditLimits | None = None) -> None:
        self._limits = limits or AuditLimits()
        self._folder = Path(folder).expanduser()
        self._queue: queue.Queue[Mapping[str, Any] | None] = queue.Queue(
            self._limits.max_waiting)
        self._numbers = itertools.count(1)
        self._start: Mapping[str, Any] | None = None
        self._file: _File | None = None
        self._told_dropped = 0
        self.dropped = 0
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = self._open()
        except OSError as error:
            raise ConfigError(f"parameter 'audit.folder': {self._folder} cannot be written: "
                              f'{error.strerror or error}') from error
        self._thread = threading.Thread(target=self._run, name='gemma audit', daemon=True)
        self._thread.start()

    def put(self, record: Mapping[str, Any]) -> None:
        """Queue a record of plain or frozen values, or drop it; `kind` says what it is."""
        try:
            self._queue.put_nowait(record)
        except queue.Full:
            self.dropped += 1

    def close(self, timeout_s: float = 5.0) -> None:
        """Write what waits and close the file."""
        try:
            self._queue.put(None, timeout=timeout_s)
        except queue.Full:
            return
        self._thread.join(timeout_s)

    def _run(self) -> None:
        is_over = False
        while not is_over:
            batch = [self._queue.get()]
            # A moment's wait lets records that belong together share a block.
            if batch[0] is not None and not self._queue.full():
                threading.Event().wait(BATCH_S)
            while len(batch) < _MAX_BATCH and not self._queue.empty():
                batch.append(self._queue.get_nowait())
            is_over = None in batch
            try:
                self._write([record for record in batch if record is not None])
            except OSError as error:
                self._give_up_file(len(batch), error)
        if self._file is not None:
            self._file.close()

    def _give_up_file(self, num_records: int, error: OSError) -> None:
        _LOG.error('the audit log cannot be written: %s; records are lost', error)
        self.dropped += num_records
        self._file = None

    def _write(self, records: list[Mapping[str, Any]]) -> None:
        if self._file is None or self._file.nbytes >= self._limits.max_file_bytes:
            if self._file is not None:
                self._file.close()
            self._file = self._open()
        if self.dropped > self._told_dropped:
            self._file.add({'kind': 'dropped', 'count': self.dropped - self._told_dropped})
            self._told_dropped = self.dropped
        for record in records:
            if record['kind'] == 'start':
                self._start = record
            try:
                self._file.add(record)
            except (TypeError, ValueError, KeyError, RecursionError) as error:
                _LOG.error('an audit record of kind %s cannot be written: %s', record['kind'],
                           error)
                self.dropped += 1
        self._file.flush()

    def _open(self) -> _File:
        now = datetime.datetime.now(datetime.timezone.utc)
        name = f'{PREFIX}{now:%Y%m%dT%H%M%S}-{os.getpid()}-{next(self._numbers):04}{SUFFIX}'
        old = _by_age(self._folder)
        for path in old[:max(len(old) + 1 - self._limits.max_files, 0)]:
            path.unlink(missing_ok=True)
        file = _File(self._folder / name)
        if self._start is not None:
            file.add(self._start)
        return file


class _File:
    """One file: records become lines, prompts what they add to the one before."""

    def __init__(self, path: Path) -> None:
        self._stream = path.open('xb')
        self._compressor = zstd.ZstdCompressor(level=_LEVEL)
        self._prompts: dict[tuple[str, str], tuple[int, ...]] = {}
        self.nbytes = 0

    def add(self, record: Mapping[str, Any]) -> None:
        """Append a record to the block that is being made."""
        plain = msgspec.to_builtins(record, str_keys=True)
        trace = plain.get('trace')
        if trace:
            key = (plain.get('robot', ''), plain['request'].get('session', ''))
            ids = tuple(trace.pop('prompt_ids'))
            keep = common_length(self._prompts.get(key, ()), ids)
            self._prompts[key] = ids
            trace['prompt'] = {'keep': keep, 'ids': ids[keep:]}
        self._put(self._compressor.compress(_ENCODER.encode(plain) + b'\n'))

    def flush(self) -> None:
        """Make everything added readable, whatever happens to this process."""
        self._put(self._compressor.flush(zstd.ZstdCompressor.FLUSH_BLOCK))
        self._stream.flush()

    def close(self) -> None:
        """End the file in order."""
        self._put(self._compressor.flush(zstd.ZstdCompressor.FLUSH_FRAME))
        self._stream.close()

    def _put(self, data: bytes) -> None:
        self._stream.write(data)
        self.nbytes += len(data)


def common_length(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many items two sequences have in common from their start."""
    most = min(len(first), len(second))
    if first[:most] == second[:most]:
        return most
    return next(index for index in range(most) if first[index] != second[index])


def audit_files(path: Path) -> list[Path]:
    """Return the files of a log, oldest first; `path` is its folder or one file."""
    if path.is_dir():
        found = _by_age(path)
        if not found:
            raise ConfigError(f'{path} holds no audit log ({PREFIX}*{SUFFIX})')
        return found
    if not path.is_file():
        raise ConfigError(f'there is no audit log at {path}')
    return [path]


def _by_age(folder: Path) -> list[Path]:
    return sorted(folder.glob(f'{PREFIX}*{SUFFIX}'), key=lambda path: path.stat().st_mtime)


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """
    Yield the records of one file, prompts whole again.

    A line that was not finished ends the file; a file that is none raises ConfigError.
    """
    prompts: dict[tuple[str, str], list[int]] = {}
    start: dict[str, Any] = {}
    for line in _lines(path):
        try:
            record = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ConfigError(f'{path} is damaged: {error}') from error
        if not isinstance(record, dict):
            raise ConfigError(f'{path} is no audit log')
        if problem := _problem(record):
            raise ConfigError(f'{path} is damaged, or of another version: a record of kind '
                              f'{str(record.get("kind"))[:40]!r} {problem}')
        if record.get('kind') == 'start':
            start = record
        trace = record.get('trace')
        if trace:
            key = (record.get('robot', ''), record['request'].get('session', ''))
            told = trace.pop('prompt')
            before = prompts.get(key, [])
            if told['keep'] > len(before):
                raise ConfigError(f'{path} is damaged: decision {record["id"]} keeps '
                                  f'{told["keep"]} tokens of a prompt of {len(before)}')
            trace['prompt_ids'] = before[:told['keep']] + told['ids']
            prompts[key] = trace['prompt_ids']
        yield {**record, 'start': start} if record.get('kind') == 'decision' else record


def _problem(record: dict[str, Any]) -> str:
    """Return what of a record's frame is not as it is written; '' where all is well."""
    wanted: dict[str, type] = {'decision_id': str}
    if record.get('kind') == 'decision':
        wanted |= {'id': str, 'robot': str, 'request': dict}
        missing = [name for name in ('id', 'robot', 'request') if name not in record]
        if missing:
            return f'has no {missing[0]}'
    for name, kind in wanted.items():
        if name in record and not isinstance(record[name], kind):
            return f'has a {name} that is no {kind.__name__}'
    trace = record.get('trace')
    if not trace:
        return ''
    told = trace.get('prompt') if isinstance(trace, dict) else None
    ids = told.get('ids') if isinstance(told, dict) else None
    keep = told.get('keep') if isinstance(told, dict) else None
    if record.get('kind') != 'decision' or not isinstance(ids, list) \
            or not isinstance(keep, int) or keep < 0:
        return 'has a trace without a prompt'
    outputs = trace.get('output_ids', [])
    if not isinstance(outputs, list) or not all(
            isinstance(each, int) and 0 <= each < 1 << 31 for each in (*ids, *outputs)):
        return 'has a trace with ids that are no tokens'
    return ''


def _lines(path: Path) -> Iterator[bytes]:
    rest = b''
    decompressor = zstd.ZstdDecompressor()
    try:
        with path.open('rb') as stream:
            while data := stream.read(1 << 20):
                while data:
                    if decompressor.eof:
                        # Another log was appended to this one.
                        decompressor, rest = zstd.ZstdDecompressor(), b''
                    *whole, rest = (rest + decompressor.decompress(data)).split(b'\n')
                    yield from whole
                    data = decompressor.unused_data if decompressor.eof else b''
    except zstd.ZstdError as error:
        raise ConfigError(f'{path} is no audit log, or damaged: {error}') from error
