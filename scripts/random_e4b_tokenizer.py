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
A tokenizer.json of Gemma's form and size without Gemma's words.

Byte-fallback BPE, spaces as U+2581, special tokens at Gemma 4's ids; its pieces are runs of
letters, shortest first, until the vocabulary is full.
"""

from __future__ import annotations

from collections.abc import Iterator
import itertools
import json
from pathlib import Path
import string
from typing import Any

SPECIAL = {
    '<pad>': 0, '<eos>': 1, '<bos>': 2, '<unk>': 3, '<mask>': 4,
    '<|tool>': 46, '<tool|>': 47, '<|tool_call>': 48, '<tool_call|>': 49,
    '<|tool_response>': 50, '<tool_response|>': 51, '<|"|>': 52, '<|think|>': 98,
    '<|channel>': 100, '<channel|>': 101, '<|turn>': 105, '<turn|>': 106,
    '<|image>': 255999, '<|audio>': 256000, '<|image|>': 258880, '<|audio|>': 258881,
    '<image|>': 258882, '<audio|>': 258883, '<|video|>': 258884,
}
NEWLINE = 107
FIRST_BYTE = 110
SPACE = '\u2581'
# Frequent letters first: with 262,144 entries only some of the runs of four letters fit.
_ORDER = 'etaoinshrdlucmfwypvbgkjqxz'


def write_tokenizer(folder: Path, vocab_size: int) -> None:
    """Write tokenizer.json and tokenizer_config.json with exactly `vocab_size` entries."""
    (folder / 'tokenizer.json').write_text(
        json.dumps(tokenizer_description(vocab_size), ensure_ascii=False), encoding='utf-8')
    (folder / 'tokenizer_config.json').write_text(json.dumps(
        {'bos_token': '<bos>', 'eos_token': '<eos>', 'pad_token': '<pad>', 'unk_token': '<unk>',
         'tokenizer_class': 'GemmaTokenizer'}, indent=1) + '\n')


def tokenizer_description(vocab_size: int) -> dict[str, Any]:
    """Return the content of a tokenizer.json."""
    vocab: dict[str, int] = {}
    taken = {i for i in SPECIAL.values() if i < vocab_size}
    vocab |= {token: i for token, i in SPECIAL.items() if i < vocab_size}
    vocab['\n'] = NEWLINE
    vocab |= {f'<0x{byte:02X}>': FIRST_BYTE + byte for byte in range(256)}
    taken |= {NEWLINE, *range(FIRST_BYTE, FIRST_BYTE + 256)}
    vocab |= {f'<unused{i}>': i for i in range(FIRST_BYTE) if i not in taken}
    free = (i for i in range(FIRST_BYTE + 256, vocab_size) if i not in taken)
    merges: list[list[str]] = []
    for piece, parts in _pieces():
        number = next(free, None)
        if number is None:
            break
        vocab[piece] = number
        if parts:
            merges.append(list(parts))
    if len(vocab) != vocab_size:
        raise ValueError(f'{len(vocab)} entries made, {vocab_size} asked for')
    added = [{'id': i, 'content': token, 'single_word': False, 'lstrip': False, 'rstrip': False,
              'normalized': False, 'special': True}
             for token, i in sorted(SPECIAL.items(), key=lambda item: item[1]) if i < vocab_size]
    return {
        'version': '1.0', 'truncation': None, 'padding': None, 'added_tokens': added,
        'normalizer': {'type': 'Replace', 'pattern': {'String': ' '}, 'content': SPACE},
        'pre_tokenizer': None, 'post_processor': None,
        'decoder': {'type': 'Sequence', 'decoders': [
            {'type': 'Replace', 'pattern': {'String': SPACE}, 'content': ' '},
            {'type': 'ByteFallback'}, {'type': 'Fuse'}]},
        'model': {'type': 'BPE', 'dropout': None, 'unk_token': '<unk>',
                  'continuing_subword_prefix': None, 'end_of_word_suffix': None,
                  'fuse_unk': True, 'byte_fallback': True, 'ignore_merges': False,
                  'vocab': vocab, 'merges': merges},
    }


def _pieces() -> Iterator[tuple[str, tuple[str, str] | None]]:
    """Yield pieces and the two that merge into each; parts come before what they make."""
    for sign in (*string.digits, *string.ascii_letters, *string.punctuation, SPACE):
        yield sign, None
    for run in (SPACE * 2, SPACE * 4, SPACE * 8):
        yield run, (run[: len(run) // 2],) * 2
    for length in itertools.count(1):
        for letters in itertools.product(_ORDER, repeat=length):
            run = ''.join(letters)
            if length > 1:
                yield run, (run[:-1], run[-1])
            if length < 4:
                yield SPACE + run, (SPACE + run[:-1], run[-1])
