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


"""When a worker counts as silent."""

from __future__ import annotations

import pytest

from gemma_node.worker.watchdog import Watchdog


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def watch(dog, clock, seconds, *, beats=False, step_age_s=0.0):
    """Check every 0.25 s for some seconds; return the first verdict."""
    for _ in range(round(seconds / 0.25)):
        clock.now += 0.25
        if beats:
            dog.beat(step_age_s)
        if verdict := dog.verdict():
            return verdict
    return ''


def test_ready_worker_without_heartbeat_is_silent_after_two_seconds(clock):
    dog = Watchdog(clock=clock)
    dog.ready()
    assert watch(dog, clock, 2.0) == ''
    assert 'silent for 2.2 s; the limit is 2 s' in watch(dog, clock, 0.25)


def test_heartbeats_keep_it_alive(clock):
    dog = Watchdog(clock=clock)
    dog.ready()
    assert watch(dog, clock, 60.0, beats=True, step_age_s=1.9) == ''


def test_long_step_is_silence_despite_heartbeats(clock):
    dog = Watchdog(clock=clock)
    dog.ready()
    assert 'in one step for 2.1 s' in watch(dog, clock, 1.0, beats=True, step_age_s=2.1)


def test_load_has_a_wider_limit_and_no_steps(clock):
    dog = Watchdog(clock=clock, load_limit_s=10.0)
    assert watch(dog, clock, 60.0, beats=True, step_age_s=99.0) == ''
    assert watch(dog, clock, 9.75) == ''
    assert 'the limit is 10 s' in watch(dog, clock, 1.0)


def test_slow_device_gets_five_of_its_own_steps_but_no_endless_limit(clock):
    dog = Watchdog(clock=clock)
    dog.ready(step_s=6.0)
    assert watch(dog, clock, 20.0, beats=True, step_age_s=29.0) == ''
    assert 'the limit is 30 s' in watch(dog, clock, 1.0, beats=True, step_age_s=31.0)
    endless = Watchdog(clock=clock)
    endless.ready(step_s=1e9)
    assert 'the limit is 60 s' in watch(endless, clock, 1.0, beats=True, step_age_s=61.0)


def test_becoming_ready_starts_a_new_period(clock):
    dog = Watchdog(clock=clock)
    watch(dog, clock, 30.0)
    dog.ready()
    assert watch(dog, clock, 1.75) == ''


def test_observer_that_was_held_up_does_not_blame_the_worker(clock):
    dog = Watchdog(clock=clock)
    dog.ready()
    clock.now += 3600.0
    assert dog.verdict() == ''
    assert watch(dog, clock, 1.75) == ''
    assert 'silent' in watch(dog, clock, 1.0)
