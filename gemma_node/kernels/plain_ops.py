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
Plain PyTorch twins of the device step's kernels, under the same signatures.

What a kernel computes, said once more without tiles: float32 inside, bfloat16 where a kernel
stores bfloat16. They run anywhere, need no Triton, and make no promise about bits between
different numbers of rows.
"""

from __future__ import annotations

import torch
from torch import Tensor
import torch.nn.functional as F  # noqa: N812

from gemma_node.kernels import reference
from gemma_node.kernels.planes import numbers_of
from gemma_node.kernels.planes import Planes
from gemma_node.kernels.tuning import Tiling

NAME = 'plain'
PAGE = 64


def product(
    x: Tensor,
    weight: Planes,
    out: Tensor,
    *,
    tiling: Tiling | None = None,
    gated: bool = False,
    plane: Tensor | None = None,
    rows: int | None = None,
) -> None:
    """Multiply rows of activations with a matrix; all of it goes into the first part."""
    result = x.float() @ numbers_of(weight).t()
    if gated:
        half, up = result.chunk(2, -1)
        out.copy_(reference.gelu_tanh(half) * up)
    elif plane is not None:
        out.copy_(reference.gelu_tanh(result) * plane)
    else:
        out.zero_()
        out[0] = result


def prompt_product(
    x: Tensor,
    weight: Planes,
    out: Tensor,
    *,
    tiling: Tiling | None = None,
    gated: bool = False,
    room: Tensor | None = None,
) -> None:
    """Multiply prompt rows with a matrix whose weights are rounded to bfloat16 once."""
    numbers = numbers_of(weight)
    if weight.factors is None:
        sums = x.float() @ numbers.to(torch.bfloat16).float().t()
    else:
        # A row's last factor is applied to the sums.
        factors = weight.factors[: weight.rows]
        safe = torch.where(factors == 0.0, 1.0, factors)
        sums = x.float() @ (numbers / safe[:, None]).to(torch.bfloat16).float().t() * factors
    if gated:
        first, second = sums.chunk(2, -1)
        sums = reference.gelu_tanh(first) * second
    out.copy_(sums)


def embed(
    ids: Tensor,
    table: Planes,
    factor: float,
    weight: Tensor,
    eps: float,
    h: Tensor,
    narrow: Tensor,
    x: Tensor,
    rows: int,
) -> None:
    """Gather embeddings of the first `rows` of `ids` times a factor."""
    h[:rows] = table_rows(table, ids[:rows]) * factor
    narrow[:rows] = h[:rows]
    x[:rows] = reference.rms_norm(h[:rows], weight, eps)


def per_layer(
    ids: Tensor,
    table: Planes,
    factor: float,
    context: Tensor,
    context_factor: float,
    weight: Tensor,
    eps: float,
    first_layer: int,
    out: Tensor,
    rows: int,
) -> None:
    """Mix what the per-layer table says of a token with its projected embedding."""
    layers, size = out.shape[1:]
    columns = slice(first_layer * size, (first_layer + layers) * size)
    told = table_rows(table, ids[:rows])[:, columns] * factor
    mixed = context[:, :rows].float().sum(0)[:, : layers * size] * context_factor
    mixed = reference.rms_norm(mixed.view(rows, layers, size), weight, eps)
    out[:rows] = (mixed + told.view(rows, layers, size)) * 2.0**-0.5


def residual(
    parts: Tensor,
    weight: Tensor,
    h: Tensor,
    scalar: Tensor | None,
    next_weight: Tensor | None,
    eps: float,
    x: Tensor,
    rows: int,
) -> None:
    """Add the normed sum of parts to the stream, and norm that for what comes next."""
    stream = h[:rows] + reference.rms_norm(parts[:, :rows].float().sum(0), weight, eps)
    if scalar is not None:
        stream = stream * scalar
    h[:rows] = stream
    x[:rows] = stream if next_weight is None else reference.rms_norm(stream, next_weight, eps)


def gate(first: Tensor, second: Tensor, x: Tensor) -> None:
    """Write gelu(sum of first [parts, rows, size]) * second [rows, size] into `x`."""
    x.copy_(reference.gelu_tanh(first[:, : len(x)].float().sum(0)) * second[: len(x)].float())


def heads(
    qkv: Tensor,
    norms: Tensor,
    cos: Tensor,
    sin: Tensor,
    positions: Tensor,
    lanes: Tensor,
    ends: Tensor,
    table: Tensor,
    q: Tensor,
    pool: Tensor,
    slot: int,
    num_kv_heads: int,
    eps: float,
    rows: int,
    *,
    owns: bool,
) -> None:
    """Norm and rotate heads, and write keys and values of rows before their `ends`."""
    num_heads, size = q.shape[1:]
    whole = qkv[:, :rows].float().sum(0).view(rows, -1, size)
    where = positions[:rows].long()
    idle = size // 2 - cos.shape[1]
    c = F.pad(cos[where], (0, idle), value=1.0)[:, None]
    s = F.pad(sin[where], (0, idle))[:, None]
    c, s = torch.cat((c, c), -1), torch.cat((-s, s), -1)
    asked = reference.rms_norm(whole[:, :num_heads], norms[0], eps)
    q[:rows] = reference.rotary(asked, c, s)
    if not owns:
        return
    keys = reference.rms_norm(whole[:, num_heads : num_heads + num_kv_heads], norms[1], eps)
    keys = reference.rotary(keys, c, s)
    values = reference.rms_norm(whole[:, num_heads + num_kv_heads :], None, eps)
    dtype = torch.float8_e4m3fn if pool.dtype == torch.uint8 else pool.dtype
    written = torch.stack((keys, values), 1).to(dtype).view(pool.dtype)
    for row in range(rows):
        position = int(positions[row])
        if position >= int(ends[row]):
            continue
        page = int(table[lanes[row], position // PAGE])
        pool[page, slot, :, :, position % PAGE] = written[row]


def attend(
    q: Tensor,
    pool: Tensor,
    table: Tensor,
    positions: Tensor,
    lanes: Tensor,
    slot: int,
    window: int,
    parts: Tensor,
    stats: Tensor,
    out: Tensor,
    rows: int,
) -> None:
    """Attend with the first `rows` rows, each at a position of a lane."""
    for row in range(rows):
        out[row] = _attended(q[row], pool, table[lanes[row]], int(positions[row]), slot, window)


def attend_prompt(
    q: Tensor,
    pool: Tensor,
    table: Tensor,
    positions: Tensor,
    lanes: Tensor,
    ends: Tensor,
    slot: int,
    window: int,
    out: Tensor,
) -> None:
    """Attend with rows that are consecutive and of one lane in each page."""
    for row in range(len(q)):
        if int(positions[row]) < int(ends[row]):
            pages = table[lanes[row]]
            out[row] = _attended(q[row], pool, pages, int(positions[row]), slot, window)


def choose(
    logits: Tensor,
    mask: Tensor,
    cap: float | None,
    blocks: Tensor,
    looks: Tensor,
    best_ids: Tensor,
    rows: int,
) -> None:
    """Cap the first `rows` rows of logits in place and say what a draw needs of each."""
    logits[:rows] = reference.softcap(logits[:rows], cap)
    shifts = torch.arange(32, dtype=torch.int32, device=mask.device)
    bits = (mask[:rows, :, None] >> shifts & 1).flatten(1)[:, : logits.shape[-1]].bool()
    kept = logits[:rows].masked_fill(~bits, -torch.inf)
    best = kept.nan_to_num(nan=-torch.inf, posinf=torch.inf, neginf=-torch.inf).amax(-1)
    ids = torch.arange(logits.shape[-1], device=mask.device)
    found = ids.masked_fill(~bits | (kept != best[:, None]), 2**31 - 1).amin(-1)
    best_ids[:rows] = found
    looks[:rows, 0] = best
    looks[:rows, 1] = kept.logsumexp(-1)
    looks[:rows, 2] = logits[:rows].logsumexp(-1)


def table_rows(table: Planes, ids: Tensor) -> Tensor:
    """Return rows of a packed table, [ids, columns] in float32."""
    taken = ids.long()
    some = Planes(
        kind=table.kind,
        rows=len(taken),
        columns=table.columns,
        group=table.group,
        data=table.data[taken],
        scales=None if table.scales is None else table.scales[:, taken],
        biases=None if table.biases is None else table.biases[:, taken],
    )
    return numbers_of(some)


def _attended(
    q: Tensor, pool: Tensor, pages: Tensor, last: int, slot: int, window: int
) -> Tensor:
    """Return what one row attends, [num_heads * D]."""
    num_heads, size = q.shape
    low = max(0, last - window + 1) if window else 0
    first, end = low // PAGE, last // PAGE + 1
    found = pool[pages[first:end].long(), slot]
    if pool.dtype == torch.uint8:
        found = found.view(torch.float8_e4m3fn)
    found = found.float().permute(1, 2, 0, 3, 4).reshape(2, pool.shape[3], -1, size)
    found = found[:, :, low - first * PAGE : last + 1 - first * PAGE]
    group = num_heads // pool.shape[3]
    keys, values = found.repeat_interleave(group, 1)
    scores = torch.einsum('hd,hkd->hk', q.float(), keys)
    return torch.einsum('hk,hkd->hd', scores.softmax(-1), values).flatten()
