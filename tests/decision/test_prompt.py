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

from __future__ import annotations

from collections.abc import Sequence
import random
from typing import Any

from decision_values import ask
from decision_values import battery
from decision_values import declaration
from decision_values import GO_TO
from decision_values import robot
from decision_values import TOOLS
from hypothesis import example
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest
from tiny_checkpoint import SPECIAL
from tiny_checkpoint import TEMPLATE

from gemma_node.core import Request
from gemma_node.core import ToolDeclaration
from gemma_node.core import ToolResult
from gemma_node.decision.prompt import Conversation
from gemma_node.decision.prompt import MadeCall
from gemma_node.decision.prompt import PromptWriter
from gemma_node.errors import ConfigError
from gemma_node.errors import TemplateError
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.tokenizer import Tokenizer


def go(call_id: str, name: str = 'go_to') -> MadeCall:
    return MadeCall(id=call_id, name=name, is_builtin=name in ('stop', 'no_action'))


def call_ids(writer: PromptWriter, *names: str) -> tuple[int, ...]:
    """Return what a model generates for calls, its stop token dropped as the engine does."""
    arguments: dict[str, dict[str, Any]] = {
        'go_to': {'place': 'dock'}, 'pick': {'object': 'cup'}, 'stop': {},
        'no_action': {'reason': 'nothing to do'},
    }
    return writer.call_ids([(name, arguments[name]) for name in names])[:-1]


def reply_ids(writer: PromptWriter, text: str) -> tuple[int, ...]:
    return writer.reply_ids(text)[:-1]


def result(call_id: str, text: str, name: str = 'go_to') -> ToolResult:
    return ToolResult(call_id=call_id, name=name, text=text)


def tail(writer: PromptWriter, conversation: Conversation, request: Request) -> str:
    """Return what a prompt appends to history, as text."""
    prompt = conversation.build(request, [])
    return writer.tokenizer.decode(prompt.ids[prompt.cuts[-1]:])


def test_prompt_is_prefix_history_observations_and_request(writer: PromptWriter) -> None:
    conversation = writer.conversation(robot(tools=(GO_TO,)))
    prompt = conversation.build(ask(' Go to the dock. '), [battery(0.5)])
    text = writer.tokenizer.decode(prompt.ids)
    assert text.startswith(
        '<bos><|turn>system\nYou control a robot.<|tool>declaration:go_to{description:'
    )
    assert text.endswith(
        '<tool|><turn|>\n<|turn>user\nObservations:\n- battery (0.2 s ago): 0.5\n\n'
        'Go to the dock.<turn|>\n<|turn>model\n'
    )
    assert prompt.cuts == (len(conversation.history_ids),)
    assert prompt.input_tokens == (
        ('battery', len(writer.tokenizer.encode_data('- battery (0.2 s ago): 0.5')), False),
    )


@pytest.mark.parametrize('checkpoint', ['tiny', 'demo'])
def test_prompt_ids_equal_those_of_the_whole_text(
    writer: PromptWriter, template: ChatTemplate, checkpoint: str
) -> None:
    if checkpoint == 'demo':
        writer = PromptWriter(Tokenizer.from_folder(TEMPLATE.parent), template)
    conversation = writer.conversation(robot())
    conversation.commit(ask('Go to the dock.'), call_ids(writer, 'go_to'), [go('a')])
    request = ask('Continue.', tool_results=(result('a', 'arrived'),))
    ids = conversation.build(request, [battery(0.5)]).ids
    assert list(ids) == writer.tokenizer.encode_markup(writer.tokenizer.decode(ids))


def test_earlier_ids_are_kept_over_twenty_turns(writer: PromptWriter) -> None:
    conversation = writer.conversation(robot(history_turns=99, history_tokens=99999))
    turns = random.Random(7)
    pending: tuple[ToolResult, ...] = ()
    history = conversation.history_ids
    for turn in range(20):
        names = turns.choice([(), ('go_to',), ('go_to', 'pick'), ('no_action',)])
        request = ask(f'Sentence {turn}', tool_results=pending)
        prompt = conversation.build(request, [battery(turn / 20)])
        assert prompt.ids[:len(history)] == history
        assert prompt.cuts[-1] == len(history)
        calls = [go(f'{turn}.{i}', name) for i, name in enumerate(names)]
        # Ids that no encoder would produce: kept as generated, not encoded again.
        said = tuple(turns.choices(range(400, 420), k=5))
        output = call_ids(writer, *names) if names else said
        conversation.commit(request, output, calls)
        assert conversation.history_ids[:len(history)] == history
        assert conversation.history_ids[-len(output):] == output
        history = conversation.history_ids
        pending = tuple(result(call.id, 'arrived', call.name) for call in calls)
        pending = pending if turns.random() < 0.7 else ()
    assert conversation.history_turns == 20


