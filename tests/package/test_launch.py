"""The launch file runs against the launch API, and every argument it declares has an effect."""

from dataclasses import dataclass
from dataclasses import field
import importlib.util
from pathlib import Path
import sys
from types import ModuleType
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
LAUNCH_FILE = ROOT / 'launch/gemma_node.launch.py'
ARGUMENTS = {
    'namespace': 'yard',
    'params_file': '/tmp/other.yaml',
    'use_sim_time': 'true',
    'autostart': 'false',
    'log_level': 'debug',
    'device': 'cuda',
    'model': '/models/e4b',
}


@dataclass
class Declared:
    """Stands for DeclareLaunchArgument."""

    name: str
    default_value: Any = None
    description: str = ''


class LaunchConfiguration:
    """Stands for the substitution of the same name; like it, fails for an undeclared name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def perform(self, context: dict[str, str]) -> str:
        return context[self.name]


@dataclass
class OpaqueFunction:
    function: Any


@dataclass
class Joined:
    parts: list[Any]


@dataclass
class FindPackageShare:
    package: str


@dataclass
class RecordedNode:
    """Stands for LifecycleNode: keeps what it was given; unknown keywords are an error."""

    package: str
    executable: str
    name: str
    namespace: Any
    parameters: list[Any] = field(default_factory=list)
    arguments: list[Any] = field(default_factory=list)
    output: str = 'log'
    emulate_tty: bool = False


@dataclass
class LaunchDescription:
    entities: list[Any]


def _module(name: str, **content: Any) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(content)
    return module


@pytest.fixture
def recording_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a recording launch API in the place of the real one."""
    for module in (
        _module('launch', LaunchDescription=LaunchDescription),
        _module(
            'launch.actions', DeclareLaunchArgument=Declared, OpaqueFunction=OpaqueFunction
        ),
        _module(
            'launch.substitutions',
            LaunchConfiguration=LaunchConfiguration,
            PathJoinSubstitution=Joined,
        ),
        _module('launch_ros'),
        _module('launch_ros.actions', LifecycleNode=RecordedNode),
        _module('launch_ros.substitutions', FindPackageShare=FindPackageShare),
    ):
        monkeypatch.setitem(sys.modules, module.__name__, module)


