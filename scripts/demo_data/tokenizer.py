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
Builds the demo checkpoint's tokenizer: byte-level BPE with Gemma 4's special tokens at their ids.

Merges are learnt from whatever texts it is given; ids 0..107 hold the special tokens where
Gemma 4 has them, bytes fill the gaps, merges follow.
"""

from __future__ import annotations

from collections.abc import Iterable
import json
from pathlib import Path
from typing import Any

from tokenizers import AddedToken
from tokenizers import decoders
from tokenizers import models
from tokenizers import pre_tokenizers
from tokenizers import Regex
from tokenizers import Tokenizer
from tokenizers import trainers

VOCAB_SIZE = 8192
SPECIAL_IDS = {
    '<pad>': 0,
    '<eos>': 1,
    '<bos>': 2,
    '<unk>': 3,
    '<mask>': 4,
    '<|tool>': 46,
    '<tool|>': 47,
    '<|tool_call>': 48,
    '<tool_call|>': 49,
    '<|tool_response>': 50,
    '<tool_response|>': 51,
    '<|"|>': 52,
    '<|think|>': 98,
    '<|channel>': 100,
    '<channel|>': 101,
    '<|turn>': 105,
    '<turn|>': 106,
}
NEWLINE_ID = 107
# One digit, one newline, words with their leading space, runs of punctuation, runs of space.
SPLIT = r'\n|\p{N}| ?[\p{L}\p{M}]+| ?[^\s\p{L}\p{M}\p{N}]+|[^\S\n]+(?!\S)|[^\S\n]'
_REQUIRED_MERGES = (('e', 's'), ('Y', 'es'), ('N', 'o'))


def train_tokenizer(texts: Iterable[str], vocab_size: int = VOCAB_SIZE) -> Tokenizer:
    """Learn merges from `texts` and lay the ids out as Gemma 4 does."""
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = _pre_tokenizer()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size + 64,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        min_frequency=2,
    )
    learner.train_from_iterator(texts, trainer)
    learned = json.loads(learner.to_str())['model']
    merges = [tuple(pair) for pair in learned['merges']]
    vocab, kept = _layout(merges, vocab_size)
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=kept))
    tokenizer.pre_tokenizer = _pre_tokenizer()
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, normalized=False) for t in SPECIAL_IDS])
    for text, token_id in SPECIAL_IDS.items():
        assert tokenizer.token_to_id(text) == token_id, text
    assert tokenizer.get_vocab_size() == vocab_size
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    """Write tokenizer.json and tokenizer_config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / 'tokenizer.json'))
    config: dict[str, Any] = {
        'tokenizer_class': 'PreTrainedTokenizerFast',
        'bos_token': '<bos>',
        'eos_token': '<eos>',
        'pad_token': '<pad>',
        'unk_token': '<unk>',
        'mask_token': '<mask>',
        'clean_up_tokenization_spaces': False,
        'add_bos_token': False,
        'model_max_length': 16384,
        'padding_side': 'left',
    }
    text = json.dumps(config, indent=2) + '\n'
    (folder / 'tokenizer_config.json').write_text(text, encoding='utf-8')


def _pre_tokenizer() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(SPLIT), behavior='isolated'),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])


def _layout(
    merges: list[tuple[str, str]], vocab_size: int
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Give every token its id: specials and newline fixed, bytes and merges around them."""
    newline = 'Ċ'
    vocab = dict(SPECIAL_IDS)
    vocab[newline] = NEWLINE_ID
    free = iter(sorted(set(range(vocab_size)) - set(vocab.values())))
    for letter in sorted(pre_tokenizers.ByteLevel.alphabet()):
        if letter != newline:
            vocab[letter] = next(free)
    wanted = [pair for pair in _REQUIRED_MERGES if pair not in merges]
    kept: list[tuple[str, str]] = []
    for pair in [*wanted, *merges]:
        joined = ''.join(pair)
        if len(vocab) == vocab_size:
            break
        if joined in vocab:
            if joined not in SPECIAL_IDS:
                kept.append(pair)
            continue
        vocab[joined] = next(free)
        kept.append(pair)
    for token_id in free:
        vocab[f'<unused{token_id}>'] = token_id
    return vocab, kept
