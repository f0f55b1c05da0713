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

"""Fixtures of the ROS tests; `harness` is imported by path, as pytest's importlib mode needs."""

import importlib.util
from pathlib import Path
import sys

import pytest

_spec = importlib.util.spec_from_file_location(
    'ros_harness', Path(__file__).with_name('harness.py'))
harness = importlib.util.module_from_spec(_spec)
sys.modules['ros_harness'] = harness
_spec.loader.exec_module(harness)


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
