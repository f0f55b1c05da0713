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


"""A client on the scripted worker, and a recorder of its events."""

from __future__ import annotations

import collections
from pathlib import Path
import shutil
import threading
import uuid

import pytest

from gemma_node.core import Request
from gemma_node.core import WorkerSettings
from gemma_node.worker.client import AnswerEvent
from gemma_node.worker.client import FailedEvent
from gemma_node.worker.client import ReadyEvent
from gemma_node.worker.client import StatsEvent
from gemma_node.worker.client import WorkerClient

FAKE = str(Path(__file__).with_name('fake_assemble.py'))


class Recorder:
    """Keeps events; waits for them by a condition, never by a sleep."""

    def __init__(self):
        self.events = []
        self.threads = set()
        self._condition = threading.Condition()

    def __call__(self, event):
        with self._condition:
            self.threads.add(threading.get_ident())
            if not isinstance(event, StatsEvent) or not self.of(StatsEvent):
                self.events.append(event)
            self._condition.notify_all()

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def answers(self):
        return {event.answer.request_id: event.answer for event in self.of(AnswerEvent)}

    @property
    def answer_counts(self):
        return collections.Counter(event.answer.request_id for event in self.of(AnswerEvent))

    def wait(self, predicate, timeout_s=20.0):
        with self._condition:
            assert self._condition.wait_for(predicate, timeout_s), self.events

    def wait_for(self, kind, count=1, timeout_s=20.0):
        self.wait(lambda: len(self.of(kind)) >= count, timeout_s)
        return self.of(kind)[count - 1]

    def wait_answer(self, request_id, timeout_s=20.0):
        self.wait(lambda: request_id in self.answers, timeout_s)
        return self.answers[request_id]


class Harness:
    """One client with its recorder."""

    def __init__(self, model_path='', settings=None, **options):
        self.events = Recorder()
        settings = settings or WorkerSettings(robots=(), model_path=model_path)
        options.setdefault('_assembler', FAKE)
        self.client = WorkerClient(settings, self.events, **options)

    def start(self):
        self.client.start()
        return self

    def ready(self, count=1):
        of = self.events.of
        self.events.wait(lambda: len(of(ReadyEvent)) >= count or of(FailedEvent), 60.0)
        assert not of(FailedEvent), of(FailedEvent)
        return self

    def submit(self, text, robot='', observations=(), **fields):
        """Submit under a new id; each request its own robot unless one is named."""
        request_id = uuid.uuid4().hex
        request = Request(id=request_id, robot=robot or request_id, text=text, **fields)
        self.client.submit(request, observations)
        return request_id

    def ask(self, text, **fields):
        return self.events.wait_answer(self.submit(text, **fields))

    def pid(self):
        return int(self.ask('pid').text)


@pytest.fixture
def make():
    """Make harnesses that are stopped at the end."""
    made = []

    def make_one(*args, **options):
        made.append(Harness(*args, **options))
        return made[-1]

    yield make_one
    for harness in made:
        harness.client.stop(1.0)


@pytest.fixture(scope='session')
def random_checkpoint(tmp_path_factory):
    """Write a checkpoint with the embedded one's tokenizer and shape, and random weights."""
    from safetensors.torch import save_file
    import torch

    from gemma_node.assemble import EMBEDDED_CHECKPOINT
    from gemma_node.model.config import ModelConfig
    from gemma_node.model.gemma4 import Gemma4

    folder = tmp_path_factory.mktemp('checkpoint')
    for pattern in ('*.json', '*.jinja'):
        for file in EMBEDDED_CHECKPOINT.glob(pattern):
            shutil.copy(file, folder)
    torch.manual_seed(0)
    model = Gemma4(ModelConfig.from_folder(folder)).to(torch.bfloat16)
    weights = {f'model.{name}': tensor for name, tensor in model.state_dict().items()}
    save_file(weights, folder / 'model.safetensors')
    return folder
