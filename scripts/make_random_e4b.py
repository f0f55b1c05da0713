#!/usr/bin/env python3
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
Write a random E4B checkpoint in the layout of the published one: `make_random_e4b.py OUT`.

For rehearsals at full size where the real weights cannot be had: 42 layers, bfloat16, one file,
names of Gemma4ForConditionalGeneration, a tokenizer of 262,144 entries. Weights are written as a
stream, so memory stays small; `--device cuda` draws them on the GPU. Same seed, same device kind
and same torch: same bytes.

Scales are chosen so that the model is no degenerate one: logits of a standard deviation of 3 to 6
and a mean entropy of 1 to 4 nats. Plain random weights make the next token a function of the last
one, and greedy replies soon run in circles; so the heads of layer 0 look back 0, 1, 2, ... tokens
(embeddings share a constant direction; from it q and k get phases that RoPE lines up at that
distance), and all later layers work on a mixture of the newest tokens. `--measure` runs the model
and says what came out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import json
import logging
import math
import os
from pathlib import Path
import shutil
import struct
import sys
import time
from typing import Any
import zlib

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / 'scripts'))

from random_e4b_tokenizer import write_tokenizer  # noqa: E402

LOG = logging.getLogger('make_random_e4b')
PREFIX = 'model.language_model.'
TEMPLATE = ROOT / 'gemma_node' / 'assets' / 'demo' / 'chat_template.jinja'

GEOMETRIES: dict[str, dict[str, int]] = {
    'e4b': {'hidden_size': 2560, 'intermediate_size': 10240, 'num_hidden_layers': 42,
            'num_attention_heads': 8, 'num_key_value_heads': 2, 'head_dim': 256,
            'global_head_dim': 512, 'hidden_size_per_layer_input': 256, 'vocab_size': 262144,
            'num_kv_shared_layers': 18, 'sliding_window': 512, 'period': 6},
    # The same shape in everything but size: for tests and for machines with little disk.
    'small': {'hidden_size': 256, 'intermediate_size': 512, 'num_hidden_layers': 12,
              'num_attention_heads': 4, 'num_key_value_heads': 2, 'head_dim': 64,
              'global_head_dim': 128, 'hidden_size_per_layer_input': 64, 'vocab_size': 262144,
              'num_kv_shared_layers': 4, 'sliding_window': 512, 'period': 6},
    'tiny': {'hidden_size': 64, 'intermediate_size': 128, 'num_hidden_layers': 6,
             'num_attention_heads': 4, 'num_key_value_heads': 2, 'head_dim': 32,
             'global_head_dim': 64, 'hidden_size_per_layer_input': 64, 'vocab_size': 4096,
             'num_kv_shared_layers': 2, 'sliding_window': 32, 'period': 3},
}
LOGIT_STD = 3.2
# Every HEAVY_PERIOD-th row of the embedding is longer: under the softcap, Gaussian logits of one
# size cannot have a low entropy over 262,144 ids; a few thousand longer rows give them a tail.
HEAVY_PERIOD = 50
HEAVY_GAIN = 2.0
# What one block adds to the residual stream, in units of the stream's root mean square at its
# start: large, so that the last token's own embedding does not win (see the module's text).
BLOCK_GAIN = 40.0
# What attention adds after layer 0, in the same units. What it adds is nearly the same for all
# tokens of a text; with BLOCK_GAIN, 42 layers of it leave little of the newest tokens.
ATTENTION_GAIN = 10.0
# Standard deviation of attention scores.
Q_GAIN = 2.0
# Layer 0: size of what tokens add to q and k beside the constant part, and sharpness of the heads.
LOOK_BACK_NOISE = 0.3
LOOK_BACK_GAIN = 0.45
LOOK_BACK = tuple(f'layers.0.self_attn.{kind}_proj.weight' for kind in 'qk')
CHUNK_ELEMENTS = 1 << 24


def text_config(geometry: str) -> dict[str, Any]:
    """Return `text_config` of a geometry, keys as transformers writes them."""
    size = dict(GEOMETRIES[geometry])
    period = size.pop('period')
    layers = size['num_hidden_layers']
    return {
        'model_type': 'gemma4_text', **size,
        'vocab_size_per_layer_input': size['vocab_size'],
        'num_global_key_value_heads': None,
        'layer_types': ['full_attention' if i % period == period - 1 else 'sliding_attention'
                        for i in range(layers)],
        'rope_parameters': {
            'sliding_attention': {'rope_type': 'default', 'rope_theta': 10000.0},
            'full_attention': {'rope_type': 'proportional', 'rope_theta': 1000000.0,
                               'partial_rotary_factor': 0.25}},
        'rms_norm_eps': 1e-6, 'hidden_activation': 'gelu_pytorch_tanh',
        'final_logit_softcapping': 30.0, 'attention_bias': False, 'attention_dropout': 0.0,
        'attention_k_eq_v': False, 'enable_moe_block': False, 'use_double_wide_mlp': False,
        'tie_word_embeddings': True, 'max_position_embeddings': 131072,
        'initializer_range': 0.02, 'pad_token_id': 0, 'eos_token_id': 1, 'bos_token_id': 2,
        'use_cache': True, 'dtype': 'bfloat16',
    }


