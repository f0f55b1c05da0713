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


import pytest

from gemma_node.errors import ConfigError
from gemma_node.tools.catalogue import load_catalogue
from gemma_node.tools.interface_schema import check_value
from gemma_node.tools.interface_schema import InterfaceSource
from gemma_node.tools.interface_schema import is_interface_type
from gemma_node.tools.interface_schema import schema_of
from gemma_node.tools.overlay import to_message

pytest.importorskip('rosidl_adapter', reason='rosidl_adapter is not installed')

ACTION = """\
# Moves.
string<=8 place     # where to go
float32 x           # target [m]
uint8[] raw
int16[<=3] steps
float64[2] pair
test_pkg/Pose pose
---
uint8 NONE=0
uint8 BLOCKED=7
uint8 error_code
---
float32 left        # [m]
"""


@pytest.fixture
def interfaces(tmp_path) -> InterfaceSource:
    package = tmp_path / 'test_pkg'
    for folder, name, text in (
        ('action', 'Move.action', ACTION), ('msg', 'Pose.msg', 'Point position\nbool ok\n'),
        ('msg', 'Point.msg', 'float64 x\n'), ('msg', 'Broken.msg', 'float64\n'),
        ('srv', 'Ask.srv', 'string question\n---\nbool success\nstring message\n'),
    ):
        (package / folder).mkdir(parents=True, exist_ok=True)
        (package / folder / name).write_text(text)
    return InterfaceSource([tmp_path])


@pytest.mark.parametrize(('path', 'schema'), [
    (('place',), {'type': 'string', 'maxLength': 8}), (('x',), {'type': 'number'}),
    (('raw',), {'type': 'array', 'items': {'type': 'integer', 'minimum': 0, 'maximum': 255}}),
    (('steps',), {'type': 'array', 'maxItems': 3,
                  'items': {'type': 'integer', 'minimum': -32768, 'maximum': 32767}}),
    (('pair',), {'type': 'array', 'items': {'type': 'number'}, 'minItems': 2, 'maxItems': 2}),
    (('pair', 1), {'type': 'number'}), (('pose', 'position', 'x'), {'type': 'number'}),
    (('pose', 'ok'), {'type': 'boolean'}), (('pose',), None),
])
def test_field_becomes_a_schema(interfaces, path, schema):
    assert schema_of(interfaces.field_at('test_pkg/action/Move', path)) == schema


@pytest.mark.parametrize(('path', 'fragment'), [
    (('speed',), 'choices are: place, x, raw'), (('x', 'y'), "x has no field 'y'"),
    (('x', 0), 'no array'), (('pair', 2), 'at most 2'), (('pose', 'z'), 'position, ok'),
])
def test_field_that_does_not_exist_is_refused(interfaces, path, fragment):
    with pytest.raises(ConfigError, match=fragment):
        interfaces.field_at('test_pkg/action/Move', path)


def test_parts_comments_units_and_constants_are_read(interfaces):
    goal, result, feedback = interfaces.sections('test_pkg/action/Move')
    assert (goal.fields['x'].unit, goal.fields['place'].comment) == ('m', 'where to go')
    assert result.constants == {'NONE': 0, 'BLOCKED': 7}
    assert list(feedback.fields) == ['left']
    assert [list(part.fields) for part in interfaces.sections('test_pkg/srv/Ask')] == [
        ['question'], ['success', 'message']]


def test_interface_that_is_not_there_is_unknown_and_a_broken_one_is_an_error(interfaces):
    assert interfaces.sections('other_pkg/msg/None') is None
    assert interfaces.field_at('other_pkg/msg/None', ('x',)) is None
    with pytest.raises(ConfigError, match='cannot be parsed'):
        interfaces.sections('test_pkg/msg/Broken')


def _tools(body: str) -> str:
    return f"""\
version: 1
tools:
  move:
    action: test_pkg/action/Move
    name: move
    description: Move.
    arguments:
      {body}
    result: {{success: {{field: error_code, equals: NONE}}}}
"""


@pytest.fixture
def load(tmp_path, interfaces):
    def from_body(body: str):
        file = tmp_path / 'tools.yaml'
        file.write_text(_tools(body))
        return load_catalogue(file, interfaces).by_name['move']
    return from_body


def test_types_units_and_descriptions_come_from_the_interface(load):
    move = load('x: {minimum: -1, maximum: 1}')
    assert move.declaration.parameters['properties'] == {'x': {
        'type': 'number', 'minimum': -1, 'maximum': 1, 'description': 'target (m, -1 to 1)'}}
    assert move.result.success[0].equals == 0
    assert to_message(move, {'x': 1}) == {'x': 1.0}


@pytest.mark.parametrize(('body', 'fragment'), [
    ('speed: {type: number}', "no field 'speed'; choices are: place"),
    ('x: {type: string}', 'x is float32, which takes number, not string'),
    ('place: {max_length: 9}', 'contradicts the field, which has maxLength 8'),
    ('steps[0]: {alias: step, maximum: 40000}', 'contradicts the field'),
    ('pose: {alias: place}', 'has fields of its own'),
])
def test_overlay_that_contradicts_the_interface_is_refused(load, body, fragment):
    with pytest.raises(ConfigError, match=fragment) as caught:
        load(body)
    assert ':8: ' in str(caught.value)


def test_unknown_result_constant_lists_the_choices(tmp_path, interfaces):
    file = tmp_path / 'tools.yaml'
    file.write_text(_tools('x: {}').replace('equals: NONE', 'equals: FINE'))
    with pytest.raises(ConfigError, match='choices are: NONE, BLOCKED'):
        load_catalogue(file, interfaces)


def test_own_interfaces_are_found_in_the_repository():
    sections = InterfaceSource([]).sections('gemma_node/action/NavigateTo')
    assert list(sections[0].fields) == ['place', 'x', 'y', 'yaw', 'speed']


@pytest.mark.parametrize(('text', 'kind', 'expected'), [
    ('a/action/B', 'action', True), ('a/msg/B', 'action', False), ('a/B', 'msg', False),
    ('a/msg/../B', 'msg', False), ('../msg/B', 'msg', False), ('a/msg/B/c', 'msg', False),
    ('ä/msg/B', 'msg', False), ('', 'msg', False),
])
def test_interface_type_names(text, kind, expected):
    assert is_interface_type(text, kind) == expected


@pytest.mark.parametrize(('field_type', 'good', 'bad'), [
    ('bool', (True, False), (1, 'true', None)),
    ('int8', (-128, 127), (128, 1.0, True, '1')),
    ('uint64', (0, 2**64 - 1), (2**64, -1)),
    ('float32', (0, 1.5, -3e38), (float('nan'), float('inf'), 1e39, '1', True, None)),
    ('float64', (1e300, 5), (10**400, float('-inf'))),
    ('string', ('', 'ü'), (5, b'x', 'a\x00', None)),
    ('pkg/Type', (), ({}, 'x')),
])
def test_value_is_checked_without_conversion(field_type, good, bad):
    assert all(check_value(field_type, value) == '' for value in good)
    assert all(check_value(field_type, value) for value in bad)
