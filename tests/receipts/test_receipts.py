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

"""Receipts: every planted fault turns its check red, and so does a real one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from gemma_node.backends.receipt import digest_of
from gemma_node.engine import native_runner
from gemma_node.engine import torch_runner
from gemma_node.errors import CheckpointError
from gemma_node.errors import ConfigError
from gemma_node.quant.convert import convert
from gemma_node.receipts import registry
from gemma_node.receipts import report
from gemma_node.receipts.bench import twin
from gemma_node.receipts.checks import Finding
from gemma_node.receipts.checks import Mutation
from gemma_node.receipts.checks import NotRun
from gemma_node.receipts.projections import Projections
from gemma_node.receipts.reach import Reach
from gemma_node.receipts.report import make_receipt
from gemma_node.receipts.report import Order
from gemma_node.receipts.report import write_receipt
from gemma_node.receipts.scalars import Scalars
from tests.fixtures import sources

# Seconds each alone, many times that beside other work.
pytestmark = pytest.mark.timeout(600)

FORWARD = {
    'window 15', 'window 17', 'KV source of sliding layers 0, not 2',
    'KV source of full layers 1, not 3', 'per-layer table row + 1',
    'layer_scalar of layer 3 + 1 %', 'norm weights + 1', 'embedding scale + 1 %',
    'per-layer table scale skipped', 'rotary factor of full layers 0.5',
    'theta of full layers / 10', 'theta of sliding layers x 10',
    'frequencies of full layers halved', 'softcap skipped', 'q_norm skipped', 'k_norm skipped',
    'v_norm skipped', 'mask shifted by one', 'per-layer inputs of the next layer',
    'per-layer projection scale skipped', 'per-layer mixing scale skipped',
    'scores divided by sqrt(size)',
}  # fmt: skip
BITS = {
    'window 15', 'window 17', 'a token that the row does see is changed as if it came later',
    'layer 4 reads layer 0, not 2', 'layer 5 reads layer 1, not 3',
}  # fmt: skip
SCALARS = {f'layer_scalar of layer {index} + 1 %' for index in (0, 2, 4)}
STATES = {
    'prompt state: slots off by one', 'prompt state: the newest row lost',
    'prompt state: sliding layers not restored', 'prompt state: keys and values exchanged',
    'resumed with window 15', 'resumed with window 17',
}  # fmt: skip


def order(path: Path, **fields: Any) -> Order:
    fields = {'lanes': 2, 'context_tokens': 256, 'quick': True, **fields}
    return Order(checkpoint=path, **fields)


@pytest.fixture
def _without_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the exactness gate, which has tests of its own."""
    few = tuple(check for check in registry.CHECKS if check.name != 'exactness')
    monkeypatch.setattr(report, 'CHECKS', few)


@pytest.fixture(scope='module')
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('receipts') / 'source'
    return sources.write_standalone(folder, vocab_size=768)


@pytest.fixture(scope='module')
def receipt(source: Path) -> dict[str, Any]:
    return make_receipt(order(source))


def faults(receipt: dict[str, Any], check: str) -> set[str]:
    return {each['fault'] for each in receipt['mutations'] if each['check'] == check}


def not_run(receipt: dict[str, Any], check: str) -> set[str]:
    start = f'{check}: '
    return {
        each['what'].removeprefix(start)
        for each in receipt['not_run']
        if each['what'].startswith(start)
    }


def test_every_check_is_green_and_every_planted_fault_turns_its_check_red(
    receipt: dict[str, Any],
) -> None:
    assert {name: check['passed'] for name, check in receipt['checks'].items()} == {
        check.name: True for check in registry.CHECKS
    }
    assert [each for each in receipt['mutations'] if not each['caught']] == []
    assert receipt['passed'] is True


def test_every_fault_of_the_list_is_planted_or_said_to_be_invisible(
    receipt: dict[str, Any],
) -> None:
    planted, invisible = faults(receipt, 'forced_tokens'), not_run(receipt, 'forced_tokens')
    assert planted | invisible == FORWARD
    # A norm follows the two scales, so that they change nothing but its epsilon's share.
    assert invisible <= {'per-layer projection scale skipped', 'per-layer mixing scale skipped'}
    assert faults(receipt, 'known_faults') <= planted
    assert faults(receipt, 'edges') == STATES
    assert faults(receipt, 'reach') == BITS
    assert faults(receipt, 'scalars') == SCALARS
    in_model = [each for each in receipt['mutations'] if each['planted_in'] == 'what serves']
    assert len(in_model) > 30


