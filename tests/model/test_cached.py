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


"""The cached pass against transformers, prefill and decode, with windows and rings crossed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gemma_node.engine.config import EngineConfig
from gemma_node.engine.torch_runner import TorchRunner
from gemma_node.model.cache_shape import slot_counts
from gemma_node.model.cache_shape import TILE
from gemma_node.model.weights import load_model
from tests.model.conftest import SHAPES

SEEDS = (*range(18), *SHAPES)
PROMPT = 150
STEPS = 12
CONTEXT = 256


def _ids(seed: int, vocab_size: int) -> list[int]:
    generator = torch.Generator().manual_seed(2000 + seed)
    return torch.randint(0, vocab_size, (PROMPT + STEPS,), generator=generator).tolist()


def _run(runner: TorchRunner, ids: list[int]) -> torch.Tensor:
    """Return logits of the last prompt token and of every step after it."""
    logits = []
    for start in range(0, PROMPT, TILE):
        tile = ids[start : min(start + TILE, PROMPT)]
        outputs = [PROMPT - 1 - start] if start + TILE >= PROMPT else []
        padded = tile + [0] * (TILE - len(tile))
        logits += runner.prefill_tile(0, padded, start, outputs)
    for position in range(PROMPT, PROMPT + STEPS - 1):
        logits.append(runner.decode_row(0, ids[position], position, with_logits=True))
    return torch.stack([row for row in logits if row is not None])


def _oracle(model: Any, ids: list[int]) -> torch.Tensor:
    output = model(torch.tensor([ids[:PROMPT]]), use_cache=True)
    logits = [output.logits[0, -1]]
    for position in range(PROMPT, PROMPT + STEPS - 1):
        step = torch.tensor([[ids[position]]])
        output = model(step, use_cache=True, cache=output.cache)
        logits.append(output.logits[0, -1])
    return torch.stack(logits)


@pytest.mark.parametrize('seed', SEEDS)
def test_cached_pass_equals_transformers(make_checkpoint: Callable[..., Any], seed: int) -> None:
    checkpoint = make_checkpoint(seed)
    model = load_model(checkpoint.path)
    ids = _ids(seed, model.config.vocab_size)
    assert slot_counts(model.config, CONTEXT)[True] < PROMPT, 'the ring must wrap in this test'
    config = EngineConfig(lanes=1, context_tokens=CONTEXT, compute_dtype='float32')
    runner = TorchRunner(model, config)
    with torch.inference_mode():
        ours = _run(runner, ids)
        oracle = _oracle(checkpoint.oracle(torch.float32), ids)
    assert (ours - oracle).abs().max() <= 1e-4


def test_cached_pass_in_bfloat16_stays_near_its_full_pass(
    make_checkpoint: Callable[..., Any],
) -> None:
    model = load_model(make_checkpoint(1).path)
    ids = _ids(1, model.config.vocab_size)
    config = EngineConfig(lanes=1, context_tokens=CONTEXT, compute_dtype='bfloat16')
    runner = TorchRunner(model, config)
    with torch.inference_mode():
        ours = _run(runner, ids)
        full = model(torch.tensor([ids]))[0, PROMPT - 1 : -1].float()
    error = (ours - full).abs()
    assert error.mean() < 0.02 * full.std()
    assert error.max() < 0.2 * full.std()


def test_shared_layers_have_no_cache(make_checkpoint: Callable[..., Any]) -> None:
    model = load_model(make_checkpoint(0).path)
    runner = TorchRunner(model, EngineConfig(lanes=1, context_tokens=CONTEXT))
    with torch.inference_mode():
        runner.prefill_tile(0, [1] * TILE, 0)
    config = model.config
    slots = slot_counts(config, CONTEXT)
    expected = sum(
        2 * layer.num_kv_heads * layer.head_dim * slots[layer.is_sliding] * 4
        for layer in config.layers
        if layer.owns_kv
    )
    assert 0 < config.num_owning_layers < config.num_layers
    assert runner.nbytes == expected
