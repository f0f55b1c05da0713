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
Reads a tool's rules: what it requires, where it may act, what is shown of feedback and result.

Shapes and constants of the result are checked where the interface can be read.
"""

from __future__ import annotations

from collections.abc import Mapping
import math
import re
from typing import Any

from gemma_node.core import ToolDeclaration
from gemma_node.tools.interface_schema import InterfaceSource
from gemma_node.tools.spec import Condition
from gemma_node.tools.spec import FeedbackRule
from gemma_node.tools.spec import Inside
from gemma_node.tools.spec import Requirement
from gemma_node.tools.spec import ResultRule
from gemma_node.tools.validate import validate_call
from gemma_node.tools.yaml_reader import YamlNode

MAX_CORNERS = 512


def seconds(settings: Mapping[str, YamlNode], key: str, default: float) -> float:
    """Return a time above 0, at most a day."""
    return float(settings[key].number(above=0.0, maximum=86400.0)) if key in settings else default


def read_requires(node: YamlNode | None) -> tuple[Requirement, ...]:
    """Read the list of conditions on inputs."""
    if node is None:
        return ()
    return tuple(_read_requirement(item) for item in node.sequence())


def _read_requirement(node: YamlNode) -> Requirement:
    entries = node.mapping(('input', 'max_age', 'field', 'above', 'below', 'equals', 'otherwise',
                            'during'))
    if 'input' not in entries:
        raise node.error('the key input is missing: the name of an observation')
    tests = [key for key in ('above', 'below', 'equals') if key in entries]
    if bool(tests) != ('field' in entries):
        raise node.error('field and one of above, below, equals belong together')
    if not tests and 'max_age' not in entries:
        raise node.error('requires nothing; give max_age, or field with above, below or equals')
    above = entries['above'].number() if 'above' in entries else None
    below = entries['below'].number() if 'below' in entries else None
    if above is not None and below is not None and above >= below:
        raise node.error(f'above {above} and below {below} leave no value')
    return Requirement(
        input=entries['input'].text(),
        max_age_s=seconds(entries, 'max_age', math.inf),
        field=entries['field'].text() if 'field' in entries else '',
        above=above,
        below=below,
        has_equals='equals' in entries,
        equals=entries['equals'].plain() if 'equals' in entries else None,
        otherwise=entries['otherwise'].text() if 'otherwise' in entries else '',
        during='during' in entries and entries['during'].boolean(),
    )


def read_inside(node: YamlNode | None, declaration: ToolDeclaration) -> Inside | None:
    """Read the polygon, the frame that it is in, and which arguments must lie in it."""
    if node is None:
        return None
    entries = node.mapping(('polygon', 'x', 'y', 'frame', 'max_age'))
    for key in ('polygon', 'x', 'y'):
        if key not in entries:
            raise node.error(f'the key {key} is missing')
    properties = declaration.parameters['properties']
    numbers = [name for name, schema in properties.items()
               if schema['type'] in ('number', 'integer')]
    corners = []
    for corner in entries['polygon'].sequence():
        values = corner.sequence()
        if len(values) != 2:
            raise corner.error('a corner is [x, y]')
        corners.append((float(values[0].number()), float(values[1].number())))
    _check_polygon(entries['polygon'], corners)
    if 'max_age' in entries and 'frame' not in entries:
        raise entries['max_age'].error('is the age of a transform, which only a frame needs')
    x, y = entries['x'].choice(numbers), entries['y'].choice(numbers)
    if x == y:
        raise entries['y'].error(f'x and y are both the argument {x}')
    return Inside(polygon=tuple(corners), x=x, y=y,
                  frame=entries['frame'].text() if 'frame' in entries else '',
                  max_age_s=seconds(entries, 'max_age', 1.0))


def _check_polygon(node: YamlNode, corners: list[tuple[float, float]]) -> None:
    """Refuse what encloses no area, or what lies inside of depends on how one counts."""
    if not 3 <= len(corners) <= MAX_CORNERS:
        raise node.error(f'a polygon has at least 3 corners and at most {MAX_CORNERS}, '
                         f'found {len(corners)}')
    edges = list(zip(corners, [*corners[1:], corners[0]], strict=True))
    left, low = corners[0]
    moved = [((x1 - left, y1 - low), (x2 - left, y2 - low)) for (x1, y1), (x2, y2) in edges]
    size = max(abs(value) for corner, _ in moved for value in corner)
    area = sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in moved) / 2.0
    if abs(area) <= 1e-9 * size * size:
        raise node.error('the corners enclose no area')
    for index, (a, b) in enumerate(edges):
        for c, d in edges[:index]:
            if _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0:
                raise node.error(f'the edge from {list(c)} to {list(d)} crosses the one from '
                                 f'{list(a)} to {list(b)}; list the corners in order')


def _side(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> int:
    turn = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return (turn > 0) - (turn < 0)


def read_feedback(node: YamlNode | None) -> FeedbackRule:
    """Read what is shown of feedback, and what progress is."""
    if node is None:
        return FeedbackRule()
    entries = node.mapping(('progress', 'show', 'period'))
    show = entries['show'].texts() if 'show' in entries else ()
    period_s = seconds(entries, 'period', 1.0)
    if 'progress' not in entries:
        return FeedbackRule(show=show, period_s=period_s)
    progress = entries['progress'].mapping(('field', 'from', 'to'))
    for key in ('field', 'from', 'to'):
        if key not in progress:
            raise entries['progress'].error(f'the key {key} is missing')
    start = math.nan
    if isinstance(progress['from'].value, str):
        progress['from'].choice(('first',))
    else:
        start = float(progress['from'].number())
    return FeedbackRule(
        show=show, period_s=period_s, progress_field=progress['field'].text(),
        progress_from=start, progress_to=float(progress['to'].number()))


def read_result(
    node: YamlNode | None, interface_type: str, interfaces: InterfaceSource,
) -> ResultRule:
    """Read what is shown of the result, and when the call has worked."""
    if node is None:
        return ResultRule()
    entries = node.mapping(('show', 'success'))
    show = entries['show'].texts() if 'show' in entries else ()
    if 'success' not in entries:
        return ResultRule(show=show)
    success = entries['success'].mapping(('field', 'equals', 'any', 'all'))
    groups = [key for key in ('any', 'all') if key in success]
    if groups and len(success) > 1:
        raise entries['success'].error('give field and equals, or any, or all')
    nodes = success[groups[0]].sequence() if groups else [entries['success']]
    if not nodes:
        raise success[groups[0]].error('must not be empty; leave success out if every end is one')
    return ResultRule(
        show=show, needs_all=groups != ['any'],
        success=tuple(_read_condition(item, interface_type, interfaces) for item in nodes))


def _read_condition(
    node: YamlNode, interface_type: str, interfaces: InterfaceSource,
) -> Condition:
    entries = node.mapping(('field', 'equals'))
    if len(entries) != 2:
        raise node.error('needs field and equals')
    value = entries['equals'].plain()
    if isinstance(value, str):
        value = _constant_of(entries['equals'], value, interface_type, interfaces)
    return Condition(field=entries['field'].text(), equals=value)


def _constant_of(
    node: YamlNode, name: str, interface_type: str, interfaces: InterfaceSource,
) -> Any:
    """Return a result constant's value; text that is no constant's name stays text."""
    if re.fullmatch(r'[A-Z][A-Z0-9_]*', name) is None:
        return name
    sections = interfaces.sections(interface_type)
    if sections is None:
        raise node.error(f'{interface_type} cannot be read here; write the value of {name}')
    constants = sections[1].constants
    if name not in constants:
        raise node.error(f'{interface_type} has no result constant {name}; choices are: '
                         f'{", ".join(constants) or "none"}')
    return constants[name]


def read_examples(
    node: YamlNode | None, declaration: ToolDeclaration,
) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Read sentences with their calls, which must fit the declaration."""
    examples = []
    for item in node.sequence() if node is not None else ():
        entries = item.mapping(('say', 'call'))
        if len(entries) != 2:
            raise item.error('needs say and call')
        call = {key: value.plain() for key, value in entries['call'].mapping().items()}
        if problems := validate_call(declaration, call):
            raise entries['call'].error(problems[0])
        examples.append((entries['say'].text(), call))
    return tuple(examples)


def absent_fields(
    rule: ResultRule, interface_type: str, interfaces: InterfaceSource,
) -> tuple[str, ...]:
    """Return the result fields the rule names that the interface, where readable, lacks."""
    sections = interfaces.sections(interface_type)
    if sections is None:
        return ()
    named = (*rule.show, *(condition.field for condition in rule.success))
    roots = dict.fromkeys(re.split(r'[.\[]', name)[0] for name in named)
    return tuple(root for root in roots if root not in sections[1].fields)
