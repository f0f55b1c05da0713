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
A pose in another frame, the whole way: real TFMessages on /tf and /tf_static, node, goal.

No wheel has tf2_msgs, so its one message is built here from its definition, by the generators
that build the package's own; the tests of `real_transforms.py` run where that is installed.
"""

from importlib.util import find_spec
import os
from pathlib import Path
import shutil
import subprocess
import sys

import pytest

ROOT = Path(__file__).parents[2]
CMAKE = """
cmake_minimum_required(VERSION 3.22)
project(tf2_msgs)
find_package(ament_cmake REQUIRED)
find_package(geometry_msgs REQUIRED)
find_package(rosidl_default_generators REQUIRED)
rosidl_generate_interfaces(tf2_msgs "msg/TFMessage.msg" DEPENDENCIES geometry_msgs)
ament_package()
"""
PACKAGE = """
<package format="3">
  <name>tf2_msgs</name><version>0.0.0</version><description>One message.</description>
  <maintainer email="nobody@example.com">nobody</maintainer><license>Apache-2.0</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  <buildtool_depend>rosidl_default_generators</buildtool_depend>
  <depend>geometry_msgs</depend><exec_depend>rosidl_default_runtime</exec_depend>
  <member_of_group>rosidl_interface_packages</member_of_group>
</package>
"""


def build(folder: Path) -> dict[str, str]:
    """Build and install tf2_msgs below a folder; return the environment that finds it."""
    files = {
        'CMakeLists.txt': CMAKE, 'package.xml': PACKAGE.lstrip(),
        'msg/TFMessage.msg': 'geometry_msgs/TransformStamped[] transforms\n',
        'underlay.cmake': (ROOT / 'cmake' / 'pip_underlay.cmake').read_text().replace(
            'gemma_node__', 'tf2_msgs__')}
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    path = f'{Path(sys.prefix) / "bin"}{os.pathsep}{os.environ["PATH"]}'
    environment = {**os.environ, 'PATH': path, 'AMENT_PREFIX_PATH': sys.prefix,
                   'CMAKE_PREFIX_PATH': sys.prefix, 'LD_LIBRARY_PATH': f'{sys.prefix}/lib'}
    environment.pop('PYTHONPATH', None)
    stage, work = folder / 'stage', folder / 'build'
    for command in (
        ['cmake', '-S', folder, '-B', work, f'-DCMAKE_INSTALL_PREFIX={stage}',
         '-DBUILD_TESTING=OFF', f'-DPython3_EXECUTABLE={sys.executable}',
         f'-DCMAKE_PROJECT_tf2_msgs_INCLUDE={folder / "underlay.cmake"}'],
        ['cmake', '--build', work, '-j2'], ['cmake', '--install', work],
    ):
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (package,) = stage.glob('**/site-packages/tf2_msgs')
    # What the wheels added to the library path of this process stays in it.
    first = {'AMENT_PREFIX_PATH': stage, 'LD_LIBRARY_PATH': stage / 'lib',
             'PYTHONPATH': f'{package.parent}{os.pathsep}{ROOT}'}
    return {**os.environ, **{
        name: f'{value}{os.pathsep}{os.environ.get(name, "")}' for name, value in first.items()}}


@pytest.mark.skipif(
    find_spec('tf2_msgs') is None and (
        find_spec('rosidl_cmake') is None or shutil.which('g++') is None),
    reason='neither tf2_msgs nor the generators of ROS are installed')
def test_real_transforms_decide_where_a_call_may_go(tmp_path):
    environment = dict(os.environ)
    if find_spec('tf2_msgs') is None:
        environment = build(tmp_path)
    done = subprocess.run(
        [sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', '-p', 'no:xdist', '-q', '-x',
         f'--rootdir={ROOT}', str(Path(__file__).with_name('real_transforms.py'))],
        env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert '4 passed' in done.stdout
