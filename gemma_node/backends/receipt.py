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
Receipts as admission reads them: where they lie, whether they are whole, and what they cover.

A receipt is a JSON file that `gemma-node receipts` wrote. It covers a device and configuration
when it passed, nobody edited it, what it was measured on is what is here now, and the limits
asked for are within those it was measured with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from gemma_node.backends.identity import checkpoint_digest
from gemma_node.backends.identity import kernel_digest
from gemma_node.backends.identity import libraries
from gemma_node.backends.identity import package_digest
from gemma_node.errors import ConfigError
from gemma_node.model.cache_shape import TILE

KIND = 'gemma_node receipt'
FORMAT = 1
# Limits that may be asked for in less than they were measured with; all others must be equal.
_AT_MOST = ('lanes', 'context_tokens')
_WORDS = {
    'backend': 'the device kind',
    'checkpoint': 'the checkpoint',
    'package': 'the package',
    'kernels': 'the kernels',
    'libraries': 'the libraries',
    'device': 'the device',
}


def receipts_folder() -> Path:
    """
    Return where receipts are written and looked for unless another place is named.

    It is no absolute path where the user has no home.
    """
    base = os.environ.get('XDG_STATE_HOME', '')
    root = base if base.startswith('/') else os.path.expanduser('~/.local/state')
    return Path(root) / 'gemma_node' / 'receipts'


def identity(checkpoint: Path, backend: str, device: Mapping[str, str]) -> dict[str, Any]:
    """Return all that a receipt is bound to."""
    return {
        'backend': backend,
        'checkpoint': checkpoint_digest(checkpoint),
        'package': package_digest(),
        'kernels': kernel_digest(),
        'libraries': libraries(),
        'device': dict(device),
    }


def limits(
    *, lanes: int, context_tokens: int, compute_dtype: str, kv_dtype: str = 'auto'
) -> dict[str, Any]:
    """Return the limits that a receipt is bound to."""
    return {
        'lanes': lanes,
        'context_tokens': context_tokens,
        'compute_dtype': compute_dtype,
        'kv_dtype': kv_dtype,
        'tile': TILE,
    }


def digest_of(receipt: Mapping[str, Any]) -> str:
    """Return the sha256 over everything in a receipt but its digest."""
    rest = {key: value for key, value in receipt.items() if key != 'digest'}
    text = json.dumps(rest, sort_keys=True, separators=(',', ':'), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def read_receipt(file: Path) -> dict[str, Any]:
    """Return a receipt; raises ConfigError if it is none or was edited."""
    if file.exists() and not file.is_file():
        raise ConfigError(f'{file} cannot be read as a receipt: it is no plain file')
    try:
        receipt = json.loads(file.read_text(encoding='utf-8'))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f'{file} cannot be read as a receipt: {error}') from error
    if not isinstance(receipt, dict) or receipt.get('kind') != KIND:
        raise ConfigError(f'{file} is no receipt; `gemma-node receipts` writes them')
    if receipt.get('format') != FORMAT:
        raise ConfigError(f'{file} is of format {receipt.get("format")!r}, expected {FORMAT}')
    if receipt.get('digest') != digest_of(receipt):
        raise ConfigError(f'{file} was edited: its digest is not that of its content')
    return receipt


def shortfall(
    receipt: Mapping[str, Any], here: Mapping[str, Any], wanted: Mapping[str, Any]
) -> str:
    """Return why a receipt does not cover what is here and wanted, or ''."""
    if receipt.get('passed') is not True:
        return 'its checks did not all pass'
    bound, envelope = receipt.get('identity', {}), receipt.get('envelope', {})
    for key, word in _WORDS.items():
        if bound.get(key) != here[key]:
            return f'{word} is not the one it was made with'
    for key, value in wanted.items():
        measured = envelope.get(key)
        if key in _AT_MOST:
            if not isinstance(measured, int) or measured < value:
                return f'{key} {value} was asked for, it was made with {measured}'
        elif measured != value:
            return f'{key} {value} was asked for, it was made with {measured}'
    return ''


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The receipts that there are for a checkpoint: beside it, and in the state folder."""

    checkpoint: Path
    folders: tuple[Path, ...]

    @classmethod
    def of(cls, checkpoint: Path) -> Evidence:
        """Look in the two usual places."""
        return cls(
            checkpoint=checkpoint, folders=(checkpoint / 'receipts', receipts_folder())
        )

    def gap(self, backend: str, device: Mapping[str, str], wanted: Mapping[str, Any]) -> str:
        """
        Return '' if a receipt covers it, else why none does.

        :param wanted: as `limits` gives it
        """
        files = [file for folder in self.folders for file in sorted(folder.glob('*.json'))]
        if not files:
            return f'there is none in {" or ".join(map(str, self.folders))}'
        here = identity(self.checkpoint, backend, device)
        reasons = []
        for file in files:
            try:
                reason = shortfall(read_receipt(file), here, wanted)
            except ConfigError as error:
                reason = str(error)
            if not reason:
                return ''
            reasons.append(f'{file.name}: {reason}')
        return '; '.join(reasons[-3:])
