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

"""Which files of a checkpoint folder hold its weights; no file outside it, and no pickle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gemma_node.errors import CheckpointError

SINGLE_FILE = 'model.safetensors'
INDEX_FILE = 'model.safetensors.index.json'
# Four bytes each at most: no file system refuses to look for such a name.
_MAX_NAME = 60


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files that make up the checkpoint; raises CheckpointError."""
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        raise CheckpointError(
            f'{str(folder)!r} is no UTF-8, which the safetensors library needs; rename the folder'
        ) from None
    index = folder / INDEX_FILE
    single = folder / SINGLE_FILE
    if single.is_file():
        return [single]
    if index.is_file():
        return _files_of_index(folder, index)
    pickles = sorted(file.name for file in folder.glob('*.bin'))
    if pickles:
        raise CheckpointError(
            f'{folder} holds {pickles[0]}, a pickle that can run code; '
            f'convert it to {SINGLE_FILE}'
        )
    raise CheckpointError(f'{folder} holds neither {SINGLE_FILE} nor {INDEX_FILE}')


def _files_of_index(folder: Path, index: Path) -> list[Path]:
    try:
        raw = json.loads(index.read_text(encoding='utf-8'), object_pairs_hook=_unique)
        names = raw['weight_map']
        shards = sorted(set(names.values()))
    except (
        OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError,
    ) as error:  # fmt: skip
        raise CheckpointError(f'{index} is not a weight index: {repr(error)[:200]}') from error
    if not shards:
        raise CheckpointError(f'{index} names no file')
    for shard in shards:
        plain = isinstance(shard, str) and shard == Path(shard).name and '\\' not in shard
        if not plain or not shard.endswith('.safetensors') or len(shard) > _MAX_NAME:
            shown = repr(shard)[:_MAX_NAME]
            raise CheckpointError(f'{index} names {shown}; a shard is a .safetensors file name')
        if not (folder / shard).is_file():
            raise CheckpointError(f'{folder / shard} is missing; {INDEX_FILE} names it')
    return [folder / shard for shard in shards]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name, value in pairs:
        if name in table:
            raise ValueError(f'it names {name[:_MAX_NAME]!r} twice')
        table[name] = value
    return table
