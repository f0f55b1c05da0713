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
Every kernel that multiplies with a weight matrix, against float64.

The bound is 1.5 times the error of the eager pass in bfloat16: `F.linear` of bfloat16 inputs with
the weights as the format's own library unpacks them to bfloat16, which is what transformers
computes. Inputs are bfloat16 numbers, so every dtype gets the same ones. To have another kernel
measured, add it to `KERNELS`.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace
from functools import cache
from typing import Any
from typing import cast

import torch
from torch import Tensor
import torch.nn.functional as F  # noqa: N812

from gemma_node.backends.cuda_weights import planes_of
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.runner import is_on_device
from gemma_node.kernels.cuda_matmul import parts_of
from gemma_node.model.cache_shape import TILE
from gemma_node.model.cached_native import native_problem
from gemma_node.model.cached_native import NativeModel
from gemma_node.model.config import FULL
from gemma_node.model.config import ModelConfig
from gemma_node.model.config import RopeConfig
from gemma_node.model.gemma4 import Gemma4
from gemma_node.quant.affine import AffineTensors
from gemma_node.quant.nvfp4 import Nvfp4Tensors
from gemma_node.quant.packed import dense
from gemma_node.quant.packed import Packed
from gemma_node.quant.packed import PlainTensor
from gemma_node.receipts.bench import Bench
from gemma_node.receipts.checks import Finding
from gemma_node.receipts.checks import Mutation
from gemma_node.receipts.checks import NotRun

_FACTOR = 1.5
_ROWS = (1, TILE)
# Of a larger matrix only the first rows are measured.
_MAX_OUTPUTS = 4096


@dataclass(frozen=True, slots=True)
class Kernel:
    """
    One way to compute x W^T.

    `serves` says on which bench it runs, `multiply(matrix, x, dtype)` returns it for
    x [rows, columns] in a dtype.
    """

    name: str
    serves: Callable[[Bench], bool]
    multiply: Callable[[Packed, Tensor, torch.dtype], Tensor]


def _unpacked(matrix: Packed, x: Tensor, dtype: torch.dtype) -> Tensor:
    return F.linear(x.to(dtype), dense(matrix, dtype))


def _is_native(bench: Bench) -> bool:
    fits = not native_problem(bench.model.config) and bench.dtype == torch.float32
    return bench.backend == 'cpu' and fits


def _native(matrix: Packed, x: Tensor, dtype: torch.dtype) -> Tensor:
    return _host().multiply(matrix, x.to(dtype))


def _is_on_device(bench: Bench) -> bool:
    config = EngineConfig(
        device=bench.backend, compute_dtype=str(bench.dtype).removeprefix('torch.')
    )
    return is_on_device(bench.model, config)


def _on_device(matrix: Packed, x: Tensor, dtype: torch.dtype) -> Tensor:
    """Multiply as decode does, or with whole tiles as prompts do."""
    from gemma_node.kernels import triton_ops

    weight = planes_of(matrix, x.device)
    if len(x) % TILE == 0:
        out = torch.zeros(len(x), weight.rows, device=x.device)
        triton_ops.prompt_product(x.to(dtype), weight, out)
        return out
    padded = torch.zeros(8, x.shape[1], dtype=dtype, device=x.device)
    padded[: len(x)] = x
    parts = torch.zeros(parts_of(weight), 8, weight.rows, device=x.device)
    triton_ops.product(padded, weight, parts)
    return parts.sum(0)[: len(x)]


@cache
def _host() -> NativeModel:
    """Return a model of next to nothing, for what packs and multiplies."""
    config = ModelConfig(
        vocab_size=16,
        hidden_size=16,
        intermediate_size=16,
        num_heads=1,
        num_kv_heads=1,
        num_global_kv_heads=1,
        head_dim=16,
        global_head_dim=16,
        ple_dim=16,
        layer_types=(FULL,),
        num_kv_shared_layers=0,
        sliding_window=16,
        sliding_rope=RopeConfig(theta=1e4),
        full_rope=RopeConfig(theta=1e6),
        max_position_embeddings=64,
    )
    with torch.inference_mode(False):
        return NativeModel(Gemma4(config), num_positions=64, num_threads=1)


KERNELS: tuple[Kernel, ...] = (
    Kernel('torch', lambda bench: not (_is_native(bench) or _is_on_device(bench)), _unpacked),
    Kernel('native', _is_native, _native),
    Kernel('device', _is_on_device, _on_device),
)


@dataclass(frozen=True, slots=True)
class _Subject:
    """A matrix, by what is measured of it and its form."""

    name: str
    form: str
    matrix: Packed