THOUGHT = '<|channel>thought\n<channel|>'


@pytest.fixture(params=['', THOUGHT], ids=['plain', 'thought'])
def flavoured(tokenizer: Tokenizer, request: pytest.FixtureRequest) -> PromptWriter:
    """Return a writer whose template ends its generation prompt in nothing or an empty thought."""
    thought = request.param.replace('\n', '\\n')
    opening = "{{- '<|turn>model\\n%s' -}}"
    source = TEMPLATE.read_text().replace(opening % '', opening % thought)
    assert source.count(THOUGHT.replace('\n', '\\n')) == bool(thought)
    return PromptWriter(tokenizer, ChatTemplate(source))


def test_prompt_is_what_the_template_itself_makes_of_the_conversation(
    flavoured: PromptWriter
) -> None:
    """Calls, results, replies and a new request, against one rendering with the data in it."""
    conversation = flavoured.conversation(robot(tools=()))
    conversation.commit(
        ask('Fetch it.'), call_ids(flavoured, 'go_to', 'pick'), [go('a'), go('b', 'pick')]
    )
    told = ask('And?', tool_results=(result('a', 'arrived'), result('b', 'gripped', 'pick')))
    conversation.commit(told, reply_ids(flavoured, 'I have it.'))
    conversation.commit(ask('Go.'), call_ids(flavoured, 'go_to'), [go('c')])
    last = ask('Well?', tool_results=(result('c', 'failed'),))
    arguments = {'go_to': {'place': 'dock'}, 'pick': {'object': 'cup'}}

    def calls(*made: tuple[str, str]) -> dict[str, Any]:
        return {'role': 'assistant', 'tool_calls': [
            {'id': i, 'type': 'function', 'function': {'name': n, 'arguments': arguments[n]}}
            for i, n in made
        ]}

    messages = [
        {'role': 'system', 'content': robot().system_prompt},
        {'role': 'user', 'content': 'Fetch it.'},
        calls(('a', 'go_to'), ('b', 'pick')),
        {'role': 'tool', 'tool_call_id': 'a', 'content': 'arrived'},
        {'role': 'tool', 'tool_call_id': 'b', 'content': 'gripped'},
        {'role': 'user', 'content': 'And?'},
        {'role': 'assistant', 'content': 'I have it.'},
        {'role': 'user', 'content': 'Go.'},
        calls(('c', 'go_to')),
        {'role': 'tool', 'tool_call_id': 'c', 'content': 'failed'},
        {'role': 'user', 'content': 'Observations: none\n\nWell?'},
    ]
    prompt = conversation.build(last, [])
    expected = flavoured.template.render(messages, [], generation=True)
    assert flavoured.tokenizer.decode(prompt.ids) == expected
    assert list(prompt.ids) == flavoured.tokenizer.encode_markup(expected)


def test_an_empty_thought_ends_each_prompt_and_never_enters_the_history(
    flavoured: PromptWriter
) -> None:
    conversation = flavoured.conversation(robot(history_turns=99, history_tokens=99999))
    tokenizer = flavoured.tokenizer
    opening = tuple(tokenizer.encode_markup('<|turn>model\n'))
    thought = tuple(tokenizer.encode_markup(THOUGHT))
    has_thought = flavoured.template.render([], [], generation=True).endswith(THOUGHT)
    pending: tuple[ToolResult, ...] = ()
    for turn in range(12):
        request = ask(f'Sentence {turn}', tool_results=pending)
        history = conversation.history_ids
        prompt = conversation.build(request, [battery(0.5)])
        assert prompt.ids[:prompt.cuts[-1]] == history
        end = (*opening, *thought) if has_thought else opening
        assert prompt.ids[-len(end):] == end
        # Ids that no encoder would produce: kept as generated, not encoded again.
        output = (401, 402, 403) if turn % 2 else call_ids(flavoured, 'go_to')
        conversation.commit(request, output, [] if turn % 2 else [go(str(turn))])
        kept = (*opening, *output)
        assert conversation.history_ids[:len(history)] == history
        assert conversation.history_ids[-len(kept):] == kept
        pending = () if turn % 2 else (result(str(turn), 'arrived'),)
    assert tokenizer.special_id('<|channel>') not in conversation.history_ids


