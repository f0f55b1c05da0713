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

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
import pytest
from tiny_checkpoint import TEMPLATE

from gemma_node.errors import CheckpointError
from gemma_node.errors import TemplateError
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.chat_template import mark
from gemma_node.text.chat_template import marks_in
from gemma_node.text.chat_template import split_marks
from gemma_node.text.chat_template import tool_turn

SOURCE = TEMPLATE.read_text()

TOOLS: list[dict[str, Any]] = [
    {'type': 'function', 'function': {
        'name': 'move_to', 'description': 'Drive the base to a named place.',
        'parameters': {
            'type': 'object',
            'properties': {
                'speed': {'type': 'number', 'description': 'Metres per second', 'minimum': 0},
                'place': {'type': 'string', 'description': 'Place name',
                          'enum': ['dock', 'kitchen']},
            },
            'required': ['place'],
        },
    }},
    {'type': 'function', 'function': {
        'name': 'grasp', 'description': 'Close the gripper on an object.',
        'parameters': {
            'type': 'object',
            'properties': {
                'object': {
                    'type': 'object', 'description': 'Target',
                    'properties': {
                        'tags': {'type': 'array', 'items': {'type': 'string'}},
                        'id': {'type': 'integer', 'description': 'Object id'},
                    },
                    'required': ['id'],
                },
                'force': {'type': 'number'},
            },
            'required': ['object'],
        },
    }},
]
CALL = {'role': 'assistant', 'tool_calls': [{'id': '1', 'type': 'function', 'function': {
    'name': 'move_to', 'arguments': {'speed': 0.5, 'place': 'kitchen'}}}]}
EXAMPLE: list[dict[str, Any]] = [
    {'role': 'system', 'content': 'You control a robot.'},
    {'role': 'user', 'content': 'Go to the kitchen and pick up the cup.'},
    CALL,
    {'role': 'tool', 'tool_call_id': '1', 'content': 'arrived'},
]
# Byte for byte what Google's template of 2026-07-09 renders for this conversation.
RENDERED = (
    '<bos><|turn>system\nYou control a robot.'
    '<|tool>declaration:move_to{description:<|"|>Drive the base to a named place.<|"|>,'
    'parameters:{properties:{place:{description:<|"|>Place name<|"|>,'
    'enum:[<|"|>dock<|"|>,<|"|>kitchen<|"|>],type:<|"|>STRING<|"|>},'
    'speed:{description:<|"|>Metres per second<|"|>,type:<|"|>NUMBER<|"|>}},'
    'required:[<|"|>place<|"|>],type:<|"|>OBJECT<|"|>}}<tool|>'
    '<|tool>declaration:grasp{description:<|"|>Close the gripper on an object.<|"|>,'
    'parameters:{properties:{force:{type:<|"|>NUMBER<|"|>},'
    'object:{description:<|"|>Target<|"|>,'
    'properties:{id:{description:<|"|>Object id<|"|>,type:<|"|>INTEGER<|"|>},'
    'tags:{items:{type:<|"|>STRING<|"|>},type:<|"|>ARRAY<|"|>}},'
    'required:[<|"|>id<|"|>],type:<|"|>OBJECT<|"|>}},'
    'required:[<|"|>object<|"|>],type:<|"|>OBJECT<|"|>}}<tool|><turn|>\n'
    '<|turn>user\nGo to the kitchen and pick up the cup.<turn|>\n'
    '<|turn>model\n<|tool_call>call:move_to{place:<|"|>kitchen<|"|>,speed:0.5}<tool_call|>'
    '<|tool_response>response:move_to{value:<|"|>arrived<|"|>}<tool_response|>'
)


@pytest.fixture(scope='module')
def template() -> ChatTemplate:
    return ChatTemplate(SOURCE)


def test_renders_googles_example_byte_for_byte(template: ChatTemplate) -> None:
    assert template.render(EXAMPLE, TOOLS, generation=True) == RENDERED


