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

"""The embedded checkpoint by each recipe, read by the libraries that the recipes are of."""

import json

import pytest
from safetensors.torch import load_file
from safetensors.torch import save_file
import torch

from gemma_node.assemble import EMBEDDED_CHECKPOINT
from gemma_node.model.weights import load_model
from gemma_node.quant.convert import convert
from gemma_node.quant.packed import dense
from gemma_node.quant.recipes import RECIPES

# Seconds each alone, many times that beside other work.
pytestmark = pytest.mark.timeout(600)

MLX_RECIPES = [name for name in RECIPES if name.startswith('mlx')]


@pytest.fixture(scope='module')
def made(tmp_path_factory):
    """Return a folder with the unpacked checkpoint as `bf16`, and with each other recipe of it."""
    folder = tmp_path_factory.mktemp('embedded')
    convert(EMBEDDED_CHECKPOINT, folder / 'bf16', 'bf16')
    for name in RECIPES:
        if name != 'bf16':
            convert(folder / 'bf16', folder / name, name)
    return folder


def bits(tensor):
    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def unpacked(folder):
    model = load_model(folder)
    values = dict(model.state_dict())
    for name, module in model.named_modules():
        if hasattr(module, 'packed'):
            values[f'{name}.weight'] = dense(module.packed, torch.bfloat16)
    return values


def test_mlx_lm_makes_the_same_tensors_and_reads_ours_as_we_do(made, run_oracle, tmp_path):
    run_oracle('mlx_folder.py', 'mlx_lm', made / 'bf16', tmp_path, made, *MLX_RECIPES)
    for recipe in MLX_RECIPES:
        ours, theirs = (
            load_file(folder / recipe / 'model.safetensors') for folder in (made, tmp_path)
        )
        assert ours.keys() == theirs.keys()
        assert [name for name in ours if bits(ours[name]) != bits(theirs[name])] == []
        read = load_file(made / f'{recipe}.safetensors')
        mine = unpacked(made / recipe)
        assert {f'model.{name}' for name in mine} == read.keys()
        assert [name for name in mine if bits(mine[name]) != bits(read[f'model.{name}'])] == []


def test_transformers_reads_nvfp4_and_bf16_and_computes_our_logits_bit_for_bit(
    made, run_oracle, tmp_path
):
    vocab = json.loads((made / 'bf16' / 'config.json').read_text())['vocab_size']
    ids = torch.randint(0, vocab, (1, 60), generator=torch.Generator().manual_seed(4))
    save_file({'ids': ids}, tmp_path / 'ids.safetensors')
    for recipe in ('nvfp4a16', 'bf16'):
        out = tmp_path / f'{recipe}.safetensors'
        run_oracle('compressed_folder.py', 'compressed_tensors', made / recipe,
                   tmp_path / 'ids.safetensors', out)
        read = load_file(out)
        mine = unpacked(made / recipe)
        matrices = [name for name in mine if name.endswith('.weight')]
        wrong = [name for name in matrices if bits(mine[name]) != bits(read[f'model.{name}'])]
        assert matrices and wrong == []
        with torch.inference_mode():
            assert torch.equal(load_model(made / recipe)(ids), read['logits'])
