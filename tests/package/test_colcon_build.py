"""colcon builds the package, plain and with --symlink-install, into a whole installation."""

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
        env={'PATH': '/usr/bin:/bin', 'HOME': str(Path.home()), 'GEMMA_NODE_VENV': sys.prefix},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    for variant in ('plain', 'symlink'):
        assert f'colcon build, {variant}: the installed package is whole' in done.stdout
