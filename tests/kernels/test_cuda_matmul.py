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
Products in CUDA C++: the source on emulated threads, plans, the cache of machine code, the GPU.

`emulated.hpp` runs the same source with a thread of the CPU for each of a block, and products of
16 x 8 x 16 by their definition: it proves indices, copies and order, not the device's rounding.
"""

from __future__ import annotations

import ctypes
from dataclasses import replace
import os
from pathlib import Path
import re
import shutil
import subprocess
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from gemma_node.kernels import cuda_matmul
from gemma_node.kernels import nvrtc
from gemma_node.kernels import plain_ops
from gemma_node.kernels.cuda_matmul import Plan
from gemma_node.kernels.planes import bf16_planes
from gemma_node.kernels.planes import numbers_of
from gemma_node.kernels.planes import Planes
from tests.kernels.conftest import distance
from tests.kernels.test_triton_matmul import FORMS

SUMS, GATED, PLANED = cuda_matmul.SUMS, cuda_matmul.GATED, cuda_matmul.PLANED
NEAR = 5e-6
# Shared memory of a block at most, and of a processor.
H200, ORIN, SMALL = cuda_matmul.H200_SHARED, (166912, 167936), (49152, 65536)
# E4B's matrices: rows, columns.
E4B = [
    (3072, 2560), (2048, 2560), (6144, 2560), (4096, 2560), (2560, 2048), (2560, 4096),
    (20480, 2560), (2560, 10240), (256, 2560), (2560, 256), (10752, 2560), (262144, 2560),
]  # fmt: skip
PLAN = Plan(warps=2, parts=2, tiles=3, chunk=2, depth=3)
WHOLE = Plan(warps=2, parts=1, tiles=6, chunk=2, depth=4)
CASES = [
    ('affine4/64', SUMS, 16, PLAN), ('affine4/64', GATED, 8, WHOLE),
    ('affine4/64', GATED, 8, replace(WHOLE, apart=False)),
    ('nvfp4', SUMS, 8, PLAN), ('nvfp4', GATED, 16, WHOLE),
    ('bfloat16', SUMS, 16, replace(PLAN, chunk=1, depth=2)), ('bfloat16', PLANED, 8, WHOLE),
]  # fmt: skip


def _planes(form: str, plan: Plan, rows: int = 128) -> Planes:
    return FORMS[form](torch.randn(rows, 256 * plan.warps * plan.parts) * 0.1)[0]


def _room(mode: int, tokens: int, rows: int, parts: int, device: str = 'cpu') -> Tensor:
    if mode == SUMS:
        return torch.full((parts, tokens, rows), torch.nan, device=device)
    rows = rows // 2 if mode == GATED else rows
    return torch.full((tokens, rows), torch.nan, dtype=torch.bfloat16, device=device)


@pytest.mark.parametrize('result', [0, 42])
def test_the_stack_of_threads_is_asked_to_be_small(
    monkeypatch: pytest.MonkeyPatch, result: int
) -> None:
    asked = []

    def limit(which: int, nbytes: ctypes.c_size_t) -> int:
        asked.append((which, nbytes.value))
        return result

    monkeypatch.setattr(nvrtc, 'driver', lambda: SimpleNamespace(cuCtxSetLimit=limit))
    assert nvrtc.limit_stack(128) is (result == 0)
    assert asked == [(0, 128)]
    monkeypatch.setattr(nvrtc, 'driver', lambda: None)
    assert not nvrtc.limit_stack(128)


def built(folder: Path, options: tuple[str, ...]) -> ctypes.CDLL:
    compiler = shutil.which(os.environ.get('CXX', 'g++'))
    assert compiler, 'the package is built with a C++ compiler'
    here, path = Path(__file__).parent, folder / 'block.so'
    given = [each for each in options if each.startswith('-D')]
    include = Path(cuda_matmul.__file__).parent / 'cuda'
    subprocess.run(
        [compiler, '-std=c++17', '-O1', '-ffp-contract=off', '-w', '-shared', '-fPIC',
         '-pthread', f'-I{include}', *given, '-x', 'c++', here / 'emulated.hpp', '-o', path],
        check=True,
    )  # fmt: skip
    return ctypes.CDLL(str(path))


@pytest.mark.parametrize(('form', 'mode', 'tokens', 'plan'), CASES)
def test_the_source_computes_what_its_twin_does(
    form: str, mode: int, tokens: int, plan: Plan, tmp_path: Path
) -> None:
    torch.manual_seed(2)
    planes = _planes(form, plan)
    # Fewer rows than the kernel has room for; those of the result are left as they are.
    rows = tokens - 3
    x = torch.randn(rows, planes.columns).bfloat16()
    plane = torch.randn(rows, planes.rows) if mode == PLANED else None
    out = _room(mode, tokens, planes.rows, plan.parts)
    library = built(tmp_path, cuda_matmul.options(planes.kind, plan, tokens, mode, 'none'))
    job = cuda_matmul.job_of(x, planes, out, plan, gated=mode == GATED, plane=plane)
    library.run(ctypes.byref(job), *cuda_matmul.grid_of(planes, plan))
    assert out[..., rows:, :].isnan().all()
    out = out[..., :rows, :]
    twin = torch.empty_like(out)
    plain_ops.product(x, planes, twin, gated=mode == GATED, plane=plane)
    assert not out.isnan().any()
    if mode == SUMS:
        # Each part is the sum of its own columns.
        halves = planes.columns // plan.parts
        numbers = numbers_of(planes)
        for part in range(plan.parts):
            columns = slice(part * halves, (part + 1) * halves)
            wanted = x[:, columns].double() @ numbers[:, columns].double().t()
            assert distance(out[part], wanted) < NEAR
    else:
        # Rounded to bfloat16: a few of the last bits differ.
        assert distance(out, twin) < 1e-3


def test_the_argument_is_what_the_source_declares() -> None:
    text = cuda_matmul.source()
    body = re.search(r'struct Job \{(.*?)\};', text, re.DOTALL)
    assert body is not None
    declared = re.findall(r'(\*|u64|int) (\w+);', body.group(1))
    sizes = {'*': 8, 'u64': 8, 'int': 4}
    fields = [(name, ctypes.sizeof(kind)) for name, kind in cuda_matmul.Job._fields_]
    assert [(name, sizes[kind]) for kind, name in declared] == fields


@pytest.mark.parametrize(('rows', 'columns'), E4B)
@pytest.mark.parametrize('kind', list(cuda_matmul.KIND))
def test_plans_of_e4b_cover_each_matrix_and_fit_into_a_processor(
    kind: str, rows: int, columns: int
) -> None:
    words = columns if kind == 'bfloat16' else columns // 4
    weight = Planes(
        kind=kind, rows=rows, columns=columns, group=cuda_matmul.GROUPS[kind],
        data=torch.empty(rows, words, device='meta'),
    )  # fmt: skip
    assert not cuda_matmul.shape_problem(weight)
    gated = rows == 20480
    plan = cuda_matmul.PLANS.get((kind, rows, columns)) or cuda_matmul.calculated(
        weight, gated=gated
    )
    assert plan.warps * plan.parts * cuda_matmul.COLUMNS == columns
    assert plan.parts == 1 or not gated
    assert not (gated and (plan.tiles % 2 or plan.chunk % 2))
    for tokens, shared in ((1, H200), (8, H200), (16, H200), (16, ORIN)):
        fit = cuda_matmul.fitted(kind, plan, tokens, shared, gated=gated)
        assert fit is not None
        assert cuda_matmul.shared_bytes(kind, fit, tokens) <= shared[0]
        assert fit.depth >= 2
        # What decides bits, and which tiles a block has, stays.
        assert replace(fit, chunk=plan.chunk, depth=plan.depth) == plan


def test_two_blocks_share_a_processor_while_sums_leave_room() -> None:
    plan = Plan(warps=10, parts=1, tiles=6, chunk=6, depth=4)
    depths = [cuda_matmul.fitted('nvfp4', plan, tokens, H200, gated=True) for tokens in (1, 4, 8)]
    assert [each and each.depth for each in depths] == [4, 3, 4]
    assert cuda_matmul.fitted('nvfp4', plan, 16, SMALL, gated=True) is None


def test_matrices_that_do_not_fit_are_named() -> None:
    wide = FORMS['affine4/64'](torch.randn(64, 320))[0]
    assert 'columns' in cuda_matmul.shape_problem(wide)
    for form, reason in (('affine4/32', 'groups of 32'), ('fp8', 'fp8')):
        assert reason in cuda_matmul.shape_problem(FORMS[form](torch.randn(64, 256))[0])
    assert cuda_matmul.plan_of(bf16_planes(torch.randn(64, 256))) is None, 'not on a device'


def test_names_of_machine_code_depend_on_all_of_it() -> None:
    names = {
        nvrtc.cache_name(*each)
        for each in (
            ('a', ('b', 'c'), (13, 0)), ('ab', ('c',), (13, 0)), ('a', ('bc',), (13, 0)),
            ('a', ('c', 'b'), (13, 0)), ('a', ('b', 'c'), (13, 1)), ('d', ('b', 'c'), (13, 0)),
        )
    }  # fmt: skip
    assert len(names) == 6


def test_machine_code_is_compiled_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = []

    def compile_(_: Any, source: str, options: tuple[str, ...]) -> bytes:
        made.append((source, options))
        return source.encode() + b'!'

    def version(major: Any, minor: Any) -> None:
        major._obj.value, minor._obj.value = 13, 0

    monkeypatch.setattr(nvrtc, 'compiler', lambda: SimpleNamespace(nvrtcVersion=version))
    monkeypatch.setattr(nvrtc, '_compile', compile_)
    monkeypatch.setenv(nvrtc.CACHE_VARIABLE, str(tmp_path / 'new'))
    assert nvrtc.compiled('a', ('b',)) == b'a!'
    assert nvrtc.compiled('a', ('b',)) == b'a!'
    assert nvrtc.compiled('a', ('c',)) == b'a!'
    assert made == [('a', ('b',)), ('a', ('c',))]
    assert all(each.suffix == '.cubin' for each in (tmp_path / 'new').iterdir())
    # A cache that cannot be written is no reason to fail.
    (tmp_path / 'file').touch()
    assert nvrtc.compiled('a', ('d',), tmp_path / 'file' / 'below') == b'a!'


def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, 'compiler', lambda: None)
    assert nvrtc.compiler_version() == 'absent'
    assert 'libnvrtc.so' in nvrtc.problem()
    with pytest.raises(nvrtc.KernelError, match='libnvrtc'):
        nvrtc.compiled('', ())
    monkeypatch.setattr(nvrtc, 'compiler', lambda: object())
    monkeypatch.setattr(nvrtc, 'driver', lambda: None)
    assert 'libcuda' in nvrtc.problem()


@pytest.mark.gpu
@pytest.mark.parametrize(('rows', 'columns'), E4B[:-1])
@pytest.mark.parametrize('form', ['affine4/64', 'nvfp4', 'bfloat16'])
def test_products_are_near_float64_and_alone_as_in_company(
    form: str, rows: int, columns: int, gpu: torch.device
) -> None:
    planes = FORMS[form](torch.randn(rows, columns, device=gpu) * 0.1)[0]
    plan = cuda_matmul.plan_of(planes)
    assert plan is not None, cuda_matmul.device_problem(gpu)
    x = torch.randn(16, columns, device=gpu).bfloat16()

    def product(rows: Tensor) -> Tensor:
        out = _room(SUMS, len(rows), planes.rows, plan.parts, 'cuda')
        cuda_matmul.launch(rows, planes, out, plan)
        return out

    whole = product(x)
    assert distance(whole.sum(0), x.double() @ numbers_of(planes).double().t()) < NEAR
    alone = torch.zeros(8, columns, device=gpu, dtype=torch.bfloat16)
    for row, place in ((0, 0), (7, 3), (13, 6)):
        alone.zero_()
        alone[place] = x[row]
        assert torch.equal(product(alone)[:, place], whole[:, row])
    for some in (1, 3, 8, 9):
        assert torch.equal(product(x[:some]), whole[:, :some])


@pytest.mark.gpu
@pytest.mark.parametrize('form', ['affine4/64', 'nvfp4', 'bfloat16'])
def test_gates_and_planes_are_applied_to_finished_sums(form: str, gpu: torch.device) -> None:
    planes = FORMS[form](torch.randn(256, 2560) * 0.1)[0].to(gpu)
    x = torch.randn(16, 2560, device=gpu).bfloat16()
    plane = torch.randn(16, 256, device=gpu)
    for mode in (GATED, PLANED):
        plan = cuda_matmul.plan_of(planes, gated=mode == GATED, whole=True)
        assert plan is not None
        given = {'gated': mode == GATED, 'plane': plane if mode == PLANED else None}
        out = _room(mode, 16, 256, 1, 'cuda')
        cuda_matmul.launch(x, planes, out, plan, **given)
        twin = torch.empty_like(out)
        plain_ops.product(x, planes, twin, **given)
        assert distance(out, twin) < 1e-3
