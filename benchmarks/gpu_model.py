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
"""
A random E4B in device memory: what scripts/make_random_e4b.py writes, without the 16 GB file.

Drawn with the same seeds, quantised matrix by matrix where it lies.
"""

from __future__ import annotations

import math
from pathlib import Path
import sys
import zlib

import torch

ROOT = Path(__file__).resolve().parents[1]
for folder in (ROOT, ROOT / 'scripts'):
    sys.path.insert(0, str(folder))

import make_random_e4b as source  # noqa: E402

from gemma_node.model.config import ModelConfig  # noqa: E402
from gemma_node.model.gemma4 import Gemma4  # noqa: E402
from gemma_node.model.linear import QuantEmbedding  # noqa: E402
from gemma_node.model.linear import QuantLinear  # noqa: E402
from gemma_node.model.weights import empty_model  # noqa: E402
from gemma_node.quant import affine  # noqa: E402
from gemma_node.quant import fp8  # noqa: E402
from gemma_node.quant import nvfp4  # noqa: E402
from gemma_node.quant.packed import Packed  # noqa: E402

FORMS = ('4bit', '8bit', 'nvfp4', 'fp8', 'bf16')
TABLES = ('embed_tokens', 'embed_tokens_per_layer')
_PART = 1 << 26


def draw(name: str, shape: tuple[int, ...], mean: float, std: float, device: str) -> torch.Tensor:
    """Return one tensor in bfloat16, with the numbers that the script writes."""
    seed = zlib.crc32(f'1/{name}'.encode())
    generator = torch.Generator(device).manual_seed(seed)
    rows = shape[0]
    step = max(source.CHUNK_ELEMENTS * rows // math.prod(shape), 1)
    out = torch.empty(shape, dtype=torch.bfloat16, device=device)
    for start in range(0, rows, step):
        count = min(step, rows - start)
        drawn = torch.randn((count, *shape[1:]), generator=generator, device=device) * std + mean
        if name == 'embed_tokens.weight':
            heavy = torch.arange(start, start + count, device=device) % source.HEAVY_PERIOD == 0
            drawn[heavy] *= source.HEAVY_GAIN
        out[start : start + count] = drawn
    return out


def pack(weight: torch.Tensor, form: str) -> Packed:
    """Return a matrix in a form."""
    if form in ('4bit', '8bit'):
        bits = int(form[0])
        step = max(1, _PART // weight.shape[1])
        parts = [
            affine.quantize(weight[start : start + step], bits=bits, group_size=64)
            for start in range(0, len(weight), step)
        ]
        words = torch.cat([each.words.view(torch.int32) for each in parts]).view(torch.uint32)
        return affine.AffineTensors(
            words=words,
            scales=torch.cat([each.scales for each in parts]),
            biases=torch.cat([each.biases for each in parts]),
            bits=bits,
            group_size=64,
        )
    if form == 'nvfp4':
        return nvfp4.quantize(weight)
    return fp8.quantize(weight, by_row=True)


def random_model(form: str, device: str, geometry: str = 'e4b') -> Gemma4:
    """Return the model; tables and head are bfloat16 but in the affine forms, as published."""
    text = source.text_config(geometry)
    model = empty_model(ModelConfig.from_mapping(text))
    plain = {}
    for name, shape, mean, std in source.tensors(text):
        module, _, _ = name.rpartition('.')
        index = module.split('.')[1] if module.startswith('layers.') else None
        if index is not None and not hasattr(_owner(model, module), module.rsplit('.', 1)[-1]):
            continue  # keys and values that nothing reads
        weight = draw(name, shape, mean, std, device)
        is_table = module in TABLES
        if len(shape) == 1 or form == 'bf16' or (is_table and form in ('nvfp4', 'fp8')):
            plain[name] = weight
            continue
        packed = pack(weight, form)
        old = model.get_submodule(module)
        new: torch.nn.Module = QuantLinear(packed, form)
        if is_table:
            new = QuantEmbedding(packed, form, scale=old.scale, dtype=torch.bfloat16)
        setattr(_owner(model, module), module.rsplit('.', 1)[-1], new)
    model.load_state_dict(plain, strict=False, assign=True)
    left = [name for name, each in model.named_parameters() if each.is_meta]
    assert not left, left
    return model.requires_grad_(False)


def _owner(model: Gemma4, module: str) -> torch.nn.Module:
    parent = module.rpartition('.')[0]
    return model.get_submodule(parent) if parent else model
