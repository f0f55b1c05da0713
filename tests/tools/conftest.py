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


"""A small byte-fallback BPE with Gemma's special tokens, and the pieces made from it."""

from collections.abc import Sequence
from dataclasses import dataclass
import json
from pathlib import Path

import numpy as np
import pytest
from tokenizers import decoders
from tokenizers import models
from tokenizers import normalizers
from tokenizers import Tokenizer
from tokenizers import trainers

from gemma_node.core import ToolDeclaration
from gemma_node.tools.call_format import CallTokens
from gemma_node.tools.grammar import GrammarFactory

SPECIAL = (
    '<pad>', '<eos>', '<bos>', '<unk>', '<|tool>', '<tool|>', '<|tool_call>', '<tool_call|>',
    '<|tool_response>', '<tool_response|>', '<|"|>', '<|think|>', '<|channel>', '<channel|>',
    '<|turn>', '<turn|>',
)
STOP = ('<eos>', '<turn|>', '<|tool_response>')
DEMO = Path(__file__).parents[2] / 'gemma_node' / 'assets' / 'demo'
CORPUS = (
    'call:go_to{place:kitchen,speed:0.5} call:drive_to{x:-1.25,y:10,heading:90} call:dock{}',
    'true false null [1,2.5,-3] {a:1,b:true,c:null} kitchen office workshop entrance',
    'Drive to the kitchen, pick up the red cup and put it on the table, please.',
    'The battery is low: "dock" first! Größe 1 µm — naïve café, 东京 ロボット, <tool_call|> <|"|>',
)


@dataclass(frozen=True, repr=False)
class Kit:
    """A tokenizer and what the code under test needs of it."""

    tokenizer: Tokenizer
    vocab_size: int
    special_ids: dict[str, int]
    stop_ids: tuple[int, ...]
    tokens: CallTokens

    def encode(self, text: str) -> list[int]:
        """Encode data: special token texts become ordinary tokens."""
        self.tokenizer.encode_special_tokens = True
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, token_ids: Sequence[int]) -> str:
        return self.tokenizer.decode(list(token_ids), skip_special_tokens=False)

    def markup(self, text: str) -> list[int]:
        """Encode trusted text: special token texts become special tokens."""
        self.tokenizer.encode_special_tokens = False
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def factory(self, **options) -> GrammarFactory:
        return GrammarFactory(
            self.tokenizer, vocab_size=self.vocab_size, stop_ids=self.stop_ids,
            special_ids=self.special_ids, **options)


def make_kit() -> Kit:
    byte_tokens = [f'<0x{byte:02X}>' for byte in range(256)]
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token='<unk>', fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(' ', '▁')
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace('▁', ' '), decoders.ByteFallback(), decoders.Fuse()])
    trainer = trainers.BpeTrainer(
        vocab_size=700, special_tokens=[*SPECIAL, *byte_tokens], show_progress=False)
    tokenizer.train_from_iterator([text for text in CORPUS for _ in range(20)], trainer)
    content = json.loads(tokenizer.to_str())
    content['added_tokens'] = [
        token for token in content['added_tokens'] if token['content'] in SPECIAL]
    tokenizer = Tokenizer.from_str(json.dumps(content))
    special_ids = {text: tokenizer.token_to_id(text) for text in SPECIAL}
    return Kit(
        tokenizer=tokenizer,
        # Checkpoints pad their vocabulary: the last ids have no token.
        vocab_size=tokenizer.get_vocab_size() + 13,
        special_ids=special_ids,
        stop_ids=tuple(special_ids[text] for text in STOP),
        tokens=CallTokens.from_special_ids(special_ids),
    )


def load_demo_kit() -> Kit:
    tokenizer = Tokenizer.from_file(str(DEMO / 'tokenizer.json'))
    special_ids = {
        token.content: token_id for token_id, token in tokenizer.get_added_tokens_decoder().items()
        if token.special}
    return Kit(
        tokenizer=tokenizer,
        vocab_size=json.loads((DEMO / 'config.json').read_text())['vocab_size'],
        special_ids=special_ids,
        stop_ids=tuple(special_ids[text] for text in STOP),
        tokens=CallTokens.from_special_ids(special_ids),
    )


@pytest.fixture(scope='session', params=['byte_fallback', 'demo'])
def kit(request) -> Kit:
    return make_kit() if request.param == 'byte_fallback' else load_demo_kit()


@pytest.fixture(scope='session')
def demo_kit() -> Kit:
    return load_demo_kit()


@pytest.fixture(scope='session')
def declare():
    def make(name: str = 'tool', required: Sequence[str] | None = None, **properties):
        return ToolDeclaration(
            name=name,
            description='A tool.',
            parameters={
                'type': 'object',
                'properties': properties,
                'required': list(properties if required is None else required),
                'additionalProperties': False,
            },
        )
    return make


@pytest.fixture(scope='session')
def allowed(kit: Kit):
    """Return a function from a constraint to the ids that its mask allows."""
    row = np.zeros((kit.vocab_size + 31) // 32 + 2, dtype=np.int32)

    def read(constraint) -> list[int]:
        row[:] = -1
        constraint.fill_bitmask(row)
        return np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder='little')).tolist()
    return read
