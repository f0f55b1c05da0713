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

"""Write docs/parameters.md from the table that the node itself declares its parameters by."""

from __future__ import annotations

import math
from pathlib import Path

from gemma_node.policy.parameter_specs import NODE_PARAMETERS
from gemma_node.policy.parameter_specs import OBSERVATION_PARAMETERS
from gemma_node.policy.parameter_specs import ParameterSpec
from gemma_node.policy.parameter_specs import ROBOT_PARAMETERS
from gemma_node.policy.parameter_specs import TRIGGER_PARAMETERS

DOCUMENT = Path(__file__).resolve().parents[1] / 'docs' / 'parameters.md'
HEAD = """# Parameters

Written by `scripts/parameter_docs.py` from `gemma_node/policy/parameter_specs.py`; `ros2 param
describe /gemma_node NAME` shows the same. Live ones may change while the node runs; the others
are read-only once it is configured. An unknown name refuses the configure transition.
"""


def document() -> str:
    """Return the whole page."""
    tables = (
        ('Node', NODE_PARAMETERS),
        ('Each robot', ROBOT_PARAMETERS),
        ('Each observation of a robot', OBSERVATION_PARAMETERS),
        ('Each trigger of a robot', TRIGGER_PARAMETERS),
    )
    parts = [HEAD]
    for title, specs in tables:
        rows = '\n'.join(map(_row, specs))
        head = '| name | type | default | allowed | live | meaning |\n|---|---|---|---|---|---|'
        parts.append(f'\n## {title}\n\n{head}\n{rows}\n')
    return ''.join(parts)


def _row(spec: ParameterSpec) -> str:
    default = '[]' if spec.default == () else repr(spec.default).lower()
    if isinstance(spec.default, str):
        default = repr(spec.default)
    live = 'yes' if spec.is_live else ''
    cells = (f'`{spec.name}`', spec.kind, f'`{default}`', _allowed(spec), live, spec.description)
    return '| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |'


def _allowed(spec: ParameterSpec) -> str:
    if spec.choices:
        return ', '.join(spec.choices)
    if math.isinf(spec.maximum):
        return '' if math.isinf(spec.minimum) else f'≥ {spec.minimum:g}'
    return f'{spec.minimum:g} … {spec.maximum:g}'


if __name__ == '__main__':
    DOCUMENT.write_text(document(), encoding='utf-8')
