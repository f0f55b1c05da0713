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

"""
Every check refuses what it is there for, and nothing else would: without it the call goes out.

One case a check. The intact gate must refuse with the code given; the same gate with that one
check taken out (the planted fault) must let the very same call through.
"""

from dataclasses import dataclass
from dataclasses import replace
import math
import uuid

import pytest

from gemma_node.core import Call
from gemma_node.core import CallKind
from gemma_node.core import ErrorCode
from gemma_node.core import InputState
from gemma_node.core import Mode
from gemma_node.core import Observation
from gemma_node.core import Request
from gemma_node.core import ToolDeclaration
from gemma_node.core import Trigger
from gemma_node.policy.checks import make_checks
from gemma_node.policy.gate import Gate
from gemma_node.policy.gate import VerdictKind
from gemma_node.policy.settings import from_mapping
from gemma_node.tools.spec import ArgumentRule
from gemma_node.tools.spec import Inside
from gemma_node.tools.spec import Requirement
from gemma_node.tools.spec import ToolSpec

SCHEMA = {'type': 'object', 'required': ['x', 'y'], 'properties': {
    'x': {'type': 'number', 'minimum': -50, 'maximum': 50}, 'y': {'type': 'number'}}}
PATH = ('pose', 'pose', 'position')
FRAME = ArgumentRule(path=('pose', 'header', 'frame_id'), has_const=True,
                     const='{frame_prefix}odom')
DRIVE = ToolSpec(
    name='drive', description='', kind=CallKind.ACTION, interface_type='p/action/D',
    interface_name='drive', mode=Mode.AUTO,
    declaration=ToolDeclaration(name='drive', description='', parameters=SCHEMA),
    arguments=(ArgumentRule(path=(*PATH, 'x'), name='x'),
               ArgumentRule(path=(*PATH, 'y'), name='y'), FRAME))
SQUARE = ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0))
ODOM = Observation(name='odom', topic='/odom', type='t', age_s=0.2, max_age_s=1.0,
                   value={'v': 0.1})
ASKED = Request(id=uuid.uuid4().hex, robot='r1', text='go')
UNASKED = replace(ASKED, trigger=Trigger.TOOL_RESULT, step=1)


def drive(x=1.0, y=1.0, probability=0.9, **more):
    return Call(id=uuid.uuid4().hex, name='drive', arguments={'x': x, 'y': y, **more},
                probability=probability)


GOOD = drive()


@dataclass(frozen=True, kw_only=True)
class Planted:
    """One check with a call that it alone refuses; `prepare` brings the gate there."""

    check: str
    code: ErrorCode
    spec: ToolSpec = DRIVE
    call: Call = GOOD
    request: Request = ASKED
    inputs: tuple[Observation, ...] = (ODOM,)
    seen: tuple[Observation, ...] = ()
    waited_s: float = 0.0
    robot: dict | None = None
    available: str = ''
    foreign: str = ''
    prepare: object = lambda gate: None


def lock(gate):
    gate.locks.hear('r1', True, 0.0)


def send_once(gate):
    call = drive()
    gate.start('r1', call, 9.5)
    gate.usage.end(call.id, 9.6)


def call_before(*calls):
    def prepare(gate):
        for call in calls:
            gate.pace.note('r1', call, 9.0)
    return prepare


def transforms(age_s=0.0, x=10.0):
    """Return an input that says where r1/odom is in r1/map."""
    return Observation(
        name='tf', topic='/tf', type='tf2_msgs/msg/TFMessage', age_s=0.0, received_ns=10**12,
        value={'transforms': [{
            'header': {'stamp': {'sec': 1000 - int(age_s), 'nanosec': 0}, 'frame_id': 'r1/map'},
            'child_frame_id': 'r1/odom',
            'transform': {'translation': {'x': x, 'y': 0.0, 'z': 0.0},
                          'rotation': {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0}}}]})


def within(frame='', max_age_s=1.0):
    return replace(DRIVE, inside=Inside(
        polygon=SQUARE, x='x', y='y', frame=frame, max_age_s=max_age_s))


def needing(**rule):
    return replace(DRIVE, requires=(Requirement(input='odom', **rule),))


def go(**arguments):
    return replace(GOOD, arguments=arguments)


