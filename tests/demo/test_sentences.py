"""The demo's sentences are none that the embedded checkpoint was trained on."""

from itertools import islice
from pathlib import Path
import re
import sys

import pytest

from gemma_node.demo.script import load_steps

SCRIPTS = Path(__file__).resolve().parents[2] / 'scripts'
NUM_SENTENCES = 20_000
LENGTH = 4


def ngrams(text, length=LENGTH):
    words = re.findall(r"[a-z']+|-?\d+(?:\.\d+)?", text.lower())
    return {tuple(words[index : index + length]) for index in range(len(words) - length + 1)}


@pytest.fixture(scope='module')
def trained():
    sys.path.insert(0, str(SCRIPTS))
    try:
        from demo_data.packing import training_sentences
    finally:
        sys.path.remove(str(SCRIPTS))
    found = set()
    for text in islice(training_sentences(1, NUM_SENTENCES), NUM_SENTENCES):
        found |= ngrams(text)
    return found


def test_no_four_words_in_a_row_of_the_demo_were_trained_on(trained):
    shared = {step.say: ngrams(step.say) & trained for step in load_steps()}
    assert not {say: grams for say, grams in shared.items() if grams}


def test_every_sentence_has_enough_words_for_the_comparison_to_mean_something(trained):
    assert len(trained) > 10_000
    assert all(ngrams(step.say) for step in load_steps())


def test_a_training_sentence_in_the_script_would_be_found(trained):
    assert ngrams(' '.join(next(iter(trained)))) & trained
