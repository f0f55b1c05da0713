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
A scripted decider and engine for the worker process, started by path.

Request texts are commands: ``reply N`` answers after N steps, ``forever`` only on cancel, the
rest breaks something on purpose. `model_path` scripts the load in the same way.
"""

from __future__ import annotations

import os
from pathlib import Path
import signal
import sys
import time
from types import SimpleNamespace

from gemma_node.core import Answer
from gemma_node.core import EngineStats
from gemma_node.core import ErrorCode
from gemma_node.core import Finish
from gemma_node.core import GenerationProgress
from gemma_node.core import GenerationResult
from gemma_node.core import Outcome
from gemma_node.core import RuntimeFacts
from gemma_node.core import Stage
from gemma_node.errors import CheckpointError
from gemma_node.worker.frames import Progress

STEP_S = 0.002


class FakeEngine:
    def __init__(self):
        self.left = {}
        self.command = {}
        self.canceled = {}
        self.num_steps = 0
        self.must_fail = 0

    @property
    def has_work(self):
        return bool(self.left)

    def submit(self, request_id, command, steps):
        self.left[request_id] = steps
        self.command[request_id] = command

    def cancel(self, request_id, code):
        self.canceled[request_id] = code

    def close(self):
        pass

    def stats(self):
        return EngineStats(lanes_busy=len(self.left), generated_tokens=self.num_steps)

    def step(self):
        self.num_steps += 1
        time.sleep(STEP_S)
        if self.must_fail:
            self.must_fail -= 1
            raise RuntimeError('the device is gone')
        for command in list(self.command.values()):
            self._misbehave(command)
        events = []
        for request_id in list(self.left):
            self.left[request_id] -= 1
            if request_id in self.canceled:
                code = self.canceled.pop(request_id)
                events.append(
                    GenerationResult(id=request_id, finish=Finish.CANCELED, error_code=code)
                )
            elif self.left[request_id] <= 0:
                events.append(GenerationResult(id=request_id, finish=Finish.STOP))
            else:
                events.append(GenerationProgress(id=request_id, stage=Stage.DECODE))
                continue
            del self.left[request_id], self.command[request_id]
        return events

    def _misbehave(self, command):
        verb, _, argument = command.partition(' ')
        if verb == 'hang':
            time.sleep(float(argument))
        elif verb == 'exit':
            os._exit(int(argument))
        elif verb == 'stop':
            os.kill(os.getpid(), signal.SIGSTOP)
        elif verb == 'garbage':
            fd = int(sys.argv[sys.argv.index('--fd') + 1])
            os.write(fd, bytes.fromhex(argument))
            time.sleep(0.5)
        elif verb == 'print':
            print('to stdout', flush=True)
        elif verb == 'interrupt':
            os.kill(os.getpid(), signal.SIGINT)


class FakeDecider:
    def __init__(self, engine):
        self.engine = engine
        self.robots = {}
        self.texts = {}
        self.resets = []

    def submit(self, request, observations):
        self.robots[request.id] = request.robot
        self.texts[request.id] = f'{request.text} {len(observations)}'
        verb, _, argument = request.text.partition(' ')
        if verb == 'submit-raises':
            raise ValueError('no such thing')
        if verb == 'refuse':
            return self._answer(request.id, Outcome.REFUSED, ErrorCode.NOT_ALLOWED, 'no')
        if verb == 'resets':
            return self._answer(request.id, Outcome.REPLY, ErrorCode.NONE, str(self.resets))
        if verb == 'pid':
            return self._answer(request.id, Outcome.REPLY, ErrorCode.NONE, str(os.getpid()))
        if verb == 'step-raises':
            self.engine.must_fail = int(argument)
        steps = {'reply': int(argument or 1) if verb == 'reply' else 0, 'forever': 1 << 40}
        self.engine.submit(request.id, request.text, steps.get(verb, 3))
        return None

    def on_result(self, result):
        if self.texts[result.id].startswith('result-raises'):
            raise ValueError('no such result')
        failed = result.finish is not Finish.STOP
        outcome = Outcome.FAILED if failed else Outcome.REPLY
        return self._answer(result.id, outcome, result.error_code, self.texts[result.id])

    def on_progress(self, progress):
        return Progress(progress.id, progress.stage, 1, 1, 'so far')

    def cancel(self, request_id, code):
        self.engine.cancel(request_id, code)

    def reset(self, robot, session, keep_turns):
        self.resets.append((robot, session, keep_turns))

    def _answer(self, request_id, outcome, code, text):
        return Answer(
            request_id=request_id,
            robot=self.robots[request_id],
            outcome=outcome,
            error_code=code,
            text=text,
            queue_time=0.0,
        )


def assemble(settings, report):
    """Follow the script in `model_path`: verb, then an argument."""
    verb, _, argument = settings.model_path.partition(' ')
    report(0.1, 'reading the script')
    if verb == 'refuse':
        raise CheckpointError(f'{argument} is\nno checkpoint')
    if verb == 'crash':
        raise ZeroDivisionError('a bug')
    if verb == 'import':
        raise ImportError("No module named 'torch'")
    if verb == 'die':
        os._exit(3)
    if verb == 'die-after-first' and Path(argument).exists():
        os._exit(4)
    if verb == 'die-after-first':
        Path(argument).touch()
    if verb == 'slow':
        deadline = time.monotonic() + float(argument)
        while time.monotonic() < deadline:
            time.sleep(0.02)
            report(0.5, 'being slow')
    if verb == 'stuck':
        time.sleep(float(argument))
    engine = FakeEngine()
    return SimpleNamespace(decider=FakeDecider(engine), engine=engine, facts=_facts(), step_s=0.01)


def _facts():
    return RuntimeFacts(
        package_version='0',
        model='fake',
        checkpoint_digest='',
        recipe='',
        rounding='',
        backend='cpu',
        device='cpu',
        driver='',
        kernel_digest='',
        prompt_digest='',
        verified=True,
        not_verified=(),
        lanes=1,
        context_tokens=64,
    )
