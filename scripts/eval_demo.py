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
Ask a checkpoint hand-written sentences through the runtime's own path, and count right answers.

Prompt, grammar, engine and parser are those of the worker; one fixed state of one robot.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
import json
import math
from pathlib import Path
import sys
import time
from typing import Any
import uuid

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'scripts')]

from demo_data.catalogues import demo_catalogue  # noqa: E402
from gemma_node.assemble import assemble  # noqa: E402
from gemma_node.assemble import Assembly  # noqa: E402
from gemma_node.core import Answer  # noqa: E402
from gemma_node.core import GenerationResult  # noqa: E402
from gemma_node.core import Observation  # noqa: E402
from gemma_node.core import Outcome  # noqa: E402
from gemma_node.core import Request  # noqa: E402
from gemma_node.core import RobotSettings  # noqa: E402
from gemma_node.core import WorkerSettings  # noqa: E402
from gemma_node.policy.settings import DEFAULT_SYSTEM_PROMPT  # noqa: E402

ROBOT = 'alpha'


@dataclass(frozen=True)
class Score:
    """Whether the tool (or the kind of answer) was right, and whether all of it was."""

    say: str
    has_tool: bool
    is_exact: bool
    got: str


def read_cases(file: Path) -> list[dict[str, Any]]:
    """Read a file of sentences."""
    cases: list[dict[str, Any]] = YAML(typ='safe').load(file.read_text(encoding='utf-8'))
    return cases


def observations(case: dict[str, Any]) -> tuple[Observation, ...]:
    """Return the robot's state; a case may set battery (percent), front (m) and error."""
    def vector(x: float = 0.0, y: float = 0.0) -> dict[str, float]:
        return {'x': x, 'y': y, 'z': 0.0}

    def header(frame: str) -> dict[str, Any]:
        return {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': frame}

    half = math.sqrt(0.5)
    pose = {'position': vector(1.25, -3.4),
            'orientation': {'x': 0.0, 'y': 0.0, 'z': half, 'w': half}}
    front = case.get('front', 2.4)
    found = [
        ('odom', 'nav_msgs/msg/Odometry', 0.1, 1.0, {
            'header': header('odom'), 'pose': {'pose': pose},
            'twist': {'twist': {'linear': vector(0.3), 'angular': vector()}}}),
        ('battery', 'sensor_msgs/msg/BatteryState', 0.5, 30.0, {
            'header': header(''), 'percentage': case.get('battery', 57) / 100, 'voltage': 24.1,
            'current': -1.2, 'power_supply_status': 2, 'power_supply_health': 1}),
        ('scan', 'sensor_msgs/msg/LaserScan', 0.2, 1.0, {
            'header': header('base_link'), 'angle_min': -math.pi, 'angle_increment': math.pi / 4,
            'range_min': 0.05, 'range_max': 12.0,
            'ranges': [3.1, 2.0, 1.4, 2.2, front, 3.3, 1.1, 2.7]}),
        ('detections', 'gemma_node/msg/DetectionArray', 0.3, 2.0, {
            'header': header('map'), 'detections': [
                {'name': 'red mug', 'x': 1.6, 'y': -3.0, 'distance': 0.53, 'confidence': 0.93},
                {'name': 'bottle', 'x': 4.0, 'y': -3.0, 'distance': 2.8, 'confidence': 0.81}]}),
    ]
    if 'error' in case:
        found.append(('errorcodes', 'std_msgs/msg/String', 1.2, 10.0, {'data': case['error']}))
    return tuple(
        Observation(name=name, topic=f'/{name}', type=kind, age_s=age, max_age_s=limit,
                    value=value)
        for name, kind, age, limit, value in found)


def load(model_path: str, num_threads: int) -> Assembly:
    """Assemble a worker for one robot with the package's tools."""
    robot = RobotSettings(name=ROBOT, system_prompt=DEFAULT_SYSTEM_PROMPT,
                          tools=demo_catalogue().declarations(), history_turns=0)
    settings = WorkerSettings(
        robots=(robot,), model_path=model_path, num_threads=num_threads, device='cpu')
    return assemble(settings, lambda *_: None)


def ask(assembly: Assembly, case: dict[str, Any]) -> Answer:
    """Return the worker's answer to one sentence."""
    request = Request(id=uuid.uuid4().hex, robot=ROBOT, text=case['say'], keep=False)
    answer = assembly.decider.submit(request, observations(case))
    while answer is None:
        for event in assembly.engine.step():
            if isinstance(event, GenerationResult):
                answer = assembly.decider.on_result(event)
    return answer


def judge(case: dict[str, Any], answer: Answer) -> Score:
    """Compare an answer with what the case wants."""
    call = answer.calls[0] if answer.calls else None
    got = f'{call.name} {json.dumps(dict(call.arguments))}' if call else answer.text
    if 'reply' in case:
        is_reply = call is None and answer.outcome is Outcome.REPLY
        return Score(case['say'], is_reply, is_reply and case['reply'] in answer.text, got)
    if case['tool'] == 'no_action':
        has_tool = answer.outcome is Outcome.NO_ACTION
        return Score(case['say'], has_tool, has_tool, got)
    has_tool = call is not None and call.name == case['tool']
    wanted = case.get('arguments') or {}
    is_exact = has_tool and call is not None and all(
        _same(call.arguments.get(key), value) for key, value in wanted.items())
    return Score(case['say'], has_tool, is_exact, got)


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, str):
        return isinstance(found, str) and found.strip(' .!').lower() == wanted.lower()
    return bool(found == wanted)


def main() -> None:
    """Read the command line, ask, and write a JSON report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('sentences', nargs='+', type=Path)
    parser.add_argument('--model', default='', help="folder; '' is the embedded checkpoint")
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--out', type=Path, required=True)
    arguments = parser.parse_args()
    assembly = load(arguments.model, arguments.threads)
    report: dict[str, Any] = {'checkpoint_digest': assembly.facts.checkpoint_digest, 'sets': {}}
    for file in arguments.sentences:
        began = time.monotonic()
        scores = [judge(case, ask(assembly, case)) for case in read_cases(file)]
        report['sets'][file.stem] = {
            'sentences': len(scores), 'tool': sum(s.has_tool for s in scores),
            'exact': sum(s.is_exact for s in scores), 'wall_s': round(time.monotonic() - began, 1),
            'wrong': [{'say': s.say, 'got': s.got} for s in scores if not s.is_exact],
        }
    arguments.out.write_text(json.dumps(report, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
