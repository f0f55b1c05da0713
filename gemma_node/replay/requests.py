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

"""Requests that are in the recording itself: spoken commands and DecisionRequest messages."""

from __future__ import annotations

from typing import Any

from gemma_node.core import Priority
from gemma_node.core import Request
from gemma_node.core import ToolChoice
from gemma_node.core import Trigger
from gemma_node.policy.settings import NodeSettings
from gemma_node.replay.bag import BagMessage
from gemma_node.replay.mailbox import topic_of

COMMAND_TOPIC = 'gemma/command'
REQUEST_TOPIC = '/gemma_node/request'
_STRING = 'std_msgs/msg/String'
_REQUEST = 'gemma_node/msg/DecisionRequest'


class Requests:
    """Knows the topics on which the node of these settings would be asked."""

    def __init__(self, settings: NodeSettings) -> None:
        self._robots = {topic_of(robot, COMMAND_TOPIC): robot.name for robot in settings.robots}
        self._only = settings.robots[0].name if len(settings.robots) == 1 else ''

    def is_request(self, message: BagMessage) -> bool:
        """Return whether the node would take this message as a request."""
        if message.topic in self._robots:
            return message.type == _STRING
        return message.topic == REQUEST_TOPIC and message.type == _REQUEST

    def request(self, message: BagMessage, value: Any) -> Request | None:
        """Return the request of a decoded message, without id; None when it says none."""
        if value is None:
            return None
        if message.type == _STRING:
            return Request(
                id='',
                robot=self._robots[message.topic],
                text=value['data'],
                trigger=Trigger.REQUEST,
                trigger_source=message.topic,
                stamp_ns=message.time_ns,
            )
        return Request(
            id='',
            robot=value['robot'] or self._only,
            text=value['text'],
            session=value['session'],
            tool_choice=_known(ToolChoice, value['tool_choice'], ToolChoice.AUTO),
            allowed_tools=tuple(value['allowed_tools']),
            priority=_known(Priority, value['priority'], Priority.NORMAL),
            keep=value['keep'],
            trigger=Trigger.REQUEST,
            trigger_source=message.topic,
            stamp_ns=message.time_ns,
        )


def _known(kind: Any, number: int, default: Any) -> Any:
    """Return the enum's member, or the default for a number that it lacks."""
    return kind(number) if number in {int(member) for member in kind} else default
