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
Every interface that the ROS wheels install, through schema, real messages, grammar and calls.

A message filled at random becomes JSON and the same message again; a call sampled at random from
the grammar is valid and becomes a message. What cannot do so would be listed, and is counted.
"""

from decimal import Decimal
import json
from pathlib import Path
import random
import sys

from hypothesis import given
from hypothesis import HealthCheck
from hypothesis import settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
import numpy as np
import pytest

from gemma_node.core import ToolChoice
from gemma_node.core import ToolDeclaration
from gemma_node.errors import GemmaNodeError
from gemma_node.ros_env import has_ros_wheels
from gemma_node.tools.call_format import parse_output
from gemma_node.tools.interface_schema import document
from gemma_node.tools.interface_schema import from_json
from gemma_node.tools.interface_schema import InterfaceSource
from gemma_node.tools.interface_schema import is_interface_type
from gemma_node.tools.interface_schema import KINDS
from gemma_node.tools.interface_schema import PARTS
from gemma_node.tools.interface_schema import shape_of
from gemma_node.tools.interface_schema import to_json
from gemma_node.tools.validate import validate_call
from gemma_node.tools.validate import validate_value

if not has_ros_wheels():
    pytest.skip('ROS is not installed from wheels', allow_module_level=True)

from rclpy.serialization import deserialize_message
from rclpy.serialization import serialize_message
from rosidl_parser.definition import AbstractGenericString
from rosidl_parser.definition import AbstractNestedType
from rosidl_parser.definition import Array
from rosidl_parser.definition import BoundedSequence
from rosidl_parser.definition import NamespacedType

from gemma_node.ros.messages import fill
from gemma_node.ros.messages import interface_class
from gemma_node.ros.messages import to_exact

INDEX = Path(sys.prefix) / 'share/ament_index/resource_index/rosidl_interfaces'
PACKAGES = {
    'action_msgs', 'actionlib_msgs', 'builtin_interfaces', 'diagnostic_msgs', 'geometry_msgs',
    'lifecycle_msgs', 'nav_msgs', 'rcl_interfaces', 'rosgraph_msgs', 'sensor_msgs',
    'service_msgs', 'shape_msgs', 'std_msgs', 'std_srvs', 'stereo_msgs', 'test_msgs',
    'trajectory_msgs', 'type_description_interfaces', 'unique_identifier_msgs',
    'visualization_msgs',
}
# Interface -> why it cannot become a schema, a grammar or calls.
REFUSED: dict[str, str] = {}
MESSAGES = 20
CALLS = 3
EDGES = {
    'boolean': (False, True), 'octet': (b'\x00', b'\x7f', b'\xff'),
    'float': (0.0, -0.0, 1.5, 0.1, -3.4028234663852886e38, 1e-45),
    'double': (0.0, -0.0, 0.1, 1e300, -5e-324, 123456789.123456789),
}
TEXTS = ('', 'map', 'LOW', 'ünïcödé', '東京🤖', '<|"|>', '<tool_call|>', "it's", '\t\n', 'x' * 22)


def installed_types() -> list[str]:
    """Return every interface that the packages register, from ament's index."""
    found = []
    for index in sorted(INDEX.iterdir()):
        for line in index.read_text().split():
            kind, _, file = line.partition('/')
            name, _, suffix = file.partition('.')
            if kind in KINDS and suffix == kind:
                found.append(f'{index.name}/{kind}/{name}')
    return found


TYPES = installed_types()


@pytest.fixture(scope='module')
def source() -> InterfaceSource:
    return InterfaceSource.installed()


@pytest.fixture(scope='module')
def factory(demo_kit):
    return demo_kit.factory()


def _class_of(interface_type: str, part: str):
    found = interface_class(interface_type)
    return found if part == 'message' else getattr(found, part.capitalize())


def _value(slot, rng: random.Random):
    if isinstance(slot, NamespacedType):
        return _message(interface_class('/'.join(slot.namespaced_name())), rng)
    if isinstance(slot, AbstractNestedType):
        size = slot.size if isinstance(slot, Array) else rng.randint(0, min(
            3, slot.maximum_size if isinstance(slot, BoundedSequence) else 3))
        return [_value(slot.value_type, rng) for _ in range(size)]
    if isinstance(slot, AbstractGenericString):
        text = rng.choice(TEXTS)
        return text[:slot.maximum_size] if slot.has_maximum_size() else text
    if slot.typename in EDGES:
        return rng.choice(EDGES[slot.typename])
    bits = int(''.join(filter(str.isdigit, slot.typename)))
    low = 0 if slot.typename.startswith('u') else -(1 << bits - 1)
    return rng.choice((low, 0, 1, low + (1 << bits) - 1, low + rng.randrange(1 << bits)))


