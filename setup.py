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
Build gemma_node with pip: the Python files by setuptools, the ROS interfaces by CMake.

colcon never runs this file (package.xml says ament_cmake). Both ways build the same
CMakeLists.txt; pip does it against the ROS wheels, or against any ROS whose Python packages the
build sees (``--no-build-isolation`` in a sourced shell).
"""

from distutils.command.install_data import install_data
from importlib.util import find_spec
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys

from setuptools import Distribution
from setuptools import Extension
from setuptools import find_packages
from setuptools import setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent.resolve()
STAGE = ROOT / 'build' / 'pip' / 'stage'
GENERATED = ('msg', 'srv', 'action')

DEPENDENCIES = [
    'Jinja2>=3.1',
    'backports.zstd>=1.0; python_version < "3.14"',
    'jsonschema>=4.18',
    'llguidance>=1.7',
    'msgspec>=0.19',
    'numpy>=1.26',
    'rich>=13.7',
    'rosbags>=0.11',
    'ruamel.yaml>=0.18',
    'safetensors>=0.4.5',
    'tokenizers>=0.21',
    'torch>=2.8',
]

# An extra, not a plain dependency: on a robot ROS comes from apt, and a second rclpy from wheels
# beside it would shadow that one. The wheels exist for Linux on x86_64 only.
ROS_WHEELS = [
    f'{name}; sys_platform == "linux" and platform_machine == "x86_64"'
    for name in (
        'ros-jazzy-action-msgs>=2.0',
        'ros-jazzy-ament-index-python>=1.8',
        'ros-jazzy-builtin-interfaces>=2.0',
        'ros-jazzy-diagnostic-msgs>=5.3',
        'ros-jazzy-geometry-msgs>=5.3',
        'ros-jazzy-lifecycle-msgs>=2.0',
        'ros-jazzy-nav-msgs>=5.3',
        'ros-jazzy-rcl-interfaces>=2.0',
        'ros-jazzy-rclpy>=7.1',
        'ros-jazzy-rmw-fastrtps-cpp>=8.4',
        'ros-jazzy-rosgraph-msgs>=2.0',
        'ros-jazzy-rosidl-adapter>=4.6',
        'ros-jazzy-rosidl-default-runtime>=1.6',
        'ros-jazzy-rosidl-parser>=4.6',
        'ros-jazzy-sensor-msgs>=5.3',
        'ros-jazzy-std-msgs>=5.3',
        'ros-jazzy-std-srvs>=5.3',
        'ros-jazzy-trajectory-msgs>=5.3',
        'ros-jazzy-unique-identifier-msgs>=2.5',
        'ros-jazzy-visualization-msgs>=5.3',
    )
]

TEST = [
    # The formats' own libraries, as live oracles; mlx-lm starts at Python 3.11.
    'compressed-tensors>=0.20',
    'mlx[cpu]>=0.32; sys_platform == "linux"',
    'mlx-lm>=0.32; sys_platform == "linux" and python_version >= "3.11"',
    'hypothesis>=6.100',
    'mypy>=1.15',
    'pytest>=8.2',
    'pytest-timeout>=2.3',
    'pytest-xdist>=3.6',
    *(
        f'{name}; sys_platform == "linux" and platform_machine == "x86_64"'
        for name in (
            'ros-jazzy-actionlib-msgs>=5.3',
            'ros-jazzy-shape-msgs>=5.3',
            'ros-jazzy-stereo-msgs>=5.3',
            'ros-jazzy-test-msgs>=2.0',
        )
    ),
    'ruff>=0.9',
    'transformers>=5.5',
    # Kernels run on a CPU through its interpreter.
    'triton>=3.7; sys_platform == "linux"',
    'types-jsonschema>=4.18',
    'types-PyYAML>=6.0',
]


def _version() -> str:
    text = (ROOT / 'gemma_node' / '__init__.py').read_text(encoding='utf-8')
    return re.search(r"^__version__ = '([^']+)'", text, re.MULTILINE).group(1)


def _build_requirements() -> list[str]:
    """Return what [build-system] names, for the extra that runs colcon against the wheels."""
    text = (ROOT / 'pyproject.toml').read_text(encoding='utf-8')
    block = re.search(r'^requires = \[(.*?)^\]', text, re.MULTILINE | re.DOTALL).group(1)
    return [line.strip().rstrip(',').strip("'") for line in block.splitlines() if line.strip()]


def _ros_prefix() -> Path:
    """Return the prefix of the ROS that the build sees: /opt/ros/jazzy, or pip's build folder."""
    spec = find_spec('rosidl_cmake')
    if spec is None or spec.origin is None:
        sys.exit(
            'gemma_node: no ROS found to build the interfaces with. The ROS wheels exist for '
            'Linux on x86_64 only; elsewhere source a ROS 2 and use colcon build, or pip install '
            'with --no-build-isolation.'
        )
    return Path(spec.origin).parents[4]


