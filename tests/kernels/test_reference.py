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


"""The plain PyTorch truth against formulas written out in float64."""

from __future__ import annotations

import math

import pytest
import torch

from gemma_node.kernels import reference
from gemma_node.model.config import RopeConfig
from gemma_node.model.rope import inverse_frequencies
from gemma_node.model.rope import rotary_tables


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def test_rms_norm_multiplies_by_the_plain_weight() -> None:
    x, weight = torch.randn(3, 5, dtype=torch.float64), torch.randn(5, dtype=torch.float64)
    expected = x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * weight
    assert torch.allclose(reference.rms_norm(x, weight, 1e-6), expected, atol=1e-6)
    zero = reference.rms_norm(torch.zeros(2, 4), torch.ones(4), 1e-6)
    assert torch.equal(zero, torch.zeros(2, 4))


def test_rms_norm_rounds_once_in_bfloat16() -> None:
    x, weight = torch.randn(64, 48).bfloat16(), torch.randn(48).bfloat16()
    exact = reference.rms_norm(x.float(), weight.float(), 1e-6).bfloat16()
    assert torch.equal(reference.rms_norm(x, weight, 1e-6), exact)


def test_gelu_is_the_tanh_approximation() -> None:
    x = torch.linspace(-6, 6, 97, dtype=torch.float64)
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    assert torch.allclose(reference.gelu_tanh(x), 0.5 * x * (1 + inner.tanh()))


def test_softcap_bounds_and_absent_cap_changes_nothing() -> None:
    x = torch.tensor([-1e4, -1.0, 0.0, 1.0, 1e4])
    assert reference.softcap(x, 30.0).abs().max() <= 30.0
    assert torch.equal(reference.softcap(x, None), x)


def test_rotary_turns_pairs_half_a_head_apart() -> None:
    rope = RopeConfig(theta=100.0)
    cos, signed_sin = rotary_tables(rope, 8, 5, dtype=torch.float64)
    x = torch.randn(8, dtype=torch.float64)
    turned = reference.rotary(x, cos[3], signed_sin[3])
    for j, frequency in enumerate(inverse_frequencies(rope, 8).double().tolist()):
        a, b, angle = x[j], x[j + 4], 3 * frequency
        assert turned[j] == pytest.approx((a * math.cos(angle) - b * math.sin(angle)).item())
        assert turned[j + 4] == pytest.approx((b * math.cos(angle) + a * math.sin(angle)).item())


def test_e4b_full_layers_rotate_64_of_256_pairs() -> None:
    rope = RopeConfig(theta=1e6, rotary_factor=0.25)
    frequencies = inverse_frequencies(rope, 512)
    assert torch.count_nonzero(frequencies) == 64
    assert torch.all(frequencies[64:] == 0)
    assert frequencies[63].item() == pytest.approx(1e6 ** (-2 * 63 / 512), rel=1e-6)
    assert torch.equal(
        inverse_frequencies(RopeConfig(theta=1e6, rotary_factor=0.25, scale=8.0), 512) * 8.0,
        frequencies,
    )


@pytest.mark.parametrize('groups', [1, 2, 4])
def test_attention_is_unscaled_grouped_softmax(groups: int) -> None:
    q = torch.randn(2, 2 * groups, 3, 8, dtype=torch.float64)
    k, v = torch.randn(2, 2, 2, 5, 8, dtype=torch.float64)
    mask = torch.zeros(3, 5, dtype=torch.float64)
    mask[0, 4] = -math.inf
    ours = reference.attention(q, k, v, mask)
    for head in range(2 * groups):
        scores = q[:, head] @ k[:, head // groups].transpose(1, 2) + mask
        expected = scores.softmax(-1) @ v[:, head // groups]
        assert torch.allclose(ours[:, head], expected, atol=1e-6)
