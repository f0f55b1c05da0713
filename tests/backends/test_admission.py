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


"""Which device may serve, with which arithmetic, and what the refusals say."""

from __future__ import annotations

import dataclasses
import math
import re

import pytest

from gemma_node.backends import base
from gemma_node.backends import cpu
from gemma_node.core import ErrorCode
from gemma_node.errors import ConfigError
from gemma_node.errors import RequestError
from gemma_node.model.config import FULL
from gemma_node.model.config import ModelConfig
from gemma_node.model.config import SLIDING

MIB = 1 << 20
ENVELOPE = base.Envelope(lanes=8, context_tokens=4096, state_budget_bytes=64 * MIB)


@pytest.fixture
def config() -> ModelConfig:
    """Return a shape of a few million weights."""
    return ModelConfig.from_mapping(
        {
            'model_type': 'gemma4_text',
            'vocab_size': 2048,
            'hidden_size': 256,
            'intermediate_size': 1024,
            'num_hidden_layers': 6,
            'num_attention_heads': 4,
            'num_key_value_heads': 2,
            'head_dim': 64,
            'global_head_dim': 128,
            'hidden_size_per_layer_input': 64,
            'num_kv_shared_layers': 2,
            'layer_types': [SLIDING, SLIDING, SLIDING, FULL, SLIDING, FULL],
            'sliding_window': 512,
            'max_position_embeddings': 16384,
        }
    )


def _admit(config: ModelConfig, device: str = 'cpu', **changes: bool) -> base.Admission:
    return base.admit(
        config,
        device=device,
        allow_unverified=changes.get('allow_unverified', False),
        envelope=ENVELOPE,
    )


def _with_free(monkeypatch: pytest.MonkeyPatch, name: str, free: float) -> None:
    present = dataclasses.replace(
        base.BACKENDS[name],
        is_present=lambda: True,
        free_bytes=lambda: free,
        describe=lambda: 'Test 9000',
    )
    monkeypatch.setitem(base.BACKENDS, name, present)


def test_cpu_is_the_reference_and_needs_no_receipt(config: ModelConfig) -> None:
    admission = _admit(config)
    assert admission.verified
    assert admission.not_verified == ()
    assert (admission.device, admission.compute_dtype) == ('cpu', 'float32')


def test_auto_stays_on_the_cpu_while_no_receipt_exists(
    config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_free(monkeypatch, 'cuda', math.inf)
    assert _admit(config, 'auto').device == 'cpu'
    assert _admit(config, 'auto', allow_unverified=True).device == 'cuda'


@pytest.mark.parametrize('device', ['cuda', 'xpu'])
def test_an_uncovered_device_is_refused_with_the_way_out(
    config: ModelConfig, monkeypatch: pytest.MonkeyPatch, device: str
) -> None:
    _with_free(monkeypatch, device, math.inf)
    with pytest.raises(ConfigError, match=r'no receipt covers.*gemma-node receipts.*allow_unv'):
        _admit(config, device)
    admission = _admit(config, device, allow_unverified=True)
    assert not admission.verified
    assert 'Test 9000' in admission.not_verified[0]


def test_an_absent_device_is_refused(
    config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = dataclasses.replace(base.BACKENDS['cuda'], is_present=lambda: False)
    monkeypatch.setitem(base.BACKENDS, 'cuda', absent)
    with pytest.raises(ConfigError, match='finds no cuda device'):
        _admit(config, 'cuda', allow_unverified=True)


def test_an_unknown_device_lists_the_choices(config: ModelConfig) -> None:
    with pytest.raises(ConfigError, match='auto, cpu, cuda, xpu'):
        _admit(config, 'tpu')


def test_a_lacking_feature_is_named(config: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    poor = dataclasses.replace(base.BACKENDS['cpu'], features=frozenset({'separate_kv'}))
    monkeypatch.setitem(base.BACKENDS, 'cpu', poor)
    with pytest.raises(ConfigError, match=r'per_layer_inputs.*shared_kv.*sliding_window'):
        _admit(config)


def test_bfloat16_is_chosen_where_float32_would_not_fit(
    config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = sum(base.memory_needed(config, ENVELOPE, 'float32').values())
    _with_free(monkeypatch, 'cpu', wide - 1)
    assert _admit(config).compute_dtype == 'bfloat16'
    _with_free(monkeypatch, 'cpu', wide)
    assert _admit(config).compute_dtype == 'float32'


@pytest.mark.parametrize(
    ('short_of', 'named'),
    [
        (('states',), 'engine.state_budget_mb <= '),
        (('states', 'lanes'), 'engine.lanes 1, engine.context_tokens <= '),
        (('states', 'lanes', 'weights'), 'smaller checkpoint'),
    ],
)
def test_a_memory_refusal_names_what_fits_and_it_does(
    config: ModelConfig, monkeypatch: pytest.MonkeyPatch, short_of: tuple[str, ...], named: str
) -> None:
    needed = base.memory_needed(config, ENVELOPE, 'bfloat16')
    free = sum(size for part, size in needed.items() if part not in short_of) + MIB
    if 'weights' in short_of:
        free = MIB
    _with_free(monkeypatch, 'cpu', free)
    with pytest.raises(RequestError) as caught:
        _admit(config)
    assert caught.value.code == ErrorCode.OUT_OF_MEMORY
    assert named in str(caught.value)


def test_fewer_lanes_named_by_the_refusal_are_admitted(
    config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = dataclasses.replace(ENVELOPE, lanes=64, state_budget_bytes=MIB)
    needed = base.memory_needed(config, many, 'bfloat16')
    free = needed['weights'] + needed['states'] + needed['lanes'] // 2 - MIB
    _with_free(monkeypatch, 'cpu', free)
    with pytest.raises(RequestError, match=r'engine\.lanes <= \d+ fits') as caught:
        base.admit(config, device='cpu', allow_unverified=False, envelope=many)
    lanes = int(re.findall(r'lanes <= (\d+)', str(caught.value))[0])
    assert 1 <= lanes < 32
    fewer = dataclasses.replace(many, lanes=lanes)
    assert base.admit(config, device='cpu', allow_unverified=False, envelope=fewer)
    more = dataclasses.replace(many, lanes=lanes + 1)
    with pytest.raises(RequestError):
        base.admit(config, device='cpu', allow_unverified=False, envelope=more)


def test_free_memory_is_read_and_plausible() -> None:
    assert 64 * MIB < cpu.free_bytes() < 1 << 50
    assert cpu.describe()
