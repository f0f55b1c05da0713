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

"""Runs a conversion for the command line: a progress bar on stderr, what was written as values."""

from __future__ import annotations

from pathlib import Path
import sys
from typing import Any
from typing import Literal

from rich.console import Console
from rich.progress import BarColumn
from rich.progress import Progress
from rich.progress import TaskProgressColumn
from rich.progress import TextColumn
from rich.progress import TimeRemainingColumn

from gemma_node.quant.convert import convert

_UNVERIFIED = (
    "rounding metal follows the source of MLX's Metal kernel; it was not compared with a Mac"
)


def run_conversion(
    source: Path, destination: Path, *, recipe: str, rounding: Literal['cpu', 'metal']
) -> dict[str, Any]:
    """Convert and return what was written; a KeyboardInterrupt says how to go on."""
    console = Console(stderr=True)
    columns = (TextColumn('{task.description}'), BarColumn(), TaskProgressColumn())
    try:
        with Progress(
            *columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal
        ) as progress:
            task = progress.add_task(recipe, total=None)
            made = convert(
                source,
                destination,
                recipe,
                rounding=rounding,
                on_progress=lambda done, total: progress.update(
                    task, completed=done, total=total
                ),
            )
    except KeyboardInterrupt:
        sys.stderr.write('gemma-node: interrupted; the same command goes on where this one was\n')
        raise
    return {
        'folder': str(destination),
        'recipe': recipe,
        'rounding': rounding,
        'matrices': made.num_matrices,
        'quantised': made.num_quantised,
        'tensors': made.num_tensors,
        'tensor_bytes': made.tensor_bytes,
        'resumed': made.num_resumed,
        'unverified': _UNVERIFIED if rounding == 'metal' else '',
    }
