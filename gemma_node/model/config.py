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
Reads config.json of a Gemma 4 E-series checkpoint into one frozen value.

Knows both spellings that exist (`global_head_dim`, `per_layer_config`; `text_config` inside a
multimodal file or standing alone) and refuses by name what this runtime does not compute.
Holds no tensors and reads no weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

from gemma_node.errors import CheckpointError
from gemma_node.model.config_values import boolean
from gemma_node.model.config_values import integer
from gemma_node.model.config_values import MAX_INTEGER
from gemma_node.model.config_values import number
from gemma_node.model.config_values import optional_positive
from gemma_node.model.config_values import positive
from gemma_node.model.config_values import shown
from gemma_node.quant.declaration import Declaration
from gemma_node.quant.declaration import parse_declaration

CONFIG_FILE = 'config.json'
# Where serving rounds: at the steps of kernels.steps that have this name.
ROUNDING = 'hf'
# Where ModelOpt says what it quantised, beside or instead of config.json.
SEPARATE_FILE = 'hf_quant_config.json'
SLIDING = 'sliding_attention'
FULL = 'full_attention'

# More than any model's, and the product of two still fits where shapes are computed.
_MAX_SIDE = 1 << 27

_MULTIMODAL_TYPE = 'gemma4'
_TEXT_TYPE = 'gemma4_text'
_DEFAULT_ROPE: dict[str, dict[str, Any]] = {
    SLIDING: {'rope_type': 'default', 'rope_theta': 10_000.0},
    FULL: {
        'rope_type': 'proportional',
        'partial_rotary_factor': 0.25,
        'rope_theta': 1_000_000.0,
    },
}
# Name in config.json, the only value this runtime computes.
_ONLY: tuple[tuple[str, Any], ...] = (
    ('enable_moe_block', False),
    ('attention_k_eq_v', False),
    ('attention_bias', False),
    ('use_bidirectional_attention', None),
    ('tie_word_embeddings', True),
    ('hidden_activation', 'gelu_pytorch_tanh'),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RopeConfig:
    """
    Rotary embedding of one layer type.

    `rotary_factor` is the share of the head's pairs that rotate; the frequencies always span
    the whole head dimension. `scale` divides them.
    """

    theta: float
    rotary_factor: float = 1.0
    scale: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerConfig:
    """One layer as it is computed; `kv_source` is the layer whose keys and values it reads."""

    index: int
    is_sliding: bool
    head_dim: int
    num_kv_heads: int
    intermediate_size: int
    kv_source: int

    @property
    def owns_kv(self) -> bool:
        """Whether this layer computes and stores its own keys and values."""
        return self.kv_source == self.index


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """Shape of a Gemma 4 E-series text model, fixed for the checkpoint's lifetime."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_heads: int
    num_kv_heads: int
    num_global_kv_heads: int
    head_dim: int
    global_head_dim: int
    ple_dim: int
    layer_types: tuple[str, ...]
    num_kv_shared_layers: int
    sliding_window: int
    sliding_rope: RopeConfig
    full_rope: RopeConfig
    max_position_embeddings: int
    rms_norm_eps: float = 1e-6
    softcap: float | None = None
    use_double_wide_mlp: bool = False
    pad_token_id: int = 0
    bos_token_id: int = 2
    eos_token_ids: tuple[int, ...] = (1,)
    quantization: Declaration | None = None

    def __post_init__(self) -> None:
        _check_shape(self)

    @property
    def num_layers(self) -> int:
        """Number of decoder layers."""
        return len(self.layer_types)

    @property
    def num_owning_layers(self) -> int:
        """Number of layers, from the first, that have a cache of their own."""
        return self.num_layers - self.num_kv_shared_layers

    @property
    def layers(self) -> tuple[LayerConfig, ...]:
        """Every layer as it is computed."""
        return tuple(self.layer(index) for index in range(self.num_layers))

    def layer(self, index: int) -> LayerConfig:
        """Return how layer `index` is computed."""
        kind = self.layer_types[index]
        shared = index >= self.num_owning_layers
        source = index
        if shared:
            owners = self.layer_types[: self.num_owning_layers]
            source = len(owners) - 1 - owners[::-1].index(kind)
        is_sliding = kind == SLIDING
        widen = 2 if shared and self.use_double_wide_mlp else 1
        return LayerConfig(
            index=index,
            is_sliding=is_sliding,
            head_dim=self.head_dim if is_sliding else self.global_head_dim,
            num_kv_heads=self.num_kv_heads if is_sliding else self.num_global_kv_heads,
            intermediate_size=self.intermediate_size * widen,
            kv_source=source,
        )

    def rope(self, *, is_sliding: bool) -> RopeConfig:
        """Return the rotary embedding of one layer type."""
        return self.sliding_rope if is_sliding else self.full_rope

    @classmethod
    def from_folder(cls, path: str | Path) -> ModelConfig:
        """Read `config.json` of a checkpoint folder; raises CheckpointError."""
        folder = Path(path)
        raw = read_config(folder)
        separate = folder / SEPARATE_FILE
        try:
            return cls.from_mapping(raw, read_json(separate) if separate.is_file() else None)
        except CheckpointError as error:
            raise CheckpointError(f'{folder / CONFIG_FILE}: {error}') from error

    @classmethod
    def from_mapping(
        cls, raw: Mapping[str, Any], separate: Mapping[str, Any] | None = None
    ) -> ModelConfig:
        """
        Build from the parsed content of a config.json; raises CheckpointError.

        :param separate: the parsed hf_quant_config.json, if there is one
        """
        text = text_part(raw)
        _refuse_features(raw, text)
        layer_types = _layer_types(text)
        head_dim = integer(text, 'head_dim')
        kv_heads = integer(text, 'num_key_value_heads')
        global_head_dim, global_kv_heads = _full_overrides(text, layer_types, head_dim, kv_heads)
        rope = text.get('rope_parameters')
        rope = _DEFAULT_ROPE if rope is None else rope
        vocab_size = integer(text, 'vocab_size')
        if integer(text, 'vocab_size_per_layer_input', vocab_size) != vocab_size:
            raise CheckpointError('vocab_size_per_layer_input must equal vocab_size')
        return cls(
            vocab_size=vocab_size,
            hidden_size=integer(text, 'hidden_size'),
            intermediate_size=integer(text, 'intermediate_size'),
            num_heads=integer(text, 'num_attention_heads'),
            num_kv_heads=kv_heads,
            num_global_kv_heads=global_kv_heads,
            head_dim=head_dim,
            global_head_dim=global_head_dim,
            ple_dim=integer(text, 'hidden_size_per_layer_input'),
            layer_types=layer_types,
            num_kv_shared_layers=integer(text, 'num_kv_shared_layers', 0, minimum=0),
            sliding_window=integer(text, 'sliding_window'),
            sliding_rope=_rope(rope, SLIDING),
            full_rope=_rope(rope, FULL),
            max_position_embeddings=integer(text, 'max_position_embeddings'),
            rms_norm_eps=number(text, 'rms_norm_eps', 1e-6),
            softcap=optional_positive(text, 'final_logit_softcapping'),
            use_double_wide_mlp=boolean(text, 'use_double_wide_mlp', False),
            pad_token_id=integer(text, 'pad_token_id', 0, minimum=0),
            bos_token_id=integer(text, 'bos_token_id', 2, minimum=0),
            eos_token_ids=_token_ids(raw.get('eos_token_id', text.get('eos_token_id'))),
            quantization=parse_declaration(raw, separate),
        )


def read_config(folder: Path) -> dict[str, Any]:
    """Return the parsed config.json of a checkpoint folder; raises CheckpointError."""
    if not folder.is_dir():
        raise CheckpointError(f'no checkpoint folder at {folder}')
    return read_json(folder / CONFIG_FILE)


def read_json(file: Path) -> dict[str, Any]:
    """Return the object that a JSON file of a checkpoint holds; raises CheckpointError."""
    try:
        if file.exists() and not file.is_file():
            # Opening a pipe would wait for its other end.
            raise CheckpointError(f'{file} must be a plain file')
        raw = json.loads(file.read_text(encoding='utf-8'))
    except FileNotFoundError:
        raise CheckpointError(f'{file} is missing; a checkpoint needs it') from None
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise CheckpointError(f'{file} cannot be read as JSON: {error}') from error
    if not isinstance(raw, dict):
        raise CheckpointError(f'{file} must hold an object, found {type(raw).__name__}')
    return raw


def text_part(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a parsed config.json says of the text model; raises CheckpointError."""
    kind = raw.get('model_type')
    if kind == _TEXT_TYPE:
        return raw
    if kind != _MULTIMODAL_TYPE:
        raise CheckpointError(
            f'model_type {shown(kind)} is not served; this runtime serves '
            f'{_MULTIMODAL_TYPE!r} and {_TEXT_TYPE!r} (Gemma 4 E-series)'
        )
    text = raw.get('text_config')
    if not isinstance(text, Mapping):
        raise CheckpointError('text_config is missing or not an object')
    return text


def _refuse_features(raw: Mapping[str, Any], text: Mapping[str, Any]) -> None:
    lacking = []
    for name, served in _ONLY:
        for part in (raw, text):
            value = part.get(name, served)
            # Bidirectional attention between image tokens changes nothing for text.
            if value == served or (name == 'use_bidirectional_attention' and value == 'vision'):
                continue
            found = 'an object' if isinstance(value, Mapping) else shown(value)
            lacking.append(f'{name} = {found} (served: {served!r})')
            break
    if not text.get('hidden_size_per_layer_input'):
        lacking.append('a model without per-layer inputs (hidden_size_per_layer_input)')
    if lacking:
        raise CheckpointError('this runtime does not serve ' + ', '.join(lacking))


def _layer_types(text: Mapping[str, Any]) -> tuple[str, ...]:
    types = text.get('layer_types')
    if not isinstance(types, list) or not types:
        raise CheckpointError('layer_types must be a list with one name per layer')
    unknown = sorted({str(kind) for kind in types} - {SLIDING, FULL})
    if unknown:
        raise CheckpointError(f'layer_types holds {shown(unknown)}; choices: {SLIDING}, {FULL}')
    num_layers = integer(text, 'num_hidden_layers')
    if len(types) != num_layers:
        raise CheckpointError(f'layer_types names {len(types)} layers, not {num_layers}')
    return tuple(types)


def _full_overrides(
    text: Mapping[str, Any], layer_types: tuple[str, ...], head_dim: int, kv_heads: int
) -> tuple[int, int]:
    """Return head dimension and key-value heads of the full layers, from either spelling."""
    overrides = text.get('per_layer_config')
    if overrides is None:
        return integer(text, 'global_head_dim', head_dim), kv_heads
    if not isinstance(overrides, Mapping) or not all(_is_index(key) for key in overrides):
        raise CheckpointError('per_layer_config must be an object by layer number')
    # transformers pads the numbers with zeros in models of more than ten layers.
    by_layer = {int(key): layer for key, layer in overrides.items()}
    found: dict[str, set[tuple[int, int]]] = {SLIDING: set(), FULL: set()}
    for index, kind in enumerate(layer_types):
        layer = by_layer.get(index, {})
        if not isinstance(layer, Mapping):
            raise CheckpointError(f'per_layer_config[{index}] must be an object')
        extra = sorted(set(layer) - {'head_dim', 'num_key_value_heads'})
        if extra:
            raise CheckpointError(f'per_layer_config[{index}] sets {extra}, which is not served')
        dim = integer(layer, 'head_dim', head_dim)
        found[kind].add((dim, integer(layer, 'num_key_value_heads', kv_heads)))
    if len(found[FULL]) > 1 or found[SLIDING] - {(head_dim, kv_heads)}:
        raise CheckpointError('per_layer_config must agree within sliding and within full layers')
    return found[FULL].pop() if found[FULL] else (head_dim, kv_heads)


def _is_index(key: str) -> bool:
    return key.isdecimal() and len(key) <= len(str(MAX_INTEGER))


def _rope(parameters: Any, kind: str) -> RopeConfig:
    values = parameters.get(kind) if isinstance(parameters, Mapping) else None
    if not isinstance(values, Mapping):
        raise CheckpointError(f'rope_parameters.{kind} is missing or not an object')
    rope_type = values.get('rope_type', 'default')
    theta = positive(values, 'rope_theta', _DEFAULT_ROPE[kind]['rope_theta'])
    if rope_type == 'default':
        return RopeConfig(theta=theta)
    if rope_type != 'proportional':
        raise CheckpointError(
            f'rope_parameters.{kind}.rope_type {shown(rope_type)} is not served; '
            'choices: default, proportional'
        )
    factor = number(values, 'partial_rotary_factor', 1.0)
    if not 0.0 <= factor <= 1.0:
        raise CheckpointError(f'partial_rotary_factor must be 0 to 1, found {factor}')
    return RopeConfig(theta=theta, rotary_factor=factor, scale=positive(values, 'factor', 1.0))


def _check_shape(config: ModelConfig) -> None:
    owners = config.layer_types[: config.num_owning_layers]
    if config.layer_types[-1] != FULL:
        raise CheckpointError(f'the last layer must be {FULL}')
    if not 0 <= config.num_kv_shared_layers < config.num_layers:
        raise CheckpointError(
            f'num_kv_shared_layers must be 0 to {config.num_layers - 1}, '
            f'found {config.num_kv_shared_layers}'
        )
    orphans = sorted(set(config.layer_types[config.num_owning_layers :]) - set(owners))
    if orphans:
        raise CheckpointError(f'no layer owns keys and values for the shared {orphans} layers')
    for heads in (config.num_kv_heads, config.num_global_kv_heads):
        if config.num_heads % heads:
            raise CheckpointError(
                f'num_attention_heads {config.num_heads} is not a multiple of the '
                f'{heads} key-value heads'
            )
    if config.head_dim % 2 or config.global_head_dim % 2:
        raise CheckpointError('head_dim and global_head_dim must be even')
    sides = {
        'vocab_size': config.vocab_size,
        'hidden_size': config.hidden_size,
        'intermediate_size x 2': config.intermediate_size * 2,
        'num_attention_heads x head_dim': config.num_heads * config.head_dim,
        'num_attention_heads x global_head_dim': config.num_heads * config.global_head_dim,
        'num_hidden_layers x hidden_size_per_layer_input': config.num_layers * config.ple_dim,
    }
    for name, side in sides.items():
        if side > _MAX_SIDE:
            raise CheckpointError(f'{name} is {side}; no matrix may have more than {_MAX_SIDE}')


def _token_ids(value: Any) -> tuple[int, ...]:
    ids = value if isinstance(value, list) else [1 if value is None else value]
    if not all(type(item) is int and 0 <= item <= MAX_INTEGER for item in ids):
        raise CheckpointError(f'eos_token_id must be token ids, found {shown(value)}')
    return tuple(ids)
