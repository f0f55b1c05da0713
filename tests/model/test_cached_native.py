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

"""The native pass: near transformers, and one result for a row however it is run."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from gemma_node.engine.config import EngineConfig
from gemma_node.engine.config import KV_DTYPES
from gemma_node.engine.native_runner import NativeRunner
from gemma_node.engine.runner import Rows
from gemma_node.engine.torch_runner import TorchRunner
from gemma_node.kernels import native
from gemma_node.model.cache_shape import page_bytes
from gemma_node.model.cached_native import native_problem
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.linear import Linear
from gemma_node.model.linear import QuantEmbedding
from gemma_node.model.linear import QuantLinear
from gemma_node.model.linear import ScaledEmbedding
from gemma_node.model.weights import load_model
from gemma_node.quant.affine import quantize
from tests.fixtures.random_model import random_model
from tests.fixtures.random_model import small_config

LENGTH = 260
CONTEXT = 320
Floats = npt.NDArray[np.float32]


def _ids(vocab_size: int, seed: int = 0) -> tuple[int, ...]:
    return tuple(np.random.default_rng(seed).integers(0, vocab_size, LENGTH).tolist())


def _runner(model: Gemma4, **more: Any) -> NativeRunner:
    limits = {'lanes': 4, 'context_tokens': CONTEXT, 'num_threads': 1, **more}
    return NativeRunner(model, EngineConfig(**limits))


def _rows(ids: Sequence[int], start: int, end: int, lane: int = 0) -> Rows:
    return Rows(
        lane=lane,
        start=start,
        token_ids=tuple(ids[start:end]),
        num_prompt=LENGTH,
        outputs=tuple(range(end - start)),
    )


def _run(runner: NativeRunner, ids: Sequence[int], ends: Sequence[int], lane: int = 0) -> Floats:
    """Return the logits of all rows, run in parts that end at `ends`."""
    starts = [0, *ends[:-1]]
    with torch.inference_mode():
        parts = [
            runner.forward([_rows(ids, start, end, lane)])[0].copy()
            for start, end in zip(starts, ends, strict=True)
        ]
    return np.concatenate(parts)


@pytest.fixture(scope='module')
def model() -> Gemma4:
    return random_model(small_config())


@pytest.mark.parametrize('seed', range(22))
def test_logits_equal_those_of_transformers(
    make_checkpoint: Callable[..., Any], seed: int
) -> None:
    checkpoint = make_checkpoint(seed)
    model = load_model(checkpoint.path)
    assert native_problem(model.config) == ''
    ids = _ids(model.config.vocab_size, seed)
    ours = _run(_runner(model), ids, [100, 101, 102, 230, LENGTH])
    with torch.inference_mode():
        oracle = checkpoint.oracle(torch.float32)(torch.tensor([ids])).logits[0].numpy()
    assert np.abs(ours - oracle).max() <= 1e-4


@pytest.mark.parametrize('kv_dtype', KV_DTYPES)
def test_a_row_has_the_same_bits_however_the_prompt_is_cut(model: Gemma4, kv_dtype: str) -> None:
    ids = _ids(200)
    whole = _run(_runner(model, kv_dtype=kv_dtype), ids, [LENGTH])
    rng = np.random.default_rng(4)
    cuts = [list(range(1, LENGTH + 1)), list(range(5, LENGTH + 1, 5))]
    cuts += [sorted({*rng.integers(1, LENGTH, 30).tolist(), LENGTH}) for _ in range(6)]
    for ends in cuts:
        assert _run(_runner(model, kv_dtype=kv_dtype), ids, ends).tobytes() == whole.tobytes()


def test_lanes_and_threads_change_no_bit(model: Gemma4) -> None:
    texts = [_ids(200, seed) for seed in range(4)]
    alone = [_run(_runner(model), ids, [LENGTH]) for ids in texts]
    runner = _runner(model, num_threads=3)
    rng = np.random.default_rng(5)
    done = [0, 0, 0, 0]
    found: list[list[Floats]] = [[], [], [], []]
    with torch.inference_mode():
        while min(done) < LENGTH:
            lanes = [lane for lane in rng.permutation(4).tolist() if done[lane] < LENGTH]
            lanes = lanes[: rng.integers(1, 5)]
            batch = []
            for lane in lanes:
                end = min(done[lane] + int(rng.choice([1, 1, 2, 5, 33])), LENGTH)
                batch.append(_rows(texts[lane], done[lane], end, lane))
                done[lane] = end
            for lane, logits in zip(lanes, runner.forward(batch), strict=True):
                found[lane].append(logits.copy())
    for parts, expected in zip(found, alone, strict=True):
        assert np.concatenate(parts).tobytes() == expected.tobytes()


def test_a_row_past_the_end_is_written_anew_when_a_draft_was_wrong(model: Gemma4) -> None:
    ids = _ids(200)
    whole = _run(_runner(model), ids, [LENGTH])
    runner = _runner(model)
    _run(runner, ids, [100])
    wrong = (*ids[:101], *([7] * 40))
    with torch.inference_mode():
        runner.forward([_rows(wrong, 100, 141)])
        again = runner.forward([_rows(ids, 101, LENGTH)])[0]
    assert again.tobytes() == whole[101:].tobytes()


def test_a_fork_shares_pages_until_it_writes(model: Gemma4) -> None:
    ids = _ids(200)
    other = (*ids[:100], *_ids(200, 9)[100:])
    whole, theirs = _run(_runner(model), ids, [LENGTH]), _run(_runner(model), other, [LENGTH])
    runner = _runner(model)
    _run(runner, ids, [100])
    snapshot = runner.snapshot(0, 100, runner.parts(0, 100))
    before = [pool.num_used for pool in runner._pools]
    with torch.inference_mode():
        runner.restore(1, snapshot)
        assert [pool.num_used for pool in runner._pools] == before
        mine = runner.forward([_rows(ids, 100, LENGTH)])[0].copy()
        forked = runner.forward([_rows(other, 100, LENGTH, 1)])[0].copy()
    assert mine.tobytes() == whole[100:].tobytes()
    assert forked.tobytes() == theirs[100:].tobytes()
    runner.discard(snapshot)
    runner.leave(0)
    runner.leave(1)
    assert [pool.num_used for pool in runner._pools] == [0, 0]


@pytest.mark.parametrize('threads', [1, 2])
def test_rows_that_may_not_be_seen_may_be_nan(model: Gemma4, threads: int) -> None:
    ids = _ids(200)
    whole = _run(_runner(model), ids, [LENGTH])
    runner = _runner(model, num_threads=threads)
    with torch.inference_mode():
        for pool in runner._pools:
            pages = [pool.take() for _ in range(60)]
            for page in pages:
                pool.view(page).fill_(float('nan'))
                pool.drop(page)
    assert _run(runner, ids, [90, 91, LENGTH]).tobytes() == whole.tobytes()


def _quantised(bits: int, table_bits: int) -> Gemma4:
    """Return a random model with matrices of 4-bit codes, and some left plain."""
    config = small_config(intermediate_size=128, hidden_size_per_layer_input=32)
    model = random_model(config)
    for name, module in list(model.named_modules()):
        parent = model.get_submodule(name.rpartition('.')[0])
        leaf = name.rpartition('.')[2]
        if isinstance(module, Linear) and leaf not in ('per_layer_input_gate', 'k_proj'):
            codes = quantize(module.weight.bfloat16(), bits=bits, group_size=32)
            setattr(parent, leaf, QuantLinear(codes, 'codes'))
        elif isinstance(module, ScaledEmbedding):
            codes = quantize(module.weight.bfloat16(), bits=table_bits, group_size=32)
            setattr(parent, leaf, QuantEmbedding(
                codes, 'codes', scale=module.scale, dtype=torch.float32))
    return model


@pytest.mark.parametrize(
    ('bits', 'table_bits', 'kind'),
    [(4, 4, native.KIND_Q4), (4, 8, native.KIND_Q4), (8, 8, native.KIND_F32), (6, 6, 0)],
)
def test_codes_are_computed_as_their_numbers(bits: int, table_bits: int, kind: int) -> None:
    model = _quantised(bits, table_bits)
    ids = _ids(model.config.vocab_size)
    runner = _runner(model)
    assert runner._model._matrix(model.layers[0].mlp.down_proj.packed).kind == kind
    ours = _run(runner, ids, [64, 128, 192, 256, LENGTH])
    plain = TorchRunner(model, EngineConfig(lanes=1, context_tokens=CONTEXT))
    with torch.inference_mode():
        for start in range(0, 256, 64):
            rows = Rows(
                lane=0,
                start=start,
                token_ids=ids[start : start + 64],
                num_prompt=LENGTH,
                outputs=(63,),
            )
            theirs = plain.forward([rows])[0]
            assert np.abs(theirs[0] - ours[start + 63]).max() <= 1e-4


@pytest.mark.parametrize(('kv_dtype', 'item_bytes'), [
    ('float32', 4), ('bfloat16', 2), ('float8', 1),
])
def test_lanes_hold_the_pages_that_the_formula_says(
    model: Gemma4, kv_dtype: str, item_bytes: int
) -> None:
    runner = _runner(model, kv_dtype=kv_dtype)
    full, sliding = page_bytes(model.config, item_bytes)
    assert [pool.page_bytes for pool in runner._pools] == [full, sliding]
    ids = _ids(200)
    with torch.inference_mode():
        for start in range(0, 256, 64):
            runner.forward([_rows(ids, start, start + 64)])
            end = start + 64
            oldest = max(0, start - model.config.sliding_window) // 64
            assert runner.nbytes == end // 64 * full + (end // 64 - oldest) * sliding


def test_a_shape_that_the_step_cannot_run_is_named() -> None:
    assert 'head_dim 24' in native_problem(small_config(head_dim=24))
    assert native_problem(small_config()) == ''
