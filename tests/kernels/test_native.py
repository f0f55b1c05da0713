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

"""The native products: near the exact ones, and one result for a row whatever runs beside it."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from gemma_node.engine.config import EngineConfig
from gemma_node.engine.native_runner import NativeRunner
from gemma_node.engine.runner import Rows
from gemma_node.engine.torch_runner import TorchRunner
from gemma_node.kernels import native
from gemma_node.model.cached_native import NativeModel
from gemma_node.model.kv_form import encode_kv
from gemma_node.model.kv_form import kv_scales
from gemma_node.quant.affine import AffineTensors
from gemma_node.quant.affine import quantize
from gemma_node.quant.affine import unpack
from gemma_node.quant.packed import Packed
from gemma_node.quant.packed import PlainTensor
from tests.fixtures.random_model import random_model
from tests.fixtures.random_model import small_config

Floats = npt.NDArray[np.float32]
FORMS = ('float32', 'bfloat16', 'codes')


@pytest.fixture(scope='module', params=[1, 2])
def host(request: pytest.FixtureRequest) -> NativeModel:
    """Return a model whose packing and threads the products use."""
    return NativeModel(random_model(small_config()), num_positions=64, num_threads=request.param)


def _matrix(form: str, rows: int, columns: int) -> Packed:
    generator = torch.Generator().manual_seed(rows * 7 + columns)
    weight = torch.randn(rows, columns, generator=generator)
    if form == 'codes':
        return quantize(weight.bfloat16(), bits=4, group_size=32)
    return PlainTensor(weight.to(getattr(torch, form)))


def _multiply(host: NativeModel, matrix: Packed, x: Floats) -> Floats:
    packed = host._matrix(matrix)
    stride = -(-packed.rows // native.WIDTH) * native.WIDTH
    y = np.empty((len(x), stride), np.float32)
    host._library.gn_matmul(
        host._handle, ctypes.byref(packed), x.ctypes.data, len(x), y.ctypes.data
    )
    return y[:, : packed.rows]


def test_the_library_is_built_with_the_package() -> None:
    assert native.library() is not None
    assert native.isa() in ('avx512vnni', 'avx512', 'avx2', 'plain')


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize(('rows', 'columns'), [(1, 32), (17, 64), (48, 96), (200, 160), (96, 640)])
def test_products_are_near_the_exact_ones(
    host: NativeModel, form: str, rows: int, columns: int
) -> None:
    matrix = _matrix(form, rows, columns)
    x = np.random.default_rng(1).normal(size=(29, columns)).astype(np.float32)
    exact = x.astype(np.float64) @ matrix.dequantize(torch.float64).numpy().T
    sizes = np.abs(x).astype(np.float64) @ np.abs(matrix.dequantize(torch.float64).numpy()).T
    # Runs of 64 are summed in order, then the runs.
    bound = sizes * (64 + columns / 64) * 2.0**-24
    assert (np.abs(_multiply(host, matrix, x) - exact) <= bound + 1e-6).all()


def _fused(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """Return a * b + c of float32 with one rounding."""
    product, addend = a.double() * b.double(), c.double()
    total = product + addend
    back = total - product
    error = (product - (total - back)) + (addend - back)
    # Rounded to odd, the sum is not on a tie of float32 that the exact one is beside.
    bits = total.view(torch.int64)
    is_inexact = (error != 0) & (bits % 2 == 0)
    away = (error > 0) == (total > 0)
    odd = torch.where(is_inexact, torch.where(away, bits + 1, bits - 1), bits)
    return odd.view(torch.float64).float()


def _twin(matrix: Packed, x: Floats) -> Floats:
    """Multiply as the native step does, operation by operation, in plain PyTorch."""
    is_fused = native.isa() != 'plain' or platform.machine() in ('aarch64', 'arm64')
    fma = _fused if is_fused else (lambda a, b, c: a * b + c)
    rows = torch.from_numpy(x)
    if isinstance(matrix, AffineTensors):
        return _twin_of_codes(matrix, rows, fma)
    numbers = matrix.dequantize(torch.float32)
    total = torch.zeros(len(x), len(numbers))
    for first in range(0, x.shape[1], 64):
        total = total + _in_order(rows[:, first : first + 64], numbers[:, first : first + 64], fma)
    return total.numpy()


def _twin_of_codes(matrix: AffineTensors, rows: torch.Tensor, fma: Any) -> Floats:
    # Codes are centred on 8.
    codes, scales = unpack(matrix.words, 4).float() - 8.0, matrix.scales.float()
    biases = matrix.biases.float() + 8.0 * scales
    group = matrix.group_size
    total = torch.zeros(len(rows), len(codes))
    for part, first in enumerate(range(0, rows.shape[1], group)):
        columns, numbers = rows[:, first : first + group], codes[:, first : first + group]
        if native.isa() == 'avx512vnni':
            value, lanes = _in_fixed_point(columns, numbers)
        else:
            value = _in_order(columns, numbers, fma)
            lanes = torch.zeros(len(rows), native.WIDTH)
            for chunk in torch.split(columns, native.WIDTH, 1):
                lanes = lanes + chunk
            while lanes.shape[1] > 1:
                half = lanes.shape[1] // 2
                lanes = lanes[:, :half] + lanes[:, half:]
        total = fma(biases[:, part], lanes, fma(scales[:, part], value, total))
    return total.numpy()


def _in_order(columns: torch.Tensor, numbers: torch.Tensor, fma: Any) -> torch.Tensor:
    """Return the products, summed column by column."""
    acc = torch.zeros(len(columns), len(numbers))
    for value, weight in zip(columns.T, numbers.T, strict=True):
        acc = fma(value[:, None], weight[None], acc)
    return acc


def _in_fixed_point(
    columns: torch.Tensor, codes: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return products and sums of columns that are rounded to 24 bits of one power of two."""
    top = columns.abs().amax(1, keepdim=True) * torch.tensor(1.004)
    exponent = (top.view(torch.int32) >> 23).clamp(min=23)
    factor, step = ((276 - exponent) << 23).view(torch.float32), ((exponent - 22) << 23)
    whole = (columns * factor).round().long()
    assert int(whole.abs().max()) <= 127 * 65536 + 127 * 256 + 127
    # Planes of signed bytes.
    moved = whole + 0x8080
    low, middle, high = (moved & 255) - 128, (moved >> 8 & 255) - 128, moved >> 16
    weights = codes.long().T
    rest = (middle @ weights * 256 + low @ weights).float()
    value = _fused((high @ weights).float(), torch.tensor(65536.0), rest)
    scale = step.view(torch.float32)
    return value * scale, whole.sum(1, keepdim=True).float() * scale


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize(('rows', 'columns'), [(1, 32), (17, 64), (200, 160), (96, 640)])
def test_products_equal_a_pytorch_twin_that_sums_in_the_same_order(
    host: NativeModel, form: str, rows: int, columns: int
) -> None:
    matrix = _matrix(form, rows, columns)
    x = np.random.default_rng(6).normal(size=(13, columns)).astype(np.float32)
    # Rows of all sizes, with groups of zeros and of numbers far apart.
    x *= (10.0 ** np.arange(-18, 21, 3, dtype=np.float32))[:, None]
    x[1, :32], x[2, :17], x[3, ::3] = 0.0, 1e-30, 1.0
    assert _multiply(host, matrix, x).tobytes() == _twin(matrix, x).tobytes()