@pytest.mark.parametrize('generation', [True, False])
@pytest.mark.parametrize('messages', [
    EXAMPLE,
    EXAMPLE[1:],
    [*EXAMPLE, {'role': 'user', 'content': ' And now? \n'}],
    [*EXAMPLE, {'role': 'assistant', 'content': 'I am there.'}, {'role': 'user', 'content': 'x'}],
    [*EXAMPLE[:2], CALL],
    [{'role': 'user', 'content': [{'type': 'text', 'text': 'a'}, {'type': 'text', 'text': 'b'}]}],
])
def test_renders_as_transformers_does(
    template: ChatTemplate, messages: list[dict[str, Any]], generation: bool
) -> None:
    utils = pytest.importorskip('transformers.utils.chat_template_utils')
    rendered, _ = utils.render_jinja_template(
        [messages], tools=TOOLS, chat_template=SOURCE, add_generation_prompt=generation,
        bos_token='<bos>', eos_token='<eos>',
    )
    assert template.render(messages, TOOLS, generation=generation) == rendered[0]


def test_model_turn_stays_open_after_results_and_closes_before_the_user(
    template: ChatTemplate,
) -> None:
    text = template.render([*EXAMPLE, {'role': 'user', 'content': 'go on'}], (), generation=True)
    assert text.endswith('<tool_response|><turn|>\n<|turn>user\ngo on<turn|>\n<|turn>model\n')
    words = {'role': 'assistant', 'content': 'ok'}
    text = template.render([*EXAMPLE, words], (), generation=False)
    assert text.endswith('<tool_response|>ok<turn|>\n')


@pytest.mark.parametrize(('message', 'reason'), [
    ({'role': 'tool', 'tool_call_id': '1', 'content': {'a': 1}}, 'must be text'),
    ({'role': 'assistant', 'tool_calls': [{'id': '1', 'function': {
        'name': 'go', 'arguments': '{}'}}]}, 'must be a mapping'),
    ({'role': 'user', 'content': [{'type': 'image'}]}, 'only text'),
])
def test_template_says_why_it_refuses(
    template: ChatTemplate, message: dict[str, Any], reason: str
) -> None:
    with pytest.raises(TemplateError, match=reason):
        template.render([*EXAMPLE[:3], message], TOOLS, generation=True)


@given(st.lists(st.integers(min_value=0, max_value=10**6), max_size=6))
def test_marks_come_back_from_text_around_them(numbers: list[int]) -> None:
    text = 'x'.join(['', *(mark(number) for number in numbers), ''])
    assert marks_in(text) == numbers
    assert [piece for piece in split_marks(text) if isinstance(piece, int)] == numbers
    assert marks_in(text.upper().lower().strip().title()) == numbers


def test_transcript_grows_only_at_its_end(template: ChatTemplate) -> None:
    transcript = template.begin([{'role': 'system', 'content': mark(1)}], TOOLS)
    assert transcript.text.endswith('<tool|><turn|>\n<|turn>user\n')
    user = {'role': 'user', 'content': mark(2)}
    assert transcript.ask([user]) == f'{mark(2)}<turn|>\n<|turn>model\n'
    longer, suffix = transcript.answer([user], [('a', 'move_to'), ('b', 'grasp')])
    assert suffix == transcript.ask([user])
    assert longer.text == (transcript.text + suffix
                           + '<|tool_call>call:move_to{}<tool_call|>'
                             '<|tool_call>call:grasp{}<tool_call|>')
    results = [tool_turn('a', 'move_to', mark(3)), tool_turn('b', 'grasp', mark(4))]
    assert longer.ask([*results, {'role': 'user', 'content': mark(5)}]).startswith(
        f'<|tool_response>response:move_to{{value:<|"|>{mark(3)}<|"|>}}<tool_response|>'
        f'<|tool_response>response:grasp{{value:<|"|>{mark(4)}<|"|>}}<tool_response|><turn|>\n'
    )