def _message(cls, rng: random.Random):
    message = cls()
    names = message.get_fields_and_field_types()
    for name, slot in zip(names, message.SLOT_TYPES, strict=True):
        setattr(message, name, _value(slot, rng))
    if list(names) == ['sec', 'nanosec']:
        message.nanosec = rng.choice((0, 1, 5 * 10**8, 999_999_999, rng.randrange(10**9)))
    return message


def _dumps(value) -> str:
    """Write JSON; a Decimal as the number it is."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        return '{' + ','.join(f'{json.dumps(key)}:{_dumps(item)}'
                              for key, item in value.items()) + '}'
    if isinstance(value, list):
        return '[' + ','.join(map(_dumps, value)) + ']'
    return json.dumps(value, allow_nan=False)


def _check_messages(cls, shape, schema) -> None:
    @settings(max_examples=MESSAGES, deadline=None, database=None, derandomize=True,
              suppress_health_check=list(HealthCheck))
    # Large messages take more draws than hypothesis grants: there it draws the seed.
    @given(st.randoms(use_true_random=shape.num_fields > 40))
    def run(rng):
        message = _message(cls, rng)
        attachments = {}
        form = to_json(shape, to_exact(message), attachments=attachments)
        form = json.loads(_dumps(form), parse_float=Decimal)
        if not _has_unnamed(form, schema):
            assert validate_value(schema, form) == []
        back = fill(cls(), from_json(shape, form, attachments=attachments))
        # repr tells 0.0 from -0.0 and 1 from True; == of messages skips most of an array.
        assert repr(to_exact(back)) == repr(to_exact(message))
        assert repr(to_exact(_sent(back))) == repr(to_exact(_sent(message)))
    run()


def _sent(message):
    return deserialize_message(serialize_message(message), type(message))


def _has_unnamed(form, schema) -> bool:
    """Return whether a field with names holds a number that has none; JSON shows it as is."""
    if 'enum' in schema:
        return not isinstance(form, str)
    if schema['type'] == 'object':
        return any(_has_unnamed(form[name], inner) for name, inner in schema['properties'].items())
    return schema['type'] == 'array' and any(_has_unnamed(item, schema['items']) for item in form)


def _sample(kit, constraint, rng: random.Random) -> list[int]:
    """Sample one completion; markers and closing signs get a bias, so that it ends soon."""
    row = np.zeros((kit.vocab_size + 31) // 32, dtype=np.int32)
    signs = set(kit.special_ids.values()) | {
        token_id for token_id in range(kit.vocab_size)
        if (text := kit.tokenizer.id_to_token(token_id)) and set(text) <= set(']},')}
    ids = []
    for _ in range(40_000):
        constraint.fill_bitmask(row)
        choices = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder='little')).tolist()
        closing = [token_id for token_id in choices if token_id in signs]
        token_id = rng.choice(closing if closing and rng.random() < 0.6 else choices)
        assert constraint.accept(token_id)
        if token_id in kit.stop_ids:
            return ids
        ids.append(token_id)
    raise AssertionError('a call without end')


def _check_calls(kit, factory, cls, shape, schema, seed: str) -> None:
    declaration = ToolDeclaration(name='call', description='x', parameters=schema)
    source = factory.compile([declaration], ToolChoice.REQUIRED, 1)
    rng = random.Random(seed)
    for _ in range(CALLS):
        ids = _sample(kit, factory.constraint([declaration], ToolChoice.REQUIRED, 1), rng)
        call, = parse_output(ids, tokens=kit.tokens, decode=kit.decode,
                             special_ids=kit.special_ids.values()).calls
        problems = validate_call(declaration, call.arguments)
        assert not problems or all('too long' in problem for problem in problems)
        assert not problems or any('maxLength' in note for note in source.checked_after)
        if not problems:
            serialize_message(fill(cls(), from_json(shape, call.arguments)))


def test_every_registered_interface_is_covered_and_the_list_of_refused_ones_is_exact(source):
    assert {name.partition('/')[0] for name in TYPES} >= PACKAGES
    assert len(TYPES) == len(set(TYPES)) >= 205
    assert all(is_interface_type(name, name.split('/')[1]) for name in TYPES)
    refused = {}
    for name in TYPES:
        try:
            shape_of(source, name)
        except GemmaNodeError as error:
            refused[name] = str(error)
    assert refused == REFUSED
    assert len(refused) == 0


@pytest.mark.parametrize('interface_type', [name for name in TYPES if name not in REFUSED])
def test_interface_round_trips_and_its_calls_become_messages(
        source, demo_kit, factory, interface_type):
    for part in PARTS[interface_type.split('/')[1]]:
        cls = _class_of(interface_type, part)
        shape = shape_of(source, interface_type, part)
        schema = document(shape)
        Draft202012Validator.check_schema(schema)
        assert list(shape.members) == list(cls.get_fields_and_field_types())
        _check_messages(cls, shape, schema)
        _check_calls(demo_kit, factory, cls, shape, schema, f'{interface_type} {part}')
