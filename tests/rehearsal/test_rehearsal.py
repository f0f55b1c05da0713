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
from typing import Any

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

MLX_RECIPES = [name for name in rehearsal.RECIPES if name.startswith('mlx')]
RESULTS = ROOT / 'benchmarks' / 'results'


@pytest.fixture(scope='module')
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp('random') / 'tiny'
    maker.write_folder(out, 'tiny', 1, 'cpu')
    return out


def test_every_tensor_equals_what_mx_quantize_gives_and_a_changed_bit_is_found(
    source: Path, tmp_path: Path, run_oracle  # noqa: F811
) -> None:
    for recipe in MLX_RECIPES:
        convert(source, tmp_path / recipe, recipe)
    changed = shutil.copytree(tmp_path / MLX_RECIPES[0], tmp_path / 'changed')
    tensors = load_file(changed / 'model.safetensors')
    name = 'language_model.model.layers.1.mlp.down_proj.weight'
    tensors[name].view(torch.int32)[3, 2] ^= 1
    save_file(tensors, changed / 'model.safetensors', {'format': 'mlx'})
    folders = [*(tmp_path / recipe for recipe in MLX_RECIPES), changed]
    found = json.loads(run_oracle('mlx_full.py', 'mlx_lm', source, *folders))['folders']
    for recipe, quantised in zip(MLX_RECIPES, (53, 41, 41, 53), strict=True):
        report = found[recipe]
        assert report['quantised'] == report['equal'] == quantised
        assert report['plain'] == report['plain_equal'] == 101 - quantised
        assert report['differ'] == report['not_of_the_source'] == []
        assert len(report['dropped']) == 2 * 3
        assert report['loads'] == {
            'tensors': 101 + 2 * quantised, 'quantised': quantised, 'differ': []
        }
    assert found['changed']['differ'] == ['layers.1.mlp.down_proj.weight']
    assert found['changed']['equal'] == 52


@pytest.mark.timeout(600)
def test_nvfp4_equals_what_compressed_tensors_gives_and_bf16_the_source(
    source: Path, tmp_path: Path, run_oracle  # noqa: F811
) -> None:
    def compared(folder: Path) -> dict[str, Any]:
        text = run_oracle('compressed_full.py', 'compressed_tensors', source, folder)
        found: dict[str, Any] = json.loads(text)
        return found

    for recipe, quantised in (('nvfp4a16', 51), ('bf16', 0)):
        convert(source, tmp_path / recipe, recipe)
        report = compared(tmp_path / recipe)
        assert report['quantised'] == report['equal'] == quantised
        assert report['plain'] == report['plain_equal'] == 101 - quantised
        assert report['differ'] == report['not_of_the_source'] == []
        assert len(report['dropped']) == 2 * 3
        assert report['loads'] == {'tensors': 101 + 2 * quantised, 'differ': []}
    changed = tmp_path / 'nvfp4a16' / 'model.safetensors'
    tensors = load_file(changed)
    tensors['model.layers.1.mlp.down_proj.weight_packed'][3, 2] ^= 1
    tensors['model.norm.weight'].view(torch.int16)[5] ^= 1
    del tensors['model.layers.0.layer_scalar']
    tensors['model.extra'] = torch.zeros(1)
    save_file(tensors, changed, {'format': 'pt'})
    report = compared(tmp_path / 'nvfp4a16')
    assert sorted(report['differ']) == ['layers.1.mlp.down_proj.weight', 'norm.weight']
    assert report['not_of_the_source'] == ['model.extra']
    assert report['loads']['differ'] == ['model.extra', 'model.layers.0.layer_scalar']


