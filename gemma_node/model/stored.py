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
The tensors of a checkpoint folder: one safetensors file or the shards of an index.

Headers are checked before anything is mapped. A tensor is read whole, backed by the file's
memory map, or by rows into memory of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors import SafetensorError
import torch

from gemma_node.errors import CheckpointError
from gemma_node.model.files import weight_files
from gemma_node.model.header import Entry
from gemma_node.model.header import read_header

DTYPES = {
    'BF16': torch.bfloat16,
    'F32': torch.float32,
    'F8_E4M3': torch.float8_e4m3fn,
    'U8': torch.uint8,
    'U32': torch.uint32,
}


class StoredTensor:
    """One tensor of a file; what its header says is known before it is read."""

    def __init__(
        self, path: Path, name: str, entry: Entry, mapped: Callable[[], Any] | None = None
    ) -> None:
        self.path = path
        self.name = name
        self.dtype = entry.dtype
        self.shape = entry.shape
        self.nbytes = entry.nbytes
        self._start = entry.start
        self._mapped = mapped

    def load(self) -> torch.Tensor:
        """Return all of it, backed by the file's memory map."""
        if self._mapped is None:
            return self.read_rows(0, self.shape[0]) if self.shape else self._read(0, self.nbytes)
        tensor: torch.Tensor = self._mapped().get_tensor(self.name)
        return tensor

    def read_rows(self, start: int, stop: int) -> torch.Tensor:
        """Return rows `start` to `stop`, read into memory of their own."""
        row_bytes = self.nbytes // max(1, self.shape[0])
        rows = self._read(start * row_bytes, (stop - start) * row_bytes)
        return rows.view(stop - start, *self.shape[1:])

    def _read(self, offset: int, nbytes: int) -> torch.Tensor:
        buffer = torch.empty(nbytes, dtype=torch.uint8)
        view = buffer.numpy().data
        done = 0
        with self.path.open('rb', buffering=0) as file:
            file.seek(self._start + offset)
            while done < nbytes:
                count = file.readinto(view[done:])
                if not count:
                    raise CheckpointError(f'{self.path} became shorter while it was read')
                done += count
        values = buffer.view(DTYPES[self.dtype])
        return values if self.shape else values.reshape(())


def open_folder(folder: Path, stack: ExitStack) -> dict[str, StoredTensor]:
    """Return every tensor of a folder; the stack closes the files that were mapped."""
    tensors: dict[str, StoredTensor] = {}
    for file in weight_files(folder):
        mapped = _opener(file, stack)
        for name, entry in read_header(file).items():
            if name in tensors:
                raise CheckpointError(f'{folder} stores {name} twice')
            tensors[name] = StoredTensor(file, name, entry, mapped)
    return tensors


def _opener(file: Path, stack: ExitStack) -> Callable[[], Any]:
    handles: list[Any] = []

    def opened() -> Any:
        if not handles:
            try:
                handles.append(stack.enter_context(safe_open(file, framework='pt', device='cpu')))
            except (SafetensorError, OSError) as error:
                raise CheckpointError(f'{file} is damaged or cut short: {error}') from error
        return handles[0]

    return opened
