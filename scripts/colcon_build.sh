#!/usr/bin/env bash
# Builds the package with colcon against the ROS wheels in .venv, in a temporary workspace, and
# checks what was installed. On a robot none of this is needed: there it is plain `colcon build`.
#   scripts/colcon_build.sh [plain|symlink]      default: both, one after the other
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
venv=${GEMMA_NODE_VENV:-$root/.venv}
variants=${1:-plain symlink}

unset PYTHONPATH LD_LIBRARY_PATH _ROS_WHEELS_BOOTSTRAP_COMPLETE COLCON_PREFIX_PATH
export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID="${ROS_DOMAIN_ID:-49}"
export PATH="$venv/bin:$PATH" AMENT_PREFIX_PATH="$venv" CMAKE_PREFIX_PATH="$venv"
[ -x "$venv/bin/colcon" ] || {
  echo "gemma_node: colcon is missing; run scripts/test.sh once, or pip install -e '.[ros,colcon]'" >&2
  exit 1
}

# Both variants build in one folder: they compile the same, and differ in how they install.
workspace=$(mktemp -d)
trap 'rm -rf "$workspace"' EXIT

build() {
  local variant=$1 base=$workspace/$1 options=()
  mkdir -p "$base"
  # Here one makes a folder where the other makes a link.
  rm -rf "$workspace"/build/gemma_node/ament_cmake_python
  if [ "$variant" = symlink ]; then
    options=(--symlink-install)
  fi
  (
    cd "$base"
    colcon --log-base "$base/log" build "${options[@]}" --paths "$root" \
      --build-base "$workspace/build" --install-base "$base/install" --event-handlers console_stderr- \
      --cmake-args "-DPython3_EXECUTABLE=$venv/bin/python" -DBUILD_TESTING=OFF \
      "-DCMAKE_PROJECT_gemma_node_INCLUDE=$root/cmake/pip_underlay.cmake"
  ) || {
    tail -n 40 "$base"/log/latest_build/gemma_node/stdout_stderr.log >&2 || true
    return 1
  }
  (
    cd "$base"
    set +u
    source install/setup.bash
    "$venv/bin/python" "$root/scripts/check_install.py" "$base/install/gemma_node"
  )
}

for variant in $variants; do
  build "$variant"
  echo "colcon build, $variant: the installed package is whole"
done
