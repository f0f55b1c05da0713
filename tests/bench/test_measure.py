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
"""The bench measures through what serves, with ceilings of the same run, and refuses in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from gemma_node.bench.measure import bytes_per_step
from gemma_node.bench.measure import measure
from gemma_node.bench.measure import Order
from gemma_node.cli import main
from gemma_node.errors import ConfigError
from gemma_node.model.linear import QuantLinear
from gemma_node.quant.affine import quantize
from tests.fixtures.random_model import random_model
from tests.fixtures.random_model import small_config

DEMO = Path(__file__).parents[2] / 'gemma_node' / 'assets' / 'demo'


def test_figures_of_a_run_fit_together(tmp_path: Path) -> None:
    file = tmp_path / 'new' / 'bench.json'
    command = ['bench', str(DEMO), '--out', str(file), '--lanes', '2', '--context-tokens', '192']
    assert main(command) == 0
    report = json.loads(file.read_text())
    assert [each['tokens'] for each in report['prefill']] == [128]
    assert [(each['context'], each['lanes']) for each in report['decode']] == [(128, 1), (128, 2)]
    for each in report['decode']:
        per_s = 1e3 * each['lanes'] / each['step_ms']
        assert each['tokens_per_s'] == pytest.approx(per_s, rel=1e-3)
        share = report['bytes_per_step'] / (each['step_ms'] * 1e-3)
        share /= report['ceilings']['copy_bytes_per_s']
        assert each['share_of_copy'] == pytest.approx(share, abs=1e-3)
    assert report['memory']['host_peak_bytes'] > 0
    assert not list(file.parent.glob('*.part'))


def test_what_time_did_not_allow_is_said() -> None:
    report = measure(Order(checkpoint=DEMO, context_tokens=192, lanes=1, seconds=1e-6))
    assert report['prefill'] == report['decode'] == []
    assert report['not_measured'] == ['prefill of 128', 'decode of 1 lanes at 128']


def test_a_step_reads_every_matrix_but_the_gathered_table_once() -> None:
    plain = random_model(small_config())
    table = plain.embed_tokens_per_layer.weight
    whole = sum(each.nbytes for each in plain.parameters())
    assert bytes_per_step(plain) == whole - table.nbytes
    packed = random_model(small_config())
    old = packed.layers[0].mlp.down_proj
    codes = quantize(old.weight, bits=4, group_size=32)
    packed.layers[0].mlp.down_proj = QuantLinear(codes, 'mlx-4bit/32')
    saved = old.weight.nbytes - codes.nbytes
    assert bytes_per_step(packed) == bytes_per_step(plain) - saved


@pytest.mark.parametrize(
    ('wrong', 'said'),
    [
        ({'device': 'tpu'}, 'device must be one of'),
        ({'step': 'fast'}, 'step must be one of'),
        ({'lanes': 0}, 'lanes must be >= 1'),
        ({'seconds': 0.0}, 'seconds > 0'),
    ],
)
def test_mistakes_are_refused_before_anything_is_read(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Order(checkpoint=Path('nowhere'), **wrong)


@pytest.mark.skipif(torch.cuda.is_available(), reason='there is a CUDA device')
def test_a_device_that_is_not_there_is_said() -> None:
    with pytest.raises(ConfigError, match='finds no cuda device here; use device cpu'):
        Order(checkpoint=DEMO, device='cuda')
