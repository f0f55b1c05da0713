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


"""The rehearsal of the converter, on a tiny checkpoint; the full size is run by hand."""

from __future__ import annotations

import json
from pathlib import Path
import shutil
import subprocess
import sys

import pytest
from safetensors.torch import load_file
from safetensors.torch import save_file
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'scripts'))
sys.path.insert(0, str(ROOT / 'benchmarks'))

import make_random_e4b as maker  # noqa: E402
import rehearsal  # noqa: E402

from gemma_node.quant.convert import convert  # noqa: E402
from tests.fixtures.live import run_oracle  # noqa: E402, F401

RECIPES = rehearsal.RECIPES
RESULTS = ROOT / 'benchmarks' / 'results'


@pytest.fixture(scope='module')
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp('random') / 'tiny'
    maker.write_folder(out, 'tiny', 1, 'cpu')
    return out


def test_every_tensor_equals_what_mx_quantize_gives_and_a_changed_bit_is_found(
    source: Path, tmp_path: Path, run_oracle  # noqa: F811
) -> None:
    for recipe in RECIPES:
        convert(source, tmp_path / recipe, recipe)
    changed = shutil.copytree(tmp_path / RECIPES[0], tmp_path / 'changed')
    tensors = load_file(changed / 'model.safetensors')
    name = 'language_model.model.layers.1.mlp.down_proj.weight'
    tensors[name].view(torch.int32)[3, 2] ^= 1
    tensors['language_model.model.layers.9.extra'] = torch.zeros(1, dtype=torch.bfloat16)
    save_file(tensors, changed / 'model.safetensors', {'format': 'mlx'})
    folders = [*(tmp_path / recipe for recipe in RECIPES), changed]
    found = json.loads(run_oracle('mlx_full.py', 'mlx.core', source, *folders))['folders']
    for recipe, quantised in zip(RECIPES, (53, 41, 41), strict=True):
        report = found[recipe]
        assert report['quantised'] == report['equal'] == quantised
        assert report['plain'] == report['plain_equal'] == 101 - quantised
        assert report['differ'] == report['not_of_the_source'] == []
    assert found['changed']['differ'] == ['layers.1.mlp.down_proj.weight']
    assert found['changed']['equal'] == 52
    assert found['changed']['not_of_the_source'] == ['language_model.model.layers.9.extra']


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_all_steps_run_and_leave_only_the_report(source: Path, tmp_path: Path) -> None:
    command = [sys.executable, ROOT / 'benchmarks' / 'rehearsal.py', source, tmp_path / 'work',
               '--recipes', 'mlx-4bit', '--out', tmp_path / 'out.json']
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert list((tmp_path / 'work').iterdir()) == []
    report = json.loads((tmp_path / 'out.json').read_text())
    assert str(source) not in json.dumps(report)
    steps = report['steps']
    assert steps['convert mlx-4bit']['quantised'] == 53
    assert steps['convert mlx-4bit']['peak_rss_anon_bytes'] > 10 << 20
    assert len(steps['decode mlx-4bit']['printed']['token_ids']) == 16
    again = steps['killed and resumed mlx-4bit']
    assert again['same_bytes_as_first'] and again['left_behind'] == []
    assert not again['destination_exists']


def test_the_recorded_rehearsal_has_the_bytes_and_equalities_of_e4b() -> None:
    steps = json.loads((RESULTS / 'rehearsal_e4b.json').read_text())['steps']
    for recipe, quantised in zip(RECIPES, (345, 261, 261), strict=True):
        step = steps[f'convert {recipe}']
        assert step['tensor_bytes'] == rehearsal.E4B_BYTES[recipe]
        assert step['peak_rss_anon_bytes'] < 24 << 30
        report = steps['against mx.quantize']['folders'][recipe]
        assert report['quantised'] == report['equal'] == quantised
        assert report['plain'] == report['plain_equal'] == 665 - quantised
    assert len(steps['decode mlx-4bit']['printed']['token_ids']) == 16
    steps = json.loads((RESULTS / 'rehearsal_e4b_again.json').read_text())['steps']
    again = steps['killed and resumed mlx-4bit']
    assert 0 < again['resumed_units'] < again['of_units'] == 665
    assert again['same_bytes_as_first'] and again['partial_folder_is_refused']
