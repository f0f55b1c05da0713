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

"""`inspect` reads headers and refuses damage; `doctor` names what is missing and the remedy."""

import json
import struct
import subprocess
import sys
from types import SimpleNamespace

import pytest
from safetensors.torch import save_file
import torch

from gemma_node import cli_doctor
from gemma_node.cli import main
from gemma_node.cli_inspect import inspect_checkpoint
from gemma_node.errors import CheckpointError
from gemma_node.model.config import ModelConfig
from gemma_node.model.weights import empty_model

CONFIG = {
    'model_type': 'gemma4_text',
    'num_hidden_layers': 3,
    'hidden_size': 64,
    'intermediate_size': 64,
    'num_attention_heads': 4,
    'num_key_value_heads': 2,
    'head_dim': 16,
    'hidden_size_per_layer_input': 64,
    'sliding_window': 8,
    'vocab_size': 100,
    'max_position_embeddings': 64,
    'layer_types': ['sliding_attention', 'sliding_attention', 'full_attention'],
}
INDEX = 'model.safetensors.index.json'


@pytest.fixture
def checkpoint(tmp_path):
    folder = tmp_path / 'ckpt'
    folder.mkdir()
    (folder / 'config.json').write_text(json.dumps(CONFIG))
    (folder / 'tokenizer.json').write_text('{}')
    (folder / 'chat_template.jinja').write_text('{{ messages }}')
    save_file(tensors(), folder / 'model.safetensors', metadata={'format': 'pt'})
    return folder


def tensors():
    return {
        f'model.{name}': torch.zeros(tensor.shape, dtype=torch.bfloat16)
        for name, tensor in empty_model(ModelConfig.from_mapping(CONFIG)).state_dict().items()
    }


def count(named=None):
    return sum(tensor.numel() for tensor in (named or tensors()).values())


def test_inspect_gives_geometry_parameters_and_bytes(checkpoint):
    facts = inspect_checkpoint(checkpoint)
    assert facts['geometry']['hidden_size'] == 64
    assert facts['layers'] == {'sliding_attention': 2, 'full_attention': 1}
    assert facts['parameters'] == count() > 100_000
    assert facts['bytes'] == 2 * count()
    assert facts['bytes_by_dtype'] == {'BF16': 2 * count()}


def test_inspect_reads_the_text_part_of_a_multimodal_config(checkpoint):
    whole = {'model_type': 'gemma4', 'text_config': CONFIG}
    (checkpoint / 'config.json').write_text(json.dumps(whole))
    assert inspect_checkpoint(checkpoint)['geometry']['head_dim'] == 16


def in_shards(checkpoint, *names):
    """Name the shards in an index; the one weight file becomes the first of them."""
    (checkpoint / 'model.safetensors').rename(checkpoint / 'one.safetensors')
    (checkpoint / INDEX).write_text(json.dumps({'weight_map': dict(enumerate(names))}))


def test_inspect_adds_up_the_shards(checkpoint):
    named = tensors()
    last = {name: named.pop(name) for name in sorted(named)[-3:]}
    save_file(named, checkpoint / 'model.safetensors')
    in_shards(checkpoint, 'one.safetensors', 'one.safetensors', 'two.safetensors')
    save_file(last, checkpoint / 'two.safetensors')
    assert inspect_checkpoint(checkpoint)['parameters'] == count()
    save_file(tensors(), checkpoint / 'two.safetensors')
    with pytest.raises(CheckpointError, match='twice'):
        inspect_checkpoint(checkpoint)


@pytest.mark.parametrize(
    ('name', 'expected'),
    [
        ('two.safetensors', r'two\.safetensors is missing'),
        ('../two.safetensors', 'a shard is a .safetensors file name'),
        ('/etc/passwd', 'a shard is a .safetensors file name'),
        (7, 'is not a weight index|a shard is'),
    ],
)
def test_inspect_refuses_an_index_that_names_no_file_of_the_folder(checkpoint, name, expected):
    in_shards(checkpoint, 'one.safetensors', name)
    with pytest.raises(CheckpointError, match=expected):
        inspect_checkpoint(checkpoint)


