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


"""Plain PyTorch on a CUDA device keeps the engine's promises; only where one is present."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gemma_node.core import Finish
from gemma_node.core import Generation
from gemma_node.model.gemma4 import Gemma4

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason='no CUDA device'),
]


def _ask(name: str, prompt: tuple[int, ...], **more: Any) -> Generation:
    more = {'cuts': (64, 250), 'max_tokens': 40, 'temperature': 1.0, **more}
    return Generation(id=name, state_key='robot', prompt_ids=prompt, **more)


@pytest.mark.parametrize('dtype', ['bfloat16', 'float32'])
def test_resumed_and_concurrent_equal_fresh_and_alone(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], dtype: str
) -> None:
    limits = {'device': 'cuda', 'compute_dtype': dtype}
    prompts = [tokens[:250] + tokens[300 + 9 * n : 330 + 20 * n] for n in range(3)]
    asked = [_ask(f'g{n}', prompt, seed=n) for n, prompt in enumerate(prompts)]
    shared = make_driver(**limits)
    shared.run(_ask('warm', tokens[:290]))
    together = shared.run(*asked)
    assert all(each.cached_tokens == 192 for each in together)
    for generation, result in zip(asked, together, strict=True):
        (alone,) = make_driver(state_budget_bytes=0, **limits).run(generation)
        assert alone.finish == Finish.LENGTH
        assert alone.token_ids == result.token_ids
        assert alone.probabilities == result.probabilities


def test_cuda_agrees_with_the_cpu(
    make_driver: Callable[..., Any], model: Gemma4, tokens: tuple[int, ...]
) -> None:
    asked = _ask('g', tokens[:300], temperature=0.0)
    (ours,) = make_driver(device='cuda', compute_dtype='float32').run(asked)
    (cpu,) = make_driver().run(asked)
    assert ours.token_ids == cpu.token_ids
    assert ours.probabilities == pytest.approx(cpu.probabilities, abs=1e-4)
