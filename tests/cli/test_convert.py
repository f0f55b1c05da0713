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

"""`convert` says what it wrote, in text and JSON, and how an interrupted one goes on."""

import json

import pytest

from gemma_node import cli
from gemma_node.cli import main
from gemma_node.quant.convert import Conversion
from gemma_node.quant.recipes import RECIPES
from tests.fixtures import sources


@pytest.fixture(scope='module')
def source(tmp_path_factory):
    return sources.write_standalone(tmp_path_factory.mktemp('source') / 'checkpoint')


def test_the_recipes_of_the_command_are_those_there_are():
    assert tuple(RECIPES) == cli.RECIPE_NAMES


def test_convert_says_what_it_wrote(source, tmp_path, capsys):
    target = tmp_path / 'out'
    assert main(['convert', str(source), str(target), '--recipe', 'mlx-4bit-ple-bf16']) == 0
    captured = capsys.readouterr()
    size = (target / 'model.safetensors').stat().st_size
    said = captured.out.split()
    assert said[:4] == ['41', 'of', '53', 'matrices'] and captured.out.endswith(f'{target}\n')
    assert 0.8 * size < int(said[5].replace(',', '')) < size
    assert captured.err == ''


def test_convert_prints_json(source, tmp_path, capsys):
    target = tmp_path / 'out'
    words = ['convert', str(source), str(target), '--recipe', 'nvfp4a16', '--json']
    assert main(words) == 0
    report = json.loads(capsys.readouterr().out)
    assert report['folder'] == str(target)
    assert (report['recipe'], report['matrices'], report['resumed']) == ('nvfp4a16', 53, 0)
    assert report['quantised'] == 51


def test_the_rounding_reaches_the_converter(source, tmp_path, capsys, monkeypatch):
    seen = {}

    def fake(source, destination, recipe, *, rounding, on_progress):
        on_progress(1, 2)
        seen.update(rounding=rounding, recipe=recipe)
        return Conversion(
            num_tensors=1, num_matrices=1, num_quantised=1, tensor_bytes=1234, num_resumed=0
        )

    monkeypatch.setattr('gemma_node.cli_convert.convert', fake)
    words = ['convert', 'a', 'b', '--recipe', 'mlx-8bit', '--rounding', 'metal']
    assert main(words) == 0
    assert seen == {'rounding': 'metal', 'recipe': 'mlx-8bit'}
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == '1 of 1 matrices quantised, 1,234 bytes of tensors -> b'
    assert lines[1].startswith('unverified: rounding metal') and len(lines) == 2
    assert main([*words[:-1], 'cpu', '--json']) == 0
    assert json.loads(capsys.readouterr().out)['unverified'] == ''


def test_an_interrupt_says_how_to_go_on(source, tmp_path, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr('gemma_node.cli_convert.convert', interrupted)
    assert main(['convert', str(source), str(tmp_path / 'x'), '--recipe', 'bf16']) == 130
    captured = capsys.readouterr()
    assert captured.out == ''
    assert captured.err.splitlines() == [
        'gemma-node: interrupted; the same command goes on where this one was'
    ]


def test_what_is_in_the_way_is_one_sentence(source, tmp_path, capsys):
    assert main(['convert', str(source), str(tmp_path), '--recipe', 'bf16']) == 2
    assert capsys.readouterr().err == (
        f'gemma-node: {tmp_path} exists and is not overwritten; name another folder\n'
    )
