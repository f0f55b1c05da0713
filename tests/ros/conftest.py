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

"""Fixtures of the ROS tests; `harness` and `processes` come by path: pytest imports by file."""

import importlib.util
from pathlib import Path
import sys

import pytest


def _load(name, file):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(file))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


harness = _load('ros_harness', 'harness.py')
_load('ros_processes', 'processes.py')


@pytest.fixture
def make_world():
    """Make worlds that are closed after the test."""
    worlds = []

    def make(**arguments):
        worlds.append(harness.World(**arguments))
        return worlds[-1]

    yield make
    for world in worlds:
        world.close()


@pytest.fixture
def world(make_world):
    """Return an active node with a scripted worker."""
    return make_world()
