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
"""Checkpoints that measurements need beside the embedded one."""

from __future__ import annotations

import json
from pathlib import Path
import shutil

from safetensors.torch import save_file
import torch

from gemma_node.assemble import EMBEDDED_CHECKPOINT
from gemma_node.model.config import ModelConfig
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.linear import QuantEmbedding
from gemma_node.model.linear import QuantLinear
from gemma_node.model.weights import load_model
from gemma_node.quant.packed import dense

MID_SIZE = {
    'hidden_size': 640, 'intermediate_size': 2560, 'num_hidden_layers': 12,
    'num_attention_heads': 8, 'num_key_value_heads': 2, 'head_dim': 64, 'global_head_dim': 128,
    'hidden_size_per_layer_input': 64, 'num_kv_shared_layers': 4, 'sliding_window': 512,
    'layer_types': (['sliding_attention'] * 2 + ['full_attention']) * 4,
}  # fmt: skip


def unpacked(source: Path, folder: Path) -> Path:
    """Write what a quantised checkpoint stands for in bfloat16, for transformers to read."""
    model = load_model(source)
    weights = dict(model.state_dict())
    for name, module in model.named_modules():
        if isinstance(module, QuantLinear | QuantEmbedding):
            weights[f'{name}.weight'] = dense(module.packed, torch.bfloat16)
    return _write(source, folder, {}, weights)


def mid_size(folder: Path, seed: int = 1) -> Path:
    """Write a random model of about 80 million parameters with the embedded one's tokenizer."""
    torch.manual_seed(seed)
    config = _config(EMBEDDED_CHECKPOINT, MID_SIZE)
    with torch.inference_mode(False):
        model = Gemma4(ModelConfig.from_mapping(config)).to(torch.bfloat16)
    return _write(EMBEDDED_CHECKPOINT, folder, MID_SIZE, dict(model.state_dict()))


def _config(source: Path, changes: dict[str, object]) -> dict[str, object]:
    config = json.loads((source / 'config.json').read_text())
    for name in ('quantization', 'quantization_config'):
        config.pop(name, None)
    return {**config, **changes}


def _write(
    source: Path, folder: Path, changes: dict[str, object], weights: dict[str, torch.Tensor]
) -> Path:
    folder.mkdir(parents=True)
    for pattern in ('*.json', '*.jinja'):
        for file in source.glob(pattern):
            shutil.copy(file, folder)
    (folder / 'config.json').write_text(json.dumps(_config(source, changes)))
    save_file({f'model.{name}': each.contiguous() for name, each in weights.items()},
              folder / 'model.safetensors', metadata={'format': 'pt'})
    return folder
