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
Converts a checkpoint folder by a recipe, some rows at a time.

Memory holds a few parts of one tensor, whatever the checkpoint's size: each is read and quantised
by a thread of its own, and written in order. The same source, recipe and rounding give the same
bytes each time, also when an interrupted conversion goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextlib import ExitStack
from dataclasses import dataclass
import os
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor

from gemma_node.errors import CheckpointError
from gemma_node.errors import ConfigError
from gemma_node.model.config import ModelConfig
from gemma_node.model.weights import count_not_finite
from gemma_node.model.weights import read_layout
from gemma_node.model.weights import StoredMatrix
from gemma_node.model.weights import StoredWeights
from gemma_node.quant import affine
from gemma_node.quant import nvfp4
from gemma_node.quant.affine import AffineFormat
from gemma_node.quant.affine import Rounding
from gemma_node.quant.nvfp4 import Nvfp4Format
from gemma_node.quant.packed import Format
from gemma_node.quant.packed import PlainFormat
from gemma_node.quant.plan import make_plan
from gemma_node.quant.plan import Plan
from gemma_node.quant.plan import refuse_quantised
from gemma_node.quant.plan import Unit
from gemma_node.quant.recipes import Recipe
from gemma_node.quant.recipes import recipe_named
from gemma_node.quant.workspace import check_absent
from gemma_node.quant.workspace import Workspace

_Made = TypeVar('_Made')
_Result = TypeVar('_Result')
# Numbers done, numbers in all.
Progress = Callable[[int, int], None]

