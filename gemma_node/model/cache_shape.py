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
How many slots the key-value cache of one lane has. Holds no tensors and imports no torch.

Full layers grow with the context. Sliding layers are rings of whole tiles with at least
window - 1 + TILE slots, so that a tile never overwrites a row which one of its own rows sees.
"""

from __future__ import annotations

from gemma_node.model.config import ModelConfig

# Prefill runs in tiles of this many rows on a grid of absolute positions, the last one padded,
# so that the bits of a row never depend on where a turn ends.
TILE = 64


def round_up(num_tokens: int) -> int:
    """Return `num_tokens` as whole tiles."""
    return -(-num_tokens // TILE) * TILE


def slot_counts(config: ModelConfig, context_tokens: int) -> dict[bool, int]:
    """Return slots per lane of sliding (True) and full layers (False)."""
    full = round_up(context_tokens)
    ring = round_up(config.sliding_window - 1) + TILE
    return {False: full, True: min(ring, full)}


def lane_elements(config: ModelConfig, context_tokens: int) -> int:
    """Return how many numbers one lane's keys and values are."""
    slots = slot_counts(config, context_tokens)
    owners = config.layers[: config.num_owning_layers]
    return sum(2 * each.num_kv_heads * each.head_dim * slots[each.is_sliding] for each in owners)


def page_bytes(config: ModelConfig, item_bytes: int) -> tuple[int, int]:
    """Return the bytes of a page of full and of sliding layers; a page is one tile of rows."""
    owners = config.layers[: config.num_owning_layers]
    full, sliding = (
        sum(
            2 * each.num_kv_heads * each.head_dim * TILE * item_bytes
            for each in owners
            if each.is_sliding == is_sliding
        )
        for is_sliding in (False, True)
    )
    return full, sliding


def lane_bytes(config: ModelConfig, num_tokens: int, item_bytes: int) -> int:
    """
    Return the most that a lane of `num_tokens` tokens holds in pages.

    Full layers have a page for each tile begun. Sliding ones have those that the window of a
    chunk's first row and the chunk itself touch.
    """
    full, sliding = page_bytes(config, item_bytes)
    pages = round_up(num_tokens) // TILE
    in_window = round_up(config.sliding_window) // TILE + 2
    return pages * full + min(pages, in_window) * sliding