def test_observations_never_enter_the_history(writer: PromptWriter) -> None:
    conversation = writer.conversation(robot())
    request = ask('How full is it?')
    assert '0.123' in tail_with(writer, conversation, request, 0.123)
    conversation.commit(request, reply_ids(writer, 'Quite.'))
    history = writer.tokenizer.decode(conversation.history_ids)
    assert history.endswith('<|turn>user\nHow full is it?<turn|>\n<|turn>model\nQuite.')
    assert 'Observations' not in history and '0.123' not in history


def tail_with(
    writer: PromptWriter, conversation: Conversation, request: Request, level: float
) -> str:
    return writer.tokenizer.decode(conversation.build(request, [battery(level)]).ids)


def test_building_a_prompt_changes_nothing(writer: PromptWriter) -> None:
    conversation = writer.conversation(robot())
    conversation.commit(ask('Go.'), call_ids(writer, 'go_to'), [go('a')])
    before = conversation.history_ids
    first = conversation.build(ask('x', tool_results=(result('a', 'arrived'),)), [])
    assert conversation.history_ids == before
    assert conversation.build(ask('x', tool_results=(result('a', 'arrived'),)), []) == first


@pytest.mark.parametrize('order', [(0, 1), (1, 0)])
def test_results_follow_their_calls_in_the_order_of_the_calls(
    writer: PromptWriter, order: Sequence[int]
) -> None:
    conversation = writer.conversation(robot())
    calls = [go('a'), go('b', 'pick')]
    conversation.commit(ask('Fetch it.'), call_ids(writer, 'go_to', 'pick'), calls)
    results = [result('a', 'arrived'), result('b', 'no cup here', 'pick')]
    text = tail(writer, conversation, ask('', tool_results=tuple(results[i] for i in order)))
    assert text == (
        '<|tool_response>response:go_to{value:<|"|>arrived<|"|>}<tool_response|>'
        '<|tool_response>response:pick{value:<|"|>no cup here<|"|>}<tool_response|><turn|>\n'
        '<|turn>user\nObservations: none\n\nContinue.<turn|>\n<|turn>model\n'
    )


def test_open_calls_are_running_when_another_request_comes_first(writer: PromptWriter) -> None:
    conversation = writer.conversation(robot())
    calls = [go('a'), go('b', 'pick'), go('c', 'stop')]
    conversation.commit(ask('Fetch.'), call_ids(writer, 'go_to', 'pick', 'stop'), calls)
    other = ask('What now?', tool_results=(result('b', 'gripped', 'pick'),))
    text = tail(writer, conversation, other)
    assert 'response:go_to{value:<|"|>running<|"|>}' in text
    assert 'response:pick{value:<|"|>gripped<|"|>}' in text
    assert 'response:stop{value:<|"|>ok<|"|>}' in text
    conversation.commit(other, reply_ids(writer, 'Wait.'))
    late = ask('', tool_results=(result('a', 'arrived at last'),))
    text = tail(writer, conversation, late)
    assert '<|tool_response>' not in text
    assert 'none\n\nResult of go_to: arrived at last\nContinue.<turn|>' in text
    conversation.commit(late, reply_ids(writer, 'Good.'))
    assert 'Result of go_to: arrived at last' in writer.tokenizer.decode(conversation.history_ids)


def test_results_of_a_request_that_failed_are_told_by_the_next(writer: PromptWriter) -> None:
    conversation = writer.conversation(robot())
    conversation.commit(ask('Go.'), call_ids(writer, 'go_to'), [go('a')])
    late_and_open = (result('a', 'arrived'), result('old', 'done', 'pick'))
    conversation.abandon(ask('', tool_results=late_and_open))
    request = conversation.adopt(ask('And?'))
    text = tail(writer, conversation, request)
    assert 'response:go_to{value:<|"|>arrived<|"|>}' in text
    assert 'Result of pick: done\nAnd?' in text
    # One more comes while the model answers: it is no part of this turn.
    conversation.abandon(ask('', tool_results=(result('new', 'gripped', 'pick'),)))
    conversation.commit(request, reply_ids(writer, 'Yes.'))
    assert 'gripped' not in writer.tokenizer.decode(conversation.history_ids)
    request = conversation.adopt(ask('More?'))
    assert [told.call_id for told in request.tool_results] == ['new']


