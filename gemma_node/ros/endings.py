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

"""How the status and result of an action server become a call's ending. Pure functions."""

from __future__ import annotations

from typing import Any

from action_msgs.msg import GoalStatus

from gemma_node.core import ErrorCode
from gemma_node.msg import ToolEvent
from gemma_node.policy.result_text import done_text
from gemma_node.policy.result_text import failed_text
from gemma_node.policy.result_text import MAX_CHARACTERS
from gemma_node.ros.goals import CAUSE_CODES
from gemma_node.ros.goals import Ending
from gemma_node.ros.goals import Goal
from gemma_node.ros.messages import to_plain
from gemma_node.tools.overlay import is_success

_CANCELED_BY = {
    'operator': 'canceled by the operator',
    'lock': 'canceled because the robot is locked',
    'timeout': 'canceled: it took too long',
    'condition': 'canceled: what it needs no longer holds',
    'preempted': 'canceled: a newer call took its place',
    'model': 'canceled by your stop',
    'shutdown': 'canceled: the node stops',
    'engine_lost': 'canceled: the model was restarted',
    'taken_over': 'canceled: the operator took over',
    'silent': 'canceled: its server is silent',
}


def result_ending(goal: Goal, status: int, result: Any) -> Ending:
    """Return the ending for the server's final status and result."""
    plain = to_plain(result)
    ending = _by_status(goal, status, plain)
    ending.result = plain
    code = plain.get('error_code', 0)
    if isinstance(code, int) and 0 < code <= 65535:
        ending.server_code = code
        ending.server_name = _constant_name(type(result), code)
    return ending


def done_ending(goal: Goal) -> Ending:
    """Return the ending of what this node did itself."""
    return Ending(state=ToolEvent.STATE_SUCCEEDED, text=done_text(goal.spec.result, {}))


def unheard_ending(goal: Goal, why: str) -> Ending:
    """Return the ending of a stream that lost its subscribers."""
    return Ending(state=ToolEvent.STATE_ABORTED, code=ErrorCode.SERVER_UNAVAILABLE,
                  message=why, text='failed: nobody listens any more')


def outdated_ending(code: ErrorCode, why: str) -> Ending:
    """Return the ending of a call that waited for another, and may not be sent any more."""
    return Ending(state=ToolEvent.STATE_EXPIRED, code=code, message=f'not sent: {why}',
                  text=failed_text('not sent', why))


def canceled_ending(goal: Goal) -> Ending:
    """Return the ending of a call whose cancel is confirmed, or that was never sent."""
    return Ending(
        state=ToolEvent.STATE_CANCELED, code=CAUSE_CODES.get(goal.cause, ErrorCode.CANCELED),
        message=_CANCELED_BY.get(goal.cause, 'canceled by the server'),
        text=_CANCELED_BY.get(goal.cause, 'canceled'))


def rejected_ending(goal: Goal) -> Ending:
    """Return the ending of a goal that the server did not accept."""
    return Ending(state=ToolEvent.STATE_REJECTED, code=ErrorCode.GOAL_REJECTED,
                  message=f'{goal.interface_name} rejected the goal', text='failed: rejected')


def unanswered_ending(goal: Goal, waited_s: float) -> Ending:
    """Return the ending of a goal that the server neither accepted nor rejected."""
    return Ending(
        state=ToolEvent.STATE_REJECTED, code=ErrorCode.SERVER_UNAVAILABLE,
        message=f'{goal.interface_name} did not answer the goal within {waited_s:g} s',
        text='failed: its server does not answer')


def gone_ending(goal: Goal) -> Ending:
    """Return the ending of a goal whose server went away."""
    return Ending(
        state=ToolEvent.STATE_ABORTED, code=ErrorCode.SERVER_UNAVAILABLE,
        message=f'the server of {goal.interface_name} is gone; its last goal was not finished',
        text='failed: its server is gone')


def orphaned_ending(goal: Goal, why: str) -> Ending:
    """Return the ending of a goal whose cancel nobody confirmed: the robot may still move."""
    return Ending(
        state=ToolEvent.STATE_ORPHANED, code=ErrorCode.CANCEL_UNCONFIRMED,
        message=f'cancel of {goal.call.name} is not confirmed: {why}; the robot may still be '
                'moving',
        text='cancel is not confirmed; it may still be moving')


def orphaned_before(waiting: Goal, ended: Goal) -> Ending:
    """Return the ending of a call that was never sent: the goal before it may still run."""
    ending = canceled_ending(waiting)
    ending.message = (f'not sent: the cancel of {ended.call.name} is not confirmed, the robot '
                      'may still be moving')
    ending.text = 'not sent: the earlier call may still be moving'
    return ending


def expired_ending(goal: Goal) -> Ending:
    """Return the ending of a call that nobody approved in time."""
    return Ending(
        state=ToolEvent.STATE_EXPIRED, code=ErrorCode.APPROVAL_EXPIRED,
        message=f'nobody approved {goal.call.name} within {goal.spec.approval_timeout_s:g} s',
        text='not sent: nobody approved it')


def denied_ending(goal: Goal, reason: str) -> Ending:
    """Return the ending of a call that an operator denied."""
    why = ' '.join(reason.split())[:MAX_CHARACTERS]
    return Ending(
        state=ToolEvent.STATE_CANCELED, code=ErrorCode.APPROVAL_DENIED,
        message=f'the operator denied {goal.call.name}' + (f': {why}' if why else ''),
        text=failed_text('not sent: the operator denied it', why))


def _by_status(goal: Goal, status: int, plain: dict[str, Any]) -> Ending:
    rule = goal.spec.result
    why = ' '.join(str(plain.get('error_msg') or '').split())[:MAX_CHARACTERS]
    if status == GoalStatus.STATUS_CANCELED or (
            goal.cause == 'taken_over' and status == GoalStatus.STATUS_ABORTED):
        ending = canceled_ending(goal)
        if status == GoalStatus.STATUS_ABORTED:
            ending.state = ToolEvent.STATE_ABORTED
        return ending
    if status == GoalStatus.STATUS_SUCCEEDED and is_success(goal.spec, plain):
        return Ending(state=ToolEvent.STATE_SUCCEEDED, text=done_text(rule, plain))
    return Ending(
        state=ToolEvent.STATE_ABORTED, code=ErrorCode.GOAL_ABORTED,
        message=why or f'{goal.interface_name} did not reach the goal',
        text=failed_text('failed', why))


def _constant_name(result_type: Any, code: int) -> str:
    for name in dir(type(result_type)):
        if name.isupper() and getattr(result_type, name, None) == code:
            return name
    return ''