def tensors(config: dict[str, Any]) -> Iterator[tuple[str, tuple[int, ...], float, float]]:
    """
    Yield name, shape, mean and standard deviation of every text tensor.

    The shared layers' unread k_proj, v_proj and k_norm are there too, as in the published file.
    """
    hidden, ple = config['hidden_size'], config['hidden_size_per_layer_input']
    width, vocab, count = (config['intermediate_size'], config['vocab_size'],
                           config['num_hidden_layers'])
    heads, kv = config['num_attention_heads'], config['num_key_value_heads']

    def matrix(rows: int, columns: int) -> tuple[tuple[int, ...], float, float]:
        return (rows, columns), 0.0, columns ** -0.5

    yield 'embed_tokens.weight', (vocab, hidden), 0.0, LOGIT_STD * hidden ** -0.5
    yield 'embed_tokens_per_layer.weight', (vocab, count * ple), 0.0, ple ** -0.5
    yield 'per_layer_model_projection.weight', *matrix(count * ple, hidden)
    yield 'per_layer_projection_norm.weight', (ple,), 1.0, 0.1
    yield 'norm.weight', (hidden,), 1.0, 0.02
    for index, kind in enumerate(config['layer_types']):
        dim = config['head_dim'] if kind == 'sliding_attention' else config['global_head_dim']
        layer = f'layers.{index}.'
        yield f'{layer}input_layernorm.weight', (hidden,), 1.0, 0.1
        gain = ATTENTION_GAIN if index else BLOCK_GAIN
        yield f'{layer}post_attention_layernorm.weight', (hidden,), gain, 0.5
        yield f'{layer}pre_feedforward_layernorm.weight', (hidden,), 1.0, 0.1
        yield f'{layer}post_feedforward_layernorm.weight', (hidden,), BLOCK_GAIN, 0.5
        yield f'{layer}post_per_layer_input_norm.weight', (hidden,), BLOCK_GAIN / 4, 0.5
        yield f'{layer}self_attn.q_proj.weight', *matrix(heads * dim, hidden)
        yield f'{layer}self_attn.k_proj.weight', *matrix(kv * dim, hidden)
        yield f'{layer}self_attn.v_proj.weight', *matrix(kv * dim, hidden)
        yield f'{layer}self_attn.o_proj.weight', *matrix(hidden, heads * dim)
        # Scores of q and k of unit size would be O(dim): a softmax of one key.
        gain = LOOK_BACK_GAIN if index == 0 else Q_GAIN * dim ** -0.5
        yield f'{layer}self_attn.q_norm.weight', (dim,), gain, 0.01
        yield f'{layer}self_attn.k_norm.weight', (dim,), 1.0, 0.05
        yield f'{layer}mlp.gate_proj.weight', *matrix(width, hidden)
        yield f'{layer}mlp.up_proj.weight', *matrix(width, hidden)
        yield f'{layer}mlp.down_proj.weight', *matrix(hidden, width)
        yield f'{layer}per_layer_input_gate.weight', *matrix(ple, hidden)
        yield f'{layer}per_layer_projection.weight', *matrix(hidden, ple)
        yield f'{layer}layer_scalar', (1,), 1.0, 0.05


def shared_direction(hidden: int, seed: int) -> torch.Tensor:
    """Return the direction that all embeddings share, entries +-1, [hidden]."""
    source = torch.Generator().manual_seed(zlib.crc32(f'{seed}/shared'.encode()))
    return torch.randint(0, 2, (hidden,), generator=source).float() * 2 - 1