# Its target may be left out, or given by a choice; the zeros of an empty goal are outside.
AWAY = replace(
    DRIVE, arguments=(*DRIVE.arguments, ArgumentRule(path=PATH, name='place', choices={
        'desk': {'x': 1.0, 'y': 1.0}, 'hall': {'x': 9.0, 'y': 9.0}})),
    declaration=ToolDeclaration(name='drive', description='', parameters={
        'type': 'object', 'properties': {
            **SCHEMA['properties'], 'place': {'type': 'string', 'enum': ['desk', 'hall']}}}),
    inside=Inside(polygon=((0.5, 0.5), (4.0, 0.5), (4.0, 4.0)), x='x', y='y'))
REQUIRED = replace(ODOM, required=True)
STALE = replace(REQUIRED, age_s=1.2, state=InputState.STALE)
CASES = (
    Planted(check='allowed', code=ErrorCode.NOT_ALLOWED,
            request=replace(ASKED, allowed_tools=('other',))),
    Planted(check='interface', code=ErrorCode.NOT_ALLOWED,
            spec=replace(DRIVE, interface_name='/r2/drive')),
    Planted(check='interface', code=ErrorCode.NOT_ALLOWED,
            spec=replace(DRIVE, interface_name='gemma/command')),
    Planted(check='interface', code=ErrorCode.NOT_ALLOWED,
            spec=replace(DRIVE, interface_name='/gemma_node/lock'),
            robot={'allowed_interfaces': ['/*']}),
    Planted(check='interface', code=ErrorCode.NOT_ALLOWED,
            spec=replace(DRIVE, interface_name='drive/_action/feedback')),
    Planted(check='interface', code=ErrorCode.NOT_ALLOWED,
            spec=replace(DRIVE, interface_name='nav/set_parameters',
                         interface_type='rcl_interfaces/srv/SetParameters')),
    Planted(check='lock', code=ErrorCode.LOCKED, prepare=lock),
    Planted(check='arguments', code=ErrorCode.LIMIT_EXCEEDED, call=drive(x=51.0)),
    Planted(check='arguments', code=ErrorCode.LIMIT_EXCEEDED, call=drive(x=math.nan)),
    Planted(check='arguments', code=ErrorCode.SCHEMA_VIOLATION, call=drive(z=1.0)),
    Planted(check='area', code=ErrorCode.LIMIT_EXCEEDED, spec=within(), call=drive(x=5.0)),
    Planted(check='area', code=ErrorCode.LIMIT_EXCEEDED, spec=within('{frame_prefix}odom'),
            call=drive(x=5.0)),
    Planted(check='area', code=ErrorCode.LIMIT_EXCEEDED, spec=within('{frame_prefix}map')),
    Planted(check='area', code=ErrorCode.LIMIT_EXCEEDED, spec=within('{frame_prefix}map'),
            inputs=(transforms(),)),
    Planted(check='area', code=ErrorCode.LIMIT_EXCEEDED, spec=within('{frame_prefix}map'),
            call=drive(x=-8.0), inputs=(transforms(age_s=3.0),)),
    Planted(check='area', code=ErrorCode.LIMIT_EXCEEDED, spec=within('{frame_prefix}map'),
            call=drive(x=-8.0), inputs=(transforms(age_s=-9.0),)),
    Planted(check='area', code=ErrorCode.LIMIT_EXCEEDED, spec=AWAY, call=go()),
    Planted(check='area', code=ErrorCode.LIMIT_EXCEEDED, spec=AWAY, call=go(place='hall')),
    Planted(check='area', code=ErrorCode.LIMIT_EXCEEDED, spec=AWAY, call=go(y=1.0)),
    Planted(check='area', code=ErrorCode.LIMIT_EXCEEDED,
            spec=replace(AWAY, inside=replace(AWAY.inside, frame='{frame_prefix}odom')),
            call=go()),
    Planted(check='seen', code=ErrorCode.STALE_INPUT, seen=(REQUIRED,), waited_s=0.9),
    Planted(check='required', code=ErrorCode.STALE_INPUT, inputs=(STALE,)),
    Planted(check='required', code=ErrorCode.MISSING_INPUT,
            inputs=(replace(REQUIRED, state=InputState.MISSING, age_s=math.nan),)),
    Planted(check='requires', code=ErrorCode.STALE_INPUT, spec=needing(max_age_s=0.1)),
    Planted(check='requires', code=ErrorCode.LIMIT_EXCEEDED, spec=needing(field='v', above=0.5)),
    Planted(check='requires', code=ErrorCode.LIMIT_EXCEEDED, spec=needing(field='v', below=0.05)),
    Planted(check='requires', code=ErrorCode.LIMIT_EXCEEDED,
            spec=needing(field='v', has_equals=True, equals=1)),
    Planted(check='requires', code=ErrorCode.MISSING_INPUT, spec=needing(max_age_s=9.0),
            inputs=()),
    Planted(check='rate', code=ErrorCode.RATE_LIMITED, spec=replace(DRIVE, rate_limit_hz=1.0),
            prepare=send_once),
    Planted(check='rate', code=ErrorCode.RATE_LIMITED, spec=replace(DRIVE, cooldown_s=3.0),
            prepare=send_once),
    Planted(check='calls', code=ErrorCode.RATE_LIMITED, robot={'max_calls_per_minute': 2},
            prepare=call_before(drive(x=2.0), drive(x=3.0))),
    Planted(check='repeats', code=ErrorCode.RATE_LIMITED, request=UNASKED,
            prepare=call_before(drive(), drive(), drive())),
    Planted(check='confidence', code=ErrorCode.LOW_CONFIDENCE, call=drive(probability=0.4),
            robot={'min_probability': 0.5, 'on_low_confidence': 'ask_operator'}),
    Planted(check='confidence', code=ErrorCode.LOW_CONFIDENCE, call=drive(probability=math.nan),
            robot={'min_probability': 0.5, 'on_low_confidence': 'ask_operator'}),
    Planted(check='server', code=ErrorCode.SERVER_UNAVAILABLE, available='no server of drive'),
    Planted(check='foreign', code=ErrorCode.RESOURCE_BUSY, foreign='another client drives it'),
)