@pytest.mark.usefixtures('_without_gate')
@pytest.mark.parametrize(
    ('recipe', 'expected'),
    [
        (
            'mlx-4bit',
            {
                'mlx-4bit/64: other order of nibbles', 'mlx-4bit/64: scales of the next group',
                'mlx-4bit/64: biases of the next group', 'mlx-4bit/64: rows of the next output',
            },
        ),
        (
            'nvfp4a16',
            {'nvfp4: other order of nibbles', 'nvfp4: scales of the next group'},
        ),
    ],
)  # fmt: skip
def test_faults_of_packed_weights_are_caught(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recipe: str, expected: set[str]
) -> None:
    convert(source, tmp_path / 'made', recipe)
    if recipe != 'mlx-4bit':
        # One form goes through everything, the others through what reads weights.
        monkeypatch.setattr(report, 'CHECKS', (Projections(), Scalars()))
    receipt = make_receipt(order(tmp_path / 'made'))
    assert receipt['passed'] is True
    assert expected <= faults(receipt, 'projections')


@pytest.mark.usefixtures('_without_gate')
def test_bfloat16_is_held_to_its_own_eager_pass_and_says_what_it_cannot_tell(
    source: Path,
) -> None:
    receipt = make_receipt(order(source, dtype='bfloat16'))
    assert receipt['passed'] is True
    assert receipt['envelope']['compute_dtype'] == 'bfloat16'
    measured = receipt['checks']['forced_tokens']['measured']['start']
    assert measured['logit_mean'] > 1e-4
    for check in ('forced_tokens', 'known_faults'):
        known = faults(receipt, check) | not_run(receipt, check)
        assert known <= FORWARD
    assert faults(receipt, 'forced_tokens') | not_run(receipt, 'forced_tokens') == FORWARD
    # What rounding hides in logits is seen in bits.
    assert faults(receipt, 'reach') == BITS
    assert faults(receipt, 'scalars') == SCALARS


@pytest.mark.usefixtures('_without_gate')
@pytest.mark.parametrize(('step', 'dtype'), [(-1, 'float32'), (1, 'bfloat16')])
def test_a_wrong_window_in_what_serves_is_found(
    source: Path, monkeypatch: pytest.MonkeyPatch, step: int, dtype: str
) -> None:
    class WrongModel(native_runner.NativeModel):
        def __init__(self, model: Any, **fields: Any) -> None:
            window = model.config.sliding_window + step
            super().__init__(twin(model, replace(model.config, sliding_window=window)), **fields)

    class WrongLayout(torch_runner.CacheLayout):
        def __init__(self, config: Any, **fields: Any) -> None:
            wrong = replace(config, sliding_window=config.sliding_window + step)
            super().__init__(wrong, **fields)

    monkeypatch.setattr(native_runner, 'NativeModel', WrongModel)
    monkeypatch.setattr(torch_runner, 'CacheLayout', WrongLayout)
    receipt = make_receipt(order(source, dtype=dtype))
    if dtype == 'float32':
        assert receipt['checks']['forced_tokens']['passed'] is False
        assert receipt['checks']['known_faults']['passed'] is False
    assert receipt['checks']['reach']['passed'] is False
    assert receipt['checks']['reach']['measured']['wrong']
    assert receipt['passed'] is False


