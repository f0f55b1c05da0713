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
Makes audit records of what the node decides, does and is told. Does nothing without a folder.

Records are made on the executor thread of values that do not change any more; everything that
costs time (encoding, compressing, writing) is the log's own thread's.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace
import datetime
import itertools
import os
from pathlib import Path
from typing import Any

from rclpy.node import Node
from rclpy.serialization import serialize_message

from gemma_node.core import Answer
from gemma_node.core import Observation
from gemma_node.core import Request
from gemma_node.core import RuntimeFacts
from gemma_node.core import WorkerSettings
from gemma_node.msg import Decision
from gemma_node.msg import RuntimeInfo
from gemma_node.msg import ToolEvent
from gemma_node.policy.audit import AuditLimits
from gemma_node.policy.audit import AuditLog
from gemma_node.policy.gate import Verdict
from gemma_node.policy.recording import Recorder
from gemma_node.policy.settings import NodeSettings
from gemma_node.ros.conversions import time_ns
from gemma_node.ros.conversions import uuid_hex
from gemma_node.ros.goals import Goal
from gemma_node.ros_env import share_folder

_INPUT_FIELDS = ('name', 'topic', 'type', 'stamp_ns', 'received_ns', 'age_s', 'max_age_s',
                 'state', 'age_source', 'digest', 'required')
_EVENT_FIELDS = ('robot', 'name', 'interface_name', 'state', 'is_terminal', 'error_code',
                 'error_msg', 'server_error_code', 'server_error_name', 'elapsed', 'progress',
                 'detail_json', 'cause')
CLOSE_TIMEOUT_S = 2.0
_NUMBERS = itertools.count(1)


class Auditor:
    """The node's audit log and bag, if it keeps them. Executor thread only."""

    def __init__(
        self, node: Node, settings: NodeSettings, worker_settings: WorkerSettings
    ) -> None:
        self._node = node
        self._worker_settings = worker_settings
        self._told_dropped = 0
        self._log: AuditLog | None = None
        if settings.audit_folder:
            self._log = AuditLog(settings.audit_folder, AuditLimits(
                max_file_bytes=settings.audit_max_file_mb << 20,
                max_files=settings.audit_max_files, max_waiting=settings.audit_max_waiting))
        self._recorder = self._record(settings) if self._log and settings.audit_bag else None

    def start(self, facts: RuntimeFacts, info: RuntimeInfo) -> None:
        """Record what every decision from now on is made with."""
        self._put('start', facts=facts, settings=self._worker_settings,
                  config_digest=info.config_digest, tools_digest=info.tools_digest,
                  policy_digest=info.policy_digest)

    def decision(
        self, request: Request, answer: Answer, observations: Sequence[Observation],
        decision: Decision, verdicts: Sequence[Verdict], goals: Sequence[Goal | None],
    ) -> None:
        """Record a Decision: what was asked, seen, answered and judged."""
        if self._log is None:
            return
        self._bag('~/decision', decision)
        costs = {name: (tokens, cut) for name, tokens, cut in answer.input_tokens}
        self._put(
            'decision', id=request.id, robot=request.robot,
            request=request, answer=replace(answer, trace=None, calls=(), input_tokens=()),
            mode=decision.mode, config_digest=decision.config_digest,
            valid_until_ns=time_ns(decision.valid_until), total_time=decision.total_time,
            inputs=[_input(each, *costs.get(each.name, (0, False))) for each in observations],
            calls=list(_calls(answer, verdicts, goals)), trace=answer.trace)

    def event(self, event: ToolEvent) -> None:
        """Record a ToolEvent."""
        if self._log is not None:
            self._bag('~/tool_event', event)
            self._put('event', decision_id=uuid_hex(event.decision_id),
                      call_id=uuid_hex(event.call_id),
                      **{name: getattr(event, name) for name in _EVENT_FIELDS})

    def operator(self, what: str, **details: Any) -> None:
        """Record what an operator did, or what was done to a robot's mode."""
        self._put('operator', what=what, **details)

    def tell_dropped(self) -> None:
        """Warn when records were dropped since this was called last."""
        dropped = sum(each.dropped for each in (self._log, self._recorder) if each is not None)
        if dropped > self._told_dropped:
            self._node.get_logger().warning(
                f'{dropped - self._told_dropped} audit records were dropped: the log does not '
                'keep up, or cannot be written')
            self._told_dropped = dropped

    def destroy(self) -> None:
        """Write what waits and close the log."""
        if self._log is not None:
            self._log.close(CLOSE_TIMEOUT_S)
            self._log = None
        if self._recorder is not None:
            self._recorder.close(CLOSE_TIMEOUT_S)
            self._recorder = None

    def _record(self, settings: NodeSettings) -> Recorder:
        resolve = self._node.resolve_topic_name
        files = sorted((share_folder() / 'msg').glob('*.msg'))
        moment = datetime.datetime.now(datetime.timezone.utc)
        return Recorder(
            Path(settings.audit_folder).expanduser() / f'decisions-{moment:%Y%m%dT%H%M%S}-'
            f'{os.getpid()}-{next(_NUMBERS)}',
            {resolve(name): f'gemma_node/msg/{kind.__name__}'
             for name, kind in (('~/decision', Decision), ('~/tool_event', ToolEvent))},
            {f'gemma_node/msg/{file.stem}': file.read_text(encoding='utf-8') for file in files},
            max_waiting=settings.audit_max_waiting)

    def _bag(self, topic: str, message: Any) -> None:
        if self._recorder is not None:
            self._recorder.put(self._node.resolve_topic_name(topic),
                               time_ns(message.header.stamp), serialize_message(message))

    def _put(self, kind: str, **record: Any) -> None:
        if self._log is not None:
            now_ns = self._node.get_clock().now().nanoseconds
            self._log.put({'kind': kind, 'time_ns': now_ns, **record})


def _input(observation: Observation, tokens: int, is_truncated: bool) -> Mapping[str, Any]:
    return {**{name: getattr(observation, name) for name in _INPUT_FIELDS},
            'tokens': tokens, 'truncated': is_truncated}


def _calls(
    answer: Answer, verdicts: Sequence[Verdict], goals: Sequence[Goal | None]
) -> Iterator[Mapping[str, Any]]:
    for call, verdict, goal in zip(answer.calls, verdicts, goals, strict=False):
        yield {'id': call.id, 'name': call.name, 'arguments': call.arguments,
               'probability': call.probability, 'verdict': verdict.kind, 'mode': verdict.mode,
               'code': verdict.code, 'violations': verdict.violations,
               'interface_name': goal.interface_name if goal else '',
               'goal': goal.fields if goal else {}}
