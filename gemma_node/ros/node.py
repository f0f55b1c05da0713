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
The lifecycle node: owns every entity, opens and closes the gate, and wires its parts.

Configure reads and checks parameters, creates entities, starts the worker and returns; activate
and deactivate open and close the gate. Wants a SingleThreadedExecutor.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
import threading
import time
import traceback
from typing import Any

from rclpy._rclpy_pybind11 import RCLError
from rclpy.clock import Clock
from rclpy.clock import ClockType
from rclpy.clock import JumpThreshold
from rclpy.clock import TimeJump
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode
from rclpy.lifecycle import LifecycleState
from rclpy.lifecycle import TransitionCallbackReturn

from gemma_node.errors import ConfigError
from gemma_node.errors import GemmaNodeError
from gemma_node.policy.settings import NodeSettings
from gemma_node.ros import parameters
from gemma_node.ros.decide import DecideServer
from gemma_node.ros.guard import CallbackGuard
from gemma_node.ros.runtime import Runtime
from gemma_node.ros.worker_client import WorkerFactory
from gemma_node.worker.client import WorkerClient


def _logged(callback: Callable[..., Any]) -> Callable[..., Any]:
    """Log what a transition callback raises, which rclpy swallows; the transition fails."""
    @functools.wraps(callback)
    def transition(self: GemmaNode, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            return callback(self, state) or TransitionCallbackReturn.SUCCESS
        except GemmaNodeError as error:
            self.get_logger().error(f'{callback.__name__[3:]} refused: {error}')
            return TransitionCallbackReturn.FAILURE
        except Exception:
            self.get_logger().error(f'{callback.__name__} failed:\n{traceback.format_exc()}')
            return TransitionCallbackReturn.ERROR
    return transition


class GemmaNode(LifecycleNode):
    """
    Turns topic messages into validated decisions for a map of robots.

    :param worker_factory: called like worker.client.WorkerClient; tests pass a fake.
    :param problem: what was wrong with the parameter files; configure is refused with it.
    """

    def __init__(
        self, *, worker_factory: WorkerFactory = WorkerClient, problem: str = '',
        node_name: str = 'gemma_node', **node_arguments: Any,
    ) -> None:
        super().__init__(node_name, automatically_declare_parameters_from_overrides=True,
                         **node_arguments)
        parameters.declare(self)
        self._worker_factory = worker_factory
        self._problem = problem
        self._guard = CallbackGuard(self.get_logger())
        self._runtime: Runtime | None = None
        self._stopping: list[threading.Thread] = []
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._decide: DecideServer | None = None
        self._jump = self.get_clock().create_jump_callback(
            JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1)),
            post_callback=self._guard(self._take_jump))
        self.add_post_set_parameters_callback(self._take_parameters)
        self._autostart_timer = self.create_timer(
            0.0, self._guard(self._autostart), clock=self._steady)

    @property
    def runtime(self) -> Runtime | None:
        """Return what configure made, None while unconfigured."""
        return self._runtime

    @property
    def num_goals(self) -> int:
        """Return how many dispatched goals have not ended."""
        return len(self._runtime.dispatch.running()) if self._runtime else 0

    @_logged
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn | None:
        """Read and check parameters, create every entity, start the worker; wait for nothing."""
        started_s = time.monotonic()
        self.cancel_autostart()
        if self._problem:
            raise ConfigError(self._problem)
        settings = parameters.read(self)
        runtime = Runtime(self, settings, self._worker_factory, self._guard, self._steady)
        try:
            runtime.create()
            parameters.settle(self, settings)
        except BaseException:
            self._stopping += runtime.destroy()
            raise
        self._runtime = runtime
        if self._decide is None:
            self._decide = DecideServer(self, self._guard, self._flow)
        self.get_logger().info(
            f'configured {len(settings.robots)} robots in '
            f'{time.monotonic() - started_s:.2f} s; the worker loads')
        return None

    @_logged
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn | None:
        """Open the gate."""
        self._configured().open_gate()
        return None

    @_logged
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn | None:
        """Close the gate and cancel every goal; their confirmation arrives while inactive."""
        self._configured().close_gate()
        return None

    @_logged
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn | None:
        """Stop the worker and destroy what configure made."""
        self._clear()
        return None

    @_logged
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn | None:
        """Do what deactivate and cleanup do."""
        self._clear()
        return None

    @_logged
    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn | None:
        """Return to unconfigured with nothing left over."""
        self._clear()
        return None

    def begin_shutdown(self) -> None:
        """Close the gate and cancel goals; `num_goals` tells when all are confirmed."""
        self.cancel_autostart()
        if self._runtime is not None:
            self._runtime.close_gate()

    def destroy_node(self) -> None:
        """Clean up, wait for the worker to end, and destroy the node."""
        self._clear()
        if self._decide is not None:
            self._decide.destroy()
            self._decide = None
        for thread in self._stopping:
            thread.join()
        super().destroy_node()

    def cancel_autostart(self) -> None:
        """Leave the transitions to whoever asks for them."""
        self._autostart_timer.cancel()

    def _clear(self) -> None:
        runtime, self._runtime = self._runtime, None
        if runtime is not None:
            runtime.close_gate()
            self._stopping += runtime.destroy()

    def _configured(self) -> Runtime:
        if self._runtime is None:
            raise GemmaNodeError('the node is not configured')
        return self._runtime

    def _flow(self) -> Any:
        return self._runtime.flow if self._runtime else None

    def _autostart(self) -> None:
        self.cancel_autostart()
        if self.get_parameter('autostart').value is not True:
            return
        if self.trigger_configure() == TransitionCallbackReturn.SUCCESS:
            self.trigger_activate()

    def _take_jump(self, jump: TimeJump) -> None:
        if self._runtime is not None:
            self._runtime.forget_time()

    def _take_parameters(self, changed: Any) -> None:
        if self._runtime is not None and self._runtime.is_created:
            settings: NodeSettings = parameters.read(self)
            self._runtime.flow.settings = settings

    def _LifecycleNodeMixin__on_change_state(self, request: Any, response: Any) -> Any:  # noqa: N802
        """
        Answer a transition that is not possible now with success false.

        rclpy raises in the service callback instead, which ends the executor.
        """
        change = super()._LifecycleNodeMixin__on_change_state  # type: ignore[misc]
        try:
            return change(request, response)
        except RCLError as error:
            self.get_logger().error(f'transition {request.transition.label or ""}'
                                    f'{request.transition.id or ""} is not possible now: {error}')
            response.success = False
            return response

