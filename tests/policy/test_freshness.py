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

"""Ages come from the right clock reading and never look younger than they are."""

import math

from hypothesis import given
from hypothesis import strategies as st
import pytest

from gemma_node.core import AgeSource
from gemma_node.core import InputState
from gemma_node.policy.freshness import age_of
from gemma_node.policy.freshness import has_broken_numbers
from gemma_node.policy.freshness import NS
from gemma_node.policy.freshness import quantise_age
from gemma_node.policy.freshness import snapshot_state
from gemma_node.policy.settings import ObservationConfig
from gemma_node.policy.snapshot import missing
from gemma_node.policy.snapshot import observe

T = 1_000 * NS
CONFIG = ObservationConfig(name='odom', topic='odom', type='nav_msgs/msg/Odometry', max_age_s=0.5)


@pytest.mark.parametrize(('stamp', 'source', 'age'), [
    (T - NS, AgeSource.STAMP, 3.0),
    (0, AgeSource.RECEPTION, 2.0),
    (T - 6 * NS, AgeSource.RECEPTION, 2.0),
    (T + 6 * NS, AgeSource.RECEPTION, 2.0),
    (T - 5 * NS, AgeSource.STAMP, 7.0),
])
def test_stamp_counts_only_near_reception(stamp, source, age):
    assert age_of(stamp, T, T + 2 * NS, 5.0) == (age, source, True)


def test_age_in_the_future_is_not_possible():
    assert age_of(T + NS, T, T, 5.0) == (0.0, AgeSource.STAMP, False)
    assert age_of(0, T, T - NS, 5.0)[2] is False
    assert age_of(T + NS // 20, T, T, 5.0)[2] is True


@given(st.integers(min_value=0, max_value=10**15))
def test_quantised_age_is_never_younger_and_little_older(age_ns):
    age_s = quantise_age(age_ns)
    true_s = age_ns / NS
    assert age_s >= true_s or math.isclose(age_s, true_s)
    assert age_s - true_s <= (0.1 if true_s <= 10 else 1 if true_s <= 120 else 10) + 1e-6


def test_quantised_ages_are_short_numbers():
    assert [quantise_age(int(s * NS)) for s in (0, 0.01, 0.3, 9.99, 10.2, 119.5, 121)] == [
        0.0, 0.1, 0.3, 10.0, 11.0, 120.0, 130.0]


def test_states():
    assert snapshot_state(0.5, 0.5, is_valid=True) is InputState.FRESH
    assert snapshot_state(0.6, 0.5, is_valid=True) is InputState.STALE
    assert snapshot_state(0.1, 0.5, is_valid=False) is InputState.INVALID
    assert snapshot_state(math.nan, 0.5, is_valid=True) is InputState.INVALID


def test_nan_breaks_a_position_but_not_a_battery_or_a_covariance():
    assert has_broken_numbers('nav_msgs/msg/Odometry', {'pose': {'x': math.nan}})
    assert not has_broken_numbers('nav_msgs/msg/Odometry', {'covariance': [math.nan]})
    assert not has_broken_numbers('sensor_msgs/msg/BatteryState', {'temperature': math.nan})


def test_observation_is_stale_missing_or_invalid():
    def at(value, age_ns):
        return observe(CONFIG, '/r1/odom', value, stamp_ns=0, received_ns=T, now_ns=T + age_ns,
                       tolerance_s=5.0, digest='d')
    assert at({'x': 1.0}, NS // 10).state is InputState.FRESH
    assert at({'x': 1.0}, NS).state is InputState.STALE
    assert at({'x': math.inf}, 0).state is InputState.INVALID
    assert at(None, 0).state is InputState.INVALID
    assert missing(CONFIG, '/r1/odom').state is InputState.MISSING
    assert math.isnan(missing(CONFIG, '/r1/odom').age_s)
