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

"""Draws loss curves and held-out scores as one SVG, without a plotting library."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
import math
from typing import Any

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 760, 380, 60, 60, 24, 46
_COLOURS = ('#1f5fa8', '#b3541e', '#3c7a3c', '#7a3c7a', '#8a7a1e')


def draw_curve(runs: Sequence[tuple[str, Sequence[dict[str, Any]]]]) -> str:
    """Return an SVG of (name, curve) pairs: loss on a log scale, held-out share on a linear."""
    losses = [point['loss'] for _, curve in runs for point in curve if 'loss' in point]
    last = max((point['step'] for _, curve in runs for point in curve), default=1) or 1
    low, high = math.log10(max(min(losses), 1e-4)), math.log10(max(losses))
    span = max(high - low, 1e-6)

    def place(step: float, share: float) -> str:
        x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * step / last
        y = _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * share
        return f'{x:.1f},{y:.1f}'

    parts = [*_axes(low, high, last)]
    for number, (name, curve) in enumerate(runs):
        colour = _COLOURS[number % len(_COLOURS)]
        loss = ' '.join(
            place(p['step'], (math.log10(max(p['loss'], 1e-4)) - low) / span)
            for p in curve if 'loss' in p)
        held = ' '.join(place(p['step'], p['held_out']['all'])
                        for p in curve if 'held_out' in p)
        parts.append(f'<polyline points="{loss}" fill="none" stroke="{colour}"/>')
        parts.append(f'<polyline points="{held}" fill="none" stroke="{colour}" '
                     'stroke-width="2" stroke-dasharray="5 4"/>')
        parts.append(f'<text x="{_LEFT + 90}" y="{_TOP + 18 + 16 * number}" fill="{colour}">'
                     f'{escape(name)}: loss (line), held-out answers right (dashes)</text>')
    body = '\n'.join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
            f'font-family="sans-serif" font-size="12">\n'
            f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n')


def _axes(low: float, high: float, last: int) -> list[str]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = [f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}V{_TOP}" fill="none" stroke="#444"/>']
    for number in range(5):
        share = number / 4
        y = bottom - (bottom - _TOP) * share
        loss = 10 ** (low + (high - low) * share)
        x = _LEFT + (right - _LEFT) * share
        parts += [
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{loss:.3g}</text>',
            f'<text x="{right + 6}" y="{y + 4:.1f}">{share:.0%}</text>',
            f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{last * share:.0f}</text>',
        ]
    parts.append(f'<text x="{(_LEFT + right) / 2}" y="{_HEIGHT - 8}" '
                 'text-anchor="middle">step</text>')
    return parts
