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
What a model needs, what a device offers, and whether it may serve.

Admission happens before weights are read: a feature that is lacking, a device that no receipt
covers and memory that would not suffice are each refused with one sentence that says what fits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

import torch

from gemma_node.backends import cpu
from gemma_node.backends.identity import cpu_identity
from gemma_node.backends.identity import cuda_identity
from gemma_node.backends.identity import xpu_identity
from gemma_node.backends.receipt import Evidence
from gemma_node.backends.receipt import limits
from gemma_node.core import ErrorCode
from gemma_node.errors import ConfigError
from gemma_node.errors import RequestError
from gemma_node.model.cache_shape import lane_bytes
from gemma_node.model.cache_shape import lane_elements
from gemma_node.model.cache_shape import round_up
from gemma_node.model.cache_shape import TILE
from gemma_node.model.config import ModelConfig
from gemma_node.model.native_size import StoredSizes
from gemma_node.model.weights import empty_model

DEVICES = ('auto', 'cpu', 'cuda', 'xpu')
_MIB = 1 << 20
_UNKNOWN = StoredSizes()
_SIZES = {'float32': 4, 'bfloat16': 2, 'float8': 1}
_FEATURES = frozenset(
    {
        'per_layer_inputs',
        'shared_kv',
        'separate_kv',
        'sliding_window',
        'proportional_rope',
        'bfloat16_weights',
        'float32_weights',
        # Unpacked with plain PyTorch when the model is packed for stepping.
        'affine_weights',
        'nvfp4_weights',
        'fp8_weights',
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """Limits a worker is asked to serve within; `kv_dtype` as engine.kv_dtype has it."""

    lanes: int
    context_tokens: int
    state_budget_bytes: int
    kv_dtype: str = 'auto'


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """
    A device that may serve, and how.

    `device` and `compute_dtype` go into EngineConfig. `verified` says that the reference backend
    or a receipt stands behind it; `not_verified` lists what nothing covers.
    """

    backend: str
    device: str
    compute_dtype: str
    driver: str
    verified: bool
    not_verified: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """One kind of device as plain PyTorch drives it."""

    name: str
    is_present: Callable[[], bool]
    free_bytes: Callable[[], float]
    describe: Callable[[], str]
    identity: Callable[[], dict[str, str]]
    compute_dtypes: tuple[str, ...]
    needs_receipt: bool = True
    features: frozenset[str] = field(default=_FEATURES)

    def lacks(self, config: ModelConfig) -> tuple[str, ...]:
        """Return the names of what the model needs and this device has not."""
        return tuple(sorted(requirements(config) - self.features))


BACKENDS: dict[str, Backend] = {
    'cpu': Backend(
        name='cpu',
        is_present=lambda: True,
        free_bytes=cpu.free_bytes,
        describe=cpu.describe,
        identity=cpu_identity,
        compute_dtypes=('float32', 'bfloat16'),
        needs_receipt=False,
    ),
    'cuda': Backend(
        name='cuda',
        is_present=torch.cuda.is_available,
        free_bytes=lambda: torch.cuda.mem_get_info()[0],
        describe=lambda: f'{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}',
        identity=cuda_identity,
        compute_dtypes=('bfloat16',),
    ),
    'xpu': Backend(
        name='xpu',
        is_present=torch.xpu.is_available,
        free_bytes=lambda: torch.xpu.mem_get_info()[0],
        describe=lambda: torch.xpu.get_device_name(),
        identity=xpu_identity,
        compute_dtypes=('bfloat16',),
    ),
}


def requirements(config: ModelConfig) -> frozenset[str]:
    """Return the names of what this model's forward pass needs of a device."""
    needed = {'per_layer_inputs', 'separate_kv', 'bfloat16_weights'}
    if config.num_kv_shared_layers:
        needed.add('shared_kv')
    if any(layer.is_sliding for layer in config.layers):
        needed.add('sliding_window')
    if config.full_rope.rotary_factor < 1.0:
        needed.add('proportional_rope')
    if config.quantization is not None:
        needed |= {f'{family}_weights' for family in config.quantization.families}
    return frozenset(needed)


def admit(
    config: ModelConfig,
    *,
    device: str,
    allow_unverified: bool,
    envelope: Envelope,
    stored: StoredSizes = _UNKNOWN,
    evidence: Evidence | None = None,
) -> Admission:
    """
    Choose the device and the arithmetic, or refuse.

    :param stored: what the checkpoint's headers say; nothing known without
    :param evidence: the receipts there are; None for none
    :raises ConfigError: the device is unknown, absent, lacks a feature or is not covered
    :raises RequestError: OUT_OF_MEMORY, naming the setting that would fit
    """
    if device not in DEVICES:
        raise ConfigError(f'device must be one of {", ".join(DEVICES)}, got {device!r}')
    names = ('cuda', 'xpu', 'cpu') if device == 'auto' else (device,)
    for name in names:
        backend = BACKENDS[name]
        if device == 'auto' and not backend.is_present():
            continue
        admission = _admit(config, backend, envelope, stored, evidence)
        # With auto, what no receipt covers is passed over rather than refused.
        if admission.verified or allow_unverified or name == device:
            break
    if not admission.verified and not allow_unverified:
        raise ConfigError(_not_covered(admission, evidence))
    return admission


def _admit(
    config: ModelConfig,
    backend: Backend,
    envelope: Envelope,
    stored: StoredSizes,
    evidence: Evidence | None,
) -> Admission:
    """Return how a present backend would serve, covered or not."""
    if not backend.is_present():
        raise ConfigError(
            f'torch {torch.__version__} finds no {backend.name} device here; use device cpu'
        )
    lacking = backend.lacks(config)
    if lacking:
        raise ConfigError(f'device {backend.name} lacks {", ".join(lacking)}')
    dtype = _choose_dtype(config, envelope, backend, stored)
    description = backend.describe()
    gaps: tuple[str, ...] = ()
    if backend.needs_receipt:
        gap = 'there is none'
        if evidence is not None:
            wanted = limits(
                lanes=envelope.lanes,
                context_tokens=envelope.context_tokens,
                compute_dtype=dtype,
                kv_dtype=envelope.kv_dtype,
            )
            gap = evidence.gap(backend.name, backend.identity(), wanted)
        if gap:
            gaps = (f'no receipt covers {backend.name} ({description}): {gap}',)
    return Admission(
        backend=backend.name,
        device=backend.name,
        compute_dtype=dtype,
        driver=description,
        verified=not gaps,
        not_verified=gaps,
    )


def _not_covered(admission: Admission, evidence: Evidence | None) -> str:
    folder = 'CKPT' if evidence is None else str(evidence.checkpoint)
    return (
        f'{"; ".join(admission.not_verified)}; `gemma-node receipts {folder} --device '
        f'{admission.backend}` makes one in minutes, device cpu needs none, and allow_unverified: '
        'true serves without'
    )


def memory_needed(
    config: ModelConfig,
    envelope: Envelope,
    compute_dtype: str,
    stored: StoredSizes = _UNKNOWN,
    backend: str = 'cpu',
) -> dict[str, int]:
    """Return bytes of weights, lanes and prompt states."""
    size = _SIZES[compute_dtype]
    if _is_native(compute_dtype, stored, backend):
        tables = config.head_dim + config.global_head_dim
        # With sines and cosines of every position.
        rotary = 2 * size * tables * round_up(envelope.context_tokens)
        weights = (stored.native_bytes or 0) + rotary
    else:
        model = empty_model(config)
        table = model.embed_tokens_per_layer.weight.numel()
        total = sum(parameter.numel() for parameter in model.parameters())
        # The per-layer table is only gathered and stays as it is stored.
        in_table = table * 2 if stored.table_bytes is None else stored.table_bytes
        weights = (total - table) * size + in_table
    return {
        'weights': weights,
        'lanes': envelope.lanes * _lane(config, envelope, compute_dtype, stored, backend),
        'states': envelope.state_budget_bytes,
    }


def _is_native(compute_dtype: str, stored: StoredSizes, backend: str) -> bool:
    """Return whether the native step would compute, on weights as they are stored."""
    is_wide = backend == 'cpu' and compute_dtype == 'float32'
    return is_wide and stored.native_bytes is not None


def _lane(
    config: ModelConfig,
    envelope: Envelope,
    compute_dtype: str,
    stored: StoredSizes,
    backend: str,
) -> int:
    """Return the most bytes that one lane's keys and values take."""
    size = _SIZES[compute_dtype]
    if envelope.kv_dtype != 'auto':
        size = min(size, _SIZES[envelope.kv_dtype])
    if _is_native(compute_dtype, stored, backend):
        return lane_bytes(config, envelope.context_tokens, size)
    return lane_elements(config, envelope.context_tokens) * size


def _choose_dtype(
    config: ModelConfig, envelope: Envelope, backend: Backend, stored: StoredSizes
) -> str:
    free, name = backend.free_bytes(), backend.name
    least: dict[str, dict[str, int]] = {}
    for dtype in backend.compute_dtypes:
        least[dtype] = memory_needed(config, envelope, dtype, stored, name)
        if sum(least[dtype].values()) <= free:
            return dtype
    # Packed weights in float32 may take less than unpacked ones in bfloat16.
    smallest = min(least, key=lambda dtype: sum(least[dtype].values()))
    fits = _Fits(config, envelope, smallest, stored, name)
    raise RequestError(ErrorCode.OUT_OF_MEMORY, fits.refusal(least[smallest], int(free)))


@dataclass(frozen=True, slots=True)
class _Fits:
    """Says what would fit where a wish does not."""

    config: ModelConfig
    envelope: Envelope
    dtype: str
    stored: StoredSizes
    backend: str

    def lane(self, tokens: int) -> int:
        """Return the bytes of a lane of so many tokens."""
        envelope = replace(self.envelope, context_tokens=tokens)
        return _lane(self.config, envelope, self.dtype, self.stored, self.backend)

    def refusal(self, needed: dict[str, int], free: int) -> str:
        """Return one sentence with the settings that fit."""
        envelope = self.envelope
        text = ', '.join(f'{name} {size // _MIB} MiB' for name, size in needed.items())
        text = f'{text} exceed the {free // _MIB} MiB that are free; '
        room = free - needed['weights']
        if room >= needed['lanes']:
            return text + f'engine.state_budget_mb <= {(room - needed["lanes"]) // _MIB} fits'
        lanes = (room - needed['states']) // (needed['lanes'] // envelope.lanes)
        if lanes > 0:
            return text + f'engine.lanes <= {lanes} fits'
        for tokens in range(round_up(envelope.context_tokens), 0, -TILE):
            left = room - self.lane(tokens)
            if left >= 0:
                return text + (
                    f'engine.lanes 1, engine.context_tokens <= {tokens} and '
                    f'engine.state_budget_mb <= {left // _MIB} fit'
                )
        return text + 'the weights alone do not fit, so this machine needs a smaller checkpoint'
