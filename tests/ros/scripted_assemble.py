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
A decider for the real worker process, started by path: a request's text says what is called.

The text is a JSON list of [name, arguments]; any other text is answered with itself.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
import uuid

from gemma_node.core import Answer
from gemma_node.core import Call
from gemma_node.core import EngineStats
from gemma_node.core import Outcome
from gemma_node.core import RuntimeFacts


class Engine:
    has_work = False

    def stats(self):
        return EngineStats()

    def step(self):
        return []


class Decider:
    def submit(self, request, observations):
        try:
            wanted = [] if request.step else json.loads(request.text)
        except ValueError:
            wanted = []
        calls = tuple(
            Call(id=uuid.uuid5(uuid.UUID(request.id), str(index)).hex, name=name,
                 arguments=arguments, probability=1.0)
            for index, (name, arguments) in enumerate(wanted))
        outcome = Outcome.TOOL_CALL if calls else Outcome.REPLY
        return Answer(request_id=request.id, robot=request.robot, outcome=outcome, calls=calls,
                      text='' if calls else request.text)

    def on_result(self, result):
        return None

    def on_progress(self, progress):
        return None

    def cancel(self, request_id, code):
        return None

    def reset(self, robot, session, keep_turns):
        return None


def assemble(settings, report):
    facts = RuntimeFacts(
        package_version='0', model='scripted', checkpoint_digest='', recipe='', rounding='',
        backend='cpu', device='cpu', driver='', kernel_digest='', prompt_digest='',
        verified=False, not_verified=(), lanes=1, context_tokens=256)
    return SimpleNamespace(decider=Decider(), engine=Engine(), facts=facts, step_s=0.01)
