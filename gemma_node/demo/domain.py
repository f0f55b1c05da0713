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
"""Gives each demo on this machine a ROS domain that no other demo is in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import errno
import os
import socket
import sys

from gemma_node.errors import ConfigError

DOMAINS = range(73, 90)


@contextmanager
def own_domain() -> Iterator[str]:
    """
    Set ROS_DOMAIN_ID, where it is not set, to a domain without another demo, and hold it.

    Raises ConfigError when the domain of the user's choice is held by another demo.
    """
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    wanted = os.environ.get('ROS_DOMAIN_ID', '')
    for domain in (wanted,) if wanted else map(str, DOMAINS):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as claim:
            if not _is_claimed(claim, domain):
                continue
            os.environ['ROS_DOMAIN_ID'] = domain
            yield domain
            return
    which = f'domain {wanted}' if wanted else 'every domain of the demo'
    raise ConfigError(
        f'another demo runs in {which}: wait for its end, or set another ROS_DOMAIN_ID'
    )


def _is_claimed(claim: socket.socket, domain: str) -> bool:
    """Bind a name that Linux frees when this process ends, however it ends; no file is left."""
    if sys.platform != 'linux':
        return True
    try:
        claim.bind(f'\0gemma_node_demo_{domain}')
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return False
        raise
    return True