@pytest.mark.parametrize('form', FORMS)
def test_a_row_has_the_same_bits_whatever_runs_beside_it(host: NativeModel, form: str) -> None:
    matrix = _matrix(form, 137, 192)
    x = np.random.default_rng(2).normal(size=(67, 192)).astype(np.float32)
    alone = np.concatenate([_multiply(host, matrix, x[i : i + 1]) for i in range(len(x))])
    for count in (*range(2, 18), 24, 64, 67):
        for first in (0, 3):
            together = _multiply(host, matrix, np.ascontiguousarray(x[first : first + count]))
            expected = alone[first : first + count]
            assert together.tobytes() == expected.tobytes(), (count, first)


@pytest.mark.parametrize('form', ['bfloat16', 'codes'])
@pytest.mark.parametrize('value', [np.nan, np.inf])
def test_a_row_that_is_not_finite_stays_alone(
    host: NativeModel, form: str, value: float
) -> None:
    matrix = _matrix(form, 64, 64)
    x = np.random.default_rng(3).normal(size=(9, 64)).astype(np.float32)
    clean = _multiply(host, matrix, x)
    x[4, 5], x[4, 6] = value, -value
    spoiled = _multiply(host, matrix, x)
    assert not np.isfinite(spoiled[4]).any()
    keep = [0, 1, 2, 3, 5, 6, 7, 8]
    assert spoiled[keep].tobytes() == clean[keep].tobytes()


