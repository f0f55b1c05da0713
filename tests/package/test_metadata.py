"""Versions, dependencies and packaged files agree wherever they are written."""

import ast
from distutils.core import run_setup
from pathlib import Path
import re
import sys
import xml.etree.ElementTree as ElementTree

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
import pytest
from setuptools import Distribution

import gemma_node

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / 'gemma_node'
GENERATED = ('msg', 'srv', 'action')
# import name -> name on the index, where they differ
DISTRIBUTIONS = {'jinja2': 'jinja2', 'ruamel': 'ruamel-yaml',
                 'backports': 'backports-zstd'}


@pytest.fixture(scope='module')
def distribution() -> Distribution:
    """Return what setup.py hands to setuptools, without building anything."""
    return run_setup(str(ROOT / 'setup.py'), script_args=[], stop_after='init')


@pytest.fixture(scope='module')
def manifest() -> ElementTree.Element:
    return ElementTree.parse(ROOT / 'package.xml').getroot()


def pins() -> list[Requirement]:
    lines = (ROOT / 'constraints.txt').read_text(encoding='utf-8').splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith('#')]


def requirements(distribution: Distribution) -> list[Requirement]:
    extras = distribution.extras_require.values()
    named = [*distribution.install_requires, *(item for extra in extras for item in extra)]
    return [Requirement(item) for item in named]


def hand_written_files() -> list[Path]:
    """
    Return every file of the package that no build made and that an installation needs.

    C++ is compiled: what is installed of it is the library.
    """
    return [
        path
        for path in PACKAGE.rglob('*')
        if path.is_file()
        and path.suffix not in ('.so', '.pyc', '.cpp', '.h')
        and path.relative_to(PACKAGE).parts[0] not in GENERATED
    ]


