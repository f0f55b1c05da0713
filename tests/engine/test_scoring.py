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

"""Scores are the probabilities of the next token, from the robot's state, without decoding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import math
from typing import Any

import pytest
import torch

from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import Generation
from gemma_node.model.gemma4 import Gemma4


def _score(name: str, prompt: tuple[int, ...], labels: tuple[int, ...], **more: Any) -> Generation:
    more = {'state_key': 'robot', 'max_tokens': 0, **more}
    return Generation(id=name, prompt_ids=prompt, score_ids=labels, **more)


def test_scores_are_the_log_probabilities_of_the_full_pass(
    make_driver: Callable[..., Any], model: Gemma4, tokens: tuple[int, ...]
) -> None:
    labels = (5, 9, 150)
    driver = make_driver()
    (result,) = driver.run(_score('s', tokens[:150], labels))
    assert (result.finish, result.token_ids) == (Finish.STOP, ())
    with torch.inference_mode():
        expected = model(torch.tensor([tokens[:150]]))[0, -1].log_softmax(-1)
    assert result.scores == pytest.approx([float(expected[each]) for each in labels], abs=1e-4)
    assert sum(map(math.exp, result.scores)) < 1.0
    assert driver.engine.stats().generated_tokens == 0
    assert driver.engine.stats().lanes_busy == 0


def test_a_score_begins_from_the_robots_state_and_has_its_bits(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], grid: int
) -> None:
    driver = make_driver()
    driver.run(Generation(
        id='turn', state_key='robot', prompt_ids=tokens[:280], cuts=(100, 250), max_tokens=2))
    asked = _score('s', tokens[:250] + tokens[600:640], (3, 4), cuts=(100, 250))
    (warm,) = driver.run(asked)
    assert warm.cached_tokens == 250 // grid * grid
    (fresh,) = make_driver().run(asked)
    assert warm.scores == fresh.scores


def test_a_score_fills_the_context_to_the_last_token(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    driver = make_driver(context_tokens=128)
    (fits,) = driver.run(_score('s', tokens[:128], (3, 4)))
    assert len(fits.scores) == 2
    (refused,) = driver.run(_score('t', tokens[:129], (3, 4)))
    assert refused.error_code == ErrorCode.CONTEXT_OVERFLOW
    (wrong,) = driver.run(_score('u', tokens[:20], (3, 999)))
    assert wrong.error_code == ErrorCode.INVALID_REQUEST
    assert 'token id 999' in wrong.error_msg


def test_prompt_logprobs_are_those_of_the_full_pass_from_any_state(
    make_driver: Callable[..., Any], model: Gemma4, tokens: tuple[int, ...]
) -> None:
    prompt = tokens[:150]
    asked = Generation(id='p', state_key='robot', prompt_ids=prompt, cuts=(40, 128),
                       max_tokens=3, prompt_logprobs=True)
    with torch.inference_mode():
        rows = model(torch.tensor([prompt]))[0].log_softmax(-1)
    expected = [float(rows[index, each]) for index, each in enumerate(prompt[1:])]
    (fresh,) = make_driver().run(asked)
    assert fresh.prompt_logprobs == pytest.approx(expected, abs=1e-4)
    driver = make_driver()
    (plain,) = driver.run(replace(asked, id='w', prompt_logprobs=False))
    assert plain.prompt_logprobs == ()
    others = [Generation(id=f'o{n}', state_key=f'o{n}', prompt_ids=tokens[n : n + 70],
                         max_tokens=9) for n in range(2)]
    (among, *_) = driver.run(asked, *others)
    assert among.cached_tokens == 0
    assert among.prompt_logprobs == fresh.prompt_logprobs
    assert among.token_ids == fresh.token_ids == plain.token_ids
    assert among.probabilities == plain.probabilities


def test_prompt_logprobs_may_be_all_that_is_asked(
    make_driver: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    asked = Generation(id='p', state_key='', prompt_ids=tokens[:70], max_tokens=0,
                       prompt_logprobs=True)
    (result,) = make_driver().run(asked)
    assert (result.finish, result.token_ids) == (Finish.LENGTH, ())
    assert len(result.prompt_logprobs) == 69
    (one,) = make_driver().run(replace(asked, prompt_ids=tokens[:1]))
    assert one.prompt_logprobs == ()
    (refused,) = make_driver().run(replace(asked, prompt_logprobs=False))
    assert refused.error_code == ErrorCode.INVALID_REQUEST


def test_prompt_logprobs_come_with_a_reply_that_is_forced_to_its_end(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], allowed_tokens: Any
) -> None:
    asked = Generation(id='p', state_key='', prompt_ids=tokens[:70], max_tokens=5,
                       stop_ids=(1,), prompt_logprobs=True,
                       constraint=allowed_tokens([{4}, {5}], 1))
    (result,) = make_driver().run(asked)
    assert (result.finish, result.token_ids, result.forced_tokens) == (Finish.STOP, (4, 5), 2)
    assert len(result.prompt_logprobs) == 69
