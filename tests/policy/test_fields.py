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

"""Paths into plain messages, bounds on what they lead to, and what the model is told."""

import math

import pytest

from gemma_node.core import ErrorCode
from gemma_node.policy.fields import lookup
from gemma_node.policy.fields import violation
from gemma_node.policy.result_text import done_text
from gemma_node.policy.result_text import failed_text
from gemma_node.policy.result_text import MAX_CHARACTERS
from gemma_node.policy.tally import Tally
from gemma_node.tools.spec import ResultRule

MESSAGE = {'pose': {'x': 1.5}, 'items': [{'name': 'cup'}, {'name': 'box'}],
           'ranges': {'__array__': 9000, 'head': [0.5, 0.6]}}


@pytest.mark.parametrize(('path', 'value'), [
    ('pose.x', 1.5), ('items[1].name', 'box'), ('ranges[1]', 0.6), ('ranges[2]', None),
    ('pose.y', None), ('items[7]', None), ('pose.x.y', None), ('', MESSAGE)])
def test_lookup(path, value):
    assert lookup(MESSAGE, path) == value


@pytest.mark.parametrize(('value', 'bounds', 'is_ok'), [
    (0.2, {'above': 0.1}, True), (0.1, {'above': 0.1}, False), (0.1, {'below': 0.1}, False),
    (math.nan, {'above': 0.1}, False), (None, {'above': 0.1}, False), ('a', {'below': 1}, False),
    (True, {'above': 0}, False), (True, {'equals': True}, True),
    (False, {'equals': 'true'}, False), (1, {'equals': '1.0'}, True),
    (1, {'equals': 'one'}, False),
    ('a', {'equals': 'a'}, True),
    (5, {}, True)])
def test_bounds(value, bounds, is_ok):
    assert (violation(value, **bounds) == '') is is_ok


def test_result_lines_are_short_and_leave_empty_fields_out():
    rule = ResultRule(show=('error_code', 'error_msg', 'travelled', 'note'))
    assert done_text(rule, {'error_code': 0, 'error_msg': '', 'travelled': 3.25, 'note': ''}) == (
        'done, travelled 3.25')
    assert failed_text('failed') == 'failed'
    assert len(failed_text('failed', 'x' * 10_000)) == MAX_CHARACTERS


def test_tally_counts_and_forgets_after_its_window():
    tally = Tally()
    for second in range(100):
        tally.record(now_s=float(second), latency_s=second / 100, code=ErrorCode.BUSY,
                     is_refused=True, is_late=second == 0)
    assert (tally.decisions, tally.refused, tally.deadline_misses) == (100, 100, 1)
    assert tally.codes[ErrorCode.BUSY] == 100
    assert tally.percentile(0.0, 99.0) == 0.39
    assert tally.percentile(0.99, 99.0) == 0.99
    assert tally.last_age(100.0) == 1.0
    assert math.isnan(Tally().percentile(0.5, 0.0))
