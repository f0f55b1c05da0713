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

"""The gate says yes only when lock, mode, inputs, limits, rate and resources all do."""

from dataclasses import replace
import math
import uuid

from hypothesis import given
from hypothesis import strategies as st
import pytest

from gemma_node.core import Call
from gemma_node.core import CallKind
from gemma_node.core import ErrorCode
from gemma_node.core import InputState
from gemma_node.core import Mode
from gemma_node.core import Observation
from gemma_node.core import Request
from gemma_node.core import ToolDeclaration
from gemma_node.policy.area import contains
from gemma_node.policy.gate import Gate
from gemma_node.policy.gate import VerdictKind
from gemma_node.policy.gate import withdraw
from gemma_node.policy.lock import NODE
from gemma_node.policy.settings import from_mapping
from gemma_node.tools.spec import Inside
from gemma_node.tools.spec import Requirement
from gemma_node.tools.spec import ToolSpec

REQUEST = Request(id=uuid.uuid4().hex, robot='r1', text='go')
SCHEMA = {'type': 'object', 'properties': {'x': {'type': 'number', 'minimum': -5, 'maximum': 5},
                                           'y': {'type': 'number'}, 'place': {'enum': ['a', 'b']}},
          'required': ['x']}
DRIVE = ToolSpec(
    name='drive', description='', kind=CallKind.ACTION, interface_type='p/action/D',
    interface_name='drive', mode=Mode.AUTO, resources=('base',),
    declaration=ToolDeclaration(name='drive', description='', parameters=SCHEMA),
    requires=(Requirement(input='odom', max_age_s=0.5),
              Requirement(input='battery', field='percentage', above=0.1,
                          otherwise='Dock first.')))
ODOM = Observation(name='odom', topic='/odom', type='t', age_s=0.2, value={})
BATTERY = Observation(name='battery', topic='/b', type='t', age_s=1.0, value={'percentage': 0.5})
INPUTS = (ODOM, BATTERY)


def make_gate(spec=DRIVE, **parameters):
    tree = {'robots': {'r1': {'mode': 'auto', 'stop_words': ['Halt!']}}, 'mode': 'auto',
            **parameters}
    return Gate(from_mapping(tree), {'r1': {spec.name: spec}})


def drive(**arguments):
    return Call(id=uuid.uuid4().hex, name='drive', arguments=arguments or {'x': 1.0})


def judge(gate, call=None, inputs=INPUTS, now_s=0.0, request=REQUEST, **options):
    gate.pace.note_request(request)
    return gate.after(request, [call or drive()], inputs, now_s=now_s, **options)[0]


def test_a_good_call_is_sent():
    verdict = judge(make_gate())
    assert (verdict.kind, verdict.code, verdict.mode) == (
        VerdictKind.SENT, ErrorCode.NONE, Mode.AUTO)


@pytest.mark.parametrize(('mode', 'kind'), [
    ('shadow', VerdictKind.WOULD_SEND), ('approve', VerdictKind.NEEDS_APPROVAL),
    ('auto', VerdictKind.SENT)])
def test_mode_decides_how_far_it_goes(mode, kind):
    assert judge(make_gate(mode=mode)).kind is kind
    assert judge(make_gate(robots={'r1': {'mode': mode}})).kind is kind
    assert judge(make_gate(replace(DRIVE, mode=Mode[mode.upper()]))).kind is kind


def test_set_mode_lowers_and_never_lifts_a_tool_over_its_file():
    gate = make_gate(replace(DRIVE, mode=Mode.APPROVE))
    gate.modes.set(Mode.AUTO, robot='r1', tool='drive')
    assert judge(gate).kind is VerdictKind.NEEDS_APPROVAL
    gate.modes.set(Mode.SHADOW, tool='drive')
    assert judge(gate).kind is VerdictKind.WOULD_SEND
    gate.modes.set(Mode.SHADOW)
    assert gate.modes.of_robot('r1') is Mode.SHADOW


@pytest.mark.parametrize(('call', 'code'), [
    (Call(id='1', name='fly'), ErrorCode.UNKNOWN_TOOL),
    (drive(x=9.0), ErrorCode.LIMIT_EXCEEDED),
    (drive(x=math.nan), ErrorCode.LIMIT_EXCEEDED),
    (drive(x=math.inf), ErrorCode.LIMIT_EXCEEDED),
    (drive(y=1.0), ErrorCode.SCHEMA_VIOLATION),
    (drive(x=1.0, z=1.0), ErrorCode.SCHEMA_VIOLATION),
    (drive(x=1.0, place='c'), ErrorCode.LIMIT_EXCEEDED),
    (drive(x=True), ErrorCode.SCHEMA_VIOLATION),
    (drive(x='1.0'), ErrorCode.SCHEMA_VIOLATION),
    (drive(x=None), ErrorCode.SCHEMA_VIOLATION),
])
def test_bad_calls_are_refused_with_a_sentence(call, code):
    verdict = judge(make_gate(), call)
    assert (verdict.kind, verdict.code) == (VerdictKind.REFUSED, code)
    assert verdict.violations


