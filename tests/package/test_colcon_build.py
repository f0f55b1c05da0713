"""colcon builds the package, plain and with --symlink-install, into a whole installation."""

import importlib.util
import os
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.timeout(900)
def test_colcon_builds_and_installs_a_whole_package_in_both_ways():
    if not (Path(sys.prefix) / 'bin/colcon').exists():
        pytest.skip('colcon is not installed beside this Python; scripts/test.sh installs it')
    done = subprocess.run(
        [ROOT / 'scripts/colcon_build.sh'],
        env={
            'PATH': '/usr/bin:/bin',
            'HOME': str(Path.home()),
            'GEMMA_NODE_VENV': sys.prefix,
            'ROS_DOMAIN_ID': os.environ.get('ROS_DOMAIN_ID', '49'),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    for variant in ('plain', 'symlink'):
        assert f'colcon build, {variant}: the installed package is whole' in done.stdout


def test_what_is_missing_from_an_installation_is_named(tmp_path):
    pytest.importorskip('rclpy')
    spec = importlib.util.spec_from_file_location('check', ROOT / 'scripts/check_install.py')
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    (tmp_path / 'lib/python3.11/site-packages').mkdir(parents=True)
    problems: list[str] = []
    check.check_files(tmp_path, ROOT, problems)
    check.check_python(tmp_path, ROOT, problems)
    text = '\n'.join(problems)
    for name in ('tools.yaml', 'Decision.msg', 'gemma_node.launch.py', 'model.safetensors'):
        assert name in text
    assert 'gemma_node.ros.main was not installed' in text
    assert 'lib/gemma_node/gemma_node is not an executable' in text
