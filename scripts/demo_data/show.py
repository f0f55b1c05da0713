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
Print training conversations as the model sees them: `python -m demo_data.show --seed 7`.

Run it in `scripts/`, with the repository on the path. One block a case, the answer last.
"""

from __future__ import annotations

import argparse
from collections import Counter
import sys

from demo_data import packing
from demo_data.cases import Answer
from demo_data.cases import Case
from gemma_node.core import RobotSettings
from gemma_node.text.render import render_block
from gemma_node.tools.call_format import format_call


def answer_text(answer: Answer) -> str:
    """Write an answer as people read it."""
    if not answer.calls:
        return f'REPLY {answer.reply}'
    return ' '.join(format_call(name, arguments)[17:-12].replace('<|"|>', "'") for name, arguments in answer.calls)


def declared(settings: RobotSettings) -> str:
    """Write system text and tools briefly."""
    lines = [f'SYSTEM {settings.system_prompt}']
    for tool in settings.tools:
        if tool.is_builtin:
            continue
        lines.append(f'  {tool.name}: {tool.description}')
        for name, schema in tool.parameters['properties'].items():
            star = '' if name in tool.parameters['required'] else '?'
            lines.append(f'      {name}{star}: {schema}')
    return '\n'.join(lines)


def case_text(case: Case, *, brief: bool = False) -> str:
    """Write one case."""
    lines = [f'[{case.kind}]']
    if not brief:
        for turn in case.turns:
            lines += [f'   user: {turn.text}', f'   model: {answer_text(turn.answer)}']
            lines += [f'   result: {text}' for text in (turn.result, *turn.results) if text]
        if case.state is not None:
            lines += ['   ' + line for line in render_block(case.state.observations).text.split('\n')]
    return '\n'.join([*lines, f'   USER {case.text}', f'   -> {answer_text(case.answer)}'])


def main(words: list[str] | None = None) -> None:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--packs', type=int, default=4)
    parser.add_argument('--cases', type=int, default=8)
    parser.add_argument('--kind', default='', help='only cases of this kind')
    parser.add_argument('--brief', action='store_true', help='leave out tools, history and observations')
    parser.add_argument('--drill', default='', help='show this drill')
    parser.add_argument('--stage', type=float, default=1.0, help='of the drill')
    parser.add_argument('--count', action='store_true', help='only count the kinds')
    arguments = parser.parse_args(words)
    counts: Counter[str] = Counter()
    out = sys.stdout.write
    for index in range(arguments.packs):
        if arguments.drill:
            settings, _, cases = packing.draw_drill(arguments.seed, index, arguments.cases, arguments.stage, arguments.drill)
        else:
            settings, _, cases = packing.draw_cases(arguments.seed, index, arguments.cases)
        counts.update(case.kind for case in cases)
        shown = [c for c in cases if not arguments.kind or c.kind == arguments.kind]
        if arguments.count or not shown:
            continue
        if not arguments.brief:
            out(f'\n=== pack {index}\n{declared(settings)}\n')
        for case in shown:
            out(case_text(case, brief=arguments.brief) + '\n')
    if arguments.count:
        for kind, count in counts.most_common():
            out(f'{kind:16} {count:6} {100 * count / counts.total():5.1f} %\n')


if __name__ == '__main__':
    main()
