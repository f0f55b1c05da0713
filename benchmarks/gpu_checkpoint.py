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
Write the random 4-bit E4B as a checkpoint folder from a GPU: `gpu_checkpoint.py OUT`.

What `scripts/make_random_e4b.py` and `gemma-node convert --recipe mlx-4bit` would lay out, in
seconds: nothing of 16 GB is written. Drawn as `gpu_model` draws.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
import shutil
import struct
import sys
import time
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[1]
for folder in (ROOT, ROOT / 'scripts'):
    sys.path.insert(0, str(folder))

from gpu_model import draw  # noqa: E402
from gpu_model import pack  # noqa: E402
import make_random_e4b as source  # noqa: E402
from random_e4b_tokenizer import write_tokenizer  # noqa: E402

PREFIX = 'language_model.model.'
GROUP = 64


def plan(text: dict[str, Any]) -> list[tuple[str, tuple[int, ...], float, float]]:
    """Return the tensors of the file: keys and values that nothing reads are left out."""
    shared = text['num_hidden_layers'] - text['num_kv_shared_layers']

    def is_read(name: str) -> bool:
        parts = name.split('.')
        unread = ('k_proj', 'v_proj', 'k_norm')
        return parts[0] != 'layers' or int(parts[1]) < shared or parts[-2] not in unread

    return [each for each in source.tensors(text) if is_read(each[0])]


def header(text: dict[str, Any]) -> bytes:
    """Return the header of the safetensors file."""
    found: dict[str, Any] = {'__metadata__': {'format': 'mlx'}}
    offset = 0

    def add(name: str, dtype: str, shape: list[int], size: int) -> None:
        nonlocal offset
        nbytes = size * math.prod(shape)
        end = offset + nbytes
        found[PREFIX + name] = {'dtype': dtype, 'shape': shape, 'data_offsets': [offset, end]}
        offset = end

    for name, shape, _, _ in plan(text):
        if len(shape) == 1:
            add(name, 'BF16', list(shape), 2)
            continue
        rows, columns = shape
        add(name, 'U32', [rows, columns // 8], 4)
        for leaf in ('scales', 'biases'):
            add(name.replace('.weight', f'.{leaf}'), 'BF16', [rows, columns // GROUP], 2)
    made = json.dumps(found, separators=(',', ':')).encode()
    return made + b' ' * (-len(made) % 8)


def write(out: Path, geometry: str, device: str) -> None:
    """Write the folder."""
    out.mkdir(parents=True)
    text = source.text_config(geometry)
    form = {'bits': 4, 'group_size': GROUP, 'mode': 'affine'}
    config = {
        'architectures': ['Gemma4ForConditionalGeneration'], 'model_type': 'gemma4',
        'text_config': text, 'tie_word_embeddings': True, 'dtype': 'bfloat16',
        'eos_token_id': [1, 106], 'bos_token_id': 2, 'pad_token_id': 0,
        'quantization': form, 'quantization_config': form,
    }  # fmt: skip
    (out / 'config.json').write_text(json.dumps(config, indent=1) + '\n')
    (out / 'generation_config.json').write_text(json.dumps(
        {'bos_token_id': 2, 'eos_token_id': [1, 106, 50], 'pad_token_id': 0}) + '\n')
    write_tokenizer(out, text['vocab_size'])
    shutil.copy(source.TEMPLATE, out / 'chat_template.jinja')
    first = header(text)
    with (out / 'model.safetensors').open('wb') as file:
        file.write(struct.pack('<Q', len(first)) + first)
        for name, shape, mean, std in plan(text):
            drawn = draw(name, shape, mean, std, device)
            if len(shape) == 1:
                file.write(_bytes(drawn))
                continue
            packed = pack(drawn, '4bit')
            for each in (packed.words, packed.scales, packed.biases):
                file.write(_bytes(each))


def _bytes(values: torch.Tensor) -> memoryview:
    return memoryview(values.contiguous().view(torch.uint8).cpu().numpy()).cast('B')


def main() -> None:
    """Write it and say how long that took."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('out', type=Path)
    parser.add_argument('--geometry', default='e4b')
    parser.add_argument('--device', default='cuda')
    arguments = parser.parse_args()
    began = time.monotonic()
    write(arguments.out, arguments.geometry, arguments.device)
    size = (arguments.out / 'model.safetensors').stat().st_size
    sys.stdout.write(f'{size} bytes in {time.monotonic() - began:.1f} s\n')


if __name__ == '__main__':
    main()
