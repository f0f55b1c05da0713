"""ROS from wheels is found without a sourced shell, and a sourced ROS is left alone."""

import os
from pathlib import Path
import subprocess
import sys

import pytest

from gemma_node import ros_env

BOOTSTRAPPED = '_ROS_WHEELS_BOOTSTRAP_COMPLETE'


class RestartedError(Exception):
    """Raised in the place of execv, which does not return."""


@pytest.fixture
def prefix(tmp_path, monkeypatch) -> Path:
    """Give this process a prefix with ROS wheels, an empty environment, and no way to exec."""
    index = tmp_path / 'share/ament_index/resource_index/packages'
    index.mkdir(parents=True)
    for name in ('rclpy', 'rmw_fastrtps_cpp'):
        (index / name).touch()
    monkeypatch.setattr(sys, 'prefix', str(tmp_path))
    monkeypatch.setattr(os, 'environ', {'LD_LIBRARY_PATH': str(tmp_path / 'lib')})
    monkeypatch.delitem(sys.modules, 'rclpy', raising=False)

    def restart(*_args: object) -> None:
        raise RestartedError

    monkeypatch.setattr(os, 'execv', restart)
    return tmp_path


def test_the_ament_prefix_is_set_once_and_keeps_what_was_there(prefix):
    os.environ['AMENT_PREFIX_PATH'] = '/overlay'
    ros_env.prepare_ros()
    ros_env.prepare_ros()
    assert os.environ['AMENT_PREFIX_PATH'] == f'{prefix}:/overlay'


def test_a_middleware_that_has_no_wheel_is_replaced(prefix):
    os.environ['RMW_IMPLEMENTATION'] = 'rmw_cyclonedds_cpp'
    ros_env.prepare_ros()
    assert os.environ['RMW_IMPLEMENTATION'] == 'rmw_fastrtps_cpp'


def test_a_middleware_that_is_installed_stays_unset_or_set(prefix):
    ros_env.prepare_ros()
    assert 'RMW_IMPLEMENTATION' not in os.environ


def test_without_wheels_nothing_changes(prefix):
    (prefix / 'share/ament_index/resource_index/packages/rclpy').unlink()
    environ = {'AMENT_PREFIX_PATH': '/opt/ros/jazzy', 'RMW_IMPLEMENTATION': 'rmw_cyclonedds_cpp'}
    os.environ.clear()
    os.environ.update(environ)
    ros_env.prepare_ros()
    assert os.environ == environ


def test_an_inherited_note_without_our_libraries_restarts_the_process_once(prefix):
    os.environ.update({BOOTSTRAPPED: '1', 'LD_LIBRARY_PATH': '/other/venv/lib'})
    with pytest.raises(RestartedError):
        ros_env.prepare_ros()
    assert BOOTSTRAPPED not in os.environ
    ros_env.prepare_ros()


def test_a_child_of_another_prefix_gets_no_trace_of_our_libraries():
    lib = f'{sys.prefix}/lib'
    child = ros_env.child_environment(
        {BOOTSTRAPPED: '1', 'LD_LIBRARY_PATH': f'{lib}:/opt/cuda/lib', 'HOME': '/home/a'}
    )
    assert child == {'LD_LIBRARY_PATH': '/opt/cuda/lib', 'HOME': '/home/a'}


def test_a_child_keeps_a_library_path_that_the_wheels_did_not_set():
    environ = {'LD_LIBRARY_PATH': '/opt/ros/jazzy/lib', 'HOME': '/home/a'}
    assert ros_env.child_environment(environ) == environ


def test_the_share_folder_holds_configuration_launch_files_and_interface_texts():
    share = ros_env.share_folder()
    for name in ('config/tools.yaml', 'launch/gemma_node.launch.py', 'msg/Decision.msg'):
        assert (share / name).is_file()


def test_the_share_folder_of_an_installation_is_that_of_its_prefix(tmp_path, monkeypatch):
    module = tmp_path / 'lib/python3.12/site-packages/gemma_node/ros_env.py'
    manifest = tmp_path / 'share/gemma_node/package.xml'
    for path in (module, manifest):
        path.parent.mkdir(parents=True)
        path.touch()
    monkeypatch.setattr(ros_env, '__file__', str(module))
    assert ros_env.share_folder() == manifest.parent


@pytest.mark.skipif(not ros_env.has_ros_wheels(), reason='no ROS wheels in this Python')
@pytest.mark.parametrize('inherited', [{}, {BOOTSTRAPPED: '1'}])
def test_rclpy_imports_in_a_fresh_process_whatever_it_inherits(inherited):
    code = (
        'from gemma_node.ros_env import prepare_ros\n'
        'prepare_ros()\n'
        'import rclpy\n'
        'from gemma_node.msg import Decision\n'
        'context = rclpy.Context()\n'
        'rclpy.init(context=context)\n'
        'rclpy.shutdown(context=context)\n'
        'from ament_index_python.packages import get_package_share_directory\n'
        "import sys; sys.stdout.write(get_package_share_directory('gemma_node'))\n"
    )
    done = subprocess.run(
        [sys.executable, '-c', code],
        env={'PATH': os.environ['PATH'], 'HOME': str(Path.home()), **inherited},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f'{sys.prefix}/share/gemma_node'
