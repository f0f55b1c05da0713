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

"""Makes one Observation of an input: its age, its state and what the model may see of it."""

from __future__ import annotations

from typing import Any

from gemma_node.core import AgeSource
from gemma_node.core import InputState
from gemma_node.core import Observation
from gemma_node.policy.freshness import age_of
from gemma_node.policy.freshness import has_broken_numbers
from gemma_node.policy.freshness import snapshot_state
from gemma_node.policy.settings import ObservationConfig


def missing(config: ObservationConfig, topic: str) -> Observation:
    """Return the observation of an input that was never received."""
    return Observation(
        name=config.name, topic=topic, type=config.type, max_age_s=config.max_age_s,
        state=InputState.MISSING, required=config.required, template=config.template,
        max_tokens=config.max_tokens)


def observe(
    config: ObservationConfig, topic: str, value: Any, *, stamp_ns: int, received_ns: int,
    now_ns: int, tolerance_s: float, digest: str = '',
) -> Observation:
    """
    Return the observation of a received message; `value` None means it could not be decoded.

    :param topic: fully qualified name.
    :param now_ns: ROS time, or bag time in replay.
    """
    age_s, source, is_possible = age_of(stamp_ns, received_ns, now_ns, tolerance_s)
    is_valid = is_possible and value is not None and not has_broken_numbers(config.type, value)
    return Observation(
        name=config.name, topic=topic, type=config.type, stamp_ns=stamp_ns,
        received_ns=received_ns, age_s=age_s, max_age_s=config.max_age_s,
        state=snapshot_state(age_s, config.max_age_s, is_valid=is_valid),
        age_source=AgeSource(source), digest=digest, required=config.required, value=value,
        template=config.template, max_tokens=config.max_tokens)