class Projections:
    """Maximum and p99 error of each kernel, relative to the size of its results."""

    name = 'projections'
    title = 'products with weights against float64, by kernel'

    def lacks(self, bench: Bench) -> str:
        """Return ''; it runs everywhere."""
        return ''

    def run(self, bench: Bench) -> Finding:
        """Measure every kernel on every kind of matrix."""
        return _measure(bench, _subjects(bench), lambda matrix: matrix)

    def mutations(self, bench: Bench) -> Iterator[Mutation | NotRun]:
        """Yield faults of how a kernel reads weights, once for each form of matrix."""
        first = {each.form: each for each in reversed(_subjects(bench))}
        for form, subject in sorted(first.items()):
            for fault, plant in _faults(subject.matrix):
                yield Mutation(
                    fault=f'{form}: {fault}',
                    planted_in='the weights that the kernel reads',
                    run=lambda subject=subject, plant=plant: _measure(bench, [subject], plant),  # type: ignore[misc]
                )
        if all(isinstance(each.matrix, PlainTensor) for each in first.values()):
            why = 'no matrix of this checkpoint is quantised'
            yield NotRun(what=f'{self.name}: order of nibbles, scales of another group', why=why)


def _subjects(bench: Bench) -> list[_Subject]:
    """Return each kind of matrix once, from the first layer and the last that have it."""
    found: dict[tuple[str, str], _Subject] = {}
    last: dict[tuple[str, str], _Subject] = {}
    for name, module in bench.model.named_modules():
        if not hasattr(module, 'packed') or name == 'embed_tokens_per_layer':
            continue
        matrix, form = cast('Packed', module.packed), cast('str', module.form)
        key = (name.rpartition('.')[2], form)
        found.setdefault(key, _Subject(name, form, matrix))
        last[key] = _Subject(name, form, matrix)
    chosen = [*found.values()]
    if not bench.quick:
        chosen += [each for key, each in last.items() if each.name != found[key].name]
    return chosen


def _measure(
    bench: Bench, subjects: list[_Subject], plant: Callable[[Packed], Packed]
) -> Finding:
    passed, measured, bounds = True, {}, {}
    for subject in subjects:
        matrix = subject.matrix.take(slice(0, _MAX_OUTPUTS)).to(bench.device)
        for rows in _ROWS:
            x = _inputs(rows, matrix.shape[1]).to(bench.device)
            exact = x.double() @ dense(matrix, torch.float64).T
            limit = _errors(_unpacked(matrix, x, torch.bfloat16), exact)
            limit = {key: _FACTOR * value for key, value in limit.items()}
            for kernel in KERNELS:
                if not kernel.serves(bench):
                    continue
                found = _errors(kernel.multiply(plant(matrix), x, bench.dtype), exact)
                passed &= all(found[key] <= limit[key] for key in limit)
                key = f'{kernel.name}: {subject.name} ({subject.form}), {rows} rows'
                measured[key], bounds[key] = found, limit
    return Finding(passed=passed, measured=measured, bounds=bounds)


def _inputs(rows: int, columns: int) -> Tensor:
    generator = torch.Generator().manual_seed(rows * 1_000_003 + columns)
    return torch.randn(rows, columns, generator=generator).bfloat16()


def _errors(result: Tensor, exact: Tensor) -> dict[str, float]:
    error = (result.double() - exact).abs().flatten() / exact.square().mean().sqrt()
    rank = max(1, round(0.99 * error.numel()))
    return {'p99': error.kthvalue(rank).values.item(), 'max': error.max().item()}


def _faults(matrix: Packed) -> Iterator[tuple[str, Callable[[Packed], Packed]]]:
    yield 'rows of the next output', _next_row
    if isinstance(matrix, PlainTensor):
        yield 'the last sixteenth of the inputs lost', _cut_columns
    if isinstance(matrix, AffineTensors):
        if matrix.bits == 4:
            yield 'other order of nibbles', _swap_words
        yield 'scales of the next group', lambda each: _roll(each, 'scales')
        yield 'biases of the next group', lambda each: _roll(each, 'biases')
    if isinstance(matrix, Nvfp4Tensors):
        yield 'other order of nibbles', _swap_codes
        yield 'scales of the next group', lambda each: _roll(each, 'scales')


def _next_row(matrix: Packed) -> Packed:
    count = matrix.shape[0]
    return matrix.take((torch.arange(count) + 1) % count)


def _cut_columns(matrix: Packed) -> Packed:
    assert isinstance(matrix, PlainTensor)
    values = matrix.values.clone()
    values[:, -max(1, values.shape[1] // 16) :] = 0
    return PlainTensor(values)


def _swap_words(matrix: Packed) -> Packed:
    assert isinstance(matrix, AffineTensors)
    words = _swapped(matrix.words.contiguous().view(torch.uint8)).view(torch.uint32)
    return replace(matrix, words=words)


def _swap_codes(matrix: Packed) -> Packed:
    assert isinstance(matrix, Nvfp4Tensors)
    return replace(matrix, codes=_swapped(matrix.codes))


def _swapped(stream: Tensor) -> Tensor:
    return ((stream << 4) | (stream >> 4)).contiguous()


def _roll(matrix: Any, leaf: str) -> Packed:
    values = getattr(matrix, leaf)
    raw = values.contiguous().view(torch.uint8).view(*values.shape, -1)
    rolled = raw.roll(1, 1).contiguous().view(values.dtype).view(values.shape)
    return cast('Packed', replace(matrix, **{leaf: rolled}))
