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

"""`inspect`: E4B's own figures from headers alone, counted as the loader reads them."""

from dataclasses import replace
import json
from math import prod
import struct
import time

import pytest

from gemma_node.backends.base import Envelope
from gemma_node.backends.base import memory_needed
from gemma_node.cli import main
from gemma_node.cli_inspect import inspect_checkpoint
from gemma_node.errors import CheckpointError
from gemma_node.model.config import ModelConfig
from gemma_node.model.header import read_header
from gemma_node.model.inventory import parts_of
from gemma_node.model.native_size import stored_sizes
from gemma_node.model.weights import empty_model
from gemma_node.model.weights import load_model
from gemma_node.quant.convert import convert
from gemma_node.quant.recipes import RECIPES
from tests.fixtures import sources

# Group, stored tensors, numbers, bytes: ../shared/facts, section 3.
E4B_GROUPS = [
    ('embed_tokens', 1, 671_088_640, 1_342_177_280),
    ('embed_tokens_per_layer', 1, 2_818_572_288, 5_637_144_576),
    ('per_layer_model_projection', 1, 27_525_120, 55_050_240),
    ('attention', 132, 587_202_560, 1_174_405_120),
    ('mlp', 126, 3_303_014_400, 6_606_028_800),
    ('per_layer_gate_proj', 84, 55_050_240, 110_100_480),
    ('norms_and_scalars', 320, 560_170, 1_120_340),
]


def write_holes(folder, table):
    """Write a file of the right size that is one hole after its header; {name: (dtype, shape)}."""
    size = {'BF16': 2, 'F32': 4, 'U32': 4}
    header, offset = {}, 0
    for name, (dtype, shape) in table.items():
        stop = offset + prod(shape) * size[dtype]
        header[name] = {'dtype': dtype, 'shape': shape, 'data_offsets': [offset, stop]}
        offset = stop
    text = json.dumps(header).encode()
    with (folder / 'model.safetensors').open('wb') as file:
        file.write(struct.pack('<Q', len(text)) + text)
        file.truncate(8 + len(text) + offset)


