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
"""The device step under the engine: states by pages, and replies as with plain PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from gemma_node.core import Finish
from gemma_node.core import Generation
from gemma_node.engine import engine as engine_module
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.device_runner import DeviceRunner
from gemma_node.engine.engine import Engine
from gemma_node.engine.runner import begin
from gemma_node.engine.runner import dense
from gemma_node.engine.runner import Rows
from gemma_node.engine.sampler import Look
from gemma_node.engine.sampler import look
from gemma_node.engine.sampler import numbers
from gemma_node.kernels import plain_ops
from gemma_node.model.gemma4 import Gemma4
from tests.fixtures.random_model import random_model
from tests.fixtures.random_model import small_config

IDS = tuple(np.random.default_rng(0).integers(0, 200, 200).tolist())


def _make(model: Gemma4, config: EngineConfig) -> DeviceRunner:
    return DeviceRunner(model, config, plain_ops)


@pytest.fixture(scope='module')
def model() -> Gemma4:
    shape = {'intermediate_size': 128, 'head_dim': 32, 'global_head_dim': 64}
    return random_model(small_config(**shape)).to(torch.bfloat16)


def _rows(lane: int, start: int, end: int, prompt: int) -> Rows:
    return Rows(
        lane=lane,
        start=start,
        token_ids=IDS[start:end],
        num_prompt=prompt,
        outputs=(end - start - 1,),
    )


@torch.inference_mode()
def test_a_state_goes_on_in_another_lane_with_equal_bits(model: Gemma4) -> None:
    limits = {'lanes': 3, 'context_tokens': 256, 'state_budget_bytes': 0, 'num_threads': 1}
    runner = _make(model, EngineConfig(**limits))
    runner.forward([_rows(0, 0, 64, 130)])
    runner.forward([_rows(0, 64, 128, 130)])
    kept = runner.snapshot(0, 128, runner.parts(0, 128))
    wanted = [dense(runner.forward([_rows(0, 128, 130, 130)])[0]).copy()]
    wanted.append(dense(runner.forward([_rows(0, 130, 131, 130)])[0]).copy())
    runner.leave(0)
    saved = runner.export(kept)
    for lane, state in ((2, kept), (1, runner.load(128, saved))):
        runner.restore(lane, state)
        found = [dense(runner.forward([_rows(lane, 128, 130, 130)])[0]).copy()]
        found.append(dense(runner.forward([_rows(lane, 130, 131, 130)])[0]).copy())
        assert [each.tobytes() for each in found] == [each.tobytes() for each in wanted]


@torch.inference_mode()
def test_pages_that_nobody_holds_do_not_matter(model: Gemma4) -> None:
    limits = {'lanes': 2, 'context_tokens': 256, 'state_budget_bytes': 0, 'num_threads': 1}
    runner = _make(model, EngineConfig(**limits))
    (clean,) = (dense(each).copy() for each in runner.forward([_rows(0, 0, 70, 70)]))
    runner.leave(0)
    for pool in runner._pools:
        for page in pool._free:
            pool.view(page).fill_(torch.nan)
    (found,) = runner.forward([_rows(1, 0, 70, 70)])
    assert dense(found).tobytes() == clean.tobytes()


@torch.inference_mode()
def test_free_pages_are_filled_with_a_number_as_they_store_it(model: Gemma4) -> None:
    limits = {'lanes': 1, 'context_tokens': 128, 'state_budget_bytes': 0, 'num_threads': 1}
    for kv_dtype, stored in (('bfloat16', torch.bfloat16), ('float8', torch.float8_e4m3fn)):
        runner = DeviceRunner(model, EngineConfig(**limits), plain_ops, kv_dtype=kv_dtype)
        runner.forward([_rows(0, 0, 70, 70)])
        runner.fill_free(float('nan'))
        for pool, pages in zip(runner._pools, runner._pages, strict=True):
            held = pages[pages >= 0].tolist()
            for page in range(len(pool._holders)):
                poisoned = bool(pool.view(page).view(stored).float().isnan().any())
                assert poisoned is (page not in held)


def test_the_compiler_is_digested_beside_what_comes_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip('triton')
    from gemma_node.kernels import triton_warm

    called: list[str] = []
    module = SimpleNamespace(triton_key=lambda: called.append('key'))
    empty = SimpleNamespace()
    for compiler, cache in ((empty, module), (module, empty), (empty, empty)):
        known = SimpleNamespace(
            compiler=SimpleNamespace(compiler=compiler), runtime=SimpleNamespace(cache=cache)
        )
        monkeypatch.setattr(triton_warm, 'triton', known)
        thread = begin('cuda')
        assert thread is not None
        thread.join(10)
    assert called == ['key', 'key']
    for device in ('auto', 'cpu', 'xpu'):
        assert begin(device) is None
    monkeypatch.setattr('gemma_node.engine.runner.find_spec', lambda _: None)
    assert begin('cuda') is None


def _near(found: Look, wanted: Look) -> bool:
    ours, theirs = ((each.total, each.kept, each.best_value) for each in (found, wanted))
    return found.best == wanted.best and bool(np.allclose(ours, theirs, atol=1e-4))


@torch.inference_mode()
def test_rows_are_looked_at_where_they_are_as_they_are_here(model: Gemma4) -> None:
    runner = _make(model, EngineConfig(lanes=2, context_tokens=256, state_budget_bytes=0))
    mask = np.full(7, -1, np.int32)
    runner.forward([_rows(0, 0, 70, 70)])
    passes = ([_rows(1, 0, 70, 70)], [_rows(0, 70, 71, 70), _rows(1, 70, 72, 70)])
    for batch in passes:
        for (row,) in runner.forward(batch):
            values = numbers(row)
            mask[:] = -1
            best = look(values, None).best
            mask[best // 32] &= ~np.int32(1 << (best % 32)) if best % 32 < 31 else 0x7FFFFFFF
            assert _near(look(row, None), look(values, None))
            assert _near(look(row, mask), look(values, mask))
            assert look(row, mask).best != best


def test_the_engine_replies_as_with_plain_pytorch(
    model: Gemma4, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [
        Generation(id=f'g{n}', state_key='robot', prompt_ids=IDS[: 70 + 9 * n], cuts=(64,),
                   max_tokens=6)
        for n in range(2)
    ]  # fmt: skip

    def replies(make: Callable[..., Any] | None) -> list[Any]:
        with monkeypatch.context() as patch:
            if make is not None:
                patch.setattr(engine_module, 'make_runner', make)
            limits = {'lanes': 2, 'context_tokens': 256, 'num_threads': 1, 'native': False}
            engine = Engine(model, EngineConfig(compute_dtype='float32', **limits))
        found = []
        for generation in asked:
            engine.submit(generation)
            while not any(getattr(each, 'id', '') == generation.id for each in found):
                found += [each for each in engine.step() if hasattr(each, 'finish')]
        return found

    wanted, found = replies(None), replies(_make)
    assert [each.finish for each in found] == [Finish.LENGTH] * 2
    assert [each.token_ids for each in found] == [each.token_ids for each in wanted]
    assert [each.cached_tokens for each in found] == [0, 64]
