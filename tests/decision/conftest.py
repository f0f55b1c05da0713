"""A tiny checkpoint without weights, robots with tools, and an engine played by the test."""

from pathlib import Path
import sys

import pytest

from gemma_node.decision.prompt import PromptWriter
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.tokenizer import Tokenizer

sys.path.insert(0, str(Path(__file__).parents[1] / 'fixtures'))

from tiny_checkpoint import write_checkpoint


@pytest.fixture(scope='session')
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return Tokenizer.from_folder(write_checkpoint(tmp_path_factory.mktemp('tiny') / 'tokenizer'))


@pytest.fixture(scope='session')
def template(tmp_path_factory: pytest.TempPathFactory) -> ChatTemplate:
    return ChatTemplate.from_folder(write_checkpoint(tmp_path_factory.mktemp('tiny') / 'template'))


@pytest.fixture(scope='session')
def writer(tokenizer: Tokenizer, template: ChatTemplate) -> PromptWriter:
    return PromptWriter(tokenizer, template)
