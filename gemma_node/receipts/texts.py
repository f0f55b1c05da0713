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

"""The texts whose tokens are forced: what robots and their operators write, in several scripts."""

from __future__ import annotations

from pathlib import Path

from gemma_node.errors import CheckpointError
from gemma_node.text.tokenizer import Tokenizer

_TEXTS = (
    '<bos><|turn>system\nYou are robot r{n}. Decide which tool to call, or say why none fits.',
    '<|turn>user\nDrive to the charging dock, but wait at the door of room {n} if it is closed.',
    'Observations:\n- odom (0.{n} s ago): x {n}.25 m, y -0.35 m, yaw 91 deg, speed 0.30 m/s\n',
    '- battery (2 s ago): {n} %, 24.{n} V, discharging\n- bumper: pressed at the left front',
    '<|tool_call>call:move_to{{place:<|"|>kitchen<|"|>,speed:0.{n}}}<tool_call|>',
    'The gripper holds a cup of {n} grams. Put it on the second shelf and come back slowly.',
    'result of go_to: the goal was aborted after {n} s because the path was blocked twice.',
    'Fahre bitte zum Lager {n}, nimm die blaue Kiste und sag Bescheid, wenn du fertig bist.',
    'Va au quai numero {n}, puis arrete-toi; personne ne doit entrer dans la zone rouge.',
    '{{"pose": {{"x": {n}.5, "y": -2.0, "theta": 1.57}}, "frame_id": "map", "valid": true}}',
    '\u8bf7\u53bb\u53a8\u623f\uff0c\u62ff\u4e00\u676f\u6c34\u7ed9\u6211 {n}.',
    'for i in range({n}):\n    speed = min(limit, distance[i] / 2.0)  # metres per second\n',
)
_MAX_ROUNDS = 4096


def forced_token_ids(checkpoint: Path, count: int) -> list[int]:
    """Return `count` tokens of texts in the checkpoint's own tokenizer."""
    tokenizer = Tokenizer.from_folder(checkpoint)
    ids: list[int] = []
    for number in range(_MAX_ROUNDS):
        text = _TEXTS[number % len(_TEXTS)].format(n=number + 1)
        ids += tokenizer.encode_markup(text)
        if len(ids) >= count:
            return ids[:count]
    raise CheckpointError(f'{checkpoint}/tokenizer.json gives almost no tokens for texts')
