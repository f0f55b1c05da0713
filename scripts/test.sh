#!/usr/bin/env bash
# Sets everything up, then lints, types and tests. Arguments go to pytest: scripts/test.sh tests/ros
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup_venv.sh ros,test,colcon
export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST

# All three run, so that one look shows all that is wrong; any failure fails the script.
status=0
.venv/bin/ruff check . || status=1
.venv/bin/mypy || status=1
.venv/bin/pytest -n 2 --dist loadfile -m 'not slow and not gpu' "$@" || status=1
# Nodes that a test killed leave their shared memory behind.
.venv/bin/fastdds shm clean >/dev/null 2>&1 || true
exit $status
