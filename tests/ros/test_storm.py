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
A storm: calls, stops, approvals, locks, modes and faults at random, on servers of random manners.

Whatever happens, every request ends in one Decision, every call that was sent or waited in one
terminal event, and what still runs at a server afterwards was reported as orphaned.
"""

from collections import Counter
import random
import time

from geometry_msgs.msg import TwistStamped
import pytest
from rclpy.action import ActionClient
from rclpy.action import ActionServer
from rclpy.action import CancelResponse
from rclpy.action import GoalResponse
from ros_harness import calls
from ros_harness import reply
from std_msgs.msg import Bool
from std_msgs.msg import String
from std_srvs.srv import Trigger

from gemma_node.action import NavigateTo
from gemma_node.msg import ToolCall
from gemma_node.msg import ToolEvent
from gemma_node.ros.conversions import uuid_hex
from gemma_node.srv import Approve
from gemma_node.srv import Rearm
from gemma_node.srv import SetMode
from gemma_node.worker.client import AnswerEvent
from gemma_node.worker.client import RestartedEvent

DRIVES = {'go': 'on_busy: preempt_own', 'go_later': 'on_busy: queue', 'go_if_free': '',
          'go_if_told': 'mode: approve\n    on_busy: preempt_own'}
CREEPS = {'creep': 'preempt_own', 'creep_later': 'queue'}
OPERATIONS = {'ask': 10, 'ask_again': 0.5, 'say_stop': 0.7, 'approve': 6, 'lock': 0.4, 'rearm': 3,
              'set_mode': 0.3, 'drive_by_hand': 0.15, 'lose_worker': 0.1, 'deactivate': 0.1,
              'answer_late': 2}
TOOLS = """
version: 1
defaults: {mode: auto, timeout: 0.6, cancel_timeout: 0.3, approval_timeout: 0.4, rate_limit: 0}
resources: [base, arm]
tools:
  reach:
    action: gemma_node/action/NavigateTo
    name: arm
    description: Reach.
    arguments: {place: {type: string, choices: [left, right]}}
    resources: [arm]
    mode: approve
    on_taken_over: ignore
  tare: {service: std_srvs/srv/Trigger, name: tare, description: Tare., resources: [arm]}
  tare_again: {service: std_srvs/srv/Trigger, name: tare, description: Tare., idempotent: true}
""" + ''.join(f"""
  {name}:
    action: gemma_node/action/NavigateTo
    name: nav
    description: Drive.
    arguments: {{place: {{type: string, choices: [left, right]}}}}
    resources: [base]
    {policy}
""" for name, policy in DRIVES.items()) + ''.join(f"""
  {name}:
    topic: geometry_msgs/msg/TwistStamped
    name: cmd
    description: Creep.
    arguments: {{twist.linear.x: {{alias: speed}}}}
    stream: {{rate: 50.0, duration: 0.3, then: zero}}
    resources: [base]
    on_busy: {policy}
