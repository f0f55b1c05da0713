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

"""The `receipts` verb on the embedded checkpoint and its mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gemma_node.backends.receipt import read_receipt
from gemma_node.cli import EMBEDDED_CHECKPOINT
from gemma_node.cli import main
from gemma_node.receipts import registry
from gemma_node.receipts import report
from tests.fixtures import sources


@pytest.fixture(scope='module')
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('receipts') / 'source'
    return sources.write_standalone(folder, vocab_size=768)


# Half a minute alone, many times that beside other work.
@pytest.mark.timeout(900)
def test_the_embedded_checkpoint_passes_quickly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / 'receipt.json'
    assert main(['receipts', str(EMBEDDED_CHECKPOINT), '--quick', '--out', str(out)]) == 0
    said = capsys.readouterr().out
    assert 'passed' in said
    assert 'missed' not in said
    receipt = read_receipt(out)
    assert receipt['passed'] is True
    assert all(each['caught'] for each in receipt['mutations'])
    window = receipt['checks']['forced_tokens']['measured']['window']
    assert window['top1_agreement'] == 1.0
    assert window['kl_mean'] < 1e-9
    planted = {each['fault'] for each in receipt['mutations']}
    assert {'window 511', 'window 513'} <= planted


def test_the_default_place_is_where_the_node_looks(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path))
    monkeypatch.setattr(report, 'CHECKS', registry.CHECKS[2:3])
    assert main(['receipts', str(source), '--quick', '--lanes', '1', '--json']) == 0
    printed = json.loads(capsys.readouterr().out)
    (file,) = (tmp_path / 'gemma_node' / 'receipts').iterdir()
    assert file.name.endswith('-cpu-float32.json')
    assert read_receipt(file) == printed


def test_a_red_check_is_exit_code_1_and_written_down(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    chosen = tuple(check for check in registry.CHECKS if check.name == 'projections')
    monkeypatch.setattr(report, 'CHECKS', chosen)
    monkeypatch.setattr('gemma_node.receipts.projections._FACTOR', 0.0)
    out = tmp_path / 'receipt.json'
    assert main(['receipts', str(source), '--quick', '--lanes', '1', '--out', str(out)]) == 1
    assert 'covers nothing' in capsys.readouterr().out
    assert read_receipt(out)['passed'] is False


def test_mistakes_are_one_sentence(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['receipts', str(tmp_path / 'absent')]) == 2
    assert 'no checkpoint folder' in capsys.readouterr().err
    assert main(['receipts', str(source), '--device', 'cuda']) == 2
    assert 'no cuda device' in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_said_before_anything_is_measured(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def never(*_: object) -> None:
        raise AssertionError('measured')

    monkeypatch.setattr(report, 'make_receipt', never)
    assert main(['receipts', str(source), '--out', str(tmp_path)]) == 2
    assert f'{tmp_path} is a folder' in capsys.readouterr().err
    assert main(['receipts', str(source), '--out', str(tmp_path / 'no' / 'x.json')]) == 2
    assert 'there is no folder' in capsys.readouterr().err