@pytest.mark.parametrize(('inputs', 'code', 'words'), [
    ((BATTERY,), ErrorCode.MISSING_INPUT, 'not configured'),
    ((replace(ODOM, state=InputState.MISSING), BATTERY), ErrorCode.MISSING_INPUT, 'never'),
    ((replace(ODOM, state=InputState.INVALID), BATTERY), ErrorCode.MISSING_INPUT, 'invalid'),
    ((replace(ODOM, age_s=0.6), BATTERY), ErrorCode.STALE_INPUT, '0.6 s old, the limit is 0.5 s'),
    ((ODOM, replace(BATTERY, value={'percentage': 0.05})), ErrorCode.LIMIT_EXCEEDED, 'Dock first'),
    ((ODOM, replace(BATTERY, value={'percentage': math.nan})), ErrorCode.LIMIT_EXCEEDED, 'nan'),
    ((ODOM, replace(BATTERY, value={})), ErrorCode.LIMIT_EXCEEDED, 'unknown'),
])
def test_requirements_are_judged_on_the_new_snapshot(inputs, code, words):
    verdict = judge(make_gate(), inputs=inputs)
    assert verdict.code == code
    assert words in verdict.violations[0]


def test_required_inputs_refuse_the_request_itself():
    gate = make_gate()
    stale = replace(ODOM, required=True, max_age_s=0.1, state=InputState.STALE)
    assert gate.before(REQUEST, [stale], now_s=0.0).code == ErrorCode.STALE_INPUT
    assert gate.before(REQUEST, [ODOM], now_s=0.0) is None


def test_lock_refuses_requests_and_calls():
    gate = make_gate()
    gate.locks.hear(NODE, True, 0.0)
    assert gate.before(REQUEST, INPUTS, now_s=0.0).code == ErrorCode.LOCKED
    assert judge(gate).code == ErrorCode.LOCKED
    gate.locks.hear(NODE, False, 1.0)
    assert judge(gate).kind is VerdictKind.SENT


def test_lock_with_a_timeout_is_locked_until_heard_and_when_silent():
    gate = make_gate(lock_timeout=1.0)
    assert 'never heard' in gate.locks.reason('r1', 0.0)
    gate.locks.hear(NODE, False, 0.0)
    assert not gate.locks.reason('r1', 0.9)
    assert 'silent' in gate.locks.reason('r1', 1.1)


def test_request_rate_is_bounded():
    gate = make_gate(robots={'r1': {'max_request_rate': 2.0}})
    assert gate.before(REQUEST, [], now_s=0.0) is None
    assert gate.before(REQUEST, [], now_s=0.4).code == ErrorCode.RATE_LIMITED
    assert gate.before(REQUEST, [], now_s=0.6) is None


def test_tool_rate_counts_from_sending_and_cooldown_from_the_end():
    gate = make_gate(replace(DRIVE, rate_limit_hz=1.0, cooldown_s=5.0))
    call = drive()
    gate.start('r1', call, 0.0)
    gate.usage.end(call.id, 0.2)
    assert judge(gate, now_s=0.5).code == ErrorCode.RATE_LIMITED
    assert 'rest' in judge(gate, now_s=2.0).violations[0]
    assert judge(gate, now_s=5.3).kind is VerdictKind.SENT


def test_busy_resource_rejects_or_preempts_own_goals():
    call = drive()
    for on_busy, kind, preempts, follows in (
            ('reject', VerdictKind.REFUSED, (), ()),
            ('queue', VerdictKind.SENT, (), (call.id,)),
            ('preempt_own', VerdictKind.SENT, (call.id,), ())):
        gate = make_gate(replace(DRIVE, on_busy=on_busy))
        gate.start('r1', call, 0.0)
        verdict = judge(gate, now_s=10.0)
        assert (verdict.kind, verdict.preempts, verdict.follows) == (kind, preempts, follows)