""" for name, policy in CREEPS.items())
ARGUMENTS = {'go': {'place': 'left'}, 'reach': {'place': 'left'}, 'creep': {'speed': 0.1},
             'no_action': {'reason': 'none'}, 'ask_operator': {'question': 'what?'}}
NAMES = (*DRIVES, *CREEPS, 'reach', 'tare', 'tare_again', 'stop', 'no_action', 'no_such_tool')


class WildServer:
    """Rejects, aborts, answers late or never, and refuses or delays cancels, as chance has it."""

    def __init__(self, node, name, rng):
        self._rng = rng
        self._ends = {}
        self.goals = []
        self._how = ''
        self._server = ActionServer(
            node, NavigateTo, name, self._execute, goal_callback=self._take,
            handle_accepted_callback=self._accept, cancel_callback=self._cancel)

    def _take(self, goal):
        return GoalResponse.REJECT if self._rng.random() < 0.1 else GoalResponse.ACCEPT

    def _accept(self, handle):
        self.goals.append(handle)
        how = self._rng.choice(('succeed', 'succeed', 'abort', 'never'))
        self._ends[bytes(handle.goal_id.uuid)] = (
            handle, time.monotonic() + self._rng.uniform(0.0, 0.9), how)

    def _cancel(self, handle):
        key = bytes(handle.goal_id.uuid)
        if self._rng.random() < 0.15 or key not in self._ends:
            return CancelResponse.REJECT
        delay_s = self._rng.choice((0.0, 0.05, 0.2, 0.6))
        self._ends[key] = (handle, time.monotonic() + delay_s, 'canceled')
        return CancelResponse.ACCEPT

    def poll(self):
        for key, (handle, end_s, how) in list(self._ends.items()):
            if how == 'never' or time.monotonic() < end_s:
                continue
            if how != 'canceled' or handle.is_cancel_requested:
                del self._ends[key]
                self._how = how
                handle.execute()

    def _execute(self, handle):
        getattr(handle, self._how)()
        return NavigateTo.Result()


class Storm:
    """Everything that happens to one node; `rng` decides all of it."""

    def __init__(self, world, rng):
        self.world, self.rng = world, rng
        self.servers = [WildServer(world.peer, f'r1/{name}', rng) for name in ('nav', 'arm')]
        world.peer.create_service(Trigger, 'r1/tare', self._tare)
        self.speeds = []
        world.peer.create_subscription(
            TwistStamped, 'r1/cmd', lambda item: self.speeds.append(item.twist.linear.x), 50)
        self._clients = {kind: world.peer.create_client(kind, f'gemma_node/{name}')
                         for kind, name in ((Approve, 'approve'), (Rearm, 'rearm'),
                                            (SetMode, 'set_mode'))}
        self._hand = ActionClient(world.peer, NavigateTo, 'r1/nav')
        self.asked = set()

    def blow(self, seconds):
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            self.world.worker.script = self._answer if self.rng.random() < 0.95 else None
            name, = self.rng.choices(list(OPERATIONS), list(OPERATIONS.values()))
            getattr(self, name)()
            self.pass_time(self.rng.uniform(0.0, 0.06))
        self.world.worker.script = self._answer
        self.answer_late()

    def pass_time(self, seconds):
        end_s = time.monotonic() + seconds
        while True:
            for server in self.servers:
                server.poll()
            self.world.spin_for(min(0.03, seconds))
            if time.monotonic() >= end_s:
                return

    def ask(self):
        self.asked.add(self.world.ask('do something'))

    def ask_again(self):
        if self.asked:
            self.world.ask('again', identifier=self.rng.choice(sorted(self.asked)))

    def say_stop(self):
        self.world.command_publisher.publish(String(data='stop now'))

    def approve(self):
        if self.world.decisions:
            decision = self.rng.choice(self.world.decisions[-6:])
            ids = [call.id for call in decision.tool_calls if self.rng.random() < 0.3]
            self._call(Approve, decision_id=decision.id, approved=self.rng.random() < 0.8,
                       call_ids=ids)

    def lock(self):
        for _ in range(self.rng.choice((1, 2, 6))):
            self.world.lock_publisher.publish(Bool(data=self.rng.random() < 0.5))
        self.pass_time(self.rng.uniform(0.0, 0.1))
        self.world.lock_publisher.publish(Bool(data=False))

    def rearm(self):
        self._call(Rearm, robot='r1')

    def set_mode(self):
        self._call(SetMode, robot='r1', mode=self.rng.choice((0, 1)))
        self.pass_time(0.05)
        self._call(SetMode, robot='r1', mode=2)

    def drive_by_hand(self):
        if self._hand.server_is_ready():
            self._hand.send_goal_async(NavigateTo.Goal(place='left'))

    def lose_worker(self):
        self.world.worker.emit(RestartedEvent('killed'))
        self.world.worker.ready()

    def deactivate(self):
        self.world.node.trigger_deactivate()
        self.pass_time(self.rng.uniform(0.0, 0.2))
        self.world.node.trigger_activate()

    def answer_late(self):
        worker = self.world.worker
        while worker.held:
            worker.emit(AnswerEvent(self._answer(worker.held.pop())))

    def _call(self, kind, **fields):
        self._clients[kind].call_async(kind.Request(**fields))

    def _answer(self, request):
        names = self.rng.sample(NAMES, self.rng.choice((1, 1, 1, 2, 3)))
        wanted = [(name, ARGUMENTS.get(name) or ARGUMENTS.get(name.split('_')[0], {}))
                  for name in names]
        return (reply('done') if request.step else calls(*wanted))(request)

    def _tare(self, request, response):
        response.success = self.rng.random() < 0.7
        return response


def check(world, storm):
    runtime = world.node.runtime
    assert world.node._guard.errors == 0
    assert not runtime.dispatch.running() and not runtime.gate.usage._running
    assert not runtime.flow._open
    assert not runtime.flow._chains._chains and not runtime.flow._chains._stops
    assert storm.asked <= {uuid_hex(each.id) for each in world.decisions}
    ends = Counter(uuid_hex(event.call_id) for event in world.events if event.is_terminal)
    made = {uuid_hex(call.id): call.verdict for decision in world.decisions
            for call in decision.tool_calls}
    ended = (ToolCall.VERDICT_SENT, ToolCall.VERDICT_NEEDS_APPROVAL)
    assert ends == Counter(call_id for call_id, verdict in made.items() if verdict in ended)
    orphans = {uuid_hex(event.call_id) for event in world.events
               if event.state == ToolEvent.STATE_ORPHANED}
    running = {bytes(goal.goal_id.uuid).hex() for server in storm.servers
               for goal in server.goals if goal.is_active}
    assert running & made.keys() <= orphans
    assert storm.speeds and storm.speeds[-1] == 0.0


@pytest.mark.parametrize(('seed', 'seconds'), [(1, 6.0), *(
    pytest.param(seed, 25.0, marks=pytest.mark.slow) for seed in range(2, 12))])
def test_storm_leaves_no_call_without_its_end(make_world, tmp_path, seed, seconds):
    (tmp_path / 'tools.yaml').write_text(TOOLS)
    world = make_world(
        tools_file=str(tmp_path / 'tools.yaml'), decision_lifetime=1.0, server_silence=1.0,
        deadline=2.0, robot={'observations': {}, 'max_calls_per_minute': 0, 'max_repeats': 0})
    storm = Storm(world, random.Random(seed))
    storm.pass_time(0.5)
    storm.blow(seconds)
    storm.pass_time(3.0)
    check(world, storm)
    states = Counter(event.state for event in world.events if event.is_terminal)
    assert {ToolEvent.STATE_SUCCEEDED, ToolEvent.STATE_CANCELED} <= states.keys()
