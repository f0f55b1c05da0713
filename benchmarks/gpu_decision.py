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
Decisions on one GPU through the whole worker: `gpu_decision.py CKPT --out FILE`.

Each is of the demo's catalogue: render, tokenise, grammar, engine, validate. Replies are forced: a
random model would never end a call, so each draw is looked at as ever, and then the next token of
a known call is taken, which the mask has to allow. Warm: the robot's state is kept, the sentence
and observations are new. Cold: nothing is kept. `draft: false` is the plain reference.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
import json
from pathlib import Path
import statistics
import sys
import time
from typing import Any
import uuid

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gemma_node.assemble import assemble  # noqa: E402
from gemma_node.assemble import Assembly  # noqa: E402
from gemma_node.core import Answer  # noqa: E402
from gemma_node.core import Generation  # noqa: E402
from gemma_node.core import GenerationResult  # noqa: E402
from gemma_node.core import Observation  # noqa: E402
from gemma_node.core import Request  # noqa: E402
from gemma_node.core import WorkerSettings  # noqa: E402
from gemma_node.engine import producer  # noqa: E402
from gemma_node.engine import sampler  # noqa: E402
from gemma_node.policy.settings import from_mapping  # noqa: E402
from gemma_node.policy.settings import to_worker_settings  # noqa: E402
from gemma_node.tools.catalogue import load_catalogue  # noqa: E402
from gemma_node.tools.yaml_reader import read_yaml  # noqa: E402

CALL = '<|tool_call>call:drive_to{heading:90,speed:0.5,x:1.25,y:-3.4}<tool_call|>'


def settings_of(checkpoint: str, device: str, *, notes: int = 0, **more: Any) -> WorkerSettings:
    """
    Return the settings of the demo's robots for a checkpoint.

    :param notes: so many sentences more stand in the robots' system prompts
    """
    tree: Any = read_yaml(ROOT / 'config' / 'gemma_node.yaml').plain()
    settings = from_mapping(tree['/**']['ros__parameters'])
    worker = to_worker_settings(settings, load_catalogue(ROOT / 'config' / 'tools.yaml'))
    said = ''.join(f' Shelf {number} stands at {number / 4}, {-number / 5}.'
                   for number in range(1, notes + 1))  # fmt: skip
    robots = tuple(
        replace(each, system_prompt=each.system_prompt + said) for each in worker.robots
    )
    return replace(worker, robots=robots, model_path=checkpoint, device=device, **more)