def _run(command: list[str], env: dict[str, str]) -> None:
    """Run one CMake step; show its output only when it fails."""
    done = subprocess.run(
        command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode:
        sys.stderr.write(done.stdout)
        sys.exit(f'gemma_node: {" ".join(command[:2])} failed with status {done.returncode}')


def _build_stage() -> Path:
    """Configure, build and install CMakeLists.txt into STAGE; return its site-packages."""
    if shutil.which('g++') is None and 'CXX' not in os.environ:
        sys.exit('gemma_node: g++ is missing; on Debian and Ubuntu: apt install g++')
    prefix = _ros_prefix()
    env = dict(os.environ)
    env['AMENT_PREFIX_PATH'] = env['CMAKE_PREFIX_PATH'] = str(prefix)
    env['LD_LIBRARY_PATH'] = str(prefix / 'lib')
    env['CMAKE_BUILD_PARALLEL_LEVEL'] = env.get('CMAKE_BUILD_PARALLEL_LEVEL') or str(
        min(8, os.cpu_count() or 1)
    )
    build = STAGE.parent / 'cmake'
    # A cache of another interpreter or another isolated build folder cannot be reused.
    shutil.rmtree(STAGE.parent, ignore_errors=True)
    _run(
        [
            'cmake',
            '-S',
            str(ROOT),
            '-B',
            str(build),
            f'-DCMAKE_INSTALL_PREFIX={STAGE}',
            '-DCMAKE_BUILD_TYPE=Release',
            '-DBUILD_TESTING=OFF',
            f'-DPython3_EXECUTABLE={sys.executable}',
            f'-DCMAKE_PROJECT_gemma_node_INCLUDE={ROOT / "cmake" / "pip_underlay.cmake"}',
        ],
        env,
    )
    _run(['cmake', '--build', str(build)], env)
    _run(['cmake', '--install', str(build)], env)
    (package,) = STAGE.glob('**/site-packages/gemma_node')
    return package


class BuildInterfaces(build_ext):
    """Generates and compiles msg/, srv/ and action/ instead of compiling a C extension."""

    def run(self) -> None:
        """Put the generated modules into the wheel, or beside the sources when editable."""
        package = _build_stage()
        editable = getattr(self, 'editable_mode', False) or self.inplace
        target = ROOT / 'gemma_node' if editable else Path(self.build_lib) / 'gemma_node'
        for name in GENERATED:
            shutil.rmtree(target / name, ignore_errors=True)
            shutil.copytree(
                package / name, target / name, ignore=shutil.ignore_patterns('__pycache__', '*.c')
            )
        for stale in target.glob('*.so'):
            stale.unlink()
        for library in package.glob('*.so'):
            shutil.copy2(library, target / library.name)

    def get_outputs(self) -> list[str]:
        """Return nothing: the files are copied, not built one by one."""
        return []

    def get_output_mapping(self) -> dict[str, str]:
        """Return nothing, so that an editable install does not look for a library."""
        return {}


class InstallData(install_data):
    """Adds what CMake installed outside site-packages: share/, lib/ and include/."""

    def run(self) -> None:
        """Collect the files of the stage, which exists only after build_ext, then install."""
        files: dict[str, list[str]] = {}
        for path in sorted(STAGE.rglob('*')):
            inside = path.relative_to(STAGE)
            skipped = 'site-packages' in inside.parts or '__pycache__' in inside.parts
            if path.is_file() and not skipped and inside.parts[0] in ('share', 'lib', 'include'):
                files.setdefault(str(inside.parent), []).append(str(path))
        self.data_files = list(files.items())
        super().run()


class RosDistribution(Distribution):
    """Has data files even before the build made them."""

    def has_data_files(self) -> bool:
        """Return True: a wheel carries share/, lib/ and include/."""
        return True

    def has_data(self) -> bool:
        """Return True: so does an editable wheel, which asks under this name."""
        return True


setup(
    name='gemma_node',
    version=_version(),
    description='Robots decide on the edge: topic messages in, validated tool calls out',
    long_description='See README.md in the repository.',
    author='The gemma_node authors',
    license='Apache-2.0',
    python_requires='>=3.10',
    packages=find_packages(
        include=['gemma_node', 'gemma_node.*'],
        exclude=[f'gemma_node.{name}{rest}' for name in GENERATED for rest in ('', '.*')],
    ),
    package_data={
        '': ['*.yaml', '*.json', '*.jinja', '*.md', '*.cu', 'py.typed'],
        'gemma_node': ['assets/*/*'],
        'gemma_node.kernels': ['cuda/*.cu'],
    },
    install_requires=DEPENDENCIES,
    extras_require={
        'ros': ROS_WHEELS,
        'gpu': ['triton>=3.4; sys_platform == "linux"'],
        'test': TEST,
        'colcon': ['colcon-common-extensions>=0.3', *_build_requirements()],
    },
    entry_points={'console_scripts': ['gemma-node = gemma_node.cli:main']},
    ext_modules=[Extension('gemma_node._interfaces', [])],
    cmdclass={'build_ext': BuildInterfaces, 'install_data': InstallData},
    distclass=RosDistribution,
    zip_safe=False,
)
