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
Text <-> token ids, with a hard line between markup and data.

Markup is trusted template text, where `<|turn>` is a token. Data is everything that people,
robots and models say, where `<|turn>` is eight characters. Knows nothing of prompts.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import json
from pathlib import Path
import re
from types import MappingProxyType
from typing import Any

from tokenizers import Tokenizer as InnerTokenizer

from gemma_node.errors import CheckpointError

TURN_CLOSE = '<turn|>'
CALL_OPEN = '<|tool_call>'
CALL_CLOSE = '<tool_call|>'
QUOTE = '<|"|>'
_REQUIRED = ('<bos>', '<|turn>', TURN_CLOSE, CALL_OPEN, CALL_CLOSE, QUOTE)
_MARKUP = re.compile(r'<\|[^<>]*>|<[^<>]*\|>')
_PROBE = 'Ä \n\t\x00 中文 \U0001f916 \ue000 \u2028 a  b'


class Tokenizer:
    """
    The checkpoint's tokenizer. Immutable after loading, so any thread may call it.

    `inner` is the library's object for the grammar compiler; it must not be changed.
    """

    def __init__(self, inner: InnerTokenizer, stop_ids: Sequence[int]) -> None:
        """Take over `inner`; raises CheckpointError unless data can never become markup."""
        # From here on the library reads special tokens as plain text; markup is split by us.
        inner.encode_special_tokens = True
        self.inner = inner
        added = inner.get_added_tokens_decoder()
        self._special = {token.content: i for i, token in added.items() if token.special}
        self.special_ids: Mapping[str, int] = MappingProxyType(self._special)
        self.stop_ids = tuple(stop_ids)
        vocab = inner.get_vocab(with_added_tokens=True)
        self.vocab_size = len(vocab)
        longest_first = sorted(self._special, key=len, reverse=True)
        self._splitter = re.compile('(' + '|'.join(map(re.escape, longest_first)) + ')')
        if max(vocab.values(), default=-1) >= len(vocab):
            raise CheckpointError('the tokenizer leaves ids out, which token grammars cannot have')
        self._check()

    @classmethod
    def from_folder(cls, path: str | Path) -> Tokenizer:
        """Load tokenizer.json and the stop tokens of generation_config.json or config.json."""
        folder = Path(path)
        description = read_json(folder / 'tokenizer.json')
        is_changed = False
        try:
            for token in description.get('added_tokens', ()):
                if not token['special'] and _MARKUP.fullmatch(token['content']):
                    token['special'] = is_changed = True
        except (TypeError, KeyError) as error:
            raise CheckpointError(
                f'{folder}/tokenizer.json: added_tokens must be a list of objects with content '
                f'and special ({error!r})'
            ) from error
        try:
            # Megabytes are written anew only where something has changed.
            if is_changed:
                inner = InnerTokenizer.from_str(json.dumps(description))
            else:
                inner = InnerTokenizer.from_file(str(folder / 'tokenizer.json'))
        except Exception as error:  # the library raises nothing narrower
            raise CheckpointError(f'{folder}/tokenizer.json cannot be loaded: {error}') from error
        return cls(inner, _stop_ids(folder))

    def encode_markup(self, text: str) -> list[int]:
        """Encode trusted template text; the special tokens in it become their ids."""
        ids: list[int] = []
        for piece in self._splitter.split(text):
            if piece in self._special:
                ids.append(self._special[piece])
            else:
                ids.extend(self.encode_data(piece))
        return ids

    def encode_data(self, text: str) -> list[int]:
        """Encode text from outside; no special id comes out, whatever it says."""
        if not text:
            return []
        clean = text.encode('utf-8', 'replace').decode()
        ids: list[int] = self.inner.encode(clean, add_special_tokens=False).ids
        return ids

    def bare_ids(self) -> dict[int, int]:
        """Return, for the ids of longer words after a space, those of the words alone."""
        pieces: dict[str, int] = self.inner.get_vocab()
        spaces: list[str] = self.inner.encode(' ', add_special_tokens=False).tokens
        if len(spaces) != 1:
            return {}
        (space,) = spaces
        return {
            token_id: pieces[piece.removeprefix(space)]
            for piece, token_id in pieces.items()
            if piece.startswith(space) and len(piece) > 2 and piece.removeprefix(space) in pieces
        }

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, special tokens as written."""
        text: str = self.inner.decode(list(ids), skip_special_tokens=False)
        return text

    def special_id(self, name: str) -> int:
        """Return the id of a special token, or raise CheckpointError."""
        if name not in self._special:
            raise CheckpointError(f'the tokenizer has no special token {name}')
        return self._special[name]

    def _check(self) -> None:
        missing = [name for name in _REQUIRED if name not in self._special]
        if missing:
            raise CheckpointError(
                f'the tokenizer lacks the special tokens {", ".join(missing)}; '
                'a Gemma 4 tokenizer has them'
            )
        wrong = [i for i in self.stop_ids if not 0 <= i < self.vocab_size]
        if wrong or not self.stop_ids:
            raise CheckpointError(
                f'stop tokens {list(self.stop_ids)} do not fit a vocabulary of {self.vocab_size}; '
                'tokenizer and generation_config.json are of different checkpoints'
            )
        special = set(self._special.values())
        for text in (*self._special, _PROBE):
            ids = self.encode_data(text)
            if not special.isdisjoint(ids) or self.decode(ids) != text:
                raise CheckpointError(
                    f'the tokenizer cannot encode {text!r} as plain text and back, '
                    'so data could not be told from markup'
                )


def _stop_ids(folder: Path) -> list[int]:
    for name in ('generation_config.json', 'config.json'):
        if (folder / name).is_file():
            eos = read_json(folder / name).get('eos_token_id')
            if eos is None:
                continue
            ids = eos if isinstance(eos, list) else [eos]
            if not all(type(each) is int for each in ids):
                raise CheckpointError(
                    f'{folder / name}: eos_token_id must be token ids, found {repr(eos)[:80]}'
                )
            return ids
    raise CheckpointError(
        f'{folder} names no eos_token_id in generation_config.json or config.json'
    )


def read_json(path: Path) -> dict[str, Any]:
    """Return the object that a JSON file holds; raises CheckpointError."""
    try:
        if path.exists() and not path.is_file():
            # Opening a pipe would wait for its other end.
            raise CheckpointError(f'{path} must be a plain file')
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise CheckpointError(f'{path} cannot be read: {error.strerror}') from error
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f'{path} is not valid JSON: {error}') from error
    if not isinstance(value, dict):
        raise CheckpointError(f'{path} must hold a JSON object, not {type(value).__name__}')
    return value