class Teacher:
    """Takes the tokens of known replies in place of drawn ones."""

    def __init__(self, assembly: Assembly, text: str) -> None:
        tokenizer = assembly.decider.tokenizer
        self.reply = tokenizer.encode_markup(text)
        self._text = tokenizer.decode
        self.num_drawn = 0

    def draw(self, logits: Any, mask: Any, generation: Generation, position: int) -> Any:
        """Look at a row as ever, and return the draw with the known token."""
        drawn = sampler.draw(logits, mask, generation, position)
        index = position - len(generation.prompt_ids)
        token = self.reply[index] if index < len(self.reply) else generation.stop_ids[0]
        if mask is not None and not int(mask[token // 32]) >> (token % 32) & 1:
            raise ValueError(f'token {index} of the reply, {token}, is not allowed')
        self.num_drawn += 1
        return replace(drawn, token_id=token)


def observations(number: int) -> tuple[Observation, ...]:
    """Return one input as the demo's robots publish it."""
    pose = {'position': {'x': 1.2 + number / 100, 'y': -0.4, 'z': 0.0},
            'orientation': {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0}}  # fmt: skip
    zero = {'x': 0.0, 'y': 0.0, 'z': 0.0}
    odometry = {'header': {'frame_id': 'map'}, 'child_frame_id': 'base_link',
                'pose': {'pose': pose}, 'twist': {'twist': {'linear': zero, 'angular': zero}}}
    return (
        Observation(name='odom', topic='/r1/odom', type='nav_msgs/msg/Odometry', age_s=0.1,
                    max_age_s=1.0, value=odometry),
    )  # fmt: skip


def decide(assembly: Assembly, number: int, text: str, *, draft: bool = True) -> Answer:
    """Return one decision's answer, stepping the engine as the worker's loop does."""
    request = Request(id=uuid.UUID(int=number + 1).hex, robot='r1', text=text, keep=False,
                      draft=draft)  # fmt: skip
    answer = assembly.decider.submit(request, observations(number))
    while answer is None:
        for event in assembly.engine.step():
            if isinstance(event, GenerationResult):
                answer = assembly.decider.on_result(event)
    return answer


def measure(assembly: Assembly, repeats: int, synchronize: Callable[[], None]) -> dict[str, Any]:
    """Return times of decisions in each way."""
    found: dict[str, Any] = {}
    teacher = Teacher(assembly, CALL)
    producer.draw = teacher.draw  # type: ignore[assignment]
    steps = [0]
    forward = assembly.engine._runner.forward

    def counted(batch: Any) -> Any:
        steps[0] += 1
        return forward(batch)

    assembly.engine._runner.forward = counted  # type: ignore[method-assign]
    number = 0
    for name, draft, is_cold in (
        ('warm', True, False), ('warm, draft: false', False, False), ('cold', True, True)
    ):  # fmt: skip
        times, firsts, answers = [], [], []
        for index in range(repeats + 1):
            if is_cold:
                assembly.decider.reset('', '')
                assembly.engine.clear()
            synchronize()
            steps[0], teacher.num_drawn, number = 0, 0, number + 1
            text = f'Robot {number}, drive to the shelf at 1.25, -3.4 facing 90 degrees.'
            started = time.perf_counter()
            answer = decide(assembly, number, text, draft=draft)
            took = time.perf_counter() - started
            if answer.error_msg:
                raise AssertionError(answer.error_msg)
            # The first of each kind fills the state.
            if index:
                times.append(1e3 * took)
                firsts.append(1e3 * answer.prefill_time)
                answers.append(answer)
        last = answers[-1]
        found[name] = {
            'median_ms': round(statistics.median(times), 2),
            'slowest_ms': round(max(times), 2),
            'until_first_token_ms': round(statistics.median(firsts), 2),
            'prompt_tokens': last.prompt_tokens, 'cached_tokens': last.cached_tokens,
            'completion_tokens': last.completion_tokens, 'forced_tokens': last.forced_tokens,
            'drafted_tokens': last.drafted_tokens,
            'decode_steps': steps[0], 'drawn': teacher.num_drawn,
            'calls': [call.name for call in last.calls],
            'digests': len({answer.output_digest for answer in answers}),
        }  # fmt: skip
        sys.stdout.write(f'{name}: {found[name]}\n')
        sys.stdout.flush()
    return found


def main() -> None:
    """Measure, write the file, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('checkpoint')
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--device', default='cuda')
    parser.add_argument('--repeats', type=int, default=15)
    parser.add_argument('--lanes', type=int, default=8)
    parser.add_argument('--notes', type=int, default=0, help='sentences that lengthen the state')
    arguments = parser.parse_args()
    began = time.perf_counter()
    worker = settings_of(arguments.checkpoint, arguments.device, allow_unverified=True,
                         lanes=arguments.lanes, state_budget_mb=2048,
                         notes=arguments.notes)  # fmt: skip
    with torch.inference_mode():
        assembly = assemble(worker, lambda _share, text: sys.stdout.write(
            f'{time.perf_counter() - began:.2f} s: {text}\n') and None)  # fmt: skip
        synchronize = torch.cuda.synchronize if arguments.device == 'cuda' else lambda: None
        report: dict[str, Any] = {
            'runner': assembly.engine.runner_identity,
            'assembled_s': round(time.perf_counter() - began, 2),
            'device': torch.cuda.get_device_name() if torch.cuda.is_available() else 'cpu',
            'torch': torch.__version__,
            'decisions': measure(assembly, arguments.repeats, synchronize),
        }
    arguments.out.write_text(json.dumps(report, indent=1) + '\n')


if __name__ == '__main__':
    main()