def test_inspect_imports_no_torch(checkpoint):
    program = (
        'import sys\n'
        'from gemma_node.cli import main\n'
        "code = main(['inspect', sys.argv[1]])\n"
        "sys.exit(code or any(m in sys.modules for m in ('torch', 'rclpy', 'tokenizers')))\n"
    )
    assert subprocess.run([sys.executable, '-c', program, checkpoint], timeout=60).returncode == 0


def test_inspect_prints_text_and_json(checkpoint, capsys):
    assert main(['inspect', str(checkpoint)]) == 0
    assert 'hidden_size 64' in capsys.readouterr().out
    assert main(['inspect', str(checkpoint), '--json']) == 0
    assert json.loads(capsys.readouterr().out) == inspect_checkpoint(checkpoint)


def change(**values):
    return lambda path: path.write_text(json.dumps({**CONFIG, **values}))


def header(text):
    return lambda path: path.write_bytes(struct.pack('<Q', len(text)) + text.encode())


def tensor(**values):
    """Announce four bytes of one tensor, with something wrong."""
    entry = {'dtype': 'F32', 'shape': [1], 'data_offsets': [0, 4], **values}
    text = json.dumps({'a': entry}).encode()
    return lambda path: path.write_bytes(struct.pack('<Q', len(text)) + text + bytes(4))


def cut(path):
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize(
    ('name', 'damage', 'expected'),
    [
        ('config.json', lambda p: p.unlink(), 'is missing'),
        ('config.json', lambda p: p.write_text('{'), 'cannot be read as JSON'),
        ('config.json', lambda p: p.write_bytes(b'\xff' * 9), 'cannot be read as JSON'),
        ('config.json', lambda p: p.write_text('[' * 100_000), 'cannot be read as JSON'),
        ('config.json', lambda p: p.write_text('[]'), 'must hold an object'),
        ('config.json', lambda p: p.write_text('{}'), 'model_type None is not served'),
        ('config.json', change(enable_moe_block=True), 'does not serve enable_moe_block'),
        ('tokenizer.json', lambda p: p.unlink(), 'tokenizer.json is missing'),
        ('chat_template.jinja', lambda p: p.unlink(), 'no chat template'),
        ('model.safetensors', lambda p: p.unlink(), 'holds neither'),
        ('model.safetensors', lambda p: p.rename(p.with_suffix('.bin')), 'a pickle'),
        ('model.safetensors', lambda p: p.write_bytes(b''), 'is damaged'),
        ('model.safetensors', lambda p: p.write_bytes(struct.pack('<Q', 1 << 60)), 'is damaged'),
        ('model.safetensors', header('[]'), 'tensor table'),
        ('model.safetensors', header('[' * 100_000), 'tensor table'),
        ('model.safetensors', tensor(shape=[-2, 1]), 'tensor table'),
        ('model.safetensors', tensor(shape=['x']), 'tensor table'),
        ('model.safetensors', tensor(shape=[3]), r'a is F32 \[3\] in . bytes'),
        ('model.safetensors', tensor(data_offsets=['0', 4]), 'tensor table'),
        ('model.safetensors', tensor(data_offsets=[8, 4]), 'in -4 bytes'),
        ('model.safetensors', tensor(dtype=['F32']), 'unknown dtype'),
        ('model.safetensors', cut, 'announces .* bytes, and has'),
    ],
)
def test_inspect_refuses_damage_by_name(checkpoint, name, damage, expected):
    damage(checkpoint / name)
    with pytest.raises(CheckpointError, match=expected) as caught:
        inspect_checkpoint(checkpoint)
    assert '\n' not in str(caught.value)


