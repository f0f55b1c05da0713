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
One robot's session over very many turns: never an overflow, and compaction is like a fresh start.

    pytest -s -m slow tests/worker/test_long_session.py        100,000 turns, prints its figures

After each compaction the history's ids are those of a new conversation with the turns that were
kept, and the next decision's tokens and logits those of an empty engine without drafts.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
import hashlib
import json
import random
import shutil
import time

import pytest
from safetensors.torch import save_file
import torch

from gemma_node.assemble import assemble
from gemma_node.assemble import EMBEDDED_CHECKPOINT
from gemma_node.core import ErrorCode
from gemma_node.core import GenerationResult
from gemma_node.core import Request
from gemma_node.core import RobotSettings
from gemma_node.core import ToolChoice
from gemma_node.core import ToolDeclaration
from gemma_node.core import ToolResult
from gemma_node.core import WorkerSettings
from gemma_node.engine.engine import Engine
from gemma_node.model.config import ModelConfig
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.weights import load_model

PLACES = ('kitchen', 'dock', 'lab', 'hall', 'office', 'garden')
GO = ToolDeclaration(name='go_to', description='Go to a place.', parameters={
    'type': 'object', 'required': ['place'], 'additionalProperties': False,
    'properties': {'place': {'type': 'string', 'enum': list(PLACES)}},
})
ROBOT = RobotSettings(
    name='r1', system_prompt='You drive a robot.', tools=(GO,), history_turns=8,
    history_tokens=300)
TINY = {
    'hidden_size': 32, 'intermediate_size': 64, 'num_hidden_layers': 4, 'num_attention_heads': 2,
    'num_key_value_heads': 1, 'head_dim': 16, 'global_head_dim': 16,
    'hidden_size_per_layer_input': 16, 'num_kv_shared_layers': 2, 'sliding_window': 128,
    'layer_types': ['sliding_attention', 'full_attention'] * 2,
}  # fmt: skip


@pytest.fixture(scope='module')
def checkpoint(tmp_path_factory):
    """Write a very small random checkpoint with the embedded one's tokenizer."""
    folder = tmp_path_factory.mktemp('tiny')
    for pattern in ('*.json', '*.jinja'):
        for file in EMBEDDED_CHECKPOINT.glob(pattern):
            shutil.copy(file, folder)
    config = json.loads((folder / 'config.json').read_text())
    for name in ('quantization', 'quantization_config'):
        config.pop(name, None)
    (folder / 'config.json').write_text(json.dumps(config | TINY))
    torch.manual_seed(3)
    model = Gemma4(ModelConfig.from_folder(folder)).to(torch.bfloat16)
    weights = {f'model.{name}': tensor for name, tensor in model.state_dict().items()}
    save_file(weights, folder / 'model.safetensors')
    return folder