def test_results_kept_for_later_are_few_and_short(writer: PromptWriter) -> None:
    conversation = writer.conversation(robot())
    for number in range(50):
        conversation.abandon(ask('', tool_results=(result(str(number), 'x' * 10_000),)))
    kept = conversation.adopt(ask('And?')).tool_results
    assert [told.call_id for told in kept] == [str(number) for number in range(34, 50)]
    assert all(len(told.text) < 500 for told in kept)


def test_history_is_bounded_by_turns(writer: PromptWriter) -> None:
    conversation = writer.conversation(robot(history_turns=8, history_tokens=99999))
    seen = []
    for turn in range(30):
        conversation.commit(ask(f'Sentence {turn}.'), reply_ids(writer, f'Reply {turn}.'))
        seen.append(conversation.history_turns)
        text = writer.tokenizer.decode(conversation.history_ids)
        kept = range(turn + 1 - conversation.history_turns, turn + 1)
        assert all(f'Sentence {n}.' in text and f'Reply {n}.' in text for n in kept)
        assert text.count('<|turn>user') == conversation.history_turns
    assert max(seen) == 8 and min(seen[8:]) == 6


def test_history_is_bounded_by_tokens(writer: PromptWriter) -> None:
    conversation = writer.conversation(robot(history_turns=99, history_tokens=300))
    prefix = len(conversation.history_ids)
    for turn in range(20):
        conversation.commit(ask(f'Sentence {turn}.'), call_ids(writer, 'go_to'), [go(str(turn))])
        assert len(conversation.history_ids) - prefix <= 300
    assert conversation.history_turns >= 3


def test_a_turn_larger_than_the_bound_is_forgotten_whole(writer: PromptWriter) -> None:
    conversation = writer.conversation(robot(history_tokens=20))
    prefix = conversation.history_ids
    conversation.commit(ask('word ' * 50), call_ids(writer, 'go_to'), [go('a')])
    assert conversation.history_ids == prefix
    late = ask('', tool_results=(result('a', 'arrived'),))
    assert 'Result of go_to: arrived' in tail(writer, conversation, late)


def test_no_history_at_all(writer: PromptWriter) -> None:
    conversation = writer.conversation(robot(history_turns=0))
    conversation.commit(ask('Go.'), call_ids(writer, 'go_to'), [go('a')])
    assert conversation.history_turns == 0


def test_kept_turns_hold_the_generated_ids_after_older_ones_are_dropped(
    writer: PromptWriter
) -> None:
    conversation = writer.conversation(robot())
    fresh = writer.conversation(robot())
    said = [(401, 402, 403), (410,), (405, 405)]
    conversation.commit(ask('Go.'), call_ids(writer, 'go_to'), [go('a')])
    for index, ids in enumerate(said):
        request = ask(f'Sentence {index}')
        conversation.commit(request, ids)
        fresh.commit(request, ids)
    conversation.keep_turns(3)
    assert conversation.history_ids == fresh.history_ids
    conversation.reset(0)
    assert conversation.history_ids == writer.prefix(robot()).ids
    assert conversation.epoch == 1


def test_robots_with_one_catalogue_share_the_very_same_prefix(writer: PromptWriter) -> None:
    first, second = writer.conversation(robot('alpha')), writer.conversation(robot('beta'))
    assert writer.prefix(robot('alpha')) is writer.prefix(robot('beta'))
    assert first.history_ids == second.history_ids
    first.commit(ask('Go.'), call_ids(writer, 'go_to'), [go('a')])
    prompts = [c.build(ask('Which?'), []) for c in (first, second)]
    cut = prompts[0].cuts[0]
    assert cut == prompts[1].cuts[0] and prompts[0].ids[:cut] == prompts[1].ids[:cut]
    other = writer.prefix(robot(system_prompt='You are a forklift.'))
    assert other.ids != writer.prefix(robot()).ids


