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

"""A thought may come before an answer where it is asked for: bounded, never shown, never kept."""

from pathlib import Path
import random

import numpy as np
import pytest

from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import GenerationResult
from gemma_node.core import Outcome
from gemma_node.core import Request
from gemma_node.core import RobotSettings
from gemma_node.core import ToolChoice
from gemma_node.core import WorkerSettings
from gemma_node.decision.decider import Decider
from gemma_node.errors import ConfigError
from gemma_node.errors import GrammarError
from gemma_node.errors import TemplateError
from gemma_node.policy.settings import from_mapping
from gemma_node.policy.settings import to_worker_settings
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.tokenizer import Tokenizer
from gemma_node.tools.call_format import format_call_ids
from gemma_node.tools.call_format import thought_length
from gemma_node.tools.grammar import GrammarFactory

DEMO = Path(__file__).parents[2] / 'gemma_node' / 'assets' / 'demo'
BUDGET = 12
PLACE = {'type': 'string', 'enum': ['lab', 'dock']}


@pytest.fixture
def thought(kit):
    return kit.special_ids['<|channel>'], kit.special_ids['<channel|>']


@pytest.fixture
def make(kit, declare):
    """Return a function that makes a constraint for one tool."""
    def constraint(choice=ToolChoice.AUTO, budget=BUDGET):
        factory = kit.factory(max_thinking_tokens=budget)
        return factory.constraint([declare('go', place=PLACE)], choice, 2)
    return constraint


def _go(kit, place='lab'):
    return format_call_ids('go', {'place': place}, tokens=kit.tokens, encode=kit.encode)


@pytest.mark.parametrize('choice', [ToolChoice.AUTO, ToolChoice.REQUIRED])
def test_thought_may_come_first_and_only_first(kit, make, thought, choice):
    ids = [thought[0], *kit.encode('the lab is near'), thought[1], *_go(kit)]
    constraint = make(choice)
    assert all(constraint.accept(token_id) for token_id in ids)
    assert constraint.accept(kit.stop_ids[0])
    assert thought_length(ids, kit.special_ids) == ids.index(thought[1]) + 1
    constraint = make(choice)
    assert all(constraint.accept(token_id) for token_id in _go(kit))
    assert not constraint.accept(thought[0])


def test_without_the_setting_there_is_no_thought(kit, make, thought):
    constraint = make(budget=0)
    assert not constraint.accept(thought[0])
    assert all(constraint.accept(token_id) for token_id in _go(kit))


def test_thought_alone_is_no_answer_and_holds_no_call(kit, make, thought, allowed):
    constraint = make()
    for token_id in (thought[0], *kit.encode('hm')):
        assert constraint.accept(token_id)
    ids = allowed(constraint)
    assert thought[1] in ids
    assert not set(ids) & {*kit.stop_ids, kit.tokens.open_call, kit.tokens.quote, thought[0]}
    assert constraint.accept(thought[1])
    assert not set(allowed(constraint)) & {*kit.stop_ids, *thought}


@pytest.mark.parametrize('seed', range(20))
def test_thought_ends_within_its_budget_whatever_the_logits(kit, make, thought, allowed, seed):
    constraint, rng, ids = make(), random.Random(seed), [thought[0]]
    assert constraint.accept(thought[0])
    while ids[-1] != thought[1]:
        choices = allowed(constraint)
        inner = [token_id for token_id in choices if token_id != thought[1]]
        token_id = rng.choice(inner or choices)
        refused = set(inner or [thought[1]]) ^ {thought[1]}
        if not inner:
            assert not constraint.accept(rng.choice(sorted(refused or {kit.tokens.quote})))
            assert constraint.forced_token() == thought[1]
        assert constraint.accept(token_id)
        ids.append(token_id)
        # A character of several bytes may be finished first.
        assert len(ids) <= BUDGET + 2 + 3
    assert len(ids) > BUDGET
    assert all(constraint.accept(token_id) for token_id in _go(kit))


def test_rollback_leads_back_into_the_thought_and_out_of_it(kit, make, thought, allowed):
    constraint = make()
    ids = [thought[0], *kit.encode('ab'), thought[1], *_go(kit)]
    masks = []
    for token_id in ids:
        masks.append(allowed(constraint))
        assert constraint.accept(token_id)
    for count in range(1, len(ids) + 1):
        constraint.rollback(1)
        assert allowed(constraint) == masks[-count]
    assert all(constraint.accept(token_id) for token_id in ids)


def test_checkpoint_that_cannot_think_is_refused(kit):
    special = {name: number for name, number in kit.special_ids.items() if name != '<channel|>'}
    with pytest.raises(GrammarError, match='cannot think'):
        GrammarFactory(kit.tokenizer, vocab_size=kit.vocab_size, stop_ids=kit.stop_ids,
                       special_ids=special, max_thinking_tokens=5)


def test_template_that_knows_no_thinking_is_refused(tmp_path):
    for file in ('chat_template.jinja', 'tokenizer_config.json'):
        text = (DEMO / file).read_text().replace('<|think|>', '')
        (tmp_path / file).write_text(text)
    ChatTemplate.from_folder(tmp_path)
    with pytest.raises(TemplateError, match='knows no thinking'):
        ChatTemplate.from_folder(tmp_path, thinking=True)


def test_thought_that_leaves_no_room_for_an_answer_is_refused():
    class Tools:
        def declarations(self, names=()):
            return ()

    settings = from_mapping({'robots': ['r1'], 'decoding': {'max_thinking_tokens': 256}})
    with pytest.raises(ConfigError, match='room for an answer'):
        to_worker_settings(settings, Tools())


class Engine:
    def __init__(self):
        self.generations = []

    def submit(self, generation):
        self.generations.append(generation)

    def forget(self, state_key):
        pass

    def prepare(self, state_key, token_ids, cuts):
        pass


def test_thought_is_neither_told_nor_kept_and_the_prompt_asks_for_it(demo_kit, declare):
    kit, engine = demo_kit, Engine()
    opening, closing = (kit.special_ids[name] for name in ('<|channel>', '<channel|>'))
    settings = WorkerSettings(
        robots=(RobotSettings(name='r1', system_prompt='x', tools=(
            declare('go', place=PLACE),)),), max_thinking_tokens=BUDGET)
    decider = Decider(Tokenizer.from_folder(DEMO), ChatTemplate.from_folder(DEMO, thinking=True),
                      settings, engine, vocab_size=kit.vocab_size)
    ids = (opening, *kit.encode('near?'), closing, *_go(kit))

    def ask(number, output):
        request = Request(id=f'{number:032x}', robot='r1', text='Go to the lab.')
        assert decider.submit(request, ()) is None
        generation = engine.generations[-1]
        for token_id in output:
            assert generation.constraint.accept(token_id)
        return decider.on_result(GenerationResult(
            id=request.id, finish=Finish.STOP, token_ids=tuple(output),
            probabilities=tuple(np.linspace(0.5, 1.0, len(output)))))

    answer = ask(1, ids)
    assert (answer.outcome, answer.error_code) == (Outcome.TOOL_CALL, ErrorCode.NONE)
    assert answer.text == '' and answer.calls[0].arguments == {'place': 'lab'}
    bare = ask(2, _go(kit, 'dock'))
    assert bare.calls[0].arguments == {'place': 'dock'}
    first, second = (generation.prompt_ids for generation in engine.generations)
    assert kit.special_ids['<|think|>'] in first
    assert opening not in second
    called = tuple(_go(kit))
    assert any(second[at:at + len(called)] == called for at in range(len(second)))