class Session:
    """A robot that is asked turn after turn; `wrong` says what was not as it must be."""

    def __init__(self, checkpoint):
        self.random = random.Random(5)
        settings = WorkerSettings(
            robots=(ROBOT,), model_path=str(checkpoint), num_threads=1, lanes=2,
            context_tokens=640, max_tokens=24, max_calls=1, temperature=1.0, state_budget_mb=8)
        self.generations = []
        self.assembly = assemble(settings, lambda _share, _text: None, relay=self._relay)
        self.decider, self.engine = self.assembly.decider, self.assembly.engine
        self.fresh = Engine(load_model(checkpoint), replace(
            self.engine.config, state_budget_bytes=0, drafts=False))
        self.turns = deque(maxlen=ROBOT.history_turns)
        self.open_call = None
        self.is_compacted = False
        self.num_turns = self.num_compactions = self.num_overflows = 0
        self.wrong = []

    def _relay(self, engine):
        submit = engine.submit

        def submitted(generation):
            self.generations.append(generation)
            submit(generation)

        engine.submit = submitted
        return engine

    def turn(self):
        """Ask once; check what a compaction left, and the decision after it."""
        number, conversation = self.num_turns, self.decider._conversations.get(('r1', ''))
        self.num_turns += 1
        before = conversation.history_turns if conversation else 0
        results = ()
        if self.open_call is not None and self.random.random() < 0.7:
            results = (ToolResult(call_id=self.open_call, name='go_to', text='arrived'),)
        request = Request(
            id=f'{number + 1:032x}', robot='r1', seed=number, tool_choice=ToolChoice.REQUIRED,
            text=f'Drive to the {self.random.choice(PLACES)} now, order {number}.',
            tool_results=results)
        ids, answer, digest = self._run(self.engine, request)
        if answer.error_code is ErrorCode.CONTEXT_OVERFLOW:
            self.num_overflows += 1
            return
        assert answer.error_code is ErrorCode.NONE, answer.error_msg
        if self.is_compacted:
            self._compare_with_fresh(ids, digest)
        self.open_call = answer.calls[0].id
        self.turns.append((request, ids, self.decider._conversations['r1', '']._open_calls()))
        conversation = self.decider._conversations['r1', '']
        self.is_compacted = conversation.history_turns <= before
        if self.is_compacted:
            self.num_compactions += 1
            self._compare_history(conversation)
        if self.random.random() < 0.5:
            while self.engine.has_work:
                self.engine.step()

    def _run(self, engine, request):
        digest = hashlib.sha256()
        engine.set_trace(lambda name, at, logits: name == request.id and digest.update(
            at.to_bytes(4, 'little') + logits.tobytes()))
        answer = self.decider.submit(request, ())
        ids = ()
        while answer is None:
            for event in engine.step():
                if isinstance(event, GenerationResult):
                    ids, answer = event.token_ids, self.decider.on_result(event)
                    ids = (*ids, event.stop_id)
        return ids, answer, digest.hexdigest()

    def _compare_history(self, conversation):
        """Hold the history against that of a new conversation with the same newest turns."""
        settings = replace(ROBOT, history_turns=10**6, history_tokens=10**9)
        new = self.decider._writer.conversation(settings)
        for index, (request, ids, calls) in enumerate(
            list(self.turns)[len(self.turns) - conversation.history_turns:]
        ):
            if not index:
                request = replace(request, tool_results=())
            new.commit(request, ids[:-1], calls)
        if new.history_ids != conversation.history_ids:
            self.wrong.append(f'turn {self.num_turns}: ids')

    def _compare_with_fresh(self, ids, digest):
        """Run the newest generation in an empty engine, token by token."""
        asked = self.generations[-1]
        constraint = self.decider.grammars.constraint(ROBOT.tools, ToolChoice.REQUIRED, 1)
        plain = replace(asked, constraint=constraint, draft=False)
        found = hashlib.sha256()
        self.fresh.set_trace(lambda _name, at, logits: found.update(
            at.to_bytes(4, 'little') + logits.tobytes()))
        self.fresh.submit(plain)
        while self.fresh.has_work:
            for event in self.fresh.step():
                if isinstance(event, GenerationResult):
                    token_ids = (*event.token_ids, event.stop_id)
        if (token_ids, found.hexdigest()) != (ids, digest):
            self.wrong.append(f'turn {self.num_turns}: tokens or logits')


def run(checkpoint, num_turns):
    session = Session(checkpoint)
    started = time.process_time()
    for _ in range(num_turns):
        session.turn()
        del session.generations[:-1]
    seconds = time.process_time() - started
    print(f'{session.num_turns} turns, {session.num_compactions} compactions, '
          f'{session.num_overflows} CONTEXT_OVERFLOW, {len(session.wrong)} unequal, '
          f'{seconds:.0f} s of processor time')
    assert session.wrong == []
    assert session.num_overflows == 0
    assert session.num_compactions > num_turns // 10


def test_200_turns_of_one_robot_never_overflow_and_compact_like_a_fresh_start(checkpoint):
    run(checkpoint, 200)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_100000_turns_of_one_robot_never_overflow_and_compact_like_a_fresh_start(checkpoint):
    run(checkpoint, 100_000)
