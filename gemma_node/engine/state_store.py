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
Prompt states on disk: one file a state, written whole or not at all.

A file is named by its content's key: what computed it (model, recipe, runner), whose it is and
its token ids. It carries a checksum of its tensors. One that is damaged, cut short or not what
its name says is removed, said once in the log and counted; the prompt is then computed afresh.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import hashlib
import json
import logging
from pathlib import Path
import struct
import tempfile
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
import torch

_LOG = logging.getLogger(__name__)
_SUFFIX = '.gnstate'
_MAGIC = b'GNSTATE1'
_LENGTH = struct.Struct('<Q')
_MAX_HEADER = 1 << 26


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredState:
    """What a file holds, without its tensors."""

    path: Path
    key: str
    is_shared: bool
    token_ids: tuple[int, ...]
    nbytes: int
    modified: float

    @property
    def rows(self) -> int:
        """Rows of the state."""
        return len(self.token_ids)


class StateStore:
    """
    Reads and writes the states of one identity in one folder; engine thread only.

    Files of another identity are left alone. Past `budget_bytes` the oldest files go first.
    """

    def __init__(self, folder: Path, identity: str, budget_bytes: int) -> None:
        self.num_damaged = 0
        self.num_loaded = 0
        self.num_written = 0
        self._folder = folder
        self._identity = hashlib.sha256(identity.encode()).hexdigest()
        self._budget_bytes = budget_bytes
        self._states: dict[Path, StoredState] = {}
        self._is_broken = False
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path in sorted(folder.glob(f'{self._identity[:16]}-*{_SUFFIX}')):
                self._index(path)
        except OSError as error:
            self._give_up(error)

    def __len__(self) -> int:
        return len(self._states)

    def find(self, key: str, prompt_ids: tuple[int, ...], shared_line: int) -> StoredState | None:
        """Return the longest state of a prompt."""
        best = None
        for state in self._states.values():
            mine = state.rows <= shared_line if state.is_shared else state.key == key
            longer = best is None or state.rows > best.rows
            fits = mine and longer and state.rows <= len(prompt_ids)
            if fits and state.token_ids == prompt_ids[: state.rows]:
                best = state
        return best

    def load(self, state: StoredState) -> dict[str, torch.Tensor] | None:
        """Return a state's tensors; None, and the file gone, when it is damaged."""
        try:
            data = state.path.read_bytes()
            header, body = _split(data)
            if hashlib.sha256(body).hexdigest() != header['sha256']:
                raise ValueError('its checksum differs')
            tensors = load_tensors(body)
        except (OSError, ValueError, KeyError, SafetensorError) as error:
            self.refuse(state.path, str(error))
            return None
        self.num_loaded += 1
        return tensors

    def save(
        self,
        key: str,
        token_ids: tuple[int, ...],
        tensors: Mapping[str, torch.Tensor],
        *,
        is_shared: bool,
    ) -> None:
        """Write a state; an older one of the same key goes once it is there."""
        if self._is_broken:
            return
        body = save_tensors({name: tensor.contiguous() for name, tensor in tensors.items()})
        header = {
            'identity': self._identity,
            'key': key,
            'is_shared': is_shared,
            'token_ids': list(token_ids),
            'sha256': hashlib.sha256(body).hexdigest(),
        }
        try:
            path = self._write(self._path(key, token_ids, is_shared=is_shared), header, body)
        except OSError as error:
            self._give_up(error)
            return
        self.num_written += 1
        if not is_shared:
            self.forget(key, but=path)
        self._index(path)
        self._shrink()

    def forget(self, key: str, *, but: Path | None = None) -> None:
        """Remove the files of one key."""
        for state in list(self._states.values()):
            if not state.is_shared and state.key == key and state.path != but:
                self._remove(state.path)

    def clear(self) -> None:
        """Remove every file of this identity."""
        for path in list(self._states):
            self._remove(path)

    def refuse(self, path: Path, reason: str) -> None:
        """Count and remove a file that cannot be used."""
        self.num_damaged += 1
        _LOG.warning('the prompt state %s is not used: %s; it is computed afresh', path, reason)
        self._remove(path)

    def _path(self, key: str, token_ids: tuple[int, ...], *, is_shared: bool) -> Path:
        digest = hashlib.sha256(f'{is_shared}:{key}:'.encode())
        digest.update(np.asarray(token_ids, '<u4').tobytes())
        return self._folder / f'{self._identity[:16]}-{digest.hexdigest()[:32]}{_SUFFIX}'

    def _write(self, path: Path, header: dict[str, object], body: bytes) -> Path:
        text = json.dumps(header).encode()
        with tempfile.NamedTemporaryFile(dir=self._folder, suffix='.part', delete=False) as file:
            partial = Path(file.name)
            try:
                file.write(_MAGIC + _LENGTH.pack(len(text)) + text)
                file.write(body)
                file.flush()
            except OSError:
                partial.unlink(missing_ok=True)
                raise
        partial.replace(path)
        return path

    def _index(self, path: Path) -> None:
        try:
            with path.open('rb') as file:
                start = file.read(len(_MAGIC) + _LENGTH.size)
                length = _header_length(start)
                header = _header(file.read(length))
            if header['identity'] != self._identity:
                raise ValueError('it belongs to another model or runner')
            status = path.stat()
            state = StoredState(
                path=path,
                key=str(header['key']),
                is_shared=bool(header['is_shared']),
                token_ids=tuple(map(int, header['token_ids'])),
                nbytes=status.st_size,
                modified=status.st_mtime,
            )
            if path != self._path(state.key, state.token_ids, is_shared=state.is_shared):
                raise ValueError('its name is of other tokens')
        except (OSError, ValueError, KeyError, TypeError) as error:
            self.refuse(path, str(error))
            return
        self._states[path] = state

    def _shrink(self) -> None:
        total = sum(state.nbytes for state in self._states.values())
        oldest = sorted(self._states.values(), key=lambda each: (each.is_shared, each.modified))
        for state in oldest[:-1]:
            if total <= self._budget_bytes:
                return
            total -= state.nbytes
            self._remove(state.path)

    def _remove(self, path: Path) -> None:
        self._states.pop(path, None)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        if not self._is_broken:
            _LOG.warning('prompt states are not written to %s: %s', self._folder, error)
        self._is_broken = True


def _split(data: bytes) -> tuple[dict[str, Any], bytes]:
    start = len(_MAGIC) + _LENGTH.size
    length = _header_length(data[:start])
    return _header(data[start : start + length]), data[start + length :]


def _header_length(start: bytes) -> int:
    if len(start) < len(_MAGIC) + _LENGTH.size or start[: len(_MAGIC)] != _MAGIC:
        raise ValueError('it is no prompt state')
    (length,) = _LENGTH.unpack(start[len(_MAGIC) :])
    if length > _MAX_HEADER:
        raise ValueError('its header is too long')
    return int(length)


def _header(text: bytes) -> dict[str, Any]:
    header = json.loads(text)
    if not isinstance(header, dict) or not isinstance(header.get('token_ids'), list):
        raise ValueError('its header is no state header')
    return header
