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

"""The parameter tree is checked whole: names, types, ranges, and what they refer to."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
import pytest
from ruamel.yaml import YAML

from gemma_node.core import Mode
from gemma_node.core import ToolDeclaration
from gemma_node.errors import ConfigError
from gemma_node.policy.parameter_specs import flatten
from gemma_node.policy.parameter_specs import known_parameters
from gemma_node.policy.settings import DEFAULT_SYSTEM_PROMPT
from gemma_node.policy.settings import fold_words
from gemma_node.policy.settings import from_mapping
from gemma_node.policy.settings import to_worker_settings

CONFIG = Path(__file__).parents[2] / 'config' / 'gemma_node.yaml'
ODOM = {'type': 'nav_msgs/msg/Odometry'}


class Catalogue:
    def declarations(self, names=()):
        return tuple(ToolDeclaration(name=name, description='', parameters={})
                     for name in (names or ('go_to', 'dock')))


def tree_of_file():
    return YAML(typ='safe', pure=True).load(CONFIG.read_text())['/**']['ros__parameters']


def test_shipped_file_reads_as_two_robots():
    settings = from_mapping(tree_of_file())
    assert [robot.name for robot in settings.robots] == ['r1', 'r2']
    assert [o.name for o in settings.robots[1].observations] == [
        'odom', 'battery', 'scan', 'detections']
    assert settings.mode is Mode.AUTO
    assert settings.robots[0].system_prompt == DEFAULT_SYSTEM_PROMPT


def test_shipped_file_names_every_parameter_of_node_robot_and_input():
    values = dict(flatten(tree_of_file()))
    optional = {'robots', 'robots.r1.tools', 'robots.r1.trigger', 'robots.r1.observations',
                'robots.r1.allowed_interfaces'}
    wanted = {name for name in known_parameters(values)
              if not name.startswith(('robots.r2', 'robots.r1.observations.'))
              or name.startswith('robots.r1.observations.odom.')}
    assert wanted - set(values) == optional


def test_shadow_is_the_default_mode():
    assert from_mapping({'robots': ['r1']}).mode is Mode.SHADOW


def test_flat_names_with_a_list_say_the_same_as_nested_ones():
    nested = from_mapping({'robots': {'r1': {'observations': {'odom': ODOM}, 'mode': 'approve'}}})
    flat = from_mapping({
        'robots': ['r1'], 'robots.r1.observations': ['odom'], 'robots.r1.mode': 'approve',
        'robots.r1.observations.odom.type': 'nav_msgs/msg/Odometry'})
    assert nested.digest == flat.digest
    assert nested.robots == flat.robots


def test_digest_follows_the_policy():
    assert from_mapping({'robots': ['r1']}).digest != from_mapping(
        {'robots': ['r1'], 'mode': 'auto'}).digest


@pytest.mark.parametrize(('tree', 'sentence'), [
    ({}, 'at least one robot'),
    ({'robots': ['r1'], 'dedline': 1.0}, "did you mean 'deadline'"),
    ({'robots': ['r1'], 'robots.r2.mode': 'auto'}, 'robots.r1.mode'),
    ({'robots': ['r1', 'r1']}, 'twice'),
    ({'robots': ['../r1']}, 'must be a letter'),
    ({'robots': 'r1'}, 'must be a list of names'),
    ({'robots': ['r1'], 'engine.lanes': 0}, 'from 1 to 256'),
    ({'robots': ['r1'], 'engine.lanes': True}, 'must be an integer'),
    ({'robots': ['r1'], 'engine.lanes': 2.0}, 'must be an integer'),
    ({'robots': ['r1'], 'deadline': float('nan')}, 'deadline'),
    ({'robots': ['r1'], 'autostart': 'yes'}, 'true or false'),
    ({'robots': ['r1'], 'robots.r1.stop_words': ['a', 1]}, 'list of strings'),
    ({'robots': {'r1': {'namespace': 'x'}, 'r2': {'namespace': 'x'}}}, 'share the'),
    ({'robots': {'r1': {'observations': {'odom': {'type': 'nav_msgs/Odometry'}}}}}, 'such as'),
    ({'robots': {'r1': {'observations': {'odom': {**ODOM, 'max_age': 0.01}}}}}, 'at least 0.1'),
    ({'robots': {'r1': {'trigger': {'t': {'kind': 'period', 'text': 'x'}}}}}, 'above 0 s'),
    ({'robots': {'r1': {'trigger': {'t': {'kind': 'period', 'period': 1.0}}}}}, 'the question'),
    ({'robots': {'r1': {'trigger': {'t': {'kind': 'on_message', 'text': 'x', 'input': 'odom'}}}}},
     "observations (none), got 'odom'"),
    ({'robots': {'r1': {'observations': {'odom': ODOM}, 'trigger': {
        't': {'kind': 'condition', 'text': 'x', 'input': 'odom'}}}}}, 'above, below or equals'),
])
def test_what_is_wrong_is_said_in_a_sentence(tree, sentence):
    with pytest.raises(ConfigError) as caught:
        from_mapping(tree)
    assert sentence in str(caught.value)
    assert '\n' not in str(caught.value)


@given(st.dictionaries(
    st.text(alphabet='abr1.', min_size=1, max_size=12),
    st.one_of(st.integers(), st.floats(), st.text(max_size=5), st.booleans(), st.none(),
              st.lists(st.integers(), max_size=2)), max_size=4))
def test_any_tree_is_read_or_refused_with_a_config_error(tree):
    try:
        from_mapping({'robots': ['r1'], **tree})
    except ConfigError:
        pass


def test_worker_settings_carry_decoding_engine_and_each_robots_tools():
    settings = from_mapping({
        'robots': {'r1': {'tools': ['dock'], 'history': {'turns': 3}}, 'r2': {'mode': 'auto'}},
        'decoding': {'seed': 5}, 'engine': {'lanes': 2}, 'model': {'path': 'x'}})
    worker = to_worker_settings(settings, Catalogue())
    assert (worker.seed, worker.lanes, worker.model_path) == (5, 2, 'x')
    assert [tool.name for tool in worker.robots[0].tools] == ['dock']
    assert worker.robots[0].history_turns == 3
    assert [tool.name for tool in worker.robots[1].tools] == ['go_to', 'dock']


def test_robot_is_found_by_name_and_the_only_one_without():
    settings = from_mapping({'robots': ['r1']})
    assert settings.robot('').name == 'r1'
    with pytest.raises(ConfigError, match='robots are: r1'):
        settings.robot('r2')


def test_stop_words_compare_without_case_and_punctuation():
    assert fold_words('  STOP,  now!! ') == 'stop now'
