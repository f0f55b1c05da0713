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


"""The wiring on a random checkpoint of the embedded one's shape, and what it refuses."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys

import pytest
from safetensors.torch import load_file
from safetensors.torch import save_file

from gemma_node.assemble import assemble
from gemma_node.assemble import checkpoint_digest
from gemma_node.assemble import checkpoint_folder
from gemma_node.assemble import default_num_threads
from gemma_node.assemble import EMBEDDED_CHECKPOINT
from gemma_node.assemble import kernel_digest
from gemma_node.backends import base
from gemma_node.backends import cpu
from gemma_node.backends import identity
from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import GenerationResult
from gemma_node.core import Request
from gemma_node.core import RobotSettings
from gemma_node.core import ToolDeclaration
from gemma_node.core import WorkerSettings
from gemma_node.errors import CheckpointError
from gemma_node.errors import ConfigError
from gemma_node.errors import GrammarError
from gemma_node.errors import RequestError
from gemma_node.quant.convert import convert
from gemma_node.worker.questions import Question
from gemma_node.worker.questions import QuestionType

ROBOT = RobotSettings(name='r1', system_prompt='You are r1.', tools=())


def settings(path, **fields):
    fields = {'robots': (ROBOT,), 'num_threads': 1, 'lanes': 2, **fields}
    return WorkerSettings(model_path=str(path), **fields)


def ignore(*_):
    pass


@pytest.fixture
def copy(random_checkpoint, tmp_path):
    folder = tmp_path / 'copy'
    shutil.copytree(random_checkpoint, folder)
    return folder


def test_facts_say_what_was_loaded(random_checkpoint):
    told = []
    assembly = assemble(settings(random_checkpoint), lambda *each: told.append(each))
    facts = assembly.facts
    assert (facts.backend, facts.lanes) == ('cpu', 2)
    assert facts.recipe == 'bfloat16, computed as stored in float32'
    assert facts.model == str(random_checkpoint)
    assert facts.verified
    assert facts.not_verified == ()
    assert facts.num_parameters > 1_000_000
    assert facts.device
    assert facts.checkpoint_digest == checkpoint_digest(random_checkpoint)
    assert len({facts.checkpoint_digest, facts.kernel_digest, facts.prompt_digest}) == 3
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert all(text for _, text in told)
    assert not assembly.engine.has_work
    assert 0.0 < assembly.step_s < 5.0


def test_a_converted_checkpoint_is_served_and_says_how(random_checkpoint, tmp_path):
    folder = tmp_path / 'converted'
    made = convert(random_checkpoint, folder, 'mlx-4bit-ple-bf16')
    assembly = assemble(settings(folder), ignore)
    plain = made.num_matrices - made.num_quantised
    assert assembly.facts.recipe == (
        f'{made.num_quantised} mlx-4bit/64, {plain} bfloat16, computed as stored in '
        'float32'
    )
    whole = assemble(settings(random_checkpoint), ignore).facts
    assert assembly.facts.num_parameters == whole.num_parameters
    assert assembly.facts.checkpoint_digest != whole.checkpoint_digest
    request = Request(id='0' * 32, robot='r1', text='Go to the kitchen.', max_tokens=4)
    assembly.decider.submit(request, ())
    results = []
    while assembly.engine.has_work:
        results += assembly.engine.step()
    assert isinstance(results[-1], GenerationResult)
    assert results[-1].finish in (Finish.LENGTH, Finish.STOP)
    assert results[-1].cached_tokens == 0 and results[-1].token_ids


def test_weights_that_are_not_finite_are_served_only_where_allowed_and_counted(copy):
    weights = load_file(copy / 'model.safetensors')
    # The last row of the per-layer table, which the warm-up does not gather.
    weights['model.embed_tokens_per_layer.weight'][-1, :5] = float('nan')
    save_file(weights, copy / 'model.safetensors', {'format': 'pt'})
    with pytest.raises(CheckpointError, match=r'holds 5 values .* model\.allow_not_finite: true'):
        assemble(settings(copy), ignore)
    facts = assemble(settings(copy, allow_not_finite=True), ignore).facts
    assert facts.recipe.endswith(', 5 values NaN or infinite')


def test_a_question_is_scored_from_the_robots_history_by_the_embedded_checkpoint():
    assembly = assemble(settings(''), ignore)
    request = Request(id='0' * 32, robot='r1', text='Go to the kitchen.', max_tokens=64)
    assert assembly.decider.submit(request, ()) is None
    results = []
    while assembly.engine.has_work:
        results += [e for e in assembly.engine.step() if isinstance(e, GenerationResult)]
        while results:
            assembly.decider.on_result(results.pop())
    question = Question(id='1' * 32, robot='r1', text='Did the robot go?',
                        type=QuestionType.YES_NO)
    assert assembly.decider.questions.ask(question, ()) == []
    while assembly.engine.has_work:
        results += [e for e in assembly.engine.step() if isinstance(e, GenerationResult)]
    verdict = assembly.decider.questions.on_result(results[0])
    assert verdict.error_msg == ''
    assert sum(verdict.probabilities) == pytest.approx(1.0)
    assert 0.0 < verdict.label_mass <= 1.0
    assert 0 < verdict.cached_tokens < verdict.prompt_tokens


def test_prompt_digest_follows_the_system_prompt(random_checkpoint):
    first = assemble(settings(random_checkpoint), ignore).facts.prompt_digest
    other = dataclasses.replace(ROBOT, system_prompt='You are not r1.')
    second = assemble(settings(random_checkpoint, robots=(other,)), ignore).facts.prompt_digest
    assert first != second


def test_missing_folder_is_named():
    with pytest.raises(CheckpointError, match='/no/such/folder is no folder'):
        assemble(settings('/no/such/folder'), ignore)


def test_empty_path_means_the_embedded_checkpoint():
    assert checkpoint_folder('') == EMBEDDED_CHECKPOINT


@pytest.mark.parametrize('name', ['tokenizer.json', 'config.json', 'model.safetensors'])
def test_missing_or_damaged_file_is_named(copy, name):
    (copy / name).write_bytes(b'damaged')
    with pytest.raises(CheckpointError, match=name):
        assemble(settings(copy), ignore)
    (copy / name).unlink()
    with pytest.raises(CheckpointError, match=name):
        assemble(settings(copy), ignore)


def test_tokenizer_of_another_model_is_refused(copy):
    tokenizer = json.loads((copy / 'tokenizer.json').read_text())
    size = json.loads((copy / 'config.json').read_text())['vocab_size']
    extra = {**tokenizer['added_tokens'][0], 'id': size, 'content': '<one_more>'}
    tokenizer['added_tokens'].append(extra)
    tokenizer['model']['vocab']['<one_more>'] = size
    (copy / 'tokenizer.json').write_text(json.dumps(tokenizer))
    with pytest.raises(CheckpointError, match='of different checkpoints'):
        assemble(settings(copy), ignore)


def test_tokenizer_that_lacks_most_of_the_models_tokens_is_refused(tmp_path):
    copy = shutil.copytree(EMBEDDED_CHECKPOINT, tmp_path / 'copy')
    tokenizer = json.loads((copy / 'tokenizer.json').read_text())
    vocab = tokenizer['model']['vocab']
    tokenizer['model'].update(vocab=dict(list(vocab.items())[:300]), merges=[])
    (copy / 'tokenizer.json').write_text(json.dumps(tokenizer))
    with pytest.raises(CheckpointError, match='of different checkpoints'):
        assemble(settings(copy), ignore)


@pytest.mark.parametrize('name', ['pad', 'bos', 'eos'])
def test_special_ids_that_config_and_tokenizer_disagree_on_are_refused(copy, name):
    config = json.loads((copy / 'config.json').read_text())
    right = config[f'{name}_token_id']
    (copy / 'config.json').write_text(json.dumps(config | {f'{name}_token_id': 77}))
    with pytest.raises(CheckpointError, match=f'<{name}> is {right} in the tokenizer and 77 in'):
        assemble(settings(copy), ignore)


def test_context_beyond_the_checkpoint_is_refused(random_checkpoint):
    with pytest.raises(ConfigError, match=r'context_tokens is 1000000, the checkpoint goes to'):
        assemble(settings(random_checkpoint, context_tokens=1_000_000), ignore)


def test_device_that_is_not_served_is_refused(random_checkpoint):
    with pytest.raises(ConfigError, match="'tpu'"):
        assemble(settings(random_checkpoint, device='tpu'), ignore)


def test_device_without_a_receipt_is_refused_with_what_to_do(random_checkpoint, monkeypatch):
    present = dataclasses.replace(
        base.BACKENDS['cuda'],
        is_present=lambda: True,
        free_bytes=lambda: 1e12,
        describe=lambda: 'Test 9000',
        identity=dict,
    )
    monkeypatch.setitem(base.BACKENDS, 'cuda', present)
    monkeypatch.setenv('XDG_STATE_HOME', str(random_checkpoint.parent / 'state'))
    with pytest.raises(ConfigError, match=r'gemma-node receipts .* --device cuda.*allow_unverif'):
        assemble(settings(random_checkpoint, device='cuda'), ignore)


def test_memory_that_would_not_suffice_is_refused_before_weights_are_read(copy, monkeypatch):
    monkeypatch.setattr('gemma_node.assemble.load_model', None)
    with pytest.raises(RequestError, match='state_budget_mb') as caught:
        assemble(settings(copy, state_budget_mb=1 << 30), ignore)
    assert caught.value.code is ErrorCode.OUT_OF_MEMORY


def test_tool_that_cannot_be_compiled_is_refused(random_checkpoint):
    tool = ToolDeclaration(
        name='bad',
        description='d',
        parameters={'type': 'object', 'properties': {'x': {'not': {}}}},
    )
    robot = dataclasses.replace(ROBOT, tools=(tool,))
    with pytest.raises((GrammarError, ConfigError), match='bad'):
        assemble(settings(random_checkpoint, robots=(robot,)), ignore)


def test_report_that_raises_ends_the_load(random_checkpoint):
    def report(fraction, text):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        assemble(settings(random_checkpoint), report)


def test_checkpoint_digest_covers_contents_and_names_but_no_other_file(copy):
    before = checkpoint_digest(copy)
    (copy / 'CARD.md').write_text('a note')
    assert checkpoint_digest(copy) == before
    weights = bytearray((copy / 'model.safetensors').read_bytes())
    weights[-1] ^= 1
    (copy / 'model.safetensors').write_bytes(weights)
    changed = checkpoint_digest(copy)
    assert changed != before
    (copy / 'generation_config.json').rename(copy / 'other.json')
    assert checkpoint_digest(copy) not in (before, changed)


def test_kernel_digest_covers_sources_and_the_torch_version(monkeypatch):
    before = kernel_digest()
    assert kernel_digest() == before
    monkeypatch.setattr(identity, 'version', lambda name: '0.0')
    assert kernel_digest() != before
    monkeypatch.undo()
    monkeypatch.setattr(identity, '_KERNEL_FOLDERS', ('engine',))
    assert kernel_digest() != before


def test_threads_are_the_physical_cores_less_one(monkeypatch):
    monkeypatch.setattr(os, 'sched_getaffinity', lambda pid: {0, 1, 2, 3, 4, 5})
    monkeypatch.setattr(cpu, '_siblings', lambda cpu: f'core {cpu % 3}')
    assert default_num_threads() == 2
    monkeypatch.setattr(cpu, '_siblings', lambda cpu: 'the only core')
    assert default_num_threads() == 1


def test_thread_count_is_applied_and_the_import_needs_no_ros(random_checkpoint):
    code = f"""
import sys, torch
from gemma_node.assemble import assemble
from gemma_node.core import WorkerSettings
assemble(WorkerSettings(robots=(), model_path={str(random_checkpoint)!r}, num_threads=1),
         lambda *a: None)
print(torch.get_num_threads(), [n for n in ('rclpy', 'transformers') if n in sys.modules])
"""
    run = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == '1 []'
