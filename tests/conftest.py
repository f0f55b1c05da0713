"""Give every test process a ROS domain of its own on this machine, before anything starts ROS."""

import os

from gemma_node.ros_env import prepare_ros

_FIRST_DOMAIN = 40


def _worker_number() -> int:
    """Return n for pytest-xdist's worker gwn, 0 without xdist."""
    name = os.environ.get('PYTEST_XDIST_WORKER', 'gw0')
    return int(name.removeprefix('gw'))


os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
if 'PYTEST_XDIST_WORKER' in os.environ or 'ROS_DOMAIN_ID' not in os.environ:
    os.environ['ROS_DOMAIN_ID'] = str(_FIRST_DOMAIN + _worker_number())
os.environ.pop('ROS_STATIC_PEERS', None)
prepare_ros()
