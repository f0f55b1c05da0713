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


"""The full pass as a trainer uses it: gradients, fused attention, a sensible start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from gemma_node.model.config import ModelConfig
from gemma_node.model.gemma4 import Gemma4


@pytest.fixture
def config(make_checkpoint: Callable[..., Any]) -> ModelConfig:
    """Return a tiny shape with every mechanism."""
    return ModelConfig.from_mapping(make_checkpoint(2).raw)


def test_fresh_weights_start_near_uniform_and_finite(config: ModelConfig) -> None:
    torch.manual_seed(0)
    ids = torch.randint(0, config.vocab_size, (4, 50))
    logits = Gemma4(config)(ids)
    loss = F.cross_entropy(logits.flatten(0, 1), torch.randint(0, config.vocab_size, (200,)))
    uniform = torch.tensor(float(config.vocab_size)).log()
    assert abs(loss - uniform) < 1.0


def test_every_weight_gets_a_gradient_and_the_loss_falls(config: ModelConfig) -> None:
    torch.manual_seed(0)
    model = Gemma4(config, fused=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    ids = torch.randint(0, config.vocab_size, (4, 33))
    losses = []
    for _ in range(15):
        optimizer.zero_grad()
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        assert all(weight.grad is not None for weight in model.parameters())
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


def test_fused_attention_agrees_with_the_reference(config: ModelConfig) -> None:
    torch.manual_seed(0)
    plain, fused = Gemma4(config), Gemma4(config, fused=True)
    fused.load_state_dict(plain.state_dict())
    ids = torch.randint(0, config.vocab_size, (2, 40))
    with torch.inference_mode():
        assert (plain(ids) - fused(ids)).abs().max() < 1e-3


def test_training_works_after_an_inference_pass_of_the_same_length(config: ModelConfig) -> None:
    model = Gemma4(config)
    ids = torch.randint(0, config.vocab_size, (1, 20))
    with torch.inference_mode():
        model(ids)
    model(ids).sum().backward()
    assert model.norm.weight.grad is not None


def test_casting_the_model_leaves_rotary_frequencies_exact(config: ModelConfig) -> None:
    torch.manual_seed(0)
    model = Gemma4(config)
    ids = torch.randint(0, config.vocab_size, (1, 40))
    with torch.inference_mode():
        exact = model(ids)
        rounded = model.to(torch.bfloat16).float()(ids)
    assert (exact - rounded).abs().mean() < 0.05 * exact.std()
