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
"""The device step: near plain PyTorch with any kernels, and a row alone as in company."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
import os
from types import ModuleType
from typing import Any
from typing import cast
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pytest
import torch

from gemma_node.backends.cuda_buffers import Buffers
from gemma_node.backends.cuda_passes import device_problem
from gemma_node.backends.cuda_step import DeviceModel
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.device_runner import DeviceRunner
from gemma_node.engine.runner import dense
from gemma_node.engine.runner import Rows
from gemma_node.engine.runner import Runner
from gemma_node.engine.torch_runner import TorchRunner
from gemma_node.kernels import plain_ops
from gemma_node.kernels import triton_ops
from gemma_node.model.config import FULL
from gemma_node.model.config import SLIDING
from gemma_node.model.gemma4 import Gemma4
from tests.fixtures.random_model import random_model
from tests.fixtures.random_model import small_config

LENGTH, CONTEXT, VOCAB = 200, 320, 200
SHAPE = {'intermediate_size': 128, 'head_dim': 32, 'global_head_dim': 64}
LEAST: dict[str, Any] = {
    **SHAPE,
    'num_hidden_layers': 3,
    'num_kv_shared_layers': 1,
    'layer_types': [SLIDING, FULL, FULL],
    'num_attention_heads': 2,
    'hidden_size_per_layer_input': 32,
}
IDS = tuple(np.random.default_rng(0).integers(0, VOCAB, LENGTH).tolist())
Floats = npt.NDArray[np.float32]


def _config(**more: Any) -> EngineConfig:
    limits = {'lanes': 3, 'context_tokens': CONTEXT, 'state_budget_bytes': 0, **more}
    return EngineConfig(num_threads=1, **limits)


def _rows(lane: int, start: int, end: int, prompt: int, outputs: Sequence[int]) -> Rows:
    return Rows(
        lane=lane,
        start=start,
        token_ids=IDS[start:end],
        num_prompt=prompt,
        outputs=tuple(outputs),
    )


def _ask(runner: Runner, *batch: Rows) -> list[Floats]:
    with torch.inference_mode():
        return [dense(each).copy() for each in runner.forward(batch)]


def _model(**shape: Any) -> Gemma4:
    return random_model(small_config(**{**SHAPE, **shape})).to(torch.bfloat16)


def _device_runner(model: Gemma4, ops: ModuleType, **more: Any) -> DeviceRunner:
    options = {name: more.pop(name) for name in ('kv_dtype', 'ple_on_host') if name in more}
    with torch.inference_mode():
        return DeviceRunner(model, _config(**more), ops, **options)


def _plain(model: Gemma4) -> TorchRunner:
    with torch.inference_mode():
        return TorchRunner(model, _config(compute_dtype='float32'))


def _furthest(found: list[Floats], wanted: list[Floats]) -> float:
    return max(
        float(np.abs(ours - theirs).max()) / float(theirs.std())
        for ours, theirs in zip(found, wanted, strict=True)
    )


@pytest.mark.parametrize(
    ('options', 'bound'),
    [({}, 0.08), ({'ple_on_host': True}, 0.08), ({'kv_dtype': 'float8'}, 0.5)],
    ids=['all on device', 'table on host', 'float8 cache'],
)
def test_prompts_and_rows_are_near_plain_pytorch(options: dict[str, Any], bound: float) -> None:
    model = _model()
    ours, theirs = _device_runner(model, plain_ops, **options), _plain(model)
    passes = (
        [_rows(1, 0, 100, 100, (99,))],
        [_rows(1, 100, 103, 100, (0, 1, 2))],
        [_rows(0, 0, 5, 5, (4,))],
        [_rows(1, 103, 104, 100, (0,)), _rows(0, 5, 7, 5, (1,))],
    )
    for batch in passes:
        wanted = _ask(theirs, *batch)
        found = _ask(ours, *batch)
        assert [each.shape for each in found] == [each.shape for each in wanted]
        assert _furthest(found, wanted) < bound


def test_several_rows_of_a_prompt_can_be_asked_for() -> None:
    model = _model()
    (found,) = _ask(_device_runner(model, plain_ops), _rows(0, 0, 75, 75, (0, 64, 74)))
    runner = _plain(model)
    for index, row in enumerate((0, 64, 74)):
        (wanted,) = _ask(runner, _rows(0, 0, row + 1, row + 1, (row,)))
        assert _furthest([found[index]], [wanted[0]]) < 0.08


@pytest.mark.skipif(os.environ.get('TRITON_INTERPRET') != '1', reason='runs interpreted')
def test_interpreted_kernels_are_near_plain_ones() -> None:
    model = random_model(small_config(**LEAST)).to(torch.bfloat16)
    runners = [_device_runner(model, ops, context_tokens=64) for ops in (triton_ops, plain_ops)]
    for batch in ([_rows(1, 0, 40, 40, (39,))], [_rows(1, 40, 42, 40, (0, 1))]):
        found, wanted = (_ask(each, *batch) for each in runners)
        # The interpreter cuts bfloat16 numbers off where a GPU rounds them.
        assert _furthest(found, wanted) < 0.15


def test_masks_and_sums_of_a_pass_are_those_of_its_logits() -> None:
    model = _model()
    step = DeviceModel(
        model, ops=plain_ops, device=torch.device('cpu'), lanes=1, context_tokens=64,
        num_pages=(2, 2),
    )  # fmt: skip
    step.set_page(0, 0, 0, 1)
    step.set_page(1, 0, 0, 1)
    masks = np.zeros((2, 7), np.int32)
    masks[:, 2] = 0b101
    rows = np.arange(2, dtype=np.int32)
    looks = step.decode(rows, rows, np.zeros(2, np.int32), masks)
    logits = step.logits(2).astype(np.float64)
    allowed = logits[:, [64, 66]]
    assert looks.best.tolist() == [(64, 66)[each.argmax()] for each in allowed]
    sums = np.stack([allowed.max(-1), *(np.log(np.exp(each).sum(-1))
                                        for each in (allowed, logits))], -1)  # fmt: skip
    assert np.allclose(looks.values, sums, atol=1e-4)
    open_again = step.decode(rows, rows, np.zeros(2, np.int32))
    assert open_again.best.tolist() == logits.argmax(-1).tolist()


def test_a_shape_that_kernels_cannot_take_is_refused_by_name() -> None:
    assert device_problem(small_config(**SHAPE)) == ''
    assert 'intermediate_size 96' in device_problem(small_config())
    assert 'head_dim 48' in device_problem(small_config(**{**SHAPE, 'head_dim': 48}))


def test_pages_that_are_all_in_use_are_said() -> None:
    runner = _device_runner(_model(), plain_ops, lanes=1, context_tokens=64)
    pool = runner._pools[0]
    with pytest.raises(MemoryError, match='cache pages on the device are in use'):
        for _ in range(100):
            pool.take()


class _Graph:
    """Runs what is launched while it is captured when it is replayed, and not before."""

    launches: ClassVar[list[Callable[[], None]] | None] = None

    def capture_begin(self) -> None:
        type(self).launches = []

    def capture_end(self) -> None:
        self.kept, type(self).launches = type(self).launches, None

    def replay(self) -> None:
        for launch in self.kept or ():
            launch()


def _captured(launch: Callable[..., None]) -> Callable[..., None]:
    """Return what runs at once, or is taken by a capture."""

    def run(*each: Any, **more: Any) -> None:
        if _Graph.launches is None:
            launch(*each, **more)
        else:
            _Graph.launches.append(partial(launch, *each, **more))

    return run


class _Recorded:
    """The twins, counted as they run, whose launches a capture takes."""

    NAME = plain_ops.NAME

    def __init__(self) -> None:
        self.num_run = 0

    def __getattr__(self, name: str) -> Callable[..., None]:
        launch = getattr(plain_ops, name)

        def run(*each: Any, **more: Any) -> None:
            self.num_run += _Graph.launches is None
            _captured(launch)(*each, **more)

        return run


def test_a_pass_is_right_when_it_is_captured_and_when_it_is_replayed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, 'CUDAGraph', _Graph)
    monkeypatch.setattr(torch.cuda, 'synchronize', lambda: None)
    monkeypatch.setattr(torch.cuda, 'stream', lambda _: nullcontext())
    monkeypatch.setattr(Buffers, 'pick', _captured(Buffers.pick))
    model, recorded = _model(), _Recorded()
    graphs = _device_runner(model, cast('ModuleType', recorded))
    plain = _device_runner(model, plain_ops)
    graphs._step._graphs, graphs._step._streams = True, [None, None]
    monkeypatch.setattr(graphs._step, '_beside', nullcontext)
    counts = []
    for number in (1, 2, 1, 2):
        for lane, end in ((0, 64), (1, 128)):
            prompt = _rows(lane, 0, end, end, (end - 1,))
            (found,), (wanted,) = _ask(graphs, prompt), _ask(plain, prompt)
            assert found.tobytes() == wanted.tobytes()
        rows = [_rows(lane, 64 * (lane + 1), 64 * (lane + 1) + 1, 64 * (lane + 1), (0,))
                for lane in range(number)]  # fmt: skip
        before = recorded.num_run
        for found, wanted in zip(_ask(graphs, *rows), _ask(plain, *rows), strict=True):
            assert found.tobytes() == wanted.tobytes()
        counts.append(recorded.num_run - before)
    # The first pass runs as a whole, one of other rows some layers of it, and then none does.
    assert counts[0] > counts[1] > 0
    assert counts[2:] == [0, 0]


@pytest.mark.gpu
@pytest.mark.parametrize('kv_dtype', ['bfloat16', 'float8'])
def test_graphs_give_equal_bits_in_any_company(kv_dtype: str) -> None:
    if not torch.cuda.is_available():
        pytest.skip('no CUDA device')
    model = _model()
    more: dict[str, Any] = {'device': 'cuda', 'kv_dtype': kv_dtype}
    prompts = [_rows(lane, 0, 100 + 9 * lane, 100 + 9 * lane, ()) for lane in range(3)]

    def one(lane: int, count: int) -> Rows:
        start = 100 + 9 * lane
        return _rows(lane, start, start + count, start, range(count))

    together = _device_runner(model, triton_ops, **more)
    for prompt in prompts:
        _ask(together, prompt)
    shared = _ask(together, *(one(lane, 4) for lane in range(3)))
    for lane in range(3):
        alone = _device_runner(model, triton_ops, **more)
        # The prompt in two passes, then row by row.
        whole = prompts[lane]
        _ask(alone, _rows(lane, 0, 64, whole.num_prompt, ()))
        _ask(alone, _rows(lane, 64, whole.num_prompt, whole.num_prompt, ()))
        for index in range(4):
            start = whole.num_prompt + index
            (found,) = _ask(alone, _rows(lane, start, start + 1, whole.num_prompt, (0,)))
            assert found[0].tobytes() == shared[lane][index].tobytes()


@pytest.mark.gpu
def test_nothing_is_compiled_once_it_is_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    if not torch.cuda.is_available():
        pytest.skip('no CUDA device')
    import triton

    made: list[str] = []
    runner = _device_runner(_model(), triton_ops, device='cuda')
    with torch.inference_mode():
        runner.warm_up()
    monkeypatch.setattr(triton.knobs.compilation, 'listener', lambda **_: made.append('one'))
    for batch in ([_rows(0, 0, 150, 150, (149,))], [_rows(0, 150, 153, 150, (0, 1, 2))]):
        _ask(runner, *batch)
    assert made == []


@pytest.mark.gpu
def test_compiled_kernels_are_near_plain_ones() -> None:
    if not torch.cuda.is_available():
        pytest.skip('no CUDA device')
    model = _model()
    runners = [_device_runner(model, ops, device='cuda') for ops in (triton_ops, plain_ops)]
    passes = (
        [_rows(1, 0, 150, 150, (0, 149))],
        [_rows(1, 150, 153, 150, (0, 1, 2))],
        [_rows(0, 0, 70, 70, (69,))],
        [_rows(1, 153, 154, 150, (0,)), _rows(0, 70, 72, 70, (1,))],
    )
    for batch in passes * 2:
        found, wanted = (_ask(each, *batch) for each in runners)
        assert _furthest(found, wanted) < 0.1
