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
What the native CPU step's weights take, from a checkpoint's headers alone.

The same choice of forms as `cached_native` makes when it packs; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from math import prod
from pathlib import Path

from gemma_node.kernels.native import WIDTH
from gemma_node.model.cached_native import native_problem
from gemma_node.model.config import ModelConfig
from gemma_node.model.inventory import EMBEDDING
from gemma_node.model.inventory import TABLE
from gemma_node.model.weights import read_layout
from gemma_node.model.weights import StoredMatrix
from gemma_node.model.weights import StoredWeights
from gemma_node.quant.affine import AffineFormat
from gemma_node.quant.packed import PlainFormat

_CONTEXT = 'per_layer_model_projection'
_JOINED = (
    ('self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj'),
    ('self_attn.o_proj',),
    ('mlp.gate_proj', 'mlp.up_proj'),
    ('mlp.down_proj',),
    ('per_layer_input_gate',),
    ('per_layer_projection',),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSizes:
    """
    What headers say of memory; None where that is not known.

    `table_bytes`: the per-layer table as it is stored. `native_bytes`: all that the native step
    holds; None where it cannot run.
    """

    table_bytes: int | None = None
    native_bytes: int | None = None


def stored_sizes(path: str | Path, config: ModelConfig) -> StoredSizes:
    """Read a folder's headers; raises CheckpointError where they do not fit the config."""
    with ExitStack() as stack:
        stored = read_layout(path, config, stack)
        table = stored.matrices[TABLE].tensors.values()
        return StoredSizes(
            table_bytes=sum(tensor.nbytes for tensor in table),
            native_bytes=None if native_problem(config) else native_bytes(stored, config),
        )


def native_bytes(stored: StoredWeights, config: ModelConfig) -> int:
    """Return bytes of packed matrices, and of both tables as they are stored."""
    tables = sum(
        tensor.nbytes for name in (EMBEDDING, TABLE)
        for tensor in stored.matrices[name].tensors.values()
    )
    vectors = 4 * sum(prod(tensor.shape) for tensor in stored.vectors.values())
    return tables + vectors + sum(map(_packed_bytes, _products(stored, config)))


def _products(stored: StoredWeights, config: ModelConfig) -> Iterator[list[StoredMatrix]]:
    """Yield the matrices of each product."""
    yield [stored.matrices[EMBEDDING]]
    yield [stored.matrices[_CONTEXT]]
    for layer in config.layers:
        for names in _JOINED:
            found = [stored.matrices.get(f'layers.{layer.index}.{name}') for name in names]
            yield [each for each in found if each is not None]


def _packed_bytes(parts: list[StoredMatrix]) -> int:
    """Return bytes of matrices with the same input, in the narrowest form that is exact."""
    columns = parts[0].columns
    rows = -(-sum(part.rows for part in parts) // WIDTH) * WIDTH
    groups = {_group(part.form) for part in parts}
    if len(groups) == 1 and 0 not in groups:
        return rows * columns // 2 + 8 * rows * (columns // groups.pop())
    is_bf16 = columns % 2 == 0 and all(part.form == PlainFormat('BF16') for part in parts)
    return rows * columns * (2 if is_bf16 else 4)


def _group(form: object) -> int:
    """Return the group size of codes that the step computes with; 0 for any other form."""
    if isinstance(form, AffineFormat) and form.bits == 4 and form.group_size % 16 == 0:
        return form.group_size
    return 0
