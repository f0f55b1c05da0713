#!/usr/bin/env bash
# Makes .venv and installs gemma_node into it. Sourced, at the root of the repository, by demo.sh
# and test.sh: source scripts/setup_venv.sh EXTRAS (e.g. ros,test).
# Quick when nothing that was installed has changed since.
extras=$1
pip_version=26.3

fail() {
  echo "gemma_node: $*" >&2
  exit 1
}

usable() {
  "$1" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null
}

# A set-up that was interrupted leaves an environment without pip; one that was moved with its
# folder has scripts that start a Python at the old place.
is_whole() {
  local place=$PWD
  if [ -f .venv/gemma_node.place ]; then
    read -r place <.venv/gemma_node.place || true
  fi
  [ "$place" = "$PWD" ] && usable .venv/bin/python && .venv/bin/python -c 'import pip' 2>/dev/null
}

# Two set-ups in one folder would install into each other's half-made environment.
lock() {
  exec 9<.
  if ! flock -n 9; then
    echo "gemma_node: another set-up is at work here; waiting for its end"
    flock 9
  fi
}

unlock() {
  exec 9<&-
}

find_python() {
  local candidate
  for candidate in python3 python3.12 python3.11 python3.13 python3.10; do
    if usable "$candidate"; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}

# A sourced ROS or another environment must not leak into one that has its own ROS.
unset PYTHONPATH PYTHONHOME LD_LIBRARY_PATH AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH
unset RMW_IMPLEMENTATION _ROS_WHEELS_BOOTSTRAP_COMPLETE

[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] ||
  fail "the ROS wheels exist for Linux on x86_64 only; here, source a ROS 2 and use colcon build."
command -v "${CXX:-g++}" >/dev/null ||
  fail "g++ is missing and the ROS interfaces need it; on Debian and Ubuntu: apt install g++"

if command -v flock >/dev/null; then
  lock || true
fi
if ! is_whole; then
  python=$(find_python) || fail "no Python 3.10, 3.11, 3.12 or 3.13 found; install one of them."
  [ -w . ] || fail "$PWD cannot be written, and .venv is made in it; clone to where you may write."
  rm -rf .venv
  "$python" -m venv .venv ||
    fail "$python cannot make an environment; on Debian and Ubuntu: apt install python3-venv"
  echo "$PWD" >.venv/gemma_node.place
fi

inputs=$(
  {
    echo "$pip_version"
    pwd
    .venv/bin/python -VV
    find setup.py pyproject.toml constraints.txt package.xml CMakeLists.txt gemma_node/__init__.py \
      gemma_node/kernels/cpu scripts/gemma_node cmake msg srv action config launch \
      -type f -not -name '*.pyc' -print0 |
      sort -z | xargs -0 sha256sum
  } | sha256sum | cut -d ' ' -f 1
)
stamp=.venv/gemma_node.stamp

# Whether all of this is installed: what the tests need includes what the demo needs.
is_installed() {
  local done_inputs='' done_extras=''
  if [ -f "$stamp" ]; then
    read -r done_inputs done_extras <"$stamp"
  fi
  if [[ ",$done_extras," == *",$extras,"* ]]; then
    extras=$done_extras
    [ "$done_inputs" = "$inputs" ]
    return
  fi
  return 1
}

install() {
  local log=.venv/setup.log
  [ -w .venv ] || fail "$PWD/.venv cannot be written, and something in it must be installed anew."
  .venv/bin/python -c 'import sysconfig; open(sysconfig.get_path("include") + "/Python.h")' \
    2>/dev/null ||
    fail "Python's headers (Python.h) are missing; on Debian and Ubuntu: apt install python3-dev"
  rm -f "$stamp"
  echo "gemma_node: installing into .venv (some minutes the first time; log: $log)"
  {
    .venv/bin/python -m pip install "pip==$pip_version" &&
      .venv/bin/python -m pip install --constraint constraints.txt \
        --build-constraint constraints.txt --editable ".[$extras]"
  } >"$log" 2>&1 || {
    tail -n 30 "$log" >&2
    fail "the installation failed; the lines above are the end of $log"
  }
  echo "$inputs $extras" >"$stamp"
}

is_installed || install
unlock
