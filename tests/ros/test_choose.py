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

"""The Choose service: the worker's verdict is the response, each request gets one."""

from __future__ import annotations

from typing import Any

from gemma_node.core import ErrorCode
from gemma_node.errors import RequestError
from gemma_node.msg import ChoiceOption
from gemma_node.srv import Choose
from gemma_node.worker.client import VerdictEvent
from gemma_node.worker.questions import Question
from gemma_node.worker.questions import QuestionType
from gemma_node.worker.questions import Verdict


def _call(world: Any, **fields: Any) -> Any:
    client = world.peer.create_client(Choose, 'gemma_node/choose')
    world.spin(client.service_is_ready)
    fields = {'type': Choose.Request.TYPE_YES_NO, 'question': 'Is it safe?', **fields}
    return client.call_async(Choose.Request(**fields))


def _asked(world: Any, number: int = 1) -> Question:
    world.spin(lambda: len(world.worker.questions) >= number)
    question: Question = world.worker.questions[number - 1][0]
    return question


def test_verdicts_answer_their_own_requests_in_any_order(world):
    first = _call(world, robot='r1', with_observations=True, session='night')
    one = _asked(world)
    second = _call(
        world, type=Choose.Request.TYPE_CHOICE, question='Where?',
        options=[ChoiceOption(name='dock', description='x'), ChoiceOption(name='bay')])
    two = _asked(world, 2)
    assert (one.robot, one.session, one.type) == ('r1', 'night', QuestionType.YES_NO)
    assert two.options == (('dock', 'x'), ('bay', ''))
    assert one.timeout_s > 0
    assert len(world.worker.questions[0][1]) > 0
    assert world.worker.questions[1][1] == ()
    world.worker.emit(VerdictEvent(Verdict(
        question_id=two.id, choice=1, choice_name='bay', probabilities=(0.25, 0.75),
        label_mass=0.5, margin=0.5, prompt_tokens=9, cached_tokens=4)))
    world.spin(second.done)
    assert not first.done()
    answer = second.result()
    assert (answer.choice_name, list(answer.probabilities)) == ('bay', [0.25, 0.75])
    assert bytes(answer.id.uuid).hex() == two.id
    assert (answer.prompt_tokens, answer.cached_tokens) == (9, 4)
    world.worker.emit(VerdictEvent(Verdict(
        question_id=one.id, error_code=ErrorCode.ENGINE_RESTARTED, error_msg='gone')))
    world.spin(first.done)
    assert (first.result().error_code, first.result().error_msg) == (20013, 'gone')


def test_bad_requests_are_answered_at_once(world):
    for fields, code, named in (
        ({'type': 9}, ErrorCode.INVALID_REQUEST, 'type is 9'),
        ({'robot': 'omega'}, ErrorCode.UNKNOWN_ROBOT, 'r1'),
        ({'with_observations': True}, ErrorCode.INVALID_REQUEST, 'needs a robot'),
    ):
        future = _call(world, **fields)
        world.spin(future.done)
        assert future.result().error_code == code
        assert named in future.result().error_msg
    world.worker.refuses_questions = RequestError(ErrorCode.NOT_ACTIVE, 'loading, 40%')
    future = _call(world)
    world.spin(future.done)
    assert future.result().error_code == ErrorCode.NOT_ACTIVE
    assert world.worker.questions == []
