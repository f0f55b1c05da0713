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
What a text model is made of, by its config alone: names, shapes and groups of its parameters.

The same as the modules of `Gemma4` have, without torch, for those who only look at a checkpoint.
Also which stored names belong to the text model, whatever layout they follow.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from gemma_node.model.config import LayerConfig
from gemma_node.model.config import ModelConfig
from gemma_node.quant.declaration import LEAVES

MULTIMODAL_PREFIX = 'model.language_model.'
STANDALONE_PREFIX = 'model.'
MLX_PREFIX = 'language_model.model.'

EMBEDDING = 'embed_tokens'
TABLE = 'embed_tokens_per_layer'
PER_LAYER = 'per_layer_gate_proj'
NORMS = 'norms_and_scalars'

_NOT_TEXT = ('vision_tower.', 'audio_tower.', 'embed_vision.', 'embed_audio.')
_UNUSED_IN_SHARED = ('k_proj', 'v_proj', 'k_norm')


@dataclass(frozen=True, slots=True)
class Part:
    """One parameter: its shape (once unpacked) and the group it is counted in."""

    shape: tuple[int, ...]
    group: str

    @property
    def is_matrix(self) -> bool:
        """Whether it may be quantised: everything but norms and scalars."""
        return self.group != NORMS

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)


def parts_of(config: ModelConfig) -> dict[str, Part]:
    """Return every parameter after the prefix: matrices by module, norms and scalars by name."""
    hidden, width = config.hidden_size, config.num_layers * config.ple_dim
    parts = {
        EMBEDDING: Part((config.vocab_size, hidden), EMBEDDING),
        TABLE: Part((config.vocab_size, width), TABLE),
        'per_layer_model_projection': Part((width, hidden), 'per_layer_model_projection'),
        'per_layer_projection_norm.weight': Part((config.ple_dim,), NORMS),
        'norm.weight': Part((hidden,), NORMS),
    }
    for layer in config.layers:
        at = f'layers.{layer.index}.'
        parts |= {at + name: part for name, part in _layer_parts(config, layer).items()}
    return parts


def _layer_parts(config: ModelConfig, layer: LayerConfig) -> dict[str, Part]:
    hidden, ple, inner = config.hidden_size, config.ple_dim, layer.intermediate_size
    queries = config.num_heads * layer.head_dim
    keys = layer.num_kv_heads * layer.head_dim
    parts = {
        'self_attn.q_proj': Part((queries, hidden), 'attention'),
        'self_attn.o_proj': Part((hidden, queries), 'attention'),
        'self_attn.q_norm.weight': Part((layer.head_dim,), NORMS),
        'mlp.gate_proj': Part((inner, hidden), 'mlp'),
        'mlp.up_proj': Part((inner, hidden), 'mlp'),
        'mlp.down_proj': Part((hidden, inner), 'mlp'),
        'per_layer_input_gate': Part((ple, hidden), PER_LAYER),
        'per_layer_projection': Part((hidden, ple), PER_LAYER),
        'layer_scalar': Part((1,), NORMS),
    }
    for name in (
        'input_layernorm', 'post_attention_layernorm', 'pre_feedforward_layernorm',
        'post_feedforward_layernorm', 'post_per_layer_input_norm',
    ):  # fmt: skip
        parts[f'{name}.weight'] = Part((hidden,), NORMS)
    if layer.owns_kv:
        parts['self_attn.k_proj'] = Part((keys, hidden), 'attention')
        parts['self_attn.v_proj'] = Part((keys, hidden), 'attention')
        parts['self_attn.k_norm.weight'] = Part((layer.head_dim,), NORMS)
    return parts


def prefix_of(names: Iterable[str]) -> str:
    """Return what the names of a folder's text tensors begin with."""
    stored = list(names)
    for prefix in (MULTIMODAL_PREFIX, MLX_PREFIX):
        if any(name.startswith(prefix) for name in stored):
            return prefix
    return STANDALONE_PREFIX


def is_not_text(name: str) -> bool:
    """Whether a stored name belongs to vision or audio."""
    return name.removeprefix('model.').startswith(_NOT_TEXT)


def unused_modules(config: ModelConfig, prefix: str) -> dict[str, tuple[int, ...]]:
    """Return modules that layers with another's keys and values may store, and their shapes."""
    unused: dict[str, tuple[int, ...]] = {}
    for layer in config.layers:
        if not layer.owns_kv:
            keys = (layer.num_kv_heads * layer.head_dim, config.hidden_size)
            for name in _UNUSED_IN_SHARED:
                shape = (layer.head_dim,) if name == 'k_norm' else keys
                unused[f'{prefix}layers.{layer.index}.self_attn.{name}'] = shape
    return unused


def is_unused(name: str, unused: Iterable[str]) -> bool:
    """Whether a stored name is of a module in `unused`."""
    module, _, leaf = name.rpartition('.')
    return module in unused and leaf in LEAVES