def test_what_was_asked_last_is_rendered_once(
    template: ChatTemplate, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = template.begin([{'role': 'system', 'content': mark(1)}], TOOLS)
    first, second = ([{'role': 'user', 'content': mark(number)}] for number in (2, 3))
    rendered = []
    render = ChatTemplate.render

    def counted(self: ChatTemplate, *values: Any, **more: Any) -> str:
        rendered.append(values)
        return render(self, *values, **more)

    monkeypatch.setattr(ChatTemplate, 'render', counted)
    assert transcript.ask(first) == transcript.ask(first)
    assert len(rendered) == 1
    assert transcript.ask(second) != transcript.ask(first)
    assert len(rendered) == 3
    longer, _ = transcript.answer(first, reply=mark(4))
    assert len(rendered) == 4
    longer.ask(second)
    assert len(rendered) == 5


def test_prefix_ends_where_the_first_user_text_begins_without_system_and_tools(
    template: ChatTemplate,
) -> None:
    assert template.begin([], ()).text == '<bos><|turn>user\n'


PLAIN = """
{{- bos_token -}}
{%- for message in messages -%}
  {%- if message.role == 'tool' -%}
    {{- '<|tool_response>' + message.content + '<tool_response|>' -}}
  {%- else -%}
    {{- '<|turn>' + message.role + '\\n' + message.content -}}
    {%- if loop.first -%}{{- tools | tojson -}}{%- endif -%}
    {%- for call in message.tool_calls or [] -%}
      {{- '<|tool_call>call:' + call.function.name + '{}<tool_call|>' -}}
    {%- endfor -%}
    {{- '<turn|>\\n' -}}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|turn>assistant\\n' -}}{%- endif -%}
"""


def test_another_template_that_only_appends_is_accepted() -> None:
    ChatTemplate(PLAIN).probe()


@pytest.mark.parametrize('thought', ['<|channel>thought\\n<channel|>', '<|channel><channel|>\\n'])
def test_an_empty_thought_in_the_generation_prompt_is_left_out_of_the_history(
    thought: str
) -> None:
    template = ChatTemplate(
        SOURCE.replace("'<|turn>model\\n' -}}", f"'<|turn>model\\n{thought}' -}}}}")
    )
    template.probe()
    thought = thought.replace('\\n', '\n')
    transcript = template.begin([{'role': 'system', 'content': mark(1)}], TOOLS)
    user = {'role': 'user', 'content': mark(2)}
    assert transcript.ask([user]) == f'{mark(2)}<turn|>\n<|turn>model\n{thought}'
    replied, opening = transcript.answer([user], reply=mark(3))
    assert opening == f'{mark(2)}<turn|>\n<|turn>model\n'
    assert replied.text == transcript.text + opening + mark(3)
    called, opening = transcript.answer([user], [('a', 'move_to')])
    assert called.text == transcript.text + opening + '<|tool_call>call:move_to{}<tool_call|>'
    results = [tool_turn('a', 'move_to', mark(3)), {'role': 'user', 'content': mark(4)}]
    asked = called.ask(results)
    assert asked.startswith('<|tool_response>response:move_to{')
    assert asked.endswith(f'{mark(4)}<turn|>\n<|turn>model\n{thought}')
    _, opening = called.answer(results, [('b', 'grasp')])
    assert asked == opening + thought


def thoughtful(where: str) -> ChatTemplate:
    """Return a template with empty thoughts in the generation prompt and in some old turns."""
    thought = "{{- '<|channel>thought\\n<channel|>' -}}"
    source = PLAIN.replace('+ message.content -}}\n    {%- if loop.first', (
        f"-}}}}{{%- if message.role == 'assistant' and {where} -%}}{thought}{{%- endif -%}}"
        '{{- message.content -}}\n    {%- if loop.first'
    )).replace("{{- '<|turn>assistant\\n' -}}", "{{- '<|turn>assistant\\n' -}}" + thought)
    assert source.count(thought) == 2
    return ChatTemplate(source)


def test_an_empty_thought_in_every_model_turn_stays_in_the_history() -> None:
    template = thoughtful('true')
    template.probe()
    user = {'role': 'user', 'content': mark(1)}
    transcript, opening = template.begin([], ()).answer([user], reply=mark(2))
    assert opening.endswith('<|channel>thought\n<channel|>')
    assert transcript.text.endswith(f'{opening}{mark(2)}')


def test_an_empty_thought_that_later_vanishes_is_refused() -> None:
    with pytest.raises(TemplateError, match='rewrites earlier text'):
        thoughtful('loop.last').probe()


@pytest.mark.parametrize(('old', 'new', 'reason'), [
    # Only the newest messages are shown.
    ('in messages -%}', 'in messages[-3:] -%}', 'rewrites earlier text'),
    # A count of messages at the top.
    ('{{- bos_token -}}', '{{- bos_token -}}{{- messages | length -}}', 'rewrites earlier text'),
    # The newest message first.
    ('in messages -%}', 'in messages | reverse -%}', 'leaves out the tools|rewrites|repeats|once'),
    # Past model turns are dropped.
    ("{%- if message.role == 'tool' -%}",
     "{%- if message.role == 'assistant' and not loop.last -%}"
     "{%- elif message.role == 'tool' -%}", 'rewrites earlier text'),
    # Results are dropped.
    ("{{- '<|tool_response>' + message.content + '<tool_response|>' -}}", '',
     'writes a tool message 0 times'),
    # The user's words are written twice.
    ("{{- '<turn|>\\n' -}}",
     "{%- if message.role == 'user' -%}{{- message.content -}}{%- endif -%}{{- '<turn|>\\n' -}}",
     'writes a user message 2 times'),
    # The system text is repeated at the end.
    ('{%- if add_generation_prompt -%}', '{{- messages[0].content -}}'
     '{%- if add_generation_prompt -%}', 'repeats earlier messages'),
    # Something else than an empty thought stands before new words, but not before old ones.
    *[("{{- '<|turn>assistant\\n' -}}", f"{{{{- '{prompt}' -}}}}", "model's reply") for prompt in (
        '<|turn>assistant\\nSure: ',
        '<|turn>assistant\\n<|channel>thought\\n',
        '<|turn>assistant\\n<|channel>thought\\nHm.<channel|>',
        '<|turn>assistant\\n<|channel>thought\\n<channel|>Sure: ',
        '<|channel>thought\\n<channel|><|turn>assistant\\n',
    )],
    # Tools are not shown.
    ('{{- tools | tojson -}}', '', 'leaves out the tools'),
    ('{{- tools | tojson -}}', '{{- tools | tojson(ensure_ascii=true) -}}', 'exactly once'),
    # Calls are not shown, or elsewhere.
    ("{{- '<|tool_call>call:' + call.function.name + '{}<tool_call|>' -}}", '', "model's calls"),
    ("{{- '<|tool_call>call:'", "{{- 'I call <|tool_call>call:'", "model's calls"),
    # Words are changed.
    ('+ message.content -}}', "+ message.content | replace(message.content[2], '0') -}}", 'times'),
    # The date, by the function that some renderers offer.
    ('{{- bos_token -}}', "{{- bos_token + strftime_now('%d %B %Y') -}}", 'strftime_now'),
    # Chance.
    ('{{- bos_token -}}', '{{- bos_token + [1, 2] | random -}}', 'random'),
    ('{{- bos_token -}}', '{{- bos_token + lipsum() -}}', 'lipsum'),
    # What it demands is not given.
    ('{{- bos_token -}}', "{{- raise_exception('no tools, please') -}}", 'no tools, please'),
    ('{{- bos_token -}}', '{{- messages[0].date.year -}}', 'failed'),
    # Code.
    ('{{- bos_token -}}', "{{- ''.__class__.__mro__ -}}", 'unsafe'),
    ('{{- bos_token -}}', '{{- messages.append(1) -}}', 'unsafe|not safely'),
    ('{{- bos_token -}}', '{% if %}', 'line 2'),
    ('{{- bos_token -}}', '\ue000', r'U\+E000'),
])
def test_template_that_breaks_the_rule_is_refused_with_one_sentence(
    old: str, new: str, reason: str
) -> None:
    assert old in PLAIN
    with pytest.raises(TemplateError, match=reason) as caught:
        ChatTemplate(PLAIN.replace(old, new)).probe()
    assert '\n' not in str(caught.value)
    assert not any('\ue000' <= character <= '\ue00b' for character in str(caught.value))


def test_template_is_loaded_from_tokenizer_config_when_there_is_no_file(tmp_path: Path) -> None:
    config = {'chat_template': PLAIN, 'bos_token': {'content': '<bos>'}}
    (tmp_path / 'tokenizer_config.json').write_text(json.dumps(config))
    template = ChatTemplate.from_folder(tmp_path)
    assert template.begin([], ()).text == '<bos><|turn>user\n'
    assert template.digest == ChatTemplate(PLAIN).digest


def test_folder_without_a_template_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match='no chat template'):
        ChatTemplate.from_folder(tmp_path)


def test_damaged_template_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / 'tokenizer_config.json').write_text('{')
    with pytest.raises(CheckpointError, match='tokenizer_config'):
        ChatTemplate.from_folder(tmp_path)
    (tmp_path / 'tokenizer_config.json').write_text('{}')
    (tmp_path / 'chat_template.jinja').write_bytes(b'\xff\xfe')
    with pytest.raises(CheckpointError, match='cannot be read'):
        ChatTemplate.from_folder(tmp_path)
