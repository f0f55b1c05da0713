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

"""Write docs/tools.md from config/tools.schema.json, which a test holds against the reader."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / 'docs' / 'tools.md'
SCHEMA = ROOT / 'config' / 'tools.schema.json'
HEAD = """\
# The tools file

Written by `scripts/tools_docs.py` from `config/tools.schema.json`, which editors can check a
file with and which a test holds against the reader. `config/tools_example.yaml` has every form;
`gemma-node tools init --robot r1` drafts a file from what runs, `gemma-node tools check FILE`
shows the prompt, the grammar, what each tool costs in tokens, and one goal of each. The file is
YAML 1.2 (`yes` is text); an unknown or repeated key is an error that names its line.

A tool drives one action, service or topic. Its arguments are fields of the goal, request or
message, whose types, comments, constants and defaults come from the installed interface. The
model sees names, units, ranges and choices; the grammar makes any other call impossible, and
what a grammar cannot hold (lengths of texts, steps that are no power of ten) is checked after it
and named when the node is configured. Tools that cannot be reached are masked, never taken out
of the prompt.

**Actions.** The goal's id is the call's. A goal is canceled when it takes too long, is preempted,
loses a `during` condition, when the robot is locked, the node deactivated or shut down, and when
the worker is lost (parameter `on_engine_lost`). A cancel that is not confirmed within
`cancel_timeout` ends ORPHANED: the robot may still be moving. A server that gives no sign of life
for `server_silence` seconds while a goal runs is given up in the same way; a server that blocks
while it works, and publishes no feedback meanwhile, needs `server_silence: 0.0`.

**Services** cannot be canceled. One that does not answer within `timeout` leaves the call
ORPHANED after `cancel_timeout`, unless the tool is `idempotent`.

**Topics** are published once, or as a stream. A stream is a goal that the node serves itself:
same events, same lock. It ends with three messages of zeros, whatever ends it, and then is
silent, so give it an input of its own on twist_mux (with a timeout there: no node can publish
zeros after it was killed) rather than `cmd_vel` itself. What a message of zeros means must be
"stand still", so streams are for speeds and efforts, not for positions. Limited fields (`limits`)
rise from zero and are back at zero at the end.

**Waiting calls** (`on_busy: queue` or `preempt_own`) are judged again before they are sent: lock,
mode, inputs, area and server; a goal's stamp is the time of sending.

**Another client's goal** on the same action server takes the robot over (`on_taken_over`): the
own goal is canceled and ends with OPERATOR_TOOK_OVER, nothing is tried again, and the robot stays
in shadow mode until it is re-armed. While such a goal runs, calls are refused.
"""
TITLES = {
    'tool': 'A tool', 'argument': 'An argument', 'requirement': 'An entry of `requires`',
    'inside': '`inside`', 'feedback': '`feedback`', 'result': '`result`',
    'condition': 'A condition of `success`', 'example': 'An entry of `examples`',
    'stream': '`stream`', 'duration': '`stream.duration`', 'limit': 'An entry of `limits`',
}


def document() -> str:
    """Return the whole page."""
    schema = json.loads(SCHEMA.read_text(encoding='utf-8'))
    tables = [('The file', schema), ('`defaults`', schema['properties']['defaults'])]
    tables += [(title, schema['$defs'][name]) for name, title in TITLES.items()]
    return HEAD + ''.join(
        f'\n## {title}\n\n| key | value | meaning |\n|---|---|---|\n'
        + ''.join(_rows(part, schema['$defs'])) for title, part in tables)


def _rows(part: Mapping[str, Any], known: Mapping[str, Any], root: str = '') -> Iterator[str]:
    needed = part.get('required', ())
    for key, entry in part['properties'].items():
        full = {**known.get(entry.get('$ref', '').rpartition('/')[2], {}), **entry}
        mark = ' (needed)' if key in needed else ''
        cells = (f'`{root}{key}`{mark}', _value(full), full.get('description', ''))
        yield '| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |\n'
        is_inline = '$ref' not in entry and full.get('type') == 'object'
        if is_inline and 'properties' in full and key != 'defaults':
            yield from _rows(full, known, f'{root}{key}.')


def _value(entry: Mapping[str, Any]) -> str:
    if 'const' in entry:
        return f'`{json.dumps(entry["const"])}`'
    if 'enum' in entry:
        text = ', '.join(f'`{value}`' for value in entry['enum'])
    elif 'type' in entry:
        words = {'object': 'mapping', 'array': 'list', 'string': 'text', 'boolean': 'true, false'}
        text = words.get(entry['type'], entry['type'])
    else:
        text = ' or '.join(
            dict.fromkeys(_value(option) for option in entry.get('oneOf', ()))) or 'any'
    low = entry.get('minimum', entry.get('exclusiveMinimum'))
    if low is not None:
        text += f' {"above" if "exclusiveMinimum" in entry else "from"} {low}'
    if 'maximum' in entry:
        text += f' to {entry["maximum"]}'
    return f'{text}, default `{json.dumps(entry["default"])}`' if 'default' in entry else text


if __name__ == '__main__':
    DOCUMENT.write_text(document(), encoding='utf-8')