def test_what_changed_between_two_conversions_ends_without_an_answer(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copytree(source, tmp_path / 'copy')
    unchanged = rehearsal.Unchanged(copy)
    unchanged.check()
    (copy / 'random_e4b.json').write_text('{}')
    with pytest.raises(SystemExit, match='source or package changed'):
        unchanged.check()
    unchanged = rehearsal.Unchanged(copy)
    monkeypatch.setattr(rehearsal, 'package_digest', lambda: 'another')
    with pytest.raises(SystemExit, match='source or package changed'):
        unchanged.check()


def test_a_changed_a_lost_and_a_new_file_are_named(tmp_path: Path) -> None:
    for name in ('a', 'b', 'c'):
        (tmp_path / name).write_text(name)
    first = rehearsal.digests(tmp_path)
    assert rehearsal.compared(first, tmp_path) == {
        'files': 3, 'same_bytes_as_first': True, 'files_that_differ': []
    }
    (tmp_path / 'a').write_text('x')
    (tmp_path / 'b').unlink()
    (tmp_path / 'd').touch()
    assert rehearsal.compared(first, tmp_path) == {
        'files': 3, 'same_bytes_as_first': False, 'files_that_differ': ['a', 'b', 'd']
    }


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_all_steps_run_and_leave_only_the_report(source: Path, tmp_path: Path) -> None:
    command = [sys.executable, ROOT / 'benchmarks' / 'rehearsal.py', source, tmp_path / 'work',
               '--recipes', 'mlx-4bit', 'bf16', '--out', tmp_path / 'out.json']
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert list((tmp_path / 'work').iterdir()) == []
    report = json.loads((tmp_path / 'out.json').read_text())
    assert str(source) not in json.dumps(report)
    steps = report['steps']
    assert steps['convert mlx-4bit']['quantised'] == 53
    assert steps['convert mlx-4bit']['peak_rss_anon_bytes'] > 10 << 20
    assert len(steps['decode mlx-4bit']['printed']['token_ids']) == 16
    assert steps['convert bf16 again']['same_bytes_as_first']
    again = steps['killed and resumed mlx-4bit']
    assert again['same_bytes_as_first'] and again['left_behind'] == []
    assert not again['destination_exists']


# Quantised matrices of E4B.
QUANTISED = {
    'mlx-4bit': 345, 'mlx-4bit-ple-bf16': 261, 'mlx-4bit-ple-bf16-attn8': 261, 'mlx-8bit': 345,
    'nvfp4a16': 343, 'bf16': 0,
}  # fmt: skip


@pytest.mark.parametrize('recipe', rehearsal.RECIPES)
def test_the_recorded_rehearsal_has_the_bytes_and_equalities_of_e4b(recipe: str) -> None:
    steps = json.loads((RESULTS / 'rehearsal_e4b.json').read_text())['steps']
    quantised = QUANTISED[recipe]
    for name in (f'convert {recipe}', f'convert {recipe} again'):
        assert steps[name]['tensor_bytes'] == rehearsal.E4B_BYTES[recipe]
        assert steps[name]['quantised'] == quantised
        assert steps[name]['peak_rss_anon_bytes'] < 24 << 30
    assert steps[f'convert {recipe} again']['same_bytes_as_first']
    report = steps[f'compare {recipe}']
    assert report['quantised'] == report['equal'] == quantised
    assert report['plain'] == report['plain_equal'] == 665 - quantised
    assert report['not_of_the_source'] == report['loads']['differ'] == []
    assert report['dropped'] == {f'self_attn.{name}.weight': 18
                                 for name in ('k_proj', 'v_proj', 'k_norm')}
    assert report['loads']['tensors'] == 665 + 2 * quantised


def test_the_recorded_rehearsal_decoded_and_went_on_after_a_kill() -> None:
    steps = json.loads((RESULTS / 'rehearsal_e4b.json').read_text())['steps']
    assert len(steps['decode mlx-4bit']['printed']['token_ids']) == 16
    again = steps['killed and resumed mlx-4bit']
    assert 0 < again['resumed_units'] < again['of_units'] == 665
    assert again['same_bytes_as_first'] and again['partial_folder_is_refused']
