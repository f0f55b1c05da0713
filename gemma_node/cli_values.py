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

"""Arguments of the command that are more than words, and how it prints JSON."""

from __future__ import annotations

import argparse
import json
import re
from typing import Any

from rich.console import Console


def utf8_text(text: str) -> str:
    """Refuse what the shell passed on as bytes that are no text: no message can carry it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError(f'must be UTF-8 text, got {text[:80]!r}') from None
    return text


def ros_name(text: str) -> str:
    """Refuse what is no name of a node."""
    if not re.fullmatch(r'/?([A-Za-z_][A-Za-z0-9_]*/)*[A-Za-z_][A-Za-z0-9_]*', text):
        raise argparse.ArgumentTypeError(f'must be a ROS name such as /gemma_node, got {text!r}')
    return text


def positive_seconds(text: str) -> float:
    """Refuse what is no time above 0."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(f'must be seconds above 0, got {text!r}')
    return seconds


def print_json(console: Console, value: Any) -> None:
    """Print a value as JSON, whatever the width of the terminal."""
    text = json.dumps(value, allow_nan=False, indent=2)
    console.print(text, markup=False, highlight=False, soft_wrap=True)
