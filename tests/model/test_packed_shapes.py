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

"""What `inspect` says of packed matrices from headers is what the loader says of them."""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path
import shutil
from typing import Any

import pytest
from safetensors.torch import load_file
from safetensors.torch import save_file
import torch

from gemma_node.cli_inspect import inspect_checkpoint
from gemma_node.errors import CheckpointError
from gemma_node.model.config import ModelConfig
from gemma_node.model.header import Entry
from gemma_node.model.packed_shapes import packed_shapes
from gemma_node.model.weights import load_weights
from gemma_node.quant.detect import detect
from tests.fixtures import quantised
from tests.fixtures import sources

FORMS: dict[str, tuple[quantised.Quantiser, dict[str, Any]]] = {
    'mlx': (quantised.mlx(4, 32), {'quantization': {'group_size': 32, 'bits': 4}}),
    'nvfp4': (quantised.modelopt, {'quantization_config': {'quant_algo': 'NVFP4'}}),
    'fp8': (
        quantised.eight_bit_floats(by_row=True), {'quantization_config': {'quant_algo': 'FP8'}}
    ),
}  # fmt: skip
UP = 'model.layers.0.mlp.up_proj'
Spoil = Callable[[dict[str, torch.Tensor], dict[str, Any]], object]
# The form, what is done to tensors and config, what both say.
CASES: dict[str, tuple[str, Spoil, str]] = {
    'biases missing': ('mlx', lambda t, c: t.pop(f'{UP}.biases'), 'missing: layers.0.mlp.up_proj'),
    'empty scales': (
        'mlx', lambda t, c: t.update({f'{UP}.scales': torch.zeros(0, 0).bfloat16()}),
        'up_proj.scales is [0, 0]',
    ),
    'scalar words': (
        'mlx', lambda t, c: t.update({f'{UP}.weight': torch.zeros((), dtype=torch.uint32)}),
        'up_proj.weight is [], expected [192, 16]',
    ),
    'declared plain': (
        'mlx', lambda t, c: c['quantization'].update({UP: False}),
        'up_proj is stored as mlx-4bit/32, declared as plain',
    ),
    'other bits declared': (
        'mlx', lambda t, c: c['quantization'].update({UP: {'bits': 8, 'group_size': 32}}),
        'up_proj is stored as mlx-4bit/32, declared as mlx-8bit/32',
    ),
    'tensor scale missing': (
        'nvfp4', lambda t, c: t.pop(f'{UP}.weight_scale_2'), 'up_proj.weight_scale_2',
    ),
    'three tensor scales': (
        'nvfp4', lambda t, c: t.update({f'{UP}.weight_scale_2': torch.ones(3)}),
        'up_proj.weight_scale_2 is [3], expected []',
    ),
    'declared another family': (
        'nvfp4', lambda t, c: c['quantization_config'].update(quant_algo='FP8'),
        'is stored as nvfp4, declared as fp8',
    ),
    'excluded': (
        'nvfp4', lambda t, c: c['quantization_config'].update(exclude_modules=['*up_proj']),
        'up_proj is stored as nvfp4, declared as plain',
    ),
    'scales of another shape': (
        'fp8', lambda t, c: t.update({f'{UP}.weight_scale': torch.ones(1, 1)}),
        'up_proj.weight_scale is [1, 1], expected [192, 1]',
    ),
    'scales of plain weights': (
        'fp8', lambda t, c: t.update({f'{UP}.weight': t[f'{UP}.weight'].bfloat16()}),
        'unexpected: layers.0.mlp.up_proj.weight_scale',
    ),
}  # fmt: skip


@pytest.fixture(scope='module')
def twins(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp('packed')
    good = sources.write_standalone(root / 'good', vocab_size=768)
    return {
        name: quantised.write_twin(good, root / name, quantise, declare=declare)
        for name, (quantise, declare) in FORMS.items()
    }


@pytest.mark.parametrize('case', CASES)
def test_inspect_and_loader_refuse_the_same(
    twins: dict[str, Path], tmp_path: Path, case: str
) -> None:
    form, spoil, said = CASES[case]
    folder = shutil.copytree(twins[form], tmp_path / 'bad')
    inspect_checkpoint(folder)
    tensors = load_file(folder / 'model.safetensors')
    raw = json.loads((folder / 'config.json').read_text())
    spoil(tensors, raw)
    save_file({name: each.clone() for name, each in tensors.items()}, folder / 'new')
    (folder / 'new').replace(folder / 'model.safetensors')
    (folder / 'config.json').write_text(json.dumps(raw))
    for read in (
        inspect_checkpoint, lambda path: load_weights(path, ModelConfig.from_folder(path))
    ):  # fmt: skip
        with pytest.raises(CheckpointError) as caught:
            read(folder)
        assert said in str(caught.value)


@pytest.mark.parametrize(
    'own',
    [
        {'weight': ('BF16', (64, 128))},
        {'weight': ('U32', (64, 16)), 'scales': ('BF16', (64, 4))},
        {'weight': ('U32', (64, 12)), 'scales': ('BF16', (64, 1))},
        {'weight': ('U32', (64, 99)), 'scales': ('BF16', ())},
        {'scales': ('BF16', (64, 2))},
        {'weight': ('U8', (64, 64))},
        {'weight_packed': ('U8', (64, 64))},
        {'weight': ('F8_E4M3', (64, 128))},
    ],
)
def test_the_shapes_are_those_of_the_forms(own: dict[str, tuple[str, tuple[int, ...]]]) -> None:
    entries = {leaf: Entry(dtype, shape, 0, 0) for leaf, (dtype, shape) in own.items()}
    leaves = detect(own, 128, 'BF16').leaves(64, 128)
    assert packed_shapes(entries, 64, 128) == {
        leaf: each.shapes for leaf, each in leaves.items()
    }