def states(checks):
    return {check.name: check.state for check in checks}


def test_doctor_finds_what_this_environment_has(checkpoint):
    checks = cli_doctor.run_checks(checkpoint)
    found = states(checks)
    for name in (
        'python',
        'torch',
        'devices',
        'tokenizers',
        'llguidance',
        'rosbags',
        'ruamel.yaml',
        'checkpoint',
    ):
        assert found[name] == 'ok', name
    assert {'rclpy', 'middleware', 'gemma_node interfaces', 'nav2_msgs', 'bond'} <= set(found)
    texts = {check.name: check.text for check in checks}
    assert 'cpu' in texts['devices']
    assert f'{count():,} parameters' in texts['checkpoint']


@pytest.fixture
def no_devices(monkeypatch):
    check = cli_doctor.Check(name='devices', state='ok', text='none asked')
    monkeypatch.setattr(cli_doctor, '_devices', lambda: check)


@pytest.mark.usefixtures('no_devices')
def test_doctor_prints_json_and_exits_1_when_something_needed_is_missing(tmp_path, capsys):
    assert main(['doctor', '--model', str(tmp_path), '--json']) == 1
    report = json.loads(capsys.readouterr().out)
    assert report['ok'] is False
    (missing,) = (c for c in report['checks'] if c['name'] == 'checkpoint')
    assert missing['state'] == 'missing' and 'config.json' in missing['text']


@pytest.mark.usefixtures('no_devices')
def test_doctor_prints_a_table_and_a_verdict(tmp_path, capsys):
    assert main(['doctor', '--model', str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert 'checkpoint' in out and out.rstrip().endswith('something needed is missing')


@pytest.mark.usefixtures('no_devices')
def test_brackets_in_a_remedy_are_shown_as_written(monkeypatch, checkpoint, capsys):
    monkeypatch.setattr(cli_doctor, 'find_spec', lambda name: None)
    main(['doctor', '--model', str(checkpoint)])
    assert "pip install '.[ros]'" in ' '.join(capsys.readouterr().out.split())


def test_doctor_names_absent_packages_and_the_remedy(monkeypatch, checkpoint):
    monkeypatch.setattr(cli_doctor, 'find_spec', lambda name: None)
    monkeypatch.setattr(cli_doctor, '_version', lambda name: '')
    monkeypatch.setattr(cli_doctor.shutil, 'which', lambda name: None)
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    checks = cli_doctor.run_checks(checkpoint)
    found = states(checks)
    for name in ('torch', 'msgspec', 'rclpy', 'middleware', 'gemma_node interfaces'):
        assert found[name] == 'missing', name
    for name in ('rosbags', 'g++', 'nav2_msgs', 'tf2_msgs', 'bond', 'diagnostic_updater'):
        assert found[name] == 'optional', name
    texts = {check.name: check.text for check in checks}
    assert 'apt install g++' in texts['g++']
    assert 'source your ROS 2' in texts['rclpy']
    assert cli_doctor.is_missing(checks)


@pytest.mark.usefixtures('no_devices')
@pytest.mark.parametrize(('version', 'state'), [('2.7.1+cpu', 'missing'), ('2.10.0', 'ok')])
def test_doctor_compares_versions_as_numbers(monkeypatch, version, state):
    monkeypatch.setattr(cli_doctor, '_version', lambda name: version)
    assert cli_doctor._torch()[0].state == state


def test_doctor_survives_a_torch_that_cannot_be_imported():
    broken = SimpleNamespace(returncode=1, stdout='', stderr='x\nOSError: libcudart.so')
    check = cli_doctor._devices(run=lambda *_, **__: broken)
    assert (check.state, check.text) == (
        'missing',
        'torch cannot be imported: OSError: libcudart.so',
    )

    def slow(*_, **__):
        raise subprocess.TimeoutExpired('python', 1)

    assert 'took more than' in cli_doctor._devices(run=slow).text
