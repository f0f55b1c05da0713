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
Every kind of bad checkpoint, through every verb that reads one.

One sentence each on the error stream, which names what is wrong; the source stays as it was, and
nothing is left where the result should be.
"""

from __future__ import annotations

from collections.abc import Callable
import json
import os
from pathlib import Path
import pickle
import shutil
import struct
from typing import Any

import pytest
from safetensors.torch import load_file
from safetensors.torch import save_file
import torch

from gemma_node.cli import main
from gemma_node.errors import CheckpointError
from gemma_node.model.weights import load_model
from tests.fixtures import sources

Spoil = Callable[[Path], None]
NORM = 'model.norm.weight'
INDEX = 'model.safetensors.index.json'


@pytest.fixture(scope='module')
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('good') / 'checkpoint'
    return sources.write_standalone(folder, vocab_size=768)


def file_of(folder: Path) -> Path:
    return folder / 'model.safetensors'


def cut(folder: Path) -> None:
    file = file_of(folder)
    file.write_bytes(file.read_bytes()[:-1000])


def grow_header(length: int) -> Spoil:
    def spoil(folder: Path) -> None:
        raw = file_of(folder).read_bytes()
        file_of(folder).write_bytes(struct.pack('<Q', length) + raw[8:])

    return spoil


def edit_header(change: Callable[[dict[str, Any]], Any]) -> Spoil:
    def spoil(folder: Path) -> None:
        raw = file_of(folder).read_bytes()
        length = struct.unpack('<Q', raw[:8])[0]
        table = json.loads(raw[8 : 8 + length])
        header = change(table)
        text = header if isinstance(header, bytes) else json.dumps(table).encode()
        file_of(folder).write_bytes(struct.pack('<Q', len(text)) + text + raw[8 + length :])

    return spoil


def overlap(table: dict[str, Any]) -> None:
    names = sorted(set(table) - {'__metadata__'}, key=lambda name: table[name]['data_offsets'])
    first, second = names[:2]
    size = table[second]['data_offsets'][1] - table[second]['data_offsets'][0]
    start = table[first]['data_offsets'][0]
    table[second]['data_offsets'] = [start, start + size]


def duplicate(table: dict[str, Any]) -> bytes:
    again = json.dumps({NORM: table[NORM]})[1:]
    return (json.dumps(table)[:-1] + ',' + again).encode()


def huge_shape(table: dict[str, Any]) -> None:
    table[NORM]['shape'] = [1 << 60]
    table[NORM]['data_offsets'][1] = table[NORM]['data_offsets'][0] + (1 << 61)


def edit_tensors(change: Callable[[dict[str, torch.Tensor]], None]) -> Spoil:
    def spoil(folder: Path) -> None:
        tensors = {name: each.clone() for name, each in load_file(file_of(folder)).items()}
        change(tensors)
        save_file(tensors, file_of(folder))

    return spoil


def poison(tensors: dict[str, torch.Tensor]) -> None:
    tensors['model.layers.1.mlp.up_proj.weight'][2, 3:8] = float('nan')


def index_of(**weight_map: Any) -> Spoil:
    def spoil(folder: Path) -> None:
        file_of(folder).rename(folder.parent / 'secret.safetensors')
        (folder / INDEX).write_text(json.dumps({'weight_map': weight_map}))

    return spoil


def double_index(folder: Path) -> None:
    file_of(folder).rename(folder / 'a.safetensors')
    (folder / INDEX).write_text(
        '{"weight_map": {"model.norm.weight": "b.safetensors", "model.norm.weight": '
        '"a.safetensors"}}'
    )


def pipe(name: str) -> Spoil:
    def spoil(folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return spoil


def only_a_pickle(folder: Path) -> None:
    file_of(folder).unlink()
    (folder / 'pytorch_model.bin').write_bytes(pickle.dumps({'a': 1}))


def edit_config(**changes: Any) -> Spoil:
    def spoil(folder: Path) -> None:
        raw = json.loads((folder / 'config.json').read_text())
        (folder / 'config.json').write_text(json.dumps(raw | changes))
        # What the family has and this runtime does not is said before weights are looked at.
        file_of(folder).unlink()

    return spoil


# What is done, what the sentence holds, whether headers alone show it.
CASES: dict[str, tuple[Spoil, str, bool]] = {
    'truncated file': (cut, 'is damaged or cut short', True),
    'header larger than the file': (grow_header(1 << 30), 'its header does not fit', True),
    'header of 2^60 bytes': (grow_header(1 << 60), 'its header does not fit', True),
    'overlapping offsets': (edit_header(overlap), 'overlaps the tensor before it', True),
    'duplicate names': (edit_header(duplicate), f"names '{NORM}' twice", True),
    'tensor of 2^60 numbers': (edit_header(huge_shape), 'is damaged or cut short', True),
    'NaN weights': (
        edit_tensors(poison), 'holds 5 values that are NaN or infinite', False
    ),
    'missing tensor': (edit_tensors(lambda t: t.pop(NORM)), 'missing: norm.weight', True),
    'unknown tensor': (
        edit_tensors(lambda t: t.update({'model.lm_head.weight': torch.zeros(2).bfloat16()})),
        'unexpected: lm_head.weight', True,
    ),
    'wrong shape': (
        edit_tensors(lambda t: t.update({NORM: torch.zeros(7).bfloat16()})),
        'norm.weight is [7], expected [128]', True,
    ),
    'index that names an absent shard': (
        index_of(**{NORM: 'model-00001-of-00002.safetensors'}),
        'model-00001-of-00002.safetensors is missing', True,
    ),
    'path traversal in an index': (
        index_of(**{NORM: '../secret.safetensors'}), 'a shard is a .safetensors file name', True
    ),
    'absolute path in an index': (
        index_of(**{NORM: '/etc/secret.safetensors'}), 'a shard is a .safetensors file name', True
    ),
    'endless name in an index': (
        index_of(**{NORM: 'x' * 5000 + '.safetensors'}), 'a shard is a .safetensors', True
    ),
    'index that names a tensor twice': (double_index, "names 'model.norm.weight' twice", True),
    'pipe instead of the config': (pipe('config.json'), 'must be a plain file', True),
    'pickle': (only_a_pickle, 'a pickle that can run code', True),
    'no weights': (lambda folder: file_of(folder).unlink(), 'holds neither', True),
    'mixture of experts': (edit_config(enable_moe_block=True), 'enable_moe_block = True', True),
    'keys that are values': (edit_config(attention_k_eq_v=True), 'attention_k_eq_v = True', True),
    'another family': (edit_config(model_type='llama'), "'llama' is not served", True),
}  # fmt: skip


@pytest.fixture(params=CASES)
def bad(
    request: pytest.FixtureRequest, good: Path, tmp_path: Path
) -> tuple[Path, str, bool]:
    """Return a spoiled copy, what is said of it, and whether its headers show it."""
    spoil, said, by_headers = CASES[request.param]
    folder = shutil.copytree(good, tmp_path / 'bad')
    spoil(folder)
    return folder, said, by_headers


def listing(folder: Path) -> dict[str, bytes]:
    return {
        each.relative_to(folder).as_posix(): each.read_bytes()
        for each in folder.rglob('*')
        if each.is_file()
    }


def check_complaint(captured: Any, said: str) -> None:
    assert captured.out == ''
    assert captured.err.startswith('gemma-node: ') and captured.err.count('\n') == 1
    assert said in captured.err
    assert len(captured.err) < 1000


def test_loading_ends_in_one_error(bad: tuple[Path, str, bool]) -> None:
    folder, said, _ = bad
    with pytest.raises(CheckpointError) as caught:
        load_model(folder)
    assert said in str(caught.value) and '\n' not in str(caught.value)


def test_inspecting_ends_in_one_sentence_or_does_not_read_that_far(
    bad: tuple[Path, str, bool], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, said, by_headers = bad
    before = listing(folder.parent)
    code = main(['inspect', str(folder)])
    assert listing(folder.parent) == before
    if by_headers:
        assert code == 2
        check_complaint(capsys.readouterr(), said)
    else:
        assert code == 0


@pytest.mark.parametrize('recipe', ['mlx-4bit', 'nvfp4a16', 'bf16'])
def test_converting_ends_in_one_sentence_and_leaves_nothing(
    bad: tuple[Path, str, bool], capsys: pytest.CaptureFixture[str], recipe: str
) -> None:
    folder, said, _ = bad
    before = listing(folder.parent)
    target = folder.parent / 'result'
    assert main(['convert', str(folder), str(target), '--recipe', recipe]) == 2
    check_complaint(capsys.readouterr(), said)
    assert listing(folder.parent) == before
    assert not list(folder.parent.glob('*result*'))


def test_a_receipt_of_a_bad_checkpoint_ends_in_one_sentence_and_leaves_nothing(
    bad: tuple[Path, str, bool], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, said, _ = bad
    before = listing(folder.parent)
    out = folder.parent / 'receipt.json'
    assert main(['receipts', str(folder), '--device', 'cpu', '--quick', '--out', str(out)]) == 2
    check_complaint(capsys.readouterr(), said)
    assert listing(folder.parent) == before


@pytest.mark.parametrize('part', [None, 3, [], {}, {'a': 1}])
def test_a_text_model_with_a_text_config_beside_is_read_as_what_its_type_says(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], part: Any
) -> None:
    folder = shutil.copytree(good, tmp_path / 'odd')
    raw = json.loads((folder / 'config.json').read_text())
    (folder / 'config.json').write_text(json.dumps(raw | {'text_config': part}))
    assert main(['inspect', str(folder), '--json']) == 0
    assert json.loads(capsys.readouterr().out)['geometry']['hidden_size'] == raw['hidden_size']
    target = tmp_path / 'out'
    assert main(['convert', str(folder), str(target), '--recipe', 'mlx-4bit']) == 0
    assert main(['inspect', str(target)]) == 0


def test_a_pipe_instead_of_a_template_is_not_waited_for(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(good, tmp_path / 'odd')
    (folder / 'chat_template.jinja').unlink()
    pipe('tokenizer_config.json')(folder)
    assert main(['inspect', str(folder)]) == 2
    check_complaint(capsys.readouterr(), 'has no chat template')
