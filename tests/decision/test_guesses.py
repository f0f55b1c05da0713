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

"""Guesses take a request's words as calls write them."""

from __future__ import annotations

from decision_values import ask
from decision_values import battery
from decision_values import robot

from gemma_node.assemble import EMBEDDED_CHECKPOINT
from gemma_node.decision.guesses import Guesses
from gemma_node.decision.prompt import PromptWriter
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.tokenizer import Tokenizer


def test_phrases_are_words_without_their_space_and_end_with_a_quote() -> None:
    tokenizer = Tokenizer.from_folder(EMBEDDED_CHECKPOINT)
    writer = PromptWriter(tokenizer, ChatTemplate.from_folder(EMBEDDED_CHECKPOINT))
    guesses = Guesses(tokenizer, writer.reply_stop_id)
    assert tokenizer.decode(guesses.opening) == '<|tool_call>'
    prompt = writer.conversation(robot()).build(
        ask('Head for the kitchen and say dinner is served'), (battery(0.5),)
    )
    phrases = guesses.phrases(prompt)
    texts = [tokenizer.decode(each) for each in phrases]
    assert 'kitchen and say dinner' in texts
    assert 'dinner is served<|"|>' in texts
    assert texts[-1] == 'is served<|"|>'
    (call,) = (each for each in phrases if tokenizer.decode(each[:1]) == 'kitchen')
    assert call[0] in writer.call_ids([('go_to', {'place': 'kitchen'})])
    # Nothing before the newest turn, and no markup of the turn's end.
    assert not any('<turn|>' in each or '<|turn>' in each for each in texts)
    assert all(text == text.lstrip() for text in texts)
