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
Random logits over the catalogues of every installed interface: no invalid call leaves.

The engine is the only thing made up: prompts, grammars, parser and validation are the worker's,
messages and serialisation those of the node. A draft of each interface's tools is the catalogue.
"""

from pathlib import Path
import random
import sys
import time
import uuid

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
from gemma_node.errors import RequestError
from gemma_node.ros_env import has_ros_wheels
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.tokenizer import Tokenizer
from gemma_node.tools.catalogue import load_catalogue
from gemma_node.tools.draft import draft
from gemma_node.tools.draft import Offer
from gemma_node.tools.interface_schema import InterfaceSource
from gemma_node.tools.overlay import to_message
from gemma_node.tools.validate import validate_call

if not has_ros_wheels():
    pytest.skip('ROS is not installed from wheels', allow_module_level=True)

from rclpy.serialization import serialize_message

from gemma_node.ros.messages import fill
from gemma_node.ros.messages import interface_class

DEMO = Path(__file__).parents[2] / 'gemma_node' / 'assets' / 'demo'
INDEX = Path(sys.prefix) / 'share/ament_index/resource_index/rosidl_interfaces'
KINDS = {'action': 'action', 'srv': 'service', 'msg': 'topic'}
TOOLS_EACH = 12
MAX_TOKENS = 96
CHUNK = 500
# One prompt, mask and call at a time; a hang is what takes this much longer than milliseconds.
LIMIT_S = 5.0


def offers():
    for index in sorted(INDEX.iterdir()):
        for line in index.read_text().split():
            kind, _, file = line.partition('/')
            name, _, suffix = file.partition('.')
            if kind in KINDS and suffix == kind:
                yield Offer(kind=KINDS[kind], type=f'{index.name}/{kind}/{name}',
                            name=f'{name}_{kind}')


class RandomEngine:
    """Decodes random logits greedily within the mask."""

    def __init__(self, tokenizer, vocab_size):
        self.rng = np.random.default_rng(0)
        self.vocab_size = vocab_size
        self.generations = []
        marks = [tokenizer.special_ids[name] for name in (
            '<|tool_call>', '<tool_call|>', '<|"|>')]
        ends = [token_id for token_id in range(tokenizer.vocab_size)
                if set(tokenizer.decode([token_id])) & set('}],')]
        # Without these few walks of random logits would ever end a text or a list.
        self.bias = np.zeros(vocab_size, np.float32)
        self.bias[ends] = 3.0
        self.bias[marks] = 6.0
        self.row = np.zeros((vocab_size + 31) // 32, dtype=np.int32)

    def submit(self, generation):
        self.generations.append(generation)

    def cancel(self, generation_id, code=None):
        raise AssertionError('nothing is canceled here')

    def forget(self, state_key):
        pass

    def prepare(self, state_key, token_ids, cuts):
        pass

    def run(self):
        generation = self.generations.pop()
        constraint, ids = generation.constraint, []
        while len(ids) < generation.max_tokens:
            constraint.fill_bitmask(self.row)
            allowed = np.flatnonzero(np.unpackbits(self.row.view(np.uint8), bitorder='little'))
            assert allowed.size, 'a state without any token'
            logits = 2.5 * self.rng.standard_normal(allowed.size, np.float32)
            token_id = int(allowed[np.argmax(logits + self.bias[allowed])])
            assert constraint.accept(token_id)
            if token_id in generation.stop_ids:
                return GenerationResult(
                    id=generation.id, finish=Finish.STOP, token_ids=tuple(ids), stop_id=token_id,
                    probabilities=(0.5,) * len(ids), masses=(0.5,) * len(ids))
            ids.append(token_id)
        return GenerationResult(id=generation.id, finish=Finish.LENGTH, token_ids=tuple(ids),
                                probabilities=(0.5,) * len(ids), masses=(0.5,) * len(ids))


class Bench:
    """One decider whose robots have all installed interfaces as tools, twelve each."""

    def __init__(self, folder):
        interfaces = InterfaceSource.installed()
        drawn = list(offers())
        random.Random(0).shuffle(drawn)
        self.specs = {}
        for start in range(0, len(drawn), TOOLS_EACH):
            file = folder / f'{start}.yaml'
            file.write_text(draft(drawn[start:start + TOOLS_EACH], interfaces))
            self.specs[f'r{start}'] = load_catalogue(file, interfaces).by_name
        tokenizer = Tokenizer.from_folder(DEMO)
        self.engine = RandomEngine(tokenizer, tokenizer.vocab_size)
        settings = WorkerSettings(
            robots=tuple(
                RobotSettings(name=name, system_prompt='', history_turns=0, tools=tuple(
                    spec.declaration for spec in specs.values()))
                for name, specs in self.specs.items()),
            context_tokens=16384, max_tokens=MAX_TOKENS, max_calls=3)
        self.decider = Decider(
            tokenizer, ChatTemplate.from_folder(DEMO), settings, self.engine,
            vocab_size=tokenizer.vocab_size)
        self.num_calls = self.num_out_of_range = self.num_too_long = 0
        self.outcomes = dict.fromkeys(Outcome, 0)

    def generate(self, rng):
        """Ask one robot for something, with tools allowed and absent at random; judge it."""
        robot = rng.choice(list(self.specs))
        names = list(self.specs[robot])
        choice = rng.choice((ToolChoice.AUTO, ToolChoice.REQUIRED, ToolChoice.REQUIRED,
                             ToolChoice.NONE))
        request = Request(
            id=uuid.UUID(int=rng.getrandbits(128), version=4).hex, robot=robot, text='Go.',
            keep=False, tool_choice=choice,
            allowed_tools=tuple(rng.sample(names, 4)) if rng.random() < 0.3 else (),
            unavailable_tools=tuple(rng.sample(names, 3)) if rng.random() < 0.3 else ())
        started_s = time.monotonic()
        assert self.decider.submit(request, ()) is None
        answer = self.decider.on_result(self.engine.run())
        assert time.monotonic() - started_s < LIMIT_S
        self.outcomes[answer.outcome] += 1
        assert choice is not ToolChoice.NONE or not answer.calls
        if answer.outcome is Outcome.FAILED:
            # Lengths of texts are not in the grammar; all else that is wrong would be its fault.
            is_long = answer.error_code is ErrorCode.SCHEMA_VIOLATION and (
                'is too long' in answer.error_msg)
            assert is_long or answer.error_code is ErrorCode.TRUNCATED, answer
            self.num_too_long += is_long
        for call in answer.calls:
            self.judge(request, call)

    def judge(self, request, call):
        """Check that a call that left is declared, allowed, valid, and a message or refused."""
        spec = self.specs[request.robot][call.name]
        self.num_calls += 1
        assert spec.is_builtin or not request.allowed_tools or call.name in request.allowed_tools
        assert spec.is_builtin or call.name not in request.unavailable_tools
        assert validate_call(spec.declaration, call.arguments) == []
        if spec.is_builtin:
            return
        found = interface_class(spec.interface_type)
        part = {'action': 'Goal', 'srv': 'Request'}.get(spec.interface_type.split('/')[1])
        message = (getattr(found, part) if part else found)()
        try:
            values = to_message(spec, call.arguments, frame_prefix='r1/')
        except RequestError as error:
            # A schema has no float32: such a number is refused before anything is sent.
            assert error.code.name == 'LIMIT_EXCEEDED'
            self.num_out_of_range += 1
            return
        now = interface_class('builtin_interfaces/msg/Time')()
        serialize_message(fill(message, values, now=now))


@pytest.fixture(scope='module')
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp('catalogues'))


def _run(bench, count, seed):
    rng = random.Random(seed)
    bench.num_calls = bench.num_out_of_range = bench.num_too_long = 0
    bench.outcomes = dict.fromkeys(Outcome, 0)
    bench.engine.rng = np.random.default_rng(seed)
    for _ in range(count):
        bench.generate(rng)
    assert sum(bench.outcomes.values()) == count
    assert bench.num_calls > count / 4
    assert bench.num_out_of_range < bench.num_calls / 10
    assert bench.outcomes[Outcome.REPLY] > 0


def test_catalogues_hold_every_installed_interface(bench):
    types = {spec.interface_type for specs in bench.specs.values() for spec in specs.values()}
    assert len(types - {''}) == len({offer.type for offer in offers()}) > 200


@pytest.mark.parametrize('seed', range(4))
def test_random_logits_let_no_invalid_call_out(bench, seed):
    _run(bench, CHUNK, seed)


@pytest.mark.slow
@pytest.mark.parametrize('seed', range(100, 200))
def test_fifty_thousand_random_generations_let_no_invalid_call_out(bench, seed):
    _run(bench, CHUNK, seed)
