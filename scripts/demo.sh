#!/usr/bin/env bash
# Sets everything up and runs the demo: two simulated robots, an operator, and the node.
#   scripts/demo.sh                       the whole script, ends by itself
#   scripts/demo.sh --say 'TEXT'          one sentence of your own (see --help)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup_venv.sh ros
exec .venv/bin/gemma-node demo "$@"
