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
Faults of the forward pass that a check must see, each as a change of the reference.

Where geometry or weights can express a fault, it is also planted in the model that serves, so
that every backend's own packing and kernels run with it. The others are planted in the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace
from typing import cast

import torch

from gemma_node.model.config import ModelConfig
from gemma_node.model.config import RopeConfig
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.gemma4 import Layer
from gemma_node.model.linear import QuantEmbedding
from gemma_node.model.linear import ScaledEmbedding
from gemma_node.quant.packed import Packed
from gemma_node.quant.packed import PlainTensor
from gemma_node.receipts.bench import twin
from gemma_node.receipts.reference64 import ForwardPass

_OWN_NORMS = ('q_norm', 'k_norm', 'v_norm')


@dataclass(frozen=True, slots=True)
class ForwardFault:
    """
    One fault: the pass with it, and the model with it where a model can have it.

    `in_window` says that it shows only in rows beyond the window.
    """

    name: str
    plan: ForwardPass
    plant: Callable[[], Gemma4] | None = None
    in_window: bool = False


def forward_faults(model: Gemma4, plan: ForwardPass) -> Iterator[ForwardFault]:
    """Yield every fault that this model can have."""
    config = model.config
    if any(layer.is_sliding for layer in plan.layers):
        for step in (-1, 1):
            yield ForwardFault(
                f'window {config.sliding_window + step}',
                replace(plan, window=plan.window + step),
                with_config(model, sliding_window=config.sliding_window + step),
                in_window=True,
            )
    yield from _source_faults(model, plan)
    yield from _weight_faults(model, plan)
    yield from _rope_faults(model, plan)
    if config.softcap is not None:
        yield ForwardFault(
            'softcap skipped', replace(plan, softcap=None), with_config(model, softcap=None)
        )
    for name in _OWN_NORMS:
        yield ForwardFault(f'{name} skipped', replace(plan, skipped_norms=frozenset({name})))
    yield ForwardFault('mask shifted by one', replace(plan, mask_shift=1))
    yield ForwardFault('per-layer inputs of the next layer', replace(plan, slice_shift=1))
    yield ForwardFault('per-layer projection scale skipped', replace(plan, context_scale=1.0))
    yield ForwardFault('per-layer mixing scale skipped', replace(plan, mix_scale=1.0))
    head_scale = config.head_dim**-0.5
    yield ForwardFault('scores divided by sqrt(size)', replace(plan, score_scale=head_scale))


def _source_faults(model: Gemma4, plan: ForwardPass) -> Iterator[ForwardFault]:
    """Yield shared layers that read the owner before theirs."""
    num_owners = model.config.num_owning_layers
    for is_sliding in (True, False):
        alike = [
            index
            for index, layer in enumerate(plan.layers[:num_owners])
            if layer.is_sliding == is_sliding
        ]
        readers = [
            index
            for index, layer in enumerate(plan.layers)
            if index >= num_owners and layer.is_sliding == is_sliding
        ]
        if len(alike) < 2 or not readers:
            continue
        wrong = alike[-2]
        layers = tuple(
            replace(layer, source=wrong) if index in readers else layer
            for index, layer in enumerate(plan.layers)
        )
        kind = 'sliding' if is_sliding else 'full'
        yield ForwardFault(
            f'KV source of {kind} layers {wrong}, not {alike[-1]}',
            replace(plan, layers=layers),
            with_source(model, readers, wrong),
        )


def _weight_faults(model: Gemma4, plan: ForwardPass) -> Iterator[ForwardFault]:
    yield ForwardFault(
        'per-layer table row + 1', replace(plan, table_shift=1), lambda: _shifted_table(model)
    )
    middle = len(plan.layers) // 2
    layers = list(plan.layers)
    gain = 1.01
    layers[middle] = replace(layers[middle], gain=gain)
    yield ForwardFault(
        f'layer_scalar of layer {middle} + 1 %',
        replace(plan, layers=tuple(layers)),
        lambda: _with_gain(model, middle, gain),
    )
    yield ForwardFault(
        'norm weights + 1', replace(plan, norm_offset=1.0), lambda: _with_norm_offset(model)
    )
    yield ForwardFault(
        'embedding scale + 1 %',
        replace(plan, embedding_scale=plan.embedding_scale * 1.01),
        lambda: _with_scale(model, 'embed_tokens', 1.01),
    )
    yield ForwardFault(
        'per-layer table scale skipped',
        replace(plan, table_scale=1.0),
        lambda: _with_scale(model, 'embed_tokens_per_layer', 1.0 / plan.table_scale),
    )


def _rope_faults(model: Gemma4, plan: ForwardPass) -> Iterator[ForwardFault]:
    full, sliding = plan.rope
    factor = 0.5 if full.rotary_factor != 0.5 else 0.25
    changes: list[tuple[str, RopeConfig, RopeConfig]] = [
        (f'rotary factor of full layers {factor}', replace(full, rotary_factor=factor), sliding),
        ('theta of full layers / 10', replace(full, theta=full.theta / 10), sliding),
        ('theta of sliding layers x 10', full, replace(sliding, theta=sliding.theta * 10)),
        ('frequencies of full layers halved', replace(full, scale=full.scale * 2), sliding),
    ]
    for name, new_full, new_sliding in changes:
        yield ForwardFault(
            name,
            replace(plan, rope=(new_full, new_sliding)),
            with_config(model, full_rope=new_full, sliding_rope=new_sliding),
        )


def with_config(model: Gemma4, **changes: object) -> Callable[[], Gemma4]:
    """Return what makes the model with some numbers of its config changed."""

    def plant() -> Gemma4:
        config: ModelConfig = replace(model.config, **changes)  # type: ignore[arg-type]
        return twin(model, config)

    return plant


def with_source(model: Gemma4, readers: list[int], source: int) -> Callable[[], Gemma4]:
    """Return what makes the model in which some layers read another layer's keys and values."""

    def plant() -> Gemma4:
        made = twin(model)
        for index in readers:
            layer = cast('Layer', made.layers[index])
            layer.layer = layer.self_attn.layer = replace(layer.layer, kv_source=source)
        return made

    return plant


def _with_gain(model: Gemma4, index: int, gain: float) -> Gemma4:
    made = twin(model)
    layer = cast('Layer', made.layers[index])
    scalar = layer.layer_scalar
    # In float32: bfloat16 would round the change.
    changed = torch.nn.Parameter(scalar.detach().float() * gain, requires_grad=False)
    layer.layer_scalar = changed
    return made


def _with_norm_offset(model: Gemma4) -> Gemma4:
    made = twin(model)
    for name, parameter in list(made.named_parameters()):
        if parameter.ndim == 1 and name.endswith('norm.weight'):
            owner, _, leaf = name.rpartition('.')
            changed = torch.nn.Parameter(parameter.detach() + 1.0, requires_grad=False)
            setattr(made.get_submodule(owner), leaf, changed)
    return made


def _with_scale(model: Gemma4, name: str, factor: float) -> Gemma4:
    made = twin(model)
    table = made.get_submodule(name)
    assert isinstance(table, ScaledEmbedding | QuantEmbedding)
    table.scale *= factor
    return made


def _shifted_table(model: Gemma4) -> Gemma4:
    made = twin(model)
    table = made.embed_tokens_per_layer
    packed: Packed = table.packed
    shifted = packed.take((torch.arange(packed.shape[0]) + 1) % packed.shape[0])
    if isinstance(table, QuantEmbedding):
        table.packed = shifted
    else:
        assert isinstance(shifted, PlainTensor)
        table.weight = torch.nn.Parameter(shifted.values, requires_grad=False)
    return made