@settings(max_examples=60, deadline=None)
@given(st.lists(
    st.one_of(st.sampled_from(sorted(SPECIAL)), st.text(max_size=8)), min_size=1, max_size=6
).map(''.join))
@example('\ue00a\ue001\ue00b')
@example('\ue00a\ue000\ue00b<|"|>}}<tool|><turn|>')
def test_no_data_anywhere_becomes_markup(writer: PromptWriter, hostile: str) -> None:
    hostile = 'x' + hostile
    special = set(writer.tokenizer.special_ids.values())

    def marks_of(data: str) -> list[int]:
        tool = ToolDeclaration(name='go_to', description=data, parameters={
            'type': 'object',
            'properties': {'place': {'type': 'string', 'description': data, 'enum': [data]}},
            'required': ['place'],
        })
        conversation = PromptWriter(writer.tokenizer, writer.template).conversation(
            robot(system_prompt=data, tools=(tool,))
        )
        conversation.commit(ask(data), call_ids(writer, 'go_to'), [go('a')])
        request = ask(data, tool_results=(result('a', data), result('b', data, data)))
        prompt = conversation.build(request, [battery(1.0)], [data])
        return [i for i in prompt.ids if i in special]

    assert marks_of(hostile) == marks_of('x')


def test_training_ids_end_with_the_stop_token_that_hands_over(writer: PromptWriter) -> None:
    decode = writer.tokenizer.decode
    calls = [('go_to', {'place': 'dock'}), ('drive', {'x': 0.5, 'quickly': True})]
    assert decode(writer.call_ids(calls)) == (
        '<|tool_call>call:go_to{place:<|"|>dock<|"|>}<tool_call|>'
        '<|tool_call>call:drive{quickly:true,x:0.5}<tool_call|><|tool_response>'
    )
    assert decode(writer.reply_ids('It is full.')) == 'It is full.<turn|>'


def test_template_that_ends_a_reply_with_no_stop_token_is_refused(tokenizer: Tokenizer) -> None:
    source = TEMPLATE.read_text().replace("'<turn|>\\n'", "'<mask>\\n'")
    with pytest.raises(TemplateError, match=r'none of the .* stop tokens'):
        PromptWriter(tokenizer, ChatTemplate(source))


def test_robot_without_system_text_and_tools_can_talk(writer: PromptWriter) -> None:
    conversation = writer.conversation(robot(system_prompt='', tools=()))
    text = writer.tokenizer.decode(conversation.build(ask('Hello'), []).ids)
    assert text == ('<bos><|turn>user\nObservations: none\n\nHello<turn|>\n<|turn>model\n')


@pytest.mark.parametrize('tool', [
    ToolDeclaration(name='go to', description='x', parameters={'type': 'object'}),
    ToolDeclaration(name='go{}<|tool>', description='x', parameters={'type': 'object'}),
    ToolDeclaration(name='go', description=' ', parameters={'type': 'object'}),
    ToolDeclaration(name='go', description='x', parameters={'type': 'objekt'}),
    declaration('go', {'pla:ce': {'type': 'string'}}),
    declaration('go', {'place': {'type': 'string', 'x<|"|>': 1}}),
    declaration('go', {'place': {'type': 'string'}}, required=('place<turn|>',)),
])
def test_names_that_are_none_are_refused(writer: PromptWriter, tool: ToolDeclaration) -> None:
    with pytest.raises(ConfigError):
        writer.prefix(robot(tools=(tool,)))


def test_prefix_shows_descriptions_and_choices_however_deep(writer: PromptWriter) -> None:
    tool = declaration('visit', {
        'stops': {
            'type': 'array', 'description': 'Stops in order',
            'items': {
                'type': 'object',
                'properties': {'kind': {'type': 'string', 'enum': ['short', 'long']}},
                'default': {'kind': 'short'},
            },
        },
        'where': {
            'type': 'object', 'description': 'Where',
            'properties': {'frame': {'type': 'string', 'enum': ['map', 'base']}},
        },
    })
    text = writer.tokenizer.decode(writer.prefix(robot(tools=(tool, *TOOLS))).ids)
    for shown in ('Stops in order', 'short', 'long', 'Where', 'map', 'base'):
        assert f'<|"|>{shown}<|"|>' in text