def load(path: Path) -> LaunchDescription:
    spec = importlib.util.spec_from_file_location('gemma_node_launch', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.generate_launch_description()


def declared(description: LaunchDescription) -> dict[str, Declared]:
    return {entity.name: entity for entity in description.entities if isinstance(entity, Declared)}


def perform(value: Any, context: dict[str, str]) -> Any:
    """Resolve substitutions in nested values, as launch does when it starts a node."""
    if isinstance(value, LaunchConfiguration):
        return perform(value.perform(context), context)
    if isinstance(value, Joined):
        return '/'.join(perform(part, context) for part in value.parts)
    if isinstance(value, FindPackageShare):
        return f'/share/{value.package}'
    if isinstance(value, dict):
        return {key: perform(item, context) for key, item in value.items()}
    if isinstance(value, list):
        return [perform(item, context) for item in value]
    return value


def launch(path: Path, **arguments: str) -> dict[str, Any]:
    """Run the launch file with these arguments; return what the one node was started with."""
    description = load(path)
    context = {name: entity.default_value for name, entity in declared(description).items()}
    assert set(arguments) <= set(context)
    context.update(arguments)
    actions = []
    for entity in description.entities:
        if isinstance(entity, OpaqueFunction):
            actions += entity.function(context)
        elif not isinstance(entity, Declared):
            actions.append(entity)
    (node,) = actions
    assert isinstance(node, RecordedNode)
    return perform(vars(node), context)


def contains(value: Any, wanted: Any) -> bool:
    """Return whether `wanted` stands anywhere in nested values, with its own type."""
    if isinstance(value, dict):
        return any(contains(item, wanted) for item in value.values())
    if isinstance(value, list):
        return any(contains(item, wanted) for item in value)
    return type(value) is type(wanted) and value == wanted


def seen_by_node(node: dict[str, Any]) -> list[Any]:
    """Return what crosses to the process of the node; the rest is about its terminal."""
    return [node['namespace'], node['parameters'], node['arguments']]


def unused_arguments(path: Path) -> set[str]:
    """Return the declared arguments whose value does not reach the node."""
    unused = set()
    for name in declared(load(path)):
        text = ARGUMENTS.get(name, 'anything')
        wanted = {'true': True, 'false': False}.get(text, text)
        before, after = seen_by_node(launch(path)), seen_by_node(launch(path, **{name: text}))
        if contains(before, wanted) or not contains(after, wanted):
            unused.add(name)
    return unused


@pytest.mark.usefixtures('recording_launch')
def test_exactly_the_documented_arguments_are_declared_with_a_description():
    entities = declared(load(LAUNCH_FILE))
    assert set(entities) == set(ARGUMENTS)
    assert all(len(entity.description) > 20 for entity in entities.values())
    assert all(entity.default_value is not None for entity in entities.values())


@pytest.mark.usefixtures('recording_launch')
def test_every_declared_argument_reaches_the_node():
    assert unused_arguments(LAUNCH_FILE) == set()


@pytest.mark.usefixtures('recording_launch')
def test_an_argument_that_reaches_nothing_is_noticed(tmp_path):
    planted = tmp_path / 'planted.launch.py'
    source = LAUNCH_FILE.read_text(encoding='utf-8')
    planted.write_text(source.replace("    'device': ('device', False),\n", ''), encoding='utf-8')
    assert unused_arguments(planted) == {'device'}


@pytest.mark.usefixtures('recording_launch')
def test_arguments_become_parameters_of_the_right_type_and_win_over_the_file():
    node = launch(LAUNCH_FILE, **ARGUMENTS)
    assert node['parameters'] == [
        '/tmp/other.yaml',
        {'use_sim_time': True, 'autostart': False, 'device': 'cuda', 'model.path': '/models/e4b'},
    ]
    assert node['namespace'] == 'yard'
    assert node['arguments'] == ['--ros-args', '--log-level', 'debug']


@pytest.mark.usefixtures('recording_launch')
def test_empty_arguments_leave_the_parameter_file_alone():
    node = launch(LAUNCH_FILE)
    assert node['parameters'] == ['/share/gemma_node/config/gemma_node.yaml']


@pytest.mark.usefixtures('recording_launch')
def test_a_word_that_is_neither_true_nor_false_is_an_error():
    with pytest.raises(RuntimeError, match="autostart must be true or false, got 'maybe'"):
        launch(LAUNCH_FILE, autostart='maybe')


@pytest.mark.usefixtures('recording_launch')
def test_the_node_is_the_installed_executable():
    node = launch(LAUNCH_FILE)
    assert (node['package'], node['executable']) == ('gemma_node', 'gemma_node')
    assert (ROOT / 'scripts' / node['executable']).is_file()


def test_the_default_parameter_file_holds_under_any_namespace():
    tree = YAML(typ='safe').load(ROOT / 'config/gemma_node.yaml')
    assert list(tree) == ['/**']
    assert list(tree['/**']) == ['ros__parameters']


def test_the_real_launch_api_takes_the_launch_file():
    """Skipped with pip's ROS, which has no launch_ros; runs on a ROS installation."""
    pytest.importorskip('launch_ros')
    from launch import LaunchContext
    from launch.actions import DeclareLaunchArgument

    description = load(LAUNCH_FILE)
    context = LaunchContext()
    for entity in description.entities:
        if isinstance(entity, DeclareLaunchArgument):
            context.launch_configurations[entity.name] = ARGUMENTS[entity.name]
    (node,) = [
        action
        for entity in description.entities
        if not isinstance(entity, DeclareLaunchArgument)
        for action in entity.execute(context)
    ]
    assert node.node_package == 'gemma_node'
    assert node.node_executable == 'gemma_node'
