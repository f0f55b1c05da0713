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

"""The texts that the demo tokenizer's merges are learnt from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
import re

from demo_data import words
from demo_data.catalogues import ROOT
from demo_data.packing import draw_pack
from demo_data.packing import load_writer
from demo_data.tokenizer import SPECIAL_IDS

_WORD = re.compile(r'[A-Za-z]+')
_MARKER = re.compile('|'.join(map(re.escape, SPECIAL_IDS)))
_LISTS = (
    words.PLACES, words.OBJECTS, words.SURFACES, words.PEOPLE, words.STATEMENTS, words.GENERAL,
    words.DISTRACTORS, words.DIAGNOSES, words.GROUPS, words.ADJECTIVES, words.COLOURS,
)


def corpus(seed: int, num_packs: int, assets: Path) -> list[str]:
    """
    Return training conversations without invented words, word lists, and interface comments.

    Needs a tokenizer already, in `assets`: conversations are written with it and read back.
    """
    texts = [*_conversations(seed, num_packs, assets), *_interfaces()]
    counts = Counter(word for text in texts for word in _WORD.findall(text))
    texts = [_WORD.sub(lambda w: w.group() if counts[w.group()] > 3 else '', t) for t in texts]
    for group in _LISTS:
        for item in group:
            texts += [item, f' {item}', f' {item}']
    return [re.sub(' +', ' ', text) for text in texts if text.strip()]


def _conversations(seed: int, num_packs: int, assets: Path) -> Iterator[str]:
    writer = load_writer(assets)
    for index in range(num_packs):
        pack = draw_pack(writer, seed, index, 8)
        for ids in (pack.prefix, *(tail.ids for tail in pack.tails)):
            yield from filter(None, _MARKER.split(writer.tokenizer.decode(ids)))


def _interfaces() -> Iterator[str]:
    for folder in ('msg', 'srv', 'action'):
        for file in sorted((ROOT / folder).iterdir()):
            yield file.read_text(encoding='utf-8')