def test_a_mask_that_shows_the_next_token_is_found(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Wrong(torch_runner.CacheLayout):
        def __init__(self, config: Any, **fields: Any) -> None:
            super().__init__(config, **fields)
            self._causal_mask.diagonal(1).zero_()

    monkeypatch.setattr(torch_runner, 'CacheLayout', Wrong)
    monkeypatch.setattr(report, 'CHECKS', (Reach(),))
    receipt = make_receipt(order(source, dtype='bfloat16'))
    wrong = receipt['checks']['reach']['measured']['wrong']
    assert any('prefill sees token' in each for each in wrong)
    assert receipt['passed'] is False


@pytest.mark.usefixtures('_without_gate')
def test_a_state_that_is_restored_wrongly_in_what_serves_is_found(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = native_runner.NativeRunner.restore

    def wrong(self: Any, lane: int, snapshot: Any) -> None:
        right(self, lane, snapshot)
        self._pools[0].view(int(self._pages[0][lane, 0])).zero_()

    monkeypatch.setattr(native_runner.NativeRunner, 'restore', wrong)
    receipt = make_receipt(order(source))
    assert receipt['checks']['edges']['passed'] is False
    assert receipt['checks']['edges']['measured']['different']
    assert receipt['passed'] is False


class Blind:
    """A check that sees nothing."""

    name = 'blind'
    title = 'sees nothing'

    def lacks(self, bench: Any) -> str:
        return ''

    def run(self, bench: Any) -> Finding:
        return Finding(passed=True, measured={'value': float('nan')})

    def mutations(self, bench: Any) -> Iterator[Mutation | NotRun]:
        yield Mutation(fault='anything', planted_in='nothing', run=lambda: self.run(bench))


class Unproven(Blind):
    """A check without a fault that would turn it red."""

    name = 'unproven'

    def mutations(self, bench: Any) -> Iterator[Mutation | NotRun]:
        yield NotRun(what='unproven: all', why='no reason')


class Absent(Blind):
    """A check that cannot run here."""

    name = 'absent'

    def lacks(self, bench: Any) -> str:
        return 'no such device'


@pytest.mark.parametrize('check', [Blind(), Unproven()])
def test_a_check_that_misses_its_fault_or_has_none_makes_no_receipt(
    source: Path, monkeypatch: pytest.MonkeyPatch, check: Any
) -> None:
    monkeypatch.setattr(report, 'CHECKS', (check,))
    receipt = make_receipt(order(source))
    assert receipt['passed'] is False
    assert receipt['checks'][check.name]['measured'] == {'value': 'nan'}


def test_what_cannot_run_is_listed_with_its_reason(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, 'CHECKS', (registry.CHECKS[0], Absent()))
    receipt = make_receipt(order(source))
    assert {'what': 'absent', 'why': 'no such device'} in receipt['not_run']
    assert receipt['passed'] is True


def test_a_context_within_the_window_says_so(source: Path) -> None:
    receipt = make_receipt(order(source, context_tokens=16))
    assert receipt['passed'] is True
    assert 'edges' in {each['what'] for each in receipt['not_run']}
    reasons = {each['why'] for each in receipt['not_run']}
    assert 'the context is not longer than the sliding window' in reasons


def test_the_receipt_is_bound_to_what_it_was_made_of(
    receipt: dict[str, Any], source: Path, tmp_path: Path
) -> None:
    bound = receipt['identity']
    assert bound['backend'] == 'cpu'
    assert len({bound['checkpoint'], bound['package'], bound['kernels']}) == 3
    assert bound['libraries']['torch'] == torch.__version__.partition('+')[0] or bound['libraries']
    assert receipt['envelope'] == {
        'lanes': 2, 'context_tokens': 256, 'compute_dtype': 'float32', 'kv_dtype': 'auto',
        'tile': 64,
    }  # fmt: skip
    assert receipt['digest'] == digest_of(receipt)
    text = write_receipt(receipt, tmp_path / 'receipt.json').read_text()
    assert json.loads(text) == receipt
    assert str(source) not in text
    assert list(tmp_path.iterdir()) == [tmp_path / 'receipt.json']


def test_what_is_not_kept_is_computed_again(
    receipt: dict[str, Any], source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('gemma_node.receipts.bench._KEPT', 0)
    monkeypatch.setattr(report, 'CHECKS', (registry.CHECKS[0],))
    again = make_receipt(order(source))
    name = 'forced_tokens'
    assert again['checks'][name]['measured'] == receipt['checks'][name]['measured']


def test_only_times_change_from_run_to_run(receipt: dict[str, Any], source: Path) -> None:
    again = make_receipt(order(source))
    for name, check in receipt['checks'].items():
        assert again['checks'][name]['measured'] == check['measured']
    assert again['identity'] == receipt['identity']


@pytest.mark.parametrize(
    ('fields', 'said'),
    [
        ({'device': 'auto'}, 'cpu, cuda, xpu'),
        ({'dtype': 'float16'}, 'auto, float32, bfloat16'),
        ({'kv_dtype': 'int8'}, 'kv_dtype must be one of auto, float32, bfloat16, float8'),
        ({'lanes': 0}, 'lanes must be >= 1'),
        ({'context_tokens': 1 << 20}, 'the checkpoint goes to 512'),
    ],
)
def test_wrong_orders_are_named(source: Path, fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        make_receipt(order(source, **fields))


def test_a_tokenizer_of_another_model_is_named(tmp_path: Path) -> None:
    folder = sources.write_standalone(tmp_path / 'source', vocab_size=300)
    with pytest.raises(CheckpointError, match=r'tokenizer gives id \d+, the model has 300'):
        make_receipt(order(folder))


def test_missing_folders_are_named(source: Path, tmp_path: Path, receipt: dict[str, Any]) -> None:
    with pytest.raises(CheckpointError, match='no checkpoint folder'):
        make_receipt(order(tmp_path / 'absent'))
    with pytest.raises(ConfigError, match='there is no folder'):
        write_receipt(receipt, tmp_path / 'absent' / 'receipt.json')
