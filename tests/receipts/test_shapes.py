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

"""Checks by bits on shapes of one to three global layers, with and without shared layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gemma_node.backends.base import Envelope
from gemma_node.model.weights import load_model
from gemma_node.receipts.bench import Bench
from gemma_node.receipts.bench import num_forced_tokens
from gemma_node.receipts.checks import Mutation
from gemma_node.receipts.reach import Reach
from gemma_node.receipts.scalars import Scalars
from tests.model.conftest import SHAPES

pytestmark = pytest.mark.timeout(600)


@pytest.mark.parametrize('dtype', ['float32', 'bfloat16'])
@pytest.mark.parametrize('shape', [*SHAPES, 3, 4])
def test_what_is_right_is_green_and_what_is_planted_is_red(
    make_checkpoint: Callable[..., Any], shape: int, dtype: str
) -> None:
    model = load_model(make_checkpoint(shape).path)
    generator = torch.Generator().manual_seed(shape)
    count = num_forced_tokens(model.config)
    ids = torch.randint(0, model.config.vocab_size, (count,), generator=generator).tolist()
    with torch.inference_mode():
        envelope = Envelope(lanes=1, context_tokens=256, state_budget_bytes=0)
        bench = Bench(model, ids, backend='cpu', dtype=dtype, envelope=envelope, quick=True)
        for check in (Scalars(), Reach()):
            assert check.lacks(bench) == ''
            assert check.run(bench).passed, check.run(bench).measured
            for each in check.mutations(bench):
                assert not isinstance(each, Mutation) or not each.run().passed, each.fault
