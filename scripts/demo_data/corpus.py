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
from gemma_node.decision.prompt import PromptWriter

_MIN_ROBOTS = 3
_WORD = re.compile(r'[A-Za-z]+')
_MARKER = re.compile('|'.join(map(re.escape, SPECIAL_IDS)))
_LISTS = (
    words.PLACES, words.OBJECTS, words.SURFACES, words.PEOPLE, words.STATEMENTS, words.GENERAL,
    words.DISTRACTORS, words.DIAGNOSES, words.GROUPS, words.ADJECTIVES, words.COLOURS,
)


def corpus(seed: int, num_packs: int, assets: Path) -> list[str]:
    """
    Return training conversations without invented words, word lists, and interface comments.

    A word that few robots know is taken for invented. Needs a tokenizer already, in `assets`:
    conversations are written with it and read back.
    """
    writer = load_writer(assets)
    by_robot = [_conversations(writer, seed, index) for index in range(num_packs)]
    counts = Counter(
        word for texts in by_robot for word in set(_WORD.findall(' '.join(texts))))
    texts = [_WORD.sub(lambda w: w.group() if counts[w.group()] >= _MIN_ROBOTS else '', text)
             for each in by_robot for text in each]
    texts += _interfaces()
    for group in _LISTS:
        for item in group:
            texts += [item, f' {item}', f' {item}']
    return [re.sub(' +', ' ', text) for text in texts if text.strip()]


def _conversations(writer: PromptWriter, seed: int, index: int) -> list[str]:
    pack = draw_pack(writer, seed, index, 8)
    return [text for ids in (pack.prefix, *(tail.ids for tail in pack.tails))
            for text in _MARKER.split(writer.tokenizer.decode(ids)) if text]


def _interfaces() -> Iterator[str]:
    for folder in ('msg', 'srv', 'action'):
        for file in sorted((ROOT / folder).iterdir()):
            yield file.read_text(encoding='utf-8')