def _runner(kind: type[Any], kv_dtype: str) -> Any:
    model = random_model(small_config())
    config = EngineConfig(lanes=1, context_tokens=192, num_threads=1, kv_dtype=kv_dtype)
    return kind(model, config)


def _prefill(runner: Any, ids: tuple[int, ...]) -> Floats:
    """Return the logits of the last rows of two tiles and of single rows after them."""
    found = []
    with torch.inference_mode():
        for start, end in ((0, 64), (64, 128), *((each, each + 1) for each in range(128, 140))):
            rows = Rows(lane=0, start=start, token_ids=ids[start:end], num_prompt=128,
                        outputs=(end - start - 1,))
            found.append(runner.forward([rows])[0].copy())
    return np.concatenate(found)


def test_e4m3_is_stored_as_pytorch_stores_it_and_read_alike() -> None:
    ids = tuple(np.random.default_rng(8).integers(0, 200, 140).tolist())
    narrow, wide = _runner(NativeRunner, 'float8'), _runner(NativeRunner, 'float32')
    ours, exact = _prefill(narrow, ids), _prefill(wide, ids)
    theirs = _prefill(_runner(TorchRunner, 'float8'), ids)
    # The first layer's keys and values come before any attention, so both hold the same ones.
    plan = narrow._model.config.layers[0]
    pages = [each._pools[plan.is_sliding].view(
        int(each._pages[plan.is_sliding][0, 1])) for each in (narrow, wide)]
    size = plan.num_kv_heads * plan.head_dim * native.PAGE
    scales = kv_scales(random_model(small_config()))[0]
    for index, scale in enumerate(scales):
        stored, values = (page[index * size : (index + 1) * size] for page in pages)
        shape = (plan.num_kv_heads, native.PAGE, plan.head_dim)
        expected = encode_kv(values.view(shape), scale)
        assert torch.equal(stored.view(torch.uint8), expected.view(-1).view(torch.uint8))
        assert float(values.abs().max()) <= 448 * float(scale.max())
    # The same codes read alike; a code that falls on the other side of a tie is what is left.
    assert np.abs(ours - theirs).mean() < 0.1 * np.abs(ours - exact).mean()
    assert np.abs(ours - exact).mean() < 0.1 * np.abs(exact).mean()


def test_what_is_no_number_stays_none_in_e4m3() -> None:
    ids = tuple(np.random.default_rng(8).integers(0, 200, 140).tolist())
    runner = _runner(NativeRunner, 'float8')
    _prefill(runner, ids[:140])
    for sliding, pool in enumerate(runner._pools):
        with torch.inference_mode():
            pool.view(int(runner._pages[sliding][0, 2]))[:16].fill_(float('nan'))
    rows = Rows(lane=0, start=139, token_ids=ids[139:140], num_prompt=128, outputs=(0,))
    assert np.isnan(runner.forward([rows])[0]).all()


@pytest.mark.parametrize('isa', ['plain', 'avx2', 'avx512'])
def test_narrower_instruction_sets_keep_the_same_promises(isa: str) -> None:
    known = ('plain', 'avx2', 'avx512', 'avx512vnni')
    if known.index(native.isa()) < known.index(isa):
        pytest.skip(f'this processor has no {isa}')
    names = (
        'near_the_exact_ones',
        'sums_in_the_same_order',
        'whatever_runs_beside_it',
        'stays_alone',
        'e4m3',
    )
    command = [
        sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-x', __file__,
        '-k', ' or '.join(names),
    ]  # fmt: skip
    code = f'from gemma_node.kernels import native; assert native.isa() == "{isa}"'
    environment = {**os.environ, 'GEMMA_NODE_CPU_ISA': isa}
    subprocess.run([sys.executable, '-c', code], check=True, env=environment)
    done = subprocess.run(
        command, env=environment, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-2000:]