def test_queue_of_a_resource_is_bounded():
    gate = make_gate(replace(DRIVE, on_busy='queue'))
    for _ in range(9):
        assert judge(gate, now_s=10.0).kind is VerdictKind.SENT
        gate.start('r1', drive(), 0.0)
    verdict = judge(gate, now_s=10.0)
    assert (verdict.kind, verdict.code) == (VerdictKind.REFUSED, ErrorCode.RESOURCE_BUSY)
    assert '8 more wait' in verdict.violations[0]


def test_call_that_waited_is_judged_again_before_it_is_sent():
    gate = make_gate()
    call = drive()
    assert gate.again('r1', call, INPUTS, now_s=10.0) is None
    assert gate.again('r1', call, (), now_s=10.0).code == ErrorCode.MISSING_INPUT
    assert gate.again('r1', call, INPUTS, now_s=10.0,
                      available=lambda spec: 'gone').code == ErrorCode.SERVER_UNAVAILABLE
    gate.modes.disarm('r1', 'the operator drives')
    assert gate.again('r1', call, INPUTS, now_s=10.0).code == ErrorCode.NEEDS_REARM
    assert judge(gate, now_s=10.0).kind is VerdictKind.WOULD_SEND
    gate.modes.rearm('r1')
    gate.modes.set(Mode.SHADOW)
    assert gate.again('r1', call, INPUTS, now_s=10.0).code == ErrorCode.NOT_ALLOWED
    gate.modes.set(Mode.AUTO)
    gate.locks.hear('r1', True, 10.0)
    assert gate.again('r1', call, INPUTS, now_s=10.0).code == ErrorCode.LOCKED


def test_foreign_goal_on_the_server_refuses_the_call():
    verdict = judge(make_gate(), foreign=lambda spec: 'another client drives it')
    assert (verdict.kind, verdict.code) == (VerdictKind.REFUSED, ErrorCode.RESOURCE_BUSY)


def test_one_decision_takes_a_resource_once():
    first, second = make_gate().after(REQUEST, [drive(), drive()], INPUTS, now_s=0.0)
    assert first.kind is VerdictKind.SENT
    assert second.code == ErrorCode.RESOURCE_BUSY


def test_absent_server_matters_only_when_a_call_would_go_out():
    def absent(spec):
        return f'no server for {spec.name}'
    assert judge(make_gate(), available=absent).code == ErrorCode.SERVER_UNAVAILABLE
    assert judge(make_gate(mode='shadow'), available=absent).kind is VerdictKind.WOULD_SEND


def test_allowed_tools_hold_for_calls_too():
    request = replace(REQUEST, allowed_tools=('other',))
    assert judge(make_gate(), request=request).code == ErrorCode.NOT_ALLOWED


def test_stop_is_allowed_whatever_the_mode_and_the_lock():
    gate = make_gate(mode='shadow')
    gate.locks.hear(NODE, True, 0.0)
    assert judge(gate, Call(id='1', name='stop')).kind is VerdictKind.SENT
    assert judge(gate, Call(id='1', name='no_action')).kind is VerdictKind.UNKNOWN
    assert gate.is_stop_word('r1', 'halt')
    assert not gate.is_stop_word('r1', 'do not halt')


def test_area_refuses_targets_outside():
    square = ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0))
    gate = make_gate(replace(DRIVE, inside=Inside(polygon=square, x='x', y='y')))
    assert judge(gate, drive(x=1.0, y=1.0)).kind is VerdictKind.SENT
    assert judge(gate, drive(x=-1.0, y=1.0)).code == ErrorCode.LIMIT_EXCEEDED
    assert judge(gate, drive(x=1.0)).code == ErrorCode.LIMIT_EXCEEDED


@given(st.floats(-6, 6), st.floats(-6, 6))
def test_polygon_agrees_with_a_box(x, y):
    box = ((-2.0, -3.0), (2.0, -3.0), (2.0, 3.0), (-2.0, 3.0))
    assert contains(box, x, y) == (-2 <= x <= 2 and -3 <= y <= 3)


def test_concave_polygon_leaves_its_notch_out():
    notch = ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (2.0, 1.0), (0.0, 4.0))
    assert contains(notch, 2.0, 0.5)
    assert not contains(notch, 2.0, 3.0)
    assert contains(notch, 4.0, 2.0)


def test_withdrawn_verdict_is_refused_and_keeps_its_reasons():
    verdict = withdraw(judge(make_gate()), ErrorCode.CANCELED, 'canceled')
    assert (verdict.kind, verdict.code) == (VerdictKind.REFUSED, ErrorCode.CANCELED)
    assert verdict.violations == ('canceled',)