def look_back(name: str, config: dict[str, Any], shared: torch.Tensor) -> torch.Tensor:
    """
    Return the constant part of q_proj or k_proj of layer 0: head n looks n tokens back.

    k is the same for all tokens, energy in the fast pairs of RoPE only; q of head n is k turned
    back by n positions, so that q(p) . k(m) is largest at m = p - n.
    """
    dim = config['head_dim']
    pairs = max(dim // 8, 1)
    theta = config['rope_parameters']['sliding_attention']['rope_theta']
    speed = theta ** (-2 * torch.arange(pairs) / dim)
    is_key = 'k_proj' in name
    heads = []
    for head in range(config['num_key_value_heads' if is_key else 'num_attention_heads']):
        angle = torch.zeros(pairs) if is_key else -head * speed
        vector = torch.zeros(dim)
        vector[:pairs] = angle.cos()
        vector[dim // 2:dim // 2 + pairs] = angle.sin()
        heads.append(vector * (dim / pairs) ** 0.5)
    return torch.outer(torch.cat(heads), shared) / len(shared)


def drawn(
    name: str, shape: tuple[int, ...], mean: float, std: float, config: dict[str, Any],
    shared: torch.Tensor, seed: str, device: str,
) -> Iterator[torch.Tensor]:
    """Yield the rows of one tensor, part by part."""
    source = torch.Generator(device).manual_seed(zlib.crc32(seed.encode()))
    rows, direction = shape[0], shared.to(device)
    step = max(CHUNK_ELEMENTS * rows // math.prod(shape), 1)
    for start in range(0, rows, step):
        count = min(step, rows - start)
        values = torch.randn((count, *shape[1:]), generator=source, device=device) * std + mean
        if name == 'embed_tokens.weight':
            heavy = torch.arange(start, start + count, device=device) % HEAVY_PERIOD == 0
            values[heavy] *= HEAVY_GAIN
            values += std * direction
        elif shape[1:] == shared.shape:
            # Nothing but the look-back heads reads the shared direction.
            values -= torch.outer(values @ direction, direction) / shape[1]
        if name in LOOK_BACK:
            values *= LOOK_BACK_NOISE
            values += look_back(name, config, shared)[start:start + count].to(device)
        yield values


def write_weights(file: Path, config: dict[str, Any], seed: int, device: str) -> int:
    """Stream all tensors into one safetensors file; returns its size in bytes."""
    plan = list(tensors(config))
    header: dict[str, Any] = {'__metadata__': {'format': 'pt'}}
    offset = 0
    for name, shape, _, _ in plan:
        nbytes = 2 * math.prod(shape)
        header[PREFIX + name] = {'dtype': 'BF16', 'shape': list(shape),
                                 'data_offsets': [offset, offset + nbytes]}
        offset += nbytes
    text = json.dumps(header, separators=(',', ':')).encode()
    text += b' ' * (-len(text) % 8)
    shared = shared_direction(config['hidden_size'], seed)
    with file.open('wb') as out:
        out.write(struct.pack('<Q', len(text)) + text)
        for name, shape, mean, std in plan:
            for part in drawn(name, shape, mean, std, config, shared, f'{seed}/{name}', device):
                out.write(part.to(torch.bfloat16).view(torch.int16).cpu().numpy().tobytes())
            LOG.debug('%s', name)
        out.flush()
        os.fsync(out.fileno())
    return 8 + len(text) + offset


def write_folder(out: Path, geometry: str, seed: int, device: str) -> dict[str, Any]:
    """Write the whole checkpoint; it appears under its name only when it is complete."""
    if out.exists():
        raise SystemExit(f'{out} exists; name a folder that does not, or remove it')
    work = out.with_name(f'{out.name}.part')
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    began = time.monotonic()
    text = text_config(geometry)
    config = {'architectures': ['Gemma4ForConditionalGeneration'], 'model_type': 'gemma4',
              'text_config': text, 'tie_word_embeddings': True, 'dtype': 'bfloat16',
              'eos_token_id': [1, 106], 'bos_token_id': 2, 'pad_token_id': 0}
    try:
        (work / 'config.json').write_text(json.dumps(config, indent=1) + '\n')
        (work / 'generation_config.json').write_text(json.dumps({
            'bos_token_id': 2, 'do_sample': True, 'eos_token_id': [1, 106, 50],
            'pad_token_id': 0, 'temperature': 1.0, 'top_k': 64, 'top_p': 0.95}, indent=1) + '\n')
        write_tokenizer(work, text['vocab_size'])
        shutil.copy(TEMPLATE, work / 'chat_template.jinja')
        nbytes = write_weights(work / 'model.safetensors', text, seed, device)
        report = {'geometry': geometry, 'seed': seed, 'device': device,
                  'torch': torch.__version__, 'model_bytes': nbytes,
                  'parameters': sum(math.prod(shape) for _, shape, _, _ in tensors(text)),
                  'wall_s': round(time.monotonic() - began, 1)}
        (work / 'random_e4b.json').write_text(json.dumps(report, indent=1) + '\n')
        work.rename(out)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    return report


def main(words: list[str] | None = None) -> None:
    """Read the command line (or `words`) and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('out', type=Path, help='folder to write; must not exist')
    parser.add_argument('--geometry', choices=sorted(GEOMETRIES), default='e4b')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--device', default='cpu', help='cpu or cuda: where weights are drawn')
    parser.add_argument('--measure', action='store_true',
                        help='also run the model: logits, entropy, greedy replies')
    parser.add_argument('--replies', type=int, default=200)
    arguments = parser.parse_args(words)
    logging.basicConfig(level=logging.INFO, format='%(message)s')
    LOG.info('%s', write_folder(arguments.out, arguments.geometry, arguments.seed,
                                arguments.device))
    if arguments.measure:
        from random_e4b_measure import measure

        LOG.info('%s', measure(arguments.out, arguments.device, arguments.replies))


if __name__ == '__main__':
    main()
