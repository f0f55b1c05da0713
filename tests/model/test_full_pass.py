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


"""The full pass against transformers' Gemma4ForCausalLM on random tiny shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gemma_node.model.weights import load_model
from tests.model.conftest import F
from tests.model.conftest import SHAPES
from tests.model.conftest import tiny_config

SEEDS = (*range(24), *SHAPES)
LENGTH = 41


def _ids(seed: int, vocab_size: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1000 + seed)
    return torch.randint(0, vocab_size, (2, LENGTH), generator=generator)


def test_the_shapes_have_every_mechanism() -> None:
    configs = [tiny_config(seed) for seed in SEEDS]
    globals_ = {config['layer_types'].count(F) for config in configs}
    assert globals_ >= {1, 2, 3}
    assert {config['sliding_window'] for config in configs} >= {4, 8, 16}
    assert {
        config['rope_parameters'][F]['partial_rotary_factor'] for config in configs
    } == {0.25, 0.5, 1.0}
    # E2B: wide shared layers, a global layer every fifth.
    assert any(
        config['use_double_wide_mlp'] and config['layer_types'][4::5] == [F] * 7
        for config in configs
    )
    assert any(not config['num_kv_shared_layers'] for config in configs)
    grouped = {c['num_attention_heads'] // c['num_key_value_heads'] for c in configs}
    assert grouped == {1, 2, 4}


@pytest.mark.parametrize('seed', SEEDS)
def test_full_pass_equals_transformers(make_checkpoint: Callable[..., Any], seed: int) -> None:
    checkpoint = make_checkpoint(seed)
    model = load_model(checkpoint.path)
    ids = _ids(seed, model.config.vocab_size)
    with torch.inference_mode():
        exact = checkpoint.oracle(torch.bfloat16)(ids).logits
        assert torch.equal(model(ids), exact)
        oracle = checkpoint.oracle(torch.float32)(ids).logits
        ours = model.float()(ids)
    assert oracle.std() > 0.1
    assert (ours - oracle).abs().max() <= 1e-4