def third_party_imports() -> set[str]:
    """Return the roots of every import of the package that is neither own nor standard."""
    roots = set()
    for path in hand_written_files():
        if path.suffix != '.py':
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.Import):
                roots |= {alias.name.partition('.')[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                roots.add(node.module.partition('.')[0])
    return roots - set(sys.stdlib_module_names) - {'gemma_node'}


def ros_packages(manifest: ElementTree.Element) -> set[str]:
    return {
        element.text
        for tag in ('depend', 'exec_depend')
        for element in manifest.findall(tag)
        if not element.text.startswith('python3-')
    }


def test_the_version_is_the_same_everywhere(distribution, manifest):
    changelog = (ROOT / 'CHANGELOG.rst').read_text(encoding='utf-8')
    newest = re.search(r'^(\d+\.\d+\.\d+) \(', changelog, re.MULTILINE).group(1)
    assert manifest.findtext('version') == gemma_node.__version__
    assert distribution.get_version() == gemma_node.__version__
    assert newest == gemma_node.__version__


def test_names_and_licence_are_the_same_everywhere(distribution, manifest):
    assert manifest.findtext('name') == distribution.get_name() == 'gemma_node'
    assert manifest.findtext('license') == distribution.get_license() == 'Apache-2.0'
    assert manifest.findtext('export/build_type') == 'ament_cmake'
    licence = (ROOT / manifest.find('license').get('file')).read_text(encoding='utf-8')
    assert 'Version 2.0, January 2004' in licence


def test_every_dependency_is_pinned_within_its_range(distribution):
    exact = {}
    for pin in pins():
        (version,) = pin.specifier
        assert version.operator == '==', pin
        exact.setdefault(canonicalize_name(pin.name), []).append(version.version)
    for requirement in requirements(distribution):
        versions = exact.get(canonicalize_name(requirement.name))
        assert versions, f'{requirement.name} is not in constraints.txt'
        for version in versions:
            assert requirement.specifier.contains(version), f'{requirement} pinned to {version}'


def test_every_python_has_one_pin_of_each_distribution():
    for python in ('3.10', '3.11', '3.12', '3.13'):
        environment = {'python_version': python, 'python_full_version': f'{python}.1'}
        names = [
            canonicalize_name(pin.name)
            for pin in pins()
            if pin.marker is None or pin.marker.evaluate(environment)
        ]
        assert sorted(set(names)) == sorted(names), python


def test_the_colcon_extra_holds_what_the_build_asks_for(distribution):
    text = (ROOT / 'pyproject.toml').read_text(encoding='utf-8')
    block = re.search(r'^requires = \[(.*?)^\]', text, re.MULTILINE | re.DOTALL).group(1)
    asked = {Requirement(item).name for item in re.findall(r"'([^']+)'", block)}
    assert len(asked) > 10
    assert asked < {Requirement(item).name for item in distribution.extras_require['colcon']}


def test_everything_the_package_imports_is_a_declared_dependency(distribution, manifest):
    ros = ros_packages(manifest)
    plain = [*distribution.install_requires, *distribution.extras_require['gpu']]
    declared = {canonicalize_name(Requirement(item).name) for item in plain}
    missing = {
        root
        for root in third_party_imports()
        if root not in ros and canonicalize_name(DISTRIBUTIONS.get(root, root)) not in declared
    }
    assert missing == set()


def test_the_ros_extra_has_a_wheel_for_each_ros_package_of_the_manifest(distribution, manifest):
    wheels = {Requirement(item).name for item in distribution.extras_require['ros']}
    without_wheel = {'launch', 'launch_ros'}
    for name in ros_packages(manifest) - without_wheel:
        assert f'ros-jazzy-{name.replace("_", "-")}' in wheels


def test_the_ros_wheels_are_no_plain_dependency(distribution):
    """A robot's own ROS must not get a second rclpy beside it."""
    assert not [item for item in distribution.install_requires if item.startswith('ros-')]
    for item in distribution.extras_require['ros']:
        assert 'x86_64' in str(Requirement(item).marker)


def test_supported_pythons_and_torch_are_declared(distribution):
    supported = SpecifierSet(str(distribution.python_requires))
    assert all(supported.contains(f'3.{minor}.0') for minor in (10, 11, 12, 13))
    assert not supported.contains('3.9.0')
    assert 'torch>=2.8' in distribution.install_requires


def test_every_file_of_the_package_is_packaged(distribution):
    """Compare setuptools' own list with the tree: assets, YAML files, templates, modules."""
    command = distribution.get_command_obj('build_py')
    command.ensure_finalized()
    packaged = {
        (Path(folder) / name).resolve()
        for _, folder, _, names in command.data_files
        for name in names
    }
    packaged |= {Path(path).resolve() for _, _, path in command.find_all_modules()}
    assert set(hand_written_files()) - packaged == set()


def test_cmake_installs_every_kind_of_file_of_the_package():
    """CMakeLists.txt names suffixes; a file of a new kind would be left behind by colcon."""
    text = (ROOT / 'CMakeLists.txt').read_text(encoding='utf-8')
    patterns = set(re.findall(r'"gemma_node/\*(\.\w+)"', text))
    suffixes = {path.suffix for path in hand_written_files() if path.name != 'py.typed'}
    assert suffixes <= patterns


def test_console_script_and_ros_executable_point_at_real_functions(distribution):
    (script,) = distribution.entry_points['console_scripts']
    assert script == 'gemma-node = gemma_node.cli:main'
    for module in ('cli.py', 'ros/main.py'):
        tree = ast.parse((PACKAGE / module).read_text(encoding='utf-8'))
        assert 'main' in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    executable = ROOT / 'scripts/gemma_node'
    assert executable.stat().st_mode & 0o111
    assert 'from gemma_node.ros.main import main' in executable.read_text(encoding='utf-8')


def test_launch_holds_no_python_package_and_the_root_no_setup_cfg():
    """Either would break the builds: see the notes in CONTRIBUTING.md."""
    assert not (ROOT / 'launch/__init__.py').exists()
    assert not (ROOT / 'setup.cfg').exists()
