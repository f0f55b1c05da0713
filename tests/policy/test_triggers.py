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

"""Triggers fire on their event, once, and not more often than they may."""

import math

from gemma_node.policy.settings import TriggerConfig
from gemma_node.policy.triggers import TriggerInput
from gemma_node.policy.triggers import Triggers


class Feed:
    def __init__(self):
        self.count = 0
        self.value = None

    def put(self, value):
        self.count += 1
        self.value = {'v': value}

    def __call__(self, name):
        return TriggerInput(count=self.count, value=self.value) if self.count else None


def triggers(kind, **fields):
    return Triggers([TriggerConfig(name='t', kind=kind, text='?', input='i', field='v', **fields)],
                    0.0), Feed()


def fired(watch, now_s, feed):
    return bool(watch.poll(now_s, feed))


def test_period_fires_on_its_grid_and_once_after_a_gap():
    watch, feed = triggers('period', period_s=2.0)
    assert [fired(watch, t, feed) for t in (1.9, 2.0, 3.9, 4.1, 11.0, 11.5, 12.0)] == [
        False, True, False, True, True, False, True]


def test_message_fires_once_each_within_the_interval():
    watch, feed = triggers('on_message', min_interval_s=1.0)
    assert not fired(watch, 0.0, feed)
    feed.put(1)
    assert fired(watch, 0.1, feed)
    assert not fired(watch, 0.2, feed)
    feed.put(1)
    assert not fired(watch, 0.5, feed)
    assert fired(watch, 1.2, feed)


def test_change_needs_a_baseline_and_a_step():
    watch, feed = triggers('on_change', min_change=0.5, min_interval_s=0.0)
    results = []
    for t, value in enumerate((1.0, 1.4, 1.6, math.nan, 1.7, 3.0)):
        feed.put(value)
        results.append(fired(watch, float(t), feed))
    assert results == [False, False, True, False, False, True]


def test_change_of_text():
    watch, feed = triggers('on_change', min_interval_s=0.0)
    results = []
    for t, value in enumerate(('idle', 'idle', 'moving', 'idle')):
        feed.put(value)
        results.append(fired(watch, float(t), feed))
    assert results == [False, False, True, True]


def test_condition_fires_when_it_becomes_true():
    watch, feed = triggers('condition', below=0.2, min_interval_s=0.0)
    results = []
    for t, value in enumerate((0.3, 0.1, 0.1, 0.4, 0.15, None, math.nan)):
        feed.put(value)
        results.append(fired(watch, float(t), feed))
    assert results == [False, True, False, False, True, False, False]


def test_request_triggers_never_fire_and_reset_starts_periods_anew():
    assert not Triggers([TriggerConfig(name='t', kind='request', text='')], 0.0).poll(9.0, Feed())
    watch, feed = triggers('period', period_s=2.0)
    watch.reset(10.0)
    assert not fired(watch, 11.0, feed)
    assert fired(watch, 12.0, feed)