def write_e4b(folder, words=None):
    """Write E4B as it is published; with `words` every matrix in MLX's form of so many bits."""
    folder.mkdir()
    table = {}
    prefix = 'model.language_model.' if words is None else 'language_model.model.'
    for name, tensor in empty_model(ModelConfig.from_mapping(sources.E4B)).state_dict().items():
        shape = list(tensor.shape)
        if words and len(shape) == 2:
            groups = [shape[0], shape[1] // 64]
            module = prefix + name.removesuffix('.weight')
            table[f'{module}.weight'] = ('U32', [shape[0], shape[1] * words // 32])
            table |= dict.fromkeys((f'{module}.scales', f'{module}.biases'), ('BF16', groups))
        else:
            table[prefix + name] = ('BF16', shape)
    for layer in range(24, 42):
        size = 1024 if layer % 6 == 5 else 512
        at = f'{prefix}layers.{layer}.self_attn.'
        for name in ('k_proj', 'v_proj'):
            if words is None:
                table[f'{at}{name}.weight'] = ('BF16', [size, 2560])
            else:
                table[f'{at}{name}.weight'] = ('U32', [size, 2560 * words // 32])
                for leaf in ('scales', 'biases'):
                    table[f'{at}{name}.{leaf}'] = ('BF16', [size, 40])
        table[f'{at}k_norm.weight'] = ('BF16', [size // 2])
    if words is None:
        table['model.vision_tower.encoder.q.weight'] = ('BF16', [768, 768])
        table['model.embed_audio.projection.weight'] = ('BF16', [10])
    (folder / 'config.json').write_text(json.dumps(
        {'model_type': 'gemma4', 'text_config': sources.E4B}
        | ({'quantization': {'bits': words, 'group_size': 64}} if words else {})))
    (folder / 'tokenizer.json').write_text('{}')
    (folder / 'chat_template.jinja').write_text('')
    write_holes(folder, table)
    return folder


@pytest.fixture(scope='module')
def published(tmp_path_factory):
    return inspect_checkpoint(write_e4b(tmp_path_factory.mktemp('published') / 'e4b'))


@pytest.mark.parametrize(('name', 'tensors', 'parameters', 'nbytes'), E4B_GROUPS)
def test_groups_of_e4b_have_the_published_figures(published, name, tensors, parameters, nbytes):
    group = published['groups'][name]
    assert (group['tensors'], group['parameters'], group['bytes']) == (tensors, parameters, nbytes)


def test_all_of_e4b_is_counted_once_and_what_nothing_reads_apart(published):
    assert len(published['groups']) == len(E4B_GROUPS)
    used = published['used']
    assert (used['tensors'], used['parameters']) == (665, 7_463_013_418)
    assert used['forms'] == {'bf16': 345}
    assert published['parameters'] == 7_463_013_418
    unused = {'tensors': 54, 'parameters': 55_055_616, 'bytes': 110_111_232}
    assert published['not_read']['unused'] == unused
    assert published['not_read']['vision_and_audio']['tensors'] == 2
    assert published['tensors'] == 665 + 54 + 2
    read = [used, *published['not_read'].values()]
    assert sum(group['bytes'] for group in read) == published['bytes']
    assert published['layout'] == 'multimodal'


def test_memory_of_e4b_by_form_and_place_of_the_table(published):
    table, rest = 5_637_144_576, 9_288_882_260
    memory = published['memory']
    for form in ('stored', 'bfloat16'):
        assert memory[form]['device'] == {'device': rest + table, 'host': 0, 'mapped': 0}
        assert memory[form]['host'] == {'device': rest, 'host': table, 'mapped': 0}
        assert memory[form]['mmap'] == {'device': rest, 'host': 0, 'mapped': table}
    # Rows of the embedding are gathered from bfloat16 while its head is float32.
    assert memory['float32']['mmap']['device'] == 2 * rest + 1_342_177_280


def test_cache_of_e4b_by_dtype(published):
    half, eighth = published['cache']['bfloat16'], published['cache']['float8']
    assert half['token'] == 16_384
    assert half['1k tokens'] == 16 << 20
    assert half['window'] == 20 << 20
    assert half['robot, 131072 tokens'] == (2 << 30) + 20 * 10 * 64 * 2048
    assert {name: 2 * size for name, size in eighth.items()} == half


@pytest.mark.parametrize(('bits', 'nbytes', 'unused'), [
    (4, 4_198_750_292, 30_976_512), (8, 7_929_976_916, 58_501_632)])
def test_packed_words_are_counted_as_the_numbers_they_hold(tmp_path, bits, nbytes, unused):
    began = time.monotonic()
    facts = inspect_checkpoint(write_e4b(tmp_path / 'e4b', bits))
    assert time.monotonic() - began < 2.0
    assert facts['used']['parameters'] == 7_463_013_418
    assert facts['used']['bytes'] == nbytes
    assert facts['used']['forms'] == {f'mlx-{bits}bit/64': 345}
    assert facts['used']['tensors'] == 3 * 345 + 320
    left = facts['not_read']['unused']
    assert (left['tensors'], left['parameters'], left['bytes']) == (126, 55_055_616, unused)
    table = facts['groups']['embed_tokens_per_layer']['bytes']
    assert facts['memory']['stored']['host'] == {
        'device': nbytes - table, 'host': table, 'mapped': 0}
    assert facts['memory']['bfloat16']['device']['device'] == (
        2 * (7_463_013_418 - 2_818_572_288) + table + facts['groups']['embed_tokens']['bytes'])


def test_the_inventory_is_what_the_model_has():
    wide = {**sources.TINY, 'use_double_wide_mlp': True}
    for raw in (sources.TINY, sources.E4B, wide, {**sources.TINY, 'num_kv_shared_layers': 0}):
        config = ModelConfig.from_mapping(raw)
        expected = {name: tuple(each.shape) for name, each
                    in empty_model(config).state_dict().items()}
        found = {f'{name}.weight' if part.is_matrix else name: part.shape
                 for name, part in parts_of(config).items()}
        assert found == expected


@pytest.mark.parametrize('recipe', RECIPES)
def test_forms_and_memory_are_those_of_the_loader(tmp_path, recipe):
    source = sources.write_standalone(tmp_path / 'source', vocab_size=768)
    convert(source, tmp_path / 'out', recipe)
    facts = inspect_checkpoint(tmp_path / 'out')
    model = load_model(tmp_path / 'out')
    forms = [module.form for module in model.modules() if hasattr(module, 'packed')]
    names = {'bfloat16': 'bf16', 'float32': 'f32'}
    counted = facts['used']['forms']
    assert sorted(counted.items()) == sorted(
        (names.get(form, form), forms.count(form)) for form in set(forms))
    assert facts['parameters'] == sum(part.size for part in parts_of(model.config).values())
    entries = read_header(tmp_path / 'out' / 'model.safetensors')
    assert facts['used']['bytes'] == sum(entry.nbytes for entry in entries.values())
    envelope = Envelope(lanes=1, context_tokens=64, state_budget_bytes=0)
    sizes = replace(stored_sizes(tmp_path / 'out', model.config), native_bytes=None)
    embedding = facts['groups']['embed_tokens']
    for dtype, name in names.items():
        counted_by_runtime = memory_needed(model.config, envelope, dtype, sizes)['weights']
        rows = 0 if name in embedding['forms'] else embedding['bytes']
        assert facts['memory'][dtype]['device']['device'] == counted_by_runtime + rows


def test_names_and_shapes_that_do_not_fit_are_one_error(tmp_path):
    folder = sources.write_standalone(tmp_path / 'source')
    entries = read_header(folder / 'model.safetensors')
    table = {name: (each.dtype, list(each.shape)) for name, each in entries.items()}
    del table['model.layers.3.mlp.up_proj.weight'], table['model.norm.weight']
    table['model.layers.0.mlp.gate_proj.weight'] = ('BF16', [192, 127])
    table['lm_head.weight'] = ('BF16', [2, 2])
    write_holes(folder, table)
    with pytest.raises(CheckpointError) as caught:
        inspect_checkpoint(folder)
    text = str(caught.value)
    assert 'missing: norm.weight, layers.3.mlp.up_proj' in text
    assert 'unexpected: lm_head.weight' in text
    assert 'layers.0.mlp.gate_proj.weight is [192, 127], expected [192, 128]' in text


def test_the_text_has_groups_memory_and_cache(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv('COLUMNS', '100')
    assert main(['inspect', str(write_e4b(tmp_path / 'e4b', 4))]) == 0
    out = capsys.readouterr().out
    for figure in ('7,463,013,418', '4,198,750,292', '345 mlx-4bit/64', '16,777,216'):
        assert figure in out
    assert 'stored, table mapped' in out
