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
import subprocess
import sys

import numpy as np
import numpy.typing as npt
import pytest
import torch

from gemma_node.kernels import native
from gemma_node.model.cached_native import NativeModel
from gemma_node.quant.affine import quantize
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
    assert native.isa() in ('avx512', 'avx2', 'plain')


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


def test_a_row_that_is_not_finite_stays_alone(host: NativeModel) -> None:
    matrix = _matrix('bfloat16', 64, 64)
    x = np.random.default_rng(3).normal(size=(9, 64)).astype(np.float32)
    clean = _multiply(host, matrix, x)
    x[4] = np.nan
    spoiled = _multiply(host, matrix, x)
    assert np.isnan(spoiled[4]).all()
    keep = [0, 1, 2, 3, 5, 6, 7, 8]
    assert spoiled[keep].tobytes() == clean[keep].tobytes()


@pytest.mark.parametrize('isa', ['plain', 'avx2'])
def test_narrower_instruction_sets_keep_the_same_promises(isa: str) -> None:
    if native.isa() == 'plain' and isa == 'avx2':
        pytest.skip('this processor has no AVX2')
    names = (
        'near_the_exact_ones',
        'whatever_runs_beside_it',
        'stays_alone',
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
