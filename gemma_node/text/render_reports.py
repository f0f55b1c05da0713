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

"""Renders what other programs say: strings, flags, diagnostics, detections."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

from gemma_node.text.render_values import fixed
from gemma_node.text.render_values import frame_suffix
from gemma_node.text.render_values import items_of
from gemma_node.text.render_values import label
from gemma_node.text.render_values import lookup
from gemma_node.text.render_values import quoted

_MAX_STATUSES = 6
_MAX_DETECTIONS = 8
_LEVELS = ('ok', 'warn', 'error', 'stale')
_WORST_FIRST = (2, 3, 1)


def render_string(value: Any) -> str:
    """Quote the text: it is data, on one line, of bounded length."""
    data = lookup(value, 'data')
    if not isinstance(data, str):
        raise LookupError('data')
    return quoted(data)


def render_flag(value: Any) -> str:
    """Write true or false."""
    return 'true' if lookup(value, 'data') else 'false'


def render_diagnostics(value: Any) -> str:
    """Give counts by level, then every status that is not OK, worst first."""
    statuses, count = items_of(lookup(value, 'status'))
    if not count:
        return 'no status'
    levels = [_level(lookup(status, 'level')) for status in statuses]
    counts = (f'{levels.count(i)} {_LEVELS[i]}' for i in (2, 3, 1, 0) if i in levels)
    bad = [
        (level, status)
        for wanted in _WORST_FIRST
        for level, status in zip(levels, statuses, strict=True)
        if level == wanted
    ]
    parts = [', '.join(counts)]
    for level, status in bad[:_MAX_STATUSES]:
        name, message = str(lookup(status, 'name')), str(lookup(status, 'message'))
        parts.append(f'{_LEVELS[level]} {label(name)}: {label(message) if message else "-"}')
    if len(bad) > _MAX_STATUSES:
        parts.append(f'and {len(bad) - _MAX_STATUSES} more')
    return '; '.join(parts)


def _level(level: Any) -> int:
    """Read a `byte` level, which decoders hand over as int, bytes or character."""
    if isinstance(level, (bytes, bytearray)):
        level = level[0] if level else 3
    elif isinstance(level, str):
        level = ord(level[0]) if level else 3
    elif not isinstance(level, int):
        raise LookupError('level')
    return level if level in (0, 1, 2, 3) else 3


def looks_like_detections(value: Any) -> bool:
    """Say whether a message is an array of detections of some package."""
    found = value.get('detections') if isinstance(value, Mapping) else None
    if isinstance(found, Mapping):
        found = found.get('head') if '__array__' in found else None
    return isinstance(found, (list, tuple)) and all(isinstance(d, Mapping) for d in found)


def render_detections(value: Any) -> str:
    """Things seen: nearest first if distances are known, else surest first."""
    detections, count = items_of(lookup(value, 'detections'))
    if not count:
        return 'nothing seen'
    if not all(isinstance(item, Mapping) for item in detections):
        raise LookupError('detections')
    seen = [_detection(item) for item in detections]
    seen.sort(key=lambda item: item[:3])
    parts = [text for *_, text in seen[:_MAX_DETECTIONS]]
    more = f'; and {count - len(parts)} more' if count > len(parts) else ''
    return f'{count} seen: {"; ".join(parts)}{more}{frame_suffix(value)}'


def _detection(item: Mapping[str, Any]) -> tuple[float, float, str, str]:
    """Return sort keys (distance, minus confidence, name) and the text of one detection."""
    result = _first_result(item)
    name = label(str(_first(item, result, ('name', 'label', 'class_name', 'class_id', 'id'))))
    distance = _first_number(item, result, ('distance',))
    confidence = _first_number(item, result, ('confidence', 'score', 'probability'))
    parts = [name] if math.isnan(distance) else [f'{name} {fixed(distance)} m away']
    where = _place(item)
    if where:
        parts.append(where)
    if not math.isnan(confidence):
        parts.append(f'confidence {fixed(confidence * 100, 0)} %')
    key = math.inf if math.isnan(distance) else distance
    surer = 0.0 if math.isnan(confidence) else -confidence
    return key, surer, name, ', '.join(parts)


def _first_result(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the surest hypothesis of a vision_msgs detection, or an empty mapping."""
    results = item.get('results')
    if not isinstance(results, (list, tuple)):
        return {}
    hypotheses = (
        result.get('hypothesis', result) for result in results if isinstance(result, Mapping))
    return max((h for h in hypotheses if isinstance(h, Mapping)), key=_score, default={})


def _score(hypothesis: Mapping[str, Any]) -> float:
    score = hypothesis.get('score', -1.0)
    return score if isinstance(score, (int, float)) and math.isfinite(score) else -1.0


def _first(item: Mapping[str, Any], result: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    for source in (result, item):
        for name in names:
            if source.get(name) not in (None, ''):
                return source[name]
    return 'unnamed'


def _first_number(
    item: Mapping[str, Any], result: Mapping[str, Any], names: tuple[str, ...]
) -> float:
    found = _first(item, result, names)
    is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
    return float(found) if is_number and math.isfinite(found) else math.nan


def _place(item: Mapping[str, Any]) -> str:
    """Return metres for plain x, y and pixels for a bounding box; nothing if unknown."""
    x, y = item.get('x'), item.get('y')
    unit = ' m'
    if x is None or y is None:
        center = _box_center(item.get('bbox'))
        x, y = center.get('x'), center.get('y')
        unit = ' px' if 'z' not in center else ' m'
    if not isinstance(x, (int, float)) or not isinstance(y, (int, float)):
        return ''
    if not math.isfinite(x) or not math.isfinite(y):
        return ''
    decimals = 0 if unit == ' px' else 2
    return f'at x {fixed(x, decimals)}{unit}, y {fixed(y, decimals)}{unit}'


def _box_center(box: Any) -> Mapping[str, Any]:
    center = box.get('center') if isinstance(box, Mapping) else None
    position = center.get('position', center) if isinstance(center, Mapping) else None
    return position if isinstance(position, Mapping) else {}
