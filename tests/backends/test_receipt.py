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

"""What admission accepts of receipts, and what it says of those that do not fit."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest

from gemma_node.backends import base
from gemma_node.backends import receipt as receipts
from gemma_node.errors import ConfigError
from gemma_node.model.config import ModelConfig
from tests.fixtures import sources

DEVICE = {'name': 'Test 9000', 'architecture': 'sm_90'}
ENVELOPE = base.Envelope(lanes=4, context_tokens=256, state_budget_bytes=0)


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sources.write_standalone(tmp_path_factory.mktemp('covered') / 'checkpoint')


@pytest.fixture
def receipt(folder: Path) -> dict[str, Any]:
    """Return what would cover the device, without measurements."""
    return _signed(
        {
            'kind': receipts.KIND,
            'format': receipts.FORMAT,
            'passed': True,
            'identity': receipts.identity(folder, 'cuda', DEVICE),
            'envelope': receipts.limits(
                lanes=4, context_tokens=256, compute_dtype='bfloat16'
            ),
        }
    )


@pytest.fixture
def admit(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return an admission with a present device and the receipts of one folder."""
    present = dataclasses.replace(
        base.BACKENDS['cuda'],
        is_present=lambda: True,
        free_bytes=lambda: 1e12,
        describe=lambda: 'Test 9000',
        identity=lambda: DEVICE,
    )
    monkeypatch.setitem(base.BACKENDS, 'cuda', present)
    evidence = receipts.Evidence(checkpoint=folder, folders=(tmp_path / 'receipts',))

    def run(device: str = 'cuda', **changes: Any) -> base.Admission:
        return base.admit(
            ModelConfig.from_folder(folder),
            device=device,
            allow_unverified=changes.pop('allow_unverified', False),
            envelope=dataclasses.replace(ENVELOPE, **changes),
            evidence=evidence,
        )

    return run


def _signed(receipt: dict[str, Any]) -> dict[str, Any]:
    return receipt | {'digest': receipts.digest_of(receipt)}


def _put(tmp_path: Path, receipt: Any, name: str = 'one') -> None:
    (tmp_path / 'receipts').mkdir(exist_ok=True)
    (tmp_path / 'receipts' / f'{name}.json').write_text(json.dumps(receipt))


def test_a_whole_receipt_admits_the_device(
    receipt: dict[str, Any], admit: Any, tmp_path: Path
) -> None:
    _put(tmp_path, receipt)
    admission = admit()
    assert admission.verified
    assert admission.not_verified == ()
    assert admit('auto').device == 'cuda'
    assert admit(lanes=1, context_tokens=64).verified


def test_without_one_the_refusal_names_the_command_and_the_setting(
    admit: Any, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        admit()
    said = str(caught.value)
    assert f'`gemma-node receipts {folder} --device cuda`' in said
    assert 'allow_unverified: true' in said
    assert str(tmp_path / 'receipts') in said
    assert admit('auto').device == 'cpu'
    unverified = admit(allow_unverified=True)
    assert not unverified.verified
    assert 'no receipt covers cuda (Test 9000)' in unverified.not_verified[0]


def test_an_edited_receipt_fails_its_digest(
    receipt: dict[str, Any], admit: Any, tmp_path: Path
) -> None:
    receipt['envelope']['lanes'] = 64
    _put(tmp_path, receipt)
    with pytest.raises(ConfigError, match=r'one\.json was edited'):
        admit()


def test_a_pipe_instead_of_a_receipt_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / 'one.json')
    with pytest.raises(ConfigError, match='no plain file'):
        receipts.read_receipt(tmp_path / 'one.json')


@pytest.mark.parametrize(
    ('key', 'said'),
    [
        ('checkpoint', 'the checkpoint is not the one'),
        ('package', 'the package is not the one'),
        ('kernels', 'the kernels is not the one'),
        ('libraries', 'the libraries is not the one'),
        ('device', 'the device is not the one'),
        ('backend', 'the device kind is not the one'),
    ],
)
def test_a_receipt_of_something_else_does_not_cover(
    receipt: dict[str, Any], admit: Any, tmp_path: Path, key: str, said: str
) -> None:
    receipt['identity'][key] = 'other'
    _put(tmp_path, _signed(receipt))
    with pytest.raises(ConfigError, match=said):
        admit()