# A part's temporaries fit into a core's cache: twice as fast as parts of a million numbers.
PART_ELEMENTS = 1 << 17
MAX_THREADS = 8
ROUNDINGS: tuple[Rounding, ...] = ('cpu', 'metal')
_COPIED = ('*.json', '*.jinja', 'tokenizer.model', 'LICENSE*', 'NOTICE*')
_INDEX = '.index.json'
_NOT_COPIED = (
    'config.json', 'hf_quant_config.json',
    'preprocessor_config.json', 'processor_config.json', 'video_preprocessor_config.json',
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """What a conversion wrote; `num_resumed` parameters were there from an interrupted one."""

    num_tensors: int
    num_matrices: int
    num_quantised: int
    tensor_bytes: int
    num_resumed: int


def convert(
    source: Path,
    destination: Path,
    recipe_name: str,
    *,
    rounding: Rounding = 'cpu',
    on_progress: Progress = lambda done, total: None,
) -> Conversion:
    """
    Write `source` by a recipe as the new folder `destination`, all of it or nothing.

    After a KeyboardInterrupt the same call goes on where it was.
    """
    recipe = recipe_named(recipe_name)
    if rounding not in ROUNDINGS:
        raise ConfigError(f'unknown rounding {rounding!r}; choices: {", ".join(ROUNDINGS)}')
    if rounding != 'cpu' and recipe.layout != 'mlx':
        raise ConfigError(f'rounding {rounding} is of the mlx recipes; {recipe.name} has one only')
    config = ModelConfig.from_folder(source)
    check_absent(destination)
    try:
        with ExitStack() as stack:
            stored = read_layout(source, config, stack)
            refuse_quantised(source, stored, recipe)
            plan = make_plan(source, config, stored, recipe, rounding)
            work = stack.enter_context(Workspace(destination, plan))
            pool = stack.enter_context(_threads())
            converter = _Converter(stored, plan, recipe, rounding, on_progress, pool)
            num_resumed = converter.run(work)
            work.commit(_copies(source))
    except OSError as error:
        is_source = error.filename and Path(error.filename).parent == source
        where = f' ({error.filename})' if is_source else ''
        raise CheckpointError(
            f'{destination} was not written: {error.strerror or error}{where}; '
            'nothing is left of it'
        ) from error
    return Conversion(
        num_tensors=sum(len(unit.outputs) for unit in plan.units),
        num_matrices=len(stored.matrices),
        num_quantised=plan.num_quantised,
        tensor_bytes=plan.tensor_bytes,
        num_resumed=num_resumed,
    )


class _Converter:
    """Goes through the units of a plan."""

    def __init__(
        self,
        stored: StoredWeights,
        plan: Plan,
        recipe: Recipe,
        rounding: Rounding,
        on_progress: Progress,
        pool: ThreadPoolExecutor,
    ) -> None:
        self._stored = stored
        self._plan = plan
        self._recipe = recipe
        self._rounding: Rounding = rounding
        self._on_progress = on_progress
        self._pool = pool
        self._scales: dict[tuple[str, ...], Tensor] = {}
        self._total = sum(each.rows * each.columns for each in stored.matrices.values())
        self._done = 0

    def run(self, work: Workspace) -> int:
        """Write what is not yet written; return how many units were."""
        num_resumed = 0
        for unit in self._plan.units:
            matrix = self._stored.matrices.get(unit.name)
            if work.is_done(unit):
                num_resumed += 1
                self._advance(matrix.rows * matrix.columns if matrix else 0)
                continue
            if matrix is None or unit.form is None:
                values = self._stored.vectors[unit.name].load().to(torch.bfloat16)
                _refuse_not_finite(unit.name, count_not_finite(values))
                work.write(unit, '', 0, values)
            else:
                self._write_matrix(work, unit, unit.form, matrix)
            work.finish_unit(unit)
        return num_resumed

    def _write_matrix(
        self, work: Workspace, unit: Unit, form: Format, matrix: StoredMatrix
    ) -> None:
        scale = self._tensor_scale(unit.name) if isinstance(form, Nvfp4Format) else None

        def made(values: Tensor) -> Mapping[str, Tensor]:
            if isinstance(form, AffineFormat):
                affined = affine.quantize(
                    values, bits=form.bits, group_size=form.group_size, rounding=self._rounding
                )
                return {
                    'weight': affined.words, 'scales': affined.scales, 'biases': affined.biases
                }  # fmt: skip
            if isinstance(form, Nvfp4Format):
                blocks = nvfp4.quantize(values, scale)
                return {'weight_packed': blocks.codes, 'weight_scale': blocks.scales}
            return {'weight': values}

        for row, tensors in self._parts(unit.name, made):
            for leaf, tensor in tensors.items():
                work.write(unit, leaf, row, tensor)
            self._advance(next(iter(tensors.values())).shape[0] * matrix.columns)
        if scale is not None:
            work.write(unit, nvfp4.DIVISOR, 0, scale.reshape(1))

    def _tensor_scale(self, module: str) -> Tensor:
        """Return the scale of a module and those that are fused with it."""
        matrices = self._stored.matrices
        group = tuple(each for each in self._recipe.scale_group(module) if each in matrices)
        if group not in self._scales:
            largest = [
                value for each in group for _, value in self._parts(each, lambda v: v.abs().amax())
            ]
            self._scales[group] = nvfp4.tensor_scale_of(torch.stack(largest).amax())
        return self._scales[group]

    def _parts(self, name: str, make: Callable[[Tensor], _Made]) -> Iterator[tuple[int, _Made]]:
        """Yield the first row of each part of a matrix, and what is made of it in bfloat16."""
        matrix = self._stored.matrices[name]
        read = _reader(matrix)
        step = max(1, PART_ELEMENTS // matrix.columns)

        def job(start: int) -> tuple[int, _Made | None]:
            values = read(start, min(start + step, matrix.rows))
            num_bad = count_not_finite(values)
            return num_bad, None if num_bad else make(values)

        num_bad = 0
        for start, (bad, made) in self._in_order(job, range(0, matrix.rows, step)):
            num_bad += bad
            # After a bad part the rest is only counted.
            if made is not None and not num_bad:
                yield start, made
        _refuse_not_finite(name, num_bad)

    def _in_order(
        self, job: Callable[[int], _Result], starts: range
    ) -> Iterator[tuple[int, _Result]]:
        """Yield each start with its result, a few jobs ahead."""
        ahead: deque[tuple[int, Future[_Result]]] = deque()
        for start in starts:
            ahead.append((start, self._pool.submit(job, start)))
            if len(ahead) > MAX_THREADS:
                first, future = ahead.popleft()
                yield first, future.result()
        for first, future in ahead:
            yield first, future.result()

    def _advance(self, count: int) -> None:
        self._done += count
        self._on_progress(self._done, self._total)


@contextmanager
def _threads() -> Iterator[ThreadPoolExecutor]:
    """Give threads in which torch does not open more: on a busy machine those wait for another."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()
    pool = ThreadPoolExecutor(min(MAX_THREADS, cores or 1), thread_name_prefix='convert')
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(before)


def _reader(matrix: StoredMatrix) -> Callable[[int, int], Tensor]:
    if isinstance(matrix.form, PlainFormat):
        stored = matrix.tensors['weight']
        return lambda start, stop: stored.read_rows(start, stop).to(torch.bfloat16)
    packed = matrix.form.build({leaf: each.load() for leaf, each in matrix.tensors.items()})
    return lambda start, stop: packed.take(slice(start, stop)).dequantize(torch.bfloat16)


def _refuse_not_finite(name: str, count: int) -> None:
    if count:
        raise CheckpointError(
            f'{name} holds {count} values that are NaN or infinite and cannot be converted'
        )


def _copies(source: Path) -> dict[str, Path]:
    """Return the files of a checkpoint that belong to the text model as they are."""
    files = {file.name: file for pattern in _COPIED for file in source.glob(pattern)}
    return {
        name: file
        for name, file in sorted(files.items())
        if name not in _NOT_COPIED and not name.endswith(_INDEX) and file.is_file()
    }
