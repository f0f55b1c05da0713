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
"""Row kernels, attention and the choice of a token against their plain twins."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from gemma_node.kernels import plain_ops
from gemma_node.kernels import triton_ops
from gemma_node.kernels.planes import affine_planes
from gemma_node.kernels.planes import bf16_planes
from gemma_node.kernels.planes import Planes
from gemma_node.kernels.tuning import attention_parts
from gemma_node.quant import affine
from tests.kernels.conftest import distance

NEAR = 1e-5
EPS = 1e-6
HQ, HKV, SIZE = 4, 2, 64
POSITIONS = (0, 63, 64, 200, 131)
LANES = (0, 0, 1, 1, 0)


def _weighed(device: torch.device) -> float:
    """Return how near attention is: weights of softmax are bfloat16 on a GPU alone."""
    return NEAR if device.type == 'cpu' else 4e-3


def _blank(*shape: int, device: torch.device) -> Tensor:
    return torch.full(shape, torch.nan, device=device)


def _moved(value: Any, device: torch.device) -> Any:
    return value.to(device) if isinstance(value, Tensor | Planes) else value


def _both(name: str, device: torch.device, *arguments: Any, outputs: tuple[int, ...], **more: Any
          ) -> list[tuple[Tensor, Tensor]]:
    """Run kernel and twin on copies; return what each wrote, found and wanted."""
    written = []
    for ops, where in ((triton_ops, device), (plain_ops, torch.device('cpu'))):
        copies = [each.clone() if isinstance(each, Tensor) else each for each in arguments]
        copies = [_moved(each, where) for each in copies]
        getattr(ops, name)(*copies, **more)
        written.append([copies[index] for index in outputs])
    return list(zip(*written, strict=True))


def _table(form: str, rows: int, columns: int) -> Planes:
    weight = torch.randn(rows, columns).bfloat16()
    if form == 'bfloat16':
        return bf16_planes(weight)
    bits = int(form)
    packed = affine.quantize(weight, bits=bits, group_size=32)
    codes = affine.unpack(packed.words, bits)
    return affine_planes(codes, packed.scales, packed.biases, bits=bits)


@pytest.mark.parametrize('form', ['4', '8', 'bfloat16'])
def test_tokens_are_gathered_and_normed(form: str, device: torch.device) -> None:
    cpu = torch.device('cpu')
    ids = torch.tensor([3, 39, 0, 7], dtype=torch.int32)
    outs = [_blank(4, 96, device=cpu) for _ in range(3)]
    table, gains = _table(form, 40, 96), torch.rand(96)
    found = _both('embed', device, ids, table, 8.0, gains, EPS, *outs, 3, outputs=(5, 6, 7))
    for ours, wanted in found:
        assert distance(ours[:3], wanted[:3]) < NEAR
        assert ours[3].isnan().all()


@pytest.mark.parametrize('form', ['4', '8', 'bfloat16'])
def test_per_layer_inputs_are_mixed(form: str, device: torch.device) -> None:
    ids = torch.tensor([3, 39, 0, 7], dtype=torch.int32)
    context, out = torch.randn(3, 4, 64), _blank(4, 2, 32, device=torch.device('cpu'))
    arguments = (ids, _table(form, 40, 96), 16.0, context, 0.1, torch.rand(32), EPS, 1, out, 4)
    ((ours, wanted),) = _both('per_layer', device, *arguments, outputs=(8,))
    assert distance(ours, wanted) < NEAR


@pytest.mark.parametrize('is_last', [False, True])
def test_what_a_block_says_is_normed_and_added(is_last: bool, device: torch.device) -> None:
    parts, h = torch.randn(3, 8, 80), torch.randn(8, 80)
    scalar = torch.tensor([0.7]) if is_last else None
    following = torch.rand(80) if is_last else None
    out = _blank(8, 80, device=torch.device('cpu'))
    arguments = (parts, torch.rand(80), h, scalar, following, EPS, out, 5)
    for ours, wanted in _both('residual', device, *arguments, outputs=(2, 6)):
        assert distance(ours[:5], wanted[:5]) < NEAR


def test_gates_multiply(device: torch.device) -> None:
    first, second = torch.randn(4, 3, 1100), torch.randn(3, 2, 1100)[:, 1]
    out = _blank(3, 1100, device=torch.device('cpu'))
    ((ours, wanted),) = _both('gate', device, first, second, out, outputs=(2,))
    assert distance(ours, wanted) < NEAR


def _pool(kind: str) -> Tensor:
    values = torch.randn(12, 3, 2, HKV, 64, SIZE)
    if kind == 'bfloat16':
        return values.bfloat16()
    return values.to(torch.float8_e4m3fn).view(torch.uint8)


def _where() -> tuple[Tensor, Tensor, Tensor]:
    table = torch.tensor([[3, 1, 7, 5], [0, 2, 9, 11]], dtype=torch.int32)
    return table, torch.tensor(POSITIONS, dtype=torch.int32), torch.tensor(LANES).int()


def _ends(positions: Tensor, count: int) -> Tensor:
    """Return ends of which the first `count` are behind their rows."""
    return positions + (torch.arange(len(positions)) < count).int()


each_pool = pytest.mark.parametrize('kind', ['bfloat16', 'float8'])
each_window = pytest.mark.parametrize('window', [0, 100])


def _numbers(pool: Tensor) -> Tensor:
    return (pool.view(torch.float8_e4m3fn) if pool.dtype == torch.uint8 else pool).float()


@each_pool
@pytest.mark.parametrize('rotated', [8, SIZE // 2])
def test_heads_are_normed_rotated_and_kept(
    kind: str, rotated: int, device: torch.device
) -> None:
    table, positions, lanes = _where()
    qkv = torch.randn(2, 8, (HQ + 2 * HKV) * SIZE)
    angles = torch.rand(256, rotated) * 7
    q = _blank(8, HQ, SIZE, device=torch.device('cpu'))
    pool = _pool(kind)
    arguments = (
        qkv, torch.rand(2, SIZE), angles.cos(), angles.sin(), positions, lanes,
        _ends(positions, 4), table, q, pool, 1, HKV, EPS, 5,
    )  # fmt: skip
    (asked, kept) = _both('heads', device, *arguments, outputs=(8, 9), owns=True)
    assert distance(asked[0][:5], asked[1][:5]) < NEAR
    ours, wanted = (_numbers(each.cpu()) for each in kept)
    # The last place of a stored number may differ, and nothing else may be touched.
    place, least = (2**-7, 1e-5) if kind == 'bfloat16' else (2**-3, 2**-9)
    assert ((ours - wanted).abs() <= wanted.abs() * place + least).all()
    changed = (wanted != _numbers(pool)).flatten(2).any(-1)
    assert ((ours != _numbers(pool)).flatten(2).any(-1) == changed).all()
    assert changed.nonzero().tolist() == [[2, 1], [3, 1], [11, 1]]


def test_shared_layers_write_nothing(device: torch.device) -> None:
    table, positions, lanes = _where()
    angles, q = torch.rand(256, 8), _blank(8, HQ, SIZE, device=torch.device('cpu'))
    pool = _pool('bfloat16')
    arguments = (
        torch.randn(1, 8, HQ * SIZE), torch.rand(1, SIZE), angles.cos(), angles.sin(), positions,
        lanes, _ends(positions, 5), table, q, pool, 1, HKV, EPS, 5,
    )  # fmt: skip
    asked, kept = _both('heads', device, *arguments, outputs=(8, 9), owns=False)
    assert distance(asked[0][:5], asked[1][:5]) < NEAR
    assert torch.equal(kept[0].cpu(), pool)


@each_pool
@each_window
def test_rows_attend_to_what_they_may_see(
    kind: str, window: int, device: torch.device
) -> None:
    table, positions, lanes = _where()
    pool = _pool(kind)
    # Pages that no row of this lane may see must not matter, not even as NaN.
    _numbers_of_page(pool, 4).fill_(255 if kind == 'float8' else torch.nan)
    q = torch.randn(8, HQ, SIZE).bfloat16() * 0.3
    count = attention_parts(256, window)
    cpu = torch.device('cpu')
    arguments = (
        q, pool, table, positions, lanes, 1, window, _blank(8, count, HQ, SIZE, device=cpu),
        _blank(8, count, HQ, 2, device=cpu), _blank(8, HQ * SIZE, device=cpu), 5,
    )  # fmt: skip
    ((ours, wanted),) = _both('attend', device, *arguments, outputs=(9,))
    assert distance(ours[:5], wanted[:5]) < _weighed(device)
    assert ours[5:].isnan().all()


def _numbers_of_page(pool: Tensor, page: int) -> Tensor:
    return pool[page]


@each_pool
@each_window
@pytest.mark.parametrize('group', [1, 2, 3])
def test_prompt_rows_attend_to_what_they_may_see(
    kind: str, window: int, group: int, device: torch.device
) -> None:
    table, _, _ = _where()
    q = torch.randn(128, group * HKV, SIZE).bfloat16() * 0.3
    # Two lanes in one pass, neither of whole tiles.
    positions = torch.cat((torch.arange(140, 204), torch.arange(64, 128))).int()
    lanes = torch.arange(128).int() // 64
    ends = torch.tensor([190, 107], dtype=torch.int32).repeat_interleave(64)
    arguments = (
        q, _pool(kind), table, positions, lanes, ends, 2, window,
        _blank(128, group * HKV * SIZE, device=torch.device('cpu')),
    )  # fmt: skip
    ((ours, wanted),) = _both('attend_prompt', device, *arguments, outputs=(8,))
    real = positions < ends
    assert distance(ours[real], wanted[real]) < _weighed(device)


@pytest.mark.parametrize('cap', [30.0, None])
def test_the_best_allowed_id_and_what_a_probability_needs(
    cap: float | None, device: torch.device
) -> None:
    vocab = 5000
    logits = torch.randn(3, vocab) * 10
    logits[1, 4000] = logits[1, 300] = 100.0
    mask = torch.randint(-(2**31), 2**31 - 1, (3, 157), dtype=torch.int32)
    mask[1] = -1
    mask[2] = 0
    mask[2, 50] = 1 << 5
    cpu = torch.device('cpu')
    arguments = (
        logits, mask, cap, _blank(3, 3, 8, device=cpu), _blank(3, 3, device=cpu),
        torch.zeros(3, dtype=torch.int32), 3,
    )  # fmt: skip
    found = _both('choose', device, *arguments, outputs=(0, 4, 5))
    assert distance(*found[0]) < NEAR
    assert distance(*found[1]) < NEAR
    assert found[2][0].tolist() == found[2][1].tolist()
    assert found[2][0].tolist()[1:] == [300, 1605]


@pytest.mark.parametrize('value', [torch.nan, torch.inf])
def test_a_logit_that_is_not_finite_is_noticed(value: float, device: torch.device) -> None:
    logits = torch.randn(1, 3000)
    logits[0, 2999] = value
    mask = torch.full((1, 94), -1, dtype=torch.int32)
    looks = torch.zeros(1, 3)
    moved = [each.to(device) for each in (logits, mask, torch.zeros(1, 2, 8), looks,
                                          torch.zeros(1, dtype=torch.int32))]  # fmt: skip
    triton_ops.choose(moved[0], moved[1], None, *moved[2:], 1)
    assert not moved[3][0, 2].isfinite()
