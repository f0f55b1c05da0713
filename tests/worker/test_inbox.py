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


"""The book of open requests: each taken out exactly once, in a fair order."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import msgspec
import pytest

from gemma_node.core import Answer
from gemma_node.core import ErrorCode
from gemma_node.core import Outcome
from gemma_node.core import Priority
from gemma_node.core import Request
from gemma_node.errors import RequestError
from gemma_node.worker.frames import encode
from gemma_node.worker.frames import Submit
from gemma_node.worker.inbox import end_answer
from gemma_node.worker.inbox import Inbox
from gemma_node.worker.inbox import Pending
from gemma_node.worker.inbox import with_wait


def pending(request_id, robot='r', now=0.0, **fields):
    request = Request(id=request_id, robot=robot, text='t', **fields)
    return Pending(
        request=request, observations=(), payload=encode(Submit(request, ())), added_at=now
    )


def sent_ids(payloads):
    return [msgspec.msgpack.decode(payload)['request']['id'] for payload in payloads]


def test_higher_priority_is_sent_first_and_equals_in_order():
    inbox = Inbox(9)
    for request_id, priority in (
        ('a', Priority.LOW),
        ('b', Priority.NORMAL),
        ('c', Priority.HIGH),
    ):
        inbox.add(pending(request_id, robot=request_id, priority=priority))
    inbox.add(pending('d', robot='d'))
    assert sent_ids(inbox.take_sendable(0.0)) == ['c', 'b', 'd', 'a']
    assert inbox.take_sendable(0.0) == []


def test_lower_priority_does_not_replace_a_waiting_request():
    inbox = Inbox(9, 'replace')
    inbox.add(pending('running'))
    inbox.take_sendable(0.0)
    inbox.add(pending('high', priority=Priority.HIGH))
    assert inbox.add(pending('low', priority=Priority.LOW)) == []
    assert [old.request.id for old in inbox.add(pending('high2', priority=Priority.HIGH))] == [
        'high',
        'low',
    ]
    assert inbox.get('running') is not None


def test_full_inbox_takes_a_request_that_replaces_another():
    inbox = Inbox(2, 'replace')
    inbox.add(pending('running'))
    inbox.take_sendable(0.0)
    inbox.add(pending('old'))
    assert len(inbox.add(pending('new'))) == 1
    with pytest.raises(RequestError) as caught:
        inbox.add(pending('other', robot='q'))
    assert caught.value.code is ErrorCode.BUSY
    assert len(inbox) == 2


def test_wait_is_taken_from_the_timeout_and_added_to_the_queue_time():
    inbox = Inbox(9)
    inbox.add(pending('a'))
    inbox.add(pending('b', timeout_s=10.0))
    inbox.take_sendable(0.0)
    inbox.pop('a')
    (payload,) = inbox.take_sendable(4.0)
    assert msgspec.msgpack.decode(payload)['request']['timeout_s'] == pytest.approx(6.0)
    answer = Answer(request_id='b', robot='r', outcome=Outcome.REPLY, queue_time=1.0)
    assert with_wait(answer, inbox.pop('b')).queue_time == pytest.approx(5.0)


def test_request_sent_at_once_keeps_the_workers_queue_time():
    inbox = Inbox(9)
    inbox.add(pending('a'))
    inbox.take_sendable(0.0)
    answer = Answer(request_id='a', robot='r', outcome=Outcome.REPLY)
    assert math.isnan(with_wait(answer, inbox.pop('a')).queue_time)


def test_only_waiting_requests_expire():
    inbox = Inbox(9)
    inbox.add(pending('sent', timeout_s=1.0))
    inbox.take_sendable(0.0)
    inbox.add(pending('waits', timeout_s=1.0))
    inbox.add(pending('patient'))
    assert inbox.pop_expired(0.9) == []
    assert [old.request.id for old in inbox.pop_expired(1.0)] == ['waits']
    assert inbox.pop('waits') is None


@pytest.mark.parametrize(
    ('code', 'outcome'),
    [
        (ErrorCode.SUPERSEDED, Outcome.REFUSED),
        (ErrorCode.CANCELED, Outcome.FAILED),
        (ErrorCode.ENGINE_RESTARTED, Outcome.FAILED),
    ],
)
def test_end_answer_says_why(code, outcome):
    answer = end_answer(pending('a', seed=7), code, 'because', 2.5)
    assert (answer.outcome, answer.error_code, answer.error_msg) == (outcome, code, 'because')
    assert (answer.seed, answer.queue_time) == (7, 2.5)


OPERATIONS = st.tuples(
    st.sampled_from(['add', 'add', 'send', 'pop', 'expire', 'all']),
    st.integers(0, 2),
    st.sampled_from([0.0, 2.0]),
    st.sampled_from(list(Priority)),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(OPERATIONS, max_size=60), st.sampled_from(['reject', 'replace']))
def test_every_accepted_request_leaves_exactly_once(operations, policy):
    inbox, accepted, left, sent = Inbox(5, policy), [], [], []
    for now, (verb, robot, timeout_s, priority) in enumerate(operations):
        if verb == 'add':
            new = pending(str(now), f'r{robot}', now, timeout_s=timeout_s, priority=priority)
            try:
                left += inbox.add(new)
                accepted.append(new)
            except RequestError:
                assert len(inbox) == 5
        elif verb == 'send':
            sent += sent_ids(inbox.take_sendable(now))
        elif verb == 'pop' and accepted:
            popped = inbox.pop(accepted[now % len(accepted)].request.id)
            left += [] if popped is None else [popped]
        elif verb == 'expire':
            left += inbox.pop_expired(now)
        elif verb == 'all':
            left += inbox.pop_all()
        in_worker = [p.conversation for p in inbox._pending.values() if p.is_sent]
        assert len(in_worker) == len(set(in_worker))
    left += inbox.pop_all()
    assert sorted(p.request.id for p in left) == sorted(p.request.id for p in accepted)
    assert len(sent) == len(set(sent))
