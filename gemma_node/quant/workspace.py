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
The unfinished result of a conversion: a hidden folder beside the destination, and its journal.

The destination appears by one rename, whole. What the journal calls done is believed only after
its bytes were read back, so that a conversion that was killed goes on where it was. Any failure
removes the folder; only an interrupt keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping
import fcntl
import hashlib
import json
import os
from pathlib import Path
import shutil
from types import TracebackType
from typing import IO

import torch
from torch import Tensor

from gemma_node.errors import CheckpointError
from gemma_node.quant.plan import Output
from gemma_node.quant.plan import Plan
from gemma_node.quant.plan import Unit

_JOURNAL = 'journal.jsonl'
_BLOCK = 1 << 22


class Workspace:
    """
    Writes tensors of a plan to their places, unit by unit.

    Use it as a context. One process at a time: the journal is locked.
    """

    def __init__(self, destination: Path, plan: Plan) -> None:
        self.folder = destination.parent / f'.{destination.name}.partial'
        self._destination = destination
        self._plan = plan
        self._done: dict[str, dict[str, str]] = {}
        self._files: dict[str, int] = {}
        self._hashes: dict[str, hashlib._Hash] = {}
        self._journal: IO[str] | None = None

    def __enter__(self) -> Workspace:
        """Open the folder that an interrupted run left for the same result, or a new one."""
        check_absent(self._destination)
        self._check_room()
        if self.folder.is_symlink() or (self.folder.exists() and not self.folder.is_dir()):
            raise self._in_the_way()
        self.folder.mkdir(exist_ok=True)
        self._open_journal()
        try:
            self._open_files()
        except OSError as error:
            self.__exit__(OSError, error, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close everything; remove the folder after a failure, keep it after an interrupt."""
        for descriptor in self._files.values():
            os.close(descriptor)
        if self._journal is not None:
            is_failure = kind is not None and not issubclass(kind, KeyboardInterrupt)
            if is_failure:
                shutil.rmtree(self.folder, ignore_errors=True)
            self._journal.close()

    def is_done(self, unit: Unit) -> bool:
        """Return whether an earlier run wrote this unit and its bytes are still there."""
        digests = self._done.get(unit.name)
        if digests is None or digests.keys() != unit.outputs.keys():
            return False
        return all(self._digest(output) == digests[leaf] for leaf, output in unit.outputs.items())

    def write(self, unit: Unit, leaf: str, row: int, values: Tensor) -> None:
        """Write rows of one tensor; parts of a tensor come in order."""
        output = unit.outputs[leaf]
        data = values.contiguous().flatten().view(torch.uint8).numpy().data
        row_bytes = output.nbytes // output.shape[0]
        _write(self._files[output.file], output.start + row * row_bytes, data)
        self._hashes.setdefault(leaf, hashlib.sha256()).update(data)

    def finish_unit(self, unit: Unit) -> None:
        """Note in the journal that a unit is written."""
        digests = {leaf: digest.hexdigest() for leaf, digest in self._hashes.items()}
        self._hashes.clear()
        self._note({'unit': unit.name, 'sha256': digests})

    def commit(self, copies: Mapping[str, Path]) -> None:
        """Add the small files and make the result appear under its name."""
        for name, file in copies.items():
            shutil.copyfile(file, self.folder / name)
        for name, text in self._plan.texts.items():
            (self.folder / name).write_text(text, encoding='utf-8')
        for file in self.folder.iterdir():
            _sync(file)
        check_absent(self._destination)
        (self.folder / _JOURNAL).unlink()
        _sync(self.folder)
        self.folder.rename(self._destination)
        _sync(self._destination.parent)

    def _check_room(self) -> None:
        parent = self._destination.parent
        if not parent.is_dir():
            raise CheckpointError(f'there is no folder {parent} to write {self._destination.name}')
        needed = sum(self._plan.sizes.values())
        here = sum(file.stat().st_blocks * 512 for file in self.folder.glob('*'))
        free = shutil.disk_usage(parent).free + here
        if needed > free:
            raise CheckpointError(
                f'{self._destination} would take {needed:,} bytes, and {parent} has {free:,} free'
            )

    def _open_files(self) -> None:
        for name, header in self._plan.headers.items():
            descriptor = os.open(self.folder / name, os.O_RDWR | os.O_CREAT, 0o644)
            self._files[name] = descriptor
            os.ftruncate(descriptor, self._plan.sizes[name])
            _write(descriptor, 0, header)

    def _open_journal(self) -> None:
        path = self.folder / _JOURNAL
        is_foreign = any(self.folder.iterdir()) if not path.exists() else not path.is_file()
        if is_foreign or any(file.is_dir() for file in self.folder.iterdir()):
            raise self._in_the_way()
        # What a crash of the machine left in it may be anything.
        journal = path.open('a+', encoding='utf-8', errors='replace')
        try:
            fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            journal.close()
            raise CheckpointError(f'another conversion is writing {self._destination}') from error
        self._journal = journal
        journal.seek(0)
        lines = journal.read().splitlines()
        if lines[:1] != [json.dumps({'identity': self._plan.identity})]:
            self._start_over(journal)
            return
        for line in lines[1:]:
            try:
                entry = json.loads(line)
                self._done[entry['unit']] = entry['sha256']
            except (ValueError, KeyError, TypeError):
                # The last line may be cut short; what follows would not be trusted either.
                break

    def _in_the_way(self) -> CheckpointError:
        return CheckpointError(
            f'{self.folder} is in the way; it is not of a conversion, move it elsewhere'
        )

    def _start_over(self, journal: IO[str]) -> None:
        for file in self.folder.iterdir():
            if file.name != _JOURNAL:
                file.unlink()
        journal.truncate(0)
        self._note({'identity': self._plan.identity})

    def _note(self, entry: object) -> None:
        assert self._journal is not None
        self._journal.write(json.dumps(entry) + '\n')
        self._journal.flush()

    def _digest(self, output: Output) -> str:
        digest = hashlib.sha256()
        position, stop = output.start, output.start + output.nbytes
        while position < stop:
            block = os.pread(self._files[output.file], min(_BLOCK, stop - position), position)
            if not block:
                return ''
            digest.update(block)
            position += len(block)
        return digest.hexdigest()


def check_absent(destination: Path) -> None:
    """Raise CheckpointError if something is where the result shall be."""
    if destination.exists() or destination.is_symlink():
        raise CheckpointError(f'{destination} exists and is not overwritten; name another folder')


def _write(descriptor: int, position: int, data: bytes | memoryview) -> None:
    view = memoryview(data)
    while view:
        count = os.pwrite(descriptor, view, position)
        view = view[count:]
        position += count


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
