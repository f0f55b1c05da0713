"""A tokenizer and template of a tiny checkpoint, made once."""

from pathlib import Path
import sys

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / 'fixtures'))

from tiny_checkpoint import write_checkpoint


@pytest.fixture(scope='session')
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp('tiny') / 'checkpoint')