def judge(case, *, without=''):
    settings = from_mapping({'mode': 'auto', 'robots': {'r1': {'mode': 'auto',
                                                               **(case.robot or {})}}})
    gate = Gate(settings, {'r1': {'drive': case.spec}})
    if without:
        gate.checks[without] = lambda _: []
    assert gate.before(case.request, (), now_s=8.0) is None
    case.prepare(gate)
    return gate.after(
        case.request, [case.call], case.inputs, now_s=10.0, seen=case.seen,
        waited_s=case.waited_s, available=lambda spec: case.available,
        foreign=lambda spec: case.foreign)[0]


@pytest.mark.parametrize('case', CASES, ids=lambda case: f'{case.check}-{case.code.name}')
def test_call_is_refused_by_the_check_and_goes_out_without_it(case):
    intact = judge(case)
    assert (intact.kind, intact.code) == (VerdictKind.REFUSED, case.code)
    assert all(len(sentence) > 10 for sentence in intact.violations)
    assert judge(case, without=case.check).kind is VerdictKind.SENT


def test_every_check_has_a_planted_fault():
    names = make_checks(None, None, None, None)
    assert {case.check for case in CASES} == set(names)


@pytest.mark.parametrize('change', [
    {'spec': within('{frame_prefix}map'), 'call': drive(x=-8.0), 'inputs': (transforms(),)},
    {'spec': within('{frame_prefix}odom')},
    {'spec': within('{frame_prefix}map'), 'call': drive(x=-8.0),
     'inputs': (transforms(age_s=-1.0),)},
    {'spec': AWAY, 'call': go(place='desk')},
    {'spec': replace(DRIVE, interface_name='/r2/drive'),
     'robot': {'allowed_interfaces': ['/r2/*']}},
    {'spec': replace(DRIVE, interface_name='nav/set_parameters',
                     interface_type='rcl_interfaces/srv/SetParameters'),
     'robot': {'allowed_interfaces': ['/r1/nav/set_parameters']}},
    {'request': ASKED, 'prepare': call_before(drive(), drive())},
    {'request': UNASKED, 'prepare': call_before(drive(x=2.0), drive(x=2.0), drive(x=2.0))},
    {'call': drive(probability=0.5), 'robot': {'min_probability': 0.5}},
    {'seen': (REQUIRED,), 'waited_s': 0.5},
])
def test_what_no_check_is_against_is_sent(change):
    assert judge(Planted(check='', code=ErrorCode.NONE, **change)).kind is VerdictKind.SENT


def test_an_unsure_call_waits_for_approval_and_says_why():
    verdict = judge(Planted(check='', code=ErrorCode.NONE, call=drive(probability=0.2),
                            robot={'min_probability': 0.5}))
    assert (verdict.kind, verdict.mode) == (VerdictKind.NEEDS_APPROVAL, Mode.APPROVE)
    assert '0.20' in verdict.violations[0]