@pytest.mark.parametrize(
    ('changes', 'said'),
    [
        ({'lanes': 5}, 'lanes 5 was asked for, it was made with 4'),
        ({'context_tokens': 257}, 'context_tokens 257 was asked for, it was made with 256'),
    ],
)
def test_more_than_was_measured_is_not_covered(
    receipt: dict[str, Any], admit: Any, tmp_path: Path, changes: dict[str, int], said: str
) -> None:
    _put(tmp_path, receipt)
    with pytest.raises(ConfigError, match=said):
        admit(**changes)


@pytest.mark.parametrize('key', ['compute_dtype', 'kv_dtype', 'tile'])
def test_another_arithmetic_is_not_covered(
    receipt: dict[str, Any], admit: Any, tmp_path: Path, key: str
) -> None:
    receipt['envelope'][key] = 'other'
    _put(tmp_path, _signed(receipt))
    with pytest.raises(ConfigError, match=f'{key} .* was asked for'):
        admit()


def test_a_receipt_that_did_not_pass_covers_nothing(
    receipt: dict[str, Any], admit: Any, tmp_path: Path
) -> None:
    receipt['passed'] = False
    _put(tmp_path, _signed(receipt))
    with pytest.raises(ConfigError, match='its checks did not all pass'):
        admit()


@pytest.mark.parametrize('text', ['', '{', '[]', '{"kind": "other"}', '3', '[' * 100_000])
def test_damaged_files_are_passed_over_with_a_word(
    receipt: dict[str, Any], admit: Any, tmp_path: Path, text: str
) -> None:
    _put(tmp_path, receipt)
    (tmp_path / 'receipts' / 'bad.json').write_text(text)
    assert admit().verified
    (tmp_path / 'receipts' / 'one.json').unlink()
    with pytest.raises(ConfigError, match=r'bad\.json'):
        admit()


def test_one_that_fits_among_others_is_enough(
    receipt: dict[str, Any], admit: Any, tmp_path: Path
) -> None:
    _put(tmp_path, receipt, 'z')
    other = json.loads(json.dumps(receipt))
    other['identity']['device'] = {'name': 'Other'}
    _put(tmp_path, _signed(other), 'a')
    assert admit().verified


def test_receipts_are_looked_for_beside_the_checkpoint_and_in_the_state_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path))
    assert receipts.receipts_folder() == tmp_path / 'gemma_node' / 'receipts'
    evidence = receipts.Evidence.of(folder)
    assert evidence.folders == (folder / 'receipts', receipts.receipts_folder())
    monkeypatch.setenv('XDG_STATE_HOME', '')
    assert receipts.receipts_folder().parts[-4:] == ('.local', 'state', 'gemma_node', 'receipts')


def test_a_user_without_a_home_can_still_be_admitted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv('XDG_STATE_HOME', raising=False)
    monkeypatch.setattr('os.path.expanduser', lambda path: path)
    assert not receipts.receipts_folder().is_absolute()
    wanted = receipts.limits(lanes=1, context_tokens=64, compute_dtype='float32')
    assert 'there is none' in receipts.Evidence.of(folder).gap('cpu', DEVICE, wanted)


@pytest.mark.parametrize('name', ['demo-cpu-float32', 'nvidia-h200-demo-bfloat16'])
def test_records_in_the_documents_are_whole_and_cover_what_they_were_made_with(name: str) -> None:
    file = Path(__file__).resolve().parents[2] / 'docs' / 'receipts' / f'{name}.json'
    record = receipts.read_receipt(file)
    here, envelope = record['identity'], record['envelope']
    assert receipts.shortfall(record, here, envelope) == ''
    more = {**envelope, 'lanes': envelope['lanes'] + 1}
    assert 'lanes' in receipts.shortfall(record, here, more)
    changed = {**here, 'kernels': 'of another commit'}
    assert 'kernels' in receipts.shortfall(record, changed, envelope)
    assert all(each['caught'] for each in record['mutations'])
