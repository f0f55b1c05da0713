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


"""Limits of the engine. Holds no tensors and imports no torch."""

from __future__ import annotations

from dataclasses import dataclass

from gemma_node.errors import ConfigError

# Of cached keys and values; `auto` in the node's settings is the first.
KV_DTYPES = ('float32', 'bfloat16', 'float8')


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConfig:
    """
    Limits of the engine, fixed for its lifetime.

    `device` is a torch device string. `compute_dtype` is float32, bfloat16 or auto (float32 on a
    CPU with room for it, else the checkpoint's). `num_threads` 0 leaves torch's own choice.
    `native` allows the native CPU step and the device step. `kv_dtype` is of cached keys and
    values, in PyTorch no wider than the arithmetic. `state_dir` '' keeps no states on disk;
    `state_identity` names model and recipe there. Drafts cost rows: with more than
    `max_drafting_lanes` decoding, their time is better spent on the others.
    """

    lanes: int = 8
    context_tokens: int = 8192
    state_budget_bytes: int = 512 << 20
    max_slice_s: float = 0.05
    num_threads: int = 0
    device: str = 'cpu'
    compute_dtype: str = 'auto'
    native: bool = True
    kv_dtype: str = 'float32'
    drafts: bool = True
    max_drafting_lanes: int = 2
    state_dir: str = ''
    state_identity: str = ''

    def __post_init__(self) -> None:
        for name, minimum in (('lanes', 1), ('context_tokens', 2), ('state_budget_bytes', 0)):
            if getattr(self, name) < minimum:
                raise ConfigError(f'{name} must be >= {minimum}, got {getattr(self, name)}')
        if not self.max_slice_s > 0.0:
            raise ConfigError(f'max_slice_s must be > 0, got {self.max_slice_s}')
        if self.num_threads < 0:
            raise ConfigError(f'num_threads must be >= 0, got {self.num_threads}')
        choices = ('auto', 'float32', 'bfloat16')
        if self.compute_dtype not in choices:
            raise ConfigError(
                f'compute_dtype must be one of {", ".join(choices)}, got {self.compute_dtype!r}'
            )
        if self.kv_dtype not in KV_DTYPES:
            raise ConfigError(
                f'kv_dtype must be one of {", ".join(KV_DTYPES)}, got {self.kv_dtype!r}'
            )
