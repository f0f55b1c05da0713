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

"""The random checkpoint for rehearsals: whole, loadable, reproducible, and counted right."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
import sys

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'scripts'))

import make_random_e4b as maker  # noqa: E402
from random_e4b_measure import check  # noqa: E402
from random_e4b_tokenizer import SPECIAL  # noqa: E402
from random_e4b_tokenizer import tokenizer_description  # noqa: E402

from gemma_node.model.weights import load_model  # noqa: E402
from gemma_node.text.tokenizer import Tokenizer  # noqa: E402

GOOD = {'replies': 200, 'different_replies': 200, 'least_distinct_ids': 24, 'logit_std': 3.5,
        'entropy_nats': 2.5}


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp('random') / 'tiny'
    maker.write_folder(out, 'tiny', 1, 'cpu')
    return out


def test_the_full_geometry_has_the_published_number_of_parameters_and_tensors() -> None:
    plan = list(maker.tensors(maker.text_config('e4b')))
    assert len(plan) == 719
    assert sum(math.prod(shape) for _, shape, _, _ in plan) == 7_518_069_034


def test_the_folder_loads_and_gives_finite_logits(folder: Path) -> None:
    model = load_model(folder)
    with torch.inference_mode():
        logits = model(torch.tensor([[2, 600, 700, 800]])).float()
    assert logits.shape == (1, 4, 4096)
    assert torch.isfinite(logits).all()
    assert logits.std() > 1


def test_its_tokenizer_loads_with_gemma_ids(folder: Path) -> None:
    tokenizer = Tokenizer.from_folder(folder)
    assert tokenizer.vocab_size == 4096
    text = 'Go to (1.5, -2) <|tool_call>\n\u00e9'
    ids = tokenizer.encode_data(text)
    assert tokenizer.decode(ids) == text
    assert SPECIAL['<|tool_call>'] not in ids


def test_a_tokenizer_of_full_size_has_every_id_once() -> None:
    vocab = tokenizer_description(262144)['model']['vocab']
    assert sorted(vocab.values()) == list(range(262144))
    assert vocab['<|tool_call>'] == 48
    assert vocab['<image|>'] == 258882


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(
    folder: Path, tmp_path: Path
) -> None:
    for name, seed in (('again', 1), ('other', 2)):
        maker.write_folder(tmp_path / name, 'tiny', seed, 'cpu')
    weights = [sha256(p / 'model.safetensors') for p in (folder, *map(tmp_path.joinpath,
                                                                      ('again', 'other')))]
    assert weights[0] == weights[1] != weights[2]


def test_an_existing_folder_is_left_alone_and_a_failure_leaves_none(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = json.loads((folder / 'random_e4b.json').read_text())
    with pytest.raises(SystemExit, match='exists'):
        maker.write_folder(folder, 'tiny', 3, 'cpu')
    assert json.loads((folder / 'random_e4b.json').read_text()) == before

    def full_disk(*_: object) -> int:
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(maker, 'write_weights', full_disk)
    with pytest.raises(OSError, match='No space'):
        maker.write_folder(tmp_path / 'new', 'tiny', 1, 'cpu')
    assert list(tmp_path.iterdir()) == []


def test_figures_fit_for_rehearsal_pass() -> None:
    check(GOOD)


@pytest.mark.parametrize(('key', 'value'), [
    ('logit_std', 2.0), ('entropy_nats', 6.0), ('different_replies', 199),
    ('least_distinct_ids', 11)])
def test_unfit_figures_are_named(key: str, value: float) -> None:
    with pytest.raises(ValueError, match=str(value)):
        check(GOOD | {key: value})
