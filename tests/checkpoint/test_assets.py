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

"""The shipped checkpoint: its files, its size, and that it answers."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import eval_demo
import pytest
import train_demo

from demo_data import packing
from gemma_node.model.weights import load_model

SENTENCES = Path(__file__).parent / 'unseen.yaml'
MAX_NBYTES = 16_000_000
GEMMA_IDS = {
    '<pad>': 0, '<eos>': 1, '<bos>': 2, '<unk>': 3, '<mask>': 4, '<|tool>': 46, '<tool|>': 47,
    '<|tool_call>': 48, '<tool_call|>': 49, '<|tool_response>': 50, '<tool_response|>': 51,
    '<|"|>': 52, '<|think|>': 98, '<|channel>': 100, '<channel|>': 101, '<|turn>': 105,
    '<turn|>': 106,
}


def test_special_tokens_stand_where_gemma4_has_them() -> None:
    tokenizer = packing.load_writer().tokenizer
    assert dict(tokenizer.special_ids) == GEMMA_IDS
    assert tokenizer.encode_data('\n') == [107]
    assert set(tokenizer.stop_ids) == {1, 106, 50}


@pytest.mark.parametrize('text', [*'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789', 'Yes', 'No'])
def test_choices_are_single_tokens(text: str) -> None:
    assert len(packing.load_writer().tokenizer.encode_data(text)) == 1


@pytest.mark.parametrize('text', ['12.50 m', '2026', 'x=-0.35', '٣٤', 'a1b2'])
def test_digits_stand_alone(text: str) -> None:
    tokenizer = packing.load_writer().tokenizer
    pieces = [tokenizer.decode([i]) for i in tokenizer.encode_data(text)]
    assert ''.join(pieces) == text or '٣' in text
    assert all(sum(c.isdigit() for c in piece) <= 1 for piece in pieces)


def test_config_has_every_mechanism_of_the_family() -> None:
    raw = json.loads((packing.ASSETS / 'config.json').read_text(encoding='utf-8'))
    assert raw['num_kv_shared_layers'] > 0
    assert raw['head_dim'] != raw['global_head_dim']
    assert set(raw['layer_types']) == {'sliding_attention', 'full_attention'}
    assert raw['hidden_size_per_layer_input'] > 0
    assert raw['final_logit_softcapping'] == 30.0
    assert raw['tie_word_embeddings'] is True
    assert raw['max_position_embeddings'] >= 16384
    heads = raw['num_attention_heads']
    for size in (raw['hidden_size'], raw['intermediate_size'], raw['hidden_size_per_layer_input'],
                 heads * raw['head_dim'], heads * raw['global_head_dim']):
        assert size % 64 == 0


def test_weights_are_trained_and_small_enough_to_travel() -> None:
    assert sum(file.stat().st_size for file in packing.ASSETS.iterdir()) <= MAX_NBYTES
    model = load_model(packing.ASSETS)
    assert len({layer.layer_scalar.item() for layer in model.layers}) > 1
    assert 10_000_000 <= model.num_parameters <= 25_000_000


def test_matrices_are_quantised_but_those_of_the_per_layer_inputs() -> None:
    model = load_model(packing.ASSETS)
    forms = {name: module.form for name, module in model.named_modules()
             if hasattr(module, 'form') and name}
    plain = {name for name, form in forms.items() if form == 'bfloat16'}
    assert plain == {f'layers.{layer}.{name}' for layer in range(model.config.num_layers)
                     for name in ('per_layer_input_gate', 'per_layer_projection')}
    assert {forms[name] for name in forms.keys() - plain} == {'mlx-4bit/64'}


def test_a_tokenizer_is_learnt_the_same_again_and_laid_out_as_the_shipped_one(
    tmp_path: Path,
) -> None:
    found = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        train_demo.main(['tokenizer', '--packs', '8', '--out', str(folder)])
        found.append((folder / 'tokenizer.json').read_bytes())
    assert found[0] == found[1]
    learned, shipped = (
        json.loads(text) for text in (found[0], (packing.ASSETS / 'tokenizer.json').read_bytes()))
    assert learned['added_tokens'] == shipped['added_tokens']
    assert learned['pre_tokenizer'] == shipped['pre_tokenizer']
    assert len(learned['model']['vocab']) == len(shipped['model']['vocab']) == 8192


def test_the_embedded_checkpoint_answers_unseen_sentences() -> None:
    cases = eval_demo.read_cases(SENTENCES)[::9]
    assembly = eval_demo.load('', 1)
    scores = [eval_demo.judge(case, eval_demo.ask(assembly, case)) for case in cases]
    assert sum(score.has_tool for score in scores) >= 0.8 * len(scores), scores


@pytest.mark.slow
def test_all_unseen_sentences_reach_the_score_on_the_card() -> None:
    cases = eval_demo.read_cases(SENTENCES)
    assembly = eval_demo.load('', 2)
    scores = [eval_demo.judge(case, eval_demo.ask(assembly, case)) for case in cases]
    assert sum(score.has_tool for score in scores) >= 0.93 * len(scores)
    assert sum(score.is_exact for score in scores) >= 0.9 * len(scores)


def test_the_training_record_is_of_these_weights() -> None:
    file = packing.ROOT / 'benchmarks' / 'results' / 'train_demo_h200.json'
    record = json.loads(file.read_text(encoding='utf-8'))
    weights = (packing.ASSETS / 'model.safetensors').read_bytes()
    assert record['checkpoint_sha256'] == hashlib.sha256(weights).hexdigest()
    losses = [p['loss'] for run in record['runs'] for p in run['curve'] if 'loss' in p]
    assert losses[-1] < 0.1 * losses[0]
