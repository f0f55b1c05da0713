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

"""The float64 pass against transformers, and that every one of its switches matters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from gemma_node.model.weights import load_model
from gemma_node.receipts.reference64 import ForwardPass
from gemma_node.receipts.reference64 import logits64
from gemma_node.receipts.reference64 import Weights

CPU = torch.device('cpu')
LENGTH = 41


def _ids(seed: int, vocab_size: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(4000 + seed)
    return torch.randint(0, vocab_size, (LENGTH,), generator=generator)


@pytest.mark.parametrize('seed', range(8))
def test_the_float64_pass_equals_transformers(
    make_checkpoint: Callable[..., Any], seed: int
) -> None:
    checkpoint = make_checkpoint(seed)
    model = load_model(checkpoint.path)
    ids = _ids(seed, model.config.vocab_size)
    plan = ForwardPass.of(model.config, torch.float32)
    ours = logits64(Weights(model, CPU), plan, ids.tolist(), 5)
    with torch.inference_mode():
        theirs = checkpoint.oracle(torch.float64)(ids[None]).logits[0, 5:]
        narrow = checkpoint.oracle(torch.float32)(ids[None]).logits[0, 5:]
    assert ours.dtype == torch.float64
    assert ours.std() > 0.1
    # transformers has norms, softmax and angles in float32 whatever the dtype.
    assert (ours - theirs).abs().max() <= 2e-5
    assert (ours - narrow).abs().max() <= 1e-4


def test_bfloat16_has_the_embedding_factor_of_its_own(
    make_checkpoint: Callable[..., Any],
) -> None:
    config = load_model(make_checkpoint(0).path).config
    wide = replace(config, hidden_size=2560, ple_dim=256)
    assert ForwardPass.of(wide, torch.bfloat16).embedding_scale == 50.5
    assert ForwardPass.of(wide, torch.float32).embedding_scale == pytest.approx(2560**0.5)
    assert ForwardPass.of(wide, torch.bfloat16).table_scale == 16.0


def test_weights_that_are_unpacked_in_parts_give_the_same_logits(
    make_checkpoint: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load_model(make_checkpoint(2).path)
    plan = ForwardPass.of(model.config, torch.float32)
    ids = _ids(2, model.config.vocab_size).tolist()
    whole = logits64(Weights(model, CPU), plan, ids, 0)
    monkeypatch.setattr('gemma_node.receipts.reference64._KEEP', 0)
    monkeypatch.setattr('gemma_node.receipts.reference64._PART', 1000)
    parts = logits64(Weights(model, CPU), plan, ids, 0)
    assert torch.allclose(whole, parts, rtol=0.0, atol=1e-12)
