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
The JSON Schema of tools files and the reader agree, in both directions.

Every part of the example and of the demo's file is broken in a dozen ways. What the reader takes
the schema takes too; what the schema takes and the reader does not is said by name.
"""

import copy
import json
from pathlib import Path
import re

from jsonschema import Draft202012Validator
import pytest

from gemma_node.errors import ConfigError
from gemma_node.tools.arguments import ARGUMENT_KEYS
from gemma_node.tools.catalogue import DEFAULT_KEYS
from gemma_node.tools.catalogue import FILE_KEYS
from gemma_node.tools.catalogue import load_catalogue
from gemma_node.tools.catalogue import TOOL_KEYS
from gemma_node.tools.interface_schema import InterfaceSource
from gemma_node.tools.yaml_reader import read_yaml

pytest.importorskip('rosidl_adapter', reason='rosidl_adapter is not installed')

CONFIG = Path(__file__).parents[2] / 'config'
SCHEMA = json.loads((CONFIG / 'tools.schema.json').read_text())
VALIDATOR = Draft202012Validator(SCHEMA)
WRONG = (None, True, 0, -1, 7, 1.5, 1e9, '', '  ', 'no such', 'a\x01b', [], {}, ['a', 'a'],
         [[0, 0]], {'no_such_key': 1})
# Only the reader knows names, types, and what bounds mean together.
SEMANTIC = re.compile('|'.join((
    'unknown value .*choices are: ', r'choices: ', r'examples\[\d\]\.call: ', r'\.const: ',
    r'\.default: ', 'an alias: the name that the model sees', 'names no number',
    'cannot be read', 'is above maximum', 'is above max_', 'does not fit the', 'yaw knows the',
    'contradicts the field', 'needs choices that map', 'is used twice', 'which takes ',
    'lasts up to', 'leave no value', 'lies between', 'no field ', 'is not installed',
    'enclose no area', 'crosses the one from', 'are both the argument',
)))
# Of all broken files, this share is read in CI; the test marked slow reads them all.
SHARE = 16


@pytest.fixture(scope='module')
def interfaces():
    return InterfaceSource.of_folder(Path(__file__).parents[1] / 'data' / 'interfaces')


def _places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(
        value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*path, key))


def _at(value, path):
    for key in path:
        value = value[key]
    return value


def _broken(tree, share):
    """Yield the tree with one part missing, replaced or too much; one in `share` of these."""
    for number, path in enumerate(_places(tree)):
        if not path:
            continue
        parent, key = path[:-1], path[-1]
        bad = copy.deepcopy(tree)
        del _at(bad, parent)[key]
        yield bad
        for value in WRONG[number % share::share]:
            bad = copy.deepcopy(tree)
            _at(bad, parent)[key] = value
            yield bad
        if isinstance(_at(tree, path), dict):
            bad = copy.deepcopy(tree)
            _at(bad, path)['no_such_key'] = 1
            yield bad


def _single_tools():
    """Return each tool of the package's files as a file of its own."""
    for name in ('tools_example.yaml', 'tools.yaml'):
        tree = read_yaml(CONFIG / name).plain()
        for tool in tree['tools']:
            yield pytest.param({**tree, 'tools': {tool: tree['tools'][tool]}},
                               id=f'{name.removesuffix(".yaml")}-{tool}')


def _complaint(tree, file, interfaces):
    file.write_text(json.dumps(tree))
    try:
        load_catalogue(file, interfaces)
    except ConfigError as error:
        return str(error)
    return ''


def test_schema_is_a_schema_and_every_object_in_it_is_closed():
    Draft202012Validator.check_schema(SCHEMA)
    for path in _places(SCHEMA):
        part = _at(SCHEMA, path)
        if isinstance(part, dict) and isinstance(part.get('properties'), dict) \
                and part.get('type') == 'object':
            assert part['additionalProperties'] is False, path


def test_schema_knows_the_readers_keys_and_no_others():
    tool = SCHEMA['$defs']['tool']['properties']
    assert set(SCHEMA['properties']) == set(FILE_KEYS)
    assert set(SCHEMA['properties']['defaults']['properties']) == set(DEFAULT_KEYS)
    assert set(tool) == set(TOOL_KEYS)
    assert set(SCHEMA['$defs']['argument']['properties']) == set(ARGUMENT_KEYS)


@pytest.mark.parametrize('name', ['tools.yaml', 'tools_nav2.yaml', 'tools_example.yaml'])
def test_files_of_the_package_fit_the_schema(name):
    assert list(VALIDATOR.iter_errors(read_yaml(CONFIG / name).plain())) == []


def _compare(tree, folder, interfaces, share):
    (folder / 'places.yaml').write_text((CONFIG / 'places.yaml').read_text())
    file = folder / 'tools.yaml'
    assert _complaint(tree, file, interfaces) == ''
    num_both = num_reader_only = 0
    for bad in _broken(tree, share):
        complaint = _complaint(bad, file, interfaces)
        fits = VALIDATOR.is_valid(bad)
        if not complaint:
            assert fits, (bad, next(VALIDATOR.iter_errors(bad)).message)
            continue
        assert complaint.startswith(f'{file}:') and '\n' not in complaint
        if fits:
            num_reader_only += 1
            assert SEMANTIC.search(complaint), (complaint, bad)
        else:
            num_both += 1
    assert num_both > 4 * num_reader_only


@pytest.mark.parametrize('tree', _single_tools())
def test_schema_and_reader_agree_on_broken_parts(tree, tmp_path, interfaces):
    _compare(tree, tmp_path, interfaces, SHARE)


@pytest.mark.slow
@pytest.mark.parametrize('tree', _single_tools())
def test_schema_and_reader_agree_on_every_broken_part(tree, tmp_path, interfaces):
    _compare(tree, tmp_path, interfaces, 1)
