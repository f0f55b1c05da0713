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

"""The output file of a replay: there whole at the end or not at all, and never an input."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
import errno
import os
from pathlib import Path
import shutil
import tempfile
from typing import TextIO

from gemma_node.errors import ConfigError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def check_output(out: Path, inputs: Sequence[Path]) -> None:
    """Raise ConfigError where `out` cannot become a file, or would replace what is read."""
    if out.is_dir():
        raise ConfigError(f'cannot write {out}: it is a folder, name a file')
    if not out.parent.is_dir():
        raise ConfigError(f'cannot write {out}: there is no folder {out.parent}')
    target = out.resolve()
    for path in inputs:
        source = path.resolve()
        if target == source or source in target.parents:
            raise ConfigError(f'cannot write {out}: it would be written over {path}, an input')


@contextmanager
def whole_file(out: Path) -> Iterator[TextIO]:
    """Give a stream whose text reaches `out` when the block ends, and only if it ends well."""
    try:
        if out.exists() and not out.is_file():
            with _device(out) as stream:
                yield stream
        else:
            with _beside(out.resolve()) as stream:
                yield stream
    except OSError as error:
        if error.errno in _FULL:
            raise ConfigError(f'cannot write {out}: {error.strerror}') from error
        raise


@contextmanager
def _beside(target: Path) -> Iterator[TextIO]:
    """Write beside the target and rename at the end."""
    try:
        handle, name = tempfile.mkstemp(prefix='.gemma_node_replay_', dir=target.parent)
    except OSError as error:
        raise ConfigError(f'cannot write {target}: {error.strerror}') from error
    part = Path(name)
    try:
        with os.fdopen(handle, 'w', encoding='utf-8', newline='\n') as stream:
            yield stream
        part.chmod(0o644)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _device(out: Path) -> Iterator[TextIO]:
    """Keep the text until the end: a pipe or device such as /dev/stdout has no name to rename."""
    with tempfile.TemporaryFile('w+', encoding='utf-8', newline='\n') as stream:
        yield stream
        stream.seek(0)
        with out.open('w', encoding='utf-8', newline='\n') as device:
            shutil.copyfileobj(stream, device)
