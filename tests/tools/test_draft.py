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

"""Drafts load as they are, whatever a robot offers; samples fit their declarations."""

from pathlib import Path
import sys

import pytest

from gemma_node.core import CallKind
from gemma_node.core import Mode
from gemma_node.core import ToolChoice
from gemma_node.errors import ConfigError
from gemma_node.tools.call_format import format_call_ids
from gemma_node.tools.catalogue import load_catalogue
from gemma_node.tools.draft import draft
from gemma_node.tools.draft import MAX_ARGUMENTS
from gemma_node.tools.draft import Offer
from gemma_node.tools.interface_schema import InterfaceSource
from gemma_node.tools.overlay import to_message
from gemma_node.tools.sample import sample_arguments
from gemma_node.tools.validate import validate_call

pytest.importorskip('rosidl_adapter', reason='rosidl_adapter is not installed')

INDEX = Path(sys.prefix) / 'share/ament_index/resource_index/rosidl_interfaces'
INTERFACES = Path(__file__).parents[1] / 'data' / 'interfaces'
KINDS = {'action': 'action', 'srv': 'service', 'msg': 'topic'}


def installed_offers():
    """Return an offer of every interface that the packages here register."""
    for index in sorted(INDEX.iterdir()) if INDEX.is_dir() else ():
        for line in index.read_text().split():
            kind, _, file = line.partition('/')
            name, _, suffix = file.partition('.')
            if kind in KINDS and suffix == kind:
                yield Offer(kind=KINDS[kind], type=f'{index.name}/{kind}/{name}',
                            name=f'{index.name}/{kind}/{name}')


@pytest.fixture(scope='module')
def interfaces():
    return InterfaceSource.of_folder(INTERFACES)


def _load(tmp_path, interfaces, *offers):
    file = tmp_path / 'tools.yaml'
    file.write_text(draft(offers, interfaces))
    return load_catalogue(file, interfaces)


def test_draft_of_every_installed_interface_loads_samples_and_fills_its_goal(
        tmp_path, interfaces, demo_kit):
    offers = list(installed_offers())
    catalogue = _load(tmp_path, interfaces, *offers)
    assert len(catalogue.tools) == len(offers) + 3 > 200
    factory = demo_kit.factory()
    for tool in catalogue.tools:
        shown = tool.declaration.parameters['properties']
        assert tool.is_builtin or (tool.mode is Mode.SHADOW and len(shown) <= MAX_ARGUMENTS)
        arguments = sample_arguments(tool.declaration.parameters)
        assert validate_call(tool.declaration, arguments) == []
        constraint = factory.constraint([tool.declaration], ToolChoice.REQUIRED, 1)
        ids = format_call_ids(
            tool.name, arguments, tokens=demo_kit.tokens, encode=demo_kit.encode)
        assert all(constraint.accept(token_id) for token_id in ids), tool.name
        to_message(tool, arguments)


def test_pose_becomes_place_and_heading_and_a_twist_a_short_slow_stream(tmp_path, interfaces):
    tools = _load(
        tmp_path, interfaces,
        Offer(kind='action', type='nav2_msgs/action/NavigateToPose', name='navigate_to_pose'),
        Offer(kind='topic', type='geometry_msgs/msg/TwistStamped', name='cmd_vel_llm')).by_name
    go = tools['navigate_to_pose']
    assert list(go.declaration.parameters['properties']) == [
        'x', 'y', 'z', 'heading', 'behavior_tree']
    assert go.resources == ('base',) and go.feedback.progress_field == 'distance_remaining'
    assert go.result.success[0].field == 'error_code'
    creep = tools['cmd_vel_llm']
    assert creep.kind is CallKind.TOPIC and creep.stream.duration.schema['maximum'] == 2.0
    message = to_message(creep, {'speed': 0.1, 'seconds': 1.0}, frame_prefix='r1/')
    assert message['header'] == {'frame_id': 'r1/base_link', 'stamp': {'__now__': True}}


def test_what_is_not_installed_is_left_out_with_the_reason(interfaces):
    text = draft([Offer(kind='action', type='no_msgs/action/Fly', name='fly')], interfaces)
    assert '# fly is left out: no_msgs/action/Fly is not installed' in text
    assert 'tools:\n  {}' in text


def test_odd_names_become_names_that_load(tmp_path, interfaces):
    offers = [Offer(kind='service', type='std_srvs/srv/Trigger', name=name)
              for name in ('stop', 'a/b', 'a_b', '_x', '9lives'[1:], 'a' * 100, 'b' * 200)]
    catalogue = _load(tmp_path, interfaces, *offers)
    names = [tool.name for tool in catalogue.tools if not tool.is_builtin]
    assert len(names) == len(set(names)) == 6
    assert 'is left out: a name of 200 characters' in draft(offers, interfaces)
    assert {'stop_2', 'a_b', 'a_b_2'} <= set(names)


@pytest.mark.parametrize(('schema', 'value'), [
    ({'type': 'number', 'minimum': 2.5, 'maximum': 9, 'multipleOf': 0.5}, 2.5),
    ({'type': 'number', 'maximum': -0.15}, -0.15),
    ({'type': 'number', 'exclusiveMinimum': 1, 'multipleOf': 0.25}, 1.25),
    ({'type': 'integer', 'minimum': -9, 'maximum': -3}, -3),
    ({'type': 'integer', 'exclusiveMaximum': 1}, 0),
    ({'type': 'string', 'minLength': 50}, None), ({'type': 'string', 'maxLength': 2}, 'te'),
    ({'type': 'array', 'items': {'type': 'boolean'}, 'minItems': 3}, [True] * 3),
    ({'type': 'string', 'enum': ['b', 'a']}, 'b'),
])
def test_sample_lies_within_the_bounds(schema, value):
    parameters = {'type': 'object', 'properties': {'v': schema}, 'required': ['v']}
    found = sample_arguments(parameters)['v']
    assert value is None or found == value


def test_sample_that_cannot_be_made_up_is_said(declare):
    schema = {'type': 'string', 'pattern': '^[0-9]+$'}
    with pytest.raises(ConfigError, match='give examples'):
        sample_arguments(declare(v=schema).parameters)
