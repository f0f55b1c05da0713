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


"""Random tiny Gemma 4 checkpoints, made by transformers, as live oracles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import json
from pathlib import Path
import random
from typing import Any

import pytest
import torch
from transformers import Gemma4ForCausalLM
from transformers import Gemma4TextConfig

from tests.fixtures.live import run_oracle  # noqa: F401

torch.set_num_threads(1)

S, F = 'sliding_attention', 'full_attention'


# Owners and shared layers of shapes by seed: one to three global layers, none or many shared.
# E2B has a global layer every fifth, E4B every sixth.
SHAPES: dict[int, tuple[list[str], list[str]]] = {
    100: ([S, S, S, F], []),
    101: ([S, S, F, S, S, F], []),
    102: ([S, F, S, F, S, F], []),
    103: ([S, S, S, S, F] * 2, [S, S, S, S, F]),
    104: ([S, S, S, S, S, F], [S, S, S, S, S, F]),
    # All of E2B's 35 layers, 20 of them shared.
    105: ([S, S, S, S, F] * 3, [S, S, S, S, F] * 4),
}


def tiny_config(seed: int) -> dict[str, Any]:
    """Return a random shape; over seeds every mechanism of E2B and E4B occurs."""
    rng = random.Random(seed)
    # Owners first, then shared layers; both types occur among the owners.
    owners = rng.choice([[S, F], [S, S, F], [F, S, S, F], [S, F, S, F], [S, S, S, F, S]])
    shared = rng.choice([[F], [S, F], [S, S, F], [F, F]])
    owners, shared = SHAPES.get(seed, (owners, shared))
    kv_heads = rng.choice([1, 2])
    return {
        'vocab_size': rng.choice([96, 131]),
        'vocab_size_per_layer_input': 0,
        'hidden_size': rng.choice([48, 64]),
        'intermediate_size': rng.choice([64, 96]),
        'num_hidden_layers': len(owners) + len(shared),
        'num_attention_heads': kv_heads * rng.choice([1, 2, 4]),
        'num_key_value_heads': kv_heads,
        'head_dim': rng.choice([16, 32]),
        'global_head_dim': rng.choice([32, 64]),
        'hidden_size_per_layer_input': rng.choice([16, 32]),
        'num_kv_shared_layers': len(shared),
        'layer_types': owners + shared,
        'sliding_window': rng.choice([4, 8, 16]),
        'use_double_wide_mlp': rng.random() < 0.5 or seed in (103, 105),
        'final_logit_softcapping': rng.choice([30.0, 5.0]),
        'max_position_embeddings': 512,
        'rope_parameters': {
            S: {'rope_type': 'default', 'rope_theta': 10000.0},
            F: {
                'rope_type': 'proportional',
                'rope_theta': 1000000.0,
                'partial_rotary_factor': rng.choice([0.25, 0.5, 1.0]),
            },
        },
    }


@dataclass
class Checkpoint:
    """A folder on disk and the same weights in transformers, by dtype."""

    path: Path
    raw: dict[str, Any]

    def oracle(self, dtype: torch.dtype) -> Gemma4ForCausalLM:
        """Load it with transformers; from_pretrained keeps the frequencies in float32."""
        return Gemma4ForCausalLM.from_pretrained(
            self.path, dtype=dtype, attn_implementation='eager'
        ).eval()


def _randomise(model: Gemma4ForCausalLM, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)

    def draw(tensor: torch.Tensor, mean: float, std: float) -> None:
        tensor.copy_(torch.randn(tensor.shape, generator=generator) * std + mean)

    with torch.no_grad():
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            if name.endswith(('q_norm.weight', 'k_norm.weight')):
                draw(tensor, 0.3, 0.05)
            elif name.endswith('layer_scalar'):
                draw(tensor, 0.9, 0.1)
            elif 'norm' in name:
                draw(tensor, 1.0, 0.1)
            elif (tensor.ndim == 2 and 'embed' in name) or tensor.ndim == 2:
                draw(tensor, 0.0, tensor.shape[1] ** -0.5)


@pytest.fixture(scope='session')
def make_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Checkpoint]:
    """Return a maker of random checkpoints in bfloat16, one folder a seed."""
    made: dict[int, Checkpoint] = {}

    def make(seed: int) -> Checkpoint:
        if seed not in made:
            raw = tiny_config(seed)
            raw['vocab_size_per_layer_input'] = raw['vocab_size']
            model = Gemma4ForCausalLM(Gemma4TextConfig(**raw))
            _randomise(model, seed)
            folder = tmp_path_factory.mktemp(f'checkpoint_{seed}')
            model.to(torch.bfloat16).save_pretrained(folder)
            made[seed] = Checkpoint(folder, json.loads((folder / 'config.json').read_text()))
        return made[seed]

    return make
