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
Says before tests are imported how Triton runs, what Hypothesis may complain of, and where ROS is.

Signals are handled as in a terminal, also where the tests were started with nohup. Each process of
tests has a ROS domain of its own, or robots of one would answer the other's.
"""

from __future__ import annotations

import os
from pathlib import Path
import signal
import socket

try:
    import hypothesis
except ImportError:
    hypothesis = None

# Triton reads this when it is first imported, also by libraries that only look for it.
if not Path('/dev/nvidiactl').exists():
    os.environ.setdefault('TRITON_INTERPRET', '1')

if hypothesis is not None:
    # How fast examples come is the machine's affair.
    hypothesis.settings.register_profile(
        'any_machine', deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
    hypothesis.settings.load_profile('any_machine')

# Children inherit what is ignored; nohup ignores SIGHUP, a shell's `&` also SIGINT.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

DOMAINS = range(20, 60)


def _hold_a_domain() -> socket.socket | None:
    """Set ROS_DOMAIN_ID to one that no other process of tests on this machine holds."""
    for domain in DOMAINS:
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f'\0gemma_node_tests_{domain}')
        except OSError:
            claim.close()
            continue
        os.environ['ROS_DOMAIN_ID'] = str(domain)
        return claim
    return None


# Workers of pytest-xdist inherit the domain of the process that starts them.
_claim = None
if 'PYTEST_XDIST_WORKER' in os.environ or not os.environ.get('ROS_DOMAIN_ID'):
    _claim = _hold_a_domain()
